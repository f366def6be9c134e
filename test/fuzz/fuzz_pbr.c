/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Tables of an edge port and of a switch, by a script of commands and requests, against plain
 * arrays that are searched from the text of fabric.md sections 1.2 to 1.5, 1.8, 1.10, 1.12 and 2.4.
 * A command is done if and only if its rules are kept. Each request, completion and message goes
 * where the arrays say, alone and in a run.
 *
 *   bytes 0..3  the port: depths, IDTs, flags
 *   then        steps: what, and what it needs (step())
 */

#include "weft_fuzz.h"

#include "weft_tables.h"

#define DEPTH_MAX 16
#define IDT_MAX 600
#define RUN 40
#define PORT_PID 0x123
#define RGT_ROWS 8

static const uint16_t pids[] = { 0, 1, 2, 0x200, 0x201, 0xFFE, 0xFFF, 0x1000 };
#define PIDS WEFT_ARRAY_SIZE(pids)

struct entry {
	bool valid, flag;
	uint8_t intlv, gran;
	uint16_t dpid;
};

/* FAST or LDST, beside its IDT. */
struct decoder {
	bool is_fast, gim;
	unsigned int depth, idt_depth, log2;
	uint64_t base, limit;
	struct entry entry[DEPTH_MAX];
	uint16_t idt[IDT_MAX];
};

struct script {
	struct fuzz_in in;
	struct weft_edge *edge;
	struct weft_route *route;
	struct decoder seg[2]; /* FAST, LDST */
	bool vector[3][WEFT_PIDS];
	unsigned int vp_has, vp_vcs, vp_host;
	bool is_pbr_link;
	unsigned int rows;
	struct weft_reroute reroute[WEFT_REROUTER_ROWS];
	struct weft_hdm hdm[WEFT_HDM_DECODERS];
	uint16_t pcie;
	uint8_t drt[WEFT_PIDS][2];
	struct weft_rgt_entry rgt[RGT_ROWS];
};

static uint16_t
pid_in(struct fuzz_in *in)
{
	return pids[fuzz_u8(in) % PIDS];
}

/* A multiple of 64 GB, with what ways look at; sometimes any number. */
static uint64_t
address(struct fuzz_in *in)
{
	const uint8_t b = fuzz_u8(in);

	if (b == 0xFF)
		return fuzz_u64(in);
	return ((uint64_t)b << 36) + ((uint64_t)fuzz_u8(in) << 28) + ((uint64_t)fuzz_u8(in) << 14) +
	       ((uint64_t)fuzz_u8(in) << 7);
}

static uint64_t
segment(struct fuzz_in *in)
{
	const uint8_t b = fuzz_u8(in);

	return b == 0xFF ? fuzz_u64(in) : (uint64_t)b << 36;
}

/* --- the reference --- */

static enum weft_edge_vector
vector_of(const struct decoder *d, bool flag)
{
	return !d->is_fast ? WEFT_LAV : flag && d->gim ? WEFT_VTV : WEFT_GMV;
}

static uint16_t
target(const struct decoder *d, const struct entry *e, unsigned int way)
{
	return e->intlv == 0 ? e->dpid : d->idt[e->dpid + way];
}

static bool
entry_may(const struct script *x, const struct decoder *d, const struct weft_fast_entry *w)
{
	const struct entry e = { w->flags & 1, (w->flags & 2) != 0, w->intlv, w->gran, w->dpid };

	if (w->flags > 3 || w->reserved != 0 || w->reserved2 != 0 || e.intlv > 8 || e.gran > 6 ||
		e.dpid > 0xFFF || (d->is_fast && e.flag && !d->gim) ||
		(e.intlv != 0 && e.dpid + (1u << e.intlv) > d->idt_depth))
		return false;
	for (unsigned int way = 0; e.valid && way < 1u << e.intlv; way++)
		if (!x->vector[vector_of(d, e.flag)][target(d, &e, way)])
			return false;
	return true;
}

