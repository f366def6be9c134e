/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Found state, the request that is out, and what the files of lib/fm have of each other. */
#ifndef FM_PRIV_H
#define FM_PRIV_H

#include "weft_cci.h"
#include "weft_cci_payload.h"
#include "weft_fm.h"
#include "weft_fm_routes.h"

#define FM_MESSAGE (WEFT_CCI_HDR + WEFT_CCI_MAX_PAYLOAD)
/*
 * Bytes of payload that a request and its answer have at most: what fits into the messages of two
 * switches that send it on (5701h), headers of 18 bytes each. Elements of a list that leaves
 * room for.
 */
#define FM_PAYLOAD (WEFT_CCI_MAX_PAYLOAD - 2 * 32)
#define FM_FITS(head, each, most)                                                                  \
	((FM_PAYLOAD - (head)) / (each) < (most) ? (FM_PAYLOAD - (head)) / (each) : (most))
#define FM_GROUPS 31 /* that a SAT row on the wire can name (fabric.md section (b), Q4) */
#define FM_REGIONS 8
#define FM_BACKOFF_NS UINT64_C(100000000) /* fabric.md section 6.4: Retry Required */
#define FM_BACKOFF_MAX_NS UINT64_C(5000000000)
#define FM_BACKOFF_HOST_NS UINT64_C(400000000) /* one that does yet what another manager asked */
#define FM_BACKGROUND_NS UINT64_C(20000000) /* between looks at a background operation */
#define FM_FIRST_NS UINT64_C(10000000000) /* after the start: what is not there is not awaited */
#define FM_NONSENSE 3 /* answers before quarantine */

/* Values of fields of fabric.md section 4.6. */
enum fm_component_type {
	FM_COMPONENT_SWITCH = 0,
	FM_COMPONENT_GFD = 4,
	FM_COMPONENT_HOST = 0x80
}; /* 0001h; the last is ours */
enum fm_port_state { FM_PORT_USP = 4 }; /* 5101h, low four bits */
enum fm_port_mode { FM_MODE_PBR = 5 };
enum fm_ltssm { FM_LTSSM_L0 = 4 };
enum fm_claim { /* 0701h */
	FM_CLAIM_PRIMARY = 0,
	FM_CLAIM_SECONDARY = 1,
	FM_CLAIM_CHANGE_PID = 2,
	FM_CLAIM_PROMOTE = 3
};
enum fm_assign { FM_ASSIGN = 0, FM_ASSIGN_CLEAR = 1 }; /* 5704h */
enum fm_capacity { FM_ADD_PRESCRIPTIVE = 2, FM_RELEASE_PRESCRIPTIVE = 1, FM_RELEASE_WIPE = 0x20 };

#define FM_REPORT_NS UINT64_C(1000000000) /* between events about refused accesses of one GFD */
enum fm_report { /* 0107h: type, and bits of trigger */
	FM_REPORT_ACCESS = 2,
	FM_REPORT_DECODE = 1,
	FM_REPORT_GROUP = 4,
	FM_REPORT_SAT = 8
};

/* One port, as 5101h and 5702h say. */
struct fm_port {
	bool is_there, is_up, is_host, is_pbr;
	bool has_partner;
	uint8_t far_port;
	uint8_t told; /* enum fm_cabling that an event was about */
	uint8_t far_id[16];
	uint16_t link; /* of fm->link, or FM_NO_LINK */
};

#define FM_NO_LINK UINT16_MAX

enum fm_cabling { FM_CABLING_FINE, FM_CABLING_SELF, FM_CABLING_ONE_WAY, FM_CABLING_UNKNOWN };

struct fm_target {
	uint16_t id, pid;
	uint8_t type, inst, port;
};

enum fm_target_type { FM_TARGET_FPORT, FM_TARGET_HOST, FM_TARGET_DOWN };

struct fm_switch {
	uint16_t n_ports, n_targets;
	unsigned int n_drts;
	struct weft_drt *drt;
	bool has_groups; /* it has RGTs, and the mode that takes any port */
	uint16_t n_groups; /* rows of each that were read */
	struct weft_rgt_entry (*rgt)[WEFT_FM_PORTS]; /* by DRT */
	uint8_t rgt_of[WEFT_FM_PORTS]; /* number of the RGT of each DRT */
	struct fm_target *target;
	struct fm_port port[WEFT_FM_PORTS];
};

