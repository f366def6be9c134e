#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Routes and rights are changed by SIGHUP while traffic flows: nothing is lost or wrong, who lost a right
# gets ones from then on, and a file that cannot be applied changes nothing.
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
export XDG_RUNTIME_DIR=$work

for mode in rxl cxl; do
	mkdir "$work/$mode"
	/usr/bin/python3 "$here/weftd_update.py" "$app/weftd" $mode "$work/$mode" ||
		die "$mode: $(tail -n 20 "$work/$mode"/*.err)"
done

# Without a file there is nothing to read again, and what runs goes on.
"$app/weftd" >"$work/out" 2>"$work/err" &
pids+=($!)
wait_for 60 grep -q 'nodes of fabric' "$work/out"
kill -HUP $!
wait_for 60 grep -q 'not changed: the built-in fabric has no file to read again' "$work/err"
kill -TERM $!
wait $! || die "the built-in fabric ended with $?"

# Asked while it starts, it changes as soon as it runs. The pipe shows that the file is being read.
mkfifo "$work/pipe.yaml"
{ echo 'fabric: early'; six_nodes 0 8 1000; echo 'links:'
	for link in 'h0, b: s0' 'h1, b: s1' 's0, b: s1' 's0, b: g0' 's1, b: g1'; do
		echo "  - {a: $link}"
	done; } >"$work/early.yaml"
"$app/weftd" --topology "$work/pipe.yaml" >"$work/out" 2>"$work/err" &
pid=$!
pids+=("$pid")
# shellcheck disable=SC2016
timeout 60 sh -c 'exec 3>"$1"; kill -HUP "$2"; cat "$3" >&3' sh "$work/pipe.yaml" $! "$work/early.yaml" ||
	die "the topology was not read"
# What is written while it has the pipe open from the first time would be part of that.
has_closed() { ! find "/proc/$pid/fd" -lname '*/pipe.yaml' | grep -q .; }
wait_for 60 has_closed
timeout 60 sh -c '(echo "routing: updown"; cat "$1") >"$2"' sh "$work/early.yaml" "$work/pipe.yaml" ||
	die "the topology was not read again"
wait_for 60 grep -q 'tables: changed in' "$work/out"
kill -TERM $!
wait $! || die "a signal at the start ended it with $?"

# Asked for a pipe that nobody writes, it goes on, gives up, and still ends when it is told to.
"$app/weftd" --topology "$work/pipe.yaml" >"$work/pipe.out" 2>"$work/pipe.err" &
pid=$!
pids+=("$pid")
timeout 60 cp "$work/early.yaml" "$work/pipe.yaml" || die "the topology was not read"
wait_for 60 grep -q 'nodes of fabric' "$work/pipe.out"
is_waiting() { find "/proc/$pid/fd" -lname '*/pipe.yaml' | grep -q .; }
refuses 'pipe.yaml: expected a file, got a pipe that nobody writes' "$app/weftctl" reload
"$app/weftctl" show nodes >"$work/out" || die "what waited for a pipe answers no more"
kill -HUP $pid
wait_for 60 is_waiting
kill -TERM $pid
wait $pid || die "while it waited for a pipe, a signal ended it with $?"

echo "tables change under traffic"
