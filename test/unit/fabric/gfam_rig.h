/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Tables of a GFD for tests of single rules. Any tables and accesses, against a search of plain
 * arrays, are those of test/fuzz/fuzz_gfam.c, whose inputs the unit tests draw too.
 */
#ifndef GFAM_RIG_H
#define GFAM_RIG_H

#include "weft_test.h"

#include "weft_gfam.h"

#define MB (UINT64_C(1) << 20)
#define GB (UINT64_C(1) << 30)
#define TB (UINT64_C(1) << 40)
#define PB (UINT64_C(1) << 50)
#define RIG_BLOCKS 1024

static inline struct weft_gfam *
rig_new(const struct weft_gfam_cfg *cfg)
{
	const size_t len = weft_gfam_size(cfg);
	void *mem;

	assert_true(len != 0);
	mem = aligned_alloc(WEFT_CACHE_LINE, len);
	assert_non_null(mem);
	memset(mem, 0xA5, len);
	return weft_gfam_init(mem, cfg);
}

/* What becomes of an access, alone and in a run. */
static inline enum weft_gfam_result
rig_ask(const struct weft_gfam *t, uint16_t spid, uint64_t hpa, bool write)
{
	struct weft_gfam_decision d, of_run;

	weft_gfam_decide(t, spid, hpa, write, &d);
	weft_gfam_decide_run(t, &spid, &hpa, &write, &of_run, 1);
	assert_int_equal(d.result, of_run.result);
	return d.result;
}

#endif /* GFAM_RIG_H */
