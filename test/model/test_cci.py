#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""The model of CCI against the numbers in fabric.md, and against itself with drawn values."""

import os
import random
import unittest

from weftmodel import cci, cdat, mctp
from weftmodel.cci_cases import draw

IDENTIFY = "000000010000000000000000"
PACKET = "010908c808" + IDENTIFY
SET_DRT = "0109 08c9 07 0003 0009 5708 0000 0000 0000 0000 0100 7e00 017d".replace(" ", "")


class Messages(unittest.TestCase):
    """fabric.md 4.1, 4.2 and (c)"""

    def test_identify(self):
        self.assertEqual(cci.request(0x0001).hex(), IDENTIFY)
        packets = mctp.split(mctp.Message(9, 8, 1, 0, mctp.message_type(1), cci.request(1)))
        self.assertEqual([p.hex() for p in packets], [PACKET])
        self.assertEqual(mctp.put_frame(packets[0]).hex(), "7e0111" + PACKET + "ce027e")

    def test_set_drt_shows_escapes(self):
        payload = cci.put(cci.REQUEST[0x5709], {"drt": 0, "start": 0x7E, "entry": [0x7D01]})
        message = cci.request(0x5709, payload, 3)
        packets = mctp.split(mctp.Message(9, 8, 1, 1, mctp.message_type(0x5709), message))
        self.assertEqual([p.hex() for p in packets], [SET_DRT])
        frame = "7e0119010908c907000300095708000000000000000001007d5e00017d5da0047e"
        self.assertEqual(mctp.put_frame(packets[0]).hex(), frame)
        self.assertEqual(mctp.get_frame(bytes.fromhex(frame)), packets[0])

    def test_fcs(self):
        self.assertEqual(mctp.fcs(b"123456789"), 0x6F91)

    def test_the_largest_message_takes_17_packets(self):
        message = mctp.Message(9, 8, 1, 5, 8, cci.request(0x0401, bytes(1024)))
        packets = mctp.split(message)
        self.assertEqual(len(packets), 17)
        self.assertEqual(mctp.join(packets), message)
        self.assertTrue(all(len(p) <= 68 for p in packets))
        for bad in (packets[1:], packets[:-1], packets[:3] + packets[4:], packets[::-1], []):
            self.assertRaises(mctp.Malformed, mctp.join, bad)

    def test_an_answer_goes_back(self):
        message = mctp.Message(9, 8, 1, 5, 8, b"x")
        self.assertEqual(mctp.answer_to(message, b"y"), mctp.Message(8, 9, 0, 5, 8, b"y"))

    def test_types(self):
        for opcode, kind in ((0x0001, 8), (0x4900, 8), (0x50FF, 8), (0x5100, 7), (0x59FF, 7),
                             (0x5A00, 8), (0xC900, 8)):
            self.assertEqual(mctp.message_type(opcode), kind)

    def test_frames_that_are_refused(self):
        rng = random.Random(1)
        for _ in range(200):
            packet = bytes(rng.choice((0x7D, 0x7E, 0, rng.randrange(256)))
                           for _ in range(rng.randint(1, 68)))
            frame = mctp.put_frame(packet)
            self.assertEqual(mctp.get_frame(frame), packet)
            self.assertNotIn(0x7E, frame[3:-3])
            i, bit = rng.randrange(len(frame)), 1 << rng.randrange(8)
            bad = frame[:i] + bytes([frame[i] ^ bit]) + frame[i + 1:]
            self.assertRaises(mctp.Malformed, mctp.get_frame, bad)
            self.assertRaises(mctp.Malformed, mctp.get_frame, frame[:i] + frame[i + 1:])
        self.assertRaises(mctp.Malformed, mctp.get_frame, bytes.fromhex("7e0100") +
                          mctp.fcs(b"\1\0").to_bytes(2, "big") + b"\x7e")

    def test_headers(self):
        rng = random.Random(2)
        for _ in range(200):
            h = cci.Header(rng.randrange(2), rng.randrange(2), rng.randrange(256),
                           rng.randrange(2**16), rng.randrange(2**21), rng.randrange(2**16),
                           rng.randrange(2**16))
            data = cci.put_header(h)
            self.assertEqual(cci.get_header(data), h)
            dirty = bytes([data[0] | 0xF0, data[1], 0xFF]) + data[3:7] + bytes([data[7] | 0x60]) + \
                data[8:]
            self.assertEqual(cci.get_header(dirty), h)
        self.assertEqual(cci.put_header(cci.Header(1, 1, 7, 0x5706, 0x1ABCDE, 1, 0xABCD)).hex(),
                         "010700" + "0657" + "debc9a" + "0100" + "cdab")


