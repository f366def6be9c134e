/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What an end sends in a step is encoded, sent through all links and judged at once, some steps
 * together, long before it arrives: the kernels like groups of flits.
 */

#include "rig.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli.h"
#include "weft_fec.h"
#include "weft_flit.h"
#include "weft_msg.h"
#include "weft_wire.h"

#define LEVELS_MAX 8
#define GROUP_FLITS 8 /* steps are taken together up to so many flits */
#define TAG_OFF 16 /* where a flit has its count */
#define MADE_MAX 65536 /* flits that may wait at the source, a power of two */
#define PAYLOADS 64

struct step {
	uint8_t n; /* flits */
	uint64_t alive; /* those that arrive */
};

/* One direction. */
struct way {
	unsigned int flits, delay, group, ring; /* a step; steps under way, together, in the ring */
	unsigned int links;
	uint64_t address; /* rxl: what the connection adds to a CRC */
	bool is_clean;
	struct weft_impair wire[LEVELS_MAX + 1];
	struct weft_impair frames;
	struct step *step;
	uint8_t *flit;
	uint64_t *word; /* a flit: first what goes into its CRC, then its syndrome */
};

#define SEEN 4096 /* messages that are remembered, a power of two */
#define ACK_OFF 224 /* where a flit without FSN has its Ack message: the last slot */

struct end {
	struct weft_llr *llr;
	struct weft_packer pack;
	struct weft_unpacker unpack;
	uint64_t committed; /* flits given to the retry layer */
	uint64_t expected; /* next true count */
};

struct rig {
	const struct exp *x;
	const struct rig_cfg *cfg;
	struct rig_result *r;
	uint64_t *latency;
	struct end a, b;
	struct way there, back;
	uint8_t payload[PAYLOADS][WEFT_WIRE_FLIT_LEN];
	struct weft_rand rand;
	uint64_t made;
	uint32_t made_slot[MADE_MAX]; /* when, low bits */
	uint64_t slot; /* first of this step */
	uint64_t next_message; /* the first that was not handed up, nor any behind it */
	uint64_t seen[SEEN]; /* message + 1 that was handed up, by its low bits */
};

static void *
rig_take_memory(size_t len)
{
	void *p = aligned_alloc(WEFT_CACHE_LINE, (len + 63) & ~(size_t)63);

	if (p == NULL)
		cli_fail("no memory for %zu bytes", len);
	memset(p, 0, len);
	return p;
}

static void
rig_open_end(struct end *e, const struct rig_cfg *cfg)
{
	struct weft_llr_cfg c;

	weft_llr_defaults(&c, cfg->mode);
	c.gap_decoding = cfg->gap_decoding;
	c.selective = cfg->selective;
	c.show_first = false; /* the paper's link has no frames */
	if (!cfg->selective)
		c.rx_flits = 0;
	c.ack_delay_ns = 100000; /* Acks ride by count, not by time */
	if (cfg->ack_every != 0)
		c.ack_every = cfg->ack_every;
	c.timeout_min_ns = 3 * PAPER_SLOT_NS * (cfg->there + cfg->back);
	*e = (struct end){ .llr = rig_take_memory(weft_llr_size(&c)) };
	if (weft_llr_init(e->llr, &c, 0) == NULL)
		cli_fail("the retry layer refuses its settings");
}

static void
rig_way_open(struct way *w, const struct rig_cfg *cfg, unsigned int slots, uint64_t seed)
{
	char settings[64];

	w->flits = cfg->frame_flits;
	w->delay = slots / w->flits;
	w->group = w->flits >= GROUP_FLITS ? 1 : GROUP_FLITS / w->flits;
	assert(slots % w->flits == 0 && w->delay >= w->group);
	w->ring = (w->delay / w->group + 2) * w->group;
	w->links = cfg->levels + 1;
	w->step = rig_take_memory(w->ring * sizeof(w->step[0]));
	w->flit = rig_take_memory((size_t)w->ring * w->flits * WEFT_WIRE_FLIT_LEN);
	w->word = rig_take_memory((size_t)w->ring * w->flits * sizeof(w->word[0]));
	for (unsigned int i = 0; i < w->links; i++) {
		snprintf(settings, sizeof(settings), "uncorrectable=%g",
			w->is_clean ? 0 : cfg->uncorrectable);
		exp_wire(&w->wire[i], seed + i, settings);
	}
	snprintf(settings, sizeof(settings), "drop=%g", w->is_clean ? 0 : cfg->frame_drop);
	exp_wire(&w->frames, seed + LEVELS_MAX + 1, settings);
}

