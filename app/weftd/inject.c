/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Injections at work, a row each, and what all of them did. */

#include "inject.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "event.h"
#include "weft_port_badwire.h"

#define INJECT_CALM_S 1.0 /* for frames in a wire that ends */

const char *const inject_words[INJECT_KINDS + 1] = { "wire", "poison", "pause", NULL };

struct injection {
	unsigned int number; /* 0: the row is free */
	bool ends; /* it was told so; what it has still to give back comes */
	struct inject_cfg cfg;
	double begun, until; /* seconds of the run; `until`: when a wire that ends is taken away */
	struct weft_node_late *late; /* poison */
	bool late_ends; /* the GFD was told */
	uint64_t reads_before; /* late poison of the GFD */
};

/* What was done, by injections that are over. */
struct inject_totals {
	uint64_t frames, flits, lines, reads, pauses;
};

static struct {
	struct injection row[INJECTIONS];
	unsigned int begun, ended;
	struct inject_totals over;
} inject;

static struct weft_port *
inject_port(const struct injection *i)
{
	return i->cfg.node->port[i->cfg.port];
}

/* The place of a fault: a port, or a node. */
static const char *
inject_where(const struct injection *i)
{
	return i->cfg.kind == INJECT_WIRE ? weft_port_name(inject_port(i))
	                                  : i->cfg.node->topo->name;
}

static uint64_t
inject_late_reads(const struct injection *i)
{
	const uint64_t *n = weft_node_counter(i->cfg.node->node, NULL, "memory", "late_poison");

	return n == NULL ? 0 : __atomic_load_n(n, __ATOMIC_RELAXED);
}

/* What it did so far. */
static struct inject_totals
inject_done(const struct injection *i)
{
	static const unsigned int frames[] = { WEFT_IMPAIR_N_DROPPED, WEFT_IMPAIR_N_DUPLICATED,
		WEFT_IMPAIR_N_REORDERED, WEFT_IMPAIR_N_DELAYED, WEFT_IMPAIR_N_REPLAYED };
	struct inject_totals t = { .pauses = i->cfg.kind == INJECT_PAUSE };
	struct weft_port_badwire_counts c;

	if (i->cfg.kind == INJECT_WIRE && weft_port_badwire_counts(inject_port(i), &c) == 0) {
		t.flits = c.impair[WEFT_IMPAIR_N_TOUCHED];
		for (size_t k = 0; k < WEFT_ARRAY_SIZE(frames); k++)
			t.frames += c.impair[frames[k]];
	}
	if (i->late != NULL) {
		t.lines = __atomic_load_n(&i->late->marked, __ATOMIC_RELAXED);
		t.reads = inject_late_reads(i) - i->reads_before;
	}
	return t;
}

static void
inject_add(struct inject_totals *sum, const struct inject_totals *t)
{
	sum->frames += t->frames;
	sum->flits += t->flits;
	sum->lines += t->lines;
	sum->reads += t->reads;
	sum->pauses += t->pauses;
}

/* "drop=0.1,seed=7", "64 lines from 0x1000", "a share of 0.1 of reads, seed 7", "". */
static const char *
inject_what(const struct injection *i, char *text, size_t len)
{
	text[0] = '\0';
	if (i->cfg.kind == INJECT_WIRE)
		weft_impair_write(&i->cfg.wire, text, len);
	else if (i->cfg.kind == INJECT_POISON && i->cfg.lines != 0)
		snprintf(text, len, "%" PRIu64 " line%s from 0x%" PRIx64, i->cfg.lines,
			i->cfg.lines == 1 ? "" : "s", i->cfg.offset);
	else if (i->cfg.kind == INJECT_POISON)
		snprintf(text, len, "a share of %g of reads, seed %" PRIu64, i->cfg.share,
			i->cfg.seed);
	return text;
}

/* --- begin --- */

static int
inject_begin_wire(struct injection *i, char *err, size_t err_len)
{
	const int rc = weft_port_badwire_open(inject_port(i), &i->cfg.wire);

	if (rc == -EBUSY)
		return weft_errorf(err, err_len, rc,
			"port %s: expected a port without an injected wire, got one that has it: "
			"stop that first",
			inject_where(i));
	return rc == 0 ? 0
	               : weft_errorf(
				 err, err_len, rc, "port %s: %s", inject_where(i), strerror(-rc));
}

static bool
inject_has_share(const struct node *n)
{
	for (unsigned int k = 0; k < INJECTIONS; k++)
		if (inject.row[k].late != NULL && inject.row[k].cfg.node == n &&
			inject.row[k].cfg.lines == 0)
			return true;
	return false;
}

