/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Late poison (the ECN to CXL 3.1; wire-formats.md section 5.1): its two figures as vectors, what
 * an attacker can do to a Poison flit with protection and without, what is held, and the flow with
 * a corrupted CRC.
 */

#include "ide_pair.h"

#include "ide_priv.h"

static void
start(enum weft_ide_mode mode, bool tx_poison, bool rx_poison)
{
	struct weft_ide_config c = { .mode = mode, .pcrc = true, .poison = rx_poison };

	start_with(c);
	if (rx_poison == tx_poison)
		return;
	cfg.poison = tx_poison;
	free(tx);
	tx = rig_setup(lib, &cfg, key, 1);
}

static void
send_poison(uint8_t offset)
{
	uint8_t flit[WEFT_FLIT_LEN];

	weft_ide_poison_put(flit, offset);
	assert_int_equal(rig_seal(tx, flit), 0);
	rig_receive(&rx, flit);
}

/* --- the figures --- */

/* The epoch of wire-formats.md (c), flit 1 with the slot for a MAC of before. */
static void
document_flits(uint8_t flit[2][WEFT_FLIT_LEN])
{
	for (unsigned int i = 0; i < WEFT_FLIT_LEN; i++) {
		flit[0][i] = (uint8_t)(7 * i + 3);
		flit[1][i] = (uint8_t)(5 * i + 1);
	}
	memcpy(flit[0], (const uint8_t[]){ 0xA0, 0x01, (uint8_t)((flit[0][2] & 0xF0) | 4) }, 3);
	memcpy(flit[1], (const uint8_t[]){ 0xA0, 0x01, 0x28, 0x03 }, 4);
	memcpy(flit[0] + 240, (const uint8_t[]){ 0x94, 0x52 }, 2);
	memcpy(flit[1] + 240, (const uint8_t[]){ 0x14, 0x00 }, 2);
}

static void
figure_holds(unsigned int poison_at, const char *aad_hex, const char *mac_hex)
{
	uint8_t flit[2][WEFT_FLIT_LEN], poison[WEFT_FLIT_LEN], want[32], mac[WEFT_IDE_MAC_LEN];

	start(WEFT_IDE_CONTAINMENT, true, true);
	for (unsigned int i = 0; i < sizeof(key); i++)
		key[i] = (uint8_t)i;
	cfg.poison = true;
	free(tx);
	tx = rig_setup(lib, &cfg, key, 1);
	document_flits(flit);
	weft_ide_poison_put(poison, 3);
	for (unsigned int i = 0; i < 2; i++) {
		if (i == poison_at)
			assert_true(ide_poison_wait(tx, poison));
		ide_epoch_seal(tx, flit[i]);
	}
	assert_int_equal(weft_test_unhex(aad_hex, want, sizeof(want)), tx->aad_words * 4);
	assert_memory_equal(tx->aad, want, 12);
	assert_int_equal(weft_test_unhex(mac_hex, want, sizeof(want)), WEFT_IDE_MAC_LEN);
	ide_epoch_end(tx, mac);
	assert_memory_equal(mac, want, WEFT_IDE_MAC_LEN);
}

WEFT_TEST(figures_x1_and_x2_hold)
{
	figure_holds(0, "030000004429050014000000", "56627f74a7ffc3b605160d67");
	figure_holds(1, "442905000300000014000000", "160082550a69d5224522de90");
}

/*
 * The same MAC as X2 by the flow with a corrupted CRC: the Poison flit comes when flit 1 is sealed.
 */
WEFT_TEST(figure_x2_by_crc_corruption)
{
	uint8_t flit[2][WEFT_FLIT_LEN], poison[WEFT_FLIT_LEN], want[12], mac[WEFT_IDE_MAC_LEN];

	figure_holds(1, "442905000300000014000000", "160082550a69d5224522de90");
	free(tx);
	tx = rig_setup(lib, &cfg, key, 1);
	document_flits(flit);
	ide_epoch_seal(tx, flit[0]);
	ide_epoch_seal(tx, flit[1]);
	assert_int_equal(weft_ide_poison_last(tx, WEFT_IDE_SPOILT_CRC, 3, poison), 0);
	ide_epoch_end(tx, mac);
	weft_test_unhex("160082550a69d5224522de90", want, sizeof(want));
	assert_memory_equal(mac, want, sizeof(want));
}

/* --- the attacker --- */

enum attack { ATTACK_NONE, ATTACK_REMOVE, ATTACK_ADD, ATTACK_CHANGE, ATTACK_TO_IDLE, ATTACK_MOVE };

