# SPDX-License-Identifier: BSD-3-Clause
"""Hold what a run of weftd counted of UIO to the answers of --resolve --uio, unit by unit.

usage: weftd_uio.py WEFTD TOPOLOGY JSON

Every requester of the topology has as many lines, few enough that all of them were asked for.
"""

import json
import re
import subprocess
import sys

LINE, UNIT = 64, 256
SEGMENT0, SEGMENT = 1 << 40, 1 << 36
BY_EDGE = {"no-decode", "access-vector", "vtv", "lav", "gim-self"}
BY_TABLES = {"sat-denied": "sat", "no-group": "group", "window-denied": "sat", "no-window": "group",
             "no-hit": "decode"}

weftd, topology, counts = sys.argv[1:]
text = open(topology).read()
nodes = {n["name"]: n for n in json.load(open(counts))["nodes"]}
asking = re.findall(r"name: (\w+), kind: (?:host|device).*uio:", text)
lines = int(re.search(r"uio: {.*?lines: (\d+)", text).group(1))
segments = len(re.findall(r"interleave: {|{target:|{gim:", text))
wrong = seen = 0


def resolve(name, hpa):
    command = [weftd, "--resolve", topology, "--from", name, "--hpa", hex(hpa), "--uio", "--json",
               "-"]
    return json.loads(subprocess.run(command, check=True, capture_output=True, timeout=60).stdout)


def asked(order, name):
    """Answers for the units asked for: a node's own, or the first where all are closed to it."""
    for s in range(segments):
        base = SEGMENT0 + s * SEGMENT
        first, own = ([resolve(name, at + i) for i in range(0, lines * LINE, UNIT)]
                      for at in (base, base + order * lines * LINE))
        closed = not any(r["allowed"] for r in first + own)
        yield from first if closed else own


def check(what, expected, got):
    global wrong, seen
    seen += 1
    if expected != got:
        wrong += 1
        print(f"{what}: --resolve says {expected}, weftd {got}")


rules = set()
for order, name in enumerate(asking):
    answers = list(asked(order, name))
    rules |= {a["rule"] for a in answers}
    of = lambda *names: [a for a in answers if a["rule"] in names]
    uio = nodes[name]["uio"]
    check(f"{name} reads data", bool(of("allowed")), uio["traffic"]["verified"] > 0)
    check(f"{name} is refused", any(not a["allowed"] for a in answers), uio["traffic"]["refused"] > 0)
    check(f"the port stops {name}", bool(of(*BY_EDGE)), bool(uio["stopped"]))
    for key, kind in (("fast", "gfd"), ("gim_fast", "host"), ("ldst", "device")):
        check(f"{name} asks a {kind}", any(
            nodes[a["target"]]["kind"] == kind for a in answers
            if a["rule"] not in BY_EDGE and a["target"]), uio["edge"][key] > 0)
    for target, node in nodes.items():
        rows = [r for r in node.get("access", {}).get("hosts", []) if r["host"] == name]
        mine = [a for a in answers if a["target"] == target]
        for key in sorted(set(BY_TABLES.values())) if rows else ():
            check(f"{target} refuses {name} by {key}",
                  any(BY_TABLES.get(a["rule"]) == key for a in mine), rows[0][key] > 0)
for target, node in nodes.items():
    if "uio" in node:
        total = node["uio"]["memory"]
        refused = sum(r[k] for r in node.get("access", {}).get("hosts", [])
                      for k in ("sat", "group", "decode"))
        check(f"{target} counts each refusal once", refused, total["ur"] + total["ca"])

need = {"allowed", "sat-denied", "access-vector", "window-denied", "no-window", "no-decode", "vtv",
        "lav", "gim-self"}
if not need <= rules or seen < 60:
    print(f"too little was asked: {seen} questions, rules {sorted(rules)}")
    wrong += 1
sys.exit(wrong != 0)
