/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Block signatures that travel with data from memory to memory (doc/spec/signature.md;
 * doc/signature.md).
 *
 * A key has two domains: mem, what lies in memory, and wire, what crosses the fabric. A domain is
 * absent or cuts data into units: a block, then its signature. A stream moves data in one
 * direction: TX from mem to wire, RX from wire to mem. It checks and drops the signatures of its
 * input, cuts the data anew, and copies or makes those of its output. A signature that does not
 * match stops nothing: the first is kept in the key until weft_sig_key_check() asks for it.
 *
 * Words of signatures:
 *
 *   1. A unit is a block of data and the signature behind it; a transfer is whole units of both
 *      domains.
 *   2. Check compares the bytes of a signature that a mask selects; copy takes bytes of one into
 *      the next domain; make computes them.
 *   3. Guard, application tag and reference tag are the fields of DIF. An escape value in a tag
 *      switches the checks of its unit off.
 *   4. With remap the reference tag counts up from block to block; without, all have the same.
 *   5. The first error is that of the lowest block, whichever shard of a transfer found it.
 *
 * Keys and streams are plain memory of the caller: no allocation, no clock. A key and its streams
 * belong to one thread at a time; threads that share a transfer have a key each, and
 * weft_sig_key_merge() makes one report of them.
 */
#ifndef WEFT_SIG_H
#define WEFT_SIG_H

#include "weft_base.h"
#include "weft_sig_sum.h"

WEFT_BEGIN_DECLS

/* Parts of a signature: sections 2.4 to 2.6. */

enum weft_sig_type { WEFT_SIG_T10DIF, WEFT_SIG_CRC };
enum weft_sig_crc_type { WEFT_SIG_CRC32, WEFT_SIG_CRC32C, WEFT_SIG_CRC64_XP10 };
enum weft_sig_bg_type { WEFT_SIG_BG_CRC, WEFT_SIG_BG_CSUM };

/** A CRC after each block, least significant byte first: 4 bytes, CRC64_XP10 8. */
struct weft_sig_crc {
	enum weft_sig_crc_type type;
	uint64_t seed; /**< 0, or all ones of the CRC's width and no more */
};

#define WEFT_SIG_REF_REMAP 0x1u /**< reference tag counts blocks; without it all have the same */
#define WEFT_SIG_APP_ESCAPE 0x2u /**< a unit with application tag FFFF is not checked */
#define WEFT_SIG_APP_REF_ESCAPE 0x4u /**< as above if also reference tag FFFFFFFF; goes first */

/** T10-DIF: guard, application tag, reference tag; 8 bytes, most significant byte first. */
struct weft_sig_t10dif {
	enum weft_sig_bg_type bg_type;
	uint16_t bg; /**< seed of the guard: 0 or FFFF */
	uint16_t app_tag;
	uint32_t ref_tag; /**< of block 0 */
	uint16_t flags; /**< WEFT_SIG_REF_REMAP, .._ESCAPE */
};

struct weft_sig_domain {
	enum weft_sig_type sig_type;
	union {
		const struct weft_sig_t10dif *dif;
		const struct weft_sig_crc *crc;
	} sig;
	uint32_t block_size; /**< bytes: 512, 520, 4048, 4096 or 4160 */
	uint64_t comp_mask; /**< 0 */
};

/* Masks, one bit a byte: section 2.2. Others are legal. */
#define WEFT_SIG_MASK_GUARD 0xC0u
#define WEFT_SIG_MASK_APPTAG 0x30u
#define WEFT_SIG_MASK_REFTAG 0x0Fu
#define WEFT_SIG_MASK_CRC32 0xF0u
#define WEFT_SIG_MASK_CRC32C 0xF0u
#define WEFT_SIG_MASK_CRC64_XP10 0xFFu

#define WEFT_SIG_COPY_MASK 0x1u /**< copy_mask holds; without it, it follows from the domains */

/** Configuration of a key. Nothing of it is kept by pointer. */
struct weft_sig_attr {
	const struct weft_sig_domain *mem; /**< NULL: no signature there; not both */
	const struct weft_sig_domain *wire;
	uint32_t flags; /**< WEFT_SIG_COPY_MASK */
	uint8_t check_mask; /**< bytes of input signatures that are compared */
	uint8_t copy_mask; /**< bytes of output signatures that are taken from the input's */
	uint64_t comp_mask; /**< 0 */
};

/* Errors: section 5. */

