#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What meson install leaves: all of it is there and nothing knows where it was built; libweft has the calls of its map
# and no others; each example builds with pkg-config alone, without a warning, and does what it says against the daemon
# that was installed.
. "$(dirname "$0")/lib.sh"
for program in meson pkg-config cc readelf; do
	command -v $program >/dev/null || skip "$program is not installed"
done
export XDG_RUNTIME_DIR=$work
unset WEFT_SOCKET
tree=$(cd "$here/../.." && pwd)
cd "$work"

# --- files ---

root=$work/root
meson install -C "$WEFT_BUILD" --no-rebuild --quiet --strip --destdir "$root" >install.log 2>&1 || die "meson install: $(tail -n 3 install.log)"
lib=$(dirname "$(dirname "$(find "$root" -name weft.pc)")")
prefix=$root$(sed -n 's/^prefix=//p' "$lib/pkgconfig/weft.pc")
bin=$prefix/bin
export LD_LIBRARY_PATH=$lib

has() {
	local file
	for file in "$@"; do
		[ -s "$file" ] || die "not installed: ${file#"$root"}"
	done
}
has "$prefix/include/weft.h" "$prefix/include/weft/"weft_{codec,flit,wire,pcap,ide,sig}.h "$lib/libweft.so" "$lib/libweft.so.0" \
	"$lib/libweft-proto.a" "$lib/pkgconfig/"weft{,-proto}.pc
same "the vectors" "134 passed, 0 failed" "$("$prefix/share/weft/vectors/check.py")"
same "the schema" "" "$("$bin/weftd" --schema | cmp - "$prefix/share/weft/topology-schema.json" 2>&1)"
same "the dissector" "" "$(cmp "$tree/usertools/weft.lua" "$lib/wireshark/plugins/weft.lua" 2>&1)"
n=0
for program in "$app"/weft*; do
	[[ -x $program && ! -d $program ]] || continue
	n=$((n + 1))
	name=${program##*/}
	has "$bin/$name" "$prefix/share/man/man1/$name.1" "$prefix/share/bash-completion/completions/$name.bash"
	"$bin/$name" --help | grep -q "^usage: $name\|^$name" || die "$name --help: $("$bin/$name" --help | head -n 1)"
	bash -n "$prefix/share/bash-completion/completions/$name.bash"
	head -n 1 "$prefix/share/man/man1/$name.1" | grep -q "^\\.TH \"$name\" 1" || die "the page of $name is none"
done
[ $n -ge 7 ] || die "$n programs are installed"
plugin=$lib/nbdkit/plugins/nbdkit-weft-plugin.so
if [ -e "$WEFT_BUILD/plugins/${plugin##*/}" ]; then
	has "$plugin"
	! command -v nbdkit >/dev/null || nbdkit "$plugin" --help | grep -q 'region=NAME' || die "nbdkit does not load the plugin"
fi

# Debug information says where sources are, in a library that is not stripped.
strip -g "$lib/libweft-proto.a"
for folder in "$(realpath "$WEFT_BUILD")" "$tree" "$root"; do
	same "what names $folder" "" "$(grep -rlF -- "$folder" "$root" || true)"
done

# symbols FILE OPTION...: names that it defines for others
symbols() { nm --defined-only "${@:2}" "$1" | awk 'NF == 3 && $2 != "A" { sub("@.*", "", $3); print $3 }' | sort -u; }
same "what libweft.so.0 exports" "$(sed -n 's/^\t\(weft_[a-z_]*\);$/\1/p' "$tree/lib/client/libweft.map" | sort)" "$(symbols "$lib/libweft.so.0" -D)"
same "what libweft.so.0 needs besides libc" "" \
	"$(readelf -d "$lib/libweft.so.0" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' | grep -v '^libc\.so\|^ld-linux' || true)"
symbols "$lib/libweft-proto.a" -g >proto
same "names of libweft-proto.a that are not weft_" "" "$(grep -v '^weft_' proto || true)"
same "names of both libraries" "" "$(comm -12 proto <(symbols "$lib/libweft.so.0" -D))"
! readelf -d "$bin/weftctl" "$lib/libweft.so.0" | grep RUNPATH | grep -v "$(sed -n 's/^libdir=//p' "$lib/pkgconfig/weft.pc")" ||
	die "an installed file has a run path"

# --- examples: what cc is given is what pkg-config says ---

# flags PACKAGE...: Weft's are below a folder of their own
flags() {
	local package
	for package in "$@"; do
		case $package in
		weft*) PKG_CONFIG_SYSROOT_DIR=$root PKG_CONFIG_PATH=$lib/pkgconfig pkg-config --cflags --libs "$package" ;;
		*) pkg-config --cflags --libs "$package" ;;
		esac
	done
}

cat >all.c <<'C'
#include <weft.h>
int main(void) { struct weft *w = 0; return weft_attach("/none", 0, &w) != 0 && w == 0 ? 0 : 1; }
C
for h in "$prefix/include/weft"/*.h; do
	echo "#include <${h##*/}>"
