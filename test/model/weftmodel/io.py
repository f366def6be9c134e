# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""CXL.io packets on a link of PBR or HBR form, and in flits (wire-formats.md 1.1, 6; decisions of doc/io.md).

A packet is a string of bits; a stream is all of its bytes, read from the start every time.
"""

from collections import namedtuple

FLIT_ROOM = 236
MOST_PAYLOAD = 256
MOST = 16 + MOST_PAYLOAD

POSTED, REQUEST, COMPLETION = range(3)

# Fmt (2 bits), Type (5 bits) and class.
KNOWN = {("01", "00000"): REQUEST, ("11", "00000"): POSTED,
         ("00", "01010"): COMPLETION, ("10", "01010"): COMPLETION,
         ("01", "00010"): REQUEST, ("11", "00010"): REQUEST,            # UIO
         ("00", "01111"): COMPLETION, ("10", "01111"): COMPLETION}
for _route in ("10000", "10010", "10100"):
    KNOWN["01", _route] = KNOWN["11", _route] = POSTED

Packet = namedtuple("Packet", "spid dpid bits prefix tlp")      # bits: Hie, DSAR, PIF


def bits_of(data):
    return "".join(f"{byte:08b}" for byte in data)


def bytes_of(bits):
    return bytes(int(bits[i:i + 8], 2) for i in range(0, len(bits), 8))


class Malformed(Exception):
    pass


class Unfinished(Exception):
    pass


def head(data):
    """(length of a TLP, class) by its first bytes."""
    skip = 4 if data[:1] == b"\x91" else 0
    if len(data) < skip + 4:
        raise Unfinished
    bits = bits_of(data[skip:skip + 4])
    fmt, kind = bits[1:3], bits[3:8]
    if bits[0] == "1" or (fmt, kind) not in KNOWN:
        raise Malformed("header not known")
    length = skip + (16 if fmt[1] == "1" else 12)
    if fmt[0] == "1":
        payload = 4 * (int(bits[22:32], 2) or 1024)
        if payload > MOST_PAYLOAD:
            raise Malformed("payload too long")
        length += payload
    if bits[16] == "1":
        length += 4                                             # digest
    if length > MOST:
        raise Malformed("too long")
    return length, KNOWN[fmt, kind]


def is_good(packet):
    if max(packet.spid, packet.dpid, packet.prefix or 0) > 0xFFF or len(packet.tlp) > MOST:
        return False
    try:
        return head(packet.tlp)[0] == len(packet.tlp)
    except (Malformed, Unfinished):
        return False


def on_wire(packet, form="pbr"):
    out = b""
    if packet.prefix is not None:
        out = bytes_of("10" + "001110" + f"{packet.prefix:012b}" + "0" * 12)
    if form == "hbr":                                           # no PTH: nobody is named
        return out + packet.tlp
    hie, dsar, pif = f"{packet.bits:03b}"
    out += bytes_of("11" + "000" + hie + dsar + pif + f"{packet.spid:012b}{packet.dpid:012b}")
    return out + packet.tlp


def packets(stream, form="pbr"):
    """Whole packets of a stream of whole DWs, and whether it is malformed behind them."""
    found, at = [], 0
    try:
        while at < len(stream):
            at, packet = one(stream, at, form)
            if packet:
                found.append(packet)
    except Unfinished:
        return found, False
    except Malformed:
        return found, True
    return found, False


def one(stream, at, form):
    """What begins at a DW: (where it ends, a packet or None)."""
    prefix, prefixed = None, False
    while True:
        dw = stream[at:at + 4]
        if not dw:
            raise Unfinished
        at += 4
        bits = bits_of(dw)
        if dw[0] == 0:
            if prefixed:
                raise Malformed("NOP")
            return at, None
        if bits[:8] not in ("10001101", "10001110", "10001111"):
            if form == "hbr":
                at -= 4                                         # the TLP itself
                break
            if bits[:2] == "01":
                continue
            if bits[:2] == "11":
                break
            raise Malformed("neither NOP nor prefix")
        prefixed = True
        if bits[2:8] == "001110":
            if prefix is not None:
                raise Malformed("prefix twice")
            prefix = int(bits[8:20], 2)
    length, _ = head(stream[at:at + 8])
    if len(stream) < at + length:
        raise Unfinished
    pth = (0, 0, 0) if form == "hbr" else (int(bits[8:20], 2), int(bits[20:32], 2), int(bits[5:8], 2))
    packet = Packet(*pth, prefix, stream[at:at + length])
    return at + length, packet


def update(kind, total):
    """UpdateFC: type, VC 0, HdrFC, DataFC."""
    return bytes_of("10" + f"{kind:02b}" + "0000" + "00" + f"{total:08b}" + "00" + "0" * 12)


def credit(dllp):
    bits = bits_of(dllp)
    if bits[:2] != "10" or bits[2:4] == "11" or bits[4:8] != "0000":
        return None
    return int(bits[2:4], 2), int(bits[10:18], 2)
