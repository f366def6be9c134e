/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * CXL.io packets between two whole ends, beside messages and over a bad wire: every packet arrives
 * once, in order of its class and never before a posted one sent before it; no more of a class wait
 * than were granted; neither packets nor messages starve; a stream that is malformed ends its
 * session.
 */

#include "link_rig.h"

#define PACKETS 400

/* What one side has sent and got. */
struct io_side {
	uint32_t sent[WEFT_IO_CLASSES], came[WEFT_IO_CLASSES];
	uint32_t waits[WEFT_IO_CLASSES], most[WEFT_IO_CLASSES]; /* sent and not consumed there */
	uint32_t wrong;
	bool consumes;
	const uint8_t *kinds; /* bytes 0 to send */
};

static struct io_side io_side[2];

static const uint8_t types[WEFT_IO_CLASSES][4] = {
	[WEFT_IO_POSTED] = { WEFT_IO_MWR, WEFT_IO_MSG_ID, WEFT_IO_MSG_ID | WEFT_IO_MSG_DATA,
		WEFT_IO_MSG_LOCAL | WEFT_IO_MSG_DATA },
	[WEFT_IO_REQUEST] = { WEFT_IO_MRD, WEFT_IO_UIO_MRD, WEFT_IO_UIO_MWR, WEFT_IO_MRD },
	[WEFT_IO_COMPLETION] = { WEFT_IO_CPL, WEFT_IO_CPLD, WEFT_IO_UIO_CPL, WEFT_IO_UIO_CPLD },
};

/*
 * Packet @p n of a class: all of it follows from these two, and from how many posted went before.
 */
static struct weft_io_tlp
packet(enum weft_io_class c, uint32_t n, uint32_t posted)
{
	struct weft_io_tlp t = { .spid = (uint16_t)(n & 0xFFF),
		.dpid = (uint16_t)(n * 7 & 0xFFF),
		.hie = (n & 1) != 0,
		.pif = (n & 2) != 0,
		.dsar = (n & 4) != 0,
		.has_prefix = n % 5 == 0,
		.prefix_pid = n % 5 == 0 ? n * 3 & 0xFFF : 0 };
	const uint8_t byte0 = types[c][n % 4];
	const unsigned int dws = n * 11 % 64 + 1;

	t.tlp[0] = byte0;
	if ((byte0 & 0x40) != 0)
		weft_put_be16(t.tlp + 2, (uint16_t)dws);
	t.len = (uint16_t)weft_io_tlp_len(t.tlp, 4);
	assert_true(t.len != 0);
	weft_put_be32(t.tlp + 4, n);
	weft_put_be32(t.tlp + 8, posted);
	for (unsigned int i = 12; i < t.len; i++)
		t.tlp[i] = (uint8_t)(n + i * 3);
	return t;
}

static bool
same(const struct weft_io_tlp *a, const struct weft_io_tlp *b)
{
	return a->spid == b->spid && a->dpid == b->dpid && a->hie == b->hie && a->pif == b->pif &&
	       a->dsar == b->dsar && a->has_prefix == b->has_prefix &&
	       a->prefix_pid == b->prefix_pid && a->len == b->len &&
	       memcmp(a->tlp, b->tlp, a->len) == 0;
}

static void
note_packet(struct io_side *s, const struct weft_io_tlp *t)
{
	const enum weft_io_class c = (enum weft_io_class)weft_io_class(t);
	const uint32_t posted = weft_get_be32(t->tlp + 8);
	const struct weft_io_tlp want = packet(c, s->came[c], posted);

	s->wrong += !same(t, &want);
	/* Nothing passes a posted packet, and posted ones pass only what waits. */
	s->wrong +=
		s->came[WEFT_IO_POSTED] < posted || (c == WEFT_IO_POSTED && s->came[c] != posted);
	s->came[c]++;
	io_side[s == &io_side[0] ? 1 : 0].waits[c]--;
}

static bool
take(void *arg, const struct weft_io_tlp *t)
{
	struct io_side *s = arg;

	if (!s->consumes)
		return false;
	note_packet(s, t);
	return true;
}

