/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Signs and checks blocks, see sign.h. Hot: runs per operation of --kind transfer. */

#include "sign.h"

#include <stdlib.h>
#include <string.h>

#include "weft_base.h"
#include "weft_rand.h"
#include "weft_sig_text.h"

struct sign {
	struct weft_sig_key key;
	struct weft_sig_stream work;
	struct weft_rand rand;
	uint64_t size, len; /* of an operation: data alone, and with signatures */
	uint64_t blocks;
	uint8_t data[];
};

static bool
sign_set_key(struct sign *s, const struct weft_sig_domain *d)
{
	const struct weft_sig_attr attr = { .wire = d, .check_mask = 0xFF };

	return weft_sig_key_init(&s->key, WEFT_SIG_KEY_BLOCK_SIGNATURE, NULL) == 0 &&
	       weft_sig_key_configure(&s->key, 0, 0) == 0 &&
	       weft_sig_key_set_sig(&s->key, &attr) == 0 && weft_sig_key_complete(&s->key) == 0;
}

struct sign *
sign_make(const struct weft_sig_domain *d, uint64_t size, uint64_t seed)
{
	struct sign *s = calloc(1, sizeof(*s) + size);

	if (s == NULL)
		return NULL;
	s->size = size;
	s->blocks = size / d->block_size;
	weft_rand_seed(&s->rand, seed);
	if (weft_sig_domain_len(d, size, &s->len) == 0 && sign_set_key(s, d))
		return s;
	free(s);
	return NULL;
}

void
sign_free(struct sign *s)
{
	free(s);
}

uint64_t
sign_blocks(const struct sign *s)
{
	return s->blocks;
}

void
sign_put(struct sign *s, uint64_t number, uint8_t *data)
{
	struct weft_sig_piece in = { s->data, s->size, 0 }, out = { data, s->len, 0 };
	struct weft_sig_op op = { .key = &s->key,
		.dir = WEFT_SIG_TX,
		.block0 = number * s->blocks,
		.in = { .piece = &in, .n = 1 },
		.out = { .piece = &out, .n = 1 } };
	unsigned int n;

	weft_rand_fill(&s->rand, s->data, s->size);
	n = weft_sig_burst(&s->work, &op, 1);
	assert(n == 1);
	(void)n;
}

bool
sign_check(struct sign *s, uint64_t number, const uint8_t *data, struct weft_sig_error *e)
{
	struct weft_sig_piece in = { (void *)(uintptr_t)data, s->len, 0 };
	struct weft_sig_piece out = { s->data, s->size, 0 };
	struct weft_sig_op op = { .key = &s->key,
		.dir = WEFT_SIG_RX,
		.block0 = number * s->blocks,
		.in = { .piece = &in, .n = 1 },
		.out = { .piece = &out, .n = 1 } };

	*e = (struct weft_sig_error){ .type = WEFT_SIG_NO_ERROR };
	weft_sig_burst(&s->work, &op, 1);
	if (weft_sig_key_check(&s->key, e) == 0 && op.rc == 0 && e->type == WEFT_SIG_NO_ERROR)
		return true;
	/* Of this operation, not of all that its tags count. */
	e->block -= op.block0;
	e->offset = e->block * (s->len / s->blocks);
	return false;
}

const char *
sign_word(enum weft_sig_error_type type)
{
	switch (type) {
	case WEFT_SIG_BAD_GUARD: return "guard";
	case WEFT_SIG_BAD_REFTAG: return "reference tag";
	case WEFT_SIG_BAD_APPTAG: return "application tag";
	default: return "block";
	}
}
