#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# cxl mode in live fabrics: retry on every link, switches that store and forward messages. With damage
# on every hop every read and write completes once; with back-pressure everywhere nothing stands
# still. A switch that is killed takes messages with it: the daemons say so, and the fabric goes on.
. "$(dirname "$0")/lib.sh"
export XDG_RUNTIME_DIR=$work

# fabric REQUESTS OUTSTANDING TIMEOUT_MS [DEFAULTS [WIRE]]: two hosts, two switches
# joined three times, two GFDs.
fabric() {
	local wire=${5:+, driver: memif, wire: {seed: SEED, $5\}}
	cat <<-Y
	fabric: cxl
	mode: cxl
	defaults: {mtu: 4000${4:+, $4}}
	$(six_nodes "$1" "$2" "$3")
	links:
	  - {a: h0, b: s0${wire/SEED/1}}
	  - {a: s1, b: h1${wire/SEED/2}}
	  - {a: s0, b: s1${wire/SEED/3}}
	  - {a: s0, b: s1${wire/SEED/6}}
	  - {a: s0, b: s1${wire/SEED/7}}
	  - {a: s0, b: g0${wire/SEED/4}}
	  - {a: g1, b: s1${wire/SEED/5}}
	Y
}

run() { # run NAME [options]: the whole fabric of $work/NAME.yaml in one process
	timeout -k 2 100 "$app/weftd" --topology "$work/$1.yaml" --until-done --quiet \
		--json "$work/$1.json" "${@:2}"
}

# Every message passes once, and GFDs do what was asked: exactly so much, and in the order sent.
calm() {
	local f=$work/$1.json
	run "$@" || die "$1 did not finish: $?"
	same "$1: all well" True "$(good "$f")"
	same "$1: sessions" 14 "$(sum "$f" session begun)"
	same "$1: messages without credit" 0 "$(sum "$f" end no_credit)"
	same "$1: messages sent, come" "$(sum "$f" end messages_sent)" "$(sum "$f" end messages)"
	same "$1: answers" True "$(json "$f" '
		sum(n["traffic"][k] for n in o["nodes"] if n["kind"] == "host" for k in ("reads", "writes")) ==
		sum(n["messages"][k] for n in o["nodes"] if n["kind"] == "gfd" for k in ("m2s_req", "m2s_rwd"))')"
	# h0 reads and writes g1 behind three equal links, h1 g0.
	same "$1: equal links that carry no part of it" "[]" "$(json "$f" '
		[(n["name"], m) for n in o["nodes"] for m in [[c["end"]["messages_sent"] for c in n["connections"]
			if {n["name"], c["peer"]} == {"s0", "s1"}]] if m and (len(m) != 3 or min(m) * 8 < max(m))]')"
	same "$1: nothing dropped but bad flits" "True" "$(json "$f" '
		set(k for n in o["nodes"] for k in n["drops"]) <= {"crc_bad", "duplicate"}')"
}

fabric 20000 64 20000 >"$work/clean.yaml"
# Hosts' links carry no ids: the switch's port decodes. Links between switches, and of GFDs, have them. Frames
# say which (bit 1 of byte 15), so that a reader needs no option.
reads_capture() { # reads_capture NAME NODE FILE: replayed, it has what the host asked
	"$app/weft-replay" --in "$3" --json "$work/c.json" >/dev/null
	same "$1: messages in a capture" "$(json "$work/$1.json" \
		"[[n['traffic'][k] for k in ('reads', 'writes')] for n in o['nodes'] if n['name'] == '$2'][0] * 2")" \
		"$(json "$work/c.json" '[o["messages"][k] for k in ("m2s_req", "m2s_rwd", "s2m_drs", "s2m_ndr")]')"
}
flags() { # flags FILE: byte 15 of its frames, each value once
	/usr/bin/python3 - "$1" <<-'P'
		import struct, sys
		raw, at, seen = open(sys.argv[1], "rb").read(), 0, set()
		while at < len(raw):
		    kind, length = struct.unpack_from("<II", raw, at)
		    if kind == 6:
		        seen.add(raw[at + 28 + 15])
		    at += length
		print(sorted(seen))
	P
}
forms() { json "$work/$1.json" "[[p['form'] for p in n['ports']] for n in o['nodes'] if n['name'] in ('h0', 's0', 'g0')]"; }
calm clean --capture "h0.0=$work/h0.pcapng" --capture "s0.4=$work/g0.pcapng"
same "nothing sent again" 0 "$(sum "$work/clean.json" retry bad)"
reads_capture clean h0 "$work/h0.pcapng"
same "frames of the host" "[0]" "$(flags "$work/h0.pcapng")"
same "frames of the GFD" "[2]" "$(flags "$work/g0.pcapng")"
same "forms" "[['hbr'], ['hbr', 'pbr', 'pbr', 'pbr', 'pbr'], ['pbr']]" "$(forms clean)"
"$app/weftd" --check "$work/clean.yaml" >"$work/check"
grep -q 'host   h0 .* port 0 to s0 (15 flits a frame, hbr), takes' "$work/check" || die "--check does not show the form: $(cat "$work/check")"
# Addresses that lead nowhere are answered by the switch's port: the requests end there, all of them.
fabric 20000 64 20000 | sed 's/^defaults:/segments: [{target: g0}]\n&/; s/name: h1, kind: host,/& access: [],/
	s/^nodes:/groups: [{name: all, ranges: [{gfd: g0}]}]\n&/' >"$work/closed.yaml"
