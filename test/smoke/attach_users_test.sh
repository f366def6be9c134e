#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Who may attach: users and groups of the topology, what they open and with which rights, what their sockets let
# in, and what becomes of programs that are there when SIGHUP changes it. Users are numbers that nobody has.
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "skipped: needs root to be other users"
command -v setpriv >/dev/null || skip "skipped: needs setpriv (package util-linux)"
export XDG_RUNTIME_DIR=$work/run
unset WEFT_SOCKET
mkdir -m 711 "$work/run"
mkdir -m 755 "$work/bin"
chmod 711 "$work"

# Copies, where every user gets to them; a library with sanitizers wants programs that have them.
cp "$WEFT_BUILD/lib/libweft.so.0" "$app/weftctl" "$work/bin/"
ln -s libweft.so.0 "$work/bin/libweft.so"
for c in "$here/../../examples/read_write.c" "$here/attach_hold.c"; do
	$(compiler_of "$WEFT_BUILD/lib/libweft.so.0") -D_GNU_SOURCE -Wall -Wextra -Werror -I"$here/../../lib/client" "$c" \
		-o "$work/bin/$(basename "$c" .c)" -L"$work/bin" -lweft -Wl,-rpath,"$work/bin"
done
sock=$work/run/weft

fabric() { # fabric FILE CLIENTS-OF-H0 CLIENTS-OF-H2 [OFFSET]: h1 is its user's alone
	cat >"$1" <<-Y
	fabric: users
	regions:
	  - {name: scratch, gfd: g0, offset: ${4:-512K}, size: 64K}
	nodes:
	  - name: h0
	    kind: host
	    pid: 0x101
	${2:+    clients: [$2]}
	  - {name: h1, kind: host, pid: 0x102}
	  - {name: h2, kind: host, pid: 0x103${3:+, clients: [$3]}}
	  - {name: s0, kind: switch, pid: 0x010}
	  - {name: g0, kind: gfd, pid: 0x200, memory: 1M}
	links:
	  - {a: h0, b: s0}
	  - {a: h1, b: s0}
	  - {a: h2, b: s0}
	  - {a: s0, b: g0}
	Y
}

user() { # user UID GID GROUPS COMMAND...: as that user; GROUPS with commas, or -
	local uid=$1 gid=$2 groups=--clear-groups
	[ "$3" = - ] || groups=--groups=$3
	shift 3
	setpriv --reuid="$uid" --regid="$gid" "$groups" "$@"
}

says() { # says WHAT TEXT COMMAND...: it fails with a line that has the text
	local what=$1 text=$2
	shift 2
	! "$@" >"$work/out" 2>&1 || die "$what: succeeded"
	same "$what: lines" 1 "$(wc -l <"$work/out")"
	grep -qF -- "$text" "$work/out" || die "$what: expected $text, got $(cat "$work/out")"
}

rw() { "$work/bin/read_write" "$sock/$1.sock" "${@:2}"; } # rw HOST ARGUMENT...
as() { user "$1" "$2" "$3" "$work/bin/read_write" "$sock/$4.sock" "${@:5}"; } # as UID GID GROUPS HOST ARGUMENT...
mode() { stat -c '%a %g' "$1"; }

# --- files that are wrong ---

wrong() { # wrong LINE TEXT CLIENTS-OF-H0
	fabric "$work/bad.yaml" "$3" ""
	refuses "bad.yaml:$1: " "$app/weftd" --check "$work/bad.yaml"
	grep -qF -- "$2" "$work/err" || die "expected \"$2\", got: $(cat "$work/err")"
}
wrong 8 'unknown region, expected a name under regions' '{uid: 1, regions: [g7]}'
wrong 8 'rights: bad word, expected none|read|write|rw, got "all"' '{uid: 1, rights: all}'
wrong 8 'uid: bad number, expected 0..4294967294' '{uid: 4294967295}'
wrong 8 'share: bad number, expected 1..100' '{uid: 1, share: 0}'
wrong 8 'share: bad number, expected 1..100' '{uid: 1, share: 101}'
wrong 8 'nodes[0].clients[1]: user twice' '{uid: 1}, {uid: 1}'
wrong 8 'nodes[0].clients[1].user: unknown user, expected one of this machine, got "no.such"' '{uid: 1}, {user: no.such}'
wrong 8 'nodes[0].clients[0].group: unknown group, expected one of this machine, got "no.such"' '{group: no.such}'
fabric "$work/bad.yaml" "" "" 1020K
refuses 'bad.yaml:3: regions[0]: bad region, expected multiples of 4096 in the 1048576 bytes of g0, got 65536 from 1044480 on' \
	"$app/weftd" --check "$work/bad.yaml"
