/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* The receiving end of a replay: the pipeline, its connections, and what comes out of it. */
#ifndef RECEIVER_H
#define RECEIVER_H

#include "trace.h"
#include "weft_io.h"
#include "weft_keys.h"
#include "weft_msg.h"
#include "weft_pipe.h"

struct receiver_cfg {
	int mode; /* enum weft_mode; -1: each frame says */
	enum weft_form cxl_form; /* of raw flits in cxl mode */
	enum weft_isn_form isn;
	enum weft_crc_order order;
	uint16_t spid; /* of raw flits */
	uint16_t dpid;
	uint16_t first; /* number of the first flit of each connection */
	enum weft_ide_mode ide;
	bool pcrc;
	bool poison; /* Poison in H-slots is authenticated */
	bool stop; /* IDE.Stop is obeyed */
	const struct weft_keys *keys; /* NULL: none */
	const char *layout;
	uint32_t features; /* that kernels may use */
	struct rte_mempool *pool;
	int out_link; /* of `out` */
	struct trace_writer *out; /* NULL: none */
};

struct receiver {
	struct receiver_cfg cfg;
	struct weft_env env;
	struct weft_tables *tables; /* every PID by port 0 */
	struct weft_tables_slot slot;
	struct weft_ide_lib *ide;
	struct weft_conns *conns;
	struct weft_pipe *pipe;
	uint64_t n_conns; /* ever made */
	uint64_t packets;
	bool has_raw; /* raw flits were among them */
	uint64_t skipped
		[WEFT_VERDICT_COUNT]; /* by the reader and the end, beside the stages' drops */
	uint64_t messages[WEFT_MSG_KINDS];
	uint64_t packets_io[WEFT_IO_CLASSES]; /* CXL.io */
	uint64_t macs_unread; /* IDE.MAC and IDE.TMAC of connections that are not decrypted */
};

/** Whether a layout can replay a trace. @return 0, or -EINVAL with a line in @p err */
int receiver_check_layout(const char *text, char *err, size_t err_len);

/**
 * Set up, with a layout that receiver_check_layout() likes. @p source gives the pipeline its
 * frames, made by receiver_frame().
 *
 * @return 0, or -EINVAL with a line in @p err
 */
int receiver_init(struct receiver *r, const struct receiver_cfg *cfg, weft_source_fn source,
	void *source_arg, char *err, size_t err_len);

void receiver_fini(struct receiver *r);

/** Forget every connection: what comes next is a new life of each. The pipeline is empty. */
void receiver_restart(struct receiver *r);

/** Bytes that receiver_put() puts in front of a packet: a header, of raw flits. */
uint32_t receiver_head(const struct trace_packet *p);

/** Why a packet cannot even be copied into a frame, or WEFT_OK. */
enum weft_verdict receiver_check_packet(const struct trace_packet *p);

/** Write the frame of a packet that receiver_check_packet() likes, its head and p->len bytes. */
void receiver_put(const struct receiver_cfg *cfg, const struct trace_packet *p, uint8_t *frame);

/**
 * Make a frame of a packet.
 *
 * @return NULL if the packet is skipped (and counted)
 */
struct rte_mbuf *receiver_frame(struct receiver *r, const struct trace_packet *p);

#endif /* RECEIVER_H */
