/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Hot: the first 16 bytes of 8 flits at once; a word of a register is a flit. */

#include <immintrin.h>

#include "req_scan_priv.h"

#define LANES WEFT_REQ_SCAN_STEP
#define FEW 2 /* flits that are sooner looked at one by one */

/* The first 16 bytes of the flits at @p first and every other after it. */
static inline __m512i
scan_load_four(const uint8_t *const *flit, unsigned int first)
{
	const __m256i lo = _mm256_inserti128_si256(
		_mm256_castsi128_si256(_mm_loadu_si128((const void *)flit[first])),
		_mm_loadu_si128((const void *)flit[first + 2]), 1);
	const __m256i hi = _mm256_inserti128_si256(
		_mm256_castsi128_si256(_mm_loadu_si128((const void *)flit[first + 4])),
		_mm_loadu_si128((const void *)flit[first + 6]), 1);

	return _mm512_inserti64x4(_mm512_castsi256_si512(lo), hi, 1);
}

static inline __mmask8
scan_has_format(__m512i head, unsigned int fmt)
{
	const __m512i mask =
		_mm512_set1_epi64((long long)(REQ_SCAN_MASK | UINT64_C(0xF) << REQ_SCAN_FMT_SHIFT));

	return _mm512_cmpeq_epi64_mask(_mm512_and_si512(head, mask),
		_mm512_set1_epi64((long long)(REQ_SCAN_IS | (uint64_t)fmt << REQ_SCAN_FMT_SHIFT)));
}

/* @return bit per flit: it begins with a request */
static inline unsigned int
scan_group(const uint8_t *const *flit, unsigned int live, uint64_t *addr, uint8_t *kind)
{
	const __m512i even = scan_load_four(flit, 0), odd = scan_load_four(flit, 1);
	const __m512i low = _mm512_unpacklo_epi64(even, odd); /* bytes 0..7 of flits 0, 1, 2 ... */
	const __m512i high = _mm512_unpackhi_epi64(even, odd); /* bytes 8..15 */
	const __mmask8 write = scan_has_format(low, REQ_SCAN_FMT_RWD);
	const __mmask8 is = (__mmask8)((scan_has_format(low, REQ_SCAN_FMT_REQ) | write) & live);
	/* Bytes 6..13, then the bits above the address off, then Addr[51:6] in its place. */
	__m512i a = _mm512_or_si512(_mm512_srli_epi64(low, 8 * REQ_SCAN_ADDR_OFF),
		_mm512_slli_epi64(high, 64 - 8 * REQ_SCAN_ADDR_OFF));
	__m512i k = _mm512_mask_blend_epi64(
		write, _mm512_set1_epi64(WEFT_REQ_READ), _mm512_set1_epi64(WEFT_REQ_WRITE));

	a = _mm512_slli_epi64(a, 64 - REQ_SCAN_ADDR_BITS);
	a = _mm512_srli_epi64(a, 64 - REQ_SCAN_ADDR_BITS - 6);
	if (is != 0xFF) {
		a = _mm512_maskz_compress_epi64(is, a);
		k = _mm512_maskz_compress_epi64(is, k);
	}
	_mm512_storeu_si512(addr, a);
	_mm_storel_epi64((void *)kind, _mm512_cvtepi64_epi8(k));
	return is;
}

uint64_t
weft_req_scan_avx512(
	const uint8_t *flits, unsigned int n, uint64_t live, uint64_t *addr, uint8_t *kind)
{
	uint64_t found = 0;

	if (n <= FEW)
		return weft_req_scan_scalar(flits, n, live, addr, kind);
	for (unsigned int i = 0; i < n; i += LANES) {
		const uint8_t *base = flits + i * (size_t)WEFT_FLIT_LEN;
		const unsigned int left = n - i;
		const uint8_t *flit[LANES];
		unsigned int is = (unsigned int)(live >> i) & 0xFF;

		if (__builtin_expect(left >= LANES, 1)) {
			for (unsigned int k = 0; k < LANES; k++)
				flit[k] = base + k * (size_t)WEFT_FLIT_LEN;
			is = scan_group(flit, is, addr, kind);
		} else {
			/* Lanes after the last flit look at the first again, and do not count. */
			for (unsigned int k = 0; k < LANES; k++)
				flit[k] = k < left ? base + k * (size_t)WEFT_FLIT_LEN : base;
			is = scan_group(flit, is & ((1u << left) - 1), addr, kind);
		}
		found |= (uint64_t)is << i;
		addr += __builtin_popcount(is);
		kind += __builtin_popcount(is);
	}
	return found;
}
