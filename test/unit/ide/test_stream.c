/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* The rules of a stream (wire-formats.md section 5.4): where MACs go, what is held, what fails. */

#include "ide_pair.h"

#include "ide_priv.h"

static void
start(enum weft_ide_mode mode)
{
	start_with((struct weft_ide_config){ .mode = mode, .pcrc = true });
}

static void
send_control(enum weft_llctrl c)
{
	uint8_t *p = plain[n_plain++];
	uint8_t flit[WEFT_FLIT_LEN];

	rig_control_flit(&rnd, p, c);
	memcpy(flit, p, WEFT_FLIT_LEN);
	assert_int_equal(rig_seal(tx, flit), 0);
	assert_memory_equal(flit, p, WEFT_FLIT_LEN);
	rig_receive(&rx, flit);
}

/* End the traffic as a sender should. */
static void
send_close(void)
{
	enum weft_ide_close c = rig_close(tx, plain[n_plain]);

	if (c == WEFT_IDE_CLOSE_CARRIER) {
		send_flits(1);
		c = rig_close(tx, plain[n_plain]);
	}
	assert_int_equal(c, WEFT_IDE_CLOSE_TMAC);
	rig_receive(&rx, plain[n_plain++]);
	assert_int_equal(rig_close(tx, plain[n_plain]), WEFT_IDE_CLOSED);
}

static void
expect_all_delivered(void)
{
	assert_int_equal(rx.failures + rx.insecure + rx.dropped, 0);
	assert_int_equal(rx.n_out, n_plain);
	assert_memory_equal(rx.out, plain, n_plain * (size_t)WEFT_FLIT_LEN);
}

/* The last flit failed the stream, @p dropped flits went with it, and it stays failed. */
static void
expect_failed_for_good(unsigned int dropped)
{
	const unsigned int delivered = rx.n_out;

	assert_int_equal(rx.last.verdict, WEFT_DROP_IDE_MAC);
	assert_int_equal(rx.last.dropped, dropped);
	assert_false(rx.last.epoch_good);
	send_flits(3);
	send_control(WEFT_LLCTRL_IDE_IDLE);
	assert_int_equal(rx.failures, 1);
	assert_int_equal(rx.insecure, 4);
	assert_int_equal(rx.n_out, delivered);
}

WEFT_TEST(bad_set_up_is_refused)
{
	uint8_t *mem = aligned_alloc(64, weft_ide_stream_size() + 64);

	assert_int_equal(weft_ide_stream_size() % 64, 0);
	assert_null(weft_ide_stream_init(mem, lib, WEFT_IDE_OFF, key, 1, true));
	assert_null(weft_ide_stream_init(mem, lib, (enum weft_ide_mode)3, key, 1, true));
	assert_null(weft_ide_stream_init(mem + 8, lib, WEFT_IDE_SKID, key, 1, true));
	free(mem);
}

WEFT_TEST(wipe_leaves_nothing)
{
	const uint8_t *mem;

	start(WEFT_IDE_SKID);
	send_flits(5);
	weft_ide_stream_wipe(tx);
	mem = (const uint8_t *)tx;
	for (size_t i = 0; i < weft_ide_stream_size(); i++)
		assert_int_equal(mem[i], 0);
}

WEFT_TEST(mac_slot_must_be_there_exactly_when_due)
{
	uint8_t flit[WEFT_FLIT_LEN], was[WEFT_FLIT_LEN];

	start(WEFT_IDE_CONTAINMENT);
	for (unsigned int i = 0; i < 8; i++) {
		const bool due = weft_ide_mac_due(tx);

		assert_int_equal(due, i > 0 && i % 2 == 0);
		rig_protocol_flit(&rnd, flit);
		if (!due)
			rig_control_flit(&rnd, flit, WEFT_LLCTRL_IDE_MAC);
		memcpy(was, flit, WEFT_FLIT_LEN);
		assert_int_equal(rig_seal(tx, flit), -EPROTO);
		assert_memory_equal(flit, was, WEFT_FLIT_LEN);
		send_flits(1);
	}
	send_close();
	expect_all_delivered();
}

