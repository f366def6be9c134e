/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Which nodes of the fabric one daemon runs (doc/topology.md). */

#include <errno.h>
#include <stdio.h>

#include "topo_priv.h"

static int
select_fail(struct weft_topo_error *err, const char *message)
{
	if (err != NULL)
		err->line = 0;
	topo_error_text(err, "node selection", "", message);
	return -ENOENT;
}

/* Whether the @len bytes at @word are the name of @node. */
static bool
select_is_named(const struct weft_topo_node *node, const char *word, size_t len)
{
	return strlen(node->name) == len && memcmp(node->name, word, len) == 0;
}

/* Whether any word of the comma-separated list names @node. */
static bool
select_list_names(const char *names, const struct weft_topo_node *node)
{
	for (;;) {
		size_t len = strcspn(names, ",");

		if (select_is_named(node, names, len))
			return true;
		if (names[len] == '\0')
			return false;
		names += len + 1;
	}
}

/* "lab1" in the file is also the machine that calls itself "lab1.example.org". */
static bool
select_is_server(const char *in_file, const char *server)
{
	size_t len = strlen(in_file);

	if (strncmp(in_file, server, len) != 0)
		return false;
	return server[len] == '\0' || (server[len] == '.' && strchr(in_file, '.') == NULL);
}

static bool
select_is_selected(const struct weft_topo_node *node, const char *server, const char *names)
{
	if (names != NULL)
		return select_list_names(names, node);
	return node->server[0] == '\0' ||
	       (server != NULL && select_is_server(node->server, server));
}

/* Every word of @names is a node; -ENOENT with the first that is none. */
static int
select_check_names(const struct weft_topo *t, const char *names, struct weft_topo_error *err)
{
	char message[224];

	for (;;) {
		size_t len = strcspn(names, ",");
		unsigned int i = 0;

		while (i < t->n_nodes && !select_is_named(&t->node[i], names, len))
			i++;
		if (i == t->n_nodes) {
			snprintf(message, sizeof(message),
				"unknown node, expected one of fabric %s, got \"%.*s\"", t->fabric,
				len < 48 ? (int)len : 48, names);
			return select_fail(err, message);
		}
		if (names[len] == '\0')
			return 0;
		names += len + 1;
	}
}

int
weft_topo_select(const struct weft_topo *t, const char *server, const char *names, uint16_t *node,
	struct weft_topo_error *err)
{
	char message[224];
	int n = 0;

	if (names != NULL && select_check_names(t, names, err) < 0)
		return -ENOENT;
	for (uint16_t i = 0; i < t->n_nodes; i++) {
		if (select_is_selected(&t->node[i], server, names))
			node[n++] = i;
	}
	if (n > 0)
		return n;
	snprintf(message, sizeof(message),
		"nothing to run, expected a node with server %.64s in fabric %s, got none",
		server != NULL ? server : "(none)", t->fabric);
	return select_fail(err, message);
}
