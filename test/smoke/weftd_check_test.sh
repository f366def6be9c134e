#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# weftd --check names what is wrong with a fabric, line by line; --resolve says where an address leads.
# Neither starts anything.
. "$(dirname "$0")/lib.sh"
export XDG_RUNTIME_DIR=$work
lab=$work/lab.yaml

fabric() {
	cat >"$lab" <<-'Y'
	fabric: lab
	segments:
	  - {interleave: {ways: 4, granularity: 1K, targets: [g0, g1, g2, g3]}, size: 32M}
	  - {target: g0}
	  - {gim: h1}
	groups:
	  - {name: shared, ranges: [{gfd: g0, size: 8M}, {gfd: g1, size: 8M}, {gfd: g2}]}
	  - {name: private, ranges: [{gfd: g0, base: 8M, size: 4M}]}
	nodes:
	  - {name: h0, kind: host, pid: 0x101, access: [shared]}
	  - {name: h1, kind: host, pid: 0x102}
	  - {name: s0, kind: switch, pid: 0x010}
	  - {name: s1, kind: switch, pid: 0x011}
	  - {name: g0, kind: gfd, pid: 0x200}
	  - {name: g1, kind: gfd, pid: 0x201}
	  - {name: g2, kind: gfd, pid: 0x202}
	  - {name: g3, kind: gfd, pid: 0x203}
	  - {name: b0, kind: hbr, pid: 0x600}
	  - {name: d0, kind: device, pid: 0x601}
	links:
	  - {a: h0, b: s0}
	  - {a: h1, b: s1}
	  - {a: s0, b: s1}
	  - {a: s0, b: g0}
	  - {a: s0, b: g1}
	  - {a: s1, b: g2}
	  - {a: s1, b: g3}
	  - {a: s1, b: b0}
	  - {a: b0, b: d0}
	bindings:
	  - {host: h0, device: b0, pid: 0xC00}
	Y
}

# wrong LINE TEXT SED...: the fabric, changed, is refused with the line and the text.
wrong() {
	local line=$1 text=$2
	shift 2
	fabric
	cp "$lab" "$work/good.yaml"
	sed -i "$@" "$lab"
	! cmp -s "$lab" "$work/good.yaml" || die "nothing was changed by $*"
	refuses "lab.yaml:$line: " "$app/weftd" --check "$lab"
	grep -qF -- "$text" "$work/err" || die "expected \"$text\", got: $(cat "$work/err")"
}

fabric
"$app/weftd" --check "$lab" >"$work/out"
grep -q 'fabric lab: 10 nodes, 9 links, 3 segments, routes shortest; here:' "$work/out" || die "$(cat "$work/out")"
"$app/weftd" --check >/dev/null
sed -i 's/\(kind: [a-z]*\)/\1, server: elsewhere/' "$lab"
"$app/weftd" --check "$lab" >"$work/out" || die "a good file is not good on another machine"
same "words where no node is here" \
	'fabric lab: 10 nodes, 9 links, 3 segments, routes shortest; no node is of this machine' \
	"$(tail -n 1 "$work/out")"
refuses 'nothing to run' "$app/weftd" --check "$lab" --server lab1

wrong 2 'defaults.cxl_io: CXL.io with ide on, expected 0 as ide covers no CXL.io flits, got 8' \
	'1a defaults: {cxl_io: 8}\nide: {mode: skid, key_file: psk}'
