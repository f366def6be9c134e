/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Two whole ends over a bad wire, as host and GFD. */
#ifndef END_RIG_H
#define END_RIG_H

#include "weft_test.h"

#include "weft_crc.h"
#include "weft_link.h"
#include "weft_isn.h"

#define MAX_FLITS 5
#define FRAMES 2048
#define POISON_TAGS 512

struct frame {
	uint64_t at_ns;
	struct weft_wire_hdr hdr;
	size_t len;
	uint64_t syndrome[MAX_FLITS];
	uint8_t payload[MAX_FLITS * WEFT_FLIT_LEN];
};

struct side {
	struct weft_link *end;
	struct weft_link_cfg cfg;
	struct frame *frame; /* on the way here */
	uint32_t n_frames;
	uint64_t free_ns;
	uint64_t came[WEFT_MSG_KINDS]; /* messages consumed */
	uint16_t tag[WEFT_MSG_KINDS]; /* the next must have */
	uint64_t wrong;
	bool poisoned[WEFT_MSG_KINDS][POISON_TAGS]; /* by tag: data that must come poisoned */
	bool consumes; /* at once; otherwise messages wait */
	void *ide; /* of who uses the rig */
	unsigned int begun, ended;
};

struct rig {
	struct side side[2]; /* 0 asks */
	struct weft_rand rnd;
	uint64_t now_ns;
	uint32_t bad, drop; /* parts of a million: flits, frames */
	bool cut[2]; /* nothing arrives at this side */
	bool is_cxl;
	/* Sees each frame that a side sends before it may be lost; may change it. May be NULL. */
	void (*tap)(struct rig *r, unsigned int from, struct frame *f,
		const struct weft_llr_tx_info *out);
	/* Takes the flits that come to side 1, and says of a new session. NULL: the rig does. */
	enum weft_session_event (*take)(struct rig *r, const struct frame *f);
};

static inline struct weft_link_cfg
side_cfg(bool is_initiator)
{
	struct weft_link_cfg c = { .form = WEFT_FORM_PBR, .max_flits = MAX_FLITS };

	weft_session_defaults(&c.session);
	c.session.is_initiator = is_initiator;
	c.session.params = (struct weft_control){ .version = WEFT_WIRE_VERSION,
		.mode = WEFT_MODE_RXL,
		.max_flits = MAX_FLITS,
		.credits = 40 };
	weft_llr_defaults(&c.llr, WEFT_MODE_RXL);
	c.llr.window = 64;
	c.llr.rx_flits = 63;
	c.room[is_initiator ? WEFT_MSG_S2M_NDR : WEFT_MSG_M2S_REQ] = 40;
	c.room[is_initiator ? WEFT_MSG_S2M_DRS : WEFT_MSG_M2S_RWD] = 33;
	return c;
}

static inline void
side_start(struct rig *r, unsigned int i)
{
	struct side *s = &r->side[i];

	s->end = weft_link_init(s->end, &s->cfg, r->now_ns);
	assert_non_null(s->end);
	memset(s->tag, 0, sizeof(s->tag));
	memset(s->poisoned, 0, sizeof(s->poisoned));
}

static inline void
rig_init(struct rig *r, uint64_t seed)
{
	memset(r, 0, sizeof(*r));
	weft_rand_seed(&r->rnd, seed);
	for (unsigned int i = 0; i < 2; i++) {
		struct side *s = &r->side[i];

		s->cfg = side_cfg(i == 0);
		s->end = aligned_alloc(WEFT_CACHE_LINE, weft_link_size(&s->cfg));
		s->frame = malloc(FRAMES * sizeof(*s->frame));
		assert_true(s->end != NULL && s->frame != NULL);
		s->consumes = true;
		side_start(r, i);
	}
}

static inline void
rig_free(struct rig *r)
{
	for (unsigned int i = 0; i < 2; i++) {
		free(r->side[i].end);
		free(r->side[i].frame);
	}
}

static inline bool
chance(struct rig *r, uint32_t ppm)
{
	return ppm != 0 && weft_rand_below(&r->rnd, 1000000) < ppm;
}

static inline void
note(struct side *s, const struct weft_msg *m)
{
	s->wrong += m->tag != s->tag[m->kind];
	s->wrong += (m->poison != 0) != s->poisoned[m->kind][m->tag % POISON_TAGS];
	s->tag[m->kind] = (uint16_t)(m->tag + 1);
	s->came[m->kind]++;
}

static inline bool
consume(void *arg, const struct weft_msg *m)
{
	struct side *s = arg;

	if (m->kind == WEFT_MSG_LLCTRL)
		return true;
	if (!s->consumes)
		return false;
	note(s, m);
	return true;
}

static inline void
follow(struct rig *r, unsigned int i, enum weft_session_event ev)
{
	struct side *s = &r->side[i];

	s->begun += ev == WEFT_SESSION_BEGIN;
	s->ended += ev == WEFT_SESSION_END;
	if (ev == WEFT_SESSION_BEGIN)
		memset(s->tag, 0, sizeof(s->tag));
}

