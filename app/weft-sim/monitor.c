/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The judge of IDE (reliability.md, S1, S9 and S10). It stands at the senders' wires and knows no
 * keys, only which of them were asked for. No key is used twice in a run. No block of ciphertext
 * comes twice: under one key and IV that would happen soon, as slots that are not used are zero
 * before they are encrypted, and else once in 2^64. What is sent again is what was sent. An epoch
 * has one MAC, in its place. And a stream fails when somebody has changed what it took, and then
 * only.
 */

#include "ide.h"
#include "replay.h"

#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "weft_flit.h"

#define SEEN_FIRST 4096
#define LAST_SLOT (WEFT_FLIT_CRD_OFF - WEFT_FLIT_SLOT_LEN)

static uint64_t
monitor_hash(const uint8_t *p, size_t len)
{
	uint64_t h = 0;

	for (size_t i = 0; i < len; i += sizeof(uint64_t)) {
		h = (h ^ weft_get_le64(p + i)) * UINT64_C(0x9E3779B97F4A7C15);
		h ^= h >> 29;
	}
	return h | 1;
}

/* --- what was seen, keys and blocks: a set --- */

static uint64_t *
monitor_seen_place(const struct sim_seen *set, uint64_t h)
{
	uint64_t i = h >> 8;

	while (set->hash[i & (set->room - 1)] != 0 && set->hash[i & (set->room - 1)] != h)
		i++;
	return &set->hash[i & (set->room - 1)];
}

static void
monitor_seen_grow(struct sim_seen *set)
{
	struct sim_seen old = *set;

	set->room = old.room == 0 ? SEEN_FIRST : 2 * old.room;
	set->hash = calloc(set->room, sizeof(*set->hash));
	if (set->hash == NULL)
		cli_fail("out of memory");
	for (size_t i = 0; i < old.room; i++)
		if (old.hash[i] != 0)
			*monitor_seen_place(set, old.hash[i]) = old.hash[i];
	free(old.hash);
}

/* @return whether it is new */
static bool
monitor_see(struct sim_seen *set, uint64_t h)
{
	uint64_t *place;

	if (2 * set->n >= set->room)
		monitor_seen_grow(set);
	place = monitor_seen_place(set, h);
	if (*place == h)
		return false;
	*place = h;
	set->n++;
	return true;
}

void
monitor_free(struct sim *s)
{
	free(s->seen.hash);
}

/* --- what an end sends --- */

void
monitor_key(struct sim_end *e, uint64_t id, bool first)
{
	struct sim *s = e->node->sim;

	s->total.ide[IDE_KEYS]++;
	if (!monitor_see(&s->seen, id | 1))
		violation(
			s, "end %u>%u gets a key that was used before", e->node->pid, e->peer_pid);
	if (!first)
		return;
	s->total.ide[IDE_SESSIONS]++;
	e->ide->n_sent = 0;
	e->ide->spoilt = 0;
	e->ide->flits = 0;
	e->ide->mac_due = false;
}

struct monitor_mark
monitor_mark(const struct sim_end *e)
{
	const struct weft_llr *l = weft_link_llr(e->end);

	return (struct monitor_mark){ weft_llr_count(l, WEFT_LLR_N_SENT),
		weft_llr_count(l, WEFT_LLR_N_RESENT) };
}

/* A MAC, where there is one. */
static void
monitor_watch_mac(struct sim_end *e, int control)
{
	struct sim_ide *i = e->ide;
	const bool is_due =
		control == WEFT_LLCTRL_IDE_TMAC ? i->flits != 0 && !i->mac_due : i->mac_due;
	const bool has_mac = control == WEFT_LLCTRL_IDE_TMAC || control == WEFT_LLCTRL_IDE_MAC;

	if (has_mac != is_due)
		violation(e->node->sim, "end %u>%u sends %s", e->node->pid, e->peer_pid,
			has_mac ? "a MAC of no epoch" : "no MAC where one is due");
	i->mac_due = false;
}

/* A flit that goes out for the first time. */
static void
monitor_watch_first(struct sim_end *e, const uint8_t *flit)
{
	struct sim *s = e->node->sim;
	struct sim_ide *i = e->ide;
	const int control = weft_llctrl_get(flit + WEFT_FLIT_H_OFF);

	if (control == WEFT_LLCTRL_IDE_TMAC) {
		monitor_watch_mac(e, control);
		i->flits = 0;
	}
	if (!weft_flit_is_protocol(flit))
		return;
	monitor_watch_mac(e, control);
	s->total.ide[IDE_SEALED]++;
	if (!monitor_see(&s->seen, monitor_hash(flit + LAST_SLOT, WEFT_FLIT_SLOT_LEN)))
		violation(s, "end %u>%u uses key and IV a second time", e->node->pid, e->peer_pid);
	if (++i->flits < weft_ide_epoch_flits((enum weft_ide_mode)s->sc.session.params.ide_mode))
		return;
	i->flits = 0;
	i->mac_due = true;
}

/* Behind a spoilt flit come Poison and that flit, nothing else for the first time. */
static void
monitor_watch_spoilt(struct sim_end *e, const uint8_t *flit, uint64_t body)
{
	struct sim_ide *i = e->ide;

	if (i->spoilt == 0 || weft_llctrl_get(flit + WEFT_FLIT_H_OFF) == WEFT_LLCTRL_POISON)
		return;
	if (body != i->spoilt)
		violation(e->node->sim, "end %u>%u sends another flit behind one it has spoilt",
			e->node->pid, e->peer_pid);
	i->spoilt = 0;
}