wrong 2 'defaults.cxl_io: bad number, expected 0..127, got "128"' '1a defaults: {cxl_io: 128}'
wrong 3 'segments[0].interleave.ways: bad number, expected 2..256, a power of 2' '3s/ways: 4/ways: 3/'
wrong 3 'bad targets, expected as many as ways, 4, got 3' '3s/, g3//'
wrong 3 'target twice, expected another gfd for each way' '3s/g3/g1/'
wrong 3 'granularity: bad size, expected 256..16384 bytes, a power of 2' '3s/1K/768/'
wrong 3 'more than gfd g0 has left, expected at most 16777216 for each of 4 ways, got 33554432' '3s/32M/128M/'
wrong 4 'bad target, expected the name of a gfd, got "g9"' '4s/g0/g9/'
wrong 5 'bad target, expected the name of a host, got "s0"' '5s/h1/s0/'
wrong 5 'bad segment, expected one of target, interleave and gim, got several' '5s/gim: h1/gim: h1, target: g0/'
wrong 8 'ranges overlap, expected one group for a block' '8s/base: 8M/base: 4M/'
wrong 8 'bad range, expected multiples of 4096 in the 16777216 bytes of g0' '8s/size: 4M/size: 9M/'
wrong 10 'unknown group, expected a name under groups, got "secret"' '10s/shared/secret/'
wrong 11 'duplicate PID, expected one no other node has' '11s/0x102/0x101/'
wrong 14 'key of another kind, expected it in a host or device only, got it in a gfd' '14s/0x200/0x200, access: []/'
wrong 23 'a PBR DSP attaches to a device, a GFD or an HBR USP (fabric.md 3.1)' '23s/b: s1/b: s1, a_port: {role: dsp}/'
wrong 27 'an HBR DSP attaches to a device or an HBR USP (fabric.md 3.1): expected that for b0, got a GFD of g3' '27s/a: s1/a: b0/'
wrong 27 'a GFD attaches to a DSP of a PBR switch (fabric.md 3.1): expected that for g3, got an HBR DSP of b0' \
	'27s/a: s1, b: g3/a: g3, b: b0/'
wrong 21 "a host's root port attaches to a USP or a device but no GFD" '21s/b: s0/b: s0, b_port: {role: fport}/'
wrong 18 'PBR switches may not hang below an HBR switch (fabric.md 3.1): expected none for b0, whose USP is a host'"'"'s, got s1' \
	'21s/b: s0/b: b0/'
wrong 18 'an HBR switch has one USP (fabric.md 3.1): expected one for b0, got 2' '29s/$/\n  - {a: s0, b: b0}/'
wrong 31 'expected a pid of the FPort between two switches (fabric.md 3.2), got none' '31s/, pid: 0xC00//'
wrong 31 'PID of a node, expected one for FPorts (fabric.md 2.1), got that of g0' '31s/0xC00/0x200/'
wrong 31 'binding of a gfd, expected none, as G-FAM goes edge to edge' '31s/b0/g0/'
wrong 13 'coordinates of another length, expected 1 as for s0, got 2' \
	'12s/0x010/0x010, at: [1]/;13s/0x011/0x011, at: [1, 2]/'
wrong 2 'routing: dimension: expected routes without a circle, got no "at" for switch s0' '1s/$/\nrouting: dimension/'

# Five switches in a ring: the shortest ways close a circle, which is named.
{
	printf 'fabric: ring\nrouting: shortest\nnodes:\n'
	for i in 0 1 2 3 4; do
		printf '  - {name: s%d, kind: switch, pid: %d}\n  - {name: h%d, kind: host, pid: %d}\n' $i $i $i $((10 + i))
	done
	printf '  - {name: g, kind: gfd, pid: 20}\nlinks:\n  - {a: s0, b: g}\n'
	for i in 0 1 2 3 4; do
		printf '  - {a: s%d, b: s%d}\n  - {a: h%d, b: s%d}\n' $i $(((i + 1) % 5)) $i $i
	done
} >"$work/ring.yaml"
refuses 'ring.yaml:2: routing: shortest: expected routes without a circle, got a circle of links that wait: s0 > s1 > s2 > s3 > s4 > s0' \
	"$app/weftd" --check "$work/ring.yaml"
sed -i 's/shortest/auto/' "$work/ring.yaml"
"$app/weftd" --check "$work/ring.yaml" | grep -q 'routes updown' || die "the ring is not broken"

