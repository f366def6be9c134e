/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Requester rules one by one; test_fabric.c tries them all together. */

#include "weft_test.h"

#include "weft_mem_requester.h"
#include "weft_telem.h"

#define SPID 5
#define GFD 0x20
#define TIMEOUT 1000
#define QUARANTINE 300
#define PLENTY 10000

static const struct weft_requester_cfg cfg4 = { TIMEOUT, QUARANTINE, 4, SPID, NULL, 0, 0 };

static struct weft_requester *
host_new(const struct weft_requester_cfg *cfg)
{
	const size_t size = weft_requester_size(cfg);
	struct weft_requester *h;
	void *mem;

	assert_true(size > 0 && size % 64 == 0);
	mem = aligned_alloc(64, size);
	assert_non_null(mem);
	memset(mem, 0xA5, size); /* init must not rely on zeroed memory */
	h = weft_requester_init(mem, cfg);
	assert_non_null(h);
	assert_int_equal(weft_requester_grant(h, GFD, PLENTY, PLENTY), 0);
	return h;
}

static uint64_t
count(const struct weft_requester *h, enum weft_mem_counter i)
{
	return weft_requester_counts(h)[i];
}

static struct weft_msg
read_of(struct weft_requester *h, uint64_t cookie, uint64_t now)
{
	struct weft_msg m;

	assert_int_equal(weft_mem_read(h, GFD, 0x1000, cookie, now, &m), 0);
	return m;
}

static struct weft_msg
write_of(struct weft_requester *h, uint64_t cookie, uint64_t now)
{
	uint8_t data[64];
	struct weft_msg m;

	memset(data, (int)cookie, sizeof(data));
	assert_int_equal(weft_mem_write(h, GFD, 0x2000, data, cookie, now, &m), 0);
	return m;
}

/* The response a GFD would give. */
static struct weft_msg
response_to(const struct weft_msg *req)
{
	struct weft_msg m = { .kind = WEFT_MSG_S2M_NDR, .op = WEFT_S2M_NDR_CMP };

	if (req->kind == WEFT_MSG_M2S_REQ) {
		m.kind = WEFT_MSG_S2M_DRS;
		m.op = WEFT_S2M_DRS_MEMDATA;
		memset(m.data, 0x3C, sizeof(m.data));
	}
	m.meta_field = WEFT_META_FIELD_NOOP;
	m.dpid = req->spid;
	m.tag = req->tag;
	return m;
}

static void
expect_ended(struct weft_requester *h, const struct weft_msg *req, uint64_t now, uint64_t cookie)
{
	const struct weft_msg m = response_to(req);
	struct weft_completion c;

	assert_int_equal(weft_mem_response(h, &m, now, &c), WEFT_OK);
	assert_int_equal(c.cookie, cookie);
	assert_int_equal(c.status, WEFT_REQUEST_DONE);
}

/* Refused with @p v, counted in row @p row alone, and nothing else changed. */
static void
expect_refused(struct weft_requester *h, const struct weft_msg *m, enum weft_verdict v,
	enum weft_mem_counter row)
{
	uint64_t before[WEFT_MEM_N_COUNTERS];
	const uint32_t open = weft_requester_outstanding(h);
	struct weft_completion c;

	memcpy(before, weft_requester_counts(h), sizeof(before));
	assert_int_equal(weft_mem_response(h, m, 1, &c), v);
	before[row]++;
	assert_memory_equal(before, weft_requester_counts(h), sizeof(before));
	assert_int_equal(weft_requester_outstanding(h), open);
}

struct lost {
	unsigned int n;
	struct weft_completion last;
};

static void
note_lost(void *arg, const struct weft_completion *c)
{
	struct lost *l = arg;

	l->n++;
	l->last = *c;
	assert_int_equal(c->status, WEFT_REQUEST_LOST);
	assert_null(c->data);
}

