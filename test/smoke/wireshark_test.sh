#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# usertools/weft.lua in tshark: the specification's vectors, counts equal to those of weft-replay and
# of the Python model, a capture of weftd, and packets that nobody sent on purpose.
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
command -v tshark >/dev/null || skip "tshark is not installed"
tshark --version 2>/dev/null | tr '\n' ' ' | grep -q 'with Lua' || skip "tshark is built without Lua"
/usr/bin/python3 -c 'import numpy' 2>/dev/null || skip "python3-numpy is not installed"

export WORK=$work TSHARK=tshark WEFT_LUA=$work/weft.lua XDG_RUNTIME_DIR=$work
cp "$here/../../usertools/weft.lua" "$WEFT_LUA"
gen() { "$app/weft-gen" --flits 600 --out "$work/$1.pcap" --json "$work/$1.gen" "${@:2}"; }
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
gen faults --flits 2000 --errors burst=3:0.05,drop=0.02,dup=0.02,reorder=0.02,garbage=0.1 --seed 7
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

# Both ways through a switch, from the first HELLO to the GOODBYE
cat >"$work/f.yaml" <<-Y
	fabric: shark
	mode: rxl
	nodes:
	  - {name: h0, kind: host, pid: 0x101, traffic: {requests: 2000, outstanding: 64, write_percent: 50, lines: 1024, seed: 1, timeout_ms: 3000}}
	  - {name: s0, kind: switch, pid: 0x010}
	  - {name: g0, kind: gfd, pid: 0x200, memory: 16M}
	links:
	  - {a: h0, b: s0, driver: ring}
	  - {a: s0, b: g0, driver: ring}
Y
"$app/weftd" --topology "$work/f.yaml" --until-done --quiet --capture "s0.0=$work/cap.pcapng" \
	--json "$work/d.json"
compare weftd "$work/cap.pcapng"
same "requests in the capture" "$(json "$work/d.json" '[n["traffic"]["reads"] + n["traffic"]["writes"]
for n in o["nodes"] if n["name"] == "h0"][0]')" \
	"$(shark "$work/cap.pcapng" -T fields -e weft.msg.kind | tr , '\n' | grep -cE '^m2s_(req|rwd)$')"
same "link control in the capture" "1 2" "$(shark "$work/cap.pcapng" -Y 'weft.control.type in {1, 2}' \
	-T fields -e weft.control.type | sort -u | paste -sd ' ')"
same "frames refused" "" "$(shark "$work/cap.pcapng" -Y weft.drop)"

# Every case of the model
/usr/bin/python3 "$here/../model/make_traces.py" --out "$work/traces" --flits 500 \
	--seed "${WEFT_TEST_SEED:-1}" >"$work/model.log" || die "$(tail -n 3 "$work/model.log")"
wireshark model "$work/traces"

# notes CAPTURE NOTE...: each expert note is raised somewhere in the capture.
notes() {
	local capture=$1 note
	shift
	for note; do
		[ -n "$(shark "$capture" -Y "weft.expert.$note")" ] || die "$capture: no note of $note"
	done
}
notes "$work/faults.pcap" gap replay late fec_corrected
notes "$work/noise.pcap" crc_bad fec_uncorrectable
notes "$work/traces/all_zero.pcap" all_zero nak_standard nak_selective poison
notes "$work/traces/bad_slots.pcap" slot_format
notes "$work/traces/garbage.pcap" refused header_check

wireshark malformed "${WEFT_TEST_SEED:-$RANDOM}"
echo "the dissector counts what weft-replay and the model count, and takes any packet"
