#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# weft-load against a daemon in both modes: every operation and pattern, clients beside each other, what another
# program writes into a region that is being verified, a daemon that dies, a signal; over a file in place of a fabric
# (test/lib/weft_stub.c) what fails on the way; and what makes no sense.
. "$(dirname "$0")/lib.sh"
export XDG_RUNTIME_DIR=$work
unset WEFT_SOCKET
cd "$work"
load() { timeout 60 "$app/weft-load" --node h0 "$@"; }
ctl() { timeout 20 "$app/weftctl" --node h0 mem "$@"; }

# run WHAT OPTION...: it must end well; its JSON is in out
run() {
	local what=$1
	shift
	load "$@" --json - >out 2>run.err || die "$what ends with $?: $(cat run.err)"
	[ ! -s run.err ] || die "$what says $(cat run.err)"
}

# holds WHAT EXPRESSION: of the JSON in out
holds() { json out "$2" | grep -qx True || die "$1: not $2: $(cat out)"; }

serve() { # MODE [CXL.IO]: a daemon that has all of a fabric, with that many packets of CXL.io
	cat >"$topology" <<-Y
	fabric: load
	mode: $1
	defaults: {cxl_io: ${2:-0}}
	segments:
	  - {target: g0}
	  - {interleave: {ways: 2, granularity: 1K, targets: [g1, g2]}, size: 2M}
	nodes:
	  - {name: h0, kind: host, pid: 0x101}
	  - {name: s0, kind: switch, pid: 0x010}
	  - {name: g0, kind: gfd, pid: 0x200, memory: 2M}
	  - {name: g1, kind: gfd, pid: 0x201, memory: 1M}
	  - {name: g2, kind: gfd, pid: 0x202, memory: 1M}
	links:
	  - {a: h0, b: s0, driver: ring}
	  - {a: s0, b: g0, driver: ring}
	  - {a: s0, b: g1, driver: ring}
	  - {a: s0, b: g2, driver: ring}
	Y
	serve_all
}

# filled OFFSET: weft-load has written there, over 0x5a
filled() { ! ctl cmp g0 "$1" <(printf ZZZZZZZZ) >/dev/null; }

# other SIZE OPTION...: what is written beside a run is found, and where. Byte 5 of a line is of its address. A run may
# be over before the other has written once.
other() {
	local size=$1 got=0 seconds writer
	shift
	rm -f enough
	while [ ! -e enough ]; do ctl write g0 0x1005 --hex "ff 11 22"; done &
	writer=$!
	for seconds in 0.25 1 4 16; do
		load --region g0:0+64K --verify --size "$size" --seconds $seconds "$@" --json - >out 2>other.err || got=$?
		[ $got -eq 0 ] || break
	done
	touch enough
	wait $writer
	same "status where another wrote" 1 $got
	holds "where another wrote" 'o["mismatches"] >= 1 and o["ended"] == "done" and o["verified"] > 1000'
	same "mismatches told" "weft-load: mismatch in g0:0+64K at 0x1005: expected 00 00 00 01 00 00 00 00, got ff 11 22 01 \
00 00 00 00: nothing that this run wrote" "$(cat other.err)"
	same "the same in JSON" "[(4101, '0000000100000000', 'ff11220100000000')]" \
		"$(json out '[(m["offset"], m["expected"], m["got"]) for m in o["first_mismatches"]]')"
}

