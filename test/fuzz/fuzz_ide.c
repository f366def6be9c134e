/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * An IDE stream by a script: a sender, a wire that turns bits, loses, repeats and swaps flits, and
 * a receiver; each of the two once flit by flit and once in runs, which must agree in every byte.
 * What a good MAC lets pass is what was sealed, with the Poison that was sealed before it, in order
 * and nothing left out under one key; containment lets no other go. A stream that failed stays so
 * and lets nothing go. Counters of epochs are the number of epochs that ended. On a good wire all
 * arrives.
 *
 *   byte 0  bit 0: skid; 1: PCRC; 2: LOpt; 3: IDE.Stop; 4: Poison is authenticated; 5: delays
 *   then    steps: what, and what it needs (step())
 */

#include "weft_fuzz.h"

#include "weft_cpu.h"
#include "weft_flit.h"
#include "weft_ide.h"
#include "weft_rand.h"

#define SENT_MAX 1024
#define WIRE_MAX 96
#define CALL_MAX 64 /* flits of a run */
#define QUEUE_MAX (WEFT_IDE_HELD_MAX + CALL_MAX)
#define SERIAL_OFF 16 /* in slot 1: which flit this is */
#define OTHERS_MAX 2 /* control flits in front of a MAC; a receiver holds only so many */

struct poison {
	uint8_t n, offset[WEFT_IDE_POISON_MAX];
};

struct sent {
	uint8_t plain[WEFT_FLIT_LEN];
	unsigned int key;
	struct poison poison;
};

/* A protocol flit that was opened, until its MAC is good. */
struct opened {
	uint8_t flit[WEFT_FLIT_LEN];
	struct poison poison;
};

struct epoch {
	unsigned int n;
	struct opened o[WEFT_IDE_EPOCH_MAX];
};

/* What the caller of a receiver holds for it. */
struct queue {
	unsigned int n;
	uint8_t flit[QUEUE_MAX][WEFT_FLIT_LEN];
	bool is_unproven[QUEUE_MAX]; /* a protocol flit whose MAC has not come */
};

static struct weft_ide_lib *lib;

static struct script {
	struct fuzz_in in;
	struct weft_rand rnd;
	struct weft_ide_config cfg;
	/* One by one, and in runs. */
	struct weft_ide_stream *tx, *tx_run, *rx, *rx_run;
	unsigned int keys; /* given */
	bool is_damaged;
	/* sender */
	unsigned int n_sent, key;
	uint64_t ended; /* epochs under this key */
	unsigned int in_epoch, others;
	struct poison waiting;
	/* wire */
	unsigned int n_wire;
	bool ends_in_protocol; /* its last flit is the sender's last protocol flit */
	uint8_t old[WEFT_FLIT_LEN];
	/* receiver */
	uint64_t counter, starts;
	struct epoch open, full;
	struct poison came;
	unsigned int n_proven; /* serial of the last one + 1 */
	struct queue held, held_run;
	uint8_t let_go[QUEUE_MAX][WEFT_FLIT_LEN];
	uint8_t wire[WIRE_MAX][WEFT_FLIT_LEN];
	struct sent sent[SENT_MAX];
} script;

static struct weft_ide_stream *
stream(const struct script *x)
{
	const uint8_t key[WEFT_IDE_KEY_LEN] = { 0 };
	struct weft_ide_stream *s =
		aligned_alloc(WEFT_CACHE_LINE, (weft_ide_stream_size() + 63) & ~(size_t)63);

	FUZZ_CHECK(s != NULL && weft_ide_stream_setup(s, lib, &x->cfg, key, 1) == s);
	return s;
}

static void
poison_add(struct poison *p, uint8_t offset)
{
	if (p->n < WEFT_IDE_POISON_MAX)
		p->offset[p->n++] = offset;
}

/* --- sender --- */

static uint8_t *
wire_add(struct script *x)
{
	x->ends_in_protocol = false;
	return x->wire[x->n_wire++];
}

