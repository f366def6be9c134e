/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* One end whole: what passes between session, retry layer, credits and packing. */

#include "weft_end.h"

#include <errno.h>

#include "end_ide_priv.h"
#include "end_io_priv.h"
#include "weft_base.h"
#include "weft_carve.h"
#include "weft_credit.h"
#include "weft_flit.h"
#include "weft_telem.h"

#define WINDOW_MIN 8
#define LLR_HOT 576 /* bytes of the retry layer that each frame needs, about */
#define SEND_ROOM 3 /* flits that one message may need beyond what is packed */
#define IDE_ROOM 3 /* flits that end an epoch and change the key */
#define DOUBT_NS UINT64_C(250000000) /* between two sessions that end for doubt */
#define POISON_ROOM 2 /* the flit at hand, and Poison */

/* Messages of one kind that wait for the owner. */
struct box {
	struct weft_msg *msg;
	uint16_t head, n, room;
};

struct weft_end {
	struct weft_end_cfg cfg;
	struct weft_session session;
	struct weft_flow flow;
	struct weft_llr *llr;
	struct end_ide *ide; /* NULL: off */
	struct end_ide_hold *ide_hold; /* NULL: off, or the owner opens */
	struct end_io *io;
	uint64_t count[WEFT_END_N_COUNTERS];
	uint8_t max_flits; /* what both ends take */
	bool flit_open; /* the packer fills the flit reserved */
	bool more_data; /* data slots of the last message wait for the next flit */
	bool may_poison; /* the last message has data, and its header is in the flit that is open */
	uint8_t n_data; /* messages with data in that flit, one that runs over into it included */
	bool init_seen;
	bool owes; /* credits, since owed_ns */
	uint64_t owed_ns;
	uint64_t doubt_ns; /* no session ends for doubt before */
	struct weft_packer pack;
	struct weft_unpacker unpack;
	struct box box[WEFT_MSG_LLCTRL];
	/* weft_end_deliver(), during the call */
	weft_end_msg_fn fn;
	void *arg;
};

static const struct weft_counter rows[] = {
#define WEFT_COUNTER(id, name, unit, help) { name, unit, help },
#include "weft_end_counters.def"
#undef WEFT_COUNTER
};

