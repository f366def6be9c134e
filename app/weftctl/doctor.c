/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * weftctl doctor: findings as lines in groups, or as JSON. Exit status 0: nothing is in the way; 1:
 * something is; 2: could not look.
 */

#include "doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "ctl.h"
#include "weft_topo.h"

#define DOCTOR_IN_THE_WAY 1
#define DOCTOR_PATIENCE_MS 5000 /* with who writes to a FIFO */

struct doctor_report {
	const char *group; /* of the last line */
	unsigned int n[DOCTOR_UNKNOWN + 1]; /* by level */
	json_t *findings; /* NULL: text */
};

static void
doctor_print(struct doctor_report *r, const struct doctor_finding *f)
{
	char text[3 * DOCTOR_TEXT + 32];

	if (r->group == NULL || strcmp(r->group, f->rule->group) != 0)
		printf("%s\n", f->rule->group);
	r->group = f->rule->group;
	printf("  %-7s  %-14s  %s\n", doctor_level_words[f->level], f->rule->name,
		doctor_finding_text(f, text, sizeof(text)));
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
	if (r->findings == NULL) {
		doctor_print_summary(d, r->n);
		return;
	}
	ctl_print_json(
		c, json_pack("{s:o, s:s?, s:s?, s:i, s:i, s:i, s:i, s:o}", "machine",
			   doctor_json_text(d->machine), "topology", c->opt.topology, "nodes",
			   d->nodes[0] != '\0' ? d->nodes : NULL, "stops", (int)r->n[DOCTOR_STOPS],
			   "slows", (int)r->n[DOCTOR_SLOWS], "good", (int)r->n[DOCTOR_GOOD],
			   "unknown", (int)r->n[DOCTOR_UNKNOWN], "findings", r->findings));
}

/* What somebody writes to a FIFO, who may never come: up to one byte more than a file may have. */
static size_t
doctor_read_fifo(const struct ctl *c, int fd, char *text)
{
	struct pollfd in = { .fd = fd, .events = POLLIN };
	size_t len = 0;
	ssize_t n = 1;

	while (n > 0 && len <= WEFT_TOPO_BYTES) {
		if (poll(&in, 1, DOCTOR_PATIENCE_MS) <= 0)
			ctl_fail(c,
				"doctor: %s: expected a file, got a FIFO to which nobody wrote "
				"for %d s",
				c->opt.topology, DOCTOR_PATIENCE_MS / 1000);
		n = read(fd, text + len, WEFT_TOPO_BYTES + 1 - len);
		if (n < 0)
			ctl_fail(c, "doctor: %s: %s", c->opt.topology, strerror(errno));
		len += (size_t)n;
	}
	return len;
}

static int
doctor_read_topology(const struct ctl *c, struct weft_topo **t, struct weft_topo_error *e)
{
	const int fd = open(c->opt.topology, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	char *text;
	int rc;

	if (fd < 0 || fstat(fd, &st) != 0 || !S_ISFIFO(st.st_mode)) {
		if (fd >= 0)
			close(fd);
		return weft_topo_load(t, c->opt.topology, e);
	}
	text = malloc(WEFT_TOPO_BYTES + 1);
	if (text == NULL)
		ctl_fail(c, "out of memory");
	rc = weft_topo_parse(t, c->opt.topology, text, doctor_read_fifo(c, fd, text), e);
	free(text);
	close(fd);
	return rc;
}

static void
doctor_want_topology(const struct ctl *c, struct doctor *d)
{
	struct weft_topo_error e;
	struct weft_topo *t;
	int rc;

	rc = doctor_read_topology(c, &t, &e);
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

	if (rc == -ENODEV)
		ctl_fail(c,
			"doctor: --root %s: expected a folder of a machine, with proc/sys or "
			"sys/devices in it, got neither",
			root);
	if (rc != 0)
		ctl_fail(c, "doctor: --root %s: %s", root, strerror(-rc));
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
