#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Install what is missing, build with gcc and clang, run every test: the suite as it is, the suite
# with scalar kernels only, the suite under AddressSanitizer and UBSan, the traces of the Python
# model against weft-replay, its scripts against the retry layer and the fabric's tables. Models for
# Spin and broken rules run once. Ends with "N passed, N failed, N skipped"; exit status 1 if any
# failed.
# Safe to repeat. WEFT_TEST_DIR=DIR keeps builds there (default: build, build-*).
set -u
cd "$(dirname "$0")/.." || exit 1
. usertools/packages.sh
. usertools/build.sh

passed=0 failed=0 skipped=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

say() { printf '\n== %s\n' "$*"; }

pass() { passed=$((passed + 1)); }

fail() {
	failed=$((failed + 1))
	echo "FAIL $*"
}

# add_counts FILE: the numbers of a line "N passed, N failed, N skipped" that ends FILE.
add_counts() {
	local line
	line=$(grep -E '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$' "$1" | tail -n 1)
	[ -n "$line" ] || return 1
	read -r p _ f _ s _ <<<"${line//,/}"
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
}

# suite DIR NAME [env ...]: run meson's tests there and add up what they say.
suite() {
	local dir=$1 name=$2 n log once=()
	shift 2
	log=$work/meson-$name.log
	if [ "$name" != main ]; then
		once=(--no-suite mutate --no-suite model)
		set -- WEFT_TEST_AGAIN=1 "$@"
	fi
	env "$@" meson test -C "$dir" --no-rebuild --print-errorlogs --logbase "log-$name" \
		"${once[@]}" >"$log" 2>&1
	grep -E '^ *[0-9]+/[0-9]+ .*(FAIL|ERROR|TIMEOUT|SKIP)' "$log"
	for word in Fail Timeout 'Unexpected Pass'; do
		n=$(sed -n "s/^$word: *\([0-9]*\) *$/\1/p" "$log" | tail -n 1)
		failed=$((failed + ${n:-0}))
	done
	n=$(sed -n 's/^Ok: *\([0-9]*\) *$/\1/p' "$log" | tail -n 1)
	# No count at all: meson itself failed.
	[ -n "$n" ] || {
		tail -n 20 "$log"
		fail "suite $name did not run"
	}
	passed=$((passed + ${n:-0}))
	n=$(sed -n 's/^Skipped: *\([0-9]*\) *$/\1/p' "$log" | tail -n 1)
	skipped=$((skipped + ${n:-0}))
	explain "$dir" "$name"
	tail -n 12 "$log" | grep -E '^(Ok|Fail|Skipped|Timeout):' | tr -s ' ' | paste -sd ' '
}

# A skip says why: the last line that the test printed. What failed, its last lines, each by itself.
explain() {
	/usr/bin/python3 - "$1/meson-logs/log-$2.json" <<'PY'
import json, sys
try:
    tests = [json.loads(line) for line in open(sys.argv[1])]
except OSError:
    sys.exit()
for t in tests:
    lines = (t.get("stdout") or "").splitlines() + (t.get("stderr") or "").splitlines()
    said = [line for line in lines if line.strip()] or ["no reason given"]
    if t["result"] == "SKIP":
        print(f"skipped {t['name']}: {said[-1]}")
    elif t["result"] not in ("OK", "EXPECTEDFAIL"):
        for line in said[-25:]:
            print(f"FAIL {t['name']} ({t['result']}, {t['returncode']}): {line}")
PY
}

# counted COMMAND...: run a program that ends with the counting line.
counted() {
	"$@" >"$work/counted.log" 2>&1
	local rc=$?
	grep -E '^(FAIL|skipped) ' "$work/counted.log"
	add_counts "$work/counted.log" || {
		tail -n 20 "$work/counted.log"
		fail "$* printed no counts"
		return
	}
	[ "$rc" -eq 0 ] || [ "$failed" -gt 0 ] || fail "$* exited with $rc"
	tail -n 1 "$work/counted.log"
}

finish() {
	echo
	echo "$passed passed, $failed failed, $skipped skipped"
	[ "$failed" -eq 0 ]
	exit
}

