#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# usertools/fuzz.sh reads its targets out of meson.build: all of them are there. targets_test.sh NAME...
set -eu
said=$("$(dirname "$0")/../../usertools/fuzz.sh" --help | sed -n 's/^Targets: *//p')
[ "$said" = "$*" ] || {
	echo "usertools/fuzz.sh --help names other targets than test/fuzz/meson.build has: expected \"$*\", got \"$said\""
	exit 1
}
