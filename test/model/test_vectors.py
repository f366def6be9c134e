#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""Checks the model against every vector printed in the specification, and its fast paths
against its definitions. Exits non-zero if anything differs."""

import hashlib
import os
import random
import tempfile
import unittest
import zlib

import numpy as np

import vectors
from weftmodel import crc, data_crc, fec, flit, frame, messages, pcapio, replay, traffic

COUNT = bytes(i & 255 for i in range(242))
SHA = b"".join(hashlib.sha256(b"wire%d" % i).digest() for i in range(8))[:242]


def protect(message, value, order="r0"):
    data = message + crc.to_bytes(value, order)
    return data + fec.encode(data)


def one(at, value, size=242):
    data = bytearray(size)
    data[at] = value
    return bytes(data)


class Crc(unittest.TestCase):
    """wire-formats.md 2.1 and (c)"""

    PLAIN = (
        (bytes(242), "0000000000000000", "000000000000", "000000000000"),
        (one(241, 1), "d568fed533414d69", "fde696be324d", "aa1e79be4d32"),
        (one(0, 1), "61b9a7e91ac33b0b", "f0beef64a8b2", "7aa9b464b3a9"),
        (one(0, 0x80), "815cfec8f4a99207", "feee5f57af5b", "3d848057db2f"),
        (COUNT, "5650ba1b432ce5bc", "15a03dc7ffa8", "b3b248c7f8af"),
        (b"\xff" * 242, "8524fedd34c21351", "53cd0ec341b4", "5ecb9dc34bbe"),
        (b"\x5a" * 242, "3acc9b46036aa74f", "96f597ab8081", "ae550babdbda"),
        (SHA, "0f40461310796275", "e4cdb65b27ab", "fdae435b7cf0"),
    )

    def test_generator(self):
        self.assertEqual(bytes(crc.G8[1:]).hex(), "d568fed533414d69")
        exponents = [crc.FIELD.log[c] for c in crc.G8]
        self.assertEqual(exponents, [0, 172, 116, 186, 172, 195, 134, 199, 36])
        six = crc._generator(6)
        self.assertEqual(bytes(six[1:]).hex(), "7e47ab1aa832")
        self.assertEqual([crc.FIELD.log[c] for c in six], [0, 147, 107, 250, 114, 161, 21])

    def test_printed_vectors_in_both_byte_orders(self):
        for message, want, fec_r0, fec_r7 in self.PLAIN:
            value = crc.by_division(message)
            self.assertEqual(f"{value:016x}", want)
            self.assertEqual(protect(message, value, "r0")[250:].hex(), fec_r0)
            self.assertEqual(protect(message, value, "r7")[250:].hex(), fec_r7)

    def test_r7_first_is_a_codeword(self):
        flit250 = SHA + crc.to_bytes(crc.crc(SHA), "r7")
        for i in range(1, 9):
            syndrome = 0
            for byte in flit250:
                syndrome = crc.FIELD.mul(syndrome, crc.FIELD.alpha(i)) ^ byte
            self.assertEqual(syndrome, 0)

    def test_table_and_batch_equal_division(self):
        rng = random.Random(11)
        rows = [rng.randbytes(256) for _ in range(40)]
        array = np.frombuffer(b"".join(rows), dtype=np.uint8).reshape(-1, 256).copy()
        for row, value in zip(rows, crc.batch(array).tolist()):
            self.assertEqual(value, crc.by_division(row[:242]))
            self.assertEqual(value, crc.crc(row[:242]))
        for order in ("r0", "r7"):
            values = np.array([rng.getrandbits(64) for _ in rows], dtype=np.uint64)
            crc.store(array, values, order)
            self.assertEqual(array[3, 242:250].tobytes(), crc.to_bytes(int(values[3]), order))
            self.assertEqual(crc.load(array, order).tolist(), values.tolist())

    def test_six_byte_crc_of_the_latency_optimised_flit(self):
        six = crc._generator(6)
        data = bytes(range(256))
        even = crc.FIELD.poly_mod(list(data[:122]) + [0] * 8 + [0] * 6, six)
        odd = crc.FIELD.poly_mod(list(data[128:244]) + [0] * 14 + [0] * 6, six)
        self.assertEqual(bytes(even).hex(), "40efa8525c60")
        self.assertEqual(bytes(odd).hex(), "90483f076c18")
        for order, want in (("r0", "2189d46749d2"), ("r5", "4b35320d9362")):
            step = -1 if order == "r0" else 1
            whole = data[:122] + bytes(even)[::step] + data[128:244] + bytes(odd)[::step]
            # The same sums over 250 bytes; the bytes of each group land in its places 244..249.
            code = fec.encode(whole)
            self.assertEqual(code.hex(), want)


class Isn(unittest.TestCase):
    """encapsulation.md 3; wire-formats.md (c), ISN"""

    PSEUDO = (
        (COUNT, 0, 0, 0, 0, "5650ba1b432ce5bc", "15a03dc7ffa8"),
        (COUNT, 0, 0, 0, 1, "9fa80a7136a38082", "e32f08f84c6e"),
        (COUNT, 0, 0, 0, 1023, "079cd1beda8e410a", "dda4780e1cf8"),
        (COUNT, 0x123, 0x456, 0, 1, "2fe077b2ca51ab39", "c9de1b774336"),
        (COUNT, 0x456, 0x123, 0, 1, "a945238e31298cdf", "633ddf5bfbab"),
        (COUNT, 0x123, 0x456, 3, 1, "a76e309c29b4dfcd", "b36c29d5dae4"),
        (bytes(242), 0x123, 0x456, 0, 0, "b0487dc3fcf22bbb", "2af1138f0f58"),
        (bytes(242), 0xFFE, 0x001, 0, 511, "01fd2a40e5cc13ae", "869a87e6b652"),
    )

    def test_printed_vectors(self):
        for message, spid, dpid, vc, seq, want, want_fec in self.PSEUDO:
            value = crc.flit_crc(message, "pseudo", spid, dpid, vc, seq)
            self.assertEqual(f"{value:016x}", want)
            whole = crc.by_division(crc.pseudo_header(spid, dpid, vc, seq) + message)
            self.assertEqual(value, whole)
            self.assertEqual(protect(message, value)[250:].hex(), want_fec)

    def test_seq_parts(self):
        for seq, want in ((1, "c9f8b06a758f653e"), (2, "b9db4bd4ea35ca7c"),
                          (256, "1e8bd0932ebb0bf2"), (512, "3c3d8b0d5c5d16cf")):
            self.assertEqual(f"{crc.SEQ_PART[seq]:016x}", want)
        rng = random.Random(12)
        for _ in range(2000):
            a, b = rng.randrange(1024), rng.randrange(1024)
            self.assertEqual(crc.SEQ_PART[a] ^ crc.SEQ_PART[b], crc.SEQ_PART[a ^ b])

    def test_gap_decoding_by_search_and_by_dict(self):
        expected = 700
        for seq in range(1024):
            s = crc.flit_crc(SHA, "pseudo", 9, 8, 2, seq) ^ \
                crc.flit_crc(SHA, "pseudo", 9, 8, 2, expected)
            found = [d for d in range(1024) if crc.SEQ_PART[d] == s]
            self.assertEqual(found, [expected ^ seq])
            self.assertEqual(crc.NUMBER_OF[s], expected ^ seq)

    def test_small_corruption_never_looks_like_a_gap(self):
        rng = random.Random(13)
        for _ in range(2000):
            error = bytearray(250)
            for at in rng.sample(range(250), rng.randint(1, 6)):
                error[at] = rng.randint(1, 255)
            s = crc.crc(error[:242]) ^ crc.from_bytes(error[242:])
            self.assertNotIn(s, crc.NUMBER_OF)

    def test_xor_form(self):
        for seq, want in ((0, "5650ba1b432ce5bc"), (1, "49b28d0f1780f41f"),
                          (5, "3547515f6c66b0c5"), (0x3FF, "306d92430759b25b")):
            self.assertEqual(f"{crc.flit_crc(COUNT, 'xor', seq=seq):016x}", want)
            mixed = bytearray(COUNT)
            mixed[2] ^= seq & 255
            mixed[3] ^= seq >> 8
            self.assertEqual(f"{crc.by_division(mixed):016x}", want)
        self.assertEqual(f"{crc.XOR_PART[1]:016x}", "1fe2371454ac11a3")
        self.assertEqual(f"{crc.XOR_PART[512]:016x}", "3d57bff24133acca")


class Fec(unittest.TestCase):
    """wire-formats.md 2.2 and (c)"""

    def setUp(self):
        self.good = protect(SHA, crc.crc(SHA))

    def damaged(self, *errors):
        flit_bytes = bytearray(self.good)
        for at, value in errors:
            flit_bytes[at] ^= value
        return bytes(flit_bytes)

    def test_single_bytes(self):
        for at, want in ((0, "00006b000001"), (1, "6b0000010000"), (248, "000400000100"),
                         (249, "000002000001")):
            self.assertEqual(fec.encode(one(at, 1, 250)).hex(), want)

    def test_batch_equals_the_sums(self):
        rng = random.Random(14)
        rows = [rng.randbytes(256) for _ in range(100)]
        array = np.frombuffer(b"".join(rows), dtype=np.uint8).reshape(-1, 256)
        for row, code in zip(rows, fec.encode_batch(array)):
            self.assertEqual(code.tobytes(), fec.encode(row[:250]))

    def test_printed_decodes(self):
        verdict, fixed, changed = fec.decode(self.damaged((100, 0x5A)))
        self.assertEqual((verdict, fixed, changed), ("corrected", self.good, 1))
        bad = self.damaged((1, 0x01), (4, 0x47))
        self.assertEqual(fec.decode(bad), ("uncorrectable", bad, 0))
        for errors, at in ((((1, 1), (4, 3)), 7), (((0, 1), (3, 1)), 252),
                           (((0, 1), (3, 2)), 255)):
            bad = self.damaged(*errors)
            verdict, fixed, changed = fec.decode(bad)
            self.assertEqual((verdict, changed), ("corrected", 1))
            self.assertEqual([i for i in range(256) if fixed[i] != bad[i]], [at])
            self.assertNotEqual(crc.crc(fixed[:242]), crc.from_bytes(fixed[242:250]))

    def test_every_single_byte_error_is_corrected(self):
        # The code is linear, so damage to the zero flit stands for damage to any.
        for at in range(256):
            for value in range(1, 256):
                verdict, fixed, _ = fec.decode_with(
                    one(at, value, 256), self._syndromes(((at, value),)))
                self.assertEqual((verdict, fixed), ("corrected", bytes(256)))

    def test_three_byte_bursts_are_corrected(self):
        rng = random.Random(15)
        for at in range(254):
            for _ in range(8):
                errors = tuple((at + i, rng.randint(1, 255)) for i in range(3))
                verdict, fixed, changed = fec.decode(self.damaged(*errors))
                self.assertEqual((verdict, fixed, changed), ("corrected", self.good, 3))

    @staticmethod
    def _syndromes(errors):
        out = [0] * 6
        for at, value in errors:
            if at >= 250:
                out[at - 250] ^= value
            else:
                group, k = at % 3, at // 3
                out[fec.CHECK_AT[group] - 250] ^= fec.FIELD.mul(value, fec.FIELD.alpha(84 - k))
                out[fec.PARITY_AT[group] - 250] ^= value
        return out

    def test_double_error_shares(self):
        """reliability.md section 3.1: of all value pairs, (n-2)/255 are missed; checked place by place."""
        for group, size in ((0, 84), (1, 83), (2, 83)):
            places = [3 * k + group for k in range(size)]
            places += [fec.CHECK_AT[group], fec.PARITY_AT[group]]
            rng = random.Random(16 + group)
            for _ in range(12):
                a, b = rng.sample(places, 2)
                missed = 0
                for ratio in range(1, 256):
                    s = self._syndromes(((a, 1), (b, ratio)))
                    missed += fec.locate(group, s[fec.CHECK_AT[group] - 250],
                                         s[fec.PARITY_AT[group] - 250]) is not False
                self.assertEqual(missed, size)


class DataCrc(unittest.TestCase):
    """signature.md sections 3.1 to 3.5"""

    def test_printed_vectors(self):
        up = bytes(range(256)) * 2
        for name, digits, block in (
                ("t10dif", 0xD0DB, 0x4F10), ("crc32", 0xCBF43926, 0x1C613576),
                ("crc32c", 0xE3069283, 0xAE10EE5A),
                ("crc64", 0xAE8B14860A799888, 0x65F48632094A1B07)):
            self.assertEqual(data_crc.crc(name, 0, b""), 0)
            self.assertEqual(data_crc.crc(name, 0, b"123456789"), digits)
            self.assertEqual(data_crc.crc(name, 0, up), block)

    def test_pieces_equal_the_whole(self):
        for name in data_crc.KINDS:
            for cut in range(len(SHA) + 1):
                head = data_crc.crc(name, 0, SHA[:cut])
                self.assertEqual(data_crc.crc(name, head, SHA[cut:]),
                                 data_crc.crc(name, 0, SHA))

    def test_others_agree(self):
        rng = random.Random(17)
        for size in range(200):
            data = rng.randbytes(size)
            self.assertEqual(data_crc.crc("crc32", 0, data), zlib.crc32(data))
            self.assertEqual(data_crc.crc("t10dif", 0, data), frame.t10dif(data))


class Frame(unittest.TestCase):
    """encapsulation.md 2"""

    def test_header_check(self):
        self.assertEqual(frame.t10dif(b"123456789"), 0xD0DB)

    def test_each_reason(self):
        good = frame.build([SHA + bytes(14)], spid=0x123, dpid=0x456, vc=3, session=7)
        self.assertEqual(frame.parse(good).spid, 0x123)
        self.assertEqual(len(good), 32 + 256)

        def changed(at, value):
            head = bytearray(good[14:30])
            head[at] = value
            return good[:14] + frame.with_check(head) + good[32:]

        cases = ((good[:13], "runt"), (good[:31], "runt"), (good[:12] + b"\x08\0" + good[14:20],
                 "ethertype"), (changed(0, 0x20), "version"), (changed(0, 0x12), "kind"),
                 (changed(1, 3), "flags"), (changed(1, 4), "flags"), (changed(1, 2), "id"), (good[:30] + b"\0\0" + good[32:], "header_check"),
                 (changed(2, 0), "count"), (changed(2, 65), "count"), (changed(0, 0x11), "count"),
                 (changed(3, 8), "vc"), (changed(4, 0x11), "id"), (changed(1, 0), "id"),
                 (changed(2, 2), "length"), (good + b"\0", "length"))
        for packet, reason in cases:
            self.assertEqual(frame.parse(packet), reason)
        self.assertEqual(frame.parse(good, frame.CXL), "mode")


class Slots(unittest.TestCase):
    """wire-formats.md 4.1: the lengths printed in the format table"""

    BITS = {  # code: G HBR, G PBR, H HBR, H PBR
        0: (112, 92, 72, 92), 1: (120, 96, 80, 96), 2: (124, 96, 100, 96),
        3: (96, 108, 96, 108), 4: (100, 120, 100, 120), 5: (120, 104, 80, 104),
        6: (124, 96, 84, 96), 7: (120, 96, 80, 96), 0xC: (112, 108, 84, 108),
        0xD: (96, 108, 96, 108), 0xE: (104, 124, 104, 124), 0xF: (120, 96, 80, 96),
    }

    def test_lengths(self):
        columns = (("G", "hbr"), ("G", "pbr"), ("H", "hbr"), ("H", "pbr"))
        for code, wants in self.BITS.items():
            for (slot, form), want in zip(columns, wants):
                places = messages.SLOTS[slot, form][code]
                bits = sum(messages.LAYOUTS[kind, form].bits for kind, _ in places)
                self.assertEqual((code, slot, form, bits), (code, slot, form, want))

    def test_fields_neither_overlap_nor_leave_holes(self):
        for layout in messages.LAYOUTS.values():
            bits = sorted(layout.fields.values())
            self.assertEqual(sum(width for _, width in bits), layout.bits)
            self.assertEqual([at for at, _ in bits],
                             [sum(w for _, w in bits[:i]) for i in range(len(bits))])

    def test_a_slot_by_hand(self):
        """The drawing that the specification calls certain: S2M DRS, HBR, in slot bits."""
        drs = messages.LAYOUTS["s2m_drs", "hbr"].pack(val=1, memop=2, tag=0xA55A, poison=1,
                                                      devload=2, ldid=9, trp=1)
        slot = int.from_bytes(messages.build_slot("G", "hbr", 0xF, [drs, 0, drs]), "little")
        first = 0xF | 1 << 4 | 2 << 5 | 0xA55A << 12 | 1 << 28 | 2 << 29 | 9 << 31 | 1 << 35
        self.assertEqual(slot, first | (first & ~0xF) << 80)

    def data_slots(self, form, code, *fields):
        """Slots that the unpacker expects after a G-slot with these messages."""
        kind = messages.SLOTS["G", form][code][0][0]
        layout = messages.LAYOUTS[kind, form]
        sent = [layout.pack(**f) if f else 0 for f in fields]
        data = bytearray(256)
        data[224:240] = messages.build_slot("G", form, code, sent)
        unpacker = flit.Unpacker(form)
        unpacker.walk(data)
        return unpacker.pending

    def test_data_and_trailers(self):
        val, trp, bep = {"val": 1}, {"val": 1, "trp": 1}, {"val": 1, "bep": 1}
        self.assertEqual(self.data_slots("pbr", 0xE, val), 4)
        self.assertEqual(self.data_slots("pbr", 0xE, trp), 5)
        self.assertEqual(self.data_slots("hbr", 0xF, val, None, None), 4)
        self.assertEqual(self.data_slots("hbr", 0xF, trp, trp, trp), 13)
        self.assertEqual(self.data_slots("hbr", 0xF, val, None, trp), 9)
        self.assertEqual(self.data_slots("hbr", 0xD, bep, val, bep, bep), 19)
        self.assertEqual(self.data_slots("pbr", 0xC, val, val, val), 12)

    def test_unpacker_counts_what_the_packer_packed(self):
        rng = random.Random(17)
        for form in ("hbr", "pbr"):
            packer = traffic.Packer(rng, form, "all", 0x123, 0x456)
            unpacker = flit.Unpacker(form)
            for _ in range(600):
                unpacker.walk(packer.flit())
            self.assertEqual(unpacker.counts, packer.sent)
            self.assertEqual(unpacker.pending, len(packer.pending))
            self.assertEqual(unpacker.bad_formats, 0)
            for kind in messages.LAYOUTS:
                self.assertGreater(unpacker.counts[kind[0]], 0)


class Capture(unittest.TestCase):
    """encapsulation.md 4"""

    def test_each_format_reads_back(self):
        rng = random.Random(19)
        packets = [pcapio.Packet(10**18 + i * 1000, rng.randbytes(i), i + i % 2) for i in range(40)]
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "t")
            for nano in (False, True):
                for big in (False, True):
                    pcapio.write_pcap(path, packets, nano=nano, big=big)
                    self.assertEqual(pcapio.read(path), (packets, False))
            for big in (False, True):
                pcapio.write_pcapng(path, packets, big=big)
                self.assertEqual(pcapio.read(path), (packets, False))

    def test_mixed_reads_back(self):
        rng = random.Random(20)
        links = [ifc[0] for ifc in pcapio.MIXED]
        packets = [pcapio.Packet(10**18 + i * 10**9, rng.randbytes(i), i + i % 2, rng.choice(links))
                   for i in range(100)]
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "t")
            pcapio.write_mixed(path, packets)
            got, truncated = pcapio.read(path)
        self.assertFalse(truncated)
        for was, is_now in zip(packets, got, strict=True):
            self.assertEqual((was.data, was.original, was.linktype),
                             (is_now.data, is_now.original, is_now.linktype))
            # A simple block has no time: that of the one before.
            self.assertIn(is_now.time_ns, (was.time_ns, was.time_ns - 10**9, 0))

    def test_every_cut_is_noticed(self):
        packets = [pcapio.Packet(i, bytes(i + 5)) for i in range(3)]
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "t")
            pcapio.write_pcap(path, packets)
            with open(path, "rb") as src:
                whole = src.read()
            ends = [24, 24 + 21, 24 + 21 + 22, len(whole)]
            for cut in range(24, len(whole) + 1):
                with open(path, "wb") as out:
                    out.write(whole[:cut])
                got, truncated = pcapio.read(path)
                self.assertEqual(truncated, cut not in ends)
                self.assertEqual(len(got), sum(cut >= e for e in ends[1:]))


class Numbers(unittest.TestCase):
    """The receivers' arithmetic at its edges (encapsulation.md 3, wire-formats.md 3)"""

    def take(self, name, first, numbers):
        opts = replay.options(["--first-seq", str(first)])
        got = replay.Replay(opts)
        receiver = got._receiver(name)
        for n in numbers:
            if name[0] == "rxl":
                item = flit.header(flit.IO) + bytes(254)
                receiver.take(item, crc.SEQ_PART[n] ^ receiver.addresses)
            else:
                receiver.take(flit.header(flit.IO, number=n) + bytes(254), 0)
        t = got.tally
        return (receiver.expected, t["gaps"], t["lost_flits"], t["duplicates"])

    def test_rxl_window(self):
        name = ("rxl", 1, 2, 0, 0)
        self.assertEqual(self.take(name, 1023, [1023, 0, 1]), (2, 0, 0, 0))
        self.assertEqual(self.take(name, 600, [87]), (88, 1, 511, 0))
        self.assertEqual(self.take(name, 600, [88]), (600, 0, 0, 1))
        self.assertEqual(self.take(name, 600, [599]), (600, 0, 0, 1))

    def test_cxl_window_skips_zero(self):
        name = ("cxl", bytes(6))
        self.assertEqual(self.take(name, 1022, [1022, 1023, 1]), (2, 0, 0, 0))
        self.assertEqual(self.take(name, 1022, [1]), (2, 1, 2, 0))
        self.assertEqual(self.take(name, 1, [512]), (513, 1, 511, 0))
        self.assertEqual(self.take(name, 1, [513]), (1, 0, 0, 1))
        self.assertEqual(self.take(name, 5, [0]), (6, 0, 0, 0))


class Files(unittest.TestCase):
    def test_committed_vector_files_are_current(self):
        folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "vectors")
        for name in vectors.FILES:
            with open(os.path.join(folder, name), encoding="ascii") as src:
                self.assertTrue(src.read() == vectors.text(name), f"{name} is out of date")


if __name__ == "__main__":
    unittest.main()
