/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * IDE of an end: keys by generation, where epochs end, what containment holds back. A key of the
 * next generation is always ready at the receiver, so IDE.Start needs no answer.
 */

#include "link_ide_priv.h"

#include "weft_base.h"

#define CHECK_DOUBLED_MAX 10 /* of 200 ms, the pause of an end that stays idle becomes 205 s */

static bool
link_ide_make_key(const struct weft_link_ide *cfg, const struct weft_session_transcript *deal,
	bool from_initiator, uint64_t generation, uint8_t *key)
{
	return generation <= UINT32_MAX &&
	       cfg->key(cfg->arg, deal, from_initiator, (uint32_t)generation, key);
}

static bool
link_ide_ready_next_key(const struct weft_link_ide *cfg, const struct weft_session_transcript *deal,
	struct weft_ide_stream *stream, bool from_initiator, uint64_t generation)
{
	uint8_t key[WEFT_IDE_KEY_LEN];
	const bool good = link_ide_make_key(cfg, deal, from_initiator, generation, key);

	if (good)
		weft_ide_stream_next_key(stream, cfg->lib, key);
	explicit_bzero(key, sizeof(key));
	return good;
}

/* In the @p place-th part of the memory for keys: 0 for what is sent, 1 for what comes. */
static struct weft_ide_stream *
link_ide_make_stream(const struct weft_link_ide *cfg, const struct weft_session_transcript *deal,
	bool from_initiator, unsigned int place)
{
	const uint16_t bits = deal->initiator.ide_bits;
	const struct weft_ide_config c = {
		.mode = (enum weft_ide_mode)deal->initiator.ide_mode,
		.pcrc = (bits & WEFT_CONTROL_IDE_NO_PCRC) == 0,
		.stop = (bits & WEFT_CONTROL_IDE_STOP) != 0,
		.poison = (bits & WEFT_CONTROL_IDE_POISON) != 0,
	};
	uint8_t key[WEFT_IDE_KEY_LEN];
	struct weft_ide_stream *stream = NULL;

	if (link_ide_make_key(cfg, deal, from_initiator, 0, key))
		stream = weft_ide_stream_setup(
			(uint8_t *)cfg->mem + place * weft_ide_stream_size(), cfg->lib, &c, key, 1);
	explicit_bzero(key, sizeof(key));
	if (stream != NULL && link_ide_ready_next_key(cfg, deal, stream, from_initiator, 1))
		return stream;
	if (stream != NULL)
		weft_ide_stream_wipe(stream);
	return NULL;
}

/* --- a session, at either half --- */

static void
link_ide_rx_begin(
	struct link_ide_rx *rx, uint32_t session, const struct weft_session_transcript *deal)
{
	rx->deal = deal;
	rx->now.session = session;
	rx->now.stream = link_ide_make_stream(rx->cfg, deal, rx->from_initiator, 1);
	rx->is_broken = rx->now.stream == NULL;
}

static void
link_ide_rx_end(struct link_ide_rx *rx)
{
	if (rx->now.stream != NULL)
		weft_ide_stream_wipe(rx->now.stream);
	rx->now.stream = NULL;
	rx->now.session = 0;
	rx->keys = 0;
	rx->is_broken = false;
}

/* To the other lcore: session @p id, or that there is none. */
static void
link_ide_tell(struct link_ide *s, uint32_t id)
{
	struct link_ide_session *told = &s->apart->session[s->place];

	*told = (struct link_ide_session){ .number = s->number, .id = id, .deal = s->deal };
	s->place =
		__atomic_exchange_n(&s->apart->third, s->place | LINK_IDE_FRESH, __ATOMIC_ACQ_REL) &
		~LINK_IDE_FRESH;
}

static void
link_ide_rx_fail(struct link_ide_rx *rx)
{
	rx->is_broken = true;
	if (rx->apart != NULL)
		__atomic_store_n(&rx->apart->failed, rx->now.number, __ATOMIC_RELAXED);
}

void
link_ide_rx_hear(struct link_ide_rx *rx)
{
	struct link_ide_apart *a = rx->apart;
	const struct link_ide_session *told;

	if ((__atomic_load_n(&a->third, __ATOMIC_RELAXED) & LINK_IDE_FRESH) == 0)
		return;
	rx->place = __atomic_exchange_n(&a->third, rx->place, __ATOMIC_ACQ_REL) & ~LINK_IDE_FRESH;
	told = &a->session[rx->place];
	link_ide_rx_end(rx);
	rx->now.number = told->number;
	if (told->id != 0)
		link_ide_rx_begin(rx, told->id, &told->deal);
	if (rx->is_broken)
		link_ide_rx_fail(rx);
}

