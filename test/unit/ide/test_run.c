/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Runs against single flits: the same flits through both, whatever the split into runs, control
 * flits, IDE.TMAC, key changes, late poison, flits that are refused, damaged, lost, repeated or
 * swapped. Every byte of every
 * flit, every verdict and every count must be the same. The single-flit path is held against
 * OpenSSL in test_openssl.c, and so are runs.
 */

#include "ide_rig.h"

#include "weft_cpu.h"
#include "weft_guard.h"

#define N 320

static struct weft_rand rnd;
static uint8_t key[WEFT_IDE_KEY_LEN];

/* What a sender does in turn; a flit each. SPOILT: Poison for the flit before it. */
enum op { OP_SEAL, OP_REFUSED, OP_CLOSE, OP_START, OP_SPOILT };

static struct script {
	struct weft_ide_config cfg;
	uint64_t counter;
	unsigned int n;
	enum op op[N];
	uint8_t plain[N][WEFT_FLIT_LEN], sealed[N][WEFT_FLIT_LEN];
} script;

static unsigned int good, starts, poison; /* that receivers saw */
static uint8_t single[N][WEFT_FLIT_LEN], run[N][WEFT_FLIT_LEN];

static unsigned int
below(unsigned int n)
{
	return (unsigned int)weft_rand_below(&rnd, n);
}

/* Have the key ready that the stream takes at its next IDE.Start. */
static void
next_key(struct weft_ide_stream *s, struct weft_ide_lib *lib)
{
	uint8_t k[WEFT_IDE_KEY_LEN];

	memcpy(k, key, sizeof(k));
	k[0] = (uint8_t)(k[0] + 1 + weft_ide_counts(s)->starts);
	if (!weft_ide_has_next_key(s))
		rig_next_key(s, lib, k);
}

/* What weft_ide_seal() is not for. @return whether the stream made the flit */
static bool
make_flit(struct weft_ide_stream *tx, enum op op, uint8_t *flit)
{
	switch (op) {
	case OP_CLOSE: return rig_close(tx, flit) == WEFT_IDE_CLOSE_TMAC;
	case OP_START: return rig_start(tx, flit) == 0;
	case OP_SPOILT: return weft_ide_poison_last(tx, WEFT_IDE_SPOILT_CRC, 6, flit) == 0;
	default: return false;
	}
}

static bool
is_for_seal(enum op op)
{
	return op == OP_SEAL || op == OP_REFUSED;
}

static enum op
next_op(struct weft_ide_stream *tx, unsigned int closes, uint8_t *flit)
{
	static const enum weft_llctrl control[] = { WEFT_LLCTRL_IDE_IDLE, WEFT_LLCTRL_POISON,
		WEFT_LLCTRL_VIRAL, WEFT_LLCTRL_IDE_TMAC };
	static const enum op made[] = { OP_CLOSE, OP_CLOSE, OP_CLOSE, OP_START, OP_SPOILT };
	const unsigned int dice = below(100);

	rig_protocol_flit(&rnd, flit);
	if (dice < closes)
		return made[below(WEFT_ARRAY_SIZE(made))];
	if (dice < 10) {
		rig_control_flit(&rnd, flit, control[below(below(8) == 0 ? 4 : 3)]);
		return OP_SEAL;
	}
	if (dice < 12) {
		flit[0] = (uint8_t)(flit[0] & 0x3F); /* another protocol's */
		return OP_SEAL;
	}
	if (weft_ide_mac_due(tx) != (dice == 12))
		rig_control_flit(&rnd, flit, WEFT_LLCTRL_IDE_MAC);
	if (dice == 13)
		flit[240] = 0xE1; /* Empty */
	return dice < 14 ? OP_REFUSED : OP_SEAL;
}

