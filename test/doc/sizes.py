#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""No file, function or struct of C is too large to be read.

In lib, app and drivers a file has at most 700 lines of 100 columns, a function 60 lines between its
braces, and a struct or union 30 members: each declarator counts, and a struct within it as one. In test
files may be longer, as tables are long there.

Before that the check is tried on files whose sizes are known. With --list it prints the largest.
"""

import argparse
import os
import re
import sys

import tree

FOLDERS = ("app", "drivers", "examples", "lib", "plugins", "test")
LIMITS = {"lines of a file": 700, "columns of a line": 100, "lines of a function": 60, "members of a struct": 30}

# What is no code: comments, strings and directives. Their lines stay.
NOT_CODE = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|^[ \t]*#(?:\\\n|[^\n])*", re.S | re.M)
STRUCT = re.compile(r"\b(?:struct|union)\b([^{};()=]*)\{")
# The formatter puts the braces of a function at the beginning of a line, below its name.
FUNCTION = re.compile(r"^(?P<head>[^\n{}#/]+)\n\{\n(?P<body>.*?)^\}", re.M | re.S)


def code(text):
    return NOT_CODE.sub(lambda m: "\n" * m[0].count("\n"), text)


def members(text, at):
    """How many declarators stand between the brace that was opened before a place and its end."""
    depth, n = 1, 0
    while depth > 0 and at < len(text):
        if text[at] in "{([":
            depth += 1
        elif text[at] in "})]":
            depth -= 1
        elif depth == 1 and text[at] in ";,":
            n += 1
        at += 1
    return n


def sizes(text):
    """What is measured, its name, and its size, of all that a file has."""
    yield "lines of a file", "", text.count("\n")
    yield "columns of a line", "", max(len(line.expandtabs(8)) for line in text.split("\n"))
    for m in FUNCTION.finditer(text):
        name = re.findall(r"\w+(?=\()", m["head"])
        yield "lines of a function", name[0] if name else m["head"], m["body"].count("\n")
    bare = code(text)
    for m in STRUCT.finditer(bare):
        name = m[1].split()
        yield "members of a struct", name[-1] if name else "unnamed", members(bare, m.end())


def try_known():
    """The check measures what is known."""
    text = (
        "/* struct no { int a; }; */\nstruct foo {\n\tint a, *b; /* ; */\n\tint (*f)(int a, int b);\n"
        "\tstruct {\n\t\tint c;\n\t\tint d;\n\t} e;\n\tchar g[sizeof(int[2])]; // ;\n};\n\n"
        "static struct foo\nfoo_make(struct foo *f, int n)\n{\n\tif (n) {\n\t\treturn *f;\n\t}\n\n\treturn *f;\n}\n"
    )
    want = [
        ("lines of a file", "", 20),
        ("columns of a line", "", 36),
        ("lines of a function", "foo_make", 5),
        ("members of a struct", "foo", 5),
        ("members of a struct", "unnamed", 2),
    ]
    got = list(sizes(text))
    if got != want:
        sys.exit(f"sizes.py: found {got}, not {want}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("top", nargs="?", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
    parser.add_argument("--list", action="store_true", help="print the largest ten of each")
    args = parser.parse_args()
    try_known()
    found = {what: [] for what in LIMITS}
    for path, text in tree.sources(args.top, FOLDERS, (".c", ".h", ".def")):
        for what, name, n in sizes(text):
            if what != "lines of a file" or not path.startswith("test"):
                found[what].append((n, path, name))
    faults = 0
    for what, limit in LIMITS.items():
        rows = sorted(found[what], reverse=True)
        if not rows:
            sys.exit(f"sizes.py: no {what} found")
        for n, path, name in rows[:10] if args.list else [row for row in rows if row[0] > limit]:
            print(f"{path}: {name + ': ' if name else ''}{n} {what}, at most {limit} allowed")
        faults += sum(row[0] > limit for row in rows)
    print(f"{sum(map(len, found.values()))} sizes, {faults} faults")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