for mode in rxl cxl; do
	serve $mode 64
	striped=$(ctl list --json | json /dev/stdin '[r["name"] for r in o["regions"] if r["granule"]][0]')
	for op in read write mix; do
		run "$mode: $op" --region g0 --op $op --verify --ops 3000 --seed 7
		# All that is read while it is measured, and all lines in the end.
		holds "$mode: $op" '(o["kind"], o["node"], o["region"], o["seed"], o["op"]) == ("mem", "h0", "g0", 7, "'$op'") and
			o["ops_per_s"] > 100 and o["mismatches"] == o["lost"] == o["failed"] == 0 and
			o["latency_ns"]["p50"] <= o["latency_ns"]["p99"] <= o["latency_ns"]["p99_9"] <= o["latency_ns"]["max"] and
			o["verified"] == o["read"]["ops"] + 2 * 2 ** 20 // 64 and o["read_back"]'
	done
	holds "$mode: mix" '0.2 < o["write"]["ops"] / o["ops"] < 0.8 and o["read"]["ops"] + o["write"]["ops"] == o["ops"]'
	for pattern in sequential random zipf zipf:1.3; do
		run "$mode: $pattern" --region "$striped" --op mix --mix 30 --size 256 --pattern $pattern --clients 3 --verify --ops 4000
		holds "$mode: $pattern" 'o["mismatches"] == 0 and [c["ops"] for c in o["per_client"]] == [1334, 1333, 1333] and
			o["ops"] == 4000 and o["verified"] == o["read"]["ops"] * 4 + 3 * (2 ** 21 // 256 // 3 * 4)'
	done
	run "$mode: unlike sizes" --region "g0:64K+1M" --op mix --size 999 --ops 500 --depth 100 --warmup 0.05
	holds "$mode: unlike sizes" 'o["verified"] == 0 and o["failed"] == 0 and abs(o["ops"] / o["ops_per_s"] - o["seconds"]) < 0.001'
	run "$mode: few blocks" --region "g0:1M+512" --op mix --verify --depth 64 --clients 2 --ops 3000
	holds "$mode: few blocks" 'o["ops"] == 3000 and o["verified"] == o["read"]["ops"] + 8'
	# By UIO, also where targets take turns and where requests begin within lines; and both kinds beside each other.
	for op in read write mix; do
		run "$mode: UIO, $op" --kind uio --region "$striped" --op $op --size 4K --clients 2 --verify --ops 1000
		holds "$mode: UIO, $op" 'o["kind"] == "uio" and o["ops"] == 1000 and o["read_back"] and
			o["mismatches"] == o["lost"] == o["failed"] == 0 and o["verified"] == 64 * o["read"]["ops"] + 2 ** 21 // 64'
	done
	ctl bench "$striped" --uio --size 4K --depth 4 --seconds 0.1 --json >out || die "$mode: bench by UIO"
	holds "$mode: bench by UIO" 'o["uio"] and o["ops"] > 0'
	misused '--size: expected a multiple of 4 with --uio, got "99"' "$app/weftctl" --node h0 mem bench g0 --uio --size 99
	for ways in "" --ways; do # --ways maps it
		# shellcheck disable=SC2086
		misused '"g0:0x1003+4K": it begins 3 bytes behind a multiple of 4' \
			"$app/weftctl" --node h0 mem bench g0:0x1003+4K --uio $ways --seconds 0.1
	done
	ctl bench g0:0x1003+4K --seconds 0.1 >out || die "$mode: an odd place by CXL.mem"
	load --region g0:0+512K --op mix --verify --ops 2000 --json - >beside &
	pid=$!
	run "$mode: UIO of few bytes" --kind uio --region g0:0x80004+512 --op mix --size 12 --ops 2000
	holds "$mode: UIO of few bytes" 'o["ops"] == 2000 and o["failed"] == 0'
	wait $pid || die "$mode: reads and writes beside UIO: $(cat beside)"
	# Blocks with signatures: all are right but those that were spoiled, and these are found.
	for op in read write mix; do
		run "$mode: blocks, $op" --kind transfer --region "$striped" --op $op --ops 1000
		holds "$mode: blocks, $op" '(o["kind"], o["block"]) == ("transfer", "crc32c:512") and o["size"] == 4096 and
			o["verified"] == 8 * (o["read"]["ops"] + 2 ** 21 // 4160) and o["read_back"] and
			o["mismatches"] == o["lost"] == o["injected"] == o["found"] == 0'
		holds "$mode: part of a client, signatures included" 'o["per_client"][0]["size"] == 2 ** 21 // 4160 * 4160'
	done
	run "$mode: spoiled blocks" --kind transfer --region g0 --op mix --ops 3000 --clients 2 --size 1K --inject 20 \
		--block dif:512,guard=crc,bg=ffff,app=1,ref=0,remap --pattern zipf
	holds "$mode: spoiled blocks" 'abs(o["injected"] - o["write"]["ops"] / 20) < 2'
	holds "$mode: parts of clients" '[c["offset"] for c in o["per_client"]] == [0, o["per_client"][0]["size"]]'
	holds "$mode: spoiled blocks" 'o["found"] > 10 and o["mismatches"] == 0 and o["verified"] > 2000 and o["read_back"]'
	other 64

	# When a daemon dies: one line, and what was done
	ctl fill g0 0x1fffc0 64 0x5a # before it begins: it would find a line that it did not write
	"$app/weft-load" --node h0 --region g0 --op mix --verify --clients 2 --seconds 60 >out 2>dead.err &
	pid=$!
	pids+=("$pid")
	wait_for 10 filled 0x1fffc0
	kill -KILL "$daemon"
	wait "$daemon" 2>/dev/null || true
	got=0
	wait $pid || got=$?
	same "$mode: status when the daemon dies" 1 $got
	same "$mode: lines when the daemon dies" 1 "$(wc -l <dead.err)"
	grep -q 'g0: .*h0.sock: the daemon left' dead.err || die "$mode: when the daemon dies: $(cat dead.err)"
	grep -qE '^  both    [0-9]+ operations' out || die "$mode: no summary when the daemon dies: $(cat out)"
	refuses 'h0.sock' "$app/weft-load" --node h0 --region g0
done

# Pages of h1 move while it reads and writes them, and misses nothing.
for mode in rxl cxl; do
	cat >"$topology" <<-Y
	fabric: moves
	mode: $mode
	nodes:
	  - {name: h0, kind: host, pid: 0x101, translations: [{host: h1, va: 1M, pa: 0x10000100000, size: 64K, move_to: 0x11000000000}]}
	  - {name: h1, kind: host, pid: 0x102, ats: {agent: h0}}
	  - {name: s0, kind: switch, pid: 0x010}
	  - {name: g0, kind: gfd, pid: 0x200, memory: 2M}
	  - {name: g1, kind: gfd, pid: 0x201, memory: 2M}
	links: [{a: h0, b: s0}, {a: h1, b: s0}, {a: s0, b: g0}, {a: s0, b: g1}]
	workloads: [{on: h1, kind: mem, lines: 1024, requests: 0, outstanding: 16}]
	Y
	serve_all "$app/weftd" --json "$work/d.json"
	run "$mode: moves" --kind move --region g0:1M+64K --depth 8 --ops 200
	holds "$mode: moves" '(o["kind"], o["size"], o["ops"], o["lost"], o["failed"]) == ("move", 4096, 200, 0, 0) and
		o["write"]["ops"] == 200 and o["latency_ns"]["p50"] > 1000'
	run "$mode: moves by the other place" --kind move --region g1:0+64K --clients 2 --pattern sequential --ops 40
	refuses 'move g1:64K+64K at 0x0: no page that can move has a place there (ENXIO)' "$app/weft-load" --node h0 \
		--region g1:64K+64K --kind move --pattern sequential
	refuses 'move g0:1M+1K at 0x0: the page is not all in the region (EINVAL)' "$app/weft-load" --node h0 \
		--region g0:1M+1K --kind move --size 64 --pattern sequential
	kill -TERM "$daemon"
	wait "$daemon" || die "$mode: the daemon of moves ended with $?"
	same "$mode: pages that moved" True "$(json d.json '[n["ats"]["agent"]["asked"] for n in o["nodes"] if n["name"] == "h0"] == [240]')"
	same "$mode: what their host found" True "$(json d.json 'all(n["traffic"]["verified"] > 1000 and
		n["traffic"]["mismatches"] == n["traffic"]["lost"] == 0 for n in o["nodes"] if n["name"] == "h1")')"
done

serve rxl
refuses 'host h0 is no agent' "$app/weft-load" --node h0 --region g0 --kind move
refuses 'host h0 has no UIO: its topology wants defaults: {cxl_io: 64}' "$app/weft-load" --node h0 --region g0 --kind uio
# A byte of a block that another has written is found, and where its block begins.
for seconds in 0.25 1 4 16; do
	ctl fill g0 0x2000 64 0x5a
	got=0
	load --kind transfer --region g0:0+64K --op read --seconds $seconds --json - >out 2>other.err &
	pid=$!
	wait_for 10 filled 0x2000
	ctl write g0 0x2001 --hex "ff 11 22"
	wait $pid || got=$?
	[ $got -eq 0 ] || break
done
same "status where a block was changed" 1 $got
holds "where a block was changed" 'o["mismatches"] >= 1 and o["ended"] == "done"'
grep -qE '^weft-load: bad signature in g0:0\+64K at 0x1e5c: expected 0x[0-9a-f]+, got 0x[0-9a-f]+: guard$' other.err ||
	die "where a block was changed: $(cat other.err)"
same "signatures in JSON" "$(sed -nE '1s/.*expected 0x([0-9a-f]+), got 0x([0-9a-f]+): .*/\1 \2/p' other.err)" \
	"$(json out '"%x %x" % tuple(int(o["first_mismatches"][0][k], 16) for k in ("expected", "got"))')"
other 256 --pattern sequential
other 4K --rate 1 # found in the end

# Open loop: what was due has begun, or is counted. Its schedule goes on however late it is.
run "a rate" --region g0 --rate 20000 --clients 2 --seconds 0.25 --histogram hist
holds "a rate" 'abs(o["ops"] + o["not_begun"] - 5000) <= 4 and o["rate"] == 20000'
same "values of the histogram" "$(json out 'o["ops"]')" "$(sed -n 's/.*Total count    = *\([0-9]*\)]/\1/p' hist)"
/usr/bin/python3 -S - hist <<'P' || die "the histogram has another form: $(head -n 8 hist)"
import sys
lines = open(sys.argv[1]).read().splitlines()
assert lines[0].split() == ["Value", "Percentile", "TotalCount", "1/(1-Percentile)"] and lines[1] == ""
rows = [[float(v) for v in line.split()] for line in lines[2:] if line[0] != "#"]
assert len(rows) > 20 and [len(r) for r in rows] == [4] * (len(rows) - 1) + [3]
assert rows[0][1] == 0 and rows[-1][1] == 1 and len(lines) == 2 + len(rows) + 3
for a, b in zip(rows, rows[1:]):
    assert a[0] <= b[0] and a[1] < b[1] and a[2] <= b[2], (a, b)
P
# A daemon that stands still: much is due while nobody answers. A run may be over before it does.
stood_still() {
	json out 'o["latency_ns"]["max"] > 200000000 and o["latency_ns"]["p99"] > 100000000' | grep -qx True
}
for seconds in 0.8 3 12; do
	ctl fill g0 0 64 0x5a
	load --region g0 --op write --pattern sequential --rate 5000 --seconds $seconds --depth 4096 --json - >out 2>run.err &
	pid=$!
	wait_for 10 filled 0
	kill -STOP "$daemon"
	sleep 0.3
	kill -CONT "$daemon"
	wait $pid || die "a daemon that stood still: $(cat run.err)"
	! stood_still || break
done
stood_still || die "a daemon that stood still shows in no latency: $(cat out)"

# Text, and a signal
load --region g0 --op mix --verify --ops 100 >out
grep -qE '^mem mix of g0 by h0: 64 bytes, random, 1 client of depth 32, seed [0-9]+, ' out || die "text: $(cat out)"
grep -qE '^  verify  [0-9]+ lines held what they must, 0 did not$' out || die "text: $(cat out)"
for signal in INT TERM; do
	ctl fill g0 0 64 0x5a
	"$app/weft-load" --socket weft/h0.sock --region g0 --op mix --verify --seconds 60 --json - >out 2>run.err &
	pid=$!
	pids+=("$pid")
	wait_for 10 filled 0
	kill -$signal $pid
	got=0
	wait $pid || got=$?
	same "status after SIG$signal" 130 $got
	holds "SIG$signal" 'o["ended"] == "signal" and o["mismatches"] == 0 and not o["read_back"]'
done
kill -TERM "$daemon"
wait "$daemon" || die "the daemon ended with $?"

# What makes no sense
l="$app/weft-load"
misused '--region: expected a name of weftctl mem list' "$l"
misused 'expected options only, got "g0"' "$l" --region g0 g0
misused 'expected --node or --socket, got both' "$l" --region g0 --node h0 --socket s
misused '--block and --inject: expected --kind transfer, got --kind mem' "$l" --region g0 --inject 2
misused '--verify: expected --kind mem, got --kind transfer' "$l" --region g0 --kind transfer --verify
misused '--size: expected whole blocks of 512 bytes for --block crc64:512, got 1000' "$l" --region g0 --kind transfer \
	--block crc64:512 --size 1000
misused '--block sha1:512: expected none, crc32' "$l" --region g0 --kind transfer --block sha1:512
misused '--block: expected a block and its signature' "$l" --region g0 --kind transfer --block none
misused '--op and --mix: expected another --kind than move' "$l" --kind move --region g0 --op read
misused '--verify: expected --kind mem or uio, got --kind move' "$l" --kind move --region g0 --verify
misused '--size: expected a multiple of 4 bytes with --kind uio, got 6' "$l" --region g0 --kind uio --size 6
misused '--kind: expected one of mem, uio, transfer, move, got "x"' "$l" --kind x
misused '--op: expected one of read, write, mix, got "trim"' "$l" --op trim
misused '--mix: expected --op mix, got --op write' "$l" --region g0 --op write --mix 5
misused '--mix: expected a number of 0 to 100' "$l" --op mix --mix 101
for size in 0 2M x ""; do
	misused '--size: expected bytes, 1 to 1M' "$l" --size "$size"
done
misused '--size: expected whole lines of 64 bytes with --verify, got 100' "$l" --region g0 --verify --size 100
misused 'expected operations under way of at most 64M' "$l" --region g0 --size 1M --depth 64
misused '--pattern: expected one of random, sequential, zipf, got "linear"' "$l" --pattern linear
for theta in zipf:0 zipf: zipf:x random:1; do
	misused 'zipf:THETA (0.01 to 8)' "$l" --pattern $theta
done
misused '--clients: expected a number of 1 to 256' "$l" --clients 257
misused '--depth: expected a number of 1 to 4096' "$l" --depth 0
misused '--rate: expected a number' "$l" --rate 0
misused '--seconds: expected seconds' "$l" --seconds 0
misused '--ops: expected a number' "$l" --ops 0
misused 'expected one of them on standard output' "$l" --region g0 --json - --histogram -
misused '--json and --histogram: expected two files' "$l" --region g0 --json x --histogram ./x
refuses '--histogram nowhere/x: No such file' "$l" --region g0 --histogram nowhere/x

# Over a file
l=$WEFT_BUILD/test/smoke/weft_load_stub
export WEFT_STUB=$work/mem
truncate -s 1M mem
misused 'g9: no such region' "$l" --region g9
misused 'not within the region' "$l" --region g0:1M+64
misused '--region g0:32+1K: expected it to begin at a multiple of 64 bytes' "$l" --region g0:32+1K --verify
misused '--region g0:2+1K: expected it to begin at a multiple of 4 bytes with --kind uio' "$l" --region g0:2+1K --kind uio
misused 'expected 256 bytes or more, an operation for each client, got 64' "$l" --region g0:0+64 --size 256
refuses 'r0: no right to it' "$l" --region r0 --op write
"$l" --region r0 --ops 100 >out || die "memory that may only be read cannot be read"
truncate -s 5G big
WEFT_STUB=$work/big misused 'expected up to 4G with --verify, got 5368709120 bytes' "$l" --region g0 --verify
rm big

# A rate that nothing takes: the run ends in time, and what was due and did not begin is counted; with --ops no more
# than are left of them.
timeout 60 "$l" --region g0 --rate 1000000000 --seconds 0.05 --json - >out || die "a rate that nothing takes: status $?"
holds "a rate that nothing takes" 'o["seconds"] < 10 and o["not_begun"] > 0 and o["ops"] + o["not_begun"] == 50000000'
timeout 60 "$l" --region g0 --rate 1000000000 --seconds 0.05 --ops 20000000 --json - >out || die "the same, with --ops: status $?"
holds "the same, with --ops" 'o["ops"] + o["not_begun"] == 20000000'

# The same seed makes the same choices, and without --verify writes the same
for seed in 5 5 6; do
	mv -f copy before 2>run.err || true
	truncate -s 0 mem
	truncate -s 1M mem
	"$l" --region g0 --op write --ops 2000 --depth 1 --pattern zipf --seed $seed >out
	cp mem copy
	[ $seed != 5 ] || [ ! -e before ] || cmp before copy || die "one seed makes two runs"
done
cmp -s before copy && die "two seeds make one run"

fails() { # TEXT EXPRESSION OPTION...: status 1, a line with TEXT, and JSON of which EXPRESSION holds
	local want=$1 what=$2 got=0
	shift 2
	timeout 20 "$l" "$@" --json - >out 2>run.err || got=$?
	same "status of $*" 1 $got
	same "lines of $*" 1 "$(wc -l <run.err)"
	grep -qF -- "$want" run.err || die "$* does not say $want but: $(cat run.err)"
	holds "$*" "$what"
}
WEFT_STUB_BAD=0x140 fails 'read g0:0+1K at 0x140: memory is poisoned (EIO)' \
	'o["failed"] > 1 and o["ops"] + o["failed"] == 1000 and o["ended"] == "done"' --region g0:0+1K --ops 1000
# Poison comes into the memory behind the fill, one operation for so little.
WEFT_STUB_BAD=0x140 WEFT_STUB_AFTER=1 fails 'read g0:0+1K at 0x140: memory is poisoned (EIO)' \
	'o["failed"] > 1 and o["mismatches"] == 0 and o["verified"] == o["ops"] + 15' --region g0:0+1K --verify --ops 1000
for rc in "6 no memory is there" "13 the fabric does not let" "116 the memory is another"; do
	WEFT_STUB_RC=${rc%% *} WEFT_STUB_BAD=0x140 WEFT_STUB_AFTER=90 fails "write g0:0+1K at 0x140: ${rc#* }" \
		'o["ended"] == "error" and "at 0x140" in o["error"] and o["ops"] > 50' --region g0:0+1K --op write
done
WEFT_STUB_LIFE=500 fails 'g0: the daemon left' '490 < o["ops"] <= 500 and o["ended"] == "error"' --region g0
# Lost operations, not those of the fill: the run goes on, and what they wrote or not is right. Some of the five may be
# of the last read.
got=0
WEFT_STUB_RC=110 WEFT_STUB_BAD=0x140 WEFT_STUB_AFTER=200 WEFT_STUB_TIMES=5 "$l" --region g0:0+1K --op mix --verify \
	--ops 3000 --json - >out 2>run.err || got=$?
same "status with lost operations" 1 $got
holds "lost operations" 'o["lost"] == 5 and 2995 <= o["ops"] < 3000 and o["mismatches"] == 0 and o["read_back"]'
WEFT_STUB_RC=110 WEFT_STUB_BAD=0x140 WEFT_STUB_TIMES=3 "$l" --region g0:0+1K --verify --ops 100 --json - >out ||
	die "a fill does not try again"
holds "a fill that tries again" 'o["lost"] == 0 and o["verified"] == 116'
for command in "" "--json -" "--histogram -"; do
	refuses 'No space left on device' bash -c "exec $l --region g0 --ops 10 $command >/dev/full"
done
# A file that could not be written to its end is not left.
for option in --json --histogram; do
	said=$(bash -c "trap '' XFSZ; ulimit -f 0; exec $l --region g0 --ops 10 $option part" 2>&1 >/dev/null) &&
		die "$option: a file that could not be written is no error"
	[[ $said == *"$option part: File too large"* ]] || die "$option: got \"$said\""
	[ ! -e part ] || die "$option: a part of a file is left"
done
echo "weft-load loads and checks a fabric"
