#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""Run weft-sig over random domains and data and compare its output, its error line and its exit
status with the model. Case N of a seed is the same whatever the number of cases."""

import argparse
import json
import math
import os
import random
import subprocess
import sys
from collections import Counter, namedtuple
from itertools import zip_longest

from weftmodel import signature as s

KINDS = ("crc32", "crc32c", "crc64", "crc", "csum")  # the last two are guards of DIF
FLAGS = ((s.REF_REMAP, "remap"), (s.APP_ESCAPE, "app-escape"),
         (s.APP_REF_ESCAPE, "app-ref-escape"))
# Texts in place of a good SPEC, each wrong in one way.
BAD_SPECS = (
    "", "crc16:512", "sha:512", "dif", "crc32", "crc32:", "crc32:512x", "crc32:-512", "crc32:0",
    "crc32c:511", "crc64:1024", "crc32:4104", "crc32:512,seed=1", "crc32:512,seed=zz",
    "crc32:512,seed=ffffffffffffffff", "crc32c:512,seed=1ffffffff", "crc64:512,seed=ffffffff",
    "crc64:512,seed=1ffffffffffffffff", "crc32:512,sead=0", "crc32:512,bg=0", "none:512",
    "dif:512,guard=xor,bg=0,app=0,ref=0", "dif:512,guard=crc,bg=1,app=0,ref=0",
    "dif:512,guard=csum,bg=fffe,app=0,ref=0", "dif:512,guard=crc,bg=1ffff,app=0,ref=0",
    "dif:512,guard=crc,bg=0,app=10000,ref=0", "dif:512,guard=crc,bg=0,app=0,ref=100000000",
    "dif:512,guard=crc,bg=0,app=0,ref=g", "dif:512,guard=crc,bg=0,app=0,ref=0,escape",
    "dif:500,guard=crc,bg=0,app=0,ref=0", "dif:516,guard=crc,bg=0,app=0,ref=0",
    "dif:512,guard=crc,bg=0,app=0,ref=0,seed=0",
    "dif:512,guard=crc,bg=0,app=0,ref=0,guard=crc", "dif:512,guard=crc,bg=0,app=0,ref=0,bg=0",
    "dif:512,guard=crc,bg=0,app=0,ref=0,app=1", "dif:512,guard=crc,bg=0,app=0,ref=0,ref=0",
    "dif:512,guard=crc,bg=0,app=0,ref=0,remap,remap", "crc32:512,seed=0,seed=0")
BAD_OPTIONS = (
    ("--check-mask", "100"), ("--check-mask", "-1"), ("--check-mask", "x"), ("--block0", "x"),
    ("--block0", "-1"), ("--copy-mask", "100"), ("--copy-mask", ""), ("--no-such-option", "1"))

FIELDS = ("error", "block", "offset", "computed", "stored")

# errors: one for each line on stderr. Two tags change what is right: "cut" is data of a bad length,
# whose output may begin so at most, "bare" are two domains without signature. escaped: the last line,
# how many units were not checked, or None.
Case = namedtuple("Case", "args data status output errors tags escaped", defaults=[None])


def ones(kind):
    return (1 << s.CRCS[kind][1]) - 1


def draw_domain(rng, kind=None, block=None):
    kind = kind or rng.choices(KINDS, (2, 2, 2, 5, 4))[0]
    block = block or rng.choice(s.BLOCKS)
    if kind in s.CRCS:
        return s.Domain("crc", block, s.Crc(kind, rng.choice((0, ones(kind)))))
    app = rng.choice((0, 0xFFFF, 0xABCD, rng.getrandbits(16)))
    ref = rng.choice((0, 1, 0xFFFFFFFE, 0xFFFFFFFF, 0x01234567, rng.getrandbits(32)))
    return s.Domain("t10dif", block,
                    s.Dif(kind, rng.choice((0, 0xFFFF)), app, ref, rng.randrange(8)))


def draw_near(rng, domain):
    """A domain of the same structure, with nothing or a little changed."""
    sig = domain.sig
    if not s.is_dif(domain):
        return domain._replace(sig=sig._replace(seed=rng.choice((0, ones(sig.kind)))))
    other = draw_domain(rng, rng.choice(KINDS[3:]), domain.block).sig._asdict()
    changed = [name for name in other if rng.random() < 0.25]
    return domain._replace(sig=sig._replace(**{name: other[name] for name in changed}))


def draw_domains(rng):
    style = rng.random()
    one = draw_domain(rng)
    if style < 0.25:
        return rng.choice(((one, None), (None, one)))
    if style < 0.55:
        return one, draw_near(rng, one)
    if style < 0.7:
        return one, draw_domain(rng, block=one.block)
    two = draw_domain(rng)
    # A megabyte is the least that some sizes share: seldom.
    if math.lcm(one.block, two.block) > 100000 and rng.random() < 0.9:
        two = two._replace(block=one.block)
    return one, two


def number(rng, value):
    text = f"{value:x}"
    text = text.upper() if rng.random() < 0.2 else text
    return ("0x" if rng.random() < 0.3 else "") + text


def spec(rng, domain):
    if domain is None:
        return "none"
    sig = domain.sig
    if not s.is_dif(domain):
        if sig.seed and rng.random() < 0.3:
            return f"{sig.kind}:{domain.block}"
        return f"{sig.kind}:{domain.block},seed={number(rng, sig.seed)}"
    parts = [f"guard={sig.bg_type}", f"bg={number(rng, sig.bg)}",
             f"app={number(rng, sig.app_tag)}", f"ref={number(rng, sig.ref_tag)}"]
    parts += [name for bit, name in FLAGS if sig.flags & bit]
    return f"dif:{domain.block}," + ",".join(parts)


def draw_bytes(rng, size):
    style = rng.random()
    if style < 0.1:
        return bytes(size)
    if style < 0.15:
        return b"\xff" * size
    return rng.randbytes(size)


def spoil(rng, domain, data, start):
    """Damage one unit of data in place: what a bad wire, or an owner who escapes, would do."""
    tail = start + domain.block
    n = s.size(domain)

    def flip(at):
        data[at] ^= 1 << rng.randrange(8) if rng.random() < 0.5 else rng.randrange(1, 256)

    style = rng.randrange(9) if rng.random() < 0.4 else rng.randint(5, 8)
    if style == 0:
        flip(start + rng.randrange(domain.block))
    elif style == 1:
        flip(tail + rng.randrange(n))
    elif style == 2:
        data[tail:tail + n] = rng.randbytes(n)
    elif style == 3:
        at = start + rng.randrange(domain.block // 2 - 1) * 2
        data[at:at + 4] = data[at + 2:at + 4] + data[at:at + 2]
    elif not s.is_dif(domain):
        for at in rng.sample(range(n), rng.randint(1, n)):
            flip(tail + at)
    elif style == 4:
        flip(tail + rng.randrange(2))
    elif style == 5:
        flip(tail + 2 + rng.randrange(2))
    elif style == 6:
        flip(tail + 4 + rng.randrange(4))
    else:
        data[tail + 2:tail + 4] = b"\xff\xff"
        if style == 8:
            data[tail + 4:tail + 8] = b"\xff" * 4
        if rng.random() < 0.6:
            flip(rng.choice((start + rng.randrange(domain.block), tail)))


def draw_data(rng, source, target, block0):
    step = math.lcm(source.block if source else 1, target.block if target else 1)
    count = rng.choice((0, 1, 1, 2, 3, rng.randrange(20)))
    if step > 8192:
        count = min(count, max(1, 65536 // step))
    plain = draw_bytes(rng, step * count)
    if source is None:
        return plain
    data = bytearray(s.transfer(s.Attr(None, source), "tx", plain, block0).output)
    unit = source.block + s.size(source)
    for _ in range(rng.choice((0, 1, 1, 2, 3, 6)) if data else 0):
        spoil(rng, source, data, rng.randrange(len(data) // unit) * unit)
    if len(data) > unit and rng.random() < 0.05:
        data[:2 * unit] = data[unit:2 * unit] + data[:unit]
    return bytes(data)


def begun(attr, direction, data, block0):
    """The output blocks that a program without foresight may write before data ends too early."""
    source, target = (attr.mem, attr.wire)[::1 if direction == "tx" else -1]
    unit, block = (source.block + s.size(source), source.block) if source else (1, 1)
    goal = target.block if target else 1
    filled = data + bytes(-len(data) % (math.lcm(block, goal) // block * unit))
    blocks = len(data) // unit * block // goal
    out = s.transfer(attr, direction, filled, block0).output
    return out[:blocks * (goal + s.size(target))]


def draw_mask(rng):
    return rng.choice((0, 0xFF, 0xF0, 0xC0, 0x30, 0x0F, 0xCF, rng.getrandbits(8),
                       1 << rng.randrange(8)))


def draw(rng):
    """One case, with what the model says of it."""
    mem, wire = draw_domains(rng)
    if rng.random() < 0.01:
        mem = wire = None
    direction = rng.choice(("tx", "rx"))
    source, target = (mem, wire) if direction == "tx" else (wire, mem)
    specs = {"--mem": spec(rng, mem), "--wire": spec(rng, wire)}
    options = list(specs.items())
    check, flags, copy, block0 = 0xFF, 0, 0, 0
    if rng.random() < 0.6:
        check = draw_mask(rng)
        options.append(("--check-mask", number(rng, check)))
    if rng.random() < (0.4 if s.same_structure(mem, wire) else 0.05):
        flags, copy = s.COPY_MASK, draw_mask(rng)
        options.append(("--copy-mask", number(rng, copy)))
    if rng.random() < 0.5:
        block0 = rng.choice((0, 1, 7, 8, rng.getrandbits(20), 2**32 - 2, rng.getrandbits(32)))
        if source and target and rng.random() < 0.8:
            # A whole number of output blocks, most of the time.
            block0 -= block0 % (math.lcm(source.block, target.block) // source.block)
        options.append(("--block0", str(block0)))
    data = draw_data(rng, source, target, block0)
    style, tags = rng.random(), []
    if style < 0.06:
        data = rng.choice((data + bytes(rng.randint(1, 600)), data[:-rng.randint(1, 600)]))
    bad = 0.06 <= style < 0.12
    if bad:
        tags.append("arguments")
        if rng.random() < 0.75:
            at = rng.randrange(2)
            options[at] = (options[at][0], rng.choice(BAD_SPECS))
        else:
            wrong = rng.choice(BAD_OPTIONS)
            options = [o for o in options if o[0] != wrong[0]] + [wrong]
    if source and target and source.block != target.block:
        tags.append("reblock")
    if block0:
        tags.append("block0")
    if flags:
        tags.append("copy")
    if rng.random() < 0.3:
        rng.shuffle(options)
    args = [direction] + [word for option in options for word in option]
    attr = s.Attr(mem, wire, flags, check, copy)
    try:
        s.refuse(bad)
        s.check_attr(attr)
    except s.SigError:
        # A bare pair with a copy mask is wrong in both readings.
        bare = mem is None and wire is None and not flags and not bad
        return Case(args, data, 2, b"", [], tags + ["bare"] * bare)
    try:
        result = s.transfer(attr, direction, data, block0)
    except s.SigError:
        # Arguments are judged before data.
        off = source and target and block0 * source.block % target.block
        if off:
            return Case(args, data, 2, b"", [], tags)
        return Case(args, data, 2, begun(attr, direction, data, block0), [], tags + ["cut"])
    if result.counters["escaped"]:
        tags.append("escaped")
    if result.error:
        tags.append("error")
    told = {key: result.counters[key] for key in ("escaped", "escaped_unprotected")}
    return Case(args, data, 0, result.output, result.errors, tags,
                told if told["escaped"] else None)


def judge(case, status, output, complaint, streamed=False):
    """What is wrong with an answer, none if all is well. Of data of a bad length nothing moves, or
    if streamed, no more than what its whole blocks make."""
    if "bare" in case.tags and status == 0:
        case = case._replace(status=0, output=case.data)
    if "cut" in case.tags:
        case = case._replace(status=1 if status == 1 else 2,
                             output=case.output[:len(output)] if streamed else b"")
    if status != case.status:
        yield f"exit {case.status}, got {status} ({complaint.decode(errors='replace').strip()})"
        return
    if output != case.output:
        both = zip(case.output, output)
        at = next((i for i, (a, b) in enumerate(both) if a != b), min(len(output),
                                                                      len(case.output)))
        yield f"{len(case.output)} bytes of output, got {len(output)}; they differ at {at}: " \
              f"{case.output[at:at + 8].hex()}, got {output[at:at + 8].hex()}"
    if case.status:
        return
    lines = complaint.decode(errors="replace").splitlines()
    if case.escaped:
        told = lines.pop() if lines else ""
        if told != json.dumps(case.escaped):
            yield f"last line {json.dumps(case.escaped)}, got {told}"
    want = [{key: error._asdict()[key] for key in FIELDS} for error in case.errors]
    try:
        got = [{key: json.loads(line).get(key) for key in FIELDS} for line in lines]
    except (ValueError, AttributeError):
        got = lines
    if got != want:
        yield f"{len(want)} error lines, got {len(lines)}; " + next(
            f"line {i}: {json.dumps(a)}, got {b}"
            for i, (a, b, c) in enumerate(zip_longest(want, lines, got)) if a != c)


def run(program, case, timeout, streamed):
    try:
        done = subprocess.run([program, *case.args], input=case.data, capture_output=True,
                              timeout=timeout, check=False)
    except subprocess.TimeoutExpired:
        return [f"at most {timeout} s, took more"]
    return list(judge(case, done.returncode, done.stdout, done.stderr, streamed))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sig", required=True, help="the weft-sig to test")
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, help="default: a random one, printed")
    parser.add_argument("--only", type=int, metavar="N", help="only case N")
    parser.add_argument("--keep", metavar="DIR", help="write input and output of failed cases")
    parser.add_argument("--streamed", action="store_true",
                        help="allow whole blocks of output before data turns out too short")
    parser.add_argument("--timeout", type=float, default=20, help="seconds a case")
    opts = parser.parse_args()
    if not os.access(opts.sig, os.X_OK):
        parser.error(f"{opts.sig}: not an executable")
    program = os.path.abspath(opts.sig)
    seed = random.SystemRandom().getrandbits(32) if opts.seed is None else opts.seed
    print(f"seed {seed}", flush=True)
    passed = failed = 0
    seen = Counter()
    for n in range(opts.cases) if opts.only is None else [opts.only]:
        case = draw(random.Random(f"{seed}/{n}"))
        seen.update(case.tags or ["plain"])
        wrong = run(program, case, opts.timeout, opts.streamed)
        passed, failed = passed + (not wrong), failed + bool(wrong)
        if wrong:
            words = " ".join(word or "''" for word in case.args)
            print(f"FAIL {n} [{' '.join(case.tags)}] {words}: want {'; '.join(wrong)}", flush=True)
        if wrong and opts.keep:
            for name, data in (("in", case.data), ("want", case.output)):
                with open(os.path.join(opts.keep, f"{n}.{name}"), "wb") as out:
                    out.write(data)
    print("cases with " + ", ".join(f"{name} {count}" for name, count in sorted(seen.items())))
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
