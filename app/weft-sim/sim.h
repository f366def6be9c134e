/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Inside weft-sim: a whole fabric in one thread and in simulated time (reliability.md section 5.1).
 * Nodes are those of lib/node, as in weftd, and this is their world; links, clocks and faults are
 * made here. Nothing looks at a real clock, at an address in memory or at anything else that is not
 * decided by the seed.
 */
#ifndef SIM_H
#define SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "heap.h"
#include "scenario.h"
#include "weft_base.h"
#include "weft_codec.h"
#include "weft_link.h"
#include "weft_gfam_access.h"
#include "weft_gfam_log.h"
#include "weft_impair.h"
#include "weft_ingress.h"
#include "weft_node.h"
#include "weft_pbr.h"
#include "weft_rand.h"
#include "weft_load.h"
#include "weft_topo.h"
#include "weft_traffic.h"

#define SIM_NEVER UINT64_MAX
#define US UINT64_C(1000)
#define MS UINT64_C(1000000)
#define SEC UINT64_C(1000000000)

/* --- the fabric --- */

struct sim;
struct sim_node;

/* A node's own clock: an offset, a rate, and jumps. */
struct sim_clock {
	uint64_t at_ns; /* simulated time of the last change */
	uint64_t local_ns; /* what it showed then */
	int32_t rate; /* it runs 1 + rate / 2^CLOCK_RATE_LOG2 times as fast */
};

#define CLOCK_RATE_LOG2 20

/* A frame on its way. The flits stand on cache lines. */
struct sim_frame {
	struct sim_frame *next; /* in a list */
	uint32_t link_dir; /* it arrives by */
	uint32_t flap; /* sim_link_dir.flaps when it was sent */
	uint32_t len; /* bytes of data */
	bool is_small; /* has room for frame_small bytes, not for frame_room */
	bool is_again; /* came from a wire or a ghost that repeats what was sent once */
	bool is_forged; /* an attacker has made it */
	bool is_replayed; /* somebody plays it back */
	bool is_stolen; /* under another's PID, where ports know whose may come in */
	uint64_t forged; /* bit i: an attacker has changed flit i */
	struct weft_wire_hdr hdr; /* as it was sent, or as it was parsed last */
	uint8_t data[] __attribute__((aligned(16)));
};

/* One direction of a link; its index is that of the topology's port it leaves by. */
struct sim_link_dir {
	uint16_t to; /* node */
	uint16_t to_port; /* number there */
	uint32_t flaps;
	uint64_t busy_ns; /* the last frame sent has left the port */
	uint64_t up_ns; /* down until then */
	bool holds; /* down means: later */
	bool forges; /* the next flit that will do */
	uint16_t storm; /* frames that somebody sends in the name of the next one */
	bool is_healed; /* before the rest */
	uint8_t tape; /* 1 + that of who records what goes by; 0: nobody does */
	struct weft_impair *impair; /* NULL: clean */
	struct sim_frame **history; /* ring of copies, one more than replays reach; NULL: none */
	uint32_t n_sent;
	struct weft_ingress ingress; /* of the port it leads to */
} __attribute__((aligned(WEFT_CACHE_LINE)));

static_assert(sizeof(struct sim_link_dir) == WEFT_CACHE_LINE, "one line");

#define ORDER_KINDS 4 /* of messages that hosts and GFDs send */

/* The oracle's state of the messages that one end sent in one session. */
struct order_life {
	uint32_t session;
	uint64_t *hash; /* a ring for each kind */
	uint64_t sent[ORDER_KINDS];
	uint32_t dropped; /* flits, by switches */
	uint32_t told; /* of them, in reports that came */
	uint64_t memory; /* generation that the end's own node had when it began; 0: none */
} __attribute__((aligned(WEFT_CACHE_LINE)));

#define ORDER_LIVES 4 /* sessions that are remembered */

struct order {
	uint64_t came[ORDER_KINDS]; /* as receiver */
	uint32_t session; /* in which it did */
	uint32_t n_lives;
	struct order_life life[ORDER_LIVES]; /* as sender; ring */
};

