#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# weftctl over a file in place of a fabric (test/lib/weft_stub.c): every verb, what it says, its exit status, and that
# output files are whole or not there.
. "$(dirname "$0")/lib.sh"

ctl=$WEFT_BUILD/test/smoke/weftctl_stub
cd "$work"
export WEFT_STUB=$work/mem
py() { /usr/bin/python3 -S -c "import sys; $1" "${@:2}"; }
mem() { timeout 60 "$ctl" mem "$@"; }
# Random: no two pieces are the same
py 'import random; sys.stdout.buffer.write(random.Random(7).randbytes(3000000))' >data
fresh() { cp data mem; }
fresh

# list
cat >want <<-'T'
	REGION   TARGET           SIZE  GRANULE RIGHTS GENERATION
	g0       d0            3000000        - rw     fedcba9876543210
	r0       d1                 4K      256 r      -
T
mem list >out
cmp out want || die "mem list says $(cat out)"
mem list --json >out
same "mem list --json" "{'node': 'h0', 'regions': [{'name': 'g0', 'target': 'd0', 'size': 3000000, 'granule': 0,
'rights': 'rw', 'generation': 'fedcba9876543210'}, {'name': 'r0', 'target': 'd1', 'size': 4096, 'granule': 256,
'rights': 'r', 'generation': None}]}" "$(json out o | sed "s/0, 'rights'/0,\n'rights'/; s/256, 'rights'/256,\n'rights'/")"
for host in "--node h0" "--socket h0.sock" "--socket ./h0.sock"; do
	# shellcheck disable=SC2086
	"$ctl" $host mem list >out || die "$host is not found"
done

# read: the form of hexdump, and bytes
dd if=data bs=1 skip=5000 count=777 status=none >part
mem read g0 5000 777 >out
if command -v hexdump >/dev/null; then
	hexdump -C -s 5000 -n 777 data >want
	cmp out want || die "mem read does not show what hexdump does"
	py 'import random; r = random.Random(3)
for n in range(400): sys.stdout.buffer.write(bytes([r.choice(b"\0A")]) * r.choice([1, 8, 16, 32, 64]))' >mem
	size=$(stat -c %s mem)
	hexdump -C mem >want
	mem read g0 0 "$size" >out
	cmp out want || die "mem read does not show runs as hexdump does"
	fresh
else
	echo "note: hexdump (package bsdextrautils) is not there, so it was not asked"
fi
mem read g0 5000 777 --out out
cmp out part || die "mem read --out has other bytes"
mem read g0 5000 777 --out - >out
cmp out part || die "mem read --out - has other bytes"
mem read g0:0x1000+4K 904 777 --out out
cmp out part || die "mem read of a part of a region has other bytes"
mem read g0 5000 777 --json >out
same "mem read --json" "h0 g0 5000 777 $(od -An -v -tx1 part | tr -d ' \n')" \
	"$(json out '" ".join(str(o[k]) for k in ("node", "region", "offset", "size", "data"))')"
same "mem read of nothing" "" "$(mem read g0 3000000 0)"

# dump: modes, links and FIFOs
umask 027
mem dump g0 new
same "mode of a new file" 640 "$(stat -c %a new)"
umask 022
cmp new data || die "mem dump has other bytes"
chmod 604 new
mem dump r0 new
cmp new <(head -c 4096 data) || die "mem dump does not replace a file"
same "mode of a file that was there" 604 "$(stat -c %a new)"
mem dump g0 - >out
cmp out data || die "mem dump to standard output has other bytes"
mkfifo pipe
exec 4<>pipe
cat pipe >out 4>&- &
mem dump g0 pipe
exec 4>&-
wait $!
cmp out data || die "mem dump to a FIFO has other bytes"
[ -p pipe ] || die "mem dump replaced a FIFO"
echo old >there
ln -s there link
if [ "$(id -u)" -eq 0 ]; then
	refuses 'mem dump link: a symbolic link, which root does not follow' "$ctl" mem dump g0 link
	same "what a link leads to" old "$(cat there)"
