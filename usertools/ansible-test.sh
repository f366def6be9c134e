#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The playbook of usertools/ansible against a root of its own: see --help. Ends with "N passed, N failed, N skipped"; exit
# status 1 if any failed.
set -u
cd "$(dirname "$0")/.." || exit 1
. usertools/fresh-root.sh

usage() {
	cat <<-U
	usage: usertools/ansible-test.sh --packages DIR [--keep]

	Has ansible-lint look at usertools/ansible, makes a minimal root of Debian 12 with debootstrap, runs the playbook on it
	twice, by a program that stands for ssh and goes there by chroot, and looks at what it made: packages, files, a fabric
	that runs; the second time nothing may change, and a topology that weftd refuses must not arrive. What needs a boot (units,
	the kernel's command line, drivers of NICs) is left out. Needs root, debootstrap, ansible-core and the right to mount; where one is
	missing it says so and skips. Some five minutes and 2 GB in \$TMPDIR.

	  --packages DIR  the packages, as usertools/package-test.sh --keep and dpkg-buildpackage leave them
	  --keep          leave the root, and say where

	  WEFT_FRESH_CACHE=DIR  keep the minimal root and what was fetched in DIR, for the next time
	U
}

keep=0 built=""
while [ $# -gt 0 ]; do
	case $1 in
	--keep) keep=1 ;;
	--packages)
		built=$(fresh_packages "${2:-}") || exit 2
		shift
		;;
	--help | -h)
		usage
		exit 0
		;;
	*)
		echo "ansible-test.sh: unknown option \"$1\"; --help shows what there is" >&2
		exit 2
		;;
	esac
	shift
done
[ -n "$built" ] || {
	echo "ansible-test.sh: --packages DIR is missing; --help says what it is" >&2
	exit 2
}

command -v ansible-playbook >/dev/null || skip "ansible-playbook is not installed (package ansible-core)"
again=(--packages "$built")
[ $keep -eq 0 ] || again+=(--keep)
fresh_enter "${again[@]}"
fresh_begin weft-ansible
root=$work/root

inside() { fresh_inside "$root" "$@"; }

inventory() {
	# Options and the host's name go; what is left is the command.
	cat >"$work/ssh" <<-S
	#!/bin/bash
	while [ \$# -gt 1 ]; do shift; done
	exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 ${http_proxy:+http_proxy=$http_proxy} \
		chroot $root /bin/sh -c "\$1"
	S
	chmod 755 "$work/ssh"
	echo '[defaults]' >"$work/ansible.cfg"
	openssl rand -hex 32 >"$work/lab.key"
	cat >"$work/fabric.yaml" <<-Y
	fabric: lab
	nodes:
	  - {name: h0, kind: host, server: lab1, pid: 0x101}
	  - {name: g0, kind: gfd, server: lab1, pid: 0x200, memory: 16M}
	links:
	  - {a: h0, b: g0}
	Y
	cat >"$work/inventory.yml" <<-Y
	lab:
	  hosts:
	    lab1:
	      ansible_connection: ssh
	      ansible_become: false # root already, and no sudo there
	      ansible_ssh_executable: $work/ssh
	      ansible_ssh_transfer_method: piped
	      ansible_python_interpreter: /usr/bin/python3
	      weft_packages: $built
	      weft_topology: $work/fabric.yaml
	      weft_key_file: $work/lab.key
	      weft_nodes: [h0, g0]
	      weft_interfaces: [{name: ens2f1, mtu: 9000}]
	      weft_pci: ["0000:3b:00.0"]
	      weft_cpus: "2-3,6"
	      weft_options: --http 9464
	Y
}

# play [OPTION...]: the playbook without what this machine's ansible is set to; its recap goes to stdout.
play() {
	ANSIBLE_CONFIG="$work/ansible.cfg" ANSIBLE_HOME="$work/ansible" ANSIBLE_NOCOLOR=1 ansible-playbook -i "$work/inventory.yml" "$@" \
		usertools/ansible/lab.yml
}

again() {
	play | tee "$work/again.log" && grep -E '^lab1 .* changed=0 .* failed=0' "$work/again.log"
}

files() {
	inside bash -euxc '
		weftd --version
		weftd --check /etc/weft/fabric.yaml --server lab1
		[ "$(stat -c "%U %a" /etc/weft/lab.key)" = "weft 600" ]
		grep -qx "WEFTD_OPTIONS=\"--http 9464\"" /etc/default/weft
		grep -qx "MTUBytes=9000" /etc/systemd/network/20-weft-ens2f1.network
		grep -qx "vm.nr_hugepages=512" /etc/sysctl.d/60-weft-hugepages.conf
		[ "$(GRUB_CMDLINE_LINUX=quiet; . /etc/default/grub.d/weft.cfg; echo "$GRUB_CMDLINE_LINUX" | sed "s/amd_/intel_/")" = \
			"quiet intel_iommu=on iommu=pt isolcpus=2-3,6 nohz_full=2-3,6 rcu_nocbs=2-3,6" ]
		[ "$(grep -c "^w /sys/devices/system/cpu/cpu[236]/cpufreq/scaling_governor - - - - performance$" /etc/tmpfiles.d/weft-governor.conf)" = 3 ]
		weftd --until-done | grep -E " 0 mismatches +0 lost"'
}

refused() {
	echo "nodes: 1" >"$work/bad.yaml"
	if play -e weft_topology="$work/bad.yaml" >"$work/bad.log" 2>&1; then
		return 1
	fi
	cat "$work/bad.log"
	grep -q 'failed to validate' "$work/bad.log" && grep -q 'fabric: lab' "$root/etc/weft/fabric.yaml"
}

if command -v ansible-lint >/dev/null; then
	step "ansible-lint" env -C usertools/ansible ansible-lint --offline lab.yml
else
	echo "skipped: ansible-lint is not installed"
	skipped=$((skipped + 1))
fi
step "a minimal root" fresh_base
step "the root" fresh_root "$root"
inventory
step "the playbook" play
step "what it made" files
step "the playbook again changes nothing" again
step "a topology that weftd refuses does not arrive" refused
finish
