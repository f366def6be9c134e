#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""Tables of a fabric have one writer: the rows of responders, which commands call (doc/cci.md).

Who else in lib and app calls a setter of them is a fault. lib/fabric has the setters; benches and weft-replay
have tables of their own, of no fabric. manager.c sets what no command can name: groups of a GFD beyond 30;
tables.c the windows of hosts and memory of devices, which are their own, and a GFD of more ranges than lists hold.

Before that the check is tried on lines whose faults are known.
"""

import os
import re
import sys

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")

# What is written, how, and by whom.
RULES = (
    ("DRT or RGT", r"\bweft_route_set_(?:drt|rgt)\s*\(",
     ("lib/node/cci_switch_tables.c", "app/weft-replay/receiver.c")),
    ("DMP or region", r"\bweft_gfam_(?:set_dmp|dc_set_region|set_region)\s*\(",
     ("lib/node/cci_gfd_places.c", "lib/node/tables.c")),
    ("group", r"\bweft_gfam_(?:dc_(?:add|release|refer)|set_blocks)\s*\(",
     ("lib/node/cci_gfd_capacity.c", "lib/node/manager.c", "lib/node/tables.c")),
    ("SAT", r"\bweft_gfam_set_sat(?:32)?\s*\(",
     ("lib/node/cci_gfd_capacity.c", "lib/node/manager.c", "lib/node/tables.c")),
    ("PID of a port of a switch", r"\b(?:s|sw|responder)(?:->|\.)pid\[[^]]*\]\s*=[^=]|memcpy\(\s*s->pid\b",
     ("lib/node/cci_switch.c",)),
)
OUTSIDE = ("lib/fabric/", "app/weft-bench/")


def faults(path, text):
    """Lines of a file that write what it may not, as text."""
    if path.startswith(OUTSIDE):
        return []
    found = []
    for what, pattern, may in RULES:
        if path in may:
            continue
        for m in re.finditer(pattern, text):
            line = text.count("\n", 0, m.start()) + 1
            found.append(f"{path}:{line}: writes a {what}: expected a command, got {m.group(0).strip()}")
    return found


def try_checks():
    """Number of lines that were judged as they must be; ends the program where one was not."""
    bad = (
        ("lib/node/tables.c", "\trc = weft_route_set_drt(r, 0, row, 1);\n"),
        ("app/weftd/fabric.c", "\trc = weft_route_set_rgt(r, 0, row, 1);\n"),
        ("app/weftd/fabric.c", "\trc = weft_gfam_set_sat(g, pid, 1);\n"),
        ("app/weft-sim/rights.c", "\trc = weft_gfam_dc_add(dc, g, &a, &done);\n"),
        ("app/weft-sim/rights.c", "\trc = weft_gfam_set_dmp(g, 0, 0, len, block);\n"),
        ("app/weftd/cci_nodes.c", "\tc->sw.pid[p] = far->pid;\n"),
        ("app/weftd/cci_nodes.c", "\tmemcpy(s->pid, pid, sizeof(pid));\n"),
    )
    good = (
        ("lib/node/cci_switch_tables.c", bad[0][1]),
        ("lib/fabric/route.c", "weft_route_set_drt(\n"),
        ("app/weft-bench/bench_pbr.c", bad[0][1]),
        ("lib/node/cci_switch.c", "\ts->pid[p] = WEFT_CCI_NO_PID;\n"),
        ("lib/node/manager.c", "\tif (s->pid[p] == far->pid)\n"),
    )
    for path, text in bad:
        if len(faults(path, text)) != 1:
            sys.exit(f"{path}: not found: {text.strip()}")
    for path, text in good:
        if faults(path, text):
            sys.exit(f"{path}: found: {text.strip()}")
    return len(bad) + len(good)


def main():
    tried = try_checks()
    files, found = 0, []
    for folder in ("lib", "app"):
        for at, _, names in os.walk(os.path.join(TOP, folder)):
            for name in sorted(names):
                if name.endswith((".c", ".h")):
                    with open(os.path.join(at, name), encoding="utf-8") as f:
                        found += faults(os.path.relpath(os.path.join(at, name), TOP), f.read())
                    files += 1
    print("\n".join(found + [f"{tried} checks of the check; {files} files, {len(found)} faults"]))
    sys.exit(1 if found else 0)


main()
