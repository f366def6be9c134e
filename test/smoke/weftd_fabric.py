# SPDX-License-Identifier: BSD-3-Clause
"""Hold what a run of weftd counted to the answers of --resolve, address by address.

usage: weftd_fabric.py WEFTD TOPOLOGY JSON

The topology has the form that weftd_fabric_test.sh gives it: every host with as many lines of traffic.
"""

import re

from resolved import LINE, Run

run = Run(r"lines: (\d+)")
nodes, check = run.nodes, run.check
hosts = re.findall(r"name: (h\d+), kind: host", run.text)
gfds = re.findall(r"name: (g\d+), kind: gfd", run.text)

for order, host in enumerate(hosts):
    answers = run.asked(order, host, LINE)
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

run.end({"allowed", "sat-denied", "no-group", "access-vector", "gim-uio-only"}, 50)
