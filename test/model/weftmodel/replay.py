# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""What `weft-replay` must report about a trace, computed from the trace alone."""

import argparse
from collections import Counter

import numpy as np

from . import crc, fec, frame, ide, ide_ends, pcapio
from . import flit as fl

MODES = {"cxl": frame.CXL, "rxl": frame.RXL}
# A number up to this far ahead of the expected one is a loss, further on a duplicate.
WINDOW = 511


def add_options(parser):
    """The options of weft-replay that change what is counted."""
    parser.add_argument("--mode", choices=MODES)
    parser.add_argument("--isn", choices=("pseudo", "xor", "none"), default="pseudo")
    parser.add_argument("--crc-order", choices=("r0", "r7"), default="r0")
    parser.add_argument("--spid", type=lambda s: int(s, 0), default=0)
    parser.add_argument("--dpid", type=lambda s: int(s, 0), default=0)
    parser.add_argument("--first-seq", type=int, default=1)
    parser.add_argument("--key-file")
    parser.add_argument("--ide", choices=("off", "containment", "skid"), default="off")
    parser.add_argument("--pcrc", choices=("on", "off"), default="on")
    parser.add_argument("--poison", choices=("protected", "open"), default="open")
    parser.add_argument("--stop", choices=("on", "off"), default="off")


def options(args):
    parser = argparse.ArgumentParser()
    add_options(parser)
    return parser.parse_args(args)


class Stream:
    """Everything behind the CRC that is the same in both modes: holes, IDE, messages."""

    def __init__(self, form, name, opts, keys, skipped):
        self.unpacker = fl.Unpacker(form)
        self.skipped = skipped
        self.hole = False
        self.ide = None
        self.has_no_key = opts.ide != "off" and name not in keys
        if opts.ide != "off" and name in keys:
            self.ide = ide_ends.Receiver(keys[name], opts.ide, opts.pcrc == "on",
                                         opts.poison == "protected",
                                         obeys_stop=opts.stop == "on")

    def use(self, flit):
        """One used flit."""
        after_hole, self.hole = self.hole, False
        if self.has_no_key:
            self.skipped["no_key"] += 1
        elif self.ide and self.ide.insecure:
            self.skipped["ide_insecure"] += 1
        elif self.ide and fl.kind_of(flit) == fl.CACHEMEM:
            opened = bytearray(flit)
            for item in self.ide.accept((opened, after_hole), opened):
                self._unpack(*item)
        else:
            self._unpack(flit, after_hole)

    def _unpack(self, flit, after_hole):
        if after_hole:
            self.unpacker.reset()
        if fl.kind_of(flit) == fl.CACHEMEM:
            self.unpacker.walk(flit)


class RxlReceiver:
    """Receiver of one connection (encapsulation.md 3)."""

    def __init__(self, name, opts, stream, tally):
        _, self.spid, self.dpid, self.vc, _ = name
        self.form, self.expected = opts.isn, opts.first_seq % 1024
        self.guessed = 0  # corrupt flits just before, each taken to have used a number
        self.turn = 0     # of the expected number, without wrapping
        self.heard = []   # (turn, flit) of intact flits, for ide_monitor
        self.stream, self.tally = stream, tally
        self.addresses = crc.address_part(self.spid, self.dpid, self.vc)

    def _number(self, difference):
        """The number a flit was protected with, or None if it is not intact."""
        if self.form == "pseudo":
            return crc.NUMBER_OF.get(difference ^ self.addresses)
        if self.form == "xor" and difference != crc.XOR_PART[self.expected]:
            return None
        return self.expected if self.form == "xor" or difference == 0 else None

    def take(self, flit, difference):
        number = self._number(difference)
        if number is None:
            self.tally["crc_bad"] += 1
            if self._number(difference ^ crc.INVERTED) is not None:
                self.heard.append((None, flit))
            self.expected = (self.expected + 1) % 1024
            self.turn += 1
            self.guessed += 1
            self.stream.hole = True
            return
        self.tally["crc_good"] += 1
        back = (self.expected - number) % 1024
        if 0 < back <= self.guessed:
            self.expected = number
            self.turn -= back
        if fl.kind_of(flit) == fl.NOP:
            self.guessed = 0
            return
        ahead = (number - self.expected) % 1024
        if ahead <= WINDOW:
            self.guessed = 0
        self.heard.append((self.turn + (ahead if ahead <= WINDOW else ahead - 1024), flit))
        if ahead > WINDOW:
            self.tally["duplicates"] += 1
            return
        if ahead:
            self.tally["gaps"] += 1
            self.tally["lost_flits"] += ahead
            self.stream.hole = True
        self.expected = (number + 1) % 1024
        self.turn += ahead + 1
        self.stream.use(flit)


