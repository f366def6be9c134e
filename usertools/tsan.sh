#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Whether lcores of a weftd race for data, as the thread sanitizer of clang sees it: see --help.
set -eu
cd "$(dirname "$0")/.."
. usertools/build.sh

[ $# -eq 0 ] || {
	cat <<-U
	usage: usertools/tsan.sh

	Builds build-tsan with clang and its thread sanitizer, runs a retry layer with its halves on two threads, and a
	host, a switch and a GFD over rings, each on two lcores with halves of its work on either, then with
	halves of its links: in the clear, and with IDE. Prints what races; status 1 if anything does but what
	test/tsan/suppressions names with its reasons. DPDK is not built with the sanitizer: its rings are code
	of headers, its pool driver is test/tsan/pool.c here. A minute or two of a CPU.
	U
	[ "$1" = --help ] && exit 0
	exit 2
}

weft_setup build-tsan clang -Db_sanitize=thread -Db_lundef=false -Dc_args=-DRTE_USE_C11_MEM_MODEL
ninja -C build-tsan app/weftd test/unit/test_link_apart
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_RUNTIME_DIR=$work
TSAN_OPTIONS="exitcode=66 history_size=4" build-tsan/test/unit/test_link_apart
# shellcheck disable=SC2046
clang -g -O1 -fsanitize=thread -shared -fPIC -DRTE_USE_C11_MEM_MODEL $(pkg-config --cflags libdpdk) \
	test/tsan/pool.c -o "$PWD/build-tsan/pool.so"
(umask 077 && od -An -N32 -tx1 /dev/urandom | tr -d ' \n' >"$work/psk")
for ide in off "containment, key_file: $work/psk, rekey_flits: 500"; do
	cat >"$work/f.yaml" <<-Y
	fabric: tsan
	ide: {mode: $ide}
	nodes:
	  - {name: h0, kind: host, pid: 0x101, lcores: "0-1"}
	  - {name: s0, kind: switch, pid: 0x010, lcores: "0-1"}
	  - {name: g0, kind: gfd, pid: 0x200, memory: 4M, lcores: "1,0"}
	links:
	  - {a: h0, b: s0, driver: ring}
	  - {a: s0, b: g0, driver: ring}
	workloads:
	  - {on: h0, kind: mem, requests: 20000, outstanding: 64, write_percent: 50, lines: 1024, seed: 1}
	Y
	for rx in 'deframe,fec_check|link_rx,ide_open|route,deliver' 'deframe,fec_check,link_rx|ide_open,route,deliver'; do
		TSAN_OPTIONS="suppressions=$PWD/test/tsan/suppressions exitcode=66 history_size=4" build-tsan/app/weftd \
			--topology "$work/f.yaml" --until-done --rx-layout "$rx" \
			--tx-layout 'pack,ide_seal,link_tx|crc_protect,fec_encode,enframe' --switch-layout 'deframe,fec_relay|route' \
			-- -d "$PWD/build-tsan/pool.so"
	done
done
echo "no data race between the lcores of weftd"
