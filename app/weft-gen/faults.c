/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Reads --errors and does the damage. */

#include "faults.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "weft_flit.h"

const char faults_syntax[] =
	"none, or a list of ber=P, burst=SYMBOLS:P, drop=P, dup=P, reorder=P, garbage=P with "
	"probabilities of 0 to 1";

static bool
parse_probability(const char *text, double *p)
{
	char *end;

	*p = strtod(text, &end);
	return end != text && *end == '\0' && *p >= 0 && *p <= 1;
}

static bool
parse_burst(char *value, struct faults *f)
{
	char *colon = strchr(value, ':'), *end;
	unsigned long len;

	if (colon == NULL)
		return false;
	*colon = '\0';
	len = strtoul(value, &end, 10);
	if (end == value || *end != '\0' || len < 1 || len > FAULT_BURST_MAX)
		return false;
	f->burst_len = (unsigned int)len;
	return parse_probability(colon + 1, &f->burst);
}

static bool
parse_fault(char *item, struct faults *f)
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
		return parse_burst(value, f);
	for (size_t i = 0; i < WEFT_ARRAY_SIZE(plain); i++)
		if (strcmp(item, plain[i].name) == 0)
			return parse_probability(value, plain[i].field);
	return false;
}

int
faults_parse(const char *text, struct faults *f, char *err, size_t err_len)
{
	char copy[256], *save, *item;
	struct faults parsed = { 0 };

	if (strcmp(text, "none") == 0) {
		*f = parsed;
		return 0;
	}
	if (strlen(text) >= sizeof(copy) || text[0] == '\0') {
		snprintf(err, err_len, "expected %s", faults_syntax);
		return -EINVAL;
	}
	strcpy(copy, text);
	for (item = strtok_r(copy, ",", &save); item != NULL; item = strtok_r(NULL, ",", &save)) {
		size_t at = (size_t)(item - copy);

		if (!parse_fault(item, &parsed)) {
			snprintf(err, err_len, "expected %s; got \"%s\"", faults_syntax, text + at);
			return -EINVAL;
		}
	}
	*f = parsed;
	return 0;
}

/* Distance to the next wrong bit, 1 or more: geometric. */
static uint64_t
next_error(double ber, struct weft_rand *rand)
{
	double d = ceil(log1p(-weft_rand_unit(rand)) / log1p(-ber));

	/* At a rate of 1 the logarithm is minus infinity, and every bit is wrong. */
	return d < 1 ? 1 : d > 1e18 ? UINT64_C(1000000000000000000) : (uint64_t)d;
}

static unsigned int
damage_bits(double ber, struct weft_rand *rand, uint8_t *flit)
{
	unsigned int wrong = 0;

	if (ber <= 0)
		return 0;
	for (uint64_t bit = next_error(ber, rand) - 1; bit < WEFT_FLIT_LEN * 8;
		bit += next_error(ber, rand)) {
		flit[bit / 8] ^= (uint8_t)(1 << bit % 8);
		wrong++;
	}
	return wrong;
}

/* Every symbol of the burst is wrong. */
static unsigned int
damage_burst(unsigned int len, struct weft_rand *rand, uint8_t *flit)
{
	uint64_t start = weft_rand_below(rand, WEFT_FLIT_LEN - len + 1);
	unsigned int wrong = 0;

	for (unsigned int i = 0; i < len; i++) {
		unsigned int x = 1 + (unsigned int)weft_rand_below(rand, 255);

		flit[start + i] ^= (uint8_t)x;
		wrong += (unsigned int)__builtin_popcount(x);
	}
	return wrong;
}

void
faults_damage(const struct faults *f, struct weft_rand *rand, uint8_t *flit, struct fault_counts *c)
{
	unsigned int wrong = damage_bits(f->ber, rand, flit);

	if (faults_draw(rand, f->burst)) {
		wrong += damage_burst(f->burst_len, rand, flit);
		c->bursts++;
	}
	c->flipped_bits += wrong;
	c->hit_flits += wrong != 0;
}
