/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Frames with messages of managers: from lcores to the control thread and back, who may send them,
 * and those that are for others. Lcores copy bytes, and wake the control thread once in its turn;
 * FEC, CRC and all that stands in the flits is the control thread's work.
 */

#include "manage.h"
#include "report.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "weft_cci_vdm.h"
#include "weft_io.h"

#define MANAGE_RECORDS WEFT_WIRE_FLIT_LEN /* bytes before the flits */
/* Most packets of a frame: the shortest has a PTH, the header of a VDM and a DWORD. */
#define MANAGE_PACKETS (WEFT_MANAGEMENT_FLITS * WEFT_IO_LEN / (4 + WEFT_CCI_VDM_HDR + 4))

static struct {
	int fd; /* -1: none yet */
	bool is_woken;
	struct weft_management_managers managers;
	uint64_t count[WEFT_MANAGEMENT_N_COUNTERS];
} manage = { .fd = -1 };

bool
manage_is_on(const struct daemon *d)
{
	return d->cfg.cci == CCI_FULL && d->topo->ide.mode == WEFT_IDE_OFF;
}

int
manage_fd(void)
{
	return manage.fd;
}

void
manage_count(enum weft_management_counter c)
{
	__atomic_store_n(&manage.count[c], manage.count[c] + 1, __ATOMIC_RELAXED);
}

json_t *
manage_json(const struct daemon *d)
{
	uint64_t count[WEFT_MANAGEMENT_N_COUNTERS];

	for (unsigned int i = 0; i < WEFT_MANAGEMENT_N_COUNTERS; i++)
		count[i] = __atomic_load_n(&manage.count[i], __ATOMIC_RELAXED);
	for (uint16_t i = 0; i < d->n_nodes; i++) {
		const struct manage *m = d->node[i].own.manage;

		if (m == NULL)
			continue;
		count[WEFT_MANAGEMENT_N_FULL] += __atomic_load_n(&m->full, __ATOMIC_RELAXED);
		count[WEFT_MANAGEMENT_N_REFUSED] += __atomic_load_n(&m->refused, __ATOMIC_RELAXED);
	}
	return report_counters(weft_management_counters, count, WEFT_MANAGEMENT_N_COUNTERS);
}

static const struct weft_topo_node *
manage_far(const struct node *n, uint16_t port)
{
	const struct weft_topo *t = n->daemon->topo;

	return &t->node[t->neighbour[n->topo->first_port + port]];
}

/* Of hosts the topology says what they are. */
static enum weft_management_from
manage_from(const struct weft_topo_node *far)
{
	switch (far->kind) {
	case WEFT_TOPO_SWITCH: return WEFT_MANAGEMENT_FROM_SWITCH;
	case WEFT_TOPO_GFD: return WEFT_MANAGEMENT_FROM_GFD;
	case WEFT_TOPO_HOST:
		return far->is_manager ? WEFT_MANAGEMENT_FROM_MANAGER : WEFT_MANAGEMENT_FROM_HOST;
	default: return WEFT_MANAGEMENT_FROM_NOBODY;
	}
}

static void
manage_find_managers(const struct weft_topo *t)
{
	for (unsigned int h = 0; h < t->n_hosts; h++)
		if (t->node[t->host[h]].is_manager)
			weft_management_add_manager(&manage.managers, t->node[t->host[h]].pid);
}

int
manage_begin(struct node *n, struct cci_component *c)
{
	struct manage *m;

	if (manage.fd < 0) {
		manage.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		manage_find_managers(n->daemon->topo);
	}
	if (manage.fd < 0)
		return -errno;
	m = aligned_alloc(
		WEFT_CACHE_LINE, weft_line_up(sizeof(*m) + n->n_ports * sizeof(m->port[0])));
	if (m == NULL)
		return -ENOMEM;
	memset(m, 0, sizeof(*m) + n->n_ports * sizeof(m->port[0]));
	m->node = n;
	m->component = c;
	for (uint16_t p = 0; p < n->n_ports; p++) {
		m->port[p].from = (uint8_t)manage_from(manage_far(n, p));
		m->port[p].pid = manage_far(n, p)->pid;
	}
	n->own.manage = m;
	return 0;
}

