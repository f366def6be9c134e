#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Fetch the headers that DPDK drivers need and libdpdk-dev leaves out, from the source package of the
# DPDK that is installed: driver-headers.sh DIR, then meson setup -Ddpdk_driver_headers=DIR. The
# package comes from where libdpdk-dev came from; the system's package lists are not touched, and no
# right is needed. Does nothing if DIR has them. One line says what fails.
set -eu
usage="usage: usertools/driver-headers.sh DIR    (fetch the headers that DPDK drivers need into DIR)"
misused() {
	echo "$usage" >&2
	exit 2
}
case ${1:-} in
--help | -h)
	echo "$usage"
	exit 0
	;;
-*) misused ;;
esac
[ $# -eq 1 ] || misused
headers="ethdev_driver.h ethdev_vdev.h bus_vdev_driver.h dev_driver.h bus_driver.h rte_dmadev_pmd.h"

fail() {
	echo "driver-headers.sh: $*" >&2
	exit 1
}

for tool in xz tar apt-get dpkg-query; do
	command -v "$tool" >/dev/null || fail "there is no program $tool (packages xz-utils, tar, apt)"
done
version=$(dpkg-query -W -f '${Version}' libdpdk-dev 2>/dev/null) ||
	fail "the package libdpdk-dev is not installed, so its sources cannot be chosen"
mkdir -p "$1" 2>/dev/null || fail "$1: the folder cannot be made"
dir=$(cd "$1" && pwd)
# A folder that an earlier release filled has fewer of them.
has_all() {
	for header in $headers; do
		[ -s "$dir/$header" ] || return 1
	done
}
if [ "$(cat "$dir/version" 2>/dev/null)" = "$version" ] && has_all; then
	exit 0
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/sources" "$work/lists/partial" "$work/cache/archives/partial" "$work/src"
# Sources that offer the package, asked for its source.
apt-cache policy libdpdk-dev | grep -o 'https\?://[^ ]*' | sort -u >"$work/hosts"
[ -s "$work/hosts" ] || fail "no package source offers libdpdk-dev $version (apt-get update?)"
for list in /etc/apt/sources.list /etc/apt/sources.list.d/*; do
	[ -f "$list" ] && grep -qFf "$work/hosts" "$list" || continue
	sed -e 's/^Types:.*/Types: deb-src/' -e '/^deb-src/d' -e 's/^deb /deb-src /' "$list" \
		>"$work/sources/$(basename "$list")"
done
apt() {
	apt-get -qq -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$work/sources" \
		-o Dir::State::lists="$work/lists" -o Dir::Cache="$work/cache" \
		-o APT::Sandbox::User="$(id -un)" "$@" >"$work/log" 2>&1
}
cd "$work/src"
apt update && apt source --download-only "dpdk=$version" ||
	fail "the source package dpdk $version cannot be fetched: $(grep -m 1 '^E:' "$work/log" || tail -n 1 "$work/log")"
for header in $headers; do
	tar -xaf dpdk_*.orig.tar.* -O --wildcards "*/$header" >"$work/$header" 2>"$work/log" ||
		fail "dpdk $version: $header cannot be unpacked: $(head -n 1 "$work/log")"
	[ -s "$work/$header" ] || fail "dpdk $version has no $header"
	cp "$work/$header" "$dir/$header"
done
echo "$version" >"$dir/version"
