#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# weft-fuse: programs that know nothing of Weft use fabric memory as files, of two hosts of one daemon; a database whose
# writer is killed; a daemon, and a weft-fuse, that are killed and come back; users without rights.
. "$(dirname "$0")/lib.sh"
export XDG_RUNTIME_DIR=$work
unset WEFT_SOCKET
[ -x "$app/weft-fuse" ] || skip "skipped: weft-fuse was not built (package libfuse3-dev)"
{ true <>/dev/fuse; } 2>/dev/null || skip "skipped: needs /dev/fuse"
command -v fusermount3 >/dev/null || skip "skipped: needs fusermount3 (package fuse3)"
cd "$work"
mounts=(m0 m1 mx user/m)
# Before the folder goes, with all that is in it.
cleanup() {
	local m
	cd "$work"
	for m in "${mounts[@]}"; do
		while fusermount3 -u -z -q "$m" 2>/dev/null; do :; done
	done
}
files() { timeout 60 /usr/bin/python3 -S "$here/fuse_files.py" "$@" || die "$*"; }
ctl() { timeout 60 "$app/weftctl" "$@"; }

# begin_daemon [COMMAND...]: by that command
begin_daemon() {
	cat >"$topology" <<-Y
	fabric: files
	nodes:
	  - {name: h0, kind: host, pid: 0x101}
	  - {name: h1, kind: host, pid: 0x102${h1:+, $h1}}
	  - {name: s0, kind: switch, pid: 0x010}
	  - {name: g0, kind: gfd, pid: 0x200, memory: 4M}
	  - {name: g1, kind: gfd, pid: 0x201, memory: 1M}
	links:
	  - {a: h0, b: s0, driver: ring}
	  - {a: h1, b: s0, driver: ring}
	  - {a: s0, b: g0, driver: ring}
	  - {a: s0, b: g1, driver: ring}
	Y
	serve_all "$@" "$app/weftd"
}

# begin DIR ARGUMENT...: weft-fuse; its number is in $fuse
begin() {
	rm -f "fuse.$1.log"
	"$app/weft-fuse" -f "${@:2}" "$1" >"fuse.$1.log" 2>&1 &
	fuse=$!
	pids+=("$fuse")
	wait_for 10 grep -q '^m.*: memory of host' "fuse.$1.log"
}

# end PID: by a signal
end() {
	local status=0
	kill -TERM "$1"
	wait "$1" || status=$?
	same "weft-fuse after SIGTERM" 0 $status
}

is_mounted() { grep -q " $work/$1 fuse.weft-fuse " /proc/self/mounts; }

# --- what cannot be done ---
mkdir m0 m1 mx side other
misused "expected DIR, got 0 operands" "$app/weft-fuse"
misused "expected DIR, got 2 operands" "$app/weft-fuse" m0 m1
misused "--threads: expected a number of 1 to 64" "$app/weft-fuse" --threads 65 m0
misused "expected --node or --socket, got both" "$app/weft-fuse" --node h0 --socket x m0
misused "--node: expected a name" "$app/weft-fuse" --node ./h0 m0
refuses "start weftd" "$app/weft-fuse" --node h0 m0
begin_daemon
refuses "two of several hosts" "$app/weft-fuse" m0
refuses "no such host" "$app/weft-fuse" --node h7 -f m0
refuses "nowhere: No such file or directory: expected a folder" "$app/weft-fuse" --node h0 nowhere
refuses "expected a folder to mount on, got a file" "$app/weft-fuse" --node h0 weftd.log
refuses "--side nowhere: No such file" "$app/weft-fuse" --node h0 --side nowhere m0
! is_mounted m0 || die "mounted after an error"

# --- in the background ---
timeout 20 "$app/weft-fuse" --socket weft/h0.sock --side side m0 || die "it does not go to the background"
is_mounted m0 || die "not mounted when the command has ended"
refuses "serves it already" "$app/weft-fuse" --node h0 m0
refuses "another weft-fuse has it" "$app/weft-fuse" --node h0 --side side m1
same "files" "g0 g1 regions.json" "$(echo $(ls m0))"
same "size and mode" "4194304 600" "$(stat -c '%s %a' m0/g0)"
ctl --node h0 mem list --json >want.json
cmp m0/regions.json want.json || die "regions.json is not what weftctl says"
begin m1 --node h1
files block_device m0/g0 4194304
files companions m0/g0
files edges m0/g1 m1/g1
files many m0/g0 m0/g1
head -c 4M /dev/urandom >data
timeout 60 dd if=data of=m0/g0 bs=1M status=none
timeout 60 cmp data m1/g0 || die "what h0 wrote h1 does not read"
timeout 60 dd if=m1/g0 of=copy bs=100000 iflag=direct status=none
cmp data copy || die "read by O_DIRECT"
for n in "16 text one" "5000 text two"; do
	read -r at text <<<"$n"
	timeout 60 /usr/bin/python3 -S "$here/../../examples/mapped.py" m0/g1 "$at" "$text"
	same "stored by h0, read by h1" "$text" "$(dd if=m1/g1 bs=1 skip="$at" count=8 status=none)"
	same "stored by h0, mapped by h1" "$text" "$(/usr/bin/python3 -S "$here/../../examples/mapped.py" m1/g1 "$at")"
