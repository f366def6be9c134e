# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""Who may call what (fabric.md 4.3) and whose a component is (4.4), as a state machine, and a
component for tests of the judge in cci_access_cases."""

from weftmodel import cci

NONE_PID, NO_UUID = 0xFFF, bytes(16)
OF_ALL = {0x0001, 0x0400, 0x0401, 0x0700, 0x0701}       # who is not primary gets these

# Commands, first to last: switch by MCTP, switch by a host's mailbox, GFD for the FM, GFD for a
# host. M mandatory, O optional, - prohibited.
TABLE = """
0001-0002 M O M M
0003-0004 M - M -
0005      O O O -
0100-0101 O O M -
0102-0103 - O - -
0104-0106 O - M -
0107-0108 - - M O
0109-010A - O - -
0200-02FF O - O -
0300-03FF O - O -
0400-0401 O O M M
0402-0405 O - O -
0500-06FF O - O -
0700-0701 M - M -
0702      M M M M
4000      - - M M
4200-4202 - - M O
4300-4305 - - O O
4400-4402 - - O O
4900-4902 - - M M
4903      - - O O
4904      - - M M
4905      - - M O
4906      - - O O
4907-4908 - - M O
4909-490B - - O O
490C-4912 - - M O
4913-4914 - - - M
5100-5101 M M - -
5102-5103 O - - -
5104      O O - -
5105      - O - -
5106-5107 O - - -
5200-53FF O - - -
5700-5709 M - - -
570A-570B O - - -
570C-5714 - O - -
5715-5716 O - - -
5800-580B - O - -
5900-5904 O - - -
C000-FFFF O O O O
"""
SWITCH_FM, SWITCH_HOST, GFD_FM, GFD_HOST = range(4)
# Decided: a GFD never lets a host set what belongs to all.
NEVER_OF_HOSTS = {0x4903, 0x490F, 0x4912, *range(0x4905, 0x490E)}


def rules():
    """For each column {opcode: "M" or "O"}."""
    out = [{}, {}, {}, {}]
    for line in TABLE.split("\n"):
        if not line:
            continue
        span, *marks = line.split()
        first, _, last = span.partition("-")
        for opcode in range(int(first, 16), int(last or first, 16) + 1):
            for column, mark in enumerate(marks):
                if mark != "-" and not (column == GFD_HOST and opcode in NEVER_OF_HOSTS):
                    out[column][opcode] = mark
    return out


RULES = rules()


class Owners:
    """A component's own PID, its primary and secondary FM as (PID, UUID)."""

    def __init__(self):
        self.pid, self.primary, self.secondary = NONE_PID, None, None

    def is_primary(self, pid):
        return self.primary is not None and self.primary[0] == pid

    def claim(self, sender, q):
        """The code of 0701h, None where the text does not say; state as after success."""
        who = (q["fm_pid"], q["fm_uuid"])
        odd = who[0] > NONE_PID or who[1] == NO_UUID or not self._is_pid(q["new_pid"])
        if q["op"] == 0:
            if self.primary or who[0] == NONE_PID:
                return cci.INVALID_INPUT
            return None if odd or who[0] != sender else cci.SUCCESS
        if q["op"] in (1, 2):
            if not self.is_primary(sender) or q["op"] == 1 and self.secondary:
                return cci.INVALID_INPUT
            if q["op"] == 1:
                twice = who[0] == self.primary[0] or who[1] == self.primary[1]
                return None if odd or twice or who[0] == NONE_PID else cci.SUCCESS
            other = who[1] != self.primary[1] or self.secondary and who[0] == self.secondary[0]
            return None if odd or other or who[0] == NONE_PID else cci.SUCCESS
        if q["op"] == 3:
            if not self.secondary or sender != self.secondary[0]:
                return cci.INVALID_INPUT
            return cci.SUCCESS if who == self.secondary and not odd else None
        return cci.INVALID_INPUT

    @staticmethod
    def _is_pid(pid):
        return pid < NONE_PID

    def claimed(self, q):
        who = (q["fm_pid"], q["fm_uuid"])
        if q["op"] == 0:
            self.primary, self.pid = who, q["new_pid"]
        elif q["op"] == 1:
            self.secondary = who
        elif q["op"] == 2:
            self.primary, self.pid = (who[0], self.primary[1]), q["new_pid"]
        else:
            self.primary, self.secondary = self.secondary, None

    def fields(self):
        """Of the answer of 0701h; 0700h has the component's PID too."""
        primary, secondary = (o or (NONE_PID, NO_UUID) for o in (self.primary, self.secondary))
        return {"prim_fm_pid": primary[0], "prim_uuid": primary[1], "sec_fm_pid": secondary[0],
                "sec_uuid": secondary[1]}


