#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""Write crc_tables.c: every table of lib/code, derived from the field and the roots of g8 and g6.

wire-formats.md section 2.1, encapsulation.md section 3. A remainder is a 64-bit number with the
coefficient of x^7 in its top byte, as in C; one modulo g6 has that of x^5 in bits 47:40.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'base'))
import gf  # noqa: E402

FIELD = gf.Field(0x12B)
COVERED = 242
NUMBER_BITS = 10
NUMBERS = 1 << NUMBER_BITS
RUN_MAX = 64


def generator(degree):
    """Product of (x + alpha^i), i = 1..degree, without its leading 1, highest power first."""
    g = [1]
    for i in range(1, degree + 1):
        shifted = g + [0]
        scaled = [0] + [FIELD.mul(c, FIELD.power(i)) for c in g]
        g = [a ^ b for a, b in zip(shifted, scaled)]
    return g[1:]


def steps(degree):
    """f * x^degree modulo the generator, for every symbol f."""
    return [int.from_bytes(bytes(FIELD.mul(f, c) for c in generator(degree)), 'big')
            for f in range(256)]


STEP = steps(8)


def shift(r):
    """r * x mod g8"""
    return (r << 8 & (1 << 64) - 1) ^ STEP[r >> 56]


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
    mask = NUMBERS - 1
    for low in range(64 - NUMBER_BITS + 1):
        if len({r >> low & mask for r in numbers}) == len(numbers):
            inverse = [0] * len(numbers)
            for number, r in enumerate(numbers):
                inverse[r >> low & mask] = number
            return low, inverse
    sys.exit('no window of %d bits tells the numbers apart' % NUMBER_BITS)


def lane_matrix(degree, lane, exponent):
    """Matrix of lane's root to the exponent; lanes beyond the degree stay zero."""
    return FIELD.matrix(FIELD.power((lane + 1) * exponent)) if lane < degree else 0


def gfni(name, degree, top, words):
    """Matrices of crc_gfni_priv.h for a code whose first byte stands at the power `top`."""
    word = [[lane_matrix(degree, j, top - 7 - 8 * w) for j in range(8)] for w in range(words)]
    # Behind the byte transposition, register [odd][pair] has in its word 2L + half the bytes
    # b = 2 * pair + half of lane 2L + odd.
    byte = [[[lane_matrix(degree, 2 * (i // 2) + odd, 7 - (2 * pair + i % 2)) for i in range(8)]
             for pair in range(4)] for odd in range(2)]
    inverse = FIELD.from_sums(list(range(1, degree + 1)))
    symbol = [[FIELD.matrix(inverse[k][j]) if max(j, k) < degree else 0 for k in range(8)]
              for j in range(8)]
    out = ['const struct crc_gfni %s = {' % name]
    for field, values in ('word', word), ('byte', byte), ('symbol', symbol):
        out.append('\t.%s = %s,' % (field, gf.nested(values, '0x%016x')))
    return out + ['};', '']


def products(exponent):
    return FIELD.nibbles(FIELD.power(exponent))


def pairs(roots):
    """Tables of crc_nibbles_priv.h for two roots: 4 bytes halved twice."""
    def halves(exponents):
        return [low + high for low, high in zip(*map(products, exponents))]

    return ['\t.pair = {'] + [
        '\t\t{ .two = %s, .one = %s },' %
        (gf.nested(halves([2 * i, 2 * j]), '%d'), gf.nested(halves([i, j]), '%d'))
        for i, j in roots] + ['\t},']


def remainders(name, roots, last):
    """From values at the roots to the remainder; the last byte of the sums stands at the power
    `last`."""
    inverse = FIELD.from_sums(list(range(1, 9)))
    rows = [[int.from_bytes(bytes(FIELD.mul(inverse[k][j - 1], FIELD.mul(v, FIELD.power(last * j)))
                                  for k in range(8)), 'little') for v in range(256)]
            for j in roots]
    return ['const uint64_t %s[8][256] =' % name,
            '\t%s;' % gf.nested(rows, 'UINT64_C(0x%016x)'), '']


def avx2():
    """See crc_avx2.c: rows of 85 bytes in parts of 8, sums of 8 bytes halved three times."""
    out = ['const struct crc_avx2 weft_crc_avx2 = {', '\t.root = {']
    for j in range(1, 9):
        part = [products(8 * j * (10 - p)) for p in range(10)]
        out.append('\t\t{ .part = %s, .four = %s },' %
                   (gf.nested(part, '%d'), gf.nested(products(4 * j), '%d')))
    out += ['\t},'] + pairs(((1, 4), (2, 5), (3, 6), (7, 8)))
    out += ['\t.cube_root = %s,' % gf.nested(products(85), '%d'), '};', '']
    # Lane 87 of the rows is the last.
    return out + remainders('weft_crc_avx2_remainder', range(1, 9), 249 - 87)


def avx512bw():
    """See crc_avx512bw.c: parts of 4 bytes, the last of which reaches two over the message."""
    roots = [1, 2, 4, 8, 3, 6, 5, 7]
    out = ['const struct crc_avx512bw weft_crc_avx512bw = {', '\t.root = {']
    for j in roots:
        part = [products(4 * j * (1 + p)) for p in range(9)]
        out.append('\t\t{ .part = %s },' % gf.nested(part, '%d'))
    out += ['\t},'] + pairs(((1, 4), (2, 8), (3, 5), (6, 7))) + ['};', '']
    return out + remainders('weft_crc_avx512bw_remainder', roots, 249 - 243)


def main():
    long_form = 'UINT64_C(0x%016x)'
    numbers = [pseudo(n) for n in range(NUMBERS)]
    low, inverse = window(numbers)
    out = ['/* Written by gen_tables.py; not to be edited. */', '', '#include "crc_priv.h"',
           '#include "crc_gfni_priv.h"', '']
    out += ['const uint64_t weft_crc_slice[8][256] =',
            '\t%s;' % gf.nested(slices(), long_form), '']
    out += gf.table('uint64_t', 'weft_crc6_step', '[256]', steps(6), long_form, 3)
    around = [n % NUMBERS for n in range(NUMBERS + RUN_MAX)]
    out += gf.table('uint64_t', 'weft_isn_pseudo_table', '[%d]' % len(around),
                    [numbers[n] for n in around], long_form, 3)
    out += gf.table('uint64_t', 'weft_isn_xor_table', '[%d]' % len(around),
                    [xored(n) for n in around], long_form, 3)
    out.append('const unsigned int weft_isn_window_low = %d;' % low)
    out += gf.table('uint16_t', 'weft_isn_window_table', '[%d]' % NUMBERS, inverse, '%d', 16)
    out += gfni('weft_crc_gfni', 8, 249, 31)
    out += gfni('weft_crc6_gfni', 6, 135, 16)
    out += avx2()
    out += avx512bw()
    with open(sys.argv[1], 'w', encoding='ascii') as f:
        f.write('\n'.join(out))


main()
