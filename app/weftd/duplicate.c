/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Daemons of one node that share a network but no run folder (single.c): in other network
 * namespaces, containers or machines. They find each other by ANNOUNCE (weft_duplicate.h) at every
 * port behind which a third can be: a ring has both ends here, and a memif's door keeps others out.
 */

#include "duplicate.h"
#include "notes.h"
#include "report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

#include "event.h"
#include "manage.h"
#include "ports.h"
#include "weft_derive.h"
#include "weft_duplicate.h"

#define START_NAP_NS 1000000
#define START_ROUND_NS UINT64_C(2000000)
#define START_BURST 32

/*
 * A port of a node. The machine is of the node's lcore, or of the main thread before there is any.
 */
struct duplicate_port {
	bool is_watched;
	struct weft_duplicate machine;
	struct duplicate_found { /* written by the lcore, n last */
		uint64_t instance;
		uint64_t runs_ms;
		uint64_t n;
	} found;
	uint64_t told, forged_told; /* control thread */
};

struct duplicates {
	uint64_t due_ns; /* first of all ports */
	bool is_asked; /* control thread: ask soon */
	struct duplicate_port port[];
};

static bool
duplicate_is_watched(const struct daemon *d, unsigned int port)
{
	const struct weft_topo_port *tp = &d->topo->port[port];

	return !port_is_ring(d, &d->topo->link[tp->link]) &&
	       d->port[port]->driver != WEFT_PORT_MEMIF;
}

static bool
duplicate_proof(void *arg, const struct weft_control *c, uint8_t *proof)
{
	const struct daemon *d = arg;

	return weft_derive_announcement(d->psk, c, proof);
}

static int
duplicate_init(struct node *n, uint64_t instance)
{
	struct daemon *d = n->daemon;
	struct weft_duplicate_cfg cfg;

	weft_duplicate_defaults(&cfg);
	memcpy(cfg.fabric, d->topo->fabric, strnlen(d->topo->fabric, sizeof(cfg.fabric)));
	memcpy(cfg.node, n->topo->name, strnlen(n->topo->name, sizeof(cfg.node)));
	cfg.instance = instance;
	cfg.proof = d->psk == NULL ? NULL : duplicate_proof;
	cfg.arg = d;
	for (uint16_t p = 0; p < n->n_ports; p++) {
		struct duplicate_port *x;

		if (!duplicate_is_watched(d, n->topo->first_port + p))
			continue;
		if (n->duplicates == NULL)
			n->duplicates = calloc(1, sizeof(*n->duplicates) + n->n_ports * sizeof(*x));
		if (n->duplicates == NULL)
			return -ENOMEM;
		x = &n->duplicates->port[p];
		x->is_watched = true;
		weft_duplicate_init(&x->machine, &cfg, node_now_ns());
	}
	return 0;
}

void
duplicates_fini(struct node *n)
{
	free(n->duplicates);
}

static void
duplicate_take(struct node *n, uint16_t port, const struct weft_control *c, uint64_t now_ns)
{
	struct duplicate_port *x = &n->duplicates->port[port];
	struct duplicate_found *f = &x->found;

	if (!x->is_watched || !weft_duplicate_take(&x->machine, c, now_ns))
		return;
	__atomic_store_n(&f->instance, x->machine.other, __ATOMIC_RELAXED);
	__atomic_store_n(&f->runs_ms, x->machine.other_runs_ms, __ATOMIC_RELAXED);
	__atomic_store_n(&f->n, f->n + 1, __ATOMIC_RELEASE);
}

/* Returns frames sent. */
static unsigned int
duplicate_send(struct node *n, uint16_t port, uint64_t now_ns)
{
	const bool is_cxl = daemon_is_cxl(n->daemon);
	const struct weft_wire_hdr h = { .kind = WEFT_WIRE_CONTROL,
		.mode = n->daemon->topo->mode,
		.spid = is_cxl ? WEFT_PID_NONE : n->topo->pid,
		.dpid = WEFT_PID_NONE };
	struct duplicate_port *x = &n->duplicates->port[port];
	struct weft_control c;
	unsigned int sent = 0;

	while (x->is_watched && weft_duplicate_next(&x->machine, now_ns, &c)) {
		node_send_control(n, port, &h, &c);
		sent++;
	}
	return sent;
}

/* Send what is due at all ports, and find out when there is more. Returns frames sent. */
static unsigned int
duplicate_send_all(struct node *n, uint64_t now_ns)
{
	struct duplicates *all = n->duplicates;
	unsigned int sent = 0;

	all->due_ns = UINT64_MAX;
	for (uint16_t p = 0; p < n->n_ports; p++) {
		uint64_t due_ns;

		if (!all->port[p].is_watched)
			continue;
		sent += duplicate_send(n, p, now_ns);
		due_ns = weft_duplicate_deadline(&all->port[p].machine);
		all->due_ns = due_ns < all->due_ns ? due_ns : all->due_ns;
	}
	return sent;
}