/* The valid entry that holds the address, or NULL. */
static const struct entry *
look_up(const struct decoder *d, uint64_t hpa, uint16_t *pid)
{
	const struct entry *e;

	if (d->base == 0 || d->limit == 0 || hpa < d->base || hpa >= d->limit)
		return NULL;
	e = &d->entry[(hpa >> d->log2) % d->depth];
	*pid = target(d, e, (unsigned int)(hpa / (UINT64_C(256) << e->gran) % (1u << e->intlv)));
	return e->valid ? e : NULL;
}

static struct weft_edge_decision
answer(enum weft_edge_decoder by, enum weft_edge_reason why, uint16_t dpid, bool pif)
{
	return (struct weft_edge_decision){ dpid, PORT_PID, pif, 0, (uint8_t)by, (uint8_t)why };
}

static unsigned int
vp(const struct script *x)
{
	return x->vp_has & x->vp_vcs & x->vp_host;
}

static struct weft_edge_decision
request(const struct script *x, enum weft_edge_kind kind, uint64_t hpa, int prefix)
{
	static const enum weft_edge_decoder by[2] = { WEFT_EDGE_BY_FAST, WEFT_EDGE_BY_LDST };

	if (prefix >= 0 && kind != WEFT_EDGE_MEM) {
		const bool good = kind == WEFT_EDGE_UIO && (vp(x) & WEFT_VP_INGRESS) &&
		                  prefix < WEFT_PIDS && x->vector[WEFT_VTV][prefix];

		return good ? answer(WEFT_EDGE_BY_PREFIX, WEFT_EDGE_OK, (uint16_t)prefix, true)
		            : answer(WEFT_EDGE_BY_PREFIX, WEFT_EDGE_BAD_PREFIX, 0, false);
	}
	for (unsigned int i = 0; i < 2 && kind != WEFT_EDGE_IO; i++) {
		struct weft_edge_decision d;
		uint16_t pid = 0;
		const struct entry *e = look_up(&x->seg[i], hpa, &pid);

		if (e == NULL)
			continue;
		if (i == 0 && e->flag && kind == WEFT_EDGE_MEM)
			d = answer(by[i], WEFT_EDGE_GIM_UIO_ONLY, 0, false);
		else if (!x->vector[vector_of(&x->seg[i], e->flag)][pid])
			d = answer(by[i], WEFT_EDGE_NOT_ALLOWED, 0, false);
		else
			d = answer(by[i], WEFT_EDGE_OK, pid, i == 0 && kind == WEFT_EDGE_UIO);
		d.segment = i == 1 && e->flag;
		return d;
	}
	for (unsigned int i = 0; i < WEFT_HDM_DECODERS && kind != WEFT_EDGE_IO; i++)
		if (x->hdm[i].len != 0 && hpa >= x->hdm[i].base &&
			hpa - x->hdm[i].base < x->hdm[i].len)
			return answer(WEFT_EDGE_BY_HDM, WEFT_EDGE_OK, x->hdm[i].pid, false);
	if (kind != WEFT_EDGE_MEM && x->pcie != WEFT_PID_RESERVED)
		return answer(WEFT_EDGE_BY_PCIE, WEFT_EDGE_OK, x->pcie, false);
	return answer(WEFT_EDGE_BY_NONE, WEFT_EDGE_NO_DECODE, 0, false);
}

static struct weft_edge_decision
completion(const struct script *x, uint16_t bdf, int seg, bool local, int prefix)
{
	if (prefix >= 0) {
		const bool good = (vp(x) & WEFT_VP_EGRESS) && prefix < WEFT_PIDS &&
		                  x->vector[WEFT_VTV][prefix];

		return good ? answer(WEFT_EDGE_BY_PREFIX, WEFT_EDGE_OK, (uint16_t)prefix, true)
		            : answer(WEFT_EDGE_BY_PREFIX, WEFT_EDGE_UNEXPECTED, 0, false);
	}
	for (unsigned int i = 0; i < x->rows; i++) {
		const struct weft_reroute *r = &x->reroute[i];

		if (r->pid == WEFT_PID_RESERVED || r->bus != bdf >> 8 || r->devfn != (bdf & 0xFF) ||
			(r->segment_valid && r->segment != seg))
			continue;
		return x->vector[WEFT_LAV][r->pid]
		               ? answer(WEFT_EDGE_BY_REROUTER, WEFT_EDGE_OK, r->pid, false)
		               : answer(WEFT_EDGE_BY_REROUTER, WEFT_EDGE_NOT_ALLOWED, 0, false);
	}
	return local ? answer(WEFT_EDGE_BY_UPSTREAM, WEFT_EDGE_OK, WEFT_PID_RESERVED, false)
	             : answer(WEFT_EDGE_BY_NONE, WEFT_EDGE_UNEXPECTED, 0, false);
}

