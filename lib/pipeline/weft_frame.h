/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * A frame on its way through the stages: one mbuf, one segment, flits on 64-byte lines, and this
 * struct in the mbuf's private area. A mask has one bit a flit. Which stage writes a field, and
 * from where on it is valid, stands beside it; before that a field is garbage.
 *
 *   mbuf (128) | struct weft_frame (96) | headroom (128) | Ethernet, header (32) | flits ...
 *                                                         ^ data                 ^ 64-byte line
 */
#ifndef WEFT_FRAME_H
#define WEFT_FRAME_H

#include <rte_mbuf.h>

#include "weft_base.h"
#include "weft_flit.h"
#include "weft_wire.h"

WEFT_BEGIN_DECLS

struct weft_conn_dir;

struct weft_frame {
	/* Set by deframe on receive, by whoever packs the flits on transmit. */
	struct weft_conn_dir *conn; /* NULL on a switch and in control frames */
	struct weft_wire_hdr hdr;
	uint16_t in_port; /* set by the source; of no meaning on transmit */
	int16_t out_port; /* route */

	/* Flits that nobody may use any more. deframe clears it, later stages add to it. */
	uint64_t discard;
	uint64_t corrected; /* fec_check, fec_relay */
	uint64_t uncorrectable; /* fec_check */
	uint64_t seq_gap; /* link_rx: the flit is corrupt, or numbers before it are missing */
	uint64_t mac_pending; /* ide_open, while it holds the frame; 0 for everybody else */
	uint64_t time_ns; /* arrival, set by a source that knows it; of no meaning to stages */

	union {
		/* link_rx: flits that are in turn, whatever becomes of them later */
		uint64_t in_order;
		uint64_t invert_crc; /* on transmit, with an end: as struct weft_llr_tx_info says */
	};
	uint16_t first; /* likewise */
	uint16_t nops;
	uint32_t reserved;
};

static_assert(sizeof(struct weft_frame) == 96, "keeps flits on cache lines: 32 modulo 64");

/** Bytes of private area every pool for frames needs. */
#define WEFT_FRAME_PRIV ((uint16_t)sizeof(struct weft_frame))

static inline struct weft_frame *
weft_frame(struct rte_mbuf *m)
{
	return (struct weft_frame *)rte_mbuf_to_priv(m);
}

/** First byte of the first flit. */
static inline uint8_t *
weft_frame_flits(struct rte_mbuf *m)
{
	return rte_pktmbuf_mtod_offset(m, uint8_t *, WEFT_WIRE_FLITS_OFF);
}

/** Flits of the frame that may still be used. */
static inline uint64_t
weft_frame_live(const struct weft_frame *f)
{
	return weft_mask64(f->hdr.n_flits) & ~f->discard;
}

WEFT_END_DECLS

#endif /* WEFT_FRAME_H */