/* Make a script, sealed flit by flit. */
static void
make_script(struct weft_ide_lib *lib)
{
	const unsigned int closes = below(6);
	struct weft_ide_stream *tx;

	weft_rand_fill(&rnd, key, sizeof(key));
	script.cfg = (struct weft_ide_config){ .mode = below(2) == 0 ? WEFT_IDE_SKID
		                                                     : WEFT_IDE_CONTAINMENT,
		.format = below(8) == 0 ? WEFT_IDE_LOPT : WEFT_IDE_STANDARD,
		.pcrc = below(2) == 0,
		.poison = below(2) == 0,
		.stop = below(2) == 0 };
	script.counter = below(4) == 0 ? UINT64_MAX - below(5) : weft_rand_u64(&rnd);
	script.n = 1 + below(N);
	tx = rig_setup(lib, &script.cfg, key, script.counter);
	for (unsigned int i = 0; i < script.n; i++) {
		uint8_t *flit = script.sealed[i];

		next_key(tx, lib);
		script.op[i] = next_op(tx, closes, script.plain[i]);
		memcpy(flit, script.plain[i], WEFT_FLIT_LEN);
		if (!is_for_seal(script.op[i]) && !make_flit(tx, script.op[i], flit)) {
			script.op[i] = OP_SEAL; /* not possible here: a control flit instead */
			rig_control_flit(&rnd, script.plain[i], WEFT_LLCTRL_IDE_IDLE);
			memcpy(flit, script.plain[i], WEFT_FLIT_LEN);
		}
		if (is_for_seal(script.op[i]))
			assert_int_equal(rig_seal(tx, flit) != 0, script.op[i] == OP_REFUSED);
	}
	free(tx);
}

/* Flits of a call: one, a few, or as many as there can be. */
static unsigned int
pick_length(unsigned int left)
{
	static const unsigned int most[] = { 1, 2, 3, 8, 8, 33, 64 };
	const unsigned int n = 1 + below(most[below(WEFT_ARRAY_SIZE(most))]);

	return n < left ? n : left;
}

/* --- sender --- */

/* Up to @p n flits from @p i on, to the next that is no weft_ide_seal(). @return how many */
static unsigned int
seal_some(struct weft_ide_stream *tx, unsigned int i, unsigned int n)
{
	unsigned int k = 0;

	if (below(8) == 0)
		return rig_seal(tx, run[i]) == 0;
	while (k < n && script.op[i + k] == OP_SEAL)
		k++;
	assert_int_equal(rig_seal_run(tx, run[i], n), k);
	return k;
}

static void
seal_by_runs(struct weft_ide_lib *lib)
{
	struct weft_ide_stream *tx = rig_setup(lib, &script.cfg, key, script.counter);
	unsigned int i = 0;

	memcpy(run, script.plain, sizeof(run));
	while (i < script.n) {
		unsigned int n = pick_length(script.n - i);

		next_key(tx, lib);
		if (!is_for_seal(script.op[i])) {
			assert_true(make_flit(tx, script.op[i], run[i]));
			i++;
			continue;
		}
		for (unsigned int k = 0; k < n; k++)
			if (!is_for_seal(script.op[i + k]))
				n = k;
		i += seal_some(tx, i, n);
		if (i < script.n && script.op[i] == OP_REFUSED) {
			assert_int_equal(rig_seal_run(tx, run[i], 1), 0);
			i++;
		}
	}
	for (i = 0; i < script.n; i++)
		assert_memory_equal(run[i], script.sealed[i], WEFT_FLIT_LEN);
	free(tx);
}

/* --- receiver --- */

/* Turn a bit, or drop, repeat or swap flits; often nothing. */
static void
damage(void)
{
	const unsigned int at = below(script.n), what = below(8);
	uint8_t(*f)[WEFT_FLIT_LEN] = script.sealed;
	uint8_t t[WEFT_FLIT_LEN];

	if (what == 0) {
		const unsigned int bit = below(WEFT_FLIT_LEN * 8);

		f[at][bit / 8] ^= (uint8_t)(1 << bit % 8);
	} else if (what == 1) {
		const unsigned int bit = 2 * 8 + below(14 * 8);

		f[at][bit / 8] ^= (uint8_t)(1 << bit % 8);
	} else if (what == 2) {
		memmove(f[at], f[at + 1], (script.n - at - 1) * (size_t)WEFT_FLIT_LEN);
		script.n--;
	} else if (what == 3 && at > 0) {
		memcpy(f[at], f[at - 1], WEFT_FLIT_LEN);
	} else if (what == 4 && at > 0) {
		memcpy(t, f[at], WEFT_FLIT_LEN);
		memcpy(f[at], f[at - 1], WEFT_FLIT_LEN);
		memcpy(f[at - 1], t, WEFT_FLIT_LEN);
	}
}

