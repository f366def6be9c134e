# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# What each test of weft-sim sources.
. "$(dirname "$0")/lib.sh"

# weft-sim in the test's folder, its text in a file there. A slow machine is no mistake: the limit is five times what
# the longest run takes under sanitizers.
sim() { (cd "$work" && timeout 500 "$app/weft-sim" "$@" >text); }
j() { json "$work/$1.json" "$2"; }
