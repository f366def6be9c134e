# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# What Weft needs on Debian 12, and a function that installs what is missing of a list. Sourced by
# the scripts beside it.

# To build and run.
WEFT_BUILD_PACKAGES="gcc libc6-dev meson ninja-build pkg-config python3 dpdk libdpdk-dev libisal-dev
libipsec-mb-dev libnuma-dev libpcap-dev libyaml-dev libjansson-dev libssl-dev iproute2"

# To run every test, beyond that.
WEFT_TEST_PACKAGES="clang g++ libclang-rt-14-dev clang-format-14 libcmocka-dev python3-numpy
python3-cryptography python3-cryptography-vectors python3-matplotlib dpdk-dev tshark jq spin"

# weft_install PACKAGE...: install what is missing; nothing is asked, nothing done when all is there.
weft_install() {
	local missing=() package run=()
	for package in "$@"; do
		dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null |
			grep -qx installed || missing+=("$package")
	done
	[ "${#missing[@]}" -eq 0 ] && return 0
	if [ "$(id -u)" -ne 0 ]; then
		command -v sudo >/dev/null || {
			echo "weft: these packages are missing: ${missing[*]}" >&2
			echo "weft: install them as root: apt-get install ${missing[*]}" >&2
			return 1
		}
		run=(sudo)
	fi
	echo "weft: installing ${missing[*]}"
	"${run[@]}" apt-get update -q >/dev/null || return 1
	"${run[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q \
		--no-install-recommends "${missing[@]}" >/dev/null
}
