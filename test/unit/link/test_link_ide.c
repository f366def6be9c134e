/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Two ends with IDE over a bad wire, with real keys: what a session without IDE promises holds;
 * what is sent again is the same ciphertext; no key is used twice over restarts and key changes;
 * what is changed on the way ends the session and is never delivered in containment; another
 * pre-shared key delivers nothing; late poison arrives with its data, and with no other.
 */

#include <unistd.h>

#include "link_rig.h"

#include "weft_derive.h"
#include "weft_ide_monitor.h"

/* Poison is authenticated. */
#define PROTECT (WEFT_CONTROL_IDE_POISON | WEFT_CONTROL_IDE_CAN(WEFT_CONTROL_IDE_POISON))
#define KEYS 64 /* generations kept */

/* IDE of one side, and what a monitor at its wire knows. */
struct keys {
	struct weft_link_ide ide;
	struct weft_session_keys session;
	const struct weft_psk *psk;
	struct weft_control_keys control;
	bool is_initiator;
	uint8_t tx_key[KEYS][WEFT_IDE_KEY_LEN]; /* by generation */
	uint32_t generation; /* that the wire has seen */
	struct weft_ide_monitor monitor;
	bool has_begun;
	uint16_t next; /* number of the next flit not seen */
	uint8_t sent[WEFT_ISN_NUMBERS][WEFT_FLIT_LEN];
	uint64_t again; /* flits seen again */
	uint64_t protocol;
	bool is_spoilt; /* a flit went out with a bad CRC: Poison must follow, and it again */
	uint8_t spoilt[WEFT_FLIT_LEN];
};

static struct weft_ide_lib *lib;
static struct weft_psk *psk[2]; /* the key, and another */
static struct keys keys[2];
static uint64_t *used; /* ids of all keys that any side has sent with */
static size_t n_used;
static uint32_t tampers; /* parts of a million of flits changed, with a CRC that is right */
static uint64_t tampered;
static uint32_t poisons; /* parts of a million of messages with data */
static uint16_t more_bits; /* of IDE Control */
static uint64_t n_plain, n_spoilt; /* Poison flits before the rest of data; flits spoilt */
static uint32_t eager = 300000; /* to send more: parts of a million */
static struct weft_rand tamper_rnd;

static const struct weft_derive_domain domain = { .initiator = 0x101, .responder = 0x200 };

static struct weft_psk *
make_psk(char digit)
{
	char path[] = "/tmp/weft-test-psk-XXXXXX", err[256], text[64];
	int fd = mkstemp(path);
	struct weft_psk *p;

	memset(text, digit, sizeof(text));
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, sizeof(text)), sizeof(text));
	close(fd);
	p = weft_psk_load(path, err, sizeof(err));
	unlink(path);
	if (p == NULL)
		fail_msg("%s", err);
	return p;
}

static bool
key_of(void *arg, const struct weft_session_transcript *d, bool from_initiator, uint32_t generation,
	uint8_t *key)
{
	struct keys *k = arg;
	uint64_t id;

	if (!weft_derive_key(k->psk, &domain, d, from_initiator, generation, key))
		return false;
	if (from_initiator != k->is_initiator)
		return true;
	id = weft_ide_key_id(key);
	for (size_t i = 0; i < n_used; i++)
		if (used[i] == id)
			fail_msg("key %zu is used again", i);
	used = realloc(used, (n_used + 1) * sizeof(*used));
	assert_non_null(used);
	used[n_used++] = id;
	memcpy(k->tx_key[generation % KEYS], key, WEFT_IDE_KEY_LEN);
	if (generation == 0) {
		k->generation = 0;
		k->has_begun = false;
	}
	return true;
}

static bool
proof_of(void *arg, const struct weft_session_transcript *d, bool is_initiator, uint8_t *proof)
{
	const struct keys *k = arg;

	return weft_derive_proof(k->psk, &domain, d, is_initiator, proof);
}

static bool
bind_control(void *arg, const struct weft_session_transcript *d)
{
	struct keys *k = arg;

	if (d != NULL)
		return weft_derive_control_keys(k->psk, &domain, d, &k->control);
	memset(&k->control, 0, sizeof(k->control));
	return true;
}

static bool
mac_of(void *arg, bool from_initiator, const uint8_t *image, size_t len, uint8_t *mac)
{
	const struct keys *k = arg;

	return weft_control_mac(&k->control, from_initiator, image, len, mac);
}

static bool
gone_of(void *arg, uint32_t session, bool from_initiator, uint64_t number, uint8_t *proof)
{
	const struct keys *k = arg;

	return weft_derive_gone(k->psk, &domain, session, from_initiator, number, proof);
}

