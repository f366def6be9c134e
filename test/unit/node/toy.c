/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* See toy.h. What was received is handed over as it was sent: no FEC, no switch of frames. */

#include "weft_test.h"

#include "toy.h"

#include <string.h>

#include "weft_atc.h"
#include "weft_crc.h"
#include "weft_isn.h"
#include "weft_sig_sum.h"

#define STEPS 400000

static uint64_t
toy_random(void *world)
{
	return weft_rand_u64(&((struct toy_node *)world)->toy->rand);
}

static void *
toy_alloc(void *world, size_t len)
{
	const size_t size = (len + WEFT_CACHE_LINE - 1) & ~(size_t)(WEFT_CACHE_LINE - 1);
	void *mem = aligned_alloc(WEFT_CACHE_LINE, size);

	assert_non_null(mem);
	((struct toy_node *)world)->toy->blocks++;
	return memset(mem, 0, size);
}

static void
toy_free(void *world, void *mem)
{
	((struct toy_node *)world)->toy->blocks -= mem != NULL;
	free(mem);
}

static void
toy_unmap(void *world, void *mem, size_t len)
{
	(void)len;
	toy_free(world, mem);
}

static int
toy_link_cfg(void *world, struct weft_node_link *l, struct weft_link_cfg *c)
{
	(void)world;
	(void)l;
	(void)c;
	return 0;
}

static bool
toy_send_control(
	void *world, uint16_t port, const struct weft_wire_hdr *h, const struct weft_control *c)
{
	(void)world;
	(void)port;
	(void)h;
	(void)c;
	return true;
}

static const struct weft_node_world toy_world = {
	.random = toy_random,
	.alloc = toy_alloc,
	.free = toy_free,
	.map = toy_alloc,
	.unmap = toy_unmap,
	.link_cfg = toy_link_cfg,
	.send_control = toy_send_control,
};

static void
toy_tables(struct toy_node *a)
{
	const struct weft_node_cfg *c = &a->node.cfg;
	struct weft_edge_cfg edge[WEFT_TOPO_SWITCH_PORTS];
	const struct weft_tables_cfg cfg = weft_node_tables_cfg(c, edge);
	char err[256];

	a->tables = aligned_alloc(WEFT_CACHE_LINE, weft_tables_size(&cfg));
	assert_non_null(a->tables);
	assert_int_equal(weft_tables_init(a->tables, &cfg), 0);
	if (weft_node_set_tables(a->tables, c, c->topo, err, sizeof(err)) != 0)
		fail_msg("%s", err);
	weft_tables_publish(&a->slot, a->tables);
	if (!weft_node_has_access(c))
		return;
	if (weft_node_make_access(c, c->topo, NULL, &a->access, err, sizeof(err)) != 0)
		fail_msg("%s", err);
	weft_gfam_publish(&a->access_now, a->access);
	weft_gfam_log_init(&a->log);
	a->guard = (struct weft_gfam_checker){ .tables = &a->access_now, .log = &a->log };
	a->node.cfg.guard = &a->guard;
}

void
toy_begin(struct toy *w, uint16_t i)
{
	struct toy_node *a = &w->at[i];
	const struct weft_topo_node *n = &w->topo->node[i];
	char err[256];

	memset(a, 0, sizeof(*a));
	a->toy = w;
	a->node.cfg = (struct weft_node_cfg){ .world = &toy_world,
		.world_arg = a,
		.topo = w->topo,
		.load = w->load,
		.index = i,
		.tables = &a->slot,
		.ingress = a->ingress,
		.ingress_drops = a->drops,
		.atc = weft_atc_kernel_find(NULL, 0),
		.sig = weft_sig_kernel_find(NULL, 0),
		.run = 1 };
	for (uint16_t p = 0; p < n->n_ports; p++)
		a->ingress[p].spid = weft_topo_port_spid(w->topo, n->first_port + p);
	toy_tables(a);
	if (weft_node_init(&a->node, err, sizeof(err)) != 0)
		fail_msg("%s", err);
	/* It was not there before. */
	weft_node_time(&a->node, w->now_ns);
}

void
toy_end(struct toy_node *a)
{
	weft_node_fini(&a->node);
	toy_free(a, a->access);
	free(a->tables);
}

void
toy_load(struct toy *w, const char *yaml)
{
	const struct weft_load_files files = {
		.topology = "toy", .yaml = yaml, .len = strlen(yaml)
	};
	struct weft_topo_error err;

	memset(w, 0, sizeof(*w));
	weft_rand_seed(&w->rand, 1);
	if (weft_load_open(&w->topo, &w->load, &files, &err) != 0)
		fail_msg("%s", err.text);
	assert_true(w->topo->n_nodes <= TOY_NODES);
}

void
toy_start(struct toy *w)
{
	for (uint16_t i = 0; i < w->topo->n_nodes; i++)
		toy_begin(w, i);
}

void
toy_init(struct toy *w, const char *yaml)
{
	toy_load(w, yaml);
	toy_start(w);
}

