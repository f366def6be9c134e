/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* The pipelines that the user asks for: what parses may still be of no use to a node. */

#include "daemon.h"

#include <stdio.h>

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

/*
 * Live connections need the stage retry where traces are read with crc_check; layouts that were
 * written for crc_check go on to work.
 */
static void
rx_layout(struct daemon *d)
{
	static char text[WEFT_PIPE_STAGES_MAX * 32];
	struct weft_layout l;
	size_t used = 0;

	parse("--rx-layout", d->cfg.rx_layout, &l);
	if (!has_stage(&l, "retry") && !has_stage(&l, "crc_check") && !has_stage(&l, "crc_first"))
		cli_usage(
			"--rx-layout: expected a stage retry (or crc_check) in \"%s\": without it "
			"flits would not come in order",
			d->cfg.rx_layout);
	for (unsigned int i = 0, segment = 0; i < l.n_stages; i++) {
		const char *name = l.stage[i]->name;
		const char *between = i == 0 ? "" : ",";

		if (i == l.first[segment + 1]) {
			between = "|";
			segment++;
		}
		if (strcmp(name, "crc_check") == 0)
			name = "retry";
		else if (strcmp(name, "crc_first") == 0)
			name = "fec_check,retry";
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", between, name);
	}
	d->cfg.rx_layout = text;
}

void
layouts_check(struct daemon *d)
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
