/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * A trace onto a wire: its frames leave by one port or two at their times, and what comes back is
 * counted and compared. One thread does both. No file is read meanwhile.
 */
#ifndef SEND_H
#define SEND_H

#include "expect.h"
#include "wire.h"

enum send_way { SEND_IN, SEND_OUT, SEND_ALL }; /* which frames --to sends */

/** "in", "out", "all". */
extern const char *const send_way_words[];

struct send_cfg {
	const struct frames *trace;
	const struct frames *expect; /* NULL: nothing is compared */
	enum send_way way;
	double rate; /* frames/s a port; INFINITY: as many as it takes; 0: at the trace's times */
	double speed; /* of these */
	uint64_t loops;
	double wait_s; /* for the last frames to come back, and for a port that takes none */
	struct rte_mempool *pool;
};

/* What one port sends, and what came to it. */
struct send_port {
	struct weft_port *port;
	uint32_t *index; /* frames of the trace that leave here */
	uint32_t n;
	uint32_t turn; /* the next of them to be prepared */
	uint32_t oldest; /* the next to be taken by the port */
	uint64_t loop; /* it is in */
	uint64_t prepared; /* frames that were copied to a buffer */
	uint64_t due; /* when the next is to leave, by the TSC */
	struct rte_mbuf *pending[WEFT_PORT_BURST_MAX]; /* due, and not taken yet */
	uint16_t n_pending;
	uint64_t frames, flits, bytes; /* that the port took */
	uint64_t first, last; /* when the first burst was taken, and the last */
	uint64_t latest; /* by how much the latest was late, cycles */
	uint64_t rx_frames, rx_bytes;
	uint64_t rx_first, rx_last;
	struct expect expect;
};

struct send {
	struct send_cfg cfg;
	struct send_port port[WIRE_PORTS];
	unsigned int n_ports;
	double hz; /* of the TSC */
	double cycles_per_ns; /* of the trace */
	double cycles_per_frame; /* at a rate; 0: none */
	double period; /* of a loop at the trace's times, cycles */
	uint64_t start;
	uint64_t not_sent; /* frames of the trace that no port sends */
	bool is_stopped;
};

/**
 * Get ready: which frames leave by which port and are to come to which.
 *
 * @return 0, -EINVAL (there is nothing to send) or -ENOMEM with a line in @p err; send_fini() it
 *         then as well
 */
int send_init(struct send *s, const struct send_cfg *cfg, unsigned int n_ports, char *err,
	size_t err_len);

/**
 * Send all, and wait for what is to come back.
 *
 * @param w  open, with as many ports as send_init() was told
 * @return 0, or -ETIMEDOUT (a port took no frame for wait_s) with a line in @p err. A signal ends
 *         it early: then is_stopped is set
 */
int send_run(struct send *s, const struct wire *w, char *err, size_t err_len);

void send_fini(struct send *s);

#endif /* SEND_H */
