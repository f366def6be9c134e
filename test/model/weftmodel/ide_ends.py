# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""Both ends of an IDE stream (wire-formats.md 5.4 and the late-poison ECN).

`Sender` decides where epochs end, which flit carries a MAC, when keys change. `Receiver` follows
a stream and says which flits may be handed on.
"""

from . import flit as fl
from . import ide, messages

# Idle flits that a receiver may ask for: after IDE.TMAC at most, after IDE.Start or IDE.Stop.
TRUNCATION_DELAY = 4
REFRESH_DELAY = 3
# Offsets of Poison are 0..7: more of it in front of a protocol flit says nothing.
MAX_POISON = 8
# A receiver in containment holds no more flits for want of a MAC (doc/decisions.md).
MAX_HELD = 3 * (1 + MAX_POISON) + MAX_POISON + 5
SPOILED = -1                    # instead of an epoch: to be sent with its CRC inverted


class Sender:
    """Seals the flits of one stream. `packer(mac_slot)` makes the next plaintext flit, leaving
    slot 0 alone when mac_slot is true. `emit` gets (epoch counter, plaintext, wire); the counter
    is 0 for a flit outside the epochs, SPOILED for one whose CRC has to be wrong."""

    def __init__(self, key, mode, pcrc, packer, rng, emit, protect_poison=True,
                 layout=ide.STANDARD):
        self.size = ide.EPOCH_FLITS[mode]
        self.hold = mode == "containment"
        self.pcrc, self.packer, self.rng, self.emit = pcrc, packer, rng, emit
        self.protect_poison = protect_poison
        self.epoch = ide.Epoch(key, 1, pcrc, layout)
        self.clear = False
        self.due = None             # MAC of the full epoch before this one
        self.waiting = []           # offsets of Poison for the next protocol flit
        # What a receiver that misses nothing will have counted.
        self.macs_sent = self.poisons = self.released = 0

    def protocol_flit(self, mac_now=False):
        """The next flit; with mac_now, a MAC that is due goes with it, not with the one after."""
        flit = self._packed(mac_now)
        if self.clear:
            self.emit(0, bytes(flit), flit)
        else:
            plain, counter = self._encrypted(flit)
            self._sealed(counter, plain, flit)

    def _packed(self, mac_now=False):
        carries = not self.clear and self.due is not None \
            and (self.epoch.flits == 1 or mac_now or self.rng.random() < 0.5)
        flit = self.packer(carries)
        if carries:
            flit[2:16] = messages.llctrl_slot(fl.IDE_LLCTRL, fl.IDE_MAC, self.due)
            self.due = None
            self._mac_sent(self.size)
        return flit

    def _encrypted(self, flit):
        """(plaintext, epoch counter) of a flit that is encrypted in place."""
        plain, counter = bytes(flit), self.epoch.counter
        for offset in self.waiting:
            self.epoch.poison(offset)
        self.waiting = []
        self.epoch.seal(flit)
        return plain, counter

    def _sealed(self, counter, plain, flit):
        self.released += not self.hold
        self.emit(counter, plain, flit)
        if self.epoch.flits == self.size:
            self.due = self._close()

    def _mac_sent(self, flits):
        self.macs_sent += 1
        self.released += flits if self.hold else 0

    def _close(self):
        mac = self.epoch.mac()
        self.epoch = self.epoch.next()
        return mac

    def wants_more(self):
        """Whether a stream of enough flits is not enough."""
        return False

    def can_truncate(self):
        return self.due is None and self.epoch.flits > 0 and not self.clear

    def truncate(self, idles=True):
        """Close a short epoch by IDE.TMAC and the idles that must follow it."""
        sent = self.epoch.flits
        self.control(fl.IDE_TMAC, self._close())
        self._mac_sent(sent)
        if idles:
            self.idle(min(self.size - sent, TRUNCATION_DELAY))

    def poison(self, offset):
        """A Poison message in an H-slot, in the additional data of the next protocol flit."""
        self._poison_word(offset)
        self._poison_flit(offset)

    def _poison_word(self, offset):
        if self.protect_poison and not self.clear:
            self.waiting.append(offset)

    def _poison_flit(self, offset):
        self.poisons += not self.clear
        self._control(fl.POISON, bytes([offset]))

    def poison_by_corruption(self, offset):
        """Flit with a wrong CRC, Poison with a wrong and with a right one, the flit again: the
        same ciphertext, and a MAC that knows of the poison, as none was made in between."""
        flit = self._packed()
        self._poison_word(offset)
        plain, counter = self._encrypted(flit)
        self.emit(SPOILED, plain, bytearray(flit))
        self._control(fl.POISON, bytes([offset]), SPOILED)
        self._poison_flit(offset)
        self._sealed(counter, plain, flit)

    def start(self, key):
        """A new key, between two epochs; a MAC that is due still comes, under the old key."""
        if self.epoch.flits:
            raise ValueError("IDE.Start inside an epoch")
        self.control(fl.IDE_START)
        self.epoch = ide.Epoch(key, 1, self.pcrc, self.epoch.layout)
        self.clear = False
        self.idle(REFRESH_DELAY)

    def stop(self):
        """The end of encryption. A MAC that is due has to go first, in an epoch cut short."""
        while not self.can_truncate():
            self.protocol_flit()
        self.truncate(idles=False)
        self.control(fl.IDE_STOP)
        self.clear = True
        self.idle(REFRESH_DELAY)

    def idle(self, count=1):
        for _ in range(count):
            self.control(fl.IDE_IDLE)

    def control(self, subtype, payload=b""):
        self._control((fl.IDE_LLCTRL, subtype), payload)

    def _control(self, codes, payload, counter=0):
        flit = bytearray(fl.SIZE)
        flit[0:2] = fl.header(fl.CACHEMEM)
        flit[2:16] = messages.llctrl_slot(*codes, payload)
        self.emit(counter, bytes(flit), flit)


class Receiver:
    """One stream as a receiver sees it. `accept` returns the flits to hand on, in order; nobody
    may call it once the stream is `insecure`."""

    def __init__(self, keys, mode, pcrc, protect_poison=True, layout=ide.STANDARD,
                 obeys_stop=True):
        self.obeys_stop = obeys_stop
        self.size = ide.EPOCH_FLITS[mode]
        self.hold = mode == "containment"
        self.protect_poison = protect_poison
        self.pcrc, self.layout = pcrc, layout
        self.insecure = self.clear = False
        self.good = self.bad = self.released = self.poisons = 0
        self.later_keys = list(keys)
        self.epoch = self._first_epoch()
        self.full = None            # the epoch before this one, while its MAC is due
        self.full_held, self.held = [], []
        # Poison until the next protocol flit, and what came behind it: (item, offset or None).
        self.waiting = []
        self.after_tmac = False     # the last cachemem flit was a good IDE.TMAC

    def _first_epoch(self):
        return ide.Epoch(self.later_keys.pop(0), 1, self.pcrc, self.layout)

    def _fail(self):
        self.bad += 1
        self.insecure = True
        self.full_held, self.held, self.waiting = [], [], []
        return []

    def _release(self, flits):
        self.released += sum(1 for is_protocol, _ in flits if is_protocol)
        return [item for _, item in flits]

    def accept(self, item, flit):
        """item: whatever the caller wants back on release; flit: a bytearray, opened in place."""
        out = self._accept(item, flit)
        if len(self.full_held) + len(self.held) + len(self.waiting) > MAX_HELD and self.hold:
            return self._fail()
        poison = sum(1 for _, offset in self.waiting if offset is not None)
        if poison > MAX_POISON and (self.hold or self.protect_poison):
            return self._fail()
        return out

    def _accept(self, item, flit):
        codes = fl.llctrl_of(flit)
        after_tmac, self.after_tmac = self.after_tmac, False
        if codes is None or fl.is_ide_mac(flit):
            return self._protocol(item, flit)
        if codes == (fl.IDE_LLCTRL, fl.IDE_TMAC):
            return self._tmac(item, flit)
        if codes == (fl.IDE_LLCTRL, fl.IDE_START):
            return self._start(item)
        if codes == (fl.IDE_LLCTRL, fl.IDE_STOP):
            return self._stop(item, after_tmac)
        if codes == fl.POISON and not self.clear:
            return self._poison(item, flit[4] & 15)
        return self._control(item)

    def _control(self, item):
        """Hand on a control flit, but behind what came before it: no flit overtakes another."""
        if not self.hold:
            return [item]
        if self.waiting:
            self.waiting.append((item, None))
        elif self.held:
            self.held.append((False, item))
        elif self.full_held:
            self.full_held.append((False, item))
        else:
            return [item]
        return []

    def _protocol(self, item, flit):
        out = []
        if fl.is_ide_mac(flit):
            if self.full is None or self.full.mac() != bytes(flit[4:16]):
                return self._fail()
            self.good += 1
            self.full = None
            out, self.full_held = self._release(self.full_held), []
        elif self.clear:
            return [item]
        elif self.full is not None and self.epoch.flits == 1:
            return self._fail()
        for poison, offset in self.waiting:
            if self.protect_poison and offset is not None:
                self.epoch.poison(offset)
            if self.hold:
                self.held.append((False, poison))
        self.waiting = []
        self.epoch.open(flit)
        if self.hold:
            self.held.append((True, item))
        else:
            out += self._release([(True, item)])
        if self.epoch.flits == self.size:
            self.full, self.full_held, self.held = self.epoch, self.held, []
            self.epoch = self.epoch.next()
        return out

    def _tmac(self, item, flit):
        if self.full is not None or not self.epoch.flits \
                or self.epoch.mac() != bytes(flit[4:16]):
            return self._fail()
        self.good += 1
        self.after_tmac = True
        out, self.held = self._release(self.held), []
        self.epoch = self.epoch.next()
        return out + self._control(item)

    def _start(self, item):
        """Dropped inside an epoch, and when there is no key to take."""
        if self.epoch.flits or not self.later_keys:
            return []
        self.epoch, self.clear = self._first_epoch(), False
        return self._control(item)

    def _stop(self, item, after_tmac):
        """Dropped unless it stands right behind a good IDE.TMAC, and where it is not obeyed."""
        if not after_tmac or not self.obeys_stop:
            return []
        self.clear = True
        out, self.waiting = [poison for poison, _ in self.waiting if self.hold], []
        return out + [item]

    def _poison(self, item, offset):
        """Until the next protocol flit, whose MAC speaks for it, it goes no further."""
        self.poisons += 1
        self.waiting.append((item, offset))
        return [] if self.hold else [item]
