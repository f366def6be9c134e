#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# weft-gen and weft-replay together: every option, faults counted to the unit, wrong input refused.
. "$(dirname "$0")/lib.sh"

gen() { "$app/weft-gen" --out "$work/t.pcap" --json "$work/g.json" "$@"; }
replay() { "$app/weft-replay" --in "$work/t.pcap" --json "$work/r.json" "$@" >"$work/text"; }
g() { json "$work/g.json" "$1"; }
r() { json "$work/r.json" "$1"; }

# Nothing wrong with the trace, and the messages that went in came out.
is_clean() {
	/usr/bin/python3 - "$1" "$work/g.json" "$work/r.json" <<-'P' || die "$1 is not clean"
		import json, sys
		g, r = (json.load(open(name)) for name in sys.argv[2:])
		wrong = [what for what, is_right in (
		    ("flits", r["crc"]["good"] == g["flits"]),
		    ("bad", r["crc"]["bad"] == r["isn"]["gaps"] == r["isn"]["duplicates"] == r["fec"]["uncorrectable"] == 0),
		    ("skipped", r["skipped"] == {}),
		    ("messages", r["messages"] == g["messages"])) if not is_right]
		if wrong:
		    sys.exit(f"{sys.argv[1]}: {wrong}: made {g}, replayed {r}")
	P
}

# Less in builds after the first: each run is a start of DPDK.
sizes=$(few "5 64" "1 5 35 64") lengths=$(few "3 9001" "1 3 4 38 9001")
modes=$(few "cxl-skid rxl-containment" "cxl-containment cxl-skid rxl-containment rxl-skid") # and of IDE
for mode in cxl rxl; do
	for n in $sizes; do
		gen --flits 3001 --mode $mode --frame-flits $n
		replay --mode $mode
		is_clean "$mode, $n flits a frame"
	done
	gen --flits 2000 --mode $mode --raw --spid 0x123 --dpid 0x456
	replay --mode $mode --spid 0x123 --dpid 0x456
	is_clean "$mode, raw"
	[ $mode = cxl ] || [ -z "${WEFT_TEST_AGAIN:-}" ] || continue
	gen --flits 40 --mode $mode --raw
	replay --mode $mode
	is_clean "$mode, raw, as it is without addresses"
	gen --flits 2000 --mode $mode --crc-order r7 --first-seq 900
	replay --crc-order r7 --first-seq 900
	is_clean "$mode, r7, first 900"
done
for isn in $(few none "pseudo xor none"); do
	gen --flits 2000 --isn $isn --vc 3 --session 77
	replay --isn $isn
	is_clean "isn $isn"
done
same "wrong form" 0 "$(replay --isn pseudo; r 'o["crc"]["good"]')"