say "packages"
# shellcheck disable=SC2086
if ! weft_install $WEFT_BUILD_PACKAGES $WEFT_TEST_PACKAGES; then
	fail "packages could not be installed"
	finish
fi
echo "all there"

dir=${WEFT_TEST_DIR:-.}
main=$dir/build

say "headers for DPDK drivers"
options=(-Dtests=true)
if headers=$(weft_driver_headers "$main" "$dir/build-driver-headers"); then
	options+=(-Ddpdk_driver_headers="$headers")
	echo "there"
else
	echo "not there: the driver net_flitwire is neither built nor tested"
fi

say "build with gcc"
if ! weft_build "$main" gcc "${options[@]}"; then
	fail "build with gcc"
	finish
fi
pass

say "layout of the code (clang-format 14)"
if CHECK=1 usertools/format.sh clang-format-14 >"$work/format.log" 2>&1; then
	pass
else
	grep -m 10 error "$work/format.log"
	fail "usertools/format.sh would change files"
fi

say "suite"
suite "$main" main

say "suite with scalar kernels only (WEFT_CPU=scalar)"
suite "$main" scalar WEFT_CPU=scalar

say "the model: published vectors, its own runner, retry rules, captures"
for script in test_vectors test_ide test_runner test_retry test_check_wire test_signature \
	test_session_keys test_fabric; do
	if /usr/bin/python3 test/model/$script.py >"$work/$script.log" 2>&1; then
		pass
		grep -E '^(Ran|skipped) ' "$work/$script.log"
	else
		tail -n 20 "$work/$script.log"
		fail "test/model/$script.py"
	fi
done

say "traces of the model, replayed"
if /usr/bin/python3 test/model/make_traces.py --out "$work/traces" >"$work/traces.log" 2>&1; then
	counted /usr/bin/python3 test/model/run_replay.py --replay "$main/app/weft-replay" \
		--dir "$work/traces"
else
	tail -n 20 "$work/traces.log"
	fail "the model could not make its traces"
fi

say "scripts of the model, through the retry layer"
counted /usr/bin/python3 test/model/run_retry.py --script "$main/test/unit/llr_script"

say "two retry layers with a bad wire between them, judged by the model"
counted /usr/bin/python3 test/model/run_loop.py --script "$main/test/unit/llr_script"

say "block signatures, against the model"
if [ -x "$main/app/weft-sig" ]; then
	counted /usr/bin/python3 test/model/run_signature.py --sig "$main/app/weft-sig"
else
	echo "skipped: no weft-sig in this build"
	skipped=$((skipped + 1))
fi

# fabric BUILD [options]: the script programs of that build against the model of the fabric.
fabric() {
	local dir=$1 part programs=()
	shift
	for part in pbr gfam ats io uio; do
		[ ! -x "$dir/test/unit/${part}_script" ] ||
			programs+=("--$part" "$dir/test/unit/${part}_script")
	done
	counted /usr/bin/python3 test/model/run_fabric.py "${programs[@]}" "$@"
}

say "tables of switches and GFDs, packets of ATS, against the model"
fabric "$main"

say "suite under AddressSanitizer and UBSan"
if weft_build "$dir/build-asan" gcc -Db_sanitize=address,undefined -Db_lundef=false -Ddebug=true \
	-Doptimization=1 "${options[@]}"; then
	pass
	suite "$dir/build-asan" asan WEFT_SIM_SEEDS=60 WEFT_SIM_PACE_HOPS=100000 WEFT_SIM_THREADS=2 \
		ASAN_OPTIONS=detect_leaks=1:abort_on_error=1 \
		UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
	if [ -d "$work/traces" ]; then
		counted env ASAN_OPTIONS=detect_leaks=0 /usr/bin/python3 test/model/run_replay.py \
			--replay "$dir/build-asan/app/weft-replay" --dir "$work/traces"
	fi
	counted /usr/bin/python3 test/model/run_retry.py \
		--script "$dir/build-asan/test/unit/llr_script"
	fabric "$dir/build-asan" --cases 20000
else
	fail "build with sanitizers"
fi

say "build and suite with clang"
if weft_build "$dir/build-clang" clang "${options[@]}"; then
	pass
	suite "$dir/build-clang" clang
else
	fail "build with clang"
fi

finish
