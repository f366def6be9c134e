# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""CXL.cachemem messages and slot formats (wire-formats.md 4.1-4.4).

Bit places are written as in the specification: for the first message of a slot, whose Val is
slot bit 4. A message is an integer whose bit 0 is Val. `hbr` is the host-bus form of `cxl`
mode, `pbr` the port-based form of `rxl` mode.
"""

_TO_ADDR = ("val 4; memop 8:5; snptype 11:9; metafield 13:12; metavalue 15:14; tag 31:16; "
            "addr 77:32; ")
_PLACES = {
    "m2s_req": (_TO_ADDR + "ldid 81:78; ckid 94:82; r 101:95; tc 103:102",
                _TO_ADDR + "spid 89:78; dpid 101:90; ckid 114:102; r 121:115; tc 123:122"),
    "m2s_rwd": (_TO_ADDR + "poison 78; trp 79; ldid 83:80; ckid 96:84; r 105:97; tc 107:106",
                _TO_ADDR + "poison 78; trp 79; spid 91:80; dpid 103:92; ckid 116:104; "
                "r 125:117; tc 127:126"),
    "m2s_birsp": ("val 4; op 8:5; biid 20:9; bitag 32:21; lowaddr 34:33; r 43:35",
                  "val 4; op 8:5; bitag 20:9; lowaddr 22:21; spid 34:23; dpid 46:35; r 55:47"),
    "s2m_bisnp": ("val 4; op 8:5; biid 20:9; bitag 32:21; addr 78:33; r 87:79",
                  "val 4; op 8:5; bitag 20:9; addr 66:21; spid 78:67; dpid 90:79; r 99:91"),
    "s2m_ndr": ("val 4; memop 7:5; metafield 9:8; metavalue 11:10; tag 27:12; devload 29:28; "
                "ldid 33:30; r 43:34",
                "val 4; memop 7:5; metafield 9:8; metavalue 11:10; tag 27:12; devload 29:28; "
                "dpid 41:30; r 51:42"),
    "s2m_drs": ("val 4; memop 7:5; metafield 9:8; metavalue 11:10; tag 27:12; poison 28; "
                "devload 30:29; ldid 34:31; trp 35; r 43:36",
                "val 4; memop 7:5; metafield 9:8; metavalue 11:10; tag 27:12; poison 28; "
                "devload 30:29; dpid 42:31; trp 43; r 51:44"),
    "d2h_req": ("val 4; op 9:5; cqid 21:10; nt 22; addr 68:23; cacheid 72:69; r 79:73",
                "val 4; op 9:5; cqid 21:10; nt 22; addr 68:23; spid 80:69; dpid 92:81; r 99:93"),
    "d2h_rsp": ("val 4; op 9:5; uqid 21:10; r 27:22",
                "val 4; op 9:5; uqid 21:10; dpid 33:22; r 39:34"),
    "d2h_dh": ("val 4; uqid 16:5; bogus 17; poison 18; bep 19; r 27:20",
               "val 4; uqid 16:5; bogus 17; poison 18; bep 19; dpid 31:20; r 39:32"),
    "h2d_req": ("val 4; op 7:5; addr 53:8; uqid 65:54; cacheid 69:66; r 75:70",
                "val 4; op 7:5; addr 53:8; uqid 65:54; spid 77:66; dpid 89:78; r 95:90"),
    "h2d_rsp": ("val 4; op 8:5; rspdata 20:9; rsppre 22:21; cqid 34:23; cacheid 38:35; r 43:39",
                "val 4; op 8:5; rspdata 20:9; rsppre 22:21; cqid 34:23; dpid 46:35; r 51:47"),
    "h2d_dh": ("val 4; cqid 16:5; poison 17; goerr 18; cacheid 22:19; r 31:23",
               "val 4; cqid 16:5; poison 17; goerr 18; dpid 30:19; r 39:31"),
}

OPCODES = {
    "m2s_req": (0, 1, 2, 3, 4, 5, 6, 8, 9, 0xA, 0xC, 0xD),
    "m2s_rwd": (1, 2, 4, 5, 9, 0xA, 0xD),
    "m2s_birsp": (0, 1, 2, 4, 5, 6),
    "s2m_bisnp": (0, 1, 2, 4, 5, 6),
    "s2m_ndr": (0, 1, 2, 3, 4, 5),
    "s2m_drs": (0, 1, 2),
    "d2h_req": tuple(range(1, 0xF)) + (0x10,),
    "d2h_rsp": (0x04, 0x06, 0x05, 0x01, 0x07, 0x0F, 0x16),
    "h2d_req": (1, 2, 3),
    "h2d_rsp": (1, 4, 5, 6, 8, 0xD, 0xF),
}
RWD_PARTIAL = (2, 0xA)          # MemWrPtl, MemWrPtlTEE: always with a trailer
RWD_ZERO_DATA = (4, 5, 0xD)     # BIConflict, MemRdFill*: 64 zero bytes
WITH_DATA = ("m2s_rwd", "s2m_drs", "d2h_dh", "h2d_dh")
CXL_MEM = ("m2s_req", "m2s_rwd", "s2m_ndr", "s2m_drs")
SLOT_BITS = {"H": 112, "G": 128}
LLCTRL = 8


def _parse(places):
    fields = {}
    for item in places.split("; "):
        name, bits = item.split(" ")
        high, _, low = bits.partition(":")
        low = int(low or high)
        fields[name] = (low - 4, int(high) - low + 1)
    return fields


class Layout:
    """One message in one form: fields by name as (first bit, width), counted from Val."""

    def __init__(self, places):
        self.fields = _parse(places)
        self.bits = max(at + width for at, width in self.fields.values())
        self.used = 0
        for name, (at, width) in self.fields.items():
            if name != "r":
                self.used |= ((1 << width) - 1) << at

    def pack(self, **values):
        message = 0
        for name, value in values.items():
            at, width = self.fields[name]
            if value >> width:
                raise ValueError(f"{name}={value:#x} is wider than {width} bits")
            message |= value << at
        return message

    def unpack(self, message):
        return {name: message >> at & (1 << width) - 1
                for name, (at, width) in self.fields.items() if name != "r"}


LAYOUTS = {(kind, form): Layout(places[form == "pbr"])
           for kind, places in _PLACES.items() for form in ("hbr", "pbr")}

# Slot formats: code -> messages of G HBR, G PBR, H HBR, H PBR.
_FORMATS = {
    0: ("h2d_req h2d_rsp", "h2d_req", "h2d_req", "h2d_req"),
    1: ("h2d_rsp " * 3, "h2d_rsp " * 2, "h2d_rsp " * 2, "h2d_rsp " * 2),
    2: ("d2h_req d2h_rsp d2h_rsp", "d2h_req", "d2h_req d2h_rsp", "d2h_req"),
    3: ("d2h_rsp " * 4, "d2h_rsp " * 3, "d2h_rsp " * 4, "d2h_rsp " * 3),
    4: ("m2s_req", "m2s_req", "m2s_req", "m2s_req"),
    5: ("m2s_birsp " * 3, "m2s_birsp " * 2, "m2s_birsp " * 2, "m2s_birsp " * 2),
    6: ("s2m_bisnp s2m_ndr", "s2m_bisnp", "s2m_bisnp", "s2m_bisnp"),
    7: ("s2m_ndr " * 3, "s2m_ndr " * 2, "s2m_ndr " * 2, "s2m_ndr " * 2),
    0xC: ("h2d_dh " * 4, "h2d_dh " * 3, "h2d_dh " * 3, "h2d_dh " * 3),
    0xD: ("d2h_dh " * 4, "d2h_dh " * 3, "d2h_dh " * 4, "d2h_dh " * 3),
    0xE: ("m2s_rwd", "m2s_rwd", "m2s_rwd", "m2s_rwd"),
    0xF: ("s2m_drs " * 3, "s2m_drs " * 2, "s2m_drs " * 2, "s2m_drs " * 2),
}


def _slot_table(slot, form):
    """code -> [(kind, slot bit of Val), ...] for one slot position and form."""
    column = {("G", "hbr"): 0, ("G", "pbr"): 1, ("H", "hbr"): 2, ("H", "pbr"): 3}[slot, form]
    table = {}
    for code, columns in _FORMATS.items():
        at, places = 4, []
        for kind in columns[column].split():
            places.append((kind, at))
            at += LAYOUTS[kind, form].bits
        table[code] = places
    return table


SLOTS = {(slot, form): _slot_table(slot, form) for slot in "GH" for form in ("hbr", "pbr")}


def build_slot(slot, form, code, messages):
    """A slot (14 or 16 bytes). messages: one integer a place, 0 where there is none. A message
    longer than the slot is cut (zero-extended on reading), which needs its cut bits to be 0."""
    value = code
    for (_, at), message in zip(SLOTS[slot, form][code], messages, strict=True):
        value |= message << at
    return value.to_bytes(SLOT_BITS[slot] // 8, "little")


def only(form, slot):
    """(kind, fields) of the one message of a G-slot."""
    value = int.from_bytes(slot, "little")
    (kind, at), = ((kind, at) for kind, at in SLOTS["G", form][slot[0] & 15] if value >> at & 1)
    return kind, LAYOUTS[kind, form].unpack(value >> at)


def slot_of(form, kind, fields):
    """A G-slot with one message, at its first place, as a word."""
    code = next(code for code, places in SLOTS["G", form].items() if places[0][0] == kind)
    rest = [0] * (len(SLOTS["G", form][code]) - 1)
    return "x" + build_slot("G", form, code, [LAYOUTS[kind, form].pack(**fields)] + rest).hex()


def llctrl_slot(llctrl, subtype, payload=b""):
    """An H-slot with a link-layer control message (wire-formats.md 4.6)."""
    return bytes([llctrl << 4 | LLCTRL, subtype]) + payload + bytes(12 - len(payload))
