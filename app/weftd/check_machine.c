/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * --check with --server, on the server itself: what the doctor finds there is a part of the answer.
 * Of another machine nothing is seen from here, so the file alone is judged, and a line says so.
 */

#include "check_machine.h"
#include "daemon.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "doctor.h"

struct check_machine {
	bool is_quiet;
	unsigned int n[DOCTOR_UNKNOWN + 1]; /* by level */
};

/* Its name as the file may have it: whole, or up to the first dot. */
static bool
check_is_here(const char *server, const char *host)
{
	const size_t len = strlen(server);

	return strncmp(server, host, len) == 0 && (host[len] == '\0' || host[len] == '.');
}

static void
check_take_finding(void *arg, const struct doctor_finding *f)
{
	struct check_machine *c = arg;
	char text[3 * DOCTOR_TEXT + 32];

	c->n[f->level]++;
	if (f->level == DOCTOR_STOPS)
		cli_warn("this machine: %s: %s", f->rule->name,
			doctor_finding_text(f, text, sizeof(text)));
	else if (f->level != DOCTOR_GOOD && !c->is_quiet)
		printf("  this machine: %s: %s: %s\n", doctor_level_words[f->level], f->rule->name,
			doctor_finding_text(f, text, sizeof(text)));
}

int
check_machine(const struct daemon *daemon, const char *server)
{
	static struct doctor d;
	struct check_machine c = { .is_quiet = daemon->cfg.quiet };
	struct weft_topo_error e = { 0 };
	int rc = doctor_open(&d, "/");

	if (rc != 0)
		cli_fail("this machine: /: %s", strerror(-rc));
	if (!check_is_here(server, d.machine)) {
		if (!c.is_quiet)
			printf("  the machine itself: not looked at, as this one is %s: see there, "
			       "weftd --check --server %s or weftctl doctor\n",
				d.machine, server);
		doctor_close(&d);
		return EXIT_SUCCESS;
	}
	snprintf(d.machine, sizeof(d.machine), "%s", server);
	rc = doctor_want(&d, daemon->topo, NULL, &e);
	if (rc != 0)
		cli_fail("this machine: %s", rc == -ENOENT ? e.text : strerror(-rc));
	doctor_run(&d, check_take_finding, &c);
	doctor_close(&d);
	if (!c.is_quiet)
		doctor_print_summary(&d, c.n);
	return c.n[DOCTOR_STOPS] != 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
