/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * net_flitwire: an Ethernet device that is another one seen through a bad wire (architecture.md
 * section 5, doc/flitwire.md). It owns the lower device and hands configuration, queues and link
 * state through; frames pass one line a direction. One queue each way.
 */

#include <errno.h>
#include <stdio.h>

#include <bus_vdev_driver.h>
#include <ethdev_driver.h>
#include <ethdev_vdev.h>
#include <rte_cycles.h>
#include <rte_string_fns.h>

#include "flitwire_priv.h"

RTE_LOG_REGISTER(flitwire_logtype, pmd.net.flitwire, NOTICE);

#define SAY(fmt, ...)                                                                              \
	rte_log(RTE_LOG_ERR, (uint32_t)flitwire_logtype, "flitwire: " fmt "\n", __VA_ARGS__)

/* Give the lower port what is ready. Under the lock of the line. */
static void
flitwire_drain(struct flitwire *f)
{
	struct weft_badwire *l = &f->line[FLITWIRE_TX];
	struct rte_mbuf *burst[WEFT_BADWIRE_BURST];
	uint16_t n, sent;

	do {
		n = weft_badwire_peek(l, burst, WEFT_BADWIRE_BURST);
		if (n == 0)
			return;
		sent = rte_eth_tx_burst(f->lower, 0, burst, n);
		weft_badwire_took(l, sent);
	} while (sent == n);
}

static uint16_t
flitwire_tx(void *queue, struct rte_mbuf **mbufs, uint16_t n)
{
	struct flitwire *f = queue;
	struct weft_badwire *l = &f->line[FLITWIRE_TX];
	uint16_t taken = 0, room, now;

	rte_spinlock_lock(&l->lock);
	do {
		room = n - taken < WEFT_BADWIRE_BURST ? (uint16_t)(n - taken) : WEFT_BADWIRE_BURST;
		flitwire_drain(f);
		now = weft_badwire_put(l, mbufs + taken, room, rte_rdtsc(), &f->bytes[FLITWIRE_TX]);
		taken = (uint16_t)(taken + now);
		flitwire_drain(f);
	} while (taken < n && now == room);
	f->frames[FLITWIRE_TX] += taken;
	rte_spinlock_unlock(&l->lock);
	return taken;
}

/* Late frames leave although nothing is sent: ports are always polled. */
static void
flitwire_let_out(struct flitwire *f)
{
	struct weft_badwire *l = &f->line[FLITWIRE_TX];

	if (!weft_badwire_is_busy(l) || !rte_spinlock_trylock(&l->lock))
		return;
	weft_badwire_release(l, rte_rdtsc());
	flitwire_drain(f);
	rte_spinlock_unlock(&l->lock);
}

static uint16_t
flitwire_receive_through(struct flitwire *f, struct rte_mbuf **mbufs, uint16_t n)
{
	struct weft_badwire *l = &f->line[FLITWIRE_RX];
	struct rte_mbuf *burst[WEFT_BADWIRE_BURST];
	uint64_t came = 0; /* counted when it is given on */
	uint64_t now;
	uint16_t got = 0;

	rte_spinlock_lock(&l->lock);
	now = rte_rdtsc();
	weft_badwire_release(l, now);
	/* What has come must be taken, so ask for no more than fits beside what is due now. */
	if (l->n_ready + WEFT_BADWIRE_PER_FRAME * WEFT_BADWIRE_BURST <= WEFT_BADWIRE_READY_MAX)
		got = rte_eth_rx_burst(
			f->lower, 0, burst, n < WEFT_BADWIRE_BURST ? n : WEFT_BADWIRE_BURST);
	weft_badwire_put(l, burst, got, now, &came);
	got = weft_badwire_peek(l, mbufs, n);
	weft_badwire_took(l, got);
	rte_spinlock_unlock(&l->lock);
	return got;
}

static uint16_t
flitwire_rx(void *queue, struct rte_mbuf **mbufs, uint16_t n)
{
	struct flitwire *f = queue;
	uint16_t got;

	flitwire_let_out(f);
	if (f->line[FLITWIRE_RX].is_on)
		got = flitwire_receive_through(f, mbufs, n);
	else
		got = rte_eth_rx_burst(f->lower, 0, mbufs, n);
	f->frames[FLITWIRE_RX] += got;
	for (uint16_t i = 0; i < got; i++)
		f->bytes[FLITWIRE_RX] += mbufs[i]->pkt_len;
	return got;
}

/* Find the lower device, which may have been made after this one, and take it. */
static int
flitwire_take_lower(struct flitwire *f)
{
	struct rte_eth_dev_owner owner = { .id = f->owner };
	uint16_t id;
	int rc;

	if (f->lower != RTE_MAX_ETHPORTS)
		return 0;
	rc = rte_eth_dev_get_port_by_name(f->lower_name, &id);
	if (rc != 0)
		return rc;
	rte_strlcpy(owner.name, f->name, sizeof(owner.name));
	rc = rte_eth_dev_owner_set(id, &owner);
	if (rc != 0)
		return -EBUSY;
	f->lower = id;
	rte_eth_macaddr_get(id, &f->mac);
	return 0;
}

