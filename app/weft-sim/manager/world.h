/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Inside a fabric with a manager. Accesses of hosts go from switch to switch, a message at a time,
 * by the tables that switches have; flits, sessions and retry are others' to judge. A node's index
 * in the topology is also its path for the manager; a host's path leads to what tells it of memory.
 */
#ifndef WORLD_H
#define WORLD_H

#include "manager.h"

#include "weft_cci_gfd.h"
#include "weft_cci_host.h"
#include "weft_cci_switch.h"
#include "weft_fm.h"

#define MANAGER_BLOCK 4096u /* that capacity is given out by */
#define MANAGER_LINES 2 /* of a block that hosts use */
#define MANAGER_GROUPS 31
#define MANAGER_IDS 6 /* memories that a line may be of */
#define MANAGER_EXTENTS 6 /* of a memory */
#define MANAGER_BLOCKS 128 /* of a GFD, at most */
#define MANAGER_KNOWN_WORDS (MANAGER_BLOCKS / 64)

/* --- memories that an operator wants --- */

struct manager_extent {
	uint16_t gfd; /* node */
	uint32_t first, n; /* blocks */
};

struct manager_memory {
	uint32_t id; /* of no other one, ever */
	uint16_t group;
	uint16_t n_extents; /* 0: released, and its group is not free yet */
	struct manager_extent extent[MANAGER_EXTENTS];
	uint64_t *hosts; /* a bit by host; never changed, but replaced */
};

/* What a desired state lets hosts reach: all those that may be in force are kept. */
struct manager_claim {
	struct manager_extent extent;
	uint32_t id;
	bool is_now; /* of the state that is desired now */
	const uint64_t *hosts;
};

/* --- nodes --- */

/* Who wrote a line: hosts of which memories. All zero: it was wiped. */
struct manager_line {
	uint32_t n;
	uint32_t id[MANAGER_IDS];
};

/* What the manager's socket at a component knows of who speaks by it. */
struct manager_conn {
	unsigned int manager; /* that has it; 0: none */
	uint16_t fm_pid;
	uint64_t last_ns[2]; /* arrival of the last request, and answer: nothing overtakes */
};

struct manager_gfd {
	struct weft_cci_gfd cci;
	struct weft_gfam_dc *dc;
	struct weft_gfam *access, *spare;
	struct weft_gfam_ref now;
	struct weft_gfam_log log;
	struct weft_gfam_checker guard;
	uint32_t n_blocks;
	struct manager_line *line;
	uint64_t opened_ns; /* to anybody, for the first time in this life; 0: not yet */
	bool was_lost; /* the manager has: it may be open to hosts that do not know */
};

struct manager_host {
	struct weft_cci_host cci;
	/*
	 * By extent that it has: since when. 0: the manager has lost the host, and may take it
	 * without a word.
	 */
	uint64_t since_ns[WEFT_CCI_HOST_EXTENTS];
	uint64_t heard_ns; /* when it was told, or to expect, anything; SIM_NEVER: as above */
	uint64_t taken_ns; /* when it goes by what it was told last; 0: it does */
	bool is_excused; /* what it goes by then is of before the manager lost it */
	bool is_behind; /* the manager lost it, and may have opened what it has yet to tell it of */
	uint64_t *known; /* a bit for each block of GFDs that it was told of in this life */
};

struct manager_node {
	struct manager *m;
	uint16_t index;
	uint8_t kind; /* enum weft_topo_kind */
	bool is_up;
	bool is_connected; /* the manager has a socket that leads to this life of it */
	uint32_t life;
	uint64_t up_ns; /* down: it begins again then */
	uint64_t cut_ns; /* until then no message of the management network comes or goes */
	struct weft_cci_component component;
	struct manager_conn conn;
	struct weft_node_cfg cfg;
	struct weft_cci_switch sw; /* of a switch, as the next ones */
	struct weft_tables *live, *spare;
	uint64_t hpa_base; /* of a GFD */
	struct manager_gfd gfd;
	uint16_t number; /* of a host: among hosts */
	uint16_t at_port; /* of its switch */
	struct manager_host host;
};

/* --- the whole --- */

enum manager_event {
	MANAGER_REQUEST, /* comes to a component */
	MANAGER_ANSWER,
	MANAGER_POLL,
	MANAGER_ACCESS, /* an access comes to a node */
	MANAGER_LOAD, /* a host begins one */
	MANAGER_STRIKE, /* a fault */
	MANAGER_WISH, /* an operator wants something */
	MANAGER_BACK, /* a node begins again */
	MANAGER_RESET, /* its socket is there again */
	MANAGER_TAKEN, /* a host goes by what it was told */
	MANAGER_DEATH,
	MANAGER_BIRTH, /* of the next manager */
	MANAGER_LOOK
};