else
	mem dump g0 link
	cmp there data || die "mem dump did not follow a link"
fi
[ -L link ] || die "mem dump replaced a link"

# write, load, fill
expect() { # WHAT PYTHON: what the memory must be, of data d
	py 'd = bytearray(open("data", "rb").read()); exec(sys.argv[1]); sys.stdout.buffer.write(d)' "$2" >want
	cmp mem want || die "$1: the memory is not what it must be"
	fresh
}
mem write g0 100 --hex "00ff 1234
Ab"
expect "write --hex" 'd[100:105] = b"\0\xff\x12\x34\xab"'
mem write g0 0x10 --hex ""
expect "write nothing" ''
head -c 300000 data >part
mem write g0 12345 --file part
expect "write --file" 'd[12345:312345] = d[:300000]'
mem write g0 12345 <part
expect "write of a file at standard input" 'd[12345:312345] = d[:300000]'
dd if=part bs=777 status=none | mem write g0 1K --file -
expect "write of a pipe" 'd[1024:301024] = d[:300000]'
dd if=part bs=777 status=none | mem write g0 2K --file /dev/stdin
expect "write of a pipe by its name" 'd[2048:302048] = d[:300000]'
{
	dd bs=1 count=1000 of=/dev/null status=none
	mem write g0 0
} <part
expect "write of a file from where it stands" 'd[:299000] = d[1000:300000]'
mem write g0:1K+64K 512 --file <(head -c 1000 part)
expect "write to a part of a region" 'd[1536:2536] = d[:1000]'
# A file of /proc has no size, and bytes.
mem write g0 100 --file /proc/version
expect "write of a file of /proc" 'v = open("/proc/version", "rb").read(); d[100:100 + len(v)] = v'
mem load g0 /proc/version
mem cmp g0 0 /proc/version || die "a file of /proc that is equal differs"
expect "load of a file of /proc" 'v = open("/proc/version", "rb").read(); d[:len(v)] = v'
# One of /sys has a size, and ends before it.
short=/sys/devices/system/cpu/online
if [ -s $short ] && [ "$(wc -c <$short)" -lt "$(stat -c %s $short)" ]; then
	misused "mem load $short: expected the $(stat -c %s $short) bytes of its size, got its end after $(cat $short | wc -c); those were written" \
		"$ctl" mem load g0 $short
	misused 'those are equal' "$ctl" mem cmp g0 0 $short
	fresh
else
	echo "note: no file here ends before its size, so none was read"
fi
tac data >other
head -c 3000000 other >full
mem load g0 full
cmp mem full || die "mem load wrote other bytes"
fresh
mem load g0 - < <(tail -c +1001 part)
expect "load of a pipe" 'd[:299000] = d[1000:300000]'
mem fill g0 70000 0x30000 0xA5
expect "fill" 'd[70000:70000 + 0x30000] = b"\xa5" * 0x30000'
mem fill g0 2999999 1 7
expect "fill of the last byte" 'd[2999999] = 7'

