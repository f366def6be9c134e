# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""The retry rules of both modes as plain state machines (encapsulation.md 1, 3; wire-formats.md 1.2, 3).

Slow and clear: positions are counted without end (1 is the first flit of a session), and turned
into the number on the wire only where a flit is made or read. What the specification leaves to
the implementation (when an Ack or a Nak is sent) is not here: `acknowledged` and `missing` say
what one would have to say.
"""

from collections import OrderedDict

from . import flit as fl

WINDOW = 511
RXL_MODULUS = 1024
CXL_MODULUS = 1023

DELIVERED, HELD, DUPLICATE, BAD, NOP, REFUSED = (
    "delivered", "held", "duplicate", "bad", "nop", "refused")


def rxl_number(position):
    return position % RXL_MODULUS


def cxl_number(position):
    """1..1023; position 0, before the first flit, is 1023."""
    return (position - 1) % CXL_MODULUS + 1


class Sender:
    """What both senders do alike: numbers, window, replay buffer, Acks and Naks.

    `oldest` is the first position not acknowledged, `next` that of the next new flit, `replay`
    the positions that the other end asked for and that go before anything new.
    """

    def __init__(self, modulus, window=WINDOW):
        self.modulus, self.window = modulus, window
        self.oldest = self.next = 1
        self.kept = {}
        self.replay = OrderedDict()
        self.out_of_window = 0

    def room(self):
        return self.window - (self.next - self.oldest)

    def send(self, payload):
        """Position of a new flit. No new payload enters during a replay or past the window."""
        if not self.room() or self.replay:
            raise ValueError("no new flit may be sent now")
        self.kept[self.next] = payload
        self.next += 1
        return self.next - 1

    def _position(self, number):
        """The position that an Ack or Nak means, from the last acknowledged one to the newest;
        None if there is none."""
        ahead = (number - (self.oldest - 1)) % self.modulus
        return self.oldest - 1 + ahead if ahead <= self.next - self.oldest else None

    def _free(self, upto):
        for position in range(self.oldest, upto + 1):
            del self.kept[position]
            self.replay.pop(position, None)
        self.oldest = max(self.oldest, upto + 1)

    def ack(self, number):
        """False if the number is none that could be acknowledged: then nothing changes."""
        position = self._position(number)
        if position is None:
            self.out_of_window += 1
            return False
        self._free(position)
        return True

    def nak(self, number):
        """Go back to the flit after `number`."""
        if not self.ack(number):
            return False
        self.go_back()
        return True

    def go_back(self):
        self.replay = OrderedDict.fromkeys(range(self.oldest, self.next))

    def resend(self):
        """(position, payload) of the next flit to be sent again."""
        position, _ = self.replay.popitem(last=False)
        return position, self.kept[position]


class RxlSender(Sender):
    """An Ack makes room, but is not final: a Nak may ask for a flit that was acknowledged as long as
    it and all flits behind it are fewer than a window (doc/llr.md)."""

    def __init__(self, window=WINDOW):
        super().__init__(RXL_MODULUS, window)
        self.freed = {}

    def _free(self, upto):
        self.freed.update((p, self.kept[p]) for p in range(self.oldest, upto + 1))
        super()._free(upto)

    def _revoke(self, number):
        """Position before the one asked for; from there on nothing is acknowledged. Or None."""
        first = self.oldest - (self.oldest - 1 - number) % self.modulus
        if first < 1 or self.next - first >= self.window:
            return None
        self.kept.update((p, self.freed[p]) for p in range(first, self.oldest))
        self.oldest = first
        return first - 1

    def nak(self, number):
        if self._position(number) is None:
            self._revoke(number)
        return super().nak(number)

    def nak_selective(self, number):
        """Ask for one flit. It acknowledges nothing, so that several holes can be asked for."""
        position = self._position(number)
        if position is None:
            position = self._revoke(number)
        if position is None or position + 1 == self.next:
            self.out_of_window += position is None
            return False
        self.replay[position + 1] = None
        self.replay = OrderedDict.fromkeys(sorted(self.replay))
        return True


class CxlSender(Sender):
    def __init__(self, window=WINDOW):
        super().__init__(CXL_MODULUS, window)

    def ack(self, number):
        """0 is no number: ignored."""
        return number != 0 and super().ack(number)

    def nak_selective(self, number):
        """As in PCIe, it acknowledges what is before the flit asked for."""
        if not self.ack(number):
            return False
        if self.oldest < self.next:
            self.replay[self.oldest] = None
            self.replay = OrderedDict.fromkeys(sorted(self.replay))
        return True


class RxlReceiver:
    """Acceptance in turn only; the number of an intact flit is known from its CRC."""

    def __init__(self, gap_decoding=True, selective=True, rx_flits=WINDOW):
        self.gap_decoding = gap_decoding
        self.selective = selective and gap_decoding
        self.rx_flits = rx_flits
        self.expected = 1
        self.seen = 0           # highest position that is known to have been sent
        self.buffer = {}
        self.delivered = []

    @property
    def acknowledged(self):
        """Number that an Ack carries."""
        return rxl_number(self.expected - 1)

    def missing(self):
        """Positions known to have been sent that are not here."""
        return [p for p in range(self.expected, self.seen + 1) if p not in self.buffer]

    def _in_turn(self, payload):
        self.delivered.append(payload)
        self.expected += 1
        while self.expected in self.buffer:
            self.delivered.append(self.buffer.pop(self.expected))
            self.expected += 1

    def take(self, number, payload=None, is_nop=False):
        """One flit. number: what its CRC says, None if it is not intact. Returns its class."""
        if number is None:
            return BAD
        ahead = (number - self.expected) % RXL_MODULUS
        if ahead and not self.gap_decoding:
            return BAD          # the paper's receiver cannot tell
        if is_nop:              # it shows the number that the next flit will have
            if ahead <= WINDOW:
                self.seen = max(self.seen, self.expected + ahead - 1)
            return NOP
        if RXL_MODULUS - ahead <= WINDOW:
            return DUPLICATE
        if ahead >= WINDOW:
            return REFUSED      # its sender would have left its window
        position = self.expected + ahead
        self.seen = max(self.seen, position)
        if not ahead:
            self._in_turn(payload)
            return DELIVERED
        if position in self.buffer:
            return DUPLICATE
        if not self.selective or len(self.buffer) >= self.rx_flits:
            return REFUSED
        self.buffer[position] = payload
        return HELD


class CxlReceiver:
    """Implicit counting between explicit numbers. A whole flit that is lost in front of one
    without a number is not noticed: that is the weakness of this mode."""

    def __init__(self, selective=False, rx_flits=WINDOW):
        self.selective, self.rx_flits = selective, rx_flits
        self.expected = 1       # position
        self.implicit = 0       # position of the last flit, as far as that is known
        self.waits = False      # one flit was bad: the next good one says whether it counted
        self.nak = None         # None, "standard" or "selective": what is asked for
        self.buffer = {}
        self.delivered = []
        self.naks = 0           # Naks scheduled

    @property
    def acknowledged(self):
        return cxl_number(self.expected - 1)

    def _ask(self, kind):
        if kind == "standard":
            self.buffer.clear()
        if self.nak != kind:
            self.naks += 1
        self.nak = kind

    def _kind(self):
        return "selective" if self.selective else "standard"

    def _position(self, number):
        """The position nearest to the expected one that has this number."""
        ahead = (number - cxl_number(self.expected)) % CXL_MODULUS
        return self.expected + (ahead if ahead <= WINDOW else ahead - CXL_MODULUS)

    def take_bad(self):
        """A flit that is not intact, taken to have been payload."""
        self.implicit += 1
        if self.nak == "selective":
            self._ask("standard")
        elif self.waits:
            self.waits = False  # a second one: no flit can say any more that nothing was lost
            self._ask(self._kind())
        elif self.nak is None:
            self.waits = True
        return BAD

    def take(self, header, payload=None):
        """An intact flit: the two bytes of its header."""
        kind, prior = header[0] >> 6, header[0] >> 5 & 1
        command, number = header[0] >> 2 & 3, (header[0] & 3) << 8 | header[1]
        if self.waits:
            self.waits = False
            if prior:
                self._ask(self._kind())
            else:
                self.implicit -= 1
        explicit = command == fl.EXPLICIT and number != 0
        if kind == fl.NOP:
            if explicit:
                self.implicit = self._position(number)
                if self.implicit >= self.expected and self.nak is None:
                    self._ask(self._kind())
            return NOP
        self.implicit = self._position(number) if explicit else self.implicit + 1
        return self._payload(self.implicit, payload)

    def _payload(self, position, payload):
        if position < self.expected:
            return DUPLICATE
        if position == self.expected:
            self._in_turn(payload)
            return DELIVERED
        if position > self.expected + WINDOW - 1:
            self._ask("standard")
            return REFUSED
        if self.nak is None:
            self._ask(self._kind())
        if self.nak == "standard":
            return REFUSED
        if position in self.buffer:
            return DUPLICATE
        if len(self.buffer) >= self.rx_flits:
            self._ask("standard")
            return REFUSED
        self.buffer[position] = payload
        return HELD

    def _in_turn(self, payload):
        self.nak = None
        self.delivered.append(payload)
        self.expected += 1
        while self.expected in self.buffer:
            self.delivered.append(self.buffer.pop(self.expected))
            self.expected += 1
        if self.buffer:
            self._ask(self._kind())
