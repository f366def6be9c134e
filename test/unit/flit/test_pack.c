/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The packer: how many messages of a kind a flit takes, where it puts them, what it refuses; and
 * random mixes packed and read back, with the rules of wire-formats.md section 4.4 checked by a
 * walk of this file's own that counts data slots and slot groups for itself.
 */

#include "weft_test.h"

#include "weft_msg_gen.h"

/* The list of section 4.4: most of a kind in two neighbouring groups. */
static const uint8_t group_limit[WEFT_MSG_LLCTRL] = {
	[WEFT_MSG_D2H_REQ] = 4,
	[WEFT_MSG_D2H_RSP] = 4,
	[WEFT_MSG_D2H_DH] = 4,
	[WEFT_MSG_S2M_BISNP] = 2,
	[WEFT_MSG_S2M_NDR] = 6,
	[WEFT_MSG_S2M_DRS] = 3,
	[WEFT_MSG_H2D_REQ] = 2,
	[WEFT_MSG_H2D_RSP] = 6,
	[WEFT_MSG_H2D_DH] = 4,
	[WEFT_MSG_M2S_REQ] = 4,
	[WEFT_MSG_M2S_RWD] = 2,
	[WEFT_MSG_M2S_BIRSP] = 3,
};

/* The walk: what it carries from flit to flit. */
struct walk {
	enum weft_form form;
	unsigned int pending; /* data and trailer slots to come */
	unsigned int before[WEFT_MSG_LLCTRL]; /* of each kind in the last group */
	unsigned int here[WEFT_MSG_LLCTRL]; /* and in this one */
};

static void
walk_header(struct walk *w, const uint8_t *slot, bool is_h, bool *closed)
{
	struct weft_msg m[WEFT_MSG_PER_SLOT];
	unsigned int n, trailers = 0;

	assert_int_equal(weft_slot_decode(slot, is_h, w->form, m, &n), WEFT_OK);
	if (n == 0) {
		/*
		 * An H-slot may be too short for what follows it: only a G-slot closes its group.
		 */
		*closed |= !is_h;
		return;
	}
	assert_false(*closed);
	if ((slot[0] & 0xC) == 0xC)
		assert_int_equal(slot[0] & 0x10, 0x10); /* the first message of data is valid */
	for (unsigned int i = 0; i < n; i++) {
		w->here[m[i].kind]++;
		assert_in_range(
			w->before[m[i].kind] + w->here[m[i].kind], 0, group_limit[m[i].kind]);
		if (weft_msg_has_data(&m[i])) {
			assert_false(is_h && w->pending > 16);
			w->pending += 4;
			trailers += m[i].trp;
		}
	}
	w->pending += trailers != 0 && m[0].kind == WEFT_MSG_S2M_DRS ? 1 : trailers;
}

/* Check one flit as it leaves the packer. */
static void
walk_flit(struct walk *w, const uint8_t *flit, bool with_mac, bool first)
{
	bool closed = false;

	assert_int_equal(flit[0], first ? 0x80 : 0xA0); /* cachemem; one went before */
	assert_int_equal(flit[1], 0);
	for (unsigned int b = 240; b < 256; b++)
		assert_int_equal(flit[b], 0);
	for (unsigned int s = 0; s < WEFT_FLIT_SLOTS; s++) {
		const uint8_t *slot = flit + (s == 0 ? 2 : 16 * s);

		if (s % 4 == 0) {
			memcpy(w->before, w->here, sizeof(w->before));
			memset(w->here, 0, sizeof(w->here));
			closed = false;
		}
		if (s == 0 && with_mac) {
			assert_int_equal(slot[0], 0x28);
			assert_int_equal(slot[1], 0x03);
			for (unsigned int b = 2; b < 14; b++)
				assert_int_equal(slot[b], 0);
		} else if (s != 0 && w->pending != 0) {
			w->pending--;
		} else {
			walk_header(w, slot, s == 0, &closed);
		}
	}
}

/* What went in or came out: messages with data apart, for others may overtake them. */
struct seen {
	unsigned int n[2]; /* without data, with data */
	unsigned int macs;
	struct weft_msg *m[2];
};

#define MIX_MAX 4000

static void
seen_init(struct seen *s)
{
	memset(s, 0, sizeof(*s));
	for (int i = 0; i < 2; i++) {
		s->m[i] = calloc(MIX_MAX, sizeof(*s->m[i]));
		assert_non_null(s->m[i]);
	}
}

static void
seen_add(void *arg, const struct weft_msg *m)
{
	struct seen *s = arg;
	const bool data = weft_msg_has_data(m);

	if (m->kind == WEFT_MSG_LLCTRL) {
		assert_int_equal(m->op, WEFT_LLCTRL_IDE_MAC);
		s->macs++;
		return;
	}
	assert_in_range(s->n[data], 0, MIX_MAX - 1);
	s->m[data][s->n[data]++] = *m;
}

