/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Derivation of keys: RFC 5869's vectors through the call that the keys go through, the label
 * against vectors of another implementation (test/model/test_session_keys.py), and every input that
 * is in the label changes the key.
 */

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "weft_test.h"

#include "weft_derive.h"

static size_t
hex(const char *text, uint8_t *out)
{
	size_t n = strlen(text) / 2;

	for (size_t i = 0; i < n; i++) {
		unsigned int v;

		assert_int_equal(sscanf(text + 2 * i, "%2x", &v), 1);
		out[i] = (uint8_t)v;
	}
	return n;
}

/* RFC 5869, appendices A.1 to A.3 (SHA-256). */
WEFT_TEST(hkdf_gives_the_vectors_of_the_rfc)
{
	static const struct {
		const char *ikm, *salt, *info, *okm;
	} cases[] = {
		{ "0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b", "000102030405060708090a0b0c",
			"f0f1f2f3f4f5f6f7f8f9",
			"3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf"
			"34007208d5b887185865" },
		{ "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
		  "202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f"
		  "404142434445464748494a4b4c4d4e4f",
			"606162636465666768696a6b6c6d6e6f707172737475767778797a7b7c7d7e7f"
			"808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f"
			"a0a1a2a3a4a5a6a7a8a9aaabacadaeaf",
			"b0b1b2b3b4b5b6b7b8b9babbbcbdbebfc0c1c2c3c4c5c6c7c8c9cacbcccdcecf"
			"d0d1d2d3d4d5d6d7d8d9dadbdcdddedfe0e1e2e3e4e5e6e7e8e9eaebecedeeef"
			"f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff",
			"b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c"
			"59045a99cac7827271cb41c65e590e09da3275600c2f09b8367793a9aca3db71"
			"cc30c58179ec3e87c14c01d5c1f3434f1d87" },
		{ "0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b", "", "",
			"8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d"
			"9d201395faa4b61a96c8" },
	};

	for (size_t i = 0; i < WEFT_ARRAY_SIZE(cases); i++) {
		uint8_t ikm[128], salt[128], info[128], okm[128], got[128];
		const size_t ikm_len = hex(cases[i].ikm, ikm), salt_len = hex(cases[i].salt, salt);
		const size_t info_len = hex(cases[i].info, info), len = hex(cases[i].okm, okm);

		assert_true(weft_hkdf(ikm, ikm_len, salt, salt_len, info, info_len, got, len));
		assert_memory_equal(got, okm, len);
	}
}

WEFT_TEST(what_cannot_be_derived_is_zero)
{
	static uint8_t out[256 * 32];
	const uint8_t key[32] = { 1 };

	memset(out, 7, sizeof(out));
	assert_false(weft_hkdf(key, 32, key, 32, key, 32, out, sizeof(out)));
	for (size_t i = 0; i < sizeof(out); i++)
		assert_int_equal(out[i], 0);
}

static struct weft_psk *
psk_of(const char *digits)
{
	char path[] = "/tmp/weft-test-psk-XXXXXX", err[256];
	int fd = mkstemp(path);
	struct weft_psk *psk;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, digits, 64), 64);
	close(fd);
	psk = weft_psk_load(path, err, sizeof(err));
	unlink(path);
	if (psk == NULL)
		fail_msg("%s", err);
	return psk;
}

static void
read_side(char **words, struct weft_control *c)
{
	unsigned long v[9];

	for (unsigned int i = 0; i < 9; i++)
		v[i] = strtoul(words[i], NULL, 16);
	*c = (struct weft_control){ .version = (uint8_t)v[0],
		.mode = (uint8_t)v[1],
		.max_flits = (uint8_t)v[2],
		.crc_order = (uint8_t)v[3],
		.isn_form = (uint8_t)v[4],
		.ide_mode = (uint8_t)v[5],
		.ide_bits = (uint16_t)v[6],
		.credits = (uint16_t)v[7],
		.port = (uint16_t)v[8] };
	assert_int_equal(hex(words[9], c->node), WEFT_NODE_ID_LEN);
	c->memory = strtoull(words[10], NULL, 16);
	c->known = strtoull(words[11], NULL, 16);
	assert_int_equal(hex(words[12], c->random), WEFT_RANDOM_LEN);
}

