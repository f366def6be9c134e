/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Names and help texts of the verdicts, from the one list. */

#include "weft_verdict.h"

const char *const weft_verdict_names[WEFT_VERDICT_COUNT] = {
	"ok",
#define WEFT_VERDICT(id, name, help) name,
#include "verdict.def"
#undef WEFT_VERDICT
};

static const char *const helps[WEFT_VERDICT_COUNT] = {
	"not dropped",
#define WEFT_VERDICT(id, name, help) help,
#include "verdict.def"
#undef WEFT_VERDICT
};

const char *
weft_verdict_name(enum weft_verdict v)
{
	return (unsigned int)v < WEFT_VERDICT_COUNT ? weft_verdict_names[v] : "unknown";
}

const char *
weft_verdict_help(enum weft_verdict v)
{
	return (unsigned int)v < WEFT_VERDICT_COUNT ? helps[v] : "not a verdict";
}