static struct weft_msg
random_message(struct weft_rand *r, enum weft_form form)
{
	/* Runs of one kind now and then, so that slots are shared and limits met. */
	static unsigned int kind;
	struct weft_msg m;

	if (weft_rand_below(r, 4) == 0)
		kind = (unsigned int)weft_rand_below(r, WEFT_MSG_LLCTRL);
	m = weft_gen_header(r, kind, form);
	if (weft_rand_below(r, 2) != 0)
		weft_gen_fit_h(&m, form);
	weft_gen_data(r, &m);
	return m;
}

/* Pack @p total random messages and read them back; @p fill is the odds of 1024 to go on. */
static void
pack_and_read_back(struct weft_rand *r, enum weft_form form, unsigned int total, unsigned int fill)
{
	struct walk w = { .form = form };
	struct weft_unpacker u;
	struct weft_packer p;
	struct seen sent, got;
	struct weft_msg m = random_message(r, form);
	unsigned int done = 0, macs = 0;
	bool left = false, first = true;

	seen_init(&sent);
	seen_init(&got);
	weft_pack_init(&p, form);
	weft_unpack_init(&u, form, NULL);
	while (done < total || left) {
		const bool with_mac = weft_rand_below(r, 4) == 0;
		uint8_t *flit = malloc(WEFT_FLIT_LEN);
		bool holds = left;

		assert_non_null(flit);
		weft_pack_begin(&p, flit, with_mac);
		assert_int_equal(weft_pack_used(&p), holds);
		while (done < total && weft_rand_below(r, 1024) < fill) {
			const int rc = weft_pack_msg(&p, &m);

			if (rc == -ENOSPC)
				break;
			assert_int_equal(rc, 0);
			holds = true;
			seen_add(&sent, &m);
			done++;
			m = random_message(r, form);
		}
		assert_int_equal(weft_pack_used(&p), holds);
		left = weft_pack_end(&p);
		walk_flit(&w, flit, with_mac, first);
		assert_int_equal(w.pending != 0, left);
		assert_int_equal(weft_unpack_flit(&u, flit, seen_add, &got), WEFT_OK);
		macs += with_mac;
		first = false;
		free(flit);
	}
	assert_int_equal(got.macs, macs);
	for (int data = 0; data < 2; data++) {
		assert_int_equal(got.n[data], sent.n[data]);
		for (unsigned int i = 0; i < got.n[data]; i++)
			weft_assert_same_msg(&got.m[data][i], &sent.m[data][i]);
		free(got.m[data]);
		free(sent.m[data]);
	}
}

WEFT_TEST(random_mixes_come_back_whole)
{
	struct weft_rand r;

	weft_test_seed(&r, __func__);
	for (int round = 0; round < 20; round++) {
		pack_and_read_back(&r, WEFT_FORM_HBR, 1000, 1024); /* full flits */
		pack_and_read_back(&r, WEFT_FORM_PBR, 1000, 1024);
		pack_and_read_back(&r, WEFT_FORM_HBR, 500, 800); /* gaps and empty flits */
		pack_and_read_back(&r, WEFT_FORM_PBR, 500, 800);
	}
}

/*
 * A stream of one kind: the limits leave every second group to messages without data, and messages
 * with data (no trailer) fill three times five slots.
 */
WEFT_TEST(flit_takes_as_many_as_the_limits_allow)
{
	static const uint8_t per_flit[WEFT_MSG_LLCTRL] = {
		[WEFT_MSG_M2S_REQ] = 8,
		[WEFT_MSG_M2S_RWD] = 3,
		[WEFT_MSG_M2S_BIRSP] = 6,
		[WEFT_MSG_S2M_BISNP] = 4,
		[WEFT_MSG_S2M_NDR] = 12,
		[WEFT_MSG_S2M_DRS] = 3,
		[WEFT_MSG_D2H_REQ] = 8,
		[WEFT_MSG_D2H_RSP] = 8,
		[WEFT_MSG_D2H_DH] = 3,
		[WEFT_MSG_H2D_REQ] = 4,
		[WEFT_MSG_H2D_RSP] = 12,
		[WEFT_MSG_H2D_DH] = 3,
	};

	for (unsigned int kind = 0; kind < WEFT_MSG_LLCTRL; kind++) {
		for (int form = 0; form < 2; form++) {
			const struct weft_msg m = { .kind = (uint8_t)kind };
			struct weft_packer p;
			uint8_t flit[256], before[256];

			weft_pack_init(&p, (enum weft_form)form);
			for (int f = 0; f < 3; f++) {
				unsigned int n = 0;

				weft_pack_begin(&p, flit, false);
				while (weft_pack_msg(&p, &m) == 0)
					n++;
				assert_int_equal(n, per_flit[kind]);
				memcpy(before, flit, sizeof(flit));
				assert_int_equal(weft_pack_msg(&p, &m), -ENOSPC);
				assert_memory_equal(flit, before, sizeof(flit));
				assert_false(weft_pack_end(&p));
			}
		}
	}
}

