/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * One epoch of every length, in both modes and formats, with and without PCRC and Poison, sealed by
 * runs and flit by flit with the best and the least of the code paths: byte for byte what a
 * reference on OpenSSL gives, and opened again. Then every bit of epochs turned, one at a time.
 */

#include "ide_rig.h"

#include "weft_cpu.h"

#define WIRE_MAX (WEFT_IDE_EPOCH_MAX * (1 + WEFT_IDE_POISON_MAX) + 1) /* and the MAC */

static struct weft_rand rnd;

/* An epoch on its way, Poison among its flits, and the flit that brings its MAC. */
static struct {
	struct weft_ide_config cfg;
	uint8_t key[WEFT_IDE_KEY_LEN];
	uint64_t counter;
	unsigned int n, n_poison;
	uint8_t plain[WIRE_MAX][WEFT_FLIT_LEN], wire[WIRE_MAX][WEFT_FLIT_LEN];
} ep;

static bool
is_poison(const uint8_t *flit)
{
	return weft_llctrl_get(flit + 2) == WEFT_LLCTRL_POISON;
}

/* @p flits protocol flits; in front of each, sometimes, as much Poison as there may be, or less. */
static void
make_epoch(unsigned int flits)
{
	ep.n = 0;
	ep.n_poison = 0;
	for (unsigned int i = 0; i < flits; i++) {
		unsigned int poison =
			weft_rand_below(&rnd, 3) == 0
				? (unsigned int)weft_rand_below(&rnd, WEFT_IDE_POISON_MAX + 1)
				: 0;

		for (; ep.cfg.poison && poison > 0; poison--) {
			rig_control_flit(&rnd, ep.plain[ep.n++], WEFT_LLCTRL_POISON);
			ep.n_poison++;
		}
		rig_protocol_flit(&rnd, ep.plain[ep.n++]);
	}
}

static void
seal_epoch(struct weft_ide_stream *tx, bool by_runs)
{
	memcpy(ep.wire, ep.plain, sizeof(ep.wire));
	for (unsigned int i = 0, n; i < ep.n; i += n) {
		n = by_runs ? 1 + (unsigned int)weft_rand_below(&rnd, 64) : 1;
		if (n > ep.n - i)
			n = ep.n - i;
		if (by_runs)
			assert_int_equal(rig_seal_run(tx, ep.wire[i], n), n);
		else
			assert_int_equal(rig_seal(tx, ep.wire[i]), 0);
	}
	if (weft_ide_mac_due(tx)) {
		rig_control_flit(&rnd, ep.wire[ep.n], WEFT_LLCTRL_IDE_MAC);
		assert_int_equal(rig_seal(tx, ep.wire[ep.n]), 0);
	} else {
		assert_int_equal(rig_close(tx, ep.wire[ep.n]), WEFT_IDE_CLOSE_TMAC);
	}
}

static void
check_epoch(void)
{
	const bool is_lopt = ep.cfg.format == WEFT_IDE_LOPT;
	static struct ref_epoch e;
	uint8_t slots[WEFT_FLIT_LEN], want[WEFT_FLIT_LEN], tag[16];
	size_t at = 0;

	e.aad_len = 0;
	e.p_len = 0;
	for (unsigned int i = 0; i < ep.n; i++) {
		memcpy(slots, ep.plain[i], WEFT_FLIT_LEN);
		if (is_lopt)
			ref_from_lopt(slots, ep.plain[i]);
		if (is_poison(ep.plain[i]))
			ref_poison(&e, ep.plain[i]);
		else
			ref_add(&e, slots);
	}
	ref_end(&e, ep.key, ep.counter, ep.cfg.pcrc, tag);
	for (unsigned int i = 0; i < ep.n; i++) {
		memcpy(want, ep.plain[i], WEFT_FLIT_LEN);
		if (!is_poison(want)) {
			memcpy(slots, want, WEFT_FLIT_LEN);
			at += ref_put(slots, e.p + at);
			if (is_lopt)
				ref_to_lopt(want, slots);
			else
				memcpy(want, slots, WEFT_FLIT_LEN);
		}
		assert_memory_equal(ep.wire[i], want, WEFT_FLIT_LEN);
	}
	assert_memory_equal(ep.wire[ep.n] + 4, tag, WEFT_IDE_MAC_LEN);
}

static void
open_epoch(struct weft_ide_lib *lib, bool by_runs)
{
	static struct rig_rx rx;

	if (by_runs) {
		struct weft_ide_stream *s = rig_setup(lib, &ep.cfg, ep.key, ep.counter);
		unsigned int good = 0;

		for (unsigned int i = 0, n; i <= ep.n; i += n) {
			struct weft_ide_run r = { 0 };

			n = ep.n + 1 - i < 64 ? ep.n + 1 - i : 64;
			weft_ide_open_run(s, ep.wire[i], weft_mask64(n), &r);
			assert_int_equal(r.failed, 0);
			good += r.epochs_good;
		}
		assert_int_equal(good, 1);
		assert_memory_equal(ep.wire, ep.plain, ep.n * (size_t)WEFT_FLIT_LEN);
		free(s);
		return;
	}
	memset(&rx, 0, sizeof(rx));
	rx.s = rig_setup(lib, &ep.cfg, ep.key, ep.counter);
	for (unsigned int i = 0; i <= ep.n; i++)
		rig_receive(&rx, ep.wire[i]);
	assert_int_equal(rx.failures, 0);
	assert_int_equal(rx.epochs_good, 1);
	assert_true(rx.n_out >= ep.n);
	assert_memory_equal(rx.out, ep.plain, ep.n * (size_t)WEFT_FLIT_LEN);
	free(rx.s);
}

