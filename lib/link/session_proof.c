/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * With IDE (doc/session.md, doc/ide.md): proofs of the pre-shared key over the transcript, and
 * MACs of control frames with keys of the session. Comparisons take constant time.
 */

#include "session_priv.h"

#include "weft_base.h"

/* SESS-25 */
bool
session_draw_share(struct weft_session *s)
{
	if (!session_has_ide(s) ||
		s->cfg.keys->random(s->cfg.keys->arg, s->offer_random, WEFT_RANDOM_LEN))
		return true;
	s->count[WEFT_SESSION_N_NO_RANDOM]++;
	return false;
}

static void
session_proof_make_deal(const struct weft_session *s, uint32_t id, const struct weft_control *said,
	const struct weft_control *peer, const uint8_t *random, struct weft_session_transcript *d)
{
	struct weft_control *own = s->cfg.is_initiator ? &d->initiator : &d->responder;
	struct weft_control *other = s->cfg.is_initiator ? &d->responder : &d->initiator;

	d->session = id;
	*own = *said;
	memcpy(own->random, random, WEFT_RANDOM_LEN);
	*other = *peer;
	own->type = other->type = 0;
	own->padded = other->padded = 0;
	own->session = other->session = 0;
	memset(own->proof, 0, WEFT_PROOF_LEN);
	memset(other->proof, 0, WEFT_PROOF_LEN);
}

void
weft_session_transcript(const struct weft_session *s, struct weft_session_transcript *d)
{
	session_proof_make_deal(s, s->id, &s->said, &s->peer, s->live_random, d);
}

/* SESS-25 */
bool
session_prove(const struct weft_session *s, uint32_t id, bool is_live, uint8_t *proof)
{
	struct weft_session_transcript d;

	if (!session_has_ide(s))
		return true;
	if (is_live)
		weft_session_transcript(s, &d);
	else
		session_proof_make_deal(s, id, &s->cfg.params, &s->offered, s->offer_random, &d);
	return s->cfg.keys->proof(s->cfg.keys->arg, &d, s->cfg.is_initiator, proof);
}

/* SESS-25 */
bool
session_is_proven(
	struct weft_session *s, uint32_t id, const struct weft_control *peer, const uint8_t *proof)
{
	struct weft_session_transcript d;
	uint8_t want[WEFT_PROOF_LEN];

	if (!session_has_ide(s))
		return true;
	session_proof_make_deal(s, id, &s->cfg.params, peer, s->offer_random, &d);
	if (!s->cfg.keys->proof(s->cfg.keys->arg, &d, !s->cfg.is_initiator, want))
		return false;
	if (weft_control_is_equal(want, proof, WEFT_PROOF_LEN))
		return true;
	s->count[WEFT_SESSION_N_BAD_PROOFS]++;
	return false;
}

bool
session_bind(struct weft_session *s, uint32_t id)
{
	struct weft_session_transcript d;

	if (!session_has_ide(s))
		return true;
	session_proof_make_deal(s, id, &s->cfg.params, &s->offered, s->offer_random, &d);
	if (s->cfg.keys->bind(s->cfg.keys->arg, &d))
		return true;
	s->count[WEFT_SESSION_N_NO_RANDOM]++;
	return false;
}

void
session_unbind(struct weft_session *s)
{
	if (session_has_ide(s))
		s->cfg.keys->bind(s->cfg.keys->arg, NULL);
}

static bool
session_proof_make_mac(const struct weft_session *s, bool from_initiator,
	const struct weft_control *c, uint8_t *mac)
{
	uint8_t image[WEFT_CONTROL_MAX];
	const size_t len = weft_control_image(image, c);

	return s->cfg.keys->mac(s->cfg.keys->arg, from_initiator, image, len, mac);
}

void
session_sign(struct weft_session *s, struct weft_control *c)
{
	if (!session_has_ide(s))
		return;
	c->number = ++s->tx_number;
	if (!session_proof_make_mac(s, s->cfg.is_initiator, c, c->mac))
		c->number = 0; /* sent unsigned: the peer will ignore it */
}

/* SESS-26 */
bool
session_is_authentic(struct weft_session *s, const struct weft_control *c)
{
	uint8_t want[WEFT_CONTROL_MAC_LEN];

	if (!session_has_ide(s))
		return true;
	if (c->number == 0 || !session_proof_make_mac(s, !s->cfg.is_initiator, c, want) ||
		!weft_control_is_equal(want, c->mac, WEFT_CONTROL_MAC_LEN)) {
		s->count[WEFT_SESSION_N_BAD_MACS]++;
		return false;
	}
	if (c->number <= s->rx_number) {
		s->count[WEFT_SESSION_N_OLD_NUMBERS]++;
		return false;
	}
	return true;
}

bool
session_prove_gone(const struct weft_session *s, uint32_t id, uint64_t number, uint8_t *proof)
{
	return !session_has_ide(s) ||
	       s->cfg.keys->gone(s->cfg.keys->arg, id, s->cfg.is_initiator, number, proof);
}

/* SESS-28 */
bool
session_is_gone_proven(const struct weft_session *s, const struct weft_control *c)
{
	uint8_t want[WEFT_PROOF_LEN];

	if (!session_has_ide(s))
		return true;
	return s->cfg.keys->gone(
		       s->cfg.keys->arg, s->id, !s->cfg.is_initiator, c->challenge, want) &&
	       weft_control_is_equal(want, c->proof, WEFT_PROOF_LEN);
}
