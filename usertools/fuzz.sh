#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Fuzz the parsers for as long as wanted, and keep what was found: see --help.
set -u
start=$PWD
cd "$(dirname "$0")/.." || exit 1
. usertools/build.sh

targets() { sed -n "s/^    \['\([a-z_]*\)', \[.*\], \([0-9]*\), [0-9]*\],$/\1 \2/p" test/fuzz/meson.build; }

usage() {
	cat <<-U
	usage: usertools/fuzz.sh [--seconds N] [--jobs N] [--dir DIR] [TARGET...]

	Builds build-fuzz with clang, AddressSanitizer and UBSan, and runs the fuzz targets (all of
	them if none is named), N seconds each. Prints a line a target; exit status 1 if one crashed.

	  --seconds N  of each target (600)
	  --jobs N     targets at a time (1)
	  --dir DIR    where the corpus grows, from one call to the next, and where crashes and logs go
	               (build-fuzz/found): DIR/TARGET, DIR/TARGET.crash-*, DIR/TARGET.log

	A crash again:  build-fuzz/test/fuzz/fuzz_TARGET FILE
	Targets:        $(targets | cut -d ' ' -f 1 | paste -sd ' ')
	U
}

wrong() {
	echo "fuzz.sh: $*; --help shows what there is" >&2
	exit 2
}

number() { [[ $2 =~ ^[1-9][0-9]{0,6}$ ]] || wrong "$1 takes a number from 1 on, got \"$2\""; }

seconds=600 jobs=1 dir=build-fuzz/found chosen=()
while [ $# -gt 0 ]; do
	case $1 in
	--seconds | --jobs)
		number "$1" "${2:-}"
		printf -v "${1#--}" %s "$2"
		shift
		;;
	--dir)
		[ -n "${2:-}" ] || wrong "--dir takes a folder"
		dir=$2
		[[ $dir = /* ]] || dir=$start/$dir
		shift
		;;
	--help | -h)
		usage
		exit 0
		;;
	-*) wrong "unknown option \"$1\"" ;;
	*)
		targets | grep -q "^$1 " || wrong "there is no target \"$1\""
		chosen+=("$1")
		;;
	esac
	shift
done
[ ${#chosen[@]} -gt 0 ] || mapfile -t chosen < <(targets | cut -d ' ' -f 1)

weft_setup build-fuzz clang -Dfuzz=true -Dtests=true || exit 1
ninja -C build-fuzz "${chosen[@]/#/test/fuzz/fuzz_}" >build-fuzz/fuzz-build.log 2>&1 || {
	tail -n 20 build-fuzz/fuzz-build.log
	exit 1
}
mkdir -p "$dir" || exit 1
dir=$(cd "$dir" && pwd)
echo "corpus, crashes and logs: $dir"

# crashes TARGET: files that it crashed with, those of earlier calls included.
crashes() { find "$dir" -maxdepth 1 -name "$1.crash-*" | wc -l; }

fuzz_one() {
	local name=$1 log=$dir/$1.log rc before after verdict=ok
	local options=(-max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 -print_final_stats=1)
	options+=(-max_len="$(targets | sed -n "s/^$name //p")" -artifact_prefix="$dir/$name.crash-")
	[ ! -f "test/fuzz/$name.dict" ] || options+=("-dict=test/fuzz/$name.dict")
	mkdir -p "$dir/$name"
	before=$(crashes "$name")
	build-fuzz/test/fuzz/fuzz_"$name" "${options[@]}" "$dir/$name" "test/fuzz/corpus/$name" >"$log" 2>&1
	rc=$?
	after=$(crashes "$name")
	[ $rc -eq 0 ] || verdict="CRASHED (see $log)"
	printf '%-10s %12s runs, %6s a second, %6s edges, %5s inputs kept, %s new crashes: %s\n' "$name" \
		"$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")" \
		"$(sed -n 's/^stat::average_exec_per_sec: *//p' "$log")" \
		"$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$log" | tail -n 1)" \
		"$(find "$dir/$name" -type f | wc -l)" $((after - before)) "$verdict"
	return $rc
}

trap 'trap - INT TERM; kill $(jobs -p) 2>/dev/null; exit 130' INT TERM
failed=0 running=0
for name in "${chosen[@]}"; do
	if [ "$running" -ge "$jobs" ]; then
		wait -n || failed=1
		running=$((running - 1))
	fi
	fuzz_one "$name" &
	running=$((running + 1))
done
while [ "$running" -gt 0 ]; do
	wait -n || failed=1
	running=$((running - 1))
done
exit $failed
