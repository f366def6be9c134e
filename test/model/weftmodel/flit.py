# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""The Standard 256 B flit: header, slots, credits, and the reader that counts messages
(wire-formats.md 1.1, 1.2, 4.4-4.6)."""

from collections import Counter

from . import messages

SIZE = 256
CRD_OFF = 240
NOP, IO, CACHEMEM, ALMP = range(4)
EXPLICIT, ACK, NAK, NAK_SELECTIVE = range(4)
EMPTY_CRD = 1
IDE_LLCTRL = 2
IDE_IDLE, IDE_START, IDE_TMAC, IDE_MAC, IDE_STOP = range(5)
POISON = (3, 1)                 # (LLCTRL, SubType)


def header(kind, prior=1, dllp=0, command=EXPLICIT, number=0):
    return bytes([kind << 6 | prior << 5 | dllp << 4 | command << 2 | number >> 8, number & 255])


def kind_of(flit):
    return flit[0] >> 6


def command_of(flit):
    return flit[0] >> 2 & 3


def number_of(flit):
    return (flit[0] & 3) << 8 | flit[1]


def llctrl_of(flit):
    """(LLCTRL, SubType) of slot 0, or None if it is no control slot."""
    if flit[2] & 15 != messages.LLCTRL:
        return None
    return flit[2] >> 4, flit[3] & 15


def is_ide_mac(flit):
    return llctrl_of(flit) == (IDE_LLCTRL, IDE_MAC)


def _reading_plan(slot, form):
    """code -> [(kind, Val bit, trailer-present bit or None)]."""
    plan = {}
    for code, places in messages.SLOTS[slot, form].items():
        plan[code] = []
        for kind, at in places:
            fields = messages.LAYOUTS[kind, form].fields
            flag = fields.get("trp") or fields.get("bep")
            plan[code].append((kind, at, at + flag[0] if flag else None))
    return plan


_PLANS = {(slot, form): _reading_plan(slot, form) for slot in "GH" for form in ("hbr", "pbr")}


class Unpacker:
    """Counts the messages of one receiver's flits; data slots roll over from flit to flit."""

    def __init__(self, form):
        self.h_plan = _PLANS["H", form]
        self.g_plan = _PLANS["G", form]
        self.pending = 0
        self.counts = Counter()
        self.bad_formats = 0

    def reset(self):
        self.pending = 0

    def _header_slot(self, value, plan):
        """Count one header slot; False if its format ends the walk."""
        places = plan.get(value & 15)
        if places is None or self._too_much_data(value, places):
            self.bad_formats += 1
            return False
        trailers = 0
        for kind, val_bit, trailer_bit in places:
            if not value >> val_bit & 1:
                continue
            self.counts[kind] += 1
            if kind in messages.WITH_DATA:
                self.pending += 4
                if trailer_bit is not None:
                    trailers += value >> trailer_bit & 1
        # Up to three DRS trailers share one slot; RwD and D2H DH have one a message.
        if trailers and value & 15 == 0xF:
            trailers = 1
        self.pending += trailers
        return True

    def _too_much_data(self, value, places):
        """A data header may enter the H-slot only while at most 16 data slots are pending."""
        return self.pending > 16 and any(
            kind in messages.WITH_DATA and value >> val_bit & 1 for kind, val_bit, _ in places)

    def walk(self, flit):
        """Read one cachemem flit (bytes 0..241 matter)."""
        if flit[CRD_OFF] & 31 == EMPTY_CRD:
            return
        control = llctrl_of(flit)
        if control is not None:
            self.counts["llctrl"] += 1
            if not is_ide_mac(flit):
                return
        elif not self._header_slot(int.from_bytes(flit[2:16], "little"), self.h_plan):
            self.reset()  # data announced before lay in the slots that go unread
            return
        s = 1
        while s < 15:
            if self.pending:
                step = min(self.pending, 15 - s)
                self.pending -= step
                s += step
                continue
            if not self._header_slot(int.from_bytes(flit[16 * s:16 * s + 16], "little"),
                                     self.g_plan):
                return
            s += 1
