/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * A component as its managers see it by CCI (fabric.md section 4): a whole request in, a whole
 * response out. What every component has is here: identity, who may call what (4.3), ownership
 * (4.4), the command effects log, event logs and policies (4.5), the limit of responses, the
 * background operation. What a switch or a GFD has beside that comes as a table of rows.
 *
 *   1. Deny by default: an opcode is served if table 4.3 allows it to the caller's interface, there
 *      is a row for it, and the caller owns the component or needs not to. All else is Unsupported.
 *   2. A command is all or nothing: with any other code than Success or Background Started nothing
 *      has changed, and the response has no payload.
 *   3. Ownership is about managers: a host's requests are judged by table 4.3 alone.
 *   4. Read-only: rows that write are Unsupported, 0701h among them. As nobody can own such a
 *      component, every manager may read all of it.
 *
 * Pure, one thread at a time; no clock (time comes in), no allocation.
 */
#ifndef WEFT_CCI_COMPONENT_H
#define WEFT_CCI_COMPONENT_H

#include "weft_base.h"
#include "weft_cci.h"

WEFT_BEGIN_DECLS

#define WEFT_CCI_MESSAGE_MAX (WEFT_CCI_HDR + WEFT_CCI_MAX_PAYLOAD)
#define WEFT_CCI_LIMIT_MOST 10 /**< log2 of the most payload, WEFT_CCI_MAX_PAYLOAD */
#define WEFT_CCI_NO_PID 0xFFF /**< "none" where a PID is stored */
#define WEFT_CCI_UUID 16
#define WEFT_CCI_RECORD 128 /**< bytes of an event record */
#define WEFT_CCI_LOG_RECORDS 32 /**< that an event log keeps */
#define WEFT_CCI_COMMANDS_MAX 128 /**< rows of a component, its own among them */

/** The side a request came in by. */
enum weft_cci_iface {
	WEFT_CCI_FM, /**< a fabric manager: MCTP, or its out-of-band socket */
	WEFT_CCI_HOST, /**< a host: mailbox of a switch, or a GFD's host interface by proxy */
	WEFT_CCI_IFACES
};

/** Interfaces as a set, for weft_cci_command.who. */
#define WEFT_CCI_WHO_FM (1u << WEFT_CCI_FM)
#define WEFT_CCI_WHO_HOST (1u << WEFT_CCI_HOST)
#define WEFT_CCI_WHO_BOTH (WEFT_CCI_WHO_FM | WEFT_CCI_WHO_HOST)

/** Who calls. */
struct weft_cci_caller {
	uint8_t iface; /**< enum weft_cci_iface */
	uint16_t pid; /**< of a manager the PID it registered by 0701h; WEFT_CCI_NO_PID: nobody */
};

/**
 * Component types of Identify, as far as there are any here. The last is ours: what a host knows of
 * its memory. Table 4.3 counts it as a switch.
 */
enum weft_cci_type { WEFT_CCI_TYPE_SWITCH = 0, WEFT_CCI_TYPE_GFD = 4, WEFT_CCI_TYPE_HOST = 0x80 };

/** Effects of a command, as in its entry of the command effects log. */
enum weft_cci_effect {
	WEFT_CCI_EFFECT_CONFIG = 1 << 1, /**< configuration changes at once */
	WEFT_CCI_EFFECT_DATA = 1 << 2, /**< data changes at once */
	WEFT_CCI_EFFECT_POLICY = 1 << 3, /**< policy changes at once */
	WEFT_CCI_EFFECT_LOG = 1 << 4, /**< a log changes at once */
	WEFT_CCI_EFFECT_BACKGROUND = 1 << 6, /**< may run in the background */
	WEFT_CCI_EFFECT_ABORT = 1 << 8 /**< 0005h may end it early */
};

