#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Format every C file of the tree in place: format.sh [CLANG_FORMAT]. With CHECK=1, only say
# which files differ and fail if any does.
set -eu
usage="usage: [CHECK=1] usertools/format.sh [CLANG_FORMAT]    (format every C file, or say which differ)"
misused() {
	echo "$usage" >&2
	exit 2
}
case ${1:-} in
--help | -h)
	echo "$usage"
	exit 0
	;;
-*) misused ;;
esac
[ $# -le 1 ] || misused
fmt=${1:-clang-format-14}
cd "$(dirname "$0")/.."
command -v "$fmt" >/dev/null || {
	echo "format.sh: there is no program $fmt" >&2
	exit 2
}
mode=-i
[ "${CHECK:-0}" = 1 ] && mode="--dry-run -Werror"
# shellcheck disable=SC2086
find lib app test examples drivers plugins -name '*.[ch]' 2>/dev/null | sort | xargs -P "$(nproc)" -n 50 "$fmt" $mode
