#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Show Weft at work: install what is missing, build, replay a trace of flits through the whole
# pipeline, measure the stages, run a fabric of two hosts, two switches and two GFDs. Every command
# is printed as it can be pasted. Leaves nothing behind but the build. Safe to repeat.
set -u
self=$(readlink -f "$0")
cd "$(dirname "$self")/.." || exit 1
. usertools/packages.sh
. usertools/build.sh

usage() {
	cat <<-U
	usage: usertools/demo.sh [--netns|--processes|--rings] [--driver af_packet|af_xdp] [--fabric-only]

	  --netns         one daemon a network namespace, over veth (root, or a user namespace);
	                  what is run if it can be; --rings is where it cannot
	  --driver D      with --netns: af_packet with MTU 9000, or af_xdp with MTU 3498 (root)
	  --processes     one daemon a node, over memif; no root
	  --rings         all nodes in one process, on one lcore; no root
	  --fabric-only   no trace and no benchmark before the fabric
	U
}

how="" driver=af_packet only=0
while [ $# -gt 0 ]; do
	case $1 in
	--netns | --processes | --rings) how=${1#--} ;;
	--driver)
		driver=${2:-}
		[ $# -lt 2 ] || shift
		case $driver in
		af_packet | af_xdp) ;;
		*)
			echo "demo.sh: --driver: expected af_packet or af_xdp, got \"$driver\"" >&2
			exit 2
			;;
		esac
		;;
	--fabric-only) only=1 ;;
	-h | --help)
		usage
		exit 0
		;;
	*)
		echo "demo.sh: unknown option \"$1\"; --help shows what there is" >&2
		exit 2
		;;
	esac
	shift
done

build=${WEFT_BUILD:-build-release}
work=$(mktemp -d)
nodes="g0 g1 s0 s1 h0 h1" # hosts last: they end the run
pids=() spaces=()