struct fm_region {
	uint64_t base, len;
};

struct fm_gfd {
	bool is_fixed; /* it takes no commands about its memory */
	uint16_t n_groups;
	uint8_t n_regions;
	struct fm_region region[FM_REGIONS];
	uint32_t n_extents, room;
	struct weft_fm_extent *extent;
	uint32_t *sat; /* WEFT_PIDS rows */
};

/* Memory of a host, by the PIDs of GFDs. */
struct fm_memory {
	unsigned int n;
	struct weft_cci_host_extent row[WEFT_FM_HOST_EXTENTS];
};

struct fm_told {
	bool is_told; /* it was told anything */
	bool is_unsure; /* perhaps more than what follows: an answer did not come */
	struct fm_memory told; /* what it has, as far as it knows */
	struct fm_memory announced; /* what it expects beside that, as far as we know */
	bool is_taking; /* it does what it was asked last, in the background */
	bool is_asked_known, is_asked_announced; /* of that: by us; and what follows */
	struct fm_memory asked;
};

/* What is out, or is to be sent again. */
struct fm_request {
	bool is_out, is_write, is_held; /* held: to be sent at at_ns */
	bool is_barrier; /* nothing else is begun before it has ended */
	uint8_t tag;
	unsigned int n_sent;
	uint64_t at_ns; /* out: when it times out */
	uint64_t backoff_ns;
	size_t len;
	uint8_t msg[FM_MESSAGE];
};

struct fm_component {
	uint32_t path;
	uint8_t state; /* enum weft_fm_state */
	uint8_t kind;
	uint8_t step; /* of fm_steps[] */
	bool has_id, is_poll, was_ready, is_dirty;
	bool is_awaited; /* the last look had something for it once its answer is there */
	bool is_running; /* a host that is read: something in the background */
	uint8_t n_nonsense;
	uint8_t tag;
	uint16_t pid, want_pid;
	uint32_t cursor; /* of a step that takes several requests */
	uint32_t n_writes;
	uint64_t look_ns; /* when the next look is due, or a failed one begins again */
	uint64_t hold_ns; /* no writes before */
	uint64_t hold_step_ns;
	uint8_t id[16];
	struct weft_cci_identify_pbr_component_rsp owner;
	struct fm_request req;
	struct fm_switch *sw;
	struct fm_gfd *gfd;
	struct fm_told *host;
	uint64_t report_ns; /* no event about refused accesses before */
	unsigned int n_reports; /* that were none */
};

/* A host that a port of a switch leads to. */
struct fm_host {
	uint32_t path;
	uint8_t port;
	uint16_t want_pid;
};

/* What the intent says of a port of a path, and the host there: indices from 1 on, 0: none. */
struct fm_place {
	uint16_t want, host;
};

/* A node of the graph. */
struct fm_graph_node {
	uint32_t path; /* of a component, or WEFT_FM_NO_PATH */
	uint16_t host; /* of fm->host otherwise */
};

/* Going over all that was found (fm_reconcile()). */
struct fm_look {
	bool is_due;
	bool has_news; /* one that is not the last may have something to send */
	uint64_t at_ns; /* it has then, without news */
	uint64_t n;
};

struct weft_fm {
	struct weft_fm_cfg cfg;
	const struct weft_fm_intent *intent;
	struct fm_component *component; /* by path */
	struct fm_host *host;
	uint16_t n_hosts, room_hosts;
	uint16_t *want_of; /* by path: node of the intent, from 1 on; 0: none */
	struct fm_place *place; /* [path][port] */
	uint16_t n_nodes, n_links;
	struct fm_graph_node *node;
	struct weft_fm_link *link;
	struct weft_fm_tables *found; /* by node */
	uint16_t *node_of_pid; /* FM_NO_LINK: none */
	struct weft_fm_routes routes;
	bool has_routes, is_graph_old, is_plan, is_converged;
	struct fm_look look;
	unsigned int n_waiting,
		n_held; /* components that a phase could not send to: now, for a while */
	bool is_unclosed; /* a GFD is open to somebody who is not to reach it, or may be */
	uint32_t n_writes_out;
	struct {
		uint16_t nodes, links;
		uint8_t routing;
	} told; /* what the last event about routes said */
	uint64_t now_ns, began_ns;
	bool is_draining; /* rows are being removed */
	uint64_t drained_ns; /* when messages of rows that were removed are gone */
	char why[96];
};