static bool
is_poison(const uint8_t *flit)
{
	return weft_llctrl_get(flit + WEFT_FLIT_H_OFF) == WEFT_LLCTRL_POISON;
}

/* What follows a flit with a spoilt CRC, for the first time. */
static void
watch_spoilt(struct keys *k, const uint8_t *flit)
{
	n_plain += is_poison(flit) && !k->is_spoilt;
	if (!k->is_spoilt || is_poison(flit))
		return;
	assert_memory_equal(flit + 2, k->spoilt + 2, 240);
	k->is_spoilt = false;
}

/* A flit on the wire for the first time. */
static void
watch_first(struct rig *r, struct keys *k, unsigned int from, const uint8_t *flit)
{
	if (!k->has_begun) {
		weft_ide_monitor_begin(&k->monitor,
			(enum weft_ide_mode)r->side[from].cfg.session.params.ide_mode,
			WEFT_IDE_STANDARD, k->tx_key[0], 1);
		k->has_begun = true;
	}
	weft_ide_monitor_next_key(&k->monitor, k->tx_key[(k->generation + 1) % KEYS]);
	weft_ide_monitor_flit(&k->monitor, flit);
	if (weft_flit_hdr_get(flit).type == WEFT_FLIT_CACHEMEM &&
		weft_llctrl_get(flit + WEFT_FLIT_H_OFF) == WEFT_LLCTRL_IDE_START)
		k->generation++;
	k->protocol += weft_flit_is_protocol(flit);
}

static void
watch(struct rig *r, unsigned int from, struct frame *f, const struct weft_llr_tx_info *out)
{
	struct keys *k = &keys[from];

	for (unsigned int i = 0; i + out->nops < out->n && !r->is_cxl; i++) {
		const uint16_t number = (uint16_t)((out->first + i) % WEFT_ISN_NUMBERS);
		uint8_t *flit = f->payload + i * (size_t)WEFT_FLIT_LEN;

		if ((out->invert_crc & WEFT_BIT64(i)) != 0) {
			memcpy(k->spoilt, flit, WEFT_FLIT_LEN);
			k->is_spoilt = true;
			n_spoilt++;
			continue;
		}
		if (!k->has_begun)
			k->next = number;
		if (number == k->next) {
			watch_spoilt(k, flit);
			watch_first(r, k, from, flit);
			memcpy(k->sent[number], flit, WEFT_FLIT_LEN);
			k->next = (uint16_t)((number + 1) % WEFT_ISN_NUMBERS);
		} else {
			/* All but the header and what the owner writes. */
			assert_memory_equal(flit + 2, k->sent[number] + 2, 240);
			k->again++;
		}
	}
	for (unsigned int i = 0; i < out->n; i++)
		if (weft_rand_below(&tamper_rnd, 1000000) < tampers) {
			f->payload[i * (size_t)WEFT_FLIT_LEN + 16 +
				   weft_rand_below(&tamper_rnd, 224)] ^= 1;
			tampered++;
		}
}

static void
ide_side(struct rig *r, unsigned int i, enum weft_ide_mode mode, bool pcrc, uint64_t rekey_flits)
{
	struct side *s = &r->side[i];
	struct keys *k = &keys[i];
	void *mem = k->ide.mem != NULL ? k->ide.mem : weft_secret_alloc(weft_link_ide_size());

	assert_non_null(mem);
	*k = (struct keys){ .psk = psk[0], .is_initiator = i == 0 };
	k->ide = (struct weft_link_ide){ .lib = lib,
		.mem = mem,
		.key = key_of,
		.arg = k,
		.rekey_flits = rekey_flits,
		.rekey_ns = UINT64_C(3600000000000) };
	k->session = (struct weft_session_keys){ .random = weft_secret_random,
		.proof = proof_of,
		.bind = bind_control,
		.mac = mac_of,
		.gone = gone_of,
		.arg = k };
	s->cfg.ide = mode == WEFT_IDE_OFF ? NULL : &k->ide;
	s->cfg.session.keys = &k->session;
	s->cfg.session.params.ide_mode = (uint8_t)mode;
	if (mode != WEFT_IDE_OFF)
		s->cfg.session.params.ide_bits =
			(uint16_t)(more_bits | (pcrc ? 0 : WEFT_CONTROL_IDE_NO_PCRC));
	if (r->is_cxl) {
		s->cfg.session.params.mode = WEFT_MODE_CXL;
		s->cfg.session.params.isn_form = WEFT_ISN_NONE;
		weft_llr_defaults(&s->cfg.llr, WEFT_MODE_CXL);
		s->cfg.llr.window = 64;
		s->cfg.llr.rx_flits = s->cfg.llr.selective ? 63 : 0;
		s->cfg.form = WEFT_FORM_HBR;
	}
	free(s->end);
	s->end = aligned_alloc(WEFT_CACHE_LINE, (weft_link_size(&s->cfg) + 63) & ~(size_t)63);
	assert_non_null(s->end);
	side_start(r, i);
}

