#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# weft-sim with a manager, whose fabrics it makes work from empty tables on.
. "$(dirname "$0")/sim_lib.sh"

sim --seed 3 --seeds $(few 4 20) --manager only --json f.json || die "a manager fails: $(j f 'o["failures"]')"
same "what managers did" True "$(j f 'all(n > 0 for n in o["managers"].values())')"
same "managers that died" True "$(j f 'o["managers"]["managers"] > o["managers"]["fabrics"]')"
same "accesses to what they gave" True "$(j f 'o["domains"]["manager"] > 1000 and o["requests"] == 0')"
sim --seed 3 --manager only --calm --manager-nodes 200 --json f.json || die "200 nodes: $(j f 'o["failures"]')"
same "faults of a calm one" "0 1" "$(j f 'str(o["managers"]["faults"]) + " " + str(o["managers"]["managers"])')"
sim --seed 3 --seeds 3 --manager never --json f.json
same "no manager" "0" "$(j f 'o["managers"]["fabrics"]')"
misused '--manager-nodes: expected fabrics with a manager' "$app/weft-sim" --manager never --manager-nodes 100
echo "managers make fabrics work"
