#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Hosts with virtual addresses and their agent in live fabrics: the agent moves pages, and wipes where
# they were, under traffic that compares every read. A host that is killed completes nothing: the
# agent says so, and reuses its page only when its session is over. Hosts survive an agent that is.
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
export XDG_RUNTIME_DIR=$work
ask() { /usr/bin/python3 "$here/telemetry.py" "$@"; }

# fabric MODE CHANGE: both hosts use the same addresses, for other memory each.
fabric() {
	local traffic='requests: 0, lines: 2048, timeout_ms: 60000, outstanding: 64'
	cat <<-Y
	fabric: ats
	mode: $1
	segments:
	  - {interleave: {ways: 2, granularity: 1K, targets: [g0, g1]}, size: 8M}
	  - {target: g0}
	nodes:
	  - name: ta
	    kind: host
	    pid: 0x100
	    translations:
	      - {host: h0, va: 0x100000, pa: 0x10000100000, size: 128K, move_to: 0x11000000000}
	      - {host: h1, va: 0x100000, pa: 0x10000200000, size: 128K, move_to: 0x11000100000}
	      - {host: h0, va: 0x800000, pa: 0x10000300000, size: 128K, page: 64K, rights: r}
	      - {host: h1, va: 0x800000, pa: 0x10000400000, size: 128K, page: 64K, demand: true,
	         move_to: 0x11000200000}
	      - {host: h1, va: 0x900000, pa: 0x10000500000, size: 128K, rights: none}
	  - {name: h0, kind: host, pid: 0x101, ats: {agent: ta, entries: 16}}
	  - {name: h1, kind: host, pid: 0x102, ats: {agent: ta, prefetch: 1}}
	  - {name: s0, kind: switch, pid: 0x010}
	  - {name: g0, kind: gfd, pid: 0x200, memory: 8M}
	  - {name: g1, kind: gfd, pid: 0x201, memory: 8M}
	links:
	  - {a: h0, b: s0}
	  - {a: s0, b: h1}
	  - {a: ta, b: s0}
	  - {a: s0, b: g0}
	  - {a: g1, b: s0}
	workloads:
	  - {on: ta, kind: move, $2}
	  - {on: h0, kind: mem, $traffic}
	  - {on: h1, kind: mem, $traffic}
	Y
}

# value PID NODE COUNTER
value() {
	ask "$1" "/weft/ats,$2" | json /dev/stdin "o['/weft/ats']['$3']"
}

