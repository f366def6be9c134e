#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Live switches with empty tables, and GFDs whose memory is nobody's, become a working fabric by weft-fm alone: traffic
# runs on memory that the manager gave, and is refused on all other. When the switch of one of two ways is killed, traffic
# goes on by the other: nothing is lost, nothing is wrong.
. "$(dirname "$0")/lib.sh"
export XDG_RUNTIME_DIR=$work
unset WEFT_SOCKET
cd "$work"
[ -x "$app/weft-fm" ] || skip 'skipped: weft-fm was not built (package libsqlite3-dev)'
ctl() { timeout 60 "$app/weftctl" "$@"; }
cleanup() { fusermount3 -u -z -q "$work/files" 2>/dev/null || true; }

# lab: 2 hosts, 4 switches in two ways, each of which begins with three equal links, 3 GFDs
lab() {
	cat <<-Y
	fabric: managed
	management: fm
	nodes:
	  - {name: h0, kind: host, pid: 0x101}
	  - {name: h1, kind: host, pid: 0x102}
	  - {name: s0, kind: switch, pid: 0x010}
	  - {name: s1, kind: switch, pid: 0x011}
	  - {name: s2, kind: switch, pid: 0x012}
	  - {name: s3, kind: switch, pid: 0x013}
	  - {name: g0, kind: gfd, pid: 0x200, memory: 4M}
	  - {name: g1, kind: gfd, pid: 0x201, memory: 4M}
	  - {name: g2, kind: gfd, pid: 0x202, memory: 4M}
	links:
	  - {a: h0, b: s0, driver: ring}
	  - {a: h1, b: s0, driver: ring}
$(for s in s1 s2; do for i in 1 2 3; do echo "  - {a: s0, b: $s, driver: memif}"; done; done)
	  - {a: s1, b: s3, driver: memif}
	  - {a: s2, b: s3, driver: memif}
	  - {a: s3, b: g0, driver: ring}
	  - {a: s3, b: g1, driver: ring}
	  - {a: s3, b: g2, driver: ring}
	workloads:
	  - {on: h0, kind: mem, requests: 0, rate: 200, outstanding: 16, lines: 512, timeout_ms: 60000}
	  - {on: h1, kind: mem, requests: 0, rate: 200, outstanding: 16, lines: 512, timeout_ms: 60000}
	  - {on: h0, kind: uio, requests: 0, rate: 200, outstanding: 8, lines: 512, timeout_ms: 60000}
	  - {on: h1, kind: uio, requests: 0, rate: 200, outstanding: 8, lines: 512, timeout_ms: 60000}
	Y
}
lab >lab.yaml
"$app/weftd" --check lab.yaml >out
grep -q 'management: fm: switches start with empty tables' out || die "--check does not say who writes the tables: $(cat out)"

# What does not follow a manager is refused.
{ lab && echo '  - {on: h0, kind: transfer, transfers: [{kind: write, gfd: g0, offset: 1M, bytes: 4K}]}'; } >transfers.yaml
refuses 'expected no transfers or translations' "$app/weftd" --topology transfers.yaml --node h0 --seconds 1

# Each way is a process.
declare -A daemon
port=$((20000 + $$ % 20000))
for nodes in h0,h1,s0,s3,g0,g1,g2 s1 s2; do
	name=${nodes%%,*}
	http=()
	[ "$name" != h0 ] || http=(--http $port)
	"$app/weftd" --topology lab.yaml --node $nodes --cci full --idle yield "${http[@]}" --json "$name.json" >"$name.log" 2>"$name.err" &
	daemon[$name]=$!
	pids+=($!)
done
for s in s0 s1 s2 s3 g0 g1 g2 h0 h1; do
	wait_for 60 test -S "weft/cci-$s.sock"
done

# Without a manager nothing goes anywhere, and nobody gives up.
sleep 1
curl -s -m 20 "http://127.0.0.1:$port/api/v1/resolve?from=h0&hpa=0x10000000000" >resolved
json resolved '1 / (o["management"] == "fm" and "proposal" in o["note"])' >/dev/null || die "whose path it is: $(cat resolved)"
same 'routes at first' 0 "$(ctl show routes --node s0 --json | json /dev/stdin 'sum(r["port"] is not None for r in o)')"
same 'connections at first' 0 "$(ctl show connections --json | json /dev/stdin 'sum(c["state"] == "up" for c in o)')"

