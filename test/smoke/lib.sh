# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# What every smoke test sources: the programs, a folder of its own, and its end.

set -eu
app=${WEFT_BUILD:?the build folder}/app
work=$(mktemp -d)
pids=()

# Every process of the test is ended by its number, whatever happened.
finish() {
	for pid in "${pids[@]:-}"; do
		{ [ -n "$pid" ] && kill -KILL "$pid" 2>/dev/null && wait "$pid" 2>/dev/null; } || true
	done
	type cleanup >/dev/null 2>&1 && cleanup
	rm -rf "$work"
}
trap finish EXIT

# The programs' own last words first: the last line of all is what failed.
die() {
	local log
	for log in "$work"/*.log "$work"/*.err; do
		[ ! -s "$log" ] || tail -n 4 "$log" | sed "s,^,${log##*/}: ,"
	done
	echo "FAILED: $*"
	exit 1
}

skip() {
	echo "$*"
	exit 77
}

# refuses TEXT COMMAND...: exit status 1, one line on stderr, and TEXT in it.
refuses() {
	local want=$1
	shift
	if timeout 20 "$@" >"$work/out" 2>"$work/err"; then
		die "$* was not refused"
	elif [ $? -ne 1 ]; then
		die "$* ended with another status than 1"
	fi
	[ "$(wc -l <"$work/err")" -eq 1 ] || die "$* said more or less than one line: $(cat "$work/err")"
	grep -qF -- "$want" "$work/err" || die "$* did not say \"$want\" but: $(cat "$work/err")"
}

# json FILE EXPRESSION: value of a Python expression over the object `o`.
json() {
	/usr/bin/python3 -c 'import json, sys
o = json.load(open(sys.argv[1]))
print(eval("(" + sys.argv[2] + ")"))' "$1" "$2"
}

# same WHAT A B
same() {
	[ "$2" = "$3" ] || die "$1: expected $2, got $3"
}

# wait_for SECONDS COMMAND...: until it succeeds.
wait_for() {
	local end=$((SECONDS + $1))
	shift
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt $end ] || die "waited in vain for: $*"
		sleep 0.05
	done
}
