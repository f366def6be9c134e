# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""A passive checker: what every right sender does, judged from a capture alone.

It keeps no retry state of its own. Positions count from 1 without end (position 0: before the
first flit of a session); a number on the wire is a position modulo 1024, or 1..1023 in `cxl`.
A sender is `complete` if the capture has every frame that it sent, in order; only such a
sender is judged, of the others only what they say is used.
"""

from collections import Counter

import numpy as np

from . import control, crc, fec, frame, messages, pcapio, retry
from . import flit as fl

WINDOW = retry.WINDOW
INIT_PARAM = (0xC, 8)
_NO_NUMBER = -1
_ALL_ONES = np.uint64(0xFFFFFFFFFFFFFFFF)
_SETS = {4: ("h2d_req", "h2d_dh", "h2d_rsp"), 9: ("d2h_req", "d2h_dh", "d2h_rsp"),
         0x14: ("m2s_req", "m2s_rwd", "m2s_birsp"), 0x19: ("s2m_bisnp", "s2m_drs", "s2m_ndr")}
_AMOUNTS = (1, 4, 8, 12, 16)
# Code of a CRD field -> (kind of message by field, credits).
_CREDITS = {base + i: (kinds, n) for base, kinds in _SETS.items() for i, n in enumerate(_AMOUNTS)}
_COMMANDS = {fl.ACK: "acks", fl.NAK: "naks_standard", fl.NAK_SELECTIVE: "naks_selective"}


def credits_of(flit):
    """({kind: credits}, all codes are known) of a CRD field."""
    word, got, known = int.from_bytes(flit[240:242], "little"), Counter(), True
    for i in range(3):
        code = word >> 5 * i & 31
        if code in _CREDITS:
            kinds, amount = _CREDITS[code]
            got[kinds[i]] += amount
        elif code and not (i == 0 and code == fl.EMPTY_CRD):
            known = False
    return got, known and not word >> 15


class Direction:
    """One sender in one session."""

    def __init__(self, mode, name, complete):
        self.name, self.complete, self.mode = name, complete, mode
        self.modulus = retry.RXL_MODULUS if mode == frame.RXL else retry.CXL_MODULUS
        self.newest = 0             # highest position sent
        self.last = 0               # cxl: position of the last payload flit; None: not known
        self.settled = True         # `newest` is what the sender's own is
        self.in_a_row = 0
        self.acked = None           # position that it has acknowledged
        self.kept = {}              # position % 1024 -> payload
        self.prior = None           # cxl: whether the flit before was payload
        self.unpacker = fl.Unpacker("pbr" if mode == frame.RXL else "hbr")
        self.granted = Counter()    # credits it gave
        self.holes = set()          # positions of which nothing was seen
        self.is_readable = True     # where messages begin is known

    def number(self, position):
        rxl = self.mode == frame.RXL
        return retry.rxl_number(position) if rxl else retry.cxl_number(position)

    def is_known(self):
        """Whether `newest` can be relied on."""
        return self.settled and (self.complete or self.mode == frame.RXL)

    def begin_unseen(self, number):
        """The capture does not have the start: this flit stands for the first one."""
        self.newest = 2 * self.modulus + number - 1
        self.last = self.newest
        self.settled = False

    def lose_track(self):
        """A flit that cannot be counted: in cxl the next explicit number is the next known."""
        self.last = self.prior = None
        if self.mode == frame.CXL:
            self.settled, self.in_a_row = False, 0

    def position(self, number):
        """Position with this number that is new (up to 511 ahead), else the newest one sent."""
        ahead = (number - self.number(self.newest)) % self.modulus
        return self.newest + (ahead if ahead <= WINDOW else ahead - self.modulus)


class Session:
    def __init__(self, ident, has_start, ide_mode):
        self.ident, self.has_start, self.ide_mode = ident, has_start, ide_mode
        self.directions = {}


class Offer:
    """A session as the control frames tell of it."""

    def __init__(self, asked, answering, ide_mode):
        self.asked, self.answering, self.ide_mode = asked, answering, ide_mode
        self.taken = self.answered = False


class Life:
    """What one sender of a domain has shown of its lives."""

    def __init__(self):
        self.session = None         # of its last flits
        self.old = set()
        self.asks = None            # X of its last HELLO
        self.said_goodbye = set()
        self.knows_start = False


class Domain:
    """All sessions of one connection, or of one capture's links in cxl mode."""

    def __init__(self):
        self.sessions, self.offers, self.lives = {}, {}, {}

    def life(self, name):
        return self.lives.setdefault(name, Life())


