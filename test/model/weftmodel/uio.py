# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""UIO packets and memory that answers them (ats.md 2.1 to 2.4; decisions of doc/uio.md).

A packet is a string of bits, read field by field from the first one on.
"""

from weftmodel.io import bits_of, bytes_of

READ, WRITE, CPL, CPLD = range(4)
SUCCESS, UNSUPPORTED, ABORT = 0, 1, 4
TYPES = {READ: "0100010", WRITE: "1100010", CPL: "0001111", CPLD: "1001111"}
HEAD = [("reserved", 1), ("type", 7), ("tag9", 1), ("tc", 3), ("tag8", 1), ("reserved", 3),
        ("digest", 1), ("poison", 1), ("attr", 2), ("at", 2), ("dws", 10)]
REQUEST = HEAD + [("requester", 16), ("tag", 8), ("last", 4), ("first", 4), ("address", 62),
                  ("reserved", 2)]
COMPLETION = HEAD + [("completer", 16), ("status", 3), ("modified", 1), ("left", 12),
                     ("requester", 16), ("tag", 8), ("reserved", 1), ("lower", 7)]


class Malformed(Exception):
    pass


class Foreign(Exception):
    pass


def decode(data):
    """The fields of a packet, as numbers, and "kind" and "data"."""
    bits = bits_of(data)
    kinds = [k for k, text in TYPES.items() if bits[:8] == "0" + text]
    if not kinds:
        raise Foreign
    kind, fields, at = kinds[0], {}, 0
    layout = REQUEST if kind in (READ, WRITE) else COMPLETION
    if len(bits) < sum(n for _, n in layout):
        raise Malformed
    for name, n in layout:
        fields[name] = int(bits[at:at + n], 2)
        at += n
    length = 4 * (fields["dws"] or 1024)
    rest = data[at // 8:]
    fields.update(kind=kind, len=0 if kind == CPL else length, data=rest,
                  tag=fields["tag9"] << 9 | fields["tag8"] << 8 | fields["tag"])
    if fields["digest"] or len(rest) != (length if kind in (WRITE, CPLD) else 0):
        raise Malformed
    if kind in (READ, WRITE):
        fields["addr"] = fields["address"] << 2
        if length > 256 or fields["addr"] // 4096 != (fields["addr"] + length - 1) // 4096:
            raise Malformed
        if (fields["first"], fields["last"]) != (15, 15 if length > 4 else 0):
            raise Malformed
        if fields["at"] not in (0, 2):
            raise Malformed
    else:
        if fields["status"] not in (SUCCESS, UNSUPPORTED, ABORT) or fields["left"] > 256:
            raise Malformed
        if kind == CPLD and (fields["status"] or length > fields["left"] or fields["lower"] % 4):
            raise Malformed
    return fields


def completion(request, status, left, data=b"", addr=0, poison=False):
    tag = f"{request['tag']:010b}"
    bits = "0" + TYPES[CPLD if data else CPL] + tag[0] + "000" + tag[1] + "000"
    bits += "0" + str(int(poison)) + "00" + "00" + f"{len(data) // 4:010b}"
    bits += f"{0:016b}{status:03b}0{left:012b}{request['requester']:016b}{tag[2:]}"
    bits += "0" + f"{addr % 128 if data else 0:07b}"
    return bytes_of(bits) + data


class Memory:
    def __init__(self, base, length, split):
        self.base, self.split = base, split
        self.bytes = bytearray(length)
        self.bad = [False] * -(-length // 64)

    def answer(self, data):
        """Completions, in order; none for what is no good request."""
        try:
            r = decode(data)
        except (Malformed, Foreign):
            return None
        if r["kind"] not in (READ, WRITE):
            return None
        at, length = r["addr"] - self.base, r["len"]
        whole = length if r["kind"] == READ else 0
        if not 0 <= at < len(self.bytes):
            return [completion(r, UNSUPPORTED, whole)]
        if at + length > len(self.bytes):
            return [completion(r, ABORT, whole)]
        lines = sorted({(at + i) // 64 for i in range(length)})
        if r["kind"] == WRITE:
            self.bytes[at:at + length] = r["data"]
            for line in lines:
                if r["poison"]:
                    self.bad[line] = True
                elif all(at <= line * 64 + i < at + length for i in range(64)):
                    self.bad[line] = False
            return [completion(r, SUCCESS, 0)]
        out, start = [], 0
        poison = any(self.bad[line] for line in lines)
        for i in range(1, length + 1):
            if i == length or (r["addr"] + i) % self.split == 0:
                out.append(completion(r, SUCCESS, length - start, bytes(self.bytes[at + start:at + i]),
                                      r["addr"] + start, poison))
                start = i
        return out
