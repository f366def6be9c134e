/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * CCI against the vectors that the Python model made (test/vectors/cci.txt): headers, every payload
 * of fabric.md 4.6 there and back, reserved bytes, wrong lengths and counts.
 */

#include "weft_test.h"

#include "weft_cci.h"
#include "weft_cci_text.h"

#define VECTOR_BYTES (WEFT_CCI_HDR + WEFT_CCI_MAX_PAYLOAD)

struct vector {
	uint8_t bytes[VECTOR_BYTES];
	size_t len;
	const char *text;
};

/* The next word of *line, which is cut behind it; the rest stays in *line. */
static char *
vector_word(char **line)
{
	char *word = strsep(line, " ");

	assert_non_null(word);
	return word;
}

static void
vector_read(struct vector *v, char *line)
{
	const char *hex = vector_word(&line);
	const size_t len = strcmp(hex, "-") == 0 ? 0 : strlen(hex) / 2;

	assert_true(len <= sizeof(v->bytes));
	v->len = weft_test_unhex(hex, v->bytes, len);
	assert_int_equal(v->len, len);
	v->text = line == NULL ? "" : line;
}

static const struct weft_cci_layout *
vector_payload(const char *side, const char *opcode)
{
	const struct weft_cci_command_layout *command =
		weft_cci_find_command((uint16_t)strtoul(opcode, NULL, 16));

	assert_non_null(command);
	return strcmp(side, "req") == 0 ? command->req : command->rsp;
}

static const struct weft_cci_layout *
vector_entry(const char *name)
{
	for (unsigned int i = 0; i < weft_cci_n_entries; i++)
		if (strcmp(weft_cci_entries[i]->name, name) == 0)
			return weft_cci_entries[i];
	fail_msg("no entry %s", name);
	return NULL;
}

static void
vector_check_read(const struct weft_cci_layout *layout, const struct vector *v)
{
	char text[WEFT_CCI_TEXT_MAX];

	assert_int_equal(weft_cci_print_payload(text, sizeof(text), layout, v->bytes, v->len), 0);
	assert_string_equal(text, v->text);
}

static void
vector_check_both(const struct weft_cci_layout *layout, const struct vector *v)
{
	uint8_t again[VECTOR_BYTES];

	vector_check_read(layout, v);
	assert_int_equal(
		weft_cci_parse_payload(again, sizeof(again), layout, v->text), (int)v->len);
	assert_memory_equal(again, v->bytes, v->len);
}

static void
vector_check_bad(const struct weft_cci_layout *layout, const struct vector *v)
{
	char text[WEFT_CCI_TEXT_MAX];
	const int rc = weft_cci_print_payload(text, sizeof(text), layout, v->bytes, v->len);

	assert_true(rc == -EMSGSIZE || rc == -EINVAL);
}

static void
vector_check_message(const struct vector *v)
{
	struct weft_cci_hdr h;
	uint8_t again[WEFT_CCI_HDR];
	char text[128];

	assert_int_equal(weft_cci_get_hdr(&h, v->bytes, v->len), 0);
	snprintf(text, sizeof(text),
		"response=%d background=%d tag=%u opcode=%u len=%u rc=%u ext=%u", h.is_response,
		h.is_background, h.tag, h.opcode, h.len, h.rc, h.ext);
	assert_string_equal(text, v->text);
	weft_cci_put_hdr(again, &h);
	assert_memory_equal(again, v->bytes, sizeof(again));
}

WEFT_TEST(vectors_of_the_model_hold)
{
	static struct vector v;
	const struct weft_cci_layout *layout = NULL;
	unsigned int commands = 0;
	char *line = NULL;
	size_t room = 0;
	FILE *f = fopen(WEFT_TEST_VECTORS "/cci.txt", "r");

	assert_non_null(f);
	while (getline(&line, &room, f) > 0) {
		char *rest = line, *kind;

		if (line[0] == '#')
			continue;
		line[strcspn(line, "\n")] = '\0';
		kind = vector_word(&rest);
		if (strcmp(kind, "entry") == 0) {
			layout = vector_entry(vector_word(&rest));
		} else if (strcmp(kind, "message") != 0) {
			const char *side = vector_word(&rest);

			layout = vector_payload(side, vector_word(&rest));
			commands++;
		}
		vector_read(&v, rest);
		if (strcmp(kind, "message") == 0)
			vector_check_message(&v);
		else if (strcmp(kind, "read") == 0)
			vector_check_read(layout, &v);
		else if (strcmp(kind, "bad") == 0)
			vector_check_bad(layout, &v);
		else
			vector_check_both(layout, &v);
	}
	free(line);
	fclose(f);
	assert_true(commands > 700);
}
