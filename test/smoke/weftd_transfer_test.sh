#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Transfers with block signatures through a fabric: what lies in the GFD is what the model says, over
# clean and bad wires and in both modes; a wrong byte and a swapped page are found where they are, by
# the model's numbers; loss has its own name; what is not as expected ends with 1.
. "$(dirname "$0")/lib.sh"
export XDG_RUNTIME_DIR=$work
cd "$work"

# fabric MODE WIRE TRANSFERS [MEM]: TRANSFERS is YAML flow, comma-separated mappings; MEM keys of that kind.
fabric() {
	cat <<-Y
	fabric: transfer
	mode: $1
	defaults: {mtu: 4000}
	nodes:
	  - {name: h0, kind: host, pid: 0x101}
	  - {name: s0, kind: switch, pid: 0x010}
	  - {name: g0, kind: gfd, pid: 0x200}
	  - {name: g1, kind: gfd, pid: 0x201, memory: 64M}
	links:
	  - {a: h0, b: s0${2:+, wire: {seed: 1, $2\}}}
	  - {a: s0, b: g0${2:+, wire: {seed: 2, $2\}}}
	  - {a: s0, b: g1}
	workloads:
	  - {on: h0, kind: transfer, transfers: [$3]}
	${4:+  - {on: h0, kind: mem, $4\}}
	Y
}
run() { timeout -k 2 60 "$app/weftd" --topology f.yaml --until-done --json r.json >text 2>err; }
# of NAME EXPRESSION: over the transfer `t` of that name.
of() { json r.json "[($2) for n in o['nodes'] for t in n.get('transfers', []) if t['name'] == '$1'][0]"; }
driver=1

# model WIRE_FILE MEM_FILE BLOCK0...: is the one the other, transmitted? Domains are of $mem and $wire.
cat >model.py <<'P'
import json, sys
sys.path.insert(0, sys.argv[1])
from weftmodel import signature as s
def domain(text):
    if text == "none":
        return None
    kind, _, rest = text.partition(":")
    block, *words = rest.split(",")
    if kind in s.CRCS:
        return s.Domain("crc", int(block), s.Crc(kind, (1 << s.CRCS[kind][1]) - 1))
    v = dict(w.split("=") for w in words if "=" in w)
    return s.Domain("t10dif", int(block), s.Dif(v["guard"], int(v["bg"], 16), int(v["app"], 16),
                                              int(v["ref"], 16), int("remap" in words)))
attr = s.Attr(domain(sys.argv[3]), domain(sys.argv[4]))
if sys.argv[2] == "tx":  # MEM_FILE WIRE_FILE
    mem, wire = (open(f, "rb").read() for f in sys.argv[5:7])
    out = s.transfer(attr, "tx", mem)
    sys.exit("the model has an error in it" if out.error else out.output != wire)
wire = bytearray(open(sys.argv[5], "rb").read())  # WIRE_FILE AT BYTE JSON: the first error of rx
wire[int(sys.argv[6])] = int(sys.argv[7])
want, got = s.transfer(attr, "rx", bytes(wire)).error, json.loads(sys.argv[8])
for key in ("error", "block", "offset", "computed", "stored", "domain"):
    if str(getattr(want, key)) != str(got[key]):
        sys.exit(f"{key}: expected {getattr(want, key)}, got {got[key]}")
P
model() { /usr/bin/python3 model.py "$here/../model" "$@"; }

