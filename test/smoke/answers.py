#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""Ask the sockets of a daemon in turn: answers.py CCI-SOCKET CONTROL-SOCKET ROUNDS

Identify (0001h) and `hello`, so many times; 0: until SIGTERM. Status 0: each was answered. How long that took is not its matter.
"""

import signal
import socket
import sys
import time

IDENTIFY = bytes((1, 8, 8, 8)) + bytes((0, 0, 0, 1, 0)) + bytes(7)
stopped = []


def connect(kind, path):
    s = socket.socket(socket.AF_UNIX, kind)
    s.settimeout(60)
    s.connect(path)
    return s


def main():
    signal.signal(signal.SIGTERM, lambda *_: stopped.append(True))
    cci = connect(socket.SOCK_SEQPACKET, sys.argv[1])
    control = connect(socket.SOCK_STREAM, sys.argv[2])
    rounds = int(sys.argv[3])
    done = 0
    while not stopped and (rounds == 0 or done < rounds):
        for s, ask in ((cci, IDENTIFY), (control, b'{"v": 1, "cmd": "hello"}\n')):
            s.send(ask)
            if not s.recv(65536):
                sys.exit('closed')
        done += 1
        time.sleep(0.02)
    if done == 0:
        sys.exit('nothing was asked')


main()
