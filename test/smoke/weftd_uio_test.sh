#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# UIO live, in both modes: G-FAM that takes turns, memory that hosts offer to each other (by FAST and by
# prefix), direct peer-to-peer between devices. What is read is what was written; who has no right is
# refused by the rule that --resolve names, and changes nothing.
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
export XDG_RUNTIME_DIR=$work

uio() { # uio REQUESTS LINES [MORE]
	echo "kind: uio, requests: $1, lines: $2${3:-}, timeout_ms: 20000"
}

# h0 and d0 may go everywhere; h1 and d1 have half of the GFDs; d2 has nothing. h0 and h1 offer memory.
fabric() { # fabric MODE REQUESTS LINES [keys of links]
	cat <<-Y
	fabric: uio
	mode: $1
	segments:
	  - {interleave: {ways: 2, granularity: 256, targets: [g0, g1]}, size: 256K}
	  - {target: g1}
	  - {gim: h1}
	  - {gim: h0, size: 256K}
	  - {target: d1}
	groups:
	  - {name: low, ranges: [{gfd: g0}, {gfd: g1, size: 128K}]}
	  - {name: high, ranges: [{gfd: g1, base: 128K}]}
	nodes:
	  - {name: h0, kind: host, pid: 0x101, gim: 512K, egress_prefix: true, windows: [{nodes: [h1], size: 8K}, {nodes: [h1, d0], base: 16K}]}
	  - {name: h1, kind: host, pid: 0x102, access: [high], gim: 512K, egress_prefix: true, windows: [{nodes: [h0, d0]}]}
	  - {name: d0, kind: device, pid: 0x601}
	  - {name: d1, kind: device, pid: 0x602, access: [high], memory: 512K}
	  - {name: d2, kind: device, pid: 0x603, access: [], lav: [], vtv: []}
	  - {name: s0, kind: switch, pid: 0x010}
	  - {name: s1, kind: switch, pid: 0x011}
	  - {name: g0, kind: gfd, pid: 0x201, memory: 1M}
	  - {name: g1, kind: gfd, pid: 0x202, memory: 1M}
	links:
	  - {a: s0, b: s1$4}
	  - {a: h0, b: s0}
	  - {a: h1, b: s1$4}
	  - {a: d0, b: s0}
	  - {a: d1, b: s1}
	  - {a: d2, b: s1}
	  - {a: g0, b: s0}
	  - {a: g1, b: s1$4}
	workloads:
	  - {on: h0, kind: mem, requests: $2, lines: $3, timeout_ms: 20000}
	  - {on: h0, $(uio "$2" "$3")}
	  - {on: h1, $(uio "$2" "$3" ", seed: 7")}
	  - {on: d0, $(uio "$2" "$3" ", bytes: 128")}
	  - {on: d1, $(uio "$2" "$3" ", bytes: 64")}
	  - {on: d2, $(uio "$2" "$3")}
	Y
}

run() { # run NAME [options]: exit status as weftd's; $work/NAME.json
	local status=0
	timeout -k 2 100 "$app/weftd" --topology "$work/$1.yaml" --until-done --quiet \
		--json "$work/$1.json" "${@:2}" || status=$?
	[ $status -ne 0 ] || edges_home "$work/$1.json"
	return $status
}

of() { # of NAME NODE EXPRESSION: over n
	json "$work/$1.json" "[$3 for n in o['nodes'] if n['name'] == '$2'][0]"
}

clean() { # clean NAME: nothing wrong, lost or dropped, and every request has ended
	same "$1: wrong, failed, lost" True "$(json "$work/$1.json" 'o["good"] and not any(
		n["uio"]["traffic"][k] for n in o["nodes"] if "traffic" in n.get("uio", {})
		for k in ("mismatches", "failed", "lost"))')"
	same "$1: dropped" "{}" "$(json "$work/$1.json" "{k: v for n in o['nodes'] for k, v in n['drops'].items()}")"
	same "$1: ended" True "$(json "$work/$1.json" 'all(
		n["uio"]["done"] and n["uio"]["outstanding"] == 0 and
		n["uio"]["requests"]["reads"] + n["uio"]["requests"]["writes"] ==
		sum(n["uio"]["requests"][k] for k in ("reads_done", "writes_done", "ur", "ca"))
		for n in o["nodes"] if "traffic" in n.get("uio", {}))')"
}

