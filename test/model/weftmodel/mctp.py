# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""MCTP packets and their serial form (fabric.md 4.2)."""

from collections import namedtuple

FM_API, TYPE3_CCI = 7, 8
BASELINE = 64                   # bytes behind the header that every link takes
FLAG, ESCAPE = 0x7E, 0x7D

Packet = namedtuple("Packet", "dest source som eom seq owner tag body")
Message = namedtuple("Message", "dest source owner tag type data")


class Malformed(Exception):
    pass


def need(condition, text):
    if not condition:
        raise Malformed(text)


def message_type(opcode):
    return FM_API if 0x51 <= opcode >> 8 <= 0x59 else TYPE3_CCI


def put_packet(p):
    return bytes([1, p.dest, p.source, (p.som and 0x80) | (p.eom and 0x40) | p.seq << 4 |
                  (p.owner and 8) | p.tag]) + p.body


def get_packet(data):
    need(len(data) >= 4, "no header")
    need(data[0] == 1, "version")
    flags = data[3]
    return Packet(data[1], data[2], flags >> 7, flags >> 6 & 1, flags >> 4 & 3, flags >> 3 & 1,
                  flags & 7, bytes(data[4:]))


def split(message, mtu=BASELINE):
    """The packets of a message; the first byte of its body is the type."""
    body = bytes([message.type]) + message.data
    parts = [body[i:i + mtu] for i in range(0, len(body), mtu)]
    return [put_packet(Packet(message.dest, message.source, n == 0, n == len(parts) - 1, n % 4,
                              message.owner, message.tag, part))
            for n, part in enumerate(parts)]


def join(packets):
    """The message of its packets."""
    packets = [get_packet(p) for p in packets]
    need(packets, "nothing")
    first = packets[0]
    for n, p in enumerate(packets):
        need(p.som == (n == 0) and p.eom == (n == len(packets) - 1), "start and end")
        need(p.seq == (first.seq + n) % 4, "sequence")
        need(p[:2] == first[:2] and (p.owner, p.tag) == (first.owner, first.tag), "whose")
    body = b"".join(p.body for p in packets)
    need(body and not body[0] & 0x80, "integrity check or no type")
    return Message(first.dest, first.source, first.owner, first.tag, body[0], body[1:])


def answer_to(message, data):
    """The responder's: ids change places, the tag stays, its owner bit goes."""
    return Message(message.source, message.dest, 0, message.tag, message.type, data)


# ---- serial ------------------------------------------------------------------------------


def fcs(data):
    """Division by the polynomial 8408h, lowest bit first, from FFFFh; nothing at the end."""
    rest = 0xFFFF
    for bit in (byte >> i & 1 for byte in data for i in range(8)):
        rest = rest >> 1 ^ (0x8408 if (rest ^ bit) & 1 else 0)
    return rest


def put_frame(packet):
    assert 0 < len(packet) < 256
    escaped = packet.replace(b"\x7d", b"\x7d\x5d").replace(b"\x7e", b"\x7d\x5e")
    return (bytes([FLAG, 1, len(packet)]) + escaped +
            fcs(bytes([1, len(packet)]) + packet).to_bytes(2, "big") + bytes([FLAG]))


def get_frame(data):
    """The packet of one frame, flags included."""
    need(len(data) >= 6 and data[0] == data[-1] == FLAG, "flags")
    need(data[1] == 1 and data[2] > 0, "revision or length")
    packet, at = b"", 3
    while len(packet) < data[2]:
        need(at < len(data) - 3, "too short")
        if data[at] == ESCAPE:
            at += 1
            need(data[at] in (0x5D, 0x5E), "escape")
            packet += bytes([data[at] ^ 0x20])
        else:
            need(data[at] != FLAG, "flag inside")
            packet += data[at:at + 1]
        at += 1
    need(at == len(data) - 3, "too long")
    need(int.from_bytes(data[at:at + 2], "big") == fcs(data[1:3] + packet), "FCS")
    return packet
