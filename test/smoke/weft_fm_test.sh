#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# weft-fm over components in memory, at the sockets that daemons would serve: a fabric with empty tables becomes that of
# the file, a manager that is killed is followed by another, a dead switch is routed around, operators see and steer.
. "$(dirname "$0")/lib.sh"
[ -x "$app/weft-fm" ] || skip "weft-fm is not built: SQLite is not there"
components=$WEFT_BUILD/test/smoke/fm_components
export XDG_RUNTIME_DIR=$work
cd "$work"
cat >lab.yaml <<-Y
	fabric: managed
	nodes:
	  - {name: h0, kind: host, pid: 0x101, access: [red]}
	  - {name: h1, kind: host, pid: 0x102, access: [red, blue]}
	  - {name: s0, kind: switch, pid: 0x010}
	  - {name: s1, kind: switch, pid: 0x011}
	  - {name: s2, kind: switch, pid: 0x012}
	  - {name: s3, kind: switch, pid: 0x013}
	  - {name: g0, kind: gfd, pid: 0x200, memory: 1M}
	  - {name: g1, kind: gfd, pid: 0x201, memory: 1M}
	links:
	  - {a: h0, b: s0}
	  - {a: s0, b: s1}
	  - {a: s0, b: s2}
	  - {a: s1, b: s3}
	  - {a: s2, b: s3}
	  - {a: s3, b: g0}
	  - {a: s3, b: g1}
	  - {a: h1, b: s1}
	groups:
	  - {name: red, ranges: [{gfd: g0, base: 0, size: 512K}, {gfd: g1, base: 0, size: 1M}]}
	  - {name: blue, ranges: [{gfd: g0, base: 512K, size: 256K}]}
Y
run=$work/weft
mkdir -m 700 -p "$run"
"$app/weftd" --topology lab.yaml --check >/dev/null || die "the file"
mkfifo orders
"$components" lab.yaml "$run" <orders >answers 2>components.err &
pids+=($!)
exec 9>orders
order() {
	local n
	n=$(wc -l <answers)
	echo "$*" >&9
	for _ in $(seq 100); do
		[ "$(wc -l <answers)" -le "$n" ] || return 0
		sleep 0.05
	done
	die "no answer to $*"
}
for _ in $(seq 100); do grep -q ready answers && break || sleep 0.05; done
grep -q ready answers || die "components do not begin"

fm=("$app/weft-fm" --topology lab.yaml --store sqlite:fm.db)
misused 'expected --topology' "$app/weft-fm"
misused 'expected sqlite:PATH' "$app/weft-fm" --topology lab.yaml --store nonesuch:x
misused '--lease: expected a store of etcd beside it, got none' "$app/weft-fm" --topology lab.yaml --lease 5
misused '--lease: expected a store of etcd beside it, got sqlite:fm.db' "${fm[@]}" --lease 2
misused '--store: expected one store, got "sqlite:fm.db" and "sqlite:b.db"' "${fm[@]}" --store sqlite:b.db
misused 'expected sqlite:PATH, got' "$app/weft-fm" --topology lab.yaml --store sqlite:
# A report does not take the place of what it is made from.
cp lab.yaml own.yaml
echo kept >own.db
misused '--topology and --json: expected two files, got "own.yaml" and "./own.yaml"' \
	"$app/weft-fm" --topology own.yaml --once --timeout 1 --json ./own.yaml
for name in own.db none.db; do
	misused "--store and --json: expected two files, got \"$name\" and \"./$name\"" \
		"$app/weft-fm" --topology own.yaml --store sqlite:$name --once --timeout 1 --json ./$name
done
same "files that were named for the report as well" "$(cat lab.yaml && echo kept)" "$(cat own.yaml own.db)"
[ ! -e none.db ] || die "a store was made that was refused"
echo no database >bad.db
for _ in 1 2 3 4 5 6 7 8; do cat bad.db bad.db >bad2.db && mv bad2.db bad.db; done
refuses 'store' "$app/weft-fm" --topology lab.yaml --store sqlite:bad.db
"$app/weft-fm" --topology lab.yaml --store sqlite:bad.db --timeout 5 >out 2>timeout.err && die "a store that is none is taken"
same "a time that nobody waits for" 'weft-fm: --timeout: no effect without --once' "$(head -n 1 timeout.err)"
rm timeout.err

for version in -1 99; do
	sqlite3 old.db "PRAGMA user_version = $version; CREATE TABLE meta (key)"
	# A name that looks like a URI is that of a file.
	cp old.db file:old.db
	refuses "store old.db: expected schema version 2, got $version" "$app/weft-fm" --topology lab.yaml --store sqlite:old.db
	refuses "store file:old.db: expected schema version 2, got $version" "$app/weft-fm" --topology lab.yaml --store sqlite:file:old.db
	rm -f old.db* file:old.db*
