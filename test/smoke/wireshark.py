#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""Hold usertools/weft.lua against counts made elsewhere.

  wireshark.py compare CAPTURE REPORT [ARG...]   as weft-replay --json counts, given its ARGs
  wireshark.py model FOLDER [SEED]               every trace of make_traces.py in FOLDER; half of them, drawn
  wireshark.py sim CAPTURE REPORT [pair]         as weft-sim --json counts, and check_wire.py
  wireshark.py host CAPTURE REPORT NODE          as weftd --json counts at a host's port
  wireshark.py notes CAPTURE NOTE...             each note is raised somewhere
  wireshark.py vectors                           what the specification and test/vectors print
  wireshark.py twice CAPTURE                     a second pass shows what the first one does
  wireshark.py malformed SEED                    truncated frames and noise: no Lua error

The folder WORK of the environment takes what is written. Prints what differs; exit status 1 if
anything does.
"""

import argparse
import glob
import hashlib
import json
import os
import random
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../model"))
from weftmodel import control, crc, fec, frame, pcapio, wirecheck  # noqa: E402

WORK = os.environ["WORK"]
TSHARK = os.environ["TSHARK"].split() + ["-n", "-X", f"lua_script:{os.environ['WEFT_LUA']}"]
CUT_SHORT = "cut short in the middle of a packet"


def tshark(path, *args):
    """(stdout, stderr, status); a Lua error ends the test."""
    done = subprocess.run([*TSHARK, "-r", path, *args], capture_output=True, timeout=250,
                          check=False)
    out, err = done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
    for line in (out + err).splitlines():
        if "Lua Error" in line or "Lua: " in line:
            sys.exit(f"{path}: {line.strip()}")
    return out, err, done.returncode


def rows(path, fields, *args):
    """A {field: [values]} for each packet, and whether the file ends inside one."""
    select = [word for name in fields for word in ("-e", name)]
    out, err, status = tshark(path, "-T", "fields", "-E", "separator=|", "-E", "aggregator=,",
                              *select, *args)
    truncated = CUT_SHORT in err
    if status != (2 if truncated else 0):
        sys.exit(f"{path}: tshark ended with {status}: {err}")
    split = [[v.split(",") if v else [] for v in line.split("|")] for line in out.splitlines()]
    return [dict(zip(fields, values)) for values in split], truncated


def judged(path, fields, *args):
    """Some of EVERY, as rows. A file is dissected once, however many questions are asked of it with the same options:
    what was found stands in WORK."""
    now = os.stat(path)
    words = [os.path.realpath(path), str(now.st_mtime_ns), str(now.st_size), *args]
    kept = os.path.join(WORK, hashlib.sha256("\0".join(words).encode()).hexdigest() + ".rows")
    if not os.path.exists(kept):
        with open(kept + ".new", "w", encoding="ascii") as out:
            json.dump(rows(path, EVERY, *args), out)
        os.rename(kept + ".new", kept)
    found, truncated = load(kept)
    return [{name: row[name] for name in fields} for row in found], truncated


# Ethernet and USER0 as Wireshark numbers them.
ENCAPSULATIONS = (["1"], ["45"])
COUNTED = ("frame.len", "frame.cap_len", "frame.encap_type", "frame.protocols", "weft.drop",
           "weft.kind", "weft.mode", "weft.count", "weft.stream", "weft.flit.index", "weft.flit.fec_status",
           "weft.flit.fec_bytes", "weft.flit.crc_status", "weft.flit.verdict", "weft.flit.lost",
           "weft.slot.refused", "weft.msg.kind")
# Expert notes, and the count of a report that is how often these are raised, no more and no less.
NOTES = (
    (("gap",), "isn", "gaps"), (("replay", "duplicate", "late"), "isn", "duplicates"),
    (("crc_bad",), "crc", "bad"), (("fec_corrected",), "fec", "corrected"),
    (("fec_uncorrectable",), "fec", "uncorrectable"),
)
NOTED = tuple("weft.expert." + name for names, _, _ in NOTES for name in names)


def why_skipped(row, only_mode):
    """weft-replay's reason not to look at a packet's flits, or None."""
    if row["frame.cap_len"] != row["frame.len"]:
        return "caplen"
    if row["frame.encap_type"] not in ENCAPSULATIONS:
        return "link_type"
    if row["weft.drop"] and row["weft.drop"] != ["bad_control"]:
        return row["weft.drop"][0]
    if not row["weft.kind"] and not row["weft.flit.index"]:
        return "runt" if int(row["frame.len"][0]) < 14 else "ethertype"
    if row["weft.mode"] and only_mode and row["weft.mode"] != [str("cxl rxl".split().index(only_mode))]:
        return "mode"
    return "control" if row["weft.kind"] == ["1"] else None


def counts(path, only_mode, *prefs):
    """What the dissector found, in the form of weft-replay's report."""
    packets, truncated = judged(path, COUNTED + NOTED, *prefs)
    skipped, fec, crc, verdict, messages, raised = (Counter() for _ in range(6))
    frames = flits = lost = 0
    streams = set()
    for row in packets:
        reason = why_skipped(row, only_mode)
        if reason:
            skipped[reason] += 1
            continue
        frames += 1
        flits += len(row["weft.flit.index"])
        streams.update(row["weft.stream"])
        fec.update(row["weft.flit.fec_status"])
        fec["corrected_bytes"] += sum(map(int, row["weft.flit.fec_bytes"]))
        crc.update(row["weft.flit.crc_status"])
        verdict.update(row["weft.flit.verdict"])
        lost += sum(map(int, row["weft.flit.lost"]))
        messages.update(row["weft.msg.kind"])
        skipped["slot_format"] += len(row["weft.slot.refused"])
        raised.update({name: len(row[name]) for name in NOTED})
    skipped["all_zero"] = verdict["all zero"]
    return {
        "frames": frames, "flits": flits, "connections": len(streams), "skipped": skipped,
        "truncated": int(truncated), "messages": messages,
        "fec": {k: fec[k] for k in ("clean", "corrected", "corrected_bytes", "uncorrectable")},
        "crc": {k: crc[k] for k in ("good", "bad")},
        "isn": {"gaps": verdict["gap"], "lost_flits": lost, "duplicates": verdict["duplicate"]},
        "notes": [sum(raised["weft.expert." + name] for name in names) for names, _, _ in NOTES],
    }


