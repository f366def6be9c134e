/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Messages of a host: looked up in bursts as they leave, and kept in mind until they are answered.
 */

#include "xlate_priv.h"

#include <errno.h>

static struct xlate_request *
msg_request_at(struct weft_xlate *x, uint16_t tag)
{
	return &x->request[tag & (x->cfg.tags - 1)];
}

/* There is a place for every tag. */
static void
msg_queue(struct weft_xlate *x, uint16_t queue, struct xlate_request *r)
{
	const struct weft_xlate_item item = {
		.va = r->msg.addr,
		.cookie = (uint64_t)(r - x->request),
		.until_ns = r->until_ns,
		.want = r->msg.kind == WEFT_MSG_M2S_RWD ? WEFT_ATC_W : WEFT_ATC_R,
	};

	r->state = XLATE_REQUEST_WAITS;
	xlate_put(x, queue, &item);
}

static void
msg_retry(struct weft_xlate *x, struct xlate_request *r)
{
	msg_queue(x, r->msg.kind == WEFT_MSG_M2S_RWD ? XLATE_WRITE : XLATE_READ, r);
}

int
weft_xlate_submit(struct weft_xlate *x, const struct weft_msg *m, uint64_t now_ns)
{
	struct xlate_request *r = msg_request_at(x, m->tag);

	if (r->state == XLATE_REQUEST_WAITS)
		return -EBUSY;
	/* Lost; its answer, should one arrive, is ignored. */
	if (r->state == XLATE_REQUEST_SENT && r->read >= 0)
		weft_ats_atc_read_done(x->peer, (unsigned int)r->read);
	*r = (struct xlate_request){
		.msg = *m,
		.until_ns = now_ns + x->cfg.life_ns,
		.read = -1,
	};
	msg_retry(x, r);
	return 0;
}

/* --- out --- */

/* A burst that is looked up. */
struct msg_burst {
	unsigned int n;
	struct weft_xlate_item item[WEFT_XLATE_BURST];
	uint16_t ctx[WEFT_XLATE_BURST];
	uint64_t va[WEFT_XLATE_BURST];
	uint8_t want[WEFT_XLATE_BURST];
	uint64_t pa[WEFT_XLATE_BURST];
	uint8_t result[WEFT_XLATE_BURST];
};

/* Reads and writes in turn, of what may leave. */
static bool
msg_take(struct weft_xlate *x, unsigned int kinds, struct weft_xlate_item *item)
{
	for (unsigned int i = 0; i < 2; i++) {
		const unsigned int write = x->writes_turn;

		x->writes_turn = !x->writes_turn;
		if ((kinds >> write & 1) != 0 && xlate_pop(x, (uint16_t)(XLATE_READ + write), item))
			return true;
	}
	return false;
}

static void
msg_refuse(struct weft_xlate *x, struct xlate_request *r, enum weft_xlate_counter why,
	struct weft_xlate_out *out)
{
	x->count[why]++;
	r->state = XLATE_REQUEST_OUT;
	out->msg = r->msg;
	out->is_refused = true;
}

/* @return how many are refused at once: they are the first of @p out */
static unsigned int
msg_gather(struct weft_xlate *x, unsigned int kinds, uint64_t now_ns, struct msg_burst *b,
	struct weft_xlate_out *out, unsigned int n)
{
	unsigned int refused = 0;

	b->n = 0;
	while (b->n + refused < n && msg_take(x, kinds, &b->item[b->n])) {
		const struct weft_xlate_item *item = &b->item[b->n];
		struct xlate_request *r = &x->request[item->cookie];

		if (now_ns >= item->until_ns) {
			x->count[WEFT_XLATE_N_EXPIRED]++;
			r->state = XLATE_REQUEST_FREE;
		} else if (item->why == WEFT_XLATE_NO_PAGE) {
			msg_refuse(x, r, WEFT_XLATE_N_NO_PAGE, &out[refused++]);
		} else {
			b->ctx[b->n] = 0;
			b->va[b->n] = item->va;
			b->want[b->n++] = item->want;
		}
	}
	return refused;
}

/* Of a burst in hand @p writes are writes that go out. */
static bool
msg_settle(struct weft_xlate *x, const struct msg_burst *b, unsigned int i, unsigned int *writes,
	uint64_t now_ns, struct weft_xlate_out *out)
{
	struct xlate_request *r = &x->request[b->item[i].cookie];
	const bool is_write = b->want[i] == WEFT_ATC_W;

	if (b->result[i] == WEFT_ATC_MISS) {
		if (weft_xlate_wait(x, &b->item[i], now_ns) != 0)
			msg_queue(x, XLATE_LATER, r); /* nothing can be asked now */
		return false;
	}
	if (b->result[i] != WEFT_ATC_HIT) {
		msg_refuse(x, r, WEFT_XLATE_N_DENIED, out);
		return true;
	}
	if (is_write && x->write_tail - x->write_head + *writes == XLATE_WRITES) {
		msg_queue(x, XLATE_LATER, r);
		return false;
	}
	*writes += is_write;
	r->state = XLATE_REQUEST_OUT;
	out->msg = r->msg;
	out->msg.addr = b->pa[i];
	out->is_refused = false;
	return true;
}

