#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Options of test.sh, fresh-test.sh, package-test.sh, coverage.sh and the small scripts, what driver-headers.sh says when it fails,
# progress of packages.
# usertools/build.sh: from whatever stands in a build folder comes a build with the options asked for;
# what is good stays. The tree configures without cmocka. A small project stands for the tree.
# json of lib.sh.
. "$(dirname "$0")/lib.sh"
tree=$(cd "$here/../.." && pwd)

# json of lib.sh: a file, what is piped in, several at once; a mistake is an error that costs nobody the next answer.
echo '{"a": [1, 2], "s": "x\ny"}' >"$work/o.json"
same "a file" $'[1, 2] x\ny' "$(json "$work/o.json" 'o["a"]') $(json "$work/o.json" 'o["s"]')"
same "what is piped in" 300000 "$(printf '"%0300000d"' 0 | json /dev/stdin 'len(o)')"
if json "$work/o.json" 'o["nope"]' >"$work/out" 2>"$work/err"; then die "a key that is not there is no error"; fi
grep -q "KeyError('nope')" "$work/err" || die "a key that is not there: $(cat "$work/err")"
[ ! -s "$work/out" ] || die "a key that is not there: $(cat "$work/out")"
for i in 1 2 3 4; do
	(for k in 1 2 3 4 5 6 7 8; do same "one of several" "$i $k" "$(json "$work/o.json" "'$i $k'")"; done) &
	pids+=($!)
done
for pid in "${pids[@]}"; do
	wait "$pid" || die "an answer went to who had not asked"
done
pids=()

for script in test fresh-test package-test coverage; do
	refuses_with 2 "$script.sh: unknown option \"--frob\"" "$tree/usertools/$script.sh" --frob
	"$tree/usertools/$script.sh" --help >"$work/help" || die "$script.sh --help fails"
done
"$tree/usertools/test.sh" --help >"$work/help"
for word in --quick --only --list WEFT_TEST_DIR $("$tree/usertools/test.sh" --list | sed 's/ .*//'); do
	grep -q -e "$word" "$work/help" || die "test.sh --help does not say $word"
done
"$tree/usertools/test.sh" --only clang,fuzz --list >"$work/list" || die "the part asan is not called clang as well"
same "parts by clang" "asan fuzz" "$(sed -n '/^asan .*clang/,$s/ .*//p' "$work/list" | paste -sd ' ')"
refuses_with 2 'there is no part "frob"' "$tree/usertools/test.sh" --only format,frob
for words in --only --only= --only=, "--only= ,"; do
	refuses_with 2 "--only: expected parts, such as format" "$tree/usertools/test.sh" "$words"
done
refuses_with 2 'there is no part "*"' "$tree/usertools/test.sh" --only "*"
for script in usertools/driver-headers usertools/format test/spin/run; do
	for word in --help -h; do
		"$tree/$script.sh" $word >"$work/help" || die "$script.sh $word fails"
		grep -q "^usage: .*$script.sh" "$work/help" || die "$script.sh $word shows no usage: $(cat "$work/help")"
	done
	refuses_with 2 "usage: " "$tree/$script.sh" one two
done
mutate=$tree/test/mutate/mutate.py
"$mutate" --help >"$work/help" || die "mutate.py --help fails"
grep -q '^usage: mutate.py' "$work/help" || die "mutate.py --help shows no usage: $(cat "$work/help")"
for words in "" "$work" "$WEFT_BUILD frob"; do
	# shellcheck disable=SC2086
	if "$mutate" $words >"$work/out" 2>&1; then die "mutate.py $words is no error"; fi
	grep -q '^mutate.py: error: ' "$work/out" || die "mutate.py $words: $(cat "$work/out")"
