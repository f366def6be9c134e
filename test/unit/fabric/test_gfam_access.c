/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Decisions of a device as large as they come: each deny case for every SPID, each block of each
 * range, UIO.
 */

#include "gfam_rig.h"

static const struct {
	uint64_t base, len, block;
} dmp[] = {
	{ 0, 64 * GB, 64 * MB },
	{ TB, 16 * GB, 16 * MB },
	{ 2 * TB, 64 * GB, 256 * MB },
	{ 128 * GB, 256 * MB, 256 * 1024 },
};

static struct weft_gfam *t;

static const struct weft_gfam_cfg full = {
	.rows = 4095,
	.groups = 64,
	.dmps = 4,
	.blocks = RIG_BLOCKS,
	.media = {
		{ 64 * MB, WEFT_GFAM_COHERENT },
		{ 16 * MB, 0 },
		{ 256 * MB, WEFT_GFAM_COHERENT | WEFT_GFAM_READ_ONLY },
		{ 256 * 1024, WEFT_GFAM_SHARABLE },
	},
};

static int
setup(void **state)
{
	(void)state;
	t = rig_new(&full);
	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(dmp); i++)
		assert_int_equal(weft_gfam_set_dmp(t, i, dmp[i].base, dmp[i].len, dmp[i].block), 0);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	free(t);
	return 0;
}

WEFT_TEST_EACH(setup, teardown)

static void
set_decoder(uint16_t spid, unsigned int k, const struct weft_gfam_decoder *d)
{
	assert_int_equal(weft_gfam_set_gdt(t, WEFT_GFAM_SELF, spid, k, d, 1), 0);
}

static void
set_block(unsigned int i, unsigned int b, uint8_t group)
{
	assert_int_equal(
		weft_gfam_set_blocks(t, dmp[i].base + b * dmp[i].block, dmp[i].block, group), 0);
}

WEFT_TEST(nothing_is_allowed_at_first)
{
	struct weft_gfam_decision d;

	for (unsigned int spid = 0; spid <= UINT16_MAX; spid++) {
		weft_gfam_decide(t, (uint16_t)spid, 0, false, &d);
		assert_int_equal(d.result, WEFT_GFAM_NO_ROW);
		weft_gfam_decide(NULL, (uint16_t)spid, 0, spid % 2, &d);
		assert_int_equal(d.result, WEFT_GFAM_NO_ROW);
		if (spid < 0xFFF)
			assert_int_equal(weft_gfam_sat(t, (uint16_t)spid), 0);
	}
	for (unsigned int i = 0; i < 4; i++)
		for (unsigned int b = 0; b < dmp[i].len / dmp[i].block; b++)
			assert_int_equal(weft_gfam_group(t, dmp[i].base + b * dmp[i].block),
				WEFT_GFAM_NO_GROUP);
}

/* Each way to be refused, for every SPID there can be, and beside it that it can be allowed. */
WEFT_TEST(every_deny_case_for_every_spid)
{
	static const uint64_t ro = 2 * TB;
	const struct weft_gfam_decoder off = { 0 };

	set_block(0, 0, 7);
	set_block(0, 2, 9);
	set_block(2, 0, 7);
	for (uint16_t s = 0; s < 0xFFF; s++) {
		struct weft_gfam_decoder d = {
			.valid = true, .hpa_base = PB, .dpa_len = 192 * MB, .intlv = 1
		};

		assert_int_equal(rig_ask(t, s, PB, false), WEFT_GFAM_NO_ROW);
		set_decoder(s, 3, &d);
		assert_int_equal(rig_ask(t, s, PB, false), WEFT_GFAM_DENIED);
		assert_int_equal(rig_ask(t, s, PB, true), WEFT_GFAM_DENIED);
		assert_int_equal(weft_gfam_set_sat(t, s, ~(UINT64_C(1) << 7)), 0);
		assert_int_equal(rig_ask(t, s, PB, false), WEFT_GFAM_DENIED);
		assert_int_equal(weft_gfam_set_sat(t, s, UINT64_C(1) << 7), 0);
		assert_int_equal(rig_ask(t, s, PB, false), WEFT_GFAM_ALLOWED);
		assert_int_equal(rig_ask(t, s, PB, true), WEFT_GFAM_ALLOWED);
		assert_int_equal(rig_ask(t, s, PB + 256, true), WEFT_GFAM_WRONG_WAY);
		assert_int_equal(rig_ask(t, s, PB - 1, true), WEFT_GFAM_NO_HIT);
		assert_int_equal(rig_ask(t, s, PB + 384 * MB, true), WEFT_GFAM_NO_HIT);
		assert_int_equal(rig_ask(t, s, PB + 128 * MB, false), WEFT_GFAM_UNGROUPED);
		assert_int_equal(rig_ask(t, s, PB + 256 * MB, false), WEFT_GFAM_DENIED);
		d.dpa_base = ro;
		d.dpa_len = 256 * MB;
		set_decoder(s, 3, &d);
		assert_int_equal(rig_ask(t, s, PB, false), WEFT_GFAM_ALLOWED);
		assert_int_equal(rig_ask(t, s, PB, true), WEFT_GFAM_NO_WRITE);
		set_decoder(s, 3, &off);
		assert_int_equal(rig_ask(t, s, PB, true), WEFT_GFAM_NO_ROW);
		assert_int_equal(weft_gfam_set_sat(t, s, 0), 0);
	}
}