class Payloads(unittest.TestCase):
    """fabric.md 4.6"""

    def test_how_many_go_into_a_message(self):
        for sides, opcode, most in (
                ("RESPONSE", 0x5709, None), ("REQUEST", 0x5709, 509), ("REQUEST", 0x570B, 84),
                ("REQUEST", 0x570F, 127), ("REQUEST", 0x5808, 508), ("REQUEST", 0x490D, 170),
                ("RESPONSE", 0x4902, 25), ("RESPONSE", 0x4904, 25), ("RESPONSE", 0x4905, 25)):
            layout = getattr(cci, sides)[opcode]
            if most is None:
                self.assertIsNone(layout)
                continue
            room = cci.MAX_PAYLOAD - layout.fixed
            self.assertEqual(room // layout.list.width, most)

    def test_there_and_back(self):
        rng = random.Random(3)
        for layouts in (cci.REQUEST, cci.RESPONSE):
            for opcode, layout in layouts.items():
                for _ in range(20):
                    values = draw(rng, layout)
                    data = cci.put(layout, values)
                    self.assertEqual(cci.get(layout, data), values)
                    self.assertLessEqual(len(data), cci.MAX_PAYLOAD)

    def test_every_length(self):
        for layouts in (cci.REQUEST, cci.RESPONSE):
            for opcode, layout in layouts.items():
                fixed = layout.fixed if layout else 0
                for length in range(fixed + 100):
                    try:
                        cci.get(layout, bytes(length))
                        right = True
                    except cci.Malformed:
                        right = False
                    to_end = layout and layout.list and layout.list.count is None
                    self.assertEqual(right, length == fixed or bool(
                        to_end and length > fixed and
                        (length - fixed) % layout.list.width == 0), (hex(opcode), length))

    def test_missing_bytes_read_as_0(self):
        data = cci.put_request(0x0702, start=5)
        self.assertEqual(cci.get(cci.REQUEST[0x0702], data[:5], padded=True)["start"], 5)
        self.assertRaises(cci.Malformed, cci.get, cci.REQUEST[0x0702], data[:5])

    def test_reserved_bytes_are_ignored(self):
        layout = cci.REQUEST[0x5711]
        values = {"vppb": 1, "n": 1, "start": 2, "pid": [3]}
        self.assertEqual(cci.put(layout, values).hex(), "0100" + "0100" + "0200" + "0000" + "0300")
        self.assertEqual(cci.get(layout, bytes.fromhex("01ff01000200ffff0300")), values)


class Records(unittest.TestCase):
    """fabric.md 4.5 and 5.1"""

    def test_events(self):
        record = cci.event("virtual switch", bytes([1, 2, 0, 3, 4, 5]), handle=7, time=9)
        self.assertEqual(len(record), 128)
        self.assertEqual(record[:4].hex(), "40d26425")
        self.assertEqual((record[16], record[0x14], record[0x18], record[0x30:0x36].hex()),
                         (128, 7, 9, "010200030405"))
        self.assertEqual(cci.binding_event(1, 2, 3, 4, 5, 7, 9), record)
        block = cci.put(cci.entry_layout("port"), {
            "port": 9, "state": 3, "mode": 5, "type": 6, "modes": 0, "maxw": 16, "negw": 16,
            "speeds": 1, "maxs": 6, "curs": 6, "ltssm": 0xAB, "lane": 0, "flags": 0xBEEF, "ld": 0})
        record = cci.port_event(9, 0, block)
        self.assertEqual((record[0x30], record[0x31], record[0x38], record[0x3F],
                          record[0x41:0x43].hex()), (9, 0, 6, 0xAB, "efbe"))

    def table(self):
        return cdat.put_table([
            cdat.put_structure(0, handle=1, flags=0x20, base=0, length=1 << 30),
            cdat.put_structure(1, handle=1, flags=0, data_type=cdat.READ_LATENCY, unit=1000,
                               entry0=150, entry1=0, entry2=0),
            cdat.put_structure(2, handle=1, size=1 << 20, attributes=0),
            cdat.put_structure(3, flags=1, handle=1),
            cdat.put_structure(4, handle=1, type=0, offset=0, length=1 << 30),
            cdat.put_structure(5, [{"x": cdat.UPSTREAM, "y": cdat.ANY, "value": 3},
                                   {"x": 1, "y": 2, "value": 4}],
                               data_type=cdat.READ_LATENCY, unit=1000)], sequence=3)

    def test_cdat(self):
        table = self.table()
        self.assertEqual(sum(table) % 256, 0)
        self.assertEqual(len(table), 16 + 24 + 24 + 20 + 8 + 24 + 32)
        head, parts = cdat.get_table(table)
        self.assertEqual((head["length"], head["sequence"]), (len(table), 3))
        self.assertEqual([p[0] for p in parts],
                         ["DSMAS", "DSLBIS", "DSMSCIS", "DSIS", "DSEMTS", "SSLBIS"])
        self.assertEqual(parts[0][1]["length"], 1 << 30)
        self.assertEqual(parts[5][2][0], {"x": 0x100, "y": 0xFFFF, "value": 3})
        self.assertEqual(cdat.put_table([]).hex(), "10000000" + "01ef" + "00" * 10)

    def test_cdat_that_is_refused(self):
        table = self.table()
        for i in range(len(table)):
            bad = table[:i] + bytes([table[i] ^ 1]) + table[i + 1:]
            self.assertRaises(cdat.Malformed, cdat.get_table, bad)
            self.assertRaises(cdat.Malformed, cdat.get_table, table[:i])


if __name__ == "__main__":
    print(f"seeds 1 to 3 of {os.path.basename(__file__)}")
    unittest.main()
