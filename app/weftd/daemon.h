/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Inside weftd: the daemon and its nodes. Every node is polled by one lcore, and segments of its
 * pipelines perhaps by others (segments.c); what a struct here holds belongs to the node's lcore
 * unless it says otherwise.
 */
#ifndef DAEMON_H
#define DAEMON_H

#include <stdalign.h>

#include <jansson.h>

#include "weft_atc.h"
#include "weft_capture.h"
#include "weft_control.h"
#include "weft_link.h"
#include "weft_eal.h"
#include "weft_gfam_access.h"
#include "weft_loop.h"
#include "weft_msg.h"
#include "weft_pipe.h"
#include "weft_port.h"
#include "weft_mem_requester.h"
#include "weft_resolve.h"
#include "weft_secret.h"
#include "weft_sig.h"
#include "weft_tables_writer.h"
#include "weft_load.h"
#include "weft_node.h"
#include "weft_topo.h"
#include "weft_traffic.h"

#define NODE_BACKLOG 1024 /* frames that wait for a port; a power of two */
#define NODE_ERROR_MAX 512

/* Frames on their way to one port, for as long as it takes none. Of the lcore that sends. */
struct backlog {
	/* A line of its own: the node's lcore reads it. */
	alignas(WEFT_CACHE_LINE) bool is_waiting;
	bool is_held; /* its port is in reset: nothing passes either way; by the control thread */
	alignas(WEFT_CACHE_LINE) struct weft_port *port;
	uint32_t head;
	uint32_t n;
	uint64_t dropped; /* TX_FULL */
	uint64_t down; /* PORT_DOWN, either way */
	uint64_t flits; /* taken, of frames that were not dropped; any readers */
	struct rte_mbuf *frame[NODE_BACKLOG];
};

/* What the daemon has of a link of a node, of the same number: its frames, and what it spoke of. */
struct conn {
	struct node *node;
	struct weft_node_link *link;
	struct weft_conn_dir *rx;
	struct weft_conn_dir *tx;
	struct conn_ide *ide; /* NULL: off */
	/* control thread: memory that was replaced, or poisoned, that it has spoken of */
	uint64_t replaced_told, poisoned_told;
	uint64_t ide_told; /* control thread: failures that it has spoken of */
	uint64_t others_told; /* control thread: sessions ended for flits of others, likewise */
	/* control thread: frames that prove nothing, and challenges, that it has spoken of */
	uint64_t forged_told, doubts_told;
	uint64_t doubt_ns; /* since when there are more challenges; 0: there are not */
	uint64_t doubt_begun; /* the session that they are about */
	struct replay_watch { /* control thread: frames that are none of the session's */
		uint64_t begun; /* the session it is about */
		uint64_t from_ns; /* since when they are counted */
		uint64_t old, odd, acks; /* what the counters said then */
		uint64_t told_ns, told_old,
			told_odd; /* when it spoke of them last; from_ns: not yet */
	} replay;
	struct session_watch { /* control thread: what it has seen of the session and spoken of */
		uint64_t begun;
		uint64_t since_ns; /* when it saw the present state first */
		double since; /* the same in seconds since 1970 */
		uint64_t stuck_ns; /* when it saw the retry layer stuck first; 0: it is not */
		uint8_t state; /* enum weft_session_state */
		bool told_stall, told_down, told_stuck;
	} watch;
};

/* Where a walk over the connections of all nodes is, and how many it has still to come by. */
struct conn_walk {
	uint16_t node, link;
	uint32_t left;
};

/* HELLOs that this file's fabric has no place for. */
struct misfit {
	uint64_t about; /* the last: port 63:48, SPID 47:32, DPID 31:16, verdict 15:8, mode 7:0 */
	uint64_t n; /* written by the node's lcore */
	uint64_t told; /* control thread */
	uint64_t after_ns; /* none is answered before */
};

/* Requests of a node by one protocol, as the control thread saw them. */
struct request_watch {
	uint64_t answered;
	uint64_t since_ns; /* none was answered, or none is open */
	bool is_told;
};

#define REQUEST_WATCHES 2

