/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Masks, escapes, tags, errors, poison, the states of a key and every bad argument, row by row of
 * signature.md sections 2, 5, 6 and 8.
 */

#include "sig_model.h"

#define BLOCK 512
#define UNIT (BLOCK + 8)
#define BLOCKS 4

static const struct side none;
static const struct side dif = { .present = true,
	.is_dif = true,
	.block = BLOCK,
	.dif = { WEFT_SIG_BG_CRC, 0xFFFF, 0xABCD, 0x01234567, WEFT_SIG_REF_REMAP } };
static const struct side crc32_512 = {
	.present = true, .block = BLOCK, .crc = WEFT_SIG_CRC32, .seed = UINT32_MAX
};

static struct weft_sig_key key;
static struct weft_sig_error e;
static struct weft_sig_stream stream;
static uint8_t units[BLOCKS * UNIT], out[BLOCKS * UNIT];

/* BLOCKS units of @p s over counting bytes. @return bytes */
static size_t
units_make(const struct side *side, uint64_t block0, uint8_t *to)
{
	const unsigned int n = side_sig_len(side);

	for (unsigned int j = 0; j < BLOCKS; j++) {
		uint8_t *unit = to + j * (BLOCK + n);

		for (unsigned int i = 0; i < BLOCK; i++)
			unit[i] = (uint8_t)(i * 7 + j);
		model_sig(side, unit, block0 + j, unit + BLOCK);
	}
	return BLOCKS * (BLOCK + n);
}

static void
key_open(struct weft_sig_key *k, const struct side *mem, const struct side *wire, uint8_t check)
{
	assert_int_equal(weft_sig_key_init(k, WEFT_SIG_KEY_BLOCK_SIGNATURE, NULL), 0);
	assert_int_equal(key_set(k, mem, wire, check, NULL), 0);
}

static struct weft_sig_error
key_checked(struct weft_sig_key *k)
{
	struct weft_sig_error found;

	assert_int_equal(weft_sig_key_check(k, &found), 0);
	return found;
}

WEFT_TEST(examples_of_the_manual)
{
	uint8_t mem[BLOCK + 4], wire[BLOCK], data[8192], signed_data[2 * 4104], back[8192];
	const uint8_t tail[4] = { 0x5F, 0x17, 0xCE, 0x9B };
	const uint8_t tails[2][8] = { { 0x68, 0x8F, 0xAB, 0xCD, 0x01, 0x23, 0x45, 0x67 },
		{ 0x68, 0x8F, 0xAB, 0xCD, 0x01, 0x23, 0x45, 0x68 } };
	struct side dif4k = dif;

	/* 1: right, and wrong */
	memset(mem, 'c', sizeof(mem));
	memcpy(mem + BLOCK, tail, 4);
	key_open(&key, &crc32_512, &none, 0xFF);
	assert_int_equal(
		run_whole(&key, WEFT_SIG_TX, 0, 0, mem, sizeof(mem), wire, sizeof(wire)), BLOCK);
	assert_memory_equal(wire, mem, BLOCK);
	assert_int_equal(key_checked(&key).type, WEFT_SIG_NO_ERROR);
	memset(mem + BLOCK, 'c', 4);
	run_whole(&key, WEFT_SIG_TX, 0, 0, mem, sizeof(mem), wire, sizeof(wire));
	e = key_checked(&key);
	assert_int_equal(e.type, WEFT_SIG_BAD_GUARD);
	assert_int_equal(e.domain, WEFT_SIG_MEM);
	assert_int_equal(e.weft_sig_actual_value, 0x9BCE175F);
	assert_int_equal(e.weft_sig_expected_value, 0x63636363);
	assert_int_equal(e.offset, 0);
	/* 1.1 */
	memset(mem, 0, sizeof(mem));
	assert_int_equal(run_whole(&key, WEFT_SIG_RX, 0, 0, wire, sizeof(wire), mem, sizeof(mem)),
		sizeof(mem));
	assert_memory_equal(mem, wire, BLOCK);
	assert_memory_equal(mem + BLOCK, tail, 4);
	/* 2 and 2.1 */
	dif4k.block = 4096;
	for (unsigned int i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)i;
	key_open(&key, &none, &dif4k, 0xFF);
	assert_int_equal(run_whole(&key, WEFT_SIG_TX, 0, 0, data, sizeof(data), signed_data,
				 sizeof(signed_data)),
		sizeof(signed_data));
	assert_memory_equal(signed_data + 4096, tails[0], 8);
	assert_memory_equal(signed_data + 4104 + 4096, tails[1], 8);
	assert_int_equal(run_whole(&key, WEFT_SIG_RX, 0, 0, signed_data, sizeof(signed_data), back,
				 sizeof(back)),
		sizeof(back));
	assert_memory_equal(back, data, sizeof(data));
	assert_int_equal(key_checked(&key).type, WEFT_SIG_NO_ERROR);
}

/* S5: a byte that is not selected may be anything, a byte that is may not. */
WEFT_TEST(each_bit_of_a_mask_is_a_byte)
{
	struct side sides[] = { dif, crc32_512, crc32_512, crc32_512 };

	sides[2].crc = WEFT_SIG_CRC32C;
	sides[3].crc = WEFT_SIG_CRC64_XP10;
	sides[3].seed = UINT64_MAX;
	for (unsigned int k = 0; k < WEFT_ARRAY_SIZE(sides); k++)
		for (unsigned int bit = 0; bit < 8; bit++)
			for (unsigned int byte = 0; byte < side_sig_len(&sides[k]); byte++) {
				const size_t len = units_make(&sides[k], 0, units);

				units[BLOCK + byte] ^= 0x81;
				key_open(&key, &sides[k], &none, (uint8_t)(1u << bit));
				run_whole(&key, WEFT_SIG_TX, 0, 0, units, len, out, sizeof(out));
				assert_int_equal(key_checked(&key).type != WEFT_SIG_NO_ERROR,
					bit == model_bit(&sides[k], byte));
			}
}

