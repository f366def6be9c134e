/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The life of a stream beyond its epochs (wire-formats.md section 5.4): idles behind IDE.TMAC, key
 * changes in flight, IDE.Stop and the way back, and what of these is ignored where it must not be.
 */

#include "ide_pair.h"

#include "ide_priv.h"

#define IDLES_HELD (WEFT_IDE_HELD_MAX - 2 - 1) /* beside an epoch and IDE.Start */

static void
receive_made(void)
{
	uint8_t flit[WEFT_FLIT_LEN];

	memcpy(flit, plain[n_plain++], WEFT_FLIT_LEN);
	rig_receive(&rx, flit);
}

static void
send_idles(void)
{
	while (weft_ide_idles_due(tx) > 0) {
		weft_ide_idle(tx, plain[n_plain]);
		assert_int_equal(weft_llctrl_get(plain[n_plain] + 2), WEFT_LLCTRL_IDE_IDLE);
		receive_made();
	}
}

static void
send_close(void)
{
	if (weft_ide_mac_due(tx))
		send_flits(1);
	assert_int_equal(rig_close(tx, plain[n_plain]), WEFT_IDE_CLOSE_TMAC);
	receive_made();
}

static void
send_start(void)
{
	assert_int_equal(rig_start(tx, plain[n_plain]), 0);
	assert_int_equal(weft_llctrl_get(plain[n_plain] + 2), WEFT_LLCTRL_IDE_START);
	assert_int_equal(weft_ide_counter(tx), 1);
	assert_false(weft_ide_has_next_key(tx));
	receive_made();
}

static void
expect_all_delivered(void)
{
	assert_int_equal(rx.failures + rx.insecure + rx.dropped, 0);
	assert_int_equal(rx.n_out + rx.queued, n_plain);
	assert_memory_equal(rx.out, plain, rx.n_out * (size_t)WEFT_FLIT_LEN);
}

/* --- truncation --- */

WEFT_TEST(idles_follow_tmac)
{
	uint8_t flit[WEFT_FLIT_LEN];

	for (unsigned int delay = 0; delay <= 40; delay++) {
		for (unsigned int n = 1; n < 32; n++) {
			const unsigned int want = 32 - n < delay ? 32 - n : delay;

			start_with((struct weft_ide_config){ .mode = WEFT_IDE_SKID,
				.pcrc = true,
				.truncation_delay = (uint8_t)delay });
			send_flits(n);
			send_close();
			assert_int_equal(weft_ide_idles_due(tx), want);
			make_flit(flit);
			if (want > 0) {
				assert_int_equal(rig_seal(tx, flit), -EAGAIN);
				assert_int_equal(rig_seal_run(tx, flit, 1), 0);
			}
			send_idles();
			send_flits(33);
			expect_all_delivered();
			assert_int_equal(rx.epochs_good, 2);
			assert_int_equal(weft_ide_counts(rx.s)->idles_missing, 0);
		}
	}
}

/* A receiver that asked for idles counts their lack, and that is all. */
WEFT_TEST(missing_idles_are_counted)
{
	struct weft_ide_config slow = { .mode = WEFT_IDE_CONTAINMENT, .truncation_delay = 3 };

	for (unsigned int i = 0; i < 2; i++) {
		uint8_t flit[WEFT_FLIT_LEN];

		start_with((struct weft_ide_config){ .mode = WEFT_IDE_CONTAINMENT });
		weft_rand_fill(&rnd, key, sizeof(key));
		free(tx);
		free(rx.s);
		tx = rig_setup(lib, &cfg, key, 1);
		rx.s = rig_setup(lib, &slow, key, 1);
		send_flits(1);
		send_close();
		if (i == 1) {
			rig_control_flit(&rnd, plain[n_plain], WEFT_LLCTRL_IDE_IDLE);
			memcpy(flit, plain[n_plain], WEFT_FLIT_LEN);
			assert_int_equal(rig_seal(tx, flit), 0);
			receive_made();
		}
		send_flits(3);
		expect_all_delivered();
		assert_int_equal(weft_ide_counts(rx.s)->idles_missing, i == 0);
	}
}

/* --- key change --- */