static struct weft_node_late *
inject_make_late(const struct inject_cfg *cfg)
{
	struct weft_node_late *l = calloc(1, sizeof(*l));

	if (l == NULL)
		return NULL;
	l->offset = cfg->offset;
	l->lines = cfg->lines;
	l->share = cfg->share;
	l->seed = cfg->seed;
	if (cfg->lines == 0)
		return l;
	l->map = calloc((cfg->lines + 63) / 64, sizeof(*l->map));
	if (l->map != NULL)
		return l;
	free(l);
	return NULL;
}

static void
inject_free_late(struct injection *i)
{
	if (i->late != NULL)
		free(i->late->map);
	free(i->late);
	i->late = NULL;
}

static int
inject_begin_poison(struct injection *i, char *err, size_t err_len)
{
	const struct node *n = i->cfg.node;
	int rc;

	if (i->cfg.lines == 0 && inject_has_share(n))
		return weft_errorf(err, err_len, -EBUSY,
			"share: expected a GFD that has none injected, got %s: stop that first",
			n->topo->name);
	i->late = inject_make_late(&i->cfg);
	if (i->late == NULL)
		return weft_errorf(err, err_len, -ENOMEM, "out of memory");
	i->reads_before = inject_late_reads(i);
	rc = late_inject(n, i->late, false);
	if (rc == 0)
		return 0;
	inject_free_late(i);
	return weft_errorf(err, err_len, rc, "%s: %s", n->topo->name,
		rc == -EAGAIN ? "too many marks wait: try again" : strerror(-rc));
}

static int
inject_begin_pause(const struct injection *i, char *err, size_t err_len)
{
	struct node *n = i->cfg.node;

	if (__atomic_load_n(&n->own.paused_until_ns, __ATOMIC_RELAXED) != 0)
		return weft_errorf(err, err_len, -EBUSY,
			"node %s: expected a node that runs, got one that is paused: stop that "
			"first",
			n->topo->name);
	__atomic_store_n(&n->own.paused_until_ns, node_now_ns() + (uint64_t)(i->cfg.seconds * 1e9),
		__ATOMIC_RELAXED);
	return 0;
}

static const char *
inject_name(const struct injection *i, char name[32])
{
	snprintf(name, 32, "injection %u", i->number);
	return name;
}

int
inject_begin(
	const struct inject_cfg *cfg, double now, unsigned int *number, char *err, size_t err_len)
{
	struct injection *i = inject.row;
	char name[32], what[WEFT_IMPAIR_TEXT_MAX];
	int rc;

	while (i < inject.row + INJECTIONS && i->number != 0)
		i++;
	if (i == inject.row + INJECTIONS)
		return weft_errorf(err, err_len, -ENOSPC,
			"expected at most %d injections at a time, got one more: stop some",
			INJECTIONS);
	*i = (struct injection){ .cfg = *cfg, .begun = now, .until = now + cfg->seconds };
	rc = cfg->kind == INJECT_WIRE     ? inject_begin_wire(i, err, err_len)
	     : cfg->kind == INJECT_POISON ? inject_begin_poison(i, err, err_len)
	                                  : inject_begin_pause(i, err, err_len);
	if (rc != 0)
		return rc;
	i->number = *number = ++inject.begun;
	inject_what(i, what, sizeof(what));
	event_put(EVENT_INJECTION_BEGUN, cfg->node->topo->name, inject_name(i, name), 1,
		"%s: %s is injected at %s for %g s%s%s", name, inject_words[cfg->kind],
		inject_where(i), cfg->seconds, what[0] == '\0' ? "" : ": ", what);
	return 0;
}

/* --- end --- */

/* Damage ends at once, what has to be given back in the rounds that follow. */
static void
inject_end(struct injection *i, double now)
{
	const struct inject_totals t = inject_done(i);
	char name[32], what[160] = "";

	if (i->ends)
		return;
	i->ends = true;
	if (i->cfg.kind == INJECT_WIRE) {
		weft_port_badwire_calm(inject_port(i));
		snprintf(what, sizeof(what), ": %" PRIu64 " frames and %" PRIu64 " flits were hit",
			t.frames, t.flits);
	} else if (i->cfg.kind == INJECT_POISON) {
		snprintf(what, sizeof(what),
			": %" PRIu64 " lines were marked, %" PRIu64 " reads met late poison",
			t.lines, t.reads);
	} else {
		/* In the past: its next poll finds that out. */
		__atomic_store_n(&i->cfg.node->own.paused_until_ns, 1, __ATOMIC_RELAXED);
	}
	i->until = now + INJECT_CALM_S;
	event_put(EVENT_INJECTION_ENDED, i->cfg.node->topo->name, inject_name(i, name), 1,
		"%s: %s at %s ended after %.1f s%s", name, inject_words[i->cfg.kind],
		inject_where(i), now - i->begun, what);
}