static unsigned int
expire(struct weft_requester *h, uint64_t now)
{
	struct lost l = { 0 };
	const unsigned int n = weft_requester_expire(h, now, note_lost, &l, UINT32_MAX);

	assert_int_equal(n, l.n);
	return n;
}

WEFT_TEST(config_out_of_range_is_refused)
{
	static const struct weft_requester_cfg bad[] = {
		{ TIMEOUT, 0, 0, SPID, NULL, 0, 0 },
		{ TIMEOUT, 0, 3, SPID, NULL, 0, 0 },
		{ TIMEOUT, 0, 8192, SPID, NULL, 0, 0 },
		{ 0, 0, 4, SPID, NULL, 0, 0 },
		{ TIMEOUT, 0, 4, 0xFFF, NULL, 0, 0 },
	};
	static const struct weft_requester_cfg good[] = {
		{ 1, 0, 1, 0, NULL, 0, 0 },
		{ UINT64_MAX, UINT64_MAX, 4096, 0xFFE, NULL, 0, 0 },
	};
	uint8_t *mem = aligned_alloc(64, weft_requester_size(&good[1]));

	for (size_t i = 0; i < WEFT_ARRAY_SIZE(bad); i++) {
		assert_int_equal(weft_requester_size(&bad[i]), 0);
		assert_null(weft_requester_init(mem, &bad[i]));
	}
	for (size_t i = 0; i < WEFT_ARRAY_SIZE(good); i++)
		assert_non_null(weft_requester_init(mem, &good[i]));
	assert_null(weft_requester_init(mem + 8, &good[0]));
	free(mem);
}

WEFT_TEST(requests_carry_what_the_wire_needs)
{
	struct weft_requester *h = host_new(&cfg4);
	struct weft_msg r, w;

	memset(&r, 0xFF, sizeof(r));
	assert_int_equal(weft_mem_read(h, GFD, 0xFFFFFFFFFFFC0, 1, 0, &r), 0);
	assert_int_equal(r.kind, WEFT_MSG_M2S_REQ);
	assert_int_equal(r.op, WEFT_M2S_REQ_MEMRD);
	assert_int_equal(r.meta_field, WEFT_META_FIELD_NOOP);
	assert_int_equal(r.spid, SPID);
	assert_int_equal(r.dpid, GFD);
	assert_int_equal(r.addr, 0xFFFFFFFFFFFC0);
	assert_int_equal(r.snp_type | r.meta_value | r.tc | r.ckid | r.poison | r.trp, 0);
	w = write_of(h, 0x77, 0);
	assert_int_equal(w.kind, WEFT_MSG_M2S_RWD);
	assert_int_equal(w.op, WEFT_M2S_RWD_MEMWR);
	assert_int_equal(w.data[0], 0x77);
	assert_int_equal(w.data[63], 0x77);
	assert_int_not_equal(w.tag, r.tag);
	free(h);
}

WEFT_TEST(address_and_destination_out_of_range_are_refused)
{
	struct weft_requester *h = host_new(&cfg4);
	struct weft_msg m;

	assert_int_equal(weft_mem_read(h, GFD, 1, 0, 0, &m), -EINVAL);
	assert_int_equal(weft_mem_read(h, GFD, 32, 0, 0, &m), -EINVAL);
	assert_int_equal(weft_mem_read(h, GFD, UINT64_C(1) << 52, 0, 0, &m), -EINVAL);
	assert_int_equal(weft_mem_read(h, 0xFFF, 0, 0, 0, &m), -EINVAL);
	assert_int_equal(weft_mem_read(h, 0xFFFF, 0, 0, 0, &m), -EINVAL);
	assert_int_equal(weft_requester_grant(h, 0xFFF, 1, 1), -EINVAL);
	assert_null(weft_requester_peer(h, 0xFFF));
	assert_int_equal(weft_requester_outstanding(h), 0);
	assert_int_equal(weft_requester_grant(h, 0xFFE, 1, 1), 0);
	assert_int_equal(weft_mem_read(h, 0xFFE, 0, 0, 0, &m), 0);
	free(h);
}

