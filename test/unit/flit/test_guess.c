/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Every request that a walk finds in flits of the packer is guessed, in order; in flits without
 * data nothing else is. Of noise no more is taken than there are slots. Reads by UIO are guessed
 * that a flit has whole, unless much of another packet stands before the first.
 */

#include "weft_test.h"

#include "weft_flit.h"
#include "weft_guard.h"
#include "weft_guess.h"
#include "weft_io.h"
#include "weft_msg.h"

#define ROUNDS 2000
#define NOISE 20000

struct walk {
	uint64_t addr[WEFT_GUESS_REQUESTS];
	unsigned int n;
};

static void
walked(void *arg, const struct weft_msg *m)
{
	struct walk *w = arg;

	if (m->kind == WEFT_MSG_M2S_REQ || m->kind == WEFT_MSG_M2S_RWD)
		w->addr[w->n++] = m->addr;
}

static struct weft_msg
message(struct weft_rand *r, bool writes)
{
	static const uint8_t kinds[] = { WEFT_MSG_M2S_REQ, WEFT_MSG_S2M_NDR, WEFT_MSG_M2S_RWD };
	struct weft_msg m = { .kind = kinds[weft_rand_below(r, writes ? 3 : 2)],
		.meta_field = WEFT_META_FIELD_NOOP };

	if (m.kind == WEFT_MSG_M2S_RWD)
		m.op = WEFT_M2S_RWD_MEMWR;
	else if (m.kind == WEFT_MSG_M2S_REQ)
		m.op = WEFT_M2S_REQ_MEMRD;
	if (m.kind != WEFT_MSG_S2M_NDR)
		m.addr = weft_rand_u64(r) & weft_mask64(46) << 6;
	weft_rand_fill(r, m.data, sizeof(m.data));
	return m;
}

static void
check(const uint8_t *flit, enum weft_form form, unsigned int *data_slots, bool writes)
{
	uint64_t addr[WEFT_GUESS_REQUESTS];
	const unsigned int n = weft_guess_requests(flit, addr);
	struct walk w = { .n = 0 };
	unsigned int at = 0;

	assert_int_equal(weft_flit_walk(flit, form, data_slots, walked, &w), WEFT_OK);
	if (!writes)
		assert_int_equal(n, w.n);
	for (unsigned int i = 0; i < w.n; i++, at++) {
		while (at < n && addr[at] != w.addr[i])
			at++;
		assert_true(at < n);
	}
}

static void
flits_of_the_packer(struct weft_rand *r, enum weft_form form, bool writes)
{
	unsigned int data_slots = 0, requests = 0;
	struct weft_packer p;

	weft_pack_init(&p, form);
	for (unsigned int round = 0; round < weft_test_cases(ROUNDS); round++) {
		uint8_t flit[WEFT_FLIT_LEN];
		struct weft_msg m = message(r, writes);

		weft_pack_begin(&p, flit, false);
		for (unsigned int i = 0; i < 20 && weft_pack_msg(&p, &m) == 0; i++) {
			requests += m.kind != WEFT_MSG_S2M_NDR;
			m = message(r, writes);
		}
		weft_pack_end(&p);
		check(flit, form, &data_slots, writes);
	}
	assert_in_range(requests, weft_test_cases(ROUNDS), UINT32_MAX);
}

WEFT_TEST(requests_are_guessed)
{
	struct weft_rand r;

	weft_test_seed(&r, "requests");
	for (unsigned int i = 0; i < 4; i++)
		flits_of_the_packer(&r, i % 2 == 0 ? WEFT_FORM_PBR : WEFT_FORM_HBR, i < 2);
}

WEFT_TEST(noise_is_guessed_at_too)
{
	struct weft_guard g[2];
	struct weft_rand r;

	weft_test_seed(&r, "noise");
	weft_guard_open(&g[0], WEFT_FLIT_LEN);
	weft_guard_open(&g[1], WEFT_GUESS_REQUESTS * sizeof(uint64_t));
	for (unsigned int i = 0; i < weft_test_cases(NOISE); i++) {
		uint8_t *flit = weft_guard_last(&g[0], WEFT_FLIT_LEN);
		uint64_t *addr =
			(void *)weft_guard_last(&g[1], WEFT_GUESS_REQUESTS * sizeof(uint64_t));
		unsigned int n;

		weft_rand_fill(&r, flit, WEFT_FLIT_LEN);
		n = weft_guess_requests(flit, addr);
		assert_in_range(n, 0, WEFT_GUESS_REQUESTS);
		if (flit[0] >> 6 != WEFT_FLIT_CACHEMEM)
			assert_int_equal(n, 0);
		for (unsigned int k = 0; k < n; k++)
			assert_int_equal(addr[k] & ~(weft_mask64(46) << 6), 0);
	}
	for (unsigned int s = 0; s < WEFT_FLIT_SLOTS; s++) {
		uint8_t *flit = weft_guard_last(&g[0], WEFT_FLIT_LEN);
		uint64_t *addr =
			(void *)weft_guard_last(&g[1], WEFT_GUESS_REQUESTS * sizeof(uint64_t));

		memset(flit, 0xFF, WEFT_FLIT_LEN);
		flit[0] = WEFT_FLIT_CACHEMEM << 6;
		for (unsigned int k = 0; k < WEFT_FLIT_SLOTS; k++)
			weft_flit_slot(flit, k)[0] = k < s ? 0x1E : 0x1F;
		assert_int_equal(weft_guess_requests(flit, addr), s);
	}
	weft_guard_close(&g[0]);
	weft_guard_close(&g[1]);
}

/* --- UIO --- */