void
link_ide_hear(struct link_ide *s)
{
	if (s->apart != NULL && __atomic_load_n(&s->apart->failed, __ATOMIC_RELAXED) == s->number)
		s->is_broken = true;
}

void
link_ide_init(struct link_ide *s, const struct weft_link_ide *cfg, bool is_initiator,
	struct link_ide_apart *apart)
{
	*s = (struct link_ide){ .cfg = *cfg, .apart = apart, .is_initiator = is_initiator };
	s->rx.cfg = &s->cfg;
	s->rx.from_initiator = !is_initiator;
	s->rx.apart = apart;
	if (apart == NULL)
		return;
	memset(apart, 0, sizeof(*apart));
	s->number = 1; /* 0 is what no session has failed with */
	s->place = 1;
	s->rx.place = 2;
}

bool
link_ide_begin(struct link_ide *s, const struct weft_session *session, uint64_t now_ns)
{
	s->number++;
	weft_session_transcript(session, &s->deal);
	s->tx = link_ide_make_stream(&s->cfg, &s->deal, s->is_initiator, 0);
	s->key_ns = now_ns;
	weft_ide_pace_init(&s->pace, (enum weft_ide_mode)s->deal.initiator.ide_mode);
	s->is_broken = s->tx == NULL;
	if (s->apart != NULL) {
		link_ide_tell(s, session->id);
	} else {
		link_ide_rx_begin(&s->rx, session->id, &s->deal);
		s->rx.now.number = s->number;
		s->is_broken |= s->rx.is_broken;
	}
	return !s->is_broken;
}

void
link_ide_end(struct link_ide *s)
{
	s->number++;
	if (s->tx != NULL)
		weft_ide_stream_wipe(s->tx);
	explicit_bzero((uint8_t *)s + offsetof(struct link_ide, deal),
		sizeof(*s) - offsetof(struct link_ide, deal));
	if (s->apart != NULL) {
		link_ide_tell(s, 0);
		return;
	}
	link_ide_rx_end(&s->rx);
	s->rx.now.number = s->number;
}

void
link_ide_fini(struct link_ide *s)
{
	link_ide_end(s);
	link_ide_rx_end(&s->rx);
}

/* --- sender --- */

void
link_ide_flush(struct link_ide *s)
{
	unsigned int n;

	if (s->n_unsealed == 0)
		return;
	n = weft_ide_seal_run(s->tx, s->unsealed, s->n_unsealed);
	assert(n == s->n_unsealed); /* MACs have their places, and no idles are asked for */
	s->sealed += n;
	s->n_unsealed = 0;
}

void
link_ide_seal(struct link_ide *s, uint8_t *flit)
{
	/* The buffer is a ring. */
	if (s->n_unsealed != 0 && flit != s->unsealed + s->n_unsealed * (size_t)WEFT_FLIT_LEN)
		link_ide_flush(s);
	if (s->n_unsealed++ == 0)
		s->unsealed = flit;
	weft_ide_pace_flit(&s->pace);
	s->n_poison = 0;
	s->n_checks = 0;
	s->is_open = s->is_fresh = true;
	if (++s->key_flits >= s->cfg.rekey_flits)
		s->rekey_due = true;
}

bool
link_ide_may_poison(const struct link_ide *s)
{
	return s->n_poison < WEFT_IDE_POISON_MAX;
}

void
link_ide_poison(struct link_ide *s, const uint8_t *flit)
{
	uint8_t poison[WEFT_FLIT_LEN];
	int rc;

	link_ide_flush(s);
	memcpy(poison, flit, WEFT_FLIT_LEN);
	rc = weft_ide_seal(s->tx, poison); /* it passes as it is */
	assert(rc == 0);
	(void)rc;
	s->n_poison++;
}

enum weft_ide_close
link_ide_close(struct link_ide *s, uint8_t *flit)
{
	enum weft_ide_close c;

	link_ide_flush(s);
	c = weft_ide_close(s->tx, flit);
	if (c == WEFT_IDE_CLOSE_TMAC)
		weft_ide_pace_close(&s->pace);
	return c;
}

bool
link_ide_must_close(struct link_ide *s, uint64_t now_ns, uint64_t delay_ns)
{
	if (s->is_fresh)
		s->sealed_ns = now_ns;
	s->is_fresh = false;
	/* A key that has sealed nothing is as good as new. */
	if (s->key_flits != 0 && now_ns >= s->key_ns + s->cfg.rekey_ns)
		s->rekey_due = true;
	if (s->rekey_due)
		return true;
	/* In containment the other end has nothing of the epoch before its MAC. */
	return s->is_open && (s->deal.initiator.ide_mode == WEFT_IDE_CONTAINMENT ||
				     now_ns >= s->sealed_ns + delay_ns);
}