static const uint8_t *
duplicate_records(struct rte_mbuf *m, size_t *len)
{
	*len = rte_pktmbuf_data_len(m) - (size_t)WEFT_WIRE_FLITS_OFF;
	return rte_pktmbuf_mtod_offset(m, const uint8_t *, WEFT_WIRE_FLITS_OFF);
}

static bool
duplicate_parse(struct rte_mbuf *m, struct weft_control *c)
{
	size_t len;
	const uint8_t *records = duplicate_records(m, &len);

	return weft_control_parse(records, len, c) == WEFT_OK;
}

void
duplicate_take_announcement(struct node *n, const struct note *note)
{
	duplicate_take(n, note->in_port, &note->control, n->node->now_ns);
	duplicate_send(n, note->in_port, n->node->now_ns);
}

bool
duplicate_came(void *arg, struct rte_mbuf *m)
{
	struct node *n = arg;
	struct note note = { .kind = NOTE_ANNOUNCE, .in_port = weft_frame(m)->in_port };

	size_t len;
	const uint8_t *records = duplicate_records(m, &len);

	if (!duplicate_parse(m, &note.control))
		return false;
	if (note.control.type == WEFT_CONTROL_MANAGEMENT)
		return manage_came(n, note.in_port, records, len, &note.control);
	if (note.control.type != WEFT_CONTROL_ANNOUNCE)
		return false;
	/* Who ends has nothing against a successor. */
	if (n->duplicates != NULL && !n->env.ends.are_parting)
		note_send(n, &note);
	return true;
}

unsigned int
duplicates_poll(void *arg)
{
	struct node *n = arg;
	struct duplicates *all = n->duplicates;

	if (n->node->now_ns < all->due_ns && !__atomic_load_n(&all->is_asked, __ATOMIC_RELAXED))
		return 0;
	if (__atomic_exchange_n(&all->is_asked, false, __ATOMIC_RELAXED))
		for (uint16_t p = 0; p < n->n_ports; p++)
			if (all->port[p].is_watched)
				weft_duplicate_ask(&all->port[p].machine);
	return duplicate_send_all(n, n->node->now_ns);
}

void
duplicates_ask(const struct node *n)
{
	if (n->duplicates != NULL)
		__atomic_store_n(&n->duplicates->is_asked, true, __ATOMIC_RELAXED);
}

/* --- before the nodes take part --- */

/* What else comes this early is sent again by whoever wants something. */
static void
duplicate_listen(struct node *n, uint16_t port, uint64_t now_ns)
{
	struct rte_mbuf *pkt[START_BURST];
	const uint16_t got = weft_port_rx(n->port[port], pkt, START_BURST);

	for (uint16_t i = 0; i < got; i++) {
		struct weft_wire_hdr h;
		struct weft_control c;

		if (pkt[i]->nb_segs == 1 &&
			weft_wire_parse(rte_pktmbuf_mtod(pkt[i], const uint8_t *),
				rte_pktmbuf_data_len(pkt[i]), &h) == WEFT_OK &&
			h.kind == WEFT_WIRE_CONTROL && h.session == 0 &&
			duplicate_parse(pkt[i], &c) && c.type == WEFT_CONTROL_ANNOUNCE)
			duplicate_take(n, port, &c, now_ns);
	}
	rte_pktmbuf_free_bulk(pkt, got);
}

/* One round of all ports of a node. Returns the first that is refused, or NULL. */
static const struct duplicate_port *
duplicate_round(struct node *n, uint64_t now_ns, bool *is_settled)
{
	const struct duplicate_port *refused = NULL;

	for (uint16_t p = 0; p < n->n_ports; p++) {
		struct duplicate_port *x = &n->duplicates->port[p];

		if (!x->is_watched)
			continue;
		duplicate_listen(n, p, now_ns);
		duplicate_send(n, p, now_ns);
		node_flush(n);
		*is_settled &= weft_duplicate_is_settled(&x->machine, now_ns);
		if (x->machine.state == WEFT_DUPLICATE_REFUSED && refused == NULL)
			refused = x;
	}
	return refused;
}

static void
duplicate_refusal(const struct node *n, const struct duplicate_port *x, char *err, size_t err_len)
{
	const unsigned int port = (unsigned int)(x - n->duplicates->port);
	char since[48] = "is being started already";

	if (x->machine.other_runs_ms != 0)
		snprintf(since, sizeof(since), "runs already, for %.1f s",
			(double)x->machine.other_runs_ms / 1e3);
	snprintf(err, err_len,
		"node %s of fabric %s %s, on the network of port %s (instance %016" PRIx64
		"): end that one first",
		n->topo->name, n->daemon->topo->fabric, since, weft_port_name(n->port[port]),
		x->machine.other);
}