/* One end of a retry domain. What every frame needs stands on its first line. */
struct sim_end {
	struct weft_link *end;
	struct sim_node *node;
	struct sim_end *peer;
	struct weft_node_link *link; /* of its node */
	uint64_t timer_ns; /* its event in the queue, or SIM_NEVER */
	uint64_t heard_ns; /* last frame of its session; simulated time */
	uint32_t link_dir; /* it sends by */
	uint32_t session; /* that its owner knows of; 0: none */
	uint32_t idle_turns; /* wanted to send at once, and gave nothing */
	uint16_t peer_pid; /* of the node at the other end */
	bool is_initiator; /* for a session */
	bool was_fooled; /* in a session that its node does not know to be over */
	struct weft_isn isn; /* rxl: how its CRCs are made */
	uint64_t address_in; /* rxl: A() of what it receives */
	struct order order;
	uint8_t max_flits; /* of a frame */
	uint8_t form; /* enum weft_form */
	uint32_t left; /* session that its node said goodbye to last; 0: none */
	uint64_t jumped_ns; /* by its clock since jump_heard_ns, as far as a session counts it */
	uint64_t jump_heard_ns; /* heard_ns at the last jump */
	struct sim_ide *ide; /* NULL: off */
	struct sim_replay *replay; /* NULL: nobody records */
} __attribute__((aligned(WEFT_CACHE_LINE)));

static_assert(offsetof(struct sim_end, isn) == WEFT_CACHE_LINE, "one line");

/* The oracle's state of one line of a host. */
#define SHADOW_MAX 8

struct shadow_line {
	uint64_t writes; /* what the open write writes */
	uint16_t tag; /* of the request that was the last */
	uint8_t n; /* of may_be */
	bool anything; /* too much was lost to know */
	bool open;
	bool is_write;
	bool answer_poisoned; /* the open read's, late */
	bool executed; /* the open request, by the GFD */
	bool is_gone; /* the memory that executed it */
	bool tainted; /* a session that was fooled reached it, and nobody has written it since */
	uint64_t may_be[SHADOW_MAX]; /* hashes of what it may hold */
};

/* A GFD that a host talks to. */
struct sim_target {
	struct sim_end *end;
	struct shadow_line *shadow; /* of the host's lines there */
	uint64_t hpa_base; /* of the first of them */
	uint32_t open; /* requests */
	uint32_t session; /* that they went by */
	uint64_t generation; /* of the memory that the host met last; 0: none */
	uint64_t memory; /* that the judge has told about, by the session; 0: none */
	uint64_t progress_ns; /* a request began where none was open, or ended */
	uint64_t completed; /* requests */
	uint64_t core_due; /* so many before the rest of the fabric is healed; 0: as they come */
	uint16_t dpid;
};

/* What the judge knows of a node's load by CXL.mem. */
struct sim_host {
	const struct weft_requester *requester; /* NULL: it has none */
	struct weft_traffic *traffic;
	struct weft_traffic *uio; /* its source by UIO */
	struct sim_target *target; /* those of the source, in its order */
	uint32_t n_targets; /* 0: its source alone judges */
	uint32_t lines; /* at each of them */
	uint64_t open; /* requests */
	uint32_t tags;
	uint32_t *line_of_tag; /* target * lines + line */
	uint64_t excused; /* reads of lines that were tainted: its source may not expect them */
	uint64_t mismatches; /* of its sources before this one */
	const uint8_t *offered; /* its memory in windows; NULL: none */
	uint32_t refusals_due; /* packets that any node may drop: forged, or their answers */
	struct sim_program *programs; /* that attach to it */
	uint64_t completed; /* requests of all of its sources */
	uint64_t core_due; /* so many before the rest of the fabric is healed; 0: as they come */
};

/* Reads whose data turns out bad late, as the judge draws them. */
struct sim_late {
	struct weft_rand rand;
	bool is_judged; /* the read that is executed */
	bool is_bad; /* its data */
};