/* RETRY-30 */
uint64_t
link_ide_check_ns(const struct link_ide *s, uint64_t idle_ns)
{
	return s->sealed == 0 || s->is_open ? UINT64_MAX : s->sealed_ns + (idle_ns << s->n_checks);
}

void
link_ide_checks(struct link_ide *s, uint8_t n_checks)
{
	s->n_checks = n_checks < CHECK_DOUBLED_MAX ? n_checks : CHECK_DOUBLED_MAX;
}

uint64_t
link_ide_deadline(const struct link_ide *s, uint64_t delay_ns)
{
	uint64_t at = s->key_flits == 0 ? UINT64_MAX : s->key_ns + s->cfg.rekey_ns;

	if (s->rekey_due || s->is_fresh ||
		(s->is_open && s->deal.initiator.ide_mode == WEFT_IDE_CONTAINMENT))
		return 0;
	if (s->is_open && s->sealed_ns + delay_ns < at)
		at = s->sealed_ns + delay_ns;
	return at;
}

bool
link_ide_start(struct link_ide *s, uint8_t *flit, uint64_t now_ns)
{
	if (weft_ide_start(s->tx, flit) != 0 || !link_ide_ready_next_key(&s->cfg, &s->deal, s->tx,
							s->is_initiator, s->tx_keys + 2)) {
		s->is_broken = true;
		return false;
	}
	s->tx_keys++;
	s->key_flits = 0;
	s->key_ns = now_ns;
	s->rekey_due = false;
	return true;
}

/* --- receiver --- */

bool
link_ide_opened(struct link_ide_rx *rx, const struct weft_ide_run *run)
{
	const bool was_broken = rx->is_broken;

	rx->count[WEFT_LINK_N_IDE_EPOCHS] += run->epochs_good;
	rx->count[WEFT_LINK_N_IDE_DROPPED] += (uint64_t)run->failed + run->insecure;
	if (run->failed != 0)
		link_ide_rx_fail(rx);
	if (rx->now.stream != NULL && weft_ide_counts(rx->now.stream)->starts != rx->keys) {
		rx->keys++;
		rx->count[WEFT_LINK_N_IDE_REKEYED]++;
		if (!link_ide_ready_next_key(
			    rx->cfg, rx->deal, rx->now.stream, rx->from_initiator, rx->keys + 1))
			link_ide_rx_fail(rx);
	}
	rx->count[WEFT_LINK_N_IDE_FAILURES] += rx->is_broken && !was_broken;
	return rx->is_broken && !was_broken;
}

bool
link_ide_take(struct link_ide_hold *h, const uint8_t *flit, bool skip)
{
	if (h->n == LINK_IDE_ROOM)
		return false;
	if (h->head + h->n == LINK_IDE_ROOM) {
		memmove(h->flit[0], h->flit[h->head], h->n * (size_t)WEFT_FLIT_LEN);
		memmove(h->skip, h->skip + h->head, h->n * sizeof(h->skip[0]));
		h->head = 0;
	}
	memcpy(h->flit[h->head + h->n], flit, WEFT_FLIT_LEN);
	h->skip[h->head + h->n] = skip;
	h->n++;
	return true;
}

static bool
link_ide_is_start(const uint8_t *flit)
{
	return flit[0] >> 6 == WEFT_FLIT_CACHEMEM &&
	       weft_llctrl_get(flit + WEFT_FLIT_H_OFF) == WEFT_LLCTRL_IDE_START;
}

unsigned int
link_ide_open(struct link_ide *s, struct link_ide_hold *h, struct weft_ide_run *run)
{
	struct weft_ide_stream *stream = s->rx.now.stream;
	const unsigned int from = stream == NULL ? 0 : weft_ide_held(stream);
	unsigned int n = 1;

	*run = (struct weft_ide_run){ 0 };
	if (from >= h->n)
		return 0;
	if (stream == NULL || s->is_broken) {
		n = h->n - from;
		run->insecure = (uint8_t)n;
	} else {
		while (n < WEFT_WIRE_FLITS_MAX && from + n < h->n &&
			!link_ide_is_start(h->flit[h->head + from + n - 1]))
			n++;
		weft_ide_open_run(stream, h->flit[h->head + from], weft_mask64(n), run);
		if (run->failed != 0)
			run->insecure = (uint8_t)(run->insecure + h->n - from - n);
	}
	h->n -= run->failed + run->insecure;
	return n;
}

const uint8_t *
link_ide_released(struct link_ide_hold *h, bool *skip)
{
	const unsigned int at = h->head;

	assert(h->n != 0);
	h->n--;
	h->head = h->n == 0 ? 0 : at + 1;
	*skip = h->skip[at];
	return h->flit[at];
}
