#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# weft-gen and weft-replay where nothing goes on by itself: packets that are not due in our time, signals,
# full disks and readers that go, progress on a terminal and off it, command lines that make no sense.
. "$(dirname "$0")/lib.sh"

gen() { "$app/weft-gen" --out "$work/t.pcap" "$@"; }
replay() { "$app/weft-replay" --in "$work/t.pcap" --json "$work/r.json" "$@" >"$work/text"; }
r() { json "$work/r.json" "$1"; }

# On its way while the rest is tested: a line of progress after five seconds.
"$app/weft-gen" --flits 400 --frame-flits 1 --rate 0.00007 --out "$work/slow.pcap"
"$app/weft-replay" --in "$work/slow.pcap" --speed 1 --json "$work/slow.json" >"$work/text" 2>"$work/slow.err" &
slow=$!
pids+=($slow)
"$app/weft-replay" --in - --speed 1 --json "$work/again.json" <"$work/slow.pcap" >"$work/text" 2>"$work/again.err" &
again=$!
pids+=($again)
cat "$work/slow.pcap" | "$app/weft-replay" --in - --speed 1 --json "$work/pipe.json" >"$work/text" 2>"$work/pipe.err" &
piped=$!
pids+=($piped)

# times NS...: frames of $work/t.pcap get these times.
times() {
	/usr/bin/python3 - "$work/t.pcap" "$work/new" "$@" <<-'P'
		import struct, sys
		raw, at = open(sys.argv[1], "rb").read(), 24
		out = raw[:24]
		for ns in map(int, sys.argv[3:]):
		    n = struct.unpack_from("<I", raw, at + 8)[0]
		    out += struct.pack("<IIII", ns // 10**9, ns % 10**9, n, n) + raw[at + 16:at + 16 + n]
		    at += 16 + n
		open(sys.argv[2], "wb").write(out)
	P
	mv "$work/new" "$work/t.pcap"
}

# Times of frames that last less than a nanosecond, or no whole number of them, are not rounded one by one.
for rate in 10000 3; do
	gen --flits 502 --frame-flits 5 --rate $rate --errors garbage=0.5
	/usr/bin/python3 - "$work/t.pcap" $rate <<-'P' || die "times at --rate $rate"
		import struct, sys
		raw, at, flits = open(sys.argv[1], "rb").read(), 24, 0
		while at < len(raw):
		    s, ns, n = struct.unpack_from("<III", raw, at)
		    want = 1700000000 * 10**9 + flits * 1000 // int(sys.argv[2])
		    assert s * 10**9 + ns == want, (flits, s, ns, want)
		    flits += (n - 32) // 256 if raw[at + 16:at + 22] == b"\xff" * 6 else 0
		    at += 16 + n
		assert flits == 502, flits
	P
done

# ended_by SIGNAL CONDITION COMMAND...: sent it once that is so, it ends at once, and says why.
ended_by() {
	local signal=$1 condition=$2
	shift 2
	rm -f "$work/out.pcap"
	"$@" >"$work/text" 2>"$work/err" &
	local pid=$!
	pids+=($pid)
	wait_for 20 "$condition" $pid
	kill -"$signal" $pid
	SECONDS=0
	local status=0
	wait $pid || status=$?
	[ $SECONDS -le 3 ] || die "$*: $SECONDS s to end after a signal"
	same "$*: status after a signal" 1 $status
	grep -q '^weft-replay: stopped by a signal: the report ends after [0-9]* packets$' "$work/err" ||
		die "$*: after a signal: $(cat "$work/err")"
	same "$*: stopped" 1 "$(r 'o["stopped"]')"
}
# In clock_nanosleep(), on x86-64 and on ARM, which DPDK's own start knows too; it has computed for half a second.
sleeps() { [ -e "$work/out.pcap" ] && grep -qE '^(230|115) ' "/proc/$1/syscall"; }
works() { [ -e "$work/out.pcap" ] && [ "$(awk '{ print $14 }' "/proc/$1/stat")" -ge 50 ]; }

# A packet of the next century, behind one before the first: the first two are due at once, and a signal
# ends the wait for the third.
gen --flits 3 --frame-flits 1
times 1000000000000 1 4200000000000000000
ended_by TERM sleeps "$app/weft-replay" --in "$work/t.pcap" --speed 0.000001 --json "$work/r.json" --out "$work/out.pcap"
same "packets that were due" "2 2" "$(r 'str(o["packets"]) + " " + str(o["flits"])')"
# Of loops without end, too: whole packets were replayed, and the report says so many.
gen --flits 1000
ended_by INT works "$app/weft-replay" --in "$work/t.pcap" --loop 1000000000 --json "$work/r.json" --out "$work/out.pcap"
same "loops: more than one, nothing lost" "True 0 0" \
	"$(r 'str(o["flits"] > 2000) + " " + str(o["crc"]["bad"]) + " " + str(o["isn"]["lost_flits"])')"
"$app/weft-replay" --in "$work/out.pcap" --json "$work/out.json"
same "what was written when it was stopped" "0 0" "$(json "$work/out.json" 'str(o["truncated"]) + " " + str(o["crc"]["bad"])')"

# Packets without a time are due at once, whatever the speed; what else is in the file is counted.
/usr/bin/python3 - "$work/t.pcap" "$work/new" <<-'P'
	import struct, sys
	raw, at = open(sys.argv[1], "rb").read(), 24
	def block(kind, body):
	    body += bytes(-len(body) % 4)
	    n = struct.pack("<I", len(body) + 12)
	    return struct.pack("<I", kind) + n + body + n
	out = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)) + block(1, struct.pack("<HHI", 1, 0, 65535))
	frames = []
	while at < len(raw):
	    n = struct.unpack_from("<I", raw, at + 8)[0]
	    frames.append(raw[at + 16:at + 16 + n])
	    at += 16 + n
	for f in frames:
	    out += block(3, struct.pack("<I", len(f)) + f)
	# A frame that says the truth of itself and has more behind it than any frame, and one that does not.
	for f in frames[0], b"\0" * 32:
	    out += block(3, struct.pack("<I", 20000) + f.ljust(20000, b"\0"))
	open(sys.argv[2], "wb").write(out)