/*
 * Send a little more than an epoch with Poison before flit @p at, and have it attacked.
 * @return Poison flits that were let go
 */
static unsigned int
attack_poison(enum weft_ide_mode mode, bool protect, unsigned int at, enum attack a)
{
	const unsigned int n = weft_ide_epoch_flits(mode);
	uint8_t wire[40][WEFT_FLIT_LEN], poison[WEFT_FLIT_LEN], idle[WEFT_FLIT_LEN];
	unsigned int seen = 0;

	start(mode, protect, protect);
	weft_ide_poison_put(poison, 5);
	rig_control_flit(&rnd, idle, WEFT_LLCTRL_IDE_IDLE);
	for (unsigned int i = 0; i <= n; i++) {
		if (i == at)
			assert_int_equal(rig_seal(tx, poison), 0);
		next_flit(wire[i]);
	}
	if (a == ATTACK_CHANGE)
		poison[4] ^= 1;
	for (unsigned int i = 0; i <= n; i++) {
		if (i == at + (a == ATTACK_MOVE) && a != ATTACK_REMOVE)
			rig_receive(&rx, a == ATTACK_TO_IDLE ? idle : poison);
		if (i == at && a == ATTACK_ADD)
			rig_receive(&rx, poison);
		rig_receive(&rx, wire[i]);
	}
	for (unsigned int i = 0; i < rx.n_out; i++)
		seen += weft_llctrl_get(rx.out[i] + 2) == WEFT_LLCTRL_POISON;
	return seen;
}

WEFT_TEST(attacks_on_protected_poison_fail)
{
	for (unsigned int m = 0; m < 2; m++) {
		const enum weft_ide_mode mode = m == 0 ? WEFT_IDE_CONTAINMENT : WEFT_IDE_SKID;

		for (unsigned int at = 0; at < weft_ide_epoch_flits(mode); at++) {
			assert_int_equal(attack_poison(mode, true, at, ATTACK_NONE), 1);
			assert_int_equal(rx.failures, 0);
			assert_int_equal(rx.epochs_good, 1);
			for (enum attack a = ATTACK_REMOVE; a <= ATTACK_MOVE; a++) {
				attack_poison(mode, true, at, a);
				assert_int_equal(rx.failures, 1);
				assert_int_equal(rx.epochs_good, 0);
				if (mode == WEFT_IDE_CONTAINMENT)
					assert_int_equal(rx.n_out, a == ATTACK_TO_IDLE && at == 0);
			}
		}
	}
}

/* The hole that the ECN closes: a Poison flit that is not protected can be taken away unnoticed. */
WEFT_TEST(attacks_on_open_poison_succeed)
{
	for (enum attack a = ATTACK_NONE; a <= ATTACK_MOVE; a++) {
		/* One that was moved waits for the end of the epoch behind. */
		static const unsigned int seen[] = { 1, 0, 2, 1, 0, 0 };

		assert_int_equal(attack_poison(WEFT_IDE_CONTAINMENT, false, 1, a), seen[a]);
		assert_int_equal(rx.failures, 0);
		assert_int_equal(rx.epochs_good, 1);
	}
}

/* Only the payload's four bits count: nothing else in the flit is authenticated. */
WEFT_TEST(four_bits_of_a_poison_flit_are_protected)
{
	uint8_t wire[4][WEFT_FLIT_LEN];

	for (unsigned int bit = 0; bit < WEFT_FLIT_LEN * 8; bit++) {
		/* What makes it Poison, and the payload. */
		const bool counts =
			bit == 6 || bit == 7 || (bit >= 16 && bit < 28) || (bit >= 32 && bit < 36);

		start(WEFT_IDE_CONTAINMENT, true, true);
		next_flit(wire[0]);
		weft_ide_poison_put(wire[1], 2);
		assert_int_equal(rig_seal(tx, wire[1]), 0);
		next_flit(wire[2]);
		next_flit(wire[3]);
		wire[1][bit / 8] ^= (uint8_t)(1 << bit % 8);
		for (unsigned int i = 0; i < 4; i++)
			rig_receive(&rx, wire[i]);
		assert_int_equal(rx.failures, counts);
		assert_int_equal(rx.n_out, counts ? 0 : 3);
	}
}

WEFT_TEST(ends_must_agree_on_protection)
{
	for (unsigned int i = 0; i < 2; i++) {
		start(WEFT_IDE_CONTAINMENT, i == 0, i == 1);
		send_flits(3); /* without Poison nothing differs */
		assert_int_equal(rx.failures, 0);
		send_poison(1);
		send_flits(2);
		assert_int_equal(rx.failures, 1);
	}
}

/* --- holding --- */