WEFT_TEST(no_mask_lets_garbage_through)
{
	memset(units, 0x77, sizeof(units));
	key_open(&key, &dif, &none, 0);
	run_whole(&key, WEFT_SIG_TX, 0, 0, units, sizeof(units), out, sizeof(out));
	assert_int_equal(key_checked(&key).type, WEFT_SIG_NO_ERROR);
	assert_int_equal(key.counters.checked, 0);
}

/* S6 */
WEFT_TEST(unknown_application_tag_is_carried)
{
	const uint8_t copies[] = { 0xFF, 0x30, 0x20, 0x00 };

	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(copies); i++) {
		units_make(&dif, 0, units);
		for (unsigned int j = 0; j < BLOCKS; j++)
			memset(units + j * UNIT + BLOCK + 2, 0x42 + (int)j, 2);
		weft_sig_key_init(&key, WEFT_SIG_KEY_BLOCK_SIGNATURE, NULL);
		assert_int_equal(key_set(&key, &dif, &dif, 0xCF, &copies[i]), 0);
		run_whole(&key, WEFT_SIG_TX, 0, 0, units, sizeof(units), out, sizeof(out));
		assert_int_equal(key_checked(&key).type, WEFT_SIG_NO_ERROR);
		for (unsigned int j = 0; j < BLOCKS; j++) {
			uint8_t *tag = units + j * UNIT + BLOCK + 2;

			if ((copies[i] & 0x20) == 0)
				tag[0] = 0xAB;
			if ((copies[i] & 0x10) == 0)
				tag[1] = 0xCD;
		}
		assert_memory_equal(out, units, sizeof(out));
		assert_int_equal(key.counters.copied, copies[i] == 0xFF ? BLOCKS : 0);
		assert_int_equal(key.counters.generated, copies[i] == 0xFF ? 0 : BLOCKS);
	}
}

/* Section 2.3, last column. */
WEFT_TEST(copy_mask_follows_from_the_domains)
{
	struct side d[10];
	const uint8_t want[] = { 0xFF, 0x3F, 0x3F, 0xCF, 0xF0, 0xF0, 0xFF, 0x00, 0x00, 0x00 };
	struct side crc_a = crc32_512, crc_b = crc32_512;

	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(d); i++)
		d[i] = dif;
	d[1].dif.bg = 0;
	d[2].dif.bg_type = WEFT_SIG_BG_CSUM;
	d[3].dif.app_tag = 1;
	d[4].dif.ref_tag = 1;
	d[5].dif.flags = 0;
	d[6].dif.flags |= WEFT_SIG_APP_ESCAPE;
	d[7].block = 520;
	d[8] = crc32_512;
	d[9] = none;
	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(d); i++) {
		key_open(&key, &dif, &d[i], 0xFF);
		assert_int_equal(key.now.copy_mask, want[i]);
	}
	key_open(&key, &crc_a, &crc_b, 0xFF);
	assert_int_equal(key.now.copy_mask, 0xFF);
	crc_b.seed = 0;
	key_open(&key, &crc_a, &crc_b, 0xFF);
	assert_int_equal(key.now.copy_mask, 0);
	crc_b.seed = crc_a.seed;
	crc_b.crc = WEFT_SIG_CRC32C;
	key_open(&key, &crc_a, &crc_b, 0xFF);
	assert_int_equal(key.now.copy_mask, 0);
}

/* S7: flags x tags, block 1 broken in all else. */
WEFT_TEST(escapes_go_by_their_flags)
{
	for (unsigned int i = 0; i < 16; i++) {
		const bool app = (i & 1) != 0, ref = (i & 2) != 0;
		const unsigned int flags = i >> 2 << 1;
		const bool escapes = (flags & WEFT_SIG_APP_REF_ESCAPE) != 0
		                             ? app && ref
		                             : (flags & WEFT_SIG_APP_ESCAPE) != 0 && app;
		struct side s = dif;

		s.dif.flags = (uint16_t)(WEFT_SIG_REF_REMAP | flags);
		units_make(&s, 0, units);
		units[UNIT + 5] ^= 1;
		if (app)
			memset(units + UNIT + BLOCK + 2, 0xFF, 2);
		if (ref)
			memset(units + UNIT + BLOCK + 4, 0xFF, 4);
		key_open(&key, &s, &none, 0xFF);
		run_whole(&key, WEFT_SIG_TX, 0, 0, units, sizeof(units), out, sizeof(out));
		assert_int_equal(
			key_checked(&key).type, escapes ? WEFT_SIG_NO_ERROR : WEFT_SIG_BAD_GUARD);
		assert_int_equal(key.counters.escaped, escapes);
		assert_int_equal(key.counters.escaped_unprotected, escapes);
		assert_int_equal(key.counters.checked, BLOCKS - escapes);
	}
}

WEFT_TEST(an_escape_is_not_made_valid_unless_asked_for)
{
	uint8_t want[8];
	struct side in = dif, wire = dif;

	in.dif.flags |= WEFT_SIG_APP_ESCAPE;
	in.dif.bg_type = WEFT_SIG_BG_CSUM;
	wire.dif.app_tag = 0x1111;
	wire.dif.ref_tag = 7;
	units_make(&in, 0, units);
	memset(units + UNIT + BLOCK + 2, 0xFF, 2);
	key_open(&key, &in, &wire, 0xFF);
	run_whole(&key, WEFT_SIG_TX, 0, 0, units, sizeof(units), out, sizeof(out));
	model_sig(&wire, units + UNIT, 1, want);
	assert_memory_equal(out + UNIT + BLOCK, want, 2);
	for (unsigned int i = 2; i < 8; i++)
		assert_int_equal(out[UNIT + BLOCK + i], 0xFF);
	model_sig(&wire, units + 2 * UNIT, 2, want);
	assert_memory_equal(out + 2 * UNIT + BLOCK, want, 8);
	assert_int_equal(key.counters.escaped_unprotected, 0);
	run_whole(
		&key, WEFT_SIG_TX, 0, WEFT_SIG_FRESH_TAGS, units, sizeof(units), out, sizeof(out));
	model_sig(&wire, units + UNIT, 1, want);
	assert_memory_equal(out + UNIT + BLOCK, want, 8);
}

