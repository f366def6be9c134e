# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""Drawn payloads of CCI commands."""

from weftmodel import cci


def draw_number(rng, width):
    return rng.choice((0, 1, 2**(8 * width) - 1, 1 << rng.randrange(8 * width),
                       rng.randrange(2**(8 * width)), rng.randrange(2**(8 * width))))


def draw_field(rng, width):
    return rng.randbytes(width) if width >= 16 else draw_number(rng, width)


def draw_list(rng, item, room):
    most = room // item.width
    count = rng.choice((0, 1, min(2, most), rng.randint(0, min(most, 20)), most))
    if item.entry is bytes:
        return rng.randbytes(count)
    return [draw(rng, item.entry) if item.entry else draw_number(rng, item.width)
            for _ in range(count)]


def draw(rng, layout, longest=cci.MAX_PAYLOAD):
    """Values for every field of a payload; the count is right."""
    values = {}
    for f in layout.fields if layout else []:
        if isinstance(f, cci.List):
            most = longest - layout.fixed
            if f.count:
                width = next(g.width for g in layout.fields if g.name == f.count)
                most = min(most, (2**(8 * width) - 1) * f.width)
            values[f.name] = draw_list(rng, f, most)
            if f.count:
                values[f.count] = len(values[f.name])
        elif f.name != "r":
            values[f.name] = draw_field(rng, f.width)
    return values


# ---- lines for cci_script ------------------------------------------------------------------


def value_text(value):
    return value.hex() if isinstance(value, bytes) else str(value)


def list_text(item, value):
    if item.entry is bytes:
        return value.hex()
    if item.entry is None:
        return "[" + ",".join(map(str, value)) + "]"
    return "[" + ",".join(":".join(value_text(entry[name]) for name in item.entry.names())
                          for entry in value) + "]"


def text(layout, values):
    return " ".join(f.name + "=" + (list_text(f, values[f.name]) if isinstance(f, cci.List)
                                    else value_text(values[f.name]))
                    for f in layout.fields if f.name != "r")


def got(layout, data):
    """The answers allowed for "get" of these bytes."""
    try:
        return (text(layout, cci.get(layout, data)) if layout else "",) if layout or not data \
            else ("error EMSGSIZE",)
    except cci.Malformed as e:
        if layout.list and layout.list.count is None and len(data) > layout.fixed:
            return ("error EMSGSIZE", "error EINVAL")   # a piece of an entry at the end
        return (f"error {e}",)


class Lines:
    """[(line, answers allowed)] of one payload"""

    def __init__(self, rng, what, layout):
        self.rng, self.what, self.layout, self.lines = rng, what, layout, []

    def say(self, verb, rest, *allowed):
        self.lines.append((f"{verb} {self.what} {rest}".rstrip(), allowed))

    def draw(self, count):
        for _ in range(count):
            values = draw(self.rng, self.layout)
            data = cci.put(self.layout, values)
            self.say("put", text(self.layout, values) if self.layout else "", data.hex())
            dirty = cci.put(self.layout, values, self.rng.randbytes)
            self.say("get", dirty.hex(), *got(self.layout, dirty))
            self.wrong(data)
        self.lengths()

    def wrong(self, data):
        """Cut, longer, or with another count."""
        rng, layout = self.rng, self.layout
        cut = data[:rng.randint(0, len(data))]
        more = data + rng.randbytes(rng.choice((1, 2, 40, rng.randint(1, 60))))
        for bad in (cut, more[:cci.MAX_PAYLOAD]):
            self.say("get", bad.hex(), *got(layout, bad))
        if layout and layout.list and layout.list.count:
            at = layout.offsets[layout.list.count]
            bad = data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1:]
            self.say("get", bad.hex(), *got(layout, bad))

    def lengths(self):
        """Every length of zeros, to one beyond two entries."""
        layout = self.layout
        most = layout.fixed + (2 * layout.list.width if layout.list else 0) if layout else 0
        for length in range(most + 2):
            self.say("get", bytes(length).hex(), *got(layout, bytes(length)))


def vectors(rng):
    """Lines of test/vectors/cci.txt."""
    yield "# message bytes header: a whole message"
    yield "# both req|rsp opcode bytes text: a payload, there and back; bytes - for none. The text is"
    yield "# fields in wire order; lists [1,2] or [a:b,a:b]; 16 bytes or more, lists of bytes in hex"
    yield "# entry name bytes text: the same of what stands by itself"
    yield "# read req|rsp opcode bytes text: reserved bytes are not 0"
    yield "# bad req|rsp opcode bytes: its length is wrong, or a count"
    for response, opcode, payload in ((0, 0x0001, b""), (1, 0x0001, bytes(range(18))),
                                      (1, 0x5706, b""), (0, 0xC123, bytes(300))):
        h = cci.Header(response, int(response and opcode == 0x5706), 0x5A, opcode, len(payload),
                       int(response and opcode == 0x5706), 0xABCD * (1 - response))
        yield f"message {(cci.put_header(h) + payload).hex()} {header_text(h)}"
    for what, layout in payloads():
        verb, name = what.split()
        head = f"entry {name}" if verb == "entry" else f"both {what}"
        for _ in range(2):
            values = draw(rng, layout, short(layout))
            data = cci.put(layout, values)
            yield f"{head} {data.hex() or '-'} {text(layout, values) if layout else ''}".rstrip()
        if verb == "entry" or layout and layout.list and layout.list[1:3] == (None, 1):
            continue                        # the length of the last is never wrong
        if layout and "r" in (f.name for f in layout.fields):
            dirty = cci.put(layout, values, lambda n: b"\xFF" * n)
            yield f"read {what} {dirty.hex()} {text(layout, values)}"
        yield f"bad {what} {(data + bytes(1)).hex()}"
        if data:
            yield f"bad {what} {data[:-1].hex() or '-'}"


def short(layout):
    """Bytes of a payload with two or three entries."""
    item = layout.list if layout else None
    return (layout.fixed + (3 * item.width if item.width > 1 else 20)) if item else cci.MAX_PAYLOAD


def header_text(h):
    return " ".join(f"{name}={value}" for name, value in h._asdict().items())


def payloads():
    """[("req 5709" and so on, layout)], and entries that stand by themselves."""
    return [(f"{side} {op:04x}", layout)
            for side, layouts in (("req", cci.REQUEST), ("rsp", cci.RESPONSE))
            for op, layout in layouts.items()] + \
        [(f"entry {name}", cci.entry_layout(name)) for name in ("record", "lpi_vdm")]


def header_lines(rng, count):
    out = []
    for _ in range(count):
        data = rng.randbytes(rng.choice((12, 12, 12, 13, 40, rng.randrange(12))))
        if data and rng.randrange(4):
            data = bytes([data[0] & 0xF1]) + data[1:]
        if len(data) < cci.HEADER:
            want = "error EMSGSIZE"
        elif data[0] & 15 > 1:
            want = "error EINVAL"
        else:
            want = header_text(cci.get_header(data))
        out.append((f"hdr {data.hex()}".rstrip(), (want,)))
    return out


def scripts(rng, cases):
    """(name, [(line, answers allowed)]) of each payload, of entries, of headers"""
    whats = payloads()
    each = max(1, cases // len(whats))
    for what, layout in whats:
        lines = Lines(rng, what, layout)
        lines.draw(each)
        yield what, lines.lines
    yield "hdr", header_lines(rng, max(20, each))
