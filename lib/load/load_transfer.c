/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Transfers of hosts: names are resolved, domains and lengths are good by
 * those who will use them (lib/sig), and what is written is in nobody's way.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "load_priv.h"

#include "weft_sig_text.h"
#include "weft_xfer.h"

static_assert((int)WEFT_LOAD_WRITE == WEFT_XFER_WRITE && (int)WEFT_LOAD_READ == WEFT_XFER_READ &&
		      (int)WEFT_LOAD_COPY == WEFT_XFER_COPY,
	"one order of kinds");

/* At most one source of data; a write without any has seed 0. */
static int
transfer_check_data(struct load_read *r, struct load_transfer_src *src)
{
	static const struct {
		unsigned int key;
		enum weft_load_data data;
	} rows[] = { { LOAD_TRANSFER_SEED, WEFT_LOAD_SEED }, { LOAD_TRANSFER_FILL, WEFT_LOAD_FILL },
		{ LOAD_TRANSFER_FILE, WEFT_LOAD_FILE } };

	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(rows); i++) {
		if (src->line_of[rows[i].key] == 0)
			continue;
		if (src->out.data != WEFT_LOAD_ANY_DATA)
			return topo_fail(&r->l, -EINVAL, src->line_of[rows[i].key],
				"data twice, expected one of seed, fill, file, got more");
		src->out.data = (uint8_t)rows[i].data;
	}
	if (src->out.data == WEFT_LOAD_ANY_DATA && src->out.kind == WEFT_LOAD_WRITE)
		src->out.data = WEFT_LOAD_SEED;
	src->out.has_copy_mask = src->line_of[LOAD_TRANSFER_COPY_MASK] != 0;
	return 0;
}

static int
transfer_find_gfd(struct load_read *r, const char *name, unsigned int line, uint16_t *node)
{
	const int i = weft_topo_find(r->t, name);

	if (i < 0 || r->t->node[i].kind != WEFT_TOPO_GFD)
		return topo_fail(&r->l, -EINVAL, line,
			"no such gfd, expected the name of one, got \"%s\"", name);
	*node = (uint16_t)i;
	return 0;
}

static int
transfer_parse_side(struct load_read *r, const char *text, unsigned int line,
	struct weft_sig_text *s, const struct weft_sig_domain **d)
{
	char err[160];

	if (weft_sig_text_parse(s, text, d, err, sizeof(err)) != 0)
		return topo_fail(&r->l, -EINVAL, line, "%s", err);
	return 0;
}

static int
transfer_check_range(struct load_read *r, const struct load_transfer_src *src, uint16_t node,
	uint64_t offset, unsigned int key, uint64_t len)
{
	const struct weft_topo_node *gfd = &r->t->node[node];

	if (offset < gfd->memory && len <= gfd->memory - offset)
		return 0;
	return topo_fail(&r->l, -EINVAL, topo_line(src->line_of, key),
		"beyond the memory of gfd %s, expected %llu bytes at most, got %llu with the "
		"signatures, at %llu",
		gfd->name, (unsigned long long)gfd->memory, (unsigned long long)len,
		(unsigned long long)offset);
}

static int
transfer_check_places(struct load_read *r, const struct load_transfer_src *src, uint64_t len)
{
	const struct weft_load_transfer *tr = &src->out;
	const bool is_copy = tr->kind == WEFT_LOAD_COPY;
	const uint64_t written_at = is_copy ? tr->to_offset : tr->offset;
	const unsigned int key = is_copy ? LOAD_TRANSFER_TO_OFFSET : LOAD_TRANSFER_OFFSET;
	int rc = transfer_check_range(r, src, tr->gfd, tr->offset, LOAD_TRANSFER_OFFSET, len);

	if (rc == 0 && is_copy)
		rc = transfer_check_range(
			r, src, tr->to, tr->to_offset, LOAD_TRANSFER_TO_OFFSET, len);
	if (rc != 0 || tr->kind == WEFT_LOAD_READ || written_at >= load_bytes(r))
		return rc;
	return topo_fail(&r->l, -EINVAL, topo_line(src->line_of, key),
		"writes over the lines of traffic, expected an offset of %llu or more, got %llu",
		(unsigned long long)load_bytes(r), (unsigned long long)written_at);
}

