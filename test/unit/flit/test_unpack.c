/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The reader of flits on streams laid out by hand (wire-formats.md section 4.4): where data and
 * trailers lie, what a control or Empty flit does, how much may be pending, what is refused. A flit
 * to be read lies in a heap block of 256 bytes.
 */

#include "weft_test.h"

#include "weft_msg_gen.h"

#define GOT_MAX 64

/* What the reader handed on. */
struct got {
	unsigned int n;
	struct weft_msg m[GOT_MAX];
};

static struct weft_unpacker u;
static enum weft_form form;
static struct got g;
static uint8_t flit[WEFT_FLIT_LEN]; /* the one that is laid out */

static void
take(void *arg, const struct weft_msg *m)
{
	(void)arg;
	assert_in_range(g.n, 0, GOT_MAX - 1);
	g.m[g.n++] = *m;
}

static enum weft_verdict
unpack(void)
{
	uint8_t *exact = malloc(WEFT_FLIT_LEN);
	enum weft_verdict v;

	assert_non_null(exact);
	memcpy(exact, flit, WEFT_FLIT_LEN);
	v = weft_unpack_flit(&u, exact, take, NULL);
	free(exact);
	return v;
}

static void
flit_clear(void)
{
	memset(flit, 0, WEFT_FLIT_LEN);
	flit[0] = WEFT_FLIT_CACHEMEM << 6;
}

/* A new stream, whose first flit is to be laid out. */
static void
begin(enum weft_form f)
{
	form = f;
	memset(&g, 0, sizeof(g));
	weft_unpack_init(&u, form, NULL);
	flit_clear();
}

/* The flit is good; the next one is to be laid out. */
static void
next_flit(void)
{
	assert_int_equal(unpack(), WEFT_OK);
	flit_clear();
}

/* Write a header slot for @p n messages. */
static void
put_header(unsigned int slot, const struct weft_msg *m, unsigned int n)
{
	assert_int_equal(
		weft_slot_encode(flit + (slot == 0 ? 2 : 16 * slot), slot == 0, form, m, n), 0);
}

/* Fill slots from..to with their own bytes: slot s of flit number f holds f * 16 + s. */
static void
put_data(unsigned int f, unsigned int from, unsigned int to)
{
	for (unsigned int s = from; s <= to; s++)
		memset(flit + 16 * s, (int)(f * 16 + s), 16);
}

/* The 16 bytes at @p piece of a message's data are those of slot @p s of flit @p f. */
static void
assert_data(const struct weft_msg *m, unsigned int piece, unsigned int f, unsigned int s)
{
	for (unsigned int i = 0; i < 16; i++)
		assert_int_equal(m->data[16 * piece + i], f * 16 + s);
}

WEFT_TEST(data_goes_on_in_the_next_flit_behind_its_h_slot)
{
	const struct weft_msg write = { .kind = WEFT_MSG_M2S_RWD, .op = 1, .tag = 7 };
	const struct weft_msg read = { .kind = WEFT_MSG_M2S_REQ, .op = 1, .tag = 8 };

	begin(WEFT_FORM_HBR);
	put_header(12, &write, 1);
	put_data(0, 13, 14);
	next_flit();
	assert_int_equal(g.n, 0);
	put_header(0, &read, 1);
	put_data(1, 1, 2);
	put_header(3, &read, 1);
	assert_int_equal(unpack(), WEFT_OK);
	assert_int_equal(g.n, 3);
	weft_assert_same_header(&g.m[0], &read);
	weft_assert_same_header(&g.m[1], &write);
	assert_data(&g.m[1], 0, 0, 13);
	assert_data(&g.m[1], 1, 0, 14);
	assert_data(&g.m[1], 2, 1, 1);
	assert_data(&g.m[1], 3, 1, 2);
	weft_assert_same_header(&g.m[2], &read);
}

WEFT_TEST(h_slot_data_header_waits_for_what_was_announced_before)
{
	const struct weft_msg first = { .kind = WEFT_MSG_S2M_DRS, .tag = 1 };
	const struct weft_msg second = { .kind = WEFT_MSG_S2M_DRS, .tag = 2 };

	begin(WEFT_FORM_PBR);
	put_header(14, &first, 1);
	next_flit();
	put_header(0, &second, 1);
	put_data(1, 1, 8);
	assert_int_equal(unpack(), WEFT_OK);
	assert_int_equal(g.n, 2);
	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(g.m[i].tag, i + 1);
		for (unsigned int piece = 0; piece < 4; piece++)
			assert_data(&g.m[i], piece, 1, 1 + 4 * i + piece);
	}
}

