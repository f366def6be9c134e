#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Holds the JSON Schema of topology files against weftd --check, both ways.

usage: topo_schema.py WEFTD WORK FILE...

Files that weftd takes validate: FILEs, and what scripts (.sh) among them write. Then files made by
the schema: with each key at an edge of what it allows, and with those alone that must be there, where
weftd must find nothing; and each at a value that it does not allow, with a key that is none, or
without one that must be there, where both must find it, with the same range or words.
What is drawn follows from WEFT_TEST_SEED."""

import json
import os
import random
import re
import subprocess
import sys

import jsonschema
import yaml

ROUNDS = 8
SEED = int(os.environ.get("WEFT_TEST_SEED", random.randrange(1 << 31)))
DRAW = random.Random(SEED)
WEFTD, WORK = sys.argv[1:3]
SCHEMA = json.loads(subprocess.run([WEFTD, "--schema"], stdout=subprocess.PIPE, check=True).stdout)
MINIMAL = False  # make files of keys that must be there
PLANT = "sevrer"  # no key of anything


def die(what):
    sys.exit("%s (WEFT_TEST_SEED=%d)" % (what, SEED))


class Yaml12(yaml.SafeLoader):
    """Plain words as YAML 1.2 reads them."""


Yaml12.yaml_implicit_resolvers = {}
for tag, form, first in (("null", r"~|null|", "~n"), ("bool", r"true|false", "tf"),
                         ("int", r"[-+]?[0-9]+|0x[0-9a-fA-F]+", "-+0123456789"),
                         ("float", r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", "-+.0123456789")):
    Yaml12.add_implicit_resolver("tag:yaml.org,2002:" + tag, re.compile("^(?:%s)$" % form), list(first))


def number(loader, node):
    text = loader.construct_scalar(node)
    return int(text, 16) if text.startswith("0x") else int(text)


Yaml12.add_constructor("tag:yaml.org,2002:int", number)
Yaml12.add_constructor("tag:yaml.org,2002:float", lambda loader, node: float(loader.construct_scalar(node)))


def validator(of=None):
    schema = SCHEMA if of is None else {"$ref": "#/definitions/" + of, "definitions": SCHEMA["definitions"]}
    return jsonschema.Draft7Validator(schema)


def schema_finds(text, of=None):
    """Paths of what is wrong."""
    return {tuple(e.absolute_path): e.message for e in validator(of).iter_errors(yaml.load(text, Yaml12))}


def weftd_finds(text):
    """Lines of what is wrong, with what is said."""
    path = os.path.join(WORK, "schema.yaml")
    with open(path, "w") as f:
        f.write(text)
    run = subprocess.run([WEFTD, "--check", path], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if run.returncode not in (0, 1):
        die("weftd --check ended with %d: %s\n%s" % (run.returncode, run.stderr, text))
    found = dict(re.findall(r"schema\.yaml:(\d+): (.*)", run.stderr))
    if run.returncode == 1 and not found:
        found = {0: run.stderr}
    return {int(line): what for line, what in found.items()}


# --- files that there are ---

def topologies(path):
    with open(path) as f:
        text = f.read()
    if not path.endswith(".sh"):
        return [text]
    found = []
    for dash, block in re.findall(r"<<(-?)'?Y'?[^\n]*\n(.*?)\n\s*Y\n", text, re.DOTALL):
        block = re.sub(r"^\t+", "", block, flags=re.MULTILINE) if dash else block
        if block.lstrip().startswith("fabric:") and "$" not in block:
            found.append(block + "\n")
    return found


def check_files(paths):
    n = 0
    for path in paths:
        for text in topologies(path):
            if weftd_finds(text):
                continue
            wrong = schema_finds(text)
            if wrong:
                die("%s: weftd takes it, the schema finds %s\n%s" % (path, wrong, text))
            n += 1
    return n


# --- files of the schema's own ---

def resolve(schema):
    """Without what stands between a key and its type."""
    while "$ref" in schema or list(schema.get("allOf", [{}])[0]) == ["$ref"]:
        ref = schema.get("$ref", schema.get("allOf", [{}])[0].get("$ref"))
        schema = SCHEMA["definitions"][ref.split("/")[-1]]
    return schema


def kinds_of(schema):
    """Each kind's schema and keys, of a list whose items have kinds; or the one of all."""
    if "if" in schema.get("allOf", [{}])[0]:
        return [(b["if"]["properties"]["kind"]["const"], resolve(b["then"])) for b in schema["allOf"]]
    if "dependencies" in schema:
        return [(kind, schema) for kind in schema["properties"]["kind"]["enum"]]
    return [(None, schema)]


def is_of(schema, key, kind):
    return key not in schema.get("dependencies", {}) or \
        kind in schema["dependencies"][key]["properties"]["kind"]["enum"]


