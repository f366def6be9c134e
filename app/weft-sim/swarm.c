/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What a seed decides: the shape of the fabric, the parameters of every layer, the quality of the
 * wires and which faults there are. Every feature is left out by some seeds, as much hides behind
 * the presence of another (swarm testing). Bounds that the protocol needs are kept here: a frame is
 * never late by so many numbers that its own comes round again (doc/llr.md).
 */

#include "ide.h"
#include "replay.h"
#include "weft_node.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define HOPS_MOST 10 /* links on a path that the swarm draws, at most */

/* Between @least and @most, small values as likely as large ones. */
static uint64_t
swarm_draw_log(struct weft_rand *r, uint64_t least, uint64_t most)
{
	const double u = weft_rand_unit(r);
	const uint64_t v = (uint64_t)((double)least * pow((double)most / (double)least, u) + 0.5);

	return v < least ? least : v > most ? most : v;
}

static uint64_t
swarm_draw(struct weft_rand *r, uint64_t least, uint64_t most)
{
	return least + weft_rand_below(r, most - least + 1);
}

/* True once in @n times. */
static bool
swarm_once_in(struct weft_rand *r, uint64_t n)
{
	return weft_rand_below(r, n) == 0;
}

/* 0, or a rate between 10^least and 10^most. */
static double
swarm_draw_rate(struct weft_rand *r, double least, double most)
{
	const double v = pow(10, least + (most - least) * weft_rand_unit(r));

	return swarm_once_in(r, 3) ? v : 0;
}

static void
swarm_draw_fabric(struct weft_rand *r, struct scenario *sc)
{
	const unsigned int a = (unsigned int)swarm_draw(r, 1, 3),
			   b = (unsigned int)swarm_draw(r, 2, 3);
	const unsigned int n = (unsigned int)swarm_draw(r, 2, 8);

	switch (weft_rand_below(r, 6)) {
	case 0: snprintf(sc->fabric, sizeof(sc->fabric), "pair"); break;
	case 1: snprintf(sc->fabric, sizeof(sc->fabric), "star:%u,%u", n - 1, a); break;
	case 2: snprintf(sc->fabric, sizeof(sc->fabric), "chain:%u", n / 2); break;
	case 3: snprintf(sc->fabric, sizeof(sc->fabric), "tree:%u,%u,%u", a, b, n); break;
	case 4: snprintf(sc->fabric, sizeof(sc->fabric), "mesh:%u,%u", a, b); break;
	default:
		snprintf(sc->fabric, sizeof(sc->fabric), "fat:%u", swarm_once_in(r, 2) ? 2 : 4);
		break;
	}
}

static void
swarm_draw_llr(struct weft_rand *r, struct weft_llr_cfg *c, enum weft_mode mode,
	const struct weft_topo *file)
{
	const bool drawn = swarm_once_in(r, 8), gap = !swarm_once_in(r, 6),
		   selective = !swarm_once_in(r, 3);
	const bool xor = file == NULL ? drawn : file->isn == WEFT_ISN_XOR;

	weft_llr_defaults(c, mode);
	c->window = (uint16_t)swarm_draw_log(r, 8, WEFT_LLR_WINDOW_MAX);
	c->rx_flits = (uint16_t)swarm_draw_log(r, 1, c->window);
	if (mode == WEFT_MODE_RXL) {
		c->isn = xor? WEFT_ISN_XOR : WEFT_ISN_PSEUDO;
		c->gap_decoding = gap && !xor;
		c->selective = selective && c->gap_decoding;
	} else {
		c->selective = selective;
		/* Of a number that was drawn for something else: what a seed means stays. */
		c->show_first = c->window % 4 != 0;
	}
	if (!c->selective)
		c->rx_flits = 0;
	c->ack_every = (uint16_t)swarm_draw_log(r, 1, 32);
	c->nak_repeat = (uint16_t)swarm_draw_log(r, 1, 128);
	c->ack_delay_ns = swarm_once_in(r, 2) ? 0 : swarm_draw_log(r, 100, 100 * US);
	c->timeout_min_ns = swarm_draw_log(r, US, 100 * US);
	c->timeout_first_ns = swarm_draw_log(r, 100 * US, 5 * MS);
	c->timeout_max_ns = c->timeout_first_ns * swarm_draw(r, 1, 16);
	/* Of a number that was drawn for something else: what a seed means stays. */
	c->resend_after_ns = (c->timeout_min_ns & 1) != 0 ? c->timeout_first_ns : 0;
	c->replays_max = (uint8_t)swarm_draw(r, 1, 8);
}

