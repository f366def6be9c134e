#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Nodes on two lcores each: segments of their layouts where --check says, halves of links included, over rings, memif and
# af_packet, in the clear and encrypted, over good wires and bad ones. Every request ends once, every read is right, and both
# CPUs have worked for every node. Where rings hold back nothing is dropped.
. "$(dirname "$0")/lib.sh"
[ "$(nproc)" -ge 2 ] || skip "skipped: needs two CPUs"
netns=1
enter_netns || netns=0
export XDG_RUNTIME_DIR=$work
(umask 077 && od -An -N32 -tx1 /dev/urandom | tr -d ' \n' >"$work/psk")

rx='deframe,fec_check|link_rx,ide_open|route,deliver'
tx='pack,ide_seal,link_tx|crc_protect,fec_encode,enframe'
layouts=(--rx-layout "$rx" --tx-layout "$tx")
halves='deframe,fec_check|link_rx|ide_open,route,deliver'
opened='deframe,fec_check,link_rx|ide_open,route|deliver'

# fabric MODE IDE REQUESTS LINKS: a host, a switch, a GFD; the GFD's first lcore is the others' second.
fabric() {
	cat <<-Y
	fabric: lcores
	mode: $1
	defaults: {mtu: 4000}
	ide: $2
	nodes:
	  - {name: h0, kind: host, pid: 0x101, lcores: "0-1"}
	  - {name: s0, kind: switch, pid: 0x010, lcores: "0-1"}
	  - {name: g0, kind: gfd, pid: 0x200, memory: 4M, lcores: "1,0"}
	links:
	  - {a: h0, b: s0, $4}
	  - {a: s0, b: g0, ${5:-$4}}
	workloads:
	  - {on: h0, kind: mem, requests: $3, outstanding: 64, write_percent: 50, lines: 1024, seed: 1, timeout_ms: 30000}
	Y
}

run() { # run NAME [options]
	timeout -k 2 100 "$app/weftd" --topology "$work/$1.yaml" --until-done --json "$work/$1.json" "${layouts[@]}" \
		"${@:2}" >"$work/$1.log" 2>&1
}

# whole NAME [options]: all went well, and both CPUs worked for every node.
whole() {
	local f=$work/$1.json
	run "$@" || die "$1 did not finish: $?"
	same "$1: all well" "True True" "$(json "$f" 'o["good"]') $(good "$f")"
	same "$1: dropped by a full ring or port" 0 "$(json "$f" 'sum(n["drops"].get("tx_full", 0) for n in o["nodes"])')"
	same "$1: lcores that worked" "{'h0': [0, 1], 's0': [0, 1], 'g0': [0, 1]}" "$(json "$f" '{n["name"]:
		sorted({l["lcore"] for l in n["lcores"] if l["busy_cycles"] > 0}) for n in o["nodes"]}')"
	same "$1: cycles of every stage" True "$(json "$f" 'all(c > 0 for n in o["nodes"] for l in n["lcores"]
		for c in l["stages"].values())')"
}

# laid LAYOUT LCORES NAME [options]: the same with another layout; LCORES: of the host's link_rx, ide_open and deliver.
laid() {
	local layouts=(--rx-layout "$1" --tx-layout "$tx") lcores=$2
	whole "${@:3}"
	same "$3: lcores of link_rx, ide_open and deliver" "$lcores" "$(json "$work/$3.json" '" ".join(str(l["lcore"])
		for s in ("link_rx", "ide_open", "deliver") for l in o["nodes"][0]["lcores"] if s in l["stages"])')"
	same "$3: lcore of the connection" "{${lcores%% *}}" \
		"$(json "$work/$3.json" '{c["rx_lcore"] for c in o["nodes"][0]["connections"]}')"
}

# refused MESSAGE LAYOUTS [options]
refused() {
	local status=0
	"$app/weftd" --check --topology "$work/one.yaml" "${@:2}" >"$work/check" 2>&1 || status=$?
	[ $status -eq 2 ] && grep -qF -- "$1" "$work/check" || die "status $status, not \"$1\": $(cat "$work/check")"
}

# --- which segment goes where ---

