/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Responder rules one by one (fabric.md section 1.9). */

#include "weft_test.h"

#include "weft_gfd.h"
#include "weft_telem.h"

#define PID 0x20
#define SPID 5
#define TAG 0xBEEF
#define BASE (UINT64_C(3) << 36) /* the fourth segment of 64 GB */
#define LINES 130 /* two whole words of poison bits and a piece */
#define LEN (LINES * 64u)

static uint8_t mem[LEN + 64];
static uint64_t poison[3];
static struct weft_gfd gfd;

static void
gfd_new(void)
{
	for (size_t i = 0; i < sizeof(mem); i++)
		mem[i] = (uint8_t)(i * 7 + i / 64);
	memset(poison, 0xFF, sizeof(poison)); /* init clears the map */
	assert_int_equal(weft_gfd_init(&gfd, PID, BASE, mem, LEN, poison), 0);
}

static struct weft_msg
request(uint8_t kind, uint8_t op, uint64_t hpa)
{
	struct weft_msg m = { .kind = kind, .op = op, .addr = hpa };

	m.meta_field = WEFT_META_FIELD_NOOP;
	m.spid = SPID;
	m.dpid = PID;
	m.tag = TAG;
	memset(m.data, 0xC3, sizeof(m.data));
	return m;
}

static struct weft_msg
served(const struct weft_msg *m)
{
	struct weft_msg reply;

	memset(&reply, 0xEE, sizeof(reply));
	assert_int_equal(weft_gfd_request(&gfd, m, &reply), WEFT_OK);
	assert_int_equal(reply.dpid, SPID);
	assert_int_equal(reply.spid, 0);
	assert_int_equal(reply.tag, TAG);
	assert_int_equal(reply.meta_field, WEFT_META_FIELD_NOOP);
	assert_int_equal(reply.trp | reply.tc | reply.ckid | reply.dev_load, 0);
	return reply;
}

static struct weft_msg
read_line(uint64_t hpa)
{
	const struct weft_msg m = request(WEFT_MSG_M2S_REQ, WEFT_M2S_REQ_MEMRD, hpa);
	const struct weft_msg reply = served(&m);

	assert_int_equal(reply.kind, WEFT_MSG_S2M_DRS);
	return reply;
}

static void
write_msg(const struct weft_msg *m)
{
	const struct weft_msg reply = served(m);

	assert_int_equal(reply.kind, WEFT_MSG_S2M_NDR);
	assert_int_equal(reply.op, WEFT_S2M_NDR_CMP);
	assert_int_equal(reply.poison, 0);
}

static void
write_line(uint64_t hpa, bool poisoned)
{
	struct weft_msg m = request(WEFT_MSG_M2S_RWD, WEFT_M2S_RWD_MEMWR, hpa);

	m.poison = poisoned;
	write_msg(&m);
}

WEFT_TEST(init_refuses_what_is_out_of_range)
{
	const uint64_t end = UINT64_C(1) << 52;

	assert_int_equal(weft_gfd_init(&gfd, 0xFFF, BASE, mem, LEN, poison), -EINVAL);
	assert_int_equal(weft_gfd_init(&gfd, PID, BASE + 32, mem, LEN, poison), -EINVAL);
	assert_int_equal(weft_gfd_init(&gfd, PID, end, mem, LEN, poison), -EINVAL);
	assert_int_equal(weft_gfd_init(&gfd, PID, BASE, mem, 0, poison), -EINVAL);
	assert_int_equal(weft_gfd_init(&gfd, PID, BASE, mem, 65, poison), -EINVAL);
	assert_int_equal(weft_gfd_init(&gfd, PID, end - 64, mem, 128, poison), -EINVAL);
	assert_int_equal(weft_gfd_init(&gfd, 0xFFE, end - 64, mem, 64, poison), 0);
	assert_int_equal(weft_gfd_poison_size(64), 8);
	assert_int_equal(weft_gfd_poison_size(64 * 64), 8);
	assert_int_equal(weft_gfd_poison_size(65 * 64), 16);
	assert_int_equal(weft_gfd_poison_size(LEN), sizeof(poison));
}