static void
ide_rig(struct rig *r, uint64_t seed, bool is_cxl, enum weft_ide_mode mode, bool pcrc,
	uint64_t rekey_flits)
{
	rig_init(r, seed);
	r->is_cxl = is_cxl;
	r->tap = mode == WEFT_IDE_OFF ? NULL : watch;
	tampers = 0;
	weft_rand_seed(&tamper_rnd, seed);
	for (unsigned int i = 0; i < 2; i++)
		ide_side(r, i, mode, pcrc, rekey_flits);
}

static void
ide_rig_free(struct rig *r)
{
	for (unsigned int i = 0; i < 2; i++)
		weft_link_fini(r->side[i].end);
	rig_free(r);
}

static void
perhaps_poison(struct rig *r, unsigned int from, const struct weft_msg *m)
{
	if (weft_msg_has_data(m) && chance(r, poisons) && weft_link_poison(r->side[from].end) == 0)
		r->side[1 - from].poisoned[m->kind][m->tag % POISON_TAGS] = true;
}

/* Messages of all kinds both ways; returns false when a session ended meanwhile. */
static bool
talk(struct rig *r, unsigned int each)
{
	static const enum weft_msg_kind kinds[2][2] = { { WEFT_MSG_M2S_REQ, WEFT_MSG_M2S_RWD },
		{ WEFT_MSG_S2M_NDR, WEFT_MSG_S2M_DRS } };
	uint16_t sent[2][2] = { { 0 } };
	uint64_t came[2][2];
	unsigned int todo;

	for (unsigned int i = 0; i < 2; i++)
		for (unsigned int k = 0; k < 2; k++)
			came[i][k] = r->side[1 - i].came[kinds[i][k]];
	do {
		todo = 0;
		for (unsigned int i = 0; i < 2; i++)
			for (unsigned int k = 0; k < 2; k++) {
				struct weft_msg m = message(kinds[i][k], sent[i][k]);

				while (sent[i][k] < each && chance(r, eager) &&
					weft_link_send(r->side[i].end, &m) == 0) {
					perhaps_poison(r, i, &m);
					m = message(kinds[i][k], ++sent[i][k]);
				}
				todo += r->side[1 - i].came[kinds[i][k]] - came[i][k] < each;
			}
		if (!step(r) || r->side[0].ended + r->side[1].ended != 0)
			return false;
		assert_true(r->now_ns < UINT64_C(60000000000));
	} while (todo != 0);
	return true;
}

WEFT_TEST(sessions_with_ide_keep_their_promises)
{
	struct weft_rand pick;
	uint64_t again = 0, rekeys = 0;

	weft_test_seed(&pick, __func__);
	for (unsigned int run = 0; run < 48; run++) {
		const bool is_cxl = run % 4 == 3, rekeyed = run % 5 == 0;
		struct rig r;

		ide_rig(&r, weft_rand_u64(&pick), is_cxl,
			run % 2 == 0 ? WEFT_IDE_CONTAINMENT : WEFT_IDE_SKID, run % 3 != 0,
			rekeyed ? 1 + weft_rand_below(&pick, 200) : UINT64_C(1) << 40);
		r.bad = (uint32_t)weft_rand_below(&pick, 40000);
		r.drop = is_cxl ? 0 : (uint32_t)weft_rand_below(&pick, 40000);
		while (!both_up(&r))
			assert_true(step(&r));
		assert_true(talk(&r, 300));
		for (unsigned int i = 0; i < 2; i++) {
			const struct weft_link *c = r.side[i].end;
			const struct weft_link *other = r.side[1 - i].end;

			assert_int_equal(r.side[i].wrong, 0);
			assert_int_equal(r.side[i].begun, 1);
			assert_int_equal(weft_link_count(c, WEFT_LINK_N_NO_CREDIT), 0);
			assert_int_equal(weft_link_count(c, WEFT_LINK_N_BAD_CRD), 0);
			assert_int_equal(weft_link_count(c, WEFT_LINK_N_BEFORE_INIT), 0);
			assert_int_equal(weft_link_count(c, WEFT_LINK_N_BAD_SLOT), 0);
			assert_int_equal(weft_link_count(c, WEFT_LINK_N_MESSAGES), 600);
			assert_int_equal(weft_link_count(c, WEFT_LINK_N_IDE_FAILURES), 0);
			assert_int_equal(weft_link_count(c, WEFT_LINK_N_IDE_DROPPED), 0);
			assert_true(weft_link_count(c, WEFT_LINK_N_IDE_EPOCHS) > 3);
			assert_true(weft_link_count(c, WEFT_LINK_N_IDE_SEALED) > 80);
			if (!rekeyed)
				assert_int_equal(weft_link_count(c, WEFT_LINK_N_IDE_REKEYS), 0);
			assert_true(weft_link_count(c, WEFT_LINK_N_IDE_REKEYED) <=
				    weft_link_count(other, WEFT_LINK_N_IDE_REKEYS));
			if (!is_cxl)
				assert_true(keys[i].protocol <=
					    weft_link_count(c, WEFT_LINK_N_IDE_SEALED));
			rekeys += weft_link_count(c, WEFT_LINK_N_IDE_REKEYS);
			again += keys[i].again;
		}
		ide_rig_free(&r);
	}
	printf("%lu flits sent again, %lu keys changed in flight\n", (unsigned long)again,
		(unsigned long)rekeys);
	assert_true(again > 1000);
	assert_true(rekeys > 20);
}

