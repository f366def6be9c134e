#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Two processes whose numbers give them the same packet group on two interfaces: the second says so.
. "$(dirname "$0")/lib.sh"

need_netns

ip link add ga type veth peer name gb || skip "skipped: no veth interfaces here"
ip link set ga mtu 4000 up
ip link set gb mtu 4000 up
cat >"$work/f.yaml" <<-Y
	fabric: group
	mode: rxl
	defaults: {mtu: 4000}
	nodes:
	  - {name: h0, kind: host, pid: 0x101}
	  - {name: g0, kind: gfd, pid: 0x200, memory: 1M}
	links:
	  - {a: h0, b: g0, driver: af_packet, a_port: {netif: ga}, b_port: {netif: gb}}
	workloads:
	  - {on: h0, kind: mem, requests: 1}
Y

# Run a command with a number whose group on gb is taken by a socket on ga.
cat >"$work/collide.py" <<-P
	import os, socket, sys
	PACKET_FANOUT, HASH, ROLLOVER, DEFRAG = 18, 0, 0x1000, 0x8000
	ready, go = os.pipe()
	child = os.fork()
	if child == 0:
	    os.read(ready, 1)
	    os.execv(sys.argv[1], sys.argv[1:])
	other = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
	other.bind(("ga", 3))
	group = (child ^ socket.if_nametoindex("gb")) & 0xFFFF | (HASH | ROLLOVER | DEFRAG) << 16
	other.setsockopt(263, PACKET_FANOUT, group.to_bytes(4, "little"))
	os.write(go, b"x")
	sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
P
refuses "port g0.0: the kernel's packet group of this process number on gb is in use on another interface" \
	/usr/bin/python3 "$work/collide.py" "$app/weftd" --topology "$work/f.yaml" --node g0 --seconds 1 --quiet
"$app/weftd" --topology "$work/f.yaml" --node g0 --seconds 0.1 --quiet
echo "a packet group that is taken is named"
