#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""The judge of dynamic capacity: a right device passes, one with a fault does not."""

import random
import unittest

from weftmodel import cci
from weftmodel import gfd_capacity as g
from weftmodel.gfd_cases import play
from weftmodel.gfd_device import BLOCK, MB, Device

SEED = 20
FAULTS = ("double", "same generation", "releases shared", "half", "forgets to free",
          "notify stays", "serves hosts")


class Rules(unittest.TestCase):
    """fabric.md 1.7 and 4.6"""

    def setUp(self):
        self.device = Device()
        self.fm(0x4903, id=0, blk=BLOCK, base=0, decode_len=1, len=g.STEP)
        self.fm(0x4903, id=1, blk=BLOCK, base=2048 * MB, decode_len=1, len=g.STEP)

    def fm(self, opcode, want=0, **values):
        got = self.device.answer("fm", 1, cci.ask(opcode, **values))
        self.assertEqual(cci.get_header(got).rc, want)
        return cci.get(cci.RESPONSE[opcode], got[cci.HEADER:]) if want == 0 else None

    def add(self, want=0, grp=0, policy=0, region=0, blocks=1, tag=g.NO_TAG, at=()):
        got = self.fm(0x4907, want, grp=grp, policy=policy, region=region, len=blocks * BLOCK,
                      tag=tag, max_rsp=25,
                      extent=[{"dpa": a * BLOCK, "len": BLOCK, "tag": tag, "seq": 0} for a in at])
        return [(e["dpa"] // BLOCK, e["len"] // BLOCK) for e in got["extent"]] if got else None

    def release(self, want=0, grp=0, flags=1, tag=g.NO_TAG, at=(), blocks=None):
        self.fm(0x4908, want, grp=grp, flags=flags, tag=tag, max_rsp=25,
                len=(len(at) if blocks is None else blocks) * BLOCK,
                extent=[{"dpa": a * BLOCK, "len": BLOCK, "tag": tag, "seq": 0} for a in at])

    def test_full_and_contiguous(self):
        self.add(policy=g.PRESCRIPTIVE, at=(1, 2), blocks=2)
        self.assertEqual(self.fm(0x4904, grp=0, n=9)["total"], 2)
        self.add(g.EXHAUSTED, policy=g.CONTIGUOUS, blocks=2)
        self.add(g.EXHAUSTED, blocks=3)
        self.assertEqual(self.add(grp=1, blocks=2), [(0, 1), (3, 1)])
        self.add(g.EXHAUSTED)

    def test_what_is_not_taken(self):
        self.add(g.INPUT, grp=3)
        self.add(g.INPUT, policy=4)
        self.add(g.INPUT, region=2)
        self.fm(0x4907, g.INPUT, len=BLOCK + 64, extent=[])
        self.add(policy=g.PRESCRIPTIVE, at=(1,))
        self.add(g.EXTENTS, policy=g.PRESCRIPTIVE, at=(1,))
        self.add(g.EXTENTS, policy=g.PRESCRIPTIVE, at=(0, 0), blocks=2)
        self.add(g.EXTENTS, policy=g.PRESCRIPTIVE, at=())

    def test_whole_extents_go_back(self):
        self.add(blocks=2)
        self.release(g.EXTENTS, at=(0,))
        self.release(g.INPUT, flags=0, tag=b"n" * 16)
        self.fm(0x4908, grp=0, flags=1, len=2 * BLOCK, max_rsp=9, extent=[
            {"dpa": 0, "len": 2 * BLOCK, "tag": g.NO_TAG, "seq": 0}])
        self.assertEqual(self.fm(0x4904, grp=0, n=9)["total"], 0)

    def test_written_once_then_shared(self):
        tag = b"t" * 16
        self.add(tag=tag, blocks=2)
        self.release(g.EXTENTS, at=(0,), tag=tag)
        self.fm(0x4909, tag=tag)
        self.release(flags=0, tag=tag, blocks=2)
        self.assertEqual(self.fm(0x490B, max=9)["tags"], [{"tag": tag, "flags": 1}])
        self.add(g.EXHAUSTED, blocks=3)             # it is kept
        self.add(g.INPUT, policy=g.SHARED, region=1, tag=b"u" * 16, blocks=2)
        self.assertEqual(self.add(policy=g.SHARED, region=1, tag=tag, blocks=2, grp=1), [(32, 2)])
        self.fm(0x490A, tag=tag)
        self.fm(0x490A, g.INPUT, tag=tag)
        self.assertEqual(self.fm(0x490B, max=9)["tags"], [{"tag": tag, "flags": 0}])
        self.release(flags=0, tag=tag, grp=1, blocks=2)
        self.assertEqual(self.fm(0x490B, max=9)["total"], 0)
        self.add(blocks=4)

    def test_access_vectors(self):
        self.fm(0x490D, rows=[{"rpid": 5, "vec": 7 | g.NOTIFY}])
        self.assertEqual(self.fm(0x490C, n=2, start_rpid=4)["vec"], [0, 7])
        self.fm(0x490D, g.INPUT, rows=[{"rpid": 5, "vec": 8}])


class Judged(unittest.TestCase):
    def test_a_right_device(self):
        counts = {}
        for seed in range(SEED, SEED + 4):
            _, wrong, judge = play(Device().answer, random.Random(seed), 4000)
            self.assertIsNone(wrong, f"seed {seed}")
            for opcode, codes in judge.seen.items():
                counts.setdefault(opcode, set()).update(codes)
        self.assertLessEqual({0, g.INPUT, g.EXHAUSTED, g.EXTENTS}, counts[0x4907])
        self.assertLessEqual({0, g.INPUT, g.EXTENTS}, counts[0x4908])
        for opcode in (0x4903, 0x4906, 0x4909, 0x490A, 0x490D):
            self.assertLessEqual({0, g.INPUT}, counts[opcode])

    def test_devices_with_a_fault(self):
        for fault in FAULTS:
            found = [play(Device(fault).answer, random.Random(seed), 4000)[1]
                     for seed in range(SEED, SEED + 3)]
            self.assertTrue(any(found), fault)


if __name__ == "__main__":
    print(f"seeds {SEED} to {SEED + 3}")
    unittest.main()