/*
 * All that the sides have to say now, taken as a pipeline takes what came in one burst: flits on
 * the way, control frames at its end.
 */
static void
exchange_bursts(struct rig *r)
{
	static const uint8_t order[] = { WEFT_WIRE_FLITS, WEFT_WIRE_CONTROL };

	for (unsigned int i = 0; i < 2; i++)
		do
			r->side[i].free_ns = 0;
		while (leave(r, i));
	r->now_ns += 2000;
	for (unsigned int i = 0; i < 2; i++) {
		struct side *s = &r->side[i];

		for (unsigned int pass = 0; pass < WEFT_ARRAY_SIZE(order); pass++)
			for (uint32_t k = 0; k < s->n_frames; k++)
				if (s->frame[k].hdr.kind == order[pass])
					arrive(r, i, &s->frame[k]);
		s->n_frames = 0;
		follow(r, i, weft_link_tick(s->end, r->now_ns));
	}
}

/* SESS-38 */
WEFT_TEST(a_session_that_begins_on_a_clean_wire_drops_nothing)
{
	for (unsigned int run = 0; run < 4; run++) {
		struct rig r;

		ide_rig(&r, run, run >= 2, run % 2 == 0 ? WEFT_IDE_CONTAINMENT : WEFT_IDE_SKID,
			true, UINT64_C(1) << 40);
		for (unsigned int k = 0; k < 1000; k++)
			exchange_bursts(&r);
		for (unsigned int i = 0; i < 2; i++) {
			struct weft_link *e = r.side[i].end;
			const struct weft_llr *l = weft_link_llr(e);

			assert_int_equal(r.side[i].begun, 1);
			assert_int_equal(weft_link_session(e)->count[WEFT_SESSION_N_UNKNOWN], 0);
			assert_int_equal(weft_llr_count(l, WEFT_LLR_N_RESENT), 0);
			assert_int_equal(weft_llr_count(l, WEFT_LLR_N_GAPS), 0);
			/* Credits came, and nothing is left that they were held back for. */
			assert_true(weft_link_can_send(
				e, i == 0 ? WEFT_MSG_M2S_REQ : WEFT_MSG_S2M_NDR));
			assert_int_equal(weft_llr_unacked(l), 0);
		}
		ide_rig_free(&r);
	}
}

/* With keys the responder sends nothing but KEEPALIVEs, and does not spin, until it is answered. */
WEFT_TEST(a_responder_with_keys_waits_for_the_initiator)
{
	const struct weft_link *e;
	uint64_t sent;
	struct rig r;

	ide_rig(&r, 3, false, WEFT_IDE_SKID, true, 1000);
	while (weft_link_session(r.side[1].end)->id == 0)
		assert_true(step(&r));
	r.cut[1] = true;
	e = r.side[1].end;
	sent = r.now_ns;
	for (unsigned int k = 0; k < 100 && r.now_ns < sent + r.side[1].cfg.session.rx_timeout_ns;
		k++)
		assert_true(step(&r));
	assert_true(r.now_ns >= sent + r.side[1].cfg.session.rx_timeout_ns);
	assert_int_equal(weft_link_session(r.side[0].end)->state, WEFT_SESSION_UP);
	assert_int_equal(weft_link_session(r.side[0].end)->count[WEFT_SESSION_N_UNKNOWN], 0);
	assert_int_equal(weft_llr_count(weft_link_llr(r.side[1].end), WEFT_LLR_N_SENT), 0);
	assert_true(weft_link_deadline(e) > r.now_ns);
	r.cut[1] = false;
	assert_true(talk(&r, 10));
	ide_rig_free(&r);
}

