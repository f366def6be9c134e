#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""io_trace.py FILE: raw flits of rxl mode with CXL.io packets, as the model makes them."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "model"))

from weftmodel import crc, fec, flit, io, pcapio  # noqa: E402

COUNTS = {0x60: 20, 0x20: 30, 0x4A: 50}         # writes, reads, completions with data


def stream():
    out = b""
    for kind, count in COUNTS.items():
        for n in range(count):
            first = bytes([kind, 0, 0, n + 1])
            length, _ = io.head(first)
            out += io.on_wire(io.Packet(n, 0x200, 0, None, first + bytes([n]) * (length - 4)))
    return out + bytes(-len(out) % io.FLIT_ROOM)


def main():
    data, packets = stream(), []
    for n in range(len(data) // io.FLIT_ROOM):
        body = flit.header(1) + data[n * io.FLIT_ROOM:][:io.FLIT_ROOM] + b"\x31\0\0\0"
        body += crc.to_bytes(crc.flit_crc(body, "pseudo", 0, 0, 0, 1 + n))
        packets.append(pcapio.Packet(1000 * n, body + bytes(fec.encode(body))))
    pcapio.write_pcap(sys.argv[1], packets, linktype=147)


if __name__ == "__main__":
    main()