run closed || die "closed: $?"
same "closed: all well" True "$(good "$work/closed.json")"
same "closed: h1 was refused by the port" True "$(json "$work/closed.json" '
	[p["edge"]["stopped"]["not-allowed"] for n in o["nodes"] for p in n["ports"] if p["edge"] and p["edge"]["peer"] == "h1"] ==
	[n["traffic"]["reads"] + n["traffic"]["writes"] for n in o["nodes"] if n["name"] == "h1"]')"
# The host's own port, as in rxl mode, and one of each.
fabric 20000 64 20000 'link_form: pbr' >"$work/pbr.yaml"
calm pbr --capture "h0.0=$work/pbr.pcapng"
reads_capture pbr h0 "$work/pbr.pcapng"
same "pbr: frames of the host" "[2]" "$(flags "$work/pbr.pcapng")"
same "pbr: forms" "[['pbr'], ['pbr', 'pbr', 'pbr', 'pbr', 'pbr'], ['pbr']]" "$(forms pbr)"
fabric 20000 64 20000 | sed 's/{a: s1, b: h1/&, link_form: pbr/' >"$work/mixed.yaml"
calm mixed
# Frames as large as they are told to be.
fabric 2000 64 20000 'flits_per_frame: 2' >"$work/small.yaml"
calm small --capture "s0.0=$work/small.pcapng"
same "bytes of the largest frame" $((32 + 2 * 256)) "$(/usr/bin/python3 - "$work/small.pcapng" <<-'P'
	import struct, sys
	raw, at, largest = open(sys.argv[1], "rb").read(), 0, 0
	while at < len(raw):
	    kind, length = struct.unpack_from("<II", raw, at)
	    if kind == 6:
	        largest = max(largest, struct.unpack_from("<I", raw, at + 20)[0])
	    at += length
	print(largest)
	P
)"
# Links that could carry CXL.io packets as well.
fabric 20000 64 20000 'cxl_io: 16' >"$work/io.yaml"
calm io
same "ends that gave credit for CXL.io" True "$(json "$work/io.json" '
	all(c["end"]["io_credit_flits"] >= 3 for n in o["nodes"] for c in n["connections"])')"
same "CXL.io flits without cxl_io" 0 "$(sum "$work/clean.json" end io_credit_flits)"
# Many more requests than a link has credits for, through windows of 8 flits.
fabric 50000 4096 20000 'retry: {window: 8, ack_every: 2}' >"$work/tight.yaml"
calm tight

fabric 1 1 1000 '' 'drop: 0' >"$work/try.yaml"
wires=1
run try 2>"$work/try.err" || {
	grep -q 'flitwire' "$work/try.err" || die "a wire was refused: $(cat "$work/try.err")"
	wires=0
}
if [ $wires -eq 1 ]; then
	fabric 100 8 300 '' 'drop: 1e-4' >"$work/drop.yaml"
	run drop 2>"$work/drop.err" || true
	grep -q 'port h0.0: a wire that loses, repeats or mixes frames' "$work/drop.err" ||
		die "a wire that loses frames is taken without a word"
	for retry in '' 'retry: {selective: false, window: 511, ack_every: 1}'; do
		fabric 20000 512 20000 "$retry" 'ber: 1e-4, uncorrectable: 1e-2' >"$work/bad.yaml"
		calm bad
		[ "$(sum "$work/bad.json" retry resent)" -gt 100 ] || die "hardly anything was sent again"
		# Each end that carries traffic has met damage.
		same "ends that saw damage" True "$(json "$work/bad.json" '
			sum(c["retry"]["bad"] > 0 for n in o["nodes"] for c in n["connections"]) >= 10')"
	done
