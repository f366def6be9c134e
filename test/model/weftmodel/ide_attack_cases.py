# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""Trace cases of what must not get past IDE: flits changed, replayed, moved, lost, wrong keys;
and of changes that IDE does not see, since nothing depends on them. CRC, FEC and numbers are
right throughout, as somebody on the way can make them. See cases.py for what a case is."""

from . import flit as fl
from . import ide, messages, mutate
from .ide_cases import ide_case
from .ide_flow_cases import POISON, run, stream
from .scene import case
from .traffic import Rxl

TMAC, IDLE = (fl.IDE_LLCTRL, fl.IDE_TMAC), (fl.IDE_LLCTRL, fl.IDE_IDLE)


def _header(flit):
    return fl.llctrl_of(flit) is None


def _protocol(flit):
    return _header(flit) or fl.is_ide_mac(flit)


def _tmac(flit):
    return fl.llctrl_of(flit) == TMAC


def _idle(flit):
    return fl.llctrl_of(flit) == IDLE


def _poison(flit):
    return fl.llctrl_of(flit) == fl.POISON


def _bits(*ranges):
    """Bit numbers of a flit out of pairs (byte, byte behind the last)."""
    return [bit for low, high in ranges for bit in range(int(8 * low), int(8 * high))]


# (which flits, bits of them). What is under the MAC, or is the MAC, or tells what a flit is:
HARMFUL = ((_header, _bits((2, 3))), (_header, _bits((3, 16))), (_protocol, _bits((16, 240))),
           (_protocol, _bits((240, 242))), (fl.is_ide_mac, _bits((2, 3.5))),
           (fl.is_ide_mac, _bits((4, 16))), (_tmac, _bits((2, 3.5))), (_tmac, _bits((4, 16))))
# What is not: the flit header less its type, what is reserved beside a control message.
HARMLESS = ((_protocol, _bits((0, 0.75), (1, 2))), (fl.is_ide_mac, _bits((3.5, 4))),
            (_tmac, _bits((3.5, 4), (16, 240))), (_idle, _bits((3.5, 240))))
HARMFUL_POISON = ((_poison, _bits((2, 3.5))), (_poison, _bits((4, 4.5))))
HARMLESS_POISON = ((_poison, _bits((3.5, 4), (4.5, 240))),)


def _victim(rng, i, mode, poison):
    """A short connection: some epochs, of which the first ones may be changed, and enough behind
    them for every change to be found. `first` is the place behind the former."""
    s = Rxl(rng, i & 0xFFF, 0xF00 | i >> 12, i % 8, 0xC0, key=rng.randbytes(32))
    s.others = False
    sender = s.sealer(mode)
    for part in range(2):
        for _ in range(8 if sender.hold else 36):
            if poison and rng.random() < 0.3:
                sender.poison(rng.randrange(8))
            sender.protocol_flit()
            if sender.can_truncate() and rng.random() < (0.4 if sender.hold else 0.1):
                sender.truncate()
        if part == 0:
            # An open epoch's end is in the other half.
            s.first = len(s.bare)
    return s


def _changed(rng, i, mode, poison, classes):
    """A victim, one bit of it changed, of the class whose turn it is."""
    want, bits = classes[i % len(classes)]
    while True:
        s = _victim(rng, i, mode, poison)
        places = [item for item in s.bare[:s.first] if want(item)]
        if places:
            at, bit = divmod(bits[i // len(classes) % len(bits)] if len(bits) < 20
                             else rng.choice(bits), 8)
            rng.choice(places)[at] ^= 1 << bit
            s.protect()
            return s


def _ide_bits(rng, n, mode, poison=False, count=240):
    harmful = HARMFUL_POISON if poison else HARMFUL
    harmless = HARMLESS_POISON if poison else HARMLESS
    bad = [_changed(rng, i, mode, poison, harmful) for i in range(count)]
    good = [_changed(rng, count + i, mode, poison, harmless) for i in range(count // 4)]
    rest = stream(rng, 0, mode)
    run([rest], n - sum(len(s.bare) for s in bad + good), lambda s: s.sender.protocol_flit())
    # What a MAC guards is seen to be bad once, whatever it was.
    truth = {"ide.epochs_bad": count, "isn": {"gaps": 0, "lost_flits": 0, "duplicates": 0},
             "crc.bad": 0}
    return ide_case(rng, bad + good + [rest], mode, truth, more=POISON)


def _few(n, few, many):
    """How many connections have a bit changed; a small trace has each kind of bit some times."""
    return many if n >= 5000 else few


@case
def ide_bits(rng, n):
    return _ide_bits(rng, n, "containment", count=_few(n, 96, 240))


@case
def ide_bits_skid(rng, n):
    return _ide_bits(rng, n, "skid", count=_few(n, 32, 80))


@case
def ide_bits_poison(rng, n):
    return _ide_bits(rng, n, "containment", True, 48)


def _long(rng, n, mode, count, step=None):
    """Streams long enough for what is done to their middle."""
    streams = [stream(rng, i, mode) for i in range(count)]

    def plain(s):
        s.sender.protocol_flit()
        if s.sender.can_truncate() and rng.random() < (0.2 if s.sender.hold else 0.04):
            s.sender.truncate()

    least = 400 if mode == "containment" else 1200
    # Some tricks take flits away.
    return run(streams, max(n + 200, least * count), step or plain)


def _place(rng, s, want, low=0.4, high=0.6):
    """Where a flit like this stands in the middle of a stream, or in more of its half or halves."""
    for _ in range(3):
        places = [i for i in range(int(len(s.bare) * low), int(len(s.bare) * high))
                  if want(s.bare[i])]
        if places:
            break
        low, high = low - 0.1 * (low < 0.5), high + 0.1 * (high > 0.5)
    return rng.choice(places)


def _copy(s, low, high):
    return [bytearray(item) for item in s.bare[low:high]]


def _epoch_bounds(s, at):
    """[low, high) of the flits of whole epochs around a place, from one IDE.TMAC to another."""
    ends = [i for i, item in enumerate(s.bare) if _tmac(item)]
    low = max(i for i in ends if i < at)
    return low + 1, min(i for i in ends if i >= at) + 1


def _again(rng, s):
    """Whole epochs, recorded and sent again."""
    low, high = _epoch_bounds(s, _place(rng, s, _protocol))
    s.bare[high:high] = _copy(s, low, high)


def _one_again(rng, s):
    at = _place(rng, s, _header)
    s.bare.insert(at + rng.randint(1, 20), bytearray(s.bare[at]))


def _left_out(rng, s):
    low, high = _epoch_bounds(s, _place(rng, s, _protocol))
    del s.bare[low:high]


def _swapped(rng, s):
    """Two neighbours in an epoch change places."""
    at = next(i for i in range(len(s.bare) // 2, len(s.bare))
              if _header(s.bare[i]) and _header(s.bare[i + 1]) and s.bare[i] != s.bare[i + 1])
    s.bare[at], s.bare[at + 1] = s.bare[at + 1], s.bare[at]


def _macs_swapped(rng, s):
    first = _place(rng, s, fl.is_ide_mac, 0.3, 0.5)
    second = _place(rng, s, fl.is_ide_mac, 0.51, 0.7)
    one, two = s.bare[first], s.bare[second]
    one[4:16], two[4:16] = two[4:16], one[4:16]


def _tmac_made_up(rng, s):
    s.bare[_place(rng, s, _tmac)][4:16] = rng.randbytes(12)


def _tmac_left_out(rng, s):
    del s.bare[_place(rng, s, _tmac)]


def _tmac_put_in(rng, s):
    """A good epoch cut short by somebody else."""
    at = _place(rng, s, _header)
    flit = bytearray(fl.header(fl.CACHEMEM) + bytes(254))
    flit[2:16] = messages.llctrl_slot(*TMAC, rng.randbytes(12))
    s.bare.insert(at + 1, flit)


def _foreign(rng, s):
    """A flit of nobody's."""
    flit = bytearray(fl.header(fl.CACHEMEM) + rng.randbytes(254))
    flit[2] &= 0xF7
    s.bare.insert(_place(rng, s, _header), flit)


