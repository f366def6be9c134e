# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""What a bad wire does to a list of protected flits, and what a vandal does to frames.

Each function that damages a list returns it anew, with the counts a receiver must find.
"""

from . import fec, frame
from . import flit as fl

LONGEST_RUN = 511


def numbered(items):
    """Whether each of the flits uses a number: a NOP that is missing is missed by nobody."""
    return all(item[0] >> 6 != fl.NOP for item in items)


def drop(rng, wire, chance=0.01, longest=8):
    """(wire, gaps, lost): single flits and runs removed. A flit stands between any two holes,
    and the last one stays, so that each hole is one gap."""
    out, gaps, lost, i = [], 0, 0, 0
    while i < len(wire):
        run = 1 if rng.random() < 0.5 else rng.randint(1, longest)
        if rng.random() < chance and i + run < len(wire) and numbered(wire[i:i + run + 1]):
            gaps += 1
            lost += run
            i += run
        out.append(wire[i])
        i += 1
    return out, gaps, lost


def duplicate(rng, wire, chance=0.02, longest=511):
    """(wire, duplicates): flits sent again, with up to `longest` others between."""
    due = {}
    count = 0
    out = []
    for i, item in enumerate(wire):
        out.append(item)
        if rng.random() < chance and numbered([item]):
            later = rng.choice((0, 0, 1, rng.randrange(longest), longest))
            due.setdefault(min(i + later, len(wire) - 1), []).append(item)
            count += 1
        out += due.pop(i, [])
    return out, count


def reorder(rng, wire, chance=0.02):
    """(wire, moved): flits that arrive up to twenty places late. Each is one gap of one flit
    and, when it comes, one duplicate."""
    out, moved, i = [], 0, 0
    while i < len(wire):
        late = rng.randint(1, 20)
        if rng.random() < chance and i + late < len(wire) and numbered(wire[i:i + 2]):
            out += wire[i + 1:i + late + 1] + [wire[i]]
            moved += 1
            i += late + 1
        else:
            out.append(wire[i])
            i += 1
    return out, moved


def xor_into(item, errors):
    out = bytearray(item)
    for at, value in errors:
        out[at] ^= value
    return bytes(out)


def burst(rng, item):
    """(flit, bytes): one to three neighbouring bytes damaged; the FEC repairs them."""
    length = rng.randint(1, 3)
    start = rng.randint(0, 256 - length)
    return xor_into(item, [(start + i, rng.randint(1, 255)) for i in range(length)]), length


def _group(g):
    return [i for i in range(fec.DATA) if i % 3 == g] + [fec.CHECK_AT[g], fec.PARITY_AT[g]]


def _double(rng, item, places, verdict, extra=()):
    while True:
        errors = [(at, rng.randint(1, 255)) for at in rng.sample(places, 2)]
        bad = xor_into(item, errors + list(extra))
        if fec.decode(bad)[0] == verdict:
            return bad


def uncorrectable(rng, item):
    """Two errors in one group that point outside the code, and sometimes a third, correctable
    one in another group, which must be left alone."""
    g = rng.randrange(3)
    data = [at for at in _group(g) if at < fec.DATA]
    extra = []
    if rng.random() < 0.5:
        extra = [(rng.choice(_group((g + 1) % 3)), rng.randint(1, 255))]
    return _double(rng, item, data, "uncorrectable", extra)


def uncorrectable_in_fec(rng, item):
    """Uncorrectable, but only FEC bytes are wrong: the CRC still holds."""
    g = rng.randrange(3)
    return _double(rng, item, [fec.CHECK_AT[g], fec.PARITY_AT[g]], "uncorrectable")


def outside(rng, item):
    """Uncorrectable by a hair: the error seems to sit in the pad of a group, k = 83."""
    g = rng.choice((1, 2))
    value = rng.randint(1, 255)
    check = fec.FIELD.mul(value, fec.FIELD.alpha(84 - fec.LAST_K))
    return xor_into(item, [(fec.CHECK_AT[g], check), (fec.PARITY_AT[g], value)])


def miscorrected(rng, item):
    """Two errors in one group that look like a third."""
    return _double(rng, item, _group(rng.randrange(3)), "corrected")


def fresh_fec(rng, item):
    """Payload or CRC damaged before the FEC was made, as inside a switch."""
    data = bytearray(item[:fec.DATA])
    for at in rng.sample(range(fec.DATA), rng.randint(1, 4)):
        data[at] ^= rng.randint(1, 255)
    return bytes(data) + fec.encode(data)


def noise(rng, _item):
    return rng.randbytes(fl.SIZE)


# Frames. Each takes a good frame and returns one that must be refused.

def _header(packet, **fields):
    """The packet with header bytes replaced ({b4=0x12}) and the check made again."""
    head = bytearray(packet[14:30])
    for name, value in fields.items():
        head[int(name[1:])] = value
    return packet[:14] + frame.with_check(head) + packet[32:]


def _random_reserved(packet, at, rng, low):
    return _header(packet, **{f"b{at}": packet[14 + at] | rng.randint(1, 255 >> low) << low})


SPOILERS = {
    "runt": lambda rng, p: rng.choice((p[:rng.randrange(14)], p[:rng.randrange(14, 32)])),
    "ethertype": lambda rng, p: p[:12] + rng.choice((b"\x08\x00", b"\x88\xb6", b"\x86\xdd"))
    + p[14:rng.randint(14, len(p))],
    "version": lambda rng, p: _header(p, b0=rng.choice((0, 2, 15)) << 4),
    "kind": lambda rng, p: _header(p, b0=0x10 | rng.randint(2, 15)),
    "flags": lambda rng, p: _random_reserved(p, 1, rng, 1),
    "header_check": lambda rng, p: xor_into(p, [(rng.randint(18, 31), rng.randint(1, 255))]),
    "count": lambda rng, p: _header(p, b2=rng.choice((0, 65, 128, 255))),
    "vc": lambda rng, p: _random_reserved(p, 3, rng, 3),
    # A set reserved bit, or an rxl frame that claims to be a cxl one.
    "id": lambda rng, p: rng.choice((_random_reserved(p, rng.choice((4, 6)), rng, 4),
                                     _header(p, b1=0, b4=1))),
    "length": lambda rng, p: rng.choice((p + rng.randbytes(rng.randint(1, 300)), p[:-1],
                                         p[:-256], p[:rng.randint(33, len(p) - 1)])),
}


def control_frame(rng, packet):
    """A well-formed kind 1 frame with some record bytes."""
    return _header(packet[:32] + rng.randbytes(rng.randrange(200)), b0=0x11, b2=0)


def random_packet(rng):
    """Random bytes, half of the time behind the right EtherType."""
    data = rng.randbytes(rng.randrange(400))
    if len(data) >= 14 and rng.random() < 0.5:
        data = data[:12] + b"\x88\xb5" + data[14:]
    return data


def spoil(rng, packet):
    """One bad packet; now and then with two faults, so that the order of checks shows."""
    kind = rng.choice(("spoil",) * 6 + ("twice", "control", "bad control", "random"))
    if kind == "random":
        return random_packet(rng)
    if kind == "control":
        return control_frame(rng, packet)
    if kind == "bad control":
        return SPOILERS[rng.choice(("count", "vc", "id", "flags", "header_check"))](
            rng, control_frame(rng, packet))
    # The runt and length faults shorten the packet, so they come last.
    names = [n for n in SPOILERS if n not in ("runt", "length", "ethertype")]
    if kind == "twice":
        packet = SPOILERS[rng.choice(names)](rng, packet)
        names.append("length")
    else:
        names = list(SPOILERS)
    return SPOILERS[rng.choice(names)](rng, packet)
