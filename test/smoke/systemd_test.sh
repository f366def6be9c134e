#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Units for systemd: it can read them, they leave little open, and what they ask of the programs is what those take.
. "$(dirname "$0")/lib.sh"
command -v systemd-analyze >/dev/null || skip "systemd-analyze (package systemd) is not installed"
tree=$(cd "$here/../.." && pwd)
cd "$work"

# This machine has neither the programs where they will be installed nor the user; pages are help_test's.
for unit in weftd@ weft-fm; do
	program=${unit%@}
	[ -x "$app/$program" ] || continue
	sed "s,@bindir@,$app,; s,^\(User\|Group\)=weft,\1=root,; /^Documentation=/d" \
		"$tree/usertools/systemd/$unit.service.in" >"$unit.service"
	grep -q "^ExecStart=$app/$program " "$unit.service" || die "$unit does not run $program"
done
cp weftd@.service weftd@h0.service
for unit in weftd@h0 weft-fm; do
	[ -e "$unit.service" ] || continue
	systemd-analyze verify "./$unit.service" >"$unit.log" 2>&1 || die "systemd-analyze verify $unit"
	same "what systemd says of $unit" "" "$(cat "$unit.log")"
	systemd-analyze security --offline=yes --threshold=40 "./$unit.service" >"$unit.log" 2>&1 ||
		die "$unit is open: $(tail -n 1 "$unit.log")"
	tail -n 1 "$unit.log"
done

# The command line that a unit makes of its variables, and of those that an administrator sets.
command_of() {
	(
		eval "$(sed -n 's/^Environment=//p' "$1.service" | tr ' ' '\n' | sed 's/^/export /')"
		WEFT_TOPOLOGY=$work/fabric.yaml
		eval "echo $(sed -n 's/^ExecStart=//p' "$1.service" | sed "s/%i/s0/")"
	)
}
cat >fabric.yaml <<-'Y'
	fabric: units
	nodes:
	  - {name: h0, kind: host, pid: 0x101}
	  - {name: s0, kind: switch, pid: 0x010}
	  - {name: g0, kind: gfd, pid: 0x200, memory: 4K}
	links:
	  - {a: h0, b: s0}
	  - {a: s0, b: g0}
Y
command_of weftd@ >command
# shellcheck disable=SC2046
$(cat command) --check >out 2>err || die "$(cat command) --check: $(cat err)"
same "what weftd@s0 would run" "switch s0" "$(awk '$2 ~ /^[hsg]0$/ { print $1, $2 }' out)"
# Both find each other's sockets, and keep what they store where they may write.
same "run folders" "XDG_RUNTIME_DIR=/run/weftd" "$(grep -ho 'XDG_RUNTIME_DIR=[^ ]*' ./*.service | sort -u)"
grep -q '^d /run/weftd/weft *0711 weft weft' "$tree/usertools/systemd/weft.tmpfiles" || die "nobody makes the run folder"
same "places to write to" "ReadWritePaths=/run/weftd" "$(grep -h '^ReadWritePaths' ./*.service | sort -u)"

# The drop-in for etcd: systemd takes it, it opens what it has to and nothing else, and weft-fm takes its command.
if [ -e weft-fm.service ]; then
	mkdir -p etcd/weft-fm.service.d
	cp weft-fm.service etcd/
	sed "s,@bindir@,$app," "$tree/usertools/systemd/weft-fm-etcd.conf.in" >etcd/weft-fm.service.d/etcd.conf
	systemd-analyze verify ./etcd/weft-fm.service >etcd.log 2>&1 || die "systemd-analyze verify with the drop-in"
	same "what systemd says of the drop-in" "" "$(cat etcd.log)"
	systemd-analyze security --offline=yes --threshold=40 ./etcd/weft-fm.service >etcd.log 2>&1 ||
		die "with the drop-in it is open: $(tail -n 1 etcd.log)"
	tail -n 1 etcd.log
	systemd-analyze security --offline=yes --json=short ./etcd/weft-fm.service >opened.json
	systemd-analyze security --offline=yes --json=short ./weft-fm.service >closed.json
	same "what the drop-in opens" "IPAddressDeny PrivateNetwork RestrictAddressFamilies_AF_INET_INET6" "$(json opened.json \
		'" ".join(sorted(a["json_field"] for a in o if a not in load("closed.json")))')"
	command=$(sed -n 's/^ExecStart=\(.\)/\1/p' etcd/weft-fm.service.d/etcd.conf)
	(
		export XDG_RUNTIME_DIR=$work WEFT_TOPOLOGY=fabric.yaml WEFT_FM_OPTIONS="--once --timeout 1"
		export WEFT_FM_STORE=etcd:http://127.0.0.1:1/weft
		eval "timeout 20 $command"
	) >etcd.log 2>etcd.err || true
	grep -qE 'no command is sent until it answers|libcurl' etcd.err || die "weft-fm does not take the command of the drop-in: $(cat etcd.err)"
fi

if command -v systemd-sysusers >/dev/null; then
	mkdir -p root/etc
	systemd-sysusers --root=root "$tree/usertools/systemd/weft.sysusers" >sysusers.log 2>&1 || die "systemd-sysusers"
	grep -q '^weft:.*:/var/lib/weft:/usr/sbin/nologin$' root/etc/passwd || die "the user: $(grep weft root/etc/passwd)"
fi
if command -v udevadm >/dev/null && udevadm verify --help >/dev/null 2>&1; then
	udevadm verify "$tree/usertools/systemd/60-weft.rules" >udev.log 2>&1 || die "the rule of udev"
fi
echo "systemd takes the units, and they take little"
