/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Reads --errors; lib/impair does the damage. */

#include "faults.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "words.h"

static const char faults_syntax[] =
	"none, or a list of ber=P, burst=SYMBOLS:P, drop=P, dup=P, reorder=P, garbage=P with "
	"probabilities of 0 to 1, each once";

static bool
faults_probability(const char *text, double *p)
{
	return words_real(text, 0, 1, p);
}

static bool
faults_parse_burst(char *value, struct faults *f)
{
	char *colon = strchr(value, ':');
	uint64_t len;

	if (colon == NULL || f->burst_len != 0)
		return false;
	*colon = '\0';
	if (!words_number(value, 1, FAULT_BURST_MAX, &len))
		return false;
	f->burst_len = (unsigned int)len;
	return faults_probability(colon + 1, &f->burst);
}

/* @p seen: bits of those that were there before. */
static bool
faults_parse_one(char *item, struct faults *f, unsigned int *seen)
{
	char *value = strchr(item, '=');
	const struct {
		const char *name;
		double *field;
	} plain[] = {
		{ "ber", &f->ber },
		{ "drop", &f->drop },
		{ "dup", &f->dup },
		{ "reorder", &f->reorder },
		{ "garbage", &f->garbage },
	};

	if (value == NULL)
		return false;
	*value++ = '\0';
	if (strcmp(item, "burst") == 0)
		return faults_parse_burst(value, f);
	for (size_t i = 0; i < WEFT_ARRAY_SIZE(plain); i++)
		if (strcmp(item, plain[i].name) == 0) {
			const bool is_first = (*seen >> i & 1) == 0;

			*seen |= 1u << i;
			return is_first && faults_probability(value, plain[i].field);
		}
	return false;
}

int
faults_parse(const char *text, struct faults *f, char *err, size_t err_len)
{
	char copy[256], *rest = copy, *item;
	struct faults parsed = { 0 };
	unsigned int seen = 0;

	if (strcmp(text, "none") == 0) {
		*f = parsed;
		return 0;
	}
	if (strlen(text) >= sizeof(copy) || text[0] == '\0')
		return weft_errorf(err, err_len, -EINVAL, "expected %s", faults_syntax);
	strcpy(copy, text);
	while ((item = strsep(&rest, ",")) != NULL) {
		size_t at = (size_t)(item - copy);

		if (!faults_parse_one(item, &parsed, &seen))
			return weft_errorf(err, err_len, -EINVAL, "expected %s; got \"%s\"",
				faults_syntax, text + at);
	}
	*f = parsed;
	return 0;
}

void
faults_wire(const struct faults *f, uint64_t seed, struct weft_impair *w)
{
	const struct weft_impair_cfg cfg = {
		.seed = seed, .ber = f->ber, .burst_p = f->burst, .burst = f->burst_len
	};
	int rc;

	rc = weft_impair_init(w, &cfg);
	/* Ranges were checked when they were read. */
	assert(rc == 0);
	(void)rc;
}
