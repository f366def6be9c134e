/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Flit numbers of cxl mode: every pair of expected and received number against counting up one by
 * one, numbers that are not on the wire, corrupt flits, and the header they stand in.
 */

#include "weft_test.h"

#include "weft_flit.h"
#include "weft_fsn.h"

/* Account for a flit whose header is these fields; only two bytes of it exist. */
static enum weft_fsn_verdict
account(struct weft_fsn *s, enum weft_flit_type type, enum weft_replay_cmd cmd, unsigned int seq,
	int intact, uint16_t *lost)
{
	const struct weft_flit_hdr h = {
		.type = (uint8_t)type,
		.replay_cmd = (uint8_t)cmd,
		.seq = (uint16_t)seq,
	};
	uint8_t *flit = malloc(2);
	enum weft_fsn_verdict v;

	assert_non_null(flit);
	weft_flit_hdr_put(flit, &h);
	v = weft_fsn_account(s, flit, intact, lost);
	free(flit);
	return v;
}

static unsigned int
count_up(unsigned int number)
{
	return number == 1023 ? 1 : number + 1;
}

WEFT_TEST(every_number_against_every_expected)
{
	for (unsigned int expected = 1; expected <= 1023; expected++) {
		unsigned int number = expected;

		for (unsigned int ahead = 0; ahead < 1023; ahead++, number = count_up(number)) {
			enum weft_fsn_verdict want = WEFT_FSN_DUPLICATE;
			struct weft_fsn s = { .next = (uint16_t)expected };
			unsigned int next = expected;
			uint16_t lost = 9999;

			if (ahead <= 511) {
				want = ahead == 0 ? WEFT_FSN_IN_TURN : WEFT_FSN_AFTER_GAP;
				next = count_up(number);
			}
			if (account(&s, WEFT_FLIT_CACHEMEM, WEFT_REPLAY_EXPLICIT, number, 1,
				    &lost) != want ||
				s.next != next || lost != (ahead <= 511 ? ahead : 0))
				fail_msg("expected %u, got %u", expected, number);
		}
	}
}

WEFT_TEST(flit_with_an_ack_is_counted_along)
{
	struct weft_fsn s;
	uint16_t lost;

	assert_int_equal(weft_fsn_init(&s, 1), 0);
	for (unsigned int i = 0, want = 1; i < 3000; i++, want = count_up(want)) {
		const enum weft_replay_cmd cmd = (enum weft_replay_cmd)(1 + i % 3);

		assert_int_equal(s.next, want);
		assert_int_equal(account(&s, WEFT_FLIT_CACHEMEM, cmd, i * 7 % 1024, 1, &lost),
			WEFT_FSN_IN_TURN);
		assert_int_equal(lost, 0);
	}
}

WEFT_TEST(every_payload_type_uses_a_number_and_nop_does_not)
{
	struct weft_fsn s;

	for (int type = WEFT_FLIT_IO; type <= WEFT_FLIT_ALMP; type++) {
		assert_int_equal(weft_fsn_init(&s, 5), 0);
		assert_int_equal(
			account(&s, (enum weft_flit_type)type, WEFT_REPLAY_EXPLICIT, 5, 1, NULL),
			WEFT_FSN_IN_TURN);
		assert_int_equal(s.next, 6);
	}
	for (int cmd = WEFT_REPLAY_EXPLICIT; cmd <= WEFT_REPLAY_NAK_SELECTIVE; cmd++) {
		for (unsigned int seq = 0; seq < 1024; seq++) {
			uint16_t lost = 9999;

			assert_int_equal(account(&s, WEFT_FLIT_IDLE_NOP, (enum weft_replay_cmd)cmd,
						 seq, 1, &lost),
				WEFT_FSN_NO_NUMBER);
			assert_int_equal(s.next, 6);
			assert_int_equal(lost, 0);
		}
	}
}

/* What a corrupt header says is not believed: it counts as one payload flit. */
WEFT_TEST(corrupt_flit_uses_one_number)
{
	struct weft_fsn s;
	unsigned int want = 1020;

	assert_int_equal(weft_fsn_init(&s, 1020), 0);
	for (int type = 0; type < 4; type++) {
		for (int cmd = 0; cmd < 4; cmd++) {
			uint16_t lost = 9999;

			account(&s, (enum weft_flit_type)type, (enum weft_replay_cmd)cmd, 700, 0,
				&lost);
			want = count_up(want);
			assert_int_equal(s.next, want);
			assert_int_equal(lost, 0);
		}
	}
}

