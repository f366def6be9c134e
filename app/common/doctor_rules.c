/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The rules of weftctl doctor. A row: what is looked at and for whom, whether it stops or slows
 * nodes, what is wanted, what to do, and how it is looked at. Rows about one subject begin with the
 * one that asks whether it is there at all; the others say nothing of a subject that is not.
 */

#include "doctor.h"

#include <stdio.h>
#include <string.h>

#include "weft_base.h"

#define NEEDS(what) DOCTOR_NEEDS_##what
#define CAPABILITIES                                                                               \
	"sudo setcap cap_net_raw,cap_net_admin,cap_bpf,cap_ipc_lock+ep $(command -v weftd)"
#define KERNEL_WORD(word)                                                                          \
	"sudo sed -i 's/^GRUB_CMDLINE_LINUX=\"/&" word " /' /etc/default/grub && "                 \
	"sudo update-grub && sudo reboot"

const char *const doctor_level_words[] = { "good", "slows", "stops", "unknown", NULL };

const struct doctor_rule doctor_rules[] = {
	{ "memory", "memory", NEEDS(LOOKED_UP), DOCTOR_MACHINE, DOCTOR_STOPS,
		"{want} MB available, for memory and gim of nodes",
		"give nodes of this machine less memory in the topology", doctor_look_memory },
	{ "memory", "hugepages", NEEDS(PCI), DOCTOR_MACHINE, DOCTOR_STOPS, "{want} MB free",
		"echo vm.nr_hugepages={} | sudo tee /etc/sysctl.d/60-weft-hugepages.conf && "
		"sudo sysctl --system",
		doctor_look_hugepages },
	{ "memory", "hugepages-node", NEEDS(PCI), DOCTOR_PCI, DOCTOR_SLOWS,
		"free hugepages on NUMA node {want}, where the NIC is",
		"echo {} | sudo tee /sys/devices/system/node/node{want}/hugepages/"
		"hugepages-2048kB/nr_hugepages",
		doctor_look_node_pages },
	{ "cpus", "online", NEEDS(CPUS), DOCTOR_MACHINE, DOCTOR_STOPS, "{want} online",
		"name lcores among {} in the topology", doctor_look_online },
	{ "cpus", "governor", NEEDS(CPUS), DOCTOR_MACHINE, DOCTOR_SLOWS, "performance",
		"for c in {}; do echo performance | sudo tee "
		"/sys/devices/system/cpu/cpu$c/cpufreq/scaling_governor; done",
		doctor_look_governor },
	{ "cpus", "isolated", NEEDS(CPUS), DOCTOR_MACHINE, DOCTOR_SLOWS, "{want}",
		KERNEL_WORD("isolcpus={want}"), doctor_look_isolated },
	{ "cpus", "nohz", NEEDS(CPUS), DOCTOR_MACHINE, DOCTOR_SLOWS, "{want}",
		KERNEL_WORD("nohz_full={want} rcu_nocbs={want}"), doctor_look_nohz },
	{ "cpus", "numa", NEEDS(CPUS), DOCTOR_PCI | DOCTOR_NETIF, DOCTOR_SLOWS,
		"lcores of NUMA node {want}", "name lcores among {} for its node in the topology",
		doctor_look_numa },
	{ "devices", "pci", NEEDS(PCI), DOCTOR_PCI, DOCTOR_STOPS, "a PCI device of that address",
		"lspci -D | grep -i ethernet; correct {} in the topology", doctor_look_pci_there },
	{ "devices", "uplink", NEEDS(PCI), DOCTOR_PCI, DOCTOR_STOPS,
		"no default route over a NIC that DPDK is to have",
		"ip route show default; name another NIC than {} in the topology",
		doctor_look_pci_idle },
	{ "devices", "iommu", NEEDS(PCI), DOCTOR_MACHINE, DOCTOR_STOPS,
		"groups of an IOMMU (which the firmware may have to switch on: VT-d, AMD-Vi)",
		KERNEL_WORD("{} iommu=pt"), doctor_look_iommu },
	{ "devices", "vfio", NEEDS(PCI), DOCTOR_MACHINE, DOCTOR_STOPS, "the driver vfio-pci",
		"echo vfio-pci | sudo tee /etc/modules-load.d/weft.conf && sudo modprobe vfio-pci",
		doctor_look_vfio },
	{ "devices", "driver", NEEDS(PCI), DOCTOR_PCI, DOCTOR_STOPS,
		"vfio-pci (mlx4_core, mlx5_core stay)",
		"sudo apt-get install -y driverctl && sudo driverctl set-override {} vfio-pci",
		doctor_look_driver },
	{ "devices", "vfio-file", NEEDS(PCI), DOCTOR_PCI, DOCTOR_STOPS,
		"read and write for who runs weftd", "sudo chown \"$USER\" {}",
		doctor_look_vfio_file },
	{ "interfaces", "interface", NEEDS(NETIF), DOCTOR_NETIF, DOCTOR_STOPS,
		"an interface of that name", "ip -br link; correct {} in the topology",
		doctor_look_netif_there },
	{ "interfaces", "up", NEEDS(NETIF), DOCTOR_NETIF, DOCTOR_STOPS, "up",
		"sudo ip link set {} up", doctor_look_up },
	{ "interfaces", "carrier", NEEDS(NETIF), DOCTOR_NETIF, DOCTOR_STOPS,
		"a carrier: the cable, and the other end up", "ip -s link show {}",
		doctor_look_carrier },
	{ "interfaces", "mtu", NEEDS(NETIF), DOCTOR_NETIF, DOCTOR_STOPS, "{want} or more",
		"sudo ip link set {} mtu {want}", doctor_look_mtu },
	{ "interfaces", "master", NEEDS(NETIF), DOCTOR_NETIF, DOCTOR_STOPS,
		"an interface of its own, in no bridge, bond or team",
		"sudo ip link set {} nomaster", doctor_look_master },
	{ "interfaces", "firewall", NEEDS(NETIF), DOCTOR_MACHINE, DOCTOR_SLOWS,
		"no rules of ebtables (frames are EtherType 0x88B5, no IP: others do not see them)",
		"sudo ebtables -L", doctor_look_firewall },
	{ "interfaces", "af_xdp", NEEDS(XDP), DOCTOR_NETIF, DOCTOR_SLOWS,
		"a kernel with AF_XDP (CONFIG_XDP_SOCKETS); where no driver is named af_packet is "
		"used otherwise",
		"sudo apt-get install -y linux-image-amd64 && sudo reboot", doctor_look_xdp },
	{ "interfaces", "af_xdp-mtu", NEEDS(XDP), DOCTOR_NETIF, DOCTOR_STOPS,
		"{want} at most, for driver: af_xdp", "sudo ip link set {} mtu {want}",
		doctor_look_xdp_mtu },
	{ "rights", "raw-sockets", NEEDS(NETIF), DOCTOR_MACHINE, DOCTOR_STOPS, "CAP_NET_RAW",
		CAPABILITIES, doctor_look_raw },
	{ "rights", "bpf", NEEDS(XDP), DOCTOR_MACHINE, DOCTOR_SLOWS,
		"CAP_BPF and CAP_NET_ADMIN; where no driver is named af_packet is used otherwise",
		CAPABILITIES, doctor_look_bpf },
	{ "rights", "memlock", NEEDS(PCI) | NEEDS(NETIF) | NEEDS(KEYS), DOCTOR_MACHINE,
		DOCTOR_STOPS, "{want} bytes of locked memory, or CAP_IPC_LOCK",
		"echo \"$USER - memlock unlimited\" | sudo tee /etc/security/limits.d/weft.conf; "
		"log in again",
		doctor_look_memlock },
	{ "programs", "userfaultfd", NEEDS(PROGRAMS), DOCTOR_MACHINE, DOCTOR_SLOWS,
		"allowed to users, for system calls on weft_map()", "{want}",
		doctor_look_userfaultfd },
	{ "programs", "fuse", NEEDS(PROGRAMS), DOCTOR_MACHINE, DOCTOR_SLOWS,
		"/dev/fuse, for weft-fuse", "sudo apt-get install -y fuse3 && sudo modprobe fuse",
		doctor_look_fuse },
	{ "time", "clocksource", NEEDS(ANYHOW), DOCTOR_MACHINE, DOCTOR_SLOWS,
		"tsc, or a hypervisor's that is read without a trap",
		"echo {} | sudo tee "
		"/sys/devices/system/clocksource/clocksource0/current_clocksource",
		doctor_look_clock },
	{ "time", "tsc", NEEDS(ANYHOW), DOCTOR_MACHINE, DOCTOR_SLOWS,
		"a TSC of constant rate (constant_tsc): weftd's times are counts of it",
		"grep -m1 ^flags /proc/cpuinfo; have the hypervisor pass the CPU through",
		doctor_look_tsc },
	{ "time", "synchronised", NEEDS(OTHERS), DOCTOR_MACHINE, DOCTOR_SLOWS,
		"set by NTP or PTP: events and captures of servers are put in order by it",
		"sudo apt-get install -y systemd-timesyncd && sudo timedatectl set-ntp true",
		doctor_look_synchronised },
	{ "files", "key", NEEDS(KEYS), DOCTOR_KEY, DOCTOR_STOPS,
		"a plain file of mode 0600, of who runs weftd or root, with 64 hex digits",
		"{want}", doctor_look_key },
	{ "files", "run-folder", NEEDS(ANYHOW), DOCTOR_MACHINE, DOCTOR_STOPS,
		"a folder of yours that others cannot write to, or none yet", "{want}",
		doctor_look_run_folder },
};

