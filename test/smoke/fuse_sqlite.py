#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""A database of SQLite in a region: its writer is killed again and again, at times with weft-fuse.

    fuse_sqlite.py KILLS SEED MOUNT FILE WEFT-FUSE [ARGUMENT...]

After each kill the database is whole (integrity_check), every transaction is there with all of its
rows or with none, and none is missing that was acknowledged. FILE is an empty database.
"""

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time

WRITER = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=20)
db.execute("pragma journal_mode=" + sys.argv[2])
db.execute("pragma synchronous=full")
n = db.execute("select coalesce(max(tx), 0) from t").fetchone()[0]
while True:
    n += 1
    db.execute("begin immediate")
    for row in range(1 + n % 5):
        db.execute("insert into t values (?, ?, randomblob(?))", (n, row, 10 + n * 37 % 3000))
    db.execute("delete from t where tx < ?", (n - 60,))
    db.execute("update last set tx = ?", (n,))
    db.execute("commit")
    print(n, flush=True)
"""
MODES = ["delete", "wal", "truncate", "persist"]


def start_server(command, mount):
    server = subprocess.Popen(command + ["-f", mount], stdout=subprocess.PIPE)
    assert server.stdout.readline(), "weft-fuse does not start"
    return server


def write_and_kill(rng, database, mode, server):
    """Kill a writer while it writes, before or after its server. @return what was acknowledged last"""
    writer = subprocess.Popen([sys.executable, "-S", "-c", WRITER, database, mode],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    line = writer.stdout.readline()
    assert line, "the writer fails: " + writer.stderr.read().decode()
    time.sleep(rng.random() * 0.1)
    if server is not None:
        server.kill()
        server.wait()
    writer.kill()
    lines = [line] + writer.stdout.read().split(b"\n")
    writer.communicate()
    # The last line may not be whole, or is empty.
    return max(int(x) for x in [line] + lines[1:-1])


def judge(database, acknowledged):
    db = sqlite3.connect(database, timeout=20)
    assert db.execute("pragma integrity_check").fetchall() == [("ok",)], "integrity_check"
    last = db.execute("select tx from last").fetchone()[0]
    assert last >= acknowledged, f"transaction {acknowledged} was acknowledged, {last} is the last"
    rows = dict(db.execute("select tx, count(*) from t group by tx").fetchall())
    first = max(1, last - 60)
    assert rows == {n: 1 + n % 5 for n in range(first, last + 1)}, f"rows of {first} to {last}: {rows}"
    db.close()
    return last


def main():
    kills, seed, mount, empty = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]
    command = sys.argv[5:]
    rng = random.Random(seed)
    database = os.path.join(mount, "g0")
    db = sqlite3.connect(empty)
    db.executescript("create table t (tx, row, data, primary key (tx, row)); create table last (tx); insert into last values (0)")
    db.close()
    server = start_server(command, mount)
    with open(empty, "rb") as source, open(database, "wb") as region:
        region.write(source.read())
    last, of_server = 0, 0
    for kill in range(kills):
        with_server = rng.random() < 0.3
        acknowledged = write_and_kill(rng, database, MODES[kill % len(MODES)], server if with_server else None)
        if with_server:
            of_server += 1
            server = start_server(command, mount)
        was, last = last, judge(database, acknowledged)
        assert last > was, "the writer wrote nothing"
    server.send_signal(signal.SIGTERM)
    assert server.wait(20) == 0
    print(f"{kills} kills, {of_server} of them with weft-fuse, {last} transactions")


if __name__ == "__main__":
    main()
