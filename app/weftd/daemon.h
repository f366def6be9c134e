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

#define NODE_ERROR_MAX 512

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

/* Requests of a node by one protocol for one other, as the control thread saw them. */
struct request_watch {
	uint64_t since_ns; /* none was answered, or none is open */
	uint32_t answered;
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
		/*
		 * Of CXL.mem, then of UIO, by node of the topology: who is to answer, or this one
		 * where that is not known; NULL: not yet.
		 */
		struct request_watch *requests;
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
	uint16_t watched; /* control thread: node whose requests it looks at next */
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

/* --- main.c --- */

/** A signal asked to end. Any thread. */
bool daemon_is_stopped(void);

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

#endif /* DAEMON_H */
