/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* What is known of the fabric, as JSON: found state, by the names of the topology file. */

#include <poll.h>
#include <stdio.h>

#include "manager.h"
#include "weft_fm_routes.h"

#define REPORT_MISSING 8 /* components that a line names */

static json_t *
report_hex(uint64_t v)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%03llx", (unsigned long long)v);
	return json_string(text);
}

static json_t *
report_id(const struct weft_fm_component *c)
{
	char text[33] = "";

	for (unsigned int i = 0; c->has_id && i < sizeof(c->id); i++)
		snprintf(text + 2 * i, sizeof(text) - 2 * i, "%02x", c->id[i]);
	return json_string(text);
}

bool
report_is_ready(const struct manager *m, uint32_t path)
{
	struct weft_fm_component c;

	return weft_fm_component(m->fm, path, &c) == 0 && c.state == WEFT_FM_READY;
}

bool
report_is_foreign(const struct manager *m, uint32_t path)
{
	struct weft_fm_component c;

	return weft_fm_component(m->fm, path, &c) == 0 && c.state == WEFT_FM_FOREIGN;
}

unsigned int
report_count_foreign(const struct manager *m)
{
	unsigned int n = 0;

	for (uint32_t i = 0; i < m->intent.n_paths; i++)
		n += report_is_foreign(m, i);
	return n;
}

void
report_missing(const struct manager *m, char *text, size_t len)
{
	unsigned int n = 0;
	size_t used = 0;

	text[0] = '\0';
	for (uint32_t i = 0; i < m->intent.n_paths; i++) {
		struct weft_fm_component c;

		if (weft_fm_component(m->fm, i, &c) != 0 || c.state == WEFT_FM_READY ||
			n++ >= REPORT_MISSING)
			continue;
		used += (size_t)snprintf(text + used, used < len ? len - used : 0, "%s%s is %s",
			n == 1 ? "" : ", ", intent_name(&m->intent, i),
			weft_fm_state_word(c.state));
	}
	if (n > REPORT_MISSING && used < len)
		snprintf(text + used, len - used, " and %u more", n - REPORT_MISSING);
}

/* With what is another manager's nothing is as this one wants it. */
json_t *
report_fabric(const struct manager *m)
{
	json_t *lost = json_array(), *foreign = json_array();

	for (uint32_t i = 0; i < m->intent.n_paths; i++) {
		const char *name = intent_name(&m->intent, i);

		if (!report_is_ready(m, i))
			json_array_append_new(lost, json_string(name));
		if (report_is_foreign(m, i))
			json_array_append_new(foreign, json_string(name));
	}
	return json_pack("{s:s, s:b, s:i, s:i, s:i, s:o, s:o}", "fabric", m->topo->fabric,
		"converged", weft_fm_is_converged(m->fm) && json_array_size(foreign) == 0,
		"components", (int)m->intent.n_paths, "ready",
		(int)(m->intent.n_paths - json_array_size(lost)), "hosts", m->topo->n_hosts, "lost",
		lost, "foreign", foreign);
}

static json_t *
report_component(const struct manager *m, uint32_t path, const struct weft_fm_component *c)
{
	return json_pack("{s:s, s:s, s:o, s:o, s:i}", "name", intent_name(&m->intent, path),
		"state", weft_fm_state_word(c->state), "pid", report_hex(c->pid), "id",
		report_id(c), "writes", (int)c->n_writes);
}

json_t *
report_switches(const struct manager *m)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < m->intent.n_paths; i++) {
		struct weft_fm_component c;
		json_t *o;

		if (m->topo->node[m->intent.node_of[i]].kind != WEFT_TOPO_SWITCH ||
			weft_fm_component(m->fm, i, &c) != 0)
			continue;
		o = report_component(m, i, &c);
		json_object_set_new(o, "ports", json_integer(c.n_ports));
		json_object_set_new(o, "tables", json_integer(c.n_tables));
		json_object_set_new(o, "drained",
			json_boolean(m->intent.node[m->intent.node_of[i]].is_drained));
		json_array_append_new(list, o);
	}
	return list;
}

json_t *
report_gfds(const struct manager *m)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < m->intent.n_paths; i++) {
		json_t *rights = json_object(), *o;
		struct weft_fm_component c;

		if (m->topo->node[m->intent.node_of[i]].kind != WEFT_TOPO_GFD ||
			weft_fm_component(m->fm, i, &c) != 0) {
			json_decref(rights);
			continue;
		}
		for (unsigned int h = 0; h < m->topo->n_hosts; h++) {
			const struct weft_topo_node *host = &m->topo->node[m->topo->host[h]];
			const uint32_t groups = weft_fm_rights(m->fm, i, host->pid);

			if (groups != 0)
				json_object_set_new(rights, host->name, report_hex(groups));
		}
		o = report_component(m, i, &c);
		json_object_set_new(o, "extents", json_integer(c.n_extents));
		json_object_set_new(o, "groups_open", rights);
		json_array_append_new(list, o);
	}
	return list;
}