class CxlReceiver:
    """Receiver of one direction of a link: numbers 1..1023, mostly implicit."""

    def __init__(self, _name, opts, stream, tally):
        self.expected = opts.first_seq
        self.stream, self.tally = stream, tally
        self.turn, self.heard = 0, []

    @staticmethod
    def _after(number):
        return number % 1023 + 1

    def take(self, flit, difference):
        if difference:
            self.tally["crc_bad"] += 1
            self.expected = self._after(self.expected)
            self.turn += 1
            self.stream.hole = True
            return
        self.tally["crc_good"] += 1
        if fl.kind_of(flit) == fl.NOP:
            return
        number = self.expected
        if fl.command_of(flit) == fl.EXPLICIT and fl.number_of(flit):
            number = fl.number_of(flit)
        ahead = (number - self.expected) % 1023
        self.heard.append((self.turn + (ahead if ahead <= WINDOW else ahead - 1023), flit))
        if ahead > WINDOW:
            self.tally["duplicates"] += 1
            return
        if ahead:
            self.tally["gaps"] += 1
            self.tally["lost_flits"] += ahead
            self.stream.hole = True
        self.expected = self._after(number)
        self.turn += ahead + 1
        self.stream.use(flit)


class Replay:
    """Reads a trace to its end and reports."""

    def __init__(self, opts):
        self.opts = opts
        self.keys = ide.read_key_file(opts.key_file) if opts.ide != "off" else {}
        self.skipped, self.tally, self.fec = Counter(), Counter(), Counter()
        self.receivers = {}
        self.frames = 0
        self.arrivals = []          # (receiver name, flit as it arrived)

    def run(self, path):
        packets, truncated = pcapio.read(path)
        for packet in packets:
            self._packet(packet)
        self._flits()
        return self._report(truncated)

    def _packet(self, packet):
        if len(packet.data) < packet.original:
            self.skipped["caplen"] += 1
        elif packet.linktype == pcapio.USER0:
            self._raw(packet.data)
        elif packet.linktype == pcapio.ETHERNET:
            self._frame(packet.data)
        else:
            self.skipped["link_type"] += 1

    def _raw(self, data):
        if not data or len(data) % fl.SIZE or len(data) > fl.SIZE * frame.MAX_FLITS:
            self.skipped["raw_length"] += 1
            return
        self.frames += 1
        name = ("cxl", bytes(6))
        if self.opts.mode != "cxl":
            name = ("rxl", self.opts.spid, self.opts.dpid, 0, 0)
        for at in range(0, len(data), fl.SIZE):
            self.arrivals.append((name, data[at:at + fl.SIZE]))

    def _frame(self, data):
        got = frame.parse(data, MODES.get(self.opts.mode))
        if isinstance(got, str):
            self.skipped[got] += 1
            return
        self.frames += 1
        name = ("cxl", got.source)
        if got.mode == frame.RXL:
            name = ("rxl", got.spid, got.dpid, got.vc, got.session)
        self.arrivals += [(name, flit) for flit in got.flits]

    def _flits(self):
        if not self.arrivals:
            return
        raw = b"".join(flit for _, flit in self.arrivals)
        flits = np.frombuffer(raw, dtype=np.uint8).reshape(-1, fl.SIZE).copy()
        self._correct(flits)
        differences = (crc.batch(flits) ^ crc.load(flits, self.opts.crc_order)).tolist()
        for i, (name, _) in enumerate(self.arrivals):
            flit = flits[i].tobytes()
            if not any(flit):
                self.skipped["all_zero"] += 1
                continue
            self._receiver(name).take(flit, differences[i])

    def _correct(self, flits):
        syndromes = fec.syndromes_batch(flits)
        suspects = np.flatnonzero(syndromes.any(axis=1))
        self.fec["clean"] = len(flits) - len(suspects)
        for i in suspects:
            verdict, fixed, changed = fec.decode_with(flits[i].tobytes(), syndromes[i].tolist())
            self.fec[verdict] += 1
            self.fec["corrected_bytes"] += changed
            flits[i] = np.frombuffer(fixed, dtype=np.uint8)

    def _receiver(self, name):
        if name not in self.receivers:
            is_rxl = name[0] == "rxl"
            stream = Stream("pbr" if is_rxl else "hbr", name, self.opts, self.keys, self.skipped)
            kind = RxlReceiver if is_rxl else CxlReceiver
            self.receivers[name] = kind(name, self.opts, stream, self.tally)
        return self.receivers[name]

    def _report(self, truncated):
        streams = [r.stream for r in self.receivers.values()]
        opened = [s.ide for s in streams if s.ide]
        messages = sum((s.unpacker.counts for s in streams), Counter())
        self.skipped["slot_format"] = sum(s.unpacker.bad_formats for s in streams)
        t = self.tally
        return {
            "frames": self.frames,
            "flits": len(self.arrivals),
            "bytes": fl.SIZE * len(self.arrivals),
            "skipped": {name: n for name, n in sorted(self.skipped.items()) if n},
            "truncated": int(truncated),
            "broken": 0,
            "fec": {k: self.fec[k] for k in ("clean", "corrected", "corrected_bytes",
                                             "uncorrectable")},
            "crc": {"good": t["crc_good"], "bad": t["crc_bad"]},
            "isn": {k: t[k] for k in ("gaps", "lost_flits", "duplicates")},
            "ide": {"epochs_good": sum(i.good for i in opened),
                    "epochs_bad": sum(i.bad for i in opened),
                    "flits_released": sum(i.released for i in opened),
                    "poison": sum(i.poisons for i in opened)},
            "messages": dict(sorted(messages.items())),
        }


def report(path, args):
    """The report on one trace, given weft-replay's arguments other than --in and --json."""
    return Replay(options(args)).run(path)
