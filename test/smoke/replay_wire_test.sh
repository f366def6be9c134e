#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# weft-replay --to: a trace onto rings, a memif, virtual devices and, where interfaces can be made, veth; what comes
# back is compared, and every difference is counted and named.
. "$(dirname "$0")/lib.sh"

t=$work/t.pcap
make() { /usr/bin/python3 -S "$here/replay_wire.py" "$t" "$@"; }
r() { json "$work/r.json" "$1"; }
# sends STATUS OPTION...
sends() {
	local want=$1 status=0
	shift
	timeout 30 "$app/weft-replay" --in "${in:-$t}" --json "$work/r.json" "$@" >"$work/text" 2>"$work/err" || status=$?
	[ $status -eq "$want" ] || die "$*: status $status, not $want: $(cat "$work/err" "$work/text")"
	[ "$want" -ne 0 ] || [ ! -s "$work/err" ] || die "$* says: $(cat "$work/err")"
}
# compared PORT: equal, reordered, missing, unexpected, foreign
compared() {
	r "' '.join(str(o['ports'][$1]['compared'][k]) for k in ('equal', 'reordered', 'missing', 'unexpected', 'foreign'))"
}

"$app/weft-gen" --flits 1000 --frame-flits 2 --rate 0.01 --out "$t"

# At the trace's times: 500 frames, 200 us apart.
sends 0 --to ring --expect "$t"
same "all came, none at the other end" "500 0 0 0 0,0 0 0 0 0" "$(compared 1),$(compared 0)"
same "sent" "500 1000 272000 True 0" "$(r '" ".join(str(o["ports"][0]["sent"][k]) for k in ("frames", "flits", "bytes")) + " " +
str(o["equal"]) + " " + str(o["not_sent"])')"
same "time" True "$(r 'o["ports"][0]["sent"]["seconds"] > 0.0995 and o["ports"][0]["sent"]["late_max_us"] > 0')"
sends 0 --to ring --rate 5000 --loop 2
same "time at a rate" True "$(r '0.199 < o["ports"][0]["sent"]["seconds"] and o["ports"][0]["sent"]["frames"] == 1000')"
sends 0 --to ring --expect "$t" --rate max --loop 100
same "at line rate" "50000 0 0 0 0 None" "$(compared 1) $(r 'o["ports"][0]["sent"]["late_max_us"]')"
sends 0 --to ring --speed 4
same "four times as fast, nothing compared" "True 500 None None" "$(r 'str(o["ports"][0]["sent"]["seconds"] > 0.0245) + " " +
str(o["ports"][1]["received"]["frames"]) + " " + str(o["equal"]) + " " + str(o["ports"][1]["compared"])')"

# differs COUNTS FIRST CHANGE...: the file that is expected is another one.
differs() {
	local counts=$1 first=$2
	shift 2
	make "$work/x.pcap" "$@"
	sends 1 --to ring --rate max --wait 0.1 --expect "$work/x.pcap"
	same "$*: counts" "$counts" "$(compared 1)"
	same "$*: first" "$first" "$(r 'o["ports"][1]["compared"]["first"]')"
	grep -qF "differs   port back: $first" "$work/text" || die "the text does not say: $first"
}
differs "499 0 1 1 0" "frame 7: byte 40: expected $(
	/usr/bin/python3 -S -c 'import sys; b = open(sys.argv[1], "rb").read()[24 + 6 * 560 + 16 + 40]; print("%02x, got %02x" % (b ^ 255, b))' "$t")" \
	"byte 7 40"
differs "500 0 1 0 0" "expected frame 5, got frame 6" "twice 5" "byte 5 50"
# In a build after the first only what a sanitizer may see.
[ -n "${WEFT_TEST_AGAIN:-}" ] || differs "500 0 1 0 0" "expected frame 501, got nothing" "twice 500"
[ -n "${WEFT_TEST_AGAIN:-}" ] || differs "499 0 0 1 0" "expected no more frames, got one of 544 bytes" "end 499"
[ -n "${WEFT_TEST_AGAIN:-}" ] || differs "499 1 0 0 0" "expected frame 3, got frame 4" "swap 3"
differs "499 0 1 1 0" "frame 9: expected 288 bytes, got 544, byte 288 is the first that differs" "cut 9 288"
# A burst that is lost, and all behind it is found again; a frame that came twice.
make "$work/lost.pcap" "drop 100" "drop 100" "drop 100" "twice 300"
in=$work/lost.pcap sends 1 --to ring --rate max --wait 0.1 --expect "$t" --loop 3
same "lost and doubled, three times" "1491 0 9 3 0" "$(compared 1)"
same "first of loops" "expected frame 100 of loop 1, got frame 103 of loop 1" "$(r 'o["ports"][1]["compared"]["first"]')"
# What Ethernet fills up, and what is not ours.
make "$work/short.pcap" "cut 4 40" "type 8 0806"
make "$work/long.pcap" "cut 4 40" "fill 4 60" "drop 8"
in=$work/short.pcap sends 0 --to ring --rate max --expect "$work/long.pcap"
same "filled and foreign" "499 0 0 0 1" "$(compared 1)"

