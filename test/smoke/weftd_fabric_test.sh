#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Fabrics with memory that takes turns and hosts with different rights, live: what is read is what was
# written, who has no rights reads all ones and changes nothing, and every request ends where
# --resolve says, by the rule that it names.
. "$(dirname "$0")/lib.sh"
export XDG_RUNTIME_DIR=$work

# nodes LINES REQUESTS ACCESS...: a host for each ACCESS ("-": names none), two switches, GFDs g0..g3.
nodes() {
	local lines=$1 requests=$2 k=0 access end
	shift 2
	echo "workloads:"
	for ((k = 0; k < $#; k++)); do
		echo "  - {on: h$k, kind: mem, requests: $requests, lines: $lines, seed: $k, timeout_ms: 20000}"
	done
	k=0
	echo "nodes:"
	for access; do
		[ "$access" = - ] && access= || access=", access: [$access]"
		echo "  - {name: h$k, kind: host, pid: $((0x100 + k))$access}"
		k=$((k + 1))
	done
	echo "  - {name: s0, kind: switch, pid: 0x010}"
	echo "  - {name: s1, kind: switch, pid: 0x011}"
	for g in 0 1 2 3; do
		echo "  - {name: g$g, kind: gfd, pid: $((0x200 + g)), memory: 2M}"
	done
	echo "links:"
	echo "  - {a: s0, b: s1}"
	while [ $k -gt 0 ]; do
		k=$((k - 1))
		echo "  - {a: h$k, b: s$((k % 2))}"
	done
	for g in 0 1 2 3; do
		end="b: s$((g / 2))"
		echo "  - {a: g$g, $end}"
	done
}

run() { # run NAME [options]: exit status as weftd's; $work/NAME.json and NAME.text
	timeout -k 2 100 "$app/weftd" --topology "$work/$1.yaml" --until-done \
		--json "$work/$1.json" "${@:2}" >"$work/$1.text"
}

traffic() { # traffic NAME HOST COUNTER
	json "$work/$1.json" "[n['traffic']['$3'] for n in o['nodes'] if n['name'] == '$2'][0]"
}

# All ways that go through the two to four GFDs, every granularity: all data verified, and each GFD has
# an equal share of the requests (6 sigma; the lines of both hosts are whole turns of the ways).
even() { # even NAME GFDS
	run "$1" || die "$1: weftd ended with $?"
	for h in h0 h1; do
		same "$1: $h verified what it read" "$(traffic "$1" $h reads)" "$(traffic "$1" $h verified)"
	done
	same "$1: shares of $2 GFDs" True "$(json "$work/$1.json" "(lambda n: all(abs(g - sum(n) / $2) <
		6 * (sum(n) / $2) ** .5 for g in n[:$2]) and not any(n[$2:]))(
		[n['memory']['reads'] + n['memory']['writes'] for n in o['nodes'] if n['kind'] == 'gfd'])")"
}
for granularity in $(few "256 16K" "256 512 1K 2K 4K 8K 16K"); do
	{
		printf '%s\n' "fabric: two" "segments:" \
			"  - {interleave: {ways: 2, granularity: $granularity, targets: [g1, g0]}}"
		nodes 2048 6000 - -
	} >"$work/two.yaml"
	even two 2
	{
		printf '%s\n' "mode: cxl" "fabric: four" "segments:" "  - interleave:" "      ways: 4" \
			"      granularity: $granularity" "      targets: [g2, g0, g3, g1]" "    size: 1M"
		nodes 2048 6000 - -
	} >"$work/four.yaml"
	even four 4
done

# Rights: h0 everything; h1 the one group, h2 the other, h3 and h4 (who come last) nothing.
# Where h1 .. h4 may not go they write to the lines of others, which h0 checks.
rights() {
	cat <<-Y
	fabric: rights
	mode: $1
	segments:
	  - {interleave: {ways: 2, granularity: 256, targets: [g0, g1]}, size: 2M}
	  - {interleave: {ways: 4, granularity: 512, targets: [g3, g0, g2, g1]}, size: 1M}
	  - {target: g2, size: 1M}
	  - {target: g1}
	  - {gim: h0}
	groups:
	  - {name: low, ranges: [{gfd: g0, size: 1M}, {gfd: g1, size: 1M}, {gfd: g3, size: 128K}]}
	  - {name: high, ranges: [{gfd: g2}, {gfd: g3, base: 128K}]}
	  - {name: turns, ranges: [{gfd: g0, base: 1M}]}
	Y
	nodes "$2" "$3" - low high,turns '' ''
}
for mode in rxl cxl; do
	rights $mode 2048 8000 >"$work/$mode.yaml"
	run $mode || die "$mode: weftd ended with $?"
	same "$mode: wrong answers" "[0, 0, 0, 0, 0]" "$(json "$work/$mode.json" \
		"[n['traffic']['mismatches'] for n in o['nodes'] if n['kind'] == 'host']")"
	for h in h3 h4; do
		same "$mode: $h verified" 0 "$(traffic $mode $h verified)"
		same "$mode: $h was refused" "$(json "$work/$mode.json" \
			"[n['traffic']['reads'] + n['traffic']['writes'] for n in o['nodes'] if n['name'] == '$h'][0]")" \
			"$(traffic $mode $h refused)"
		same "$mode: $h was refused, as text" "  $(traffic $mode $h refused) requests refused: memory that is closed to it" \
			"$(sed -n "/^host $h .* verified/,/^[a-z]/s/.*requests refused.*/&/p" "$work/$mode.text")"
	done
	# Refused by GFDs, counted once by the memory and once by the requester.
	same "$mode: refusals counted" True "$(json "$work/$mode.json" 'all(
		sum(h[k] for h in n["access"]["hosts"] for k in ("decode", "group", "sat")) ==
		sum(n["access"][k] for k in ("decode", "group", "sat")) ==
		sum(n["memory"][k] for k in ("denied_reads", "denied_writes", "nxm_reads", "nxm_writes"))
		for n in o["nodes"] if n["kind"] == "gfd")')"
	[ "$(json "$work/$mode.json" 'sum(n["memory"]["denied_writes"] for n in o["nodes"] if n["kind"] == "gfd")')" \
		-gt 100 ] || die "$mode: hardly a write was denied"
	same "$mode: dropped nothing" "{}" "$(json "$work/$mode.json" \
		"{k: v for n in o['nodes'] for k, v in n['drops'].items()}")"
done

# Each host asks for a few lines of each segment, often enough to have asked for all of them: which
# GFDs heard of it, and what it was refused by, is what --resolve says of those addresses.
rights rxl 3 1000 >"$work/few.yaml"
run few || die "few: weftd ended with $?"
/usr/bin/python3 "$here/weftd_fabric.py" "$app/weftd" "$work/few.yaml" "$work/few.json" ||
	die "the daemon and --resolve differ"

# Rights without segments, segments without rights, and a GFD that nothing leads to.
{
	printf '%s\n' "fabric: plain" "groups:" "  - {name: all, ranges: [{gfd: g0}, {gfd: g2}]}"
	nodes 64 2000 all ''
} >"$work/groups.yaml"
run groups || die "groups: weftd ended with $?"
same "groups: GFDs asked" "[True, False, True, False]" \
	"$(json "$work/groups.json" "[n['memory']['writes'] > 0 for n in o['nodes'] if n['kind'] == 'gfd']")"
same "groups: h1 verified" 0 "$(traffic groups h1 verified)"

# Segments that do not begin at a multiple of the whole table: more of them than lie below their base
# (17 of 64 GiB), and large ones (2 of 2 TiB).
many() { # many GFDS SEGMENT_SIZE
	printf '%s\n' "fabric: many" "segment_size: $2" "workloads:" \
		"  - {on: h0, kind: mem, requests: 2000, lines: 64, timeout_ms: 20000}" \
		"nodes:" "  - {name: h0, kind: host, pid: 1}" \
		"  - {name: s0, kind: switch, pid: 2}"
	for ((g = 0; g < $1; g++)); do echo "  - {name: g$g, kind: gfd, pid: $((16 + g)), memory: 1M}"; done
	printf '%s\n' "links:" "  - {a: h0, b: s0}"
	for ((g = 0; g < $1; g++)); do echo "  - {a: g$g, b: s0}"; done
}
for form in "17 64G" "2 2048G"; do
	# shellcheck disable=SC2086
	many $form >"$work/many.yaml"
	run many || die "$form: weftd ended with $?"
	same "$form: GFDs without requests" 0 "$(json "$work/many.json" \
		"sum(n['memory']['writes'] == 0 for n in o['nodes'] if n['kind'] == 'gfd')")"
done

# Hosts in processes of their own: rights hold between them as well.
nodes_of=("g0,g1,g2,g3,s0,s1" "h0,h2,h4" "h1,h3")
for k in 0 1 2; do
	until_done=--until-done
	[ $k -ne 0 ] || until_done=--quiet # the others end it
	"$app/weftd" --topology "$work/rxl.yaml" --node "${nodes_of[k]}" --quiet $until_done \
		--json "$work/part$k.json" >"$work/part$k.log" 2>&1 &
	pids+=($!)
done
for k in 1 2; do
	wait "${pids[k]}" || die "the hosts of process $k: $(cat "$work/part$k.log")"
	pids[k]=
done
for k in 1 2; do
	same "process $k: answers" True "$(json "$work/part$k.json" 'o["good"] and
		all(n["traffic"]["refused"] + n["traffic"]["verified"] > 8000 for n in o["nodes"] if n["kind"] == "host")')"
done

# More lines than a segment has are refused before anything starts.
rights rxl 4096 1 >"$work/lines.yaml"
refuses 'more lines than segments[3] holds, expected at most 12288 for all load, got 16384' \
	"$app/weftd" --check "$work/lines.yaml"

# A transfer is to one GFD.
{
	printf '%s\n' "fabric: turns" "segments:" "  - {interleave: {ways: 2, targets: [g0, g1]}}"
	nodes 64 1 - | sed 's/kind: mem, .*/kind: transfer, transfers: [{kind: write, gfd: g0, offset: 64K, bytes: 4K}]}/'
} >"$work/turns.yaml"
refuses 'does not run transfers where segments' "$app/weftd" --topology "$work/turns.yaml"

echo "fabrics with interleave and rights do what --resolve says"