P
mv "$work/new" "$work/t.pcap"
replay --speed 0.000001
same "packets without a time" "202 1000 2" \
	"$(r 'str(o["packets"]) + " " + str(o["flits"]) + " " + str(sum(v for k, v in o["skipped"].items() if k != "slot_format"))')"
# Raw flits come as whole ones, 1 to 64 of them.
gen --flits 130 --raw --frame-flits 64
/usr/bin/python3 - "$work/t.pcap" <<-'P'
	import struct, sys
	with open(sys.argv[1], "ab") as f:
	    for n in 0, 100, 256 * 65:
	        f.write(struct.pack("<IIII", 0, 0, n, n) + bytes(n))
P
replay
same "raw packets that are no flits" "130 3" "$(r 'str(o["flits"]) + " " + str(o["skipped"]["raw_length"])')"
# Frames of which nothing was good are not written.
gen --flits 200 --frame-flits 1 --errors burst=250:1
replay --out "$work/none.pcap"
same "good flits" 0 "$(r 'o["crc"]["good"]')"
same "what is written of nothing" 24 "$(stat -c %s "$work/none.pcap")"

# Disks that are full, and readers that go.
if [ -w /dev/full ]; then
	status=0
	timeout 20 "$app/weft-gen" --flits 1000000000000 --out /dev/full 2>"$work/err" || status=$?
	same "a full disk: status" 1 $status
	same "a full disk: the line" 'weft-gen: --out /dev/full: could not be written whole: No space left on device' "$(cat "$work/err")"
	gen --flits 1000
	status=0
	replay --out /dev/full 2>"$work/err" || status=$?
	same "a full disk of weft-replay: status, flits" "1 1000" "$status $(r 'o["flits"]')"
	grep -q -e '--out /dev/full: could not be written whole: No space' "$work/err" || die "$(cat "$work/err")"
	for command in "weft-gen --flits 10 --out $work/x.pcap" "weft-replay --in $work/t.pcap"; do
		# shellcheck disable=SC2086
		refuses '--json /dev/full: No space left on device' "$app/"$command --json /dev/full
	done
fi
status=0
timeout 20 "$app/weft-gen" --flits 1000000000000 --out - 2>"$work/err" | head -c 100000 >/dev/null || status=$?
same "a reader that goes" "1 0" "${PIPESTATUS[*]}"

