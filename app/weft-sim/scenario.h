/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What a run of weft-sim is given: faults and losses by name, the options of its command line, and
 * the scenario that a seed draws from them before the first step.
 */
#ifndef SCENARIO_H
#define SCENARIO_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "weft_codec.h"
#include "weft_impair.h"
#include "weft_link.h"
#include "weft_node.h"
#include "weft_topo.h"

/* --- faults that are counted --- */

enum fault_kind {
	FAULT_FLAP, /* a link goes down; what is on it is lost */
	FAULT_HOLD, /* a link stands still; what is sent arrives later */
	FAULT_DEAF, /* as FLAP, one way only */
	FAULT_STALL, /* a node does nothing for a while; its state is kept */
	FAULT_CRASH, /* a node loses its retry state and sessions, and starts again */
	FAULT_SLOW, /* a GFD takes its time with each request */
	FAULT_CLOCK, /* a node's clock jumps forward */
	FAULT_GHOST, /* a frame of an older life comes once more */
	FAULT_FORGED, /* IDE: a flit is changed and its CRC made right */
	FAULT_CONTROL, /* link control comes in the name of an end, on a link between the two */
	FAULT_SPID, /* a frame comes under another's PID from a link to one node alone */
	FAULT_STORM, /* noise at the link's rate, and in rxl mode forged Naks */
	FAULT_MEMORY, /* a GFD crashes, and its memory is new when it starts again */
	FAULT_REPLAY, /* rxl: frames that somebody has recorded come again, as fast as they can */
	FAULT_RIGHTS, /* who may reach what changes */
	FAULT_MISFIT, /* rxl: a node starts again by a file that does not fit */
	FAULT_GOODBYE, /* rxl: a node leaves in good order, and starts again */
	FAULT_UIO, /* a node sends to a window of a host what it may not */
	FAULT_KINDS
};

/** Names, and NULL behind them. */
extern const char *const fault_word[FAULT_KINDS + 1];

/* Frames that did not get through for another reason. */
enum loss_kind {
	LOSS_QUEUE, /* a port's queue was full */
	LOSS_DOWN, /* the link was down, or went down meanwhile */
	LOSS_NODE, /* the node was down, or its input full */
	LOSS_HEADER, /* the frame's header was wrong */
	LOSS_SPID, /* its SPID may not come in by that port */
	LOSS_ROUTE,
	LOSS_FEC, /* flits that a switch could not correct */
	LOSS_SESSION, /* frames of no live session */
	LOSS_KINDS
};

extern const char *const loss_word[LOSS_KINDS];

/* --- what is asked for --- */

/* Of fabrics with a manager (manager/). */
enum manager_count {
	MANAGER_N_FABRICS,
	MANAGER_N_MANAGERS, /* that began */
	MANAGER_N_REQUESTS, /* that they sent */
	MANAGER_N_COMMANDS, /* of them, that change something */
	MANAGER_N_CONVERGED, /* times */
	MANAGER_N_CHANGES, /* of what is desired */
	MANAGER_N_FAULTS,
	MANAGER_N_ROWS, /* of DRTs that were looked at for circles */
	MANAGER_N_ANSWERS, /* to accesses, that came back */
	MANAGER_COUNTS
};

extern const char *const manager_count_word[MANAGER_COUNTS];

