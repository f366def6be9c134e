/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Rights: what a GFD lets whom do is judged by the topology alone; and in some drawn fabrics it
 * changes at work, to that of a second file and back.
 */
#ifndef UPDATE_H
#define UPDATE_H

#include "sim.h"

/* What a node has ready. */
struct update_node {
	const struct weft_topo *by; /* what its tables say */
	struct weft_tables *spare;
	struct weft_gfam *next; /* rights; NULL: it has none */
	struct weft_node_change *change; /* of its load; NULL: none */
};

/* The request that a GFD executes. */
struct rights_case {
	const uint8_t *line; /* of its memory; NULL: it is not judged */
	bool may;
	uint8_t want[WEFT_MSG_DATA_LEN]; /* in the answer, or, once it is written, in the line */
};

struct sim_update {
	struct weft_topo *other; /* the second file; NULL: rights stay */
	const struct weft_topo *now;
	const struct weft_topo *next; /* NULL: no change is under way */
	struct update_node *node; /* by index */
	uint16_t first, done; /* which node is the first, and how many have their tables */
	uint64_t gap_ns;
	struct rights_case rights;
};

/** Rights are judged; read what they change into, if they do. */
int update_open(struct sim *s, char *err, size_t err_len);
/** Room for it, once the nodes are there. */
void update_make(struct sim *s);
/** By which topology a node starts now. */
const struct weft_topo *update_topo(const struct sim *s);
/** A fault: the other file comes into force, @p gap_ns between one node and the next. */
void update_begin(struct sim *s, uint64_t where, uint64_t gap_ns);
void update_go_on(struct sim *s);
/** A node has started again: what changes it has to be told once more. */
void update_node_started(struct sim_node *n);
bool update_is_on(const struct sim *s);
void update_free(struct sim *s);

/* late.c: reads whose data turns out bad late */
/** A GFD starts: its file's numbers begin again. */
void late_started(struct sim_node *gfd);
/** A GFD is about to execute a request; then it has answered, perhaps with poison behind. */
void late_executes(struct sim_end *e, const struct weft_msg *m);
void late_answered(struct sim_end *e, const struct weft_msg *answer, bool late);

/* rights.c */
/** Where an address is in the memory of a GFD; UINT64_MAX: nowhere. */
uint64_t rights_place(const struct weft_topo *t, uint16_t gfd, uint64_t hpa);
/** Whether the file lets @p from reach it. */
bool rights_may(const struct weft_topo *t, const struct sim_node *from, uint16_t gfd, uint64_t dpa);
/** A GFD is about to execute a request; then it has answered. */
void rights_executes(struct sim_end *e, const struct weft_msg *m);
void rights_answered(struct sim_end *e, const struct weft_msg *answer);

#endif /* UPDATE_H */
