#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What a program says of itself: every option it takes is in --help, in its page for man and in the pages of doc/, and
# bash completes options and their words.
. "$(dirname "$0")/lib.sh"
tree=$here/../..

# pages that are a program's manual
declare -A pages=([weftd]=doc/weftd.md [weft-sim]="doc/sim.md doc/experiment.md" [weft-replay]=doc/replay.md
	[weft-gen]=doc/replay.md [weft-bench]=doc/bench.md [weft-sig]=doc/signature.md [weft-load]=doc/weft-load.md
	[weftctl]=doc/weftctl.md)
[ ! -x "$app/weft-fuse" ] || pages[weft-fuse]=doc/weft-fuse.md # where libfuse 3 is
[ ! -x "$app/weft-fm" ] || pages[weft-fm]=doc/fm.md # where SQLite is

# has FILE WORD: the option, and not one whose name goes on
has() { grep -qE -- "(^|[^a-z-])$2([^a-z0-9-]|\$)" "$1"; }

# complete_words PROGRAM WORD...: what bash offers in place of the last
complete_words() (
	# shellcheck disable=SC1090
	. "$work/$1.bash"
	compopt() { echo "compopt $*"; } # works in a shell that completes, and there alone
	COMP_WORDS=("$@")
	COMP_CWORD=$(($# - 1))
	"_$1"
	echo "${COMPREPLY[*]}"
)

for program in "${!pages[@]}"; do
	"$app/$program" --help >"$work/help"
	"$app/$program" --help=table >"$work/table"
	misused '--help: expected one of table, got "x"' "$app/$program" --help=x
	[ "$program" != weft-sim ] || "$app/$program" --experiment rxl --help >>"$work/help"
	! grep -nE '.{101}' "$work/help" || die "$program --help: lines of more than 100 columns"
	! grep -nE '\][a-z]' "$work/help" || die "$program --help: what is to be given runs into what it does"
	/usr/bin/python3 "$tree/app/manual.py" man "$app/$program" >"$work/$program.1"
	/usr/bin/python3 "$tree/app/manual.py" completion "$app/$program" >"$work/$program.bash"
	sed 's/\\-/-/g; s/\\f[BIR]//g' "$work/$program.1" >"$work/man"
	(cd "$tree" && cat ${pages[$program]}) >"$work/doc"
	n=0
	while IFS=$'\t' read -r kind name shown _; do
		[ "$kind" = option ] || continue
		n=$((n + 1))
		grep -qF -- "  $shown" "$work/help" || die "$program --help does not say $shown"
		grep -qxF -- "$shown" "$work/man" || die "the page of $program for man does not say $shown"
		case $name in
		help | version) ;;
		json | out | csv | histogram)
			# Whatever else is wrong, or missing. Of weftctl, whose --out is one verb's, --json is no file.
			first=()
			[ "$name" != csv ] || first=(--experiment rxl)
			[ "$program" = weftctl ] || "$app/$program" "${first[@]}" "--$name" '' x 2>&1 |
				grep -qxF "$program: --$name: expected a file, or - for standard output, got nothing" ||
				die "$program takes an empty name for --$name"
			;;&
		*) has "$work/doc" "--$name" || die "${pages[$program]} do not say --$name of $program" ;;
		esac
		complete_words "$program" "--$name" | grep -qw -- "--$name" || die "$program --$name is not completed"
	done <"$work/table"
	[ $n -ge 8 ] || die "$program has $n options"
done

same "words of an option" "cxl rxl" "$(complete_words weft-gen --mode "")"
same "words after =" "containment" "$(complete_words weft-replay --ide = c)"
same "all words after =" "auto spin yield" "$(complete_words weftd --idle =)"
same "the next of a list" "kv,zipf" "$(complete_words weft-bench --atc-workload kv,z)"
same "what is no option" "tx" "$(complete_words weft-sig t)"
same "a file" "compopt -o default" "$(complete_words weft-sim --topology x | head -n 1)"
same "a number" "" "$(complete_words weft-sim --hops 1)"
same "a value that may be left out" "--verbose --version" "$(complete_words weftd --json --ver)"

# The version, and of a checkout its commit; of a tarball none, within somebody's checkout or not.
top=$here/../..
version=$("$app/weftd" --version)
grep -qxE "weftd [0-9.]+( \([0-9a-f]{12,40}(-dirty)?\))?" <<<"$version" || die "--version: $version"
if [ -e "$top/.git" ] && git -C "$top" rev-parse HEAD >"$work/commit" 2>/dev/null; then
	grep -q '(' <<<"$version" || die "--version of a checkout: $version"
	mkdir -p "$work/tar/app" && cp "$top/app/commit.py" "$work/tar/app"
	same "a commit of a tarball" "" "$(/usr/bin/python3 "$work/tar/app/commit.py")"
	git -C "$work" init -q
	same "a commit of a tarball in a checkout" "" "$(/usr/bin/python3 "$work/tar/app/commit.py")"
else
	echo "note: this is no checkout of git, so no commit was looked for"
fi

if command -v man >/dev/null && man --version 2>/dev/null | grep -q '^man 2'; then
	for program in "${!pages[@]}"; do
		MANWIDTH=80 man --warnings -E UTF-8 -l "$work/$program.1" >"$work/out" 2>"$work/err"
		[ ! -s "$work/err" ] || die "man has something to say of $program.1: $(cat "$work/err")"
		[ "$(wc -l <"$work/out")" -ge 40 ] || die "man shows little of $program.1: $(cat "$work/out")"
	done
else
	echo "note: man (package man-db) is not there, so it has not read the pages"
fi
echo "what programs take is what they, their pages and bash say"