/* What a step makes of an answer. */
enum fm_got { FM_GOT_ALL, FM_GOT_PART, FM_GOT_OTHER /* the component's state was changed */ };

enum fm_step_of { FM_OF_ALL, FM_OF_SWITCH, FM_OF_GFD, FM_OF_HOST };

/* Reading a component: one command. */
struct fm_step {
	uint16_t opcode;
	uint8_t of; /* enum fm_step_of */
	bool is_poll; /* also later, again and again */
	int (*put)(struct weft_fm *fm, struct fm_component *c, uint8_t *b); /* length; -1: skip */
	int (*got)(struct weft_fm *fm, struct fm_component *c, const uint8_t *b, size_t len);
};

extern const struct fm_step fm_steps[];
extern const unsigned int fm_n_steps;
/* owner.c */
int fm_got_owner(struct weft_fm *fm, struct fm_component *c, const uint8_t *b, size_t len);
int fm_put_claim(struct weft_fm *fm, struct fm_component *c, uint8_t *b);
int fm_got_claim(struct weft_fm *fm, struct fm_component *c, const uint8_t *b, size_t len);
/* steps_switch.c, steps_gfd.c */
int fm_put_ports(struct weft_fm *fm, struct fm_component *c, uint8_t *b);
int fm_got_ports(struct weft_fm *fm, struct fm_component *c, const uint8_t *b, size_t len);
int fm_got_switch(struct weft_fm *fm, struct fm_component *c, const uint8_t *b, size_t len);
int fm_got_pbr_switch(struct weft_fm *fm, struct fm_component *c, const uint8_t *b, size_t len);
int fm_put_partners(struct weft_fm *fm, struct fm_component *c, uint8_t *b);
int fm_got_partners(struct weft_fm *fm, struct fm_component *c, const uint8_t *b, size_t len);
int fm_put_targets(struct weft_fm *fm, struct fm_component *c, uint8_t *b);
int fm_got_targets(struct weft_fm *fm, struct fm_component *c, const uint8_t *b, size_t len);
int fm_put_drt(struct weft_fm *fm, struct fm_component *c, uint8_t *b);
int fm_got_drt(struct weft_fm *fm, struct fm_component *c, const uint8_t *b, size_t len);
int fm_put_groups(struct weft_fm *fm, struct fm_component *c, uint8_t *b);
int fm_got_groups(struct weft_fm *fm, struct fm_component *c, const uint8_t *b, size_t len);
int fm_got_gfd(struct weft_fm *fm, struct fm_component *c, const uint8_t *b, size_t len);
int fm_put_regions(struct weft_fm *fm, struct fm_component *c, uint8_t *b);
int fm_got_regions(struct weft_fm *fm, struct fm_component *c, const uint8_t *b, size_t len);
int fm_put_extents(struct weft_fm *fm, struct fm_component *c, uint8_t *b);
int fm_got_extents(struct weft_fm *fm, struct fm_component *c, const uint8_t *b, size_t len);
int fm_put_sat(struct weft_fm *fm, struct fm_component *c, uint8_t *b);
int fm_got_sat(struct weft_fm *fm, struct fm_component *c, const uint8_t *b, size_t len);
/* hosts.c */
int fm_got_host(struct weft_fm *fm, struct fm_component *c, const uint8_t *b, size_t len);
void fm_apply_host(struct fm_component *c);
int fm_put_background(struct weft_fm *fm, struct fm_component *c, uint8_t *b);
int fm_got_background(struct weft_fm *fm, struct fm_component *c, const uint8_t *b, size_t len);
/* Whether a host is still to answer what it was told. */
bool fm_is_taking(const struct fm_component *c);
/* The groups of a GFD that such hosts may use yet, into rows that are to go. */
void fm_keep_used(
	const struct weft_fm *fm, const struct fm_component *gfd, uint32_t row[WEFT_PIDS]);
/* reconcile_gfd.c: whether the GFD's group has all of an extent. */
bool fm_is_covered(const struct fm_gfd *g, const struct weft_fm_extent *x);
/* steps_gfd.c: room for one more extent. */
int fm_add_extent(struct fm_gfd *g, const struct weft_fm_extent *e);