fabric rxl "{mode: off}" 10000 "driver: ring" >"$work/rings.yaml"
switch=(--switch-layout 'deframe,fec_relay|route')
"$app/weftd" --check --topology "$work/rings.yaml" "${layouts[@]}" "${switch[@]}" >"$work/check"
same "where --check says that segments go" "lcore 0: the node | route,deliver | pack,ide_seal,link_tx
lcore 1: deframe,fec_check | link_rx,ide_open | crc_protect,fec_encode,enframe
lcore 0: the node | route
lcore 1: deframe,fec_relay
lcore 1: the node | route,deliver | pack,ide_seal,link_tx
lcore 0: deframe,fec_check | link_rx,ide_open | crc_protect,fec_encode,enframe" "$(sed -n 's/^ *\(lcore .*\)/\1/p' "$work/check")"
sed 's/rxl$/cxl/' "$work/rings.yaml" >"$work/one.yaml" # retry layers are not halved
refused 'node h0: "link_rx,ide_open" and "route,deliver" would both run on lcore 0: in cxl mode' "${layouts[@]}"
refused 'expected no 2* in' --rx-layout 'deframe|2*fec_check,link_rx,ide_open|route,deliver'
"$app/weftd" --check --topology "$work/one.yaml" --rx-layout "$opened" >"$work/check"
grep -q 'lcore 0: the node | deframe,fec_check,link_rx | deliver' "$work/check" || die "cxl: $(cat "$work/check")"
cp "$work/rings.yaml" "$work/one.yaml"
refused 'expected no 2* in "deframe|2*fec_check|route": ways go by connections' --switch-layout 'deframe|2*fec_check|route'
refused '"route" has one way' --rx-layout 'deframe|2*fec_check,link_rx,route,deliver'
refused '--rx-layout: node h0: "deframe,crc_first" and "link_rx" would both run on lcore 0: of what works on connections only' \
	--rx-layout 'deframe,crc_first|link_rx|ide_open,deliver'
refused '--tx-layout: node h0: "pack" and "ide_seal,link_tx" would both run on lcore 0: of what sends' \
	--tx-layout 'pack|ide_seal,link_tx|crc_protect|fec_encode,enframe'
"$app/weftd" --check --topology "$work/rings.yaml" >"$work/check"
same "where nothing may run apart" 3 "$(grep -c 'lcore .: nothing: no segment is left for it' "$work/check")"
sed 's/"1,0"/"1"/' "$work/rings.yaml" >"$work/one.yaml"
"$app/weftd" --check --topology "$work/one.yaml" "${layouts[@]}" >"$work/check"
grep -q "lcore 1: the node | deframe,fec_check | link_rx,ide_open | route,deliver | pack,ide_seal,link_tx | crc_protect" \
	"$work/check" || die "not all on the one lcore: $(cat "$work/check")"

# --- rings, memif, af_packet ---

whole rings "${switch[@]}"
same "rings: segments as --check said" "$(json "$work/rings.json" '[
	[0, "pack,ide_seal,link_tx"], [0, "route,deliver"],
	[1, "crc_protect,fec_encode,enframe"], [1, "deframe,fec_check"], [1, "link_rx,ide_open"]]')" \
	"$(json "$work/rings.json" 'sorted([l["lcore"], l["segment"]] for l in o["nodes"][0]["lcores"])')"
# An lcore that gets no CPU finds its ring full: what was in it is sent again, and may come twice.
same "rings: reasons to drop" "[]" "$(json "$work/rings.json" 'sorted({reason for n in o["nodes"] for reason in n["drops"]}
	- {"tx_full", "duplicate"})')"
[ "$(sum "$work/rings.json" retry resent)" -lt 2000 ] || die "rings: much is sent again"
"$app/weftd" --topology "$work/one.yaml" --until-done --quiet --json "$work/one.json" --rx-layout "$rx" \
	--tx-layout 'pack,ide_seal,link_tx|crc_protect|fec_encode|enframe' || die "a transmit pipeline of four segments"
same "many segments: all well" True "$(good "$work/one.json")"
laid "$halves" "1 0 0" rings "${switch[@]}"
laid 'deframe,crc_first,link_rx,ide_open|route,deliver' "1 1 0" rings "${switch[@]}"
fabric cxl "{mode: skid, key_file: $work/psk, rekey_flits: 500}" 10000 "driver: ring" >"$work/cxl.yaml"
laid "$opened" "0 1 0" cxl
same "cxl: IDE" "{'closed'}" "$(json "$work/cxl.json" '{c["ide"] for n in o["nodes"] for c in n.get("connections", [])}')"

