/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Edge check: by a port behind which a host, GFD or device stands nobody else may send, neither
 * frames (stage deframe) nor in cxl mode messages. An end whose link leads to another end without a
 * switch checks in the same way.
 */

#include "ingress.h"
#include "conn.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "event.h"

static_assert(WEFT_TOPO_ANY_SPID == WEFT_SPID_ANY, "what a topology says is a rule");

/* What the control thread has spoken of. */
struct ingress_told {
	uint64_t n;
	uint64_t since_ns; /* when it saw the first */
};

int
ingress_init(struct node *n)
{
	const struct weft_topo *t = n->daemon->topo;

	n->ingress.rule = calloc(n->n_ports, sizeof(*n->ingress.rule));
	n->ingress.drops = calloc(n->n_ports, sizeof(*n->ingress.drops));
	n->ingress.seen = calloc(n->n_ports, sizeof(*n->ingress.seen));
	n->ingress.told = calloc(n->n_ports, sizeof(*n->ingress.told));
	if (n->ingress.rule == NULL || n->ingress.drops == NULL || n->ingress.seen == NULL ||
		n->ingress.told == NULL)
		return -ENOMEM;
	for (uint16_t p = 0; p < n->n_ports; p++) {
		const unsigned int port = n->topo->first_port + p;

		n->ingress.rule[p].spid = weft_topo_port_spid(t, port);
		link_mac(t, t->port[port].peer, n->ingress.rule[p].mac);
	}
	n->env.ingress.rule = n->ingress.rule;
	n->env.ingress.drops = n->ingress.drops;
	n->env.ingress.seen = n->ingress.seen;
	return 0;
}

void
ingress_fini(struct node *n)
{
	free(n->ingress.rule);
	free(n->ingress.drops);
	free(n->ingress.seen);
	free(n->ingress.told);
}

static uint64_t
ingress_count(const struct node *n, unsigned int port, enum weft_ingress_kind kind)
{
	return __atomic_load_n(&n->ingress.drops[port].count[kind], __ATOMIC_RELAXED);
}

static const char *
ingress_name_of_pid(const struct weft_topo *t, uint16_t pid)
{
	for (uint16_t i = 0; i < t->n_nodes; i++)
		if (t->node[i].pid == pid)
			return t->node[i].name;
	return "nobody";
}

/*
 * In cxl mode frames have no SPID: then it is their source address that was wrong. What came by a
 * fabric port was refused because its connection is another node's.
 */
static void
ingress_say(const struct node *n, unsigned int port, uint64_t more, uint64_t all, uint64_t ago_ns)
{
	const struct weft_topo *t = n->daemon->topo;
	const char *other = t->node[t->neighbour[n->topo->first_port + port]].name;
	const uint16_t spid = __atomic_load_n(&n->ingress.drops[port].spid, __ATOMIC_RELAXED);
	char since[48];

	event_since(since, sizeof(since), ago_ns);
	if (spid == WEFT_PID_NONE && daemon_is_cxl(n->daemon))
		event_put(EVENT_SPOOFED, n->topo->name, other, more,
			"port %u (%s): a frame with the source address of another link; %llu "
			"dropped %s; the file of %s may give it another PID than this one",
			port, other, (unsigned long long)all, since, other);
	else if (n->ingress.rule[port].spid == WEFT_SPID_ANY)
		event_put(EVENT_SPOOFED, n->topo->name, other, more,
			"port %u (%s): messages with SPID 0x%03x of %s in a connection of another "
			"node; %llu dropped %s",
			port, other, spid, ingress_name_of_pid(t, spid), (unsigned long long)all,
			since);
	else
		event_put(EVENT_SPOOFED, n->topo->name, other, more,
			"port %u (%s): SPID 0x%03x of %s where only 0x%03x may come in; %llu "
			"dropped %s",
			port, other, spid, ingress_name_of_pid(t, spid), n->ingress.rule[port].spid,
			(unsigned long long)all, since);
}

void
ingress_log_events(struct daemon *d)
{
	const uint64_t now_ns = node_now_ns();

	for (uint16_t i = 0; i < d->n_nodes; i++) {
		const struct node *n = &d->node[i];

		for (uint16_t p = 0; p < n->n_ports; p++) {
			struct ingress_told *told = &n->ingress.told[p];
			uint64_t all = 0;

			for (unsigned int k = 0; k < WEFT_INGRESS_KINDS; k++)
				all += ingress_count(n, p, (enum weft_ingress_kind)k);
			if (all == told->n)
				continue;
			if (told->n == 0)
				told->since_ns = now_ns;
			ingress_say(n, p, all - told->n, all, now_ns - told->since_ns);
			told->n = all;
		}
	}
}

static const char *const kinds[] = {
	[WEFT_INGRESS_FLITS] = "flits",
	[WEFT_INGRESS_CONTROL] = "control",
	[WEFT_INGRESS_MESSAGES] = "messages",
};

void
ingress_rows(
	const struct node *n, void (*fn)(void *arg, const char *name, uint64_t value), void *arg)
{
	char name[48];

	for (uint16_t p = 0; p < n->n_ports; p++)
		for (unsigned int k = 0; k < WEFT_INGRESS_KINDS; k++) {
			const uint64_t v = ingress_count(n, p, (enum weft_ingress_kind)k);

			snprintf(name, sizeof(name), "port_%u_refused_%s", p, kinds[k]);
			if (v != 0)
				fn(arg, name, v);
		}
}

json_t *
ingress_json(const struct node *n, unsigned int port)
{
	json_t *o = json_object();

	json_object_set_new(o, "spid",
		n->ingress.rule[port].spid == WEFT_SPID_ANY
			? json_null()
			: json_integer(n->ingress.rule[port].spid));
	for (unsigned int k = 0; k < WEFT_INGRESS_KINDS; k++)
		json_object_set_new(o, kinds[k],
			json_integer(
				(json_int_t)ingress_count(n, port, (enum weft_ingress_kind)k)));
	return o;
}
