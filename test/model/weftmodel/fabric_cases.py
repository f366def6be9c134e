# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""Scripts for pbr_script, with the answers of the model: random scenes, small tables whole, large
ones many at a time."""

import random

import numpy as np

from weftmodel import fabric as f
from weftmodel import messages
from weftmodel.script import Batch

CLASSES = sorted(f.SPREAD | f.UNSPREAD)
TOP = 2**64 - 1


def numbers(*values):
    return " ".join(map(str, values))


class Scene(Batch):
    """An edge port and its switch, of the model, and what was said to the program."""

    def __init__(self, rng):
        super().__init__()
        self.rng = rng
        self.edge = self.switch = None
        self.pids = []

    def set(self, line, call, *args):
        """A setter, in both."""
        try:
            call(*args)
        except f.Refused as refused:
            self.say(line, *(("error", kind) for kind in refused.kinds))
            return False
        self.say(line, ("ok",))
        return True

    def new(self, pid=0x11, depth=4, idt=64, ldst_depth=2, ldst_idt=16, rerouter=4, gim=1, vp=3,
            tables=2, rgt=8):
        def make():
            self.edge = f.Edge(pid, depth, idt, ldst_depth, ldst_idt, rerouter, gim, vp)
            self.switch = f.Switch(tables, rgt)
        line = numbers("new", pid, depth, idt, ldst_depth, ldst_idt, rerouter, gim, vp, tables,
                       rgt)
        return self.set(line, make)

    def bad_new(self):
        """One value out of range at a time; the next new is a good one."""
        for bad in ({"pid": 0xFFF}, {"depth": 13}, {"idt": 0}, {"idt": 4097}, {"ldst_depth": 13},
                    {"ldst_idt": 4097}, {"rerouter": 65}, {"vp": 4}, {"tables": 0},
                    {"tables": 17}, {"rgt": 3}, {"rgt": 257}, {"rgt": 512}):
            assert not self.new(**bad)
        self.new(ldst_idt=0)
        for line in ("ldst-config 0 0 0", "ldst 0 0 0 0 0", "ldst-idt 0 1"):
            self.say_judged(line, lambda got: got.startswith("error "), "error ...")

    # ---- set-up --------------------------------------------------------------------------

    def config(self, name, code, base, limit):
        self.set(f"{name}-config {code} {base:#x} {limit:#x}", getattr(self.edge, name).configure,
                 code, base, limit)

    def rows(self, name, start, rows):
        self.set(numbers(name, start, *(v for row in rows for v in row)),
                 getattr(self.edge, "set_" + name), start, [f.Row(*row) for row in rows])

    def idt(self, name, start, pids):
        self.set(numbers(name, start, *pids), getattr(self.edge, "set_" + name.replace("-", "_")),
                 start, pids)

    def vector(self, name, pid, on):
        self.set(numbers(name, pid, int(on)), self.edge.set_vector, name, pid, on)

    def vp(self, which, bits):
        self.set(numbers("vp-" + which, bits), self.edge.set_vp, which, bits)

    def hdm(self, index, base, length, pid):
        self.set(f"hdm {index} {base:#x} {length:#x} {pid}", self.edge.set_hdm, index, base,
                 length, pid)

    def pcie(self, pid):
        self.edge.pcie = pid
        self.say(numbers("pcie", pid), ("ok",))

    def drt(self, table, start, rows):
        self.set(numbers("drt", table, start, *(v for row in rows for v in row)),
                 self.switch.set_drt, table, start, rows)

    def rgt(self, table, start, rows):
        self.set(numbers("rgt", table, start, *(v for row in rows for v in row)),
                 self.switch.set_rgt, table, start, rows)

    def spread(self, on):
        self.switch.spread = on
        self.say(numbers("spread", int(on)), ("ok",))

    def ready(self, port, on):
        (set.discard if on else set.add)(self.switch.blocked, port)
        self.say(numbers("ready", port, int(on)), ("ok",))

    def load(self, port, n):
        self.switch.queued[port] = n
        self.say(numbers("load", port, n), ("ok",))

    # ---- decisions -----------------------------------------------------------------------

    def request(self, kind, hpa, prefix=None):
        tail = "" if prefix is None else f" {prefix}"
        self.say(f"{kind} {hpa:#x}{tail}", *self.edge.request(kind, hpa, prefix))

    def completion(self, valid, segment, bus, devfn, local, prefix=None):
        tail = () if prefix is None else (prefix,)
        self.say(numbers("cpl", valid, segment, bus, devfn, local, *tail),
                 self.edge.completion(valid, segment, bus, devfn, local, prefix))

    def egress(self, kind, spid, pif):
        self.say(numbers("egress", kind, spid, pif), self.edge.egress(kind, spid, pif))

    def slot_in(self, slot):
        self.say(f"slot-in x{slot.hex()}", *self.edge.slot_in(slot))

    def slot_out(self, slot):
        self.say(f"slot-out x{slot.hex()}", self.edge.slot_out(slot))

    def tlp_in(self, down, tlp, prefix=None):
        tail = "" if prefix is None else f" {prefix}"
        self.say(f"tlp-in {down} x{tlp.hex()}{tail}", *self.edge.tlp_in(down, tlp, prefix))

    def tlp_out(self, spid, pif, tlp):
        self.say(f"tlp-out {spid} {pif} x{tlp.hex()}", self.edge.tlp_out(spid, pif, tlp))

    def route(self, table, dpid, traffic, rnd):
        self.say(f"route {table} {dpid} {traffic} {rnd:#x}",
                 self.switch.route(table, dpid, traffic, rnd))


class RandomScene(Scene):
    """Everything in any order, with values at the edges of what is allowed."""

    def __init__(self, seed, length):
        super().__init__(random.Random(seed))
        rng = self.rng
        if seed % 8 == 0:
            self.bad_new()
        self.new(pid=rng.randrange(0xFFF), depth=rng.choice((0, 1, 3, 6, 12)),
                 idt=rng.choice((1, 2, 40, 256, 300, 4096)), ldst_depth=rng.choice((0, 2, 5)),
                 ldst_idt=rng.choice((0, 1, 16, 256)), rerouter=rng.choice((0, 1, 5, 64)),
                 gim=rng.randrange(2), vp=rng.choice((0, 1, 2, 3, 3, 3)), tables=rng.randint(1, 3),
                 rgt=rng.choice((0, 1, 4, 32)))
        self.pids = rng.sample(range(0xFFF), 8) + [0, 0xFFE]
        # Lawful first, so that most of what follows hits.
        for pid in self.pids:
            for name in ("gmv", "vtv", "lav"):
                if rng.random() < 0.8:
                    self.vector(name, pid, True)
        for name in self.tables_of_segments():
            self.fill(name)
        kinds = (self.fill, self.draw_config, self.draw_rows, self.draw_idt, self.draw_vector,
                 self.draw_vp,
                 self.draw_rerouter, self.draw_hdm, self.draw_pcie, self.draw_drt, self.draw_rgt,
                 self.draw_queue, self.draw_request, self.draw_completion, self.draw_egress,
                 self.draw_route, self.draw_way, self.draw_slot, self.draw_tlp)
        weights = (0.3, 0.3, 5, 4, 3, 1, 2, 2, 0.5, 4, 3, 3, 40, 6, 3, 20, 3, 25, 12)
        while len(self.sent) < length:
            rng.choices(kinds, weights)[0]()

    def tables_of_segments(self):
        return ("fast", "ldst") if self.edge.ldst else ("fast",)

    def fill(self, name=None):
        name = name or self.rng.choice(self.tables_of_segments())
        self.draw_config(name, lawful=True)
        for _ in range(6):
            self.draw_idt(name)
            self.draw_rows(name)

    def pid(self):
        return self.rng.choices((self.rng.choice(self.pids), self.rng.randrange(0xFFF), 0xFFF),
                                (60, 2, 1))[0]

    def seldom(self, value, otherwise, share=0.03):
        return value if self.rng.random() < share else otherwise

    def draw_config(self, name=None, lawful=False):
        rng = self.rng
        name = name or rng.choice(self.tables_of_segments())
        table = getattr(self.edge, name)
        code = rng.randrange(8)
        size = 64 * f.GB << code
        base = rng.choice((1, table.depth - 1, table.depth, rng.randrange(1, 2**12))) or 1
        limit = base + rng.choice((1, table.depth, rng.randint(1, table.depth)))
        if rng.random() < 0.1:
            limit = 2**64 // size - 1
            base = limit - rng.randint(1, min(table.depth, limit - 1))
        base, limit = base * size, limit * size
        if not lawful:
            style = rng.randrange(12)
            if style == 0:
                code = 8
            elif style == 1:
                base += size >> rng.randrange(1, 12)
            elif style == 2:
                limit += size >> rng.randrange(1, 12)
            elif style == 3:
                limit = base
            elif style == 4:
                base, limit = limit, base
            elif style == 5:
                limit = base + (table.depth + 1) * size
            elif style == 6:
                base = 0
            elif style == 7:
                limit = 0
            elif style == 8:
                # Only the limit: rows stay.
                code = (table.size // (64 * f.GB)).bit_length() - 1
                base = table.base
                limit = base + rng.randint(1, table.depth) * table.size
        if max(base, limit) > TOP:
            return
        self.config(name, code, base, limit)

    def draw_rows(self, name=None):
        rng = self.rng
        name = name or rng.choice(self.tables_of_segments())
        table = getattr(self.edge, name)
        count = min(rng.choice((1, 1, 2, 5)), table.depth)
        start = self.seldom(table.depth, rng.randint(0, table.depth - count))
        most = len(table.idt).bit_length() - 1
        rows = []
        for _ in range(count):
            intlv = self.seldom(rng.randrange(16), rng.randint(0, min(most, 8)))
            end = len(table.idt) - 2**intlv + (rng.random() < 0.05)
            at = max(0, rng.choice((end, rng.randint(0, max(0, end)))))
            flags = self.seldom(rng.randrange(256), rng.choice((1, 1, 1, 3, 0, 2)))
            gran = self.seldom(rng.randrange(16), rng.randrange(7))
            if intlv == 0:
                at = self.seldom(0x1000, self.pid(), 0.01)
            rows.append((flags, intlv, gran, at))
        self.rows(name, start, rows)

    def draw_idt(self, name=None):
        rng = self.rng
        name = name or rng.choice(self.tables_of_segments())
        table = getattr(self.edge, name)
        count = min(rng.choice((1, 2, 8, 16, len(table.idt))), len(table.idt), 256)
        start = self.seldom(len(table.idt), rng.randint(0, len(table.idt) - count), 0.01)
        vector = self.edge.gmv | self.edge.vtv if name == "fast" else self.edge.lav
        pids = [pid for pid in self.pids if pid in vector]
        if not pids or rng.random() < 0.05:
            pids = self.pids
        pids = [rng.choice(pids) for _ in range(count)]
        if rng.random() < 0.02:
            pids[rng.randrange(count)] = 0xFFF
        self.idt("idt" if name == "fast" else "ldst-idt", start, pids)

    def draw_vector(self):
        self.vector(self.rng.choice(("gmv", "vtv", "lav")), self.pid(), self.rng.random() < 0.8)

    def draw_vp(self):
        self.vp(self.rng.choice(("vcs", "host")), self.seldom(4, self.rng.choice((0, 1, 2, 3, 3))))

    def draw_rerouter(self):
        rng = self.rng
        rows = len(self.edge.rerouter)
        count = min(rng.randint(1, 3), rows) or 1
        start = self.seldom(rows, rng.randint(0, max(0, rows - count)))
        got = [(self.pid(), rng.randrange(2), rng.randrange(3), rng.randrange(3), rng.randrange(3))
               for _ in range(count)]
        self.set(numbers("rerouter", start, *(v for row in got for v in row)),
                 self.edge.set_rerouter, start, got)

    def draw_hdm(self):
        rng = self.rng
        step = f.HDM_STEP
        base = rng.choice((0, self.edge.fast.base, self.edge.fast.limit, 2**64 - 4 * step,
                           rng.randrange(64) * step))
        base = (base + rng.randint(-2, 2) * step) % 2**64
        length = rng.choice((0, 1, 1, 2, 4)) * step
        if rng.random() < 0.04:
            base += rng.choice((64, step // 2))
        if rng.random() < 0.04:
            length += rng.choice((64, step // 2))
        index = self.seldom(10, rng.randrange(10))
        if length == 0:
            base, index = base // step * step, min(index, 9)
            self.hdm(index, base, 0, rng.choice(self.pids))
        else:
            self.hdm(index, base, length, self.pid())

    def draw_pcie(self):
        self.pcie(self.pid())

    def draw_drt(self):
        rng = self.rng
        rgt = len(self.switch.rgt[0])
        rows = [(self.seldom(3, rng.choice((0, 1, 1, 2, 2) if rgt else (0, 1)), 0.01),
                 rng.randrange(rgt or 256) if rng.random() < 0.8 else rng.randrange(256))
                for _ in range(rng.choice((1, 3, 40)))]
        start = self.seldom(0x1000 - len(rows), self.pid())
        if rng.random() < 0.01:
            rows[0] = (1, 256)
        tables = len(self.switch.drt)
        self.drt(self.seldom(tables, rng.randrange(tables)), start, rows)

    def draw_rgt(self):
        rng = self.rng
        rgt = len(self.switch.rgt[0])
        rows = []
        for _ in range(min(rng.choice((1, 1, 3)), rgt) or 1):
            highest = rng.randrange(8)
            primaries = self.seldom(rng.randrange(8), rng.randint(0, highest))
            mode = self.seldom(rng.randrange(8), rng.randrange(2))
            rows.append((*(rng.randrange(16) for _ in range(8)),
                         highest | primaries << 3 | self.seldom(rng.randrange(4), 0) << 6,
                         mode | rng.randrange(8) << 3 | self.seldom(rng.randrange(4), 0) << 6))
        start = self.seldom(rgt, rng.randint(0, max(0, rgt - len(rows))))
        tables = len(self.switch.rgt)
        self.rgt(self.seldom(tables, rng.randrange(tables)), start, rows)

    def draw_queue(self):
        rng = self.rng
        style = rng.randrange(9)
        if style == 0:
            self.spread(rng.random() < 0.8)
        elif style < 5:
            self.ready(rng.randrange(16), rng.random() < 0.6)
        else:
            self.load(rng.randrange(16), rng.randrange(4))

    def address(self):
        rng = self.rng
        table = getattr(self.edge, rng.choice(self.tables_of_segments()))
        style = rng.random()
        if style < 0.75 and table.base and table.limit:
            valid = [n for n, row in sorted(table.rows.items()) if row.flags & 1]
            if valid and rng.random() < 0.9:
                number = rng.choice(valid)
                first = table.base // table.size
                at = (first + (number - first) % table.depth) * table.size
            else:
                at = rng.randrange(table.base, table.limit, table.size)
            at += rng.choice((0, 64, 256, 1 << rng.randrange(6, 23), rng.randrange(1 << 22),
                              rng.randrange(table.size), table.size - 64, -64))
        elif style < 0.9:
            base, length, _ = rng.choice(self.edge.hdm)
            at = base + rng.choice((0, -64, length, length - 64, length // 2))
        elif style < 0.96:
            at = rng.choice((table.base, table.limit)) + rng.choice((-64, 0, 63))
        else:
            at = rng.choice((0, TOP, rng.getrandbits(64), rng.getrandbits(52)))
        return at % 2**64

    def draw_request(self):
        kind = self.rng.choices(("mem", "uio", "io"), (8, 8, 1))[0]
        with_prefix = kind != "mem" and self.rng.random() < 0.15
        self.request(kind, self.address(), self.pid() if with_prefix else None)

    def draw_completion(self):
        rng = self.rng
        self.completion(rng.randrange(2), rng.randrange(3), rng.randrange(3), rng.randrange(3),
                        rng.randrange(2), self.pid() if rng.random() < 0.3 else None)

    def draw_egress(self):
        rng, edge = self.rng, self.edge
        edge.link, edge.pbr_link = rng.random() < 0.8, rng.random() < 0.2
        self.say(f"link {int(edge.link)}", ("ok",))
        self.say(f"pbr-link {int(edge.pbr_link)}", ("ok",))
        for _ in range(3):
            self.egress(rng.choice(("mem", "uio", "uio", "uio", "io", "cpl")),
                        rng.choice(self.pids), rng.randrange(2))
        edge.link, edge.pbr_link = True, False
        self.say("link 1", ("ok",))
        self.say("pbr-link 0", ("ok",))

    def draw_slot(self):
        """A message of any kind with any fields, mostly to an address that leads somewhere."""
        rng = self.rng
        form = rng.choice(("hbr", "pbr"))
        kind = rng.choice(("m2s_req", "m2s_rwd") if form == "hbr" else ("s2m_ndr", "s2m_drs"))
        if rng.random() < 0.2:
            kind = rng.choice(sorted(messages.OPCODES) + ["d2h_dh", "h2d_dh"])
        fields = {name: rng.getrandbits(width) for name, (_, width)
                  in messages.LAYOUTS[kind, form].fields.items() if name != "r"}
        fields["val"] = 1
        if kind in ("m2s_req", "m2s_rwd"):
            fields["addr"] = self.address() >> 6 & (1 << 46) - 1
        slot = bytes.fromhex(messages.slot_of(form, kind, fields)[1:])
        (self.slot_in if form == "hbr" else self.slot_out)(slot)

    def draw_tlp(self):
        rng = self.rng
        kind = rng.choice((0x22, 0x62, 0x22, 0x62, 0x0F, 0x4F, 0x20, 0x60, 0x0A, 0x72))
        tlp = bytearray([kind, 0, 0, 1]) + rng.randbytes(16)
        if kind in (0x22, 0x62):
            tlp[8:16] = self.address().to_bytes(8, "big")
        elif kind in (0x0F, 0x4F):
            tlp[8:10] = rng.randrange(3), rng.randrange(3)
        tlp = (b"\x91" + rng.randbytes(3) if rng.random() < 0.1 else b"") + bytes(tlp)
        if rng.random() < 0.7:
            self.tlp_in(rng.randrange(2), tlp, self.pid() if rng.random() < 0.2 else None)
        else:
            self.tlp_out(rng.choice(self.pids), rng.randrange(2), tlp)

    def draw_route(self):
        rng, table = self.rng, self.rng.randrange(len(self.switch.drt))
        known = self.switch.drt[table]
        dpid = rng.choice(list(known)) if known and rng.random() < 0.9 else self.pid()
        self.route(table, dpid, rng.choice(CLASSES), rng.getrandbits(64))

    def draw_way(self):
        rng = self.rng
        hpa, intlv, gran = rng.getrandbits(64), rng.randrange(12), rng.randrange(9)
        try:
            want = (f.way(hpa, intlv, gran),)
        except f.Refused:
            want = ("error", "invalid")
        self.say(f"way {hpa:#x} {intlv} {gran}", want)


# ---- small tables, whole -----------------------------------------------------------------


def every_way(seed):
    """Every way of every number of ways and granularity, first and last byte, through FAST and
    LDST: each line of a set once."""
    scene = Scene(random.Random(seed))
    scene.new(depth=1, idt=512, ldst_depth=1, ldst_idt=512)
    base = 1 << 50
    for pid in range(0x200, 0x300):
        for name in ("gmv", "lav"):
            scene.vector(name, pid, True)
    scene.config("fast", 0, base, base + 64 * f.GB)
    scene.config("ldst", 0, 2 * base, 2 * base + 64 * f.GB)
    order = list(range(0x200, 0x300))
    scene.rng.shuffle(order)
    for intlv in range(9):
        for gran in range(7):
            start = scene.rng.choice((0, 512 - 2**intlv, scene.rng.randrange(257)))
            for idt, name in (("idt", "fast"), ("ldst-idt", "ldst")):
                scene.idt(idt, start, order[:2**intlv])
                scene.rows(name, 0, [(1, intlv, gran, start if intlv else order[0])])
            step = 256 << gran
            turn = scene.rng.randrange(1 << 12) * (step << intlv)
            for i in range(2**intlv + 1):
                at = base + turn + i * step
                scene.request("mem", at)
                scene.request("uio", at + step - 1)
                scene.request("uio", at + base)
                scene.request("mem", at + base + step - 64)
    return scene


def every_pid_denied(seed):
    """Each PID, through each table: reached while its bit is set, not after."""
    scene = Scene(random.Random(seed))
    scene.new(depth=1, idt=2, ldst_depth=1, ldst_idt=2, rerouter=1, vp=3)
    unit = 64 * f.GB
    scene.config("fast", 0, 2 * unit, 4 * unit)
    scene.config("ldst", 0, 8 * unit, 9 * unit)
    scene.vp("vcs", 3)
    scene.vp("host", 3)
    rerouter = scene.edge.set_rerouter

    def ask(pid):
        for hpa in (2 * unit, 3 * unit, 8 * unit):
            scene.request("uio", hpa)
        scene.request("mem", 2 * unit)
        scene.request("uio", 0, pid)
        scene.completion(0, 0, 1, 2, 1, pid)
        scene.completion(0, 0, 1, 2, 1)

    for pid in range(0xFFF):
        # Before any bit is set, each setter refuses.
        row = [(1, 0, 0, pid)]
        for on in (False, True):
            for name in ("gmv", "vtv", "lav"):
                if on:
                    scene.vector(name, pid, True)
            scene.rows("fast", 0, row)
            scene.rows("fast", 1, [(3, 0, 0, pid)])
            scene.rows("ldst", 0, row)
            scene.set(f"rerouter 0 {pid} 0 0 1 2", rerouter, 0, [(pid, 0, 0, 1, 2)])
            scene.idt("idt", 0, [pid])
            scene.idt("ldst-idt", 0, [pid])
        ask(pid)
        for name in ("gmv", "vtv", "lav"):
            scene.vector(name, pid, False)
            ask(pid)
    return scene


def every_fast_row(seed):
    """Tables of each depth and segment size: every row by number, through the wrap, and beside."""
    scene = Scene(random.Random(seed))
    for depth in range(5):
        for code in range(8):
            size = 64 * f.GB << code
            scene.new(depth=depth, gim=0, ldst_depth=depth)
            first = scene.rng.randrange(1, 64)
            count = 2**depth
            for pid in range(count):
                scene.vector("gmv", pid, True)
                scene.vector("lav", pid, True)
            for name, at in (("fast", first), ("ldst", first + 100)):
                scene.config(name, code, at * size, (at + count) * size)
                scene.rows(name, 0, [(1, 0, 0, pid) for pid in range(count)])
                for i in range(-1, count + 1):
                    scene.request("mem", (at + i) * size)
                    scene.request("uio", (at + i + 1) * size - 1)
                for off in range(count):
                    scene.rows(name, off, [(0, 0, 0, 0)])
                    for i in range(count):
                        scene.request("mem", (at + i) * size + 4096)
    return scene


def every_group(seed):
    """Each form of an RGT row, with each share of the mix, some ports not ready."""
    rng = random.Random(seed)
    scene = Scene(rng)
    scene.new(tables=1, rgt=1)
    scene.spread(True)
    scene.drt(0, 5, [(2, 0)])
    for highest in range(8):
        for primaries in range(8):
            for byte9 in range(64):
                ports = rng.sample(range(16), 8)
                scene.rgt(0, 0, [(*ports, highest | primaries << 3, byte9)])
                if primaries > highest or byte9 % 8 > 1:
                    continue
                for low in range(8):
                    if rng.random() < 0.7:
                        scene.ready(rng.choice(ports), rng.random() < 0.6)
                    if rng.random() < 0.3:
                        scene.load(rng.choice(ports), rng.randrange(3))
                    scene.route(0, 5, "rwd", rng.getrandbits(61) << 3 | low)
                scene.route(0, 5, "io", rng.getrandbits(64))
    for traffic in CLASSES:
        for _ in range(8):
            scene.route(0, 5, traffic, rng.getrandbits(64))
    return scene


def every_dpid(seed):
    """All of a DRT, before and after each of many writes."""
    scene = Scene(random.Random(seed))
    scene.new(tables=2, rgt=256)
    rows = [(scene.rng.choice((0, 1, 2)), scene.rng.randrange(256)) for _ in range(4095)]
    scene.drt(1, 0, rows)
    scene.rgt(1, 0, [(*(scene.rng.randrange(256) for _ in range(8)), 7, 0) for _ in range(256)])
    for dpid in range(4096):
        scene.route(1, dpid, "rwd", 0)
        scene.route(0, dpid, "ndr", 0)
    return scene


# ---- large tables, many at a time --------------------------------------------------------


def large(seed, count):
    """Full tables; count random addresses at once, answered from arrays. The decision is made
    here once more, for arrays; a thousand of them are checked against the slow one."""
    rng = random.Random(seed)
    scene = Scene(rng)
    code = rng.randrange(5)
    scene.new(depth=12, idt=4096, gim=0, ldst_depth=0, ldst_idt=0, rgt=256, tables=2)
    edge, switch = scene.edge, scene.switch
    size = 64 * f.GB << code
    base = rng.randrange(1, 4096) * size
    pids = rng.sample(range(0xFFF), 2000)
    for pid in pids:
        scene.vector("gmv", pid, True)
    scene.config("fast", code, base, base + 4096 * size)
    for at in range(0, 4096, 256):
        scene.idt("idt", at, rng.choices(pids, k=256))
    for at in range(0, 4096, 64):
        rows = []
        for _ in range(64):
            intlv = rng.randrange(9)
            at_idt = rng.randrange(4097 - 2**intlv) if intlv else rng.choice(pids)
            rows.append((int(rng.random() < 0.9), intlv, rng.randrange(7), at_idt))
        scene.rows("fast", at, rows)
    scene.rgt(1, 0, [(*(rng.randrange(256) for _ in range(8)), 7, 0) for _ in range(256)])
    scene.drt(1, 0, [(rng.choice((0, 1, 1, 2)), rng.randrange(256)) for _ in range(4095)])
    for pid in rng.sample(pids, 40):
        scene.vector("gmv", pid, False)

    draw = np.random.default_rng(seed)
    hpa = draw.integers(base - 4 * size, base + 4100 * size, count, dtype=np.uint64)
    table = np.array([edge.fast.rows.get(i, f.EMPTY) for i in range(4096)], dtype=np.uint64)
    row = table[(hpa // np.uint64(size) % np.uint64(4096)).astype(np.int64)]
    step = np.uint64(256) << row[:, 2]
    turn = hpa // step % (np.uint64(1) << row[:, 1])
    idt = np.array(edge.fast.idt, dtype=np.int64)
    last = len(idt) - 1
    dpid = np.where(row[:, 1] == 0, row[:, 3],
                    idt[np.minimum((row[:, 3] + turn).astype(np.int64), last)]).astype(np.int64)
    allowed = np.zeros(4096, dtype=bool)
    allowed[sorted(edge.gmv)] = True
    hit = (hpa >= base) & (hpa < base + 4096 * size) & (row[:, 0] & np.uint64(1) == 1)
    dpid = np.where(hit & allowed[dpid], dpid, 0xFFFF)
    for i in range(1000):
        want = edge.request("mem", int(hpa[i]))[0]
        assert dpid[i] == (want[1] if want[0] == "to" else 0xFFFF)
    ports = [switch.first_port(1, d) for d in range(4096)]
    ports = np.array([0xFFFF if p is None else p for p in ports] + [0xFFFF], dtype="<u2")
    port = ports[np.minimum(dpid, 4096)]
    some = draw.integers(0, 4095, count).astype("<u2")
    some[:2] = (0xFFE, 0)
    data, dpid = hpa.astype("<u8"), dpid.astype("<u2")
    # Short runs too: kernels have an end of their own for what does not fill a vector.
    start = 0
    for n in (*range(70), count):
        end = start + n if n < count else count
        start = start if n < count else 0
        run, n = slice(start, end), end - start
        scene.say_bytes(f"mem-run {n}", data[run].tobytes(), ("dpids", n), dpid[run].tobytes())
        scene.say_bytes(f"port-run 1 {n}", data[run].tobytes(), ("ports", n), port[run].tobytes())
        scene.say_bytes(f"drt-run 1 {n}", some[run].tobytes(), ("ports", n),
                        ports[some[run]].tobytes())
        start = end
    return scene


WHOLE = (every_way, every_pid_denied, every_fast_row, every_group, every_dpid)