void
manage_fini(struct node *n)
{
	free(n->own.manage);
	n->own.manage = NULL;
}

/* --- on lcores --- */

/* Place for a frame of a port, or NULL: @p waits already has as many as it may. */
static struct manage_frame *
manage_reserve(struct manage_ring *r, uint8_t *waits)
{
	const uint32_t put = __atomic_load_n(&r->put, __ATOMIC_RELAXED);

	if (put - __atomic_load_n(&r->taken, __ATOMIC_ACQUIRE) == MANAGE_FRAMES ||
		__atomic_load_n(waits, __ATOMIC_RELAXED) >= MANAGE_PORT_FRAMES)
		return NULL;
	__atomic_add_fetch(waits, 1, __ATOMIC_RELAXED);
	return &r->frame[put % MANAGE_FRAMES];
}

static void
manage_put(struct manage_ring *r)
{
	__atomic_store_n(&r->put, r->put + 1, __ATOMIC_RELEASE);
}

/* The frame that waits longest, or NULL. */
static struct manage_frame *
manage_first(struct manage_ring *r)
{
	const uint32_t taken = __atomic_load_n(&r->taken, __ATOMIC_RELAXED);

	return taken == __atomic_load_n(&r->put, __ATOMIC_ACQUIRE)
	               ? NULL
	               : &r->frame[taken % MANAGE_FRAMES];
}

static void
manage_take(struct manage_ring *r, uint8_t *waits)
{
	__atomic_sub_fetch(waits, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&r->taken, r->taken + 1, __ATOMIC_RELEASE);
}

/*
 * Before a flit of it is decoded, as anybody may send these: a host has as many frames as answer
 * what it was asked.
 */
static bool
manage_may_come(struct manage_port *p)
{
	if (p->from != WEFT_MANAGEMENT_FROM_HOST)
		return p->from != WEFT_MANAGEMENT_FROM_NOBODY;
	if (__atomic_load_n(&p->answers_pending, __ATOMIC_RELAXED) == 0)
		return false;
	__atomic_sub_fetch(&p->answers_pending, 1, __ATOMIC_RELAXED);
	return true;
}

bool
manage_came(struct node *n, uint16_t port, const uint8_t *records, size_t len,
	const struct weft_control *c)
{
	const uint64_t one = 1;
	struct manage *m = n->own.manage;
	struct manage_frame *f;

	if (m == NULL)
		return false; /* it is dropped and counted as frames of no session are */
	if (!manage_may_come(&m->port[port])) {
		__atomic_store_n(&m->refused, m->refused + 1, __ATOMIC_RELAXED);
		return true;
	}
	if (c->padded < 2 || c->padded > 1 + WEFT_MANAGEMENT_FLITS)
		return true;
	f = manage_reserve(&m->in, &m->port[port].n_in);
	if (f == NULL) {
		__atomic_store_n(&m->full, m->full + 1, __ATOMIC_RELAXED);
		return true;
	}
	f->port = port;
	f->n = (uint16_t)(c->padded - 1u);
	assert(len >= MANAGE_RECORDS + (size_t)f->n * WEFT_FLIT_LEN); /* it was parsed */
	memcpy(f->flits, records + MANAGE_RECORDS, (size_t)f->n * WEFT_FLIT_LEN);
	manage_put(&m->in);
	if (!__atomic_exchange_n(&manage.is_woken, true, __ATOMIC_ACQ_REL) &&
		write(manage.fd, &one, sizeof(one)) < 0)
		return true; /* it is looked at in the next turn */
	return true;
}

unsigned int
manage_send_due(struct node *n)
{
	struct manage *m = n->own.manage;
	struct manage_frame *f;
	unsigned int sent = 0;

	for (; (f = manage_first(&m->out)) != NULL; sent++) {
		node_send_management(n, f->port, f->flits, f->n);
		manage_take(&m->out, &m->port[f->port].n_out);
	}
	return sent;
}

