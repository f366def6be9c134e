#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# weftd --http: metrics that promtool finds nothing wrong with and Prometheus scrapes, the state, events as they come, a
# page that a browser shows; and nobody else's eyes.
. "$(dirname "$0")/lib.sh"
export XDG_RUNTIME_DIR=$work
unset WEFT_SOCKET
cd "$work"
port=$((20000 + $$ % 20000))
get() { curl -s -m 20 "http://127.0.0.1:$port$1" "${@:2}"; }

misused '--http: expected PORT, ADDRESS:PORT' "$app/weftd" --http nonesuch
misused '--http: expected PORT' "$app/weftd" --http 0
misused '--http: expected PORT' "$app/weftd" --http 127.0.0.1:65536
misused '--http: expected PORT' "$app/weftd" --http localhost:9464
warns '--http: no effect with --check' "$app/weftd" --check --http 9464

cpu=$(taskset -pc $$ | sed 's/.*: \([0-9]*\).*/\1/')
cat >lab.yaml <<-Y
	fabric: seen
	nodes:
	  - {name: h0, kind: host, pid: 0x101, lcores: "$cpu"}
	  - {name: s0, kind: switch, pid: 0x010, lcores: "$cpu"}
	  - {name: g0, kind: gfd, pid: 0x200, memory: 4M, lcores: "$cpu"}
	  - {name: g1, kind: gfd, pid: 0x201, memory: 4M}
	links:
	  - {a: h0, b: s0, driver: ring}
	  - {a: s0, b: g0, driver: ring}
	  - {a: s0, b: g1, driver: memif}
	workloads:
	  - {on: h0, kind: mem, requests: 0, rate: 200, outstanding: 16, timeout_ms: 60000}
Y
"$app/weftd" --topology lab.yaml --node g1 --idle yield >g1.log 2>g1.err &
g1=$!
pids+=($g1)
"$app/weftd" --topology lab.yaml --node h0,s0,g0 --idle yield --http $port >lab.log 2>lab.err &
lab=$!
pids+=($lab)
wait_for 60 get /metrics
refuses 'Address already in use' "$app/weftd" --http $port
both_up() { [ "$(get /metrics | grep -c '^weft_connection_up{node="h0",peer="g[01]"} 1$')" = 2 ]; }
wait_for 60 both_up