static void
swarm_draw_session(struct weft_rand *r, struct scenario *sc)
{
	struct weft_session_cfg *c = &sc->session;

	weft_session_defaults(c);
	c->hello_ns = swarm_draw_log(r, 50 * US, 2 * MS);
	c->keepalive_ns = swarm_draw_log(r, 50 * US, 2 * MS);
	c->rx_timeout_ns = c->keepalive_ns * swarm_draw(r, 3, 8);
	c->session_timeout_ns = c->rx_timeout_ns * swarm_draw(r, 5, 40);
	if (sc->mode == WEFT_MODE_CXL)
		c->session_timeout_ns = 100 * SEC; /* but see swarm_draw_ends() */
	c->params = (struct weft_control){
		.version = WEFT_WIRE_VERSION,
		.mode = sc->mode,
		.max_flits = sc->max_flits,
		.crc_order = sc->crc_order,
		.isn_form = sc->llr.isn,
	};
}

/* What a wire may delay or repeat, in flits: a share of the numbers that are free. */
static unsigned int
swarm_late_flits(const struct scenario *sc)
{
	const unsigned int free = WEFT_ISN_NUMBERS - 1u - sc->llr.window;

	return free / 2 / HOPS_MOST / 2;
}

static void
swarm_draw_impair(struct weft_rand *r, struct scenario *sc)
{
	struct weft_impair_cfg *c = &sc->impair;
	const unsigned int share = swarm_late_flits(sc);
	const bool is_link = sc->mode == WEFT_MODE_CXL;

	sc->has_impair = !swarm_once_in(r, 4);
	c->ber = swarm_draw_rate(r, -7, -4);
	c->bits_p = swarm_draw_rate(r, -4, -2);
	c->bits = (unsigned int)swarm_draw(r, 1, 32);
	c->burst_p = swarm_draw_rate(r, -4, -2);
	c->burst = (unsigned int)swarm_draw(r, 1, 20);
	c->channel = swarm_draw_rate(r, -4, -2);
	c->uncorrectable = swarm_draw_rate(r, -4, -1.5);
	c->drop = swarm_draw_rate(r, -4, -1);
	c->dup = swarm_draw_rate(r, -4, -1);
	c->reorder = swarm_draw_rate(r, -4, -1);
	c->replay = swarm_draw_rate(r, -4, -1);
	c->delay_p = swarm_draw_rate(r, -3, -0.3);
	c->reorder_ns = swarm_draw(r, 1, share) * sc->flit_ns;
	c->delay_ns = swarm_draw(r, 0, share / 2) * sc->flit_ns;
	c->jitter_ns = swarm_draw(r, 0, share / 2) * sc->flit_ns;
	c->history = share / sc->max_flits;
	for (unsigned int i = 0; i < 4; i++)
		sc->link_weight[i] = (uint32_t)swarm_draw(r, i == 3 ? 1 : 0, 3);
	if (c->history == 0)
		c->replay = 0;
	/*
	 * Between two retry layers frames keep their order, and are not lost where that would not
	 * show.
	 */
	if (is_link)
		c->reorder = c->replay = c->delay_p = 0;
	if (is_link && !sc->llr.show_first)
		c->drop = c->dup = 0;
}

static void
swarm_draw_faults(struct weft_rand *r, struct scenario *sc)
{
	/* What a link between two retry layers does not do, or what ends sessions. */
	const bool loses_frames[FAULT_KINDS] = {
		[FAULT_FLAP] = !sc->llr.show_first, [FAULT_DEAF] = true, [FAULT_CRASH] = true
	};
	uint32_t any = 0;

	sc->fault.gap_ns = swarm_draw_log(r, 50 * US, 5 * MS);
	sc->fault.max_ns = swarm_draw_log(r, 10 * US, 20 * MS);
	for (unsigned int i = 0; i < FAULT_FORGED; i++) {
		sc->fault.weight[i] = swarm_once_in(r, 2) ? (uint32_t)swarm_draw(r, 1, 4) : 0;
		if (sc->mode == WEFT_MODE_CXL && loses_frames[i])
			sc->fault.weight[i] = 0;
		any += sc->fault.weight[i];
	}
	/* Of a number that was drawn for something else: what a seed means stays. */
	if (sc->fault.max_ns % 3 == 0)
		sc->fault.weight[FAULT_STORM] = 2;
	if (swarm_once_in(r, 5) || any == 0)
		sc->fault.gap_ns = 0;
}

/* Clean, with buffers that fit: what a run for its pace wants. */
static void
swarm_make_calm(struct scenario *sc)
{
	sc->has_impair = false;
	sc->fault.gap_ns = 0;
	sc->skew_ppm = 0;
}

