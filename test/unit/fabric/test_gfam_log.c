/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Failures counted by requester and trigger, reports kept rare, their bytes, and the guard. */

#include "gfam_rig.h"

#include "weft_gfam_access.h"

static struct weft_gfam_log flog;
static unsigned int reports;
static struct weft_gfam_report last;

static const enum weft_gfam_result by_trigger[WEFT_GFAM_TRIGGERS] = { WEFT_GFAM_WRONG_WAY,
	WEFT_GFAM_ALLOWED, WEFT_GFAM_UNGROUPED, WEFT_GFAM_DENIED };

static bool
note(uint64_t now, uint16_t spid, enum weft_gfam_result result, struct weft_gfam_report *r)
{
	const struct weft_gfam_decision d = {
		.dpa = 0x1122334455, .result = (uint8_t)result, .group = 5
	};

	return weft_gfam_log_note(&flog, now, spid, 0x4000000000440, 0x9, &d, r);
}

WEFT_TEST(every_requester_and_trigger_is_counted_apart)
{
	struct weft_gfam_report r;
	unsigned int foreign = 0;

	weft_gfam_log_init(&flog);
	for (unsigned int s = 0; s < 0x1010; s++) {
		for (unsigned int k = 0; k < 3 + s % 3; k++) {
			for (unsigned int result = 0; result < WEFT_GFAM_RESULTS; result++)
				note(0, (uint16_t)s, result, &r);
		}
	}
	for (unsigned int s = 0; s < 0xFFF; s++) {
		const struct weft_gfam_counts *c = &flog.rpid[s];
		const unsigned int n = 3 + s % 3;

		assert_int_equal(c->failed[WEFT_GFAM_T_DECODE], 5 * n);
		assert_int_equal(c->failed[WEFT_GFAM_T_SNOOP], 0);
		assert_int_equal(c->failed[WEFT_GFAM_T_GROUP], n);
		assert_int_equal(c->failed[WEFT_GFAM_T_SAT], n);
		assert_int_equal(c->read_only, n);
	}
	for (unsigned int s = 0xFFF; s < 0x1010; s++)
		foreign += 3 + s % 3;
	assert_int_equal(flog.rpid[0xFFF].failed[WEFT_GFAM_T_SAT], foreign);
	assert_int_equal(flog.failed[WEFT_GFAM_T_SAT], flog.read_only);
	assert_int_equal(flog.reports, 0x1000 * 3);
	assert_int_equal(
		flog.reports + flog.suppressed, flog.failed[0] + flog.failed[2] + flog.failed[3]);
}

WEFT_TEST(one_report_in_a_tenth_of_a_second)
{
	const uint64_t step = WEFT_GFAM_REPORT_NS / 10;
	struct weft_gfam_report r;

	assert_int_equal(WEFT_GFAM_REPORT_NS, 100000000);
	weft_gfam_log_init(&flog);
	for (uint64_t i = 0; i <= 100; i++) {
		for (unsigned int k = 0; k < WEFT_GFAM_TRIGGERS; k++) {
			const bool due = k == WEFT_GFAM_T_SNOOP
			                         ? weft_gfam_log_snoop(&flog, i * step, 7, 64, &r)
			                         : note(i * step, 7, by_trigger[k], &r);

			assert_int_equal(due, i % 10 == 0);
			if (due)
				assert_int_equal(r.suppressed, i == 0 ? 0 : 9);
		}
	}
	/* Another requester is not held back. */
	assert_true(note(5, 8, WEFT_GFAM_DENIED, &r));
	assert_false(note(5, 8, WEFT_GFAM_DENIED, &r));
	assert_true(note(5, 8, WEFT_GFAM_UNGROUPED, &r));
	assert_false(note(5 + WEFT_GFAM_REPORT_NS - 1, 8, WEFT_GFAM_DENIED, &r));
	assert_true(note(5 + WEFT_GFAM_REPORT_NS, 8, WEFT_GFAM_DENIED, &r));
	assert_int_equal(r.suppressed, 2);
}

