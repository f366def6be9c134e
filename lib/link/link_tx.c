/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Tx of an end: messages and packets are packed into flits, flits sealed and committed to the retry
 * layer, frames made of what that gives.
 */

#include "link_priv.h"

#include <errno.h>

#define SEND_ROOM 3 /* flits that one message may need beyond what is packed */
#define IDE_ROOM 3 /* flits that end an epoch and change the key */
#define POISON_ROOM 2 /* the flit at hand, and Poison */

static void
link_note_credits(struct weft_link *e, uint64_t now_ns)
{
	if (e->credits_pending || !weft_credits_pending(&e->flow))
		return;
	e->credits_pending = true;
	e->pending_since_ns = now_ns;
}

static bool
link_begin_flit(struct weft_link *e)
{
	uint8_t *flit = weft_llr_reserve(e->llr);

	if (flit == NULL)
		return false;
	weft_pack_begin(&e->pack, flit, e->ide != NULL && e->ide->pace.mac_due);
	e->n_data = e->more_data;
	e->flit_open = true;
	return true;
}

/* The flit at hand is complete, but for its MAC and what the retry layer adds. */
static uint8_t *
link_fill_flit(struct weft_link *e)
{
	uint8_t *flit = weft_llr_reserve(e->llr);

	e->more_data = weft_pack_end(&e->pack);
	weft_put_le16(flit + WEFT_FLIT_CRD_OFF, weft_credits_crd(&e->flow));
	e->credits_pending = false;
	e->flit_open = false;
	e->may_poison = false;
	return flit;
}

static void
link_seal_flit(struct weft_link *e, uint8_t *flit)
{
	if (e->ide == NULL)
		return;
	link_ide_seal(e->ide, flit);
	e->count[WEFT_LINK_N_IDE_SEALED]++;
}

static void
link_commit_flit(struct weft_link *e)
{
	link_seal_flit(e, link_fill_flit(e));
	weft_llr_commit(e->llr);
	if (e->io->ahead > -LINK_IO_TURN)
		e->io->ahead--;
}

static void
link_make_poison(struct weft_link *e, uint8_t *flit, uint8_t offset)
{
	weft_ide_poison_put(flit, offset);
	if (e->ide != NULL)
		link_ide_poison(e->ide, flit);
}

/* Data remains to be sent: Poison goes before it. */
static void
link_poison_rest(struct weft_link *e)
{
	link_commit_flit(e);
	link_make_poison(e, weft_llr_reserve(e->llr), 0);
	weft_llr_commit(e->llr);
}

/* The retry layer makes the same Poison flit, and moves the flit behind it. */
static void
link_poison_flit(struct weft_link *e, uint8_t offset)
{
	uint8_t poison[WEFT_FLIT_LEN], *flit;

	link_make_poison(e, poison, offset);
	flit = link_fill_flit(e);
	link_seal_flit(e, flit);
	if (e->ide != NULL)
		link_ide_flush(e->ide);
	weft_llr_commit_poisoned(e->llr, offset); /* there is room */
}

void
link_send_init(struct weft_link *e)
{
	static const uint8_t not_p2p[WEFT_LLCTRL_PAYLOAD_LEN];
	struct weft_flit_hdr h = { .type = WEFT_FLIT_CACHEMEM };
	uint8_t *flit = weft_llr_reserve(e->llr);

	memset(flit, 0, WEFT_FLIT_LEN);
	weft_flit_hdr_put(flit, &h);
	weft_llctrl_put(flit, WEFT_LLCTRL_INIT_PARAM, not_p2p);
	weft_llr_commit(e->llr);
}

/* Flits to leave to CXL.io: the one at hand, and its turn. */
static unsigned int
link_left_to_io(const struct weft_link *e)
{
	return e->io->open + (e->io->peer_granted && e->io->ahead < 0 ? LINK_IO_TURN : 0u);
}