struct sim_gfd {
	uint8_t *memory;
	uint64_t generation; /* of it */
	uint64_t serve_ns; /* it is polled so often; 0: always */
	uint64_t slow_until_ns;
	uint32_t n_lost; /* times that its memory was */
	bool forgets; /* its memory is lost when it starts again */
	struct sim_late late;
	bool serving; /* its event is in the queue */
};

enum { LIFE_RUNS, LIFE_PARTS, LIFE_DOWN };

/* What a node's file says that does not fit. */
enum { MISFIT_NONE, MISFIT_CRC, MISFIT_ISN, MISFIT_FLITS, MISFIT_IDE, MISFIT_KEY, MISFITS };

struct sim_life {
	uint8_t state;
	uint8_t misfit; /* of its file, in this life */
	uint64_t says_ns; /* goodbye */
	uint64_t away_ns; /* so long after the others know */
	uint64_t judged_ns; /* by then the others know */
	uint64_t disturbances; /* when it did; UINT64_MAX: too many to judge */
};

/* The fields that every frame needs stand on the first two lines. */
struct sim_node {
	struct sim *sim;
	const int16_t *way; /* switch: port by DPID, -1: none */
	struct sim_end *end;
	uint16_t *slot; /* hash of peer PIDs to ends */
	uint64_t resume_ns; /* stalled or down until then; 0: neither */
	uint32_t slot_mask;
	uint32_t n_ends;
	uint32_t first_link_dir;
	uint16_t index;
	uint16_t pid;
	uint8_t kind; /* enum weft_topo_kind */
	bool polls; /* its event is in the queue */
	bool has_services; /* beside load by CXL.mem */
	bool is_source; /* it begins requests, */
	bool is_done; /* and all have ended */
	struct sim_clock clock;
	struct sim_life life;
	uint64_t set_ns; /* when the clocks of `node` were set; simulated time */
	struct sim_host host;
	struct weft_node node __attribute__((aligned(WEFT_CACHE_LINE)));
	struct sim_gfd gfd;
	struct weft_tables_slot tables;
	struct weft_gfam *access; /* NULL: all of its memory is open */
	struct weft_gfam_ref access_now;
	struct weft_gfam_log *log;
	struct weft_gfam_checker guard;
	struct sim_frame *wait, **wait_end; /* stalled: frames that came */
	uint32_t n_wait;
	uint32_t n_ports;
} __attribute__((aligned(WEFT_CACHE_LINE)));

static_assert(offsetof(struct sim_node, clock) <= WEFT_CACHE_LINE, "one line");

/* --- one run --- */

/* Hashes, open addressing; room is a power of two. All zero: empty. */
struct sim_seen {
	uint64_t *hash; /* 0: a free place */
	size_t room, n;
};

struct arena_block;
struct world_block;

/** All zero: empty. */
struct arena {
	struct arena_block *blocks;
	uint8_t *at;
	size_t left;
};

enum sim_event {
	EV_ARRIVE,
	EV_END,
	EV_POLL,
	EV_SERVE,
	EV_RESUME,
	EV_FAULT,
	EV_UPDATE,
	EV_PART,
	EV_MEND,
	EV_LOOK,
	EV_PROGRAM,
	EV_KINDS
};

struct violation {
	uint64_t step;
	uint64_t time_ns;
	char what[200];
};

/* Counters of the monitor of IDE. */
enum ide_count {
	IDE_SESSIONS, /* ends that began one with IDE */
	IDE_KEYS, /* to send with */
	IDE_SEALED, /* protocol flits */
	IDE_AGAIN, /* flits that were sent again */
	IDE_FORGED, /* flits that an attacker has changed */
	IDE_FAILURES, /* streams that found out */
	IDE_COUNTS
};

extern const char *const ide_word[IDE_COUNTS];

/* Outcomes of frames that are played back. */
enum replay_count {
	REPLAY_FRAMES, /* played back */
	/* flits that came intact in their session, and whose number stands for others */
	REPLAY_OLD,
	REPLAY_TAKEN, /* of them */
	REPLAY_DOUBTED, /* sessions that ends gave up for it */
	REPLAY_RESTARTS, /* hosts that were started again, as nobody could find out */
	REPLAY_COUNTS
};

