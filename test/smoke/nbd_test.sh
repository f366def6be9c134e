#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A region as a network block device: what nbdcopy, qemu-img and fio write by the plugin stands in the region, what
# stands there they read; parameters that are wrong are refused at the start; a daemon that dies is an error.
. "$(dirname "$0")/lib.sh"
plugin=$WEFT_BUILD/plugins/nbdkit-weft-plugin.so
[ -e "$plugin" ] || skip "the plugin was not built: package nbdkit-plugin-dev is not installed"
for program in nbdkit nbdcopy nbdinfo qemu-img qemu-io; do
	command -v $program >/dev/null || skip "$program is not installed (packages nbdkit, libnbd-bin, qemu-utils)"
done
export XDG_RUNTIME_DIR=$work
unset WEFT_SOCKET
cd "$work"
ctl() { timeout 60 "$app/weftctl" --node h1 mem "$@"; }

# A plugin with sanitizers wants them in the program that loads it, which is not theirs to find leaks in.
nbdkit=(nbdkit)
[ -z "$(sanitizers_of "$plugin")" ] || nbdkit=(env ASAN_OPTIONS=detect_leaks=0
	"LD_PRELOAD=$(sanitizers_of "$plugin")" nbdkit)

cat >"$topology" <<-Y
fabric: nbd
segments:
  - {target: g0}
  - {interleave: {ways: 2, granularity: 1K, targets: [g1, g2]}, size: 8M}
groups:
  - {name: all, ranges: [{gfd: g0, base: 0, size: 4M}, {gfd: g1, base: 0, size: 4M}, {gfd: g2, base: 0, size: 4M}]}
nodes:
  - {name: h0, kind: host, pid: 0x101, access: [all]}
  - {name: h1, kind: host, pid: 0x102, access: [all]}
  - {name: s0, kind: switch, pid: 0x010}
  - {name: g0, kind: gfd, pid: 0x200, memory: 4M}
  - {name: g1, kind: gfd, pid: 0x201, memory: 4M}
  - {name: g2, kind: gfd, pid: 0x202, memory: 4M}
links:
  - {a: h0, b: s0}
  - {a: h1, b: s0}
  - {a: s0, b: g0}
  - {a: s0, b: g1}
  - {a: s0, b: g2}
Y
serve_all

# serve NAME PARAMETER...: a server on a socket of that name; its number is in server
serve() {
	local name=$1
	shift
	"${nbdkit[@]}" -f -U "$work/$name" -P "$work/$name.pid" "$plugin" "$@" 2>"$name.log" &
	server=$!
	pids+=("$server")
	wait_for 10 test -e "$name.pid"
	uri="nbd+unix:///?socket=$work/$name"
}

interleaved=$(ctl list --json | json /dev/stdin "[r['name'] for r in o['regions'] if r['target'] == 'g1'][0]")
head -c 4M /dev/urandom >data

# What is wrong is said at the start, in a line.
bad() {
	local text=$1
	shift
	refuses "$text" "${nbdkit[@]}" -f -U "$work/bad" "$plugin" "$@"
}
bad 'expected region=NAME' node=h0
bad 'expected node= or socket=, got both' node=h0 socket=x region=g0
bad 'node=: expected a name, got "./h0"' node=./h0 region=g0
bad 'region=: expected once, got "g0" and "g1"' node=h0 region=g0 region=g1
bad 'unknown parameter "size"' node=h0 region=g0 size=1M
bad 'h9.sock: no such host' node=h9 region=g0
bad 'knows none of that name' node=h0 region=g9
bad 'expected a part of its 4194304 bytes' node=h0 region=g0:4M+1
bad 'two of several hosts' region=g0
"${nbdkit[@]}" "$plugin" --help | grep -q 'region=NAME' || die "--help does not say the parameters"

serve g0 node=h0 region=g0
nbdinfo --json "$uri" >out
same "what the server offers" "4194304 True True True False 1 4096" "$(json out '" ".join(str(o["exports"][0][k]) for k in
	("export-size", "can_multi_conn", "can_flush", "can_fua", "is_read_only", "block_size_minimum", "block_size_preferred"))')"
for region in g0 "$interleaved"; do
	[ "$region" = g0 ] || serve i region="$region" socket=weft/h0.sock
	ctl fill "$region" 0 4M 0x5a
	timeout 60 nbdcopy --connections=3 --requests=8 data "$uri"
	ctl cmp "$region" 0 data || die "$region: h1 reads something else than nbdcopy wrote"
	timeout 60 nbdcopy "$uri" back
	cmp -n 4M back data || die "$region: nbdcopy reads something else than it wrote"
