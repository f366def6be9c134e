# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""Trace cases of everything a sender may do beside sealing full epochs: cut them short, change
keys, stop, send late poison. See cases.py for what a case is."""

from . import flit as fl
from . import messages, mutate
from .ide_cases import ide_case
from .ide_ends import REFRESH_DELAY
from .scene import DOWN, UP, bursts, case
from .traffic import Cxl, Rxl

POISON = ("--poison", "protected")
OPEN = ("--poison", "open")


def stream(rng, i, mode, **how):
    """A new connection whose sender waits for orders."""
    made = Rxl(rng, 0x80 + i, 0x90, i % 8, 0xB0 + i, key=rng.randbytes(32))
    made.others = False
    made.sealer(mode, **how)
    return made


def link(rng, mode):
    """Both directions of a link, likewise."""
    streams = [Cxl(rng, mac, 1, flow, rng.randbytes(32))
               for mac, flow in ((DOWN, "down"), (UP, "up"))]
    for s in streams:
        s.sealer(mode)
    return streams


def run(streams, n, step):
    """step(stream) until there are n flits."""
    for s in streams:
        while len(s.bare) < n // len(streams) + 1:
            step(s)
        s.protect()
    return streams


def epoch(sender, length):
    """An epoch of this length; a short one is closed by IDE.TMAC, which needs that a MAC of the
    epoch before has been sent: in the first flit, if there is just one."""
    for _ in range(length):
        sender.protocol_flit(mac_now=length == 1)
    if length < sender.size:
        sender.truncate()


@case
def ide_lengths(rng, n):
    """Every epoch is cut short or carries the MAC of the one before, in all orders."""
    streams = [stream(rng, i, "containment") for i in range(3)]
    return ide_case(rng, run(streams, n, lambda s: epoch(s.sender, rng.randint(1, 2))),
                    "containment")


@case
def ide_lengths_skid(rng, n):
    """Every length from 1 to 31, cut short, and full epochs between."""
    streams = [stream(rng, i, "skid") for i in range(3)]

    def step(s):
        lengths = list(range(1, 33)) + [32] * 4
        rng.shuffle(lengths)
        for length in lengths:
            epoch(s.sender, length)

    return ide_case(rng, run(streams, n, step), "skid")


def _to_epoch_end(rng, sender):
    """Go on to where a key may change: behind a full epoch, its MAC still due, or a short one."""
    while sender.epoch.flits:
        sender.protocol_flit()
        if sender.can_truncate() and rng.random() < 0.3:
            sender.truncate()


def _refresh(rng, s, busy):
    for _ in range(rng.randrange(busy)):
        s.sender.protocol_flit()
    _to_epoch_end(rng, s.sender)
    s.sender.start(s.new_key())


def _ide_start(rng, n, mode):
    """Keys change again and again, in both modes of the fabric. One rxl stream is sent through
    loss that retries repair: its flits come twice, and damaged within reach of the FEC."""
    streams = [stream(rng, i, mode) for i in range(2)] + link(rng, mode)
    run(streams, n, lambda s: _refresh(rng, s, 900))
    streams[0].wire, _ = mutate.duplicate(rng, streams[0].wire, 0.02, 200)
    streams[1].wire, _, _ = bursts(rng, streams[1].wire, 0.05)
    return ide_case(rng, streams, mode, more=POISON)


@case
def ide_start(rng, n):
    return _ide_start(rng, n, "containment")


@case
def ide_start_skid(rng, n):
    return _ide_start(rng, n, "skid")


@case
def ide_start_dropped(rng, n):
    """IDE.Start where it means nothing: in front of everything with one key, without a further
    key, and, put in by somebody, inside an epoch. All streams stay whole."""
    streams = [stream(rng, i, "skid") for i in range(3)]
    streams[0].sender.control(fl.IDE_START)

    def step(s):
        s.sender.protocol_flit()
        inside = s.sender.epoch.flits > 0
        if rng.random() < 0.02 and inside == (s is streams[2]):
            s.sender.control(fl.IDE_START)

    run(streams, n, step)
    made = ide_case(rng, streams, "skid", more=POISON, senders=[], tampered=True)
    made.keys += [f"rxl 82 90 2 b2 {rng.randbytes(32).hex()}"]
    return made


def _ide_stop(rng, n, mode):
    """Encryption ends, clear text follows, encryption begins anew under the next key."""
    streams = [stream(rng, i, mode) for i in range(2)] + link(rng, mode)

    def step(s):
        for _ in range(rng.randrange(300)):
            s.sender.protocol_flit()
        s.sender.stop()
        for _ in range(rng.randrange(100)):
            s.sender.protocol_flit()
        s.sender.start(s.new_key())

    return ide_case(rng, run(streams, n, step), mode, more=POISON)


@case
def ide_stop(rng, n):
    return _ide_stop(rng, n, "containment")


@case
def ide_stop_skid(rng, n):
    return _ide_stop(rng, n, "skid")


@case
def ide_stop_dropped(rng, n):
    """IDE.Stop that somebody put in, at any place but right behind an IDE.TMAC."""
    streams = [stream(rng, i, "containment") for i in range(3)]

    def step(s):
        epoch(s.sender, rng.randint(1, 2))
        if rng.random() < 0.1:
            s.sender.idle()
            s.sender.control(fl.IDE_STOP)

    return ide_case(rng, run(streams, n, step), "containment", more=POISON, senders=[],
                    tampered=True)


@case
def ide_stop_ignored(rng, n):
    """IDE.Stop that somebody put in where it may stand: who does not ask for it goes on."""
    streams = [stream(rng, i, "containment") for i in range(3)]

    def step(s):
        epoch(s.sender, rng.randint(1, 2))
        while not s.sender.can_truncate():
            s.sender.protocol_flit()
        s.sender.truncate(idles=False)
        s.sender.control(fl.IDE_STOP)
        s.sender.idle(REFRESH_DELAY)

    made = ide_case(rng, run(streams, n, step), "containment", senders=[], tampered=True)
    made.args = made.args[:-2]
    return made


def _poisoned(rng, s, corrupt=True):
    if corrupt and rng.random() < 0.02:
        s.sender.poison_by_corruption(rng.randrange(8))
    else:
        # Of each message that can be in transfer, at the most.
        for offset in rng.sample(range(8), (rng.random() < 0.1) * rng.choice((1, 1, 2, 8))):
            s.sender.poison(offset)
        s.sender.protocol_flit()
    if s.sender.can_truncate() and rng.random() < 0.05:
        late = rng.random() < 0.2
        if late:
            s.sender.poison(rng.randrange(8))
        s.sender.truncate()
        if rng.random() < 0.5:
            s.sender.start(s.new_key())
        if late:
            s.sender.protocol_flit()
            s.sender.truncate()


def _ide_poison(rng, n, mode, more=POISON):
    """Late poison in H-slots anywhere: before, between and behind the flits of an epoch, before
    IDE.TMAC and IDE.Start; in rxl mode, by CRC corruption too, whose flit is no loss."""
    protect = more == POISON
    streams = [stream(rng, i, mode, protect_poison=protect) for i in range(2)] + link(rng, mode)
    for s in streams[2:]:
        s.sender.protect_poison = protect
    run(streams, n, lambda s: _poisoned(rng, s, s in streams[:2]))
    made = ide_case(rng, streams, mode, more=more)
    made.truth["crc"] = {"good": sum(len(s.wire) - len(s.spoiled) for s in streams),
                         "bad": sum(len(s.spoiled) for s in streams)}
    made.truth["isn"] = {"gaps": 0, "lost_flits": 0, "duplicates": 0}
    return made


@case
def ide_poison(rng, n):
    return _ide_poison(rng, n, "containment")


@case
def ide_poison_skid(rng, n):
    return _ide_poison(rng, n, "skid")


@case
def ide_poison_open(rng, n):
    return _ide_poison(rng, n, "containment", OPEN)


@case
def ide_poison_pcrc_off(rng, n):
    streams = [stream(rng, i, "skid", pcrc=False) for i in range(2)]
    run(streams, n, lambda s: _poisoned(rng, s))
    return ide_case(rng, streams, "skid", more=(*POISON, "--pcrc", "off"))


def _strangers(rng, n, kinds, codes, more=()):
    """Among those of the epochs, flits with these types and LLCTRL codes; the rest is noise."""
    streams = [stream(rng, i, "containment") for i in range(2)]

    def step(s):
        s.sender.protocol_flit()
        if rng.random() < 0.1:
            s.control.add(len(s.bare))
            item = bytearray(fl.header(rng.choice(kinds)) + rng.randbytes(254))
            item[2:16] = messages.llctrl_slot(*rng.choice(codes))
            item[240:242] = bytes(2)
            s.append(item)

    return ide_case(rng, run(streams, n, step), "containment", more=more)


@case
def ide_viral(rng, n):
    """Other control flits are in no epoch, whatever stands in their slots."""
    return _strangers(rng, n, (fl.CACHEMEM,), ((3, 0), (0xC, 8), (2, 0), (5, 5)))


@case
def ide_lookalike(rng, n):
    """Bytes of a CXL.io flit or an ALMP that would be a control message in a cachemem flit."""
    return _strangers(rng, n, (fl.IO, fl.ALMP),
                      [fl.POISON] + [(fl.IDE_LLCTRL, subtype) for subtype in range(5)], POISON)
