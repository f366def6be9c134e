# SPDX-License-Identifier: BSD-3-Clause
"""Hold what a run of weftd counted to the answers of --resolve, address by address.

usage: weftd_fabric.py WEFTD TOPOLOGY JSON

The topology has the form that weftd_fabric_test.sh gives it: every host with as many lines of traffic.
"""

import json
import re
import subprocess
import sys

LINE = 64
SEGMENT0, SEGMENT = 1 << 40, 1 << 36

weftd, topology, counts = sys.argv[1:]
text = open(topology).read()
nodes = {n["name"]: n for n in json.load(open(counts))["nodes"]}
hosts = re.findall(r"name: (h\d+), kind: host", text)
gfds = re.findall(r"name: (g\d+), kind: gfd", text)
lines = int(re.search(r"lines: (\d+)", text).group(1))
segments = len(re.findall(r"interleave: {|{target:|{gim:", text))


def resolve(host, hpa):
    command = [weftd, "--resolve", topology, "--from", host, "--hpa", hex(hpa), "--json", "-"]
    return json.loads(subprocess.run(command, check=True, capture_output=True, timeout=20).stdout)


def asked(order, host):
    """Answers for the lines that a host asks for: its own, or the first where all are closed."""
    for s in range(segments):
        base = SEGMENT0 + s * SEGMENT
        first, own = ([resolve(host, at + i * LINE) for i in range(lines)]
                      for at in (base, base + order * lines * LINE))
        closed = not any(r["allowed"] for r in first + own)
        yield from first if closed else own


wrong = seen = 0


def check(what, expected, got):
    global wrong, seen
    seen += 1
    if expected != got:
        wrong += 1
        print(f"{what}: --resolve says {expected}, weftd {got}")


rules = set()
for order, host in enumerate(hosts):
    answers = list(asked(order, host))
    rules |= {a["rule"] for a in answers}
    by_rule = lambda *names: [a for a in answers if a["rule"] in names]
    here = by_rule("allowed", "sat-denied", "no-group", "no-hit")
    for gfd in gfds:
        connection, = (c for c in nodes[gfd]["connections"] if c["peer"] == host)
        row, = (r for r in nodes[gfd]["access"]["hosts"] if r["host"] == host)
        mine = [a for a in here if a["target"] == gfd]
        check(f"{host} asks {gfd}", bool(mine), connection["end"]["messages"] > 0)
        for rule, key in (("sat-denied", "sat"), ("no-group", "group"), ("no-hit", "decode")):
            check(f"{gfd} refuses {host} by {rule}",
                  any(a["rule"] == rule for a in mine), row[key] > 0)
    for rule, key in (("access-vector", "not-allowed"), ("no-decode", "no-decode"),
                      ("gim-uio-only", "gim-uio-only"), ("gim-self", "gim-uio-only")):
        alike = ("gim-uio-only", "gim-self") if key == "gim-uio-only" else (rule,)
        check(f"the edge stops {host} by {rule}",
              bool(by_rule(*alike)), key in nodes[host]["edge"])
    check(f"{host} reads data", bool(by_rule("allowed")), nodes[host]["traffic"]["verified"] > 0)

need = {"allowed", "sat-denied", "no-group", "access-vector", "gim-uio-only"}
if not need <= rules or seen < 50:
    print(f"too little was asked: {seen} questions, rules {sorted(rules)}")
    wrong += 1
sys.exit(wrong != 0)
