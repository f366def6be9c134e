#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""Write crc64_tables.c: the tables of CRC64_XP10, derived from its polynomial.

signature.md sections 3.1 and 4.2. A polynomial is an integer with x^0 in bit 0 while it is worked
with, and reversed, x^63 in bit 0, in the tables.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'base'))
import gf  # noqa: E402

WIDTH = 64
G = 1 << WIDTH | 0xAD93D23594C93659
FOLDS = 17


def power_mod(n):
    """x^n mod G"""
    r = 1
    for _ in range(n):
        r <<= 1
        if r >> WIDTH:
            r ^= G
    return r


def quotient(a):
    """a div G"""
    q = 0
    while a.bit_length() > WIDTH:
        shift = a.bit_length() - 1 - WIDTH
        q |= 1 << shift
        a ^= G << shift
    return q


def rev(p):
    return int(format(p, '064b')[::-1], 2)


def slices():
    rows = [[]]
    for byte in range(256):
        r = byte
        for _ in range(8):
            r = r >> 1 ^ (rev(G & (1 << WIDTH) - 1) if r & 1 else 0)
        rows[0].append(r)
    for _ in range(7):
        rows.append([r >> 8 ^ rows[0][r & 0xFF] for r in rows[-1]])
    return rows


def fold(distance):
    """Factors that move two words over a distance in bits. A product of reversed words is one bit
    short of its place, hence the odd exponents; x^-1 does not occur, for a distance is not 0."""
    return [rev(power_mod(distance + 63)), rev(power_mod(distance - 1))]


def main():
    form = 'UINT64_C(0x%016x)'
    folds = [[0, 0]] + [fold(128 * d) for d in range(1, FOLDS)]
    lanes = [folds[3], folds[2], folds[1], [0, 0]]
    barrett = [rev(quotient(1 << 127)), rev((G ^ 1 << WIDTH ^ 1) >> 1)]
    out = ['/* Written by gen_crc64.py; not to be edited. */', '', '#include "crc64_priv.h"', '']
    for name, dims, rows in (('slice', '[8][256]', slices()), ('fold', '[CRC64_FOLDS][2]', folds),
                             ('lanes', '[4][2]', lanes)):
        out.append('const uint64_t weft_crc64_%s%s = {' % (name, dims))
        out += ['\t' + gf.nested(row, form) + ',' for row in rows] + ['};', '']
    out += gf.table('uint64_t', 'weft_crc64_barrett', '[2]', barrett, form, 2)
    with open(sys.argv[1], 'w', encoding='ascii') as f:
        f.write('\n'.join(out))


main()