# ways FABRIC [options]: connections of two GFDs by two lcores, each a way of its own.
ways() {
	sed -E 's/^( *- \{)name: g0, (.*)pid: 0x200(.*)/&\n\1name: g1, \2pid: 0x220\3/; s/^( *- \{a: s0, b: )g0(.*)/&\n\1g1\2/' \
		"$work/$1.yaml" >"$work/$1-ways.yaml"
	local layouts=(--rx-layout 'deframe|2*fec_check,link_rx,ide_open|route,deliver' --tx-layout "$tx")
	run "$1-ways" "${@:2}" || die "$1, ways: did not finish: $?"
	same "$1, ways: all well" "True True" "$(json "$work/$1-ways.json" 'o["good"]') $(good "$work/$1-ways.json")"
	same "$1, ways: lcores that had flits" "[0, 1]" "$(json "$work/$1-ways.json" 'sorted(l["lcore"]
		for l in o["nodes"][0]["lcores"] if l["stages"].get("link_rx", 0) > 0 and l["busy_cycles"] > 0)')"
	same "$1, ways: lcores of the two connections" "[0, 1]" \
		"$(json "$work/$1-ways.json" 'sorted(c["rx_lcore"] for c in o["nodes"][0]["connections"])')"
	same "$1, ways: stages, each once" True "$(json "$work/$1-ways.json" 'all(len(names) == len(set(names))
		for n in o["nodes"] for names in [[s["stage"] for s in n["stages"]]])')"
}
ways rings "${switch[@]}"

bits="ber: 1e-4, uncorrectable: 1e-2"
wire="driver: memif, wire: {seed: 1, $bits, drop: 2e-2, dup: 2e-2, reorder: 2e-2}"
fabric rxl "{mode: off}" 1 "driver: memif, wire: {drop: 0}" >"$work/try.yaml"
if run try || ! grep -q 'built without the driver net_flitwire' "$work/try.log"; then
	fabric rxl "{mode: off}" 3000 "$wire" "${wire/seed: 1/seed: 2}" >"$work/memif.yaml"
	whole memif "${switch[@]}"
	[ "$(sum "$work/memif.json" retry resent)" -gt 10 ] || die "memif: hardly anything was sent again"
	laid "$halves" "1 0 0" memif "${switch[@]}"
	[ "$(sum "$work/memif.json" retry resent)" -gt 10 ] || die "memif, halves: hardly anything was sent again"
	sed 's/mtu: 4000/&, isn: xor/' "$work/memif.yaml" >"$work/xor.yaml"
	laid "$rx" "1 1 0" xor "${switch[@]}"
	[ "$(sum "$work/xor.json" retry resent)" -gt 10 ] || die "xor: hardly anything was sent again"
	fabric rxl "{mode: containment, key_file: $work/psk, rekey_flits: 500}" 3000 "$wire" "${wire/seed: 1/seed: 2}" \
		>"$work/sealed.yaml"
	for how in "$rx=1 1 0" "$halves=1 0 0" "$opened=1 1 0"; do
		laid "${how%=*}" "${how#*=}" sealed "${switch[@]}"
		[ "$(sum "$work/sealed.json" retry resent)" -gt 10 ] || die "$how: hardly anything was sent again"
		[ "$(sum "$work/sealed.json" end ide_rekeyed)" -gt 0 ] || die "$how: no key changed"
	done
	ways sealed "${switch[@]}"
	[ "$(sum "$work/sealed-ways.json" retry resent)" -gt 10 ] || die "ways: hardly anything was sent again"
	[ "$(sum "$work/sealed-ways.json" end ide_rekeyed)" -gt 0 ] || die "ways: no key changed"
	wire="driver: memif, wire: {seed: 1, $bits}"
	fabric cxl "{mode: containment, key_file: $work/psk}" 3000 "$wire" "${wire/seed: 1/seed: 2}" >"$work/link.yaml"
	laid "$opened" "0 1 0" link
	[ "$(sum "$work/link.json" retry resent)" -gt 10 ] || die "link: hardly anything was sent again"
