#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""Share a line of text through memory of a fabric, which weft-fuse shows as a file:

    weft-fuse --node h0 /mnt/h0
    mapped.py /mnt/h0/g0 4096 "to all of you"
    weft-fuse --node h1 /mnt/h1                     # another host, on this machine or on any other
    mapped.py /mnt/h1/g0 4096
"""

import argparse
import mmap
import os
import sys

TEXT = 256  # bytes that a text takes, with zeros behind it


def number(text):
    return int(text, 0)


def main():
    parser = argparse.ArgumentParser(description="Share a line of text through memory of a fabric.")
    parser.add_argument("file", help="a region, as weft-fuse shows it")
    parser.add_argument("offset", type=number)
    parser.add_argument("text", nargs="?", help="what to write; without it what is there is printed")
    args = parser.parse_args()
    is_writer = args.text is not None

    # To open a file is to see what other hosts have written until then.
    try:
        fd = os.open(args.file, os.O_RDWR if is_writer else os.O_RDONLY)
    except OSError as e:
        sys.exit(f"mapped.py: {args.file}: {e.strerror}")
    size = os.fstat(fd).st_size
    if not 0 <= args.offset <= size - TEXT:
        sys.exit(f"mapped.py: expected an offset of 0 to {size - TEXT}, got {args.offset}")
    access = mmap.ACCESS_WRITE if is_writer else mmap.ACCESS_READ
    with mmap.mmap(fd, size, access=access) as memory:
        if is_writer:
            data = args.text.encode()[:TEXT]
            memory[args.offset:args.offset + TEXT] = data.ljust(TEXT, b"\0")
            # Once it returns the device has it, and whoever opens the file elsewhere sees it.
            memory.flush()
        else:
            print(memory[args.offset:args.offset + TEXT].rstrip(b"\0").decode(errors="replace"))
    os.close(fd)


if __name__ == "__main__":
    main()
