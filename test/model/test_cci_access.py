#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""Ownership and permissions by hand, and their judge: a right component passes, one with a fault
does not."""

import random
import unittest

from weftmodel import cci
from weftmodel import cci_access as a
from weftmodel.cci_access_cases import play

SEED = 40
FAULTS = ("serves hosts", "serves all", "all in CEL", "second primary", "secondary stays")


class Table(unittest.TestCase):
    """fabric.md 4.3"""

    def test_some_cells(self):
        fm, host, gfd, gfd_host = a.RULES
        self.assertEqual([fm.get(op) for op in (0x0001, 0x5709, 0x4900, 0x5105, 0x570F)],
                         ["M", "M", None, None, None])
        self.assertEqual([host.get(op) for op in (0x0701, 0x0702, 0x5105, 0x5709)],
                         [None, "M", "O", None])
        self.assertEqual([gfd.get(op) for op in (0x4907, 0x4913, 0x4903)], ["M", None, "O"])
        self.assertEqual([gfd_host.get(op) for op in (0x4904, 0x4907, 0x4913, 0x0003)],
                         ["M", None, "M", None])

    def test_a_host_sets_nothing_of_others(self):
        for opcode in (0x4903, *range(0x4905, 0x490E), 0x490F, 0x4912):
            self.assertNotIn(opcode, a.RULES[a.GFD_HOST])


class Ownership(unittest.TestCase):
    """fabric.md 4.4"""

    def claim(self, owners, sender, op, fm_pid, new_pid=0x201):
        q = {"op": op, "fm_pid": fm_pid, "fm_uuid": bytes([fm_pid & 255]) * 16,
             "new_pid": new_pid}
        rc = owners.claim(sender, q)
        if rc == 0:
            owners.claimed(q)
        return rc

    def test_two_managers(self):
        owners = a.Owners()
        for op in (1, 2, 3, 4):
            self.assertEqual(self.claim(owners, 1, op, 1), cci.INVALID_INPUT)
        self.assertEqual(self.claim(owners, 1, 0, 0xFFF), cci.INVALID_INPUT)
        self.assertEqual(self.claim(owners, 1, 0, 1), 0)
        self.assertEqual((owners.pid, owners.is_primary(1), owners.is_primary(2)),
                         (0x201, True, False))
        self.assertEqual(self.claim(owners, 2, 0, 2), cci.INVALID_INPUT)
        self.assertEqual(self.claim(owners, 2, 1, 2), cci.INVALID_INPUT)
        self.assertEqual(self.claim(owners, 1, 1, 2), 0)
        self.assertEqual(self.claim(owners, 1, 1, 3), cci.INVALID_INPUT)
        self.assertEqual(self.claim(owners, 1, 3, 1), cci.INVALID_INPUT)
        self.assertEqual(self.claim(owners, 2, 3, 2), 0)
        self.assertEqual((owners.primary[0], owners.secondary), (2, None))
        self.assertEqual(self.claim(owners, 1, 2, 1), cci.INVALID_INPUT)
        self.assertEqual(self.claim(owners, 2, 2, 2, 0x202), 0)
        self.assertEqual(owners.pid, 0x202)


class Judged(unittest.TestCase):
    def test_a_right_component(self):
        claims = set()
        for seed in range(SEED, SEED + 4):
            _, wrong, judge = play(a.Component().answer, random.Random(seed), 4000)
            self.assertIsNone(wrong, f"seed {seed}")
            claims |= set(judge.seen[0x0701])
        self.assertEqual(claims, {0, cci.INVALID_INPUT, cci.UNSUPPORTED})

    def test_components_with_a_fault(self):
        for fault in FAULTS:
            found = [play(a.Component(fault).answer, random.Random(seed), 4000)[1]
                     for seed in range(SEED, SEED + 3)]
            self.assertTrue(any(found), fault)


if __name__ == "__main__":
    print(f"seeds {SEED} to {SEED + 3}")
    unittest.main()
