#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Late poison in live fabrics, in both modes, with IDE off, in containment and in skid, with late poison
# authenticated and not: hosts count it, no data of it is used, nothing is lost, and the exit status is 0.
# An operator's marks do the same until the lines are written.
. "$(dirname "$0")/lib.sh"
export XDG_RUNTIME_DIR=$work
ulimit -c 0
(umask 077 && od -An -N32 -tx1 /dev/urandom | tr -d ' \n' >"$work/psk")

# fabric MODE IDE SHARE REQUESTS
fabric() {
	cat <<-Y
	fabric: poison
	mode: $1
	defaults: {mtu: 4000}
	$2
	$(six_nodes "$4" 64 20000 | sed "s/memory: 4M/memory: 4M, late_poison: $3, late_poison_seed: 5/")
	links:
	  - {a: h0, b: s0}
	  - {a: h1, b: s1}
	  - {a: s0, b: s1}
	  - {a: s0, b: g0}
	  - {a: s1, b: g1}
	Y
}

key="key_file: $work/psk"
for mode in rxl cxl; do
	for ide in "" "ide: {mode: containment, poison: on, $key}" "ide: {mode: skid, poison: on, $key}" \
		"ide: {mode: skid, $key}"; do
		f=$work/$mode.json
		fabric $mode "$ide" 0.05 8000 >"$work/f.yaml"
		timeout -k 2 100 "$app/weftd" --topology "$work/f.yaml" --until-done --json "$f" \
			>"$work/run.log" 2>&1 || die "$mode $ide ended with $?"
		same "$mode $ide: wrong or lost" 0 "$(json "$f" 'sum(n["traffic"][k]
			for n in o["nodes"] if n["kind"] == "host"
			for k in ("mismatches", "lost", "uncertain"))')"
		same "$mode $ide: what failed was poisoned, and all was answered" True "$(json "$f" 'all(
			t["failed"] == t["poisoned"] > 100 and t["verified"] + t["failed"] == t["reads"]
			for n in o["nodes"] if n["kind"] == "host" for t in (n["traffic"],))')"
		same "$mode $ide: hosts saw what GFDs said" 0 "$(json "$f" '
			sum(n["memory"]["late_poison"] for n in o["nodes"] if n["kind"] == "gfd") -
			sum(n["traffic"]["poisoned"] for n in o["nodes"] if n["kind"] == "host")')"
		[ "$(sum "$f" end poisoned)" -gt 100 ] || die "$mode $ide: hardly any was late"
		same "$mode $ide: IDE failures" 0 "$(sum "$f" end ide_failures)"
	done
done
grep -q 'reads answered with poison: data not used' "$work/run.log" || die "no line on poison"

# --- an operator's marks ---

fabric rxl "" 0 0 >"$work/live.yaml"
"$app/weftd" --topology "$work/live.yaml" --json "$work/marks.json" >"$work/live.log" 2>&1 &
pids+=($!)
live=$!
mark() { ask "$live" "/weft/late_poison,$1" | json /dev/stdin 'o["/weft/late_poison"]'; }
poisoned() { ask "$live" "/weft/node,h0" | json /dev/stdin 'o["/weft/node"]["traffic_poisoned"]'; }
wait_for 20 has_read h0 "$live" 1000
same "poison before" 0 "$(poisoned)"
same "a mark" "marked 65536 lines of g0 from 0x0" "$(mark g0,0,65536)"
is_seen() { [ "$(poisoned)" -gt 0 ]; }
wait_for 20 is_seen
for wrong in g0 g0, g0,x g0,0,0 g0,0,65537 g0,0x400000 g0,0,1,1 h0,0 gx,0; do
	case $(mark "$wrong") in
	error:*) ;;
	*) die "$wrong was taken as a mark: $(mark "$wrong")" ;;
	esac
done
kill -TERM "$live"
rc=0
wait "$live" || rc=$?
same "status: nobody said that there would be poison" 1 "$rc"
same "marks: wrong or lost" 0 "$(json "$work/marks.json" 'sum(n["traffic"][k]
	for n in o["nodes"] if n["kind"] == "host" for k in ("mismatches", "lost"))')"