#define FULL (0xFFF * WEFT_GFAM_DECODERS)

/* Decoder @p k of SPID @p s: a block of range k % 4, and no two in one place. @return the block */
static unsigned int
own_decoder(uint16_t s, unsigned int k, struct weft_gfam_decoder *d)
{
	const unsigned int i = k % 4, blocks = (unsigned int)(dmp[i].len / dmp[i].block);
	const unsigned int b = (s + k / 4) % blocks;

	*d = (struct weft_gfam_decoder){ .valid = true,
		.hpa_base = PB + (s * WEFT_GFAM_DECODERS + k) * GB,
		.dpa_base = dmp[i].base + b * dmp[i].block,
		.dpa_len = dmp[i].block };
	return b;
}

/* All rows, decoders and blocks in use at a time: each requester meets what is its own. */
WEFT_TEST(a_full_device_keeps_all_apart)
{
	static uint16_t spid[FULL];
	static uint64_t hpa[FULL];
	static bool write[FULL];
	static struct weft_gfam_decision got[FULL];
	struct weft_gfam_decoder d;

	for (unsigned int i = 0; i < 4; i++)
		for (unsigned int b = 0; b < dmp[i].len / dmp[i].block; b++)
			set_block(i, b, (uint8_t)((b * 7 + i) % 64));
	for (unsigned int n = 0; n < FULL; n++) {
		spid[n] = (uint16_t)(n / WEFT_GFAM_DECODERS);
		own_decoder(spid[n], n % WEFT_GFAM_DECODERS, &d);
		set_decoder(spid[n], n % WEFT_GFAM_DECODERS, &d);
		hpa[n] = d.hpa_base + n;
		assert_int_equal(
			weft_gfam_set_sat(t, spid[n], UINT64_C(0x9E3779B97F4A7C15) * (n / 8 + 1)),
			0);
	}
	weft_gfam_decide_run(t, spid, hpa, write, got, FULL);
	for (unsigned int n = 0; n < FULL; n++) {
		const unsigned int k = n % WEFT_GFAM_DECODERS, i = k % 4;
		const unsigned int group = (own_decoder(spid[n], k, &d) * 7 + i) % 64;
		const bool may = (weft_gfam_sat(t, spid[n]) >> group & 1) != 0;

		assert_int_equal(got[n].result, may ? WEFT_GFAM_ALLOWED : WEFT_GFAM_DENIED);
		assert_int_equal(got[n].dpa, d.dpa_base + n);
		assert_true(got[n].decoder == k && got[n].dmp == i && got[n].group == group);
		assert_int_equal(rig_ask(t, (uint16_t)(spid[n] ^ 1), hpa[n], false),
			spid[n] == 0xFFE ? WEFT_GFAM_NO_ROW : WEFT_GFAM_NO_HIT);
	}
}

