#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Two daemons of one node that share nothing but a network: the second is refused and both say so, in both
# modes, with keys and without; traffic of the first goes on. A stranger who says such things is no daemon.
. "$(dirname "$0")/lib.sh"

need_netns
mkdir "$work/other"

# A namespace for each node and one for their doubles, and a network for each link.
for n in h s g t; do
	make_netns $n
	nsenter -t "${ns[$n]}" -n sh -c 'echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6' 2>/dev/null || true
done
# cable NAMESPACE INTERFACE NETWORK
cable() {
	ip link add "b$1$2" mtu 4000 type veth peer name "$2" mtu 4000 netns "${ns[$1]}" &&
		ip link set "b$1$2" master "$3" up && nsenter -t "${ns[$1]}" -n ip link set "$2" up
}
for b in net0 net1; do
	ip link add $b mtu 4000 type bridge mcast_snooping 0 2>/dev/null || skip "skipped: no bridges here"
	ip link set $b up
done
cable h eh net0 && cable s s0 net0 && cable s s1 net1 && cable g eg net1 &&
	cable t eh net0 && cable t s0 net0 && cable t s1 net1 && cable t eg net1 ||
	skip "skipped: no veth interfaces here"
(umask 077 && od -An -N32 -tx1 /dev/urandom | tr -d ' \n' >"$work/psk")

