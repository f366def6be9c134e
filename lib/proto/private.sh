#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Run by meson install, with the place of the library within the prefix: what files of it share among
# themselves gets the prefix weft_private_, so that programs may have any name that is not weft_. Where
# gcc left a second form for its own link-time optimisation, which has the old names, that goes.
set -eu
library=$MESON_INSTALL_DESTDIR_PREFIX/$1
names=$(mktemp)
trap 'rm -f "$names"' EXIT
nm -g --defined-only "$library" | awk 'NF == 3 && $3 !~ /^(weft_|__)/ { print $3, "weft_private_" $3 }' |
	sort -u >"$names"
objcopy --redefine-syms="$names" --remove-section='.gnu.lto_*' --remove-section='.gnu.debuglto_*' "$library"
