/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Settings as text, by one table for devargs, options and telemetry, and their ranges. */

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "weft_impair.h"

enum key_kind { KEY_SEED, KEY_PROBABILITY, KEY_NUMBER, KEY_TIME };

#define OFF(field) offsetof(struct weft_impair_cfg, field)
#define NO_P 0 /* `seed` is there, and no probability */
static_assert(OFF(seed) == NO_P, "an offset that no probability has");

/* A probability stands behind every key that may switch it on, as weft_impair_write() needs. */
const struct weft_impair_key weft_impair_keys[] = {
	{ "seed", "N: of the random numbers", KEY_SEED, OFF(seed), NO_P },
	{ "ber", "P: of each bit to be wrong", KEY_PROBABILITY, OFF(ber), NO_P },
	{ "bits", "K or K@P: exactly K wrong bits in a flit, 1..64", KEY_NUMBER, OFF(bits),
		OFF(bits_p) },
	{ "bits_p", "P: of a flit to get them", KEY_PROBABILITY, OFF(bits_p), NO_P },
	{ "burst", "K or K@P: K wrong symbols in a row in a flit, 1..256", KEY_NUMBER, OFF(burst),
		OFF(burst_p) },
	{ "burst_p", "P: of a flit to get them", KEY_PROBABILITY, OFF(burst_p), NO_P },
	{ "channel", "P: of a burst of bits to start in a flit", KEY_PROBABILITY, OFF(channel),
		NO_P },
	{ "uncorrectable", "P: of a flit to be beyond the FEC", KEY_PROBABILITY, OFF(uncorrectable),
		NO_P },
	{ "drop", "P: of a frame to be lost", KEY_PROBABILITY, OFF(drop), NO_P },
	{ "dup", "P: of a frame to come twice", KEY_PROBABILITY, OFF(dup), NO_P },
	{ "reorder", "P: of a frame to be held back", KEY_PROBABILITY, OFF(reorder), NO_P },
	{ "reorder_us", "T: for how long, up to 10 s", KEY_TIME, OFF(reorder_ns), NO_P },
	{ "replay", "P: of an earlier frame to come once more", KEY_PROBABILITY, OFF(replay),
		NO_P },
	{ "history", "N: frames kept for that, up to 1024", KEY_NUMBER, OFF(history), NO_P },
	{ "delay_us", "T or T@P: a frame comes late by T, up to 10 s", KEY_TIME, OFF(delay_ns),
		OFF(delay_p) },
	{ "jitter_us", "T or T@P: and by 0 to T more", KEY_TIME, OFF(jitter_ns), OFF(delay_p) },
	{ "delay_p", "P: of a frame to come late", KEY_PROBABILITY, OFF(delay_p), NO_P },
};
const unsigned int weft_impair_n_keys = WEFT_ARRAY_SIZE(weft_impair_keys);

void
weft_impair_defaults(struct weft_impair_cfg *cfg)
{
	*cfg = (struct weft_impair_cfg){ .seed = 1, .reorder_ns = 100000, .history = 64 };
}

static bool
key_is_probability(double p)
{
	return p >= 0 && p <= 1;
}

/* A number that may be 0 only while the probability is. */
static bool
key_fits(double p, uint64_t number, uint64_t max)
{
	return number <= max && (number > 0 || p <= 0);
}

int
weft_impair_check(const struct weft_impair_cfg *cfg, char *err, size_t len)
{
	const struct {
		bool ok;
		const char *what;
	} rules[] = {
		{ key_is_probability(cfg->ber), "ber must be 0 to 1" },
		{ key_is_probability(cfg->bits_p), "bits_p must be 0 to 1" },
		{ key_fits(cfg->bits_p, cfg->bits, WEFT_IMPAIR_BITS_MAX), "bits must be 1 to 64" },
		{ key_is_probability(cfg->burst_p), "burst_p must be 0 to 1" },
		{ key_fits(cfg->burst_p, cfg->burst, WEFT_IMPAIR_BURST_MAX),
			"burst must be 1 to 256" },
		{ key_is_probability(cfg->channel), "channel must be 0 to 1" },
		{ key_is_probability(cfg->uncorrectable), "uncorrectable must be 0 to 1" },
		{ key_is_probability(cfg->drop), "drop must be 0 to 1" },
		{ key_is_probability(cfg->dup), "dup must be 0 to 1" },
		{ key_is_probability(cfg->reorder), "reorder must be 0 to 1" },
		{ key_fits(cfg->reorder, cfg->reorder_ns, WEFT_IMPAIR_DELAY_MAX_NS),
			"reorder_us must be more than 0 and at most 10000000" },
		{ key_is_probability(cfg->replay), "replay must be 0 to 1" },
		{ key_fits(cfg->replay, cfg->history, WEFT_IMPAIR_HISTORY_MAX),
			"history must be 1 to 1024" },
		{ key_is_probability(cfg->delay_p), "delay_p must be 0 to 1" },
		{ cfg->delay_ns <= WEFT_IMPAIR_DELAY_MAX_NS, "delay_us must be at most 10000000" },
		{ cfg->jitter_ns <= WEFT_IMPAIR_DELAY_MAX_NS,
			"jitter_us must be at most 10000000" },
	};

	for (size_t i = 0; i < WEFT_ARRAY_SIZE(rules); i++)
		if (!rules[i].ok) {
			if (len > 0)
				snprintf(err, len, "%s", rules[i].what);
			return -EINVAL;
		}
	return 0;
}

