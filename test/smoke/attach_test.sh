#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Programs on the fabric: one host's writes are read by another, by a program that knows nothing but
# weft.h and libweft; pointers into it; sockets and their users; rights that change; a GFD that comes back empty; a
# daemon that is killed and comes back.
. "$(dirname "$0")/lib.sh"
export XDG_RUNTIME_DIR=$work/run
mkdir -m 700 "$work/run"
unset WEFT_SOCKET

fabric() { # fabric FILE [KEYS]: two hosts, a GFD
	cat >"$1" <<-Y
	fabric: attach
	${2:-}
	nodes:
	  - {name: h0, kind: host, pid: 0x101}
	  - {name: h1, kind: host, pid: 0x102}
	  - {name: s0, kind: switch, pid: 0x010}
	  - {name: g0, kind: gfd, pid: 0x200, memory: 1M}
	links:
	  - {a: h0, b: s0}
	  - {a: h1, b: s0}
	  - {a: s0, b: g0}
	Y
}

begin() { # begin NAME ARGUMENT...: a daemon, until its hosts are served
	local name=$1
	shift
	"$app/weftd" "$@" >"$work/$name.text" 2>"$work/$name.events" &
	pids+=($!)
	daemon=$!
	for _ in $(seq 200); do
		! grep -q '^weftd: ' "$work/$name.text" || return 0
		sleep 0.05
	done
	die "$name did not start: $(cat "$work/$name.text" "$work/$name.events")"
}

end() { # end: the daemon that began last
	kill -TERM "$daemon"
	wait "$daemon" || die "weftd ended with status $?"
}

root=$(dirname "$0")/../..
read_write=$work/read_write
# A library with sanitizers wants a program that has them.
mapped=$work/mapped
for program in examples/read_write examples/mapped; do
	$(compiler_of "$WEFT_BUILD/lib/libweft.so.0") -Wall -Wextra -Werror -I"$root/lib/client" "$root/$program.c" -o "$work/${program#*/}" \
		-L"$WEFT_BUILD/lib" -lweft -Wl,-rpath,"$WEFT_BUILD/lib"
done

for mode in rxl cxl; do
	fabric "$work/f.yaml" "mode: $mode"
	begin $mode --topology "$work/f.yaml"
	grep -q "^host h0: programs attach at $work/run/weft/h0.sock" "$work/$mode.text" || die "the socket is not said"
	same "mode of a socket" 600 "$(stat -c %a "$work/run/weft/h0.sock")"
	same "$mode: written and read back" "to all of you" "$("$read_write" h0 g0 100 "to all of you")"
	same "$mode: read by another host" "to all of you" "$("$read_write" h1 g0 100)"
	same "$mode: by a part" "to all of you" "$("$read_write" h1 g0:100+1K 0)"
	# No number is of base 8.
	misused 'expected NAME or NAME:OFFSET+SIZE' "$app/weftctl" --node h0 mem read g0:0640+1M 0 1
	head -c 300000 /dev/urandom >"$work/data"
	"$app/weftctl" --node h0 mem write g0 77 --file "$work/data"
	"$app/weftctl" --node h1 mem cmp g0 77 "$work/data" || die "$mode: what h0 wrote h1 does not read"
	"$app/weftctl" --node h1 mem fill g0 1000 1 0x5a
	status=0
	"$app/weftctl" --node h0 mem cmp g0 77 "$work/data" >"$work/out" 2>&1 || status=$?
	same "$mode: a byte that differs" 1 $status
	same "$mode: the list" "g0 1048576 rw" "$("$app/weftctl" --node h0 mem list --json >"$work/l.json" &&
		json "$work/l.json" '" ".join(str(o["regions"][0][k]) for k in ("name", "size", "rights"))')"
	# By pointers: 480 KB, which code that knows nothing of Weft sorts.
	misused "usage: mapped" "$mapped" h0 g0 fill 60000x
	"$mapped" h0 g0 fill 60000
	before=$("$mapped" h1 g0 show 60000)
	"$mapped" h1 g0:0+480000 sort 60000
	after=$("$mapped" h0 g0 show 60000)
	same "$mode: sorted" "ascending" "${after##*, }"
	same "$mode: not before" "in no order" "${before##*, }"
	same "$mode: the same numbers" "$(sed 's/.*sum \([^,]*\),.*/\1/' <<<"$before")" \
		"$(sed 's/.*sum \([^,]*\),.*/\1/' <<<"$after")"
	"$app/weftctl" --node h0 mem read g0 0 480000 --out "$work/sorted"
	same "$mode: what a map stored others read" "$(sed 's/.*numbers, \([^ ]*\) to.*/\1/' <<<"$after")" \
		"$(od -An -v -tx8 -N8 "$work/sorted" | tr -d ' ')"
	end
	[ ! -e "$work/run/weft/h0.sock" ] || die "a socket is left"
