#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""A manager of a live fabric by the CCI sockets of weftd: weftd_cci.py FOLDER flip SECONDS TABLES | fill TABLES | gfd.

flip reads the tables of all switches into the file TABLES, and then sends the traffic of h0 and g0 by one
way and the other, in turn. fill writes them to switches that have
none, and gives the memory of g0 to h0. gfd gives and takes memory of g0 and
listens to its reports. See weftd_cci_test.sh.
"""

import glob
import json
import socket
import struct
import sys
import time

FM, UUID = 0xF00, b'test manager'.ljust(16, b'\0')
HOST, GFD, ROWS = 0x101, 0x200, 4095


class Component:
    """One component, with a connection of its own."""

    def __init__(self, folder, name):
        self.name, self.tag, self.reports = name, 0, []
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.settimeout(10)
        self.socket.connect('%s/cci-%s.sock' % (folder, name))

    def ask(self, opcode, payload=b'', mctp_type=8):
        """Return code and payload of the response."""
        self.tag = (self.tag + 1) % 256
        head = bytes((0, self.tag, 0)) + struct.pack('<HI', opcode, len(payload))[:5] + bytes(4)
        self.socket.send(bytes((1, 8, mctp_type, 8)) + head + payload)
        rsp = self.socket.recv(2048)
        while rsp[4] == 0:  # a request of its own
            self.reports.append(rsp[4:])
            rsp = self.socket.recv(2048)
        if rsp[:4] != bytes((1, 8, mctp_type, 0)) or rsp[4] != 1 or rsp[5] != self.tag:
            sys.exit('%s: %04x: got %s' % (self.name, opcode, rsp[:16].hex()))
        return struct.unpack('<H', rsp[12:14])[0], rsp[16:]

    def must(self, opcode, payload=b'', rc=0):
        got, rsp = self.ask(opcode, payload, 7 if opcode >> 8 >= 0x51 else 8)
        while got == 1:  # in the background: a host has requests open
            status = self.ask(0x0002)[1]
            if not status[0] & 1:
                got = struct.unpack('<H', status[4:6])[0]
        if got != rc:
            sys.exit('%s: %04x: expected code %d, got %d' % (self.name, opcode, rc, got))
        return rsp

    def claim(self, pid):
        self.must(0x5700, rc=3)  # nobody but the owner
        self.must(0x0701, bytes((0,)) + struct.pack('<H', FM) + UUID + struct.pack('<H', pid))
        self.must(0x5700)

    def drt(self):
        rows = b''
        for start in range(0, ROWS, 508):
            rows += self.must(0x5708, struct.pack('<BBHH', 0, 0, min(508, ROWS - start), start))[8:]
        return rows

    def set_drt(self, start, rows):
        for at in range(0, len(rows), 2 * 509):
            part = rows[at:at + 2 * 509]
            self.must(0x5709, struct.pack('<BBHH', 0, 0, len(part) // 2, start + at // 2) + part)


def judge_partners(switches):
    """Each link between switches is seen from both ends, and says the same."""
    ident = {s.must(0x0001)[:16]: s for s in switches.values()}
    for s in switches.values():
        n = s.must(0x5100)[2]
        for p in range(n):
            block = s.must(0x5702, bytes((1, p)))[4:]
            far = ident.get(block[4:20])
            if far is not None:
                back = far.must(0x5702, bytes((1, block[1])))[4:]
                if ident.get(back[4:20]) is not s or back[1] != p:
                    sys.exit('%s port %d: %s port %d does not lead back' % (s.name, p, far.name, block[1]))


def capacity(group, policy, length, extents=b''):
    """Payload of 4907h, or of 4908h with policy as flags."""
    head = struct.pack('<HBBQ16sII', group, policy, 0, length, bytes(16), len(extents) // 40, 4)
    return head + extents


def extent(dpa, length):
    return struct.pack('<QQ24x', dpa, length)


def listed(rsp):
    """Extents of a response to 4904h, 4907h, 4908h."""
    count = struct.unpack('<I', rsp[8:12])[0]
    return [struct.unpack('<QQ', rsp[24 + 40 * i:40 + 40 * i]) for i in range(count)]


def until_circled(folder):
    """Wait until the daemon has ended what goes in a circle: 64 switches take longer than 5701h waits, under load."""
    with socket.socket(socket.AF_UNIX) as ctl:
        ctl.settimeout(10)
        ctl.connect(glob.glob(folder + '/weftd-*.ctl')[0])
        lines, until = ctl.makefile('rw'), time.monotonic() + 10
        while True:
            print('{"v": 1, "cmd": "state"}', file=lines, flush=True)
            if json.loads(lines.readline())['result']['cci']['links']['circled'] != 0:
                return
            if time.monotonic() > until:
                sys.exit('what goes in a circle does not end')


def judge_crawl(s, folder):
    """s0 sends on for its manager (5701h): by a port, to a PID, through s1 to s3, and not further."""
    def message(opcode, payload=b''):
        return bytes(3) + struct.pack('<HI', opcode, len(payload))[:5] + bytes(4) + payload

    def crawl(target, kind, inside):
        return struct.pack('<HBBH', target, kind, 0, len(inside)) + inside

    def inside(rsp):
        """Return code and payload of the message in an answer."""
        if struct.unpack('<H', rsp[:2])[0] != len(rsp) - 4 or rsp[4] != 1:
            sys.exit('an answer in an answer says %s' % rsp.hex())
        return struct.unpack('<H', rsp[12:14])[0], rsp[16:]

    identify = message(0x0001)
    for way in (crawl(1, 0, identify), crawl(2, 1, identify)):
        if inside(s['s0'].must(0x5701, way)) != (0, s['s1'].must(0x0001)):
            sys.exit('s0 does not reach s1')
    # Ports of s1: to s0, to s3.
    rc, rsp = inside(s['s0'].must(0x5701, crawl(1, 0, message(0x5701, crawl(1, 0, identify)))))
    if rc != 0 or inside(rsp) != (0, s['s3'].must(0x0001)):
        sys.exit('s0 does not reach s3: %d' % rc)
    for name in ('s1', 's2', 's3'):
        s[name].set_drt(FM, bytes((1, 0)))   # answers go back by tables, too
    if inside(s['s0'].must(0x5701, crawl(4, 1, message(0x5708, struct.pack('<BBHH', 0, 0, 400, 0))))) != \
            (0, s['s3'].must(0x5708, struct.pack('<BBHH', 0, 0, 400, 0))):
        sys.exit('a long answer does not come back')
    # A PID that all four lead to each other for, in a circle: 5701h gives up, and so does the last of 64 switches.
    for name, port in (('s1', 1), ('s3', 1), ('s2', 0), ('s0', 1)):
        s[name].set_drt(0x900, bytes((1, port)))
    s['s0'].must(0x5701, crawl(0x900, 1, identify), rc=5)
    until_circled(folder)
    for name in ('s0', 's1', 's2', 's3'):
        s[name].set_drt(0x900, bytes(2))
    three = crawl(1, 0, message(0x5701, crawl(1, 0, message(0x5701, crawl(2, 0, identify)))))
    s['s0'].must(0x5701, three, rc=3)
    s['s0'].must(0x5701, crawl(0, 0, identify), rc=2)     # to a host
    s['s0'].must(0x5701, crawl(0x999, 1, identify), rc=2)  # nowhere


def gfd(folder):
    """Under traffic: h0 has the first 512 KiB, group 0; h1 may reach nothing of it, and tries."""
    g = Component(folder, 'g0')
    g.must(0x4900, rc=3)
    g.must(0x0701, bytes((0,)) + struct.pack('<H', FM) + UUID + struct.pack('<H', GFD))
    who = g.must(0x4900)
    region = g.must(0x4902, bytes((0, 0, 1, 0)))[4:]
    if struct.unpack('<H', who[2:4])[0] != 31 or struct.unpack('<QQQQ', region[:32]) != (0, 1, 1 << 20, 4096):
        sys.exit('identity %s, region %s' % (who[:12].hex(), region[:40].hex()))

    def has(group, want):
        got = listed(g.must(0x4904, struct.pack('<HHII', group, 0, 9, 0)))
        if got != want:
            sys.exit('group %d has %r, expected %r' % (group, got, want))

    def sat():
        return struct.unpack('<II', g.must(0x490C, struct.pack('<HHH', 0, 2, 0x101))[6:])

    has(0, [(0, 512 << 10)])
    free = (768 << 10, 64 << 10)
    if listed(g.must(0x4907, capacity(5, 0, 64 << 10))) != [free]:
        sys.exit('not the lowest free blocks')
    has(5, [free])
    g.must(0x4907, capacity(5, 2, 4096, extent(0, 4096)), rc=0x1E)   # the memory of group 0
    g.must(0x4907, capacity(5, 0, 4000), rc=2)
    g.must(0x4907, capacity(5, 0, 1 << 20), rc=0x1D)
    g.must(0x490D, struct.pack('<HHI', 1, 0x101, 1 | 1 << 5))
    if sat() != (33, 2):
        sys.exit('SAT: %r' % (sat(),))
    g.must(0x4908, capacity(5, 1, 64 << 10, extent(*free)))
    has(5, [])
    has(0, [(0, 512 << 10)])
    begin = time.monotonic()
    while time.monotonic() < begin + 1:
        g.must(0x0001)
    reports = [r[12:] for r in g.reports if struct.unpack('<H', r[3:5])[0] == 0x0107]
    # h1 is refused all the time, and a requester is told of once in 100 ms.
    if not 3 <= len(reports) <= 60:
        sys.exit('%d reports' % len(reports))
    for r in reports:
        pid, _, what, trigger, rpid = struct.unpack('<HHBBH', r[:8])
        if (pid, what, trigger, rpid) != (GFD, 2, 8, 0x102):
            sys.exit('a report says %s' % r.hex())


def give_memory(folder):
    """The memory of g0, which is nobody's, to h0: announced, opened, said to be there."""
    g, h = Component(folder, 'g0'), Component(folder, 'h0')
    for c, pid in ((g, GFD), (h, HOST)):
        c.must(0x0701, bytes((0,)) + struct.pack('<H', FM) + UUID + struct.pack('<H', pid))
    row = struct.pack('<HBBQQ', GFD, 3, 0, 0, 1 << 20)
    if h.must(0xC100) != bytes(4):
        sys.exit('a host has memory that nobody gave it')
    h.must(0xC101, bytes((0, 0, 1, 0)) + row[:2] + bytes((31,)) + row[3:], rc=2)
    h.must(0xC101, bytes((0, 0, 2, 0)) + row, rc=2)
    h.must(0xC101, bytes((0, 0, 1, 0)) + row[:12] + struct.pack('<Q', 2 << 20), rc=2)
    h.must(0xC101, struct.pack('<BBHHBBQQ', 0, 0, 1, 0x999, 3, 0, 0, 4096), rc=2)
    h.must(0xC101, bytes((1, 0, 1, 0)) + row)
    if h.must(0xC100) != bytes(4):
        sys.exit('what is announced is said to be there')
    g.must(0x4907, capacity(3, 1, 1 << 20))
    g.must(0x490D, struct.pack('<HHI', 1, HOST, 1 << 3))
    h.must(0xC101, bytes((0, 0, 1, 0)) + row)
    if h.must(0xC100) != bytes((1, 0, 1, 0)) + row:
        sys.exit('a host does not have what it was told')


