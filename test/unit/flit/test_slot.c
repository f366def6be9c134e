/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Header slots against wire-formats.md sections 4.1 and 4.2: bytes worked out by hand, the model's
 * vectors, the length columns, and random messages of every kind, form and slot. A slot to be read
 * lies in a heap block of 14 or 16 bytes.
 */

#include "weft_test.h"

#include "slots.h"
#include "weft_msg_gen.h"

static const bool both[] = { false, true };

static size_t
slot_len(bool is_h)
{
	return is_h ? 14 : 16;
}

/* Decode a copy of exactly one slot. */
static enum weft_verdict
decode(const uint8_t *slot, bool is_h, enum weft_form form, struct weft_msg *msgs, unsigned int *n)
{
	uint8_t *exact = malloc(slot_len(is_h));
	enum weft_verdict v;

	assert_non_null(exact);
	memcpy(exact, slot, slot_len(is_h));
	v = weft_slot_decode(exact, is_h, form, msgs, n);
	free(exact);
	return v;
}

/* Encode must write one slot and nothing behind it. */
static int
encode(uint8_t *slot, bool is_h, enum weft_form form, const struct weft_msg *msgs, unsigned int n)
{
	uint8_t *exact = malloc(slot_len(is_h));
	int rc;

	assert_non_null(exact);
	memset(exact, 0xEE, slot_len(is_h));
	rc = weft_slot_encode(exact, is_h, form, msgs, n);
	memcpy(slot, exact, slot_len(is_h));
	free(exact);
	return rc;
}

#define REQUEST(k)                                                                                 \
	.kind = (k), .op = 2, .snp_type = 5, .meta_field = 3, .meta_value = 2, .tag = 0x1234,      \
	.addr = UINT64_C(0x123456789ABC0), .ckid = 0x1ABC, .tc = 2
#define RESPONSE(k) .kind = (k), .meta_field = 3, .meta_value = 1, .tag = 0xBEEF, .dev_load = 2
#define RESPONSE_2(k) .kind = (k), .meta_value = 2, .tag = 0x1234, .dev_load = 1

/* Each byte string: the bits of section 4.2 shifted to their places and added up by hand. */
WEFT_TEST(places_are_those_of_the_specification)
{
	static const struct {
		const char *bytes;
		enum weft_form form;
		unsigned int n;
		struct weft_msg m[2];
	} slots[] = {
		{ "54ba3412af269e158d44f26a80000000", WEFT_FORM_HBR, 1,
			{ { REQUEST(WEFT_MSG_M2S_REQ), .ld_id = 9 } } },
		{ "54ba3412af269e158d04af8e04af0608", WEFT_FORM_PBR, 1,
			{ { REQUEST(WEFT_MSG_M2S_REQ), .spid = 0xABC, .dpid = 0x123 } } },
		{ "5eba3412af269e158dc4c9ab01080000", WEFT_FORM_HBR, 1,
			{ { REQUEST(WEFT_MSG_M2S_RWD), .poison = 1, .trp = 1, .ld_id = 9 } } },
		{ "5eba3412af269e158dc4bc3a12bc1a80", WEFT_FORM_PBR, 1,
			{ { REQUEST(WEFT_MSG_M2S_RWD), .poison = 1, .trp = 1, .spid = 0xABC,
				.dpid = 0x123 } } },
		{ "57f7ee6b029048239101000000000000", WEFT_FORM_HBR, 2,
			{ { RESPONSE(WEFT_MSG_S2M_NDR), .op = 2, .ld_id = 9 },
				{ RESPONSE_2(WEFT_MSG_S2M_NDR), .op = 4, .ld_id = 6 } } },
		{ "57f7ee2baf02904823d1480000000000", WEFT_FORM_PBR, 2,
			{ { RESPONSE(WEFT_MSG_S2M_NDR), .op = 2, .dpid = 0xABC },
				{ RESPONSE_2(WEFT_MSG_S2M_NDR), .op = 4, .dpid = 0x123 } } },
		{ "3ff7eedb04504823210b000000000000", WEFT_FORM_HBR, 2,
			{ { RESPONSE(WEFT_MSG_S2M_DRS), .op = 1, .poison = 1, .ld_id = 9 },
				{ RESPONSE_2(WEFT_MSG_S2M_DRS), .op = 2, .ld_id = 6, .trp = 1 } } },
		{ "3ff7ee5b5e05504823a1910800000000", WEFT_FORM_PBR, 2,
			{ { RESPONSE(WEFT_MSG_S2M_DRS), .op = 1, .poison = 1, .dpid = 0xABC },
				{ RESPONSE_2(WEFT_MSG_S2M_DRS), .op = 2, .dpid = 0x123,
					.trp = 1 } } },
	};

	for (size_t i = 0; i < WEFT_ARRAY_SIZE(slots); i++) {
		uint8_t want[16], got[16];
		struct weft_msg msgs[WEFT_MSG_PER_SLOT];
		unsigned int n;

		assert_int_equal(weft_test_unhex(slots[i].bytes, want, 16), 16);
		assert_int_equal(encode(got, false, slots[i].form, slots[i].m, slots[i].n), 0);
		assert_memory_equal(got, want, 16);
		assert_int_equal(decode(want, false, slots[i].form, msgs, &n), WEFT_OK);
		assert_int_equal(n, slots[i].n);
		for (unsigned int k = 0; k < n; k++)
			weft_assert_same_header(&msgs[k], &slots[i].m[k]);
	}
}

