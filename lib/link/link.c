/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* An end: ties session, retry layer, credits and packing together. */

#include "link_priv.h"

#include "weft_carve.h"

#define WINDOW_MIN 8
#define LLR_HOT 960 /* bytes of the retry layer that each frame needs, about */
#define DOUBT_NS UINT64_C(250000000) /* least time between two sessions that end for doubt */

const struct weft_counter weft_link_counters[] = {
#define WEFT_COUNTER(id, name, unit, help) { name, unit, help },
#include "weft_link_counters.def"
#undef WEFT_COUNTER
};

const struct link_account link_account[WEFT_MSG_LLCTRL] = {
	[WEFT_MSG_M2S_REQ] = { WEFT_CREDIT_MEM_DN, WEFT_CREDIT_REQ },
	[WEFT_MSG_M2S_RWD] = { WEFT_CREDIT_MEM_DN, WEFT_CREDIT_DATA },
	[WEFT_MSG_M2S_BIRSP] = { WEFT_CREDIT_MEM_DN, WEFT_CREDIT_RSP },
	[WEFT_MSG_S2M_BISNP] = { WEFT_CREDIT_MEM_UP, WEFT_CREDIT_REQ },
	[WEFT_MSG_S2M_NDR] = { WEFT_CREDIT_MEM_UP, WEFT_CREDIT_RSP },
	[WEFT_MSG_S2M_DRS] = { WEFT_CREDIT_MEM_UP, WEFT_CREDIT_DATA },
	[WEFT_MSG_D2H_REQ] = { WEFT_CREDIT_CACHE_UP, WEFT_CREDIT_REQ },
	[WEFT_MSG_D2H_RSP] = { WEFT_CREDIT_CACHE_UP, WEFT_CREDIT_RSP },
	[WEFT_MSG_D2H_DH] = { WEFT_CREDIT_CACHE_UP, WEFT_CREDIT_DATA },
	[WEFT_MSG_H2D_REQ] = { WEFT_CREDIT_CACHE_DN, WEFT_CREDIT_REQ },
	[WEFT_MSG_H2D_RSP] = { WEFT_CREDIT_CACHE_DN, WEFT_CREDIT_RSP },
	[WEFT_MSG_H2D_DH] = { WEFT_CREDIT_CACHE_DN, WEFT_CREDIT_DATA },
};

static bool
link_cfg_is_valid(const struct weft_link_cfg *c)
{
	for (unsigned int k = 0; k < WEFT_MSG_LLCTRL; k++)
		if (c->room[k] > WEFT_CREDITS_ROOM_MAX)
			return false;
	for (unsigned int i = 0; i < WEFT_IO_CLASSES; i++)
		if (c->io_room[i] > (c->ide == NULL ? WEFT_LINK_IO_ROOM_MAX : 0))
			return false;
	if ((c->ide != NULL) != (c->session.params.ide_mode != WEFT_IDE_OFF) ||
		(c->ide != NULL && (c->ide->rekey_flits == 0 || c->ide->rekey_ns == 0 ||
					   (uintptr_t)c->ide->mem % WEFT_CACHE_LINE != 0 ||
					   (c->ide->apart && !c->ide->owner_opens))))
		return false;
	return c->form <= WEFT_FORM_PBR && c->max_flits >= 1 &&
	       c->max_flits <= WEFT_WIRE_FLITS_MAX && c->llr.window >= WINDOW_MIN &&
	       weft_llr_size(&c->llr) != 0;
}

size_t
weft_link_ide_size(void)
{
	return 2 * weft_ide_stream_size();
}