# cmp
mem cmp g0 0 data || die "what is equal differs"
mem cmp g0:0x1000+777 0 <(tail -c +4097 data | head -c 777) || die "a part that is equal differs"
mem cmp g0 0 - < <(cat data) || die "a pipe that is equal differs"
tail -c +5001 data | mem cmp g0 5000 - || die "what is equal from an offset on differs"
differs() { # TEXT COMMAND...: status 1, and that line on stdout or stderr
	local want=$1 got=0
	shift
	mem cmp "$@" >out 2>&1 || got=$?
	same "status of mem cmp $*" 1 $got
	same "mem cmp $*" "$want" "$(cat out)"
}
py 'd = bytearray(open("data", "rb").read()); d[200000] ^= 1; d[2000000] ^= 1; sys.stdout.buffer.write(d)' >other
byte() { od -An -tx1 -j "$2" -N 1 "$1" | tr -d ' '; }
differs "g0 other differ: byte 200001 (0x30d40): 0x$(byte data 200000) there, 0x$(byte other 200000) in other" g0 0 other
tail -c +100001 other >tail
differs "g0 tail differ: byte 100001 (0x30d40): 0x$(byte data 200000) there, 0x$(byte other 200000) in tail" g0 100000 tail
mem cmp g0 0 part || die "a file that is shorter and equal differs"
mem cmp g0 0 - < <(cat part) || die "a pipe that is shorter and equal differs"
differs "weftctl_stub: EOF on g0:0+300000 after byte 300000" g0:0+300000 0 data
differs "weftctl_stub: EOF on /dev/null which is empty" g0 0 /dev/null
: >nothing
for file in /dev/null nothing; do
	differs "weftctl_stub: EOF on $file which is empty" r0 4096 $file
done
mem cmp g0 0 other --json >out && die "a difference is none in JSON"
same "mem cmp --json" "False 200001 200000 True" \
	"$(json out '"%s %d %d %s" % (o["equal"], o["byte"], o["offset"], o["region_byte"] ^ o["file_byte"] == 1)')"
mem cmp g0:0+300000 0 data --json >out && die "an end is none in JSON"
same "mem cmp --json at an end" "False 300000 g0:0+300000" "$(json out '"%s %d %s" % (o["equal"], o["byte"], o["eof"])')"

# the ways in; this library has no maps
# On a busy machine a way may have no turn in its time.
ways() {
	mem bench r0 --ways --seconds 0.5 --json >out &&
		[ "$(json out 'all(r["ns"] > 0 for r in o["ways"][:1] + o["ways"][2:6])')" = True ]
}
wait_for 60 ways
same "ways" "pipe ping-pong, one CPU|pipe ping-pong, two CPUs|TCP ping-pong of 64 B|read of 64 B|read of 4 KiB|read of 64 B, 32 at a time|map: a page that is absent" \
	"$(json out '"|".join(r["what"] for r in o["ways"])')"
same "a way that is not there" "this one has no maps" "$(json out 'o["ways"][-1]["not_measured"]')"
same "the ratio" True "$(json out 'abs(o["ways"][3]["ratio"] - o["ways"][3]["ns"] / o["ways"][2]["ns"]) < 1e-6')"
same "limits" "[(3, 0.5, True), (5, 0.2, True)]" "$(json out '[(i, r["limit"], r["met"] == (r["ratio"] <= r["limit"]))
	for i, r in enumerate(o["ways"]) if "limit" in r]')"
mem bench r0 --ways --seconds 0.5 >out
grep -qE '^read of 64 B +[0-9.]+ us +[0-9.]+ of TCP ping-pong of 64 B, at most 0.50: (not )?met$' out || die "ways: $(cat out)"

# bench
mem bench r0 --seconds 0.1 --json >out
same "mem bench --json" "h0 r0 read 64 32" "$(json out '" ".join(str(o[k]) for k in ("node", "region", "op", "size", "depth"))')"
json out 'o["ops"] > 0 and abs(o["ops_per_s"] * o["seconds"] - o["ops"]) < 1 and
	o["latency_ns"]["p50"] <= o["latency_ns"]["p99"] <= o["latency_ns"]["p99_9"] <= o["latency_ns"]["max"]' | grep -q True ||
	die "mem bench --json: $(cat out)"
mem bench g0 --seconds 0.05 --size 4K --depth 1 | grep -q 'ops/s' || die "mem bench says no rate"
cmp mem data || die "mem bench writes without being asked"
mem bench g0 --op write --force --seconds 0.05 --size 256 --depth 100 >out
cmp -s mem data && die "mem bench --op write writes nothing"
fresh

