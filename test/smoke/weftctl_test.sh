#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# weftctl against a daemon: what one host writes the other reads, in memory of one device and interleaved, in both
# modes; and a daemon that dies.
. "$(dirname "$0")/lib.sh"
export XDG_RUNTIME_DIR=$work
unset WEFT_SOCKET
cd "$work"
ctl() { timeout 120 "$app/weftctl" "$@"; }

# serve MODE: a daemon that has all of a fabric
serve() {
	cat >"$topology" <<-Y
	fabric: ctl
	mode: $1
	segments:
	  - {target: g0}
	  - {interleave: {ways: 2, granularity: 1K, targets: [g1, g2]}, size: 4M}
	nodes:
	  - {name: h0, kind: host, pid: 0x101}
	  - {name: h1, kind: host, pid: 0x102}
	  - {name: s0, kind: switch, pid: 0x010}
	  - {name: g0, kind: gfd, pid: 0x200, memory: 4M}
	  - {name: g1, kind: gfd, pid: 0x201, memory: 4M}
	  - {name: g2, kind: gfd, pid: 0x202, memory: 4M}
	links:
	  - {a: h0, b: s0, driver: ring}
	  - {a: h1, b: s0, driver: ring}
	  - {a: s0, b: g0, driver: ring}
	  - {a: s0, b: g1, driver: ring}
	  - {a: s0, b: g2, driver: ring}
	Y
	serve_all
	grep -q '^host h1: programs attach at ' weftd.log || die "h1 has no socket for programs"
}

# It has the descriptors that the daemon hands over.
is_attached() { find "/proc/$bench/fd" -lname "anon_inode:*event*" | grep -q .; }

# region TARGET: its name
region() { ctl --node h0 mem list --json | json /dev/stdin "[r['name'] for r in o['regions'] if r['target'] == '$1'][0]"; }

head -c 4M /dev/urandom >data
for mode in rxl cxl; do
	serve $mode
	ctl --node h0 mem list --json >out
	same "$mode: regions" "h0 [('g0', 4194304, 0, 'rw'), ('g1', 4194304, 1024, 'rw')]" \
		"$(json out 'o["node"] + " " + str([(r["target"], r["size"], r["granule"], r["rights"]) for r in o["regions"]])')"
	for target in g0 g1; do
		name=$(region $target)
		# What was never written may be poison, in one mode.
		ctl --node h0 mem fill "$name" 0 4M 0x5a
		ctl --node h1 mem read "$name" 0x3fffc0 64 >out
		same "$mode, $name: filled by h0, read by h1" '003fffc0  5a 5a|*|00400000' "$(cut -c 1-15 out | paste -sd '|' | sed 's/ *|/|/g')"
		ctl --node h0 mem write "$name" 0xfff --hex 00ff
		ctl --node h1 mem cmp "$name:0xffe+4" 0 <(printf 'Z\0\377Z') || die "$mode, $name: bytes over a line's end"
		ctl --node h0 mem load "$name" data
		ctl --node h1 mem cmp "$name" 0 data || die "$mode, $name: h1 reads something else than h0 wrote"
		ctl --node h1 mem dump "$name" "$name.bin"
		cmp "$name.bin" data || die "$mode, $name: a dump is not what was loaded"
		ctl --node h0 mem bench "$name" --ways --seconds 0.6 --json >out
		same "$mode: $name: ways that were not measured" 0 \
			"$(json out 'sum("not_measured" in r for r in o["ways"] if "two CPUs" not in r["what"] and "map" not in r["what"])')"
		ctl --node h0 mem bench "$name" --seconds 0.3 --json >out
		json out 'o["ops"] > 100' | grep -q True || die "$mode, $name: $(cat out)"
	done
	socket=$(sed -n 's/^host h0: programs attach at //p' weftd.log)
	WEFT_SOCKET=$socket ctl mem list >out || die "$mode: \$WEFT_SOCKET is not taken"
	refuses 'two of several hosts' "$app/weftctl" mem list
	refuses 'no such host' "$app/weftctl" --node h9 mem list

	# A daemon that dies
	name=$(region g0)
	echo old >kept
	"$app/weftctl" --node h0 mem bench "$name" --seconds 60 >out 2>bench.err &
	bench=$!
	pids+=("$bench")
	wait_for 10 is_attached
	kill -KILL "$daemon"
	wait "$daemon" 2>/dev/null || true
	got=0
	wait $bench || got=$?
	same "$mode: status when the daemon dies" 1 $got
	same "$mode: lines when the daemon dies" 1 "$(wc -l <bench.err)"
	refuses "$socket" "$app/weftctl" --socket "$socket" mem dump "$name" kept
	same "$mode: a file after a dump that failed" old "$(cat kept)"
done
echo "weftctl reads and writes a fabric"
