# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""An edge port and the routing tables of its switch (fabric.md 1.2 to 1.5, 1.10 to 1.12, 2.4).

Slow and plain on purpose: segments are compared with ranges, interleave is division and remainder,
vectors are sets, and a request goes through the decoders one by one.
"""

from collections import namedtuple

from weftmodel import messages

GB = 1 << 30
NOBODY = 0xFFF                  # 2.1: no such PID
UNSPREAD = frozenset(           # 1.10: these stay on one path
    "h2d-req h2d-rsp ndr req-hdm-d io io-vh".split())
SPREAD = frozenset(
    "d2h-req d2h-rsp d2h-dh h2d-dh drs bisnp birsp rwd req-hdm-h req-hdm-db uio-p2p".split())
HDM_DECODERS, HDM_STEP = 10, 256 << 20

Row = namedtuple("Row", "flags intlv gran dpid_ix")
Group = namedtuple("Group", "ports highest primaries mode mix")
EMPTY = Row(0, 0, 0, 0)


class Refused(Exception):
    """Every complaint that applies; which of them is answered first may be free."""

    def __init__(self, *kinds):
        super().__init__(*kinds)
        self.kinds = frozenset(kinds)


def need(condition, kind="invalid"):
    if not condition:
        raise Refused(kind)


def ways(intlv):
    return 2**intlv


def way(hpa, intlv, gran):
    """1.3"""
    need(0 <= intlv <= 8 and 0 <= gran <= 6)
    return hpa // (256 * 2**gran) % ways(intlv)


class Segments:
    """FAST or LDST with its IDT: which rows it takes, and the PID that an address leads to."""

    def __init__(self, depth_log2, idt):
        self.depth = 2**depth_log2
        self.idt = [NOBODY] * idt
        self.size, self.base, self.limit = 64 * GB, 0, 0
        self.rows = {}

    def configure(self, code, base, limit):
        """5804h, 570Dh; Q1, Q2"""
        need(code <= 7)
        size = 64 * GB * 2**code
        need(base % size == 0 and limit % size == 0)
        if base and limit:
            need(base < limit and limit - base <= self.depth * size)
        if (size, base) != (self.size, self.base):
            self.rows = {}
        self.size, self.base, self.limit = size, base, limit

    def number(self, start):
        """Q1: row 0 of a command is the segment at the base."""
        return (self.base // self.size + start) % self.depth

    def targets(self, row):
        """Every PID that the row leads to."""
        if row.intlv == 0:
            return [row.dpid_ix]
        return self.idt[row.dpid_ix:row.dpid_ix + ways(row.intlv)]

    def set_rows(self, start, rows, is_supported, may_reach):
        """5806h, 570Fh"""
        need(start + len(rows) <= self.depth)
        for row in rows:
            need(row.flags <= 3 and row.intlv <= 8 and row.gran <= 6 and row.dpid_ix <= 0xFFF)
            need(row.intlv == 0 or row.dpid_ix + ways(row.intlv) <= len(self.idt))
        kinds = []
        for row in rows:
            if not is_supported(row):
                kinds.append("unsupported")
            elif row.flags & 1 and not all(may_reach(row, pid) for pid in self.targets(row)):
                kinds.append("refused")
        if kinds:
            raise Refused(*kinds)
        for i, row in enumerate(rows):
            self.rows[self.number(start + i)] = row

    def set_idt(self, start, pids, may_reach):
        """5808h, 5711h; Q21"""
        need(start + len(pids) <= len(self.idt) and all(pid <= 0xFFF for pid in pids))
        need(all(may_reach(pid) for pid in pids), "refused")
        self.idt[start:start + len(pids)] = pids

    def find(self, hpa):
        """(row, PID), None for a miss."""
        if not (self.base and self.limit and self.base <= hpa < self.limit):
            return None
        row = self.rows.get(hpa // self.size % self.depth, EMPTY)
        if not row.flags & 1:
            return None
        return row, self.targets(row)[way(hpa, row.intlv, row.gran)]


class Edge:
    def __init__(self, pid, depth_log2, idt, ldst_depth_log2, ldst_idt, rerouter, gim, vp):
        need(pid < NOBODY)
        need(depth_log2 <= 12 and 1 <= idt <= 4096)
        need(ldst_depth_log2 <= 12 and ldst_idt <= 4096 and rerouter <= 64)
        need(vp <= 3)
        self.pid, self.gim, self.vp = pid, gim, vp
        self.fast = Segments(depth_log2, idt)
        self.ldst = Segments(ldst_depth_log2, ldst_idt) if ldst_idt else None
        self.gmv, self.vtv, self.lav = set(), set(), set()
        self.vp_vcs = self.vp_host = 0
        self.rerouter = [(NOBODY, 0, 0, 0, 0)] * rerouter
        self.hdm = [(0, 0, NOBODY)] * HDM_DECODERS
        self.pcie = NOBODY
        self.pbr_link, self.link = False, True

    # ---- set-up --------------------------------------------------------------------------

    def set_fast(self, start, rows):
        self.fast.set_rows(
            start, rows, lambda row: self.gim or not row.flags & 2,
            lambda row, pid: pid in (self.vtv if row.flags & 2 else self.gmv))

    def set_idt(self, start, pids):
        self.fast.set_idt(start, pids, (self.gmv | self.vtv).__contains__)

    def set_ldst(self, start, rows):
        self.ldst.set_rows(start, rows, lambda row: True, lambda row, pid: pid in self.lav)

    def set_ldst_idt(self, start, pids):
        self.ldst.set_idt(start, pids, self.lav.__contains__)

    def set_vector(self, name, pid, on):
        need(pid < NOBODY)
        (set.add if on else set.discard)(getattr(self, name), pid)

    def set_vp(self, which, bits):
        """2.4: the switch has it, the FM turns it on, the host turns it on."""
        need(bits <= 3 and (which == "host" or not bits & ~self.vp))
        setattr(self, "vp_" + which, bits)

    def prefix_on(self, ingress):
        return bool(self.vp & self.vp_vcs & self.vp_host & (2 if ingress else 1))

    def set_rerouter(self, start, rows):
        need(start + len(rows) <= len(self.rerouter))
        for pid, valid, segment, bus, devfn in rows:
            need(pid <= 0xFFF and valid <= 1 and max(segment, bus, devfn) <= 255)
        need(all(row[0] == NOBODY or row[0] in self.lav for row in rows), "refused")
        self.rerouter[start:start + len(rows)] = rows

    def set_hdm(self, index, base, length, pid):
        need(index < HDM_DECODERS and pid < NOBODY)
        need(base % HDM_STEP == 0 and length % HDM_STEP == 0 and base + length <= 2**64)
        others = self.hdm[:index] + self.hdm[index + 1:]
        need(length == 0 or all(base + length <= b or b + n <= base for b, n, _ in others if n))
        self.hdm[index] = (base, length, pid)

    # ---- decisions (1.12, 2.4) -----------------------------------------------------------
    # ("to", DPID, SPID, PIF, decoder) or ("no", reason); in a list where the text allows several.

    def _to(self, pid, decoder, pif=0, vector=None):
        if vector is not None and pid not in vector:
            return ("no", "not-allowed")
        return ("to", pid, self.pid, pif, decoder)

    def request(self, kind, hpa, prefix=None):
        if prefix is not None:
            if kind == "uio" and self.prefix_on(True) and prefix in self.vtv:
                return [self._to(prefix, "prefix", 1)]
            return [("no", "prefix")]
        if kind == "io":
            return [self._to(self.pcie, "pcie") if self.pcie != NOBODY else ("no", "no-decode")]
        hit = self.fast.find(hpa)
        if hit:
            row, pid = hit
            answer = self._to(pid, "fast", int(kind == "uio"),
                              self.vtv if row.flags & 2 else self.gmv)
            if row.flags & 2 and kind != "uio":
                wrong = ("no", "gim-uio-only")
                return [wrong] if answer[0] == "to" else [wrong, answer]
            return [answer]
        hit = self.ldst.find(hpa) if self.ldst else None
        if hit:
            row, pid = hit
            return [self._to(pid, "ldst-segment" if row.flags & 2 else "ldst", 0, self.lav)]
        for base, length, pid in self.hdm:
            if base <= hpa < base + length:
                return [self._to(pid, "hdm")]
        if kind == "uio" and self.pcie != NOBODY:
            return [self._to(self.pcie, "pcie")]
        return [("no", "no-decode")]

    def completion(self, valid, segment, bus, devfn, local, prefix=None):
        if prefix is not None:
            if self.prefix_on(False) and prefix in self.vtv:
                return self._to(prefix, "prefix", 1)
            return ("no", "unexpected")
        for pid, wants, seg, b, df in self.rerouter:
            if pid == NOBODY or (b, df) != (bus, devfn):
                continue
            if not wants or (valid and seg == segment):
                return self._to(pid, "rerouter", 0, self.lav)
        return self._to(NOBODY, "upstream") if local else ("no", "unexpected")

    def egress(self, kind, spid, pif):
        if not self.link:
            return ("drop",)
        if self.pbr_link or kind != "uio" or not pif:
            return ("pass",)
        return ("prefix", spid) if self.prefix_on(False) else ("ur",)

    # ---- a link of HBR form (1.11, 1.9) ---------------------------------------------------

    def slot_in(self, slot):
        """From the host or device: ("on", slot of PBR form), ("answer", slot of HBR form), ("drop",)."""
        kind, fields = messages.only("hbr", slot)
        if kind not in ("m2s_req", "m2s_rwd"):
            return [("drop",)]
        found = []
        for answer in self.request("mem", fields["addr"] << 6):
            if answer[0] == "to":
                on = dict(fields, dpid=answer[1], spid=self.pid)
                del on["ldid"]
                found.append(("on", messages.slot_of("pbr", kind, on)))
            elif kind == "m2s_rwd" or fields["memop"] == 0:
                cmp = dict(val=1, memop=0, metafield=3, tag=fields["tag"], ldid=fields["ldid"])
                found.append(("answer", messages.slot_of("hbr", "s2m_ndr", cmp)))
            else:
                nxm = dict(val=1, memop=1, metafield=3, tag=fields["tag"], ldid=fields["ldid"])
                found.append(("answer", messages.slot_of("hbr", "s2m_drs", nxm)))
        return found

    def slot_out(self, slot):
        """Towards the host: answers lose the DPID, and nobody asks it anything."""
        kind, fields = messages.only("pbr", slot)
        if kind not in ("s2m_ndr", "s2m_drs"):
            return ("drop",)
        del fields["dpid"]
        return ("on", messages.slot_of("hbr", kind, fields))

    def tlp_in(self, down, tlp, prefix=None):
        """As (DPID, SPID, PIF, decoder, Hie, DSAR)."""
        head = tlp[4:] if tlp[0] == 0x91 else tlp
        if head[0] in (0x0F, 0x4F):
            answers = [self.completion(0, 0, head[8], head[9], False, prefix)]
        else:
            answers = self.request("uio" if head[0] in (0x22, 0x62) else "io",
                                   int.from_bytes(head[8:16], "big"), prefix)
        return [a + (int(a[4] == "pcie"), down) if a[0] == "to" else a for a in answers]

    def tlp_out(self, spid, pif, tlp):
        head = tlp[4:] if tlp[0] == 0x91 else tlp
        return self.egress("uio" if head[0] in (0x22, 0x62) else "cpl", spid, pif)


class Switch:
    """DRTs, each with its RGT."""

    def __init__(self, tables, rgt):
        need(1 <= tables <= 16)
        need(rgt <= 256 and (rgt == 0 or 2**rgt.bit_length() == 2 * rgt))
        self.drt = [{} for _ in range(tables)]
        self.rgt = [[Group((0,) * 8, 0, 0, 0, 0)] * rgt for _ in range(tables)]
        self.spread = False
        self.queued, self.blocked = {}, set()

    def set_drt(self, table, start, rows):
        need(table < len(self.drt) and start + len(rows) <= NOBODY)
        for kind, value in rows:
            need(kind <= 2 and value <= 255 and (kind != 2 or value < len(self.rgt[table])))
        for i, row in enumerate(rows):
            self.drt[table][start + i] = row

    def set_rgt(self, table, start, rows):
        need(table < len(self.rgt) and start + len(rows) <= len(self.rgt[table]))
        kinds, groups = [], []
        for row in rows:
            ports, byte8, byte9 = row[:8], row[8], row[9]
            group = Group(ports, byte8 % 8, byte8 // 8 % 8, byte9 % 8, byte9 // 8 % 8)
            groups.append(group)
            if max(row) > 255 or byte8 // 64 or byte9 // 64 or group.mode in (3, 4, 5) \
                    or group.primaries > group.highest:
                kinds.append("invalid")
            if group.mode in (2, 6, 7):
                kinds.append("unsupported")
        if kinds:
            raise Refused(*kinds)
        self.rgt[table][start:start + len(rows)] = groups

    def first_port(self, table, dpid):
        kind, value = self.drt[table].get(dpid, (0, 0))
        return (None, value, self.rgt[table][value].ports[0] if kind == 2 else None)[kind]

    def route(self, table, dpid, traffic, rnd):
        if dpid == NOBODY:
            return ("local",)
        kind, value = self.drt[table].get(dpid, (0, 0))
        if kind == 0:
            return ("none",)
        if kind == 1:
            return ("port", value)
        group = self.rgt[table][value]
        if traffic in UNSPREAD or not self.spread:
            return ("port", group.ports[0])
        port = self._choose(group, rnd)
        return ("stall",) if port is None else ("port", port)

    def _choose(self, group, rnd):
        primary = [p for p in group.ports[:group.primaries + 1] if p not in self.blocked]
        other = [p for p in group.ports[group.primaries + 1:group.highest + 1]
                 if p not in self.blocked]
        if group.primaries == group.highest:
            chosen = primary
        elif group.mix == 7:
            chosen = primary or other
        else:
            # The share of primaries is (7 - mix) eighths.
            chosen = primary if rnd % 8 < 7 - group.mix else other
        if not chosen:
            return None
        if group.mode == 0:
            return chosen[(rnd >> 32) * len(chosen) >> 32]
        return min(chosen, key=lambda port: self.queued.get(port, 0))
