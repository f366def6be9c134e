# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""Drawn payloads of CCI commands."""

from weftmodel import cci


def draw_number(rng, width):
    return rng.choice((0, 1, 2**(8 * width) - 1, 1 << rng.randrange(8 * width),
                       rng.randrange(2**(8 * width)), rng.randrange(2**(8 * width))))


def draw_field(rng, width):
    return rng.randbytes(width) if width >= 16 else draw_number(rng, width)


def draw_list(rng, item, room):
    most = room // item.width
    count = rng.choice((0, 1, 2, rng.randint(0, min(most, 20)), most))
    if item.entry is bytes:
        return rng.randbytes(count)
    return [draw(rng, item.entry) if item.entry else draw_number(rng, item.width)
            for _ in range(count)]


def draw(rng, layout):
    """Values for every field; the count is right."""
    values = {}
    for f in layout.fields if layout else []:
        if isinstance(f, cci.List):
            most = cci.MAX_PAYLOAD - layout.fixed
            if f.count:
                width = next(g.width for g in layout.fields if g.name == f.count)
                most = min(most, (2**(8 * width) - 1) * f.width)
            values[f.name] = draw_list(rng, f, most)
            if f.count:
                values[f.count] = len(values[f.name])
        elif f.name != "r":
            values[f.name] = draw_field(rng, f.width)
    return values
