#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Many programs at one daemon: attach and detach thousands of times, one after the other and many at once, killed
or not, and nothing of the daemon grows: memory, descriptors, threads, files of the run folder. As many at once as
a host takes; the next is told so by a line; the others go on."""
import argparse
import ctypes
import errno
import os
import pathlib
import resource
import sys
import time

import libweft

CLIENTS = 1024  # of a host


class Library:
    def __init__(self, path):
        self.lib = libweft.load(path)
        self.opts = libweft.Opts(size=ctypes.sizeof(libweft.Opts), entries=16, buffer=16384)

    def attach(self):
        return libweft.attach(self.lib, "h0", self.opts)

    def attach_again(self, clients):
        rc, weft = self.attach()
        if rc == 0:
            clients.append(weft)
        return rc

    def use(self, weft):
        rc, region = libweft.open_region(self.lib, weft, "g0", libweft.READ)
        return rc or libweft.read(self.lib, region, 0, 64)[0]


def state(pid, folder):
    """Of the daemon: descriptors, threads, files of the run folder; then resident KiB and maps, where the heap has
    some play."""
    status = dict(line.split(":", 1) for line in open(f"/proc/{pid}/status"))
    return (len(os.listdir(f"/proc/{pid}/fd")), int(status["Threads"]), len(os.listdir(folder)),
            int(status["VmRSS"].split()[0]), len(open(f"/proc/{pid}/maps").readlines()))


def grown(before, after):
    """Whether the daemon has. A sanitizer keeps what was freed for a while."""
    if before[:3] != after[:3] or after[4] > before[4] + 16:
        return True
    return after[3] > before[3] + 2048 and not os.environ.get("LD_PRELOAD")


def settled(pid, folder, like=None):
    """The daemon forgets who left within some rounds of its thread."""
    end = time.monotonic() + 10
    now = state(pid, folder)
    while time.monotonic() < end:
        time.sleep(0.1)
        before, now = now, state(pid, folder)
        if before[:3] == now[:3] and (like is None or now[:3] == like[:3]):
            break
    return now


def expect(what, right, said):
    if not right:
        sys.exit(f"FAILED: {what}: {said}")


def one_by_one(library, pid, folder, times):
    def some(n):
        for i in range(n):
            rc, weft = library.attach()
            expect("attach", rc == 0, f"{os.strerror(-rc)} after {i}")
            if i % 64 == 0:
                expect("a read", library.use(weft) == 0, f"after {i}")
            library.lib.weft_detach(weft)
    some(min(1000, times))
    before = settled(pid, folder)
    begin = time.monotonic()
    some(times)
    took = time.monotonic() - begin
    after = settled(pid, folder, before)
    expect("the daemon has grown", not grown(before, after), f"{before} before, {after} after {times}")
    print(f"{times} times attached and detached in {took:.1f} s; before {before}, after {after}")
    return after


def killed(library, pid, folder, like):
    """Processes that end without a word, with clients attached and operations open."""
    for _ in range(20):
        child = os.fork()
        if child == 0:
            for _ in range(8):
                rc, weft = library.attach()
                library.use(weft)
            os.kill(os.getpid(), 9)
        os.waitpid(child, 0)
    after = settled(pid, folder, like)
    expect("who was killed is forgotten", not grown(like, after), f"{like} before, {after} after")


def at_once(library, pid, folder, like):
    clients, rc = [], 0
    while len(clients) < CLIENTS + 10:
        rc, weft = library.attach()
        if rc != 0:
            break
        clients.append(weft)
    said = library.lib.weft_error(None).decode()
    expect("clients at once", len(clients) == CLIENTS or (rc == -errno.EMFILE and len(clients) >= 100),
           f"{len(clients)}, then {said}")
    expect("the next is told", rc in (-errno.EAGAIN, -errno.EMFILE) and said.count("\n") == 0 and "h0" in said, said)
    for i, weft in enumerate(clients):
        expect("each of them reads", library.use(weft) == 0, i)
    library.lib.weft_detach(clients.pop())
    end = time.monotonic() + 10
    while library.attach_again(clients) != 0:
        expect("a place that is free is taken again", time.monotonic() < end, said)
        time.sleep(0.02)
    for weft in clients:
        library.lib.weft_detach(weft)
    after = settled(pid, folder, like)
    expect("the daemon has grown", not grown((*like[:3], after[3], like[4]), after), f"{like} before, {after} after {CLIENTS} at once")
    print(f"{len(clients)} at once; then: {said}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("library", type=pathlib.Path)
    parser.add_argument("pid", type=int)
    parser.add_argument("folder", type=pathlib.Path, help="the run folder")
    parser.add_argument("--times", type=int, default=3000)
    args = parser.parse_args()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    library = Library(args.library)
    like = one_by_one(library, args.pid, args.folder, args.times)
    killed(library, args.pid, args.folder, like)
    at_once(library, args.pid, args.folder, like)


main()
