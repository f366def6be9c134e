# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""Random but lawful traffic: packed flits, protected flits, and streams of them.

A Packer obeys the packing rules of wire-formats.md 4.4: data slots roll over from flit to flit,
groups are packed tightly, and no rolling pair of groups holds more of a kind than allowed.
"""

from collections import Counter, deque
from itertools import accumulate

import numpy as np

from . import crc, fec, frame, ide_ends, messages
from . import flit as fl

_GROUP_LIMIT = {"d2h_req": 4, "d2h_rsp": 4, "d2h_dh": 4, "s2m_bisnp": 2, "s2m_ndr": 6,
                "s2m_drs": 3, "h2d_req": 2, "h2d_rsp": 6, "h2d_dh": 4, "m2s_req": 4,
                "m2s_rwd": 2, "m2s_birsp": 3}
_CODES = {"down": (4, 4, 0xE), "up": (7, 0xF, 0xF), "mem": (4, 7, 0xE, 0xF),
          "all": (0, 1, 2, 3, 4, 5, 6, 7, 0xC, 0xD, 0xE, 0xF)}
_CREDITS = {"down": range(0x14, 0x19), "up": range(0x19, 0x1E), "mem": range(0x14, 0x1E),
            "all": tuple(range(4, 0xE)) + tuple(range(0x14, 0x1E))}
_DATA_CODES = (0xC, 0xD, 0xE, 0xF)
_H_DATA_LIMIT = 16
_ZERO_SLOT = bytes(16)


def _headers():
    """(slot, form) -> code -> its places, kinds, and how many of each kind it may hold."""
    return {key: {code: (places, [kind for kind, _ in places],
                         tuple(Counter(kind for kind, _ in places).items()))
                  for code, places in table.items()} for key, table in messages.SLOTS.items()}


_HEADERS = _headers()


class Packer:
    """Packs messages of one direction into cachemem flits (bytes 0..241; the rest is 0)."""

    def __init__(self, rng, form, flow, spid=0, dpid=0, with_ide=False):
        self.rng, self.form, self.flow, self.with_ide = rng, form, flow, with_ide
        self.ids = {"spid": spid, "dpid": dpid}
        self.pending = deque()
        self.sent = Counter()
        self.last_group, self.group = {}, {}
        self.fill = 0.8
        self.drawn = {}             # what _message knows of a kind in a slot

    def flit(self, mac_slot=False):
        """The next flit; with mac_slot, slot 0 stays free for an IDE.MAC."""
        out = bytearray(fl.SIZE)
        out[0:2] = fl.header(fl.CACHEMEM)
        if mac_slot:
            self.sent["llctrl"] += 1
        elif not self.with_ide and self.rng.random() < 0.02:
            return self._control_flit(out)
        elif not self.with_ide and self.rng.random() < 0.02:
            out[240] = fl.EMPTY_CRD
            return out
        # How busy the source is changes slowly, so that empty and crowded stretches both occur.
        if self.rng.random() < 0.02:
            self.fill = self.rng.choice((0.3, 0.8, 1.0))
        self._slots(out, mac_slot)
        out[240:242] = self._credits()
        return out

    def _control_flit(self, out):
        llctrl, subtype = self.rng.choice(((3, 0), (3, 1), (0xC, 8)))
        out[2:16] = messages.llctrl_slot(llctrl, subtype, bytes([self.rng.randrange(8)]))
        self.sent["llctrl"] += 1
        self.last_group, self.group = {}, {}
        return out

    def _slots(self, out, mac_slot):
        closed = False              # an empty slot closes its group to headers
        for s in range(15):
            if s % 4 == 0:
                self.last_group, self.group = self.group, {}
                closed = False
            if s == 0:
                if not mac_slot:
                    out[2:16] = self._header("H") or _ZERO_SLOT[:14]
            elif self.pending:
                out[16 * s:16 * s + 16] = self.pending.popleft()
            elif not closed:
                slot = self._header("G")
                closed = slot is None
                if slot:
                    out[16 * s:16 * s + 16] = slot

    def _header(self, slot):
        if self.rng.random() > self.fill:
            return None
        code = self.rng.choice(_CODES[self.flow])
        if code in _DATA_CODES and slot == "H" and len(self.pending) > _H_DATA_LIMIT:
            return None
        places, kinds, most = _HEADERS[slot, self.form][code]
        group, last_group = self.group, self.last_group
        for kind, n in most:
            if group.get(kind, 0) + last_group.get(kind, 0) + n > _GROUP_LIMIT[kind]:
                return None
        sent = []
        for i, kind in enumerate(kinds):
            message = self._message(kind, slot) if i == 0 or self.rng.random() < 0.6 else 0
            sent.append(message)
            if message:
                self.sent[kind] += 1
                group[kind] = group.get(kind, 0) + 1
        if code in _DATA_CODES:
            self._queue_data(code, places, sent)
        return messages.build_slot(slot, self.form, code, sent)

    def _how_drawn(self, kind, slot):
        """(bits, which of them are drawn, fields that are as they are, opcodes, where they stand, the bit
        of a trailer) of a message."""
        layout = messages.LAYOUTS[kind, self.form]
        fixed = {name: v for name, v in self.ids.items() if name in layout.fields}
        fixed["val"] = 1
        drawn, value = layout.used & (1 << messages.SLOT_BITS[slot] - 4) - 1, 0
        for name, v in fixed.items():
            at, width = layout.fields[name]
            drawn, value = drawn & ~(((1 << width) - 1) << at), value | v << at
        ops, at = messages.OPCODES.get(kind), 0
        if ops:
            at, width = layout.fields["memop" if "memop" in layout.fields else "op"]
            drawn &= ~(((1 << width) - 1) << at)
        trailer = 1 << layout.fields["trp"][0] if kind == "m2s_rwd" else 0
        return layout.bits, drawn, value, ops, at, trailer

    def _message(self, kind, slot):
        how = self.drawn.get((kind, slot))
        if how is None:
            how = self.drawn[kind, slot] = self._how_drawn(kind, slot)
        bits, drawn, fixed, ops, at, trailer = how
        value = self.rng.getrandbits(bits) & drawn | fixed
        if ops:
            op = self.rng.choice(ops)
            value |= op << at
            if trailer and op in messages.RWD_PARTIAL:
                value |= trailer
            elif trailer and op in messages.RWD_ZERO_DATA:
                value &= ~trailer
        return value

    def _queue_data(self, code, places, sent):
        drs_trailer = False
        blocks = []
        for (kind, _), message in zip(places, sent):
            if not message or kind not in messages.WITH_DATA:
                continue
            fields = messages.LAYOUTS[kind, self.form].unpack(message)
            block = [self.rng.randbytes(16) for _ in range(4)]
            if kind == "m2s_rwd" and fields["memop"] in messages.RWD_ZERO_DATA:
                block = [_ZERO_SLOT] * 4
            has_trailer = fields.get("trp") or fields.get("bep")
            if has_trailer and code == 0xF:
                drs_trailer = True
            elif has_trailer:
                block.append(self.rng.randbytes(12) + bytes(4))
            blocks.append(block)
        if drs_trailer:
            blocks[0].append(self.rng.randbytes(12) + bytes(4))
        for block in blocks:
            self.pending.extend(block)

    def _credits(self):
        codes = _CREDITS[self.flow]
        word = 0
        for at in (0, 5, 10):
            if self.rng.random() < 0.3:
                word |= self.rng.choice(codes) << at
        return word.to_bytes(2, "little")


def protect(flits, parts, order="r0"):
    """Whole flits (list of bytes): CRC XOR its part from number and addresses, then FEC."""
    array = np.frombuffer(b"".join(flits), dtype=np.uint8).reshape(-1, fl.SIZE).copy()
    crc.store(array, crc.batch(array) ^ np.array(parts, dtype=np.uint64), order)
    fec.store(array)
    return [row.tobytes() for row in array]


class Rxl:
    """The sender of one connection. `wire` is the list of protected flits, in order."""

    mode = frame.RXL

    def __init__(self, rng, spid, dpid, vc=0, session=0, flow="mem", key=None,
                 others=True):
        self.rng, self.spid, self.dpid, self.vc, self.session = rng, spid, dpid, vc, session
        self.keys = [key] if key else []
        self.packer = Packer(rng, "pbr", flow, spid, dpid, key is not None)
        self.source = bytes([2, 0, 0, 0, spid >> 8, spid & 255])
        self.bare, self.wire = [], []
        self.others = others and key is None  # also make flits of the other types
        self.spoiled = ()

    def new_key(self):
        """A key for the next IDE.Start."""
        self.keys.append(self.rng.randbytes(32))
        return self.keys[-1]

    def key_lines(self):
        name = f"rxl {self.spid:x} {self.dpid:x} {self.vc:x} {self.session:x}"
        return [f"{name} {key.hex()}" for key in self.keys]

    def make(self, count, first=1, isn="pseudo", order="r0"):
        for _ in range(count):
            self.append(self._flit())
        self.protect(first, isn, order)
        return self

    def make_sealed(self, count, mode, pcrc=True, truncation=0.0, sender=ide_ends.Sender):
        """Like make, through IDE."""
        sender = self.sealer(mode, pcrc, sender)
        while len(self.bare) < count or sender.wants_more():
            if self.others and self.rng.random() < 0.02:
                self.other_flit()
            sender.protocol_flit()
            if sender.can_truncate() and self.rng.random() < truncation:
                sender.truncate()
        self.protect()
        return self

    def sealer(self, mode, pcrc=True, sender=ide_ends.Sender, **how):
        """The IDE sender of this stream, to be told what to do; then call protect. `control`
        holds the places of flits outside the epochs, `spoiled` those with an inverted CRC;
        `sent` is what was sent, for ide_monitor."""
        self.control, self.spoiled, self.sent = set(), set(), []

        def emit(epoch, _plain, wire):
            if epoch <= 0:
                self.control.add(len(self.bare))
            if epoch == ide_ends.SPOILED:
                self.spoiled.add(len(self.bare))
            spoiled = epoch == ide_ends.SPOILED
            turn = len(self.sent) - len(self.spoiled) + spoiled
            self.sent.append((None if spoiled else turn, bytes(wire)))
            self.append(wire)

        self.sender = sender(self.keys[0], mode, pcrc, self.packer.flit, self.rng, emit, **how)
        return self.sender

    def other_flit(self, kinds=(fl.NOP, fl.IO, fl.ALMP)):
        """A flit that is none of IDE's business."""
        self.control.add(len(self.bare))
        self.append(self._other_flit(kinds))

    def _flit(self):
        if self.others and self.rng.random() < 0.03:
            return self._other_flit()
        return self.packer.flit()

    def _other_flit(self, kinds=(fl.NOP, fl.IO, fl.ALMP)):
        kind = self.rng.choice(kinds)
        body = self.rng.randbytes(240) if kind == fl.IO else bytes(240)
        return bytearray(fl.header(kind) + body + bytes(14))

    def append(self, out):
        """The header field of an rxl flit carries an Ack, a Nak or nothing."""
        if self.rng.random() < 0.1:
            command = self.rng.choice((fl.ACK, fl.ACK, fl.NAK, fl.NAK_SELECTIVE))
            out[0:2] = fl.header(fl.kind_of(out), command=command,
                                 number=self.rng.randrange(1024))
        self.bare.append(out)

    def protect(self, first=1, isn="pseudo", order="r0"):
        """Make `wire` out of `bare`; call again after changing bare on purpose."""
        # A NOP or a flit with a wrong CRC uses no number; it has that of the next one that does.
        uses = [fl.kind_of(item) != fl.NOP and i not in self.spoiled
                for i, item in enumerate(self.bare)]
        numbers = [(first + n) % 1024 for n in accumulate(uses, initial=0)][:-1]
        if isn == "pseudo":
            address = crc.address_part(self.spid, self.dpid, self.vc)
            parts = [crc.SEQ_PART[n] ^ address for n in numbers]
        else:
            parts = [crc.XOR_PART[n] if isn == "xor" else 0 for n in numbers]
        for i in self.spoiled:
            parts[i] ^= crc.INVERTED
        self.wire = protect(self.bare, parts, order)

    def frame(self, flits, clock):
        return frame.build(flits, self.mode, self.spid, self.dpid, self.vc, self.session, clock,
                           self.source, b"\x02\0\0\0\0\1")