# What fails on the way: status 1, a line with the place; no file is left, and the old one is as it was
poison() { WEFT_STUB_BAD=0x30d40 refuses "$@"; }
echo old >kept
poison 'mem dump g0 at 0x30d40: memory is poisoned (EIO)' "$ctl" mem dump g0 kept
same "a file after a dump that failed" old "$(cat kept)"
poison 'mem read g0:128K+128K at 0x10d40: memory is poisoned' "$ctl" mem read g0:128K+128K 0 128K --out gone
[ "$(echo kept.* gone*)" = "kept.* gone*" ] || die "files are left: $(echo kept.* gone*)"
poison 'mem fill g0 at 0x30d40: ' "$ctl" mem fill g0 0 1M 0
poison 'mem load g0 at 0x30d40: ' "$ctl" mem load g0 full
poison 'mem bench g0 at 0x30d40: ' "$ctl" mem bench g0 --size 1M --seconds 30
fresh
WEFT_STUB_BAD=0x30d40 refuses_with 2 'mem cmp g0 at 0x30d40: ' "$ctl" mem cmp g0 0 data
WEFT_STUB_BAD=0x49440 mem cmp g0:0+300000 0 part || die "what is behind a part of a region matters"
WEFT_STUB_BAD=0x49440 mem cmp g0 0 part || die "what is behind the end of a file matters"
for rc in "6 no memory is there" "13 the fabric does not let" "110 the way to the memory was lost" "116 the memory is another"; do
	WEFT_STUB_RC=${rc%% *} WEFT_STUB_BAD=0 refuses "mem read g0 at 0x0: ${rc#* }" "$ctl" mem read g0 0 64
done
WEFT_STUB_LIFE=3 refuses 'mem dump g0: the daemon left' "$ctl" mem dump g0 kept
same "a file after a daemon that died" old "$(cat kept)"
WEFT_STUB_LIFE=100 refuses 'mem bench g0: the daemon left' "$ctl" mem bench g0 --seconds 30
WEFT_STUB='' refuses 'no daemon serves a host' "$ctl" mem list
refuses 'h7: no such host' "$ctl" --node h7 mem list
refuses_with 2 'h7: no such host' "$ctl" --node h7 mem cmp g0 0 data
refuses 'r0: no right to it' "$ctl" mem fill r0 0 1 0

# Outputs that take nothing. A device of the machine is not put at risk: root could replace it.
if [ "$(id -u)" -ne 0 ]; then
	full=/dev/full
else
	full=$work/no-room
	mknod "$full" c 1 7 2>err || true
fi
refuses 'mem dump nowhere/x: No such file' "$ctl" mem dump g0 nowhere/x
(
	ulimit -f 1
	refuses 'mem dump limited: could not be written whole: File too large' "$ctl" mem dump g0 limited
)
same "files of a dump that was too large" "" "$(compgen -G 'limited*' || true)"
refuses 'mem dump .: Is a directory' "$ctl" mem dump g0 .
if echo x 2>err >"$full" || ! grep -q 'No space' err; then
	echo "note: devices cannot be made here, so no dump went to one that is full"
else
	refuses "mem dump $full: could not be written whole: No space left" "$ctl" mem dump g0 "$full"
	[ -c "$full" ] || die "mem dump replaced a device"
fi
for command in "list" "list --json" "read g0 0 64" "read g0 0 64 --json" "read g0 0 1M --out -" "dump g0 -" "bench g0 --seconds 0.01"; do
	refuses 'standard output' bash -c "exec $ctl mem $command >/dev/full"
	refuses 'standard output' bash -c "exec $ctl mem $command >&-"
done
refuses_with 2 'standard output' bash -c "exec $ctl mem cmp g0 0 other >/dev/full"
got=0
timeout 20 "$ctl" mem read g0 0 2M 2>err | head -n 1 >out || got=$?
[ ! -s err ] || die "a reader that goes is told of: $(cat err)"