enum weft_sig_error_type {
	WEFT_SIG_NO_ERROR,
	WEFT_SIG_BAD_GUARD,
	WEFT_SIG_BAD_REFTAG,
	WEFT_SIG_BAD_APPTAG,
	WEFT_SIG_POISONED, /**< a piece of the block was marked poisoned: nothing was compared */
	WEFT_SIG_LOST, /**< the same, a piece never came */
	WEFT_SIG_ERROR_TYPES
};

enum weft_sig_side { WEFT_SIG_MEM, WEFT_SIG_WIRE };

/** The first block that was wrong, in the domain that was the stream's input. */
struct weft_sig_error {
	enum weft_sig_error_type type;
	enum weft_sig_side domain;
	uint64_t computed; /**< from the data, or from the tags of the attributes */
	uint64_t stored; /**< as found in the signature; both 0 for POISONED and LOST */
	uint64_t block; /**< number of the block, counted from 0 in the whole transfer */
	uint64_t offset; /**< bytes of input before the block, signatures included */
};

/* By the names of mlx5dv, whose "expected" is what was stored. */
#define weft_sig_actual_value computed
#define weft_sig_expected_value stored

struct weft_sig_counters {
	uint64_t bytes; /**< data moved, without signatures */
	uint64_t checked; /**< input blocks of which at least a byte was compared */
	uint64_t generated; /**< output blocks of which at least a byte was made */
	uint64_t copied; /**< output blocks with a signature copied whole */
	uint64_t escaped; /**< input blocks not checked because of their tags */
	uint64_t escaped_unprotected; /**< of those, in front of an output that cannot say so */
	uint64_t errors[WEFT_SIG_ERROR_TYPES]; /**< blocks by what was first wrong with them */
};

/* Pieces of memory. */

#define WEFT_SIG_PIECE_POISONED 0x1u /**< the bytes are there but must not be believed */
#define WEFT_SIG_PIECE_LOST 0x2u /**< base may be NULL: zeros stand for the bytes */

struct weft_sig_piece {
	void *base; /**< not written through where it is input */
	size_t len; /**< bytes; 0 is allowed */
	/**
	 * WEFT_SIG_PIECE_.. of input. In an output piece POISONED is set, never cleared, if a byte
	 * of a poisoned or lost block went to it.
	 */
	uint32_t flags;
};

/** Pieces in a row, and the place in them where the next byte is. Begin with at, off, done 0. */
struct weft_sig_list {
	struct weft_sig_piece *piece; /**< may be NULL if n is 0 */
	unsigned int n;
	unsigned int at; /**< piece of the next byte; n: there is no more */
	size_t off; /**< bytes of that piece that are done */
	uint64_t done; /**< bytes since the list began */
};

/* Keys: section 6. */

#define WEFT_SIG_KEY_PIECES 16 /**< of a layout */
#define WEFT_SIG_KEY_BLOCK_SIGNATURE 0x1u /**< the key may have signatures */
#define WEFT_SIG_RESET_ATTR 0x1u /**< of weft_sig_key_configure(): back to no signature */

enum weft_sig_key_state {
	WEFT_SIG_INIT, /**< no signature */
	WEFT_SIG_RESET, /**< the open request took it away */
	WEFT_SIG_UPDATED, /**< the open request set it */
	WEFT_SIG_SET /**< it is from an earlier request */
};

/** A domain made ready. Private, as are all structs from here to the stream. */
struct weft_sig_spec {
	uint8_t kind; /* enum weft_sig_sum_kind */
	uint8_t sig_len; /* bytes; 0: no signature */
	bool is_dif;
	uint16_t flags;
	uint16_t app_tag;
	uint32_t ref_tag;
	uint32_t block; /* bytes */
	uint64_t begin; /* sum over nothing */
};

struct weft_sig_config {
	enum weft_sig_key_state state;
	struct weft_sig_spec spec[2]; /* by enum weft_sig_side */
	uint8_t check_mask;
	uint8_t copy_mask;
	unsigned int n_pieces;
	struct weft_sig_piece piece[WEFT_SIG_KEY_PIECES];
};

struct weft_sig_key {
	const struct weft_sig_kernel *kernel;
	uint32_t flags;
	bool is_open;
	bool layout_set; /* in the open request */
	int request_error; /* first of the open request */
	struct weft_sig_config now;
	struct weft_sig_config next; /* valid while is_open */
	struct weft_sig_error latch; /* type NO_ERROR: empty */
	struct weft_sig_counters counters; /* of the streams that ended */
};

/**
 * Begin a key without signature and layout.
 *
 * @param flags   WEFT_SIG_KEY_BLOCK_SIGNATURE or 0
 * @param kernel  row of weft_sig_kernels that its streams run, or NULL for the best
 * @return 0, or -EINVAL for an unknown flag
 */
