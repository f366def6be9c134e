# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""Dynamic capacity of a GFD (fabric.md 1.7, 4.6, (b)): DMPs, DC regions, groups and their extents,
tags, references, access vectors.

Machine knows what must be so. Where the specification leaves a choice, it allows several answers:
each command has a set of return codes it may get, and 0 among them if it may succeed. Device is one
such GFD, for tests of the judge. doc/model.md lists the choices.
"""

from collections import namedtuple

from weftmodel import cci
from weftmodel.cci_judge import expect

STEP = 256 << 20
NOTIFY = 1 << 31
SHARABLE, COHERENT, DYNAMIC, READ_ONLY = 8, 0x10, 0x20, 0x40
FREE, CONTIGUOUS, PRESCRIPTIVE, SHARED = range(4)
BY_TAG, BY_EXTENT = range(2)
NO_TAG = bytes(16)
OK, INPUT, UNSUPPORTED, RETRY = (cci.SUCCESS, cci.INVALID_INPUT, cci.UNSUPPORTED,
                                 cci.RETRY_REQUIRED)
EXHAUSTED, EXTENTS = cci.RESOURCES_EXHAUSTED, cci.INVALID_EXTENT_LIST
LENGTH = cci.INVALID_PAYLOAD_LENGTH
HOST_MAY = {0x4900, 0x4901, 0x4902, 0x4904, 0x490E, 0x4910, 0x4911, 0x4913, 0x4914}
HOST_MUST = {0x4900, 0x4901, 0x4902, 0x4904, 0x4913, 0x4914}
FM_MAY = set(range(0x4900, 0x4913))
FM_MUST = FM_MAY - {0x4903, 0x4906, 0x4909, 0x490A, 0x490B}

Extent = namedtuple("Extent", "dpa len tag seq")


def power(number):
    return number > 0 and not number & (number - 1)


def within(dpa, length, base, room):
    return base <= dpa and dpa + length <= base + room


def apart(ranges):
    ranges = sorted(ranges)
    return all(a + b <= c for (a, b), (c, _) in zip(ranges, ranges[1:]))


class Capacity:
    """What a tag stands for: its home, the extents that it was first given as, and whether the FM
    holds it. pieced: it was not given by one command, so what is shared of it is not said."""

    def __init__(self, length, home):
        self.length, self.home, self.held, self.pieced = length, home, False, False


class Machine:
    def __init__(self, identity, dmps, regions, ext_total, tag_total):
        self.identity = identity
        self.groups_max = identity["ngrp"]
        self.policies, self.releases = identity["add_pol"], identity["rel_pol"]
        self.dmps = dmps                    # as 4905h has them
        self.regions = regions              # None where there is none
        self.ext_total, self.tag_total = ext_total, tag_total
        self.groups = {}                    # GrpID: [Extent]
        self.tags = {}                      # tag: Capacity
        self.kept = {}                      # tag: extents of its home that no group has
        self.sat = {}                       # RPID: bits 30..0

    # ---- what there is -------------------------------------------------------------------

    def region_at(self, dpa):
        return next((r for r in self.regions if r and within(dpa, 1, r["base"], r["len"])), None)

    def extents(self):
        return [e for group in self.groups.values() for e in group]

    def taken(self):
        return sorted((e.dpa, e.len) for e in self.extents() + sum(self.kept.values(), []))

    def runs(self, region):
        """Free ranges of a region, whole blocks of it."""
        out, at = [], region["base"]
        for dpa, length in self.taken():
            if within(dpa, length, region["base"], region["len"]):
                if dpa > at:
                    out.append((at, dpa - at))
                at = dpa + length
        end = region["base"] + region["len"]
        return out + ([(at, end - at)] if end > at else [])

    def free_extents(self):
        return self.ext_total - len(self.taken())

    def configured(self, number):
        return number < len(self.regions) and self.regions[number] is not None

    def tags_in(self, group):
        return {e.tag for e in self.groups.get(group, ()) if e.tag != NO_TAG}

    # ---- what may be answered ------------------------------------------------------------
    # Each returns the codes that a command may get. Two complaints at once: either is right.

    def may_add(self, q):
        bad, maybe = set(), set()
        region = self.regions[q["region"]] if self.configured(q["region"]) else None
        if q["grp"] >= self.groups_max or not region:
            bad.add(INPUT)
        if q["policy"] > SHARED or not self.policies >> q["policy"] & 1:
            bad.add(INPUT)
        if region:
            if q["len"] % region["blk"]:
                bad.add(INPUT)
            if q["len"] == 0:
                maybe |= {INPUT, EXTENTS}
            self._room(q, region, bad, maybe)
        self._list(q, region, bad, maybe)
        self._tag(q, region, bad, maybe)
        return maybe | (bad or {OK})

    def _room(self, q, region, bad, maybe):
        runs = self.runs(region)
        if q["policy"] == SHARED:
            # Where the capacity comes to lie is the device's affair.
            if q["tag"] in self.tags:
                maybe.add(EXHAUSTED)
        elif q["policy"] in (FREE, CONTIGUOUS):
            longest = sorted((r[1] for r in runs), reverse=True)
            if q["policy"] == CONTIGUOUS:
                longest = longest[:1]
            if q["len"] > sum(longest):
                bad.add(EXHAUSTED)
            else:
                least, rest = 0, q["len"]
                while rest > 0:
                    rest, least = rest - longest[least], least + 1
                if least > self.free_extents():
                    bad.add(EXHAUSTED)
                elif len(runs) > self.free_extents():
                    maybe.add(EXHAUSTED)
        elif q["n"] > self.free_extents():
            bad.add(EXHAUSTED)
        if q["policy"] != SHARED and q["tag"] != NO_TAG and q["tag"] not in self.tags and \
                len(self.tags) >= self.tag_total:
            bad.add(EXHAUSTED)

    def _list(self, q, region, bad, maybe):
        if q["policy"] != PRESCRIPTIVE:
            if q["n"]:
                maybe |= {EXTENTS, INPUT}
            return
        if q["n"] == 0:
            bad |= {EXTENTS, INPUT}
            return
        wanted = [(e["dpa"], e["len"]) for e in q["extent"]]
        if any(e["tag"] != q["tag"] for e in q["extent"]):
            maybe |= {EXTENTS, INPUT}
        if sum(length for _, length in wanted) != q["len"]:
            bad |= {EXTENTS, INPUT}
        if any(length == 0 for _, length in wanted):
            bad |= {EXTENTS, INPUT}
        if not apart(wanted) or any(dpa < b + m and b < dpa + length for dpa, length in wanted
                                    for b, m in self.taken()):
            bad.add(EXTENTS)
        if region and not all(within(dpa, length, region["base"], region["len"]) and
                              (dpa - region["base"]) % region["blk"] == 0 and
                              length % region["blk"] == 0 for dpa, length in wanted):
            bad |= {EXTENTS, INPUT}

    def _tag(self, q, region, bad, maybe):
        sharable = region and region["flags"] & SHARABLE
        if q["policy"] == SHARED:
            known = self.tags.get(q["tag"])
            if not known or not sharable:
                bad.add(INPUT)
            else:
                # A second time into one group, a writable region, another length: not said.
                if q["len"] != known.length or q["tag"] in self.tags_in(q["grp"]) or \
                        not region["flags"] & READ_ONLY:
                    maybe.add(INPUT)
        elif q["tag"] in self.tags or sharable and q["tag"] == NO_TAG:
            maybe.add(INPUT)
        elif region and region["flags"] & READ_ONLY:
            maybe.add(INPUT)

    def may_release(self, q):
        bad, maybe = set(), set()
        how = q["flags"] & 15
        mine = self.groups.get(q["grp"], [])
        if how > BY_EXTENT:
            return {INPUT}
        if not self.releases >> how & 1:
            bad |= {INPUT, UNSUPPORTED}
        if q["grp"] >= self.groups_max or not mine:
            bad.add(INPUT)
        if q["flags"] & 0x20 and not self.identity["san_mask"]:
            maybe |= {INPUT, UNSUPPORTED}
        if how == BY_TAG:
            of_tag = [e for e in mine if e.tag == q["tag"]]
            if not of_tag:
                bad.add(INPUT)
            if q["tag"] == NO_TAG or sum(e.len for e in of_tag) != q["len"]:
                maybe.add(INPUT)
            if q["n"]:
                maybe |= {EXTENTS, INPUT}
            if bad and q["n"]:
                bad.add(EXTENTS)
        else:
            self._release_list(q, mine, bad, maybe)
        return maybe | (bad or {OK})

    def _release_list(self, q, mine, bad, maybe):
        there = {(e.dpa, e.len): e for e in mine}
        wanted = [(e["dpa"], e["len"]) for e in q["extent"]]
        if not wanted or len(set(wanted)) < len(wanted) or any(w not in there for w in wanted):
            bad |= {EXTENTS, INPUT}
        found = [there[w] for w in wanted if w in there]
        if any(e.tag != NO_TAG and self.region_at(e.dpa)["flags"] & SHARABLE for e in found):
            bad |= {EXTENTS, INPUT}
        if any(e["tag"] not in (NO_TAG, f.tag) for e, f in zip(q["extent"], found)) or \
                any(e.tag != q["tag"] for e in found) or \
                sum(length for _, length in wanted) != q["len"]:
            maybe |= {EXTENTS, INPUT}

    def may_reference(self, tag):
        known = self.tags.get(tag)
        if not known:
            return {INPUT}
        # A second reference, capacity that is not sharable: not said.
        sharable = any(self.region_at(e.dpa)["flags"] & SHARABLE for e in known.home)
        return {OK, INPUT} if known.held or not sharable else {OK}

    def may_dereference(self, tag):
        known = self.tags.get(tag)
        return {OK} if known and known.held else {INPUT}

    def may_set_region(self, q):
        bad, maybe = set(), set()
        if q["id"] >= len(self.regions):
            return {INPUT}
        old = self.regions[q["id"]]
        if old and any(within(d, 1, old["base"], old["decode_len"] * STEP) for d, _ in self.taken()):
            bad |= {INPUT, RETRY, cci.BUSY}
        if q["decode_len"] == 0 or q["len"] == 0:
            maybe.add(INPUT)                # does it take the region away? not said
            return maybe | (bad or {OK})
        decode = q["decode_len"] * STEP     # counted in 256 MB, all else in bytes
        dmp = next((d for d in self.dmps if d["len"] and
                    within(q["base"], decode, d["base"], d["len"])), None)
        others = [(r["base"], r["decode_len"] * STEP) for i, r in enumerate(self.regions)
                  if r and i != q["id"]]
        if not dmp or not dmp["flags"] & DYNAMIC or q["blk"] != dmp["blk"] or \
                not power(q["blk"]) or q["blk"] < 64 or q["base"] % q["blk"] or \
                q["len"] % q["blk"] or q["len"] > decode:
            bad.add(INPUT)
        if not apart(others + [(q["base"], decode)]):
            bad.add(INPUT)
        if q["base"] % STEP:
            maybe.add(INPUT)
        if q["san"] & ~1 or q["san"] and not self.identity["san_mask"]:
            maybe |= {INPUT, UNSUPPORTED}
        return maybe | (bad or {OK})

    def may_set_dmps(self, q):
        bad, maybe = set(), set()
        if q["start"] + q["n"] > len(self.dmps):
            return {INPUT}
        new = list(self.dmps)
        for i, d in enumerate(q["dmp"], q["start"]):
            old = new[i]
            if any(within(dpa, 1, old["base"], old["len"]) for dpa, _ in self.taken()):
                bad |= {INPUT, RETRY, cci.BUSY}
            if any(r and within(r["base"], 1, old["base"], old["len"]) for r in self.regions):
                maybe |= {INPUT, RETRY, cci.BUSY}
            new[i] = d
            if d["len"] == 0:
                maybe.add(INPUT)
                continue
            mask = int.from_bytes(self.identity["dmp_blk"][8 * i:8 * i + 8], "little")
            if d["base"] % STEP or d["len"] % STEP or not power(d["blk"]) or \
                    not d["blk"] & mask or d["base"] + d["len"] > 2**64:
                bad.add(INPUT)
            elif d["base"] % d["blk"] or d["len"] % d["blk"]:
                maybe.add(INPUT)
            if d["flags"] != old["flags"] or d["idx"] != i or d["san"] or \
                    d["decode_len"] * STEP not in (0, d["len"]):
                maybe |= {INPUT, UNSUPPORTED}
            if d["len"] != old["len"] or d["blk"] != old["blk"]:
                maybe |= {INPUT, EXHAUSTED}     # what the medium holds, how long an MGT is
        if not apart([(d["base"], d["len"]) for d in new if d["len"]]):
            bad.add(INPUT)
        return maybe | (bad or {OK})

    def may_set_sat(self, q):
        if any(row["vec"] & ~NOTIFY & -1 << self.groups_max & 0xFFFFFFFF for row in q["rows"]) or \
                any(row["rpid"] > 4095 for row in q["rows"]):
            return {INPUT}
        # FFFh and 0 as RPIDs, how many rows there are, what happens on none, one row twice
        odd = not q["rows"] or any(row["rpid"] in (0, 0xFFF) for row in q["rows"]) or \
            len({row["rpid"] for row in q["rows"]}) < len(q["rows"])
        more = {row["rpid"] for row in q["rows"]} - set(self.sat)
        return {OK} | ({INPUT} if odd else set()) | ({INPUT, EXHAUSTED} if more else set())

    # ---- what became of it ---------------------------------------------------------------

    def check_added(self, q, old, new):
        """The group's extents before and after a 4907h that succeeded."""
        region = self.regions[q["region"]]
        was, more = set(old), [e for e in new if e not in set(old)]
        expect(was <= set(new), "an extent is gone")
        expect(len(new) == len(old) + len(more), "an extent twice")
        expect(all(e.tag == q["tag"] for e in more), "another tag")
        expect(all(e.len > 0 and within(e.dpa, e.len, region["base"], region["len"]) and
                   (e.dpa - region["base"]) % region["blk"] == 0 and e.len % region["blk"] == 0
                   for e in more), "an extent is not whole blocks of the region")
        ranges = [(e.dpa, e.len) for e in more]
        taken = [] if q["policy"] == SHARED and self._moves_in(q, more) else self.taken()
        expect(apart(taken + ranges), "capacity given twice")
        shared = self.tags[q["tag"]] if q["policy"] == SHARED else None
        expect(shared and shared.pieced or
               sum(e.len for e in more) == (shared.length if shared else q["len"]),
               "not the length asked for")
        if q["policy"] == CONTIGUOUS:
            expect(len(more) <= 1, "not contiguous")
        if q["policy"] == PRESCRIPTIVE:
            expect(sorted(ranges) == sorted((e["dpa"], e["len"]) for e in q["extent"]),
                   "not the extents prescribed")
        expect(len(set((e.tag, e.seq) for e in more)) == len(more) or
               not region["flags"] & SHARABLE, "a shared sequence number twice")
        return more

    def _moves_in(self, q, more):
        """Shared capacity taken up at home, no group having it there any more."""
        kept = {(e.dpa, e.len) for e in self.kept.get(q["tag"], ())}
        return kept == {(e.dpa, e.len) for e in more}

    def added(self, q, more):
        self.groups.setdefault(q["grp"], []).extend(more)
        if q["tag"] == NO_TAG or not more:
            return
        if q["tag"] not in self.tags:
            self.tags[q["tag"]] = Capacity(0, [])
        known = self.tags[q["tag"]]
        if q["policy"] != SHARED:
            known.pieced |= known.length > 0
            known.length += sum(e.len for e in more)
            known.home = known.home + more
        elif self._moves_in(q, more):
            del self.kept[q["tag"]]

    def leaving(self, q):
        """The extents that a 4908h that succeeds takes away."""
        mine = self.groups[q["grp"]]
        if q["flags"] & 15 == BY_TAG:
            return [e for e in mine if e.tag == q["tag"]]
        wanted = {(e["dpa"], e["len"]) for e in q["extent"]}
        return [e for e in mine if (e.dpa, e.len) in wanted]

    def released(self, q):
        gone = self.leaving(q)
        self.groups[q["grp"]] = [e for e in self.groups[q["grp"]] if e not in gone]
        for tag in {e.tag for e in gone} - {NO_TAG}:
            known = self.tags[tag]
            part = [e for e in gone if e.tag == tag]
            shared = any(self.region_at(e.dpa)["flags"] & SHARABLE for e in part)
            if known.held or shared and self._has_a_group(tag):
                home = {(e.dpa, e.len) for e in known.home}
                kept = [e for e in part if (e.dpa, e.len) in home]
                if kept:
                    self.kept[tag] = self.kept.get(tag, []) + kept
            elif not self._has_a_group(tag):
                self._freed(tag)
            else:                           # a part of capacity that is not shared
                known.pieced = True
                known.home = [e for e in known.home if e not in part]

    def _has_a_group(self, tag):
        return any(tag in self.tags_in(group) for group in self.groups)

    def _freed(self, tag):
        self.kept.pop(tag, None)
        del self.tags[tag]

    def dereferenced(self, tag):
        self.tags[tag].held = False
        if not self._has_a_group(tag):
            self._freed(tag)