static void
round_trip_of_1_to_200_flits(enum weft_ide_mode mode)
{
	for (unsigned int n = 1; n <= 200; n++) {
		const unsigned int epoch = weft_ide_epoch_flits(mode);
		const unsigned int epochs = (n + epoch - 1) / epoch + (n % epoch == 0);

		start(mode);
		send_flits(n);
		send_close();
		assert_int_equal(rx.epochs_good, epochs);
		expect_all_delivered();
	}
}

WEFT_TEST(containment_round_trips)
{
	round_trip_of_1_to_200_flits(WEFT_IDE_CONTAINMENT);
}

WEFT_TEST(skid_round_trips)
{
	round_trip_of_1_to_200_flits(WEFT_IDE_SKID);
}

WEFT_TEST(containment_holds_until_the_mac)
{
	static const unsigned int delivered[] = { 0, 0, 2, 2, 4, 4, 6 };

	start(WEFT_IDE_CONTAINMENT);
	for (size_t i = 0; i < WEFT_ARRAY_SIZE(delivered); i++) {
		send_flits(1);
		assert_int_equal(rx.n_out, delivered[i]);
	}
	send_close();
	expect_all_delivered();
}

WEFT_TEST(skid_delivers_at_once)
{
	start(WEFT_IDE_SKID);
	for (unsigned int i = 1; i <= 100; i++) {
		send_flits(1);
		assert_int_equal(rx.n_out, i);
		assert_int_equal(rx.epochs_good, (i - 1) / 32);
	}
	expect_all_delivered();
}

WEFT_TEST(tmac_ends_every_short_epoch)
{
	for (unsigned int n = 1; n < 32; n++) {
		start(WEFT_IDE_SKID);
		for (unsigned int again = 1; again <= 3; again++) {
			send_flits(n);
			send_close();
			assert_int_equal(rx.epochs_good, again);
		}
		expect_all_delivered();
	}
	start(WEFT_IDE_CONTAINMENT);
	send_flits(1);
	assert_int_equal(weft_ide_held(rx.s), 1);
	send_close();
	expect_all_delivered();
}

WEFT_TEST(tmac_flit_is_bare)
{
	static const uint8_t zero[WEFT_FLIT_LEN];
	uint8_t flit[WEFT_FLIT_LEN];

	start(WEFT_IDE_SKID);
	assert_int_equal(rig_close(tx, flit), WEFT_IDE_CLOSED);
	send_flits(1);
	memset(flit, 0xFF, sizeof(flit));
	assert_int_equal(rig_close(tx, flit), WEFT_IDE_CLOSE_TMAC);
	assert_int_equal(weft_flit_hdr_get(flit).type, WEFT_FLIT_CACHEMEM);
	assert_int_equal(weft_flit_hdr_get(flit).replay_cmd, WEFT_REPLAY_EXPLICIT);
	assert_int_equal(weft_llctrl_get(flit + 2), WEFT_LLCTRL_IDE_TMAC);
	assert_memory_equal(flit + 16, zero, WEFT_FLIT_LEN - 16);
}

WEFT_TEST(control_flits_keep_their_place)
{
	static const enum weft_llctrl c[] = { WEFT_LLCTRL_IDE_IDLE, WEFT_LLCTRL_VIRAL,
		WEFT_LLCTRL_IDE_START, WEFT_LLCTRL_IDE_STOP, WEFT_LLCTRL_INIT_PARAM,
		WEFT_LLCTRL_POISON };

	start(WEFT_IDE_CONTAINMENT);
	for (size_t i = 0; i < WEFT_ARRAY_SIZE(c); i++) {
		send_control(c[i]);
		/* Nothing is held, so it waits for nothing; but Poison is ahead of a flit. */
		assert_int_equal(rx.n_out, n_plain - (c[i] == WEFT_LLCTRL_POISON));
	}
	for (unsigned int i = 0; i < 60; i++) {
		send_flits(1);
		if (weft_rand_below(&rnd, 2) == 0)
			send_control(c[weft_rand_below(&rnd, WEFT_ARRAY_SIZE(c))]);
	}
	send_close();
	expect_all_delivered();
}