# check NAME MODE WIRES MEM WIRE: there, back, as the model; then a byte that is not what it was.
check() {
	local name=$1 mode=$2 wires=$3 mem=$4 wire=$5 len at byte
	local pair="bytes: 64K, offset: 999, gfd: g0, mem: \"$mem\", wire: \"$wire\""

	len=$(/usr/bin/python3 -c "
w='$wire'.split(',')[0]; k, b = w.split(':'); n = 65536 // int(b)
print(65536 + n * {'crc32c': 4}.get(k, 8))")
	fabric "$mode" "$wires" "{name: put, kind: write, seed: 5, $pair},
	  {name: get, kind: read, seed: 5, $pair}, {name: mem, kind: read, file: mem, $pair},
	  {name: raw, kind: read, gfd: g0, offset: 999, bytes: $len, file: wire}" >f.yaml
	if ! run; then
		grep -q 'built without the driver net_flitwire' err || die "$name: $(cat err text)"
		driver=0
		return 0
	fi
	[ -n "$wires" ] || model tx "$mem" "$wire" mem wire || die "$name: not what the model makes"
	[ -z "$wires" ] || [ "$(grep -o '"corrected": [0-9]*' r.json | awk '{n += $2} END {print n}')" -gt 10 ] ||
		die "$name: the wires were not bad"
	[[ $wires != *drop* ]] || [ "$(grep -o '"resent": [0-9]*' r.json | awk '{n += $2} END {print n}')" -gt 0 ] ||
		die "$name: nothing was sent again"
	same "$name: status" ok "$(of get 't["status"]')"
	same "$name: blocks" "$((65536 / $(echo "$wire" | grep -o ':[0-9]*' | head -1 | tr -d :)))" \
		"$(of get 't["checked"]')"
	at=$(/usr/bin/python3 -c "import random; print(random.Random('$name').randrange($len))")
	byte=$(/usr/bin/python3 -c "print(open('wire', 'rb').read()[$at] ^ 0x41)")
	fabric "$mode" "$wires" "{name: put, kind: write, seed: 5, $pair},
	  {name: spoil, kind: write, gfd: g0, offset: $((999 + at)), bytes: 1, fill: $byte},
	  {name: get, kind: read, $pair}" >f.yaml
	if run; then die "$name: byte $at was not missed"; fi
	same "$name: spoilt" signature_error "$(of get 't["status"]')"
	same "$name: bad blocks" 1 "$(of get 't["bad_blocks"]')"
	model rx "$mem" "$wire" wire "$at" "$byte" "$(of get '__import__("json").dumps(t["error"])')" ||
		die "$name: byte $at: not the model's error"
}

dif=dif:512,guard=crc,bg=ffff,app=abcd,ref=fffffff0,remap
dix=dif:512,guard=csum,bg=0,app=abcd,ref=fffffff0,remap
bad="ber: 2e-5, drop: 0.1, dup: 0.01, reorder: 0.01"
while read -r name mode wires mem wire; do
	case $wires in bad) wires=$bad ;; ber) wires="ber: 2e-5" ;; *) wires= ;; esac
	[ -z "$wires" ] || [ $driver = 1 ] || continue
	check "$name $mode $wires" "$mode" "$wires" "$mem" "$wire"
done <<-T
	crc32c  rxl  -    none  crc32c:512
	pass    rxl  -    $dif  $dif
	dix     rxl  -    $dix  $dif
	reblock rxl  -    $dif  crc64:4096
	crc32c  cxl  -    none  crc32c:512
	reblock cxl  -    $dif  crc64:4096
	crc32c  rxl  bad  none  crc32c:512
	pass    rxl  bad  $dif  $dif
	dix     rxl  bad  $dix  $dif
	reblock rxl  bad  $dif  crc64:4096
	crc32c  cxl  ber  none  crc32c:512
	dix     cxl  ber  $dix  $dif
T

# The example: a swapped page does not move
cp "$here/../../doc/example-migration.yaml" f.yaml
run || die "example: $(cat err text)"
same "swapped page" "bad_reftag 3 12312 3 9" \
	"$(of migrate-swapped '"{error} {block} {offset} {computed} {stored}".format(**t["error"])')"
same "both pages" "2 16 0" "$(of migrate-swapped '"%d %d %d" % (t["bad_blocks"], t["checked"], t["generated"])')"
same "good page moves" "ok ok ok" "$(of migrate 't["status"]') $(of verify 't["status"]') $(of verify-again 't["status"]')"
grep -qF 'transfer h0 migrate-swapped: copy g0 to g1, 65536 bytes, 16 blocks' text || die "$(cat text)"
grep -qF 'bad_reftag in block 3 at 12312, computed 0x3, stored 0x9, as expected' text || die "$(cat text)"
sed -i 's/, expect: bad_reftag//' f.yaml
if run; then die "an unexpected error ended well"; fi
grep -qF 'stored 0x9, expected ok' text || die "$(cat text)"
same "good" False "$(json r.json 'o["good"]')"