# Signals
mkfifo slow
"$ctl" mem load g0 slow 2>err &
pid=$!
pids+=("$pid")
exec 3>slow
echo begin >&3
kill -TERM "$pid"
got=0
wait "$pid" || got=$?
exec 3>&-
same "status after a signal" 1 $got
grep -q 'stopped by a signal' err || die "after a signal: $(cat err)"

# A terminal that goes, also while its shell says so too; nohup(1)
echo old >kept
begins_dump() {
	WEFT_STUB_STILL=10 "$ctl" mem dump g0 kept 2>err &
	pid=$!
	pids+=("$pid")
	wait_for 20 compgen -G 'kept.*'
}
begins_dump
kill -HUP "$pid"
kill -HUP "$pid" 2>/dev/null || true
got=0
wait "$pid" || got=$?
same "status after SIGHUP" 1 $got
grep -q 'mem dump g0 at .*: stopped by a signal' err || die "after SIGHUP: $(cat err)"
same "files after SIGHUP" "kept old" "$(echo kept*) $(cat kept)"
trap '' HUP
begins_dump
trap - HUP
kill -HUP "$pid"
sleep 0.5
kill -0 "$pid" || die "SIGHUP that is ignored ended it: $(cat err)"
kill -TERM "$pid"
wait "$pid" || true

# While nobody opens the other end
"$ctl" mem load g0 slow 2>err &
pid=$!
pids+=("$pid")
sleep 0.5
kill -TERM "$pid"
got=0
wait "$pid" || got=$?
same "status after a signal, of a FIFO without a writer" 1 $got
grep -q 'slow: stopped by a signal' err || die "after a signal, of a FIFO without a writer: $(cat err)"
# Each way would take 5 s.
"$ctl" mem bench r0 --ways --seconds 60 2>err &
pid=$!
pids+=("$pid")
sleep 0.5
kill -TERM "$pid"
begun=$SECONDS
got=0
wait "$pid" || got=$?
same "status after a signal, of the ways" 1 $got
[ $((SECONDS - begun)) -lt 4 ] || die "a signal ends the ways after $((SECONDS - begun)) s"
grep -q 'mem bench r0 .*: stopped by a signal' err || die "after a signal, of the ways: $(cat err)"

# Progress: on a terminal, and gone at the end
truncate -s 80M mem
py 'import os, pty, subprocess
master, slave = pty.openpty()
child = subprocess.Popen(sys.argv[1:], stderr=slave, stdout=subprocess.DEVNULL)
os.close(slave)
said = b""
try:
    while (part := os.read(master, 4096)):
        said += part
except OSError:
    pass
sys.stdout.buffer.write(said)
sys.exit(child.wait())' "$ctl" mem dump g0 big >out || die "mem dump on a terminal fails"
grep -q 'mem dump g0: .* of 80 MiB' out || die "no progress on a terminal: $(cat out)"
[ "$(tail -c 4 out | od -An -c | tr -d ' ')" = '\r033[K' ] || die "progress is left: $(od -c out | tail)"
mem dump g0 big 2>err
[ ! -s err ] || die "progress where no terminal is: $(cat err)"
cmp mem big || die "mem dump of 80 MiB has other bytes"
fresh

# On a terminal its end is said once.
timeout 30 /usr/bin/python3 -S -c 'import os, pty, sys
pid, master = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], sys.argv[1:])
os.write(master, b"typed\n\x04")
try:
    while os.read(master, 4096):
        pass
except OSError:
    pass
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))' "$ctl" mem write g0 0 || die "mem write on a terminal: $?"
same "what was typed" typed "$(head -c 5 mem)"
fresh