WEFT_TEST(each_response_completes_its_own_request)
{
	struct weft_requester *h = host_new(&cfg4);
	const struct weft_msg r = read_of(h, 11, 100), w = write_of(h, 22, 110);
	struct weft_msg m = response_to(&w);
	struct weft_completion c;

	assert_int_equal(weft_requester_outstanding(h), 2);
	assert_int_equal(weft_mem_response(h, &m, 150, &c), WEFT_OK);
	assert_int_equal(c.cookie, 22);
	assert_int_equal(c.kind, WEFT_REQUEST_WRITE);
	assert_int_equal(c.latency_ns, 40);
	assert_null(c.data);
	m = response_to(&r);
	assert_int_equal(weft_mem_response(h, &m, 170, &c), WEFT_OK);
	assert_int_equal(c.cookie, 11);
	assert_int_equal(c.kind, WEFT_REQUEST_READ);
	assert_int_equal(c.latency_ns, 70);
	assert_ptr_equal(c.data, m.data);
	assert_int_equal(weft_requester_outstanding(h), 0);
	assert_int_equal(weft_requester_latency(h)->count, 2);
	assert_int_equal(weft_requester_latency(h)->max_ns, 70);
	assert_int_equal(count(h, WEFT_MEM_N_READS), 1);
	assert_int_equal(count(h, WEFT_MEM_N_WRITES), 1);
	assert_int_equal(count(h, WEFT_MEM_N_READS_DONE), 1);
	assert_int_equal(count(h, WEFT_MEM_N_WRITES_DONE), 1);
	free(h);
}

WEFT_TEST(nxm_and_poison_are_told_and_nxm_goes_first)
{
	static const struct {
		uint8_t op, poison, status;
	} cases[] = {
		{ WEFT_S2M_DRS_MEMDATA, 0, WEFT_REQUEST_DONE },
		{ WEFT_S2M_DRS_MEMDATA, 1, WEFT_REQUEST_POISON },
		{ WEFT_S2M_DRS_MEMDATA_NXM, 0, WEFT_REQUEST_NXM },
		{ WEFT_S2M_DRS_MEMDATA_NXM, 1, WEFT_REQUEST_NXM },
	};
	struct weft_requester *h = host_new(&cfg4);

	for (size_t i = 0; i < WEFT_ARRAY_SIZE(cases); i++) {
		const struct weft_msg r = read_of(h, i, 0);
		struct weft_msg m = response_to(&r);
		struct weft_completion c;

		m.op = cases[i].op;
		m.poison = cases[i].poison;
		assert_int_equal(weft_mem_response(h, &m, 1, &c), WEFT_OK);
		assert_int_equal(c.status, cases[i].status);
		assert_ptr_equal(c.data, m.data);
	}
	assert_int_equal(count(h, WEFT_MEM_N_NXM), 2);
	assert_int_equal(count(h, WEFT_MEM_N_POISON), 1);
	assert_int_equal(count(h, WEFT_MEM_N_READS_DONE), 4);
	free(h);
}

WEFT_TEST(one_more_than_the_tags_has_to_wait)
{
	static const uint32_t tags[] = { 1, 4, 4096 };

	for (size_t k = 0; k < WEFT_ARRAY_SIZE(tags); k++) {
		const struct weft_requester_cfg cfg = { TIMEOUT, QUARANTINE, tags[k], SPID, NULL, 0,
			0 };
		struct weft_requester *h = host_new(&cfg);
		struct weft_msg first = { 0 }, m;

		for (uint32_t i = 0; i < tags[k]; i++) {
			m = read_of(h, i, 0);
			if (i == 0)
				first = m;
		}
		assert_int_equal(weft_mem_read(h, GFD, 0, 99, 0, &m), -EAGAIN);
		assert_int_equal(count(h, WEFT_MEM_N_NO_TAG), 1);
		assert_int_equal(weft_requester_outstanding(h), tags[k]);
		expect_ended(h, &first, 1, 0);
		(void)read_of(h, 99, 1);
		assert_int_equal(weft_mem_read(h, GFD, 0, 100, 1, &m), -EAGAIN);
		free(h);
	}
}

