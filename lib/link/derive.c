/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Derivation of keys. The layout of the label is that of doc/ide.md. */

#include "weft_derive.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>

#include "weft_base.h"

#define PURPOSE_LEN 16
#define SIDE_LEN 44
#define WHERE_LEN 14
#define INFO_LEN (PURPOSE_LEN + WHERE_LEN + 2 * SIDE_LEN)
#define HMAC_LEN 32

bool
weft_hkdf(const uint8_t *key, size_t key_len, const uint8_t *salt, size_t salt_len,
	const uint8_t *info, size_t info_len, uint8_t *out, size_t out_len)
{
	EVP_KDF *kdf = EVP_KDF_fetch(NULL, "HKDF", NULL);
	EVP_KDF_CTX *ctx = kdf == NULL ? NULL : EVP_KDF_CTX_new(kdf);
	/* libcrypto takes pointers to non-constant data and only reads it. */
	const OSSL_PARAM params[] = {
		OSSL_PARAM_construct_utf8_string(
			OSSL_KDF_PARAM_DIGEST, (char *)(uintptr_t) "SHA256", 0),
		OSSL_PARAM_construct_octet_string(
			OSSL_KDF_PARAM_KEY, (void *)(uintptr_t)key, key_len),
		OSSL_PARAM_construct_octet_string(
			OSSL_KDF_PARAM_SALT, (void *)(uintptr_t)salt, salt_len),
		OSSL_PARAM_construct_octet_string(
			OSSL_KDF_PARAM_INFO, (void *)(uintptr_t)info, info_len),
		OSSL_PARAM_construct_end(),
	};
	const bool good = ctx != NULL && EVP_KDF_derive(ctx, out, out_len, params) == 1;

	if (!good)
		explicit_bzero(out, out_len);
	EVP_KDF_CTX_free(ctx);
	EVP_KDF_free(kdf);
	return good;
}

static size_t
derive_put_side(uint8_t *at, const struct weft_control *c)
{
	at[0] = c->version;
	at[1] = c->mode;
	at[2] = c->max_flits;
	at[3] = c->crc_order;
	at[4] = c->isn_form;
	at[5] = c->ide_mode;
	weft_put_be16(at + 6, c->ide_bits);
	weft_put_be16(at + 8, c->credits);
	weft_put_be16(at + 10, c->port);
	memcpy(at + 12, c->node, WEFT_NODE_ID_LEN);
	weft_put_be64(at + 12 + WEFT_NODE_ID_LEN, c->memory);
	weft_put_be64(at + 20 + WEFT_NODE_ID_LEN, c->known);
	return SIDE_LEN;
}

/* What a label begins with. */
static size_t
derive_put_where(uint8_t *at, const char *purpose, const struct weft_derive_domain *domain,
	uint32_t session, bool from_initiator, uint32_t generation)
{
	assert(strlen(purpose) <= PURPOSE_LEN);
	memset(at, 0, PURPOSE_LEN);
	memcpy(at, purpose, strlen(purpose));
	at += PURPOSE_LEN;
	at[0] = from_initiator ? 0 : 1;
	weft_put_be32(at + 1, generation);
	weft_put_be16(at + 5, domain->initiator);
	weft_put_be16(at + 7, domain->responder);
	at[9] = domain->vc;
	weft_put_be32(at + 10, session);
	return PURPOSE_LEN + WHERE_LEN;
}

static bool
derive(const struct weft_psk *psk, const char *purpose, const struct weft_derive_domain *domain,
	const struct weft_session_transcript *d, bool from_initiator, uint32_t generation,
	uint8_t *out, size_t out_len)
{
	uint8_t salt[2 * WEFT_RANDOM_LEN], info[INFO_LEN] = { 0 }, *at = info;

	memcpy(salt, d->initiator.random, WEFT_RANDOM_LEN);
	memcpy(salt + WEFT_RANDOM_LEN, d->responder.random, WEFT_RANDOM_LEN);
	at += derive_put_where(at, purpose, domain, d->session, from_initiator, generation);
	at += derive_put_side(at, &d->initiator);
	at += derive_put_side(at, &d->responder);
	assert(at == info + INFO_LEN);
	return weft_hkdf(weft_psk_bytes(psk), WEFT_PSK_LEN, salt, sizeof(salt), info, INFO_LEN, out,
		out_len);
}

bool
weft_derive_key(const struct weft_psk *psk, const struct weft_derive_domain *domain,
	const struct weft_session_transcript *d, bool from_initiator, uint32_t generation,
	uint8_t *key)
{
	return derive(psk, "weft ide key", domain, d, from_initiator, generation, key,
		WEFT_TRAFFIC_KEY_LEN);
}

bool
weft_derive_proof(const struct weft_psk *psk, const struct weft_derive_domain *domain,
	const struct weft_session_transcript *d, bool is_initiator, uint8_t *proof)
{
	return derive(psk, "weft ide proof", domain, d, is_initiator, 0, proof, WEFT_PROOF_LEN);
}

bool
weft_derive_control_keys(const struct weft_psk *psk, const struct weft_derive_domain *domain,
	const struct weft_session_transcript *d, struct weft_control_keys *keys)
{
	struct weft_control_keys k;
	bool good = true;

	for (unsigned int back = 0; back < 2; back++)
		good &= derive(psk, "weft ide control", domain, d, back == 0, 0, k.key[back],
			WEFT_TRAFFIC_KEY_LEN);
	if (good)
		*keys = k;
	explicit_bzero(&k, sizeof(k));
	return good;
}

bool
weft_control_mac(const struct weft_control_keys *keys, bool from_initiator, const uint8_t *image,
	size_t len, uint8_t *mac)
{
	uint8_t whole[HMAC_LEN];
	size_t got = 0;
	const bool good =
		EVP_Q_mac(NULL, "HMAC", NULL, "SHA256", NULL, keys->key[from_initiator ? 0 : 1],
			WEFT_TRAFFIC_KEY_LEN, image, len, whole, sizeof(whole), &got) != NULL &&
		got == sizeof(whole);

	if (good)
		memcpy(mac, whole, WEFT_CONTROL_MAC_LEN);
	explicit_bzero(whole, sizeof(whole));
	return good;
}

bool
weft_derive_gone(const struct weft_psk *psk, const struct weft_derive_domain *domain,
	uint32_t session, bool from_initiator, uint64_t number, uint8_t *proof)
{
	uint8_t salt[sizeof(number)], info[PURPOSE_LEN + WHERE_LEN];

	weft_put_be64(salt, number);
	derive_put_where(info, "weft ide gone", domain, session, from_initiator, 0);
	return weft_hkdf(weft_psk_bytes(psk), WEFT_PSK_LEN, salt, sizeof(salt), info, sizeof(info),
		proof, WEFT_PROOF_LEN);
}

bool
weft_derive_announcement(const struct weft_psk *psk, const struct weft_control *c, uint8_t *proof)
{
	uint8_t salt[sizeof(c->heard)], info[PURPOSE_LEN + WEFT_CONTROL_MAX] = "weft announce";
	const size_t len = weft_control_image(info + PURPOSE_LEN, c);

	weft_put_be64(salt, c->heard);
	return weft_hkdf(weft_psk_bytes(psk), WEFT_PSK_LEN, salt, sizeof(salt), info,
		PURPOSE_LEN + len, proof, WEFT_PROOF_LEN);
}
