/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * IDE of an end: keys by generation, where epochs end, what containment holds back. A key of the
 * next generation is always ready at the receiver, so IDE.Start needs no answer.
 */

#include "link_ide_priv.h"

#include "weft_base.h"

static bool
link_ide_make_key(struct link_ide *s, bool from_initiator, uint64_t generation, uint8_t *key)
{
	return generation <= UINT32_MAX &&
	       s->cfg.key(s->cfg.arg, &s->deal, from_initiator, (uint32_t)generation, key);
}

static bool
link_ide_ready_next_key(struct link_ide *s, struct weft_ide_stream *stream, bool from_initiator,
	uint64_t generation)
{
	uint8_t key[WEFT_IDE_KEY_LEN];
	const bool good = link_ide_make_key(s, from_initiator, generation, key);

	if (good)
		weft_ide_stream_next_key(stream, s->cfg.lib, key);
	explicit_bzero(key, sizeof(key));
	return good;
}

static struct weft_ide_stream *
link_ide_make_stream(struct link_ide *s, bool from_initiator)
{
	const uint16_t bits = s->deal.initiator.ide_bits;
	const struct weft_ide_config c = {
		.mode = (enum weft_ide_mode)s->deal.initiator.ide_mode,
		.pcrc = (bits & WEFT_CONTROL_IDE_NO_PCRC) == 0,
		.stop = (bits & WEFT_CONTROL_IDE_STOP) != 0,
		.poison = (bits & WEFT_CONTROL_IDE_POISON) != 0,
	};
	uint8_t key[WEFT_IDE_KEY_LEN];
	struct weft_ide_stream *stream = NULL;

	if (link_ide_make_key(s, from_initiator, 0, key))
		stream = weft_ide_stream_setup(
			(uint8_t *)s->cfg.mem +
				(from_initiator == s->is_initiator ? 0 : weft_ide_stream_size()),
			s->cfg.lib, &c, key, 1);
	explicit_bzero(key, sizeof(key));
	if (stream != NULL && link_ide_ready_next_key(s, stream, from_initiator, 1))
		return stream;
	if (stream != NULL)
		weft_ide_stream_wipe(stream);
	return NULL;
}

bool
link_ide_begin(struct link_ide *s, const struct weft_session *session, uint64_t now_ns)
{
	weft_session_transcript(session, &s->deal);
	s->is_initiator = session->cfg.is_initiator;
	s->tx = link_ide_make_stream(s, s->is_initiator);
	s->rx = link_ide_make_stream(s, !s->is_initiator);
	s->key_ns = now_ns;
	weft_ide_pace_init(&s->pace, (enum weft_ide_mode)s->deal.initiator.ide_mode);
	s->is_broken = s->tx == NULL || s->rx == NULL;
	return !s->is_broken;
}

void
link_ide_end(struct link_ide *s)
{
	if (s->tx != NULL)
		weft_ide_stream_wipe(s->tx);
	if (s->rx != NULL)
		weft_ide_stream_wipe(s->rx);
	explicit_bzero((uint8_t *)s + offsetof(struct link_ide, deal),
		sizeof(*s) - offsetof(struct link_ide, deal));
	s->n_streams++;
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
	if (weft_ide_start(s->tx, flit) != 0 ||
		!link_ide_ready_next_key(s, s->tx, s->is_initiator, s->tx_keys + 2)) {
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

void
link_ide_opened(struct link_ide *s, const struct weft_ide_run *run)
{
	if (run->failed != 0)
		s->is_broken = true;
	if (s->rx == NULL || weft_ide_counts(s->rx)->starts == s->rx_keys)
		return;
	s->rx_keys++;
	if (!link_ide_ready_next_key(s, s->rx, !s->is_initiator, s->rx_keys + 1))
		s->is_broken = true;
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
	const unsigned int from = s->rx == NULL ? 0 : weft_ide_held(s->rx);
	unsigned int n = 1;

	*run = (struct weft_ide_run){ 0 };
	if (from >= h->n)
		return 0;
	if (s->rx == NULL || s->is_broken) {
		n = h->n - from;
		run->insecure = (uint8_t)n;
	} else {
		while (n < WEFT_WIRE_FLITS_MAX && from + n < h->n &&
			!link_ide_is_start(h->flit[h->head + from + n - 1]))
			n++;
		weft_ide_open_run(s->rx, h->flit[h->head + from], weft_mask64(n), run);
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