static void
epochs_of_every_length(uint32_t features, const char *name)
{
	struct weft_ide_lib *lib = weft_ide_lib_open(features);
	unsigned int poison = 0;

	assert_non_null(lib);
	weft_test_seed(&rnd, name);
	for (unsigned int i = 0; i < 2 * 2 * 2 * 2 * 2; i++) {
		ep.cfg = (struct weft_ide_config){ .mode = i / 2 % 2 == 0 ? WEFT_IDE_SKID
			                                                  : WEFT_IDE_CONTAINMENT,
			.format = i / 4 % 2 == 0 ? WEFT_IDE_STANDARD : WEFT_IDE_LOPT,
			.pcrc = i / 8 % 2 == 0,
			.poison = i / 16 == 0 };
		for (unsigned int k = 1; k <= 6 * weft_ide_epoch_flits(ep.cfg.mode); k++) {
			const unsigned int flits = 1 + k % weft_ide_epoch_flits(ep.cfg.mode);
			struct weft_ide_stream *tx;

			weft_rand_fill(&rnd, ep.key, sizeof(ep.key));
			ep.counter = weft_rand_u64(&rnd);
			make_epoch(flits);
			poison += ep.n_poison;
			tx = rig_setup(lib, &ep.cfg, ep.key, ep.counter);
			seal_epoch(tx, i % 2 == 0);
			check_epoch();
			open_epoch(lib, i % 2 == 0);
			free(tx);
		}
	}
	assert_true(poison > 500);
	weft_ide_lib_close(lib);
}

WEFT_TEST(best_path)
{
	epochs_of_every_length(weft_cpu_detect(), "best path");
}

WEFT_TEST(least_path)
{
	epochs_of_every_length(0, "least path");
}

/* The most Poison that there may be: all that the format has, in front of every flit. */
WEFT_TEST(epoch_full_of_poison)
{
	for (unsigned int i = 0; i < 2; i++) {
		struct weft_ide_lib *lib = weft_ide_lib_open(i == 0 ? weft_cpu_detect() : 0);
		struct weft_ide_stream *tx;

		ep.cfg = (struct weft_ide_config){
			.mode = WEFT_IDE_SKID, .pcrc = true, .poison = true
		};
		ep.n = 0;
		for (unsigned int k = 0; k < WEFT_IDE_EPOCH_MAX; k++) {
			for (unsigned int m = 0; m < WEFT_IDE_POISON_MAX; m++)
				rig_control_flit(&rnd, ep.plain[ep.n++], WEFT_LLCTRL_POISON);
			rig_protocol_flit(&rnd, ep.plain[ep.n++]);
		}
		weft_rand_fill(&rnd, ep.key, sizeof(ep.key));
		tx = rig_setup(lib, &ep.cfg, ep.key, ep.counter);
		seal_epoch(tx, true);
		check_epoch();
		open_epoch(lib, true);
		free(tx);
		weft_ide_lib_close(lib);
	}
}

/*
 * A run of 63 flits and the flit that closes it, with bit @p bit of flit @p f turned: one failure,
 * and in containment nothing of the epoch, nor of the one whose MAC it was, is let go.
 */
static void
turn_bit_in_run(
	struct weft_ide_lib *lib, uint8_t (*wire)[WEFT_FLIT_LEN], unsigned int f, unsigned int bit)
{
	const unsigned int epoch = weft_ide_epoch_flits(ep.cfg.mode);
	const bool in_mac = rig_is_mac(wire[f]) && bit < 16 * 8;
	struct weft_ide_stream *rx = rig_setup(lib, &ep.cfg, ep.key, 1);
	struct weft_ide_run r;

	memcpy(ep.wire, wire, 64 * (size_t)WEFT_FLIT_LEN);
	ep.wire[f][bit / 8] ^= (uint8_t)(1 << bit % 8);
	weft_ide_open_run(rx, ep.wire[0], UINT64_MAX, &r);
	assert_true(r.failed > 0 && weft_ide_is_insecure(rx));
	assert_int_equal(r.release + r.failed + r.insecure, 64);
	if (f < 63)
		assert_true(r.epochs_good <= f / epoch - in_mac);
	if (ep.cfg.mode == WEFT_IDE_CONTAINMENT && f < 63)
		assert_true(r.release <= f / epoch * epoch - (in_mac ? epoch : 0));
	free(rx);
}

