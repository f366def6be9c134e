/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The stages with an end behind a connection, as weftd runs them: what one end sends comes out at
 * the other in order and once, sealed and opened where IDE is on, whatever happens to frames;
 * nothing is lost for want of buffers; a burst may have frames of two sessions, of which one is
 * over.
 */

#include "pipe_rig.h"
#include "weft_link.h"

#define REQUESTS 32 /* room of the receiver */
#define MAX_FLITS 4

/* Who sends, and who receives through the stages. */
struct side {
	struct weft_link *end;
	struct weft_link_cfg cfg;
	struct weft_link_ide ide;
	struct weft_session_keys keys;
};

static struct weft_rand r;
static struct side sender, receiver;
static uint64_t now_ns;
static uint16_t next_tag, due_tag; /* to be sent; to come */

/* Keys that both can make: they depend on what the session says of itself. */
static bool
make_key(void *arg, const struct weft_session_transcript *d, bool from_initiator,
	uint32_t generation, uint8_t *key)
{
	(void)arg;
	memset(key, from_initiator ? 0x55 : 0xAA, WEFT_IDE_KEY_LEN);
	memcpy(key, &d->session, sizeof(d->session));
	memcpy(key + 8, &generation, sizeof(generation));
	return true;
}

static bool
make_random(void *arg, uint8_t *out, size_t len)
{
	(void)arg;
	weft_rand_fill(&r, out, len);
	return true;
}

static bool
make_proof(void *arg, const struct weft_session_transcript *d, bool is_initiator, uint8_t *proof)
{
	(void)arg;
	(void)d;
	memset(proof, is_initiator ? 1 : 2, WEFT_PROOF_LEN);
	return true;
}

static bool
bind_keys(void *arg, const struct weft_session_transcript *d)
{
	(void)arg;
	(void)d;
	return true;
}

static bool
make_mac(void *arg, bool from_initiator, const uint8_t *image, size_t len, uint8_t *mac)
{
	(void)arg;
	memset(mac, from_initiator ? 3 : 4, WEFT_CONTROL_MAC_LEN);
	for (size_t i = 0; i < len; i++)
		mac[i % WEFT_CONTROL_MAC_LEN] ^= image[i];
	return true;
}

static bool
make_gone(void *arg, uint32_t session, bool from_initiator, uint64_t number, uint8_t *proof)
{
	(void)arg;
	memset(proof, from_initiator ? 5 : 6, WEFT_PROOF_LEN);
	memcpy(proof, &session, sizeof(session));
	memcpy(proof + 8, &number, sizeof(number));
	return true;
}

static void
side_start(struct side *s, bool is_sender, enum weft_ide_mode ide)
{
	struct weft_link_cfg *c = &s->cfg;
	void *mem;

	memset(s, 0, sizeof(*s));
	c->form = WEFT_FORM_PBR;
	c->max_flits = MAX_FLITS;
	weft_session_defaults(&c->session);
	c->session.is_initiator = is_sender;
	c->session.params = (struct weft_control){ .version = WEFT_WIRE_VERSION,
		.mode = WEFT_MODE_RXL,
		.max_flits = MAX_FLITS,
		.credits = REQUESTS };
	weft_llr_defaults(&c->llr, WEFT_MODE_RXL);
	c->llr.window = 64;
	c->llr.rx_flits = 63;
	c->room[WEFT_MSG_M2S_RWD] = is_sender ? 0 : REQUESTS;
	if (ide != WEFT_IDE_OFF) {
		s->keys = (struct weft_session_keys){ .random = make_random,
			.proof = make_proof,
			.bind = bind_keys,
			.mac = make_mac,
			.gone = make_gone };
		s->ide = (struct weft_link_ide){ .lib = rig.ide,
			.mem = aligned_alloc(WEFT_CACHE_LINE, weft_line_up(weft_link_ide_size())),
			.key = make_key,
			.rekey_flits = 50,
			.rekey_ns = UINT64_C(1000000000),
			.owner_opens = !is_sender };
		assert_non_null(s->ide.mem);
		c->session.params.ide_mode = (uint8_t)ide;
		c->session.keys = &s->keys;
		c->ide = &s->ide;
	}
	mem = aligned_alloc(WEFT_CACHE_LINE, weft_line_up(weft_link_size(c)));
	assert_non_null(mem);
	s->end = weft_link_init(mem, c, now_ns);
	assert_non_null(s->end);
}

static void
side_stop(struct side *s)
{
	weft_link_fini(s->end);
	free(s->ide.mem);
	free(s->end);
}