fabric "$work/bad.yaml" "{user: no.such}" ""
refuses 'bad.yaml:8: nodes[0].clients[0].user: unknown user' "$app/weftd" --topology "$work/bad.yaml" --seconds 1

# --- who comes in ---

rows='{uid: 61001, regions: [scratch], rights: read, share: 2}, {uid: 61002, rights: none}, {uid: 61004, share: 100}, {gid: 61100}, {user: nobody, regions: [g0]}'
fabric "$work/f.yaml" "$rows" "{gid: 61100}"
"$app/weftd" --check "$work/f.yaml" >"$work/out" 2>"$work/err" || die "$(cat "$work/err")"
same "words about a good file" "" "$(cat "$work/err")"
"$app/weftd" --topology "$work/f.yaml" >"$work/d.text" 2>"$work/d.events" &
daemon=$!
pids+=($daemon)
wait_for 20 grep -q '^weftd: ' "$work/d.text"
same "warnings" "" "$(cat "$work/d.events")"
same "the run folder" 711 "$(stat -c %a "$sock")"
same "socket of users and groups" "666 0" "$(mode "$sock/h0.sock")"
same "socket of its user" "600 0" "$(mode "$sock/h1.sock")"
same "socket of a group" "660 61100" "$(mode "$sock/h2.sock")"

same "by root" "by root" "$(rw h0 scratch 0 "by root")"
same "by root at h2" "by root" "$(rw h2 g0:512K+64K 0)"
same "read" "by root" "$(as 61001 61001 - h0 scratch 0)"
says "write without the right" "lets user 61001 only read it" as 61001 61001 - h0 scratch 0 no
says "a region that is not listed" "does not open it to user 61001" as 61001 61001 - h0 g0 0
says "the same memory by another name" "does not open it to user 61001" as 61001 61001 - h0 g0:512K+64K 0
says "no such region" "knows none of that name" as 61001 61001 - h0 g7 0
says "turned away by a row before that of the group" "user 61002 may not come in" as 61002 61100 - h0 scratch 0
says "nobody's row" "user 61003 may not come in" as 61003 61003 - h0 scratch 0
# Also where the daemon was slow and the request was there before it looked.
kill -STOP $daemon
setpriv --reuid=61003 --regid=61003 --clear-groups "$work/bin/read_write" "$sock/h0.sock" scratch 0 >"$work/late" 2>&1 &
late=$!
pids+=($late)
wait_for 10 grep -q '^State:.S' /proc/$late/status
kill -CONT $daemon
! wait $late || die "user 61003 came in late"
grep -q "user 61003 may not come in" "$work/late" || die "turned away late: $(cat "$work/late")"
same "first group" "by a group" "$(as 61003 61100 - h0 scratch 0 "by a group")"
same "another group" "by another" "$(as 61003 61003 7,61100,9 h0 g0 0x80000 "by another")"
same "a name" "by another" "$(as nobody nogroup - h0 g0 0x80000)"
says "a name and a region" "does not open it to user" as nobody nogroup - h0 scratch 0
says "a host without clients" "not open to this user" as 61003 61100 - h1 scratch 0
says "not of the group" "not open to this user" as 61001 61001 - h2 scratch 0
same "of the group" "by another" "$(as 61004 61004 61100 h2 scratch 0)"
! user 61003 61100 - ls "$sock" >/dev/null 2>&1 || die "the run folder is listed"

# One user has a quarter of the places, and keeps nobody else out.
mkfifo "$work/stay"
setpriv --reuid=61004 --regid=61004 --clear-groups /usr/bin/python3 - "$sock/h0.sock" 3<"$work/stay" >"$work/crowd" 2>&1 <<-P &
	import os, socket, sys
	crowd = [socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) for _ in range(256)]
	for one in crowd:
	    one.connect(sys.argv[1])
	print("there", flush=True)
	os.read(3, 1)
P
crowd=$!
pids+=($crowd)
exec 8>"$work/stay"
wait_for 20 grep -q there "$work/crowd"
says "too many of one user" "user 61004 has 256 programs attached, the most" as 61004 61004 - h0 g0 0
same "another user beside them" "by another" "$(as 61001 61001 - h0 scratch 0)"
same "root beside them" "by another" "$(rw h0 scratch 0)"
exec 8>&-
wait $crowd
is_back() { as 61004 61004 - h0 g0 0 >/dev/null 2>&1; }
wait_for 20 is_back