# fabric MODE IDE
fabric() {
	cat >"$topology" <<-Y
	fabric: doubled
	mode: $1
	defaults: {mtu: 4000}
	$2
	nodes:
	  - {name: h0, kind: host, pid: 0x101}
	  - {name: s0, kind: switch, pid: 0x010}
	  - {name: g0, kind: gfd, pid: 0x200, memory: 1M}
	links:
	  - {a: h0, b: s0, driver: af_packet, a_port: {netif: eh}, b_port: {netif: s0}}
	  - {a: s0, b: g0, driver: af_packet, a_port: {netif: s1}, b_port: {netif: eg}}
	workloads:
	  - {on: h0, kind: mem, requests: 0, outstanding: 8, timeout_ms: 9000, lines: 256}
	Y
}
# start_in NAMESPACE NODE NAME: its number is in pid_NAME, its report in NAME.json.
start_in() {
	nsenter -t "${ns[$1]}" -n "$app/weftd" --topology "$topology" --node "$2" --json "$work/$3.json" \
		>>"$work/$3.log" 2>&1 &
	pids+=($!)
	eval "pid_$3=$!"
}
up() {
	rm -f "$work"/*.log "$work"/*.json
	start_in g g0 g0
	start_in s s0 s0
	start_in h h0 h0
	wait_for 20 has_read h0 "$pid_h0" 500
}
# down WHAT: they end well; nothing was lost, in one session, and nothing that is not flits was dropped.
down() {
	local n pid
	for n in h0 s0 g0; do
		pid=pid_$n
		kill -TERM "${!pid}"
		wait "${!pid}" || die "$1: $n did not end well"
	done
	pids=()
	same "$1: nothing lost, nothing wrong" True "$(json "$work/h0.json" \
		'o["good"] and all(o["nodes"][0]["traffic"][k] == 0 for k in ("lost", "mismatches", "failed"))')"
	same "$1: sessions of the host" 1 "$(sum "$work/h0.json" session begun)"
	for n in h0 s0 g0; do
		same "$1: dropped at $n" "{}" "$(json "$work/$n.json" \
			'{k: v for k, v in o["nodes"][0]["drops"].items() if k not in ("ethertype", "session", "duplicate")}')"
	done
}
says() { grep -q "$2" "$work/$1.log"; }
traffic_goes_on() { wait_for 10 has_read h0 "$pid_h0" "$(($(reads_done h0 "$pid_h0") + 200))"; }

topology=$work/fabric.yaml
for mode in rxl cxl; do
	ide=""
	[ $mode = rxl ] || ide="ide: {mode: containment, key_file: $work/psk}"
	fabric $mode "$ide"
	up
	for n in g0 h0 s0; do
		refuses "node $n of fabric doubled runs already, for " \
			nsenter -t "${ns[t]}" -n "$app/weftd" --topology "$topology" --node $n --quiet
		grep -q " on the network of port $n\.[01] (instance [0-9a-f]*): end that one first$" "$work/err" ||
			die "$mode: $(cat "$work/err")"
		wait_for 5 says $n "node $n: somebody on the network of port $n\.[01] began to run this node as well (instance [0-9a-f]*), and is refused: see who"
	done
	if [ $mode = rxl ]; then
		# On the same interface, by way of another run folder.
		XDG_RUNTIME_DIR=$work/other refuses \
			"node g0 of fabric doubled runs already on interface eg, as process $pid_g0: end that one first" \
			nsenter -t "${ns[g]}" -n "$app/weftd" --topology "$topology" --node g0 --quiet
		wait_for 5 says g0 "process [0-9]* began to run this node as well, on interface eg, and is refused"
	fi
	traffic_goes_on
	down $mode
done

# A stranger answers whoever asks, and from then on says a lot. g0 is killed, and starts at once all the same.
fabric rxl "ide: {mode: containment, key_file: $work/psk}"
up
nsenter -t "${ns[t]}" -n /usr/bin/python3 "$here/announce.py" eg doubled g0 600 2000 >"$work/stranger" 2>"$work/stranger.err" &
stranger=$!
pids+=($stranger)
wait_for 10 grep -q begin "$work/stranger"
kill -KILL "$pid_g0"
wait "$pid_g0" 2>/dev/null || true
rm "$work/g0.log"
began=$(date +%s%N)
start_in g g0 g0
wait_for 10 says g0 'weftd: 1 node of fabric doubled runs'
took=$((($(date +%s%N) - began) / 1000000))
traffic_goes_on
sleep 1
traffic_goes_on
kill -0 $stranger || die "the stranger has ended: $(cat "$work/stranger.err")"
kill -TERM $stranger
wait $stranger 2>/dev/null || true
wait_for 5 says g0 "says that this node runs there and proves nothing, [0-9]* times: ignored"
kill -TERM "$pid_h0" "$pid_s0" "$pid_g0"
wait "$pid_h0" || true # what g0 was asked when it was killed is lost
wait "$pid_s0" "$pid_g0" || die "s0 or g0 did not end well"
pids=()
same "lines that are not what was written" 0 "$(json "$work/h0.json" 'o["nodes"][0]["traffic"]["mismatches"]')"
same "sessions of g0" 1 "$(sum "$work/g0.json" session begun)"
heard() { json "$work/g0.json" "o['nodes'][0]['ports'][0]['announcements']['$1']"; }
[ "$(heard excess)" -gt 500 ] || die "the stranger was not loud: $(heard excess)"
# It answers from when it asks on, before it runs.
answers=$(json "$work/g0.json" "o['nodes'][0]['ports'][0]['announcements']['answers'] <= 5 + 50 * (o['seconds'] + $took / 1000)")
same "answers are few" True "$answers"
same "nobody was found" 0 "$(heard found)"

# Both at once: one of them goes on.
fabric rxl ""
rm -f "$work"/*.log
start_in g g0 g0
start_in t g0 t0
ended() { ! kill -0 "$pid_g0" 2>/dev/null || ! kill -0 "$pid_t0" 2>/dev/null; }
wait_for 10 ended
sleep 0.3
first=g0 second=t0
kill -0 "$pid_g0" 2>/dev/null || first=t0 second=g0
pid=pid_$second
status=0
wait "${!pid}" || status=$?
same "status of the one that gave way" 1 $status
grep -qE 'node g0 of fabric doubled (is being started|runs) already.*: end that one first' "$work/$second.log" ||
	die "$(cat "$work/$second.log")"
pid=pid_$first
wait_for 10 says $first 'weftd: 1 node of fabric doubled runs'
kill -TERM "${!pid}"
wait "${!pid}" || die "the other one did not end well: $(cat "$work/$first.log")"
pids=()

# Two that ran when their networks met: neither stops, both say so.
rm -f "$work"/*.log
ip link set bteg nomaster
start_in g g0 g0
start_in t g0 t0
wait_for 10 says g0 'weftd: 1 node of fabric doubled runs'
wait_for 10 says t0 'weftd: 1 node of fabric doubled runs'
ip link set bteg down
sleep 2.2
ip link set bteg master net1 up
for n in g0 t0; do
	wait_for 25 says $n 'node g0: somebody on the network of port g0.0 runs this node as well (instance [0-9a-f]*, for [0-9.]* s), they take'
done
kill -TERM "$pid_g0" "$pid_t0"
wait "$pid_g0" "$pid_t0" || die "one that was found did not end well"
pids=()
echo "the second of two daemons is refused, and both say so; a daemon that was killed ran again after $took ms"