# Both directions, each by its port; one port has what the other end would have sent.
make "$work/both.pcapng" ways
in=$work/both.pcapng
sends 0 --to ring --expect "$in"
same "both directions" "166 0 0 0 0,334 0 0 0 0" "$(compared 0),$(compared 1)"
sends 0 --to ring --direction out --rate max --expect "$in"
same "the other way round" "334 0 0 0 0,166 0 0 0 0" "$(compared 0),$(compared 1)"
sends 0 --to vdev=net_ring0 --direction all --rate max --expect "$t"
same "one port, all" "500 0 0 0 0" "$(compared 0)"
make "$work/in.pcapng" in
make "$work/out.pcapng" out
sends 0 --to "vdev=net_pcap0,rx_pcap=$t,tx_pcap=$work/sent.pcap" --expect "$work/out.pcapng"
same "what a device gave" "500 0 0 0 0" "$(compared 0)"
same "one port sends what came in" "334 166" "$(r 'str(o["ports"][0]["sent"]["frames"]) + " " + str(o["not_sent"])')"
same "what a device got" 334 "$("$app/weft-replay" --in "$work/sent.pcap" --json - | json /dev/stdin 'o["packets"]')"
in=
refuses '--in: expected frames that went "in", got none' "$app/weft-replay" --in "$work/out.pcapng" --to vdev=net_ring0
refuses_with 2 '--expect: expected frames that come back to --to, got none' \
	"$app/weft-replay" --in "$t" --to vdev=net_ring0 --expect "$work/in.pcapng"

# A memif needs no rights, and waits for its other end.
memif=(--to "socket=$work/s,id=7,role=server" --back "socket=$work/s,id=7" --rate max --wait 10)
sends 0 "${memif[@]}" --expect "$t" --loop 20
same "by memif" "10000 0 0 0 0" "$(compared 1)"
"$app/weft-replay" --in "$t" --to "socket=$work/p,role=client" --rate 2000 --wait 20 --json "$work/p.json" >"$work/p.log" 2>&1 &
pids+=($!)
# It sends at once, and goes when all of the other's have come: neither ends while the other has to send.
in=$work/out.pcapng sends 0 --direction out --to "socket=$work/p,role=server" --rate max --expect "$t" --wait 20
wait ${pids[-1]} || die "the other process: $(cat "$work/p.log")"
same "each got some of the other's" True "$(r "o['ports'][0]['received']['frames'] > 0 and
load('$work/p.json')['ports'][0]['received']['frames'] > 0")"
refuses 'port to: no link within 0.2 s' "$app/weft-replay" --in "$t" --to "socket=$work/q,role=server" --wait 0.2
refuses 'it turned away a caller at its socket' "$app/weft-replay" --in "$t" --to "socket=$work/q,role=server,id=1" \
	--back "socket=$work/q,id=2" --wait 0.5
refuses 'port to: nobody can be reached at socket' "$app/weft-replay" --in "$t" --to "socket=$work/q2" --wait 0.2

# Raw flits get a header; a file that ends early is sent up to there.
"$app/weft-gen" --flits 30 --raw --mode cxl --out "$work/raw.pcap"
in=$work/raw.pcap sends 0 --to ring --mode cxl --expect "$work/raw.pcap" --rate max
same "raw flits" True "$(r 'o["ports"][0]["sent"]["flits"] == 30')"
head -c 3000 "$t" >"$work/cut.pcap"
warns 'ends inside the record at byte' "$app/weft-replay" --in "$work/cut.pcap" --to ring --rate max
{ head -c 3384 "$t"; printf '%0100d' 0 | tr 0 '\377'; } >"$work/broken.pcap"
refuses_with 2 "broken.pcap: byte" "$app/weft-replay" --in "$work/broken.pcap" --to ring --expect "$t"
head -c 24 "$t" >"$work/empty.pcap"
refuses '--in: expected frames to send, got none' "$app/weft-replay" --in "$work/empty.pcap" --to ring

