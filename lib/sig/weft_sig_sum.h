/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The five sums that signatures are made of, and the kernels that compute them, alone or while the
 * data is copied (signature.md sections 3 and 4).
 *
 * A sum is a uint64_t of which each kind uses as many low bits as it is wide. It begins with
 * weft_sig_sum_begin(), grows piece by piece, and weft_sig_sum_end() says what is stored. Pieces
 * that arrive out of order are summed each for itself, all but the first begun with 0, and joined
 * by weft_sig_sum_join(). Every function is pure and safe in any thread.
 */
#ifndef WEFT_SIG_SUM_H
#define WEFT_SIG_SUM_H

#include "weft_base.h"
#include "weft_cpu.h"

WEFT_BEGIN_DECLS

enum weft_sig_sum_kind {
	WEFT_SIG_SUM_T10DIF, /**< CRC-16/T10-DIF */
	WEFT_SIG_SUM_CSUM, /**< sum of RFC 1071 over big-endian words; bit 16: odd length so far */
	WEFT_SIG_SUM_CRC32, /**< CRC-32/ISO-HDLC */
	WEFT_SIG_SUM_CRC32C, /**< CRC-32/ISCSI */
	WEFT_SIG_SUM_CRC64, /**< CRC64_XP10 */
	WEFT_SIG_SUMS
};

/** @p sum over @p len more bytes, which are written to @p dst too. No overlap; @p len may be 0. */
typedef uint64_t (*weft_sig_copy_fn)(uint64_t sum, void *dst, const void *src, size_t len);
/** @p sum over @p len more bytes. */
typedef uint64_t (*weft_sig_sum_fn)(uint64_t sum, const void *src, size_t len);

/**
 * One row a kernel, best first, scalar last. By enum weft_sig_sum_kind. A CSUM here takes pieces
 * that begin at an even offset of the block and returns a sum without bit 16.
 */
struct weft_sig_kernel {
	struct weft_kernel k;
	const weft_sig_sum_fn *sum;
	const weft_sig_copy_fn *copy;
};

WEFT_KERNELS_DECLARE(sig);

/** The best row of this CPU, tested and chosen in the first call. */
const struct weft_sig_kernel *weft_sig_kernel_best(void);

/** A sum over nothing. @p seed: first register of a CRC, first summand of CSUM. */
uint64_t weft_sig_sum_begin(enum weft_sig_sum_kind kind, uint64_t seed);

/** @p sum over @p len more bytes, from any offset on. @p k: a row, or NULL for the best. */
uint64_t weft_sig_sum(const struct weft_sig_kernel *k, enum weft_sig_sum_kind kind, uint64_t sum,
	const void *buf, size_t len);

/** The sum of A and B in one piece, of @p a over A, @p b over B begun with 0, and B's bytes. */
uint64_t weft_sig_sum_join(enum weft_sig_sum_kind kind, uint64_t a, uint64_t b, uint64_t len_b);

/** Stored form of @p sum: the CRC, or the complement of the sum. */
uint64_t weft_sig_sum_end(enum weft_sig_sum_kind kind, uint64_t sum);

WEFT_END_DECLS

#endif /* WEFT_SIG_SUM_H */