/* Plain digits first: strtod() alone would also take blanks, signs, "inf" and "nan". */
static bool
key_read_real(const char *text, double max, double *v)
{
	char *end;

	if (!isdigit((unsigned char)text[0]) && text[0] != '.')
		return false;
	*v = strtod(text, &end);
	return *end == '\0' && end != text && *v <= max;
}

static bool
key_read_integer(const char *text, uint64_t max, uint64_t *v)
{
	char *end;

	/* Nobody means base 8. */
	if (!isdigit((unsigned char)text[0]) || (text[0] == '0' && isdigit((unsigned char)text[1])))
		return false;
	errno = 0;
	*v = strtoull(text, &end, 0);
	return *end == '\0' && errno == 0 && *v <= max;
}

/* The value without its @P. */
static bool
key_set_field(struct weft_impair_cfg *cfg, const struct weft_impair_key *key, const char *text)
{
	char *field = (char *)cfg + key->off;
	double real;
	uint64_t whole;

	switch ((enum key_kind)key->kind) {
	case KEY_SEED:
		if (!key_read_integer(text, UINT64_MAX, &whole))
			return false;
		memcpy(field, &whole, sizeof(whole));
		return true;
	case KEY_PROBABILITY:
		if (!key_read_real(text, 1, &real))
			return false;
		memcpy(field, &real, sizeof(real));
		return true;
	case KEY_NUMBER:
		if (!key_read_integer(text, UINT32_MAX, &whole))
			return false;
		memcpy(field, &(unsigned int){ (unsigned int)whole }, sizeof(unsigned int));
		return true;
	case KEY_TIME:
		if (!key_read_real(text, (double)WEFT_IMPAIR_DELAY_MAX_NS / 1000, &real))
			return false;
		whole = (uint64_t)llround(real * 1000);
		memcpy(field, &whole, sizeof(whole));
		return true;
	}
	return false;
}

/* The probability that goes with the value: as said, or 1 where there was none. */
static bool
key_set_probability(struct weft_impair_cfg *cfg, const struct weft_impair_key *key,
	const char *text, const char *value)
{
	double *p = (double *)(void *)((char *)cfg + key->p_off);

	if (text != NULL)
		return key_read_real(text, 1, p);
	if (*p <= 0 && strtod(value, NULL) > 0)
		*p = 1;
	return true;
}

static bool
key_set(struct weft_impair_cfg *cfg, const struct weft_impair_key *key, const char *value)
{
	char copy[64];
	char *at;

	if (strlen(value) >= sizeof(copy))
		return false;
	strcpy(copy, value);
	at = key->p_off != NO_P ? strchr(copy, '@') : NULL;
	if (at != NULL)
		*at++ = '\0';
	if (!key_set_field(cfg, key, copy))
		return false;
	return key->p_off == NO_P || key_set_probability(cfg, key, at, copy);
}

static const struct weft_impair_key *
key_find(const char *name)
{
	for (unsigned int i = 0; i < weft_impair_n_keys; i++)
		if (strcmp(weft_impair_keys[i].name, name) == 0)
			return &weft_impair_keys[i];
	return NULL;
}

/* An error with the text at fault, of which a person gets one line. */
__attribute__((format(printf, 3, 4))) static void
key_say_fault(char *err, size_t len, const char *format, ...)
{
	va_list args;

	if (len == 0)
		return;
	va_start(args, format);
	vsnprintf(err, len, format, args);
	va_end(args);
	for (; *err != '\0'; err++)
		if (!isprint((unsigned char)*err))
			*err = '?';
}

