#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Seeds of the fuzz targets, into test/fuzz/corpus: small inputs that get behind the first checks,
# written from the formats. Targets mend checks themselves where their first byte says so.
import os
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
VECTORS = os.path.join(HERE, "..", "vectors")


def seed(target, name, data):
    folder = os.path.join(HERE, "corpus", target)
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name), "wb") as f:
        f.write(data)


def frame(n, kind=0, mode=1, spid=1, dpid=2, payload=None):
    head = bytes(range(12)) + struct.pack(">HBBBBHHIIH", 0x88B5, 0x10 | kind, mode, n, 0, spid, dpid,
                                          0xC0FFEE, 1, 0)
    return head + (payload if payload is not None else bytes(range(256)) * n)


def wire():
    for name, gone, f in (("rxl_one", 0, frame(1)), ("rxl_three", 2, frame(3)),
                          ("cxl", 1, frame(2, mode=0, spid=0xFFF, dpid=0xFFF)),
                          ("control", 0, frame(0, kind=1, payload=b"\1\1\7"))):
        seed("wire", name, b"\3" + struct.pack("<Q", gone) + f)


TALK = {2: b"\1", 3: b"\1", 4: b"\x23", 5: b"\0", 6: b"\0", 8: b"\0\1", 9: b"node" + bytes(12),
        10: b"\1\0"}
IDE = {17: b"\6\5"}
BIG = {24: b"\x21" * 8, 25: b"\x31" * 8}
MESSAGES = {  # name: type, records
    "hello": (1, {**TALK, 7: b"\0", 15: b"\0"}),
    "hello_ide": (1, {**TALK, 7: b"\1", 15: b"\0", **IDE, 18: b"r" * 32, **BIG}),
    "welcome": (2, {**TALK, 7: b"\0", 13: b"\0\0\0\5", 15: b"\0", **BIG}),
    "welcome_ide": (2, {**TALK, 7: b"\2", 13: b"\0\0\0\5", 15: b"\0", **IDE, 18: b"R" * 32, 19: b"p" * 16}),
    "refuse": (3, {**TALK, 7: b"\0", 11: b"\3"}),
    "goodbye": (4, {}),
    "goodbye_signed": (4, {22: bytes(7) + b"\1", 23: b"m" * 16}),
    "ready": (5, {}),
    "ready_proven": (5, {20: b"p" * 16}),
    "keepalive": (6, {12: b"\1"}),
    "reset": (7, {}),
    "loss": (8, {8: b"\0\1", 9: b"n" * 16, 14: b"\0\0\0\7"}),
    "challenge": (9, {21: b"\7" * 8}),
    "gone": (10, {20: b"p" * 16, 21: b"\7" * 8}),
    "announce": (11, {26: b"f" * 32, 27: b"n" * 32, 28: b"i" * 8, 29: bytes(8), 30: bytes(4)}),
    "announce_proven": (11, {20: b"p" * 16, 26: b"f" * 32, 27: b"n" * 32, 28: b"i" * 8, 29: b"j" * 8,
                             30: b"\0\1\2\3"}),
    "unknown_record": (7, {200: b"later"}),
}


def control():
    for name, (kind, records) in MESSAGES.items():
        body = b"\1\1" + bytes([kind])
        for t in sorted(records):
            body += bytes([t, len(records[t])]) + records[t]
        seed("control", name, b"\1" + body)
        if name == "hello":
            body = body[:-1] + b"\1"
            seed("control", "hello_padded", b"\xff" + body)


def block(kind, body, e="<"):
    body += bytes(-len(body) % 4)
    return struct.pack(e + "II", kind, 12 + len(body)) + body + struct.pack(e + "I", 12 + len(body))


