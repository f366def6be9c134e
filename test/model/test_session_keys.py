# SPDX-License-Identifier: BSD-3-Clause
"""Keys of IDE sessions and MACs of their control frames (doc/ide.md) against the `cryptography` package: test/vectors/ide_keys.txt is
what this file writes with --write, and what the C library derives."""
import os
import struct
import sys
import unittest

from cryptography.hazmat.primitives import hashes, hmac
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from weftmodel import control

VECTORS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../vectors/ide_keys.txt")
SIDE = ("version mode max_flits crc_order isn_form ide_mode ide_bits credits port node memory "
        "known random").split()


def where(purpose, direction, generation, pids, vc, session):
    """What every label begins with."""
    return (purpose.encode().ljust(16, b"\0") +
            struct.pack(">BIHHBI", direction, generation, *pids, vc, session))


def derive(length, purpose, psk, direction, generation, pids, vc, session, sides):
    """HKDF-SHA-256 with the label of doc/ide.md."""
    info = where(purpose, direction, generation, pids, vc, session)
    for s in sides:
        info += struct.pack(">6B3H16s8s8s", *(s[k] for k in SIDE[:-1]))
    salt = sides[0]["random"] + sides[1]["random"]
    return HKDF(hashes.SHA256(), length, salt, info).derive(psk)


def gone(psk, direction, pids, vc, session, number):
    """What shows that a session is over."""
    info = where("weft ide gone", direction, 0, pids, vc, session)
    return HKDF(hashes.SHA256(), 16, struct.pack(">Q", number), info).derive(psk)


def announced(psk, number):
    """What shows that who answers that it runs a node has the key, and the records that it vouches for."""
    records = control.build(control.ANNOUNCE, fabric=b"lab", name=b"g0", instance=number + 5,
                            heard=number, runs_ms=7)
    info = b"weft announce".ljust(16, b"\0") + control.image(records)
    return HKDF(hashes.SHA256(), 16, struct.pack(">Q", number), info).derive(psk)


def mac(key, records):
    """MAC of a control frame, from its records."""
    h = hmac.HMAC(key, hashes.SHA256())
    h.update(control.image(records))
    return h.finalize()[:16]


def message(kind, number):
    """A KEEPALIVE or GOODBYE with this number, and a MAC still to be made."""
    records = bytes([control.TYPE, 1, kind])
    if kind == control.KEEPALIVE:
        records += bytes([control.FLAGS, 1, number & 1])
    records += bytes([control.NUMBER, 8]) + struct.pack(">Q", number)
    return records + bytes([control.MAC, 16]) + bytes(16) + bytes([control.CHECK, 2, 0, 0])


def side(i, n):
    """Made-up parameters: every field of every end of every case differs from its neighbours."""
    base = 40 * n + 20 * i
    s = {k: (base + j) % 256 for j, k in enumerate(SIDE[:6])}
    s.update({k: 300 * (n + 1) + 7 * i + j for j, k in enumerate(SIDE[6:9])})
    s["node"] = bytes((base + j) % 256 for j in range(16))
    s["memory"] = bytes((7 * base + j) % 256 if n else 0 for j in range(8))
    s["known"] = bytes((9 * base + 2 * j) % 256 if n > 1 else 0 for j in range(8))
    s["random"] = bytes((3 * base + 5 * j) % 256 for j in range(32))
    return s


def cases():
    """Lines of the file: what goes in, what comes out."""
    for n in range(6):
        psk = bytes((n * 11 + j) % 256 for j in range(32))
        pids = (0xFFF, 0xFFF) if n == 5 else (0x101 + n, 0x200 + n)
        sides = [side(i, n) for i in range(2)]
        session, generation, vc = 0x12345678 + n, (0, 1, 0xFFFFFFFF)[n % 3], n
        common = (psk, pids, vc, session, generation, sides)
        out = [derive(32, "weft ide key", psk, d, generation, pids, vc, session, sides)
               for d in (0, 1)]
        out += [derive(16, "weft ide proof", psk, d, 0, pids, vc, session, sides) for d in (0, 1)]
        number = (1 << 40 * (n % 2)) + n
        keys = [derive(32, "weft ide control", psk, d, 0, pids, vc, session, sides)
                for d in (0, 1)]
        out += [mac(keys[0], message(control.KEEPALIVE, number)),
                mac(keys[1], message(control.GOODBYE, number)), struct.pack(">Q", number)]
        out += [gone(psk, d, pids, vc, session, number) for d in (0, 1)]
        out += [announced(psk, number)]
        yield common, out


def text():
    """The file as it has to be."""
    lines = ["# psk pids vc session generation; asks, answers: " + " ".join(SIDE),
             "# then the keys asks->answers and back, the proofs of asks and answers, the MAC of a",
             "# KEEPALIVE there (DEAF if the number is odd) and of a GOODBYE back, their number, and the",
             "# proofs that the session is gone, by asks and by answers, to that number, and that g0 of lab",
             "# runs for 7 ms as instance number + 5, to that number; all in hex"]
    for (psk, pids, vc, session, generation, sides), out in cases():
        words = [psk.hex(), *("%03x" % p for p in pids), "%x" % vc, "%08x" % session,
                 "%08x" % generation]
        for s in sides:
            words += [s[k].hex() if isinstance(s[k], bytes) else "%x" % s[k] for k in SIDE]
        lines.append(" ".join(words + [o.hex() for o in out]))
    return "\n".join(lines) + "\n"


class SessionKeys(unittest.TestCase):
    """The vectors that the C library is held against are those of the label's definition."""

    def test_file_is_as_defined(self):
        with open(VECTORS, encoding="ascii") as f:
            self.assertEqual(f.read(), text())

    def test_nothing_repeats(self):
        outs = [o for _, out in cases() for o in out]
        self.assertEqual(len(set(outs)), len(outs))


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        with open(VECTORS, "w", encoding="ascii") as f:
            f.write(text())
    else:
        unittest.main()
