#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Send a flit frame and a control frame with every SPID: edge_spids.py INTERFACE PID. The next ones only
when the switch (process PID, node s0) has counted those before: none may be lost on the way to it."""
import glob
import json
import os
import pathlib
import socket
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "model"))
from weftmodel import frame  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
OWN, TARGET, STEP = 0x102, 0x200, 64
KEEPALIVE = bytes([1, 1, 6])


def header(kind, spid, count):
    return frame.with_check(bytes([0x10 | kind, 1, count, 0]) + spid.to_bytes(2, "big") + TARGET.to_bytes(2, "big") +
                            bytes(8))


def frames(spid):
    start = bytes(12) + frame.ETHERTYPE.to_bytes(2, "big")
    yield start + header(0, spid, 1) + bytes(range(256))
    yield start + header(1, spid, 0) + KEEPALIVE + b"\x10\x02" + frame.t10dif(KEEPALIVE).to_bytes(2, "big")


def telemetry():
    """Connected to the process."""
    path, = glob.glob(f"{os.environ['XDG_RUNTIME_DIR']}/dpdk/*-{sys.argv[2]}/dpdk_telemetry.v2") or glob.glob(
        f"/var/run/dpdk/*-{sys.argv[2]}/dpdk_telemetry.v2")
    t = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    t.settimeout(20)
    t.connect(path)
    t.recv(1 << 16)
    return t


def refused(t):
    t.send(b"/weft/node,s0")
    node = json.loads(t.recv(1 << 16))["/weft/node"]
    return node.get("port_1_refused_flits", 0) + node.get("port_1_refused_control", 0)


asks = telemetry()
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
s.bind((sys.argv[1], frame.ETHERTYPE))
want = 0
for first in range(0, 4096, STEP):
    for spid in range(first, first + STEP):
        for packet in frames(spid):
            s.send(packet)
        want += 2 * (spid != OWN)
    end = time.monotonic() + 20
    while refused(asks) < want:
        if time.monotonic() > end:
            sys.exit(f"of the frames up to SPID {first + STEP - 1:#x} {refused(asks)} were refused, not {want}")
        time.sleep(0.005)
