/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Which instruction sets a kernel may use: what the CPU and the operating system offer, minus what
 * the user masks out with WEFT_CPU. A kernel table lists its rows best first, scalar last; a row
 * needs a set of these bits (doc/architecture.md, Kernels).
 */
#ifndef WEFT_CPU_H
#define WEFT_CPU_H

#include "weft_base.h"

WEFT_BEGIN_DECLS

/** One bit a feature; the words are those of WEFT_CPU. A scalar kernel needs none (0). */
enum weft_cpu_feature {
	WEFT_CPU_SSSE3 = 1 << 0, /**< "ssse3" */
	WEFT_CPU_AVX2 = 1 << 1, /**< "avx2" */
	WEFT_CPU_GFNI = 1 << 2, /**< "gfni" */
	WEFT_CPU_AVX512 = 1 << 3, /**< F, BW, DQ, VL and VBMI; never without WEFT_CPU_AVX512BW */
	WEFT_CPU_PCLMUL = 1 << 4, /**< "pclmul" */
	WEFT_CPU_VPCLMUL = 1 << 5, /**< "vpclmul" */
	WEFT_CPU_AVX512BW = 1 << 6 /**< "avx512bw": F, BW, DQ and VL; "avx512" names it too */
};

/** Features that this CPU has and whose registers the operating system saves. Any thread. */
uint32_t weft_cpu_detect(void);

/**
 * Features named by a list such as "scalar,avx2,gfni": what WEFT_CPU may hold.
 *
 * @param words  comma-separated words; NULL or "" means all features; "scalar" alone means none
 * @param mask   receives the set of allowed features
 * @param bad    receives the start of the first unknown word, or is NULL
 * @return 0, or -EINVAL for an unknown word (mask is left alone)
 */
int weft_cpu_parse(const char *words, uint32_t *mask, const char **bad);

/** All words that weft_cpu_parse() takes, for error messages. */
const char *weft_cpu_words(void);

/** Head of a row in every kernel table: a table is an array of structs that begin with this. */
struct weft_kernel {
	const char *name; /**< such as "scalar" or "avx512-gfni" */
	uint32_t needs; /**< weft_cpu_feature bits */
};

#define WEFT_KERNEL_GROUP 8 /**< blocks that FEC and CRC kernels take at a time, by pointer */

/**
 * Point at the group from block @p i on of @p n blocks back to back at @p base, @p len bytes each;
 * what is left of a group's pointers repeats its first block.
 *
 * @param i  below @p n
 * @return blocks in the group, 1..WEFT_KERNEL_GROUP
 */
static inline unsigned int
weft_kernel_group(const uint8_t *base, size_t len, unsigned int n, unsigned int i,
	const uint8_t *group[WEFT_KERNEL_GROUP])
{
	const unsigned int left = n - i < WEFT_KERNEL_GROUP ? n - i : WEFT_KERNEL_GROUP;

	for (unsigned int k = 0; k < WEFT_KERNEL_GROUP; k++)
		group[k] = base + (i + (k < left ? k : 0)) * len;
	return left;
}

/** True if a row may run under a set of allowed features. */
static inline bool
weft_kernel_usable(const struct weft_kernel *k, uint32_t features)
{
	return (k->needs & ~features) == 0;
}

/** A kernel table: rows best first, the scalar one, which needs nothing, last. */
struct weft_kernel_family {
	const char *name; /**< such as "crc" */
	const void *rows; /**< structs that begin with a struct weft_kernel */
	size_t row_size;
	unsigned int n_rows;
	bool (*passes)(const struct weft_kernel *row); /**< its self-test */
};

/**
 * Choose a row. At start, one thread at a time.
 *
 * @param name      row asked for, or NULL for the first that @p features allow and whose
 *                  self-test passes
 * @param features  weft_cpu_feature bits that may be used
 * @return the row; NULL if @p name is unknown, needs a feature not allowed, or fails its self-test
 */
const struct weft_kernel *weft_kernel_choose(
	const struct weft_kernel_family *f, const char *name, uint32_t features);

/**
 * What the header of a family says behind its struct weft_X_kernel: the table weft_X_kernels of
 * weft_X_n_kernels rows, and weft_X_kernel_find(), which is weft_kernel_choose() of it.
 */
#define WEFT_KERNELS_DECLARE(x)                                                                    \
	extern const struct weft_##x##_kernel weft_##x##_kernels[];                                \
	extern const unsigned int weft_##x##_n_kernels;                                            \
	const struct weft_##x##_kernel *weft_##x##_kernel_find(const char *name, uint32_t features)

/** And what its source says behind the table and the self-test @p passes_fn of a row. */
#define WEFT_KERNELS_DEFINE(x, family, passes_fn)                                                  \
	const unsigned int weft_##x##_n_kernels = WEFT_ARRAY_SIZE(weft_##x##_kernels);             \
	const struct weft_##x##_kernel *weft_##x##_kernel_find(                                    \
		const char *name, uint32_t features)                                               \
	{                                                                                          \
		const struct weft_kernel_family f = { family, weft_##x##_kernels,                  \
			sizeof(weft_##x##_kernels[0]), weft_##x##_n_kernels, passes_fn };          \
                                                                                                   \
		return (const struct weft_##x##_kernel *)(const void *)weft_kernel_choose(         \
			&f, name, features);                                                       \
	}

/** A row that failed its self-test and was passed over. The strings are constant. */
struct weft_kernel_failure {
	const char *family;
	const char *kernel;
};

/** The @p i-th failure since the program began, or NULL after the last. Any thread. */
const struct weft_kernel_failure *weft_kernel_failure(unsigned int i);

WEFT_END_DECLS

#endif /* WEFT_CPU_H */