/* One message with a trailer of counting bytes, and what of them belongs to which field. */
WEFT_TEST(trailers_hold_what_the_message_needs)
{
	static const struct {
		struct weft_msg m;
		uint64_t byte_enables;
		uint32_t emd;
	} cases[] = {
		/* byte enables, then EMD */
		{ { .kind = WEFT_MSG_M2S_RWD, .op = 0x2, .trp = 1 }, 0x0706050403020100,
			0x0B0A0908 },
		{ { .kind = WEFT_MSG_M2S_RWD, .op = 0xA, .trp = 1 }, 0x0706050403020100,
			0x0B0A0908 },
		/* EMD alone */
		{ { .kind = WEFT_MSG_M2S_RWD, .op = 0x1, .trp = 1 }, 0, 0x03020100 },
		{ { .kind = WEFT_MSG_M2S_RWD, .op = 0x9, .trp = 1 }, 0, 0x03020100 },
		{ { .kind = WEFT_MSG_S2M_DRS, .trp = 1 }, 0, 0x03020100 },
		/* byte enables alone */
		{ { .kind = WEFT_MSG_D2H_DH, .trp = 1 }, 0x0706050403020100, 0 },
	};

	for (size_t i = 0; i < WEFT_ARRAY_SIZE(cases); i++) {
		const struct weft_msg after = { .kind = WEFT_MSG_S2M_NDR, .tag = 9 };

		begin(WEFT_FORM_HBR);
		put_header(1, &cases[i].m, 1);
		put_data(0, 2, 5);
		for (unsigned int b = 0; b < 16; b++)
			flit[16 * 6 + b] = (uint8_t)b;
		put_header(7, &after, 1);
		assert_int_equal(unpack(), WEFT_OK);
		assert_int_equal(g.n, 2);
		assert_int_equal(g.m[0].byte_enables, cases[i].byte_enables);
		assert_int_equal(g.m[0].emd, cases[i].emd);
		assert_data(&g.m[0], 3, 0, 5);
		weft_assert_same_header(&g.m[1], &after);
	}
}

/* All 8 choices of TRP over three DRS of one slot: one trailer slot, behind the first data. */
WEFT_TEST(drs_of_one_slot_share_a_trailer)
{
	for (unsigned int trp = 0; trp < 8; trp++) {
		struct weft_msg m[3];
		unsigned int word = 0, s = 6;

		for (unsigned int i = 0; i < 3; i++)
			m[i] = (struct weft_msg){ .kind = WEFT_MSG_S2M_DRS,
				.tag = (uint16_t)(10 + i),
				.trp = trp >> i & 1 };
		begin(WEFT_FORM_HBR);
		put_header(1, m, 3);
		put_data(0, 2, trp != 0 ? 14 : 13);
		if (trp != 0)
			for (unsigned int w = 0; w < 4; w++)
				weft_put_le32(flit + 16 * s + 4 * w, 0xE0000000 + w);
		assert_int_equal(unpack(), WEFT_OK);
		assert_int_equal(g.n, 3);
		s += trp != 0;
		for (unsigned int i = 0; i < 3; i++) {
			weft_assert_same_header(&g.m[i], &m[i]);
			assert_int_equal(g.m[i].emd, m[i].trp ? 0xE0000000 + word++ : 0);
			for (unsigned int piece = 0; piece < 4; piece++)
				assert_data(&g.m[i], piece, 0,
					i == 0 ? 2 + piece : s + 4 * (i - 1) + piece);
		}
	}
}

/* Four D2H data headers, of which the first and third say BEP: each has its own trailer. */
WEFT_TEST(d2h_data_of_one_slot_have_trailers_each)
{
	struct weft_msg m[4];

	for (unsigned int i = 0; i < 4; i++)
		m[i] = (struct weft_msg){
			.kind = WEFT_MSG_D2H_DH, .tag = (uint16_t)i, .trp = i % 2 == 0
		};
	begin(WEFT_FORM_HBR);
	put_header(0, m, 4);
	put_data(0, 1, 14);
	next_flit();
	assert_int_equal(g.n, 3);
	put_data(1, 1, 4);
	assert_int_equal(unpack(), WEFT_OK);
	assert_int_equal(g.n, 4);
	assert_int_equal(g.m[0].byte_enables, UINT64_C(0x0505050505050505));
	assert_data(&g.m[1], 0, 0, 6);
	assert_int_equal(g.m[1].byte_enables, 0);
	assert_data(&g.m[2], 0, 0, 10);
	assert_data(&g.m[3], 3, 1, 4);
}