def good(schema):
    """Text of a value at an edge of what is allowed."""
    schema = DRAW.choice(schema["anyOf"]) if "anyOf" in schema else schema
    if "enum" in schema:
        return json.dumps(DRAW.choice([schema["enum"][0], schema["enum"][-1]])).strip('"')
    kind = schema["type"]
    kind = DRAW.choice(kind) if isinstance(kind, list) else kind
    if kind in ("integer", "number"):
        n = min(DRAW.choice([schema.get("minimum", 1), schema.get("maximum", 9)]), (1 << 64) - 1)
        return hex(n) if kind == "integer" and DRAW.random() < .3 else str(n)
    pattern = schema["pattern"]
    for text in ("5e:00.0", "64G", "16K", "4K", "64K", "4M", "2-3,5", "3@0.5", "any",
                 "a" * schema.get("maxLength", 1)):
        if re.search(pattern, text):
            return text
    raise ValueError(pattern)


def bad(schema):
    """Text of a value that is not allowed, and why."""
    whys = ["type"]
    parts = schema.get("anyOf", [schema])
    number_part = next((p for p in parts if "minimum" in p), None)
    enum_part = next((p for p in parts if "enum" in p), None)
    if number_part is not None:
        whys += ["below"] + ["above"] * ("maximum" in number_part)
        whys += ["step"] * ("multipleOf" in number_part)
    if enum_part is not None:
        whys += ["word"]
    if len(parts) > 1:
        whys += ["letter", "large"]
    if "maxLength" in schema:
        whys += ["long"] + ["character"] * ("0000" not in schema["pattern"])
    why = DRAW.choice(whys)
    if why == "type":
        return why, DRAW.choice(["[1]", "{a: 1}"])
    if why == "below":
        return why, str(number_part["minimum"] - 1)
    if why == "above":
        return why, str(int(max(number_part["maximum"] * 2, number_part["maximum"] + 1))
                        if number_part["maximum"] >= 1 << 63 else number_part["maximum"] + 1)
    if why == "step":
        return why, str(number_part["maximum"] - 1)
    if why == "word":
        return why, "7" if all(isinstance(w, int) for w in enum_part["enum"]) else "nonsense"
    if why == "letter":
        return why, "4T"
    if why == "large":
        most = max(enum_part["enum"]) if enum_part else number_part["maximum"]
        return why, "%dG" % (most // (1 << 30) + 1)
    return why, "a" * (schema["maxLength"] + 1) if why == "long" else "a%b"


def mapping(schema, kind, level, path, out, choose):
    """Lines of a mapping: out gets [text, path]; choose(schema, key) says what stands there."""
    indent = "  " * level
    for key, sub in schema["properties"].items():
        if not is_of(schema, key, kind):
            continue
        sub, here, first = resolve(sub), path + (key,), len(out)
        if MINIMAL and key not in schema.get("required", []) and DRAW.random() < .3:
            continue
        if sub.get("type") == "array" and "properties" in resolve(sub["items"]) | {}:
            out.append([indent + key + ":", here])
            items = [(k, s) for k, s in kinds_of(resolve(sub["items"]))]
            for i, (k, s) in enumerate(items):
                at = len(out)
                mapping(s, k, level + 2, here + (i,), out, choose)
                if len(out) != at:
                    out[at][0] = indent + "  - " + out[at][0].lstrip()
        elif "properties" in sub:
            out.append([indent + key + ":", here])
            mapping(sub, None, level + 1, here, out, choose)
        elif MINIMAL and key not in schema.get("required", []):
            continue
        elif key == "kind" and kind is not None:
            out.append([indent + "kind: " + choose(sub, here, kind), here])
        else:
            out.append(["%s%s: %s" % (indent, key, choose(sub, here, None)), here])
        if len(out) == first + 1 and out[first][0].endswith(":"):
            del out[first]


def lists(sub):
    """A list of names or numbers."""
    return "[%s]" % ", ".join([good(sub["items"])] * max(1, sub["minItems"]))


# Ranges of a bad wire are no rows.
WIRE = {"reorder_us": ("1", "10000000"), "history": ("1", "1024"),
        "bits": ("1", "64", "3@0.5"), "burst": ("1", "256", "3@0.5")}


def choose_good(sub, path, kind):
    if kind is not None:
        return kind
    if "wire" in path[:-1] and path[-1] in WIRE:
        return DRAW.choice(WIRE[path[-1]])
    return lists(sub) if sub.get("type") == "array" else good(sub)


FABRIC = {k: v for k, v in SCHEMA["properties"].items() if k != "workloads"}
HEAD = """fabric: f
nodes:
  - {name: h, kind: host, pid: 1}
  - {name: s, kind: switch, pid: 2}
  - {name: g, kind: gfd, pid: 3}
links:
  - {a: h, b: s}
  - {a: s, b: g}
""".splitlines()


def make(part, choose):
    """Every key of the fabric, or of its load, which is looked at when the fabric is good."""
    if part == "fabric":
        out = []
        mapping(dict(SCHEMA, properties=FABRIC), None, 0, (), out, choose)
        return out
    out = [[line, ()] for line in HEAD]
    mapping({"properties": {"workloads": SCHEMA["properties"]["workloads"]}}, None, 0, (), out, choose)
    return out


def text_of(out):
    return "".join(line + "\n" for line, _ in out)


def both(out, want, what):
    """Each of want, {line: path}, is found by the schema and by weftd."""
    text = text_of(out)
    by_schema, by_weftd = schema_finds(text), weftd_finds(text)
    for line, path in want.items():
        if path not in by_schema and path + (0,) not in by_schema:
            die("%s: the schema takes line %d: %s" % (what, line, out[line - 1][0]))
        if line not in by_weftd:
            die("%s: weftd takes line %d: %s\nit found %s" % (what, line, out[line - 1][0], by_weftd))
    return len(want)


def plant(out, after, key):
    """A key that is none at the end of the mapping that has line after."""
    line, path = out[after - 1]
    out.insert(after, [re.match(r" *", line.replace("- ", "  ")).group() + key + ": 1", path[:-1]])


def round_good(part):
    out = make(part, choose_good)
    text = text_of(out)
    wrong = schema_finds(text)
    if wrong:
        die("made by the schema, and wrong: %s\n%s" % (wrong, text))
    plant(out, len(out), PLANT)  # so that nothing but values is looked at
    last = weftd_finds(text_of(out))
    if list(last) != [len(out)]:
        die("weftd finds what the schema allows: %s\n%s" % (last, text_of(out)))
    return len(out) - 1


def round_minimal(part):
    global MINIMAL
    MINIMAL = True
    n = round_good(part)
    MINIMAL = False
    return n


def same_range(sub, said, line):
    """The range or words that weftd names are the schema's; numbers above 2^53 as JSON has them."""
    sub = sub.get("items", sub)
    parts = sub.get("anyOf", [sub])
    values = next((p["enum"] for p in parts if "enum" in p), None)
    least, most = next(((p["minimum"], p["maximum"]) for p in parts if "maximum" in p), (None, None))
    numbers = re.search(r"bad (?:number|size), expected (\d+)\.\.(\d+)", said)
    words = re.search(r"bad word, expected (\S+), got", said)
    if numbers and values:
        least, most = min(values), max(values)
    if numbers and (least, float(most)) != (int(numbers[1]), float(numbers[2])):
        die("%s: weftd says %s..%s, the schema %s..%s" % (line, numbers[1], numbers[2], least, most))
    if words and words[1] != "|".join(json.dumps(v).strip('"') for v in values):
        die("%s: weftd says %s, the schema %s" % (line, words[1], values))
    return bool(numbers or words)


def round_bad(part):
    subs = {}

    def choose(sub, path, kind):
        subs[path] = sub
        if kind is not None:
            return kind
        if sub.get("type") == "array":
            return "7" if DRAW.random() < .5 else "[[1]]"
        return bad(sub)[1]

    out = make(part, choose)
    # What has a value on its line, and is no kind, was made bad.
    want = {i + 1: path for i, (line, path) in enumerate(out)
            if path and path[-1] != "kind" and not line.endswith(":")}
    n = both(out, want, "bad values")
    said = weftd_finds(text_of(out))
    if sum(same_range(subs[path], said[line], out[line - 1][0]) for line, path in want.items()) < n // 3:
        die("weftd names no ranges: %s" % said)
    return n


def round_unknown(part):
    def depth(line):
        return len(re.match(r"[ -]*", line).group())

    out = make(part, choose_good)
    first = next(i for i, row in enumerate(out) if row[1])
    ends, want = [], {}
    for i in range(first, len(out)):
        path = out[i][1][:-1]
        if not any(row[1][:len(path)] == path and len(row[1]) > len(path) for row in out[i + 1:]):
            ends.append(i + 1)
    for n, after in enumerate(sorted(set(ends))):
        # Deepest last: each mapping ends where its last key does.
        line = after + n
        path = out[line - 1][1][:-1]
        key = "traffic" if path[:1] == ("nodes",) and len(path) == 2 and DRAW.random() < .5 else PLANT
        indent = " " * depth(out[line - 1][0])
        out.insert(line, [indent + key + ": 1", path])
        want[line + 1] = path
    return both(out, want, "unknown keys")


def round_missing(part):
    """Of every mapping one key that it must have."""
    drop = {}

    def needs(schema, path):
        if schema.get("required"):
            drop[path] = DRAW.choice([k for k in schema["required"] if k != "kind"] or [None])

    def visit(schema, path):
        needs(schema, path)
        for key, sub in schema["properties"].items():
            sub = resolve(sub)
            if sub.get("type") == "array" and "properties" in resolve(sub["items"]):
                for i, (_, s) in enumerate(kinds_of(resolve(sub["items"]))):
                    visit(s, path + (key, i))
            elif "properties" in sub:
                visit(sub, path + (key,))

    visit({"properties": FABRIC} if part == "fabric" else
          {"properties": {"workloads": SCHEMA["properties"]["workloads"]}}, ())
    n = 0
    for path, key in drop.items():
        out = make(part, choose_good)
        row = next((i for i, r in enumerate(out) if r[1] == path + (key,)), None)
        if row is None:
            continue
        end = row + 1
        while end < len(out) and out[end][1][:len(path) + 1] == path + (key,):
            end += 1
        is_first = out[row][0].lstrip().startswith("- ")
        del out[row:end]
        if is_first:
            out[row][0] = re.sub(r"  (\S)", r"- \1", out[row][0], count=1)
        line = next(i for i, r in enumerate(out) if r[1][:len(path)] == path and len(r[1]) > len(path)) + 1
        n += both(out, {line: path}, "without " + key)
    return n


def round_kinds(part):
    """A key in an item of another kind."""
    n = 0
    out = make(part, choose_good)
    want = {}
    rows = [i for i, r in enumerate(out) if r[1] and r[1][-1] == "kind"]
    for i in reversed(rows):
        path, kind = out[i][1][:-1], out[i][0].split()[-1]
        schema = resolve(resolve(SCHEMA["properties"][path[0]])["items"])
        if len(path) == 4:
            schema = resolve(resolve(SCHEMA["definitions"]["transfer"]["properties"]["transfers"])["items"])
        others = [k for k in schema.get("dependencies", {}) if not is_of(schema, k, kind)
                  and "properties" not in resolve(schema["properties"][k])
                  and "properties" not in resolve(resolve(schema["properties"][k]).get("items", {}))]
        if not others:
            continue
        key = DRAW.choice(others)
        indent = re.match(r"[ -]*", out[i][0]).group().replace("-", " ")
        value = choose_good(resolve(schema["properties"][key]), (), None)
        out.insert(i + 1, ["%s%s: %s" % (indent, key, value), path + (key,)])
        want = {(l + 1 if l > i + 1 else l): p for l, p in want.items()}
        want[i + 2] = path + ("kind",)
        n += 1
    return both(out, want, "keys of another kind") if want else 0


def check_made():
    n = {}
    for _ in range(ROUNDS):
        for part in ("fabric", "load"):
            for what in (round_good, round_minimal, round_bad, round_unknown, round_kinds):
                n[what] = n.get(what, 0) + what(part)
    for part in ("fabric", "load"):
        n[round_missing] = n.get(round_missing, 0) + round_missing(part)
    if not all(n.values()):
        die("nothing was made by %s" % [f.__name__ for f in n if not n[f]])
    return " ".join("%d %s" % (count, what.__name__[6:]) for what, count in n.items())


def check_letters():
    """Sizes with a letter are in the same range as those without."""
    n = 0
    for section in [SCHEMA] + list(SCHEMA["definitions"].values()):
        for key, sub in section["properties"].items():
            if "anyOf" not in sub:
                continue
            numbers, text = sub["anyOf"]
            for unit, letter in ((1 << 10, "K"), (1 << 20, "M"), (1 << 30, "G")):
                least = numbers.get("minimum", min(numbers.get("enum", [0])))
                most = numbers.get("maximum", max(numbers.get("enum", [0])))
                edges = [least // unit, most // unit, DRAW.randrange(most // unit + 1), 10 ** DRAW.randrange(12)]
                for value in [max(0, edge + by) for edge in edges for by in (-1, 0, 1)]:
                    is_good = value * unit in numbers["enum"] if "enum" in numbers else least <= value * unit <= most
                    if bool(re.search(text["pattern"], "%d%s" % (value, letter))) != is_good:
                        die("%s: %d%s" % (key, value, letter))
                    n += 1
    return n


def check_load():
    """A file of load by its own definition."""
    text = "workloads:\n  - {on: h, kind: mem, lines: 4096}\n"
    if schema_finds(text, "file_of_load") or not schema_finds(text) or \
            not schema_finds(text.replace("on:", "no:"), "file_of_load"):
        die("file_of_load")


jsonschema.Draft7Validator.check_schema(SCHEMA)
check_load()
letters = check_letters()
files = check_files(sys.argv[3:])
if files < 10:
    die("weftd takes %d of the files, expected 10 or more" % files)
print("%d files; %d sizes; %s (seed %d)" % (files, letters, check_made(), SEED))
