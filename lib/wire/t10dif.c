/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* The header check. */

#include "wire_priv.h"

#include "weft_data_crc.h"

uint16_t
wire_crc16_t10dif(const uint8_t *p, size_t len)
{
	return weft_crc16_t10dif(0, p, len);
}