/* component.c: send a request of @len payload bytes, which stand in c->req.msg already. */
void fm_send(struct weft_fm *fm, struct fm_component *c, uint16_t opcode, int len, bool is_write);
/* component.c: read the component from the beginning, not before @at_ns. */
void fm_restart(struct weft_fm *fm, struct fm_component *c, uint64_t at_ns);
/* component.c: a write was refused: an event, then it is read anew, and written to later. */
void fm_write_refused(struct weft_fm *fm, struct fm_component *c, uint16_t opcode, uint16_t rc);
void fm_set_state(struct weft_fm *fm, struct fm_component *c, enum weft_fm_state state);
void fm_component_poll(struct weft_fm *fm, struct fm_component *c);
void fm_component_free(struct fm_component *c);
uint64_t fm_component_next_ns(const struct fm_component *c);

/* Something changed that may need commands. */
static inline void
fm_look_again(struct weft_fm *fm)
{
	fm->look.is_due = true;
	fm->is_converged = false;
}

static inline uint8_t *
fm_payload(struct fm_component *c)
{
	return c->req.msg + WEFT_CCI_HDR;
}

/* apply.c: a write was confirmed: its request, into found state. */
void fm_apply(
	struct weft_fm *fm, struct fm_component *c, uint16_t opcode, const uint8_t *b, size_t len);

/* graph.c: nodes and links from found state, and their routes. */
void fm_build_graph(struct weft_fm *fm);
/* graph.c: from an end to another and back. */
enum weft_fm_way fm_way(const struct weft_fm *fm, uint16_t pid, uint16_t other);
/* graph.c: whether @c is a component whose part of the fabric may be used. */
bool fm_is_usable(const struct fm_component *c);
int fm_find_id(const struct weft_fm *fm, const uint8_t id[16], uint32_t except);

/* pids.c */
/* The intent is another: which nodes paths and ports are. No host is known any more. */
void fm_index_intent(struct weft_fm *fm);
const struct weft_fm_node *fm_intent_of(const struct weft_fm *fm, uint32_t path);
const struct weft_fm_node *fm_intent_of_host(const struct weft_fm *fm, uint32_t path, uint8_t port);
/* PID that a component is to have, found or not; WEFT_FM_NO_PID: none was chosen yet. */
uint16_t fm_known_pid(const struct weft_fm *fm, const struct fm_component *c);
/* The same, or one that is free; WEFT_FM_NO_PID: there is none left. */
uint16_t fm_choose_pid(const struct weft_fm *fm, const struct fm_component *c);
int fm_host_at(struct weft_fm *fm, uint32_t path, uint8_t port); /* index, made if need be */
/* PIDs that somebody holds who is not to have them. */
void fm_find_unsettled(struct weft_fm *fm, bool unsettled[WEFT_PIDS]);

/* reconcile.c: send the next commands; true if any was sent, or is waited for. */
bool fm_reconcile(struct weft_fm *fm);
/* Whether a component that has something to be sent can take it; counts those that cannot. */
bool fm_can_write(struct weft_fm *fm, struct fm_component *c);
/* reconcile_gfd.c, reconcile_pids.c: the phases; how many commands were sent. */
unsigned int fm_close_rights(struct weft_fm *fm);
unsigned int fm_open_rights(struct weft_fm *fm);
unsigned int fm_release_extents(struct weft_fm *fm);
unsigned int fm_add_extents(struct weft_fm *fm);
unsigned int fm_tell_less(struct weft_fm *fm); /* hosts.c, as the next three */
unsigned int fm_wait_for_hosts(struct weft_fm *fm);
unsigned int fm_announce(struct weft_fm *fm);
unsigned int fm_tell_more(struct weft_fm *fm);
unsigned int fm_clear_pids(struct weft_fm *fm);
unsigned int fm_number_components(struct weft_fm *fm);
unsigned int fm_assign_pids(struct weft_fm *fm);

/* fm.c */
void fm_event(struct weft_fm *fm, enum weft_fm_event_kind kind, const struct fm_component *c,
	uint16_t opcode, const char *fmt, ...) __attribute__((format(printf, 5, 6)));

#endif /* FM_PRIV_H */
