/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * A node of a fabric, above its ends: what it makes of sessions, messages and packets, and what it
 * sends by itself. Whoever runs it (the daemon, the simulator, a test) is its world: that has the
 * frames, ports, buffers and clocks, and does for it what struct weft_node_world says.
 *
 * Words of nodes:
 *
 *   1. A kind is what a node is to the fabric: host, GFD, device, switch of a mode. A service is
 *      what it does besides: load, transfers, UIO, translation. Both are rows of tables.
 *   2. A link of a node is what it knows of one other end: session, credits, memory there. In rxl
 *      mode it is a connection, in cxl mode a link of a port.
 *   3. A generation names the content of a node's memory. It changes when the content is lost, and
 *      every session tells it; 0 is none.
 *   4. A node that meets another generation than it knew forgets what it expected there, and in cxl
 *      mode has those behind it told (poison).
 *   5. What cannot be sent now waits at the node, in order, and holds back its source. It is
 *      dropped only with the session that it would have gone by.
 *   6. Answers never wait for requests: what takes requests takes one only with room to answer.
 *
 * A world sets the time (weft_node_time()), gives what came to the ends of the links, polls the
 * node, and then lets leave what the ends of those links have that are due. Pure; a node
 * and its links belong to one thread, but for what is marked.
 */
#ifndef WEFT_NODE_H
#define WEFT_NODE_H

#include "weft_base.h"
#include "weft_control.h"
#include "weft_link.h"
#include "weft_gfam_access.h"
#include "weft_gfam_dc.h"
#include "weft_ingress.h"
#include "weft_line_state.h"
#include "weft_load.h"
#include "weft_msg.h"
#include "weft_request_clock.h"
#include "weft_tables.h"
#include "weft_telem.h"
#include "weft_topo.h"
#include "weft_verdict.h"

WEFT_BEGIN_DECLS

#define WEFT_NODE_CREDITS 256 /**< messages of each kind that an end has room for */
#define WEFT_NODE_REFUSAL_ROOM 128

struct weft_node;
struct weft_node_link;
struct weft_completion;
struct weft_gfd;
struct weft_resolve_hop;
struct weft_request;
struct weft_requester;
struct weft_traffic;
struct weft_xfer;

/** What its world does for a node; @p world is the cfg.world_arg of the node. */
struct weft_node_world {
	/** Fresh random bits; 0 if there are none. */
	uint64_t (*random)(void *world);
	/** Zeroed memory of an object, on a cache line, or NULL. */
	void *(*alloc)(void *world, size_t len);
	void (*free)(void *world, void *mem); /**< NULL is allowed */
	/** Zeroed memory that a node has, or offers, of whole pages, or NULL. */
	void *(*map)(void *world, size_t len);
	void (*unmap)(void *world, void *mem, size_t len); /**< NULL is allowed */
	/**
	 * Fill @p to with the file at @p path, of exactly @p len bytes. 0, or -errno with a line.
	 */
	int (*read_file)(
		void *world, const char *path, void *to, size_t len, char *err, size_t err_len);
	/**
	 * Complete what the end of a link is made of: IDE, and what else the world decides. 0, or
	 * -errno.
	 */
	int (*link_cfg)(void *world, struct weft_node_link *l, struct weft_link_cfg *c);
	/**
	 * Send a link control frame of the node's own by a port. False: no buffer, which is
	 * counted.
	 */
	bool (*send_control)(void *world, uint16_t port, const struct weft_wire_hdr *h,
		const struct weft_control *c);
};

/**
 * For a world that watches its nodes. What a message is to the link that brought it: the world sees
 * itself what the kind's message() takes at once.
 */
struct weft_node_watch {
	/** A message that had waited is consumed. */
	void (*came)(void *world, struct weft_node_link *l, const struct weft_msg *m);
	/** A link took a message; @p late: its data was poisoned behind it. */
	void (*sent)(void *world, struct weft_node_link *l, const struct weft_msg *m, bool late);
	/** Load by CXL.mem: a request begins, and ends. */
	void (*begun)(void *world, const struct weft_node *n, const struct weft_request *rq);
	void (*ended)(void *world, const struct weft_node *n, const struct weft_completion *c);
	/** A GFD is about to execute a request. */
	void (*executed)(void *world, struct weft_node_link *l, const struct weft_msg *m);
	/** A message or packet was dropped. */
	void (*dropped)(void *world, const struct weft_node *n, enum weft_verdict why);
	/** The node has seen a session end or begin, and done all that it does for it. */
	void (*session)(void *world, struct weft_node_link *l, bool ended, bool began);
};

