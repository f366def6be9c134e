/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Link control records. A message that is taken is in range (weft_control_build() asserts it) and
 * is the same after it was built and read again, as is what its MAC is made of.
 *
 *   byte 0  0: as it is; 1: with a right check behind it; 2 and more: that and so many zeros
 *   then    the records
 */

#include "weft_fuzz.h"

#include "weft_control.h"
#include "weft_data_crc.h"
#include "weft_wire.h"

enum { CHECK_TYPE = 16, CHECK_LEN = 2 };

static void
check_words(const struct weft_control *c)
{
	for (unsigned int p = 0; p <= WEFT_PARAM_COUNT; p++) {
		FUZZ_CHECK(weft_control_param_name((enum weft_control_param)p)[0] != '\0');
		FUZZ_CHECK(weft_control_param_value(c, (enum weft_control_param)p)[0] != '\0');
	}
}

static void
check_message(const struct weft_control *c)
{
	uint8_t *built = fuzz_alloc(WEFT_WIRE_FLIT_LEN * WEFT_WIRE_FLITS_MAX);
	uint8_t *image = fuzz_alloc(WEFT_CONTROL_MAX), *image2 = fuzz_alloc(WEFT_CONTROL_MAX);
	const size_t len = weft_control_build(built, c);
	uint8_t *exact = fuzz_copy(built, len);
	size_t image_len;
	struct weft_control again;

	FUZZ_CHECK(len <= (c->padded == 0 ? (size_t)WEFT_CONTROL_MAX
					  : (size_t)c->padded * WEFT_WIRE_FLIT_LEN));
	FUZZ_CHECK(weft_control_parse(exact, len, &again) == WEFT_OK);
	FUZZ_CHECK(memcmp(&again, c, sizeof(again)) == 0);
	image_len = weft_control_image(image, c);
	FUZZ_CHECK(weft_control_image(image2, &again) == image_len && image_len <= len);
	FUZZ_CHECK(memcmp(image, image2, image_len) == 0);
	if (c->mode == again.mode && c->ide_mode == 0)
		FUZZ_CHECK(weft_control_compare(c, &again) == WEFT_PARAM_NONE);
	check_words(c);
	free(exact);
	free(image2);
	free(image);
	free(built);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct fuzz_in in = { data, len };
	const uint8_t how = fuzz_u8(&in);
	const size_t more = how == 0 ? 0 : 2u + CHECK_LEN + how - 1u;
	uint8_t *rec = fuzz_alloc(in.n + more);
	enum weft_verdict v;
	struct weft_control c;

	memset(rec, 0, in.n + more);
	if (in.n != 0)
		memcpy(rec, in.p, in.n);
	if (how != 0) {
		rec[in.n] = CHECK_TYPE;
		rec[in.n + 1] = CHECK_LEN;
		weft_put_be16(rec + in.n + 2, weft_crc16_t10dif(0, rec, in.n));
	}
	v = weft_control_parse(rec, in.n + more, &c);
	FUZZ_CHECK(v == WEFT_OK || v == WEFT_DROP_BAD_CONTROL);
	if (v == WEFT_OK)
		check_message(&c);
	free(rec);
	return 0;
}
