/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Whole transfers: lengths are judged before a byte moves (signature.md section 6.2, last row). */

#include "sig_priv.h"

#include <errno.h>

int
weft_sig_output_len(
	const struct weft_sig_key *key, enum weft_sig_dir dir, uint64_t in_len, uint64_t *out_len)
{
	const struct weft_sig_spec *in =
		&key->now.spec[dir == WEFT_SIG_TX ? WEFT_SIG_MEM : WEFT_SIG_WIRE];
	const struct weft_sig_spec *out =
		&key->now.spec[dir == WEFT_SIG_TX ? WEFT_SIG_WIRE : WEFT_SIG_MEM];
	uint64_t len = in_len;

	if (in->sig_len != 0) {
		if (len % (in->block + in->sig_len) != 0)
			return -EINVAL;
		len = len / (in->block + in->sig_len) * in->block;
	}
	if (out->sig_len != 0) {
		if (len % out->block != 0)
			return -EINVAL;
		len += len / out->block * out->sig_len;
	}
	*out_len = len;
	return 0;
}

/* Bytes from the list's place on. */
static uint64_t
transfer_list_left(const struct weft_sig_list *l)
{
	uint64_t len = 0;

	for (unsigned int i = l->at; i < l->n; i++)
		len += l->piece[i].len;
	return len - (l->at < l->n ? l->off : 0);
}

static int
transfer(struct weft_sig_stream *work, struct weft_sig_op *op)
{
	uint64_t out_len;
	int rc = weft_sig_output_len(op->key, op->dir, transfer_list_left(&op->in), &out_len);

	if (rc != 0)
		return rc;
	if (transfer_list_left(&op->out) < out_len)
		return -ENOSPC;
	rc = weft_sig_begin(work, op->key, op->dir, op->block0, op->flags);
	if (rc != 0)
		return rc;
	weft_sig_push(work, &op->in, &op->out);
	return weft_sig_end(work);
}

unsigned int
weft_sig_burst(struct weft_sig_stream *work, struct weft_sig_op *op, unsigned int n)
{
	unsigned int good = 0;

	for (unsigned int i = 0; i < n; i++) {
		op[i].rc = transfer(work, &op[i]);
		good += op[i].rc == 0;
	}
	return good;
}

int
weft_sig_transfer(struct weft_sig_stream *work, struct weft_sig_key *key, enum weft_sig_dir dir,
	uint64_t block0, uint32_t flags, struct weft_sig_list *wire)
{
	struct weft_sig_piece layout[WEFT_SIG_KEY_PIECES];
	struct weft_sig_op op = { .key = key, .dir = dir, .block0 = block0, .flags = flags };
	struct weft_sig_list mem = { .piece = layout, .n = key->now.n_pieces };
	int rc;

	for (unsigned int i = 0; i < mem.n; i++)
		layout[i] = key->now.piece[i];
	op.in = dir == WEFT_SIG_TX ? mem : *wire;
	op.out = dir == WEFT_SIG_TX ? *wire : mem;
	rc = transfer(work, &op);
	*wire = dir == WEFT_SIG_TX ? op.out : op.in;
	return rc;
}