def pcap():
    packet = frame(1)[:64]
    for name, e, magic in (("usec_le", "<", 0xA1B2C3D4), ("nsec_le", "<", 0xA1B23C4D),
                           ("usec_be", ">", 0xA1B2C3D4), ("nsec_be", ">", 0xA1B23C4D)):
        f = struct.pack(e + "IHHIIII", magic, 2, 4, 0, 0, 65535, 1)
        for t in (1, 2):
            f += struct.pack(e + "IIII", t, 5, len(packet), 288) + packet
        seed("pcap", name, b"\0" + f)
    for name, e in (("ng_le", "<"), ("ng_be", ">")):
        f = block(0x0A0D0D0A, struct.pack(e + "IHHq", 0x1A2B3C4D, 1, 0, -1), e)
        f += block(1, struct.pack(e + "HHIHHB3xHHqHH", 1, 0, 0, 9, 1, 9, 14, 8, -5, 0, 0), e)
        f += block(6, struct.pack(e + "IIIII", 0, 1, 2, len(packet), 288) + packet, e)
        f += block(2, struct.pack(e + "HHIIII", 0, 0, 1, 2, 8, 8) + packet[:8], e)
        f += block(3, struct.pack(e + "I", 12) + packet[:12], e)
        f += block(5, struct.pack(e + "III", 0, 1, 2), e) + f[:28]
        seed("pcap", name, b"\7" + f)


def memory(kind, length_dw, addr, payload=b"", requester=0x0102, tag=5):
    return struct.pack(">BBHHBBQ", kind, tag >> 8 & 3, length_dw, requester, tag & 0xFF, 0xFF,
                       addr) + payload


def completion(kind, length_dw, byte_count, payload=b"", status=0, requester=0x0102, tag=5):
    return struct.pack(">BBHHHHBB", kind, 0, length_dw, 0x0300, status << 13 | byte_count, requester, tag,
                       0) + payload


PTH = bytes([0xC0, 0x10, 0x02, 0])
LINE = bytes(range(64))


def io():
    tlps = [memory(0x20, 16, 0x1000), memory(0x60, 16, 0x2000, LINE), completion(0x0A, 0, 4),
            completion(0x4A, 16, 64, LINE), b"\x91\0\0\7" + memory(0x60, 16, 0x3000, LINE)]
    for name, first in (("mixed", 0), ("writes", 1)):
        row = b"".join(PTH + t for t in tlps[first:]) * 3
        seed("io", name, b"\x10" + row + bytes(-len(row) % 240))


def uio():
    seed("uio", "read", b"\0" + memory(0x22, 16, 0x1000))
    seed("uio", "write", b"\1" + memory(0x62, 16, 0x1000, LINE))
    seed("uio", "cpl", b"\0" + completion(0x0F, 0, 4))
    seed("uio", "cpl_refused", b"\0" + completion(0x0F, 0, 4, status=1))
    seed("uio", "cpld", b"\0" + completion(0x4F, 16, 64, LINE))
    seed("uio", "mrd", b"\0" + memory(0x20, 16, 0x1000))


def ats():
    seed("ats", "read", b"\0" + memory(0x20, 16, 0x1000))
    seed("ats", "write", b"\0" + memory(0x60, 16, 0x1000, LINE))
    seed("ats", "request", b"\1" + memory(0x20, 2 | 1 << 10, 0x1000))
    seed("ats", "cpl", b"\0" + completion(0x0A, 0, 4))
    seed("ats", "cpld", b"\0" + completion(0x4A, 4, 16, struct.pack(">QQ", 0x1003, 0x3803)))
    for name, kind, code, tail in (
            ("invalidate", 0x72, 0x01, struct.pack(">QQ", 0, 0x1000)), ("invalidated", 0x32, 0x02, bytes(8)),
            ("page", 0x30, 0x04, struct.pack(">Q", 0x1007)), ("page_group", 0x32, 0x05, bytes(8))):
        seed("ats", name, b"\0" + struct.pack(">BBHHBB", kind, 0, 2 if kind == 0x72 else 0, 0x0102, 0,
                                              code) + tail)
        seed("ats", name + "_pasid", b"\0\x91\0\0\7" + struct.pack(
            ">BBHHBB", kind, 0, 2 if kind == 0x72 else 0, 0x0102, 0, code) + tail)


