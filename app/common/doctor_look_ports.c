/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* How weftctl doctor looks at NICs under DPDK and at interfaces of the kernel. */

#include "doctor.h"

#include <fcntl.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "weft_base.h"

#define DOCTOR_XDP_MTU_MAX 3498 /* doc/runtime.md: a frame fits a page with what AF_XDP keeps */

/* "s0.1: 0000:5e:00.0" for messages. */
static void
doctor_found(struct doctor_look *l, const char *what)
{
	const struct doctor_subject *s = l->s;

	snprintf(l->found, sizeof(l->found), "%s%s%.200s: %.200s", s->port,
		s->port[0] != '\0' ? " on " : "", s->name, what);
}

static enum doctor_answer
doctor_say(struct doctor_look *l, bool is_good, const char *what)
{
	doctor_found(l, what);
	return is_good ? DOCTOR_AS_WANTED : DOCTOR_OTHERWISE;
}

static bool
doctor_has_pci(const struct doctor_look *l)
{
	return doctor_is_there(l->d, "sys/bus/pci/devices/%s", l->s->name);
}

static bool
doctor_has_netif(const struct doctor_look *l)
{
	return doctor_is_there(l->d, "sys/class/net/%s", l->s->name);
}

enum doctor_answer
doctor_look_pci_there(struct doctor_look *l)
{
	const bool is_there = doctor_has_pci(l);

	return doctor_say(l, is_there, is_there ? "there" : "no such device here");
}

static void
doctor_find_route(void *arg, const char *netif)
{
	struct doctor_look *l = arg;
	char route[256];

	snprintf(route, sizeof(route), "%s\t00000000", netif);
	if (doctor_find_line(l->d, "proc/net/route", route, route, sizeof(route)) == 0)
		snprintf(l->want, sizeof(l->want), "%s has the default route", netif);
}

enum doctor_answer
doctor_look_pci_idle(struct doctor_look *l)
{
	char folder[DOCTOR_TEXT + 32];

	if (!doctor_has_pci(l))
		return DOCTOR_NOT_HERE;
	snprintf(folder, sizeof(folder), "sys/bus/pci/devices/%s/net", l->s->name);
	doctor_each_name(l->d, folder, doctor_find_route, l);
	return doctor_say(
		l, l->want[0] == '\0', l->want[0] != '\0' ? l->want : "carries no default route");
}

enum doctor_answer
doctor_look_iommu(struct doctor_look *l)
{
	char vendor[64] = "", unsafe[8] = "";
	const unsigned int n = doctor_each_name(l->d, "sys/kernel/iommu_groups", NULL, NULL);

	snprintf(l->found, sizeof(l->found), "%u groups", n);
	doctor_find_line(l->d, "proc/cpuinfo", "vendor_id", vendor, sizeof(vendor));
	snprintf(l->arg, sizeof(l->arg), "%s",
		strcmp(vendor, "AuthenticAMD") == 0 ? "amd_iommu=on" : "intel_iommu=on");
	if (n != 0)
		return DOCTOR_AS_WANTED;
	doctor_read(l->d, unsafe, sizeof(unsafe),
		"sys/module/vfio/parameters/enable_unsafe_noiommu_mode");
	if (unsafe[0] != 'Y')
		return DOCTOR_OTHERWISE;
	snprintf(l->found, sizeof(l->found),
		"none, and vfio was told to do without (a NIC may then write anywhere)");
	return DOCTOR_AS_WANTED;
}

enum doctor_answer
doctor_look_vfio(struct doctor_look *l)
{
	const bool is_there = doctor_is_there(l->d, "sys/bus/pci/drivers/vfio-pci");

	snprintf(l->found, sizeof(l->found), "%s", is_there ? "loaded" : "not loaded");
	return is_there ? DOCTOR_AS_WANTED : DOCTOR_OTHERWISE;
}

/* NVIDIA's drivers of DPDK work beside the kernel's; uio has no IOMMU and runs as root alone. */
enum doctor_answer
doctor_look_driver(struct doctor_look *l)
{
	static const char *const good[] = { "vfio-pci", "mlx4_core", "mlx5_core", "uio_pci_generic",
		"igb_uio" };
	char driver[64];
	bool is_good = false;

	if (!doctor_has_pci(l))
		return DOCTOR_NOT_HERE;
	if (doctor_link(
		    l->d, driver, sizeof(driver), "sys/bus/pci/devices/%s/driver", l->s->name) != 0)
		return doctor_say(l, false, "no driver");
	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(good); i++)
		is_good = is_good || strcmp(driver, good[i]) == 0;
	return doctor_say(l, is_good, driver);
}