/* Section 1.10: the classes that may be spread. */
static bool
may_spread(enum weft_route_class c)
{
	switch (c) {
	case WEFT_CLASS_D2H_REQ:
	case WEFT_CLASS_D2H_RSP:
	case WEFT_CLASS_D2H_DH:
	case WEFT_CLASS_H2D_DH:
	case WEFT_CLASS_S2M_DRS:
	case WEFT_CLASS_S2M_BISNP:
	case WEFT_CLASS_M2S_BIRSP:
	case WEFT_CLASS_M2S_RWD:
	case WEFT_CLASS_M2S_REQ_HDM_H:
	case WEFT_CLASS_M2S_REQ_HDM_DB:
	case WEFT_CLASS_UIO_P2P: return true;
	default: return false;
	}
}

static int
first_port(const struct script *x, uint16_t dpid)
{
	const uint8_t *row = x->drt[dpid];

	return row[0] == 1 ? row[1] : row[0] == 2 ? x->rgt[row[1]].port[0] : WEFT_ROUTE_NONE;
}

/* Ports from..to of a row that are ready: how many, and whether @p port is a best one of them. */
static unsigned int
ready_ports(const struct weft_rgt_entry *e, const struct weft_route_ports *p, unsigned int from,
	unsigned int to, int port, bool *is_one)
{
	unsigned int n = 0;
	bool in = false, beaten = false;

	for (unsigned int i = from; i <= to; i++) {
		if (!(p->ready[e->port[i] / 64] >> e->port[i] % 64 & 1))
			continue;
		n++;
		in |= e->port[i] == port;
		beaten |= (e->mode & 7) == WEFT_RGT_LEAST_LOADED && port >= 0 &&
		          p->load[e->port[i]] < p->load[port];
	}
	*is_one = in && !beaten;
	return n;
}

static void
check_spread(const struct weft_rgt_entry *e, const struct weft_route_ports *p, int port)
{
	const unsigned int last = e->counts & 7, primary = e->counts >> 3, mix = e->mode >> 3;
	bool in_first, in_second = false;
	const unsigned int first = ready_ports(e, p, 0, primary, port, &in_first);
	unsigned int second = 0;

	if (primary < last)
		second = ready_ports(e, p, primary + 1, last, port, &in_second);
	if (primary == last || (mix == 7 && first > 0))
		FUZZ_CHECK(first > 0 ? in_first : port == WEFT_ROUTE_STALL);
	else if (mix == 7)
		FUZZ_CHECK(second > 0 ? in_second : port == WEFT_ROUTE_STALL);
	else /* either group, which stalls if none of it is ready */
		FUZZ_CHECK(port == WEFT_ROUTE_STALL ? first == 0 || second == 0
						    : in_first || in_second);
}

/* --- commands --- */

static void
set_range(struct script *x, uint8_t how)
{
	struct decoder *d = &x->seg[how >> 3 & 1];
	const unsigned int log2 = 35 + (how >> 4) % 10;
	const uint64_t base = segment(&x->in), limit = segment(&x->in), size = UINT64_C(1) << log2;
	const bool on = base != 0 && limit != 0;
	const int rc =
		weft_seg_set_range(d->is_fast ? &x->edge->fast : &x->edge->ldst, log2, base, limit);
	const bool may = d->idt_depth != 0 && log2 >= 36 && log2 <= 43 && base % size == 0 &&
	                 limit % size == 0 &&
	                 (!on || (limit > base && (limit - base) / size <= d->depth));

	FUZZ_CHECK((rc == 0) == may);
	if (rc != 0)
		return;
	if (base != d->base || log2 != d->log2)
		memset(d->entry, 0, sizeof(d->entry));
	d->base = base;
	d->limit = limit;
	d->log2 = log2;
}