struct vector_name {
	const char *name;
	size_t off, size;
	unsigned int shift;
};

#define NAMED(text, field)                                                                         \
	{                                                                                          \
		text, offsetof(struct weft_msg, field), sizeof(((struct weft_msg *)0)->field), 0   \
	}

/* Set the field that the vectors call @p name. */
static void
vector_set(struct weft_msg *m, const char *name, uint64_t value)
{
	static const struct vector_name names[] = { NAMED("op", op), NAMED("memop", op),
		NAMED("snptype", snp_type), NAMED("metafield", meta_field),
		NAMED("metavalue", meta_value), NAMED("tag", tag), NAMED("bitag", tag),
		NAMED("cqid", tag), NAMED("uqid", tag),
		{ "addr", offsetof(struct weft_msg, addr), 8, 6 }, NAMED("ldid", ld_id),
		NAMED("ckid", ckid), NAMED("tc", tc), NAMED("poison", poison), NAMED("trp", trp),
		NAMED("bep", trp), NAMED("spid", spid), NAMED("dpid", dpid), NAMED("biid", bi_id),
		NAMED("lowaddr", low_addr), NAMED("devload", dev_load), NAMED("cacheid", cache_id),
		NAMED("nt", nt), NAMED("bogus", bogus), NAMED("goerr", go_err),
		NAMED("rspdata", rsp_data), NAMED("rsppre", rsp_pre) };

	for (size_t i = 0; i < WEFT_ARRAY_SIZE(names); i++) {
		const struct weft_gen_field f = { (uint8_t)names[i].off, (uint8_t)names[i].size,
			{ 0, 0 }, 0 };

		if (strcmp(names[i].name, name) != 0)
			continue;
		weft_gen_set(m, &f, value << names[i].shift);
		return;
	}
	fail_msg("field %s of a vector is not known", name);
}

/* One "kind:field=value,..." of a record; false for "kind:-". Cuts @p text up. */
static bool
vector_message(char *text, struct weft_msg *m)
{
	char *save, *fields = strchr(text, ':');

	assert_non_null(fields);
	*fields++ = '\0';
	memset(m, 0, sizeof(*m));
	while (m->kind < WEFT_MSG_LLCTRL &&
		strcmp(weft_msg_kind_name((enum weft_msg_kind)m->kind), text) != 0)
		m->kind++;
	if (m->kind == WEFT_MSG_LLCTRL)
		fail_msg("kind %s of a vector is not known", text);
	if (strcmp(fields, "-") == 0)
		return false;
	for (char *f = strtok_r(fields, ",", &save); f != NULL; f = strtok_r(NULL, ",", &save)) {
		char *value = strchr(f, '=');

		assert_non_null(value);
		*value++ = '\0';
		if (strcmp(f, "val") != 0)
			vector_set(m, f, strtoull(value, NULL, 16));
	}
	return true;
}