/* MACs and proofs of control frames; @p word those behind the proofs. */
static void
check_control(const struct weft_psk *psk, const struct weft_derive_domain *domain,
	const struct weft_session_transcript *d, char **word)
{
	uint8_t want[WEFT_PROOF_LEN], got[WEFT_PROOF_LEN], image[WEFT_CONTROL_MAX];
	const uint64_t number = strtoull(word[2], NULL, 16);
	struct weft_control_keys keys;

	assert_true(weft_derive_control_keys(psk, domain, d, &keys));
	for (unsigned int from = 0; from < 2; from++) {
		struct weft_control c = { .type = WEFT_CONTROL_KEEPALIVE, .number = number };
		size_t len;

		c.flags = number & 1;
		if (from == 1)
			c.type = WEFT_CONTROL_GOODBYE;
		memset(c.mac, 0xA5, sizeof(c.mac)); /* not in it */
		len = weft_control_image(image, &c);
		assert_true(weft_control_mac(&keys, from == 0, image, len, got));
		hex(word[from], want);
		assert_memory_equal(got, want, sizeof(want));
		assert_true(weft_derive_gone(psk, domain, d->session, from == 0, number, got));
		hex(word[3 + from], want);
		assert_memory_equal(got, want, sizeof(want));
	}
	assert_true(weft_derive_announcement(psk,
		&(struct weft_control){ .type = WEFT_CONTROL_ANNOUNCE,
			.fabric = "lab",
			.name = "g0",
			.instance = number + 5,
			.heard = number,
			.runs_ms = 7 },
		got));
	hex(word[5], want);
	assert_memory_equal(got, want, sizeof(want));
}

WEFT_TEST(labels_are_those_of_the_model)
{
	FILE *f = fopen(WEFT_TEST_VECTORS "/ide_keys.txt", "r");
	unsigned int lines = 0;
	char line[2048];

	assert_non_null(f);
	while (fgets(line, sizeof(line), f) != NULL) {
		char *word[42], *save = NULL, *w = strtok_r(line, " \n", &save);
		struct weft_derive_domain domain;
		struct weft_session_transcript d = { 0 };
		uint8_t want[32], got[32];
		struct weft_psk *psk;
		unsigned int n = 0;
		uint32_t generation;

		if (w == NULL || w[0] == '#')
			continue;
		for (; w != NULL && n < 42; w = strtok_r(NULL, " \n", &save))
			word[n++] = w;
		assert_int_equal(n, 42);
		psk = psk_of(word[0]);
		domain.initiator = (uint16_t)strtoul(word[1], NULL, 16);
		domain.responder = (uint16_t)strtoul(word[2], NULL, 16);
		domain.vc = (uint8_t)strtoul(word[3], NULL, 16);
		d.session = (uint32_t)strtoul(word[4], NULL, 16);
		generation = (uint32_t)strtoul(word[5], NULL, 16);
		read_side(word + 6, &d.initiator);
		read_side(word + 19, &d.responder);
		for (unsigned int from = 0; from < 2; from++) {
			hex(word[32 + from], want);
			assert_true(weft_derive_key(psk, &domain, &d, from == 0, generation, got));
			assert_memory_equal(got, want, 32);
			hex(word[34 + from], want);
			assert_true(weft_derive_proof(psk, &domain, &d, from == 0, got));
			assert_memory_equal(got, want, WEFT_PROOF_LEN);
		}
		check_control(psk, &domain, &d, word + 36);
		weft_psk_free(psk);
		lines++;
	}
	fclose(f);
	assert_int_equal(lines, 6);
}