extern const char *const replay_word[REPLAY_COUNTS];

/* Requests that were judged, by what they are of. */
enum domain {
	DOMAIN_UIO,
	DOMAIN_ATS, /* of hosts that translate */
	DOMAIN_TRANSFER,
	DOMAIN_RIGHTS, /* of those that may not reach all memory */
	DOMAIN_LATE_POISON, /* reads that found what had turned out bad */
	DOMAIN_CLIENTS, /* operations of programs, */
	DOMAIN_CLIENTS_UIO, /* and those by UIO */
	DOMAIN_RESTART, /* CXL.mem, of a node that has started again, or to one */
	DOMAIN_EQUAL, /* messages, that equal links shared */
	DOMAIN_MANAGER, /* accesses to memory that a manager gives out */
	DOMAINS
};

struct sim_totals {
	uint64_t hops; /* flits that arrived by a link */
	uint64_t frames;
	uint64_t requests;
	uint64_t completed;
	uint64_t lost; /* completed with "lost", because a session ended */
	uint64_t forgotten; /* lines whose data went with the memory, as the hosts say */
	uint64_t sessions;
	uint64_t fault[FAULT_KINDS];
	uint64_t loss[LOSS_KINDS];
	uint64_t losses_told; /* flits in the reports that switches sent */
	uint64_t losses_heard; /* flits in those that came in their session, once */
	uint64_t impair[WEFT_IMPAIR_N_COUNTERS];
	uint64_t llr[WEFT_LLR_N_COUNTERS];
	uint64_t messages[WEFT_MSG_KINDS]; /* that came to an end */
	uint64_t poisoned; /* messages, late */
	uint64_t poison_came; /* messages with poison that came */
	uint64_t fec_corrected; /* flits that came by a link */
	uint64_t fec_uncorrectable;
	uint64_t ide[IDE_COUNTS];
	uint64_t replay[REPLAY_COUNTS];
	uint64_t domain[DOMAINS];
	uint64_t manager[MANAGER_COUNTS];
	uint64_t farewells; /* sessions whose other end had to know at once that it was left */
	uint64_t refusals; /* of ends whose file did not fit, with the right word */
	uint64_t rights_changed; /* times, at all nodes */
	uint64_t cores; /* seeds in which a part was healed before the rest */
	uint64_t violations;
};

struct sim_core {
	bool *has_node; /* by index; NULL: not chosen yet */
	uint64_t began_ns; /* 0: not yet */
	bool is_on;
};

struct recorder;
struct capture;

/* Numbers that are drawn while it runs, but for faults. */
struct sim_rand {
	struct weft_rand node; /* session ids */
	struct weft_rand memory; /* of GFDs: generations */
};

/* The fault phase, and its end. */
struct sim_faults {
	struct weft_rand rand;
	uint64_t n;
	uint64_t hops; /* budget */
	uint64_t quiet_ns; /* none until then: somebody has said goodbye */
	struct sim_node *misfit; /* whose file does not fit; NULL: nobody's */
	uint32_t misfits; /* a bit for each kind that there was */
	bool is_healed; /* all of the fabric */
	uint64_t healed_ns;
	uint64_t replayed_ns; /* the last frame that is played back arrives */
	uint64_t forged_ns; /* the last one that was forged was sent; 0: none */
	struct sim_update *update; /* of rights; NULL: all memory is open to all */
};

/* How far the load is. */
struct sim_progress {
	uint64_t at_ns; /* a request ended */
	uint64_t at_step;
	uint64_t n_sources; /* nodes that begin requests */
	uint64_t sources_done;
	uint64_t n_programs; /* that are not done */
};

/* Memory of the run. */
struct sim_memory {
	struct arena arena;
	struct world_block *free; /* given back by nodes */
};

struct sim_frames {
	uint32_t room; /* bytes of a frame */
	uint32_t small; /* of one that is on its way, if it is no longer */
	struct sim_frame *free[2]; /* [1]: small */
};

/* Who may send in by each port. */
struct sim_ingress {
	struct weft_ingress *port;
	struct weft_ingress_drops *drops;
};

