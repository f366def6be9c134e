/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* CCI payloads as text: what is printed is read back, what cannot be is refused. */

#include "cci_draw.h"

#include "weft_cci_text.h"

static void
text_comes_back(struct weft_rand *r, const struct weft_cci_layout *l)
{
	uint8_t b[WEFT_CCI_MAX_PAYLOAD], again[WEFT_CCI_MAX_PAYLOAD];
	char text[WEFT_CCI_TEXT_MAX];
	struct cci_drawn d;
	int len;

	for (unsigned int turn = 0; turn < 5; turn++) {
		cci_draw(r, &d, l);
		len = l->put(b, sizeof(b), d.p);
		assert_int_equal(weft_cci_print_payload(text, sizeof(text), l, b, (size_t)len), 0);
		assert_int_equal(weft_cci_parse_payload(again, sizeof(again), l, text), len);
		assert_memory_equal(b, again, (size_t)len);
		/* A text that does not fit is said to be so, and ends where it must. */
		assert_int_equal(
			weft_cci_print_payload(text, strlen(text), l, b, (size_t)len), -ENOBUFS);
		assert_int_equal(weft_cci_print_payload(text, 1, l, b, (size_t)len), -ENOBUFS);
		assert_string_equal(text, "");
	}
}

WEFT_TEST(printed_payloads_are_read_back)
{
	struct weft_rand r;

	weft_test_seed(&r, "text");
	cci_each(text_comes_back, &r);
}

static void
expect_text(uint16_t opcode, const char *hex_of, size_t len, const char *want)
{
	char text[WEFT_CCI_TEXT_MAX];

	assert_int_equal(weft_cci_print_payload(text, sizeof(text),
				 weft_cci_find_command(opcode)->req, (const uint8_t *)hex_of, len),
		0);
	assert_string_equal(text, want);
}

WEFT_TEST(texts_look_like_this)
{
	expect_text(0x5709, "\x02\xFF\x02\x00\x7E\x00\x01\x7D\x00\x00", 10,
		"drt=2 n=2 start=126 entry=[32001,0]");
	expect_text(0x490D, "\x02\x00\x01\x02\x04\x00\x00\x80\x05\x00\x01\x00\x00\x00", 14,
		"n=2 rows=[513:2147483652,5:1]");
	expect_text(0x4909, "0123456789:;<=>?", 16, "tag=303132333435363738393a3b3c3d3e3f");
	expect_text(0x5300, "\x01\x00\x02\x00\xAB\xCD", 6, "id=1 ttype=0 size=2 msg=abcd");
	expect_text(0x5103, "\x09\x01\x02\x83\x04\x00\x00\x00", 8, "port=9 reg=8585729 data=4");
	expect_text(0x570B, "\0\0\1\0\0\0\1\2\3\4\5\6\7\x08\x1f\x2f\0\0", 18,
		"rgt=0 n=1 start=0 entry=[578437695752307201:31:47]");
	expect_text(0x5101, "\0", 1, "n=0 ports=[]");
}

static int
parse(uint16_t opcode, const char *text)
{
	uint8_t b[WEFT_CCI_MAX_PAYLOAD];

	return weft_cci_parse_payload(b, sizeof(b), weft_cci_find_command(opcode)->req, text);
}

static void
expect_missing(uint16_t opcode, const char *text, const char *want)
{
	const struct weft_cci_field *f =
		weft_cci_missing_field(weft_cci_find_command(opcode)->req, text);

	if (want == NULL)
		assert_null(f);
	else
		assert_string_equal(f->name, want);
}

WEFT_TEST(what_has_no_default_must_be_named)
{
	expect_missing(0x5102, "", "port");
	expect_missing(0x5102, " port=1 ", "op");
	expect_missing(0x5102, "op=2", "port");
	expect_missing(0x5102, "xport=1 portx=1 op=2", "port");
	expect_missing(0x5102, "op=0 port=0", NULL);
	expect_missing(0x5709, "entry=[1]", "start"); /* the table is the first */
	expect_missing(0x5708, "n=1", NULL);
	expect_missing(0xC101, "extent=[]", "flags");
	assert_null(weft_cci_missing_field(NULL, "a=1"));
	assert_string_equal(
		weft_cci_missing_field(weft_cci_find_command(0x5102)->req, "port=1")->must,
		"0 (assert PERST), 1 (deassert) or 2 (reset)");
}