# IDE
key=$(printf '%064x' 12345)
printf '# a key\nrxl 101 200 0 1 %s\ncxl 02:00:00:00:00:01 %s\n' "$key" "$key" >"$work/keys"
chmod 600 "$work/keys"
for both in $modes; do
	for pcrc in $(few off "on off"); do
		gen --flits 3002 --mode ${both%-*} --ide ${both#*-} --key-file "$work/keys" --pcrc $pcrc
		replay --ide ${both#*-} --key-file "$work/keys" --pcrc $pcrc
		is_clean "$both, pcrc $pcrc"
		same "epochs bad" 0 "$(r 'o["ide"]["epochs_bad"]')"
	done
	replay 2>"$work/err"
	grep -qE 't.pcap: [1-9][0-9]* MACs of IDE in flits that are not decrypted: .* give --ide' "$work/err" ||
		die "$both: ciphertext is taken for messages: $(cat "$work/err")"
done
# Late poison, epochs cut short, key changes; odd numbers of flits too.
many() { for i in 1 2 3 4 5 6; do printf '%s %064x\n' "$1" $((i * 77)); done; }
{ many 'rxl 101 200 0 1'; many 'cxl 02:00:00:00:00:01'; } >"$work/many"
for both in $modes; do
	ide=${both#*-}
	for poison in protected open; do
		for n in $lengths; do
			set -- --ide $ide --key-file "$work/many" --poison $poison
			gen --flits $n --mode ${both%-*} "$@" --late-poison 0.1 --truncate 0.05 --refresh 1000 --seed $n 2>"$work/err"
			replay "$@" 2>"$work/err"
			is_clean "$both, poison $poison, $n flits"
			same "$both, poison $poison, $n flits: IDE" "$(g '[o["ide"][k] for k in ("epochs", "flits", "poison")] + [0]')" \
				"$(r '[o["ide"][k] for k in ("epochs_good", "flits_released", "poison", "epochs_bad")]')"
		done
		same "all keys used" 5 "$(g 'o["ide"]["key_changes"]')"
		if [ $poison = protected ]; then
			replay --ide $ide --key-file "$work/many" --poison open 2>"$work/err"
			same "$both: ends that differ on poison" 1 "$(r 'o["ide"]["epochs_bad"]')"
		fi
	done
done
gen --flits 20000 --ide skid --key-file "$work/many" --late-poison 1 2>"$work/err"
replay --ide skid --key-file "$work/many" 2>"$work/err"
is_clean "all the poison there may be"
# All flits of a trace are payload, control flits too: only in front of the first there was none.
same "Prior Flit Type" "0 19999" "$(/usr/bin/python3 - "$work/t.pcap" <<-'P'
	import struct, sys
	raw, at, bits = open(sys.argv[1], "rb").read(), 24, []
	while at < len(raw):
	    n = struct.unpack_from("<I", raw, at + 8)[0]
	    bits += [b >> 5 & 1 for b in raw[at + 16 + 32:at + 16 + n:256]]
	    at += 16 + n
	print(bits[0], sum(bits[1:]))
	P
)"
gen --flits 5000 --ide skid --key-file "$work/many" --refresh 1000 2>"$work/err"
grep -v "$(printf '%064x' 231)" "$work/many" >"$work/gap"
replay --ide skid --key-file "$work/gap" 2>"$work/err"
same "a key left out of the file" 1 "$(r 'o["ide"]["epochs_bad"]')"
replay --ide containment --key-file "$work/many" 2>"$work/err"
same "the other mode" "0 1" "$(r 'str(o["ide"]["epochs_good"]) + " " + str(o["ide"]["epochs_bad"])')"
gen --flits 3002 --mode rxl --ide skid --key-file "$work/keys" --pcrc off
replay --ide skid --key-file "$work/keys" --pcrc on
same "PCRC that differs: epochs" "0 1" "$(r 'str(o["ide"]["epochs_good"]) + " " + str(o["ide"]["epochs_bad"])')"
gen --flits 1000 --ide containment --key-file "$work/keys"
replay
same "still encrypted: all flits intact" 1000 "$(r 'o["crc"]["good"]')"
replay --ide containment --key-file "$work/keys" --out "$work/plain.pcap"
mv "$work/plain.pcap" "$work/t.pcap"
replay
is_clean "what --out wrote, decrypted"
printf 'rxl 1 2 0 0 %s\n' "$key" >"$work/other"
chmod 600 "$work/other"
gen --flits 100 --ide skid --key-file "$work/keys"
replay --ide skid --key-file "$work/other"
same "no key" 100 "$(r 'o["skipped"]["no_key"]')"

# Faults
gen --flits 20000 --errors burst=3:0.05 --seed 7
replay
same "bursts corrected" "$(g 'o["faults"]["bursts"]')" "$(r 'o["fec"]["corrected"]')"
same "bytes corrected" "$(g '3 * o["faults"]["bursts"]')" "$(r 'o["fec"]["corrected_bytes"]')"
same "messages all the same" "$(g 'sorted(o["messages"].items())')" "$(r 'sorted(o["messages"].items())')"
replay --out "$work/fixed.pcap"
mv "$work/fixed.pcap" "$work/t.pcap"
replay
same "corrected flits in what --out wrote" 0 "$(r 'o["fec"]["corrected"]')"
gen --flits 20000 --errors drop=0.01 --seed 7
replay
# A drop behind the last flit cannot be seen: this seed has none.
same "drops" "$(g 'o["faults"]["dropped"]')" "$(r 'o["isn"]["lost_flits"]')"
gen --flits 20000 --errors dup=0.01 --seed 7
replay
same "duplicates" "$(g 'o["faults"]["duplicated"]')" "$(r 'o["isn"]["duplicates"]')"
gen --flits 20000 --errors garbage=0.1 --seed 7
replay
same "garbage" "$(g 'o["faults"]["garbage"]')" "$(r 'sum(o["skipped"].values())')"
gen --flits 20000 --errors burst=8:0.02,ber=1e-5,reorder=0.01 --seed 7
replay
same "no flit unjudged" 20000 "$(r 'o["crc"]["good"] + o["crc"]["bad"]')"
same "same seed, same file" "$(sha256sum <"$work/t.pcap")" \
	"$(gen --flits 20000 --errors burst=8:0.02,ber=1e-5,reorder=0.01 --seed 7; sha256sum <"$work/t.pcap")"

# Layouts, loops, time
gen --flits 5000 --errors drop=0.01,dup=0.01 --seed 3
replay
before=$(r '[o[k] for k in ("flits", "fec", "crc", "isn", "messages", "skipped")]')
for layout in 'deframe|fec_check|link_rx|ide_open|route|deliver' 'deframe,fec_check|link_rx,ide_open,route,deliver'; do
	replay --layout "$layout"
	same "$layout" "$before" "$(r '[o[k] for k in ("flits", "fec", "crc", "isn", "messages", "skipped")]')"
done
printf '# in a file\ndeframe, fec_check |\n link_rx, ide_open, route, deliver # end\n' >"$work/layout"
replay --layout "@$work/layout"
same "layout from a file" "$before" "$(r '[o[k] for k in ("flits", "fec", "crc", "isn", "messages", "skipped")]')"
lost=$(r 'o["isn"]["lost_flits"]')
replay --loop 3
same "three loops" $((3 * lost)) "$(r 'o["isn"]["lost_flits"]')"
gen --flits 500 --rate 0.001
replay --speed 1
same "half a second as recorded" True "$(r '0.45 < o["seconds"] < 5')"
replay --speed 10
same "ten times as fast" True "$(r '0.045 < o["seconds"] < 0.45')"

# Odd files
gen --flits 1000
"$app/weft-replay" --in - --json - <"$work/t.pcap" >"$work/r.json"
same "standard input" 1000 "$(r 'o["flits"]')"
head -c 100000 "$work/t.pcap" >"$work/cut"
cp "$work/t.pcap" "$work/whole.pcap"
mv "$work/cut" "$work/t.pcap"
replay 2>"$work/err"
same "truncated" "1 0" "$(r 'str(o["truncated"]) + " " + str(o["broken"])')"
grep -q 't.pcap: ends inside the record at byte 99624, of which it has 376 of 1328 bytes; replayed up to there' "$work/err" || die "truncated without a word: $(cat "$work/err")"
# What is no record ends a replay too, but not well; what stood before is reported.
{ cat "$work/whole.pcap"; head -c 100 /dev/zero | tr '\0' '\377'; } >"$work/t.pcap"
replay 2>"$work/err" && die "garbage behind a trace is good"
same "broken" "0 1 1000" "$(r 'str(o["truncated"]) + " " + str(o["broken"]) + " " + str(o["flits"])')"
same "broken: the line" "weft-replay: $work/t.pcap: byte 265632: length of a packet: expected at most 16777200, got 4294967295; replayed up to there" "$(cat "$work/err")"
grep -q '^broken ' <("$app/weft-replay" --in "$work/t.pcap" 2>/dev/null) || die "the text report does not say that the file is broken"
# pcapng as a capture of many interfaces has it: each with a snaplen and a link type of its own.
# Every other frame goes over another interface, so two senders are seen, both with holes.
/usr/bin/python3 - "$work/whole.pcap" "$work/t.pcap" <<-'P'
	import struct, sys
	raw = open(sys.argv[1], "rb").read()
	def block(end, kind, body):
	    body += bytes(-len(body) % 4)
	    n = struct.pack(end + "I", len(body) + 12)
	    return struct.pack(end + "I", kind) + n + body + n
	def begin(end):
	    return block(end, 0x0A0D0D0A, struct.pack(end + "IHHq", 0x1A2B3C4D, 1, 0, -1)) + b"".join(
	        block(end, 1, struct.pack(end + "HHI", link, 0, snaplen)) for link, snaplen in ((1, 65535), (147, 0), (228, 96)))
	def packet(end, number, data):
	    return block(end, 6, struct.pack(end + "IIIII", number, 0, 0, len(data), len(data)) + data)
	out, at, i = begin("<"), 24, 0
	while at < len(raw):
	    n = struct.unpack_from("<I", raw, at + 8)[0]
	    frame = raw[at + 16:at + 16 + n]
	    if i == 100:
	        out += begin(">") + packet(">", 2, bytes(40)) + packet(">", 0, bytes(5 << 20))
	    out += packet("<>"[i >= 100], *((1, frame[32:]) if i % 2 else (0, frame)))
	    at, i = at + 16 + n, i + 1
	open(sys.argv[2], "wb").write(out)
	P
replay --spid 0x101 --dpid 0x200
same "many interfaces" "202 1000 {'link_type': 1, 'ethertype': 1}" "$(r 'str(o["packets"]) + " " + str(o["flits"]) + " " + str({k: v for k, v in o["skipped"].items() if k != "slot_format"})')"
same "many interfaces: status" "0 0" "$(r 'str(o["truncated"]) + " " + str(o["broken"])')"
# --out of such a file is Ethernet; frames are made of raw flits.
replay --spid 0x101 --dpid 0x200 --out "$work/out.pcap"
"$app/weft-replay" --in "$work/out.pcap" --json "$work/r.json" >/dev/null
same "many interfaces: --out" "1000 0" "$(r 'str(o["flits"]) + " " + str(o["crc"]["bad"])')"
# So is that of a file that describes raw flits first, and Ethernet behind its first packets; of raw flits alone it is raw.
"$app/weft-gen" --flits 10 --raw --spid 0x123 --dpid 0x200 --out "$work/raw.pcap"
for kind in raw mixed; do
	/usr/bin/python3 - "$work/raw.pcap" "$work/whole.pcap" "$work/t.pcap" $kind <<-'P'
		import struct, sys
		def block(kind, body):
		    n = struct.pack("<I", len(body) + 12)
		    return struct.pack("<I", kind) + n + body + n
		def interface(link, number, file):
		    raw, at, out = open(file, "rb").read(), 24, block(1, struct.pack("<HHI", link, 0, 0))
		    while at < len(raw):
		        n = struct.unpack_from("<I", raw, at + 8)[0]
		        out += block(6, struct.pack("<IIIII", number, 0, 0, n, n) + raw[at + 16:at + 16 + n] + bytes(-n % 4))
		        at += 16 + n
		    return out
		out = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)) + interface(147, 0, sys.argv[1])
		open(sys.argv[3], "wb").write(out + (interface(1, 1, sys.argv[2]) if sys.argv[4] == "mixed" else b""))
		P
	replay --spid 0x123 --dpid 0x200 --out "$work/out.pcap"
	"$app/weft-replay" --in "$work/out.pcap" --json "$work/r.json" >/dev/null
	same "--out of $kind" "$([ $kind = raw ] && echo "147 10 1" || echo "1 1010 2")" \
		"$(od -An -tu4 -j20 -N4 "$work/out.pcap" | tr -d ' ') $(r 'str(o["flits"]) + " " + str(o["connections"])')"
