/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * --impair: the same bad wire both ways on every link, in place of those that a seed draws. No
 * frame may be late by so many numbers that its own comes round. So frames are late by twice the
 * latency at most, in which time a sender gets no further than two windows, and few enough come
 * again.
 */

#include "sim.h"

#include <stdio.h>

#include "cli.h"

#define LATE_MAX_NS (100 * US)
#define LATE_WINDOW 256 /* two of them, and what comes again, are less than the numbers there are */
#define ROUND_LINKS 20 /* of a round trip */

static bool
bad_wire_moves_frames(const struct weft_impair_cfg *c)
{
	return c->drop > 0 || c->dup > 0 || c->reorder > 0 || c->replay > 0 || c->delay_p > 0;
}

void
bad_wire_read(struct weft_impair_cfg *c, const char *text)
{
	char err[256];

	if (*text == '\0')
		cli_usage("--impair: expected key=value,..., got nothing");
	weft_impair_defaults(c);
	if (weft_impair_parse_list(c, text, err, sizeof(err)) != 0 ||
		weft_impair_check(c, err, sizeof(err)) != 0)
		cli_usage("--impair: %s", err);
	if ((c->delay_p > 0 ? c->delay_ns + c->jitter_ns : 0) +
			(c->reorder > 0 ? c->reorder_ns : 0) >
		LATE_MAX_NS)
		cli_usage("--impair: frames can be late by 100 us at most, or their numbers would "
			  "come "
			  "round");
}

void
bad_wire_check(const struct sim_opt *o)
{
	if (o->mode == WEFT_MODE_CXL && bad_wire_moves_frames(&o->impair))
		cli_usage("--impair: drop, dup, reorder, replay and delay need --mode rxl: what is "
			  "between two retry layers of cxl is a wire, which keeps its flits in "
			  "order");
}

bool
bad_wire_needs_rxl(const struct sim_opt *o)
{
	return o->has_impair && bad_wire_moves_frames(&o->impair);
}

static void
bad_wire_at_least(uint64_t *v, uint64_t least)
{
	if (*v < least)
		*v = least;
}

/* Links and patience that go with frames that are so late. */
static void
bad_wire_make_slow(struct scenario *sc, uint64_t late_ns)
{
	const uint64_t round_ns = ROUND_LINKS * (late_ns + late_ns / 2);

	bad_wire_at_least(&sc->latency_ns, late_ns / 2);
	if (sc->llr.window > LATE_WINDOW)
		sc->llr.window = LATE_WINDOW;
	if (sc->llr.rx_flits > sc->llr.window)
		sc->llr.rx_flits = sc->llr.window;
	bad_wire_at_least(&sc->llr.timeout_max_ns, round_ns);
	bad_wire_at_least(&sc->session.hello_ns, round_ns);
	bad_wire_at_least(&sc->session.keepalive_ns, round_ns);
	bad_wire_at_least(&sc->session.rx_timeout_ns, 3 * sc->session.keepalive_ns);
	bad_wire_at_least(&sc->session.session_timeout_ns, 5 * sc->session.rx_timeout_ns);
}

/* So few frames come again that they are @late_flits old at most. */
static void
bad_wire_make_short(struct scenario *sc, unsigned int late_flits)
{
	if (sc->max_flits > late_flits)
		sc->max_flits = (uint8_t)late_flits;
	sc->session.params.max_flits = sc->max_flits;
	if (sc->impair.history > late_flits / sc->max_flits)
		sc->impair.history = late_flits / sc->max_flits;
}

void
bad_wire_force(struct scenario *sc, const struct sim_opt *o, unsigned int late_flits)
{
	struct weft_impair_cfg *c = &sc->impair;
	uint64_t late_ns = 0;

	sc->has_impair = true;
	*c = o->impair;
	for (unsigned int i = 0; i < 4; i++)
		sc->link_weight[i] = i == 3;
	if (c->delay_p > 0)
		late_ns = c->delay_ns + c->jitter_ns;
	if (c->reorder > 0)
		late_ns += c->reorder_ns;
	if (late_ns > 0)
		bad_wire_make_slow(sc, late_ns);
	if (c->replay > 0)
		bad_wire_make_short(sc, late_flits);
}

void
bad_wire_read_back(struct weft_impair_cfg *c)
{
	char text[WEFT_IMPAIR_TEXT_MAX];

	weft_impair_write(c, text, sizeof(text));
	bad_wire_read(c, text);
}