/* S8 */
WEFT_TEST(reference_tags_wrap_and_begin_where_told)
{
	uint8_t data[BLOCKS * BLOCK];
	const uint32_t refs[] = { 0xFFFFFFFE, 0xFFFFFFFF, 0, 1 };
	struct side s = dif;

	s.dif.ref_tag = 0xFFFFFFFE - 9;
	units_make(&s, 9, units);
	key_open(&key, &none, &s, 0xFF);
	assert_int_equal(
		run_whole(&key, WEFT_SIG_RX, 9, 0, units, sizeof(units), data, sizeof(data)),
		sizeof(data));
	assert_int_equal(key_checked(&key).type, WEFT_SIG_NO_ERROR);
	run_whole(&key, WEFT_SIG_TX, 9, 0, data, sizeof(data), out, sizeof(out));
	assert_memory_equal(out, units, sizeof(out));
	for (unsigned int j = 0; j < BLOCKS; j++)
		assert_int_equal(weft_get_be32(out + j * UNIT + BLOCK + 4), refs[j]);
	s.dif.flags = 0;
	key_open(&key, &none, &s, 0xFF);
	run_whole(&key, WEFT_SIG_TX, 9, 0, data, sizeof(data), out, sizeof(out));
	for (unsigned int j = 0; j < BLOCKS; j++)
		assert_int_equal(weft_get_be32(out + j * UNIT + BLOCK + 4), s.dif.ref_tag);
}

/* S9 */
WEFT_TEST(the_first_field_of_the_first_block_is_kept)
{
	static const struct {
		uint8_t damage; /* bit 0 guard, 1 app, 2 ref */
		enum weft_sig_error_type type;
	} rows[] = { { 7, WEFT_SIG_BAD_GUARD }, { 6, WEFT_SIG_BAD_APPTAG },
		{ 4, WEFT_SIG_BAD_REFTAG }, { 5, WEFT_SIG_BAD_GUARD } };

	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(rows); i++) {
		units_make(&dif, 0, units);
		for (unsigned int j = 2; j < BLOCKS; j++) {
			uint8_t *sig = units + j * UNIT + BLOCK;

			sig[0] ^= rows[i].damage & 1;
			sig[3] ^= rows[i].damage >> 1 & 1;
			sig[7] ^= (uint8_t)(rows[i].damage >> 2 & 1) << 6;
		}
		key_open(&key, &none, &dif, 0xFF);
		run_whole(&key, WEFT_SIG_RX, 0, 0, units, sizeof(units), out, sizeof(out));
		assert_int_equal(key.counters.errors[rows[i].type], BLOCKS - 2);
		e = key_checked(&key);
		assert_int_equal(e.type, rows[i].type);
		assert_int_equal(e.domain, WEFT_SIG_WIRE);
		assert_int_equal(e.block, 2);
		assert_int_equal(e.offset, 2 * UNIT);
		if (e.type == WEFT_SIG_BAD_APPTAG) {
			assert_int_equal(e.computed, 0xABCD);
			assert_int_equal(e.stored, 0xABCC);
		} else if (e.type == WEFT_SIG_BAD_REFTAG) {
			assert_int_equal(e.computed, 0x01234569);
			assert_int_equal(e.stored, 0x01234569 ^ 0x40);
		}
		assert_int_equal(key_checked(&key).type, WEFT_SIG_NO_ERROR);
		/* Armed again. */
		run_whole(&key, WEFT_SIG_RX, 0, 0, units, sizeof(units), out, sizeof(out));
		assert_int_equal(key_checked(&key).type, rows[i].type);
	}
}

WEFT_TEST(an_error_of_a_domain_that_is_gone_stays)
{
	memset(units, 0, sizeof(units));
	key_open(&key, &dif, &none, 0xFF);
	run_whole(&key, WEFT_SIG_TX, 0, 0, units, sizeof(units), out, sizeof(out));
	assert_int_equal(key_set(&key, &none, &dif, 0xFF, NULL), 0);
	assert_int_equal(weft_sig_key_check(&key, &e), -EINVAL);
	assert_int_equal(key_set(&key, &dif, &none, 0xFF, NULL), 0);
	assert_int_equal(key_checked(&key).type, WEFT_SIG_BAD_GUARD);
	assert_int_equal(weft_sig_key_init(&key, 0, NULL), 0);
	assert_int_equal(weft_sig_key_check(&key, &e), -EINVAL);
}

/* S10: what rdma-core runs, two keys and a wire between them. */
WEFT_TEST(two_ends_agree_ten_times)
{
	const struct side *wires[] = { &dif, &crc32_512 };
	uint8_t data[BLOCKS * BLOCK], wire[BLOCKS * UNIT], back[BLOCKS * BLOCK];

	for (unsigned int i = 0; i < 20; i++) {
		struct weft_sig_key a, b;
		size_t len;

		memset(data, 'a' + (int)i, sizeof(data));
		key_open(&a, &none, wires[i / 10], 0xFF);
		key_open(&b, &none, wires[i / 10], 0xFF);
		len = run_whole(&a, WEFT_SIG_TX, 0, 0, data, sizeof(data), wire, sizeof(wire));
		run_whole(&b, WEFT_SIG_RX, 0, 0, wire, len, back, sizeof(back));
		assert_memory_equal(back, data, sizeof(data));
		assert_int_equal(key_checked(&a).type, WEFT_SIG_NO_ERROR);
		assert_int_equal(key_checked(&b).type, WEFT_SIG_NO_ERROR);
	}
}