/* Both flows, with and without IDE, and its MACs whether they cover Poison or not. */
WEFT_TEST(late_poison_arrives_with_its_data)
{
	uint64_t poisoned = 0;
	struct weft_rand pick;

	weft_test_seed(&pick, __func__);
	n_plain = n_spoilt = 0;
	eager = 900000;
	for (unsigned int run = 0; run < 96; run++) {
		const enum weft_ide_mode mode = (enum weft_ide_mode)(run % 3);
		const bool is_cxl = run % 4 == 3, is_bad = run % 16 < 12;
		struct rig r;

		more_bits = mode != WEFT_IDE_OFF && run % 8 < 4 ? PROTECT : 0;
		ide_rig(&r, weft_rand_u64(&pick), is_cxl, mode, run % 5 != 0,
			run % 5 == 1 ? 1 + weft_rand_below(&pick, 100) : UINT64_C(1) << 40);
		poisons = 400000;
		r.bad = is_bad ? (uint32_t)weft_rand_below(&pick, 40000) : 0;
		r.drop = is_bad && !is_cxl ? (uint32_t)weft_rand_below(&pick, 40000) : 0;
		while (!both_up(&r))
			assert_true(step(&r));
		assert_true(talk(&r, 300));
		for (unsigned int i = 0; i < 2; i++) {
			const struct weft_link *c = r.side[i].end;

			assert_int_equal(r.side[i].wrong, 0);
			assert_int_equal(weft_link_count(c, WEFT_LINK_N_MESSAGES), 600);
			assert_int_equal(weft_link_count(c, WEFT_LINK_N_IDE_FAILURES), 0);
			poisoned += weft_link_count(c, WEFT_LINK_N_POISONED);
		}
		ide_rig_free(&r);
	}
	poisons = 0;
	more_bits = 0;
	eager = 300000;
	printf("%lu messages poisoned late; with IDE on rxl %lu before the rest, %lu flits "
	       "spoilt\n",
		(unsigned long)poisoned, (unsigned long)n_plain, (unsigned long)n_spoilt);
	assert_true(poisoned > 5000);
	assert_true(n_spoilt > 1000 && n_plain > 300);
}

/* One that is out of reach is told so; nothing is changed by that. */
WEFT_TEST(late_poison_has_its_time)
{
	const struct weft_msg data = message(WEFT_MSG_M2S_RWD, 0);
	const struct weft_msg none = message(WEFT_MSG_M2S_REQ, 0);
	struct weft_link *e;
	struct weft_link_out out;
	uint8_t payload[MAX_FLITS * WEFT_FLIT_LEN];
	unsigned int n = 0;
	struct rig r;

	more_bits = PROTECT;
	ide_rig(&r, 9, false, WEFT_IDE_SKID, true, 1000);
	e = r.side[0].end;
	assert_int_equal(weft_link_poison(e), -ENOTCONN);
	run_until(&r, 1000000);
	assert_int_equal(weft_link_poison(e), -EALREADY);
	assert_int_equal(weft_link_send(e, &none), 0);
	assert_int_equal(weft_link_poison(e), -EALREADY);
	assert_int_equal(weft_link_send(e, &data), 0);
	assert_int_equal(weft_link_poison(e), 0);
	assert_int_equal(weft_link_poison(e), -EALREADY);
	assert_int_equal(weft_link_send(e, &data), 0);
	while (weft_link_next(e, payload, r.now_ns, 1, &out))
		;
	assert_int_equal(weft_link_poison(e), -EALREADY);
	/* 28 of an epoch, then no more. */
	while (weft_link_send(e, &data) == 0 && weft_link_poison(e) == 0)
		n++;
	assert_in_range(n, 10, 28);
	assert_int_equal(weft_link_count(e, WEFT_LINK_N_POISONED), n + 1);
	more_bits = 0;
	ide_rig_free(&r);
}

/* The rule of the limit: no key seals more than it, but for the flit that ends the epoch. */
WEFT_TEST(a_key_seals_no_more_than_its_limit)
{
	for (uint64_t limit = 1; limit < 80; limit += limit < 5 ? 1 : 25) {
		struct rig r;
		uint64_t sealed, changed;

		ide_rig(&r, limit, false, limit % 2 == 0 ? WEFT_IDE_CONTAINMENT : WEFT_IDE_SKID,
			true, limit);
		run_until(&r, 1000000);
		assert_true(talk(&r, 200));
		run_until(&r, r.now_ns + 20000000);
		for (unsigned int i = 0; i < 2; i++) {
			sealed = weft_link_count(r.side[i].end, WEFT_LINK_N_IDE_SEALED);
			changed = weft_link_count(r.side[i].end, WEFT_LINK_N_IDE_REKEYS);
			assert_in_range(sealed, changed * limit, (changed + 1) * (limit + 1));
			assert_int_equal(
				weft_link_count(r.side[1 - i].end, WEFT_LINK_N_IDE_REKEYED),
				changed);
		}
		ide_rig_free(&r);
	}
}

