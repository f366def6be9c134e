#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""Two retry layers (llr_script) with a bad wire between them: what they hand on has to be what the
other sent, in order, once; and what they put on the wire has to pass the checker of captures."""

import argparse
import os
import random
import subprocess
import sys
import tempfile

from weftmodel import flit as fl
from weftmodel import frame, pcapio, retry_link, script, wirecheck

SETTINGS = ((1, 1, 511), (1, 0, 511), (1, 1, 20), (0, 0, 511), (1, 0, 3))
TICK_NS = 2000
FRAME = 8
STUCK_TICKS = 100000            # without progress: 20 of the longest time-outs, one after the other


class End:
    """One llr_script."""

    def __init__(self, program, setting):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)
        self._write("cfg {} {} {}".format(*setting))
        self.window = setting[2]
        self.committed = self.unacked = 0
        self.got = []

    def _write(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def event(self, line):
        """Flits that it sends then: [(number, id, command, ack)]."""
        self._write(line)
        answer = script.retry_answer(self.process.stdout.readline())
        if answer is None:
            raise RuntimeError("llr_script died")
        said, sent = answer
        self.got += said["delivered"]
        self.unacked = said["unacked"]
        return sent

    def commit(self, most):
        k = min(most, self.window - self.unacked)
        self.committed += max(k, 0)
        return self.event(f"send {k}") if k > 0 else []

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


class Loop:
    def __init__(self, program, seed):
        self.rng = random.Random(seed)
        faults = self.rng.choice((0, 0.01, 0.05))
        self.faults = retry_link.Faults(*(faults * self.rng.random() for _ in range(4)))
        self.ends = [End(program, SETTINGS[seed % len(SETTINGS)]) for _ in range(2)]
        # It writes the capture; its own ends stay idle.
        self.link = retry_link.Link(self.rng, frame.RXL).bring_up()
        self.latency = self.rng.randint(1, 20)
        self.under_way = [[], []]
        self.now = 10

    def _send(self, i, sent):
        for at in range(0, len(sent), FRAME):
            flits = sent[at:at + FRAME]
            logged = [self._logged(*flit) for flit in flits]
            self.link.log.append(retry_link.LoggedFrame(self.now, self.link.ends[i],
                                                        self.link.session, logged))
            for _ in range(1 + (self.rng.random() < self.faults.dup)):
                if self.rng.random() >= self.faults.drop:
                    late = self.rng.randint(1, 5) * (self.rng.random() < self.faults.late)
                    self.under_way[1 - i].append((self.now + self.latency + late, flits))

    @staticmethod
    def _logged(number, ident, command, ack):
        data = bytearray(fl.SIZE)
        data[0:2] = fl.header(fl.CACHEMEM if ident else fl.NOP, 0, 0, command, ack)
        if ident == 1:
            data[2:16] = retry_link.INIT
        else:
            data[20:28] = ident.to_bytes(8, "little")   # slot 1, no message valid
        return retry_link.LoggedFlit(data, number, ident)

    def _arrive(self, i):
        due = [x for x in self.under_way[i] if x[0] <= self.now]
        self.under_way[i] = [x for x in self.under_way[i] if x[0] > self.now]
        for _, flits in due:
            words = []
            for number, ident, command, ack in flits:
                kind = "p" if ident else "n"
                kind = "x" if self.rng.random() < self.faults.bad else kind
                words.append(f"{kind},{number},{ident},{command},{ack}")
            self._send(i, self.ends[i].event("rx " + " ".join(words)))

    def run(self, flits):
        """Why it went wrong, or None."""
        progress, since = 0, self.now
        while any(e.committed < flits or e.unacked for e in self.ends):
            for i, end in enumerate(self.ends):
                self._arrive(i)
                self._send(i, end.event(f"time {TICK_NS}"))
                if end.committed < flits and self.rng.random() < 0.5:
                    self._send(i, end.commit(min(self.rng.randint(1, 20), flits - end.committed)))
            self.now += 1
            done = sum(e.committed - e.unacked for e in self.ends)
            if done != progress:
                progress, since = done, self.now
            elif self.now - since > STUCK_TICKS:
                return f"stuck: {[(e.committed, e.unacked, len(e.got)) for e in self.ends]}"
        if any(e.got != list(range(1, flits + 1)) for e in self.ends):
            return "not in order, once"
        return self._judged()

    def _judged(self):
        with tempfile.NamedTemporaryFile(suffix=".pcap") as capture:
            pcapio.write_pcap(capture.name, self.link.packets())
            report = wirecheck.Checker().run([(capture.name, None)])
        self.resent = report["resent"]
        return f"{report['violations']}: {report['shown'][0]}" if report["violations"] else None


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--script", required=True, help="the llr_script to test")
    parser.add_argument("--seed", type=int, help="first seed (default: drawn)")
    parser.add_argument("--seeds", type=int, default=10, help="runs (default: %(default)s)")
    parser.add_argument("--flits", type=int, default=2000, help="each way (default: %(default)s)")
    opts = parser.parse_args()
    if not os.access(opts.script, os.X_OK):
        parser.error(f"{opts.script}: not an executable")
    first = opts.seed if opts.seed is not None else random.randrange(1 << 31)
    failed = 0
    for seed in range(first, first + opts.seeds):
        loop = Loop(os.path.abspath(opts.script), seed)
        try:
            wrong = loop.run(opts.flits)
        finally:
            for end in loop.ends:
                end.close()
        if wrong:
            print(f"FAIL seed {seed}: {wrong}", flush=True)
            failed += 1
        else:
            print(f"ok seed {seed}: {loop.resent} sent again", flush=True)
    print(f"{opts.seeds - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
