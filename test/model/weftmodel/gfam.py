# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""A G-FAM device (fabric.md 1.6, 1.7, 1.9, 1.12): decoders, groups, rights, reports, and who holds
which line.

Slow and plain on purpose: memory is dealt out by counting granules, groups are a dictionary of
blocks, and an access asks one decoder after the other.
"""

from collections import namedtuple
from struct import unpack_from

STEP = 256 << 20
DECODERS = 8
ITSELF = 0xFFF
NO_GROUP = 255
COHERENT, DYNAMIC, READ_ONLY = 0x10, 0x20, 0x40
ANY_WAY, OVERLAP, POISON_DENY, POISON_MISS, UIO = 1, 2, 4, 8, 16
REPORT_EVERY = 100_000_000      # ns, for each requester and trigger

Decoder = namedtuple("Decoder", "v coh hpa dpa length intlv gran way")
OFF = Decoder(0, 0, 0, 0, 0, 0, 0, 0)
Dmp = namedtuple("Dmp", "base length block")
Region = namedtuple("Region", "base decode length block")
Access = namedtuple("Access", "result trigger answer dpa decoder dmp group coherent")


class Refused(Exception):
    pass


def need(condition, name="EINVAL"):
    if not condition:
        raise Refused(name)


def step(decoder):
    return 256 * 2**decoder.gran


def span(decoder):
    """HPAs from the first to the last, of all ways."""
    return decoder.length * 2**decoder.intlv


def to_dpa(decoder, hpa, any_way):
    """1.6: granules go round the ways; ours are every ways-th."""
    if not decoder.v or hpa < decoder.hpa:
        return None
    granule, inside = divmod(hpa - decoder.hpa, step(decoder))
    number = granule // 2**decoder.intlv
    off = number * step(decoder) + inside
    if off >= decoder.length:
        return None
    if not any_way and hpa // step(decoder) % 2**decoder.intlv != decoder.way:
        return None
    return decoder.dpa + off


def to_hpa(decoder, dpa):
    if not (decoder.v and decoder.dpa <= dpa < decoder.dpa + decoder.length):
        return None
    number, inside = divmod(dpa - decoder.dpa, step(decoder))
    return decoder.hpa + (number * 2**decoder.intlv + decoder.way) * step(decoder) + inside


def apart(ranges):
    ranges = sorted(ranges)
    return all(a[0] + a[1] <= b[0] for a, b in zip(ranges, ranges[1:]))


class Gfd:
    def __init__(self, rows, groups, blocks, knobs, media):
        need(1 <= rows <= 4095 and 1 <= groups <= 64 and 1 <= len(media) <= 4 and blocks >= 1)
        need(not any(mask % 2**6 or mask >> 52 for mask, _ in media))
        self.max_rows, self.groups, self.blocks, self.knobs = rows, groups, blocks, knobs
        self.media = media              # (block sizes, flags)
        self.dmps = [None] * len(media)
        self.regions = [None] * 8
        self.group_of = [{} for _ in media]
        self.gdt = {}
        self.sat = {}
        self.owners = {}
        self.fails = {}
        self.reported = {}              # (RPID, trigger): [when, kept back since]

    # ---- set-up --------------------------------------------------------------------------

    def _dmp_at(self, base, length=1):
        for i, dmp in enumerate(self.dmps):
            if dmp and dmp.base <= base and base + length <= dmp.base + dmp.length:
                return i
        return None

    def _grouped(self, i, base, length):
        dmp = self.dmps[i]
        return any(base <= dmp.base + k * dmp.block < base + length for k in self.group_of[i])

    def set_dmp(self, i, base, length, block):
        need(i < len(self.dmps))
        old = self.dmps[i]
        if length:
            need(block in (2**n for n in range(6, 52)) and block & self.media[i][0])
            need(not base % STEP and not length % STEP)
            need(not base % block and not length % block)
            need(base + length <= 2**64)
            need(apart([(base, length)] + [d[:2] for j, d in enumerate(self.dmps) if d and j != i]))
            need(length // block <= self.blocks, "ENOSPC")
        if old:
            inside = (r for r in self.regions if r and self._dmp_at(r.base) == i)
            need(not self.group_of[i] and not any(inside), "EBUSY")
        self.dmps[i] = Dmp(base, length, block) if length else None

    def set_region(self, i, base, decode, length, block):
        need(i < 8)
        old = self.regions[i]
        if decode:
            at = self._dmp_at(base, decode)
            need(at is not None and self.media[at][1] & DYNAMIC and block == self.dmps[at].block)
            need(not base % block and not decode % STEP and not length % block)
            need(0 < length <= decode)
            need(apart([(base, decode)] + [r[:2] for j, r in enumerate(self.regions)
                                           if r and j != i]))
        if old:
            need(not self._grouped(self._dmp_at(old.base), old.base, old.decode), "EBUSY")
        self.regions[i] = Region(base, decode, length, block) if decode else None

    def set_blocks(self, dpa, length, group):
        need(group < self.groups or group == NO_GROUP)
        i = self._dmp_at(dpa, length)
        need(i is not None and length)
        block = self.dmps[i].block
        need(not dpa % block and not length % block)
        if self.media[i][1] & DYNAMIC:
            need(any(r and r.base <= dpa and dpa + length <= r.base + r.length
                     for r in self.regions))
        first = (dpa - self.dmps[i].base) // block
        for k in range(first, first + length // block):
            self.group_of[i].pop(k, None)
            if group != NO_GROUP:
                self.group_of[i][k] = group

    def set_sat(self, rpid, vector):
        need(rpid <= 0xFFE and vector < 2**self.groups)
        self.sat[rpid] = vector

    def set_sat32(self, rpid, vector):
        """490Dh: whether the requester shall be told."""
        self.set_sat(rpid, vector % 2**31)
        return vector >> 31

    def set_gdt(self, caller, rpid, start, entries):
        need(rpid <= 0xFFE and entries)
        need(caller in (rpid, self.owners.get(rpid), ITSELF), "EPERM")   # Q20
        need(start + len(entries) <= DECODERS, "ENOSPC")
        row = list(self.gdt.get(rpid, [OFF] * DECODERS))
        for i, d in enumerate(entries):
            if not d.v:
                row[start + i] = OFF
                continue
            need(d.intlv <= 8 and d.gran <= 6 and d.way < 2**d.intlv and d.length)
            at = self._dmp_at(d.dpa, d.length)
            need(at is not None)
            block = self.dmps[at].block
            need(not d.dpa % block and not d.length % block and not d.hpa % block)
            need(not d.hpa % (step(d) * 2**d.intlv))
            need(d.hpa + span(d) <= 2**64)
            need(not d.coh or self.media[at][1] & COHERENT, "ENOTSUP")
            row[start + i] = d
        on = [d for d in row if d.v]
        need(apart([(d.dpa, d.length) for d in on]))
        need(self.knobs & OVERLAP or apart([(d.hpa, span(d)) for d in on]))
        need(not on or rpid in self.gdt or len(self.gdt) < self.max_rows, "ENOSPC")
        self.gdt[rpid] = row
        if not on:
            del self.gdt[rpid]

    def get_gdt(self, rpid, i):
        return self.gdt.get(rpid, [OFF] * DECODERS)[i]

    def group(self, dpa):
        i = self._dmp_at(dpa)
        if i is None:
            return NO_GROUP
        return self.group_of[i].get((dpa - self.dmps[i].base) // self.dmps[i].block, NO_GROUP)

    # ---- decisions (1.12; answers 1.9) ---------------------------------------------------

    def _line(self, spid, hpa, write):
        """(result, trigger, DPA, decoder, DMP, group, coherent); coherent is only for what gets as
        far as the snoop filter."""
        row = self.gdt.get(spid)
        if row is None:
            return "no_row", 0, 0, 0, 0, NO_GROUP, 0
        hits = [(i, dpa) for i, d in enumerate(row)
                if (dpa := to_dpa(d, hpa, self.knobs & ANY_WAY)) is not None]
        if len(hits) != 1:
            result = "several" if hits else "no_hit"
            if not hits and any(to_dpa(d, hpa, True) is not None for d in row):
                result = "wrong_way"
            return result, 0, 0, 0, 0, NO_GROUP, 0
        i, dpa = hits[0]
        group = self.group(dpa)
        if group == NO_GROUP:
            return "ungrouped", 2, dpa, i, 0, NO_GROUP, 0
        dmp = self._dmp_at(dpa)
        result, trigger = "allowed", -1
        if not self.sat.get(spid, 0) >> group & 1:
            result, trigger = "denied", 3
        elif write and self.media[dmp][1] & READ_ONLY:
            result = "no_write"
        return result, trigger, dpa, i, dmp, group, int(result == "allowed" and row[i].coh)

    def access(self, spid, hpa, write):
        """CXL.mem"""
        got = self._line(spid, hpa, write)
        if got[0] == "allowed":
            answer = "serve"
        elif write:
            answer = "cmp"
        elif got[0] in ("ungrouped", "denied"):
            answer = "ones_poison" if self.knobs & POISON_DENY else "ones"
        else:
            answer = "nxm_poison" if self.knobs & POISON_MISS else "nxm"
        return Access(*got[:2], answer, *got[2:])

    def uio(self, spid, hpa, length, write):
        if not self.knobs & UIO:
            return Access("uio_off", -1, "ca", 0, 0, 0, NO_GROUP, 0)
        # The part of each line that the access touches.
        starts = [hpa] + list(range(hpa // 64 * 64 + 64, hpa + length, 64))
        lines = [self._line(spid, at, write) for at in starts]
        decoders = {(line[0] in ("no_row", "no_hit", "wrong_way", "several"), line[3])
                    for line in lines}
        if len(decoders) > 1:
            return Access("crosses", 0, "ca", 0, 0, 0, NO_GROUP, 0)
        got = next((line for line in lines if line[0] != "allowed"), lines[0])
        answer = {"allowed": "serve", "no_write": "cmp", "denied": "ca",
                  "ungrouped": "ca"}.get(got[0], "ur")
        return Access(*got[:2], answer, *got[2:])

    def reverse(self, rpid, dpa):
        """1.6, the snoop's way."""
        hits = [hpa for d in self.gdt.get(rpid, ()) if (hpa := to_hpa(d, dpa)) is not None]
        return hits[0] if len(hits) == 1 else None

    # ---- counts and reports --------------------------------------------------------------

    def note(self, now, spid, hpa, write):
        """The access, and None for no report, else how many were kept back before it."""
        got = self.access(spid, hpa, write)
        counts = self.fails.setdefault(spid, [0] * 5)
        if got.result == "no_write":
            counts[4] += 1
        if got.trigger < 0:
            return got, None
        counts[got.trigger] += 1
        return got, self.due(now, spid, got.trigger)

    def due(self, now, rpid, trigger):
        last = self.reported.get((rpid, trigger))
        if last and now - last[0] < REPORT_EVERY:
            last[1] += 1
            return None
        self.reported[rpid, trigger] = [now, 0]
        return last[1] if last else 0


REPORT_FIELDS = {"pid": (0, "H"), "type": (4, "B"), "trigger": (5, "B"), "rpid": (6, "H"),
                 "dpa": (8, "Q"), "hpa": (16, "Q"), "group": (24, "H"), "opcode": (26, "B"),
                 "reserved": (27, "B"), "flags": (28, "H"), "time": (32, "Q")}


def read_report(data):
    """0107h, 28h bytes."""
    return {name: unpack_from("<" + form, data, at)[0]
            for name, (at, form) in REPORT_FIELDS.items()}


NO_OPCODE = 255     # in a script: the request had none, as those of UIO have not


def want_report(pid, spid, hpa, opcode, now, access):
    flags = 1 << 1 | 1 << 3 | 1 << 5
    if opcode == NO_OPCODE:
        opcode = 0
        flags &= ~(1 << 5)
    want = {"pid": pid, "type": 2, "trigger": 1 << access.trigger, "rpid": spid, "hpa": hpa,
            "opcode": opcode, "reserved": 0, "time": now}
    if access.trigger in (2, 3):
        flags |= 1 << 2
        want["dpa"] = access.dpa
    if access.trigger == 3:
        flags |= 1 << 4
        want["group"] = access.group
    want["flags"] = flags
    return want
