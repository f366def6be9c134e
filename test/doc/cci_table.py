#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""doc/cci.md has a row for each CCI command, with the bytes that lib/cci/layouts.txt gives it.

Before that the reader of layouts.txt is tried on lines that it must refuse.
"""

import contextlib
import os
import re
import sys
import tempfile

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(TOP, "lib", "cci"))

import gen_payload  # noqa: E402  pylint: disable=wrong-import-position


def size(layout):
    """Bytes of a payload as the table says them: all but the list, and those of an element."""
    if layout is None:
        return "–"
    fixed = str(layout.len) if layout.min == layout.len else f"{layout.min}-{layout.len}"
    if layout.list is None:
        return fixed
    if layout.list.size > 1:
        each = f"{layout.list.size} n"
    else:
        each = "…" if layout.list.count == "*" else "n"
    return f"{fixed} + {each}" if layout.len else each


GOOD = ("may n so many\nentry e a b:2 = 3\ncommand 0001 c C\n\treq !n r:2 l:[n]e = 3\n\tmay n another\n"
        "\trsp x:8 y:16b z:2x8 = 40\n")
BAD = (
    "entry f a = 2",  # another size
    "entry f a a = 2",  # a name twice
    "entry f a:5 = 5",  # no number has 5 bytes
    "entry e a = 1",  # twice
    "entry f n l:[n]e = 1",  # a list in an entry
    "command 0001 d D",
    "command 0002 c D",
    "command 0002 d D\n\treq l:[n]e = 0",  # nothing counts
    "command 0002 d D\n\treq n l:[n]g = 1",  # no such entry
    "command 0002 d D\n\treq n l:[n]e m:[n]e = 1",
    "command 0002 d D\n\treq min=1 n l:[n]e = 1",
    "command 0002 d D\n\trsp min=1 a b = 2",
    "command 0002 d D\n\treq a",  # no size
    "command 0002 d D\n\treq a = 1\n\treq a = 1",
    "command 0002 d D\n\treq as 0007",
    "command 0002 d D\n\treq !a = 1",  # nothing says what it may be
    "command 0002 d D\n\treq n = 1\n\tmay n x",  # it need not be named
    "command 0002 d D\n\treq !n = 1\n\tmay n",  # no text
    "command 0002 d D\n\trsp !n = 1",
    "entry f !n = 1",
    "may n x",  # twice
    "other",
)


def tables(text):
    """What is read of a text; None: it is refused."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as f, contextlib.suppress(SystemExit):
        f.write(text)
        f.flush()
        return gen_payload.Tables(f.name)
    return None


def try_known():
    """Lines that are wrong are refused."""
    if tables(GOOD) is None:
        sys.exit("cci_table.py: good layouts are refused")
    for text in BAD:
        if tables(GOOD + text + "\n") is not None:
            sys.exit(f"cci_table.py: taken: {text!r}")


def main():
    try_known()
    commands = gen_payload.Tables(os.path.join(TOP, "lib", "cci", "layouts.txt")).commands
    want = [[f"{c.opcode:04X}h", f"`{c.key}`", c.name, size(c.req), size(c.rsp)] for c in commands.values()]
    with open(os.path.join(TOP, "doc", "cci.md"), encoding="utf-8") as f:
        rows = [[cell.strip() for cell in line.split("|")[1:6]] for line in f if re.match(r"\| [0-9A-F]{4}h \| `", line)]
    faults = [f"doc/cci.md: there is no row | {' | '.join(row)} |" for row in want if row not in rows]
    faults += [f"doc/cci.md: no command has the row | {' | '.join(row)} |" for row in rows if row not in want]
    print("\n".join(faults + [f"{len(want)} commands, {len(faults)} faults"]))
    sys.exit(1 if faults or not want else 0)


if __name__ == "__main__":
    main()
