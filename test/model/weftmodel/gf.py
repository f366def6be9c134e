# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""Arithmetic in GF(2^8) for a given field polynomial (wire-formats.md 2.1, 2.2).

The flit CRC lives in the field of 0x12B, the FEC in that of 0x11D. Both have alpha = 02h.
"""


def carryless_mul(a, b, poly):
    """a times b by shift and add: the definition that the tables are made from."""
    product = 0
    while b:
        if b & 1:
            product ^= a
        a <<= 1
        if a & 0x100:
            a ^= poly
        b >>= 1
    return product


class Field:
    """GF(2^8) with logarithms to the base alpha."""

    def __init__(self, poly):
        self.poly = poly
        self.exp = [1]
        for _ in range(254):
            self.exp.append(carryless_mul(self.exp[-1], 2, poly))
        self.log = {value: power for power, value in enumerate(self.exp)}
        if len(self.log) != 255:
            raise ValueError(f"alpha is not primitive modulo {poly:#x}")

    def alpha(self, power):
        return self.exp[power % 255]

    def mul(self, a, b):
        if a == 0 or b == 0:
            return 0
        return self.exp[(self.log[a] + self.log[b]) % 255]

    def poly_mul(self, p, q):
        """Product of two polynomials, coefficients highest power first."""
        out = [0] * (len(p) + len(q) - 1)
        for i, a in enumerate(p):
            for j, b in enumerate(q):
                out[i + j] ^= self.mul(a, b)
        return out

    def poly_mod(self, p, monic):
        """Remainder of p by a monic polynomial, by long division."""
        rest = list(p)
        for i in range(len(rest) - len(monic) + 1):
            factor = rest[i]
            if factor:
                for j, c in enumerate(monic):
                    rest[i + j] ^= self.mul(factor, c)
        return rest[len(rest) - len(monic) + 1:]
