#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""The models of the fabric tables and of ATS against the numbers in their specifications."""

import unittest

from weftmodel import fabric as f
from weftmodel import gfam as g

PB = 1 << 50


class Routing(unittest.TestCase):
    """fabric.md (c)"""

    def test_way(self):
        for hpa, gran, intlv, want in (
                (0x123456789ABC, 0, 1, 0), (0x123456789ABC, 0, 8, 0x9A),
                (0x123456789ABC, 4, 3, 1), (0x123456789ABC, 6, 8, 0xE2),
                (0x1000003FC0, 0, 4, 0xF)):
            self.assertEqual(f.way(hpa, intlv, gran), want)

    def test_way_uses_the_bits_of_the_table(self):
        for intlv in range(9):
            for gran in range(7):
                low, high = 8 + gran, 8 + gran + intlv
                for bit in range(64):
                    want = 1 << bit - low if low <= bit < high else 0
                    self.assertEqual(f.way(1 << bit, intlv, gran), want)
        self.assertRaises(f.Refused, f.way, 0, 9, 0)
        self.assertRaises(f.Refused, f.way, 0, 0, 7)

    def test_fast_index(self):
        fast = f.Segments(12, 1)
        fast.configure(3, PB, 3 * PB)
        self.assertEqual((fast.number(0), fast.number(2048)), (2048, 0))
        rows = [f.Row(1, 0, 0, i % 4000) for i in range(4096)]
        fast.set_rows(0, rows, lambda row: True, lambda row, pid: True)
        for hpa, number in ((0x4000000000000, 2048), (0x7FFFFFFFFFFFF, 4095),
                            (0x8000000000000, 0), (0xBFFFFFFFFFFFF, 2047)):
            self.assertEqual(fast.find(hpa)[1], (number + 2048) % 4096 % 4000)
        self.assertIsNone(fast.find(PB - 1))
        self.assertIsNone(fast.find(3 * PB))

    def edge(self):
        edge = f.Edge(0x11, 12, 64, 0, 0, 0, True, 3)
        for pid in range(0x201, 0x205):
            edge.set_vector("gmv", pid, True)
        edge.fast.configure(3, PB, 3 * PB)
        edge.set_idt(16, [0x201, 0x202, 0x203, 0x204])
        edge.set_fast(0, [f.Row(1, 2, 2, 16)])
        return edge

    def test_four_ways(self):
        edge = self.edge()
        for off, dpid in ((0, 0x201), (0x400, 0x202), (0xFC0, 0x204), (0x12345C0, 0x202),
                          (16 * f.GB, 0x201)):
            self.assertEqual(edge.request("mem", PB + off), [("to", dpid, 0x11, 0, "fast")])

    def test_a_row_may_not_lead_to_a_pid_without_its_bit(self):
        edge = self.edge()
        for row in (f.Row(1, 0, 0, 0x205), f.Row(3, 0, 0, 0x201), f.Row(1, 1, 0, 19),
                    f.Row(1, 1, 0, 63)):
            self.assertRaises(f.Refused, edge.set_fast, 1, [f.Row(1, 0, 0, 0x201), row])
            self.assertIsNone(edge.fast.find(PB + edge.fast.size))
        edge.set_vector("gmv", 0x202, False)
        self.assertEqual(edge.request("mem", PB + 0x400), [("no", "not-allowed")])

    def test_a_switch_keeps_ordered_traffic_on_one_path(self):
        switch = f.Switch(1, 2)
        switch.spread = True
        switch.set_drt(0, 7, [(2, 1), (1, 9)])
        switch.set_rgt(0, 1, [(3, 4, 5, 6, 0, 0, 0, 0, 3 | 1 << 3, 0)])
        seen = {kind: {switch.route(0, 7, kind, low | high << 62)[1]
                       for low in range(8) for high in range(4)}
                for kind in f.SPREAD | f.UNSPREAD}
        for kind, ports in seen.items():
            self.assertEqual(ports, {3} if kind in f.UNSPREAD else {3, 4, 5, 6})
        self.assertEqual(switch.route(0, 8, "rwd", 0), ("port", 9))
        self.assertEqual(switch.route(0, 9, "rwd", 0), ("none",))


