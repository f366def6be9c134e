#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""Write traces and what weft-replay must report about each.

For each case: NAME.pcap or NAME.pcapng, NAME.key (IDE cases, mode 0600) and NAME.json, which
holds {"trace": file, "args": [...], "expect": {...}}. In args, @DIR@ stands for the folder.
"""

import argparse
import json
import os
import random
import sys
import time

from weftmodel import (cases, ide_attack_cases, ide_cases, ide_flow_cases, ide_monitor,
                       pcapio, replay)

CASES = {name: build for module in (cases, ide_cases, ide_flow_cases, ide_attack_cases)
         for name, build in vars(module).items() if getattr(build, "is_case", False)}


def write_trace(path, case):
    if case.mixed:
        pcapio.write_mixed(path, case.packets)
    elif case.ng:
        pcapio.write_pcapng(path, case.packets, case.linktype, case.big)
    else:
        pcapio.write_pcap(path, case.packets, case.linktype, case.nano, case.big)
    if case.cut:
        # Inside the last packet, whose length is at least that of a frame with one flit.
        os.truncate(path, os.path.getsize(path) - 30)


def write_keys(path, lines):
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as out:
        out.write("# keys of the streams of this trace\n")
        out.writelines(line + "\n" for line in lines)


def contradictions(truth, report):
    """What the way a case was made says otherwise than the model receiver."""
    for key, want in truth.items():
        got = report
        for part in key.split("."):
            got = got[part]
        if got != want:
            yield f"{key}: made {want}, received {got}"


def listen(monitor, case, reader):
    """Everything encrypted in a trace, as its senders sent it and as it stands in the file."""
    mode = reader.opts.ide
    for stream in case.senders:
        monitor.follow(stream.keys, mode, stream.sent)
    if not case.tampered:
        for name, receiver in reader.receivers.items():
            if name in reader.keys:
                monitor.follow(reader.keys[name], mode, receiver.heard)


def make(name, folder, flits, seed, monitor):
    case = CASES[name](random.Random(f"{name}/{seed}"), flits)
    trace = f"{name}.pcapng" if case.ng else f"{name}.pcap"
    path = os.path.join(folder, trace)
    write_trace(path, case)
    if case.keys:
        write_keys(os.path.join(folder, f"{name}.key"), case.keys)
    args = [a.replace("@KEY@", f"@DIR@/{name}.key") for a in case.args]
    reader = replay.Replay(replay.options([a.replace("@DIR@", folder) for a in args]))
    report = reader.run(path)
    if case.keys:
        listen(monitor, case, reader)
    wrong = list(contradictions(case.truth, report))
    if report["flits"] < flits:
        wrong.append(f"{report['flits']} flits, asked for {flits}")
    if wrong:
        sys.exit(f"{name}: the model contradicts itself: " + "; ".join(wrong))
    with open(os.path.join(folder, f"{name}.json"), "w", encoding="ascii") as out:
        json.dump({"trace": trace, "args": args, "expect": report}, out, indent=1)
        out.write("\n")
    return report


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--out", required=True, metavar="DIR")
    parser.add_argument("--flits", type=int, default=10000, help="at least so many a case")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--case", action="append", choices=sorted(CASES), metavar="NAME",
                        help="only this case; may be given several times")
    opts = parser.parse_args()
    if opts.flits < 500:
        parser.error("--flits must be at least 500")
    os.makedirs(opts.out, exist_ok=True)
    print(f"seed {opts.seed}")
    monitor = ide_monitor.Monitor()
    for name in opts.case or CASES:
        start = time.monotonic()
        report = make(name, opts.out, opts.flits, opts.seed, monitor)
        print(f"{name}: {report['frames']} frames, {report['flits']} flits, "
              f"{time.monotonic() - start:.1f} s")


if __name__ == "__main__":
    main()