static void
rig_way_close(struct way *w)
{
	free(w->step);
	free(w->flit);
	free(w->word);
}

static uint8_t *
rig_way_flit(const struct way *w, uint64_t step, unsigned int i)
{
	return w->flit + ((step % w->ring) * w->flits + i) * WEFT_WIRE_FLIT_LEN;
}

static uint64_t *
rig_way_word(const struct way *w, uint64_t step)
{
	return w->word + (step % w->ring) * w->flits;
}

/* --- what is sent --- */

/* A message that says which one it is. */
static void
rig_pack_message(const struct rig *g, struct end *e, uint8_t *flit)
{
	struct weft_msg m = { .kind = g->cfg->kind, .op = WEFT_M2S_REQ_MEMRD };

	if (m.kind == WEFT_MSG_S2M_DRS) {
		m.op = WEFT_S2M_DRS_MEMDATA;
		weft_put_le64(m.data, e->committed);
	} else {
		m.addr = e->committed << 6;
	}
	weft_pack_begin(&e->pack, flit, false);
	if (weft_pack_msg(&e->pack, &m) != 0 || weft_pack_end(&e->pack))
		cli_fail("a message does not fit into a flit");
}

static void
rig_commit_flit(struct rig *g, struct end *e)
{
	uint8_t *flit = weft_llr_reserve(e->llr);
	struct weft_flit_hdr h = { .type = WEFT_FLIT_CACHEMEM };

	if (g->cfg->has_messages && e == &g->a) {
		rig_pack_message(g, e, flit);
		weft_llr_commit(e->llr);
		e->committed++;
		return;
	}

	memcpy(flit, g->payload[e->committed % PAYLOADS], WEFT_WIRE_FLIT_LEN);
	weft_flit_hdr_put(flit, &h);
	weft_put_le64(flit + TAG_OFF, e->committed);
	weft_llr_commit(e->llr);
	e->committed++;
}

/* Flits made in the slots of this step. */
static void
rig_make_flits(struct rig *g)
{
	for (unsigned int i = 0; i < g->cfg->frame_flits; i++) {
		if (weft_rand_unit(&g->rand) >= g->cfg->load ||
			g->made - g->b.expected >= MADE_MAX - 1)
			continue;
		g->made_slot[g->made % MADE_MAX] = (uint32_t)(g->slot + i);
		g->made++;
	}
}

static uint64_t
rig_number_word(const struct rig *g, const struct way *w, unsigned int number)
{
	if (g->cfg->mode == WEFT_MODE_CXL)
		return 0;
	return w->address ^ weft_isn_number(number % WEFT_ISN_NUMBERS);
}

/* Section 6.2: the FSN and the ReplayCmd leave the header, and what they say becomes a message. */
static void
rig_strip_fsn(struct rig *g, uint8_t *flit)
{
	struct weft_flit_hdr h = weft_flit_hdr_get(flit);
	const uint16_t ack = (uint16_t)(h.seq | h.replay_cmd << 10);

	g->r->ack_flits++;
	g->r->ack_messages += ack != 0;
	weft_put_le16(flit + ACK_OFF, ack);
	h.seq = 0;
	h.replay_cmd = 0;
	weft_flit_hdr_put(flit, &h);
}

static void
rig_restore_fsn(uint8_t *flit)
{
	struct weft_flit_hdr h = weft_flit_hdr_get(flit);
	const uint16_t ack = weft_get_le16(flit + ACK_OFF);

	h.seq = ack & 0x3FF;
	h.replay_cmd = (uint8_t)(ack >> 10 & 3);
	weft_flit_hdr_put(flit, &h);
}

static void
rig_send_step(struct rig *g, struct end *e, struct way *w, uint64_t step, uint64_t now_ns)
{
	struct step *s = &w->step[step % w->ring];
	uint64_t *implicit = rig_way_word(w, step);

	*s = (struct step){ 0 };
	while (s->n < w->flits) {
		struct weft_llr_tx_info out;
		unsigned int numbered;

		if (weft_llr_tx(e->llr, rig_way_flit(w, step, s->n), w->flits - s->n, now_ns,
			    &out) == 0)
			break;
		numbered = out.n - out.nops;
		for (unsigned int i = 0; i < out.n; i++) {
			unsigned int number = out.first + (i < numbered ? i : numbered);

			implicit[s->n + i] = rig_number_word(g, w, number);
			if (g->cfg->no_fsn)
				rig_strip_fsn(g, rig_way_flit(w, step, s->n + i));
		}
		s->n = (uint8_t)(s->n + out.n);
		if (out.nops != 0)
			break;
	}
}