WEFT_TEST(credits_hold_back_each_class_and_destination_alone)
{
	struct weft_requester *h = host_new(&cfg4);
	const uint8_t data[64] = { 0 };
	struct weft_msg m, r;

	assert_int_equal(weft_requester_grant(h, GFD, 1, 0), 0);
	r = read_of(h, 1, 0);
	assert_int_equal(weft_mem_read(h, GFD, 0, 2, 0, &m), -EAGAIN);
	assert_int_equal(weft_mem_write(h, GFD, 0, data, 2, 0, &m), -EAGAIN);
	assert_int_equal(weft_mem_read(h, GFD + 1, 0, 2, 0, &m), -EAGAIN); /* never granted */
	assert_int_equal(count(h, WEFT_MEM_N_NO_CREDIT), 3);
	assert_int_equal(count(h, WEFT_MEM_N_NO_TAG), 0);
	assert_int_equal(weft_requester_peer(h, GFD)->in_flight[WEFT_REQUEST_READ], 1);

	assert_int_equal(weft_requester_grant(h, GFD, 1, 1), 0);
	(void)write_of(h, 3, 0);
	assert_int_equal(weft_requester_grant(h, GFD + 1, 1, 0), 0);
	assert_int_equal(weft_mem_read(h, GFD + 1, 0, 4, 0, &m), 0);
	expect_ended(h, &r, 1, 1);
	assert_int_equal(weft_requester_peer(h, GFD)->in_flight[WEFT_REQUEST_READ], 0);
	(void)read_of(h, 5, 1);
	/* Taking credits away does not end what is open. */
	assert_int_equal(weft_requester_grant(h, GFD, 0, 0), 0);
	assert_int_equal(weft_requester_outstanding(h), 3);
	assert_int_equal(weft_mem_read(h, GFD, 0, 6, 1, &m), -EAGAIN);
	free(h);
}

WEFT_TEST(response_of_the_wrong_kind_leaves_the_request_open)
{
	struct weft_requester *h = host_new(&cfg4);
	const struct weft_msg r = read_of(h, 1, 0), w = write_of(h, 2, 0);
	struct weft_msg m;

	m = response_to(&r); /* a write's Cmp for a read, and the other way round */
	m.tag = w.tag;
	expect_refused(h, &m, WEFT_DROP_WRONG_CLASS, WEFT_MEM_N_WRONG_CLASS);
	m = response_to(&w);
	m.tag = r.tag;
	expect_refused(h, &m, WEFT_DROP_WRONG_CLASS, WEFT_MEM_N_WRONG_CLASS);
	for (uint8_t kind = 0; kind < WEFT_MSG_KINDS; kind++) {
		if (kind == WEFT_MSG_S2M_DRS || kind == WEFT_MSG_S2M_NDR)
			continue;
		m = response_to(&r);
		m.kind = kind;
		expect_refused(h, &m, WEFT_DROP_WRONG_CLASS, WEFT_MEM_N_WRONG_CLASS);
	}
	for (uint8_t op = 0; op < 8; op++) {
		m = response_to(&r);
		m.op = op;
		if (op != WEFT_S2M_DRS_MEMDATA && op != WEFT_S2M_DRS_MEMDATA_NXM)
			expect_refused(h, &m, WEFT_DROP_BAD_OPCODE, WEFT_MEM_N_BAD_OPCODE);
		m = response_to(&w);
		m.op = op;
		if (op != WEFT_S2M_NDR_CMP)
			expect_refused(h, &m, WEFT_DROP_BAD_OPCODE, WEFT_MEM_N_BAD_OPCODE);
	}
	m = response_to(&r);
	m.dpid = SPID + 1;
	expect_refused(h, &m, WEFT_DROP_NOT_MINE, WEFT_MEM_N_NOT_MINE);
	expect_ended(h, &r, 1, 1);
	expect_ended(h, &w, 1, 2);
	free(h);
}

