# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# What Weft needs on Debian 12, and a function that installs what is missing of a list. Sourced by
# the scripts beside it.

# To build and run. xz-utils unpacks the headers for DPDK drivers.
WEFT_BUILD_PACKAGES="gcc libc6-dev meson ninja-build pkg-config python3 xz-utils dpdk libdpdk-dev
libisal-dev libipsec-mb-dev libnuma-dev libyaml-dev libjansson-dev libmicrohttpd-dev libssl-dev iproute2
libfuse3-dev fuse3 libsqlite3-dev libncurses-dev libedit-dev libcurl4-openssl-dev systemtap-sdt-dev"

# To run every test, beyond that.
WEFT_TEST_PACKAGES="clang g++ libclang-rt-14-dev lld llvm clang-format-14 libcmocka-dev libpcap-dev python3-numpy
python3-cryptography python3-cryptography-vectors python3-jsonschema python3-yaml python3-matplotlib dpdk-dev
tshark jq spin valgrind nbdkit nbdkit-plugin-dev libnbd-bin qemu-utils fio sqlite3 etcd-server curl prometheus chromium tmux
ansible-core"

# To make a book of the pages.
WEFT_DOC_PACKAGES="python3-sphinx python3-myst-parser doxygen"

# weft_apt LOG WORD...: apt-get as root. What it says goes to LOG; how far it is, to stdout.
weft_apt() {
	local log=$1 run=() line kind percent shown=""
	shift
	[ "$(id -u)" -eq 0 ] || run=(sudo)
	: >"$log"
	# Fd 1 because sudo closes all others.
	set -o pipefail
	"${run[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300 \
		-o APT::Status-Fd=1 "$@" 2>&1 </dev/null | while IFS= read -r line; do
		IFS=: read -r kind _ percent _ <<<"$line"
		case $kind in
		dlstatus) kind=fetched ;;
		pmstatus) kind=installed ;;
		*)
			echo "$line" >>"$log"
			continue
			;;
		esac
		percent=${percent%%[!0-9]*}
		percent="$kind $((${percent:-0} / 20 * 20)) %"
		[ "$percent" = "$shown" ] || [ "${percent#* }" = "0 %" ] || echo "  packages $percent"
		shown=$percent
	done
	set -- $?
	set +o pipefail
	return "$1"
}

# weft_install PACKAGE...: install what is missing; nothing is asked, nothing done when all is there.
weft_install() {
	local missing=() package installed log status=0
	installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "$@" 2>/dev/null |
		sed -n 's/^installed //p')
	for package in "$@"; do
		grep -qx -- "$package" <<<"$installed" || missing+=("$package")
	done
	[ "${#missing[@]}" -eq 0 ] && return 0
	if [ "$(id -u)" -ne 0 ] && ! command -v sudo >/dev/null; then
		echo "weft: these packages are missing: ${missing[*]}" >&2
		echo "weft: install them as root: apt-get install ${missing[*]}" >&2
		return 1
	fi
	echo "weft: installing ${missing[*]}"
	log=$(mktemp)
	{ weft_apt "$log" update && weft_apt "$log" install --no-install-recommends "${missing[@]}"; } || {
		grep -E '^(E|W|Err)[: ]' "$log" | tail -n 5 >&2
		echo "weft: apt-get could not install: ${missing[*]}" >&2
		status=1
	}
	rm -f "$log"
	return $status
}
