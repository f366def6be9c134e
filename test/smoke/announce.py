#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""A stranger on the network of a node: announce.py INTERFACE FABRIC NODE SECONDS [RATE]. Answers every
question about the node, to the number that asked, as a process of it; with RATE it also says so to the
last number it saw, and asks, so many times a second in all, each time as another process. What it says is
well formed; its proofs are made up. Prints "begin", and how many frames it sent."""
import pathlib
import random
import select
import socket
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "model"))
from weftmodel import control, frame  # noqa: E402

OUTGOING = 4


def announcement(rnd, packet, names, heard):
    """A frame with the addresses and the header of one that was seen, or of none in particular."""
    records = control.build(control.ANNOUNCE, fabric=names[0], name=names[1], heard=heard,
                            instance=rnd.getrandbits(63) + 1, runs_ms=5000)[:-4]
    if heard:
        records += bytes([control.READY_PROOF, 16]) + rnd.randbytes(16)
    return packet[:frame.HEADER] + records + bytes([control.CHECK, 2]) + \
        frame.t10dif(records).to_bytes(2, "big")


def main():
    interface, fabric, node, seconds = sys.argv[1:5]
    names, rate = (fabric.encode(), node.encode()), float((sys.argv + ["0"])[5])
    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(frame.ETHERTYPE))
    s.bind((interface, frame.ETHERTYPE))
    rnd, sent, seen, last = random.Random(1), 0, 0, None
    print("begin", flush=True)
    start = time.monotonic()
    while time.monotonic() < start + float(seconds):
        if select.select([s], [], [], 0.0002 if rate else 0.1)[0]:
            packet, address = s.recvfrom(1 << 16)
            values = control.parse(packet[frame.HEADER:]) if packet[14] == 0x11 else None
            if address[2] == OUTGOING or not values or values[control.TYPE] != control.ANNOUNCE or \
                    values[control.NAME].rstrip(b"\0") != names[1]:
                continue
            last, seen = packet, values[control.INSTANCE]
            if values[control.HEARD] == 0:
                s.send(announcement(rnd, packet, names, seen))
                sent += 1
        if rate and last and sent < rate * (time.monotonic() - start):
            s.send(announcement(rnd, last, names, rnd.choice((0, seen))))
            sent += 1
    print(f"sent {sent}", flush=True)


main()
