#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What a stranger on the same machine can do to a daemon: start it twice, call at its sockets, leave
# folders that are not private, name outputs that are no files.
. "$(dirname "$0")/lib.sh"
export XDG_RUNTIME_DIR=$work

cat >"$topology" <<-Y
fabric: fx
defaults: {mtu: 4000}
nodes:
  - {name: h0, kind: host, pid: 0x101}
  - {name: s0, kind: switch, pid: 0x010}
  - {name: g0, kind: gfd, pid: 0x200, memory: 4M}
links:
  - {a: h0, b: s0, driver: memif}
  - {a: s0, b: g0, driver: memif}
workloads:
  - {on: h0, kind: mem, requests: 0, outstanding: 16, timeout_ms: 20000, lines: 1024}
Y
t() { refuses "$1" "$app/weftd" --topology "$topology" "${@:2}"; }

# A run folder that others can enter.
mkdir -m 0777 "$work/weft"
chmod 0777 "$work/weft"
t "run folder $work/weft: expected one of user $(id -u) with mode 0700" --node s0
chmod 0700 "$work/weft"

start g0
start s0
start h0 --json "$work/h0.json"
wait_for 20 has_read h0 "$pid_h0" 1000

# Every node once; those that run notice nothing of it.
for n in s0 h0 g0; do
	pid=pid_$n
	t "node $n of fabric fx runs already, as process ${!pid}: end that one first" --node "$n"
done

# Callers that hang up, talk nonsense, or say nothing.
/usr/bin/python3 - "$work"/weft/fx-*.memif <<-'PY'
import os, socket, sys, time
held = []
for path in sys.argv[1:]:
    for i in range(100):
        k = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        k.connect(path)
        if i % 2:
            k.send(os.urandom(1 + i * 3))
        if i % 10 == 0:
            held.append(k)
        else:
            k.close()
time.sleep(3.5)
PY
before=$(reads_done h0 "$pid_h0")
wait_for 20 has_read h0 "$pid_h0" $((before + 1000))
refused() { [ "$(ask "$1" "/weft/port,$2" | json /dev/stdin 'o["/weft/port"]["callers_refused"]')" -eq "$3" ]; }
wait_for 10 refused "$pid_h0" h0.0 100
wait_for 10 refused "$pid_s0" s0.1 100
grep -q 'node h0: port h0.0: turned away a caller at its socket, process [0-9]* (python3)' "$work/h0.log" ||
	die "no line of the callers: $(cat "$work/h0.log")"

# One that was killed leaves a lock that is none, and sockets that are taken over.
kill -KILL "$pid_s0"
wait "$pid_s0" 2>/dev/null || true
start s0
before=$(reads_done h0 "$pid_h0")
wait_for 20 has_read h0 "$pid_h0" $((before + 1000))
kill -TERM "$pid_h0"
wait "$pid_h0" || die "h0 did not end well"
same "nothing lost, nothing wrong" True "$(json "$work/h0.json" 'o["good"]')"
kill -TERM "$pid_s0" "$pid_g0"
wait "$pid_s0" || die "s0 did not end well"
wait "$pid_g0" || die "g0 did not end well"
pids=()
same "sockets and locks left" "" "$(ls "$work/weft")"

# Limits that would stop DPDK half-way: one line with what is needed.
refuses 'too few open files allowed: 48 needed, 8 allowed: raise the limit (ulimit -n 48)' \
	bash -c 'ulimit -n 8; exec "$0" --until-done' "$app/weftd"
# With sanitizers nothing runs in so little.
sed 's/memory: 4M/memory: 128M/; s/lines: 1024/lines: 800000/; s/, driver: memif//' "$topology" >"$work/wide.yaml"
if (ulimit -v 200000 && "$app/weftd" --version) >/dev/null 2>&1; then
	refuses 'too little address space: it is limited to 195 MB (ulimit -v): raise the limit' \
		bash -c 'ulimit -v 200000; exec "$0" --until-done --topology "$1"' "$app/weftd" "$work/wide.yaml"
	# More than EAL's and less than enough: whatever lacks, the line names the limit.
	for kib in 300000 350000 400000; do
		refuses "(ulimit -v): raise the limit or remove it" \
			bash -c 'ulimit -v "$2"; exec "$0" --until-done --topology "$1"' "$app/weftd" "$work/wide.yaml" $kib
	done
fi

# Keys where too little memory may be locked, or none: with sanitizers locking does nothing.
few_locked() { # KIB TEXT PROGRAM...: root without the right to pass the limit
	local locks=(setpriv --bounding-set -ipc_lock --inh-caps -ipc_lock)
	[ "$(id -u)" -eq 0 ] || locks=()
	refuses "$2: raise the limit of locked memory (ulimit -l)" \
		bash -c 'ulimit -l "$1" && exec "${@:2}"' few "$1" "${locks[@]}" "${@:3}"
}
if [ -z "$(sanitizers_of "$app/weftd")" ]; then
	(umask 077 && od -An -N32 -v -tx1 /dev/urandom | tr -d ' \n' >"$work/psk")
	(umask 077 && echo "rxl 101 200 0 1 $(<"$work/psk")" >"$work/keys")
	sed "s|^defaults:|ide: {mode: skid, key_file: $work/psk}\n&|" "$topology" >"$work/ide.yaml"
	few_locked 0 "key file $work/psk: no memory could be locked for it: Operation not permitted" \
		"$app/weftd" --topology "$work/ide.yaml" --node h0
	few_locked 4 'node h0: no memory could be locked for keys' "$app/weftd" --topology "$work/ide.yaml" --node h0
	"$app/weft-gen" --flits 10 --out "$work/x.pcap"
	few_locked 0 "$work/keys:1: no memory could be locked for this key" \
		"$app/weft-replay" --in "$work/x.pcap" --ide skid --key-file "$work/keys"
	few_locked 0 "$work/keys:1: no memory could be locked for this key" \
		"$app/weft-gen" --flits 10 --out "$work/y.pcap" --ide skid --key-file "$work/keys"