done >protocol.c
# shellcheck disable=SC2046
cc -Wall -Wextra -Werror all.c -o all_c $(flags weft) || die "weft.h in C"
cc -Wall -Wextra -Werror -c protocol.c $(flags weft-proto) || die "the headers of weft-proto in C"
./all_c || die "a program with weft.h"
if command -v g++ >/dev/null; then
	g++ -x c++ -Wall -Wextra -Werror all.c -o all_cpp $(flags weft) || die "weft.h in C++"
	g++ -x c++ -Wall -Wextra -Werror -c protocol.c $(flags weft-proto) || die "the headers of weft-proto in C++"
	./all_cpp || die "a program in C++ with weft.h"
fi

cat >"$topology" <<-Y
fabric: install
nodes:
  - {name: h0, kind: host, pid: 0x101}
  - {name: h1, kind: host, pid: 0x102}
  - {name: s0, kind: switch, pid: 0x010}
  - {name: g0, kind: gfd, pid: 0x200, memory: 4M}
links:
  - {a: h0, b: s0}
  - {a: h1, b: s0}
  - {a: s0, b: g0}
Y
serve_all "$bin/weftd"
"$bin/weftctl" --node h1 mem list | grep -q '^g0 ' || die "the weftctl that was installed lists no region"

try_read_write() {
	same "read_write: written" "to all of you" "$(./read_write h0 g0 100 "to all of you")"
	same "read_write: by another host" "to all of you" "$(./read_write h1 g0 100)"
	refuses "no such host" ./read_write h9 g0 0
	misused "usage: read_write" ./read_write h0
	misused "usage: read_write" ./read_write h0 g0 abc
	misused "usage: read_write" ./read_write h0 g0 99999999999999999999
	same "read_write: a place in K" "in K" "$(./read_write h0 g0 1K "in K")"
}

try_async_queue() {
	local depth other got
	for depth in 1 32 256; do
		same "async_queue" "700 blocks written and read back, up to $depth open at a time" "$(./async_queue h0 g0 700 $depth 2>err)"
	done
	"$bin/weftctl" --node h1 mem read g0 $((699 * 4096 + 8)) 8 --out word
	same "async_queue: a word of the last block" "$(((699 << 32 | 1) * 0x9E3779B97F4A7C15))" "$(od -An -td8 word | tr -d ' ')"
	refuses 'of 4096 bytes at offset 0x10000: expected 1 byte or more, within its 0x10000 bytes' ./async_queue h0 g0:0+64K 17 1
	misused "usage: async_queue" ./async_queue h0 g0 1 257
	misused "usage: async_queue" ./async_queue h0 g0 -1
	# Another host writes there as well.
	while "$bin/weftctl" --node h1 mem fill g0 0 4M 0; do :; done &
	other=$!
	pids+=("$other")
	for _ in 1 2 3; do
		got=$(./async_queue h0 g0 1000 1 2>&1 || true)
		[[ $got != *"a block is not what was written"* ]] || break
	done
	[[ $got == *"a block is not what was written"* ]] || die "async_queue: does not see that another host wrote there: $got"
	kill -KILL "$other"
	wait "$other" 2>/dev/null || true
}

try_mapped_list() {
	if ./mapped_list h1 g0 walk 2>&1 | grep -q userfaultfd; then
		echo "without mapped_list: this process may not call userfaultfd"
		return
	fi
	refuses "there is no list" ./mapped_list h1 g0 walk
	./mapped_list h0 g0 new
	same "mapped_list: empty" "" "$(./mapped_list h1 g0 walk)"
	./mapped_list h0 g0 push first second
	./mapped_list h1 g0 push third
	same "mapped_list: walked by another host" "0xc0 third 0x80 second 0x40 first" "$(./mapped_list h1 g0 walk | xargs)"
	refuses "longer than the 55 bytes" ./mapped_list h0 g0 push "$(printf %056d 0)"
	./mapped_list h0 g0:2M+128 new
	./mapped_list h0 g0:2M+128 push one
	refuses "the region is full" ./mapped_list h0 g0:2M+128 push two
	# A link that leads out of the list, and one that leads round.
	"$bin/weftctl" --node h0 mem write g0 0x40 --hex 0000100000000000
	refuses "a link leads nowhere" ./mapped_list h1 g0 walk
	"$bin/weftctl" --node h0 mem write g0 0x40 --hex c000000000000000
	refuses "a link leads nowhere" ./mapped_list h1 g0 walk
}

