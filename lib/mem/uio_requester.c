/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* UIO at the edge of a requester: see weft_uio_requester.h. Hot: runs per packet. */

#include "weft_uio_requester.h"

#include <errno.h>

#include "requester_priv.h"

const struct weft_counter weft_uio_counters[] = {
#define WEFT_COUNTER(id, name, unit, help) { name, unit, help },
#include "weft_uio_counters.def"
#undef WEFT_COUNTER
};

/*
 * The answer to a read, as its packets come. Data does not share a line with what is counted: a
 * load of both would wait until the data is written.
 */
struct uio_answer {
	uint64_t addr;
	uint16_t got; /* bytes */
	bool is_poisoned;
	uint8_t data[WEFT_UIO_BYTES_MAX] __attribute__((aligned(64)));
};

static_assert(WEFT_UIO_N_COUNTERS <= REQUESTER_COUNTERS_MAX, "a requester has room for them");

/* Its credits are those of the link alone. */
const struct requester_protocol weft_requester_uio = {
	.addr_max = UINT64_MAX,
	.tags_max = WEFT_UIO_TAGS,
	.tag_mask = WEFT_UIO_TAGS - 1,
	.id_max = UINT16_MAX,
	.dpid_max = WEFT_REQUESTER_ANYBODY,
	.align = 4,
	.len_max = WEFT_UIO_BYTES_MAX,
	.limit = UINT16_MAX,
	.state_len = sizeof(struct uio_answer),
	.n_begun = { WEFT_UIO_N_READS, WEFT_UIO_N_WRITES },
	.n_lost = { WEFT_UIO_N_LOST, WEFT_UIO_N_LOST },
	.n_late = WEFT_UIO_N_UNMATCHED,
	.n_unmatched = WEFT_UIO_N_UNMATCHED,
	.n_no_tag = WEFT_UIO_N_NO_TAG,
	.n_no_credit = WEFT_UIO_N_NO_TAG,
};

static struct uio_answer *
uio_answer(struct weft_requester *r, uint16_t tag)
{
	return (struct uio_answer *)r->state + (tag & (r->cfg.tags - 1));
}

void
weft_uio_request(struct weft_requester *r, const struct weft_request *rq, struct weft_io_tlp *t)
{
	const struct weft_uio u = {
		.kind = rq->kind == WEFT_REQUEST_READ ? WEFT_UIO_READ : WEFT_UIO_WRITE,
		.requester = r->cfg.id,
		.tag = rq->tag,
		.len = rq->len,
		.addr = rq->addr,
		.data = rq->data,
	};
	struct uio_answer *a = uio_answer(r, rq->tag);
	const int rc = weft_uio_encode(t, &u);

	assert(rc == 0); /* else it had not begun */
	(void)rc;
	a->addr = rq->addr;
	a->got = 0;
	a->is_poisoned = false;
}

static enum weft_verdict
uio_drop(struct weft_requester *r, enum weft_uio_counter why, enum weft_verdict v)
{
	r->count[why]++;
	return v;
}

/* Whether the packet is the next piece of what was asked for. */
static bool
uio_fits(const struct request_tag *t, const struct uio_answer *a, const struct weft_uio *u)
{
	if (u->kind == WEFT_UIO_CPL)
		return u->status != WEFT_UIO_SC || t->kind == WEFT_REQUEST_WRITE;
	return t->kind == WEFT_REQUEST_READ && u->left == t->len - a->got &&
	       u->lower == ((a->addr + a->got) & 0x7F);
}

static enum weft_request_status
uio_data(struct weft_requester *r, const struct request_tag *t, struct uio_answer *a,
	const struct weft_uio *u)
{
	/* What comes whole is taken from the packet. */
	if (u->len < t->len)
		memcpy(a->data + a->got, u->data, u->len);
	a->got = (uint16_t)(a->got + u->len);
	a->is_poisoned = a->is_poisoned || u->poison;
	if (a->got < t->len) {
		r->count[WEFT_UIO_N_PARTS]++;
		return WEFT_REQUEST_PART;
	}
	r->count[a->is_poisoned ? WEFT_UIO_N_POISON : WEFT_UIO_N_READS_DONE]++;
	return a->is_poisoned ? WEFT_REQUEST_POISON : WEFT_REQUEST_DONE;
}

static enum weft_request_status
uio_status(struct weft_requester *r, const struct weft_uio *u)
{
	switch (u->status) {
	case WEFT_UIO_SC: r->count[WEFT_UIO_N_WRITES_DONE]++; return WEFT_REQUEST_DONE;
	case WEFT_UIO_UR: r->count[WEFT_UIO_N_UR]++; return WEFT_REQUEST_UR;
	default: r->count[WEFT_UIO_N_CA]++; return WEFT_REQUEST_CA;
	}
}

enum weft_verdict
weft_uio_response(struct weft_requester *r, const struct weft_io_tlp *t, uint64_t now_ns,
	struct weft_completion *c)
{
	enum weft_request_status status;
	struct request_tag *tag;
	struct uio_answer *a;
	struct weft_uio u;
	const int rc = weft_uio_decode(t, &u);

	if (rc == -ENOENT || (rc == 0 && u.kind < WEFT_UIO_CPL))
		return uio_drop(r, WEFT_UIO_N_MALFORMED, WEFT_DROP_WRONG_CLASS);
	if (rc != 0)
		return uio_drop(r, WEFT_UIO_N_MALFORMED, WEFT_DROP_BAD_OPCODE);
	if (u.requester != r->cfg.id)
		return uio_drop(r, WEFT_UIO_N_NOT_MINE, WEFT_DROP_NOT_MINE);
	tag = requester_open_tag(r, u.tag);
	if (tag == NULL) {
		weft_requester_missed(r, u.tag);
		return WEFT_DROP_NO_TAG;
	}
	if (tag->dpid != WEFT_REQUESTER_ANYBODY && tag->dpid != t->spid)
		return uio_drop(r, WEFT_UIO_N_NOT_MINE, WEFT_DROP_NOT_MINE);
	a = uio_answer(r, u.tag);
	if (!uio_fits(tag, a, &u))
		return uio_drop(r, WEFT_UIO_N_WRONG, WEFT_DROP_BAD_OPCODE);
	status = u.kind == WEFT_UIO_CPLD ? uio_data(r, tag, a, &u) : uio_status(r, &u);
	requester_describe(tag, status, now_ns, c);
	if (status == WEFT_REQUEST_PART)
		return WEFT_OK;
	if (u.kind == WEFT_UIO_CPLD)
		c->data = u.len < tag->len ? a->data : u.data;
	requester_answered(r, tag, c);
	return WEFT_OK;
}
