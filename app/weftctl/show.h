/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* What weftctl show has rows of. */
#ifndef SHOW_H
#define SHOW_H

#include <jansson.h>

#include "table.h"

/** The states of all daemons, and the same of a while before. */
struct show_view {
	const json_t *now, *before; /* lists; before NULL: rates are null */
	const char *node; /* only rows of this one; NULL: of all */
};

struct show_node;

struct show_noun {
	const char *word;
	const char *does;
	/** One of them: a list of objects, new; or those of a node, added to the list. */
	json_t *(*rows)(const struct show_view *v);
	void (*rows_of)(const struct show_node *n, json_t *rows);
	const struct table_column *column;
	unsigned int n_columns;
};

extern const struct show_noun show_nouns[];
extern const unsigned int show_n_nouns;

/* --- for the files that make rows --- */

/** A node of a state, and the same node before; `before` may be NULL. */
struct show_node {
	const json_t *states, *state, *node, *before;
	const char *name;
	double seconds; /* from before to now; 0: there is no before */
};

/** The rows of a noun, a new list. */
json_t *show_rows(const struct show_noun *noun, const struct show_view *v);

/** Growth of a counter a second, or null. The objects may be NULL. */
json_t *show_per_s(
	const struct show_node *n, const json_t *now, const json_t *before, const char *key);

/** The object of a list whose member @p key is @p text; NULL: none. */
const json_t *show_find(const json_t *list, const char *key, const char *text);

/** A member that is a number, or a text; 0 or "" where there is none. The object may be NULL. */
double show_number(const json_t *o, const char *key);
const char *show_text(const json_t *o, const char *key);

json_t *show_fabric(const struct show_view *v);
json_t *show_injections(const struct show_view *v);
json_t *show_links(const struct show_view *v);
void show_connections_of(const struct show_node *n, json_t *rows);
void show_keys_of(const struct show_node *n, json_t *rows);
void show_clients_of(const struct show_node *n, json_t *rows);

#endif /* SHOW_H */
