#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""Print what weft-replay must report about a trace: receiver.py --in FILE [weft-replay options]."""

import argparse
import sys

from weftmodel import output, replay


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--in", dest="trace", required=True, help="pcap or pcapng file")
    replay.add_options(parser)
    opts = parser.parse_args()
    if opts.ide != "off" and not opts.key_file:
        parser.error("--ide needs --key-file")
    try:
        result = replay.Replay(opts).run(opts.trace)
    except (OSError, ValueError) as error:
        sys.exit(f"receiver.py: {error}")
    output.print_json(result)


if __name__ == "__main__":
    main()