/** What a world may decide for all of its nodes. */
struct weft_node_rules {
	uint16_t credits; /**< messages of each kind that an end has room for */
	uint64_t late_write_ns; /**< how long after its loss a write may still arrive */
	uint64_t losses_ns; /**< rxl switch: it tells of what was lost so long after the first */
	uint64_t down_ns; /**< cxl switch: what is for a link that is down for so long is dropped */
	/** requests without load of their kind are lost after this; 0: as if there were load */
	uint64_t timeout_ns;
};

/** Another node that a node speaks with. */
struct weft_node_peer {
	uint16_t node; /**< index in the topology */
	uint8_t max_flits; /**< of a frame to it */
	bool is_initiator; /**< rxl: this side, of the session */
};

/** What a node is made of. What is behind the pointers must outlive it. */
struct weft_node_cfg {
	const struct weft_node_world *world;
	void *world_arg;
	const struct weft_topo *topo; /**< that it begins with */
	const struct weft_load *load;
	uint16_t index; /**< in the topology */
	/** edge 0 is a host's or GFD's, DRT 0 everybody's */
	const struct weft_tables_slot *tables;
	/** by port number, as the next one: who may send in by it */
	const struct weft_ingress *ingress;
	struct weft_ingress_drops *ingress_drops;
	struct weft_gfam_checker *guard; /**< of the memory it offers; NULL: all of it is open */
	const struct weft_atc_kernel *atc;
	const struct weft_sig_kernel *sig;
	uint32_t run; /**< in the data that it writes: this run of the process */
	const struct weft_node_watch *watch; /**< NULL: nobody watches */
	const struct weft_node_rules *rules; /**< NULL: the usual ones of the mode */
	/**
	 * rxl: whom it has connections to; both modes: whose memory its load is for. NULL: all that
	 * topology and load say
	 */
	const struct weft_node_peer *peer;
	uint16_t n_peers;
};

/** Counters of one part of a node. */
struct weft_node_set {
	const char *part; /**< of the report that it belongs to; NULL: the node's own */
	const char *name; /**< in the report */
	const char *prefix; /**< of its names over telemetry */
	const struct weft_counter *rows;
	const uint64_t *values;
	unsigned int n;
};

#define WEFT_NODE_SETS 12 /**< that a node may have */

/** What a node knows of the memory at the other end of a link. */
struct weft_node_memory {
	uint64_t generation; /**< 0: none met yet */
	uint64_t before; /**< the one that it took the place of */
	uint64_t replaced; /**< times; written last; any readers */
	uint64_t forgotten, transfers; /**< lines and transfers that this cost, in all */
	/* And of this node's, as the other end knows it for those behind it: */
	uint64_t asked; /* sessions begun whose word on it was heeded */
	uint64_t poisoned; /**< times that it knew another; any readers */
};

/** One kind of node: a row of weft_node_kinds. All else about it is static in its file. */
struct weft_node_kind {
	const char *name;
	uint8_t topo_kind; /**< enum weft_topo_kind */
	uint8_t modes; /**< bit m: in enum weft_mode m */
	/** of CXL.mem; these two: neither: its links may carry other messages */
	bool takes_requests;
	bool takes_answers;
	bool has_links; /**< its ports end links; else frames pass */
	size_t state_len; /**< of what only its file knows */
	/** Its links are there. 0, or -errno with a line; fini() is called either way. */
	int (*init)(struct weft_node *n, char *err, size_t err_len);
	void (*fini)(struct weft_node *n);
	/** A message came by the link @p arg. */
	weft_link_msg_fn message;
	/** Flits are about to come by the link @p arg; changes nothing but what caches hold. */
	void (*ahead)(void *arg, const uint8_t *flits, unsigned int n);
	/** A CXL.io packet came by the link @p arg. */
	weft_link_io_fn packet;
	/** Flits of a frame were lost on the way to the node @p arg, whose frames pass. */
	void (*lost)(void *arg, const struct weft_wire_hdr *h, unsigned int flits);
	bool links_meet; /**< what waits in a link may wait for another: all are looked at */
	/**
	 * Each link of which something is due or came, before the next poll: what became of its
	 * session, before what waits in its end.
	 */
	void (*link)(struct weft_node_link *l, bool ended, bool began);
	/** After its links. @return what was done; @p may_ask: new requests may begin */
	unsigned int (*poll)(struct weft_node *n, bool may_ask);
	/** Others knew other memory here: poison all of it, until it is written. */
	void (*poison)(struct weft_node *n);
	bool (*is_done)(const struct weft_node *n); /**< all that it sends has ended; any thread */
	/** Add its counters. @return how many sets */
	unsigned int (*counters)(const struct weft_node *n, struct weft_node_set *set);
};

