# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""Block signatures (doc/spec/signature.md): domains, masks, transfers, the error record, key states.

Slow and plain on purpose: one signature is made for each block, and checking is comparing it
with the stored one byte by byte.
"""

from collections import namedtuple
from functools import lru_cache

BLOCKS = (512, 520, 4048, 4096, 4160)
COPY_MASK = 1  # attr.flags
REF_REMAP, APP_ESCAPE, APP_REF_ESCAPE = 1, 2, 4  # dif.flags
CRCS = {  # reflected polynomial, width in bits; the result is inverted whatever the seed
    "crc32": (0xEDB88320, 32),
    "crc32c": (0x82F63B78, 32),
    "crc64": (0x9A6C9329AC4BC9B5, 64),
}
ESCAPE_TAGS = bytes([255] * 6)

Crc = namedtuple("Crc", "kind seed")
Dif = namedtuple("Dif", "bg_type bg app_tag ref_tag flags")
Domain = namedtuple("Domain", "sig_type block sig comp_mask", defaults=(0,))
Attr = namedtuple("Attr", "mem wire flags check_mask copy_mask comp_mask",
                  defaults=(0, 0xFF, 0, 0))
Error = namedtuple("Error", "error block offset computed stored domain")
Result = namedtuple("Result", "output error counters errors", defaults=((),))


class SigError(Exception):
    """The errno name that the call returns."""


def refuse(condition, name="EINVAL"):
    if condition:
        raise SigError(name)


# ---- checksums (3.1, 3.6) ----------------------------------------------------------------


@lru_cache(None)
def _table_reflected(poly):
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (poly if byte & 1 else 0)
        table.append(byte)
    return table


@lru_cache(None)
def _table_t10():
    table = []
    for byte in range(256):
        byte <<= 8
        for _ in range(8):
            byte = (byte << 1 ^ (0x8BB7 if byte & 0x8000 else 0)) & 0xFFFF
        table.append(byte)
    return table


def crc(kind, seed, data):
    """seed replaces the first register, never the final inversion."""
    poly, width = CRCS[kind]
    table = _table_reflected(poly)
    for byte in data:
        seed = table[(seed ^ byte) & 255] ^ seed >> 8
    return seed ^ ((1 << width) - 1)


def t10_crc(seed, data):
    table = _table_t10()
    for byte in data:
        seed = table[seed >> 8 ^ byte] ^ seed << 8 & 0xFFFF
    return seed


def checksum(seed, data):
    total = seed + sum(data[0::2]) * 256 + sum(data[1::2])
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return total ^ 0xFFFF


# ---- domains (2) -------------------------------------------------------------------------


def check_domain(domain):
    """6.2, the lines about one domain."""
    refuse(domain.comp_mask)
    refuse(domain.block not in BLOCKS)
    refuse(domain.sig_type not in ("crc", "t10dif"))
    refuse(domain.sig is None)
    if domain.sig_type == "crc":
        refuse(domain.sig.kind not in CRCS)
        refuse(domain.sig.seed not in (0, (1 << CRCS[domain.sig.kind][1]) - 1))
    else:
        refuse(domain.sig.bg_type not in ("crc", "csum"))
        refuse(domain.sig.bg not in (0, 0xFFFF))
        refuse(domain.sig.flags & ~7)


def check_attr(attr):
    """6.2, the lines about one key."""
    refuse(attr.comp_mask or attr.flags & ~COPY_MASK)
    refuse(attr.mem is None and attr.wire is None)
    for domain in (attr.mem, attr.wire):
        if domain:
            check_domain(domain)
    refuse(attr.flags & COPY_MASK and not same_structure(attr.mem, attr.wire))


def is_dif(domain):
    return domain is not None and domain.sig_type == "t10dif"


def size(domain):
    """Bytes of signature behind each block."""
    if domain is None:
        return 0
    return 8 if is_dif(domain) else CRCS[domain.sig.kind][1] // 8


def same_structure(a, b):
    """1.1: type and block size; for a CRC also its kind, for DIF not the guard's."""
    if a is None or b is None or a.sig_type != b.sig_type or a.block != b.block:
        return False
    return is_dif(a) or a.sig.kind == b.sig.kind


def places(domain, mask):
    """Offsets in the signature that a mask selects (2.2)."""
    n = size(domain)
    # DIF and its mask begin with the same byte; a CRC is stored from its lowest byte up.
    bit = (lambda i: 7 - i) if is_dif(domain) else (lambda i: 8 - n + i)
    return {i for i in range(n) if mask >> bit(i) & 1}


def auto_copy(a, b):
    """The automatic copy mask (2.3, our condition)."""
    if not same_structure(a, b):
        return 0
    if not is_dif(a):
        return 0xFF if a.sig.seed == b.sig.seed else 0
    x, y = a.sig, b.sig
    mask = 0xC0 if (x.bg_type, x.bg) == (y.bg_type, y.bg) else 0
    mask |= 0x30 if x.app_tag == y.app_tag else 0
    if x.ref_tag == y.ref_tag and not (x.flags ^ y.flags) & REF_REMAP:
        mask |= 0x0F
    return mask


def guard(domain, data):
    sig = domain.sig
    value = (t10_crc if sig.bg_type == "crc" else checksum)(sig.bg, data)
    return value.to_bytes(2, "big")