/* SlotFmt and which messages of a slot are valid, of a run of NDR with one DRS in it. */
WEFT_TEST(run_of_responses_shares_slots_until_data_comes_between)
{
	const struct weft_msg ndr = { .kind = WEFT_MSG_S2M_NDR };
	const struct weft_msg drs = { .kind = WEFT_MSG_S2M_DRS };
	struct weft_packer p;
	uint8_t flit[256];

	weft_pack_init(&p, WEFT_FORM_HBR);
	weft_pack_begin(&p, flit, false);
	for (int i = 0; i < 4; i++)
		assert_int_equal(weft_pack_msg(&p, &ndr), 0);
	assert_int_equal(weft_pack_msg(&p, &drs), 0);
	assert_int_equal(weft_pack_msg(&p, &ndr), 0);
	assert_false(weft_pack_end(&p));
	/* Val of message i is slot bit 4 + 40 i. */
	assert_int_equal(flit[2], 0x17);
	assert_int_equal(flit[2 + 5], 0x10); /* two in the H-slot */
	assert_int_equal(flit[16], 0x17);
	assert_int_equal(flit[16 + 5], 0x10);
	assert_int_equal(flit[16 + 10], 0x00); /* two of three in slot 1 */
	assert_int_equal(flit[32], 0x1F); /* DRS, and its data in 3 to 6 */
	assert_int_equal(flit[16 * 7], 0x17); /* not in slot 1 again */
	assert_int_equal(flit[16 * 7 + 5], 0x00);
}

WEFT_TEST(message_too_long_for_the_h_slot_goes_behind_it)
{
	const struct weft_msg req = { .kind = WEFT_MSG_M2S_REQ, .tag = 1, .tc = 1 };
	const struct weft_msg small = { .kind = WEFT_MSG_M2S_BIRSP, .tag = 2 };
	struct seen got;
	struct weft_unpacker u;
	struct weft_packer p;
	uint8_t flit[256];

	weft_pack_init(&p, WEFT_FORM_PBR);
	weft_pack_begin(&p, flit, false);
	assert_int_equal(weft_pack_msg(&p, &req), 0);
	assert_int_equal(weft_pack_msg(&p, &small), 0);
	assert_false(weft_pack_end(&p));
	for (unsigned int b = 2; b < 16; b++)
		assert_int_equal(flit[b], 0); /* the second does not slip in front of the first */
	seen_init(&got);
	weft_unpack_init(&u, WEFT_FORM_PBR, NULL);
	assert_int_equal(weft_unpack_flit(&u, flit, seen_add, &got), WEFT_OK);
	assert_int_equal(got.n[0], 2);
	weft_assert_same_msg(&got.m[0][0], &req);
	weft_assert_same_msg(&got.m[0][1], &small);
	free(got.m[0]);
	free(got.m[1]);
}

WEFT_TEST(bad_message_leaves_the_flit_as_it_was)
{
	const struct weft_msg good = { .kind = WEFT_MSG_S2M_NDR };
	const struct weft_msg bad[] = {
		{ .kind = WEFT_MSG_S2M_NDR, .op = 8 }, /* would join the good one */
		{ .kind = WEFT_MSG_M2S_RWD, .trp = 2 },
		{ .kind = WEFT_MSG_M2S_REQ, .addr = 0x20 },
		{ .kind = WEFT_MSG_LLCTRL, .op = WEFT_LLCTRL_VIRAL },
		{ .kind = 255 },
	};
	struct weft_packer p;
	uint8_t flit[256], before[256];

	weft_pack_init(&p, WEFT_FORM_HBR);
	weft_pack_begin(&p, flit, false);
	for (size_t i = 0; i < WEFT_ARRAY_SIZE(bad); i++) {
		memcpy(before, flit, sizeof(flit));
		assert_int_equal(weft_pack_msg(&p, &bad[i]), -EINVAL);
		assert_memory_equal(flit, before, sizeof(flit));
		assert_int_equal(weft_pack_used(&p), i != 0);
		if (i == 0)
			assert_int_equal(weft_pack_msg(&p, &good), 0);
	}
	assert_int_equal(weft_pack_msg(&p, &bad[0]), -EINVAL);
	assert_int_equal(flit[2], 0x17);
	assert_int_equal(flit[2 + 5], 0);
	assert_int_equal(weft_pack_msg(&p, &good), 0);
	assert_int_equal(flit[2 + 5], 0x10); /* the slot is still open to a good one */
	assert_false(weft_pack_end(&p));
}
