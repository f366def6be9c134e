/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What a PBR switch answers its manager by CCI (fabric.md 4.6, sets 51h and 57h): its ports, who is
 * behind them, PIDs of its ports, and its routing tables, read and written. The rows work on tables
 * of the control side, which its world has and puts in force.
 *
 * There are no virtual hierarchies: no VCS is in range. Ports have one PID each, of instance 0.
 * Pure; one thread at a time.
 */
#ifndef WEFT_CCI_SWITCH_H
#define WEFT_CCI_SWITCH_H

#include "weft_base.h"
#include "weft_cci_component.h"
#include "weft_cci_payload.h"
#include "weft_tables.h"

WEFT_BEGIN_DECLS

/** Port states of 5101h. */
enum weft_cci_port_state {
	WEFT_CCI_PORT_DISABLED = 0,
	WEFT_CCI_PORT_DSP = 3,
	WEFT_CCI_PORT_USP = 4,
	WEFT_CCI_PORT_FABRIC = 5
};

/** What is behind a port: types of 5101h. */
enum weft_cci_port_type {
	WEFT_CCI_PORT_NOTHING = 0, /**< or unknown */
	WEFT_CCI_PORT_TYPE1 = 2,
	WEFT_CCI_PORT_SLD = 4,
	WEFT_CCI_PORT_PBR = 6
};

/** Operations of 5102h. */
enum weft_cci_port_op {
	WEFT_CCI_PORT_ASSERT = 0, /**< PERST: nothing passes until it is deasserted */
	WEFT_CCI_PORT_DEASSERT = 1,
	WEFT_CCI_PORT_RESET = 2 /**< PPB: its link goes down and comes up again */
};

/** A port as it is now. */
struct weft_cci_switch_port {
	uint8_t state; /**< enum weft_cci_port_state */
	uint8_t type; /**< enum weft_cci_port_type */
	bool is_pbr; /**< its link is of PBR form */
	bool is_up;
};

/** Where a manager's message goes that a switch sends on (5701h). */
struct weft_cci_crawl {
	uint8_t port; /**< it leaves by, towards a switch or GFD */
	uint16_t spid; /**< the manager's */
	uint16_t dpid; /**< WEFT_CCI_NO_PID: for whoever is at the other end of the link */
};

/** Where the tables and ports of a switch are. */
struct weft_cci_switch_world {
	/** The tables in force. */
	const struct weft_tables *(*now)(void *world);
	/** A copy of them, to change. */
	struct weft_tables *(*begin)(void *world);
	/** Put the copy in force; every message that comes from then on goes by it. */
	void (*commit)(void *world);
	/** Facts of a port that the switch has. */
	void (*port)(void *world, unsigned int port, struct weft_cci_switch_port *p);
	/** Who is at the other end, with nothing but zeros and a PID of FFFh if that is not known.
	 */
	void (*partner)(void *world, unsigned int port, struct weft_cci_lpi_block *b);
	/** Whether a port may have this PID. NULL: any. */
	bool (*may_have_pid)(void *world, unsigned int port, uint16_t pid);
	/**
	 * Do @p op to a port that the switch has and that is not disabled. @return a return code;
	 * with another than Success nothing has changed. NULL: Unsupported.
	 */
	uint16_t (*control)(void *world, unsigned int port, enum weft_cci_port_op op);
	/**
	 * Only for weft_cci_switch_crawl_out: send a request on and have the answer.
	 *
	 * @param msg      a whole request, @p len bytes; not to be kept
	 * @param rsp      receives the whole response
	 * @param rsp_len  in: room of @p rsp; out: bytes of it
	 * @return WEFT_CCI_SUCCESS, whatever the response says; WEFT_CCI_RETRY_REQUIRED: there is
	 *         none yet, the same request will find it; another code: there will be none
	 */
	uint16_t (*exchange)(void *world, const struct weft_cci_crawl *to, const uint8_t *msg,
		size_t len, uint8_t *rsp, size_t *rsp_len);
};

/** The responder of one switch; behind the pointers is the caller's. */
struct weft_cci_switch {
	const struct weft_cci_switch_world *world;
	void *world_arg;
	uint16_t n_ports; /* 1..255 */
	uint16_t pid[WEFT_SWITCH_PORTS]; /* by port; WEFT_CCI_NO_PID: none */
	uint64_t latency_ns, bandwidth_mbps; /* of CDAT, as measured; 0: not known, and left out */
};

/**
 * Start a responder: no port has a PID.
 *
 * @return 0; -EINVAL for a number of ports that is not 1..255
 */
int weft_cci_switch_init(struct weft_cci_switch *s, const struct weft_cci_switch_world *world,
	void *world_arg, unsigned int n_ports);

/** Rows for weft_cci_component_cfg.command; their argument is a struct weft_cci_switch. */
extern const struct weft_cci_command weft_cci_switch_commands[];
extern const unsigned int weft_cci_switch_n_commands;

/**
 * Fabric Crawl Out (5701h), for switches whose world has exchange(). It carries whatever a manager
 * sends, so read-only mode refuses it. A third message in a message is Unsupported.
 */
extern const struct weft_cci_command weft_cci_switch_crawl_out;

WEFT_END_DECLS

#endif /* WEFT_CCI_SWITCH_H */
