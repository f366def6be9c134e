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

echo "tables change under traffic"
