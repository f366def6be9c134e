/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The fabric manager (fabric.md section 6): finds the components of a fabric, claims them, and
 * sends commands until what was found is what is desired.
 *
 *   1. A path leads to one component; what it is (a socket, a way through switches) is the
 *      transport's business. A path has one request out at a time.
 *   2. Found state is what components said, and what they confirmed of writes. After a write whose
 *      answer did not come, a component is read again as a whole.
 *   3. Desired state is the intent, plus PIDs by section 2.1 for nodes that have none there.
 *   4. What is sent next follows from found and desired state alone. A manager that ends anywhere
 *      leaves nothing that the next one, with the same UUID, does not read back.
 *   5. Order: hosts told of what goes, rights that go, PIDs, routes (weft_fm_routes.h), capacity,
 *      hosts told of what is to come, rights that come, hosts told that they have it. A right is
 *      opened only to a PID that nobody else holds, and only over capacity that is as desired.
 *   6. A component is left alone if another manager owns it, if its identity is also another's, or
 *      once it has answered nonsense three times.
 *
 * No I/O, clock or thread: time comes in, requests go out by the transport. Memory is taken by
 * weft_fm_new(), weft_fm_clone() and when a component says how large its tables are. One thread.
 */
#ifndef WEFT_FM_H
#define WEFT_FM_H

#include "weft_fm_routes.h"
#include "weft_topo.h"

WEFT_BEGIN_DECLS

#define WEFT_FM_NO_PATH UINT32_MAX
#define WEFT_FM_NO_PID 0xFFF
#define WEFT_FM_HOST_EXTENTS 51 /**< of one host: what a message to it holds */
#define WEFT_FM_PID 0x001 /**< of the manager, where the caller has no other */
#define WEFT_FM_PEER_PID 0x002 /**< of the second of two */

/** Carry a request; the answer comes by weft_fm_answer(). 0, or -errno if nobody is there. */
struct weft_fm_transport {
	void *arg;
	int (*send)(void *arg, uint32_t path, const uint8_t *msg, size_t len);
};

enum weft_fm_event_kind {
	WEFT_FM_EVENT_FOUND, /**< a component is known and owned */
	WEFT_FM_EVENT_LOST, /**< it does not answer */
	WEFT_FM_EVENT_FOREIGN, /**< it belongs to another manager */
	WEFT_FM_EVENT_DUPLICATE, /**< two paths lead to components of one identity */
	WEFT_FM_EVENT_QUARANTINE, /**< its answers make no sense */
	WEFT_FM_EVENT_REFUSED, /**< it refused a command */
	WEFT_FM_EVENT_LINK, /**< a port came or went, or is cabled as it may not be */
	WEFT_FM_EVENT_ROUTES, /**< routes were computed, or there are none */
	WEFT_FM_EVENT_DRAIN, /**< routes change in a way that needs a drain */
	WEFT_FM_EVENT_PIDS, /**< no PID is left */
	WEFT_FM_EVENT_WRITE, /**< a command that changes something is sent */
	WEFT_FM_EVENT_ACCESS, /**< a GFD reports accesses that it refused (0107h) */
	WEFT_FM_EVENT_CONVERGED /**< found state is desired state, as far as components are there */
};

/** Word of a kind: "found", "lost", ... Constant. */
const char *weft_fm_event_word(unsigned int kind);

struct weft_fm_event {
	uint8_t kind; /**< enum weft_fm_event_kind */
	uint32_t path; /**< or WEFT_FM_NO_PATH */
	uint16_t opcode; /**< WRITE, REFUSED */
	const char *why; /**< WRITE: what made it necessary */
	char text[224]; /**< one line, printable */
};