done
sqlite3 notes.db 'CREATE TABLE notes (x)'
cp notes.db notes.copy
refuses "store notes.db: expected a store of weft-fm, or a file that is not there yet, got another program's" \
	"$app/weft-fm" --topology lab.yaml --store sqlite:notes.db
cmp -s notes.db notes.copy || die "another program's database was changed"
[ ! -e notes.db-lock ] && [ ! -e bad.db-lock ] || die "a lock stands beside what is no store"
refuses "store /dev/null: expected a file" "$app/weft-fm" --topology lab.yaml --store sqlite:/dev/null
[ ! -e /dev/null-lock ] || die "a lock stands beside what is no store"
# A run folder that no daemon serves.
mkdir -m 700 nobody
XDG_RUNTIME_DIR=$work/nobody "$app/weft-fm" --topology lab.yaml --once --timeout 1 >nobody.log 2>nobody.err && die "nobody is managed"
grep -q "^lost s0: nobody serves $work/nobody/weft/cci-s0.sock" nobody.log || die "does not say where it looked: $(cat nobody.log)"

# Killed again and again on the way, then once to the end.
for ms in 002 004 007 012 020; do
	"${fm[@]}" --once >killed.log 2>&1 &
	sleep 0.$ms
	{ kill -KILL $! && wait $!; } 2>/dev/null || true
done
timeout 30 "${fm[@]}" --once --json found.json >once.log 2>once.err || die "--once"
[ "$(json found.json 'o["converged"], o["ready"], len(o["switches"]), len(o["gfds"])')" = "(True, 6, 4, 2)" ] || die "found"
[ "$(json found.json '[p["node"] for p in o["pids"] if p["pid"] != p["desired"]]')" = "[]" ] || die "PIDs"
[ "$(json found.json '[(e["gfd"], e["group"], e["dpa"], e["size"]) for e in o["extents"]]')" = \
	"[('g0', 0, 0, 524288), ('g0', 1, 524288, 262144), ('g1', 0, 0, 1048576)]" ] || die "extents"
[ "$(json found.json '[g["groups_open"] for g in o["gfds"]]')" = \
	"[{'h0': '0x001', 'h1': '0x003'}, {'h0': '0x001', 'h1': '0x001'}]" ] || die "rights"
# Once more, nothing is left to be done.
timeout 30 "${fm[@]}" --once >again.log 2>&1 || die "--once again"
! grep -q '^write' again.log || die "a second run wrote"
[ ! -w /dev/full ] || refuses 'standard output could not be written whole: No space left on device' bash -c "exec ${fm[*]} --once >/dev/full"
[ "$(sqlite3 fm.db 'SELECT count(*) > 10 FROM audit WHERE who = "weft-fm"')" = 1 ] || die "no log of changes"
# Without that store it is another manager, and nothing is its own.
"$app/weft-fm" --topology lab.yaml --once --timeout 1 >other.log 2>other.err && die "another manager took it"
grep -q "^foreign s0: .*left alone: give that one's --store" other.log || die "foreign components are not said to be"
grep -q '^converged fabric: 0 nodes, 0 links, without 6 of 6 components, which are foreign' other.log || die "0 nodes, and not why"
# Where JSON takes standard output as well, and before the time is over.
rm other.err # which says so already
"$app/weft-fm" --topology lab.yaml --store sqlite::memory: --once --timeout 60 --json - >other.json 2>other.err &
manager=$!
pids+=("$manager")
wait_for 20 grep -q "^weft-fm: 6 of 6 components belong to another manager, as each weft-fm without --store is" other.err
[ "$(timeout 20 "$app/weftctl" fm show fabric --json | json /dev/stdin 'o["converged"], len(o["lost"]), len(o["foreign"])')" = \
	"(False, 6, 6)" ] || die "converged without any component of its own"
