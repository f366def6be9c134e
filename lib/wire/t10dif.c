/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* The header check by ISA-L; the one file of this library that knows it. */

#include "wire_priv.h"

#include <isa-l/crc.h>

uint16_t
wire_crc16_t10dif(const uint8_t *p, size_t len)
{
	return crc16_t10dif(0, p, len);
}
