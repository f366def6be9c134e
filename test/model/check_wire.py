#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""Judge the senders in captures by the retry rules; doc/model.md says which.

CAPTURE is a pcap or pcapng file, or FILE=ID[,ID]: from this file only the frames that these
senders sent (an SPID; in cxl mode a MAC address). So the captures of both ends of a connection
become one: a.pcapng=1 b.pcapng=2.
"""

import argparse
import re
import sys

from weftmodel import output, wirecheck


def sender(text):
    """SPID or MAC address."""
    return text.lower() if re.fullmatch(r"(?i)[0-9a-f]{2}(:[0-9a-f]{2}){5}", text) else int(text, 0)


def capture(text):
    path, _, ids = text.partition("=")
    return path, {sender(i) for i in ids.split(",")} if ids else None


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("captures", metavar="CAPTURE", nargs="+", type=capture)
    parser.add_argument("--complete", metavar="ID", action="append", type=sender,
                        help="judge only this sender, of whom every frame is there in order (as in "
                        "a capture at its own port); may be given several times; default: all")
    parser.add_argument("--lossy", action="store_true", help="judge nobody: count only")
    parser.add_argument("--isn", choices=("pseudo", "xor", "none"), default="pseudo",
                        help="if the capture has no HELLO (default: %(default)s)")
    parser.add_argument("--crc-order", choices=("r0", "r7"), default="r0",
                        help="if the capture has no HELLO (default: %(default)s)")
    opts = parser.parse_args()
    complete = set() if opts.lossy else opts.complete and set(opts.complete)
    checker = wirecheck.Checker(complete, opts.isn, opts.crc_order)
    try:
        report = checker.run(opts.captures)
    except (OSError, ValueError) as error:
        sys.exit(f"check_wire.py: {error}")
    output.print_json(report)
    return 1 if report["violations"] else 0


if __name__ == "__main__":
    sys.exit(main())
