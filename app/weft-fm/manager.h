/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Parts of weft-fm: desired state, sockets of components, the store, and operators. */
#ifndef MANAGER_H
#define MANAGER_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "weft_fm.h"
#include "weft_topo.h"

#define MANAGER_NAME WEFT_TOPO_NAME_ROOM
#define MANAGER_SOCKET "fm.sock" /* in the run folder, for operators */

/* --- intent.c: desired state: the file's, and what operators asked for --- */

/* A path leads to the switch or GFD whose node this is. */
struct intent {
	const struct weft_topo *topo;
	struct weft_fm_intent want; /* points to the arrays below */
	struct weft_fm_node *node; /* by node of the topology */
	struct weft_fm_extent *extent;
	struct weft_fm_right *right;
	uint16_t *node_of; /* [path] */
	uint32_t n_paths;
};

/* Of a topology; cli_fail() for what a manager cannot do. */
void intent_init(struct intent *in, const struct weft_topo *t);
void intent_free(struct intent *in);
/* Path of a node, or WEFT_FM_NO_PATH. */
uint32_t intent_path(const struct intent *in, unsigned int node);
/* Name of the component at a path; "fabric" for none. */
const char *intent_name(const struct intent *in, uint32_t path);

/* --- store.c: what survives: identity, what operators asked for, the audit log --- */

struct store;

/* Open, or make, a store at "sqlite:PATH"; NULL: in memory. cli_fail() if it cannot be used. */
struct store *store_open(const char *url);
void store_close(struct store *s);
/* UUID of the manager; drawn once. */
void store_uuid(struct store *s, uint8_t uuid[16]);
/* Add a line to the audit log. @opcode 0: no command. */
void store_audit(struct store *s, const char *who, const char *why, const char *node,
	uint16_t opcode, const char *what);
/* The last @n lines, oldest first. */
json_t *store_history(struct store *s, unsigned int n);
/* Nodes that are drained. 0 or -errno. */
int store_set_drained(struct store *s, const char *node, bool is_drained);
bool store_is_drained(struct store *s, const char *node);

/* --- paths.c: sockets of components --- */

struct paths;

struct paths *paths_new(const struct intent *in, const char *folder);
void paths_free(struct paths *p);
/* The transport: arg is the paths. */
int paths_send(void *arg, uint32_t path, const uint8_t *msg, size_t len);
/* Connect what is not connected; tells the manager of those that are new. */
void paths_connect(struct paths *p, struct weft_fm *fm, uint64_t now_ns);
/* Add descriptors to poll(); take what has come. */
unsigned int paths_fds(const struct paths *p, struct pollfd *fd);
void paths_receive(struct paths *p, struct weft_fm *fm, uint64_t now_ns);

/* --- the whole --- */

#define MANAGER_EVENTS 512

struct manager_event {
	int64_t at_ns; /* since 1970 */
	uint8_t kind;
	char node[MANAGER_NAME];
	char text[224];
};

struct manager {
	struct weft_topo *topo;
	struct intent intent;
	struct store *store;
	struct paths *paths;
	struct weft_fm *fm;
	bool is_quiet;
	uint64_t n_events; /* so far; the last are kept */
	struct manager_event event[MANAGER_EVENTS];
};

/* report.c: state for --json and for operators; NULL: memory is short. */
json_t *report_fabric(const struct manager *m);
json_t *report_switches(const struct manager *m);
json_t *report_ports(const struct manager *m);
json_t *report_pids(const struct manager *m);
json_t *report_routes(const struct manager *m);
json_t *report_gfds(const struct manager *m);
json_t *report_extents(const struct manager *m);
json_t *report_events(const struct manager *m);
/* Nodes on the way between two, or a string that says why there is none. */
json_t *report_path(const struct manager *m, unsigned int from, unsigned int to);

/* operate.c: the socket for operators. */
void operate_init(struct manager *m, const char *folder);
unsigned int operate_fds(struct pollfd *fd); /* room for OPERATE_FDS */
void operate_turn(struct manager *m, uint64_t now_ns);
void operate_fini(void);

#define OPERATE_FDS 33

#endif /* MANAGER_H */