# Without a verb: commands from standard input, a line each, up to the first that fails.
lines() { # TEXT: as commands; what they print is in out and err
	got=0
	printf "$1" | timeout 60 "$ctl" >out 2>err || got=$?
}
lines '# a remark\n\nmem fill g0 0 2 0x41\n \tmem read "g0" 0 '"'2'"'\nmem cmp g0 0 other\nmem fill g0 0 64 0'
same "status of the command that failed" 1 $got
same "commands before it were done" '00000000  41 41' "$(head -c 15 out)"
same "commands after it were not" 4141 "$(head -c 2 mem | od -An -tx1 | tr -d ' ')"
fresh
lines 'mem list\nexit\nmem nonesuch\n'
same "commands up to exit" "0 3" "$got $(wc -l <out)"
lines 'help\nhelp mem dump\n'
grep -qE '^  mem dump REGION FILE +the whole region' out || die "help: $(cat out)"
cp out help
lines '?\nhelp mem dump\n'
cmp -s out help || die "? is not help: $(cat out)"
cannot() { # TEXT WANT: status 2 and that one line
	lines "$1"
	same "status of $1" "2 1" "$got $(wc -l <err)"
	grep -qF -- "$2" err || die "$1 does not say \"$2\" but: $(cat err)"
}
cannot 'mem list\nmem read g0 0' 'weftctl: line 2: mem read: expected REGION OFFSET SIZE, got 2'
cannot 'mem read "g0 0 1' 'line 1: expected the quote " to end in its line, got ""g0 0 1"'
cannot "mem list\nmem read 'g0 \"0\" 1" "line 2: expected the quote ' to end in its line, got \"'g0 \"0\" 1\""
cannot 'mem read "g\\" 0' 'line 1: expected the quote " to end in its line, got'
cannot 'mem list \\\n' 'line 1: expected no \ at the end of the line, got "\"'
cannot 'exit 7' 'line 1: exit: expected nothing behind it, got "7"'
# Standard input by another name is not the nothing that is there in place of the commands.
for name in - /dev/stdin /dev/fd/0 /proc/self/fd/0; do
	cannot "mem write g0 0 --file $name\n" 'line 1: mem write standard input: Bad file descriptor'
done
cannot 'mem list \0 x' 'line 1: expected text, got a byte of 0'
cannot 'mem write g0 0\n' 'line 1: mem write standard input: Bad file descriptor'
cannot 'mem list --nonesuch' "line 1: unrecognized option '--nonesuch'"
cannot 'help nonesuch' 'help: expected the first words of a command'
misused 'standard input: Bad file descriptor' bash -c "exec $ctl <&-"
misused 'standard input: Is a directory' bash -c "exec $ctl <."
"$ctl" </dev/null || die "no commands are no success"
cmp mem data || die "what is no command wrote"

# Another machine: an option may be cut, a value and an operand may look like one.
there() { # WANT COMMAND...: what goes to ssh
	local want=$1
	shift
	same "$*" "-- lab1 weftctl $want" "$(WEFT_SSH=echo "$ctl" "$@")"
}
for words in '--server lab1' '--server=lab1' '--serv lab1' '--ser=lab1'; do
	# shellcheck disable=SC2086
	there "'mem' 'list' '--no' 'h0' '--js'" mem $words list --no h0 --js
	# shellcheck disable=SC2086
	there "'mem' 'list'" --server lab2 mem list $words
done
there "'--node=--server' 'mem' 'list'" --node=--server --serve lab1 mem list
there "'--file' '--server' 'mem' 'write' 'g0' '0'" --file --server --server lab1 mem write g0 0
there "'mem' 'write' '--' 'g0' '--server'" --server lab1 mem write -- g0 --server