/* Lengths, masks and first block, as the transfer itself judges them. */
static int
transfer_check_blocks(struct load_read *r, struct load_transfer_src *src)
{
	const struct weft_load_transfer *tr = &src->out;
	struct weft_xfer_cfg cfg = { .kind = (enum weft_xfer_kind)tr->kind,
		.sig = { .flags = tr->has_copy_mask ? WEFT_SIG_COPY_MASK : 0,
			.check_mask = tr->check_mask,
			.copy_mask = tr->copy_mask },
		.data_len = tr->bytes };
	struct weft_sig_text mem, wire;
	uint64_t mem_len, wire_len;
	struct weft_xfer x;
	int rc = transfer_parse_side(
		r, tr->mem, src->line_of[LOAD_TRANSFER_MEM], &mem, &cfg.sig.mem);

	if (rc == 0)
		rc = transfer_parse_side(
			r, tr->wire, src->line_of[LOAD_TRANSFER_WIRE], &wire, &cfg.sig.wire);
	if (rc != 0)
		return rc;
	if (weft_xfer_lens(&cfg, &mem_len, &wire_len) != 0)
		return topo_fail(&r->l, -EINVAL, src->line_of[LOAD_TRANSFER_BYTES],
			"not whole blocks, expected a multiple of the blocks of mem and wire, got "
			"%llu",
			(unsigned long long)tr->bytes);
	if (weft_xfer_init(&x, &cfg) != 0)
		return topo_fail(&r->l, -EINVAL, src->line_of[LOAD_TRANSFER_COPY_MASK],
			"copy_mask without a signature that can be copied, expected mem and wire "
			"of one type and block, got others");
	cfg.block0 = tr->block0;
	if (weft_xfer_init(&x, &cfg) != 0)
		return topo_fail(&r->l, -EINVAL, src->line_of[LOAD_TRANSFER_BLOCK0],
			"a block inside one of the output, expected one that begins it, got %llu",
			(unsigned long long)tr->block0);
	src->wire_len = wire_len;
	return transfer_check_places(r, src, wire_len);
}

static int
transfer_check(struct load_read *r, struct load_transfer_src *src, unsigned int number)
{
	int rc = 0;

	if (src->line_of[LOAD_TRANSFER_NAME] == 0)
		snprintf(src->out.name, sizeof(src->out.name), "%u", number);
	if (src->out.kind == WEFT_LOAD_COPY && src->line_of[LOAD_TRANSFER_TO] == 0)
		rc = topo_fail(
			&r->l, -EINVAL, src->line_of[0], "key missing, expected to, got none");
	if (rc == 0)
		rc = transfer_check_data(r, src);
	if (rc == 0)
		rc = transfer_find_gfd(r, src->gfd, src->line_of[LOAD_TRANSFER_GFD], &src->out.gfd);
	if (rc == 0 && src->out.kind == WEFT_LOAD_COPY)
		rc = transfer_find_gfd(r, src->to, src->line_of[LOAD_TRANSFER_TO], &src->out.to);
	return rc == 0 ? transfer_check_blocks(r, src) : rc;
}

int
load_check_transfers(struct load_read *r)
{
	const unsigned int n = r->n[SECTION_LOAD_TRANSFER];

	if (n == 0)
		return 0;
	r->out->transfer = calloc(n, sizeof(*r->out->transfer));
	if (r->out->transfer == NULL)
		return -ENOMEM;
	for (unsigned int node = 0; node < r->t->n_nodes; node++) {
		const struct load_src *src = load_of(r, node, LOAD_IS_TRANSFER);

		for (unsigned int i = 0; src != NULL && i < src->transfers.n; i++) {
			const unsigned int at = src->transfers.first + i;
			char more[32];
			int rc;

			snprintf(more, sizeof(more), ".transfers[%u]", i);
			load_where(r, src, more);
			rc = transfer_check(r, &r->transfer[at], i);
			if (rc != 0)
				return rc;
			r->out->transfer[at] = r->transfer[at].out;
		}
	}
	return 0;
}
