/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * NIST's GCM vectors for 256-bit keys (Debian's python3-cryptography-vectors) through gcm.c, that
 * is intel-ipsec-mb, on every code path that this CPU has: the tag, the text, and each forgery
 * found out. IVs of other than 96 bits are left out: IDE has none.
 *
 * None of them can go through an epoch of flits: their texts end at 51 bytes, while the shortest
 * epoch has 224, and IDE's IVs begin with 80000000h. The test holds that, so that it says so if the
 * package ever brings one that fits.
 */

#include "weft_test.h"

#include <stdbool.h>

#include "gcm_priv.h"
#include "weft_cpu.h"

#define DIR "/usr/lib/python3/dist-packages/cryptography_vectors/ciphers/AES/GCM/"
#define TEXT_MAX 256

struct vector {
	uint8_t key[32], iv[128], text[TEXT_MAX], aad[TEXT_MAX], sealed[TEXT_MAX], tag[16];
	size_t iv_len, text_len, aad_len, sealed_len, tag_len;
	bool fails, has_text;
};

static const uint32_t paths[] = { 0, WEFT_CPU_AVX2 | WEFT_CPU_PCLMUL,
	WEFT_CPU_AVX512 | WEFT_CPU_PCLMUL, WEFT_CPU_AVX512 | WEFT_CPU_VPCLMUL | WEFT_CPU_GFNI };

static struct weft_ide_lib *lib;
static struct ide_gcm *gcm;
static unsigned int done, forged, fit_an_epoch;

static void
run_vector(const struct vector *v)
{
	uint8_t text[TEXT_MAX], tag[16];

	if (v->iv_len != IDE_IV_LEN)
		return;
	assert_int_equal(v->text_len == 0 || v->text_len == v->sealed_len, true);
	fit_an_epoch += v->sealed_len >= 224 && v->sealed_len % 16 == 0 && v->aad_len % 4 == 0 &&
	                v->aad_len > 0 && v->iv[0] == 0x80;
	ide_gcm_init(gcm, lib, v->key);
	ide_gcm_start(gcm, v->iv);
	ide_gcm_xor(gcm, text, v->sealed, v->sealed_len); /* counter mode: opens as well as seals */
	if (v->has_text)
		assert_memory_equal(text, v->text, v->text_len);
	ide_gcm_tag(gcm, v->iv, v->aad, v->aad_len, text, v->sealed_len, tag);
	assert_memory_equal(text, v->sealed, v->sealed_len);
	assert_int_equal(memcmp(tag, v->tag, v->tag_len) != 0, v->fails);
	done++;
	forged += v->fails;
}

static size_t
field(const char *line, const char *name, uint8_t *out, size_t room, size_t was)
{
	const size_t n = strlen(name);

	if (strncmp(line, name, n) != 0 || strncmp(line + n, " = ", 3) != 0)
		return was;
	return weft_test_unhex(line + n + 3, out, room);
}

/* @return whether the file is there */
static bool
run_file(const char *path)
{
	struct vector v = { .iv_len = 0 };
	FILE *f = fopen(path, "r");
	bool pending = false;
	char line[4096];

	if (f == NULL)
		return false;
	while (fgets(line, sizeof(line), f) != NULL) {
		if (strncmp(line, "Count", 5) == 0 || line[0] == '[') {
			if (pending)
				run_vector(&v);
			pending = strncmp(line, "Count", 5) == 0;
			v = (struct vector){ .iv_len = 0 };
		}
		field(line, "Key", v.key, sizeof(v.key), 0);
		v.iv_len = field(line, "IV", v.iv, sizeof(v.iv), v.iv_len);
		v.has_text |= strncmp(line, "PT", 2) == 0;
		v.text_len = field(line, "PT", v.text, TEXT_MAX, v.text_len);
		v.aad_len = field(line, "AAD", v.aad, TEXT_MAX, v.aad_len);
		v.sealed_len = field(line, "CT", v.sealed, TEXT_MAX, v.sealed_len);
		v.tag_len = field(line, "Tag", v.tag, sizeof(v.tag), v.tag_len);
		v.fails |= strncmp(line, "FAIL", 4) == 0;
	}
	if (pending)
		run_vector(&v);
	fclose(f);
	return true;
}

WEFT_TEST(vectors_hold)
{
	gcm = aligned_alloc(64, (ide_gcm_size() + 63) & ~(size_t)63);
	for (size_t i = 0; i < WEFT_ARRAY_SIZE(paths); i++) {
		if ((paths[i] & ~weft_cpu_detect()) != 0)
			continue;
		lib = weft_ide_lib_open(paths[i]);
		assert_non_null(lib);
		done = 0;
		forged = 0;
		if (!run_file(DIR "gcmEncryptExtIV256.rsp") || !run_file(DIR "gcmDecrypt256.rsp")) {
			printf("skipped: no " DIR "*.rsp (package python3-cryptography-vectors)\n");
			weft_ide_lib_close(lib);
			free(gcm);
			skip();
		}
		printf("%s: %u vectors, %u of them forged\n", weft_ide_lib_kernel(lib), done,
			forged);
		assert_true(done > 5000 && forged > 500);
		weft_ide_lib_close(lib);
	}
	assert_int_equal(fit_an_epoch, 0);
	free(gcm);
}
