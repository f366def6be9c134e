#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# weftd refuses what it cannot run: exit status 1 and one line that says where and what was expected;
# a command line that makes no sense: 2, as all programs do.
. "$(dirname "$0")/lib.sh"
export XDG_RUNTIME_DIR=$work

topology() { # topology [link fields] [defaults] [extra top level]
	cat >"$work/t.yaml" <<-Y
	fabric: bad
	mode: ${4:-rxl}
	defaults: {${2:-}}
	nodes:
	  - {name: h0, kind: host, pid: 0x101}
	  - {name: g0, kind: gfd, pid: 0x200, memory: 1M}
	links:
	  - {a: h0, b: g0${1:-}}
	workloads:
	  - {on: h0, kind: mem, requests: 10}
	${3:-}
	Y
}
weftd() { "$app/weftd" --topology "$work/t.yaml" "$@"; }
t() { refuses "$1" "$app/weftd" --topology "$work/t.yaml" "${@:2}"; }
u() { misused "$1" "$app/weftd" --topology "$work/t.yaml" "${@:2}"; }

topology
"$app/weftd" --topology "$work/t.yaml" --check >/dev/null
"$app/weftd" --topology "$work/t.yaml" --until-done --quiet
t 'nonesuch' --node nonesuch
# Before anything is opened: DPDK does not come to its own wrong argument.
for capture in foo x=y h0.0= h0.9=f =f; do
	u "--capture $capture: expected PORT=FILE" --capture "$capture" -- --frob
done
u '--capture-limit: expected a size' --capture-limit 10
u '--capture-limit: expected a size' --capture-limit 1Z
t 'capture of port h0.0 to /nonesuch/f: No such file' --capture h0.0=/nonesuch/f
t '--json /nonesuch/f: No such file' --json /nonesuch/f
t '--json /: Is a directory' --json /
# What a capture writes is nobody else's: it would be gone, or both mixed.
cp "$work/t.yaml" "$work/whole.yaml"
echo 'workloads: [{on: h0, kind: uio, requests: 10}]' >"$work/more.yaml"
(umask 077; echo "$(printf 'ab%.0s' {1..32})" >"$work/key")
u "expected a file of its own, got that of --topology" --capture "h0.0=$work/../${work##*/}/t.yaml"
u "expected a file of its own, got that of --load" --load "$work/more.yaml" --capture "h0.0=$work/more.yaml"
u "expected a file of its own, got that of --json" --json "$work/c" --capture "h0.0=$work/c"
u "expected a file of its own, got that of --json" --json - --capture h0.0=-
u "--capture and --capture: expected two files" --capture "h0.0=$work/c" --capture "g0.0=$work/c"
u '--load and --json: expected two files' --load "$work/more.yaml" --json "$work/more.yaml"
topology '' '' "ide: {mode: skid, key_file: $work/key}"
u "expected a file of its own, got that of ide.key_file" --capture "h0.0=$work/key"
u 'ide.key_file and --json: expected two files' --json "$work/key"
topology
cmp "$work/t.yaml" "$work/whole.yaml" || die "a refused capture wrote over the topology"
same "the key is whole" 64 "$(grep -o '[0-9a-f]' "$work/key" | wc -l)"
u '--seconds: expected seconds' --seconds -1
u '--idle: expected one of auto, spin, yield' --idle sleep
u 'no stage is called "x"' --rx-layout x
u 'stage "deframe" stands twice' --rx-layout deframe,deframe
u '--rx-layout: expected a stage deframe in "link_rx,route": without it nothing is ever believed' --rx-layout link_rx,route
u '--rx-layout: expected a stage link_rx in' --rx-layout deframe,route
u '--rx-layout: expected a stage deliver in' --rx-layout deframe,link_rx,route
u '--switch-layout: layout, character 1: no stage is called "x"' --switch-layout x
u '--switch-layout: expected a stage deframe in "route"' --switch-layout route
u '--tx-layout: expected a stage pack in "enframe"' --tx-layout enframe
u '--tx-layout: layout, character 9: stage "pack" cannot come after' --tx-layout enframe,pack
u '--switch-layout: expected a stage route' --switch-layout deframe,fec_relay
u '--switch-layout: expected no stage link_rx in' --switch-layout 'deframe,fec_relay|link_rx,route' --check
# What ends a run with 1 is said, quiet or not.
echo 'workloads: [{on: h0, kind: transfer, transfers: [{name: x, kind: read, gfd: g0, offset: 512K, bytes: 512, seed: 1}]}]' >"$work/more.yaml"
t 'host h0: transfer x: expected ok, got mismatch' --load "$work/more.yaml" --until-done --quiet
refuses 'host h0: transfer x: expected ok, got mismatch' bash -c \
	"exec $app/weftd --topology $work/t.yaml --load $work/more.yaml --until-done --json -"