WEFT_TEST(keys_change_by_time_too)
{
	uint64_t changed;
	struct rig r;

	ide_rig(&r, 8, false, WEFT_IDE_SKID, true, UINT64_C(1) << 40);
	keys[0].ide.rekey_ns = 50000000;
	side_start(&r, 0);
	run_until(&r, 1000000);
	for (unsigned int i = 0; i < 10; i++) {
		assert_true(talk(&r, 5));
		run_until(&r, r.now_ns + 60000000);
	}
	/* A key that has sealed nothing stays; an idle end seals now and then (RETRY-30). */
	changed = weft_link_count(r.side[0].end, WEFT_LINK_N_IDE_REKEYS);
	assert_in_range(changed, 10, 20);
	assert_int_equal(weft_link_count(r.side[1].end, WEFT_LINK_N_IDE_REKEYED), changed);
	run_until(&r, r.now_ns + 100000000);
	assert_int_equal(weft_link_count(r.side[0].end, WEFT_LINK_N_IDE_CHECKS), 0);
	assert_int_equal(weft_link_count(r.side[0].end, WEFT_LINK_N_IDE_REKEYS), changed);
	run_until(&r, r.now_ns + 3 * r.side[0].cfg.llr.timeout_max_ns);
	assert_int_equal(weft_link_count(r.side[0].end, WEFT_LINK_N_IDE_REKEYS),
		changed + weft_link_count(r.side[0].end, WEFT_LINK_N_IDE_CHECKS));
	assert_int_equal(weft_link_count(r.side[1].end, WEFT_LINK_N_IDE_REKEYS), 0);
	ide_rig_free(&r);
}

/* Crashes of either end: key_of() fails the test if a key comes twice. */
WEFT_TEST(a_thousand_restarts_repeat_no_key)
{
	const size_t before = n_used;
	struct rig r;

	ide_rig(&r, 11, false, WEFT_IDE_CONTAINMENT, true, UINT64_C(1) << 40);
	for (unsigned int i = 0; i < 1000; i++) {
		const unsigned int who = (unsigned int)weft_rand_below(&r.rnd, 2);
		const uint64_t end = r.now_ns + UINT64_C(12000000000);
		struct weft_msg m = message(WEFT_MSG_M2S_RWD, 0);

		while (!both_up(&r) || !weft_link_can_send(r.side[0].end, WEFT_MSG_M2S_RWD) ||
			weft_link_session(r.side[0].end)->id !=
				weft_link_session(r.side[1].end)->id) {
			assert_true(r.now_ns < end);
			step(&r);
		}
		m.tag = r.side[1].tag[WEFT_MSG_M2S_RWD];
		assert_int_equal(weft_link_send(r.side[0].end, &m), 0);
		run_until(&r, r.now_ns + 20000);
		side_start(&r, who);
		memset(r.side[1 - who].tag, 0, sizeof(r.side[0].tag));
	}
	assert_true(n_used - before >= 4000); /* two directions, each with its next key */
	assert_int_equal(r.side[0].wrong + r.side[1].wrong, 0);
	assert_true(r.side[1].came[WEFT_MSG_M2S_RWD] > 900);
	ide_rig_free(&r);
}

/* Changed with a CRC that is right: as an attacker would. */
WEFT_TEST(what_is_changed_is_never_delivered)
{
	static const enum weft_ide_mode modes[] = { WEFT_IDE_CONTAINMENT, WEFT_IDE_SKID };
	unsigned int failures = 0;

	for (unsigned int run = 0; run < 100; run++) {
		const enum weft_ide_mode mode = modes[run % 2];
		struct rig r;

		ide_rig(&r, 100 + run, false, mode, run % 4 < 2, UINT64_C(1) << 40);
		run_until(&r, 1000000);
		tampers = 3000;
		tampered = 0;
		if (talk(&r, 300)) {
			/* Only NOPs were met, or flits that came twice. */
			assert_true(tampered < 20);
			ide_rig_free(&r);
			continue;
		}
		failures++;
		assert_true(tampered != 0);
		assert_in_range(weft_link_count(r.side[0].end, WEFT_LINK_N_IDE_FAILURES) +
					weft_link_count(r.side[1].end, WEFT_LINK_N_IDE_FAILURES),
			1, 2);
		/* In skid a wrong message may have gone on; the failure is what tells. */
		if (mode == WEFT_IDE_CONTAINMENT)
			assert_int_equal(r.side[0].wrong + r.side[1].wrong, 0);
		/* A new session with new keys goes on. */
		tampers = 0;
		run_until(&r, r.now_ns + 500000000);
		assert_true(both_up(&r));
		assert_int_equal(
			weft_link_session(r.side[0].end)->id, weft_link_session(r.side[1].end)->id);
		r.side[0].ended = r.side[1].ended = 0;
		assert_true(talk(&r, 50));
		ide_rig_free(&r);
	}
	assert_true(failures > 60);
}

