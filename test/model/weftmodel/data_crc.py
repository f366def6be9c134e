# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""The CRCs of data blocks (signature.md section 3.1), by polynomial division of one big integer.

`start` and result are finished CRCs, so that crc(kind, crc(kind, 0, a), b) = crc(kind, 0, a + b).
"""

from collections import namedtuple

# xorout equals the first register in all of them.
Kind = namedtuple("Kind", "width poly reflected init")
KINDS = {
    "t10dif": Kind(16, 0x8BB7, False, 0),
    "crc32": Kind(32, 0x04C11DB7, True, 0xFFFFFFFF),
    "crc32c": Kind(32, 0x1EDC6F41, True, 0xFFFFFFFF),
    "crc64": Kind(64, 0xAD93D23594C93659, True, 0xFFFFFFFFFFFFFFFF),
}


def _reversed(value, width):
    return int(format(value, f"0{width}b")[::-1], 2)


def crc(name, start, data):
    """The finished CRC of data behind what start is the CRC of; 0 to begin."""
    kind = KINDS[name]
    register = start ^ kind.init
    if kind.reflected:
        register = _reversed(register, kind.width)
        data = bytes(_reversed(byte, 8) for byte in data)
    # The first register is added to the first bits of the message, which ends in zeros.
    bits = 8 * len(data) + kind.width
    rest = int.from_bytes(data, "big") << kind.width ^ register << 8 * len(data)
    divisor = 1 << kind.width | kind.poly
    for shift in range(bits - kind.width - 1, -1, -1):
        if rest >> shift + kind.width & 1:
            rest ^= divisor << shift
    if kind.reflected:
        rest = _reversed(rest, kind.width)
    return rest ^ kind.init
