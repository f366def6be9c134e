#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The README's two commands on a bare Debian 12, in either order: see --help. Ends with "N passed,
# N failed, N skipped"; exit status 1 if any failed.
set -u
cd "$(dirname "$0")/.." || exit 1

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

passed=0 failed=0 skipped=0 keep=0
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

finish() {
	echo "$passed passed, $failed failed, $skipped skipped"
	[ "$failed" -eq 0 ]
	exit
}

skip() {
	echo "skipped: $*"
	skipped=$((skipped + 1))
	finish
}

# Everything below runs in a mount namespace of its own: what is mounted goes with it, whatever happens.
if [ -z "${WEFT_FRESH_INSIDE:-}" ]; then
	[ "$(id -u)" -eq 0 ] || skip "a root of its own needs root here"
	command -v debootstrap >/dev/null || skip "debootstrap is not installed (package debootstrap)"
	unshare -m --propagation private mount -t tmpfs none /mnt 2>/dev/null ||
		skip "no right to mount here"
	again=(--first "$orders")
	[ "$orders" != "demo test" ] || again=()
	[ $keep -eq 0 ] || again+=(--keep)
	WEFT_FRESH_INSIDE=1 exec unshare -m --propagation private \
		"$PWD/usertools/fresh-test.sh" "${again[@]}" -- "${options[@]}"
fi

work=$(mktemp -d "${TMPDIR:-/tmp}/weft-fresh.XXXXXX")
cache=${WEFT_FRESH_CACHE:-$work/cache}
# remove DIR: and first what is mounted there, by us or by what ran there. Nothing of this machine may be
# below what is removed.
remove() {
	local mounted
	mounted_in "$1" | sort -r | while read -r mounted; do
		umount -l "$mounted"
	done
	if mounted_in "$1" | grep -q .; then
		echo "fresh-test.sh: $1: something is mounted there still; not removed" >&2
	else
		rm -rf --one-file-system "$1"
	fi
}

mounted_in() { awk -v d="$1" '$2 == d || index($2, d "/") == 1 { print $2 }' /proc/self/mounts; }

clean() {
	if [ "$keep" -ne 0 ]; then
		echo "kept: $work"
	else
		remove "$work"
	fi
}
trap clean EXIT
trap 'exit 130' INT TERM
mkdir -p "$cache/packages"

suite=bookworm
sources=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
	awk -v s="$suite" '$3 == "main" && ($2 == s || $2 == s "-updates" || $2 == s "-security")' | sort -u)
mirror=$(awk -v s="$suite" '$2 == s {print $1; exit}' <<<"$sources")
[ -n "$mirror" ] || skip "this machine's apt has no source of Debian 12 ($suite)"

# make_base: the minimal root, as an archive.
make_base() {
	local https=""
	[[ $sources != *https://* ]] || https=1
	local http_proxy=${http_proxy:-}
	eval "$(apt-config shell http_proxy Acquire::http::Proxy)"
	export http_proxy
	rm -rf "$work/base"
	# Over TLS the root needs certificates of its own.
	debootstrap --variant=minbase ${https:+--include=ca-certificates} "$suite" "$work/base" "$mirror" >"$work/log" 2>&1 || {
		tail -n 5 "$work/log"
		return 1
	}
	awk '{print "deb", $1, $2, $3}' <<<"$sources" >"$work/base/etc/apt/sources.list"
	tar -C "$work/base" -cf "$cache/base.tar.new" . && mv "$cache/base.tar.new" "$cache/base.tar"
	rm -rf "$work/base"
}

# make_root DIR [netns]: the minimal root and the tree in /weft; netns: a mount point, which is what
# "ip netns exec" needs of /.
make_root() {
	local dir=$1 proxy
	mkdir "$dir" && { [ "${2:-}" != netns ] || mount --bind "$dir" "$dir"; } &&
		tar -C "$dir" -xf "$cache/base.tar" && mkdir "$dir/weft" || return 1
	git -c safe.directory="$PWD" ls-files -z | xargs -0 tar -cf - -- | tar -C "$dir/weft" -xf - || return 1
	cp -L /etc/resolv.conf /etc/hosts "$dir/etc/" 2>/dev/null
	proxy=$(apt-config dump Acquire::http::Proxy Acquire::https::Proxy)
	[ -z "$proxy" ] || echo "$proxy" >"$dir/etc/apt/apt.conf.d/proxy"
	mount -t proc proc "$dir/proc" && mount -t sysfs -o ro sys "$dir/sys" &&
		mount --rbind /dev "$dir/dev" && mount --bind "$cache/packages" "$dir/var/cache/apt/archives"
}

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
	make_root "$root" $kind || {
		failed=$((failed + 1))
		echo "FAIL $1 first: the root cannot be made"
		return
	}
	[ "$1" = demo ] || run "$root" "usertools/test.sh ${options[*]}, first of all" usertools/test.sh "${options[@]}"
	run "$root" "usertools/demo.sh, $1 first" usertools/demo.sh
	run "$root" "usertools/demo.sh again" usertools/demo.sh
	[ "$1" = test ] || run "$root" "usertools/test.sh ${options[*]}, after the demo" usertools/test.sh "${options[@]}"
	[ "$keep" -ne 0 ] || remove "$root"
}

if [ ! -f "$cache/base.tar" ]; then
	echo "a minimal root with debootstrap: about a minute"
	make_base || {
		failed=$((failed + 1))
		echo "FAIL debootstrap"
		finish
	}
fi
for first in $orders; do
	order "$first"
done
finish
