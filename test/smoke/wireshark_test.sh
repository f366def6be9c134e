#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# usertools/weft.lua in tshark: the specification's vectors, counts equal to those of weft-replay and
# of the Python model, captures of weftd and weft-sim against what these count themselves, and packets
# that nobody sent on purpose.
. "$(dirname "$0")/lib.sh"
command -v tshark >/dev/null || skip "tshark is not installed"
tshark --version 2>/dev/null | tr '\n' ' ' | grep -q 'with Lua' || skip "tshark is built without Lua"
/usr/bin/python3 -c 'import numpy' 2>/dev/null || skip "python3-numpy is not installed"

export WORK=$work TSHARK=tshark WEFT_LUA=$work/weft.lua XDG_RUNTIME_DIR=$work
cp "$here/../../usertools/weft.lua" "$WEFT_LUA"
gen() { "$app/weft-gen" --flits 300 --out "$work/$1.pcap" --json "$work/$1.gen" "${@:2}"; }
# shark CAPTURE [option...]; TSHARK may be several words.
shark() { $TSHARK -n -X "lua_script:$WEFT_LUA" -r "$@" 2>/dev/null; }
gen good --frame-flits 3
takes_script() { shark "$work/good.pcap" -Y weft.flit | grep -q WEFT; }
if ! takes_script && [ "$(id -u)" -eq 0 ]; then
	# Wireshark can be built, or told by its init.lua, to run no scripts for root.
	TSHARK="setpriv --reuid=65534 --regid=65534 --clear-groups tshark"
	chmod 755 "$work"
	umask 022
fi
takes_script || die "tshark does not take the script"

wireshark() { /usr/bin/python3 "$here/wireshark.py" "$@" || die "wireshark.py $*"; }
# compare NAME CAPTURE [ARG...]: weft-replay with ARGs and the dissector count the same in CAPTURE.
compare() {
	local name=$1 capture=$2
	shift 2
	"$app/weft-replay" --in "$capture" --json "$work/$name.json" "$@" >/dev/null
	[ "$(json "$work/$name.json" 'o["flits"] > 0')" = True ] || die "$name: no flits"
	wireshark compare "$capture" "$work/$name.json" "$@"
}

wireshark vectors

compare good "$work/good.pcap"
gen faults --flits 1000 --errors burst=3:0.05,drop=0.02,dup=0.02,reorder=0.02,garbage=0.1 --seed 7
compare faults "$work/faults.pcap"
wireshark twice "$work/faults.pcap"
gen noise --errors ber=0.001,burst=8:0.05 --vc 5 --session 9
compare noise "$work/noise.pcap"
gen cxl --mode cxl --errors burst=2:0.1,drop=0.02 --first-seq 900
compare cxl "$work/cxl.pcap" --mode cxl --first-seq 900
gen raw --raw --spid 0x123 --dpid 0x456 --crc-order r7
compare raw "$work/raw.pcap" --spid 0x123 --dpid 0x456 --crc-order r7
gen xor --isn xor --errors drop=0.002
compare xor "$work/xor.pcap" --isn xor
same "bursts in the trace" True "$(json "$work/faults.gen" 'o["faults"]["bursts"] > 0')"

# fabric LINK: of one host, one switch and one GFD; LINK is of the host.
fabric() {
	cat >"$work/f.yaml" <<-Y
	fabric: shark
	mode: rxl
	nodes:
	  - {name: h0, kind: host, pid: 0x101}
	  - {name: s0, kind: switch, pid: 0x010}
	  - {name: g0, kind: gfd, pid: 0x200, memory: 16M}
	links:
	  - {a: h0, b: s0, $1}
	  - {a: s0, b: g0}
	workloads:
	  - {on: h0, kind: mem, requests: 2000, outstanding: 64, write_percent: 50, lines: 1024, seed: 1, timeout_ms: 20000}
	Y
}

# Both ways through a switch, from the first HELLO to the GOODBYE
fabric "driver: ring"
timeout 60 "$app/weftd" --topology "$work/f.yaml" --until-done --quiet --capture "s0.0=$work/cap.pcapng" \
	--json "$work/d.json"
compare weftd "$work/cap.pcapng"
same "requests in the capture" "$(json "$work/d.json" '[n["traffic"]["reads"] + n["traffic"]["writes"]
	for n in o["nodes"] if n["name"] == "h0"][0]')" \
	"$(shark "$work/cap.pcapng" -T fields -e weft.msg.kind | tr , '\n' | grep -cE '^m2s_(req|rwd)$')"
same "link control in the capture" "1 2" "$(shark "$work/cap.pcapng" -Y 'weft.control.type in {1, 2}' \
	-T fields -e weft.control.type | sort -u | paste -sd ' ')"
same "frames refused" "" "$(shark "$work/cap.pcapng" -Y weft.drop)"

