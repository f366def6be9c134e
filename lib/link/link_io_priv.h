/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * CXL.io half of an end: credits of the three classes, the flit being packed, what waits for the
 * owner. link.c moves its flits through the window, beside those with messages.
 */
#ifndef LINK_IO_PRIV_H
#define LINK_IO_PRIV_H

#include "weft_carve.h"
#include "weft_link.h"

/* Flits that a packet may commit or begin beyond the one at hand. */
#define LINK_IO_ROOM 3
/* Near a full window, the class that is ahead reserves this many flits for the other. */
#define LINK_IO_TURN 3

/* Packets of a class that wait. */
struct link_io_queue {
	struct weft_io_tlp *tlp;
	uint32_t *behind; /* posted packets that came before each */
	uint16_t head, n, room;
};

/* Counts are modulo 256, as on the wire. */
struct link_io {
	/* sending */
	struct weft_io_packer pack;
	bool open; /* flit[] is begun */
	bool peer_granted; /* the other end has granted something: this link has CXL.io */
	int8_t ahead; /* of messages in flits, -LINK_IO_TURN..LINK_IO_TURN */
	uint8_t allowed[WEFT_IO_CLASSES]; /* granted by the other end */
	uint8_t sent[WEFT_IO_CLASSES];
	/* giving credit */
	uint8_t granted[WEFT_IO_CLASSES]; /* consumed, and the room at first */
	uint8_t advertised[WEFT_IO_CLASSES];
	uint8_t received[WEFT_IO_CLASSES];
	uint8_t turn; /* class whose credits go first */
	bool credits_pending; /* since pending_since_ns */
	uint64_t pending_since_ns;
	/* receiving */
	struct weft_io_unpacker unpack;
	bool is_broken; /* the stream is malformed: the session ends */
	uint32_t posted_came, posted_gone;
	struct link_io_queue rx_queue[WEFT_IO_CLASSES];
	weft_link_io_fn fn;
	void *arg;
	uint64_t *count; /* of the end */
	uint8_t flit[WEFT_FLIT_LEN];
};

/* An end's half and its queues, empty; room[] is in range. */
struct link_io *link_io_carve(struct weft_carver *carver, const struct weft_link_cfg *cfg);

/* A session begins. */
void link_io_begin(struct link_io *io, enum weft_form form);

bool link_io_has_credit(const struct link_io *io, enum weft_io_class c);

/* Whether credits are pending; whether so much that a flit for them alone is worth it. */
bool link_io_pending(const struct link_io *io);
bool link_io_is_urgent(const struct link_io *io);

/* End the flit at hand into the window's @p slot. Begins the next if a packet runs over. */
void link_io_put(struct link_io *io, uint8_t *slot);

/* Begin a flit if none is at hand. */
void link_io_open(struct link_io *io);

/* A flit of type 01 came. */
void link_io_flit(struct link_io *io, const uint8_t *flit);

/* One was refused: what it carried cannot be passed over. */
void link_io_lost(struct link_io *io);

const struct weft_io_tlp *link_io_peek(const struct link_io *io, enum weft_io_class c);
void link_io_pop(struct link_io *io, enum weft_io_class c);

#endif /* LINK_IO_PRIV_H */