/* Offsets typed from the row of 0107h. */
WEFT_TEST(report_has_its_bytes)
{
	static const uint8_t trigger_flags[] = { 0x2A, 0x06, 0x2E, 0x3E };
	struct weft_gfam_report r;
	uint8_t b[WEFT_GFAM_REPORT_LEN];

	weft_gfam_log_init(&flog);
	for (unsigned int k = 0; k < WEFT_GFAM_TRIGGERS; k++) {
		if (k == WEFT_GFAM_T_SNOOP)
			assert_true(weft_gfam_log_snoop(&flog, 0x0102, 0xABC, 0x1122334455, &r));
		else
			assert_true(note(0x0102, 0xABC, by_trigger[k], &r));
		memset(b, 0xEE, sizeof(b));
		weft_gfam_report_pack(&r, 0x201, b);
		assert_int_equal(weft_get_le16(b), 0x201);
		assert_int_equal(weft_get_le16(b + 2), 0);
		assert_int_equal(b[4], 2);
		assert_int_equal(b[5], 1 << k);
		assert_int_equal(weft_get_le16(b + 6), 0xABC);
		assert_int_equal(weft_get_le64(b + 0x08), k != 0 ? 0x1122334455 : 0);
		assert_int_equal(weft_get_le64(b + 0x10), k != 1 ? 0x4000000000440 : 0);
		assert_int_equal(weft_get_le16(b + 0x18), k == 3 ? 5 : 0);
		assert_int_equal(b[0x1A], k != 1 ? 9 : 0);
		assert_int_equal(b[0x1B], 0);
		assert_int_equal(weft_get_le16(b + 0x1C), trigger_flags[k]);
		assert_int_equal(weft_get_le16(b + 0x1E), 0);
		assert_int_equal(weft_get_le64(b + 0x20), 0x0102);
	}
}

static void
take_report(void *arg, const struct weft_gfam_report *r)
{
	assert_ptr_equal(arg, &reports);
	reports++;
	last = *r;
}

WEFT_TEST(guard_answers_counts_and_reports)
{
	struct weft_gfam_ref ref = { NULL };
	struct weft_gfam_checker g = { .tables = &ref,
		.log = &flog,
		.now_ns = 1,
		.report = take_report,
		.report_arg = &reports };
	struct weft_gfam_cfg cfg = {
		.rows = 1, .groups = 1, .dmps = 1, .blocks = 16, .media = { { 64 * MB, 0 } }
	};
	const struct weft_gfam_decoder d = { .valid = true, .hpa_base = PB, .dpa_len = 128 * MB };
	struct weft_gfam_decision got;
	struct weft_gfam *t;

	weft_gfam_log_init(&flog);
	assert_int_equal(weft_gfam_access_check(&g, 3, PB, 1, false, &got), WEFT_GFAM_NXM);
	assert_int_equal(weft_gfam_access_check(&g, 3, PB, 1, true, &got), WEFT_GFAM_CMP);
	assert_int_equal(reports, 1);
	assert_int_equal(last.rpid, 3);
	assert_int_equal(last.hpa, PB);
	cfg.knobs = WEFT_GFAM_POISON_ON_DENY;
	t = weft_gfam_init(aligned_alloc(WEFT_CACHE_LINE, weft_gfam_size(&cfg)), &cfg);
	assert_int_equal(weft_gfam_set_dmp(t, 0, 0, GB, 64 * MB), 0);
	assert_int_equal(weft_gfam_set_gdt(t, 3, 3, 0, &d, 1), 0);
	assert_int_equal(weft_gfam_set_blocks(t, 0, 64 * MB, 0), 0);
	weft_gfam_publish(&ref, t);
	assert_ptr_equal(weft_gfam_current(&ref), t);
	assert_int_equal(weft_gfam_access_check(&g, 3, PB, 1, false, &got), WEFT_GFAM_ONES_POISON);
	assert_int_equal(got.result, WEFT_GFAM_DENIED);
	assert_int_equal(reports, 2);
	assert_int_equal(weft_gfam_access_check(&g, 3, PB, 1, true, &got), WEFT_GFAM_CMP);
	assert_int_equal(reports, 2);
	assert_int_equal(flog.rpid[3].failed[WEFT_GFAM_T_SAT], 2);
	assert_int_equal(weft_gfam_set_sat(t, 3, 1), 0);
	assert_int_equal(weft_gfam_access_check(&g, 3, PB, 1, true, &got), WEFT_GFAM_SERVE);
	assert_int_equal(weft_gfam_access_check(&g, 3, PB + 64 * MB, 1, true, &got), WEFT_GFAM_CMP);
	assert_int_equal(got.result, WEFT_GFAM_UNGROUPED);
	/* Without a log, or anybody to tell. */
	g.report = NULL;
	assert_int_equal(weft_gfam_access_check(&g, 4, PB, 1, false, &got), WEFT_GFAM_NXM);
	g.log = NULL;
	assert_int_equal(weft_gfam_access_check(&g, 4, PB, 1, false, &got), WEFT_GFAM_NXM);
	assert_int_equal(flog.rpid[4].failed[WEFT_GFAM_T_DECODE], 1);
	free(t);
}