done

says() { # says WHAT TEXT COMMAND...: it fails with a line that has the text
	local what=$1 text=$2
	shift 2
	! "$@" >"$work/out" 2>&1 || die "$what: succeeded"
	same "$what: lines" 1 "$(wc -l <"$work/out")"
	grep -qF -- "$text" "$work/out" || die "$what: expected $text, got $(cat "$work/out")"
}

fabric "$work/f.yaml"
says "no daemon" "start weftd" "$read_write" h0 g0 0
begin one --topology "$work/f.yaml"
says "no such host" "no such host" "$read_write" h7 g0 0
says "no such region" "host h0 knows none of that name" "$read_write" h0 g7 0
says "no part" "expected NAME or NAME:OFFSET+SIZE" "$read_write" h0 g0:1 0
says "beyond" "expected a part of its 1048576 bytes" "$read_write" h0 g0:1M+1 0
says "beyond the end" "expected 1 byte or more, within its 0x100000 bytes" "$read_write" h0 g0 0xffff0

# Another daemon with a host of that name goes without its socket, and takes nothing away.
fabric "$work/g.yaml"
"$app/weftd" --topology "$work/g.yaml" --seconds 0.2 >"$work/other.text" 2>&1
grep -q '^host h0: no program can attach: .*another daemon serves this name' "$work/other.text" ||
	die "the other daemon does not say that it has no socket"
same "still there" "here" "$("$read_write" h0 g0 0 here)"

# Killed, its sockets stay; the next one takes them.
kill -KILL "$daemon"
wait "$daemon" 2>/dev/null || true
says "a daemon that was killed" "its daemon has gone" "$read_write" h0 g0 0
begin again --topology "$work/f.yaml"
same "after that" "back" "$("$read_write" h0 g0 0 back)"
end

# Rights: what a host loses by SIGHUP it can't open; others go on.
rights() { # rights ACCESS-OF-H1
	cat >"$work/r.yaml" <<-Y
	fabric: rights
	groups:
	  - {name: both, ranges: [{gfd: g0, base: 0, size: 512K}]}
	  - {name: first, ranges: [{gfd: g0, base: 512K, size: 512K}]}
	nodes:
	  - {name: h0, kind: host, pid: 0x101, access: [both, first]}
	  - {name: h1, kind: host, pid: 0x102, access: [$1]}
	  - {name: s0, kind: switch, pid: 0x010}
	  - {name: g0, kind: gfd, pid: 0x200, memory: 1M}
	links:
	  - {a: h0, b: s0}
	  - {a: h1, b: s0}
	  - {a: s0, b: g0}
	Y
}
rights "both, first"
begin rights --topology "$work/r.yaml"
same "before" "mine" "$("$read_write" h1 g0 0x90000 mine)"
rights both
kill -HUP "$daemon"
for _ in $(seq 100); do
	! grep -q '^tables: changed' "$work/rights.text" || break
	sleep 0.05
done
says "a region that is not open whole" "not all of it is open to h1" "$read_write" h1 g0 0x90000
same "what is open" "ours" "$("$read_write" h1 g0:0+512K 0 ours)"
same "another host" "mine" "$("$read_write" h0 g0 0x90000)"
end
echo "programs use the fabric"