WEFT_TEST(reads_return_the_line_and_keep_contents)
{
	static const uint8_t ops[] = { WEFT_M2S_REQ_MEMRD, WEFT_M2S_REQ_MEMRDDATA };

	gfd_new();
	for (unsigned int line = 0; line < LINES; line++) {
		for (size_t k = 0; k < WEFT_ARRAY_SIZE(ops); k++) {
			const struct weft_msg m =
				request(WEFT_MSG_M2S_REQ, ops[k], BASE + line * 64);
			const struct weft_msg reply = served(&m);

			assert_int_equal(reply.kind, WEFT_MSG_S2M_DRS);
			assert_int_equal(reply.op, WEFT_S2M_DRS_MEMDATA);
			assert_int_equal(reply.poison, 0);
			assert_memory_equal(reply.data, mem + line * 64, 64);
		}
	}
	assert_int_equal(gfd.count[WEFT_GFD_N_READS], 2 * LINES);
}

WEFT_TEST(write_changes_its_line_and_no_other_byte)
{
	static const unsigned int lines[] = { 0, 1, 63, 64, LINES - 1 };
	uint8_t want[sizeof(mem)];

	gfd_new();
	memcpy(want, mem, sizeof(want));
	for (size_t i = 0; i < WEFT_ARRAY_SIZE(lines); i++) {
		memset(want + lines[i] * 64, 0xC3, 64);
		write_line(BASE + lines[i] * 64, false);
		assert_memory_equal(mem, want, sizeof(mem));
	}
	assert_int_equal(gfd.count[WEFT_GFD_N_WRITES], WEFT_ARRAY_SIZE(lines));
}

WEFT_TEST(low_address_bits_do_not_move_the_line)
{
	gfd_new();
	assert_memory_equal(read_line(BASE + 64 + 63).data, mem + 64, 64);
	/* The last byte of the last line: nothing behind the memory may be read. */
	assert_int_equal(read_line(BASE + LEN - 1).op, WEFT_S2M_DRS_MEMDATA);
}

WEFT_TEST(outside_the_memory_reads_are_nxm_and_writes_are_dropped)
{
	static const uint64_t outside[] = { BASE + LEN, BASE - 64, 0, BASE + (UINT64_C(1) << 36),
		(UINT64_C(1) << 52) - 64, UINT64_MAX };
	uint8_t before[sizeof(mem)], ones[64];

	gfd_new();
	memcpy(before, mem, sizeof(before));
	memset(ones, 0xFF, sizeof(ones));
	for (size_t i = 0; i < WEFT_ARRAY_SIZE(outside); i++) {
		const struct weft_msg reply = read_line(outside[i]);

		assert_int_equal(reply.op, WEFT_S2M_DRS_MEMDATA_NXM);
		assert_int_equal(reply.poison, 0);
		assert_memory_equal(reply.data, ones, sizeof(ones));
		write_line(outside[i], true);
		assert_memory_equal(mem, before, sizeof(mem));
	}
	assert_int_equal(gfd.count[WEFT_GFD_N_NXM_READS], WEFT_ARRAY_SIZE(outside));
	assert_int_equal(gfd.count[WEFT_GFD_N_NXM_WRITES], WEFT_ARRAY_SIZE(outside));
	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(poison); i++)
		assert_int_equal(poison[i], 0);
}

static void
expect_partial(unsigned int line, uint64_t enables)
{
	struct weft_msg m = request(WEFT_MSG_M2S_RWD, WEFT_M2S_RWD_MEMWRPTL, BASE + line * 64);
	uint8_t want[sizeof(mem)];

	memcpy(want, mem, sizeof(want));
	m.trp = 1;
	m.byte_enables = enables;
	for (unsigned int i = 0; i < 64; i++) {
		m.data[i] = (uint8_t)~mem[line * 64 + i];
		if ((enables >> i & 1) != 0)
			want[line * 64 + i] = m.data[i];
	}
	write_msg(&m);
	assert_memory_equal(mem, want, sizeof(mem));
}

WEFT_TEST(partial_write_writes_the_enabled_bytes)
{
	struct weft_rand r;

	gfd_new();
	weft_test_seed(&r, "byte enables");
	expect_partial(0, 0);
	expect_partial(LINES - 1, UINT64_MAX);
	for (unsigned int i = 0; i < 64; i++) {
		expect_partial(i, WEFT_BIT64(i));
		expect_partial(i, ~WEFT_BIT64(i));
		expect_partial(i, weft_mask64(i));
	}
	for (unsigned int i = 0; i < 2000; i++)
		expect_partial((unsigned int)weft_rand_below(&r, LINES), weft_rand_u64(&r));
	assert_int_equal(gfd.count[WEFT_GFD_N_PARTIAL_WRITES], 2 + 3 * 64 + 2000);
}

