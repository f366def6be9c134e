# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""Reading and writing pcap (microsecond, nanosecond, both byte orders) and pcapng."""

import struct
from dataclasses import dataclass

ETHERNET = 1
USER0 = 147
SNAPLEN = 262144
MICRO, NANO = 0xA1B2C3D4, 0xA1B23C4D
SHB, IDB, OPB, SPB, EPB, NRB = 0x0A0D0D0A, 1, 2, 3, 6, 4
BYTE_ORDER = 0x1A2B3C4D


@dataclass
class Packet:
    time_ns: int
    data: bytes
    original: int = -1          # length on the wire; -1: that of data
    linktype: int = ETHERNET

    def wire_length(self):
        return len(self.data) if self.original < 0 else self.original


def write_pcap(path, packets, linktype=ETHERNET, nano=False, big=False):
    end = ">" if big else "<"
    unit = 1 if nano else 1000
    with open(path, "wb") as out:
        out.write(struct.pack(end + "IHHiIII", NANO if nano else MICRO, 2, 4, 0, 0, SNAPLEN,
                              linktype))
        for p in packets:
            out.write(struct.pack(end + "IIII", p.time_ns // 10**9, p.time_ns % 10**9 // unit,
                                  len(p.data), p.wire_length()))
            out.write(p.data)


def _block(end, kind, body):
    body += bytes(-len(body) % 4)
    length = struct.pack(end + "I", len(body) + 12)
    return struct.pack(end + "I", kind) + length + body + length


def write_pcapng(path, packets, linktype=ETHERNET, big=False):
    """One section, one interface with nanosecond stamps, and a block that readers must skip."""
    end = ">" if big else "<"
    tsresol = struct.pack(end + "HHB3xHH", 9, 1, 9, 0, 0)
    with open(path, "wb") as out:
        out.write(_block(end, SHB, struct.pack(end + "IHHq", BYTE_ORDER, 1, 0, -1)))
        out.write(_block(end, IDB, struct.pack(end + "HHI", linktype, 0, SNAPLEN) + tsresol))
        out.write(_block(end, NRB, struct.pack(end + "HH", 0, 0)))
        for p in packets:
            out.write(_block(end, EPB, struct.pack(
                end + "IIIII", 0, p.time_ns >> 32, p.time_ns & 0xFFFFFFFF, len(p.data),
                p.wire_length()) + p.data))


# Interfaces of every section of write_mixed(): link type, snaplen, if_tsresol, if_tsoffset.
MIXED = ((ETHERNET, SNAPLEN, 9, 0), (USER0, 65535, 6, 7), (228, 0, 0x80 + 20, -3),
         (ETHERNET, 0, 7, 0))


def _ticks(time_ns, resolution, offset):
    ns = time_ns - offset * 10**9
    if resolution & 0x80:
        return (ns << (resolution & 0x7F)) // 10**9
    return ns * 10**resolution // 10**9


