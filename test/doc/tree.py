# SPDX-License-Identifier: BSD-3-Clause
"""The C files of the tree, for the checks beside this file."""

import os


def sources(top, folders, endings):
    """Path from the top and text of each file of these folders with one of these endings."""
    for folder in folders:
        for at, _, names in os.walk(os.path.join(top, folder)):
            for name in sorted(names):
                if name.endswith(endings):
                    path = os.path.join(at, name)
                    with open(path, encoding="utf-8") as f:
                        yield os.path.relpath(path, top), f.read()
