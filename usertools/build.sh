# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Configure and build a folder, whatever an earlier release or an interrupted run left there. Sourced
# by the scripts beside it, from the root of the tree.

# What is installed, shown and measured; tests run a build with debug information.
# shellcheck disable=SC2034
WEFT_RELEASE_OPTIONS=(-Dbuildtype=release -Db_lto=true -Dtests=false)

# weft_option DIR NAME: value of an option that DIR was configured with; fails if it does not say.
weft_option() {
	python3 - "$1/meson-info/intro-buildoptions.json" "$2" 2>/dev/null <<-'PY'
		import json, sys
		value = [o["value"] for o in json.load(open(sys.argv[1])) if o["name"] == sys.argv[2]][0]
		print(str(value).lower() if isinstance(value, bool) else
		      ",".join(value) if isinstance(value, list) else value)
	PY
}

# weft_compiles_with DIR CC: whether DIR was configured for that compiler, and what it calls is there.
weft_compiles_with() {
	local command word
	command=$(sed -n '/^rule c_COMPILER$/{n;s/^ *command = \(.*\) \$ARGS.*/\1/p;}' "$1/build.ninja")
	[ -n "$command" ] || return 1
	for word in $command; do
		command -v "$word" >/dev/null || return 1
	done
	[ "$(readlink -f "$(command -v "$word")")" = "$(readlink -f "$(command -v "$2")")" ]
}

# weft_setup_state DIR CC [-DOPTION=VALUE...]: what is in DIR, as a word: "none"; "broken", made from
# other sources, by another meson or compiler, or not to its end; "options", where some are to be set;
# "good".
weft_setup_state() {
	local dir=$1 cc=$2 option
	shift 2
	[ -e "$dir/build.ninja" ] || [ -e "$dir/meson-private" ] || [ -e "$dir/meson-info" ] || {
		echo none
		return
	}
	[ -f "$dir/build.ninja" ] && [ -s "$dir/meson-private/coredata.dat" ] &&
		[ -s "$dir/meson-private/build.dat" ] && weft_compiles_with "$dir" "$cc" &&
		python3 - "$dir/meson-info/meson-info.json" "$PWD" "$(meson --version)" 2>/dev/null <<-'PY' || {
			import json, os, sys
			info = json.load(open(sys.argv[1]))
			sys.exit(not os.path.samefile(info["directories"]["source"], sys.argv[2]) or
			         info["meson_version"]["full"] != sys.argv[3])
		PY
		echo broken
		return
	}
	for option in "$@"; do
		option=${option#-D}
		[ "$(weft_option "$dir" "${option%%=*}")" = "${option#*=}" ] || {
			echo options
			return
		}
	done
	echo good
}

# weft_setup DIR CC [-DOPTION=VALUE...]: configure DIR. What cannot be used goes, with a line.
weft_setup() {
	local dir=$1 cc=$2 log state
	shift 2
	if ! mkdir -p "$dir" 2>/dev/null || [ ! -w "$dir" ]; then
		echo "weft: $dir: no folder that $(id -un) may write to; move it away" >&2
		return 1
	fi
	state=$(weft_setup_state "$dir" "$cc" "$@")
	[ "$state" != good ] || return 0
	log=$(mktemp)
	if [ "$state" = options ]; then
		if meson setup --reconfigure "$dir" "$@" >"$log" 2>&1; then
			rm -f "$log"
			return 0
		fi
		state=broken
	fi
	if [ "$state" = broken ]; then
		echo "weft: $dir cannot be built on: begun again"
		find "$dir" -mindepth 1 -delete
	fi
	CC=$cc meson setup "$dir" "$@" >"$log" 2>&1 || {
		tail -n 20 "$log" >&2
		echo "weft: $dir: meson setup fails" >&2
		rm -f "$log"
		return 1
	}
	rm -f "$log"
}

# weft_ninja LOG DIR [TARGET...]: build, a line of progress each fifth.
weft_ninja() {
	local log=$1 dir=$2 line n shown=0
	shift 2
	: >"$log"
	set -o pipefail
	NINJA_STATUS='[%f/%t] ' ninja -C "$dir" "$@" 2>&1 | while IFS= read -r line; do
		echo "$line" >>"$log"
		[[ $line =~ ^\[([0-9]+)/([0-9]+)\]\  ]] || continue
		n=$((BASH_REMATCH[1] * 5 / BASH_REMATCH[2] * 20))
		[ "$n" -le "$shown" ] || [ "${BASH_REMATCH[2]}" -lt 20 ] || echo "  built ${n} %"
		shown=$n
	done
	set -- $?
	set +o pipefail
	return "$1"
}

# weft_build DIR CC [-DOPTION=VALUE...] [TARGET...]: configure and build. Where that fails and no
# source is to blame, what was in DIR may be: it is built once more from nothing.
weft_build() {
	local dir=$1 cc=$2 options=() log kept=0 status=0
	shift 2
	while [[ ${1:-} = -* ]]; do
		options+=("$1")
		shift
	done
	[ "$(weft_setup_state "$dir" "$cc")" = none ] || kept=1
	weft_setup "$dir" "$cc" "${options[@]}" || return 1
	log=$(mktemp)
	weft_ninja "$log" "$dir" "$@" || status=1
	if [ $status -ne 0 ] && [ $kept -eq 1 ] &&
		! grep -qE ':[0-9]+:[0-9]+: (fatal )?error: |undefined reference|multiple definition' "$log"; then
		echo "weft: $dir does not build: begun again"
		find "$dir" -mindepth 1 -delete
		status=0
		weft_setup "$dir" "$cc" "${options[@]}" && weft_ninja "$log" "$dir" "$@" || status=1
	fi
	if [ $status -ne 0 ]; then
		tail -n 40 "$log" >&2
		echo "weft: $dir: the build fails" >&2
	fi
	rm -f "$log"
	return $status
}

# weft_driver_headers BUILD DIR: the folder with headers for DPDK drivers: what BUILD was configured
# with if it still is for the DPDK installed and has what the newest driver needs, else DIR, filled if
# need be. Fails with one line.
weft_driver_headers() {
	local used version
	version=$(dpkg-query -W -f '${Version}' libdpdk-dev 2>/dev/null)
	used=$(weft_option "$1" dpdk_driver_headers)
	if [ -z "$used" ] || [ "$(cat "$used/version" 2>/dev/null)" != "$version" ] ||
		[ ! -s "$used/rte_dmadev_pmd.h" ]; then
		usertools/driver-headers.sh "$2" || return 1
		used=$(readlink -f "$2")
	fi
	echo "$used"
}