finish() {
	trap - EXIT INT TERM
	for pid in "${pids[@]:-}"; do
		[ -n "$pid" ] && kill -KILL "$pid" 2>/dev/null && wait "$pid" 2>/dev/null
	done
	for space in "${spaces[@]:-}"; do
		[ -n "$space" ] && ip netns del "$space" 2>/dev/null
	done
	rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT TERM

bold='' plain=''
[ ! -t 1 ] || bold=$'\033[1m' plain=$'\033[0m'
title() { printf '\n%s%s%s\n' "$bold" "$*" "$plain"; }

# Print a command, then run it.
show() {
	echo "\$ $*"
	"$@"
}

fail() {
	echo "demo.sh: $*" >&2
	exit 1
}

# topology LINK-OPTIONS...: the fabric, one argument of options a link.
topology() {
	cat <<-Y
	fabric: demo
	mode: rxl
	defaults: {mtu: $mtu}
	nodes:
	  - {name: h0, kind: host, pid: 0x101}
	  - {name: h1, kind: host, pid: 0x102}
	  - {name: s0, kind: switch, pid: 0x010}
	  - {name: s1, kind: switch, pid: 0x011}
	  - {name: g0, kind: gfd, pid: 0x200, memory: 16M}
	  - {name: g1, kind: gfd, pid: 0x201, memory: 16M}
	links:
	  - {a: h0, b: s0$1}
	  - {a: h1, b: s1$2}
	  - {a: s0, b: s1$3}
	  - {a: s0, b: g0$4}
	  - {a: s1, b: g1$5}
	workloads:
	  - {on: h0, kind: mem, requests: 100000, outstanding: 64, write_percent: 50, lines: 4096, timeout_ms: 20000, seed: 1}
	  - {on: h1, kind: mem, requests: 100000, outstanding: 64, write_percent: 50, lines: 2048, timeout_ms: 20000, seed: 2}
	Y
}

links=("h0 s0" "h1 s1" "s0 s1" "s0 g0" "s1 g1")

# What make_netns and the daemons do there, on a small scale: two namespaces, a veth pair, a command in
# each, a packet socket. As root, or as root of a user namespace.
probe_netns() {
	local a=weft-$$-try0 b=weft-$$-try1 rc=1
	ip netns add "$a" && ip netns add "$b" &&
		ip link add "w$$t0" netns "$a" type veth peer name "w$$t1" netns "$b" &&
		ip -n "$b" link set "w$$t1" up && ip netns exec "$a" true &&
		ip netns exec "$b" python3 -c "import socket as s
s.socket(s.AF_PACKET, s.SOCK_RAW, s.htons(3)).bind(('w$$t1', 0))" && rc=0
	ip netns del "$a"
	ip netns del "$b"
	return $rc
}

# can_netns: whether that works; why not is in $netns_error.
can_netns() {
	netns_error=$(
		command -v ip 2>&1 >/dev/null || { echo "there is no program ip" && exit 1; }
		if [ "$(id -u)" -eq 0 ]; then
			probe_netns 2>&1
		else
			unshare -Urnm bash -c "$(declare -f probe_netns)
				mount -t tmpfs none /run && probe_netns" 2>&1
		fi
	) && return 0
	netns_error=${netns_error%%$'\n'*}
	return 1
}

# Namespaces, one a node, and a veth pair a link between them.
make_netns() {
	local node i a b
	for node in $nodes; do
		ip netns add "weft-$$-$node" || return 1
		spaces+=("weft-$$-$node")
		# No neighbour discovery of the kernel's on our links.
		ip netns exec "weft-$$-$node" sh -c \
			'echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6; echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6' 2>/dev/null
	done
	for i in "${!links[@]}"; do
		read -r a b <<<"${links[$i]}"
		ip link add "w$$a$i" mtu "$mtu" netns "weft-$$-$a" type veth peer name "w$$b$i" \
			mtu "$mtu" netns "weft-$$-$b" || return 1
		ip -n "weft-$$-$a" link set "w$$a$i" up && ip -n "weft-$$-$b" link set "w$$b$i" up || return 1
	done
}

# run_daemons [netns]: every node as a process of its own, in its namespace or all in this one. What
# runs in the background is the program itself, so that its number is the one to signal.
run_daemons() {
	local node host_pids=() status=0 prefix options
	for node in $nodes; do
		prefix=() options=()
		[ "${1:-}" = netns ] && prefix=(ip netns exec "weft-$$-$node")
		[[ $node = h* ]] && options=(--until-done)
		"${prefix[@]}" "$build/app/weftd" --topology "$work/fabric.yaml" --node "$node" \
			"${options[@]}" >"$work/$node.log" 2>&1 &
		pids+=($!)
		[[ $node = h* ]] && host_pids+=($!)
	done
	for pid in "${host_pids[@]}"; do
		wait "$pid" || status=1
	done
	for pid in "${pids[@]}"; do
		kill -TERM "$pid" 2>/dev/null
	done
	for pid in "${pids[@]}"; do
		wait "$pid" 2>/dev/null
	done
	pids=()
	grep -h '^port ' "$work"/*.log
	grep -hE '^lcore [0-9]+ on CPU ' "$work"/*.log | sort | uniq -c | sed 's/^ *\([0-9]*\) /\1 x /'
	echo
	for node in $nodes; do
		sed -n '/^fabric /,$p' "$work/$node.log" | sed 1,1d
		grep -h '^weftd: ' "$work/$node.log" | grep -vE ' runs?$'
	done
	return $status
}

fabric_netns() {
	mtu=9000
	[ "$driver" = af_xdp ] && mtu=3498
	make_netns || fail "network namespaces cannot be made here; try --processes or --rings"
	local options=() i a b
	for i in "${!links[@]}"; do
		read -r a b <<<"${links[$i]}"
		options+=(", a_port: {netif: w$$a$i, driver: $driver}, b_port: {netif: w$$b$i, driver: $driver}")
	done
	topology "${options[@]}" >"$work/fabric.yaml"
	echo "one network namespace a node, links over veth with MTU $mtu:"
	echo "\$ ip netns exec NODE weftd --topology fabric.yaml --node NODE [--until-done]"
	run_daemons netns
}

fabric_processes() {
	mtu=4000 # on memif 4 KB frames beat larger ones
	topology ", driver: memif" ", driver: memif" ", driver: memif" ", driver: memif" \
		", driver: memif" >"$work/fabric.yaml"
	echo "one process a node, links over memif:"
	echo "\$ weftd --topology fabric.yaml --node NODE [--until-done]"
	run_daemons
}

# In a user namespace of our own: the script begins again there, for this part only.
fabric_netns_as_user() {
	WEFT_BUILD=$(readlink -f "$build") "$self" --fabric-only --netns
}

fabric_rings() {
	echo "all nodes in one process, links are rings:"
	show "$build/app/weftd" --until-done --capture "s0.0=$work/s0.pcapng" || return 1
	echo
	echo "what port s0.0 saw, replayed:"
	show "$build/app/weft-replay" --in "$work/s0.pcapng"
}

# Inside a user namespace of our own the script is root, over interfaces that it makes.
if [ "$how" = netns ] && [ "$(id -u)" -ne 0 ] && [ -z "${WEFT_DEMO_INSIDE:-}" ]; then
	[ "$driver" = af_packet ] || fail "--driver af_xdp needs root"
	can_netns || fail "--netns needs root or user namespaces ($netns_error); try --processes or --rings"
	rm -rf "$work"
	trap - EXIT
	args=(--netns)
	[ "$only" -eq 1 ] && args+=(--fabric-only)
	WEFT_DEMO_INSIDE=1 exec unshare -Urnm sh -c 'mount -t tmpfs none /run && exec "$@"' sh \
		"$self" "${args[@]}"
fi

export XDG_RUNTIME_DIR=$work
if [ -z "${WEFT_BUILD:-}" ]; then
	title "Packages and build (minutes the first time, seconds later)"
	# shellcheck disable=SC2086
	weft_install $WEFT_BUILD_PACKAGES || fail "packages could not be installed"
	headers=$(weft_driver_headers $build build-driver-headers) ||
		echo "(built without the driver net_flitwire)"
	weft_build $build gcc "${WEFT_RELEASE_OPTIONS[@]}" -Ddpdk_driver_headers="$headers" programs ||
		fail "$build/ could not be built"
	echo "built: $build/app/{weftd,weft-replay,weft-gen,weft-bench,weft-sim,weft-sig,weftctl,weft-fm,weft-load,weft-fuse}"
fi

if [ "$only" -eq 0 ]; then
	title "1. A trace of flits, with errors, through the receive pipeline"
	show "$build/app/weft-gen" --flits 100000 --frame-flits 35 \
		--errors ber=1e-6,burst=3:0.001,drop=0.0005,dup=0.0005 --out "$work/trace.pcap" ||
		fail "the trace could not be made"
	show "$build/app/weft-replay" --in "$work/trace.pcap" || fail "the replay failed"

	title "2. Mflit/s and cycles per flit, by stage"
	show "$build/app/weft-bench" --seconds 0.1 || fail "the benchmark failed"
fi

title "3. Two hosts, two switches, two GFDs: every byte read is checked"
if [ -z "$how" ]; then
	how=rings
	if can_netns; then
		how=netns
		[ "$(id -u)" -eq 0 ] || how=netns_as_user
	else
		echo "(no network namespaces here: ${netns_error:-they do not work})"
		echo "(so rings in one process; --processes is the other way)"
	fi
fi
"fabric_$how" || fail "the fabric lost requests, or did not come up"

if [ "$only" -eq 0 ]; then
	title "By hand"
	cat <<-U
	$build/app/weft-gen --flits 100000 --errors burst=3:0.001,drop=0.0005 --out trace.pcap
	$build/app/weft-replay --in trace.pcap --json -
	$build/app/weft-bench --stage rx-pipeline,switch-rxl
	$build/app/weftd --until-done               # the built-in fabric
	$build/app/weftd --until-done --capture s0.0=s0.pcapng && $build/app/weft-replay --in s0.pcapng
	usertools/demo.sh --processes                      # one daemon a node, over memif
	usertools/test.sh                                  # every test
	U
fi
