#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""Write the vectors for other implementations (doc/vectors.md): vectors/*.json. The output depends on
nothing but this code."""

import argparse
import json
import os
import random

from weftmodel import crc, crc6, fec, mutate

MADE_BY = ("Calculated from the published generator polynomials by polynomial division in a Python "
           "model; equal to the C kernels of Weft and to a checker that uses neither (doc/vectors.md). "
           "No standard publishes vectors for these codes.")


def _file(title, note, cases):
    return {"format": "weft-vectors-1", "title": title, "provenance": MADE_BY, "note": note,
            "cases": cases}


def _bodies(rng, size):
    """(name, bytes) that show mistakes of order, start value and inversion, then drawn ones."""
    yield "all bytes 00", bytes(size)
    yield "all bytes FF", b"\xff" * size
    yield "counting up from 00", bytes(i % 256 for i in range(size))
    for at in (0, 1, 2, 3, size // 2, size - 2, size - 1):
        yield f"01 in byte {at}, else 00", bytes(int(i == at) for i in range(size))
    for i in range(12):
        yield f"drawn {i}", rng.randbytes(size)


def crc_file():
    rng = random.Random("world crc")
    cases = [{"name": name, "message": body.hex(), "crc": format(crc.by_division(body), "016x"),
              "bytes_r0_first": crc.to_bytes(crc.by_division(body), "r0").hex(),
              "bytes_r7_first": crc.to_bytes(crc.by_division(body), "r7").hex()}
             for name, body in _bodies(rng, crc.COVERED)]
    return _file("8-byte CRC of the standard 256 B flit",
                 "message: flit bytes 0 to 241. crc: r7 first. The public text does not say which of r0 "
                 "and r7 stands in byte 242, so both orders are here.", cases)


def lopt_file():
    rng = random.Random("world lopt")
    cases = [{"name": name, "flit": body.hex(),
              "even_crc": format(crc6.by_division(body[crc6.EVEN]), "012x"),
              "odd_crc": format(crc6.by_division(body[crc6.ODD]), "012x")}
             for name, body in _bodies(rng, 256)]
    return _file("6-byte CRCs of the latency-optimised 256 B flit",
                 "flit: 256 bytes, of which 0 to 121 (even) and 128 to 243 (odd) count. The CRCs: r5 "
                 "first.", cases)


def isn_file():
    rng = random.Random("world isn")
    edges = [(0, 0, 0, 0), (0, 0, 0, 1), (0, 0, 0, 256), (0, 0, 0, 512), (0, 0, 0, 1023),
             (1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0xFFF, 0xFFF, 7, 1023), (0x123, 0x456, 3, 511)]
    cases = []
    for i in range(24):
        spid, dpid, vc, seq = edges[i] if i < len(edges) else (
            rng.randrange(4096), rng.randrange(4096), rng.randrange(8), rng.randrange(1024))
        body = rng.randbytes(crc.COVERED)
        value = crc.by_division(crc.pseudo_header(spid, dpid, vc, seq) + body)
        cases.append({"name": f"number {seq} from {spid:03x} to {dpid:03x}, VC {vc}",
                      "form": "pseudo", "spid": spid, "dpid": dpid, "vc": vc, "seq": seq,
                      "message": body.hex(), "crc": format(value, "016x")})
    for seq in (0, 1, 255, 256, 1023, *(rng.randrange(1024) for _ in range(5))):
        body = rng.randbytes(crc.COVERED)
        word = int.from_bytes(body[2:4], "little") ^ seq
        value = crc.by_division(body[:2] + word.to_bytes(2, "little") + body[4:])
        cases.append({"name": f"number {seq}, XOR form", "form": "xor", "seq": seq,
                      "message": body.hex(), "crc": format(value, "016x")})
    return _file("8-byte CRC with an implicit sequence number",
                 "pseudo: five symbols stand before the message, of SPID (12 bits), DPID (12), a 0 (3), "
                 "VC (3) and the number (10), first bit highest. xor: the number is XORed into bytes 2 "
                 "and 3, low byte first, while the CRC is calculated.", cases)


def fec_file():
    rng = random.Random("world fec")
    cases = [{"name": name, "kind": "encode", "data": body.hex(), "fec": fec.encode(body).hex()}
             for name, body in _bodies(rng, fec.DATA)]
    kinds = [("one wrong byte", lambda r, f, at=at: mutate.xor_into(f, [(at, r.randint(1, 255))]))
             for at in (0, 1, 2, 127, 247, 248, 249, 250, 251, 252, 253, 254, 255)]
    kinds += [("a burst", lambda r, f: mutate.burst(r, f)[0])] * 8
    kinds += [("two wrong bytes in a group, noticed", mutate.uncorrectable)] * 8
    kinds += [("wrong bytes that decoding makes worse", mutate.miscorrected)] * 4
    for name, damage in [("nothing wrong", lambda r, f: f)] + kinds:
        body = rng.randbytes(fec.DATA)
        got = damage(rng, body + fec.encode(body))
        verdict, result, _ = fec.decode(got)
        cases.append({"name": name, "kind": "decode", "received": got.hex(), "verdict": verdict,
                      "result": result.hex()})
    return _file("6-byte FEC of the standard 256 B flit",
                 "data: flit bytes 0 to 249. fec: bytes 250 to 255. An uncorrectable flit is left as it "
                 "was received.", cases)


FILES = {"crc.json": crc_file, "fec.json": fec_file, "isn.json": isn_file, "lopt.json": lopt_file}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dir", required=True, help="where to write")
    opts = parser.parse_args()
    for name, make in FILES.items():
        with open(os.path.join(opts.dir, name), "w", encoding="ascii") as out:
            out.write(json.dumps(make(), indent=1) + "\n")


if __name__ == "__main__":
    main()
