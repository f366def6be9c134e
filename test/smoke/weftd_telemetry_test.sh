#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Telemetry is asked without a pause from the start of a weftd to its end: the first answers are whole, and
# the end is in order.
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
export XDG_RUNTIME_DIR=$work

for i in 1 2 3 4 5 6; do
	"$app/weftd" --quiet >"$work/out" 2>&1 &
	daemon=$!
	pids+=("$daemon")
	/usr/bin/python3 "$here/weftd_telemetry.py" "$daemon" "$work/enough" >"$work/asked" 2>&1 &
	asks=$!
	pids+=("$asks")
	wait_for 60 test -e "$work/enough"
	kill -TERM "$daemon"
	wait "$daemon" || die "weftd ended with $?: $(cat "$work/out")"
	wait "$asks" || die "round $i: $(cat "$work/asked")"
	rm "$work/enough"
	pids=()
done

echo "telemetry tells everything from the first moment to the last"