static void
set_entries(struct script *x, uint8_t how)
{
	struct decoder *d = &x->seg[how >> 3 & 1];
	const unsigned int start = fuzz_u8(&x->in) % (DEPTH_MAX + 2), n = (how >> 4) % 4;
	struct weft_fast_entry e[3];
	bool may = d->idt_depth != 0 && start + n <= d->depth;
	int rc;

	for (unsigned int i = 0; i < n; i++) {
		const uint8_t b = fuzz_u8(&x->in);

		e[i] = (struct weft_fast_entry){ .flags = b & 3,
			.intlv = b >> 2 & 0xF,
			.gran = fuzz_u8(&x->in) & 7,
			.reserved = b == 0xFE,
			.dpid = b & 0x3C ? fuzz_u8(&x->in) : pid_in(&x->in),
			.reserved2 = b == 0xFD };
		e[i].flags |= b == 0xFC ? 4 : 0;
		may = may && entry_may(x, d, &e[i]);
	}
	rc = weft_seg_set_entries(d->is_fast ? &x->edge->fast : &x->edge->ldst, start, e, n);
	FUZZ_CHECK((rc == 0) == may);
	for (unsigned int i = 0; rc == 0 && i < n; i++)
		d->entry[((d->base >> d->log2) + start + i) % d->depth] =
			(struct entry){ e[i].flags & 1, (e[i].flags & 2) != 0, e[i].intlv,
				e[i].gran, e[i].dpid };
}

static void
set_idt(struct script *x, uint8_t how)
{
	struct decoder *d = &x->seg[how >> 3 & 1];
	const unsigned int start = fuzz_u8(&x->in) * 3u, n = 1u << (how >> 4) % 9;
	const uint8_t first = fuzz_u8(&x->in), turn = fuzz_u8(&x->in);
	uint16_t pid[256];
	bool may = d->idt_depth != 0 && start + n <= d->idt_depth;
	int rc;

	for (unsigned int i = 0; i < n; i++) {
		pid[i] =
			pids[(first + i * turn) % (turn & 0x80 ? PIDS : 6)]; /* these may be good */
		may = may && pid[i] < WEFT_PIDS &&
		      (d->is_fast ? x->vector[WEFT_GMV][pid[i]] || x->vector[WEFT_VTV][pid[i]]
				  : x->vector[WEFT_LAV][pid[i]]);
	}
	rc = weft_seg_set_idt(d->is_fast ? &x->edge->fast : &x->edge->ldst, start, pid, n);
	FUZZ_CHECK((rc == 0) == may);
	if (rc == 0)
		memcpy(d->idt + start, pid, n * sizeof(*pid));
}

static void
allow(struct script *x, uint8_t how)
{
	const enum weft_edge_vector v = (how >> 3) % 3;
	const uint16_t pid = pid_in(&x->in);
	const bool on = (how & 0x80) == 0;
	const int rc = weft_edge_allow(x->edge, v, pid, on);

	FUZZ_CHECK((rc == 0) == (pid < WEFT_PID_RESERVED));
	if (rc == 0)
		x->vector[v][pid] = on;
}

static void
set_prefixes(struct script *x, uint8_t how)
{
	const unsigned int bits = how >> 4 & 7;

	if (how & 8) {
		const int rc = weft_edge_set_vp_vcs(x->edge, bits);

		FUZZ_CHECK((rc == 0) == ((bits & ~x->vp_has) == 0));
		x->vp_vcs = rc == 0 ? bits : x->vp_vcs;
	} else {
		const int rc = weft_edge_set_vp_host(x->edge, bits);

		FUZZ_CHECK((rc == 0) == (bits < 4));
		x->vp_host = rc == 0 ? bits : x->vp_host;
	}
}

