#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""Write pass_crc.h: powers of x modulo the polynomial of CRC-32C, for the PCRC in pass_vaes512.c.

Reflected, as everything about this CRC: x^0 in the highest bit of 32, or of 64 where a factor meets
64 bits. Products of reflected words are one bit short of their place, hence the odd exponents.
"""
import sys

WIDTH = 32
P = 0x11EDC6F41
SHARE = 15  # blocks of P in a flit; lane 15 of 16 is none


def multiply(a, b):
    product = 0
    while b:
        if b & 1:
            product ^= a
        a <<= 1
        if a >> WIDTH:
            a ^= P
        b >>= 1
    return product


def power(n):
    """x^n modulo P, negative n too: P = x * q + 1, so 1/x = q."""
    base, r = (2, 1) if n >= 0 else ((P ^ 1) >> 1, 1)
    for _ in range(abs(n)):
        r = multiply(r, base)
    return r


def reflected(value, bits):
    return int(format(value, '0%db' % bits)[::-1], 2)


def fold(lane):
    """Factors that take the two words of a lane to the end of the second flit."""
    flit, at = divmod(lane, SHARE + 1)
    if at == SHARE:
        return 0, 0
    blocks = (1 - flit) * SHARE + SHARE - at
    return reflected(power(128 * blocks + 63), 64), reflected(power(128 * blocks - 1), 64)


def main():
    out = ['/* Written by gen_pass.py; not to be edited. */', '#ifndef WEFT_IDE_PASS_CRC_H',
           '#define WEFT_IDE_PASS_CRC_H', '', '#include <stdalign.h>', '#include <stdint.h>', '',
           '/* x^(8 n - 33): what n bytes behind a remainder make of it. */', 'enum {']
    out += ['\tCRC_BEHIND_%d = 0x%08x,' % (n, reflected(power(8 * n - 33), WIDTH))
            for n in (80, 160, 224, 240, 320, 464, 480)]
    out += ['};', '', '/* x^-161 */', '#define CRC_FINISH 0x%08x' % reflected(power(-161), WIDTH), '',
            '/* For each lane of two flits, k blocks from the end of the second, its own included:',
            ' * x^(128 k + 63), x^(128 k - 1). */',
            'static const alignas(64) uint64_t crc_fold[%d][2] = {' % (2 * SHARE + 2)]
    out += ['\t{ 0x%016x, 0x%016x },' % fold(lane) for lane in range(2 * SHARE + 2)]
    out += ['};', '', '#endif', '']
    with open(sys.argv[1], 'w', encoding='ascii') as f:
        f.write('\n'.join(out))


main()