done
if command -v editcap >/dev/null; then
	gen --flits 1000
	editcap -F pcapng "$work/t.pcap" "$work/ng" && mv "$work/ng" "$work/t.pcap"
	replay
	is_clean pcapng
fi

# A trace of the other mode alone is no empty one.
gen --flits 100
replay --mode cxl 2>"$work/err" && die "--mode cxl on a trace of rxl is good"
same "the other mode: the line" "weft-replay: --mode cxl: $work/t.pcap has 20 frames of rxl and none of cxl: use --mode rxl" "$(cat "$work/err")"
same "the other mode" "0 {'mode': 20}" "$(r 'str(o["flits"]) + " " + str(o["skipped"])')"

# Registers begin with 0: Poison is open, IDE.Stop ignored, unless one says otherwise.
"$app/weft-replay" --help | grep -q 'Poison in H-slots (open)' || die "--help of --poison"
for said in "" "--poison open"; do
	# shellcheck disable=SC2086
	gen --flits 5000 --ide skid --key-file "$work/many" --late-poison 0.1 $said 2>"$work/err"
	replay --ide skid --key-file "$work/many" 2>"$work/err"
	same "poison: open by default" "0 True" "$(r 'str(o["ide"]["epochs_bad"]) + " " + str(o["ide"]["poison"] > 100)')"
	replay --ide skid --key-file "$work/many" --poison protected 2>"$work/err"
	same "poison: protected when said" 1 "$(r 'o["ide"]["epochs_bad"]')"
