/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Parts of weft-fm: desired state, sockets of components, the store, and operators. */
#ifndef MANAGER_H
#define MANAGER_H

#include <jansson.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#include "weft_attach_rundir.h"
#include "weft_fm.h"
#include "weft_socket.h"
#include "weft_topo.h"

#define MANAGER_NAME WEFT_TOPO_NAME_ROOM
#define MANAGER_SOCKET WEFT_ATTACH_FM WEFT_ATTACH_SUFFIX /* in the run folder, for operators */

/* --- memory.c: memory that operators asked for --- */

#define MEMORY_MAX WEFT_TOPO_FM_GROUPS
#define MEMORY_EXTENTS WEFT_FM_HOST_EXTENTS /* of one: a host is told all of them at once */
#define MEMORY_HOSTS 256 /* of one */

struct memory_extent {
	uint16_t gfd; /* node */
	uint64_t dpa, size;
};

struct memory {
	char name[MANAGER_NAME];
	uint8_t group;
	uint16_t segment; /* that it is in */
	unsigned int n_extents, n_hosts; /* no extents: released, and the group not yet free */
	struct memory_extent extent[MEMORY_EXTENTS];
	uint16_t host[MEMORY_HOSTS]; /* nodes that may reach it */
};

struct memories {
	unsigned int n;
	struct memory m[MEMORY_MAX];
};

struct memory_wish {
	char name[MANAGER_NAME]; /* "": one that is free */
	uint16_t gfd; /* node */
	unsigned int ways; /* GFDs that take turns */
	uint64_t size;
	uint16_t host[MEMORY_HOSTS];
	unsigned int n_hosts;
};

struct memory *memory_find(struct memories *s, const char *name);
bool memory_has_host(const struct memory *m, unsigned int host);
/* Change what is desired. 0, or -errno with a line: it may be half made, and is to be dropped. */
int memory_create(struct memories *s, const struct weft_topo *t, const struct memory_wish *w,
	char *err, size_t err_len);
int memory_grow(struct memories *s, struct memory *m, const struct weft_topo *t, uint64_t size,
	char *err, size_t err_len);
int memory_share(struct memories *s, struct memory *m, const struct weft_topo *t,
	const uint16_t *host, unsigned int n_hosts, char *err, size_t err_len);
void memory_release(struct memory *m);
bool memory_is_released(const struct memory *m);
/* What a memory may be called: 1 to MANAGER_NAME - 1 bytes of UTF-8, no blanks or controls. */
bool memory_is_name(const char *name);
struct manager;
/* Those that were released, once no GFD has anything in their groups any more. */
void memory_forget(const struct manager *m, struct memories *s);

/* --- intent.c: desired state: the file's, and what operators asked for --- */

/* A path leads to the switch or GFD whose node this is. */
struct intent {
	const struct weft_topo *topo;
	struct weft_fm_intent want; /* points to the arrays below */
	struct weft_fm_node *node; /* by node of the topology */
	struct weft_fm_extent *extent; /* those of the file, then those of operators */
	struct weft_fm_right *right;
	uint32_t n_file_extents;
	uint16_t *node_of; /* [path] */
	uint32_t n_paths;
};

/* Of a topology; cli_fail() for what a manager cannot do. */
void intent_init(struct intent *in, const struct weft_topo *t);
void intent_free(struct intent *in);
/* Desired from now on: what the file says of memory, and @s. */
void intent_set_memory(struct intent *in, const struct memories *s);
/* Path of a node, or WEFT_FM_NO_PATH. */
uint32_t intent_path(const struct intent *in, unsigned int node);
/* Name of the component at a path; "fabric" for none. */
const char *intent_name(const struct intent *in, uint32_t path);

/* --- store.c: what survives: identity, what operators asked for, the audit log --- */

struct store;

struct store_cfg {
	const char *url; /* NULL: in memory */
	unsigned int lease_s; /* of a shared store: who leads is gone when it was silent so long */
	const char *at; /* host by whose port this manager reaches components; NULL: by sockets */
	uint16_t pid; /* that it has there */
	/* Who leads: "leads" or "waits", and a sentence about it. */
	void (*say)(void *arg, const char *word, const char *text);
	void *say_arg;
};

/* Whom components know this manager by, and the other one of a shared store. */
struct store_identity {
	uint8_t uuid[16], peer_uuid[16];
	uint16_t pid, peer_pid;
	bool has_peer;
};

struct store_change {
	const char *who, *why, *node;
	uint16_t opcode; /* 0: no command */
	const char *what;
};

/* Open, or make, a store. cli_fail() if it cannot be used; one that is away is waited for. */
struct store *store_open(const struct store_cfg *cfg);
/* Another manager of a shared store may lead at once. */
void store_close(struct store *s);
/* Whether several managers take turns. */
bool store_is_shared(const struct store *s);
/* Keep the lead, or try to get it; look whether the store is still there. @return ns to the next */
uint64_t store_turn(struct store *s);
/*
 * Whether this manager may send commands and write the store, which is to be asked before each
 * command. When it comes back, what was read of the store is to be read again.
 */
bool store_leads(const struct store *s);

/* The rest is for the manager that leads. All return 0, or -EIO: then it may no longer lead. */

/* Drawn once. */
int store_identity(struct store *s, struct store_identity *id);
/* Add a line to the audit log; before a command is sent. */
int store_audit(struct store *s, const struct store_change *change);
/* The last @n lines, oldest first; NULL: they cannot be read, store_why(). */
json_t *store_history(struct store *s, unsigned int n);
/* Nodes that are drained: @node is by node of the topology. */
int store_set_drained(struct store *s, const char *node, bool is_drained);
/* Why it refused what it refused last, " (PATH: REASON)"; empty if it does not know. */
const char *store_why(const struct store *s);
int store_get_drained(struct store *s, const struct weft_topo *t, struct weft_fm_node *node);
/* All memory that operators asked for, in place of what there was. */
int store_set_memories(struct store *s, const struct weft_topo *t, const struct memories *all);
/*
 * What there was. Ends the program with a line where the fabric of the file has no room for it: to
 * go on without would give that memory back, and wipe it.
 */
