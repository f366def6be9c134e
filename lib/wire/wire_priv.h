/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Inside wire: the header check. */
#ifndef WIRE_PRIV_H
#define WIRE_PRIV_H

#include <stddef.h>
#include <stdint.h>

/* CRC-16/T10-DIF (polynomial 8BB7, initial value 0) of @p len bytes. */
uint16_t wire_crc16_t10dif(const uint8_t *p, size_t len);

#endif /* WIRE_PRIV_H */
