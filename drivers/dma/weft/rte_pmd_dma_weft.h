/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What the dmadev driver dma_weft has beyond rte_dmadev.h: where the window of a device lies, which
 * stands for its region of fabric memory. doc/dma.md is the guide.
 */
#ifndef RTE_PMD_DMA_WEFT_H
#define RTE_PMD_DMA_WEFT_H

#include <stdint.h>

#include <rte_common.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Addresses that stand for the region of a device. Byte @p i of the region is @p base + i as a
 * source or destination of rte_dma_copy(), and as a destination of rte_dma_fill(). Loads and stores
 * there are a fault. Both hold until the device is closed. May be called by any thread.
 *
 * @param base  receives where they begin: a page's address
 * @param len   receives how many there are: the size of the region
 * @return 0; -ENODEV: no such device, or another driver's; -EINVAL: @p vchan is not 0;
 *         -ENOENT: the device was made without region=
 */
int rte_pmd_dma_weft_base(int16_t dev_id, uint16_t vchan, rte_iova_t *base, uint64_t *len);

#ifdef __cplusplus
}
#endif

#endif /* RTE_PMD_DMA_WEFT_H */
