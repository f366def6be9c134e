# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""CCI messages (fabric.md 4.1), the payloads of cci_layouts, and event records (4.5).

Values: numbers; bytes for 16 bytes or more and for lists of bytes; lists of numbers or of
dictionaries.
"""

import re
from collections import namedtuple
from uuid import UUID

from weftmodel.cci_layouts import COMMANDS, ENTRIES

HEADER = 12
MAX_PAYLOAD = 1024
CEL = UUID("0da9c0b5-bf41-4b78-8f79-96b1623b3f17").bytes
EVENTS = {
    "physical switch": UUID("77cf9271-9c02-470b-9fe4-bc7b75f2da97").bytes,
    "virtual switch": UUID("40d26425-3396-4c4d-a5da-3d47263af425").bytes,
    "mld port": UUID("8dc44363-0c96-4710-b7bf-04bb99534c3f").bytes,
    "dynamic capacity": UUID("ca95afa7-f183-4018-8c2f-95268e101a2a").bytes,
}

(SUCCESS, BACKGROUND_STARTED, INVALID_INPUT, UNSUPPORTED, INTERNAL_ERROR, RETRY_REQUIRED,
 BUSY) = range(7)
INVALID_PAYLOAD_LENGTH, INVALID_LOG = 0x16, 0x17
RESOURCES_EXHAUSTED, INVALID_EXTENT_LIST = 0x1D, 0x1E

Header = namedtuple("Header", "response background tag opcode len rc ext")
Field = namedtuple("Field", "name width")
List = namedtuple("List", "name count width entry")     # count: a field's name, None: to the end


class Malformed(Exception):
    """name: "EMSGSIZE", the fixed part is not there, or something follows it; "EINVAL", a count and
    the length disagree."""


def need(condition, name):
    if not condition:
        raise Malformed(name)


# ---- layouts -----------------------------------------------------------------------------


def entry_layout(name):
    return Layout(ENTRIES[name])


class Layout:
    """fields in order; fixed: bytes of all but the list, which is the last but for fields behind
    it; offsets: where the fields in front of the list are."""

    def __init__(self, text):
        self.fields, self.list, self.offsets = [], None, {}
        at, total = 0, None
        for word in re.findall(r"\S+\[[^\]]*\]|\S+", text):
            if word.startswith("("):
                total = int(word[1:-1])
                continue
            m = re.fullmatch(r"(?:([0-9A-F]+):|\+)(\w+)(?:\[([^\]]*)\])?", word)
            offset, name, size = m.groups()
            assert (offset is None) == bool(self.list), f"{word}: in the wrong place"
            assert offset is None or int(offset, 16) == at, f"{text}: {word} is at {at:X}"
            if size and "*" in size:
                self.list = self._list(name, size)
                self.fields.append(self.list)
                continue
            width = int(size or "1")
            if offset is not None:
                self.offsets[name] = at
            self.fields.append(Field(name, width))
            at += width
        self.fixed = at
        assert total is None or (total == at and not self.list), f"{text}: {at} bytes"

    @staticmethod
    def _list(name, size):
        count, _, what = size.partition("*")
        if what.startswith("20 "):
            what = what[3:]
        if what in ENTRIES:
            entry = entry_layout(what)
            return List(name, count or None, entry.fixed, entry)
        return List(name, count or None, int(what or "1"), None if what else bytes)

    def names(self):
        return [f.name for f in self.fields if f.name != "r"]


def number_or_bytes(data):
    return bytes(data) if len(data) >= 16 else int.from_bytes(data, "little")


def _get_list(item, data):
    if item.entry is bytes:
        return bytes(data)
    parts = [data[i:i + item.width] for i in range(0, len(data), item.width)]
    if item.entry:
        return [get_fields(item.entry, part) for part in parts]
    return [int.from_bytes(part, "little") for part in parts]


def get_fields(layout, data):
    """data has the right length."""
    out, at = {}, 0
    for f in layout.fields:
        width = len(data) - layout.fixed if isinstance(f, List) else f.width
        part, at = data[at:at + width], at + width
        if isinstance(f, List):
            out[f.name] = _get_list(f, part)
        elif f.name != "r":
            out[f.name] = number_or_bytes(part)
    return out


def get(layout, data, padded=False):
    """The fields of a payload. padded: what is missing of the fixed part reads as 0 (4.1)."""
    if layout is None:
        need(not data, "EMSGSIZE")
        return {}
    if padded and len(data) < layout.fixed:
        data = data + bytes(layout.fixed - len(data))
    need(len(data) >= layout.fixed, "EMSGSIZE")
    if not layout.list:
        need(len(data) == layout.fixed, "EMSGSIZE")
    elif layout.list.count is None:
        need((len(data) - layout.fixed) % layout.list.width == 0, "EINVAL")
    else:
        at = layout.offsets[layout.list.count]
        width = next(f.width for f in layout.fields if f.name == layout.list.count)
        count = int.from_bytes(data[at:at + width], "little")
        need(len(data) - layout.fixed == count * layout.list.width, "EINVAL")
    return get_fields(layout, data)


def _put_value(width, value):
    if isinstance(value, bytes):
        assert len(value) == width
        return value
    return value.to_bytes(width, "little")


def put(layout, values, reserved=bytes):
    """The payload; a count that is not among the values is that of the list. reserved(n): what
    stands in n reserved bytes."""
    out = b""
    if layout is None:
        return out
    values = dict(values)
    if layout.list and layout.list.count:
        values.setdefault(layout.list.count, len(values[layout.list.name]))
    for f in layout.fields:
        if f.name == "r":
            out += reserved(f.width)
        elif not isinstance(f, List):
            out += _put_value(f.width, values[f.name])
        elif f.entry is bytes:
            out += values[f.name]
        elif f.entry:
            out += b"".join(put(f.entry, entry, reserved) for entry in values[f.name])
        else:
            out += b"".join(_put_value(f.width, entry) for entry in values[f.name])
    return out


REQUEST, RESPONSE = ({op: Layout(row[side]) if row[side] else None for op, row in COMMANDS.items()}
                     for side in (1, 2))
RECORD = entry_layout("record")


# ---- messages ----------------------------------------------------------------------------


def put_header(h):
    assert h.len < 2**21
    return (bytes([1 if h.response else 0, h.tag, 0]) + h.opcode.to_bytes(2, "little") +
            (h.len | bool(h.background) << 23).to_bytes(3, "little") +
            h.rc.to_bytes(2, "little") + h.ext.to_bytes(2, "little"))


def get_header(data):
    need(len(data) >= HEADER, "EMSGSIZE")
    word = int.from_bytes(data[5:8], "little")
    return Header(data[0] & 15, word >> 23, data[1], int.from_bytes(data[3:5], "little"),
                  word & 0x1FFFFF, int.from_bytes(data[8:10], "little"),
                  int.from_bytes(data[10:12], "little"))


def request(opcode, payload=b"", tag=0):
    return put_header(Header(0, 0, tag, opcode, len(payload), 0, 0)) + payload


def ask(opcode, tag=0, /, **values):
    """A request of these values, fields that are left out being 0."""
    return request(opcode, put_request(opcode, **values), tag)


def put_request(opcode, /, **values):
    layout = REQUEST[opcode]
    for f in layout.fields if layout else []:
        if not isinstance(f, List) and f.name != "r" and not (
                layout.list and f.name == layout.list.count):
            values.setdefault(f.name, bytes(f.width) if f.width >= 16 else 0)
    return put(layout, values)


def response(to, rc, payload=b"", background=0):
    h = get_header(to)
    return put_header(Header(1, background, h.tag, h.opcode, len(payload), rc, 0)) + payload


# ---- events ------------------------------------------------------------------------------


def event(kind, data, handle=0, time=0):
    """A record of one of EVENTS."""
    assert len(data) <= 80
    return put(RECORD, {"uuid": EVENTS[kind], "length": 128, "flags": 0, "handle": handle,
                        "related": 0, "ts": time, "maintenance": 0, "ld": 0, "head": 0,
                        "data": data.ljust(80, b"\0")})


def port_event(port, what, block, handle=0, time=0):
    """Something became of a port. what: 0 link state, 1 slot; block as in 5101h. That its device
    type is at 38h, LTSSM at 3Fh and flags at 41h puts the block at 34h; its port is at 30h."""
    return event("physical switch", bytes([port, what, 0, 0, 0]) + block[1:], handle, time)


def binding_event(vcs, vppb, status, port, ld, handle=0, time=0):
    return event("virtual switch", bytes([vcs, vppb, 0, status, port, ld]), handle, time)