int weft_sig_key_init(
	struct weft_sig_key *key, uint32_t flags, const struct weft_sig_kernel *kernel);

/**
 * Open a request. What it sets holds from weft_sig_key_complete() on; until then, and if it fails,
 * the key is as before. Attributes that a request does not set stay.
 *
 * @param conf_flags  WEFT_SIG_RESET_ATTR or 0
 * @param comp_mask   0
 * @return 0; -EBUSY if a request is open; -ENOTSUP for an unknown flag or mask
 */
int weft_sig_key_configure(struct weft_sig_key *key, uint32_t conf_flags, uint64_t comp_mask);

/**
 * Set the signatures of an open request, once.
 *
 * @return 0; -EBUSY the second time; -EINVAL if no request is open, the key was begun without
 *         WEFT_SIG_KEY_BLOCK_SIGNATURE, or a row of section 6.2 says so
 */
int weft_sig_key_set_sig(struct weft_sig_key *key, const struct weft_sig_attr *attr);

/**
 * Set the memory of an open request, once: what weft_sig_transfer() works on. The pieces are
 * copied, the memory stays the caller's.
 *
 * @return 0; -EINVAL if no request is open; -EBUSY the second time; -ENOMEM for more than
 *         WEFT_SIG_KEY_PIECES; -EMSGSIZE for more than 2^32-1 bytes
 */
int weft_sig_key_set_layout(
	struct weft_sig_key *key, const struct weft_sig_piece *piece, unsigned int n);

/** Close a request. 0, its first error (nothing has changed then), or -EINVAL if none is open. */
int weft_sig_key_complete(struct weft_sig_key *key);

/** Close a request, if one is open, and forget it. */
void weft_sig_key_abort(struct weft_sig_key *key);

/** Forget signatures, layout, an open request and the error. Counters stay. */
void weft_sig_key_invalidate(struct weft_sig_key *key);

/** State as of the open request, or of the last one. */
enum weft_sig_key_state weft_sig_key_state(const struct weft_sig_key *key);

/**
 * Take the first error; the next one will be kept again. Call it when the data has arrived.
 *
 * @param err  receives the error, or type WEFT_SIG_NO_ERROR
 * @return 0; -EINVAL if the key was begun without WEFT_SIG_KEY_BLOCK_SIGNATURE, or if the domain of
 *         the error has no signature any more (the error is kept)
 */
int weft_sig_key_check(struct weft_sig_key *key, struct weft_sig_error *err);

/** Add counters of @p from, and keep its error if it is of a lower block, or @p into has none. */
void weft_sig_key_merge(struct weft_sig_key *into, const struct weft_sig_key *from);

/* Streams. */

enum weft_sig_dir { WEFT_SIG_TX, WEFT_SIG_RX };

#define WEFT_SIG_STOP 0x1u /**< take the first bad block, pass nothing of it on, and stop */
#define WEFT_SIG_POISON_BAD 0x2u /**< pass a bad block on as poisoned */
#define WEFT_SIG_FRESH_TAGS 0x4u /**< make fresh tags for an escaped block, not the escape's */

#define WEFT_SIG_BLOCK_MAX 4160u
#define WEFT_SIG_BLOCK_MIN 512u
#define WEFT_SIG_LEN_MAX 8u
/** Output of one input unit: its data and the signatures that end in it. */
#define WEFT_SIG_OUT_MAX                                                                           \
	(WEFT_SIG_BLOCK_MAX + (WEFT_SIG_BLOCK_MAX / WEFT_SIG_BLOCK_MIN + 1) * WEFT_SIG_LEN_MAX)

/**
 * Data on its way through a key, in one direction and in order; set by weft_sig_begin(). Private,
 * but for the counters, which may be read. 8.5 KiB, of which only what a split unit needs is
 * touched.
 */
