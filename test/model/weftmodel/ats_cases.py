# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""Scripts for ats_script, with the answers of the model: every range, every way to cut an answer in
two, every bit and every length of each packet, and packets at random."""

import random

from weftmodel import ats
from weftmodel.script import Batch

# Largest value of each field of each kind, and the ones that an encoder chooses itself.
IDS = {"requester": 0xFFFF, "target": 0xFFFF}
COMMON = {"tc": 7, "poisoned": 1}
PASID = {"has_pasid": 1, "pasid": 2**20 - 1, "exec": 1, "priv": 1}
LIMITS = {
    "read": {**COMMON, **PASID, "requester": 0xFFFF, "attr": 3, "at": 2, "tag": 255,
             "enables": 255, "length": 1023},
    "write": {**COMMON, **PASID, "requester": 0xFFFF, "attr": 3, "at": 2, "tag": 255,
              "enables": 255},
    "request": {**COMMON, **PASID, "requester": 0xFFFF, "tag": 255, "no_write": 1},
    "cpl": {**COMMON, **IDS, "tag": 255},
    "cpld": {**COMMON, **IDS, "tag": 255, "byte_count": 0xFFF, "lower_addr": 127},
    "invalidate": {**COMMON, **PASID, **IDS, "itag": 31, "global": 1},
    "invalidated": {**COMMON, **IDS, "itags": 2**32 - 1},
    "page": {**COMMON, **PASID, "requester": 0xFFFF, "group": 511, "page_bits": 7},
    "page_group": {**COMMON, **PASID, **IDS, "group": 511, "code": 15},
}

NARROW = ("tc", "attr", "at", "itag", "group", "page_bits", "code", "pasid", "byte_count",
          "lower_addr")         # smaller than what holds them


def text_of(value):
    return value.hex() if isinstance(value, bytes) else f"{value:x}"


class Scene(Batch):
    def __init__(self, seed):
        super().__init__()
        self.rng = random.Random(seed)

    def exact(self, line, want):
        self.say_judged(line, lambda got: got == want, want)

    def decode(self, data, rcb):
        if not data:
            return                      # cannot be written down
        line = f"dec {rcb:x} {data.hex()}"
        try:
            want = ats.decode(data, rcb)
        except ats.Malformed as why:
            self.say_judged(line, lambda got: got.startswith("bad "), f"bad ({why})")
            return
        if want is ats.FREE:
            self.say_judged(line, lambda got: bool(got), "anything")
            return
        kind, fields = want
        fields = {name: text_of(value) for name, value in fields.items()}

        def judge(got):
            words = got.split()
            return words[:1] == [kind] and dict(w.split("=", 1) for w in words[1:]) == fields
        self.say_judged(line, judge, f"{kind} {fields}")

    def encode(self, kind, fields):
        line = " ".join([f"enc {kind}"] + [f"{n}={text_of(v)}" for n, v in fields.items()])
        data = ats.encode(kind, fields)
        self.exact(line, data.hex())
        return data

    def encode_bad(self, kind, fields):
        line = " ".join([f"enc {kind}"] + [f"{n}={text_of(v)}" for n, v in fields.items()])
        self.exact(line, "none")

    def get(self, word):
        try:
            want = "{:x} {:x}".format(*ats.get_range(word))
        except ats.Malformed:
            want = "none"
        self.exact(f"get {word:x}", want)

    def translations(self, data, rcb):
        line = f"xlats {rcb:x} {data.hex()}"
        try:
            place, want = ats.read_translations(data, rcb)
        except ats.Malformed as why:
            self.say_judged(line, lambda got: got.startswith("bad "), f"bad ({why})")
            return
        places = ("bad", "only", "first", "second") if place is ats.FREE else (place,)

        def judge(got):
            words = got.split()
            if words[:1] == ["bad"]:
                return "bad" in places
            if not words or words[0] not in places or place is not ats.FREE \
                    and len(words) != 1 + len(want):
                return False
            for word, t in zip(words[1:], want):
                one = tuple(int(part, 16) for part in word.split(","))
                if one != t if t else one[2] & 3:
                    return False
            return True
        self.say_judged(line, judge, f"{places} {want}")

    def answer(self, translations, first, part, head):
        data = ats.answer(translations, first, part, ats.decode(head, 128)[1])
        items = " ".join(f"{pa:x},{log2:x},{bits:x}" for pa, log2, bits in translations)
        line = f"answer {len(translations):x} {first:x} {part} {head.hex()} {items}".rstrip()
        if data is ats.FREE:
            self.say_judged(line, lambda got: bool(got), "anything")
            return None
        self.exact(line, "none" if data is None else data.hex())
        return data

    # ---- drawing -------------------------------------------------------------------------

    def number(self, most):
        rng = self.rng
        return rng.choice((0, 1, most, rng.randint(0, most), rng.randint(0, most)))

    def range(self):
        log2 = self.rng.choice((12, 12, 13, 16, 21, 30, self.rng.randint(12, 64)))
        return self.rng.getrandbits(64) >> log2 << log2, log2

    def fields(self, kind):
        rng = self.rng
        f = {name: self.number(most) for name, most in LIMITS[kind].items()
             if rng.random() < 0.8}
        if kind == "read" and f.get("at") == 1:
            f["at"] = 2
        if kind == "write":
            f["at"] = rng.choice((0, 2))
        if kind in ("read", "write", "request"):
            f["addr"] = rng.getrandbits(64) >> rng.choice((0, 12, 32)) & ~3
        if kind == "read":
            f["length"] = f.get("length") or 1
        if kind in ("write", "cpld"):
            f["length"] = rng.choice((1, 2, 4, 32, rng.randint(1, 64)))
            f["data"] = rng.randbytes(4 * f["length"])
        if kind == "request":
            f["length"] = 2 * rng.randint(1, 16)
        if kind in ("cpl",):
            f["status"] = rng.choice(ats.STATUSES)
        if kind == "invalidate":
            f["addr"], f["log2"] = self.range()
        if kind == "invalidated":
            f["count"] = rng.randint(1, 8)
        if kind == "page":
            f["addr"] = rng.getrandbits(64) >> 12 << 12
        if not f.get("has_pasid"):
            for name in PASID:
                f.pop(name, None)
        return f

    def packet(self):
        kind = self.rng.choice(sorted(ats.LAYOUTS))
        return ats.encode(kind, self.fields(kind))

    def head(self):
        f = {name: self.number(most) for name, most in LIMITS["cpl"].items() if name != "poisoned"}
        return ats.encode("cpl", f)

    def some_translations(self, n):
        log2 = self.rng.choice((12, 13, 16, 21, 30, self.rng.randint(12, 52)))
        return [(self.rng.getrandbits(52) >> log2 << log2, log2,
                 self.rng.getrandbits(11) & ats.BITS | self.rng.randint(1, 3)) for _ in range(n)]


def every_range(seed):
    scene = Scene(seed)
    for log2 in range(12, 65):
        for base in {0, 2**log2 % 2**64, *(scene.rng.getrandbits(64) >> log2 << log2
                                          for _ in range(40))}:
            word = ats.put_range(base, log2)
            assert ats.get_range(word) == (base, log2)
            scene.exact(f"put {base:x} {log2:x}", f"{word:x}")
            scene.get(word)
            scene.get(word | scene.rng.getrandbits(11))
            # One of the ones is missing: a smaller range.
            scene.get(word & ~(1 << scene.rng.randint(12, max(12, log2 - 2))))
    for low in (0, 1, 0x7FF, 0x800, 0xFFF):
        scene.get(2**64 - 4096 | low)
    for word in range(0, 2**18, 0x800):
        scene.get(word)
    return scene


def every_answer(seed):
    """Every number of translations, every cut, both RCBs, then every Byte Count and Lower Address
    that is nearly right."""
    scene = Scene(seed)
    for rcb in (64, 128):
        for n in range(1, rcb // 8 + 1):
            some = scene.some_translations(n)
            packets = [scene.answer(some, n, 0, scene.head())]
            for first in range(1, n):
                packets += [scene.answer(some, first, part, scene.head()) for part in (1, 2)]
            for packet in packets:
                scene.translations(packet, rcb)
                scene.decode(packet, rcb)
            whole = ats.decode(packets[0], rcb)[1]
            for lower in range(128):
                for more in (-8, -4, 0, 8, 64):
                    f = dict(whole, lower_addr=lower, byte_count=8 * n + more)
                    scene.translations(ats.encode("cpld", f), rcb)
    for first, part in ((0, 1), (0, 2), (2, 1), (2, 2)):
        scene.answer(scene.some_translations(2), first, part, scene.head())
    for n in (0, 17, 31):
        scene.answer(scene.some_translations(n), n, 0, scene.head())
    scene.answer([(0x1000, 13, 3)], 1, 0, scene.head())
    return scene


def every_translation(seed):
    """Every R, W, U, N, S and reserved bit of a translation."""
    scene = Scene(seed)
    head = {"requester": 0x102, "target": 0x304, "length": 2, "byte_count": 8, "lower_addr": 0x78}
    for low in range(0x1000):
        for high in (0, 0x0123456789AB << 12, 2**64 - 4096):
            word = high | low
            scene.translations(ats.encode("cpld", dict(head, data=word.to_bytes(8, "big"))), 64)
    return scene


def every_bit(seed):
    """Packets of each kind with each bit turned over, cut at each length, and too long."""
    scene = Scene(seed)
    for kind in ats.LAYOUTS:
        for _ in range(12):
            data = ats.encode(kind, scene.fields(kind))[:60]
            for rcb in (64, 128):
                scene.decode(data, rcb)
                scene.decode(data + b"\0", rcb)
                scene.decode(data + bytes(4), rcb)
                for size in range(1, len(data)):
                    scene.decode(data[:size], rcb)
                for bit in range(8 * min(len(data), 28)):
                    spoilt = bytearray(data)
                    spoilt[bit // 8] ^= 0x80 >> bit % 8
                    scene.decode(bytes(spoilt), rcb)
    return scene


def every_field(seed):
    """Each field at its largest, and beyond; each length of a request, each status."""
    scene = Scene(seed)
    for kind, limits in LIMITS.items():
        base = {"log2": 12, "addr": 0} if kind == "invalidate" else {}
        base.update({"count": 1} if kind == "invalidated" else {})
        base.update({"length": 2} if kind in ("read", "request") else {})
        base.update({"length": 1, "data": bytes(4)} if kind in ("write", "cpld") else {})
        for name, most in limits.items():
            needs = {"has_pasid": 1} if name in PASID else {}
            scene.decode(scene.encode(kind, {**base, **needs, name: most}), 128)
            if name in NARROW:
                scene.encode_bad(kind, {**base, **needs, name: most + 1})
    for rcb in (64, 128):
        for length in range(1024):
            scene.decode(ats.encode("request", {"length": length, "addr": 0x5000}), rcb)
    for kind in ("read", "write"):
        for at in range(4):
            scene.decode(ats.encode(kind, {"at": at, "length": 2, "enables": 255,
                                           "data": bytes(8) if kind == "write" else b""}), 64)
    for status in range(8):
        f = {"status": status, "tag": 3}
        scene.decode(ats.encode("cpl", f), 64)
        if status in ats.STATUSES:
            scene.encode("cpl", f)
        else:
            scene.encode_bad("cpl", f)
    for count in range(1, 9):
        scene.decode(scene.encode("invalidated", {"count": count, "itags": 0x14B}), 64)
    for count in (0, 9):
        scene.encode_bad("invalidated", {"count": count, "itags": 1})
    return scene


class RandomScene(Scene):
    def __init__(self, seed, length):
        super().__init__(seed)
        rng = self.rng
        while len(self.sent) < length:
            kind = rng.choice(sorted(ats.LAYOUTS))
            fields = self.fields(kind)
            data = self.encode(kind, fields)
            rcb = rng.choice((64, 128))
            self.decode(data, rcb)
            # Reserved bits are ignored, other bits are not.
            noisy = bytearray(data)
            for _ in range(rng.randint(1, 6)):
                noisy[rng.randrange(len(noisy))] ^= 1 << rng.randrange(8)
            self.decode(bytes(noisy), rcb)
            if rng.random() < 0.2:
                self.decode(rng.randbytes(rng.choice((12, 16, 20, 24, rng.randint(1, 60)))), rcb)
            n = rng.randint(1, 16)
            some = self.some_translations(n)
            part = rng.randrange(3)
            first = rng.randint(1, n) if part else n
            packet = self.answer(some, first, part, self.head())
            if packet:
                self.translations(packet, rcb)
                noisy = bytearray(packet)
                noisy[rng.randrange(len(noisy))] ^= 1 << rng.randrange(8)
                self.translations(bytes(noisy), rcb)


WHOLE = (every_range, every_answer, every_translation, every_bit, every_field)