# On a terminal there is a bar after a second, or the packets of a pipe, and in the end nothing is left of it.
/usr/bin/python3 - "$app/weft-replay" "$work/slow.pcap" >"$work/terminal" <<-'P'
	import os, pty, subprocess, sys
	def run(*files):
	    here, there = pty.openpty()
	    p = [subprocess.Popen([sys.argv[1], "--in", f, "--speed", "3", "--json", os.devnull], stdin=stdin,
	                          stderr=there) for f, stdin in files]
	    os.close(there)
	    said = b""
	    try:
	        while piece := os.read(here, 4096):
	            said += piece
	    except OSError:  # the last one closed it
	        pass
	    assert all(q.wait() == 0 for q in p)
	    return said
	cat = subprocess.Popen(["cat", sys.argv[2]], stdout=subprocess.PIPE)
	said = run((sys.argv[2], None), ("-", cat.stdout))
	assert b"\r[####" in said and b" %" in said, said
	assert b"\r" in said and b" packets" in said, said
	assert said.count(b"\r\033[K") == 2, said
P

wait $slow || die "a slow replay: $(cat "$work/slow.err")"
wait $again || die "a slow replay of standard input: $(cat "$work/again.err")"
wait $piped || die "a slow replay of a pipe: $(cat "$work/pipe.err")"
for name in slow again pipe; do
	same "$name: flits" 400 "$(json "$work/$name.json" 'o["flits"]')"
done
same "slow: stopped" 0 "$(json "$work/slow.json" 'o["stopped"]')"
for name in slow again; do
	grep -qE '^[0-9]+ %, [0-9]+ packets$' "$work/$name.err" || die "$name: progress: $(cat "$work/$name.err")"
done
grep -qE '^[0-9]+ packets$' "$work/pipe.err" || die "progress of a pipe: $(cat "$work/pipe.err")"

# Command lines
"$app/weft-gen" --version | grep -q '^weft-gen [0-9]' || die "weft-gen --version"
"$app/weft-replay" --version | grep -q '^weft-replay [0-9]' || die "weft-replay --version"
x=(--flits 1 --out "$work/x")
for speed in 0 -1 nan inf 1x '' 1e7 1e-7; do
	misused '--speed: expected max or a factor of 0.000001 to 1000000' "$app/weft-replay" --in "$work/t.pcap" --speed "$speed"
done
for rate in 0 -1 nan 1x '' 1e7 1e-7; do
	misused '--rate: expected Mflit/s of 0.000001 to 1000000' "$app/weft-gen" "${x[@]}" --rate "$rate"
done
for p in -0.1 1.1 nan x ''; do
	misused '--late-poison: expected a probability of 0 to 1' "$app/weft-gen" "${x[@]}" --late-poison "$p"
done
for errors in '' drop drop= drop=x drop=-1 drop=nan frob=1 burst=3 burst=:1 burst=0:1 burst=251:1 burst=3x:1 burst=3:2 \
	drop=0.1,drop=0.2 ber=0,ber=0 burst=3:0.1,burst=4:0.1 ber=0.1,,=1 , \
	ber=0.1, ,ber=0.1 ber=0.1,,drop=0.1 "$(printf 'drop=0.1,%.0s' {1..40})"; do
	misused '--errors: expected none, or a list of ber=P' "$app/weft-gen" "${x[@]}" --errors "$errors"
done
"$app/weft-gen" "${x[@]}" --errors none
for program in "weft-gen --flits 1 --out $work/x" "weft-replay --in $work/t.pcap"; do
	# shellcheck disable=SC2086
	misused 'expected options only, got "more"; EAL arguments go behind --' "$app/"$program more
	# shellcheck disable=SC2086
	misused '--ide needs --key-file' "$app/"$program --ide skid
	# shellcheck disable=SC2086
	refuses 'nonesuch: No such file' "$app/"$program --ide skid --key-file "$work/nonesuch"
	# shellcheck disable=SC2086
	refuses "$work:0: Is a directory" "$app/"$program --ide skid --key-file "$work"
