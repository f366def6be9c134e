#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Boot Linux guests whose CXL memory is fabric memory: QEMU (TCG, no KVM needed) with Type-3 devices over
# files of weft-fuse, one host of the fabric a guest. Each guest makes a region of its device, stores and
# loads through devdax, and another host compares. doc/guest.md is the guide. Safe to repeat.
set -u
self=$(readlink -f "$0")
cd "$(dirname "$self")/.." || exit 1
. usertools/packages.sh
. usertools/build.sh

usage() {
	cat <<-U
	usage: usertools/guest-demo.sh [--guests 1|2] [--seconds N] [--no-install]

	  --guests N     1: a guest, its memory behind two switches, compared from another host;
	                 2: two guests on two hosts: memory of their own, and a region that both see
	  --seconds N    how long a guest may take to boot, and for each step (default 300)
	  --no-install   end with status 77 if a package or the guests' kernel is not there
	U
}

guests=1 seconds=300 install=1
while [ $# -gt 0 ]; do
	case $1 in
	--guests)
		guests=${2:-}
		[ $# -lt 2 ] || shift
		case $guests in
		1 | 2) ;;
		*)
			echo "guest-demo.sh: --guests: expected 1 or 2, got \"$guests\"" >&2
			exit 2
			;;
		esac
		;;
	--seconds)
		seconds=${2:-}
		[ $# -lt 2 ] || shift
		[[ $seconds =~ ^[1-9][0-9]{0,4}$ ]] || {
			echo "guest-demo.sh: --seconds: expected 1 to 99999, got \"$seconds\"" >&2
			exit 2
		}
		;;
	--no-install) install=0 ;;
	-h | --help)
		usage
		exit 0
		;;
	*)
		echo "guest-demo.sh: unknown option \"$1\"; --help shows what there is" >&2
		exit 2
		;;
	esac
	shift
done

packages="qemu-system-x86 busybox-static ndctl kmod cpio fuse3 gcc libc6-dev"
build=${WEFT_BUILD:-build-release}
image=${WEFT_GUEST_DIR:-build-guest} # kernel, modules and programs of the guests; stays
size=256M # a CXL device has a multiple of it
work=$(mktemp -d)
pids=() mounts=()

