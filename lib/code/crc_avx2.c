/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Flit CRCs of eight flits with AVX2 alone (doc/performance.md, Flit CRC). Hot path. A product with
 * a constant is two table look-ups, one a nibble, and the constant is the same for all lanes: so a
 * register holds 8 bytes of each of four flits, and sums are taken over such parts of a flit.
 *
 * The message is wanted at the roots alpha^j, j = 1..8. With w = alpha^85, a cube root of 1, rows
 * of 85 bytes R0, R1, R2 add up to three polynomials of 85 bytes, one for each j mod 3: R0 + R1 +
 * R2,   R0 + w^2 R1 + w R2,   R0 + w R1 + w^2 R2 for one product, because w^2 = w + 1. That is a
 * third of the work that follows: 1. these three, in parts of 8 bytes; 2. for each root, the sum of
 * the parts times powers of alpha^(8 j); 3. the 8 bytes of the sum to one, of all flits and then
 * two roots at a time; 4. from the values at the roots to the remainder, by tables.
 */

#include "crc_nibbles_priv.h"

#define CLASSES 3
#define ROW 85
#define PART 8
#define PARTS 11 /* of a row, the last of 5 bytes */
#define FOURS (CRC_GROUP / 4)

/* Step 1's result for one class: the parts of its polynomial, of each four flits. */
struct parts {
	reg part[PARTS][FOURS];
};

/* 8 bytes of each of two flits. */
static inline __m128i
crc_two_words(const uint8_t *a, const uint8_t *b, size_t off)
{
	return _mm_unpacklo_epi64(_mm_loadl_epi64((const __m128i *)(const void *)(a + off)),
		_mm_loadl_epi64((const __m128i *)(const void *)(b + off)));
}

/* A part of one row of four flits, which stand in the order 0 2 1 3. */
static inline reg
crc_part_of_row(const uint8_t *const *flit, size_t off)
{
	return _mm256_inserti128_si256(_mm256_castsi128_si256(crc_two_words(flit[0], flit[2], off)),
		crc_two_words(flit[1], flit[3], off), 1);
}

static inline __attribute__((always_inline)) void
crc_split_part(const reg r[3], unsigned int p, unsigned int k, struct parts out[CLASSES])
{
	const reg t = crc_add(r[1], r[2]);
	const reg u = crc_add(r[0], reg256_multiply(t, weft_crc_avx2.cube_root));

	out[0].part[p][k] = crc_add(r[0], t);
	out[1].part[p][k] = crc_add(u, r[1]);
	out[2].part[p][k] = crc_add(u, r[2]);
}

/* Step 1 for four flits, the @p k-th of the group. */
static inline __attribute__((always_inline)) void
crc_split_rows(const uint8_t *const *flit, unsigned int k, struct parts out[CLASSES])
{
	const reg five = _mm256_set1_epi64x(0xFFFFFFFFFF);
	reg even[3], odd[3];

	static_assert(WEFT_CRC_COVERED == 2 * ROW + 9 * PART, "row 2 is nine parts and zeros");
#pragma GCC unroll 5
	for (unsigned int p = 0; p < PARTS - 1; p += 2) {
#pragma GCC unroll 3
		for (unsigned int r = 0; r < 3; r++) {
			const reg a = reg256_two_at(flit[0], flit[1], r * ROW + p * PART);
			const reg b = reg256_two_at(flit[2], flit[3], r * ROW + p * PART);

			even[r] = _mm256_unpacklo_epi64(a, b);
			odd[r] = _mm256_unpackhi_epi64(a, b);
		}
		if (p == 8)
			odd[2] = _mm256_setzero_si256();
		crc_split_part(even, p, k, out);
		crc_split_part(odd, p + 1, k, out);
	}
	for (unsigned int r = 0; r < 2; r++)
		even[r] = _mm256_and_si256(crc_part_of_row(flit, r * ROW + 10 * PART), five);
	even[2] = _mm256_setzero_si256();
	crc_split_part(even, 10, k, out);
}

/* Step 3, first half: the 8 bytes of each flit to 4, of flits 0 2 4 6 1 3 5 7. */
static inline reg
crc_fold_to_four(const struct crc_avx2_root *t, reg a, reg b)
{
	const reg low = _mm256_castps_si256(
		_mm256_shuffle_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), 0x88));
	const reg high = _mm256_castps_si256(
		_mm256_shuffle_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), 0xDD));

	return crc_add(reg256_multiply(low, t->four), high);
}

