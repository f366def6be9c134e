#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# weftctl and daemons: what it shows is what runs, it follows events and changes what it is told to; the socket for
# operators takes no harm from who connects.
. "$(dirname "$0")/lib.sh"
export XDG_RUNTIME_DIR=$work
unset WEFT_SOCKET
cd "$work"
ctl() { timeout 60 "$app/weftctl" "$@"; }

refuses 'start weftd' "$app/weftctl" show nodes
misused 'expected one of fabric, nodes,' "$app/weftctl" show nonesuch
misused 'expected WHAT, got 0' "$app/weftctl" show
misused '--watch: events takes no such option' "$app/weftctl" events --watch 1
misused 'seconds of 0.1 to 3600' "$app/weftctl" show nodes --watch 0

misused 'fm mem create: expected --size and --gfd and --hosts beside it' "$app/weftctl" fm mem create
misused 'fm mem grow: expected NAME beside it' "$app/weftctl" fm mem grow --size 1M
misused 'fm mem release: it takes no --size' "$app/weftctl" fm mem release m --size 1M
misused 'fm mem share: --host and --hosts: expected one of them' "$app/weftctl" fm mem share m --host h0 --hosts h1,h2
for hosts in h0, ,h0 h0,,h1 ,; do
	misused "--hosts: expected names with a comma between, got \"$hosts\"" "$app/weftctl" fm mem share m --hosts "$hosts"
done
misused '--hosts: expected each host once, got "h0,h1,h0"' "$app/weftctl" fm mem share m --hosts h0,h1,h0
misused '--hosts: expected one list of names, got "h0" and "h1"' "$app/weftctl" fm mem share m --hosts h0 --hosts h1
misused 'fm history: it takes no --node' "$app/weftctl" fm history --node h0
misused 'fm show: it takes no --socket' "$app/weftctl" fm show fabric --socket h0.sock
misused 'cci 5102 port_control: expected op=, 0 (assert PERST), 1' "$app/weftctl" cci s0 port_control 'port=1'
misused 'there is no field "stop"; its fields: port=N* op=N*' "$app/weftctl" cci s0 5102 'stop=1 port=1'
misused 'there is no field "prot", the nearest is port; its fields' "$app/weftctl" cci s0 5102 'prot=1'
misused 'cci 5102 port_control: op: expected a number of 0 to 0xff, got "256"' "$app/weftctl" cci s0 5102 'port=1 op=256'
misused "cci 5709 set_drt: expected its fields, got none: 'drt=N start=N* entry=[N,...]'" "$app/weftctl" cci s0 set_drt
misused '--loss: expected a probability of 0 to 1, got "2"' "$app/weftctl" inject wire s0.0 --loss 2
misused '--ways: it takes no --force' "$app/weftctl" mem bench g0 --ways --force
misused 'expected an opcode beside --claim' "$app/weftctl" cci s0 --claim 0xF00
"$app/weftctl" cci >"$work/out" || die "commands are not listed"
grep -q '^5709 set_drt  *drt=N start=N\* entry=\[N,\.\.\.\]$' "$work/out" || die "set_drt is not listed: $(cat "$work/out")"
refuses 'cci x: ' "$app/weftctl" cci x
misused 'cci 5102 port_control: expected port=, the number of a port, beside "op=2"' "$app/weftctl" cci s0 port_control 'op=2'
misused 'cci 5704 configure_pid_assignment: expected op=, 0 (assign) or 1 (clear)' "$app/weftctl" cci s0 configure_pid_assignment 'entry=[1:2:0]'
refuses 's0' "$app/weftctl" cci s0 port_control 'port=1 op=1'
misused 'fm mem: expected create, grow, share or release, got "shrink"' "$app/weftctl" fm mem shrink m

# doctor: a machine of files, with and without a fault; nothing there is written.
mkdir -p m/proc/sys/kernel m/sys/class/net/lab0 m/sys/devices/system/clocksource/clocksource0 m/proc/self m/run/systemd/timesync
echo lab1 >m/proc/sys/kernel/hostname
echo tsc >m/sys/devices/system/clocksource/clocksource0/current_clocksource
echo 'flags : constant_tsc' >m/proc/cpuinfo
echo 'CapEff: 000001ffffffffff' >m/proc/self/status
touch m/run/systemd/timesync/synchronized
echo 0x1003 >m/sys/class/net/lab0/flags
echo 1500 >m/sys/class/net/lab0/mtu
echo 'MemAvailable: 1000000 kB' >m/proc/meminfo
cat >doctor.yaml <<-'Y'
	fabric: lab
	nodes:
	  - {name: s0, kind: switch, server: lab1, pid: 0x010}
	  - {name: h0, kind: host, server: lab2, pid: 0x101}
	  - {name: g0, kind: gfd, server: lab2, pid: 0x200}
	links:
	  - {a: s0, b: h0, driver: af_packet, a_port: {netif: lab0, mtu: 1500}, b_port: {netif: lab0, mtu: 1500}}
	  - {a: s0, b: g0, driver: af_packet, a_port: {netif: lab0, mtu: 1500}, b_port: {netif: lab1, mtu: 1500}}
