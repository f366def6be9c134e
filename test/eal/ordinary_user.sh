#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# DPDK starts for a user without rights, without a run-time folder and whoever made /tmp/dpdk.
set -eu
[ "$(id -u)" = 0 ] || { echo "skipped: the other tests run as an ordinary user already"; exit 77; }
command -v setpriv >/dev/null || { echo "skipped: no setpriv"; exit 77; }
getent passwd nobody >/dev/null || { echo "skipped: no user nobody"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
chmod 755 "$folder"
# The build folder may be closed to others.
install -m 755 "$1" "$folder/program"
cd "$folder"
env -u XDG_RUNTIME_DIR setpriv --reuid=nobody --regid=nogroup --clear-groups ./program
