/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Readers of single values: numbers, sizes, words, text and the three with a form of their own
 * (PCI address, CPU list, NUMA node). Each stores its result or reports what it expected and got.
 * doc/topology.md gives the forms.
 */

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "topo_priv.h"

/* Report that @v is not what was expected; names its text, or its kind if it has none. */
int
topo_bad(struct topo_load *l, const struct topo_value *v, const char *what, const char *expected,
	...)
{
	static const char *const kinds[] = { "", "a list", "a mapping" };
	char want[160];
	va_list args;

	va_start(args, expected);
	vsnprintf(want, sizeof(want), expected, args);
	va_end(args);
	if (v->kind != TOPO_SCALAR)
		return topo_fail(
			l, -EINVAL, v->line, "%s, expected %s, got %s", what, want, kinds[v->kind]);
	if (v->text[0] == '\0')
		return topo_fail(l, -EINVAL, v->line, "%s, expected %s, got nothing", what, want);
	return topo_fail(
		l, -EINVAL, v->line, "%s, expected %s, got \"%.48s\"", what, want, v->text);
}

void
topo_add_word(char *list, size_t room, const char *between, const char *word)
{
	const size_t used = strlen(list);

	snprintf(list + used, room - used, "%s%s", used == 0 ? "" : between, word);
}

static int
value_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return 16;
}

/*
 * Decimal or 0x hexadecimal at @s. Returns what follows it, or NULL if there is no number or it
 * takes more than 64 bits. YAML versions disagree whether 010 is eight or ten, so a leading zero
 * is refused.
 */
static const char *
value_parse_number(const char *s, uint64_t *value)
{
	int base = s[0] == '0' && s[1] == 'x' ? 16 : 10;
	const char *first = base == 16 ? s + 2 : s;
	const char *p = first;

	*value = 0;
	for (; value_digit(*p) < base; p++) {
		if (__builtin_mul_overflow(*value, (uint64_t)base, value) ||
			__builtin_add_overflow(*value, (uint64_t)value_digit(*p), value))
			return NULL;
	}
	if (p == first || (base == 10 && p - first > 1 && first[0] == '0'))
		return NULL;
	return p;
}

/* Whether @v is a bare word: a quoted number is text, and text is not a number. */
static bool
value_is_plain(const struct topo_value *v)
{
	return v->kind == TOPO_SCALAR && !v->quoted;
}

static void
value_store(void *base, const struct topo_key *k, uint64_t value)
{
	void *to = (char *)base + k->offset;

	switch (k->width) {
	case 1: *(uint8_t *)to = (uint8_t)value; break;
	case 2: *(uint16_t *)to = (uint16_t)value; break;
	case 4: *(uint32_t *)to = (uint32_t)value; break;
	default: *(uint64_t *)to = value; break;
	}
}

/* Whether @value is in the key's range and takes its steps; the words for those. */
static bool
value_fits(const struct topo_key *k, uint64_t value)
{
	const bool is_step =
		k->step == POWER_OF_2 ? (value & (value - 1)) == 0 : value % k->step == 0;

	return value >= k->min && value <= k->max && is_step;
}

static const char *
value_steps_text(const struct topo_key *k, char text[40])
{
	text[0] = '\0';
	if (k->step == POWER_OF_2)
		strcpy(text, ", a power of 2");
	else if (k->step != 1)
		snprintf(text, 40, ", a multiple of %u", (unsigned int)k->step);
	return text;
}

int
topo_read_number(
	struct topo_load *l, const struct topo_value *v, const struct topo_key *k, void *base)
{
	const char *end = NULL;
	uint64_t value = 0;
	char steps[40];

	if (value_is_plain(v))
		end = value_parse_number(v->text, &value);
	if (end == NULL || *end != '\0' || !value_fits(k, value))
		return topo_bad(l, v, "bad number", "%llu..%llu%s", (unsigned long long)k->min,
			(unsigned long long)k->max, value_steps_text(k, steps));
	value_store(base, k, value);
	return 0;
}