struct weft_fm_cfg {
	uint8_t uuid[16]; /**< of this manager; kept over its restarts */
	uint16_t pid; /**< 0..0xFFE */
	/**
	 * The other manager of two that take turns (fabric.md section 4.4): it is registered as
	 * secondary, and what it owns is taken over. Only one of the two may run.
	 */
	bool has_peer;
	uint8_t peer_uuid[16];
	/**
	 * Another than pid. Where components know managers by the PIDs that messages come from,
	 * any will do until the peer comes: it corrects that itself.
	 */
	uint16_t peer_pid;
	uint32_t n_paths;
	unsigned int tries; /**< requests without answer before a component is lost, 1 or more */
	uint64_t timeout_ns; /**< of one */
	uint64_t poll_ns; /**< between looks at a component that is fine */
	uint64_t retry_ns; /**< between looks at one that is not */
	uint64_t drain_ns; /**< time after which no message of removed routes is under way */
	struct weft_fm_transport transport;
	void (*on_event)(void *arg, const struct weft_fm_event *e); /**< may be NULL */
	void *event_arg;
};

/** A node that is wanted. */
struct weft_fm_node {
	char name[WEFT_TOPO_NAME_ROOM];
	uint8_t kind; /**< enum weft_topo_kind: host, switch or GFD */
	bool is_drained; /**< no route leads through it, or to it */
	uint16_t pid; /**< WEFT_FM_NO_PID: any */
	uint32_t path; /**< switch, GFD; WEFT_FM_NO_PATH for a host */
	bool has_agent; /**< host: it is told by agent_path what memory it has */
	uint32_t agent_path;
	uint32_t at_path; /**< host: path of its switch */
	uint8_t at_port; /**< host: port there */
	uint8_t n_at; /**< as struct weft_topo_graph_node */
	uint16_t at[WEFT_TOPO_DIMENSIONS];
};

/** Memory of a GFD that a group is to have. */
struct weft_fm_extent {
	uint32_t path; /**< of the GFD */
	uint16_t group;
	uint64_t dpa, len; /**< bytes, whole blocks; within one region */
	uint8_t tag[16];
};

/** Groups of a GFD that a PID may reach; PIDs without a row may reach none. */
struct weft_fm_right {
	uint32_t path; /**< of the GFD */
	uint16_t pid;
	uint32_t groups; /**< bit k: group k, 0..30 */
};

/** Desired state. */
struct weft_fm_intent {
	uint8_t routing; /**< enum weft_topo_routing */
	bool is_closed; /**< hosts that are not among the nodes get neither PID nor routes */
	/** Extents and rights are all that GFDs are to have; false: GFDs are left as they are. */
	bool has_memory;
	uint16_t n_nodes;
	uint32_t n_extents, n_rights;
	const struct weft_fm_node *node; /**< in the order by which engines prefer */
	const struct weft_fm_extent *extent;
	const struct weft_fm_right *right;
};

struct weft_fm;

/**
 * Make a manager that knows nothing yet. All paths are looked at from @p now_ns on.
 *
 * @param cfg  kept as a copy
 * @return NULL if memory is short
 */
struct weft_fm *weft_fm_new(const struct weft_fm_cfg *cfg, uint64_t now_ns);

/** End a manager. The fabric stays as it is. NULL is allowed. */
void weft_fm_free(struct weft_fm *fm);

/**
 * Say what is desired from now on.
 *
 * @param intent  and what it points to: the caller's, to stay until another is set
 * @param why     reason, for events; kept as a copy
 */
void weft_fm_set_intent(struct weft_fm *fm, const struct weft_fm_intent *intent, const char *why);

/** A message came by a path: an answer, or a notification (0106h). */
void weft_fm_answer(
	struct weft_fm *fm, uint32_t path, const uint8_t *msg, size_t len, uint64_t now_ns);

/** A path is there again, or leads elsewhere: its component is looked at from the beginning. */
void weft_fm_reset_path(struct weft_fm *fm, uint32_t path, uint64_t now_ns);

/** Send what is due; to be called after every answer and at the time returned at the latest. */
uint64_t weft_fm_poll(struct weft_fm *fm, uint64_t now_ns);