/* A record: decode it, and encode it where one call can (one kind, no hole). */
static void
vector_check(char *line, uint64_t seen[2][2])
{
	struct weft_msg want[WEFT_MSG_PER_SLOT], got[WEFT_MSG_PER_SLOT];
	unsigned int n = 0, n_got;
	bool is_h, can_encode = true, hole = false;
	uint8_t slot[16], again[16];
	char *save, *word = strtok_r(line, " \n", &save);
	enum weft_form form;

	is_h = strcmp(word, "H") == 0;
	form = strcmp(strtok_r(NULL, " \n", &save), "pbr") == 0 ? WEFT_FORM_PBR : WEFT_FORM_HBR;
	word = strtok_r(NULL, " \n", &save);
	seen[form][is_h] |= WEFT_BIT64(strtoul(word, NULL, 16));
	assert_int_equal(weft_test_unhex(strtok_r(NULL, " \n", &save), slot, slot_len(is_h)),
		slot_len(is_h));
	while ((word = strtok_r(NULL, " \n", &save)) != NULL) {
		assert_in_range(n, 0, WEFT_MSG_PER_SLOT - 1);
		if (!vector_message(word, &want[n])) {
			hole = true;
			continue;
		}
		can_encode &= !hole && want[n].kind == want[0].kind;
		n++;
	}
	assert_int_equal(decode(slot, is_h, form, got, &n_got), WEFT_OK);
	assert_int_equal(n_got, n);
	for (unsigned int i = 0; i < n; i++)
		weft_assert_same_header(&got[i], &want[i]);
	if (can_encode) {
		assert_int_equal(encode(again, is_h, form, want, n), 0);
		assert_memory_equal(again, slot, slot_len(is_h));
	}
}

WEFT_TEST(vectors_of_the_model_hold)
{
	FILE *f = fopen(WEFT_TEST_VECTORS "/slots.txt", "r");
	uint64_t seen[2][2] = { { 0 } };
	char *line = NULL;
	size_t room = 0;

	assert_non_null(f);
	while (getline(&line, &room, f) > 0)
		if (line[0] != '#')
			vector_check(line, seen);
	free(line);
	fclose(f);
	for (int form = 0; form < 2; form++)
		for (int is_h = 0; is_h < 2; is_h++)
			assert_int_equal(seen[form][is_h], 0xF0FF);
}

/* The columns of section 4.1, in bits; 0 is a reserved code. */
WEFT_TEST(messages_fill_the_lengths_of_the_formats)
{
	static const uint8_t length[2][2][16] = {
		[WEFT_FORM_HBR] = {
			{ 112, 120, 124, 96, 100, 120, 124, 120, 0, 0, 0, 0, 112, 96, 104, 120 },
			{ 72, 80, 100, 96, 100, 80, 84, 80, 0, 0, 0, 0, 84, 96, 104, 80 },
		},
		[WEFT_FORM_PBR] = {
			{ 92, 96, 96, 108, 120, 104, 96, 96, 0, 0, 0, 0, 108, 108, 124, 96 },
			{ 92, 96, 96, 108, 120, 104, 96, 96, 0, 0, 0, 0, 108, 108, 124, 96 },
		},
	};

	for (int form = 0; form < 2; form++) {
		for (int is_h = 0; is_h < 2; is_h++) {
			for (int fmt = 0; fmt < 16; fmt++) {
				const struct slot_format *s = &slot_formats[form][is_h][fmt];
				const unsigned int bits =
					(unsigned int)s->n * slot_codecs[s->kind][form].bits +
					(unsigned int)s->n2 * slot_codecs[s->kind2][form].bits;

				assert_int_equal(bits, length[form][is_h][fmt]);
				assert_true(s->n + s->n2 <= WEFT_MSG_PER_SLOT);
			}
		}
	}
}

WEFT_TEST(capacity_is_the_count_of_the_format)
{
	static const uint8_t most[WEFT_MSG_LLCTRL][2][2] = {
		/* kind, form, is_h */
		[WEFT_MSG_M2S_REQ] = { { 1, 1 }, { 1, 1 } },
		[WEFT_MSG_M2S_RWD] = { { 1, 1 }, { 1, 1 } },
		[WEFT_MSG_M2S_BIRSP] = { { 3, 2 }, { 2, 2 } },
		[WEFT_MSG_S2M_BISNP] = { { 1, 1 }, { 1, 1 } },
		[WEFT_MSG_S2M_NDR] = { { 3, 2 }, { 2, 2 } },
		[WEFT_MSG_S2M_DRS] = { { 3, 2 }, { 2, 2 } },
		[WEFT_MSG_D2H_REQ] = { { 1, 1 }, { 1, 1 } },
		[WEFT_MSG_D2H_RSP] = { { 4, 4 }, { 3, 3 } },
		[WEFT_MSG_D2H_DH] = { { 4, 4 }, { 3, 3 } },
		[WEFT_MSG_H2D_REQ] = { { 1, 1 }, { 1, 1 } },
		[WEFT_MSG_H2D_RSP] = { { 3, 2 }, { 2, 2 } },
		[WEFT_MSG_H2D_DH] = { { 4, 3 }, { 3, 3 } },
	};

	for (unsigned int kind = 0; kind < WEFT_MSG_LLCTRL; kind++)
		for (int form = 0; form < 2; form++)
			for (int is_h = 0; is_h < 2; is_h++)
				assert_int_equal(weft_slot_capacity((enum weft_msg_kind)kind,
							 (enum weft_form)form, is_h != 0),
					most[kind][form][is_h]);
	assert_int_equal(weft_slot_capacity(WEFT_MSG_LLCTRL, WEFT_FORM_HBR, true), 0);
	assert_int_equal(weft_slot_capacity(WEFT_MSG_KINDS, WEFT_FORM_HBR, true), 0);
}

