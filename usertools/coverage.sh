#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Which branches the tests take, of the libraries and programs that talk to the machine: see --help, and
# doc/testing.md for how it is counted.
set -u
cd "$(dirname "$0")/.." || exit 1
. usertools/packages.sh
. usertools/build.sh

# Beginnings of the names of files; those joined by + are counted as one.
dirs="lib/ats/ats_agent+lib/ats/xlate lib/eal/ lib/ide/psk+lib/ide/secret+lib/link/derive lib/frame/pcap lib/port/ lib/sys/"
dirs+=" app/common/ app/weft-gen/ app/weft-replay/"
# In which these are to be met; other tests add time and hardly a branch.
tests='(common|eal|sys)/.*|ats/(limits|moves)|frame/pcap|ide/(memory|psk)|link/(derive|secret_failures)|fuzz-replay/pcap|smoke/(replay|replay_ends|sig|weftd|weftd_alone|'
tests+='weftd_ats|weftd_errors|weftd_events|weftd_netns|weftd_telemetry)_test'
# Those that are pure, which the seeds of weft-sim are to run.
pure="lib/ats/ lib/base/ lib/code/ lib/fabric/ lib/flit/ lib/frame/ lib/ide/ lib/impair/ lib/link/ lib/load/ lib/mem/ lib/node/ lib/sig/ lib/topo/"
dir=${WEFT_TEST_DIR:-.}/build-cov least='' files=0 only_count=0 seeds='' seed=''

usage() {
	cat <<-U
	usage: usertools/coverage.sh [--seeds N [--seed X]] [--files] [--least PERCENT] [--no-run]

	Installs what is missing, builds build-cov with gcc and its counters, runs the tests of these folders,
	and prints how much of their lines ran and how many of their branches were taken: see doc/testing.md.
	Status 1 if a test failed, or if fewer than 80 % of a folder's branches were taken. Some 10 minutes
	on two cores; no part of usertools/test.sh.

	    $dirs

	  --seeds N        instead of tests: N seeds of weft-sim, from X (1) on, three tenths of them by kernels
	                   of older CPUs. Then lines of the pure libraries count, 75 % of all at least; code for
	                   CPUs newer than this one is among them
	  --files          a line a file too, with the lines in which a branch was not taken
	  --least PERCENT  of branches (80) or, with --seeds, of lines (75)
	  --no-run         count what ran before

	  WEFT_TEST_DIR=DIR  the build is DIR/build-cov (default: this tree)
	U
}

# simulate FIRST COUNT FEATURES: those seeds, by kernels that need no more than these features (WEFT_CPU).
simulate() {
	[ "$2" -gt 0 ] || return 0
	echo "$2 seeds from $1 on, WEFT_CPU=$3:"
	WEFT_CPU=$3 "$dir/app/weft-sim" --seed "$1" --seeds "$2" | tail -n 1
	return "${PIPESTATUS[0]}"
}

# What stands for a CPU that is not here is run where its features are.
simulate_all() {
	local at=$seed part=$((seeds / 10)) features rc=0
	for features in avx2,ssse3,gfni,pclmul avx2,ssse3,pclmul scalar; do
		simulate "$at" "$part" "$features" || rc=1
		at=$((at + part))
	done
	simulate "$at" $((seeds - 3 * part)) "" || rc=1
	return "$rc"
}

wrong() {
	echo "coverage.sh: $*; --help shows what there is" >&2
	exit 2
}

while [ $# -gt 0 ]; do
	case $1 in
	--files) files=1 ;;
	--least)
		[[ ${2:-} =~ ^[0-9]{1,2}$|^100$ ]] || wrong "--least takes a percentage, got \"${2:-}\""
		least=$2
		shift
		;;
	--no-run) only_count=1 ;;
	--seeds | --seed)
		[[ ${2:-} =~ ^[0-9]{1,9}$ ]] || wrong "$1 takes a number, got \"${2:-}\""
		[ "$1" = --seeds ] && seeds=$((10#$2)) || seed=$((10#$2))
		shift
		;;
	--help | -h)
		usage
		exit 0
		;;
	*) wrong "unknown option \"$1\"" ;;
	esac
	shift
done