def _mixed_packet(out, end, i, p):
    """Packet i of a mixed file: an enhanced, an obsolete or, where it may, a simple block."""
    number = [n for n, ifc in enumerate(MIXED) if ifc[0] == p.linktype][-(i // 3 % 2)]
    ticks = _ticks(p.time_ns, *MIXED[number][2:])
    rest = struct.pack(end + "IIII", ticks >> 32, ticks & 0xFFFFFFFF, len(p.data),
                       p.wire_length()) + p.data
    # A simple block says no length caught: what is longer than the snaplen would read as cut.
    if i % 3 == 0 and number == 0 and p.wire_length() == len(p.data) <= MIXED[0][1]:
        out.write(_block(end, SPB, struct.pack(end + "I", len(p.data)) + p.data))
    elif i % 3 == 1:
        out.write(_block(end, OPB, struct.pack(end + "HH", number, 0xFFFF) + rest))
    else:
        out.write(_block(end, EPB, struct.pack(end + "I", number) + rest))


def write_mixed(path, packets):
    """pcapng: sections of both byte orders, interfaces of several kinds, every packet block."""
    with open(path, "wb") as out:
        for i, p in enumerate(packets):
            end = "<>"[i // 7 % 2]
            if i % 7 == 0:
                out.write(_block(end, SHB, struct.pack(end + "IHHq", BYTE_ORDER, 1, 0, -1)))
                for linktype, snaplen, resolution, offset in MIXED:
                    out.write(_block(end, IDB, struct.pack(
                        end + "HHIHHB3xHHqHH", linktype, 0, snaplen, 9, 1, resolution, 14, 8,
                        offset, 0, 0)))
            _mixed_packet(out, end, i, p)


def _read_pcap(raw):
    magics = {struct.pack(e + "I", m): (e, m == NANO) for e in "<>" for m in (MICRO, NANO)}
    end, nano = magics[raw[:4]]
    linktype = struct.unpack_from(end + "I", raw, 20)[0] & 0x0FFFFFFF
    packets, at = [], 24
    while at < len(raw):
        if at + 16 > len(raw):
            return packets, True
        sec, frac, caught, original = struct.unpack_from(end + "IIII", raw, at)
        if at + 16 + caught > len(raw):
            return packets, True
        stamp = sec * 10**9 + frac * (1 if nano else 1000)
        packets.append(Packet(stamp, raw[at + 16:at + 16 + caught], original, linktype))
        at += 16 + caught
    return packets, False


def _interface(end, body):
    linktype, _, snaplen = struct.unpack_from(end + "HHI", body)
    resolution, offset, at = 6, 0, 8
    while at + 4 <= len(body):
        code, length = struct.unpack_from(end + "HH", body, at)
        if code == 0:
            break
        if code == 9:
            resolution = body[at + 4]
        if code == 14:
            offset = struct.unpack_from(end + "q", body, at + 4)[0]
        at += 4 + length + -length % 4
    return linktype, snaplen, resolution, offset


def _stamp(ticks, resolution, offset):
    per_s = 2 ** (resolution & 0x7F) if resolution & 0x80 else 10**resolution
    return min(max(ticks * 10**9 // per_s + offset * 10**9, 0), 2**64 - 1)


def _read_pcapng(raw):
    packets, interfaces, at, end = [], [], 0, "<"
    while at < len(raw):
        if at + 12 > len(raw):
            return packets, True
        if raw[at:at + 4] == struct.pack("<I", SHB):
            end = "<" if raw[at + 8:at + 12] == struct.pack("<I", BYTE_ORDER) else ">"
            interfaces = []
        kind, length = struct.unpack_from(end + "II", raw, at)
        if at + length > len(raw):
            return packets, True
        if length < 12 or length % 4:
            raise ValueError(f"block of {length} bytes at {at}")
        body = raw[at + 8:at + length - 4]
        if kind == IDB:
            interfaces.append(_interface(end, body))
        elif kind in (EPB, OPB):
            ifc = struct.unpack_from(end + ("I" if kind == EPB else "H"), body)[0]
            high, low, caught, original = struct.unpack_from(end + "IIII", body, 4)
            linktype, _, *clock = interfaces[ifc]
            packets.append(Packet(_stamp(high << 32 | low, *clock), body[20:20 + caught],
                                  original, linktype))
        elif kind == SPB:
            original = struct.unpack_from(end + "I", body)[0]
            linktype, snaplen, *_ = interfaces[0]
            packets.append(Packet(packets[-1].time_ns if packets else 0,
                                  body[4:4 + min(original, snaplen or original)], original,
                                  linktype))
        at += length
    return packets, False


def read(path):
    """(packets, truncated): truncated is True when the file ends inside a record."""
    with open(path, "rb") as src:
        raw = src.read()
    if raw[:4] == struct.pack("<I", SHB):
        return _read_pcapng(raw)
    if len(raw) < 24:
        raise ValueError(f"{path}: shorter than a pcap header")
    try:
        return _read_pcap(raw)
    except KeyError:
        raise ValueError(f"{path}: neither pcap nor pcapng") from None