WEFT_TEST(every_bit_of_a_run_counts)
{
	struct weft_ide_lib *lib = weft_ide_lib_open(weft_cpu_detect());
	static uint8_t wire[64][WEFT_FLIT_LEN];

	for (unsigned int i = 0; i < 4; i++) {
		const unsigned int step = weft_test_is_again() ? 31 : i < 2 ? 1 : 7;
		struct weft_ide_stream *tx;

		ep.cfg = (struct weft_ide_config){
			.mode = i % 2 == 0 ? WEFT_IDE_CONTAINMENT : WEFT_IDE_SKID, .pcrc = i < 2
		};
		weft_rand_fill(&rnd, ep.key, sizeof(ep.key));
		tx = rig_setup(lib, &ep.cfg, ep.key, 1);
		for (unsigned int f = 0; f < 63; f++) {
			rig_protocol_flit(&rnd, wire[f]);
			if (weft_ide_mac_due(tx))
				rig_control_flit(&rnd, wire[f], WEFT_LLCTRL_IDE_MAC);
			assert_int_equal(rig_seal(tx, wire[f]), 0);
		}
		assert_int_equal(rig_close(tx, wire[63]), WEFT_IDE_CLOSE_TMAC);
		for (unsigned int f = i % 2 == 0 ? 48 : 0; f < 64; f++) {
			const unsigned int from = f == 63 ? 4 * 8 : 2 * 8;
			const unsigned int to = f == 63 ? 16 * 8 : 242 * 8;

			for (unsigned int bit = from; bit < to; bit += step)
				if (!rig_is_mac(wire[f]) || bit / 8 != 3 ||
					bit % 8 < 4) /* reserved */
					turn_bit_in_run(lib, wire, f, bit);
		}
		free(tx);
	}
	weft_ide_lib_close(lib);
}

/* Whether IDE has bit @p bit of an LOpt protocol flit in its text or AAD. */
static bool
lopt_covers(unsigned int bit)
{
	const unsigned int byte = bit / 8;

	return (byte >= 2 && byte < 122) || (byte >= 128 && byte < 244);
}

WEFT_TEST(every_bit_of_an_lopt_epoch_counts)
{
	struct weft_ide_lib *lib = weft_ide_lib_open(weft_cpu_detect());
	static struct rig_rx rx;

	ep.cfg = (struct weft_ide_config){
		.mode = WEFT_IDE_CONTAINMENT, .format = WEFT_IDE_LOPT, .pcrc = true
	};
	for (unsigned int f = 0; f < 2; f++) {
		for (unsigned int bit = 0; bit < WEFT_FLIT_LEN * 8; bit++) {
			struct weft_ide_stream *tx;

			weft_rand_fill(&rnd, ep.key, sizeof(ep.key));
			make_epoch(2);
			tx = rig_setup(lib, &ep.cfg, ep.key, 1);
			seal_epoch(tx, false);
			ep.wire[f][bit / 8] ^= (uint8_t)(1 << bit % 8);
			memset(&rx, 0, sizeof(rx));
			rx.s = rig_setup(lib, &ep.cfg, ep.key, 1);
			for (unsigned int i = 0; i < 3; i++)
				rig_receive(&rx, ep.wire[i]);
			/* Bits 6 and 7 say whether it is a protocol flit at all. */
			if (lopt_covers(bit) || bit == 6 || bit == 7) {
				assert_int_equal(rx.failures, 1);
				assert_true(rx.n_out == (bit / 2 == 3 && f == 0));
			} else {
				assert_int_equal(rx.failures, 0);
				assert_int_equal(rx.n_out, 2);
			}
			free(tx);
			free(rx.s);
		}
	}
	weft_ide_lib_close(lib);
}

/* Poison in the HS-slot is in P like any slot: nothing is added, and it cannot be touched. */
WEFT_TEST(poison_in_the_hs_slot_is_text)
{
	struct weft_ide_lib *lib = weft_ide_lib_open(weft_cpu_detect());

	ep.cfg = (struct weft_ide_config){
		.mode = WEFT_IDE_CONTAINMENT, .format = WEFT_IDE_LOPT, .pcrc = true
	};
	for (unsigned int i = 0; i < 2; i++) {
		struct weft_ide_stream *tx;

		ep.cfg.poison = i == 0;
		weft_rand_fill(&rnd, ep.key, sizeof(ep.key));
		ep.n = 2;
		rig_protocol_flit(&rnd, ep.plain[0]);
		rig_protocol_flit(&rnd, ep.plain[1]);
		memcpy(ep.plain[1] + 128, (const uint8_t[]){ 0x38, 0x01, 0x03 }, 3);
		ep.counter = 1;
		tx = rig_setup(lib, &ep.cfg, ep.key, ep.counter);
		seal_epoch(tx, false);
		check_epoch();
		assert_memory_not_equal(ep.wire[1] + 128, ep.plain[1] + 128, 10);
		assert_int_equal(weft_ide_counts(tx)->poison, 0);
		open_epoch(lib, false);
		free(tx);
	}
	weft_ide_lib_close(lib);
}