# A manager that is killed after its first writes, and the next.
"$app/weft-fm" --topology lab.yaml --store sqlite:lab.db >fm1.log 2>fm1.err &
fm=$!
pids+=($fm)
wait_for 60 grep -q '^write ' fm1.log
kill -KILL $fm
wait $fm 2>/dev/null || true
"$app/weft-fm" --topology lab.yaml --store sqlite:lab.db >fm.log 2>fm.err &
fm=$!
pids+=($fm)
wait_for 60 grep -q '^converged ' fm.log
all_up() { ctl show connections --json | json /dev/stdin '1 / (len(o) == 12 and all(c["state"] == "up" for c in o))' >/dev/null; }
wait_for 60 all_up
moves() { ctl show connections --node h0 --json | json /dev/stdin '1 / all(c["sent_per_s"] > 0 and c["delivered_per_s"] > 0 for c in o)' >/dev/null; }
wait_for 60 moves
# Nobody has memory yet; then those have it to whom it is given, and others hear of refusals.
same 'memory at first' '0 0' "$(ctl fm show memory --json | json /dev/stdin 'len(o)') $(ctl fm show extents --json | json /dev/stdin 'len(o)')"
ctl --node h0 mem read g0 0 16 >/dev/null 2>&1 && die "memory that nobody gave is read"
there() { ctl fm show memory --json | json /dev/stdin "1 / (len(o) == $1 and all(m['state'] == 'there' for m in o))" >/dev/null; }
plan=$(ctl fm mem create --host h0 --size 1M --gfd g0 --plan --json | json /dev/stdin '",".join(c["node"] + ":" + c["command"] for c in o)')
same 'plan' 'h0:Set Host Memory,g0:GFD Dynamic Capacity Add,g0:Set GFD SAT Entry,h0:Set Host Memory' "$plan"
same 'memory after a plan' 0 "$(ctl fm show memory --json | json /dev/stdin 'len(o)')"
same 'created' "('mem0', 1048576, ['h0'], [('g0', 0)])" "$(ctl fm mem create --host h0 --size 1M --gfd g0 --json |
	json /dev/stdin "o['name'], o['size'], o['hosts'], [(e['gfd'], e['dpa']) for e in o['extents']]")"
# Killed in the middle of that, the next manager goes on.
ctl fm mem create other --hosts h0,h1 --size 512K --gfd g1 >/dev/null
kill -KILL $fm
wait $fm 2>/dev/null || true
# One without that store: all is another's, and it says so at once where memory is asked for.
"$app/weft-fm" --topology lab.yaml >other.log 2>other.err &
fm=$!
pids+=($fm)
wait_for 60 grep -q '^foreign g1: ' other.log
ctl fm mem create x --host h0 --size 4K --gfd g1 2>err >out
grep -q "^weftctl: memory x is wanted: g1 belongs to another manager: give that one's --store" err || die "why x is wanted: $(cat err)"
kill -TERM $fm
wait $fm || die "weft-fm ended with $?"
# By a file that lacks one of its hosts, its memory would go.
grep -v h1 lab.yaml >without.yaml
refuses 'memory other: expected its GFDs and hosts in the topology file' "$app/weft-fm" --topology without.yaml \
	--store sqlite:lab.db --once --timeout 4
