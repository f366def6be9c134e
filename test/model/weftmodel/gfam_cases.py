# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""Scripts for gfam_script, with the answers of the model: random devices, small ones whole, and a
snoop filter whose answers decide what is asked next."""

import random

import numpy as np

from weftmodel import gfam as g
from weftmodel.script import Batch, Talk

PID = 0x123                     # of the device under test
MIB = 1 << 20


class Scene(Batch):
    def __init__(self, rng):
        super().__init__()
        self.rng = rng
        self.gfd = None
        self.now = 1

    def set(self, line, call, *args):
        try:
            got = call(*args)
        except g.Refused as refused:
            self.say(line, refused.args)
            return False
        self.say(line, ("OK",) if got is None else ("OK", got))
        return True

    def new(self, rows=16, groups=64, blocks=1024, knobs=0, media=((0x10000000, 0x30),)):
        def make():
            self.gfd = g.Gfd(rows, groups, blocks, knobs, media)
        pairs = " ".join(f"{mask:#x} {flags}" for mask, flags in media)
        return self.set(f"new {rows} {groups} {blocks} {knobs} {pairs}", make)

    def bad_new(self):
        """One value out of range at a time; the next new is a good one."""
        for bad in ({"rows": 0}, {"rows": 4096}, {"groups": 0}, {"groups": 65}, {"blocks": 0},
                    {"media": ((0x10000020, 0),)}, {"media": ((0x10000000, 0), (1 << 52, 0))}):
            assert not self.new(**bad)

    def dmp(self, i, base, length, block):
        return self.set(f"dmp {i} {base:#x} {length:#x} {block:#x}", self.gfd.set_dmp, i, base,
                        length, block)

    def region(self, i, base, decode, length, block):
        return self.set(f"region {i} {base:#x} {decode:#x} {length:#x} {block:#x}",
                        self.gfd.set_region, i, base, decode, length, block)

    def blocks(self, dpa, length, group):
        return self.set(f"blocks {dpa:#x} {length:#x} {group}", self.gfd.set_blocks, dpa, length,
                        group)

    def sat(self, rpid, vector):
        return self.set(f"sat {rpid} {vector:#x}", self.gfd.set_sat, rpid, vector)

    def sat32(self, rpid, vector):
        return self.set(f"sat32 {rpid} {vector:#x}", self.gfd.set_sat32, rpid, vector)

    def owner(self, rpid, pid):
        self.gfd.owners[rpid] = pid
        self.say(f"owner {rpid} {pid}", ("OK",))

    def gdt(self, caller, rpid, start, entries):
        text = " ".join(f"{d.v} {d.coh} {d.hpa:#x} {d.dpa:#x} {d.length:#x} {d.intlv} {d.gran} "
                        f"{d.way}" for d in entries)
        return self.set(f"gdt {caller} {rpid} {start} {text}".rstrip(), self.gfd.set_gdt, caller,
                        rpid, start, entries)

    def get(self, rpid, i):
        self.say(f"getgdt {rpid} {i}", tuple(self.gfd.get_gdt(rpid, i)))

    def group(self, dpa):
        self.say(f"group {dpa:#x}", (self.gfd.group(dpa),))

    def access(self, spid, hpa, write=False):
        self.say(f"{'rw'[write]} {spid} {hpa:#x}", tuple(self.gfd.access(spid, hpa, write)))

    def uio(self, spid, hpa, length, write=False):
        self.say(f"{('ur', 'uw')[write]} {spid} {hpa:#x} {length}",
                 tuple(self.gfd.uio(spid, hpa, length, write)))

    def reverse(self, rpid, dpa):
        hpa = self.gfd.reverse(rpid, dpa)
        self.say(f"rev {rpid} {dpa:#x}", ("ENOENT",) if hpa is None else (hpa,))

    def counts(self, spid):
        self.say(f"counts {spid}", tuple(self.gfd.fails.get(spid, [0] * 5)))

    def note(self, spid, hpa, write):
        self.now += self.rng.choice((0, 1, 1000, g.REPORT_EVERY // 3, g.REPORT_EVERY,
                                     self.rng.randrange(2 * g.REPORT_EVERY)))
        opcode = self.rng.choice((g.NO_OPCODE, self.rng.randrange(256)))
        access, kept = self.gfd.note(self.now, spid, hpa, write)
        line = f"note {self.now} {spid} {hpa:#x} {'rw'[write]} {opcode}"
        if kept is None:
            self.say(line, ("quiet",))
            return
        want = g.want_report(PID, spid, hpa, opcode, self.now, access)

        def judge(text):
            word, data, count = text.split()
            fields = g.read_report(bytes.fromhex(data))
            return (word == "report" and len(data) == 80 and int(count, 0) == kept
                    and all(fields[name] == value for name, value in want.items()))
        self.say_judged(line, judge, f"report, {kept} kept back, {want}")


def decoder(hpa, dpa, length, intlv=0, gran=0, way=0, coh=0):
    return g.Decoder(1, coh, hpa, dpa, length, intlv, gran, way)


class RandomScene(Scene):
    def __init__(self, seed, length):
        super().__init__(random.Random(seed))
        rng = self.rng
        if seed % 8 == 0:
            self.bad_new()
        count = rng.randint(1, 4)
        media = [(1 << rng.choice((24, 26, 28, 29)) | rng.choice((0, 1 << 20, 1 << 27)),
                  rng.choice((0, 0, 0x10, 0x10, 0x30, 0x20, 0x40, 0x70, 0x0C)))
                 for _ in range(count)]
        knobs = rng.randrange(32) | rng.choice((0, g.UIO))
        self.new(rng.choice((1, 3, 8, 8, 4095)), rng.choice((1, 8, 31, 64)),
                 rng.choice((16, 64, 1024)), knobs, media)
        self.spids = rng.sample(range(0xFFF), 5) + [0, 0xFFE]
        for i in range(count):
            self.draw_dmp(i, lawful=True)
        for _ in range(6):
            self.draw_region()
        for _ in range(10):
            self.draw_blocks()
        for spid in self.spids:
            self.sat(spid, rng.getrandbits(64) % 2**self.gfd.groups)
        for _ in range(20):
            self.draw_gdt()
        kinds = (self.draw_dmp, self.draw_region, self.draw_blocks, self.draw_sat, self.draw_gdt,
                 self.draw_owner, self.draw_access, self.draw_uio, self.draw_reverse,
                 self.draw_note, self.draw_read, self.draw_copy)
        weights = (0.3, 0.3, 3, 3, 6, 0.2, 50, 14, 8, 8, 5, 0.5)
        while len(self.sent) < length:
            rng.choices(kinds, weights)[0]()

    def spid(self, with_row=False):
        rows = sorted(self.gfd.gdt) if with_row else ()
        return self.rng.choices((self.rng.choice(rows or self.spids), self.rng.choice(self.spids),
                                 self.rng.randrange(0xFFF)), (30, 10, 1))[0]

    def draw_dmp(self, i=None, lawful=False):
        rng = self.rng
        if i is None:
            i = rng.randint(0, len(self.gfd.dmps))
        mask = self.gfd.media[min(i, len(self.gfd.media) - 1)][0]
        block = rng.choice([1 << n for n in range(6, 52) if mask >> n & 1])
        unit = max(block, g.STEP)
        base = (8 * i + rng.randrange(2)) * 2 * unit
        length = rng.randint(1, 6) * unit
        style = 99 if lawful else rng.randrange(10)
        if style == 0:
            base += rng.choice((64, block // 2, g.STEP // 2))
        elif style == 1:
            length += rng.choice((64, block // 2, g.STEP // 2))
        elif style == 2:
            block = rng.choice((block + 64, block * 2 if not mask & block * 2 else 32, 0))
        elif style == 3:
            base += rng.randint(1, 20) * unit       # may overlap, may not
        elif style == 4:
            length = unit * (self.gfd.blocks + 1)
            base = (2**50 + i * 2**46) // unit * unit
        elif style == 5:
            base, length, block = 0, 0, 0
        elif style == 6:
            base = 2**64 - unit
            length = rng.choice((1, 2)) * unit
        elif style == 7:
            # Not a power of 2, though the media has one of its bits.
            block, base, length = block // 2 * 3, i * 12 * unit, 3 * unit
        self.dmp(i, base, length, block)

    def a_dmp(self):
        there = [dmp for dmp in self.gfd.dmps if dmp]
        return self.rng.choice(there) if there else None

    def draw_region(self):
        rng = self.rng
        dynamic = [d for d, m in zip(self.gfd.dmps, self.gfd.media) if d and m[1] & g.DYNAMIC]
        dmp = rng.choice(dynamic) if dynamic and rng.random() < 0.9 else self.a_dmp()
        if not dmp:
            return
        unit = max(g.STEP, dmp.block)
        decode = rng.randint(1, dmp.length // unit) * unit
        base = dmp.base + rng.randrange(0, dmp.length - decode + 1, unit)
        length = rng.randint(1, decode // dmp.block) * dmp.block
        block = dmp.block
        style = rng.randrange(20)
        if style == 0:
            base += dmp.length
        elif style == 1:
            base += 64
        elif style == 2:
            length += 64
        elif style == 3:
            block *= 2
        elif style == 4:
            decode, length = 0, 0
        elif style == 5:
            length = decode + block
        self.region(self.rng.choice((*range(8), 8)) if style == 6 else rng.randrange(8), base,
                    decode, length, block)

    def draw_blocks(self):
        rng, dmp = self.rng, self.a_dmp()
        if not dmp:
            return
        total = dmp.length // dmp.block
        count = rng.choice((1, rng.randint(1, total), max(1, total // 4)))
        first = rng.randint(0, total - count)
        regions = [r for r in self.gfd.regions if r]
        if regions and rng.random() < 0.4:
            region = rng.choice(regions)
            count = rng.randint(1, region.length // region.block)
            dpa, length = region.base, count * region.block
        else:
            dpa, length = dmp.base + first * dmp.block, count * dmp.block
        group = rng.choice((rng.randrange(self.gfd.groups), g.NO_GROUP, rng.randrange(64)))
        style = rng.randrange(30)
        if style == 0:
            dpa += dmp.block // 2
        elif style == 1:
            length += 64
        elif style == 2:
            length += dmp.length
        elif style == 3:
            group = 64
        self.blocks(dpa, length, group)

    def draw_sat(self):
        rng, spid = self.rng, self.spid()
        if rng.random() < 0.05:
            spid = rng.choice((0xFFF, 0x1000))
        vector = rng.getrandbits(64)
        if rng.random() < 0.9:
            vector %= 2**self.gfd.groups
        if rng.random() < 0.7:
            self.sat(spid, vector)
        else:
            self.sat32(spid, vector % 2**min(31, self.gfd.groups + (rng.random() < 0.1))
                       | rng.randrange(2) << 31)

    def draw_owner(self):
        self.owner(self.rng.choice(self.spids), self.rng.choice(self.spids))

    def draw_decoder(self, off=True):
        rng, dmp = self.rng, self.a_dmp()
        if not dmp or off and rng.random() < 0.1:
            if off and rng.random() < 0.5:
                return g.Decoder(0, *(rng.randrange(2**20) for _ in range(4)), 15, 15, 255)
            return g.OFF
        total = dmp.length // dmp.block
        count = rng.choice((1, 1, 2, rng.randint(1, total)))
        count = min(count, total)
        dpa = dmp.base + rng.randint(0, total - count) * dmp.block
        intlv, gran = rng.choice((0, 1, 2, 3, rng.randrange(9))), rng.randrange(7)
        unit = max(dmp.block, 256 << gran + intlv)
        hpa = rng.choice((rng.randrange(24), rng.randrange(24), rng.randrange(2**12))) * unit
        if rng.random() < 0.03:
            hpa = 2**64 // unit * unit - ((count * dmp.block << intlv) // unit +
                                          rng.randrange(3)) * unit
        coh = int(rng.random() < 0.3)
        d = decoder(hpa, dpa, count * dmp.block, intlv, gran, rng.randrange(2**intlv), coh)
        return self.spoil(d, dmp, unit) if rng.random() < 0.15 else d

    def spoil(self, d, dmp, unit):
        return self.rng.choice((
            d._replace(intlv=9), d._replace(gran=7),
            d._replace(way=min(2**d.intlv, 255), intlv=min(d.intlv, 7)), d._replace(length=0),
            d._replace(hpa=d.hpa + unit // 2), d._replace(hpa=d.hpa + 64),
            d._replace(dpa=d.dpa + dmp.block // 2), d._replace(length=d.length + 64),
            d._replace(length=d.length + dmp.length),
            d._replace(dpa=dmp.base + dmp.length), d._replace(hpa=2**64 - unit, intlv=8, way=0)))

    def draw_gdt(self):
        rng, rpid = self.rng, self.spid()
        start = rng.randrange(8)
        count = rng.choice((1, 1, 2, rng.randint(1, 9 - start)))
        caller = rng.choices((g.ITSELF, self.gfd.owners.get(rpid, rpid), self.spid()),
                             (4, 8, 1))[0]
        entries = [self.draw_decoder() for _ in range(count)]
        style = rng.randrange(40)
        if style == 0:
            rpid = rng.choice((0xFFF, 0x1000))
        elif style == 1:
            entries = entries * 16
            entries = entries[:16]
        elif style == 2:
            # Room for others.
            start, entries = 0, [g.OFF] * 8
        self.gdt(caller, rpid, start, entries)

    def hpa(self, spid):
        rng = self.rng
        row = [d for d in self.gfd.gdt.get(spid, ()) if d.v]
        if not row or rng.random() < 0.05:
            return rng.choice((0, 2**64 - 64, rng.getrandbits(64), rng.randrange(2**40)))
        d = rng.choice(row)
        at = rng.choice((0, d.length - 1, rng.randrange(d.length), rng.randrange(d.length)))
        hpa = g.to_hpa(d, d.dpa + at)
        style = rng.random()
        if style < 0.1:
            hpa += rng.choice((-1, 1)) * g.step(d)
        elif style < 0.2:
            hpa = d.hpa + rng.choice((-1, 0, g.span(d) - 1, g.span(d)))
        if style < 0.5:
            hpa &= ~63
        return hpa % 2**64

    def draw_access(self):
        spid = self.spid(True)
        self.access(self.rng.choices((spid, self.rng.choice((0xFFF, 0x1000, 0xFFFF))),
                                     (50, 1))[0], self.hpa(spid), self.rng.random() < 0.5)

    def draw_uio(self):
        rng, spid = self.rng, self.spid(True)
        length = rng.choice((1, 64, 128, 256, 4096, rng.randint(1, 4096)))
        hpa = self.hpa(spid)
        # Where ways and decoders meet.
        if rng.random() < 0.5:
            hpa = (hpa // 256 + 1) * 256 - rng.randint(1, length)
        self.uio(spid, max(0, min(hpa, 2**64 - 2 * 4096)), length, rng.random() < 0.5)

    def draw_reverse(self):
        rng, rpid, dmp = self.rng, self.spid(True), self.a_dmp()
        row = [d for d in self.gfd.gdt.get(rpid, ()) if d.v]
        if row and rng.random() < 0.9:
            d = rng.choice(row)
            dpa = d.dpa + rng.choice((0, d.length - 64, d.length, rng.randrange(d.length)))
        else:
            dpa = rng.randrange(dmp.base, dmp.base + dmp.length) if dmp else 0
        self.reverse(rpid, dpa % 2**64)

    def draw_note(self):
        for spid in [self.spid(True)] * self.rng.randint(1, 4):
            self.note(spid, self.hpa(spid), self.rng.random() < 0.5)
        self.counts(spid)

    def draw_read(self):
        rng, dmp = self.rng, self.a_dmp()
        self.get(self.spid(), rng.randrange(8))
        if dmp:
            self.group(rng.randrange(dmp.base, dmp.base + 2 * dmp.length) % 2**64)

    def draw_copy(self):
        self.say("copy", ("OK",))


# ---- a large device, many accesses at once ---------------------------------------------------

RESULTS = ("allowed", "no_row", "no_hit", "wrong_way", "several", "ungrouped", "denied", "no_write")
LARGE_ROWS, LARGE_BLOCKS = 1500, 4096


def _large_row(rng, dmps):
    """Eight decoders, each in its eighth of the device; HPAs of a few of them may meet."""
    row = []
    for k in range(8):
        dmp = dmps[k // 2]
        unit = dmp.length // 2
        length = rng.randrange(1, LARGE_BLOCKS // 2) * dmp.block
        intlv, gran = rng.randrange(9), rng.randrange(7)
        align = max(dmp.block, 256 << gran + intlv)
        slot = k if rng.random() < 0.9 else rng.randrange(8)
        hpa = (slot + 1) * 2**49 + rng.randrange(2**10) * align
        row.append(g.Decoder(int(rng.random() < 0.95), int(k < 2 and rng.random() < 0.5), hpa,
                             dmp.base + k % 2 * unit, length, intlv, gran,
                             rng.randrange(2**intlv)))
    return row


def _large_draw(draw, columns, count):
    """Requesters and addresses: most of what a decoder takes, some beside it, some anywhere."""
    n = columns["v"].shape[0]
    spid = draw.integers(0, n + 20, count)
    d = {name: column[np.minimum(spid, n - 1), draw.integers(0, 8, count)]
         for name, column in columns.items()}
    at = (draw.random(count) * d["length"]).astype(np.uint64)
    style = draw.random(count)
    at = np.where(style < 0.02, np.uint64(0), np.where(style > 0.98, d["length"] - 1, at))
    way = np.where(draw.random(count) < 0.8, d["way"], draw.integers(0, 256, count, dtype=np.uint64) %
                   (np.uint64(1) << d["intlv"]))
    step = np.uint64(256) << d["gran"]
    hpa = d["hpa"] + (at // step * (np.uint64(1) << d["intlv"]) + way) * step + at % step
    hpa = np.where(draw.random(count) < 0.03, hpa - d["length"], hpa)
    hpa = np.where(draw.random(count) < 0.02,
                   draw.integers(0, 2**64, count, dtype=np.uint64, endpoint=False), hpa)
    return spid.astype(np.uint64), hpa, draw.random(count) < 0.5


def _large_decide(columns, dmps, flags, groups, sat, spid, hpa, write):
    """1.12 once more, for arrays: (DPA, result, decoder, DMP, group, coherent)."""
    known = spid < len(columns["v"])
    row = np.minimum(spid, len(columns["v"]) - 1).astype(np.int64)
    hits, near, any_on = (np.zeros(len(hpa), dtype=int) for _ in range(3))
    dpa, decoder, coh = np.zeros_like(hpa), np.zeros_like(hits), np.zeros_like(hits)
    for k in range(8):
        d = {name: column[row, k] for name, column in columns.items()}
        step, ways = np.uint64(256) << d["gran"], np.uint64(1) << d["intlv"]
        far = hpa - d["hpa"]
        off = far // (step * ways) * step + far % step
        on = known & (d["v"] == 1)
        inside = on & (hpa >= d["hpa"]) & (off < d["length"])
        hit = inside & (hpa // step % ways == d["way"])
        any_on, near, hits = any_on + on, near + inside, hits + hit
        dpa = np.where(hit, d["dpa"] + off, dpa)
        decoder = np.where(hit, k, decoder)
        coh = np.where(hit, d["coh"], coh)
    one = hits == 1
    dmp, group, mask = np.zeros_like(hits), np.full_like(hits, g.NO_GROUP), np.zeros_like(hits)
    for i, place in enumerate(dmps):
        inside = one & (dpa >= np.uint64(place.base)) & (dpa < np.uint64(place.base + place.length))
        block = np.where(inside, (dpa - np.uint64(place.base)) // np.uint64(place.block), 0)
        there = groups[i][block.astype(np.int64)]
        group = np.where(inside, there, group)
        dmp = np.where(inside & (there != g.NO_GROUP), i, dmp)
        mask = np.where(inside, flags[i], mask)
    open_to = sat[np.minimum(spid, len(sat) - 1).astype(np.int64)] >> np.minimum(group, 63).astype(
        np.uint64) & np.uint64(1) == 1
    result = np.select(
        [any_on == 0, hits > 1, ~one & (near > 0), ~one, group == g.NO_GROUP, ~open_to,
         write & (mask & g.READ_ONLY != 0)], [1, 4, 3, 2, 5, 6, 7], 0)
    coh = np.where((result == 0) & (mask & g.COHERENT != 0), coh, 0)
    return (np.where(one, dpa, 0), result, np.where(one, decoder, 0), dmp, group, coh)


def large(seed, count):
    """Four DMPs, 1500 requesters with eight decoders each; count random accesses at once. The
    decision is made here once more, for arrays; a thousand of them are checked against the slow
    one."""
    rng = random.Random(seed)
    scene = Scene(rng)
    flags = (g.COHERENT, g.READ_ONLY, 0, 0)
    bits = [rng.randrange(16, 30) for _ in flags]
    scene.new(LARGE_ROWS, 64, LARGE_BLOCKS, g.OVERLAP, [(1 << b, f) for b, f in zip(bits, flags)])
    for i, b in enumerate(bits):
        scene.dmp(i, (i + 1) << 44, LARGE_BLOCKS << b, 1 << b)
    dmps = scene.gfd.dmps
    for dmp in dmps:
        for k in range(64):
            total = dmp.length // dmp.block
            if rng.random() < 0.9:
                scene.blocks(dmp.base + k * (total // 64) * dmp.block,
                             max(1, total // 64) * dmp.block, rng.randrange(64))
    for spid in range(LARGE_ROWS):
        scene.sat(spid, rng.getrandbits(64))
        scene.gdt(spid, spid, 0, _large_row(rng, dmps))
    rows = [scene.gfd.gdt.get(spid, [g.OFF] * 8) for spid in range(LARGE_ROWS)]
    columns = {name: np.array([[getattr(d, name) for d in row] for row in rows], dtype=np.uint64)
               for name in g.Decoder._fields}
    groups = [np.array([scene.gfd.group_of[i].get(k, g.NO_GROUP)
                        for k in range(dmp.length // dmp.block)]) for i, dmp in enumerate(dmps)]
    sat = np.array([scene.gfd.sat.get(spid, 0) for spid in range(LARGE_ROWS + 20)], dtype=np.uint64)
    draw = np.random.default_rng(seed)
    spid, hpa, write = _large_draw(draw, columns, count)
    want = _large_decide(columns, dmps, flags, groups, sat, spid, hpa, write)
    for i in range(1000):
        slow = scene.gfd.access(int(spid[i]), int(hpa[i]), bool(write[i]))
        mine = (int(want[0][i]), *(int(column[i]) for column in want[2:]))
        assert RESULTS[want[1][i]] == slow.result and mine == slow[3:], (i, slow, mine)
    assert len(np.unique(want[1])) >= 7
    data = np.zeros(count, dtype=[("hpa", "<u8"), ("spid", "<u2"), ("write", "u1")])
    data["hpa"], data["spid"], data["write"] = hpa, spid, write
    out = np.zeros(count, dtype=[("dpa", "<u8"), ("rest", "u1", 5), ("zero", "u1", 3)])
    out["dpa"], out["rest"] = want[0], np.stack(want[1:], axis=1)
    scene.say_bytes(f"run {count}", data.tobytes(), ("decisions", count), out.tobytes())
    return scene


# ---- small devices, whole ----------------------------------------------------------------


def blocks_by_requesters(seed):
    """16 requesters, 64 blocks, 64 groups: each access of each kind, then again after each change
    of one bit."""
    scene = Scene(random.Random(seed))
    scene.new(16, 64, 64, g.UIO, ((1 << 26, 0x10), (1 << 26, 0x50)))
    block = 64 * MIB
    for i in range(2):
        scene.dmp(i, i * 32 * block, 32 * block, block)
    for k in range(64):
        if scene.rng.random() < 0.9:
            scene.blocks(k * block, block, scene.rng.randrange(64))
    for spid in range(16):
        scene.sat(spid, scene.rng.getrandbits(64))
        scene.gdt(spid, spid, 0, [decoder(2**40, 0, 32 * block), decoder(2**41, 32 * block,
                                                                         32 * block)])

    def ask(spids):
        for spid in spids:
            for k in range(64):
                hpa = 2**40 * (1 + k // 32) + k % 32 * block + scene.rng.randrange(block // 64) * 64
                scene.access(spid, hpa, False)
                scene.access(spid, hpa, True)
                scene.uio(spid, hpa, 64, bool(k & 1))
    ask(range(18))
    for bit in range(64):
        spid = scene.rng.randrange(16)
        scene.sat(spid, scene.gfd.sat[spid] ^ 1 << bit)
        ask((spid,))
    return scene


def every_way(seed):
    """Each number of ways and granularity: to the DPA, back again, and every other way denied."""
    scene = Scene(random.Random(seed))
    block = 4 * MIB
    scene.new(4095, 1, 1024, 0, ((1 << 22, 0),))
    scene.dmp(0, 2**33, 4096 * MIB, block)
    scene.blocks(2**33, 4096 * MIB, 0)
    for intlv in range(9):
        for gran in range(7):
            base = (1 + scene.rng.randrange(2**20)) * block
            spid = intlv * 7 + gran
            scene.sat(spid, 1)
            for way in {0, 1, 2**intlv - 1, scene.rng.randrange(2**intlv)} - {2**intlv}:
                d = decoder(base, 2**33 + 8 * block, 2 * block, intlv, gran, way)
                scene.gdt(spid, spid, 3, [d])
                for off in (0, d.length - 1, d.length, *(scene.rng.randrange(d.length)
                                                         for _ in range(6))):
                    scene.reverse(spid, d.dpa + off)
                    hpa = g.to_hpa(d, d.dpa + off)
                    if hpa is None:
                        continue
                    scene.access(spid, hpa)
                    assert scene.gfd.access(spid, hpa, False).dpa == d.dpa + off
                    for other in range(2**intlv):
                        scene.access(spid, hpa // (256 << gran + intlv) * (256 << gran + intlv)
                                     + other * (256 << gran))
                scene.access(spid, base + (d.length << intlv))
                scene.access(spid, base - 1)
    return scene


def every_requester_denied(seed):
    """Each SPID: no row, no hit, wrong way, no group, no right; allowed last."""
    scene = Scene(random.Random(seed))
    scene.new(4095, 8, 16, g.UIO, ((1 << 28, 0),))
    scene.dmp(0, 0, 16 * g.STEP, g.STEP)
    scene.blocks(0, g.STEP, 3)
    for spid in range(0xFFF):
        def ask(hpa, spid=spid):
            scene.access(spid, hpa, False)
            scene.access(spid, hpa, True)
            scene.uio(spid, hpa, 128, bool(spid & 1))
        ask(2**40)
        scene.gdt(spid, spid, spid % 8, [decoder(2**40, 0, 2 * g.STEP, 1, 0, 1)])
        ask(2**40 + 256)
        scene.sat(spid, 0xF7)
        ask(2**40 + 256)
        scene.sat(spid, 0x08)
        ask(2**40 + 256)
        ask(2**40)
        ask(2**40 - 64)
        ask(2**40 + 2 * g.STEP + 256)
        scene.reverse(spid, 64)
    for spid in range(0xFFF, 0x1003):
        scene.access(spid, 2**40 + 256)
    return scene


class FilterTalk:
    """The filter may ask for any lines to be dropped, so long as it never forgets a holder and
    never lets one hold what another has for itself."""

    def __init__(self, seed):
        self.rng = random.Random(seed)

    def play(self, program):
        right = 0
        with Talk(program) as talk:
            for _ in range(6):
                for wrong in self._device(talk):
                    if wrong:
                        return right, [f"line {len(talk.said)} ({talk.said[-1]}): {wrong}"]
                    right += 1
        return right, []

    @staticmethod
    def _want(talk, line, *want):
        got = talk.ask(line)
        return f"{got}, expected {want}" if got != want else None

    def _device(self, talk):
        """What is wrong with each answer in turn, None for nothing."""
        rng = self.rng
        gfd = g.Gfd(8, 8, 64, 0, ((g.STEP, 0x30),))
        gfd.set_dmp(0, 0, 16 * g.STEP, g.STEP)
        yield self._want(talk, f"new 8 8 64 0 {g.STEP:#x} 0x30", "OK")
        yield self._want(talk, f"dmp 0 0 {16 * g.STEP:#x} {g.STEP:#x}", "OK")
        pids = [1, 2, 3, 0xFFE]
        for pid in pids[:3]:
            d = decoder(2**40 * pid, pid % 2 * g.STEP, g.STEP, 1, 2, pid % 2, 1)
            gfd.set_gdt(pid, pid, 0, [d])
            text = f"1 1 {d.hpa:#x} {d.dpa:#x} {d.length:#x} 1 2 {d.way}"
            yield self._want(talk, f"gdt {pid} {pid} 0 {text}", "OK")
        sets, ways = rng.choice(((1, 1), (1, 4), (4, 2), (16, 8)))
        yield self._want(talk, f"filter {sets} {ways} 1000000", "OK")
        held, now = {}, 1
        for _ in range(1500):
            line, pid = rng.randrange(3 * sets * ways + 2) * 64, rng.choice(pids)
            kind = rng.choices(("take", "drop", "gone", "holders", "path"), (30, 8, 0.3, 8, 4))[0]
            if kind == "take":
                yield from self._take(talk, held, line, pid, rng.choice("se"))
            elif kind == "drop":
                had = held.pop((line, pid), None) is not None
                yield self._want(talk, f"drop {line:#x} {pid}", int(had))
            elif kind == "gone":
                lines = [key for key in held if key[1] == pid]
                for key in lines:
                    del held[key]
                yield self._want(talk, f"gone {pid}", len(lines))
            elif kind == "path":
                yield self._path(talk, held, gfd, line, pid, now)
                now += rng.choice((10, g.REPORT_EVERY // 2, g.REPORT_EVERY))
            else:
                got = talk.ask(f"holders {line:#x}")
                want = {(p, how) for (at, p), how in held.items() if at == line}
                right = got[:1] == (len(want),) and set(zip(got[1::2], got[2::2])) == want
                yield None if right else f"{got}, expected {want}"
        for pid in pids:
            yield self._want(talk, f"counts {pid}", *gfd.fails.get(pid, [0] * 5))
        yield from self._off_line(talk, now)

    def _take(self, talk, held, line, pid, how):
        for _ in range(400):
            rivals = {(at, p) for (at, p), h in held.items()
                      if at == line and p != pid and "e" in (h, how)}
            got = talk.ask(f"take {line:#x} {pid} {how}")
            if got == ("OK",):
                yield f"taken, but {rivals} hold it" if rivals else None
                # Who has it for himself keeps it so.
                held[line, pid] = "e" if held.get((line, pid)) == "e" else how
                return
            if got[:1] != ("snoop",) or not got[1] or len(got) != 2 + 3 * got[1]:
                yield f"{got}"
            asked = {(dpa, p): h for p, dpa, h in zip(got[2::3], got[3::3], got[4::3])}
            for key, h in asked.items():
                yield None if held.get(key) == h else f"snoops {key} {h}, it is {held.get(key)}"
            if rivals and not rivals & set(asked):
                yield f"snoops {asked}, not {rivals}"
            for dpa, p in asked:
                held.pop((dpa, p))
                yield self._want(talk, f"drop {dpa:#x} {p}", 1)
        yield "never taken"

    def _path(self, talk, held, gfd, line, pid, now):
        dpa = line + self.rng.choice((0, g.STEP))
        hpa = gfd.reverse(pid, dpa)
        command = f"path {now} {dpa:#x} {pid}"
        if hpa is not None:
            return self._want(talk, command, hpa)
        held.pop((dpa, pid), None)
        gfd.fails.setdefault(pid, [0] * 5)[1] += 1
        return self._want(talk, command, "lost", int(gfd.due(now, pid, 1) is not None), 0)

    def _off_line(self, talk, now):
        """Q29: if lines are lost again and again, the filter takes no more."""
        yield self._want(talk, "filter 4 4 3", "OK")
        off = [talk.ask(f"path {now} {64 * i:#x} 4094")[2:] for i in range(5)]
        yield None if off[0] == (0,) and off[4] == (1,) and sorted(off) == off else f"{off}"
        yield self._want(talk, "take 0 1 s", "EIO")


WHOLE = (blocks_by_requesters, every_way, every_requester_denied, FilterTalk)
