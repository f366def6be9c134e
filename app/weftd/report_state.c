/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The state of a running daemon for operators: the report, and what does not count but explains it.
 * No key is in any of it, only whether links are encrypted.
 */

#include "report.h"

#include <unistd.h>

#include "attach.h"
#include "drain.h"
#include "event.h"

static json_t *
state_links(const struct weft_topo *t)
{
	json_t *list = json_array();

	for (unsigned int i = 0; i < t->n_links; i++) {
		const unsigned int a = t->link[i].a, b = t->link[i].b;
		const unsigned int na = t->port[a].node, nb = t->port[b].node;

		json_array_append_new(list,
			json_pack("{s:s, s:i, s:s, s:i, s:s, s:i}", "a", t->node[na].name, "a_port",
				(int)(a - t->node[na].first_port), "b", t->node[nb].name, "b_port",
				(int)(b - t->node[nb].first_port), "form",
				weft_form_words[t->port[a].form], "mtu", (int)t->port[a].mtu));
	}
	return list;
}

static json_t *
state_topology(const struct daemon *d)
{
	const struct weft_topo *t = daemon_now(d);
	json_t *nodes = json_array();

	for (unsigned int i = 0; i < t->n_nodes; i++)
		json_array_append_new(
			nodes, json_pack("{s:s, s:s, s:i, s:s, s:I}", "name", t->node[i].name,
				       "kind", weft_topo_kind_words[t->node[i].kind], "pid",
				       (int)t->node[i].pid, "server", t->node[i].server, "memory",
				       (json_int_t)t->node[i].memory));
	return json_pack("{s:s, s:s, s:s, s:o, s:o}", "mode", weft_mode_words[t->mode], "routing",
		weft_topo_routing_word(t->routing), "ide", weft_ide_mode_words[t->ide.mode],
		"nodes", nodes, "links", state_links(t));
}

/* Where the tables in force send frames for each PID of the topology. */
static json_t *
state_routes(const struct node *n)
{
	const struct weft_topo *t = n->daemon->topo;
	json_t *list = json_array();

	for (unsigned int i = 0; i < t->n_nodes; i++) {
		const int port = weft_node_port(n->node, t->node[i].pid);

		if (i == n->index)
			continue;
		json_array_append_new(list, json_pack("{s:s, s:i, s:o}", "to", t->node[i].name,
						    "dpid", (int)t->node[i].pid, "port",
						    port < 0 ? json_null() : json_integer(port)));
	}
	return list;
}

json_t *
report_state(const struct daemon *d, double seconds)
{
	json_t *o = report_make(d, seconds), *node;
	size_t i;

	json_object_set_new(o, "program", json_string("weftd"));
	json_object_set_new(o, "version", json_string(WEFT_VERSION));
	json_object_set_new(o, "pid", json_integer(getpid()));
	json_object_set_new(o, "topology", state_topology(d));
	json_array_foreach(json_object_get(o, "nodes"), i, node)
	{
		json_object_set_new(node, "routes", state_routes(&d->node[i]));
		json_object_set_new(node, "programs", attach_json(&d->node[i]));
		json_object_set_new(node, "drain", drain_json(&d->node[i]));
	}
	return o;
}