done

# Refused
misused '--in FILE is missing' "$app/weft-replay"
refuses 'No such file' "$app/weft-replay" --in "$work/nonesuch"
refuses 'keys: byte 0: first four bytes: expected those of a pcap or pcapng file, got 23206120' "$app/weft-replay" --in "$work/keys"
: >"$work/empty"
refuses 'empty: expected a pcap or pcapng file, got no bytes' "$app/weft-replay" --in "$work/empty"
refuses 'Is a directory' "$app/weft-replay" --in "$work"
head -c 20 "$work/t.pcap" >"$work/head"
refuses 'head: ends inside the record at byte 0' "$app/weft-replay" --in "$work/head"
{ head -c 20 "$work/whole.pcap"; printf '\145\0\0\0'; } >"$work/link"
refuses 'expected link type 1 (Ethernet) or 147 (raw flits), got 101' "$app/weft-replay" --in "$work/link"
refuses 'loop: expected a regular file, got -, which cannot be read twice' \
	sh -c "cat $work/t.pcap | $app/weft-replay --in - --loop 2 --out $work/twice.pcap"
[ ! -e "$work/twice.pcap" ] || die "a loop that was refused has written --out"
misused '--speed: expected max or a factor' "$app/weft-replay" --in "$work/t.pcap" --speed fast
misused '--mode: expected one of cxl, rxl' "$app/weft-replay" --in "$work/t.pcap" --mode pcie
misused '--ide needs --key-file' "$app/weft-replay" --in "$work/t.pcap" --ide skid
misused 'no stage is called "foo"' "$app/weft-replay" --in "$work/t.pcap" --layout deframe,foo
for layout in $(few route "link_rx crc_first crc_protect fec_encode fec_relay ide_open ide_seal route deliver"); do
	misused 'layout: expected deframe as the first stage' "$app/weft-replay" --in "$work/t.pcap" --layout "$layout"
