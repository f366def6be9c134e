#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Servers whose topology files differ in mode or in a PID: whoever asks hears which word it is, through a
# switch too, and who was asked says it as well.
. "$(dirname "$0")/lib.sh"
export XDG_RUNTIME_DIR=$work

# file NAME MODE GFD_PID [switch]: a fabric of one host and one GFD.
file() {
	cat >"$work/$1.yaml" <<-Y
	fabric: misfit
	mode: $2
	workloads:
	  - {on: h0, kind: mem, requests: 100, lines: 256}
	nodes:
	  - {name: h0, kind: host, pid: 0x101}
	  - {name: g0, kind: gfd, pid: $3, memory: 1M}
	$([ -z "${4:-}" ] || echo "  - {name: s0, kind: switch, pid: 0x010}")
	links:
	$(if [ -z "${4:-}" ]; then
		echo "  - {a: h0, b: g0, driver: memif}"
	else
		echo "  - {a: h0, b: s0, driver: memif}"
		echo "  - {a: s0, b: g0, driver: memif}"
	fi)
	Y
}

# differ WHAT HOST_FILE OTHERS... -- TEXT NODE SAID: the host runs with one file, each NODE=FILE of the others
# with its own; the host ends with TEXT, and NODE says SAID.
differ() {
	local what=$1 host=$2 other status=0
	shift 2
	rm -f "$work"/*.log
	while [ "$1" != -- ]; do
		other=${1%%=*}
		topology=$work/${1#*=}.yaml
		start "$other"
		shift
	done
	timeout -k 2 30 "$app/weftd" --topology "$work/$host.yaml" --node h0 --until-done --quiet >"$work/h0.log" 2>&1 || status=$?
	same "$what: the host's status" 1 "$status"
	grep -qF -- "$2" "$work/h0.log" || die "$what: h0 did not say \"$2\" but: $(cat "$work/h0.log")"
	[ "$(wc -l <"$work/h0.log")" -eq 1 ] || die "$what: h0 said more than one line: $(cat "$work/h0.log")"
	kill -TERM "${pids[@]}" 2>/dev/null || true # one that was refused has ended
	wait "${pids[@]}" || true
	pids=()
	grep -qF -- "$4" "$work/$3.log" || die "$what: $3 did not say \"$4\" but: $(cat "$work/$3.log")"
}

file rxl rxl 0x200
file cxl cxl 0x200
file other rxl 0x201
differ "mode" rxl g0=cxl -- "g0 refuses: mode is cxl there, rxl here" g0 "in mode rxl; this file says cxl"
differ "mode, the other way" cxl g0=rxl -- "g0 refuses: mode is rxl there, cxl here" g0 "in mode cxl; this file says rxl"
differ "PID" other g0=rxl -- "g0 knows nobody with PID 0x201, which is g0 here" g0 "asks for PID 0x201"

# A GFD that comes, or comes back, with another file is refused, and the host waits for the right one.
rm -f "$work"/*.log
sed -i 's/requests: 100/requests: 0/' "$work/rxl.yaml"
topology=$work/cxl.yaml
start g0
topology=$work/rxl.yaml
start h0
wait_for 20 grep -q 'node h0: g0 refuses: mode is cxl there, rxl here' "$work/h0.log"
kill -TERM "$pid_g0"
wait "$pid_g0" || true
start g0
wait_for 20 has_read h0 "$pid_h0" 100
: >"$work/h0.log"
kill -TERM "$pid_g0"
wait "$pid_g0" || true
topology=$work/cxl.yaml
start g0
wait_for 20 grep -q 'node h0: g0 refuses: mode is cxl there, rxl here' "$work/h0.log"
kill -TERM "$pid_g0"
wait "$pid_g0" || true
topology=$work/rxl.yaml
start g0
reads=$(reads_done h0 "$pid_h0")
wait_for 20 has_read h0 "$pid_h0" $((reads + 100))
kill -TERM "$pid_h0" "$pid_g0"
wait "$pid_h0" "$pid_g0" || true
pids=()

file s-rxl rxl 0x200 switch
file s-cxl cxl 0x200 switch
file s-other rxl 0x201 switch
differ "mode behind a switch" s-rxl s0=s-rxl g0=s-cxl -- "g0 refuses: mode is cxl there, rxl here" g0 "in mode rxl"
differ "mode of the switch" s-rxl s0=s-cxl g0=s-rxl -- "s0 refuses: mode is cxl there, rxl here" s0 "in mode rxl"
differ "PID at the switch" s-other s0=s-rxl g0=s-rxl -- "s0 knows nobody with PID 0x201" s0 "asks for PID 0x201"
differ "PID behind the switch" s-other s0=s-other g0=s-rxl -- "g0 knows nobody with PID 0x201" g0 "asks for PID 0x201"
file s-hbr cxl 0x200 switch
sed 's/^mode:/defaults: {link_form: pbr}\n&/' "$work/s-hbr.yaml" >"$work/s-pbr.yaml"
differ "form" s-hbr s0=s-pbr g0=s-hbr -- "s0 refuses: link form is pbr there, hbr here" s0 "port s0.0"

# A link whose ends differ in what they say of themselves, or in the key: the end that is asked says it as well, and
# nobody else is disturbed.
for key in a b; do (umask 077 && printf '%064d\n' $((0x$key)) >"$work/$key.key"); done
two() { # NAME KEY CRC_ORDER
	cat >"$work/$1.yaml" <<-Y
	fabric: misfit
	mode: cxl
	defaults: {crc_order: $3}
	ide: {mode: skid, key_file: $work/$2.key}
	nodes:
	  - {name: s0, kind: switch, pid: 0x010}
	  - {name: g0, kind: gfd, pid: 0x200, memory: 1M}
	  - {name: g1, kind: gfd, pid: 0x201, memory: 1M}
	links:
	  - {a: s0, b: g0, driver: memif}
	  - {a: s0, b: g1, driver: memif}
	Y
	topology=$work/$1.yaml
}
rm -f "$work"/*.log
two right a r0
start s0
two key b r0
start g0
two order a r7
start g1
wait_for 30 grep -q 'g0 has another pre-shared key than ide.key_file here' "$work/s0.log"
wait_for 30 grep -q 'no link g0.0 to s0 .*: s0 asks, and takes no answer, as with another pre-shared key' "$work/g0.log"
wait_for 30 grep -q 'g1 refuses: CRC order is r7 first there, r0 first here' "$work/s0.log"
wait_for 30 grep -q 'node g1: s0 is refused: CRC order is r0 first there, r7 first here' "$work/g1.log"
same "lines of g1" 1 "$(grep -c refused "$work/g1.log")"
kill -TERM "${pids[@]}"
wait "${pids[@]}" || true
pids=()
echo "whoever has another file than the rest hears which word differs"
