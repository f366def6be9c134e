#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""What programs on the fabric are promised when something is killed or stands still at a random moment: another
program, the switch, the link, the GFD, or the daemon of their host (doc/attach.md). A writer on h0 and a reader
on h1 are held to a model: what was acknowledged is there for both; of what was not, each line is as it was or as
it was to become; memory that came back empty is said to be other memory; and no call lasts for ever.
"""
import argparse
import atexit
import errno
import os
import pathlib
import random
import signal
import struct
import subprocess
import sys
import threading
import time

import libweft

LINE = 64
LINES = 256  # of the writer; behind them come as many of the program that is killed
SIZE = LINES * LINE
LONGEST_S = 60  # what a call may take at most: what is open is given up after 15 s of a node that has its CPU
SHUTDOWN_S = 1
KINDS = ("client", "switch", "link", "gfd", "daemon")
LOST = (-errno.ETIMEDOUT, -errno.ESTALE, -errno.ESHUTDOWN)


class Failure(Exception):
    pass


class Client:
    """A program that is attached to a host and has g0 open."""

    def __init__(self, lib, host):
        self.lib, self.host = lib, host
        self.weft, self.region = None, None
        self.longest = 0
        self.attach()

    def within(self, limit, what, call):
        """Until it succeeds; each time it is to end at once, and all within the limit."""
        end = time.monotonic() + limit
        while True:
            rc = self.timed(call)
            if rc == 0:
                return
            if time.monotonic() > end:
                raise Failure(f"{self.host}: {what} has not worked for {limit} s: {os.strerror(-rc)}")
            time.sleep(0.02)

    def timed(self, call):
        begin = time.monotonic()
        rc = call()
        self.longest = max(self.longest, time.monotonic() - begin)
        if time.monotonic() - begin > LONGEST_S:
            raise Failure(f"{self.host}: a call took {time.monotonic() - begin:.1f} s")
        return rc

    def attach(self):
        def call():
            rc, self.weft = libweft.attach(self.lib, self.host)
            return rc
        self.lib.weft_detach(self.weft)
        self.region = None  # went with it
        self.within(20, "to attach", call)
        self.open()

    def open(self):
        def call():
            self.lib.weft_close(self.region)
            rc, self.region = libweft.open_region(self.lib, self.weft, "g0")
            return rc
        self.within(20, "to open g0", call)

    def read(self, offset, size):
        data = b""

        def call():
            nonlocal data
            rc, data = libweft.read(self.lib, self.region, offset, size)
            return rc
        return self.timed(call), data

    def write(self, offset, data):
        return self.timed(lambda: self.lib.weft_write(self.region, offset, data, len(data)))


class Model:
    """What each line may be: one content where the last write was acknowledged."""

    def __init__(self):
        self.lines = [{bytes(LINE)} for _ in range(LINES)]

    def empty(self):
        self.lines = [{bytes(LINE)} for _ in range(LINES)]

    def write(self, offset, data, is_done):
        for i in range(offset // LINE, (offset + len(data) - 1) // LINE + 1):
            begin, end = max(offset, i * LINE), min(offset + len(data), (i + 1) * LINE)
            part, at = data[begin - offset:end - offset], begin - i * LINE
            new = {old[:at] + part + old[at + len(part):] for old in self.lines[i]}
            self.lines[i] = new if is_done else self.lines[i] | new

    def check(self, offset, data, who):
        """Whole lines; what is read once stays."""
        for k in range(len(data) // LINE):
            i, got = offset // LINE + k, data[k * LINE:(k + 1) * LINE]
            if got not in self.lines[i]:
                want = " or ".join(x.hex() for x in sorted(self.lines[i])[:3])
                raise Failure(f"{who}: line {i}: expected {want}, got {got.hex()}")
            self.lines[i] = {got}


def victim(lib):
    """The program that is killed: writes lines that say eight times which they are, for ever."""
    client = Client(lib, "h0")
    print("begun", flush=True)
    n = 0
    while True:
        n += 1
        data = b"".join(struct.pack("<Q", n * LINES + i) * 8 for i in range(4))
        client.write(SIZE + n * 4 % LINES * LINE, data)


class Fabric:
    """A daemon a node, over memif."""

    def __init__(self, weftd, folder):
        self.weftd, self.folder, self.daemons = weftd, folder, {}
        (folder / "f.yaml").write_text("""