/* Somebody at the wire from side 1 who has a protocol flit of before, and no key. */
static struct {
	uint8_t flit[WEFT_FLIT_LEN];
	bool has_flit, strikes;
	unsigned int displaced;
} player;

/* What he puts in a flit's place has its number and header, and a CRC that is right. */
static void
play_back(struct rig *r, unsigned int from, struct frame *f, const struct weft_llr_tx_info *out)
{
	(void)r;
	for (unsigned int i = 0; from == 1 && i + out->nops < out->n; i++) {
		uint8_t *flit = f->payload + i * (size_t)WEFT_FLIT_LEN;

		if (player.strikes) {
			memcpy(flit + 2, player.flit + 2, WEFT_FLIT_LEN - 2);
			player.displaced++;
		} else if (weft_flit_is_protocol(flit)) {
			memcpy(player.flit, flit, WEFT_FLIT_LEN);
			player.has_flit = true;
		}
	}
}

/*
 * What was sent last is displaced by an old flit, that is acknowledged, and both ends wait. The
 * sender cannot know, and the receiver has no MAC to tell: the next epoch shows it (RETRY-30).
 */
WEFT_TEST(an_old_flit_in_place_of_the_last_one_is_found_out)
{
	for (unsigned int run = 0; run < 4; run++) {
		const bool is_contained = run < 2;
		struct weft_msg m = message(WEFT_MSG_S2M_NDR, 5);
		struct rig r;
		uint64_t came;

		ide_rig(&r, run, run % 2 == 1, is_contained ? WEFT_IDE_CONTAINMENT : WEFT_IDE_SKID,
			true, UINT64_C(1) << 40);
		memset(&player, 0, sizeof(player));
		r.tap = play_back;
		run_until(&r, 1000000);
		assert_true(talk(&r, 5));
		run_until(&r, r.now_ns + 100000000); /* credits have been given back */
		came = r.side[0].came[WEFT_MSG_S2M_NDR];
		assert_true(player.has_flit);
		player.strikes = true;
		assert_int_equal(weft_link_send(r.side[1].end, &m), 0);
		run_until(&r, r.now_ns + 1000000);
		assert_int_equal(player.displaced, 2); /* with IDE.TMAC */
		assert_int_equal(weft_llr_unacked(weft_link_llr(r.side[1].end)), 0);
		player.strikes = false;
		if (is_contained)
			assert_int_equal(r.side[0].came[WEFT_MSG_S2M_NDR], came);
		assert_int_equal(r.side[0].ended, 0);
		run_until(&r, r.now_ns + r.side[1].cfg.llr.timeout_max_ns);
		assert_int_equal(weft_link_count(r.side[0].end, WEFT_LINK_N_IDE_FAILURES), 1);
		assert_int_equal(weft_link_count(r.side[1].end, WEFT_LINK_N_IDE_CHECKS), 1);
		run_until(&r, r.now_ns + 500000000);
		assert_true(both_up(&r));
		r.side[0].ended = r.side[1].ended = 0;
		assert_true(talk(&r, 5));
		ide_rig_free(&r);
	}
}

static void
assert_checks(const struct rig *r, uint64_t each)
{
	for (unsigned int i = 0; i < 2; i++)
		assert_int_equal(weft_link_count(r->side[i].end, WEFT_LINK_N_IDE_CHECKS), each);
}

/*
 * After one time-out, two and four more, and so on, until there is traffic; none while the last is
 * not acknowledged.
 */
WEFT_TEST(idle_ends_have_each_other_compare)
{
	for (unsigned int run = 0; run < 4; run++) {
		uint64_t each_ns;
		struct rig r;

		ide_rig(&r, run, run % 2 == 1, run < 2 ? WEFT_IDE_CONTAINMENT : WEFT_IDE_SKID, true,
			UINT64_C(1) << 40);
		each_ns = r.side[0].cfg.llr.timeout_max_ns;
		run_until(&r, 1000000);
		assert_true(talk(&r, 5));
		run_until(&r, r.now_ns + 8 * each_ns);
		assert_checks(&r, 3);
		assert_true(talk(&r, 5));
		run_until(&r, r.now_ns + 2 * each_ns);
		assert_checks(&r, 4);
		r.cut[0] = r.cut[1] = true;
		run_until(&r, r.now_ns + 10 * each_ns);
		assert_checks(&r, 5);
		r.cut[0] = r.cut[1] = false;
		assert_true(talk(&r, 5)); /* in the same session */
		ide_rig_free(&r);
	}
}

