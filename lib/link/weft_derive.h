/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Keys of a session: HKDF-SHA-256 (RFC 5869) of the pre-shared key, salted with both ends' random
 * bytes and labelled with all that the key is for (encapsulation.md section 5, doc/ide.md). Any
 * thread; the cryptography is libcrypto's, which allocates for each call and wipes what it
 * allocated.
 */
#ifndef WEFT_DERIVE_H
#define WEFT_DERIVE_H

#include "weft_base.h"
#include "weft_secret.h"
#include "weft_session.h"

WEFT_BEGIN_DECLS

#define WEFT_TRAFFIC_KEY_LEN 32

/** Which retry domain a session is of. */
struct weft_derive_domain {
	uint16_t initiator; /**< PID of the initiator; WEFT_PID_NONE in cxl mode */
	uint16_t responder; /**< likewise */
	uint8_t vc; /**< 0..7 */
};

/** That of an end with PID @p own whose peer has @p peer, VC 0; in cxl mode neither counts. */
static inline struct weft_derive_domain
weft_derive_domain_of(enum weft_mode mode, bool is_initiator, uint16_t own, uint16_t peer)
{
	if (mode == WEFT_MODE_CXL)
		own = peer = WEFT_PID_NONE;
	return (struct weft_derive_domain){ .initiator = is_initiator ? own : peer,
		.responder = is_initiator ? peer : own,
		.vc = 0 };
}

/**
 * HKDF, extract and expand.
 *
 * @param out  receives @p out_len bytes, 1..255 * 32
 * @return false: libcrypto would not, and @p out is zeroed
 */
bool weft_hkdf(const uint8_t *key, size_t key_len, const uint8_t *salt, size_t salt_len,
	const uint8_t *info, size_t info_len, uint8_t *out, size_t out_len);

/**
 * Key of one direction of a session.
 *
 * @param from_initiator   the direction that the initiator sends in
 * @param generation  0 when the session begins, one more with every key change in it
 * @param key         receives WEFT_TRAFFIC_KEY_LEN bytes, the caller's to wipe
 * @return as weft_hkdf()
 */
bool weft_derive_key(const struct weft_psk *psk, const struct weft_derive_domain *domain,
	const struct weft_session_transcript *d, bool from_initiator, uint32_t generation,
	uint8_t *key);

/** Keys of the control frames of a session, one a direction: 0 the initiator sends, 1 the other. */
struct weft_control_keys {
	uint8_t key[2][WEFT_TRAFFIC_KEY_LEN];
};

/**
 * Make them; the caller's to wipe. As weft_hkdf(), but @p keys are as they were if it would not.
 */
bool weft_derive_control_keys(const struct weft_psk *psk, const struct weft_derive_domain *domain,
	const struct weft_session_transcript *d, struct weft_control_keys *keys);

/**
 * MAC of a control frame: HMAC-SHA-256, its first WEFT_CONTROL_MAC_LEN bytes.
 *
 * @return false: libcrypto would not, and @p mac is not to be used
 */
bool weft_control_mac(const struct weft_control_keys *keys, bool from_initiator,
	const uint8_t *image, size_t len, uint8_t *mac);

/**
 * What an end shows when it is asked with @p number whether a session is over: that it has @p psk.
 * WEFT_PROOF_LEN bytes, public. As weft_hkdf().
 */
bool weft_derive_gone(const struct weft_psk *psk, const struct weft_derive_domain *domain,
	uint32_t session, bool from_initiator, uint64_t number, uint8_t *proof);

/**
 * What a process shows that answers an ANNOUNCE: that it has @p psk. It vouches for all of @p c,
 * whose own proof is all zeros. WEFT_PROOF_LEN bytes, public. As weft_hkdf().
 */
bool weft_derive_announcement(
	const struct weft_psk *psk, const struct weft_control *c, uint8_t *proof);

/** What an end shows to prove that it has @p psk: WEFT_PROOF_LEN bytes, public. As weft_hkdf(). */
bool weft_derive_proof(const struct weft_psk *psk, const struct weft_derive_domain *domain,
	const struct weft_session_transcript *d, bool is_initiator, uint8_t *proof);

WEFT_END_DECLS

#endif /* WEFT_DERIVE_H */
