/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* The vectors for other implementations (doc/vectors.md): each, by scalar code and every kernel. */

#include "weft_test.h"

#include <jansson.h>

#include "weft_crc.h"
#include "weft_fec.h"
#include "weft_isn.h"

/* The file of that name. json_array_foreach() evaluates its array at every turn. */
static json_t *
world_file(const char *name)
{
	char path[512];
	json_error_t err;
	json_t *file;

	snprintf(path, sizeof(path), "%s/../../vectors/%s", WEFT_TEST_VECTORS, name);
	file = json_load_file(path, 0, &err);
	if (file == NULL)
		fail_msg("%s:%d: %s", path, err.line, err.text);
	return file;
}

static const char *
world_text(const json_t *c, const char *key)
{
	const char *text = json_string_value(json_object_get(c, key));

	if (text == NULL)
		fail_msg("no %s in %s", key, json_string_value(json_object_get(c, "name")));
	return text;
}

static void
world_bytes(const json_t *c, const char *key, uint8_t *to, size_t len)
{
	const char *text = world_text(c, key);

	assert_int_equal(strlen(text), 2 * len);
	for (size_t i = 0; i < len; i++) {
		const char digits[3] = { text[2 * i], text[2 * i + 1], 0 };

		to[i] = (uint8_t)strtoul(digits, NULL, 16);
	}
}

static uint16_t
world_number(const json_t *c, const char *key)
{
	return (uint16_t)json_integer_value(json_object_get(c, key));
}

static void
world_is(const json_t *c, const char *what, const uint8_t *got, const char *key, size_t len)
{
	uint8_t want[256];

	world_bytes(c, key, want, len);
	if (memcmp(got, want, len) != 0)
		fail_msg("%s: %s is wrong", world_text(c, "name"), what);
}

WEFT_TEST(crcs_and_both_orders_of_their_bytes)
{
	size_t i;
	json_t *c, *file = world_file("crc.json"), *cases = json_object_get(file, "cases");

	json_array_foreach(cases, i, c)
	{
		uint8_t flit[256] = { 0 };
		uint64_t crc;

		world_bytes(c, "message", flit, WEFT_CRC_COVERED);
		crc = weft_crc_update(0, flit, WEFT_CRC_COVERED);
		assert_int_equal(crc, strtoull(world_text(c, "crc"), NULL, 16));
		weft_crc_store(flit, crc, WEFT_CRC_R0_FIRST);
		world_is(c, "r0 first", flit + WEFT_CRC_COVERED, "bytes_r0_first", 8);
		weft_crc_store(flit, crc, WEFT_CRC_R7_FIRST);
		world_is(c, "r7 first", flit + WEFT_CRC_COVERED, "bytes_r7_first", 8);
	}
	assert_true(i > 20);
	json_decref(file);
}

WEFT_TEST(crcs_of_halves)
{
	size_t i;
	json_t *c, *file = world_file("lopt.json"), *cases = json_object_get(file, "cases");

	json_array_foreach(cases, i, c)
	{
		uint8_t flit[256];

		world_bytes(c, "flit", flit, sizeof(flit));
		assert_int_equal(
			weft_crc6_half(flit, 122), strtoull(world_text(c, "even_crc"), NULL, 16));
		assert_int_equal(weft_crc6_half(flit + 128, 116),
			strtoull(world_text(c, "odd_crc"), NULL, 16));
	}
	assert_true(i > 20);
	json_decref(file);
}

static void
world_isn(const json_t *c, const struct weft_crc_kernel *kernel)
{
	const bool is_xor = strcmp(world_text(c, "form"), "xor") == 0;
	_Alignas(WEFT_CACHE_LINE) uint8_t flit[256] = { 0 };
	uint8_t crc[8];
	struct weft_isn s;

	world_bytes(c, "message", flit, WEFT_CRC_COVERED);
	assert_int_equal(
		weft_isn_init(&s, is_xor ? WEFT_ISN_XOR : WEFT_ISN_PSEUDO, WEFT_CRC_R7_FIRST,
			world_number(c, "spid"), world_number(c, "dpid"),
			(uint8_t)world_number(c, "vc"), world_number(c, "seq")),
		0);
	weft_isn_protect(&s, kernel, flit, 1);
	memcpy(crc, flit + WEFT_CRC_COVERED, sizeof(crc));
	world_is(c, kernel->k.name, crc, "crc", sizeof(crc));
}

WEFT_TEST(crcs_with_a_number_by_every_kernel)
{
	size_t i;
	json_t *c, *file = world_file("isn.json"), *cases = json_object_get(file, "cases");

	json_array_foreach(cases, i, c) for (unsigned int k = 0; k < weft_crc_n_kernels; k++)
	{
		const char *name = weft_crc_kernels[k].k.name;

		if (weft_crc_kernel_find(name, weft_cpu_detect()) != NULL)
			world_isn(c, &weft_crc_kernels[k]);
	}
	assert_true(i > 30);
	json_decref(file);
}

static void
world_fec(const json_t *c, const struct weft_fec_kernel *kernel)
{
	static const char *const verdicts[] = {
		[WEFT_FEC_CLEAN] = "clean",
		[WEFT_FEC_CORRECTED] = "corrected",
		[WEFT_FEC_UNCORRECTABLE] = "uncorrectable",
	};
	_Alignas(WEFT_CACHE_LINE) uint8_t flit[256] = { 0 };
	enum weft_fec_status status;
	unsigned int n_bytes;

	if (strcmp(world_text(c, "kind"), "encode") == 0) {
		world_bytes(c, "data", flit, WEFT_FEC_OFF);
		weft_fec_encode(kernel, flit, 1);
		world_is(c, kernel->k.name, flit + WEFT_FEC_OFF, "fec", WEFT_FEC_LEN);
		return;
	}
	world_bytes(c, "received", flit, sizeof(flit));
	assert_int_equal(
		weft_fec_check(kernel, flit, 1), strcmp(world_text(c, "verdict"), "clean") != 0);
	status = weft_fec_decode_flit(flit, &n_bytes);
	assert_string_equal(verdicts[status], world_text(c, "verdict"));
	world_is(c, "result", flit, "result", sizeof(flit));
}

WEFT_TEST(fec_by_every_kernel)
{
	size_t i;
	json_t *c, *file = world_file("fec.json"), *cases = json_object_get(file, "cases");

	json_array_foreach(cases, i, c) for (unsigned int k = 0; k < weft_fec_n_kernels; k++)
	{
		const char *name = weft_fec_kernels[k].k.name;

		if (weft_fec_kernel_find(name, weft_cpu_detect()) != NULL)
			world_fec(c, &weft_fec_kernels[k]);
	}
	assert_true(i > 50);
	json_decref(file);
}