WEFT_TEST(key_changes_lose_nothing)
{
	for (unsigned int i = 0; i < 400; i++) {
		const bool skid = i % 2 == 0;
		unsigned int epochs = 0;

		start_with((struct weft_ide_config){
			.mode = skid ? WEFT_IDE_SKID : WEFT_IDE_CONTAINMENT,
			.pcrc = i % 4 < 2,
			.poison = i % 3 == 0,
			.truncation_delay = (uint8_t)weft_rand_below(&rnd, 4),
			.refresh_idles = (uint8_t)weft_rand_below(&rnd, 6) });
		for (unsigned int k = 0; k < 4; k++) {
			unsigned int n = (unsigned int)weft_rand_below(&rnd, 70);

			give_next_key();
			if (n == 0 && weft_ide_mac_due(tx)) {
				assert_int_equal(weft_ide_start(tx, plain[n_plain]), -EBUSY);
				n = 1; /* the MAC of the key before must go first */
			}
			send_flits(n);
			if (n % weft_ide_epoch_flits(cfg.mode) != 0)
				send_close();
			send_start(); /* with the MAC of a full epoch still due */
			assert_int_equal(weft_ide_counter(rx.s), 1);
			assert_true(weft_ide_idles_due(tx) >= cfg.refresh_idles);
			send_idles();
			assert_int_equal(weft_ide_counts(tx)->starts, k + 1);
			assert_int_equal(weft_ide_counts(rx.s)->starts, k + 1);
			epochs++;
		}
		send_flits(1);
		send_close();
		expect_all_delivered();
		assert_int_equal(rx.n_out, n_plain);
		assert_true(rx.epochs_good >= 1 && epochs == 4);
		assert_int_equal(weft_ide_counts(rx.s)->starts_ignored, 0);
	}
}

/* Flits for seal, @p n in all: whole epochs, the first with IDE.MAC if one is due before it. */
static void
make_flits(uint8_t (*flits)[WEFT_FLIT_LEN], unsigned int n, bool mac_due)
{
	for (unsigned int i = 0; i < n; i++) {
		rig_protocol_flit(&rnd, flits[i]);
		if (i == 0 ? mac_due : i % weft_ide_epoch_flits(cfg.mode) == 0)
			rig_control_flit(&rnd, flits[i], WEFT_LLCTRL_IDE_MAC);
	}
}

/* All that the receiver gets is one row of flits, with IDE.Start somewhere in it. */
WEFT_TEST(key_changes_within_a_run)
{
	uint8_t sealed[64][WEFT_FLIT_LEN], want[64][WEFT_FLIT_LEN];
	struct weft_ide_run r;

	for (unsigned int n = 0; n <= 60; n += 2) {
		start_with((struct weft_ide_config){
			.mode = n % 32 == 0 ? WEFT_IDE_SKID : WEFT_IDE_CONTAINMENT,
			.pcrc = n % 4 == 0 });
		give_next_key();
		make_flits(want, n, false);
		memset(want[n], 0, WEFT_FLIT_LEN);
		make_flits(want + n + 1, 63 - n, n > 0);
		memcpy(sealed, want, sizeof(sealed));
		assert_int_equal(rig_seal_run(tx, sealed[0], n), n);
		assert_int_equal(rig_start(tx, sealed[n]), 0);
		assert_int_equal(rig_seal_run(tx, sealed[n + 1], 63 - n), 63 - n);
		weft_ide_open_run(rx.s, sealed[0], UINT64_MAX, &r);
		assert_int_equal(r.failed + r.insecure, 0);
		assert_int_equal(r.release + weft_ide_held(rx.s), 64);
		for (unsigned int i = 0; i < 64; i++)
			assert_memory_equal(sealed[i] + 16, want[i] + 16, 224);
		assert_int_equal(weft_ide_counts(rx.s)->starts, 1);
	}
}

static void
expect_zero(const void *mem, size_t len)
{
	const uint8_t *p = mem;

	for (size_t i = 0; i < len; i++)
		assert_int_equal(p[i], 0);
}

