/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * dma_weft: a dmadev that copies between memory of the process and a region of fabric memory
 * (doc/dma.md). It is a client of libweft, which it attaches with when it is started. One channel a
 * device, as channels of one device cannot be used in parallel: who wants more makes more devices.
 */

#include "dma_priv.h"
#include "rte_pmd_dma_weft.h"

#include "weft_base.h"

#include <bus_vdev_driver.h>
#include <rte_common.h>
#include <rte_eal.h>
#include <rte_string_fns.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#define DEVICE_ERR 640

RTE_LOG_REGISTER(dma_logtype, pmd.dma.weft, NOTICE);

static int
device_info(const struct rte_dma_dev *dev, struct rte_dma_info *info, uint32_t size)
{
	(void)dev;
	(void)size;
	info->dev_capa = RTE_DMA_CAPA_MEM_TO_MEM | RTE_DMA_CAPA_SVA | RTE_DMA_CAPA_HANDLES_ERRORS |
	                 RTE_DMA_CAPA_OPS_COPY | RTE_DMA_CAPA_OPS_FILL;
	info->max_vchans = 1;
	info->min_desc = DMA_DESC_MIN;
	info->max_desc = DMA_DESC_MAX;
	return 0;
}

/* dmadev has checked all that there is to check. */
static int
device_configure(struct rte_dma_dev *dev, const struct rte_dma_conf *conf, uint32_t size)
{
	(void)dev;
	(void)conf;
	(void)size;
	return 0;
}

static int
device_vchan(struct rte_dma_dev *dev, uint16_t vchan, const struct rte_dma_vchan_conf *conf,
	uint32_t size)
{
	struct dma_weft *d = dev->data->dev_private;

	(void)vchan;
	(void)size;
	return dma_chan_init(&d->chan, rte_align32pow2(conf->nb_desc));
}

static int
device_start(struct rte_dma_dev *dev)
{
	struct dma_weft *d = dev->data->dev_private;
	char err[DEVICE_ERR];
	int rc;

	if (d->chan.jobs == NULL) {
		DMA_SAY("%s: vchan 0 is not set up: rte_dma_vchan_setup() comes before the start",
			dev->data->dev_name);
		return -EINVAL;
	}
	dma_chan_reset(&d->chan);
	rc = dma_attach(d, err, sizeof(err));
	if (rc != 0)
		DMA_SAY("%s: %s", dev->data->dev_name, err);
	return rc;
}

/* What is open is forgotten: with the attachment goes all that could still write to memory. */
static int
device_stop(struct rte_dma_dev *dev)
{
	struct dma_weft *d = dev->data->dev_private;

	weft_detach(d->chan.w);
	d->chan.w = NULL;
	if (d->chan.jobs != NULL)
		dma_chan_reset(&d->chan);
	return 0;
}

static int
device_close(struct rte_dma_dev *dev)
{
	struct dma_weft *d = dev->data->dev_private;

	dma_chan_fini(&d->chan);
	dma_window_close(d);
	return 0;
}

static int
device_stats(
	const struct rte_dma_dev *dev, uint16_t vchan, struct rte_dma_stats *stats, uint32_t size)
{
	const struct dma_weft *d = dev->data->dev_private;

	(void)vchan;
	(void)size;
	*stats = d->chan.stats;
	return 0;
}

static int
device_stats_reset(struct rte_dma_dev *dev, uint16_t vchan)
{
	struct dma_weft *d = dev->data->dev_private;

	(void)vchan;
	d->chan.stats = (struct rte_dma_stats){ 0 };
	return 0;
}

/* Who asks until it is idle makes it so. */
static int
device_vchan_status(
	const struct rte_dma_dev *dev, uint16_t vchan, enum rte_dma_vchan_status *status)
{
	struct dma_chan *c = &((struct dma_weft *)dev->data->dev_private)->chan;

	(void)vchan;
	dma_chan_run(c);
	if (c->n_busy > 0 || c->begun != c->doorbell)
		*status = RTE_DMA_VCHAN_ACTIVE;
	else
		*status = c->is_over ? RTE_DMA_VCHAN_HALTED_ERROR : RTE_DMA_VCHAN_IDLE;
	return 0;
}

