#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Nodes that go away and come back, a process each over memif: a host finds the lines of its former
# self; with the defaults a host waits for a switch that is away for 5 s, and forgives itself a pause; the
# empty memory of a GFD that was killed is not taken for data.
. "$(dirname "$0")/lib.sh"
export XDG_RUNTIME_DIR=$work

# fabric REQUESTS [timeout_ms: N]: at $topology, with the defaults, as people have them.
fabric() {
	local more="requests: $1${2:+, $2}"
	cat >"$topology" <<-Y
	fabric: restart
	mode: ${mode:-rxl}
	nodes:
	  - {name: h0, kind: host, pid: 0x101}
	  - {name: s0, kind: switch, pid: 0x010}
	  - {name: g0, kind: gfd, pid: 0x200, memory: 4M}
	links:
	  - {a: h0, b: s0, driver: memif}
	  - {a: s0, b: g0, driver: memif}
	workloads:
	  - {on: h0, kind: mem, $more, lines: 1024}
	  - {on: h0, kind: uio, $more, lines: 256}
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

# again: what the host has read by now goes on.
again() {
	local before
	before=$(reads_done h0 "$pid_h0")
	wait_for 20 has_read h0 "$pid_h0" $((before + 1000))
}
ends_well() {
	kill -INT "$pid_h0"
	wait "$pid_h0" || die "$1: status $?, $(total lost) lost, $(total mismatches) mismatches"
}

# A switch that is killed and away for 5 s: the host waits.
fabric 0
start h0 --json "$work/h.json"
wait_for 20 has_read h0 "$pid_h0" 1000
kill_hard "$pid_s0"
sleep 5
start s0
again
ends_well "a switch was away"

# A host that is stopped for longer than its timeout: in that time no request has grown older.
fabric 0 "timeout_ms: 300"
start h0 --json "$work/h.json"
wait_for 20 has_read h0 "$pid_h0" 1000
for _ in 1 2 3; do
	kill -STOP "$pid_h0"
	sleep 0.6
	kill -CONT "$pid_h0"
	again
done
ends_well "the host was stopped"

# A GFD that is killed has empty memory: a host hears so, forgets its lines, and goes on with zeros
# (SESS-30, SESS-31).
fabric 0
start h0 --json "$work/h.json"
wait_for 20 has_read h0 "$pid_h0" 3000
kill_hard "$pid_g0"
start g0
again
again
status=0
kill -INT "$pid_h0"
wait "$pid_h0" || status=$?
same "old lines or zeros taken for others" 0 "$(total mismatches)"
[ "$(total forgotten)" -gt 200 ] || die "only $(total forgotten) lines were forgotten"
[ "$status" -eq $(($(total lost) > 0)) ] || die "status $status with $(total lost) lost"
same "new memories met" 1 "$(json "$work/h.json" 'o["nodes"][0]["connections"][0]["memory_replaced"]')"
grep -q 'node h0: g0 restarted with empty memory (generation' "$work/h0.log" || die "the host said nothing of it"

# --wait is for each time without a session: a GFD that ends when more than that of the run is over has as long to come
# back. If it does not, the run ends.
gone() { # gone PID: it takes its leave
	kill -INT "$1"
	wait "$1" || die "a GFD ended with $?"
}
fabric 60000 "rate: 1000"
before=$SECONDS
start h0 --until-done --wait 6 --json "$work/h.json"
wait_for 20 has_read h0 "$pid_h0" 100
while [ $((SECONDS - before)) -le 7 ]; do sleep 0.2; done
gone "$pid_g0"
sleep 0.5
start g0
again
gone "$pid_g0"
status=0
wait "$pid_h0" || status=$?
same "status of a host whose GFD is gone" 1 "$status"
grep -q 'host h0: no answer from g0 (PID 0x200) in 6 s' "$work/h0.log" || die "the host said nothing of a GFD that is gone"
start g0

# In cxl mode the switch tells the GFD: what it had is poison, no zeros, until it is written (SESS-32).
for node in s0 g0; do kill_hard "$(eval "echo \$pid_$node")"; done
mode=cxl
fabric 0 "timeout_ms: 500"
start s0
start g0
start h0 --json "$work/h.json"
wait_for 20 has_read h0 "$pid_h0" 3000
kill_hard "$pid_g0"
sleep 0.5 # it is missed before it is there again
start g0
wait_for 20 grep -q 'node g0: memory is new (generation .*), and s0 knew other' "$work/g0.log"
again
sleep 1.2 # so long a doubt stands
! grep -h 'somebody says that the session' "$work/h0.log" "$work/s0.log" || die "a session that ended is doubted"
kill -INT "$pid_h0"
if wait "$pid_h0"; then die "a host whose data is gone ended well"; fi
same "zeros taken for data" 0 "$(total mismatches)"
[ "$(total failed)" -gt 50 ] || die "only $(total failed) reads of poison"
grep -q 'node s0: g0 restarted with empty memory (generation' "$work/s0.log" || die "the switch said nothing of it"
echo "hosts come back to their lines, wait for switches, forgive themselves pauses, and tell new memory from old"