def until_up(switch, port, want):
    """Wait until a port's link is up, or down."""
    until = time.monotonic() + 10
    while (switch.must(0x5101, bytes((1, port)))[4 + 11] != 0) != want:
        if time.monotonic() > until:
            sys.exit('%s port %d: expected it to be %s' % (switch.name, port, 'up' if want else 'down'))
        time.sleep(0.02)


def reset_ports(switch):
    """5102h under load: held for a while, let go, and reset, which ends by itself."""
    until_up(switch, 0, True)
    switch.must(0x5102, bytes((9, 0)), rc=2)
    switch.must(0x5102, bytes((0, 3)), rc=2)
    switch.must(0x5102, bytes((0, 0)))
    switch.must(0x5102, bytes((0, 2)))  # it stays asserted
    time.sleep(0.2)
    until_up(switch, 0, False)
    until_up(switch, 1, True)
    switch.must(0x5102, bytes((0, 1)))
    until_up(switch, 0, True)
    switch.must(0x5102, bytes((0, 2)))
    until_up(switch, 0, False)
    until_up(switch, 0, True)


def main():
    folder, verb = sys.argv[1:3]
    if verb == 'gfd':
        gfd(folder)
        return
    switches = {name: Component(folder, name) for name in ('s0', 's1', 's2', 's3')}
    for i, s in enumerate(switches.values()):
        s.claim(i + 1)
    judge_partners(switches)
    if verb == 'fill':
        with open(sys.argv[3], encoding='utf-8') as f:
            tables = json.load(f)
        for name, s in switches.items():
            if any(s.drt()):
                sys.exit('%s: expected an empty table' % name)
            s.set_drt(0, bytes.fromhex(tables[name]))
        give_memory(folder)
        return
    with open(sys.argv[4], 'w', encoding='utf-8') as f:
        json.dump({name: s.drt().hex() for name, s in switches.items()}, f)
    flips, until = 0, time.monotonic() + float(sys.argv[3])
    while time.monotonic() < until:
        # s0: h0, s1, s2; s3: s1, s2, g0. Both ways are whole at any time.
        switches['s0'].set_drt(GFD, bytes((1, 1 + flips % 2)))
        switches['s3'].set_drt(HOST, bytes((1, flips // 2 % 2)))
        flips += 1
    judge_crawl(switches, folder)
    reset_ports(switches['s0'])
    print('%d changes' % (2 * flips))


main()
