#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Linux guests whose CXL memory is fabric memory: usertools/guest-demo.sh with one guest and with two, where its
# packages are and the guests' kernel has been fetched; what it shows is judged by the script itself.
. "$(dirname "$0")/lib.sh"
tree=$here/../..
export WEFT_GUEST_DIR=${WEFT_GUEST_DIR:-$tree/build-guest}

for guests in 1 2; do
	status=0
	timeout -k 10 280 "$tree/usertools/guest-demo.sh" --no-install --seconds 120 --guests $guests >"$work/out" 2>&1 || status=$?
	[ $status -ne 77 ] || skip "skipped: $(tail -n 1 "$work/out")"
	[ $status -eq 0 ] || die "$guests guests: status $status: $(tail -n 12 "$work/out")"
	grep -q 'All of it was as it should be' "$work/out" || die "$guests guests: it did not come to its end"
done
misused '--guests: expected 1 or 2, got "3"' "$tree/usertools/guest-demo.sh" --guests 3
misused '--seconds: expected 1 to 99999, got "x"' "$tree/usertools/guest-demo.sh" --seconds x
misused 'unknown option "--what"' "$tree/usertools/guest-demo.sh" --what
echo "guests have fabric memory"
