/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * CPU features by the compiler's own probe, which also asks the operating system whether it saves
 * the wide registers; CPUID alone would not tell.
 */

#include "weft_cpu.h"

#include <errno.h>

static const struct {
	uint32_t bits;
	const char *word;
} features[] = {
	{ 0, "scalar" },
	{ WEFT_CPU_SSSE3, "ssse3" },
	{ WEFT_CPU_AVX2, "avx2" },
	{ WEFT_CPU_GFNI, "gfni" },
	{ WEFT_CPU_AVX512 | WEFT_CPU_AVX512BW, "avx512" },
	{ WEFT_CPU_AVX512BW, "avx512bw" },
	{ WEFT_CPU_PCLMUL, "pclmul" },
	{ WEFT_CPU_VPCLMUL, "vpclmul" },
};

uint32_t
weft_cpu_detect(void)
{
	uint32_t have = 0;

#if defined(__x86_64__)
	__builtin_cpu_init();
	if (__builtin_cpu_supports("ssse3"))
		have |= WEFT_CPU_SSSE3;
	if (__builtin_cpu_supports("avx2"))
		have |= WEFT_CPU_AVX2;
	if (__builtin_cpu_supports("gfni"))
		have |= WEFT_CPU_GFNI;
	if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
		__builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
		have |= WEFT_CPU_AVX512BW;
	if ((have & WEFT_CPU_AVX512BW) != 0 && __builtin_cpu_supports("avx512vbmi"))
		have |= WEFT_CPU_AVX512;
	if (__builtin_cpu_supports("pclmul"))
		have |= WEFT_CPU_PCLMUL;
	if (__builtin_cpu_supports("vpclmulqdq"))
		have |= WEFT_CPU_VPCLMUL;
#endif
	return have;
}

static int
cpu_word_bits(const char *word, size_t len, uint32_t *bits)
{
	for (size_t i = 0; i < WEFT_ARRAY_SIZE(features); i++) {
		if (strlen(features[i].word) == len && memcmp(features[i].word, word, len) == 0) {
			*bits = features[i].bits;
			return 0;
		}
	}
	return -EINVAL;
}

int
weft_cpu_parse(const char *words, uint32_t *mask, const char **bad)
{
	uint32_t allowed = 0;

	if (words == NULL || words[0] == '\0') {
		*mask = UINT32_MAX;
		return 0;
	}
	for (;;) {
		size_t len = strcspn(words, ",");
		uint32_t bits;

		if (cpu_word_bits(words, len, &bits) != 0) {
			if (bad != NULL)
				*bad = words;
			return -EINVAL;
		}
		allowed |= bits;
		if (words[len] == '\0')
			break;
		words += len + 1;
	}
	*mask = allowed;
	return 0;
}

const char *
weft_cpu_words(void)
{
	return "scalar, ssse3, avx2, gfni, avx512, avx512bw, pclmul, vpclmul";
}
