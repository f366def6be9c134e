/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * IDE of an end: keys by generation, where epochs end, what containment holds back. A key of the next
 * generation is always ready at the receiver, so IDE.Start needs no answer.
 */

#include "end_ide_priv.h"

#include "weft_base.h"

static bool
make_key(struct end_ide *s, bool from_asks, uint64_t generation, uint8_t *key)
{
	return generation <= UINT32_MAX &&
	       s->cfg.key(s->cfg.arg, &s->deal, from_asks, (uint32_t)generation, key);
}

static bool
ready_next_key(
	struct end_ide *s, struct weft_ide_stream *stream, bool from_asks, uint64_t generation)
{
	uint8_t key[WEFT_IDE_KEY_LEN];
	const bool good = make_key(s, from_asks, generation, key);

	if (good)
		weft_ide_stream_next_key(stream, s->cfg.lib, key);
	explicit_bzero(key, sizeof(key));
	return good;
}

static struct weft_ide_stream *
make_stream(struct end_ide *s, bool from_asks)
{
	const uint16_t bits = s->deal.asks.ide_bits;
	const struct weft_ide_config c = {
		.mode = (enum weft_ide_mode)s->deal.asks.ide_mode,
		.pcrc = (bits & WEFT_CONTROL_IDE_NO_PCRC) == 0,
		.stop = (bits & WEFT_CONTROL_IDE_STOP) != 0,
		.poison = (bits & WEFT_CONTROL_IDE_POISON) != 0,
	};
	uint8_t key[WEFT_IDE_KEY_LEN];
	struct weft_ide_stream *stream = NULL;

	if (make_key(s, from_asks, 0, key))
		stream = weft_ide_stream_setup(
			(uint8_t *)s->cfg.mem + (from_asks == s->asks ? 0 : weft_ide_stream_size()),
			s->cfg.lib, &c, key, 1);
	explicit_bzero(key, sizeof(key));
	if (stream != NULL && ready_next_key(s, stream, from_asks, 1))
		return stream;
	if (stream != NULL)
		weft_ide_stream_wipe(stream);
	return NULL;
}

bool
end_ide_begin(struct end_ide *s, const struct weft_session *session, uint64_t now_ns)
{
	end_ide_end(s);
	weft_session_deal(session, &s->deal);
	s->asks = session->cfg.asks;
	s->tx = make_stream(s, s->asks);
	s->rx = make_stream(s, !s->asks);
	s->key_ns = now_ns;
	s->is_broken = s->tx == NULL || s->rx == NULL;
	return !s->is_broken;
}

void
end_ide_end(struct end_ide *s)
{
	if (s->tx != NULL)
		weft_ide_stream_wipe(s->tx);
	if (s->rx != NULL)
		weft_ide_stream_wipe(s->rx);
	*s = (struct end_ide){ .cfg = s->cfg };
}

/* --- sender --- */

void
end_ide_seal(struct end_ide *s, uint8_t *flit)
{
	const int rc = weft_ide_seal(s->tx, flit);

	assert(rc == 0); /* the packer was told where the MAC goes, and no idles are asked for */
	(void)rc;
	s->is_open = s->is_fresh = true;
	if (++s->key_flits >= s->cfg.rekey_flits)
		s->rekey_due = true;
}

bool
end_ide_must_close(struct end_ide *s, uint64_t now_ns, uint64_t delay_ns)
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
	return s->is_open &&
	       (s->deal.asks.ide_mode == WEFT_IDE_CONTAINMENT || now_ns >= s->sealed_ns + delay_ns);
}

uint64_t
end_ide_deadline(const struct end_ide *s, uint64_t delay_ns)
{
	uint64_t at = s->key_flits == 0 ? UINT64_MAX : s->key_ns + s->cfg.rekey_ns;

	if (s->rekey_due || s->is_fresh ||
		(s->is_open && s->deal.asks.ide_mode == WEFT_IDE_CONTAINMENT))
		return 0;
	if (s->is_open && s->sealed_ns + delay_ns < at)
		at = s->sealed_ns + delay_ns;
	return at;
}

bool
end_ide_start(struct end_ide *s, uint8_t *flit, uint64_t now_ns)
{
	if (weft_ide_start(s->tx, flit) != 0 ||
		!ready_next_key(s, s->tx, s->asks, s->tx_keys + 2)) {
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
end_ide_open(struct end_ide *s, const uint8_t *flit, bool skip, unsigned int *release,
	unsigned int *dropped)
{
	struct end_ide_held *h = &s->held[(s->head + s->n_held) % WEFT_ARRAY_SIZE(s->held)];
	struct weft_ide_event ev;

	*release = 0;
	*dropped = 1;
	if (s->is_broken || s->rx == NULL)
		return false;
	memcpy(h->flit, flit, WEFT_FLIT_LEN);
	h->skip = skip;
	s->n_held++;
	weft_ide_open(s->rx, h->flit, &ev);
	*release = ev.release;
	*dropped = ev.dropped;
	s->is_broken = ev.verdict != WEFT_OK;
	if (weft_ide_counts(s->rx)->starts > s->rx_keys) {
		s->rx_keys++;
		if (!ready_next_key(s, s->rx, !s->asks, s->rx_keys + 1))
			s->is_broken = true;
	}
	return ev.epoch_good;
}

const struct end_ide_held *
end_ide_released(struct end_ide *s)
{
	const struct end_ide_held *h = &s->held[s->head];

	assert(s->n_held != 0);
	s->head = (uint8_t)((s->head + 1) % WEFT_ARRAY_SIZE(s->held));
	s->n_held--;
	return h;
}