static void
set_rerouter(struct script *x, uint8_t how)
{
	const unsigned int start = fuzz_u8(&x->in) % 8, n = (how >> 4) % 4;
	struct weft_reroute r[3];
	bool may = start + n <= x->rows;
	int rc;

	for (unsigned int i = 0; i < n; i++) {
		const uint8_t b = fuzz_u8(&x->in);

		r[i] = (struct weft_reroute){ pid_in(&x->in), (b & 1) != 0, b >> 1 & 1, b >> 2 & 1,
			b >> 3 & 1 };
		may = may && r[i].pid <= WEFT_PID_RESERVED &&
		      (r[i].pid == WEFT_PID_RESERVED || x->vector[WEFT_LAV][r[i].pid]);
	}
	rc = weft_edge_set_rerouter(x->edge, start, r, n);
	FUZZ_CHECK((rc == 0) == may);
	if (rc == 0)
		memcpy(x->reroute + start, r, n * sizeof(*r));
}

static void
set_hdm(struct script *x, uint8_t how)
{
	const unsigned int i = (how >> 3) % (WEFT_HDM_DECODERS + 1);
	const struct weft_hdm h = { segment(&x->in), segment(&x->in) >> (how >> 6),
		pid_in(&x->in) };
	const uint64_t step = UINT64_C(256) << 20;
	bool may = i < WEFT_HDM_DECODERS && h.pid < WEFT_PID_RESERVED && h.base % step == 0 &&
	           h.len % step == 0 && (h.len == 0 || h.base + (h.len - 1) >= h.base);
	int rc;

	for (unsigned int k = 0; may && k < WEFT_HDM_DECODERS; k++) {
		const struct weft_hdm *o = &x->hdm[k];

		if (k != i && o->len != 0 && h.len != 0 && h.base <= o->base + (o->len - 1) &&
			o->base <= h.base + (h.len - 1))
			may = false;
	}
	rc = weft_edge_set_hdm(x->edge, i, &h);
	FUZZ_CHECK((rc == 0) == may);
	if (rc == 0)
		x->hdm[i] = h;
}

static void
set_drt(struct script *x, uint8_t how)
{
	const unsigned int start = pid_in(&x->in), n = (how >> 4) % 4;
	uint8_t row[3][2];
	bool may = start + n <= WEFT_PID_RESERVED;
	int rc;

	fuzz_take(&x->in, row, n * sizeof(row[0]));
	for (unsigned int i = 0; i < n; i++)
		may = may && row[i][0] <= 2 && (row[i][0] != 2 || row[i][1] < x->route->n_rgt);
	rc = weft_route_set_drt(x->route, start, (const uint8_t(*)[2])row, n);
	FUZZ_CHECK((rc == 0) == may);
	if (rc == 0)
		memcpy(x->drt[start], row, n * sizeof(row[0]));
}

static void
set_rgt(struct script *x, uint8_t how)
{
	const unsigned int at = (how >> 4) % (RGT_ROWS + 1);
	struct weft_rgt_entry e;
	bool may;
	int rc;

	fuzz_take(&x->in, &e, sizeof(e));
	may = at < x->route->n_rgt && e.counts < 0x40 && e.mode < 0x40 && e.reserved[0] == 0 &&
	      e.reserved[1] == 0 && e.counts >> 3 <= (e.counts & 7) && (e.mode & 7) <= 1;
	rc = weft_route_set_rgt(x->route, at, &e, 1);
	FUZZ_CHECK((rc == 0) == may);
	if (rc == 0)
		x->rgt[at] = e;
}

/* --- requests and messages --- */

static void
check_decision(const struct weft_edge_decision *got, const struct weft_edge_decision *want)
{
	FUZZ_CHECK(got->decoder == want->decoder && got->reason == want->reason);
	FUZZ_CHECK(got->spid == want->spid);
	if (got->reason == WEFT_EDGE_OK)
		FUZZ_CHECK(got->dpid == want->dpid && got->pif == want->pif &&
			   got->segment == want->segment);
}

static int
prefix_in(struct fuzz_in *in, uint8_t how)
{
	return how & 0x80 ? pid_in(in) : WEFT_EDGE_ABSENT;
}

static void
one_request(struct script *x, uint8_t how)
{
	const enum weft_edge_kind kind = (how >> 4) % 3;
	const uint64_t hpa = address(&x->in);
	const int prefix = prefix_in(&x->in, how);
	struct weft_edge_decision got, want = request(x, kind, hpa, prefix);

	weft_edge_request(x->edge, kind, hpa, prefix, &got);
	check_decision(&got, &want);
}