/*
 * Steps 2 and 3 for the @p n roots of a class, from root @p first of the eight on, every third. The
 * flits' nibbles stay in registers for all of them.
 */
static inline __attribute__((always_inline)) void
crc_fold_class(const struct parts *in, unsigned int first, unsigned int n, reg *fours)
{
	reg acc[3][FOURS];

#pragma GCC unroll 3
	for (unsigned int r = 0; r < n; r++) {
		acc[r][0] = in->part[PARTS - 1][0];
		acc[r][1] = in->part[PARTS - 1][1];
	}
#pragma GCC unroll 1
	for (unsigned int p = 0; p < PARTS - 1; p++) {
		const reg a = in->part[p][0], b = in->part[p][1];
		const reg a_low = reg256_low_nibbles(a), a_high = reg256_high_nibbles(a);
		const reg b_low = reg256_low_nibbles(b), b_high = reg256_high_nibbles(b);

#pragma GCC unroll 3
		for (unsigned int r = 0; r < n; r++) {
			const uint8_t(*t)[16] = weft_crc_avx2.root[first + CLASSES * r].part[p];
			const reg low = reg256_table(t[0]), high = reg256_table(t[1]);

			acc[r][0] = crc_add(acc[r][0], _mm256_shuffle_epi8(low, a_low));
			acc[r][0] = crc_add(acc[r][0], _mm256_shuffle_epi8(high, a_high));
			acc[r][1] = crc_add(acc[r][1], _mm256_shuffle_epi8(low, b_low));
			acc[r][1] = crc_add(acc[r][1], _mm256_shuffle_epi8(high, b_high));
		}
	}
#pragma GCC unroll 3
	for (unsigned int r = 0; r < n; r++) {
		const unsigned int i = first + CLASSES * r;

		fours[i] = crc_fold_to_four(&weft_crc_avx2.root[i], acc[r][0], acc[r][1]);
	}
}

/* The values of every flit at four roots: [0] at two of them, [1] at the others. */
static inline void
crc_store_values(reg a, reg b, uint16_t out[2][CRC_GROUP])
{
	_mm256_storeu_si256((reg *)(void *)out, crc_add(a, _mm256_slli_epi16(b, 8)));
}

/* Step 4. What the values in @p two add, the low byte at root number @p i, the high one at @p j. */
static inline uint64_t
crc_remainder(unsigned int two, unsigned int i, unsigned int j)
{
	return weft_crc_avx2_remainder[i][two & 0xFF] ^ weft_crc_avx2_remainder[j][two >> 8];
}

void
weft_crc_group_avx2(const uint8_t *const *flit, unsigned int n, uint64_t *crc)
{
	const uint8_t *p[CRC_GROUP];
	uint16_t early[2][CRC_GROUP], late[2][CRC_GROUP];
	uint64_t sum[CRC_GROUP];
	struct parts parts[CLASSES];
	reg fours[8];

	if (crc_few(flit, n, crc))
		return;
	/* Lanes without a flit repeat the first: no other memory is read. */
	if (n < CRC_GROUP) {
		for (unsigned int k = 0; k < CRC_GROUP; k++)
			p[k] = flit[k < n ? k : 0];
		flit = p;
	}
	crc_split_rows(flit, 0, parts);
	crc_split_rows(flit + 4, 1, parts);
	/* Root number i is alpha^(i+1), of class (i+1) mod 3. */
	crc_fold_class(&parts[1], 0, 3, fours);
	crc_fold_class(&parts[2], 1, 3, fours);
	crc_store_values(crc_values_at_two(&weft_crc_avx2.pair[0], fours[0], fours[3]),
		crc_values_at_two(&weft_crc_avx2.pair[1], fours[1], fours[4]), early);
	crc_fold_class(&parts[0], 2, 2, fours);
	/* Half of step 4 here, so that it does not wait for the last class. */
	for (unsigned int k = 0; k < CRC_GROUP; k++)
		sum[k] = crc_remainder(early[0][k], 0, 1) ^ crc_remainder(early[1][k], 3, 4);
	crc_store_values(crc_values_at_two(&weft_crc_avx2.pair[2], fours[2], fours[5]),
		crc_values_at_two(&weft_crc_avx2.pair[3], fours[6], fours[7]), late);
	for (unsigned int k = 0; k < n; k++)
		crc[k] = sum[k] ^ crc_remainder(late[0][k], 2, 6) ^ crc_remainder(late[1][k], 5, 7);
}