/* What a seed decides; times in nanoseconds. */
struct manager_plan {
	unsigned int lost, repeated, late; /* of 1000 messages */
	uint64_t delay_ns, late_ns; /* most */
	uint64_t hop_ns; /* of an access */
	uint64_t gap_ns; /* between two of a host */
	uint64_t turn_ns; /* the manager looks so long after something came; 0: at once */
	uint64_t fault_gap_ns, fault_ns; /* mean time between two; longest */
	uint64_t wish_gap_ns;
	uint64_t phase_ns; /* faults and wishes end then */
	uint64_t poll_ns, timeout_ns, retry_ns, drain_ns;
	bool has_peer;
	bool is_large;
};

struct manager {
	struct sim *s;
	struct heap heap;
	struct arena arena;
	uint64_t now_ns;
	struct weft_rand rand; /* of all that happens */
	struct manager_plan plan;
	struct weft_topo *topo;
	struct manager_node *node;
	uint64_t *link_up_ns; /* by link: it is down until then */
	uint32_t *flaps; /* likewise: times that it went down */
	bool is_calm; /* faults and wishes are over */
	/* the manager that lives */
	struct weft_fm *fm; /* NULL: none does */
	unsigned int number; /* of it; answers reach no other */
	unsigned int seat;
	uint64_t dies_after; /* so many sends; 0: not so */
	bool is_dying;
	uint64_t poll_ns; /* when it is polled next; SIM_NEVER: no event is there */
	/* what is desired */
	struct manager_memory memory[MANAGER_GROUPS];
	unsigned int n_memories;
	uint32_t last_id;
	struct weft_fm_node *want;
	struct weft_fm_intent intent[2];
	unsigned int intent_now;
	struct manager_claim *claim;
	unsigned int n_claims, room_claims;
	bool has_old_claims;
	/* of the judge */
	uint8_t *mark; /* by node */
	uint64_t good_ns; /* since when all is as desired; 0: it is not */
	char why[120]; /* what is not */
};

/* draw.c */
/** The fabric and the plan of a seed. */
void manager_draw(struct manager *m);

/* components.c */
void manager_make_nodes(struct manager *m);
void manager_free_nodes(struct manager *m);
/** A node loses all that it knows, until manager_begin_node(). */
void manager_end_node(struct manager_node *n);
void manager_begin_node(struct manager_node *n);
/** A host that was told of memory has ended what it began before. */
void manager_take(struct manager_node *n);
/** The manager has lost a host or GFD: memory may come and go without a word to hosts. */
void manager_excuse(struct manager_node *n);
/** The manager has converged: hosts that it reaches were told all. */
void manager_catch_up(struct manager *m);
/** Number of the GFD with a PID among GFDs, or -1. */
int manager_find_gfd(const struct manager *m, uint16_t pid);
/** Of a host: what it knows of the GFD with a PID, a bit a block; NULL: there is none. */
uint64_t *manager_known(struct manager_node *host, uint16_t pid);
/** The node that a port leads to. */
struct manager_node *manager_far(const struct manager_node *n, unsigned int port);
bool manager_port_is_up(const struct manager_node *n, unsigned int port);

/* net.c */
int manager_send(void *arg, uint32_t path, const uint8_t *msg, size_t len);
/** A component has something to say to its manager unasked. */
void manager_notify(void *node, uint16_t fm_pid, const uint8_t *msg, size_t len);
void manager_message(struct manager *m, enum manager_event kind, void *message);

/* wishes.c */
/** Nodes that are wanted, and no memory. */
void manager_make_intent(struct manager *m);
/** An operator asks for something. */
void manager_wish(struct manager *m);
/** Whether a desired state is, for a host, one with this memory. */
static inline bool
manager_has_host(const uint64_t *hosts, unsigned int host)
{
	return (hosts[host / 64] >> host % 64 & 1) != 0;
}

/* accesses.c */
/** A host begins an access, and says when the next one is due. */
void manager_begin_access(struct manager_node *host);
/** One comes to the node that it was sent to. */
void manager_access(struct manager *m, void *access);

/* verdict.c */
/** What is desired has changed, or the manager has converged. */
void manager_add_claims(struct manager *m);
void manager_drop_claims(struct manager *m);
/** A GFD executes an access of a host. */
void manager_judge_access(struct manager *m, struct manager_node *gfd, unsigned int host,
	uint64_t dpa, bool is_write);
/** A switch has other rows: no row may lead back to it. */
void manager_judge_rows(struct manager_node *n, const struct weft_tables *before);
/** Whether all is as desired; else m->why says what is not. */
bool manager_is_right(struct manager *m);

/* manage.c */
/** The manager looks, soon. */
void manager_wake(struct manager *m);
void manager_push(struct manager *m, uint64_t in_ns, enum manager_event kind, void *object);

#endif /* WORLD_H */
