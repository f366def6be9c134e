# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""What is drawn for gfd_judge: sequences in which regions get full, tags come again, capacity is
shared, kept by a reference, and given to others."""

from weftmodel import gfd_capacity as g
from weftmodel.cci_judge import Wrong
from weftmodel.gfd_judge import HOSTS, Judge

TAGS = [bytes([0x70 + i]) * 16 for i in range(6)]
UNKNOWN = b"\xEE" * 16


class Drawn(Judge):
    """A GFD in its first state, then commands."""

    def begin(self):
        self.start()
        if not any(self.m.regions):
            self.set_dmps(0, list(self.m.dmps))
            self.make_regions()
        self.everything()

    def make_regions(self):
        """A small region and a larger one in every DMP, so that some get full."""
        number = 0
        for i, dmp in enumerate(self.m.dmps):
            if not dmp["len"] or not dmp["flags"] & g.DYNAMIC:
                continue
            for at, steps in ((0, 1), (g.STEP, 2)):
                if number < len(self.m.regions) and at + steps * g.STEP <= dmp["len"]:
                    self.set_region(id=number, blk=dmp["blk"], base=dmp["base"] + at,
                                    decode_len=steps,
                                    len=max(steps * g.STEP // dmp["blk"] * dmp["blk"], dmp["blk"]))
                    number += 1

    def step(self):
        rng = self.rng
        run = rng.choices(
            (self.draw_add, self.draw_release, self.draw_reference, self.draw_shared,
             self.draw_region, self.draw_dmp, self.draw_sat, self.draw_host, self.fm_gdt, self.cut),
            (36, 26, 10, 8, 3, 1, 5, 6, 1, 4))[0]
        run()
        if rng.randrange(100) == 0:
            self.everything()

    # ---- 4907h and 4908h -----------------------------------------------------------------

    def group(self):
        rng, most = self.rng, self.m.groups_max
        return rng.choice((0, 1, 2, 2, most - 1, rng.randrange(most)) if rng.randrange(20)
                          else (most, most + 1, 255, 0xFFFF))

    def a_region(self):
        there = [i for i, r in enumerate(self.m.regions) if r]
        if not there or not self.rng.randrange(20):
            return self.rng.choice((len(self.m.regions) - 1, len(self.m.regions), 255))
        return self.rng.choice(there)

    def a_tag(self):
        return self.rng.choice([g.NO_TAG, self.rng.choice(TAGS), self.rng.choice(TAGS)])

    def draw_add(self):
        rng = self.rng
        region = self.a_region()
        policy = rng.choice((0, 0, 1, 1, 2, 2, 2)) if rng.randrange(25) else rng.choice((4, 255))
        grp, tag = self.group(), self.a_tag()
        if not self.m.configured(region):
            self.add(grp=grp, policy=policy, region=region, len=1 << 28, tag=tag, max_rsp=25,
                     extent=[])
            return
        r = self.m.regions[region]
        runs = self.m.runs(r)
        free, longest = sum(n for _, n in runs), max([n for _, n in runs] or [0])
        length = rng.choice((r["blk"], r["blk"], 2 * r["blk"], 3 * r["blk"], longest, free,
                             longest + r["blk"], free + r["blk"], r["len"],
                             r["len"] + r["blk"], rng.choice((0, 64, r["blk"] + 64, 1 << 63))))
        extent = []
        if policy == g.PRESCRIPTIVE:
            extent = self.extents_for(r, runs, tag)
            length = sum(e["len"] for e in extent)
            if rng.randrange(20) == 0:
                length += r["blk"]
            length %= 2**64
        self.add(grp=grp, policy=policy, region=region, len=length, tag=tag,
                 max_rsp=rng.choice((0, 1, 25, 25, 1000)), extent=extent)

    def extents_for(self, r, runs, tag):
        """Mostly free blocks; now and then one that is taken, outside, askew or twice."""
        rng, out = self.rng, []
        free = [(base + i * r["blk"]) for base, n in runs[:8]
                for i in range(min(n // r["blk"], 64))]
        for dpa in rng.sample(free, min(len(free), rng.choice((1, 1, 2, 3)))):
            out.append({"dpa": dpa, "len": r["blk"], "tag": tag, "seq": 0})
        if rng.randrange(5) == 0 and out:
            out.append(dict(rng.choice(out)))
        odd = rng.randrange(12)
        taken = self.m.taken()
        if odd == 0 and taken:
            dpa, length = rng.choice(taken)
            out.append({"dpa": dpa, "len": length, "tag": tag, "seq": 0})
        elif odd == 1:
            out.append({"dpa": r["base"] + r["len"], "len": r["blk"], "tag": tag, "seq": 0})
        elif odd == 2 and out:
            out[0]["dpa"] += 64
        elif odd == 3 and out:
            out[0]["len"] = rng.choice((0, 64, 2 * r["len"], 2**64 - 64))
        return out[:24]

    def draw_shared(self):
        """A tag there is, into a region that may be read only."""
        known = sorted(self.m.tags)
        tag = self.rng.choice(known) if known and self.rng.randrange(10) else UNKNOWN
        length = self.m.tags[tag].length if tag in self.m.tags else 1 << 28
        if self.rng.randrange(10) == 0:
            length *= 2
        regions = [i for i, r in enumerate(self.m.regions)
                   if r and r["flags"] & g.READ_ONLY] or [self.a_region()]
        region = self.rng.choice(regions) if self.rng.randrange(4) else self.a_region()
        self.add(grp=self.group(), policy=g.SHARED, region=region, len=length, tag=tag,
                 max_rsp=25, extent=[])

    def draw_release(self):
        rng = self.rng
        full = [grp for grp, mine in sorted(self.m.groups.items()) if mine]
        grp = rng.choice(full) if full and rng.randrange(12) else self.group()
        mine = self.m.groups.get(grp, [])
        flags = rng.choice((0, 1, 1)) if rng.randrange(25) else rng.choice((2, 15))
        flags |= rng.choice((0, 0, 0, 0x20))
        max_rsp = rng.choice((0, 25, 1000))
        if flags & 15 == g.BY_TAG:
            tag = rng.choice(mine).tag if mine and rng.randrange(8) else self.a_tag()
            length = sum(e.len for e in mine if e.tag == tag)
            if rng.randrange(20) == 0:
                length += 64
            self.release(grp=grp, flags=flags, len=length, tag=tag, max_rsp=max_rsp, extent=[])
            return
        few = rng.sample(mine, min(len(mine), rng.choice((1, 1, 2, 24))))
        tag = few[0].tag if few else g.NO_TAG
        few = [e for e in few if e.tag == tag]
        extent = [e._asdict() for e in few]
        odd = rng.randrange(12)
        if odd == 0 and extent:
            extent[0]["len"] //= 2              # part of an extent
        elif odd == 1 and extent:
            extent.append(extent[0])
        elif odd == 2:
            others = [e for other, es in self.m.groups.items() if other != grp for e in es]
            extent += [e._asdict() for e in others[:1]]
        length = sum(e["len"] for e in extent)
        self.release(grp=grp, flags=flags, len=length, tag=tag, max_rsp=max_rsp, extent=extent)

    # ---- the rest ------------------------------------------------------------------------

    def draw_reference(self):
        known = sorted(self.m.tags)
        tag = self.rng.choice(known) if known and self.rng.randrange(6) else \
            self.rng.choice([UNKNOWN, g.NO_TAG] + TAGS)
        if self.rng.randrange(5) < 3:
            self.reference(tag)
        else:
            held = [t for t in known if self.m.tags[t].held]
            self.dereference(self.rng.choice(held) if held and self.rng.randrange(4) else tag)

    def draw_region(self):
        rng = self.rng
        dmp = rng.choice(self.m.dmps)
        steps = max(dmp["len"] // g.STEP, 1)
        base = dmp["base"] + rng.randrange(steps) * g.STEP
        length = rng.choice((1, 1, 2, 3)) * g.STEP
        odd = rng.randrange(10)
        blk = dmp["blk"] * (2 if odd == 0 else 1)
        self.set_region(
            id=rng.choice((len(self.m.regions) - 1, rng.randrange(len(self.m.regions)),
                           len(self.m.regions), 255)[0 if odd > 2 else 1:]),
            blk=blk if odd != 1 else rng.choice((0, 32, blk + 64)), san=rng.choice((0, 0, 1)),
            base=base + (rng.choice((64, STEP_HALF)) if odd == 2 else 0),
            decode_len=length // g.STEP if odd != 3 else rng.choice((1 << 36, 2**64 - 1)),
            len=(length + (blk if odd == 4 else 64 if odd == 5 else 0)) if odd != 6 else blk or 64)

    def draw_dmp(self):
        rng = self.rng
        i = rng.randrange(len(self.m.dmps))
        row = dict(self.m.dmps[i])
        odd = rng.randrange(8)
        if odd == 0:
            row["base"] += rng.choice((64, STEP_HALF))
        elif odd == 1:
            row["len"] += rng.choice((64, STEP_HALF))
        elif odd == 2:
            row["blk"] = rng.choice((0, 3 << 20, 1 << 52))
        elif odd == 3:
            row["base"] = self.m.dmps[i - 1]["base"]
        elif odd == 4:
            self.set_dmps(len(self.m.dmps), [row])
            return
        row["decode_len"] = row["len"] // g.STEP
        self.set_dmps(i, [row])

    def draw_sat(self):
        rng = self.rng
        most = (1 << self.m.groups_max) - 1
        rows = []
        for _ in range(rng.choice((1, 1, 2, 5))):
            vec = rng.choice((0, 1, 7, 1 << rng.randrange(self.m.groups_max), most,
                              rng.randrange(most + 1)))
            vec |= rng.choice((0, 0, g.NOTIFY))
            if rng.randrange(15) == 0 and self.m.groups_max < 31:
                vec |= 1 << self.m.groups_max
            rows.append((rng.choice(HOSTS), vec))
        self.set_sat(rows)

    def draw_host(self):
        pid = self.rng.choice(HOSTS)
        if self.rng.randrange(3):
            self.host_reads(pid)
        else:
            self.host_commands(pid)


STEP_HALF = g.STEP // 2


def play(ask, rng, commands):
    """(commands that were right, text about the first that was not or None, the judge)"""
    judge = Drawn(ask, rng)
    try:
        judge.begin()
        while judge.commands < commands:
            judge.step()
        judge.everything()
    except Wrong as wrong:
        return judge.commands, str(wrong), judge
    return judge.commands, None, judge