[ "$seeds" != 0 ] || wrong "--seeds takes a number of 1 or more, got \"0\""
[ -n "$seeds" ] || [ -z "$seed" ] || wrong "--seed: expected --seeds beside it"
seeds=${seeds:-0} seed=${seed:-1}
[ -n "$least" ] || least=$((seeds > 0 ? 75 : 80))
[ "$seeds" -eq 0 ] || dirs=$pure
status=0
# shellcheck disable=SC2086
weft_install $WEFT_BUILD_PACKAGES $WEFT_TEST_PACKAGES gcovr || exit 1
if [ $only_count -eq 0 ]; then
	options=(-Dtests=true -Db_coverage=true -Doptimization=1 -Dc_args=-fprofile-update=atomic)
	if headers=$(weft_driver_headers "${WEFT_TEST_DIR:-.}/build" "${WEFT_TEST_DIR:-.}/build-driver-headers"); then
		options+=(-Ddpdk_driver_headers="$headers")
	fi
	targets=()
	[ "$seeds" -eq 0 ] || targets=(app/weft-sim)
	weft_build "$dir" gcc "${options[@]}" "${targets[@]}" || exit 1
	# Counts of before, and notes of sources that are gone.
	find "$dir" -name '*.gcda' -delete
	ninja -C "$dir" -t cleandead >/dev/null
	find "$dir" -name '*.gcno' | while read -r note; do
		[ -e "${note%.gcno}.o" ] || rm "$note"
	done
	if [ "$seeds" -gt 0 ]; then
		simulate_all || status=1
	else
		mapfile -t names < <(meson test -C "$dir" --no-rebuild --list 2>/dev/null | sed 's,.* / ,,' | grep -xE "$tests")
		meson test -C "$dir" --no-rebuild --timeout-multiplier 4 "${names[@]}" || status=1
	fi
fi

# An assertion that fails is our mistake and no behaviour: its branch is not counted.
pattern=$(tr ' +' '||' <<<"$dirs")
places=("$dir/lib")
[ "$seeds" -gt 0 ] || places+=("$dir/app" "$dir/test/unit")
mapfile -t objects < <(find "${places[@]}" -maxdepth 1 -name 'libweft_*.p' -o \
	-maxdepth 1 -name 'weft*.p' -o -maxdepth 1 -name 'test_common_*.p')
gcovr -r . --object-directory "$dir" --filter "($pattern)" --exclude-branches-by-pattern '\s*assert\(' \
	--exclude-unreachable-branches --json "$dir/coverage.json" "${objects[@]}" || exit 1
# shellcheck disable=SC2086
python3 - "$dir/coverage.json" "$least" "$files" "$seeds" $dirs <<'PY' || status=1
import json, os, sys
report, least, with_files, of_seeds, dirs = (
    sys.argv[1], int(sys.argv[2]), sys.argv[3] == "1", sys.argv[4] != "0", sys.argv[5:])


def count(f):
    """Lines, lines that ran, branches, branches that were taken, lines with one that was not."""
    lines = [l for l in f["lines"] if not l["gcovr/noncode"]]
    taken = [[b["count"] > 0 for b in l["branches"]] for l in lines]
    return (len(lines), sum(l["count"] > 0 for l in lines), sum(map(len, taken)), sum(map(sum, taken)),
            [str(l["line_number"]) for l, t in zip(lines, taken) if not all(t)])


def line(name, n):
    print("%-48s %6d %6.1f %% %8d %6.1f %%" % (name, n[0], 100 * n[1] / n[0], n[2], 100 * n[3] / (n[2] or 1)))


per_file = {f["file"]: count(f) for f in json.load(open(report))["files"]}
print("%-48s %6s %8s %8s %8s" % ("", "lines", "ran", "branches", "taken"))
low, all_dirs = [], [0] * 4
for d in dirs:
    counts = {name: n for name, n in sorted(per_file.items()) if name.startswith(tuple(d.split("+")))}
    if not counts:
        sys.exit("coverage.sh: nothing of %s was built" % d)
    total = [sum(n[i] for n in counts.values()) for i in range(4)]
    line(d, total)
    all_dirs = [a + b for a, b in zip(all_dirs, total)]
    for name, n in counts.items() if with_files else ():
        line("  " + os.path.basename(name), n)
        if n[4]:
            print("    " + " ".join(n[4]))
    if not of_seeds and 100 * total[3] < least * total[2]:
        low.append(d)
line("all", all_dirs)
if of_seeds and 100 * all_dirs[1] < least * all_dirs[0]:
    sys.exit("coverage.sh: less than %d %% of the lines" % least)
if low:
    sys.exit("coverage.sh: less than %d %% of the branches of %s" % (least, ", ".join(low)))
PY
exit "$status"