Y
sed -i '/b: g0/s/netif: lab0/netif: lab2/' doctor.yaml
cp -r m/sys/class/net/lab0 m/sys/class/net/lab2
find m -printf '%p %M %T@\n' >before
ctl doctor --root m --topology doctor.yaml >out || die "doctor finds on a good machine: $(cat out)"
same 'doctor of a good machine' 'lab1, for s0: 0 in the way (0 stop a node, 0 slow it), 16 good, 0 unknown' "$(tail -n 1 out)"
same 'what doctor wrote' '' "$(find m -printf '%p %M %T@\n' | diff before -)"
echo 1400 >m/sys/class/net/lab2/mtu
status=0
ctl doctor --root m --topology doctor.yaml --json >out || status=$?
same 'doctor of a bad MTU' "1 ['s0.1', 'stops', 'sudo ip link set lab2 mtu 1500']" "$status $(json out \
	'[[f["port"], f["level"], f["fix"]] for f in o["findings"] if f["level"] != "good"][0]')"
rm m/sys/devices/system/clocksource/clocksource0/current_clocksource
echo 1500 >m/sys/class/net/lab2/mtu
status=0
ctl doctor --root m --topology doctor.yaml >out || status=$?
same 'doctor that cannot look' 2 $status
# What a machine calls itself goes to a terminal, and into JSON.
printf 'lab\033[2J\3771\n' >m/proc/sys/kernel/hostname
ctl doctor --root m >out || true
grep -qa '^lab?\[2J' out || die "doctor prints what a terminal obeys: $(tail -n 1 out)"
ctl doctor --root m --json >out || true
same 'a name that is no UTF-8' 'lab?[2J?1' "$(json out 'o["machine"]')"
echo lab1 >m/proc/sys/kernel/hostname
misused '--root m/run: expected a folder of a machine, with proc/sys or sys/devices in it, got neither' "$app/weftctl" doctor --root m/run
misused 'Not a directory' "$app/weftctl" doctor --root before
misused '--root m/nonesuch: No such file' "$app/weftctl" doctor --root m/nonesuch
# A folder is no device; a FIFO is a file while somebody writes to it.
mkdir -p m/dev/fuse
ctl doctor --root m --json >out || true
same 'a folder for /dev/fuse' "['no device']" "$(json out '[f["found"] for f in o["findings"] if f["rule"] == "fuse"]')"
rm -r m/dev
echo tsc >m/sys/devices/system/clocksource/clocksource0/current_clocksource
ctl doctor --root m --topology <(cat doctor.yaml) >out || die "doctor of a pipe: $(cat out)"
mkfifo silent
misused 'silent: expected a file, got a FIFO to which nobody wrote' "$app/weftctl" doctor --topology silent
# A key of somebody else is none for weftd, and of this machine itself the owner counts.
if [ "$(id -u)" -eq 0 ]; then
	printf '%064d\n' 7 >alien.key
	chmod 0600 alien.key
	printf 'ide: {mode: skid, key_file: %s/alien.key}\n' "$work" | cat doctor.yaml - >alien.yaml
	ctl doctor --topology alien.yaml --node s0 >out || true
	grep -q 'good .*alien.key: mode 0600' out || die "doctor of a good key: $(cat out)"
	chown 12345 alien.key
	ctl doctor --topology alien.yaml --node s0 >out || true
	grep -q "stops .*alien.key: of user 12345, not of 0" out || die "doctor of the key of another: $(cat out)"
fi
misused 'nonesuch.yaml: cannot open: No such file' "$app/weftctl" doctor --topology nonesuch.yaml
misused 'lab9' "$app/weftctl" doctor --root m --topology doctor.yaml --node lab9
misused '--node: expected --topology' "$app/weftctl" doctor --node h0
misused '--root: show takes no such option' "$app/weftctl" show nodes --root m
# This machine, whatever it is like.
ctl doctor >out || true
grep -qE ': [0-9]+ in the way \([0-9]+ stop a node, [0-9]+ slow it\), [0-9]+ good, [0-9]+ unknown$' out || die "doctor: $(cat out)"

# Two daemons of one fabric, joined by memif; h0 writes and reads all the time.
lab() {
	cat <<-Y
	fabric: shown
	nodes:
	  - {name: h0, kind: host, pid: 0x101}
	  - {name: s0, kind: switch, pid: 0x010}
	  - {name: g0, kind: gfd, pid: 0x200, memory: 4M}
	  - {name: h1, kind: host, pid: 0x102}
	links:
	  - {a: h0, b: s0, driver: ring}
	  - {a: h1, b: s0, driver: ring}
	  - {a: s0, b: g0, driver: memif}
	workloads:
	  - {on: h0, kind: mem, requests: 0, rate: 200, outstanding: 16, timeout_ms: 20000}
	Y
}
lab >lab.yaml
for nodes in g0 h0,h1,s0; do
	"$app/weftd" --topology lab.yaml --node $nodes --idle yield >${nodes%%,*}.log 2>${nodes%%,*}.err &
	pids+=($!)