# All segments that take turns share an IDT of 4096 entries: 16 of 256 ways fit, one more does not.
turns() { # turns SEGMENTS
	printf 'fabric: turns\nsegments:\n'
	for ((i = 0; i < $1; i++)); do
		printf '  - {size: 1M, interleave: {ways: 256, targets: ['
		printf 'g%d, ' $(seq $((i / 8 * 256)) $((i / 8 * 256 + 255))) | sed 's/, $//'
		printf ']}}\n'
	done
	printf 'nodes:\n  - {name: h, kind: host, pid: 4000}\n'
	printf '  - {name: s%d, kind: switch, pid: %d}\n' 0 4001 1 4002 2 4003 3 4004
	printf '  - {name: g%d, kind: gfd, pid: %d}\n' $(seq 0 767 | sed 's/.*/& &/')
	printf 'links:\n  - {a: h, b: s0}\n  - {a: s0, b: s1}\n  - {a: s1, b: s2}\n  - {a: s2, b: s3}\n'
	printf '  - {a: g%d, b: s%d}\n' $(for ((i = 0; i < 768; i++)); do echo $i $((i / 192)); done)
}
turns 16 >"$work/turns.yaml"
"$app/weftd" --check "$work/turns.yaml" >/dev/null || die "4096 ways are refused"
turns 17 >"$work/turns.yaml"
refuses 'turns.yaml:19: segments[16].interleave.ways: too many ways, expected at most 4096 of all segments' \
	"$app/weftd" --check "$work/turns.yaml"

# Several findings: a line each, in their order.
fabric
sed -i '10s/0x101/0x1000/;14s/kind: gfd/kind: memory/;21s/b: s0/c: s0/' "$lab"
if "$app/weftd" --check "$lab" >"$work/out" 2>"$work/err"; then die "three mistakes are good"; fi
same "lines of the findings" "10 14 21" "$(sed 's/.*lab.yaml:\([0-9]*\): .*/\1/' "$work/err" | xargs)"

# What would happen to an address.
resolve() { "$app/weftd" --resolve "$lab" --from "$@"; }
value() { # value FROM HPA EXPRESSION [option]
	resolve "$1" --hpa "$2" --json ${4:+"$4"} >"$work/r.json"
	json "$work/r.json" "$3"
}
fabric
same "text" "0x10000000800 from h0 (PID 0x101) by CXL.mem
  decoder  FAST segment 0 from 0x10000000000, 4 ways of 1024 bytes
  way      2: g2 (PID 0x202)
  path     h0:0 > 0:s0:1 > 1:s1:2 > 0:g2
  memory   decoder 0 of g2, DPA 0x0
  group    0: shared
  allowed  allowed: the group, window or device is open to the requester
  answer   to a read: MemData; to a write: Cmp" "$(resolve h0 --hpa 0x10000000800)"
same "keys" "allowed decoder dpa dpid fabric from gfd_decoder group hpa kind management path read_answer rule segment spid target translation way window write_answer" \
	"$(value h0 0x10000000800 '" ".join(sorted(o))')"
same "way 3, denied at the edge" "(3, 'access-vector', False, 'MemData-NXM', [])" \
	"$(value h0 0x10000000c00 'o["way"], o["rule"], o["allowed"], o["read_answer"], o["path"]')"
same "second turn" "(2, '0x41f', 'allowed')" "$(value h0 0x1000000181f 'o["way"], o["dpa"], o["rule"]')"
same "second decoder, closed group" "(1, '0x800000', 'private', 'sat-denied', 'MemData, all ones')" \
	"$(value h0 0x11000000000 'o["gfd_decoder"], o["dpa"], o["group"], o["rule"], o["read_answer"]')"
same "open to another" "('private', 'allowed')" "$(value h1 0x11000000000 'o["group"], o["rule"]')"
same "no group" "('0xc00000', None, 'no-group')" "$(value h0 0x11000400000 'o["dpa"], o["group"], o["rule"]')"
same "behind the memory" "(0, None, 'no-hit')" "$(value h0 0x10002000000 'o["way"], o["dpa"], o["rule"]')"
same "no segment" "(None, None, 'no-decode')" "$(value h0 0x13000000000 'o["decoder"], o["target"], o["rule"]')"
same "memory of a host" "gim-uio-only" "$(value h0 0x12000000000 'o["rule"]')"
same "memory of a host that offers none, by UIO" "(False, 'gim', 'h1', 'UR')" \
	"$(value h0 0x12000000000 'o["allowed"], o["rule"], o["target"], o["write_answer"]' --uio)"
same "its own" "('gim-self', 'UR')" "$(value h1 0x12000000000 'o["rule"], o["read_answer"]' --uio)"
same "ports of the path" "[('h0', None, 0), ('s0', 0, 1), ('s1', 1, 2), ('g2', 0, None)]" \
	"$(value h0 0x10000000800 '[(h["node"], h["in"], h["out"]) for h in o["path"]]')"