json_t *
report_ports(const struct manager *m)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < m->intent.n_paths; i++) {
		for (unsigned int p = 0; p < WEFT_FM_PORTS; p++) {
			struct weft_fm_port port;
			json_t *far;

			if (weft_fm_port(m->fm, i, (uint8_t)p, &port) != 0 || !port.is_there)
				continue;
			far = port.is_host ? json_string("host")
			      : port.far_path == WEFT_FM_NO_PATH
			              ? json_null()
			              : json_string(intent_name(&m->intent, port.far_path));
			json_array_append_new(
				list, json_pack("{s:s, s:i, s:b, s:b, s:o, s:i, s:o}", "switch",
					      intent_name(&m->intent, i), "port", (int)p, "up",
					      port.is_up, "linked", port.is_linked, "far", far,
					      "far_port", (int)port.far_port, "pid",
					      port.pid == WEFT_FM_NO_PID ? json_null()
									 : report_hex(port.pid)));
		}
	}
	return list;
}

json_t *
report_pids(const struct manager *m)
{
	json_t *list = json_array();

	for (unsigned int i = 0; i < m->topo->n_nodes; i++) {
		const struct weft_fm_node *n = &m->intent.node[i];
		uint16_t pid = WEFT_FM_NO_PID;
		struct weft_fm_component c;
		struct weft_fm_port port;

		if (n->path != WEFT_FM_NO_PATH && weft_fm_component(m->fm, n->path, &c) == 0)
			pid = c.pid;
		else if (n->path == WEFT_FM_NO_PATH &&
			 weft_fm_port(m->fm, n->at_path, n->at_port, &port) == 0)
			pid = port.pid;
		json_array_append_new(
			list, json_pack("{s:s, s:s, s:o, s:o}", "node", n->name, "kind",
				      weft_topo_kind_words[n->kind], "pid",
				      pid == WEFT_FM_NO_PID ? json_null() : report_hex(pid),
				      "desired", report_hex(n->pid)));
	}
	return list;
}

json_t *
report_routes(const struct manager *m)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < m->intent.n_paths; i++) {
		for (uint16_t d = 0; d < WEFT_FM_NO_PID; d++) {
			const int port = weft_fm_route(m->fm, i, d);
			const char *to = NULL;

			if (port < 0)
				continue;
			for (unsigned int k = 0; k < m->topo->n_nodes; k++)
				if (m->intent.node[k].pid == d)
					to = m->intent.node[k].name;
			json_array_append_new(list, json_pack("{s:s, s:o, s:s?, s:i}", "switch",
							    intent_name(&m->intent, i), "dpid",
							    report_hex(d), "to", to, "port", port));
		}
	}
	return list;
}

json_t *
report_extents(const struct manager *m)
{
	json_t *list = json_array();
	struct weft_fm_extent e;

	for (uint32_t i = 0; i < m->intent.n_paths; i++)
		for (uint32_t k = 0; weft_fm_extent(m->fm, i, k, &e) == 0; k++)
			json_array_append_new(
				list, json_pack("{s:s, s:i, s:I, s:I}", "gfd",
					      intent_name(&m->intent, i), "group", (int)e.group,
					      "dpa", (json_int_t)e.dpa, "size", (json_int_t)e.len));
	return list;
}

json_t *
report_events(const struct manager *m)
{
	const uint64_t first = m->n_events > MANAGER_EVENTS ? m->n_events - MANAGER_EVENTS : 0;
	json_t *list = json_array();

	for (uint64_t i = first; i < m->n_events; i++) {
		const struct manager_event *e = &m->event[i % MANAGER_EVENTS];

		json_array_append_new(list,
			json_pack("{s:I, s:s, s:s, s:s}", "at_ns", (json_int_t)e->at_ns, "event",
				weft_fm_event_word(e->kind), "node", e->node, "text", e->text));
	}
	return list;
}

json_t *
report_path(const struct manager *m, unsigned int from, unsigned int to)
{
	const struct weft_topo *t = m->topo;
	const struct weft_fm_node *n = &m->intent.node[from];
	uint32_t at = n->path == WEFT_FM_NO_PATH ? n->at_path : n->path;
	json_t *way = json_array();

	json_array_append_new(way, json_string(n->name));
	/* The port of a GFD leads to its switch. */
	if (n->kind == WEFT_TOPO_GFD)
		at = m->intent.node[weft_topo_neighbour(t, from, 0)].path;
	for (unsigned int hops = 0; hops <= t->n_nodes; hops++) {
		const int out = weft_fm_route(m->fm, at, m->intent.node[to].pid);
		struct weft_fm_port port;

		if (at != n->path)
			json_array_append_new(way, json_string(intent_name(&m->intent, at)));
		if (at == m->intent.node[to].path)
			return way;
		if (out < 0 || weft_fm_port(m->fm, at, (uint8_t)out, &port) != 0)
			break;
		if (port.is_host || port.far_path == m->intent.node[to].path) {
			json_array_append_new(way, json_string(m->intent.node[to].name));
			return way;
		}
		if (port.far_path == WEFT_FM_NO_PATH)
			break;
		at = port.far_path;
	}
	json_decref(way);
	return json_sprintf(
		"%s has no route to %s", intent_name(&m->intent, at), m->intent.node[to].name);
}
