/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Bringing an Ethernet device up as a port: one queue each way, promiscuous, whole frames in one
 * buffer. Only the public ethdev interface is used, so any driver will do.
 */

#include "port_priv.h"

#include <rte_alarm.h>
#include <rte_cycles.h>
#include <rte_dev.h>
#include <rte_errno.h>

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#define ETHDEV_DESCRIPTORS 1024
#define ETHDEV_DRAIN_BURST 32
#define SETTLE_MS 1000
#define US_PER_MS 1000

/* Find the device, probing it unless the user's EAL arguments did so already. */
static int
ethdev_find(const char *name, const char *devargs, uint16_t *id, bool *is_ours)
{
	int rc;

	*is_ours = false;
	if (rte_eth_dev_get_port_by_name(name, id) == 0)
		return 0;
	rc = rte_dev_probe(devargs);
	if (rc != 0)
		return rc;
	*is_ours = true;
	return rte_eth_dev_get_port_by_name(name, id);
}

/* Put a bad wire before the device found: the port is the wire then. */
static int
ethdev_wire(struct port_ethdev *dev, const struct port_devargs *args)
{
	uint16_t id;
	bool is_ours;
	int rc = ethdev_find(args->wire_name, args->wire_text, &id, &is_ours);

	if (rc != 0)
		return rc;
	dev->behind.id = dev->id;
	dev->behind.is_ours = dev->is_ours;
	dev->behind.is_there = true;
	dev->id = id;
	dev->is_ours = is_ours;
	return 0;
}

/*
 * Only a real NIC is asked for an MTU: the virtual devices report limits they do not have (1518
 * bytes for af_packet), and their kernel interface's MTU, checked before, is what rules.
 */
static int
ethdev_configure(uint16_t id, enum weft_port_driver driver, unsigned int max_flits,
	const struct rte_eth_dev_info *info)
{
	struct rte_eth_conf conf = { 0 };

	if (driver == WEFT_PORT_PCI) {
		conf.rxmode.mtu = PORT_MTU(max_flits);
		if (conf.rxmode.mtu < info->min_mtu)
			conf.rxmode.mtu = info->min_mtu;
		if (conf.rxmode.mtu > info->max_mtu)
			return -EMSGSIZE;
		/* With interrupts the link's state is pushed. */
		conf.intr_conf.lsc = (*info->dev_flags & RTE_ETH_DEV_INTR_LSC) != 0;
	}
	return rte_eth_dev_configure(id, 1, 1, &conf);
}

static int
ethdev_queues(uint16_t id, struct rte_mempool *pool)
{
	uint16_t rx_desc = ETHDEV_DESCRIPTORS, tx_desc = ETHDEV_DESCRIPTORS;
	int socket = rte_eth_dev_socket_id(id);
	unsigned int node = socket < 0 ? (unsigned int)SOCKET_ID_ANY : (unsigned int)socket;
	struct rte_eth_rxq_info rxq;
	int rc;

	rc = rte_eth_dev_adjust_nb_rx_tx_desc(id, &rx_desc, &tx_desc);
	if (rc == 0)
		rc = rte_eth_rx_queue_setup(id, 0, rx_desc, node, NULL, pool);
	if (rc == 0)
		rc = rte_eth_tx_queue_setup(id, 0, tx_desc, node, NULL);
	if (rc == 0)
		rc = rte_eth_dev_start(id);
	/* A frame in several buffers would be dropped by the first stage: refuse now instead. */
	if (rc == 0 && rte_eth_rx_queue_info_get(id, 0, &rxq) == 0 && rxq.scattered_rx != 0)
		rc = -EMSGSIZE;
	return rc;
}

/*
 * The af_packet driver's socket hears every interface of the namespace until it is bound to its
 * own: what came in by then is other ports' frames.
 */
static void
ethdev_drain(uint16_t id)
{
	struct rte_mbuf *pkt[ETHDEV_DRAIN_BURST];
	uint16_t n;

	for (unsigned int i = 0; i < ETHDEV_DESCRIPTORS / ETHDEV_DRAIN_BURST; i++) {
		n = rte_eth_rx_burst(id, 0, pkt, ETHDEV_DRAIN_BURST);
		rte_pktmbuf_free_bulk(pkt, n);
		if (n == 0)
			return;
	}
}

