#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""How long the sockets of a daemon let one wait: answers.py CCI-SOCKET CONTROL-SOCKET SECONDS

Asks both again and again, Identify (0001h) and `hello`, and prints the longest time to an answer, in milliseconds.
"""

import socket
import sys
import time

IDENTIFY = bytes((1, 8, 8, 8)) + bytes((0, 0, 0, 1, 0)) + bytes(7)


def connect(kind, path):
    s = socket.socket(socket.AF_UNIX, kind)
    s.settimeout(60)
    s.connect(path)
    return s


def main():
    cci = connect(socket.SOCK_SEQPACKET, sys.argv[1])
    control = connect(socket.SOCK_STREAM, sys.argv[2])
    end = time.monotonic() + float(sys.argv[3])
    longest = 0.0
    while time.monotonic() < end:
        for s, ask in ((cci, IDENTIFY), (control, b'{"v": 1, "cmd": "hello"}\n')):
            begin = time.monotonic()
            s.send(ask)
            if not s.recv(65536):
                sys.exit('closed')
            longest = max(longest, time.monotonic() - begin)
        time.sleep(0.02)
    print(int(longest * 1000))


main()