done
kill -TERM "$server"
wait "$server" || die "nbdkit ended with $?: $(cat i.log)"
uri="nbd+unix:///?socket=$work/g0"

# In the background, where nbdkit is in another folder than it was started in.
background() { # NAME PARAMETER...
	local name=$1
	shift
	"${nbdkit[@]}" -U "$work/$name" -P "$work/$name.pid" "$plugin" region=g0 "$@" 2>"$name.log" || die "nbdkit: $(cat "$name.log")"
	wait_for 10 test -s "$name.pid"
	pids+=("$(cat "$name.pid")")
	same "size by the server $name in the background" 4194304 "$(nbdinfo --size "nbd+unix:///?socket=$work/$name")"
	kill -TERM "$(cat "$name.pid")"
}
background b socket=weft/h0.sock
WEFT_SOCKET=weft/h0.sock background by_environment
WEFT_SOCKET=h0 background by_name
WEFT_SOCKET=no/such background by_parameter node=h0

# Disk images: what is a hole in them is zeros.
{
	head -c 100000 data
	head -c 3000000 /dev/zero
	tail -c 4096 data
} >image
truncate -s 4M image
qemu-img convert -f raw -O qcow2 image image.qcow2
for format in raw qcow2; do
	from=image
	[ $format = raw ] || from=image.qcow2
	ctl load g0 data
	timeout 60 qemu-img convert -n -f $format -O raw $from "$uri"
	ctl cmp g0 0 image || die "qemu-img: a $format image is something else in the region"
done
timeout 60 qemu-img compare -f qcow2 -F raw image.qcow2 "$uri" >out || die "qemu-img compare: $(cat out)"
# Bytes that are no lines
timeout 20 qemu-io -f raw -c 'write -P 0x11 100 1000' -c 'write -z 200 50' -c flush "$uri" >out
ctl cmp g0 0 <(head -c 100 data; head -c 100 /dev/zero | tr '\0' '\21'; head -c 50 /dev/zero
	head -c 850 /dev/zero | tr '\0' '\21'; tail -c +1101 image | head -c 500) || die "writes of parts of lines"

if command -v fio >/dev/null && fio --enghelp | grep -qw nbd; then
	timeout 60 fio --name=nbd --ioengine=nbd --uri="$uri" --rw=randwrite --bs=4k --size=4M --iodepth=16 --verify=crc32c \
		--randseed=$RANDOM >out 2>fio.err || die "fio: $(tail -n 5 out fio.err)"
else
	echo "without fio: it is not installed, or has no engine nbd"
fi

# Of a region that is offered for reading alone nothing changes; a part of one has its own size.
serve part -r node=h1 "region=g0:1M+64K"
same "size of a part" 65536 "$(nbdinfo --size "$uri")"
! timeout 20 qemu-io -f raw -c 'write 0 512' "$uri" >out 2>&1 || die "a region that is read only is written"
kill -TERM "$server"
wait "$server" || die "nbdkit ended with $?: $(cat part.log)"

# The daemon dies: what is open ends with EIO, and so does all behind it.
uri="nbd+unix:///?socket=$work/g0"
yes 'read 0 4M' | head -n 100 | timeout 60 stdbuf -oL qemu-io -f raw "$uri" >reads 2>&1 &
reader=$!
pids+=("$reader")
wait_for 10 grep -q 'read 4194304/4194304' reads
kill -KILL "$daemon"
wait "$daemon" 2>/dev/null || true
wait_for 10 grep -q 'read failed: Input/output error' reads
# That of all reads takes qemu-io 60 ms of a busy machine each, whatever it reads from.
wait "$reader" || true
failed=$(grep -c 'read failed: Input/output error' reads || true)
same "reads that ended" 100 $((failed + $(grep -c 'read 4194304/4194304' reads)))
grep -q 'h0.sock: .*attach again' g0.log || die "the server does not say why: $(tail -n 1 g0.log)"
! timeout 20 nbdinfo "$uri" >out 2>&1 || die "a connection without a daemon"
grep -q 'its daemon has gone' g0.log || die "the server does not say why it takes no connection: $(tail -n 1 g0.log)"
echo "a region is a network block device"
