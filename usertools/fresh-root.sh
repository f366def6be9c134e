# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Minimal roots of Debian 12, by debootstrap, from where this machine's own packages come, and tests in them. Sourced by
# the scripts beside it, from the root of the tree; they have $keep, 1: roots stay.

passed=0 failed=0 skipped=0

finish() {
	echo "$passed passed, $failed failed, $skipped skipped"
	[ "$failed" -eq 0 ]
	exit
}

# skip WHY: and nothing more is tried.
skip() {
	echo "skipped: $*"
	skipped=$((skipped + 1))
	finish
}

# fresh_packages DIR: its whole name, if it has packages of ours.
fresh_packages() {
	(cd "$1" 2>/dev/null && ls weft_*.deb >/dev/null 2>&1 && pwd) || {
		echo "${0##*/}: --packages: expected a folder with weft_*.deb, got \"$1\"" >&2
		return 1
	}
}

# step WHAT COMMAND...: its last lines if it fails, and then nothing more is tried.
step() {
	local what=$1 begin=$SECONDS
	shift
	if "$@" </dev/null >"$work/step.log" 2>&1; then
		passed=$((passed + 1))
		echo "passed $what ($((SECONDS - begin)) s)"
	else
		failed=$((failed + 1))
		tail -n 40 "$work/step.log"
		echo "FAIL $what ($((SECONDS - begin)) s)"
		finish
	fi
}

# fresh_inside ROOT COMMAND...: in that root, with a bare environment.
fresh_inside() {
	env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
		${http_proxy:+http_proxy="$http_proxy"} chroot "$@"
}

# fresh_enter ARGUMENT...: begin the script again, with these, in a mount namespace of its own, so that what is mounted
# goes with it. Skips without root, debootstrap or the right to mount.
fresh_enter() {
	[ -z "${WEFT_FRESH_INSIDE:-}" ] || return 0
	[ "$(id -u)" -eq 0 ] || skip "a root of its own needs root here"
	command -v debootstrap >/dev/null || skip "debootstrap is not installed (package debootstrap)"
	unshare -m --propagation private mount -t tmpfs none /mnt 2>/dev/null ||
		skip "no right to mount here"
	WEFT_FRESH_INSIDE=1 exec unshare -m --propagation private "$PWD/usertools/${0##*/}" "$@"
}

# fresh_begin NAME: sets $work, a folder that is removed at the end, $cache and $mirror.
fresh_begin() {
	work=$(mktemp -d "${TMPDIR:-/tmp}/$1.XXXXXX")
	cache=${WEFT_FRESH_CACHE:-$work/cache}
	trap fresh_clean EXIT
	trap 'exit 130' INT TERM
	mkdir -p "$cache/packages"
	fresh_suite=bookworm
	fresh_sources=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
		awk -v s="$fresh_suite" '$3 == "main" && ($2 == s || $2 == s "-updates" || $2 == s "-security")' | sort -u)
	mirror=$(awk -v s="$fresh_suite" '$2 == s {print $1; exit}' <<<"$fresh_sources")
	[ -n "$mirror" ] || skip "this machine's apt has no source of Debian 12 ($fresh_suite)"
}

fresh_mounted() { awk -v d="$1" '$2 == d || index($2, d "/") == 1 { print $2 }' /proc/self/mounts; }

# fresh_remove DIR: and first what is mounted there, by us or by what ran there. Nothing of this machine may be
# below what is removed.
fresh_remove() {
	local mounted
	fresh_mounted "$1" | sort -r | while read -r mounted; do
		umount -l "$mounted"
	done
	if fresh_mounted "$1" | grep -q .; then
		echo "${0##*/}: $1: something is mounted there still; not removed" >&2
	else
		rm -rf --one-file-system "$1"
	fi
}

fresh_clean() {
	if [ "$keep" -ne 0 ]; then
		echo "kept: $work"
	else
		fresh_remove "$work"
	fi
}

# fresh_base: the minimal root, as an archive, unless $cache has it.
fresh_base() {
	local https="" http_proxy=${http_proxy:-}
	[ ! -f "$cache/base.tar" ] || return 0
	echo "a minimal root with debootstrap: about a minute"
	[[ $fresh_sources != *https://* ]] || https=1
	eval "$(apt-config shell http_proxy Acquire::http::Proxy)"
	export http_proxy
	rm -rf "$work/base"
	# Over TLS the root needs certificates of its own.
	debootstrap --variant=minbase ${https:+--include=ca-certificates} "$fresh_suite" "$work/base" "$mirror" >"$work/log" 2>&1 || {
		tail -n 5 "$work/log"
		return 1
	}
	awk '{print "deb", $1, $2, $3}' <<<"$fresh_sources" >"$work/base/etc/apt/sources.list"
	tar -C "$work/base" -cf "$cache/base.tar.new" . && mv "$cache/base.tar.new" "$cache/base.tar"
	rm -rf "$work/base"
}

# fresh_root DIR [netns]: the minimal root and the tree in /weft; netns: a mount point, which is what
# "ip netns exec" needs of /.
fresh_root() {
	local dir=$1 proxy
	mkdir "$dir" && { [ "${2:-}" != netns ] || mount --bind "$dir" "$dir"; } &&
		tar -C "$dir" -xf "$cache/base.tar" && mkdir "$dir/weft" || return 1
	fresh_tree "$dir/weft" || return 1
	cp -L /etc/resolv.conf /etc/hosts "$dir/etc/" 2>/dev/null
	proxy=$(apt-config dump Acquire::http::Proxy Acquire::https::Proxy)
	[ -z "$proxy" ] || echo "$proxy" >"$dir/etc/apt/apt.conf.d/proxy"
	mount -t proc proc "$dir/proc" && mount -t sysfs -o ro sys "$dir/sys" &&
		mount --rbind /dev "$dir/dev" && mount --bind "$cache/packages" "$dir/var/cache/apt/archives"
}

# fresh_tree DIR: the tracked files as they are now.
fresh_tree() {
	git -c safe.directory="$PWD" ls-files -z | xargs -0 tar -cf - -- | tar -C "$1" -xf -
}
