#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Somebody on a link between two daemons, who has no keys: attack.py WHAT SECONDS SEE PUT [SEED].
SEE and PUT are FILE:INTERFACE, a network namespace and an interface in it: frames that arrive at SEE are
what can be captured, and what is sent at PUT arrives there. WHAT, at full rate for so long:

  replay    up to 1,000 captured frames, over and over
  naks      NOPs with any Nak and Ack, and of any number, their CRC and FEC right
  garbage   frames with a right header and flits of noise
  alive     one captured KEEPALIVE, over and over, a thousand a second at most

Prints how many frames it sent."""
import ctypes
import os
import pathlib
import random
import socket
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "model"))
from weftmodel import control, crc, fec, flit, frame  # noqa: E402

CAPTURED, MADE = 1000, 512
ETH_P_ALL, OUTGOING = 3, 4  # all: a bridge takes the frames of its ports away from other sockets
FLITS, CONTROL = 0x10, 0x11    # version 1, kind 0 and 1


def attach(where, protocol):
    """A raw socket in that namespace; this thread is back in its own afterwards."""
    libc = ctypes.CDLL(None, use_errno=True)
    name, interface = where.rsplit(":", 1)
    own, other = os.open("/proc/self/ns/net", os.O_RDONLY), os.open(name, os.O_RDONLY)
    if libc.setns(other, 0) != 0:
        sys.exit(f"attack.py: {name}: {os.strerror(ctypes.get_errno())}")
    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    s.bind((interface, protocol))
    libc.setns(own, 0)
    os.close(own)
    os.close(other)
    return s


def has_flits(packet):
    return packet[14] == FLITS


def is_alive(packet):
    return packet[14] == CONTROL and packet[frame.HEADER + 2] == control.KEEPALIVE


def capture(s, most, seconds, is_wanted=has_flits):
    """Frames of that kind."""
    got, end = [], time.monotonic() + seconds
    s.settimeout(0.1)
    while len(got) < most and time.monotonic() < end:
        try:
            packet, address = s.recvfrom(1 << 16)
        except TimeoutError:
            continue
        if address[2] != OUTGOING and packet[12:14] == frame.ETHERTYPE.to_bytes(2, "big") and is_wanted(packet):
            got.append(packet)
    if not got:
        sys.exit("attack.py: nothing to capture")
    return got


def like_it(like, p, flits):
    """Other flits in a frame like that."""
    return frame.build(flits, mode=p.mode, form=p.form, spid=p.spid, dpid=p.dpid, vc=p.vc, session=p.session,
                       source=like[6:12], target=like[:6])


def nak(like, rnd):
    """A NOP that nobody sent: any command, any number that it names, any number of its own."""
    p = frame.parse(like)
    body = bytearray(250)
    body[:2] = flit.header(0, prior=rnd.randrange(2), number=rnd.randrange(1024),
                           command=rnd.choice((1, 2, 2, 3, 3) if p.mode == frame.RXL else (0, 1, 2, 2, 3, 3)))
    value = crc.flit_crc(body, "pseudo" if p.mode == frame.RXL else "none", p.spid, p.dpid, p.vc,
                         rnd.randrange(1024))
    body[242:] = crc.to_bytes(value)
    return like_it(like, p, [bytes(body) + fec.encode(bytes(body))])


def garbage(like, rnd):
    p = frame.parse(like)
    return like_it(like, p, [rnd.randbytes(256) for _ in range(rnd.randrange(1, 5))])


def main():
    what, seconds, see, put = sys.argv[1:5]
    rnd = random.Random(int(sys.argv[5]) if len(sys.argv) > 5 else 1)
    see, put = attach(see, ETH_P_ALL), attach(put, 0)
    if what == "replay":
        frames = capture(see, CAPTURED, 2)
    elif what == "alive":
        frames = capture(see, 1, 10, is_alive)
    else:
        make = {"naks": nak, "garbage": garbage}[what]
        like = capture(see, 1, 5)[0]
        frames = [make(like, rnd) for _ in range(MADE)]
    see.close()
    sent, end = 0, time.monotonic() + float(seconds)
    print("begin", flush=True)
    while time.monotonic() < end:
        for packet in frames:
            try:
                put.send(packet)
                sent += 1
            except OSError:     # no room on the wire
                pass
        if what == "alive":
            time.sleep(0.001)
    print(f"sent {sent}", flush=True)


main()
