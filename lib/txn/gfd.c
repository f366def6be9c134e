/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Responder (fabric.md sections 1.9 and 1.12). Hot: runs per request. Every request that is served
 * gets a reply, for a requester that hears nothing can only wait for its timeout.
 */

#include "weft_memory.h"

#include <errno.h>

#include "weft_base.h"
#include "weft_telem.h"

#define LINE WEFT_MSG_DATA_LEN
#define HPA_END (UINT64_C(1) << 52)
#define PID_NOBODY 0xFFF
#define OUTSIDE UINT64_MAX

static const struct weft_counter counters[WEFT_GFD_N_COUNTERS] = {
	[WEFT_GFD_N_READS] = { "reads", "requests", "Reads answered, NXM included" },
	[WEFT_GFD_N_WRITES] = { "writes", "requests", "Writes of whole lines answered" },
	[WEFT_GFD_N_PARTIAL_WRITES] = { "partial_writes", "requests",
		"Writes with byte enables answered" },
	[WEFT_GFD_N_INVALIDATES] = { "invalidates", "requests", "MemInv answered" },
	[WEFT_GFD_N_NXM_READS] = { "nxm_reads", "requests", "Reads outside the memory" },
	[WEFT_GFD_N_NXM_WRITES] = { "nxm_writes", "requests",
		"Writes outside the memory: dropped, completed all the same" },
	[WEFT_GFD_N_POISON_READS] = { "poison_reads", "requests", "Reads of a poisoned line" },
	[WEFT_GFD_N_POISON_WRITES] = { "poison_writes", "requests", "Writes that carry poison" },
	[WEFT_GFD_N_NOT_MINE] = { "not_mine", "messages", "Requests for another DPID" },
	[WEFT_GFD_N_WRONG_CLASS] = { "wrong_class", "messages", "Messages that are no request" },
	[WEFT_GFD_N_BAD_OPCODE] = { "bad_opcode", "messages", "Requests not served here" },
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
	g->pid = pid;
	memset(poison, 0, weft_gfd_poison_size(len_bytes));
	return 0;
}

/* Address in the device of the line at @p hpa, or OUTSIDE. */
static uint64_t
dpa_of(const struct weft_gfd *g, uint64_t hpa)
{
	const uint64_t line = hpa & ~(uint64_t)(LINE - 1);

	/* Below the base the difference wraps to more than any length. */
	return line - g->hpa_base < g->len_bytes ? line - g->hpa_base : OUTSIDE;
}

static bool
poison_get(const struct weft_gfd *g, uint64_t dpa)
{
	return (g->poison[dpa / LINE / 64] >> (dpa / LINE % 64) & 1) != 0;
}

static void
poison_set(struct weft_gfd *g, uint64_t dpa, bool poisoned)
{
	uint64_t *word = &g->poison[dpa / LINE / 64];
	const uint64_t bit = WEFT_BIT64(dpa / LINE % 64);

	*word = poisoned ? *word | bit : *word & ~bit;
}

static void
reply_begin(struct weft_msg *reply, enum weft_msg_kind kind, const struct weft_msg *msg)
{
	memset(reply, 0, offsetof(struct weft_msg, data));
	reply->kind = (uint8_t)kind;
	reply->meta_field = WEFT_META_FIELD_NOOP;
	reply->dpid = msg->spid;
	reply->tag = msg->tag;
}

static void
serve_read(struct weft_gfd *g, uint64_t dpa, struct weft_msg *reply)
{
	g->count[WEFT_GFD_N_READS]++;
	if (dpa == OUTSIDE) {
		g->count[WEFT_GFD_N_NXM_READS]++;
		reply->op = WEFT_S2M_DRS_MEMDATA_NXM;
		memset(reply->data, 0xFF, LINE);
		return;
	}
	reply->op = WEFT_S2M_DRS_MEMDATA;
	reply->poison = poison_get(g, dpa);
	g->count[WEFT_GFD_N_POISON_READS] += reply->poison;
	memcpy(reply->data, g->mem + dpa, LINE);
}

/* @p enables has a bit for each byte to write. */
static void
serve_write(struct weft_gfd *g, uint64_t dpa, const struct weft_msg *msg, uint64_t enables)
{
	g->count[WEFT_GFD_N_POISON_WRITES] += msg->poison != 0;
	if (dpa == OUTSIDE) {
		g->count[WEFT_GFD_N_NXM_WRITES]++;
		return;
	}
	if (enables == UINT64_MAX) {
		memcpy(g->mem + dpa, msg->data, LINE);
		poison_set(g, dpa, msg->poison != 0);
		return;
	}
	for (unsigned int i = 0; i < LINE; i++) {
		if ((enables >> i & 1) != 0)
			g->mem[dpa + i] = msg->data[i];
	}
	if (msg->poison != 0 && enables != 0)
		poison_set(g, dpa, true);
}

static enum weft_verdict
bad_opcode(struct weft_gfd *g)
{
	g->count[WEFT_GFD_N_BAD_OPCODE]++;
	return WEFT_DROP_BAD_OPCODE;
}

static enum weft_verdict
serve_req(struct weft_gfd *g, const struct weft_msg *msg, struct weft_msg *reply)
{
	switch (msg->op) {
	case WEFT_M2S_REQ_MEMRD:
	case WEFT_M2S_REQ_MEMRDDATA:
		reply_begin(reply, WEFT_MSG_S2M_DRS, msg);
		serve_read(g, dpa_of(g, msg->addr), reply);
		return WEFT_OK;
	case WEFT_M2S_REQ_MEMINV:
		g->count[WEFT_GFD_N_INVALIDATES]++;
		reply_begin(reply, WEFT_MSG_S2M_NDR, msg);
		reply->op = WEFT_S2M_NDR_CMP;
		return WEFT_OK;
	default: return bad_opcode(g);
	}
}

static enum weft_verdict
serve_rwd(struct weft_gfd *g, const struct weft_msg *msg, struct weft_msg *reply)
{
	const uint64_t dpa = dpa_of(g, msg->addr);

	switch (msg->op) {
	case WEFT_M2S_RWD_MEMWR:
		g->count[WEFT_GFD_N_WRITES]++;
		serve_write(g, dpa, msg, UINT64_MAX);
		break;
	case WEFT_M2S_RWD_MEMWRPTL:
		/* A Cmp would say that bytes were written which nothing names. */
		if (msg->trp == 0)
			return bad_opcode(g);
		g->count[WEFT_GFD_N_PARTIAL_WRITES]++;
		serve_write(g, dpa, msg, msg->byte_enables);
		break;
	default: return bad_opcode(g);
	}
	reply_begin(reply, WEFT_MSG_S2M_NDR, msg);
	reply->op = WEFT_S2M_NDR_CMP;
	return WEFT_OK;
}

enum weft_verdict
weft_gfd_request(struct weft_gfd *g, const struct weft_msg *msg, struct weft_msg *reply)
{
	if (msg->kind != WEFT_MSG_M2S_REQ && msg->kind != WEFT_MSG_M2S_RWD) {
		g->count[WEFT_GFD_N_WRONG_CLASS]++;
		return WEFT_DROP_WRONG_CLASS;
	}
	if (msg->dpid != g->pid) {
		g->count[WEFT_GFD_N_NOT_MINE]++;
		return WEFT_DROP_NOT_MINE;
	}
	return msg->kind == WEFT_MSG_M2S_REQ ? serve_req(g, msg, reply) : serve_rwd(g, msg, reply);
}

const struct weft_counter *
weft_gfd_counters(void)
{
	return counters;
}
