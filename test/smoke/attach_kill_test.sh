#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Programs on the fabric while a program, the switch, the link, the GFD or the daemon of their host is killed or
# stands still at a random moment. WEFT_KILLS=N for more than a round of each; WEFT_TEST_SEED=N repeats one.
. "$(dirname "$0")/lib.sh"
export XDG_RUNTIME_DIR=$work
unset WEFT_SOCKET
with_libweft attach_kill.py "$app/weftd" "$work" --rounds "${WEFT_KILLS:-5}" \
	${WEFT_TEST_SEED:+--seed "$WEFT_TEST_SEED"} || die "see above"