static void
one_completion(struct script *x, uint8_t how)
{
	const uint8_t b = fuzz_u8(&x->in);
	const uint16_t bdf = (uint16_t)((b & 1) << 8 | (b >> 1 & 1));
	const int seg = b & 4 ? b >> 3 & 1 : WEFT_EDGE_ABSENT, prefix = prefix_in(&x->in, how);
	struct weft_edge_decision got, want = completion(x, bdf, seg, (b & 16) != 0, prefix);
	enum weft_edge_egress out;

	weft_edge_completion(x->edge, bdf, seg, (b & 16) != 0, prefix, &got);
	check_decision(&got, &want);
	out = weft_edge_egress(x->edge, (b >> 6) % 3 + WEFT_EDGE_MEM, (b & 32) != 0);
	if (x->is_pbr_link || (b >> 6) % 3 != WEFT_EDGE_UIO || !(b & 32))
		FUZZ_CHECK(out == WEFT_EGRESS_PASS);
	else
		FUZZ_CHECK(out == (vp(x) & WEFT_VP_EGRESS ? WEFT_EGRESS_PREFIX : WEFT_EGRESS_UR));
}

static void
run(struct script *x, uint8_t how)
{
	const unsigned int n = 1 + (how >> 3) % RUN;
	const uint64_t base = address(&x->in), step = UINT64_C(64) << (fuzz_u8(&x->in) & 31);
	uint64_t hpa[RUN];
	int16_t dpid[RUN], port[RUN];
	unsigned int found = 0;

	for (unsigned int i = 0; i < n; i++)
		hpa[i] = base + i * step;
	weft_hpa_port_run(x->edge, x->route, hpa, port, n);
	FUZZ_CHECK(weft_edge_mem_run(x->edge, hpa, dpid, n) <= n);
	for (unsigned int i = 0; i < n; i++) {
		const struct weft_edge_decision d =
			request(x, WEFT_EDGE_MEM, hpa[i], WEFT_EDGE_ABSENT);

		found += d.reason == WEFT_EDGE_OK;
		FUZZ_CHECK(dpid[i] == (d.reason == WEFT_EDGE_OK ? d.dpid : -1));
		FUZZ_CHECK(port[i] ==
			   (d.reason == WEFT_EDGE_OK ? first_port(x, d.dpid) : WEFT_ROUTE_NONE));
	}
	FUZZ_CHECK(weft_edge_mem_run(x->edge, hpa, dpid, n) == found);
}

/* A row that spreads: each choice is one that may be, and in time comes every group that may. */
static void
check_both(const struct script *x, const struct weft_route_ports *ports, uint16_t dpid,
	enum weft_route_class c, uint64_t rnd)
{
	const struct weft_rgt_entry *e = &x->rgt[x->drt[dpid][1]];
	bool first = false, second = false, is_first, is_second;

	for (unsigned int i = 0; i < 256; i++) {
		const int port = weft_route_port(x->route, ports, dpid, c, rnd);

		check_spread(e, ports, port);
		(void)ready_ports(e, ports, 0, e->counts >> 3, port, &is_first);
		(void)ready_ports(e, ports, (e->counts >> 3) + 1u, e->counts & 7, port, &is_second);
		first |= is_first;
		second |= is_second;
		rnd = (rnd ^ rnd >> 29) * UINT64_C(0x9E3779B97F4A7C15) + i;
	}
	if (e->mode >> 3 == 7)
		return;
	for (unsigned int i = 0; i <= (e->counts & 7); i++) {
		bool is_one;

		(void)ready_ports(e, ports, i, i, e->port[i], &is_one);
		FUZZ_CHECK(!is_one || (i <= e->counts >> 3 ? first : second));
	}
}