resolve h0 --hpa 0x10000000800 --json "$work/file.json"
same "a file" "0x202" "$(json "$work/file.json" 'hex(o["dpid"])')"
misused '--resolve: expected --from NODE and --hpa ADDRESS' "$app/weftd" --resolve "$lab" --from h0
misused 'expected two files, got' "$app/weftd" --resolve "$lab" --from h0 --hpa 0 --json "$lab"
misused '--from, --hpa and --uio: expected --resolve' "$app/weftd" --uio
refuses '--from: expected the name of a host or device of fabric lab, got "s0"' "$app/weftd" --resolve "$lab" --from s0 --hpa 0
misused '--hpa: expected an address below 2^52' "$app/weftd" --resolve "$lab" --from h0 --hpa 0x10000000000000
misused '--hpa: expected an address below 2^52' "$app/weftd" --resolve "$lab" --from h0 --hpa 12x
refuses 'No such file' "$app/weftd" --resolve "$work/nonesuch" --from h0 --hpa 0
refuses 'does not run fabrics with them yet' "$app/weftd" --topology "$lab"
# Options that do nothing beside others are named; where it is not clear what is wanted, or a file that was
# asked for would not come, nothing is done.
misused '--check and --resolve: expected one of them' "$app/weftd" --check --resolve "$lab" --from h0 --hpa 0
misused '--topology and --resolve: expected one' "$app/weftd" --topology "$lab" --resolve "$lab" --from h0 --hpa 0
misused '--json: --check writes no JSON' "$app/weftd" --check --topology "$lab" --json "$work/none.json"
[ ! -e "$work/none.json" ] || die "a report that is none was begun"
warns 'weftd: --seconds, --until-done, --idle, --capture: no effect with --check' \
	"$app/weftd" --check "$lab" --until-done --seconds 1 --idle spin --capture s0.0=x
# Load is no part of the fabric: from the file's own list and from others, and no matter to --resolve.
printf '%s\n' 'workloads: [{on: h0, kind: mem, lines: 64}]' >"$work/mem.yaml"
printf '%s\n' 'workloads:' '  - {on: h1, kind: uio, lines: 64}' '  - {on: h1, kind: move}' >"$work/uio.yaml"
refuses "$work/uio.yaml:3: workloads[1].on: move of another kind of node, expected a host with translations, got host h1" \
	"$app/weftd" --check "$lab" --load "$work/mem.yaml" --load "$work/uio.yaml"
sed -i 3d "$work/uio.yaml"
cp "$lab" "$work/own.yaml"
printf '%s\n' 'workloads: [{on: h0, kind: uio}]' >>"$work/own.yaml"
"$app/weftd" --check "$work/own.yaml" --load "$work/mem.yaml" --load "$work/uio.yaml" >"$work/out"
same "load of h0 and h1" "mem, uio uio" "$(sed -n 's/.* h[01] .*  load //p' "$work/out" | xargs)"
refuses "mem.yaml:1: workloads[0].on: second mem of h0, expected one, got another after line 1 of $work/mem.yaml" \
	"$app/weftd" --check "$lab" --load "$work/mem.yaml" --load "$work/mem.yaml"
refuses 'No such file' "$app/weftd" --check "$lab" --load "$work/nonesuch"
sed -i 's/kind: uio}/kind: nonsense}/' "$work/own.yaml"
refuses 'own.yaml:32: workloads[0].kind: bad word, expected mem|uio|transfer|move, got "nonsense"' "$app/weftd" --check "$work/own.yaml"
"$app/weftd" --resolve "$work/own.yaml" --from h0 --hpa 0x10000000800 >/dev/null || die "--resolve looked at load"
warns '--load: no effect with --resolve' "$app/weftd" --resolve "$lab" --from h0 --hpa 0 --load "$work/mem.yaml"
wrong 10 'nodes[0].traffic: load moved to the list "workloads": - {on: h0, kind: mem, ...}' \
	's/pid: 0x101,/& traffic: {},/'
