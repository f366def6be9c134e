/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Hot: requests at the beginning of flits, without vector instructions; and the choice of a kernel.
 */

#include "req_scan_priv.h"

#define FMTS (1u << REQ_SCAN_FMT_REQ | 1u << REQ_SCAN_FMT_RWD)

const struct weft_req_scan_kernel weft_req_scan_kernels[] = {
#if defined(__x86_64__)
	{ { "avx512", WEFT_CPU_AVX512 }, weft_req_scan_avx512 },
#endif
	{ { "scalar", 0 }, weft_req_scan_scalar },
};

/*
 * Every flit is written to the end of the arrays, which moves on only after a request: what a flit
 * begins with is hard to predict.
 */
uint64_t
weft_req_scan_scalar(
	const uint8_t *flits, unsigned int n, uint64_t live, uint64_t *addr, uint8_t *kind)
{
	uint64_t found = 0;
	unsigned int at = 0;

	for (unsigned int i = 0; i < n; i++) {
		const uint8_t *flit = flits + i * (size_t)WEFT_FLIT_LEN;
		const uint32_t head = weft_get_le32(flit);
		const unsigned int fmt = head >> REQ_SCAN_FMT_SHIFT & 0xF;
		const unsigned int is = (unsigned int)((head & REQ_SCAN_MASK) == REQ_SCAN_IS) &
		                        FMTS >> fmt & (unsigned int)(live >> i);

		addr[at] =
			(weft_get_le64(flit + REQ_SCAN_ADDR_OFF) & weft_mask64(REQ_SCAN_ADDR_BITS))
			<< 6;
		kind[at] = fmt == REQ_SCAN_FMT_RWD ? WEFT_REQ_WRITE : WEFT_REQ_READ;
		found |= (uint64_t)is << i;
		at += is;
	}
	return found;
}

/* Nine flits: of each kind, of none, and not to be looked at. */
static bool
scan_kernel_passes(const struct weft_kernel *row)
{
	const struct weft_req_scan_kernel *k =
		(const struct weft_req_scan_kernel *)(const void *)row;
	static const uint8_t slot[9] = { 0x14, 0x1E, 0x04, 0x18, 0x14, 0x14, 0x1E, 0x1E, 0x1E };
	uint8_t flits[9 * WEFT_FLIT_LEN] = { 0 };
	uint64_t addr[2 * WEFT_REQ_SCAN_STEP] = { 0 }, found;
	uint8_t kind[2 * WEFT_REQ_SCAN_STEP] = { 0 };

	for (unsigned int i = 0; i < 9; i++) {
		uint8_t *flit = flits + i * (size_t)WEFT_FLIT_LEN;

		flit[0] = i == 7 ? WEFT_FLIT_IO << 6 : WEFT_FLIT_CACHEMEM << 6 | 0x3F;
		flit[WEFT_FLIT_H_OFF] = slot[i];
		memset(flit + REQ_SCAN_ADDR_OFF, (int)(0xA0 + i), 10);
	}
	found = k->run(flits, 9, 0x1EF, addr, kind);
	return found == 0x163 && addr[0] == UINT64_C(0x8282828282800) &&
	       addr[4] == UINT64_C(0xA2A2A2A2A2A00) && kind[0] == WEFT_REQ_READ &&
	       kind[4] == WEFT_REQ_WRITE;
}

WEFT_KERNELS_DEFINE(req_scan, "heads", scan_kernel_passes)