static int
device_dump(const struct rte_dma_dev *dev, FILE *f)
{
	const struct dma_weft *d = dev->data->dev_private;
	const struct dma_chan *c = &d->chan;

	if (d->window.size != 0)
		fprintf(f, "  region %s%s%s, window 0x%" PRIx64 "+0x%" PRIx64 "%s\n",
			d->args.region, d->args.node[0] != '\0' ? " of " : "", d->args.node,
			d->window.base, d->window.size, c->is_over ? ", the daemon left" : "");
	else
		fprintf(f, "  no region\n");
	fprintf(f, "  %u jobs: reported %u, begun %u, doorbell %u, tail %u; %u busy, %u failed\n",
		c->n_jobs, c->reported, c->begun, c->doorbell, c->tail, c->n_busy, c->n_failed);
	fprintf(f, "  %u operations open, %u due\n", c->n_lent, c->n_due);
	return 0;
}

static const struct rte_dma_dev_ops device_ops = {
	.dev_info_get = device_info,
	.dev_configure = device_configure,
	.dev_start = device_start,
	.dev_stop = device_stop,
	.dev_close = device_close,
	.vchan_setup = device_vchan,
	.stats_get = device_stats,
	.stats_reset = device_stats_reset,
	.vchan_status = device_vchan_status,
	.dev_dump = device_dump,
};

int
rte_pmd_dma_weft_base(int16_t dev_id, uint16_t vchan, rte_iova_t *base, uint64_t *len)
{
	const struct dma_weft *d;

	if (!rte_dma_is_valid(dev_id) || rte_dma_fp_objs[dev_id].copy != dma_copy)
		return -ENODEV;
	if (vchan != 0)
		return -EINVAL;
	d = rte_dma_fp_objs[dev_id].dev_private;
	if (d->window.size == 0)
		return -ENOENT;
	*base = d->window.base;
	*len = d->window.size;
	return 0;
}

/* --- bus --- */

static int
device_make(struct rte_vdev_device *vdev, const struct dma_args *args, char *err, size_t len)
{
	const char *name = rte_vdev_device_name(vdev);
	struct rte_dma_dev *dev;
	struct dma_weft *d;
	int rc;

	dev = rte_dma_pmd_allocate(name, vdev->device.numa_node, sizeof(*d));
	if (dev == NULL)
		return weft_errorf(
			err, len, -ENOMEM, "no dmadev: too many, one of this name, or no memory");
	d = dev->data->dev_private;
	d->args = *args;
	rc = dma_window_open(d, err, len);
	if (rc != 0) {
		rte_dma_pmd_release(name);
		return rc;
	}
	dev->device = &vdev->device;
	dev->dev_ops = &device_ops;
	dev->fp_obj->dev_private = d;
	dev->fp_obj->copy = dma_copy;
	dev->fp_obj->fill = dma_fill;
	dev->fp_obj->submit = dma_submit;
	dev->fp_obj->completed = dma_completed;
	dev->fp_obj->completed_status = dma_completed_status;
	dev->fp_obj->burst_capacity = dma_capacity;
	dev->state = RTE_DMA_DEV_READY;
	return 0;
}

static int
device_probe(struct rte_vdev_device *vdev)
{
	struct dma_args args = { .base = 0 };
	char err[DEVICE_ERR];
	int rc;

	/* The window, and what libweft shares with the daemon, are one process's. */
	if (rte_eal_process_type() != RTE_PROC_PRIMARY)
		rc = weft_errorf(err, sizeof(err), -ENOTSUP,
			"only primary processes have devices of this driver");
	else
		rc = dma_parse(&args, rte_vdev_device_args(vdev), err, sizeof(err));
	if (rc == 0)
		rc = device_make(vdev, &args, err, sizeof(err));
	if (rc != 0)
		DMA_SAY("%s: %s", rte_vdev_device_name(vdev), err);
	return rc;
}

static int
device_remove(struct rte_vdev_device *vdev)
{
	const char *name = rte_vdev_device_name(vdev);
	const int id = rte_dma_get_dev_id_by_name(name);

	if (id < 0)
		return 0; /* closed before */
	rte_dma_stop((int16_t)id);
	return rte_dma_pmd_release(name);
}

/* Addresses are what the CPU copies by. */
static struct rte_vdev_driver device_driver = {
	.probe = device_probe,
	.remove = device_remove,
	.drv_flags = RTE_VDEV_DRV_NEED_IOVA_AS_VA,
};

RTE_PMD_REGISTER_VDEV(dma_weft, device_driver);
RTE_PMD_REGISTER_PARAM_STRING(dma_weft, "node=<name> region=<name> base=<address>");
