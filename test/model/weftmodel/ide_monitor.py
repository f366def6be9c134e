# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""A passive listener beside IDE senders. It has no key: it counts flits as the rules of
wire-formats.md 5.4 say and so knows under which key and IV every byte was encrypted.

What it holds senders to: one ciphertext and one tag per key and IV (two of either give away what
encryption hides), nothing sent again in another form, and the idles that must follow IDE.TMAC,
IDE.Start and IDE.Stop.
"""

import hashlib

from . import flit as fl
from . import ide, ide_ends


class Broken(Exception):
    """A sender broke a rule."""


def _digest(data):
    return hashlib.blake2b(data, digest_size=16).digest()


class Monitor:
    """One for everything that must not share a key and an IV: here, all traces of a run."""

    def __init__(self):
        self.texts = {}             # (key, counter, place in the epoch) -> digest
        self.tags = {}              # (key, counter) -> MAC

    def follow(self, keys, mode, sent, first=0):
        """What one sender sent: (turn, flit) each, turn counting numbers from `first` without
        wrapping; None for a flit whose CRC was made wrong. Behind a hole in the turns it is not
        known where epochs end, and only what is sent again is looked at. `keys` name the keys
        in the order of their use; any values that differ will do."""
        listener = _Listener(self, list(keys), ide.EPOCH_FLITS[mode])
        seen, spoiled, following = {}, None, first
        for turn, flit in sent:
            content = bytes(flit[2:242])
            is_poison = fl.llctrl_of(flit) == fl.POISON
            if turn is None:
                spoiled = spoiled if is_poison else content
                continue
            if turn in seen:
                if seen[turn] != content:
                    raise Broken(f"flit {turn} sent again with another content")
                continue
            seen[turn] = content
            if turn != following:
                following = None
            if following is None:
                continue
            following += 1
            if fl.kind_of(flit) != fl.CACHEMEM:
                continue
            if spoiled and not is_poison:
                if spoiled != content:
                    raise Broken(f"flit {turn} is not the one that was spoiled")
                spoiled = None
            listener.hear(flit)

    def text(self, key, counter, place, flit):
        if self.texts.setdefault((key, counter, place), _digest(ide.covered(flit))) \
                != _digest(ide.covered(flit)):
            raise Broken(f"two ciphertexts of flit {place} under one key and IV {counter}")

    def tag(self, key, counter, mac):
        if self.tags.setdefault((key, counter), mac) != mac:
            raise Broken(f"two tags under one key and IV {counter}")


class _Listener:
    """Where one stream is."""

    def __init__(self, monitor, keys, size):
        self.monitor, self.later, self.size = monitor, keys, size
        self.key, self.counter, self.place = self.later.pop(0), 1, 0
        self.due = None             # (key, counter) of the full epoch before
        self.clear = False
        self.idles_due = 0
        self.last = None

    def hear(self, flit):
        codes = fl.llctrl_of(flit)
        last, self.last = self.last, codes
        mac = bytes(flit[4:16])
        if codes is None or fl.is_ide_mac(flit):
            if self.idles_due > 0:
                raise Broken(f"{self.idles_due} idle flits too few")
            if codes:
                self._tag(self.due, mac)
                self.due = None
            if not self.clear:
                self._protocol(flit)
        elif codes == (fl.IDE_LLCTRL, fl.IDE_TMAC):
            if not self.place or self.due:
                raise Broken("IDE.TMAC for an epoch that is empty, or behind one without its MAC")
            self._tag((self.key, self.counter), mac)
            self.idles_due = min(self.size - self.place, ide_ends.TRUNCATION_DELAY)
            self.counter, self.place = self.counter + 1, 0
        elif codes == (fl.IDE_LLCTRL, fl.IDE_START):
            if self.place or not self.later:
                raise Broken("IDE.Start inside an epoch, or without a key")
            self.key, self.counter, self.clear = self.later.pop(0), 1, False
            self.idles_due = ide_ends.REFRESH_DELAY
        elif codes == (fl.IDE_LLCTRL, fl.IDE_STOP):
            if last != (fl.IDE_LLCTRL, fl.IDE_TMAC):
                raise Broken("IDE.Stop not right behind IDE.TMAC")
            self.clear, self.idles_due = True, ide_ends.REFRESH_DELAY
        elif codes == (fl.IDE_LLCTRL, fl.IDE_IDLE):
            self.idles_due -= 1

    def _protocol(self, flit):
        if self.due and self.place == 1:
            raise Broken("no MAC in the first two flits behind an epoch")
        self.monitor.text(self.key, self.counter, self.place, flit)
        self.place += 1
        if self.place == self.size:
            self.due = (self.key, self.counter)
            self.counter, self.place = self.counter + 1, 0

    def _tag(self, of, mac):
        if of is None:
            raise Broken("a MAC when none is due")
        self.monitor.tag(*of, mac)