/* Which account a kind of message is booked to; the kinds stand in this order. */
static const struct {
	uint8_t set, class;
} account[WEFT_MSG_LLCTRL] = {
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

static enum weft_credit_set
set_of(enum weft_msg_kind k)
{
	return (enum weft_credit_set)account[k].set;
}

static enum weft_credit_class
class_of(enum weft_msg_kind k)
{
	return (enum weft_credit_class)account[k].class;
}

static bool
cfg_is_valid(const struct weft_end_cfg *c)
{
	for (unsigned int k = 0; k < WEFT_MSG_LLCTRL; k++)
		if (c->room[k] > WEFT_FLOW_ROOM_MAX)
			return false;
	for (unsigned int i = 0; i < WEFT_IO_CLASSES; i++)
		if (c->io_room[i] > (c->ide == NULL ? WEFT_END_IO_ROOM_MAX : 0))
			return false;
	if ((c->ide != NULL) != (c->session.params.ide_mode != WEFT_IDE_OFF) ||
		(c->ide != NULL && (c->ide->rekey_flits == 0 || c->ide->rekey_ns == 0 ||
					   (uintptr_t)c->ide->mem % WEFT_CACHE_LINE != 0)))
		return false;
	return c->form <= WEFT_FORM_PBR && c->max_flits >= 1 &&
	       c->max_flits <= WEFT_WIRE_FLITS_MAX && c->llr.window >= WINDOW_MIN &&
	       weft_llr_size(&c->llr) != 0;
}

size_t
weft_end_ide_size(void)
{
	return 2 * weft_ide_stream_size();
}

/* The end is zero; what the others hold is theirs to begin. */
static struct weft_end *
end_carve(struct weft_carver *c, const struct weft_end_cfg *cfg)
{
	struct weft_end *e = weft_carve(c, sizeof(*e));
	struct weft_llr *llr = weft_carve(c, weft_llr_size(&cfg->llr));
	struct weft_msg *msg[WEFT_MSG_LLCTRL];
	struct end_ide_hold *hold = NULL;
	struct end_ide *ide = NULL;
	struct end_io *io;

	for (unsigned int k = 0; k < WEFT_MSG_LLCTRL; k++)
		msg[k] = weft_carve(c, cfg->room[k] * sizeof(*msg[k]));
	io = end_io_carve(c, cfg);
	if (cfg->ide != NULL)
		ide = weft_carve(c, sizeof(*ide));
	if (cfg->ide != NULL && !cfg->ide->owner_opens)
		hold = weft_carve(c, sizeof(*hold));
	if (e == NULL)
		return NULL;
	memset(e, 0, sizeof(*e));
	e->llr = llr;
	e->io = io;
	e->ide = ide;
	e->ide_hold = hold;
	for (unsigned int k = 0; k < WEFT_MSG_LLCTRL; k++)
		e->box[k] = (struct box){ .msg = msg[k], .room = cfg->room[k] };
	return e;
}

size_t
weft_end_size(const struct weft_end_cfg *cfg)
{
	struct weft_carver c = { 0 };

	if (!cfg_is_valid(cfg))
		return 0;
	end_carve(&c, cfg);
	return c.len;
}

struct weft_end *
weft_end_init(void *mem, const struct weft_end_cfg *cfg, uint64_t now_ns)
{
	struct weft_carver c = { .block = mem };
	struct weft_end *e;

	if (!cfg_is_valid(cfg) || (uintptr_t)mem % WEFT_CACHE_LINE != 0)
		return NULL;
	e = end_carve(&c, cfg);
	e->cfg = *cfg;
	e->cfg.session.pad_flits =
		cfg->max_flits; /* full frames pass, or the session does not begin */
	if (weft_session_init(&e->session, &e->cfg.session, now_ns) != 0)
		return NULL;
	e->io->count = e->count;
	weft_llr_init(e->llr, &cfg->llr, now_ns);
	if (cfg->ide != NULL)
		*e->ide = (struct end_ide){ .cfg = *cfg->ide };
	if (e->ide_hold != NULL)
		e->ide_hold->head = e->ide_hold->n = 0;
	return e;
}

/* Only a new session goes on. */
static bool
is_broken(const struct weft_end *e)
{
	return e->io->is_broken || (e->ide != NULL && e->ide->is_broken);
}

/*
 * Somebody else sends in this session. With IDE its MACs are the judge of what came, and here only
 * of what was acknowledged (RETRY-26, RETRY-27).
 */
static bool
is_in_doubt(const struct weft_end *e)
{
	return (weft_llr_doubt(e->llr) & (e->ide == NULL ? ~0u : WEFT_LLR_DOUBT_ACKS)) != 0;
}

static void
prefetch(const void *from, size_t len)
{
	const uintptr_t first = (uintptr_t)from & ~(uintptr_t)(WEFT_CACHE_LINE - 1);

	for (uintptr_t at = first; at < (uintptr_t)from + len; at += WEFT_CACHE_LINE)
		__builtin_prefetch((const void *)at);
}

/* What is used most lies in a few runs; settings and room for many messages lie between. */
void
weft_end_prefetch(const struct weft_end *e)
{
	prefetch(&e->session.state,
		offsetof(struct weft_session, deaf_ns) - offsetof(struct weft_session, state));
	prefetch(e->flow.may_send,
		offsetof(struct weft_end, pack.join) - offsetof(struct weft_end, flow.may_send));
	prefetch(e->pack.per_group, sizeof(e->pack.per_group));
	prefetch(&e->unpack, 2 * WEFT_CACHE_LINE);
	prefetch(e->box, sizeof(e->box));
	/* The retry layer is behind; e->llr would have to be read. */
	prefetch((const uint8_t *)e + weft_line_up(sizeof(*e)), LLR_HOT);
}

/* --- sending flits --- */

static void
note_owed(struct weft_end *e, uint64_t now_ns)
{
	if (e->owes || !weft_flow_owes(&e->flow))
		return;
	e->owes = true;
	e->owed_ns = now_ns;
}

static bool
begin_flit(struct weft_end *e)
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
fill_flit(struct weft_end *e)
{
	uint8_t *flit = weft_llr_reserve(e->llr);

	e->more_data = weft_pack_end(&e->pack);
	weft_put_le16(flit + WEFT_FLIT_CRD_OFF, weft_flow_crd(&e->flow));
	e->owes = false;
	e->flit_open = false;
	e->may_poison = false;
	return flit;
}

static void
seal_flit(struct weft_end *e, uint8_t *flit)
{
	if (e->ide == NULL)
		return;
	end_ide_seal(e->ide, flit);
	e->count[WEFT_END_N_IDE_SEALED]++;
}

static void
end_flit(struct weft_end *e)
{
	seal_flit(e, fill_flit(e));
	weft_llr_commit(e->llr);
	if (e->io->ahead > -END_IO_TURN)
		e->io->ahead--;
}

static void
make_poison(struct weft_end *e, uint8_t *flit, uint8_t offset)
{
	weft_ide_poison_put(flit, offset);
	if (e->ide != NULL)
		end_ide_poison(e->ide, flit);
}

/* Data is still to come: Poison goes before it. */
static void
poison_rest(struct weft_end *e)
{
	end_flit(e);
	make_poison(e, weft_llr_reserve(e->llr), 0);
	weft_llr_commit(e->llr);
}

/* The retry layer makes the same Poison flit, and moves the flit behind it. */
static void
poison_flit(struct weft_end *e, uint8_t offset)
{
	uint8_t poison[WEFT_FLIT_LEN], *flit;

	make_poison(e, poison, offset);
	flit = fill_flit(e);
	seal_flit(e, flit);
	if (e->ide != NULL)
		end_ide_flush(e->ide);
	weft_llr_commit_poisoned(e->llr, offset); /* there is room */
}

/* INIT.Param is the first flit of a session: nothing is known of the other end's room yet. */
static void
send_init(struct weft_end *e)
{
	static const uint8_t not_p2p[WEFT_LLCTRL_PAYLOAD_LEN];
	struct weft_flit_hdr h = { .type = WEFT_FLIT_CACHEMEM };
	uint8_t *flit = weft_llr_reserve(e->llr);

	memset(flit, 0, WEFT_FLIT_LEN);
	weft_flit_hdr_put(flit, &h);
	weft_llctrl_put(flit, WEFT_LLCTRL_INIT_PARAM, not_p2p);
	weft_llr_commit(e->llr);
}

/* Wipe what the session's keys opened, and them. */
static void
wipe_ide(struct weft_end *e)
{
	if (e->ide != NULL)
		end_ide_end(e->ide);
	if (e->ide_hold != NULL)
		explicit_bzero(e->ide_hold, sizeof(*e->ide_hold));
}

static void
begin_session(struct weft_end *e, uint64_t now_ns)
{
	uint32_t room[WEFT_CREDIT_SETS][WEFT_CREDIT_CLASSES] = { 0 };

	for (unsigned int k = 0; k < WEFT_MSG_LLCTRL; k++) {
		room[account[k].set][account[k].class] = e->cfg.room[k];
		e->box[k].head = 0;
		e->box[k].n = 0;
	}
	weft_llr_restart(e->llr, now_ns);
	weft_flow_init(&e->flow, room);
	weft_pack_init(&e->pack, (enum weft_form)e->cfg.form);
	weft_unpack_init(&e->unpack, (enum weft_form)e->cfg.form, e->cfg.seen);
	e->max_flits = e->cfg.max_flits;
	if (e->session.peer.max_flits < e->max_flits)
		e->max_flits = e->session.peer.max_flits;
	e->flit_open = false;
	e->more_data = false;
	e->may_poison = false;
	e->init_seen = false;
	e->owes = false;
	end_io_begin(e->io);
	wipe_ide(e);
	if (e->ide == NULL || end_ide_begin(e->ide, &e->session, now_ns))
		send_init(e);
}

/* Flits to leave to CXL.io: the one at hand, and its turn. */
static unsigned int
left_to_io(const struct weft_end *e)
{
	return e->io->open + (e->io->may_ever && e->io->ahead < 0 ? END_IO_TURN : 0u);
}

/* The like for messages: the flit at hand and one that their data runs over into, and their turn. */
static unsigned int
left_to_messages(const struct weft_end *e)
{
	return e->flit_open + (unsigned int)(e->more_data || weft_pack_waits(&e->pack)) +
	       (e->io->ahead > 0 ? END_IO_TURN : 0u);
}

static bool
ide_may_send(const struct weft_end *e)
{
	return !e->ide->is_broken && !e->ide->rekey_due &&
	       weft_llr_room(e->llr) >= SEND_ROOM + IDE_ROOM;
}

bool
weft_end_can_send(const struct weft_end *e, enum weft_msg_kind kind)
{
	return weft_session_is_live(&e->session) && (unsigned int)kind < WEFT_MSG_LLCTRL &&
	       e->flow.may_send[set_of(kind)][class_of(kind)] != 0 &&
	       weft_llr_room(e->llr) >= SEND_ROOM + left_to_io(e) &&
	       (e->ide == NULL || ide_may_send(e));
}

int
weft_end_send(struct weft_end *e, const struct weft_msg *m)
{
	enum weft_msg_kind kind = (enum weft_msg_kind)m->kind;

	if (!weft_session_is_live(&e->session))
		return -ENOTCONN;
	if ((unsigned int)kind >= WEFT_MSG_LLCTRL)
		return -EINVAL;
	if (!weft_end_can_send(e, kind))
		return -EAGAIN;
	/* It fits at the latest into the second new flit: the first may be full of data. */
	for (unsigned int tries = 0; tries < SEND_ROOM; tries++) {
		int rc;

		if (!e->flit_open && !begin_flit(e))
			return -EAGAIN;
		rc = weft_pack_msg(&e->pack, m);
		if (rc == 0) {
			weft_flow_take(&e->flow, set_of(kind), class_of(kind));
			e->count[WEFT_END_N_MESSAGES_SENT]++;
			e->may_poison = weft_msg_has_data(m);
			e->n_data = (uint8_t)(e->n_data + e->may_poison);
			return 0;
		}
		if (rc != -ENOSPC)
			return rc;
		end_flit(e);
	}
	return -EAGAIN;
}

/* The flit with packets goes into the window. False: that is full. */
static bool
commit_io(struct weft_end *e)
{
	uint8_t *slot;

	if (e->flit_open)
		end_flit(e);
	slot = weft_llr_reserve(e->llr);
	if (slot == NULL)
		return false;
	end_io_put(e->io, slot);
	weft_llr_commit(e->llr);
	if (e->io->ahead < END_IO_TURN)
		e->io->ahead++;
	return true;
}

bool
weft_end_can_send_io(const struct weft_end *e, enum weft_io_class c)
{
	return weft_session_is_live(&e->session) && (unsigned int)c < WEFT_IO_CLASSES &&
	       end_io_has_credit(e->io, c) &&
	       weft_llr_room(e->llr) >= END_IO_ROOM + left_to_messages(e);
}

int
weft_end_send_io(struct weft_end *e, const struct weft_io_tlp *t)
{
	enum weft_io_class c;
	int rc;

	if (!weft_session_is_live(&e->session))
		return -ENOTCONN;
	if (e->ide != NULL || !weft_io_is_valid(t))
		return -EINVAL;
	c = (enum weft_io_class)weft_io_class(t);
	if (!weft_end_can_send_io(e, c))
		return -EAGAIN;
	end_io_open(e->io);
	while ((rc = weft_io_pack_tlp(&e->io->pack, t)) == -ENOSPC) {
		if (!commit_io(e))
			return -EAGAIN;
		end_io_open(e->io);
	}
	e->io->sent[c]++;
	e->count[WEFT_END_N_IO_SENT]++;
	/* What runs over goes into the next flit at once: at most one flit is ever at hand. */
	while (weft_io_pack_waits(&e->io->pack) && commit_io(e))
		;
	return rc;
}

static bool
poison_has_room(const struct weft_end *e, unsigned int flits)
{
	return weft_llr_room(e->llr) >= flits + POISON_ROOM + (e->ide == NULL ? 0 : IDE_ROOM) &&
	       (e->ide == NULL || end_ide_may_poison(e->ide));
}

bool
weft_end_can_poison(const struct weft_end *e)
{
	return weft_session_is_live(&e->session) && poison_has_room(e, SEND_ROOM);
}

int
weft_end_poison(struct weft_end *e)
{
	if (!weft_session_is_live(&e->session))
		return -ENOTCONN;
	if (!e->may_poison)
		return -EALREADY;
	if (!poison_has_room(e, 0))
		return -EAGAIN;
	if (weft_pack_waits(&e->pack))
		poison_rest(e);
	else
		poison_flit(e, (uint8_t)(e->n_data - 1));
	e->count[WEFT_END_N_POISONED]++;
	return 0;
}

/* How long credits wait for a flit with messages to ride on. */
static uint64_t
credit_delay_ns(const struct weft_end *e)
{
	return weft_rtt_guess(weft_llr_rtt(e->llr)) / 4;
}

/* End the epoch. False: the window is full, it goes on later. */
static bool
close_epoch(struct weft_end *e)
{
	for (;;) {
		uint8_t *flit = weft_llr_reserve(e->llr);
		enum weft_ide_close c;

		if (flit == NULL)
			return false;
		c = end_ide_close(e->ide, flit);
		if (c == WEFT_IDE_CLOSED)
			break;
		if (c == WEFT_IDE_CLOSE_TMAC) {
			weft_llr_commit(e->llr);
			break;
		}
		begin_flit(e);
		end_flit(e);
	}
	e->ide->is_open = e->ide->is_fresh = false;
	return true;
}

/* Epochs end with the traffic; keys change between epochs. */
static void
complete_ide(struct weft_end *e, uint64_t now_ns)
{
	uint8_t *flit;

	if (e->more_data || !end_ide_must_close(e->ide, now_ns, credit_delay_ns(e)) ||
		!close_epoch(e) || !e->ide->rekey_due)
		return;
	flit = weft_llr_reserve(e->llr);
	if (flit == NULL || !end_ide_start(e->ide, flit, now_ns))
		return;
	weft_llr_commit(e->llr);
	e->count[WEFT_END_N_IDE_REKEYS]++;
}

static void
note_owed_io(struct weft_end *e, uint64_t now_ns)
{
	if (e->io->owes || !end_io_owes(e->io))
		return;
	e->io->owes = true;
	e->io->owed_ns = now_ns;
}

/* The same for CXL.io. */
static void
complete_io(struct weft_end *e, uint64_t now_ns)
{
	while (e->io->open && commit_io(e))
		;
	note_owed_io(e, now_ns);
	while (e->io->owes && weft_llr_room(e->llr) != 0 &&
		(end_io_is_urgent(e->io) || now_ns >= e->io->owed_ns + credit_delay_ns(e))) {
		end_io_open(e->io);
		commit_io(e);
		e->count[WEFT_END_N_IO_CREDIT_FLITS]++;
		note_owed_io(e, now_ns);
	}
}

/* Let what is packed, and credits that are worth a flit, go out. */
static void
complete(struct weft_end *e, uint64_t now_ns)
{
	if (e->flit_open)
		end_flit(e);
	while (e->more_data && begin_flit(e))
		end_flit(e);
	note_owed(e, now_ns);
	while (e->owes && !e->more_data &&
		(weft_flow_is_urgent(&e->flow) || now_ns >= e->owed_ns + credit_delay_ns(e)) &&
		begin_flit(e)) {
		end_flit(e);
		e->count[WEFT_END_N_CREDIT_FLITS]++;
		note_owed(e, now_ns);
	}
	complete_io(e, now_ns);
}

unsigned int
weft_end_frames_due(const struct weft_end *e)
{
	const unsigned int flits = weft_llr_unsent(e->llr) + e->flit_open;

	return flits <= e->max_flits ? 1 : (flits + e->max_flits - 1u) / e->max_flits;
}

/* With fresh bits in @p rnd. */
static bool
next_control(struct weft_end *e, uint8_t *payload, uint64_t now_ns, uint64_t rnd,
	struct weft_end_out *out)
{
	struct weft_control c;
	uint32_t id;

	if (!weft_session_next(&e->session, now_ns, rnd, &id, &c))
		return false;
	*out = (struct weft_end_out){
		.hdr = { .mode = e->cfg.llr.mode, .kind = WEFT_WIRE_CONTROL, .session = id }
	};
	out->len = weft_control_build(payload, &c);
	return true;
}

bool
weft_end_next_control(struct weft_end *e, uint8_t *payload, uint64_t now_ns,
	uint64_t (*random)(void *arg), void *arg, struct weft_end_out *out)
{
	return weft_session_deadline(&e->session) <= now_ns &&
	       next_control(e, payload, now_ns, random(arg), out);
}

void
weft_end_pack(struct weft_end *e, uint64_t now_ns)
{
	if (weft_session_is_live(&e->session) && !is_broken(e))
		complete(e, now_ns);
}

unsigned int
weft_end_seal(struct weft_end *e, uint64_t now_ns)
{
	uint64_t before;

	if (e->ide == NULL || !weft_session_is_live(&e->session) || is_broken(e))
		return 0;
	before = e->ide->sealed;
	complete_ide(e, now_ns);
	end_ide_flush(e->ide);
	return (unsigned int)(e->ide->sealed - before);
}

bool
weft_end_next_flits(struct weft_end *e, uint8_t *payload, uint64_t now_ns, struct weft_end_out *out)
{
	if (!weft_session_is_live(&e->session) || is_broken(e))
		return false;
	*out = (struct weft_end_out){ .hdr = { .mode = e->cfg.llr.mode,
					      .kind = WEFT_WIRE_FLITS,
					      .session = e->session.id } };
	if (weft_llr_fill(e->llr, payload, e->max_flits, now_ns, &out->flits) == 0)
		return false;
	out->hdr.n_flits = (uint8_t)out->flits.n;
	out->len = (size_t)out->flits.n * WEFT_FLIT_LEN;
	weft_session_sent(&e->session, now_ns);
	return true;
}

bool
weft_end_next(struct weft_end *e, uint8_t *payload, uint64_t now_ns, uint64_t rnd,
	struct weft_end_out *out)
{
	if (next_control(e, payload, now_ns, rnd, out))
		return true;
	weft_end_pack(e, now_ns);
	weft_end_seal(e, now_ns);
	return weft_end_next_flits(e, payload, now_ns, out);
}

/* --- receiving --- */

static enum weft_session_event
seen(struct weft_end *e, enum weft_session_event ev, uint64_t now_ns)
{
	if (ev == WEFT_SESSION_BEGIN)
		begin_session(e, now_ns);
	else if (ev == WEFT_SESSION_END)
		wipe_ide(e);
	return ev;
}

enum weft_session_event
weft_end_control(struct weft_end *e, const struct weft_wire_hdr *h, const uint8_t *rec, size_t len,
	uint64_t now_ns, uint64_t rnd)
{
	struct weft_control c;

	if (weft_control_parse(rec, len, &c) != WEFT_OK) {
		e->count[WEFT_END_N_BAD_CONTROL]++;
		return WEFT_SESSION_NOTHING;
	}
	return seen(e, weft_session_control(&e->session, h->session, &c, now_ns, rnd), now_ns);
}

enum weft_verdict
weft_end_frame(struct weft_end *e, uint32_t session, uint64_t now_ns, enum weft_session_event *ev)
{
	enum weft_verdict v = weft_session_flits(&e->session, session, now_ns, ev);

	seen(e, *ev, now_ns);
	return v;
}

static void
message(void *arg, const struct weft_msg *m)
{
	struct weft_end *e = arg;
	enum weft_msg_kind kind = (enum weft_msg_kind)m->kind;
	struct box *b;

	if (kind == WEFT_MSG_LLCTRL) {
		e->init_seen |= m->op == WEFT_LLCTRL_INIT_PARAM;
		if (e->fn != NULL)
			e->fn(e->arg, m);
		return;
	}
	if (!e->init_seen) {
		e->count[WEFT_END_N_BEFORE_INIT]++;
		return;
	}
	if (!weft_flow_came(&e->flow, set_of(kind), class_of(kind))) {
		e->count[WEFT_END_N_NO_CREDIT]++;
		return;
	}
	e->count[WEFT_END_N_MESSAGES]++;
	b = &e->box[kind];
	if (b->n == 0 && e->fn != NULL && e->fn(e->arg, m)) {
		weft_flow_consumed(&e->flow, set_of(kind), class_of(kind));
		return;
	}
	b->msg[(b->head + b->n++) % b->room] = *m;
}

static void
credits_came(struct weft_end *e, uint16_t crd)
{
	if (crd == 0)
		return;
	if (!e->init_seen)
		e->count[WEFT_END_N_BEFORE_INIT]++;
	else if (!weft_flow_crd_came(&e->flow, crd))
		e->count[WEFT_END_N_BAD_CRD]++;
}

/* With IDE there are none: what comes in the clear is no one's that has the key. */
static void
io_flit(struct weft_end *e, const uint8_t *flit, bool skip)
{
	if (e->ide != NULL)
		return;
	if (!e->init_seen)
		e->count[WEFT_END_N_BEFORE_INIT]++;
	else if (skip)
		end_io_lost(e->io);
	else
		end_io_flit(e->io, flit);
}

static void
deliver(struct weft_end *e, const uint8_t *flit)
{
	if (flit[0] >> 6 != WEFT_FLIT_CACHEMEM)
		return;
	if (!weft_flit_is_empty(flit) && weft_unpack_flit(&e->unpack, flit, message, e) != WEFT_OK)
		e->count[WEFT_END_N_BAD_SLOT]++;
	credits_came(e, weft_flit_crd(flit));
}

static void
skip_flit(struct weft_end *e, const uint8_t *flit)
{
	weft_unpack_restart(&e->unpack);
	if (flit[0] >> 6 == WEFT_FLIT_CACHEMEM)
		credits_came(e, weft_flit_crd(flit));
}

static void
hand_on(struct weft_end *e, const uint8_t *flit, bool skip)
{
	if (flit[0] >> 6 == WEFT_FLIT_IO)
		io_flit(e, flit, skip);
	else if (skip)
		skip_flit(e, flit);
	else
		deliver(e, flit);
}

uint32_t
weft_end_rx_ide(const struct weft_end *e, struct weft_ide_stream **stream)
{
	*stream = e->ide == NULL ? NULL : e->ide->rx;
	return e->ide == NULL ? 0 : e->ide->n_streams;
}

void
weft_end_rx_opened(struct weft_end *e, const struct weft_ide_run *run)
{
	const uint64_t keys = e->ide->rx_keys;
	const bool was_broken = e->ide->is_broken;

	end_ide_opened(e->ide, run);
	e->count[WEFT_END_N_IDE_EPOCHS] += run->epochs_good;
	e->count[WEFT_END_N_IDE_REKEYED] += e->ide->rx_keys - keys;
	e->count[WEFT_END_N_IDE_DROPPED] += (uint64_t)run->failed + run->insecure;
	e->count[WEFT_END_N_IDE_FAILURES] += e->ide->is_broken && !was_broken;
}

/* Decrypt what was taken, and go on with what that lets go. */
static void
open_taken(struct weft_end *e)
{
	struct end_ide_hold *h = e->ide_hold;
	struct weft_ide_run run;
	unsigned int n;
	bool skip;

	while ((n = end_ide_open(e->ide, h, &run)) != 0) {
		weft_end_rx_opened(e, &run);
		for (; run.release > 0; run.release--) {
			const uint8_t *flit = end_ide_released(h, &skip);

			hand_on(e, flit, skip);
		}
	}
}

static void
take_sealed(struct weft_end *e, const uint8_t *flit, bool skip)
{
	if (end_ide_take(e->ide_hold, flit, skip))
		return;
	open_taken(e);
	end_ide_take(e->ide_hold, flit, skip);
}

void
weft_end_deliver(struct weft_end *e, const uint8_t *flits, uint64_t live, uint64_t refused,
	weft_end_msg_fn fn, void *arg)
{
	e->fn = fn;
	e->arg = arg;
	for (uint64_t left = live; left != 0; left &= left - 1) {
		const unsigned int i = (unsigned int)__builtin_ctzll(left);
		const uint8_t *flit = flits + i * (size_t)WEFT_FLIT_LEN;
		const bool skip = (refused & WEFT_BIT64(i)) != 0;

		if (e->ide_hold == NULL)
			hand_on(e, flit, skip);
		else
			take_sealed(e, flit, skip);
	}
	if (e->ide_hold != NULL)
		open_taken(e);
}

void
weft_end_deliver_held(struct weft_end *e, weft_end_msg_fn fn, void *arg)
{
	const uint8_t *flit;

	e->fn = fn;
	e->arg = arg;
	while ((flit = weft_llr_held(e->llr)) != NULL)
		if (e->ide_hold == NULL)
			hand_on(e, flit, false);
		else
			take_sealed(e, flit, false);
	if (e->ide_hold != NULL)
		open_taken(e);
}

enum weft_verdict
weft_end_receive(struct weft_end *e, const struct weft_wire_hdr *h, const uint8_t *flits,
	const uint64_t *syndrome, uint64_t skip, uint64_t now_ns, enum weft_session_event *ev,
	struct weft_llr_in *in, weft_end_msg_fn fn, void *arg)
{
	enum weft_verdict v = weft_end_frame(e, h->session, now_ns, ev);
	struct weft_llr_in none;

	if (in == NULL)
		in = &none;
	*in = (struct weft_llr_in){ 0 };
	if (v != WEFT_OK)
		return v;
	weft_llr_take(e->llr, flits, syndrome, h->n_flits, skip, now_ns, in);
	weft_end_deliver(e, flits, in->deliver, 0, fn, arg);
	weft_end_deliver_held(e, fn, arg);
	return WEFT_OK;
}

const struct weft_msg *
weft_end_peek(const struct weft_end *e, enum weft_msg_kind kind)
{
	const struct box *b = &e->box[kind];

	return b->n == 0 ? NULL : &b->msg[b->head];
}

void
weft_end_pop(struct weft_end *e, enum weft_msg_kind kind)
{
	struct box *b = &e->box[kind];

	assert(b->n != 0);
	b->head = (uint16_t)((b->head + 1) % b->room);
	b->n--;
	weft_flow_consumed(&e->flow, set_of(kind), class_of(kind));
}

const struct weft_io_tlp *
weft_end_io_peek(const struct weft_end *e, enum weft_io_class c)
{
	return end_io_peek(e->io, c);
}

void
weft_end_io_pop(struct weft_end *e, enum weft_io_class c)
{
	end_io_pop(e->io, c);
}

/* --- time, and looking at it --- */

enum weft_session_event
weft_end_tick(struct weft_end *e, uint64_t now_ns)
{
	/* Insecure: only a new session with new keys goes on; malformed: one with a new stream. */
	if (is_broken(e))
		return seen(e, weft_session_abandon(&e->session, now_ns), now_ns);
	/* A new session is what nobody has recorded anything of. Not at every forged flit, though. */
	if (is_in_doubt(e) && now_ns >= e->doubt_ns && weft_session_is_live(&e->session)) {
		e->doubt_ns = now_ns + DOUBT_NS;
		e->count[WEFT_END_N_DOUBTED]++;
		return seen(e, weft_session_abandon(&e->session, now_ns), now_ns);
	}
	return seen(e, weft_session_tick(&e->session, now_ns), now_ns);
}

static uint64_t
io_deadline(const struct weft_end *e)
{
	if (weft_llr_room(e->llr) == 0)
		return UINT64_MAX;
	if (e->io->open)
		return 0;
	if (!end_io_owes(e->io))
		return UINT64_MAX;
	return !e->io->owes || end_io_is_urgent(e->io) ? 0 : e->io->owed_ns + credit_delay_ns(e);
}

uint64_t
weft_end_deadline(const struct weft_end *e)
{
	uint64_t at = weft_session_deadline(&e->session);
	uint64_t t;

	if (at == 0 || !weft_session_is_live(&e->session))
		return at;
	if (is_broken(e))
		return 0;
	if (is_in_doubt(e) && e->doubt_ns < at)
		at = e->doubt_ns;
	if (e->ide != NULL) {
		t = weft_llr_room(e->llr) == 0 ? at : end_ide_deadline(e->ide, credit_delay_ns(e));
		at = t < at ? t : at;
	}
	if (e->flit_open || (e->more_data && weft_llr_room(e->llr) != 0))
		return 0;
	if (weft_flow_owes(&e->flow) && weft_llr_room(e->llr) != 0) {
		if (!e->owes || weft_flow_is_urgent(&e->flow))
			return 0;
		if ((t = e->owed_ns + credit_delay_ns(e)) < at)
			at = t;
	}
	t = io_deadline(e);
	at = t < at ? t : at;
	t = weft_llr_deadline(e->llr);
	return t < at ? t : at;
}

void
weft_end_close(struct weft_end *e)
{
	weft_session_close(&e->session);
	wipe_ide(e);
}

void
weft_end_fini(struct weft_end *e)
{
	wipe_ide(e);
}

void
weft_end_knows(struct weft_end *e, uint64_t generation)
{
	weft_session_knows(&e->session, generation);
}

struct weft_llr *
weft_end_llr(struct weft_end *e)
{
	return e->llr;
}

const struct weft_session *
weft_end_session(const struct weft_end *e)
{
	return &e->session;
}

const struct weft_flow *
weft_end_flow(const struct weft_end *e)
{
	return &e->flow;
}

const struct weft_counter *
weft_end_counters(void)
{
	return rows;
}

const uint64_t *
weft_end_counts(const struct weft_end *e)
{
	return e->count;
}
