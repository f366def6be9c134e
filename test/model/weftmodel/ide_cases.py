# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""The trace cases with IDE; see cases.py for what a case is."""

from . import flit as fl
from . import frame, ide, ide_ends, mutate
from .scene import DOWN, UP, Case, bursts, case, interleave, mistreat, sent, spoiled
from .traffic import Cxl, Rxl


def _key(rng):
    return rng.randbytes(32)


def _sealed(rng, n, mode, count=3, pcrc=True, truncation=0.0, others=False):
    streams = []
    for i in range(count):
        stream = Rxl(rng, 0x20 + i, 0x30 + i, i % 8, 0xA0 + i, key=_key(rng))
        stream.others = others
        streams.append(stream.make_sealed(n // count + 1, mode, pcrc, truncation))
    return streams


def _without_key(rng, n):
    stream = Rxl(rng, 0x50, 0x51, 2, 3)
    stream.others = False
    return stream.make(n)


def ide_args(mode, *more):
    """Poison is protected and IDE.Stop obeyed, unless the case says otherwise."""
    if "--poison" not in more:
        more = ("--poison", "protected", *more)
    return ["--ide", mode, "--key-file", "@KEY@", *more, "--stop", "on"]


def whole_truth(streams):
    """What IDE must count when nothing was lost or changed."""
    return {"ide.epochs_good": sum(s.sender.macs_sent for s in streams), "ide.epochs_bad": 0,
            "ide.flits_released": sum(s.sender.released for s in streams),
            "ide.poison": sum(s.sender.poisons for s in streams)}


def key_lines(streams):
    return [line for s in streams for line in s.key_lines()]


def ide_case(rng, streams, mode, truth=None, plain=(), more=(), **how):
    """A case of sealed streams: honest ones unless `truth` says what else must be counted."""
    how.setdefault("tampered", truth is not None)
    truth = whole_truth(streams) if truth is None else truth
    return Case(interleave(rng, streams + list(plain)), ide_args(mode, *more), truth,
                how.pop("keys", key_lines(streams)), how.pop("senders", streams), **how)


def _dropped_at(rng, stream):
    """Remove one protected flit from the middle of a sealed stream."""
    middle = len(stream.wire) // 2
    at = next(i for i in range(middle + rng.randrange(32), len(stream.wire))
              if i not in stream.control)
    del stream.wire[at]


def _flip(rng, stream, low, high, want=lambda flit: True):
    """Flip a bit of bytes low..high-1 of a sealed flit in the middle; CRC and FEC are right."""
    middle = len(stream.bare) // 2 + rng.randrange(32)
    item = next(f for i, f in enumerate(stream.bare)
                if i >= middle and i not in stream.control and want(f))
    item[rng.randrange(low, high)] ^= 1 << rng.randrange(8)
    stream.protect()


@case
def ide_containment(rng, n):
    streams = _sealed(rng, n, "containment", others=True)
    alone = _without_key(rng, n // 16)
    made = ide_case(rng, streams, "containment", plain=[alone])
    made.truth["skipped"] = {"no_key": len(alone.wire)}
    return made


@case
def ide_skid(rng, n):
    streams = _sealed(rng, n, "skid", others=True)
    made = ide_case(rng, streams, "skid")
    made.truth["messages"] = sent(streams)
    return made


@case
def ide_pcrc_off(rng, n):
    streams = _sealed(rng, n, "containment", pcrc=False)
    return ide_case(rng, streams, "containment", more=("--pcrc", "off"))


@case
def ide_pcrc_mismatch(rng, n):
    """Sealed with PCRC, opened without: the first MAC of every stream fails."""
    streams = _sealed(rng, n, "skid")
    return ide_case(rng, streams, "skid", {"ide.epochs_good": 0, "ide.epochs_bad": 3},
                    more=("--pcrc", "off"))


@case
def ide_tmac(rng, n):
    return ide_case(rng, _sealed(rng, n, "containment", truncation=0.2), "containment")


@case
def ide_tmac_skid(rng, n):
    return ide_case(rng, _sealed(rng, n, "skid", truncation=0.03), "skid")


@case
def ide_cxl(rng, n):
    streams = [Cxl(rng, mac, 1, flow, _key(rng)).make_sealed(n // 2 + 1, "skid", truncation=0.01)
               for mac, flow in ((DOWN, "down"), (UP, "up"))]
    return ide_case(rng, streams, "skid")


def _ide_bad(rng, n, mode):
    """One stream in order, the others broken in the middle each in its own way."""
    streams = _sealed(rng, max(n, 2400), mode, count=6)
    _flip(rng, streams[1], 16, 240)
    _flip(rng, streams[2], 240, 242)
    _flip(rng, streams[3], 4, 16, fl.is_ide_mac)
    _dropped_at(rng, streams[4])
    streams[5].wire[-len(streams[5].wire) // 2] = mutate.uncorrectable(
        rng, streams[5].wire[-len(streams[5].wire) // 2])
    made = ide_case(rng, streams, mode, {"ide.epochs_bad": 5, "crc.bad": 1, "isn.gaps": 1})
    return made


@case
def ide_bad(rng, n):
    return _ide_bad(rng, n, "containment")


@case
def ide_bad_skid(rng, n):
    return _ide_bad(rng, n, "skid")


class _Wayward(ide_ends.Sender):
    """A sender that, from some flit on, breaks one rule about where a MAC may be."""

    fault, after, last = None, 60, bytes(ide.MAC_LEN)
    since = 0

    def wants_more(self):
        """The rule is not broken yet, or too late for the receiver to see it."""
        return self.since < 200

    def protocol_flit(self, mac_now=False):
        self.after -= 1
        self.since += self.after <= 0 and self.fault in (None, "missing")
        if self.after > 0 or self.fault is None:
            super().protocol_flit()
        elif self.fault == "missing":
            self.due = None
            super().protocol_flit()
        elif self.fault == "not due" and self.due is None:
            self.due, self.fault = self.last, None
            super().protocol_flit(mac_now=True)
        elif self.fault == "tmac when full" and self.due is not None:
            self.control(fl.IDE_TMAC, self.due)
            self.due, self.fault = None, None
        elif self.fault == "tmac when due" and self.due is not None:
            self.due, self.fault = None, None
            super().protocol_flit()
            self.truncate()
        elif self.fault == "tmac of nothing" and not self.epoch.flits and self.due is None:
            self.control(fl.IDE_TMAC, self.epoch.mac())
            self.fault = None
        else:
            super().protocol_flit()


def _wayward(fault):
    return type("Wayward", (_Wayward,), {"fault": fault})


def _ide_order(rng, n, mode):
    """Keys and MACs are right, but one stream leaves a MAC out, one sends one too many, one
    closes a full epoch by TMAC, one a short epoch while the MAC of a full one is due, and one
    an empty epoch."""
    faults = (None, "missing", "not due", "tmac when full", "tmac when due", "tmac of nothing")
    truncation = 0.1 if mode == "containment" else 0.02
    streams = []
    for i, fault in enumerate(faults):
        stream = Rxl(rng, 0x60 + i, 0x70, 0, 1, key=_key(rng))
        stream.others = False
        stream.make_sealed(max(n, 6000) // 6 + 1, mode, truncation=truncation,
                           sender=_wayward(fault))
        streams.append(stream)
    return ide_case(rng, streams, mode, {"ide.epochs_bad": 5}, senders=streams[:1])


@case
def ide_order(rng, n):
    return _ide_order(rng, n, "containment")


@case
def ide_order_skid(rng, n):
    return _ide_order(rng, n, "skid")


@case
def mixed(rng, n):
    """The same with IDE: streams that stay whole, streams that break, streams without a key."""
    sealed = _sealed(rng, n // 2, "containment", truncation=0.02)
    sealed.append(Cxl(rng, DOWN, 1, "down", _key(rng)).make_sealed(n // 6, "containment"))
    plain = [_without_key(rng, n // 3), Cxl(rng, UP, 1, "up")]
    plain[1].others = False
    plain[1].make(n // 3)
    for s in (sealed[0], sealed[3]):
        s.wire, _ = mutate.duplicate(rng, s.wire, 0.005) if s.mode == frame.RXL else (s.wire, 0)
        s.wire, _, _ = bursts(rng, s.wire, 0.05)
    _flip(rng, sealed[1], 16, 240)
    _dropped_at(rng, sealed[2])
    for s in plain:
        mistreat(rng, s)
    packets = spoiled(rng, interleave(rng, sealed + plain))
    return Case(packets, ide_args("containment"), {"ide.epochs_bad": 2},
                key_lines(sealed), sealed, True, ng=True)