def unpack():
    # Slots of the model in flits: a kind's last vectors behind an empty H-slot.
    forms = {"hbr": [], "pbr": []}
    with open(os.path.join(VECTORS, "slots.txt")) as f:
        for line in f:
            words = line.split()
            if words and words[0] == "G":
                forms[words[1]].append(bytes.fromhex(words[3]))
    for form, slots in forms.items():
        for i in range(0, len(slots), 14):
            g = b"".join(slots[i:i + 14])
            seed("unpack", "%s_%d" % (form, i // 14),
                 bytes([form == "pbr"]) + b"\x80\0" + bytes(14) + g + bytes(226 - len(g)))


def codec():
    flits = bytes(i * 7 & 0xFF for i in range(512))
    seed("codec", "clean", b"\x09" + bytes(24) + flits)
    seed("codec", "damaged", b"\x19\0\3\1" + bytes(21) + flits)
    seed("codec", "burst", b"\x09\0\3\1\0\4\1\0\5\1\0\6\1" + bytes(12) + flits)
    seed("codec", "random", b"\x01" + bytes(24) + flits)


def impair():
    for name, text in (("ber", "seed=7,ber=1e-6"), ("bits", "bits=2@0.01"), ("burst", "burst=4@1e-3"),
                       ("frames", "drop=0.1,dup=0.1,reorder=0.1,reorder_us=10.5,replay=0.1,history=9"),
                       ("delay", "delay_us=100@0.5,jitter_us=1.25"), ("bad", "drop=2,nothing=1"),
                       ("channel", "channel=0.002,uncorrectable=0.001")):
        seed("impair", name, text.encode())


def topo():
    folder = os.path.join(VECTORS, "topo")
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), "rb") as f:
            seed("topo", name, f.read())


def scripts():
    # Steps are bytes of flags; random ones of a fixed row go everywhere.
    state = 1
    for i in range(8):
        steps = bytearray()
        for _ in range(200):
            state = state * 1103515245 + 12345 & 0x7FFFFFFF
            steps.append(state >> 16 & 0xFF)
        seed("session", "steps_%d" % i, bytes([i & 3]) + steps)
        seed("llr", "steps_%d" % i, bytes([i | 0x70]) + steps)


def ide():
    send, pair, deliver, close, start = 8 << 3 | 1, 2, 0x33, 0x47, 0x27
    other, key, stop, poison, last, wrong = 0x07, 0x17, 0x37, 0x1D, 0x0E, 0x04
    good = bytes([send, deliver, pair, poison, pair, last, deliver, close, deliver, other, wrong, key, start,
                  send, 0xF9, deliver, 0xF3, deliver, close, stop, deliver, send, key, start, send, close, deliver])
    for modes in range(0, 64, 3):
        seed("ide", "good_%02x" % modes, bytes([modes]) + good * 2)
    for i, damage in enumerate((b"\0\3\x20\x10", b"\x08\2\2\x88", b"\x10\1", b"\x18\1", b"\x20\0", b"\x28\2",
                                b"\x30\3", b"\x38\1")):
        seed("ide", "bad_%d" % i, bytes([i * 9 & 0x3F, send, send]) + damage + bytes([deliver, send, 0xFB, close, 0xF3]))


def km():
    # Capabilities; then how, object, port: keys, starts, changes of keys and stops.
    steps = bytes([0x20, 0, 0, 0x30, 2, 0, 0x10, 4, 0, 0x38, 2, 0, 0x18, 4, 0, 0x10, 5, 0, 0x08, 7, 1, 0x21, 2, 1])
    for caps in (0, 0x11, 0x43, 0x73):
        seed("km", "keys_%02x" % caps, bytes([caps]) + steps * 2)
    seed("km", "bytes", b"\x73" + bytes([4, 2]) + struct.pack("<HBHHBBBB", 3, 2, 0x1E98, 9, 0, 2, 0, 0) + bytes(5))
    seed("km", "changed", b"\x73" + b"".join(bytes([0x32, 2, 0, i, 0xFF]) for i in range(0, 60, 3)))