/* One node of the topology that runs here. */
struct node {
	struct daemon *daemon;
	struct weft_node *node;
	const struct weft_topo_node *topo;
	const struct weft_load_node *load;
	uint16_t index; /* in the topology */
	uint16_t n_ports;
	unsigned int lcore;
	struct node_lock { /* that it runs once; control side */
		int fd; /* -1: none */
		char *path;
		int *netif; /* by port number: of its interface; -1: none */
	} lock;
	struct weft_port **port; /* by port number */
	struct backlog *out; /* by port number */
	struct rte_mempool *pool;
	struct weft_env env;
	struct weft_tables_writer tables; /* edge 0 is a host's or GFD's, DRT 0 everybody's */
	struct weft_conns *conns; /* NULL: a switch in rxl mode */
	struct weft_pipe *rx;
	struct weft_pipe *tx; /* likewise */
	struct segments *segments; /* segments.c: of both */
	uint8_t tx_link; /* segment of tx with the stage link_tx */
	struct node_own { /* what the node's poll does */
		uint8_t rx, tx; /* a bit a segment */
		bool sends; /* it gives frames to the ports */
		uint64_t paused_until_ns; /* nothing before; 0: no pause; its own lcore ends it */
		struct manage *manage; /* messages of managers by its links; NULL: it takes none */
	} own;
	struct rte_ring *notes; /* from stages on other lcores; NULL: there are none */
	struct node_ingress { /* by port number: who may send in by it */
		struct weft_ingress *rule;
		struct weft_ingress_drops *drops;
		struct weft_ingress_seen *seen;
		struct ingress_told *told; /* control thread, as the next one */
	} ingress;
	struct link_watch *link_watch; /* by port number */
	struct duplicates *duplicates; /* NULL: nobody else can be behind its ports */
	uint16_t next_port; /* of the source's lcore: whose turn it is */
	struct misfit misfit;
	struct node_told { /* control thread: what it has seen and spoken of */
		unsigned int drains; /* how often it was drained */
		bool drained;
		struct request_watch requests[REQUEST_WATCHES]; /* of CXL.mem, of UIO */
	} told;
	struct node_random { /* bits of the kernel that were not used yet */
		unsigned int left;
		uint64_t bits[32];
	} random;
	struct conn *conn; /* by the number of the link */
	struct node_rights { /* of memory that not everybody may reach; else all zeros */
		struct weft_gfam *live;
		struct weft_gfam *next; /* made but not in force, or no longer */
		struct weft_gfam_dc *lists; /* GFD: its capacity, by the control thread */
		struct weft_gfam_dc *next_lists; /* as next */
		struct weft_gfam_log *log;
		struct weft_gfam_ref now;
		struct weft_gfam_checker guard;
	} rights;
};

struct daemon_cfg {
	const char *topology; /* NULL: the built-in one */
	const char *load[16]; /* further files of load */
	unsigned int n_loads;
	const char *nodes; /* NULL: by server */
	const char *json;
	const char *rx_layout; /* of hosts and GFDs */
	const char *tx_layout; /* likewise */
	const char *switch_layout;
	const char *captures[16]; /* PORT=FILE */
	unsigned int n_captures;
	uint64_t capture_limit; /* bytes of each file; 0: none */
	bool until_done;
	bool quiet;
	bool output_is_taken; /* standard output has the JSON or a capture, and nothing else */
	bool no_text; /* for that, or quiet */
	bool verbose;
	enum cci_mode { CCI_READ_ONLY, CCI_FULL, CCI_OFF } cci;
	bool cci_is_given; /* as an option: it is an error if it cannot be */
	bool cci_aliases;
	double seconds; /* 0: until told to stop */
	double stats_s; /* print rates so often; 0: never */
	const char *http; /* where to listen; NULL: not */
	bool http_users; /* all users of this machine may look */
	double wait_s; /* for connections to come up */
	enum weft_idle idle;
	int eal_argc;
	char *const *eal_argv;
};