# An error that does not come, data that is not as it should, a file in, traffic beside
fabric rxl "" "{name: w, kind: write, gfd: g0, offset: 1M, bytes: 4K, fill: 1, wire: \"crc32:512\", expect: bad_guard}" >f.yaml
if run; then die "an expected error that did not come ended well"; fi
head -c 1032 /dev/urandom >in
fabric rxl "" "{name: w, kind: write, gfd: g0, offset: 1M, bytes: 1032, file: in},
	{name: r, kind: read, gfd: g0, offset: 1M, bytes: 1032, file: out},
	{name: differs, kind: read, gfd: g0, offset: 1M, bytes: 1032, seed: 1, expect: mismatch},
	{name: p, kind: write, gfd: g1, offset: 1M, bytes: 64K, wire: \"crc32c:512\"},
	{name: q, kind: read, gfd: g1, offset: 1M, bytes: 64K, wire: \"crc32c:512\", seed: 0}" \
	"requests: 5000, timeout_ms: 10000" >f.yaml
run || die "files: $(cat err text)"
cmp in out || die "a file does not come back"
same "traffic" 0 "$(json r.json '[n["traffic"]["lost"] + n["traffic"]["mismatches"] for n in o["nodes"] if "traffic" in n][0]')"
fabric rxl "" "{name: w, kind: write, gfd: g0, bytes: 1033, file: in}" >f.yaml
refuses "in: expected 1033 bytes, all blocks with their signatures, got 1032" "$app/weftd" --topology f.yaml --until-done --quiet
fabric rxl "" "{name: w, kind: write, gfd: g0, bytes: 64, file: nowhere}" >f.yaml
refuses "nowhere: No such file" "$app/weftd" --topology f.yaml --until-done --quiet
fabric rxl "" "{name: r, kind: read, gfd: g0, bytes: 64, file: nowhere/out}" >f.yaml
refuses "host h0: transfer r: nowhere/out: No such file" "$app/weftd" --topology f.yaml --until-done --quiet

# Errors of the file
fabric rxl "" "{kind: write, gfd: g0, bytes: 100, wire: \"crc32c:512\"}" >f.yaml
refuses "f.yaml:14: workloads[0].transfers[0]: not whole blocks" "$app/weftd" --check --topology f.yaml
fabric rxl "" "{kind: write, gfd: g0, bytes: 512, wire: \"crc32c:511\"}" >f.yaml
refuses "f.yaml:14: workloads[0].transfers[0]: expected a block of" "$app/weftd" --check --topology f.yaml

[ $driver = 1 ] || skip "bad wires: weftd was built without the driver net_flitwire (usertools/driver-headers.sh)"

# A wire that is cut: lines are lost, and no guard is bad. A unit of zeros has a good signature here.
# The timeout is shorter than the silence that makes a session stalled: else lines would wait.
zero="gfd: g1, bytes: 32M, wire: \"dif:512,guard=crc,bg=0,app=0,ref=0\""
fabric rxl "drop: 0" "{name: a, kind: read, $zero}, {name: b, kind: read, $zero},
	{name: c, kind: read, $zero}, {name: d, kind: read, $zero}" \
	"requests: 1, timeout_ms: 50" >f.yaml
"$app/weftd" --topology f.yaml --until-done --json r.json >log 2>&1 &
pid=$!
pids+=("$pid")
wait_for 20 grep -q ' run$' log
wait_for 20 has_read h0 "$pid" 1000
ask "$pid" /weft/flitwire,net_flitwire_h0.0,drop=1 >/dev/null
sleep 1
ask "$pid" /weft/flitwire,net_flitwire_h0.0,drop=0 >/dev/null
for _ in $(seq 600); do kill -0 "$pid" 2>/dev/null || break; sleep 0.1; done
if kill -0 "$pid" 2>/dev/null; then die "transfers do not end behind a cut: $(cat log)"; fi
if wait "$pid"; then die "lost lines ended well"; fi
same "lost, not bad" "True 0" "$(json r.json "'%s %d' % ('lost' in [t['status'] for t in o['nodes'][0]['transfers']],
	sum(t['bad_blocks'] for t in o['nodes'][0]['transfers']))")"
same "only lost or ok" True "$(json r.json "all(t['status'] in ('ok', 'lost') and t.get('error', {'error': 'lost'})['error'] == 'lost' for t in o['nodes'][0]['transfers'])")"