fi
if [ $netns -eq 1 ]; then
	for v in a b; do
		ip link add "${v}0" mtu 4000 type veth peer name "${v}1" mtu 4000
		ip link set "${v}0" up
		ip link set "${v}1" up
	done
	fabric rxl "{mode: containment, key_file: $work/psk}" 10000 \
		"driver: af_packet, a_port: {netif: a0}, b_port: {netif: a1}" \
		"driver: af_packet, a_port: {netif: b0}, b_port: {netif: b1}" >"$work/veth.yaml"
	laid "$halves" "1 0 0" veth "${switch[@]}"
	whole veth "${switch[@]}"
	same "veth: announcements heard" True "$(json "$work/veth.json" 'all(p["announcements"] is not None for n in o["nodes"] for p in n["ports"])')"
fi

# --- a port that takes nothing for a while ---

fabric rxl "{mode: off}" 0 "driver: memif" >"$work/stall.yaml"
for node in s0 g0; do
	"$app/weftd" --topology "$work/stall.yaml" --node "$node" "${layouts[@]}" "${switch[@]}" >"$work/$node.log" 2>&1 &
	pids+=($!)
	eval "pid_$node=$!"
done
"$app/weftd" --topology "$work/stall.yaml" --node h0 --quiet --json "$work/stall.json" "${layouts[@]}" >"$work/h0.log" 2>&1 &
h0=$!
pids+=("$h0")
wait_for 20 has_read h0 "$h0" 100
kill -STOP "$pid_s0"
sleep 0.4
was=$(reads_done h0 "$h0")
kill -CONT "$pid_s0"
wait_for 20 has_read h0 "$h0" $((was + 100))
kill -INT "$h0"
wait "$h0" || die "the host did not end well: $?"
same "a stall: nothing lost, or dropped on the way to the port" "0 0 0" "$(json "$work/stall.json" \
	'" ".join(str(n[k]) for n, k in ((o["nodes"][0]["traffic"], "lost"), (o["nodes"][0]["traffic"], "mismatches"),
	({"tx_full": 0, **o["nodes"][0]["drops"]}, "tx_full")))')"
kill -INT "$pid_s0" "$pid_g0"
wait "$pid_s0" "$pid_g0" || die "others did not end well"

# --- a daemon that ends while the others get no CPU ---

fabric rxl "{mode: skid, key_file: $work/psk}" 0 "driver: memif" >"$work/ends.yaml"
"$app/weftd" --topology "$work/ends.yaml" --node s0,g0 "${layouts[@]}" "${switch[@]}" >"$work/others.log" 2>&1 &
others=$!
pids+=("$others")
"$app/weftd" --topology "$work/ends.yaml" --node h0 --quiet "${layouts[@]}" >"$work/h0.log" 2>&1 &
h0=$!
pids+=("$h0")
wait_for 20 has_read h0 "$h0" 100
kill -STOP "$others"
kill -INT "$h0"
wait "$h0" || die "the host did not end well: $?"
kill -CONT "$others"
is_down() { [ "$("$app/weftctl" show connections --json | json /dev/stdin 'o[0]["state"]')" = down ]; }
wait_for 4 is_down # a silent session would last for 10 s
kill -INT "$others"
wait "$others" || die "others did not end well"

# --- while it runs ---

fabric rxl "{mode: off}" 0 "driver: ring" >"$work/live.yaml"
"$app/weftd" --topology "$work/live.yaml" "${layouts[@]}" "${switch[@]}" >"$work/live.log" 2>&1 &
pid=$!
pids+=("$pid")
wait_for 20 grep -q ' run$' "$work/live.log"
wait_for 20 has_read h0 "$pid" 100
busy() { ask "$pid" /weft/lcores,g0 | json /dev/stdin "[l['busy_cycles'] for l in o['/weft/lcores'].values()]"; }
was=$(busy)
grown() { [ "$(busy | json /dev/stdin "len(o) == 5 and all(now > was for was, now in zip($was, o))")" = True ]; }
wait_for 20 grown
same "/weft/lcores of nobody" None "$(ask "$pid" /weft/lcores,nobody | json /dev/stdin 'o["/weft/lcores"]')"
kill -INT "$pid"
wait "$pid" || die "it did not end well: $?"
[ $netns -eq 1 ] || echo "(without af_packet: no network namespaces here)"
echo "nodes on two lcores each lose nothing, and both CPUs work"