struct daemon {
	struct daemon_cfg cfg;
	struct weft_topo *topo; /* that it began with: what cannot change */
	struct weft_load *load; /* likewise */
	struct weft_topo *now; /* routes, segments and rights in force; daemon_now() */
	struct conn_walk walk; /* control thread: connections that it looks at in this turn */
	uint64_t updates; /* changes of them, and files that were refused */
	uint64_t updates_changed; /* of those that were taken: something differs by them */
	uint64_t updates_refused;
	struct node *node;
	uint16_t n_nodes;
	struct weft_port **port; /* by port index of the topology; NULL: not here */
	struct rates *rates;
	uint32_t features;
	struct weft_loop **loop;
	unsigned int n_loops;
	struct weft_loop *main_loop; /* one of them, or NULL */
	struct weft_psk *psk; /* these two: NULL without IDE */
	struct weft_ide_lib *ide;
	const struct weft_fec_kernel *fec;
	const struct weft_crc_kernel *crc;
	const struct weft_atc_kernel *atc;
	const struct weft_req_scan_kernel *req_scan;
	const struct weft_sig_kernel *sig;
	uint32_t run; /* in the data that hosts and devices here write: this run of the process */
	int exit_status;
};

static inline bool
daemon_is_cxl(const struct daemon *d)
{
	return d->topo->mode == WEFT_MODE_CXL;
}

/** The topology in force. A poll function may use it until it returns. */
static inline const struct weft_topo *
daemon_now(const struct daemon *d)
{
	return __atomic_load_n(&d->now, __ATOMIC_ACQUIRE);
}

/** The files of the fabric and its load; the built-in ones without --topology. */
static inline struct weft_load_files
daemon_files(const struct daemon *d)
{
	const bool is_file = d->cfg.topology != NULL;

	return (struct weft_load_files){
		.topology = is_file ? d->cfg.topology : WEFT_TOPO_DEMO_NAME,
		.yaml = is_file ? NULL : weft_topo_demo_yaml,
		.len = is_file ? 0 : strlen(weft_topo_demo_yaml),
		.more = d->cfg.load,
		.n_more = d->cfg.n_loads,
	};
}

/* Of the node's lcore. */
static inline void
daemon_drop(struct node *n, enum weft_verdict why, uint64_t frames)
{
	n->node->drops[why] += frames;
	weft_probe_drop(n->topo->name, weft_verdict_names[why], frames);
}

/** Name of a peer's node. */
static inline const char *
daemon_peer_name(const struct conn *c)
{
	return weft_node_link_name(c->link);
}

struct rte_tel_data;
struct segments;

struct run_options {
	const char *server;
	bool check;
	const char *resolve; /* file */
	const char *from;
	const char *hpa;
	bool uio;
};

/* --- options.c --- */

/** Read the command line; ends the program where it is wrong or asks for no run. */
void options_parse(struct daemon_cfg *c, struct run_options *run, int argc, char **argv);

/* --- resolve.c --- */

/** Answer --resolve, as text or, with @p json, as JSON. Ends the program if it cannot. */
void resolve_print(const struct run_options *run, const char *json);

/* --- main.c --- */

/** A signal asked to end. Any thread. */
bool daemon_is_stopped(void);

/* --- single.c --- */

/** Where this user's sockets and locks are. */
void run_folder(char *path, size_t len);

/** See that no other process here runs a node of ours. 0, or -errno with a line. */
int single_init(struct daemon *d, char *err, size_t err_len);

/** Once a second: say who was refused. */
void single_log_events(struct daemon *d);
void single_fini(struct daemon *d);

/* --- duplicate.c: daemons of one node that single.c cannot know of --- */

/**
 * See that no process on the networks of the ports runs a node of ours; takes 0.2 s where there are
 * any. Before nodes are polled. 0, or -errno with a line.
 */
int duplicates_start(struct daemon *d, char *err, size_t err_len);
void duplicates_fini(struct node *n);

/** Take an announcement, or a frame of managers (weft_neighbour_fn). */
bool duplicate_came(void *arg, struct rte_mbuf *m);

/**
 * Announce the node @p arg where that is due. Of nodes that have n->duplicates. Returns frames
 * sent.
 */
unsigned int duplicates_poll(void *arg);

/** Control thread: a link came up, there may be others behind it now. */
void duplicates_ask(const struct node *n);

/** Control thread: say who was found since the last call, a line a port. */
void duplicates_log_events(struct daemon *d);

/** What a port sent and heard: counters, or null. */
json_t *duplicates_json(const struct node *n, unsigned int port);

/** Look after links: once a second from the control thread. */
void ports_maintain(struct daemon *d);

/* --- backlog.c --- */

/**
 * Send frames, in order; those the port does not take wait, and beyond NODE_BACKLOG are dropped.
 */
void backlog_send(struct backlog *b, struct rte_mbuf **frame, uint16_t n);