/* The end is zero; what the others hold is theirs to begin. */
static struct weft_link *
link_carve(struct weft_carver *c, const struct weft_link_cfg *cfg)
{
	struct weft_link *e = weft_carve(c, sizeof(*e));
	struct weft_llr *llr = weft_carve(c, weft_llr_size(&cfg->llr));
	struct weft_msg *msg[WEFT_MSG_LLCTRL];
	struct link_ide_apart *apart = NULL;
	struct link_ide_hold *hold = NULL;
	struct link_ide *ide = NULL;
	struct link_io *io;

	for (unsigned int k = 0; k < WEFT_MSG_LLCTRL; k++)
		msg[k] = weft_carve(c, cfg->room[k] * sizeof(*msg[k]));
	io = link_io_carve(c, cfg);
	if (cfg->ide != NULL)
		ide = weft_carve(c, sizeof(*ide));
	if (cfg->ide != NULL && !cfg->ide->owner_opens)
		hold = weft_carve(c, sizeof(*hold));
	if (cfg->ide != NULL && cfg->ide->apart)
		apart = weft_carve(c, sizeof(*apart));
	if (e == NULL)
		return NULL;
	memset(e, 0, sizeof(*e));
	e->llr = llr;
	e->io = io;
	e->ide = ide;
	e->ide_hold = hold;
	for (unsigned int k = 0; k < WEFT_MSG_LLCTRL; k++)
		e->rx_queue[k] = (struct rx_queue){ .msg = msg[k], .room = cfg->room[k] };
	if (ide != NULL)
		link_ide_init(ide, cfg->ide, cfg->session.is_initiator, apart);
	return e;
}

size_t
weft_link_size(const struct weft_link_cfg *cfg)
{
	struct weft_carver c = { 0 };

	if (!link_cfg_is_valid(cfg))
		return 0;
	link_carve(&c, cfg);
	return c.len;
}

struct weft_link *
weft_link_init(void *mem, const struct weft_link_cfg *cfg, uint64_t now_ns)
{
	struct weft_carver c = { .block = mem };
	struct weft_link *e;

	if (!link_cfg_is_valid(cfg) || (uintptr_t)mem % WEFT_CACHE_LINE != 0)
		return NULL;
	e = link_carve(&c, cfg);
	e->cfg = *cfg;
	e->cfg.session.pad_flits =
		cfg->max_flits; /* the handshake has proven that full frames pass */
	e->cfg.session.params.form = cfg->llr.mode == WEFT_MODE_CXL ? cfg->form : 0;
	if (weft_session_init(&e->session, &e->cfg.session, now_ns) != 0)
		return NULL;
	e->io->count = e->count;
	weft_llr_init(e->llr, &cfg->llr, now_ns);
	if (e->ide_hold != NULL)
		e->ide_hold->head = e->ide_hold->n = 0;
	return e;
}

/*
 * Evidence of an intruder in this session. With IDE the MACs judge received flits, so only the
 * evidence from Acks counts here (RETRY-26, RETRY-27).
 */
static bool
link_is_in_doubt(const struct weft_link *e)
{
	return (weft_llr_doubt(e->llr) & (e->ide == NULL ? ~0u : WEFT_LLR_DOUBT_ACKS)) != 0;
}

static void
link_prefetch_lines(const void *from, size_t len)
{
	const uintptr_t first = (uintptr_t)from & ~(uintptr_t)(WEFT_CACHE_LINE - 1);

	for (uintptr_t at = first; at < (uintptr_t)from + len; at += WEFT_CACHE_LINE)
		__builtin_prefetch((const void *)at);
}

/* What is used most lies in a few runs; settings and room for many messages lie between. */
void
weft_link_prefetch(const struct weft_link *e)
{
	link_prefetch_lines(&e->session.state, offsetof(struct weft_session, due.welcome_flits) -
						       offsetof(struct weft_session, state));
	link_prefetch_lines(e->flow.may_send,
		offsetof(struct weft_link, pack.data) - offsetof(struct weft_link, flow.may_send));
	link_prefetch_lines(&e->unpack, 2 * WEFT_CACHE_LINE);
	link_prefetch_lines(e->rx_queue, sizeof(e->rx_queue));
	/* The retry layer is behind; e->llr would have to be read. */
	link_prefetch_lines((const uint8_t *)e + weft_line_up(sizeof(*e)), LLR_HOT);
}

