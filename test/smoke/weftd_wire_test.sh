#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A link with a bad wire: the FEC puts right what it can, and a wire that is cut by telemetry while
# traffic runs loses requests.
. "$(dirname "$0")/lib.sh"
export XDG_RUNTIME_DIR=$work

fabric() { # fabric REQUESTS WIRE TIMEOUT_MS
	cat >"$work/f.yaml" <<-Y
	fabric: wire
	mode: rxl
	nodes:
	  - {name: h0, kind: host, pid: 0x101}
	  - {name: s0, kind: switch, pid: 0x010}
	  - {name: g0, kind: gfd, pid: 0x200, memory: 16M}
	links:
	  - {a: h0, b: s0, wire: {$2}}
	  - {a: s0, b: g0}
	workloads:
	  - {on: h0, kind: mem, requests: $1, outstanding: 64, write_percent: 50, lines: 1024, seed: 1, timeout_ms: $3}
	Y
}

fabric 20000 "burst: 3@0.02, delay_us: 10, seed: 7" 30000
if ! timeout 60 "$app/weftd" --topology "$work/f.yaml" --until-done --json "$work/r.json" \
	>"$work/text" 2>"$work/err"; then
	grep -q 'built without the driver net_flitwire' "$work/err" &&
		skip "weftd was built without the driver net_flitwire (usertools/driver-headers.sh)"
	die "$(cat "$work/err")"
fi
same "good" True "$(json "$work/r.json" 'o["good"]')"
same "flits were put right" True "$(grep -o '"corrected": [0-9]*' "$work/r.json" | awk '{n += $2} END {print (n > 10 ? "True" : "False")}')"
grep -q '^port h0.0: memif .*, bad wire seed=7,burst=3,burst_p=0.02,' "$work/text" || die "$(cat "$work/text")"

# Lost before the silence shows: in a stall requests would wait.
fabric 0 "seed: 1" 50
"$app/weftd" --topology "$work/f.yaml" --json "$work/r.json" >"$work/log" 2>&1 &
pid=$!
pids+=("$pid")
wait_for 20 grep -q ' run$' "$work/log"
wait_for 20 has_read h0 "$pid" 100
same "wires" "['net_flitwire_h0.0', 'net_flitwire_s0.0']" \
	"$(ask "$pid" /weft/flitwire | json /dev/stdin 'sorted(o["/weft/flitwire"])')"
same "wire is cut" 1 "$(ask "$pid" /weft/flitwire,net_flitwire_h0.0,drop=1 | json /dev/stdin 'o["/weft/flitwire"]["drop"]')"
sleep 1
same "wire is whole" 0 "$(ask "$pid" /weft/flitwire,net_flitwire_h0.0,drop=0 | json /dev/stdin 'o["/weft/flitwire"]["drop"]')"
same "frames were lost" True "$(ask "$pid" /weft/flitwire,net_flitwire_h0.0 | json /dev/stdin 'o["/weft/flitwire"]["tx_wire_dropped"] > 0')"
kill -INT "$pid"
if wait "$pid"; then die "a host that lost requests ended well"; fi
same "lost requests are reported" True "$(json "$work/r.json" "[n['traffic']['lost'] > 0 for n in o['nodes'] if n['name'] == 'h0'][0]")"
