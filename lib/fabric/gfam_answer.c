/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Name, counter and answer of each result (fabric.md section 1.9). */

#include "weft_gfam.h"

struct row {
	const char *name;
	int8_t trigger;
	uint8_t answer[4]; /* by enum weft_gfam_access */
};

/* CROSSES and UIO_OFF cannot come of a CXL.mem access; they have the strictest answer there. */
static const struct row rows[WEFT_GFAM_RESULTS] = {
#define A(r, w, ur, uw)                                                                            \
	{                                                                                          \
		WEFT_GFAM_##r, WEFT_GFAM_##w, WEFT_GFAM_##ur, WEFT_GFAM_##uw                       \
	}
	[WEFT_GFAM_ALLOWED] = { "allowed", -1, A(SERVE, SERVE, SERVE, SERVE) },
	[WEFT_GFAM_NO_ROW] = { "no_row", 0, A(NXM, CMP, UR, UR) },
	[WEFT_GFAM_NO_HIT] = { "no_hit", 0, A(NXM, CMP, UR, UR) },
	[WEFT_GFAM_WRONG_WAY] = { "wrong_way", 0, A(NXM, CMP, UR, UR) },
	[WEFT_GFAM_SEVERAL] = { "several", 0, A(NXM, CMP, UR, UR) },
	[WEFT_GFAM_UNGROUPED] = { "ungrouped", 2, A(ONES, CMP, CA, CA) },
	[WEFT_GFAM_DENIED] = { "denied", 3, A(ONES, CMP, CA, CA) },
	[WEFT_GFAM_NO_WRITE] = { "no_write", -1, A(SERVE, CMP, SERVE, CMP) },
	[WEFT_GFAM_CROSSES] = { "crosses", 0, A(NXM, CMP, CA, CA) },
	[WEFT_GFAM_UIO_OFF] = { "uio_off", -1, A(NXM, CMP, CA, CA) },
#undef A
};

static const char *const answers[] = {
	[WEFT_GFAM_SERVE] = "serve",
	[WEFT_GFAM_NXM] = "nxm",
	[WEFT_GFAM_NXM_POISON] = "nxm_poison",
	[WEFT_GFAM_ONES] = "ones",
	[WEFT_GFAM_ONES_POISON] = "ones_poison",
	[WEFT_GFAM_CMP] = "cmp",
	[WEFT_GFAM_UR] = "ur",
	[WEFT_GFAM_CA] = "ca",
};

const char *
weft_gfam_result_name(enum weft_gfam_result r)
{
	return (unsigned int)r < WEFT_GFAM_RESULTS ? rows[r].name : "unknown";
}

int
weft_gfam_trigger(enum weft_gfam_result r)
{
	return rows[r].trigger;
}

enum weft_gfam_answer
weft_gfam_answer(enum weft_gfam_result r, enum weft_gfam_access a, uint32_t knobs)
{
	const enum weft_gfam_answer answer = rows[r].answer[a];

	if (answer == WEFT_GFAM_NXM && (knobs & WEFT_GFAM_POISON_ON_NO_DECODE) != 0)
		return WEFT_GFAM_NXM_POISON;
	if (answer == WEFT_GFAM_ONES && (knobs & WEFT_GFAM_POISON_ON_DENY) != 0)
		return WEFT_GFAM_ONES_POISON;
	return answer;
}

const char *
weft_gfam_answer_name(enum weft_gfam_answer a)
{
	return (size_t)a < WEFT_ARRAY_SIZE(answers) ? answers[a] : "unknown";
}
