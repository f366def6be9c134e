#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Install what is missing, build, run every test: see --help, and doc/testing.md for what runs under
# which build. Ends with "N passed, N failed, N skipped"; exit status 1 if any failed.
set -u
cd "$(dirname "$0")/.." || exit 1
. usertools/packages.sh
. usertools/build.sh

# Parts in the order they run: name, what. Those with a star are the quick round.
parts() {
	cat <<-'P'
		format   * layout of the code (clang-format 14)
		quick    * gcc build, unit tests, the programs' quick tests (part of gcc)
		gcc        gcc build, every test; where asan is tested too half of the scripts
		model      the Python model against itself and against the programs of the gcc build
		scalar     gcc build, pipelines and programs that code flits, with scalar kernels
		asan       clang build with AddressSanitizer and UBSan, every test of C code; of scripts the other half
		fuzz       the same build, fuzzers of the parsers, 5 s each
	P
}

usage() {
	cat <<-U
	usage: usertools/test.sh [--quick | --only PART[,PART...]] [--all] [--list]

	Installs what is missing, builds, runs every test, and ends with "N passed, N failed, N skipped" and
	status 1 if any failed. Under half an hour on two cores, plus the packages the first time. Safe to repeat
	and to interrupt.

	  --quick        under 3 minutes on two cores: parts format and quick
	  --only PARTS   only those; builds that they need are made (clang is asan, whose build is clang's)
	  --all          larger samples: experiments, seeds, traces of the model, fuzzers; all searches by Spin;
	                 each script under both compilers
	  --list         the parts (doc/testing.md says what runs where, and why):

	U
	parts | sed 's/^/    /'
	cat <<-U

	  WEFT_TEST_DIR=DIR  builds are DIR/build and DIR/build-asan (default: this tree)
	  WEFT_TEST_SEED=N   the seed of property tests, which they print, and of which build runs a script
	U
}

known() { parts | sed 's/ .*//'; }

# choose PART[,PART...]
choose() {
	local part words
	read -ra words <<<"${1//,/ }"
	[ ${#words[@]} -gt 0 ] || {
		echo "test.sh: --only: expected parts, such as format or gcc,model; --list shows them" >&2
		exit 2
	}
	chosen=""
	for part in "${words[@]}"; do
		[ "$part" != clang ] || part=asan
		chosen+=" $part"
		known | grep -qx -- "$part" || {
			echo "test.sh: --only: there is no part \"$part\"; --list shows them" >&2
			exit 2
		}
	done
}

chosen="format gcc model scalar asan fuzz"
while [ $# -gt 0 ]; do
	case $1 in
	--quick) chosen="format quick" ;;
	--only)
		choose "${2:-}"
		[ $# -lt 2 ] || shift
		;;
	--only=*) choose "${1#*=}" ;;
	--all) export WEFT_TEST_ALL=1 ;;
	--list)
		parts
		exit 0
		;;
	--help | -h)
		usage
		exit 0
		;;
	*)
		echo "test.sh: unknown option \"$1\"; --help shows what there is" >&2
		exit 2
		;;
	esac
	shift
done

