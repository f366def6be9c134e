/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Responder (fabric.md sections 1.9 and 1.12). Hot: runs per request. Every request that is served
 * gets a reply, for a requester that hears nothing can only wait for its timeout.
 */

#include "weft_gfd.h"

#include <errno.h>

#include "weft_gfam_access.h"
#include "weft_guess.h"

#define LINE WEFT_MSG_DATA_LEN
#define HPA_END (UINT64_C(1) << 52)
#define PID_NOBODY 0xFFF
#define SHARE_BITS 53 /* of a draw, as many as a double has */
#define OUTSIDE UINT64_MAX

const struct weft_counter weft_gfd_counters[] = {
#define WEFT_COUNTER(id, name, unit, help) { name, unit, help },
#include "weft_gfd_counters.def"
#undef WEFT_COUNTER
};

size_t
weft_gfd_poison_size(uint64_t len_bytes)
{
	const uint64_t lines = len_bytes / LINE;

	return (size_t)((lines / 64 + (lines % 64 != 0)) * sizeof(uint64_t));
}

int
weft_gfd_init(struct weft_gfd *g, uint16_t pid, uint64_t hpa_base, void *mem, uint64_t len_bytes,
	uint64_t *poison)
{
	if (pid >= PID_NOBODY || hpa_base % LINE != 0 || hpa_base >= HPA_END)
		return -EINVAL;
	if (len_bytes == 0 || len_bytes % LINE != 0 || len_bytes > HPA_END - hpa_base)
		return -EINVAL;
	memset(g, 0, sizeof(*g));
	g->mem = mem;
	g->poison = poison;
	g->hpa_base = hpa_base;
	g->len_bytes = len_bytes;
	g->skew = 0 - hpa_base;
	g->pid = pid;
	memset(poison, 0, weft_gfd_poison_size(len_bytes));
	return 0;
}

void
weft_gfd_set_guard(struct weft_gfd *g, const struct weft_gfam_checker *guard)
{
	g->guard = guard;
}

int
weft_gfd_set_late(struct weft_gfd *g, double share, uint64_t seed, uint64_t *lines)
{
	if (weft_gfd_set_late_share(g, share, seed) != 0)
		return -EINVAL;
	g->late.line = lines;
	memset(lines, 0, weft_gfd_poison_size(g->len_bytes));
	return 0;
}

int
weft_gfd_set_late_share(struct weft_gfd *g, double share, uint64_t seed)
{
	if (!(share >= 0 && share <= 1))
		return -EINVAL;
	g->late.share = (uint64_t)(share * (double)WEFT_BIT64(SHARE_BITS));
	weft_rand_seed(&g->late.rand, seed);
	return 0;
}

/* Where a request leads, and what is to be done there. */
struct place {
	uint64_t dpa; /* OUTSIDE: nowhere */
	enum weft_gfam_answer answer; /* how to read what cannot be read */
	bool read_only;
};

static struct place
gfd_place(const struct weft_gfd *g, const struct weft_msg *msg, bool write)
{
	const uint64_t line = msg->addr & ~(uint64_t)(LINE - 1);
	struct place p = { .answer = WEFT_GFAM_SERVE };

	if (g->guard == NULL) {
		/* Below the base the difference wraps to more than any length. */
		p.dpa = line - g->hpa_base;
	} else {
		struct weft_gfam_decision d;

		p.answer = weft_gfam_access_check(g->guard, msg->spid, line, msg->op, write, &d);
		p.read_only = d.result == WEFT_GFAM_NO_WRITE;
		p.dpa = weft_gfam_trigger(d.result) == WEFT_GFAM_T_DECODE ? OUTSIDE : d.dpa;
	}
	if (p.answer == WEFT_GFAM_SERVE && p.dpa >= g->len_bytes) {
		p.dpa = OUTSIDE;
		p.answer = WEFT_GFAM_NXM;
	}
	return p;
}

void
weft_gfd_poison_all(struct weft_gfd *g)
{
	memset(g->poison, 0xFF, weft_gfd_poison_size(g->len_bytes));
}

static bool
gfd_get_line(const uint64_t *map, uint64_t dpa)
{
	return (map[dpa / LINE / 64] >> (dpa / LINE % 64) & 1) != 0;
}

static void
gfd_set_line(uint64_t *map, uint64_t dpa, bool on)
{
	const uint64_t bit = WEFT_BIT64(dpa / LINE % 64);

	map[dpa / LINE / 64] = on ? map[dpa / LINE / 64] | bit : map[dpa / LINE / 64] & ~bit;
}

void
weft_gfd_heal(struct weft_gfd *g, uint64_t offset, uint64_t lines)
{
	const uint64_t first = offset / LINE / 64, n = lines / 64 * sizeof(*g->poison);

	assert(offset % (64 * LINE) == 0 && lines % 64 == 0);
	memset(&g->poison[first], 0, n);
	if (g->late.line != NULL)
		memset(&g->late.line[first], 0, n);
}

