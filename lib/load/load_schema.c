/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The rows of both keys.def as a JSON Schema, for editors and other tools. Draft 7, since editors
 * know it. It is of values as YAML 1.2 reads them: 0x101 is an integer, 64K a string, and `on` is
 * no truth value. What rows say together is not in it; doc/topology.md says what that is.
 */

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include <jansson.h>

#include "load_priv.h"

#define DRAFT "http://json-schema.org/draft-07/schema#"
#define CPU "(0|[1-9][0-9]{0,3}|0x[0-9a-fA-F]{1,3})"
#define CPUS CPU "(-" CPU ")?"
#define SECOND_US (WEFT_IMPAIR_DELAY_MAX_NS / 1000)

struct schema {
	json_t *definitions;
	bool failed; /* something lacks: out of memory, or a row that is not understood */
};

/* Takes @value over. */
static void
schema_put(struct schema *s, json_t *to, const char *key, json_t *value)
{
	if (json_object_set_new(to, key, value) != 0)
		s->failed = true;
}

static void
schema_append(struct schema *s, json_t *to, json_t *value)
{
	if (json_array_append_new(to, value) != 0)
		s->failed = true;
}

/* jansson's integers have a sign; 2^64-1 becomes 2^64, the nearest that a reader may have. */
static json_t *
schema_number(uint64_t n)
{
	return n > INT64_MAX ? json_real((double)n) : json_integer((json_int_t)n);
}

/*
 * Decimal numbers @low..@high as alternatives of a pattern: each takes as many as differ in one
 * digit and all after it.
 */
static void
schema_put_decimals(FILE *f, uint64_t low, uint64_t high)
{
	const char *between = "";

	while (low <= high) {
		uint64_t block = 1, first, last;
		unsigned int free_digits = 0;

		while (low != 0 && low % (block * 10) == 0 && high - low >= block * 10 - 1) {
			block *= 10;
			free_digits++;
		}
		first = low / block % 10;
		last = first + (high - low + 1) / block - 1;
		last = last > 9 ? 9 : last;
		fprintf(f, "%s", between);
		if (low / block >= 10)
			fprintf(f, "%llu", (unsigned long long)(low / block / 10));
		if (first == last)
			fprintf(f, "%u", (unsigned int)first);
		else
			fprintf(f, "[%u-%u]", (unsigned int)first, (unsigned int)last);
		if (free_digits != 0)
			fprintf(f, "[0-9]{%u}", free_digits);
		between = "|";
		low += (last - first + 1) * block;
	}
}

static void
schema_put_powers(FILE *f, uint64_t low, uint64_t high)
{
	const char *between = "";

	for (uint64_t n = 1; n != 0 && n <= high; n <<= 1) {
		if (n < low)
			continue;
		fprintf(f, "%s%llu", between, (unsigned long long)n);
		between = "|";
	}
}

/* Sizes with a letter: their range in decimal, any in hexadecimal. */
static json_t *
schema_size_pattern(const struct topo_key *k)
{
	static const char suffixes[] = "KMG";
	json_t *pattern;
	char *text;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (f == NULL)
		return NULL;
	fprintf(f, "^(");
	for (unsigned int i = 0; suffixes[i] != '\0'; i++) {
		const uint64_t unit = UINT64_C(1024) << 10 * i;
		const uint64_t low = k->min / unit + (k->min % unit != 0), high = k->max / unit;

		if (low > high)
			continue;
		fprintf(f, "(");
		if (k->step == POWER_OF_2)
			schema_put_powers(f, low, high);
		else
			schema_put_decimals(f, low, high);
		fprintf(f, ")%c|", suffixes[i]);
	}
	fprintf(f, "0x[0-9a-fA-F]+[KMG])$");
	if (fclose(f) != 0)
		return NULL;
	pattern = json_string(text);
	free(text);
	return pattern;
}

static json_t *
schema_powers(struct schema *s, const struct topo_key *k)
{
	json_t *list = json_array();

	for (uint64_t n = 1; n != 0 && n <= k->max; n <<= 1)
		if (n >= k->min)
			schema_append(s, list, schema_number(n));
	return json_pack("{s:o}", "enum", list);
}