done
refuses_with 2 "usage: " "$tree/usertools/driver-headers.sh" --frob
refuses_with 2 "usage: " "$tree/usertools/format.sh" --frob
refuses_with 2 "format.sh: there is no program frob" "$tree/usertools/format.sh" frob
refuses_with 2 'no row of its table holds "frob"' "$tree/test/spin/run.sh" frob
refuses_with 2 '--least takes a percentage, got "101"' "$tree/usertools/coverage.sh" --least 101
refuses_with 2 'expected demo or test, got "x"' "$tree/usertools/fresh-test.sh" --first x
refuses_with 2 'expected a folder with weft_*.deb, got ""' "$tree/usertools/package-test.sh" --packages
if [ "$(id -u)" -eq 0 ]; then
	mkdir "$work/few"
	ln -s /bin/bash /usr/bin/id /usr/bin/dirname "$work/few"
	for script in fresh-test package-test; do
		PATH=$work/few "$tree/usertools/$script.sh" >"$work/said" || die "$script.sh without debootstrap"
		same "$script.sh without debootstrap" "skipped: debootstrap is not installed (package debootstrap)
0 passed, 0 failed, 1 skipped" "$(cat "$work/said")"
	done
fi

# A source package that cannot be unpacked, and no xz at all: a line each.
mkdir "$work/fake" "$work/none"
printf '#!/bin/sh\necho "500 https://host/debian bookworm/main"\n' >"$work/fake/apt-cache"
printf '#!/bin/sh\necho 9\n' >"$work/fake/dpkg-query"
cat >"$work/fake/apt-get" <<-'W'
	#!/bin/sh
	echo "dlstatus:1:45.5:Retrieving"; echo text; echo "pmstatus:x:61.0:Unpacking"
	: >dpdk_9.orig.tar.xz
W
chmod +x "$work/fake/"*
PATH=$work/fake:$PATH refuses "ethdev_driver.h cannot be unpacked" "$tree/usertools/driver-headers.sh" "$work/h"
# What an earlier release fetched may be less; what is all there stays.
echo 9 >"$work/h/version"
PATH=$work/fake:$PATH refuses "ethdev_driver.h cannot be unpacked" "$tree/usertools/driver-headers.sh" "$work/h"
for header in $(sed -n 's/^headers="\(.*\)"$/\1/p' "$tree/usertools/driver-headers.sh"); do
	echo "//" >"$work/h/$header"
done
PATH=$work/fake:$PATH "$tree/usertools/driver-headers.sh" "$work/h" || die "headers that are there are fetched"
same "a header that was there" "//" "$(cat "$work/h/rte_dmadev_pmd.h")"
refuses "there is no program xz" env PATH="$work/none" /bin/sh "$tree/usertools/driver-headers.sh" "$work/h"
if [ "$(id -u)" -eq 0 ]; then
	(cd "$work" && . "$tree/usertools/packages.sh" && PATH=$work/fake:$PATH && weft_apt "$work/apt" install x) \
		>"$work/said" || die "weft_apt: $(cat "$work/said")"
	same "progress of packages" "  packages fetched 40 %,  packages installed 60 %" "$(paste -sd , "$work/said")"
	same "the rest of apt's output" text "$(cat "$work/apt")"
fi

# The tree itself, with a pkg-config (and no cmake) that knows no cmocka.
mkdir "$work/bin"
cat >"$work/bin/pkg-config" <<-'W'
	#!/bin/sh
	case " $* " in *cmocka*) exit 1 ;; esac
	exec /usr/bin/pkg-config "$@"
W
printf '#!/bin/sh\nexit 1\n' >"$work/bin/cmake"
chmod +x "$work/bin/"*
env PKG_CONFIG="$work/bin/pkg-config" PATH="$work/bin:$PATH" CC=gcc meson setup "$work/tree" "$tree" \
	>"$work/setup.log" 2>&1 || die "the tree does not configure without cmocka"
grep -q 'no tests: cmocka is not there' "$work/setup.log" || die "cmocka is there, or nothing is said"
same "programs of tests without cmocka" 0 \
	"$(ninja -C "$work/tree" -t targets all | grep -c '^test/' || true)"

mkdir "$work/small" "$work/headers"
cd "$work/small"
cat >meson.build <<-'M'
	project('small', 'c')
	a = static_library('a', 'a.c')
	alias_target('programs', executable('small', 'm.c', link_with: a))
	if get_option('tests') != 'false'
	  executable('small_test', 'm.c', link_with: a)
	endif
M
options="option('dpdk_driver_headers', type: 'string', value: '')"
new="option('tests', type: 'combo', choices: ['auto', 'true', 'false'], value: 'auto')"
old="option('tests', type: 'boolean', value: true)"
printf '%s\n' "$options" "$new" >meson_options.txt
echo 'int a(void); int a(void) { return 0; }' >a.c
echo 'int a(void); int main(void) { return a(); }' >m.c
. "$tree/usertools/build.sh"

