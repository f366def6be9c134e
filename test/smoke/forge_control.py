#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Somebody on a link between two daemons says that their session is over: forge_control.py ROUNDS RATE A B.
A and B are FILE:INTERFACE, a network namespace and the interface of an end in it: what arrives there can be
seen, and what is sent at one arrives at the other. In each round, RATE of them a second, both ends hear one
message in the name of the other, in the session they are in: GOODBYE, RESET, GONE with some number, LOSS,
REFUSE, a KEEPALIVE that hears nothing (as it was seen, or made up with a MAC that is wrong), READY; and
CHALLENGE. Prints "begin", and how many frames it sent."""
import ctypes
import os
import pathlib
import random
import socket
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "model"))
from weftmodel import control, frame  # noqa: E402


def attach(where):
    """A raw socket in that namespace; this thread is back in its own afterwards."""
    libc = ctypes.CDLL(None, use_errno=True)
    name, interface = where.rsplit(":", 1)
    own, other = os.open("/proc/self/ns/net", os.O_RDONLY), os.open(name, os.O_RDONLY)
    if libc.setns(other, 0) != 0:
        sys.exit(f"forge_control.py: {name}: {os.strerror(ctypes.get_errno())}")
    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(frame.ETHERTYPE))
    s.bind((interface, frame.ETHERTYPE))
    libc.setns(own, 0)
    os.close(own)
    os.close(other)
    return s


def latest(s, seconds):
    """The frame with flits, and the KEEPALIVE if there was one, that came last."""
    flits = alive = None
    end = time.monotonic() + seconds
    s.settimeout(0.05)
    while time.monotonic() < end + (10 if flits is None else 0):  # a busy machine
        try:
            packet, address = s.recvfrom(1 << 16)
        except TimeoutError:
            continue
        if address[2] == 4:     # PACKET_OUTGOING: this end's own
            continue
        if packet[14] == 0x10:
            flits = packet
        elif control.parse(packet[frame.HEADER:]) and packet[frame.HEADER + 2] == control.KEEPALIVE:
            alive = packet
    if flits is None:
        sys.exit("forge_control.py: no session to be seen")
    return flits, alive


def record(kind, value):
    return bytes([kind, len(value)]) + value


def sealed(records):
    return records + record(control.CHECK, frame.t10dif(records).to_bytes(2, "big"))


def messages(rnd):
    """Records of what is said."""
    number = record(control.CHALLENGED, rnd.randbytes(7) + b"\1")
    mac = record(control.NUMBER, b"\x7f" + rnd.randbytes(7)) + record(control.MAC, rnd.randbytes(16))
    proof = record(control.READY_PROOF, rnd.randbytes(16))
    for kind, *choices in (
            (control.GOODBYE, b"", mac), (control.RESET, b""), (control.GONE, number, proof + number),
            (control.LOSS, record(control.PORT, bytes(2)) + record(control.NODE, bytes(16)) +
             record(control.COUNT, b"\0\0\0\1")),
            (control.KEEPALIVE, record(control.FLAGS, b"\1") + mac),
            (control.READY, proof), (control.CHALLENGE, number)):
        yield sealed(record(control.TYPE, bytes([kind])) + rnd.choice(choices))
    yield control.build(control.REFUSE, differs=2)


def main():
    rounds, rate, *where = sys.argv[1:5]
    ends = [attach(name) for name in where]
    rnd, sent = random.Random(1), 0
    heads, again = [], []
    for s in ends:
        flits, alive = latest(s, 0.5)
        # Ethernet's addresses, and the header of a control frame of the same session.
        p = frame.parse(flits)
        header = bytes([0x11, flits[15], 0, p.vc]) + flits[18:26] + bytes(4)
        heads.append(flits[:14] + frame.with_check(header))
        again.append(alive)
    print("begin", flush=True)
    for _ in range(int(rounds)):
        for records in messages(rnd):
            for i in range(2):
                # What this end hears is sent at the other.
                ends[1 - i].send((heads[i] + records).ljust(60, b"\0"))
                sent += 1
            time.sleep(1 / float(rate))
        for i in range(2):
            if again[i]:
                ends[1 - i].send(again[i])
                sent += 1
    print(f"sent {sent}", flush=True)


main()