WEFT_TEST(poison_waits_for_its_mac)
{
	start(WEFT_IDE_CONTAINMENT, true, true);
	send_poison(0); /* nothing else is held, and it is */
	assert_int_equal(weft_ide_held(rx.s), 1);
	send_flits(2);
	assert_int_equal(rx.n_out, 0);
	send_poison(1); /* belongs to the second epoch */
	send_flits(1);
	assert_int_equal(rx.n_out, 3);
	send_flits(2);
	assert_int_equal(rx.n_out, 6);
	assert_int_equal(weft_ide_counts(rx.s)->poison, 2);
	assert_int_equal(weft_ide_counts(tx)->poison, 2);

	start(WEFT_IDE_SKID, true, true);
	send_poison(0);
	assert_int_equal(rx.n_out, 1);
}

/* A sender does not end an epoch by IDE.TMAC while Poison waits for its flit. */
WEFT_TEST(poison_needs_a_carrier_before_tmac)
{
	uint8_t flit[WEFT_FLIT_LEN];

	start(WEFT_IDE_SKID, true, true);
	send_poison(7);
	assert_int_equal(rig_close(tx, flit), WEFT_IDE_CLOSE_CARRIER);
	send_flits(1);
	send_poison(7);
	assert_int_equal(rig_close(tx, flit), WEFT_IDE_CLOSE_CARRIER);
	send_flits(1);
	assert_int_equal(rig_close(tx, flit), WEFT_IDE_CLOSE_TMAC);
	rig_receive(&rx, flit);
	assert_int_equal(rx.epochs_good, 1);
}

/*
 * Another sender may: then the Poison flit is the next epoch's, and what follows it waits as well.
 */
WEFT_TEST(poison_before_tmac_is_the_next_epochs)
{
	uint8_t poison[WEFT_FLIT_LEN], flit[WEFT_FLIT_LEN];

	start(WEFT_IDE_CONTAINMENT, true, true);
	send_flits(1);
	weft_ide_poison_put(poison, 4);
	rig_receive(&rx, poison);
	assert_int_equal(rig_close(tx, flit), WEFT_IDE_CLOSE_TMAC);
	rig_receive(&rx, flit);
	assert_int_equal(rx.epochs_good, 1);
	assert_int_equal(rx.n_out, 1);
	assert_int_equal(weft_ide_held(rx.s), 2);
	assert_int_equal(rig_seal(tx, poison), 0); /* so that the sender's next epoch has it */
	send_flits(3);
	assert_int_equal(rx.failures, 0);
	assert_int_equal(rx.epochs_good, 2);
	assert_int_equal(rx.n_out, 5);
}

WEFT_TEST(too_much_poison_is_refused)
{
	uint8_t flit[WEFT_FLIT_LEN];

	start(WEFT_IDE_SKID, true, true);
	send_poison(1);
	send_flits(1);
	for (unsigned int i = 0; i < WEFT_IDE_POISON_MAX; i++)
		send_poison((uint8_t)i);
	weft_ide_poison_put(flit, 1);
	assert_int_equal(rig_seal(tx, flit), -ENOBUFS);
	assert_int_equal(rig_seal_run(tx, flit, 1), 0);
	send_flits(1);
	assert_int_equal(weft_ide_poison_last(tx, WEFT_IDE_SPOILT_CRC, 1, flit), -ENOBUFS);
	send_flits(31);
	assert_int_equal(rx.epochs_good, 1);
	for (unsigned int i = 0; i < WEFT_IDE_POISON_MAX; i++)
		send_poison(3);
	assert_int_equal(rx.failures, 0);
	weft_ide_poison_put(flit, 1);
	rig_receive(&rx, flit);
	assert_int_equal(rx.failures, 1);
}

/* Between any two protocol flits as much as the format has, in both modes, and it is legal. */
WEFT_TEST(all_the_poison_of_the_format)
{
	for (unsigned int m = 0; m < 4; m++) {
		const enum weft_ide_mode mode = m % 2 == 0 ? WEFT_IDE_CONTAINMENT : WEFT_IDE_SKID;

		start(mode, m / 2 == 0, m / 2 == 0);
		for (unsigned int k = 0; k < WEFT_IDE_EPOCH_MAX; k++) {
			for (unsigned int i = 0; i < WEFT_IDE_POISON_MAX; i++)
				send_poison((uint8_t)i);
			send_flits(1);
		}
		send_flits(1);
		assert_int_equal(rx.failures, 0);
		assert_int_equal(rx.epochs_good, WEFT_IDE_EPOCH_MAX / weft_ide_epoch_flits(mode));
	}
}

