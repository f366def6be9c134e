#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""Write fec_tables.c: logarithms to base alpha = 2 in GF(2^8), polynomial 0x11D.

wire-formats.md section 2.2.
"""
import sys

FIELD = 0x11D


def logarithms():
    log = [0] * 256
    power = 1
    for exponent in range(255):
        log[power] = exponent
        power <<= 1
        if power & 0x100:
            power ^= FIELD
    if power != 1:
        sys.exit('alpha does not generate the field')
    return log


def main():
    log = logarithms()
    out = ['/* Written by gen_tables.py; not to be edited. */', '', '#include "fec_priv.h"', '']
    out.append('const uint8_t weft_fec_log[256] = {')
    for i in range(0, 256, 16):
        out.append('\t' + ', '.join('%d' % v for v in log[i:i + 16]) + ',')
    out += ['};', '']
    with open(sys.argv[1], 'w', encoding='ascii') as f:
        f.write('\n'.join(out))


main()