def pbr():
    row = lambda *v: bytes(v)
    allow = b"".join(row(3 | v << 3, p) for v in range(3) for p in range(6))
    for i, port in enumerate((b"\x3F\x1F\x80\x80", b"\x02\x10\x10\0", b"\x75\x07\xFF\xFF")):
        fast = row(0x10, 16, 20) + row(2 | 3 << 4, 0, 0, 1) + row(1 | 2 << 4, 0, 0x0D, 0, 0, 0x01, 0, 1)
        ldst = row(0x18, 32, 34) + row(0x0A | 2 << 4, 0, 3, 0) + row(9 | 1 << 4, 0, 0x0B, 2, 0)
        look = row(4 | 30 << 3, 16, 0, 0, 0, 2, 4 | 31 << 3, 32, 0, 0, 0, 20, 5, 17, 0, 1, 0, 0x15, 16, 1, 2, 3)
        routes = row(0x17, 3, 3, 1, 9) + row(0x1F | 0x30, 3, 0, 2, 0, 2, 1, 1, 7) + \
            b"".join(row(6 | n << 4) + bytes(range(8)) + row(0x0F, m, 0, 0) for n, m in ((0, 0), (1, 0x39)))
        rest = row(7, 0, 0x77, 0, 0x7F, 0) + row(0x17, 1, 0, 3, 5) + row(7, 2, 64, 1, 1) + row(7, 3, 1)
        ask = b"".join(row(0x8E) + b"\x0F" * 8 + row(p, c) + bytes(range(8)) for p in range(4) for c in (0, 3, 12, 16))
        seed("pbr", "port_%d" % i, port + allow + fast + ldst + look + routes + rest + look + ask + row(0x20, 16, 20) + look +
             row(0x8D, 0x5F, 1, 0x0D, 5, 0xA5, 16, 0, 0, 0, 1))


def gfam():
    device = [b"\2\x40\2\x20", b"\1\4\4\x10"]
    for i, knobs in enumerate((0x10, 0x1F, 0, 0x13)):
        dmps = bytes([0x00, 0, 4, 28, 0x08, 8, 2, 26]) + bytes([0x01, 0, 2, 8, 28, 0x09, 8, 2, 4, 26])
        groups = bytes([0x02, 0, 16, 3, 0x02, 32, 4, 1, 0x02, 8, 4, 0xFF, 0x03, 3, 0x0B, 1, 0x0B, 3])
        gdt = bytes([0x04, 2, 0, 0x04, 0, 0, 4, 0, 0x04, 8, 4, 4, 1]) + bytes([0x0C, 1, 3, 0x02, 16, 32, 4, 0])
        looks = b"".join(bytes([6 | 23 << 3, hpa, 0, 0, stride, who]) for hpa in (0, 1, 8, 16)
                         for stride, who in ((2, 0), (20, 9), (22, 0x21)))
        uio = b"".join(bytes([7 | p << 3, hpa, 1, 0, 3, 255]) for p in (0, 1) for hpa in (0, 8, 0x48, 31))
        seed("gfam", "tables_%d" % i, device[i & 1] + bytes([knobs, 0x78 if i < 2 else 0x1C]) + dmps + groups + gdt +
             looks + uio + bytes([5, 1]) + dmps + groups + gdt + looks)
    # From one decoder into the next.
    seed("gfam", "crosses", device[0] + b"\x10\0" + bytes([0, 0, 4, 28, 4, 2, 0, 0, 0, 0, 4, 0, 0, 1, 8, 4, 0,
                                                         7, 0x41, 1, 0, 0, 255, 7, 1, 1, 0, 0, 255]))


def atc():
    state = 7
    for i in range(6):
        steps = bytearray()
        for _ in range(240):
            state = state * 1103515245 + 12345 & 0x7FFFFFFF
            steps.append(state >> 16 & 0xFF)
        seed("atc", "steps_%d" % i, bytes([(i & 1) | 0x1E | i << 5]) + steps)
    # Asked, walked, overtaken by an invalidation, answered; then the old address is used no more.
    seed("atc", "overtaken", b"\x01" + bytes([0, 3, 0x0C, 9, 2, 3, 1, 3, 4, 0x14, 4, 0x0C, 6, 3, 0, 3, 0x0C, 9, 3, 4, 6, 3,
                                              0x16, 3, 0x26, 3, 2, 3, 3, 4, 0x0C, 7, 0x0C, 0x0F, 0x0C, 6, 3]))


def keys():
    key = b"0123456789abcdefABCDEF0123456789" * 2
    for name, text in (("plain", key), ("comment", b"# of a fabric\n \t" + key + b" # end\r\n"), ("short", key[1:]),
                       ("twice", key + b"\n" + key)):
        seed("keys", "psk_" + name, b"\0" + text)
    for name, text in (("both", b"# two streams\nrxl 101 200 0 1 %s\ncxl 02:00:00:00:00:01 %s\n" % (key, key)),
                       ("next", b"rxl fff 0 7 ffffffff %s\nrxl fff 0 7 ffffffff %s # next\n" % (key, key[::-1])),
                       ("again", b"rxl 1 2 3 4 %s\nrxl 1 2 3 4 %s" % (key, key)), ("short", b"cxl 02:00 " + key)):
        seed("keys", "trace_" + name, b"\1" + text)