timeout 20 "$app/weftctl" fm show fabric | grep -q '^managed  *no: 6 of 6 have another manager' || die "weftctl fm show fabric says no reason"
kill -TERM "$manager"
wait "$manager" && die "another manager took it"
grep -q 'as it is to be: a signal ended it: s0 is foreign' other.err || die "not ended by a signal but: $(cat other.err)"
! compgen -G ':memory:*' >/dev/null || die "a store in memory made a file"
grep -q ': s0 is foreign, s1 is foreign, ' other.err || die "what is missing is not said: $(cat other.err)"
# Now to stay.
"${fm[@]}" >fm.log 2>fm.err &
manager=$!
pids+=("$manager")
says() { # PATTERN: in the log within 5 s
	for _ in $(seq 100); do
		grep -qE "$1" fm.log && return 0
		sleep 0.05
	done
	die "never said $1"
}
says '^converged'
ask() { # JSON: the answer
	/usr/bin/python3 -S -c 'import json, socket, sys
s = socket.socket(socket.AF_UNIX)
s.settimeout(10)
s.connect(sys.argv[1])
s.sendall(sys.argv[2].encode() + b"\n")
print(s.makefile().readline())' "$run/fm.sock" "$1" >answer.json
}
[ "$(stat -c %a "$run/fm.sock")" = 600 ] || die "others may connect"
refuses "the weft-fm of process $manager has it" "${fm[@]}"
refuses 'another weft-fm serves it' "$app/weft-fm" --topology lab.yaml --store sqlite:second.db
! compgen -G 'second.db*' >/dev/null || die "a manager that did not begin made its store"
ask '{"cmd": "path", "from": "h0", "to": "g0"}'
way=$(json answer.json 'o["result"][2]')
[ "$(json answer.json 'o["result"]')" = "['h0', 's0', '$way', 's3', 'g0']" ] || die "way"
other=$([ "$way" = s1 ] && echo s2 || echo s1)
ask '{"cmd": "drain", "node": "s1", "on": true, "plan": "yes"}'
[ "$(json answer.json 'o["error"]')" = "plan: expected true or false, got another" ] || die "a plan that is none"

# The switch on the way dies: within a second and what it takes to notice, traffic has another.
order dead "$way"
for _ in $(seq 30); do
	ask '{"cmd": "path", "from": "h0", "to": "g0"}'
	[ "$(json answer.json 'o.get("result")')" = "['h0', 's0', '$other', 's3', 'g0']" ] && break
	sleep 0.05
done
[ "$(json answer.json 'o.get("result")')" = "['h0', 's0', '$other', 's3', 'g0']" ] || die "not routed around $way"
says "^lost $way"
order alive "$way"
says "^found $way: .*"
for _ in $(seq 100); do
	ask '{"cmd": "show", "what": "fabric"}'
	[ "$(json answer.json 'o["result"]["converged"], o["result"]["ready"]')" = "(True, 6)" ] && break
	sleep 0.05
done
[ "$(json answer.json 'o["result"]["converged"], o["result"]["ready"]')" = "(True, 6)" ] || die "$way is not taken back"

# Drained on request; first only said what it would take.
order down s0 "$way"
order up s0 "$way"
sleep 0.5
ask "{\"cmd\": \"drain\", \"node\": \"$other\", \"plan\": true}"
[ "$(json answer.json 'o["ok"] and len(o["result"]) > 0 and all(c["command"] == "Set DRT" for c in o["result"])')" = True ] ||
	die "plan: $(cat answer.json)"
ask "{\"cmd\": \"drain\", \"node\": \"$other\"}"
[ "$(json answer.json 'o["ok"]')" = True ] || die "drain: $(cat answer.json)"
for _ in $(seq 100); do
	ask '{"cmd": "path", "from": "h0", "to": "g0"}'
	[ "$(json answer.json 'o.get("result")')" = "['h0', 's0', '$way', 's3', 'g0']" ] && break
	sleep 0.05
done
[ "$(json answer.json 'o.get("result")')" = "['h0', 's0', '$way', 's3', 'g0']" ] || die "$other is not drained"
ask '{"cmd": "history", "n": 5}'
[ "$(json answer.json 'len(o["result"]), o["result"][-1]["why"].endswith("drain '"$other"'")')" = "(5, True)" ] ||
	die "history: $(cat answer.json)"

# What operators may send.
printf '{"cmd": "path", "from": "\377", "to": "h0"}\n' >bytes
/usr/bin/python3 -S -c 'import socket, sys
s = socket.socket(socket.AF_UNIX)
s.settimeout(10)
s.connect(sys.argv[1])
s.sendall(open("bytes", "rb").read())
print(s.makefile().readline())' "$run/fm.sock" >answer.json
[ "$(json answer.json '"UTF-8" in o["error"]')" = True ] || die "bytes that are no UTF-8: $(cat answer.json)"
for bad in '{}' '[1' '{"cmd": "nonesuch"}' '{"cmd": "show"}' '{"cmd": "show", "what": 3}' '{"cmd": "path", "from": "h0", "to": "h0"}' \
	'{"cmd": "drain", "node": "nonesuch"}' '{"cmd": "drain"}' '{"cmd": "drain", "node": "s1", "on": "no"}' '{"cmd": 5}' \
	'{"cmd": "drain", "node": ["s1"]}' '{"cmd": "history", "n": -1}' '{"cmd": "history", "n": "5"}' '{"cmd": "history", "n": 1e3}'; do
	ask "$bad"
	[ "$(json answer.json 'o["ok"], len(o["error"]) > 10')" = "(False, True)" ] || die "$bad was not refused"
