# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""The 6-byte CRCs of the two halves of a latency-optimised flit (wire-formats.md 2.1): remainders modulo
g6 of 130 symbols, the bytes of a half and zeros in the place of those that it does not cover."""

from . import crc

SYMBOLS = 130
EVEN = slice(0, 122)
ODD = slice(128, 244)
G6 = [1]
for i in range(1, 7):
    G6 = crc.FIELD.poly_mul(G6, [1, crc.FIELD.alpha(i)])


def by_division(half):
    """CRC of the bytes of a half as an integer whose top byte, of six, is r5."""
    message = list(half) + [0] * (SYMBOLS - len(half)) + [0] * 6
    return int.from_bytes(bytes(crc.FIELD.poly_mod(message, G6)), "big")