WEFT_TEST(only_the_sender_sees_its_unfilled_signature)
{
	uint8_t mem[BLOCK + 4], wire[BLOCK], there[BLOCK + 4];
	struct weft_sig_key a, b;

	memset(mem, 'c', sizeof(mem));
	key_open(&a, &crc32_512, &none, 0xFF);
	key_open(&b, &crc32_512, &none, 0xFF);
	run_whole(&a, WEFT_SIG_TX, 0, 0, mem, sizeof(mem), wire, sizeof(wire));
	run_whole(&b, WEFT_SIG_RX, 0, 0, wire, sizeof(wire), there, sizeof(there));
	assert_int_equal(key_checked(&a).type, WEFT_SIG_BAD_GUARD);
	assert_int_equal(key_checked(&b).type, WEFT_SIG_NO_ERROR);
}

/* A list of one piece. */
struct one {
	struct weft_sig_piece piece;
	struct weft_sig_list list;
};

static struct weft_sig_list *
one(struct one *o, uint8_t *base, size_t len, uint32_t flags)
{
	o->piece = (struct weft_sig_piece){ base, len, flags };
	o->list = (struct weft_sig_list){ .piece = &o->piece, .n = 1 };
	return &o->list;
}

WEFT_TEST(a_stream_told_to_stops_in_front_of_a_bad_block)
{
	struct one in, to;

	for (unsigned int bad = 0; bad < 2; bad++) {
		units_make(&dif, 0, units);
		units[2 * UNIT] ^= (uint8_t)bad;
		key_open(&key, &dif, &none, 0xFF);
		assert_int_equal(weft_sig_begin(&stream, &key, WEFT_SIG_TX, 0, WEFT_SIG_STOP), 0);
		one(&in, units, sizeof(units), 0);
		one(&to, out, BLOCKS * BLOCK, 0);
		assert_int_equal(
			weft_sig_push(&stream, &in.list, &to.list), bad != 0 ? -EBADMSG : 0);
		assert_int_equal(to.list.done, bad != 0 ? 2 * BLOCK : BLOCKS * BLOCK);
		assert_int_equal(
			weft_sig_push(&stream, &in.list, &to.list), bad != 0 ? -EBADMSG : 0);
		assert_int_equal(weft_sig_end(&stream), bad != 0 ? -EBADMSG : 0);
		assert_int_equal(
			key_checked(&key).type, bad != 0 ? WEFT_SIG_BAD_GUARD : WEFT_SIG_NO_ERROR);
	}
}

WEFT_TEST(a_bad_block_can_be_passed_on_as_poison)
{
	uint8_t want[8];
	struct weft_sig_piece to[BLOCKS];
	struct weft_sig_list list = { .piece = to, .n = BLOCKS };
	struct one in;

	units_make(&dif, 0, units);
	units[2 * UNIT] ^= 1;
	for (unsigned int j = 0; j < BLOCKS; j++)
		to[j] = (struct weft_sig_piece){ out + j * UNIT, UNIT, 0 };
	key_open(&key, &dif, &dif, 0xFF);
	assert_int_equal(weft_sig_begin(&stream, &key, WEFT_SIG_TX, 0, WEFT_SIG_POISON_BAD), 0);
	assert_int_equal(weft_sig_push(&stream, one(&in, units, sizeof(units), 0), &list), 0);
	assert_int_equal(weft_sig_end(&stream), 0);
	for (unsigned int j = 0; j < BLOCKS; j++)
		assert_int_equal(to[j].flags, j == 2 ? WEFT_SIG_PIECE_POISONED : 0);
	model_sig(&dif, units + 2 * UNIT, 2, want);
	memset(want + 2, 0xFF, 6);
	assert_memory_equal(out + 2 * UNIT + BLOCK, want, 8);
	assert_memory_equal(out + 3 * UNIT, units + 3 * UNIT, UNIT);
	assert_int_equal(key_checked(&key).type, WEFT_SIG_BAD_GUARD);
}

/* Flits of 240 bytes, one of which is poisoned or never came: no guard is to blame. */
WEFT_TEST(poison_and_loss_are_reported_as_such)
{
	uint8_t want[8];
	struct weft_sig_piece flit[BLOCKS * UNIT / 240 + 1], to[BLOCKS];
	struct side wire = dif;

	wire.dif.bg_type = WEFT_SIG_BG_CSUM;
	for (unsigned int lost = 0; lost < 2; lost++) {
		struct weft_sig_list in = { .piece = flit }, list = { .piece = to, .n = BLOCKS };

		units_make(&dif, 0, units);
		for (size_t at = 0; at < sizeof(units); at += 240, in.n++)
			flit[in.n] = (struct weft_sig_piece){ units + at,
				sizeof(units) - at < 240 ? sizeof(units) - at : 240, 0 };
		/* Bytes 480 to 719: the end of block 0 and the beginning of block 1. */
		flit[2].flags = lost != 0 ? WEFT_SIG_PIECE_LOST : WEFT_SIG_PIECE_POISONED;
		if (lost != 0)
			flit[2].base = NULL;
		else
			memset(flit[2].base, 0xEE, 240);
		for (unsigned int j = 0; j < BLOCKS; j++)
			to[j] = (struct weft_sig_piece){ out + j * UNIT, UNIT, 0 };
		key_open(&key, &dif, &wire, 0xFF);
		assert_int_equal(weft_sig_begin(&stream, &key, WEFT_SIG_TX, 0, 0), 0);
		assert_int_equal(weft_sig_push(&stream, &in, &list), 0);
		assert_int_equal(weft_sig_end(&stream), 0);
		assert_int_equal(stream.key->counters.errors[WEFT_SIG_BAD_GUARD], 0);
		assert_int_equal(
			key.counters.errors[lost != 0 ? WEFT_SIG_LOST : WEFT_SIG_POISONED], 2);
		assert_int_equal(key.counters.checked, BLOCKS - 2);
		e = key_checked(&key);
		assert_int_equal(e.type, lost != 0 ? WEFT_SIG_LOST : WEFT_SIG_POISONED);
		assert_int_equal(e.block, 0);
		for (unsigned int j = 0; j < BLOCKS; j++) {
			assert_int_equal(to[j].flags, j < 2 ? WEFT_SIG_PIECE_POISONED : 0);
			model_sig(&wire, out + j * UNIT, j, want);
			if (j < 2)
				memset(want + 2, 0xFF, 6);
			assert_memory_equal(out + j * UNIT + BLOCK, want, 8);
		}
	}
}

