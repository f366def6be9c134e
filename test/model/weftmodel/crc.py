# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""The 8-byte flit CRC and the implicit sequence number (wire-formats.md 2.1, encapsulation.md 3).

A CRC is an integer whose top byte is r7. `by_division` is the definition; `batch` computes many
flits at once with numpy and is checked against it by the self-test. Everything about numbers
and addresses rests on linearity: the CRC of a flit with a pseudo-header is the CRC of the bare
flit XOR the CRC of the pseudo-header in front of 242 zero bytes.
"""

import functools

import numpy as np

from .gf import Field

FIELD = Field(0x12B)
COVERED = 242
INVERTED = (1 << 64) - 1        # what a CRC made wrong on purpose differs by (wire-formats.md 1.2)
CRC_OFF = 242


def _generator(degree):
    g = [1]
    for i in range(1, degree + 1):
        g = FIELD.poly_mul(g, [1, FIELD.alpha(i)])
    return g


G8 = _generator(8)
TABLE = [int.from_bytes(bytes(FIELD.mul(f, c) for c in G8[1:]), "big") for f in range(256)]
_NP_TABLE = np.array(TABLE, dtype=np.uint64)


def by_division(message):
    """CRC of a message of any length, byte 0 at the highest power, by polynomial division."""
    return int.from_bytes(bytes(FIELD.poly_mod(list(message) + [0] * 8, G8)), "big")


def crc(message):
    """The same, one table step a byte."""
    reg = 0
    for byte in message:
        reg = ((reg << 8) & 0xFFFFFFFFFFFFFFFF) ^ TABLE[byte ^ (reg >> 56)]
    return reg


def batch(flits):
    """CRCs (uint64) over bytes 0..241 of each row of a (n, >=242) uint8 array."""
    columns = np.ascontiguousarray(flits[:, :COVERED].T)
    reg = np.zeros(len(flits), dtype=np.uint64)
    eight, top = np.uint64(8), np.uint64(56)
    for column in columns:
        reg = (reg << eight) ^ _NP_TABLE[column ^ (reg >> top).astype(np.uint8)]
    return reg


def to_bytes(value, order="r0"):
    """CRC bytes as they stand at 242..249: r0 first, or r7 first."""
    return value.to_bytes(8, "little" if order == "r0" else "big")


def from_bytes(data, order="r0"):
    return int.from_bytes(data, "little" if order == "r0" else "big")


def store(flits, values, order="r0"):
    """Write CRCs into bytes 242..249 of every row."""
    kind = "<u8" if order == "r0" else ">u8"
    flits[:, CRC_OFF:CRC_OFF + 8] = values.astype(kind).view(np.uint8).reshape(-1, 8)


def load(flits, order="r0"):
    kind = "<u8" if order == "r0" else ">u8"
    raw = np.ascontiguousarray(flits[:, CRC_OFF:CRC_OFF + 8])
    return raw.view(kind).reshape(-1).astype(np.uint64)


def pseudo_header(spid, dpid, vc, seq):
    """The five implicit symbols in front of byte 0."""
    return bytes([spid >> 4, (spid & 15) << 4 | dpid >> 8, dpid & 255,
                  (vc & 7) << 2 | seq >> 8, seq & 255])


@functools.lru_cache(maxsize=None)
def address_part(spid, dpid, vc):
    """A(SPID, DPID, VC)."""
    return crc(pseudo_header(spid, dpid, vc, 0) + bytes(COVERED))


def _seq_part(seq):
    return crc(pseudo_header(0, 0, 0, seq) + bytes(COVERED))


SEQ_PART = [_seq_part(seq) for seq in range(1024)]
NUMBER_OF = {value: seq for seq, value in enumerate(SEQ_PART)}
assert len(NUMBER_OF) == 1024


def _xor_part(seq):
    return crc(bytes([0, 0, seq & 255, seq >> 8]) + bytes(COVERED - 4))


XOR_PART = [_xor_part(seq) for seq in range(1024)]


def flit_crc(flit, form="none", spid=0, dpid=0, vc=0, seq=0):
    """CRC of one flit in the form `pseudo`, `xor` or `none`."""
    value = crc(bytes(flit[:COVERED]))
    if form == "pseudo":
        return value ^ address_part(spid, dpid, vc) ^ SEQ_PART[seq]
    if form == "xor":
        return value ^ XOR_PART[seq]
    return value
