#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A manager at the port of a host: switches, GFDs and another host are in another run folder, where it reaches no socket of
# theirs, and have empty tables and memory that is nobody's. It finds them hop by hop, the last ones by the routes that it
# wrote, and programs of both hosts read and write. The next manager with that store goes on. A host that is no manager's
# answers it, and asks nobody. Two managers on one etcd, at the ports of two hosts, take turns: the one that leads is killed
# at random moments, is stopped beyond its lease, and goes with its host.
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

# A program of a host reads what another of the fabric has written.
at() { # HOST ARGUMENT...: by the daemon of that host
	XDG_RUNTIME_DIR=$work/run$1 ctl "${@:2}"
}
hears() { [ "$(at "$1" --node "h$1" mem read g0 0 4 --out - 2>/dev/null)" = here ]; }
host() { # NUMBER
	XDG_RUNTIME_DIR=$work/run$1 "$app/weftd" --topology turns.yaml --node "h$1" --cci full --idle yield \
		>>"host$1.log" 2>>"host$1.err" &
	daemon[$1]=$!
	pids+=($!)
	wait_for 60 test -S "run$1/weft/cci-h$1.port"
}
manager() { # NUMBER
	XDG_RUNTIME_DIR=$work/run$1 "$app/weft-fm" --topology turns.yaml --store "$store" --lease 2 --via "h$1" \
		>>"fm$1.log" 2>>"fm$1.err" &
	fm[$1]=$!
	pids+=($!)
}
says() { grep -E '^(leads|waits) ' "fm$1.log" | tail -n 1 | grep -q "^$2"; } # NUMBER WORD
whole() { # NUMBER [LOST]: it leads, and all is as it is to be but for what is lost
	at "$1" fm show fabric --json 2>/dev/null |
		json /dev/stdin "1 / (o['converged'] and o['lost'] == [${2:+'$2'}])" >/dev/null 2>&1
}
all_there() { at "$1" fm show memory --json | json /dev/stdin "1 / (all(m['state'] == 'there' for m in o) and len(o))" >/dev/null; }

take_turns() {
	local lead=0 other=1 k store writes
	declare -A daemon=() fm=()
	mkdir -m 700 run0 run1
	cat >turns.yaml <<-Y
	fabric: managed
	management: fm
	nodes:
	  - {name: h0, kind: host, pid: 0x101, manager: true}
	  - {name: h1, kind: host, pid: 0x102, manager: true}
	  - {name: s0, kind: switch, pid: 0x010}
	  - {name: s1, kind: switch, pid: 0x011}
	  - {name: g0, kind: gfd, pid: 0x200, memory: 4M}
	  - {name: g1, kind: gfd, pid: 0x201, memory: 4M}
	links:
	  - {a: h0, b: s0, driver: memif, a_port: {socket: $work/turn0.sock}}
	  - {a: h1, b: s1, driver: memif, a_port: {socket: $work/turn1.sock}}
	  - {a: s0, b: s1, driver: ring}
	  - {a: s1, b: g0, driver: ring}
	  - {a: s0, b: g1, driver: ring}
	Y
	XDG_RUNTIME_DIR=$work/far "$app/weftd" --topology turns.yaml --node s0,s1,g0,g1 --cci full --idle yield \
		>middle.log 2>middle.err &
	local middle=$!
	pids+=($middle)
	etcd_place
	etcd_begin
	store=etcd:http://127.0.0.1:$etcd_port/turns
	host 0
	host 1
	manager 0
	wait_for 60 whole 0
	manager 1
	wait_for 20 says 1 waits
	at 0 fm mem create data --hosts h0,h1 --size 4M --gfd g0 >wish.txt
	wait_for 30 all_there 0
	tells() { echo here | at 0 --node h0 mem write g0 0; }
	wait_for 10 tells
	wait_for 10 hears 1

	# One with another store is refused, and leaves its host alone, too; one at the same port waits.
	! XDG_RUNTIME_DIR=$work/run1 "$app/weft-fm" --topology turns.yaml --store sqlite:own.db --via h1 --once --timeout 1 \
		>own.log 2>own.err || die "a manager with a store of its own"
	same 'lines about it' 1 "$(grep -c 'expected switch s1 to be nobody.s .* PID 0x101 (h0)' own.err)"
	! grep -q '^write' own.log || die "it wrote: $(cat own.log)"
	! XDG_RUNTIME_DIR=$work/run0 "$app/weft-fm" --topology turns.yaml --store "$store" --via h0 --once --timeout 1 \
		>same.log 2>same.err || die "a second manager at a port"
	grep -q '^waits .* has the port of h0: expected another host' same.log || die "it does not say why: $(cat same.log)"

	# It is killed, or stopped for longer than its lease, while it gives memory.
	for k in $(few "2" "1 2 3"); do
		at $lead fm mem create "m$k" --hosts h0,h1 --size 64K --gfd g1 >wish.txt || die "m$k was not taken"
		sleep "0.0$((RANDOM % 100))"
		kill "-$([ "$k" = 2 ] && echo STOP || echo KILL)" "${fm[$lead]}"
		wait_for 30 whole $other
		wait_for 10 all_there $other
		at $other fm show memory | grep -q "^m$k " || die "m$k is not known: $(at $other fm show memory)"
		hears $other || die "memory is not what it was"
		writes=$(grep -c '^write' fm$lead.log || true)
		if [ "$k" = 2 ]; then kill -CONT "${fm[$lead]}"; else manager $lead; fi
		wait_for 20 says $lead waits
		same 'commands without the lead' "$writes" "$(grep -c '^write' fm$lead.log || true)"
		lead=$other other=$((1 - lead))
	done

	# Its host goes with it, and comes back.
	kill -KILL "${fm[$lead]}" "${daemon[$lead]}"
	wait_for 30 whole $other h$lead
	hears $other || die "memory went with a host"
	rm -f run$lead/weft/*
	host $lead
	wait_for 60 whole $other
	wait_for 10 hears $lead
	grep -q '^write .*take over from the other manager' fm$other.log || die "nothing was taken over"
	kill -TERM "${fm[$other]}"
	wait "${fm[$other]}" || die "weft-fm ended with $?: $(cat fm$other.err)"
	kill -TERM "${daemon[0]}" "${daemon[1]}" $middle
	wait "${daemon[0]}" || die "h0 ended with $?: $(cat host0.err)"
	wait "${daemon[1]}" || die "h1 ended with $?: $(cat host1.err)"
	wait $middle || die "switches ended with $?: $(cat middle.err)"
}
if ! command -v etcd >/dev/null || "$app/weft-fm" --topology none --store etcd:http://h:1 2>&1 | grep -q libcurl; then
	echo 'without two managers: etcd (package etcd-server) or libcurl is not there'
else
	seed=${WEFT_TEST_SEED:-$RANDOM}
	echo "WEFT_TEST_SEED=$seed"
	RANDOM=$seed
	take_turns
fi

# Who asks for what is not there.
misused 'expected a host with manager: true' "$app/weft-fm" --topology lab.yaml --via s0
sed 's/, manager: true//' lab.yaml >closed.yaml
misused 'expected a host with manager: true' "$app/weft-fm" --topology closed.yaml --via h0
echo 'a manager at the port of a host makes a fabric'
