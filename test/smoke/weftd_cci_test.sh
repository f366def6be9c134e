#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A manager at the CCI sockets of weftd: tables are rewritten under load and nothing is lost, a
# fabric that is left to a manager begins to work when that has filled its tables, read-only refuses,
# and what is no message is counted. With WEFT_LIBCXLMI=FOLDER (a build of libcxlmi with its examples)
# that library's own program reads a switch through the shim.
. "$(dirname "$0")/lib.sh"
export XDG_RUNTIME_DIR=$work
run=$work/weft

lab() { # REQUESTS MORE
	echo "fabric: cci"
	echo "routing: updown"
	[ $# -lt 2 ] || echo "$2"
	echo "nodes:"
	echo "  - {name: h0, kind: host, pid: 0x101}"
	for i in 0 1 2 3; do echo "  - {name: s$i, kind: switch, pid: $((i + 1))}"; done
	echo "  - {name: g0, kind: gfd, pid: 0x200, memory: 1M}"
	echo "links:"
	for link in 'h0, b: s0' 's0, b: s1' 's0, b: s2' 's1, b: s3' 's2, b: s3' 's3, b: g0'; do
		echo "  - {a: $link}"
	done
	echo "workloads:"
	echo "  - {on: h0, kind: mem, requests: $1, lines: 512, timeout_ms: 5000}"
}

start() { # NAME OPTIONS
	local name=$1
	shift
	"$app/weftd" "$@" --json "$work/$name.json" >"$work/$name.out" 2>"$work/$name.err" &
	pid=$!
	pids+=("$pid")
	wait_for 60 grep -q 'nodes of fabric' "$work/$name.out"
}

# Somebody who serves a socket and never answers, as a stopped daemon does: weftctl waits for it while the rest runs.
mkdir -p -m 700 "$work/silent/weft"
/usr/bin/python3 -S -c 'import socket, sys, time
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.bind(sys.argv[1])
s.listen()
time.sleep(600)' "$work/silent/weft/cci-s0.sock" &
pids+=($!)
wait_for 10 test -S "$work/silent/weft/cci-s0.sock"
XDG_RUNTIME_DIR=$work/silent "$app/weftctl" cci s0 0001 >/dev/null 2>"$work/silent.err" &
silent=$!

ctl() { "$app/weftctl" cci "$@" 2>"$work/ctl.err"; }

# Rewritten under load.
lab 0 >"$work/full.yaml"
start full --topology "$work/full.yaml" --cci full
/usr/bin/python3 "$here/weftd_cci.py" "$run" flip 3 "$work/tables.json" >"$work/flip.out" || die "flip"
kill -TERM $pid
wait $pid || die "full ended with $?: $(cat "$work/full.err")"
[ "$(json "$work/full.json" 'o["good"]')" = True ] || die "something was lost or wrong"
[ "$(awk '{ print $1 }' "$work/flip.out")" -ge 100 ] || die "only $(cat "$work/flip.out")"
[ "$(json "$work/full.json" 'o["cci"]["requests"] >= 100 and o["cci"]["components"] == 5')" = True ] ||
	die "the report does not know: $(json "$work/full.json" 'o["cci"]')"

[ "$(json "$work/full.json" 'o["cci"]["links"]["crawled"] >= 5 and o["cci"]["links"]["sent_on"] >= 2 and
	o["cci"]["links"]["circled"] > 0 and
	o["cci"]["links"]["bad"] + o["cci"]["links"]["full"] + o["cci"]["links"]["refused"] == 0')" = True ] ||
	die "messages by links: $(json "$work/full.json" 'o["cci"]["links"]')"
[ "$(json "$work/full.json" 'next(n for n in o["nodes"] if n["name"] == "s0")["drops"].get("port_down", 0) > 0')" = True ] ||
	die "a port in reset drops nothing"

# In cxl mode a reset ends the session of the link, and another begins.
lab 1 'mode: cxl' >"$work/cxl.yaml"
start cxl --topology "$work/cxl.yaml" --cci full
is_done() {
	ask $pid /weft/node,h0 | grep -Eq '"host_(reads|writes)_done": *1\b'
}
wait_for 60 is_done
ctl s0 5100 >/dev/null && die "a switch answers who did not claim it"
grep -q 'claim PID makes weftctl that of s0' "$work/ctl.err" || die "nobody said how: $(cat "$work/ctl.err")"
ctl s0 5102 'port=0 op=2' --claim 0xF00 >/dev/null || die "5102h: $(cat "$work/ctl.err")"
wait_for 10 grep -q 'a new session' "$work/cxl.err"
ctl s0 0702 'pid=4095 n=1024' --host 0x101 | grep -q 'total=16' || die "CDAT: $(cat "$work/ctl.err")"
kill -TERM $pid
wait $pid || die "cxl ended with $?: $(cat "$work/cxl.err")"
same "sessions of twelve ends, and two anew" 14 "$(sum "$work/cxl.json" session begun)"

# Left to a manager.
lab 20000 'management: fm' >"$work/fm.yaml"
"$app/weftd" --check "$work/fm.yaml" --node h0 | grep -q 'management: fm' || die "--check does not say so"
# Without a PID it cannot be claimed but in the words that weftctl gives.
start claim --topology "$work/fm.yaml" --cci full
ctl s1 5100 --claim 0xF00 >/dev/null && die "a switch without a PID was claimed"
how=$(sed -n "s/.*cci s1 claim_ownership '\(.*\)new_pid=N'$/\1/p" "$work/ctl.err")
ctl s1 claim_ownership "${how}new_pid=0x11" >/dev/null || die "\"$how\" does not claim: $(cat "$work/ctl.err")"
ctl s1 5100 --claim 0xF00 | grep -q nports= || die "claimed, and not served: $(cat "$work/ctl.err")"
kill -TERM $pid
wait $pid || die "claim ended with $?: $(cat "$work/claim.err")"
start fm --topology "$work/fm.yaml" --cci full --until-done --wait 60
/usr/bin/python3 "$here/weftd_cci.py" "$run" fill "$work/tables.json" || die "fill"
wait $pid || die "fm ended with $?: $(cat "$work/fm.err")"
[ "$(json "$work/fm.json" 'o["good"]')" = True ] || die "the manager's fabric loses"

# Memory of a GFD is given and taken under load; who may not, is refused and told of.
cat >"$work/gfd.yaml" <<-Y
	fabric: memory
	groups:
	  - {name: red, ranges: [{gfd: g0, base: 0, size: 512K}]}
	  - {name: blue, ranges: [{gfd: g0, base: 512K, size: 256K}]}
	nodes:
	  - {name: h0, kind: host, pid: 0x101, access: [red]}
	  - {name: h1, kind: host, pid: 0x102, access: [blue]}
	  - {name: s0, kind: switch, pid: 0x010}
	  - {name: g0, kind: gfd, pid: 0x200, memory: 1M}
	links:
	  - {a: h0, b: s0}
	  - {a: h1, b: s0}
	  - {a: s0, b: g0}
	workloads:
	  - {on: h0, kind: mem, requests: 0, rate: 200, lines: 512, timeout_ms: 5000}
	  - {on: h1, kind: mem, requests: 0, rate: 200, lines: 512, timeout_ms: 5000}
Y
start gfd --topology "$work/gfd.yaml" --cci full
/usr/bin/python3 "$here/weftd_cci.py" "$run" gfd || die "gfd"
ctl g0 4904 'grp=0 n=5' --host 0x101 | grep -q 'extent=\[0:524288:' || die "a host does not see what it has"
ctl g0 4904 'grp=1 n=5' --host 0x101 >"$work/out" && die "a host sees what is closed to it"
grep -q 'Invalid Input' "$work/out" || die "not closed but: $(cat "$work/out")"
ctl g0 4907 'grp=5 len=65536 max_rsp=4' --host 0x101 >"$work/out" && die "a host takes memory"
grep -q 'Unsupported' "$work/out" || die "not refused but: $(cat "$work/out")"
ctl g0 4901 --host 0x101 | grep -q 'ltssm=4' || die "status"
kill -TERM $pid
wait $pid || die "gfd ended with $?: $(cat "$work/gfd.err")"
[ "$(json "$work/gfd.json" 'o["good"] and o["cci"]["reports"] >= 3')" = True ] || die "$(json "$work/gfd.json" 'o["cci"]')"

# Read-only, which is how it begins.
start readonly --topology "$work/full.yaml"
[ "$(stat -c %a "$run/cci-s0.sock")" = 600 ] || die "the socket is open to others"
ctl s0 5709 'start=512 entry=[513]' >"$work/out" && die "read-only takes a write"
ctl s0 5701 'target=1 size=12 msg=000000010000000000000000' >"$work/out2" && die "read-only sends on"
grep -q 'Crawl Out: Unsupported' "$work/out2" || die "sent on: $(cat "$work/out2")"
grep -q 'Set DRT: Unsupported' "$work/out" || die "not refused but: $(cat "$work/out")"
ctl s0 get_drt 'n=1 start=512' | grep -q 'entry=\[\(257\|513\)\]' || die "DRT: $(ctl s0 get_drt 'n=1 start=512')"
ctl s0 get_drt $'N=0x1\tStart= 512' >/dev/null && die "a blank before a number"
ctl s0 set_drt $'Start=512\tentry=[ 513, 0X201 ,1]\n' >"$work/out" && die "read-only takes a write"
grep -q 'Set DRT: Unsupported' "$work/out" || die "blanks and capitals: $(cat "$work/out" "$work/ctl.err")"
ctl s0 0001 | grep -q 'maxmsg=10 comp=0' || die "a switch is no switch"
ctl g0 identify | grep -q 'comp=4' || die "a GFD is no GFD"
ctl s0 5100 --json | json /dev/stdin 'o["code"]' | grep -q Success || die "JSON"
ctl s0 | grep -q '^5709 set_drt ' || die "the commands of a switch are not listed"
ctl g0 --json | json /dev/stdin '{"get_gdt"} - {c["key"] for c in o} or "set_drt" in {c["key"] for c in o}' |
	grep -q False || die "the commands of a GFD are not listed: $(ctl g0)"
ctl s0 5101 'ports=[0,1]' | grep -q 'block=\[0:4:' || die "ports"
ctl s0 5100 --claim 0xF00 && die "read-only is claimed"
ctl h0 0001 && die "a host has no CCI"
ctl s0 5100 --host 0x101 | grep -q nports=3 || die "the mailbox of a host"
ctl s0 5100 --host 0x200 && die "a GFD passes for a host"
grep -q 'expected a PID of a host or device, got 0x200: the daemon of s0 knows none' "$work/ctl.err" ||
	die "who asks is no host: $(cat "$work/ctl.err")"
/usr/bin/python3 -S - "$run/cci-s0.sock" <<'END' || die "garbage is not told from messages"
import socket, sys
for what in b'', b'x', b'\1\10\10\10', b'\1\10\10' + 50 * b'\xff', b'\2\10\10\10' + 12 * b'\0', 5000 * b'\1', 4 * b'\1':
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.settimeout(10)
    s.connect(sys.argv[1])
    s.send(what)
    if s.recv(100) != b'':
        sys.exit(repr(what))
request = b'\1\10\10\10' + b'\0\0\0\1\0' + 7 * b'\0'
# Who asks and goes is no bad news; who asks and does not read is closed.
for i in range(20):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.connect(sys.argv[1])
    s.send(request)
    s.close()
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.connect(sys.argv[1])
s.settimeout(20)
try:
    while True:
        s.send(request)
except (BrokenPipeError, ConnectionResetError):
    pass
many = []
for i in range(70):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    # A full queue of a busy daemon is no answer: connect() says so at once where there is a time limit.
    s.connect(sys.argv[1])
    s.settimeout(20)
    many.append(s)
if any(s.recv(100) != b'' for s in many):
    sys.exit('silent')
END
ctl s0 0001 >/dev/null || die "nobody can connect any more"

# libcxlmi, unmodified.
if [ -n "${WEFT_LIBCXLMI:-}" ]; then
	WEFT_CCI=$run/cci-s0.sock LD_PRELOAD=$WEFT_BUILD/usertools/weft-mctp-shim.so \
		"$WEFT_LIBCXLMI/examples/cxl-mctp" 1 8 >"$work/libcxlmi.out" 2>&1 || true
	grep -qi 'serial' "$work/libcxlmi.out" || die "libcxlmi: $(cat "$work/libcxlmi.out")"
fi
kill -TERM $pid
wait $pid || die "readonly ended with $?: $(cat "$work/readonly.err")"
grep -q 'CCI: ' "$work/readonly.err" || die "nobody hears of garbage"
[ "$(grep -c 'no request of CCI' "$work/readonly.err")" -lt 10 ] || die "those that went are taken for garbage: $(cat "$work/readonly.err")"
[ "$(json "$work/readonly.json" 'o["cci"]["unread"]')" = 1 ] || die "one that does not read: $(json "$work/readonly.json" 'o["cci"]')"
[ "$(json "$work/readonly.json" 'o["cci"]["garbage"] >= 6 and o["cci"]["turned_away"] >= 6 and o["cci"]["silent"] >= 60')" = True ] ||
	die "not counted: $(json "$work/readonly.json" 'o["cci"]')"
compgen -G "$run/cci-*" >/dev/null && die "sockets are left behind"
wait $silent && die "nobody answered, and that is well"
grep -q "serves $work/silent/weft/cci-s0.sock did not answer in 5 s: is it stopped" "$work/silent.err" ||
	die "nobody answers: $(cat "$work/silent.err")"
echo "managers read and write live fabrics"
