/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * weftctl doctor: findings as lines in groups, or as JSON. Exit status 0: nothing is in the way; 1:
 * something is; 2: could not look.
 */

#include "doctor.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "ctl.h"
#include "weft_topo.h"

#define DOCTOR_IN_THE_WAY 1

struct doctor_report {
	const char *group; /* of the last line */
	unsigned int n[DOCTOR_UNKNOWN + 1]; /* by level */
	json_t *findings; /* NULL: text */
};

static void
doctor_print(struct doctor_report *r, const struct doctor_finding *f)
{
	if (r->group == NULL || strcmp(r->group, f->rule->group) != 0)
		printf("%s\n", f->rule->group);
	r->group = f->rule->group;
	printf("  %-7s  %-14s  %s", doctor_level_words[f->level], f->rule->name, f->found);
	if (f->level == DOCTOR_SLOWS || f->level == DOCTOR_STOPS)
		printf("; expected %s: %s", f->wanted, f->fix);
	putchar('\n');
}

/* JSON has no bytes that are not UTF-8. */
static json_t *
doctor_json_text(const char *text)
{
	char ascii[DOCTOR_TEXT];
	size_t n = 0;
	json_t *o = text[0] != '\0' ? json_string(text) : json_null();

	for (; o == NULL && n + 1 < sizeof(ascii) && text[n] != '\0'; n++)
		ascii[n] = (text[n] & 0x80) != 0 ? '?' : text[n];
	ascii[n] = '\0';
	return o != NULL ? o : json_string(ascii);
}

static void
doctor_take(void *arg, const struct doctor_finding *f)
{
	struct doctor_report *r = arg;
	const struct doctor_subject *s = f->subject;

	r->n[f->level]++;
	if (r->findings == NULL) {
		doctor_print(r, f);
		return;
	}
	json_array_append_new(r->findings,
		json_pack("{s:s, s:s, s:o, s:o, s:s, s:o, s:o, s:o}", "group", f->rule->group,
			"rule", f->rule->name, "subject", doctor_json_text(s->name), "port",
			doctor_json_text(s->port), "level", doctor_level_words[f->level], "found",
			doctor_json_text(f->found), "wanted", doctor_json_text(f->wanted), "fix",
			doctor_json_text(f->fix)));
}

static void
doctor_end(const struct ctl *c, const struct doctor *d, struct doctor_report *r)
{
	const unsigned int in_the_way = r->n[DOCTOR_STOPS] + r->n[DOCTOR_SLOWS];

	if (r->findings == NULL) {
		printf("%s%s%s: %u in the way (%u stop a node, %u slow it), %u good, %u unknown\n",
			d->machine, d->nodes[0] != '\0' ? ", for " : "", d->nodes, in_the_way,
			r->n[DOCTOR_STOPS], r->n[DOCTOR_SLOWS], r->n[DOCTOR_GOOD],
			r->n[DOCTOR_UNKNOWN]);
		return;
	}
	ctl_print_json(
		c, json_pack("{s:o, s:s?, s:s?, s:i, s:i, s:i, s:i, s:o}", "machine",
			   doctor_json_text(d->machine), "topology", c->opt.topology, "nodes",
			   d->nodes[0] != '\0' ? d->nodes : NULL, "stops", (int)r->n[DOCTOR_STOPS],
			   "slows", (int)r->n[DOCTOR_SLOWS], "good", (int)r->n[DOCTOR_GOOD],
			   "unknown", (int)r->n[DOCTOR_UNKNOWN], "findings", r->findings));
}

static void
doctor_want_topology(const struct ctl *c, struct doctor *d)
{
	struct weft_topo_error e;
	struct weft_topo *t;
	int rc = weft_topo_load(&t, c->opt.topology, &e);

	if (rc != 0)
		ctl_fail(c, "%s", e.text);
	rc = doctor_want(d, t, c->opt.node, &e);
	if (rc == -ENOENT)
		ctl_fail(c, "doctor: %s", e.text);
	if (rc != 0)
		ctl_fail(c, "doctor: %s: %s", c->opt.topology,
			rc == -ENOSPC ? "expected fewer ports on this machine" : strerror(-rc));
	weft_topo_free(t);
}

int
doctor_see(struct ctl *c)
{
	static struct doctor d;
	struct doctor_report r = { .group = NULL };
	const char *root = c->opt.root != NULL ? c->opt.root : "/";
	const int rc = doctor_open(&d, root);

	if (rc == -ENOENT)
		ctl_fail(c, "doctor: %s: expected a folder with proc and sys", root);
	if (rc != 0)
		ctl_fail(c, "doctor: %s: %s", root, strerror(-rc));
	if (c->opt.topology == NULL && c->opt.node != NULL)
		cli_usage("doctor: --node: expected --topology beside it");
	if (c->opt.topology != NULL)
		doctor_want_topology(c, &d);
	else
		doctor_want_all(&d);
	r.findings = c->opt.is_json ? json_array() : NULL;
	doctor_run(&d, doctor_take, &r);
	doctor_end(c, &d, &r);
	doctor_close(&d);
	if (r.n[DOCTOR_STOPS] + r.n[DOCTOR_SLOWS] != 0)
		return DOCTOR_IN_THE_WAY;
	return r.n[DOCTOR_UNKNOWN] != 0 ? CLI_USAGE : 0;
}
