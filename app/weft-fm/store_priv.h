/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* What a kind of store does: the calls of manager.h go to the row of the kind that is named. */
#ifndef STORE_PRIV_H
#define STORE_PRIV_H

#include "manager.h"

struct store {
	const struct store_kind *kind;
	struct store_cfg cfg;
	char why[200]; /* store_why() */
};

/* Calls are as those of manager.h. */
struct store_kind {
	const char *scheme; /* with its colon */
	const char *expects; /* what --store takes */
	bool is_shared; /* several managers may take turns */
	struct store *(*open)(const char *where, const struct store_cfg *cfg);
	void (*close)(struct store *s);
	uint64_t (*turn)(struct store *s);
	bool (*leads)(const struct store *s);
	int (*identity)(struct store *s, struct store_identity *id);
	int (*audit)(struct store *s, const struct store_change *change);
	json_t *(*history)(struct store *s, unsigned int n);
	int (*set_drained)(struct store *s, const char *node, bool is_drained);
	int (*get_drained)(struct store *s, const struct weft_topo *t, struct weft_fm_node *node);
	int (*set_memories)(struct store *s, const struct weft_topo *t, const struct memories *all);
	int (*get_memories)(struct store *s, const struct weft_topo *t, struct memories *all);
};

extern const struct store_kind store_sqlite;
#ifdef WEFT_HAVE_CURL
extern const struct store_kind store_etcd;
#endif

/* A UUID of RFC 4122, version 4. */
void store_draw_uuid(uint8_t uuid[16]);

/*
 * To the memory that is being read. A row that the fabric of the topology file cannot have ends the
 * program with a line (manager.h, store_get_memories()); @name may be NULL.
 */
struct memory *store_add_memory(struct memories *all, const struct weft_topo *t, const char *name,
	int64_t group, int64_t segment);
void store_add_extent(
	const struct weft_topo *t, struct memory *m, const char *gfd, int64_t dpa, int64_t size);
void store_add_host(const struct weft_topo *t, struct memory *m, const char *host);

#endif /* STORE_PRIV_H */