class Cxl(Rxl):
    """The sender of one direction of a link: numbers 1..1023, seldom in the header."""

    mode = frame.CXL

    def __init__(self, rng, source, session=0, flow="down", key=None):
        super().__init__(rng, frame.CXL_ID, frame.CXL_ID, 0, session, flow, key)
        self.packer = Packer(rng, "hbr", flow, with_ide=key is not None)
        self.source = source
        self.next_number, self.explicit_left = 1, 3

    def key_lines(self):
        return [f"cxl {self.source.hex(':')} {key.hex()}" for key in self.keys]

    def make(self, count, first=1, isn="none", order="r0"):
        self.next_number = first
        return super().make(count, first, "none", order)

    def append(self, out):
        kind = fl.kind_of(out)
        if kind == fl.NOP:
            before = (self.next_number - 2) % 1023 + 1
            out[0:2] = fl.header(kind, prior=self.rng.randrange(2), number=before)
            self.bare.append(out)
            return
        if not self.explicit_left and self.rng.random() < 0.05:
            self.explicit_left = self.rng.choice((1, 3))
        if self.explicit_left:
            self.explicit_left -= 1
            command, number = fl.EXPLICIT, self.next_number
        elif self.rng.random() < 0.01:
            command, number = fl.EXPLICIT, 0
        else:
            command = self.rng.choice((fl.ACK,) * 20 + (fl.NAK, fl.NAK_SELECTIVE))
            number = self.rng.randint(1, 1023)
        out[0:2] = fl.header(kind, prior=self.rng.randrange(2), command=command, number=number)
        self.bare.append(out)
        self.next_number = self.next_number % 1023 + 1

    def protect(self, first=1, isn="none", order="r0"):
        self.wire = protect(self.bare, [0] * len(self.bare), order)
