/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* The registers' bits, and that each misfit between two ends is found and named. */

#include "weft_test.h"

#include "weft_ide_regs.h"

static const struct weft_ide_config skid = { .mode = WEFT_IDE_SKID, .pcrc = true };

WEFT_TEST(bits_are_where_the_ecn_puts_them)
{
	assert_int_equal(WEFT_IDE_CAP_STOP, 0x00400000);
	assert_int_equal(WEFT_IDE_CAP_LOPT, 0x00800000);
	assert_int_equal(WEFT_IDE_CAP_POISON, 0x01000000);
	assert_int_equal(WEFT_IDE_CTL_PCRC_DISABLE, 1);
	assert_int_equal(WEFT_IDE_CTL_STOP, 2);
	assert_int_equal(WEFT_IDE_CTL_POISON, 4);
}

WEFT_TEST(modify_keeps_reserved_bits)
{
	struct weft_rand r;

	weft_test_seed(&r, "control");
	for (unsigned int i = 0; i < 1000; i++) {
		const uint32_t was = (uint32_t)weft_rand_u64(&r);
		const struct weft_ide_config want = {
			.pcrc = (i & 1) == 0, .stop = (i & 2) != 0, .poison = (i & 4) != 0
		};
		const uint32_t now = weft_ide_ctl_modify(was, &want);
		struct weft_ide_config got = { .mode = WEFT_IDE_SKID, .refresh_idles = 7 };

		assert_int_equal(now & ~7u, was & ~7u);
		assert_int_equal(now & 7, i & 7);
		weft_ide_ctl_get(now, &got);
		assert_int_equal(got.pcrc, want.pcrc);
		assert_int_equal(got.stop, want.stop);
		assert_int_equal(got.poison, want.poison);
		assert_int_equal(got.mode, WEFT_IDE_SKID);
		assert_int_equal(got.refresh_idles, 7);
	}
}

/* Two ends with everything, then one thing taken away or turned over. */
static void
expect_misfit(const struct weft_ide_config *cfg, uint32_t ctl, unsigned int end, uint32_t cap_lost,
	uint32_t ctl_turned, const char *what)
{
	struct weft_ide_regs r[2] = { { WEFT_IDE_CAP_WEFT, ctl }, { WEFT_IDE_CAP_WEFT, ctl } };
	struct weft_ide_misfit m = { NULL, NULL };

	assert_int_equal(weft_ide_regs_check(&r[0], &r[1], cfg, &m), 0);
	r[end].cap &= ~cap_lost;
	r[end].ctl ^= ctl_turned;
	assert_int_equal(weft_ide_regs_check(&r[0], &r[1], cfg, NULL), what != NULL ? -EPROTO : 0);
	assert_int_equal(weft_ide_regs_check(&r[0], &r[1], cfg, &m), what != NULL ? -EPROTO : 0);
	if (what == NULL)
		return;
	assert_non_null(strstr(m.what, what));
	if (ctl_turned != 0)
		assert_string_equal(m.why, "differs between the ends");
	else
		assert_string_equal(
			m.why, end == 0 ? "is missing at this end" : "is missing at the other end");
}

WEFT_TEST(each_misfit_is_named)
{
	struct weft_ide_config lopt = skid, containment = skid;

	lopt.format = WEFT_IDE_LOPT;
	containment.mode = WEFT_IDE_CONTAINMENT;
	for (unsigned int end = 0; end < 2; end++) {
		expect_misfit(&skid, 0, end, 0, 1, "Control bit 0");
		expect_misfit(&skid, 0, end, 0, 2, "Control bit 1");
		expect_misfit(&skid, 0, end, 0, 4, "Control bit 2");
		expect_misfit(&skid, 7, end, WEFT_IDE_CAP_STOP, 0, "Capability bit 22");
		expect_misfit(&skid, 7, end, WEFT_IDE_CAP_POISON, 0, "Capability bit 24");
		expect_misfit(&skid, 0, end, WEFT_IDE_CAP_IDE, 0, "Capability bit 0");
		expect_misfit(&skid, 0, end, WEFT_IDE_CAP_AES_GCM_256, 0, "Capability bit 17");
		expect_misfit(&skid, 0, end, WEFT_IDE_CAP_SKID, 0, "Capability bit 1");
		expect_misfit(
			&containment, 0, end, WEFT_IDE_CAP_CONTAINMENT, 0, "Capability bit 2)");
		expect_misfit(&lopt, 0, end, WEFT_IDE_CAP_LOPT, 0, "Capability bit 23");
		/* What is not used need not be there; reserved bits may differ. */
		expect_misfit(&skid, 0, end,
			WEFT_IDE_CAP_STOP | WEFT_IDE_CAP_POISON | WEFT_IDE_CAP_LOPT |
				WEFT_IDE_CAP_CONTAINMENT,
			0, NULL);
		expect_misfit(&skid, 7, end, 0, 0xFFFFFFF8, NULL);
	}
}
