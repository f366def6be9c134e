#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""Check vectors of the 256 B flit's CRC, ISN and FEC from their definitions alone: ./check.py [DIR]

A CRC is right where the codeword has all roots of the generator; a FEC where both sums of each
group vanish. Needs nothing but Python. Ends with "N passed, N failed"; status 1 if any failed."""
import json
import os
import sys

HEX = ("message", "crc", "bytes_r0_first", "bytes_r7_first", "flit", "even_crc", "odd_crc", "data",
       "fec", "received", "result")


def mul(a, b, poly):
    product = 0
    for bit in range(8):
        product ^= (b >> bit & 1) * (a << bit)
    for bit in range(14, 7, -1):
        product ^= (product >> bit & 1) * (poly << bit - 8)
    return product


def is_codeword(symbols, roots):
    root, good = 1, True
    for _ in range(roots):  # alpha^1, alpha^2, ...
        root, value = mul(root, 2, 0x12B), 0
        for s in symbols:
            value = mul(value, root, 0x12B) ^ s
        good &= value == 0
    return good


def fec_sums(flit, group):
    check = parity = 0
    for i in range(group, 252, 3):  # the 84th symbol of groups 1 and 2 is a zero
        symbol = flit[i] if i < 250 else 0
        check, parity = mul(check ^ symbol, 2, 0x11D), parity ^ symbol
    return check ^ flit[(252, 250, 251)[group]], parity ^ flit[(255, 253, 254)[group]]


def fec_decode(flit):  # by trying every byte of a group
    fixed = bytearray(flit)
    for group in range(3):
        check, parity = fec_sums(flit, group)
        places = (*range(group, 250, 3), (252, 250, 251)[group], (255, 253, 254)[group])
        tries = [(at, x) for at in places for x in (check, parity)] if check or parity else [(0, 0)]
        found = [(at, x) for at, x in tries
                 if fec_sums(flit[:at] + bytes([flit[at] ^ x]) + flit[at + 1:], group) == (0, 0)]
        if not found:
            return "uncorrectable", flit
        fixed[found[0][0]] ^= found[0][1]
    return ("clean" if bytes(fixed) == flit else "corrected"), bytes(fixed)


def holds(c):
    data = {k: bytes.fromhex(v) for k, v in c.items() if k in HEX}
    if "flit" in c:
        even, odd = data["flit"][:122] + bytes(8), data["flit"][128:244] + bytes(14)
        return is_codeword(even + data["even_crc"], 6) and is_codeword(odd + data["odd_crc"], 6)
    if c.get("kind") == "encode":
        return all(fec_sums(data["data"] + data["fec"], g) == (0, 0) for g in range(3))
    if c.get("kind") == "decode":
        return fec_decode(data["received"]) == (c["verdict"], data["result"])
    before, message = b"", data["message"]
    if c.get("form") == "pseudo":
        before = (c["spid"] << 28 | c["dpid"] << 16 | c["vc"] << 10 | c["seq"]).to_bytes(5, "big")
    if c.get("form") == "xor":
        number = c["seq"].to_bytes(2, "little")
        message = message[:2] + bytes(a ^ b for a, b in zip(message[2:4], number)) + message[4:]
    crc = data["crc"]
    orders = data.get("bytes_r7_first", crc), data.get("bytes_r0_first", crc[::-1])[::-1]
    return is_codeword(before + message + crc, 8) and orders == (crc, crc)


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
    passed = failed = 0
    for name in ("crc.json", "isn.json", "fec.json", "lopt.json"):
        with open(os.path.join(folder, name), encoding="ascii") as text:
            for case in json.load(text)["cases"]:
                good = holds(case)
                passed, failed = passed + good, failed + (not good)
                if not good:
                    print(f"FAIL {name}: {case['name']}")
    print(f"{passed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