/**
 * What a command does.
 *
 * @param arg      of the table, weft_cci_component_cfg.arg
 * @param who      has been let in by table 4.3 and ownership
 * @param req      payload, @p len bytes, 0..1024: its length is the function's to check
 * @param rsp      room for WEFT_CCI_MAX_PAYLOAD bytes
 * @param rsp_len  in: most bytes that the caller takes, 256, 512 or 1024; out: bytes written. A
 *                 read that has more is refused with Invalid Input; a write sees to it itself
 * @return a return code, enum weft_cci_rc. With Background Started the component is busy until
 *         weft_cci_component_done()
 */
typedef uint16_t (*weft_cci_command_fn)(void *arg, const struct weft_cci_caller *who,
	const uint8_t *req, size_t len, uint8_t *rsp, size_t *rsp_len);

/** A command that a component serves. */
struct weft_cci_command {
	uint16_t opcode;
	uint16_t effects; /**< enum weft_cci_effect */
	uint8_t who; /**< interfaces, WEFT_CCI_WHO_...; those that table 4.3 denies stay denied */
	bool is_write; /**< refused in read-only mode */
	weft_cci_command_fn run;
};

/** What a component is. The pointers stay the caller's and must outlive the component. */
struct weft_cci_component_cfg {
	uint8_t type; /**< enum weft_cci_type */
	uint16_t vid, did, svid, ssid; /**< of Identify */
	uint64_t serial; /**< likewise; unique in a fabric */
	uint16_t pid; /**< that it has from the start, or WEFT_CCI_NO_PID */
	bool read_only; /**< refuse what writes */
	bool aliases; /**< serve 07h, 49h, 57h, 58h, 59h also as C7h, C9h, D7h, D8h, D9h (4.8) */
	const struct weft_cci_command *command; /**< rows of what it is, in any order */
	unsigned int n_commands;
	void *arg; /**< of the rows */
	void *world; /**< of the functions below */

	/** A manager gives it @p pid; other codes than Success refuse. NULL: takes any. */
	uint16_t (*take_pid)(void *world, uint16_t pid);

	/** A request for the primary manager, 0106h; it must be copied. NULL: nobody is told. */
	void (*notify)(void *world, uint16_t fm_pid, const uint8_t *msg, size_t len);
};

/** Who owns a component; PIDs are WEFT_CCI_NO_PID, UUIDs zero, where there is none. */
struct weft_cci_owner {
	uint16_t pid; /**< the component's own */
	uint16_t primary_pid, secondary_pid;
	uint8_t primary_uuid[WEFT_CCI_UUID], secondary_uuid[WEFT_CCI_UUID];
};

/** Its one background operation, or the last that ended. */
struct weft_cci_background {
	bool is_running;
	bool abort_wanted;
	uint8_t percent;
	uint8_t iface; /* that began it */
	uint16_t opcode;
	uint16_t rc;
	uint16_t ext;
};

/** Event logs, in the order of their numbers on the wire. */
enum weft_cci_log_id {
	WEFT_CCI_LOG_INFO,
	WEFT_CCI_LOG_WARNING,
	WEFT_CCI_LOG_FAILURE,
	WEFT_CCI_LOG_FATAL,
	WEFT_CCI_LOG_CAPACITY,
	WEFT_CCI_LOGS
};

/** One log: a ring of records as on the wire. */
struct weft_cci_event_log {
	uint8_t record[WEFT_CCI_LOG_RECORDS][WEFT_CCI_RECORD];
	uint16_t first; /* oldest */
	uint16_t n;
	uint16_t last_handle; /* 0: none was given yet */
	uint16_t n_lost; /* since the log was full; stays at its most */
	uint64_t first_lost, last_lost; /* when */
};