/** Row order is that in which a fabric file's words are looked for. */
extern const struct weft_node_kind *const weft_node_kinds[];
extern const unsigned int weft_node_n_kinds;

/**
 * Something that a node does beside what its kind is: a row of weft_node_services. None knows
 * another. Each function but init() is called only at nodes that have it, with what init() left in
 * *state.
 */
struct weft_node_service {
	const char *name;
	/**
	 * Make it, where the node is to have it: else *state stays NULL. 0, or -errno with a line.
	 */
	int (*init)(struct weft_node *n, void **state, char *err, size_t err_len);
	void (*fini)(struct weft_node *n, void *state);
	/**
	 * A CXL.io packet came. Those of a node are all of one service, the first that takes any.
	 * False: it has to wait.
	 */
	bool (*packet)(struct weft_node_link *l, void *state, const struct weft_io_tlp *t);
	/* At a host, by CXL.mem: */
	uint32_t (*tags)(
		const struct weft_node *n); /**< requests at a time; 0: it sends none there */
	/**
	 * The next request. 0; -EAGAIN: none now; -ESHUTDOWN: none any more, and all have ended.
	 */
	int (*next)(struct weft_node *n, void *state, struct weft_msg *m);
	/** A request ended. False: it is another's. */
	bool (*complete)(struct weft_node *n, void *state, const struct weft_completion *c);
	/** A session ended, or began, or both. */
	void (*session)(struct weft_node_link *l, void *state, bool ended, bool began);
	/** rxl: the session with @p dpid is over, and with it what is open there. */
	void (*abort)(struct weft_node *n, void *state, uint16_t dpid);
	/** The memory of @p dpid was replaced: book in @p m what that cost. */
	void (*forget)(struct weft_node *n, void *state, uint16_t dpid, enum weft_line_loss how,
		struct weft_node_memory *m);
	void (*poison)(struct weft_node *n, void *state); /**< as that of a kind */
	/** @return what was done; @p may_ask: new requests may begin */
	unsigned int (*poll)(struct weft_node *n, void *state, bool may_ask);
	bool (*is_done)(const void *state); /**< all that it sends has ended; any thread */
	bool (*is_good)(
		const struct weft_node *n, const void *state); /**< as it had to; likewise */
	unsigned int (*counters)(
		const struct weft_node *n, const void *state, struct weft_node_set *set);
};

#define WEFT_NODE_SERVICES 8 /**< that there is room for */
extern const struct weft_node_service *const weft_node_services[];
extern const unsigned int weft_node_n_services;

#define WEFT_NODE_EDGE_REASONS (WEFT_EDGE_UNEXPECTED + 1)

/** Row order of weft_node_edge_counters. */
enum weft_node_edge_counter {
	WEFT_NODE_EDGE_N_FAST,
	WEFT_NODE_EDGE_N_GIM,
	WEFT_NODE_EDGE_N_PREFIX,
	WEFT_NODE_EDGE_N_LDST,
	WEFT_NODE_EDGE_N_PREFIX_ADDED,
	WEFT_NODE_EDGE_N_EGRESS_UR,
	WEFT_NODE_EDGE_N_BY_PREFIX,
	WEFT_NODE_EDGE_N_REROUTED,
	WEFT_NODE_EDGE_N_UNEXPECTED,
	WEFT_NODE_EDGE_N_COUNTERS
};

/**
 * An edge port of a switch whose link is of HBR form. CacheIDs, vPPBs and tags of its own would
 * stand here.
 */