WEFT_TEST(another_pre_shared_key_delivers_nothing)
{
	for (unsigned int who = 0; who < 2; who++) {
		struct rig r;

		ide_rig(&r, 5, false, who == 0 ? WEFT_IDE_SKID : WEFT_IDE_CONTAINMENT, true, 1000);
		keys[who].psk = psk[1];
		run_until(&r, 5000000000);
		assert_int_equal(r.side[0].begun + r.side[1].begun, 0);
		assert_int_equal(weft_link_session(r.side[0].end)->state, WEFT_SESSION_REFUSED);
		assert_int_equal(weft_link_session(r.side[0].end)->differs, WEFT_PARAM_IDE_KEY);
		for (unsigned int i = 0; i < 2; i++)
			assert_int_equal(weft_link_count(r.side[i].end, WEFT_LINK_N_MESSAGES), 0);
		ide_rig_free(&r);
	}
}

static bool
no_key(void *arg, const struct weft_session_transcript *d, bool from_initiator, uint32_t generation,
	uint8_t *key)
{
	(void)arg;
	(void)d;
	(void)from_initiator;
	(void)generation;
	(void)key;
	return false;
}

WEFT_TEST(without_keys_nothing_is_sent)
{
	struct rig r;

	ide_rig(&r, 6, false, WEFT_IDE_CONTAINMENT, true, 1000);
	keys[1].ide.key = no_key;
	side_start(&r, 1);
	for (unsigned int i = 0; i < 1000; i++) {
		struct weft_msg m = message(WEFT_MSG_M2S_REQ, 0);

		weft_link_send(r.side[0].end, &m);
		step(&r);
	}
	assert_int_equal(weft_link_count(r.side[1].end, WEFT_LINK_N_MESSAGES), 0);
	assert_int_equal(weft_link_count(r.side[1].end, WEFT_LINK_N_IDE_SEALED), 0);
	ide_rig_free(&r);
}

/* After the end of a session, and of the end, its memory holds no key. */
WEFT_TEST(keys_are_wiped)
{
	struct rig r;

	for (unsigned int way = 0; way < 3; way++) {
		const size_t len = weft_link_ide_size();
		const uint8_t *mem;
		unsigned int any = 0;

		ide_rig(&r, 7, false, WEFT_IDE_CONTAINMENT, true, 1000);
		run_until(&r, 1000000);
		assert_true(talk(&r, 20));
		mem = keys[0].ide.mem;
		for (size_t i = 0; i < len; i++)
			any |= mem[i];
		assert_int_not_equal(any, 0);
		if (way == 0) {
			weft_link_fini(r.side[0].end);
		} else if (way == 1) {
			weft_link_close(r.side[0].end);
		} else {
			weft_link_close(r.side[1].end);
			while (weft_link_session(r.side[0].end)->state != WEFT_SESSION_DOWN)
				assert_true(step(&r));
		}
		any = 0;
		for (size_t i = 0; i < len; i++)
			any |= mem[i];
		assert_int_equal(any, 0);
		ide_rig_free(&r);
	}
}

WEFT_TEST(impossible_options_are_refused)
{
	struct weft_link_ide bad;
	struct weft_link_cfg c;
	struct rig r;

	ide_rig(&r, 7, false, WEFT_IDE_CONTAINMENT, true, 1000);
	c = r.side[0].cfg;
	assert_int_not_equal(weft_link_size(&c), 0);
	c.ide = NULL;
	assert_int_equal(weft_link_size(&c), 0);
	c.ide = &bad;
	bad = *r.side[0].cfg.ide;
	bad.rekey_flits = 0;
	assert_int_equal(weft_link_size(&c), 0);
	bad = *r.side[0].cfg.ide;
	bad.rekey_ns = 0;
	assert_int_equal(weft_link_size(&c), 0);
	bad = *r.side[0].cfg.ide;
	bad.mem = (uint8_t *)bad.mem + 1;
	assert_int_equal(weft_link_size(&c), 0);
	bad = *r.side[0].cfg.ide;
	c.session.params.ide_mode = WEFT_IDE_OFF;
	assert_int_equal(weft_link_size(&c), 0);
	ide_rig_free(&r);
}

static int
open_all(void **state)
{
	(void)state;
	lib = weft_ide_lib_open(0);
	psk[0] = make_psk('5');
	psk[1] = make_psk('6');
	return lib == NULL ? -1 : 0;
}

static int
close_all(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		weft_secret_free(keys[i].ide.mem, weft_link_ide_size());
		weft_psk_free(psk[i]);
	}
	weft_ide_lib_close(lib);
	free(used);
	free(weft_ide_all.seen);
	return 0;
}

WEFT_TEST_AROUND(open_all, close_all)
