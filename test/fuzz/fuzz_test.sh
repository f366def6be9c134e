#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# One fuzzer for WEFT_FUZZ_SECONDS (5; with usertools/test.sh --all 20): fuzz_test.sh PROGRAM SEEDS
# MAX_LEN. What is new to it goes to a folder beside the program that starts empty each time; a crash stays, and its path is said.
set -u
program=$(realpath "$1") seeds=$2 max_len=$3
work=$program.work
rm -rf "$work"
mkdir -p "$work"
dict=$(dirname "$0")/$(basename "$seeds").dict
more=()
[ ! -f "$dict" ] || more=("-dict=$dict")
seconds=5
[ -z "${WEFT_TEST_ALL:-}" ] || seconds=20
"$program" -max_total_time="${WEFT_FUZZ_SECONDS:-$seconds}" -max_len="$max_len" -timeout=10 -rss_limit_mb=1024 \
	-print_final_stats=1 -artifact_prefix="$program.crash-" "${more[@]}" "$work" "$seeds" >"$work.log" 2>&1
rc=$?
grep -E 'does not hold|ERROR|SUMMARY|Test unit written|number_of_executed_units|average_exec' "$work.log"
[ $rc -ne 0 ] || exit 0
# libFuzzer says 77, which stands for a skipped test.
tail -n 40 "$work.log"
exit 1