/* --- on the control thread --- */

/* Flits of a frame that a port's MTU has room for, beside the records. */
static unsigned int
manage_room(const struct manage *m, uint16_t port)
{
	const unsigned int flits =
		weft_topo_port_flits(m->node->daemon->topo, m->node->topo->first_port + port);

	return flits > 1 + WEFT_MANAGEMENT_FLITS ? WEFT_MANAGEMENT_FLITS
	       : flits > 1                       ? flits - 1
	                                         : 0;
}

static bool
manage_send_packets(
	struct manage *m, uint16_t port, const struct weft_management_packet *p, unsigned int n)
{
	const struct weft_codec codec = { m->node->daemon->fec, m->node->daemon->crc };
	const unsigned int room = manage_room(m, port);

	for (unsigned int i = 0, flits; i < n;) {
		struct manage_frame *f =
			room == 0 ? NULL : manage_reserve(&m->out, &m->port[port].n_out);

		if (f == NULL) {
			manage_count(WEFT_MANAGEMENT_N_FULL);
			return false;
		}
		i += weft_management_put(f->flits, room, p + i, n - i, &codec,
			(enum weft_crc_order)m->node->daemon->topo->crc_order, &flits);
		f->port = port;
		f->n = (uint16_t)flits;
		manage_put(&m->out);
		manage_count(WEFT_MANAGEMENT_N_FRAMES_SENT);
	}
	return true;
}

bool
manage_send(struct manage *m, uint16_t port, uint16_t spid, uint16_t dpid,
	const struct weft_cci_mctp_hdr *h, uint8_t type, const uint8_t *msg, size_t len)
{
	struct weft_management_packet p[WEFT_MANAGEMENT_PACKETS];
	uint8_t whole[WEFT_CCI_MCTP_MESSAGE_MAX];

	assert(len < sizeof(whole));
	whole[0] = type;
	memcpy(whole + 1, msg, len);
	return manage_send_packets(
		m, port, p, weft_management_cut(p, spid, dpid, h, whole, len + 1));
}

/* A frame at hand: packets for another leave together. */
struct manage_read {
	struct manage *m;
	uint16_t port;
	uint64_t now_ns;
	int out; /* port of those in p[] */
	unsigned int n;
	struct weft_management_packet p[MANAGE_PACKETS];
};

static void
manage_flush(struct manage_read *r)
{
	if (r->n != 0)
		manage_send_packets(r->m, (uint16_t)r->out, r->p, r->n);
	r->n = 0;
}

/* A request was sent on to a host: it may answer, in a packet a frame. */
static void
manage_note_asked(struct manage_port *to, const struct weft_management_packet *p)
{
	struct weft_cci_mctp_hdr h;

	if (to->from == WEFT_MANAGEMENT_FROM_HOST &&
		weft_cci_mctp_get_hdr(&h, p->mctp, p->len) == 0 && h.is_last &&
		__atomic_load_n(&to->answers_pending, __ATOMIC_RELAXED) + WEFT_MANAGEMENT_PACKETS <=
			MANAGE_ANSWERS)
		__atomic_add_fetch(&to->answers_pending, WEFT_MANAGEMENT_PACKETS, __ATOMIC_RELAXED);
}

static void
manage_send_on(struct manage_read *r, const struct weft_management_packet *p)
{
	const struct node *n = r->m->node;
	const int port = n->topo->kind == WEFT_TOPO_SWITCH ? weft_node_port(n->node, p->dpid) : -1;

	if (port < 0 || port == r->port || port >= n->n_ports) {
		manage_count(WEFT_MANAGEMENT_N_NO_ROUTE);
		return;
	}
	/* Tables of several switches that are being changed may lead in a circle. */
	if (p->hops >= WEFT_MANAGEMENT_HOPS) {
		manage_count(WEFT_MANAGEMENT_N_CIRCLED);
		return;
	}
	if (!weft_management_may_leave(&manage.managers, r->m->port[port].from, p)) {
		manage_count(WEFT_MANAGEMENT_N_REFUSED);
		return;
	}
	manage_note_asked(&r->m->port[port], p);
	if (port != r->out)
		manage_flush(r);
	r->out = port;
	r->p[r->n] = *p;
	r->p[r->n++].hops++;
	manage_count(WEFT_MANAGEMENT_N_SENT_ON);
}

