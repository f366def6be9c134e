#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# IDE in live fabrics: with faults on every hop every request completes once in both modes of IDE and
# of the fabric, keys change in flight, a capture holds none of the plaintext that one without IDE
# holds, and keys are new in every session. Ends that do not fit say why, and what they would not take
# is never delivered. The pre-shared key is in no output, file, argument or dump.
. "$(dirname "$0")/lib.sh"
export XDG_RUNTIME_DIR=$work
ulimit -c 0

new_key() {
	(umask 077 && od -An -N32 -tx1 /dev/urandom | tr -d ' \n' >"$work/$1")
}
new_key psk
new_key other

# fabric MODE IDE REQUESTS TIMEOUT_MS [WIRE]: two hosts, two switches, two GFDs.
fabric() {
	local wire=${5:+, driver: memif, wire: {seed: SEED, $5\}}
	cat <<-Y
	fabric: ide
	mode: $1
	defaults: {mtu: 4000}
	ide: $2
	$(six_nodes "$3" 64 "$4")
	links:
	  - {a: h0, b: s0${wire/SEED/1}}
	  - {a: h1, b: s1${wire/SEED/2}}
	  - {a: s0, b: s1${wire/SEED/3}}
	  - {a: s0, b: g0${wire/SEED/4}}
	  - {a: s1, b: g1${wire/SEED/5}}
	Y
}

run() { # run NAME [options]
	timeout -k 2 100 "$app/weftd" --topology "$work/$1.yaml" --until-done \
		--json "$work/$1.json" "${@:2}" >>"$work/all.log" 2>&1
}

# secure NAME: all went well, and under encryption.
secure() {
	local f=$work/$1.json
	run "$@" || die "$1 did not finish: $? $(tail -n 3 "$work/all.log")"
	same "$1: all well" True "$(good "$f")"
	same "$1: IDE at the end" "{'closed'}" \
		"$(json "$f" '{c["ide"] for n in o["nodes"] for c in n.get("connections", [])}')"
	same "$1: failures" 0 "$(sum "$f" end ide_failures)"
	same "$1: flits dropped" 0 "$(sum "$f" end ide_dropped)"
	[ "$(sum "$f" end ide_sealed)" -gt 1000 ] || die "$1: hardly a flit was encrypted"
	[ "$(sum "$f" end ide_epochs)" -gt 30 ] || die "$1: hardly an epoch was good"
}

# --- both modes of both, keys that change ---

# of a fabric and of IDE
modes=$(few "rxl-skid cxl-containment" "rxl-containment rxl-skid cxl-containment cxl-skid")
for both in $modes; do
	fabric ${both%-*} "{mode: ${both#*-}, key_file: $work/psk}" 10000 20000 >"$work/$both.yaml"
	secure $both
	same "$both: flits before their session, on a clean wire" 0 "$(json "$work/$both.json" \
		'sum(n["drops"].get("session", 0) for n in o["nodes"])')"
	same "$both: keys changed" 0 "$(sum "$work/$both.json" end ide_rekeys)"
done
fabric rxl "{mode: skid, key_file: $work/psk, pcrc: off, poison: on, stop: on, rekey_flits: 100}" \
	10000 20000 >"$work/rekey.yaml"
secure rekey
[ "$(sum "$work/rekey.json" end ide_rekeys)" -gt 50 ] || die "keys did not change by number"
fabric cxl "{mode: containment, key_file: $work/psk, rekey_ms: 5}" 20000 20000 >"$work/rekey.yaml"
secure rekey
[ "$(sum "$work/rekey.json" end ide_rekeys)" -gt 5 ] || die "keys did not change by time"

# With scalar code there is none for runs; which kernel there is else, the CPU says.
by="AES-GCM by [a-z0-9-]*, runs of flits in one pass by [a-z0-9]*"
grep -qx "ide: containment, PCRC on, $by" "$work/all.log" || die "nobody said which kernels run IDE"
WEFT_CPU=scalar run rekey || die "IDE by scalar code: $(tail -n 3 "$work/all.log")"
grep -qx "ide: containment, PCRC on, AES-GCM by sse, runs of flits in one pass by none" \
	"$work/all.log" || die "scalar code did not say so: $(grep ^ide: "$work/all.log" | tail -n 1)"

# --- faults on every hop ---