done
misused 'there is no stage retry any more: use link_rx' "$app/weft-replay" --in "$work/t.pcap" --layout deframe,retry
misused '--first-seq: expected a number of 0 to 1023' "$app/weft-replay" --in "$work/t.pcap" --first-seq 1024
# Stopped by a signal: what is written is whole, and DPDK's folder is gone.
"$app/weft-gen" --flits 1000000000 --out "$work/long.pcap" 2>"$work/err" &
pids+=($!)
wait_for 20 test -s "$work/long.pcap"
kill -INT $!
if wait $!; then die "weft-gen was stopped and ended with 0"; fi
grep -q 'stopped by a signal' "$work/err" || die "weft-gen was stopped without a word: $(cat "$work/err")"
if find /run/dpdk "${XDG_RUNTIME_DIR:-/nonesuch}/dpdk" -maxdepth 1 -name "weft-gen-$!" 2>/dev/null | grep -q .; then
	die "weft-gen was stopped and left its folder"
fi
"$app/weft-replay" --in "$work/long.pcap" --json - >"$work/r.json"
same "a trace that was stopped: truncated" 0 "$(r 'o["truncated"]')"
rm "$work/long.pcap"

# What cannot be written is said before anything is waited for.
mkfifo "$work/later"
for option in --out --json; do
	refuses "$option /nonesuch/f: No such file" "$app/weft-replay" --in "$work/later" "$option" /nonesuch/f
	refuses "$option $work: Is a directory" "$app/weft-gen" --flits 1 --out "$work/x" --ide skid --key-file /nonesuch "$option" "$work"
done
# What is refused writes over nothing, least of all over the trace itself.
cp "$work/t.pcap" "$work/before.pcap"
ln -s t.pcap "$work/link.pcap"
for option in --out --json; do
	refuses "$option: expected another file than --in" "$app/weft-replay" --in "$work/t.pcap" "$option" "$work/t.pcap"
	refuses "weft-replay: $option" "$app/weft-replay" --in "$work/t.pcap" "$option" "$work/link.pcap" # root follows no link
done
refuses "--out: expected another file" "$app/weft-replay" --in - --out "$work/t.pcap" <"$work/t.pcap"
cmp "$work/t.pcap" "$work/before.pcap" || die "--out wrote over the trace that was read"
echo kept >"$work/kept"
# A report that cannot be written is found out before anything else is.
for program in "weft-gen --flits 1" "weft-replay --in $work/t.pcap"; do
	# shellcheck disable=SC2086
	refuses "--json $work: Is a directory" "$app/"$program --out "$work/kept" --json "$work"
	same "--out beside a report that cannot be written" kept "$(cat "$work/kept")"
