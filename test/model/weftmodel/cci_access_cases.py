# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""Drawn commands of FMs that own a component, would like to, or do not, and of hosts; judged by
cci_access.

What a component has beyond what is mandatory it says in its Command Effects Log: a caller must get
all that its log lists, and nothing else.
"""

from weftmodel import cci
from weftmodel import cci_access as a
from weftmodel.cci_cases import draw
from weftmodel.cci_judge import CciJudge, Wrong, expect

FMS = {0x0A1: b"\xA1" * 16, 0x0A2: b"\xA2" * 16, 0x0A3: b"\xA3" * 16, 0x0A4: b"\xA4" * 16}
HOSTS = (0x011, 0x012)
# Unsupported is what these answer to some requests though they are there.
MAY_SAY_UNSUPPORTED = {0x5300, 0x5701}
SET_RGT, RGT_MODES_OPTIONAL = 0x570B, (2, 6, 7)


def may_say_unsupported(opcode, payload):
    """A row of an RGT may name a mode that a switch does not have to have (fabric.md 1.10)."""
    if opcode == SET_RGT:
        return any(payload[at + 9] & 7 in RGT_MODES_OPTIONAL
                   for at in range(6, len(payload) - 11, 12))
    return opcode in MAY_SAY_UNSUPPORTED


class Access(CciJudge):
    def __init__(self, ask, rng, columns=(a.SWITCH_FM, a.SWITCH_HOST), component=0,
                 without=()):
        super().__init__(ask, rng)
        self.owners, self.limit = a.Owners(), 10
        self.columns, self.component = columns, component
        self.without = set(without)         # mandatory opcodes that are known not to be there
        self.logs = {}                      # of "fm" and "host": opcodes, once they are known

    def column(self, iface):
        return a.RULES[self.columns[iface == "host"]]

    # ---- what a caller gets --------------------------------------------------------------

    def caller(self):
        rng = self.rng
        if rng.randrange(4) == 0:
            return "host", rng.choice(HOSTS)
        known = [o[0] for o in (self.owners.primary, self.owners.secondary) if o]
        return "fm", rng.choice(known if known and rng.randrange(2) else sorted(FMS))

    def is_owner(self, iface, pid):
        return iface == "fm" and self.owners.is_primary(pid)

    def may(self, iface, pid):
        """What this caller gets, None if that is not known yet."""
        if iface == "fm" and not self.owners.is_primary(pid):
            return a.OF_ALL
        return self.logs.get(iface)

    def read_log(self, iface, pid):
        """Of one caller: all that is in it may be there, all that must be there is."""
        _, got = self.command(0x0400, {0}, iface, pid)
        sizes = [log["size"] for log in got["logs"] if log["uuid"] == cci.CEL]
        expect(len(sizes) == 1 and sizes[0] % 4 == 0, "no log of commands, or an odd one")
        data, limit = b"", 1 << self.limit
        while len(data) < sizes[0]:
            part = min(limit, sizes[0] - len(data))
            _, got = self.command(0x0401, {0}, iface, pid, uuid=cci.CEL, off=len(data), len=part)
            expect(len(got["data"]) == part, "another length of the log than asked for")
            data += got["data"]
        listed = [int.from_bytes(data[i:i + 2], "little") for i in range(0, len(data), 4)]
        expect(len(set(listed)) == len(listed), "an opcode twice in the log")
        self.log_is_right(set(listed), iface, pid)

    def log_is_right(self, listed, iface, pid):
        if iface == "fm" and not self.owners.is_primary(pid):
            expect(listed == a.OF_ALL, "the log of who is not primary: " +
                   " ".join(f"{op:04X}" for op in sorted(listed ^ a.OF_ALL)))
            return
        column = self.column(iface)
        too_many = sorted(listed - set(column))
        expect(not too_many, "prohibited, but listed: " + " ".join(f"{o:04X}" for o in too_many))
        must = {op for op, mark in column.items() if mark == "M"} - self.without
        missing = sorted(must - listed)
        expect(not missing, "mandatory, but not listed: " + " ".join(f"{o:04X}" for o in missing))
        there = sorted(listed & self.without)
        expect(not there, "there after all: " + " ".join(f"{o:04X}" for o in there))
        expect(self.logs.setdefault(iface, listed) == listed, "the log changes")

    def probe(self):
        iface, pid = self.caller()
        rng = self.rng
        opcode = rng.choice((rng.choice(sorted(cci.COMMANDS)), rng.choice(sorted(cci.COMMANDS)),
                             rng.randrange(0x6000), rng.randrange(2**16)))
        if opcode in (0x0701, 0x0004):
            return
        may = self.may(iface, pid)
        layout = cci.REQUEST.get(opcode)
        payload = cci.put(layout, draw(rng, layout)) if layout else b""
        payload = payload if len(payload) < 1000 else b""
        rc, answer = self.raw(self.request(opcode, payload), iface, pid)
        expect(len(answer) <= 1 << self.limit, "longer than the response limit")
        if may is not None and opcode not in may:
            expect(rc == cci.UNSUPPORTED, f"{opcode:04X}h, not this caller's: code {rc:X}h")
        elif may is not None and not may_say_unsupported(opcode, payload):
            expect(rc != cci.UNSUPPORTED, f"{opcode:04X}h, listed, is unsupported")

    # ---- ownership -----------------------------------------------------------------------

    def owners_are_right(self, iface="fm", pid=None):
        pid = pid or self.rng.choice(sorted(FMS))
        _, got = self.command(0x0700, {0}, iface, pid)
        want = dict(self.owners.fields(), pid=self.owners.pid)
        for name, value in want.items():
            expect(got[name] == value, f"{name} is {self._shown(got[name])}, "
                   f"expected {self._shown(value)}")

    @staticmethod
    def _shown(value):
        return value.hex() if isinstance(value, bytes) else f"{value:X}h"

    def draw_claim(self):
        """By whom and for whom is drawn so that most are near to being right."""
        rng = self.rng
        sender = rng.choice(sorted(FMS))
        op = rng.choice((0, 1, 1, 2, 2, 3, 3, rng.randrange(256)))
        if op in (1, 2) and self.owners.primary and rng.randrange(3):
            sender = self.owners.primary[0]
        if op == 3 and self.owners.secondary and rng.randrange(3):
            sender = self.owners.secondary[0]
        fm_pid, uuid = sender, self.uuid_of(sender)
        if op == 1:
            fm_pid = rng.choice(sorted(FMS))
            uuid = self.uuid_of(fm_pid)
        elif op == 2 and rng.randrange(2):
            fm_pid = rng.choice(sorted(FMS))
        odd = rng.randrange(15)
        if odd == 0:
            fm_pid = rng.choice((0xFFF, 0x1000, 0xFFFF))
        elif odd == 1:
            uuid = rng.choice((a.NO_UUID, b"\xEE" * 16))
        new_pid = rng.choice((0xFFF, 0x1001)) if odd == 2 else rng.randrange(0x200, 0x300)
        return sender, {"op": op, "fm_pid": fm_pid, "fm_uuid": uuid, "new_pid": new_pid}

    def uuid_of(self, pid):
        for owner in (self.owners.primary, self.owners.secondary):
            if owner and owner[0] == pid:
                return owner[1]
        return FMS[pid]

    def claim(self):
        sender, q = self.draw_claim()
        self.claim_by(sender, q)

    def claim_by(self, sender, q):
        want = self.owners.claim(sender, q)
        allowed = {want} if want is not None else {cci.SUCCESS, cci.INVALID_INPUT}
        rc, got = self.command(0x0701, allowed, "fm", sender, **q)
        if rc == 0 and want is None:
            self.adopt(sender)
        elif rc == 0:
            self.owners.claimed(q)
            for name, value in self.owners.fields().items():
                expect(got[name] == value, f"0701h op {q['op']}: {name} is "
                       f"{self._shown(got[name])}, expected {self._shown(value)}")
        self.owners_are_right()

    def adopt(self, sender):
        """What the text does not say: it is as the component says it is."""
        _, got = self.command(0x0700, {0}, "fm", sender)
        self.owners.pid = got["pid"]
        self.owners.primary, self.owners.secondary = (
            None if got[p] == a.NONE_PID and got[u] == a.NO_UUID else (got[p], got[u])
            for p, u in (("prim_fm_pid", "prim_uuid"), ("sec_fm_pid", "sec_uuid")))

    def host_claims(self):
        self.command(0x0701, {cci.UNSUPPORTED}, "host", self.rng.choice(HOSTS), op=0,
                     fm_pid=0x0A1, fm_uuid=FMS[0x0A1], new_pid=0x201)
        self.owners_are_right()

    # ---- limits, lengths -----------------------------------------------------------------

    def set_limit(self):
        n = self.rng.choice((0, 7, 8, 9, 10, 10, 10, 11, 255))
        iface, pid = self.caller()
        if not self.is_owner(iface, pid):
            self.command(0x0004, {cci.UNSUPPORTED}, iface, pid, n=n)
            return
        if self.rng.randrange(4) == 0:
            _, got = self.command(0x0003, {0}, iface, pid)
            expect(got["n"] == self.limit, "another response limit")
        good = {0} if 8 <= n <= 10 else {0, cci.INVALID_INPUT} if n > 10 else {cci.INVALID_INPUT}
        rc, got = self.command(0x0004, good, iface, pid, n=n)
        if rc == 0:
            expect(8 <= got["n"] <= min(n, 10), "a response limit that was not asked for")
            self.limit = got["n"]

    def wrong_length(self):
        """Of commands that everybody has; too long, or the header says another length."""
        iface, pid = self.caller()
        opcode = self.rng.choice((0x0001, 0x0400, 0x0401))
        fixed = cci.REQUEST[opcode].fixed if cci.REQUEST[opcode] else 0
        length = self.rng.choice((fixed + 1, fixed + 4, fixed + 900, cci.MAX_PAYLOAD + 1))
        message = self.request(opcode, bytes(length))
        rc, _ = self.raw(message, iface, pid)
        expect(rc == cci.INVALID_PAYLOAD_LENGTH, f"{opcode:04X}h, too long: code {rc:X}h")

    def reserved_bits(self):
        """The extended status and what is reserved in the header are not looked at."""
        iface, pid = self.caller()
        message = bytearray(self.request(0x0001, b""))
        message[2], message[10], message[11] = self.rng.randrange(256), 0xCD, 0xAB
        rc, payload = self.raw(bytes(message), iface, pid)
        expect(rc == 0 and len(payload) == 18, "Identify with reserved bits set")
        got = cci.get(cci.RESPONSE[0x0001], payload)
        expect(got["comp"] == self.component and 8 <= got["maxmsg"] <= 10, "Identify")

    def begin(self):
        self.adopt(sorted(FMS)[0])
        expect(self.owners.primary is None and self.owners.secondary is None,
               "it has an owner from the start")
        self.read_log("fm", sorted(FMS)[0])
        self.read_log("host", HOSTS[0])

    def step(self):
        run = self.rng.choices((self.probe, self.claim, self.log_of_somebody, self.set_limit,
                                self.wrong_length, self.reserved_bits, self.host_claims),
                               (60, 20, 3, 5, 5, 3, 2))[0]
        run()

    def log_of_somebody(self):
        self.read_log(*self.caller())


def play(ask, rng, commands, **options):
    """(commands that were right, text about the first that was not or None, the judge)"""
    judge = Access(ask, rng, **options)
    try:
        judge.begin()
        while judge.commands < commands:
            judge.step()
    except Wrong as wrong:
        return judge.commands, str(wrong), judge
    return judge.commands, None, judge
