/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Transfers of hosts: names are resolved, domains and lengths are good by
 * those who will use them (lib/sig, lib/xfer), and what is written is in nobody's way.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "topo_priv.h"

#include "weft_base.h"
#include "weft_sig_text.h"
#include "weft_xfer.h"

#define LINE 64

static_assert((int)WEFT_TOPO_WRITE == WEFT_XFER_WRITE && (int)WEFT_TOPO_READ == WEFT_XFER_READ &&
		      (int)WEFT_TOPO_COPY == WEFT_XFER_COPY,
	"one order of kinds");

/* At most one source of data; a write without any has seed 0. */
static int
check_data(struct topo_load *l, struct topo_transfer_src *src)
{
	static const struct {
		unsigned int key;
		enum weft_topo_data data;
	} rows[] = { { TRANSFER_SEED, WEFT_TOPO_SEED }, { TRANSFER_FILL, WEFT_TOPO_FILL },
		{ TRANSFER_FILE, WEFT_TOPO_FILE } };

	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(rows); i++) {
		if (src->at[rows[i].key] == 0)
			continue;
		if (src->out.data != WEFT_TOPO_ANY_DATA)
			return topo_fail(l, -EINVAL, src->at[rows[i].key],
				"data twice, expected one of seed, fill, file, got more");
		src->out.data = (uint8_t)rows[i].data;
	}
	if (src->out.data == WEFT_TOPO_ANY_DATA && src->out.kind == WEFT_TOPO_WRITE)
		src->out.data = WEFT_TOPO_SEED;
	src->out.has_copy_mask = src->at[TRANSFER_COPY_MASK] != 0;
	return 0;
}

static int
find_gfd(struct topo_load *l, const char *name, unsigned int line, uint16_t *node)
{
	const int i = weft_topo_find(&l->t, name);

	if (i < 0 || l->t.node[i].kind != WEFT_TOPO_GFD)
		return topo_fail(l, -EINVAL, line,
			"no such gfd, expected the name of one, got \"%s\"", name);
	*node = (uint16_t)i;
	return 0;
}

static int
parse_side(struct topo_load *l, const char *text, unsigned int line, struct weft_sig_text *s,
	const struct weft_sig_domain **d)
{
	char err[160];

	if (weft_sig_text_parse(s, text, d, err, sizeof(err)) != 0)
		return topo_fail(l, -EINVAL, line, "%s", err);
	return 0;
}

static int
check_range(struct topo_load *l, const struct topo_transfer_src *src, uint16_t node,
	uint64_t offset, unsigned int key, uint64_t len)
{
	const struct weft_topo_node *gfd = &l->t.node[node];

	if (offset < gfd->memory && len <= gfd->memory - offset)
		return 0;
	return topo_fail(l, -EINVAL, topo_line(src->at, key),
		"beyond the memory of gfd %s, expected %llu bytes at most, got %llu with the "
		"signatures, at %llu",
		gfd->name, (unsigned long long)gfd->memory, (unsigned long long)len,
		(unsigned long long)offset);
}

uint64_t
topo_traffic_bytes(const struct weft_topo *t)
{
	uint64_t lines = 0;

	for (unsigned int i = 0; i < t->n_nodes; i++) {
		const struct weft_topo_node *n = &t->node[i];

		if (n->has_traffic && !n->translates &&
			n->traffic.first_line + n->traffic.lines > lines)
			lines = n->traffic.first_line + n->traffic.lines;
		if (n->has_uio && n->uio.first_line + n->uio.lines > lines)
			lines = n->uio.first_line + n->uio.lines;
	}
	return lines * LINE;
}

static int
check_places(struct topo_load *l, const struct topo_transfer_src *src, uint64_t len)
{
	const struct weft_topo_transfer *tr = &src->out;
	const bool is_copy = tr->kind == WEFT_TOPO_COPY;
	const uint64_t written_at = is_copy ? tr->to_offset : tr->offset;
	const unsigned int key = is_copy ? TRANSFER_TO_OFFSET : TRANSFER_OFFSET;
	int rc = check_range(l, src, tr->gfd, tr->offset, TRANSFER_OFFSET, len);

	if (rc == 0 && is_copy)
		rc = check_range(l, src, tr->to, tr->to_offset, TRANSFER_TO_OFFSET, len);
	if (rc != 0 || tr->kind == WEFT_TOPO_READ || written_at >= topo_traffic_bytes(&l->t))
		return rc;
	return topo_fail(l, -EINVAL, topo_line(src->at, key),
		"writes over the lines of traffic, expected an offset of %llu or more, got %llu",
		(unsigned long long)topo_traffic_bytes(&l->t), (unsigned long long)written_at);
}