done
a=${pids[1]} b=${pids[0]}
runs() { [ "$(ctl show nodes --json | json /dev/stdin 'sorted(n["node"] for n in o if n["connections"] is None or n["connections"]["up"])')" = "['g0', 'h0', 'h1', 's0']" ]; }
wait_for 60 ctl show nodes
wait_for 60 test -e "weft/weftd-$a.ctl" -a -e "weft/weftd-$b.ctl"
same 'mode of a socket' 600 "$(stat -c %a "weft/weftd-$a.ctl")"
up() { ctl show connections --node h0 --json | json /dev/stdin '1 / (o[0]["state"] == "up")' >/dev/null; }
wait_for 60 up

# Both daemons are one fabric; a link has both its ends, and the rates of its two ends are those of one wire.
same 'the fabric' "shown rxl 4 [$b, $a] [['g0'], ['h0', 's0', 'h1']]" "$(ctl show fabric --json | json /dev/stdin \
	'"%s %s %d %s %s" % (o[0]["fabric"], o[0]["mode"], o[0]["here"], [d["pid"] for d in sorted(o[0]["daemons"], key=lambda d: len(d["nodes"]))], sorted((d["nodes"] for d in o[0]["daemons"]), key=len))')"
moves() { ctl show nodes --node h0 --json | json /dev/stdin '1 / (o[0]["mflits"]["out"] > 0)' >/dev/null; }
wait_for 60 moves
ctl show links >out
same 'links' 'h0.0 s0.0 up,h1.0 s0.1 up,s0.2 g0.0 up' "$(tail -n +2 out | awk '{print $1, $2, $3}' | sort | paste -sd ,)"
ctl show stages --node h0 --json >stages
json stages '1 / all(s["cycles_per_flit"] > 0 and s["flits_per_s"] > 0 for s in o if s["stage"] in ("deframe", "deliver", "pack", "link_tx", "enframe"))' >/dev/null ||
	die "stages without cost: $(cat stages)"
same 'routes of s0' "[('g0', 2), ('h0', 0), ('h1', 1)]" "$(ctl show routes --node s0 --json | json /dev/stdin 'sorted((r["to"], r["port"]) for r in o)')"
same 'no keys' "[('off', 0)]" "$(ctl show keys --node h0 --json | json /dev/stdin '[(k["ide"], k["checks"]) for k in o]')"
ctl show lcores --daemon "$b" --json >out
same 'lcores of one daemon' "{('g0', True)}" "$(json out '{(l["node"], 0 <= l["busy"] <= 1) for l in o}')"
timeout 60 "$app/weftctl" show clients >out || die 'clients'
same 'a table of nothing' 1 "$(wc -l <out)"
refuses 'no daemon of this user runs such a node' "$app/weftctl" show nodes --node nonesuch
refuses 'runs such a node: expected one of' "$app/weftctl" events --node nonesuch
"$app/weftctl" events --node s0 >out || die 'events of a node'
refuses 'with that number' "$app/weftctl" show nodes --daemon 1

# A program that is attached is seen with what it has open.
mkfifo hold
ctl --node h1 mem write g0 3M <hold &
pids+=($!)
exec 9>hold
head -c 256K /dev/zero >&9
seen() { ctl show clients --node h1 --json | json /dev/stdin '1 / (o[0]["program"] == "weftctl" and o[0]["uid"] == '$(id -u)' and [(r["name"], r["write"]) for r in o[0]["regions"]] == [("g0", True)])' >/dev/null; }
wait_for 60 seen
exec 9>&-
wait "${pids[2]}" || die 'mem write'

# Again and again, until a signal or the end of a pipe.
ctl show nodes --watch 0.1 | head -n 12 >out || true
same 'shown twice' 2 "$(grep -c '^NODE' out)"

# Captures: the file is where weftctl stands.
mkdir elsewhere
(cd elsewhere && ctl capture start s0.0 c.pcapng >/dev/null)
refuses 'captured' "$app/weftctl" capture start s0.0 other.pcapng
sleep 0.3
ctl capture stop s0.0 --json >out
json out '1 / (o[0]["written"] > 0 and o[0]["dropped"] == 0)' >/dev/null || die "capture: $(cat out)"
"$app/weft-replay" --in elsewhere/c.pcapng >out 2>&1 || die "the capture cannot be read: $(cat out)"
misused 'such as s0.0' "$app/weftctl" capture start nonesuch.0 x
misused 'such as s0.0' "$app/weftctl" capture start s0 x
refuses 'being captured' "$app/weftctl" capture stop s0.0
ctl capture start s0.0 small.pcapng --limit 16K >/dev/null
small() { ctl events | grep -q 'small.pcapng stopped: the limit of its size'; }
wait_for 60 small