def words():
    for kind, texts in enumerate(((b"0", b"0x1F", b"18446744073709551615", b"0x"), (b"0.5", b"1e-6", b".25", b"12"),
                                  (b"4096", b"64K", b"2G", b"17592186044416"),
                                  (b"g0,0x1000", b"g0,0x1000,16", b",1", b"g0,1,"),
                                  (b"0-3,8", b"0@0,(1-2)@(0,1)", b"(0-2)@1,5", b"0-1,4-7,1023\n"))):
        for i, text in enumerate(texts):
            seed("words", "kind_%d_%d" % (kind, i), bytes([kind]) + text)


def sig():
    dif = b"dif:512,guard=crc,bg=ffff,app=1,ref=0,remap"
    for i, (mem, wire_domain) in enumerate((
            (b"none", b"crc32c:512"), (b"crc32c:512", b"none"), (dif, b"none"), (b"none", dif),
            (b"crc64:4096", b"crc32:512"), (dif, b"crc64:4160"), (b"bad:1", b"none"), (dif, dif))):
        seed("sig", "domains_%d" % i, bytes([i << 1 | 0x30 | i & 1, 3 * i]) + mem + b"\0" + wire_domain + b"\0" + LINE)


def attach():
    def times(what, n):
        return bytes([what | (n - 1) << 3])

    def begin(sizes, sq, cq):
        return struct.pack("<BII", sizes, sq, cq)

    sleeps, round_ = b"\x1A\1", times(4, 16) + times(5, 16) + b"\6" + times(7, 16)
    # Kinds, lengths and places of the data; those of them that wake a sleeper.
    for i, (sizes, sq, cq) in enumerate(((0, 0, 0), (1, 2**32 - 40, 2**32 - 3), (2, 2**32 - 1, 5), (3, 7, 2**31))):
        full = times(0, 16) + bytes(0x31 * k & 0xFF for k in range(16))
        seed("attach", "rounds_%d" % i, begin(sizes, sq, cq) + (full + sleeps + round_) * 5 +
             times(0, 7) + bytes(range(7)) + (times(4, 2) + times(5, 1) + b"\6" + times(7, 1)) * 4)
    # Bytes of a submission are others: its operation, zeros, handle of a fence, data, length, user word.
    for at, n, v in ((0, 1, 0), (0, 1, 6), (0, 1, 7), (1, 1, 1), (3, 1, 128), (4, 1, 9), (16, 1, 255), (16, 8, 255),
                     (23, 1, 128), (24, 1, 0), (26, 1, 1), (27, 1, 255), (31, 1, 1), (32, 1, 5), (40, 1, 1), (63, 1, 1)):
        seed("attach", "bytes_%d_%d_%d" % (at, n, v), begin(0, 0, 0) + times(0, 2) + b"\0\1" + times(1, n) +
             bytes([2 if at == 4 else 0, at, v]) + times(4, 4) + times(5, 2) + b"\6" + times(7, 2))
    # Tail and head of the rings a little too far and back, with completions that nobody took.
    for i, word in enumerate((0, 1)):
        for by in (1, 16, 17, 0xF0, 0xEF, 0xFF):
            full = times(0, 16) + bytes(16) + times(4, 16) + times(5, 16) + b"\6" + times(0, 1) + b"\0"
            seed("attach", "position_%d_%d" % (i, by), begin(0, 2**32 - 9, 2**32 - 20) + full +
                 bytes([2 | word << 3, by]) + times(4, 20) + b"\6")
    # All over the head, the rings and the data.
    seed("attach", "anywhere", begin(0, 0, 0) + times(0, 8) + bytes(8) + b"".join(
        times(3, 32) + struct.pack(">H", at) + bytes(range(32)) + times(4, 2) for at in (0, 250, 8192, 6000, 4096)))