fi

# Outputs that are no files.
mkfifo "$work/fifo"
refuses "capture of port h0.0 to $work/fifo: a FIFO or socket that nobody reads" \
	"$app/weftd" --capture "h0.0=$work/fifo" --seconds 1
if [ "$(id -u)" -eq 0 ]; then
	ln -s "$work/elsewhere" "$work/link"
	refuses "capture of port h0.0 to $work/link: a symbolic link" \
		"$app/weftd" --capture "h0.0=$work/link" --seconds 1
	refuses "--json $work/link: a symbolic link" "$app/weftd" --json "$work/link" --seconds 1
	[ ! -e "$work/elsewhere" ] || die "a link was followed"
fi

# A capture that cannot go on: a line, a count, and the exit status; the traffic goes on.
"$app/weftd" --capture "h0.0=$work/full.pcapng" --seconds 4 --quiet --json "$work/full.json" 2>"$work/full.err" &
pid=$!
pids+=($pid)
wait_for 20 test -s "$work/full.pcapng"
/usr/bin/python3 -c "import resource; resource.prlimit($pid, resource.RLIMIT_FSIZE, (300000, 300000))"
status=0
wait $pid || status=$?
same "exit status of a full disk" 1 $status
grep -q 'capture of port h0.0 to .* stopped: File too large; [0-9]* frames are in it' "$work/full.err" ||
	die "no line of the capture: $(cat "$work/full.err")"
same "lines" 1 "$(wc -l <"$work/full.err")"
same "the error in the report" True "$(json "$work/full.json" 'o["captures"][0]["error"] == "File too large" and
	o["captures"][0]["frames"] > o["captures"][0]["written"] > 0 and o["good"]')"
same "the event in the report" "h0 h0.0 error" "$(json "$work/full.json" \
	'" ".join("%(node)s %(peer)s %(level)s" % e for e in o["events"] if e["kind"] == "capture_stopped")')"
"$app/weftd" --capture "h0.0=$work/some.pcapng" --capture-limit 100K --seconds 2 --quiet \
	--json "$work/some.json" 2>"$work/some.err" || die "a limit is no failure"
grep -q 'stopped: the limit of its size is reached' "$work/some.err" || die "$(cat "$work/some.err")"
same "a capture within its limit" True "$(json "$work/some.json" 'o["captures"][0]["full"] and
	90000 < o["captures"][0]["bytes"] <= 102400')"
same "its size" "$(json "$work/some.json" 'o["captures"][0]["bytes"]')" "$(stat -c %s "$work/some.pcapng")"
misused '--capture-limit: expected a size' "$app/weftd" --capture-limit 1 --seconds 1

# Begun and ended by telemetry.
"$app/weftd" --seconds 30 --quiet &
pid=$!
pids+=($pid)
wait_for 20 ask $pid /weft/ports
begun() { ask $pid "/weft/capture,h0.0=$work/later.pcapng" | json /dev/stdin 'o["/weft/capture"]["port"]'; }
wait_for 20 begun
same "a second of one port" True "$(ask $pid "/weft/capture,h0.0=$work/x" | json /dev/stdin '"being captured" in o["/weft/capture"]["error"]')"
same "a second into one file" True "$(ask $pid "/weft/capture,s0.0=$work/later.pcapng" | json /dev/stdin '"that of another capture" in o["/weft/capture"]["error"]')"
sleep 0.5
same "it captured" True "$(ask $pid /weft/capture_stop,h0.0 | json /dev/stdin 'o["/weft/capture_stop"]["written"] > 0')"
same "nothing to end" True "$(ask $pid /weft/capture_stop,h0.0 | json /dev/stdin '"error" in o["/weft/capture_stop"]')"
size=$(stat -c %s "$work/later.pcapng")

# Half-open connections to telemetry keep nobody out; killed processes' folders go.
/usr/bin/python3 - "weftd-$pid/dpdk_telemetry.v2" "$work/dpdk" <<-'PY'
import glob, socket, sys
held = []
for path in glob.glob(f"{sys.argv[2]}/{sys.argv[1]}") + glob.glob(f"/run/dpdk/{sys.argv[1]}"):
    for i in range(1000):
        k = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            k.connect(path)
        except OSError:
            break # no more are taken
        held.append(k)
    try:
        k.recv(1024)
        k.send(b"/weft/ports")
        assert b"h0.0" in k.recv(65536), path
    except OSError:
        pass
assert held, "no telemetry"
PY
same "answers beside silent connections" True "$(ask $pid /weft/ports | json /dev/stdin '"h0.0" in o["/weft/ports"]')"
kill -KILL $pid
wait $pid 2>/dev/null || true
"$app/weftd" --until-done --quiet
same "folders of killed processes" "" "$(find /run/dpdk "$work/dpdk" -maxdepth 1 -name "weftd-$pid" 2>/dev/null)"
same "a capture that had ended" "$size" "$(stat -c %s "$work/later.pcapng")"
echo "a stranger on the same machine does no harm"