fabric
warns 'weftd: EAL arguments: no effect with --check' "$app/weftd" --check "$lab" -- -l 0
warns '--node, --wait: no effect with --resolve' "$app/weftd" --resolve "$lab" --from h0 --hpa 0 --node h0 --wait 5
warns '--server: no effect with --node' "$app/weftd" --check "$lab" --node h0 --server lab1
warns '--server: no effect on fabric demo' "$app/weftd" --check --server lab1
# On the server that --server names its machine is a part of the check, and there alone.
host=$(uname -n)
cat >"$work/here.yaml" <<-Y
	fabric: here
	nodes:
	  - {name: h0, kind: host, pid: 0x101, server: ${host%%.*}}
	  - {name: s0, kind: switch, pid: 0x010, server: ${host%%.*}}
	  - {name: g0, kind: gfd, pid: 0x200, memory: 1M, server: weft-other}
	links:
	  - {a: h0, b: s0}
	  - {a: s0, b: g0, driver: af_packet, a_port: {netif: weft-none0}, b_port: {netif: weft-none0}}
Y
status=0
"$app/weftd" --check "$work/here.yaml" --server "${host%%.*}" >"$work/out" 2>"$work/err" || status=$?
same "--check --server here" 1 $status
grep -q '^weftd: this machine: interface: s0.1 on weft-none0: no such interface here; expected ' "$work/err" ||
	die "--check --server here: $(cat "$work/err")"
grep -qE "^${host%%.*}, for h0, s0: [1-9][0-9]* in the way " "$work/out" || die "--check --server here: $(cat "$work/out")"
"$app/weftd" --check "$work/here.yaml" >"$work/out" 2>&1 || [ "$host" != "${host%%.*}" ] || die "--check: $(cat "$work/out")"
"$app/weftd" --check "$work/here.yaml" --server weft-other >"$work/out" 2>"$work/err" || die "--check of another: $(cat "$work/err")"
grep -q "the machine itself: not looked at, as this one is $host" "$work/out" || die "--check of another: $(cat "$work/out")"
files=()
for i in {1..17}; do files+=(--load "$work/$i.yaml"); done
misused '--load: expected 16 files at most' "$app/weftd" --check "${files[@]}"
same "--check --quiet" "" "$("$app/weftd" --check --quiet "$lab" 2>&1)"
[ -z "$(find "$work" -name '*dpdk*' -print -quit)" ] || die "something was started"
# The file of doc/lab.md, with the link of each way to drive a NIC and with keys, for both servers.
page=$here/../../doc/lab.md
awk '/tee \/etc\/weft\/fabric.yaml/ { on = 1; next } /^    Y$/ { on = 0 } on' "$page" | sed 's/^    //; s/\$NIC/ens2f1/g' >"$lab"
grep -q 'a: s0, b: s1, driver: af_packet' "$lab" || die "doc/lab.md has no file: $(cat "$lab")"
cp "$lab" "$work/as_shown.yaml"
n=0
while read -r link; do
	for keys in '' "$(grep -o "ide: {mode: containment, key_file: [^}]*}" "$page")"; do
		{ grep -v 'a: s0, b: s1' "$work/as_shown.yaml" | sed "/^links:/a \\  - $link" && echo "$keys"; } >"$lab"
		for server in lab1 lab2; do
			"$app/weftd" --check "$lab" --server $server >"$work/out" 2>"$work/err" || die "doc/lab.md, $link: $(cat "$work/err")"
			grep -q ": 4 nodes, 3 links" "$work/out" || die "doc/lab.md, $link, $server: $(cat "$work/out")"
			n=$((n + 1))
		done
	done
done < <(grep 'a: s0, b: s1' "$work/as_shown.yaml" | sed 's/^ *- //'; sed -n 's/^| [^|]* | `\({a: s0, b: s1, .*}\)` |$/\1/p' "$page")
same "files of doc/lab.md" 12 $n
# The schema of such files: the files of the pages and of every test, and what it allows and does not.
fabric
cp "$lab" "$work/many_keys.yaml"
misused '--schema: expected no other option with it' "$app/weftd" --schema --check "$lab"
misused '--schema: expected no other option with it' "$app/weftd" --schema -- -l 0
/usr/bin/python3 "$here/topo_schema.py" "$app/weftd" "$work" "$here"/../../doc/*.yaml "$here"/../vectors/topo/*.yaml \
	"$work"/*.yaml "$here"/*.sh || die "the schema and --check do not agree"
echo "a fabric can be asked before it runs, and its file is as the schema says"
