#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The edge check: by the port of a host comes in what has its PID as SPID, and nothing else. A neighbour
# that has, or takes, another's PID is dropped, counted at its port, said in one line, and disturbs nobody.
. "$(dirname "$0")/lib.sh"
enter_netns || true

# fabric MODE PID_H0 PID_H1 LINK_OF_H1
fabric() {
	cat <<-Y
	fabric: edge
	mode: $1
	defaults: {mtu: 4000}
	nodes:
	  - {name: h0, kind: host, pid: $2}
	  - {name: h1, kind: host, pid: $3}
	  - {name: s0, kind: switch, pid: 0x010}
	  - {name: g0, kind: gfd, pid: 0x200, memory: 1M}
	links:
	  - {a: h0, b: s0}
	  - {a: h1, b: s0, $4}
	  - {a: s0, b: g0}
	workloads:
	  - {on: h0, kind: mem, requests: 0, rate: 500, outstanding: 8, lines: 256, seed: 1}
	  - {on: h1, kind: mem, requests: 0, rate: 500, outstanding: 8, lines: 256, seed: 2}
	Y
}
port1() { json "$work/s0.json" "[p['ingress']['$1'] for n in o['nodes'] if n['name'] == 's0' for p in n['ports'] if p['port'] == 's0.1'][0]"; }
start_three() {
	"$app/weftd" --topology "$topology" --node s0,h0,g0 --json "$work/s0.json" >"$work/s0.log" 2>&1 &
	pid_s0=$!
	pids+=($!)
}
host_runs() { has_read h0 "$pid_s0" 200; }
dropped() { ask "$pid_s0" /weft/node,s0 | json /dev/stdin 'o["/weft/node"].get("drop_spid", 0)'; }
has_dropped() { [ "$(dropped)" -ge "$1" ]; }

topology=$work/edge.yaml
fabric rxl 0x101 0x102 "driver: memif" >"$topology"
"$app/weftd" --check "$topology" >"$work/check"
grep -q 'port 1 to h1 (15 flits a frame), takes SPID 0x102  port 2 to g0 (15 flits a frame), takes SPID 0x200' "$work/check" ||
	die "--check does not show the rule: $(cat "$work/check")"
grep -q 'host   h0 .* port 0 to s0 (15 flits a frame), takes any SPID' "$work/check" || die "$(cat "$work/check")"

# A daemon of h1 whose file gives it the PID of h0. In cxl mode its frames have h0's source address.
for mode in rxl cxl; do
	fabric $mode 0x101 0x102 "driver: memif" >"$topology"
	start_three
	fabric $mode 0x102 0x101 "driver: memif" >"$work/other.yaml"
	"$app/weftd" --topology "$work/other.yaml" --node h1 >"$work/h1.log" 2>&1 &
	pids+=($!)
	wait_for 20 host_runs
	wait_for 20 has_dropped 3
	before=$(reads_done h0 "$pid_s0")
	wait_for 20 has_read h0 "$pid_s0" $((before + 200))
	kill -TERM "${pids[@]}"
	wait "$pid_s0" || die "$mode: h0 was disturbed: $(cat "$work/s0.log")"
	wait "${pids[1]}" || true
	pids=()
	[ "$(port1 control)" -ge 3 ] || die "$mode: $(port1 control) control frames dropped at port 1"
	same "$mode: sessions that h0 began" 1 "$(json "$work/s0.json" \
		"[c['session']['begun'] for n in o['nodes'] if n['name'] == 'h0' for c in n['connections']][0]")"
	case $mode in
	rxl) line='node s0: port 1 (h1): SPID 0x101 of h0 where only 0x102 may come in; [0-9]* dropped since' ;;
	cxl) line='node s0: port 1 (h1): a frame with the source address of another link; [0-9]* dropped since.*; the file of h1 may give it another PID' ;;
	esac
	same "$mode: lines about it" 2 "$(grep -c "$line" "$work/s0.log")" # at once, and the rest at the end
done
[ -n "${WEFT_INSIDE:-}" ] || { echo "an impostor is dropped at its port (without root no raw frames)"; exit 0; }

# All SPIDs that there are, flits and control frames, by the cable of h1.
ip link add es mtu 4000 type veth peer name eh mtu 4000 || skip "skipped: no veth interfaces here"
ip link set es up
ip link set eh up
fabric rxl 0x101 0x102 "driver: af_packet, a_port: {netif: eh}, b_port: {netif: es}" >"$topology"
start_three
wait_for 20 host_runs
/usr/bin/python3 "$here/edge_spids.py" eh "$pid_s0" || die "the frames could not be sent"
before=$(reads_done h0 "$pid_s0")
wait_for 20 has_read h0 "$pid_s0" $((before + 200))
kill -TERM "$pid_s0"
wait "$pid_s0" || die "h0 was disturbed: $(cat "$work/s0.log")"
pids=()
same "flit frames dropped at port 1" 4095 "$(port1 flits)"
same "control frames dropped at port 1" 4095 "$(port1 control)"
same "the SPID that may come in" $((0x102)) "$(port1 spid)"
echo "of 2 x 4096 frames with every SPID 2 came in, those of the port's own host"
