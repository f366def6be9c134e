# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""Traces for replay_wire_test.sh: replay_wire.py FROM TO CHANGE [CHANGE...].

Each CHANGE is done to the list of frames of the pcap file FROM: "drop N", "twice N", "swap N" (with the
next), "byte N AT", "cut N LENGTH" (the frame gets shorter), "fill N LENGTH" (it gets zeros), "type N HEX"
(another EtherType), "end N" (no more than N frames). Frames count from 1. With "ways" TO is pcapng, in
which every third frame went out and the others came in; with "in" or "out" all did.
"""

import struct
import sys


def read(path):
    raw, at = open(path, "rb").read(), 24
    while at < len(raw):
        s, ns, n, _ = struct.unpack_from("<IIII", raw, at)
        yield [s * 10**9 + ns, raw[at + 16:at + 16 + n]]
        at += 16 + n


def change(frames, what, n=0, arg="0"):
    i = int(n) - 1
    if what == "drop":
        del frames[i]
    elif what == "twice":
        frames.insert(i, list(frames[i]))
    elif what == "swap":
        frames[i][1], frames[i + 1][1] = frames[i + 1][1], frames[i][1]
    elif what == "byte":
        b = bytearray(frames[i][1])
        b[int(arg)] ^= 0xFF
        frames[i][1] = bytes(b)
    elif what == "cut":
        frames[i][1] = frames[i][1][:int(arg)]
    elif what == "fill":
        frames[i][1] = frames[i][1].ljust(int(arg), b"\0")
    elif what == "type":
        frames[i][1] = frames[i][1][:12] + bytes.fromhex(arg) + frames[i][1][14:]
    elif what == "end":
        del frames[int(n):]
    else:
        sys.exit(f"no change is called {what}")


def block(kind, body):
    body += bytes(-len(body) % 4)
    n = struct.pack("<I", len(body) + 12)
    return struct.pack("<I", kind) + n + body + n


def pcapng(frames, way):
    out = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
    out += block(1, struct.pack("<HHIHHB3xI", 1, 0, 65535, 9, 1, 9, 0))
    for i, (ns, f) in enumerate(frames):
        flags = {"in": 1, "out": 2, "ways": 2 if i % 3 == 2 else 1}[way]
        padded = f + bytes(-len(f) % 4)
        out += block(6, struct.pack("<IIIII", 0, ns >> 32, ns & 0xFFFFFFFF, len(f), len(f)) + padded +
                     struct.pack("<HHII", 2, 4, flags, 0))
    return out


def pcap(frames):
    out = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 1)
    for ns, f in frames:
        out += struct.pack("<IIII", ns // 10**9, ns % 10**9, len(f), len(f)) + f
    return out


frames = list(read(sys.argv[1]))
way = None
for text in sys.argv[3:]:
    if text in ("in", "out", "ways"):
        way = text
    else:
        change(frames, *text.split())
with open(sys.argv[2], "wb") as f:
    f.write(pcapng(frames, way) if way else pcap(frames))