void
toy_fini(struct toy *w)
{
	for (uint16_t i = 0; i < w->topo->n_nodes; i++)
		toy_end(&w->at[i]);
	assert_int_equal(w->blocks, 0);
	weft_topo_free(w->topo);
	weft_load_free(w->load);
}

struct weft_node *
toy_node(struct toy *w, const char *name)
{
	return &w->at[weft_topo_find(w->topo, name)].node;
}

/* The link at the other end: rxl, of the connection; cxl, of the port. */
static struct weft_node_link *
toy_other(struct toy *w, struct weft_node_link *l)
{
	const struct weft_topo *t = w->topo;
	struct weft_node *other = &w->at[l->topo_node].node;

	if (t->mode == WEFT_MODE_RXL)
		return weft_node_link_find(other, l->node->topo->pid);
	return &other->link[t->port[l->node->topo->first_port + l->port].peer -
			    other->topo->first_port];
}

/* What a number adds to the CRC of a flit. */
static uint64_t
toy_number(const struct weft_topo *t, unsigned int number)
{
	if (t->mode == WEFT_MODE_CXL)
		return 0;
	return t->isn == WEFT_ISN_XOR ? weft_isn_xor_number(number) : weft_isn_number(number);
}

/* What was received is known by its CRC; here numbers are all there is to see in it. */
static void
toy_deliver(struct weft_node_link *to, const struct weft_link_out *out, uint8_t *payload)
{
	struct weft_node *n = to->node;
	enum weft_session_event ev;
	uint64_t syndrome[WEFT_WIRE_FLITS_MAX];

	if (out->hdr.kind == WEFT_WIRE_CONTROL) {
		weft_node_control(to, &out->hdr, payload, out->len);
		return;
	}
	for (unsigned int k = 0; k < out->flits.n; k++) {
		const unsigned int numbered = out->flits.n - out->flits.nops;
		const unsigned int number = out->flits.first + (k < numbered ? k : numbered);
		uint8_t *flit = payload + k * (size_t)WEFT_FLIT_LEN;

		syndrome[k] = toy_number(n->cfg.topo, number % WEFT_ISN_NUMBERS);
		if ((out->flits.invert_crc & WEFT_BIT64(k)) != 0)
			syndrome[k] ^= UINT64_MAX;
		weft_crc_store(flit, weft_crc_update(0, flit, WEFT_CRC_OFF),
			(enum weft_crc_order)n->cfg.topo->crc_order);
	}
	weft_node_arriving(to);
	weft_link_receive(to->end, &out->hdr, payload, syndrome, 0, n->ends_ns, &ev, NULL,
		n->kind->message, to);
	weft_node_arriving(to);
}

static void
toy_flush(struct toy *w, struct weft_node_link *l)
{
	static uint8_t payload[WEFT_WIRE_FLITS_MAX * WEFT_FLIT_LEN];
	struct weft_link_out out;

	if (l->node->ends_ns < l->node->due_ns[l->index])
		return;
	weft_link_tick(l->end, l->node->ends_ns);
	while (weft_link_next(l->end, payload, l->node->ends_ns, weft_rand_u64(&w->rand), &out))
		if (!w->is_cut && l->node != w->away && &w->at[l->topo_node].node != w->away)
			toy_deliver(toy_other(w, l), &out, payload);
	weft_node_set_due(l, weft_link_deadline(l->end));
}

static void
toy_step_of(struct toy *w, uint64_t ns)
{
	w->now_ns += ns;
	for (uint16_t i = 0; i < w->topo->n_nodes; i++) {
		struct weft_node *n = &w->at[i].node;

		weft_node_time(n, w->now_ns);
		weft_node_poll(n, true);
		for (uint16_t k = 0; k < n->n_links; k++)
			toy_flush(w, &n->link[k]);
	}
}

void
toy_step(struct toy *w)
{
	toy_step_of(w, TOY_STEP_NS);
}

void
toy_idle(struct toy *w, uint64_t ns)
{
	assert_true(w->is_cut);
	for (const uint64_t end_ns = w->now_ns + ns; w->now_ns < end_ns;)
		toy_step_of(w, WEFT_NODE_PAUSE_NS);
}

void
toy_steps(struct toy *w, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		toy_step(w);
}

void
toy_run(struct toy *w, const struct weft_node *until)
{
	for (unsigned int i = 0; i < STEPS && !weft_node_is_done(until); i++)
		toy_step(w);
	assert_true(weft_node_is_done(until));
}

uint64_t
toy_count(const struct weft_node *n, const char *part, const char *name, const char *counter)
{
	const uint64_t *value = weft_node_counter(n, part, name, counter);

	if (value == NULL)
		fail_msg("%s has no counter %s of %s", n->topo->name, counter, name);
	return *value;
}

uint64_t
toy_total(const struct toy *w, const char *part, const char *name, const char *counter)
{
	uint64_t total = 0;

	for (uint16_t i = 0; i < w->topo->n_nodes; i++) {
		const uint64_t *value = weft_node_counter(&w->at[i].node, part, name, counter);

		total += value == NULL ? 0 : *value;
	}
	return total;
}
