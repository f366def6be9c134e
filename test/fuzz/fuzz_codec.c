/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * FEC and CRC of flits. Every kernel of this machine says what the scalar one says, and the scalar
 * CRC what the definition says; a correction changes a byte a group at most and gives a codeword.
 *
 *   byte 0     bits 2:0: flits less one; bit 3: CRC and FEC are made right first; bit 4: CRC order
 *   8 x 3      damage: flit and byte (2 bytes), value XORed
 *   then       the flits
 */

#include "weft_fuzz.h"

#include "weft_codec.h"
#include "weft_cpu.h"

#define FLITS_MAX 8
#define FLIT_LEN 256
#define DAMAGES 8
#define GROUPS 3

static const struct weft_codec *
scalar(void)
{
	static struct weft_codec c;

	if (c.fec == NULL) {
		c.fec = weft_fec_kernel_find("scalar", 0);
		c.crc = weft_crc_kernel_find("scalar", 0);
		FUZZ_CHECK(c.fec != NULL && c.crc != NULL);
	}
	return &c;
}

static void
check_kernel(const struct weft_codec *k, const uint8_t *const *flit, unsigned int n,
	enum weft_crc_order order)
{
	uint64_t syndrome[FLITS_MAX], expected[FLITS_MAX], implicit[FLITS_MAX];
	const uint64_t bad = weft_codec_check(scalar(), flit, n, order, expected);
	uint8_t *made[FLITS_MAX];

	FUZZ_CHECK(weft_codec_check(k, flit, n, order, syndrome) == bad);
	FUZZ_CHECK(memcmp(syndrome, expected, n * sizeof(*syndrome)) == 0);
	for (unsigned int i = 0; i < n; i++) {
		made[i] = fuzz_copy(flit[i], FLIT_LEN);
		implicit[i] = expected[i];
	}
	weft_codec_protect(k, made, n, order, implicit);
	FUZZ_CHECK(
		weft_codec_check(scalar(), (const uint8_t *const *)made, n, order, syndrome) == 0);
	FUZZ_CHECK(memcmp(syndrome, implicit, n * sizeof(*syndrome)) == 0);
	for (unsigned int i = 0; i < n; i++)
		free(made[i]);
}

/* Every pair of kernels of a row number each; the longer table goes on with its last. */
static void
check_kernels(const uint8_t *const *flit, unsigned int n, enum weft_crc_order order)
{
	static uint32_t features;

	if (features == 0)
		features = weft_cpu_detect(); /* slow on a virtual machine */
	for (unsigned int i = 0; i < weft_fec_n_kernels || i < weft_crc_n_kernels; i++) {
		struct weft_codec k = *scalar();

		if (i < weft_fec_n_kernels && weft_kernel_usable(&weft_fec_kernels[i].k, features))
			k.fec = &weft_fec_kernels[i];
		if (i < weft_crc_n_kernels && weft_kernel_usable(&weft_crc_kernels[i].k, features))
			k.crc = &weft_crc_kernels[i];
		check_kernel(&k, flit, n, order);
	}
}

static void
check_decode(const uint8_t *flit)
{
	uint8_t *copy = fuzz_copy(flit, FLIT_LEN);
	unsigned int n_bytes = 99, differ[GROUPS] = { 0 }, sum = 0;
	const enum weft_fec_status s = weft_fec_decode_flit(copy, &n_bytes);

	for (unsigned int i = 0; i < FLIT_LEN; i++)
		differ[i % GROUPS] += copy[i] != flit[i];
	for (unsigned int g = 0; g < GROUPS; g++) {
		FUZZ_CHECK(differ[g] <= 1);
		sum += differ[g];
	}
	FUZZ_CHECK(sum == n_bytes);
	FUZZ_CHECK((s == WEFT_FEC_CORRECTED) == (sum != 0));
	if (s != WEFT_FEC_UNCORRECTABLE)
		FUZZ_CHECK(weft_fec_check(scalar()->fec, copy, 1) == 0);
	free(copy);
}

static void
check_crc(const uint8_t *flit)
{
	const uint64_t crc = weft_crc_update_ref(0, flit, WEFT_CRC_COVERED);
	uint64_t run;

	FUZZ_CHECK(weft_crc_update(0, flit, WEFT_CRC_COVERED) == crc);
	weft_crc_run(scalar()->crc, flit, 1, &run);
	FUZZ_CHECK(run == crc);
	FUZZ_CHECK(weft_crc6_half(flit, WEFT_CRC6_EVEN_COVERED) ==
		   weft_crc6_half_ref(flit, WEFT_CRC6_EVEN_COVERED));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct fuzz_in in = { data, len };
	const uint8_t how = fuzz_u8(&in);
	const unsigned int n = 1 + how % FLITS_MAX;
	const enum weft_crc_order order = how & 16 ? WEFT_CRC_R7_FIRST : WEFT_CRC_R0_FIRST;
	uint8_t damage[DAMAGES][3], *flit[FLITS_MAX];
	static const uint64_t none[FLITS_MAX];

	fuzz_take(&in, damage, sizeof(damage));
	for (unsigned int i = 0; i < n; i++) {
		flit[i] = fuzz_alloc(FLIT_LEN);
		fuzz_take(&in, flit[i], FLIT_LEN);
	}
	if (how & 8)
		weft_codec_protect(scalar(), flit, n, order, none);
	for (unsigned int d = 0; d < DAMAGES; d++)
		flit[damage[d][0] % n][damage[d][1]] ^= damage[d][2];
	check_kernels((const uint8_t *const *)flit, n, order);
	for (unsigned int i = 0; i < n; i++) {
		check_decode(flit[i]);
		check_crc(flit[i]);
		free(flit[i]);
	}
	return 0;
}
