# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""The cryptography of IDE for CXL.cachemem flits (wire-formats.md 5): one MAC epoch under
AES-256-GCM, of Standard and PBR flits (which look alike) or of latency-optimised ones."""

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from . import flit as fl

EPOCH_FLITS = {"containment": 2, "skid": 32}
MAC_LEN = 12


def _crc32c_table():
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table


_CRC32C = np.array(_crc32c_table(), dtype=np.uint32)


class _Shares:
    """What each byte adds to the register, by how many bytes follow it; rows are made as they are needed."""

    def __init__(self):
        self.rows = _CRC32C[np.newaxis]

    def get(self, length):
        while len(self.rows) < length:
            more = [self.rows[-1]]
            for _ in range(len(self.rows)):
                more.append(more[-1] >> np.uint32(8) ^ _CRC32C[more[-1] & np.uint32(255)])
            self.rows = np.concatenate((self.rows, more[1:]))
        return self.rows[length - 1::-1] if length else self.rows[:0]


_SHARES = _Shares()


def crc32c(data):
    """The register is linear in the bytes: their shares are added. It begins as the first four inverted."""
    data = np.frombuffer(bytes(data), dtype=np.uint8)
    first = min(4, len(data))
    begins = np.concatenate((data[:first] ^ np.uint8(255), data[first:]))
    shares = _SHARES.get(len(data))[np.arange(len(data)), begins]
    return int(np.bitwise_xor.reduce(shares)) ^ (0xFFFFFFFF >> 8 * first) ^ 0xFFFFFFFF


def iv(counter):
    return b"\x80\0\0\0" + counter.to_bytes(8, "big")


def aad_word(flit):
    crd = int.from_bytes(flit[240:242], "little")
    word = crd if fl.is_ide_mac(flit) else flit[2] & 15 | crd << 4
    return word.to_bytes(4, "little")


def poison_word(offset):
    return offset.to_bytes(4, "little")


class _Standard:
    """Where slots 1-14 are, and how they come to stand in P (wire-formats.md 5.2)."""

    @staticmethod
    def slots(flit):
        return bytes(flit[16:240])

    @staticmethod
    def put_slots(flit, text):
        flit[16:240] = text


class _Lopt(_Standard):
    """Slot 7 lies in two parts and is joined; slot 8 has 12 bytes, in two parts, and a pad."""

    @staticmethod
    def slots(flit):
        return bytes(flit[16:122] + flit[138:144] + flit[128:138] + flit[242:244] + bytes(4)
                     + flit[144:240])

    @staticmethod
    def put_slots(flit, text):
        flit[16:122], flit[138:144] = text[:106], text[106:112]
        flit[128:138], flit[242:244] = text[112:122], text[122:124]
        flit[144:240] = text[128:]


STANDARD, LOPT = _Standard(), _Lopt()


def covered(flit, layout=STANDARD):
    """The flit's share of P (or of the ciphertext), with zeros in the pads."""
    slots = layout.slots(flit)
    if fl.is_ide_mac(flit):
        return slots
    return bytes([0, 0, flit[2] & 0xF0]) + bytes(flit[3:16]) + slots


def put_covered(flit, text, layout=STANDARD):
    """Write a share of P or ciphertext back into a flit; the pads are dropped."""
    layout.put_slots(flit, text[-224:])
    if not fl.is_ide_mac(flit):
        flit[2] = flit[2] & 15 | text[2] & 0xF0
        flit[3:16] = text[3:16]


class Epoch:
    """One MAC epoch: AAD words and P gathered in order, and the key stream to go with them."""

    def __init__(self, key, counter, pcrc, layout=STANDARD):
        self.key, self.counter, self.pcrc, self.layout = key, counter, pcrc, layout
        self.aad, self.plain = bytearray(), bytearray()
        self.flits = 0
        # GCM encrypts from counter block 2 on.
        start = iv(counter) + (2).to_bytes(4, "big")
        self._stream = Cipher(algorithms.AES(key), modes.CTR(start)).encryptor()

    def poison(self, offset):
        """A Poison message, told just before the protocol flit that follows it."""
        self.aad += poison_word(offset)

    def seal(self, flit):
        """Encrypt a protocol flit in place."""
        plain = covered(flit, self.layout)
        self._take(flit, plain)
        put_covered(flit, self._stream.update(plain), self.layout)

    def open(self, flit):
        """Decrypt a protocol flit in place."""
        put_covered(flit, self._stream.update(covered(flit, self.layout)), self.layout)
        self._take(flit, covered(flit, self.layout))

    def _take(self, flit, plain):
        self.aad += aad_word(flit)
        self.plain += plain
        self.flits += 1

    def tag(self):
        """The whole 16-byte GCM tag, made from scratch out of AAD and P."""
        plain = bytes(self.plain)
        if self.pcrc:
            plain += crc32c(plain).to_bytes(4, "little")
        return AESGCM(self.key).encrypt(iv(self.counter), plain, bytes(self.aad))[-16:]

    def next(self):
        """The epoch that follows under the same key."""
        return Epoch(self.key, self.counter + 1, self.pcrc, self.layout)

    def mac(self):
        return self.tag()[:MAC_LEN]


def read_key_file(path):
    """{('rxl', spid, dpid, vc, session) or ('cxl', mac): [keys]}. A further line for the same
    stream is the key that its next IDE.Start takes."""
    keys = {}
    with open(path, encoding="ascii") as src:
        for line in src:
            words = line.split("#")[0].split()
            if not words:
                continue
            if words[0] == "rxl" and len(words) == 6:
                name = ("rxl",) + tuple(int(w, 16) for w in words[1:5])
            elif words[0] == "cxl" and len(words) == 3:
                name = ("cxl", bytes.fromhex(words[1].replace(":", "")))
            else:
                raise ValueError(f"{path}: cannot read {line.strip()!r}")
            key = bytes.fromhex(words[-1])
            if len(key) != 32:
                raise ValueError(f"{path}: a key is 64 hex digits")
            keys.setdefault(name, []).append(key)
    return keys