#define UIO_HEADER 16u
#define UIO_BLIND (8 * 4u) /* so many bytes of something else end the search */
#define UIO_ADDRS 0x00FFFFFF00FFFFFCu /* no DW of those looks like a header */

static struct weft_io_tlp
uio_request(struct weft_rand *r, bool writes, struct weft_guess_uio *read)
{
	const bool is_write = writes && weft_rand_below(r, 2) == 0;
	const uint16_t dws = (uint16_t)(1 + weft_rand_below(r, 64));
	const uint64_t addr = weft_rand_u64(r) & UIO_ADDRS;
	struct weft_io_tlp t = { .has_prefix = weft_rand_below(r, 4) == 0,
		.len = (uint16_t)(UIO_HEADER + (is_write ? dws * 4 : 0)) };

	memset(t.tlp, 0xA5, sizeof(t.tlp)); /* looks like no header either */
	memset(t.tlp, 0, UIO_HEADER);
	t.tlp[0] = is_write ? WEFT_IO_UIO_MWR : WEFT_IO_UIO_MRD;
	weft_put_be16(t.tlp + 2, dws);
	weft_put_be64(t.tlp + 8, addr | weft_rand_below(r, 4));
	*read = (struct weft_guess_uio){ addr, is_write ? 0 : (uint16_t)(dws * 4) };
	return t;
}

struct uio_stream {
	struct weft_io_packer pack;
	struct weft_guess_uio want[2 * WEFT_GUESS_UIO];
	unsigned int n, first; /* of `want`; where the first header begins, or 0 */
	/* Of a packet whose prefix or PTH ended the flit. */
	struct weft_guess_uio later;
	unsigned int later_at;
};

static void
uio_want(struct uio_stream *s, const struct weft_guess_uio *read, unsigned int header)
{
	if (header >= WEFT_IO_OFF + WEFT_IO_LEN) {
		s->later = *read;
		s->later_at = header - WEFT_IO_LEN;
		return;
	}
	s->first = s->first == 0 ? header : s->first;
	if (read->len != 0 && s->first < WEFT_IO_OFF + UIO_BLIND &&
		header + UIO_HEADER <= WEFT_IO_OFF + WEFT_IO_LEN)
		s->want[s->n++] = *read;
}

static void
uio_flit(struct weft_rand *r, struct uio_stream *s, uint8_t *flit, bool writes)
{
	s->n = s->first = 0;
	weft_io_pack_begin(&s->pack, flit);
	if (s->later_at != 0)
		uio_want(s, &s->later, s->later_at);
	s->later_at = 0;
	for (unsigned int most = (unsigned int)weft_rand_below(r, 20); most > 0; most--) {
		struct weft_guess_uio read;
		const struct weft_io_tlp t = uio_request(r, writes, &read);
		const unsigned int before =
			(t.has_prefix ? 4u : 0) + (s->pack.form == WEFT_FORM_PBR ? 4u : 0);
		const unsigned int header = s->pack.pos + before;

		if (weft_io_pack_tlp(&s->pack, &t) != 0)
			break;
		uio_want(s, &read, header);
	}
	weft_io_pack_end(&s->pack);
}

static unsigned int
uio_reads(struct weft_rand *r, enum weft_form form, bool writes)
{
	struct uio_stream s = { .n = 0 };
	unsigned int total = 0;

	weft_io_pack_init(&s.pack, form);
	for (unsigned int round = 0; round < weft_test_cases(ROUNDS); round++) {
		struct weft_guess_uio got[WEFT_GUESS_UIO];
		uint8_t flit[WEFT_FLIT_LEN];

		uio_flit(r, &s, flit, writes);
		assert_int_equal(weft_guess_uio_reads(flit, got), s.n);
		for (unsigned int k = 0; k < s.n; k++)
			assert_true(got[k].addr == s.want[k].addr && got[k].len == s.want[k].len);
		total += s.n;
	}
	return total;
}

WEFT_TEST(reads_by_uio_are_guessed)
{
	unsigned int total = 0;
	struct weft_rand r;

	weft_test_seed(&r, "UIO");
	for (unsigned int i = 0; i < 4; i++)
		total += uio_reads(&r, i % 2 == 0 ? WEFT_FORM_PBR : WEFT_FORM_HBR, i < 2);
	assert_in_range(total, 4 * weft_test_cases(ROUNDS), UINT32_MAX);
}

WEFT_TEST(noise_of_packets_is_guessed_at_too)
{
	const size_t room = WEFT_GUESS_UIO * sizeof(struct weft_guess_uio);
	struct weft_guard g[2];
	struct weft_rand r;

	weft_test_seed(&r, "noise of packets");
	weft_guard_open(&g[0], WEFT_FLIT_LEN);
	weft_guard_open(&g[1], room);
	for (unsigned int i = 0; i < weft_test_cases(NOISE); i++) {
		uint8_t *flit = weft_guard_last(&g[0], WEFT_FLIT_LEN);
		struct weft_guess_uio *read = (void *)weft_guard_last(&g[1], room);
		unsigned int n;

		weft_rand_fill(&r, flit, WEFT_FLIT_LEN);
		for (unsigned int k = 0; k < 59; k++)
			if (weft_rand_below(&r, 3) == 0)
				flit[WEFT_IO_OFF + 4 * k] = WEFT_IO_UIO_MRD;
			else if (weft_rand_below(&r, 8) == 0)
				flit[WEFT_IO_OFF + 4 * k] = WEFT_IO_UIO_MWR;
		n = weft_guess_uio_reads(flit, read);
		assert_in_range(n, 0, WEFT_GUESS_UIO);
		if (flit[0] >> 6 != WEFT_FLIT_IO)
			assert_int_equal(n, 0);
	}
	weft_guard_close(&g[0]);
	weft_guard_close(&g[1]);
}
