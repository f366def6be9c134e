#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Two weft-fm on one etcd: one leads and the other waits; the one that leads is killed at random moments while nodes are
# drained, and in the middle of giving and taking memory, is stopped beyond its lease, and etcd goes and comes back.
. "$(dirname "$0")/lib.sh"
[ -x "$app/weft-fm" ] || skip "weft-fm is not built: SQLite is not there"
command -v etcd >/dev/null || skip "skipped: etcd is not there (package etcd-server)"
"$app/weft-fm" --topology none --store etcd:http://h:1 2>&1 | grep -q libcurl && skip "skipped: weft-fm was built without libcurl"
components=$WEFT_BUILD/test/smoke/fm_components
export XDG_RUNTIME_DIR=$work
cd "$work"
seed=${WEFT_TEST_SEED:-$RANDOM}
echo "WEFT_TEST_SEED=$seed"
RANDOM=$seed
cat >lab.yaml <<-Y
	fabric: managed
	management: fm
	nodes:
	  - {name: h0, kind: host, pid: 0x101}
	  - {name: h1, kind: host, pid: 0x102}
	  - {name: s0, kind: switch, pid: 0x010}
	  - {name: s1, kind: switch, pid: 0x011}
	  - {name: g0, kind: gfd, pid: 0x200, memory: 1M}
	links:
	  - {a: h0, b: s0}
	  - {a: s0, b: s1}
	  - {a: s0, b: s1}
	  - {a: s1, b: g0}
	  - {a: s1, b: h1}
Y
run=$work/weft
mkdir -m 700 "$run"
mkfifo orders
"$components" lab.yaml "$run" <orders >answers 2>components.err &
pids+=($!)
exec 9>orders
wait_for 10 grep -q ready answers
answered() { [ "$(wc -l <answers)" -gt "$1" ]; }
order() {
	local n
	n=$(wc -l <answers)
	echo "$*" >&9
	wait_for 5 answered "$n"
}

etcd_place
post() { # PATH JSON
	curl -s --noproxy '*' -X POST -d "$2" "http://127.0.0.1:$etcd_port/v3/$1"
}
key() { printf '%s' "lab/$1" | base64 -w0; }
value() { post kv/range "{\"key\": \"$(key "$1")\"}" | json /dev/stdin '__import__("base64").b64decode(o["kvs"][0]["value"]).decode()'; }

fm=("$app/weft-fm" --topology lab.yaml --store "etcd:http://127.0.0.1:$etcd_port/lab" --lease 2 --poll 20)
for bad in etcd: etcd:h:1 etcd:http:// etcd:ftp://h:1 etcd:http://user:word@h:1 'etcd:http://h:1/a b' etcd:http://h:1,,i:2 \
	etcd:http://h:1, etcd:http://h etcd:http://h:0 etcd:http://h:99999 etcd:http://h:1,i:x/lab; do
	misused 'expected etcd:http' "$app/weft-fm" --topology lab.yaml --store "$bad"
done

# Managers that come before etcd does wait for it.
declare -A pid=()
begin() { # NAME
	"${fm[@]}" >>"$1.log" 2>>"$1.err" &
	pid[$1]=$!
	pids+=($!)
}
last() { grep -E '^(leads|waits) ' "$1.log" | tail -n 1; } # NAME: what it said of the lead
leads() { last "$1" | grep -q '^leads'; }
waits() { last "$1" | grep -q '^waits'; }
converged() { leads "$1" && tail -n 1 "$1.log" | grep -q '^converged'; }
one_leads() { leads a || leads b; }
lead() { # who leads is $first; on a machine that stood still it may be another than a moment ago
	wait_for 10 one_leads
	if leads a; then first=a second=b; else first=b second=a; fi
	wait_for 10 converged $first
}
begin a
wait_for 10 grep -q 'no command is sent until it answers' a.err
etcd_begin
begin b
wait_for 20 grep -q 'it answers again' a.err
lead
wait_for 10 waits $second
! grep -q '^write' $second.log || die "both sent commands"
grep -q "process ${pid[$first]} at" $second.log || die "does not say who leads"
wait_for 5 timeout 5 "$app/weftctl" fm show fabric
"${fm[@]}" --once --timeout 1 >third.log 2>third.err && die "a third manager had the lead"
grep -q 'two managers have the seats' third.log || die "does not say why a third one waits"