/* Whether nothing is left of it. */
static bool
inject_is_over(struct injection *i, double now, bool lcores_run)
{
	switch (i->cfg.kind) {
	case INJECT_WIRE:
		return !lcores_run || !weft_port_badwire_is_busy(inject_port(i)) || now >= i->until;
	case INJECT_POISON:
		if (!i->late_ends)
			i->late_ends = late_inject(i->cfg.node, i->late, true) == 0;
		return !lcores_run || __atomic_load_n(&i->late->is_over, __ATOMIC_ACQUIRE);
	default: return true;
	}
}

static void
inject_forget(struct injection *i)
{
	const struct inject_totals t = inject_done(i);

	inject_add(&inject.over, &t);
	if (i->cfg.kind == INJECT_WIRE)
		weft_port_badwire_close(inject_port(i), NULL);
	inject_free_late(i);
	i->number = 0;
	inject.ended++;
}

unsigned int
inject_stop(unsigned int number, double now)
{
	unsigned int n = 0;

	for (struct injection *i = inject.row; i < inject.row + INJECTIONS; i++) {
		if (i->number == 0 || i->ends || (number != 0 && i->number != number))
			continue;
		inject_end(i, now);
		n++;
	}
	return n;
}

void
injects_maintain(double now)
{
	for (struct injection *i = inject.row; i < inject.row + INJECTIONS; i++) {
		if (i->number == 0)
			continue;
		if (!i->ends && now >= i->until)
			inject_end(i, now);
		if (i->ends && inject_is_over(i, now, true))
			inject_forget(i);
	}
}

void
injects_end(double now)
{
	for (struct injection *i = inject.row; i < inject.row + INJECTIONS; i++) {
		if (i->number == 0)
			continue;
		inject_end(i, now);
		if (inject_is_over(i, now, false))
			inject_forget(i);
	}
}

/* --- reports --- */

static json_t *
inject_json(const struct injection *i, double now)
{
	const struct inject_totals t = inject_done(i);
	char what[WEFT_IMPAIR_TEXT_MAX];
	json_t *o = json_pack("{s:i, s:s, s:s, s:s, s:s, s:f, s:f, s:b}", "injection",
		(int)i->number, "kind", inject_words[i->cfg.kind], "node", i->cfg.node->topo->name,
		"at", inject_where(i), "what", inject_what(i, what, sizeof(what)), "seconds",
		i->cfg.seconds, "left",
		i->ends || now >= i->until ? 0.0 : fmin(i->until - now, i->cfg.seconds), "ends",
		i->ends);
	char seed[24];

	/* A text: numbers of JSON end at 2^63 here, and at 2^53 for some readers. */
	snprintf(seed, sizeof(seed), "%" PRIu64, i->cfg.seed);
	json_object_set_new(o, "seed",
		i->cfg.kind == INJECT_PAUSE || i->cfg.lines != 0 ? json_null() : json_string(seed));
	json_object_set_new(o, "frames", json_integer((json_int_t)t.frames));
	json_object_set_new(o, "flits", json_integer((json_int_t)t.flits));
	json_object_set_new(o, "lines", json_integer((json_int_t)t.lines));
	json_object_set_new(o, "reads", json_integer((json_int_t)t.reads));
	return o;
}

json_t *
injects_list_json(unsigned int number, double now)
{
	json_t *list = json_array();

	for (const struct injection *i = inject.row; i < inject.row + INJECTIONS; i++)
		if (i->number != 0 && (number == 0 || i->number == number))
			json_array_append_new(list, inject_json(i, now));
	return list;
}

void
injects_each(void (*fn)(void *arg, const char *what, uint64_t n), void *arg)
{
	struct inject_totals sum = inject.over;

	for (const struct injection *i = inject.row; i < inject.row + INJECTIONS; i++)
		if (i->number != 0) {
			const struct inject_totals t = inject_done(i);

			inject_add(&sum, &t);
		}
	fn(arg, "frames", sum.frames);
	fn(arg, "flits", sum.flits);
	fn(arg, "lines", sum.lines);
	fn(arg, "reads", sum.reads);
	fn(arg, "pauses", sum.pauses);
}

static void
inject_put(void *arg, const char *what, uint64_t n)
{
	json_object_set_new(arg, what, json_integer((json_int_t)n));
}

json_t *
injects_json(double now)
{
	json_t *o = json_pack("{s:i, s:i}", "begun", (int)inject.begun, "ended", (int)inject.ended);

	injects_each(inject_put, o);
	json_object_set_new(o, "list", injects_list_json(0, now));
	return o;
}
