#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The dmadev driver dma_weft: DPDK's own test of dmadevs over it; the example, which copies files into a region and
# back, against what another host reads and writes there, in both modes; copies beyond the region; a daemon that dies.
. "$(dirname "$0")/lib.sh"
driver=$WEFT_BUILD/drivers/librte_dma_weft.so
[ -e "$driver" ] || skip "skipped: built without the driver dma_weft (usertools/driver-headers.sh)"
export XDG_RUNTIME_DIR=$work
unset WEFT_SOCKET
root=$(cd "$here/../.." && pwd)
cd "$work"
ctl() { timeout 60 "$app/weftctl" --node h1 mem "$@"; }

# A library with sanitizers wants a program that has them, or to be preceded by theirs.
# shellcheck disable=SC2046
$(compiler_of "$driver") -Wall -Wextra -Werror -I"$root/drivers/dma/weft" "$root/examples/dma_copy.c" -o dma_copy \
	$(pkg-config --cflags --libs libdpdk) -L"$WEFT_BUILD/drivers" -lrte_dma_weft \
	-Wl,-rpath,"$WEFT_BUILD/drivers" -Wl,-rpath-link,"$WEFT_BUILD/lib"

cpu=$(sed -n 's/^Cpus_allowed_list:\t\([0-9]*\).*/\1/p' /proc/self/status)
eal=(--no-huge -m 128 --no-pci --no-shconf --lcores "0@$cpu" --log-level 'lib.eal:error')
region=--vdev=dma_weft0,node=h0,region=g0
# copy TRANSFER...: by the example
copy() { timeout 60 ./dma_copy "${eal[@]}" --no-telemetry $region -- "$@"; }

# copy_fails TEXT TRANSFER...: the last line of what it says has that.
copy_fails() {
	local want=$1 status=0
	shift
	copy "$@" >out 2>said || status=$?
	same "status of: $*" 1 $status
	tail -n 1 said | grep -qF -- "$want" || die "$*: did not say \"$want\" but: $(tail -n 3 said)"
}

# serve MODE: a daemon that has all of a fabric
serve() {
	cat >"$topology" <<-Y
	fabric: dma
	mode: $1
	nodes:
	  - {name: h0, kind: host, pid: 0x101}
	  - {name: h1, kind: host, pid: 0x102}
	  - {name: s0, kind: switch, pid: 0x010}
	  - {name: g0, kind: gfd, pid: 0x200, memory: 4M}
	links:
	  - {a: h0, b: s0, driver: ring}
	  - {a: h1, b: s0, driver: ring}
	  - {a: s0, b: g0, driver: ring}
	Y
	serve_all
}

# DPDK's test, over a device that has no region and one that has.
autotest() {
	local d=$driver path=$WEFT_BUILD n status=0
	# EAL takes no file from below a folder that everybody may write to, but names.
	while [ "$path" != / ]; do
		[ -z "$(find "$path" -maxdepth 0 -perm -o=w)" ] || d=${driver##*/}
		path=$(dirname "$path")
	done
	DPDK_TEST=dmadev_autotest LD_PRELOAD="$(sanitizers_of "$driver")" ASAN_OPTIONS=detect_leaks=0 \
		LD_LIBRARY_PATH="$WEFT_BUILD/drivers:$WEFT_BUILD/lib" timeout 60 dpdk-test "${eal[@]}" -d "$d" $region \
		--vdev=dma_weft1 </dev/null >autotest.raw 2>&1 || status=$?
	tr '\r' '\n' <autotest.raw >autotest.log
	if grep -q 'Command not found\|Test not found' autotest.log; then
		why="skipped, but for the rest: dpdk-test has no dmadev_autotest"
		return
	fi
	same "status of dpdk-test" 0 $status
	grep -q '^Test OK' autotest.log || die "dmadev_autotest fails"
	for n in 0 1; do
		grep -q "^### Test dmadev instance $n \[dma_weft$n\]" autotest.log || die "dma_weft$n was not tested"
		for word in copy 'burst capacity' 'error handling' fill; do
			grep -q "^DMA Dev $n: Running $word Tests" autotest.log || die "dma_weft$n: no test of $word"
		done
	done
}

# random SEED: the arguments of transfers, and in folder r what they put, what they are to get, and what the region
# holds after them (data at first).
random() {
	mkdir -p r
	/usr/bin/python3 -S - "$1" <<-'P'
		import random, sys
		r = random.Random(int(sys.argv[1]))
		model = bytearray(open("data", "rb").read())
		words = []
		for i in range(60):
		    size = min(r.choice((1, 63, 64, 65, 5000, 70000, 400000)) + r.randrange(9), len(model))
		    at = r.randrange(len(model) - size + 1)
		    if r.randrange(2):
		        model[at:at + size] = r.randbytes(size)
		        open(f"r/put{i}", "wb").write(model[at:at + size])
		        words += ["put", f"r/put{i}", str(at)]
		    else:
		        open(f"r/want{i}", "wb").write(model[at:at + size])
		        words += ["get", f"r/got{i}", str(at), str(size)]
		open("model", "wb").write(model)
		print(*words)
	P
}

why=
head -c 4M /dev/urandom >data
head -c 64 /dev/urandom >mark
for mode in rxl cxl; do
	serve $mode
	seed=$RANDOM
	echo "$mode: seed $seed"
	if ! command -v dpdk-test >/dev/null; then
		why="skipped, but for the rest: dmadev_autotest needs dpdk-test (package dpdk-dev)"
	elif [ $mode = rxl ]; then
		autotest
	fi
	ctl load g0 data
	# shellcheck disable=SC2046
	copy $(random $seed) >out 2>said || die "$mode: $(tail -n 3 said)"
	ctl dump g0 dumped
	cmp dumped model || die "$mode: h1 reads something else than was copied there"
	for want in r/want*; do
		cmp "$want" "r/got${want#r/want}" || die "$mode: $want is not what was copied back"
	done
	rm -r r

	copy_fails "invalid destination" put mark $(((4 << 20) - 63))
	copy_fails "invalid destination" put mark 4M
	copy_fails "expected put FILE OFFSET" put mark 18446744073709551615
	copy_fails "expected put FILE OFFSET" get out 5M 1
	copy_fails "expected put FILE OFFSET" get out 0 18446744073709551615
	copy_fails "invalid source" get out $(((4 << 20) - 63)) 64
	ctl cmp g0 0 model || die "$mode: a copy beyond the region changed it"

	# It is killed once a copy has been seen in the region, with hundreds to come.
	words=(put mark 0)
	for _ in $(seq 300); do
		words+=(put part 64)
	done
	head -c 4000000 data >part
	copy "${words[@]}" >out 2>said &
	copier=$!
	pids+=("$copier")
	wait_for 20 ctl cmp g0 0 mark
	kill -KILL "$daemon"
	wait "$daemon" 2>/dev/null || true
	status=0
	wait $copier || status=$?
	same "$mode: status when the daemon dies" 1 $status
	tail -n 1 said | grep -q "the daemon left" || die "$mode: when the daemon dies: $(tail -n 3 said)"
	copy_fails "no device with a region" put mark 0
	same "$mode: lines of the driver without a daemon" 1 "$(grep -c '^dma_weft: dma_weft0: ' said)"
done
[ -z "$why" ] || skip "$why"
echo "a DMA device copies to and from a fabric"