/* What is written is no longer found late. */
static void
gfd_set_poison(struct weft_gfd *g, uint64_t dpa, bool poisoned)
{
	gfd_set_line(g->poison, dpa, poisoned);
	if (g->late.line != NULL)
		gfd_set_line(g->late.line, dpa, false);
}

static bool
gfd_can_mark(const struct weft_gfd *g, uint64_t offset, uint64_t lines)
{
	return g->late.line != NULL && lines != 0 && offset < g->len_bytes &&
	       lines <= g->len_bytes / LINE - offset / LINE;
}

int
weft_gfd_mark_late(struct weft_gfd *g, uint64_t offset, uint64_t lines)
{
	if (!gfd_can_mark(g, offset, lines))
		return -EINVAL;
	for (uint64_t i = 0; i < lines; i++) {
		gfd_set_line(g->poison, offset + i * LINE, true);
		gfd_set_line(g->late.line, offset + i * LINE, true);
	}
	return 0;
}

uint64_t
weft_gfd_mark_good(struct weft_gfd *g, uint64_t offset, uint64_t lines, uint64_t *map)
{
	uint64_t marked = 0;

	for (uint64_t i = 0; gfd_can_mark(g, offset, lines) && i < lines; i++) {
		const uint64_t dpa = offset + i * LINE;

		if (gfd_get_line(g->poison, dpa))
			continue;
		gfd_set_line(g->poison, dpa, true);
		gfd_set_line(g->late.line, dpa, true);
		gfd_set_line(map, i * LINE, true);
		marked++;
	}
	return marked;
}

/* A line that was written is found late no more. */
void
weft_gfd_unmark(struct weft_gfd *g, uint64_t offset, uint64_t lines, const uint64_t *map)
{
	for (uint64_t i = 0; i < lines; i++) {
		const uint64_t dpa = offset + i * LINE;

		if (gfd_get_line(map, i * LINE) && gfd_get_line(g->late.line, dpa))
			gfd_set_poison(g, dpa, false);
	}
}

/* Whether the data of a line turns out bad only when the header has left. */
static bool
gfd_turns_bad(struct weft_gfd *g, uint64_t dpa, bool poisoned)
{
	if (g->late.line == NULL)
		return false;
	if (poisoned)
		return gfd_get_line(g->late.line, dpa);
	return g->late.share != 0 &&
	       weft_rand_u64(&g->late.rand) >> (64 - SHARE_BITS) < g->late.share;
}

static void
gfd_begin_reply(struct weft_msg *reply, enum weft_msg_kind kind, const struct weft_msg *msg)
{
	memset(reply, 0, offsetof(struct weft_msg, data));
	reply->kind = (uint8_t)kind;
	reply->meta_field = WEFT_META_FIELD_NOOP;
	reply->dpid = msg->spid;
	reply->tag = msg->tag;
}

/* A read that gets no data of the memory. */
static void
gfd_refuse_read(struct weft_gfd *g, enum weft_gfam_answer answer, struct weft_msg *reply)
{
	const bool nxm = answer == WEFT_GFAM_NXM || answer == WEFT_GFAM_NXM_POISON;

	g->count[nxm ? WEFT_GFD_N_NXM_READS : WEFT_GFD_N_DENIED_READS]++;
	reply->op = nxm ? WEFT_S2M_DRS_MEMDATA_NXM : WEFT_S2M_DRS_MEMDATA;
	reply->poison = answer == WEFT_GFAM_NXM_POISON || answer == WEFT_GFAM_ONES_POISON;
	memset(reply->data, 0xFF, LINE);
}

static void
gfd_serve_read(struct weft_gfd *g, const struct weft_msg *msg, struct weft_msg *reply)
{
	const struct place p = gfd_place(g, msg, false);
	bool poisoned;

	g->count[WEFT_GFD_N_READS]++;
	if (p.answer != WEFT_GFAM_SERVE) {
		gfd_refuse_read(g, p.answer, reply);
		return;
	}
	reply->op = WEFT_S2M_DRS_MEMDATA;
	g->skew = p.dpa - (msg->addr & ~(uint64_t)(LINE - 1));
	poisoned = gfd_get_line(g->poison, p.dpa);
	g->turns_bad = gfd_turns_bad(g, p.dpa, poisoned);
	g->count[WEFT_GFD_N_LATE_POISON] += g->turns_bad;
	reply->poison = poisoned && !g->turns_bad;
	g->count[WEFT_GFD_N_POISON_READS] += poisoned;
	memcpy(reply->data, g->mem + p.dpa, LINE);
}