/* Acks and credits go back without stages: what they say is all that the sender wants. */
static bool
answer_one(void)
{
	uint8_t payload[MAX_FLITS * WEFT_FLIT_LEN];
	uint64_t syndrome[MAX_FLITS];
	enum weft_session_event ev;
	struct weft_link_out out;

	weft_link_tick(receiver.end, now_ns);
	if (!weft_link_next(receiver.end, payload, now_ns, weft_rand_u64(&r), &out))
		return false;
	if (out.hdr.kind == WEFT_WIRE_CONTROL) {
		weft_link_control(
			sender.end, &out.hdr, payload, out.len, now_ns, weft_rand_u64(&r));
		return true;
	}
	for (unsigned int i = 0; i < out.flits.n; i++) {
		const unsigned int numbered = out.flits.n - out.flits.nops;
		struct weft_isn isn = { .form = WEFT_ISN_PSEUDO };

		isn.next = (uint16_t)((out.flits.first + (i < numbered ? i : numbered)) %
				      WEFT_ISN_NUMBERS);
		syndrome[i] = weft_isn_number(isn.next);
		weft_isn_protect(&isn, rig.tx_env.crc, payload + i * (size_t)WEFT_FLIT_LEN, 1);
	}
	weft_link_receive(
		sender.end, &out.hdr, payload, syndrome, 0, now_ns, &ev, NULL, NULL, NULL);
	return true;
}

static void
answer(void)
{
	while (answer_one()) {
	}
}

/*
 * The sender's next frame off the wire, by the transmit stages; a control frame has arrived: NULL.
 */
static struct rte_mbuf *
next_frame(bool *any)
{
	const unsigned int before = rig.n;
	struct rte_mbuf *m = rte_pktmbuf_alloc(rig.pool);

	assert_non_null(m);
	weft_link_tick(sender.end, now_ns);
	memset(weft_frame(m), 0, sizeof(struct weft_frame));
	weft_frame(m)->conn = rig.tx_conn;
	rte_pktmbuf_append(m, WEFT_WIRE_FLITS_OFF);
	assert_int_equal(weft_pipe_push(rig.tx, &m, 1), 1);
	*any = rig.n != before;
	if (!*any)
		return NULL; /* it came back empty */
	m = rig.frame[--rig.n]; /* one sink for both ways: it is the last */
	if (weft_frame(m)->hdr.kind == WEFT_WIRE_FLITS)
		return m;
	weft_link_control(receiver.end, &weft_frame(m)->hdr, weft_frame_flits(m),
		rte_pktmbuf_data_len(m) - (size_t)WEFT_WIRE_FLITS_OFF, now_ns, weft_rand_u64(&r));
	rte_pktmbuf_free(m);
	return NULL;
}

static uint64_t
random_bits(void *arg)
{
	(void)arg;
	return weft_rand_u64(&r);
}

static bool
take(void *arg, const struct weft_msg *m)
{
	(void)arg;
	if (m->kind == WEFT_MSG_LLCTRL)
		return true;
	assert_int_equal(m->tag, due_tag);
	for (unsigned int i = 0; i < WEFT_MSG_DATA_LEN; i++)
		assert_int_equal(m->data[i], (uint8_t)(m->tag + i));
	due_tag++;
	return true;
}

/* Each frame is looked at before its messages come. */
static unsigned int n_ahead, n_arrived;

static void
look_ahead(void *user, const uint8_t *flits, unsigned int n)
{
	assert_ptr_equal(user, rig.rx_conn->user);
	assert_non_null(flits);
	assert_in_range(n, 1, WEFT_WIRE_FLITS_MAX);
	n_ahead++;
}

static void
arriving(void *user)
{
	(void)user;
	n_arrived++;
	assert_true(n_ahead >= n_arrived);
}

static void
send_some(unsigned int n)
{
	struct weft_msg m = { .kind = WEFT_MSG_M2S_RWD,
		.op = WEFT_M2S_RWD_MEMWR,
		.dpid = RIG_DPID,
		.spid = RIG_SPID };

	while (n-- > 0) {
		m.tag = next_tag;
		m.addr = UINT64_C(64) * next_tag;
		for (unsigned int i = 0; i < WEFT_MSG_DATA_LEN; i++)
			m.data[i] = (uint8_t)(next_tag + i);
		if (weft_link_send(sender.end, &m) != 0)
			return;
		next_tag++;
	}
}

/*
 * Until both ends are in a session and the sender has the receiver's credits, which come when it
 * has been heard (SESS-38); @p first receives the frame that begins it, if not NULL.
 */
static void
shake_hands(struct rte_mbuf **first)
{
	for (unsigned int turns = 0; turns < 20; turns++) {
		bool any = true;

		now_ns += 200000000;
		while (any) {
			struct rte_mbuf *m = next_frame(&any);

			if (m == NULL)
				continue;
			if (first != NULL) {
				*first = m;
				return;
			}
			rig_receive(m);
		}
		answer();
		if (first == NULL && weft_session_is_live(weft_link_session(sender.end)) &&
			weft_session_takes_flits(weft_link_session(receiver.end)))
			return;
	}
	fail_msg("no session");
}

