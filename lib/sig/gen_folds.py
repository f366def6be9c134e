#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""Write sig_folds.c: factors of the carry-less folds, derived from the polynomials.

signature.md sections 3.1 and 4.2. A CRC of fewer than 64 bits is worked with as one of 64: modulo
its polynomial times a power of x, which moves its remainder to the upper bits and changes nothing
else. So one kernel serves all. A polynomial is an integer with x^0 in bit 0 while it is worked with,
and reversed, x^63 in bit 0, in the tables.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'base'))
import gf  # noqa: E402

WIDTH = 64
# By enum weft_sig_sum_kind; CSUM, which is none, stays empty.
CRCS = [(16, 0x8BB7), None, (32, 0x04C11DB7), (32, 0x1EDC6F41), (64, 0xAD93D23594C93659)]
FOLDS = 17


def power_mod(n, g):
    """x^n mod g"""
    r = 1
    for _ in range(n):
        r <<= 1
        if r >> WIDTH:
            r ^= g
    return r


def quotient(a, g):
    """a div g"""
    q = 0
    while a.bit_length() > WIDTH:
        shift = a.bit_length() - 1 - WIDTH
        q |= 1 << shift
        a ^= g << shift
    return q


def rev(p):
    return int(format(p, '064b')[::-1], 2)


def fold(distance, g):
    """Factors that move two words over a distance in bits. A product of reversed words is one bit
    short of its place, hence the odd exponents."""
    return [rev(power_mod(distance + 63, g)), rev(power_mod(distance - 1, g))]


def initializer(width, poly, form):
    g = (1 << width | poly) << WIDTH - width
    folds = [[0, 0]] + [fold(128 * d, g) for d in range(1, FOLDS)]
    lanes = [folds[3], folds[2], folds[1], [0, 0]]
    barrett = [rev(quotient(1 << 127, g)), rev((g ^ 1 << WIDTH) >> 1)]
    yield '\t{'
    yield '\t\t.fold = {'
    yield from ('\t\t\t' + gf.nested(row, form) + ',' for row in folds)
    yield '\t\t},'
    yield '\t\t.lanes = {'
    yield from ('\t\t\t' + gf.nested(row, form) + ',' for row in lanes)
    yield '\t\t},'
    yield '\t\t.barrett = ' + gf.nested(barrett, form) + ','
    yield '\t\t.constant = ' + form % ((1 << WIDTH) - 1 if g & 1 else 0) + ','
    yield '\t},'


def main():
    form = 'UINT64_C(0x%016x)'
    out = ['/* Written by gen_folds.py; not to be edited. */', '', '#include "folds_priv.h"', '',
           'const struct sig_folds sig_folds[WEFT_SIG_SUMS] = {']
    for crc in CRCS:
        out += initializer(*crc, form) if crc else ['\t{ .constant = 0 },']
    out += ['};', '']
    with open(sys.argv[1], 'w', encoding='ascii') as f:
        f.write('\n'.join(out))


main()