# A daemon that says odd things: no reason, frames that it missed; and a signal while rates are looked at.
export XDG_RUNTIME_DIR=$work
mkdir -m 700 weft
/usr/bin/python3 -S - weft/weftd-7.ctl <<-'P' &
	import contextlib, json, os, signal, socket, struct, sys, time
	s = socket.socket(socket.AF_UNIX)
	s.bind(sys.argv[1])
	s.listen()
	good = {"v": 1, "ok": True}
	answers = {
	    "hello": [good | {"result": {"nodes": ["s0"]}}],
	    "state": [good | {"result": {"pid": 7, "fabric": "odd", "nodes": []}}],
	    "trace_start": [good | {"result": {"port": "s0.0"}}, {"v": 1, "trace": {"port": "s0.0"}},
	                    {"v": 1, "trace_end": {"port": "s0.0", "missed": 3}}],
	}
	while True:
	    c = s.accept()[0]
	    who = struct.unpack("3i", c.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]
	    with c, c.makefile("rb") as f:
	        for line in f:
	            cmd = json.loads(line)["cmd"]
	            c.sendall(b"".join(json.dumps(a).encode() + b"\n" for a in answers.get(cmd, [{"v": 1, "ok": False}])))
	            if cmd == "state" and os.path.exists("strike"):
	                time.sleep(0.2)
	                with contextlib.suppress(ProcessLookupError):
	                    os.kill(who, signal.SIGTERM)
P
pids+=($!)
wait_for 20 test -S weft/weftd-7.ctl
refuses 'weftd 7: it gives no reason' "$ctl" inject pause s0
for form in '' --json; do
	# shellcheck disable=SC2086
	warns 's0.0: 3 other frames came too fast to be traced' "$ctl" trace s0.0 $form
done
"$ctl" show fabric >out
touch strike
is_struck() {
	got=0
	"$ctl" show fabric >out 2>err || got=$?
	[ "$got $(cat out err)" = '1 weftctl_stub: show fabric: stopped by a signal before it was done' ]
}
wait_for 20 is_struck

