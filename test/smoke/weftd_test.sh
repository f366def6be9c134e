#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# weftd on one machine: the built-in fabric over rings, one process a node over memif in any order,
# capture and its replay, telemetry, ends that disagree, nodes that die.
. "$(dirname "$0")/lib.sh"
export XDG_RUNTIME_DIR=$work

# Everything in one process
"$app/weftd" --until-done --stats-interval 0.05 --json "$work/r.json" >"$work/text" 2>"$work/events"
same "good" True "$(json "$work/r.json" 'o["good"]')"
"$app/weftd" --seconds 1 --stats-interval 0.2 --json - >"$work/alone.json" 2>"$work/rates" || true
same "standard output is the JSON alone" 6 "$(json "$work/alone.json" 'len(o["nodes"])')"
grep -q '^Mflit/s in, out:' "$work/rates" || die "no rates on standard error: $(cat "$work/rates")"
"$app/weftd" --seconds 1 --stats-interval 0.2 --quiet >"$work/rates" || true
same "what is asked for is said, and no more" "Mflit/s" "$(cut -d' ' -f1 "$work/rates" | sort -u)"
for h in h0 h1; do
	same "$h: every read verified" True "$(json "$work/r.json" "[n['traffic']['verified'] ==
n['traffic']['reads'] > 10000 and n['traffic']['writes'] > 10000 and n['done'] == 1 and
n['outstanding'] == 0 for n in o['nodes'] if n['name'] == '$h'][0]")"
done
same "nothing dropped" "[{}, {}, {}, {}, {}, {}]" "$(json "$work/r.json" '[n["drops"] for n in o["nodes"]]')"
grep -q '^memory: ' "$work/text" || die "memory not said"
grep -qE '^lcore [0-9]+ on CPU .*(spins|yields)' "$work/text" || die "idle policy not said"
grep -q '^port h0.0: ring' "$work/text" || die "port and its reason not said"
same "events of a healthy run" "" "$(cat "$work/events")"
# Flits a second: a node is the sum of its links, an lcore that of its nodes, and what leaves comes in elsewhere.
same "rates" True "$(json "$work/r.json" 'all(abs(sum(p["mflits"][k] for p in n["ports"]) - n["mflits"][k]) < 1e-6
		for n in o["nodes"] for k in ("in", "out", "last_in", "last_out")) and
	all(abs(sum(n["mflits"][k] for n in o["nodes"]) - sum(l["mflits"][k] for l in o["lcores"])) < 1e-6 for k in ("in", "out")) and
	0.98 < sum(n["mflits"]["in"] for n in o["nodes"]) / sum(n["mflits"]["out"] for n in o["nodes"]) <= 1.000001')"
flits=$(json "$work/r.json" '[n["stages"][0]["flits"] for n in o["nodes"] if n["name"] == "s0"][0]')
same "flits of s0 by its rate" True "$(json "$work/r.json" \
	"0.98 < [n['mflits']['in'] for n in o['nodes'] if n['name'] == 's0'][0] * 1e6 * o['seconds'] / ($flits + 1) < 1.02")"
grep -qE '^Mflit/s in, out:  h0 [0-9.]+, [0-9.]+  h1 ' "$work/text" || die "--stats-interval says nothing"
grep -qE '^  [0-9.]+ Mflit/s in, [0-9.]+ out; h0 [0-9.]+, [0-9.]+; s1 ' "$work/text" || die "no rates of s0 and its links"
grep -qE '^lcore 0  [0-9.]+ Mflit/s in, [0-9.]+ out' "$work/text" || die "no rate of the lcore"
"$app/weftd" --until-done --rx-layout 'deframe,fec_check|link_rx,route,deliver' --idle spin --quiet \
	--json "$work/r.json"
same "with a ring inside" True "$(json "$work/r.json" 'o["good"]')"
"$app/weftd" --until-done --rx-layout deframe,crc_first,link_rx,ide_open,route,deliver --quiet --json "$work/r.json"
same "with the CRC first" True "$(json "$work/r.json" 'o["good"] and any(s["stage"] == "crc_first"
	and s["flits"] > 1000 for n in o["nodes"] for s in n["stages"])')"

# Load in a file of its own is what the hosts send.
cat >"$work/bare.yaml" <<-Y
fabric: bare
nodes:
  - {name: h0, kind: host, pid: 0x101}
  - {name: g0, kind: gfd, pid: 0x200, memory: 1M}
links:
  - {a: h0, b: g0, driver: ring}