fi

# One process a node from here. A GFD that is stopped for longer than a silence: links keep what they have, and hosts
# behind a switch, whose own links are up, say that nobody answers and that somebody does again.
fabric "$many" 64 60000 >"$work/live.yaml"
start_all
wait_for 60 has_traffic
same "telemetry of a switch's link" 1 \
	"$(ask "$pid_s0" /weft/retry,s0,g0 | json /dev/stdin 'o["/weft/retry"]["connections"]')"
kill -STOP "$pid_g0"
has_said() { ask "$1" /weft/event_counts | json /dev/stdin "1 / (o['/weft/event_counts'].get('$2', 0) >= 1)" >/dev/null; }
wait_for 20 has_said "$pid_h0" requests_wait
wait_for 20 has_said "$pid_h1" requests_wait
kill -CONT "$pid_g0"
wait_for 20 has_said "$pid_h0" requests_answered
wait_for 20 has_said "$pid_h1" requests_answered
# Now, as links may stall once more, on a machine that has no CPU for them.
"$app/weftctl" events --json | sed '1s/^/[/; $!s/$/,/; $s/$/]/' >"$work/events"
hosts_end || die "a GFD that was stopped cost requests: $(cat "$work"/h?.log)"
for h in h0 h1; do
	same "$h after a stop" True "$(good "$work/$h.json")"
	# Of g1 as well, perhaps: in a switch requests at it wait behind those at g0.
	same "what $h said of g0" True "$(json "$work/events" '[__import__("re").fullmatch(
		r"(\d+ requests? of CXL.mem at g0 waits?, and none was answered since .* though sessions here are up"
		r"|requests of CXL.mem at g0 are answered again, after \d+\.\d s)", e["text"]) is not None
		for e in o if e["node"] == "'$h'" and e["kind"].startswith("requests_") and " at g0 " in e["text"]] == [True, True]')"
done
end_others

# One of two GFDs does not answer, and the other does: hosts name the one, while requests go on.
fabric 100000 64 60000 | sed 's/outstanding: 64/rate: 10, &/' >"$work/live.yaml"
start_all
for h in h0 h1; do pid=pid_$h && wait_for 60 has_read $h "${!pid}" 5; done
kill -STOP "$pid_g0"
says() { ask "$1" /weft/events | grep -q "CXL.mem at $2 wait"; }
for h in h0 h1; do pid=pid_$h && wait_for 20 says "${!pid}" g0; done
reads=$(reads_done h0 "$pid_h0")
wait_for 5 has_read h0 "$pid_h0" "$reads"
! says "$pid_h0" g1 || die "h0 says that g1 does not answer, which does"
# Who heard of it hears of its end, also where his own link, h0's to s0, is silent for a moment meanwhile.
kill -STOP "$pid_s0"
wait_for 20 has_said "$pid_h0" session_stalled
kill -CONT "$pid_s0"
kill -CONT "$pid_g0"
for h in h0 h1; do pid=pid_$h && wait_for 20 has_said "${!pid}" requests_answered; done
kill -TERM "$pid_h0" "$pid_h1"
hosts_end || die "a GFD that was stopped cost requests of few: $(cat "$work"/h?.log)"
end_others

# A switch that is killed and started again: what it held is lost, each end of its links says so, and
# the fabric goes on. Nothing that is read is wrong.
fabric "$many" 64 1000 >"$work/live.yaml"
start_all
wait_for 60 has_traffic
kill -KILL "$pid_s1"
wait "$pid_s1" 2>/dev/null || true
sleep 0.3
start s1
if hosts_end; then die "a switch took messages with it and no host said so"; fi
grep -q 'link s0.1 to s1: a new session; messages on their way in the old one are lost' "$work/s0.log" ||
	die "a link's end is not reported: $(cat "$work/s0.log")"
for h in h0 h1; do
	same "$h: open requests at the end" "[0]" "$(json "$work/$h.json" '[n["outstanding"] for n in o["nodes"]]')"
	same "$h: wrong data" 0 "$(json "$work/$h.json" 'o["nodes"][0]["traffic"]["mismatches"]')"
	same "$h: requests that ended well" True "$(json "$work/$h.json" 'o["nodes"][0]["traffic"]["verified"] > 100000')"
done
end_others

[ $wires -eq 1 ] || skip "skipped in part: bad wires need net_flitwire, which was not built (doc/flitwire.md)"
echo "with damage on every link every request completes once"