for mode in rxl cxl; do
	fabric $mode 4000 256 "" >"$work/$mode.yaml"
	run $mode --capture "d0.0=$work/$mode.pcapng" || die "$mode: weftd ended with $?"
	clean $mode
	# All that d0 asked and was told, with a PTH or without.
	if [ $mode = cxl ]; then
		"$app/weft-replay" --in "$work/cxl.pcapng" --json "$work/replay.json" >/dev/null || die "the capture cannot be read"
		same "packets of d0's link" "$(of cxl d0 "n['uio']['requests']['reads'] + n['uio']['requests']['writes'] +
			sum(n['uio']['memory'][k] for k in ('reads', 'writes'))")" "$(json "$work/replay.json" 'o["io"]["requests"]')"
	fi
	# Who has nothing reads nothing: its port stops every request.
	same "$mode: d2" True "$(of $mode d2 "(lambda t: t['verified'] == 0 and
		t['refused'] == t['reads'] + t['writes'] > 0)(n['uio']['traffic'])")"
	same "$mode: both GFDs serve" True "$(json "$work/$mode.json" "all(
		n['uio']['memory']['reads'] > 100 and n['uio']['memory']['writes'] > 100
		for n in o['nodes'] if n['kind'] == 'gfd')")"
	same "$mode: rights are the GFD's to deny" True \
		"$(of $mode g1 "all(n['uio']['memory'][k] > 0 for k in ('ca', 'reads')) and n['access']['sat'] > 0")"
	same "$mode: devices go directly" True "$(of $mode d0 "n['uio']['edge']['ldst'] > 500")"
	same "$mode: re-router" True "$(of $mode d1 "n['uio']['edge']['answers_rerouted'] >= $(of $mode d0 "n['uio']['edge']['ldst']")")"
	# What came in with PIF was given a prefix, and every answer found its way back by it.
	for h in h0 h1; do
		same "$mode: prefixes of $h" True "$(of $mode $h "(lambda e, m: 500 < e['prefix_added'] ==
			m['reads'] + m['writes'] and e['answers_prefix'] == m['completions'] and
			e['unexpected'] == 0)(n['uio']['edge'], n['uio']['memory'])")"
	done
	same "$mode: several packets for a read" True "$(of $mode h0 "n['uio']['requests']['parts'] > 100")"
	# Few lines, each asked for again and again: who refuses what is what --resolve says.
	fabric $mode 400 8 "" | sed 's/size: 8K}, {nodes: \[h1, d0\], base: 16K}/size: 4K}/; s/{gim: h0, size: 256K}/{gim: h0}/
		s/windows: \[{nodes: \[h0, d0\]}\]/windows: [{nodes: [h0], base: 4K}]/' >"$work/few$mode.yaml"
done

# The same where hosts' windows are too small, too far, or another's; both kinds of flow 1.
for mode in rxl cxl; do
	sed -i 's/windows: \[{nodes: \[h1\], size: 4K}\]/windows: [{nodes: [h1], size: 4K}, {nodes: [d2], base: 4K}]/' "$work/few$mode.yaml"
	run few$mode || die "few$mode: weftd ended with $?"
	clean few$mode
done
/usr/bin/python3 "$here/weftd_uio.py" "$app/weftd" "$work/fewrxl.yaml" "$work/fewrxl.json" ||
	die "the daemon and --resolve differ"

# Where the host's and the device's own port decides, in cxl mode: the same.
fabric cxl 1000 64 "" | sed 's/^mode: cxl/&\ndefaults: {link_form: pbr}/' >"$work/pbr.yaml"
run pbr || die "pbr: weftd ended with $?"
clean pbr
same "pbr: the switch decides nothing" "[True]" "$(json "$work/pbr.json" '
	list({p["edge"] is None and p["form"] == "pbr" for n in o["nodes"] for p in n["ports"]})')"
same "pbr: their own ports do" True "$(of pbr d0 "n['uio']['edge']['ldst'] > 100 and n['uio']['edge']['fast'] > 100")"

# A host and a device that name the target themselves (flow 2), one at a port that takes no prefix, one
# whose VTV has not the target; a target whose port adds none, and one that may not answer.
flow2() { # flow2 MODE NAME SED: only h1's memory
	fabric "$1" 1000 64 "" | sed -e '/interleave:\|target: \|gim: h0,\|kind: mem/d' -e 's/, gim: 512K, egress_prefix: true, windows: \[{nodes: \[h1\].*/}/' \
		-e 's/, memory: 512K//; s/kind: uio,/& prefix: true,/' -e 's/windows: \[{nodes: \[h0, d0\]}\]/windows: [{nodes: [h0, d0, d1]}]/' \
		-e "$3" >"$work/$2.yaml"
	run "$2" || die "$2: weftd ended with $?"
	clean "$2"
}
for mode in rxl cxl; do
	flow2 $mode prefix$mode 's/\(name: \(h0\|d0\|d2\),.*\)}$/\1, ingress_prefix: true}/'
	for k in h0 d0; do
		same "prefix$mode: $k" True "$(of prefix$mode $k "n['uio']['edge']['gim_prefix'] > 500 and
			n['uio']['edge']['gim_fast'] == 0 and n['uio']['traffic']['verified'] > 500")"
	done
	for k in d1 d2; do
		same "prefix$mode: $k is stopped" "['prefix']" "$(of prefix$mode $k "list(n['uio']['stopped'])")"
		same "prefix$mode: $k reads" 0 "$(of prefix$mode $k "n['uio']['traffic']['verified']")"
	done
	flow2 $mode egress$mode 's/egress_prefix: true/egress_prefix: false/; s/prefix: true, requests/requests/'
	same "egress$mode: refused by the target's port" True "$(of egress$mode h1 "n['uio']['edge']['egress_ur'] > 500 and
		n['uio']['memory']['reads'] == 0 and n['uio']['edge']['prefix_added'] == 0")"
	same "egress$mode: nobody reads" "[0, 0, 0, 0]" "$(json "$work/egress$mode.json" "[n['uio']['traffic']['verified']
		for n in o['nodes'] if n['name'] in ('h0', 'd0', 'd1', 'd2')]")"