# Killed at random moments, while a wish of operators is under way; what the store has is there in the end.
wish=true
for _ in $(few 1 "1 2"); do
	lead
	timeout 5 "$app/weftctl" fm "$([ $wish = true ] && echo drain || echo undrain)" s1 >wish.log 2>wish.err || true
	sleep "0.0$((RANDOM % 100))"
	kill -KILL "${pid[$first]}"
	wait "${pid[$first]}" 2>/dev/null || true
	wait_for 10 converged $second
	begin $first
	wait_for 10 waits $first
	timeout 5 "$app/weftctl" fm show switch --json >switches.json || die "the second does not serve operators"
	[ "$(json switches.json '[s["drained"] for s in o if s["name"] == "s1"][0]')" = "$([ $wish = true ] && echo True || echo False)" ] ||
		die "the wish was lost: $(cat wish.err)"
	wish=$([ $wish = true ] && echo false || echo true)
done
lead
timeout 5 "$app/weftctl" fm undrain s1 >wish.log || die "s1 stays drained, and no way leads to memory"
# Killed in the middle of giving and taking memory: the GFD says nothing meanwhile, so the first can't have finished.
memory() { timeout 5 "$app/weftctl" fm show memory --json; }
is_memory() { # EXPRESSION of the list o
	memory | json /dev/stdin "1 / ($1)"
}
killed_at() { # OPERATION... EXPRESSION: what is there when the second has finished it
	lead
	order hold g0
	timeout 5 "$app/weftctl" fm mem "${@:1:$#-1}" >wish.log 2>wish.err || die "mem $1 was not taken"
	kill -KILL "${pid[$first]}"
	wait "${pid[$first]}" 2>/dev/null || true
	order free g0
	wait_for 15 is_memory "${*: -1}"
	begin $first
	wait_for 10 waits $first
}
has='[(m["name"], m["state"], m["size"], m["hosts"]) for m in o]'
killed_at create data --hosts h0 --size 64K --gfd g0 "$has == [('data', 'there', 65536, ['h0'])]"
killed_at grow data --size 4K "$has == [('data', 'there', 69632, ['h0'])]"
[ -n "${WEFT_TEST_AGAIN:-}" ] || killed_at share data --hosts h1 "$has == [('data', 'there', 69632, ['h0', 'h1'])]"
# Where no way leads to it, nothing is left to do and it is not there all the same; that another waits is not its matter.
order down s1 g0
wait_for 15 is_memory "[m['state'] for m in o] == ['lost']"
order up s1 g0
wait_for 15 is_memory "[m['state'] for m in o] == ['there']"
order hold g0
timeout 5 "$app/weftctl" fm mem create more --hosts h0 --size 4K --gfd g0 >wish.log || die "more was not taken"
same 'memory beside one that is being made' "[('data', 'there'), ('more', 'wanted')]" "$(memory | json /dev/stdin '[(m["name"], m["state"]) for m in o]')"
timeout 5 "$app/weftctl" fm mem release more >wish.log || die "more was not released"
order free g0
killed_at release data "o == []"
gone() { timeout 5 "$app/weftctl" fm show extents --json | json /dev/stdin '1 / (o == [])'; }
wait_for 10 gone
timeout 5 "$app/weftctl" fm history | grep -q 'mem release' || die "the log does not have who released"

grep -q 'take over from the other manager' a.log b.log || die "nothing was taken over"
timeout 5 "$app/weftctl" fm history | grep -q 'take over' || die "the log does not have it"

# One that leads and was stopped for longer than its lease: it sends nothing any more. Operators reach the other one all
# the same; who asked the one that stands hears that it does not lead when it runs again, and the socket stays the other's.
lead
/usr/bin/python3 -S -c 'import socket, sys, time
s = socket.socket(socket.AF_UNIX)
s.settimeout(60)
s.connect(sys.argv[1])
open("connected", "w").close()
while sys.stdin.readline() != "go\n":
    pass
