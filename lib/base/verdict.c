/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Names and help texts of the verdicts, from the one list. */

#include "weft_verdict.h"

static const struct {
	const char *name;
	const char *help;
} verdicts[] = {
	{ "ok", "not dropped" },
#define WEFT_VERDICT(id, name, help) { name, help },
#include "verdict.def"
#undef WEFT_VERDICT
};

static_assert(WEFT_ARRAY_SIZE(verdicts) == WEFT_VERDICT_COUNT, "one row a verdict");

const char *
weft_verdict_name(enum weft_verdict v)
{
	return (unsigned int)v < WEFT_VERDICT_COUNT ? verdicts[v].name : "unknown";
}

const char *
weft_verdict_help(enum weft_verdict v)
{
	return (unsigned int)v < WEFT_VERDICT_COUNT ? verdicts[v].help : "not a verdict";
}