done
misused '--out FILE is missing' "$app/weft-gen" --flits 1
misused '--flits: expected a number of 1 to' "$app/weft-gen" --flits 0 --out "$work/x"
misused '--refresh need --ide' "$app/weft-gen" "${x[@]}" --refresh 5
misused '--first-seq: numbers of cxl mode begin at 1' "$app/weft-gen" "${x[@]}" --mode cxl --first-seq 0
misused '--first-seq 0 exists in rxl mode only: add --mode rxl' "$app/weft-replay" --in "$work/t.pcap" --first-seq 0
misused '--loop: expected a number of 1 to 1000000000' "$app/weft-replay" --in "$work/t.pcap" --loop 0
misused 'nonesuch: No such file' "$app/weft-replay" --in "$work/t.pcap" --layout "@$work/nonesuch"
misused "layout file $work: Is a directory" "$app/weft-replay" --in "$work/t.pcap" --layout "@$work"
mkfifo "$work/fifo"
misused "layout file $work/fifo: expected a file, got a pipe" timeout 5 "$app/weft-replay" --in "$work/t.pcap" --layout "@$work/fifo"
printf '# what comes first\ndeframe,\n  nonesuch # no such stage\n' >"$work/layout"
misused "layout file $work/layout, line 3, character 3: no stage is called" "$app/weft-replay" --in "$work/t.pcap" --layout "@$work/layout"
echo route >"$work/layout"
misused "layout file $work/layout: expected deframe as the first" "$app/weft-replay" --in "$work/t.pcap" --layout "@$work/layout"
gen --flits 100 --first-seq 0
replay --mode rxl --first-seq 0
same "numbers from 0 on" "100 0" "$(r 'str(o["crc"]["good"]) + " " + str(o["isn"]["gaps"])')"
gen --flits 100 --raw --spid 0x123
replay --spid 0x123
same "raw, with one address" "100 0" "$(r 'str(o["crc"]["good"]) + " " + str(o["isn"]["gaps"])')"
gen --flits 100 --raw --mode cxl
warns 'weft-replay: --isn, --spid: no effect with --mode cxl' \
	"$app/weft-replay" --in "$work/t.pcap" --mode cxl --spid 3 --isn xor
replay --mode cxl
same "raw, of cxl mode" 100 "$(r 'o["crc"]["good"]')"
# The page names every key of the report.
"$app/weft-gen" "${x[@]}" --errors garbage=1 --json "$work/g.json"
for key in $(json "$work/g.json" '" ".join(k for v in (o, o["ide"], o["faults"]) for k in v)'); do
	sed -n '/^## weft-gen/,$p' "$here/../../doc/replay.md" | grep -qF "\`$key\`" || die "doc/replay.md does not name \"$key\""
done
printf 'rxl 101 200 0 1 %064d\n' 1 >"$work/keys"
chmod 600 "$work/keys"
refuses 'no key for this stream: expected a line that begins with "rxl 102 200 0 1"' \
	"$app/weft-gen" "${x[@]}" --ide skid --key-file "$work/keys" --spid 0x102
# Options that do nothing beside others, or with this trace, are named.
warns 'weft-gen: --vc, --session, --isn: no effect with --mode cxl' \
	"$app/weft-gen" "${x[@]}" --mode cxl --vc 1 --session 9 --isn none
warns 'weft-gen: --key-file, --pcrc, --poison: no effect without --ide' \
	"$app/weft-gen" "${x[@]}" --key-file "$work/keys" --pcrc off --poison open
gen --flits 100 --ide skid --key-file "$work/keys"
look=("$app/weft-replay" --in "$work/t.pcap")
warns '--key-file, --pcrc, --poison, --stop: no effect without --ide' \
	"${look[@]}" --key-file "$work/keys" --pcrc on --poison open --stop on
warns '--ide, --key-file: no effect with a --layout without the stage ide_open' \
	"${look[@]}" --ide skid --key-file "$work/keys" --layout deframe,fec_check,link_rx,route
warns 'MACs of IDE in flits that are not decrypted' "${look[@]}"
gen --flits 100
warns '--cxl-form: no effect with --mode rxl' "${look[@]}" --mode rxl --cxl-form pbr
warns '--spid, --dpid: no effect on frames' "${look[@]}" --spid 1 --dpid 2
echo "replays end as they are told to, and say what they did"