/* Both senders are in one state, which is that of epochs counted along. */
static void
check_senders(const struct script *x)
{
	const struct weft_ide_stream *a = x->tx, *b = x->tx_run;
	const uint64_t counter = weft_ide_counter(a);

	/* With late poison a full epoch may stay open. */
	FUZZ_CHECK(counter == 1 + x->ended || (x->cfg.poison && counter == x->ended));
	FUZZ_CHECK(weft_ide_counter(b) == counter || x->cfg.poison);
	FUZZ_CHECK(weft_ide_mac_due(a) == weft_ide_mac_due(b));
	FUZZ_CHECK(weft_ide_idles_due(a) == weft_ide_idles_due(b));
	FUZZ_CHECK(weft_ide_is_stopped(a) == weft_ide_is_stopped(b));
	FUZZ_CHECK(memcmp(weft_ide_counts(a), weft_ide_counts(b), sizeof(struct weft_ide_counts)) ==
		   0);
}

static void
make_flit(struct script *x, uint8_t *flit, bool with_mac)
{
	static const uint8_t none[WEFT_LLCTRL_PAYLOAD_LEN];

	weft_rand_fill(&x->rnd, flit, WEFT_FLIT_LEN);
	flit[0] = (uint8_t)((flit[0] & 0x3F) | WEFT_FLIT_CACHEMEM << 6);
	flit[WEFT_FLIT_H_OFF] &= 0xF7; /* a format below 8 */
	if (weft_flit_is_empty(flit))
		flit[WEFT_FLIT_CRD_OFF] ^= 2;
	if (with_mac)
		weft_llctrl_put(flit, WEFT_LLCTRL_IDE_MAC, none);
}

static void
count_sent(struct script *x, const uint8_t *plain)
{
	struct sent *s = &x->sent[x->n_sent++];

	memcpy(s->plain, plain, WEFT_FLIT_LEN);
	s->key = x->key;
	s->poison = x->waiting;
	x->waiting.n = 0;
	x->others = 0;
	if (++x->in_epoch == weft_ide_epoch_flits(x->cfg.mode)) {
		x->in_epoch = 0;
		x->ended++;
	}
}

static void
send_idles(struct script *x)
{
	uint8_t other[WEFT_FLIT_LEN];

	while (weft_ide_idles_due(x->tx) > 0 && x->n_wire < WIRE_MAX) {
		uint8_t *flit = wire_add(x);

		weft_ide_idle(x->tx, flit);
		weft_ide_idle(x->tx_run, other);
		FUZZ_CHECK(memcmp(flit, other, WEFT_FLIT_LEN) == 0);
	}
}

/* Protocol flits: one by one, then in one run. */
static void
send_flits(struct script *x, unsigned int n)
{
	uint8_t *run = fuzz_alloc((size_t)CALL_MAX * WEFT_FLIT_LEN);
	const bool is_clear = weft_ide_is_stopped(x->tx);
	unsigned int from;

	send_idles(x);
	from = x->n_wire;
	for (unsigned int i = 0; i < n && x->n_wire < WIRE_MAX && x->n_sent < SENT_MAX; i++) {
		uint8_t *plain = run + i * (size_t)WEFT_FLIT_LEN, *flit = wire_add(x);

		make_flit(x, plain, weft_ide_mac_due(x->tx) && !is_clear);
		weft_put_le64(plain + SERIAL_OFF, x->n_sent);
		memcpy(flit, plain, WEFT_FLIT_LEN);
		FUZZ_CHECK(weft_ide_seal(x->tx, flit) == 0);
		if (!is_clear)
			count_sent(x, plain);
	}
	n = x->n_wire - from;
	FUZZ_CHECK(weft_ide_seal_run(x->tx_run, run, n) == n);
	FUZZ_CHECK(memcmp(run, x->wire[from], n * (size_t)WEFT_FLIT_LEN) == 0);
	x->ends_in_protocol = n > 0 && !is_clear;
	free(run);
}

