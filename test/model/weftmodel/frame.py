# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""The Ethernet frame that carries flits (encapsulation.md 2): building one, and judging one."""

from dataclasses import dataclass

ETHERTYPE = 0x88B5
HEADER = 32
FLIT = 256
MAX_FLITS = 64
CXL, RXL = 0, 1
HBR, PBR = 0, 1
CXL_ID = 0xFFF


def _t10_table():
    table = []
    for byte in range(256):
        reg = byte << 8
        for _ in range(8):
            reg = (reg << 1) ^ (0x8BB7 if reg & 0x8000 else 0)
        table.append(reg & 0xFFFF)
    return table


_T10 = _t10_table()


def t10dif(data):
    """CRC-16/T10-DIF: polynomial 8BB7, initial value 0, not reflected."""
    reg = 0
    for byte in data:
        reg = (reg << 8 & 0xFFFF) ^ _T10[reg >> 8 ^ byte]
    return reg


@dataclass
class Frame:
    """What an accepted kind 0 frame says."""
    mode: int
    source: bytes
    vc: int
    spid: int
    dpid: int
    session: int
    flits: list
    form: int = HBR     # of messages; rxl, where they are PBR: 0


def with_check(header16):
    return bytes(header16) + t10dif(header16).to_bytes(2, "big")


def build(flits, mode=RXL, spid=CXL_ID, dpid=CXL_ID, vc=0, session=0, clock=0,
          source=bytes(6), target=bytes(6), form=HBR):
    """A kind 0 frame around whole flits."""
    header = (bytes([0x10, mode | form << 1, len(flits), vc]) + spid.to_bytes(2, "big")
              + dpid.to_bytes(2, "big") + session.to_bytes(4, "big") + clock.to_bytes(4, "big"))
    return target + source + ETHERTYPE.to_bytes(2, "big") + with_check(header) + b"".join(flits)


def parse(packet, want_mode=None):
    """A Frame, or the name of the first check that failed."""
    if len(packet) < 14:
        return "runt"
    if packet[12:14] != ETHERTYPE.to_bytes(2, "big"):
        return "ethertype"
    if len(packet) < HEADER:
        return "runt"
    h = packet[14:HEADER]
    kind, mode, form, count, vc = h[0] & 15, h[1] & 1, h[1] >> 1, h[2], h[3]
    spid, dpid = int.from_bytes(h[4:6], "big"), int.from_bytes(h[6:8], "big")
    if h[0] >> 4 != 1:
        return "version"
    if kind > 1:
        return "kind"
    if h[1] > 2:
        return "flags"
    if t10dif(h[:16]) != int.from_bytes(h[16:18], "big"):
        return "header_check"
    if (kind == 0 and not 1 <= count <= MAX_FLITS) or (kind == 1 and count != 0):
        return "count"
    if vc & 0xF8:
        return "vc"
    if (spid | dpid) & 0xF000 or (mode == CXL and (spid, dpid) != (CXL_ID, CXL_ID)):
        return "id"
    if kind == 0 and len(packet) != HEADER + FLIT * count:
        return "length"
    if want_mode is not None and mode != want_mode:
        return "mode"
    if kind == 1:
        return "control"
    flits = [packet[HEADER + FLIT * i:HEADER + FLIT * (i + 1)] for i in range(count)]
    return Frame(mode, packet[6:12], vc, spid, dpid, int.from_bytes(h[8:12], "big"), flits, form)
