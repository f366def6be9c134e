#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What --version says after the version: the commit of the checkout that this file is in, or nothing in
a tarball, be it unpacked within somebody else's checkout. Printed, or as a header into the file that is named, which
stays as it is if it says so already."""

import os
import subprocess
import sys

TOP = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))


def git(*words):
    return subprocess.run(["git", "-C", TOP, *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True,
                          text=True).stdout.strip()


commit = ""
try:
    if os.path.realpath(git("rev-parse", "--show-toplevel")) == TOP:
        commit = f" ({git('describe', '--always', '--dirty', '--abbrev=12', '--exclude=*')})"
except (OSError, subprocess.CalledProcessError):
    pass
if len(sys.argv) < 2:
    print(commit)
    sys.exit()
header = f'#define WEFT_COMMIT "{commit}"\n'
if not os.path.exists(sys.argv[1]) or open(sys.argv[1]).read() != header:
    with open(sys.argv[1], "w") as f:
        f.write(header)