done
ask '{"cmd": "history", "n": 99999999999999999999}'
[ "$(json answer.json '"too big" in o["error"]')" = True ] || die "JSON that is none: $(cat answer.json)"
ask "{\"cmd\": \"path\", \"from\": \"a$(printf 'é%.0s' {1..40})\", \"to\": \"h0\"}"
[ "$(json answer.json '"names of two nodes of the fabric, got" in o["error"]')" = True ] || die "a name that is cut: $(cat answer.json)"
ask "{\"cmd\": \"$(head -c 16400 /dev/zero | tr '\0' x)"
[ "$(json answer.json '"16384 bytes" in o["error"]')" = True ] || die "a line that is too long: $(cat answer.json)"
ask "{\"cmd\": \"mem\", \"op\": \"create\", \"hosts\": [$(printf '"%032d", ' {1..255})\"h0\"]}"
[ "$(json answer.json '"management: fm" in o["error"]')" = True ] || die "a line of 256 names: $(cat answer.json)"
# Lines that come at once are answered one by one, whether or not the sender says more.
/usr/bin/python3 -S - "$run/fm.sock" <<-'P' || die "not every line of several got its answer"
	import json, socket, sys
	for ends in True, False:
	    s = socket.socket(socket.AF_UNIX)
	    s.settimeout(10)
	    s.connect(sys.argv[1])
	    s.sendall(b'{"cmd": "show", "what": "fabric"}\n' * 300 + b'{"cmd": "nonesuch"}\n')
	    if ends:
	        s.shutdown(socket.SHUT_WR)
	    f = s.makefile()
	    told = [json.loads(f.readline())["ok"] for _ in range(301)]
	    assert told == [True] * 300 + [False], told
	    assert not ends or f.readline() == ""
P
for what in fabric switch port pid route gfd extents events; do
	ask "{\"cmd\": \"show\", \"what\": \"$what\"}"
	[ "$(json answer.json 'o["ok"] and len(o["result"]) > 0')" = True ] || die "show $what"
done
# The same by weftctl.
ctl() { timeout 20 "$app/weftctl" "$@"; }
[ "$(ctl fm path h0 g0)" = "h0 > s0 > $way > s3 > g0" ] || die "weftctl fm path"
for what in fabric switch port pid route gfd extents events; do
	[ "$(ctl fm show $what | wc -l)" -ge 2 ] || die "weftctl fm show $what"
	[ "$(ctl fm show $what --json | json /dev/stdin 'len(o) > 0')" = True ] || die "weftctl fm show $what --json"
done
ctl fm history | grep -q "uid $(id -u): drain $other" || die "weftctl fm history"
ctl fm undrain "$other" --plan | grep -q "Set DRT" || die "weftctl fm undrain --plan"
ctl fm undrain "$other" >/dev/null || die "weftctl fm undrain"
ctl fm drain "$other" | grep -q "^$other .*yes" || die "weftctl fm drain"
misused 'expected fabric, switch' "$app/weftctl" fm show nonesuch
misused '--plan: fm history takes no such option' "$app/weftctl" fm history --plan
refuses 'the name of a node' "$app/weftctl" fm drain nonesuch
refuses 'the names of two nodes of the fabric, got "nonesuch"' "$app/weftctl" fm path h0 nonesuch
misused 'expected names in UTF-8' "$app/weftctl" fm drain $'s\xff'
misused '--hosts: expected names in UTF-8' "$app/weftctl" fm mem create x --hosts $'h0,\xff' --size 4K --gfd g0

# As many operators as may be, and one more: it is told so, also by weftctl. Who is connected and says nothing stays.
/usr/bin/python3 -S - "$run/fm.sock" "$app/weftctl" <<-'P' || die "one operator too many"
	import json, socket, subprocess, sys
	def connect():
	    s = socket.socket(socket.AF_UNIX)
	    s.settimeout(10)
	    s.connect(sys.argv[1])
	    return s, s.makefile()
	def asks(s, f):
	    s.sendall(b'{"cmd": "show", "what": "fabric"}\n')
	    return json.loads(f.readline())["ok"]
	held = [connect() for _ in range(32)]
	assert asks(*held[-1])
	full = "as many operators are connected as may be: 32"
	for _ in range(10):
	    s, f = connect()
	    a = f.readline()
	    assert a != "" and json.loads(a) == {"ok": False, "error": full} and f.readline() == "", a
	    by = subprocess.run([sys.argv[2], "fm", "show", "fabric"], capture_output=True, text=True, timeout=20)
	    assert by.returncode == 1 and by.stderr.endswith(full + "\n") and by.stderr.count("\n") == 1, by
	assert all(asks(*h) for h in held)