wires=1
fabric rxl "{mode: off}" 1 1000 "drop: 0" >"$work/try.yaml"
run try || {
	grep -q 'flitwire' "$work/all.log" || die "a wire was refused: $(tail -n 3 "$work/all.log")"
	wires=0
}
if [ $wires -eq 1 ]; then
	bits="ber: 1e-4, uncorrectable: 1e-2"
	for both in $(few "rxl-containment cxl-skid" "$modes"); do
		faults=$bits
		[ ${both%-*} = cxl ] || faults="$bits, drop: 2e-2, dup: 2e-2, reorder: 2e-2"
		fabric ${both%-*} "{mode: ${both#*-}, key_file: $work/psk, rekey_flits: 500}" \
			3000 20000 "$faults" >"$work/bad.yaml"
		secure bad
		[ "$(sum "$work/bad.json" retry resent)" -gt 10 ] || die "hardly anything was sent again"
		[ "$(sum "$work/bad.json" end ide_rekeys)" -gt 0 ] || die "no key changed under faults"
	done
fi

# --- what is on the wire ---

# lines FILE: test lines in plaintext: address, version, writer.
lines() {
	/usr/bin/python3 - "$1" <<-'P'
	import re, sys
	HEADER = 20 # from the EtherType on
	data = open(sys.argv[1], "rb").read()
	line = re.compile(rb"...\x00\x00\x01\x00\x00[^\0]...\0.....\0{6}", re.S)
	print(len(line.findall(data)))
	P
}
fabric rxl "{mode: off}" 2000 20000 >"$work/clear.yaml"
run clear --capture s0.0="$work/clear.pcapng" || die "without IDE the fabric did not finish"
[ "$(lines "$work/clear.pcapng")" -gt 500 ] || die "the pattern of test lines is not found in the clear"
for both in $(few "rxl-skid" "$modes"); do
	fabric ${both%-*} "{mode: ${both#*-}, key_file: $work/psk}" 2000 20000 >"$work/sealed.yaml"
	secure sealed --capture s0.0="$work/sealed.pcapng"
	same "$both: test lines in the capture" 0 "$(lines "$work/sealed.pcapng")"
	# What is sent again is the same, and everything else that the rules of retry ask for.
	/usr/bin/python3 "$here/../model/check_wire.py" "$work/sealed.pcapng" >"$work/model.log" ||
		die "the model disagrees: $(tail -n 20 "$work/model.log")"
done

# --- ends that do not fit ---

fabric rxl "{mode: containment, key_file: $work/psk}" 0 3000 >"$work/live.yaml"
stop_all() {
	for pid in "${pids[@]}"; do
		kill -TERM "$pid" 2>/dev/null || true
	done
	for pid in "${pids[@]}"; do
		wait "$pid" || true
	done
	pids=()
	cat "$work"/??.log >>"$work/all.log"
	rm -f "$work"/??.log
}
# misfit SED TEXT: with g0's file changed so, the host says why and nothing arrives.
misfit() {
	sed "$1" "$work/live.yaml" >"$work/misfit.yaml"
	for node in s0 s1 g1; do
		start $node
	done
	topology=$work/misfit.yaml start g0 --json "$work/g0.json"
	if timeout -k 2 30 "$app/weftd" --topology "$work/live.yaml" --node h0 --until-done --quiet \
		--json "$work/h0.json" >"$work/h0.out" 2>"$work/h0.err"; then
		die "a GFD with $1 was taken"
	fi
	same "lines for $1" 1 "$(wc -l <"$work/h0.err")"
	grep -qF -- "$2" "$work/h0.err" || die "with $1 the host did not say \"$2\" but: $(cat "$work/h0.err")"
	cat "$work/h0.err" "$work/h0.out" >>"$work/all.log"
	stop_all
	same "messages of a GFD with $1" "{}" "$(json "$work/g0.json" 'o["nodes"][0]["messages"]')"
	same "reads and writes with $1" 0 "$(json "$work/g0.json" \
		'sum(o["nodes"][0]["memory"][k] for k in ("reads", "writes"))')"
}
misfit "s,$work/psk,$work/other," "g0 has another pre-shared key than ide.key_file here"
misfit "s/containment/skid/" "g0 refuses: IDE mode is skid there, containment here"
if [ -z "${WEFT_TEST_AGAIN:-}" ]; then
	misfit "s/mode: containment/mode: containment, pcrc: off/" "IDE PCRC is off there, on here"
	misfit "s/mode: containment/mode: containment, poison: on/" "IDE protection of poison is on there, off here"
	misfit "s/mode: containment/mode: containment, stop: on/" "IDE.Stop is on there, off here"
fi
misfit "s/^ide: .*/ide: {mode: off}/" "IDE mode is off there, containment here"