enum doctor_answer
doctor_look_vfio_file(struct doctor_look *l)
{
	char group[64], path[96];
	struct stat st;

	if (doctor_link(l->d, group, sizeof(group), "sys/bus/pci/devices/%s/iommu_group",
		    l->s->name) != 0)
		return DOCTOR_NOT_HERE;
	snprintf(path, sizeof(path), "dev/vfio/%s", group);
	/* It comes with the driver. */
	if (!doctor_is_there(l->d, "%s", path))
		return DOCTOR_NOT_HERE;
	snprintf(l->arg, sizeof(l->arg), "/%s", path);
	if (doctor_has_device(l->d, path, true))
		return doctor_say(l, true, l->arg);
	/* The unit's group has it, by the rule of udev beside it. */
	if (doctor_has_unit(l->d) && doctor_stat(l->d, &st, "%s", path) == 0 &&
		S_ISCHR(st.st_mode) && (st.st_mode & 060) == 060)
		return doctor_say(l, true, "for weftd@.service, not for this user");
	return doctor_say(l, false, "not for this user");
}

enum doctor_answer
doctor_look_netif_there(struct doctor_look *l)
{
	const bool is_there = doctor_has_netif(l);

	return doctor_say(l, is_there, is_there ? "there" : "no such interface here");
}

enum doctor_answer
doctor_look_up(struct doctor_look *l)
{
	const int64_t flags = doctor_number(l->d, 0, "sys/class/net/%s/flags", l->s->name);
	const bool is_up = (flags & IFF_UP) != 0;

	if (!doctor_has_netif(l))
		return DOCTOR_NOT_HERE;
	return doctor_say(l, is_up, is_up ? "up" : "down");
}

/* Of an interface that is down the kernel does not say. */
enum doctor_answer
doctor_look_carrier(struct doctor_look *l)
{
	const int64_t carrier = doctor_number(l->d, -1, "sys/class/net/%s/carrier", l->s->name);

	if (carrier < 0)
		return DOCTOR_NOT_HERE;
	return doctor_say(l, carrier != 0, carrier != 0 ? "a carrier" : "no carrier");
}

enum doctor_answer
doctor_look_mtu(struct doctor_look *l)
{
	const int64_t mtu = doctor_number(l->d, -1, "sys/class/net/%s/mtu", l->s->name);
	char text[32];

	if (mtu < 0)
		return DOCTOR_NOT_HERE;
	snprintf(text, sizeof(text), "%d", (int)mtu);
	snprintf(l->want, sizeof(l->want), "%u", l->s->mtu);
	return doctor_say(l, mtu >= l->s->mtu, text);
}

enum doctor_answer
doctor_look_master(struct doctor_look *l)
{
	char master[64];

	if (!doctor_has_netif(l))
		return DOCTOR_NOT_HERE;
	if (doctor_link(l->d, master, sizeof(master), "sys/class/net/%s/master", l->s->name) != 0)
		return doctor_say(l, true, "of its own");
	return doctor_say(l, false, master);
}

enum doctor_answer
doctor_look_firewall(struct doctor_look *l)
{
	char rest[256];
	const bool has =
		doctor_find_line(l->d, "proc/modules", "ebtable_filter", rest, sizeof(rest)) == 0 ||
		doctor_find_line(l->d, "proc/modules", "ebtable_broute", rest, sizeof(rest)) == 0;

	snprintf(l->found, sizeof(l->found), "%s", has ? "ebtables is loaded" : "no ebtables");
	return has ? DOCTOR_OTHERWISE : DOCTOR_AS_WANTED;
}

/* The kernel lists the protocol of AF_XDP's sockets where it has them. */
enum doctor_answer
doctor_look_xdp(struct doctor_look *l)
{
	char rest[256];
	const int rc = doctor_find_line(l->d, "proc/net/protocols", "XDP", rest, sizeof(rest));

	if (!doctor_has_netif(l) || (l->s->mtu > DOCTOR_XDP_MTU_MAX && !l->s->must_xdp))
		return DOCTOR_NOT_HERE;
	if (l->s->must_xdp)
		l->level = DOCTOR_STOPS;
	return doctor_say(l, rc == 0, rc == 0 ? "the kernel has AF_XDP" : "the kernel has none");
}

/* AF_XDP refuses a larger one; the wish of a driver by its name has no other. */
enum doctor_answer
doctor_look_xdp_mtu(struct doctor_look *l)
{
	const int64_t mtu = doctor_number(l->d, -1, "sys/class/net/%s/mtu", l->s->name);
	char text[32];

	if (mtu < 0 || !l->s->must_xdp)
		return DOCTOR_NOT_HERE;
	snprintf(text, sizeof(text), "%d", (int)mtu);
	snprintf(l->want, sizeof(l->want), "%d", DOCTOR_XDP_MTU_MAX);
	return doctor_say(l, mtu <= DOCTOR_XDP_MTU_MAX, text);
}