static void
live_start(enum weft_ide_mode ide)
{
	const struct weft_conn_key key = {
		.mode = WEFT_MODE_RXL, .spid = RIG_SPID, .dpid = RIG_DPID
	};
	const struct weft_conn_cfg cfg = { .first = WEFT_ISN_FIRST, .ide = ide };

	rig_start(WEFT_IDE_OFF, "deframe");
	weft_pipe_free(rig.rx);
	weft_pipe_free(rig.tx);
	weft_conns_remove(rig.rx_conns, rig.rx_conn);
	rig.rx_conn = weft_conns_add(rig.rx_conns, &key, &cfg);
	assert_non_null(rig.rx_conn);
	side_start(&sender, true, ide);
	side_start(&receiver, false, ide);
	rig.rx_conn->end = receiver.end;
	rig.tx_conn->end = sender.end;
	rig.rx_env.ends.know_session = true;
	rig.rx_env.now_ns = &now_ns;
	rig.rx_env.ends.pool = rig.pool;
	rig.rx_env.deliver.message = take;
	rig.rx_env.deliver.ahead = look_ahead;
	rig.rx_env.deliver.arriving = arriving;
	n_ahead = n_arrived = 0;
	rig.tx_env.now_ns = &now_ns;
	rig.tx_env.random = random_bits;
	rig.rx = rig_pipe("rx", WEFT_LAYOUT_RX_LIVE, &rig.rx_env);
	rig.tx = rig_pipe("tx", WEFT_LAYOUT_TX_LIVE, &rig.tx_env);
	next_tag = due_tag = 0;
	shake_hands(NULL);
}

static void
live_stop(void)
{
	assert_in_range(n_arrived, 1, n_ahead);
	side_stop(&sender);
	side_stop(&receiver);
	rig_stop();
}

/* Everything that was sent comes, within a while. */
static void
settle(void)
{
	for (unsigned int turns = 0; due_tag != next_tag; turns++) {
		bool any = true;

		assert_true(turns < 200);
		now_ns += 5000000;
		while (any) {
			struct rte_mbuf *m = next_frame(&any);

			if (m != NULL)
				rig_receive(m);
		}
		weft_pipe_poll(rig.rx, 0);
		answer();
	}
}

/* Frames come empty up to link_tx: those stages worked for the flits that left. */
static void
check_flits(void)
{
	const unsigned int last = weft_pipe_n_stages(rig.tx) - 1;
	const uint64_t left = weft_pipe_stats(rig.tx, last)->flits;

	assert_true(left > 0);
	for (unsigned int i = 0; i <= last; i++) {
		const bool is_empty = weft_stage_takes_empty(weft_pipe_stage(rig.tx, i)->order);
		struct weft_stage_stats sum;

		assert_true(weft_pipe_sum(rig.tx, i, &sum));
		assert_int_equal(sum.flits, weft_pipe_flits(rig.tx, i));
		if (!is_empty)
			continue;
		assert_int_equal(weft_pipe_stats(rig.tx, i)->flits, 0);
		assert_int_equal(sum.flits, left);
	}
}

WEFT_TEST(what_was_sent_comes_in_order_once)
{
	static const enum weft_ide_mode modes[] = { WEFT_IDE_OFF, WEFT_IDE_CONTAINMENT,
		WEFT_IDE_SKID };

	for (size_t k = 0; k < WEFT_ARRAY_SIZE(modes); k++) {
		live_start(modes[k]);
		for (unsigned int turns = 0; turns < 400; turns++) {
			bool any = true;

			send_some(1 + (unsigned int)weft_rand_below(&r, 6));
			while (any) {
				struct rte_mbuf *m = next_frame(&any);
				const uint64_t fate = weft_rand_below(&r, 20);

				if (m == NULL)
					continue;
				if (fate == 1)
					weft_frame_flits(m)[weft_rand_below(&r, 240)] ^= 0x5A;
				if (fate == 2) { /* beyond correction */
					weft_frame_flits(m)[3] ^= 0x5A;
					weft_frame_flits(m)[6] ^= 0xA5;
					weft_frame_flits(m)[100] ^= 0x11;
				}
				if (fate == 0)
					rte_pktmbuf_free(m);
				else
					rig_receive(m);
			}
			now_ns += 1000000;
			answer();
		}
		settle();
		assert_true(due_tag > 400);
		assert_true(rig_count("link_rx", "released") > 0);
		assert_int_equal(
			rig_count("ide_open", "epochs_good") > 0, modes[k] != WEFT_IDE_OFF);
		assert_int_equal(rig_count("ide_open", "epochs_bad"), 0);
		assert_true(weft_pipe_count(rig.tx, "link_tx", "sent") > due_tag / 4u);
		check_flits();
		assert_int_equal(weft_pipe_count(rig.tx, "ide_seal", "sealed") > 0,
			modes[k] != WEFT_IDE_OFF);
		assert_int_equal(
			rig_count("ide_open", "key_changes") > 0, modes[k] != WEFT_IDE_OFF);
		live_stop();
	}
}

