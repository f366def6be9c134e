#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Somebody at the cable between two daemons changes flits and makes their CRC right. Without IDE nobody
# notices; with containment nothing of it is delivered: the stream becomes Insecure, which is said, the
# session ends, and a new one with new keys goes on to the end.
. "$(dirname "$0")/lib.sh"

need_netns

ip link add eh type veth peer name mh && ip link add eg type veth peer name mg ||
	skip "skipped: no veth interfaces here"
# A namespace for each end, as two machines are: in one the two might be given the same packet group.
for end in h g; do
	make_netns $end
	ip link set "e$end" netns "${ns[$end]}"
	ip link set "m$end" mtu 4000 up promisc on
	nsenter -t "${ns[$end]}" -n ip link set "e$end" mtu 4000 up promisc on
done
(umask 077 && od -An -N32 -tx1 /dev/urandom | tr -d ' \n' >"$work/psk")

fabric() { # fabric IDE TIMEOUT_MS
	cat <<-Y
	fabric: forged
	mode: rxl
	defaults: {mtu: 4000}
	$1
	nodes:
	  - {name: h0, kind: host, pid: 0x101}
	  - {name: g0, kind: gfd, pid: 0x200, memory: 1M}
	links:
	  - {a: h0, b: g0, driver: af_packet, a_port: {netif: eh}, b_port: {netif: eg}}
	workloads:
	  - {on: h0, kind: mem, requests: 3000, outstanding: 8, write_percent: 50, timeout_ms: $2, lines: 256, seed: 1}
	Y
}

# attack NAME WHAT TIMEOUT_MS IDE: run it with somebody at the cable; NAME.json is h0's report, `forged` what he did.
attack() {
	fabric "$4" "$3" >"$work/$1.yaml"
	/usr/bin/python3 "$here/forger.py" mh mg $2 >"$work/forger" 2>"$work/forger.err" &
	local forger=$! gfd
	pids+=($forger)
	wait_for 20 grep -q ready "$work/forger"
	nsenter -t "${ns[g]}" -n "$app/weftd" --topology "$work/$1.yaml" --node g0 --json "$work/$1-g0.json" >"$work/$1-g0.log" 2>&1 &
	gfd=$!
	pids+=($gfd)
	timeout -k 2 120 nsenter -t "${ns[h]}" -n "$app/weftd" --topology "$work/$1.yaml" --node h0 --until-done --quiet \
		--json "$work/$1.json" >"$work/$1.log" 2>&1 && host=0 || host=$?
	kill -TERM $gfd || die "$1: g0 is gone: $(tail -n 3 "$work/$1-g0.log")"
	wait $gfd || true
	kill -TERM $forger || die "$1: the forger is gone: $(cat "$work/forger.err")"
	wait $forger || true
	pids=()
	[ -s "$work/$1.json" ] && [ -s "$work/$1-g0.json" ] ||
		die "$1: no report, status $host: $(tail -n 20 "$work/$1.log" "$work/$1-g0.log")"
	forged=$(tail -n 1 "$work/forger")
}
sum() { # sum NAME GROUP COUNTER: at both ends
	local n=0 f
	for f in "$work/$1.json" "$work/$1-g0.json"; do
		n=$((n + $(json "$f" "sum(c['$2']['$3'] for n in o['nodes'] for c in n.get('connections', []))")))
	done
	echo $n
}
host() { json "$work/$1.json" "o['nodes'][0]['traffic']['$2']"; }

# In the data of writes: what changes a tag or an address may cost a request without IDE.
attack open "20 40 4 data" 30000 ""
[ "$forged" -ge 2 ] || die "nothing was forged: $(cat "$work/forger.err")"
same "flits that a CRC found bad" 0 "$(sum open retry bad)"
same "requests that were lost without IDE" 0 "$(host open lost)"

# Tags of lost requests rest for the timeout, all that there are: a short one.
attack sealed "40 80 4" 1000 "ide: {mode: containment, key_file: $work/psk}"
[ "$forged" -ge 2 ] || die "nothing was forged with IDE: $(cat "$work/forger.err")"
same "lines that are not what was written" 0 "$(host sealed mismatches)"
failures=$(sum sealed end ide_failures)
[ "$failures" -ge 1 ] && [ "$failures" -le "$forged" ] || die "$failures streams failed of $forged attacks"
[ "$(sum sealed session begun)" -ge $((2 * (failures + 1))) ] || die "a failure was not followed by a new session"
cat "$work/sealed.log" "$work/sealed-g0.log" | grep -q 'IDE of what came from .* failed' || die "a failure was not said"
same "requests and what reads them back" 3000 "$(($(host sealed reads) + $(host sealed writes) - $(host sealed swept)))"
echo "of $forged forged flits $failures ended a session, and none was believed"
