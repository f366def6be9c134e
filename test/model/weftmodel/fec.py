# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""The 6-byte, three-way interleaved FEC of the Standard flit (wire-formats.md 2.2)."""

import numpy as np

from .gf import Field

FIELD = Field(0x11D)
DATA = 250
LAST_K = 83
CHECK_AT = (252, 250, 251)
PARITY_AT = (255, 253, 254)
_TIMES_ALPHA = np.array([FIELD.mul(v, 2) for v in range(256)], dtype=np.uint8)


def encode(data):
    """FEC bytes 250..255 of 250 data bytes, straight from the sums that define them."""
    out = bytearray(6)
    for group in range(3):
        parity = check = 0
        for k, byte in enumerate(data[group:DATA:3]):
            parity ^= byte
            check ^= FIELD.mul(byte, FIELD.alpha(84 - k))
        out[CHECK_AT[group] - DATA] = check
        out[PARITY_AT[group] - DATA] = parity
    return bytes(out)


def encode_batch(flits):
    """(n, 6) FEC bytes for the rows of a (n, >=250) array, in Horner form."""
    out = np.zeros((len(flits), 6), dtype=np.uint8)
    columns = np.ascontiguousarray(flits[:, :DATA].T)
    for group in range(3):
        parity = np.zeros(len(flits), dtype=np.uint8)
        check = np.zeros(len(flits), dtype=np.uint8)
        for k in range(LAST_K + 1):
            i = 3 * k + group
            if i < DATA:
                parity ^= columns[i]
                check ^= columns[i]
            check = _TIMES_ALPHA[check]
        out[:, CHECK_AT[group] - DATA] = check
        out[:, PARITY_AT[group] - DATA] = parity
    return out


def store(flits):
    flits[:, DATA:] = encode_batch(flits)


def locate(group, check_syndrome, parity_syndrome):
    """The repair of one group: None if clean, (byte index, value to XOR), or False if
    the place found lies outside the shortened code."""
    if not check_syndrome and not parity_syndrome:
        return None
    if not check_syndrome:
        return PARITY_AT[group], parity_syndrome
    if not parity_syndrome:
        return CHECK_AT[group], check_syndrome
    k = 84 - (FIELD.log[check_syndrome] - FIELD.log[parity_syndrome]) % 255
    if not 0 <= k <= LAST_K or 3 * k + group >= DATA:
        return False
    return 3 * k + group, parity_syndrome


def decode_with(flit, syndromes):
    """(verdict, flit, bytes changed), given the flit's six FEC differences (bytes 250..255)."""
    repairs = []
    for group in range(3):
        repair = locate(group, syndromes[CHECK_AT[group] - DATA],
                        syndromes[PARITY_AT[group] - DATA])
        if repair is False:
            return "uncorrectable", bytes(flit), 0
        if repair:
            repairs.append(repair)
    if not repairs:
        return "clean", bytes(flit), 0
    fixed = bytearray(flit)
    for at, value in repairs:
        fixed[at] ^= value
    return "corrected", bytes(fixed), len(repairs)


def decode(flit):
    return decode_with(flit, [a ^ b for a, b in zip(encode(flit), flit[DATA:])])


def syndromes_batch(flits):
    return encode_batch(flits) ^ flits[:, DATA:]