static void
swarm_make_fast(struct scenario *sc, const struct weft_topo *file)
{
	swarm_make_calm(sc);
	weft_llr_defaults(&sc->llr, (enum weft_mode)sc->mode);
	if (file != NULL && file->isn == WEFT_ISN_XOR && sc->mode == WEFT_MODE_RXL) {
		sc->llr.isn = WEFT_ISN_XOR;
		sc->llr.gap_decoding = sc->llr.selective = false;
	}
	sc->llr.window = 8;
	sc->llr.rx_flits = sc->llr.selective ? 4 : 0;
	sc->max_flits = 16;
	sc->session.params.max_flits = 16;
	sc->session.params.isn_form = sc->llr.isn;
	sc->load.peers = 1;
	sc->load.lines = 8;
	sc->load.outstanding = 4;
	sc->rules.credits = 4;
	sc->load.write_percent = 50;
	sc->latency_ns = 1000;
	sc->flit_ns = 20;
	sc->queue_flits = 4096;
	sc->fault.phase_ns = 100 * SEC;
	sc->direct = true;
	sc->poll_ns = 2 * US;
	sc->session.hello_ns = 10 * MS;
	sc->session.keepalive_ns = 25 * MS;
	sc->session.rx_timeout_ns = 100 * MS;
	sc->session.session_timeout_ns = 10 * SEC;
}

/* Its clients are not told by a session that it is gone. */
static bool
swarm_has_agent(const struct weft_topo *t)
{
	for (unsigned int i = 0; i < t->n_nodes; i++)
		if (t->node[i].translates)
			return true;
	return false;
}

/*
 * In half of the seeds of cxl mode sessions end inside the fabric, and requests with them: those
 * end by their own timeout. In the others nothing may be lost. Numbers of their own: seeds without
 * this are what they would be if there were none.
 */
static void
swarm_draw_ends(struct scenario *sc, uint64_t seed, const struct weft_topo *file)
{
	struct weft_session_cfg *c = &sc->session;
	struct weft_rand r;

	weft_rand_seed(&r, seed ^ UINT64_C(0xE4D5));
	if (sc->mode == WEFT_MODE_RXL || (file != NULL && swarm_has_agent(file)) ||
		sc->fault.gap_ns == 0 || swarm_once_in(&r, 2))
		return;
	sc->load.timeout_ms = (uint32_t)swarm_draw_log(&r, 2, 50);
	sc->rules.timeout_ns = sc->load.timeout_ms * MS;
	sc->rules.down_ns = swarm_draw_log(&r, 100 * US, 20 * MS);
	c->session_timeout_ns = c->rx_timeout_ns * swarm_draw(&r, 5, 40);
	if (swarm_once_in(&r, 2))
		sc->fault.weight[FAULT_CRASH] = (uint32_t)swarm_draw(&r, 1, 4);
	if (swarm_once_in(&r, 2))
		sc->fault.weight[FAULT_MEMORY] = (uint32_t)swarm_draw(&r, 1, 3);
	if (sc->llr.show_first && swarm_once_in(&r, 2))
		sc->fault.weight[FAULT_DEAF] = (uint32_t)swarm_draw(&r, 1, 4);
}

/* The same. */
static void
swarm_draw_memory(struct scenario *sc, uint64_t seed)
{
	struct weft_rand r;

	weft_rand_seed(&r, seed ^ UINT64_C(0x3E30));
	if (swarm_once_in(&r, 2) && sc->mode == WEFT_MODE_RXL)
		sc->fault.weight[FAULT_MEMORY] = (uint32_t)swarm_draw(&r, 1, 3);
}

/* The same, and for the same reason. */
static void
swarm_draw_goodbye(struct scenario *sc, uint64_t seed)
{
	struct weft_rand r;

	weft_rand_seed(&r, seed ^ UINT64_C(0x600DB4E));
	if (swarm_once_in(&r, 3) && sc->mode == WEFT_MODE_RXL)
		sc->fault.weight[FAULT_GOODBYE] = (uint32_t)swarm_draw(&r, 1, 4);
}

/* The same. */
static void
swarm_draw_misfit(struct scenario *sc, uint64_t seed)
{
	struct weft_rand r;

	weft_rand_seed(&r, seed ^ UINT64_C(0x317F17));
	if (swarm_once_in(&r, 4) && sc->mode == WEFT_MODE_RXL)
		sc->fault.weight[FAULT_MISFIT] = (uint32_t)swarm_draw(&r, 1, 3);
}

