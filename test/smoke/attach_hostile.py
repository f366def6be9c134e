#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Programs that break every rule of the rings and of the socket, by a seed, while a good one works at the same host:
the daemon goes on, what the good one reads is what it wrote, and those that broke a rule are detached. Each bad
program has the right to a part of the memory, and to no other."""
import argparse
import array
import mmap
import os
import pathlib
import random
import socket
import struct
import sys
import time

import libweft

PART = 64 << 10  # bytes of the good one; the bad ones have what is behind 512K
HELLO, LIST, OPEN, INFO, CLOSE = range(1, 6)
REQUEST = struct.Struct("<IHHIIQII128s")
SQE = struct.Struct("<BxxxIQQIIQ24x")
MAGIC = 0x41464557
SQ_TAIL, CQ_TAIL, CQ_HEAD, CLIENT_SLEEPS, DAEMON_SLEEPS, IS_OVER = range(64, 448, 64)
PAGE = 4096


class Hostile:
    """One attachment that behaves ill."""

    def __init__(self, path, rand):
        self.rand = rand
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.sock.settimeout(10)
        self.sock.connect(path)
        self.fds, self.block = [], None

    def end(self):
        if self.block is not None:
            self.block.close()
        for fd in self.fds:
            os.close(fd)
        self.sock.close()

    def call(self, call, entries=0, handle=0, data_len=0, rights=0, index=0, name=b""):
        self.sock.send(REQUEST.pack(MAGIC, 1, call, entries, handle, data_len, rights, index, name))
        room = socket.CMSG_SPACE(3 * 4)
        answer, ancillary, _, _ = self.sock.recvmsg(4096, room)
        for _, _, data in ancillary:
            fds = array.array("i")
            fds.frombytes(data[:len(data) // 4 * 4])
            self.fds += fds
        if len(answer) < 16:
            raise OSError("the daemon has hung up")
        return struct.unpack_from("<i", answer, 8)[0]

    def attach(self):
        self.entries = 1 << self.rand.randrange(4, 9)
        if self.call(HELLO, entries=self.entries, data_len=PAGE * self.rand.randrange(1, 17)) != 0:
            raise OSError("turned away")
        self.block = mmap.mmap(self.fds[0], 0)
        part = self.rand.choice((b"g0:512K+64K", b"g0:576K+4K", b"g0:600K+100"))
        if self.call(OPEN, rights=3, name=part) != 0:
            raise OSError("its part is not to be had")
        self.tail = 0

    def word(self, at, value):
        struct.pack_into("<I", self.block, at, value & 0xffffffff)

    def number(self, bits):
        """Small, wild, or beside a power of two."""
        kind = self.rand.randrange(3)
        if kind == 0:
            return self.rand.randrange(1 << min(bits, 16))
        if kind == 1:
            return self.rand.getrandbits(bits)
        return (1 << self.rand.randrange(bits)) + self.rand.randrange(-2, 3) & (1 << bits) - 1

    def submit(self, is_good):
        rand = self.rand
        if is_good:
            unit = rand.choice((1, 4))  # by UIO of whole DWs
            op = rand.randrange(1, 7)
            entry = SQE.pack(op, 0, unit * rand.randrange(64), 0, 0 if op == 6 else unit * rand.randrange(1, 36), 0,
                             rand.getrandbits(64))
        else:
            entry = SQE.pack(self.number(8), self.number(32), self.number(64), self.number(64), self.number(32),
                             rand.choice((0, 0, 1)), rand.getrandbits(64))
        at = PAGE + self.tail % self.entries * 64
        self.block[at:at + 64] = entry
        self.tail += 1
        self.word(SQ_TAIL, self.tail)

    def scribble(self):
        for _ in range(self.rand.randrange(1, 200)):
            at = self.rand.randrange(len(self.block) if self.rand.randrange(2) else 512)
            self.block[at] = self.rand.randrange(256)

    def ring(self):
        if self.rand.randrange(4) == 0:
            os.write(self.fds[1], struct.pack("<Q", self.rand.choice((1, 1000))))
        elif self.rand.randrange(8) == 0:
            try:
                os.set_blocking(self.fds[2], False)
                os.write(self.fds[2], struct.pack("<Q", (1 << 64) - 2 - self.rand.randrange(3)))  # no room for more
            except BlockingIOError:
                pass

    def message(self):
        if self.rand.randrange(3) == 0:
            data = self.rand.randbytes(self.rand.randrange(1, 4000))
        else:
            data = REQUEST.pack(self.rand.choice((MAGIC, MAGIC, self.number(32))), self.rand.choice((1, 1, self.number(16))),
                                self.number(3) if self.rand.randrange(4) else self.number(16), self.number(32),
                                self.number(32), self.number(64), self.number(32), self.number(32),
                                self.rand.choice((b"g0", b"g0:1", b"g0:0+1T", b"\xff" * 128, b"%n%s", b"")))
        try:
            self.sock.send(data, socket.MSG_DONTWAIT)
        except BlockingIOError:
            pass

    def misbehave(self):
        """Some rounds. Whoever was detached sees it, and others come to their end."""
        for _ in range(self.rand.randrange(1, 40)):
            what = self.rand.randrange(8)
            if what < 3:
                for _ in range(self.rand.randrange(1, self.entries + 2)):
                    self.submit(self.rand.randrange(8) != 0)
            elif what == 3:
                self.submit(False)
            elif what == 4:
                self.word(self.rand.choice((SQ_TAIL, CQ_TAIL, CQ_HEAD, CLIENT_SLEEPS, DAEMON_SLEEPS, IS_OVER)), self.number(32))
            elif what == 5:
                self.scribble()
            elif what == 6:
                self.ring()
            else:
                self.message()
            if self.rand.randrange(4) == 0:
                # As a good one would: what has ended is taken.
                self.block[CQ_HEAD:CQ_HEAD + 4] = self.block[CQ_TAIL:CQ_TAIL + 4]
            if self.rand.randrange(4) == 0:
                time.sleep(self.rand.random() / 1000)


def hostile(path, seed, seconds):
    """A process of bad attachments, the last of which it is killed with."""
    rand, end = random.Random(seed), time.monotonic() + seconds
    n = 0
    while time.monotonic() < end:
        h = Hostile(path, rand)
        try:
            if rand.randrange(8) == 0:
                for _ in range(rand.randrange(1, 50)):
                    h.message()
            else:
                h.attach()
                h.misbehave()
            n += 1
        except (OSError, struct.error):
            pass
        h.end()
    sys.stdout.write(f"{n} bad attachments\n")
    sys.stdout.flush()
    h = Hostile(path, rand)
    h.attach()
    for _ in range(h.entries // 2):
        h.submit(True)
    os.kill(os.getpid(), 9)


class Good:
    def __init__(self, lib):
        self.lib = lib
        rc, weft = libweft.attach(lib, "h0")
        self.must("attach", rc)
        rc, self.region = libweft.open_region(lib, weft, f"g0:0+{PART}")
        self.must("open", rc)
        rc, self.by_uio = libweft.open_region(lib, weft, f"g0:0+{PART}", libweft.READ | libweft.WRITE | libweft.UIO)
        self.must("open by UIO", rc)
        self.copy = bytearray(PART)
        self.must("clear", self.lib.weft_write(self.region, 0, bytes(PART), PART))
        self.n = 0

    @staticmethod
    def must(what, rc):
        if rc != 0:
            sys.exit(f"FAILED: the good program: {what}: {os.strerror(-rc)}")

    def step(self, rand):
        at = rand.randrange(PART)
        n = rand.randrange(1, min(5000, PART - at) + 1)
        region = self.region
        if rand.randrange(2) and n >= 4 and at + n <= PART - 4:
            region, at, n = self.by_uio, at & ~3, n & ~3
        if rand.randrange(2):
            data = rand.randbytes(n)
            self.must("write", self.lib.weft_write(region, at, data, n))
            self.copy[at:at + n] = data
        else:
            rc, data = libweft.read(self.lib, region, at, n)
            self.must("read", rc)
            if data != self.copy[at:at + n]:
                sys.exit(f"FAILED: the good program reads other than it wrote, at {at}, {n} bytes")
        self.n += 1


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("library", type=pathlib.Path)
    parser.add_argument("socket")
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--seed", type=int, default=time.time_ns())
    args = parser.parse_args()
    print(f"seed {args.seed}", flush=True)
    rand = random.Random(args.seed)
    children = []
    for i in range(2):
        child = os.fork()
        if child == 0:
            hostile(args.socket, args.seed + 1 + i, args.seconds)
        children.append(child)
    print("hostile", *children, flush=True)
    good, end = Good(libweft.load(args.library)), time.monotonic() + args.seconds
    while time.monotonic() < end:
        good.step(rand)
    for child in children:
        status = os.waitpid(child, 0)[1]
        if os.WTERMSIG(status) != 9:
            sys.exit(f"FAILED: a bad program ended with {status}, before its time")
    for _ in range(50):
        good.step(rand)
    print(f"{good.n} operations of the good one")


main()