#define GHOSTS 64

/* Copies of frames that went by. */
struct sim_ghosts {
	struct sim_frame *frame[GHOSTS]; /* NULL: none yet */
	uint32_t n;
};

/* Those of who records frames. */
struct sim_tapes {
	struct sim_tape *tape; /* NULL: nobody does */
	uint32_t n;
};

/* Where frames that are looked at go. */
struct sim_files {
	struct recorder *recorder; /* NULL: none */
	struct capture *capture; /* NULL: none */
};

struct sim {
	const struct sim_opt *opt;
	struct scenario sc;
	uint64_t seed;
	uint64_t now_ns;
	uint64_t step;
	uint64_t digest;
	struct heap heap;
	struct sim_rand rand;
	struct sim_faults faults;
	struct sim_core core;
	struct sim_progress progress;
	bool stop;

	struct sim_frames frames;
	struct sim_memory memory;
	struct weft_topo *topo;
	struct weft_load *load;
	bool is_drawn; /* the load is: it is of `memory` */
	struct sim_ingress ingress;
	struct sim_node *node;
	struct sim_node *by_pid[WEFT_PIDS];
	struct sim_link_dir *link_dir;
	struct sim_end *end; /* of all nodes */
	uint32_t n_ends;
	struct sim_files to;
	struct sim_ghosts ghosts;
	struct sim_tapes tapes;
	struct sim_seen seen; /* by the monitor of IDE */
	struct sim_equal *equal; /* NULL: no links are equal, or in rxl mode */
	struct sim_totals total;
	struct violation first;
};

/* build.c */
int sim_build(struct sim *s, const struct sim_opt *opt, uint64_t seed, char *err, size_t err_len);
void sim_free(struct sim *s);

/* drawn.c: fabrics that are drawn with their load */
extern const char *const drawn_words[];
extern const char *const domain_word[DOMAINS];
/** The text of its topology file, the caller's to free; NULL: the seed's fabric is another. */
char *drawn_text(const struct sim_opt *o, uint64_t seed, size_t *len);
/** The same with other rights; NULL: they do not change. */
char *drawn_change_text(const struct sim_opt *o, uint64_t seed, size_t *len);
/** Let times of a file's load go with simulated time. */
void drawn_settle(struct sim *s);
/** All transfers of a host have ended. */
void drawn_transfers(struct sim_node *n);
/**
 * Whether what sources and transfers of its present life find is not judged: writes of the one
 * before, which were lost, may still come.
 */
bool drawn_is_excused(const struct sim_node *n);
/** Whether data of a GFD turns out bad late by the file, or memory was lost behind a switch. */
bool drawn_may_poison(const struct sim *s);
/** Add what a node has counted in this life. */
void drawn_add(struct sim_node *node);
/** A request of CXL.mem begins. */
void drawn_begun(const struct sim_node *n, uint16_t dpid);

/* load.c: who sends to whom, of which lines, and what the judge knows of it */
/** Room for the load of a fabric that was drawn. */
void load_make(struct sim *s);
/** Whom each node speaks with, and the load of a fabric that was drawn. */
void load_plan(struct sim *s, struct weft_rand *r);
/** The node is there, or there again: what the judge has to know of its load. */
void load_judge(struct sim_node *n);
/** Answers that the sources of a node's present life did not expect. */
uint64_t load_unexpected(const struct sim_node *n);
/** No more random requests: what was written is read back. */
void load_stop(struct sim_node *n);

/* world.c, watch.c: what a node has of the simulator, and what the judges have of it */
extern const struct weft_node_world sim_world;
extern const struct weft_node_watch sim_watch;
/** The end of a link. */
struct sim_end *world_end(const struct weft_node_link *l);

/* scale.c: what large fabrics need */
/** As many faults for each node, for as long, as in a fabric of the size that seeds draw. */
void scale_faults(struct sim *s);
/** Both link directions between two nodes carry one connection more. @p load of each */
void scale_count(
	const struct sim *s, uint32_t *load, const struct sim_node *a, const struct sim_node *b);