# Each CPU once, however many nodes name it.
{ echo 'fabric: many'; echo 'nodes:'; echo '  - {name: s, kind: switch, pid: 0}'
	for i in {1..254}; do echo "  - {name: g$i, kind: gfd, pid: $i, memory: 4K, lcores: \"1019-1023\"}"; done
	echo 'links:'; for i in {1..254}; do echo "  - {a: g$i, b: s}"; done; } >"$work/many.yaml"
refuses 'lcores "1019,1020,1021,1022,1023": there is no CPU 1019 here' "$app/weftd" --topology "$work/many.yaml"
# As many ports that are no rings as DPDK takes, and one more: two a link, and two more for two bad wires.
few_ports() { # LINKS WIRE
	echo 'fabric: many'; echo 'nodes:'; echo '  - {name: s, kind: switch, pid: 0}'
	for ((i = 1; i <= $1; i++)); do echo "  - {name: g$i, kind: gfd, pid: $i, memory: 4K}"; done
	echo 'links:'; for ((i = 1; i < $1; i++)); do echo "  - {a: g$i, b: s, driver: memif}"; done
	echo "  - {a: g$1, b: s, driver: memif$2}"
}
few_ports 16 '' >"$work/few.yaml"
"$app/weftd" --topology "$work/few.yaml" --check --quiet 2>"$work/err" || die "16 links refused: $(cat "$work/err")"
[ ! -s "$work/err" ] || die "16 links: $(cat "$work/err")"
few_ports 16 ', wire: {drop: 0.1}' >"$work/few.yaml"
refuses 'as many as this DPDK takes, got 34' "$app/weftd" --topology "$work/few.yaml"
warns 'have several daemons run its nodes (--node)' "$app/weftd" --topology "$work/few.yaml" --check --quiet
"$app/weftd" --topology "$work/few.yaml" --check --quiet --node s 2>"$work/err" || die "17 ports refused: $(cat "$work/err")"
# More than that at one node is for no number of daemons.
few_ports 33 '' >"$work/few.yaml"
one='switch s: expected at most 32 ports of a node that are no rings (bad wires count as well), as many as this DPDK takes in'
refuses "$one one process, got 33: give it fewer" "$app/weftd" --topology "$work/few.yaml"
refuses "$one one process, got 33: give it fewer" "$app/weftd" --topology "$work/few.yaml" --check --node g1,s
warns "$one one process, got 33: give it fewer" "$app/weftd" --topology "$work/few.yaml" --check --quiet
topology ', driver: memif' 'mtu: 9000, speed: 7'
t 't.yaml:3:' --check
topology '' 'mtu: 1500, flits_per_frame: 34'
t 't.yaml:3:' --check
topology ', a_port: {netif: weftnone0, driver: af_packet}, b_port: {netif: weftnone1, driver: af_packet}'
t 'weftnone0'
topology ', a_port: {vdev: "net_null0"}, b_port: {vdev: "net_null0"}'
"$app/weftd" --topology "$work/t.yaml" --node h0 --check --quiet || die "two processes may have a virtual device of one name each"
t 'nodes h0 and g0: expected virtual devices of two names in one process, got net_null0 and net_null0' --check
topology ', a_port: {vdev: "net_nonesuch0"}, b_port: {vdev: "net_nonesuch1"}'
refuses_loudly() {
	if weftd >"$work/out" 2>"$work/err"; then die "a device without a driver was not refused"; fi
	grep -q 'weftd: port h0.0' "$work/err" || die "$(cat "$work/err")"
}
refuses_loudly
topology '' '' '' cxl
weftd --until-done --quiet
t '--switch-layout: in cxl mode switches end links' --switch-layout deframe,route
topology '' 'retry: {window: 7}'
t 't.yaml:3: defaults.retry.window: bad number, expected 8..511, got "7"' --check
topology '' '' 'ide: {mode: skid, key_file: /nonesuch/k}'
t 'key file /nonesuch/k: No such file'
topology '' '' 'ide: {mode: skid, key_file: k, pcrc: maybe}'
t 'ide.pcrc: bad word, expected off|on, got "maybe"' --check
topology '' '' 'ide: {mode: skid, key_file: k, rekey_flits: 0}'
t 'ide.rekey_flits: bad number, expected 1..281474976710656, got "0"' --check
printf 'fabric: x\nnodes: [\n' >"$work/t.yaml"
t 't.yaml:'
head -c 2000000 /dev/zero | tr '\0' '#' >"$work/t.yaml"
t 't.yaml'
refuses 'No such file' "$app/weftd" --topology "$work/nonesuch"
misused 'unrecognized option' "$app/weftd" --nonesuch
misused 'expected options only' "$app/weftd" start
# DPDK's own words about its arguments are two hundred lines: one is enough.
for program in weftd "weft-gen --flits 1 --out $work/x.pcap" "weft-replay --in $work/x.pcap" weft-bench; do
	[ "${program%% *}" != weft-replay ] || "$app/weft-gen" --flits 1 --out "$work/x.pcap"
	# shellcheck disable=SC2086
	misused "DPDK did not start: unrecognized option '--frob'" "$app/"$program -- --frob
	[ ! -s "$work/out" ] || die "$program: a wrong option of DPDK and $(wc -l <"$work/out") lines of help"
	# shellcheck disable=SC2086
	misused 'EAL arguments: expected options and their values, got "foo"' "$app/"$program -- -n 4 foo
