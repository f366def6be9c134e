/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Traces of ports, one of a node at a time. The pipelines of the node follow frames while it lasts;
 * the control thread decodes them. At the end the node is as fast as before.
 */

#include "traces.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <rte_cycles.h>

#include "ports.h"
#include "weft_loop.h"

struct trace_run {
	struct node *n;
	int who; /* process that asked for it; 0: not known */
	char port[WEFT_PORT_NAME_MAX];
	unsigned int left; /* frames */
	bool is_over;
	struct weft_trace *side[2]; /* of n->rx and n->tx; NULL: no such pipeline */
	struct trace_run *next; /* of those that are under way */
};

static struct trace_run *traces;

static const struct {
	const char *word;
	int frame_kind, flit_type;
} trace_kinds[] = {
	{ "control", WEFT_WIRE_CONTROL, WEFT_TRACE_ANY },
	{ "flits", WEFT_WIRE_FLITS, WEFT_TRACE_ANY },
	{ "nop", WEFT_WIRE_FLITS, WEFT_FLIT_IDLE_NOP },
	{ "io", WEFT_WIRE_FLITS, WEFT_FLIT_IO },
	{ "cachemem", WEFT_WIRE_FLITS, WEFT_FLIT_CACHEMEM },
	{ "almp", WEFT_WIRE_FLITS, WEFT_FLIT_ALMP },
};

const char *
traces_kinds(char *text, size_t len)
{
	size_t used = 0;

	for (size_t i = 0; i < WEFT_ARRAY_SIZE(trace_kinds) && used < len; i++)
		used += (size_t)snprintf(text + used, len - used, "%s, ", trace_kinds[i].word);
	for (unsigned int k = 0; k < WEFT_MSG_KINDS && used < len; k++)
		used += (size_t)snprintf(text + used, len - used, "%s%s", k == 0 ? "" : ", ",
			weft_msg_kind_name((enum weft_msg_kind)k));
	return text;
}

/* False: no such kind. */
static bool
trace_read_kind(struct weft_trace_cfg *cfg, const char *kind)
{
	for (size_t i = 0; kind != NULL && i < WEFT_ARRAY_SIZE(trace_kinds); i++)
		if (strcmp(kind, trace_kinds[i].word) == 0) {
			cfg->frame_kind = trace_kinds[i].frame_kind;
			cfg->flit_type = trace_kinds[i].flit_type;
			return true;
		}
	for (unsigned int k = 0; kind != NULL && k < WEFT_MSG_KINDS; k++)
		if (strcmp(kind, weft_msg_kind_name((enum weft_msg_kind)k)) == 0) {
			cfg->frame_kind = WEFT_WIRE_FLITS;
			cfg->message = (int)k;
			return true;
		}
	return kind == NULL;
}

static bool
trace_is_sealed(const struct daemon *d)
{
	return d->topo->ide.mode != WEFT_IDE_OFF;
}

/* Who traces a node, for an operator. */
static const char *
trace_who(const struct node *n, char *text, size_t len)
{
	const struct trace_run *r = traces;

	while (r != NULL && r->n != n)
		r = r->next;
	if (r == NULL || r->who == 0)
		snprintf(text, len, "another");
	else
		snprintf(text, len, "process %d", r->who);
	return text;
}

static int
trace_judge(const struct daemon *d, const struct node *n, const char *port,
	struct weft_trace_cfg *cfg, const char *kind, char *err, size_t err_len)
{
	char words[256];

	if (n == NULL)
		return weft_errorf(err, err_len, -EINVAL,
			"port: expected a port of a node that runs here, got \"%.60s\"", port);
	if (!trace_read_kind(cfg, kind))
		return weft_errorf(err, err_len, -EINVAL, "kind: expected %s; got \"%.60s\"",
			traces_kinds(words, sizeof(words)), kind);
	if (cfg->message != WEFT_TRACE_ANY && cfg->message != WEFT_MSG_LLCTRL && trace_is_sealed(d))
		return weft_errorf(err, err_len, -EINVAL,
			"kind: expected a kind of frames or flits, got %s: with IDE messages are "
			"encrypted on the wire",
			kind);
	if (weft_pipe_is_traced(n->rx))
		return weft_errorf(err, err_len, -EBUSY, "node %s: it is being traced by %s",
			n->topo->name, trace_who(n, words, sizeof(words)));
	return 0;
}