struct weft_node_edge {
	uint16_t table; /* number of its edge in the node's tables */
	bool is_host;
	uint64_t stopped
		[WEFT_NODE_EDGE_REASONS]; /**< messages that ended here, by enum weft_edge_reason */
	uint64_t uio_stopped[WEFT_NODE_EDGE_REASONS]; /**< requests by UIO, likewise */
	uint64_t count[WEFT_NODE_EDGE_N_COUNTERS]; /**< packets */
};

/** What packets come to at edge ports, a row each. */
extern const struct weft_counter weft_node_edge_counters[];

enum weft_node_link_state { WEFT_NODE_DOWN, WEFT_NODE_UP, WEFT_NODE_REFUSED };

/**
 * rxl: requests that wait for a credit, oldest first: as many as a host may have open at one GFD,
 * or, where it does not know at which while it counts them, at all.
 */
struct weft_node_waiting {
	uint32_t head;
	uint32_t n;
	uint32_t room;
	struct weft_msg msg[];
};

/**
 * What a retry domain of a node has at its other end: rxl, a connection of a host, device or GFD;
 * cxl, a link of any node, and then links stand in the order of the ports.
 */
struct weft_node_link {
	struct weft_node *node;
	struct weft_link *end;
	uint16_t index; /**< of the node's links */
	uint16_t pid;
	uint16_t topo_node;
	uint16_t port; /**< its frames leave by this one */
	uint8_t state; /**< enum weft_node_link_state; any readers */
	uint8_t max_flits; /**< of a frame to it, by the path */
	bool is_initiator; /**< of the session */
	bool is_host; /**< nobody but it can send requests here: by its own PID, or not at all */
	bool is_switch; /**< packets of others come from here */
	bool is_needed; /**< the node sends it requests, or by it; others come and go */
	bool is_stalled; /* as the clock of requests knows it */
	uint64_t begun; /* sessions of the end that the node knows of; any readers */
	uint64_t up_ns; /* cxl switch: when it was last in a session */
	struct weft_node_memory memory; /**< of the other end, as it says */
	struct weft_node_waiting *waiting; /* host, rxl */
	struct weft_node_edge *edge; /**< cxl switch: the link is of HBR form; NULL: of PBR form */
};

/** Text for a refusal; NULL: none, or it was told. Any readers. */
struct weft_node_refusal {
	const char *text;
	char room[WEFT_NODE_REFUSAL_ROOM];
};

struct weft_node {
	struct weft_node_cfg cfg;
	const struct weft_node_kind *kind;
	const struct weft_topo_node *topo;
	const struct weft_load_node *load;
	struct weft_node_link *link;
	uint16_t n_links;
	uint16_t n_stalled; /* links */
	uint16_t *link_of_pid; /* number of the link from 1 on, by PID at its other end; 0: none */
	uint16_t n_pids;
	/*
	 * What is looked at for all links at each poll stands in rows: most of many links have
	 * nothing to do.
	 */
	uint64_t *due_ns; /**< by link: weft_node_set_due() */
	uint64_t first_due_ns; /**< none of them is sooner */
	uint64_t *touched; /* a bit a link: it may have changed since the node looked at it */
	uint64_t now_ns; /**< of this poll */
	uint64_t ends_ns; /**< clock of the ends: it does not run while the node is not polled */
	uint64_t generation; /**< of the memory that the node offers; 0: none */
	void *state; /* of the kind */
	void *service[WEFT_NODE_SERVICES]; /* by row; NULL: it has none */
	struct weft_resolve_hop *hop; /* room for a path: at the start, then the control thread's */
	bool is_hbr; /* host, device: its link is of HBR form, and its edge port the switch's */
	/* Requests may go out: every link that is needed has been up, or go_ns has come. */
	bool was_up;
	uint64_t go_ns; /* a while after the first link that is needed came up; 0: none did */
	struct weft_node_drain {
		bool is_asked; /* set by the control thread */
		bool holds; /* the same, as the node saw it in this poll: nothing new begins */
		uint64_t left; /* the node's, while it holds */
	} drain;
	struct weft_request_clock *clock; /* host, device: what makes none of its requests older */
	struct weft_node_refusal refused; /**< what nobody agreed to before there was a session */
	/** the same where there was one; told, it is NULL again */
	struct weft_node_refusal refused_again;
	uint64_t drops[WEFT_VERDICT_COUNT];
	uint64_t messages[WEFT_MSG_KINDS];
};