WEFT_TEST(response_twice_or_never_asked_for_has_no_tag)
{
	struct weft_requester *h = host_new(&cfg4);
	const struct weft_msg r = read_of(h, 1, 0);
	struct weft_msg m = response_to(&r);

	for (uint32_t tag = 0; tag <= 0xFFFF; tag++) {
		m.tag = (uint16_t)tag;
		if (m.tag != r.tag)
			expect_refused(h, &m, WEFT_DROP_NO_TAG, WEFT_MEM_N_UNMATCHED);
	}
	expect_ended(h, &r, 1, 1);
	m.tag = r.tag;
	expect_refused(h, &m, WEFT_DROP_NO_TAG, WEFT_MEM_N_UNMATCHED);
	free(h);
}

/* An answer may outlive the process that asked: the next one must not take it for its own. */
WEFT_TEST(tags_of_another_run_are_others)
{
	struct weft_requester_cfg cfg = { TIMEOUT, QUARANTINE, 256, SPID, NULL, 0, 0 };
	uint16_t first[8];

	for (cfg.run = 0; cfg.run < WEFT_ARRAY_SIZE(first); cfg.run++) {
		struct weft_requester *h = host_new(&cfg);

		first[cfg.run] = read_of(h, 0, 0).tag;
		for (uint32_t i = 0; i < cfg.run; i++)
			assert_true((uint16_t)(first[cfg.run] - first[i]) >= 16 * cfg.tags);
		free(h);
	}
}

/* With one entry every request reuses it: the tag on the wire must still differ each time. */
WEFT_TEST(tag_numbers_come_round_after_all_65536)
{
	const struct weft_requester_cfg cfg = { TIMEOUT, QUARANTINE, 1, SPID, NULL, 0, 0 };
	struct weft_requester *h = host_new(&cfg);
	struct weft_msg first = read_of(h, 0, 0), before = first;

	for (uint32_t i = 1; i <= 0x10000; i++) {
		struct weft_msg m, twice;

		expect_ended(h, &before, i, i - 1);
		m = read_of(h, i, i);
		twice = response_to(&before);
		assert_int_equal(m.tag == first.tag, i == 0x10000);
		expect_refused(h, &twice, WEFT_DROP_NO_TAG, WEFT_MEM_N_UNMATCHED);
		before = m;
	}
	free(h);
}

WEFT_TEST(request_is_lost_exactly_at_the_timeout)
{
	struct weft_requester *h = host_new(&cfg4);
	struct lost l = { 0 };

	(void)read_of(h, 7, 50);
	(void)write_of(h, 8, 51);
	assert_int_equal(expire(h, 50 + TIMEOUT - 1), 0);
	assert_int_equal(weft_requester_expire(h, 50 + TIMEOUT, note_lost, &l, 8), 1);
	assert_int_equal(l.last.cookie, 7);
	assert_int_equal(l.last.kind, WEFT_REQUEST_READ);
	assert_int_equal(l.last.latency_ns, TIMEOUT);
	assert_int_equal(weft_requester_expire(h, 51 + TIMEOUT, note_lost, &l, 8), 1);
	assert_int_equal(l.last.cookie, 8);
	assert_int_equal(l.last.kind, WEFT_REQUEST_WRITE);
	assert_int_equal(count(h, WEFT_MEM_N_READS_LOST), 1);
	assert_int_equal(count(h, WEFT_MEM_N_WRITES_LOST), 1);
	assert_int_equal(weft_requester_outstanding(h), 0);
	assert_int_equal(weft_requester_latency(h)->count, 0);
	free(h);
}

