#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""Run scripts through pbr_script, gfam_script, ats_script, io_script and uio_script and through
the model, and compare: random ones, and small tables whole. Each script counts as one test."""

import argparse
import os
import random
import sys

from weftmodel import ats_cases, fabric_cases, gfam_cases, io_cases, uio_cases


LARGE = 1 << 20     # look-ups of one large script, at most


def large(make, seed, lookups):
    for n, at in enumerate(range(0, lookups, LARGE)):
        yield f"large {n}", lambda n=n, at=at: make(seed + n, min(LARGE, lookups - at))


def pbr_scripts(seed, cases, lookups):
    for make in fabric_cases.WHOLE:
        yield make.__name__, lambda make=make: make(seed)
    length = 2500
    for n in range(max(1, cases // length)):
        yield f"random {n}", lambda n=n: fabric_cases.RandomScene(seed + n, length)
    yield from large(fabric_cases.large, seed, lookups)


def gfam_scripts(seed, cases, lookups):
    for make in gfam_cases.WHOLE:
        yield make.__name__, lambda make=make: make(seed)
    length = 1000
    for n in range(max(1, cases // length)):
        yield f"random {n}", lambda n=n: gfam_cases.RandomScene(seed + n, length)
    yield from large(gfam_cases.large, seed, lookups)


def ats_scripts(seed, cases, _):
    for make in ats_cases.WHOLE:
        yield make.__name__, lambda make=make: make(seed)
    length = 5000
    for n in range(max(1, cases // length)):
        yield f"random {n}", lambda n=n: ats_cases.RandomScene(seed + n, length)


def io_scripts(seed, cases, _):
    for make in io_cases.WHOLE:
        yield make.__name__, lambda make=make: make(seed)
    length = 2500
    for n in range(max(1, cases // length)):
        yield f"random {n}", lambda n=n: io_cases.RandomScene(seed + n, length)


def uio_scripts(seed, cases, _):
    for make in uio_cases.WHOLE:
        yield make.__name__, lambda make=make: make(seed)
    length = 2500
    for n in range(max(1, cases // length)):
        yield f"random {n}", lambda n=n: uio_cases.RandomScene(seed + n, length)


PARTS = {"pbr": pbr_scripts, "gfam": gfam_scripts, "ats": ats_scripts, "io": io_scripts,
         "uio": uio_scripts}


def run(part, program, opts):
    passed = failed = lines = 0
    for name, make in PARTS[part](opts.seed, opts.cases, opts.lookups):
        if opts.only and not name.startswith(opts.only):
            continue
        right, wrong = make().play(program)
        lines += right
        passed, failed = passed + (not wrong), failed + bool(wrong)
        for text in wrong:
            print(f"FAIL {part} {name}, seed {opts.seed}: {text}", flush=True)
    print(f"{part}: {lines} answers as they should be", flush=True)
    return passed, failed


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for part in PARTS:
        parser.add_argument(f"--{part}", metavar="PROGRAM", help=f"the {part}_script to test")
    parser.add_argument("--seed", type=int, help="default: a random one, printed")
    parser.add_argument("--cases", type=int, default=100000,
                        help="lines in random scripts, for each program (default: %(default)s)")
    parser.add_argument("--lookups", type=int, default=1000000,
                        help="random look-ups of large tables, for pbr and gfam each "
                        "(default: %(default)s)")
    parser.add_argument("--only", metavar="NAME", help="scripts whose names begin so")
    opts = parser.parse_args()
    if opts.seed is None:
        opts.seed = random.SystemRandom().getrandbits(31)
    print(f"seed {opts.seed}", flush=True)
    passed = failed = skipped = 0
    for part in PARTS:
        program = getattr(opts, part)
        if program is None:
            print(f"skipped {part}: no program given")
            skipped += 1
        elif not os.access(program, os.X_OK):
            parser.error(f"{program}: not an executable")
        else:
            p, f = run(part, os.path.abspath(program), opts)
            passed, failed = passed + p, failed + f
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
