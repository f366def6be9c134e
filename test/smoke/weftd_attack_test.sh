#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Somebody on the link of two daemons says in the name of either that their session is over, 24 times a
# second and 4,000 times, with IDE and without: it goes on, nothing is lost, and counters tell. With IDE a word of
# it that is said again, MAC and all, is no better.
. "$(dirname "$0")/lib.sh"

need_netns
make_netns h
make_netns g
ip link add eh mtu 4000 netns "${ns[h]}" type veth peer name eg mtu 4000 netns "${ns[g]}" ||
	skip "skipped: no veth interfaces here"
for end in h g; do
	nsenter -t "${ns[$end]}" -n ip link set "e$end" up promisc on
done
(umask 077 && od -An -N32 -tx1 /dev/urandom | tr -d ' \n' >"$work/psk")
see_h=/proc/${ns[h]}/ns/net:eh see_g=/proc/${ns[g]}/ns/net:eg

# fabric MODE IDE [REQUESTS]
fabric() {
	cat <<-Y
	fabric: attacked
	mode: $1
	defaults: {mtu: 4000}
	$2
	nodes:
	  - {name: h0, kind: host, pid: 0x101}
	  - {name: g0, kind: gfd, pid: 0x200, memory: 1M}
	links:
	  - {a: h0, b: g0, driver: af_packet, a_port: {netif: eh}, b_port: {netif: eg}}
	workloads:
	  - {on: h0, kind: mem, requests: ${3:-0}, outstanding: 8, write_percent: 50, timeout_ms: 5000, lines: 256, seed: 1}
	Y
}

# in_ns END NODE: a daemon in the background; its number is in pid_NODE.
in_ns() {
	nsenter -t "${ns[$1]}" -n "$app/weftd" --topology "$topology" --node "$2" --json "$work/$2.json" \
		>"$work/$2.log" 2>&1 &
	pids+=($!)
	eval "pid_$2=$!"
}

# up NAME MODE IDE [REQUESTS]: both daemons, and traffic.
up() {
	topology=$work/$1.yaml
	fabric "${@:2}" >"$topology"
	in_ns g g0
	in_ns h h0
	wait_for 20 has_read h0 "$pid_h0" 500
}

# down NAME: both end; their reports are NAME-h0.json and NAME-g0.json.
down() {
	local status=0
	kill -TERM "$pid_h0"
	wait "$pid_h0" || status=$?
	kill -TERM "$pid_g0"
	wait "$pid_g0" || true
	pids=()
	mv "$work/h0.json" "$work/$1-h0.json" && mv "$work/g0.json" "$work/$1-g0.json" ||
		die "$1: no report"
	same "$1: the host's status" 0 "$status"
}
# count NAME GROUP COUNTER: at both ends.
count() { echo $(($(sum "$work/$1-h0.json" "$2" "$3") + $(sum "$work/$1-g0.json" "$2" "$3"))); }

# talked_to NAME MODE IDE: somebody says things at 24 a second for some seconds, and then at 4,000.
talked_to() {
	local reads
	up "$1" "$2" "$3"
	/usr/bin/python3 "$here/forge_control.py" 6 24 "$see_h" "$see_g" >"$work/forger" 2>"$work/forger.err" ||
		die "$1: $(cat "$work/forger.err")"
	/usr/bin/python3 "$here/forge_control.py" 500 4000 "$see_h" "$see_g" >"$work/forger" 2>"$work/forger.err" ||
		die "$1: $(cat "$work/forger.err")"
	reads=$(reads_done h0 "$pid_h0")
	wait_for 5 has_read h0 "$pid_h0" "$((reads + 500))"
	down "$1"
	same "$1: sessions begun at both ends" 2 "$(count "$1" session begun)"
	same "$1: requests lost" 0 "$(json "$work/$1-h0.json" "o['nodes'][0]['traffic']['lost']")"
	same "$1: lines that are not what was written" 0 "$(json "$work/$1-h0.json" "o['nodes'][0]['traffic']['mismatches']")"
	grep -q 'node g0: somebody says that the session with h0 is over' "$work/g0.log" || die "$1: g0 did not say so"
	[ "$(count "$1" session challenges)" -ge 4 ] || die "$1: nobody was asked"
	[ "$(count "$1" session false_gones)" -ge 100 ] || die "$1: false answers were not counted"
}

talked_to cxl cxl ""
talked_to open rxl ""
same "MACs without keys" 0 "$(count open session bad_macs)"
open=$(count open session challenges)
talked_to sealed rxl "ide: {mode: containment, key_file: $work/psk}"
[ "$(count sealed session bad_macs)" -ge 200 ] || die "forged frames were not counted"
grep -q 'node g0: control frames in the name of h0 that prove nothing' "$work/g0.log" || die "forged frames were not said"

# Only an end that has nothing to send says that it is alive.
ide="ide: {mode: containment, key_file: $work/psk}"
up again rxl "$ide" 2000
/usr/bin/python3 "$here/attack.py" alive 60 "$see_g" "$see_h" >"$work/again" 2>"$work/again.err" &
attacker=$!
pids+=($attacker)
wait_for 30 grep -q 'node g0: .* frames in the name of h0 since .*, that were sent before or are of no session' "$work/g0.log"
kill "$attacker"
wait "$attacker" || true
down again
old=$(sum "$work/again-g0.json" session old_numbers)
[ "$old" -ge 250 ] || die "only $old old numbers: $(cat "$work/again" "$work/again.err")"
same "the event" True "$(json "$work/again-g0.json" 'o["event_counts"]["replayed"] >= 250')"
same "sessions begun at both ends" 2 "$(count again session begun)"
echo "nobody ended a session; asked $open and $(count sealed session challenges) times, $(count sealed session bad_macs) wrong MACs," \
	"$old old numbers"