fabric: kill
nodes:
  - {name: h0, kind: host, pid: 0x101}
  - {name: h1, kind: host, pid: 0x102}
  - {name: s0, kind: switch, pid: 0x010}
  - {name: g0, kind: gfd, pid: 0x200, memory: 1M}
links:
  - {a: h0, b: s0, driver: memif}
  - {a: h1, b: s0, driver: memif}
  - {a: s0, b: g0, driver: memif}
""")
        atexit.register(self.kill_all)
        for node in ("s0", "g0", "h0", "h1"):
            self.start(node)

    def start(self, node):
        # What is preloaded is for programs that load the library: a daemon has its own sanitizers.
        env = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
        with open(self.folder / f"{node}.log", "a") as log:
            self.daemons[node] = subprocess.Popen(
                [self.weftd, "--topology", self.folder / "f.yaml", "--node", node, "--idle", "yield"],
                stdout=log, stderr=log, stdin=subprocess.DEVNULL, env=env)

    def kill(self, node):
        self.daemons[node].kill()
        self.daemons[node].wait()

    def kill_all(self):
        for node in self.daemons:
            self.kill(node)

    def end(self):
        for daemon in self.daemons.values():
            daemon.send_signal(signal.SIGCONT)
            daemon.terminate()
        for node, daemon in self.daemons.items():
            if daemon.wait(20) != 0:
                raise Failure(f"{node} ended with {daemon.returncode}")


class Run:
    def __init__(self, args, lib):
        self.rand = random.Random(args.seed)
        self.fabric = Fabric(args.weftd, args.folder)
        self.model = Model()
        self.writer, self.reader = Client(lib, "h0"), Client(lib, "h1")
        self.said = {}

    def step(self):
        """An operation of the writer, now and then one of the reader. Returns what it ended with."""
        rand = self.rand
        if rand.randrange(3) == 0:
            client = rand.choice((self.writer, self.reader))
            first = rand.randrange(LINES)
            n = rand.randrange(1, min(16, LINES - first) + 1)
            rc, data = client.read(first * LINE, n * LINE)
            if rc == 0:
                self.model.check(first * LINE, data, client.host)
            return client, rc
        offset = rand.randrange(SIZE)
        data = rand.randbytes(rand.randrange(1, min(1000, SIZE - offset) + 1))
        rc = self.writer.write(offset, data)
        if rc != 0 and rc not in LOST:
            raise Failure(f"a write ends with {os.strerror(-rc)}")
        self.model.write(offset, data, rc == 0)
        return self.writer, rc

    def work_for(self, seconds, allowed):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            client, rc = self.step()
            if rc != 0 and rc not in allowed:
                raise Failure(f"{client.host}: {os.strerror(-rc)}, of which nobody is to blame")
            if rc != 0:
                self.said[rc] = self.said.get(rc, 0) + 1

    def mend(self, not_told=()):
        """Both go on. Who was not told yet that the memory came back empty is told, and opens it again."""
        for client in (self.writer, self.reader):
            end, is_stale, is_empty = time.monotonic() + LONGEST_S, False, client in not_told
            while True:
                rc, _ = client.read(0, LINE)
                if rc == -errno.ESTALE:
                    is_stale = True
                    client.open()
                elif rc == 0 and (is_stale or not is_empty):
                    break
                elif rc == 0:
                    raise Failure(f"{client.host}: memory that was lost is read as if it were the same")
                elif time.monotonic() > end:
                    raise Failure(f"{client.host}: does not go on: {os.strerror(-rc)}")
            if is_stale and not is_empty:
                raise Failure(f"{client.host}: memory that is there is said to be other memory")
        for client in (self.writer, self.reader):
            rc, data = client.read(0, SIZE)
            if rc != 0:
                raise Failure(f"{client.host}: {os.strerror(-rc)} when all is well again")
            self.model.check(0, data, client.host)

    def later(self, call):
        """Do something at a random moment of the next tenth of a second, beside what goes on."""
        timer = threading.Timer(self.rand.uniform(0, 0.1), call)
        timer.start()
        return timer

    def client(self):
        with subprocess.Popen([sys.executable, __file__, "--victim", *sys.argv[1:]],
                              stdout=subprocess.PIPE, text=True) as program:
            if program.stdout.readline() != "begun\n":
                raise Failure("the program that is to be killed does not begin")
            timer = self.later(program.kill)
            self.work_for(0.2, ())
            timer.join()
        rc, data = self.reader.read(SIZE, SIZE)
        for i in range(LINES):
            line = data[i * LINE:(i + 1) * LINE]
            if rc != 0 or line != line[:8] * 8:
                raise Failure(f"line {i} of a program that was killed is not whole: {line.hex()}")

    def switch(self):
        timer = self.later(lambda: self.fabric.kill("s0"))
        self.work_for(0.3, (-errno.ETIMEDOUT,))
        timer.join()
        self.fabric.start("s0")
        self.mend()

    def link(self):
        daemon = self.fabric.daemons["s0"]
        timer = self.later(lambda: daemon.send_signal(signal.SIGSTOP))
        on = threading.Timer(self.rand.uniform(0.1, 1.5), lambda: daemon.send_signal(signal.SIGCONT))
        on.start()
        self.work_for(0.3, (-errno.ETIMEDOUT,))
        timer.join()
        on.join()
        daemon.send_signal(signal.SIGCONT)
        self.mend()

    def gfd(self):
        timer = self.later(lambda: (self.fabric.kill("g0"), self.fabric.start("g0")))
        end = time.monotonic() + LONGEST_S
        # Until somebody is told.
        while True:
            client, rc = self.step()
            if rc == -errno.ESTALE:
                break
            if time.monotonic() > end:
                raise Failure("nobody is told that the memory was lost")
        timer.join()
        client.open()
        self.model.empty()
        self.mend([self.writer if client is self.reader else self.reader])

    def daemon(self):
        killed = []
        timer = self.later(lambda: (killed.append(time.monotonic()), self.fabric.kill("h0")))
        end = time.monotonic() + LONGEST_S
        while True:
            client, rc = self.step()
            if rc == -errno.ESHUTDOWN and client is self.writer:
                break
            if rc != 0 or time.monotonic() > end:
                raise Failure(f"{client.host}: {os.strerror(-rc)} where h0 was killed")
        took = time.monotonic() - killed[0]
        if took > SHUTDOWN_S:
            raise Failure(f"the writer was told after {took:.1f} s that its daemon is gone")
        timer.join()
        if self.writer.read(0, LINE)[0] != -errno.ESHUTDOWN:
            raise Failure("a handle of a daemon that is gone lives again")
        self.fabric.start("h0")
        self.writer.attach()
        self.mend()

    def run(self, rounds):
        for i in range(rounds):
            kind = KINDS[i] if i < len(KINDS) else self.rand.choice(KINDS)
            begin = time.monotonic()
            try:
                getattr(self, kind)()
            except Failure as e:
                raise Failure(f"round {i}, {kind}: {e}") from e
            print(f"round {i}: {kind}, {time.monotonic() - begin:.1f} s", flush=True)
        self.fabric.end()
        told = ", ".join(f"{n} x {os.strerror(-rc)}" for rc, n in sorted(self.said.items()))
        print(f"{rounds} rounds; longest call {max(self.writer.longest, self.reader.longest):.2f} s; {told or 'no errors'}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--victim", action="store_true", help="be the program that is killed")
    parser.add_argument("library", type=pathlib.Path)
    parser.add_argument("weftd", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=len(KINDS))
    parser.add_argument("--seed", type=int, default=time.time_ns())
    args = parser.parse_args()
    lib = libweft.load(args.library)
    if args.victim:
        victim(lib)
    print(f"seed {args.seed}", flush=True)
    try:
        Run(args, lib).run(args.rounds)
    except Failure as e:
        print(f"FAILED (seed {args.seed}): {e}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