/* A flit that must be refused, and then nothing has changed. */
static void
send_wrong(struct script *x, uint8_t how)
{
	uint8_t flit[WEFT_FLIT_LEN], was[WEFT_FLIT_LEN];
	const bool due = weft_ide_mac_due(x->tx);

	if (weft_ide_is_stopped(x->tx))
		return;
	make_flit(x, flit, (how & 8) != 0 ? due : !due);
	if (how & 8)
		flit[WEFT_FLIT_CRD_OFF] = 0xE1; /* Empty */
	memcpy(was, flit, sizeof(was));
	FUZZ_CHECK(weft_ide_seal(x->tx, flit) < 0);
	FUZZ_CHECK(weft_ide_seal_run(x->tx_run, flit, 1) == 0);
	FUZZ_CHECK(memcmp(was, flit, sizeof(was)) == 0);
}

/* Another control flit, or one of another protocol. */
static void
send_other(struct script *x, uint8_t how)
{
	static const uint8_t none[WEFT_LLCTRL_PAYLOAD_LEN];
	uint8_t *flit;

	if (x->others == OTHERS_MAX)
		return;
	x->others++;
	flit = wire_add(x);
	make_flit(x, flit, false);
	if (how & 8)
		flit[0] = (uint8_t)(WEFT_FLIT_IO << 6);
	else
		weft_llctrl_put(flit, WEFT_LLCTRL_VIRAL, none);
	FUZZ_CHECK(weft_ide_seal(x->tx, flit) == 0);
	FUZZ_CHECK(weft_ide_seal_run(x->tx_run, flit, 1) == 1);
}

static void
send_poison(struct script *x, uint8_t offset)
{
	uint8_t *flit = x->wire[x->n_wire];

	weft_ide_poison_put(flit, offset);
	if (!weft_ide_is_stopped(x->tx) && x->waiting.n == WEFT_IDE_POISON_MAX) {
		if (x->cfg.poison || x->cfg.mode == WEFT_IDE_CONTAINMENT)
			FUZZ_CHECK(weft_ide_seal(x->tx, flit) == -ENOBUFS);
		return;
	}
	FUZZ_CHECK(weft_ide_seal(x->tx, flit) == 0);
	FUZZ_CHECK(weft_ide_seal_run(x->tx_run, flit, 1) == 1);
	(void)wire_add(x);
	if (!weft_ide_is_stopped(x->tx))
		poison_add(&x->waiting, offset);
}

/* Poison for the flit sent last, which is still on the wire, and is sent again behind it. */
static void
send_poison_last(struct script *x, uint8_t offset)
{
	uint8_t flit[WEFT_FLIT_LEN], other[WEFT_FLIT_LEN];
	struct poison *p;
	int rc;

	if (!x->ends_in_protocol)
		return;
	p = &x->sent[x->n_sent - 1].poison;
	if (p->n == WEFT_IDE_POISON_MAX)
		return;
	rc = weft_ide_poison_last(x->tx, WEFT_IDE_SPOILT_CRC, offset, flit);
	FUZZ_CHECK(weft_ide_poison_last(x->tx_run, WEFT_IDE_SPOILT_CRC, offset, other) == rc);
	if (rc != 0)
		return;
	FUZZ_CHECK(memcmp(flit, other, WEFT_FLIT_LEN) == 0);
	memcpy(x->wire[x->n_wire], x->wire[x->n_wire - 1], WEFT_FLIT_LEN);
	memcpy(x->wire[x->n_wire - 1], flit, WEFT_FLIT_LEN);
	x->n_wire++;
	poison_add(p, offset);
}

