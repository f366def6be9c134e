#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Telemetry is asked without a pause from the start of a weftd to its end: the first answers are whole, and
# the end is in order.
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
export XDG_RUNTIME_DIR=$work

for i in 1 2 3 4 5 6; do
	"$app/weftd" --quiet >"$work/out" 2>&1 &
	daemon=$!
	pids+=("$daemon")
	/usr/bin/python3 "$here/weftd_telemetry.py" "$daemon" "$work/enough" >"$work/asked" 2>&1 &
	asks=$!
	pids+=("$asks")
	(wait_for 60 test -e "$work/enough") || die "round $i: asked: $(cat "$work/asked"), weftd: $(cat "$work/out")"
	kill -TERM "$daemon"
	wait "$daemon" || die "weftd ended with $?: $(cat "$work/out")"
	wait "$asks" || die "round $i: $(cat "$work/asked")"
	rm "$work/enough"
	pids=()
done

# Rates while there is traffic, and sessions; of nodes whose names telemetry does not take as they are.
cat >"$work/t.yaml" <<-'Y'
fabric: rates
nodes:
  - {name: h-0, kind: host, pid: 0x101}
  - {name: s0, kind: switch, pid: 0x010}
  - {name: g-0, kind: gfd, pid: 0x200, memory: 1M}
links:
  - {a: h-0, b: s0}
  - {a: s0, b: g-0}
workloads:
  - {on: h-0, kind: mem, requests: 0, rate: 200, lines: 64, timeout_ms: 60000}
Y
"$app/weftd" --topology "$work/t.yaml" --stats-interval 0.2 >"$work/out" 2>&1 &
daemon=$!
pids+=("$daemon")
has_rates() {
	[ "$(ask "$daemon" /weft/rates,s0 | json /dev/stdin 'sorted(o["/weft/rates"]) ==
		["port_0_in", "port_0_out", "port_1_in", "port_1_out"] and all(o["/weft/rates"].values())')" = True ]
}
wait_for 20 has_rates
same "/weft/rates" True "$(ask "$daemon" /weft/rates | json /dev/stdin 'all(o["/weft/rates"][n + "_" + way] > 0
	for n in ("h_0", "s0", "g_0", "lcore_0") for way in ("in", "out"))')"
same "/weft/sessions,h-0" "{'g_0': 'up'}" "$(ask "$daemon" /weft/sessions,h-0 | json /dev/stdin 'o["/weft/sessions"]')"
same "/weft/sessions,h-0,g-0" up "$(ask "$daemon" /weft/sessions,h-0,g-0 | json /dev/stdin 'o["/weft/sessions"]["state"]')"
kill -TERM "$daemon"
wait "$daemon" || die "weftd ended with $?: $(cat "$work/out")"

echo "telemetry tells everything from the first moment to the last"