static void
operation_is_named(const struct weft_cci_field *f)
{
	static const char *const names[] = { "op", "pid_op", "how", "vcs", "vppb", "port", "host",
		"grp", "rpid" };

	for (unsigned int n = 0; n < WEFT_ARRAY_SIZE(names); n++)
		if (strcmp(f->name, names[n]) == 0 && f->kind < WEFT_CCI_FIELD_LIST)
			assert_non_null(f->must);
}

WEFT_TEST(each_operation_and_what_it_is_of_must_be_named)
{
	for (unsigned int i = 0; i < weft_cci_n_commands; i++) {
		const struct weft_cci_layout *l = weft_cci_commands[i].req;

		if (l == NULL ||
			weft_cci_commands[i].opcode >> 8 == 1) /* events: for nobody to write */
			continue;
		for (unsigned int k = 0; k < l->n_fields; k++)
			operation_is_named(&l->fields[k]);
	}
}

static void
expect_why(uint16_t opcode, const char *text, const char *want)
{
	char why[300];

	assert_true(parse(opcode, text) < 0);
	weft_cci_explain_payload(why, sizeof(why), weft_cci_find_command(opcode)->req, text);
	assert_string_equal(why, want);
	/* What does not fit is cut. */
	weft_cci_explain_payload(why, 5, weft_cci_find_command(opcode)->req, text);
	assert_int_equal(strlen(why), 4);
}

WEFT_TEST(why_a_text_is_refused_is_told)
{
	char long_list[2000] = "ports=[";

	expect_why(
		0x5709, "start=1 entri=[1]", "there is no field \"entri\", the nearest is entry");
	expect_why(0x5709, "zzzz=1", "there is no field \"zzzz\"");
	expect_why(0x5709, "drt=256", "drt: expected a number of 0 to 0xff, got \"256\"");
	expect_why(0x5709, "drt=", "drt: expected a number of 0 to 0xff, got \"\"");
	expect_why(0x5709, "drt", "expected name=value, got \"drt\"");
	expect_why(0x5709, "=1", "expected name=value, got \"=1\"");
	expect_why(0x5709, "drt=1  drt=1", "drt: it stands there twice");
	expect_why(0x5709, "n=1 entry=[1,2]",
		"n: it is not the number of elements of entry=; left out, it is that");
	expect_why(0x5709, "entry=[1,2",
		"entry: expected a list in brackets, entry=[N,...], got \"[1,2\"");
	expect_why(0x5709, "entry=[1,,2]",
		"entry: element 2: expected a number of 0 to 0xffff, got \"\"");
	expect_why(0x490D, "rows=[1:2,1:4294967296]",
		"rows: element 2: vec: expected a number of 0 to 0xffffffff, got \"4294967296\"");
	expect_why(0x490D, "rows=[1]", "rows: element 1: expected 2 values with a colon between");
	expect_why(
		0x490D, "rows=[1:2:3]", "rows: element 1: expected 2 values with a colon between");
	expect_why(0x4909, "tag=00", "tag: expected 32 hex digits, got 2 characters, \"00\"");
	expect_why(0x5300, "msg=abc",
		"msg: expected at most 1020 bytes, two hex digits each, got \"abc\"");
	for (unsigned int i = 0; i < 256; i++)
		strcat(long_list, i < 255 ? "1," : "1]");
	expect_why(0x5101, long_list, "ports: it has 256 elements, and at most 255 fit");
	expect_why(0x0001, "a=1", "the command takes no fields");
}

/* Whatever is refused has a reason, whatever command it is of. */
WEFT_TEST(reasons_for_what_was_damaged_are_never_empty)
{
	struct weft_rand r;
	char text[WEFT_CCI_TEXT_MAX], why[300];
	uint8_t b[WEFT_CCI_MAX_PAYLOAD];
	struct cci_drawn d;

	weft_test_seed(&r, "damaged text");
	for (unsigned int turn = 0; turn < 3000; turn++) {
		const struct weft_cci_layout *l = weft_cci_commands[turn % weft_cci_n_commands].req;
		int len;

		if (l == NULL)
			continue;
		cci_draw(&r, &d, l);
		len = l->put(b, sizeof(b), d.p);
		assert_int_equal(weft_cci_print_payload(text, sizeof(text), l, b, (size_t)len), 0);
		text[weft_rand_below(&r, strlen(text))] = "=[],: x0"[weft_rand_below(&r, 8)];
		if (weft_cci_parse_payload(b, sizeof(b), l, text) >= 0)
			continue;
		weft_cci_explain_payload(why, sizeof(why), l, text);
		assert_true(strlen(why) > 10);
	}
}

