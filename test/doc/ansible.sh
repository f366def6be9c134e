#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The playbook of usertools/ansible can be read, and every name that its tasks use is a default, registered or given by the
# inventory. usertools/ansible-test.sh runs it.
set -eu
cd "$(dirname "$0")/../../usertools/ansible"
command -v ansible-playbook >/dev/null || {
	echo "ansible-playbook is not installed (package ansible-core)"
	exit 77
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
echo '[defaults]' >"$work/ansible.cfg"
export ANSIBLE_CONFIG=$work/ansible.cfg ANSIBLE_HOME=$work LC_ALL=C.UTF-8
ansible-playbook --syntax-check -i inventory.yml lab.yml

grep -rhoE '\bweft_[a-z_]+' roles/weft/tasks roles/weft/handlers | sort -u >"$work/used"
{
	echo weft_packages
	echo weft_topology
	grep -rhoE '^weft_[a-z_]+' roles/weft/defaults
	sed -nE 's/^ *register: (weft_[a-z_]+)$/\1/p; s/^ *(weft_[a-z_]+): .*/\1/p' roles/weft/tasks/*.yml
} | sort -u >"$work/known"
unknown=$(comm -23 "$work/used" "$work/known")
[ -z "$unknown" ] || {
	echo "usertools/ansible: used, and set by nobody: $unknown" >&2
	exit 1
}