/* A decimal, such as 0.25 or 1e-3. Plain digits first: strtod() takes blanks, signs and words. */
int
topo_read_share(
	struct topo_load *l, const struct topo_value *v, const struct topo_key *k, void *base)
{
	double *to = (double *)(void *)((char *)base + k->offset);
	double value = 0;
	char *end = NULL;

	if (value_is_plain(v) && value_digit(v->text[0]) < 10 &&
		strspn(v->text, "0123456789.eE-") == strlen(v->text))
		value = strtod(v->text, &end);
	if (end == NULL || *end != '\0' || !(value >= 0 && value <= 1))
		return topo_bad(l, v, "bad share", "0..1, such as 0.01");
	*to = value;
	return 0;
}

int
topo_read_size(
	struct topo_load *l, const struct topo_value *v, const struct topo_key *k, void *base)
{
	static const char suffixes[] = "KMG";
	const char *end = NULL;
	uint64_t value = 0;
	char steps[40];

	if (value_is_plain(v))
		end = value_parse_number(v->text, &value);
	if (end != NULL && *end != '\0') {
		const char *suffix = strchr(suffixes, *end++);

		if (suffix == NULL || __builtin_mul_overflow(value,
					      UINT64_C(1024) << 10 * (suffix - suffixes), &value))
			end = NULL;
	}
	if (end == NULL || *end != '\0' || !value_fits(k, value))
		return topo_bad(l, v, "bad size", "%llu..%llu bytes%s, K, M or G may follow",
			(unsigned long long)k->min, (unsigned long long)k->max,
			value_steps_text(k, steps));
	value_store(base, k, value);
	return 0;
}

int
topo_read_word(
	struct topo_load *l, const struct topo_value *v, const struct topo_key *k, void *base)
{
	char list[128] = "";

	for (unsigned int i = 0; k->words[i] != NULL && (k->max == 0 || i <= k->max); i++) {
		if (v->kind == TOPO_SCALAR && strcmp(v->text, k->words[i]) == 0) {
			value_store(base, k, i);
			return 0;
		}
		topo_add_word(list, sizeof(list), "|", k->words[i]);
	}
	return topo_bad(l, v, "bad word", "%s", list);
}

static bool
value_has_control(const char *text)
{
	for (; *text != '\0'; text++) {
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			return true;
	}
	return false;
}

int
topo_read_text(
	struct topo_load *l, const struct topo_value *v, const struct topo_key *k, void *base)
{
	size_t len = v->kind == TOPO_SCALAR ? strlen(v->text) : 0;

	if (v->kind != TOPO_SCALAR || len < k->min || len > k->max)
		return topo_bad(l, v, "bad text", "%llu..%llu characters",
			(unsigned long long)k->min, (unsigned long long)k->max);
	if (k->allowed != NULL && v->text[strspn(v->text, k->allowed)] != '\0')
		return topo_bad(l, v, "bad character", "only %s", k->allowed);
	if (value_has_control(v->text))
		return topo_bad(l, v, "bad character", "no control characters");
	memcpy((char *)base + k->offset, v->text, len + 1);
	return 0;
}

/* Whether @text has a hexadecimal digit for each h of @form and its other characters as given. */
static bool
value_has_form(const char *text, const char *form)
{
	for (; *form != '\0'; text++, form++) {
		if (*form == 'h' ? value_digit(*text) > 15 : *text != *form)
			return false;
	}
	return *text == '\0';
}

/* Both usual forms of a PCI address, stored as the long one in lower case. */
int
topo_read_pci(struct topo_load *l, const struct topo_value *v, const struct topo_key *k, void *base)
{
	char *to = (char *)base + k->offset;
	bool is_long = v->kind == TOPO_SCALAR && value_has_form(v->text, "hhhh:hh:hh.h");

	if (!is_long && (v->kind != TOPO_SCALAR || !value_has_form(v->text, "hh:hh.h")))
		return topo_bad(l, v, "bad PCI address", "one like \"0000:5e:00.0\"");
	strcpy(to, is_long ? "" : "0000:");
	strcat(to, v->text);
	for (; *to != '\0'; to++) {
		if (*to >= 'A' && *to <= 'F')
			*to = (char)(*to - 'A' + 'a');
	}
	return 0;
}