def _idles(rng, s):
    """Idle flits put in and left out: nobody's business."""
    for i in range(20):
        at = _place(rng, s, _idle)
        if i % 2:
            del s.bare[at]
        else:
            s.bare.insert(at, bytearray(s.bare[at]))


def _ide_moved(rng, n, mode):
    tricks = (_again, _one_again, _left_out, _macs_swapped, _tmac_made_up, _tmac_left_out,
              _tmac_put_in, _foreign) + ((_swapped,) if mode == "skid" else ())
    streams = _long(rng, n, mode, len(tricks) + 2)
    for trick, s in zip(tricks + (_idles,), streams):
        trick(rng, s)
        s.protect()
    return ide_case(rng, streams, mode, {"ide.epochs_bad": len(tricks), "isn.gaps": 0,
                                         "crc.bad": 0})


@case
def ide_moved(rng, n):
    return _ide_moved(rng, n, "containment")


@case
def ide_moved_skid(rng, n):
    return _ide_moved(rng, n, "skid")


@case
def ide_replayed(rng, n):
    """Frames sent again as they were. What the numbers know as old, they drop; a flit that is
    1024 old in place of the right one passes them, and the MAC finds it; the right one, which
    then looks like a duplicate, is the last that matters."""
    streams = _long(rng, max(n, 8000), "containment", 4)
    copies = 0
    for s in streams[:2]:
        s.wire, more = mutate.duplicate(rng, s.wire, 0.05)
        copies += more
    for s in streams[2:]:
        at = next(i for i in range(1200, len(s.wire))
                  if _protocol(s.bare[i]) and _protocol(s.bare[i - 1024]))
        s.wire.insert(at, s.wire[at - 1024])
    return ide_case(rng, streams, "containment", {
        "ide.epochs_bad": 2, "crc.bad": 0,
        "isn": {"gaps": 0, "lost_flits": 0, "duplicates": copies + 2}})