static enum weft_ide_close
send_close(struct script *x)
{
	uint8_t other[WEFT_FLIT_LEN], *flit = x->wire[x->n_wire];
	const enum weft_ide_close c = weft_ide_close(x->tx, flit);

	FUZZ_CHECK(weft_ide_close(x->tx_run, other) == c);
	if (c != WEFT_IDE_CLOSE_TMAC)
		return c;
	FUZZ_CHECK(memcmp(flit, other, WEFT_FLIT_LEN) == 0);
	(void)wire_add(x);
	x->in_epoch = 0;
	x->ended++;
	x->others = 0;
	return c;
}

static void
send_start(struct script *x)
{
	uint8_t other[WEFT_FLIT_LEN], *flit = x->wire[x->n_wire];
	const int rc = weft_ide_start(x->tx, flit);

	FUZZ_CHECK(weft_ide_start(x->tx_run, other) == rc);
	if (rc != 0)
		return;
	FUZZ_CHECK(memcmp(flit, other, WEFT_FLIT_LEN) == 0);
	(void)wire_add(x);
	x->key++;
	x->ended = 0;
	x->in_epoch = 0;
}

static void
send_stop(struct script *x)
{
	uint8_t other[WEFT_FLIT_LEN], *flit = x->wire[x->n_wire];
	const int rc = weft_ide_stop(x->tx, flit);

	FUZZ_CHECK(weft_ide_stop(x->tx_run, other) == rc);
	FUZZ_CHECK(rc == 0 || !x->cfg.stop || rc == -EPROTO);
	if (rc == 0)
		(void)wire_add(x);
}

static void
give_key(struct script *x)
{
	struct weft_ide_stream *const all[] = { x->tx, x->tx_run, x->rx, x->rx_run };
	uint8_t key[WEFT_IDE_KEY_LEN] = { 0 };

	if (weft_ide_has_next_key(x->tx) || weft_ide_has_next_key(x->rx))
		return;
	weft_put_le32(key, ++x->keys);
	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(all); i++)
		weft_ide_stream_next_key(all[i], lib, key);
}

/* --- receiver --- */

/* What IDE protects of two flits is the same: the slots but for IDE.MAC's, and the credits. */
static bool
same(const struct script *x, const uint8_t *a, const uint8_t *b)
{
	const bool is_mac = weft_llctrl_get(b + WEFT_FLIT_H_OFF) == WEFT_LLCTRL_IDE_MAC;
	const unsigned int from = is_mac ? WEFT_FLIT_SLOT_LEN : WEFT_FLIT_H_OFF;

	if (weft_llctrl_get(a + WEFT_FLIT_H_OFF) != weft_llctrl_get(b + WEFT_FLIT_H_OFF))
		return false;
	if (x->cfg.format == WEFT_IDE_STANDARD)
		return memcmp(a + from, b + from, 242 - from) == 0;
	return memcmp(a + from, b + from, 122 - from) == 0 &&
	       memcmp(a + 128, b + 128, 244 - 128) == 0;
}

/* The MAC of an epoch is good: it was sealed as it is here, right behind what came before. */
static void
prove(struct script *x, struct epoch *e)
{
	unsigned int left = e->n;

	for (unsigned int i = 0; i < e->n; i++) {
		const struct opened *o = &e->o[i];
		const uint64_t serial = weft_get_le64(o->flit + SERIAL_OFF);
		const struct sent *s = &x->sent[serial % SENT_MAX];

		FUZZ_CHECK(serial < x->n_sent && same(x, o->flit, s->plain));
		FUZZ_CHECK(
			serial == x->n_proven || (serial > x->n_proven && x->n_proven < SENT_MAX &&
							 s->key != x->sent[x->n_proven].key));
		if (x->cfg.poison)
			FUZZ_CHECK(o->poison.n == s->poison.n &&
				   memcmp(o->poison.offset, s->poison.offset, o->poison.n) == 0);
		x->n_proven = (unsigned int)serial + 1;
	}
	for (unsigned int i = 0; i < x->held.n && left > 0; i++)
		if (x->held.is_unproven[i]) {
			x->held.is_unproven[i] = false;
			left--;
		}
	e->n = 0;
}