P
wait_for 10 ctl fm show fabric

kill -TERM "$manager"
wait "$manager" || die "does not end well"
[ ! -e "$run/fm.sock" ] || die "leaves its socket"
refuses 'no manager of this user runs' "$app/weftctl" fm show fabric
# Drained it stays, over the end of the manager.
timeout 30 "${fm[@]}" --once --json found.json >once.log 2>once.err || die "--once, drained"
[ "$(json found.json '[s["name"] for s in o["switches"] if s["drained"]]')" = "['$other']" ] || die "drain is forgotten"
[ ! -s fm.err ] || die "$(cat fm.err)"
# What a store may have of memory: one that was released and waits for its GFDs, and nothing that no manager wrote.
has() { sqlite3 fm.db "$1" || die "$1"; }
has "INSERT INTO memory VALUES ('~5', 5, 0)"
timeout 30 "${fm[@]}" --once >once.log 2>once.err || die "a memory that was released keeps the manager from beginning"
has "INSERT INTO memory VALUES ('x', 6, 0)"
refuses 'memory x: expected its GFDs' "${fm[@]}" --once
has "INSERT INTO memory_extent (name, gfd, dpa, size) VALUES ('x', 'g0', 0, 4096); INSERT INTO memory VALUES ('y', 7, 0);
	INSERT INTO memory_extent (name, gfd, dpa, size) VALUES ('y', 'g0', 0, 8192)"
refuses 'memories x and y: expected names, groups and places of their own' "${fm[@]}" --once
has "DELETE FROM memory_extent; UPDATE memory SET name = 'x' || char(27) WHERE name = 'x'"
refuses 'a name that is none' "${fm[@]}" --once
has "DELETE FROM memory"
# Who reads its events goes, and a store may not grow: the manager stays.
answers() { ctl fm show fabric >out 2>&1; }
(ulimit -f $(($(stat -c %s fm.db) / 1024 + 1)) && exec "${fm[@]}" 2>piped.err) > >(head -n 1 >/dev/null) &
manager=$!
pids+=("$manager")
wait_for 5 answers
for _ in {1..8}; do ctl fm drain "$way" && ctl fm undrain "$way"; done >out 2>drained.err || true
answers || die "the manager ended with the pipe of its events: $(cat piped.err)"
grep -qF 'has it (fm.db: ' drained.err || die "a store that may not grow: $(cat drained.err piped.err)"
kill -TERM "$manager"
wait "$manager" || die "does not end well without a reader of its events"
# A store that is damaged under the manager, which goes on: what it cannot keep or read is refused.
cp fm.db whole.db
"${fm[@]}" >fm.log 2>fm.err &
manager=$!
pids+=("$manager")
says '^converged'
ctl fm drain "$other" >/dev/null || die "weftctl fm drain of a store that is whole"
has "DROP TABLE audit; DROP TABLE drained"
refuses 'the store cannot be read (fm.db: no such table: audit' "$app/weftctl" fm history
refuses 'the store did not say that it has it (fm.db: no such table: drained' "$app/weftctl" fm undrain "$other"
answers || die "the manager ended with its store: $(cat fm.err)"
grep -q '^weft-fm: store fm.db: no such table: audit: not read' fm.err || die "no line of it: $(cat fm.err)"
kill -TERM "$manager"
wait "$manager" || die "does not end well with a damaged store"
refuses 'fm.db: no such table: drained: put back a whole copy of it' "${fm[@]}" --once
rm -f fm.db*
mv whole.db fm.db
# A store that is removed under the manager: a line, and what only it could keep is refused; routes are still mended.
"${fm[@]}" >fm.log 2>fm.err &
manager=$!
pids+=("$manager")
says '^converged'
rm fm.db
wait_for 5 grep -q 'store fm.db: it was removed' fm.err
refuses 'the store did not say that it has it (fm.db: it was removed' "$app/weftctl" fm undrain "$other"
order dead "$way"
says "^lost $way"
kill -TERM "$manager"
wait "$manager" || die "does not end well without its store"
[ "$(wc -l <fm.err)" -eq 1 ] || die "$(cat fm.err)"
