/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The commonest ways of a unit, many units in a row: checked and stripped or passed on, or signed.
 * A run stops in front of the first unit that is not simply right; unit.c takes that one, from the
 * beginning. Hot path.
 */

#include "unit_priv.h"

/* Input units are checked; their signatures go along if the output has them too. */
static size_t
run_check(struct weft_sig_stream *s, const uint8_t *src, uint8_t *dst, size_t n)
{
	const weft_sig_copy_fn copy = s->kernel->copy[s->in.kind];
	const struct weft_sig_spec in = s->in;
	const uint64_t check_bytes = s->check_bytes;
	const bool passes = s->out.sig_len != 0;
	size_t i;

	for (i = 0; i < n; i++) {
		const uint64_t sum = copy(in.begin, dst, src, in.block);
		const uint64_t sig = sig_load(&in, src + in.block);

		if (((sig_made(&in, sum, s->in_block + i) ^ sig) & check_bytes) != 0)
			break;
		if (in.is_dif && sig_is_escaped(&in, sig))
			break;
		src += in.block + in.sig_len;
		dst += in.block;
		if (passes) {
			sig_store(&in, dst, sig);
			dst += in.sig_len;
		}
	}
	s->in_block += i;
	s->counters.checked += i;
	s->counters.bytes += i * in.block;
	if (passes) {
		s->out_block += i;
		s->counters.copied += i;
	}
	return i;
}

/* Input has no signatures. */
static size_t
run_generate(struct weft_sig_stream *s, const uint8_t *src, uint8_t *dst, size_t n)
{
	const weft_sig_copy_fn copy = s->kernel->copy[s->out.kind];
	const struct weft_sig_spec out = s->out;

	for (size_t i = 0; i < n; i++) {
		const uint64_t sum = copy(out.begin, dst, src, out.block);

		sig_store(&out, dst + out.block, sig_made(&out, sum, s->out_block + i));
		src += out.block;
		dst += out.block + out.sig_len;
	}
	s->in_block += n;
	s->out_block += n;
	s->counters.generated += n;
	s->counters.bytes += n * out.block;
	return n;
}

void
sig_run_plan(struct weft_sig_stream *s)
{
	const bool copies_all = (s->copy_bytes & s->out_bytes) == s->out_bytes;

	s->run = NULL;
	if (s->in.sig_len == 0 && s->out.sig_len != 0)
		s->run = run_generate;
	else if (s->in.sig_len != 0 && s->checks_guard && copies_all)
		s->run = run_check;
}