WEFT_TEST(control_flit_ends_the_walk_unless_it_is_ide_mac)
{
	static const uint8_t payload[WEFT_LLCTRL_PAYLOAD_LEN] = { 0xAB };
	static const uint8_t codes[] = { WEFT_LLCTRL_IDE_IDLE, WEFT_LLCTRL_IDE_START,
		WEFT_LLCTRL_IDE_TMAC, WEFT_LLCTRL_IDE_MAC, WEFT_LLCTRL_IDE_STOP, WEFT_LLCTRL_VIRAL,
		WEFT_LLCTRL_POISON, WEFT_LLCTRL_INIT_PARAM, 0x5F };
	const struct weft_msg req = { .kind = WEFT_MSG_M2S_REQ, .tag = 3 };

	for (size_t i = 0; i < sizeof(codes); i++) {
		const bool is_mac = codes[i] == WEFT_LLCTRL_IDE_MAC;

		begin(WEFT_FORM_HBR);
		weft_llctrl_put(flit, (enum weft_llctrl)codes[i], payload);
		assert_int_equal(flit[2], (codes[i] & 0xF0) | 8);
		assert_int_equal(flit[3], codes[i] & 0xF);
		assert_int_equal(flit[4], 0xAB);
		assert_int_equal(weft_flit_is_protocol(flit), is_mac);
		put_header(1, &req, 1);
		assert_int_equal(unpack(), WEFT_OK);
		assert_int_equal(g.n, is_mac ? 2 : 1);
		assert_int_equal(g.m[0].kind, WEFT_MSG_LLCTRL);
		assert_int_equal(g.m[0].op, codes[i]);
		if (is_mac)
			weft_assert_same_header(&g.m[1], &req);
	}
}

/* Data on its way is not in a control, Empty or foreign flit, but is behind an IDE.MAC. */
WEFT_TEST(flits_without_messages_leave_data_pending)
{
	static const uint8_t payload[WEFT_LLCTRL_PAYLOAD_LEN];
	const struct weft_msg write = { .kind = WEFT_MSG_M2S_RWD, .tag = 7 };

	begin(WEFT_FORM_PBR);
	put_header(14, &write, 1);
	assert_int_equal(unpack(), WEFT_OK);

	memset(flit, 0xFF, sizeof(flit)); /* an ALMP flit */
	assert_int_equal(unpack(), WEFT_OK);
	flit[0] = WEFT_FLIT_IO << 6;
	assert_int_equal(unpack(), WEFT_OK);
	flit[0] = WEFT_FLIT_IDLE_NOP << 6;
	assert_int_equal(unpack(), WEFT_OK);
	flit[0] = WEFT_FLIT_CACHEMEM << 6;
	flit[240] = 0xE1; /* Empty */
	next_flit();
	assert_int_equal(g.n, 0);
	weft_llctrl_put(flit, WEFT_LLCTRL_POISON, payload);
	put_data(1, 1, 14);
	next_flit();
	assert_int_equal(g.n, 1);
	weft_llctrl_put(flit, WEFT_LLCTRL_IDE_MAC, payload);
	put_data(2, 1, 4);
	assert_int_equal(unpack(), WEFT_OK);
	assert_int_equal(g.n, 3);
	assert_int_equal(g.m[2].tag, 7);
	assert_data(&g.m[2], 0, 2, 1);
	assert_data(&g.m[2], 3, 2, 4);
}

WEFT_TEST(restart_forgets_what_is_pending)
{
	const struct weft_msg write = { .kind = WEFT_MSG_M2S_RWD };
	const struct weft_msg req = { .kind = WEFT_MSG_M2S_REQ, .tag = 3 };

	begin(WEFT_FORM_HBR);
	put_header(13, &write, 1);
	assert_int_equal(unpack(), WEFT_OK);
	weft_unpack_restart(&u);
	flit_clear();
	put_header(1, &req, 1);
	assert_int_equal(unpack(), WEFT_OK);
	assert_int_equal(g.n, 1);
	weft_assert_same_header(&g.m[0], &req);
}