# Who answers has no CPU of an lcore: each look would stop the lcore for a while.
if [ "$(nproc)" -ge 2 ]; then
	for name in weft-control weft-attach; do
		thread=$(grep -lx $name /proc/$lab/task/*/comm) || die "no thread $name"
		taskset -pc "$(basename "${thread%/comm}")" >on || die "where $name runs"
		! grep -qE "[ ,]$cpu\b" on || die "an lcore runs on CPU $cpu, and $(cat on)"
	done
fi
curl -s -N "http://127.0.0.1:$port/api/v1/events" >followed & # as long as it takes
pids+=($!)

# Both forms: that of Prometheus, and OpenMetrics where it is asked for.
get /metrics -D head >plain
grep -qi '^content-type: text/plain; version=0.0.4' head || die "type: $(cat head)"
get /metrics -D head -H 'Accept: application/openmetrics-text;version=1.0.0' >open
grep -qi '^content-type: application/openmetrics-text; version=1.0.0' head || die "type: $(cat head)"
same 'the end of OpenMetrics' '# EOF' "$(tail -n 1 open)"
/usr/bin/python3 - <<-'P' || die 'metrics'
	import re
	def families(name, is_open):
	    seen, family, kind, samples = {}, None, None, 0
	    for line in open(name).read().splitlines():
	        m = re.match(r"# TYPE (\S+) (\S+)$", line)
	        if m:
	            family, kind = m.groups()
	            assert family not in seen, family
	            seen[family] = []
	        elif not line.startswith("#"):
	            m = re.match(r'([a-z][a-z0-9_]*)(\{([a-z_]+="[^"]*",?)*\})? (\S+)$', line)
	            assert m, line
	            base = family if not is_open or kind != "counter" else family + "_total"
	            assert m[1] == base or kind == "histogram" and m[1] in [base + s for s in ("_bucket", "_sum", "_count")], line
	            float(m[4])
	            seen[family].append((m[2], float(m[4])))
	    return seen
	plain, opened = families("plain", False), families("open", True)
	assert len(plain) == len(opened) > 120, (len(plain), len(opened))
	for name, kind in (("weft_retry_sent", "peer"), ("weft_port_rx_frames", "port"), ("weft_stage_flits", "stage"), ("weft_dropped", "reason")):
	    assert all(kind in labels for labels, _ in opened[name]) and opened[name], name
	assert sum(v for _, v in opened["weft_stage_flits"]) > 0
	rows = [(labels, v) for labels, v in opened["weft_request_duration_seconds"] if "le=" in labels]
	counts = [v for _, v in rows]
	assert counts == sorted(counts) and counts[-1] > 0 and 'le="+Inf"' in rows[-1][0], rows
P
if command -v promtool >/dev/null; then
	promtool check metrics <plain >out 2>&1 || die "promtool: $(head -n 5 out)"
	same 'what promtool says' '' "$(cat out)"
else
	echo 'promtool is not there (package prometheus): its checks were left out'
fi

if command -v promtool >/dev/null; then
	promtool check rules "$here/../../usertools/weft-alerts.yml" >out 2>&1 || die "alerts: $(cat out)"
fi
# The dashboard asks for metrics that are there.
/usr/bin/python3 - "$here/../../usertools" <<-'P' || die 'dashboard and alerts'
	import json, re, sys
	there = set(re.findall(r"^(weft_\w+)[ {]", open("plain").read(), re.M))
	asked = set(re.findall(r"\bweft_\w+", open(sys.argv[1] + "/weft-alerts.yml").read()))
	for p in json.load(open(sys.argv[1] + "/grafana-weft.json"))["panels"]:
	    for t in p["targets"]:
	        asked |= set(re.findall(r"\bweft_\w+", t["expr"]))
	assert len(asked) > 10 and asked <= there, asked - there
P

# Every counter of the report is a metric, with a value that is no older.
get /api/v1/state >state
get /metrics >plain
/usr/bin/python3 - <<-'P' || die 'a counter is no metric'
	import json, re
	state = json.load(open("state"))
	metric = {}
	for line in open("plain"):
	    m = re.match(r'weft_(\w+)_total\{node="([^"]*)"(?:,(?:peer|port)="([^"]*)")?\} (\d+)$', line)
	    if m:
	        metric[m[1], m[2], m[3]] = int(m[4])
	n = 0
	for node in state["nodes"]:
	    for part, list_name, key in (("retry", "connections", "peer"), ("session", "connections", "peer")):
	        for c in node.get(list_name, []):
	            for name, value in c[part].items():
	                assert metric[f"{part}_{name}", node["name"], c[key]] >= value, (part, name)
	                n += 1
	    for p in node["ports"]:
	        for name in ("rx_frames", "tx_frames", "tx_full_frames", "rx_errors"):
	            assert metric[f"port_{name}", node["name"], p["port"]] >= p[name]
	            n += 1
	assert n > 100 and state["fabric"] == "seen" and len(state["topology"]["links"]) == 3
P

# Where an address goes: what --resolve says of the file, and one clear line for what is no question.
"$app/weftd" --resolve lab.yaml --from h0 --hpa 0x10000000040 --json resolved >/dev/null
get '/api/v1/resolve?from=h0&hpa=0x10000000040' >asked
/usr/bin/python3 -c 'import json; a, b = json.load(open("asked")), json.load(open("resolved")); assert a.pop("text") and a == b and b["allowed"], (a, b)' ||
	die "resolve: $(cat asked)"
get '/api/v1/resolve?from=h0&hpa=0&kind=uio' | json /dev/stdin '1 / (o["kind"] == "uio" and not o["allowed"])' >/dev/null || die 'by UIO'
for bad in 'hpa=0' 'from=h0' 'from=g0&hpa=0' 'from=%22%3Cb%3E&hpa=0' 'from=h0&hpa=0x10000000000000' 'from=h0&hpa=-1' 'from=h0&hpa=0&kind=io' '' \
	'from=h0%00&hpa=0' 'from=h0&hpa=0%00x' 'from=h0&hpa=0&kind=mem%00' 'from=h0&from=h0&hpa=0' 'from=h0&hpa=0&hpa=1' 'from=h0&hpa=0&knid=uio' \
	'from=h0&hpa%00=0' 'from=h0&hpa=0&%00' 'from=h0&hpa=0&kind' 'from=h0&hpa' 'from=h0&hpa=0&<b>'; do
	same "status of ?$bad" 400 "$(get "/api/v1/resolve?$bad" -o refused -w '%{http_code}')"
	json refused '1 / (list(o) == ["error"] and "expected" in o["error"] and "<" not in o["error"])' >/dev/null || die "?$bad: $(cat refused)"
done

got() { # QUESTION TEXT: what its error says that it got
	get "/api/v1/resolve?$1" -o refused
	json refused 'o["error"]' | grep -qF -- "$2" || die "?$1 does not say $2: $(cat refused)"
}
got 'hpa=0' 'from: expected the name of a host or device of fabric'
got 'hpa=0' ', got nothing'
got 'from=g0&hpa=0' 'got "g0"'
got 'from=h0&hpa=-1' 'got "-1"'
got 'from=h0&hpa=0&kind=io%1b%ff' 'got "io\x1b\xff"'
got 'from=h0&from=h0&hpa=0' 'got from twice'
got 'from=h0&hpa=0&kni%3cd=uio' 'got "kni?d"'

# One that is too long to be read is refused by the library, in its own words; until then it is a question as others are.
same 'a long question' 400 "$(get "/api/v1/resolve?from=h0&hpa=$(printf '%020000d' 0)x" -o refused -w '%{http_code}')"
json refused '1 / ("expected" in o["error"])' >/dev/null || die 'a long question'
same 'one that is too long' 414 "$(get "/api/v1/resolve?from=h0&hpa=$(printf '%040000d' 0)x" -o refused -w '%{http_code}')"

# Nobody else: not another user, not a page of somebody else's by a name that leads here, and nothing is changed.
same 'another name' 403 "$(get / -o out -w '%{http_code}' -H 'Host: elsewhere.example')"
same 'a change' 405 "$(get /metrics -o out -w '%{http_code}' -X POST -d x)"
same 'what is not there' 404 "$(get /nonesuch -o out -w '%{http_code}')"
for what in '/nonesuch' '/metrics -X POST -d x' '/ -H Host:elsewhere.example'; do
	# shellcheck disable=SC2086
	same "kind of the answer to $what" 'text/plain; charset=utf-8' "$(get $what -o out -w '%{content_type}')"
done
get /metrics -o out -D head -X POST -d x
grep -qi '^allow: GET, HEAD' head || die "what may be asked: $(cat head)"
get / -D head >page.html
grep -qi "^content-security-policy: default-src 'none'" head || die "headers: $(cat head)"
! grep -qE 'https?://' <(sed 's,http://www.w3.org/2000/svg,,' page.html) || die 'the page names another host'
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
	same 'another user' 403 "$(setpriv --reuid 65534 --clear-groups curl -s -m 20 -o /dev/null -w '%{http_code}' "http://127.0.0.1:$port/metrics")"
fi

# Connections that say nothing, or half of a request, hold up nobody.
/usr/bin/python3 - $port <<-'P' || die 'silent connections'
	import socket, sys, urllib.request
	held = []
	for i in range(40):
	    s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
	    s.sendall((b"", b"GET", b"GET /metrics HTTP/1.1\r\nHost: lo", b"\0\xff" * 500)[i % 4])
	    held.append(s)
	assert b"weft_good" in urllib.request.urlopen(f"http://127.0.0.1:{sys.argv[1]}/metrics", timeout=30).read()
P

# Prometheus itself scrapes it.
if command -v prometheus >/dev/null; then
	cat >prometheus.yml <<-Y
		global: {scrape_interval: 500ms, scrape_timeout: 500ms}
		scrape_configs: [{job_name: weft, static_configs: [{targets: ["127.0.0.1:$port"]}]}]
	Y
	prometheus --config.file=prometheus.yml --storage.tsdb.path=tsdb --web.listen-address=127.0.0.1:$((port + 1)) >prom.log 2>&1 &
	pids+=($!)
	scraped() { curl -sg -m 10 "http://127.0.0.1:$((port + 1))/api/v1/query?query=rate(weft_retry_sent_total[10s])" | json /dev/stdin '1 / any(float(r["value"][1]) > 0 for r in o["data"]["result"])' >/dev/null; }
	wait_for 60 scraped
fi

# In a browser, by keys alone and for who hears it: all is well, a link is silent, then dead, a peer is refused. The pictures
# stay in the folder WEFT_TEST_PICTURES, if there is one.
chromium=$(command -v chromium || true)
[ -z "${WEFT_TEST_AGAIN:-}" ] || chromium=
if [ -n "$chromium" ]; then
	coproc PAGE { exec /usr/bin/python3 "$here/http_page.py" "$chromium" "$work/chromium" "http://127.0.0.1:$port/" ${WEFT_TEST_PICTURES:+"$WEFT_TEST_PICTURES"} 2>page.err; }
	pids+=($PAGE_PID)
fi
# shows STATE: the page does, if there is a browser
shows() {
	local answer=
	[ -n "$chromium" ] || return 0
	echo "$1" >&"${PAGE[1]}"
	read -r -t 300 answer <&"${PAGE[0]}" || true
	[ "$answer" = ok ] || die "the page does not show that the fabric is $1"
}
shows healthy
timeout 60 "$app/weftctl" drain h0 >out 2>&1 || die "drain: $(cat out)"
shows drained
timeout 60 "$app/weftctl" drain h0 --undo >out 2>&1 || die "drain --undo: $(cat out)"
is_silent() { get /api/v1/state | json /dev/stdin '1 / [p["state"]["silent"] for n in o["nodes"] if n["name"] == "s0" for p in n["ports"]][2]'; }
kill -STOP $g1
wait_for 60 is_silent
shows silent

# A dead link is on the page, and in the events of who follows them.
kill -KILL $g1
dead() { get /api/v1/state | json /dev/stdin '1 / any(e["kind"] == "link_down" for e in o["events"])' >/dev/null; }
wait_for 60 dead
wait_for 60 grep -q '"kind":"link_down"' followed
/usr/bin/python3 -c 'import json; n = [json.loads(l[6:])["seq"] for l in open("followed") if l.startswith("data: ")]; assert n == list(range(len(n))), n' ||
	die "events: $(cat followed)"
shows dead

# It comes back with another file.
sed 's/^fabric:/mode: cxl\n&/' lab.yaml >other.yaml
"$app/weftd" --topology other.yaml --node g1 --idle yield >g1.log 2>g1.err &
pids+=($!)
refused() { get /api/v1/state | json /dev/stdin '1 / any(c["state"] == "refused" for n in o["nodes"] for c in n.get("connections", []))' >/dev/null; }
wait_for 60 refused
shows refused
if [ -n "$chromium" ]; then
	eval "exec ${PAGE[1]}>&-"
	wait "$PAGE_PID" || die 'the browser did not end well'
fi

# What all that costs an lcore is measured by a script; its figures are of no interest here.
if [ "$(nproc)" -ge 2 ] && [ -z "${WEFT_TEST_AGAIN:-}" ]; then
	read -r first second _ <<<"$(/usr/bin/python3 -c 'import os; print(*sorted(os.sched_getaffinity(0)))')"
	timeout 60 "$here/../../usertools/watch-cost" --build "$WEFT_BUILD" --cpu "$first" --other "$second" --port $((port + 2)) --watchers metrics \
		--pairs 1 --seconds 0.3 --rest 1.2 >cost || die "watch-cost: $(cat cost)"
	grep -q '^watched by metrics, [1-9][0-9]* looks: median of 1 pairs 0*[0-9]' cost || die "watch-cost: $(cat cost)"
fi
kill -TERM $lab
wait $lab || [ $? -eq 1 ] || die 'weftd did not end'
echo 'metrics, state, events and a page'