"$app/weft-fm" --topology lab.yaml --store sqlite:lab.db >>fm.log 2>>fm.err &
fm=$!
pids+=($fm)
wait_for 60 there 2
wait_for 30 grep -q '^access g[012]: ' fm.log
ctl fm mem share mem0 --hosts h1 >/dev/null
# Programs that know nothing of Weft have it as files.
mkdir files
has_files=
if [ -x "$app/weft-fuse" ] && { true <>/dev/fuse; } 2>/dev/null && command -v fusermount3 >/dev/null; then
	"$app/weft-fuse" --node h0 -f files >fuse.log 2>&1 &
	pids+=($!)
	wait_for 20 test -f files/regions.json
	has_files=1
	is_size() { [ "$(stat -c %s "files/$1")" = "$2" ]; }
	has_region() { json files/regions.json "1 / any(r['name'] == '$1' for r in o['regions'])"; }
	is_size g0:0x0 $((1 << 20)) || die "a file of what is given: $(ls -l files)"
	is_size g0:0x0+0x100000 $((1 << 20)) || die "a file of a region: $(ls -l files)"
	same 'places that ls shows' '' "$(ls files | grep -v -e + -e json)"
	exec 7<files/g0:0x0 8<files/g1:0x0 # 8: what is given back below
fi
ctl fm mem grow mem0 --size 512K --json | json /dev/stdin "1 / (o['size'] == 1536 << 10)" >/dev/null || die grow
wait_for 60 there 2
echo "hello fabric" | ctl --node h0 mem write g0:1M+4K 0 || die "given memory cannot be written"
wait_for 10 moves
if [ -n "$has_files" ]; then
	wait_for 10 is_size g0:0x0 $((3 << 19))
	has_region g0:0x0+0x180000 >/dev/null || die "regions.json does not follow: $(cat files/regions.json)"
	echo "by a file" | dd of=files/g0:0x0 bs=4096 seek=$((5 << 18 >> 12)) conv=notrunc,fsync status=none || die "what has grown can't be written"
	same 'by a file' 'by a file' "$(ctl --node h1 mem read g0:1M+512K 256K 9 --out -)"
	same 'a file from before' 4096 "$(head -c 4096 <&7 | wc -c)"
	exec 7<&-
fi
# What is taken is wiped before the next has it. Who has it open hears that it is not his any more.
ctl fm mem release other >/dev/null
if [ -n "$has_files" ]; then
	is_taken() { ! dd bs=64 count=1 iflag=fullblock <&8 >/dev/null 2>taken && grep -q 'Permission denied' taken; }
	wait_for 10 is_taken
	is_gone() { [ ! -e files/g1:0x0 ]; }
	wait_for 10 is_gone
	exec 8<&-
fi
refuses 'have the manager give it (weftctl fm mem)' "$app/weftctl" --node h0 mem read g1:0+4K 0 16
ctl fm mem create next --host h0 --size 1M --gfd g1 >/dev/null
wait_for 60 there 2
[ -z "$has_files" ] || wait_for 10 is_size g1:0x0 $((1 << 20))
same 'extents' "[('g0', 0, 1048576), ('g0', 1048576, 524288), ('g1', 0, 1048576)]" "$(ctl fm show extents --json |
	json /dev/stdin "[(e['gfd'], e['dpa'], e['size']) for e in o]")"
same 'hello' 'hello fabric' "$(ctl --node h1 mem read g0:1M+4K 0 12 --out -)"
refuses 'expected what is free' "$app/weftctl" fm mem create --host h0 --size 8M --gfd g2
refuses 'expected names of hosts' "$app/weftctl" fm mem create --host g0 --size 1M --gfd g2
refuses 'expected a memory' "$app/weftctl" fm mem release nonesuch
refuses 'as many ways as a segment' "$app/weftctl" fm mem create --host h0 --size 1M --gfd g2 --interleave 2
refuses 'expected a multiple of 4096' "$app/weftctl" fm mem create --host h0 --size 1000 --gfd g2
ctl fm history --json | json /dev/stdin "1 / any(r['why'] == 'mem share' and r['who'].startswith('uid') for r in o)" >/dev/null ||
	die "the log of changes does not know who shared"
same 'the way' 'h0 > s0 > s. > s3 > g1' "$(ctl fm path h0 g1 | sed 's/s[12]/s./')"

# Of three equal links, which a group names, each has the traffic of a GFD.
grep -q 'RGT 0, rows' fm1.log fm.log || die "no group of equal links was written: $(cat fm.log)"
same 'ports of s0 towards GFDs' 3 "$(ctl show routes --node s0 --json | json /dev/stdin 'len({r["port"] for r in o if r["dpid"] >= 0x200})')"