/* Neither the old key nor a second copy of the new one is left behind. */
WEFT_TEST(old_key_is_wiped)
{
	start_with((struct weft_ide_config){ .mode = WEFT_IDE_SKID });
	for (unsigned int i = 0; i < 3; i++) {
		give_next_key();
		send_start();
		expect_zero(tx->next_key.gcm, ide_gcm_size());
		expect_zero(&tx->next_key.pass_key, sizeof(tx->next_key.pass_key));
		expect_zero(rx.s->next_key.gcm, ide_gcm_size());
		send_flits(40);
		send_close();
	}
	give_next_key();
	weft_ide_stream_wipe(tx);
	expect_zero(tx, weft_ide_stream_size());
	expect_all_delivered();
}

WEFT_TEST(start_is_refused_where_it_must_not_be)
{
	uint8_t flit[WEFT_FLIT_LEN];

	start_with((struct weft_ide_config){
		.mode = WEFT_IDE_CONTAINMENT, .refresh_idles = IDLES_HELD + 1 });
	assert_int_equal(weft_ide_start(tx, flit), -ENOKEY);
	give_next_key();
	send_flits(1);
	assert_int_equal(weft_ide_start(tx, flit), -EBUSY); /* inside an epoch */
	send_flits(1);
	assert_int_equal(weft_ide_start(tx, flit), -EBUSY); /* one too many to hold */
	send_flits(1);
	send_close();
	send_start();
	send_idles();
	send_flits(5);
	expect_all_delivered();

	start_with((struct weft_ide_config){
		.mode = WEFT_IDE_CONTAINMENT, .refresh_idles = IDLES_HELD });
	give_next_key();
	send_flits(2);
	send_start();
	send_idles();
	assert_int_equal(weft_ide_held(rx.s), WEFT_IDE_HELD_MAX);
	send_flits(3);
	expect_all_delivered();
}

/* Inside an epoch, or without a key: the receiver goes on as if it had not come. */
WEFT_TEST(stray_start_is_ignored)
{
	uint8_t flit[WEFT_FLIT_LEN];

	for (unsigned int m = 0; m < 2; m++) {
		start_with((struct weft_ide_config){
			.mode = m == 0 ? WEFT_IDE_CONTAINMENT : WEFT_IDE_SKID });
		rig_control_flit(&rnd, flit, WEFT_LLCTRL_IDE_START);
		memcpy(plain[n_plain], flit, WEFT_FLIT_LEN);
		receive_made(); /* no key */
		send_flits(1);
		give_next_key();
		memcpy(plain[n_plain], flit, WEFT_FLIT_LEN);
		receive_made(); /* inside an epoch */
		send_flits(40);
		expect_all_delivered();
		assert_int_equal(weft_ide_counts(rx.s)->starts_ignored, 2);
		assert_int_equal(weft_ide_counts(rx.s)->starts, 0);
	}
}

/* One that an attacker puts in or takes away where it would count costs the stream, once. */
WEFT_TEST(forged_or_lost_start_fails)
{
	uint8_t flit[WEFT_FLIT_LEN];

	for (unsigned int lost = 0; lost < 2; lost++) {
		start_with((struct weft_ide_config){ .mode = WEFT_IDE_CONTAINMENT });
		send_flits(1);
		send_close();
		give_next_key();
		if (lost == 1) {
			assert_int_equal(rig_start(tx, flit), 0);
		} else {
			rig_control_flit(&rnd, flit, WEFT_LLCTRL_IDE_START);
			rig_receive(&rx, flit);
		}
		send_flits(5);
		assert_int_equal(rx.failures, 1);
		assert_int_equal(rx.epochs_good, 1);
		assert_int_equal(rx.n_out, lost == 1 ? 2 : 3);
	}
}

/* --- stop --- */

static const struct weft_ide_config with_stop = {
	.mode = WEFT_IDE_SKID, .pcrc = true, .stop = true, .truncation_delay = 2
};

