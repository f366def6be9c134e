#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""Run random scripts through the retry layer (llr_script) and through the model, and compare.

Where the specification leaves no freedom the two have to be equal: what becomes of each flit,
what is handed on, which numbers are known lost, what is acknowledged. When an Ack or a Nak is sent
is free; what it says is not.
"""

import argparse
import os
import random
import subprocess
import sys

from weftmodel import flit as fl
from weftmodel import retry
from weftmodel.script import retry_answer

LETTER = {retry.DELIVERED: "o", retry.HELD: "o", retry.DUPLICATE: "D", retry.BAD: "B",
          retry.NOP: "N", retry.REFUSED: "R"}
ANY = "*"                       # not taken: whether old or too new is not said
# Gap decoding, selective, window.
SETTINGS = ((1, 1, 511), (1, 0, 511), (0, 0, 511), (1, 1, 16), (1, 0, 7), (1, 1, 1), (0, 0, 3))
OLDEST = 400                    # a flit that comes later than so many others is not played
QUIET = ("time 20000000",) * 6  # Acks are due after that
FRAME = 8


class Wrong(Exception):
    pass


class Script:
    """Lines for the program under test, and what it has to answer to each."""

    def __init__(self, seed, events):
        self.rng = random.Random(seed)
        self.gap, self.selective, self.window = SETTINGS[seed % len(SETTINGS)]
        self.rates = {k: self.rng.choice((0, 0.02, 0.2)) for k in ("bad", "drop", "dup", "late")}
        self.rx = retry.RxlReceiver(bool(self.gap), bool(self.selective))
        self.own = retry.RxlSender(self.window)
        self.peer = retry.RxlSender(self.window)
        self.late = []
        self.lost = 0
        self.lines = [f"cfg {self.gap} {self.selective} {self.window}"]
        self.expected = []
        # Longer than the numbers go, in steps of a few flits.
        while len(self.lines) < events:
            self.rng.choices((self.burst, self.repair, self.nop, self.edge, self.send, self.time,
                              self.quiet), (40, 12, 6, 4, 12, 10, 1))[0]()
        self.finish()

    def _answer(self, classes="-", delivered=()):
        self.expected.append({
            "classes": classes, "delivered": list(delivered), "lost": self.lost,
            "acknowledged": self.rx.expected - 1, "missing": set(self.rx.missing()),
            "seen": self.rx.seen, "oldest": self.own.oldest, "next": self.own.next,
            "quiet": False})

    def _header(self):
        """Command and number that a flit of the peer carries, now and then impossible ones."""
        command = self.rng.choices((0, fl.ACK, fl.NAK, fl.NAK_SELECTIVE), (6, 3, 0.5, 0.5))[0]
        if command == 0:
            return 0, 0
        if self.rng.random() < 0.1:
            edges = (self.own.oldest - 2, self.own.next, self.own.next + 511)
            return command, self.rng.choice((self.rng.randrange(1024),
                                             *(e % 1024 for e in edges)))
        return command, retry.rxl_number(self.rng.randrange(self.own.oldest - 1, self.own.next))

    def _heed(self, command, number):
        if command == fl.ACK:
            self.own.ack(number)
        elif command == fl.NAK:
            self.own.nak(number)
        elif command == fl.NAK_SELECTIVE:
            self.own.nak_selective(number)

    def _is_possible(self, position):
        """Whether a right sender could have sent it."""
        return position < self.rx.expected + retry.WINDOW

    def _play(self, flits):
        """flits: [(kind, position)]; in one frame."""
        words, classes = [], ""
        before = len(self.rx.delivered)
        for kind, position in flits:
            number = retry.rxl_number(position)
            command, ack = self._header() if self._is_possible(position) else (0, 0)
            words.append(f"{kind},{number},{position},{command},{ack}")
            seen, possible = self.rx.seen, self._is_possible(position)
            result = self.rx.take(None if kind == "x" else number, position, kind == "n")
            # An own flit that is new also moves `seen`; it is not lost.
            self.lost += max(0, self.rx.seen - seen - (kind == "p" and self.rx.seen == position))
            classes += LETTER[result] if possible or result != retry.REFUSED else ANY
            if result != retry.BAD:
                self._heed(command, ack)
        self.lines.append("rx " + " ".join(words))
        self._answer(classes, self.rx.delivered[before:])

    def _transmit(self, positions):
        """Over the bad wire."""
        frame = []
        for position in positions:
            copies = 1 + (self.rng.random() < self.rates["dup"])
            for _ in range(copies):
                if self.rng.random() < self.rates["drop"]:
                    continue
                if self.rng.random() < self.rates["late"]:
                    self.late.append(position)
                    continue
                frame.append(("x" if self.rng.random() < self.rates["bad"] else "p", position))
        while self.late and len(frame) < FRAME and self.rng.random() < 0.3:
            position = self.late.pop(self.rng.randrange(len(self.late)))
            if self.peer.next - position < OLDEST:
                frame.insert(self.rng.randrange(len(frame) + 1), ("p", position))
        for at in range(0, len(frame), FRAME):
            self._play(frame[at:at + FRAME])

    def burst(self):
        if self.rng.random() < 0.7:
            self.peer.ack(self.rx.acknowledged)
        self.peer.replay.clear()
        k = min(self.rng.randint(1, FRAME), self.peer.room())
        self._transmit([self.peer.send(None) for _ in range(k)])

    def repair(self):
        """Send again some or all of what is not acknowledged."""
        self.peer.ack(self.rx.acknowledged)
        again = range(self.peer.oldest, self.peer.next)
        if self.selective and self.rng.random() < 0.7:
            again = [p for p in self.rx.missing() if p >= self.peer.oldest]
        self._transmit(list(again)[:self.rng.choice((1, 4, FRAME, 64))])

    def nop(self):
        self._play([("n", self.peer.next)])

    def edge(self):
        """The oldest flits that must be known for old, and one from beyond the window (of the
        peer: how large it is, only the peer knows, but not larger than 511)."""
        if self.rng.random() < 0.5 and self.rx.expected > retry.WINDOW:
            age = self.rng.choice((1, retry.WINDOW, self.rng.randint(1, retry.WINDOW)))
            self._play([("p", self.rx.expected - age)])
        elif self.gap:
            self._play([("p", self.rx.expected + retry.WINDOW)])

    def send(self):
        k = min(self.rng.randint(1, 20), self.own.room())
        if not k:
            return
        self.own.replay.clear()
        for _ in range(k):
            self.own.send(None)
        self.lines.append(f"send {k}")
        self._answer()

    def time(self):
        self.lines.append(f"time {self.rng.choice((100, 10000, 1000000, 30000000))}")
        self._answer()

    def quiet(self):
        for line in QUIET:
            self.lines.append(line)
            self._answer()
        self.expected[-1]["quiet"] = True

    def finish(self):
        """Whatever is missing comes in the end."""
        self.late.clear()
        for at in range(self.rx.expected, self.peer.next):
            if at >= self.rx.expected:
                self._play([("p", at)])
        self.quiet()
        assert self.rx.delivered == list(range(1, self.peer.next))


class Judge:
    """Goes through the answers."""

    def __init__(self):
        self.said = 0               # acknowledged by what was sent
        self.newest = 0             # own flit sent last for the first time

    def line(self, answer, want):
        said = retry_answer(answer)
        if said is None:
            raise Wrong(f"no answer: {answer!r}")
        got, sent = said
        want["unacked"] = want["next"] - want["oldest"]
        got["classes"] = "".join(ANY if w == ANY and g in "DR" else g for g, w in zip(
            got["classes"], want["classes"])) + got["classes"][len(want["classes"]):]
        for key, value in got.items():
            if value != want[key]:
                raise Wrong(f"{key}: {value}, expected {want[key]}")
        for flit in sent:
            self._sent(*flit, want)
        if want["quiet"] and self.said != want["acknowledged"]:
            raise Wrong(f"acknowledged {self.said}, expected {want['acknowledged']}")

    def _sent(self, number, ident, command, ack, want):
        if ident == 0:
            if number != (self.newest + 1) % 1024:
                raise Wrong(f"NOP with {number} after flit {self.newest}")
        elif number != ident % 1024:
            raise Wrong(f"flit {ident} with {number}")
        elif not want["oldest"] <= ident < want["next"]:
            raise Wrong(f"flit {ident} sent, {want['oldest']} to {want['next'] - 1} are open")
        elif ident > self.newest + 1:
            raise Wrong(f"flit {ident} sent after {self.newest}")
        else:
            self.newest = max(self.newest, ident)
        if command:
            self._said(command, ack, want)
        elif ack:
            raise Wrong(f"command 0 with {ack}")

    def _said(self, command, number, want):
        behind = (want["seen"] - number) % 1024
        position = want["seen"] - behind
        if command == fl.NAK_SELECTIVE:
            # Beyond what is known to be missing, the next flit may have been corrupt.
            if position + 1 not in want["missing"] | {want["seen"] + 1}:
                raise Wrong(f"asks for {position + 1}, missing are {sorted(want['missing'])}")
            return
        exact = (want["acknowledged"],)
        if not (self.said <= position <= want["acknowledged"] if command == fl.ACK
                else position in exact):
            raise Wrong(f"{('Ack', 'Nak')[command == fl.NAK]} {number}: position {position}, "
                        f"said {self.said}, expected {want['acknowledged']}")
        self.said = position


def run(program, seed, events, keep=None):
    """Why the two differ; None if they agree."""
    script = Script(seed, events)
    text = "\n".join(script.lines) + "\n"
    if keep:
        with open(keep, "w", encoding="ascii") as out:
            out.write(text)
    try:
        done = subprocess.run([program], input=text, capture_output=True, text=True, timeout=120,
                              check=False)
    except subprocess.TimeoutExpired:
        return "does not come to an end"
    answers, judge = done.stdout.splitlines(), Judge()
    for i, want in enumerate(script.expected):
        if i >= len(answers):
            return f"line {i + 2}: no answer, exit status {done.returncode} {done.stderr.strip()}"
        try:
            judge.line(answers[i], want)
        except Wrong as wrong:
            return f"line {i + 2} ({script.lines[i + 1][:60]}): {wrong}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--script", required=True, help="the llr_script to test")
    parser.add_argument("--seed", type=int, help="first seed (default: drawn)")
    parser.add_argument("--seeds", type=int, default=42, help="scripts (default: %(default)s)")
    parser.add_argument("--events", type=int, default=1500, help="a script (default: %(default)s)")
    parser.add_argument("--keep", metavar="FILE", help="write the last script there")
    opts = parser.parse_args()
    if not os.access(opts.script, os.X_OK):
        parser.error(f"{opts.script}: not an executable")
    first = opts.seed if opts.seed is not None else random.randrange(1 << 31)
    failed = 0
    for seed in range(first, first + opts.seeds):
        wrong = run(os.path.abspath(opts.script), seed, opts.events, opts.keep)
        if wrong:
            print(f"FAIL seed {seed}: {wrong}", flush=True)
            failed += 1
    print(f"seeds {first} to {first + opts.seeds - 1}")
    print(f"{opts.seeds - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