WEFT_TEST(poison_stays_with_its_line_until_a_clean_whole_write)
{
	static const unsigned int lines[] = { 0, 63, 64, LINES - 1 };

	for (size_t k = 0; k < WEFT_ARRAY_SIZE(lines); k++) {
		const uint64_t hpa = BASE + lines[k] * 64;

		gfd_new();
		write_line(hpa, true);
		for (unsigned int i = 0; i < LINES; i++)
			assert_int_equal(read_line(BASE + i * 64).poison, i == lines[k]);
		assert_int_equal(read_line(hpa).data[5], 0xC3); /* stored with the poison */
		expect_partial(lines[k], 0xFF);
		assert_int_equal(read_line(hpa).poison, 1);
		assert_int_equal(gfd.count[WEFT_GFD_N_POISON_READS], 3);
		assert_int_equal(gfd.count[WEFT_GFD_N_POISON_WRITES], 1);
		write_line(hpa, false);
		assert_int_equal(read_line(hpa).poison, 0);
	}
}

WEFT_TEST(partial_write_poisons_if_it_writes_and_heals_if_whole)
{
	struct weft_msg m = request(WEFT_MSG_M2S_RWD, WEFT_M2S_RWD_MEMWRPTL, BASE);

	gfd_new();
	m.trp = 1;
	m.poison = 1;
	write_msg(&m); /* no byte enabled */
	assert_int_equal(read_line(BASE).poison, 0);
	m.byte_enables = 1;
	write_msg(&m);
	assert_int_equal(read_line(BASE).poison, 1);
	expect_partial(0, UINT64_MAX >> 1);
	assert_int_equal(read_line(BASE).poison, 1);
	expect_partial(0, UINT64_MAX);
	assert_int_equal(read_line(BASE).poison, 0);
}

WEFT_TEST(invalidate_completes_and_changes_nothing)
{
	const struct weft_msg m = request(WEFT_MSG_M2S_REQ, WEFT_M2S_REQ_MEMINV, BASE);
	uint8_t before[sizeof(mem)];

	gfd_new();
	memcpy(before, mem, sizeof(before));
	write_msg(&m);
	assert_memory_equal(mem, before, sizeof(mem));
	assert_int_equal(gfd.count[WEFT_GFD_N_INVALIDATES], 1);
}

/* Refused, counted in @p row alone, no reply, no byte of memory changed. */
static void
expect_refused(const struct weft_msg *m, enum weft_verdict v, enum weft_gfd_counter row)
{
	struct weft_msg reply, untouched;
	uint64_t want[WEFT_GFD_N_COUNTERS];
	uint8_t before[sizeof(mem)];

	memcpy(want, gfd.count, sizeof(want));
	memcpy(before, mem, sizeof(before));
	memset(&reply, 0xEE, sizeof(reply));
	memcpy(&untouched, &reply, sizeof(reply));
	assert_int_equal(weft_gfd_request(&gfd, m, &reply), v);
	want[row]++;
	assert_memory_equal(gfd.count, want, sizeof(want));
	assert_memory_equal(&reply, &untouched, sizeof(reply));
	assert_memory_equal(mem, before, sizeof(mem));
}

WEFT_TEST(what_is_not_served_gets_no_reply)
{
	struct weft_msg m;

	gfd_new();
	for (uint8_t kind = 0; kind < WEFT_MSG_KINDS; kind++) {
		m = request(kind, 1, BASE);
		if (kind != WEFT_MSG_M2S_REQ && kind != WEFT_MSG_M2S_RWD)
			expect_refused(&m, WEFT_DROP_WRONG_CLASS, WEFT_GFD_N_WRONG_CLASS);
	}
	for (uint8_t op = 0; op < 16; op++) {
		m = request(WEFT_MSG_M2S_REQ, op, BASE);
		if (op > WEFT_M2S_REQ_MEMRDDATA)
			expect_refused(&m, WEFT_DROP_BAD_OPCODE, WEFT_GFD_N_BAD_OPCODE);
		m = request(WEFT_MSG_M2S_RWD, op, BASE);
		if (op != WEFT_M2S_RWD_MEMWR && op != WEFT_M2S_RWD_MEMWRPTL)
			expect_refused(&m, WEFT_DROP_BAD_OPCODE, WEFT_GFD_N_BAD_OPCODE);
	}
	m = request(WEFT_MSG_M2S_RWD, WEFT_M2S_RWD_MEMWRPTL, BASE); /* no trailer, so no enables */
	expect_refused(&m, WEFT_DROP_BAD_OPCODE, WEFT_GFD_N_BAD_OPCODE);
	m = request(WEFT_MSG_M2S_RWD, WEFT_M2S_RWD_MEMWR, BASE);
	m.dpid = PID + 1;
	expect_refused(&m, WEFT_DROP_NOT_MINE, WEFT_GFD_N_NOT_MINE);
}