static void
take_waiting(struct side *s, struct io_side *io)
{
	for (unsigned int c = 0; c < WEFT_IO_CLASSES; c++) {
		const struct weft_io_tlp *t = weft_link_io_peek(s->end, (enum weft_io_class)c);

		if (t == NULL)
			continue;
		note_packet(io, t);
		weft_link_io_pop(s->end, (enum weft_io_class)c);
	}
}

static int
send_packet(struct rig *r, unsigned int i, enum weft_io_class c)
{
	struct io_side *s = &io_side[i];
	const struct weft_io_tlp t = packet(c, s->sent[c], s->sent[WEFT_IO_POSTED]);
	const bool can = weft_link_can_send_io(r->side[i].end, c);
	const int rc = weft_link_send_io(r->side[i].end, &t);

	assert_int_equal(rc == 0, can);
	if (rc != 0)
		return rc;
	s->sent[c]++;
	s->waits[c]++;
	s->most[c] = s->waits[c] > s->most[c] ? s->waits[c] : s->most[c];
	return 0;
}

static void
io_rig(struct rig *r, uint64_t seed, const uint16_t room[2][WEFT_IO_CLASSES], uint16_t window)
{
	memset(io_side, 0, sizeof(io_side));
	rig_init(r, seed);
	for (unsigned int i = 0; i < 2; i++) {
		struct side *s = &r->side[i];

		io_side[i].consumes = true;
		memcpy(s->cfg.io_room, room[i], sizeof(s->cfg.io_room));
		s->cfg.io = take;
		s->cfg.io_arg = &io_side[i];
		if (i == 1)
			s->cfg.room[WEFT_MSG_M2S_RWD] = 1000; /* the window is the limit */
		s->cfg.llr.window = window;
		s->cfg.llr.rx_flits = (uint16_t)(window - 1);
		free(s->end);
		s->end = aligned_alloc(WEFT_CACHE_LINE, weft_link_size(&s->cfg));
		assert_non_null(s->end);
		side_start(r, i);
	}
}

WEFT_TEST(packets_arrive_once_and_in_order)
{
	static const enum weft_msg_kind kind[2] = { WEFT_MSG_M2S_RWD, WEFT_MSG_S2M_DRS };
	struct weft_rand pick;

	weft_test_seed(&pick, "packets");
	for (unsigned int run = 0; run < 60; run++) {
		uint16_t room[2][WEFT_IO_CLASSES], sent[2] = { 0 };
		struct rig r;
		unsigned int todo;

		for (unsigned int i = 0; i < 2 * WEFT_IO_CLASSES; i++)
			room[i / WEFT_IO_CLASSES][i % WEFT_IO_CLASSES] =
				(uint16_t)(1 + weft_rand_below(&pick,
						       run % 3 == 0 ? 3 : WEFT_LINK_IO_ROOM_MAX));
		io_rig(&r, weft_rand_u64(&pick), room,
			(uint16_t)(run % 2 == 0 ? 8 + weft_rand_below(&pick, 8) : 64));
		r.bad = (uint32_t)weft_rand_below(&pick, 60000);
		r.drop = (uint32_t)weft_rand_below(&pick, 60000);
		do {
			todo = 0;
			for (unsigned int i = 0; i < 2; i++) {
				struct side *s = &r.side[i];
				const struct weft_msg m = message(kind[i], sent[i]);

				for (unsigned int c = 0; c < WEFT_IO_CLASSES; c++) {
					if (io_side[i].sent[c] < PACKETS && chance(&r, 300000))
						send_packet(&r, i, (enum weft_io_class)c);
					todo += io_side[1 - i].came[c] < PACKETS;
				}
				if (sent[i] < PACKETS && chance(&r, 300000) &&
					weft_link_send(s->end, &m) == 0)
					sent[i]++;
				todo += r.side[1 - i].came[kind[i]] < PACKETS;
				io_side[i].consumes = chance(&r, 700000);
				if (chance(&r, 500000))
					take_waiting(s, &io_side[i]);
			}
			step(&r);
		} while (todo != 0 && r.now_ns < UINT64_C(20000000000));
		for (unsigned int i = 0; i < 2; i++) {
			const struct weft_link *n = r.side[i].end;

			for (unsigned int c = 0; c < WEFT_IO_CLASSES; c++) {
				assert_int_equal(io_side[i].came[c], PACKETS);
				assert_true(io_side[i].most[c] <= room[1 - i][c]);
				assert_int_equal(
					weft_link_count(n, WEFT_LINK_N_IO_POSTED + c), PACKETS);
			}
			assert_int_equal(io_side[i].wrong, 0);
			assert_int_equal(r.side[i].wrong, 0);
			assert_int_equal(r.side[i].begun, 1);
			assert_int_equal(weft_link_count(n, WEFT_LINK_N_IO_NO_CREDIT), 0);
			assert_int_equal(weft_link_count(n, WEFT_LINK_N_BAD_CRD), 0);
		}
		rig_free(&r);
	}
}

