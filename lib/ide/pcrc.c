/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The plaintext CRC (wire-formats.md section 5.3): CRC-32C by ISA-L, which leaves the inversions
 * before and after to its caller.
 */

#include <isa-l/crc.h>

#include "ide_priv.h"

uint32_t
ide_pcrc(uint8_t *p, size_t len)
{
	return ~crc32_iscsi(p, (int)len, UINT32_MAX);
}
