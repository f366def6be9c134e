/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* CXL.mem at the edge of a requester: see weft_mem_requester.h. Hot: runs per message. */

#include "weft_mem_requester.h"

#include "requester_priv.h"

#define ADDR_END (UINT64_C(1) << 52)

const struct weft_counter weft_mem_counters[] = {
#define WEFT_COUNTER(id, name, unit, help) { name, unit, help },
#include "weft_mem_requester_counters.def"
#undef WEFT_COUNTER
};

static_assert(WEFT_MEM_N_COUNTERS <= REQUESTER_COUNTERS_MAX, "a requester has room for them");

const struct requester_protocol weft_requester_mem = {
	.addr_max = ADDR_END - WEFT_MSG_DATA_LEN,
	.tags_max = WEFT_REQUESTER_TAGS_MAX,
	.tag_mask = UINT16_MAX,
	.id_max = WEFT_REQUESTER_PEERS - 2,
	.dpid_max = WEFT_REQUESTER_PEERS - 2,
	.align = WEFT_MSG_DATA_LEN,
	.len_max = WEFT_MSG_DATA_LEN,
	.n_begun = { WEFT_MEM_N_READS, WEFT_MEM_N_WRITES },
	.n_lost = { WEFT_MEM_N_READS_LOST, WEFT_MEM_N_WRITES_LOST },
	.n_late = WEFT_MEM_N_LATE,
	.n_unmatched = WEFT_MEM_N_UNMATCHED,
	.n_no_tag = WEFT_MEM_N_NO_TAG,
	.n_no_credit = WEFT_MEM_N_NO_CREDIT,
};

void
weft_mem_request(
	const struct weft_requester *r, const struct weft_request *rq, struct weft_msg *msg)
{
	memset(msg, 0, offsetof(struct weft_msg, data));
	msg->meta_field = WEFT_META_FIELD_NOOP;
	msg->spid = r->cfg.id;
	msg->dpid = rq->dpid;
	msg->tag = rq->tag;
	msg->addr = rq->addr;
	if (rq->kind == WEFT_REQUEST_READ) {
		msg->kind = WEFT_MSG_M2S_REQ;
		msg->op = WEFT_M2S_REQ_MEMRD;
		return;
	}
	msg->kind = WEFT_MSG_M2S_RWD;
	msg->op = WEFT_M2S_RWD_MEMWR;
	memcpy(msg->data, rq->data, WEFT_MSG_DATA_LEN);
}

static int
mem_begin(struct weft_requester *r, struct weft_request *rq, uint64_t now_ns, struct weft_msg *msg)
{
	int rc;

	rq->len = WEFT_MSG_DATA_LEN;
	rc = weft_requester_begin(r, rq, now_ns);
	if (rc == 0)
		weft_mem_request(r, rq, msg);
	return rc;
}

int
weft_mem_read(struct weft_requester *r, uint16_t dpid, uint64_t hpa, uint64_t cookie,
	uint64_t now_ns, struct weft_msg *msg)
{
	struct weft_request rq = {
		.kind = WEFT_REQUEST_READ, .dpid = dpid, .addr = hpa, .cookie = cookie
	};

	return mem_begin(r, &rq, now_ns, msg);
}

int
weft_mem_write(struct weft_requester *r, uint16_t dpid, uint64_t hpa, const uint8_t *data,
	uint64_t cookie, uint64_t now_ns, struct weft_msg *msg)
{
	struct weft_request rq = { .kind = WEFT_REQUEST_WRITE,
		.dpid = dpid,
		.addr = hpa,
		.cookie = cookie,
		.data = data };

	return mem_begin(r, &rq, now_ns, msg);
}

int
weft_mem_write_partial(struct weft_requester *r, uint16_t dpid, uint64_t hpa, const uint8_t *data,
	uint64_t enables, uint64_t cookie, uint64_t now_ns, struct weft_msg *msg)
{
	const int rc = weft_mem_write(r, dpid, hpa, data, cookie, now_ns, msg);

	if (rc != 0)
		return rc;
	msg->op = WEFT_M2S_RWD_MEMWRPTL;
	msg->trp = 1;
	msg->byte_enables = enables;
	return 0;
}

static bool
mem_opcode_answers(const struct weft_msg *msg)
{
	if (msg->kind == WEFT_MSG_S2M_NDR)
		return msg->op == WEFT_S2M_NDR_CMP;
	return msg->op == WEFT_S2M_DRS_MEMDATA || msg->op == WEFT_S2M_DRS_MEMDATA_NXM;
}

/* NXM goes before poison: a GFD may be set to poison what is not there. */
static enum weft_request_status
mem_status(struct weft_requester *r, const struct weft_msg *msg)
{
	if (msg->kind == WEFT_MSG_S2M_NDR) {
		r->count[WEFT_MEM_N_WRITES_DONE]++;
		return WEFT_REQUEST_DONE;
	}
	r->count[WEFT_MEM_N_READS_DONE]++;
	if (msg->op == WEFT_S2M_DRS_MEMDATA_NXM) {
		r->count[WEFT_MEM_N_NXM]++;
		return WEFT_REQUEST_NXM;
	}
	if (msg->poison != 0) {
		r->count[WEFT_MEM_N_POISON]++;
		return WEFT_REQUEST_POISON;
	}
	return WEFT_REQUEST_DONE;
}

static enum weft_verdict
mem_drop(struct weft_requester *r, enum weft_mem_counter why, enum weft_verdict v)
{
	r->count[why]++;
	return v;
}

enum weft_verdict
weft_mem_response(struct weft_requester *r, const struct weft_msg *msg, uint64_t now_ns,
	struct weft_completion *c)
{
	static const uint8_t answer[WEFT_REQUEST_KINDS] = { WEFT_MSG_S2M_DRS, WEFT_MSG_S2M_NDR };
	struct request_tag *t;

	if (msg->kind != WEFT_MSG_S2M_DRS && msg->kind != WEFT_MSG_S2M_NDR)
		return mem_drop(r, WEFT_MEM_N_WRONG_CLASS, WEFT_DROP_WRONG_CLASS);
	if (msg->dpid != r->cfg.id)
		return mem_drop(r, WEFT_MEM_N_NOT_MINE, WEFT_DROP_NOT_MINE);
	t = requester_open_tag(r, msg->tag);
	if (t == NULL) {
		weft_requester_missed(r, msg->tag);
		return WEFT_DROP_NO_TAG;
	}
	if (msg->kind != answer[t->kind])
		return mem_drop(r, WEFT_MEM_N_WRONG_CLASS, WEFT_DROP_WRONG_CLASS);
	if (!mem_opcode_answers(msg))
		return mem_drop(r, WEFT_MEM_N_BAD_OPCODE, WEFT_DROP_BAD_OPCODE);
	requester_describe(t, mem_status(r, msg), now_ns, c);
	if (msg->kind == WEFT_MSG_S2M_DRS)
		c->data = msg->data;
	requester_answered(r, t, c);
	return WEFT_OK;
}