/* Poison in one small block of a large one, whose signature comes with a later one. */
WEFT_TEST(poison_reaches_the_signature_of_its_output_block)
{
	uint8_t all[2 * BLOCKS * UNIT], large[4096 + 8];
	struct weft_sig_piece in[3], to[3];
	struct weft_sig_list from = { .piece = in, .n = 3 }, list = { .piece = to, .n = 3 };
	struct side wire = dif;

	wire.block = 4096;
	units_make(&dif, 0, all);
	units_make(&dif, BLOCKS, all + BLOCKS * UNIT);
	in[0] = (struct weft_sig_piece){ all, UNIT, 0 };
	in[1] = (struct weft_sig_piece){ all + UNIT, UNIT, WEFT_SIG_PIECE_POISONED };
	in[2] = (struct weft_sig_piece){ all + 2 * UNIT, 6 * UNIT, 0 };
	to[0] = (struct weft_sig_piece){ large, BLOCK, 0 };
	to[1] = (struct weft_sig_piece){ large + BLOCK, BLOCK, 0 };
	to[2] = (struct weft_sig_piece){ large + 2 * BLOCK, 6 * BLOCK + 8, 0 };
	key_open(&key, &dif, &wire, 0xFF);
	assert_int_equal(weft_sig_begin(&stream, &key, WEFT_SIG_TX, 0, 0), 0);
	assert_int_equal(weft_sig_push(&stream, &from, &list), 0);
	assert_int_equal(weft_sig_end(&stream), 0);
	assert_int_equal(to[0].flags, 0);
	assert_int_equal(to[1].flags, WEFT_SIG_PIECE_POISONED);
	assert_int_equal(to[2].flags, WEFT_SIG_PIECE_POISONED);
	for (unsigned int i = 2; i < 8; i++)
		assert_int_equal(large[4096 + i], 0xFF);
}

/* Whole units in one piece, which otherwise go many at a time: stripped, passed on, signed. */
WEFT_TEST(poison_of_whole_units_is_seen)
{
	const struct side *sides[][2] = { { &dif, &none }, { &dif, &dif }, { &none, &dif } };

	for (unsigned int i = 0; i < 3; i++) {
		const bool is_signed = sides[i][0]->present, makes = sides[i][1]->present;
		const size_t in_unit = BLOCK + (is_signed ? 8 : 0);
		const size_t out_unit = BLOCK + (makes ? 8 : 0);
		struct one in, to;

		units_make(&dif, 0, units);
		key_open(&key, sides[i][0], sides[i][1], 0xFF);
		assert_int_equal(weft_sig_begin(&stream, &key, WEFT_SIG_TX, 0, 0), 0);
		weft_sig_push(&stream, one(&in, units, in_unit, 0), one(&to, out, out_unit, 0));
		assert_int_equal(to.piece.flags, 0);
		weft_sig_push(&stream,
			one(&in, units + in_unit, 2 * in_unit, WEFT_SIG_PIECE_POISONED),
			one(&to, out, 2 * out_unit, 0));
		assert_int_equal(to.list.done, 2 * out_unit);
		assert_int_equal(to.piece.flags, WEFT_SIG_PIECE_POISONED);
		for (unsigned int k = 2; makes && k < 8; k++)
			assert_int_equal(out[out_unit + BLOCK + k], 0xFF);
		assert_int_equal(weft_sig_end(&stream), 0);
		assert_int_equal(key.counters.errors[WEFT_SIG_POISONED], 2);
		assert_int_equal(key_checked(&key).block, 1);
	}
}

WEFT_TEST(poison_goes_through_where_nothing_is_signed)
{
	uint8_t data[64] = { 1 }, to_data[64];
	struct one in, to;

	key_open(&key, &none, &none, 0);
	assert_int_equal(weft_sig_begin(&stream, &key, WEFT_SIG_TX, 0, 0), 0);
	weft_sig_push(&stream, one(&in, data, 7, 0), one(&to, to_data, 7, 0));
	weft_sig_push(
		&stream, one(&in, data, 64, WEFT_SIG_PIECE_POISONED), one(&to, to_data, 64, 0));
	assert_int_equal(weft_sig_end(&stream), 0);
	assert_int_equal(to.piece.flags, WEFT_SIG_PIECE_POISONED);
	e = key_checked(&key);
	assert_int_equal(e.type, WEFT_SIG_POISONED);
	assert_int_equal(e.offset, 7);
}

/* S11: section 6.2. */

struct bad_case {
	struct weft_sig_attr attr;
	struct weft_sig_domain mem, wire;
	struct weft_sig_crc crc, wire_crc;
	struct weft_sig_t10dif t10dif;
	int want;
};

/* A case that is right: CRC32 in memory, DIF on the wire. */
static void
case_good(struct bad_case *c)
{
	*c = (struct bad_case){
		.crc = { WEFT_SIG_CRC32, UINT32_MAX },
		.wire_crc = { WEFT_SIG_CRC32, 0 },
		.t10dif = dif.dif,
		.want = -EINVAL,
	};
	c->mem = (struct weft_sig_domain){ WEFT_SIG_CRC, { .crc = &c->crc }, BLOCK, 0 };
	c->wire = (struct weft_sig_domain){ WEFT_SIG_T10DIF, { .dif = &c->t10dif }, BLOCK, 0 };
	c->attr = (struct weft_sig_attr){ .mem = &c->mem, .wire = &c->wire, .check_mask = 0xFF };
}

/* Cases 19 to 24: the mask says that the signature is copied. */
static void
case_copies(struct bad_case *c, unsigned int i)
{
	c->attr.flags = WEFT_SIG_COPY_MASK;
	switch (i) {
	case 20: c->attr.mem = NULL; break;
	case 21: c->attr.wire = NULL; break;
	case 22:
		c->wire = c->mem;
		c->wire.block_size = 520;
		break;
	case 23:
		c->wire = c->mem;
		c->wire.sig.crc = &c->wire_crc;
		c->wire_crc.type = WEFT_SIG_CRC32C;
		break;
	case 24:
		c->wire = c->mem;
		c->wire.sig.crc = &c->wire_crc;
		c->want = 0;
		break;
	default: break; /* structures differ */
	}
}

