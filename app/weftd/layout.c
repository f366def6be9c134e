/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* The pipelines that the user asks for: what parses may still be of no use to a node. */

#include "check.h"
#include "segments.h"

#include "cli.h"

static bool
layout_has_stage(const struct weft_layout *l, const char *name)
{
	for (unsigned int i = 0; i < l->n_stages; i++)
		if (strcmp(l->stage[i]->name, name) == 0)
			return true;
	return false;
}

/* A stage that a live node cannot do without, and what is wrong without it. */
struct need {
	const char *stage;
	const char *without;
	bool with_ide; /* only then */
};

static const struct need rx_needs[] = {
	{ "deframe", "nothing is ever believed", false },
	{ "link_rx", "flits would not come in order", false },
	{ "ide_open", "encrypted flits stay sealed", true },
	{ "deliver", "no message arrives", false },
};

static const struct need tx_needs[] = {
	{ "pack", "flits are never complete", false },
	{ "ide_seal", "flits would leave in the clear", true },
	{ "link_tx", "nothing is sent", false },
	{ "crc_protect", "every flit looks corrupt", false },
	{ "fec_encode", "every flit looks corrupt", false },
	{ "enframe", "no frame has a header", false },
};

static const struct need switch_needs[] = {
	{ "deframe", "nothing is ever believed", false },
	{ "route", "no frame leaves", false },
};

static void
layout_check(const struct daemon *d, const char *option, const char *text, const struct need *need,
	size_t n, struct weft_layout *l)
{
	char err[512];

	if (weft_layout_parse(text, l, err, sizeof(err)) != 0)
		cli_usage("%s: %s", option, err);
	for (size_t i = 0; i < n; i++)
		if (!layout_has_stage(l, need[i].stage) &&
			(d->topo->ide.mode != WEFT_IDE_OFF || !need[i].with_ide))
			cli_usage("%s: expected a stage %s in \"%s\": without it %s", option,
				need[i].stage, text, need[i].without);
}

/* In an rxl switch no connection ends. */
static void
layout_check_no_ends(const struct weft_layout *l, const char *option, const char *text)
{
	for (size_t i = 0; i < l->n_stages; i++)
		if (l->stage[i]->ends != WEFT_ENDS_NONE)
			cli_usage(
				"%s: expected no stage %s in \"%s\": it works on connections, and "
				"none ends in a switch of rxl mode",
				option, l->stage[i]->name, text);
}

/* Ways go by the senders of connections. */
static void
layout_check_no_ways(
	const struct weft_layout *l, const char *option, const char *text, const char *why)
{
	for (unsigned int s = 0; s < l->n_segments; s++)
		if (l->ways[s] != 1)
			cli_usage(
				"%s: expected no %u* in \"%s\": %s", option, l->ways[s], text, why);
}

void
layouts_check(const struct daemon *d)
{
	struct weft_layout l;

	layout_check(d, "--rx-layout", d->cfg.rx_layout, rx_needs, WEFT_ARRAY_SIZE(rx_needs), &l);
	if (daemon_is_cxl(d))
		layout_check_no_ways(&l, "--rx-layout", d->cfg.rx_layout,
			"ways go by the PIDs of senders, and in cxl mode frames have none");
	layout_check(d, "--tx-layout", d->cfg.tx_layout, tx_needs, WEFT_ARRAY_SIZE(tx_needs), &l);
	if (!daemon_is_cxl(d)) {
		layout_check(d, "--switch-layout", d->cfg.switch_layout, switch_needs,
			WEFT_ARRAY_SIZE(switch_needs), &l);
		layout_check_no_ends(&l, "--switch-layout", d->cfg.switch_layout);
		layout_check_no_ways(&l, "--switch-layout", d->cfg.switch_layout,
			"ways go by connections, and none ends in a switch of rxl mode");
	} else if (strcmp(d->cfg.switch_layout, WEFT_LAYOUT_SWITCH) != 0)
		cli_fail("--switch-layout: in cxl mode switches end links, as hosts and GFDs do: "
			 "expected --rx-layout");
	segments_check(d);
}