# Who has a small share does less beside one that has a large one; equal shares would leave it half.
bench=("$work/bin/weftctl" --socket "$sock/h0.sock" mem bench --size 16K --depth 16 --json)
rate() { # of the one with the small share
	LD_LIBRARY_PATH=$work/bin user 61001 61001 - "${bench[@]}" scratch --seconds 0.2 >"$work/bench"
	json "$work/bench" 'int(o["ops_per_s"])'
}
alone=$(rate)
LD_LIBRARY_PATH=$work/bin setpriv --reuid=61004 --regid=61004 --clear-groups "${bench[@]}" g0 --seconds 60 >"$work/heavy" 2>&1 &
heavy=$!
pids+=($heavy)
is_less() {
	local now
	now=$(rate) && [ $((now * 4)) -lt "$alone" ]
}
wait_for 20 is_less
kill $heavy
wait $heavy || true

# --- SIGHUP ---

n_changes=0
change() { # change CLIENTS-OF-H0 CLIENTS-OF-H2 [OFFSET]
	fabric "$work/f.yaml" "$@"
	kill -HUP "$daemon"
	n_changes=$((n_changes + 1))
	wait_for 20 changed
}
changed() { [ "$(grep -c '^tables: changed in [0-9]* nodes and what is in no table' "$work/d.text")" -ge $n_changes ]; }

mkfifo "$work/in"
user 61003 61003 61100 "$work/bin/attach_hold" "$sock/h0.sock" <"$work/in" >"$work/held" 2>&1 &
pids+=($!)
exec 7>"$work/in"
n_said=0
said() { [ "$(wc -l <"$work/held")" -gt $n_said ]; }
send() { echo "$1" >&7; }
reply() { # reply WHAT EXPECTED: what the program that is there says next
	wait_for 20 said
	n_said=$((n_said + 1))
	same "$1" "$2" "$(sed -n "${n_said}p" "$work/held")"
}
held() { # held WHAT EXPECTED COMMAND
	send "$3"
	reply "$1" "$2"
}
reply "attached" 0
held "regions" "scratch g0 0" list
held "opened" 0 "open scratch"
held "written" 0 write

change '{uid: 61001}' "{gid: 61100}"
held "taken away: read" EACCES read
held "taken away: write" EACCES write
held "taken away: list" EACCES list
says "taken away: attach" "user 61003 may not come in" as 61003 61100 - h0 scratch 0
same "given" "more" "$(as 61001 61001 - h0 g0 0 more)"
change "{gid: 61100}" ""
held "given back: write" 0 write
held "given back: list" "scratch g0 0" list
same "socket of a group now" "660 61100" "$(mode "$sock/h0.sock")"
same "socket of nobody else now" "600 0" "$(mode "$sock/h2.sock")"
says "taken away with the socket" "not open to this user" as 61003 61100 - h2 scratch 0

# Reads go on without a pause while the right to write is taken away, which does not wait for them.
send again
change "{gid: 61100, rights: read}" ""
send write
reply "reads meanwhile" 0
reply "the right to write" EACCES
send read
reply "the right to read" 0
send again
change '{uid: 61001}' ""
reply "reads when that is gone, too" EACCES
change "{gid: 61100}" ""
held "all of it again" 0 write

# The name is that of other memory: what is open stays what it was, and is not reached any more.
change "{gid: 61100}" "" 768K
held "moved: read" ESTALE read
held "moved: write" ESTALE write
held "moved: opened anew" 0 "open scratch"
held "moved: write there" 0 write
change "{gid: 61100}" ""
held "moved back" ESTALE read

# Nothing changes by a file that names who is not there.
fabric "$work/f.yaml" "{gid: 61100}, {group: no.such}" ""
kill -HUP "$daemon"
wait_for 20 grep -q 'tables: not changed: .*f.yaml:8: nodes\[0\].clients\[1\].group: unknown group' "$work/d.events"
held "after that" 0 "open scratch"
exec 7>&-
kill -TERM "$daemon"
wait "$daemon" || die "weftd ended with status $?"
[ ! -e "$sock/h0.sock" ] || die "a socket is left"

# A way that others cannot go is said.
chmod 700 "$work"
fabric "$work/f.yaml" "$rows" ""
"$app/weftd" --topology "$work/f.yaml" --seconds 0.2 >"$work/d.text" 2>"$work/d.events"
grep -q "host h0: other users do not come to $sock/h0.sock: folder $work has mode 0700" "$work/d.events" ||
	die "nothing is said of the way: $(cat "$work/d.events")"
echo "clients are who the topology says"
