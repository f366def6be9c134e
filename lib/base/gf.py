# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""Arithmetic in GF(2^8) and the writing of C tables, for the gen_*.py of lib/code."""


class Field:
    """GF(2^8) of a primitive polynomial such as 0x12B; bit j of a byte is alpha^j, alpha = 2."""

    def __init__(self, polynomial):
        self.polynomial = polynomial
        self.exp = [1]
        for _ in range(254):
            self.exp.append(self._double(self.exp[-1]))
        if self._double(self.exp[-1]) != 1 or len(set(self.exp)) != 255:
            raise ValueError('alpha does not generate the field of 0x%x' % polynomial)
        self.log = {v: i for i, v in enumerate(self.exp)}

    def _double(self, a):
        a <<= 1
        return a ^ self.polynomial if a & 0x100 else a

    def mul(self, a, b):
        return self.exp[(self.log[a] + self.log[b]) % 255] if a and b else 0

    def power(self, exponent):
        """alpha^exponent; any exponent, negative too"""
        return self.exp[exponent % 255]

    def matrix(self, c):
        """Multiplication by c as GF2P8AFFINEQB takes it: byte 7-i of the word gives bit i."""
        columns = [self.mul(c, 1 << j) for j in range(8)]
        word = 0
        for i in range(8):
            row = sum((columns[j] >> i & 1) << j for j in range(8))
            word |= row << 8 * (7 - i)
        return word

    def nibbles(self, c):
        """Products of c with the 16 low nibbles and with the 16 high ones, for byte shuffles."""
        return [[self.mul(c, n) for n in range(16)], [self.mul(c, n << 4) for n in range(16)]]

    def from_sums(self, roots):
        """Inverse of the matrix [alpha^(root * k)], k = 0..len(roots)-1: from the values that a
        polynomial takes at these powers of alpha back to its coefficients."""
        n = len(roots)
        a = [[self.power(root * k) for k in range(n)] + [int(i == r) for i in range(n)]
             for r, root in enumerate(roots)]
        for c in range(n):
            pivot = next(r for r in range(c, n) if a[r][c])
            a[c], a[pivot] = a[pivot], a[c]
            inverse = self.power(-self.log[a[c][c]])
            a[c] = [self.mul(v, inverse) for v in a[c]]
            for r in range(n):
                if r != c and a[r][c]:
                    f = a[r][c]
                    a[r] = [v ^ self.mul(f, w) for v, w in zip(a[r], a[c])]
        return [row[n:] for row in a]


def table(ctype, name, dims, values, form, per_line):
    """Lines of `const ctype name dims = {...}` with a flat list of values."""
    lines = ['const %s %s%s = {' % (ctype, name, dims)]
    for i in range(0, len(values), per_line):
        lines.append('\t' + ', '.join(form % v for v in values[i:i + per_line]) + ',')
    return lines + ['};', '']


def nested(values, form):
    """A nested list as a C initializer."""
    if isinstance(values, list):
        return '{ ' + ', '.join(nested(v, form) for v in values) + ' }'
    return form % values

