#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""A path between two interfaces that loses all but short frames while the file SHORT is there: short_path.py A B SHORT."""
import os
import select
import socket
import sys

LONGEST, OUTGOING = 200, 4


def attach(name):
    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x88B5))
    s.bind((name, 0x88B5))
    return s


ends = [attach(name) for name in sys.argv[1:3]]
print("ready", flush=True)
while True:
    for s in select.select(ends, [], [])[0]:
        try:
            packet, address = s.recvfrom(1 << 16)
            if address[2] != OUTGOING and (len(packet) <= LONGEST or not os.path.exists(sys.argv[3])):
                ends[s is ends[0]].send(packet)
        except OSError:     # an interface is down, or there is no room
            continue
