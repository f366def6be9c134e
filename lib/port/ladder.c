/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The ladder: which driver serves a port, and the one line that says why or why none can. Pure;
 * facts.c asks the machine. Order and limits are what was measured (doc/runtime.md).
 */

#include "port_priv.h"

#include <errno.h>
#include <stdio.h>

#include "weft_eal.h"

#define LADDER_PAGE 4096

static const char *const driver_words[] = {
	[WEFT_PORT_AUTO] = "auto",
	[WEFT_PORT_PCI] = "pci",
	[WEFT_PORT_AF_XDP] = "af_xdp",
	[WEFT_PORT_AF_PACKET] = "af_packet",
	[WEFT_PORT_MEMIF] = "memif",
	[WEFT_PORT_VDEV] = "vdev",
	[WEFT_PORT_RING] = "ring",
};

const char *
weft_port_driver_word(enum weft_port_driver driver)
{
	return (size_t)driver < WEFT_ARRAY_SIZE(driver_words) ? driver_words[driver] : "unknown";
}

/* The name that a driver needs; NULL for the ones that need none. */
static const char *
ladder_spec_device(
	const struct weft_port_spec *spec, enum weft_port_driver driver, const char **key)
{
	switch (driver) {
	case WEFT_PORT_PCI: *key = "pci"; return spec->pci;
	case WEFT_PORT_AF_XDP:
	case WEFT_PORT_AF_PACKET: *key = "netif"; return spec->netif;
	case WEFT_PORT_MEMIF: *key = "socket"; return spec->socket;
	case WEFT_PORT_VDEV: *key = "vdev"; return spec->vdev;
	case WEFT_PORT_AUTO:
	case WEFT_PORT_RING: break;
	}
	*key = "a ring";
	return NULL;
}

static int
ladder_check_spec(const struct weft_port_spec *spec, char *err, size_t errlen)
{
	const char *const devices[] = { spec->pci, spec->netif, spec->vdev, spec->socket };
	unsigned int named = 0;
	const char *key;

	for (size_t i = 0; i < WEFT_ARRAY_SIZE(devices); i++)
		named += devices[i] != NULL;
	if (spec->max_flits < 1 || spec->max_flits > WEFT_WIRE_FLITS_MAX)
		return weft_errorf(err, errlen, -EINVAL,
			"port %s: flits per frame must be 1 to 64, not %u", spec->name,
			spec->max_flits);
	if (named > 1)
		return weft_errorf(err, errlen, -EINVAL,
			"port %s: names more than one of pci, netif, vdev and socket", spec->name);
	if (spec->driver == WEFT_PORT_RING)
		return weft_errorf(err, errlen, -EINVAL,
			"port %s: a ring needs both ends in one process", spec->name);
	if (spec->driver == WEFT_PORT_AUTO) {
		if (named == 1)
			return 0;
		return weft_errorf(err, errlen, -EINVAL,
			"port %s: names no device (pci, netif, vdev or socket)", spec->name);
	}
	if (ladder_spec_device(spec, spec->driver, &key) == NULL)
		return weft_errorf(err, errlen, -EINVAL, "port %s: driver %s needs \"%s\"",
			spec->name, weft_port_driver_word(spec->driver), key);
	return 0;
}

/* Reasons against a kernel interface, whichever driver serves it. */
static int
ladder_check_netif(
	const struct weft_port_spec *spec, const struct port_facts *facts, char *err, size_t errlen)
{
	unsigned int need = PORT_MTU(spec->max_flits);

	if (strpbrk(spec->netif, ",[]\"") != NULL)
		return weft_errorf(err, errlen, -EINVAL,
			"port %s: interface name %s cannot be handed to DPDK", spec->name,
			spec->netif);
	if (facts->netif_rc != 0) {
		snprintf(err, errlen, "port %s: interface %s: %s", spec->name, spec->netif,
			facts->netif_rc == -ENODEV ? "no such interface here (ip link shows them)"
						   : strerror(-facts->netif_rc));
		return facts->netif_rc;
	}
	if (facts->mtu < need)
		return weft_errorf(err, errlen, -EMSGSIZE,
			"port %s: MTU of %s is %u, but %u flits per frame need %u: "
			"ip link set %s mtu %u, or at most %u flits",
			spec->name, spec->netif, facts->mtu, spec->max_flits, need, spec->netif,
			need, (unsigned int)WEFT_WIRE_FLITS_FOR_MTU(facts->mtu));
	if (!facts->is_up)
		return weft_errorf(err, errlen, -ENETDOWN,
			"port %s: interface %s is down: ip link set %s up", spec->name, spec->netif,
			spec->netif);
	if (!facts->can_packet)
		return weft_errorf(err, errlen, -EPERM,
			"port %s: no right to open raw sockets on %s: needs CAP_NET_RAW (root, a "
			"user "
			"namespace, or setcap cap_net_raw,cap_net_admin+ep)",
			spec->name, spec->netif);
	return 0;
}

