#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# weft-sim: both modes, IDE, each kind of fabric.
. "$(dirname "$0")/sim_lib.sh"

n=$(few 8 20) hops=$(few 10000 20000)

# Modes
for m in cxl rxl; do
	sim --mode $m --seeds $n --hops 10000 --json m.json || die "--mode $m fails"
	same "$m: requests lost without a crash or an attack" True \
		"$(j m 'o["lost"] == 0 or o["faults"]["node_crash"] + o["ide"]["failures"] > 0')"
	same "$m: nodes that have started again" True "$(j m 'o["domains"]["restart"] > 0')"
done

# IDE: nothing is said twice under one key and IV, who changes a flit is found out, and a new session follows.
for i in containment skid; do
	sim --ide $i --seeds $n --hops $hops --json $i.json || die "--ide $i fails"
	same "$i: attacks that were found out" True \
		"$(j $i '0 < o["ide"]["failures"] <= o["ide"]["forged"] <= o["faults"]["forged"]')"
	same "$i: flits and keys" True "$(j $i 'o["ide"]["again"] > 1000 and o["ide"]["keys"] > 2 * o["ide"]["sessions"]')"
	sim --ide $i --seeds $(few 20 40) --hops 5000 --mode cxl --fabric pair --json $i.json || die "--ide $i fails on a link"
	same "$i: attacks on a link" True "$(j $i 'o["ide"]["failures"] > 0')"
	sim --ide $i --seed 17 --seeds $(few 1 3) --hops 5000 --json a.json
	WEFT_CPU=scalar sim --ide $i --seed 17 --seeds $(few 1 3) --hops 5000 --json b.json
	cmp "$work/a.json" "$work/b.json" || die "with --ide $i the run depends on the kernels"
done
sim --ide off --seeds $n --hops 5000 --json i.json
same "late poison" True "$(j i '0 < o["poisoned_late"] and o["poison_came"] > 0')"
same "IDE off" 0 "$(j i 'sum(o["ide"].values())')"

# Fabrics
for f in $(few "chain:4 fat:4" "pair star:3,2 chain:4 tree:2,3 tree:3,2,5 mesh:3,2 fat:4"); do
	sim --fabric "$f" --hops 5000 --seeds 3 --json x.json || die "--fabric $f fails"
done
# A large one with faults becomes quiet, and every node has its share of them.
if [ -z "${WEFT_TEST_AGAIN:-}" ]; then
	sim --fabric tree:3,15 --seed 7 --hops 200000 --json x.json || die "3,616 nodes: $(tail -n 1 "$work/text")"
	same "faults of 3,616 nodes" True "$(j x 'sum(n for k, n in o["faults"].items() if k[:5] != "wire_") > 200')"
	same "steps of 3,616 nodes" True "$(j x 'o["steps"] < 3000000')"
fi
echo "weft-sim runs in each mode, with and without IDE, in each fabric"
