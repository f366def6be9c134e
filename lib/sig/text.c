/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Domains as words: see weft_sig_text.h. */

#include "weft_sig_text.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* One text on its way into a domain. */
struct reader {
	struct weft_sig_text *s;
	char *err;
	size_t err_len;
};

static int text_bad(const struct reader *r, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static int
text_bad(const struct reader *r, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(r->err, r->err_len, fmt, ap);
	va_end(ap);
	return -EINVAL;
}

int
weft_sig_text_hex(const char *text, uint64_t most, uint64_t *v)
{
	char *end;

	errno = 0;
	*v = strtoull(text, &end, 16);
	/* strtoull takes signs and leading blanks: a number here has neither. */
	if (!isxdigit((unsigned char)text[0]) || *end != '\0' || errno != 0 || *v > most)
		return -EINVAL;
	return 0;
}

static int
text_read_hex(const struct reader *r, const char *text, uint64_t most, uint64_t *v)
{
	if (weft_sig_text_hex(text, most, v) == 0)
		return 0;
	return text_bad(r, "expected a hex number up to %" PRIx64 ", got \"%.32s\"", most, text);
}

static int
text_read_block(const struct reader *r, const char *text)
{
	for (const uint32_t *size = weft_sig_block_sizes(); *size != 0; size++) {
		char word[16];

		snprintf(word, sizeof(word), "%" PRIu32, *size);
		if (strcmp(word, text) == 0) {
			r->s->domain.block_size = *size;
			return 0;
		}
	}
	return text_bad(
		r, "expected a block of 512, 520, 4048, 4096 or 4160 bytes, got \"%.32s\"", text);
}

/* The value of WORD=VALUE if @p text begins with it; NULL otherwise. */
static const char *
text_value(const char *text, const char *word)
{
	const size_t len = strlen(word);

	return strncmp(text, word, len) == 0 && text[len] == '=' ? text + len + 1 : NULL;
}

static int
text_read_crc(const struct reader *r, char *rest)
{
	struct weft_sig_crc *crc = &r->s->crc;
	const uint64_t ones = crc->type == WEFT_SIG_CRC64_XP10 ? UINT64_MAX : UINT32_MAX;
	bool has_seed = false;
	char *save = NULL;

	crc->seed = ones;
	for (char *w = strtok_r(rest, ",", &save); w != NULL; w = strtok_r(NULL, ",", &save)) {
		const char *seed = text_value(w, "seed");

		if (seed == NULL)
			return text_bad(r, "expected seed=X, got \"%.32s\"", w);
		if (has_seed)
			return text_bad(r, "expected each key once, got \"%.32s\" again", w);
		has_seed = true;
		if (text_read_hex(r, seed, ones, &crc->seed) != 0)
			return -EINVAL;
	}
	if (crc->seed != 0 && crc->seed != ones)
		return text_bad(r, "a seed is 0 or %" PRIx64, ones);
	r->s->domain.sig_type = WEFT_SIG_CRC;
	r->s->domain.sig.crc = crc;
	return 0;
}

/* Keys of dif, a bit each; the first four must be there. */
enum { GUARD = 1, BG = 2, APP = 4, REF = 8, ALL = 15, REMAP = 16, APP_ESC = 32, REF_ESC = 64 };

static int
text_read_guard(const struct reader *r, const char *value)
{
	if (strcmp(value, "crc") == 0)
		r->s->dif.bg_type = WEFT_SIG_BG_CRC;
	else if (strcmp(value, "csum") == 0)
		r->s->dif.bg_type = WEFT_SIG_BG_CSUM;
	else
		return text_bad(r, "expected guard=crc or guard=csum, got \"%.32s\"", value);
	return 0;
}

static int
text_read_dif_number(const struct reader *r, unsigned int key, const char *value)
{
	struct weft_sig_t10dif *dif = &r->s->dif;
	uint64_t v = 0;
	const int rc = text_read_hex(r, value, key == REF ? UINT32_MAX : UINT16_MAX, &v);

	switch (key) {
	case BG: dif->bg = (uint16_t)v; break;
	case APP: dif->app_tag = (uint16_t)v; break;
	default: dif->ref_tag = (uint32_t)v; break;
	}
	return rc;
}

static int
text_read_dif_word(const struct reader *r, const char *word, unsigned int *seen)
{
	static const struct {
		const char *name;
		unsigned int key;
		uint16_t flag; /* of those that have no value */
	} known[] = {
		{ "guard", GUARD, 0 },
		{ "bg", BG, 0 },
		{ "app", APP, 0 },
		{ "ref", REF, 0 },
		{ "remap", REMAP, WEFT_SIG_REF_REMAP },
		{ "app-escape", APP_ESC, WEFT_SIG_APP_ESCAPE },
		{ "app-ref-escape", REF_ESC, WEFT_SIG_APP_REF_ESCAPE },
	};

	for (size_t i = 0; i < WEFT_ARRAY_SIZE(known); i++) {
		const bool is_flag = known[i].flag != 0;
		const char *value = is_flag ? NULL : text_value(word, known[i].name);

		if (is_flag ? strcmp(word, known[i].name) != 0 : value == NULL)
			continue;
		if (*seen & known[i].key)
			return text_bad(r, "expected each key once, got \"%.32s\" again", word);
		*seen |= known[i].key;
		r->s->dif.flags |= known[i].flag;
		if (is_flag)
			return 0;
		return known[i].key == GUARD ? text_read_guard(r, value)
		                             : text_read_dif_number(r, known[i].key, value);
	}
	return text_bad(r,
		"expected guard=, bg=, app=, ref=, remap, app-escape or app-ref-escape, "
		"got \"%.32s\"",
		word);
}

static int
text_read_dif(const struct reader *r, char *rest)
{
	struct weft_sig_t10dif *dif = &r->s->dif;
	unsigned int seen = 0;
	char *save = NULL;

	for (char *w = strtok_r(rest, ",", &save); w != NULL; w = strtok_r(NULL, ",", &save))
		if (text_read_dif_word(r, w, &seen) != 0)
			return -EINVAL;
	if ((seen & ALL) != ALL)
		return text_bad(r, "dif needs guard=, bg=, app= and ref=");
	if (dif->bg != 0 && dif->bg != UINT16_MAX)
		return text_bad(r, "bg is 0 or ffff");
	r->s->domain.sig_type = WEFT_SIG_T10DIF;
	r->s->domain.sig.dif = dif;
	return 0;
}

/* TYPE:BLOCK,... in a copy that may be cut up. */
static int
text_read_domain(const struct reader *r, char *text)
{
	static const char *const crcs[] = { [WEFT_SIG_CRC32] = "crc32",
		[WEFT_SIG_CRC32C] = "crc32c",
		[WEFT_SIG_CRC64_XP10] = "crc64" };
	char *block = strchr(text, ':'), *rest;

	if (block == NULL)
		return text_bad(r, "expected none or TYPE:BLOCK, got \"%.32s\"", text);
	*block++ = '\0';
	rest = block + strcspn(block, ",");
	if (*rest != '\0')
		*rest++ = '\0';
	if (text_read_block(r, block) != 0)
		return -EINVAL;
	if (strcmp(text, "dif") == 0)
		return text_read_dif(r, rest);
	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(crcs); i++) {
		if (strcmp(text, crcs[i]) != 0)
			continue;
		r->s->crc.type = (enum weft_sig_crc_type)i;
		return text_read_crc(r, rest);
	}
	return text_bad(r, "expected none, crc32, crc32c, crc64 or dif, got \"%.32s\"", text);
}

int
weft_sig_text_parse(struct weft_sig_text *s, const char *text, const struct weft_sig_domain **d,
	char *err, size_t err_len)
{
	const struct reader r = { s, err, err_len };
	char copy[WEFT_SIG_TEXT_ROOM];

	*s = (struct weft_sig_text){ 0 };
	*d = NULL;
	if (strcmp(text, "none") == 0)
		return 0;
	if (strlen(text) >= sizeof(copy))
		return text_bad(&r, "expected at most %zu characters, got %zu", sizeof(copy) - 1,
			strlen(text));
	strcpy(copy, text);
	if (text_read_domain(&r, copy) != 0)
		return -EINVAL;
	*d = &s->domain;
	return 0;
}

int
weft_sig_domain_len(const struct weft_sig_domain *d, uint64_t data_len, uint64_t *len)
{
	unsigned int sig_len = 8;

	*len = data_len;
	if (d == NULL)
		return 0;
	if (d->sig_type == WEFT_SIG_CRC && d->sig.crc->type != WEFT_SIG_CRC64_XP10)
		sig_len = 4;
	if (data_len % d->block_size != 0 ||
		__builtin_add_overflow(data_len, data_len / d->block_size * sig_len, len))
		return -EINVAL;
	return 0;
}