/* Which driver of a kernel interface. */
static void
ladder_choose_netif(const struct port_facts *facts, struct port_choice *choice)
{
	choice->driver = WEFT_PORT_AF_PACKET;
	if (facts->mtu > WEFT_PORT_AF_XDP_MTU_MAX) {
		snprintf(choice->why, sizeof(choice->why), "af_xdp needs MTU <= %d, this is %u",
			WEFT_PORT_AF_XDP_MTU_MAX, facts->mtu);
	} else if (facts->buffer_len > LADDER_PAGE) {
		snprintf(choice->why, sizeof(choice->why),
			"af_xdp needs buffers of at most %d bytes, these are %zu", LADDER_PAGE,
			facts->buffer_len);
	} else if (!facts->can_xdp) {
		snprintf(choice->why, sizeof(choice->why),
			"af_xdp needs CAP_BPF and CAP_NET_ADMIN outside a user namespace");
	} else {
		choice->driver = WEFT_PORT_AF_XDP;
		choice->may_fall = true;
		snprintf(choice->why, sizeof(choice->why), "fastest for a kernel interface, MTU %u",
			facts->mtu);
	}
}

static void
ladder_choose_auto(const struct weft_port_spec *spec, const struct port_facts *facts,
	struct port_choice *choice)
{
	const char *why = "named by its devargs";

	if (spec->netif != NULL) {
		ladder_choose_netif(facts, choice);
		return;
	}
	choice->driver = WEFT_PORT_VDEV;
	if (spec->pci != NULL) {
		choice->driver = WEFT_PORT_PCI;
		why = "a PCI device is named";
	} else if (spec->socket != NULL) {
		choice->driver = WEFT_PORT_MEMIF;
		why = "both ends on this host";
	}
	snprintf(choice->why, sizeof(choice->why), "%s", why);
}

/* The driver's own complaint would name neither MTU nor buffers. */
static int
ladder_check_xdp(
	const struct weft_port_spec *spec, const struct port_facts *facts, char *err, size_t errlen)
{
	if (facts->mtu > WEFT_PORT_AF_XDP_MTU_MAX)
		return weft_errorf(err, errlen, -EMSGSIZE,
			"port %s: af_xdp needs an MTU of at most %d, that of %s is %u: "
			"ip link set %s mtu %d, or driver af_packet",
			spec->name, WEFT_PORT_AF_XDP_MTU_MAX, spec->netif, facts->mtu, spec->netif,
			WEFT_PORT_AF_XDP_MTU_MAX);
	if (facts->buffer_len > LADDER_PAGE)
		return weft_errorf(err, errlen, -EMSGSIZE,
			"port %s: af_xdp needs buffers of at most %d bytes, %u flits per frame "
			"need %zu: fewer flits, or driver af_packet",
			spec->name, LADDER_PAGE, spec->max_flits, facts->buffer_len);
	return 0;
}

int
port_choose(const struct weft_port_spec *spec, const struct port_facts *facts,
	struct port_choice *choice, char *err, size_t errlen)
{
	int rc = ladder_check_spec(spec, err, errlen);

	if (rc != 0)
		return rc;
	if (spec->netif != NULL) {
		rc = ladder_check_netif(spec, facts, err, errlen);
		if (rc != 0)
			return rc;
	}
	memset(choice, 0, sizeof(*choice));
	if (spec->driver == WEFT_PORT_AUTO) {
		ladder_choose_auto(spec, facts, choice);
	} else {
		choice->driver = spec->driver;
		snprintf(choice->why, sizeof(choice->why), "as configured");
	}
	if (spec->driver == WEFT_PORT_AF_XDP)
		return ladder_check_xdp(spec, facts, err, errlen);
	if (choice->driver == WEFT_PORT_AF_PACKET && facts->is_group_taken)
		return weft_errorf(err, errlen, -EADDRINUSE,
			"port %s: the kernel's packet group of this process number on %s is in "
			"use on another interface: start again, for another number",
			spec->name, spec->netif);
	return 0;
}