/** Offer what waits to the port again. Returns frames taken. */
unsigned int backlog_flush(struct backlog *b);

void backlog_free(struct backlog *b);

/** Drop frames of a port that is in reset. Any thread. */
void backlog_drop(struct backlog *b, struct rte_mbuf **frame, uint16_t n);

/** Whether the port is in reset. Any thread. */
static inline bool
daemon_backlog_is_held(const struct backlog *b)
{
	return __atomic_load_n(&b->is_held, __ATOMIC_RELAXED);
}

/** Whether frames wait for the port. Any thread. */
static inline bool
daemon_backlog_waits(const struct backlog *b)
{
	return __atomic_load_n(&b->is_waiting, __ATOMIC_RELAXED);
}

/* --- conn.c: the links of a node, joined to its pipelines --- */

/** The end of a link is made (struct weft_node_world). */
int conn_cfg(void *node, struct weft_node_link *l, struct weft_link_cfg *c);

/** Make n->node with its links, and what the daemon has of each. 0, or -errno. */
int conns_init(struct node *n, char *err, size_t err_len);
void conns_fini(struct node *n);

/** Whether a goodbye has not left the node yet, or is still to be asked about. */
bool conns_are_parting(const struct node *n);

/**
 * Control thread: go on to the connections of the next turn. What it looks at is taken from the
 * lcores' caches, so of many it looks at some hundred at a time.
 */
void conns_turn(struct daemon *d);

/** All of them are looked at next. */
void conns_turn_all(struct daemon *d);

/** The next connection of a walk, or NULL. Walks of a turn begin as copies of d->walk. */
struct conn *conns_next(const struct daemon *d, struct conn_walk *w);

/* --- conn_frames.c: frames of connections --- */

/** Both directions in the connection table. 0, or -errno. */
int conn_directions(struct conn *c);
void conn_directions_fini(struct conn *c);

/** The receive pipeline's sink of every node that has peers: control frames. */
void conns_sink(void *arg, struct rte_mbuf **pkt, uint16_t n);

/** Let everything of all peers leave that is due, while ports take it. Returns frames sent. */
unsigned int conns_flush(struct node *n);

/* --- link.c: cxl mode, where the ports are the retry domains --- */

/** The connection table's names of both directions of a port: source addresses. */
void link_mac(const struct weft_topo *t, unsigned int port, uint8_t mac[6]);

/** In cxl mode the address is who it comes from: the one of the pipeline is any port's. */
void link_put_port(struct rte_mbuf *m, uint16_t port);

/** The transmit pipeline's sink. */
void link_sink(void *arg, struct rte_mbuf **pkt, uint16_t n);

/** Say at the start what of the topology does not go well with cxl mode, a line each. */
void links_warn(const struct daemon *d);

/* --- ingress.c: who may send in by each port --- */

/** Set the rule of every port of the node. 0, or -ENOMEM. */
int ingress_init(struct node *n);
void ingress_fini(struct node *n);

/** Control thread: say which ports refused what since the last call. */
void ingress_log_events(struct daemon *d);

/** What a port takes and has refused: {spid, flits, control, messages}. */
json_t *ingress_json(const struct node *n, unsigned int port);

/** The same of all ports, those above 0: "port_1_refused_flits". */
void ingress_rows(
	const struct node *n, void (*fn)(void *arg, const char *name, uint64_t value), void *arg);

/* --- watch_*.c: the control thread looks, and says what changed --- */

/** Sessions: every round of the control thread. */
void sessions_watch(struct daemon *d);

/** Requests that nobody answers: every round, behind sessions_watch(). */
void requests_watch(struct daemon *d);

/** A word for the state of a session: "down", "up", "stalled", "refused", "closed". */
const char *session_word(const struct conn *c);

/** Links, their interfaces and MTUs, and ways that nobody takes: once a second. */
void links_watch(struct daemon *d);

/** Before the first: make room. 0, or -ENOMEM. */
int links_watch_init(struct node *n);

/** What was seen of a port: {link, since, mtu}; mtu is null if it has none that can change. */
json_t *link_watch_json(const struct node *n, unsigned int port);

/* --- rate.c: flits a second --- */

struct rate {
	double in, out; /* over the whole run */
	double last_in, last_out; /* over the last interval: --stats-interval, or 1 s */
};

/** Before the nodes run. 0, or -ENOMEM. */
int rates_init(struct daemon *d);

