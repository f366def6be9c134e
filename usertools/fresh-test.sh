#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The README's two commands on a bare Debian 12, in either order: see --help. Ends with "N passed,
# N failed, N skipped"; exit status 1 if any failed.
set -u
cd "$(dirname "$0")/.." || exit 1
. usertools/fresh-root.sh

usage() {
	cat <<-U
	usage: usertools/fresh-test.sh [--keep] [--first demo|test] [-- TEST-OPTION...]

	Makes a minimal root of Debian 12 with debootstrap, copies the tracked files of this tree into it as
	they are now, and runs there usertools/demo.sh twice and then usertools/test.sh; in a second root
	usertools/test.sh, then usertools/demo.sh twice. The first root has network namespaces, the second
	is a plain chroot, where "ip netns exec" does not work. Both go in the end. Needs root, debootstrap and
	the right to mount; where one is missing it says so and skips. Packages come from where this machine's
	own do. Takes some ten minutes and 4 GB in \$TMPDIR.

	  --first WHICH   only that order
	  --keep          leave the roots, and say where
	  TEST-OPTION     for usertools/test.sh; default: --quick

	  WEFT_FRESH_CACHE=DIR  keep the minimal root and the packages in DIR, for the next time
	U
}

keep=0
orders="demo test" options=(--quick)
while [ $# -gt 0 ]; do
	case $1 in
	--first)
		case ${2:-} in
		demo | test) orders=$2 ;;
		*)
			echo "fresh-test.sh: --first: expected demo or test, got \"${2:-}\"" >&2
			exit 2
			;;
		esac
		shift
		;;
	--keep) keep=1 ;;
	--)
		shift
		options=("$@")
		break
		;;
	--help | -h)
		usage
		exit 0
		;;
	*)
		echo "fresh-test.sh: unknown option \"$1\"; --help shows what there is" >&2
		exit 2
		;;
	esac
	shift
done

# Everything below runs in a mount namespace of its own: what is mounted goes with it, whatever happens.
again=(--first "$orders")
[ "$orders" != "demo test" ] || again=()
[ $keep -eq 0 ] || again+=(--keep)
fresh_enter "${again[@]}" -- "${options[@]}"
fresh_begin weft-fresh

# run ROOT WHAT COMMAND...: in that root, with a bare environment; its last lines if it fails.
run() {
	local root=$1 what=$2 begin=$SECONDS
	shift 2
	if env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 ${http_proxy:+http_proxy="$http_proxy"} \
		chroot "$root" sh -c 'cd /weft && exec "$@"' sh "$@" </dev/null >"$work/run.log" 2>&1; then
		passed=$((passed + 1))
		echo "passed $what ($((SECONDS - begin)) s): $(grep -E 'passed,|namespace|rings in' "$work/run.log" | tail -n 1)"
	else
		failed=$((failed + 1))
		grep -E '^FAIL' "$work/run.log" | head -n 20
		tail -n 40 "$work/run.log"
		echo "FAIL $what ($((SECONDS - begin)) s)"
	fi
}

# order FIRST: both commands in a new root, the demo twice.
order() {
	local root=$work/$1-first kind=
	[ "$1" != demo ] || kind=netns
	fresh_root "$root" $kind || {
		failed=$((failed + 1))
		echo "FAIL $1 first: the root cannot be made"
		return
	}
	[ "$1" = demo ] || run "$root" "usertools/test.sh ${options[*]}, first of all" usertools/test.sh "${options[@]}"
	run "$root" "usertools/demo.sh, $1 first" usertools/demo.sh
	run "$root" "usertools/demo.sh again" usertools/demo.sh
	[ "$1" = test ] || run "$root" "usertools/test.sh ${options[*]}, after the demo" usertools/test.sh "${options[@]}"
	[ "$keep" -ne 0 ] || fresh_remove "$root"
}

fresh_base || {
	failed=$((failed + 1))
	echo "FAIL debootstrap"
	finish
}
for first in $orders; do
	order "$first"
done
finish