# A bad wire: replays and Naks, at the port of the host that asks and answers for them
fabric "wire: {ber: 1e-5, uncorrectable: 0.01, drop: 0.02, dup: 0.01, reorder: 0.01, seed: 3}"
wire=1
if ! timeout 60 "$app/weftd" --topology "$work/f.yaml" --until-done --quiet \
	--capture "h0.0=$work/wire.pcapng" --json "$work/wire.report" 2>"$work/err"; then
	grep -q 'built without the driver net_flitwire' "$work/err" || die "$(cat "$work/err")"
	wire=0
fi
if [ $wire -eq 1 ]; then
	compare wire "$work/wire.pcapng"
	wireshark host "$work/wire.pcapng" "$work/wire.report" h0
	wireshark notes "$work/wire.pcapng" nak_selective replay late fec_corrected fec_uncorrectable
fi

# sim NAME ARG...: a run of weft-sim, NAME.pcap and NAME.sim. Nobody plays frames back: which of two flits of a
# number is the true one readers cannot know.
sim() {
	(cd "$work" && timeout 60 "$app/weft-sim" --ide off --hops 1000 --without replays --capture "$1.pcap" \
		--json "$1.sim" "${@:2}" >text) || die "weft-sim ${*:2} fails"
}
sim_agrees() { wireshark sim "$work/$1.pcap" "$work/$1.sim" "${@:2}"; }

# pair_fits: this run has flits that FEC gave up, Naks, flits sent again in vain, counters of all
# that was sent, and a capture in which weft-replay finds flits lost and damaged.
pair_fits() {
	[ "$(json "$work/pair.sim" 'o["capture"]["isn"] == "pseudo" and o["capture"]["gap_decoding"] and
		o["faults"]["node_crash"] + o["faults"]["memory_loss"] + o["dropped"]["no_session"] + o["dropped"]["spid"] == 0 and
		o["fec"]["uncorrectable"] > 0 and o["retry"]["naks_sent"] > 0 and
		o["retry"]["duplicates"] > 0')" = True ] || return 1
	"$app/weft-replay" --in "$work/pair.pcap" --json "$work/pair.json" >/dev/null
	[ "$(json "$work/pair.json" 'o["isn"]["gaps"] > 0 and o["crc"]["bad"] > 0')" = True ]
}

# About one seed of 16 fits.
first=${WEFT_TEST_SEED:-1}
for ((seed = first; seed < first + 200; seed++)); do
	sim pair --mode rxl --fabric pair --seed $seed
	! pair_fits || break
done
[ $seed -lt $((first + 200)) ] || die "no seed of weft-sim from $first on will do"
echo "weft-sim: seed $seed"
sim_agrees pair pair
compare pair "$work/pair.pcap"
wireshark notes "$work/pair.pcap" gap replay crc_bad
sim star --mode rxl --fabric star:2,2 --seed 7
sim_agrees star
sim cxl-pair --mode cxl --fabric pair --seed 1
sim_agrees cxl-pair
# Nothing goes wrong: every message is seen, and the model finds that both ends keep the rules.
for mode in rxl cxl; do
	sim calm-$mode --mode $mode --fabric pair --calm --seed 6
	sim_agrees calm-$mode pair
done
# Hosts' links of HBR form, the GFDs' of PBR form: each frame says its own.
sim forms --mode cxl --fabric star:2,2 --calm --seed 6
sim_agrees forms
/usr/bin/python3 "$here/../model/check_wire.py" "$work/calm-rxl.pcap" >"$work/model.log" ||
	die "$(cat "$work/model.log")"

# The model's cases, half of them unless all tests run; usertools/test.sh has made its traces already.
if [ -d "${WEFT_TEST_TRACES:-}" ]; then
	cp -r "$WEFT_TEST_TRACES" "$work/traces"
else
	/usr/bin/python3 "$here/../model/make_traces.py" --out "$work/traces" --flits 500 \
		--seed "${WEFT_TEST_SEED:-1}" >"$work/model.log" || die "$(tail -n 3 "$work/model.log")"
fi
half=${WEFT_TEST_SEED:-$RANDOM}
[ -z "${WEFT_TEST_ALL:-}" ] || half=""
echo "traces of the model: ${half:+a half by seed }${half:-all}"
# shellcheck disable=SC2086
wireshark model "$work/traces" $half
wireshark notes "$work/traces/all_zero.pcap" all_zero nak_standard nak_selective poison
wireshark notes "$work/traces/bad_slots.pcap" slot_format
wireshark notes "$work/traces/garbage.pcap" refused header_check

wireshark notes "$work/faults.pcap" gap replay late fec_corrected
wireshark notes "$work/noise.pcap" crc_bad fec_uncorrectable

wireshark malformed "${WEFT_TEST_SEED:-$RANDOM}"
[ $wire -eq 1 ] ||
	skip "skipped in part: a bad wire needs net_flitwire, which was not built (doc/flitwire.md)"
echo "the dissector counts what the programs and the model count, and takes any packet"
