#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""Checks the model of block signatures against every vector printed in the specification, the
200 vectors of test/vectors/sig_vectors.json, and the rules it states. Needs no build."""

import hashlib
import itertools
import json
import os
import random
import unittest

import run_signature
from weftmodel import data_crc
from weftmodel import signature as s

ONES = {"crc32": 2**32 - 1, "crc32c": 2**32 - 1, "crc64": 2**64 - 1}
VECTORS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "vectors",
                       "sig_vectors.json")


def crc(kind="crc32", block=512, seed=None):
    return s.Domain("crc", block, s.Crc(kind, ONES[kind] if seed is None else seed))


def dif(block=512, bg_type="crc", bg=0xFFFF, app=0xABCD, ref=0x01234567, flags=s.REF_REMAP):
    return s.Domain("t10dif", block, s.Dif(bg_type, bg, app, ref, flags))


def pattern(name, size):
    unit = {"zero": b"\0", "ones": b"\xff", "c": b"c", "inc": bytes(range(256)),
            "dec": bytes(range(255, -1, -1))}[name]
    return (unit * size)[:size]


def generate(domain, data, block0=0):
    return s.transfer(s.Attr(None, domain), "tx", data, block0).output


def damaged(data, at, value=1):
    return data[:at] + bytes([data[at] ^ value]) + data[at + 1:]


def digits(size):
    return (b"1234567890" * 40)[:size]


class Checksums(unittest.TestCase):
    """3.1 to 3.6. Public: the catalogue of CRCs, zlib, RFC 3720 B.4, the NVM command set, the
    examples of T10 SBC (which are those of the NVMe 16b guard), Linux testmgr, SPDK."""

    def check(self, function, printed):
        for data, want in printed:
            self.assertEqual(f"{function(data):x}", f"{int(want, 16):x}", data[:16])

    def test_guard(self):
        self.check(lambda d: s.t10_crc(0, d), (
            (b"123456789", "D0DB"), (b"abc", "443B"), (digits(79), "4B70"),
            (b"abc" + b"d" * 53, "9CE3"), (digits(319), "44C6"), (bytes(32), "0"),
            (b"\xff" * 32, "A293"), (bytes(range(32)), "0224"), (b"\xff\xff" + bytes(30), "21B8"),
            (bytes(range(255, 223, -1)), "A0B7")))
        self.assertEqual(s.t10_crc(0xFFFF, b"123456789"), 0x8E3C)
        self.assertEqual(s.t10_crc(0x1234, bytes(range(48))), 0x60B3)

    def test_crc32(self):
        self.check(lambda d: s.crc("crc32", ONES["crc32"], d), (
            (b"", "0"), (b"a", "E8B7BE43"), (b"abc", "352441C2"), (b"123456789", "CBF43926"),
            (b"penguin", "E5C1A120"), (b"Hello world!", "1B851995"),
            (b"The quick brown fox jumps over the lazy dog", "414FA339")))

    def test_crc32c(self):
        read = bytes.fromhex("01c00000000000000000000000000000140000000000040000000014"
                             "0000001828000000000000000200000000000000")
        self.check(lambda d: s.crc("crc32c", ONES["crc32c"], d), tuple(
            (b"12345678"[:i + 1], w) for i, w in enumerate((
                "90F599E3", "7355C460", "107B2FB2", "F63AF4EE", "18D12335", "41357186",
                "124297EA", "6087809A"))) + (
            (b"123456789", "E3069283"), (b"Hello world!", "7B98E751"), (bytes(32), "8A9136AA"),
            (b"\xff" * 32, "62A8AB43"), (bytes(range(32)), "46DD794E"),
            (bytes(range(31, -1, -1)), "113FDB5C"), (read, "D9963A56")))

    def test_crc64(self):
        self.check(lambda d: s.crc("crc64", ONES["crc64"], d), (
            (b"", "0"), (b"123456789", "AE8B14860A799888"), (b"hello world!", "D9160D1FA8E418E3"),
            (b"a", "8C2F8445B4CBFC3C"), (b"abc", "05E5CABB3FC1FAEB")))

    def test_whole_blocks(self):
        blocks = [(n, p) for n in (512, 4096) for p in ("zero", "ones", "inc", "dec")]
        for function, wants in (
                (lambda d: s.t10_crc(0, d), "0 E6A1 4F10 A9B1 0 8B5D 8F6D 0430"),
                (lambda d: s.t10_crc(0xFFFF, d), "72BB 941A 3DAB DB0A E7E2 6CBF 688F E3D2"),
                (lambda d: s.crc("crc32", ONES["crc32"], d),
                 "B2AA7578 BD7BC39F 1C613576 13B08391 C71C0011 F154670A A2912082 94D94799"),
                (lambda d: s.crc("crc32c", ONES["crc32c"], d),
                 "30FCEDC0 5BD99297 AE10EE5A C535910D 98F94189 25C1FE13 9C71FE32 214941A8"),
                (lambda d: s.crc("crc64", ONES["crc64"], d),
                 "1DE60E2868A782E9 5277682DDAEB44B6 65F48632094A1B07 2A65E037BB06DD58 "
                 "6482D367EB22B64E C0DDBA7302ECA3AC 3E729F5F6750449C 9A2DF64B8E9E517E")):
            self.check(function, [(pattern(p, n), w) for (n, p), w in zip(blocks, wants.split())])

    def test_checksum(self):
        for bg in (0, 0xFFFF):
            self.check(lambda d, bg=bg: s.checksum(bg, d), (
                (bytes(512), "0" if bg else "FFFF"), (pattern("inc", 512), "7F80"),
                (pattern("inc", 4096), "FC03"), (b"c" * 512, "9C9C")))

    def test_tables_equal_division(self):
        rng = random.Random(31)
        for _ in range(60):
            data = rng.randbytes(rng.randrange(100))
            for kind, ones in ONES.items():
                for seed in (0, ones):
                    self.assertEqual(s.crc(kind, seed, data),
                                     data_crc.crc(kind, seed ^ ones, data))
            for seed in (0, 0xFFFF):
                self.assertEqual(s.t10_crc(seed, data), data_crc.crc("t10dif", seed, data))


class Published(unittest.TestCase):
    """1.2 and the vector file"""

    def test_vector_file(self):
        with open(VECTORS, encoding="ascii") as src:
            vectors = json.load(src)
        self.assertEqual(len(vectors), 200)
        for v in vectors:
            block, seed = v["block"], int(v["seed"], 16)
            if v["kind"] == "DIF":
                domain = dif(block, v["bg_type"].lower(), seed, int(v["app"], 16),
                             int(v["ref"], 16), s.REF_REMAP if v["remap"] else 0)
            else:
                domain = crc(v["kind"].lower(), block, seed)
            name, size = v["data"].split(":")
            data = pattern(name, int(size))
            out = generate(domain, data)
            unit = block + s.size(domain)
            tails = [out[i + block:i + unit].hex() for i in range(0, len(out), unit)]
            self.assertEqual(tails, v["signatures"], v["name"])
            self.assertEqual(hashlib.sha256(out).hexdigest(), v["sha256_of_output"], v["name"])
            back = s.transfer(s.Attr(None, domain), "rx", out)
            self.assertEqual((back.output, back.error), (data, None), v["name"])

    def test_man_page_example_1(self):
        attr, data = s.Attr(crc(), None), b"c" * 512
        good = data + bytes.fromhex("5f17ce9b")
        self.assertEqual(s.transfer(attr, "tx", good)[:2], (data, None))
        self.assertEqual(s.transfer(attr, "rx", data)[:2], (good, None))
        self.assertEqual(s.transfer(attr, "tx", b"c" * 516)[:2], (
            data, s.Error("bad_guard", 0, 0, 0x9BCE175F, 0x63636363, "mem")))

    def test_man_page_example_2(self):
        attr, data = s.Attr(None, dif(4096)), pattern("inc", 8192)
        want = b"".join(data[:4096] + bytes.fromhex(tail)
                        for tail in ("688fabcd01234567", "688fabcd01234568"))
        self.assertEqual(s.transfer(attr, "tx", data)[:2], (want, None))
        self.assertEqual(s.transfer(attr, "rx", want)[:2], (data, None))


class Matrix(unittest.TestCase):
    """1.1"""

    KINDS = (None,) + tuple(
        (lambda block, kind=kind: crc(kind, block)) for kind in ONES) + (
        lambda block: dif(block, "crc"), lambda block: dif(block, "csum", 0))

    def test_round_trips(self):
        rng = random.Random(32)
        sizes = ((512, 512), (4096, 4096), (520, 4160), (512, 4096), (4160, 520), (4048, 4048))
        for make_mem, make_wire in itertools.product(self.KINDS, repeat=2):
            if make_mem is None and make_wire is None:
                continue
            for b, c in sizes:
                mem, wire = make_mem and make_mem(b), make_wire and make_wire(c)
                attr = s.Attr(mem, wire)
                data = rng.randbytes(max(b, c) * 2)
                start = generate(mem, data) if mem else data
                tx = s.transfer(attr, "tx", start)
                self.assertEqual((tx.output, tx.error), (
                    generate(wire, data) if wire else data, None))
                rx = s.transfer(attr, "rx", tx.output)
                self.assertEqual((rx.output, rx.error), (start, None))
                if mem:
                    bad = s.transfer(attr, "tx", damaged(start, b // 2))
                    self.assertEqual((bad.error.error, bad.error.block), ("bad_guard", 0))

    def test_a_key_after_reset_copies(self):
        self.assertEqual(s.transfer(None, "tx", b"abc")[:2], (b"abc", None))

    def test_every_flipped_bit_is_found(self):
        data = random.Random(33).randbytes(512)
        for domain in (crc(), crc("crc32c"), crc("crc64"), dif(), dif(bg_type="csum", bg=0)):
            good = generate(domain, data)
            for bit in range(0, 8 * len(good), 7):
                at = bit // 8
                error = s.transfer(s.Attr(domain, None), "tx",
                                   damaged(good, at, 1 << bit % 8)).error
                want = "bad_guard"
                if s.is_dif(domain) and at >= 514:
                    want = "bad_apptag" if at < 516 else "bad_reftag"
                self.assertEqual(error.error, want)

    def test_blind_spots_of_the_checksum(self):
        domain = dif(bg_type="csum", bg=0)
        good = generate(domain, b"\0\0ABCD" + bytes(506))
        for head in (b"\0\0CDAB", b"\xff\xffABCD"):
            self.assertIsNone(s.transfer(s.Attr(domain, None), "tx", head + good[6:]).error)


class Masks(unittest.TestCase):
    """2.2 and 2.3"""

    def test_one_check_bit_sees_one_byte(self):
        data = bytes(range(256)) * 2
        places = {"crc32": (515, 514, 513, 512), "crc64": tuple(range(519, 511, -1)),
                  "dif": tuple(range(512, 520))}  # from bit 7 down
        for name, at in places.items():
            domain = dif() if name == "dif" else crc(name)
            good = generate(domain, data)
            for place in range(512, len(good)):
                for bit in range(8):
                    attr = s.Attr(domain, None, 0, 1 << bit)
                    error = s.transfer(attr, "tx", damaged(good, place)).error
                    seen = 7 - bit < len(at) and at[7 - bit] == place
                    self.assertEqual(error is not None, seen, (name, place, bit))

    def test_unknown_app_tag_is_carried(self):
        data = bytes(512)
        unit = generate(dif(app=0x1111), data)
        attr = s.Attr(dif(), dif(ref=9), s.COPY_MASK, 0xCF, 0x30)
        out = s.transfer(attr, "tx", unit)
        self.assertIsNone(out.error)
        self.assertEqual(out.output, generate(dif(app=0x1111, ref=9), data))
        out = s.transfer(attr._replace(copy_mask=0), "tx", unit)
        self.assertEqual(out.output, generate(dif(ref=9), data))

    def test_one_copy_bit_copies_one_byte(self):
        for domain in (dif(flags=0), crc(), crc("crc64")):
            n = s.size(domain)
            for bit in range(8):
                attr = s.Attr(domain, domain, s.COPY_MASK, 0, 1 << bit)
                want = bytearray(s.sign(domain, bytes(512), 0))
                at = 7 - bit if s.is_dif(domain) else bit - (8 - n)
                if at >= 0:
                    want[at] = 0x77
                out = s.transfer(attr, "tx", bytes(512) + b"\x77" * n).output
                self.assertEqual(out[512:], bytes(want))

    def test_automatic(self):
        for a, b, want in (
                (crc(), crc(), 0xFF), (crc(), crc(seed=0), 0), (crc(), crc("crc32c"), 0),
                (crc(), crc(block=520), 0), (crc(), dif(), 0), (crc(), None, 0),
                (dif(), dif(), 0xFF), (dif(), dif(block=520), 0),
                (dif(), dif(bg_type="csum"), 0x3F), (dif(), dif(bg=0), 0x3F),
                (dif(), dif(app=1), 0xCF), (dif(), dif(ref=1), 0xF0), (dif(), dif(flags=0), 0xF0),
                (dif(), dif(flags=s.REF_REMAP | s.APP_ESCAPE), 0xFF)):
            self.assertEqual(s.auto_copy(a, b), want)
            if b:
                self.assertEqual(s.auto_copy(b, a), want)


class Escapes(unittest.TestCase):
    """2.6"""

    def test_when(self):
        for flags, app, ref in itertools.product((0, 2, 4, 6), (0, 1), (0, 1)):
            unit = bytes(514) + (b"\xff\xff" if app else b"ab") + (b"\xff" * 4 if ref else b"abcd")
            want = {0: False, 2: app, 4: app and ref, 6: app and ref}[flags]
            out = s.transfer(s.Attr(dif(flags=flags), None), "tx", unit)
            self.assertEqual(out.error is None, bool(want))
            self.assertEqual(out.counters["escaped_unprotected"], int(want))

    def test_a_transform_keeps_the_mark(self):
        source = dif(flags=s.APP_ESCAPE)
        marked = bytes(514) + b"\xff" * 2 + b"abcd"
        target = dif(bg=0, app=1, ref=2)
        self.assertEqual(s.transfer(s.Attr(source, target), "tx", marked).output[512:],
                         s.guard(target, bytes(512)) + b"\xff" * 6)
        self.assertEqual(s.transfer(s.Attr(source, source), "tx", marked).output, marked)
        one_of_eight = generate(source, bytes(3 * 512)) + marked + generate(source, bytes(8192))
        out = s.transfer(s.Attr(source, dif(4096), 0, 0xFF), "tx", one_of_eight[:16 * 520])
        self.assertEqual(out.output[4096:4104], s.guard(dif(), bytes(4096)) + b"\xff" * 6)
        self.assertEqual(out.output[-6:].hex(), "abcd01234568")


class Records(unittest.TestCase):
    """5, S8, S9"""

    def test_wrap_and_start(self):
        domain = dif(ref=0xFFFFFFFE)
        out = generate(domain, bytes(512 * 3), 1)
        self.assertEqual([out[i * 520 + 516:(i + 1) * 520].hex() for i in range(3)],
                         ["ffffffff", "00000000", "00000001"])
        error = s.transfer(s.Attr(domain, None), "tx", damaged(out, 520), 1).error
        self.assertEqual((error.block, error.offset), (2, 1040))

    def test_shards_equal_the_whole(self):
        attr = s.Attr(None, dif())
        data = random.Random(34).randbytes(512 * 6)
        whole = s.transfer(attr, "tx", data).output
        parts = [s.transfer(attr, "tx", data[a * 512:b * 512], a).output
                 for a, b in ((0, 2), (2, 5), (5, 6))]
        self.assertEqual(b"".join(parts), whole)
        bad = damaged(damaged(whole, 4 * 520), 5 * 520)
        want = s.transfer(attr, "rx", bad).error
        got = [s.transfer(attr, "rx", bad[a * 520:b * 520], a).error
               for a, b in ((0, 2), (2, 5), (5, 6))]
        self.assertEqual(min((e for e in got if e), key=lambda e: e.block), want)

    def test_shards_of_other_blocks(self):
        attr = s.Attr(dif(), dif(4096, ref=5))
        whole = generate(dif(), bytes(512 * 24))
        parts = [s.transfer(attr, "tx", whole[a * 520:b * 520], a).output
                 for a, b in ((0, 8), (8, 24))]
        self.assertEqual(b"".join(parts), s.transfer(attr, "tx", whole).output)
        with self.assertRaises(s.SigError):
            s.transfer(attr, "tx", whole[4 * 520:12 * 520], 4)

    def test_order_of_fields_and_blocks(self):
        good = generate(dif(), bytes(1024))
        for wrong, mask, want in (((512, 514, 516), 0xFF, "bad_guard"),
                                  ((512, 514, 516), 0x3F, "bad_apptag"),
                                  ((512, 514, 516), 0x0F, "bad_reftag"),
                                  ((514, 516), 0xFF, "bad_apptag"), ((516,), 0xFF, "bad_reftag")):
            bad = damaged(good, 520)
            for at in wrong:
                bad = damaged(bad, at)
            error = s.transfer(s.Attr(dif(), None, 0, mask), "tx", bad).error
            self.assertEqual((error.error, error.block), (want, 0))

    def test_latch(self):
        key = s.Key()
        key.configure()
        key.set_sig(s.Attr(dif(), None))
        key.finish()
        self.assertIsNone(key.check())
        good = generate(dif(), bytes(1024))
        key.transfer("tx", damaged(good, 520))
        key.transfer("tx", damaged(good, 516))
        self.assertEqual(key.errors, 2)
        self.assertEqual(key.check().block, 1)
        self.assertIsNone(key.check())
        key.transfer("tx", damaged(good, 516))
        self.assertEqual(key.check().error, "bad_reftag")
        with self.assertRaises(s.SigError):
            s.Key(signature=False).check()
        key.transfer("tx", damaged(good, 0))
        key.configure(reset=True)
        key.finish()
        with self.assertRaises(s.SigError):
            key.check()
        self.assertIsNotNone(key.latch)


class Arguments(unittest.TestCase):
    """6.1 and 6.2"""

    def refused(self, name, function, *args, **kwargs):
        with self.assertRaises(s.SigError) as caught:
            function(*args, **kwargs)
        self.assertEqual(str(caught.exception), name)

    def test_attributes(self):
        good = dif()
        for attr in (
                s.Attr(None, None), s.Attr(good, None, comp_mask=1), s.Attr(good, None, flags=2),
                s.Attr(good._replace(comp_mask=1), None), s.Attr(dif(1024), None),
                s.Attr(None, dif(516)), s.Attr(None, good._replace(sig_type="sha")),
                s.Attr(None, good._replace(sig=None)), s.Attr(crc(seed=1), None),
                s.Attr(crc(seed=2**64 - 1), None), s.Attr(crc("crc64", seed=2**32 - 1), None),
                s.Attr(s.Domain("crc", 512, s.Crc("crc16", 0)), None), s.Attr(dif(bg=1), None),
                s.Attr(dif(bg_type="xor"), None), s.Attr(dif(flags=8), None),
                s.Attr(None, good, s.COPY_MASK), s.Attr(good, None, s.COPY_MASK),
                s.Attr(good, dif(4096), s.COPY_MASK), s.Attr(good, crc(), s.COPY_MASK),
                s.Attr(crc("crc32c"), crc(), s.COPY_MASK)):
            self.refused("EINVAL", s.check_attr, attr)
        s.check_attr(s.Attr(good, dif(bg_type="csum", bg=0), s.COPY_MASK))

    def test_lengths(self):
        for attr, size in ((s.Attr(dif(), None), 519), (s.Attr(None, dif()), 511),
                           (s.Attr(dif(), dif(4096)), 7 * 520), (s.Attr(dif(), None), 521)):
            self.refused("EINVAL", s.transfer, attr, "tx", bytes(size))
        self.assertEqual(s.transfer(s.Attr(dif(), None), "tx", b"").output, b"")
        self.refused("EMSGSIZE", s.Key().layout, 2**32)

    def test_states(self):
        key, attr = s.Key(), s.Attr(dif(), None)
        self.refused("EINVAL", key.set_sig, attr)
        self.refused("ENOTSUP", key.configure, comp_mask=1)

        def request(reset=False, setters=0):
            key.configure(reset)
            for _ in range(setters):
                key.set_sig(attr)
            key.finish()
            return key.state

        table = (("INIT", {}), ("RESET", {"reset": True}), ("UPDATED", {"setters": 1}))
        for start, how in table:
            self.assertEqual(request(**how), start)
            self.assertEqual(request(), "SET" if start == "UPDATED" else "INIT")
            self.assertEqual(request(**how), start)
            self.assertEqual(request(reset=True), "RESET")
            self.assertIsNone(key.attr)
            self.assertEqual(request(**how), start)
            self.assertEqual(request(setters=1), "UPDATED")
            request(reset=True)
            request()
        request(setters=1)
        self.assertEqual((request(), request(), key.attr), ("SET", "SET", attr))
        self.assertEqual(request(reset=True, setters=1), "UPDATED")
        self.refused("EBUSY", request, setters=2)
        self.refused("EINVAL", s.Key(signature=False).set_sig, attr)

    def test_a_failure_leaves_the_old_attributes(self):
        key, attr = s.Key(), s.Attr(dif(), None)
        key.configure()
        key.set_sig(attr)
        key.finish()
        key.configure(reset=True)
        self.refused("EINVAL", key.set_sig, s.Attr(None, None))
        self.refused("EINVAL", key.finish)
        self.assertEqual((key.state, key.attr), ("UPDATED", attr))


class Runner(unittest.TestCase):
    """run_signature.py sees what it should see."""

    LINE = {"error": "bad_guard", "block": 2, "offset": 1032, "computed": 2**64 - 1, "stored": 5}

    def verdicts(self, case, *answer):
        return len(list(run_signature.judge(case, *answer)))

    def test_judge(self):
        error = s.Error(*self.LINE.values(), "mem")
        bad = run_signature.Case([], b"", 0, b"abcd", [error], [])
        line = json.dumps(dict(self.LINE, domain="mem")).encode()
        self.assertEqual(self.verdicts(bad, 0, b"abcd", line + b"\n"), 0)
        for answer in ((0, b"abcd", b""), (0, b"abcd", b"bad_guard"), (0, b"abce", line),
                       (0, b"abc", line), (0, b"abcde", line), (1, b"abcd", line),
                       (-11, b"abcd", line), (0, b"abcd", line + b"\n" + line),
                       (0, b"abcd", b"3")):
            self.assertEqual(self.verdicts(bad, *answer), 1, answer)
        for key in self.LINE:
            other = json.dumps(dict(self.LINE, **{key: 77})).encode()
            self.assertEqual(self.verdicts(bad, 0, b"abcd", other), 1)
        two = bad._replace(errors=[error, error])
        self.assertEqual(self.verdicts(two, 0, b"abcd", line + b"\n" + line), 0)
        self.assertEqual(self.verdicts(two, 0, b"abcd", line), 1)
        good = bad._replace(errors=[])
        self.assertEqual(self.verdicts(good, 0, b"abcd", b""), 0)
        self.assertEqual(self.verdicts(good, 0, b"abcd", line), 1)
        refused = bad._replace(status=2, output=b"", errors=[])
        self.assertEqual(self.verdicts(refused, 2, b"", b"weft-sig: why\n"), 0)
        self.assertEqual(self.verdicts(refused, 2, b"a", b"weft-sig: why\n"), 1)
        self.assertEqual(self.verdicts(refused, 0, b"", b""), 1)
        self.assertEqual(self.verdicts(refused, 1, b"", b""), 1)
        cut = refused._replace(tags=["cut"])
        self.assertEqual(self.verdicts(cut, 1, b"", b""), 0)
        for answer in ((0, b""), (-6, b""), (1, b"a")):
            self.assertEqual(self.verdicts(cut, *answer, b""), 1)
        begun = cut._replace(output=b"abcd")
        self.assertEqual(self.verdicts(begun, 1, b"abcd", b""), 1)
        for output, wrong in ((b"abcd", 0), (b"", 0), (b"abcde", 1), (b"abce", 1)):
            answer = list(run_signature.judge(begun, 1, output, b"", streamed=True))
            self.assertEqual(len(answer), wrong, output)
        bare = refused._replace(tags=["bare"], data=b"x", output=b"")
        self.assertEqual(self.verdicts(bare, 2, b"", b""), 0)
        self.assertEqual(self.verdicts(bare, 0, b"x", b""), 0)
        self.assertEqual(self.verdicts(bare, 0, b"y", b""), 1)

    def test_cases_reach_every_corner(self):
        cases = [run_signature.draw(random.Random(f"35/{n}")) for n in range(300)]
        again = run_signature.draw(random.Random("35/7"))
        self.assertEqual(cases[7], again)
        errors = {case.errors[0].error for case in cases if case.errors}
        self.assertEqual(errors, {"bad_guard", "bad_apptag", "bad_reftag"})
        tags = {tag for case in cases for tag in case.tags}
        self.assertEqual(tags, {"arguments", "bare", "block0", "copy", "cut", "error", "escaped",
                                "reblock"})


if __name__ == "__main__":
    unittest.main()
