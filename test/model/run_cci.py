#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""Compare programs that speak CCI with the model: cci_script (payloads and headers),
gfd_capacity_script (dynamic capacity of a GFD), cci_component_script (who may call what). Each opcode and each drawn sequence is a test."""

import argparse
import os
import random
import subprocess
import sys

from weftmodel import cci_access_cases, cci_cases, gfd_cases
from weftmodel.script import Talk

SEQUENCE = 5000
# Mandatory, but not served by this switch: it cannot ask others on an FM's behalf.
WITHOUT = [0x5701]


class Device:
    """A program that takes "fm HEX" (or "fm PID HEX") or "host PID HEX" and answers in hex."""

    def __init__(self, talk, fm_has_pid):
        self.talk, self.fm_has_pid = talk, fm_has_pid

    def ask(self, iface, pid, message):
        who = iface if iface == "fm" and not self.fm_has_pid else f"{iface} {pid}"
        try:
            return bytes.fromhex(self.talk.ask_text(f"{who} {message.hex()}"))
        except ValueError:
            return b""


def sequences(part, play, program, opts, fm_has_pid):
    """Drawn sequences of commands, each with a device of its own."""
    passed = failed = commands = 0
    for n in range(max(1, opts.cases // SEQUENCE)):
        with Talk(program) as talk:
            ask = Device(talk, fm_has_pid).ask
            right, wrong, _ = play(ask, random.Random(opts.seed + n), min(SEQUENCE, opts.cases))
        commands += right
        passed, failed = passed + (not wrong), failed + bool(wrong)
        if wrong:
            print(f"FAIL {part} sequence {n}, seed {opts.seed}: after {right} commands: {wrong}")
            for line in talk.said[-opts.last:]:
                print(f"  {line[:400]}")
    print(f"{part}: {commands} commands answered as they should be", flush=True)
    return passed, failed


def run_script(program, opts):
    """All lines in one go; each payload is a test."""
    parts = list(cci_cases.scripts(random.Random(opts.seed), opts.cases))
    text = "".join(line + "\n" for _, lines in parts for line, _ in lines)
    done = subprocess.run([program], input=text, capture_output=True, text=True, check=False)
    answers = iter(done.stdout.split("\n"))
    passed = failed = right = 0
    for name, lines in parts:
        wrong = None
        for line, allowed in lines:
            got = next(answers, "no answer")
            right += got in allowed
            if got not in allowed and not wrong:
                wrong = f"{line}: {got}, expected {' or '.join(allowed)}"
        passed, failed = passed + (not wrong), failed + bool(wrong)
        if wrong:
            print(f"FAIL script {name}, seed {opts.seed}: {wrong}")
    if done.returncode:
        failed += 1
        print(f"FAIL script: exit status {done.returncode} {done.stderr.strip()[-500:]}")
    print(f"script: {right} answers as they should be", flush=True)
    return passed, failed


def run_gfd(program, opts):
    return sequences("gfd", gfd_cases.play, program, opts, False)


def run_component(program, opts):
    def play(ask, rng, commands):
        return cci_access_cases.play(ask, rng, commands, without=opts.without)

    return sequences("component", play, program, opts, True)


PARTS = {"script": run_script, "gfd": run_gfd, "component": run_component}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--script", metavar="PROGRAM", help="the cci_script to test")
    parser.add_argument("--gfd", metavar="PROGRAM", help="the gfd_capacity_script to test")
    parser.add_argument("--component", metavar="PROGRAM", help="the cci_component_script to test")
    parser.add_argument("--seed", type=int, help="default: a random one, printed")
    parser.add_argument("--cases", type=int, default=20000,
                        help="drawn values or commands for each program (default: %(default)s)")
    parser.add_argument("--without", metavar="OPCODE,...", default=WITHOUT,
                        type=lambda text: [int(word, 16) for word in text.split(",") if word],
                        help="what the component does not have though it is mandatory, in hex "
                        "(default: " + ",".join(f"{op:04x}" for op in WITHOUT) + ")")
    parser.add_argument("--last", type=int, default=3, metavar="N",
                        help="of a sequence that fails show N lines (default: %(default)s)")
    opts = parser.parse_args()
    if opts.seed is None:
        opts.seed = random.SystemRandom().getrandbits(31)
    print(f"seed {opts.seed}", flush=True)
    passed = failed = skipped = 0
    for part, run in PARTS.items():
        program = getattr(opts, part)
        if program is None:
            print(f"skipped {part}: no program given")
            skipped += 1
        elif not os.access(program, os.X_OK):
            parser.error(f"{program}: not an executable")
        else:
            p, f = run(os.path.abspath(program), opts)
            passed, failed = passed + p, failed + f
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