def preferences(args):
    """Options of weft-replay as options of tshark: (only_mode, has_ide, options)."""
    parser = argparse.ArgumentParser()
    for name in ("--mode", "--isn", "--crc-order", "--spid", "--dpid", "--first-seq", "--ide",
                 "--key-file", "--pcrc", "--poison", "--stop"):
        parser.add_argument(name)
    o = parser.parse_args(args)
    prefs = {"isn": o.isn, "crc_order": o.crc_order, "first": o.first_seq, "raw_mode": o.mode,
             "raw_spid": o.spid and int(o.spid, 0), "raw_dpid": o.dpid and int(o.dpid, 0)}
    options = [f"weft.{k}:{v}" for k, v in prefs.items() if v is not None]
    has_ide = o.ide not in (None, "off")
    if has_ide:
        options.append("weft.encrypted:TRUE")
    return o.mode, has_ide, [word for option in options for word in ("-o", option)]


def without_zeros(value):
    return {k: v for k, v in value.items() if v} if isinstance(value, dict) else value


ENCRYPTED_MOST = 600000
IDE_REASONS = ("no_key", "ide_mac", "ide_insecure", "slot_format")


def compare(capture, expect, args):
    """Differences between what the dissector finds and `expect`, a report of weft-replay or of
    the model. What only decryption can show is left out."""
    only_mode, has_ide, options = preferences(args)
    got = counts(capture, only_mode, *options)
    if has_ide:
        got["messages"] = expect["messages"] = {}
        for report in (expect, got):
            report["skipped"] = {k: v for k, v in report["skipped"].items() if k not in IDE_REASONS}
    for key, value in got.items():
        if key in expect and without_zeros(value) != without_zeros(expect[key]):
            yield f"{key}: expected {without_zeros(expect[key])}, got {without_zeros(value)}"
    for (names, group, count), times in zip(NOTES, got["notes"]):
        if times != expect[group][count]:
            yield f"notes {'/'.join(names)}: expected {expect[group][count]}, got {times}"


def same_twice(capture, *options):
    """What the second pass shows is what the first one found."""
    with ThreadPoolExecutor(2) as pool:
        once, twice = pool.map(lambda more: tshark(capture, "-V", *more, *options), ((), ("-2",)))
    if once[2] or twice[2]:
        yield f"{capture}: tshark ended with {once[2]}, {twice[2]}: {once[1]}"
    if once[0] != twice[0]:
        yield "two passes do not show what one shows"


def model_case(path):
    case = load(path)
    capture = os.path.join(os.path.dirname(path), case["trace"])
    # Encrypted flits are all alike to the dissector: the small traces of them show it.
    if "--ide" in case["args"] and os.path.getsize(capture) > ENCRYPTED_MOST:
        return []
    return [f"{case['trace']}: {wrong}" for wrong in compare(capture, case["expect"], case["args"])]


