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
dir=${WEFT_TEST_DIR:-.}/build-cov least=80 files=0 only_count=0

usage() {
	cat <<-U
	usage: usertools/coverage.sh [--files] [--least PERCENT] [--no-run]

	Installs what is missing, builds build-cov with gcc and its counters, runs the tests of these folders,
	and prints how much of their lines ran and how many of their branches were taken: see doc/testing.md.
	Status 1 if a test failed, or if fewer than 80 % of a folder's branches were taken. Some 10 minutes
	on two cores; no part of usertools/test.sh.

	    $dirs

	  --files          a line a file too, with the lines in which a branch was not taken
	  --least PERCENT  of branches (80)
	  --no-run         count what ran before

	  WEFT_TEST_DIR=DIR  the build is DIR/build-cov (default: this tree)
	U
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
	--help | -h)
		usage
		exit 0
		;;
	*) wrong "unknown option \"$1\"" ;;
	esac
	shift
done

status=0
# shellcheck disable=SC2086
weft_install $WEFT_BUILD_PACKAGES $WEFT_TEST_PACKAGES gcovr || exit 1
if [ $only_count -eq 0 ]; then
	options=(-Dtests=true -Db_coverage=true -Doptimization=1 -Dc_args=-fprofile-update=atomic)
	if headers=$(weft_driver_headers "${WEFT_TEST_DIR:-.}/build" "${WEFT_TEST_DIR:-.}/build-driver-headers"); then
		options+=(-Ddpdk_driver_headers="$headers")
	fi
	weft_build "$dir" gcc "${options[@]}" || exit 1
	# Counts of before, and notes of sources that are gone.
	find "$dir" -name '*.gcda' -delete
	ninja -C "$dir" -t cleandead >/dev/null
	find "$dir" -name '*.gcno' | while read -r note; do
		[ -e "${note%.gcno}.o" ] || rm "$note"
	done
	mapfile -t names < <(meson test -C "$dir" --no-rebuild --list 2>/dev/null | sed 's,.* / ,,' | grep -xE "$tests")
	meson test -C "$dir" --no-rebuild --timeout-multiplier 4 "${names[@]}" || status=1
fi

# An assertion that fails is our mistake and no behaviour: its branch is not counted.
pattern=$(tr ' +' '||' <<<"$dirs")
mapfile -t objects < <(find "$dir/lib" "$dir/app" "$dir/test/unit" -maxdepth 1 -name 'libweft_*.p' -o \
	-maxdepth 1 -name 'weft*.p' -o -maxdepth 1 -name 'test_common_*.p')
gcovr -r . --object-directory "$dir" --filter "($pattern)" --exclude-branches-by-pattern '\s*assert\(' \
	--exclude-unreachable-branches --json "$dir/coverage.json" "${objects[@]}" || exit 1
# shellcheck disable=SC2086
python3 - "$dir/coverage.json" "$least" "$files" $dirs <<'PY' || status=1
import json, os, sys
report, least, with_files, dirs = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "1", sys.argv[4:]


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
low = []
for d in dirs:
    counts = {name: n for name, n in sorted(per_file.items()) if name.startswith(tuple(d.split("+")))}
    if not counts:
        sys.exit("coverage.sh: nothing of %s was built" % d)
    total = [sum(n[i] for n in counts.values()) for i in range(4)]
    line(d, total)
    for name, n in counts.items() if with_files else ():
        line("  " + os.path.basename(name), n)
        if n[4]:
            print("    " + " ".join(n[4]))
    if 100 * total[3] < least * total[2]:
        low.append(d)
if low:
    sys.exit("coverage.sh: less than %d %% of the branches of %s" % (least, ", ".join(low)))
PY
exit $status