/* Lengths, masks and first block, as the transfer itself judges them. */
static int
check_blocks(struct topo_load *l, struct topo_transfer_src *src)
{
	const struct weft_topo_transfer *tr = &src->out;
	struct weft_xfer_cfg cfg = { .kind = (enum weft_xfer_kind)tr->kind,
		.sig = { .flags = tr->has_copy_mask ? WEFT_SIG_COPY_MASK : 0,
			.check_mask = tr->check_mask,
			.copy_mask = tr->copy_mask },
		.data_len = tr->bytes };
	struct weft_sig_text mem, wire;
	uint64_t mem_len, wire_len;
	struct weft_xfer x;
	int rc = parse_side(l, tr->mem, src->at[TRANSFER_MEM], &mem, &cfg.sig.mem);

	if (rc == 0)
		rc = parse_side(l, tr->wire, src->at[TRANSFER_WIRE], &wire, &cfg.sig.wire);
	if (rc != 0)
		return rc;
	if (weft_xfer_lens(&cfg, &mem_len, &wire_len) != 0)
		return topo_fail(l, -EINVAL, src->at[TRANSFER_BYTES],
			"not whole blocks, expected a multiple of the blocks of mem and wire, got "
			"%llu",
			(unsigned long long)tr->bytes);
	if (weft_xfer_init(&x, &cfg) != 0)
		return topo_fail(l, -EINVAL, src->at[TRANSFER_COPY_MASK],
			"copy_mask without a signature that can be copied, expected mem and wire "
			"of one type and block, got others");
	cfg.block0 = tr->block0;
	if (weft_xfer_init(&x, &cfg) != 0)
		return topo_fail(l, -EINVAL, src->at[TRANSFER_BLOCK0],
			"a block inside one of the output, expected one that begins it, got %llu",
			(unsigned long long)tr->block0);
	src->wire_len = wire_len;
	return check_places(l, src, wire_len);
}

static int
check_transfer(struct topo_load *l, struct topo_transfer_src *src, unsigned int number)
{
	int rc = 0;

	if (src->at[TRANSFER_NAME] == 0)
		snprintf(src->out.name, sizeof(src->out.name), "%u", number);
	if (src->out.kind == WEFT_TOPO_COPY && src->at[TRANSFER_TO] == 0)
		rc = topo_fail(l, -EINVAL, src->at[0], "key missing, expected to, got none");
	if (rc == 0)
		rc = check_data(l, src);
	if (rc == 0)
		rc = find_gfd(l, src->gfd, src->at[TRANSFER_GFD], &src->out.gfd);
	if (rc == 0 && src->out.kind == WEFT_TOPO_COPY)
		rc = find_gfd(l, src->to, src->at[TRANSFER_TO], &src->out.to);
	return rc == 0 ? check_blocks(l, src) : rc;
}

int
topo_check_transfers(struct topo_load *l)
{
	if (l->n[SECTION_TRANSFER] == 0)
		return 0;
	l->t.transfer = calloc(l->n[SECTION_TRANSFER], sizeof(*l->t.transfer));
	if (l->t.transfer == NULL)
		return -ENOMEM;
	for (unsigned int n = 0; n < l->t.n_nodes; n++) {
		const struct weft_topo_node *node = &l->t.node[n];

		for (unsigned int i = 0; i < node->n_transfers; i++) {
			const unsigned int at = node->first_transfer + i;
			int rc;

			topo_where(l, "nodes[%u].transfers[%u]", n, i);
			rc = check_transfer(l, &l->transfer[at], i);
			if (rc != 0)
				return rc;
			l->t.transfer[at] = l->transfer[at].out;
		}
	}
	return 0;
}