# Traces: requests of h0 as they come to g0, and what becomes of them; the stages are those that show has.
ctl trace g0.0 --count 3 --kind m2s_req --pid 0x101 --json >traced
/usr/bin/python3 - traced stages <<-'P' || die "a trace: $(head -c 2000 traced)"
	import json, sys
	frames = [json.loads(line) for line in open(sys.argv[1])]
	assert len(frames) == 3, len(frames)
	for f in frames:
	    assert 0x101 in (f["spid"], f["dpid"]) and f["port"] == "g0.0" and f["kind"] == "flits", f
	    assert any(m["kind"] == "m2s_req" for flit in f["flits"] for m in flit["messages"]), f
	    first = "deframe" if f["direction"] == "in" else "pack"
	    assert f["stages"][0]["stage"] == first and all(s["cycles"] > 0 for s in f["stages"]), f
	came = [f for f in frames if f["direction"] == "in" and f["messages_known"]]
	assert all(f["end"] == "delivered" and f["stages"][-1]["stage"] == "deliver" for f in came), came
	for m in (m for f in came for flit in f["flits"] for m in flit["messages"] if m["kind"] == "m2s_req"):
	    assert m["op"].startswith("Mem") and m["spid"] == 0x101 and m["dpid"] == 0x200, m
P
ctl trace s0.0 --count 4 >traced
same 'a trace as text' 4 "$(grep -cE '^[0-9:.]+ s0\.0 (in|out): ' traced)"
same 'stages of a switch' 'deframe fec_relay route' "$(awk '$2 ~ /^[0-9]+$/ && $3 == "cycles," {print $1}' traced | sort -u | paste -sd ' ')"
ctl trace s0.0 --kind m2s_req >traced
same 'messages that are not sure' 1 "$(grep -c '^    messages are not sure: ' traced)"
ctl trace g0.0 --kind control --count 8 >traced
grep -q ' deframe .* a \(frame, .*, 0\|flit, .*, [1-9][0-9]*\) flits$' traced || die "stages of control frames: $(cat traced)"
! grep -q 'a flit, .* 0 flits\|messages are not sure' traced || die "control frames: $(cat traced)"
refuses 'kind: expected control, flits,' "$app/weftctl" trace s0.0 --kind nonesuch
refuses 'expected a port of a node that runs here' "$app/weftctl" trace s0.9
misused 'such as s0.0' "$app/weftctl" trace nonesuch.0
misused '--pid: expected' "$app/weftctl" trace s0.0 --pid 4096
misused 'trace: PORT: expected text in UTF-8, got "s0.0?"' "$app/weftctl" trace $'s0.0\xff'
misused 'capture start: FILE: expected text in UTF-8' "$app/weftctl" capture start s0.0 $'\xff'
refuses 'trace h1.0: expected 2 frames, got 0 before the time of --seconds was over' "$app/weftctl" trace h1.0 --kind almp --count 2 --seconds 0.2
# Who went away takes the trace along; a second one is refused meanwhile.
# The trace above has gone from its daemon, too, when the next one passes; and the one that is to be in the way is at work.
wait_for 60 ctl trace h1.0
"$app/weftctl" trace h1.0 --count 100000 >tracing 2>tracer.err &
tracer=$!
wait_for 60 test -s tracing
refuses "being traced by process $tracer" "$app/weftctl" trace h1.0
kill -TERM $tracer
status=0
wait $tracer || status=$?
same 'a trace that was stopped' '1 weftctl: trace h1.0: expected 100000 frames, got N before a signal came' "$status $(grep -v 'came too fast' tracer.err | sed 's/got [0-9]*/got N/')"
ctl trace h1.0 --count 1 >/dev/null

# A daemon that stands still is named, not the port that it may have.
kill -STOP "$a"
refuses "weftd $a ended, or did not answer in 5 s" "$app/weftctl" capture start h1.0 c.pcapng
kill -CONT "$a"

# Levels: what is detail is printed from now on, and only then.
same 'the level before' info "$(ctl log level detail --daemon "$a" --json | json /dev/stdin 'o[0]["before"]')"
refuses 'error, warning, info or detail' "$app/weftctl" log level loud --daemon "$a"

# Drains: what began ends, nothing new begins, nothing fails; who only serves is at rest when those are that use it.
"$app/weftctl" events --follow --json >drained &
drainer=$!
pids+=($drainer)
reads() { ctl show stages --node h0 >/dev/null; ask_state 'sum(n["traffic"]["reads"] + n["traffic"]["writes"] for n in o["nodes"] if n["name"] == "h0")'; }
# The state of the daemon of h0, by the socket itself.
ask_state() {
	/usr/bin/python3 -S -c 'import json, socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
s.sendall(b"{\"v\":1,\"cmd\":\"state\"}\n")
o = json.loads(s.makefile("rb").readline())["result"]
print(eval("(" + sys.argv[2] + ")"))' "weft/weftd-$a.ctl" "$1"
}
same 'a drain' 'h0: drained' "$(ctl drain h0)"
before=$(reads)
same 'states of nodes' "{'h0': 'drained', 'h1': 'runs', 's0': 'runs', 'g0': 'runs'}" "$(ctl show nodes --json | json /dev/stdin \
	'{k: {n["node"]: n["state"] for n in o}[k] for k in ("h0", "h1", "s0", "g0")}')"