def sign(domain, data, j):
    """The signature of block j."""
    sig = domain.sig
    if not is_dif(domain):
        return crc(sig.kind, sig.seed, data).to_bytes(size(domain), "little")
    ref = sig.ref_tag + (j if sig.flags & REF_REMAP else 0) & 0xFFFFFFFF
    return guard(domain, data) + sig.app_tag.to_bytes(2, "big") + ref.to_bytes(4, "big")


def escaped(domain, stored):
    """2.6: APP_REF_ESCAPE wins over APP_ESCAPE."""
    if not is_dif(domain):
        return False
    if domain.sig.flags & APP_REF_ESCAPE:
        return stored[2:] == ESCAPE_TAGS
    return bool(domain.sig.flags & APP_ESCAPE) and stored[2:4] == ESCAPE_TAGS[:2]


def mismatch(domain, mask, computed, stored):
    """(error, computed, stored) of the first field with a checked byte that differs (5.2)."""
    order, fields = "little", (("bad_guard", 0, size(domain)),)
    if is_dif(domain):
        order, fields = "big", (("bad_guard", 0, 2), ("bad_apptag", 2, 4), ("bad_reftag", 4, 8))
    chosen = places(domain, mask)
    for name, start, end in fields:
        if any(computed[i] != stored[i] for i in chosen if start <= i < end):
            return (name, int.from_bytes(computed[start:end], order),
                    int.from_bytes(stored[start:end], order))
    return None


# ---- a transfer (1) ----------------------------------------------------------------------


def transfer(attr, direction, data, block0=0):
    """Move data ("tx": mem to wire, "rx": wire to mem); attr None is a key without signature.

    block0 is the index of the first input block in a longer transfer of which this is a piece, or
    of the first output block if the input has no signature. errors holds one Error for each bad
    block, error the first of them.
    """
    counters = dict.fromkeys(("checked", "generated", "copied", "escaped", "escaped_unprotected",
                              "errors"), 0)
    if attr is None:
        return Result(bytes(data), None, counters)
    source, target = (attr.mem, attr.wire)[::1 if direction == "tx" else -1]
    plain, tails, escapes, errors = bytes(data), [], [], []
    out0 = block0
    if source and target:
        refuse(block0 * source.block % target.block)
        out0 = block0 * source.block // target.block

    if source:
        plain = []
        unit = source.block + size(source)
        refuse(len(data) % unit)
        for i in range(len(data) // unit):
            block = data[i * unit:i * unit + source.block]
            stored = data[i * unit + source.block:(i + 1) * unit]
            plain.append(block)
            tails.append(stored)
            escapes.append(escaped(source, stored))
            counters["escaped"] += escapes[-1]
            if escapes[-1] or not places(source, attr.check_mask):
                continue
            j = block0 + i
            counters["checked"] += 1
            wrong = mismatch(source, attr.check_mask, sign(source, block, j), stored)
            if wrong:
                name, computed, kept = wrong
                errors.append(Error(name, j, j * unit, computed, kept,
                                    "mem" if direction == "tx" else "wire"))
        plain = b"".join(plain)

    counters["errors"] = len(errors)
    first = errors[0] if errors else None
    if not is_dif(target):
        counters["escaped_unprotected"] = sum(escapes)
    if target is None:
        return Result(plain, first, counters, errors)
    refuse(len(plain) % target.block)
    mask = attr.copy_mask if attr.flags & COPY_MASK else auto_copy(source, target)
    copied = places(target, mask)
    out = []
    for i in range(len(plain) // target.block):
        start = i * target.block
        block = plain[start:start + target.block]
        tail = sign(target, block, out0 + i)
        if source and is_dif(target):
            last = (start + target.block - 1) // source.block
            if any(escapes[start // source.block:last + 1]):
                tail = guard(target, block) + ESCAPE_TAGS
        if copied:
            tail = bytes((tails[i] if k in copied else tail)[k] for k in range(len(tail)))
        counters["copied"] += bool(copied)
        counters["generated"] += len(copied) < len(tail)
        out += (block, tail)
    return Result(b"".join(out), first, counters, errors)


# ---- a key (5.3, 6.1) --------------------------------------------------------------------


class Key:
    """Attributes that change only when a whole request succeeds, and the latched error."""

    def __init__(self, signature=True):
        self.signature = signature
        self.state, self.attr = "INIT", None
        self.latch, self.errors = None, 0
        self._next = None

    def layout(self, length):
        refuse(length > 0xFFFFFFFF, "EMSGSIZE")

    def configure(self, reset=False, comp_mask=0, unknown_flags=0):
        refuse(comp_mask or unknown_flags, "ENOTSUP")
        if reset:
            self._next = ("RESET", None)
        else:
            kept = self.state in ("UPDATED", "SET")
            self._next = ("SET", self.attr) if kept else ("INIT", None)

    def set_sig(self, attr):
        """A failure ends the request and leaves the key as it was."""
        pending, self._next = self._next, None
        refuse(pending is None or not self.signature)
        refuse(pending[0] == "UPDATED", "EBUSY")
        check_attr(attr)
        self._next = ("UPDATED", attr)

    def finish(self):
        refuse(self._next is None)
        (self.state, self.attr), self._next = self._next, None

    def transfer(self, direction, data, block0=0):
        result = transfer(self.attr, direction, data, block0)
        self.errors += result.counters["errors"]
        self.latch = self.latch or result.error
        return result

    def check(self):
        """The latched error or None; the latch is empty afterwards."""
        refuse(not self.signature)
        if self.latch:
            domain = getattr(self.attr, self.latch.domain, None)
            refuse(domain is None)
        error, self.latch = self.latch, None
        return error