/**
 * Control thread, every round: end an interval when it is over, and print it if that was asked for.
 */
void rates_maintain(struct daemon *d);

/** Add what port @p p of a node did in @p seconds of run to @p r; 0: only the last interval. */
void rate_add(const struct node *n, unsigned int p, double seconds, struct rate *r);

/** The same of all ports of a node, and of all nodes of an lcore. False: it has no node. */
void rate_node(const struct node *n, double seconds, struct rate *r);
bool rate_lcore(const struct daemon *d, unsigned int lcore, double seconds, struct rate *r);

/** {in, out, last_in, last_out} in Mflit/s. */
json_t *rate_json(const struct rate *r);

/** A line: the node, and its links by who is at the other end if it has more than one. */
void rate_text(const struct node *n, double seconds);

/* --- ide.c --- */

/**
 * Read the pre-shared key, if IDE is on; the process cannot be dumped from then on. 0, or -errno.
 */
int ide_open(struct daemon *d, char *err, size_t err_len);
void ide_close(struct daemon *d);

/** Set what an end needs for IDE, if it is on. 0; -ENOLCK: no memory could be locked; -ENOMEM. */
int ide_conn(struct conn *conn, struct weft_link_cfg *c);

/** Once the end is not used any more. */
void ide_conn_fini(struct conn *c);

/** Control thread: say which streams failed since the last call, a line each. */
void ide_log_events(struct daemon *d);

/* Say of which peers somebody else sends flits. Control thread. */
void conns_log_events(struct daemon *d);

/** A word for reports: "off", "down", "secure", "insecure", "closed". */
const char *ide_state(const struct conn *c);

/* --- generation.c --- */

/** Draw the number of this run. 0, or -EIO: the system gives no random bits. */
int generation_run(struct daemon *d);

/** Control thread: say whose memory was replaced since the last call, a line each. */
void generation_log_events(struct daemon *d);

/* --- forged.c --- */

/** Control thread: say which sessions somebody tried to end or disturb, a line each. */
void forged_log_events(struct daemon *d);

/* --- misfit.c: servers whose files differ --- */

/** A frame is dropped for its mode or its DPID (weft_misfit_fn). */
void misfit_came(void *arg, struct rte_mbuf *m, enum weft_verdict why);

/** Control thread: say what came since the last call, a line a node. */
void misfit_log_events(struct daemon *d);

/* --- notes.c: what stages on other lcores have for their node --- */

/** Make room; stages of the receive pipeline are going to run elsewhere. 0, or -ENOMEM. */
int notes_init(struct node *n);
void notes_fini(struct node *n);

/**
 * A note for the node: taken at once where its lcore runs the stage, else by its next poll. One
 * that finds no room is lost; all of them are about what comes again, or is counted elsewhere.
 */
struct note {
	enum { NOTE_LOST, NOTE_MISFIT, NOTE_ANNOUNCE } kind;
	uint16_t in_port;
	uint8_t why; /* MISFIT: enum weft_verdict */
	uint32_t flits; /* LOST */
	struct weft_wire_hdr hdr; /* LOST, MISFIT */
	struct weft_control control; /* ANNOUNCE */
};
void note_send(struct node *n, const struct note *note);

/** Take what waits. Returns notes taken. */
unsigned int notes_poll(struct node *n);

/** Who they are for; the node's lcore. */
void misfit_take(struct node *n, const struct note *note);
void duplicate_take_announcement(struct node *n, const struct note *note);

/* --- segments.c: which lcore runs what --- */

/**
 * Once both pipelines are there: which segment goes where, for as long as lcores run. 0, or
 * -ENOMEM.
 */
int segments_init(struct node *n);

/* Whether its layouts run these halves of its links on another lcore than the node's. */
bool segments_apart(const struct node *n, enum weft_stage_ends half);

/** End the program if layouts part for a node what cannot be parted; they have been judged. */
void segments_check(const struct daemon *d);

void segments_fini(struct node *n);

/** What --check says of a node that names lcores: a line each. */
void segments_print(const struct daemon *d, unsigned int node);

/** One loop for each lcore that serves a node: it polls its nodes and segments in turn. */
void segments_make_loops(struct daemon *d);

/** No lcore runs any more: the poll of a node does everything. */
void segments_ended(struct daemon *d);