/* A write whose data is lost counts; a data header that is refused does not. */
WEFT_TEST(messages_count_when_their_header_comes)
{
	static const uint8_t payload[WEFT_LLCTRL_PAYLOAD_LEN];
	const struct weft_msg write = { .kind = WEFT_MSG_M2S_RWD };
	const struct weft_msg ndr[3] = { { .kind = WEFT_MSG_S2M_NDR }, { .kind = WEFT_MSG_S2M_NDR },
		{ .kind = WEFT_MSG_S2M_NDR } };
	struct weft_msg dh[4];
	uint64_t seen[WEFT_MSG_KINDS] = { 0 }, want[WEFT_MSG_KINDS] = { 0 };

	for (unsigned int i = 0; i < 4; i++)
		dh[i] = (struct weft_msg){ .kind = WEFT_MSG_D2H_DH, .trp = 1 };
	begin(WEFT_FORM_HBR);
	weft_unpack_init(&u, form, seen);
	weft_llctrl_put(flit, WEFT_LLCTRL_IDE_MAC, payload);
	put_header(1, ndr, 3);
	put_header(14, &write, 1);
	assert_int_equal(weft_unpack_flit(&u, flit, NULL, NULL), WEFT_OK);
	want[WEFT_MSG_LLCTRL] = 1;
	want[WEFT_MSG_S2M_NDR] = 3;
	want[WEFT_MSG_M2S_RWD] = 1;
	assert_memory_equal(seen, want, sizeof(seen));

	weft_unpack_restart(&u);
	flit_clear();
	put_header(11, dh, 4);
	assert_int_equal(weft_unpack_flit(&u, flit, NULL, NULL), WEFT_OK);
	want[WEFT_MSG_D2H_DH] = 4;
	flit_clear();
	put_header(0, dh, 4); /* behind 17 slots */
	assert_int_equal(weft_unpack_flit(&u, flit, NULL, NULL), WEFT_DROP_SLOT_FORMAT);
	assert_memory_equal(seen, want, sizeof(seen));
}

/* Who looks on sees the headers that the reader hands on, and counts data as it does. */
WEFT_TEST(a_walk_sees_every_header_and_no_data)
{
	static const uint8_t payload[WEFT_LLCTRL_PAYLOAD_LEN];
	const struct weft_msg write = { .kind = WEFT_MSG_M2S_RWD, .op = 1, .tag = 7, .trp = 1 };
	const struct weft_msg drs[2] = { { .kind = WEFT_MSG_S2M_DRS, .tag = 1, .trp = 1 },
		{ .kind = WEFT_MSG_S2M_DRS, .tag = 2, .trp = 1 } };
	const struct weft_msg read = { .kind = WEFT_MSG_M2S_REQ, .op = 1, .tag = 8 };
	unsigned int data = 0;

	begin(WEFT_FORM_HBR);
	put_header(3, drs, 2); /* 8 of data and one trailer: up to slot 12 */
	put_data(0, 4, 12);
	put_header(13, &write, 1);
	put_data(0, 14, 14);
	assert_int_equal(weft_flit_walk(flit, form, &data, take, NULL), WEFT_OK);
	assert_int_equal(g.n, 3);
	assert_int_equal(data, 4);
	flit_clear();
	put_header(0, &read, 1);
	put_data(1, 1, 4);
	put_header(5, &read, 1);
	assert_int_equal(weft_flit_walk(flit, form, &data, take, NULL), WEFT_OK);
	assert_int_equal(data, 0);
	flit_clear();
	weft_llctrl_put(flit, WEFT_LLCTRL_IDE_STOP, payload);
	put_data(2, 1, 14); /* reserved */
	assert_int_equal(weft_flit_walk(flit, form, &data, take, NULL), WEFT_OK);
	assert_int_equal(g.n, 6);
	weft_assert_same_header(&g.m[2], &write);
	weft_assert_same_header(&g.m[3], &read);
	weft_assert_same_header(&g.m[4], &read);
	assert_int_equal(g.m[5].op, WEFT_LLCTRL_IDE_STOP);
	assert_string_equal(weft_msg_op_name(WEFT_MSG_LLCTRL, g.m[5].op), "IDE.Stop");
	assert_string_equal(weft_msg_op_name(WEFT_MSG_M2S_RWD, g.m[2].op), "MemWr");
	assert_null(weft_msg_op_name(WEFT_MSG_M2S_RWD, 0));
	flit_clear();
	flit[16] = 0xA; /* a reserved format of HBR */
	data = 0;
	assert_int_equal(weft_flit_walk(flit, form, &data, take, NULL), WEFT_DROP_SLOT_FORMAT);
}

