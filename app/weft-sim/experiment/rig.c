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

struct end {
	struct weft_llr *llr;
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
};

static void *
take_memory(size_t len)
{
	void *p = aligned_alloc(WEFT_CACHE_LINE, (len + 63) & ~(size_t)63);

	if (p == NULL)
		cli_fail("no memory for %zu bytes", len);
	memset(p, 0, len);
	return p;
}

static void
end_open(struct end *e, const struct rig_cfg *cfg)
{
	struct weft_llr_cfg c;

	weft_llr_defaults(&c, cfg->mode);
	c.gap_decoding = cfg->gap_decoding;
	c.selective = cfg->selective;
	if (!cfg->selective)
		c.rx_flits = 0;
	c.ack_delay_ns = 100000; /* Acks ride by count, not by time */
	c.timeout_min_ns = 3 * PAPER_SLOT_NS * (cfg->there + cfg->back);
	*e = (struct end){ .llr = take_memory(weft_llr_size(&c)) };
	if (weft_llr_init(e->llr, &c, 0) == NULL)
		cli_fail("the retry layer refuses its settings");
}

static void
way_open(struct way *w, const struct rig_cfg *cfg, unsigned int slots, uint64_t seed)
{
	char settings[64];

	w->flits = cfg->frame_flits;
	w->delay = slots / w->flits;
	w->group = w->flits >= GROUP_FLITS ? 1 : GROUP_FLITS / w->flits;
	assert(slots % w->flits == 0 && w->delay >= w->group);
	w->ring = (w->delay / w->group + 2) * w->group;
	w->links = cfg->levels + 1;
	w->step = take_memory(w->ring * sizeof(w->step[0]));
	w->flit = take_memory((size_t)w->ring * w->flits * WEFT_WIRE_FLIT_LEN);
	w->word = take_memory((size_t)w->ring * w->flits * sizeof(w->word[0]));
	for (unsigned int i = 0; i < w->links; i++) {
		snprintf(settings, sizeof(settings), "uncorrectable=%g",
			w->is_clean ? 0 : cfg->uncorrectable);
		exp_wire(&w->wire[i], seed + i, settings);
	}
	snprintf(settings, sizeof(settings), "drop=%g", w->is_clean ? 0 : cfg->frame_drop);
	exp_wire(&w->frames, seed + LEVELS_MAX + 1, settings);
}

static void
way_close(struct way *w)
{
	free(w->step);
	free(w->flit);
	free(w->word);
}

static uint8_t *
way_flit(const struct way *w, uint64_t step, unsigned int i)
{
	return w->flit + ((step % w->ring) * w->flits + i) * WEFT_WIRE_FLIT_LEN;
}

static uint64_t *
way_word(const struct way *w, uint64_t step)
{
	return w->word + (step % w->ring) * w->flits;
}

/* --- what is sent --- */

static void
commit_flit(struct rig *g, struct end *e)
{
	uint8_t *flit = weft_llr_reserve(e->llr);
	struct weft_flit_hdr h = { .type = WEFT_FLIT_CACHEMEM };

	memcpy(flit, g->payload[e->committed % PAYLOADS], WEFT_WIRE_FLIT_LEN);
	weft_flit_hdr_put(flit, &h);
	weft_put_le64(flit + TAG_OFF, e->committed);
	weft_llr_commit(e->llr);
	e->committed++;
}

/* Flits made in the slots of this step. */
static void
make_flits(struct rig *g)
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
number_word(const struct rig *g, const struct way *w, unsigned int number)
{
	if (g->cfg->mode == WEFT_MODE_CXL)
		return 0;
	return w->address ^ weft_isn_number(number % WEFT_ISN_NUMBERS);
}

static void
send_step(struct rig *g, struct end *e, struct way *w, uint64_t step, uint64_t now_ns)
{
	struct step *s = &w->step[step % w->ring];
	uint64_t *implicit = way_word(w, step);

	*s = (struct step){ 0 };
	while (s->n < w->flits) {
		struct weft_llr_out out;
		unsigned int numbered;

		if (weft_llr_fill(e->llr, way_flit(w, step, s->n), w->flits - s->n, now_ns, &out) ==
			0)
			break;
		numbered = out.n - out.nops;
		for (unsigned int i = 0; i < out.n; i++) {
			unsigned int number = out.first + (i < numbered ? i : numbered);

			implicit[s->n + i] = number_word(g, w, number);
		}
		s->n = (uint8_t)(s->n + out.n);
		if (out.nops != 0)
			break;
	}
}

/* --- what becomes of it on the way --- */

