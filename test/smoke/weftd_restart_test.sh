#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Nodes that go away and come back, a process each over memif: a host finds the lines of its former
# self.
. "$(dirname "$0")/lib.sh"
export XDG_RUNTIME_DIR=$work

# fabric REQUESTS: at $topology, with the defaults, as people have them.
fabric() {
	cat >"$topology" <<-Y
	fabric: restart
	nodes:
	  - {name: h0, kind: host, pid: 0x101, traffic: {requests: $1, lines: 1024}, uio: {requests: $1, lines: 256}}
	  - {name: s0, kind: switch, pid: 0x010}
	  - {name: g0, kind: gfd, pid: 0x200, memory: 4M}
	links:
	  - {a: h0, b: s0, driver: memif}
	  - {a: s0, b: g0, driver: memif}
	Y
}
kill_hard() { # kill_hard PID
	kill -KILL "$1"
	wait "$1" 2>/dev/null || true
}
total() { # total COUNTER: of both sources of h0
	json "$work/h.json" "sum(t['$1'] for t in (o['nodes'][0]['traffic'], o['nodes'][0]['uio']['traffic']))"
}

fabric 0
start s0
start g0

# A host that is killed, and started twice: its former lines are no corruption.
start h0
wait_for 20 has_read h0 "$pid_h0" 3000
kill_hard "$pid_h0"
fabric 8000
for again in 1 2; do
	"$app/weftd" --topology "$topology" --node h0 --until-done --quiet --json "$work/h.json" ||
		die "start $again ended with $?: $(total mismatches) mismatches, $(total lost) lost"
	[ "$(total former)" -gt 100 ] || die "start $again: only $(total former) former lines were read"
done
echo "hosts come back to their lines"
