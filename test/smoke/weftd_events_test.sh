#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What an operator hears: nothing while all goes well, and one line each for what does not. A switch is
# killed on the way of a session though there is a way around, and stands still later; a path loses long frames; an interface loses
# its carrier and its MTU.
. "$(dirname "$0")/lib.sh"
enter_netns || true

# run NAME NODES [options]: its number is in pid_NAME.
run() {
	local name=$1 nodes=$2
	shift 2
	"$app/weftd" --topology "$topology" --node "$nodes" "$@" >>"$work/$name.log" 2>&1 &
	pids+=($!)
	eval "pid_$name=$!"
}
# hears NAME TEXT: a line of an event with it, in time.
says() { grep -q "^weftd: node $2" "$work/$1.log"; }
# A line that is held back comes within 10 s of one that may itself have been.
hears() { wait_for 40 says "$1" "$2"; }
# silent NAME: no event so far.
silent() { ! grep '^weftd: node' "$work/$1.log" || die "$1 has something to say of what goes well"; }
far_side() { nsenter -t "${ns[g]}" -n "$@"; }
alone_runs() { has_read h0 "$pid_alone" 20; }
host_runs() { has_read h0 "$pid_near" "$1"; }

if [ -n "${WEFT_INSIDE:-}" ]; then
	ip link add eh mtu 4000 type veth peer name mh mtu 4000 || skip "skipped: no veth interfaces here"
	ip link add eg mtu 4000 type veth peer name mg mtu 4000
	# As on two machines: in one namespace the two might be given the same packet group.
	make_netns g
	ip link set eg netns "${ns[g]}"
	for i in eh mh mg; do
		ip link set $i up
	done
	far_side ip link set eg up
	cat >"$work/alone.yaml" <<-'Y'
	fabric: alone
	defaults: {mtu: 4000}
	nodes:
	  - {name: h0, kind: host, pid: 0x101}
	  - {name: g0, kind: gfd, pid: 0x200, memory: 1M}
	links:
	  - {a: h0, b: g0, driver: af_packet, a_port: {netif: eh}, b_port: {netif: eg}}
	workloads:
	  - {on: h0, kind: mem, requests: 0, rate: 200, lines: 64, timeout_ms: 60000}
	Y
	/usr/bin/python3 "$here/short_path.py" mh mg "$work/short" >"$work/path" 2>"$work/path.err" &
	pids+=($!)
	wait_for 20 grep -q ready "$work/path"
	topology=$work/alone.yaml
	run alone h0 --verbose --json "$work/alone.json"
fi

cat >"$work/ways.yaml" <<-'Y'
fabric: ways
routing: updown
defaults: {mtu: 4000}
nodes:
  - {name: h0, kind: host, pid: 0x101}
  - {name: s0, kind: switch, pid: 1}
  - {name: s1, kind: switch, pid: 2}
  - {name: s2, kind: switch, pid: 3}
  - {name: s3, kind: switch, pid: 4}
  - {name: g0, kind: gfd, pid: 0x200, memory: 1M}
links:
  - {a: h0, b: s0}
  - {a: s0, b: s1}
  - {a: s0, b: s2}
  - {a: s1, b: s3}
  - {a: s2, b: s3}
  - {a: s3, b: g0}
workloads:
  - {on: h0, kind: mem, requests: 0, rate: 200, lines: 256, outstanding: 8, timeout_ms: 60000}
Y
topology=$work/ways.yaml
run near h0,s0 --json "$work/near.json"
run s1 s1
run s2 s2
run far s3,g0 --verbose
wait_for 20 host_runs 200
hears far 'g0: session with h0 is up$'
for name in near s1 s2; do
	silent $name
done

kill -KILL "$pid_s1"
wait "$pid_s1" 2>/dev/null || true
hears near 's0: port 1 (s1): the link is down since [0-9:]*, [0-9.]* s ago: see to the cable'
hears near 's0: port 1 (s1): g0 is routed by it alone, though there is a way around: routes stay as they are'
hears near 'h0: session with g0 is stalled: one way or both are silent since [0-9:]*, [0-9.]* s ago: '
same "the state of the session" True "$(ask "$pid_near" /weft/sessions,h0 | json /dev/stdin \
	'o["/weft/sessions"]["g0"] in ("stalled", "down")')" # a slow machine may be here only after 10 s
same "counts by telemetry" True "$(ask "$pid_near" /weft/event_counts | json /dev/stdin \
	'all(o["/weft/event_counts"][k] > 0 for k in ("link_down", "no_way_around", "session_stalled"))')"