int store_get_memories(struct store *s, const struct weft_topo *t, struct memories *all);

/* --- peer.c: a socket that a daemon serves --- */

struct peer {
	int fd; /* -1: not connected */
	char path[WEFT_SOCKET_PATH_MAX];
};

/* Of a node: cci-NODE and @suffix in the run folder. cli_fail() if that is too long. */
void peer_init(struct peer *p, const char *folder, const char *node, const char *suffix);
void peer_close(struct peer *p);
/* Connect if it is not. True: it is now, and was not. */
bool peer_connect(struct peer *p);
/* Add its descriptor to poll(), if there is one. @return how many */
unsigned int peer_fds(const struct peer *p, struct pollfd *fd);
/* Send a packet. 0; -EPIPE: it is not connected any more. */
int peer_send(struct peer *p, const uint8_t *packet, size_t len);
/* Take a packet that has come. @return bytes of it; 0: there is none, or it is not connected */
size_t peer_receive(struct peer *p, uint8_t *packet, size_t room);

/* --- paths.c: sockets of components --- */

struct paths;

/* @via: node of a host, by whose port components without a socket are reached; below 0: none. */
struct paths *paths_new(const struct intent *in, const char *folder, int via);
void paths_free(struct paths *p);
/* The socket of a component, where nobody serves it and there is no other way; else NULL. */
const char *paths_unserved(const struct paths *p, uint32_t path);
/* The transport. */
int paths_send(
	struct paths *p, const struct weft_fm *fm, uint32_t path, const uint8_t *msg, size_t len);
/* Connect what is not connected; tells the manager of those that are new. */
void paths_connect(struct paths *p, struct weft_fm *fm, uint64_t now_ns);
/* Add descriptors to poll(), one more than there are paths at most; take what has come. */
unsigned int paths_fds(const struct paths *p, struct pollfd *fd);
void paths_receive(struct paths *p, struct weft_fm *fm, uint64_t now_ns);

/* --- inband.c: paths through the fabric, from the port of a host --- */

struct inband;

struct inband *inband_new(const struct intent *in, const char *folder, unsigned int host);
void inband_free(struct inband *b);
/* Connect if it is not. True: it is now, and was not. */
bool inband_connect(struct inband *b);
/* Whether the neighbour switch is this manager's; says once if it is another's. */
bool inband_is_let_in(struct inband *b, const struct weft_fm *fm);
/* Send a request to a component. 0; -ENOTCONN: there is no port, or no way by the file. */
int inband_send(
	struct inband *b, const struct weft_fm *fm, uint32_t path, const uint8_t *msg, size_t len);
unsigned int inband_fds(const struct inband *b, struct pollfd *fd);
void inband_receive(struct inband *b, struct weft_fm *fm, uint64_t now_ns);

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
	struct memories memories;
	struct store *store;
	struct paths *paths; /* these two while it leads */
	struct weft_fm *fm;
	int via; /* node of the host whose port is the manager's; -1: none */
	bool was_stopped; /* by a signal */
	bool is_quiet;
	uint64_t n_events; /* so far; the last are kept */
	struct manager_event event[MANAGER_EVENTS];
};

/* report.c: state for --json and for operators; NULL: memory is short. */
/* Whether a component answers, and is as it is to be. */
bool report_is_ready(const struct manager *m, uint32_t path);
/* Whether it belongs to another manager. */
bool report_is_foreign(const struct manager *m, uint32_t path);
unsigned int report_count_foreign(const struct manager *m);
/* Components that are not ready and what they are instead, as "s0 is foreign, g0 is absent". */
void report_missing(const struct manager *m, char *text, size_t len);

json_t *report_fabric(const struct manager *m);
json_t *report_switches(const struct manager *m);
json_t *report_ports(const struct manager *m);
json_t *report_pids(const struct manager *m);
json_t *report_routes(const struct manager *m);
json_t *report_gfds(const struct manager *m);
json_t *report_extents(const struct manager *m);
json_t *report_events(const struct manager *m);
/* memory.c */
json_t *report_memory(const struct manager *m);
json_t *memory_json(const struct manager *m, const struct memory *mem);
/* Nodes on the way between two, or a string that says why there is none. */
json_t *report_path(const struct manager *m, unsigned int from, unsigned int to);

/* operate_mem.c: give, take and share memory; @who: who asks. */
json_t *operate_mem(struct manager *m, unsigned int who, const json_t *request);
/* operate.c: for the answers of it. */
json_t *operate_refuse(const char *fmt, const char *a);
json_t *operate_result(json_t *result);
json_t *operate_plan(struct manager *m);

/*
 * operate_listen.c: the socket for operators. 0; -EADDRINUSE: another manager serves it; with
 * @may_take_over also -EAGAIN: it is being found out whether that one stands, call again soon; or
 * -errno.
 */
int operate_listen(const char *folder, bool may_take_over);
/* Where operators connect, or -1. */
int operate_listener(void);
/* Whether it is there still: it may be removed, or taken over. */
bool operate_is_open(void);
void operate_unlisten(void);

/* operate.c: operators that have connected. */
void operate_init(void);
unsigned int operate_fds(struct pollfd *fd); /* room for OPERATE_FDS */
void operate_turn(struct manager *m, uint64_t now_ns);
void operate_fini(void);

#define OPERATE_FDS 33

#endif /* MANAGER_H */
