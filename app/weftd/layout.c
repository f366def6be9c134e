/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* The pipelines that the user asks for: what parses may still be of no use to a node. */

#include "daemon.h"

#include "cli.h"

static bool
has_stage(const struct weft_layout *l, const char *name)
{
	for (unsigned int i = 0; i < l->n_stages; i++)
		if (strcmp(l->stage[i]->name, name) == 0)
			return true;
	return false;
}

/* Stages work with what deframe writes about a frame: without it nothing is ever believed. */
static void
parse(const char *option, const char *text, struct weft_layout *l)
{
	char err[256];

	if (weft_layout_parse(text, l, err, sizeof(err)) != 0)
		cli_usage("%s: %s", option, err);
	if (strcmp(l->stage[0]->name, "deframe") != 0)
		cli_usage("%s: expected deframe as the first stage, got \"%s\"", option,
			l->stage[0]->name);
}

static void
rx_layout(const struct daemon *d)
{
	struct weft_layout l;

	parse("--rx-layout", d->cfg.rx_layout, &l);
	if (!has_stage(&l, "link_rx"))
		cli_usage("--rx-layout: expected a stage link_rx in \"%s\": without it flits "
			  "would not come in order",
			d->cfg.rx_layout);
	if (!has_stage(&l, "deliver"))
		cli_usage("--rx-layout: expected a stage deliver in \"%s\": without it no message "
			  "arrives",
			d->cfg.rx_layout);
	if (d->topo->ide != WEFT_IDE_OFF && !has_stage(&l, "ide_open"))
		cli_usage(
			"--rx-layout: expected a stage ide_open in \"%s\": the topology has ide on",
			d->cfg.rx_layout);
}

void
layouts_check(const struct daemon *d)
{
	struct weft_layout l;

	rx_layout(d);
	if (!daemon_is_cxl(d)) {
		parse("--switch-layout", d->cfg.switch_layout, &l);
		if (!has_stage(&l, "route"))
			cli_usage(
				"--switch-layout: expected a stage route in \"%s\": without it no "
				"frame leaves",
				d->cfg.switch_layout);
	} else if (strcmp(d->cfg.switch_layout, WEFT_LAYOUT_SWITCH) != 0) {
		cli_fail("--switch-layout: in cxl mode switches end links, as hosts and GFDs do: "
			 "expected --rx-layout");
	}
}