WEFT_TEST(random_messages_come_back)
{
	struct weft_rand r;

	weft_test_seed(&r, __func__);
	for (int round = 0; round < 40000; round++) {
		const unsigned int kind = (unsigned int)weft_rand_below(&r, WEFT_MSG_LLCTRL);
		const enum weft_form form = weft_rand_below(&r, 2) ? WEFT_FORM_PBR : WEFT_FORM_HBR;
		const bool is_h = weft_rand_below(&r, 2) != 0;
		const unsigned int most = weft_slot_capacity((enum weft_msg_kind)kind, form, is_h);
		const unsigned int n = 1 + (unsigned int)weft_rand_below(&r, most);
		struct weft_msg sent[WEFT_MSG_PER_SLOT], got[WEFT_MSG_PER_SLOT];
		unsigned int n_got;
		uint8_t slot[16];

		for (unsigned int i = 0; i < n; i++) {
			sent[i] = weft_gen_header(&r, kind, form);
			if (is_h)
				weft_gen_fit_h(&sent[i], form);
		}
		assert_int_equal(encode(slot, is_h, form, sent, n), 0);
		assert_int_equal(decode(slot, is_h, form, got, &n_got), WEFT_OK);
		assert_int_equal(n_got, n);
		for (unsigned int i = 0; i < n; i++)
			weft_assert_same_header(&got[i], &sent[i]);
	}
}

/* Every field at its largest and one beyond: the slot is written for the first only. */
WEFT_TEST(value_wider_than_its_field_is_refused)
{
	uint8_t untouched[16], slot[16];

	memset(untouched, 0xEE, sizeof(untouched));
	for (unsigned int kind = 0; kind < WEFT_MSG_LLCTRL; kind++) {
		for (int form = 0; form < 2; form++) {
			for (unsigned int i = 0; i < WEFT_GEN_FIELDS; i++) {
				const struct weft_gen_field *f = &weft_gen_fields[kind][i];
				const unsigned int width = f->width[form];
				struct weft_msg m = { .kind = (uint8_t)kind };

				if (width == 0 || width + f->shift == 8u * f->size)
					continue;
				weft_gen_set(&m, f, weft_mask64(width) << f->shift);
				assert_int_equal(
					encode(slot, false, (enum weft_form)form, &m, 1), 0);
				weft_gen_set(&m, f, WEFT_BIT64(width) << f->shift);
				assert_int_equal(
					encode(slot, false, (enum weft_form)form, &m, 1), -EINVAL);
				assert_memory_equal(slot, untouched, sizeof(slot));
			}
		}
	}
}

WEFT_TEST(address_is_of_a_whole_line)
{
	uint8_t slot[16];

	for (unsigned int bit = 0; bit < 6; bit++) {
		struct weft_msg m = { .kind = WEFT_MSG_M2S_REQ, .addr = WEFT_BIT64(bit) };

		assert_int_equal(encode(slot, false, WEFT_FORM_HBR, &m, 1), -EINVAL);
	}
}