static inline bool
weft_node_is_cxl(const struct weft_node *n)
{
	return n->cfg.topo->mode == WEFT_MODE_CXL;
}

/**
 * The end of a link has something to do at @p at_ns of the clock of the ends; 0: now. A world says
 * so whenever it has let an end send, or looked at its time: the node looks at links of which this
 * was said.
 */
static inline void
weft_node_set_due(struct weft_node_link *l, uint64_t at_ns)
{
	struct weft_node *n = l->node;

	n->due_ns[l->index] = at_ns;
	n->touched[l->index / 64] |= UINT64_C(1) << l->index % 64;
	if (at_ns < n->first_due_ns)
		n->first_due_ns = at_ns;
}

/** Port by which the node sends messages for @p dpid, or -1. */
static inline int
weft_node_port(const struct weft_node *n, uint16_t dpid)
{
	const struct weft_tables *t = weft_tables_now(n->cfg.tables);

	return dpid < WEFT_PID_RESERVED ? weft_tables_route(t, 0)->first[dpid] : -1;
}

/** Name of the node at the other end. */
static inline const char *
weft_node_link_name(const struct weft_node_link *l)
{
	return l->node->cfg.topo->node[l->topo_node].name;
}

/** Whether a host asks anything of GFDs: of its own, or to move pages. */
static inline bool
weft_node_asks_gfds(const struct weft_topo_node *n, const struct weft_load_node *l)
{
	return l->has_mem || l->n_transfers != 0 || n->n_translations != 0;
}

/**
 * Whether there is a kind for each node of a fabric: none yet for HBR switches, nor for bindings.
 */
bool weft_node_runs(const struct weft_topo *t);

/**
 * Whether its transfers can run: they take the memory of a GFD to be in one piece, from its first
 * segment's base on.
 */
bool weft_node_runs_transfers(const struct weft_topo *t, const struct weft_load *load);

/** Row of the kind of a node; NULL: there is none yet. */
const struct weft_node_kind *weft_node_kind_of(const struct weft_topo *t, unsigned int index);

/**
 * Make a node in @p n, with its links, all down. All of it is zeros but for its cfg, the clocks
 * that it begins with, and the generation of its memory where that is what the node had before:
 * then map() gives it. The tables are in force. 0, or -errno with a line; weft_node_fini() either
 * way.
 */
int weft_node_init(struct weft_node *n, char *err, size_t err_len);
void weft_node_fini(struct weft_node *n);

/**
 * Look at the links, and do what is due. After what came was given to it.
 *
 * @param may_ask  new requests may begin: a port that takes nothing holds them back, and no answers
 * @return what was done
 */
unsigned int weft_node_poll(struct weft_node *n, bool may_ask);

/**
 * Have the node begin no new work of its own, or go on. Control thread. What would have begun
 * waits, for as long as that takes; requests of others are served, and sessions stay.
 */
void weft_node_drain(struct weft_node *n, bool on);
bool weft_node_is_draining(const struct weft_node *n);

/**
 * Requests, operations of programs and moves of pages that have begun and not ended, while the node
 * drains; UINT64_MAX: it has not been polled since. Any thread.
 */
uint64_t weft_node_drain_left(const struct weft_node *n);

/** Whether a node begins work of its own, by its rows: switches and most GFDs only serve. */
bool weft_node_works(const struct weft_topo_node *t, const struct weft_load_node *l);

/** Whether all that it sends has ended, and whether that was as it should be. Any thread. */
bool weft_node_is_done(const struct weft_node *n);
bool weft_node_is_good(const struct weft_node *n);

/** Counters of all parts. @return how many sets; any thread */
unsigned int weft_node_counters(
	const struct weft_node *n, struct weft_node_set set[WEFT_NODE_SETS]);

/**
 * One of them, by the words of its set and its row, or NULL: the node has none such.
 *
 * @param part  NULL: the node's own
 */
const uint64_t *weft_node_counter(
	const struct weft_node *n, const char *part, const char *name, const char *counter);

