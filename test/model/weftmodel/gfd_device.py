# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""A GFD as gfd_capacity says one may be, for tests of the judge in gfd_judge.

It has 4 GiB in two DMPs with 64 MiB blocks, both sharable, the second one's medium read-only, three
groups, twelve extents and four tags. fault names one thing that it does wrong.
"""

from weftmodel import cci
from weftmodel import gfd_capacity as g

MB = 1 << 20
BLOCK = 64 * MB


def dmp(number, base, length, flags):
    return {"base": base, "decode_len": length // g.STEP, "len": length, "blk": BLOCK, "flags": flags,
            "idx": number, "san": 0}


class Device(g.Machine):
    def __init__(self, fault=None):
        mask = BLOCK.to_bytes(8, "little")
        super().__init__({
            "ndmp": 2, "nregion": 8, "ngrp": 3, "add_pol": 15, "qos": 0, "rel_pol": 3,
            "san_mask": 1, "total": 16, "region_blk": mask * 8, "dmp_blk": mask * 2 + bytes(16),
            "volatile": 16, "persistent": 0},
            [dmp(0, 0, 2048 * MB, g.DYNAMIC | g.SHARABLE),
             dmp(1, 2048 * MB, 2048 * MB, g.DYNAMIC | g.SHARABLE | g.READ_ONLY)],
            [None] * 8, 12, 4)
        self.fault, self.generation = fault, 0

    def answer(self, iface, pid, message):
        h = cci.get_header(message)
        mine = g.FM_MAY if iface == "fm" else g.HOST_MUST - {0x4913, 0x4914}
        run = getattr(self, f"_do_{h.opcode:04x}", None)
        if h.opcode not in mine or not run:
            return cci.response(message, g.UNSUPPORTED)
        try:
            q = cci.get(cci.REQUEST[h.opcode], message[cci.HEADER:])
        except cci.Malformed:
            return cci.response(message, g.LENGTH)
        if self.fault == "serves hosts" and iface == "host":
            iface = "fm"
        rc, values = run(q) if h.opcode != 0x4904 else self._do_4904(q, iface, pid)
        payload = cci.put(cci.RESPONSE[h.opcode], values) if rc == 0 and values else b""
        return cci.response(message, rc, payload)

    # ---- what is read --------------------------------------------------------------------

    def _do_4900(self, _):
        return 0, self.identity

    def _do_4905(self, q):
        rows = self.dmps[q["start"]:q["start"] + q["n"]]
        return 0, {"avail": 2, "n": len(rows), "start": q["start"], "dmp": rows}

    def _do_4902(self, q):
        none = dmp(0, 0, 0, 0)
        rows = [dict(r or none, idx=0)
                for r in self.regions[q["start"]:q["start"] + q["n"]]]
        return 0, {"avail": 8, "n": len(rows), "region": rows, "ext_total": self.ext_total,
                   "ext_avail": self.free_extents(), "tag_total": self.tag_total,
                   "tag_avail": self.tag_total - len(self.tags)}

    def _list_of(self, group, start, most):
        mine = self.groups.get(group, [])
        part = mine[start:start + min(most, 25)]
        return {"grp": group, "start": start, "n": len(part), "total": len(mine),
                "gen": self.generation, "extent": [e._asdict() for e in part]}

    def _do_4904(self, q, iface="fm", pid=0):
        if q["grp"] >= self.groups_max or \
                iface == "host" and not self.sat.get(pid, 0) >> q["grp"] & 1:
            return g.INPUT, None
        return 0, self._list_of(q["grp"], q["start"], q["n"])

    def _do_490b(self, q):
        tags = sorted(self.tags)[q["start"]:q["start"] + min(q["max"], 50)]
        return 0, {"gen": self.generation, "total": len(self.tags),
                   "tags": [{"tag": t, "flags": int(self.tags[t].held)} for t in tags]}

    def _do_490c(self, q):
        if q["start_rpid"] + q["n"] > 4096:
            return g.INPUT, None
        return 0, {"n": q["n"], "start_rpid": q["start_rpid"],
                   "vec": [self.sat.get(q["start_rpid"] + i, 0) for i in range(q["n"])]}

    # ---- what is changed -----------------------------------------------------------------

    def _may(self, codes):
        return 0 if g.OK in codes else max(codes)

    def _do_4903(self, q):
        rc = self._may(self.may_set_region(q) | ({g.INPUT} if not q["len"] else set()))
        if rc == 0:
            at = next((d for d in self.dmps
                       if g.within(q["base"], 1, d["base"], d["len"])), dmp(0, 0, 0, 0))
            self.regions[q["id"]] = None if not q["len"] else dict(q, flags=at["flags"])
        return rc, None

    def _do_4906(self, q):
        rc = self._may(self.may_set_dmps(q))
        if rc == 0:
            for i, row in enumerate(q["dmp"], q["start"]):
                if any(r and g.within(r["base"], 1, self.dmps[i]["base"], self.dmps[i]["len"])
                       for r in self.regions):
                    return g.INPUT, None
                self.dmps[i] = dict(row, idx=i, flags=self.dmps[i]["flags"])
        return rc, None

    def _pick(self, q):
        region = self.regions[q["region"]]
        total = self.tags[q["tag"]].length if q["policy"] == g.SHARED else q["len"]
        if q["policy"] == g.PRESCRIPTIVE:
            return [(e["dpa"], e["len"]) for e in q["extent"]]
        out = []
        for base, length in sorted(self.runs(region), key=lambda run: -run[1]):
            part = min(length, total)
            out += [(base, part)] if part else []
            total -= part
        return None if total else out

    def _do_4907(self, q):
        reused = q["tag"] in self.tags and q["policy"] != g.SHARED
        rc = self._may(self.may_add(q)) or (g.INPUT if reused or not q["len"] else 0)
        if rc:
            return rc, None
        picked = self._pick(q)
        if picked is None or len(picked) > self.free_extents():
            return g.EXHAUSTED, None
        if self.fault == "double" and self.extents() and q["policy"] == g.FREE:
            picked = [self.extents()[0][:2]]
        first = len(self.extents())
        self.added(q, [g.Extent(*p, q["tag"], first + i) for i, p in enumerate(picked)])
        if self.fault != "same generation":
            self.generation += 1
        return 0, self._list_of(q["grp"], 0, q["max_rsp"])

    def _do_4908(self, q):
        rc = self._may(self.may_release(q))
        if self.fault == "releases shared" and q["flags"] & 15 == g.BY_EXTENT and q["extent"] and \
                all((e["dpa"], e["len"]) in [m[:2] for m in self.groups.get(q["grp"], ())]
                    for e in q["extent"]):
            rc = 0
        if rc:
            if self.fault == "half" and self.groups.get(q["grp"]):
                self.groups[q["grp"]] = self.groups[q["grp"]][1:]
            return rc, None
        self.released(q)
        self.generation += 1
        return 0, self._list_of(q["grp"], 0, q["max_rsp"])

    def _do_4909(self, q):
        rc = self._may(self.may_reference(q["tag"]))
        if rc == 0:
            self.tags[q["tag"]].held = True
            self.generation += 1
        return rc, None

    def _do_490a(self, q):
        rc = self._may(self.may_dereference(q["tag"]))
        if rc == 0:
            if self.fault == "forgets to free":
                self.tags[q["tag"]].held = False
                return 0, None
            self.dereferenced(q["tag"])
            self.generation += 1
        return rc, None

    def _do_490d(self, q):
        rc = self._may(self.may_set_sat(q))
        for row in q["rows"] if rc == 0 else ():
            self.sat[row["rpid"]] = row["vec"] & (
                g.NOTIFY - 1 if self.fault != "notify stays" else -1)
        return rc, None
