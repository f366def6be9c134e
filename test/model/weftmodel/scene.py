# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""What trace cases are made of: the Case, well-behaved streams, frames, and ways to damage them."""

from collections import Counter
from dataclasses import dataclass, field

from . import flit as fl
from . import mutate, pcapio
from .traffic import Cxl, Rxl

_START_NS = 1_760_000_000 * 10**9
_SIZES = (1, 1, 2, 5, 5, 5, 7, 16, 35, 35, 64)
DOWN, UP = bytes.fromhex("02000000000a"), bytes.fromhex("02000000000b")
DAMAGE = (mutate.uncorrectable, mutate.miscorrected, mutate.fresh_fec, mutate.noise,
          mutate.uncorrectable_in_fec, mutate.outside)


@dataclass
class Case:
    packets: list
    args: list = field(default_factory=list)
    truth: dict = field(default_factory=dict)
    keys: list = field(default_factory=list)
    senders: list = field(default_factory=list)     # sealed streams whose senders keep the rules
    tampered: bool = False                          # intact flits are not all the senders'
    linktype: int = pcapio.ETHERNET
    ng: bool = False
    mixed: bool = False                             # pcapng with many interfaces
    nano: bool = False
    big: bool = False
    cut: bool = False


def case(build):
    """Marks a function as a case, called as the function is."""
    build.is_case = True
    return build


def _times(rng):
    now = _START_NS
    while True:
        now += rng.randint(200, 20000)
        yield now


def _size(rng, left):
    return min(left, rng.choice(_SIZES + (rng.randint(1, 64),)))


def interleave(rng, streams):
    """Frames of all streams, in random turns; the flits of each stay in order."""
    times, out = _times(rng), []
    places = [0] * len(streams)
    open_ones = [i for i, s in enumerate(streams) if s.wire]
    while open_ones:
        i = rng.choice(open_ones)
        at, wire = places[i], streams[i].wire
        places[i] += _size(rng, len(wire) - at)
        now = next(times)
        out.append(pcapio.Packet(now, streams[i].frame(wire[at:places[i]], now & 0xFFFFFFFF)))
        if places[i] == len(wire):
            open_ones.remove(i)
    return out


def raw_packets(rng, wire):
    times, out, at = _times(rng), [], 0
    while at < len(wire):
        size = _size(rng, len(wire) - at)
        out.append(pcapio.Packet(next(times), b"".join(wire[at:at + size])))
        at += size
    return out


def sprinkle(rng, packets, every, make):
    """Put make(a good packet) between packets, about one in `every`."""
    out = []
    for p in packets:
        out.append(p)
        if rng.random() < 1 / every:
            bad = make(p)
            out.append(pcapio.Packet(p.time_ns + 1, bad.data, bad.original)
                       if isinstance(bad, pcapio.Packet) else pcapio.Packet(p.time_ns + 1, bad))
    return out


def hit(rng, wire, chance, damage):
    """(wire, hits): damage(rng, flit) applied to random flits."""
    out, hits = [], 0
    for item in wire:
        if rng.random() < chance:
            item = damage(rng, item)
            hits += 1
        out.append(item)
    return out, hits


def bursts(rng, wire, chance=0.1):
    """(wire, flits, bytes) with correctable damage."""
    out, flits, count = [], 0, 0
    for item in wire:
        if rng.random() < chance:
            item, length = mutate.burst(rng, item)
            flits += 1
            count += length
        out.append(item)
    return out, flits, count


def sent(streams):
    return dict(sum((s.packer.sent for s in streams), Counter()))


def clean_truth(streams):
    total = sum(len(s.wire) for s in streams)
    return {"flits": total, "crc": {"good": total, "bad": 0}, "messages": sent(streams),
            "isn": {"gaps": 0, "lost_flits": 0, "duplicates": 0}, "skipped": {}, "truncated": 0,
            "fec": {"clean": total, "corrected": 0, "corrected_bytes": 0, "uncorrectable": 0}}


def one(rng, n, **how):
    return Rxl(rng, 0x123, 0x456, 0, 0x1001).make(n, **how)


def several(rng, n, **how):
    """Eight connections that differ in one or more of SPID, DPID, VC, session and traffic."""
    names = ((0x123, 0x456, 0, 1, "down"), (0x456, 0x123, 0, 1, "up"), (0x123, 0x456, 3, 1, "mem"),
             (0x123, 0x456, 0, 0xFFFFFFFF, "all"), (0x123, 0x457, 7, 1, "mem"),
             (0xFFE, 0x001, 1, 2, "all"), (0, 0, 0, 0, "mem"), (0x001, 0xFFE, 1, 2, "up"))
    each = n // len(names) + 1
    return [Rxl(rng, *name[:4], flow=name[4]).make(each, **how) for name in names]


def link(rng, n, **how):
    """Both directions of one cxl link."""
    return [Cxl(rng, mac, 0x77, flow).make(n // 2 + 1, **how)
            for mac, flow in ((DOWN, "down"), (UP, "up"))]


def mistreat(rng, stream):
    stream.wire, _, _ = mutate.drop(rng, stream.wire, 0.005, 40)
    stream.wire, _ = mutate.duplicate(rng, stream.wire, 0.005, 200)
    stream.wire, _ = mutate.reorder(rng, stream.wire, 0.005)
    stream.wire, _, _ = bursts(rng, stream.wire, 0.05)
    stream.wire, _ = hit(rng, stream.wire, 0.01,
                         lambda r, item: r.choice(DAMAGE)(r, item))
    stream.wire, _ = hit(rng, stream.wire, 0.005, lambda r, item: bytes(fl.SIZE))


def spoiled(rng, packets):
    return sprinkle(rng, packets, 6, lambda p: mutate.spoil(rng, p.data))
