/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Frames that a port did not take yet. A ring that keeps order; when it is full, frames are dropped
 * and counted, so that two switches that wait for each other cannot stand still for ever. Hot.
 */

#include "backlog.h"

/* Who makes frames looks, perhaps from another lcore: written only when it changes. */
static void
backlog_note(struct backlog *b)
{
	const bool is_waiting = b->n != 0;

	if (b->is_waiting != is_waiting)
		__atomic_store_n(&b->is_waiting, is_waiting, __ATOMIC_RELAXED);
}

void
backlog_drop(struct backlog *b, struct rte_mbuf **frame, uint16_t n)
{
	if (n == 0)
		return;
	rte_pktmbuf_free_bulk(frame, n);
	__atomic_fetch_add(&b->down, n, __ATOMIC_RELAXED);
	weft_probe_drop(weft_port_name(b->port), weft_verdict_names[WEFT_DROP_PORT_DOWN], n);
}

static void
backlog_push(struct backlog *b, struct rte_mbuf *m)
{
	if (b->n == NODE_BACKLOG) {
		__atomic_store_n(
			&b->flits, b->flits - weft_frame(m)->hdr.n_flits, __ATOMIC_RELAXED);
		rte_pktmbuf_free(m);
		b->dropped++;
		weft_probe_drop(weft_port_name(b->port), weft_verdict_names[WEFT_DROP_TX_FULL], 1);
		return;
	}
	b->frame[(b->head + b->n++) % NODE_BACKLOG] = m;
}

unsigned int
backlog_flush(struct backlog *b)
{
	unsigned int sent = 0;

	while (b->n != 0) {
		uint32_t run = NODE_BACKLOG - b->head; /* up to the ring's end */
		uint16_t n, took;

		if (run > b->n)
			run = b->n;
		n = (uint16_t)(run > WEFT_PORT_BURST_MAX ? WEFT_PORT_BURST_MAX : run);
		if (backlog_is_held(b)) {
			backlog_drop(b, &b->frame[b->head], n);
			took = n;
		} else {
			took = weft_port_tx(b->port, &b->frame[b->head], n);
		}
		b->head = (b->head + took) % NODE_BACKLOG;
		b->n -= took;
		sent += took;
		if (took < n)
			break;
	}
	backlog_note(b);
	return sent;
}

void
backlog_send(struct backlog *b, struct rte_mbuf **frame, uint16_t n)
{
	uint64_t flits = b->flits;
	uint16_t took = 0;

	if (backlog_is_held(b)) {
		backlog_flush(b);
		backlog_drop(b, frame, n);
		return;
	}
	/* Now: once sent they are the port's. */
	for (uint16_t i = 0; i < n; i++)
		flits += weft_frame(frame[i])->hdr.n_flits;
	__atomic_store_n(&b->flits, flits, __ATOMIC_RELAXED);
	if (b->n != 0)
		backlog_flush(b);
	while (b->n == 0 && took < n) {
		uint16_t want =
			(uint16_t)(n - took > WEFT_PORT_BURST_MAX ? WEFT_PORT_BURST_MAX : n - took);
		uint16_t got = weft_port_tx(b->port, frame + took, want);

		took = (uint16_t)(took + got);
		if (got < want)
			break;
	}
	for (; took < n; took++)
		backlog_push(b, frame[took]);
	backlog_note(b);
}

void
backlog_free(struct backlog *b)
{
	for (; b->n != 0; b->n--) {
		rte_pktmbuf_free(b->frame[b->head]);
		b->head = (b->head + 1) % NODE_BACKLOG;
	}
}