# What makes no sense: status 2, and nothing is written
misused 'expected one of mem list, mem read' "$ctl" --
misused 'got "mem"' "$ctl" mem
misused 'expected an option, or a value that is not negative, got "-1"' "$ctl" inject poison g0 -1
misused 'expected an option, or a value that is not negative, got "-12K"' "$ctl" mem read g0 -12K 1
misused "invalid option -- 'x'" "$ctl" mem read g0 -x 1
misused '--seed: expected text in UTF-8, got "7?"' "$ctl" inject wire s0.0 --loss 1 --seed $'7\xff'
misused 'PORT: expected text in UTF-8, got "s0.0?"' "$ctl" inject wire $'s0.0\xff' --loss 1
misused 'KEY=VALUE: expected text in UTF-8, got "drop=1?"' "$ctl" inject wire s0.0 $'drop=1\xff'
misused 'NODE: expected text in UTF-8, got "s?"' "$ctl" inject pause $'s\xff'
zeros=$(printf %062d 0)
misused 'expected a NAME of up to 63 bytes and an OFFSET+SIZE of up to 63, got "g0:0+0000' "$ctl" inject poison "g0:0+${zeros}64"
misused 'expected a NAME of up to 63 bytes' "$ctl" inject poison "g0$zeros:0+64"
for words in 'OFFSET g0:8388608T+64' 'SIZE g0:0+0x8000000000000000' 'OFFSET g0 9223372036854775808' 'SIZE g0 0 9223372036854775808'; do
	# shellcheck disable=SC2086
	misused "${words%% *}: expected bytes up to 9223372036854775807, got 9223372036854775808" "$ctl" inject poison ${words#* }
done
misused '--size: expected bytes up to 9223372036854775807, got 9223372036854775808' "$ctl" fm mem grow m --size 8388608T
misused 'got "mem pe\x1b[2J\x0dek\xff"' "$ctl" mem $'pe\e[2J\rek\xff'
misused "unrecognized option '--no\x1b'" "$ctl" mem list $'--no\e'
misused ' ... ' "$ctl" mem "$(printf '%060000d' 0)"
[ "$(wc -c <"$work/err")" -lt 3000 ] || die "a word of 60,000 bytes is repeated whole"
misused 'got "mem peek"' "$ctl" mem peek
misused 'got "memory list"' "$ctl" memory list
misused 'mem list: expected no operands, got 1' "$ctl" mem list x
misused 'mem read: expected REGION OFFSET SIZE, got 2' "$ctl" mem read g0 0
misused 'mem fill: expected REGION OFFSET SIZE BYTE, got 3' "$ctl" mem fill g0 0 1
misused 'mem cmp: expected REGION OFFSET FILE, got 4' "$ctl" mem cmp g0 0 data data
misused 'expected --node or --socket, got both' "$ctl" --node h0 --socket h0.sock mem list
misused '--node: expected a name, got "./h0.sock"' "$ctl" --node ./h0.sock mem list
misused '--hex: mem read takes no such option' "$ctl" mem read g0 0 1 --hex 00
misused '--out: mem dump takes no such option' "$ctl" mem dump g0 x --out y
misused '--json: mem fill takes no such option' "$ctl" mem fill g0 0 1 0 --json
misused '--depth: mem list takes no such option' "$ctl" mem list --depth 2
misused 'expected --file or --hex, got both' "$ctl" mem write g0 0 --hex 00 --file data
misused 'expected --json or --out, got both' "$ctl" mem read g0 0 1 --json --out x
WEFT_STUB=$work/big misused 'expected 16M or less' "$ctl" mem read --json g0 0 17M
for bad in "" x 0x 1k -- 1.5M 99999999999999999999 16777216T; do
	misused 'OFFSET: expected bytes such as' "$ctl" mem read g0 -- "$bad" 1
	misused 'SIZE: expected bytes such as' "$ctl" mem fill g0 0 -- "$bad" 1
done
misused 'BYTE: expected a number of 0 to 255' "$ctl" mem fill g0 0 1 256
misused 'BYTE: expected a number of 0 to 255' "$ctl" mem fill g0 0 1 ff
misused '--hex: expected pairs of hex digits' "$ctl" mem write g0 0 --hex 001
misused '--hex: expected pairs of hex digits' "$ctl" mem write g0 0 --hex "00 0 1"
misused 'got "xy" behind 1 bytes' "$ctl" mem write g0 0 --hex 00xy
misused 'g9: no such region' "$ctl" mem read g9 0 1
misused 'not within the region' "$ctl" mem read g0:2M+2M 0 1
misused 'expected bytes within its 3000000, got 2 from offset 2999999' "$ctl" mem read g0 2999999 2
misused 'expected bytes within its 3000000, got 18446744073709551615 from offset 1' "$ctl" mem fill g0 1 0xffffffffffffffff 0
misused 'expected bytes within its 3000000, got 0 from offset 3000001' "$ctl" mem cmp g0 3000001 data
misused 'expected bytes within its 4096, got 8192' "$ctl" mem bench r0 --size 8K
misused 'got 3000000 of data; nothing was written' "$ctl" mem write g0 1 --file data
misused 'standard input; those were written' bash -c "cat data | $ctl mem write g0:0+1M 0"
misused 'mem load nowhere: No such file' "$ctl" mem load g0 nowhere
misused 'mem load .: expected a file, got a folder' "$ctl" mem load g0 .
misused 'mem write standard input: Bad file descriptor' bash -c "exec $ctl mem write g0 0 <&-"
misused 'mem cmp nowhere: No such file' "$ctl" mem cmp g0 0 nowhere
for option in '--op read' '--op write' '--size 64' '--depth 32'; do
	# shellcheck disable=SC2086
	misused "mem bench --ways: it takes no ${option% *}" "$ctl" mem bench r0 --ways $option
done
misused 'mem bench --op write overwrites g0' "$ctl" mem bench g0 --op write
misused '--op: expected one of read, write, got "erase"' "$ctl" mem bench g0 --op erase
misused '--size: expected 1 to 1M, got "2M"' "$ctl" mem bench g0 --size 2M
misused '--depth: expected a number of 1 to 4096' "$ctl" mem bench g0 --depth 0
misused '--seconds: expected seconds' "$ctl" mem bench g0 --seconds 0
misused 'expected operations under way of at most 64M' "$ctl" mem bench g0 --size 1M --depth 64
cmp mem data || die "what makes no sense was written"
echo "weftctl does what it says"