struct trace_run *
trace_start(struct daemon *d, const char *port, const char *kind, int pid, unsigned int count,
	int who, char *err, size_t err_len)
{
	uint16_t number = 0;
	struct node *n = ports_find(d, port, strlen(port), &number);
	struct weft_trace_cfg cfg = { .in_port = number,
		.out_port = WEFT_TRACE_ANY,
		.pid = pid,
		.frame_kind = WEFT_TRACE_ANY,
		.flit_type = WEFT_TRACE_ANY,
		.message = WEFT_TRACE_ANY };
	struct trace_run *r;

	if (trace_judge(d, n, port, &cfg, kind, err, err_len) != 0)
		return NULL;
	r = calloc(1, sizeof(*r));
	if (r == NULL)
		goto no_memory;
	*r = (struct trace_run){ .n = n, .who = who, .left = count };
	snprintf(r->port, sizeof(r->port), "%s", port);
	if (n->tx == NULL)
		cfg.out_port = number; /* frames that leave pass the one pipeline that there is */
	r->side[0] = weft_trace_new(&cfg);
	cfg.in_port = -1;
	cfg.out_port = number;
	if (n->tx != NULL)
		r->side[1] = weft_trace_new(&cfg);
	if (r->side[0] == NULL || (n->tx != NULL && r->side[1] == NULL))
		goto no_memory;
	weft_pipe_trace(n->rx, r->side[0]);
	if (n->tx != NULL)
		weft_pipe_trace(n->tx, r->side[1]);
	r->next = traces;
	traces = r;
	return r;

no_memory:
	snprintf(err, err_len, "out of memory");
	for (unsigned int i = 0; r != NULL && i < WEFT_ARRAY_SIZE(r->side); i++)
		weft_trace_free(r->side[i]);
	free(r);
	return NULL;
}

/* Seconds since 1970 of a time of the TSC. */
static double
trace_time(uint64_t tsc)
{
	const double ago = (double)(rte_rdtsc() - tsc) / (double)rte_get_tsc_hz();
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9 - ago;
}

static json_t *
trace_end_line(struct trace_run *r)
{
	uint64_t missed = 0;

	for (unsigned int s = 0; s < 2; s++)
		missed += r->side[s] == NULL ? 0 : weft_trace_missed(r->side[s]);
	r->is_over = true;
	return json_pack(
		"{s:{s:s, s:I}}", "trace_end", "port", r->port, "missed", (json_int_t)missed);
}

json_t *
trace_line(struct trace_run *r)
{
	const struct weft_trace_frame *f = NULL, *other;
	struct weft_trace *t = NULL;
	json_t *o;

	if (r->is_over)
		return NULL;
	if (r->left == 0)
		return trace_end_line(r);
	for (unsigned int s = 0; s < 2; s++) {
		other = r->side[s] == NULL ? NULL : weft_trace_next(r->side[s]);
		if (other != NULL && (f == NULL || other->tsc < f->tsc)) {
			f = other;
			t = r->side[s];
		}
	}
	if (f == NULL)
		return NULL;
	o = trace_frame_json(f, trace_is_sealed(r->n->daemon));
	json_object_set_new(o, "time", json_real(trace_time(f->tsc)));
	json_object_set_new(o, "node", json_string(r->n->topo->name));
	json_object_set_new(o, "port", json_string(r->port));
	weft_trace_took(t, f);
	r->left--;
	return json_pack("{s:o}", "trace", o);
}

bool
trace_is_over(const struct trace_run *r)
{
	return r->is_over;
}

void
trace_stop(struct trace_run *r)
{
	struct trace_run **at = &traces;

	if (r == NULL)
		return;
	while (*at != r)
		at = &(*at)->next;
	*at = r->next;
	weft_pipe_trace(r->n->rx, NULL);
	if (r->n->tx != NULL)
		weft_pipe_trace(r->n->tx, NULL);
	weft_loop_quiesce();
	weft_trace_free(r->side[0]);
	weft_trace_free(r->side[1]);
	free(r);
}
