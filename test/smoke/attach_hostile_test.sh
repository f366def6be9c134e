#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Programs that scribble over rings, indices and messages while a good one works at the same host: the daemon goes
# on, the good one's data are right, the bad ones are detached and named. WEFT_HOSTILE_SECONDS=N for longer,
# WEFT_TEST_SEED=N repeats one.
. "$(dirname "$0")/lib.sh"
export XDG_RUNTIME_DIR=$work
unset WEFT_SOCKET
cat >"$topology" <<-Y
fabric: hostile
defaults: {cxl_io: 64}
nodes:
  - {name: h0, kind: host, pid: 0x101}
  - {name: s0, kind: switch, pid: 0x010}
  - {name: g0, kind: gfd, pid: 0x200, memory: 1M}
links:
  - {a: h0, b: s0}
  - {a: s0, b: g0}
Y
serve_all "$app/weftd" --json "$work/d.json"
with_libweft attach_hostile.py "$work/weft/h0.sock" --seconds "${WEFT_HOSTILE_SECONDS:-3}" \
	${WEFT_TEST_SEED:+--seed "$WEFT_TEST_SEED"} >"$work/said" 2>&1 || die "$(cat "$work/said")"
cat "$work/said"
kill -TERM "$daemon"
wait "$daemon" || die "weftd ended with $?"
# Of many events in a second one is said, with their number.
pattern=$(sed -n 's/^hostile \([0-9]*\) \([0-9]*\)$/\1|\2/p' "$work/said")
grep -qE "process ($pattern) is detached: it " "$work/weftd.log" || die "nobody is named"
[ "$(json "$work/d.json" 'o["event_counts"]["client_detached"]')" -gt 10 ] || die "hardly anybody was detached"
