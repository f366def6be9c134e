# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""CDAT tables (fabric.md 5.1)."""

from weftmodel.cci import Layout, get, get_fields, number_or_bytes, put

HEADER = Layout("0:length[4] 4:revision 5:checksum 6:r[6] C:sequence[4] (16)")
BODIES = {
    0: ("DSMAS", Layout("0:handle 1:flags 2:r[2] 4:base[8] C:length[8] (20)")),
    1: ("DSLBIS", Layout("0:handle 1:flags 2:data_type 3:r 4:unit[8] C:entry0[2] E:entry1[2] "
                         "10:entry2[2] 12:r[2] (20)")),
    2: ("DSMSCIS", Layout("0:handle 1:r[3] 4:size[8] C:attributes[4] (16)")),
    3: ("DSIS", Layout("0:flags 1:handle 2:r[2] (4)")),
    4: ("DSEMTS", Layout("0:handle 1:type 2:r[2] 4:offset[8] C:length[8] (20)")),
    5: ("SSLBIS", Layout("0:data_type 1:r[3] 4:unit[8] (12)")),
}
PAIR = Layout("0:x[2] 2:y[2] 4:value[2] 6:r[2] (8)")
UPSTREAM, ANY = 0x100, 0xFFFF
READ_LATENCY, WRITE_LATENCY, READ_BANDWIDTH, WRITE_BANDWIDTH = 1, 2, 4, 5


class Malformed(Exception):
    pass


def need(condition, text):
    if not condition:
        raise Malformed(text)


def put_structure(number, pairs=(), **fields):
    body = put(BODIES[number][1], fields) + b"".join(put(PAIR, p) for p in pairs)
    return bytes([number, 0]) + (len(body) + 4).to_bytes(2, "little") + body


def put_table(structures, revision=1, sequence=0):
    """Byte 5 makes the sum of all bytes 0."""
    body = b"".join(structures)
    head = (16 + len(body)).to_bytes(4, "little") + bytes([revision, 0]) + bytes(6) + \
        sequence.to_bytes(4, "little")
    table = head + body
    return table[:5] + bytes([-sum(table) % 256]) + table[6:]


def get_structure(data):
    """(name, fields, pairs)"""
    need(data[0] in BODIES, "type")
    name, layout = BODIES[data[0]]
    need(len(data) - 4 == layout.fixed or
         data[0] == 5 and len(data) - 4 > layout.fixed and (len(data) - 4 - layout.fixed) % 8 == 0,
         f"length of {name}")
    rest = data[4 + layout.fixed:]
    return (name, get_fields(layout, data[4:4 + layout.fixed]),
            [get(PAIR, rest[i:i + 8]) for i in range(0, len(rest), 8)])


def get_table(data):
    """(header, structures)"""
    need(len(data) >= 16, "header")
    head = get(HEADER, data[:16])
    need(head["length"] == len(data), "length")
    need(sum(data) % 256 == 0, "checksum")
    out, at = [], 16
    while at < len(data):
        need(at + 4 <= len(data), "cut off")
        length = number_or_bytes(data[at + 2:at + 4])
        need(4 <= length <= len(data) - at, "length of a structure")
        out.append(get_structure(data[at:at + length]))
        at += length
    return head, out
