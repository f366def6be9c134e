/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Keys: requests that hold whole or not at all (signature.md section 6.1), and the latch that keeps
 * the first error (section 5.3).
 */

#include "sig_priv.h"

#include <errno.h>

int
weft_sig_key_init(struct weft_sig_key *key, uint32_t flags, const struct weft_sig_kernel *kernel)
{
	if ((flags & ~WEFT_SIG_KEY_BLOCK_SIGNATURE) != 0)
		return -EINVAL;
	*key = (struct weft_sig_key){
		.flags = flags,
		.kernel = kernel != NULL ? kernel : weft_sig_kernel_best(),
	};
	return 0;
}

static void
key_config_drop_sig(struct weft_sig_config *c, enum weft_sig_key_state state)
{
	c->state = state;
	c->spec[WEFT_SIG_MEM] = c->spec[WEFT_SIG_WIRE] = (struct weft_sig_spec){ 0 };
	c->check_mask = c->copy_mask = 0;
}

int
weft_sig_key_configure(struct weft_sig_key *key, uint32_t conf_flags, uint64_t comp_mask)
{
	if (comp_mask != 0 || (conf_flags & ~WEFT_SIG_RESET_ATTR) != 0)
		return -ENOTSUP;
	if (key->is_open)
		return -EBUSY;
	key->next = key->now;
	if ((conf_flags & WEFT_SIG_RESET_ATTR) != 0)
		key_config_drop_sig(&key->next, WEFT_SIG_RESET);
	else if (key->now.state == WEFT_SIG_RESET)
		key->next.state = WEFT_SIG_INIT;
	else if (key->now.state == WEFT_SIG_UPDATED)
		key->next.state = WEFT_SIG_SET;
	key->is_open = true;
	key->layout_set = false;
	key->request_error = 0;
	return 0;
}

/* A request remembers its first error. */
static int
key_request_result(struct weft_sig_key *key, int rc)
{
	if (key->request_error == 0)
		key->request_error = rc;
	return rc;
}

int
weft_sig_key_set_sig(struct weft_sig_key *key, const struct weft_sig_attr *attr)
{
	int rc;

	if (!key->is_open)
		return -EINVAL;
	if ((key->flags & WEFT_SIG_KEY_BLOCK_SIGNATURE) == 0)
		return key_request_result(key, -EINVAL);
	if (key->next.state == WEFT_SIG_UPDATED)
		return key_request_result(key, -EBUSY);
	rc = sig_attr_resolve(&key->next, attr);
	if (rc == 0)
		key->next.state = WEFT_SIG_UPDATED;
	return key_request_result(key, rc);
}

int
weft_sig_key_set_layout(
	struct weft_sig_key *key, const struct weft_sig_piece *piece, unsigned int n)
{
	uint64_t len = 0;

	if (!key->is_open)
		return -EINVAL;
	if (key->layout_set)
		return key_request_result(key, -EBUSY);
	if (n > WEFT_SIG_KEY_PIECES)
		return key_request_result(key, -ENOMEM);
	for (unsigned int i = 0; i < n; i++) {
		if (piece[i].len > UINT32_MAX - len)
			return key_request_result(key, -EMSGSIZE);
		len += piece[i].len;
	}
	for (unsigned int i = 0; i < n; i++)
		key->next.piece[i] = piece[i];
	key->next.n_pieces = n;
	key->layout_set = true;
	return 0;
}

int
weft_sig_key_complete(struct weft_sig_key *key)
{
	if (!key->is_open)
		return -EINVAL;
	key->is_open = false;
	if (key->request_error == 0)
		key->now = key->next;
	return key->request_error;
}

void
weft_sig_key_abort(struct weft_sig_key *key)
{
	key->is_open = false;
}

void
weft_sig_key_invalidate(struct weft_sig_key *key)
{
	key->is_open = false;
	key_config_drop_sig(&key->now, WEFT_SIG_INIT);
	key->now.n_pieces = 0;
	key->latch = (struct weft_sig_error){ 0 };
}

enum weft_sig_key_state
weft_sig_key_state(const struct weft_sig_key *key)
{
	return key->is_open ? key->next.state : key->now.state;
}

void
sig_key_latch(struct weft_sig_key *key, const struct weft_sig_error *err)
{
	if (key->latch.type == WEFT_SIG_NO_ERROR)
		key->latch = *err;
}

/* Poison needs no signature to be noticed. */
static bool
key_latch_is_of_signature(const struct weft_sig_error *latch)
{
	return latch->type == WEFT_SIG_BAD_GUARD || latch->type == WEFT_SIG_BAD_REFTAG ||
	       latch->type == WEFT_SIG_BAD_APPTAG;
}

int
weft_sig_key_check(struct weft_sig_key *key, struct weft_sig_error *err)
{
	if ((key->flags & WEFT_SIG_KEY_BLOCK_SIGNATURE) == 0)
		return -EINVAL;
	if (key_latch_is_of_signature(&key->latch) && key->now.spec[key->latch.domain].sig_len == 0)
		return -EINVAL;
	*err = key->latch;
	key->latch = (struct weft_sig_error){ 0 };
	return 0;
}

void
sig_counters_add(struct weft_sig_counters *into, const struct weft_sig_counters *from)
{
	into->bytes += from->bytes;
	into->checked += from->checked;
	into->generated += from->generated;
	into->copied += from->copied;
	into->escaped += from->escaped;
	into->escaped_unprotected += from->escaped_unprotected;
	for (unsigned int i = 0; i < WEFT_SIG_ERROR_TYPES; i++)
		into->errors[i] += from->errors[i];
}

void
weft_sig_key_merge(struct weft_sig_key *into, const struct weft_sig_key *from)
{
	sig_counters_add(&into->counters, &from->counters);
	if (from->latch.type == WEFT_SIG_NO_ERROR)
		return;
	if (into->latch.type == WEFT_SIG_NO_ERROR || from->latch.block < into->latch.block)
		into->latch = from->latch;
}
