# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""Two ends that use the senders and receivers of `retry`, a bad wire between them, and a log of
what each put on the wire and received, to be written as captures. Time is in ticks; every end sends at most
one frame a tick. The timing of Acks, Naks and time-outs is arbitrary.
"""

from collections import Counter, deque
from dataclasses import dataclass, field

import numpy as np

from . import control, crc, fec, frame, messages, pcapio, retry, wirecheck
from . import flit as fl

ACK_EVERY = 10
TICK_NS = 1000
_CODE = {"m2s_req": 4, "m2s_rwd": 0xE, "s2m_ndr": 7, "s2m_drs": 0xF}
INIT = messages.llctrl_slot(*wirecheck.INIT_PARAM)


@dataclass
class Faults:
    """Chances: a flit is corrupt; a frame is dropped, comes twice, comes late."""
    bad: float = 0.0
    drop: float = 0.0
    dup: float = 0.0
    late: float = 0.0


@dataclass
class LoggedFlit:
    data: bytearray
    number: int                 # that its CRC is made with (rxl)
    position: int               # 0: a NOP
    spoil: int = 0              # XORed into the CRC
    fec_error: int = 0          # XORed into the last byte


@dataclass
class LoggedFrame:
    tick: int
    sender: "End"
    session: int
    flits: list = field(default_factory=list)
    control: tuple = ()         # (kind, values) of a control frame


class End:
    def __init__(self, rng, mode, me, peer, sends, takes, window=retry.WINDOW, selective=True,
                 room=32, obeys_credits=True, per_frame=4):
        self.rng, self.mode, self.me, self.peer = rng, mode, me, peer
        self.sends, self.per_frame, self.obeys_credits = sends, per_frame, obeys_credits
        self.form = "pbr" if mode == frame.RXL else "hbr"
        self.selective = selective
        if mode == frame.RXL:
            self.tx = retry.RxlSender(window)
            self.rx = retry.RxlReceiver(selective=selective)
        else:
            self.tx, self.rx = retry.CxlSender(window), retry.CxlReceiver(selective)
        self.to_send = 0            # messages that wait
        self.may, self.owed = Counter(), Counter({kind: room for kind in takes})
        self.data_slots = 0
        self.unpacker = fl.Unpacker(self.form)
        self.got = Counter()
        self.taken = 0              # delivered flits looked at
        self.unacked_taken = self.since_nak = 0
        self.nak_due = self.ack_due = False
        self.progress_tick = self.sent_tick = 0
        self.last_position, self.explicit_left, self.prior = 0, 3, 0
        self.asked_for = {}

    # --- making flits ---

    def _crd(self):
        base = {"m2s": 0x14, "s2m": 0x19}
        word = 0
        for kind, owed in self.owed.items():
            if not owed:
                continue
            at = wirecheck._SETS[base[kind[:3]]].index(kind)
            i = max(i for i, n in enumerate((1, 4, 8, 12, 16)) if n <= owed)
            word |= base[kind[:3]] + i << 5 * at
            self.owed[kind] -= (1, 4, 8, 12, 16)[i]
        return word.to_bytes(2, "little")

    def _slot(self, slot):
        kinds = [k for k in self.sends if self.may[k] or not self.obeys_credits]
        if not self.to_send or not kinds:
            return None
        kind = self.rng.choice(kinds)
        self.to_send -= 1
        self.may[kind] -= 1
        self.data_slots += 4 * (kind in messages.WITH_DATA)
        places = messages.SLOTS[slot, self.form][_CODE[kind]]
        one = messages.LAYOUTS[kind, self.form].pack(val=1, memop=1,
                                                     tag=self.rng.randrange(65536))
        return messages.build_slot(slot, self.form, _CODE[kind],
                                   [one] + [0] * (len(places) - 1))

    def _new_flit(self):
        out = bytearray(fl.SIZE)
        if self.tx.next == 1:
            out[2:16] = INIT
        else:
            for s in range(15):
                at, size = (16 * s, 16) if s else (2, 14)
                if s and self.data_slots:
                    self.data_slots -= 1
                    out[at:at + size] = self.rng.randbytes(16)
                elif self.data_slots <= 16:
                    out[at:at + size] = self._slot("G" if s else "H") or bytes(size)
        out[240:242] = self._crd()
        return out

    def _wants_to_send(self):
        if self.tx.next == 1 or self.data_slots:
            return True
        return any(self.owed.values()) or (self.to_send and any(self.may[k] for k in self.sends)) \
            or (self.to_send and not self.obeys_credits)

    def _answer(self):
        """(command, number) of the header, or None if nothing needs to ride."""
        if self.nak_due:
            self.nak_due = self.ack_due = False
            if self.mode == frame.CXL:
                kind = fl.NAK_SELECTIVE if self.rx.nak == "selective" else fl.NAK
                return kind, self.rx.acknowledged
            holes = self.rx.missing()
            if holes and self.selective:
                hole = self.rng.choice(holes)
                return fl.NAK_SELECTIVE, retry.rxl_number(hole - 1)
            return fl.NAK, self.rx.acknowledged
        if self.ack_due:
            self.ack_due, self.unacked_taken = False, 0
            return fl.ACK, self.rx.acknowledged
        return None

    def _log(self, kind, data, position):
        """A flit as it goes out: with its header for this sending."""
        if self.mode == frame.RXL:
            number = retry.rxl_number(position or self.tx.next)
            answer = self._answer() or (fl.EXPLICIT, 0)
        else:
            number = 0
            own = retry.cxl_number(position or self.tx.next - 1)
            if position and position != self.last_position + 1:
                self.explicit_left = 3
            must = self.explicit_left and position or not position and not self.tx.next - 1
            answer = None if must else self._answer()
            self.explicit_left -= bool(self.explicit_left and position)
            answer = answer or (fl.EXPLICIT, own)
        data[0:2] = fl.header(kind, self.prior, 0, *answer)
        self.prior = int(bool(position))
        self.last_position = position or self.last_position
        return LoggedFlit(data, number, position)

    def send(self, now):
        """Flits of the frame that goes out now, maybe none."""
        if self.tx.oldest < self.tx.next and now - self.progress_tick > 400:
            self.progress_tick = now
            self.tx.go_back()
        out = []
        while len(out) < self.per_frame:
            if self.tx.replay:
                position, data = self.tx.resend()
                out.append(self._log(fl.CACHEMEM, bytearray(data), position))
            elif self.tx.room() > 0 and self._wants_to_send():
                if self.tx.oldest == self.tx.next:
                    self.progress_tick = now
                data = self._new_flit()
                position = self.tx.send(bytes(data))
                out.append(self._log(fl.CACHEMEM, data, position))
            else:
                break
        if not out and (self.nak_due or self.ack_due or now - self.sent_tick > 100):
            self.ack_due = True
            out.append(self._log(fl.NOP, bytearray(fl.SIZE), 0))
        if out:
            self.sent_tick = now
        return out

    # --- taking them ---

    def take(self, flit, intact, now):
        if self.mode == frame.CXL:
            result = self.rx.take_bad() if not intact else self.rx.take(
                flit.data[:2], bytes(flit.data))
            wants = self.rx.nak is not None
        else:
            result = self.rx.take(flit.number if intact else None, bytes(flit.data),
                                  not flit.position)
            wants = result in (retry.BAD, retry.REFUSED) or bool(self.rx.missing())
        if intact:
            self._heed(flit.data, now)
        self.since_nak += wants
        if wants and (self.since_nak == 1 or self.since_nak > 40):
            self.nak_due, self.since_nak = True, 1
        if not wants:
            self.since_nak = 0
        self.unacked_taken += result in (retry.DELIVERED, retry.DUPLICATE)
        self.ack_due |= self.unacked_taken >= ACK_EVERY
        for data in self.rx.delivered[self.taken:]:
            self._deliver(data)
        self.taken = len(self.rx.delivered)

    def _heed(self, data, now):
        command, number = fl.command_of(data), fl.number_of(data)
        oldest = self.tx.oldest
        if command == fl.ACK:
            self.tx.ack(number)
        elif command in (fl.NAK, fl.NAK_SELECTIVE) and \
                now - self.asked_for.get((command, number), -1000) > 60:
            self.asked_for[command, number] = now
            (self.tx.nak if command == fl.NAK else self.tx.nak_selective)(number)
        if self.tx.oldest != oldest:
            self.progress_tick = now

    def _deliver(self, data):
        granted, _ = wirecheck.credits_of(data)
        self.may += granted
        before = self.unpacker.counts.copy()
        self.unpacker.walk(data)
        came = self.unpacker.counts - before
        del came["llctrl"]
        self.got += came
        self.owed.update(came)


class Link:
    """An initiator, a responder and two one-way wires. `log`: all frames, as sent;
    `port`: (tick, frame, damage) as seen at each end, damage: of each flit, or None if it sent it.
    """

    def __init__(self, rng, mode=frame.RXL, faults=None, latency=20, ends=(1, 2), vc=0,
                 session=0x5E55, asked=0xA5CED, **options):
        self.rng, self.mode, self.faults, self.latency = rng, mode, faults or Faults(), latency
        self.vc, self.session, self.asked = vc, session, asked
        down, up = ("m2s_req", "m2s_rwd"), ("s2m_ndr", "s2m_drs")
        self.ends = [End(rng, mode, *ends, down, up, **options),
                     End(rng, mode, *ends[::-1], up, down, **options)]
        self.log, self.port = [], ([], [])
        self.now = 0
        self.under_way = [deque(), deque()]     # to each end: (tick, flits, intact)

    def bring_up(self):
        a, b = self.ends
        for end, kind, session, values in (
                (a, control.HELLO, self.asked, {}),
                (b, control.WELCOME, self.asked, {"offered": self.session}),
                (a, control.READY, self.session, {}), (b, control.KEEPALIVE, self.session, {})):
            self._control(end, session, kind, values)
        return self

    def _control(self, end, session, kind, values):
        """Control frames arrive at once: bring-up is not what is tested here."""
        out = LoggedFrame(self.now, end, session, control=(kind, values))
        self.log.append(out)
        for port in self.port:
            port.append((self.now, out, None))
        self.now += 1

    def part(self):
        self._control(self.ends[0], self.session, control.GOODBYE, {})
        return self

    def _transmit(self, i, flits):
        f = self.faults
        out = LoggedFrame(self.now, self.ends[i], self.session, flits)
        self.log.append(out)
        self.port[i].append((self.now, out, None))
        for _ in range(1 + (self.rng.random() < f.dup)):
            if self.rng.random() < f.drop:
                continue
            at = self.now + self.latency
            at += self.rng.randrange(30) if self.rng.random() < f.late else 0
            damage = [self.rng.randbytes(40) * (self.rng.random() < f.bad) for _ in flits]
            self.under_way[1 - i].append((at, out, damage))

    def step(self):
        for end, queue, port in zip(self.ends, self.under_way, self.port):
            for item in [x for x in queue if x[0] <= self.now]:
                queue.remove(item)
                port.append((self.now, *item[1:]))
                for flit, damage in zip(item[1].flits, item[2]):
                    end.take(flit, not damage and not flit.spoil, self.now)
        for i, end in enumerate(self.ends):
            flits = end.send(self.now)
            if flits:
                self._transmit(i, flits)
        self.now += 1

    def run(self, messages_each, most_ticks=200000):
        """Have each end send so many messages, and wait until all arrived and are acknowledged."""
        for end in self.ends:
            end.to_send = messages_each
        while self.now < most_ticks:
            self.step()
            if all(not e.to_send and not e.data_slots and e.tx.oldest == e.tx.next
                   for e in self.ends):
                return self
        raise RuntimeError("the link does not come to an end")

    def packets(self, isn="pseudo", order="r0"):
        """The log as packets, with CRC and FEC."""
        flits = [(f, x) for f in self.log for x in f.flits]
        raw = iter(self._protected(flits, isn, order))
        out = []
        for f in self.log:
            places = self._places(f.sender)
            if f.control:
                kind, values = f.control
                if kind in (control.HELLO, control.WELCOME):
                    values = {"isn": ("pseudo", "xor").index(isn), **values,
                              "crc_order": int(order == "r7")}
                data = control.build_frame(kind, f.session, self.mode, **places, **values)
            else:
                data = frame.build([next(raw) for _ in f.flits], self.mode, session=f.session,
                                   **places)
            out.append(pcapio.Packet(f.tick * TICK_NS, data))
        return out

    def packets_at(self, i):
        """What a capture at the port of end i holds."""
        sent = {id(f): p.data for f, p in zip(self.log, self.packets())}
        out = []
        for tick, f, damage in self.port[i]:
            data = bytearray(sent[id(f)])
            for k, error in enumerate(damage or ()):
                for j, value in enumerate(error):
                    data[frame.HEADER + fl.SIZE * k + j] ^= value
            out.append(pcapio.Packet(tick * TICK_NS, bytes(data)))
        return out

    def _places(self, end):
        source = bytes([2, 0, 0, 0, end.me >> 8, end.me & 255])
        if self.mode == frame.CXL:
            return {"source": source, "vc": self.vc}
        return {"source": source, "vc": self.vc, "spid": end.me, "dpid": end.peer}

    def _protected(self, flits, isn, order):
        if not flits:
            return []
        raw = b"".join(bytes(x.data) for _, x in flits)
        array = np.frombuffer(raw, dtype=np.uint8).reshape(-1, fl.SIZE).copy()
        parts = []
        for f, x in flits:
            part = x.spoil
            if self.mode == frame.RXL:
                part ^= (crc.SEQ_PART if isn == "pseudo" else crc.XOR_PART)[x.number]
                if isn == "pseudo":
                    part ^= crc.address_part(f.sender.me, f.sender.peer, self.vc)
            parts.append(part)
        crc.store(array, crc.batch(array) ^ np.array(parts, dtype=np.uint64), order)
        fec.store(array)
        for i, (_, x) in enumerate(flits):
            array[i, 255] ^= x.fec_error
        return [row.tobytes() for row in array]
