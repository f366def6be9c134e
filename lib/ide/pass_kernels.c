/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* The kernels that take an epoch through in one pass. */

#include "pass_priv.h"

const struct ide_pass_kernel ide_pass_kernels[] = {
#if defined(__x86_64__)
	{ { "vaes512", WEFT_CPU_AVX512 | WEFT_CPU_VPCLMUL | WEFT_CPU_GFNI }, true,
		ide_pass_key_vaes512, ide_pass_flits_vaes512, ide_pass_pairs_vaes512,
		ide_pass_tag_vaes512 },
	{ { "aesni", WEFT_CPU_AVX2 | WEFT_CPU_PCLMUL }, false, ide_pass_key_aesni,
		ide_pass_flits_aesni, ide_pass_pairs_aesni, ide_pass_tag_aesni },
#endif
};
const unsigned int ide_pass_n_kernels = WEFT_ARRAY_SIZE(ide_pass_kernels);