static bool
manage_is_mine(const struct manage *m, uint16_t dpid)
{
	const uint16_t own = m->component == NULL
	                             ? m->node->topo->pid
	                             : weft_cci_component_owner(&m->component->component)->pid;

	return dpid == WEFT_CCI_NO_PID || dpid == own;
}

/* A host is asked by managers, and has answers and reports for its own, if it may have one. */
static void
manage_packet_of_host(struct manage_read *r, const struct weft_management_packet *p)
{
	struct manage *m = r->m;
	const struct weft_topo_node *own = m->node->topo;
	const bool is_asked = weft_management_is_asked(&manage.managers, own->pid, p);
	const struct weft_cci_mctp_rx *rx;

	if (is_asked ? m->component == NULL : !own->is_manager) {
		manage_count(WEFT_MANAGEMENT_N_REFUSED);
		return;
	}
	rx = weft_management_take(&m->rx, r->port, p);
	if (rx == NULL)
		return;
	if (is_asked)
		manage_message(m, r->port, p, rx, r->now_ns);
	else
		manage_host_message(m, p, rx);
}

/* MGMT-3, MGMT-5 */
static void
manage_packet(void *arg, const struct weft_management_packet *p)
{
	struct manage_read *r = arg;
	const struct weft_cci_mctp_rx *rx;

	if (!weft_management_may_enter(
		    &manage.managers, r->m->port[r->port].from, r->m->port[r->port].pid, p)) {
		manage_count(WEFT_MANAGEMENT_N_REFUSED);
		return;
	}
	if (!manage_is_mine(r->m, p->dpid) && !manage_is_awaited(r->m, p)) {
		manage_send_on(r, p);
		return;
	}
	if (r->m->node->topo->kind == WEFT_TOPO_HOST) {
		manage_packet_of_host(r, p);
		return;
	}
	rx = weft_management_take(&r->m->rx, r->port, p);
	if (rx != NULL)
		manage_message(r->m, r->port, p, rx, r->now_ns);
}

static void
manage_read(struct manage *m, struct manage_frame *f, uint64_t now_ns)
{
	const struct weft_codec codec = { m->node->daemon->fec, m->node->daemon->crc };
	struct manage_read r = { .m = m, .port = f->port, .now_ns = now_ns, .out = -1 };

	manage_count(WEFT_MANAGEMENT_N_FRAMES);
	if (weft_management_get(f->flits, f->n, &codec,
		    (enum weft_crc_order)m->node->daemon->topo->crc_order, manage_packet,
		    &r) != WEFT_OK)
		manage_count(WEFT_MANAGEMENT_N_BAD);
	manage_flush(&r);
}

void
manage_serve(struct daemon *d, uint64_t now_ns)
{
	uint64_t woken;

	if (manage.fd < 0)
		return;
	/*
	 * In this order: what comes behind it wakes us again. Exchanged, not stored: so a frame
	 * whose lcore found us woken is seen below.
	 */
	if (read(manage.fd, &woken, sizeof(woken)) < 0)
		woken = 0;
	(void)__atomic_exchange_n(&manage.is_woken, false, __ATOMIC_ACQ_REL);
	for (uint16_t i = 0; i < d->n_nodes; i++) {
		struct manage *m = d->node[i].own.manage;
		struct manage_frame *f;

		for (unsigned int k = 0; m != NULL && k < MANAGE_FRAMES; k++) {
			f = manage_first(&m->in);
			if (f == NULL)
				break;
			manage_read(m, f, now_ns);
			manage_take(&m->in, &m->port[f->port].n_in);
		}
	}
	manage_run_deferred(now_ns);
}
