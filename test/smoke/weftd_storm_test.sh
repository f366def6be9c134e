#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Somebody on the segment between two daemons without keys: recorded frames sent again, NOPs with forged Acks
# and Naks, noise, each at full rate. When it ends the fabric is at its former rate again;
# what was dropped is counted, and what was open in a session that somebody else sent in is told as lost.
. "$(dirname "$0")/lib.sh"

[ "$(id -u)" -eq 0 ] || skip "skipped: needs root to make network interfaces and raw sockets"
command -v ip >/dev/null || skip "skipped: needs ip (package iproute2)"
export XDG_RUNTIME_DIR=$work
seconds=2

spaces=()
cleanup() {
	local s
	for s in "${spaces[@]:-}"; do
		[ -z "$s" ] || ip netns del "$s" || true
	done
}

# A bridge between the two ends: frames go to a group, so whoever is at it hears both.
for n in h g m; do
	ip netns add "weft-$$-$n" 2>/dev/null || skip "skipped: network namespaces cannot be made here"
	spaces+=("weft-$$-$n")
	ip netns exec "weft-$$-$n" sh -c \
		'echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6; echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6' 2>/dev/null || true
done
middle=weft-$$-m
ip -n "$middle" link add name sw0 type bridge mcast_snooping 0 2>/dev/null || skip "skipped: no bridges here"
ip -n "$middle" link set sw0 up
for n in h g; do
	ip link add "e$n" mtu 4000 netns "weft-$$-$n" type veth peer name "m$n" mtu 4000 netns "$middle" ||
		skip "skipped: no veth interfaces here"
	ip -n "weft-$$-$n" link set "e$n" up
	ip -n "$middle" link set "m$n" up master sw0
done
fabric() {
	cat <<-Y
	fabric: attacked
	mode: $1
	defaults: {mtu: 4000}
	nodes:
	  - {name: h0, kind: host, pid: 0x101}
	  - {name: g0, kind: gfd, pid: 0x200, memory: 4M}
	links:
	  - {a: h0, b: g0, driver: af_packet, a_port: {netif: eh}, b_port: {netif: eg}}
	workloads:
	  - {on: h0, kind: mem, requests: 0, outstanding: 16, timeout_ms: 20000, lines: 512}
	Y
}

# begin MODE
begin() {
	local n
	fabric "$1" >"$work/f.yaml"
	mode=$1
	for n in g h; do
		ip netns exec "weft-$$-$n" "$app/weftd" --topology "$work/f.yaml" --node ${n}0 --json "$work/${n}0.json" \
			>"$work/${n}0.log" 2>&1 &
		pids+=($!)
		eval "pid_$n=$!"
	done
	wait_for 20 has_read h0 "$pid_h" 1000
}

# end: daemons end; what they counted is in h0.json and g0.json.
end() {
	kill -TERM "$pid_h"
	wait "$pid_h" || true
	kill -TERM "$pid_g"
	wait "$pid_g" || true
	pids=()
}

# rate: reads in a second.
rate() {
	local before after
	before=$(reads_done h0 "$pid_h")
	sleep 1
	after=$(reads_done h0 "$pid_h")
	echo $((after - before))
}

# attack WHAT TO: TO is h or g. Other programs use the machine too, and what is left for this one changes by the
# second, so many are given. That one is enough is judged by test/unit/link, in its own time.
attack() {
	local from=h before after tries
	[ "$2" = g ] || from=g
	before=$(rate)
	/usr/bin/python3 "$here/attack.py" "$1" $seconds "/run/netns/$middle:m$from" "/run/netns/$middle:m$2" \
		>"$work/attack" 2>"$work/attack.err" || die "$1: $(cat "$work/attack.err")"
	sleep 1
	for tries in 1 2 3 4 5 6 7 8 9 10; do
		after=$(rate)
		[ $((after * 4)) -lt "$before" ] || break
	done
	[ $((after * 4)) -ge "$before" ] || die "$mode: $1 to $2: $before reads/s before, $after behind it"
	echo "$mode: $1 to $2: $(tail -n 1 "$work/attack") frames; $before reads/s before, $after behind it"
}

# both GROUP COUNTER: at both ends.
both() { echo $(($(sum "$work/h0.json" "$1" "$2") + $(sum "$work/g0.json" "$1" "$2"))); }

# In builds after the first one end is enough: it is the same code that is attacked.
begin rxl
for what in garbage naks; do
	attack $what g
	[ -n "${WEFT_TEST_AGAIN:-}" ] || attack $what h
done
end
same "requests lost to noise and forged Acks and Naks" 0 "$(json "$work/h0.json" 'o["nodes"][0]["traffic"]["lost"]')"
same "lines that are not what was written" 0 "$(json "$work/h0.json" 'o["nodes"][0]["traffic"]["mismatches"]')"
same "sessions" 2 "$(both session begun)"
[ "$(both retry bad)" -gt 1000 ] || die "the noise was not counted"
[ "$(both retry out_of_window)" -gt 1000 ] || die "forged Acks and Naks were not counted"
cat "$work"/?0.log | grep -q ' Acks, Naks and flit numbers in the name of .*, that cannot be' || die "forged Acks and Naks were not said"

# What is recorded is intact, so some of it is taken: a new session begins, of which nothing was recorded.
begin rxl
attack replay g
[ -n "${WEFT_TEST_AGAIN:-}" ] || attack replay h
end
[ "$(both retry conflicts)" -gt 0 ] || die "no flit was found to come with two contents"
[ "$(both end doubted)" -gt 0 ] || die "no session ended for it"
[ "$(both end doubted)" -le 20 ] || die "too many sessions ended"
grep -hq 'that it did not send' "$work/h0.log" "$work/g0.log" || die "nobody was told"
cat "$work"/?0.log | grep -q ' frames in the name of .*, that were sent before or are of no session' || die "frames of an old session were not said"
# Told where the session stands for a while; which end that is, the attack decides.
replayed=$(for n in g h; do json "$work/${n}0.json" 'o["event_counts"].get("replayed", 0)'; done | sort -n | tail -n 1)
[ "$replayed" -ge 250 ] || die "only $replayed frames were said to be played back, at the end that said most"
json "$work/g0.json" 'o["nodes"][0]["drops"].get("session", 0)' | grep -q '[0-9]' || die "no drops"

# cxl mode. What is lost there is judged by test/unit/link: a socket that overflows loses true frames too.
begin cxl
attack garbage g
[ -n "${WEFT_TEST_AGAIN:-}" ] || attack garbage h
end
[ "$(both retry bad)" -gt 1000 ] || die "the noise was not counted"
begin cxl
attack naks g
attack replay g
end
[ "$(both retry out_of_window)" -gt 1000 ] || die "forged Acks and Naks were not counted"
[ "$(both end doubted)" -gt 0 ] || die "no session ended for recorded frames"
[ "$(both end doubted)" -le 20 ] || die "too many sessions ended"
echo "the former rate is back behind every attack"
