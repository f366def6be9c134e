/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Signed transfers of a host (lib/sig) as a service: memory for them, what is to be written or
 * read, and their requests in turn with those of others. doc/signature.md shows them at work.
 */

#include "node_priv.h"

#include <errno.h>
#include <stdio.h>

#include "weft_rand.h"
#include "weft_sig_text.h"
#include "weft_xfer.h"

#define WINDOW WEFT_NODE_CREDITS /* lines of a transfer on their way */

struct transfers {
	struct weft_xfer_run *run;
	struct weft_xfer *xfer;
	struct weft_node_transfer *transfer; /* as many */
};

bool
weft_node_runs_transfers(const struct weft_topo *t, const struct weft_load *load)
{
	bool whole = t->map.n_segments == t->n_gfds;

	if (load->n_transfers == 0)
		return true;
	for (uint16_t s = 0; s < t->map.n_segments && whole; s++)
		whole = t->map.segment[s].ways_log2 == 0 && !t->map.segment[s].is_gim &&
		        t->map.segment[s].size ==
		                t->node[t->map.target[t->map.segment[s].first_target].node].memory;
	return whole;
}

static void *
transfer_map(const struct weft_node *n, size_t len)
{
	return n->cfg.world->map(n->cfg.world_arg, len);
}

static void
transfer_unmap(const struct weft_node *n, void *mem, size_t len)
{
	n->cfg.world->unmap(n->cfg.world_arg, mem, len);
}

/* Data as the topology describes it, with the signatures of the mem domain around it. */
static void
transfer_make_pattern(const struct weft_load_transfer *tr, const struct weft_xfer_cfg *cfg,
	uint8_t *to, uint64_t len, uint8_t *data)
{
	const struct weft_sig_attr attr = { .mem = cfg->sig.mem };
	struct weft_sig_piece from = { data, tr->bytes, 0 }, piece = { to, len, 0 };
	struct weft_sig_list in = { .piece = &from, .n = 1 }, out = { .piece = &piece, .n = 1 };
	uint64_t block0 = tr->block0;
	struct weft_sig_stream s;
	struct weft_sig_key key;
	struct weft_rand r;

	if (tr->data == WEFT_LOAD_FILL) {
		memset(data, tr->fill, tr->bytes);
	} else {
		weft_rand_seed(&r, tr->seed);
		weft_rand_fill(&r, data, tr->bytes);
	}
	/* A read's first block is one of the wire. */
	if (tr->kind == WEFT_LOAD_READ && cfg->sig.mem != NULL && cfg->sig.wire != NULL)
		block0 = block0 * cfg->sig.wire->block_size / cfg->sig.mem->block_size;
	weft_sig_key_init(&key, WEFT_SIG_KEY_BLOCK_SIGNATURE, cfg->kernel);
	if (attr.mem != NULL) {
		weft_sig_key_configure(&key, 0, 0);
		weft_sig_key_set_sig(&key, &attr);
		weft_sig_key_complete(&key);
	}
	weft_sig_begin(&s, &key, WEFT_SIG_RX, block0, 0);
	weft_sig_push(&s, &in, &out);
	weft_sig_end(&s);
}

/* The host's memory: what is to be written, or what is to be read and room for it. */
static int
transfer_memory(struct weft_node *n, struct weft_node_transfer *t, struct weft_xfer_cfg *cfg,
	char *err, size_t err_len)
{
	const struct weft_load_transfer *tr = t->load;
	const bool makes = tr->data == WEFT_LOAD_SEED || tr->data == WEFT_LOAD_FILL;
	uint64_t wire_len;
	uint8_t *data;

	weft_xfer_lens(cfg, &t->mem_len, &wire_len);
	t->mem = transfer_map(n, t->mem_len);
	t->want = makes && tr->kind == WEFT_LOAD_READ ? transfer_map(n, t->mem_len) : NULL;
	data = makes ? transfer_map(n, tr->bytes) : NULL;
	snprintf(err, err_len, "out of memory");
	if (t->mem == NULL || (makes && data == NULL) ||
		(makes && tr->kind == WEFT_LOAD_READ && t->want == NULL)) {
		transfer_unmap(n, data, tr->bytes);
		return -ENOMEM;
	}
	cfg->mem = t->mem;
	cfg->want = t->want;
	if (makes)
		transfer_make_pattern(
			tr, cfg, t->want != NULL ? t->want : t->mem, t->mem_len, data);
	transfer_unmap(n, data, tr->bytes);
	if (tr->kind == WEFT_LOAD_WRITE && tr->data == WEFT_LOAD_FILE)
		return n->cfg.world->read_file(
			n->cfg.world_arg, tr->file, t->mem, t->mem_len, err, err_len);
	return 0;
}

static struct weft_xfer_place
transfer_place(const struct weft_topo *topo, uint16_t node, uint64_t offset)
{
	return (struct weft_xfer_place){ .hpa = weft_topo_hpa(topo, topo->node[node].order) +
		                                offset,
		.dpid = topo->node[node].pid };
}