/* As it arrives: not what the sender refused, and Poison before the flit that was spoilt. */
static void
order_of_arrival(void)
{
	uint8_t moved[WEFT_FLIT_LEN];
	unsigned int n = 0, last = 0;

	for (unsigned int i = 0; i < script.n; i++) {
		if (script.op[i] == OP_REFUSED)
			continue;
		memmove(script.sealed[n], script.sealed[i], WEFT_FLIT_LEN);
		if (script.op[i] == OP_SPOILT && n > last) {
			memcpy(moved, script.sealed[n], WEFT_FLIT_LEN);
			memmove(script.sealed[last + 1], script.sealed[last],
				(n - last) * (size_t)WEFT_FLIT_LEN);
			memcpy(script.sealed[last++], moved, WEFT_FLIT_LEN);
		} else if (weft_flit_is_protocol(script.sealed[n])) {
			last = n;
		}
		n++;
	}
	script.n = n;
}

static void
open_one(struct weft_ide_stream *rx, uint8_t *flit, struct weft_ide_run *r)
{
	struct weft_ide_event e;

	weft_ide_open(rx, flit, &e);
	/* The order that a run's sums stand for: nothing is released behind a failure. */
	assert_true(e.release == 0 || r->failed + r->insecure == 0);
	r->release = (uint8_t)(r->release + e.release);
	r->epochs_good = (uint8_t)(r->epochs_good + e.epoch_good);
	if (e.verdict == WEFT_DROP_IDE_MAC)
		r->failed = e.dropped;
	else if (e.verdict == WEFT_DROP_IDE_INSECURE)
		r->insecure++;
}

static void
open_by_runs(struct weft_ide_lib *lib)
{
	struct weft_ide_stream *one = rig_setup(lib, &script.cfg, key, script.counter);
	struct weft_ide_stream *many = rig_setup(lib, &script.cfg, key, script.counter);

	memcpy(single, script.sealed, sizeof(single));
	memcpy(run, script.sealed, sizeof(run));
	for (unsigned int i = 0, n; i < script.n; i += n) {
		struct weft_ide_run want = { 0 }, got;
		uint64_t live;

		next_key(one, lib);
		next_key(many, lib);
		n = pick_length(script.n - i);
		live = weft_mask64(n) & (below(4) == 0 ? weft_rand_u64(&rnd) : UINT64_MAX);
		for (unsigned int k = 0; k < n; k++)
			if ((live >> k & 1) != 0)
				open_one(one, single[i + k], &want);
		if (below(8) == 0) {
			memset(&got, 0, sizeof(got));
			for (unsigned int k = 0; k < n; k++)
				if ((live >> k & 1) != 0)
					open_one(many, run[i + k], &got);
		} else {
			memset(&got, 0xFF, sizeof(got));
			weft_ide_open_run(many, run[i], live, &got);
		}
		assert_memory_equal(&got, &want, sizeof(got));
		assert_int_equal(weft_ide_held(many), weft_ide_held(one));
		assert_int_equal(weft_ide_is_insecure(many), weft_ide_is_insecure(one));
		assert_memory_equal(weft_ide_counts(many), weft_ide_counts(one),
			sizeof(struct weft_ide_counts));
		good += got.epochs_good;
		starts += weft_ide_counts(one)->starts > 0;
		poison += weft_ide_counts(one)->poison > 0;
	}
	for (unsigned int i = 0; i < script.n; i++)
		assert_memory_equal(run[i], single[i], WEFT_FLIT_LEN);
	free(one);
	free(many);
}

static void
runs_do_what_single_flits_do(uint32_t features, const char *name)
{
	struct weft_ide_lib *lib = weft_ide_lib_open(features);

	assert_non_null(lib);
	weft_test_seed(&rnd, name);
	for (unsigned int i = 0; i < 1500; i++) {
		make_script(lib);
		seal_by_runs(lib);
		order_of_arrival();
		if (script.n > 1)
			damage();
		open_by_runs(lib);
	}
	printf("%u epochs good, %u runs behind a key change, %u behind poison\n", good, starts,
		poison);
	assert_true(good > 1000 && starts > 100 && poison > 100);
	weft_ide_lib_close(lib);
}