# builds WHAT LINE [TARGET]: weft_build ends with both options set, both programs made and LINE in what
# it says ("" for nothing said).
builds() {
	weft_build build gcc -Dtests=true -Ddpdk_driver_headers="$work/headers" >"$work/said" 2>&1 ||
		die "$1: $(cat "$work/said")"
	if [ -n "$2" ]; then
		grep -qF "$2" "$work/said" || die "$1: not said: $2: $(cat "$work/said")"
	else
		[ ! -s "$work/said" ] || die "$1: said $(cat "$work/said")"
	fi
	same "$1: option tests" true "$(weft_option build tests)"
	same "$1: option of headers" "$work/headers" "$(weft_option build dpdk_driver_headers)"
	build/small && build/small_test || die "$1: the programs do not run"
}
builds "nothing there" ""
touch build/kept
builds "all good" ""
meson setup --reconfigure build -Dtests=false -Ddpdk_driver_headers= >/dev/null
builds "configured without tests and headers" ""

# state WANT WHAT [CC]: what weft_setup_state says of a copy of the good folder in which WHAT was done.
state() {
	rm -rf copy && cp -r build copy && (cd copy && eval "$2")
	same "state after: $2" "$1" "$(weft_setup_state copy "${3:-gcc}" -Dtests=true)"
}
state good true
state options "sed -i 's/\"value\": \"true\"/\"value\": \"false\"/' meson-info/intro-buildoptions.json"
state broken 'rm build.ninja'
state broken ': >meson-private/coredata.dat'
state broken 'rm meson-private/build.dat'
state broken 'echo garbage >meson-info/meson-info.json'
state broken "sed -i 's/\"full\": \"[^\"]*\"/\"full\": \"0.1\"/' meson-info/meson-info.json"
state broken "sed -i 's,\"source\": \"[^\"]*\",\"source\": \"$work\",' meson-info/meson-info.json"
state broken "sed -i 's/command = gcc /command = nonesuch gcc /' build.ninja"
state broken true sh
state none 'find . -mindepth 1 -delete; echo garbage >file'

rm build/build.ninja
[ -e build/kept ] || die "a good build was begun again"
builds "no build.ninja" "weft: build cannot be built on: begun again"
[ ! -e build/kept ] || die "a broken build was kept"
printf '%s\n' "$options" "$old" >meson_options.txt
rm -rf build && sed -i "s/ != 'false'//" meson.build && CC=gcc meson setup build -Dtests=false >/dev/null
printf '%s\n' "$options" "$new" >meson_options.txt
sed -i "s/if get_option('tests')/& != 'false'/" meson.build
builds "an earlier release's options" ""
find build -name '*.a' -exec sh -c 'echo garbage >"$1"' sh {} \;
rm build/small
builds "a library cut short" "weft: build does not build: begun again"

# What the demo builds: an optimised program without the tests, and the same again for nothing.
for what in "from nothing" again; do
	weft_build release gcc "${WEFT_RELEASE_OPTIONS[@]}" programs >"$work/said" 2>&1 ||
		die "release build $what: $(cat "$work/said")"
	same "release build $what" "3 true false true" "$(echo $(for option in optimization b_lto debug; do
		weft_option release $option
	done) "$([ -x release/small ] && [ ! -e release/small_test ] && echo true)")"
	grep -q 'begun again' "$work/said" && die "release build $what: $(cat "$work/said")"
done

echo 'int a(void); int main(void) { return b; }' >m.c
touch build/kept
if weft_build build gcc >"$work/said" 2>&1; then die "a bad source is built"; fi
grep -q 'm.c:1:' "$work/said" || die "the error in the source is not shown: $(cat "$work/said")"
[ -e build/kept ] || die "an error in a source cost the build"
rm -rf build && : >build
if weft_build build gcc >"$work/said" 2>&1; then die "a file is built in"; fi
same "a file called build" "weft: build: no folder that $(id -un) may write to; move it away" \
	"$(cat "$work/said")"
echo "a build comes from whatever was there"