/*
 * The like for messages: the flit at hand and one that their data runs over into, and their turn.
 */
static unsigned int
link_left_to_messages(const struct weft_link *e)
{
	return e->flit_open + (unsigned int)(e->more_data || weft_pack_waits(&e->pack)) +
	       (e->io->ahead > 0 ? LINK_IO_TURN : 0u);
}

static bool
link_ide_may_send(const struct weft_link *e)
{
	return !e->ide->is_broken && !e->ide->rekey_due &&
	       weft_llr_room(e->llr) >= SEND_ROOM + IDE_ROOM;
}

static inline bool
link_has_credit(const struct weft_link *e, enum weft_msg_kind kind)
{
	return e->flow.may_send[link_set_of(kind)][link_class_of(kind)] != 0;
}

/* Whether a message of any kind may go that has a credit. */
static inline bool
link_has_room(const struct weft_link *e)
{
	return weft_session_is_live(&e->session) &&
	       weft_llr_room(e->llr) >= SEND_ROOM + link_left_to_io(e) &&
	       (e->ide == NULL || link_ide_may_send(e));
}

bool
weft_link_can_send(const struct weft_link *e, enum weft_msg_kind kind)
{
	return (unsigned int)kind < WEFT_MSG_LLCTRL && link_has_credit(e, kind) && link_has_room(e);
}

bool
weft_link_can_answer(const struct weft_link *e)
{
	return link_has_credit(e, WEFT_MSG_S2M_NDR) && link_has_credit(e, WEFT_MSG_S2M_DRS) &&
	       link_has_room(e);
}

int
weft_link_send(struct weft_link *e, const struct weft_msg *m)
{
	enum weft_msg_kind kind = (enum weft_msg_kind)m->kind;

	if (!weft_link_can_send(e, kind))
		return !weft_session_is_live(&e->session)      ? -ENOTCONN
		       : (unsigned int)kind >= WEFT_MSG_LLCTRL ? -EINVAL
		                                               : -EAGAIN;
	/* It fits at the latest into the second new flit: the first may be full of data. */
	for (unsigned int tries = 0; tries < SEND_ROOM; tries++) {
		int rc;

		if (!e->flit_open && !link_begin_flit(e))
			return -EAGAIN;
		rc = weft_pack_msg(&e->pack, m);
		if (rc == 0) {
			weft_credits_consume(&e->flow, link_set_of(kind), link_class_of(kind));
			e->count[WEFT_LINK_N_MESSAGES_SENT]++;
			e->may_poison = weft_msg_has_data(m);
			e->n_data = (uint8_t)(e->n_data + e->may_poison);
			return 0;
		}
		if (rc != -ENOSPC)
			return rc;
		link_commit_flit(e);
	}
	return -EAGAIN;
}

/* The flit with packets goes into the window. False: that is full. */
static bool
link_commit_io(struct weft_link *e)
{
	uint8_t *slot;

	if (e->flit_open)
		link_commit_flit(e);
	slot = weft_llr_reserve(e->llr);
	if (slot == NULL)
		return false;
	link_io_put(e->io, slot);
	weft_llr_commit(e->llr);
	if (e->io->ahead < LINK_IO_TURN)
		e->io->ahead++;
	return true;
}

bool
weft_link_can_send_io(const struct weft_link *e, enum weft_io_class c)
{
	return weft_session_is_live(&e->session) && (unsigned int)c < WEFT_IO_CLASSES &&
	       link_io_has_credit(e->io, c) &&
	       weft_llr_room(e->llr) >= LINK_IO_ROOM + link_left_to_messages(e);
}