WEFT_TEST(wrong_numbers_and_mixtures_are_refused)
{
	struct weft_msg m[WEFT_MSG_PER_SLOT + 1] = { { .kind = WEFT_MSG_S2M_NDR },
		{ .kind = WEFT_MSG_S2M_NDR }, { .kind = WEFT_MSG_S2M_NDR },
		{ .kind = WEFT_MSG_S2M_NDR }, { .kind = WEFT_MSG_S2M_NDR } };
	uint8_t slot[16];

	assert_int_equal(encode(slot, false, WEFT_FORM_HBR, m, 0), -EINVAL);
	assert_int_equal(encode(slot, false, WEFT_FORM_HBR, m, 3), 0);
	assert_int_equal(encode(slot, false, WEFT_FORM_HBR, m, 4), -ENOSPC);
	assert_int_equal(encode(slot, true, WEFT_FORM_HBR, m, 2), 0);
	assert_int_equal(encode(slot, true, WEFT_FORM_HBR, m, 3), -ENOSPC);
	assert_int_equal(encode(slot, false, WEFT_FORM_PBR, m, 3), -ENOSPC);
	assert_int_equal(encode(slot, false, WEFT_FORM_PBR, m, 5), -ENOSPC);
	m[1].kind = WEFT_MSG_S2M_DRS;
	assert_int_equal(encode(slot, false, WEFT_FORM_HBR, m, 2), -EINVAL);
	m[0].kind = WEFT_MSG_LLCTRL;
	assert_int_equal(encode(slot, true, WEFT_FORM_HBR, m, 1), -EINVAL);
	m[0].kind = 255;
	assert_int_equal(encode(slot, true, WEFT_FORM_HBR, m, 1), -EINVAL);
}

/* PBR requests to memory in an H-slot: one bit at a time across its end. */
WEFT_TEST(h_slot_takes_what_it_does_not_cut)
{
	for (unsigned int bit = 0; bit < 13; bit++) {
		struct weft_msg m = { .kind = WEFT_MSG_M2S_REQ, .ckid = (uint16_t)(1u << bit) },
				got;
		unsigned int n;
		uint8_t slot[16];

		assert_int_equal(encode(slot, true, WEFT_FORM_PBR, &m, 1), bit < 10 ? 0 : -ENOSPC);
		if (bit < 10) {
			assert_int_equal(decode(slot, true, WEFT_FORM_PBR, &got, &n), WEFT_OK);
			weft_assert_same_header(&got, &m);
		}
		m.kind = WEFT_MSG_M2S_RWD;
		assert_int_equal(encode(slot, true, WEFT_FORM_PBR, &m, 1), bit < 8 ? 0 : -ENOSPC);
		assert_int_equal(encode(slot, true, WEFT_FORM_HBR, &m, 1), 0);
		m = (struct weft_msg){ .kind = WEFT_MSG_M2S_REQ, .tc = 1 };
		assert_int_equal(encode(slot, true, WEFT_FORM_PBR, &m, 1), -ENOSPC);
	}
}

WEFT_TEST(reserved_formats_are_refused)
{
	struct weft_msg msgs[WEFT_MSG_PER_SLOT];

	for (int form = 0; form < 2; form++) {
		for (size_t h = 0; h < WEFT_ARRAY_SIZE(both); h++) {
			for (unsigned int fmt = 0; fmt < 16; fmt++) {
				uint8_t slot[16];
				unsigned int n = 99;
				enum weft_verdict v;

				memset(slot, 0xFF, sizeof(slot));
				slot[0] = (uint8_t)(0xF0 | fmt);
				v = decode(slot, both[h], (enum weft_form)form, msgs, &n);
				assert_int_equal(
					v, fmt >= 8 && fmt <= 11 ? WEFT_DROP_SLOT_FORMAT : WEFT_OK);
				assert_int_equal(n == 0, v != WEFT_OK);
			}
		}
	}
}

/* Val alone makes a message: a slot with every other bit set holds none. */
WEFT_TEST(message_without_val_is_none)
{
	struct weft_msg msgs[WEFT_MSG_PER_SLOT];
	unsigned int n;

	for (int form = 0; form < 2; form++) {
		for (int fmt = 0; fmt < 16; fmt++) {
			const struct slot_format *s = &slot_formats[form][0][fmt];
			unsigned int at = 4;
			uint8_t slot[16];

			if (s->n == 0)
				continue;
			memset(slot, 0xFF, sizeof(slot));
			slot[0] = (uint8_t)(0xF0 | fmt);
			for (int i = 0; i < s->n + s->n2; i++) {
				slot[at / 8] &= (uint8_t) ~(1u << at % 8);
				at += slot_codecs[i < s->n ? s->kind : s->kind2][form].bits;
			}
			assert_int_equal(
				decode(slot, false, (enum weft_form)form, msgs, &n), WEFT_OK);
			assert_int_equal(n, 0);
		}
	}
}

WEFT_TEST(every_kind_has_a_name)
{
	assert_string_equal(weft_msg_kind_name(WEFT_MSG_M2S_REQ), "m2s_req");
	assert_string_equal(weft_msg_kind_name(WEFT_MSG_LLCTRL), "llctrl");
	assert_string_equal(weft_msg_kind_name(WEFT_MSG_KINDS), "unknown");
}