WEFT_TEST(response_before_expiry_counts_however_old)
{
	struct weft_requester *h = host_new(&cfg4);
	const struct weft_msg r = read_of(h, 1, 0);

	expect_ended(h, &r, 2 * TIMEOUT, 1);
	assert_int_equal(expire(h, 3 * TIMEOUT), 0);
	free(h);
}

WEFT_TEST(expiry_takes_the_oldest_first_and_no_more_than_asked)
{
	struct weft_requester *h = host_new(&cfg4);
	struct lost l = { 0 };
	struct weft_msg middle;

	(void)read_of(h, 1, 1);
	middle = read_of(h, 2, 2);
	(void)read_of(h, 3, 3);
	(void)read_of(h, 4, 4);
	expect_ended(h, &middle, 5, 2);
	assert_int_equal(weft_requester_expire(h, 9 * TIMEOUT, note_lost, &l, 0), 0);
	assert_int_equal(weft_requester_expire(h, 9 * TIMEOUT, note_lost, &l, 1), 1);
	assert_int_equal(l.last.cookie, 1);
	assert_int_equal(weft_requester_expire(h, 9 * TIMEOUT, note_lost, &l, 1), 1);
	assert_int_equal(l.last.cookie, 3);
	assert_int_equal(weft_requester_expire(h, 9 * TIMEOUT, note_lost, &l, 2), 1);
	assert_int_equal(l.last.cookie, 4);
	free(h);
}

WEFT_TEST(abort_ends_what_is_open_to_one_destination)
{
	for (unsigned int is_over = 0; is_over < 2; is_over++) {
		const struct weft_requester_cfg cfg = { TIMEOUT, QUARANTINE, 4, SPID, NULL, 0, 0 };
		struct weft_requester *h = host_new(&cfg);
		struct weft_msg ended = read_of(h, 1, 0), m, other;
		struct lost l = { 0 };

		weft_requester_grant(h, GFD + 1, 4, 4);
		read_of(h, 2, 1);
		assert_int_equal(weft_mem_read(h, GFD + 1, 0, 3, 2, &other), 0);
		expect_ended(h, &ended, 3, 1);
		write_of(h, 4, 4);
		assert_int_equal(weft_requester_abort(h, GFD, is_over, 9, note_lost, &l), 2);
		assert_int_equal(l.n, 2);
		assert_int_equal(weft_requester_outstanding(h), 1);
		assert_int_equal(weft_requester_abort(h, GFD, is_over, 9, note_lost, &l), 0);
		assert_int_equal(weft_requester_counts(h)[WEFT_MEM_N_READS_LOST], 1);
		assert_int_equal(weft_requester_counts(h)[WEFT_MEM_N_WRITES_LOST], 1);
		expect_ended(h, &other, 10, 3);
		/* When the session is over all four tags are free, else two of them. */
		for (unsigned int n = 0; n < (is_over ? 4 : 2); n++)
			assert_int_equal(weft_mem_read(h, GFD + 1, 0, n, 10, &m), 0);
		assert_int_equal(weft_mem_read(h, GFD + 1, 0, 9, 10, &m), -EAGAIN);
		free(h);
	}
}