done
# Its answers are dropped as unexpected, and requests of d0 and d1 are not answered.
fabric rxl 40 8 "" | sed -e '/interleave:\|target: \|gim: h0,/d; s/, memory: 512K//; s/name: h1,/name: h1, vtv: [h0],/' \
	-e '/on: d[01]/s/timeout_ms: 20000/timeout_ms: 200/' >"$work/vtv.yaml"
run vtv || die "vtv: weftd ended with $?"
same "vtv: answers to d0 and d1" True "$(of vtv h1 "n['uio']['edge']['unexpected'] >= 40")"
same "vtv: d0 heard nothing" True "$(of vtv d0 "(lambda t, r: t['refused'] == r['lost'] == t['reads'] + t['writes'] >= 40)(
	n['uio']['traffic'], n['uio']['requests'])")"

# Askers in processes of their own; who answers is seen by telemetry while it runs.
fabric rxl 2000 256 "" | sed '/gim: h0, size/d' >"$work/parts.yaml"
nodes_of=("g0,g1,s0,s1,d1,h1" "h0" "d0,d2")
for k in 0 1 2; do
	until_done=--until-done
	[ $k -ne 0 ] || until_done=--quiet # the others end it
	"$app/weftd" --topology "$work/parts.yaml" --node "${nodes_of[k]}" --quiet $until_done \
		--json "$work/part$k.json" >"$work/part$k.log" 2>&1 &
	pids+=($!)
done
ask() { /usr/bin/python3 "$here/telemetry.py" "${pids[0]}" "$@"; }
answered() { ask /weft/node,h1 | json /dev/stdin 'o["/weft/node"]["uio_memory_reads"]'; }
wait_for 60 eval '[ "$(answered)" -gt 10 ]'
for k in 1 2; do
	wait "${pids[k]}" || die "process $k: $(cat "$work/part$k.log")"
	pids[k]=
	same "process $k" True "$(json "$work/part$k.json" 'o["good"] and any(n["uio"]["traffic"]["verified"] > 500
		for n in o["nodes"] if "traffic" in n["uio"])')"
done
same "prefixes at h1" True "$(ask /weft/node,h1 | json /dev/stdin 'o["/weft/node"]["uio_edge_prefix_added"] > 500')"

kill -TERM "${pids[0]}"
wait "${pids[0]}" || die "process 0: $(cat "$work/part0.log")"
pids=()

# Who only answers needs nobody who asks.
cat >"$work/asked.yaml" <<-Y
	fabric: asked
	segments: [{target: g0}, {gim: h0, size: 64K}]
	nodes:
	  - {name: h0, kind: host, pid: 0x101, gim: 64K}
	  - {name: d0, kind: device, pid: 0x601}
	  - {name: s0, kind: switch, pid: 0x010}
	  - {name: g0, kind: gfd, pid: 0x201, memory: 1M}
	links: [{a: h0, b: s0}, {a: s0, b: d0}, {a: g0, b: s0}]
	workloads: [{on: h0, kind: mem, requests: 1000, lines: 8}, {on: d0, $(uio 200 8)}]
Y
run asked --node h0,s0,g0 || die "asked: h0 ended with $? without d0"

# On wires that damage flits, and in rxl lose frames.
good=1
for mode in rxl cxl; do
	wire='ber: 2e-6, seed: 3'
	[ $mode = cxl ] || wire="$wire, drop: 0.002"
	fabric $mode 2000 256 ", wire: {$wire}" >"$work/bad$mode.yaml"
	if ! run bad$mode 2>"$work/err"; then
		grep -q 'built without the driver net_flitwire' "$work/err" || die "bad$mode: $(cat "$work/err")"
		good=0
		break
	fi
	clean_json=$(json "$work/bad$mode.json" 'o["good"] and all(n["uio"]["traffic"]["verified"] > 500
		for n in o["nodes"] if n["name"] in ("h0", "h1", "d0"))')
	same "bad$mode" True "$clean_json"
done

# What cannot be is refused, with the rule.
fabric rxl 1 8 "" | sed 's/pid: 0x101,/pid: 0x101, forward: true,/' >"$work/no.yaml"
refuses 'a host that answers GIM must not forward UIO to GIM (fabric.md 3.5)' "$app/weftd" --check "$work/no.yaml"
sed -i 's/forward: true,/forward: true, override: gim-forward,/' "$work/no.yaml"
timeout 20 "$app/weftd" --check "$work/no.yaml" >/dev/null || die "the operator could not override"
fabric rxl 1 8 "" | sed 's/^mode: rxl/ide: {mode: skid, key_file: k}/' >"$work/no.yaml"
refuses 'uio beside ide, expected one of them' "$app/weftd" --check "$work/no.yaml"

[ $good -eq 1 ] || echo "without bad wires: weftd was built without the driver net_flitwire"
echo "UIO between hosts, devices and GFDs does what --resolve says"