/* --- what becomes of it on the way --- */

static void
rig_damage(struct rig *g, struct way *w, uint64_t first)
{
	const unsigned int n = w->group * w->flits;
	uint8_t *flits = rig_way_flit(w, first, 0);

	for (unsigned int link = 0; link < w->links; link++) {
		struct weft_fec_result res;

		weft_impair_flits(&w->wire[link], flits, n);
		weft_fec_decode(g->x->codec.fec, flits, n, &res);
		if (link + 1 == w->links)
			break; /* the end looks at the CRC */
		for (unsigned int i = 0; res.uncorrectable != 0 && i < w->group; i++)
			w->step[(first + i) % w->ring].alive &=
				~(res.uncorrectable >> i * w->flits);
	}
}

static bool
rig_is_cut(const struct rig *g, const struct way *w, uint64_t step)
{
	return w == &g->there && step >= g->cfg->cut_from &&
	       step - g->cfg->cut_from < g->cfg->cut_steps;
}

static void
rig_transport(struct rig *g, struct way *w, uint64_t first)
{
	const uint8_t *checked[WEFT_CODEC_MAX];
	uint8_t *flit[WEFT_CODEC_MAX];
	uint64_t *word[WEFT_CODEC_MAX], value[WEFT_CODEC_MAX];
	unsigned int n = 0;

	for (unsigned int i = 0; i < w->group; i++) {
		struct step *s = &w->step[(first + i) % w->ring];
		struct weft_impair_fate fate;

		s->alive = weft_mask64(s->n);
		weft_impair_frame(&w->frames, &fate);
		if (fate.drop || rig_is_cut(g, w, first + i))
			s->alive = 0;
		for (unsigned int k = 0; k < s->n; k++, n++) {
			checked[n] = flit[n] = rig_way_flit(w, first + i, k);
			word[n] = rig_way_word(w, first + i) + k;
			value[n] = *word[n];
		}
	}
	weft_codec_protect(&g->x->codec, flit, n, WEFT_CRC_R0_FIRST, value);
	rig_damage(g, w, first);
	weft_codec_syndromes(&g->x->codec, checked, n, WEFT_CRC_R0_FIRST, value);
	for (unsigned int i = 0; i < n; i++)
		*word[i] = value[i] ^ w->address;
}

/* --- what arrives --- */

/* What the host or device sees: is it the next one, one too early, or one that it has had? */
static void
rig_take_message(void *arg, const struct weft_msg *m)
{
	struct rig *g = arg;
	const uint64_t id = m->kind == WEFT_MSG_S2M_DRS ? weft_get_le64(m->data) : m->addr >> 6;
	const bool had = g->seen[id % SEEN] == id + 1;

	g->r->messages++;
	g->r->early += id > g->next_message;
	g->r->twice += had;
	g->r->late += id < g->next_message && !had;
	g->seen[id % SEEN] = id + 1;
	if (id >= g->next_message)
		g->next_message = id + 1;
}

static void
rig_hand_up(struct rig *g, struct end *e, const uint8_t *flit)
{
	bool counts = e == &g->b;
	uint64_t tag;

	if (g->cfg->has_messages && counts) {
		weft_unpack_flit(&e->unpack, flit, rig_take_message, g);
		return;
	}
	tag = weft_get_le64(flit + TAG_OFF);

	if (tag < e->expected) {
		g->r->stale += counts;
		return;
	}
	if (tag > e->expected)
		g->r->skips += counts;
	else
		g->r->useful += counts;
	e->expected = tag + 1;
	if (counts && g->latency != NULL && g->cfg->load < 1) {
		/* A frame is there when its last flit is. */
		uint32_t late =
			(uint32_t)g->slot + g->cfg->frame_flits - g->made_slot[tag % MADE_MAX];

		g->latency[late < RIG_LATENCY_MAX ? late : RIG_LATENCY_MAX]++;
	}
}

