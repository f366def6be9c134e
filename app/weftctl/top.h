/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* What weftctl top has on its page: numbers of nodes and drops, made from two states of daemons. */
#ifndef TOP_H
#define TOP_H

#include <jansson.h>
#include <stdbool.h>

#define TOP_HISTORY 64 /* samples of a node */
#define TOP_NAME 32

struct top_node {
	char name[TOP_NAME], kind[TOP_NAME];
	unsigned int daemon, pid; /* of the process, in the fabric */
	unsigned int up, all; /* connections */
	double in, out; /* Mflit/s */
	double resent_per_s, drops_per_s; /* negative: not known yet */
	double p50_us, p99_us; /* of requests; negative: it sends none */
	double history[TOP_HISTORY]; /* in + out, the newest last */
	unsigned int n_history;
	/* What rates are made of. */
	double seconds, resent, dropped;
	unsigned int order; /* as the daemons have them */
	bool is_there; /* in the newest state */
	bool is_silent; /* its daemon does not answer: all else is of before */
};

struct top_drop {
	char reason[TOP_NAME];
	double total, before;
	double per_s; /* negative: not known yet */
};

/** All zero: nothing was seen yet. */
struct top_model {
	struct top_node *node;
	unsigned int n_nodes, room;
	struct top_drop drop[64];
	unsigned int n_drops;
	double seconds; /* of the newest state */
	char fabric[TOP_NAME];
	unsigned int n_daemons, n_silent;
};

/**
 * Take in the states of all daemons, "silent" ones of before among them. Drops stand with the
 * most a second first, then with the most of all; nodes as top_sort() says.
 *
 * @param node  only of this one; NULL: of all
 * @return 0, or -ENOMEM: then it is as before
 */
int top_update(struct top_model *m, const json_t *states, const char *node);

/** Nodes with the most load first, or as the daemons have them. */
void top_sort(struct top_model *m, bool by_load);

void top_free(struct top_model *m);

enum top_terminal { TOP_TERMINAL_GOOD, TOP_TERMINAL_UNKNOWN, TOP_TERMINAL_DUMB };

/** Whether $TERM is one with a page: whose cursor can be moved. */
enum top_terminal top_judge_terminal(void);

/**
 * The last samples of a node as a line of @p cols bars of 0 to 8 eighths, to the right; the highest
 * sample of them is 8, none is 0.
 */
void top_bars(const struct top_node *n, unsigned char *bar, unsigned int cols);

#endif /* TOP_H */
