#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A fabric of two hosts, two switches and two GFDs over veth, one network namespace a node, by the
# demo's own script.
. "$(dirname "$0")/lib.sh"
root=$(cd "$(dirname "$0")/../.." && pwd)

[ "$(id -u)" -eq 0 ] || unshare -Urn true 2>/dev/null ||
	skip "skipped: needs root or user namespaces to make network interfaces"
command -v ip >/dev/null || skip "skipped: needs ip (package iproute2)"
[ "$(id -u)" -ne 0 ] || ip netns add "weft-try-$$" 2>/dev/null ||
	skip "skipped: network namespaces cannot be made here"
[ "$(id -u)" -ne 0 ] || ip netns del "weft-try-$$"

before=$(ip netns list 2>/dev/null | wc -l)
WEFT_BUILD=$WEFT_BUILD "$root/usertools/demo.sh" --fabric-only --netns >"$work/log" 2>&1 || {
	cat "$work/log"
	die "the fabric over veth did not run"
}
for h in h0 h1; do
	grep -qE "^host $h .* 0 mismatches +0 lost" "$work/log" || {
		cat "$work/log"
		die "$h: no clean report"
	}
done
# Nothing is lost on veth, and who shares its CPU with others is waited for.
grep -q '^ *dropped' "$work/log" && die "a healthy fabric dropped something: $(grep -h 'dropped' "$work/log")"
again=$(sed -n 's/.* \([0-9]*\) of [0-9]* flits sent again.*/\1/p' "$work/log" | awk '{ n += $1 } END { print n + 0 }')
[ "$again" -lt 500 ] || die "a healthy fabric sent $again flits again: $(grep -h 'retry:' "$work/log")"
grep -q 'af_packet' "$work/log" || die "not over af_packet: $(cat "$work/log")"
same "namespaces left" "$before" "$(ip netns list 2>/dev/null | wc -l)"
echo "a fabric over veth reads back what it wrote"