/* 0 is nobody's number: a payload flit that says so is counted along. */
WEFT_TEST(number_zero_is_no_number)
{
	struct weft_fsn s;
	uint16_t lost;

	for (unsigned int next = 1; next <= 1023; next++) {
		assert_int_equal(weft_fsn_init(&s, (uint16_t)next), 0);
		assert_int_equal(account(&s, WEFT_FLIT_CACHEMEM, WEFT_REPLAY_EXPLICIT, 0, 1, &lost),
			WEFT_FSN_IN_TURN);
		assert_int_equal(lost, 0);
		assert_int_equal(s.next, next == 1023 ? 1 : next + 1);
	}
}

/* Lost flits show at the next explicit number only, all together. */
WEFT_TEST(random_runs_match_a_sender_that_knows)
{
	struct weft_rand r;

	weft_test_seed(&r, __func__);
	for (int round = 0; round < 50; round++) {
		unsigned int number = 1 + (unsigned int)weft_rand_below(&r, 1023);
		unsigned int dropped = 0, found = 0, unseen = 0;
		struct weft_fsn s;

		assert_int_equal(weft_fsn_init(&s, (uint16_t)number), 0);
		for (int i = 0; i < 2000; i++, number = count_up(number)) {
			const bool explicit = weft_rand_below(&r, 4) == 0;
			enum weft_fsn_verdict v;
			uint16_t lost;

			if (weft_rand_below(&r, 10) == 0 && unseen < 400) {
				dropped++;
				unseen++;
				continue;
			}
			v = account(&s, WEFT_FLIT_CACHEMEM,
				explicit ? WEFT_REPLAY_EXPLICIT : WEFT_REPLAY_ACK,
				explicit ? number : 123, 1, &lost);
			assert_int_equal(
				v, explicit && unseen != 0 ? WEFT_FSN_AFTER_GAP : WEFT_FSN_IN_TURN);
			found += lost;
			if (explicit)
				unseen = 0;
		}
		assert_int_equal(found + unseen, dropped);
	}
}

WEFT_TEST(init_takes_1_to_1023)
{
	struct weft_fsn s = { .next = 77 };

	assert_int_equal(weft_fsn_init(&s, 0), -EINVAL);
	assert_int_equal(weft_fsn_init(&s, 1024), -EINVAL);
	assert_int_equal(weft_fsn_init(&s, UINT16_MAX), -EINVAL);
	assert_int_equal(s.next, 77);
	assert_int_equal(weft_fsn_init(&s, 1), 0);
	assert_int_equal(s.next, 1);
	assert_int_equal(weft_fsn_init(&s, 1023), 0);
	assert_int_equal(s.next, 1023);
}

/* Section 1.2, a field at a time, and all 65536 headers there and back. */
WEFT_TEST(header_fields_have_their_bits)
{
	static const struct {
		uint8_t bytes[2];
		struct weft_flit_hdr h;
	} headers[] = {
		{ { 0x00, 0x00 }, { 0 } },
		{ { 0x80, 0x00 }, { .type = WEFT_FLIT_CACHEMEM } },
		{ { 0xC0, 0x00 }, { .type = WEFT_FLIT_ALMP } },
		{ { 0x20, 0x00 }, { .prior_payload = true } },
		{ { 0x10, 0x00 }, { .dllp_type = true } },
		{ { 0x04, 0x00 }, { .replay_cmd = WEFT_REPLAY_ACK } },
		{ { 0x0C, 0x00 }, { .replay_cmd = WEFT_REPLAY_NAK_SELECTIVE } },
		{ { 0x02, 0x01 }, { .seq = 0x201 } },
		{ { 0x01, 0x80 }, { .seq = 0x180 } },
	};

	for (size_t i = 0; i < WEFT_ARRAY_SIZE(headers); i++) {
		uint8_t bytes[2] = { 0xEE, 0xEE };

		weft_flit_hdr_put(bytes, &headers[i].h);
		assert_memory_equal(bytes, headers[i].bytes, 2);
	}
	for (unsigned int v = 0; v <= UINT16_MAX; v++) {
		const uint8_t bytes[2] = { (uint8_t)(v >> 8), (uint8_t)v };
		const struct weft_flit_hdr h = weft_flit_hdr_get(bytes);
		uint8_t again[2];

		weft_flit_hdr_put(again, &h);
		assert_memory_equal(again, bytes, 2);
	}
}
