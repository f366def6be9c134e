# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""Drawn sequences of commands for a GFD, each answer judged by gfd_capacity.Machine.

What the device may choose (where free capacity is taken) is read back and judged; what it may not
is compared. After a command that fails, everything is as it was.
"""

from weftmodel import cci
from weftmodel import gfd_capacity as g
from weftmodel.cci_judge import CciJudge, codes, expect

FM_PID = 0x123
HOSTS = (0x011, 0x012, 0x7FF)


class Judge(CciJudge):
    def __init__(self, ask, rng):
        super().__init__(ask, rng)
        self.generations, self.tag_generation = {}, None
        self.m = None                       # the machine

    def command(self, opcode, allowed, iface="fm", pid=FM_PID, /, **values):
        return super().command(opcode, allowed, iface, pid, **values)

    # ---- reading back --------------------------------------------------------------------

    def start(self):
        claim = cci.put_request(0x0701, op=0, fm_pid=FM_PID, fm_uuid=b"\x5a" * 16, new_pid=0x201)
        self.raw(self.request(0x0701, claim), "fm", FM_PID)
        _, identity = self.command(0x4900, {0})
        expect(1 <= identity["ndmp"] <= 4 and 1 <= identity["nregion"] <= 8, "DMPs or regions")
        expect(identity["ngrp"] >= 1 and identity["add_pol"] < 16 and identity["rel_pol"] < 4,
               "groups or policies")
        masks = identity["region_blk"] + identity["dmp_blk"]
        for i in range(0, len(masks), 8):
            mask = int.from_bytes(masks[i:i + 8], "little")
            expect(mask % 64 == 0 and mask < 1 << 52, "a mask of blocks has bits beyond 6..51")
        expect(identity["volatile"] + identity["persistent"] <= identity["total"], "capacities")
        dmps = self.read_dmps(identity["ndmp"])
        self.m = g.Machine(identity, dmps, [None] * identity["nregion"], 0, 0)
        regions, counters = self.read_regions()
        self.m.regions = regions
        self.m.ext_total, self.m.tag_total = counters["ext_total"], counters["tag_total"]
        for group in range(identity["ngrp"]):
            mine = self.look(group)
            if mine:
                self.m.groups[group] = mine
        self.adopt_tags()
        self.m.sat = self.read_sat(range(4096))
        self.counters()

    def adopt_tags(self):
        for e in self.m.extents():
            if e.tag != g.NO_TAG:
                known = self.m.tags.setdefault(e.tag, g.Capacity(0, []))
                known.length, known.home = known.length + e.len, known.home + [e]
        for tag, held in self.read_tags().items():
            expect(tag in self.m.tags, "a tag that no extent has")
            self.m.tags[tag].held = held

    def read_dmps(self, count):
        _, got = self.command(0x4905, {0}, n=count, start=0)
        expect(got["n"] == len(got["dmp"]) == count, "fewer DMPs than there are")
        expect(all(d["idx"] == i for i, d in enumerate(got["dmp"])), "numbers of DMPs")
        return got["dmp"]

    def read_regions(self):
        """([region or None], the four counters)"""
        count = self.m.identity["nregion"]
        _, got = self.command(0x4902, {0}, n=count, start=0)
        expect(got["n"] <= count, "more regions than asked for")
        rows = got["region"] + [None] * (count - got["n"])
        return [r if r and r["len"] else None for r in rows], got

    def look(self, group, iface="fm", pid=FM_PID):
        """The extents of a group, read in pieces of a drawn size."""
        out, total, gen = [], None, None
        piece = self.rng.choice((1, 3, 25, 25, 1000))
        nothing = {0, g.INPUT} if not self.m.groups.get(group) else {0}
        while total is None or len(out) < total:
            rc, got = self.command(0x4904, nothing, iface, pid, grp=group, n=piece,
                                   start=len(out))
            if rc:
                return []
            expect((got["grp"], got["start"]) == (group, len(out)), "group or start")
            expect(total in (None, got["total"]) and gen in (None, got["gen"]), "total changes")
            total, gen = got["total"], got["gen"]
            expect(got["n"] <= piece and len(out) + got["n"] <= total, "too many extents")
            expect(got["n"] or total == len(out), "no extents, though there are some")
            out += [g.Extent(**e) for e in got["extent"]]
        old = self.generations.get(group)
        if old and iface == "fm":
            expect(old[0] != gen or sorted(old[1]) == sorted(out),
                   "the list changed, its generation did not")
        if iface == "fm":
            self.generations[group] = (gen, out)
        return out

    def read_tags(self):
        out, total, first = {}, None, None
        piece = self.rng.choice((1, 2, 50))
        while total is None or len(out) < total:
            _, got = self.command(0x490B, {0}, start=len(out), max=piece)
            expect(total in (None, got["total"]) and first in (None, got["gen"]), "total changes")
            total, first = got["total"], got["gen"]
            expect(len(got["tags"]) <= piece, "more tags than asked for")
            expect(got["tags"] or total == len(out), "no tags, though there are some")
            for t in got["tags"]:
                expect(t["tag"] not in out, "a tag twice")
                out[t["tag"]] = bool(t["flags"] & 1)
        if self.tag_generation:
            expect(self.tag_generation[0] != first or
                   set(self.tag_generation[1]) == set(out),
                   "tags changed, their generation did not")
        self.tag_generation = (first, out)
        return out

    def read_sat(self, rpids):
        out, rpids = {}, list(rpids)
        for at in range(0, len(rpids), 250):
            part = rpids[at:at + 250]
            rc, got = self.command(0x490C, {0, g.INPUT}, n=len(part), start_rpid=part[0])
            if rc:
                continue
            expect(got["start_rpid"] == part[0] and got["n"] <= len(part), "rows not asked for")
            expect(not any(v & g.NOTIFY for v in got["vec"]), "Notify is kept")
            out.update((part[0] + i, v) for i, v in enumerate(got["vec"]) if v)
        return out

    # ---- all is as the machine says -------------------------------------------------------

    def group_is_right(self, group):
        got = self.look(group)
        expect(sorted(got) == sorted(self.m.groups.get(group, [])),
               f"extents of group {group} are not those it should have")

    def tags_are_right(self):
        got = self.read_tags()
        want = {tag: c.held for tag, c in self.m.tags.items()}
        expect(got == want, f"tags {self._short(got)}, expected {self._short(want)}")

    @staticmethod
    def _short(tags):
        return {tag[:2].hex(): held for tag, held in sorted(tags.items())}

    def counters(self):
        regions, got = self.read_regions()
        for i, (a, b) in enumerate(zip(regions, self.m.regions)):
            expect(bool(a) == bool(b), f"region {i} is there or not")
            for name in ("base", "decode_len", "len", "blk", "flags", "san") if a else ():
                expect(a[name] == b[name], f"{name} of region {i}")
        expect((got["ext_total"], got["tag_total"]) == (self.m.ext_total, self.m.tag_total),
               "totals of extents or tags change")
        expect(got["tag_total"] - got["tag_avail"] == len(self.m.tags), "free tags")
        if not self.m.kept:
            expect(got["ext_avail"] == self.m.free_extents(), "free extents")

    def everything(self):
        for group in range(self.m.groups_max):
            self.group_is_right(group)
        self.tags_are_right()
        self.counters()
        expect(self.read_sat(range(0x20)) ==
               {r: v for r, v in self.m.sat.items() if v and r < 0x20}, "access vectors")
        dmps = self.read_dmps(len(self.m.dmps))
        expect(dmps == self.m.dmps, "DMPs")
        taken = self.m.taken()
        expect(g.apart(taken), "extents overlap")

    # ---- commands that change -------------------------------------------------------------

    def answered_list(self, q, got):
        """The answer of 4907h and 4908h: extents of the group, of the new list."""
        expect(got["grp"] == q["grp"], "group of the answer")
        expect(got["n"] <= q["max_rsp"], "more extents than max_rsp")
        now = set(self.m.groups[q["grp"]])
        listed = {g.Extent(**e) for e in got["extent"]}
        return listed, now

    def add(self, **values):
        q = cci.get(cci.REQUEST[0x4907], cci.put_request(0x4907, **values))
        old = list(self.m.groups.get(q["grp"], []))
        rc, got = self.command(0x4907, self.m.may_add(q), **values)
        if rc:
            self.unchanged(q["grp"])
            return
        before = self.m.groups.get(q["grp"])
        self.m.groups[q["grp"]] = old or [None]     # there must be something to read now
        new = self.look(q["grp"]) if q["len"] or old else old
        if before is None:
            del self.m.groups[q["grp"]]
        else:
            self.m.groups[q["grp"]] = before
        more = self.m.check_added(q, old, new)
        self.m.added(q, more)
        listed, now = self.answered_list(q, got)
        expect(listed <= now, "the answer has extents that the group has not")
        self.tags_are_right()

    def release(self, **values):
        q = cci.get(cci.REQUEST[0x4908], cci.put_request(0x4908, **values))
        rc, got = self.command(0x4908, self.m.may_release(q), **values)
        if rc:
            self.unchanged(q["grp"])
            return
        gone = set(self.m.leaving(q))
        self.m.released(q)
        listed, now = self.answered_list(q, got)
        expect(listed <= now or listed <= gone, "the answer has extents it cannot have")
        self.group_is_right(q["grp"])
        self.tags_are_right()

    def reference(self, tag):
        rc, _ = self.command(0x4909, self.m.may_reference(tag), tag=tag)
        if rc == 0:
            self.m.tags[tag].held = True
        self.tags_are_right()

    def dereference(self, tag):
        rc, _ = self.command(0x490A, self.m.may_dereference(tag), tag=tag)
        if rc == 0:
            self.m.dereferenced(tag)
        self.tags_are_right()
        self.counters()

    def set_region(self, **values):
        q = cci.get(cci.REQUEST[0x4903], cci.put_request(0x4903, **values))
        rc, _ = self.command(0x4903, self.m.may_set_region(q), **values)
        if rc == 0 and q["len"]:
            dmp = next(d for d in self.m.dmps if d["len"] and
                       g.within(q["base"], 1, d["base"], d["len"]))
            self.m.regions[q["id"]] = dict(q, flags=dmp["flags"])
        elif rc == 0:
            self.m.regions[q["id"]] = None
        self.counters()

    def set_dmps(self, start, rows):
        q = {"n": len(rows), "start": start, "dmp": rows}
        rc, _ = self.command(0x4906, self.m.may_set_dmps(q), start=start, dmp=rows)
        got = self.read_dmps(len(self.m.dmps))
        for i, (now, old) in enumerate(zip(got, self.m.dmps)):
            want = rows[i - start] if rc == 0 and start <= i < start + len(rows) else old
            for name in ("base", "len", "blk") if want["len"] else ("len",):
                expect(now[name] == want[name], f"{name} of DMP {i}")
            expect(now["flags"] == old["flags"], f"flags of DMP {i} change")
        self.m.dmps = got

    def set_sat(self, rows):
        values = [{"rpid": r, "vec": v} for r, v in rows]
        rc, _ = self.command(0x490D, self.m.may_set_sat({"rows": values}), rows=values)
        last = {}
        for rpid, vec in rows:
            last.setdefault(rpid, []).append(vec & g.NOTIFY - 1)
        for rpid, vecs in last.items():
            if rpid > 4095:
                continue
            now = self.read_sat([rpid]).get(rpid, 0)
            old = self.m.sat.get(rpid, 0)
            expect(now == vecs[-1] if rc == 0 else now in [old] + vecs,
                   f"access vector of {rpid:03X}h is {now:X}h")
            self.m.sat[rpid] = now

    def unchanged(self, group):
        if group < self.m.groups_max:
            self.group_is_right(group)
        if self.rng.randrange(4) == 0:
            self.tags_are_right()
            self.counters()

    # ---- hosts and nonsense ---------------------------------------------------------------

    def host_reads(self, pid):
        group = self.rng.randrange(self.m.groups_max)
        if self.m.sat.get(pid, 0) >> group & 1:
            got = self.look(group, "host", pid)
            expect(sorted(got) == sorted(self.m.groups.get(group, [])), "not what the FM sees")
        else:
            self.command(0x4904, {g.INPUT}, "host", pid, grp=group, n=1)

    def host_commands(self, pid):
        """Whatever a host may not do is refused, and nothing comes of it."""
        opcode = self.rng.choice(sorted(g.FM_MAY - g.HOST_MAY))
        values = {}
        if opcode == 0x490D:
            values = {"rows": [{"rpid": pid, "vec": g.NOTIFY - 1}]}
        elif opcode in (0x4907, 0x4908):
            values = {"extent": []}
        elif opcode == 0x4906:
            values = {"dmp": []}
        elif opcode == 0x4912:
            values = {"frac": []}
        self.command(opcode, {g.UNSUPPORTED}, "host", pid, **values)
        rc, got = self.command(0x4900, {0}, "host", pid)
        expect(got["ngrp"] == self.m.groups_max, "another identity")

    def fm_gdt(self):
        opcode = self.rng.choice((0x4913, 0x4914))
        values = {"gdt": []} if opcode == 0x4914 else {}
        self.command(opcode, {g.UNSUPPORTED}, rpid=HOSTS[0], **values)

    def cut(self):
        """A request with a wrong length changes nothing."""
        opcode = self.rng.choice((0x4903, 0x4906, 0x4907, 0x4908, 0x4909, 0x490A, 0x490D))
        layout = cci.REQUEST[opcode]
        length = self.rng.choice([n for n in range(1, layout.fixed + 30) if n != layout.fixed])
        data = bytearray(length)
        if length < layout.fixed:
            data[0] = 0xFF          # no such region, group or tag, whatever is taken for 0
        elif layout.list:
            at = layout.offsets[layout.list.count]
            data[at] = 2 if (length - layout.fixed) // layout.list.width == 1 else 1
        rc, _ = self.raw(self.request(opcode, bytes(data)), "fm", FM_PID)
        allowed = {g.INPUT, g.LENGTH}
        if length < layout.fixed:
            allowed |= {g.OK, g.EXTENTS, g.EXHAUSTED}
        expect(rc in allowed, f"{opcode:04X}h of {length} bytes: code {rc:X}h, expected {codes(allowed)}")
        self.unchanged(0)