static void
queue_drop(struct queue *q, unsigned int n)
{
	FUZZ_CHECK(n <= q->n);
	q->n -= n;
	memmove(q->flit, q->flit[n], q->n * sizeof(q->flit[0]));
	memmove(q->is_unproven, q->is_unproven + n, q->n * sizeof(q->is_unproven[0]));
}

/* A flit that was opened, in a state that is protected. */
static void
opened_flit(struct script *x, const uint8_t *flit, int c, const struct weft_ide_event *e)
{
	const bool is_protocol = weft_flit_is_protocol(flit);

	if (e->epoch_good)
		prove(x, c == WEFT_LLCTRL_IDE_TMAC ? &x->open : &x->full);
	if (c == WEFT_LLCTRL_POISON && flit[0] >> 6 == WEFT_FLIT_CACHEMEM)
		poison_add(&x->came, flit[WEFT_FLIT_H_OFF + WEFT_LLCTRL_PAYLOAD_OFF] & 0xF);
	if (!is_protocol || e->verdict != WEFT_OK)
		return;
	memcpy(x->open.o[x->open.n].flit, flit, WEFT_FLIT_LEN);
	x->open.o[x->open.n++].poison = x->came;
	x->came.n = 0;
	if (x->open.n == weft_ide_epoch_flits(x->cfg.mode)) {
		FUZZ_CHECK(x->full.n == 0);
		x->full = x->open;
		x->open.n = 0;
	}
}

/* One flit to the receiver of single ones. @p let_go: how many went on before in this call. */
static unsigned int
receive(struct script *x, const uint8_t *wire, unsigned int let_go, struct weft_ide_run *sum)
{
	const bool was_bad = weft_ide_is_insecure(x->rx), was_clear = weft_ide_is_stopped(x->rx);
	struct queue *q = &x->held;
	uint8_t *flit = q->flit[q->n];
	struct weft_ide_event e;

	memcpy(flit, wire, WEFT_FLIT_LEN);
	q->is_unproven[q->n++] = !was_bad && !was_clear && weft_flit_is_protocol(wire);
	weft_ide_open(x->rx, flit, &e);
	FUZZ_CHECK(weft_ide_is_insecure(x->rx) == (was_bad || e.verdict != WEFT_OK));
	if (was_bad)
		FUZZ_CHECK(e.verdict == WEFT_DROP_IDE_INSECURE && e.release == 0 && !e.epoch_good);
	if (!was_bad && !was_clear)
		opened_flit(x, flit, weft_llctrl_get(wire + WEFT_FLIT_H_OFF), &e);
	if (weft_ide_is_stopped(x->rx))
		x->came.n = 0;
	FUZZ_CHECK(e.release <= q->n);
	for (unsigned int i = 0; i < e.release; i++)
		FUZZ_CHECK(x->cfg.mode == WEFT_IDE_SKID || !q->is_unproven[i]);
	memcpy(x->let_go[let_go], q->flit[0], e.release * (size_t)WEFT_FLIT_LEN);
	queue_drop(q, (unsigned int)(e.release + e.dropped));
	FUZZ_CHECK(q->n == weft_ide_held(x->rx) && q->n <= WEFT_IDE_HELD_MAX);

	sum->release = (uint8_t)(sum->release + e.release);
	sum->epochs_good = (uint8_t)(sum->epochs_good + e.epoch_good);
	if (e.verdict == WEFT_DROP_IDE_MAC)
		sum->failed = (uint8_t)(sum->failed + e.dropped);
	else
		sum->insecure = (uint8_t)(sum->insecure + e.dropped);
	return e.release;
}

/* The counter only grows under one key, and a new key begins at 1. */
static void
check_counter(struct script *x)
{
	const uint64_t counter = weft_ide_counter(x->rx), starts = weft_ide_counts(x->rx)->starts;

	FUZZ_CHECK(starts > x->starts || (starts == x->starts && counter >= x->counter));
	x->starts = starts;
	x->counter = counter;
}

