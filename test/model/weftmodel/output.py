# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""What the programs here print."""

import json
import os
import sys


def print_json(value):
    """To standard output; whoever reads it may leave early (head)."""
    try:
        print(json.dumps(value, indent=2), flush=True)
    except BrokenPipeError:
        # Python flushes once more at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
