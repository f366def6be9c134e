#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""Static functions carry the name of their file.

The name of a static function of lib, app and drivers begins with a word of its file's name
(llr_priv.h: llr_; ats_agent_migrate.c: ats_, agent_ or migrate_; ports.c: ports_ or port_) or with its
library's or program's (lib/ats: ats_; app/weft-gen: gen_). In a public header, weft_*.h, with weft_.

Before that the check is tried on files whose faults are known.
"""

import argparse
import os
import re
import sys

import tree

FOLDERS = ("app", "drivers", "lib", "plugins")

# The formatter puts the name of a function that is defined at the beginning of a line, below its type
# and attributes.
DEFINED = re.compile(r"^(?!__attribute__|static_assert)(?P<name>[a-z_]\w*)\(", re.M)
ENDS = re.compile(r"\n|#|.*(?:[;}]|\*/)\n|//")


def prefixes(path):
    """The words with which a static function of a file may begin."""
    parts = path.split(os.sep)
    stem = os.path.splitext(parts[-1])[0]
    if stem.startswith("weft_"):
        return {"weft"}
    rooms = set(parts[1:-1]) | {parts[1].replace("weft-", "")}
    words = set(re.split("[-_]", stem)) - {"priv"} | rooms
    return words | {word[:-1] for word in words if word.endswith("s")}


def is_static(before):
    """The lines before the name of a function, the last one first, say so."""
    for line in before:
        if ENDS.match(line):
            return False
        if re.search(r"\bstatic\b", line):
            return True
    return False


def statics(text):
    """Names of the static functions that are defined in a text."""
    found = {}
    for m in DEFINED.finditer(text):
        if is_static(reversed(text[: m.start()].splitlines(keepends=True))):
            found[m["name"]] = True
    return list(found)


def bare(path, text):
    """Names of static functions of a file that do not begin as they must."""
    may = prefixes(path)
    return [name for name in statics(text) if name.split("_")[0] not in may]


def try_known():
    """The check finds what is wrong in files whose faults are known."""
    text = (
        "static int\nfoo_a(int a);\n\nstatic int\nfoo_a(int a)\n{\n}\n\n"
        "static inline void *\nput(void)\n{\n}\n\n"
        '__attribute__((cold)) static\n__attribute__((target("avx2"))) void\nbar_b(int b)\n{\n}\n\n'
        "static const int x[] = {\n1 };\n\nint\nshown(void)\n{\n}\n"
    )
    wants = [
        ("lib/one/foo.c", ["put", "bar_b"]),
        ("lib/one/foo_bars_priv.h", ["put"]),
        ("lib/put/bar_foo.c", []),
        ("app/weft-put/foo.c", ["bar_b"]),
        ("lib/one/weft_foo.h", ["foo_a", "put", "bar_b"]),
    ]
    for path, want in wants:
        got = bare(path, text)
        if got != want:
            sys.exit(f"prefixes.py: in {path} found {got}, not {want}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("top", nargs="?", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
    args = parser.parse_args()
    try_known()
    n, faults = 0, []
    for path, text in tree.sources(args.top, FOLDERS, (".c", ".h")):
        n += len(statics(text))
        for name in bare(path, text):
            faults.append(f"{path}: {name}() does not begin with a word of its file's or library's name")
    for fault in faults:
        print(fault)
    if n == 0:
        sys.exit("prefixes.py: no static functions found")
    print(f"{n} static functions, {len(faults)} faults")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