done
# A trace on standard output has no report behind it.
"$app/weft-replay" --in "$work/t.pcap" --out "$work/file.pcap" >"$work/text"
"$app/weft-replay" --in "$work/t.pcap" --out - | cmp - "$work/file.pcap" || die "--out - is not the trace alone"
# Nor does an output write over a key, or over the other output.
ln -s kept "$work/link.kept"
for program in "weft-gen --flits 1" "weft-replay --in $work/t.pcap"; do
	for two in "--out - --json -" "--out $work/z --json $work/z" "--out $work/kept --json $work/link.kept" \
		"--key-file $work/kept --out $work/x --json $work/kept" "--key-file $work/kept --out $work/link.kept"; do
		# shellcheck disable=SC2086
		misused 'expected two files, got' "$app/"$program $two
	done
done
same "a key file that was named for output" kept "$(cat "$work/kept")"
misused 'no stage is called "foo"' "$app/weft-replay" --in "$work/t.pcap" --layout foo --out "$work/kept"
gen --flits 100 --ide skid --key-file "$work/keys"
chmod 644 "$work/keys"
replay --ide skid --key-file "$work/keys" 2>"$work/err"
grep -q 'others may read it' "$work/err" || die "a key file for all to read, and not a word"
"$app/weft-gen" --flits 10 --ide skid --key-file "$work/keys" --out "$work/x.pcap" >/dev/null 2>"$work/err"
grep -q 'others may read it' "$work/err" || die "weft-gen has a key file for all to read, and says nothing"
same "key file for all to read: epochs" 4 "$(r 'o["ide"]["epochs_good"]')"
chmod 600 "$work/keys"
echo "rxl 101 200 0 1 $key" >>"$work/keys"
refuses "keys:4: this stream had this key before" "$app/weft-replay" --in "$work/t.pcap" --ide skid --key-file "$work/keys"
sed -i '$d' "$work/keys"
echo "rxl 1 2 0 0 ${key}00" >>"$work/keys"
refuses "keys:4: expected a key of 64 hex digits" "$app/weft-replay" --in "$work/t.pcap" --ide skid --key-file "$work/keys"
if grep -q "$key" "$work/err"; then die "a key was printed"; fi
refuses '--refresh needs a second key' "$app/weft-gen" --flits 1 --out "$work/x" --ide skid --key-file "$work/other" --spid 1 --dpid 2 --session 0 --refresh 10
misused '--late-poison, --truncate and --refresh need --ide' "$app/weft-gen" --flits 1 --out "$work/x" --truncate 0.1
misused '--truncate: expected a probability of 0 to 1' "$app/weft-gen" --flits 1 --out "$work/x" --truncate 2
misused '--poison: expected one of open, protected' "$app/weft-replay" --in "$work/t.pcap" --poison maybe
misused '--vc: raw flits have no header to hold it' "$app/weft-gen" --flits 1 --out "$work/x" --raw --vc 3
misused '--session: raw flits have no header to hold it' "$app/weft-gen" --flits 1 --out "$work/x" --raw --session 7
gen --flits 40 --raw --vc 0 --session 0
replay
is_clean "raw, with what it has anyway"
misused '--flits N is missing' "$app/weft-gen" --out "$work/x"
misused '--errors: expected none, or a list' "$app/weft-gen" --flits 1 --out "$work/x" --errors drop=2
refuses 'no key for this stream' "$app/weft-gen" --flits 1 --out "$work/kept" --ide skid --key-file "$work/other"
same "a file behind two refusals" kept "$(cat "$work/kept")"

# No root, no hugepages
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
	gen --flits 100
	chmod 755 "$work"
	chmod 644 "$work/t.pcap"
	if setpriv --reuid=65534 --regid=65534 --clear-groups test -x "$app/weft-replay"; then
		env -u XDG_RUNTIME_DIR setpriv --reuid=65534 --regid=65534 --clear-groups \
			"$app/weft-replay" --in "$work/t.pcap" --json - >"$work/r.json"
		same "as an ordinary user" 100 "$(r 'o["flits"]')"
	fi
fi
# CXL.io packets are counted; a trace without any does not speak of them.
same "io without packets" False "$(r '"io" in o')"
here=$(cd "$(dirname "$0")" && pwd)
if /usr/bin/python3 -c 'import numpy' 2>/dev/null; then
	/usr/bin/python3 "$here/io_trace.py" "$work/t.pcap"
	replay --mode rxl
	same "io" "{'completions': 50, 'posted': 20, 'requests': 30}" "$(r 'dict(sorted(o["io"].items()))')"
	same "io: messages" "{}" "$(r 'o["messages"]')"
else
	echo "skipped: CXL.io packets in a trace: no numpy"
fi
echo "weft-gen and weft-replay do what they say"
