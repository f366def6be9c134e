# SPDX-License-Identifier: BSD-3-Clause
"""Hold what a run of weftd counted of UIO to the answers of --resolve --uio, unit by unit.

usage: weftd_uio.py WEFTD TOPOLOGY JSON

Every requester of the topology has as many lines, few enough that all of them were asked for.
"""

import re

from resolved import Run

UNIT = 256
BY_EDGE = {"no-decode", "access-vector", "vtv", "lav", "gim-self"}
BY_TABLES = {"sat-denied": "sat", "no-group": "group", "window-denied": "sat", "no-window": "group",
             "no-hit": "decode"}

run = Run(r"kind: uio,.*?lines: (\d+)", "--uio")
nodes, check = run.nodes, run.check
asking = re.findall(r"on: (\w+), kind: uio,", run.text)

for order, name in enumerate(asking):
    answers = run.asked(order, name, UNIT)
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

run.end({"allowed", "sat-denied", "access-vector", "window-denied", "no-window", "no-decode", "vtv",
         "lav", "gim-self"}, 60)
