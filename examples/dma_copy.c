/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Copy files into a region of fabric memory and back, by a DMA device.
 *
 *   cc dma_copy.c -o dma_copy $(pkg-config --cflags --libs libdpdk) -lrte_dma_weft
 *   ./dma_copy --no-huge -m 64 --no-pci --vdev=dma_weft0,node=h0,region=g0 -- \
 *       put FILE 0 get COPY 0 1000
 */

#define ALLOW_EXPERIMENTAL_API /* all of dmadev is that */

#include <rte_dmadev.h>
#include <rte_eal.h>
#include <rte_pmd_dma_weft.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK (64u << 10) /* bytes of a copy */
#define RING 64 /* copies that are open at a time */
#define BURST 32

static int16_t dev;
static uint64_t window, window_len; /* addresses that stand for the region */

static const char *
status_name(enum rte_dma_status_code status)
{
	switch (status) {
	case RTE_DMA_STATUS_NOT_ATTEMPTED: return "not attempted";
	case RTE_DMA_STATUS_INVALID_SRC_ADDR: return "invalid source";
	case RTE_DMA_STATUS_INVALID_DST_ADDR: return "invalid destination";
	case RTE_DMA_STATUS_BUS_READ_ERROR: return "reading is not permitted";
	case RTE_DMA_STATUS_BUS_WRITE_ERROR: return "writing is not permitted";
	case RTE_DMA_STATUS_BUS_ERROR: return "the way to the memory was lost";
	case RTE_DMA_STATUS_DATA_POISION: return "the memory is poisoned";
	case RTE_DMA_STATUS_DEV_LINK_ERROR: return "the daemon left";
	case RTE_DMA_STATUS_PAGE_FAULT: return "the memory is another than was opened";
	default: return "failed";
	}
}

/* Copy, and wait for the end. */
static bool
run(uint64_t src, uint64_t dst, uint64_t len)
{
	uint64_t begun = 0, ended = 0; /* chunks */
	const uint64_t n = (len + CHUNK - 1) / CHUNK;
	enum rte_dma_status_code status[BURST];

	while (ended < n) {
		while (begun < n && rte_dma_burst_capacity(dev, 0) > 0) {
			const uint64_t at = begun++ * CHUNK;
			const uint32_t part = (uint32_t)(len - at < CHUNK ? len - at : CHUNK);

			if (rte_dma_copy(dev, 0, src + at, dst + at, part, 0) < 0)
				return false;
		}
		rte_dma_submit(dev, 0);
		/* They are told of in their order. */
		const uint16_t got = rte_dma_completed_status(dev, 0, BURST, NULL, status);

		for (uint16_t i = 0; i < got; i++, ended++) {
			if (status[i] == RTE_DMA_STATUS_SUCCESSFUL)
				continue;
			fprintf(stderr, "dma_copy: 0x%llx bytes on: %s\n",
				(unsigned long long)(ended * CHUNK), status_name(status[i]));
			return false;
		}
	}
	return true;
}

static bool
put(const char *name, uint64_t off)
{
	FILE *f = fopen(name, "rb");
	uint8_t *buf = NULL;
	bool ok = false;
	long len = -1;

	if (f != NULL && fseek(f, 0, SEEK_END) == 0)
		len = ftell(f);
	if (len >= 0)
		buf = malloc((size_t)len + 1);
	if (buf != NULL) {
		rewind(f);
		ok = fread(buf, 1, (size_t)len, f) == (size_t)len;
	}
	if (!ok)
		perror(name);
	/* Any address is one for DMA: the device has RTE_DMA_CAPA_SVA. */
	ok = ok && run((uintptr_t)buf, window + off, (uint64_t)len);
	if (f != NULL)
		fclose(f);
	free(buf);
	return ok;
}

static bool
get(const char *name, uint64_t off, uint64_t len)
{
	uint8_t *buf = malloc(len + 1);
	bool ok = false;
	FILE *f;

	if (buf != NULL && run(window + off, (uintptr_t)buf, len)) {
		f = fopen(name, "wb");
		ok = f != NULL && fwrite(buf, 1, len, f) == len;
		if (f != NULL)
			ok = fclose(f) == 0 && ok;
		if (!ok)
			perror(name);
	}
	free(buf);
	return ok;
}

/* The first device of the driver that has a region, started. */
static bool
find_device(void)
{
	const struct rte_dma_conf conf = { .nb_vchans = 1 };
	const struct rte_dma_vchan_conf vchan = { .direction = RTE_DMA_DIR_MEM_TO_MEM,
		.nb_desc = RING };

	RTE_DMA_FOREACH_DEV(dev)
	if (rte_pmd_dma_weft_base(dev, 0, &window, &window_len) == 0)
		break;
	if (dev < 0) {
		fprintf(stderr,
			"dma_copy: no device with a region: --vdev=dma_weft0,node=h0,region=g0\n");
		return false;
	}
	return rte_dma_configure(dev, &conf) == 0 && rte_dma_vchan_setup(dev, 0, &vchan) == 0 &&
	       rte_dma_start(dev) == 0;
}

/* A number, all of it, perhaps in K, M or G, and none beyond the region. */
static bool
number(const char *text, uint64_t *n)
{
	unsigned int unit;
	char *end;

	*n = strtoull(text, &end, 0);
	unit = *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
	if (text[0] < '0' || text[0] > '9' || *n > window_len >> unit)
		return false;
	*n <<= unit;
	return end[unit != 0] == '\0';
}

/* put FILE OFFSET and get FILE OFFSET LENGTH, one after another. */
static bool
transfers(int n, char **words)
{
	bool ok = true;

	while (ok && n > 0) {
		const bool is_put = strcmp(words[0], "put") == 0;
		const int takes = is_put ? 3 : 4;
		uint64_t at, len = 0;

		if (n < takes || (!is_put && strcmp(words[0], "get") != 0) ||
			!number(words[2], &at) || (!is_put && !number(words[3], &len))) {
			fprintf(stderr,
				"dma_copy: expected put FILE OFFSET or get FILE OFFSET LENGTH, of "
				"0x%llx bytes, got \"%s\"\n",
				(unsigned long long)window_len, words[0]);
			return false;
		}
		ok = is_put ? put(words[1], at) : get(words[1], at, len);
		n -= takes;
		words += takes;
	}
	return ok;
}

int
main(int argc, char **argv)
{
	const int eal = rte_eal_init(argc, argv);
	bool ok = false;

	if (eal < 0)
		return EXIT_FAILURE;
	if (find_device()) {
		ok = transfers(argc - eal - 1, argv + eal + 1);
		rte_dma_stop(dev);
		rte_dma_close(dev);
	}
	rte_eal_cleanup();
	return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
