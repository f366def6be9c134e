/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * A world of one thread for the nodes of a whole fabric: it hands their frames over by itself, at
 * once and undamaged, and frames of rxl mode straight to the node that they are for.
 */
#ifndef TOY_H
#define TOY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weft_gfam.h"
#include "weft_gfam_log.h"
#include "weft_node.h"
#include "weft_rand.h"

#define TOY_NODES 16
#define TOY_STEP_NS 20000

struct toy_node {
	struct toy *toy;
	struct weft_node node;
	struct weft_tables_slot slot;
	struct weft_tables *tables;
	struct weft_ingress ingress[TOY_NODES];
	struct weft_ingress_drops drops[TOY_NODES];
	struct weft_gfam *access;
	struct weft_gfam_ref access_now;
	struct weft_gfam_log log;
	struct weft_gfam_checker guard;
};

struct toy {
	struct weft_topo *topo;
	struct weft_load *load;
	struct weft_rand rand;
	uint64_t now_ns;
	bool is_cut; /* no frame arrives */
	const struct weft_node *away; /* NULL: nobody; it hears and says nothing */
	size_t blocks; /* of memory, that are not free */
	struct toy_node at[TOY_NODES];
};

/* Make all nodes of a file's text. */
void toy_init(struct toy *w, const char *yaml);

/* The same in two steps: between them its load may be changed. */
void toy_load(struct toy *w, const char *yaml);
void toy_start(struct toy *w);

void toy_fini(struct toy *w);

/* Make one node, and end it: between the two it is not there. */
void toy_begin(struct toy *w, uint16_t i);
void toy_end(struct toy_node *a);

struct weft_node *toy_node(struct toy *w, const char *name);

/* Let all nodes do what is due; so often; and until one is done. */
void toy_step(struct toy *w);
void toy_steps(struct toy *w, unsigned int n);
void toy_run(struct toy *w, const struct weft_node *until);

/* The same for @p ns while nothing arrives, in the longest steps that are no pause. */
void toy_idle(struct toy *w, uint64_t ns);

/* A counter by its names, as in a report; @part NULL: of the node itself. */
uint64_t toy_count(
	const struct weft_node *n, const char *part, const char *name, const char *counter);

/* The same of all nodes that have it, together. */
uint64_t toy_total(const struct toy *w, const char *part, const char *name, const char *counter);

#endif /* TOY_H */
