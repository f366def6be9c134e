/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* A stream's memory: the state, then the expanded key, each on lines of its own. */

#include "ide_priv.h"

static size_t
line_up(size_t n)
{
	return (n + WEFT_CACHE_LINE - 1) & ~(size_t)(WEFT_CACHE_LINE - 1);
}

size_t
weft_ide_stream_size(void)
{
	return line_up(sizeof(struct weft_ide_stream)) + line_up(ide_gcm_size());
}

struct weft_ide_stream *
weft_ide_stream_init(void *mem, struct weft_ide_lib *lib, enum weft_ide_mode mode,
	const uint8_t *key, uint64_t counter, bool pcrc)
{
	struct weft_ide_stream *s = mem;

	if ((mode != WEFT_IDE_CONTAINMENT && mode != WEFT_IDE_SKID) ||
		(uintptr_t)mem % WEFT_CACHE_LINE != 0)
		return NULL;
	memset(mem, 0, weft_ide_stream_size());
	s->gcm = (struct ide_gcm *)(void *)((uint8_t *)mem + line_up(sizeof(*s)));
	s->counter = counter;
	s->mode = mode;
	s->pcrc = pcrc;
	ide_gcm_init(s->gcm, lib, key);
	s->kernel = ide_lib_pass(lib);
	if (s->kernel != NULL)
		s->kernel->key(
			&s->pass_key, ide_gcm_schedule(s->gcm), weft_ide_epoch_flits(mode), pcrc);
	return s;
}

void
weft_ide_stream_wipe(struct weft_ide_stream *s)
{
	explicit_bzero(s, weft_ide_stream_size());
}
