# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# What every smoke test sources: the programs, a folder of its own, and its end.

set -eu
app=${WEFT_BUILD:?the build folder}/app
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
pids=()
holders=() # of network namespaces

# What json asks: one process a test, as a Python that starts takes longer than what it is asked for. It stands
# beside the test by FIFOs that are open while a question is under way, so no daemon has them.
teller=""
start_teller() {
	mkfifo "$work/.asked" "$work/.answered" "$work/.turn"
	/usr/bin/python3 -S -B "$here/json_server.py" "$work/.asked" "$work/.answered" "$work/.turn" </dev/null >/dev/null &
	teller=$!
}
end_teller() { { kill -KILL "$teller" && wait "$teller"; } 2>/dev/null || true; }

# Every process of the test is ended by its number, whatever happened.
finish() {
	for pid in "${pids[@]:-}" "${holders[@]:-}"; do
		{ [ -n "$pid" ] && kill -KILL "$pid" 2>/dev/null && wait "$pid" 2>/dev/null; } || true
	done
	end_teller
	type cleanup >/dev/null 2>&1 && cleanup
	rm -rf "$work" ${etcd_data:+"$etcd_data"}
}
trap finish EXIT
start_teller

# The programs' own last words first: the last line of all is what failed.
die() {
	local log
	for log in "$work"/*.log "$work"/*.err; do
		[ ! -s "$log" ] || tail -n 4 "$log" | sed "s,^,${log##*/}: ,"
	done
	echo "FAILED: $*"
	exit 1
}

skip() {
	echo "$*"
	exit 77
}

# refuses_with STATUS TEXT COMMAND...: that exit status, one line on stderr, and TEXT in it.
refuses_with() {
	local status=$1 want=$2 got=0
	shift 2
	timeout 20 "$@" >"$work/out" 2>"$work/err" || got=$?
	[ $got -ne 0 ] || die "$* was not refused"
	[ $got -eq "$status" ] || die "$* ended with $got, not with $status"
	[ "$(wc -l <"$work/err")" -eq 1 ] || die "$* said more or less than one line: $(cat "$work/err")"
	grep -qF -- "$want" "$work/err" || die "$* did not say \"$want\" but: $(cat "$work/err")"
}

# refuses TEXT COMMAND...: with exit status 1: it cannot be done.
refuses() { refuses_with 1 "$@"; }

# misused TEXT COMMAND...: with exit status 2: it makes no sense.
misused() { refuses_with 2 "$@"; }

# warns TEXT COMMAND...: exit status 0, one line on stderr, and TEXT in it; what it prints is in $work/out.
warns() {
	local want=$1
	shift
	timeout 60 "$@" >"$work/out" 2>"$work/err" || die "$* fails: $(cat "$work/err")"
	[ "$(wc -l <"$work/err")" -eq 1 ] || die "$* said more or less than one line: $(cat "$work/err")"
	grep -qF -- "$want" "$work/err" || die "$* did not say \"$want\" but: $(cat "$work/err")"
}

# few FEW ALL: the words ALL in the first build; FEW in builds after it, where a matrix once more finds only what a
# sanitizer or another compiler sees.
few() {
	if [ -n "${WEFT_TEST_AGAIN:-}" ]; then echo "$1"; else echo "$2"; fi
}

# tell WHAT ARGUMENT EXPRESSION: of the process above, one question at a time.
tell() {
	local status text turn
	kill -0 "$teller" 2>/dev/null || die "json_server.py is not there" >&2
	{
		read -r -N 1 turn <&9
		printf '%s\0' "$PWD" "${XDG_RUNTIME_DIR:-}" "$@" >&7
		IFS= read -r -d '' status <&8
		IFS= read -r -d '' text <&8
		printf '%s' "$turn" >&9
	} 7<>"$work/.asked" 8<>"$work/.answered" 9<>"$work/.turn"
	if [ "$status" = 0 ]; then echo "$text"; else echo "$text" >&2; fi
	return "$status"
}