/* Every length of an epoch that IDE.TMAC ends, in each place of a run, before a guard page. */
WEFT_TEST(short_epochs)
{
	struct weft_ide_lib *lib = weft_ide_lib_open(weft_cpu_detect());
	struct weft_guard g;

	weft_test_seed(&rnd, "short epochs");
	weft_guard_open(&g, 33 * WEFT_FLIT_LEN);
	for (unsigned int i = 0; i < 2 * 31; i++) {
		const unsigned int n = 1 + i / 2;
		const bool pcrc = i % 2 == 0;
		struct weft_ide_stream *one, *tx, *rx;

		weft_rand_fill(&rnd, key, sizeof(key));
		one = rig_stream(lib, WEFT_IDE_SKID, key, 1, pcrc);
		tx = rig_stream(lib, WEFT_IDE_SKID, key, 1, pcrc);
		rx = rig_stream(lib, WEFT_IDE_SKID, key, 1, pcrc);

		/* Thrice: the stream must be as new behind each. */
		for (unsigned int again = 1; again <= 3; again++) {
			uint8_t *flits = weft_guard_last(&g, (n + 1) * (size_t)WEFT_FLIT_LEN);
			struct weft_ide_run r;

			for (unsigned int k = 0; k < n; k++) {
				rig_protocol_flit(&rnd, single[k]);
				memcpy(run[k], single[k], WEFT_FLIT_LEN);
				assert_int_equal(rig_seal(one, single[k]), 0);
			}
			assert_int_equal(rig_close(one, single[n]), WEFT_IDE_CLOSE_TMAC);
			memcpy(flits + WEFT_FLIT_LEN, run, n * (size_t)WEFT_FLIT_LEN);
			assert_int_equal(rig_seal_run(tx, flits + WEFT_FLIT_LEN, n), n);
			memmove(flits, flits + WEFT_FLIT_LEN, n * (size_t)WEFT_FLIT_LEN);
			assert_int_equal(rig_close(tx, flits + n * (size_t)WEFT_FLIT_LEN),
				WEFT_IDE_CLOSE_TMAC);
			assert_memory_equal(flits, single, (n + 1) * (size_t)WEFT_FLIT_LEN);
			weft_ide_open_run(rx, flits, weft_mask64(n + 1), &r);
			assert_int_equal(r.release, n + 1);
			assert_int_equal(r.epochs_good, 1);
			assert_memory_equal(flits, run, n * (size_t)WEFT_FLIT_LEN);
		}
		free(one);
		free(tx);
		free(rx);
	}
	weft_guard_close(&g);
	weft_ide_lib_close(lib);
}

/* The tests above compare a kernel with the path without it only if there is one. */
WEFT_TEST(kernel_is_in_use_where_the_cpu_has_it)
{
	struct weft_ide_lib *best = weft_ide_lib_open(weft_cpu_detect());
	struct weft_ide_lib *least = weft_ide_lib_open(0);

	assert_string_equal(weft_ide_lib_run_kernel(least), "none");
	if (strcmp(weft_ide_lib_kernel(best), "avx512-vaes") == 0)
		assert_string_equal(weft_ide_lib_run_kernel(best), "vaes512");
	else if (strcmp(weft_ide_lib_run_kernel(best), "aesni") != 0)
		printf("no kernel: this CPU lacks what it needs\n");
	weft_ide_lib_close(best);
	weft_ide_lib_close(least);
}

WEFT_TEST(best_path)
{
	runs_do_what_single_flits_do(weft_cpu_detect(), "best path");
}

/* The kernel of CPUs without VAES, also where there is a better one. */
WEFT_TEST(path_without_vaes)
{
	const uint32_t features =
		weft_cpu_detect() & ~(uint32_t)(WEFT_CPU_AVX512 | WEFT_CPU_VPCLMUL | WEFT_CPU_GFNI);
	struct weft_ide_lib *lib = weft_ide_lib_open(features);
	const bool has_kernel = strcmp(weft_ide_lib_run_kernel(lib), "aesni") == 0;

	weft_ide_lib_close(lib);
	if (!has_kernel)
		skip();
	runs_do_what_single_flits_do(features, "path without VAES");
}

WEFT_TEST(least_path)
{
	runs_do_what_single_flits_do(0, "least path");
}