static int
ethdev_set_up(uint16_t id, enum weft_port_driver driver, const struct weft_port_spec *spec,
	const char **step)
{
	struct rte_eth_dev_info info;
	int rc;

	*step = "its driver tells nothing of it";
	rc = rte_eth_dev_info_get(id, &info);
	if (rc != 0)
		return rc;
	*step = "it cannot be configured for frames of this size";
	rc = ethdev_configure(id, driver, spec->max_flits, &info);
	if (rc != 0)
		return rc;
	*step = "its queues cannot be set up";
	rc = ethdev_queues(id, spec->pool);
	if (rc != 0)
		return rc;
	if (driver == WEFT_PORT_AF_PACKET)
		ethdev_drain(id);
	*step = "it cannot be made promiscuous";
	rc = rte_eth_promiscuous_enable(id);
	return rc == -ENOTSUP ? 0 : rc;
}

static void
ethdev_wait_up(uint16_t id, unsigned int wait_ms)
{
	for (unsigned int ms = 0; ms < wait_ms && !port_ethdev_is_up(id); ms++)
		rte_delay_us_sleep(1000);
}

int
port_ethdev_open(struct port_ethdev *dev, const struct weft_port_spec *spec,
	enum weft_port_driver driver, const struct port_devargs *args, char *err, size_t errlen)
{
	const char *step = "DPDK has no device of this name and arguments";
	mode_t mask = umask(0177);
	int rc = ethdev_find(args->name, args->text, &dev->id, &dev->is_ours);

	/* The mask was for the socket a memif server makes while it is probed. */
	umask(mask);
	dev->behind.is_there = false;
	dev->memif_server = spec->memif_server;
	if (rc != 0)
		return weft_errorf(err, errlen, -ENODEV, "port %s: %s: %s (%s)", spec->name,
			args->name, step, rte_strerror(-rc));
	if (args->wire_name[0] != '\0' && ethdev_wire(dev, args) != 0) {
		snprintf(err, errlen,
			"port %s: no bad wire \"%s\": built without the driver net_flitwire, or "
			"not what it takes (doc/flitwire.md)",
			spec->name, spec->wire);
		port_ethdev_close(dev);
		return -ENODEV;
	}
	rc = ethdev_set_up(dev->id, driver, spec, &step);
	if (rc != 0) {
		snprintf(err, errlen, "port %s: %s: %s (%s)", spec->name, args->name, step,
			rte_strerror(-rc));
		port_ethdev_close(dev);
		return rc;
	}
	ethdev_wait_up(dev->id, spec->link_wait_ms);
	return 0;
}

static void
ethdev_say_done(void *done)
{
	__atomic_store_n((bool *)done, true, __ATOMIC_RELEASE);
}

/*
 * Wait until EAL's interrupt thread has dealt with what has happened so far. It takes events as
 * they come in batches, in no order: an alarm set when the first has gone off is after all of them.
 */
void
port_settle_interrupts(void)
{
	for (unsigned int round = 0; round < 2; round++) {
		bool done = false;

		if (rte_eal_alarm_set(1, ethdev_say_done, &done) != 0)
			return;
		for (unsigned int ms = 0; !__atomic_load_n(&done, __ATOMIC_ACQUIRE); ms++) {
			if (ms == SETTLE_MS) {
				rte_eal_alarm_cancel(ethdev_say_done, &done);
				return;
			}
			rte_delay_us_sleep(US_PER_MS);
		}
	}
}

static void
ethdev_close(uint16_t id, bool is_ours)
{
	struct rte_eth_dev_info info;
	bool has_info = rte_eth_dev_info_get(id, &info) == 0;
	bool is_memif = has_info && strcmp(info.driver_name, "net_memif") == 0;
	int level = is_memif ? port_memif_hush() : -1;

	rte_eth_dev_stop(id);
	rte_eth_dev_close(id);
	if (is_ours && has_info)
		rte_dev_remove(info.device);
	port_memif_unhush(level);
	/*
	 * If the other end of a memif is in this process too, the interrupt thread now frees what
	 * it shared with us. Closing that end meanwhile would free it twice.
	 */
	if (is_memif)
		port_settle_interrupts();
}

void
port_ethdev_close(const struct port_ethdev *dev)
{
	ethdev_close(dev->id, dev->is_ours);
	if (dev->behind.is_there)
		ethdev_close(dev->behind.id, dev->behind.is_ours);
}

bool
port_ethdev_is_up(uint16_t id)
{
	struct rte_eth_link link = { 0 };

	return rte_eth_link_get_nowait(id, &link) == 0 && link.link_status == RTE_ETH_LINK_UP;
}