/* Make @p c the @p i-th of the table. False behind the last. */
static bool
case_make(struct bad_case *c, unsigned int i)
{
	case_good(c);
	switch (i) {
	case 0: c->want = 0; break;
	case 1: c->attr.mem = c->attr.wire = NULL; break;
	case 2: c->attr.comp_mask = 1; break;
	case 3: c->mem.comp_mask = 1; break;
	case 4: c->wire.comp_mask = UINT64_C(1) << 63; break;
	case 5: c->attr.flags = 2; break;
	case 6: c->mem.block_size = 0; break;
	case 7: c->mem.block_size = 1024; break;
	case 8: c->wire.block_size = 513; break;
	case 9: c->mem.sig_type = (enum weft_sig_type)2; break;
	case 10: c->crc.type = (enum weft_sig_crc_type)3; break;
	case 11: c->crc.seed = 1; break;
	case 12: c->crc.seed = UINT64_MAX; break;
	case 13: c->crc = (struct weft_sig_crc){ WEFT_SIG_CRC32C, UINT64_MAX }; break;
	case 14: c->crc = (struct weft_sig_crc){ WEFT_SIG_CRC64_XP10, UINT32_MAX }; break;
	case 15: c->t10dif.bg = 1; break;
	case 16: c->t10dif.bg_type = (enum weft_sig_bg_type)2; break;
	case 17: c->t10dif.flags = 8; break;
	case 18: c->t10dif.flags = 0x8001; break;
	case 19:
	case 20:
	case 21:
	case 22:
	case 23:
	case 24: case_copies(c, i); break;
	case 25: c->mem.sig.crc = NULL; break;
	case 26: c->wire.sig.dif = NULL; break;
	case 27:
		c->crc = (struct weft_sig_crc){ WEFT_SIG_CRC64_XP10, UINT64_MAX };
		c->want = 0;
		break;
	case 28:
		c->attr.mem = NULL;
		c->wire.block_size = 4048;
		c->want = 0;
		break;
	case 29:
		c->attr.wire = NULL;
		c->mem.block_size = 4160;
		c->want = 0;
		break;
	case 30:
		c->t10dif = (struct weft_sig_t10dif){ WEFT_SIG_BG_CSUM, 0, 0, 0, 7 };
		c->want = 0;
		break;
	default: return false;
	}
	return true;
}

WEFT_TEST(every_bad_argument_is_refused_and_changes_nothing)
{
	struct bad_case c;

	for (unsigned int i = 0; case_make(&c, i); i++) {
		struct weft_sig_config before;

		key_open(&key, &none, &dif, 0x3C);
		before = key.now;
		assert_int_equal(weft_sig_key_configure(&key, 0, 0), 0);
		assert_int_equal(weft_sig_key_set_sig(&key, &c.attr), c.want);
		assert_int_equal(weft_sig_key_complete(&key), c.want);
		if (c.want != 0)
			assert_memory_equal(&key.now, &before, sizeof(before));
		else
			assert_int_equal(key.now.check_mask, 0xFF);
	}
}

WEFT_TEST(dif_of_both_guards_may_be_copied)
{
	struct side csum = dif;
	const uint8_t copy = 0x3F;

	csum.dif.bg_type = WEFT_SIG_BG_CSUM;
	csum.dif.bg = 0;
	weft_sig_key_init(&key, WEFT_SIG_KEY_BLOCK_SIGNATURE, NULL);
	assert_int_equal(key_set(&key, &dif, &csum, 0xFF, &copy), 0);
}

WEFT_TEST(requests_are_refused_out_of_turn)
{
	struct weft_sig_piece pieces[WEFT_SIG_KEY_PIECES + 1] = { { NULL, 0, 0 } };
	struct bad_case c;

	case_good(&c);
	assert_int_equal(weft_sig_key_init(&key, 2, NULL), -EINVAL);
	assert_int_equal(weft_sig_key_init(&key, 0, NULL), 0);
	assert_int_equal(weft_sig_key_set_sig(&key, &c.attr), -EINVAL);
	assert_int_equal(weft_sig_key_set_layout(&key, pieces, 1), -EINVAL);
	assert_int_equal(weft_sig_key_complete(&key), -EINVAL);
	assert_int_equal(weft_sig_key_configure(&key, 2, 0), -ENOTSUP);
	assert_int_equal(weft_sig_key_configure(&key, 0, 1), -ENOTSUP);
	assert_int_equal(weft_sig_key_configure(&key, 0, 0), 0);
	assert_int_equal(weft_sig_key_configure(&key, 0, 0), -EBUSY);
	assert_int_equal(weft_sig_key_set_sig(&key, &c.attr), -EINVAL);
	assert_int_equal(weft_sig_key_complete(&key), -EINVAL);

	assert_int_equal(weft_sig_key_init(&key, WEFT_SIG_KEY_BLOCK_SIGNATURE, NULL), 0);
	assert_int_equal(weft_sig_key_configure(&key, 0, 0), 0);
	assert_int_equal(weft_sig_key_set_sig(&key, NULL), -EINVAL);
	weft_sig_key_abort(&key);
	assert_int_equal(weft_sig_key_configure(&key, 0, 0), 0);
	assert_int_equal(weft_sig_key_set_layout(&key, pieces, WEFT_SIG_KEY_PIECES + 1), -ENOMEM);
	pieces[0].len = UINT32_MAX;
	pieces[1].len = 1;
	assert_int_equal(weft_sig_key_set_layout(&key, pieces, 2), -EMSGSIZE);
	assert_int_equal(weft_sig_key_set_layout(&key, pieces, 1), 0);
	assert_int_equal(weft_sig_key_set_layout(&key, pieces, 1), -EBUSY);
	assert_int_equal(weft_sig_key_complete(&key), -ENOMEM);
	assert_int_equal(key.now.n_pieces, 0);

	assert_int_equal(weft_sig_begin(&stream, &key, (enum weft_sig_dir)2, 0, 0), -EINVAL);
	assert_int_equal(weft_sig_begin(&stream, &key, WEFT_SIG_TX, 0, 8), -EINVAL);
	key_open(&key, &dif, &dif, 0xFF);
	key.now.spec[WEFT_SIG_WIRE].block = 4096;
	assert_int_equal(weft_sig_begin(&stream, &key, WEFT_SIG_TX, 7, 0), -EINVAL);
	assert_int_equal(weft_sig_begin(&stream, &key, WEFT_SIG_TX, 8, 0), 0);
	assert_int_equal(weft_sig_begin(&stream, &key, WEFT_SIG_TX, UINT64_MAX / 8, 0), -EINVAL);
}