WEFT_TEST(control_flits_between_epochs_go_with_the_earlier)
{
	start(WEFT_IDE_CONTAINMENT);
	send_flits(2);
	send_control(WEFT_LLCTRL_VIRAL);
	assert_int_equal(weft_ide_held(rx.s), 3);
	send_flits(1); /* carries the MAC, and is held itself */
	assert_int_equal(rx.n_out, 3);
	assert_int_equal(weft_ide_held(rx.s), 1);
}

WEFT_TEST(flits_of_other_protocols_pass_untouched)
{
	static const uint8_t type[] = { WEFT_FLIT_IDLE_NOP, WEFT_FLIT_IO, WEFT_FLIT_ALMP };
	uint8_t flit[WEFT_FLIT_LEN];

	start(WEFT_IDE_SKID);
	for (unsigned int i = 0; i < 300; i++) {
		uint8_t *p = plain[n_plain++];

		/* Some look like IDE.MAC or IDE.TMAC but for the flit type. */
		rig_control_flit(&rnd, p, i % 2 == 0 ? WEFT_LLCTRL_IDE_MAC : WEFT_LLCTRL_IDE_TMAC);
		p[0] = (uint8_t)((p[0] & 0x3F) | type[i % 3] << 6);
		memcpy(flit, p, WEFT_FLIT_LEN);
		assert_int_equal(rig_seal(tx, flit), 0);
		rig_receive(&rx, flit);
		assert_int_equal(rx.last.release, 1);
	}
	expect_all_delivered();
}

WEFT_TEST(one_held_flit_too_many_fails)
{
	start(WEFT_IDE_CONTAINMENT);
	send_flits(2);
	for (unsigned int i = 0; i < WEFT_IDE_HELD_MAX - 2; i++)
		send_control(WEFT_LLCTRL_IDE_IDLE);
	assert_int_equal(weft_ide_held(rx.s), WEFT_IDE_HELD_MAX);
	assert_int_equal(rx.failures, 0);
	send_control(WEFT_LLCTRL_IDE_IDLE);
	expect_failed_for_good(WEFT_IDE_HELD_MAX + 1);
	assert_int_equal(rx.n_out, 0);
}

WEFT_TEST(protocol_flit_over_the_bound_fails_too)
{
	start(WEFT_IDE_CONTAINMENT);
	send_flits(1);
	for (unsigned int i = 0; i < WEFT_IDE_HELD_MAX - 1; i++)
		send_control(WEFT_LLCTRL_IDE_IDLE);
	send_flits(1);
	expect_failed_for_good(WEFT_IDE_HELD_MAX + 1);
}

WEFT_TEST(all_held_flits_are_let_go_by_the_mac)
{
	start(WEFT_IDE_CONTAINMENT);
	send_flits(2);
	for (unsigned int i = 0; i < WEFT_IDE_HELD_MAX - 2; i++)
		send_control(WEFT_LLCTRL_IDE_IDLE);
	send_flits(1);
	assert_int_equal(rx.n_out, WEFT_IDE_HELD_MAX);
	send_close();
	expect_all_delivered();
}

/* --- MACs out of place. A sender of this library makes none, so epochs are sealed by hand. --- */

static void
seal_by_hand(const uint8_t *mac, uint8_t *flit)
{
	rig_protocol_flit(&rnd, flit);
	if (mac != NULL)
		weft_llctrl_put(flit, WEFT_LLCTRL_IDE_MAC, mac);
	memcpy(plain[n_plain++], flit, WEFT_FLIT_LEN);
	ide_epoch_seal(tx, flit);
}

static void
send_by_hand(const uint8_t *mac)
{
	uint8_t flit[WEFT_FLIT_LEN];

	seal_by_hand(mac, flit);
	rig_receive(&rx, flit);
}

/* A full epoch; its MAC comes back. */
static void
send_epoch(enum weft_ide_mode mode, uint8_t *mac)
{
	start(mode);
	for (unsigned int i = 0; i < weft_ide_epoch_flits(mode); i++)
		send_by_hand(NULL);
	ide_epoch_end(tx, mac);
}