static int
transfer_init(struct weft_node *n, struct weft_node_transfer *t, struct weft_xfer *x, char *err,
	size_t err_len)
{
	const struct weft_topo *topo = n->cfg.topo;
	const struct weft_load_transfer *tr = t->load;
	struct weft_sig_text mem, wire;
	struct weft_xfer_cfg cfg = { .kind = (enum weft_xfer_kind)tr->kind,
		.sig = { .flags = tr->has_copy_mask ? WEFT_SIG_COPY_MASK : 0,
			.check_mask = tr->check_mask,
			.copy_mask = tr->copy_mask },
		.block0 = tr->block0,
		.data_len = tr->bytes,
		.from = transfer_place(topo, tr->gfd, tr->offset),
		.to = tr->kind == WEFT_LOAD_COPY ? transfer_place(topo, tr->to, tr->to_offset)
		                                 : transfer_place(topo, tr->gfd, tr->offset),
		.kernel = n->cfg.sig };
	char what[256] = "not a transfer"; /* the load's check knows better */
	int rc = weft_sig_text_parse(&mem, tr->mem, &cfg.sig.mem, what, sizeof(what));

	if (rc == 0)
		rc = weft_sig_text_parse(&wire, tr->wire, &cfg.sig.wire, what, sizeof(what));
	if (rc == 0)
		rc = transfer_memory(n, t, &cfg, what, sizeof(what));
	if (rc == 0)
		rc = weft_xfer_init(x, &cfg);
	if (rc != 0)
		snprintf(err, err_len, "host %s: transfer %s: %s", n->topo->name, tr->name, what);
	t->xfer = x;
	return rc;
}

static int
transfers_init(struct weft_node *n, void **state, char *err, size_t err_len)
{
	const unsigned int count = n->load->n_transfers;
	struct transfers *s;
	void *mem;
	int rc = 0;

	if (count == 0)
		return 0;
	snprintf(err, err_len, "host %s: out of memory", n->topo->name);
	*state = s = node_alloc(n, sizeof(*s));
	if (s == NULL)
		return -ENOMEM;
	s->transfer = node_alloc(n, count * sizeof(*s->transfer));
	s->xfer = node_alloc(n, count * sizeof(*s->xfer));
	mem = node_alloc(n, weft_xfer_run_size(WINDOW));
	if (mem != NULL)
		s->run = weft_xfer_run_init(mem, host_requester(n), WINDOW, s->xfer, count);
	if (s->transfer == NULL || s->xfer == NULL || s->run == NULL)
		return -ENOMEM;
	for (unsigned int i = 0; rc == 0 && i < count; i++) {
		s->transfer[i].load = &n->cfg.load->transfer[n->load->first_transfer + i];
		rc = transfer_init(n, &s->transfer[i], &s->xfer[i], err, err_len);
	}
	return rc;
}

static void
transfers_fini(struct weft_node *n, void *state)
{
	struct transfers *s = state;

	for (unsigned int i = 0; s->transfer != NULL && i < n->load->n_transfers; i++) {
		transfer_unmap(n, s->transfer[i].mem, s->transfer[i].mem_len);
		transfer_unmap(n, s->transfer[i].want, s->transfer[i].mem_len);
	}
	node_free(n, s->transfer);
	node_free(n, s->xfer);
	node_free(n, s->run);
	node_free(n, s);
}

static uint32_t
transfers_tags(const struct weft_node *n)
{
	return n->load->n_transfers != 0 ? WINDOW : 0;
}

static int
transfers_next(struct weft_node *n, void *state, struct weft_msg *m)
{
	if (n->drain.holds)
		return -EAGAIN;
	return weft_xfer_next(((struct transfers *)state)->run, n->now_ns, m);
}

static bool
transfers_complete(struct weft_node *n, void *state, const struct weft_completion *c)
{
	if ((c->cookie & WEFT_XFER_COOKIE) == 0)
		return false;
	weft_xfer_complete(((struct transfers *)state)->run, c, n->now_ns);
	return true;
}

static void
transfers_forget(struct weft_node *n, void *state, uint16_t dpid, enum weft_line_loss how,
	struct weft_node_memory *m)
{
	(void)n;
	(void)how;
	m->transfers += weft_xfer_replaced(((struct transfers *)state)->run, dpid);
}

bool
weft_node_transfer_is_good(const struct weft_node_transfer *t)
{
	return strcmp(weft_xfer_outcome(t->xfer), weft_load_outcomes[t->load->expect]) == 0;
}

static bool
transfers_are_good(const struct weft_node *n, const void *state)
{
	const struct transfers *s = state;

	for (unsigned int i = 0; i < n->load->n_transfers; i++)
		if (s->xfer[i].status > WEFT_XFER_RUNNING &&
			!weft_node_transfer_is_good(&s->transfer[i]))
			return false;
	return true;
}

const struct weft_node_transfer *
weft_node_transfers(const struct weft_node *n)
{
	const struct transfers *s = NODE_SERVICE_OF(n, transfers);

	return s == NULL ? NULL : s->transfer;
}

const struct weft_node_service node_transfers = {
	.name = "transfers",
	.init = transfers_init,
	.fini = transfers_fini,
	.tags = transfers_tags,
	.next = transfers_next,
	.complete = transfers_complete,
	.forget = transfers_forget,
	.is_good = transfers_are_good,
};
