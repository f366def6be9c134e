# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""The trace cases without IDE. Each builds packets from streams and says what it knows to be true.

A case takes (rng, n), n being the least number of flits, and returns a Case. `truth` holds
counts that follow from how the case was made; make_traces refuses to write a trace of which
the model receiver thinks otherwise.
"""

from collections import Counter

from . import flit as fl
from . import frame, mutate, pcapio
from .scene import (DAMAGE, Case, bursts, case, clean_truth, hit, interleave, link, mistreat, one,
                    raw_packets, several, sent, spoiled, sprinkle)
from .traffic import Cxl, Rxl


# Nothing wrong.

@case
def clean(rng, n):
    streams = [one(rng, n)]
    return Case(interleave(rng, streams), truth=clean_truth(streams))


@case
def clean_multi(rng, n):
    streams = several(rng, n)
    return Case(interleave(rng, streams), ["--mode", "rxl"], clean_truth(streams))


@case
def clean_pcapng(rng, n):
    streams = several(rng, n)
    return Case(interleave(rng, streams), truth=clean_truth(streams), ng=True)


@case
def clean_ns(rng, n):
    streams = [one(rng, n)]
    return Case(interleave(rng, streams), truth=clean_truth(streams), nano=True)


@case
def clean_bigendian(rng, n):
    streams = [one(rng, n)]
    return Case(interleave(rng, streams), truth=clean_truth(streams), big=True)


@case
def clean_cxl(rng, n):
    streams = link(rng, n)
    return Case(interleave(rng, streams), ["--mode", "cxl"], clean_truth(streams))


@case
def raw(rng, n):
    stream = one(rng, n)
    return Case(raw_packets(rng, stream.wire), ["--spid", "0x123", "--dpid", "0x456"],
                clean_truth([stream]), linktype=pcapio.USER0)


@case
def raw_cxl(rng, n):
    stream = Cxl(rng, bytes(6), flow="mem").make(n)
    packets = sprinkle(rng, raw_packets(rng, stream.wire), 20, lambda p: rng.choice(
        (b"", p.data[:100], p.data[:256] + b"\0", p.data[:256] * 65)))
    truth = clean_truth([stream])
    bad = sum(len(p.data) % 256 > 0 or not 0 < len(p.data) <= 64 * 256 for p in packets)
    truth["skipped"] = {"raw_length": bad} if bad else {}
    return Case(packets, ["--mode", "cxl"], truth, linktype=pcapio.USER0)


@case
def first_seq(rng, n):
    streams = [Rxl(rng, 5, 6, vc, 9).make(n // 2 + 1, first=900) for vc in (0, 1)]
    return Case(interleave(rng, streams), ["--first-seq", "900"], clean_truth(streams))


@case
def first_seq_cxl(rng, n):
    streams = link(rng, n, first=900)
    return Case(interleave(rng, streams), ["--mode", "cxl", "--first-seq", "900"],
                clean_truth(streams))


@case
def isn_none(rng, n):
    """Numbers are not checked, so losses cannot be seen; the data count merely slips."""
    streams = several(rng, n + n // 8, isn="none")
    for s in streams[:2]:
        s.wire, _, _ = mutate.drop(rng, s.wire)
    good = sum(len(s.wire) for s in streams)
    return Case(interleave(rng, streams), ["--isn", "none"],
                {"crc": {"good": good, "bad": 0}, "isn": {"gaps": 0, "lost_flits": 0,
                                                          "duplicates": 0}})


@case
def isn_xor(rng, n):
    """One connection loses a flit late: from there on every flit is bad, for good."""
    streams = [Rxl(rng, 1, 2, vc, 3, others=False).make(n // 3 + 1, isn="xor") for vc in range(3)]
    at = len(streams[1].wire) * 9 // 10
    del streams[1].wire[at]
    bad = len(streams[1].wire) - at
    total = sum(len(s.wire) for s in streams)
    return Case(interleave(rng, streams), ["--isn", "xor"],
                {"crc": {"good": total - bad, "bad": bad}})


@case
def r7(rng, n):
    streams = several(rng, n, order="r7")
    for s in streams:
        s.wire, _, _ = bursts(rng, s.wire, 0.05)
    truth = {"crc": {"good": sum(len(s.wire) for s in streams), "bad": 0},
             "messages": sent(streams)}
    return Case(interleave(rng, streams), ["--crc-order", "r7"], truth)


# Something wrong on the wire.

@case
def corrected(rng, n):
    streams = several(rng, n)
    flits = count = 0
    for s in streams:
        s.wire, hits, length = bursts(rng, s.wire)
        flits, count = flits + hits, count + length
    truth = clean_truth(streams)
    truth["fec"] = {"clean": truth["flits"] - flits, "corrected": flits,
                    "corrected_bytes": count, "uncorrectable": 0}
    return Case(interleave(rng, streams), truth=truth)


@case
def corrupted(rng, n):
    streams = several(rng, n)
    hits = Counter()
    for s in streams:
        for i, item in enumerate(s.wire):
            if rng.random() < 0.1:
                damage = rng.choice(DAMAGE)
                s.wire[i] = damage(rng, item)
                hits[damage.__name__] += 1
    total = sum(len(s.wire) for s in streams)
    bad = sum(hits.values()) - hits["uncorrectable_in_fec"] - hits["outside"]
    return Case(interleave(rng, streams), truth={
        "crc": {"good": total - bad, "bad": bad},
        "isn": {"gaps": 0, "lost_flits": 0, "duplicates": 0}})


@case
def dropped(rng, n):
    streams = several(rng, n + n // 8)
    streams.append(Rxl(rng, 8, 9, others=False).make(n))
    gaps = lost = 0
    for s in streams:
        longest = mutate.LONGEST_RUN if s.spid == 8 else 8
        s.wire, more, missing = mutate.drop(rng, s.wire, longest=longest)
        gaps, lost = gaps + more, lost + missing
    total = sum(len(s.wire) for s in streams)
    # And the longest run of all, whose distance is the last that counts as ahead.
    late = Rxl(rng, 10, 11, others=False).make(mutate.LONGEST_RUN + 40)
    del late.wire[20:20 + mutate.LONGEST_RUN]
    return Case(interleave(rng, streams + [late]), truth={
        "crc": {"good": total + len(late.wire), "bad": 0},
        "isn": {"gaps": gaps + 1, "lost_flits": lost + mutate.LONGEST_RUN, "duplicates": 0}})


@case
def duplicated(rng, n):
    streams = several(rng, n)
    messages, count = sent(streams), 0
    for s in streams:
        s.wire, more = mutate.duplicate(rng, s.wire)
        count += more
    return Case(interleave(rng, streams), truth={
        "messages": messages, "isn": {"gaps": 0, "lost_flits": 0, "duplicates": count}})


@case
def reordered(rng, n):
    streams = several(rng, n)
    moved = 0
    for s in streams:
        s.wire, more = mutate.reorder(rng, s.wire)
        moved += more
    return Case(interleave(rng, streams), truth={
        "isn": {"gaps": moved, "lost_flits": moved, "duplicates": moved}})


@case
def wrong_dpid(rng, n):
    """Frames sent to another port, with a valid header: some to a port that has a connection of
    its own, whose numbers they disturb, some to one that has none."""
    streams = [Rxl(rng, 1, dpid, 0, 5).make(n // 3 + 1) for dpid in (2, 3, 4)]
    packets, bad = interleave(rng, streams), 0
    for p in packets[10:-10]:
        if rng.random() < 0.04:
            got = frame.parse(p.data)
            other = rng.choice((2, 3, 4, 0x802, 0x102))
            if other != got.dpid:
                bad += len(got.flits)
                head = p.data[14:20] + other.to_bytes(2, "big") + p.data[22:30]
                p.data = p.data[:14] + frame.with_check(head) + p.data[32:]
    total = sum(len(s.wire) for s in streams)
    return Case(packets, truth={"crc": {"good": total - bad, "bad": bad}})


@case
def cxl_dropped(rng, n):
    streams = link(rng, n + n // 8)
    for s in streams:
        s.wire, _, _ = mutate.drop(rng, s.wire)
        s.wire, _ = mutate.duplicate(rng, s.wire, 0.005, 200)
        s.wire, _ = hit(rng, s.wire, 0.01, mutate.fresh_fec)
    streams.append(Cxl(rng, b"\x02\0\0\0\0\x0c", 1, "all").make(2000))
    del streams[2].wire[600:600 + mutate.LONGEST_RUN]
    return Case(interleave(rng, streams))


@case
def all_zero(rng, n):
    """All-zero flits among the others of a frame; in cxl mode they are IDLE flits."""
    streams = several(rng, n) + link(rng, n // 4)
    zeros = 0
    for s in streams:
        out = []
        for item in s.wire:
            if rng.random() < 0.03:
                out.append(bytes(fl.SIZE))
                zeros += 1
            out.append(item)
        s.wire = out
    total = sum(len(s.wire) for s in streams)
    truth = {"flits": total, "crc": {"good": total - zeros, "bad": 0}, "messages": sent(streams),
             "skipped": {"all_zero": zeros}}
    return Case(interleave(rng, streams), truth=truth)


@case
def bad_slots(rng, n):
    """Reserved slot formats inside intact flits."""
    streams = several(rng, n) + link(rng, n // 4)
    for s in streams:
        for item in s.bare:
            if fl.kind_of(item) == fl.CACHEMEM and rng.random() < 0.05:
                at = rng.choice((2,) + tuple(range(16, 240, 16)))
                item[at] = item[at] & 0xF0 | rng.choice((9, 0xA, 0xB, 8 if at > 2 else 9))
        s.protect()
    total = sum(len(s.wire) for s in streams)
    return Case(interleave(rng, streams), truth={"crc": {"good": total, "bad": 0}})


# Something wrong with the file or its packets.

@case
def truncated(rng, n):
    return Case(interleave(rng, [one(rng, n + n // 8)]), truth={"truncated": 1}, cut=True)


@case
def truncated_pcapng(rng, n):
    return Case(interleave(rng, [one(rng, n + n // 8)]), truth={"truncated": 1}, cut=True,
                ng=True)


@case
def mixed_pcapng(rng, n):
    """Frames and raw flits of one file; other link types and a packet of 260 kB are passed over."""
    streams = [Rxl(rng, 1, 2, 3, 4).make(n), Rxl(rng, 0x123, 0x456, 0, 0).make(n // 4)]
    raw_ones = raw_packets(rng, streams[1].wire)
    for p in raw_ones:
        p.linktype = pcapio.USER0
    left = [interleave(rng, streams[:1]), raw_ones,
            [pcapio.Packet(10**18 + i, rng.randbytes(99), linktype=228) for i in range(50)],
            [pcapio.Packet(10**18, bytes(260_000))]]
    packets = []
    while any(left):
        packets.append(rng.choice([part for part in left if part]).pop(0))
    truth = clean_truth(streams)
    truth["skipped"] = {"link_type": 50, "ethertype": 1}
    return Case(packets, ["--spid", "0x123", "--dpid", "0x456"], truth, ng=True, mixed=True)


@case
def garbage(rng, n):
    streams = several(rng, n)
    truth = clean_truth(streams)
    del truth["skipped"]
    other = link(rng, 400)
    sound = interleave(rng, streams)
    truth["frames"] = len(sound)

    def bad(p):
        kind = rng.random()
        if kind < 0.08:
            return pcapio.Packet(0, p.data[:rng.randrange(len(p.data))], len(p.data))
        if kind < 0.16:
            return other[0].frame(other[0].wire[:rng.randint(1, 5)], 0)
        return mutate.spoil(rng, p.data)

    return Case(sprinkle(rng, sound, 0.9, bad), ["--mode", "rxl"], truth)


# Everything at once.

@case
def mixed_plain(rng, n):
    """Both modes in one file, every kind of damage, no IDE."""
    streams = several(rng, n * 3 // 4) + link(rng, n // 2)
    for s in streams:
        mistreat(rng, s)
    packets = interleave(rng, streams)
    return Case(spoiled(rng, packets[:-1]) + packets[-1:], truth={"truncated": 1}, cut=True)