def model(folder, seed=None):
    paths = sorted(glob.glob(os.path.join(folder, "*.json")))
    if not paths:
        yield f"{folder}: no traces"
    if seed is not None:
        paths = random.Random(int(seed)).sample(paths, (len(paths) + 1) // 2)
    with ThreadPoolExecutor(2) as pool:
        for wrong in pool.map(model_case, paths):
            yield from wrong


def expect_counts(what, want, got):
    for key, value in want.items():
        if without_zeros(value) != without_zeros(got[key]):
            yield f"{what}, {key}: expected {without_zeros(value)}, got {without_zeros(got[key])}"


COMMANDS = ("explicit", "acks", "naks_standard", "naks_selective")
SENDER = ("weft.drop", "weft.kind", "weft.mode", "weft.spid", "weft.control.type", "weft.flit.cmd",
          "weft.flit.verdict", "weft.flit.fec_status", "weft.flit.fec_bytes", "weft.expert.late",
          "weft.msg.kind")
# What judged() keeps of a packet.
EVERY = tuple(dict.fromkeys((*COUNTED, *NOTED, *SENDER, *(
    "weft.expert." + name for name in ("all_zero", "nak_standard", "nak_selective", "poison", "slot_format", "refused",
                                       "header_check")))))


def senders(path, *prefs):
    """{SPID: Counter} of what each sender's frames are made of; flits and what is counted by
    name, verdicts, commands of intact flits, messages."""
    found = {}
    for row in judged(path, SENDER, *prefs)[0]:
        got = found.setdefault(int((row["weft.spid"] or ["0"])[0], 0), Counter())
        if row["weft.drop"]:
            got["refused"] += 1
            continue
        if row["weft.kind"] == ["1"]:
            got["control"] += 1
            got["control " + row["weft.control.type"][0]] += 1
            continue
        verdicts = row["weft.flit.verdict"]
        got["frames"] += 1
        got["flits"] += len(verdicts)
        got.update(verdicts)
        got.update("fec " + status for status in row["weft.flit.fec_status"])
        got["fec bytes"] += sum(map(int, row["weft.flit.fec_bytes"]))
        got["late"] += len(row["weft.expert.late"])
        got.update(COMMANDS[int(command)] for command, verdict in
                   zip(row["weft.flit.cmd"], verdicts) if verdict not in ("bad", "all zero"))
        got.update(row["weft.msg.kind"])
    return found


def fec_of(got):
    return {k: got["fec " + k] for k in ("corrected", "uncorrectable")}


def sim(capture, path, fabric=""):
    """What weft-sim says of the capture it wrote. Where the retry layers take numbers from the
    CRC and have kept their counts, they saw what the dissector sees."""
    report = load(path)
    made, retry = report["capture"], report["retry"]
    got = sum(senders(capture, "-o", "weft.isn:" + made["isn"]).values(), Counter())
    yield from expect_counts("weft-sim", {k: made[k] for k in ("frames", "flits", "control",
                                                              "refused")}, got)
    yield from expect_counts("weft-sim", {"fec": report["fec"]}, {"fec": fec_of(got)})
    # Of a replay in cxl mode a reader without a retry layer knows only the explicit numbers.
    if not any(report["faults"].values()) and (made["mode"] == "rxl" or retry["resent"] == 0):
        kinds = {k: got[k] for k in OPCODE_KINDS}
        yield from expect_counts("weft-sim", {"messages": report["messages"]}, {"messages": kinds})
    if made["mode"] == "rxl" and not made["gap_decoding"]:
        return
    checker = wirecheck.Checker(set(), made["isn"])
    model_report = checker.run([(capture, None)])
    sums = {k: model_report[k] for k in ("nops", *COMMANDS[1:])}
    sums["bad"] = checker.count["bad"] + checker.count["spoiled"]  # late poison
    yield from expect_counts("check_wire", sums, {**got, "nops": got["no number"], **{
        k: got[k] for k in ("bad", *COMMANDS[1:])}})
    yield from expect_counts("check_wire", {"control": dict(checker.control)}, {
        "control": {k: got[f"control {k}"] for k in control.CARRIES}})
    if fabric == "pair" and sees_all(report):
        yield from expect_counts("ends", {"nops": retry["nops"], "bad": retry["bad"]},
                                 {"nops": got["no number"], "bad": got["bad"]})


OPCODE_KINDS = ("m2s_req", "m2s_rwd", "m2s_birsp", "s2m_bisnp", "s2m_ndr", "s2m_drs")


def sees_all(report):
    """Whether the counters of weft-sim's ends are of all flits of a capture without switches: no
    end forgot what it had counted, and every flit was of its session."""
    return (report["capture"]["mode"] == "rxl"
            and report["faults"]["node_crash"] + report["faults"]["memory_loss"] == 0
            and report["dropped"]["no_session"] == 0)


def host(capture, path, name):
    """What a host of weftd says of its own port. What it sends is seen before the wire spoils it,
    what it receives as it comes."""
    node = [n for n in load(path)["nodes"] if n["name"] == name][0]
    connection, = node["connections"]
    retry, asked = connection["retry"], node["requests"]
    fec = [stage for stage in node["stages"] if stage["stage"] == "fec_check"][0]
    got = senders(capture)
    out, back = got.pop(node["pid"]), got.pop(connection["pid"])
    if got:
        yield f"somebody else sends: {sorted(got)}"
    yield from expect_counts(
        "sent", {"numbered": retry["sent"], "again": retry["resent"], "nops": retry["nops_sent"],
                 "acks": retry["acks_sent"], "naks": retry["naks_sent"], "damaged": 0,
                 "requests": asked["reads"] + asked["writes"]},
        {"numbered": out["in turn"], "again": out["duplicate"], "nops": out["no number"],
         "acks": out["acks"], "naks": out["naks_standard"] + out["naks_selective"],
         "damaged": out["fec corrected"] + out["fec uncorrectable"] + out["bad"] + out["gap"],
         "requests": out["m2s_req"] + out["m2s_rwd"]})
    yield from expect_counts(
        "received", {"flits": fec["flits"], "corrected": fec["corrected"],
                     "bytes": fec["corrected_bytes"], "uncorrectable": fec["uncorrectable"],
                     "nops": retry["nops"], "bad": retry["bad"], "delivered": retry["delivered"],
                     "duplicates": retry["duplicates"]},
        {"flits": back["flits"], "corrected": back["fec corrected"], "bytes": back["fec bytes"],
         "uncorrectable": back["fec uncorrectable"], "nops": back["no number"],
         "bad": back["bad"], "delivered": back["in turn"] + back["gap"] + back["late"],
         "duplicates": back["duplicate"] - back["late"]})


def notes(capture, *names):
    """Which of these expert notes are nowhere."""
    fields = ["weft.expert." + name for name in names]
    got, _ = judged(capture, fields)
    for field in fields:
        if not any(row[field] for row in got):
            yield f"{capture}: no note {field}"


# wire-formats.md (c): message, CRC r7..r0, FEC with r0 first, FEC with r7 first.
SHA = b"".join(hashlib.sha256(f"wire{i}".encode()).digest() for i in range(8))[:242]
PLAIN = (
    (bytes(241) + b"\x01", "d568fed533414d69", "fde696be324d", "aa1e79be4d32"),
    (b"\x01" + bytes(241), "61b9a7e91ac33b0b", "f0beef64a8b2", "7aa9b464b3a9"),
    (b"\x80" + bytes(241), "815cfec8f4a99207", "feee5f57af5b", "3d848057db2f"),
    (bytes(range(242)), "5650ba1b432ce5bc", "15a03dc7ffa8", "b3b248c7f8af"),
    (b"\xff" * 242, "8524fedd34c21351", "53cd0ec341b4", "5ecb9dc34bbe"),
    (b"\x5a" * 242, "3acc9b46036aa74f", "96f597ab8081", "ae550babdbda"),
    (SHA, "0f40461310796275", "e4cdb65b27ab", "fdae435b7cf0"),
)
# encapsulation.md section 3: message, VC, SPID, DPID, number, CRC, FEC.
# They are NOPs (byte 0): each shows a number and uses none.
COUNT = bytes(range(242))
ISN = (
    (COUNT, 0, 0x000, 0x000, 0, "5650ba1b432ce5bc", "15a03dc7ffa8"),
    (COUNT, 0, 0x000, 0x000, 1, "9fa80a7136a38082", "e32f08f84c6e"),
    (COUNT, 0, 0x000, 0x000, 1023, "079cd1beda8e410a", "dda4780e1cf8"),
    (COUNT, 0, 0x123, 0x456, 1, "2fe077b2ca51ab39", "c9de1b774336"),
    (COUNT, 0, 0x456, 0x123, 1, "a945238e31298cdf", "633ddf5bfbab"),
    (COUNT, 3, 0x123, 0x456, 1, "a76e309c29b4dfcd", "b36c29d5dae4"),
    (bytes(242), 0, 0x123, 0x456, 0, "b0487dc3fcf22bbb", "2af1138f0f58"),
    (bytes(242), 0, 0xFFE, 0x001, 511, "01fd2a40e5cc13ae", "869a87e6b652"),
)
XOR = ((0, "5650ba1b432ce5bc"), (1, "49b28d0f1780f41f"), (5, "3547515f6c66b0c5"),
       (1023, "306d92430759b25b"))
FEC_ALONE = ((0, "00006b000001"), (1, "6b0000010000"), (248, "000400000100"),
             (249, "000002000001"))
# Errors in the SHA flit: {byte: XOR}, FEC verdict, byte it corrects, CRC verdict behind it.
ERRORS = (
    ({100: 0x5A}, "corrected", "100", "good"),
    ({1: 0x01, 4: 0x47}, "uncorrectable", None, "bad"),
    ({1: 0x01, 4: 0x03}, "corrected", "7", "bad"),
    ({0: 0x01, 3: 0x01}, "corrected", "252", "bad"),
    ({0: 0x01, 3: 0x02}, "corrected", "255", "bad"),
)


def made(message, remainder, parity, order="r0"):
    remainder = bytes.fromhex(remainder)
    return message + (remainder[::-1] if order == "r0" else remainder) + bytes.fromhex(parity)


def shown(name, packets, fields, *options, linktype=pcapio.USER0):
    path = os.path.join(WORK, name + ".pcap")
    pcapio.write_pcap(path, [pcapio.Packet(i * 1000, p) for i, p in enumerate(packets)], linktype)
    fields = ["weft.flit." + f for f in fields]
    options = [word for o in options for word in ("-o", o)]
    return [tuple(row[f] for f in fields) for row in rows(path, fields, *options)[0]]


def expect_rows(what, want, got):
    for i, (a, b) in enumerate(zip(want, got)):
        if a != b:
            yield f"{what}, row {i}: expected {a}, got {b}"
    if len(want) != len(got):
        yield f"{what}: {len(want)} rows expected, got {len(got)}"


def vectors():
    for order, at in (("r0", 2), ("r7", 3)):
        flits = [made(v[0], v[1], v[at], order) for v in PLAIN]
        yield from expect_rows(f"CRC, {order} first", [(["clean"], ["good"], ["0x" + v[1]])
                                                      for v in PLAIN],
                               shown("plain", flits, ("fec_status", "crc_status", "crc"),
                                     "weft.raw_mode:cxl", "weft.crc_order:" + order))
    frames = [frame.build([made(m, remainder, parity)], spid=spid, dpid=dpid, vc=vc, session=i)
              for i, (m, vc, spid, dpid, _, remainder, parity) in enumerate(ISN)]
    yield from expect_rows("number", [(["clean"], ["good"], [str(v[4])]) for v in ISN],
                           shown("isn", frames, ("fec_status", "crc_status", "shows"),
                                 "weft.first:1024", linktype=pcapio.ETHERNET))
    for number, remainder in XOR:
        yield from expect_rows(f"xor form, {number}", [(["good"], [str(number)])],
                               shown("xor", [made(COUNT, remainder, "0" * 12)], ("crc_status", "shows"),
                                     "weft.isn:xor", f"weft.first:{number}"))
    flits = [bytes(at) + b"\x01" + bytes(249 - at) + bytes.fromhex(parity)
             for at, parity in FEC_ALONE]
    yield from expect_rows("FEC alone", [(["clean"],)] * len(flits),
                           shown("fec", flits, ("fec_status",)))
    flits = []
    for error, *_ in ERRORS:
        flit = bytearray(made(*PLAIN[-1][:3]))
        for at, value in error.items():
            flit[at] ^= value
        flits.append(flit)
    want = [([status], [at] if at else [], [intact]) for _, status, at, intact in ERRORS]
    yield from expect_rows("FEC decoding", want,
                           shown("errors", flits, ("fec_status", "fec_at", "crc_status"),
                                 "weft.raw_mode:cxl"))
    yield from numbers()
    yield from naks()
    yield from slots()
    yield from pending_data()
    yield from controls()


# Flits of one sender, in order: kind, number (None: no number makes the CRC), and what comes of it:
# verdict, number of its own, number that a NOP shows, numbers lost.
PAYLOAD, NOP = 0x80, 0
STORY = (
    (PAYLOAD, 1, "in turn", 1, None, None),
    (NOP, None, "bad", None, None, None),
    (PAYLOAD, 2, "in turn", 2, None, None),     # so the bad one had used none
    (NOP, 3, "no number", None, 3, None),
    (PAYLOAD, None, "bad", None, None, None),
    (NOP, 3, "no number", None, 3, None),
    (PAYLOAD, 2, "duplicate", 2, None, None),   # nothing is guessed any more
    (PAYLOAD, 3, "in turn", 3, None, None),
    (NOP, 6, "no number", None, 6, None),       # a lost tail, that the next flit tells of
    (PAYLOAD, 6, "gap", 6, None, 2),
    (PAYLOAD, None, "bad", None, None, None),
    (PAYLOAD, 8, "in turn", 8, None, None),
    (PAYLOAD, 7, "duplicate", 7, None, None),
)


def flit_of(kind, number, command=0, named=0):
    """A whole flit, of rxl mode (SPID and DPID 0) if it has a number."""
    head = bytes([kind | command << 2 | named >> 8, named & 255])
    flit = head + bytes(238) + b"\1\0"
    form = "none" if number is None else "pseudo"
    flit += crc.to_bytes(crc.flit_crc(flit, form, seq=number or 0))
    return flit + fec.encode(flit)


def damaged(flit):
    """CRC wrong, FEC right."""
    flit = flit[:242] + bytes([flit[242] ^ 1]) + flit[243:250]
    return flit + fec.encode(flit)


def numbers():
    """What a receiver makes of numbers, NOPs and bad flits one behind the other."""
    flits = [damaged(flit_of(kind, 0)) if number is None else flit_of(kind, number)
             for kind, number, *_ in STORY]
    want = [tuple([] if v is None else [str(v)] for v in row[2:]) for row in STORY]
    yield from expect_rows("story", want, shown("story", flits, ("verdict", "seq", "shows", "lost")))


def naks():
    """Which flit a Nak wants: the number behind the one it names; there is no 0 in cxl mode."""
    for mode, first in (("rxl", "0"), ("cxl", "1")):
        flits = [flit_of(PAYLOAD, 1 + i if mode == "rxl" else None, *header)
                 for i, header in enumerate(((1, 7), (2, 1023), (3, 5)))]
        yield from expect_rows(f"Naks, {mode}", [([], []), (["1023"], [first]), (["5"], ["6"])],
                               shown("naks", flits, ("nak", "asked"), "weft.raw_mode:" + mode))


# Names of the model's fields in the dissector, where they differ.
NAMES = {"memop": "op", "snptype": "snp_type", "metafield": "meta_field", "bitag": "tag",
         "metavalue": "meta_value", "ldid": "ld_id", "cacheid": "cache_id", "cqid": "tag",
         "uqid": "tag", "biid": "bi_id", "lowaddr": "low_addr", "rspdata": "rsp_data",
         "rsppre": "rsp_pre", "goerr": "go_err", "devload": "dev_load", "bep": "trp"}


def slot_vectors(form):
    """(flits, {field: values in order}) of each slot of test/vectors/slots.txt. The second flit
    takes up the data that the first may announce."""
    with open(os.path.join(HERE, "../vectors/slots.txt"), encoding="ascii") as src:
        lines = [line.split() for line in src if not line.startswith("#")]
    for place, line_form, _, slot, *messages in lines:
        if line_form != form:
            continue
        flits, want = bytearray(b"\x80" + bytes(255) + b"\x80" + bytes(255)), {}
        at = 2 if place == "H" else 16
        flits[at:at + len(slot) // 2] = bytes.fromhex(slot)
        for message in messages:
            kind, text = message.split(":")
            if text == "-":
                continue
            want.setdefault("kind", []).append(kind)
            for name, value in (f.split("=") for f in text.split(",")):
                scale = 64 if name == "addr" else 1
                if name not in ("val", "r"):
                    want.setdefault(NAMES.get(name, name), []).append(int(value, 16) * scale)
        yield bytes(flits), want


def slots():
    """Every field of every message in every slot format."""
    for form, mode in (("hbr", "cxl"), ("pbr", "rxl")):
        cases = list(slot_vectors(form))
        names = sorted({name for _, want in cases for name in want})
        path = os.path.join(WORK, "slots.pcap")
        pcapio.write_pcap(path, [pcapio.Packet(0, flits) for flits, _ in cases], pcapio.USER0)
        got, _ = rows(path, ["weft.msg." + name for name in names], "-o", "weft.check:FALSE",
                      "-o", "weft.raw_mode:" + mode)
        if not cases or len(got) != len(cases):
            yield f"{form}: {len(cases)} slots, {len(got)} rows"
        for i, (row, (_, want)) in enumerate(zip(got, cases)):
            for name in names:
                values = row["weft.msg." + name]
                if name != "kind":
                    values = [int(v, 0) for v in values]
                if values != want.get(name, []):
                    yield f"{form} slot {i}: {name}: expected {want.get(name, [])}, got {values}"


def pending_data():
    """The H-slot may announce data behind 16 pending data slots, not behind 17."""
    for enables in (0, 1):
        # Slot 14: four D2H data headers, of which `enables` have a trailer too.
        first, second = bytearray(b"\x80" + bytes(255)), bytearray(b"\x80" + bytes(255))
        headers = 0xD | sum((1 | (i < enables) << 15) << (4 + 24 * i) for i in range(4))
        first[224:240] = headers.to_bytes(16, "little")
        second[2] = 0x1E  # M2S RwD
        path = os.path.join(WORK, "pending.pcap")
        pcapio.write_pcap(path, [pcapio.Packet(0, bytes(first + second))], pcapio.USER0)
        got, _ = rows(path, ["weft.slot.refused", "weft.msg.kind"], "-o", "weft.check:FALSE",
                      "-o", "weft.raw_mode:cxl")
        kinds = ["d2h_dh"] * 4 + ["m2s_rwd"] * (1 - enables)
        yield from expect_rows(f"{16 + enables} pending", [(enables, kinds)],
                               [(len(r["weft.slot.refused"]), r["weft.msg.kind"]) for r in got])


def with_check(records):
    """Records that the check is right about; a check that they have is left out."""
    kept = b"".join(bytes([kind, len(value)]) + value for kind, value in records
                    if kind != control.CHECK)
    return kept + bytes([control.CHECK, 2]) + frame.t10dif(kept).to_bytes(2, "big")


def split(message):
    """[(type, value)] of a whole message."""
    records, at = [], 0
    while at < len(message):
        end = at + 2 + message[at + 1]
        records.append((message[at], message[at + 2:end]))
        at = end
    return records


# A value of each record that is in range, others that are not, and what tells it from 0.
NODE = b"node" + bytes(12)
FILLED = {control.VERSION: 1, control.MODE: 1, control.MAX_FLITS: 5, control.PORT: 7,
          control.CREDITS: 64, control.DIFFERS: 4, control.FLAGS: 1, control.SESSION: 0xFEDCBA98,
          control.COUNT: 0x01020304, control.CHALLENGED: 0x123456789ABCDEF0,
          control.INSTANCE: 0x0FEDCBA987654321, control.HEARD: 1, control.RUNS_MS: 0xFFFFFFFF}
OUT_OF_RANGE = {control.TYPE: (0, 13), control.MODE: (2,), control.MAX_FLITS: (0, 65),
                control.CRC_ORDER: (2,), control.ISN: (3,), control.IDE: (3,),
                control.DIFFERS: (0, 13), control.FLAGS: (2,), control.SESSION: (0,),
                control.COUNT: (0,), control.PADDED: (65,), control.CHALLENGED: (0,),
                control.INSTANCE: (0,)}
NAMED = ("type", "version", "mode", "max_flits", "crc_order", "isn", "ide", "port", "node",
         "credits", "differs", "flags", "session", "count", "padded", "check",
         "ide_bits", "random", "proof", "ready_proof", "challenge", "number", "mac",
         "memory", "known", "fabric", "name", "instance", "heard", "runs_ms")


def filled(kind):
    """A message of this kind with all its records, by the model's tables."""
    records = [(control.TYPE, bytes([kind]))]
    for record in control.CARRIES[kind]:
        value = FILLED.get(record, 0).to_bytes(control.LENGTH[record], "big")
        records.append((record, NODE if record == control.NODE else value))
    return split(with_check(records))


def put(records, kind, value):
    return [(k, value.to_bytes(len(v), "big") if k == kind else v) for k, v in records]


def wrong_records(records):
    """Each way to get a message wrong, with a right check."""
    has = {kind for kind, _ in records}
    for i, (kind, value) in enumerate(records):
        if kind == control.CHECK:
            continue
        yield records[:i] + records[i + 1:]
        yield records + [(kind, value)]
        yield records[:i] + [(kind, value + b"\0")] + records[i + 1:]
        yield records[:i] + [(kind, value[:-1])] + records[i + 1:]
        for number in OUT_OF_RANGE.get(kind, ()):
            yield put(records, kind, number)
    may = control.MAY_CARRY.get(records[0][1][0], ())
    optional = control.OPTIONAL.get(records[0][1][0], ())
    for kind in set(control.LENGTH) - has:
        if len(may) == 1 and kind in may:
            continue
        value = 1 if kind in OUT_OF_RANGE and kind not in optional else 0
        yield records + [(kind, value.to_bytes(control.LENGTH[kind], "big"))]


def control_cases():
    """(bytes of records, whether they are a good message)."""
    for kind in control.CARRIES:
        records = filled(kind)
        good = with_check(records)
        yield good, True
        yield with_check(list(reversed(records))), True
        yield with_check([(200, b"abc")] + records), True
        yield good + bytes(30), True
        yield good + bytes(29) + b"\1", False
        for at in range(len(good)):
            yield good[:at], False
            yield good[:at] + bytes([good[at] ^ 1 << at % 8]) + good[at + 1:], False
        for wrong in wrong_records(records):
            yield with_check(wrong), False
    for kind, more in control.CARRIES_IDE.items():
        records = put(filled(kind), control.IDE, 2)[:-1]
        records += [(k, bytes(range(control.LENGTH[k]))) for k in more]
        yield with_check(records), True
        yield with_check(put(records, control.IDE, 0)), False
        for i in range(len(records) - len(more), len(records)):
            yield with_check(records[:i] + records[i + 1:]), False
    for kind, more in control.MAY_CARRY.items():
        records = filled(kind)[:-1] + [(k, bytes(range(1, 1 + control.LENGTH[k]))) for k in more]
        yield with_check(records), True
        for i in range(len(records) - len(more), len(records) if len(more) > 1 else 0):
            yield with_check(records[:i] + records[i + 1:]), False
        yield with_check(put(records, control.NUMBER, 0)), control.NUMBER not in more
    for kind, more in control.OPTIONAL.items():
        for k in more:
            yield with_check(filled(kind)[:-1] + [(k, bytes(range(8)))]), True
        yield with_check(filled(kind)[:-1] + [(k, bytes(range(8))) for k in more]), True
    for kind in (control.HELLO, control.WELCOME):
        long = with_check(put(filled(kind), control.PADDED, 2))
        yield long, False
        yield long.ljust(511, b"\0"), False
        yield long.ljust(512, b"\0"), True
        yield long.ljust(600, b"\xa5"), True
    yield b"", False
    yield bytes(60), False


def controls():
    """Link control records by name, and what is wrong with them."""
    head = frame.with_check(bytes([0x11, 1, 0, 0, 1, 1, 2, 0]) + bytes(8))
    start = bytes(12) + b"\x88\xb5" + head
    path = os.path.join(WORK, "control.pcap")
    cases = list(control_cases())
    pcapio.write_pcap(path, [pcapio.Packet(0, start + records) for records, _ in cases])
    got, _ = rows(path, ["weft.drop"])
    yield from expect_rows("control", [[] if good else ["bad_control"] for _, good in cases],
                           [row["weft.drop"] for row in got])
    messages = [filled(kind) for kind in control.CARRIES]
    messages += [split(with_check(filled(kind)[:-1] +
                                  [(k, bytes(range(1, 1 + control.LENGTH[k]))) for k in more]))
                 for kind, more in [*control.MAY_CARRY.items(), *control.OPTIONAL.items()]]
    pcapio.write_pcap(path, [pcapio.Packet(0, start + with_check(m)) for m in messages])
    got, _ = rows(path, ["weft.control." + name for name in NAMED])
    if len(got) != len(messages):
        yield f"{len(messages)} control messages, {len(got)} rows"
    for row, message in zip(got, messages):
        want = {k: v.hex() if len(v) > 4 else int.from_bytes(v, "big") for k, v in message}
        shown_values = {k + 1: v[0] if control.LENGTH[k + 1] > 4 else int(v[0], 0)
                        for k, v in enumerate(row.values()) if v}
        if shown_values != want:
            yield f"control message {message[0][1].hex()}: expected {want}, got {shown_values}"


def random_control(rng):
    """A link control frame behind a good header: random records, or a message spoilt a little."""
    if rng.random() < 0.5:
        records = with_check([(k, rng.randbytes(len(v))) if rng.random() < 0.1 else (k, v)
                              for k, v in filled(rng.choice(list(control.CARRIES)))])
    else:
        records = b""
        for _ in range(rng.randrange(14)):
            length = rng.choice((0, 1, 2, 4, 16, rng.randrange(256)))
            records += bytes([rng.randrange(1, 28), length]) + rng.randbytes(length)
    head = bytes([0x11, 1, 0, 0]) + rng.randbytes(12)
    head = head[:4] + bytes([head[4] & 15, head[5], head[6] & 15]) + head[7:]
    records = records[:rng.randrange(len(records) + 1)] if rng.random() < 0.5 else records
    return bytes(12) + b"\x88\xb5" + frame.with_check(head) + records + bytes(rng.choice((0, 40)))


def spoilt(rng, good):
    """One of the kinds of bad packet, most of them with a good header so that they get far."""
    kind = rng.random()
    if kind < 0.2:
        return random_control(rng)
    data = bytearray(rng.choice(good))
    if kind < 0.5:
        # An intact CRC matters to nobody with weft.check off: mad slots are walked.
        for at in range(32, len(data), 16):
            data[at:at + 16] = rng.randbytes(16) if rng.random() < 0.5 else data[at:at + 16]
    for _ in range(rng.randrange(1, 9)):
        data[rng.randrange(14, len(data))] = rng.randrange(256)
    if kind < 0.8:
        data[14:32] = frame.with_check(data[14:30])
    return bytes(data[:rng.randrange(len(data))] if kind > 0.95 else data)


def malformed(seed):
    print(f"seed {seed}")
    rng = random.Random(int(seed))
    packets, _ = pcapio.read(os.path.join(WORK, "good.pcap"))
    good = [p.data for p in packets]
    cut = good[0]
    bad = [pcapio.Packet(0, cut[:n]) for n in range(len(cut) + 1)]
    bad += [pcapio.Packet(0, cut[:n], len(cut)) for n in range(0, len(cut), 7)]
    whole = random_control(random.Random(3)) + bytes(50)
    bad += [pcapio.Packet(0, whole[:n]) for n in range(len(whole))]
    bad += [pcapio.Packet(0, spoilt(rng, good)) for _ in range(500)]
    ethernet, raw = os.path.join(WORK, "bad.pcap"), os.path.join(WORK, "badraw.pcap")
    pcapio.write_pcap(ethernet, bad)
    pcapio.write_pcap(raw, [pcapio.Packet(0, p.data[32:]) for p in bad[-500:]] +
                      [pcapio.Packet(0, rng.randbytes(n)) for n in (0, 1, 255, 256, 257, 512)] +
                      [pcapio.Packet(0, bytes(256 * n)) for n in (64, 65)], pcapio.USER0)
    for path, option in ((ethernet, "check:TRUE"), (raw, "raw_mode:cxl")):
        _, err, status = tshark(path, "-V", "-o", "weft." + option)
        if status:
            yield f"{path}: tshark ended with {status}: {err}"
    # Unchecked, everything is used.
    for path in (ethernet, raw):
        yield from same_twice(path, "-o", "weft.check:FALSE")


def load(path):
    with open(path, encoding="ascii") as src:
        return json.load(src)


def main():
    what, *args = sys.argv[1:]
    if what == "compare":
        wrong = list(compare(args[0], load(args[1]), args[2:]))
    else:
        wrong = list({"model": model, "sim": sim, "host": host, "notes": notes,
                      "vectors": vectors, "malformed": malformed, "twice": same_twice}[what](*args))
    print("\n".join(wrong[:20]), end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