WEFT_TEST(fields_are_listed)
{
	char text[200];

	weft_cci_print_fields(text, sizeof(text), weft_cci_find_command(0x5709)->req);
	assert_string_equal(text, "drt=N start=N* entry=[N,...]");
	weft_cci_print_fields(text, sizeof(text), weft_cci_find_command(0x490D)->req);
	assert_string_equal(text, "rows=[rpid:vec,...]");
	weft_cci_print_fields(text, sizeof(text), NULL);
	assert_string_equal(text, "");
	weft_cci_print_fields(text, 4, weft_cci_find_command(0x5709)->req);
	assert_string_equal(text, "drt");
}

WEFT_TEST(values_that_cannot_be_are_refused)
{
	assert_int_equal(parse(0x5709, ""), 6);
	assert_int_equal(parse(0x5709, "drt=255"), 6);
	assert_int_equal(parse(0x5709, "drt=256"), -EINVAL);
	assert_int_equal(parse(0x5709, "drt=-1"), -EINVAL);
	assert_int_equal(parse(0x5709, "drt="), -EINVAL);
	assert_int_equal(parse(0x5709, "drt"), -EINVAL);
	assert_int_equal(parse(0x5709, "drt=1x"), -EINVAL);
	assert_int_equal(parse(0x5709, "drt=1 drt=1"), -EINVAL);
	assert_int_equal(parse(0x5709, "dr=1"), -EINVAL);
	assert_int_equal(parse(0x5709, "start=0xffff entry=[1,2]"), 10);
	assert_int_equal(parse(0x5709, "n=2 entry=[1,2]"), 10);
	assert_int_equal(parse(0x5709, "n=1 entry=[1,2]"), -EINVAL);
	assert_int_equal(parse(0x5709, "n=1"), -EINVAL);
	assert_int_equal(parse(0x5709, "entry=[1,2"), -EINVAL);
	assert_int_equal(parse(0x5709, "entry=[1,,2]"), -EINVAL);
	assert_int_equal(parse(0x5709, "entry=[65536]"), -EINVAL);
	assert_int_equal(parse(0x5709, "entry=1"), -EINVAL);
	assert_int_equal(parse(0x490D, "rows=[1:2,3:4]"), 14);
	assert_int_equal(parse(0x490D, "rows=[1:2:3]"), -EINVAL);
	assert_int_equal(parse(0x490D, "rows=[1]"), -EINVAL);
	assert_int_equal(parse(0x4909, "tag=00"), -EINVAL);
	assert_int_equal(parse(0x5300, "msg=abc"), -EINVAL);
	assert_int_equal(parse(0x5300, "msg=ab"), 5);
	assert_int_equal(parse(0x0301, "ts=18446744073709551615"), 8);
	assert_int_equal(parse(0x0301, "ts=18446744073709551616"), -EINVAL);
	assert_int_equal(parse(0x0001, ""), 0);
	assert_int_equal(parse(0x0001, "n=1"), -EINVAL);
}

/* More elements than a message has room for, or than the count can say. */
WEFT_TEST(lists_that_are_too_long_are_refused)
{
	char text[8192] = "ports=[";

	for (unsigned int i = 0; i < 256; i++)
		strcat(text, i == 0 ? "1" : ",1");
	strcat(text, "]");
	assert_int_equal(parse(0x5101, text), -EINVAL);
	strcpy(text, "entry=[");
	for (unsigned int i = 0; i < 510; i++)
		strcat(text, i == 0 ? "1" : ",1");
	strcat(text, "]");
	assert_int_equal(parse(0x5709, text), -ENOBUFS);
	strcpy(text, "entry=[");
	for (unsigned int i = 0; i < 509; i++)
		strcat(text, i == 0 ? "1" : ",1");
	strcat(text, "]");
	assert_int_equal(parse(0x5709, text), 1024);
}