/* Tags that rest are free when the session is over, but only those of its destination. */
WEFT_TEST(the_end_of_a_session_ends_the_quarantine)
{
	const struct weft_requester_cfg cfg = { TIMEOUT, QUARANTINE, 4, SPID, NULL, 0, 0 };
	struct weft_requester *h = host_new(&cfg);
	struct lost l = { 0 };
	struct weft_msg m, late;

	weft_requester_grant(h, GFD, 3, 3);
	weft_requester_grant(h, GFD + 1, 4, 4);
	m = read_of(h, 1, 0);
	late = response_to(&m);
	read_of(h, 2, 0);
	write_of(h, 3, 0);
	assert_int_equal(weft_mem_read(h, GFD + 1, 0, 4, 0, &m), 0);
	assert_int_equal(weft_requester_expire(h, TIMEOUT, note_lost, &l, 9), 4);
	assert_int_equal(weft_mem_read(h, GFD, 0, 5, TIMEOUT, &m), -EAGAIN);
	assert_int_equal(weft_requester_abort(h, GFD, false, TIMEOUT, note_lost, &l), 0);
	assert_int_equal(weft_mem_read(h, GFD, 0, 5, TIMEOUT, &m), -EAGAIN);
	assert_int_equal(weft_requester_abort(h, GFD, true, TIMEOUT, note_lost, &l), 0);
	assert_int_equal(l.n, 4);
	for (unsigned int n = 0; n < 3; n++)
		assert_int_equal(weft_mem_read(h, GFD, 0, n, TIMEOUT, &m), 0);
	assert_int_equal(weft_mem_read(h, GFD, 0, 9, TIMEOUT, &m), -EAGAIN);
	expect_refused(h, &late, WEFT_DROP_NO_TAG, WEFT_MEM_N_UNMATCHED);
	free(h);
}

#define MS UINT64_C(1000000)

/*
 * Neither a pause nor a stall makes a request older, not even both at once; another's stall does.
 */
WEFT_TEST(requests_do_not_grow_older_while_time_stands_still)
{
	static struct weft_request_clock clock;
	const struct weft_requester_cfg cfg = { 100 * MS, 0, 8, SPID, &clock, 0, 0 };

	for (unsigned int k = 0; k < 4; k++) {
		const bool stalls = (k & 1) != 0, pauses = (k & 2) != 0;
		struct weft_requester *h;
		struct weft_msg m;

		memset(&clock, 0, sizeof(clock));
		weft_request_clock_forgive(&clock, 77 * MS); /* before it all */
		h = host_new(&cfg);
		weft_requester_grant(h, GFD + 1, 8, 8);
		read_of(h, 1, 10 * MS);
		assert_int_equal(weft_mem_read(h, GFD + 1, 0, 2, 10 * MS, &m), 0);
		if (stalls)
			weft_request_clock_stall(&clock, GFD, true, 60 * MS);
		if (pauses)
			weft_request_clock_forgive(&clock, 3000 * MS);
		assert_int_equal(expire(h, 109 * MS), 0);
		/* The one behind it in the queue is not held up by it. */
		assert_int_equal(expire(h, 111 * MS), pauses ? 0 : stalls ? 1 : 2);
		assert_int_equal(expire(h, 3059 * MS), 0);
		if (stalls) {
			weft_request_clock_stall(&clock, GFD, true, 2000 * MS);
			weft_request_clock_stall(&clock, GFD, false, 3060 * MS);
			weft_request_clock_stall(&clock, GFD, false, 9000 * MS);
		}
		assert_int_equal(expire(h, 3109 * MS), 0);
		assert_int_equal(expire(h, 3111 * MS), !pauses ? stalls : stalls ? 1 : 2);
		assert_int_equal(expire(h, 6111 * MS), pauses && stalls);
		assert_int_equal(weft_requester_outstanding(h), 0);
		free(h);
	}
}

/* Sent to another destination it is as old as before, whatever stood still until then. */
WEFT_TEST(a_request_sent_elsewhere_is_as_old_as_it_was)
{
	static struct weft_request_clock clock;
	const struct weft_requester_cfg cfg = { 100 * MS, 0, 8, SPID, &clock, 0, 0 };
	struct weft_requester *h = host_new(&cfg);
	const struct weft_msg m = read_of(h, 1, 10 * MS);

	weft_request_clock_stall(&clock, GFD + 1, true, 20 * MS);
	weft_request_clock_stall(&clock, GFD + 1, false, 60 * MS);
	weft_request_clock_forgive(&clock, 3000 * MS);
	weft_requester_sent_to(h, m.tag, GFD + 1, 3070 * MS);
	assert_int_equal(expire(h, 3109 * MS), 0);
	weft_requester_sent_to(h, m.tag, GFD, 3109 * MS);
	assert_int_equal(expire(h, 3109 * MS), 0);
	assert_int_equal(expire(h, 3111 * MS), 1);
	free(h);
}

