#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The Debian packages, from their sources to their removal: see --help. Ends with "N passed, N failed, N skipped"; exit
# status 1 if any failed.
set -u
cd "$(dirname "$0")/.." || exit 1
. usertools/fresh-root.sh

usage() {
	cat <<-U
	usage: usertools/package-test.sh [--keep] [--packages DIR]

	Builds the packages of debian/ from a copy of the tracked files of this tree, has lintian look at them, installs them
	into a minimal root of Debian 12, runs the demo there from what is installed, builds the examples, purges the packages
	and looks for what they leave. Needs root, debootstrap, the right to mount and what the packages build with; where one is
	missing it says so and skips. Takes some ten minutes and 3 GB in \$TMPDIR.

	  --packages DIR  take the packages that are there, instead of building them
	  --keep          leave the root and the packages, and say where

	  WEFT_FRESH_CACHE=DIR  keep the minimal root and what was fetched in DIR, for the next time
	U
}

keep=0 built=""
while [ $# -gt 0 ]; do
	case $1 in
	--keep) keep=1 ;;
	--packages)
		built=$(fresh_packages "${2:-}") || exit 2
		shift
		;;
	--help | -h)
		usage
		exit 0
		;;
	*)
		echo "package-test.sh: unknown option \"$1\"; --help shows what there is" >&2
		exit 2
		;;
	esac
	shift
done

again=()
[ $keep -eq 0 ] || again+=(--keep)
[ -z "$built" ] || again+=(--packages "$built")
fresh_enter "${again[@]}"
fresh_begin weft-package
root=$work/root

inside() { fresh_inside "$root" "$@"; }

build() {
	mkdir -p "$work/build/weft" && fresh_tree "$work/build/weft" &&
		(cd "$work/build/weft" && dpkg-buildpackage -us -uc -b)
}

# Errors alone: what is a warning is written down in no override.
lint() { lintian --fail-on error --tag-display-limit 0 "$built"/*.changes; }

# What the packages need of Debian, so that what is new after them is theirs.
satisfy() {
	local depends
	depends=$(for deb in "$root"/packages/*.deb; do dpkg-deb -f "$deb" Depends; done | tr ',' '\n' | sed 's/^ *//; s/ *$//' |
		grep -v '^$\|weft' | sort -u | paste -sd ,)
	inside apt-get -q update && inside apt-get -q -y --no-install-recommends satisfy "$depends" &&
		inside apt-get -q -y --no-install-recommends install fuse3 gcc libc6-dev pkg-config man-db
}

# Everything but what the package manager and the kernel keep.
names() {
	(cd "$root" && find . -xdev \( -path ./proc -o -path ./sys -o -path ./dev -o -path ./weft -o -path ./packages -o -path ./tmp -o \
		-path ./var/log -o -path ./var/lib/dpkg -o -path ./var/lib/apt -o -path ./var/cache \) -prune -o -print | sort)
}

# The README's session, from what is installed.
demo() {
	# shellcheck disable=SC2016
	inside bash -euxc '
		cd /tmp
		weft-gen --flits 20000 --errors burst=3:0.001,drop=0.0005 --out trace.pcap
		weft-replay --in trace.pcap | grep "^crc *good [1-9][0-9]* bad 0"
		weft-sim --seeds 3 | grep "violations 0"
		weftd --until-done | grep -E " 0 mismatches +0 lost"
		weftd --idle yield >weftd.log 2>&1 & pid=$!
		for i in $(seq 60); do weftctl show nodes >/dev/null 2>&1 && break; sleep 1; done
		echo "hello fabric" | weftctl --node h0 mem write g0 12M
		[ "$(weftctl --node h1 mem read g0 12M 13 --out -)" = "hello fabric" ]
		for source in /usr/share/doc/weft/examples/{read_write,pcap_flits}.c; do
			cc -Wall "$source" -o "$(basename "$source" .c)" $(sed -n "s/.*\$(\(pkg-config --cflags --libs [a-z -]*\)).*/\1/p" "$source" | head -n 1 | sh)
		done
		./read_write h0 g0 100 "to all of you"
		[ "$(./read_write h1 g0 100)" = "to all of you" ]
		./pcap_flits trace.pcap | tail -n 1 | grep "crc good"
		kill $pid; wait $pid || true
		/usr/share/weft/vectors/check.py | grep " 0 failed"
		weftd --schema | cmp - /usr/share/weft/topology-schema.json
		for program in weftd weftctl weft-fm weft-sim weft-fuse; do man -w $program; done
		id weft
		systemd-analyze verify weftd@h0.service 2>&1 | grep weft && exit 1 || true
		# Until a boot these stay of what ran here: the folder of DPDK, a list of systemd-analyze.
		rm -rf /tmp/* /run/weft /run/dpdk /run/systemd/systemd-units-load'
}

left() {
	names >"$work/after"
	# Users stay: a number must not come to be somebody else.
	diff "$work/before" "$work/after" | grep '^[<>]' | grep -v ' ./etc/\(passwd\|group\|shadow\|gshadow\|subuid\|subgid\)-$' >"$work/left"
	cat "$work/left"
	[ ! -s "$work/left" ]
}

if [ -z "$built" ]; then
	for program in dpkg-buildpackage dh lintian; do
		command -v $program >/dev/null || skip "$program is not installed (packages dpkg-dev, debhelper, lintian)"
	done
	dpkg-checkbuilddeps >"$work/log" 2>&1 || skip "$(cat "$work/log")"
	step "dpkg-buildpackage -us -uc -b" build
	built=$work/build
fi
step "lintian has no errors" lint
step "a minimal root" fresh_base
step "the root" fresh_root "$root"
mkdir "$root/packages" && cp "$built"/*.deb "$root/packages/"
rm -f "$root"/packages/*-dbgsym_*
step "packages of Debian that they need" satisfy
names >"$work/before"
step "installed" inside sh -c 'dpkg -i /packages/*.deb'
step "the demo from installed files" demo
step "purged" inside sh -c 'dpkg --purge weft weft-tools weft-doc libweft-dev libweft0'
step "nothing is left" left
finish