static bool
monitor_was_sent(const struct sim_ide *i, uint64_t body)
{
	const uint64_t n = i->n_sent < MONITOR_FLITS ? i->n_sent : MONITOR_FLITS;

	for (uint64_t k = 0; k < n; k++)
		if (i->body[k] == body)
			return true;
	return false;
}

void
monitor_frame(struct sim_end *e, const struct sim_frame *f, const struct weft_llr_tx_info *out,
	struct monitor_mark before)
{
	struct sim *s = e->node->sim;
	struct sim_ide *i = e->ide;
	const struct monitor_mark now = monitor_mark(e);
	const unsigned int fresh = (unsigned int)(now.sent - before.sent);
	const unsigned int again = (unsigned int)(now.resent - before.resent);
	const unsigned int spoilt = out->n - fresh - again - out->nops;

	if (spoilt > 1 || (spoilt != 0 && (out->invert_crc & 1) == 0))
		violation(s, "end %u>%u sends %u flits and counts %u", e->node->pid, e->peer_pid,
			out->n, fresh + again + out->nops);
	for (unsigned int k = 0; k < spoilt + again + fresh; k++) {
		const uint8_t *flit = f->data + WEFT_WIRE_FRAME_LEN(k);
		/* From slot 0 to CRD: 240 bytes. */
		const uint64_t body = monitor_hash(flit + WEFT_FLIT_H_OFF, WEFT_FLIT_CRD_OFF);

		if (k < spoilt) {
			i->spoilt = body;
		} else if (k >= spoilt + again) {
			monitor_watch_spoilt(e, flit, body);
			monitor_watch_first(e, flit);
			i->body[i->n_sent++ % MONITOR_FLITS] = body;
		} else if (!monitor_was_sent(i, body)) {
			violation(s, "end %u>%u sends a flit again that is not the same",
				e->node->pid, e->peer_pid);
		}
	}
	s->total.ide[IDE_AGAIN] += again;
}

/* --- what it takes --- */

/* A forged flit is taken, or the one that was held is in turn. The first in turn decides. */
static void
monitor_blame_take(
	struct sim_end *e, const struct sim_frame *f, const struct weft_llr_rx_result *in)
{
	const struct scenario *sc = &e->node->sim->sc;
	const struct weft_llr *l = weft_link_llr(e->end);
	const uint64_t delivered = weft_llr_count(l, WEFT_LLR_N_DELIVERED);
	const uint64_t given_up = weft_llr_count(l, WEFT_LLR_N_GIVEN_UP);
	const uint64_t epochs = weft_link_count(e->end, WEFT_LINK_N_IDE_EPOCHS);
	struct sim_blame *b = &e->ide->blame;
	const bool is_open = b->session == f->hdr.session;

	if ((!is_open || b->is_held) && (f->forged & in->deliver) != 0)
		*b = (struct sim_blame){ f->hdr.session, false, true, delivered, given_up, epochs };
	else if (!is_open && (f->forged & in->held) != 0)
		*b = (struct sim_blame){ f->hdr.session, true,
			sc->mode == WEFT_MODE_RXL && !f->is_replayed, delivered, given_up, epochs };
	if (!b->is_held || b->session != f->hdr.session)
		return;
	b->epochs = epochs;
	b->is_sure = b->is_sure && b->given_up == given_up;
	b->is_held = weft_llr_held_count(weft_link_llr(e->end)) != 0 &&
	             delivered - b->delivered <= sc->llr.rx_flits;
}

/* The MAC of the epoch before may still come and be good. Then that of its own comes. */
static void
monitor_blame_pass(struct sim_end *e)
{
	struct sim_blame *b = &e->ide->blame;

	if (b->session == 0 || b->is_held || e->ide->failed == b->session ||
		weft_link_count(e->end, WEFT_LINK_N_IDE_EPOCHS) <= b->epochs + 1)
		return;
	if (b->is_sure)
		violation(e->node->sim, "end %u>%u takes a forged flit for a good one",
			e->node->pid, e->peer_pid);
	b->session = 0;
}

void
monitor_came(struct sim_end *e, const struct sim_frame *f, const struct weft_llr_rx_result *in)
{
	struct sim *s = e->node->sim;
	struct sim_ide *i = e->ide;
	const uint64_t failures = weft_link_count(e->end, WEFT_LINK_N_IDE_FAILURES);

	if (i->blame.session != f->hdr.session)
		i->blame.session = 0;
	if (f->forged != 0 || i->blame.is_held)
		monitor_blame_take(e, f, in);
	monitor_blame_pass(e);
	if (failures == i->failures)
		return;
	i->failures = failures;
	i->failed = f->hdr.session;
	s->total.ide[IDE_FAILURES]++;
	if (i->blame.session == 0 && !replay_fooled(e))
		violation(s, "IDE of end %u>%u fails, and nobody has attacked it", e->node->pid,
			e->peer_pid);
}

bool
monitor_waits(const struct sim_end *e)
{
	return e->ide != NULL && e->session != 0 && e->ide->blame.session == e->session &&
	       e->ide->blame.is_sure && e->ide->failed != e->session;
}
