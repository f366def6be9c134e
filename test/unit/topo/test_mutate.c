/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Good files with random damage: whatever comes, either a whole topology with its load or one error that names a
 * line of the file. Damage is to bytes (YAML breaks) and to words (keys and values trade places).
 */

#include "topo_test.h"

#include "weft_load.h"

#include <ctype.h>

#define ROUNDS 20000
#define ROOM 8192

struct sample {
	char text[ROOM];
	size_t len;
};

static void
sample_read(struct sample *s, const char *path)
{
	FILE *f = fopen(path, "re");

	assert_non_null(f);
	s->len = fread(s->text, 1, ROOM / 2, f);
	assert_true(feof(f));
	fclose(f);
}

/* Put @n bytes at @with in place of @cut bytes at @at, if they fit. */
static void
splice(struct sample *s, size_t at, size_t cut, const char *with, size_t n)
{
	if (s->len - cut + n > ROOM)
		return;
	memmove(s->text + at + n, s->text + at + cut, s->len - at - cut);
	memcpy(s->text + at, with, n);
	s->len = s->len - cut + n;
}

static void
damage_bytes(struct weft_rand *r, struct sample *s)
{
	size_t at = weft_rand_below(r, s->len);
	size_t n = weft_rand_below(r, s->len - at < 16 ? s->len - at : 16) + 1;
	char bytes[16];

	switch (weft_rand_below(r, 4)) {
	case 0: s->text[at] = (char)weft_rand_u64(r); break;
	case 1: splice(s, at, n < s->len - at ? n : s->len - at, "", 0); break;
	case 2:
		memcpy(bytes, s->text + weft_rand_below(r, s->len - 15), sizeof(bytes));
		splice(s, at, 0, bytes, sizeof(bytes));
		break;
	default: s->text[at] = "[]{}:,-#&*!|>'\"%@`\n\t 0"[weft_rand_below(r, 22)]; break;
	}
}

/* Start and length of a random word, or of whatever stands where none follows. */
static size_t
word_at(struct weft_rand *r, const struct sample *s, size_t *len)
{
	size_t at = weft_rand_below(r, s->len);

	while (at > 0 && isalnum((unsigned char)s->text[at - 1]))
		at--;
	for (*len = 0; at + *len < s->len && *len < 32; (*len)++) {
		if (!isalnum((unsigned char)s->text[at + *len]))
			break;
	}
	return at;
}

static void
damage_word(struct weft_rand *r, struct sample *s)
{
	char word[32];
	size_t from_len, to_len;
	size_t from = word_at(r, s, &from_len);
	size_t to = word_at(r, s, &to_len);

	memcpy(word, s->text + from, from_len);
	splice(s, to, to_len, word, from_len);
}

static unsigned int
count_lines(const struct sample *s)
{
	unsigned int lines = 1;

	/* Every line end of YAML: line feed, carriage return and the three beyond ASCII. */
	for (size_t i = 0; i < s->len; i++)
		lines += s->text[i] == '\n' || s->text[i] == '\r' || s->text[i] == '\x85' ||
		         s->text[i] == '\xa8' || s->text[i] == '\xa9';
	return lines;
}

static void
assert_whole(const struct weft_topo *t)
{
	assert_int_equal(t->n_ports, 2 * t->n_links);
	for (unsigned int i = 0; i < t->n_ports; i++) {
		const struct weft_topo_port *p = &t->port[i];

		assert_int_equal(t->port[p->peer].peer, i);
		assert_true(p->node < t->n_nodes);
		assert_true(weft_topo_port_flits(t, i) >= 1);
	}
	for (unsigned int h = 0; h < t->n_hosts; h++) {
		for (unsigned int g = 0; g < t->n_gfds; g++)
			assert_in_range(weft_topo_path_flits(t, t->host[h], t->gfd[g]), 1, 64);
	}
}

/* Findings of a file; the first one's text. */
struct findings {
	unsigned int n;
	char first[512];
};

static void
keep_first(void *arg, const struct weft_topo_error *e)
{
	struct findings *f = arg;

	if (f->n++ == 0)
		strcpy(f->first, e->text);
}

WEFT_TEST(damaged_files_load_whole_or_not_at_all)
{
	static const char *const paths[] = { TOPO_FORMS, TOPO_DIAMOND, TOPO_EXAMPLE, TOPO_POOL };
	struct sample samples[WEFT_ARRAY_SIZE(paths)];
	unsigned int good = 0, several = 0;
	struct weft_rand r;

	weft_test_seed(&r, __func__);
	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(paths); i++)
		sample_read(&samples[i], paths[i]);
	for (unsigned int i = 0; i < ROUNDS; i++) {
		struct sample s = samples[i % WEFT_ARRAY_SIZE(paths)];
		struct weft_topo_error err = { 0 };
		struct findings found = { 0 };
		struct weft_load_files files = { .topology = "m" };
		struct weft_load *load;
		struct weft_topo *t;
		unsigned int n_found;
		int rc;

		for (uint64_t n = 1 + weft_rand_below(&r, 3); n > 0; n--)
			(weft_rand_below(&r, 2) == 0 ? damage_bytes : damage_word)(&r, &s);
		files.yaml = s.text;
		files.len = s.len;
		rc = weft_load_open(&t, &load, &files, &err);
		n_found = weft_load_check(&files, keep_first, &found);
		assert_int_equal(n_found, found.n);
		assert_int_equal(found.n == 0, rc == 0);
		several += found.n > 1;
		if (rc != 0)
			assert_string_equal(found.first, err.text);
		if (rc == 0) {
			assert_whole(t);
			assert_int_equal(load->n_nodes, t->n_nodes);
			weft_load_free(load);
			weft_topo_free(t);
			good++;
			continue;
		}
		assert_true(t == NULL && load == NULL);
		assert_true(rc == -EINVAL || rc == -EFBIG);
		if (err.line < 1 || err.line > count_lines(&s) + 1 || strchr(err.text, '\n'))
			fail_msg("\"%s\"\n%.*s", err.text, (int)s.len, s.text);
	}
	/* Damage that is always fatal, or never, would test only half of this. */
	assert_in_range(good, ROUNDS / 100, ROUNDS / 2);
	assert_in_range(several, ROUNDS / 100, ROUNDS / 2);
}