/* Four D2H data headers with BEP in slot @p slot: 20 slots to come; 14 - slot come in this flit. */
static void
announce_20(unsigned int slot)
{
	struct weft_msg m[4];

	for (unsigned int i = 0; i < 4; i++)
		m[i] = (struct weft_msg){ .kind = WEFT_MSG_D2H_DH, .tag = (uint16_t)i, .trp = 1 };
	flit_clear();
	put_header(slot, m, 4);
	assert_int_equal(unpack(), WEFT_OK);
	assert_int_equal(g.n, 0);
}

WEFT_TEST(sixteen_pending_slots_let_the_h_slot_add_twenty)
{
	struct weft_msg m[4];

	begin(WEFT_FORM_HBR);
	announce_20(10);
	for (unsigned int i = 0; i < 4; i++)
		m[i] = (struct weft_msg){
			.kind = WEFT_MSG_D2H_DH, .tag = (uint16_t)(4 + i), .trp = 1
		};
	flit_clear();
	put_header(0, m, 4);
	next_flit();
	assert_int_equal(g.n, 3); /* 4 + 14 of 40 slots */
	assert_int_equal(unpack(), WEFT_OK);
	assert_int_equal(unpack(), WEFT_OK);
	assert_int_equal(g.n, 8);
	for (unsigned int i = 0; i < 8; i++)
		assert_int_equal(g.m[i].tag, i);
}

WEFT_TEST(seventeen_pending_slots_bar_the_h_slot_from_data_headers)
{
	const struct weft_msg dh = { .kind = WEFT_MSG_D2H_DH, .tag = 9 };
	const struct weft_msg rsp = { .kind = WEFT_MSG_D2H_RSP, .tag = 8 };

	begin(WEFT_FORM_HBR);
	announce_20(11);
	flit_clear();
	put_header(0, &dh, 1);
	assert_int_equal(unpack(), WEFT_DROP_SLOT_FORMAT);
	assert_int_equal(g.n, 0);
	/* The 17 slots went unread with that flit; a header without data may overtake them. */
	announce_20(11);
	flit_clear();
	put_header(0, &rsp, 1);
	assert_int_equal(unpack(), WEFT_OK);
	weft_assert_same_header(&g.m[0], &rsp);
	flit_clear();
	put_header(4, &rsp, 1);
	assert_int_equal(unpack(), WEFT_OK);
	assert_int_equal(g.n, 6);
	assert_int_equal(g.m[4].tag, 3);
	weft_assert_same_header(&g.m[5], &rsp);
}

WEFT_TEST(reserved_format_ends_the_walk)
{
	const struct weft_msg ndr = { .kind = WEFT_MSG_S2M_NDR, .tag = 5 };

	for (uint8_t fmt = 0x8; fmt <= 0xB; fmt++) {
		for (unsigned int bad = 0; bad < WEFT_FLIT_SLOTS; bad++) {
			if (bad == 0 && fmt == 8)
				continue; /* LLCTRL */
			begin(WEFT_FORM_HBR);
			for (unsigned int s = 0; s < WEFT_FLIT_SLOTS; s++)
				put_header(s, &ndr, 1);
			flit[bad == 0 ? 2 : 16 * bad] = fmt;
			assert_int_equal(unpack(), WEFT_DROP_SLOT_FORMAT);
			assert_int_equal(g.n, bad);
			/* The next flit is read as usual. */
			flit[bad == 0 ? 2 : 16 * bad] = 0;
			assert_int_equal(unpack(), WEFT_OK);
			assert_int_equal(g.n, bad + 14);
		}
	}
}

/*
 * A write's data lies in the G-slots of a flit whose H-slot is refused. That data is not read, and
 * what stands in the flit after it must not be taken for it.
 */
WEFT_TEST(refused_h_slot_forgets_what_is_pending)
{
	const struct weft_msg write = { .kind = WEFT_MSG_M2S_RWD, .op = 1, .tag = 7 };
	const struct weft_msg ndr = { .kind = WEFT_MSG_S2M_NDR, .tag = 5 };

	for (uint8_t fmt = 0x9; fmt <= 0xB; fmt++) {
		for (unsigned int at = 11; at < WEFT_FLIT_SLOTS; at++) {
			begin(WEFT_FORM_HBR);
			put_header(at, &write, 1);
			put_data(0, at + 1, 14);
			next_flit();
			flit[2] = fmt;
			put_data(1, 1, at - 10);
			assert_int_equal(unpack(), WEFT_DROP_SLOT_FORMAT);
			flit_clear();
			put_header(1, &ndr, 1);
			assert_int_equal(unpack(), WEFT_OK);
			assert_int_equal(g.n, 1);
			weft_assert_same_header(&g.m[0], &ndr);
		}
	}
}
