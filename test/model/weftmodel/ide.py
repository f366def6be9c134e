# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""IDE for CXL.cachemem flits (wire-formats 5): MAC epochs under AES-256-GCM.

`Epoch` is the cryptography of one epoch, sealing or opening. `Sender` decides where epochs end
and which flit carries a MAC; `Receiver` follows a stream and says which flits may be handed on.
"""

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from . import flit as fl
from . import messages

EPOCH_FLITS = {"containment": 2, "skid": 32}
MAC_LEN = 12
TRUNCATION_DELAY = 4


def _crc32c_table():
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table


_CRC32C = _crc32c_table()


def crc32c(data):
    reg = 0xFFFFFFFF
    for byte in data:
        reg = reg >> 8 ^ _CRC32C[(reg ^ byte) & 255]
    return reg ^ 0xFFFFFFFF


def iv(counter):
    return b"\x80\0\0\0" + counter.to_bytes(8, "big")


def aad_word(flit):
    crd = int.from_bytes(flit[240:242], "little")
    word = crd if fl.is_ide_mac(flit) else flit[2] & 15 | crd << 4
    return word.to_bytes(4, "little")


def poison_word(offset):
    return offset.to_bytes(4, "little")


def covered(flit):
    """The flit's share of P (or of the ciphertext), with zeros in the pad."""
    if fl.is_ide_mac(flit):
        return bytes(flit[16:240])
    return bytes([0, 0, flit[2] & 0xF0]) + bytes(flit[3:240])


def put_covered(flit, text):
    """Write a share of P or ciphertext back into a flit; the pad is dropped."""
    if fl.is_ide_mac(flit):
        flit[16:240] = text
    else:
        flit[2] = flit[2] & 15 | text[2] & 0xF0
        flit[3:240] = text[3:]


class Epoch:
    """One MAC epoch: AAD words and P gathered in order, and the key stream to go with them."""

    def __init__(self, key, counter, pcrc):
        self.key, self.counter, self.pcrc = key, counter, pcrc
        self.aad, self.plain = bytearray(), bytearray()
        self.flits = 0
        # GCM encrypts from counter block 2 on.
        start = iv(counter) + (2).to_bytes(4, "big")
        self._stream = Cipher(algorithms.AES(key), modes.CTR(start)).encryptor()

    def poison(self, offset):
        self.aad += poison_word(offset)

    def seal(self, flit):
        """Encrypt a protocol flit in place."""
        plain = covered(flit)
        self._take(flit, plain)
        put_covered(flit, self._stream.update(plain))

    def open(self, flit):
        """Decrypt a protocol flit in place."""
        text = self._stream.update(covered(flit))
        put_covered(flit, text)
        self._take(flit, covered(flit))

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

    def mac(self):
        return self.tag()[:MAC_LEN]


class Sender:
    """Seals the flits of one stream. `packer(mac_slot)` makes the next plaintext flit, leaving
    slot 0 alone when mac_slot is true. `emit` gets (epoch counter or 0, plaintext, wire)."""

    def __init__(self, key, mode, pcrc, packer, rng, emit):
        self.size = EPOCH_FLITS[mode]
        self.key, self.pcrc, self.packer, self.rng, self.emit = key, pcrc, packer, rng, emit
        self.epoch = Epoch(key, 1, pcrc)
        self.due = None             # MAC of the full epoch before this one
        self.macs_sent = 0

    def protocol_flit(self):
        carries = self.due is not None and (self.epoch.flits == 1 or self.rng.random() < 0.5)
        flit = self.packer(carries)
        if carries:
            flit[2:16] = messages.llctrl_slot(fl.IDE_LLCTRL, fl.IDE_MAC, self.due)
            self.due = None
            self.macs_sent += 1
        plain, counter = bytes(flit), self.epoch.counter
        self.epoch.seal(flit)
        self.emit(counter, plain, flit)
        if self.epoch.flits == self.size:
            self.due = self._close()

    def _close(self):
        mac = self.epoch.mac()
        self.epoch = Epoch(self.key, self.epoch.counter + 1, self.pcrc)
        return mac

    def can_truncate(self):
        return self.due is None and self.epoch.flits > 0

    def truncate(self):
        """Close a short epoch by IDE.TMAC and the idles that must follow it."""
        left = self.size - self.epoch.flits
        self.control(fl.IDE_TMAC, self._close())
        self.macs_sent += 1
        for _ in range(min(left, TRUNCATION_DELAY)):
            self.control(fl.IDE_IDLE)

    def control(self, subtype, payload=b""):
        flit = bytearray(fl.SIZE)
        flit[0:2] = fl.header(fl.CACHEMEM)
        flit[2:16] = messages.llctrl_slot(fl.IDE_LLCTRL, subtype, payload)
        self.emit(0, bytes(flit), flit)


class Receiver:
    """One stream as a receiver sees it. `accept` returns the flits to hand on, in order."""

    def __init__(self, key, mode, pcrc):
        self.key, self.pcrc = key, pcrc
        self.size = EPOCH_FLITS[mode]
        self.hold = mode == "containment"
        self.insecure = False
        self.good = self.bad = self.released = 0
        self.epoch = Epoch(key, 1, pcrc)
        self.full = None            # the epoch before this one, while its MAC is due
        self.full_held, self.held = [], []

    def _fail(self):
        self.bad += 1
        self.insecure = True
        self.full_held, self.held = [], []
        return []

    def _next_epoch(self):
        self.epoch = Epoch(self.key, self.epoch.counter + 1, self.pcrc)

    def _release(self, flits):
        self.released += sum(1 for is_protocol, _ in flits if is_protocol)
        return [item for _, item in flits]

    def accept(self, item, flit):
        """item: whatever the caller wants back on release; flit: a bytearray, opened in place."""
        control = fl.llctrl_of(flit)
        if control is not None and not fl.is_ide_mac(flit):
            return self._control(item, control, flit)
        out = []
        if fl.is_ide_mac(flit):
            if self.full is None or self.full.mac() != bytes(flit[4:16]):
                return self._fail()
            self.good += 1
            self.full = None
            out, self.full_held = self._release(self.full_held), []
        elif self.full is not None and self.epoch.flits == 1:
            return self._fail()
        self.epoch.open(flit)
        if self.hold:
            self.held.append((True, item))
        else:
            out += self._release([(True, item)])
        if self.epoch.flits == self.size:
            self.full, self.full_held, self.held = self.epoch, self.held, []
            self._next_epoch()
        return out

    def _control(self, item, control, flit):
        """Control flits are in the clear and go on at once; only a TMAC touches the epoch."""
        out = []
        if control == (fl.IDE_LLCTRL, fl.IDE_TMAC):
            if self.full is not None or not self.epoch.flits \
                    or self.epoch.mac() != bytes(flit[4:16]):
                return self._fail()
            self.good += 1
            out, self.held = self._release(self.held), []
            self._next_epoch()
        return out + [item]


def read_key_file(path):
    """{('rxl', spid, dpid, vc, session) or ('cxl', mac): key}"""
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
            keys[name] = bytes.fromhex(words[-1])
            if len(keys[name]) != 32:
                raise ValueError(f"{path}: a key is 64 hex digits")
    return keys