/** Sessions and queues that fit the link direction with the most load; before ends are made. */
void scale_links(struct sim *s, const uint32_t *load);

/* run.c */
void sim_run(struct sim *s);
/** Something that was waited for has happened. */
void progress(struct sim *s);
/** Say what is wrong; the first is kept, and the run ends. */
void violation(struct sim *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* clock.c */
uint64_t clock_local(const struct sim_clock *c, uint64_t now_ns);
uint64_t clock_sim(const struct sim_clock *c, uint64_t local_ns);
void clock_set(struct sim_clock *c, uint64_t now_ns, uint64_t jump_ns, int32_t rate);
static inline uint64_t
sim_node_now(const struct sim_node *n)
{
	return clock_local(&n->clock, n->sim->now_ns);
}

/* arena.c */
/** Zeroed, on a cache line; as long as the run. Without memory the program ends with a message. */
void *arena_alloc(struct arena *a, size_t len);
void arena_free(struct arena *a);

/* frame.c */
/** A frame of the largest size. */
struct sim_frame *frame_new(struct sim *s);
/** The same frame, in no more room than it needs. @p f is gone. */
struct sim_frame *frame_pack(struct sim *s, struct sim_frame *f);
struct sim_frame *frame_copy(struct sim *s, const struct sim_frame *f);
void frame_free(struct sim *s, struct sim_frame *f);
/** Made-up addresses of the Ethernet header; the frame leaves by @p link_dir. */
void frame_address(struct sim_frame *f, uint16_t to, uint16_t from, uint32_t link_dir);

/* link_dir.c */
/** Send a frame, which is the link direction's from now on. */
void link_dir_send(struct sim *s, uint32_t link_dir, struct sim_frame *f);
/** Whether a port may take another frame now, else when (simulated time). */
uint64_t link_dir_ready_ns(const struct sim *s, uint32_t link_dir);
bool link_dir_is_full(const struct sim *s, uint32_t link_dir);

/* node.c */
void node_arrive(struct sim *s, struct sim_frame *f);
/** Prefetch what finds the way of a frame, once the node itself is there. */
void node_fetch_way(const struct sim_node *n, const struct sim_frame *f);
/** Prefetch the end that a frame is for, once its way is there. */
void node_fetch_end(const struct sim_node *n, const struct sim_frame *f);
void node_stall(struct sim_node *n, uint64_t until_ns);
void node_crash(struct sim_node *n, uint64_t until_ns);
void node_resume(struct sim_node *n);
/**
 * Say goodbye, and be away for so long. @p is_quiet: once what is wrong is over, and no fault
 * strikes until the others had the time to ask.
 */
void node_part(struct sim_node *n, uint64_t away_ns, bool is_quiet);
/** Has it gone, and do the others know? */
void node_look_parting(struct sim_node *n);
/** It goes on now, whatever stopped it. */
void node_heal(struct sim_node *n);
/** Make the node, or make it again: with the memory that it had, unless that is lost. */
void node_start(struct sim_node *n);
/** A number of its own for memory that is new. */
void node_draw_generation(struct sim_node *n);
/** Let its clocks show the time. */
static inline void
sim_node_time(struct sim_node *n)
{
	if (n->set_ns == n->sim->now_ns)
		return;
	n->set_ns = n->sim->now_ns;
	weft_node_time_busy(&n->node, sim_node_now(n));
}
/** Its clock jumps forward. */
void node_jump(struct sim_node *n, uint64_t jump_ns);
/** Something has changed: the node looks, and what is due at its ends is sent. */
void node_turn(struct sim_node *n);
void node_poll(struct sim_node *n);
/** In so long it is looked at again. */
void node_sleep(struct sim_node *n, uint64_t ns);
void node_serve(struct sim_node *n);
/** A GFD that takes its time. */
bool node_is_slow(const struct sim_node *n);
/** The end that a frame which came by @p link_dir is for, or NULL. */
struct sim_end *node_end(const struct sim *s, uint32_t link_dir, const struct weft_wire_hdr *h);
/** rxl: the end of a host or GFD with this other end, or NULL. */
struct sim_end *node_end_of(const struct sim_node *n, uint16_t pid);
/** Clean flits of a frame as far as FEC can. @return mask of those it could not */
uint64_t flits_decode(struct sim *s, const uint8_t *const *flit, unsigned int n);

/* misfit.c */
/** A fault: the node starts again by a file that does not fit, and later by the right one. */
void misfit_strike(struct sim_node *n, uint64_t which, uint64_t length_ns);
/** Its file is right, if it was not. */
void misfit_mend(struct sim_node *n);
/** Let an end say what its node's file says. */
void misfit_params(const struct sim_node *n, struct weft_link_cfg *c);
/** A session begins; a frame of flits comes. */
void misfit_begins(const struct sim_end *e);
void misfit_came(const struct sim_end *e, const struct sim_frame *f);

/* relay.c: a frame for a switch that relays flits */
void relay_receive(struct sim_node *n, struct sim_frame *f);

/* edge.c: ends of connections or links */
void edge_receive(struct sim_node *n, struct sim_frame *f);
/** Let an end send what it has to, and see when it wants to be called again. */
void edge_pump(struct sim_end *e);
void edge_timer(struct sim_end *e);
/** Prefetch what a look at an end needs, once the end itself is there. */
void edge_fetch(const struct sim_end *e);
/** Prefetch what the judge needs of the end and its peer, once the peer is there. */
void edge_fetch_peer(const struct sim_end *e);
/** Look at the time, and send what is due. */
void edge_flush(struct sim_end *e);
/** A message went out. @p late: its node has poisoned its data behind it */
void edge_sent(struct sim_end *e, const struct weft_msg *m, bool late);

/* ghost.c */
/** Perhaps keep a copy of a frame that is being sent. */
void ghost_remember(struct sim *s, uint32_t link_dir, const struct sim_frame *f);
/** Let one of those kept come once more, if nothing but its session can tell that it is old. */
void ghost_appear(struct sim *s, uint64_t which);

/* forge.c */
/** Draw the attacker by the seed. */
void forge_draw(struct scenario *sc, uint64_t seed);
/** Some control frames for an end come, which its other end has not sent. */
void forge_control(struct sim *s, uint64_t where);
/** A frame for an end comes from the link of another. */
void forge_spid(struct sim *s, uint64_t where);

/* forge_uio.c */
/** Weigh the fault, where a host offers memory in windows. */
void forge_uio_draw(struct sim *s);
/** A node has mapped memory, perhaps to offer it. @return @p mem */
void *forge_uio_mapped(struct sim_node *n, void *mem, size_t len);
/** A node writes what it may not. */
void forge_uio(struct sim *s, uint64_t where);
/** Whether a packet that @p n drops for @p why may be such a write, or its answer. */
bool forge_uio_is_due(struct sim_node *n, enum weft_verdict why);
/** Whether one of them was served. */
void forge_uio_look(struct sim *s);

/* storm.c */
/** The frames of a storm, made like one that goes by. */
void storm_break(struct sim *s, uint32_t link_dir, const struct sim_frame *like);

/* core.c: a part of the fabric that is healed first */
/** Draw whether there is one. */
void core_draw(struct scenario *sc, uint64_t seed);
/** Whether the node is in a core that was chosen. */
bool core_has(const struct sim *s, uint16_t node);
/** Once a core was healed, sources slow down: one that starts, too. */
void core_slow(struct sim_node *n);
/** Heal the core, once. False: there is none, or it was healed before. */
bool core_heal(struct sim *s);
/** Whether all of it has gone on. What takes too long is a violation. */
bool core_look(struct sim *s);

/* fault.c */
void fault_plan(struct sim *s);
void fault_strike(struct sim *s);
void fault_heal(struct sim *s);

/* record.c */
struct recorder *recorder_new(void);
void recorder_add(struct recorder *r, uint64_t time_ns, const struct sim_frame *f);
int recorder_write(struct recorder *r, const char *path, char *err, size_t err_len);
void recorder_free(struct recorder *r);

#endif /* SIM_H */