/* A class that nobody consumes stops, at what was granted; the others go on, but behind posted. */
WEFT_TEST(classes_wait_apart)
{
	static const uint16_t room[2][WEFT_IO_CLASSES] = { { 0 }, { 9, 127, 5 } };
	struct rig r;

	io_rig(&r, 1, room, 64);
	assert_int_equal(send_packet(&r, 0, WEFT_IO_REQUEST), -ENOTCONN);
	run_until(&r, 1000000);
	/* The other way there is no room at all. */
	assert_false(weft_link_can_send_io(r.side[1].end, WEFT_IO_POSTED));
	io_side[1].consumes = false;
	for (unsigned int i = 0; i < 300; i++) {
		while (send_packet(&r, 0, WEFT_IO_REQUEST) == 0)
			;
		run_until(&r, r.now_ns + 100000);
	}
	assert_int_equal(io_side[0].sent[WEFT_IO_REQUEST], 127);
	io_side[1].consumes = true;
	assert_int_equal(send_packet(&r, 0, WEFT_IO_COMPLETION), 0);
	run_until(&r, r.now_ns + 1000000);
	assert_int_equal(io_side[1].came[WEFT_IO_COMPLETION], 1);
	assert_int_equal(io_side[1].came[WEFT_IO_REQUEST], 0);
	/* A posted packet that waits holds back what is sent after it, and nothing else. */
	io_side[1].consumes = false;
	assert_int_equal(send_packet(&r, 0, WEFT_IO_POSTED), 0);
	run_until(&r, r.now_ns + 1000000);
	io_side[1].consumes = true;
	assert_int_equal(send_packet(&r, 0, WEFT_IO_COMPLETION), 0);
	run_until(&r, r.now_ns + 1000000);
	assert_int_equal(io_side[1].came[WEFT_IO_COMPLETION], 1);
	assert_null(weft_link_io_peek(r.side[1].end, WEFT_IO_COMPLETION));
	assert_non_null(weft_link_io_peek(r.side[1].end, WEFT_IO_REQUEST));
	take_waiting(&r.side[1], &io_side[1]);
	assert_int_equal(io_side[1].came[WEFT_IO_POSTED], 1);
	assert_int_equal(io_side[1].came[WEFT_IO_COMPLETION], 2);
	for (unsigned int i = 0; i < 127; i++)
		take_waiting(&r.side[1], &io_side[1]);
	assert_int_equal(io_side[1].came[WEFT_IO_REQUEST], 127);
	run_until(&r, r.now_ns + 10000000);
	assert_int_equal(send_packet(&r, 0, WEFT_IO_REQUEST), 0);
	assert_int_equal(io_side[1].wrong, 0);
	rig_free(&r);
}

/* Both sides of the window always have more to send: each gets its part of it. */
WEFT_TEST(nobody_starves)
{
	static const uint16_t room[2][WEFT_IO_CLASSES] = { { 0 }, { 127, 127, 127 } };

	for (unsigned int eager = 0; eager < 2; eager++) {
		uint64_t io_flits, flits;
		uint16_t tag = 0;
		struct rig r;

		io_rig(&r, 1, room, 16);
		run_until(&r, 1000000);
		for (unsigned int i = 0; i < 20000; i++) {
			for (unsigned int k = 0; k < 2; k++) {
				struct weft_msg m = message(WEFT_MSG_M2S_RWD, tag);

				/* Who is asked first takes all that is to be had. */
				if (k == eager)
					while (send_packet(&r, 0, WEFT_IO_POSTED) == 0)
						;
				else
					while (weft_link_send(r.side[0].end, &m) == 0)
						m = message(WEFT_MSG_M2S_RWD, ++tag);
			}
			step(&r);
		}
		io_flits = (uint64_t)io_side[1].came[WEFT_IO_POSTED] * 160 / WEFT_IO_LEN;
		flits = r.side[1].came[WEFT_MSG_M2S_RWD] / 3;
		assert_true(flits > 100 && io_flits > 100);
		assert_in_range(flits * 100 / (flits + io_flits), 20, 80);
		assert_int_equal(io_side[1].wrong + r.side[1].wrong, 0);
		rig_free(&r);
	}
}

