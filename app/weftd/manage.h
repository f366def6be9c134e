/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Messages of a fabric manager that come and go by the links of nodes here (encapsulation.md
 * section 6). A lcore hands frames to the control thread, and takes those that it has from it;
 * what they say is read, answered and sent on by the control thread alone.
 */
#ifndef MANAGE_H
#define MANAGE_H

#include <poll.h>

#include "cci.h"
#include "weft_management.h"

#define MANAGE_FRAMES 32 /* that wait in either direction, of a node; a power of two */
#define MANAGE_PORT_FRAMES 8 /* of one of its ports */
#define MANAGE_ANSWERS (8 * WEFT_MANAGEMENT_PACKETS) /* frames of answers pending, of a host */
#define MANAGE_CRAWLS 8 /* messages of 5701h that a switch waits for at a time */

struct manage_frame {
	uint16_t port, n; /* flits */
	uint8_t flits[WEFT_MANAGEMENT_FLITS * WEFT_FLIT_LEN];
};

/* One writer, one reader. */
struct manage_ring {
	alignas(WEFT_CACHE_LINE) uint32_t put;
	alignas(WEFT_CACHE_LINE) uint32_t taken;
	struct manage_frame frame[MANAGE_FRAMES];
};

/* A message that went out for 5701h: the same request finds its answer. */
struct manage_crawl {
	bool is_used, has_answer;
	uint8_t tag;
	struct weft_cci_crawl to;
	uint64_t at_ns; /* it was sent, or answered */
	size_t len, rsp_len;
	uint8_t msg[WEFT_CCI_MESSAGE_MAX], rsp[WEFT_CCI_MESSAGE_MAX];
};

/* Of a node that takes messages. */
struct manage {
	struct node *node;
	struct manage_ring in, out;
	uint64_t full; /* frames beyond what may wait; by the lcore, as the next */
	uint64_t refused; /* frames by ports of nobody who may send any */
	struct cci_component *component; /* NULL: none that answers, it is a manager's host alone */
	struct weft_management_rx rx;
	struct manage_crawl crawl[MANAGE_CRAWLS];
	struct manage_port { /* by port number */
		uint8_t from; /* enum weft_management_from */
		uint16_t pid; /* by the topology, of who is there */
		/* Of a host that is no manager's: frames that answer what was sent on to it. */
		uint16_t answers_pending;
		uint8_t n_in, n_out; /* frames that wait, by who takes and who puts */
	} port[];
};

/* --- manage.c: frames --- */

/** Whether a file and the options let any node here take messages. */
bool manage_is_on(const struct daemon *d);

/** Let a node take messages. Before lcores run. 0, or -errno. */
int manage_begin(struct node *n, struct cci_component *c);
void manage_fini(struct node *n);

/** A descriptor that can be read when frames have come; -1: no node takes any. */
int manage_fd(void);

/** Control thread: take what has come, and give up what has waited for too long. */
void manage_serve(struct daemon *d, uint64_t now_ns);

/** Send a message by a port: @p type is that of MCTP. False: there is no room, which is counted. */
bool manage_send(struct manage *m, uint16_t port, uint16_t spid, uint16_t dpid,
	const struct weft_cci_mctp_hdr *h, uint8_t type, const uint8_t *msg, size_t len);

/** A frame with some came in: records of @p len bytes, which say @p c. False: none are taken. */
bool manage_came(struct node *n, uint16_t port, const uint8_t *records, size_t len,
	const struct weft_control *c);

/** Send those that wait. The node's lcore; of nodes that take messages. @return frames */
unsigned int manage_send_due(struct node *n);

/** As node_send_control(), of a message with @p n_flits flits behind its records. */
bool node_send_management(
	struct node *n, uint16_t port, const uint8_t *flits, unsigned int n_flits);

/** Count. Control thread. */
void manage_count(enum weft_management_counter c);

/** {counter: value} of all nodes here. */
json_t *manage_json(const struct daemon *d);

/* --- manage_message.c: messages of components --- */

/** A message for the node itself: @p p has its ids, @p rx is the message. */
void manage_message(struct manage *m, uint16_t port, const struct weft_management_packet *p,
	const struct weft_cci_mctp_rx *rx, uint64_t now_ns);

/** Whether an answer that is for another is one that a switch here waits for (MGMT-4). */
bool manage_is_awaited(struct manage *m, const struct weft_management_packet *p);

/** The world of a switch sends a request on (struct weft_cci_switch_world). */
uint16_t manage_exchange(void *component, const struct weft_cci_crawl *to, const uint8_t *msg,
	size_t len, uint8_t *rsp, size_t *rsp_len);

/**
 * A request (5701h) whose answer is awaited: it is run again when that has come, or answered with
 * the header @p rsp.
 * False: too many wait.
 */
bool manage_defer(const struct cci_way *w, const uint8_t *msg, size_t len, const uint8_t *rsp);

/** Send the answer of a component back by the link that its request came by. */
void manage_answer(const struct cci_way *w, const uint8_t *rsp, size_t len);

/** Tell a manager that came by a link; @p msg is a request. */
void manage_notify(const struct cci_component *c, uint16_t fm_pid, const uint8_t *msg, size_t len);

/** Requests that wait, once the answer of a switch has come, or time has passed. */
void manage_run_deferred(uint64_t now_ns);

/* --- manage_host.c: the port of a manager --- */

#define MANAGE_HOSTS 4 /* of a process */

/** Open cci-HOST.port of a host that the topology calls a manager's. 0, or -errno. */
int manage_host_open(struct manage *m, const char *folder);
void manage_host_fini(void);

/** Descriptors to wait for: room for MANAGE_HOST_FDS. @return how many */
unsigned int manage_host_fds(struct pollfd *p);
#define MANAGE_HOST_FDS (2 * MANAGE_HOSTS)

/** Take what the manager has sent. */
void manage_host_serve(void);

/** A message came to the host. */
void manage_host_message(const struct manage *m, const struct weft_management_packet *p,
	const struct weft_cci_mctp_rx *rx);

#endif /* MANAGE_H */