class Device(unittest.TestCase):
    """fabric.md (c)"""

    def test_cutting(self):
        for hpa, gran, intlv, way, want in (
                (0x123456789ABC, 0, 1, 0, 0x91A2B3C4DBC), (0x123456789ABC, 0, 8, 0x9A, 0x12345678BC),
                (0x123456789ABC, 4, 3, 1, 0x2468ACF1ABC), (0x123456789ABC, 6, 8, 0xE2, 0x1234565ABC),
                (0x1000003FC0, 0, 4, 0xF, 0x1000003C0)):
            d = g.Decoder(1, 0, 0, 0, 2**60, intlv, gran, way)
            self.assertEqual(g.to_dpa(d, hpa, False), want)
            self.assertEqual(g.to_hpa(d, want), hpa)
            self.assertIsNone(g.to_dpa(d._replace(way=way ^ 1), hpa, False))

    def device(self):
        gfd = g.Gfd(16, 31, 1024, 0, [(1 << 26, 0)])
        gfd.set_dmp(0, 0, 16 * f.GB, 1 << 26)
        for spid in (0x11, 0x12):
            gfd.set_gdt(spid, spid, 0, [g.Decoder(1, 0, PB, 8 * f.GB, 4 * f.GB, 2, 2, way)
                                        if way == 0 else g.OFF for way in range(4)])
        return gfd

    def test_four_ways(self):
        for off, way, want in ((0, 0, 8 * f.GB), (0x400, 1, 8 * f.GB), (0xFC0, 3, 0x2000003C0),
                               (0x12345C0, 1, 0x20048D1C0), (16 * f.GB, 0, None)):
            d = g.Decoder(1, 0, PB, 8 * f.GB, 4 * f.GB, 2, 2, way)
            self.assertEqual(g.to_dpa(d, PB + off, False), want)
            if want:
                self.assertEqual(g.to_hpa(d, want), PB + off)

    def test_groups_and_rights(self):
        gfd = self.device()
        gfd.set_blocks(8 * f.GB, 1 << 26, 5)
        self.assertEqual(gfd.group_of[0], {128: 5})
        gfd.set_sat(0x11, 0x20)
        gfd.set_sat(0x12, 0)
        self.assertEqual(gfd.access(0x11, PB, True).answer, "serve")
        self.assertEqual(gfd.access(0x12, PB, False)[:3], ("denied", 3, "ones"))
        self.assertEqual(gfd.access(0x12, PB, True)[:3], ("denied", 3, "cmp"))
        self.assertEqual(gfd.access(0x11, PB + 4 * f.GB, False)[:3], ("ungrouped", 2, "ones"))
        self.assertEqual(gfd.access(0x13, PB, False)[:3], ("no_row", 0, "nxm"))

    def test_decoders_that_are_refused(self):
        gfd = self.device()
        good = g.Decoder(1, 0, 2 * PB, 12 * f.GB, f.GB, 1, 2, 1)
        gfd.set_gdt(0x11, 0x11, 1, [good])
        for bad in (good, good._replace(hpa=PB, dpa=0), good._replace(hpa=3 * PB),
                    good._replace(hpa=3 * PB, dpa=15 * f.GB + (1 << 26)),
                    good._replace(hpa=3 * PB, dpa=14 * f.GB, length=f.GB + 64),
                    good._replace(hpa=3 * PB, dpa=14 * f.GB, coh=1)):
            self.assertRaises(g.Refused, gfd.set_gdt, 0x11, 0x11, 2, [bad])
        self.assertRaises(g.Refused, gfd.set_gdt, 0x12, 0x11, 2, [g.OFF])
        self.assertRaises(g.Refused, gfd.set_gdt, 0x11, 0x11, 7, [g.OFF] * 2)

    def test_one_report_in_100_ms(self):
        gfd = self.device()
        times = (5, 6, 7, 5 + g.REPORT_EVERY, 6 + g.REPORT_EVERY)
        self.assertEqual([gfd.note(t, 0x13, 0, False)[1] for t in times], [0, None, None, 2, None])
        self.assertEqual(gfd.note(7, 0x13, 0, True)[1], None)
        self.assertEqual(gfd.note(7, 0x14, 0, True)[1], 0)


if __name__ == "__main__":
    unittest.main()
