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
  - {name: h0, kind: host, pid: 0x101, traffic: {requests: 0, outstanding: 16, timeout_ms: 20000, lines: 1024}}
  - {name: s0, kind: switch, pid: 0x010}
  - {name: g0, kind: gfd, pid: 0x200, memory: 4M}
links:
  - {a: h0, b: s0, driver: memif}
  - {a: s0, b: g0, driver: memif}
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
/usr/bin/python3 - "$work"/weft/fx-*.sock <<-'PY'
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
echo "a stranger on the same machine does no harm"
