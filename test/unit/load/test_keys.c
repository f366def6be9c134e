/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The rows of both keys.def, of the fabric and of its load: their tables stand in doc/topology.md
 * as they are made here, and every row holds together. With WEFT_WRITE_DOC=1 the tables are written
 * there instead.
 */

#include "weft_test.h"

#include "load_priv.h"

#define DOC WEFT_TEST_VECTORS "/../../doc/topology.md"

static char *
read_all(const char *path)
{
	char *text = calloc(1, WEFT_TOPO_BYTES);
	FILE *f = fopen(path, "re");

	assert_non_null(text);
	assert_non_null(f);
	assert_true(fread(text, 1, WEFT_TOPO_BYTES - 1, f) > 0);
	fclose(f);
	return text;
}

/* A number as people write it: 2^48, 2^64-1, 64G. */
static void
put_number(FILE *f, const struct topo_key *k, uint64_t n)
{
	static const char suffixes[] = "KMG";
	const bool is_size = k->read == topo_read_size;
	unsigned int s = 0;

	if (n > 1u << 20 && (n & (n + 1)) == 0) {
		fprintf(f, "2^%d-1", __builtin_popcountll(n));
		return;
	}
	if (n >= 1u << 20 && (n & (n - 1)) == 0 && (!is_size || n > UINT64_C(1) << 36)) {
		fprintf(f, "2^%d", __builtin_ctzll(n));
		return;
	}
	while (is_size && s < 3 && n >= 1024 && n % 1024 == 0) {
		n /= 1024;
		s++;
	}
	fprintf(f, "%llu%.*s", (unsigned long long)n, s != 0, s == 0 ? "" : &suffixes[s - 1]);
}

static void
put_type(FILE *f, const struct topo_key *k)
{
	if (k->read == topo_read_word) {
		for (unsigned int i = 0; k->words[i] != NULL && (k->max == 0 || i <= k->max); i++)
			fprintf(f, "%s`%s`", i == 0 ? "" : ", ", k->words[i]);
	} else if (k->read == topo_read_text && k->max == WEFT_TOPO_NAME_ROOM - 1) {
		fprintf(f, "name");
	} else if (k->read == topo_read_text) {
		fprintf(f, "up to %llu characters", (unsigned long long)k->max);
	} else if (k->read == topo_read_names) {
		fprintf(f, "list of names");
	} else if (k->read == topo_read_map) {
		fprintf(f, "mapping");
	} else if (k->read == topo_read_list) {
		fprintf(f, "list of 1..%llu mappings", (unsigned long long)k->max);
	} else if (k->read == topo_read_number || k->read == topo_read_size) {
		put_number(f, k, k->min);
		fprintf(f, "..");
		put_number(f, k, k->max);
	}
}

/* "bytes, 68..65535", "name of a gfd", "4K..1G, a power of 2" */
static void
put_form(FILE *f, const struct topo_key *k)
{
	const bool is_number = k->read == topo_read_number || k->read == topo_read_size;
	const bool is_of = strncmp(k->form, "of ", 3) == 0;
	long begin;

	if (is_number && k->form[0] != '\0')
		fprintf(f, "%s, ", k->form);
	begin = ftell(f);
	put_type(f, k);
	if (is_number && k->step == POWER_OF_2)
		fprintf(f, ", a power of 2");
	else if (is_number && k->step != 1)
		fprintf(f, ", a multiple of %u", (unsigned int)k->step);
	if (!is_number && k->form[0] != '\0')
		fprintf(f, "%s%s",
			is_of               ? " "
			: ftell(f) == begin ? ""
			: k->words != NULL || k->allowed != NULL || k->max != 0 || k->width == 0
				? ", "
				: "",
			k->form);
}

static void
put_default(FILE *f, const struct topo_key *k)
{
	const size_t len = strlen(k->usual);

	if ((k->flags & REQUIRED) != 0)
		fprintf(f, "required");
	else if (k->usual[0] == '(')
		fprintf(f, "%.*s", (int)len - 2, k->usual + 1);
	else if (len != 0 && (k->read == topo_read_word || k->read == topo_read_text))
		fprintf(f, "`%s`", k->usual);
	else
		fprintf(f, "%s", k->usual);
}

static void
put_kinds(FILE *f, const struct topo_section *s, const struct topo_key *k)
{
	const unsigned int in = k->flags / TOPO_IN(0);
	const char *between = "";

	for (unsigned int i = 0; in != 0 && s->kinds[i] != NULL; i++) {
		if ((in >> i & 1) == 0)
			continue;
		fprintf(f, "%s%s", between, s->kinds[i]);
		between = ", ";
	}
	fprintf(f, "%s | ", in == 0 ? "all" : "");
}

