#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""Run weft-replay over the traces of make_traces.py and compare every count exactly."""

import argparse
import glob
import json
import os
import subprocess
import sys

# Counters by name, of which only those above zero need to be there.
SPARSE = ("skipped", "messages")


def flat(report):
    """{"fec.clean": 3, ...}"""
    out = {}
    for key, value in report.items():
        if isinstance(value, dict):
            out.update({f"{key}.{name}": n for name, n in value.items()})
        else:
            out[key] = value
    return out


def differences(expect, report):
    """"KEY WANT GOT" for every count that is not as expected."""
    want, got = flat(expect), flat(report)
    extra = [key for key in got if key.split(".")[0] in SPARSE]
    for key in sorted(set(want) | set(extra)):
        sparse = 0 if key.split(".")[0] in SPARSE else None
        a, b = want.get(key, sparse), got.get(key, sparse)
        if a != b or isinstance(b, bool):
            yield f"{key} {a} {b}"


def run(replay, case, folder, timeout):
    """Reasons to fail, none if all is well."""
    args = [a.replace("@DIR@", folder) for a in case["args"]]
    command = [replay, "--in", os.path.join(folder, case["trace"]), "--json", "-", *args]
    try:
        done = subprocess.run(command, capture_output=True, timeout=timeout, check=False)
    except subprocess.TimeoutExpired:
        return [f"time at most {timeout} s more"]
    if done.returncode:
        last = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
        return [f"exit 0 {done.returncode}" + "".join(f" ({line})" for line in last)]
    try:
        report = json.loads(done.stdout)
    except ValueError:
        return [f"output JSON {done.stdout[:60]!r}"]
    if not isinstance(report, dict):
        return [f"output object {report!r}"]
    return list(differences(case["expect"], report))


def unknown_options(replay, timeout):
    """A test whether the program has all options of a case, by what --help says."""
    done = subprocess.run([replay, "--help"], capture_output=True, timeout=timeout, check=False)
    known = done.stdout.decode(errors="replace").split()

    def missing(case):
        return [a for a in case["args"] if a.startswith("--") and a not in known]
    return missing if known else lambda case: []


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replay", required=True, help="the weft-replay to test")
    parser.add_argument("--dir", required=True, help="folder made by make_traces.py")
    parser.add_argument("--case", action="append", metavar="NAME",
                        help="only this case; may be given several times")
    parser.add_argument("--timeout", type=float, default=120, help="seconds a case")
    opts = parser.parse_args()
    if not os.access(opts.replay, os.X_OK):
        parser.error(f"{opts.replay}: not an executable")
    folder = os.path.abspath(opts.dir)
    names = sorted(os.path.basename(p)[:-5] for p in glob.glob(os.path.join(folder, "*.json")))
    unknown = set(opts.case or ()) - set(names)
    if not names or unknown:
        parser.error(f"{folder}: no case {', '.join(sorted(unknown)) or 'at all'}")
    chosen = opts.case or names
    missing = unknown_options(os.path.abspath(opts.replay), opts.timeout)
    passed = failed = 0
    for name in [n for n in names if n in chosen]:
        with open(os.path.join(folder, f"{name}.json"), encoding="ascii") as src:
            case = json.load(src)
        if missing(case):
            print(f"skipped {name}: {opts.replay} has no {', '.join(missing(case))}")
            continue
        wrong = run(os.path.abspath(opts.replay), case, folder, opts.timeout)
        print(f"FAIL {name}: {'; '.join(wrong)}" if wrong else f"ok {name}", flush=True)
        passed, failed = passed + (not wrong), failed + bool(wrong)
    print(f"{passed} passed, {failed} failed, {len(names) - passed - failed} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