static json_t *
schema_range(uint64_t min, uint64_t max)
{
	return json_pack("{s:s, s:o, s:o}", "type", "integer", "minimum", schema_number(min),
		"maximum", schema_number(max));
}

static json_t *
schema_integer(struct schema *s, const struct topo_key *k)
{
	json_t *o;

	if (k->step == POWER_OF_2)
		return schema_powers(s, k);
	o = schema_range(k->min, k->max);
	if (k->step != 1)
		schema_put(s, o, "multipleOf", schema_number(k->step));
	return o;
}

static json_t *
schema_size(struct schema *s, const struct topo_key *k)
{
	return json_pack("{s:[o, {s:s, s:o}]}", "anyOf", schema_integer(s, k), "type", "string",
		"pattern", schema_size_pattern(k));
}

/* A word, but for those of truth, which are none to YAML. */
static json_t *
schema_word(const char *word)
{
	if (strcmp(word, "true") == 0 || strcmp(word, "false") == 0)
		return json_boolean(word[0] == 't');
	return json_string(word);
}

static json_t *
schema_words(struct schema *s, const char *const *words, uint64_t last)
{
	json_t *list = json_array();

	for (unsigned int i = 0; words[i] != NULL && (last == 0 || i <= last); i++)
		schema_append(s, list, schema_word(words[i]));
	return json_pack("{s:o}", "enum", list);
}

/* A name of digits alone is an integer to YAML, and fine. */
static json_t *
schema_text(const struct topo_key *k)
{
	char pattern[256] = "^[";
	size_t used = 2;

	if (k->allowed == NULL)
		return json_pack("{s:s, s:s, s:o, s:o}", "type", "string", "pattern",
			"^[^\\u0000-\\u001f\\u007f]*$", "minLength", schema_number(k->min),
			"maxLength", schema_number(k->max));
	for (const char *c = k->allowed; *c != '\0' && used < sizeof(pattern) - 8; c++) {
		const char *last = c;

		while (isalnum((unsigned char)last[0]) && last[1] == last[0] + 1)
			last++;
		if (strchr("\\]^-", *c) != NULL)
			pattern[used++] = '\\';
		pattern[used++] = *c;
		if (last - c > 1) {
			pattern[used++] = '-';
			pattern[used++] = *last;
			c = last;
		}
	}
	strcpy(pattern + used, "]+$");
	return json_pack("{s:[s, s], s:s, s:o}", "type", "string", "integer", "pattern", pattern,
		"maxLength", schema_number(k->max));
}

static json_t *
schema_names(const struct topo_key *k)
{
	const struct topo_key name = { .allowed =
					       topo_section[SECTION_ROOT].key[ROOT_FABRIC].allowed,
		.max = WEFT_TOPO_NAME_ROOM - 1 };

	return json_pack("{s:s, s:o, s:o, s:o}", "type", "array", "items", schema_text(&name),
		"minItems", schema_number(k->min), "maxItems", schema_number(k->max));
}

/* Of a key of a bad wire by what its help begins with: "P: ...". */
static json_t *
schema_wire_value(const char *help)
{
	if (strncmp(help, "N: ", 3) == 0)
		return schema_range(0, UINT64_MAX);
	if (strncmp(help, "P: ", 3) == 0)
		return json_pack("{s:s, s:i, s:i}", "type", "number", "minimum", 0, "maximum", 1);
	if (strncmp(help, "K or K@P: ", 10) == 0)
		return json_pack("{s:[s, s], s:i, s:s}", "type", "integer", "string", "minimum", 0,
			"pattern", "^[0-9]+@[0-9.][0-9.eE+-]*$");
	if (strncmp(help, "T: ", 3) == 0)
		return json_pack("{s:s, s:i, s:o}", "type", "number", "minimum", 0, "maximum",
			schema_number(SECOND_US));
	if (strncmp(help, "T or T@P: ", 10) == 0)
		return json_pack("{s:[s, s], s:i, s:o, s:s}", "type", "number", "string", "minimum",
			0, "maximum", schema_number(SECOND_US), "pattern",
			"^[0-9.][0-9.eE+-]*@[0-9.][0-9.eE+-]*$");
	return NULL;
}

