#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Format every C file of the tree in place: format.sh [CLANG_FORMAT]. With CHECK=1, only say
# which files differ and fail if any does.
set -eu
fmt=${1:-clang-format-14}
cd "$(dirname "$0")/.."
mode=-i
[ "${CHECK:-0}" = 1 ] && mode="--dry-run -Werror"
# shellcheck disable=SC2086
find lib app test examples drivers -name '*.[ch]' 2>/dev/null | sort | xargs "$fmt" $mode
