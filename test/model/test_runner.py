#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""The runner itself: a right replay passes, and every way of being wrong fails."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
CASES = ("clean", "mixed", "raw")

# A stand-in for weft-replay: the expected report, with one edit.
FAKE = """#!/usr/bin/python3
import json, os, sys
trace = sys.argv[sys.argv.index("--in") + 1]
with open(os.path.splitext(trace)[0] + ".json") as src:
    case = json.load(src)
report = dict(case["expect"], seconds=0.5, mflits_per_s=1)
assert [a for a in sys.argv if "@" in a] == []
assert not case["keyed"] or os.path.exists(sys.argv[sys.argv.index("--key-file") + 1])
{edit}
print(json.dumps(report))
"""


FAKE_HELP = """#!/usr/bin/python3
print("--in FILE --json FILE --key-file FILE")
"""


class Runner(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.traces = os.path.join(cls.folder.name, "traces")
        cls.make("--flits", "600", *(w for c in CASES for w in ("--case", c)))
        for name in CASES:
            path = os.path.join(cls.traces, name + ".json")
            with open(path, encoding="ascii") as src:
                case = json.load(src)
            case["keyed"] = "--key-file" in case["args"]
            with open(path, "w", encoding="ascii") as out:
                json.dump(case, out)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def make(cls, *args):
        subprocess.run([sys.executable, os.path.join(HERE, "make_traces.py"), "--out", cls.traces,
                        *args], check=True, stdout=subprocess.DEVNULL)

    def run_with(self, edit, *args, fake=FAKE):
        path = os.path.join(self.folder.name, "fake")
        with open(path, "w", encoding="ascii") as out:
            out.write(fake.replace("{edit}", edit))
        os.chmod(path, 0o700)
        done = subprocess.run([sys.executable, os.path.join(HERE, "run_replay.py"), "--replay",
                               path, "--dir", self.traces, *args], capture_output=True, text=True,
                              check=False)
        return done.returncode, done.stdout.splitlines()

    def test_right_counts_pass(self):
        code, lines = self.run_with("")
        self.assertEqual((code, lines[-1]), (0, "3 passed, 0 failed, 0 skipped"))

    def test_a_case_left_out_is_skipped(self):
        code, lines = self.run_with("", "--case", "raw")
        self.assertEqual((code, lines), (0, ["ok raw", "1 passed, 0 failed, 2 skipped"]))

    def test_a_case_with_an_option_unknown_to_the_program_is_skipped(self):
        code, lines = self.run_with("", "--case", "raw", fake=FAKE_HELP)
        self.assertEqual(code, 0)
        self.assertRegex(lines[0], "^skipped raw: .* has no --spid, --dpid$")

    def test_key_files_are_private(self):
        mode = os.stat(os.path.join(self.traces, "mixed.key")).st_mode
        self.assertEqual(mode & 0o777, 0o600)

    def test_cases_hold_at_seeds_that_are_hard(self):
        # At two of these seeds an ALMP that was to be left alone had the slot 0 of a header flit,
        # at the others the middle of a stream had no idle flit, or no MAC, to do anything with.
        for seed, case in (("108", "ide_lost"), ("125", "ide_lost"), ("203", "ide_moved"),
                           ("239", "ide_moved")):
            self.make("--out", os.path.join(self.folder.name, "more"), "--flits", "500", "--seed",
                      seed, "--case", case)

    def test_wrong_answers_fail(self):
        for edit in ('report["flits"] += 1', 'del report["isn"]["gaps"]',
                     'report["skipped"]["runt"] = 99', 'report["messages"]["m2s_req"] -= 1',
                     'report["messages"]["surprise"] = 1', 'report["truncated"] = False',
                     'sys.exit(3)', 'os.kill(os.getpid(), 11)', 'report = "text"', 'report = []',
                     'report["ide"] = 0'):
            code, lines = self.run_with(edit)
            self.assertEqual((edit, code, lines[-1]), (edit, 1, "0 passed, 3 failed, 0 skipped"))

    def test_the_line_names_key_expected_and_got(self):
        _, lines = self.run_with('report["crc"]["bad"] = 7', "--case", "raw")
        self.assertEqual(lines[0], "FAIL raw: crc.bad 0 7")


if __name__ == "__main__":
    unittest.main()
