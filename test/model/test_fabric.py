#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""The models of the fabric tables, of ATS and of CXL.io packets against the numbers in their specifications."""

import os
import stat
import tempfile
import unittest

from weftmodel import ats
from weftmodel import fabric as f
from weftmodel import gfam as g
from weftmodel import io
from weftmodel.script import Batch

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
                (0x123456789ABC, 0, 1, 0, 0x91A2B3C4DBC),
                (0x123456789ABC, 0, 8, 0x9A, 0x12345678BC),
                (0x123456789ABC, 4, 3, 1, 0x2468ACF1ABC),
                (0x123456789ABC, 6, 8, 0xE2, 0x1234565ABC),
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


class Translation(unittest.TestCase):
    """ats.md 2 and 3"""

    def test_ranges(self):
        for log2, word, base, based in (
                (12, 0, 0x2000, 0x2000), (13, 0x800, 0x4000, 0x4800),
                (14, 0x1800, 0x8000, 0x9800), (15, 0x3800, 0x10000, 0x13800),
                (16, 0x7800, 0x20000, 0x27800), (17, 0xF800, 0x40000, 0x4F800),
                (21, 0xFF800, 0x400000, 0x4FF800), (30, 0x1FFFF800, 0x80000000, 0x9FFFF800),
                (64, 0x7FFFFFFFFFFFF800, 0, 0x7FFFFFFFFFFFF800)):
            self.assertEqual((ats.put_range(0, log2), ats.put_range(base, log2)), (word, based))
            self.assertEqual((ats.get_range(word), ats.get_range(based)),
                             ((0, log2), (base, log2)))
        self.assertRaises(ats.Malformed, ats.get_range, 2**64 - 1)

    def test_bytes(self):
        ids = {"requester": 0x0102, "target": 0x0304}
        for kind, fields, want in (
                ("request", {"requester": 0x102, "tag": 7, "tc": 3, "length": 16, "no_write": 1,
                             "addr": 0x123456789000}, "20300410 010207ff 0000123456789001"),
                ("write", {"requester": 0x102, "at": 2, "enables": 15, "length": 1,
                           "addr": 0x5004, "data": b"abcd"},
                 "60000801 0102000f 0000000000005004 61626364"),
                ("cpl", {**ids, "tag": 9, "status": 4}, "0a000000 03048000 01020900"),
                ("cpld", {**ids, "tag": 9, "length": 2, "byte_count": 16, "lower_addr": 0x78,
                          "data": bytes.fromhex("000000012ff80003")},
                 "4a000002 03040010 01020978 00000001 2ff80003"),
                ("invalidate", {**ids, "itag": 31, "addr": 0x40000000, "log2": 21, "global": 1},
                 "72000002 01021f01 03040000 00000000 00000000 400ff801"),
                ("invalidated", {**ids, "itags": sum(1 << i for i in (0, 1, 3, 6, 8)), "tc": 1,
                                 "count": 8}, "32100000 01020002 03040000 0000014b"),
                ("page", {"requester": 0x102, "addr": 0x5000, "group": 3, "page_bits": 6},
                 "30000000 01020004 00000000 0000501e")):
            data = bytes.fromhex(want)
            self.assertEqual(ats.encode(kind, fields).hex(), data.hex())
            self.assertEqual(ats.decode(data, 64), (kind, fields))

    def test_one_or_two_packets(self):
        """2.5: every number of translations and every cut."""
        cases = 0
        for rcb in (64, 128):
            for n in range(1, rcb // 8 + 1):
                whole = [(i << 12, 12, 3) for i in range(n)]
                packet = ats.answer(whole, n, 0, {})
                self.assertEqual(ats.read_translations(packet, rcb), ("only", whole))
                for first in range(1, n):
                    for part, name, some in ((1, "first", whole[:first]),
                                             (2, "second", whole[first:])):
                        packet = ats.answer(whole, first, part, {})
                        self.assertEqual(ats.read_translations(packet, rcb), (name, some))
                        cases += 1
        self.assertEqual(ats.answer([(0, 12, 3)] * 2, 2, 0, {})[11], 0x70)
        self.assertRaises(ats.Malformed, ats.classify, 4, 8, 0, 64)
        self.assertEqual(cases, 2 * (28 + 120))

    def test_what_is_malformed(self):
        good = ats.encode("request", {"length": 2})
        for at, value in ((2, 0x0C), (3, 0), (3, 3), (3, 18)):
            bad = good[:at] + bytes([value]) + good[at + 1:]
            self.assertRaises(ats.Malformed, ats.decode, bad, 64)
        for status in range(8):
            data = ats.encode("cpl", {"status": status})
            if status in (0, 1, 4):
                self.assertEqual(ats.decode(data, 64)[0], "cpl")
            else:
                self.assertRaises(ats.Malformed, ats.decode, data, 64)


class Packets(unittest.TestCase):
    """fabric.md 2.3, wire-formats.md 6"""

    def test_pth(self):
        read = b"\x20" + bytes(15)
        for packet, pth in ((io.Packet(0xA01, 0xB01, 6, None, read), "c6a01b01"),
                            (io.Packet(0x011, 0x201, 1, None, read), "c1011201")):
            self.assertEqual(io.on_wire(packet).hex(), pth + read.hex())
            self.assertEqual(io.packets(bytes(8) + io.on_wire(packet)), ([packet], False))

    def test_ats_packets_are_known(self):
        for kind, length, want in (("read", 16, io.REQUEST), ("request", 16, io.REQUEST),
                                   ("cpl", 12, io.COMPLETION), ("invalidate", 24, io.POSTED),
                                   ("invalidated", 16, io.POSTED), ("page", 16, io.POSTED),
                                   ("page_group", 16, io.POSTED)):
            fields = {"length": 2} if kind in ("read", "request") else {}
            if kind == "invalidate":
                fields = {"addr": 0, "log2": 12}
            if kind == "invalidated":
                fields = {"count": 1}
            self.assertEqual(io.head(ats.encode(kind, fields)), (length, want))


class Judge(unittest.TestCase):
    """A program that answers anything else is found out."""

    def play(self, answers):
        batch = Batch()
        batch.say("one", ("to", 0x11))
        batch.say_judged("two", lambda got: got == "2", "2")
        batch.say_bytes("run", b"ab", ("ports", 1), b"\x05\x00")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "fake")
            with open(path, "w", encoding="ascii") as out:
                out.write(f"#!/usr/bin/python3\nimport sys\nsys.stdin.read()\n"
                          f"sys.stdout.write({answers!r})\n")
            os.chmod(path, stat.S_IRWXU)
            return batch.play(path)

    def test_right_answers(self):
        self.assertEqual(self.play("to 17\n2\nports 1\n\5\0"), (3, []))
        self.assertEqual(self.play("to 0x11\n2\nports 1\n\5\0"), (3, []))

    def test_wrong_answers(self):
        for right, answers in ((0, "to 18\n2\nports 1\n\5\0"), (0, ""), (1, "to 17\n3\n"),
                               (1, "to 17\n2"), (2, "to 17\n2\nports 1\n\5\1"),
                               (2, "to 17\n2\nports 1\n\5"),
                               (3, "to 17\n2\nports 1\n\5\0more\n")):
            got, wrong = self.play(answers)
            self.assertEqual((got, len(wrong)), (right, 1))


if __name__ == "__main__":
    unittest.main()