struct weft_sig_stream {
	struct weft_sig_key *key;
	const struct weft_sig_kernel *kernel;
	struct weft_sig_spec in, out;
	/* Moves many units in a row that are all right; NULL: only one by one. Returns how many. */
	size_t (*run)(struct weft_sig_stream *s, const uint8_t *src, uint8_t *dst, size_t n);
	uint8_t dir;
	uint32_t flags;
	uint64_t check_bytes; /* of a signature, byte 0 lowest: FF where it is compared */
	uint64_t copy_bytes; /* FF where it is copied */
	uint64_t out_bytes; /* FF where there is one */
	bool checks_guard;
	bool makes_guard;
	bool same_sum; /* that of input and output blocks is one */
	bool is_stopped;
	uint32_t unit; /* bytes of an input unit; 0: neither side has a signature */
	uint32_t unit_data;
	uint64_t in_block; /* number of the next input block */
	uint64_t out_block;
	struct { /* the block that is being filled */
		uint64_t sum;
		uint32_t pos; /* data bytes in it */
		bool is_escaped;
		bool is_poisoned;
	} filling;
	uint32_t in_marks; /* WEFT_SIG_PIECE_.. of the unit in in_buf */
	uint32_t in_len; /* bytes of it */
	struct { /* output in out_buf that waits for room */
		uint32_t from;
		uint32_t to;
		bool is_poisoned;
	} pending;
	struct weft_sig_counters counters;
	uint8_t in_buf[WEFT_SIG_BLOCK_MAX + WEFT_SIG_LEN_MAX];
	uint8_t out_buf[WEFT_SIG_OUT_MAX];
};

/**
 * Begin to move data, with the attributes that the key has now.
 *
 * @param block0  number of the first input block (of output, if only that has blocks): reference
 *                tags and reports count from it; the data of all blocks before it must fill whole
 *                output blocks
 * @param flags   WEFT_SIG_STOP, WEFT_SIG_POISON_BAD, WEFT_SIG_FRESH_TAGS
 * @return 0; -EINVAL for an unknown flag or direction, or for a @p block0 inside an output block
 */
int weft_sig_begin(struct weft_sig_stream *s, struct weft_sig_key *key, enum weft_sig_dir dir,
	uint64_t block0, uint32_t flags);

/**
 * Move what @p in has and @p out has room for, both cut anywhere. A unit that is complete goes
 * straight from one list to the other if it lies in one piece of each, through the stream if not.
 * Input that fills no whole unit, and output without room, wait in the stream.
 *
 * Call it in the order of the data, when the link has accepted it: a replay must not come twice.
 *
 * @param in   advanced past what was taken; NULL or at its end to bring out only what waits
 * @param out  advanced past what was written; room after that may have been touched
 * @return 0; -EBADMSG if the stream has stopped (WEFT_SIG_STOP): it moves nothing any more
 */
int weft_sig_push(struct weft_sig_stream *s, struct weft_sig_list *in, struct weft_sig_list *out);

/** Bytes of output that wait for room. */
size_t weft_sig_held(const struct weft_sig_stream *s);

/** Bytes of input that wait for the rest of their unit. */
size_t weft_sig_partial(const struct weft_sig_stream *s);

/**
 * End a stream and add its counters to the key.
 *
 * @return 0; -EBADMSG if it had stopped; -EINVAL if input ended inside a unit or output inside a
 *         block; -EAGAIN if output still waits for room (the stream goes on then)
 */
int weft_sig_end(struct weft_sig_stream *s);

/**
 * Bytes that come out for @p in_len bytes that go in.
 *
 * @return 0, or -EINVAL if they are not whole units, or their data not whole output blocks
 */
int weft_sig_output_len(
	const struct weft_sig_key *key, enum weft_sig_dir dir, uint64_t in_len, uint64_t *out_len);

/** A whole transfer. */
struct weft_sig_op {
	struct weft_sig_key *key;
	enum weft_sig_dir dir;
	uint32_t flags; /**< of weft_sig_begin() */
	uint64_t block0;
	struct weft_sig_list in;
	struct weft_sig_list out;
	/**
	 * Set: 0; -EINVAL if lengths are not whole units and blocks, or as weft_sig_begin():
	 * nothing was moved; -ENOSPC if output has too little room: nothing was moved; -EBADMSG if
	 * stopped.
	 */
	int rc;
};

/**
 * Make @p n transfers, one after the other.
 *
 * @param work  a stream to work with; nothing in it before or after
 * @return those with rc 0
 */
unsigned int weft_sig_burst(struct weft_sig_stream *work, struct weft_sig_op *op, unsigned int n);

/**
 * Make one transfer between the layout of @p key and @p wire; TX takes the whole layout, RX the
 * whole of @p wire. Returns what struct weft_sig_op says of rc.
 */
int weft_sig_transfer(struct weft_sig_stream *work, struct weft_sig_key *key, enum weft_sig_dir dir,
	uint64_t block0, uint32_t flags, struct weft_sig_list *wire);

/** Capabilities of this library, all of them: block sizes in ascending order, ended by 0. */
const uint32_t *weft_sig_block_sizes(void);

WEFT_END_DECLS

#endif /* WEFT_SIG_H */
