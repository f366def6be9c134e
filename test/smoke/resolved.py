# SPDX-License-Identifier: BSD-3-Clause
"""What --resolve says of a topology, held against what a run of weftd counted: for the scripts that do so.

They are called with: WEFTD TOPOLOGY JSON
"""

import json
import re
import subprocess
import sys

LINE = 64
SEGMENT0, SEGMENT = 1 << 40, 1 << 36


class Run:
    def __init__(self, lines, *options):
        """@lines: expression whose first group is the lines of each requester; @options of --resolve."""
        self.weftd, self.topology, counts = sys.argv[1:]
        self.options = options
        self.text = open(self.topology).read()
        self.nodes = {n["name"]: n for n in json.load(open(counts))["nodes"]}
        self.lines = int(re.search(lines, self.text).group(1))
        self.segments = len(re.findall(r"interleave: {|{target:|{gim:", self.text))
        self.wrong = self.seen = 0
        self.rules = set()

    def resolve(self, name, hpa):
        command = [self.weftd, "--resolve", self.topology, "--from", name, "--hpa", hex(hpa),
                   *self.options, "--json", "-"]
        return json.loads(subprocess.run(command, check=True, capture_output=True, timeout=60).stdout)

    def asked(self, order, name, unit):
        """Answers for the units asked for: a node's own, or the first where all are closed to it."""
        answers = []
        for s in range(self.segments):
            base = SEGMENT0 + s * SEGMENT
            first, own = ([self.resolve(name, at + i) for i in range(0, self.lines * LINE, unit)]
                          for at in (base, base + order * self.lines * LINE))
            closed = not any(r["rule"] == "allowed" for r in first + own)
            answers += first if closed else own
        self.rules |= {a["rule"] for a in answers}
        return answers

    def check(self, what, expected, got):
        self.seen += 1
        if expected != got:
            self.wrong += 1
            print(f"{what}: --resolve says {expected}, weftd {got}")

    def end(self, need, least):
        """Exit; @need: rules that must have come up, @least: questions that must have been asked."""
        if not need <= self.rules or self.seen < least:
            print(f"too little was asked: {self.seen} questions, rules {sorted(self.rules)}")
            self.wrong += 1
        sys.exit(self.wrong != 0)