/** [{lcore, segment, busy_cycles, idle_cycles, stages {name: cycles a flit}}] */
json_t *segments_json(const struct node *n);

/** The lcore of link_rx for what node @p pid sends (of its way). */
unsigned int segments_rx_lcore(const struct node *n, uint16_t pid);

/** The same without stages, by name: rx_0, rx_1, ..., tx_0, ... 0, or -ENOMEM. */
int segments_tell(const struct node *n, struct rte_tel_data *data);

/* --- layout.c --- */

/** Judge the layouts of the options; ends the program if one is of no use. */
void layouts_check(const struct daemon *d);

/* --- ats.c --- */

/** Control thread: say who was isolated since the last call, a line each. */
void ats_log_events(struct daemon *d);

/* --- late.c: lines of a GFD that an operator marks as bad --- */

/** Telemetry: mark lines of a GFD that runs here. */
int late_mark_command(struct daemon *d, const char *params, struct rte_tel_data *data);

/* --- memory.c --- */

/** Memory of a node (struct weft_node_world): of huge pages, and near its lcore, for a GFD. */
void *memory_map(void *node, size_t len);
void memory_unmap(void *node, void *mem, size_t len);

/* --- transfer.c: signed transfers of a host --- */

/** Fill memory of a transfer (struct weft_node_world). */
int transfer_read_file(
	void *node, const char *path, void *to, size_t len, char *err, size_t err_len);

/** Write the files of those that read. 0, or -errno. */
int transfers_save(const struct node *n, char *err, size_t err_len);

json_t *transfers_json(const struct node *n);
void transfers_text(const struct node *n);

/** Those that ended other than their `expect` says, a line each on standard error. */
void transfers_say_faults(const struct node *n);

/* --- check.c --- */

/** What --check says of a topology that is good. @return the exit status */
int check_print(const struct daemon *d);

/* --- node.c --- */

/** The node of this name that runs here; NULL: none, or @p name is NULL. Any thread. */
struct node *node_find(const struct daemon *d, const char *name);

/** Everything of a node but its ports. */
int node_init(struct node *n, char *err, size_t err_len);
void node_fini(struct node *n);

/** One poll of all that a node has to do (weft_poll_fn). */
unsigned int node_poll(void *node);

/** Send a link control frame of the node's own by a port. False: no buffer, which is counted. */
bool node_send_control(
	void *node, uint16_t port, const struct weft_wire_hdr *h, const struct weft_control *c);

/** Monotonic nanoseconds from the TSC. */
uint64_t node_now_ns(void);

/**
 * Take what came in: one poll of each segment of the receive pipeline that is the node's. @return
 * what was done
 */
unsigned int node_poll_rx(struct node *n);

/**
 * Give a burst to the transmit pipeline, and let it pass as far as the node's segments go. False:
 * no room
 */
bool node_push_tx(struct node *n, struct rte_mbuf **pkt, uint16_t k);

/** Let frames in rings of the transmit pipeline go on, as far as the node's segments go. */
void node_poll_tx(struct node *n);

/** Offer the ports what waits for them, if that is the node's to do. @return frames taken */
unsigned int node_flush(struct node *n);

/* --- report.c --- */

int report_json(const struct daemon *d, double seconds, const char *path);

/** What report_json() writes, a new object. Control side. */
json_t *report_make(const struct daemon *d, double seconds);

/** That, and what operators ask for besides: the process, the topology, routes, programs. */
json_t *report_state(const struct daemon *d, double seconds);

void report_text(const struct daemon *d, double seconds);

/** Counters by name. */
json_t *report_counters(const struct weft_counter *rows, const uint64_t *values, unsigned int n);

/** Every request ended, every read was right, nothing was lost. */
bool report_is_good(const struct daemon *d);

/** What was not, a line each on standard error: for a run that prints no text. */
void report_faults(const struct daemon *d);

/** Drops of a node from every place that can drop, by reason. */
uint64_t report_drops(const struct node *n, enum weft_verdict v);

/**
 * Telemetry of weftd, in three steps, all on the thread that starts it: before DPDK starts,
 * commands that wait; when the nodes are ready, answers; before they go, no more of them.
 */
void report_telemetry_soon(void);
void report_telemetry(struct daemon *d);
void report_telemetry_end(void);

#endif /* DAEMON_H */