int
weft_link_send_io(struct weft_link *e, const struct weft_io_tlp *t)
{
	enum weft_io_class c;
	int rc;

	if (!weft_session_is_live(&e->session))
		return -ENOTCONN;
	if (e->ide != NULL || !weft_io_is_valid(t))
		return -EINVAL;
	c = (enum weft_io_class)weft_io_class(t);
	if (!weft_link_can_send_io(e, c))
		return -EAGAIN;
	link_io_open(e->io);
	while ((rc = weft_io_pack_tlp(&e->io->pack, t)) == -ENOSPC) {
		if (!link_commit_io(e))
			return -EAGAIN;
		link_io_open(e->io);
	}
	e->io->sent[c]++;
	e->count[WEFT_LINK_N_IO_SENT]++;
	/* What runs over goes into the next flit at once: at most one flit is ever at hand. */
	while (weft_io_pack_waits(&e->io->pack) && link_commit_io(e))
		;
	return rc;
}

static bool
link_poison_has_room(const struct weft_link *e, unsigned int flits)
{
	return weft_llr_room(e->llr) >= flits + POISON_ROOM + (e->ide == NULL ? 0 : IDE_ROOM) &&
	       (e->ide == NULL || link_ide_may_poison(e->ide));
}

bool
weft_link_can_poison(const struct weft_link *e)
{
	return weft_session_is_live(&e->session) && link_poison_has_room(e, SEND_ROOM);
}

int
weft_link_poison(struct weft_link *e)
{
	if (!weft_session_is_live(&e->session))
		return -ENOTCONN;
	if (!e->may_poison)
		return -EALREADY;
	if (!link_poison_has_room(e, 0))
		return -EAGAIN;
	if (weft_pack_waits(&e->pack))
		link_poison_rest(e);
	else
		link_poison_flit(e, (uint8_t)(e->n_data - 1));
	e->count[WEFT_LINK_N_POISONED]++;
	return 0;
}

/* End the epoch. False: the window is full, it goes on later. */
static bool
link_close_epoch(struct weft_link *e)
{
	for (;;) {
		uint8_t *flit = weft_llr_reserve(e->llr);
		enum weft_ide_close c;

		if (flit == NULL)
			return false;
		c = link_ide_close(e->ide, flit);
		if (c == WEFT_IDE_CLOSED)
			break;
		if (c == WEFT_IDE_CLOSE_TMAC) {
			weft_llr_commit(e->llr);
			break;
		}
		link_begin_flit(e);
		link_commit_flit(e);
	}
	e->ide->is_open = e->ide->is_fresh = false;
	return true;
}

/* RETRY-30 */
static void
link_check(struct weft_link *e)
{
	const uint8_t n_checks = e->ide->n_checks;

	if (!link_begin_flit(e))
		return;
	link_commit_flit(e);
	link_ide_checks(e->ide, (uint8_t)(n_checks + 1));
	e->count[WEFT_LINK_N_IDE_CHECKS]++;
}

/* Epochs end with the traffic; keys change between epochs. */
static void
link_complete_ide(struct weft_link *e, uint64_t now_ns)
{
	uint8_t *flit;

	if (now_ns >= link_check_ns(e))
		link_check(e);
	if (e->more_data || !link_ide_must_close(e->ide, now_ns, link_epoch_delay_ns(e)) ||
		!link_close_epoch(e) || !e->ide->rekey_due)
		return;
	flit = weft_llr_reserve(e->llr);
	if (flit == NULL || !link_ide_start(e->ide, flit, now_ns))
		return;
	weft_llr_commit(e->llr);
	e->count[WEFT_LINK_N_IDE_REKEYS]++;
}

static void
link_note_io_credits(struct weft_link *e, uint64_t now_ns)
{
	if (e->io->credits_pending || !link_io_pending(e->io))
		return;
	e->io->credits_pending = true;
	e->io->pending_since_ns = now_ns;
}

/* The same for CXL.io. */
static void
link_complete_io(struct weft_link *e, uint64_t now_ns)
{
	while (e->io->open && link_commit_io(e))
		;
	link_note_io_credits(e, now_ns);
	while (e->io->credits_pending && weft_llr_room(e->llr) != 0 &&
		(link_io_is_urgent(e->io) ||
			now_ns >= e->io->pending_since_ns + link_credit_delay_ns(e))) {
		link_io_open(e->io);
		link_commit_io(e);
		e->count[WEFT_LINK_N_IO_CREDIT_FLITS]++;
		link_note_io_credits(e, now_ns);
	}
}