class Checker:
    """Give it captures, then ask for the report."""

    def __init__(self, complete=None, isn="pseudo", order="r0", most_shown=20):
        self.complete, self.isn, self.order = complete, isn, order
        self.most_shown = most_shown
        self.count, self.control, self.skipped = Counter(), Counter(), Counter()
        self.violations, self.shown = Counter(), []
        self.messages = Counter()
        self.domains = {}
        self.at = None              # place of what is looked at now
        self.truncated = 0

    # --- reading ---

    def run(self, captures):
        """captures: [(path, names of the senders whose frames to use, or None)]."""
        packets = []
        for path, senders in captures:
            got, cut = pcapio.read(path)
            self.truncated += cut
            packets += [(p.time_ns, path, i, p, senders) for i, p in enumerate(got)]
        if len(captures) > 1:
            packets.sort(key=lambda item: item[0])
        self.check(self._parse(packets))
        return self.report()

    def _parse(self, packets):
        """[(place, frame.Frame or control values, header)] of what is ours."""
        items = []
        for _, path, i, packet, senders in packets:
            place = f"{path}:{i + 1}"
            data = packet.data
            if packet.linktype != pcapio.ETHERNET:
                self.skipped["linktype"] += 1
                continue
            got = frame.parse(data)
            if got in ("runt", "ethertype"):
                self.skipped[got] += 1
                continue
            if len(data) < packet.original:
                self.skipped["caplen"] += 1
                continue
            if isinstance(got, str) and got != "control":
                self.at = place
                self.skipped[got] += 1
                if self.complete is None:
                    self._violation("frame", f"{got} is wrong")
                continue
            if got == "control":
                h = data[14:32]
                got = frame.Frame(h[1] & 1, data[6:12], h[3], int.from_bytes(h[4:6], "big"),
                                  int.from_bytes(h[6:8], "big"), int.from_bytes(h[8:12], "big"),
                                  None)
            name = self.name_of(got)
            if senders is not None and name not in senders:
                self.skipped["not_asked_for"] += 1
                continue
            records = control.parse(data[frame.HEADER:]) if got.flits is None else None
            items.append((place, got, name, records))
        return items

    @staticmethod
    def name_of(f):
        return f.spid if f.mode == frame.RXL else f.source.hex(":")

    def is_complete(self, name):
        return self.complete is None or name in self.complete

    def _violation(self, kind, text):
        self.violations[kind] += 1
        if len(self.shown) < self.most_shown:
            self.shown.append({"kind": kind, "at": self.at, "what": text})

    def _domain(self, f):
        key = "cxl"
        if f.mode == frame.RXL:
            key = (min(f.spid, f.dpid), max(f.spid, f.dpid), f.vc)
        return self.domains.setdefault(key, Domain())

    # --- CRC and FEC, of all flits at once ---

    def check(self, items):
        for _, _, _, records in items:
            if records and records[control.TYPE] == control.HELLO:
                self.order = ("r0", "r7")[records[control.CRC_ORDER]]
                if records[control.MODE] == frame.RXL:
                    self.isn = ("pseudo", "xor", "none")[records[control.ISN]]
        flits, facts = self._facts(items)
        at = 0
        for place, f, name, records in items:
            self.at = place
            self.count["frames"] += 1
            if f.flits is None:
                self._control(f, name, records)
                continue
            session, sender = self._session(f, name)
            for i in range(at, at + len(f.flits)):
                self.count["flits"] += 1
                self._flit(session, sender, flits[i].tobytes(), *facts[i])
            at += len(f.flits)
        for domain in self.domains.values():
            for session in domain.sessions.values():
                for sender in session.directions.values():
                    self.messages += sender.unpacker.counts

    def _facts(self, items):
        """Flits as an array, and of each (FEC verdict, number or None, is spoiled)."""
        carriers = [f for _, f, _, _ in items if f.flits is not None]
        raw = b"".join(flit for f in carriers for flit in f.flits)
        flits = np.frombuffer(raw, dtype=np.uint8).reshape(-1, fl.SIZE).copy()
        if not len(flits):
            return flits, []
        verdicts = ["clean"] * len(flits)
        syndromes = fec.syndromes_batch(flits)
        for i in np.flatnonzero(syndromes.any(axis=1)):
            verdicts[i], fixed, _ = fec.decode_with(flits[i].tobytes(), syndromes[i].tolist())
            flits[i] = np.frombuffer(fixed, dtype=np.uint8)
        difference = crc.batch(flits) ^ crc.load(flits, self.order)
        parts = np.array([self._address(f) for f in carriers for _ in f.flits], dtype=np.uint64)
        rxl = np.array([f.mode == frame.RXL for f in carriers for _ in f.flits])
        plain = numbers_of(difference ^ parts, rxl, self.isn)
        spoiled = numbers_of(difference ^ parts ^ _ALL_ONES, rxl, self.isn)
        is_spoiled = (plain == _NO_NUMBER) & (spoiled != _NO_NUMBER)
        return flits, list(zip(verdicts, plain.tolist(), is_spoiled.tolist()))

    def _address(self, f):
        if f.mode == frame.RXL and self.isn == "pseudo":
            return crc.address_part(f.spid, f.dpid, f.vc)
        return 0

    # --- sessions ---

    def _control(self, f, name, records):
        if records is None:
            self.control["malformed"] += 1
            if self.is_complete(name):
                self._violation("control", "records are not well formed")
            return
        kind = records[control.TYPE]
        self.control[kind] += 1
        if kind in (control.ANNOUNCE, control.MANAGEMENT):    # of a node, not of a session
            return
        domain = self._domain(f)
        life = domain.life(name)
        if kind == control.HELLO:
            self._hello(domain, life, name, f.session)
        elif kind == control.WELCOME:
            self._welcome(domain, name, f.session, records)
        elif kind == control.READY and f.session in domain.offers:
            domain.offers[f.session].taken = True
        elif kind == control.KEEPALIVE and f.session in domain.offers:
            offer = domain.offers[f.session]
            offer.answered |= offer.answering == name
        elif kind == control.GOODBYE:
            life.said_goodbye.add(f.session)

    def _hello(self, domain, life, name, asked):
        life.asks, life.knows_start = asked, True
        offer = domain.offers.get(life.session)
        if not self.is_complete(name):
            return
        if asked == 0:
            self._violation("session_id", f"{name} asks with 0")
        elif offer and offer.asked == asked:
            self._violation("session_id", f"{name} asks with {asked:08x} once more")
        if life.session is not None:
            life.old.add(life.session)

    def _welcome(self, domain, name, asked, records):
        ident = records[control.SESSION]
        offer = domain.offers.get(ident)
        if self.is_complete(name) and (ident == 0 or offer and offer.asked != asked):
            self._violation("session_id", f"{name} offers {ident:08x} once more")
        if offer is None or offer.asked != asked:
            domain.offers[ident] = Offer(asked, name, records[control.IDE])

    def _session(self, f, name):
        domain = self._domain(f)
        offer = domain.offers.get(f.session)
        life = domain.life(name)
        if self.is_complete(name):
            self._may_send(life, offer, name, f.session)
        if life.session not in (None, f.session):
            life.old.add(life.session)
        life.session = f.session
        life.knows_start |= offer is not None
        if offer and offer.answering == name:
            offer.answered = True
        if f.session not in domain.sessions:
            domain.sessions[f.session] = Session(f.session, offer is not None,
                                                 offer.ide_mode if offer else 0)
            self.count["sessions"] += 1
        session = domain.sessions[f.session]
        if name not in session.directions:
            session.directions[name] = Direction(f.mode, name, self.is_complete(name))
        return session, session.directions[name]

    def _may_send(self, life, offer, name, ident):
        if ident == 0:
            self._violation("session_id", f"{name} sends flits in session 0")
        elif ident in life.old:
            self._violation("old_session", f"{name} sends flits of {ident:08x} after its end")
        elif ident in life.said_goodbye:
            self._violation("old_session", f"{name} sends flits after its goodbye")
        elif offer is None:
            if life.knows_start:
                self._violation("not_agreed", f"{name} sends flits of {ident:08x}, never offered")
        elif offer.answering == name and not offer.taken:
            self._violation("not_agreed", f"{name} sends flits before READY")
        elif offer.answering != name and not offer.answered:
            self._violation("not_agreed", f"{name} sends flits before the responder's first")

    # --- flits ---

    def _flit(self, session, sender, flit, verdict, number, spoiled):
        judged = sender.complete
        if verdict != "clean":
            self.count[f"fec_{verdict}"] += 1
            if judged:
                self._violation("fec", f"{sender.name}: FEC is wrong")
        if spoiled:
            # On purpose, to be refused; its header is not read by anyone either.
            self.count["spoiled"] += 1
            sender.lose_track()
            return
        if number == _NO_NUMBER:
            self.count["bad"] += 1
            if judged:
                self._violation("crc", f"{sender.name}: no number makes this CRC")
            sender.lose_track()
            return
        if not any(flit):
            self.count["all_zero"] += 1
            if judged:
                self._violation("all_zero", f"{sender.name}: flit of zeros")
            return
        other = self._other(session, sender)
        if sender.mode == frame.RXL:
            self._rxl(session, sender, other, flit, number)
        else:
            self._cxl(session, sender, other, flit)
        if sender.mode == frame.RXL or fl.command_of(flit) != fl.EXPLICIT:
            self._answer(session, sender, other, fl.command_of(flit), fl.number_of(flit))

    @staticmethod
    def _other(session, sender):
        for name, each in session.directions.items():
            if name != sender.name:
                return each
        return None

    def _rxl(self, session, sender, other, flit, number):
        is_nop = fl.kind_of(flit) == fl.NOP
        if not session.has_start and sender.newest == 0:
            sender.begin_unseen(number)
        position = sender.position(number)
        if not is_nop:
            self._numbered(session, sender, other, flit, position)
            return
        self.count["nops"] += 1
        if sender.complete and sender.settled and position != sender.newest + 1:
            self._violation("nop_number", f"{sender.name}: NOP with {number}, the next flit has "
                            f"{sender.number(sender.newest + 1)}")
        if sender.complete and any(flit[240:242]):
            self._violation("nop_credits", f"{sender.name}: a NOP carries credits")
        if not sender.complete:
            sender.newest = max(sender.newest, position - 1)

    def _cxl(self, session, sender, other, flit):
        number = fl.number_of(flit)
        explicit = fl.command_of(flit) == fl.EXPLICIT and number != 0
        prior, sender.prior = sender.prior, fl.kind_of(flit) != fl.NOP
        if sender.complete and prior is not None and (flit[0] >> 5 & 1) != prior:
            self._violation("prior_type", f"{sender.name}: Prior Flit Type is wrong")
        if fl.kind_of(flit) == fl.NOP:
            self.count["nops"] += 1
            if explicit and sender.complete and sender.settled and sender.newest and \
                    number not in (sender.number(sender.newest),
                                   sender.number(sender.last or sender.newest)):
                self._violation("nop_number", f"{sender.name}: NOP with {number}, the last flit "
                                f"had {sender.number(sender.newest)}")
            return
        if not session.has_start and sender.newest == 0:
            if not explicit:
                self.count["untracked"] += 1
                return
            sender.begin_unseen(number)
        if explicit:
            position = sender.position(number)
        elif sender.last is None:
            self.count["untracked"] += 1
            return
        else:
            position = sender.last + 1
        sender.last = position
        self._numbered(session, sender, other, flit, position)

    def _numbered(self, session, sender, other, flit, position):
        """A flit that uses a number: new, or sent again."""
        content = flit[2:242]
        if position <= sender.newest:
            self.count["resent"] += 1
            self._again(sender, content, position)
            if position in sender.holes:
                sender.holes.discard(position)
                sender.granted += credits_of(flit)[0]
            return
        missed = position - sender.newest - 1
        sender.holes.update(range(sender.newest + 1, position))
        if sender.settled and missed and sender.complete:
            if sender.newest == 0:
                self._violation("first_number", f"{sender.name} begins with "
                                f"{sender.number(position)}")
            else:
                self._violation("gap", f"{sender.name}: {missed} numbers left out before "
                                f"{sender.number(position)}")
        sender.in_a_row = 0 if missed else sender.in_a_row + 1
        sender.settled |= sender.in_a_row >= WINDOW
        self.count["first"] += 1
        sender.newest = position
        sender.kept[position % 1024] = (position, content)
        if sender.complete and position == 1 and session.has_start and not session.ide_mode \
                and (fl.kind_of(flit), fl.llctrl_of(flit)) != (fl.CACHEMEM, INIT_PARAM):
            self._violation("no_init", f"{sender.name}: the first flit is not INIT.Param")
        self._in_window(session, sender, other, position)
        if fl.kind_of(flit) == fl.CACHEMEM and not session.ide_mode:
            self._credits(session, sender, other, flit, missed)

    def _again(self, sender, content, position):
        if not sender.complete:
            return
        if sender.newest - position >= WINDOW:
            self._violation("too_old", f"{sender.name} sends {sender.number(position)} again, "
                            f"{sender.newest - position} flits later")
        before = sender.kept.get(position % 1024)
        if before and before[0] == position and before[1] != content:
            self._violation("changed", f"{sender.name}: {sender.number(position)} sent again "
                            "with another content")

    def _in_window(self, session, sender, other, position):
        acked = other.acked if other else None
        if acked is None:
            acked = 0 if session.has_start else None
        if sender.complete and sender.settled and acked is not None and \
                position - acked > WINDOW:
            self._violation("window", f"{sender.name} sends {sender.number(position)} with "
                            f"{position - 1 - acked} flits not acknowledged")

    def _credits(self, session, sender, other, flit, missed):
        granted, known = credits_of(flit)
        sender.granted += granted
        if not known and sender.complete:
            self._violation("credit_code", f"{sender.name}: reserved code in CRD")
        sender.is_readable &= session.has_start and not (missed and sender.complete)
        if not sender.is_readable:
            return
        if missed:
            sender.unpacker.reset()
        before, wrong = sender.unpacker.counts.copy(), sender.unpacker.bad_formats
        sender.unpacker.walk(flit)
        if not sender.complete:
            return
        if sender.unpacker.bad_formats != wrong:
            self._violation("slot_format", f"{sender.name}: a slot cannot be read")
        for kind, n in sender.unpacker.counts.items():
            given = other.granted[kind] if other else 0
            if n != before[kind] and kind != "llctrl" and n > given:
                self._violation("credit", f"{sender.name} has sent {n} {kind}, of which the other "
                                f"end has allowed {given}")

    def _answer(self, session, sender, other, command, number):
        """The Ack or Nak in a header."""
        if command == fl.EXPLICIT:
            if number and sender.complete:
                self._violation("header", f"{sender.name}: command 0 with number {number}")
            return
        self.count[_COMMANDS[command]] += 1
        if sender.mode == frame.CXL and number == 0:
            return
        newest = other.newest if other else 0
        if not session.has_start and newest == 0 or other and not other.is_known():
            return
        modulus = sender.modulus
        mine = sender.number(newest)
        position = newest - (mine - number) % modulus
        judged = sender.complete
        if newest - position > WINDOW + 1 or position < 0:
            if judged:
                kind = "ack_back" if 0 <= position < (sender.acked or 0) else "ack_beyond"
                self._violation(kind, f"{sender.name}: {_COMMANDS[command]} {number}, the other "
                                f"end has sent up to {mine}")
            return
        if sender.acked is not None and position < sender.acked:
            if judged:
                self._violation("ack_back", f"{sender.name}: {_COMMANDS[command]} {number} after "
                                f"{sender.number(sender.acked)}")
            return
        if command != fl.NAK_SELECTIVE or sender.mode == frame.CXL:
            sender.acked = position

    def report(self):
        names = {getattr(control, n): n.lower() for n in (
            "HELLO", "WELCOME", "REFUSE", "GOODBYE", "READY", "KEEPALIVE", "RESET", "LOSS",
            "CHALLENGE", "GONE", "ANNOUNCE", "MANAGEMENT")}
        known = ("frames", "flits", "sessions", "first", "resent", "nops", "acks",
                 "naks_standard", "naks_selective")
        return {
            **{k: self.count[k] for k in known},
            **{k: n for k, n in sorted(self.count.items()) if k not in known},
            "control": {names.get(k, k): n for k, n in self.control.items()},
            "skipped": dict(self.skipped),
            "truncated": self.truncated,
            "messages": dict(sorted(self.messages.items())),
            "violations": dict(sorted(self.violations.items())),
            "shown": self.shown,
        }


def numbers_of(difference, is_rxl, isn):
    """Number of each flit by its CRC difference; cxl and form `none` have only number 0."""
    parts = {"pseudo": crc.SEQ_PART, "xor": crc.XOR_PART, "none": [0]}[isn]
    table = np.array(parts, dtype=np.uint64)
    order = np.argsort(table)
    place = np.minimum(np.searchsorted(table[order], difference), len(table) - 1)
    found = np.where(table[order][place] == difference, order[place], _NO_NUMBER)
    plain = np.where(difference == 0, 0, _NO_NUMBER)
    return np.where(is_rxl, found, plain)