/* --- CRC corruption --- */

/* @p n flits, the last spoilt; its Poison flit; the same flit again: as the receiver gets them. */
static void
spoil_flit(unsigned int n, unsigned int times, bool by_runs)
{
	uint8_t wire[64][WEFT_FLIT_LEN], poison[WEFT_FLIT_LEN], again[WEFT_FLIT_LEN];

	for (unsigned int i = 0; i < n; i++) {
		rig_protocol_flit(&rnd, wire[i]);
		if (i > 0 && i % weft_ide_epoch_flits(cfg.mode) == 0)
			rig_control_flit(&rnd, wire[i], WEFT_LLCTRL_IDE_MAC);
	}
	if (by_runs)
		assert_int_equal(rig_seal_run(tx, wire[0], n), n);
	else
		for (unsigned int i = 0; i < n; i++)
			assert_int_equal(rig_seal(tx, wire[i]), 0);
	for (unsigned int i = 0; i + 1 < n; i++)
		rig_receive(&rx, wire[i]);
	memcpy(again, wire[n - 1], WEFT_FLIT_LEN);
	for (unsigned int i = 0; i < times; i++) {
		assert_int_equal(
			weft_ide_poison_last(tx, WEFT_IDE_SPOILT_CRC, (uint8_t)i, poison), 0);
		rig_receive(&rx, poison);
	}
	weft_ide_monitor_again(rig_monitor(tx), again);
	rig_receive(&rx, again);
	send_flits(2);
	assert_int_equal(rx.failures, 0);
	assert_int_equal(rx.epochs_good, (n + 1) / weft_ide_epoch_flits(cfg.mode));
}

WEFT_TEST(spoilt_flit_gets_poison_before_its_mac)
{
	for (unsigned int n = 1; n <= 40; n++)
		for (unsigned int way = 0; way < 8; way++) {
			start(way / 4 == 0 ? WEFT_IDE_CONTAINMENT : WEFT_IDE_SKID, true, true);
			spoil_flit(n, 1 + way / 2 % 2 * 2, way % 2 == 0);
		}
}

/* Without protection the flow is the same, and the epoch knows nothing of it. */
WEFT_TEST(spoilt_flit_without_protection)
{
	for (unsigned int n = 1; n <= 5; n++) {
		start(WEFT_IDE_CONTAINMENT, false, false);
		spoil_flit(n, 1, n % 2 == 0);
		assert_int_equal(weft_ide_counts(tx)->poison, 0);
	}
}

WEFT_TEST(poison_is_refused_when_the_mac_is_gone)
{
	uint8_t flit[WEFT_FLIT_LEN];

	start(WEFT_IDE_SKID, true, true);
	assert_int_equal(weft_ide_poison_last(tx, WEFT_IDE_SPOILT_CRC, 0, flit), -EALREADY);
	send_flits(3);
	assert_int_equal(weft_ide_poison_last(tx, WEFT_IDE_SPOILT_CRC, 8, flit), -EINVAL);
	assert_int_equal(rig_close(tx, flit), WEFT_IDE_CLOSE_TMAC);
	assert_int_equal(weft_ide_poison_last(tx, WEFT_IDE_SPOILT_CRC, 0, flit), -EALREADY);
	rig_receive(&rx, flit);
	assert_int_equal(rx.epochs_good, 1);

	/* IDE.Start: the full epoch's MAC is computed with the old key. */
	start(WEFT_IDE_CONTAINMENT, true, true);
	send_flits(2);
	give_next_key();
	assert_int_equal(rig_start(tx, flit), 0);
	rig_receive(&rx, flit);
	assert_int_equal(weft_ide_poison_last(tx, WEFT_IDE_SPOILT_CRC, 0, flit), -EALREADY);
	send_flits(3);
	assert_int_equal(rx.epochs_good, 2);
	assert_int_equal(rx.failures, 0);
}

WEFT_TEST(second_half_of_lopt_is_never_spoilt)
{
	uint8_t flit[WEFT_FLIT_LEN];

	for (unsigned int i = 0; i < 2; i++) {
		start(WEFT_IDE_CONTAINMENT, i == 0, true);
		free(tx);
		cfg.poison = i == 0;
		cfg.format = WEFT_IDE_LOPT;
		tx = rig_setup(lib, &cfg, key, 1);
		next_flit(flit);
		assert_int_equal(
			weft_ide_poison_last(tx, WEFT_IDE_SPOILT_SECOND_HALF, 0, flit), -ENOTSUP);
		assert_int_equal(weft_ide_poison_last(tx, WEFT_IDE_SPOILT_CRC, 0, flit), 0);
	}
}