/* Section 6.1: the state that a request leaves, and the state the next begins with. */
WEFT_TEST(states_are_those_of_the_table)
{
	enum { PLAIN, WITH_RESET, WITH_SET, RESET_AND_SET };
	static const struct {
		uint8_t request;
		enum weft_sig_key_state begun, left;
	} steps[] = {
		{ PLAIN, WEFT_SIG_INIT, WEFT_SIG_INIT },
		{ WITH_RESET, WEFT_SIG_RESET, WEFT_SIG_RESET },
		{ PLAIN, WEFT_SIG_INIT, WEFT_SIG_INIT },
		{ WITH_SET, WEFT_SIG_INIT, WEFT_SIG_UPDATED },
		{ PLAIN, WEFT_SIG_SET, WEFT_SIG_SET },
		{ PLAIN, WEFT_SIG_SET, WEFT_SIG_SET },
		{ WITH_SET, WEFT_SIG_SET, WEFT_SIG_UPDATED },
		{ WITH_SET, WEFT_SIG_SET, WEFT_SIG_UPDATED },
		{ WITH_RESET, WEFT_SIG_RESET, WEFT_SIG_RESET },
		{ WITH_RESET, WEFT_SIG_RESET, WEFT_SIG_RESET },
		{ WITH_SET, WEFT_SIG_INIT, WEFT_SIG_UPDATED },
		{ RESET_AND_SET, WEFT_SIG_RESET, WEFT_SIG_UPDATED },
	};
	struct bad_case c;

	case_good(&c);
	weft_sig_key_init(&key, WEFT_SIG_KEY_BLOCK_SIGNATURE, NULL);
	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(steps); i++) {
		const unsigned int request = steps[i].request;

		assert_int_equal(weft_sig_key_configure(&key,
					 request == WITH_RESET || request == RESET_AND_SET
						 ? WEFT_SIG_RESET_ATTR
						 : 0,
					 0),
			0);
		assert_int_equal(weft_sig_key_state(&key), steps[i].begun);
		if (request == WITH_SET || request == RESET_AND_SET) {
			assert_int_equal(weft_sig_key_set_sig(&key, &c.attr), 0);
			assert_int_equal(weft_sig_key_state(&key), WEFT_SIG_UPDATED);
		}
		assert_int_equal(weft_sig_key_complete(&key), 0);
		assert_int_equal(weft_sig_key_state(&key), steps[i].left);
		assert_int_equal(key.now.spec[WEFT_SIG_MEM].sig_len != 0,
			steps[i].left == WEFT_SIG_UPDATED || steps[i].left == WEFT_SIG_SET);
	}
	/* Twice in one request spoils it whole. */
	assert_int_equal(weft_sig_key_configure(&key, 0, 0), 0);
	assert_int_equal(weft_sig_key_set_sig(&key, &c.attr), 0);
	assert_int_equal(weft_sig_key_set_sig(&key, &c.attr), -EBUSY);
	assert_int_equal(weft_sig_key_complete(&key), -EBUSY);
	assert_int_equal(weft_sig_key_state(&key), WEFT_SIG_UPDATED);
	weft_sig_key_invalidate(&key);
	assert_int_equal(weft_sig_key_state(&key), WEFT_SIG_INIT);
	assert_int_equal(key.now.spec[WEFT_SIG_MEM].sig_len, 0);
}

WEFT_TEST(a_layout_outlives_a_reset_of_signatures)
{
	uint8_t wire[BLOCKS * UNIT], back[BLOCKS * UNIT];
	struct weft_sig_piece mem[3];
	struct one to;

	units_make(&dif, 0, units);
	mem[0] = (struct weft_sig_piece){ units, 100, 0 };
	mem[1] = (struct weft_sig_piece){ units + 100, 415, 0 };
	mem[2] = (struct weft_sig_piece){ units + 515, sizeof(units) - 515, 0 };
	key_open(&key, &dif, &none, 0xFF);
	assert_int_equal(weft_sig_key_configure(&key, 0, 0), 0);
	assert_int_equal(weft_sig_key_set_layout(&key, mem, 3), 0);
	assert_int_equal(weft_sig_key_complete(&key), 0);
	assert_int_equal(weft_sig_transfer(
				 &stream, &key, WEFT_SIG_TX, 0, 0, one(&to, wire, sizeof(wire), 0)),
		0);
	assert_int_equal(to.list.done, BLOCKS * BLOCK);
	memcpy(back, units, sizeof(back));
	memset(units, 0, sizeof(units));
	assert_int_equal(weft_sig_transfer(&stream, &key, WEFT_SIG_RX, 0, 0,
				 one(&to, wire, BLOCKS * BLOCK, 0)),
		0);
	assert_memory_equal(units, back, sizeof(units));
	assert_int_equal(key_checked(&key).type, WEFT_SIG_NO_ERROR);
	assert_int_equal(weft_sig_key_configure(&key, WEFT_SIG_RESET_ATTR, 0), 0);
	assert_int_equal(weft_sig_key_complete(&key), 0);
	assert_int_equal(weft_sig_transfer(
				 &stream, &key, WEFT_SIG_TX, 0, 0, one(&to, wire, sizeof(wire), 0)),
		0);
	assert_int_equal(to.list.done, sizeof(units));
	assert_memory_equal(wire, units, sizeof(units));
}

