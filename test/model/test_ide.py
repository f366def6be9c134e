#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""Self-test of the model's IDE: printed vectors, NIST's vectors, the rules of both ends."""

import random
import unittest

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from weftmodel import flit, ide, ide_ends, ide_monitor, messages, traffic

try:
    import cryptography_vectors
except ImportError:
    cryptography_vectors = None


KEY = bytes(range(32))
KEYS = [KEY, bytes(range(32, 64)), bytes(range(64, 96))]


class Ide(unittest.TestCase):
    """wire-formats.md 5 and (c), IDE"""

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
        epoch = ide.Epoch(KEY, 1, pcrc)
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
        opened = ide.Epoch(KEY, 1, True)
        for sealed, item in zip((self.first, self.second), plain):
            opened.open(sealed)
            self.assertEqual(bytes(sealed), item)
        self.assertEqual(opened.tag(), epoch.tag())

    def test_first_ciphertext_block(self):
        epoch = ide.Epoch(KEY, 1, True)
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
        sender = ide_ends.Sender(KEY, mode, True, packer.flit, rng,
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
                receiver = ide_ends.Receiver([KEY], mode, True)
                got = []
                for number, plain, wire in out:
                    item = bytearray(wire)
                    got += [(bytes(o), p) for o, p in receiver.accept((item, plain), item)]
                self.assertTrue(all(opened == plain for opened, plain in got))
                self.assertEqual((receiver.bad, receiver.good), (0, sender.macs_sent))
                self.assertGreater(len(got), 300)

    def test_one_flipped_bit_ends_the_stream(self):
        for mode in ("containment", "skid"):
            _, out = self.sent(mode, 200)
            for index, at, bit in ((70, 2, 4), (71, 44, 0), (70, 240, 0), (71, 30, 1)):
                receiver = ide_ends.Receiver([KEY], mode, True)
                for i, (_, _, wire) in enumerate(out):
                    item = bytearray(wire)
                    if i == index:
                        item[at] ^= 1 << bit
                    if not receiver.insecure:
                        receiver.accept(None, item)
                self.assertEqual(receiver.bad, 1)
                self.assertGreater(receiver.good, 0)
                self.assertTrue(receiver.insecure)


def control(codes, payload=b""):
    item = bytearray(256)
    item[0:2] = flit.header(flit.CACHEMEM)
    item[2:16] = messages.llctrl_slot(*codes, payload)
    return item


class Rules(unittest.TestCase):
    """wire-formats.md 5.4 and the late-poison ECN, flit by flit, against a receiver with keys KEYS."""

    CONTROL = {"I": (2, 0), "S": (2, 1), "T": (2, 2), "M": (2, 3), "X": (2, 4), "V": (3, 0)}

    def run_order(self, order, mode="containment", protect=True):
        """The receiver after a hand-made order of flits: P protocol, M IDE.MAC, T IDE.TMAC,
        I IDE.Idle, S IDE.Start, X IDE.Stop, V Viral, C protocol in the clear. Digits are Poison
        with that offset; `-` before one: lost on the way, `+`: not the sender's, `~`: offset
        changed on the way. Every MAC is right for the epoch closed last."""
        receiver = ide_ends.Receiver(KEYS, mode, True, protect)
        keys = iter(KEYS[1:])
        self.epoch, self.mac, self.handed = ide.Epoch(KEY, 1, True), bytes(12), ""
        offsets, how = [], ""
        for at, letter in enumerate(order):
            if letter in "-+~":
                how = letter
                continue
            item = self.make(letter, how, offsets, receiver.size, keys)
            if item is not None and not receiver.insecure:
                for name in receiver.accept(letter, item):
                    self.handed += name
            how = ""
        return receiver

    def make(self, letter, how, offsets, size, keys):
        if letter.isdigit():
            if how != "+":
                offsets.append(int(letter))
            changed = int(letter) ^ (how == "~")
            return None if how == "-" else control(flit.POISON, bytes([changed | 0xA0]))
        if letter == "S" and not self.epoch.flits:
            self.epoch = ide.Epoch(next(keys), 1, True)
        if letter == "T" and self.epoch.flits:
            self.mac, self.epoch = self.epoch.mac(), self.epoch.next()
        item = control(self.CONTROL[letter], self.mac if letter in "TM" else b"") \
            if letter in self.CONTROL else bytearray(flit.header(flit.CACHEMEM) + bytes(254))
        if letter in "PM":
            for offset in offsets:
                self.epoch.poison(offset)
            offsets.clear()
            self.epoch.seal(item)
            if self.epoch.flits == size:
                self.mac, self.epoch = self.epoch.mac(), self.epoch.next()
        return item

    def follow(self, *args, **how):
        receiver = self.run_order(*args, **how)
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
        self.assertEqual(self.follow("PPPT"), (0, 1, 0))

    def test_every_length_cut_short(self):
        for length in range(1, 32):
            self.assertEqual(self.follow("P" * length + "TI", "skid"), (1, 0, length))
        self.assertEqual(self.follow("P" * 32 + "T", "skid"), (0, 1, 32))

    def test_start_takes_the_next_key(self):
        self.assertEqual(self.follow("PTSIIPT"), (2, 0, 2))
        self.assertEqual(self.follow("PTSIPTSIPT"), (3, 0, 3))
        self.assertEqual(self.follow("SPT"), (1, 0, 1))

    def test_start_before_the_mac_of_the_old_key(self):
        self.assertEqual(self.follow("PPSIIPMPM"), (2, 0, 4))
        self.assertEqual(self.follow("PPSIIMT"), (2, 0, 3))

    def test_start_inside_an_epoch_is_dropped(self):
        self.assertEqual(self.follow("PSPM"), (1, 0, 2))
        self.assertEqual(self.handed, "PP")
        self.assertEqual(self.follow("PPPSM"), (1, 0, 2))

    def test_start_without_a_key_is_dropped(self):
        receiver = ide_ends.Receiver([KEY], "containment", True)
        self.assertEqual(receiver.accept("S", control((2, 1))), [])
        self.assertEqual(receiver.epoch.key, KEY)

    def test_a_lost_start_is_found(self):
        receiver = ide_ends.Receiver(KEYS, "containment", True)
        epoch = ide.Epoch(KEYS[1], 1, True)
        item = bytearray(flit.header(flit.CACHEMEM) + bytes(254))
        epoch.seal(item)
        receiver.accept("P", item)
        receiver.accept("T", control((2, 2), epoch.mac()))
        self.assertEqual((receiver.good, receiver.bad), (0, 1))

    def test_stop(self):
        self.assertEqual(self.follow("PTXIICC"), (1, 0, 1))
        self.assertEqual(self.handed, "PTXIICC")
        self.assertEqual(self.follow("PTXICSIPT"), (2, 0, 2))
        self.assertEqual(self.follow("PTXIM"), (1, 1, 1))
        self.assertEqual(self.follow("PTXIT"), (1, 1, 1))

    def test_stop_is_dropped_without_a_tmac_just_before(self):
        for order, handed in (("X", ""), ("PTIX", "PTI"), ("PX", ""), ("PPMX", "PP"),
                              ("PTXX", "PTX"), ("PTVX", "PTV")):
            receiver = self.run_order(order)
            self.assertEqual((order, self.handed, receiver.bad), (order, handed, 0))
            self.assertEqual(receiver.clear, order == "PTXX")

    def test_poison_is_protected(self):
        for order in ("3PPM", "P3PM", "PT3PT", "P3T4PT", "3SPT", "PP35SIM7T", "PP3PM"):
            self.assertEqual((order, self.run_order(order).bad), (order, 0))
        for order in ("3PT", "P3PPT", "PT3PT", "P3T4PT", "3SPT"):
            self.assertEqual((order, self.run_order(order, "skid").bad), (order, 0))

    def test_poison_lost_changed_or_put_in(self):
        for order in ("-3PPM", "+3PPM", "~3PPM", "P-3PM", "P+3PM", "P~3PM", "PT-3PT",
                      "P-3TPT", "3-4PT", "+33PT"):
            receiver = self.run_order(order)
            self.assertEqual((order, receiver.bad), (order, 1))
        for order in ("-3PPM", "+3PPM", "~3PPM"):
            self.assertEqual(self.run_order(order).released, 0)

    def test_poison_at_another_place_is_found(self):
        # The third: moved past the end of its epoch.
        for order in ("+3P-3PM", "-3P+3PM", "P-3P+3M"):
            receiver = self.run_order(order)
            self.assertEqual((order, receiver.good, receiver.bad), (order, 0, 1))

    def test_poison_may_pass_a_flit_with_the_same_word(self):
        """A weakness of the ECN: the words do not tell of what they are. Offset 0 is the word of
        an empty header without credits."""
        self.assertEqual(self.run_order("-0P+0PM").bad, 0)
        self.assertEqual(self.run_order("-1P+1PM").bad, 1)

    def test_nothing_overtakes_in_containment(self):
        for order, handed in (("3P4PIM", "3P4PI"), ("3P4TIPT", "3P4TIPT"), ("P4TXC", "P4TXC"),
                              ("PVPVSVMV", "PVPVSV"), ("VPT", "VPT"), ("V3V", "V"),
                              ("P3VTV", "P"), ("P3VTVM", "P"), ("P3VTVPVT", "P3VTVPVT")):
            self.run_order(order)
            self.assertEqual((order, self.handed), (order, handed))

    def test_no_more_than_forty_are_held(self):
        self.assertEqual(self.follow("PPSIIIPV" + 32 * "V" + "M"), (1, 0, 2))
        self.assertEqual(self.follow("PPSIIIPVV" + 32 * "V" + "M"), (0, 1, 0))
        self.assertEqual(self.follow("P" * 31 + 41 * "V" + "PM", "skid"), (1, 0, 33))
        self.assertEqual(self.run_order("P01234567" + 30 * "V").bad, 0)
        self.assertEqual(self.run_order("P01234567" + 32 * "V").bad, 1)

    def test_poison_of_every_message_in_transfer(self):
        for mode, flits in (("containment", "PP" + "MP" * 16), ("skid", "P" * 32 + "M")):
            order = "".join("01234567" + flit for flit in flits)
            self.assertEqual(self.run_order(order, mode).bad, 0)
            self.assertEqual(self.run_order("P012345670", mode).bad, 1)

    def test_control_goes_on_at_once_in_skid(self):
        self.run_order("3P4PIV", "skid")
        self.assertEqual(self.handed, "3P4PIV")

    def test_poison_counts_as_seen(self):
        self.assertEqual(self.run_order("3P4PM").poisons, 2)
        self.assertEqual(self.run_order("+3PPM4").poisons, 1)
        self.assertEqual(self.run_order("PTX3").poisons, 0)

    def test_poison_open(self):
        for order in ("+3PPM", "P+3PM", "P+3P+4M"):
            self.assertEqual(self.follow(order, protect=False), (1, 0, 2))
        self.assertEqual(self.run_order("3PT", protect=False).bad, 1)


class EveryBit(unittest.TestCase):
    """Reliability S1: no bit of an epoch may change unseen, and nothing of it gets out."""

    def setUp(self):
        rng = random.Random(24)
        packer = traffic.Packer(rng, "pbr", "mem", 1, 2, with_ide=True)
        self.wire = []
        sender = ide_ends.Sender(KEY, "containment", True, packer.flit, rng,
                                 lambda n, plain, wire: self.wire.append(bytes(wire)))
        sender.poison(5)
        while sender.macs_sent < 2:
            sender.protocol_flit()
        self.last = len(self.wire) - 1
        for _ in range(2):
            sender.protocol_flit()

    @staticmethod
    def matters(item, at, bit):
        """Whether a bit is under the MAC or is the MAC: not header, CRC and FEC, not what is
        reserved beside a MAC or a Poison."""
        codes = flit.llctrl_of(item)
        if at < 2 or at >= 242:
            return False
        if codes == flit.POISON:
            return at == 2 or at in (3, 4) and bit < 4
        return not (codes and at == 3 and bit >= 4)

    def test_every_bit(self):
        for index, item in enumerate(self.wire):
            for place in range(8 * 256):
                at, bit = divmod(place, 8)
                changed = bytearray(item)
                changed[at] ^= 1 << bit
                receiver = ide_ends.Receiver([KEY], "containment", True)
                out = []
                for i, wire in enumerate(self.wire):
                    if not receiver.insecure:
                        out += receiver.accept(i, changed if i == index else bytearray(wire))
                harm = self.matters(item, at, bit)
                # Behind the second MAC lies an epoch whose own is not here yet.
                judged = index < self.last or index == self.last and at < 16
                if harm and judged:
                    self.assertEqual((index, at, bit, receiver.bad), (index, at, bit, 1))
                    # A flit that the change made a control flit goes on as one.
                    is_control = flit.llctrl_of(changed) is not None
                    self.assertEqual([i for i in out if i >= max(index + is_control, 1)], [])
                elif not harm:
                    self.assertEqual((index, at, bit, receiver.bad), (index, at, bit, 0))


class Lopt(unittest.TestCase):
    """wire-formats.md 5.2 for the latency-optimised flit"""

    def flits(self):
        rng = random.Random(25)
        first, second = (bytearray(rng.randbytes(256)) for _ in range(2))
        first[2] = first[2] & 0xF0 | 4
        second[2:4] = b"\x28\x03"
        return first, second

    def test_where_the_slots_stand_in_p(self):
        item = bytearray(i & 255 for i in range(256))
        item[2] = 0x54
        plain = ide.covered(item, ide.LOPT)
        self.assertEqual(len(plain), 240)
        self.assertEqual(plain[:3], b"\0\0\x50")
        self.assertEqual(plain[3:112], bytes(range(3, 112)))
        self.assertEqual(plain[112:128], bytes(range(112, 122)) + bytes(range(138, 144)))
        self.assertEqual(plain[128:144],
                         bytes(range(128, 138)) + bytes([242, 243]) + bytes(4))
        self.assertEqual(plain[144:], bytes(range(144, 240)))

    def test_back_and_forth(self):
        plain = self.flits()
        sealed = [bytearray(item) for item in plain]
        one, two = (ide.Epoch(KEY, 1, True, ide.LOPT) for _ in range(2))
        for item in sealed:
            one.seal(item)
        self.assertEqual(len(one.plain), 464)
        for was, item in zip(plain, sealed):
            # Header, CRCs and FEC, credits in the clear.
            for low, high in ((0, 2), (122, 128), (240, 242), (244, 256)):
                self.assertEqual(was[low:high], item[low:high])
            self.assertNotEqual(was[242:244] + was[138:144], item[242:244] + item[138:144])
            two.open(item)
            self.assertEqual(was, item)
        self.assertEqual(one.tag(), two.tag())

    def test_poison_in_the_hs_slot_needs_nothing(self):
        """It is in P like any slot: to change it is to fail the MAC, and no word is added."""
        first, second = self.flits()
        first[128:130] = b"\x38\x01"
        epoch, opened = (ide.Epoch(KEY, 1, True, ide.LOPT) for _ in range(2))
        for item in (first, second):
            epoch.seal(item)
        self.assertEqual(len(epoch.aad), 8)
        first[130] ^= 1
        for item in (first, second):
            opened.open(item)
        self.assertNotEqual(epoch.mac(), opened.mac())


class Watch(unittest.TestCase):
    """The monitor finds nothing in honest senders, and each broken rule."""

    def honest(self, mode="containment"):
        rng = random.Random(26)
        packer = traffic.Packer(rng, "pbr", "mem", 1, 2, with_ide=True)
        sent, turn = [], iter(range(10**6))
        sender = ide_ends.Sender(KEY, mode, True, packer.flit, rng,
                                 lambda n, plain, wire: sent.append(
                                     (None if n < 0 else next(turn), bytes(wire))))
        for _ in range(40):
            sender.protocol_flit()
        sender.poison(3)
        sender.poison_by_corruption(4)
        sender.stop()
        sender.protocol_flit()
        sender.start(KEYS[1])
        for _ in range(40):
            sender.protocol_flit()
        return sent

    def test_honest(self):
        for mode in ("containment", "skid"):
            sent = self.honest(mode)
            monitor = ide_monitor.Monitor()
            for _ in range(2):
                monitor.follow(KEYS, mode, sent)
            monitor.follow(KEYS, mode, sent[:9] + sent[2:9] + sent[9:])
            self.assertGreater(len(monitor.tags), 2)

    def broken(self, sent, words, monitor=None):
        with self.assertRaisesRegex(ide_monitor.Broken, words):
            (monitor or ide_monitor.Monitor()).follow(KEYS, "containment", sent)

    @staticmethod
    def changed(sent, at, place):
        turn, item = sent[at]
        item = bytearray(item)
        item[place] ^= 1
        return (turn, bytes(item))

    def test_key_used_again(self):
        for place, words in ((100, "two ciphertexts"), (10, "two tags")):
            monitor, sent = ide_monitor.Monitor(), self.honest()
            monitor.follow(KEYS, "containment", sent)
            at = next(i for i, (_, item) in enumerate(sent) if flit.is_ide_mac(item))
            sent[at] = self.changed(sent, at, place)
            self.broken(sent, words, monitor)

    def test_sent_again_in_another_form(self):
        sent = self.honest()
        self.broken(sent[:8] + [self.changed(sent, 3, 100)] + sent[8:], "sent again")
        at = next(i for i, (turn, _) in enumerate(sent) if turn is None)
        sent[at] = self.changed(sent, at, 100)
        self.broken(sent, "spoiled")

    def test_out_of_place(self):
        def of(subtype):
            return next(i for i, (_, item) in enumerate(sent)
                        if flit.llctrl_of(item) == (2, subtype))
        sent = [(n, f) for n, f in self.honest() if n is not None]
        for subtype, words in ((flit.IDE_TMAC, "Stop"), (flit.IDE_MAC, "MAC")):
            self.broken(self.renumbered(x for i, x in enumerate(sent) if i != of(subtype)), words)
        self.broken(self.renumbered((n, f) for n, f in sent
                                    if flit.llctrl_of(f) != (2, flit.IDE_IDLE)), "idle")
        at = of(flit.IDE_MAC)
        bare = bytes(sent[at][1][:2]) + bytes(14) + bytes(sent[at][1][16:])
        self.broken(self.renumbered(sent[:at] + [(0, bare)] + sent[at + 1:]), "MAC")
        self.broken(self.renumbered([(0, bare)] * 4), "no MAC in the first two")
        start = sent[of(flit.IDE_START)]
        self.broken(self.renumbered(sent[:1] + [start] + sent[1:]), "Start")

    @staticmethod
    def renumbered(sent):
        return [(turn, item) for turn, (_, item) in enumerate(sent)]

    def test_behind_a_hole_nothing_is_known(self):
        sent = self.honest()
        ide_monitor.Monitor().follow(KEYS, "containment", sent[:5] + sent[9:])


@unittest.skipUnless(cryptography_vectors, "python3-cryptography-vectors is not installed")
class Nist(unittest.TestCase):
    """What the model takes from `cryptography`, against NIST's files: GCM as a whole, and that
    its key stream is that of counter mode from block 2 on."""

    def records(self, name):
        text = cryptography_vectors.open_vector_file(f"ciphers/AES/GCM/{name}", "r")
        record, lengths = {}, {}
        with text as src:
            for line in src:
                word, _, value = line.strip().partition(" = ")
                if line.startswith("["):
                    word, _, value = line.strip("[] \n").partition(" = ")
                    lengths[word] = int(value or 0)
                elif line.strip() == "FAIL":
                    record["FAIL"] = True
                elif value or "=" in line:
                    record[word.removesuffix(" =")] = value
                elif record and not line.strip():
                    if "Key" in record and lengths.get("IVlen") == 96:
                        yield {k: v if k == "FAIL" else bytes.fromhex(v)
                               for k, v in record.items() if k != "Count"}, lengths
                    record = {}

    def test_encrypt(self):
        count = 0
        for r, lengths in self.records("gcmEncryptExtIV256.rsp"):
            out = AESGCM(r["Key"]).encrypt(r["IV"], r["PT"], r["AAD"])
            size = len(r["PT"])
            self.assertEqual(out[:size], r["CT"])
            self.assertEqual(out[size:size + lengths["Taglen"] // 8], r["Tag"])
            stream = Cipher(algorithms.AES(r["Key"]), modes.CTR(r["IV"] + b"\0\0\0\2"))
            self.assertEqual(stream.encryptor().update(r["PT"]), r["CT"])
            count += 1
        self.assertGreater(count, 1000)

    def test_decrypt(self):
        good = bad = 0
        for r, lengths in self.records("gcmDecrypt256.rsp"):
            text = Cipher(algorithms.AES(r["Key"]), modes.CTR(r["IV"] + b"\0\0\0\2"))
            plain = text.encryptor().update(r["CT"])
            tag = AESGCM(r["Key"]).encrypt(r["IV"], plain, r["AAD"])[len(plain):]
            self.assertEqual(tag[:lengths["Taglen"] // 8] == r["Tag"], "FAIL" not in r)
            good, bad = good + ("FAIL" not in r), bad + ("FAIL" in r)
        self.assertGreater(good, 1000)
        self.assertGreater(bad, 500)


if __name__ == "__main__":
    if cryptography_vectors is None:
        print("skipped NIST's vectors: python3-cryptography-vectors is not installed")
    unittest.main()