static void
put_table(FILE *f, const struct topo_section *s)
{
	const bool has_kinds = s->kinds != NULL;

	fprintf(f, "| key | %stype, range | default | meaning |\n", has_kinds ? "in | " : "");
	fprintf(f, "|---|%s---|---|---|\n", has_kinds ? "---|" : "");
	for (unsigned int i = 1; i < s->n; i++) {
		const struct topo_key *k = &s->key[i];

		if (k->read == topo_read_moved)
			continue;
		fprintf(f, "| `%s` | ", k->name);
		if (has_kinds)
			put_kinds(f, s, k);
		put_form(f, k);
		fprintf(f, " | ");
		put_default(f, k);
		fprintf(f, " | %s%s%s|\n", k->help, k->help[0] == '\0' ? "" : " ",
			(k->flags & MAY_CHANGE) != 0 ? "(may change) " : "");
	}
}

static const struct {
	const struct topo_section *section;
	unsigned int n;
} all[] = { { topo_section, TOPO_SECTIONS }, { load_section, LOAD_SECTIONS } };

static const struct topo_section *
find_section(const char *name)
{
	for (unsigned int a = 0; a < WEFT_ARRAY_SIZE(all); a++) {
		for (unsigned int s = 0; s < all[a].n; s++) {
			const char *is = all[a].section[s].name;

			if (strncmp(name, is, strlen(is)) == 0 && name[strlen(is)] == ' ')
				return &all[a].section[s];
		}
	}
	fail_msg("doc/topology.md: no keys for \"%.16s\"", name);
	return NULL;
}

/* The page with each table as the rows have it: it has a place for each section, once. */
static char *
with_tables(const char *doc)
{
	static const char mark[] = "<!-- keys: ";
	unsigned int n = 0;
	const char *at;
	char *text;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	for (; (at = strstr(doc, mark)) != NULL; n++) {
		const struct topo_section *s = find_section(at + strlen(mark));

		at = strchr(at, '\n') + 1;
		fprintf(f, "%.*s", (int)(at - doc), doc);
		put_table(f, s);
		doc = strstr(at, "<!-- end -->\n");
		assert_non_null(doc);
	}
	assert_int_equal(n, all[0].n + all[1].n);
	fprintf(f, "%s", doc);
	fclose(f);
	return text;
}

WEFT_TEST(tables_of_the_page_are_the_rows)
{
	char *doc = read_all(DOC), *made = with_tables(doc);
	size_t same = 0;

	while (doc[same] != '\0' && doc[same] == made[same])
		same++;
	if (getenv("WEFT_WRITE_DOC") != NULL) {
		FILE *f = fopen(DOC, "we");

		assert_non_null(f);
		assert_true(fputs(made, f) >= 0 && fclose(f) == 0);
	} else if (strcmp(doc, made) != 0) {
		while (same > 0 && made[same - 1] != '\n')
			same--;
		fail_msg("doc/topology.md is not as keys.def says, run this test with "
			 "WEFT_WRITE_DOC=1 to write it: expected \"%.*s\"",
			(int)strcspn(made + same, "\n"), made + same);
	}
	free(doc);
	free(made);
}

/* What a reader takes that is none of the common ones, the schema has to say by itself. */
WEFT_TEST(every_row_is_in_the_schema)
{
	char *text = weft_load_schema();

	assert_non_null(text);
	for (unsigned int a = 0; a < WEFT_ARRAY_SIZE(all); a++) {
		for (unsigned int n = 0; n < all[a].n; n++) {
			const struct topo_section *s = &all[a].section[n];

			for (unsigned int i = 1; i < s->n; i++) {
				char key[80];

				snprintf(key, sizeof(key), "\"%s\": {", s->key[i].name);
				if (s->key[i].read != topo_read_moved && strstr(text, key) == NULL)
					fail_msg("no %s in the schema", key);
			}
		}
	}
	free(text);
}

/* A default is a value that the key's own reader takes, and nothing is required and has one. */
WEFT_TEST(every_row_holds_together)
{
	static union {
		struct load_read load;
		struct topo_node_src node;
		struct topo_link_src link;
		struct load_src item;
		struct load_transfer_src transfer;
	} to;

	for (unsigned int a = 0; a < WEFT_ARRAY_SIZE(all); a++) {
		for (unsigned int n = 0; n < all[a].n; n++) {
			const struct topo_section *s = &all[a].section[n];

			for (unsigned int i = 1; i < s->n; i++) {
				const struct topo_key *k = &s->key[i];
				const struct topo_value v = { .text = (char *)k->usual };
				struct weft_topo_error err;
				struct topo_load l = { .err = &err, .file = k->name };

				assert_non_null(k->read);
				assert_true((k->flags & REQUIRED) == 0 || k->usual[0] == '\0');
				assert_true(k->flags < TOPO_IN(0) || s->kinds != NULL);
				if (k->usual[0] != '\0' && k->usual[0] != '(' &&
					k->read(&l, &v, k, &to) != 0)
					fail_msg("%s", err.text);
			}
		}
	}
}