/* @p n flits of the wire to both receivers, @p stride places apart in the run. */
static void
deliver(struct script *x, unsigned int n, unsigned int stride)
{
	uint8_t *run = fuzz_alloc((size_t)CALL_MAX * WEFT_FLIT_LEN);
	struct weft_ide_run sum = { 0 }, got;
	struct queue *q = &x->held_run;
	unsigned int let_go = 0;
	uint64_t live = 0;

	n = n < CALL_MAX / stride ? n : CALL_MAX / stride;
	n = n < x->n_wire ? n : x->n_wire;
	memset(run, 0xEE, (size_t)CALL_MAX * WEFT_FLIT_LEN);
	for (unsigned int i = 0; i < n; i++) {
		memcpy(run + i * stride * (size_t)WEFT_FLIT_LEN, x->wire[i], WEFT_FLIT_LEN);
		live |= WEFT_BIT64(i * stride);
		let_go += receive(x, x->wire[i], let_go, &sum);
	}
	weft_ide_open_run(x->rx_run, run, live, &got);
	FUZZ_CHECK(got.release == sum.release && got.failed == sum.failed);
	FUZZ_CHECK(got.insecure == sum.insecure && got.epochs_good == sum.epochs_good);
	for (unsigned int i = 0; i < n; i++)
		memcpy(q->flit[q->n++], run + i * stride * (size_t)WEFT_FLIT_LEN, WEFT_FLIT_LEN);
	FUZZ_CHECK(memcmp(q->flit, x->let_go, let_go * (size_t)WEFT_FLIT_LEN) == 0);
	queue_drop(q, (unsigned int)(got.release + got.failed + got.insecure));
	FUZZ_CHECK(q->n == weft_ide_held(x->rx_run) && q->n == x->held.n);

	FUZZ_CHECK(weft_ide_is_insecure(x->rx_run) == weft_ide_is_insecure(x->rx));
	FUZZ_CHECK(weft_ide_is_stopped(x->rx_run) == weft_ide_is_stopped(x->rx));
	/* Of a stream that failed nobody needs it. */
	FUZZ_CHECK(weft_ide_is_insecure(x->rx) ||
		   weft_ide_counter(x->rx_run) == weft_ide_counter(x->rx));
	FUZZ_CHECK(memcmp(weft_ide_counts(x->rx), weft_ide_counts(x->rx_run),
			   sizeof(struct weft_ide_counts)) == 0);
	FUZZ_CHECK(x->is_damaged || !weft_ide_is_insecure(x->rx));
	check_counter(x);
	if (n > 0)
		memcpy(x->old, x->wire[0], WEFT_FLIT_LEN);
	x->n_wire -= n;
	memmove(x->wire, x->wire[n], x->n_wire * sizeof(x->wire[0]));
	x->ends_in_protocol &= x->n_wire > 0;
	free(run);
}

/* --- the wire --- */

static void
damage(struct script *x, uint8_t how)
{
	const unsigned int at = x->n_wire == 0 ? 0 : fuzz_u8(&x->in) % x->n_wire;
	uint8_t(*f)[WEFT_FLIT_LEN] = x->wire, t[WEFT_FLIT_LEN];

	if (x->n_wire == 0)
		return;
	x->is_damaged = true;
	switch (how >> 3 & 7) {
	case 0: f[at][fuzz_u8(&x->in)] ^= (uint8_t)(1 + fuzz_u8(&x->in) % 255); break;
	case 1: f[at][fuzz_u8(&x->in) % WEFT_FLIT_SLOT_LEN] = fuzz_u8(&x->in); break;
	case 2: /* lost */
		x->n_wire--;
		memmove(f[at], f[at + 1], (x->n_wire - at) * sizeof(f[0]));
		break;
	case 3: /* repeated */
		if (x->n_wire < WIRE_MAX) {
			memmove(f[at + 1], f[at], (x->n_wire - at) * sizeof(f[0]));
			x->n_wire++;
		}
		break;
	case 4: /* swapped */
		memcpy(t, f[at], sizeof(t));
		memcpy(f[at], f[x->n_wire - 1], sizeof(t));
		memcpy(f[x->n_wire - 1], t, sizeof(t));
		break;
	case 5: memcpy(f[at], x->old, WEFT_FLIT_LEN); break; /* played back */
	case 6: /* a truncated epoch */
		weft_rand_fill(&x->rnd, t, sizeof(t));
		weft_llctrl_put(f[at], WEFT_LLCTRL_IDE_TMAC, t);
		break;
	default: weft_rand_fill(&x->rnd, f[at], WEFT_FLIT_LEN); break;
	}
	x->ends_in_protocol = false;
}

