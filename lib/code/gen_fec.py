#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""Write fec_tables.c: what lib/code needs of GF(2^8), polynomial 0x11D.

wire-formats.md section 2.2.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'base'))
import gf  # noqa: E402

FIELD = gf.Field(0x11D)
# Group of each FEC byte, in the order of bytes 250..255; two bytes before them are not FEC bytes.
GROUP = [None, None, 1, 2, 0, 1, 2, 0]
FIRST_PARITY = 5


def power(exponent):
    return FIELD.matrix(FIELD.power(exponent))


def byte_matrix(out, place):
    """Step 3: weight of row `place` (0..7) of a block in output byte `out`."""
    if GROUP[out] is None:
        return 0
    return power(-place) if out < FIRST_PARITY else power(0)


def avx512():
    """See fec_avx512.c: rows of 63 bytes, blocks of 24."""
    order = [63 if g is None else 3 * p + g + (24 if out < FIRST_PARITY else 0)
             for out, g in enumerate(GROUP) for p in range(8)]
    byte = [[[byte_matrix(2 * (i // 2) + odd, 2 * pair + i % 2) for i in range(8)]
             for pair in range(4)] for odd in range(2)]
    return ['const struct fec_avx512 weft_fec_avx512 = {',
            '\t.row = %s,' % gf.nested([power(21)] * 8, '0x%016x'),
            '\t.block = %s,' % gf.nested([power(21 - 8 * (i // 3)) for i in range(8)], '0x%016x'),
            '\t.byte = %s,' % gf.nested(byte, '0x%016x'),
            '\t.order = %s,' % gf.nested(order, '%d'), '};', '']


def main():
    out = ['/* Written by gen_tables.py; not to be edited. */', '', '#include "fec_priv.h"', '']
    out += gf.table('uint8_t', 'weft_fec_log', '[256]',
                    [FIELD.log.get(v, 0) for v in range(256)], '%d', 16)
    out += avx512()
    out += ['const struct fec_gfni weft_fec_gfni = { .y = 0x%016x, .y2 = 0x%016x };' %
            (power(5), power(10)), '']
    out += ['const struct fec_avx2 weft_fec_avx2 = { .y = %s, .y2 = %s };' %
            (gf.nested(FIELD.nibbles(FIELD.power(5)), '%d'),
             gf.nested(FIELD.nibbles(FIELD.power(10)), '%d')), '']
    with open(sys.argv[1], 'w', encoding='ascii') as f:
        f.write('\n'.join(out))


main()