static void
rig_receive_step(struct rig *g, struct end *e, const struct way *w, uint64_t step, uint64_t now_ns)
{
	const struct step *s = &w->step[step % w->ring];
	const uint8_t *held;
	struct weft_llr_rx_result in;
	uint64_t n_held = 0;

	if (s->alive == 0)
		return;
	for (unsigned int i = 0; g->cfg->no_fsn && i < s->n; i++)
		rig_restore_fsn(rig_way_flit(w, step, i));
	weft_llr_rx(e->llr, rig_way_flit(w, step, 0), rig_way_word(w, step), s->n, ~s->alive,
		now_ns, &in);
	for (; in.deliver != 0; in.deliver &= in.deliver - 1)
		rig_hand_up(g, e, rig_way_flit(w, step, (unsigned int)__builtin_ctzll(in.deliver)));
	for (; (held = weft_llr_rx_next(e->llr)) != NULL; n_held++)
		rig_hand_up(g, e, held);
	if (n_held > g->r->held_max)
		g->r->held_max = n_held;
}

static void
rig_run_step(struct rig *g, uint64_t step)
{
	const uint64_t now_ns = (g->slot + 1) * PAPER_SLOT_NS;

	if (step >= g->there.delay)
		rig_receive_step(g, &g->b, &g->there, step - g->there.delay, now_ns);
	if (step >= g->back.delay)
		rig_receive_step(g, &g->a, &g->back, step - g->back.delay, now_ns);
	if (g->cfg->load < 1)
		rig_make_flits(g);
	while ((g->cfg->load >= 1 || g->a.committed < g->made) && weft_llr_room(g->a.llr) != 0)
		rig_commit_flit(g, &g->a);
	while (!g->cfg->one_way && weft_llr_room(g->b.llr) != 0)
		rig_commit_flit(g, &g->b);
	rig_send_step(g, &g->a, &g->there, step, now_ns);
	rig_send_step(g, &g->b, &g->back, step, now_ns);
	if ((step + 1) % g->there.group == 0)
		rig_transport(g, &g->there, step + 1 - g->there.group);
	if ((step + 1) % g->back.group == 0)
		rig_transport(g, &g->back, step + 1 - g->back.group);
}

static void
rig_add_counts(struct rig *g)
{
	const struct weft_llr *a = g->a.llr;

	g->r->slots += g->slot;
	g->r->sent += weft_llr_count(a, WEFT_LLR_N_SENT);
	g->r->resent += weft_llr_count(a, WEFT_LLR_N_RESENT);
	g->r->acks += weft_llr_count(a, WEFT_LLR_N_ACKS_SENT);
	g->r->replays += weft_llr_count(a, WEFT_LLR_N_REPLAYS);
	g->r->singles += weft_llr_count(a, WEFT_LLR_N_SINGLES);
	g->r->timeouts += weft_llr_count(a, WEFT_LLR_N_TIMEOUTS);
	g->r->nops_back += weft_llr_count(g->b.llr, WEFT_LLR_N_NOPS_SENT);
	g->r->made += g->made;
}

void
rig_run(const struct exp *x, const struct rig_cfg *cfg, uint64_t seed, struct rig_result *r,
	uint64_t latency[RIG_LATENCY_MAX + 1])
{
	struct rig *g = rig_take_memory(sizeof(*g));

	*g = (struct rig){ .x = x, .cfg = cfg, .r = r, .latency = latency };
	weft_rand_seed(&g->rand, seed);
	weft_rand_fill(&g->rand, g->payload, sizeof(g->payload));
	for (unsigned int i = 0; i < PAYLOADS; i++)
		memset(g->payload[i] + WEFT_FLIT_CRD_OFF, 0, 2);
	rig_open_end(&g->a, cfg);
	rig_open_end(&g->b, cfg);
	weft_pack_init(&g->a.pack, WEFT_FORM_PBR);
	weft_unpack_init(&g->b.unpack, WEFT_FORM_PBR, NULL);
	g->back.is_clean = !cfg->both_ways;
	if (cfg->mode == WEFT_MODE_RXL) {
		g->there.address = weft_isn_address(0x123, 0x456, 0);
		g->back.address = weft_isn_address(0x456, 0x123, 0);
	}
	rig_way_open(&g->there, cfg, cfg->there, seed ^ UINT64_C(0x5EED0001));
	rig_way_open(&g->back, cfg, cfg->back, seed ^ UINT64_C(0x5EED0002));
	for (uint64_t step = 0; g->slot < cfg->slots; step++, g->slot += cfg->frame_flits)
		rig_run_step(g, step);
	rig_add_counts(g);
	rig_way_close(&g->there);
	rig_way_close(&g->back);
	free(g->a.llr);
	free(g->b.llr);
	free(g);
}
