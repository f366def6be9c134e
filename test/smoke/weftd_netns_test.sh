#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A fabric of two hosts, two switches and two GFDs over veth, one network namespace a node, by the
# demo's own script.
. "$(dirname "$0")/lib.sh"
root=$(cd "$(dirname "$0")/../.." && pwd)

[ "$(id -u)" -eq 0 ] || unshare -Urn true 2>/dev/null ||
	skip "skipped: needs root or user namespaces to make network interfaces"
command -v ip >/dev/null || skip "skipped: needs ip (package iproute2)"
# Where "ip netns add" works and "ip netns exec" does not, the demo goes over rings and says why.
mkdir "$work/bin"
cat >"$work/bin/ip" <<-'W'
	#!/bin/sh
	[ "$1 $2" != "netns exec" ] || { echo "mount --make-rslave / failed: Invalid argument" >&2; exit 1; }
	exec PATHIP "$@"
W
sed -i "s,PATHIP,$(command -v ip)," "$work/bin/ip"
chmod +x "$work/bin/ip"
PATH=$work/bin:$PATH "$root/usertools/demo.sh" --fabric-only >"$work/rings.log" 2>&1 ||
	die "where ip netns exec fails the demo does"
grep -q '^(no network namespaces here: .*failed' "$work/rings.log" || die "it does not say why rings"
grep -q '^host h1 .* 0 mismatches' "$work/rings.log" || die "no fabric over rings"
if [ "$(id -u)" -eq 0 ]; then
	works=0
	ip netns add "weft-try-$$" 2>/dev/null && ip netns exec "weft-try-$$" true 2>/dev/null && works=1
	ip netns del "weft-try-$$" 2>/dev/null || true
	[ $works -eq 1 ] || skip "skipped: network namespaces cannot be made here"
fi

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
demo=$(sed -n 's/.*af_packet on w\([0-9]*\)[ab][0-9].*/\1/p' "$work/log" | head -n 1)
[ -n "$demo" ] || die "no interface in the log"
same "namespaces left" 0 "$(ip netns list 2>/dev/null | grep -c "^weft-$demo-" || true)"
echo "a fabric over veth reads back what it wrote"