done
for size in abc 64x 0; do
	misused "-m of the EAL arguments: expected a number of MB, 1 to 2147483647, got \"$size\"" "$app/weft-bench" -- -m $size
done
misused 'invalid parameters for --socket-mem' "$app/weft-bench" -- --socket-mem=64x
misused "DPDK did not start: lcore 4095 >= RTE_MAX_LCORE" "$app/weft-bench" -- -l 4095
"$app/weft-bench" -- --help | grep -q 'EAL common options' || die "DPDK's help is kept away from who asks for it"
for program in weftd weft-bench weft-gen weft-replay weft-sig weft-sim; do
	misused "unrecognized option '--frob'" "$app/$program" --frob
	"$app/$program" -h >"$work/out" || die "$program -h ended with $?"
	"$app/$program" --help | cmp - "$work/out" || die "$program: -h and --help differ"
	grep -q "^usage: $program" "$work/out" || die "$program -h does not help"
done
misused 'demo.sh: unknown option "--frob"' "$here/../../usertools/demo.sh" --frob
misused 'demo.sh: --driver: expected af_packet or af_xdp' "$here/../../usertools/demo.sh" --driver x
topology
weftd --check >"$work/out"
grep -q '^fabric bad: 2 nodes, 1 link, 1 segment,' "$work/out" || die "one of a kind: $(cat "$work/out")"
warns 'weftd: --wait: no effect without --until-done' "$app/weftd" --quiet --seconds 0.1 --wait 9
# Nobody reads what it prints, or it cannot be written: an ordinary end, and not a good one.
into_closed_pipe() {
	/usr/bin/python3 -c 'import os, subprocess, sys
r, w = os.pipe()
os.close(r)
sys.exit(abs(subprocess.run(sys.argv[1:], stdout=w, timeout=60).returncode))' "$@"
}
for command in "weftd --topology $work/t.yaml --seconds 50" "weft-replay --in $work/x.pcap"; do
	# shellcheck disable=SC2086
	set -- $command
	status=0
	XDG_RUNTIME_DIR=$work into_closed_pipe "$app/$1" "${@:2}" 2>"$work/err" || status=$?
	same "$1 into a closed pipe: status" 1 "$status"
	same "$1 into a closed pipe: said" "" "$(cat "$work/err")"
	status=0
	timeout 60 "$app/$1" "${@:2}" >/dev/full 2>"$work/err" || status=$?
	same "$1 to a full disk: status" 1 "$status"
	grep -q 'standard output could not be written whole' "$work/err" || die "$1 to a full disk: $(cat "$work/err")"
done
# A run folder that others may write to, or that is none: the fabric runs, and it is said what is wrong with it.
mkdir -p "$work/open/weft"
chmod 0777 "$work/open/weft"
XDG_RUNTIME_DIR=$work/open timeout 60 "$app/weftd" --topology "$work/t.yaml" --until-done >"$work/text" 2>"$work/err"
for text in "hosts: no program can attach: run folder $work/open/weft: expected a folder of this user that others may not write to" \
	"weftd: socket for operators in $work/open/weft: expected a folder of this user that others may not write to: weftctl"; do
	grep -qhF "$text" "$work/text" "$work/err" || die "no line '$text': $(cat "$work/text" "$work/err")"