static inline void
arrive(struct rig *r, unsigned int i, struct frame *f)
{
	struct side *s = &r->side[i];
	enum weft_session_event ev = WEFT_SESSION_NOTHING;

	if (f->hdr.kind == WEFT_WIRE_CONTROL)
		ev = weft_link_control(
			s->end, &f->hdr, f->payload, f->len, r->now_ns, weft_rand_u64(&r->rnd));
	else if (i == 1 && r->take != NULL)
		ev = r->take(r, f);
	else
		weft_link_receive(s->end, &f->hdr, f->payload, f->syndrome, 0, r->now_ns, &ev, NULL,
			consume, s);
	follow(r, i, ev);
}

static inline bool
leave(struct rig *r, unsigned int i)
{
	struct side *s = &r->side[i], *to = &r->side[1 - i];
	struct weft_link_out out;
	struct frame f;

	if (r->now_ns < s->free_ns ||
		!weft_link_next(s->end, f.payload, r->now_ns, weft_rand_u64(&r->rnd), &out))
		return false;
	f.hdr = out.hdr;
	f.len = out.len;
	for (unsigned int k = 0; k < out.flits.n; k++) {
		unsigned int numbered = out.flits.n - out.flits.nops;
		unsigned int number = out.flits.first + (k < numbered ? k : numbered);

		f.syndrome[k] = r->is_cxl ? 0 : weft_isn_number(number % WEFT_ISN_NUMBERS);
		if ((out.flits.invert_crc & WEFT_BIT64(k)) != 0)
			f.syndrome[k] ^= UINT64_MAX;
		if (chance(r, r->bad))
			f.syndrome[k] ^= weft_rand_u64(&r->rnd) | 1;
	}
	if (r->tap != NULL)
		r->tap(r, i, &f, &out.flits);
	/* What was received is known again by its CRC, here without number and address. */
	for (unsigned int k = 0; k < out.flits.n; k++) {
		uint8_t *flit = f.payload + k * (size_t)WEFT_FLIT_LEN;

		weft_crc_store(flit, weft_crc_update(0, flit, WEFT_CRC_OFF), WEFT_CRC_R0_FIRST);
	}
	s->free_ns = r->now_ns + 20 * (f.len / WEFT_FLIT_LEN + 1);
	f.at_ns = s->free_ns + 1500;
	if (chance(r, r->drop) || r->cut[1 - i])
		return true;
	assert_true(to->n_frames < FRAMES);
	to->frame[to->n_frames++] = f;
	return true;
}

/* One step; false: nothing will happen any more by itself. */
static inline bool
step(struct rig *r)
{
	uint64_t next = UINT64_MAX;

	for (unsigned int i = 0; i < 2; i++) {
		struct side *s = &r->side[i];

		while (s->n_frames != 0 && s->frame[0].at_ns <= r->now_ns) {
			arrive(r, i, &s->frame[0]);
			memmove(s->frame, s->frame + 1, --s->n_frames * sizeof(*s->frame));
		}
		follow(r, i, weft_link_tick(s->end, r->now_ns));
	}
	for (unsigned int i = 0; i < 2; i++)
		while (leave(r, i))
			;
	for (unsigned int i = 0; i < 2; i++) {
		struct side *s = &r->side[i];
		uint64_t at = weft_link_deadline(s->end);

		if (at < s->free_ns)
			at = s->free_ns;
		if (s->n_frames != 0 && s->frame[0].at_ns < at)
			at = s->frame[0].at_ns;
		if (at < next)
			next = at;
	}
	if (next == UINT64_MAX)
		return false;
	r->now_ns = next > r->now_ns ? next : r->now_ns + 1;
	return true;
}

static inline void
run_until(struct rig *r, uint64_t ns)
{
	while (r->now_ns < ns && step(r))
		;
}

static inline bool
both_up(const struct rig *r)
{
	return weft_link_session(r->side[0].end)->state == WEFT_SESSION_UP &&
	       weft_link_session(r->side[1].end)->state == WEFT_SESSION_UP;
}

static inline struct weft_msg
message(enum weft_msg_kind kind, uint16_t tag)
{
	struct weft_msg m = { .kind = (uint8_t)kind, .tag = tag, .dpid = 0x200, .spid = 0x100 };

	m.op = kind == WEFT_MSG_M2S_REQ   ? WEFT_M2S_REQ_MEMRD
	       : kind == WEFT_MSG_M2S_RWD ? WEFT_M2S_RWD_MEMWR
	                                  : 0;
	if (kind == WEFT_MSG_M2S_REQ || kind == WEFT_MSG_M2S_RWD)
		m.addr = UINT64_C(64) * tag;
	else
		m.spid = 0;
	for (unsigned int i = 0; i < WEFT_MSG_DATA_LEN && weft_msg_has_data(&m); i++)
		m.data[i] = (uint8_t)(tag + i);
	return m;
}

#endif /* END_RIG_H */
