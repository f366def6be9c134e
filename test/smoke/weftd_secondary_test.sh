#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# DPDK's own tools attach to a weftd as secondary processes: one captures, one shows counters, one is killed,
# and weftd goes on. Hugepages are taken from what is free, and given back.
. "$(dirname "$0")/lib.sh"

[ "$(id -u)" -eq 0 ] || skip "skipped: needs root to allow hugepages and mount them"
for tool in dpdk-dumpcap dpdk-pdump dpdk-proc-info tshark; do
	command -v $tool >/dev/null || skip "skipped: needs $tool (packages dpdk and tshark)"
done
[ -z "$(sanitizers_of "$app/weftd")" ] || skip "skipped: a sanitizer has the addresses that secondary processes need"
if [ -z "${WEFT_INSIDE:-}" ]; then
	unshare -m true 2>/dev/null || skip "skipped: mounts of its own cannot be made here"
	end_teller
	rm -rf "$work"
	WEFT_INSIDE=1 exec unshare -m bash "$0"
fi

# On demand: pages that lie ready would be taken by the daemons of tests beside this one.
pages=/proc/sys/vm/nr_overcommit_hugepages
before=$(cat $pages 2>/dev/null) || skip "skipped: this kernel has no hugepages"
cleanup() {
	umount "$work/huge" 2>/dev/null || true
	{ echo "$before" >$pages; } 2>/dev/null || true
}
{ echo $((before + 256)) >$pages; } 2>/dev/null || skip "skipped: hugepages cannot be allowed here ($pages)"
mkdir "$work/huge"
mount -t hugetlbfs -o pagesize=2M none "$work/huge" 2>/dev/null || skip "skipped: hugetlbfs cannot be mounted here"
export XDG_RUNTIME_DIR=$work RUNTIME_DIRECTORY=$work

cat >"$topology" <<-'Y'
fabric: secondary
nodes:
  - {name: h0, kind: host, pid: 0x101}
  - {name: s0, kind: switch, pid: 0x010}
  - {name: g0, kind: gfd, pid: 0x200, memory: 1M}
links:
  - {a: h0, b: s0, driver: memif}
  - {a: s0, b: g0}
workloads:
  - {on: h0, kind: mem, requests: 0, lines: 64, rate: 5000, timeout_ms: 60000}
Y
# In another's memory weftd cannot run.
for type in secondary auto; do
	misused '--proc-type: expected primary' "$app/weftd" --topology "$topology" -- --proc-type=$type --file-prefix=lab
done
"$app/weftd" --topology "$topology" --idle yield -- --proc-type=primary --file-prefix=lab --huge-dir="$work/huge" \
	>"$work/weftd.log" 2>&1 &
daemon=$!
pids+=("$daemon")
wait_for 20 grep -q '^weftd: .* run' "$work/weftd.log"
same "line about secondary processes" \
	"secondary processes: can attach with --file-prefix=lab (run folder $work/dpdk/lab)" \
	"$(grep '^secondary' "$work/weftd.log")"
same "files of hugepages that others may open" "" "$(find "$work/huge" -type f ! -perm 0600)"

# attach TOOL ARGUMENT...: as a secondary process; what it says is in $work/tool.
attach() { timeout 60 "$1" --file-prefix=lab "${@:2}" >"$work/tool" 2>&1; }
dumpcap() { attach dpdk-dumpcap -q -i net_memif_weft0 "$@"; }

attach dpdk-proc-info -- --stats || die "dpdk-proc-info: $(cat "$work/tool")"
grep -q 'RX-packets: [1-9]' "$work/tool" || die "no frames in: $(cat "$work/tool")"

dumpcap -c 400 -w "$work/a.pcapng" || die "dpdk-dumpcap: $(tail -n 3 "$work/tool")"
tshark -X "lua_script:$here/../../usertools/weft.lua" -o weft.first:1024 -r "$work/a.pcapng" -T fields -e weft.msg.kind \
	>"$work/kinds" 2>/dev/null
for kind in m2s_req s2m_drs; do
	grep -q $kind "$work/kinds" || die "no $kind among: $(sort "$work/kinds" | uniq -c)"
done

# One that is killed leaves its capture on; DPDK's other tool fails at that, and ends it.
dpdk-dumpcap -q --file-prefix=lab -i net_memif_weft0 -w "$work/killed.pcapng" >/dev/null 2>&1 &
killed=$!
pids+=("$killed")
has_captured() { [ "$(stat -c %s "$work/killed.pcapng")" -gt 10000 ]; }
wait_for 20 has_captured
kill -KILL "$killed"
wait "$killed" 2>/dev/null || true
attach dpdk-pdump -- --pdump "port=0,queue=*,rx-dev=$work/x.pcap,tx-dev=$work/x.pcap" && die "dpdk-pdump found no capture on"
dumpcap -c 100 -w "$work/b.pcapng" || die "dpdk-dumpcap after one that was killed: $(tail -n 3 "$work/tool")"

kill -TERM "$daemon"
wait "$daemon" || die "weftd ended with $?: $(cat "$work/weftd.log")"
pids=()
grep -q ' 0 mismatches .* 0 lost' "$work/weftd.log" || die "traffic was not good: $(grep '^host' "$work/weftd.log")"
same "files of hugepages after the end" "" "$(ls "$work/huge")"
dumpcap -c 1 -w "$work/c.pcapng" && die "dpdk-dumpcap finds a weftd that has ended"
same "files of hugepages of a tool without its weftd" "" "$(ls "$work/huge")"

echo "DPDK's tools attach, capture, are killed, and weftd goes on; no hugepage stays behind"
