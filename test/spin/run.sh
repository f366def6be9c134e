#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Check the Promela models beside this file with Spin, by the rows of the table below: run.sh [--all |
# WORD] (rows that hold WORD). Rows with a star take a minute together and more: without --all, or a
# word that they hold, they are left out. Ends with "N passed, N failed, N skipped"; exit status 1 if any failed, 77
# without Spin. See doc/spin.md.
set -u
here=$(cd "$(dirname "$0")" && pwd)

# model | switches | result | what. Results: "order": no assertion fails, no process is stuck. "ends":
# that, and no run goes on for ever. Anything else: the search must find an error that says so.
table() {
	cat <<-'ROWS'
		retry* | -DFAULTS=1 -DEARLY=1 | order | ISN alone, both ways
		retry | -DM=3 -DW=2 -DBACK=0 | order | ISN alone, one way, faults and timers at will
		retry | -DM=4 -DW=3 -DBACK=0 -DFAULTS=2 -DEARLY=3 | order | ISN alone, one way, window M - 1
		retry | -DGAP -DFAULTS=2 -DEARLY=1 | order | gap decoding, both ways
		retry | -DGAP -DM=8 -DW=3 -DROOM=3 -DBACK=0 -DFAULTS=2 -DEARLY=2 | order | gap decoding, one way, window M / 2 - 1
		retry | -DGAP -DW=3 -DRX=1 -DBACK=0 -DFAULTS=2 -DEARLY=2 | order | gap decoding, Rx buffer too small
		retry | -DGAP -DOLD -DAGE=5 -DBACK=0 -DFAULTS=1 -DEARLY=1 | order | an old flit comes, younger than M - W - 1
		retry | -DFLITS=2 -DFAULTS=2 -DEARLY=0 | ends | ISN alone, both ways, two faults
		retry | -DFLITS=2 -DFAULTS=1 -DEARLY=1 | ends | ISN alone, both ways, a fault and an early timer
		retry* | -DFLITS=4 -DFAULTS=2 -DEARLY=2 -DBACK=0 | ends | ISN alone, one way
		retry | -DGAP -DFLITS=3 -DFAULTS=2 -DEARLY=0 | ends | gap decoding, both ways, two faults
		retry | -DGAP -DFLITS=2 -DFAULTS=1 -DEARLY=1 | ends | gap decoding, both ways, a fault and an early timer
		retry* | -DGAP -DFLITS=4 -DFAULTS=3 -DEARLY=2 -DBACK=0 | ends | gap decoding, one way
		retry | -DM=4 -DW=4 -DROOM=4 | place==0 | window M
		retry | -DGAP -DM=4 -DW=3 -DROOM=3 | place==by | gap decoding, window above M / 2
		retry | -DNO_ISN -DFAULTS=1 -DEARLY=0 | place==0 | a number or an Ack in the field, no ISN
		retry | -DRESTART -DFAULTS=0 -DEARLY=0 | place==0 | a receiver starts again without a session
		retry | -DGAP -DRESTART -DFAULTS=0 -DEARLY=0 | place==0 | the same with gap decoding
		retry | -DOLD -DFAULTS=0 -DEARLY=0 | place==0 | an old flit comes, ISN alone
		retry | -DGAP -DOLD -DAGE=7 -DBACK=0 -DFAULTS=1 -DEARLY=1 | assertion violated | an old flit comes, M - W numbers old
		retry | -DGAP -DOLD -DAGE=5 -DANY_ACK -DFAULTS=0 -DEARLY=1 | acked<=0 | Acks outside the window are obeyed
		retry | -DNO_RENAK -DFLITS=2 -DFAULTS=2 -DEARLY=0 | non-progress cycle | Nak never repeated, two faults
		retry | -DNO_RENAK -DFLITS=2 -DFAULTS=1 -DEARLY=1 | non-progress cycle | Nak never repeated, late Ack and lost Nak
		session* | -DXS=3 -DSS=4 -DCRASHES=1 -DFLITS=1 | order | handshake, one crash, more attempts
		session | -DXS=2 -DSS=3 -DCRASHES=2 -DFLITS=2 | order | handshake, two crashes, two flits
		session* | -DCALM -DXS=2 -DSS=3 -DCRASHES=2 -DFLITS=0 | ends | handshake, both in one session in the end
		session* | -DKEYS -DXS=2 -DSS=3 -DCRASHES=2 -DFLITS=1 | order | handshake, GOODBYE with a MAC
		session | -DNO_CHALLENGE | id!=s | RESET and GOODBYE are believed
		session | -DNO_NUMBER | s!=end[ | GONE is believed whatever its number
		session | -DGONE_SOON | s!=end[ | an end says GONE of what it is offered
		session | -DKEYS -DNO_MAC | id!=s | GOODBYE without a MAC is believed
		session | -DNO_CHECK | l==end[e].partner | flits of any session are taken
		session | -DNO_X | begun[e].by[s]==0 | WELCOME is believed whatever X it answers
		session | -DDROP_AT_HELLO | end[1].id==0 | HELLO ends the session there is
		session | -DCOUNTED | begun[1].by[s]==0 | S is counted from 1 in each life
	ROWS
}

usage="usage: test/spin/run.sh [--all | WORD]    (rows of its table without a star, all, or those that hold WORD)"
[ $# -gt 0 ] || [ -z "${WEFT_TEST_ALL:-}" ] || set -- --all
word=${1:-} places=20
case $word in
--all) word="" places=24 ;;
--help | -h)
	echo "$usage"
	exit 0
	;;
esac
[ $# -le 1 ] || {
	echo "$usage" >&2
	exit 2
}
table | grep -qF -- "$word" || {
	echo "run.sh: no row of its table holds \"$word\"" >&2
	exit 2
}

for tool in spin gcc; do
	command -v "$tool" >/dev/null && continue
	echo "0 passed, 0 failed, 1 skipped"
	echo "$tool is not installed"
	exit 77
done

# search LOG FLAG O: one exhaustive search, in the directory of a row, compiled with -O<O>. Partial ones count as errors.
# States are kept whole, where Spin can: to leave out what does not change takes a third of the time. The table that finds
# them has 2^20 places without --all, or 2^16 where an error ends the search: to clear Spin's 2^24 takes longer than many a search.
search() {
	local log=$1 flags=(-DSAFETY -DNOCOMP) run=(-w$places)
	[ "$3" -ne 0 ] || run=(-w16)
	[ "$2" = -DNP ] && flags=(-DNP) run+=(-l)
	gcc "-O$3" -w "${flags[@]}" -DMEMLIM=900 -o pan pan.c >"$log" 2>&1 || return 1
	# Meson has malloc fill what it gives: nothing of ours is in there.
	timeout 250 env -u MALLOC_PERTURB_ ./pan -m1000000 "${run[@]}" >"$log" 2>&1 || return 1
	grep -q 'errors: [0-9]' "$log" && ! grep -qE 'max search depth|out of memory|truncated' "$log"
}

states() {
	sed -n 's/^ *\([0-9]*\) states, stored.*/\1/p' "$1" | tail -n 1
}

# row DIR MODEL SWITCHES RESULT WHAT: print its line.
row() {
	local model=$2 result=$4 log=search flag=-DSAFETY verdict=FAIL found opt=1
	mkdir "$1" && cd "$1" && cp "$here/$model.pml" . || return
	# shellcheck disable=SC2086
	spin -a $3 "$model.pml" >"$log" 2>&1
	[ "$result" = "non-progress cycle" ] && flag=-DNP
	# A search that ends at an error is over sooner than a compiler that optimizes.
	[ "$result" = order ] || [ "$result" = ends ] || opt=0
	if [ -f pan.c ]; then
		search "$log" "$flag" $opt && [ "$result" = ends ] && log=cycles && search "$log" -DNP $opt
	fi
	found=$(grep -m 1 '^pan:[0-9]*: ' "$log" | sed 's/^pan:[0-9]*: //; s/ (at depth.*//')
	case $result in
	order | ends)
		grep -q 'errors: 0$' "$log" && ! grep -qE '^error|truncated' "$log" && verdict=ok
		;;
	*)
		[[ $found == *"$result"* ]] && verdict=ok
		;;
	esac
	[ "$result" = ends ] && [ "$log" != cycles ] && verdict=FAIL
	[ "$result" = order ] || [ "$result" = ends ] || result=breaks
	printf '%-4s %-7s %-6s %9s states  %s (%s)%s\n' "$verdict" "$model" "$result" \
		"$(states "$log")" "$5" "$3" "${found:+: $found}"
	[ "$verdict" = ok ] || tail -n 5 "$log"
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
n=0
while IFS='|' read -r model switches result what; do
	[[ $model != *'*' ]] || [ $# -gt 0 ] || continue
	while [ "$(jobs -rp | wc -l)" -ge 2 ]; do wait -n; done
	n=$((n + 1))
	row "$work/$n" "${model%\*}" "$switches" "$result" "$what" >"$work/$n.out" &
done < <(table | grep -F -- "$word" | sed 's/ *| */|/g')
wait

for ((i = 1; i <= n; i++)); do cat "$work/$i.out"; done
passed=$(cat "$work"/*.out | grep -c '^ok ')
echo "$passed passed, $((n - passed)) failed, 0 skipped"
[ "$passed" -eq "$n" ] && [ "$n" -gt 0 ]
