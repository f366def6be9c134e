#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Files of weft-fuse when the fabric fails: a GFD that comes back with empty memory, memory that is poisoned, a right that
# is taken away.
. "$(dirname "$0")/lib.sh"
export XDG_RUNTIME_DIR=$work
unset WEFT_SOCKET
[ -x "$app/weft-fuse" ] || skip "skipped: weft-fuse was not built (package libfuse3-dev)"
{ true <>/dev/fuse; } 2>/dev/null || skip "skipped: needs /dev/fuse"
command -v fusermount3 >/dev/null || skip "skipped: needs fusermount3 (package fuse3)"
cd "$work"
mkdir m one
# Before the folder goes, with all that is in it.
cleanup() {
	local dir
	for dir in m one; do
		while fusermount3 -u -z -q "$work/$dir" 2>/dev/null; do :; done
	done
}

# fabric MODE [ACCESS [SIZE OFFSET]]: what h0 may reach, of g0's halves; of the region "part" of g0
fabric() {
	cat >"$topology" <<-Y
	fabric: faults
	mode: $1
	groups:
	  - {name: first, ranges: [{gfd: g0, base: 0, size: 1M}]}
	  - {name: second, ranges: [{gfd: g0, base: 1M, size: 1M}]}
	nodes:
	  - {name: h0, kind: host, pid: 0x101, access: [${2:-first, second}]}
	  - {name: s0, kind: switch, pid: 0x010}
	  - {name: g0, kind: gfd, pid: 0x200, memory: 2M}
	regions: [{name: part, gfd: g0, offset: ${4:-256K}, size: ${3:-32K}}]
	links:
	  - {a: h0, b: s0, driver: memif}
	  - {a: s0, b: g0, driver: memif}
	Y
}

# mount_at DIR [OPTION...]: its number is in fuse
mount_at() {
	"$app/weft-fuse" -f --node h0 "${@:2}" "$1" >"fuse.$1.log" 2>&1 &
	fuse=$!
	pids+=("$fuse")
	wait_for 10 grep -q "^$1: memory of host" "fuse.$1.log"
}

# start_all MODE: a process a node, and weft-fuse
start_all() {
	rm -f ./*.log
	fabric "$1"
	start s0
	start g0
	start h0
	wait_for 20 grep -q '^weftd: .* run' h0.log
	mount_at m
}

end_all() {
	kill -TERM "$fuse"
	wait "$fuse" || die "weft-fuse ended with status $?"
	kill -TERM "$pid_h0" "$pid_s0" "$pid_g0"
	wait "$pid_h0" "$pid_s0" "$pid_g0" || die "weftd ended with status $?"
	pids=()
}

# program FUNCTION: in the background; goes on when told
program() {
	coproc timeout 60 /usr/bin/python3 -S "$here/fuse_files.py" "$@" 2>program.err
	program=$COPROC_PID
	pids+=("$program")
	read -r _ <&"${COPROC[0]}" || die "$1"
	exec {to}>&"${COPROC[1]}"
}
goes_on_once() {
	echo >&"$to"
	read -r _ <&"${COPROC[0]}" || die "its next part"
}
goes_on() {
	echo >&"$to"
	wait "$program" || die "$1"
	exec {to}>&-
}

start_all rxl
# Sockets of links are beside that of the only host.
same "the host that needs no name" "h0" "$("$app/weftctl" mem list --json >list.json && json list.json 'o["node"]')"
# replace_memory TIMES: until the host has heard so often that g0 began anew
replace_memory() {
	kill -KILL "$pid_g0"
	wait "$pid_g0" 2>/dev/null || true
	start g0
	wait_for 20 is_empty "$1"
}
is_empty() { [ "$(grep -c 'node h0: g0 restarted with empty memory' h0.log)" -ge "$1" ]; }
program memory_replaced m/g0
replace_memory 1
goes_on "memory was replaced"

# By one thread: another would open the region anew, and see so that it is another.
of_all=$fuse
mount_at one --threads 1
program memory_synced one/g0
replace_memory 2
goes_on "memory was replaced before fsync"
kill -TERM "$fuse"
wait "$fuse" || die "weft-fuse of one thread ended with status $?"
fuse=$of_all

# The memory outlives the host's daemon; what was open does not.
program daemon_dies m/g0
kill -KILL "$pid_h0"
wait "$pid_h0" 2>/dev/null || true
goes_on_once
rm -f h0.log
start h0
wait_for 20 grep -q '^weftd: .* run' h0.log
goes_on "the daemon came back"

# set_part SIZE OFFSET: once the host took it
set_part() {
	local before
	before=$(grep -c '^tables: changed' h0.log || true)
	fabric rxl "first, second" "$@"
	kill -HUP "$pid_h0"
	wait_for 20 part_is_set "$before"
}
part_is_set() { [ "$(grep -c '^tables: changed' h0.log)" -gt "$1" ]; }
program region_set_anew m/part
set_part 64K 256K
goes_on_once
set_part 16K 256K
goes_on_once
set_part 32K 256K
goes_on_once
set_part 32K 512K
goes_on "a region was set anew"

# Each has read its file before, h0 several times.
program right_lost m/g0
fabric rxl first
for node in h0 s0 g0; do
	cp $node.log $node.before
	kill -HUP "$(eval "echo \$pid_$node")"
done
all_read() {
	for node in h0 s0 g0; do
		[ "$(grep -c '^tables: changed' $node.log)" -gt "$(grep -c '^tables: changed' $node.before)" ] || return
	done
}
wait_for 20 all_read
goes_on "a right was lost"
end_all

# Ended while the daemon does not answer, it is not mounted later; and what it found is shown though nobody looked.
start_all rxl
mkdir -p side late
refuses 'expected another folder than the one' "$app/weft-fuse" --node h0 --side side side

kill -STOP "$pid_h0"
for way in "" -f; do
	# shellcheck disable=SC2086
	"$app/weft-fuse" $way --node h0 late 2>late.err &
	late=$!
	sleep 0.3
	kill -TERM $late
	wait $late && die "weft-fuse $way that was ended says that it serves" || true
done
kill -CONT "$pid_h0"
ends() { ! pgrep -f -- "--node h0 late"; }
wait_for 20 ends
! grep -q " $work/late " /proc/self/mountinfo || die "a weft-fuse that was ended has mounted"
kill -KILL "$pid_h0"
wait "$pid_h0" 2>/dev/null || true
same "regions that nobody had looked at" "g0 part regions.json" "$(ls m | xargs)"
refuses 'Input/output error' head -c 1 m/g0
rm -f h0.log
start h0
wait_for 20 grep -q '^weftd: .* run' h0.log
end_all

# There the switch tells the GFD that it had other memory: all of it is poison until it is written.
start_all cxl
timeout 60 "$app/weftctl" --node h0 mem fill g0 0 4K 1
program poisoned m/g0
kill -KILL "$pid_g0"
wait "$pid_g0" 2>/dev/null || true
start g0
wait_for 20 grep -q 'node g0: memory is new (generation .*), and s0 knew other' g0.log
goes_on "poison"
end_all
echo "files say what fails"
