/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Sealed streams, byte for byte, against a reference on OpenSSL: random flits, keys and counters,
 * both modes, PCRC on and off, on every code path of intel-ipsec-mb that this CPU has.
 */

#include "ide_rig.h"

#include "weft_cpu.h"

struct path {
	uint32_t features; /* all that it needs */
	const char *kernel;
};

static struct path paths[] = {
	{ 0, "sse" },
	{ WEFT_CPU_AVX2 | WEFT_CPU_PCLMUL, "avx2" },
	{ WEFT_CPU_AVX512 | WEFT_CPU_PCLMUL, "avx512" },
	{ WEFT_CPU_AVX512 | WEFT_CPU_VPCLMUL | WEFT_CPU_GFNI, "avx512-vaes" },
};

/* The path's library; skips the test where the CPU lacks it. */
static struct weft_ide_lib *
open_path(const struct path *path)
{
	struct weft_ide_lib *lib;

	if ((path->features & ~weft_cpu_detect()) != 0) {
		printf("skipped: this CPU has no %s\n", path->kernel);
		skip();
	}
	lib = weft_ide_lib_open(path->features);
	assert_non_null(lib);
	assert_string_equal(weft_ide_lib_kernel(lib), path->kernel);
	return lib;
}

static uint64_t
random_counter(struct weft_rand *r)
{
	static const uint64_t edge[] = { 0, 1, UINT32_MAX, UINT64_C(1) << 32, UINT64_MAX };
	const uint64_t i = weft_rand_below(r, 2 * WEFT_ARRAY_SIZE(edge));

	return i < WEFT_ARRAY_SIZE(edge) ? edge[i] : weft_rand_u64(r);
}

struct run {
	uint8_t key[WEFT_IDE_KEY_LEN];
	enum weft_ide_mode mode;
	uint64_t counter;
	bool pcrc;
	unsigned int n;
	uint8_t plain[RIG_FLITS_MAX][WEFT_FLIT_LEN], sealed[RIG_FLITS_MAX][WEFT_FLIT_LEN];
};

/* Seal n flits, by runs or one by one, and close; plain[] then has the MACs in it. */
static void
seal_run(struct weft_ide_lib *lib, struct weft_rand *r, struct run *run, bool by_runs)
{
	struct weft_ide_stream *s = rig_stream(lib, run->mode, run->key, run->counter, run->pcrc);

	for (unsigned int i = 0; i < run->n; i++) {
		rig_protocol_flit(r, run->plain[i]);
		if (i > 0 && i % weft_ide_epoch_flits(run->mode) == 0)
			rig_control_flit(r, run->plain[i], WEFT_LLCTRL_IDE_MAC);
		memcpy(run->sealed[i], run->plain[i], WEFT_FLIT_LEN);
	}
	for (unsigned int i = 0, n; i < run->n; i += n) {
		n = by_runs ? 1 + (unsigned int)weft_rand_below(r, 64) : 1;
		if (n > run->n - i)
			n = run->n - i;
		if (by_runs)
			assert_int_equal(rig_seal_run(s, run->sealed[i], n), n);
		else
			assert_int_equal(rig_seal(s, run->sealed[i]), 0);
	}
	for (unsigned int i = 0; i < run->n; i++)
		if (rig_is_mac(run->plain[i]))
			memcpy(run->plain[i] + 4, run->sealed[i] + 4, WEFT_IDE_MAC_LEN);
	if (weft_ide_mac_due(s)) {
		assert_int_equal(rig_close(s, run->sealed[run->n]), WEFT_IDE_CLOSE_CARRIER);
		rig_control_flit(r, run->sealed[run->n], WEFT_LLCTRL_IDE_MAC);
		assert_int_equal(rig_seal(s, run->sealed[run->n]), 0);
	} else {
		assert_int_equal(rig_close(s, run->sealed[run->n]), WEFT_IDE_CLOSE_TMAC);
	}
	weft_ide_stream_wipe(s);
	free(s);
}