/* Wipe what the session's keys opened, and them. */
static void
link_wipe_ide(struct weft_link *e)
{
	if (e->ide != NULL)
		link_ide_end(e->ide);
	if (e->ide_hold != NULL)
		explicit_bzero(e->ide_hold, sizeof(*e->ide_hold));
}

static void
link_begin_session(struct weft_link *e, uint64_t now_ns)
{
	uint32_t room[WEFT_CREDIT_SETS][WEFT_CREDIT_CLASSES] = { 0 };
	bool has_keys;

	for (unsigned int k = 0; k < WEFT_MSG_LLCTRL; k++) {
		room[link_account[k].set][link_account[k].class] = e->cfg.room[k];
		e->rx_queue[k].head = 0;
		e->rx_queue[k].n = 0;
	}
	/* Before another lcore can have flits of the session: it must know how to open them. */
	link_wipe_ide(e);
	has_keys = e->ide == NULL || link_ide_begin(e->ide, &e->session, now_ns);
	weft_llr_restart(e->llr, e->session.id, now_ns);
	weft_credits_init(&e->flow, room);
	weft_pack_init(&e->pack, (enum weft_form)e->cfg.form);
	weft_unpack_init(&e->unpack, (enum weft_form)e->cfg.form, e->cfg.seen);
	e->max_flits = e->cfg.max_flits;
	if (e->session.peer.max_flits < e->max_flits)
		e->max_flits = e->session.peer.max_flits;
	e->flit_open = false;
	e->more_data = false;
	e->may_poison = false;
	e->init_seen = false;
	e->credits_pending = false;
	link_io_begin(e->io, (enum weft_form)e->cfg.form);
	if (has_keys)
		link_send_init(e);
}

static void
link_over(struct weft_link *e)
{
	weft_llr_over(e->llr);
	link_wipe_ide(e);
}

static enum weft_session_event
link_event(struct weft_link *e, enum weft_session_event ev, uint64_t now_ns)
{
	if (ev == WEFT_SESSION_BEGIN)
		link_begin_session(e, now_ns);
	else if (ev == WEFT_SESSION_END)
		link_over(e);
	return ev;
}

enum weft_session_event
weft_link_control(struct weft_link *e, const struct weft_wire_hdr *h, const uint8_t *rec,
	size_t len, uint64_t now_ns, uint64_t rnd)
{
	struct weft_control c;

	if (weft_control_parse(rec, len, &c) != WEFT_OK) {
		e->count[WEFT_LINK_N_BAD_CONTROL]++;
		return WEFT_SESSION_NOTHING;
	}
	c.form = h->form;
	return link_event(
		e, weft_session_control(&e->session, h->session, &c, now_ns, rnd), now_ns);
}

enum weft_verdict
weft_link_frame(struct weft_link *e, uint32_t session, uint64_t now_ns, enum weft_session_event *ev)
{
	enum weft_verdict v = weft_session_flits(&e->session, session, now_ns, ev);

	link_event(e, *ev, now_ns);
	return v;
}

bool
weft_link_hear(struct weft_link *e, uint64_t now_ns)
{
	enum weft_session_event ev;
	bool any = false;
	uint32_t session;

	for (; e->cfg.llr.apart && weft_llr_hear(e->llr, now_ns, &session); any = true)
		if (session != 0)
			weft_link_frame(e, session, now_ns, &ev);
	if (e->ide != NULL)
		link_ide_hear(e->ide);
	return any || link_is_broken(e);
}

