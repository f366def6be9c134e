#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""Write the vector files that the C unit tests read: crc.txt, data_crc.txt,
fec.txt, slots.txt, ide.txt, cci.txt.

The output depends on nothing but this code, so a difference under version control is a change
of the formats. One record a line, fields separated by single spaces, # starts a comment line.
"""

import argparse
import os
import random

from weftmodel import cci_cases, crc, data_crc, fec, ide_ends, messages, mutate, traffic

HEAD = "# made by test/model/vectors.py\n"


def crc_records():
    yield "# form order spid dpid vc seq flit[0..241] crc(r7..r0) fec(bytes 250..255)"
    yield "# ids, flit, crc and fec in hex; vc and seq in decimal; order: byte 242 is r0 or r7"
    rng = random.Random("crc")
    edges = [(0, 0, 0, 0), (0xFFF, 0xFFF, 7, 1023), (1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0),
             (0, 0, 0, 1), (0, 0, 0, 256), (0x123, 0x456, 3, 511), (0xFFE, 1, 0, 512)]
    for form in ("pseudo", "xor", "none"):
        for i in range(36 if form == "pseudo" else 18):
            spid, dpid, vc, seq = (0, 0, 0, 0)
            if form == "pseudo":
                spid, dpid, vc, seq = edges[i] if i < len(edges) else (
                    rng.randrange(4096), rng.randrange(4096), rng.randrange(8), rng.randrange(1024))
            elif form == "xor":
                seq = (0, 1, 5, 255, 256, 1023)[i] if i < 6 else rng.randrange(1024)
            body = rng.randbytes(crc.COVERED)
            value = crc.by_division(body)
            if form == "pseudo":
                value = crc.by_division(crc.pseudo_header(spid, dpid, vc, seq) + body)
            elif form == "xor":
                word = int.from_bytes(body[2:4], "little") ^ seq
                value = crc.by_division(body[:2] + word.to_bytes(2, "little") + body[4:])
            order = "r7" if i % 3 == 2 else "r0"
            code = fec.encode(body + crc.to_bytes(value, order))
            yield (f"{form} {order} {spid:03x} {dpid:03x} {vc} {seq} {body.hex()} {value:016x} "
                   f"{code.hex()}")


def data_crc_records():
    yield "# start bytes t10dif crc32 crc32c crc64"
    yield "# all in hex, - for no bytes; start: the CRC of what went before, of which each takes as"
    yield "# many low bits as it is wide"
    rng = random.Random("data_crc")
    sizes = (0, 1, 2, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 79, 80, 127, 128, 129, 200, 255, 256,
             257, 319, 320, 511, 512, 520)
    for size in sizes:
        for start in (0, rng.getrandbits(64)):
            data = rng.randbytes(size)
            values = (data_crc.crc(name, start & (1 << kind.width) - 1, data)
                      for name, kind in data_crc.KINDS.items())
            words = (format(v, f"0{kind.width // 4}x")
                     for v, kind in zip(values, data_crc.KINDS.values()))
            yield f"{start:x} {data.hex() or '-'} {' '.join(words)}"


def _places(before, after):
    pairs = [f"{i}:{a ^ b:02x}" for i, (a, b) in enumerate(zip(before, after)) if a != b]
    return ",".join(pairs) or "-"


def fec_records():
    yield "# flit(256, as sent) errors verdict left"
    yield "# errors, left: position:value to XOR, joined by commas, - for none. Apply errors to"
    yield "# the flit and decode: the result is the flit with left applied (uncorrectable: left"
    yield "# equals errors, for such a flit must not be touched)"
    rng = random.Random("fec")
    kinds = [lambda r, f: f] * 2
    kinds += [lambda r, f, at=at: mutate.xor_into(f, [(at, r.randint(1, 255))])
              for at in (0, 1, 2, 3, 127, 247, 248, 249, 250, 251, 252, 253, 254, 255)]
    kinds += [lambda r, f: mutate.burst(r, f)[0]] * 14
    kinds += [mutate.uncorrectable] * 14 + [mutate.uncorrectable_in_fec] * 6 + [mutate.outside] * 4
    kinds += [mutate.miscorrected] * 14
    # The edges of each group: d = 0 and 85 lie outside of all, d = 1 of groups 1 and 2.
    for group in range(3):
        kinds.append(lambda r, f, g=group: _at_distance(r, f, g, 0))
        kinds.append(lambda r, f, g=group: _at_distance(r, f, g, 85))
        kinds.append(lambda r, f, g=group: _at_distance(r, f, g, 1))
    for damage in kinds:
        body = rng.randbytes(fec.DATA)
        sent = body + fec.encode(body)
        got = damage(rng, sent)
        verdict, result, _ = fec.decode(got)
        yield f"{sent.hex()} {_places(sent, got)} {verdict} {_places(sent, result)}"


def _at_distance(rng, flit, group, d):
    """Damage whose check and parity syndromes are alpha^d apart."""
    parity = rng.randint(1, 255)
    check = fec.FIELD.mul(parity, fec.FIELD.alpha(d))
    return mutate.xor_into(flit, [(fec.CHECK_AT[group], check), (fec.PARITY_AT[group], parity)])


def _random_message(rng, kind, form, slot, edge):
    """Random fields, or all ones; what an H-slot cuts off stays zero."""
    layout = messages.LAYOUTS[kind, form]
    value = layout.used if edge else rng.getrandbits(layout.bits) & layout.used | 1
    return value & (1 << messages.SLOT_BITS[slot] - 4) - 1


def slot_records():
    yield "# slot form format bytes message..."
    yield "# a message is kind:field=value,... in hex, in slot order; kind:- where Val is 0."
    yield "# In an H-slot the bits of PBR m2s_req and m2s_rwd beyond the slot are zero"
    rng = random.Random("slots")
    for slot in "HG":
        for form in ("hbr", "pbr"):
            for code, places in messages.SLOTS[slot, form].items():
                count = 6 if places[0][0] in messages.CXL_MEM else 3
                for i in range(count):
                    yield _slot_record(rng, slot, form, code, places, i)


def _slot_record(rng, slot, form, code, places, i):
    sent = [_random_message(rng, kind, form, slot, i == 0)
            if i < 2 or at == 4 or rng.random() < 0.5 else 0 for kind, at in places]
    words = []
    for (kind, _), message in zip(places, sent):
        fields = messages.LAYOUTS[kind, form].unpack(message)
        text = ",".join(f"{name}={v:x}" for name, v in fields.items())
        words.append(f"{kind}:{text if message else '-'}")
    data = messages.build_slot(slot, form, code, sent)
    return f"{slot} {form} {code:x} {data.hex()} {' '.join(words)}"


def ide_records():
    yield "# stream mode pcrc key: starts a stream; its first epoch has counter 1"
    yield "# flit epoch plain[0..241] wire[0..241]: its flits in order; epoch 0: a control flit"
    yield "# outside all epochs. An IDE.MAC or IDE.TMAC slot is the same in plain and wire"
    rng = random.Random("ide")
    for mode, pcrc, flits, truncation in (("containment", True, 14, 0.8),
                                          ("containment", False, 6, 0), ("skid", True, 50, 0.03),
                                          ("skid", False, 34, 0)):
        key = rng.randbytes(32)
        yield f"stream {mode} {'on' if pcrc else 'off'} {key.hex()}"
        lines = []
        packer = traffic.Packer(rng, "pbr", "mem", 0x123, 0x456, with_ide=True)
        sender = ide_ends.Sender(key, mode, pcrc, packer.flit, rng, lambda n, plain, wire: lines.append(
            f"flit {n} {plain[:242].hex()} {bytes(wire[:242]).hex()}"))
        for _ in range(flits):
            sender.protocol_flit()
            if sender.can_truncate() and rng.random() < truncation:
                sender.truncate()
        yield from lines


def cci_records():
    return cci_cases.vectors(random.Random("cci"))


FILES = {"crc.txt": crc_records, "data_crc.txt": data_crc_records, "fec.txt": fec_records,
         "slots.txt": slot_records, "ide.txt": ide_records,
         "cci.txt": cci_records}


def text(name):
    return HEAD + "".join(line + "\n" for line in FILES[name]())


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--out", required=True, metavar="DIR")
    opts = parser.parse_args()
    os.makedirs(opts.out, exist_ok=True)
    for name in FILES:
        with open(os.path.join(opts.out, name), "w", encoding="ascii") as out:
            out.write(text(name))


if __name__ == "__main__":
    main()