WEFT_TEST(lost_tag_and_credit_come_back_exactly_after_quarantine)
{
	const struct weft_requester_cfg cfg = { TIMEOUT, QUARANTINE, 1, SPID, NULL, 0, 0 };
	struct weft_requester *h = host_new(&cfg);
	struct weft_msg r = read_of(h, 1, 0), m;

	assert_int_equal(expire(h, TIMEOUT), 1);
	assert_int_equal(expire(h, TIMEOUT + QUARANTINE - 1), 0);
	assert_int_equal(weft_requester_peer(h, GFD)->in_flight[WEFT_REQUEST_READ], 1);
	assert_int_equal(weft_requester_open_at(weft_requester_peer(h, GFD)), 0);
	assert_int_equal(weft_mem_read(h, GFD, 0, 2, TIMEOUT + QUARANTINE - 1, &m), -EAGAIN);
	assert_int_equal(expire(h, TIMEOUT + QUARANTINE), 0);
	assert_int_equal(weft_requester_peer(h, GFD)->in_flight[WEFT_REQUEST_READ], 0);
	m = read_of(h, 2, TIMEOUT + QUARANTINE);
	assert_int_equal(weft_requester_open_at(weft_requester_peer(h, GFD)), 1);
	/* Even now the late response must not pass for the new one. */
	r = response_to(&r);
	expect_refused(h, &r, WEFT_DROP_NO_TAG, WEFT_MEM_N_UNMATCHED);
	assert_int_equal(weft_requester_peer(h, GFD)->answered, 0);
	expect_ended(h, &m, 2 * TIMEOUT, 2);
	assert_int_equal(weft_requester_peer(h, GFD)->answered, 1);
	assert_int_equal(weft_requester_open_at(weft_requester_peer(h, GFD)), 0);
	free(h);
}

WEFT_TEST(late_response_is_counted_apart_each_time)
{
	struct weft_requester *h = host_new(&cfg4);
	const struct weft_msg r = read_of(h, 1, 0);
	const struct weft_msg m = response_to(&r);

	assert_int_equal(expire(h, TIMEOUT), 1);
	expect_refused(h, &m, WEFT_DROP_NO_TAG, WEFT_MEM_N_LATE);
	expect_refused(h, &m, WEFT_DROP_NO_TAG, WEFT_MEM_N_LATE);
	assert_int_equal(expire(h, TIMEOUT + QUARANTINE), 0);
	expect_refused(h, &m, WEFT_DROP_NO_TAG, WEFT_MEM_N_UNMATCHED);
	free(h);
}

struct again {
	struct weft_requester *h;
	uint64_t now;
	struct weft_msg msg;
};

static void
read_again(void *arg, const struct weft_completion *c)
{
	struct again *a = arg;

	a->msg = read_of(a->h, c->cookie + 100, a->now);
}

WEFT_TEST(lost_request_may_be_repeated_from_the_callback)
{
	struct weft_requester *h = host_new(&cfg4);
	struct again a = { .h = h, .now = TIMEOUT };

	(void)read_of(h, 1, 0);
	assert_int_equal(weft_requester_expire(h, TIMEOUT, read_again, &a, 10), 1);
	assert_int_equal(weft_requester_outstanding(h), 1);
	expect_ended(h, &a.msg, TIMEOUT + 1, 101);
	free(h);
}

WEFT_TEST(every_counter_has_a_name_of_its_own)
{
	const struct weft_counter *rows = weft_mem_counters;

	for (int i = 0; i < WEFT_MEM_N_COUNTERS; i++) {
		assert_true(rows[i].unit[0] != '\0' && rows[i].help[0] != '\0');
		assert_int_equal(weft_counter_find(rows, WEFT_MEM_N_COUNTERS, rows[i].name), i);
	}
}