/* Flush the flit being packed, and credits that are worth a flit. */
static void
link_complete(struct weft_link *e, uint64_t now_ns)
{
	if (e->flit_open)
		link_commit_flit(e);
	while (e->more_data && link_begin_flit(e))
		link_commit_flit(e);
	link_note_credits(e, now_ns);
	while (e->credits_pending && !e->more_data &&
		(weft_credits_is_urgent(&e->flow) ||
			now_ns >= e->pending_since_ns + link_credit_delay_ns(e)) &&
		link_begin_flit(e)) {
		link_commit_flit(e);
		e->count[WEFT_LINK_N_CREDIT_FLITS]++;
		link_note_credits(e, now_ns);
	}
	link_complete_io(e, now_ns);
}

unsigned int
weft_link_frames_due(const struct weft_link *e)
{
	const unsigned int flits = weft_llr_unsent(e->llr) + e->flit_open;

	return flits <= e->max_flits ? 1 : (flits + e->max_flits - 1u) / e->max_flits;
}

/* With fresh bits in @p rnd. */
static bool
link_next_control(struct weft_link *e, uint8_t *payload, uint64_t now_ns, uint64_t rnd,
	struct weft_link_out *out)
{
	struct weft_control c;
	uint32_t id;

	if (!weft_session_next(&e->session, now_ns, rnd, &id, &c))
		return false;
	*out = (struct weft_link_out){ .hdr = { .mode = e->cfg.llr.mode,
					       .form = e->session.cfg.params.form,
					       .kind = WEFT_WIRE_CONTROL,
					       .session = id } };
	out->len = weft_control_build(payload, &c);
	return true;
}

bool
weft_link_next_control(struct weft_link *e, uint8_t *payload, uint64_t now_ns,
	uint64_t (*random)(void *arg), void *arg, struct weft_link_out *out)
{
	return weft_session_deadline(&e->session) <= now_ns &&
	       link_next_control(e, payload, now_ns, random(arg), out);
}

void
weft_link_pack(struct weft_link *e, uint64_t now_ns)
{
	if (link_may_transmit(e))
		link_complete(e, now_ns);
}

unsigned int
weft_link_seal(struct weft_link *e, uint64_t now_ns)
{
	uint64_t before;

	if (e->ide == NULL || !link_may_transmit(e))
		return 0;
	before = e->ide->sealed;
	link_complete_ide(e, now_ns);
	link_ide_flush(e->ide);
	return (unsigned int)(e->ide->sealed - before);
}

bool
weft_link_next_flits(
	struct weft_link *e, uint8_t *payload, uint64_t now_ns, struct weft_link_out *out)
{
	if (!link_may_transmit(e))
		return false;
	*out = (struct weft_link_out){ .hdr = { .mode = e->cfg.llr.mode,
					       .form = e->session.cfg.params.form,
					       .kind = WEFT_WIRE_FLITS,
					       .session = e->session.id } };
	if (weft_llr_tx(e->llr, payload, e->max_flits, now_ns, &out->flits) == 0)
		return false;
	out->hdr.n_flits = (uint8_t)out->flits.n;
	out->len = (size_t)out->flits.n * WEFT_FLIT_LEN;
	weft_session_sent(&e->session, now_ns);
	return true;
}

bool
weft_link_next(struct weft_link *e, uint8_t *payload, uint64_t now_ns, uint64_t rnd,
	struct weft_link_out *out)
{
	if (link_next_control(e, payload, now_ns, rnd, out))
		return true;
	weft_link_pack(e, now_ns);
	weft_link_seal(e, now_ns);
	return weft_link_next_flits(e, payload, now_ns, out);
}