/** Whether nothing is left to be sent or waited for, as far as components are there. */
bool weft_fm_is_converged(const struct weft_fm *fm);

/** How often it has gone over all that was found: what a turn costs. */
uint64_t weft_fm_n_looks(const struct weft_fm *fm);

/**
 * Say which commands another intent would need: WRITE events, in order, nothing sent. Found state
 * is taken as it is known now.
 *
 * @return 0; -EAGAIN if the fabric is not known yet or still changing; -ENOMEM
 */
int weft_fm_plan(const struct weft_fm *fm, const struct weft_fm_intent *intent,
	void (*on_event)(void *arg, const struct weft_fm_event *e), void *arg);

enum weft_fm_state {
	WEFT_FM_READING, /**< not known yet */
	WEFT_FM_READY, /**< known and owned */
	WEFT_FM_ABSENT, /**< does not answer, or not as it should */
	WEFT_FM_FOREIGN, /**< another manager's */
	WEFT_FM_DUPLICATE, /**< its identity is also another's */
	WEFT_FM_QUARANTINED, /**< until weft_fm_reset_path() */
	WEFT_FM_NO_PIDS /**< nothing is left to number it with */
};

/** Word of a state: "ready", ... Constant. */
const char *weft_fm_state_word(unsigned int state);

/** What is known of a component. */
struct weft_fm_component {
	uint8_t state; /**< enum weft_fm_state */
	uint8_t kind; /**< enum weft_topo_kind; of no meaning before it is known */
	bool has_id;
	uint8_t id[16]; /**< vendor, device, subsystem ids, serial number */
	uint16_t pid;
	uint16_t owner_pid; /**< of the manager that it belongs to, or WEFT_FM_NO_PID */
	uint16_t n_ports, n_tables;
	uint32_t n_extents;
	uint32_t n_writes; /**< commands that changed something, confirmed */
};

/** @return 0, or -EINVAL if there is no such path */
int weft_fm_component(const struct weft_fm *fm, uint32_t path, struct weft_fm_component *c);

/** What is known of a port of a switch. */
struct weft_fm_port {
	bool is_there, is_up;
	bool is_linked; /**< part of the graph that routes were computed for */
	bool is_host;
	uint32_t far_path; /**< component there; WEFT_FM_NO_PATH: none, or not known */
	uint8_t far_port;
	uint16_t pid; /**< assigned to it, or WEFT_FM_NO_PID */
};

/** @return 0, or -EINVAL if there is no such path, or it leads to no switch */
int weft_fm_port(const struct weft_fm *fm, uint32_t path, uint8_t port, struct weft_fm_port *p);

/** Port by which a switch sends on what is for @p dpid, as found; -1: none. */
int weft_fm_route(const struct weft_fm *fm, uint32_t path, uint16_t dpid);

/** Groups of the GFD at @p path that are open to @p pid, as found. */
uint32_t weft_fm_rights(const struct weft_fm *fm, uint32_t path, uint16_t pid);

/** Extent @p i of the GFD at @p path, as found: 0, or -EINVAL if there is none. */
int weft_fm_extent(const struct weft_fm *fm, uint32_t path, uint32_t i, struct weft_fm_extent *e);

/**
 * How far memory of a GFD is for a host, the GFD's side of it (weft_fm_extent(), weft_fm_rights())
 * left out: whether the host was told that it has it, and whether a way leads there and back.
 *
 * @param path  of the host: weft_fm_node.agent_path
 * @param x     as the intent has it
 * @return THERE, also of a host that does not answer; COMES: it is to be told yet, or routes are
 *         changing; NONE: no way leads there
 */
enum weft_fm_way weft_fm_host_way(
	const struct weft_fm *fm, uint32_t path, const struct weft_fm_extent *x);

WEFT_END_DECLS

#endif /* WEFT_FM_H */