WEFT_TEST(stop_ends_protection_and_start_brings_it_back)
{
	uint8_t flits[4][WEFT_FLIT_LEN], was[4][WEFT_FLIT_LEN];
	struct weft_ide_run r;

	for (unsigned int i = 0; i < 2; i++) {
		start_with(with_stop);
		cfg.mode = i == 0 ? WEFT_IDE_SKID : WEFT_IDE_CONTAINMENT;
		start_with(cfg);
		send_flits(1);
		send_close();
		assert_int_equal(rig_stop(tx, plain[n_plain]), 0);
		assert_int_equal(weft_llctrl_get(plain[n_plain] + 2), WEFT_LLCTRL_IDE_STOP);
		receive_made();
		assert_true(weft_ide_is_stopped(tx) && weft_ide_is_stopped(rx.s));
		send_idles();
		for (unsigned int k = 0; k < 4; k++) {
			rig_protocol_flit(&rnd, flits[k]);
			flits[k][240] = 1; /* Empty flits may be used again */
		}
		memcpy(was, flits, sizeof(was));
		assert_int_equal(rig_seal_run(tx, flits[0], 4), 4);
		weft_ide_open_run(rx.s, flits[0], 0xF, &r);
		assert_int_equal(r.release, 4);
		assert_memory_equal(flits, was, sizeof(was));
		give_next_key();
		send_start();
		assert_false(weft_ide_is_stopped(tx) || weft_ide_is_stopped(rx.s));
		send_flits(1);
		send_close();
		expect_all_delivered();
		assert_int_equal(rx.epochs_good, 2);
		assert_int_equal(weft_ide_counts(rx.s)->stops, 1);
		assert_int_equal(weft_ide_counts(rx.s)->stops_ignored, 0);
		assert_int_equal(weft_ide_counts(rx.s)->idles_missing, 0);
	}
}

/* Poison that had no flit to ride on is let go: there will be no MAC. */
WEFT_TEST(stop_lets_waiting_poison_go)
{
	struct weft_ide_config c = with_stop;
	uint8_t flit[WEFT_FLIT_LEN];

	c.mode = WEFT_IDE_CONTAINMENT;
	c.poison = true;
	start_with(c);
	send_flits(1);
	weft_ide_poison_put(plain[n_plain], 3);
	receive_made();
	send_close();
	assert_int_equal(weft_ide_held(rx.s), 2);
	rig_protocol_flit(&rnd, plain[n_plain]);
	plain[n_plain][0] &= 0x3F; /* another protocol's may come between */
	memcpy(flit, plain[n_plain], WEFT_FLIT_LEN);
	assert_int_equal(rig_seal(tx, flit), 0);
	receive_made();
	assert_int_equal(weft_ide_held(rx.s), 3);
	assert_int_equal(rig_stop(tx, plain[n_plain]), 0);
	receive_made();
	assert_int_equal(rx.n_out, n_plain);
	send_flits(3);
	expect_all_delivered();
	give_next_key();
	send_start();
	send_idles();
	send_flits(1);
	send_close();
	assert_int_equal(rx.epochs_good, 2);
	expect_all_delivered();
}

WEFT_TEST(mac_in_clear_text_fails)
{
	uint8_t flit[WEFT_FLIT_LEN];

	for (unsigned int i = 0; i < 2; i++) {
		start_with(with_stop);
		send_flits(1);
		send_close();
		assert_int_equal(rig_stop(tx, plain[n_plain]), 0);
		receive_made();
		rig_control_flit(&rnd, flit, i == 0 ? WEFT_LLCTRL_IDE_MAC : WEFT_LLCTRL_IDE_TMAC);
		if (i == 0)
			assert_int_equal(rig_seal(tx, flit), -EPROTO);
		rig_receive(&rx, flit);
		assert_int_equal(rx.failures, 1);
	}
}

WEFT_TEST(stop_is_refused_where_it_must_not_be)
{
	struct weft_ide_config off = with_stop;
	uint8_t flit[WEFT_FLIT_LEN];

	off.stop = false;
	start_with(off);
	send_flits(1);
	send_close();
	assert_int_equal(weft_ide_stop(tx, flit), -EPERM);
	start_with(with_stop);
	assert_int_equal(weft_ide_stop(tx, flit), -EPROTO);
	send_flits(1);
	assert_int_equal(weft_ide_stop(tx, flit), -EPROTO);
	send_close();
	weft_ide_idle(tx, flit);
	assert_int_equal(weft_ide_stop(tx, flit), -EPROTO); /* something between */
}

