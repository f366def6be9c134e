/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Inside the retry layer: numbers of cxl mode. */
#ifndef CXL_PRIV_H
#define CXL_PRIV_H

#include "llr_priv.h"

#define CXL_NUMBERS 1023

/* The position before the first has the number 1023 (RETRY-40). */
static inline uint16_t
cxl_number(uint64_t pos)
{
	uint16_t n = (uint16_t)((pos + 1) % CXL_NUMBERS);

	return n == 0 ? CXL_NUMBERS : n;
}

#endif /* CXL_PRIV_H */