refused() { # refused KEY-FILE TEXT
	fabric rxl "{mode: skid, key_file: $1}" 1 1000 >"$work/t.yaml"
	refuses "$2" "$app/weftd" --topology "$work/t.yaml" --until-done
	cat "$work/out" "$work/err" >>"$work/all.log"
}
refused "$work/nonesuch" "key file $work/nonesuch: No such file"
cp "$work/psk" "$work/open"
chmod 644 "$work/open"
refused "$work/open" "expected mode 0600 and yourself as owner, got mode 0644"
ln -s "$work/psk" "$work/linked"
refused "$work/linked" "expected a plain file, got a symbolic link"
(umask 077 && head -c 60 "$work/psk" >"$work/short")
refused "$work/short" "expected 64 hex digits"
refused "$work" "expected a plain file"

# --- crashes: keys are new in every session ---

# shares FILE...: HELLOs' and WELCOMEs' random shares: how many, and how many came from more than one
# session of their sender.
shares() {
	/usr/bin/python3 - "$@" <<-'P'
	import re, sys
	HEADER = 20 # from the EtherType on
	seen = {}
	for name in sys.argv[1:]:
	    data = open(name, "rb").read()
	    # Link control of rxl: header (SPID, DPID, session), then records up to the check, 16
	    for m in re.finditer(rb"\x88\xb5\x11\x01\0\0(....)(....)", data, re.S):
	        at = m.start() + HEADER
	        while at + 2 <= len(data) and data[at] not in (0, 16):
	            kind, n = data[at], data[at + 1]
	            if (kind, n) == (18, 32):
	                seen.setdefault(data[at + 2 : at + 2 + n], set()).add((m[1], m[2]))
	            at += 2 + n
	print(len(seen), sum(len(who) > 1 for who in seen.values()))
	P
}
has_sessions() { # has_sessions N: h0 has begun so many with g0
	[ "$(/usr/bin/python3 "$here/telemetry.py" "$pid_h0" /weft/retry,h0,g0 |
		json /dev/stdin 'o["/weft/retry"]["session_begun"]')" -ge "$1" ]
}
for node in s1 g0 g1; do
	start $node
done
start s0 --capture s0.0="$work/live.pcapng"
start h0 --until-done --quiet --json "$work/h0.json"
start h1 --quiet
wait_for 60 has_sessions 1
# Where the kernel shows it: memory that is locked and not dumped, and no core by limit.
grep -q '^Max core file size *0 *0 ' "/proc/$pid_g0/limits" || die "a core file may be written"
locked=' lo '
grep -q __asan_init "$app/weftd" && locked='' # AddressSanitizer makes mlock do nothing
grep '^VmFlags:' "/proc/$pid_g0/smaps" | grep "$locked" | grep -q ' dd' ||
	die "no memory is locked and kept from dumps"
# Encrypted or not, an address is compared with the frame's DPID, and flits are opened before that.
stage() { # stage STAGE COUNTER: of the GFD's
	/usr/bin/python3 "$here/telemetry.py" "$pid_g0" /weft/stages,g0 |
		json /dev/stdin "o[\"/weft/stages\"][\"$1\"][\"$2\"]"
}
has_decoded() { [ "$(stage route decoded)" -gt 100 ]; }
wait_for 60 has_decoded
[ "$(stage ide_open flits_released)" -gt 100 ] || die "no flit was opened by its stage"
for round in 1 2 3 4; do
	kill -KILL "$pid_g0"
	wait "$pid_g0" 2>/dev/null || true
	start g0
	wait_for 60 has_sessions $((1 + round))
	sleep 0.2
done
tr '\0' '\n' <"/proc/$pid_h0/cmdline" >>"$work/all.log"
for query in /weft/node,h0 /weft/retry,h0 /weft/nodes; do
	/usr/bin/python3 "$here/telemetry.py" "$pid_h0" $query >>"$work/all.log"
done
kill -TERM "$pid_h0"
wait "$pid_h0" || true
stop_all
read -r shares repeated <<<"$(shares "$work/live.pcapng")"
[ "$shares" -ge 12 ] || die "too few shares in the capture: $shares"
same "shares of more than one session" 0 "$repeated"
[ "$(sum "$work/h0.json" session begun)" -ge 5 ] || die "the host has not met all restarts"
same "failures after restarts" 0 "$(sum "$work/h0.json" end ide_failures)"

# --- the key is nowhere ---

psk=$(cat "$work/psk")
for file in "$work"/*.log "$work"/*.json "$work"/*.pcapng "$work/out" "$work/err"; do
	/usr/bin/python3 - "$file" "$psk" <<-'P' || die "the pre-shared key is in $file"
	import sys
	data = open(sys.argv[1], "rb").read().lower()
	key = sys.argv[2].lower()
	sys.exit(key.encode() in data or bytes.fromhex(key) in data or key[:16].encode() in data)
	P
done

[ $wires -eq 1 ] || skip "skipped in part: bad wires need net_flitwire, which was not built (doc/flitwire.md)"
echo "encrypted fabrics lose nothing, and what does not fit delivers nothing"