/* All buffers of the pool. */
static unsigned int
take_buffers(struct rte_mbuf **all, unsigned int max)
{
	unsigned int n = 0;

	while (n < max && (all[n] = rte_pktmbuf_alloc(rig.pool)) != NULL)
		n++;
	return n;
}

/* Flits are in turn, and there is no buffer for them. @return buffers in @p all */
static unsigned int
make_stuck(struct rte_mbuf **all, unsigned int max)
{
	struct rte_mbuf *m[8];
	unsigned int n = 0, taken;
	bool any = true;

	live_start(WEFT_IDE_OFF);
	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(m); i++) {
		send_some(2);
		while (any && n < WEFT_ARRAY_SIZE(m)) {
			m[n] = next_frame(&any);
			n += m[n] != NULL;
		}
		any = true;
	}
	assert_true(n >= 4);
	for (unsigned int i = 1; i < n; i++)
		rig_receive(m[i]); /* too early, all of them */
	assert_int_equal(rig.n, 0);
	taken = take_buffers(all, max);
	rig_receive(m[0]);
	assert_int_equal(weft_conns_n_stuck(rig.rx_conns, 0), 1);
	assert_true(due_tag < next_tag);
	return taken;
}

WEFT_TEST(for_want_of_a_buffer_flits_come_later)
{
	static struct rte_mbuf *all[4096];
	const unsigned int taken = make_stuck(all, WEFT_ARRAY_SIZE(all));

	rte_pktmbuf_free_bulk(all, taken);
	weft_pipe_poll(rig.rx, 0);
	assert_int_equal(weft_conns_n_stuck(rig.rx_conns, 0), 0);
	assert_int_equal(due_tag, next_tag);
	live_stop();
}

WEFT_TEST(they_do_not_outlive_their_session)
{
	static struct rte_mbuf *all[4096];
	const unsigned int taken = make_stuck(all, WEFT_ARRAY_SIZE(all));
	const uint16_t due = due_tag;

	for (unsigned int i = 0; weft_session_is_live(weft_link_session(receiver.end)); i++) {
		assert_true(i < 1000);
		now_ns += 50000000;
		weft_link_tick(receiver.end, now_ns);
	}
	rte_pktmbuf_free_bulk(all, taken);
	weft_pipe_poll(rig.rx, 0);
	assert_int_equal(weft_conns_n_stuck(rig.rx_conns, 0), 0);
	assert_int_equal(due_tag, due);
	live_stop();
}

/* The end that asks starts anew; its first frame comes right after one of the session before. */
WEFT_TEST(a_burst_may_have_two_sessions)
{
	static const enum weft_ide_mode modes[] = { WEFT_IDE_OFF, WEFT_IDE_CONTAINMENT };

	for (size_t k = 0; k < WEFT_ARRAY_SIZE(modes); k++) {
		struct rte_mbuf *m[2] = { NULL };
		bool any = true;

		live_start(modes[k]);
		send_some(2);
		while (m[0] == NULL && any)
			m[0] = next_frame(&any);
		assert_non_null(m[0]);
		side_stop(&sender);
		side_start(&sender, true, modes[k]);
		rig.tx_conn->end = sender.end;
		shake_hands(&m[1]);
		assert_int_equal(weft_pipe_push(rig.rx, m, 2), 2);
		assert_true(weft_pipe_drops(rig.rx, WEFT_DROP_SESSION) > 0);
		next_tag = due_tag = 0;
		send_some(8);
		settle();
		assert_int_equal(weft_link_count(receiver.end, WEFT_LINK_N_IDE_FAILURES), 0);
		live_stop();
	}
}

WEFT_TEST(each_frame_of_a_burst_is_looked_at_before_it_arrives)
{
	struct rte_mbuf *m[3] = { NULL };

	live_start(WEFT_IDE_OFF);
	n_ahead = n_arrived = 0;
	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(m); i++) {
		bool any = true;

		send_some(2);
		while (m[i] == NULL && any)
			m[i] = next_frame(&any);
		assert_non_null(m[i]);
	}
	assert_int_equal(weft_pipe_push(rig.rx, m, WEFT_ARRAY_SIZE(m)), WEFT_ARRAY_SIZE(m));
	assert_int_equal(n_ahead, WEFT_ARRAY_SIZE(m));
	assert_int_equal(n_arrived, WEFT_ARRAY_SIZE(m));
	settle();
	live_stop();
}

int
main(void)
{
	rig_open();
	weft_test_seed(&r, "live");
	return weft_test_run();
}
