#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# 50 hosts and 50 GFDs behind one switch in one process on one lcore: 2,500 connections. All sessions come up, once; nothing
# is lost, nor sent again for want of an lcore's time; what connections and ports do not use takes no memory.
. "$(dirname "$0")/lib.sh"
hosts=50 gfds=50
{
	echo "fabric: many"
	echo "nodes:"
	echo "  - {name: s0, kind: switch, pid: 1}"
	for ((i = 0; i < hosts; i++)); do echo "  - {name: h$i, kind: host, pid: $((0x100 + i))}"; done
	for ((i = 0; i < gfds; i++)); do echo "  - {name: g$i, kind: gfd, pid: $((0x400 + i)), memory: 64K}"; done
	echo "links:"
	for ((i = 0; i < hosts; i++)); do echo "  - {a: h$i, b: s0, driver: ring}"; done
	for ((i = 0; i < gfds; i++)); do echo "  - {a: g$i, b: s0, driver: ring}"; done
	echo "workloads:"
	for ((i = 0; i < hosts; i++)); do
		echo "  - {on: h$i, kind: mem, requests: 100, outstanding: 1, write_percent: 50, lines: 4, timeout_ms: 60000, seed: $i}"
	done
} >"$work/many.yaml"

# The most memory that it had, in MB, stands in $work/rss. With this in the environment malloc writes to all it gives.
unset MALLOC_PERTURB_
timeout -k 2 300 /usr/bin/python3 -S -c 'import resource, subprocess, sys
status = subprocess.call(sys.argv[2:])
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10, file=open(sys.argv[1], "w"))
sys.exit(status)' "$work/rss" "$app/weftd" --topology "$work/many.yaml" --until-done --wait 240 --quiet \
	--json "$work/many.json" 2>"$work/many.err" || die "many connections: ended with $?"
same "all well" "True True" "$(json "$work/many.json" 'o["good"]') $(good "$work/many.json")"
same "sessions, of both ends" $((2 * hosts * gfds)) "$(sum "$work/many.json" session begun)"
same "dropped" "{}" "$(json "$work/many.json" '{k: v for n in o["nodes"] for k, v in n["drops"].items()
	if k in ("tx_full", "no_mbuf", "no_conn") and v}')"
if ! grep -q __asan_init "$app/weftd"; then
	[ "$(cat "$work/rss")" -lt 1200 ] || die "it took $(cat "$work/rss") MB"
fi
echo "2,500 connections on one lcore: $(json "$work/many.json" 'round(o["seconds"], 1)') s, $(cat "$work/rss") MB," \
	"$(sum "$work/many.json" retry resent) flits sent again"