WEFT_TEST(mac_in_the_second_flit_is_taken)
{
	uint8_t mac[WEFT_IDE_MAC_LEN];

	send_epoch(WEFT_IDE_SKID, mac);
	send_by_hand(NULL);
	send_by_hand(mac);
	expect_all_delivered();
	assert_int_equal(rx.epochs_good, 1);

	send_epoch(WEFT_IDE_CONTAINMENT, mac);
	send_by_hand(NULL);
	assert_int_equal(rx.n_out, 0);
	send_by_hand(mac); /* fills the second epoch: its MAC is due at once */
	assert_int_equal(rx.n_out, 2);
	ide_epoch_end(tx, mac);
	send_by_hand(mac);
	assert_int_equal(rx.n_out, 4);
	assert_int_equal(rx.epochs_good, 2);
	assert_int_equal(rx.failures, 0);
}

WEFT_TEST(second_flit_without_the_mac_fails)
{
	uint8_t mac[WEFT_IDE_MAC_LEN];

	send_epoch(WEFT_IDE_SKID, mac);
	send_by_hand(NULL);
	assert_int_equal(rx.failures, 0);
	send_by_hand(NULL);
	expect_failed_for_good(1);

	send_epoch(WEFT_IDE_CONTAINMENT, mac);
	send_by_hand(NULL);
	send_by_hand(NULL);
	expect_failed_for_good(4);
	assert_int_equal(rx.n_out, 0);
}

WEFT_TEST(mac_that_is_not_due_fails)
{
	uint8_t mac[WEFT_IDE_MAC_LEN] = { 0 };

	start(WEFT_IDE_CONTAINMENT); /* the very first flit */
	send_by_hand(mac);
	expect_failed_for_good(1);

	start(WEFT_IDE_CONTAINMENT); /* inside the first epoch */
	send_by_hand(NULL);
	send_by_hand(mac);
	expect_failed_for_good(2);

	send_epoch(WEFT_IDE_SKID, mac); /* a second time */
	send_by_hand(mac);
	send_by_hand(mac);
	expect_failed_for_good(1);
}

WEFT_TEST(tmac_out_of_place_fails)
{
	uint8_t mac[WEFT_IDE_MAC_LEN];

	start(WEFT_IDE_SKID); /* no flit in the epoch, though the MAC of nothing is right */
	ide_epoch_end(tx, mac);
	weft_llctrl_put(plain[0], WEFT_LLCTRL_IDE_TMAC, mac);
	plain[0][0] = WEFT_FLIT_CACHEMEM << 6;
	rig_receive(&rx, plain[0]);
	expect_failed_for_good(1);

	send_epoch(
		WEFT_IDE_CONTAINMENT, mac); /* the epoch is full: the right MAC, the wrong flit */
	weft_llctrl_put(plain[0], WEFT_LLCTRL_IDE_TMAC, mac);
	rig_receive(&rx, plain[0]);
	expect_failed_for_good(3);

	send_epoch(WEFT_IDE_SKID, mac); /* short epoch, but the one before has no MAC yet */
	send_by_hand(NULL);
	ide_epoch_end(tx, mac);
	weft_llctrl_put(plain[0], WEFT_LLCTRL_IDE_TMAC, mac);
	rig_receive(&rx, plain[0]);
	expect_failed_for_good(1);
}

WEFT_TEST(wrong_tmac_drops_the_epoch)
{
	uint8_t flit[WEFT_FLIT_LEN];

	for (unsigned int bit = 0; bit < 96; bit++) {
		start(WEFT_IDE_CONTAINMENT);
		send_flits(1);
		rig_close(tx, flit);
		flit[4 + bit / 8] ^= (uint8_t)(1 << bit % 8);
		rig_receive(&rx, flit);
		expect_failed_for_good(2);
		assert_int_equal(rx.n_out, 0);
	}
}

/* --- streams that do not fit each other, and flits that do not arrive as sent --- */