# json FILE EXPRESSION: value of a Python expression over the object `o`; load(FILE) is that of another file.
json() {
	case $1 in
	/dev/* | /proc/*) tell text "$(<"$1")" "$2" ;; # of this process
	*) tell file "$1" "$2" ;;
	esac
}

# edges_home FILE: what the edge ports of cxl switches counted stands with the host or device whose they are
edges_home() {
	/usr/bin/python3 -S -c 'import json, sys
o = json.load(open(sys.argv[1]))
node = {n["name"]: n for n in o["nodes"]}
for n in o["nodes"]:
    for edge in (p["edge"] for p in n["ports"] if p.get("edge") and p["edge"]["peer"] in node):
        of = node[edge["peer"]]
        of["edge"] = edge["stopped"]
        if "uio" in of:
            of["uio"]["edge"], of["uio"]["stopped"] = edge["uio"], edge["uio_stopped"]
json.dump(o, open(sys.argv[1], "w"))' "$1"
}

# same WHAT A B
same() {
	[ "$2" = "$3" ] || die "$1: expected $2, got $3"
}

# wait_for SECONDS COMMAND...: until it succeeds. The whole machine may stand still for longer than that, and the clock
# goes on; so some looks are due after the time is over as well.
wait_for() {
	local end=$((SECONDS + $1)) left=$((10 + $1 / 2))
	shift
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt $end ] || left=$((left - 1))
		[ $left -gt 0 ] || die "waited in vain for: $*"
		sleep 0.1
	done
}

# --- network interfaces ---

# enter_netns: the test once more in a network namespace of its own, which goes with all its interfaces.
# False: there are none here.
enter_netns() {
	export XDG_RUNTIME_DIR=$work
	[ -z "${WEFT_INSIDE:-}" ] || return 0
	[ "$(id -u)" -eq 0 ] && command -v ip >/dev/null && unshare -n true 2>/dev/null || return 1
	end_teller
	rm -rf "$work"
	WEFT_INSIDE=1 exec unshare -n bash "$0"
}

# need_netns: the same, or the test is skipped.
need_netns() {
	[ "$(id -u)" -eq 0 ] || skip "skipped: needs root to make network interfaces and raw sockets"
	command -v ip >/dev/null || skip "skipped: needs ip (package iproute2)"
	enter_netns || skip "skipped: network namespaces cannot be made here"
}

is_elsewhere() { [ "$(readlink "/proc/$1/ns/net")" != "$(readlink /proc/self/ns/net)" ]; }

# make_netns END: another namespace, as another machine would be; a process in it is ns[END].
declare -A ns
make_netns() {
	unshare -n sleep 1000 &
	ns[$1]=$!
	holders+=($!)
	wait_for 10 is_elsewhere $!
}

# --- etcd ---

# etcd_place: where a server of its own will be, 127.0.0.1:$etcd_port. Data in memory: the election's time decides how short
# a lease may be.
etcd_place() {
	etcd_data=$(mktemp -d -p /dev/shm)
	etcd_port=$(/usr/bin/python3 -S -c 'import socket
a, b = socket.socket(), socket.socket()
a.bind(("127.0.0.1", 0)); b.bind(("127.0.0.1", 0))
print(a.getsockname()[1], b.getsockname()[1])')
	etcd_peer=http://127.0.0.1:${etcd_port#* } etcd_port=${etcd_port% *}
}

# etcd_begin: that server; its number is in $etcd. Again after it ended.
etcd_begin() {
	etcd --name e --data-dir "$etcd_data" --listen-client-urls "http://127.0.0.1:$etcd_port" \
		--advertise-client-urls "http://127.0.0.1:$etcd_port" --listen-peer-urls "$etcd_peer" \
		--initial-advertise-peer-urls "$etcd_peer" --initial-cluster "e=$etcd_peer" \
		--heartbeat-interval 50 --election-timeout 500 >"$work/etcd.out" 2>&1 &
	etcd=$!
	pids+=("$etcd")
	wait_for 20 curl -s --noproxy '*' -o "$work/etcd.json" "http://127.0.0.1:$etcd_port/version"
}

# --- fabrics that run ---

# ask PID COMMAND: a process's telemetry.
ask() { /usr/bin/python3 -S "$here/telemetry.py" "$@"; }

# reads_done HOST PID: how many so far.
reads_done() { tell ask "$2 /weft/node,$1" 'o["/weft/node"]["host_reads_done"]'; }

# has_read HOST PID MORE: it has done more reads than that.
has_read() { [ "$(reads_done "$1" "$2")" -gt "$3" ]; }

# good FILE: every request ended once and nothing was wrong.
good() {
	json "$1" 'all(n["traffic"][k] == 0 for n in o["nodes"] if n["kind"] == "host"
		for k in ("lost", "mismatches", "failed", "uncertain")) and
		all(n["outstanding"] == 0 for n in o["nodes"] if n["kind"] == "host")'
}

# sum FILE GROUP COUNTER: over all connections and ends of links.
sum() {
	json "$1" "sum(c['$2']['$3'] for n in o['nodes'] for c in n.get('connections', []))"
}

# Requests of a host that take seconds on any machine, in which things are done to the others.
many=${WEFT_TEST_REQUESTS:-400000}
many_rate=80000

# six_nodes REQUESTS OUTSTANDING TIMEOUT_MS: YAML of two hosts with load, two switches and two GFDs.
six_nodes() {
	local traffic="requests: $1, outstanding: $2, write_percent: 50, timeout_ms: $3"
	[ "$1" != "$many" ] || traffic+=", rate: $many_rate"
	cat <<-Y
	workloads:
	  - {on: h0, kind: mem, $traffic, lines: 4096, seed: 1}
	  - {on: h1, kind: mem, $traffic, lines: 2048, seed: 2}
	nodes:
	  - {name: h0, kind: host, pid: 0x101}
	  - {name: h1, kind: host, pid: 0x102}
	  - {name: s0, kind: switch, pid: 0x010}
	  - {name: s1, kind: switch, pid: 0x011}
	  - {name: g0, kind: gfd, pid: 0x200, memory: 4M}
	  - {name: g1, kind: gfd, pid: 0x201, memory: 4M}
	Y
}

# start NODE [options]: of $topology, in the background; its number is in pid_NODE.
topology=$work/live.yaml
start() {
	local node=$1
	shift
	"$app/weftd" --topology "$topology" --node "$node" "$@" >>"$work/$node.log" 2>&1 &
	pids+=($!)
	eval "pid_$node=$!"
}

# serve_all [COMMAND...]: all of $topology in one process, for programs; its number is in $daemon, its text in
# weftd.log of $work. COMMAND runs it in place of $app/weftd.
serve_all() {
	[ $# -gt 0 ] || set -- "$app/weftd"
	rm -f "$work/weftd.log" # an older one says that it runs
	"$@" --topology "$topology" --idle yield >"$work/weftd.log" 2>&1 &
	daemon=$!
	pids+=("$daemon")
	wait_for 20 grep -q '^weftd: .* run' "$work/weftd.log"
}

# sanitizers_of LIBRARY: what programs without sanitizers preload to load one that has them; nothing if it has none.
# gcc's name their runtime, clang's leave it to the program.
sanitizers_of() {
	if ldd "$1" | grep -q libasan; then
		echo "$(gcc -print-file-name=libasan.so):$(gcc -print-file-name=libubsan.so)"
	elif grep -q __asan_init "$1"; then
		clang -print-file-name="libclang_rt.asan-$(uname -m).so"
	fi
}

# compiler_of LIBRARY: what compiles programs that link with it, with its sanitizers.
compiler_of() {
	case $(sanitizers_of "$1") in
	'') echo cc ;;
	*libclang_rt*) echo clang -fsanitize=address,undefined ;;
	*) echo gcc -fsanitize=address,undefined ;;
	esac
}

# with_libweft SCRIPT ARGUMENT...: a Python program that loads libweft (libweft.py). Its leaks are not ours to find.
with_libweft() {
	LD_PRELOAD=$(sanitizers_of "$WEFT_BUILD/lib/libweft.so.0") ASAN_OPTIONS=detect_leaks=0 \
		/usr/bin/python3 "$here/$1" "$WEFT_BUILD/lib/libweft.so.0" "${@:2}"
}

# start_all: six_nodes, a process each; hosts end when they are done.
start_all() {
	local node
	rm -f "$work"/*.log "$work"/h?.json
	for node in s0 s1 g0 g1; do
		start "$node"
	done
	start h0 --until-done --quiet --json "$work/h0.json"
	start h1 --until-done --quiet --json "$work/h1.json"
}

# has_traffic: at both hosts; one that starts late would not see what is done to the others.
has_traffic() { has_read h0 "$pid_h0" 1000 && has_read h1 "$pid_h1" 1000; }

# hosts_end: whether both ended well.
hosts_end() {
	local status=0
	wait "$pid_h0" || status=1
	wait "$pid_h1" || status=1
	return $status
}

end_others() {
	kill -TERM "$pid_s0" "$pid_s1" "$pid_g0" "$pid_g1"
	wait "$pid_s0" "$pid_s1" "$pid_g0" "$pid_g1" || true
	pids=()
}