static json_t *
schema_wire(struct schema *s)
{
	json_t *properties = json_object();

	for (unsigned int i = 0; i < weft_impair_n_keys; i++) {
		const struct weft_impair_key *k = &weft_impair_keys[i];
		json_t *value = schema_wire_value(k->help);

		schema_put(s, value, "description", json_string(k->help));
		schema_put(s, properties, k->name, value);
	}
	return json_pack("{s:s, s:b, s:o}", "type", "object", "additionalProperties", 0,
		"properties", properties);
}

/* Values whose rows have a reader of their own. */
static json_t *
schema_own(struct schema *s, const struct topo_key *k)
{
	if (k->read == topo_read_lcores)
		return json_pack("{s:[s, s], s:i, s:i, s:s}", "type", "integer", "string",
			"minimum", 0, "maximum", TOPO_CPU_MAX, "pattern", "^" CPUS "(," CPUS ")*$");
	if (k->read == topo_read_share)
		return schema_wire_value("P: ");
	if (k->read == topo_read_numa)
		return json_pack("{s:[s, s], s:i, s:i, s:s}", "type", "integer", "string",
			"minimum", 0, "maximum", TOPO_NUMA_MAX, "pattern", "^any$");
	if (k->read == topo_read_at)
		return json_pack("{s:s, s:o, s:i, s:i}", "type", "array", "items",
			schema_range(0, WEFT_TOPO_NODES - 1), "minItems", 1, "maxItems",
			WEFT_TOPO_DIMENSIONS);
	if (k->read == topo_read_pci)
		return json_pack("{s:s, s:s}", "type", "string", "pattern",
			"^([0-9a-fA-F]{4}:)?[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\\.[0-9a-fA-F]$");
	if (k->read == topo_read_wire)
		return schema_wire(s);
	return NULL;
}

static json_t *schema_section(struct schema *s, const struct topo_section *sec);

/* Definitions have the names that tables of doc/topology.md have. */
static json_t *
schema_ref(struct schema *s, const struct topo_section *sec)
{
	char name[64];

	snprintf(name, sizeof(name), "%s", sec->name);
	for (char *c = name; *c != '\0'; c++)
		*c = *c == ' ' ? '_' : *c;
	if (json_object_get(s->definitions, name) == NULL)
		schema_put(s, s->definitions, name, schema_section(s, sec));
	return json_pack("{s:s++}", "$ref", "#/definitions/", name, "");
}

static json_t *
schema_value(struct schema *s, const struct topo_key *k)
{
	if (k->read == topo_read_number)
		return schema_integer(s, k);
	if (k->read == topo_read_size)
		return schema_size(s, k);
	if (k->read == topo_read_word)
		return schema_words(s, k->words, k->max);
	if (k->read == topo_read_text)
		return schema_text(k);
	if (k->read == topo_read_names)
		return schema_names(k);
	if (k->read == topo_read_map) /* beside a reference nothing else counts */
		return json_pack("{s:[o]}", "allOf", schema_ref(s, k->section));
	if (k->read == topo_read_list)
		return json_pack("{s:s, s:o, s:i, s:o}", "type", "array", "items",
			schema_ref(s, k->section), "minItems", 1, "maxItems",
			schema_number(k->max));
	return schema_own(s, k);
}

/* Of a link of Markdown, which leads nowhere from here, the words. */
static void
schema_put_plain(FILE *f, const char *text, const char *end)
{
	for (; text < end; text++) {
		if (text[0] == ']' && text[1] == '(')
			text += strcspn(text, ")");
		else if (*text != '[')
			fputc(*text, f);
	}
}