struct sim_opt {
	uint64_t seed;
	uint64_t seeds;
	uint64_t hops; /* budget of a seed's fault phase, in flit-hops; 0: by the nodes */
	uint64_t stop_at; /* step at which to stop; 0: never */
	uint64_t faults; /* only the first so many; UINT64_MAX: all */
	uint64_t without; /* bit k: none of kind k */
	uint64_t minutes, hours; /* given */
	uint64_t seconds; /* long mode: for so long; 0: by seeds */
	const char *topology; /* file, or NULL */
	const char *fabric; /* fabric_make(), or NULL */
	const char *json;
	const char *pcap; /* prefix of the files, or NULL */
	const char *capture; /* file for all frames of the run, or NULL */
	int mode; /* enum weft_mode, -1: by the seed */
	int ide; /* enum weft_ide_mode, -1: by the seed */
	int drawn; /* which seeds' fabrics are drawn with their load: drawn_words */
	struct {
		int which; /* seeds have a fabric with one: manager_words */
		uint64_t nodes; /* of that; 0: as the seed draws */
	} manager;
	struct {
		struct weft_ide_lib *lib;
		struct weft_psk *psk[2]; /* that of the fabric, and a wrong one */
	} crypto;
	bool calm; /* no faults, clean wires */
	bool has_impair;
	struct weft_impair_cfg impair; /* of all wires, not the seed's */
	bool pace; /* one seed, no faults, and how fast it went */
	struct {
		bool topology; /* of the seed's drawn fabric, and that is all */
		bool change; /* of its rights, likewise */
	} print;
	bool until_failure;
	bool verbose;
	const volatile sig_atomic_t *stopped; /* the user wants no more */
	struct weft_codec codec;
	const struct weft_atc_kernel *atc;
	const struct weft_sig_kernel *sig;
};

/* Whom the hosts talk to, and how much. */
struct scenario_load {
	uint16_t peers; /* GFDs that a host talks to, at most */
	uint32_t lines; /* of a host at each of them */
	uint32_t outstanding;
	uint8_t write_percent;
	uint32_t timeout_ms; /* cxl, where sessions end: of a request; 0: none needs it */
};

/* The faults that are drawn while it runs. */
struct scenario_faults {
	uint64_t gap_ns; /* mean time between two faults; 0: none */
	uint32_t weight[FAULT_KINDS]; /* enum fault_kind */
	uint64_t max_ns; /* longest */
	uint64_t phase_ns; /* faults end at the latest then */
};

/* IDE: life of a key. */
struct scenario_rekey {
	uint64_t flits;
	uint64_t ns;
};

/* Everything a seed decides before the first step; times in nanoseconds. */
struct scenario {
	char fabric[64];
	uint8_t mode; /* enum weft_mode */
	uint8_t crc_order; /* enum weft_crc_order */
	uint8_t max_flits;
	struct scenario_load load;
	struct weft_llr_cfg llr;
	struct weft_session_cfg session;
	uint64_t latency_ns; /* of a link */
	uint32_t flit_ns; /* time that a flit takes on a link */
	uint32_t queue_flits; /* a port holds so many, then drops */
	bool has_impair;
	struct weft_impair_cfg impair;
	uint32_t link_weight[4]; /* of links clean, bad one way, bad the other way, bad both ways */
	struct scenario_faults fault;
	int32_t skew_ppm; /* clocks differ by so much at most */
	uint64_t serve_ns; /* slow GFDs: time a request takes; 0: all are fast */
	struct weft_node_rules rules; /* of all nodes */
	uint64_t poll_ns; /* an end is looked at so long after a frame came; 0: at once */
	bool direct; /* GFDs answer inside the call that brings the message */
	uint32_t poison_one_in; /* of messages with data is poisoned late; 0: none */
	uint8_t form; /* enum weft_form of links between hosts and switches */
	bool has_core; /* a part of the fabric is healed first */
	uint64_t core_seed; /* which */
	struct scenario_rekey rekey;
};

/* swarm.c */
/** @param file  the topology file, whose settings count; NULL: all is drawn */
void scenario_draw(struct scenario *sc, const struct sim_opt *opt, uint64_t seed,
	const struct weft_topo *file);

/* bad_wire.c */
/** Read the keys of a bad wire; what is impossible ends the program with a message. */
void bad_wire_read(struct weft_impair_cfg *c, const char *text);
void bad_wire_check(const struct sim_opt *o);
bool bad_wire_needs_rxl(const struct sim_opt *o);
/** @param late_flits  a frame may be late by so many on one link, 1 or more */
void bad_wire_force(struct scenario *sc, const struct sim_opt *o, unsigned int late_flits);
/** Make it what somebody gets who writes it in a file or an option: nothing else is drawn. */
void bad_wire_read_back(struct weft_impair_cfg *c);

#endif /* SCENARIO_H */