WEFT_TEST(a_length_that_does_not_fit_moves_nothing)
{
	static const struct {
		size_t in, room;
		int want;
	} rows[] = {
		{ 8 * UNIT, 4096 + 4, 0 },
		{ 8 * UNIT, 4096 + 3, -ENOSPC },
		{ 8 * UNIT - 1, 8192, -EINVAL },
		{ 7 * UNIT, 8192, -EINVAL }, /* not a whole block of output */
		{ 0, 0, 0 },
	};
	uint8_t all[8 * UNIT], large[8192];
	struct side wire = crc32_512;

	wire.block = 4096;
	units_make(&dif, 0, all);
	units_make(&dif, 4, all + 4 * UNIT);
	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(rows); i++) {
		struct weft_sig_op op = { .key = &key, .dir = WEFT_SIG_TX };
		struct one in, to;

		key_open(&key, &dif, &wire, 0xFF);
		memset(large, 0x5A, sizeof(large));
		op.in = *one(&in, all, rows[i].in, 0);
		op.out = *one(&to, large, rows[i].room, 0);
		assert_int_equal(weft_sig_burst(&stream, &op, 1), rows[i].want == 0);
		assert_int_equal(op.rc, rows[i].want);
		assert_int_equal(op.in.done, rows[i].want == 0 ? rows[i].in : 0);
		assert_int_equal(large[0] == 0x5A, rows[i].want != 0 || rows[i].in == 0);
	}
}

WEFT_TEST(a_stream_that_ends_inside_a_unit_says_so)
{
	uint8_t large[4104];
	struct side wire = dif;
	struct one in, to;

	units_make(&dif, 0, units);
	key_open(&key, &dif, &none, 0xFF);
	assert_int_equal(weft_sig_begin(&stream, &key, WEFT_SIG_TX, 0, 0), 0);
	weft_sig_push(&stream, one(&in, units, UNIT + 9, 0), one(&to, large, sizeof(large), 0));
	assert_int_equal(to.list.done, BLOCK);
	assert_int_equal(weft_sig_partial(&stream), 9);
	assert_int_equal(weft_sig_end(&stream), -EINVAL);
	assert_int_equal(key.counters.checked, 1);
	wire.block = 4096;
	key_open(&key, &dif, &wire, 0xFF);
	assert_int_equal(weft_sig_begin(&stream, &key, WEFT_SIG_TX, 0, 0), 0);
	weft_sig_push(&stream, one(&in, units, UNIT, 0), one(&to, large, sizeof(large), 0));
	assert_int_equal(weft_sig_partial(&stream), 0);
	assert_int_equal(weft_sig_end(&stream), -EINVAL);
}

/* S4: what each kind of signature must see, and what a sum of words cannot. */
WEFT_TEST(every_flipped_bit_is_seen)
{
	struct side sides[] = { dif, dif, crc32_512, crc32_512, crc32_512 };

	sides[1].dif.bg_type = WEFT_SIG_BG_CSUM;
	sides[3].crc = WEFT_SIG_CRC32C;
	sides[4].crc = WEFT_SIG_CRC64_XP10;
	sides[4].seed = UINT64_MAX;
	for (unsigned int k = 0; k < WEFT_ARRAY_SIZE(sides); k++) {
		const size_t unit = BLOCK + side_sig_len(&sides[k]);

		units_make(&sides[k], 0, units);
		key_open(&key, &sides[k], &none, 0xFF);
		for (size_t bit = 0; bit < 8 * unit; bit++) {
			const size_t byte = bit / 8;
			const bool in_tags = sides[k].is_dif && byte >= BLOCK + 2;

			units[byte] ^= (uint8_t)(1u << bit % 8);
			run_whole(&key, WEFT_SIG_TX, 0, 0, units, unit, out, sizeof(out));
			assert_int_equal(key_checked(&key).type, !in_tags ? WEFT_SIG_BAD_GUARD
								 : byte >= BLOCK + 4
									 ? WEFT_SIG_BAD_REFTAG
									 : WEFT_SIG_BAD_APPTAG);
			units[byte] ^= (uint8_t)(1u << bit % 8);
		}
	}
}

WEFT_TEST(a_checksum_is_blind_where_it_must_be)
{
	uint8_t word[2];
	struct side csum = dif;

	csum.dif.bg_type = WEFT_SIG_BG_CSUM;
	units_make(&csum, 0, units);
	key_open(&key, &csum, &none, 0xFF);
	memcpy(word, units + 10, 2);
	memcpy(units + 10, units + 100, 2);
	memcpy(units + 100, word, 2);
	run_whole(&key, WEFT_SIG_TX, 0, 0, units, UNIT, out, sizeof(out));
	assert_int_equal(key_checked(&key).type, WEFT_SIG_NO_ERROR);
	memset(units + 20, 0, 2);
	model_sig(&csum, units, 0, units + BLOCK);
	memset(units + 20, 0xFF, 2);
	run_whole(&key, WEFT_SIG_TX, 0, 0, units, UNIT, out, sizeof(out));
	assert_int_equal(key_checked(&key).type, WEFT_SIG_NO_ERROR);
}

/* Section 3.7: which seed lets a buffer that was never written pass. */
WEFT_TEST(zeros_pass_with_the_wrong_seed_only)
{
	memset(units, 0, sizeof(units));
	for (unsigned int i = 0; i < 4; i++) {
		struct side s = dif;

		s.dif = (struct weft_sig_t10dif){ .bg_type = (enum weft_sig_bg_type)(i & 1),
			.bg = (i & 2) != 0 ? 0xFFFF : 0 };
		key_open(&key, &s, &none, 0xFF);
		run_whole(&key, WEFT_SIG_TX, 0, 0, units, UNIT, out, sizeof(out));
		assert_int_equal(key_checked(&key).type == WEFT_SIG_NO_ERROR, i == 0 || i == 3);
	}
}