/*
 * Ask until all that is to be asked has been. Where many share the CPUs those who should answer are
 * late as well as we: a round counts for no more than START_ROUND_NS. 0, or -EEXIST.
 */
static int
duplicate_ask_all(struct daemon *d, char *err, size_t err_len)
{
	const struct timespec nap = { .tv_nsec = START_NAP_NS };
	uint64_t now_ns = node_now_ns(), last_ns = now_ns;
	bool is_settled = false, is_refused = false;

	while (!is_settled && !daemon_is_stopped()) {
		const uint64_t passed_ns = node_now_ns() - last_ns;

		now_ns += passed_ns < START_ROUND_NS ? passed_ns : START_ROUND_NS;
		last_ns += passed_ns;
		is_settled = true;
		for (uint16_t i = 0; i < d->n_nodes; i++) {
			struct node *n = &d->node[i];
			const struct duplicate_port *x =
				n->duplicates == NULL ? NULL
						      : duplicate_round(n, now_ns, &is_settled);

			if (x == NULL)
				continue;
			is_refused = true;
			duplicate_refusal(n, x, err, err_len);
		}
		if (!is_settled)
			nanosleep(&nap, NULL);
	}
	return is_refused ? -EEXIST : 0;
}

int
duplicates_start(struct daemon *d, char *err, size_t err_len)
{
	uint64_t instance = 0, now_ns;
	int rc;

	if (getrandom(&instance, sizeof(instance), 0) != sizeof(instance) || instance == 0)
		return weft_errorf(
			err, err_len, -EIO, "the system gives no random bits (getrandom)");
	for (uint16_t i = 0; i < d->n_nodes; i++) {
		rc = duplicate_init(&d->node[i], instance);
		if (rc == 0)
			continue;
		return weft_errorf(err, err_len, rc, "out of memory");
	}
	rc = duplicate_ask_all(d, err, err_len);
	if (rc != 0)
		return rc;
	now_ns = node_now_ns();
	for (uint16_t i = 0; i < d->n_nodes; i++) {
		struct node *n = &d->node[i];

		for (uint16_t p = 0; n->duplicates != NULL && p < n->n_ports; p++)
			if (n->duplicates->port[p].is_watched)
				weft_duplicate_begin(&n->duplicates->port[p].machine, now_ns);
	}
	return 0;
}

/* --- what is said and reported --- */

static void
duplicate_log_events(const struct node *n, unsigned int port, struct duplicate_port *x)
{
	const uint64_t found = __atomic_load_n(&x->found.n, __ATOMIC_ACQUIRE);
	const uint64_t instance = __atomic_load_n(&x->found.instance, __ATOMIC_RELAXED);
	const uint64_t runs_ms = __atomic_load_n(&x->found.runs_ms, __ATOMIC_RELAXED);
	const uint64_t forged = x->machine.count[WEFT_DUPLICATE_N_FORGED];
	const char *name = weft_port_name(n->port[port]);

	if (found != x->told && runs_ms == 0)
		event_put(EVENT_DUPLICATE, n->topo->name, name, found - x->told,
			"somebody on the network of port %s began to run this node as well "
			"(instance %016" PRIx64 "), and is refused: see who",
			name, instance);
	else if (found != x->told)
		event_put(EVENT_DUPLICATE, n->topo->name, name, found - x->told,
			"somebody on the network of port %s runs this node as well (instance "
			"%016" PRIx64
			", for %.1f s), they take each other's sessions away: end one "
			"of them",
			name, instance, (double)runs_ms / 1e3);
	x->told = found;
	if (forged != x->forged_told)
		event_put(EVENT_FORGED, n->topo->name, name, forged - x->forged_told,
			"somebody on the network of port %s says that this node runs there and "
			"proves nothing, %" PRIu64 " times: ignored",
			name, forged);
	x->forged_told = forged;
}

void
duplicates_log_events(struct daemon *d)
{
	for (uint16_t i = 0; i < d->n_nodes; i++) {
		struct node *n = &d->node[i];

		for (uint16_t p = 0; n->duplicates != NULL && p < n->n_ports; p++)
			duplicate_log_events(n, p, &n->duplicates->port[p]);
	}
}

json_t *
duplicates_json(const struct node *n, unsigned int port)
{
	if (n->duplicates == NULL || !n->duplicates->port[port].is_watched)
		return json_null();
	return report_counters(weft_duplicate_counters, n->duplicates->port[port].machine.count,
		WEFT_DUPLICATE_N_COUNTERS);
}