static void
route(struct script *x, uint8_t how)
{
	struct weft_route_ports ports = { .ready = { fuzz_u64(&x->in) } };
	const uint16_t dpid = pid_in(&x->in);
	const enum weft_route_class c = fuzz_u8(&x->in) % WEFT_CLASSES;
	const uint64_t rnd = fuzz_u64(&x->in);
	int16_t first;
	int port;

	for (unsigned int i = 0; i < 64; i++)
		ports.load[i] = (uint32_t)(rnd >> i & 3);
	x->route->spread = (how & 0x80) != 0;
	port = weft_route_port(x->route, &ports, dpid, c, rnd);
	weft_route_run(x->route, &dpid, &first, 1);
	FUZZ_CHECK(first == (dpid < WEFT_PIDS ? first_port(x, dpid) : WEFT_ROUTE_NONE));
	if (dpid == WEFT_PID_RESERVED)
		FUZZ_CHECK(port == WEFT_ROUTE_LOCAL);
	else if (dpid > WEFT_PID_RESERVED)
		FUZZ_CHECK(port == WEFT_ROUTE_NONE);
	else if (x->drt[dpid][0] != 2 || !x->route->spread || !may_spread(c))
		FUZZ_CHECK(port == first_port(x, dpid));
	else
		check_both(x, &ports, dpid, c, rnd);
}

static void
step(struct script *x)
{
	const uint8_t how = fuzz_u8(&x->in);

	switch (how & 7) {
	case 0: set_range(x, how); break;
	case 1: set_entries(x, how); break;
	case 2: set_idt(x, how); break;
	case 3: allow(x, how); break;
	case 4: run(x, how); break;
	case 5: how & 8 ? one_completion(x, how) : one_request(x, how); break;
	case 6: how & 8 ? route(x, how) : set_rgt(x, how); break;
	default:
		switch (fuzz_u8(&x->in) & 3) {
		case 0: set_prefixes(x, how); break;
		case 1: set_rerouter(x, how); break;
		case 2: set_hdm(x, how); break;
		default:
			if (how & 8) {
				set_drt(x, how);
			} else {
				const uint16_t pid = pid_in(&x->in);
				const int rc = weft_edge_set_pcie(x->edge, pid);

				FUZZ_CHECK((rc == 0) == (pid < WEFT_PIDS));
				x->pcie = rc == 0 ? pid : x->pcie;
			}
			break;
		}
		break;
	}
}

static void
set_up(struct script *x)
{
	const uint8_t a = fuzz_u8(&x->in), b = fuzz_u8(&x->in);
	const unsigned int fast_idt = 1 + fuzz_u8(&x->in) * 2u, ldst_idt = fuzz_u8(&x->in) * 2u;
	const struct weft_edge_cfg cfg = { .pid = PORT_PID,
		.fast_depth_log2 = a & 3,
		.fast_idt = (uint16_t)fast_idt,
		.ldst_depth_log2 = a >> 2 & 3,
		.ldst_idt = (uint16_t)ldst_idt,
		.rerouter_rows = a >> 4 & 7,
		.gim = b & 1,
		.vp = b >> 1 & 3,
		.pbr_link = (b & 8) != 0 };

	x->seg[0] = (struct decoder){ true, b & 1, 1u << (a & 3), fast_idt, 36, 0, 0, { { 0 } },
		{ 0 } };
	x->seg[1] = (struct decoder){ false, false, 1u << (a >> 2 & 3), ldst_idt, 36, 0, 0,
		{ { 0 } }, { 0 } };
	for (unsigned int i = 0; i < IDT_MAX; i++)
		x->seg[0].idt[i] = x->seg[1].idt[i] = WEFT_PID_RESERVED;
	x->vp_has = cfg.vp;
	x->is_pbr_link = cfg.pbr_link;
	x->rows = cfg.rerouter_rows;
	x->pcie = WEFT_PID_RESERVED;
	for (unsigned int i = 0; i < WEFT_REROUTER_ROWS; i++)
		x->reroute[i].pid = WEFT_PID_RESERVED;
	FUZZ_CHECK(weft_edge_init(x->edge, &cfg) == 0);
	FUZZ_CHECK(weft_route_init(x->route, b & 16 ? RGT_ROWS : 0) == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct script *x = fuzz_alloc(sizeof(*x));

	memset(x, 0, sizeof(*x));
	x->edge = fuzz_alloc(sizeof(*x->edge));
	x->route = fuzz_alloc(sizeof(*x->route));
	x->in = (struct fuzz_in){ data, len };
	set_up(x);
	while (x->in.n > 0)
		step(x);
	free(x->edge);
	free(x->route);
	free(x);
	return 0;
}
