/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Block signatures: domains as text, then data through a key of them. What is refused says why.
 * Data cut anywhere comes out as data in one piece does, and says the same.
 *
 *   byte 0   bit 0: direction; then flags of weft_sig_begin() (bits 1..3); 5:4: blocks
 *   byte 1   bytes of input of a piece, of 16
 *   text     domain in memory, 0, domain on the wire, 0
 *   then     the data, over and over
 */

#include "weft_fuzz.h"

#include "weft_sig.h"
#include "weft_sig_text.h"

#define DATA_MAX (4 * (WEFT_SIG_BLOCK_MAX + WEFT_SIG_LEN_MAX))
#define OUT_ROOM (16 * DATA_MAX / 8 + WEFT_SIG_OUT_MAX)

/* What came of a stream. */
struct result {
	uint8_t *out;
	size_t n_out;
	int push, end;
	struct weft_sig_counters counters;
};

static const struct weft_sig_domain *
read_domain(struct fuzz_in *in, struct weft_sig_text *s, bool *is_good)
{
	const uint8_t *end = in->n > 0 ? memchr(in->p, 0, in->n) : NULL;
	const size_t len = end != NULL ? (size_t)(end - in->p) : in->n;
	char *text = fuzz_text(in->p, len), err[160] = "";
	const struct weft_sig_domain *d = NULL;
	uint64_t bytes;

	in->p += len + (end != NULL);
	in->n -= len + (end != NULL);
	*is_good = weft_sig_text_parse(s, text, &d, err, sizeof(err)) == 0;
	FUZZ_CHECK(*is_good ? err[0] == '\0' : err[0] != '\0' && d == NULL);
	if (*is_good && d != NULL)
		FUZZ_CHECK(weft_sig_domain_len(d, d->block_size, &bytes) == 0 &&
			   bytes - d->block_size <= WEFT_SIG_LEN_MAX);
	free(text);
	return d;
}

static int
make_key(struct weft_sig_key *key, const struct weft_sig_attr *attr)
{
	int rc;

	FUZZ_CHECK(weft_sig_key_init(key, WEFT_SIG_KEY_BLOCK_SIGNATURE,
			   weft_sig_kernel_find("scalar", 0)) == 0);
	FUZZ_CHECK(weft_sig_key_configure(key, 0, 0) == 0);
	rc = weft_sig_key_set_sig(key, attr);
	FUZZ_CHECK(weft_sig_key_complete(key) == rc);
	return rc;
}

/* Through a fresh key, @p step bytes at a time. */
static void
run(struct result *r, const struct weft_sig_attr *attr, uint8_t how, const uint8_t *data,
	size_t len, size_t step)
{
	struct weft_sig_key *key = fuzz_alloc(sizeof(*key));
	struct weft_sig_stream *s = fuzz_alloc(sizeof(*s));
	struct weft_sig_piece room = { .len = OUT_ROOM };
	struct weft_sig_list out = { .piece = &room, .n = 1 };

	r->out = room.base = fuzz_alloc(OUT_ROOM);
	r->push = make_key(key, attr);
	if (r->push == 0)
		r->push = weft_sig_begin(
			s, key, how & 1 ? WEFT_SIG_RX : WEFT_SIG_TX, 0, how >> 1 & 7);
	r->end = r->push;
	for (size_t at = 0; at < len && r->push == 0; at += step) {
		const size_t n = len - at < step ? len - at : step;
		uint8_t *copy = fuzz_copy(data + at, n);
		struct weft_sig_piece piece = { .base = copy, .len = n };
		struct weft_sig_list in = { .piece = &piece, .n = 1 };

		r->push = weft_sig_push(s, &in, &out);
		FUZZ_CHECK(r->push == 0 || r->push == -EBADMSG);
		FUZZ_CHECK(r->push != 0 || in.done == n);
		r->end = 1;
		free(copy);
	}
	if (r->end == 1) {
		r->end = weft_sig_end(s);
		r->counters = s->counters;
	}
	r->n_out = (size_t)out.done;
	free(s);
	free(key);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct fuzz_in in = { data, len };
	const uint8_t how = fuzz_u8(&in);
	const size_t step = 1 + 16u * fuzz_u8(&in),
		     n = len == 0 ? 0 : DATA_MAX / 4 * (1 + (how >> 4 & 3));
	struct weft_sig_text mem, wire;
	struct weft_sig_attr attr = { 0 };
	struct result whole = { 0 }, cut = { 0 };
	bool is_good[2];
	uint8_t *bytes;

	attr.mem = read_domain(&in, &mem, &is_good[0]);
	attr.wire = read_domain(&in, &wire, &is_good[1]);
	if (!is_good[0] || !is_good[1] || n == 0)
		return 0;
	bytes = fuzz_alloc(n);
	for (size_t i = 0; i < n; i++)
		bytes[i] = in.n > 0 ? in.p[i % in.n] : (uint8_t)i;
	run(&whole, &attr, how, bytes, n, n);
	run(&cut, &attr, how, bytes, n, step);
	FUZZ_CHECK(whole.push == cut.push && whole.end == cut.end && whole.n_out == cut.n_out);
	FUZZ_CHECK(memcmp(whole.out, cut.out, whole.n_out) == 0);
	FUZZ_CHECK(memcmp(&whole.counters, &cut.counters, sizeof(cut.counters)) == 0);
	free(bytes);
	free(whole.out);
	free(cut.out);
	return 0;
}
