#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""What programs do to files of weft-fuse, a function each: fuse_files.py FUNCTION [ARGUMENT...].

The smoke tests weft_fuse_test.sh and weft_fuse_faults_test.sh call them. A function that waits for the test to do something
prints a line and reads one.
"""

import errno
import mmap
import os
import signal
import sys
import threading
import time

PAGE = 4096


def fails(what, number, call, *args):
    try:
        call(*args)
    except OSError as e:
        assert e.errno == number, f"{what}: expected {errno.errorcode[number]}, got {e}"
        return
    raise AssertionError(f"{what}: succeeded")


def turn(said):
    """Let the test do its part."""
    print(said, flush=True)
    assert sys.stdin.readline(), "the test has gone"


def block_device(path, size):
    """A region is to programs what a block device is."""
    size = int(size)
    fd = os.open(path, os.O_RDWR)
    os.pwrite(fd, b"kept", 0)
    os.close(os.open(path, os.O_WRONLY | os.O_TRUNC))
    assert os.pread(fd, 4, 0) == b"kept", "O_TRUNC changes something"
    os.ftruncate(fd, size)
    for other in (0, size - 1, size + 1):
        fails(f"ftruncate to {other}", errno.EPERM, os.ftruncate, fd, other)
    fails("truncate", errno.EPERM, os.truncate, path, size - PAGE)
    assert os.fstat(fd).st_size == size
    assert os.pwrite(fd, b"end", size - 3) == 3
    assert os.pwrite(fd, b"too long", size - 3) == 3, "not cut at the end"
    fails("write behind the end", errno.ENOSPC, os.pwrite, fd, b"x", size)
    assert os.pread(fd, 10, size - 3) == b"too" and os.pread(fd, 10, size) == b""
    was = os.fstat(fd).st_mtime_ns
    os.pwrite(fd, b"kept", 0)
    assert os.fstat(fd).st_mtime_ns > was, "a write does not show in the time"
    os.utime(path, ns=(0, 1_000_000_000))
    assert os.fstat(fd).st_mtime_ns == 1_000_000_000
    os.chmod(path, 0o600)
    fails("chmod", errno.EPERM, os.chmod, path, 0o644)
    fails("unlink", errno.EPERM, os.unlink, path)
    fails("rename", errno.EPERM, os.rename, path, path + "-x")
    fails("link", errno.EPERM, os.link, path, path + "-x")
    fails("symlink", errno.EPERM, os.symlink, "x", path + "-x")
    folder = os.path.dirname(path)
    fails("mkdir", errno.EPERM, os.mkdir, folder + "/x")
    fails("a file that is no companion", errno.EPERM, os.open, folder + "/x", os.O_CREAT | os.O_RDWR)
    fails("open regions.json", errno.EACCES, os.open, folder + "/regions.json", os.O_RDWR)
    os.fsync(fd)
    os.close(fd)


def edges(path, other):
    """Bytes beside what is written stay, whoever wrote them."""
    fd, fe = os.open(path, os.O_RDWR), os.open(other, os.O_RDWR)
    os.pwrite(fd, b"a" * 3 * PAGE, 0)
    for n, (at, size) in enumerate([(1, 1), (63, 2), (PAGE - 1, 2), (100, 5000), (2 * PAGE, 64)]):
        os.pwrite(fe if n % 2 else fd, bytes([n]) * size, at)
    want = bytearray(b"a" * 3 * PAGE)
    for n, (at, size) in enumerate([(1, 1), (63, 2), (PAGE - 1, 2), (100, 5000), (2 * PAGE, 64)]):
        want[at:at + size] = bytes([n]) * size
    os.close(fd)
    fd = os.open(path, os.O_RDONLY)
    assert os.pread(fd, 3 * PAGE, 0) == want


def caches(path, other, direct):
    """When a host sees what another wrote: the file, the same one of another host, and direct."""
    fd, fo, fx = os.open(path, os.O_RDWR), os.open(other, os.O_RDWR), os.open(direct, os.O_RDWR)
    o_direct = os.open(path, os.O_RDONLY | os.O_DIRECT)
    aligned = mmap.mmap(-1, PAGE)
    for n in range(3):
        os.pwrite(fo, b"%d" % n * PAGE, 0)
        assert os.pread(fx, PAGE, 0) == b"%d" % n * PAGE, "direct: something else"
        assert os.preadv(o_direct, [aligned], 0) == PAGE and aligned[:] == b"%d" % n * PAGE, "O_DIRECT"
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        assert os.pread(fd, PAGE, 0) == b"%d" % n * PAGE, "after posix_fadvise: something else"
        os.pwrite(fx, b"%d" % (n + 5) * PAGE, 0)
        assert os.pread(fd, PAGE, 0) == b"%d" % n * PAGE, "nothing is cached"
        again = os.open(path, os.O_RDONLY)
        assert os.pread(again, PAGE, 0) == b"%d" % (n + 5) * PAGE, "after open: something else"
        os.close(again)
    fails("a shared map of a direct file", errno.ENODEV, mmap.mmap, fx, PAGE)
    assert mmap.mmap(fx, PAGE, flags=mmap.MAP_PRIVATE)[0:1] == b"7"


def companions(path):
    """Files beside a region are ordinary ones."""
    name = path + "-word"
    fd = os.open(name, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
    fails("O_EXCL", errno.EEXIST, os.open, name, os.O_CREAT | os.O_EXCL | os.O_RDWR)
    os.pwrite(fd, b"text", 10)
    os.ftruncate(fd, 100000)
    m = mmap.mmap(fd, 100000)
    m[50000] = 7
    assert os.pread(fd, 1, 50000) == b"\7" and os.pread(fd, 4, 10) == b"text"
    os.fsync(fd)
    assert os.path.basename(name) in os.listdir(os.path.dirname(path))
    os.unlink(name)
    fails("what was removed", errno.ENOENT, os.stat, name)
    assert os.fstat(fd).st_nlink == 0 and os.pread(fd, 4, 10) == b"text"
    second = os.open(name, os.O_CREAT | os.O_RDWR, 0o600)
    assert os.pread(second, 4, 10) == b"" and os.pread(fd, 4, 10) == b"text"
    os.unlink(name)


def daemon_dies(path):
    """What is open fails within a second, and stays so; what is opened later works."""
    fd, idle = os.open(path, os.O_RDWR), os.open(path, os.O_RDWR)
    m = mmap.mmap(fd, 64 * PAGE)
    os.pread(fd, PAGE, 0)
    m[0], m[2 * PAGE]
    m[PAGE] = 1  # not written back yet
    turn("open")
    begin = time.monotonic()
    while time.monotonic() - begin < 20:
        try:
            os.pread(fd, PAGE, 0)
            time.sleep(0.005)
        except OSError as e:
            assert e.errno == errno.EIO
            break
    took = time.monotonic() - begin
    assert took < 1, f"EIO after {took} s"
    fails("write", errno.EIO, os.pwrite, fd, b"x", 0)
    fails("fsync", errno.EIO, os.fsync, fd)
    fails("open", errno.EIO, os.open, path, os.O_RDONLY)
    fails("regions.json", errno.EIO, os.open, os.path.dirname(path) + "/regions.json", os.O_RDONLY)
    assert os.path.basename(path) in os.listdir(os.path.dirname(path))
    until_bus_error(m, 0)
    turn("dead")
    until_bus_error(m, PAGE)
    again = os.open(path, os.O_RDWR)
    os.pwrite(again, b"new" * PAGE, 0)
    assert os.pread(again, PAGE, 0) == (b"new" * PAGE)[:PAGE]
    os.fsync(again)
    fails("read by the old one", errno.EIO, os.pread, fd, PAGE, 0)
    fails("write by the old one", errno.EIO, os.pwrite, fd, b"x", 0)
    fails("write by an idle one", errno.EIO, os.pwrite, idle, b"x", 0)


def until_fails(number, call, *args):
    """What the page cache has is dropped a moment after the first error."""
    begin = time.monotonic()
    while True:
        try:
            call(*args)
            assert time.monotonic() - begin < 5, f"never failed with {errno.errorcode[number]}"
            time.sleep(0.005)
        except OSError as e:
            assert e.errno == number, f"expected {errno.errorcode[number]}, got {e}"
            return


def until_bus_error(m, at):
    """A page of a map goes, and what is there now cannot be loaded."""
    child = os.fork()
    if child == 0:
        until = time.monotonic() + 10
        while time.monotonic() < until:
            m[at]
            time.sleep(0.01)
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    assert os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGBUS, f"the page at {at} stays in the map: {status}"


def memory_replaced(path):
    """A file stays with the memory that it was opened on, also what is mapped, and if nobody asks the fabric."""
    fd = os.open(path, os.O_RDWR)
    os.pwrite(fd, b"old" * PAGE, 0)
    m = mmap.mmap(fd, 3 * PAGE)
    assert m[0] == m[2 * PAGE + 1] == ord("o")
    turn("open")
    until_bus_error(m, 0)
    fails("read from the page cache", errno.ESTALE, os.pread, fd, PAGE, 0)
    fails("read", errno.ESTALE, os.pread, fd, PAGE, 1 << 20)
    fails("write", errno.ESTALE, os.pwrite, fd, b"x", 0)
    again = os.open(path, os.O_RDWR)
    assert os.pread(again, PAGE, 0) == bytes(PAGE), "old data in new memory"
    os.pwrite(again, b"new", 0)
    assert os.pread(again, 3, 0) == b"new"
    fails("read by the old one", errno.ESTALE, os.pread, fd, PAGE, 0)
    os.close(again)


def memory_synced(path):
    """What was acknowledged and is lost since is missed by fsync, and by what the page cache has."""
    fd = os.open(path, os.O_RDWR)
    os.pwrite(fd, b"old" * PAGE, 0)
    os.pread(fd, PAGE, 0)
    turn("open")
    fails("fsync", errno.ESTALE, os.fsync, fd)
    until_fails(errno.ESTALE, os.pread, fd, PAGE, 0)


def right_lost(path):
    """A right that is taken away is missed by the next request, and by what the page cache has."""
    fd = os.open(path, os.O_RDWR)
    os.pread(fd, PAGE, 0)
    turn("open")
    fails("write", errno.EACCES, os.pwrite, fd, b"x", 1 << 20)
    until_fails(errno.EACCES, os.pread, fd, PAGE, 0)
    folder = os.path.dirname(path)
    while os.path.basename(path) in os.listdir(folder):
        time.sleep(0.01)
    # At once it has no right, later no such name.
    fails("open", errno.EACCES if os.path.exists(path) else errno.ENOENT, os.open, path, os.O_RDONLY)
    name, = [name for name in os.listdir(folder) if name.startswith("g0:")]
    part = os.open(folder + "/" + name, os.O_RDWR)
    assert os.fstat(part).st_size == 1 << 20
    os.pwrite(part, b"part", 0)
    assert os.pread(part, 4, 0) == b"part"


def region_set_anew(path):
    """A file has the size that it was opened with, whichever thread answers, and stays with its memory."""
    fd = os.open(path, os.O_RDWR | os.O_DIRECT)
    size = os.fstat(fd).st_size
    os.pwrite(fd, b"mine", size - 4)

    def answers(fd=fd):
        """What 16 programs' threads meet at once, a few times each."""
        got = set()

        def ask():
            for _ in range(20):
                try:
                    got.add(os.pread(fd, 10, size - 4))
                except OSError as e:
                    got.add(errno.errorcode[e.errno])

        threads = [threading.Thread(target=ask) for _ in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return got

    turn("open")
    assert (got := answers()) == {b"mine"}, f"of a larger region: {got}"
    turn("larger")
    assert (got := answers()) == {"EACCES"}, f"of a smaller region: {got}"
    turn("smaller")
    assert (got := answers()) == {b"mine"}, f"of a region as large again: {got}"
    late = os.open(path, os.O_RDWR | os.O_DIRECT)  # which threads but one have not asked for
    turn("as it was")
    assert (got := answers()) == {"ESTALE"}, f"of a region at another place: {got}"
    assert (got := answers(late)) == {"ESTALE"}, f"of a region at another place, opened last: {got}"


def poisoned(path):
    """What is poison fails, also of a map that was there before, what is beside it does not, and writing it mends it."""
    fd = os.open(path, os.O_RDWR)
    m = mmap.mmap(fd, PAGE)
    assert m[9] == 1
    turn("open")
    until_bus_error(m, 9)
    fails("poison", errno.EIO, os.pread, fd, PAGE, 7 * PAGE)
    os.pwrite(fd, b"a" * PAGE, 6 * PAGE)
    os.pwrite(fd, b"b" * PAGE, 7 * PAGE)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    assert os.pread(fd, 2 * PAGE, 6 * PAGE) == b"a" * PAGE + b"b" * PAGE
    fails("poison", errno.EIO, os.pread, fd, PAGE, 8 * PAGE)
    assert os.fstat(fd).st_size == os.lseek(fd, 0, os.SEEK_END)


def many(path, other):
    """More files than an attachment opens at a time, and threads that use them."""
    fds = [os.open(path, os.O_RDWR) for _ in range(150)]
    for n, fd in enumerate(fds):
        os.pwrite(fd, b"%4d" % n * 16, n * 64)
    for fd in fds[::-1]:
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        assert os.pread(fd, 150 * 64, 0) == b"".join(b"%4d" % n * 16 for n in range(150))
    errors = []

    def work(fd, at):
        try:
            for n in range(40):
                os.pwrite(fd, b"%4d" % n * 1024, at)
                os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
                assert os.pread(fd, PAGE, at) == b"%4d" % n * 1024
                os.close(os.open(other, os.O_RDONLY))
        except BaseException as e:  # pylint: disable=broad-except
            errors.append(e)

    threads = [threading.Thread(target=work, args=(fds[n], (n + 16) * PAGE)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors, errors


def mapped(path, byte):
    """Store by a map, and leave it to others to write it back."""
    m = mmap.mmap(os.open(path, os.O_RDWR), 2 * PAGE)
    m[:] = byte.encode() * 2 * PAGE
    turn("stored")


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
