# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""Asks something that answers CCI messages, and judges what all answers have in common."""

from weftmodel import cci


class Wrong(Exception):
    """What the answer says, and may not."""


def expect(condition, text):
    if not condition:
        raise Wrong(text)


def codes(allowed):
    return " or ".join(f"{c:X}h" for c in sorted(allowed))


class CciJudge:
    def __init__(self, ask, rng):
        """ask(interface, PID, message): the answer's bytes."""
        self.ask, self.rng = ask, rng
        self.tag, self.commands = 0, 0
        self.seen = {}                      # opcode: {code: times}

    def raw(self, message, iface, pid):
        """(code, payload)"""
        got = self.ask(iface, pid, message)
        asked = cci.get_header(message)
        expect(len(got) >= cci.HEADER, "an answer without a header")
        h = cci.get_header(got)
        expect(got[0] == 1 and got[2] == 0 and not got[7] & 0x60, "not an answer")
        expect((h.tag, h.opcode) == (asked.tag, asked.opcode), "not the answer to this")
        expect(h.len == len(got) - cci.HEADER, "length in the header")
        expect(h.rc in (cci.SUCCESS, cci.BACKGROUND_STARTED) or not h.len,
               "a payload with an error")
        expect(h.rc != cci.BACKGROUND_STARTED or h.background, "started, but not in background")
        self.commands += 1
        count = self.seen.setdefault(h.opcode, {})
        count[h.rc] = count.get(h.rc, 0) + 1
        return h.rc, got[cci.HEADER:]

    def request(self, opcode, payload):
        self.tag = (self.tag + 1) % 256
        return cci.request(opcode, payload, self.tag)

    def command(self, opcode, allowed, iface, pid, /, **values):
        """(code, fields of the answer); the code must be among those allowed."""
        message = self.request(opcode, cci.put_request(opcode, **values))
        rc, payload = self.raw(message, iface, pid)
        expect(rc in allowed, f"{opcode:04X}h: code {rc:X}h, expected {codes(allowed)}")
        if rc:
            return rc, None
        try:
            return rc, cci.get(cci.RESPONSE[opcode], payload)
        except cci.Malformed as e:
            raise Wrong(f"{opcode:04X}h: payload of {len(payload)} bytes: {e}") from e