static void
schema_describe(struct schema *s, const struct topo_key *k, json_t *value)
{
	const bool is_plain = k->usual[0] != '\0' && k->usual[0] != '(';
	const char *end = k->usual + strlen(k->usual);
	char *text;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (f == NULL) {
		s->failed = true;
		return;
	}
	schema_put_plain(f, k->help, k->help + strlen(k->help));
	if (k->form[0] != '\0')
		fprintf(f, "%s%s%s", ftell(f) == 0 ? "" : "; ",
			strncmp(k->form, "of ", 3) == 0 ? "name " : "", k->form);
	if (k->usual[0] == '(') {
		fprintf(f, "%sdefault: ", ftell(f) == 0 ? "" : "; ");
		schema_put_plain(f, k->usual + 1, end - 1);
	}
	if ((k->flags & MAY_CHANGE) != 0)
		fprintf(f, "%smay change while weftd runs", ftell(f) == 0 ? "" : "; ");
	if (fclose(f) != 0) {
		s->failed = true;
		return;
	}
	if (len != 0)
		schema_put(s, value, "description", json_string(text));
	free(text);
	if (is_plain && k->usual[strspn(k->usual, "0123456789")] == '\0')
		schema_put(s, value, "default", schema_number(strtoull(k->usual, NULL, 10)));
	else if (is_plain)
		schema_put(s, value, "default", schema_word(k->usual));
}

/* "dependencies" of a section whose items are of a kind: with this key it is one of those. */
static json_t *
schema_kinds(struct schema *s, const struct topo_section *sec)
{
	json_t *all = json_object();

	for (unsigned int i = 1; i < sec->n; i++) {
		const unsigned int in = sec->key[i].flags / TOPO_IN(0);
		json_t *kinds;

		if (in == 0)
			continue;
		kinds = json_array();
		for (unsigned int k = 0; sec->kinds[k] != NULL; k++)
			if ((in >> k & 1) != 0)
				schema_append(s, kinds, json_string(sec->kinds[k]));
		schema_put(s, all, sec->key[i].name,
			json_pack("{s:{s:{s:o}}}", "properties", "kind", "enum", kinds));
	}
	return all;
}

/* The items of a section whose keys depend on their kind. */
static json_t *
schema_of_kind(struct schema *s, const struct topo_section *sec, json_t *properties)
{
	json_t *all = json_array();

	for (unsigned int k = 0; sec->kinds[k] != NULL; k++)
		schema_append(s, all,
			json_pack("{s:{s:[s], s:{s:{s:s}}}, s:o}", "if", "required", "kind",
				"properties", "kind", "const", sec->kinds[k], "then",
				schema_ref(s, sec->of_kind[k])));
	return json_pack(
		"{s:s, s:o, s:o}", "type", "object", "properties", properties, "allOf", all);
}

static json_t *
schema_section(struct schema *s, const struct topo_section *sec)
{
	json_t *properties = json_object(), *required = json_array(), *o;

	for (unsigned int i = 1; i < sec->n; i++) {
		const struct topo_key *k = &sec->key[i], *type = k;
		json_t *value;

		if (k->read == topo_read_moved)
			continue;
		if (sec == topo_section && i == ROOT_WORKLOADS)
			type = &load_section[SECTION_LOAD_FILE].key[LOAD_FILE_WORKLOADS];
		value = schema_value(s, type);
		schema_describe(s, k, value);
		schema_put(s, properties, k->name, value);
		if ((k->flags & REQUIRED) != 0)
			schema_append(s, required, json_string(k->name));
	}
	if (sec->of_kind != NULL) {
		o = schema_of_kind(s, sec, properties);
	} else {
		o = json_pack("{s:s, s:b, s:o}", "type", "object", "additionalProperties", 0,
			"properties", properties);
		if (sec->kinds != NULL)
			schema_put(s, o, "dependencies", schema_kinds(s, sec));
	}
	schema_put(s, o, "required", required);
	return o;
}

char *
weft_load_schema(void)
{
	struct schema s = { .definitions = json_object() };
	json_t *root = json_pack("{s:s, s:s}", "$schema", DRAFT, "title",
		"The topology file of Weft, version " WEFT_VERSION);
	json_t *top = schema_section(&s, topo_section);
	char *text = NULL;

	json_decref(schema_ref(&s, &load_section[SECTION_LOAD_FILE]));
	if (json_object_update(root, top) != 0)
		s.failed = true;
	json_decref(top);
	schema_put(&s, root, "definitions", s.definitions);
	if (!s.failed)
		text = json_dumps(root, JSON_INDENT(2));
	json_decref(root);
	return text;
}
