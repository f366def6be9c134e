#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""Self-test of the model's IDE: printed vectors, NIST's vectors, the rules of both ends."""

import random
import unittest

from weftmodel import flit, ide, ide_ends, messages, traffic


class Ide(unittest.TestCase):
    """wire-formats 5 and (c), IDE"""

    KEY = bytes(range(32))

    def setUp(self):
        self.first = bytearray((7 * i + 3) & 255 for i in range(256))
        self.first[0:2] = b"\xa0\x01"
        self.first[2] = self.first[2] & 0xF0 | 4
        self.first[240:242] = b"\x94\x52"
        self.second = bytearray((5 * i + 1) & 255 for i in range(256))
        self.second[2] = 0x28
        self.second[240:242] = b"\x14\x00"
        # The printed flit 1 is an IDE.MAC flit; its SubType nibble must say so.
        self.second[3] = self.second[3] & 0xF0 | flit.IDE_MAC

    def epoch(self, pcrc=True, poison_at=None):
        epoch = ide.Epoch(self.KEY, 1, pcrc)
        for i, item in enumerate((self.first, self.second)):
            if poison_at == i:
                epoch.poison(3)
            epoch.seal(item)
        return epoch

    def test_containment_epoch(self):
        plain = bytes(self.first), bytes(self.second)
        epoch = self.epoch()
        self.assertEqual(epoch.aad.hex(), "4429050014000000")
        self.assertEqual(len(epoch.plain), 464)
        self.assertEqual(f"{ide.crc32c(epoch.plain):08x}", "8b49a273")
        self.assertEqual(epoch.mac().hex(), "c17af520c20f0f98fe50b4c5")
        # The first 16 ciphertext bytes, less the pad, which never reaches the flit.
        want = bytes.fromhex("5fad52b649873546c9d2d13d15b917a3")
        self.assertEqual(self.first[3:16], want[3:])
        self.assertEqual(self.first[2], want[2] & 0xF0 | 4)
        self.assertEqual(epoch._stream.update(
            ide.crc32c(epoch.plain).to_bytes(4, "little")).hex(), "78916784")
        opened = ide.Epoch(self.KEY, 1, True)
        for sealed, item in zip((self.first, self.second), plain):
            opened.open(sealed)
            self.assertEqual(bytes(sealed), item)
        self.assertEqual(opened.tag(), epoch.tag())

    def test_first_ciphertext_block(self):
        epoch = ide.Epoch(self.KEY, 1, True)
        self.assertEqual(epoch._stream.update(ide.covered(self.first))[:16].hex(),
                         "5fad52b649873546c9d2d13d15b917a3")

    def test_without_pcrc(self):
        self.assertEqual(self.epoch(pcrc=False).tag().hex(), "0b13e9baf1cb91f42acd2405ccbc8ea8")

    def test_poison_words(self):
        epoch = self.epoch(poison_at=0)
        self.assertEqual(epoch.aad.hex(), "030000004429050014000000")
        self.assertEqual(epoch.mac().hex(), "56627f74a7ffc3b605160d67")

    def test_poison_word_between(self):
        epoch = self.epoch(poison_at=1)
        self.assertEqual(epoch.aad.hex(), "442905000300000014000000")
        self.assertEqual(epoch.mac().hex(), "160082550a69d5224522de90")

    def test_crc32c(self):
        self.assertEqual(ide.crc32c(b"123456789"), 0xE3069283)

    def test_iv(self):
        self.assertEqual(ide.iv(1).hex(), "800000000000000000000001")

    def sent(self, mode, flits, truncate=False):
        rng = random.Random(18)
        packer = traffic.Packer(rng, "pbr", "mem", 1, 2, with_ide=True)
        out = []
        sender = ide_ends.Sender(self.KEY, mode, True, packer.flit, rng,
                            lambda n, plain, wire: out.append((n, plain, bytes(wire))))
        for i in range(flits):
            sender.protocol_flit()
            if truncate and i % 5 == 0 and sender.can_truncate():
                sender.truncate()
        return sender, out

    def test_receiver_opens_what_the_sender_sealed(self):
        for mode in ("containment", "skid"):
            for truncate in (False, True):
                sender, out = self.sent(mode, 400, truncate)
                receiver = ide_ends.Receiver([self.KEY], mode, True)
                got = []
                for number, plain, wire in out:
                    item = bytearray(wire)
                    got += [(bytes(o), p) for o, p in receiver.accept((item, plain), item)]
                self.assertTrue(all(opened == plain for opened, plain in got))
                self.assertEqual((receiver.bad, receiver.good), (0, sender.macs_sent))
                self.assertGreater(len(got), 300)

    def follow(self, order, mode="containment"):
        """(good, bad, released) after a hand-made order of flits: P protocol, M IDE.MAC, T
        IDE.TMAC, I IDE.Idle. Every MAC is right for the epoch closed last."""
        receiver = ide_ends.Receiver([self.KEY], mode, True)
        epoch, mac = ide.Epoch(self.KEY, 1, True), bytes(12)
        for letter in order:
            item = bytearray(256)
            item[0:2] = flit.header(flit.CACHEMEM)
            if letter == "T" and epoch.flits:
                mac, epoch = epoch.mac(), ide.Epoch(self.KEY, epoch.counter + 1, True)
            if letter != "P":
                subtype = {"M": flit.IDE_MAC, "T": flit.IDE_TMAC, "I": flit.IDE_IDLE}[letter]
                item[2:16] = messages.llctrl_slot(flit.IDE_LLCTRL, subtype, mac)
            if letter in "PM":
                epoch.seal(item)
                if epoch.flits == receiver.size:
                    mac, epoch = epoch.mac(), ide.Epoch(self.KEY, epoch.counter + 1, True)
            if not receiver.insecure:
                receiver.accept(None, item)
        return receiver.good, receiver.bad, receiver.released

    def test_where_a_mac_may_ride(self):
        self.assertEqual(self.follow("PPM"), (1, 0, 2))
        self.assertEqual(self.follow("PPIPIM"), (1, 0, 2))
        self.assertEqual(self.follow("PPPP"), (0, 1, 0))
        self.assertEqual(self.follow("M"), (0, 1, 0))
        self.assertEqual(self.follow("PPMM"), (1, 1, 2))
        self.assertEqual(self.follow("PM"), (0, 1, 0))
        self.assertEqual(self.follow("PPMPMPM"), (3, 0, 6))
        self.assertEqual(self.follow("P" * 32 + "PM", "skid"), (1, 0, 34))
        self.assertEqual(self.follow("P" * 32 + "PP", "skid"), (0, 1, 33))

    def test_where_a_tmac_may_stand(self):
        self.assertEqual(self.follow("PT"), (1, 0, 1))
        self.assertEqual(self.follow("PTIPT"), (2, 0, 2))
        self.assertEqual(self.follow("T"), (0, 1, 0))
        self.assertEqual(self.follow("PPT"), (0, 1, 0))
        self.assertEqual(self.follow("PPMT"), (2, 0, 3))

    def test_one_flipped_bit_ends_the_stream(self):
        for mode in ("containment", "skid"):
            _, out = self.sent(mode, 200)
            for index, at, bit in ((70, 2, 4), (71, 44, 0), (70, 240, 0), (71, 30, 1)):
                receiver = ide_ends.Receiver([self.KEY], mode, True)
                for i, (_, _, wire) in enumerate(out):
                    item = bytearray(wire)
                    if i == index:
                        item[at] ^= 1 << bit
                    if not receiver.insecure:
                        receiver.accept(None, item)
                self.assertEqual(receiver.bad, 1)
                self.assertGreater(receiver.good, 0)
                self.assertTrue(receiver.insecure)


if __name__ == "__main__":
    unittest.main()
