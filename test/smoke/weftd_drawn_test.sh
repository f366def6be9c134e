#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Fabrics that weft-sim draws are files that weftd runs: it finds no fault with any, and live each
# sends its load to the end, and all comes back as it must.
. "$(dirname "$0")/lib.sh"
export XDG_RUNTIME_DIR=$work
cd "$work"
(umask 077 && od -An -N32 -tx1 /dev/urandom | tr -d ' \n' >weft-sim.key)

for seed in {1..60}; do
	"$app/weft-sim" --seed "$seed" --print-topology >"$seed.yaml"
	"$app/weftd" --check "$seed.yaml" >/dev/null || die "seed $seed: refused"
done
"$app/weft-sim" --seed 60 --mode cxl --print-topology >said.yaml
same "the mode that was said" "mode: cxl" "$(grep ^mode: said.yaml)"
warns 'weft-sim: --seeds, --without: no effect with --print-topology' \
	"$app/weft-sim" --print-topology --seeds 3 --without storm

live=(1 2 3 4 5 6 7 8 9 10 11 12 13 14)
for seed in "${live[@]}"; do
	timeout -k 2 60 "$app/weftd" --topology "$seed.yaml" --until-done --json r.json >text 2>err ||
		die "seed $seed: $(cat err) $(grep -h 'expected\|mismatch' text)"
	same "seed $seed is good" True "$(json r.json 'o["good"]')"
done
for key in "mode: cxl" "mode: rxl" interleave: gim: windows: access: ats: every_ms: "kind: transfer" \
	"kind: uio" "kind: device" late_poison: "ide:"; do
	grep -qF "$key" "${live[@]/%/.yaml}" || die "nothing with $key was live"
done

# Rights change to those of the seed's other file and back while load without an end is at work.
warns 'weft-sim: --seeds, --without: no effect with --print-change' \
	"$app/weft-sim" --seed 22 --print-change --seeds 3 --without storm
refuses 'weft-sim: seed 1: rights change where there are groups, and neither memory of hosts nor translations' \
	"$app/weft-sim" --seed 1 --print-change
has_changed() { [ "$(grep -c '^tables: changed' text)" -eq "$1" ]; }
for drawn in "22 rxl" "3 rxl" "45 cxl"; do
	read -r seed mode <<<"$drawn"
	for file in topology change; do
		"$app/weft-sim" --seed "$seed" --mode "$mode" --print-$file |
			sed 's/requests: [0-9]*/requests: 0/' >$file.yaml
	done
	cp topology.yaml live.yaml
	rm -f text
	"$app/weftd" --topology live.yaml --json r.json >text 2>err &
	pid=$!
	pids+=("$pid")
	wait_for 60 grep -q 'nodes of fabric' text
	n=0
	for file in change topology change; do
		cp $file.yaml live.yaml
		kill -HUP "$pid"
		wait_for 60 has_changed $((n += 1))
		sleep 0.2
	done
	kill -TERM "$pid"
	wait "$pid" || die "seed $seed, $mode: $(cat err) $(grep -h 'expected\|mismatch' text)"
	same "seed $seed, $mode: changes" "True 3 0" \
		"$(json r.json '"%s %d %d" % (o["good"], o["updates"]["done"], o["updates"]["refused"])')"
done
echo "what is drawn runs"