# is PID NODE 'COUNTER > 3'
is() {
	[ "$(ask "$1" "/weft/ats,$2" | json /dev/stdin "o['/weft/ats']['${3%% *}'] ${3#* }")" = True ]
}

# node FILE NAME EXPRESSION over the node `n`
node() {
	json "$1" "[$3 for n in o['nodes'] if n['name'] == '$2'][0]"
}

run() { # run NAME [options]
	"$app/weftd" --topology "$work/lab.yaml" --quiet --json "$work/$1.json" "${@:2}" \
		>>"$work/$1.log" 2>&1 &
	pids+=($!)
	eval "pid_$1=$!"
}

calm() { # calm MODE
	local f=$work/all.json pid h
	fabric "$1" 'every_ms: 1, at_once: 8, timeout_ms: 60000' >"$work/lab.yaml"
	run all
	pid=$pid_all
	wait_for 60 is "$pid" ta 'agent_moved > 200'
	wait_for 60 is "$pid" ta 'agent_pages == 2'
	wait_for 60 is "$pid" h0 'client_denied > 100'
	wait_for 60 is "$pid" h0 'cache_evictions > 0'
	wait_for 60 is "$pid" h1 'client_no_page > 100'
	wait_for 60 is "$pid" h1 'peer_reads_discarded > 0'
	kill -TERM "$pid"
	wait "$pid" || die "$1: not well: $(cat "$work/all.log")"
	pids=()
	same "$1: good" True "$(json "$f" 'o["good"]')"
	for h in h0 h1; do
		same "$1: $h lost, wrong or failed" '[0, 0, 0, 0]' "$(node "$f" "$h" \
			'[n["traffic"][k] for k in ("lost", "mismatches", "failed", "not_refused")]')"
		same "$1: $h verified" True "$(node "$f" "$h" 'n["traffic"]["verified"] > 1000')"
		same "$1: $h refused" True "$(node "$f" "$h" 'n["traffic"]["refused"] > 100')"
		same "$1: $h resets" 0 "$(node "$f" "$h" 'n["ats"]["client"]["resets"]')"
	done
	# What waits at an agent is answered by nobody else.
	same "$1: no UIO where translations are spoken" "['g0', 'g1']" \
		"$(json "$f" '[n["name"] for n in o["nodes"] if "uio" in n]')"
	# What began has ended, but for what is under way.
	same "$1: completed" True "$(node "$f" ta '0 <= n["ats"]["peer"]["invalidations"] -
		n["ats"]["peer"]["completions"] <= n["ats"]["moving"]')"
	same "$1: moved" True "$(node "$f" ta 'n["ats"]["agent"]["moved"] + n["ats"]["moving"] ==
		n["ats"]["agent"]["moves"]')"
	same "$1: none failed" '[0, 0, 0, 0]' "$(node "$f" ta '[n["ats"]["peer"]["timeouts"],
		n["ats"]["agent"]["held"], n["ats"]["agent"]["copy_again"], n["ats"]["holding"]]')"
}

calm rxl
calm cxl

# One that is killed.
fabric rxl 'every_ms: 2, at_once: 2, timeout_ms: 3000, fence_ms: 100' >"$work/lab.yaml"
run rest --node ta,h1,s0,g0,g1
run h0 --node h0
wait_for 60 is "$pid_rest" ta 'agent_moved > 20'
wait_for 60 is "$pid_h0" h0 'peer_invalidations > 5'
kill -KILL "$pid_h0"
wait "$pid_h0" 2>/dev/null || true
wait_for 60 is "$pid_rest" ta 'holding > 0'
wait_for 10 grep -q 'node ta: h0 did not complete an invalidation in 3000 ms' "$work/rest.log"
same "an isolated host holds its pages" True "$(json <(ask "$pid_rest" /weft/ats,ta) \
	'0 < o["/weft/ats"]["holding"] <= o["/weft/ats"]["agent_held"]')"
# It comes again: the old session is over, and its pages move on, behind the fence.
run h0 --node h0
wait_for 60 is "$pid_rest" ta 'holding == 0'
wait_for 60 is "$pid_rest" ta 'agent_fenced > 0'
moved=$(value "$pid_rest" ta agent_moved)
wait_for 60 is "$pid_rest" ta "agent_moved > $((moved + 20))"
wait_for 60 is "$pid_h0" h0 'peer_invalidations > 5'
wait_for 60 is "$pid_h0" h0 'client_translated > 100'
kill -TERM "$pid_h0" "$pid_rest"
wait "$pid_h0" || true # its memory was not new
wait "$pid_rest" || die "the others suffered: $(cat "$work/rest.log")"
pids=()
same "the other host" '[0, 0, 0]' "$(node "$work/rest.json" h1 \
	'[n["traffic"][k] for k in ("lost", "mismatches", "failed")]')"

# All of it stopped for longer than a request may take: no request, question or move has grown older.
fabric rxl 'every_ms: 1' | sed 's/timeout_ms: 60000, outstanding/timeout_ms: 1500, outstanding/' >"$work/lab.yaml"
run all
wait_for 60 is "$pid_all" ta 'agent_moved > 20'
kill -STOP "$pid_all"
sleep 2
kill -CONT "$pid_all"
moved=$(value "$pid_all" ta agent_moved)
sent=$(value "$pid_all" h0 client_translated)
wait_for 60 is "$pid_all" ta "agent_moved > $((moved + 20))"
wait_for 60 is "$pid_all" h0 "client_translated > $((sent + 1000))"
kill -TERM "$pid_all"
wait "$pid_all" || die "a pause was not forgiven: $(cat "$work/all.log")"
pids=()
for h in h0 h1; do
	same "$h: lost, wrong or failed in a pause" '[0, 0, 0]' "$(node "$work/all.json" $h \
		'[n["traffic"][k] for k in ("lost", "mismatches", "failed")]')"
done
same "what the agent gave up in a pause" '[0, 0, 0]' "$(node "$work/all.json" ta \
	'[n["ats"]["peer"]["timeouts"], n["ats"]["agent"]["held"], n["ats"]["agent"]["copy_again"]]')"

# An agent that is killed and comes again, having moved nothing: hosts forget all it said, and go on.
fabric rxl 'every_ms: 0' >"$work/lab.yaml"
run rest --node h0,h1,s0,g0,g1
run ta --node ta
wait_for 60 is "$pid_rest" h0 'client_translated > 1000'
kill -KILL "$pid_ta"
wait "$pid_ta" 2>/dev/null || true
run ta --node ta
wait_for 60 is "$pid_rest" h0 'client_resets > 0'
sent=$(value "$pid_rest" h0 client_translated)
wait_for 60 is "$pid_rest" h0 "client_translated > $((sent + 1000))"
kill -TERM "$pid_rest" "$pid_ta"
wait "$pid_rest" || die "hosts of an agent that was killed: $(cat "$work/rest.log")"
wait "$pid_ta" || die "the second agent: $(cat "$work/ta.log")"
pids=()

# Before anything runs.
"$app/weftd" --resolve "$work/lab.yaml" --from h1 --hpa 0x110040 --json "$work/r.json"
same "translated" "['ta', '0x10000210040', 4096, 'rw', 'g0', True]" "$(json "$work/r.json" \
	'[o["translation"][k] for k in ("agent", "pa", "page", "rights")] + [o["target"], o["allowed"]]')"
"$app/weftd" --resolve "$work/lab.yaml" --from h0 --hpa 0x110040 >"$work/r.txt"
grep -q 'agent    ta: virtual 0x110040 is 0x10000110040, page of 4096 bytes, rights rw' "$work/r.txt" ||
	die "$(cat "$work/r.txt")"
"$app/weftd" --resolve "$work/lab.yaml" --from h0 --hpa 0x10000110040 >"$work/r.txt"
grep -q 'denied   no-translation' "$work/r.txt" || die "$(cat "$work/r.txt")"
sed 's/^nodes:/ide: {mode: skid, key_file: k}\nnodes:/' "$work/lab.yaml" >"$work/ide.yaml"
refuses 'ats with ide, expected ide off as IDE does not cover CXL.io, got it on' \
	"$app/weftd" --topology "$work/ide.yaml" --quiet
# A place that the agent may not reach cannot be moved to.
sed 's/^nodes:/groups: [{name: a, ranges: [{gfd: g0, size: 4M}, {gfd: g1}]}]\nnodes:/' \
	"$work/lab.yaml" >"$work/closed.yaml"
refuses 'host ta: translations need 0x11000000000, which ta may not reach: no-group' \
	"$app/weftd" --topology "$work/closed.yaml" --quiet
# Nor may a page move between what its host may reach and what it may not.
sed -e 's/name: h0,/name: h0, access: [high],/' -e 's/^nodes:/groups: [{name: low, ranges: [{gfd: g0, size: 4M}, {gfd: g1}]}, {name: high, ranges: [{gfd: g0, base: 4M}]}]\nnodes:/' \
	"$work/lab.yaml" >"$work/half.yaml"
refuses 'host ta: translations need 0x10000100000, which h0 may not reach: sat-denied' \
	"$app/weftd" --topology "$work/half.yaml" --quiet
echo "all well"
