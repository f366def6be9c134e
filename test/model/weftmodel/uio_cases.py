# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""Scripts for uio_script, with the answers of the model: each bit of a packet turned over, every length
and place of a read, and requests at random."""

import random

from weftmodel import uio
from weftmodel.io import bytes_of
from weftmodel.script import Batch

FIELDS = ("kind", "status", "poison", "requester", "tag", "len", "addr", "completer", "left", "lower")


def request(kind, addr, data_or_length, requester=0, tag=0, poison=0, at=0):
    data = data_or_length if kind == uio.WRITE else b""
    length = len(data) if kind == uio.WRITE else data_or_length
    tag = f"{tag:010b}"
    bits = "0" + uio.TYPES[kind] + tag[0] + "000" + tag[1] + "000" + f"0{poison}00{at:02b}"
    bits += f"{length // 4 % 1024:010b}{requester:016b}{tag[2:]}"
    bits += ("0000" if length == 4 else "1111") + "1111" + f"{addr:064b}"
    return bytes_of(bits) + data


class Scene(Batch):
    def __init__(self, seed):
        super().__init__()
        self.rng = random.Random(seed)

    def exact(self, line, want):
        self.say_judged(line, lambda got: got == want, want)

    def decode(self, data):
        try:
            f = uio.decode(data)
        except uio.Malformed:
            want = "bad"
        except uio.Foreign:
            want = "none"
        else:
            if f["kind"] not in (uio.WRITE, uio.CPLD):
                f["poison"] = 0
            if f["kind"] == uio.CPL:
                f["lower"] = 0
            want = " ".join(f"{f.get(name, 0):x}" for name in FIELDS)
            want += " " + (f["data"].hex() or "-")
        self.exact(f"decode {data.hex()}", want)

    def memory(self, base, length, split):
        self.model = uio.Memory(base, length, split)
        self.exact(f"memory {base:x} {length:x} {split:x}", "ok")

    def ask(self, data):
        answers = self.model.answer(data)
        self.exact(f"ask {data.hex()}",
                   "bad" if answers is None else " ".join(a.hex() for a in answers))

    def packet(self):
        rng = self.rng
        length = 4 * rng.randint(1, 64)
        addr = rng.getrandbits(52) << 12 | 4 * rng.randrange((4096 - length) // 4 + 1)
        kind = rng.randrange(4)
        if kind in (uio.READ, uio.WRITE):
            return request(kind, addr, rng.randbytes(length) if kind == uio.WRITE else length,
                           rng.getrandbits(16), rng.getrandbits(10), rng.getrandbits(1),
                           rng.choice((0, 2)))
        asked = {"tag": rng.getrandbits(10), "requester": rng.getrandbits(16)}
        if kind == uio.CPL:
            return uio.completion(asked, rng.choice((0, 1, 4)), rng.randint(0, 256))
        return uio.completion(asked, 0, rng.randint(length, 256), rng.randbytes(length), addr,
                              rng.random() < 0.5)


def bits_turned(seed):
    """Each bit of the header of each kind of packet."""
    s, seen = Scene(seed), set()
    while len(seen) < 4:
        data = s.packet()
        if data[0] in seen:
            continue
        seen.add(data[0])
        for bit in range(8 * min(len(data), 16)):
            turned = bytearray(data)
            turned[bit // 8] ^= 0x80 >> bit % 8
            s.decode(bytes(turned))
        for length in range(1, len(data)):
            s.decode(data[:length])
    return s


def reads_of_every_length(seed):
    """From every DW of 256 bytes on, with every split."""
    s = Scene(seed)
    for split in (64, 128, 256):
        s.memory(1 << 40, 512, split)
        s.ask(request(uio.WRITE, 1 << 40, s.rng.randbytes(256)))
        s.ask(request(uio.WRITE, (1 << 40) + 256, s.rng.randbytes(252), poison=1))
        for start in range(0, 260, 4):
            for length in range(4, 257, 4):
                s.ask(request(uio.READ, (1 << 40) + start, length, 5, start))
    return s


class RandomScene(Scene):
    def __init__(self, seed, length):
        super().__init__(seed)
        rng = self.rng
        for n in range(length):
            if n % 500 == 0:
                base, room = rng.getrandbits(30) << 14, 256 * rng.randint(1, 64)
                self.memory(base, room, rng.choice((64, 128, 256)))
            size = 4 * rng.randint(1, 64)
            addr = base + 4 * rng.randrange(-64, room // 4 + 64)
            kind = rng.randrange(2)
            data = request(kind, max(addr, 0), rng.randbytes(size) if kind else size,
                           rng.getrandbits(16), rng.getrandbits(10), int(rng.random() < 0.1))
            if rng.random() < 0.1:
                data = bytearray(data)
                data[rng.randrange(16)] ^= 1 << rng.randrange(8)
            self.ask(bytes(data))
            self.decode(self.packet())


WHOLE = (bits_turned, reads_of_every_length)