finish() {
	trap - EXIT INT TERM
	for pid in "${pids[@]:-}"; do
		[ -n "$pid" ] && kill -KILL "$pid" 2>/dev/null && wait "$pid" 2>/dev/null
	done
	for mount in "${mounts[@]:-}"; do
		[ -n "$mount" ] && fusermount3 -uqz "$mount" 2>/dev/null
	done
	rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT TERM

title() { printf '\n\033[1m%s\033[0m\n' "$*"; }

fail() {
	echo "guest-demo.sh: $*" >&2
	exit 1
}

skip() {
	echo "$*"
	exit 77
}

# --- what is needed ---

kernel_package() {
	apt-cache depends linux-image-cloud-amd64 2>/dev/null | sed -n 's/^ *Depends: \(linux-image-.*\)$/\1/p' | head -n 1
}

# The kernel is unpacked and not installed: this machine keeps its own.
unpack_kernel() {
	local package
	[ ! -f "$image/vmlinuz" ] || return 0
	[ "$install" -eq 1 ] || skip "no kernel for guests in $image/: usertools/guest-demo.sh fetches one"
	package=$(kernel_package)
	[ -n "$package" ] || fail "apt knows no linux-image-cloud-amd64: run apt-get update"
	mkdir -p "$image/deb" && (cd "$image/deb" && apt-get -q download "$package" >log 2>&1) ||
		fail "$package could not be fetched: $(tail -n 1 "$image/deb/log" 2>/dev/null)"
	dpkg-deb -x "$image"/deb/linux-image-*.deb "$image/kernel" || fail "$package could not be unpacked"
	cp "$image"/kernel/boot/vmlinuz-* "$image/vmlinuz.new" && mv "$image/vmlinuz.new" "$image/vmlinuz"
	rm -rf "$image/deb"
}

# with_libraries FILE ROOT: copy a program and what it is linked with.
with_libraries() {
	local library
	cp "$1" "$2/bin/"
	ldd "$1" | grep -o '/[^ ]*' | while read -r library; do
		mkdir -p "$2$(dirname "$library")" && cp -L "$library" "$2$library"
	done
}

# What a guest boots: busybox, cxl, ndctl, the modules of CXL memory, and init.
make_initrd() {
	local root=$work/root version modules module
	version=$(basename "$image"/kernel/lib/modules/*)
	modules=lib/modules/$version
	mkdir -p "$root/bin" "$root/$modules/kernel/drivers"
	cp /bin/busybox "$root/bin/" && with_libraries "$(command -v cxl)" "$root" &&
		with_libraries "$(command -v ndctl)" "$root" || fail "programs for the guest are missing"
	gcc -O2 -static -o "$root/bin/pattern" usertools/guest/pattern.c || fail "pattern.c does not compile"
	for module in cxl dax nvdimm; do
		cp -r "$image/kernel/$modules/kernel/drivers/$module" "$root/$modules/kernel/drivers/"
	done
	cp "$image/kernel/$modules"/modules.{order,builtin,builtin.modinfo} "$root/$modules/"
	depmod -b "$root" "$version" || fail "depmod fails"
	cp usertools/guest/init "$root/init"
	(cd "$root" && find . | cpio -o -H newc --quiet | gzip -1) >"$work/initrd" || fail "cpio fails"
}

# --- the fabric ---

topology_one() {
	cat <<-Y
	fabric: guest
	mode: rxl
	nodes:
	  - {name: h0, kind: host, pid: 0x101}
	  - {name: h1, kind: host, pid: 0x102}
	  - {name: s0, kind: switch, pid: 0x010}
	  - {name: s1, kind: switch, pid: 0x011}
	  - {name: mem0, kind: gfd, pid: 0x200, memory: $size}
	links:
	  - {a: h0, b: s0}
	  - {a: h1, b: s1}
	  - {a: s0, b: s1}
	  - {a: s1, b: mem0}
	Y
}

# A host has memory of its own, which the other may not reach, and both have the same third device.
topology_two() {
	cat <<-Y
	fabric: guests
	mode: rxl
	groups:
	  - {name: of0, ranges: [{gfd: mem0}]}
	  - {name: of1, ranges: [{gfd: mem1}]}
	  - {name: both, ranges: [{gfd: shared}]}
	nodes:
	  - {name: h0, kind: host, pid: 0x101, access: [of0, both]}
	  - {name: h1, kind: host, pid: 0x102, access: [of1, both]}
	  - {name: s0, kind: switch, pid: 0x010}
	  - {name: s1, kind: switch, pid: 0x011}
	  - {name: mem0, kind: gfd, pid: 0x200, memory: $size}
	  - {name: mem1, kind: gfd, pid: 0x201, memory: $size}
	  - {name: shared, kind: gfd, pid: 0x202, memory: $size}
	links:
	  - {a: h0, b: s0}
	  - {a: h1, b: s1}
	  - {a: s0, b: s1}
	  - {a: s0, b: mem0}
	  - {a: s1, b: mem1}
	  - {a: s1, b: shared}
	Y
}

# until COMMAND...: repeat it until it succeeds; fails when time is up.
until_true() {
	local end=$((SECONDS + seconds))
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.1
	done
}

start_fabric() {
	local host
	echo "\$ weftd --topology fabric.yaml --idle yield &"
	"$build/app/weftd" --topology "$work/fabric.yaml" --idle yield >"$work/weftd.log" 2>&1 &
	pids+=($!)
	for host in h0 h1; do
		until_true "$build/app/weftctl" --node $host mem list ||
			fail "the fabric does not come up: $(tail -n 1 "$work/weftd.log")"
		mkdir "$work/$host"
		echo "\$ weft-fuse --node $host $host"
		"$build/app/weft-fuse" --node $host -f "$work/$host" >"$work/fuse-$host.log" 2>&1 &
		pids+=($!)
		mounts+=("$work/$host")
		until_true test -f "$work/$host/regions.json" ||
			fail "weft-fuse does not come up: $(tail -n 1 "$work/fuse-$host.log")"
	done
}

# --- guests ---

# boot GUEST FILE...: a guest with a CXL device for each file, serial numbers from 1 on. A host bridge of QEMU 7.2
# decodes one region, so each has its own, with a window; and below a lone root port stores are lost, so there are
# two.
boot() {
	local guest=$1 i=0 machine=q35,cxl=on devices=()
	shift
	mkfifo "$work/ask$guest.in" "$work/ask$guest.out"
	for file in "$@"; do
		machine+=",cxl-fmw.$i.targets.0=bridge$i,cxl-fmw.$i.size=1G"
		devices+=(-object "memory-backend-file,id=mem$i,share=on,mem-path=$file,size=$size"
			-object "memory-backend-ram,id=label$i,size=256K"
			-device "pxb-cxl,bus_nr=$((i * 16 + 16)),bus=pcie.0,id=bridge$i"
			-device "cxl-rp,port=0,bus=bridge$i,id=port$i,chassis=$i,slot=2"
			-device "cxl-rp,port=1,bus=bridge$i,id=spare$i,chassis=$i,slot=3"
			-device "cxl-type3,bus=port$i,memdev=mem$i,lsa=label$i,id=cxl$i,sn=$((i + 1))")
		i=$((i + 1))
	done
	qemu-system-x86_64 -accel tcg -cpu max -machine "$machine" -m 512M -smp 1 -nodefaults -display none \
		-no-reboot -kernel "$image/vmlinuz" -initrd "$work/initrd" \
		-append "console=ttyS0 quiet no_timer_check panic=-1" \
		-serial "file:$work/guest$guest.log" -serial "pipe:$work/ask$guest" "${devices[@]}" \
		>"$work/qemu$guest.log" 2>&1 &
	pids+=($!)
	exec {ask[$guest]}<>"$work/ask$guest.in" {hear[$guest]}<>"$work/ask$guest.out"
}

# answer GUEST: wait for its answer, in $said; fails by a line if it is no "ok".
answer() {
	said=""
	while read -r -t "$seconds" said <&"${hear[$1]}"; do
		said=${said%$'\r'}
		case $said in
		ok*)
			said=${said#ok}
			said=${said# }
			return 0
			;;
		failed*) fail "guest $1: $said" ;;
		esac
	done
	tail -n 5 "$work/qemu$1.log" "$work/guest$1.log" >&2
	fail "guest $1 said nothing for $seconds s"
}

# guest GUEST COMMAND...: have a guest do something.
guest() {
	local number=$1
	shift
	echo "guest $number# $*"
	echo "$*" >&"${ask[$number]}"
	answer "$number"
	echo "  $said"
}

# region GUEST NUMBER: of its first or second device; the device in $dax, where its first byte is in $at.
region() {
	guest "$1" region "$2"
	read -r dax at <<<"$said"
}

# What a guest has stored is in pages of its host's; this brings it into the fabric.
bring() {
	echo "\$ sync $1"
	sync "$work/$1" || fail "sync fails"
}

# What a host has in pages is dropped by the next open.
drop() {
	echo "\$ head -c 0 $1"
	head -c 0 "$work/$1" || fail "$1 can't be opened"
}

# want SIZE SEED: the file want, with a pattern.
want() {
	truncate -s 0 "$work/want" && truncate -s "$1" "$work/want" &&
		"$work/root/bin/pattern" write "$work/want" 0 "$1" "$2" >"$work/said" || fail "$(cat "$work/said")"
}

# same HOST REGION OFFSET SIZE SEED: compare fabric memory with the pattern, as another host sees it.
same() {
	want "$4" "$5"
	echo "\$ weftctl --node $1 mem cmp $2 $3 want"
	"$build/app/weftctl" --node "$1" mem cmp "$2" "$3" "$work/want" ||
		fail "what $1 sees at $2 is not what was stored"
	echo "  equal, $4 bytes"
}

demo_one() {
	title "A guest on h0, its CXL memory behind two switches"
	boot 0 "$work/h0/mem0"
	answer 0
	guest 0 list
	region 0 1
	guest 0 pattern write "/dev/$dax" 0 262144 7
	bring h0/mem0
	title "The same memory from h1"
	same h1 mem0 "$at" 262144 7
	title "What h1 writes, read by the guest"
	want 65536 9
	echo "\$ weftctl --node h1 mem write mem0 $((at + 1048576)) --file want"
	"$build/app/weftctl" --node h1 mem write mem0 $((at + 1048576)) --file "$work/want" ||
		fail "h1 can't write"
	drop h0/mem0
	guest 0 pattern check "/dev/$dax" 1048576 65536 9
}

demo_two() {
	local number other
	title "Two guests, on h0 and h1: memory of their own"
	boot 0 "$work/h0/mem0" "$work/h0/shared"
	boot 1 "$work/h1/mem1" "$work/h1/shared"
	for number in 0 1; do
		answer $number
		guest $number list
		region $number 1
		guest $number pattern write "/dev/$dax" 0 65536 $((10 + number))
		bring h$number/mem$number
		same h$number mem$number "$at" 65536 $((10 + number))
		other=$((1 - number))
		echo "\$ weftctl --node h$other mem read mem$number 0 64"
		! "$build/app/weftctl" --node h$other mem read mem$number 0 64 || fail "h$other reaches mem$number"
	done
	title "A region that both see"
	for number in 0 1; do
		region $number 2
		shared[$number]=$dax
	done
	for number in 0 1; do
		other=$((1 - number))
		guest $number pattern write "/dev/${shared[$number]}" $((number * 65536)) 65536 $((20 + number))
		bring h$number/shared
		drop h$other/shared
		guest $other pattern check "/dev/${shared[$other]}" $((number * 65536)) 65536 $((20 + number))
	done
}

# --- the run ---

title "Packages, build and the guests' kernel"
if [ "$install" -eq 1 ]; then
	# shellcheck disable=SC2086
	weft_install $packages || fail "packages could not be installed"
else
	# shellcheck disable=SC2086
	missing=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' $packages 2>/dev/null |
		sed -n 's/^installed //p' | sort | comm -13 - <(printf '%s\n' $packages | sort) | paste -sd ' ')
	[ -z "$missing" ] || skip "packages are missing: $missing"
fi
if [ -z "${WEFT_BUILD:-}" ]; then
	# shellcheck disable=SC2086
	weft_install $WEFT_BUILD_PACKAGES libfuse3-dev || fail "packages could not be installed"
	headers=$(weft_driver_headers "$build" build-driver-headers) || headers=""
	weft_build "$build" gcc "${WEFT_RELEASE_OPTIONS[@]}" -Ddpdk_driver_headers="$headers" programs ||
		fail "$build/ could not be built"
fi
if [ ! -x "$build/app/weft-fuse" ]; then
	[ "$install" -eq 1 ] || skip "$build/app/weft-fuse is not built: it needs libfuse3-dev"
	fail "$build/app/weft-fuse is not built: it needs libfuse3-dev"
fi
[ -w /dev/fuse ] || skip "/dev/fuse is not there, or not this user's to open"
unpack_kernel
make_initrd
ls -sh "$image/vmlinuz" "$work/initrd" | sed "s|$work/||"

export XDG_RUNTIME_DIR=$work
shared=() ask=() hear=()
title "A fabric of two hosts and two switches"
if [ "$guests" -eq 1 ]; then
	topology_one >"$work/fabric.yaml"
else
	topology_two >"$work/fabric.yaml"
fi
cat "$work/fabric.yaml"
start_fabric
if [ "$guests" -eq 1 ]; then
	demo_one
else
	demo_two
fi
for number in "${!ask[@]}"; do
	echo "off" >&"${ask[$number]}"
done
title "All of it was as it should be."
