# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""Packets of Address Translation Services (ats.md 2, 3, 5.3, 5.4) as strings of bits.

A packet is laid out by a table of bit fields, first bit first. Ranges are found by looking at bits
one by one.
"""

PREFIX = 0x91
RESERVED = None

# Where the specification leaves open whether a packet is taken.
FREE = object()


class Malformed(Exception):
    pass


def _head(fmt, kind, attr="attr", at="at"):
    return [(1, RESERVED), (2, fmt), (5, kind), (1, RESERVED), (3, "tc"), (4, RESERVED),
            (1, "digest"), (1, "poisoned"), (2, attr), (2, at), (10, "length")]


_MEMORY = [(16, "requester"), (8, "tag"), (8, "enables"), (62, "address"), (2, RESERVED)]
_COMPLETION = [(16, "target"), (3, "status"), (1, RESERVED), (12, "byte_count"),
               (16, "requester"), (8, "tag"), (1, RESERVED), (7, "lower_addr")]

# Bits and field, from the first byte on; a number is fixed.
LAYOUTS = {
    "read": _head(1, 0) + _MEMORY,
    "write": _head(3, 0) + _MEMORY,
    "request": _head(1, 0, RESERVED, 1) + _MEMORY[:3] + [(62, "address"), (1, RESERVED),
                                                        (1, "no_write")],
    "cpl": _head(0, 0x0A, RESERVED, RESERVED) + _COMPLETION,
    "cpld": _head(2, 0x0A, RESERVED, RESERVED) + _COMPLETION,
    "invalidate": _head(3, 0x12, RESERVED, RESERVED) + [
        (16, "requester"), (3, RESERVED), (5, "itag"), (8, 1), (16, "target"), (48, RESERVED),
        (53, "range"), (10, RESERVED), (1, "global")],
    "invalidated": _head(1, 0x12, RESERVED, RESERVED) + [
        (16, "requester"), (8, RESERVED), (8, 2), (16, "target"), (13, RESERVED), (3, "cc"),
        (32, "itags")],
    "page": _head(1, 0x10, RESERVED, RESERVED) + [
        (16, "requester"), (8, "tag_unused"), (8, 4), (52, "page"), (9, "group"),
        (3, "page_bits")],
    "page_group": _head(1, 0x12, RESERVED, RESERVED) + [
        (16, "requester"), (8, "tag_unused"), (8, 5), (16, "target"), (4, "code"), (3, RESERVED),
        (9, "group"), (32, RESERVED)],
}
PREFIX_LAYOUT = [(8, PREFIX), (2, RESERVED), (1, "priv"), (1, "exec"), (20, "pasid")]
WITH_PASID = ("read", "write", "request", "invalidate", "page", "page_group")
STATUSES = (0, 1, 4)
MAX_PAYLOAD = 1023              # DWs; 1024 is written 0


def bits_of(layout):
    return sum(n for n, _ in layout)


def lay(layout, fields):
    value = 0
    for n, field in layout:
        if isinstance(field, str):
            field = fields.get(field, 0)
        value = value << n | (field or 0)
    return value.to_bytes(bits_of(layout) // 8, "big")


def read(layout, data):
    """Fields; None if a fixed one differs."""
    value, left, fields = int.from_bytes(data, "big"), bits_of(layout), {}
    for n, field in layout:
        left -= n
        part = value >> left & 2**n - 1
        if isinstance(field, str):
            fields[field] = part
        elif field is not None and field != part:
            return None
    return fields


# ---- ranges (3) --------------------------------------------------------------------------


def put_range(base, log2):
    """The word, with S in bit 11."""
    if not 12 <= log2 <= 64 or base % 2**log2 or not 0 <= base < 2**64:
        raise Malformed("range")
    if log2 == 12:
        return base
    return base + sum(1 << bit for bit in range(12, log2 - 1)) + 0x800


def get_range(word):
    """(base, log2)"""
    if not word & 0x800:
        return word & ~0xFFF, 12
    for bit in range(12, 64):
        if not word >> bit & 1:
            return word & ~(2**(bit + 1) - 1), bit + 1
    raise Malformed("every bit is 1")


# ---- packets -----------------------------------------------------------------------------


def encode(kind, fields):
    f = dict(fields)
    if kind == "request":
        f["enables"] = 0xFF
    if "addr" in f:
        f["address"], f["page"] = f["addr"] >> 2, f["addr"] >> 12
    if kind == "invalidate":
        f["length"] = 2
        f["range"] = put_range(f["addr"], f["log2"]) >> 11
    if kind == "invalidated":
        f["cc"] = f["count"] % 8
    out = lay(LAYOUTS[kind], f) + f.get("data", b"")
    return (lay(PREFIX_LAYOUT, f) if f.get("has_pasid") else b"") + out


def decode(data, rcb):
    """(kind, fields), or FREE; raises Malformed."""
    prefix = {}
    if data[:1] == bytes([PREFIX]):
        if len(data) < 4:
            raise Malformed("short")
        prefix = dict(read(PREFIX_LAYOUT, data[:4]), has_pasid=1)
        data = data[4:]
    for kind, layout in LAYOUTS.items():
        size = bits_of(layout) // 8
        fields = read(layout, data[:size]) if len(data) >= size else None
        if kind == "read" and fields and fields["at"] == 1 or fields is None:
            continue
        return _check(kind, fields, prefix, data[size:], rcb)
    raise Malformed("no such packet")


def _check(kind, f, prefix, rest, rcb):
    free = f.pop("digest")
    f.pop("tag_unused", 0)
    free |= bool(prefix) and kind not in WITH_PASID
    length = f["length"]
    if f.get("at") == 3:
        raise Malformed("AT")
    if kind == "request":
        if length % 2 or not 2 <= length <= rcb // 4:
            raise Malformed("length")
        free |= f.pop("enables") != 0xFF
    if kind == "write" and f["at"] == 1:
        free = True
    if kind in ("cpl", "cpld"):
        if f["status"] not in STATUSES:
            raise Malformed("status")
        free |= bool(length) if kind == "cpl" else bool(f["status"])
    if kind == "invalidate" and length != 2:
        raise Malformed("length")
    if kind in ("invalidated", "page", "page_group"):
        free |= bool(length)
    want = 4 * length if kind in ("write", "cpld", "invalidate") else 0
    if kind in ("write", "cpld", "read") and not length:
        free = True
    elif kind == "invalidate":
        want = 0                    # part of the layout
    if not free and len(rest) != want:
        raise Malformed("length")
    if "range" in f:
        f["addr"], f["log2"] = get_range(f.pop("range") << 11)
        del f["length"]
    if kind in ("write", "cpld"):
        f["data"] = rest
    if "address" in f:
        f["addr"] = f.pop("address") << 2
    if "page" in f:
        f["addr"] = f.pop("page") << 12
    if "cc" in f:
        f["count"] = f.pop("cc") or 8
    return FREE if free else (kind, {k: v for k, v in {**prefix, **f}.items() if v})


# ---- translations (2.4, 2.5) -------------------------------------------------------------


def classify(length, byte_count, lower_addr, rcb):
    size = 4 * length
    if byte_count > size:
        return "first"
    if byte_count < size:
        raise Malformed("byte count")
    return "second" if (lower_addr + byte_count) % rcb else "only"


BITS = 0x61F                        # N, CXL.io, Priv, Exe, U, W, R


def read_translations(data, rcb):
    """(class, [(PA, log2, bits), None without R and W]); the class is FREE if it is open whether
    the packet is taken."""
    got = decode(data, rcb)
    if got is FREE:
        return FREE, []
    kind, f = got
    if kind != "cpld":
        raise Malformed("kind")
    length = f["length"]
    if length % 2:
        raise Malformed("length")
    count = f.get("byte_count", 0)
    out = []
    if count:
        place = classify(length, count, f.get("lower_addr", 0), rcb)
    else:
        place = FREE                # 0 may stand for 4096
    for at in range(0, len(f["data"]), 8):
        word = int.from_bytes(f["data"][at:at + 8], "big")
        out.append((*get_range(word), word & BITS) if word & 3 else None)
    sizes = {t[1] for t in out if t}
    if len(sizes) > 1 or max(4 * length, count) > rcb or count % 8 or f.get("poisoned"):
        place = FREE
    return place, out


def answer(translations, first, part, f):
    """A packet that answers a Translation Request: part 0 only, 1 first, 2 second of two. None if
    there is none; FREE for different sizes, which an answer never has."""
    if len({t[1] for t in translations}) > 1:
        return FREE
    parts = {0: translations, 1: translations[:first], 2: translations[first:]}
    mine = parts[part]
    if not translations or not mine or part and not 0 < first < len(translations) \
            or len(translations) > 16 or any(pa % 2**log2 for pa, log2, _ in translations):
        return None
    data = b"".join((put_range(pa, log2) | bits).to_bytes(8, "big") for pa, log2, bits in mine)
    left = 8 * len(translations if part != 2 else mine)
    fields = {**f, "status": 0, "length": len(data) // 4, "byte_count": left, "data": data,
              "lower_addr": 0 if part == 2 else -len(data) % 128}
    return encode("cpld", fields)
