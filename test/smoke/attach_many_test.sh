#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Programs that attach and detach thousands of times, as many at once as a host takes, and such that are killed:
# nothing of the daemon grows. WEFT_ATTACHES=N for other than 5,000 times.
. "$(dirname "$0")/lib.sh"
export XDG_RUNTIME_DIR=$work
unset WEFT_SOCKET
cat >"$topology" <<-Y
fabric: many
nodes:
  - {name: h0, kind: host, pid: 0x101}
  - {name: s0, kind: switch, pid: 0x010}
  - {name: g0, kind: gfd, pid: 0x200, memory: 1M}
links:
  - {a: h0, b: s0}
  - {a: s0, b: g0}
Y
serve_all "$app/weftd" --json "$work/d.json"
with_libweft attach_many.py "$daemon" "$work/weft" --times "${WEFT_ATTACHES:-5000}" || die "see above"
kill -TERM "$daemon"
wait "$daemon" || die "weftd ended with $?"
same "attached and detached" True "$(json "$work/d.json" \
	'[n["clients"]["attached"] == n["clients"]["detached"] > 5000 for n in o["nodes"] if n["name"] == "h0"][0]')"