s.sendall(b"{\"cmd\": \"show\", \"what\": \"fabric\"}\n")
open("asked", "w").close()
print(s.makefile().readline())' "$run/fm.sock" >old.json < <(wait_for 30 test -e stopped; echo go) &
asker=$!
pids+=($!)
wait_for 10 test -e connected
kill -STOP "${pid[$first]}"
: >stopped
wait_for 10 test -e asked
wait_for 10 converged $second
wait_for 10 timeout 5 "$app/weftctl" fm show fabric
timeout 5 "$app/weftctl" fm drain s0 >/dev/null || die "the one that leads takes no wish while the other stands"
grep -q 'does not answer: it is this one' $second.err || die "does not say that it took the socket over"
writes=$(grep -c '^write' $first.log || true)
kill -CONT "${pid[$first]}"
wait_for 10 waits $first
[ "$(grep -c '^write' $first.log || true)" = "$writes" ] || die "sent commands without the lead"
wait $asker || die "the one that stood says nothing"
[ "$(json old.json '"does not lead" in o["error"]')" = True ] || die "the one that stood answers $(cat old.json)"
timeout 5 "$app/weftctl" fm undrain s0 >/dev/null || die "the one that stood took the socket along"
kill -TERM "${pid[$first]}"
wait "${pid[$first]}" || die "the one that stood does not end well"
[ "$(echo "$run"/fm.sock*)" = "$run/fm.sock" ] || die "sockets are left behind: $(echo "$run"/fm.sock*)"
timeout 5 "$app/weftctl" fm show fabric >fabric.txt || die "the one that stood took the socket along at its end"
begin $first
wait_for 10 waits $first
# A socket that was removed is made again.
rm "$run/fm.sock"
wait_for 5 timeout 5 "$app/weftctl" fm show fabric
lead

# Fenced: who has the leader's key leads, whatever this manager's clock says.
kill -STOP "${pid[$second]}"
post kv/deleterange "{\"key\": \"$(key leader)\"}" >etcd.json
post kv/put "{\"key\": \"$(key leader)\", \"value\": \"$(printf another | base64)\"}" >etcd.json
timeout 5 "$app/weftctl" fm drain s0 >wish.log 2>wish.err && die "wrote a store that another leads"
kill -CONT "${pid[$second]}"
wait_for 5 grep -q '^waits fabric: another leads' $first.log
! value drained/s0 2>/dev/null || die "drained by a manager that does not lead"
post kv/deleterange "{\"key\": \"$(key leader)\"}" >etcd.json
lead

# Etcd goes: a line from each, the fabric stays; it comes back, and one leads. Who asks the manager of another fabric for
# its log, which has not looked at etcd since, hears that it cannot be read: its lease lasts, and nothing else is asked.
mkdir -m 700 "$work/alone"
lone=(env "XDG_RUNTIME_DIR=$work/alone")
"${lone[@]}" "$app/weft-fm" --topology lab.yaml --store "etcd:http://127.0.0.1:$etcd_port/alone" --lease 60 >alone.log 2>alone.err &
alone=$!
pids+=($alone)
wait_for 10 leads alone
wait_for 10 "${lone[@]}" timeout 5 "$app/weftctl" fm history
: >$first.err
kill -KILL "$etcd"
wait "$etcd" 2>/dev/null || true
refuses 'history: the store cannot be read (etcd does not answer)' "${lone[@]}" "$app/weftctl" fm history
kill -TERM $alone
wait $alone || die "the one of another fabric does not end well"
wait_for 10 grep -q 'no command is sent until it answers' $first.err
[ "$(grep -c 'no command' $first.err)" = 1 ] || die "said again and again"
wait_for 5 waits $first
etcd_begin
lead

# It ends: the other leads at once. A document that is none: a line, and nothing is given back.
kill -TERM "${pid[$first]}"
wait "${pid[$first]}" || die "does not end well"
wait_for 5 converged $second
kill -TERM "${pid[$second]}"
wait "${pid[$second]}" || die "does not end well"
post kv/put "{\"key\": \"$(key memory)\", \"value\": \"$(printf '[{"name": "x"' | base64)\"}" >etcd.json
refuses 'expected the document that weft-fm wrote' "${fm[@]}" --once
post kv/put "{\"key\": \"$(key schema)\", \"value\": \"$(printf 2 | base64)\"}" >etcd.json
refuses 'use the weft-fm that wrote it' "${fm[@]}" --once