@case
def ide_lost(rng, n):
    """What the retry layer should have brought back and did not. Numbers with a hole are no
    failure of IDE by themselves: a hole in what no MAC guards is none."""
    def step(s):
        if rng.random() < 0.1:
            s.other_flit((fl.IO, fl.ALMP))
        s.sender.protocol_flit()
        if s.sender.can_truncate() and rng.random() < 0.2:
            s.sender.truncate()

    streams = _long(rng, n, "containment", 5, step)

    def guarded(f, want):
        # An ALMP's bytes may look like any slot 0, and no MAC guards them.
        return fl.kind_of(f) == fl.CACHEMEM and want(f)

    wants = (lambda f: fl.kind_of(f) == fl.ALMP or guarded(f, _idle),
             lambda f: guarded(f, _header), lambda f: guarded(f, fl.is_ide_mac),
             lambda f: guarded(f, _tmac))
    for want, s in zip(wants, streams):
        at = next(i for i in range(len(s.bare) // 2, len(s.bare) - 1)
                  if want(s.bare[i]) and mutate.numbered(s.bare[i - 1:i + 2]))
        del s.wire[at]
    return ide_case(rng, streams, "containment", {"ide.epochs_bad": 3, "isn.gaps": 4})


@case
def ide_wrong_key(rng, n):
    """No key but the right one opens anything: another stream's, one with a bit wrong, one in
    another order of bytes. The last stream has the right one but lost its first epoch."""
    streams = _long(rng, n, "containment", 5)
    low, high = 0, next(i for i, item in enumerate(streams[4].bare) if _tmac(item)) + 1
    del streams[4].bare[low:high]
    streams[4].protect()
    keys = [s.keys[0] for s in streams]
    keys[1] = keys[0]
    keys[2] = mutate.xor_into(keys[2], [(rng.randrange(32), 1 << rng.randrange(8))])
    keys[3] = keys[3][::-1]
    lines = [f"{s.key_lines()[0].rsplit(' ', 1)[0]} {key.hex()}" for s, key in zip(streams, keys)]
    return ide_case(rng, streams, "containment", {
        "ide.epochs_bad": 4, "ide.epochs_good": streams[0].sender.macs_sent}, keys=lines)


def _refreshing(s):
    for _ in range(30):
        s.sender.protocol_flit()
    while not s.sender.can_truncate():
        s.sender.protocol_flit()
    s.sender.truncate()
    s.sender.start(s.new_key())


@case
def ide_start_wrong(rng, n):
    """A key change gone wrong: the second key is wrong, is missing, the two are exchanged,
    IDE.Start is lost, IDE.Start comes between two epochs where nobody sent it."""
    streams = [stream(rng, i, "containment") for i in range(6)]
    run(streams, n, _refreshing)
    lines = [s.key_lines() for s in streams]
    lines[1][1] = lines[1][1][:-64] + rng.randbytes(32).hex()
    del lines[2][1:]
    lines[3][0], lines[3][1] = lines[3][1], lines[3][0]
    starts = [i for i, item in enumerate(streams[4].bare)
              if fl.llctrl_of(item) == (fl.IDE_LLCTRL, fl.IDE_START)]
    del streams[4].bare[starts[0]]
    at = next(i for i, item in enumerate(streams[5].bare) if _tmac(item))
    streams[5].bare.insert(at + 1, bytearray(streams[4].bare[starts[1] - 1]))
    for s in streams[4:]:
        s.protect()
    return ide_case(rng, streams, "containment", {"ide.epochs_bad": 5}, more=POISON,
                    keys=sum(lines, []))


@case
def ide_stop_lost(rng, n):
    """IDE.Stop is lost: clear text is not taken for it. IDE.TMAC before it is changed: failure,
    and nothing after it. A MAC in clear text is a failure too."""
    streams = [stream(rng, i, "containment") for i in range(4)]

    def step(s):
        for _ in range(40):
            s.sender.protocol_flit()
        s.sender.stop()
        for _ in range(40):
            s.sender.protocol_flit()
        s.sender.start(s.new_key())

    run(streams, n, step)
    at = next(i for i, item in enumerate(streams[1].bare)
              if fl.llctrl_of(item) == (fl.IDE_LLCTRL, fl.IDE_STOP))
    for i, s in enumerate(streams[1:], 1):
        at = next(k for k, item in enumerate(s.bare)
                  if fl.llctrl_of(item) == (fl.IDE_LLCTRL, fl.IDE_STOP))
        if i == 1:
            del s.bare[at]
        elif i == 2:
            s.bare[at - 1][4] ^= 1
        else:
            s.bare[at + 10][2:16] = messages.llctrl_slot(fl.IDE_LLCTRL, fl.IDE_MAC,
                                                         rng.randbytes(ide.MAC_LEN))
        s.protect()
    return ide_case(rng, streams, "containment", {"ide.epochs_bad": 3}, more=POISON)


def _ide_poison_changed(rng, n, mode):
    """Poison left out, put in, sent twice, moved past a flit, changed: each fails the next MAC."""
    def step(s):
        if rng.random() < 0.1:
            s.sender.poison(rng.randrange(8))
        s.sender.protocol_flit()
        if s.sender.can_truncate() and rng.random() < 0.02:
            s.sender.truncate()

    streams = _long(rng, n, mode, 6, step)
    for i, s in enumerate(streams[1:]):
        at = rng.choice([k for k in range(len(s.bare) // 3, len(s.bare) * 2 // 3)
                         if _poison(s.bare[k]) and _protocol(s.bare[k + 1])
                         and ide.poison_word(s.bare[k][4]) != ide.aad_word(s.bare[k + 1])])
        if i == 0:
            del s.bare[at]
        elif i == 1:
            s.bare.insert(_place(rng, s, _protocol), bytearray(s.bare[at]))
        elif i == 2:
            s.bare.insert(at, bytearray(s.bare[at]))
        elif i == 3:
            s.bare[at], s.bare[at + 1] = s.bare[at + 1], s.bare[at]
        else:
            s.bare[at][4] ^= rng.randint(1, 15)
        s.protect()
    return ide_case(rng, streams, mode, {"ide.epochs_bad": 5}, more=POISON)


@case
def ide_poison_changed(rng, n):
    return _ide_poison_changed(rng, n, "containment")


@case
def ide_poison_changed_skid(rng, n):
    return _ide_poison_changed(rng, n, "skid")


@case
def ide_poison_mismatch(rng, n):
    """Two ends that do not agree whether Poison is protected, either way round."""
    streams = [stream(rng, i, "containment", protect_poison=i > 0) for i in range(2)]

    def step(s):
        s.sender.protocol_flit()
        if rng.random() < 0.1:
            s.sender.poison(rng.randrange(8))

    run(streams, n, step)
    return ide_case(rng, streams, "containment", {"ide.epochs_bad": 1}, more=POISON)