/** Whether the node offers memory, whose generation every session tells. */
bool weft_node_offers_memory(const struct weft_topo_node *t);

/** Times that memory of any other node was replaced. Any thread. */
uint64_t weft_node_replacements(const struct weft_node *n);

/** So long after it met the first node that it needs, a node does without those it did not meet. */
#define WEFT_NODE_MEET_NS UINT64_C(1000000000)
#define WEFT_NODE_PAUSE_NS UINT64_C(500000) /**< a longer time between polls is a pause */

/**
 * Set the clocks for this poll. What the node did not see while it was paused is not others'
 * silence.
 */
void weft_node_time(struct weft_node *n, uint64_t now_ns);

/** The same where it was polled whenever there was anything to do: no time is too long. */
void weft_node_time_busy(struct weft_node *n, uint64_t now_ns);

/** What a GFD has of memory; NULL: it is none. */
struct weft_gfd *weft_node_gfd(struct weft_node *n);

/**
 * Drop a message or CXL.io packet that names another sender than may come by @p in. Returns true.
 */
bool weft_node_refuse(const struct weft_node_link *in, uint16_t spid);

/* --- tables: what a topology says of addresses, rights and routes --- */

/**
 * What the tables of a node have: one route, and its edge port, unless its link is of HBR form.
 * Then the switch has it, and an edge for each such port, in their order.
 *
 * @param edge  receives as many as are counted: those of the ports
 */
struct weft_tables_cfg weft_node_tables_cfg(
	const struct weft_node_cfg *c, struct weft_edge_cfg edge[WEFT_TOPO_SWITCH_PORTS]);

/** Write such tables as @p t has them. 0, or -errno with a line. */
int weft_node_set_tables(struct weft_tables *tables, const struct weft_node_cfg *c,
	const struct weft_topo *t, char *err, size_t err_len);

/** Whether the node has memory that not everybody may reach. */
bool weft_node_has_access(const struct weft_node_cfg *c);

/**
 * Tables of rights by @p t in *@p out, the caller's to free by the world.
 *
 * @param dc  of a GFD whose capacity commands may change: empty lists, which receive it; NULL:
 *            what @p t says is all that there is
 * @return 0, or -errno with a line; the lists are not to be used then
 */
int weft_node_make_access(const struct weft_node_cfg *c, const struct weft_topo *t,
	struct weft_gfam_dc *dc, struct weft_gfam **out, char *err, size_t err_len);

/** Decoders of a GFD's tables by @p t again, all else as it is. 0, or -errno: half is made. */
int weft_node_set_decoders(
	struct weft_gfam *g, const struct weft_node_cfg *c, const struct weft_topo *t);

/* --- links --- */

/**
 * rxl: whether a node has a connection to another. A host that sends has one to every GFD, a
 * requester of UIO one to each node that it may access. @p first: this side is the initiator of
 * the session.
 */
bool weft_node_is_joined(const struct weft_topo *t, const struct weft_load *load, unsigned int node,
	unsigned int other, bool *first);

/** Bytes that a link takes of the world's memory. */
size_t weft_node_link_memory(const struct weft_topo *t);

/** rxl: the link with this PID at the other end, or NULL. */
struct weft_node_link *weft_node_link_find(struct weft_node *n, uint16_t pid);

/** Whether the session of every link that is needed is up. */
bool weft_node_is_up(const struct weft_node *n);

/** Whether each of them has ever been up. Any thread. */
bool weft_node_has_met(const struct weft_node *n);

/** Before messages of a frame come by the link @p l. */
void weft_node_arriving(void *l);

/** A control frame came for the end of @p l: @p len bytes of records behind its header. */
void weft_node_control(
	struct weft_node_link *l, const struct weft_wire_hdr *h, const uint8_t *rec, size_t len);

/** Have goodbye said. Its frames have to come and go for a while: weft_session_is_parting(). */
void weft_node_close(struct weft_node *n);

/** A switch whose frames pass: frames sent to say what was lost on their way. Any thread. */
uint64_t weft_node_losses_reported(const struct weft_node *n);

/** What a node sends by a protocol, for reports. */
struct weft_node_requests {
	const struct weft_requester *requester; /**< NULL: nothing */
	struct weft_traffic *traffic; /**< NULL: no load; the node's thread alone may change it */
	const uint64_t *stopped; /**< those that its edge port answered, by enum weft_edge_reason */
	bool is_done;
};