passed=0 failed=0 skipped=0
work=$(mktemp -d)
background="" making="" begun=""
finish() {
	trap - EXIT
	for group in $background $making $begun; do
		kill -- "-$group" 2>/dev/null
	done
	rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT TERM

say() { printf '\n== %s (%d:%02d)\n' "$*" $((SECONDS / 60)) $((SECONDS % 60)); }

pass() { passed=$((passed + 1)); }

fail() {
	failed=$((failed + 1))
	echo "FAIL $*"
}

totals() { echo "$passed passed, $failed failed, $skipped skipped"; }

end() {
	echo
	totals
	[ "$failed" -eq 0 ]
	exit
}

wants() { [[ " $chosen " = *" $1 "* ]]; }

# add_counts FILE: the numbers of a line "N passed, N failed, N skipped" that ends FILE.
add_counts() {
	local line
	line=$(grep -E '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$' "$1" | tail -n 1)
	[ -n "$line" ] || return 1
	read -r p _ f _ s _ <<<"${line//,/}"
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
}

jobs=$(($(nproc) + 1)) # tests at a time: many wait for something most of the time

# What tests are told in builds after the first.
again=(WEFT_TEST_AGAIN=1)

# A script takes as long with sanitizers as without. Where both builds are tested one of them runs it: half
# are drawn for each.
halves=""
halve() {
	{ wants gcc && wants asan && [ -z "${WEFT_TEST_ALL:-}" ]; } || return 0
	halves=${WEFT_TEST_SEED:-$RANDOM}
}

# names gcc|asan: what runs there, where scripts are halved; else nothing, which to meson is all.
names() {
	[ -n "$halves" ] || return 0
	/usr/bin/python3 - "$main/meson-info/intro-tests.json" "$halves" "$1" <<-'PY'
		import json, random, sys
		suites = {t["name"]: {s.split(":")[-1] for s in t["suite"]} for t in json.load(open(sys.argv[1]))}
		both = sorted(n for n, s in suites.items() if "smoke" in s and not s & {"once", "more"})
		asan = set(random.Random(int(sys.argv[2])).sample(both, len(both) // 2))
		other = asan if sys.argv[3] == "gcc" else set(both) - asan
		print(*sorted(set(suites) - other))
	PY
}

# suite DIR NAME [ENV=VALUE...] [meson option...]: run meson's tests there and add up what they say.
suite() {
	local dir=$1 name=$2 n rc log env=()
	shift 2
	while [[ ${1:-} = *=* ]] && [[ $1 != -* ]]; do
		env+=("$1")
		shift
	done
	log=$work/meson-$name.log
	env "${env[@]}" meson test -C "$dir" --no-rebuild --print-errorlogs --logbase "log-$name" \
		--num-processes "$jobs" "$@" >"$log" 2>&1
	rc=$?
	grep -E '^ *[0-9]+/[0-9]+ .*(FAIL|ERROR|TIMEOUT|SKIP)' "$log"
	for word in Fail Timeout 'Unexpected Pass'; do
		n=$(sed -n "s/^$word: *\([0-9]*\) *$/\1/p" "$log" | tail -n 1)
		failed=$((failed + ${n:-0}))
	done
	n=$(sed -n 's/^Ok: *\([0-9]*\) *$/\1/p' "$log" | tail -n 1)
	# No count at all: meson itself failed.
	[ -n "$n" ] || {
		tail -n 20 "$log"
		fail "suite $name did not run: meson's exit status is $rc"
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

model() { /usr/bin/python3 "test/model/$1.py" "${@:2}"; }

# traces: of the model, in $work/traces; made once, for each build and for the dissector.
traces() {
	[ ! -d "$work/traces" ] || return 0
	local flits=500
	[ -z "${WEFT_TEST_ALL:-}" ] || flits=10000
	model make_traces --flits $flits --seed "${WEFT_TEST_SEED:-1}" --out "$work/traces.new" >"$work/traces.log" 2>&1 || {
		tail -n 20 "$work/traces.log"
		fail "the model could not make its traces"
		return 1
	}
	mv "$work/traces.new" "$work/traces"
}

# replay DIR: the model's traces through weft-replay of that build.
replay() {
	traces && counted model run_replay --replay "$1/app/weft-replay" --dir "$work/traces"
}

# fabric DIR [options]: the script programs of that build against the model of the fabric.
fabric() {
	local dir=$1 part programs=()
	shift
	for part in pbr gfam ats io uio; do
		[ ! -x "$dir/test/unit/${part}_script" ] ||
			programs+=("--$part" "$dir/test/unit/${part}_script")
	done
	counted model run_fabric "${programs[@]}" "$@"
}

# cci DIR [options]: programs of that build that speak CCI against the model.
cci() {
	local dir=$1 part programs=()
	shift
	for part in script=cci_script gfd=gfd_capacity_script component=cci_component_script; do
		[ ! -x "$dir/test/unit/${part#*=}" ] ||
			programs+=("--${part%=*}" "$dir/test/unit/${part#*=}")
	done
	counted model run_cci "${programs[@]}" "$@"
}

part_format() {
	say "layout of the code (clang-format 14)"
	if CHECK=1 usertools/format.sh clang-format-14 >"$work/format.log" 2>&1; then
		pass
	else
		grep -m 10 error "$work/format.log"
		fail "usertools/format.sh would change files"
	fi
}

# make_build gcc|asan: that build, whatever there is of it.
make_build() {
	# lld takes a tenth to a third of the time, of 200 programs.
	local more=(-Dc_link_args=-fuse-ld=lld) cc=gcc dir=$main
	if [ "$1" = asan ]; then
		cc=clang dir=$asan
		more+=(-Db_sanitize='address,undefined' -Db_lundef=false -Ddebug=true -Doptimization=1
			-Dc_args=-gline-tables-only) # lines are all that a sanitizer prints
		! has_fuzz || more+=(-Dfuzz=true)
	elif [ -n "${CI:-}" ]; then
		# Nobody will ask a debugger there for variables.
		more+=(-Dc_args=-g1)
	fi
	weft_build "$dir" $cc "${more[@]}" "${options[@]}"
}

# begin_asan: that build, in what time the tests of the other leave: most of them wait for something.
begin_asan() {
	wants asan || wants fuzz || return 0
	set -m
	(chrt -i -p 0 $BASHPID >/dev/null 2>&1 || renice -n 19 -p $BASHPID >/dev/null 2>&1
		make_build asan) >"$work/build-asan.log" 2>&1 &
	begun=$!
	set +m
}

# end_build gcc|asan: wait for it, if it was begun, and show what it said; else make it.
end_build() {
	local status
	[ "$1" = asan ] && [ -n "$begun" ] || {
		make_build "$1"
		return
	}
	wait "$begun"
	status=$?
	begun=""
	cat "$work/build-asan.log"
	return $status
}

# need gcc|asan: that build, made once a run; counted as one test.
built=""
need() {
	[[ " $built " != *" $1 "* ]] || return 0
	[[ " $built " != *" -$1 "* ]] || return 1
	say "build: $1"
	if end_build "$1"; then
		built+=" $1"
		pass
	else
		built+=" -$1"
		fail "the build with $1"
		return 1
	fi
}

part_quick() {
	need gcc || return
	say "unit tests and quick tests of the programs"
	suite "$main" quick --suite unit --suite quick
}

# The model beside the tests of the gcc build: neither uses all CPUs all the time.
part_gcc() {
	local shared=()
	set -m
	traces >/dev/null & # should it fail, who needs them tries again and says so
	making=$!
	set +m
	need gcc || return
	wait "$making"
	making=""
	begin_asan
	# The dissector takes a millisecond a flit.
	[ -n "${WEFT_TEST_ALL:-}" ] || shared=(WEFT_TEST_TRACES="$work/traces")
	if wants model; then
		set -m
		(passed=0 failed=0 skipped=0; run_model; totals) \
			>"$work/model.out" 2>&1 &
		background=$!
		set +m
	fi
	say "every test${halves:+, of the scripts half (drawn by WEFT_TEST_SEED=$halves)}"
	# shellcheck disable=SC2046
	suite "$main" gcc "${shared[@]}" --no-suite fuzz $(names gcc)
}

part_model() {
	need gcc || return
	say "the model"
	if [ -n "$background" ]; then
		wait "$background"
		background=""
	else
		(passed=0 failed=0 skipped=0; run_model; totals) >"$work/model.out" 2>&1
	fi
	head -n -1 "$work/model.out"
	add_counts "$work/model.out" || fail "the model did not run to its end"
}

# run_model: published vectors, its own runner, its rules; then the programs against it.
run_model() {
	local script size=(--cases 40000 --lookups 300000)
	[ -z "${WEFT_TEST_ALL:-}" ] || size=()
	for script in test_vectors test_world_vectors test_ide test_runner test_retry test_check_wire test_signature \
		test_session_keys test_fabric test_cci test_gfd_capacity test_cci_access; do
		if model $script >"$work/$script.log" 2>&1; then
			pass
			echo "$script: $(grep -E '^(Ran|skipped) ' "$work/$script.log" | paste -sd ' ')"
		else
			tail -n 20 "$work/$script.log"
			fail "test/model/$script.py"
		fi
	done
	echo "-- its traces, replayed"
	replay "$main"
	echo "-- its scripts, through the retry layer"
	counted model run_retry --script "$main/test/unit/llr_script"
	echo "-- two retry layers with a bad wire between them, judged by it"
	counted model run_loop --script "$main/test/unit/llr_script"
	echo "-- block signatures"
	counted model run_signature --sig "$main/app/weft-sig"
	echo "-- tables of switches and GFDs, packets of ATS, CXL.io and UIO"
	fabric "$main" "${size[@]}"
	echo "-- CCI"
	cci "$main"
}

# Kernels of a build are chosen when a program starts. Unit tests take each kernel by its name, whatever
# WEFT_CPU says; these are about all that runs upon the one chosen.
part_scalar() {
	need gcc || return
	say "pipelines, programs that code flits: scalar kernels (WEFT_CPU=scalar)"
	suite "$main" scalar WEFT_CPU=scalar "${again[@]}" --suite scalar
}

# The kernels of a fuzzer are those of the build, which UBSan does not stop by itself.
ubsan=(UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1)

part_asan() {
	local more=(--no-suite more)
	[ -z "${WEFT_TEST_ALL:-}" ] || more=()
	need asan || return
	say "clang, AddressSanitizer and UBSan${halves:+, of the scripts the other half}"
	set -m
	(passed=0 failed=0 skipped=0; model_asan; totals) >"$work/model-asan.out" 2>&1 &
	background=$!
	set +m
	# shellcheck disable=SC2046
	suite "$asan" asan "${again[@]}" WEFT_SIM_THREADS=2 WEFT_TEST_REQUESTS=200000 \
		ASAN_OPTIONS=detect_leaks=1:abort_on_error=1 "${ubsan[@]}" --no-suite once --no-suite fuzz "${more[@]}" \
		$(names asan)
	wait "$background"
	background=""
	head -n -1 "$work/model-asan.out"
	add_counts "$work/model-asan.out" || fail "the model did not run to its end"
}

# The model against programs of the build with sanitizers, beside the tests there.
model_asan() {
	ASAN_OPTIONS=detect_leaks=0 replay "$asan"
	counted model run_retry --script "$asan/test/unit/llr_script"
	fabric "$asan" --cases 20000 --lookups 100000
	cci "$asan" --cases 5000
}

# has_fuzz: whether these sources have fuzzers.
has_fuzz() { grep -q "^option('fuzz'" meson_options.txt; }

part_fuzz() {
	has_fuzz || return
	need asan || return
	# A target is given seconds of time, not of CPU.
	local jobs=$(($(nproc) * 2))
	say "fuzzers"
	suite "$asan" fuzz "${ubsan[@]}" --suite fuzz
}

say "packages"
# shellcheck disable=SC2086
if ! weft_install $WEFT_BUILD_PACKAGES $WEFT_TEST_PACKAGES; then
	fail "packages could not be installed"
	end
fi
echo "all there"

dir=${WEFT_TEST_DIR:-.}
main=$dir/build asan=$dir/build-asan

say "headers for DPDK drivers"
options=(-Dtests=true)
if headers=$(weft_driver_headers "$main" "$dir/build-driver-headers"); then
	options+=(-Ddpdk_driver_headers="$headers")
	echo "there"
else
	echo "not there: the driver net_flitwire is neither built nor tested"
fi

halve
for part in $(known); do
	! wants "$part" || "part_$part"
done
end