# Memory is given back whose GFD does not answer: who has requests open there keeps it until they have ended, and all
# sockets of its daemon answer meanwhile: all that was asked has its answer while the pause lasts. The file is read again,
# once that is over.
ask=(/usr/bin/python3 -S "$here/answers.py" weft/cci-h0.sock "weft/weftd-${daemon[h0]}.ctl")
is_paused() { ctl inject list | grep -q g2; }
extents_of() { ctl fm show extents --json | json /dev/stdin "[1 for e in o if e['gfd'] == '$1'].__len__()"; }
ctl inject pause g2 --seconds 8 >/dev/null # a session ends after 10 s of silence
sleep 0.3
ctl fm mem grow next --size 4K >/dev/null
hosts_told() { grep -c '^write h0: Set Host Memory' fm.log; }
told=$(hosts_told)
ctl fm mem release next >/dev/null
is_being_taken() { [ "$(hosts_told)" -gt "$told" ]; }
wait_for 10 is_being_taken
ctl --node h0 reload >reloaded & reload=$!
"${ask[@]}" 20 || die "sockets of h0 are closed"
taken=$(extents_of g1)
is_paused || die "sockets of h0 answered when g2 did, and not before"
[ "$taken" -gt 0 ] || die "memory was taken while h0 had requests open"
ctl inject stop >/dev/null
is_taken_back() { [ "$(extents_of g1)" = 0 ]; }
wait_for 20 is_taken_back
wait $reload || die "a reload after that: $(cat reloaded)"
ctl fm mem create next --host h0 --size 1M --gfd g1 >/dev/null
wait_for 60 there 2

# One of the two ways goes, and memory with it.
victim=$(ctl fm path h0 g1 | grep -o 's[12]')
"${ask[@]}" 0 2>answers.err & asker=$!
pids+=($asker)
kill -KILL "${daemon[$victim]}"
ctl fm mem release next >/dev/null
around() { ctl fm path h0 g1 | grep -q "> s[12] >" && ! ctl fm path h0 g1 | grep -q "$victim"; }
wait_for 5 around
kill -TERM $asker
wait $asker || die "sockets of h0 are closed: $(cat answers.err)"
wait_for 30 moves
ctl fm show fabric >out
same 'what is lost' "LOST $victim" "$(awk '{print $NF}' out | paste -sd ' ')"

# The judge of all of it: every byte that was read.
kill -TERM "${daemon[h0]}"
wait "${daemon[h0]}" || die "weftd ended with $?"
for h in 0 1; do
	same "h$h: mismatches, lost" '0 0' "$(json h0.json "'%d %d' % tuple(o['nodes'][$h]['traffic'][k] for k in ('mismatches', 'lost'))")"
	json h0.json "1 / (o['nodes'][$h]['traffic']['verified'] > 0)" >/dev/null || die "h$h read nothing"
	json h0.json "1 / (o['nodes'][$h]['traffic']['refused'] > 0)" >/dev/null || die "h$h was refused nothing"
	uio="o['nodes'][$h]['uio']['traffic']"
	same "h$h by UIO: mismatches, lost, wrong answers" '0 0 0' "$(json h0.json "'%d %d %d' % tuple($uio[k] for k in ('mismatches', 'lost', 'wrong_answer'))")"
	json h0.json "1 / ($uio['verified'] > 0 and $uio['refused'] > 0)" >/dev/null || die "h$h by UIO: read nothing, or was refused nothing"
done
json h0.json "1 / all(n['access']['sat'] + n['access']['group'] > 0 for n in o['nodes'] if n['name'].startswith('g'))" >/dev/null ||
	die "GFDs do not count what they refuse"
json h0.json "1 / (o['cci']['reports'] > 0)" >/dev/null || die "no report of an access that was refused"
# Memory of a GFD that has gone, with that daemon, is not there.
lost() { ctl fm show memory --json | json /dev/stdin "1 / ([m['state'] for m in o if m['name'] == 'mem0'] == ['lost'])" >/dev/null; }
wait_for 60 lost
kill -TERM $fm
wait $fm || die "weft-fm ended with $?"
echo 'a manager makes a fabric of switches and keeps it one'
