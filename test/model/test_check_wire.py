#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""The checker of captures: right senders pass on any wire, every broken one is named."""

import json
import os
import random
import subprocess
import sys
import tempfile
import unittest

from weftmodel import control, frame, pcapio, retry_link, wirecheck
from weftmodel import flit as fl

HERE = os.path.dirname(os.path.abspath(__file__))
BAD_WIRE = retry_link.Faults(bad=0.03, drop=0.03, dup=0.02, late=0.05)
BAD_LINK = retry_link.Faults(bad=0.03)
ALL_ONES = (1 << 64) - 1


def link(seed=1, mode=frame.RXL, messages=600, faults=None, **options):
    return retry_link.Link(random.Random(seed), mode, faults, **options).bring_up().run(messages)


class Wire(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def report(self, packets, *args, **options):
        path = os.path.join(self.folder.name, "a.pcap")
        pcapio.write_pcap(path, packets)
        return wirecheck.Checker(*args, **options).run([(path, None)])

    def assert_only(self, packets, *kinds):
        """These violations and no others."""
        report = self.report(packets)
        self.assertEqual(sorted(report["violations"]), sorted(kinds), report["shown"])


class RightSenders(Wire):
    def check(self, one, isn="pseudo", order="r0"):
        report = self.report(one.packets(isn, order))
        self.assertEqual(report["violations"], {}, report["shown"])
        sent = [x for f in one.log for x in f.flits]
        numbered = {(f.sender.me, x.position) for f in one.log for x in f.flits if x.position}
        self.assertEqual(report["flits"], len(sent))
        self.assertEqual(report["nops"], sum(not x.position for x in sent))
        self.assertEqual(report["first"], len(numbered))
        self.assertEqual(report["resent"], len(sent) - report["nops"] - len(numbered))
        del report["messages"]["llctrl"]
        self.assertEqual(sum(report["messages"].values()), sum(sum(e.got.values())
                                                               for e in one.ends))
        for a, b in (one.ends, one.ends[::-1]):
            first = {x.position: bytes(x.data[2:242]) for f in reversed(one.log)
                     for x in f.flits if f.sender is a and x.position}
            self.assertEqual([d[2:242] for d in b.rx.delivered],
                             [first[i] for i in range(1, a.tx.next)])
        return report

    def test_every_mode_on_clean_and_bad_wires(self):
        for seed in range(8):
            for mode, faults in ((frame.RXL, BAD_WIRE), (frame.RXL, None), (frame.CXL, BAD_LINK),
                                 (frame.CXL, None)):
                with self.subTest(seed=seed, mode=mode, faults=faults):
                    report = self.check(link(seed, mode, faults=faults, selective=seed % 2 == 0))
                    self.assertEqual(report["resent"] > 0, faults is not None)

    def test_forms(self):
        self.check(link(faults=BAD_WIRE), "xor", "r7")
        self.check(link(vc=5, ends=(0x456, 0x123)))

    def test_numbers_wrap_and_the_window_fills(self):
        for mode in (frame.RXL, frame.CXL):
            one = link(2, mode, 9000, latency=150, room=4000)
            report = self.check(one)
            self.assertGreater(report["first"], 2048)

    def test_lives(self):
        rng = random.Random(1)
        one = retry_link.Link(rng, faults=BAD_WIRE).bring_up().run(300).part()
        two = retry_link.Link(rng, faults=BAD_WIRE, session=0x77, asked=0x78).bring_up().run(300)
        report = self.report(one.packets() + two.packets())
        self.assertEqual((report["violations"], report["sessions"]), ({}, 2))

    def test_a_capture_without_the_start(self):
        for mode in (frame.RXL, frame.CXL):
            packets = link(3, mode, 4000, BAD_LINK).packets()
            for start in (4, 5, 50, len(packets) // 2):
                self.assert_only(packets[start:])

    def test_late_poison_is_no_error(self):
        one = link()
        at = next(f for f in one.log if f.flits and f.flits[0].position > 5)
        spoiled = retry_link.LoggedFlit(bytearray(b"\x80\0" + bytes(254)), at.flits[0].number,
                                        0, ALL_ONES)
        at.flits.insert(0, spoiled)
        report = self.report(one.packets())
        self.assertEqual((report["violations"], report["spoiled"]), ({}, 1))

    def test_at_a_port_its_own_end_is_judged(self):
        for mode, faults, names in ((frame.RXL, BAD_WIRE, (1, 2)),
                                    (frame.CXL, BAD_LINK, (f"02:00:00:00:00:0{i}" for i in (1, 2)))):
            one = link(3, mode, faults=faults)
            for i, name in enumerate(names):
                report = self.report(one.packets_at(i), {name})
                self.assertEqual(report["violations"], {}, report["shown"])
                self.assertGreater(report["bad"], 0)
                self.assertIn("crc", self.report(one.packets_at(i))["violations"])


class BrokenSenders(Wire):
    """Each breaks one rule."""

    def edited(self, edit, mode=frame.RXL, which=None, **options):
        """The log of a link, with `edit` done to the first flit of the initiator for which
        `which` holds."""
        one = link(7, mode, faults=BAD_LINK, **options)
        which = which or (lambda x: x.position == 20)
        flit = next(x for f in one.log if f.sender is one.ends[0] for x in f.flits if which(x))
        edit(flit)
        return one.packets()

    @staticmethod
    def header(command, number):
        def edit(x):
            x.data[0] = x.data[0] & 0xF0 | command << 2 | number >> 8
            x.data[1] = number & 255
        return edit

    @staticmethod
    def set(**values):
        def edit(x):
            for name, value in values.items():
                setattr(x, name, value)
        return edit

    def resent(self):
        """Holds for the second sending of any flit."""
        seen = set()

        def which(x):
            again = x.position in seen
            seen.add(x.position)
            return x.position and again
        return which

    def test_crc(self):
        self.assertEqual(self.report(self.edited(self.set(spoil=1)))["violations"]["crc"], 1)

    def test_fec(self):
        self.assert_only(self.edited(self.set(fec_error=1)), "fec")

    def test_a_number_left_out(self):
        one = link()
        for f in one.log:
            for x in f.flits:
                if f.sender is one.ends[0] and x.position > 20:
                    x.number = (x.number + 3) % 1024
                elif f.sender is one.ends[1]:
                    x.data[0:2] = fl.header(x.data[0] >> 6)
        violations = self.report(one.packets())["violations"]
        self.assertEqual(violations["gap"], 1)

    def test_numbers_begin_at_2(self):
        one = link(messages=20)
        for f in one.log:
            for x in f.flits:
                x.number += f.sender is one.ends[0]
        self.assert_only(one.packets(), "first_number")

    def test_another_content(self):
        for mode in (frame.RXL, frame.CXL):
            with self.subTest(mode=mode):
                self.assert_only(self.edited(lambda x: x.data.__setitem__(17, x.data[17] ^ 1),
                                             mode, self.resent()), "changed")

    def test_window(self):
        for mode in (frame.RXL, frame.CXL):
            with self.subTest(mode=mode):
                one = link(1, mode, 9000, latency=200, window=512, room=4000, per_frame=8)
                self.assert_only(one.packets_at(0), "window")
                one = link(1, mode, 9000, latency=200, window=511, room=4000, per_frame=8)
                self.assert_only(one.packets_at(0))

    def test_nop_number(self):
        for mode in (frame.RXL, frame.CXL):
            with self.subTest(mode=mode):
                edit = self.set(number=700)
                if mode == frame.CXL:
                    edit = self.header(fl.EXPLICIT, 700)
                self.assert_only(self.edited(edit, mode, lambda x: not x.position), "nop_number")

    def test_a_nop_that_uses_a_number(self):
        one = link().run(600)
        sent = [x for f in one.log if f.sender is one.ends[0] for x in f.flits]
        at = next(i for i, x in enumerate(sent) if not x.position and sent[i + 1].position)
        for x in sent[at + 1:]:
            x.number = (x.number + 1) % 1024
        self.assertIn("gap", self.report(one.packets())["violations"])

    def test_a_nop_with_credits(self):
        self.assert_only(self.edited(lambda x: x.data.__setitem__(240, 0x14),
                                     which=lambda x: not x.position), "nop_credits")

    def test_acks_beyond_what_was_sent(self):
        for mode in (frame.RXL, frame.CXL):
            for command in (fl.ACK, fl.NAK):
                with self.subTest(mode=mode, command=command):
                    self.assertIn("ack_beyond", self.report(self.edited(
                        self.header(command, 300), mode,
                        lambda x: x.data[0] >> 2 & 3 == command, selective=False))["violations"])

    def test_acks_going_back(self):
        for mode in (frame.RXL, frame.CXL):
            with self.subTest(mode=mode):
                acks = iter(range(1000))
                self.assert_only(self.edited(
                    self.header(fl.ACK, 1), mode,
                    lambda x: x.data[0] >> 2 & 3 == fl.ACK and next(acks) > 5), "ack_back")

    def test_a_number_without_a_command(self):
        self.assert_only(self.edited(self.header(fl.EXPLICIT, 9)), "header")

    def test_prior_flit_type(self):
        self.assert_only(self.edited(lambda x: x.data.__setitem__(0, x.data[0] ^ 0x20),
                                     frame.CXL), "prior_type")

    def test_init_param_is_first(self):
        one = link(messages=20)
        for f in one.log:
            for x in f.flits:
                if f.sender is one.ends[1] and x.position == 1:
                    x.data[2:16] = bytes(14)
        self.assert_only(one.packets(), "no_init")

    def test_credits(self):
        one = retry_link.Link(random.Random(1), obeys_credits=False)
        self.assert_only(one.bring_up().run(2000).packets(), "credit")

    def test_reserved_credits(self):
        one = link(messages=20)
        for f in one.log:
            for x in f.flits:
                if f.sender is one.ends[0] and x.position == 3:
                    x.data[240] |= 0x1F
        self.assertIn("credit_code", self.report(one.packets())["violations"])

    def test_flits_before_ready(self):
        one = link(messages=20)
        for kinds, names in (({control.READY}, {"not_agreed"}),
                             ({control.WELCOME}, {"not_agreed"})):
            packets = [p for p, f in zip(one.packets(), one.log)
                       if not f.control or f.control[0] not in kinds]
            self.assertEqual(set(self.report(packets)["violations"]), names)

    def test_the_asking_end_waits_for_the_answering_one(self):
        one = link(messages=20)
        packets = [p for p, f in zip(one.packets(), one.log)
                   if not f.control or f.control[0] != control.KEEPALIVE]
        answered = next(i for i, f in enumerate(one.log) if f.flits and f.sender is one.ends[1])
        del packets[answered - 1]
        self.assertIn("not_agreed", self.report(packets)["violations"])

    def test_a_session_id_used_again(self):
        one = link(messages=20).part()
        two = link(messages=20, asked=0x99)
        self.assertIn("session_id", self.report(one.packets() + two.packets())["violations"])

    def test_a_hello_used_again(self):
        one = link(messages=20).part()
        two = link(messages=20, session=0x99)
        self.assertIn("session_id", self.report(one.packets() + two.packets())["violations"])

    def test_flits_of_an_old_session(self):
        one, two = link(messages=20), link(messages=20, session=0x99, asked=0x98)
        packets = one.packets()
        late = packets[-1]
        self.assert_only(packets + two.packets() + [late], "old_session")

    def test_flits_after_goodbye(self):
        one = link(messages=20).part()
        packets = one.packets()
        own = max(i for i, f in enumerate(one.log) if f.flits and f.sender is one.ends[0])
        self.assertIn("old_session", self.report(packets + [packets[own]])["violations"])

    def test_records_and_frames(self):
        packets = link(messages=20).packets()
        for at, kind in ((40, "control"), (20, "frame")):
            data = bytearray(packets[0].data)
            data[at] ^= 1
            with self.subTest(at=at):
                self.assertIn(kind, self.report([pcapio.Packet(0, bytes(data))] + packets[1:])
                              ["violations"])

    def test_zeros(self):
        packets = link(messages=20).packets()
        data = packets[4].data
        zeros = frame.build([bytes(256)], frame.CXL, session=9, source=data[6:12])
        self.assert_only(packets + [pcapio.Packet(0, zeros)], "all_zero")


class Program(Wire):
    def run_on(self, *args):
        done = subprocess.run([sys.executable, os.path.join(HERE, "check_wire.py"), *args],
                              capture_output=True, text=True, check=False)
        return done.returncode, json.loads(done.stdout) if done.stdout else done.stderr

    def path(self, name, packets):
        path = os.path.join(self.folder.name, name)
        pcapio.write_pcapng(path, packets)
        return path

    def test_exit_status(self):
        good = link(messages=50)
        code, report = self.run_on(self.path("good", good.packets()))
        self.assertEqual((code, report["violations"]), (0, {}))
        self.assertEqual(report["control"], {"hello": 1, "welcome": 1, "ready": 1, "keepalive": 1})
        packets = good.packets()
        del packets[6]
        path = self.path("bad", packets)
        code, report = self.run_on(path)
        self.assertEqual(code, 1)
        self.assertEqual(len(report["shown"]), sum(report["violations"].values()))
        self.assertEqual(self.run_on("--lossy", path)[0], 0)
        code, text = self.run_on(os.path.join(self.folder.name, "none"))
        self.assertEqual((code, text.count("\n")), (1, 1))

    def test_names_of_control(self):
        """Of every type of link control, whether or not it makes sense there."""
        kinds = {getattr(control, name): name.lower() for name in (
            "HELLO", "WELCOME", "REFUSE", "GOODBYE", "READY", "KEEPALIVE", "RESET", "LOSS",
            "CHALLENGE", "GONE", "ANNOUNCE", "MANAGEMENT")}
        self.assertEqual(set(kinds), set(control.CARRIES))
        more = {control.CHALLENGE: {"challenge": 1}, control.GONE: {"challenge": 1},
                control.ANNOUNCE: {"instance": 1}}
        packets = [pcapio.Packet(i, control.build_frame(kind, 7, **more.get(kind, {})))
                   for i, kind in enumerate(kinds)]
        _, report = self.run_on("--lossy", self.path("control", packets))
        self.assertEqual(report["control"], dict.fromkeys(kinds.values(), 1))

    def test_reader_leaves(self):
        """Nobody reads what is printed: not a word, and the status as ever."""
        path = self.path("read", link(messages=50).packets())
        for script, *args in (("check_wire.py", path), ("receiver.py", "--in", path)):
            ours, theirs = os.pipe()
            os.close(ours)
            with self.subTest(script), os.fdopen(theirs, "wb") as out:
                done = subprocess.run([sys.executable, os.path.join(HERE, script), *args],
                                      stdout=out, stderr=subprocess.PIPE, check=False)
                self.assertEqual((done.returncode, done.stderr), (0, b""))

    def test_both_ends(self):
        """What each end sent, from its own capture."""
        one = link(faults=BAD_WIRE)
        parts = [self.path(f"end{i}", one.packets_at(i)) + f"={i + 1}" for i in range(2)]
        code, report = self.run_on(*parts)
        self.assertEqual((code, report["violations"]), (0, {}), report["shown"])
        self.assertGreater(report["skipped"]["not_asked_for"], 100)


if __name__ == "__main__":
    unittest.main()