/** A component. Read its members only by functions. */
struct weft_cci_component {
	struct weft_cci_component_cfg cfg;
	struct weft_cci_owner owner;
	struct weft_cci_background background;
	uint16_t policy; /* 0105h: logs that the manager is told of, [15] background operations */
	uint8_t limit_log2; /* 0004h: 8..10 */
	bool clock_is_set;
	uint64_t clock, clock_set_at; /* 0301h: value, and when it was set */
	uint64_t now_ns; /* of the request at work */
	unsigned int n_rows;
	struct weft_cci_row {
		const struct weft_cci_command *command;
		bool is_own; /* of every component: its argument is the component */
	} row[WEFT_CCI_COMMANDS_MAX]; /* by opcode */
	struct weft_cci_event_log log[WEFT_CCI_LOGS];
};

/**
 * Start a component: nobody owns it, its logs are empty.
 *
 * @return 0; -EINVAL for a type that is not there, a PID above FFFh, a row without a function, two
 *         rows of one opcode or a row for what the component has itself; -E2BIG for too many rows
 */
int weft_cci_component_init(struct weft_cci_component *c, const struct weft_cci_component_cfg *cfg);

/**
 * Answer a request (4.1).
 *
 * @param who   who sends it; whoever calls vouches for that
 * @param msg   header and payload, @p len bytes; it must not change meanwhile
 * @param rsp   receives the response, header and payload; apart from @p msg
 * @param room  of @p rsp, at least WEFT_CCI_MESSAGE_MAX
 * @return bytes of the response; 0: there is none, for @p msg has no header or is a response
 */
size_t weft_cci_component_run(struct weft_cci_component *c, const struct weft_cci_caller *who,
	const uint8_t *msg, size_t len, uint8_t *rsp, size_t room, uint64_t now_ns);

/**
 * Something happened (4.5): a record for a log. One that finds its log full is lost and counted.
 * The manager is told by 0106h if it wants that and the log was empty.
 *
 * @param record  as on the wire; length, handle and time are filled in
 * @return 0; -EINVAL for no such log; -ENOSPC if it was lost
 */
int weft_cci_component_event(struct weft_cci_component *c, enum weft_cci_log_id log,
	const uint8_t record[WEFT_CCI_RECORD], uint64_t now_ns);

/**
 * Which manager sends a request by a connection. One that comes again, after its end or by another
 * connection, is known by the UUID of the owner that it is or takes the place of; PIDs are 0701h's
 * to say.
 *
 * @param fm_pid  that the connection is known by, WEFT_CCI_NO_PID: none
 * @param msg     the request, header and payload
 * @return PID for weft_cci_caller
 */
uint16_t weft_cci_component_manager(
	const struct weft_cci_component *c, uint16_t fm_pid, const uint8_t *msg, size_t len);

/**
 * After the response: the connection that has claimed is the manager's.
 *
 * @return what it is known by from now on
 */
uint16_t weft_cci_component_learn(const struct weft_cci_component *c, uint16_t fm_pid,
	const uint8_t *msg, const uint8_t *rsp);

/** How far the background operation is, 0..99 percent. */
void weft_cci_component_progress(struct weft_cci_component *c, uint8_t percent);

/** Whether 0005h asked for its end. */
bool weft_cci_component_abort_wanted(const struct weft_cci_component *c);

/** The background operation ended, with this code; the manager is told if it wants that. */
void weft_cci_component_done(struct weft_cci_component *c, uint16_t rc);

/** Who owns it. Good until the next call. */
const struct weft_cci_owner *weft_cci_component_owner(const struct weft_cci_component *c);

/** What table 4.3 says of an opcode. */
enum weft_cci_access {
	WEFT_CCI_PROHIBITED,
	WEFT_CCI_OPTIONAL,
	WEFT_CCI_MANDATORY,
};

/**
 * Table 4.3, with our decisions: what may call @p opcode of a component of @p type by @p iface.
 * Aliases are prohibited: they have been replaced by what they stand for.
 */
enum weft_cci_access weft_cci_access(uint8_t type, enum weft_cci_iface iface, uint16_t opcode);

/** The opcode that an alias stands for (4.8); @p opcode itself if it is none. */
uint16_t weft_cci_unalias(uint16_t opcode);

WEFT_END_DECLS

#endif /* WEFT_CCI_COMPONENT_H */
