#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""Make a C array of a file: embed.py FILE NAME OUT."""

import sys

data = open(sys.argv[1], "rb").read()
with open(sys.argv[3], "w", encoding="ascii") as out:
    out.write(f"static const unsigned char {sys.argv[2]}[] = {{\n")
    for at in range(0, len(data), 16):
        out.write("".join(f"{byte}," for byte in data[at:at + 16]) + "\n")
    out.write("};\n")
