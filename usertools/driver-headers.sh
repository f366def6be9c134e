#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Fetch the headers that DPDK drivers need and libdpdk-dev leaves out, from the source package of the
# DPDK that is installed: driver-headers.sh DIR, then meson setup -Ddpdk_driver_headers=DIR. The
# package comes from where libdpdk-dev came from; the system's package lists are not touched, and no
# right is needed. Does nothing if DIR has them.
set -eu
[ $# -eq 1 ] || {
	echo "usage: usertools/driver-headers.sh DIR" >&2
	exit 1
}
headers="ethdev_driver.h ethdev_vdev.h bus_vdev_driver.h dev_driver.h bus_driver.h"
version=$(dpkg-query -W -f '${Version}' libdpdk-dev)
mkdir -p "$1"
dir=$(cd "$1" && pwd)
if [ "$(cat "$dir/version" 2>/dev/null)" = "$version" ]; then
	exit 0
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/sources" "$work/lists/partial" "$work/cache/archives/partial" "$work/src"
# Sources that offer the package, asked for its source.
apt-cache policy libdpdk-dev | grep -o 'https\?://[^ ]*' | sort -u >"$work/hosts"
for list in /etc/apt/sources.list /etc/apt/sources.list.d/*; do
	[ -f "$list" ] && grep -qFf "$work/hosts" "$list" || continue
	sed -e 's/^Types:.*/Types: deb-src/' -e '/^deb-src/d' -e 's/^deb /deb-src /' "$list" \
		>"$work/sources/$(basename "$list")"
done
apt() {
	apt-get -qq -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$work/sources" \
		-o Dir::State::lists="$work/lists" -o Dir::Cache="$work/cache" \
		-o APT::Sandbox::User="$(id -un)" "$@"
}
cd "$work/src"
apt update && apt source --download-only "dpdk=$version" || {
	echo "driver-headers.sh: the source package dpdk $version cannot be fetched" >&2
	exit 1
}
for header in $headers; do
	tar -xaf dpdk_*.orig.tar.* -O --wildcards "*/$header" >"$dir/$header"
	[ -s "$dir/$header" ] || {
		echo "driver-headers.sh: dpdk $version has no $header" >&2
		exit 1
	}
done
echo "$version" >"$dir/version"