static bool
value_node_has_lcore(const struct weft_topo_node *node, uint64_t cpu)
{
	for (unsigned int i = 0; i < node->n_lcores; i++) {
		if (node->lcore[i] == cpu)
			return true;
	}
	return false;
}

/* Append CPUs first..last; false if one is out of range, there twice, or there is no room. */
static bool
value_node_add_lcores(struct weft_topo_node *node, uint64_t first, uint64_t last)
{
	if (last > TOPO_CPU_MAX || first > last)
		return false;
	for (uint64_t cpu = first; cpu <= last; cpu++) {
		if (node->n_lcores == WEFT_TOPO_NODE_LCORES || value_node_has_lcore(node, cpu))
			return false;
		node->lcore[node->n_lcores++] = (uint16_t)cpu;
	}
	return true;
}

static bool
value_parse_lcores(struct weft_topo_node *node, const char *text)
{
	uint64_t first, last;

	for (;; text++) {
		text = value_parse_number(text, &first);
		last = first;
		if (text != NULL && *text == '-')
			text = value_parse_number(text + 1, &last);
		if (text == NULL || !value_node_add_lcores(node, first, last))
			return false;
		if (*text != ',')
			return *text == '\0';
	}
}

int
topo_read_lcores(
	struct topo_load *l, const struct topo_value *v, const struct topo_key *k, void *base)
{
	struct topo_node_src *src = base;

	(void)k;
	if (v->kind != TOPO_SCALAR || !value_parse_lcores(&src->out, v->text))
		return topo_bad(l, v, "bad CPU list",
			"CPUs 0..%d like \"2-3,5\", at most %d, each once", TOPO_CPU_MAX,
			WEFT_TOPO_NODE_LCORES);
	return 0;
}

int
topo_read_numa(
	struct topo_load *l, const struct topo_value *v, const struct topo_key *k, void *base)
{
	struct topo_node_src *src = base;
	const char *end = NULL;
	uint64_t value = 0;

	(void)k;
	src->out.numa = -1;
	if (value_is_plain(v) && strcmp(v->text, "any") == 0)
		return 0;
	if (value_is_plain(v))
		end = value_parse_number(v->text, &value);
	if (end == NULL || *end != '\0' || value > TOPO_NUMA_MAX)
		return topo_bad(l, v, "bad NUMA node", "any or 0..%d", TOPO_NUMA_MAX);
	src->out.numa = (int16_t)value;
	return 0;
}

int
topo_read_names(
	struct topo_load *l, const struct topo_value *v, const struct topo_key *k, void *base)
{
	if (v->kind != TOPO_LIST || v->count < k->min || v->count > k->max)
		return topo_bad(l, v, "bad list", "a list of %llu..%llu names",
			(unsigned long long)k->min, (unsigned long long)k->max);
	for (unsigned int i = v->first; i != 0; i = l->tree.value[i].next)
		if (l->tree.value[i].kind != TOPO_SCALAR)
			return topo_bad(l, &l->tree.value[i], "bad name", "a name");
	*(unsigned int *)((char *)base + k->offset) = (unsigned int)(v - l->tree.value);
	return 0;
}

int
topo_read_at(struct topo_load *l, const struct topo_value *v, const struct topo_key *k, void *base)
{
	struct topo_node_src *src = base;
	unsigned int n = 0;

	(void)k;
	if (v->kind != TOPO_LIST || v->count == 0 || v->count > WEFT_TOPO_DIMENSIONS)
		return topo_bad(
			l, v, "bad coordinates", "a list of 1..%d numbers", WEFT_TOPO_DIMENSIONS);
	for (unsigned int i = v->first; i != 0; i = l->tree.value[i].next) {
		const struct topo_key coordinate = {
			.offset = offsetof(struct topo_node_src, out.at) +
			          n++ * sizeof(src->out.at[0]),
			.width = sizeof(src->out.at[0]),
			.max = WEFT_TOPO_NODES - 1,
			.step = 1,
		};
		int rc = topo_read_number(l, &l->tree.value[i], &coordinate, base);

		if (rc < 0)
			return rc;
	}
	src->out.n_at = (uint8_t)n;
	return 0;
}