const unsigned int doctor_n_rules = WEFT_ARRAY_SIZE(doctor_rules);

void
doctor_make_plain(char *text)
{
	for (; *text != '\0'; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7F)
			*text = '?';
}

/* Without a topology nobody is known to need what only some nodes do. */
static enum doctor_level
doctor_level_of(const struct doctor *d, const struct doctor_rule *r)
{
	if ((d->needs & DOCTOR_NEEDS_LOOKED_UP) != 0 ||
		(r->needs & (DOCTOR_NEEDS_ANYHOW | DOCTOR_NEEDS_KEYS)) != 0)
		return r->level;
	return DOCTOR_SLOWS;
}

/* A text of a row with what the look found in it. */
static void
doctor_fill(char *to, size_t len, const char *text, const struct doctor_look *l)
{
	size_t used = 0;

	to[0] = '\0';
	while (*text != '\0' && used + 1 < len) {
		const char *with = NULL;
		size_t skip = 0;

		if (strncmp(text, "{}", 2) == 0) {
			with = l->arg;
			skip = 2;
		} else if (strncmp(text, "{want}", 6) == 0) {
			with = l->want;
			skip = 6;
		}
		if (with != NULL)
			used += (size_t)snprintf(to + used, len - used, "%s", with);
		else
			used += (size_t)snprintf(to + used, len - used, "%c", *text);
		text += with != NULL ? skip : 1;
	}
}