static uint64_t late[3];

/* Memory that nobody could reach was zeroed: what was known of its lines is of no meaning. */
WEFT_TEST(healed_lines_are_good_and_others_are_not)
{
	gfd_new();
	assert_int_equal(weft_gfd_set_late(&gfd, 0, 1, late), 0);
	weft_gfd_poison_all(&gfd);
	assert_int_equal(weft_gfd_mark_late(&gfd, 0, 65), 0);
	weft_gfd_heal(&gfd, 0, 64);
	for (uint64_t i = 0; i < LINES; i++) {
		const struct weft_msg reply = read_line(BASE + 64 * i);

		assert_int_equal(reply.poison || gfd.turns_bad, i >= 64);
	}
}

/* What is injected is taken back, but for what was written or was bad before. */
WEFT_TEST(marks_of_good_lines_can_be_taken_back)
{
	uint64_t map[2] = { 0 }, none[1] = { 0 };
	struct weft_msg m = request(WEFT_MSG_M2S_RWD, WEFT_M2S_RWD_MEMWR, BASE + 64 * 5);

	gfd_new();
	assert_int_equal(weft_gfd_mark_good(&gfd, 0, 1, none), 0); /* nothing turns bad yet */
	assert_int_equal(weft_gfd_set_late(&gfd, 0, 1, late), 0);
	assert_int_equal(weft_gfd_mark_good(&gfd, LEN - 64, 2, none), 0);
	assert_int_equal(none[0], 0);
	/* One is bad before, found at once; the header says so then and afterwards. */
	m.poison = 1;
	write_msg(&m);
	assert_int_equal(weft_gfd_mark_good(&gfd, 64 * 3, 70, map), 69);
	for (uint64_t i = 0; i < LINES; i++) {
		assert_int_equal(read_line(BASE + 64 * i).poison, i == 5);
		assert_int_equal(gfd.turns_bad, i >= 3 && i < 73 && i != 5);
	}
	m = request(WEFT_MSG_M2S_RWD, WEFT_M2S_RWD_MEMWR, BASE + 64 * 7);
	write_msg(&m);
	m.poison = 1;
	m.addr = BASE + 64 * 8;
	write_msg(&m);
	weft_gfd_unmark(&gfd, 64 * 3, 70, map);
	for (uint64_t i = 0; i < LINES; i++) {
		assert_int_equal(read_line(BASE + 64 * i).poison, i == 5 || i == 8);
		assert_false(gfd.turns_bad);
	}
}

WEFT_TEST(a_share_can_change_and_keeps_marks)
{
	unsigned int bad[2] = { 0 };

	gfd_new();
	assert_int_equal(weft_gfd_set_late(&gfd, 0, 1, late), 0);
	assert_int_equal(weft_gfd_mark_late(&gfd, 0, 1), 0);
	assert_int_equal(weft_gfd_set_late_share(&gfd, 1.5, 1), -EINVAL);
	for (unsigned int k = 0; k < 2; k++) {
		assert_int_equal(weft_gfd_set_late_share(&gfd, 0.5, 7), 0);
		for (unsigned int i = 0; i < 64; i++) {
			read_line(BASE + 64);
			bad[k] = bad[k] * 2 + gfd.turns_bad;
		}
	}
	assert_int_equal(bad[0], bad[1]); /* of one seed */
	assert_int_not_equal(bad[0], 0);
	assert_int_equal(weft_gfd_set_late_share(&gfd, 0, 1), 0);
	for (unsigned int i = 0; i < 64; i++) {
		read_line(BASE + 64);
		assert_false(gfd.turns_bad);
	}
	read_line(BASE);
	assert_true(gfd.turns_bad);
}