static enum weft_gfd_counter
gfd_refused_write(const struct place *p)
{
	if (p->dpa == OUTSIDE)
		return WEFT_GFD_N_NXM_WRITES;
	return p->read_only ? WEFT_GFD_N_READ_ONLY_WRITES : WEFT_GFD_N_DENIED_WRITES;
}

/* @p enables has a bit for each byte to write. */
static void
gfd_serve_write(struct weft_gfd *g, const struct weft_msg *msg, uint64_t enables)
{
	const struct place p = gfd_place(g, msg, true);
	const uint64_t dpa = p.dpa;

	g->count[WEFT_GFD_N_POISON_WRITES] += msg->poison != 0;
	if (p.answer != WEFT_GFAM_SERVE) {
		g->count[gfd_refused_write(&p)]++;
		return;
	}
	g->skew = dpa - (msg->addr & ~(uint64_t)(LINE - 1));
	if (enables == UINT64_MAX) {
		memcpy(g->mem + dpa, msg->data, LINE);
		gfd_set_poison(g, dpa, msg->poison != 0);
		return;
	}
	for (unsigned int i = 0; i < LINE; i++) {
		if ((enables >> i & 1) != 0)
			g->mem[dpa + i] = msg->data[i];
	}
	if (msg->poison != 0 && enables != 0)
		gfd_set_poison(g, dpa, true);
}

static enum weft_verdict
gfd_bad_opcode(struct weft_gfd *g)
{
	g->count[WEFT_GFD_N_BAD_OPCODE]++;
	return WEFT_DROP_BAD_OPCODE;
}

static enum weft_verdict
gfd_serve_req(struct weft_gfd *g, const struct weft_msg *msg, struct weft_msg *reply)
{
	switch (msg->op) {
	case WEFT_M2S_REQ_MEMRD:
	case WEFT_M2S_REQ_MEMRDDATA:
		gfd_begin_reply(reply, WEFT_MSG_S2M_DRS, msg);
		gfd_serve_read(g, msg, reply);
		return WEFT_OK;
	case WEFT_M2S_REQ_MEMINV:
		/* Touches nothing, so that it is asked about only to be counted. */
		gfd_place(g, msg, false);
		g->count[WEFT_GFD_N_INVALIDATES]++;
		gfd_begin_reply(reply, WEFT_MSG_S2M_NDR, msg);
		reply->op = WEFT_S2M_NDR_CMP;
		return WEFT_OK;
	default: return gfd_bad_opcode(g);
	}
}

static enum weft_verdict
gfd_serve_rwd(struct weft_gfd *g, const struct weft_msg *msg, struct weft_msg *reply)
{
	switch (msg->op) {
	case WEFT_M2S_RWD_MEMWR:
		g->count[WEFT_GFD_N_WRITES]++;
		gfd_serve_write(g, msg, UINT64_MAX);
		break;
	case WEFT_M2S_RWD_MEMWRPTL:
		/* A Cmp would say that bytes were written which nothing names. */
		if (msg->trp == 0)
			return gfd_bad_opcode(g);
		g->count[WEFT_GFD_N_PARTIAL_WRITES]++;
		gfd_serve_write(g, msg, msg->byte_enables);
		break;
	default: return gfd_bad_opcode(g);
	}
	gfd_begin_reply(reply, WEFT_MSG_S2M_NDR, msg);
	reply->op = WEFT_S2M_NDR_CMP;
	return WEFT_OK;
}

enum weft_verdict
weft_gfd_request(struct weft_gfd *g, const struct weft_msg *msg, struct weft_msg *reply)
{
	g->turns_bad = false;
	if (msg->kind != WEFT_MSG_M2S_REQ && msg->kind != WEFT_MSG_M2S_RWD) {
		g->count[WEFT_GFD_N_WRONG_CLASS]++;
		return WEFT_DROP_WRONG_CLASS;
	}
	if (msg->dpid != g->pid) {
		g->count[WEFT_GFD_N_NOT_MINE]++;
		return WEFT_DROP_NOT_MINE;
	}
	return msg->kind == WEFT_MSG_M2S_REQ ? gfd_serve_req(g, msg, reply)
	                                     : gfd_serve_rwd(g, msg, reply);
}

void
weft_gfd_look_ahead(const struct weft_gfd *g, const uint8_t *flit)
{
	uint64_t addr[WEFT_GUESS_REQUESTS] __attribute__((uninitialized)); /* up to n it is set */
	const unsigned int n = weft_guess_requests(flit, addr);

	for (unsigned int i = 0; i < n; i++) {
		const uint64_t dpa = addr[i] + g->skew;

		if (dpa >= g->len_bytes)
			continue;
		__builtin_prefetch(g->mem + dpa, 1);
		__builtin_prefetch(&g->poison[dpa / LINE / 64]);
	}
}