static void
check_run(const struct run *run)
{
	const unsigned int epoch_flits = weft_ide_epoch_flits(run->mode);
	uint64_t counter = run->counter;

	for (unsigned int from = 0; from < run->n; from += epoch_flits, counter++) {
		const unsigned int to = from + epoch_flits < run->n ? from + epoch_flits : run->n;
		struct ref_epoch e = { .aad_len = 0 };
		uint8_t tag[16], want[WEFT_FLIT_LEN];
		size_t at = 0;

		for (unsigned int i = from; i < to; i++)
			ref_add(&e, run->plain[i]);
		ref_end(&e, run->key, counter, run->pcrc, tag);
		for (unsigned int i = from; i < to; i++) {
			memcpy(want, run->plain[i], WEFT_FLIT_LEN);
			at += ref_put(want, e.p + at);
			assert_memory_equal(run->sealed[i], want, WEFT_FLIT_LEN);
		}
		assert_memory_equal(run->sealed[to] + 4, tag, WEFT_IDE_MAC_LEN);
	}
}

static void
sealed_epochs_agree_with_openssl(void **state)
{
	static struct run run;
	const struct path *path = *state;
	struct weft_ide_lib *lib = open_path(path);
	struct weft_rand r;

	weft_test_seed(&r, path->kernel);
	for (unsigned int i = 0; i < 400; i++) {
		run.mode = weft_rand_below(&r, 2) == 0 ? WEFT_IDE_SKID : WEFT_IDE_CONTAINMENT;
		run.counter = random_counter(&r);
		run.pcrc = weft_rand_below(&r, 2) == 0;
		run.n = 1 + (unsigned int)weft_rand_below(&r, run.mode == WEFT_IDE_SKID ? 100 : 9);
		weft_rand_fill(&r, run.key, sizeof(run.key));
		seal_run(lib, &r, &run, i % 2 == 0);
		check_run(&run);
	}
	weft_ide_lib_close(lib);
}

/* What one path sealed, every other opens. */
static void
paths_open_what_others_sealed(void **state)
{
	static struct run run;
	static struct rig_rx rx;
	const struct path *path = *state;
	struct weft_ide_lib *lib = open_path(path);
	struct weft_ide_lib *other = weft_ide_lib_open(0);
	uint8_t copy[32][WEFT_FLIT_LEN];
	struct weft_ide_run opened;
	struct weft_rand r;

	weft_test_seed(&r, path->kernel);
	run.mode = WEFT_IDE_CONTAINMENT;
	run.counter = 1;
	run.pcrc = true;
	run.n = 31; /* 15 epochs and a short one */
	weft_rand_fill(&r, run.key, sizeof(run.key));
	seal_run(other, &r, &run, false);
	memset(&rx, 0, sizeof(rx));
	rx.s = rig_stream(lib, run.mode, run.key, 1, true);
	memcpy(copy, run.sealed, sizeof(copy));
	for (unsigned int i = 0; i <= run.n; i++)
		rig_receive(&rx, run.sealed[i]);
	assert_int_equal(rx.n_out, run.n + 1);
	assert_int_equal(rx.epochs_good, 16);
	assert_memory_equal(rx.out, run.plain, run.n * (size_t)WEFT_FLIT_LEN);
	free(rx.s);

	rx.s = rig_stream(lib, run.mode, run.key, 1, true);
	weft_ide_open_run(rx.s, copy[0], weft_mask64(run.n + 1), &opened);
	assert_int_equal(opened.release, run.n + 1);
	assert_int_equal(opened.epochs_good, 16);
	assert_memory_equal(copy, run.plain, run.n * (size_t)WEFT_FLIT_LEN);
	free(rx.s);
	weft_ide_lib_close(other);
	weft_ide_lib_close(lib);
}

int
main(void)
{
	struct CMUnitTest tests[2 * WEFT_ARRAY_SIZE(paths)];
	char names[2 * WEFT_ARRAY_SIZE(paths)][64];

	for (size_t i = 0; i < WEFT_ARRAY_SIZE(tests); i++) {
		struct path *path = &paths[i / 2];

		snprintf(names[i], sizeof(names[i]), "%s_%s", path->kernel,
			i % 2 == 0 ? "agrees_with_openssl" : "opens_what_sse_sealed");
		tests[i] = (struct CMUnitTest){ .name = names[i],
			.test_func = i % 2 == 0 ? sealed_epochs_agree_with_openssl
			                        : paths_open_what_others_sealed,
			.initial_state = path };
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