# A signal ends it, of loops without end too, and the report says how far it came.
rm -f "$work/text" # an older one has that line too
"$app/weft-replay" --in "$t" --to ring --loop 1000000000 --json "$work/r.json" >"$work/text" 2>"$work/err" &
pids+=($!)
wait_for 20 grep -q '^port back' "$work/text"
kill -TERM ${pids[-1]}
status=0
wait ${pids[-1]} || status=$?
same "status after a signal" "1 True" "$status $(r 'o["stopped"]')"
grep -q '^weft-replay: stopped by a signal: the report ends after [0-9]* frames$' "$work/err" || die "$(cat "$work/err")"

# Of a frame that is due in more than a century; the one before it has left when it sleeps.
/usr/bin/python3 -S - "$t" "$work/late.pcap" <<'P'
import struct, sys
raw, at, out = open(sys.argv[1], "rb").read(), 24, b""
for second in 0, 1700000000:
    n = struct.unpack_from("<I", raw, at + 8)[0]
    out += struct.pack("<IIII", second, 0, n, n) + raw[at + 16:at + 16 + n]
    at += 16 + n
open(sys.argv[2], "wb").write(raw[:24] + out)
P
rm -f "$work/text"
"$app/weft-replay" --in "$work/late.pcap" --to ring --speed 0.1 --loop 1000000000 --json "$work/r.json" >"$work/text" \
	2>"$work/err" &
pids+=($!)
wait_for 20 grep -q '^port back' "$work/text"
sleeps() { grep -qE '^(230|115) ' "/proc/${pids[-1]}/syscall"; }
wait_for 20 sleeps
kill -TERM ${pids[-1]}
status=0
wait ${pids[-1]} || status=$?
same "a frame that is not due in our time" "1 True 1" \
	"$status $(r 'str(o["stopped"]) + " " + str(o["ports"][0]["sent"]["frames"])')"

# Command lines.
replay=("$app/weft-replay" --in "$t")
misused '--to: expected an interface of 1 to 15 characters' "${replay[@]}" --to ''
misused '--to: expected it once, got "lo" and "lo"; a second port is --back' "${replay[@]}" --to lo --to lo
misused '--back: expected it once' "${replay[@]}" --to lo --back eth0 --back eth1
misused '--back: expected two ports, got lo twice' "${replay[@]}" --to lo --back netif=lo,driver=af_packet
misused '--back: expected two ports, got net_ring0 twice' "${replay[@]}" --to vdev=net_ring0 --back vdev=net_ring0,nodeaction=x
misused '--back: expected two ports, got s twice' "${replay[@]}" --to socket=s,id=1 --back socket=s,id=1
misused '--to: expected an interface of 1 to 15 characters' "${replay[@]}" --to an-interface-of-that-name
misused '--to: expected one port, got one more, "b"' "${replay[@]}" --to a,b
misused '--back: expected no port beside ring' "${replay[@]}" --to ring --back a
misused '--to: expected a virtual device such as vdev=net_null0, got "null"' "${replay[@]}" --to vdev=null
misused '--to: expected a PCI address such as 0000:5e:00.0, got "5e:00"' "${replay[@]}" --to pci=5e:00
misused '--to: expected a path behind socket=' "${replay[@]}" --to socket=
misused '--to: expected one of client, server, got "x"' "${replay[@]}" --to "socket=s,role=x"
misused '--to: expected one of auto, af_xdp, af_packet, got "x"' "${replay[@]}" --to "a,driver=x"
misused '--to: expected driver=WORD behind an interface' "${replay[@]}" --to "a,role=server"
misused '--to: expected id=NUMBER, got "id=-1"' "${replay[@]}" --to "socket=s,id=-1"
for rate in 0 -1 nan 1x '' 1e10; do
	misused '--rate: expected max or frames/s of 0.001 to 1e9' "${replay[@]}" --to ring --rate "$rate"