static void
damage(struct rig *g, struct way *w, uint64_t first)
{
	const unsigned int n = w->group * w->flits;
	uint8_t *flits = way_flit(w, first, 0);

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

static void
transport(struct rig *g, struct way *w, uint64_t first)
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
		if (fate.drop)
			s->alive = 0;
		for (unsigned int k = 0; k < s->n; k++, n++) {
			checked[n] = flit[n] = way_flit(w, first + i, k);
			word[n] = way_word(w, first + i) + k;
			value[n] = *word[n];
		}
	}
	weft_codec_protect(&g->x->codec, flit, n, WEFT_CRC_R0_FIRST, value);
	damage(g, w, first);
	weft_codec_syndromes(&g->x->codec, checked, n, WEFT_CRC_R0_FIRST, value);
	for (unsigned int i = 0; i < n; i++)
		*word[i] = value[i] ^ w->address;
}

/* --- what arrives --- */

static void
hand_up(struct rig *g, struct end *e, const uint8_t *flit)
{
	uint64_t tag = weft_get_le64(flit + TAG_OFF);
	bool counts = e == &g->b;

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
receive_step(struct rig *g, struct end *e, const struct way *w, uint64_t step, uint64_t now_ns)
{
	const struct step *s = &w->step[step % w->ring];
	const uint8_t *held;
	struct weft_llr_in in;

	if (s->alive == 0)
		return;
	weft_llr_take(
		e->llr, way_flit(w, step, 0), way_word(w, step), s->n, ~s->alive, now_ns, &in);
	for (; in.deliver != 0; in.deliver &= in.deliver - 1)
		hand_up(g, e, way_flit(w, step, (unsigned int)__builtin_ctzll(in.deliver)));
	while ((held = weft_llr_held(e->llr)) != NULL)
		hand_up(g, e, held);
}

static void
run_step(struct rig *g, uint64_t step)
{
	const uint64_t now_ns = (g->slot + 1) * PAPER_SLOT_NS;

	if (step >= g->there.delay)
		receive_step(g, &g->b, &g->there, step - g->there.delay, now_ns);
	if (step >= g->back.delay)
		receive_step(g, &g->a, &g->back, step - g->back.delay, now_ns);
	if (g->cfg->load < 1)
		make_flits(g);
	while ((g->cfg->load >= 1 || g->a.committed < g->made) && weft_llr_room(g->a.llr) != 0)
		commit_flit(g, &g->a);
	while (!g->cfg->one_way && weft_llr_room(g->b.llr) != 0)
		commit_flit(g, &g->b);
	send_step(g, &g->a, &g->there, step, now_ns);
	send_step(g, &g->b, &g->back, step, now_ns);
	if ((step + 1) % g->there.group == 0)
		transport(g, &g->there, step + 1 - g->there.group);
	if ((step + 1) % g->back.group == 0)
		transport(g, &g->back, step + 1 - g->back.group);
}

static void
add_counts(struct rig *g)
{
	const uint64_t *a = weft_llr_counts(g->a.llr);

	g->r->slots += g->slot;
	g->r->sent += a[WEFT_LLR_N_SENT];
	g->r->resent += a[WEFT_LLR_N_RESENT];
	g->r->acks += a[WEFT_LLR_N_ACKS_SENT];
	g->r->replays += a[WEFT_LLR_N_REPLAYS];
	g->r->singles += a[WEFT_LLR_N_SINGLES];
	g->r->timeouts += a[WEFT_LLR_N_TIMEOUTS];
	g->r->nops_back += weft_llr_counts(g->b.llr)[WEFT_LLR_N_NOPS_SENT];
	g->r->made += g->made;
}

void
rig_run(const struct exp *x, const struct rig_cfg *cfg, uint64_t seed, struct rig_result *r,
	uint64_t latency[RIG_LATENCY_MAX + 1])
{
	struct rig *g = take_memory(sizeof(*g));

	*g = (struct rig){ .x = x, .cfg = cfg, .r = r, .latency = latency };
	weft_rand_seed(&g->rand, seed);
	weft_rand_fill(&g->rand, g->payload, sizeof(g->payload));
	for (unsigned int i = 0; i < PAYLOADS; i++)
		memset(g->payload[i] + WEFT_FLIT_CRD_OFF, 0, 2);
	end_open(&g->a, cfg);
	end_open(&g->b, cfg);
	g->back.is_clean = true;
	if (cfg->mode == WEFT_MODE_RXL) {
		g->there.address = weft_isn_address(0x123, 0x456, 0);
		g->back.address = weft_isn_address(0x456, 0x123, 0);
	}
	way_open(&g->there, cfg, cfg->there, seed ^ UINT64_C(0x5EED0001));
	way_open(&g->back, cfg, cfg->back, seed ^ UINT64_C(0x5EED0002));
	for (uint64_t step = 0; g->slot < cfg->slots; step++, g->slot += cfg->frame_flits)
		run_step(g, step);
	add_counts(g);
	way_close(&g->there);
	way_close(&g->back);
	free(g->a.llr);
	free(g->b.llr);
	free(g);
}