try_kv_store() {
	local i value writer small=g0:3M+1K # 15 pairs
	local a=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa b=bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb
	refuses "there is no table" ./kv_store h1 g0:2M+1M list
	./kv_store h0 g0:2M+1M format
	./kv_store h0 g0:2M+1M put colour blue
	./kv_store h1 g0:2M+1M put size ""
	./kv_store h0 g0:2M+1M put colour "light green"
	same "kv_store: a value by another host" "light green" "$(./kv_store h1 g0:2M+1M get colour)"
	same "kv_store: all" "colour=light green size=" "$(./kv_store h1 g0:2M+1M list | sort | paste -sd ' ')"
	./kv_store h1 g0:2M+1M del colour
	same "kv_store: none" 1 "$(./kv_store h0 g0:2M+1M get colour >/dev/null && echo 0 || echo $?)"
	refuses "longer than the 61 bytes" ./kv_store h0 g0:2M+1M put key "$(printf %059d 0)"
	# Full, so that keys stand in each other's places: what is deleted hides none behind it.
	./kv_store h0 $small format
	for i in $(seq 15); do
		./kv_store h0 $small put "k$i" "$i"
	done
	refuses "the table is full" ./kv_store h0 $small put k16 16
	for i in 3 7 11; do
		./kv_store h0 $small del "k$i"
	done
	for i in 1 2 4 5 6 8 9 10 12 13 14 15; do
		same "kv_store: k$i after others were deleted" "$i" "$(./kv_store h1 $small get k$i)"
	done
	./kv_store h0 $small put k12 twelve
	./kv_store h0 $small put k16 16
	same "kv_store: after others were deleted" \
		"k10=10 k12=twelve k13=13 k14=14 k15=15 k16=16 k1=1 k2=2 k4=4 k5=5 k6=6 k8=8 k9=9" \
		"$(./kv_store h1 $small list | LC_ALL=C sort | paste -sd ' ')"
	# Values that change while they are read, by a writer that is killed: one or the other, never a mix.
	for value in $a $b; do
		./kv_store h0 g0:2M+1M put turn "$value"
		while ./kv_store h0 g0:2M+1M put turn "$a" && ./kv_store h0 g0:2M+1M put turn "$b"; do :; done &
		writer=$!
		pids+=("$writer")
		for i in $(seq 20); do
			./kv_store h1 g0:2M+1M get turn | grep -qE '^(a{50}|b{50})$' || die "kv_store: a pair that is half of two"
		done
		kill -KILL "$writer"
		wait "$writer" 2>/dev/null || true
		./kv_store h1 g0:2M+1M get turn | grep -qE '^(a{50}|b{50})$' || die "kv_store: a pair after its writer was killed"
	done
}

try_pcap_flits() {
	local mode errors count="(o['frames'], o['flits'], o['crc']['good'], o['crc']['bad'], o['fec']['corrected'])"
	for mode in rxl cxl; do
		[ $mode = rxl ] && errors=burst=3:0.05 || errors=burst=6:0.05
		"$bin/weft-gen" --flits 600 --mode $mode --errors $errors,drop=0.02 --seed 7 --out $mode.pcap >/dev/null
		"$bin/weft-replay" --in $mode.pcap --mode $mode --json $mode.json >/dev/null
		./pcap_flits $mode.pcap >flits
		same "pcap_flits: the last line, $mode" \
			"$(json $mode.json "'%d frames, %d flits: crc good %d, bad %d; fec corrected %d' % $count")" "$(tail -n 1 flits)"
		same "pcap_flits: lines, $mode" "$(json $mode.json 'o["flits"]')" "$(grep -c '^frame [0-9]* flit [0-9]*: [a-z?]* seq .* fec .* crc ' flits)"
	done
	grep -q 'seq ? fec uncorrectable crc bad' flits || die "pcap_flits: no flit is bad"
	# A number is that of the line and of all that were lost before it.
	./pcap_flits rxl.pcap >flits
	same "pcap_flits: numbers that are missing" "$(json rxl.json 'o["isn"]["lost_flits"]')" \
		"$(awk '/ crc good$/ { d = $7 - NR } END { print d }' flits)"
	grep -q 'seq [0-9]* fec corrected crc good' flits || die "pcap_flits: no flit is corrected"
	refuses "those of a pcap or pcapng file" ./pcap_flits "$topology"
}

for source in "$tree"/examples/*.c; do
	name=$(basename "$source" .c)
	[ "$(wc -l <"$source")" -lt 200 ] || die "$name.c has 200 lines or more"
	packages=$(sed -n 's/.*pkg-config --cflags --libs \([a-z -]*\)).*/\1/p' "$source" | head -n 1)
	[ -n "$packages" ] || die "$name.c does not say how it is built"
	# Of libraries that may not be here its own test knows.
	if [[ $packages = weft* ]]; then
		# shellcheck disable=SC2046,SC2086
		cc -Wall -Wextra -Werror "$source" -o "$name" $(flags $packages) || die "$name.c does not build"
	fi
	if declare -F "try_$name" >/dev/null; then
		"try_$name"
	else
		grep -rlq "examples/$name" --include='*.sh' "$tree/test" || die "nothing tests examples/$name.c"
	fi
done
echo "what is installed works"
