/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Facts of the machine about a port to be opened: its interface, our rights, the pool's buffers. */

#include "port_priv.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

/* A number of /proc/self/status, by a scanf format; 0 if it is not there. */
static uint64_t
facts_status(const char *format)
{
	char line[128];
	uint64_t v = 0;
	FILE *f = fopen("/proc/self/status", "re");

	if (f == NULL)
		return 0;
	while (fgets(line, sizeof(line), f) != NULL)
		if (sscanf(line, format, &v) == 1)
			break;
	fclose(f);
	return v;
}

static size_t
facts_lockable(uint64_t caps, bool first_userns)
{
	uint64_t locked = facts_status("VmLck: %" SCNu64) * 1024;
	struct rlimit limit;

	if (first_userns && (caps & WEFT_BIT64(CAP_IPC_LOCK)) != 0)
		return SIZE_MAX;
	if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
		return SIZE_MAX;
	return limit.rlim_cur > locked ? limit.rlim_cur - locked : 0;
}

/* The first user namespace maps every user to itself; programs can be loaded only from there. */
static bool
facts_first_userns(void)
{
	unsigned long from, to, n;
	bool is_first = false;
	FILE *f = fopen("/proc/self/uid_map", "re");

	if (f == NULL)
		return false;
	if (fscanf(f, "%lu %lu %lu", &from, &to, &n) == 3)
		is_first = from == 0 && to == 0 && n == UINT32_MAX;
	fclose(f);
	return is_first;
}

/*
 * DPDK's af_packet driver puts its socket into a packet group (PACKET_FANOUT) that it numbers by
 * the process and the interface, in 16 bits. A group of that number on another interface is in the
 * way.
 */
static bool
facts_group_taken(const char *netif)
{
	struct sockaddr_ll at = { .sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_ALL),
		.sll_ifindex = (int)if_nametoindex(netif) };
	const int flags =
		PACKET_FANOUT_HASH | PACKET_FANOUT_FLAG_DEFRAG | PACKET_FANOUT_FLAG_ROLLOVER;
	const int group = ((getpid() ^ at.sll_ifindex) & 0xFFFF) | flags << 16;
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	bool taken;

	if (fd < 0)
		return false;
	taken = bind(fd, (const struct sockaddr *)&at, sizeof(at)) == 0 &&
	        setsockopt(fd, SOL_PACKET, PACKET_FANOUT, &group, sizeof(group)) != 0 &&
	        errno == EINVAL;
	close(fd);
	return taken;
}

void
port_facts_read(const struct weft_port_spec *spec, struct port_facts *facts)
{
	uint64_t caps = facts_status("CapEff: %" SCNx64);
	bool can_bpf = (caps & (WEFT_BIT64(CAP_BPF) | WEFT_BIT64(CAP_SYS_ADMIN))) != 0;
	bool first_userns = facts_first_userns();
	struct weft_netif netif;

	memset(facts, 0, sizeof(*facts));
	facts->can_packet = (caps & WEFT_BIT64(CAP_NET_RAW)) != 0;
	facts->can_xdp = can_bpf && (caps & WEFT_BIT64(CAP_NET_ADMIN)) != 0 && first_userns;
	facts->lockable = facts_lockable(caps, first_userns);
	facts->buffer_len =
		rte_mempool_calc_obj_size(spec->pool->elt_size, spec->pool->flags, NULL);
	if (spec->netif != NULL) {
		facts->netif_rc = weft_netif_look(spec->netif, &netif);
		facts->mtu = netif.mtu;
		facts->is_up = netif.is_up;
	}
	if (spec->netif != NULL && facts->netif_rc == 0 && facts->is_up)
		facts->is_group_taken = facts_group_taken(spec->netif);
}