static enum weft_gfam_result
uio(const struct weft_gfam *u, uint16_t spid, uint64_t hpa, uint32_t len, bool write)
{
	struct weft_gfam_decision d;

	weft_gfam_decide_uio(u, spid, hpa, len, write, &d);
	return d.result;
}

WEFT_TEST(uio_is_whole_or_not_at_all)
{
	struct weft_gfam_cfg on = full;
	struct weft_gfam_decoder d = { .valid = true, .hpa_base = PB, .dpa_len = 192 * MB };
	struct weft_gfam *u;
	const uint64_t end = PB + 192 * MB;

	set_decoder(1, 0, &d);
	assert_int_equal(uio(t, 1, PB, 64, false), WEFT_GFAM_UIO_OFF);
	assert_int_equal(uio(NULL, 1, PB, 64, false), WEFT_GFAM_UIO_OFF);
	free(t);
	on.knobs = WEFT_GFAM_UIO;
	u = t = rig_new(&on);
	assert_int_equal(weft_gfam_set_dmp(t, 0, 0, 64 * GB, 64 * MB), 0);
	assert_int_equal(weft_gfam_set_gdt(u, 1, 1, 0, &d, 1), 0);
	set_block(0, 0, 1);
	set_block(0, 1, 2);
	set_block(0, 2, 1);
	assert_int_equal(weft_gfam_set_sat(t, 1, 1u << 1), 0);
	assert_int_equal(uio(u, 1, PB, 1, false), WEFT_GFAM_ALLOWED);
	assert_int_equal(uio(u, 1, PB, 4096, true), WEFT_GFAM_ALLOWED);
	assert_int_equal(uio(u, 2, PB, 4096, true), WEFT_GFAM_NO_ROW);
	assert_int_equal(uio(u, 1, PB + 64 * MB - 64, 64, false), WEFT_GFAM_ALLOWED);
	assert_int_equal(uio(u, 1, PB + 64 * MB - 64, 65, false), WEFT_GFAM_DENIED);
	assert_int_equal(uio(u, 1, PB + 64 * MB - 1, 2, false), WEFT_GFAM_DENIED);
	assert_int_equal(uio(u, 1, PB + 128 * MB - 1, 2, false), WEFT_GFAM_DENIED);
	assert_int_equal(uio(u, 1, end - 1, 1, false), WEFT_GFAM_ALLOWED);
	assert_int_equal(uio(u, 1, end - 1, 2, false), WEFT_GFAM_CROSSES);
	assert_int_equal(uio(u, 1, end, 2, false), WEFT_GFAM_NO_HIT);
	assert_int_equal(uio(u, 1, PB - 1, 2, false), WEFT_GFAM_CROSSES);
	assert_int_equal(uio(u, 1, PB - 1, 1, false), WEFT_GFAM_NO_HIT);
	/* A second decoder right behind: both ends are allowed, and yet it crosses a limit. */
	d.hpa_base = end;
	d.dpa_base = 512 * MB;
	d.dpa_len = 64 * MB;
	assert_int_equal(weft_gfam_set_gdt(u, 1, 1, 1, &d, 1), 0);
	set_block(0, 8, 1);
	assert_int_equal(uio(u, 1, end, 64, false), WEFT_GFAM_ALLOWED);
	assert_int_equal(uio(u, 1, end - 64, 128, false), WEFT_GFAM_CROSSES);
	/* Out of its own way into another's. */
	d.intlv = 1;
	assert_int_equal(weft_gfam_set_gdt(u, 1, 1, 1, &d, 1), 0);
	assert_int_equal(uio(u, 1, end, 256, false), WEFT_GFAM_ALLOWED);
	assert_int_equal(uio(u, 1, end, 257, false), WEFT_GFAM_CROSSES);
	assert_int_equal(uio(u, 1, end + 256, 256, false), WEFT_GFAM_WRONG_WAY);
}