class Component:
    """A switch with what is mandatory and a little more. fault: what it does wrong."""

    FM = sorted({op for op, mark in RULES[SWITCH_FM].items() if mark == "M"} | {0x0400, 0x0401})
    HOST = [0x0001, 0x0002, 0x0400, 0x0401, 0x0702, 0x5100, 0x5101]

    def __init__(self, fault=None):
        self.fault, self.owners, self.limit = fault, Owners(), 10

    def _allowed(self, iface, pid):
        if iface == "host":
            return self.HOST + ([0x5709] if self.fault == "serves hosts" else [])
        if self.owners.is_primary(pid):
            return self.FM
        return sorted(OF_ALL | ({0x0702} if self.fault == "serves all" else set()))

    def answer(self, iface, pid, message):
        h = cci.get_header(message)
        listed = self._allowed(iface, pid)
        if h.opcode not in listed:
            return cci.response(message, cci.UNSUPPORTED)
        try:
            q = cci.get(cci.REQUEST[h.opcode], message[cci.HEADER:])
        except cci.Malformed:
            return cci.response(message, cci.INVALID_PAYLOAD_LENGTH)
        rc, payload = self._run(h.opcode, q, iface, pid, listed)
        return cci.response(message, rc, payload if rc == 0 else b"")

    def _run(self, opcode, q, iface, pid, listed):
        if self.fault == "all in CEL":
            listed = self.FM
        cel = b"".join(op.to_bytes(2, "little") + b"\0\0" for op in listed)
        put = lambda values: cci.put(cci.RESPONSE[opcode], values)
        if opcode == 0x0001:
            return 0, put({"vid": 1, "did": 2, "svid": 0, "ssid": 0, "serial": 3, "maxmsg": 10,
                           "comp": 0})
        if opcode in (0x0003, 0x0004):
            if opcode == 0x0004:
                if not 8 <= q["n"] <= 10:
                    return cci.INVALID_INPUT, b""
                self.limit = q["n"]
            return 0, put({"n": self.limit})
        if opcode == 0x0400:
            return 0, put({"logs": [{"uuid": cci.CEL, "size": len(cel)}]})
        if opcode == 0x0401:
            if q["uuid"] != cci.CEL or q["off"] + q["len"] > len(cel):
                return cci.INVALID_INPUT, b""
            return 0, cel[q["off"]:q["off"] + q["len"]]
        if opcode == 0x0700:
            return 0, put(dict(self.owners.fields(), pid=self.owners.pid))
        if opcode == 0x0701:
            return self._claim(pid, q, put)
        return 0, b""

    def _claim(self, pid, q, put):
        rc = self.owners.claim(pid, q)
        if self.fault == "second primary" and q["op"] == 0:
            rc = 0
        if rc is None:
            rc = cci.INVALID_INPUT
        if rc == 0:
            keep = self.owners.secondary
            self.owners.claimed(q)
            if self.fault == "secondary stays" and q["op"] == 3:
                self.owners.secondary = keep
        return rc, put(self.owners.fields())