def cci():
    sys.path.insert(0, os.path.join(HERE, "..", "..", "lib", "cci"))
    import gen_payload  # pylint: disable=import-outside-toplevel

    tables = gen_payload.Tables(os.path.join(HERE, "..", "..", "lib", "cci", "layouts.txt"))
    for index, command in enumerate(tables.commands.values()):
        for is_response, layout in enumerate((command.req, command.rsp)):
            if layout is None or (index + is_response) % 4:
                continue
            data = bytearray(layout.len)
            if layout.list is not None and layout.list.count != "*":
                at = next(f.at for f in layout.fields if f.name == layout.list.count)
                data[at] = 2
            if layout.list is not None:
                data += bytes(range(1, 1 + 2 * layout.list.size))
            seed("cci", "payload_" + layout.name, bytes([0]) + struct.pack("<H", index << 1 | is_response) + data)
    header = bytes([0, 3, 0, 9, 0x57, 8, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0x7E, 0, 1, 0x7D])
    seed("cci", "header", bytes([1]) + header)
    packets = [bytes([1, 9, 8, 0x89, 7]) + header[:7], bytes([1, 9, 8, 0x19]) + header[7:15],
               bytes([1, 9, 8, 0x69]) + header[15:]]
    seed("cci", "packets", bytes([2]) + b"".join(bytes([len(p)]) + p for p in packets))
    seed("cci", "packet", bytes([2, 25, 1, 9, 8, 0xC9, 7]) + header)
    seed("cci", "serial", bytes([3]) + bytes.fromhex(
        "7e0119010908c907000300095708000000000000000001007d5e00017d5da0047e"
        "0111010908c808000000010000000000000000ce027e"))
    cdat = bytes([0, 0, 0, 0, 0x80]) + bytes(11)
    seed("cci", "cdat", bytes([4]) + cdat + bytes([3, 0, 8, 0, 1, 1, 0, 0]) + bytes([0, 0, 24, 0]) + bytes(20) +
         bytes([5, 0, 24, 0]) + bytes(20))
    for n, (kind, dwords, opcode, code) in enumerate(((0x34, 0, 4, 0x80), (0x74, 16, 0, 0x90), (0x74, 8, 0x27, 0xA1),
                                                     (0x34, 0, 0x82, 0xA1))):
        seed("cci", "vdm_%d" % n, bytes([5, kind, 0, 0, dwords, 0, 0, 0, 0x7E, 0, 0, 0x1E, 0x98, 5, dwords, opcode,
                                         code]) + bytes(4 * dwords))
    for index in range(0, 130, 13):
        for n, text in enumerate((b"n=1 start=0x7e entry=[1]", b"tag=000102030405060708090a0b0c0d0e0f", b"msg=0a",
                                  b"entry=[1:2:3,4:5:6]", b"grp=1 extent=[1:2:000102030405060708090a0b0c0d0e0f:3]")):
            seed("cci", "text_%d_%d" % (index, n), bytes([6]) + struct.pack("<H", index << 1) + text)


def management():
    def packet(data, first=0xC8):
        dwords = (len(data) + 3) // 4
        return (bytes([0xC2, 0xFF, 0xFF, 0xFF, 0x74, 0, 0, dwords, 0, 0, -len(data) % 4 << 4, 0x7F, 0, 0, 0x1A, 0xB4,
                       1, 0, 0, first]) + data.ljust(4 * dwords, b"\0"))

    request = bytes([8, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0])
    seed("management", "request", packet(request).ljust(236, b"\0"))
    whole = b"".join(packet(bytes(range(192)), 0x08 | n << 4 | (n == 0) << 7) for n in range(4))
    seed("management", "part", whole + bytes(-len(whole) % 236))
    seed("management", "other", (bytes([0xC2, 0, 0x10, 2, 0x34]) + bytes(15)).ljust(236, b"\0"))


def ide_found():
    seed("ide", "idles_behind_stop", b"\x3F\x41\x47\x37\x41\x17\x27\x41")


def keys_found():
    seed("keys", "trace_signs", b"\1cxl +1:-2:00:00:00:01 " + b"0123456789abcdef" * 4)


def impair_found():
    seed("impair", "probability_off", b"delay_us=100@0.5,jitter_us=1.@0")
    seed("impair", "newline", b"unco\nec=1")


for make in (wire, control, pcap, io, uio, ats, unpack, codec, impair, topo, scripts, ide, km, pbr, gfam, atc, keys, words,
             sig, attach, cci, management, ide_found, keys_found, impair_found):
    make()
