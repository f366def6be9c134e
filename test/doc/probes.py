#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""Probes for tracers are those of doc/debug.md: each row of lib/base/weft_probe.h is in the page's table with
the same arguments, and weftd of the build folder $WEFT_BUILD has each, with as many.

Libraries below topo have none, nor has libweft. Where the build was made without sys/sdt.h only the lists are
compared. Before that the comparison is tried on a fault that it must see.
"""

import os
import re
import subprocess
import sys

import tree

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
ROW = re.compile(r"^WEFT_PROBE(\d)\(\s*(\w+),\s*(.*?)\)$", re.M | re.S)
NOTE = re.compile(r"Provider: weft\s+Name: (\w+)\s+Location:.*\s+Arguments: (.*)")


def rows(header):
    """Names of arguments by name of the probe."""
    out = {}
    for n, name, rest in ROW.findall(header):
        out[name] = [w.strip() for w in rest.split(",")][1::2]
        assert len(out[name]) == int(n), name
    return out


def table(page):
    return {m[1]: re.findall(r"`(\w+)`", m[2]) for m in re.finditer(r"^\| `(\w+)` \| (.*?) \|", page, re.M)}


def notes(path):
    """How many arguments each probe of a program has."""
    text = subprocess.run(["readelf", "-n", path], capture_output=True, text=True, check=False).stdout
    return {name: len(words.split()) for name, words in NOTE.findall(text)}


def compare(known, said, built):
    faults = [f"{p}: {known.get(p)} in lib/base/weft_probe.h, {said.get(p)} in doc/debug.md"
              for p in sorted(set(known) | set(said)) if known.get(p) != said.get(p)]
    if built is not None:
        faults += [f"{p}: {len(known.get(p, []))} arguments in lib/base/weft_probe.h, {built.get(p, 'not there')} in weftd"
                   for p in sorted(set(known) | set(built)) if len(known.get(p, [])) != built.get(p)]
    return faults


def main():
    with open(f"{TOP}/lib/base/weft_probe.h", encoding="utf-8") as f:
        known = rows(f.read())
    with open(f"{TOP}/doc/debug.md", encoding="utf-8") as f:
        said = table(f.read())
    assert len(known) > 5 and compare(known, {}, None) and compare(known, known, {}), "the comparison sees nothing"
    with open(f"{TOP}/lib/meson.build", encoding="utf-8") as f:
        libs = re.findall(r"'(\w+)',", f.read().split("libs = [")[1].split("]")[0])
    pure = [f"lib/{lib}" for lib in libs[:libs.index("topo") + 1]] + ["lib/client"]
    faults = [f"{path}: has probes, though its library is one that outsiders take as it is"
              for path, text in tree.sources(TOP, pure, (".c", ".h")) if '#include "weft_probe.h"' in text]
    build = os.environ["WEFT_BUILD"]
    with open(f"{build}/build.ninja", encoding="utf-8") as f:
        has_sdt = "-DWEFT_HAVE_SDT" in f.read()
    faults += compare(known, said, notes(f"{build}/app/weftd") if has_sdt else None)
    print("\n".join(faults) or f"{len(known)} probes" + ("" if has_sdt else "; none is built: there is no sys/sdt.h"))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