static void
step(struct script *x)
{
	const uint8_t how = fuzz_u8(&x->in);

	if (x->n_wire + 2 + x->cfg.truncation_delay + x->cfg.refresh_idles >= WIRE_MAX)
		deliver(x, CALL_MAX, 1);
	switch (how & 7) {
	case 0: damage(x, how); break;
	case 1: send_flits(x, 1 + (how >> 3)); break;
	case 2: send_flits(x, 1 + (how >> 3) % 2); break;
	case 3: deliver(x, 1 + (how >> 4) * 4u, how & 8 ? 2 : 1); break;
	case 4: send_wrong(x, how); break;
	case 5: send_poison(x, how >> 3 & 7); break;
	case 6: send_poison_last(x, how >> 3 & 7); break;
	default:
		switch (how >> 4 & 7) {
		case 0: send_other(x, how); break;
		case 1: give_key(x); break;
		case 2: send_start(x); break;
		case 3: send_stop(x); break;
		default: (void)send_close(x); break;
		}
		break;
	}
	check_senders(x);
}

/* Let the receiver have everything. */
static void
finish(struct script *x)
{
	while (x->n_wire > 0)
		deliver(x, CALL_MAX, 1);
	for (unsigned int i = 0; i < 4 && send_close(x) == WEFT_IDE_CLOSE_CARRIER; i++)
		send_flits(x, 1);
	while (x->n_wire > 0)
		deliver(x, CALL_MAX, 1);
	if (x->is_damaged || x->n_sent == SENT_MAX)
		return;
	FUZZ_CHECK(x->n_proven == x->n_sent && weft_ide_held(x->rx) == 0);
	FUZZ_CHECK(weft_ide_counts(x->rx)->idles_missing == 0);
	FUZZ_CHECK(weft_ide_counts(x->rx)->starts_ignored == 0);
	FUZZ_CHECK(weft_ide_counts(x->rx)->stops_ignored == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct script *x = &script;
	uint8_t how;

	if (lib == NULL)
		lib = weft_ide_lib_open(weft_cpu_detect());
	FUZZ_CHECK(lib != NULL);
	memset(x, 0, offsetof(struct script, held));
	x->held.n = x->held_run.n = 0;
	x->in = (struct fuzz_in){ data, len };
	weft_rand_seed(&x->rnd, 1);
	how = fuzz_u8(&x->in);
	x->cfg = (struct weft_ide_config){ .mode = how & 1 ? WEFT_IDE_SKID : WEFT_IDE_CONTAINMENT,
		.pcrc = (how & 2) != 0,
		.format = how & 4 ? WEFT_IDE_LOPT : WEFT_IDE_STANDARD,
		.stop = (how & 8) != 0,
		.poison = (how & 16) != 0,
		.truncation_delay = how & 32 ? 3 : 0,
		.refresh_idles = how & 32 ? 2 : 0 };
	x->tx = stream(x);
	x->tx_run = stream(x);
	x->rx = stream(x);
	x->rx_run = stream(x);
	x->counter = 1;
	while (x->in.n > 0)
		step(x);
	finish(x);
	free(x->tx);
	free(x->tx_run);
	free(x->rx);
	free(x->rx_run);
	return 0;
}