/* Name the key, and those that there are. */
static void
key_say_unknown(char *err, size_t len, const char *key)
{
	char list[256] = "";
	size_t used = 0;

	for (unsigned int i = 0; i < weft_impair_n_keys; i++)
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", i > 0 ? "|" : "",
			weft_impair_keys[i].name);
	key_say_fault(err, len, "unknown key \"%.48s\", expected %s", key, list);
}

int
weft_impair_parse(
	struct weft_impair_cfg *cfg, const char *key, const char *value, char *err, size_t len)
{
	const struct weft_impair_key *k = key_find(key);
	struct weft_impair_cfg changed = *cfg;

	if (k == NULL) {
		key_say_unknown(err, len, key);
		return -ENOENT;
	}
	if (!key_set(&changed, k, value)) {
		key_say_fault(err, len, "%s: expected %s; got \"%s\"", key, k->help, value);
		return -EINVAL;
	}
	*cfg = changed;
	return 0;
}

/* Whether a key that there is comes for the first time. */
static bool
key_take(uint32_t *given, const char *name)
{
	const uint32_t bit = UINT32_C(1) << (key_find(name) - weft_impair_keys);
	const bool is_new = (*given & bit) == 0;

	*given |= bit;
	return is_new;
}

int
weft_impair_parse_list(struct weft_impair_cfg *cfg, const char *text, char *err, size_t len)
{
	struct weft_impair_cfg changed = *cfg;
	char copy[512], *rest = copy, *item;
	uint32_t given = 0; /* a bit a key */
	int rc = 0;

	if (strlen(text) >= sizeof(copy)) {
		key_say_fault(err, len, "more than %zu characters", sizeof(copy) - 1);
		return -EINVAL;
	}
	if (*text == '\0')
		return 0;
	strcpy(copy, text);
	while (rc == 0 && (item = strsep(&rest, ",")) != NULL) {
		char *value = strchr(item, '=');

		if (value == NULL) {
			key_say_fault(err, len, "expected key=value; got \"%s\"", item);
			return -EINVAL;
		}
		*value++ = '\0';
		rc = weft_impair_parse(&changed, item, value, err, len);
		if (rc == 0 && !key_take(&given, item)) {
			key_say_fault(err, len, "%s: expected it once, got it again", item);
			rc = -EINVAL;
		}
	}
	if (rc != 0)
		return rc;
	*cfg = changed;
	return 0;
}

void
weft_impair_print(const struct weft_impair_cfg *cfg, unsigned int key, char *text, size_t len)
{
	const struct weft_impair_key *k = &weft_impair_keys[key];
	const char *field = (const char *)cfg + k->off;
	unsigned int number;
	uint64_t whole;
	double real;

	switch ((enum key_kind)k->kind) {
	case KEY_SEED:
		memcpy(&whole, field, sizeof(whole));
		snprintf(text, len, "%llu", (unsigned long long)whole);
		break;
	case KEY_PROBABILITY:
		memcpy(&real, field, sizeof(real));
		snprintf(text, len, "%.12g", real);
		break;
	case KEY_NUMBER:
		memcpy(&number, field, sizeof(number));
		snprintf(text, len, "%u", number);
		break;
	case KEY_TIME:
		memcpy(&whole, field, sizeof(whole));
		snprintf(text, len, "%.11g", (double)whole / 1000);
		break;
	}
}

/* Append key @p i, and keep in @p told what whoever reads the text has by then. */
static size_t
key_put(char *text, size_t len, size_t used, unsigned int i, const char *value,
	struct weft_impair_cfg *told)
{
	const char *name = weft_impair_keys[i].name;
	const int n =
		snprintf(text + used, len - used, "%s%s=%s", used > 0 ? "," : "", name, value);

	(void)weft_impair_parse(told, name, value, NULL, 0);
	return used + (size_t)n < len ? used + (size_t)n : len - 1;
}

void
weft_impair_write(const struct weft_impair_cfg *cfg, char *text, size_t len)
{
	struct weft_impair_cfg usual, told;
	char value[32], usual_value[32], told_value[32];
	size_t used = 0;

	weft_impair_defaults(&usual);
	told = usual;
	text[0] = '\0';
	for (unsigned int key = 0; key < weft_impair_n_keys; key++) {
		weft_impair_print(cfg, key, value, sizeof(value));
		weft_impair_print(&usual, key, usual_value, sizeof(usual_value));
		weft_impair_print(&told, key, told_value, sizeof(told_value));
		/* The first one always: no text would say that there is no wire. */
		if (key == 0 || strcmp(value, told_value) != 0 || strcmp(value, usual_value) != 0)
			used = key_put(text, len, used, key, value, &told);
	}
}