WEFT_TEST(marked_lines_turn_bad_late_until_written)
{
	struct weft_msg m;

	gfd_new();
	assert_int_equal(weft_gfd_mark_late(&gfd, 0, 1), -EINVAL); /* nothing turns bad yet */
	memset(late, 0xFF, sizeof(late));
	assert_int_equal(weft_gfd_set_late(&gfd, 0, 1, late), 0);
	assert_int_equal(weft_gfd_mark_late(&gfd, LEN, 1), -EINVAL);
	assert_int_equal(weft_gfd_mark_late(&gfd, 0, 0), -EINVAL);
	assert_int_equal(weft_gfd_mark_late(&gfd, LEN - 64, 2), -EINVAL);
	assert_int_equal(weft_gfd_mark_late(&gfd, 0, UINT64_MAX), -EINVAL);
	assert_int_equal(weft_gfd_mark_late(&gfd, LEN - 1, 1), 0);
	assert_int_equal(weft_gfd_mark_late(&gfd, 64 * 63, 2), 0);
	for (uint64_t i = 0; i < LINES; i++) {
		const bool bad = i == 63 || i == 64 || i == LINES - 1;

		/* The header says nothing. */
		assert_int_equal(read_line(BASE + 64 * i).poison, 0);
		assert_int_equal(gfd.turns_bad, bad);
	}
	assert_int_equal(gfd.count[WEFT_GFD_N_LATE_POISON], 3);
	assert_int_equal(gfd.count[WEFT_GFD_N_POISON_READS], 3);
	m = request(WEFT_MSG_M2S_RWD, WEFT_M2S_RWD_MEMWR, BASE + 64 * 63);
	write_msg(&m);
	read_line(BASE + 64 * 63);
	assert_false(gfd.turns_bad);
	/* Poison that came with a write is known at once. */
	m.poison = 1;
	m.addr = BASE + 64 * 64;
	write_msg(&m);
	assert_int_equal(read_line(BASE + 64 * 64).poison, 1);
	assert_false(gfd.turns_bad);
	/* What is said of the read before must not stick to other answers. */
	read_line(BASE + LEN - 64);
	assert_true(gfd.turns_bad);
	m.addr = BASE;
	write_msg(&m);
	assert_false(gfd.turns_bad);
	read_line(BASE + LEN - 64);
	read_line(BASE + LEN);
	assert_false(gfd.turns_bad);
}

WEFT_TEST(a_share_of_reads_turns_bad_late)
{
	static const double shares[] = { 0, 0.01, 0.25, 1 };
	unsigned int n[2];

	for (unsigned int i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
		for (unsigned int again = 0; again < 2; again++) {
			gfd_new();
			assert_int_equal(weft_gfd_set_late(&gfd, shares[i], 9, late), 0);
			n[again] = 0;
			for (unsigned int k = 0; k < 10000; k++) {
				assert_int_equal(read_line(BASE + 64 * (k % LINES)).poison, 0);
				n[again] += gfd.turns_bad ? 1 : 0;
			}
			/* Four standard deviations of 10,000 draws at the most. */
			assert_true(n[again] + 200.0 * (shares[i] > 0) >= 10000 * shares[i]);
			assert_true(n[again] <= 10000 * shares[i] + 200.0 * (shares[i] > 0));
		}
		assert_int_equal(n[0], n[1]); /* the seed's draws */
	}
	assert_int_equal(weft_gfd_set_late(&gfd, 1.01, 9, late), -EINVAL);
	assert_int_equal(weft_gfd_set_late(&gfd, -0.01, 9, late), -EINVAL);
}

WEFT_TEST(every_counter_has_a_name_of_its_own)
{
	const struct weft_counter *rows = weft_gfd_counters;

	for (int i = 0; i < WEFT_GFD_N_COUNTERS; i++) {
		assert_true(rows[i].unit[0] != '\0' && rows[i].help[0] != '\0');
		assert_int_equal(weft_counter_find(rows, WEFT_GFD_N_COUNTERS, rows[i].name), i);
	}
}

/* All of the memory, its last line too, and nothing else; whole writes heal line by line. */
WEFT_TEST(poison_of_all_is_healed_by_writes)
{
	assert_int_equal(weft_gfd_init(&gfd, PID, BASE, mem, LEN, poison), 0);
	weft_gfd_poison_all(&gfd);
	for (unsigned int healed = 0; healed <= LINES; healed++) {
		for (unsigned int i = 0; i < LINES; i++) {
			struct weft_msg m = { .kind = WEFT_MSG_M2S_REQ,
				.op = WEFT_M2S_REQ_MEMRD,
				.dpid = PID,
				.addr = BASE + i * 64 };
			struct weft_msg reply;

			assert_int_equal(weft_gfd_request(&gfd, &m, &reply), WEFT_OK);
			assert_int_equal(reply.poison, i >= healed);
		}
		if (healed < LINES)
			write_line(BASE + healed * 64, false);
	}
}