enum weft_session_event
weft_link_tick(struct weft_link *e, uint64_t now_ns)
{
	const bool reset = __atomic_load_n(&e->reset_wanted, __ATOMIC_RELAXED) &&
	                   __atomic_exchange_n(&e->reset_wanted, false, __ATOMIC_ACQ_REL);

	/* Insecure: only a new session with new keys goes on; malformed: one with a new stream. */
	if (reset || link_is_broken(e))
		return link_event(e, weft_session_abandon(&e->session, now_ns), now_ns);
	/*
	 * A new session invalidates all recorded frames. Rate-limited, or every forged flit would
	 * cost one.
	 */
	if (link_is_in_doubt(e) && now_ns >= e->doubt_ns && weft_session_is_live(&e->session)) {
		e->doubt_ns = now_ns + DOUBT_NS;
		e->count[WEFT_LINK_N_DOUBTED]++;
		return link_event(e, weft_session_abandon(&e->session, now_ns), now_ns);
	}
	return link_event(e, weft_session_tick(&e->session, now_ns), now_ns);
}

static uint64_t
link_io_due(const struct weft_link *e)
{
	if (weft_llr_room(e->llr) == 0)
		return UINT64_MAX;
	if (e->io->open)
		return 0;
	if (!link_io_pending(e->io))
		return UINT64_MAX;
	return !e->io->credits_pending || link_io_is_urgent(e->io)
	               ? 0
	               : e->io->pending_since_ns + link_credit_delay_ns(e);
}

uint64_t
weft_link_deadline(const struct weft_link *e)
{
	uint64_t at = weft_session_deadline(&e->session);
	uint64_t t;

	if (at == 0 || !weft_session_is_live(&e->session))
		return at;
	if (link_is_broken(e))
		return 0;
	if (link_is_in_doubt(e) && e->doubt_ns < at)
		at = e->doubt_ns;
	if (!weft_session_takes_flits(&e->session))
		return at;
	if (e->ide != NULL) {
		t = weft_llr_room(e->llr) == 0 ? at
		                               : link_ide_deadline(e->ide, link_epoch_delay_ns(e));
		at = t < at ? t : at;
		t = link_check_ns(e);
		at = t < at ? t : at;
	}
	if (e->flit_open || (e->more_data && weft_llr_room(e->llr) != 0))
		return 0;
	if (weft_credits_pending(&e->flow) && weft_llr_room(e->llr) != 0) {
		if (!e->credits_pending || weft_credits_is_urgent(&e->flow))
			return 0;
		if ((t = e->pending_since_ns + link_credit_delay_ns(e)) < at)
			at = t;
	}
	t = link_io_due(e);
	at = t < at ? t : at;
	t = weft_llr_deadline(e->llr);
	return t < at ? t : at;
}

void
weft_link_reset(struct weft_link *e)
{
	__atomic_store_n(&e->reset_wanted, true, __ATOMIC_RELEASE);
}

void
weft_link_close(struct weft_link *e)
{
	weft_session_close(&e->session);
	link_over(e);
}

void
weft_link_fini(struct weft_link *e)
{
	link_wipe_ide(e);
	if (e->ide != NULL)
		link_ide_fini(e->ide);
}

void
weft_link_knows(struct weft_link *e, uint64_t generation)
{
	if (e->init_seen)
		weft_session_knows(&e->session, generation);
}

struct weft_llr *
weft_link_llr(struct weft_link *e)
{
	return e->llr;
}

unsigned int
weft_link_data_slots(const struct weft_link *e)
{
	return e->unpack.n_slots;
}

enum weft_form
weft_link_form(const struct weft_link *e)
{
	return (enum weft_form)e->cfg.form;
}

const struct weft_session *
weft_link_session(const struct weft_link *e)
{
	return &e->session;
}

const struct weft_credits *
weft_link_credits(const struct weft_link *e)
{
	return &e->flow;
}

uint64_t
weft_link_count(const struct weft_link *e, enum weft_link_counter row)
{
	return e->count[row] + (e->ide == NULL ? 0 : e->ide->rx.count[row]);
}

void
weft_link_counts_add(const struct weft_link *e, uint64_t *sum)
{
	for (unsigned int i = 0; i < WEFT_LINK_N_COUNTERS; i++)
		sum[i] += weft_link_count(e, (enum weft_link_counter)i);
}
