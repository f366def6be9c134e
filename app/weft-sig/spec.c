/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Domains as words of a command line: spec.h. */

#include "spec.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BAD_ARGUMENT 2

void
bad_argument(const char *fmt, ...)
{
	va_list ap;

	fputs("weft-sig: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(BAD_ARGUMENT);
}

uint64_t
spec_hex(const char *option, const char *text, uint64_t most)
{
	unsigned long long v;
	char *end;

	errno = 0;
	v = strtoull(text, &end, 16);
	/* strtoull takes signs and leading blanks: a number here has neither. */
	if (!isxdigit((unsigned char)text[0]) || *end != '\0' || errno != 0 || v > most)
		bad_argument("%s: expected a hex number up to %" PRIx64 ", got \"%s\"", option,
			most, text);
	return v;
}

static uint32_t
parse_block(const char *option, const char *text)
{
	for (const uint32_t *size = weft_sig_block_sizes(); *size != 0; size++) {
		char word[16];

		snprintf(word, sizeof(word), "%" PRIu32, *size);
		if (strcmp(word, text) == 0)
			return *size;
	}
	bad_argument("%s: expected a block of 512, 520, 4048, 4096 or 4160 bytes, got \"%s\"",
		option, text);
}

/* The value of WORD=VALUE if @p text begins with it; NULL otherwise. */
static const char *
value_of(const char *text, const char *word)
{
	const size_t len = strlen(word);

	return strncmp(text, word, len) == 0 && text[len] == '=' ? text + len + 1 : NULL;
}

static void
parse_crc(const char *option, char *rest, struct spec *s)
{
	const uint64_t ones = s->crc.type == WEFT_SIG_CRC64_XP10 ? UINT64_MAX : UINT32_MAX;

	s->crc.seed = ones;
	for (char *word = strtok(rest, ","); word != NULL; word = strtok(NULL, ",")) {
		const char *seed = value_of(word, "seed");

		if (seed == NULL)
			bad_argument("%s: expected seed=X, got \"%s\"", option, word);
		s->crc.seed = spec_hex(option, seed, ones);
	}
	if (s->crc.seed != 0 && s->crc.seed != ones)
		bad_argument("%s: a seed is 0 or %" PRIx64, option, ones);
	s->domain.sig_type = WEFT_SIG_CRC;
	s->domain.sig.crc = &s->crc;
}

static enum weft_sig_bg_type
parse_guard(const char *option, const char *value)
{
	if (strcmp(value, "crc") == 0)
		return WEFT_SIG_BG_CRC;
	if (strcmp(value, "csum") == 0)
		return WEFT_SIG_BG_CSUM;
	bad_argument("%s: expected guard=crc or guard=csum, got \"%s\"", option, value);
}

static void
parse_dif_flag(const char *option, const char *word, struct weft_sig_t10dif *dif)
{
	if (strcmp(word, "remap") == 0)
		dif->flags |= WEFT_SIG_REF_REMAP;
	else if (strcmp(word, "app-escape") == 0)
		dif->flags |= WEFT_SIG_APP_ESCAPE;
	else if (strcmp(word, "app-ref-escape") == 0)
		dif->flags |= WEFT_SIG_APP_REF_ESCAPE;
	else
		bad_argument("%s: expected guard=, bg=, app=, ref=, remap, app-escape or "
			     "app-ref-escape, got \"%s\"",
			option, word);
}

static void
parse_dif(const char *option, char *rest, struct spec *s)
{
	enum { GUARD = 1, BG = 2, APP = 4, REF = 8, ALL = 15 };
	unsigned int seen = 0;
	const char *value;

	for (char *word = strtok(rest, ","); word != NULL; word = strtok(NULL, ",")) {
		if ((value = value_of(word, "guard")) != NULL) {
			s->dif.bg_type = parse_guard(option, value);
			seen |= GUARD;
		} else if ((value = value_of(word, "bg")) != NULL) {
			s->dif.bg = (uint16_t)spec_hex(option, value, UINT16_MAX);
			seen |= BG;
		} else if ((value = value_of(word, "app")) != NULL) {
			s->dif.app_tag = (uint16_t)spec_hex(option, value, UINT16_MAX);
			seen |= APP;
		} else if ((value = value_of(word, "ref")) != NULL) {
			s->dif.ref_tag = (uint32_t)spec_hex(option, value, UINT32_MAX);
			seen |= REF;
		} else {
			parse_dif_flag(option, word, &s->dif);
		}
	}
	if (seen != ALL)
		bad_argument("%s: dif needs guard=, bg=, app= and ref=", option);
	if (s->dif.bg != 0 && s->dif.bg != UINT16_MAX)
		bad_argument("%s: bg is 0 or ffff", option);
	s->domain.sig_type = WEFT_SIG_T10DIF;
	s->domain.sig.dif = &s->dif;
}

const struct weft_sig_domain *
spec_parse(const char *option, char *text, struct spec *s)
{
	char *block = strchr(text, ':'), *rest;

	*s = (struct spec){ 0 };
	if (strcmp(text, "none") == 0)
		return NULL;
	if (block == NULL)
		bad_argument("%s: expected none or TYPE:BLOCK, got \"%s\"", option, text);
	*block++ = '\0';
	rest = block + strcspn(block, ",");
	if (*rest != '\0')
		*rest++ = '\0';
	s->domain.block_size = parse_block(option, block);
	if (strcmp(text, "crc32") == 0)
		s->crc.type = WEFT_SIG_CRC32;
	else if (strcmp(text, "crc32c") == 0)
		s->crc.type = WEFT_SIG_CRC32C;
	else if (strcmp(text, "crc64") == 0)
		s->crc.type = WEFT_SIG_CRC64_XP10;
	else if (strcmp(text, "dif") != 0)
		bad_argument(
			"%s: expected none, crc32, crc32c, crc64 or dif, got \"%s\"", option, text);
	if (strcmp(text, "dif") == 0)
		parse_dif(option, rest, s);
	else
		parse_crc(option, rest, s);
	return &s->domain;
}