static uint64_t io_flits_seen;
static bool spoils;

static void
tap(struct rig *r, unsigned int from, struct frame *f, const struct weft_llr_tx_info *out)
{
	(void)r;
	for (unsigned int k = 0; k < out->n; k++) {
		uint8_t *flit = f->payload + k * (size_t)WEFT_FLIT_LEN;

		if (flit[0] >> 6 != WEFT_FLIT_IO)
			continue;
		io_flits_seen++;
		/* 80h: neither NOP, prefix, PTH nor a DW to be passed over. */
		if (spoils && from == 0)
			flit[WEFT_IO_OFF] = 0x80;
	}
}

WEFT_TEST(without_room_there_are_no_flits)
{
	static const uint16_t none[2][WEFT_IO_CLASSES] = { { 0 } };
	struct rig r;

	io_rig(&r, 1, none, 64);
	r.tap = tap;
	io_flits_seen = 0;
	run_until(&r, 100000000);
	assert_true(both_up(&r));
	assert_int_equal(send_packet(&r, 0, WEFT_IO_POSTED), -EAGAIN);
	assert_int_equal(io_flits_seen, 0);
	rig_free(&r);
}

WEFT_TEST(a_malformed_stream_ends_the_session)
{
	static const uint16_t room[2][WEFT_IO_CLASSES] = { { 4, 4, 4 }, { 4, 4, 4 } };
	struct rig r;

	io_rig(&r, 1, room, 64);
	r.tap = tap;
	run_until(&r, 1000000);
	spoils = true;
	assert_int_equal(send_packet(&r, 0, WEFT_IO_POSTED), 0);
	run_until(&r, r.now_ns + 100000);
	assert_true(r.side[1].ended != 0);
	assert_int_equal(io_side[1].came[WEFT_IO_POSTED], 0);
	assert_true(weft_link_count(r.side[1].end, WEFT_LINK_N_IO_MALFORMED) != 0);
	spoils = false;
	run_until(&r, r.now_ns + UINT64_C(30000000000));
	assert_true(both_up(&r));
	assert_true(r.side[1].begun >= 2);
	memset(io_side, 0, sizeof(io_side));
	io_side[1].consumes = true;
	assert_int_equal(send_packet(&r, 0, WEFT_IO_POSTED), 0);
	run_until(&r, r.now_ns + 1000000);
	assert_int_equal(io_side[1].came[WEFT_IO_POSTED], 1);
	assert_int_equal(io_side[1].wrong, 0);
	rig_free(&r);
}

WEFT_TEST(what_is_refused)
{
	static const uint16_t room[2][WEFT_IO_CLASSES] = { { 4, 4, 4 }, { 4, 4, 4 } };
	struct weft_io_tlp t = packet(WEFT_IO_POSTED, 0, 0);
	struct weft_link_cfg cfg;
	struct rig r;

	io_rig(&r, 1, room, 64);
	run_until(&r, 1000000);
	t.len = (uint16_t)(t.len - 4);
	assert_int_equal(weft_link_send_io(r.side[0].end, &t), -EINVAL);
	t = packet(WEFT_IO_POSTED, 0, 0);
	t.dpid = 0x1000;
	assert_int_equal(weft_link_send_io(r.side[0].end, &t), -EINVAL);
	t = packet(WEFT_IO_POSTED, 0, 0);
	t.tlp[0] = 0x05; /* configuration: not carried here */
	assert_int_equal(weft_link_send_io(r.side[0].end, &t), -EINVAL);
	cfg = r.side[0].cfg;
	cfg.io_room[2] = WEFT_LINK_IO_ROOM_MAX + 1;
	assert_int_equal(weft_link_size(&cfg), 0);
	rig_free(&r);
}
