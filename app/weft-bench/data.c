/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Data of the benchmarks, and the reference their answers are checked with. */

#include "bench.h"
#include "cli.h"
#include "weft_flit.h"
#include "weft_rand.h"

#include <stdlib.h>

void *
bench_alloc(size_t len)
{
	size_t rounded = (len + WEFT_CACHE_LINE - 1) / WEFT_CACHE_LINE * WEFT_CACHE_LINE;
	void *p = aligned_alloc(WEFT_CACHE_LINE, rounded);

	if (p == NULL)
		cli_fail("out of memory (%zu bytes)", rounded);
	memset(p, 0, rounded);
	return p;
}

void
bench_fill(uint8_t *flits, unsigned int n)
{
	struct weft_rand r;

	weft_rand_seed(&r, 1);
	weft_rand_fill(&r, flits, n * (size_t)WEFT_FLIT_LEN);
	for (unsigned int i = 0; i < n; i++) {
		struct weft_flit_hdr h = { .type = WEFT_FLIT_CACHEMEM, .prior_payload = true };

		weft_flit_hdr_put(flits + i * (size_t)WEFT_FLIT_LEN, &h);
		/* Slot 0 a protocol header of CXL.mem, so that IDE protects the flit. */
		flits[i * (size_t)WEFT_FLIT_LEN + WEFT_FLIT_H_OFF] &= 0xF0;
		flits[i * (size_t)WEFT_FLIT_LEN + WEFT_FLIT_CRD_OFF] &= 0xFE; /* not Empty */
	}
}

uint64_t
bench_crc_ref(const uint8_t *flit, uint16_t spid, uint16_t dpid, uint8_t vc, unsigned int number)
{
	const uint8_t pseudo[5] = {
		(uint8_t)(spid >> 4),
		(uint8_t)((unsigned int)spid << 4 | (unsigned int)dpid >> 8),
		(uint8_t)dpid,
		(uint8_t)((unsigned int)vc << 2 | number >> 8),
		(uint8_t)number,
	};

	return weft_crc_update_ref(
		weft_crc_update_ref(0, pseudo, sizeof(pseudo)), flit, WEFT_CRC_COVERED);
}