/* Where blocks are smaller than a request of UIO, each of its lines is looked at. */
WEFT_TEST(uio_is_judged_by_each_small_block)
{
	const struct weft_gfam_decoder d = { .valid = true, .hpa_base = PB, .dpa_len = 192 };
	struct weft_gfam_cfg on = full;

	free(t);
	on.knobs = WEFT_GFAM_UIO;
	on.blocks = 1u << 22;
	on.media[0].block_sizes = 64;
	t = rig_new(&on);
	assert_int_equal(weft_gfam_set_dmp(t, 0, 0, 256 * MB, 64), 0);
	assert_int_equal(weft_gfam_set_gdt(t, 1, 1, 0, &d, 1), 0);
	assert_int_equal(weft_gfam_set_sat(t, 1, 1u << 1), 0);
	for (unsigned int b = 0; b < 4; b++)
		assert_int_equal(weft_gfam_set_blocks(t, b * UINT64_C(64), 64, b == 2 ? 2 : 1), 0);
	assert_int_equal(uio(t, 1, PB, 128, false), WEFT_GFAM_ALLOWED);
	assert_int_equal(uio(t, 1, PB, 129, false), WEFT_GFAM_DENIED);
	assert_int_equal(weft_gfam_set_blocks(t, 128, 64, 1), 0);
	assert_int_equal(uio(t, 1, PB, 192, true), WEFT_GFAM_ALLOWED);
	assert_int_equal(uio(t, 1, PB, 193, true), WEFT_GFAM_CROSSES);
}

/* Typed from fabric.md section 1.9, by result: read, write, UIO; then the reads with both knobs. */
WEFT_TEST(answers_are_those_of_the_section)
{
	static const struct {
		int trigger;
		const char *read, *write, *uio_read, *uio_write, *knobs_read;
	} want[WEFT_GFAM_RESULTS] = {
		[WEFT_GFAM_ALLOWED] = { -1, "serve", "serve", "serve", "serve", "serve" },
		[WEFT_GFAM_NO_ROW] = { 0, "nxm", "cmp", "ur", "ur", "nxm_poison" },
		[WEFT_GFAM_NO_HIT] = { 0, "nxm", "cmp", "ur", "ur", "nxm_poison" },
		[WEFT_GFAM_WRONG_WAY] = { 0, "nxm", "cmp", "ur", "ur", "nxm_poison" },
		[WEFT_GFAM_SEVERAL] = { 0, "nxm", "cmp", "ur", "ur", "nxm_poison" },
		[WEFT_GFAM_UNGROUPED] = { 2, "ones", "cmp", "ca", "ca", "ones_poison" },
		[WEFT_GFAM_DENIED] = { 3, "ones", "cmp", "ca", "ca", "ones_poison" },
		[WEFT_GFAM_NO_WRITE] = { -1, "serve", "cmp", "serve", "cmp", "serve" },
		[WEFT_GFAM_CROSSES] = { 0, "nxm", "cmp", "ca", "ca", "nxm_poison" },
		[WEFT_GFAM_UIO_OFF] = { -1, "nxm", "cmp", "ca", "ca", "nxm_poison" },
	};
	const uint32_t both = WEFT_GFAM_POISON_ON_DENY | WEFT_GFAM_POISON_ON_NO_DECODE;

	for (unsigned int r = 0; r < WEFT_GFAM_RESULTS; r++) {
#define NAME(a, k) weft_gfam_answer_name(weft_gfam_answer(r, a, k))
		assert_int_equal(weft_gfam_trigger(r), want[r].trigger);
		assert_string_equal(NAME(WEFT_GFAM_READ, 0), want[r].read);
		assert_string_equal(NAME(WEFT_GFAM_WRITE, both), want[r].write);
		assert_string_equal(NAME(WEFT_GFAM_UIO_READ, both), want[r].uio_read);
		assert_string_equal(NAME(WEFT_GFAM_UIO_WRITE, both), want[r].uio_write);
		assert_string_equal(NAME(WEFT_GFAM_READ, both), want[r].knobs_read);
		assert_string_equal(NAME(WEFT_GFAM_READ, WEFT_GFAM_POISON_ON_DENY),
			want[r].read[0] == 'o' ? want[r].knobs_read : want[r].read);
#undef NAME
	}
	assert_string_equal(weft_gfam_result_name(WEFT_GFAM_RESULTS), "unknown");
}
