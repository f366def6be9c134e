#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# No program may link a driver of DPDK: those are loaded when EAL starts, or the numbers of mempool
# drivers differ between processes and DPDK's own tools cannot attach. The bus of virtual
# devices is no driver: ours register with it, and it is the very file in that directory.
set -eu
command -v readelf >/dev/null || { echo "skipped: no readelf"; exit 77; }
[ $# -gt 0 ] || { echo "no program given"; exit 1; }
seen=0
for program; do
	needed=$(readelf -d "$program" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
	case $needed in *librte_eal.so*) seen=$((seen + 1)) ;; esac
	drivers=$(echo "$needed" | grep -E '^librte_(net|mempool|bus|common|crypto|compress|dma|raw|event|vdpa|baseband|regex|gpu)_' |
		grep -v '^librte_bus_vdev' || true)
	[ -z "$drivers" ] || { echo "$program links $drivers"; exit 1; }
done
# Were DPDK linked statically, the check above would see nothing.
[ "$seen" -gt 0 ] || { echo "no program links librte_eal.so"; exit 1; }
echo "$# programs, none links a driver"