WEFT_TEST(ends_must_agree_on_everything)
{
	uint8_t other_key[WEFT_IDE_KEY_LEN];

	for (unsigned int i = 0; i < 5; i++) {
		start(WEFT_IDE_CONTAINMENT);
		free(rx.s);
		memcpy(other_key, key, sizeof(key));
		other_key[31] ^= i == 0;
		rx.s = rig_stream(lib, i == 1 ? WEFT_IDE_SKID : WEFT_IDE_CONTAINMENT, other_key,
			i == 2 ? 2 : 1, i != 3);
		send_flits(3);
		if (i == 4) /* the control: nothing differs */
			assert_int_equal(rx.failures, 0);
		else
			expect_failed_for_good(i == 1 ? 1 : 3);
	}
}

WEFT_TEST(lost_repeated_or_swapped_flits_fail)
{
	/* Flits 2 and 4 have the MACs of the first and second epoch. */
	static const struct {
		uint8_t order[5];
		unsigned int delivered;
	} v[] = {
		{ { 1, 2, 3, 4, 5 }, 0 }, /* the first lost */
		{ { 0, 2, 3, 4, 5 }, 0 },
		{ { 0, 0, 1, 2, 3 }, 0 },
		{ { 0, 1, 1, 2, 4 }, 2 }, /* repeated in the second epoch: the first is good */
		{ { 1, 0, 2, 3, 4 }, 0 },
		{ { 0, 2, 1, 3, 4 }, 0 },
	};
	uint8_t flit[6][WEFT_FLIT_LEN];

	for (size_t i = 0; i < WEFT_ARRAY_SIZE(v); i++) {
		start(WEFT_IDE_CONTAINMENT);
		for (unsigned int k = 0; k < 6; k++)
			next_flit(flit[k]);
		for (unsigned int k = 0; k < 5; k++)
			rig_receive(&rx, flit[v[i].order[k]]);
		assert_int_equal(rx.failures, 1);
		assert_int_equal(rx.n_out, v[i].delivered);
	}
}

/* Deliver flits 0..4 of a stream with one bit of flit @p f turned; flit 2 has the first MAC. */
static void
flip_and_send(unsigned int f, unsigned int bit)
{
	uint8_t flit[WEFT_FLIT_LEN];

	start(WEFT_IDE_CONTAINMENT);
	for (unsigned int i = 0; i < 5; i++) {
		next_flit(flit);
		if (i == f)
			flit[bit / 8] ^= (uint8_t)(1 << bit % 8);
		rig_receive(&rx, flit);
	}
}

WEFT_TEST(every_protected_bit_counts)
{
	/* The two flits of the epoch: all slots and CRD. */
	for (unsigned int f = 0; f < 2; f++) {
		for (unsigned int bit = 2 * 8; bit < 242 * 8; bit++) {
			flip_and_send(f, bit);
			assert_int_equal(rx.failures, 1);
			assert_int_equal(rx.n_out, 0);
		}
	}
	/* The flit behind: what makes its slot 0 an IDE.MAC, and the MAC itself. */
	for (unsigned int bit = 2 * 8; bit < 16 * 8; bit++) {
		if (bit / 8 == 3 && bit % 8 >= 4)
			continue; /* reserved bits */
		flip_and_send(2, bit);
		assert_int_equal(rx.failures, 1);
		assert_int_equal(rx.n_out, 0);
	}
	/* Its other bits belong to the second epoch, and the first goes on. */
	for (unsigned int bit = 16 * 8; bit < 242 * 8; bit++) {
		flip_and_send(2, bit);
		assert_int_equal(rx.failures, 1);
		assert_int_equal(rx.n_out, 2);
	}
}

WEFT_TEST(header_crc_and_fec_are_not_protected)
{
	for (unsigned int bit = 0; bit < WEFT_FLIT_LEN * 8; bit++) {
		if (bit == 6 || bit == 7 || (bit >= 2 * 8 && bit < 242 * 8))
			continue; /* flit type: says whether this is a protocol flit at all */
		flip_and_send(0, bit);
		assert_int_equal(rx.failures, 0);
		assert_int_equal(rx.n_out, 4);
	}
}