unsigned int
weft_xlate_next(struct weft_xlate *x, unsigned int kinds, uint64_t now_ns,
	struct weft_xlate_out *out, unsigned int n)
{
	struct msg_burst b __attribute__((uninitialized)); /* written before it is read */
	const struct weft_atc_run run = { b.ctx, b.va, b.want, b.pa, b.result };
	unsigned int found = 0, writes = 0;

	static_assert(1 << (XLATE_READ - XLATE_READ) == WEFT_XLATE_READS &&
			      1 << (XLATE_WRITE - XLATE_READ) == WEFT_XLATE_WRITES,
		"queues by kind");
	n = n < WEFT_XLATE_BURST ? n : WEFT_XLATE_BURST;
	do {
		found = msg_gather(x, kinds, now_ns, &b, out, n);
		weft_xlate_run(x, &run, b.n);
		for (unsigned int i = 0; i < b.n; i++)
			found += msg_settle(x, &b, i, &writes, now_ns, &out[found]);
	} while (found == 0 && b.n != 0);
	return found;
}

static void
msg_begin_write(struct weft_xlate *x, struct xlate_request *r, uint16_t dpid)
{
	r->has_write = true;
	r->write = x->write_tail++;
	x->write[r->write % XLATE_WRITES] = (struct xlate_write){ .tag = r->msg.tag, .dpid = dpid };
	weft_ats_atc_write_begin(x->peer, XLATE_TC);
}

static struct xlate_request *
msg_out(struct weft_xlate *x, uint16_t tag)
{
	struct xlate_request *r = msg_request_at(x, tag);

	return r->state == XLATE_REQUEST_OUT && r->msg.tag == tag ? r : NULL;
}

void
weft_xlate_sent(struct weft_xlate *x, uint16_t tag, uint16_t dpid)
{
	struct xlate_request *r = msg_out(x, tag);

	if (r == NULL)
		return;
	x->count[WEFT_XLATE_N_TRANSLATED]++;
	r->state = XLATE_REQUEST_SENT;
	r->has_write = false;
	r->read = -1;
	if (r->msg.kind == WEFT_MSG_M2S_RWD)
		msg_begin_write(x, r, dpid);
	else /* one a tag: there is room */
		r->read = (int16_t)weft_ats_atc_read_begin(
			x->peer, 0, r->msg.addr, WEFT_MSG_DATA_LEN);
}

void
weft_xlate_put_back(struct weft_xlate *x, uint16_t tag)
{
	struct xlate_request *r = msg_out(x, tag);

	if (r != NULL)
		msg_retry(x, r);
}

/* --- answers --- */

/* Writes pass in their order: the peer knows only how many did. */
static void
msg_pass_writes(struct weft_xlate *x)
{
	while (x->write_head != x->write_tail && x->write[x->write_head % XLATE_WRITES].is_done) {
		x->write_head++;
		weft_ats_atc_write_done(x->peer, XLATE_TC);
	}
}

/* The answer to a write that its host gave up, and whose tag is another request's by now. */
static void
msg_late_write(struct weft_xlate *x, uint16_t tag)
{
	for (uint32_t i = x->write_head; i != x->write_tail; i++)
		if (x->write[i % XLATE_WRITES].tag == tag)
			x->write[i % XLATE_WRITES].is_done = true;
	msg_pass_writes(x);
}

bool
weft_xlate_response(struct weft_xlate *x, const struct weft_msg *m)
{
	struct xlate_request *r = msg_request_at(x, m->tag);

	if (r->state < XLATE_REQUEST_OUT || r->msg.tag != m->tag) {
		if (m->kind == WEFT_MSG_S2M_NDR)
			msg_late_write(x, m->tag);
		return true;
	}
	if (r->state == XLATE_REQUEST_SENT && r->has_write) {
		x->write[r->write % XLATE_WRITES].is_done = true;
		msg_pass_writes(x);
	}
	if (r->state == XLATE_REQUEST_SENT && r->read >= 0 &&
		!weft_ats_atc_read_done(x->peer, (unsigned int)r->read)) {
		x->count[WEFT_XLATE_N_AGAIN]++;
		msg_retry(x, r);
		return false;
	}
	r->state = XLATE_REQUEST_FREE;
	return true;
}

void
weft_xlate_ended(struct weft_xlate *x, uint16_t dpid)
{
	for (uint32_t i = x->write_head; i != x->write_tail; i++) {
		struct xlate_write *w = &x->write[i % XLATE_WRITES];

		w->is_lost |= w->dpid == dpid;
	}
	if (!x->is_on)
		return;
	x->count[WEFT_XLATE_N_RESETS]++;
	weft_ats_atc_reg_set(
		x->peer, WEFT_ATS_REG_ATS_CTL, (uint32_t)x->cfg.stu << WEFT_ATS_CTL_STU_SHIFT);
	weft_xlate_enable(x);
}

void
weft_xlate_began(struct weft_xlate *x, uint16_t dpid)
{
	for (uint32_t i = x->write_head; i != x->write_tail; i++) {
		struct xlate_write *w = &x->write[i % XLATE_WRITES];

		w->is_done |= w->is_lost && w->dpid == dpid;
	}
	msg_pass_writes(x);
}