bool
doctor_judge(const struct doctor *d, const struct doctor_rule *r, const struct doctor_subject *s,
	struct doctor_finding *f)
{
	struct doctor_look l = { .d = d, .s = s, .level = doctor_level_of(d, r) };
	enum doctor_answer answer;

	snprintf(l.arg, sizeof(l.arg), "%s", s->name);
	answer = r->look(&l);
	if (answer == DOCTOR_NOT_HERE)
		return false;
	memset(f, 0, sizeof(*f));
	f->rule = r;
	f->subject = s;
	f->level = answer == DOCTOR_AS_WANTED     ? DOCTOR_GOOD
	           : answer == DOCTOR_CANNOT_LOOK ? DOCTOR_UNKNOWN
	                                          : l.level;
	snprintf(f->found, sizeof(f->found), "%s", l.found);
	doctor_fill(f->wanted, sizeof(f->wanted), r->wanted, &l);
	if (answer == DOCTOR_OTHERWISE)
		doctor_fill(f->fix, sizeof(f->fix), r->fix, &l);
	doctor_make_plain(f->found);
	doctor_make_plain(f->wanted);
	doctor_make_plain(f->fix);
	return true;
}

void
doctor_run(const struct doctor *d, doctor_finding_fn fn, void *arg)
{
	for (unsigned int i = 0; i < doctor_n_rules; i++) {
		const struct doctor_rule *r = &doctor_rules[i];

		for (unsigned int k = 0; (d->needs & r->needs) != 0 && k < d->n_subjects; k++) {
			struct doctor_finding f;

			if ((d->subject[k].kind & r->each) != 0 &&
				doctor_judge(d, r, &d->subject[k], &f))
				fn(arg, &f);
		}
	}
}