static int
flitwire_info(struct rte_eth_dev *dev, struct rte_eth_dev_info *info)
{
	struct flitwire *f = dev->data->dev_private;
	struct rte_eth_dev_info lower;

	info->max_mac_addrs = 1;
	info->max_rx_queues = 1;
	info->max_tx_queues = 1;
	/* Without a lower device it is flitwire_configure() that fails, and says why. */
	info->max_rx_pktlen = UINT32_MAX;
	if (flitwire_take_lower(f) != 0 || rte_eth_dev_info_get(f->lower, &lower) != 0)
		return 0;
	info->min_mtu = lower.min_mtu;
	info->max_mtu = lower.max_mtu;
	info->min_rx_bufsize = lower.min_rx_bufsize;
	info->max_rx_pktlen = lower.max_rx_pktlen;
	info->rx_desc_lim = lower.rx_desc_lim;
	info->tx_desc_lim = lower.tx_desc_lim;
	return 0;
}

static int
flitwire_configure(struct rte_eth_dev *dev)
{
	struct flitwire *f = dev->data->dev_private;
	const struct rte_eth_conf conf = { .rxmode.mtu = dev->data->dev_conf.rxmode.mtu };
	int rc = flitwire_take_lower(f);

	if (rc != 0) {
		SAY("%s: %s %s", f->name, f->lower_name,
			rc == -ENODEV ? "is no Ethernet device" : "is in use by something else");
		return rc;
	}
	return rte_eth_dev_configure(f->lower, 1, 1, &conf);
}

static int
flitwire_rx_queue(struct rte_eth_dev *dev, uint16_t queue, uint16_t descriptors,
	unsigned int socket, const struct rte_eth_rxconf *conf, struct rte_mempool *pool)
{
	struct flitwire *f = dev->data->dev_private;

	(void)conf;
	dev->data->rx_queues[queue] = f;
	return rte_eth_rx_queue_setup(f->lower, 0, descriptors, socket, NULL, pool);
}

static int
flitwire_tx_queue(struct rte_eth_dev *dev, uint16_t queue, uint16_t descriptors,
	unsigned int socket, const struct rte_eth_txconf *conf)
{
	struct flitwire *f = dev->data->dev_private;

	(void)conf;
	dev->data->tx_queues[queue] = f;
	return rte_eth_tx_queue_setup(f->lower, 0, descriptors, socket, NULL);
}

static void
flitwire_rx_queue_info(struct rte_eth_dev *dev, uint16_t queue, struct rte_eth_rxq_info *info)
{
	const struct flitwire *f = dev->data->dev_private;

	(void)queue;
	rte_eth_rx_queue_info_get(f->lower, 0, info);
}

static int
flitwire_link(struct rte_eth_dev *dev, int wait)
{
	const struct flitwire *f = dev->data->dev_private;
	struct rte_eth_link link = { 0 };

	if (f->lower != RTE_MAX_ETHPORTS) {
		if (wait)
			rte_eth_link_get(f->lower, &link);
		else
			rte_eth_link_get_nowait(f->lower, &link);
	}
	return rte_eth_linkstatus_set(dev, &link);
}

static int
flitwire_start(struct rte_eth_dev *dev)
{
	struct flitwire *f = dev->data->dev_private;
	int rc = rte_eth_dev_start(f->lower);

	if (rc == 0)
		flitwire_link(dev, 0);
	return rc;
}

static int
flitwire_stop(struct rte_eth_dev *dev)
{
	struct flitwire *f = dev->data->dev_private;

	dev->data->dev_started = 0;
	for (unsigned int d = 0; d < FLITWIRE_DIRS; d++)
		weft_badwire_empty(&f->line[d]);
	return rte_eth_dev_stop(f->lower);
}

static int
flitwire_close(struct rte_eth_dev *dev)
{
	struct flitwire *f = dev->data->dev_private;

	if (rte_eal_process_type() != RTE_PROC_PRIMARY)
		return 0;
	flitwire_delist(f);
	for (unsigned int d = 0; d < FLITWIRE_DIRS; d++)
		weft_badwire_empty(&f->line[d]);
	if (f->lower != RTE_MAX_ETHPORTS)
		rte_eth_dev_owner_unset(f->lower, f->owner);
	f->lower = RTE_MAX_ETHPORTS;
	/* Part of the private area, which ethdev frees by itself. */
	dev->data->mac_addrs = NULL;
	return 0;
}

static int
flitwire_promiscuous_on(struct rte_eth_dev *dev)
{
	const struct flitwire *f = dev->data->dev_private;

	return rte_eth_promiscuous_enable(f->lower);
}

static int
flitwire_promiscuous_off(struct rte_eth_dev *dev)
{
	const struct flitwire *f = dev->data->dev_private;

	return rte_eth_promiscuous_disable(f->lower);
}

static int
flitwire_mtu(struct rte_eth_dev *dev, uint16_t mtu)
{
	const struct flitwire *f = dev->data->dev_private;

	return rte_eth_dev_set_mtu(f->lower, mtu);
}

