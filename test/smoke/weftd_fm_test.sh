#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Live switches with empty tables become a working fabric by weft-fm alone, and when the switch of one of two ways is
# killed, traffic goes on by the other: nothing is lost, nothing is wrong.
. "$(dirname "$0")/lib.sh"
export XDG_RUNTIME_DIR=$work
unset WEFT_SOCKET
cd "$work"
[ -x "$app/weft-fm" ] || skip 'skipped: weft-fm was not built (package libsqlite3-dev)'
ctl() { timeout 60 "$app/weftctl" "$@"; }

# lab: 2 hosts, 4 switches in two ways, each of which begins with three equal links, 3 GFDs
lab() {
	cat <<-Y
	fabric: managed
	management: fm
	nodes:
	  - {name: h0, kind: host, pid: 0x101}
	  - {name: h1, kind: host, pid: 0x102}
	  - {name: s0, kind: switch, pid: 0x010}
	  - {name: s1, kind: switch, pid: 0x011}
	  - {name: s2, kind: switch, pid: 0x012}
	  - {name: s3, kind: switch, pid: 0x013}
	  - {name: g0, kind: gfd, pid: 0x200, memory: 4M}
	  - {name: g1, kind: gfd, pid: 0x201, memory: 4M}
	  - {name: g2, kind: gfd, pid: 0x202, memory: 4M}
	links:
	  - {a: h0, b: s0, driver: ring}
	  - {a: h1, b: s0, driver: ring}
$(for s in s1 s2; do for i in 1 2 3; do echo "  - {a: s0, b: $s, driver: memif}"; done; done)
	  - {a: s1, b: s3, driver: memif}
	  - {a: s2, b: s3, driver: memif}
	  - {a: s3, b: g0, driver: ring}
	  - {a: s3, b: g1, driver: ring}
	  - {a: s3, b: g2, driver: ring}
	workloads:
	  - {on: h0, kind: mem, requests: 1000000000, outstanding: 16, timeout_ms: 60000}
	  - {on: h1, kind: mem, requests: 1000000000, outstanding: 16, timeout_ms: 60000}
	Y
}
lab >lab.yaml
"$app/weftd" --check lab.yaml >out
grep -q 'management: fm: switches start with empty tables' out || die "--check does not say who writes the tables: $(cat out)"

# Each way is a process.
declare -A daemon
for nodes in h0,h1,s0,s3,g0,g1,g2 s1 s2; do
	name=${nodes%%,*}
	"$app/weftd" --topology lab.yaml --node $nodes --cci full --idle yield --json "$name.json" >"$name.log" 2>"$name.err" &
	daemon[$name]=$!
	pids+=($!)
done
for s in s0 s1 s2 s3 g0 g1 g2; do
	wait_for 60 test -S "weft/cci-$s.sock"
done

# Without a manager nothing goes anywhere, and nobody gives up.
sleep 1
same 'routes at first' 0 "$(ctl show routes --node s0 --json | json /dev/stdin 'sum(r["port"] is not None for r in o)')"
same 'connections at first' 0 "$(ctl show connections --json | json /dev/stdin 'sum(c["state"] == "up" for c in o)')"

# A manager that is killed after its first writes, and the next.
"$app/weft-fm" --topology lab.yaml --store sqlite:lab.db >fm1.log 2>fm1.err &
fm=$!
pids+=($fm)
wait_for 60 grep -q '^write ' fm1.log
kill -KILL $fm
wait $fm 2>/dev/null || true
"$app/weft-fm" --topology lab.yaml --store sqlite:lab.db >fm.log 2>fm.err &
fm=$!
pids+=($fm)
wait_for 60 grep -q '^converged ' fm.log
all_up() { ctl show connections --json | json /dev/stdin '1 / (len(o) == 12 and all(c["state"] == "up" for c in o))' >/dev/null; }
wait_for 60 all_up
moves() { ctl show connections --node h0 --json | json /dev/stdin '1 / all(c["sent_per_s"] > 0 and c["delivered_per_s"] > 0 for c in o)' >/dev/null; }
wait_for 60 moves
same 'the way' 'h0 > s0 > s. > s3 > g1' "$(ctl fm path h0 g1 | sed 's/s[12]/s./')"

# Of three equal links, which a group names, each has the traffic of a GFD.
grep -q 'RGT 0, rows' fm1.log fm.log || die "no group of equal links was written: $(cat fm.log)"
same 'ports of s0 towards GFDs' 3 "$(ctl show routes --node s0 --json | json /dev/stdin 'len({r["port"] for r in o if r["dpid"] >= 0x200})')"

# One of the two ways goes.
victim=$(ctl fm path h0 g1 | grep -o 's[12]')
kill -KILL "${daemon[$victim]}"
around() { ctl fm path h0 g1 | grep -q "> s[12] >" && ! ctl fm path h0 g1 | grep -q "$victim"; }
wait_for 30 around
wait_for 30 moves
kill -TERM $fm
wait $fm || die "weft-fm ended with $?"

# The judge of all of it: every byte that was read.
kill -TERM "${daemon[h0]}"
wait "${daemon[h0]}" || die "weftd ended with $?"
for h in 0 1; do
	same "h$h: mismatches, lost" '0 0' "$(json h0.json "'%d %d' % tuple(o['nodes'][$h]['traffic'][k] for k in ('mismatches', 'lost'))")"
	json h0.json "1 / (o['nodes'][$h]['traffic']['verified'] > 0)" >/dev/null || die "h$h read nothing"
done
echo 'a manager makes a fabric of switches and keeps it one'