refuses 'expected h1 to drain first' "$app/weftctl" drain s0
refuses 'weftctl drain s0 --undo' "$app/weftctl" drain s0
# A program waits: it neither fails nor is it served.
ctl --node h0 mem read g0 0 64 >waited 2>waited.err &
waiter=$!
pids+=($waiter)
sleep 0.5
kill -0 $waiter || die "a program at a host that drains ended: $(cat waited.err)"
same 'work of a host that is drained' "$before" "$(reads)"
same 'a drain that was there' "{'node': 'h1', 'state': 'drained', 'left': 0, 'first': []}" "$(ctl drain h1 --json | json /dev/stdin o)"
same 'what the hosts used' 's0: drained' "$(ctl drain s0)"
same 'and the other daemon' 'g0: drained' "$(ctl drain g0 --wait 0)"
misused 'such as s0; got "nonesuch"' "$app/weftctl" drain nonesuch
misused 'expected --wait or --undo' "$app/weftctl" drain h0 --undo --wait 1
misused 'seconds of 0 to 86400' "$app/weftctl" drain h0 --wait x
misused '--undo: show takes no such option' "$app/weftctl" show nodes --undo
for n in g0 s0 h1 h0; do same "$n goes on" "$n: runs" "$(ctl drain $n --undo)"; done
wait $waiter || die "a program that waited for a host: $(cat waited.err)"
grows() { [ "$(reads)" -gt "$before" ]; }
wait_for 60 grows
same 'nothing failed' 0 "$(ask_state 'sum(n["traffic"][k] for n in o["nodes"] if n["name"] == "h0" for k in ("failed", "lost", "mismatches"))')"
# One that cannot come to rest: its GFD stands still.
kill -STOP "$b"
refuses 'expected nothing outstanding, got' "$app/weftctl" drain h0 --daemon "$a" --wait 0.2
"$app/weftctl" drain h0 --daemon "$a" --wait 60 2>interrupted &
drain=$!
pids+=($drain)
sleep 0.3
kill -INT $drain
wait $drain && die "a drain that was stopped is one"
grep -q 'weftctl drain h0 --undo' interrupted || die "a drain that was stopped does not name --undo: $(cat interrupted)"
kill -CONT "$b"
wait_for 60 ctl drain h0
ctl drain h0 --undo >/dev/null
kill -TERM $drainer
wait $drainer || die "events --follow ended with $?"
/usr/bin/python3 -S -c 'import json
kinds = [(e["node"], e["kind"]) for e in map(json.loads, open("drained"))]
for node in ("h0", "h1"):
    mine = [k for n, k in kinds if n == node and k.startswith("drain")]
    assert mine[:3] == ["drain_begun", "drained", "drain_undone"], (node, mine)' || die "events of drains: $(cat drained)"

# Injections: each is shown while it is at work, counts what it hits, and ends by itself or when it is told to.
injected() { ctl inject list --json | json /dev/stdin "$1"; }
ctl inject wire s0.0 jitter_us=20@0.1 --loss 0.02 --duplicate 0.02 --corrupt 0.02 --seed 7 --seconds 600 --json >out
same 'an injection' "('wire', 's0.0', '7', 600.0)" "$(json out '(o["kind"], o["at"], o["seed"], o["seconds"])')"
same 'its settings' 'seed=7,uncorrectable=0.02,drop=0.02,dup=0.02,jitter_us=20,delay_p=0.1' "$(json out 'o["what"]')"
same 'a node with one' wire "$(ctl show nodes --node s0 --json | json /dev/stdin 'o[0]["injected"]')"
hit() { injected '1 / (o[0]["frames"] > 10 and o[0]["flits"] > 10)'; }
wait_for 60 hit
refuses 'got one that has it: stop that first' "$app/weftctl" inject wire s0.0 --loss 1
same 'the end of all' '1 stopped' "$(ctl inject stop)"
gone() { [ "$(injected 'len(o)')" = 0 ]; }
wait_for 60 gone
# A seed is drawn where none is given, and shown.
json <(ctl inject wire h1.0 ber=1e-9 --seconds 0.2 --json) '1 / (0 < int(o["seed"]) < 2**32)' >/dev/null || die 'no seed was drawn'
wait_for 60 gone
# Late poison of lines: a program meets it there, and no more afterwards; what it wrote meanwhile is good.
ctl --node h1 mem fill g0 3M 4K 7
same 'lines that are bad' "('poison', 'g0', None)" "$(ctl inject poison g0 3M 4K --seconds 600 --json | json /dev/stdin '(o["kind"], o["at"], o["seed"])')"
marked() { injected '1 / (o[0]["lines"] == 64)'; }
wait_for 60 marked
refuses 'memory is poisoned' "$app/weftctl" --node h1 mem read g0 3M 64
ctl --node h1 mem fill g0 3M 64 8
same 'a line that was written' 08 "$(ctl --node h1 mem read g0 3M 64 --json | json /dev/stdin 'o["data"][:2]')"
same 'reads that met it' True "$(injected 'o[0]["reads"] > 0')"
ctl inject stop "$(injected 'o[0]["injection"]')" --daemon "$b" >/dev/null
wait_for 60 gone
same 'lines that are good again' 0807 "$(ctl --node h1 mem read g0 3M 128 --json | json /dev/stdin 'o["data"][:2] + o["data"][-2:]')"
# One line, wherever in it the offset is.
ctl inject poison g0 $((0x300001)) --seconds 600 >/dev/null
marked() { injected '1 / (o[0]["lines"] == 1)'; }
wait_for 60 marked
ctl inject stop "$(injected 'o[0]["injection"]')" --daemon "$b" >/dev/null
wait_for 60 gone
# A share of all reads, while nobody else reads: no load here expects poison.
wait_for 60 ctl drain h0
same 'a share of reads' "'5' 'a share of 1 of reads, seed 5'" "$(ctl inject poison g0 --share 1 --seed 5 --seconds 600 --json | json /dev/stdin \
	'"%r %r" % (o["seed"], o["what"])')"
