#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""Write crc_tables.c: every table of lib/crc, derived from the field and the roots of g8.

wire-formats.md section 2.1, encapsulation.md section 3. A remainder is a 64-bit number with the
coefficient of x^7 in its top byte, as in C.
"""
import sys

FIELD = 0x12B
MASK64 = (1 << 64) - 1
COVERED = 242
NUMBER_BITS = 10


def gf_mul(a, b):
    p = 0
    while b:
        if b & 1:
            p ^= a
        a <<= 1
        if a & 0x100:
            a ^= FIELD
        b >>= 1
    return p


def generator():
    """g8 = product of (x + alpha^i), i = 1..8, without its leading 1, as a remainder."""
    g = [1]
    root = 1
    for _ in range(8):
        root = gf_mul(root, 2)
        shifted = g + [0]
        scaled = [0] + [gf_mul(c, root) for c in g]
        g = [a ^ b for a, b in zip(shifted, scaled)]
    return g[1:]


def word(symbols):
    return int.from_bytes(bytes(symbols), 'big')


G8 = generator()
STEP = [word(gf_mul(f, c) for c in G8) for f in range(256)]


def shift(r):
    """r * x mod g8"""
    return (r << 8 & MASK64) ^ STEP[r >> 56]


def crc(message):
    r = 0
    for b in message:
        r = shift(r ^ b << 56)
    return r


def slices():
    rows = [STEP]
    for _ in range(7):
        rows.append([shift(r) for r in rows[-1]])
    return rows


def pseudo(number):
    return crc(bytes([number >> 8, number & 0xFF]) + bytes(COVERED))


def xored(number):
    return crc(bytes([0, 0, number & 0xFF, number >> 8]) + bytes(COVERED - 4))


def window(numbers):
    """Lowest shift at which NUMBER_BITS bits of a remainder already tell all numbers apart."""
    mask = (1 << NUMBER_BITS) - 1
    for low in range(64 - NUMBER_BITS + 1):
        if len({r >> low & mask for r in numbers}) == len(numbers):
            inverse = [0] * len(numbers)
            for number, r in enumerate(numbers):
                inverse[r >> low & mask] = number
            return low, inverse
    sys.exit('no window of %d bits tells the numbers apart' % NUMBER_BITS)


def table(ctype, name, dims, values, form, per_line):
    lines = ['const %s %s%s = {' % (ctype, name, dims)]
    for i in range(0, len(values), per_line):
        lines.append('\t' + ', '.join(form % v for v in values[i:i + per_line]) + ',')
    return lines + ['};', '']


def main():
    long_form = 'UINT64_C(0x%016x)'
    numbers = [pseudo(n) for n in range(1 << NUMBER_BITS)]
    low, inverse = window(numbers)
    out = ['/* Written by gen_tables.py; not to be edited. */', '', '#include "crc_priv.h"', '']
    out.append('const uint64_t weft_crc_slice[8][256] = {')
    for row in slices():
        out += ['\t{'] + ['\t\t' + long_form % v + ',' for v in row] + ['\t},']
    out += ['};', '']
    out += table('uint64_t', 'weft_isn_pseudo_table', '[1024]', numbers, long_form, 3)
    out += table('uint64_t', 'weft_isn_xor_table', '[1024]',
                 [xored(n) for n in range(1 << NUMBER_BITS)], long_form, 3)
    out.append('const unsigned int weft_isn_window_low = %d;' % low)
    out += table('uint16_t', 'weft_isn_window_table', '[1024]', inverse, '%d', 16)
    with open(sys.argv[1], 'w', encoding='ascii') as f:
        f.write('\n'.join(out))


main()