/* The same: the form of links between hosts and switches. */
static void
swarm_draw_form(struct scenario *sc, uint64_t seed)
{
	struct weft_rand r;

	weft_rand_seed(&r, seed ^ UINT64_C(0x4B2));
	sc->form =
		sc->mode == WEFT_MODE_CXL && !swarm_once_in(&r, 5) ? WEFT_FORM_HBR : WEFT_FORM_PBR;
}

/* What the user wants none of. */
static void
swarm_leave_out(struct scenario *sc, uint64_t kinds)
{
	uint32_t any = 0;

	for (unsigned int i = 0; i < FAULT_KINDS; i++) {
		if ((kinds & WEFT_BIT64(i)) != 0)
			sc->fault.weight[i] = 0;
		any += sc->fault.weight[i];
	}
	if (any == 0)
		sc->fault.gap_ns = 0;
}

static uint8_t
swarm_draw_mode(struct weft_rand *r, const struct sim_opt *opt, const struct weft_topo *file)
{
	const bool is_cxl = swarm_once_in(r, 4);

	if (opt->mode >= 0)
		return (uint8_t)opt->mode;
	if (file != NULL)
		return file->mode;
	return is_cxl && !opt->pace && !bad_wire_needs_rxl(opt) ? WEFT_MODE_CXL : WEFT_MODE_RXL;
}

/* The most that a link takes: what a path or a link takes is seen to when ends are made. */
static uint8_t
swarm_file_flits(const struct weft_topo *t)
{
	unsigned int most = 1;

	for (unsigned int i = 0; i < t->n_ports; i++) {
		const unsigned int fits = weft_topo_port_flits(t, i);

		most = fits > most ? fits : most;
	}
	return t->flits_per_frame != 0 ? t->flits_per_frame : (uint8_t)most;
}

void
scenario_draw(
	struct scenario *sc, const struct sim_opt *opt, uint64_t seed, const struct weft_topo *file)
{
	static const uint8_t frame_flits[] = { 1, 2, 5, 8, 16, 35, 64 };
	struct weft_rand r;

	memset(sc, 0, sizeof(*sc));
	weft_rand_seed(&r, seed);
	sc->mode = swarm_draw_mode(&r, opt, file);
	swarm_draw_fabric(&r, sc);
	sc->max_flits = frame_flits[weft_rand_below(&r, sizeof(frame_flits))];
	if (file != NULL) {
		sc->max_flits = swarm_file_flits(file);
		sc->crc_order = file->crc_order;
	}
	sc->load.peers = (uint16_t)swarm_draw(&r, 1, 4);
	sc->load.outstanding = (uint32_t)swarm_draw_log(&r, 1, 64);
	sc->load.lines = (uint32_t)swarm_draw_log(&r, 4, 128);
	sc->load.write_percent = (uint8_t)swarm_draw(&r, 0, 100);
	sc->rules.credits = (uint16_t)swarm_draw_log(&r, 1, 64);
	sc->latency_ns = swarm_draw_log(&r, 100, 20 * US);
	sc->flit_ns = (uint32_t)swarm_draw_log(&r, 5, 500);
	sc->queue_flits = (uint32_t)swarm_draw_log(&r, 16, 1024);
	sc->direct = swarm_once_in(&r, 2);
	sc->poll_ns = swarm_once_in(&r, 2) ? swarm_draw_log(&r, 100, 10 * US) : 0;
	sc->skew_ppm = swarm_once_in(&r, 2) ? (int32_t)swarm_draw(&r, 1, 200) : 0;
	sc->fault.phase_ns = 400 * MS;
	swarm_draw_llr(&r, &sc->llr, (enum weft_mode)sc->mode, file);
	if (file != NULL)
		weft_node_retry(&sc->llr, &file->retry);
	swarm_draw_session(&r, sc);
	swarm_draw_impair(&r, sc);
	swarm_draw_faults(&r, sc);
	sc->rules.down_ns = SEC;
	sc->rules.losses_ns = swarm_draw_log(&r, 10 * US, 10 * MS);
	if (opt->calm)
		swarm_make_calm(sc);
	if (opt->pace)
		swarm_make_fast(sc, file);
	if (opt->has_impair)
		bad_wire_force(sc, opt, swarm_late_flits(sc));
	if (opt->fabric != NULL)
		snprintf(sc->fabric, sizeof(sc->fabric), "%s", opt->fabric);
	ide_draw(sc, opt, seed, file);
	forge_draw(sc, seed);
	swarm_draw_memory(sc, seed);
	swarm_draw_ends(sc, seed, file);
	swarm_draw_goodbye(sc, seed);
	swarm_draw_misfit(sc, seed);
	replay_draw(sc, seed);
	swarm_draw_form(sc, seed);
	swarm_leave_out(sc, opt->without);
	core_draw(sc, seed);
}