WEFT_TEST(stray_stop_is_ignored)
{
	static const enum weft_llctrl between[] = { WEFT_LLCTRL_IDE_IDLE, WEFT_LLCTRL_VIRAL,
		WEFT_LLCTRL_IDE_START };
	unsigned int ignored = 0;

	/* Not enabled. */
	start_with((struct weft_ide_config){ .mode = WEFT_IDE_SKID });
	send_flits(1);
	send_close();
	rig_control_flit(&rnd, plain[n_plain], WEFT_LLCTRL_IDE_STOP);
	receive_made();
	assert_int_equal(weft_ide_counts(rx.s)->stops_ignored, 1);
	send_flits(40);
	expect_all_delivered();

	/* At the start, inside an epoch, behind a full one, and with something between. */
	start_with((struct weft_ide_config){ .mode = WEFT_IDE_SKID, .stop = true });
	for (unsigned int i = 0; i < 3; i++) {
		rig_control_flit(&rnd, plain[n_plain], WEFT_LLCTRL_IDE_STOP);
		receive_made();
		assert_int_equal(weft_ide_counts(rx.s)->stops_ignored, ++ignored);
		send_flits(i == 0 ? 5 : 27);
	}
	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(between); i++) {
		send_flits(1);
		send_close();
		rig_control_flit(&rnd, plain[n_plain], between[i]);
		receive_made();
		rig_control_flit(&rnd, plain[n_plain], WEFT_LLCTRL_IDE_STOP);
		receive_made();
		assert_int_equal(weft_ide_counts(rx.s)->stops_ignored, ++ignored);
	}
	send_flits(40);
	expect_all_delivered();
	assert_false(weft_ide_is_stopped(rx.s));
	assert_int_equal(weft_ide_counts(rx.s)->stops, 0);
}

/* --- what is not used while IDE is on --- */

WEFT_TEST(empty_flits_are_refused)
{
	uint8_t flit[3][WEFT_FLIT_LEN], was[WEFT_FLIT_LEN];

	for (unsigned int m = 0; m < 2; m++) {
		for (unsigned int at = 0; at < 3; at++) {
			start_with((struct weft_ide_config){
				.mode = m == 0 ? WEFT_IDE_CONTAINMENT : WEFT_IDE_SKID });
			send_flits(m == 0 ? 2 : 1); /* containment: runs of whole epochs follow */
			for (unsigned int i = 0; i < 3; i++) {
				rig_protocol_flit(&rnd, flit[i]);
				if (m == 0 && i != 1)
					rig_control_flit(&rnd, flit[i], WEFT_LLCTRL_IDE_MAC);
			}
			flit[at][240] = (uint8_t)((flit[at][240] & 0xE0) | 1);
			memcpy(was, flit[at], WEFT_FLIT_LEN);
			assert_int_equal(rig_seal_run(tx, flit[0], 3), at);
			assert_memory_equal(flit[at], was, WEFT_FLIT_LEN);
			assert_int_equal(rig_seal(tx, flit[at]), -EINVAL);
			assert_memory_equal(flit[at], was, WEFT_FLIT_LEN);
		}
	}
}

/* --- the monitor itself --- */

/*
 * What a stream that is set up twice with one key would send is found out; the same again is not.
 */
WEFT_TEST(monitor_finds_a_key_used_twice)
{
	uint8_t flit[2][WEFT_FLIT_LEN], mac[2][WEFT_FLIT_LEN];
	const struct weft_ide_config c = { .mode = WEFT_IDE_CONTAINMENT };
	const uint64_t seed = UINT64_C(0xCBF29CE484222325);
	struct weft_ide_monitor *m;

	start_with(c);
	weft_rand_fill(&rnd, key, sizeof(key));
	for (unsigned int i = 0; i < 2; i++) {
		free(tx);
		tx = rig_setup(lib, &c, key, 1);
		make_flit(flit[i]);
		assert_int_equal(weft_ide_seal(tx, flit[i]), 0); /* the monitor does not hear it */
		assert_int_equal(weft_ide_close(tx, mac[i]), WEFT_IDE_CLOSE_TMAC);
	}
	m = rig_monitor(tx);
	for (unsigned int i = 0; i < 4; i++) {
		const uint8_t *f = flit[i / 2], *t = mac[i / 2];

		assert_int_equal(weft_ide_agrees(m->key, 1, 0, weft_ide_ciphertext(m, f)), i < 2);
		assert_int_equal(weft_ide_agrees(m->key, 1, WEFT_IDE_SEEN_MAC,
					 weft_ide_hash(t + 4, WEFT_IDE_MAC_LEN, seed)),
			i < 2);
	}
}