ask "$pid_near" /weft/events | grep -q 'warning link_down: node s0: port 1 (s1)' || die "/weft/events: $(ask "$pid_near" /weft/events)"

before=$(reads_done h0 "$pid_near")
run s1 s1 --quiet
hears near 's0: port 1 (s1): the link is up after [0-9.]* s$'
hears near 'h0: session with g0 \(goes on\|is up again\) after'
wait_for 20 host_runs $((before + 100))
# A switch that stands still: the link is up, and what is sent there gets no answer.
kill -STOP "$pid_s1"
hears near 's0: port 1 (s1): frames go there and none comes back since [0-9:]*, [0-9.]* s ago: see to the cable, or to who'
kill -CONT "$pid_s1"
hears near 's0: port 1 (s1): frames come again after [0-9.]* s'
before=$(reads_done h0 "$pid_near")
wait_for 20 host_runs $((before + 100))
kill -TERM "$pid_near" "$pid_s1" "$pid_s2" "$pid_far"
wait "$pid_near" || says near 'h0: session with g0 is up again' || die "requests were lost: $(cat "$work/near.log")"
wait "$pid_s1" "$pid_s2" "$pid_far" || true
silent s1
same "the last event of the session, in the JSON" True "$(json "$work/near.json" \
	'[c["last_event"].startswith("session with g0") and c["since"] > 1e9 for n in o["nodes"] for c in n.get("connections", [])][0]')"
same "events in the JSON" True "$(json "$work/near.json" \
	'{"link_down", "link_silent", "link_up", "no_way_around", "session_stalled"} <= {e["kind"] for e in o["events"]} & set(o["event_counts"])')"
[ -n "${WEFT_INSIDE:-}" ] || { echo "a dead switch is said, and what it means (without root no interfaces)"; exit 0; }

hears alone 'h0: no session with g0 since [0-9:]*, [0-9.]* s ago: there never was one: see whether the other node runs'
topology=$work/alone.yaml
nsenter -t "${ns[g]}" -n "$app/weftd" --topology "$work/alone.yaml" --node g0 >"$work/other.log" 2>&1 &
pids+=($!)
pid_other=$!
hears alone 'h0: session with g0 is up again\|h0: session with g0 is up$'
wait_for 20 alone_runs
# Something between them has a small MTU: frames with flits are longer than that, keepalives are not.
touch "$work/short"
hears alone 'h0: session with g0: no flit is acknowledged since [0-9:]*, [0-9.]* s ago, though it is heard: see to the MTU'
rm "$work/short"
before=$(reads_done h0 "$pid_alone")
wait_for 20 has_read h0 "$pid_alone" $((before + 20))
kill -TERM "$pid_alone"
wait "$pid_alone" || die "the host lost something: $(cat "$work/alone.log")"
kill -TERM "$pid_other"
wait "$pid_other" || true

# Only its interface is of interest now: with frames under way a driver could stumble over the MTU.
rm "$work/alone.log"
run alone h0 --json "$work/alone.json"
wait_for 20 grep -q 'fabric alone run' "$work/alone.log"
ip link set eh mtu 1000
hears alone 'h0: port 0 (g0): interface eh has MTU 1000 now, it had 4000: frames up to 3858 bytes do not pass any more'
ip link set eh mtu 4000
hears alone 'h0: port 0 (g0): interface eh has MTU 4000 again$'
ip link set mh down
hears alone 'h0: port 0 (g0): the link is down since'
ip link set mh up
hears alone 'h0: port 0 (g0): the link is up after'
ip link del eh
hears alone 'h0: port h0.0: interface eh is gone: it is taken again when it is back$'
ip link add eh mtu 4000 type veth peer name mh mtu 4000
ip link set eh up
ip link set mh up
hears alone 'h0: port h0.0: interface eh is back, over af_packet$'
kill -TERM "$pid_alone"
wait "$pid_alone" || true
same "link and MTU in the JSON" "up 4000" "$(json "$work/alone.json" \
	'"%(link)s %(mtu)d" % o["nodes"][0]["ports"][0]["state"]')"
same "events of the interface in the JSON" "warning info" "$(json "$work/alone.json" \
	'" ".join(e["level"] for e in o["events"] if e["kind"] in ("interface_gone", "interface_back") and "eh is" in e["text"])')"
echo "a dead switch, a link that goes and comes and an MTU that shrinks are said, and nothing else"