done
begin mx --node h1 --direct --threads 2
files caches m1/g1 m0/g1 mx/g1
end "$fuse"
if command -v fio >/dev/null; then
	for engine in psync mmap; do
		timeout 60 fio --name=$engine --ioengine=$engine --filename=m0/g0 --size=4M --bs=4k --rw=randrw --verify=crc32c \
			--number_ios=700 --fsync=50 --verify_fatal=1 --numjobs=1 --randseed=5 >fio.log 2>&1 || die "fio with $engine"
	done
else
	echo "note: fio is not there"
fi
fusermount3 -u m0
# Its folder is free again: it has ended.
side_is_free() { flock -n side true; }
wait_for 10 side_is_free

# --- a database ---
seed=${WEFT_TEST_SEED:-$RANDOM}
echo "seed $seed"
timeout 600 /usr/bin/python3 "$here/fuse_sqlite.py" "${WEFT_FUSE_KILLS:-6}" "$seed" m0 "$work/empty.db" \
	"$app/weft-fuse" --node h0 --side side || die "SQLite, seed $seed"

# --- stored by a map when weft-fuse is told to end ---
begin m0 --node h0
coproc timeout 60 /usr/bin/python3 -S "$here/fuse_files.py" mapped m0/g0 Q
pids+=("$COPROC_PID")
read -r said <&"${COPROC[0]}" || die "no map"
end "$fuse"
! is_mounted m0 || die "mounted after SIGTERM"
ctl --node h1 mem cmp g0 0 <(head -c 8192 /dev/zero | tr '\0' Q) || die "what was stored is lost"
kill "$COPROC_PID" && wait "$COPROC_PID" 2>/dev/null || true

# --- killed, and started again on the same folder ---
begin m0 --node h0
kill -KILL "$fuse"
wait "$fuse" 2>/dev/null || true
! ls m0 >out 2>&1 || die "a killed weft-fuse still serves"
begin m0 --node h0
same "after that" "g0 g1 regions.json" "$(echo $(ls m0))"

# --- the daemon is killed, and comes back ---
coproc timeout 60 /usr/bin/python3 -S "$here/fuse_files.py" daemon_dies m0/g0 2>dies.err
reader=$COPROC_PID
pids+=("$reader")
read -r said <&"${COPROC[0]}" || die "it does not open"
exec {to}>&"${COPROC[1]}"
kill -KILL "$daemon"
wait "$daemon" 2>/dev/null || true
echo >&"$to"
read -r said <&"${COPROC[0]}" || die "with the daemon gone"
begin_daemon
echo >&"$to"
wait "$reader" || die "after the daemon came back"
end "$fuse"
echo "files of regions"

# --- a user without privilege ---
[ "$(id -u)" -eq 0 ] || exit 0
user=(/usr/bin/env "XDG_RUNTIME_DIR=$work/user" setpriv --reuid=65534 --regid=65534 --clear-groups)
as_user() { timeout 60 "${user[@]}" "$@"; }
as_user test -x "$app/weft-fuse" || {
	echo "note: the build is closed to other users: weft-fuse was tried as root alone"
	exit 0
}
chmod 711 "$work"
mkdir -p user/m
chown -R 65534:65534 user
refuses "it is not open to this user" "${user[@]}" "$app/weft-fuse" --socket "$work/weft/h0.sock" user/m
kill -TERM "$daemon"
wait "$daemon" || die "weftd ended with status $?"
topology=$work/user.yaml
h1="clients: [{uid: 65534, regions: [g1], rights: read}]"
begin_daemon "${user[@]}"
as_user "$app/weft-fuse" --node h0 user/m || die "a user cannot mount"
as_user dd if=/dev/zero of=user/m/g1 bs=1M status=none 2>out || true
grep -q 'No space left' out || die "dd as a user: $(cat out)"
as_user cmp -n 1048576 /dev/zero user/m/g1 || die "a user reads something else than he wrote"
as_user fusermount3 -u user/m
as_user "$app/weft-fuse" --node h1 user/m || die "a user cannot mount again"
same "what may only be read" "400 g1" "$(as_user stat -c '%a g1' user/m/g1)"
as_user cmp -n 1048576 /dev/zero user/m/g1 || die "a user does not read by another host what he wrote"
! as_user dd if=/dev/zero of=user/m/g1 count=1 status=none 2>out || die "what may only be read was written"
grep -q 'Permission denied' out || die "dd of what may only be read: $(cat out)"
same "files of a user" "g1 regions.json" "$(echo $(as_user ls user/m))"
as_user fusermount3 -u user/m
echo "files of regions, for users too"