done
misused '--rate and --speed: expected one of them' "${replay[@]}" --to ring --rate 1 --speed 1
misused '--in and --expect: expected one of them' "$app/weft-replay" --in - --to ring --expect -
misused '--expect and --json: expected two files' "${replay[@]}" --to ring --expect "$t" --json "$t"
refuses_with 2 '--expect: /nonesuch: No such file' "${replay[@]}" --to ring --expect /nonesuch
refuses_with 2 'loops of the 500 frames of --expect' "${replay[@]}" --to ring --loop 1000000000 --expect "$t"
refuses 'interface nonesuch: no such interface here' "${replay[@]}" --to nonesuch
warns '--back, --expect, --wait: no effect without --to' "${replay[@]}" --back a --expect b --wait 1
warns '--layout, --out: no effect with --to' "${replay[@]}" --to ring --rate max --layout x --out /nonesuch/x
warns '--mode, --spid: no effect with --to on frames' "${replay[@]}" --to ring --rate max --mode rxl --spid 1
# The page names every key of the report.
sends 0 --to ring --rate max --expect "$t"
for key in $(r '" ".join(k for v in (o, *o["ports"][0].values()) if isinstance(v, dict) for k in v)'); do
	grep -qF "\`$key\`" "$here/../../doc/replay.md" || die "doc/replay.md does not name \"$key\""
done

# Interfaces of the kernel, in a namespace that goes with the test.
cat >"$work/veth" <<-'V'
	set -e
	echo leak:xsk_umem__create >"$0.lsan" # of DPDK's driver, or of libxdp
	export LSAN_OPTIONS=suppressions=$0.lsan
	ip link add wa type veth peer name wb
	sysctl -q net.ipv6.conf.wa.disable_ipv6=1 net.ipv6.conf.wb.disable_ipv6=1 2>/dev/null || true
	ip link set wa mtu 1500 up
	ip link set wb mtu 1500 up
	"$@"
V
unshare=(unshare -n)
[ "$(id -u)" -eq 0 ] || unshare=(unshare -Urn)
if ! command -v ip >/dev/null || ! "${unshare[@]}" bash "$work/veth" true 2>/dev/null; then
	echo "a trace goes onto a wire and is compared; not over veth: no network namespace can be made here"
	exit 0
fi
"${unshare[@]}" bash "$work/veth" "$app/weft-replay" --in "$work/both.pcapng" --to wa --back netif=wb,driver=af_packet --rate 5000 \
	--expect "$work/both.pcapng" --json "$work/r.json" >"$work/text" 2>"$work/err" || die "veth: $(cat "$work/err" "$work/text")"
same "over veth" "166 0 0 0,334 0 0 0" "$(compared 0 | cut -d' ' -f1-4),$(compared 1 | cut -d' ' -f1-4)"
# The same pair, as weft-bench measures it.
"${unshare[@]}" bash "$work/veth" "$app/weft-bench" --live wa,driver=af_packet,wb,driver=af_packet --seconds 0.05 --frame-flits 5 \
	--json "$work/l.json" >"$work/text" 2>"$work/err" || die "veth: $(cat "$work/err" "$work/text")"
same "rates over veth" True "$(json "$work/l.json" 'o["live"][0]["mrr"]["frames_per_s"] > 0 and len(o["live"][0]["trials"]) >= 3 and
all(t["received"] <= t["sent"] and t["changed"] == 0 for t in o["live"][0]["trials"])')"
# A link that is not there, and one that goes while frames are sent.
"${unshare[@]}" bash "$work/veth" bash -c '
	ip link set wb down
	timeout 20 "$@" --to netif=wa,driver=af_packet --wait 0.3 2>&1
	echo "status $?"
	ip link set wb up
	sent() { awk "\$1 == \"wa:\" { print \$11 }" /proc/net/dev; }
	before=$(sent)
	"$@" --to netif=wa,driver=af_packet --rate 200 2>&1 &
	for ((i = 0; i < 200 && $(sent) < before + 20; i++)); do sleep 0.1; done
	ip link set wb down
	wait $! || echo "status $?"' - "${replay[@]}" >"$work/text" || die "veth: $(cat "$work/text")"
same "ends without a link" "port to: no link within 0.3 s|status 1|port to: has no link any more|status 1" \
	"$(grep -oE 'port to: (no link within 0.3 s|has no link any more)|^status.*' "$work/text" | paste -sd '|')"
echo "a trace goes onto a wire and is compared"
