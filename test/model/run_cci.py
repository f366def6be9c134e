#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""Compare programs that speak CCI with the model: cci_script (payloads and headers),
gfd_capacity_script (dynamic capacity of a GFD). Each opcode and each drawn sequence is a test."""

import argparse
import os
import random
import sys

from weftmodel import gfd_cases
from weftmodel.script import Talk


class Device:
    """A program that takes "fm HEX" or "host PID HEX" and answers in hex."""

    def __init__(self, program):
        self.talk = Talk(program)

    def ask(self, iface, pid, message):
        who = "fm" if iface == "fm" else f"host {pid}"
        got = self.talk.ask_text(f"{who} {message.hex()}")
        try:
            return bytes.fromhex(got)
        except ValueError:
            return b""


def run_gfd(program, opts):
    passed = failed = commands = 0
    for n in range(max(1, opts.cases // 5000)):
        device = Device(program)
        with device.talk:
            right, wrong, _ = gfd_cases.play(device.ask, random.Random(opts.seed + n), 5000)
        commands += right
        passed, failed = passed + (not wrong), failed + bool(wrong)
        if wrong:
            print(f"FAIL gfd sequence {n}, seed {opts.seed}: command {right}: {wrong}")
            for line in device.talk.said[-opts.last:]:
                print(f"  {line}")
    print(f"gfd: {commands} commands answered as they should be", flush=True)
    return passed, failed


PARTS = {"gfd": run_gfd}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gfd", metavar="PROGRAM", help="the gfd_capacity_script to test")
    parser.add_argument("--seed", type=int, help="default: a random one, printed")
    parser.add_argument("--cases", type=int, default=20000,
                        help="drawn values or commands for each program (default: %(default)s)")
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
