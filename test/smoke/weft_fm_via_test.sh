#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A manager at the port of a host: switches, GFDs and another host are in another run folder, where it reaches no socket of
# theirs, and have empty tables and memory that is nobody's. It finds them hop by hop, the last ones by the routes that it
# wrote, and programs of both hosts read and write. The next manager with that store goes on. A host that is no manager's
# answers it, and asks nobody.
. "$(dirname "$0")/lib.sh"
cd "$work"
[ -x "$app/weft-fm" ] || skip 'skipped: weft-fm was not built (package libsqlite3-dev)'
mkdir -m 700 near far
export XDG_RUNTIME_DIR=$work/near
unset WEFT_SOCKET
ctl() { timeout 60 "$app/weftctl" "$@"; }
far_ctl() { XDG_RUNTIME_DIR=$work/far ctl "$@"; }

lab() { # MODE
	cat <<-Y
	fabric: managed
	mode: $1
	management: fm
	nodes:
	  - {name: h0, kind: host, pid: 0x101, manager: true}
	  - {name: h1, kind: host, pid: 0x102, manager: true}
	  - {name: h2, kind: host, pid: 0x103}
	  - {name: s0, kind: switch, pid: 0x010}
	  - {name: s1, kind: switch, pid: 0x011}
	  - {name: s2, kind: switch, pid: 0x012}
	  - {name: g0, kind: gfd, pid: 0x200, memory: 4M}
	  - {name: g1, kind: gfd, pid: 0x201, memory: 4M}
	links:
	  - {a: h0, b: s0, driver: memif, a_port: {socket: $work/edge.sock}}
	  - {a: h1, b: s0, driver: memif, a_port: {socket: $work/other.sock}}
	  - {a: s0, b: s1, driver: ring}
	  - {a: s1, b: s2, driver: ring}
	  - {a: s2, b: g0, driver: ring}
	  - {a: s1, b: g1, driver: ring}
	  - {a: s2, b: h2, driver: ring}
	Y
}

# by_link MODE: from switches without tables to the first read
by_link() {
	rm -f ./*.log lab.db*
	lab "$1" >lab.yaml
	# To the switches h1 is no manager, whatever it says itself.
	sed '/name: h1/s/, manager: true//' lab.yaml >far.yaml
	XDG_RUNTIME_DIR=$work/far "$app/weftd" --topology far.yaml --node s0,s1,s2,g0,g1,h2 --cci full --idle yield \
		--json far.json >far.log 2>far.err &
	local far=$!
	pids+=($far)
	"$app/weftd" --topology lab.yaml --node h0,h1 --cci full --idle yield --json near.json >near.log 2>near.err &
	local near=$!
	pids+=($near)
	wait_for 60 test -S near/weft/cci-h0.port
	wait_for 60 test -S far/weft/cci-g1.sock
	same 'mode of the port' 600 "$(stat -c %a near/weft/cci-h0.port)"
	[ ! -e near/weft/cci-s0.sock ] || die "the manager has another way"
	rm near/weft/cci-h1.sock # nor to h1, which takes messages by its link alone now
	"$app/weft-fm" --topology lab.yaml --store sqlite:lab.db --via h0 >fm.log 2>fm.err &
	local fm=$!
	pids+=($fm)
	converged() { ctl fm show fabric --json | json /dev/stdin "1 / (o['converged'] and o['ready'] == 8)" >/dev/null; }
	wait_for 60 converged
	same 'the way' 'h0 > s0 > s1 > s2 > g0' "$(ctl fm path h0 g0)"
	ctl fm mem create --host h0 --size 4M --gfd g0 >/dev/null
	ctl fm mem create --host h2 --size 4M --gfd g1 >/dev/null
	there() { ctl fm show memory --json | json /dev/stdin "1 / ([m['state'] for m in o] == ['there'] * 2)" >/dev/null; }
	wait_for 30 there
	hello() { echo "hello fabric" | ctl --node h0 mem write g0 0; }
	wait_for 30 hello
	same 'what is read' 'hello fabric' "$(ctl --node h0 mem read g0 0 12 --out -)"
	# The other host was told of its memory by its link.
	far_hello() { echo "hello far host" | far_ctl --node h2 mem write g1 0; }
	wait_for 30 far_hello
	same 'what is read far away' 'hello far host' "$(far_ctl --node h2 mem read g1 0 14 --out -)"
	# h1 answers the manager, and is answered by nobody: whom it asks, and a message of six packets to its neighbour.
	/usr/bin/python3 -S -c 'import socket, sys, time
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.connect(sys.argv[1])
s.settimeout(0.5)
for to in 0xfff, 0x010, 0x012, 0x101, 0x103, 0x200:
    for tag in 8, 0:  # Identify, and an answer to it; one to the manager is let through
        if (to, tag) != (0x101, 0):
            s.send(to.to_bytes(2, "little") + bytes((8, tag)) + bytes((tag == 0, 9, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0)))
            time.sleep(0.02)  # not more than may wait
s.send(bytes.fromhex("ff0f0808") + bytes(12 + 1000))
try:
    sys.exit("answered: " + s.recv(2000).hex())
except TimeoutError:
    pass' near/weft/cci-h1.port || die "h1 asks"
	# Whoever takes its port is told of.
	python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET).connect(sys.argv[1])' \
		near/weft/cci-h0.port
	wait_for 10 grep -q 'cci-h0.port: closed (1 in all)' fm.err
	wait_for 30 converged
	kill -TERM $fm
	wait $fm || die "weft-fm ended with $?: $(cat fm.err)"
	# The next one with that store goes on, and has nothing to write.
	timeout 60 "$app/weft-fm" --topology lab.yaml --store sqlite:lab.db --via h0 --once >again.log 2>again.err ||
		die "a second manager does not find its fabric: $(cat again.err)"
	! grep -q '^write .*DRT' again.log || die "a second manager wrote tables: $(cat again.log)"
	kill -TERM $near $far
	wait $near || die "h0 ended with $?: $(cat near.err)"
	wait $far || die "switches ended with $?: $(cat far.err)"
	[ "$(json far.json 'o["cci"]["links"]["crawled"] > 0 and o["cci"]["links"]["sent_on"] > 0')" = True ] ||
		die "nothing came by links: $(json far.json 'o["cci"]["links"]')"
	# Eleven packets, and the frames of six: those before what it owes the manager was used up are looked into.
	[ "$(json far.json '12 <= o["cci"]["links"]["refused"] <= 17')" = True ] ||
		die "what h1 sent is not refused: $(json far.json 'o["cci"]["links"]')"
	[ ! -e near/weft/cci-h0.port ] || die "the port is left behind"
	! "$app/weft-fm" --topology lab.yaml --via h0 --once --timeout 1 >none.log 2>none.err || die "a fabric without a port"
	grep -q 'cci-h0.port: expected the port that weftd opens' none.err || die "no word of the port: $(cat none.err)"
}
by_link rxl
[ -n "${WEFT_TEST_AGAIN:-}" ] || by_link cxl

# Who asks for what is not there.
misused 'expected a host with manager: true' "$app/weft-fm" --topology lab.yaml --via s0
sed 's/, manager: true//' lab.yaml >closed.yaml
misused 'expected a host with manager: true' "$app/weft-fm" --topology closed.yaml --via h0
misused 'expected sqlite' "$app/weft-fm" --topology lab.yaml --via h0 --store etcd:http://127.0.0.1:1/x
echo 'a manager at the port of a host makes a fabric'