done
# Whatever a program prints: a status of 0 says that all of it went out.
if [ -w /dev/full ]; then
	to_full=("weftd --check $work/t.yaml" "weftd --resolve $work/t.yaml --from h0 --hpa 0" "weft-bench --list"
		"weft-sim --seeds 1 --hops 100")
	for program in weftd weft-bench weft-gen weft-replay weft-sig weft-sim "weft-sim --experiment rxl"; do
		to_full+=("$program --help" "$program --version")
	done
	for command in "${to_full[@]}"; do
		refuses 'standard output could not be written whole' bash -c "exec $app/$command >/dev/full"
	done
	refuses 'written whole: No space left' bash -c "exec $app/weft-sig --version >/dev/full"
fi
# With standard output closed, what is printed goes nowhere, and into no file or socket that has its number.
for command in "weftd --topology $work/t.yaml --until-done --capture h0.0=$work/closed" \
	"weft-bench --stage crc --iterations 1" "weft-sim --hops 100"; do
	rm -f "$work/closed"
	refuses 'standard output could not be written whole' bash -c "exec $app/$command >&-"
	! grep -qa 'fabric bad' "$work/closed" 2>/dev/null || die "$command printed into its other file"
done
bash -c "exec $app/weftd --topology $work/t.yaml --until-done --quiet <&- >&- 2>&-" || die "nothing is printed, and yet $?"
# A memif whose other end does not come: --seconds ends that too.
topology ', driver: memif'
refuses 'expected another daemon at' "$app/weftd" --topology "$work/t.yaml" --node g0 --quiet --seconds 1
# A start that fails leaves neither a lock nor the socket of what it had opened.
cat >"$work/two.yaml" <<-'Y'
fabric: two
nodes:
  - {name: s0, kind: switch, pid: 1}
  - {name: h0, kind: host, pid: 2}
  - {name: g0, kind: gfd, pid: 3}
links:
  - {a: s0, b: h0, driver: memif}
  - {a: s0, b: g0, a_port: {netif: weftnone0}, b_port: {netif: weftnone1}}
Y
for node in s0 g0; do refuses 'no such interface here' "$app/weftd" --topology "$work/two.yaml" --node $node; done
same "left in the run folder" "" "$(ls "$work/weft")"
# Each host that a manager sits at has a socket.
{
	printf 'fabric: managers\nnodes:\n  - {name: s0, kind: switch, pid: 0x010}\n'
	printf '  - {name: h%u, kind: host, pid: 0x10%u, manager: true}\n' 0 0 1 1 2 2 3 3 4 4
	printf 'links:\n'
	printf '  - {a: s0, b: h%u}\n' 0 1 2 3 4
} >"$work/five.yaml"
refuses '--node: expected at most 4 hosts with manager: true in a process, got 5: give some to another weftd' \
	"$app/weftd" --topology "$work/five.yaml" --seconds 0.1
same "left in the run folder by too many managers" "" "$(ls "$work/weft")"
# A capture on standard output has it for itself.
topology
"$app/weftd" --topology "$work/t.yaml" --until-done --stats-interval 0.001 --capture h0.0=- >"$work/c.pcapng" 2>/dev/null
"$app/weft-replay" --in "$work/c.pcapng" >/dev/null || die "a capture on standard output is no trace"
sed -i 's/memory: 1M/memory: 64G/' "$work/t.yaml"
if [ "$(awk '/^MemTotal/ {print $2}' /proc/meminfo)" -lt 60000000 ] && [ "$(cat /proc/sys/vm/overcommit_memory)" -ne 1 ]; then
	t 'gfd g0: memory of 68719476736 bytes: Cannot allocate memory'
fi

# Garbage into a port, again and again, since what comes before a node takes part is not looked at:
# counted, never a crash, and traffic goes on beside it.
topology ', a_port: {vdev: "net_pcap0,rx_pcap='"$work"'/junk.pcap,infinite_rx=1,tx_pcap='"$work"'/out.pcap"}, b_port: {vdev: "net_pcap1,rx_pcap='"$work"'/junk.pcap,infinite_rx=1,tx_pcap='"$work"'/out2.pcap"}'
"$app/weft-gen" --flits 500 --frame-flits 5 --errors garbage=1,ber=1e-4 --out "$work/junk.pcap"
"$app/weftd" --topology "$work/t.yaml" --seconds 1 --quiet --json "$work/r.json"
same "junk counted at both ends" True "$(json "$work/r.json" 'all(sum(n["drops"].values()) >= 200 for n in o["nodes"])')"
same "nothing executed" 0 "$(json "$work/r.json" 'sum(n["memory"]["writes"] for n in o["nodes"] if n["kind"] == "gfd")')"
echo "weftd refuses what it cannot run"
