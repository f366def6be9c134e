#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Whether lcores of a weftd race for data, as the thread sanitizer of clang sees it: see --help.
set -eu
cd "$(dirname "$0")/.."
. usertools/build.sh

[ $# -eq 0 ] || {
	cat <<-U
	usage: usertools/tsan.sh

	Builds build-tsan with clang and its thread sanitizer, runs a retry layer and IDE with their halves on two
	threads, and a host, a switch and two GFDs over rings, each on two lcores with halves of its work and of its links
	on either: in the clear, and with IDE, and in cxl mode. Prints what races; status 1 if anything does but what
	test/tsan/suppressions names with its reasons. DPDK is not built with the sanitizer: its rings are code
	of headers, its pool driver is test/tsan/pool.c here. A minute or two of a CPU.
	U
	[ "$1" = --help ] && exit 0
	exit 2
}

weft_setup build-tsan clang -Db_sanitize=thread -Db_lundef=false -Dc_args=-DRTE_USE_C11_MEM_MODEL
ninja -C build-tsan app/weftd test/unit/test_link_apart test/unit/test_link_opened
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_RUNTIME_DIR=$work
for t in apart opened; do
	TSAN_OPTIONS="exitcode=66 history_size=4" "build-tsan/test/unit/test_link_$t"
done
# shellcheck disable=SC2046
clang -g -O1 -fsanitize=thread -shared -fPIC -DRTE_USE_C11_MEM_MODEL $(pkg-config --cflags libdpdk) \
	test/tsan/pool.c -o "$PWD/build-tsan/pool.so"
(umask 077 && od -An -N32 -tx1 /dev/urandom | tr -d ' \n' >"$work/psk")
run() { # run MODE IDE RX-LAYOUT [options]
	cat >"$work/f.yaml" <<-Y
	fabric: tsan
	mode: $1
	ide: {mode: $2}
	nodes:
	  - {name: h0, kind: host, pid: 0x101, lcores: "0-1"}
	  - {name: s0, kind: switch, pid: 0x010, lcores: "0-1"}
	  - {name: g0, kind: gfd, pid: 0x200, memory: 4M, lcores: "1,0"}
	  - {name: g1, kind: gfd, pid: 0x300, memory: 4M, lcores: "1,0"}
	links:
	  - {a: h0, b: s0, driver: ring}
	  - {a: s0, b: g0, driver: ring}
	  - {a: s0, b: g1, driver: ring}
	workloads:
	  - {on: h0, kind: mem, requests: 20000, outstanding: 64, write_percent: 50, lines: 1024, seed: 1}
	Y
	# EAL takes no file from below a folder that everybody may write to, but names.
	LD_LIBRARY_PATH=$PWD/build-tsan TSAN_OPTIONS="suppressions=$PWD/test/tsan/suppressions exitcode=66 history_size=4" \
		build-tsan/app/weftd \
		--topology "$work/f.yaml" --until-done --rx-layout "$3" \
		--tx-layout 'pack,ide_seal,link_tx|crc_protect,fec_encode,enframe' "${@:4}" -- -d pool.so
}

keys="key_file: $work/psk, rekey_flits: 500"
for ide in off "containment, $keys"; do
	for rx in 'deframe,fec_check|link_rx,ide_open|route,deliver' 'deframe,fec_check,link_rx|ide_open,route,deliver' \
		'deframe|2*fec_check,link_rx,ide_open|route,deliver'; do
		run rxl "$ide" "$rx" --switch-layout 'deframe,fec_relay|route'
	done
done
run cxl "skid, $keys" 'deframe,fec_check,link_rx|ide_open,route|deliver'
echo "no data race between the lcores of weftd"