bad() { ! timeout 20 "$app/weftctl" --node h1 mem read g0 3M 64; }
wait_for 60 bad
ctl inject stop >/dev/null
wait_for 60 gone
same 'no share any more' 08 "$(ctl --node h1 mem read g0 3M 64 --json | json /dev/stdin 'o["data"][:2]')"
ctl drain h0 --undo >/dev/null
# A node that stands still is missed, and goes on by itself.
ctl inject pause g0 --seconds 1.5 >/dev/null
same 'a node that is paused' pause "$(ctl show nodes --node g0 --json | json /dev/stdin 'o[0]["injected"]')"
refuses 'one that is paused' "$app/weftctl" inject pause g0
wait_for 60 gone
wait_for 60 up
[ "$(before=$(reads); sleep 1; echo $(($(reads) - before)))" -gt 0 ] || die 'nothing goes on after a pause'
ctl events >out
for words in 'injection_begun .*wire is injected at s0.0 for 600 s: seed=7' 'injection_ended .*wire at s0.0 ended after' \
	'injection_begun .*poison is injected at g0' 'injection_ended .*64 lines were marked' 'injection_begun .*pause is injected at g0 for 1.5 s' \
	'injection_ended .*pause at g0 ended' 'session_stalled .*g0'; do
	grep -q "$words" out || die "no event \"$words\": $(cat out)"
done
misused 'such as s0.0' "$app/weftctl" inject wire nonesuch.0 --loss 0.1
refuses 'port: expected a port of a node that runs here' "$app/weftctl" inject wire s0.9 --loss 0.1
refuses 'drop: expected P: of a frame to be lost; got "1.1"' "$app/weftctl" inject wire s0.0 drop=1.1
refuses 'expected a probability above 0' "$app/weftctl" inject wire s0.0 --loss 0
refuses 'unknown key "loss"' "$app/weftctl" inject wire s0.0 loss=1
misused 'expected --loss, --duplicate' "$app/weftctl" inject wire s0.0
refuses 'ber: expected it once, got it again' "$app/weftctl" inject wire s0.0 ber=1e-5,ber=1e-6
misused 'target: expected text in UTF-8, got "g?"' "$app/weftctl" inject poison $'g\xff' 0
misused 'target: expected text in UTF-8, got "g?"' "$app/weftctl" inject poison $'g\xff:0+64'
misused 'seconds of 0.01 to 3600' "$app/weftctl" inject pause h0 --seconds 0
misused 'seconds of 0.01 to 3600' "$app/weftctl" inject pause h0 --seconds 0.001
misused 'such as s0; got "nonesuch"' "$app/weftctl" inject pause nonesuch
refuses 'target: expected a GFD, got h0, a host' "$app/weftctl" inject poison h0 0
refuses 'target: expected a GFD that runs here' "$app/weftctl" inject poison nonesuch 0
refuses 'expected bytes within the 4194304 of g0' "$app/weftctl" inject poison g0 4M
refuses 'offset: expected an offset, or a share' "$app/weftctl" inject poison g0
refuses 'seed: expected it with share' "$app/weftctl" inject poison g0 0 --seed 1
refuses 'seed: expected a number of 0 to 2^64 - 1' "$app/weftctl" inject wire s0.0 --loss 1 --seed -1
misused 'a number of inject list' "$app/weftctl" inject stop x
misused '--share: inject wire takes no such option' "$app/weftctl" inject wire s0.0 --share 1
same 'what was refused' 0 "$(injected 'len(o)')"
same 'nothing was lost by that' 0 "$(ask_state 'sum(n["traffic"][k] for n in o["nodes"] if n["name"] == "h0" for k in ("failed", "lost", "mismatches"))')"
same 'what was counted' True "$(ask_state '(lambda i: i["begun"] == i["ended"] == 2 and i["frames"] > 20 and i["flits"] > 10)(o["injections"])')"

# A new file: taken, or refused by each daemon with its reason, and nothing changes.
ctl events --follow --json >followed &
follower=$!
pids+=($follower)
ctl reload --json >out
same 'reload of the same' "[(1, 0, 0), (1, 0, 0)]" "$(json out '[(d["done"], d["refused"], d["changes"]) for d in o]')"
(echo 'routing: updown'; lab) >next.yaml
mv next.yaml lab.yaml
ctl reload --json >out
same 'reload' "[(2, 0, 1), (2, 0, 1)]" "$(json out '[(d["done"], d["refused"], d["changes"]) for d in o]')"
same 'reload of the same' '1 1' "$(ctl reload | awk 'NR > 1 {print $2}' | paste -sd ' ')"
echo 'nodes: nonesuch' >lab.yaml
status=0
ctl reload >out 2>err || status=$?
same 'a file that is refused' '1 2' "$status $(grep -c "^weftctl: weftd [0-9]*: lab.yaml:1" err)"
same 'events of it' 2 "$(ctl events --json | grep -c '"kind": *"reload_refused".*lab.yaml:1')"
same 'events of it at each node, by its own daemon' '1 1 1 1' \
	"$(for n in h0 h1 s0 g0; do ctl events --node $n --json | grep -c '"kind": *"reload_refused"'; done | paste -sd ' ')"