/** Of CXL.mem. @return whether the node sends anything by it */
bool weft_node_mem(const struct weft_node *n, struct weft_node_requests *r);

/** Of UIO. @return whether the node has it */
bool weft_node_uio(const struct weft_node *n, struct weft_node_requests *r);

/**
 * Of address translation: requests that wait, pages that move, and those of them that are held.
 *
 * @return whether the node translates, or is an agent
 */
bool weft_node_ats(
	const struct weft_node *n, uint64_t *waiting, uint64_t *moving, uint64_t *holding);

/** An agent's next client that was isolated, by index in the topology; -1: none. Control thread. */
int weft_node_next_isolated(struct weft_node *n);

/** A transfer of a host, as its load says. */
struct weft_node_transfer {
	const struct weft_load_transfer *load;
	const struct weft_xfer *xfer;
	uint8_t *mem; /**< the host's memory of it */
	uint8_t *want; /**< what is to be read; NULL: anything */
	uint64_t mem_len;
};

/** load->n_transfers of them; NULL: there are none. */
const struct weft_node_transfer *weft_node_transfers(const struct weft_node *n);

/** Whether one that is over ended as it had to. */
bool weft_node_transfer_is_good(const struct weft_node_transfer *t);

struct weft_node_change;

/**
 * What a change of rights from @p now to @p next is to what the node checks. Control thread.
 *
 * @param is_stopped  the rest need not be made: nobody will have it
 * @param out         receives it, to be freed; NULL: nothing
 * @return 0, or -ENOMEM
 */
int weft_node_prepare(struct weft_node *n, const struct weft_topo *now,
	const struct weft_topo *next, bool (*is_stopped)(void), struct weft_node_change **out);
void weft_node_change_free(const struct weft_node *n, struct weft_node_change *c);

/**
 * Hand it to the node, or NULL to take it back; the node goes on by it when its requests have
 * ended.
 */
void weft_node_change(struct weft_node *n, struct weft_node_change *c);
bool weft_node_is_changing(const struct weft_node *n);

/**
 * Let the node's load begin, which waits where a manager gives out memory: it has said
 * what the node has. Control thread.
 */
void weft_node_begin_load(struct weft_node *n);

#define WEFT_NODE_MARKS 64 /**< that may wait; a power of two */

/**
 * A GFD: mark @p lines lines of its memory, from @p offset on, as bad, found late. One thread at a
 * time beside that which polls. 0; -ERANGE: not within its memory; -EAGAIN: too many wait.
 */
int weft_node_mark_late(struct weft_node *n, uint64_t offset, uint64_t lines);

/** Late poison that is injected into a GFD and taken back. The caller's until it is over. */
struct weft_node_late {
	uint64_t offset, lines; /**< marks good lines; lines 0: a share of reads turns bad */
	uint64_t *map; /**< (lines + 63) / 64 zeros: which were marked; NULL without lines */
	double share; /**< 0..1, in place of the topology's */
	uint64_t seed; /**< of its draws */
	uint64_t marked; /**< lines; any readers */
	bool is_over; /**< taken back, or not taken; any readers */
};

/**
 * Begin it, or take it back: by the thread that weft_node_mark_late() has. What was written
 * meanwhile stays good.
 *
 * @return 0; -ERANGE: not within its memory, or no share; -EAGAIN: too many wait
 */
int weft_node_late_begin(struct weft_node *n, struct weft_node_late *l);
int weft_node_late_end(struct weft_node *n, struct weft_node_late *l);

/**
 * Nothing is bad any more in @p len bytes from @p offset on, whole pages of 4 KiB of a GFD's
 * memory: they were zeroed while nobody could reach them. By one thread beside that which polls,
 * and only when what it asked for before has been done: weft_node_is_healed().
 */
void weft_node_heal(struct weft_node *n, uint64_t offset, uint64_t len);
bool weft_node_is_healed(const struct weft_node *n);

/**
 * Let a topology's `retry` overrule @p c, which is valid and stays so. What it does not give stays.
 */
void weft_node_retry(struct weft_llr_cfg *c, const struct weft_topo_retry *r);

WEFT_END_DECLS

#endif /* WEFT_NODE_H */
