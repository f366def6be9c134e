/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The data CRCs that ISA-L has, with one convention for all (signature.md section 4.1). The one
 * file of this library that knows ISA-L, which chooses among its own kernels. Hot path.
 */

#include "weft_data_crc.h"

#include <isa-l/crc.h>

#define ISCSI_MAX (1 << 30) /* crc32_iscsi() takes its length as an int */

uint16_t
weft_crc16_t10dif(uint16_t crc, const void *buf, size_t len)
{
	return crc16_t10dif(crc, buf, len);
}

uint32_t
weft_crc32(uint32_t crc, const void *buf, size_t len)
{
	return crc32_gzip_refl(crc, buf, len);
}

uint32_t
weft_crc32c(uint32_t crc, const void *buf, size_t len)
{
	/* Not const in its prototype, but only read. */
	uint8_t *p = (uint8_t *)(uintptr_t)buf;

	crc = ~crc;
	for (; len > ISCSI_MAX; p += ISCSI_MAX, len -= ISCSI_MAX)
		crc = crc32_iscsi(p, ISCSI_MAX, crc);
	return ~crc32_iscsi(p, (int)len, crc);
}
