# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""Link control records (doc/wire.md): what brings a session up and ends it."""

from . import frame

HELLO, WELCOME, REFUSE, GOODBYE, READY, KEEPALIVE, RESET, LOSS, CHALLENGE, GONE, ANNOUNCE, MANAGEMENT = range(1, 13)
TYPE, VERSION, MODE, MAX_FLITS, CRC_ORDER, ISN, IDE, PORT, NODE, CREDITS = range(1, 11)
DIFFERS, FLAGS, SESSION, COUNT, PADDED, CHECK = range(11, 17)
IDE_BITS, RANDOM, PROOF, READY_PROOF, CHALLENGED, NUMBER, MAC, MEMORY, KNOWN = range(17, 26)
FABRIC, NAME, INSTANCE, HEARD, RUNS_MS = range(26, 31)
LENGTH = {TYPE: 1, VERSION: 1, MODE: 1, MAX_FLITS: 1, CRC_ORDER: 1, ISN: 1, IDE: 1, PORT: 2,
          NODE: 16, CREDITS: 2, DIFFERS: 1, FLAGS: 1, SESSION: 4, COUNT: 4, PADDED: 1, CHECK: 2,
          IDE_BITS: 2, RANDOM: 32, PROOF: 16, READY_PROOF: 16, CHALLENGED: 8, NUMBER: 8, MAC: 16,
          MEMORY: 8, KNOWN: 8, FABRIC: 32, NAME: 32, INSTANCE: 8, HEARD: 8, RUNS_MS: 4}
_PARAMETERS = tuple(range(VERSION, CREDITS + 1))
CARRIES = {HELLO: _PARAMETERS + (PADDED,), WELCOME: _PARAMETERS + (SESSION, PADDED),
           REFUSE: _PARAMETERS + (DIFFERS,), GOODBYE: (), READY: (), KEEPALIVE: (FLAGS,),
           RESET: (), LOSS: (PORT, NODE, COUNT), CHALLENGE: (CHALLENGED,), GONE: (CHALLENGED,),
           ANNOUNCE: (FABRIC, NAME, INSTANCE, HEARD, RUNS_MS), MANAGEMENT: (PADDED,)}
# With IDE on.
CARRIES_IDE = {HELLO: (IDE_BITS, RANDOM), WELCOME: (IDE_BITS, RANDOM, PROOF), REFUSE: (IDE_BITS,)}
# The same; these do not say whether it is.
MAY_CARRY = {READY: {READY_PROOF}, GONE: {READY_PROOF}, KEEPALIVE: {NUMBER, MAC},
             GOODBYE: {NUMBER, MAC}, ANNOUNCE: {READY_PROOF}}
# Each by itself.
OPTIONAL = {HELLO: {MEMORY, KNOWN}, WELCOME: {MEMORY, KNOWN}}
NOT_ZERO = (CHALLENGED, NUMBER, MEMORY, KNOWN, INSTANCE)


def parse(records):
    """{record: value} of one message, or None if it is not well formed."""
    values, at = {}, 0
    while CHECK not in values:
        if at + 2 > len(records):
            return None
        kind, length = records[at], records[at + 1]
        value = records[at + 2:at + 2 + length]
        if len(value) < length or length != LENGTH.get(kind, length) or kind in values:
            return None
        if kind in LENGTH:
            values[kind] = value if length > 8 else int.from_bytes(value, "big")
        if kind in NOT_ZERO and values[kind] == 0:
            return None
        if kind == CHECK and frame.t10dif(records[:at]) != values[CHECK]:
            return None
        at += 2 + length
    kind = values.get(TYPE)
    want = {TYPE, CHECK, *CARRIES.get(kind, (-1,))}
    if values.get(IDE):
        want.update(CARRIES_IDE.get(kind, ()))
    if MAY_CARRY.get(kind, set()) & set(values):
        want.update(MAY_CARRY[kind])
    if set(values) - OPTIONAL.get(kind, set()) != want:
        return None
    return values


def image(records):
    """What the MAC of a message is made of: the records of `records` but MAC and check, in order."""
    parts, at = [], 0
    while records[at] != CHECK:
        length = 2 + records[at + 1]
        if records[at] != MAC:
            parts.append(records[at:at + length])
        at += length
    return b"".join(sorted(parts))


def build(kind, **values):
    """Records of a message; those not named are 0 (version 1, mode rxl). Names are bytes."""
    known = {"version": VERSION, "mode": MODE, "offered": SESSION, "ide": IDE, "isn": ISN,
             "max_flits": MAX_FLITS, "crc_order": CRC_ORDER, "challenge": CHALLENGED,
             "differs": DIFFERS, "fabric": FABRIC, "name": NAME, "instance": INSTANCE,
             "heard": HEARD, "runs_ms": RUNS_MS}
    given = {VERSION: 1, MODE: frame.RXL, MAX_FLITS: frame.MAX_FLITS}
    given.update({known[name]: value for name, value in values.items()})
    out = bytes([TYPE, 1, kind])
    for record in CARRIES[kind] + (CARRIES_IDE.get(kind, ()) if given.get(IDE) else ()):
        length = LENGTH[record]
        value = given.get(record, 0)
        out += bytes([record, length])
        out += value.ljust(length, b"\0") if isinstance(value, bytes) else value.to_bytes(length, "big")
    return out + bytes([CHECK, 2]) + frame.t10dif(out).to_bytes(2, "big")


def build_frame(kind, session, mode=frame.RXL, spid=frame.CXL_ID, dpid=frame.CXL_ID, vc=0,
                source=bytes(6), target=bytes(6), **values):
    """A whole kind 1 frame."""
    header = (bytes([0x11, mode, 0, vc]) + spid.to_bytes(2, "big") + dpid.to_bytes(2, "big")
              + session.to_bytes(4, "big") + bytes(4))
    return (target + source + frame.ETHERTYPE.to_bytes(2, "big") + frame.with_check(header)
            + build(kind, mode=mode, **values))
