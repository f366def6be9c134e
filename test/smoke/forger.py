#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Somebody at a cable between two interfaces: forger.py A B FIRST EVERY MOST [data]. Hands frames on, and
changes one bit of flits on their way, the FIRST that will do and every EVERY-th behind it, MOST in all,
each with a CRC and FEC that are right: the CRC is linear, so neither number nor address must be known.
With "data" behind that, only flits that begin with a write, and in its data: the fabric's own business
goes on. On SIGTERM it prints how many."""
import pathlib
import select
import signal
import socket
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "model"))
from weftmodel import crc, fec, frame  # noqa: E402

OUTGOING = 4
CACHEMEM = 2
MAC = 0x23


def attach(name):
    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(frame.ETHERTYPE))
    s.bind((name, frame.ETHERTYPE))
    return s


def is_protocol(flit):
    """Slot 0 is a header, or a MAC."""
    control = flit[2] >> 4 << 4 | flit[3] & 15 if flit[2] & 15 == 8 else None
    return flit[0] >> 6 == CACHEMEM and control in (None, MAC)


def is_write(flit):
    """Slot 0 is a valid RwD: slot 1 is data, its own or of a message before it."""
    return flit[0] >> 6 == CACHEMEM and flit[2] & 0x1F == 0x1E


def forge(flit, slot):
    """The same flit with a bit of a slot changed."""
    new = bytearray(flit)
    new[slot * 16 + 5] ^= 0x10
    value = crc.from_bytes(flit[242:250]) ^ crc.crc(flit[:242]) ^ crc.crc(new[:242])
    new[242:250] = crc.to_bytes(value)
    new[250:] = fec.encode(bytes(new[:250]))
    return bytes(new)


def main():
    ends = [attach(name) for name in sys.argv[1:3]]
    first, every, most = map(int, sys.argv[3:6])
    may_forge, slot = (is_write, 1) if sys.argv[6:] == ["data"] else (is_protocol, 7)
    seen = forged = 0

    def stop(*_):
        print(forged, flush=True)
        sys.exit(0)

    signal.signal(signal.SIGTERM, stop)
    print("ready", flush=True)
    while True:
        for s in select.select(ends, [], [])[0]:
            try:
                packet, address = s.recvfrom(1 << 16)
            except OSError:     # an interface was down for a moment
                continue
            if address[2] == OUTGOING:
                continue
            at = frame.HEADER
            if len(packet) > at + 255 and packet[14] == 0x10 and may_forge(packet[at:at + 256]):
                seen += 1
                if forged < most and seen >= first and (seen - first) % every == 0:
                    packet = packet[:at] + forge(packet[at:at + 256], slot) + packet[at + 256:]
                    forged += 1
            try:
                ends[s is ends[0]].send(packet)
            except OSError:     # no room: a frame is lost, as on any cable
                pass


main()