same 'routing in force' updown "$(ctl show fabric --json | json /dev/stdin 'o[0]["routing"]')"

# Another machine, by whatever ssh is: words arrive as they were.
cat >ssh <<-'S'
	#!/bin/bash
	[ "$1 $2" = "-- lab1" ] && [ $# -eq 3 ] || exit 9
	exec bash -c "$3"
S
chmod +x ssh
PATH=$app:$PATH WEFT_SSH=$work/ssh ctl show nodes --server lab1 --node h0 >out
same 'another machine' 2 "$(wc -l <out)"
status=0
PATH=$app:$PATH WEFT_SSH=$work/ssh ctl --server=lab1 show "no'de \$(touch $work/hurt) s" 2>err || status=$?
same 'an odd word there' 2 $status
grep -qF "got \"no'de \$(touch $work/hurt) s\"" err || die "an odd word there: $(cat err)"
[ ! -e hurt ] || die 'a word became a command there'
misused 'a name that ssh knows' "$app/weftctl" show nodes --server -oProxyCommand=x
WEFT_SSH=/nonesuch/ssh refuses '/nonesuch/ssh: No such file' "$app/weftctl" show nodes --server lab1

# Who connects and does what nobody should: answered or closed, and others are served all the time.
/usr/bin/python3 - "weft/weftd-$a.ctl" "$here/../../doc/control-schema.json" <<-'P' || die 'strange operators'
	import json, socket, sys
	import jsonschema

	schema = jsonschema.Draft7Validator(json.load(open(sys.argv[2])))

	def connect():
	    s = socket.socket(socket.AF_UNIX)
	    s.connect(sys.argv[1])
	    s.settimeout(30)
	    return s, s.makefile("rb")

	def ask(s, f, text):
	    s.sendall(text + b"\n")
	    answer = json.loads(f.readline())
	    schema.validate(answer)
	    return answer

	for text in (b"", b"x", b"[]", b"1", b'"v"', b'{"v":1}', b'{"v":2,"cmd":"hello"}', b'{"v":1,"cmd":"nonesuch"}', b"\0", b"\xff\xfe",
	             b'{"v":1,"cmd":"hello","cmd":"state"}', b'{"v":1,"cmd":"hello","more":1}', b'{"v":1,"cmd":["hello"]}',
	             b'{"v":1,"cmd":"log","level":7}', b'{"v":1,"cmd":"capture_start","port":"s0.0","file":"here"}',
	             b'{"v":1,"cmd":"capture_start","port":"s0.0","file":"/x","limit":1}', b'{"v":1,"cmd":"events","follow":1}',
	             b'{"v":1,"cmd":"trace_start"}', b'{"v":1,"cmd":"trace_start","port":"nonesuch"}', b'{"v":1,"cmd":"trace_start","port":"s0.0","count":0}',
	             b'{"v":1,"cmd":"trace_start","port":"s0.0","pid":4096}', b'{"v":1,"cmd":"trace_start","port":"s0.0","kind":1}', b'{"v":1,"cmd":"trace_stop"}',
	             b'{"v":1,"cmd":"drain"}', b'{"v":1,"cmd":"drain","node":"nonesuch"}', b'{"v":1,"cmd":"drain","node":"h0","undo":1}',
	             b'{"v":1,"cmd":"inject"}', b'{"v":1,"cmd":"inject","kind":"nonesuch"}', b'{"v":1,"cmd":"inject","kind":"pause"}',
	             b'{"v":1,"cmd":"inject","kind":"pause","node":"h0","port":"h0.0"}', b'{"v":1,"cmd":"inject","kind":"pause","node":"h0","seconds":0}',
	             b'{"v":1,"cmd":"inject","kind":"wire","port":"s0.0"}', b'{"v":1,"cmd":"inject","kind":"wire","port":"s0.0","wire":"x"}',
	             b'{"v":1,"cmd":"inject","kind":"wire","port":"s0.0","wire":"drop=1","seconds":1e99}',
	             b'{"v":1,"cmd":"inject","kind":"wire","port":"s0.0","wire":"seed=1,drop=1","seed":2}',
	             b'{"v":1,"cmd":"inject","kind":"wire","port":"s0.0","wire":"bits=0,bits_p=1"}',
	             b'{"v":1,"cmd":"inject","kind":"poison","target":"g0","offset":-1}', b'{"v":1,"cmd":"inject","kind":"poison","target":7,"offset":0}',
	             b'{"v":1,"cmd":"inject_stop","injection":99}', b'{"v":1,"cmd":"inject_stop","injection":-1}', b"[" * 60000):
	    s, f = connect()
	    a = ask(s, f, text)
	    assert a["v"] == 1 and a["ok"] is False and a["error"], (text[:80], a)
	    assert ask(s, f, b'{"v":1,"cmd":"hello","id":[7]}')["id"] == [7]
	for text in (b'{"v":1,"cmd":"state"}', b'{"v":1,"cmd":"help"}', b'{"v":1,"cmd":"events"}', b'{"v":1,"cmd":"log","level":"info"}',
	             b'{"v":1,"cmd":"drain","node":"h1"}', b'{"v":1,"cmd":"drains"}', b'{"v":1,"cmd":"injections"}',
	             b'{"v":1,"cmd":"inject","kind":"wire","port":"h1.0","wire":"dup=0.1","seed":3,"seconds":60}', b'{"v":1,"cmd":"inject_stop"}', b'{"v":1,"cmd":"drain","node":"h1","undo":true}'):
	    schema.validate(json.loads(text))
	    assert ask(s, f, text)["ok"], text
	# A trace: each line as the schema has it, and then the end.
	s, f = connect()
	assert ask(s, f, b'{"v":1,"cmd":"trace_start","port":"s0.0","count":5,"kind":"flits"}')["ok"]
	lines = [json.loads(f.readline()) for _ in range(6)]
	for line in lines:
	    schema.validate(line)
	assert all("trace" in line for line in lines[:5]) and lines[5]["trace_end"]["port"] == "s0.0", lines[5]
	# Longer than any request: said, and closed.
	s, f = connect()
	s.sendall(b" " * (65 << 10))
	assert b"64 KiB" in f.readline() and f.readline() == b""
	# Requests in pieces, and several in one.
	s, f = connect()
	for c in b'{"v":1,"cmd":"hello"}':
	    s.sendall(bytes([c]))
	s.sendall(b"\n" + b'{"v":1,"cmd":"hello"}\n' * 30)
	assert all(json.loads(f.readline())["ok"] for _ in range(31))
	# As many as may be, and one more: it is told so. Each is served, though the first reads nothing of what it asked for.
	deaf, _ = connect()
	deaf.setblocking(False)
	try:
	    while True:
	        deaf.send(b'{"v":1,"cmd":"state"}\n')
	except BlockingIOError:
	    pass
	held = []
	while True:
	    s, f = connect()
	    s.sendall(b'{"v":1,"cmd":"hello"}\n')
	    a = json.loads(f.readline())
	    if not a["ok"]:
	        break
	    held.append((s, f))
	assert "as many operators are connected as may be: 32" in a["error"] and 8 < len(held) < 64, (a, len(held))
	for s, f in held:
	    assert ask(s, f, b'{"v":1,"cmd":"hello"}')["ok"]
P
wait_for 60 runs

# Another fabric of this user has a node of the same name.
printf '%s\n' 'fabric: other' 'nodes:' '  - {name: h9, kind: host, pid: 0x101}' '  - {name: s0, kind: switch, pid: 0x010}' \
	'  - {name: g9, kind: gfd, pid: 0x200, memory: 1M}' 'links: [{a: h9, b: s0}, {a: s0, b: g9}]' >other.yaml
"$app/weftd" --topology other.yaml --idle yield >other.log 2>other.err &
pids+=($!)
both() { [ "$(ctl show nodes | grep -c '^s0 ')" -eq 2 ]; }
wait_for 60 both
for words in 'inject wire s0.0 --loss 0.1' 'inject pause s0' 'drain s0' 'trace s0.0'; do
	# shellcheck disable=SC2086
	misused "expected --daemon PID: weftd " "$app/weftctl" $words
done
ctl inject pause s0 --seconds 0.1 --daemon ${pids[-1]} >out || die "with --daemon: $(cat out)"
ctl inject poison g9 0 --seconds 0.1 >out || die "what one alone has: $(cat out)"
# One that does not answer is named; the events of the others are there.
kill -STOP ${pids[-1]}
ctl events >out 2>err || die "events beside a daemon that is stopped: $(cat err)"
grep -q "weftd ${pids[-1]} ended, or did not answer" err || die "a daemon that does not answer is not named: $(cat err)"
grep -q ' h0: ' out || die "no events of the others: $(cat out)"
ctl events --daemon ${pids[-1]} >out 2>err && die "events of a daemon that does not answer are no error"
grep -q 'no daemon answers any more' err || die "the only daemon does not answer: $(cat err)"
kill -CONT ${pids[-1]}
kill -TERM ${pids[-1]}
wait ${pids[-1]} || die "weftd of the other fabric ended with $?"

# The end: who follows hears the last events, and of the end.
kill -TERM "$a"
wait "$a" || die "weftd of h0 ended with $?"
kill -TERM "$b"
wait "$b" || die "weftd of g0 ended with $?"
wait $follower || die "events --follow ended with $?"
json followed '0' 2>/dev/null && die 'events came as one object'
/usr/bin/python3 -c 'import json, sys; n = [json.loads(line) for line in open("followed")]; assert n and all(e["text"] for e in n)' ||
	die "events that were followed: $(cat followed)"
[ -z "$(ls weft/*.ctl 2>/dev/null)" ] || die "sockets are left: $(ls weft)"
echo 'weftctl shows and steers daemons'