Y
echo 'workloads: [{on: h0, kind: mem, requests: 3000}]' >"$work/load.yaml"
"$app/weftd" --topology "$work/bare.yaml" --load "$work/load.yaml" --until-done --quiet --json "$work/r.json"
same "load of a file of its own" "True True" "$(json "$work/r.json" 'f"""{o["good"]} {o["nodes"][0]["traffic"]["reads"] + o["nodes"][0]["traffic"]["writes"] >= 3000}"""')"

# At most `rate` requests a second, and 64 more, the sweep included; without it this ends in a tenth of the time.
for source in mem uio; do
	cat >"$work/rate.yaml" <<-Y
	fabric: rate
	nodes:
	  - {name: h0, kind: host, pid: 0x101}
	  - {name: g0, kind: gfd, pid: 0x200, memory: 1M}
	links:
	  - {a: h0, b: g0, driver: ring}
	workloads:
	  - {on: h0, kind: $source, requests: 1000, lines: 64, rate: 2000}
	Y
	"$app/weftd" --topology "$work/rate.yaml" --until-done --quiet --json "$work/r.json"
	same "$source at a rate" True "$(json "$work/r.json" \
		'o["good"] and 1000 <= sum((o["nodes"][0].get("traffic") or o["nodes"][0]["uio"]["traffic"])[k]
			for k in ("reads", "writes")) <= 2000 * (o["seconds"] + 0.1) + 64')"
done

fabric() { # fabric FILE [crc_order] [requests] [timeout_ms]
	cat >"$1" <<-Y
	fabric: smoke
	mode: rxl
	defaults: {crc_order: ${2:-r0}}
	nodes:
	  - {name: h0, kind: host, pid: 0x101}
	  - {name: s0, kind: switch, pid: 0x010}
	  - {name: g0, kind: gfd, pid: 0x200, memory: 16M}
	links:
	  - {a: h0, b: s0, driver: memif}
	  - {a: s0, b: g0, driver: memif}
	workloads:
	  - {on: h0, kind: mem, requests: ${3:-20000}, outstanding: 64, write_percent: 50, lines: 1024, seed: 1, timeout_ms: ${4:-30000}}
	Y
}
run() { # run NAME TOPOLOGY NODE [options]: in the background; its number is in $pid
	"$app/weftd" --topology "$2" --node "$3" "${@:4}" >"$work/$1.log" 2>&1 &
	pid=$!
	pids+=("$pid")
}
stop() { # stop PID: it must end by itself, with what it counted
	kill -INT "$1"
	wait "$1" || die "process $1 ended with $?: $(tail -n 3 "$work"/*.log)"
}

# One process a node, the last one first
fabric "$work/f.yaml"
run g0 "$work/f.yaml" g0
g=$pid
run s0 "$work/f.yaml" s0 --capture "s0.0=$work/cap.pcapng" --json "$work/s.json"
s=$pid
"$app/weftd" --topology "$work/f.yaml" --node h0 --until-done --quiet --json "$work/h.json"
same "over memif" True "$(json "$work/h.json" 'o["good"]')"
# Nothing is lost or damaged on memif, and who shares its CPU with others is waited for.
same "lost or damaged on a healthy link" 0 "$(($(sum "$work/h.json" retry bad) + $(sum "$work/h.json" retry gaps)))"
resent=$(sum "$work/h.json" retry resent)
[ "$resent" -lt 100 ] || die "a healthy link sent $resent of $(sum "$work/h.json" retry sent) flits again"
same "/weft/nodes" '["s0"]' "$(ask "$s" /weft/nodes | json /dev/stdin 'str(o["/weft/nodes"]).replace(chr(39), chr(34))')"
same "/weft/node,s0" switch "$(ask "$s" /weft/node,s0 | json /dev/stdin 'o["/weft/node"]["kind"]')"
same "/weft/node,nonesuch" None "$(ask "$s" /weft/node,nonesuch | json /dev/stdin 'o["/weft/node"]')"
same "/weft/stages,s0" True "$(ask "$s" /weft/stages,s0 | json /dev/stdin 'o["/weft/stages"]["fec_relay"]["clean"] > 1000')"
same "/weft/kernels" 0 "$(ask "$g" /weft/kernels | json /dev/stdin 'o["/weft/kernels"]["self_tests_failed"]')"
same "/weft/pipelines" True "$(ask "$g" /weft/pipelines | json /dev/stdin '"g0" in o["/weft/pipelines"]')"
same "/weft/ports" True "$(ask "$g" /weft/ports | json /dev/stdin '"g0.0" in str(o)')"
for c in /weft/kernels /weft/nodes /weft/node /weft/stages /weft/pipelines /weft/ports /weft/port; do
	for p in "" ,0 ,z; do
		ask "$g" "$c$p" | json /dev/stdin 'len(o)' >/dev/null
	done
done
stop "$s"
stop "$g"
"$app/weft-replay" --in "$work/cap.pcapng" --json "$work/c.json" >/dev/null
same "requests in the capture" "$(json "$work/h.json" '[o["nodes"][0]["traffic"][k] for k in ("reads", "writes")]')" \
	"$(json "$work/c.json" '[o["messages"][k] for k in ("m2s_req", "m2s_rwd")]')"
same "answers in the capture" "$(json "$work/h.json" '[o["nodes"][0]["traffic"][k] for k in ("reads", "writes")]')" \
	"$(json "$work/c.json" '[o["messages"][k] for k in ("s2m_drs", "s2m_ndr")]')"
same "the capture is clean" "0 0" "$(json "$work/c.json" 'str(o["crc"]["bad"]) + " " + str(o["isn"]["lost_flits"])')"
same "the switch's frames in the capture" "$(json "$work/s.json" 'o["nodes"][0]["ports"][0]["rx_frames"] + o["nodes"][0]["ports"][0]["tx_frames"]')" \
	"$(json "$work/c.json" 'o["packets"]')"
if command -v tshark >/dev/null; then
	same "frames that tshark sees" "$(json "$work/c.json" 'o["packets"]')" \
		"$(tshark -r "$work/cap.pcapng" -Y 'eth.type == 0x88b5' 2>/dev/null | wc -l)"
fi

# Ends that disagree do not come up, and say which value differs
fabric "$work/r7.yaml" r7
run g0 "$work/r7.yaml" g0
g=$pid
run s0 "$work/f.yaml" s0
s=$pid
if "$app/weftd" --topology "$work/f.yaml" --node h0 --until-done --quiet 2>"$work/err"; then
	die "ends with different CRC orders came up"
fi
grep -qF 'g0 refuses: CRC order is r7 first there, r0 first here' "$work/err" || die "$(cat "$work/err")"
stop "$s"
stop "$g"

# A GFD that is killed: requests are reported as lost; back again, a new session
fabric "$work/long.yaml" r0 0 300
run g0 "$work/long.yaml" g0
g=$pid
run s0 "$work/long.yaml" s0
s=$pid
run h0 "$work/long.yaml" h0 --json "$work/h.json"
h=$pid
wait_for 20 sh -c "grep -q 'run' '$work/h0.log'"
wait_for 20 has_read h0 "$h" 100
kill -KILL "$g"
wait "$g" 2>/dev/null || true
sleep 1
stalled=$(reads_done h0 "$h")
run g0 "$work/long.yaml" g0
g=$pid
wait_for 30 has_read h0 "$h" $((stalled + 100))
kill -INT "$h"
if wait "$h"; then die "a host that lost requests ended well"; fi
same "lost requests are reported" True "$(json "$work/h.json" 'o["nodes"][0]["traffic"]["lost"] > 0')"
stop "$s"
stop "$g"

# No answer at all
if "$app/weftd" --topology "$work/f.yaml" --node h0 --until-done --wait 1 --quiet 2>"$work/err"; then
	die "a host without a fabric ended well"
fi
grep -qF 'host h0: no answer from g0 (PID 0x200)' "$work/err" || die "$(cat "$work/err")"
# One GFD of two does not come: the other has its share, and the run ends as above.
cat >"$work/two.yaml" <<-Y
	fabric: two
	nodes:
	  - {name: h0, kind: host, pid: 0x101}
	  - {name: s0, kind: switch, pid: 0x010}
	  - {name: g0, kind: gfd, pid: 0x200, memory: 1M}
	  - {name: g1, kind: gfd, pid: 0x201, memory: 1M}
	links:
	  - {a: h0, b: s0}
	  - {a: s0, b: g0}
	  - {a: s0, b: g1, driver: memif}
	workloads: [{on: h0, kind: mem, seed: 1, requests: 1000, lines: 64}]
Y
if "$app/weftd" --topology "$work/two.yaml" --node h0,s0,g0 --until-done --wait 4 --quiet --json "$work/two.json" 2>"$work/err"; then
	die "a host that never met a GFD ended well"
fi
grep -qF 'host h0: no answer from g1 (PID 0x201)' "$work/err" || die "$(cat "$work/err")"
same "reads without it" True "$(json "$work/two.json" 'o["nodes"][0]["traffic"]["verified"] > 0')"
# Root's processes have their folder of DPDK below /var/run, whatever the environment says.
leftover=$({
	find "$work/weft" "$work/dpdk" -name "*$h*"
	find /var/run/dpdk -name "*-$h"
} 2>/dev/null | head -n 1)
same "left behind" "" "$leftover"
echo "weftd runs fabrics over rings and memif, and says what was lost"
