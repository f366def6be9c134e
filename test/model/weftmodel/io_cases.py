# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""Scripts for io_script, with the answers of the model: every first byte, every length, every place
to cut a packet in two, and streams at random, good and damaged."""

import random

from weftmodel import io
from weftmodel.script import Batch

TYPES = [int("0" + fmt + kind, 2) for fmt, kind in io.KNOWN]


def text_of(packet):
    prefix = "-" if packet.prefix is None else f"{packet.prefix:x}"
    return f"{packet.spid:x},{packet.dpid:x},{packet.bits:x},{prefix},{packet.tlp.hex()}"


class Scene(Batch):
    def __init__(self, seed):
        super().__init__()
        self.rng = random.Random(seed)
        self.form = "pbr"

    def use(self, form):
        self.form = form
        self.exact(f"form {form}", "ok")
        return self

    def on_wire(self, packet):
        return io.on_wire(packet, self.form)

    def exact(self, line, want):
        self.say_judged(line, lambda got: got == want, want)

    def head(self, data):
        try:
            want = "{:x} {:x}".format(*io.head(data))
        except (io.Malformed, io.Unfinished):
            want = "none"
        self.exact(f"head {data.hex()}", want)

    def packet(self, kind=None, dws=None):
        rng = self.rng
        kind = rng.choice(TYPES) if kind is None else kind
        dws = rng.randint(1, 64) if dws is None else dws
        pasid = b"\x91" + rng.randbytes(3) if rng.random() < 0.2 and dws < 60 else b""
        digest = 0x80 if rng.random() < 0.1 and dws < 60 else 0
        first = bytes([kind, rng.getrandbits(8), digest | rng.getrandbits(3) << 2, dws])
        length, _ = io.head(pasid + first)
        tlp = pasid + first
        return io.Packet(rng.getrandbits(12), rng.getrandbits(12), rng.getrandbits(3),
                         rng.getrandbits(12) if rng.random() < 0.3 else None,
                         tlp + rng.randbytes(length - len(tlp)))

    def pack(self, items):
        """Fill flits with items: packets, and None to end a flit. Returns the stream."""
        stream, flit, waits = b"", b"", b""

        def begin():
            nonlocal flit, waits
            self.exact("begin", "ok")
            flit, waits = waits[:io.FLIT_ROOM], waits[io.FLIT_ROOM:]

        def end():
            nonlocal stream
            data = flit + bytes(io.FLIT_ROOM - len(flit))
            self.exact("end", f"{data.hex()} {int(bool(waits))}")
            stream += data
        begin()
        for item in items:
            if item is None:
                end()
                begin()
                continue
            if not io.is_good(item):
                self.exact(f"put {text_of(item)}", "bad")
                continue
            while len(flit) == io.FLIT_ROOM:
                self.exact(f"put {text_of(item)}", "full")
                end()
                begin()
            self.exact(f"put {text_of(item)}", "ok")
            flit += self.on_wire(item)
            flit, waits = flit[:io.FLIT_ROOM], flit[io.FLIT_ROOM:]
        end()
        while waits:
            begin()
            end()
        return stream

    def take(self, stream):
        self.exact("new", "ok")
        done, broken = 0, False
        for end in range(io.FLIT_ROOM, len(stream) + 1, io.FLIT_ROOM):
            if not broken:
                found, broken = io.packets(stream[:end], self.form)
            words = [text_of(p) for p in found[done:]] + ["bad" if broken else "ok"]
            done = len(found)
            self.exact(f"take {stream[end - io.FLIT_ROOM:end].hex()}", " ".join(words))


def vectors(seed):
    """fabric.md 2.3, and what the model reads."""
    s = Scene(seed)
    read = bytes([0x20]) + bytes(15)
    for packet, pth in ((io.Packet(0xA01, 0xB01, 6, None, read), "c6a01b01"),
                        (io.Packet(0x011, 0x201, 1, None, read), "c1011201")):
        assert io.on_wire(packet)[:4].hex() == pth
        s.exact("begin", "ok")
        s.exact(f"put {text_of(packet)}", "ok")
        s.exact("end", f"{pth}{read.hex()}{bytes(216).hex()} 0")
    prefixed = io.Packet(1, 2, 0, 0x123, read)
    assert io.on_wire(prefixed)[:4].hex() == "8e123000"
    s.pack([prefixed])
    return s


def heads(seed):
    """Every first byte, with every length; a PASID prefix; too few bytes."""
    s = Scene(seed)
    for byte in range(256):
        for length in (0, 1, 2, 63, 64, 65, 128, 1023):
            for flags in (0, 0x80):
                first = bytes([byte, 0, flags | length >> 8, length & 0xFF])
                s.head(first)
                s.head(b"\x91\0\0\1" + first)
    for kind in TYPES:
        for length in range(1024):
            s.head(bytes([kind, 0x70, 0x7C | length >> 8, length & 0xFF]))
        for have in range(1, 9):
            s.head((b"\x91\0\0\1" + bytes([kind, 0, 0, 1]))[:have])
            s.head(bytes([kind, 0, 0, 1, 0, 0, 0, 0])[:have])
    return s


def dllps(seed):
    s = Scene(seed)
    for kind in range(3):
        for total in range(256):
            s.exact(f"update {kind:x} {total:x}", io.update(kind, total).hex())
    for first in range(256):
        for _ in range(4):
            dllp = bytes([first]) + s.rng.randbytes(3)
            got = io.credit(dllp)
            s.exact(f"credit {dllp.hex()}", "none" if got is None else "{:x} {:x}".format(*got))
    return s


def grammar(seed):
    """Every first byte before a PTH, behind a prefix, behind a PTH; in HBR form there is no PTH."""
    s = Scene(seed)
    for form in "pbr", "hbr":
        good = s.use(form).on_wire(s.packet(0x20))
        for byte in range(256):
            for before in (b"", b"\x8e\x12\x30\0", b"\x8d\0\0\0", b"\xc0\0\0\0", b"\xc0\0\0\0\x91\0\0\0",
                           b"\x91\0\0\0", b"\x8e\x12\x30\0\x8f\0\0\0"):
                stream = before + bytes([byte, 1, 0, 1]) + good
                s.take(stream + bytes(io.FLIT_ROOM - len(stream) % io.FLIT_ROOM) + bytes(io.FLIT_ROOM))
    return s


def cuts(seed):
    """Every place to cut every form of packet, and every length."""
    s = Scene(seed)
    for form in "pbr", "hbr":
        s.use(form)
        for kind in TYPES:
            for dws in (1, 2, 31, 64):
                for fill in range(59):
                    packet = s.packet(kind, dws)
                    lead = bytes(4 * fill)
                    stream = lead + s.on_wire(packet) + s.on_wire(s.packet(0x20))
                    s.take(stream + bytes(-len(stream) % io.FLIT_ROOM))
        s.take(s.pack([s.packet(kind, dws) for kind in TYPES for dws in range(1, 65)]))
    return s


def refused(seed):
    s = Scene(seed)
    good = s.packet(0x60, 5)
    s.take(s.pack([good, good._replace(spid=0x1000), good._replace(dpid=0x1000),
                   good._replace(prefix=0x1000), good._replace(tlp=good.tlp[:-4]),
                   good._replace(tlp=good.tlp + b"\0" * 4), good._replace(tlp=b"\x04" + bytes(11)),
                   good._replace(tlp=good.tlp[:8]), good]))
    return s


WHOLE = [vectors, heads, dllps, grammar, cuts, refused]


class RandomScene(Scene):
    def __init__(self, seed, length):
        super().__init__(seed)
        while len(self.sent) < length:
            self.pack_and_take()

    def pack_and_take(self):
        rng = self.rng
        self.use(rng.choice(("pbr", "hbr")))
        items = [None if rng.random() < 0.2 else self.packet() for _ in range(rng.randint(1, 30))]
        stream = self.pack(items)
        self.take(stream)
        for _ in range(3):
            bad = bytearray(stream)
            for _ in range(rng.randint(1, 3)):
                bad[rng.randrange(len(bad))] = rng.getrandbits(8)
            self.take(bytes(bad))
        self.take(rng.randbytes(io.FLIT_ROOM * 2))
