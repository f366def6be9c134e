/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Edge ports of a switch in cxl mode, whose links are of HBR form (edge.c). */
#ifndef EDGE_H
#define EDGE_H

#include "daemon.h"

enum edge_counter {
	EDGE_N_FAST,
	EDGE_N_GIM,
	EDGE_N_PREFIX,
	EDGE_N_LDST,
	EDGE_N_PREFIX_ADDED,
	EDGE_N_EGRESS_UR,
	EDGE_N_BY_PREFIX,
	EDGE_N_REROUTED,
	EDGE_N_UNEXPECTED,
	EDGE_N_COUNTERS
};

/* State behind what such a port converts; CacheIDs, vPPBs and tags of its own would stand here. */
struct edge_port {
	bool is_hbr; /* false: the link is of PBR form, and the rest of no meaning */
	uint16_t table; /* number of its edge in the node's tables */
	bool is_host;
	uint64_t stopped[EDGE_REASONS]; /* messages that ended here, by why */
	uint64_t uio_stopped[EDGE_REASONS]; /* requests by UIO, likewise */
	uint64_t count[EDGE_N_COUNTERS]; /* packets */
};

/* What becomes of something at an edge port: it goes on, it ended there, or it has to wait. */
enum edge_way { EDGE_ON, EDGE_DONE, EDGE_WAITS };

/** Once the links are there. 0, or -ENOMEM. */
int edges_init(struct node *n);

/** A message that came by a link of HBR form. @p on receives what goes on. */
enum edge_way edge_message_in(
	struct weft_node_link *in, const struct weft_msg *m, struct weft_msg *on);

/** The same of a packet, which is sent on. False: it has to wait. */
bool edge_packet_in(struct weft_node_link *in, const struct weft_io_tlp *t);

/** A packet that leaves by such a link: @p t becomes what is sent. */
enum edge_way edge_packet_out(struct weft_node_link *out, struct weft_io_tlp *t);

/** A request or answer that an edge port let pass, or an answer that it did not, into its counts. */
void edge_count_request(
	uint64_t *count, const struct weft_topo *t, const struct weft_edge_decision *d);
void edge_count_answer(uint64_t *count, const struct weft_edge_decision *d);

/** EDGE_N_COUNTERS rows. */
const struct weft_counter *edge_counters(void);

/** What a port of HBR form did, or null. */
json_t *edge_json(const struct node *n, unsigned int port);

/** Telemetry: what each such port stopped, by why: "port_1_stopped_no-decode", those above 0. */
void edge_rows(
	const struct node *n, void (*fn)(void *arg, const char *name, uint64_t value), void *arg);

/** store.c: send a packet of PBR form by the port of its DPID. False: it has to wait. */
bool store_send_packet(struct node *n, const struct weft_io_tlp *t);

#endif /* EDGE_H */