static int
flitwire_stats(struct rte_eth_dev *dev, struct rte_eth_stats *stats)
{
	const struct flitwire *f = dev->data->dev_private;
	struct rte_eth_stats lower = { 0 };

	if (f->lower != RTE_MAX_ETHPORTS)
		rte_eth_stats_get(f->lower, &lower);
	stats->ipackets = f->frames[FLITWIRE_RX];
	stats->ibytes = f->bytes[FLITWIRE_RX];
	stats->opackets = f->frames[FLITWIRE_TX];
	stats->obytes = f->bytes[FLITWIRE_TX];
	stats->imissed = lower.imissed;
	stats->ierrors = lower.ierrors;
	stats->oerrors = lower.oerrors;
	stats->rx_nombuf = lower.rx_nombuf;
	return 0;
}

static int
flitwire_stats_reset(struct rte_eth_dev *dev)
{
	struct flitwire *f = dev->data->dev_private;

	memset(f->frames, 0, sizeof(f->frames));
	memset(f->bytes, 0, sizeof(f->bytes));
	return f->lower != RTE_MAX_ETHPORTS ? rte_eth_stats_reset(f->lower) : 0;
}

static int
flitwire_dev_xstats_get(struct rte_eth_dev *dev, struct rte_eth_xstat *xstats, unsigned int n)
{
	struct flitwire *f = dev->data->dev_private;

	for (unsigned int i = 0; xstats != NULL && i < n && i < FLITWIRE_XSTATS; i++)
		xstats[i] = (struct rte_eth_xstat){ .id = i, .value = flitwire_xstat(f, i) };
	return FLITWIRE_XSTATS;
}

static int
flitwire_dev_xstats_names(struct rte_eth_dev *dev, struct rte_eth_xstat_name *names, unsigned int n)
{
	(void)dev;
	for (unsigned int i = 0; names != NULL && i < n && i < FLITWIRE_XSTATS; i++)
		flitwire_xstat_name(i, names[i].name, sizeof(names[i].name));
	return FLITWIRE_XSTATS;
}

static int
flitwire_dev_xstats_reset(struct rte_eth_dev *dev)
{
	flitwire_xstats_reset(dev->data->dev_private);
	return 0;
}

static const struct eth_dev_ops ops = {
	.dev_infos_get = flitwire_info,
	.dev_configure = flitwire_configure,
	.rx_queue_setup = flitwire_rx_queue,
	.tx_queue_setup = flitwire_tx_queue,
	.rxq_info_get = flitwire_rx_queue_info,
	.dev_start = flitwire_start,
	.dev_stop = flitwire_stop,
	.dev_close = flitwire_close,
	.link_update = flitwire_link,
	.promiscuous_enable = flitwire_promiscuous_on,
	.promiscuous_disable = flitwire_promiscuous_off,
	.mtu_set = flitwire_mtu,
	.stats_get = flitwire_stats,
	.stats_reset = flitwire_stats_reset,
	.xstats_get = flitwire_dev_xstats_get,
	.xstats_get_names = flitwire_dev_xstats_names,
	.xstats_reset = flitwire_dev_xstats_reset,
};

static int
flitwire_probe(struct rte_vdev_device *vdev)
{
	struct rte_eth_dev *dev;
	struct flitwire *f;
	char err[160];

	if (rte_eal_process_type() != RTE_PROC_PRIMARY)
		return -ENOTSUP;
	dev = rte_eth_vdev_allocate(vdev, sizeof(*f));
	if (dev == NULL)
		return -ENOMEM;
	f = dev->data->dev_private;
	rte_strlcpy(f->name, dev->data->name, sizeof(f->name));
	f->lower = RTE_MAX_ETHPORTS;
	if (flitwire_parse(f, rte_vdev_device_args(vdev), err, sizeof(err)) != 0) {
		SAY("%s: %s", f->name, err);
		rte_eth_dev_release_port(dev);
		return -EINVAL;
	}
	rte_eth_dev_owner_new(&f->owner);
	rte_eth_random_addr(f->mac.addr_bytes);
	flitwire_enlist(f);
	dev->data->mac_addrs = &f->mac;
	dev->data->nb_rx_queues = 1;
	dev->data->nb_tx_queues = 1;
	dev->dev_ops = &ops;
	dev->rx_pkt_burst = flitwire_rx;
	dev->tx_pkt_burst = flitwire_tx;
	rte_eth_dev_probing_finish(dev);
	return 0;
}

static int
flitwire_remove(struct rte_vdev_device *vdev)
{
	struct rte_eth_dev *dev = rte_eth_dev_allocated(rte_vdev_device_name(vdev));

	if (dev == NULL)
		return 0; /* closed before */
	flitwire_close(dev);
	return rte_eth_dev_release_port(dev);
}

static struct rte_vdev_driver driver = {
	.probe = flitwire_probe,
	.remove = flitwire_remove,
};

RTE_PMD_REGISTER_VDEV(net_flitwire, driver);
RTE_PMD_REGISTER_PARAM_STRING(net_flitwire, "port=<name> dir=tx|rx|both <key>=<value>");
