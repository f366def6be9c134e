/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* A stream's memory: the state, then the expanded key, each on lines of its own. */

#include "ide_priv.h"

#include "weft_carve.h"

const char *const weft_ide_mode_words[] = {
	[WEFT_IDE_OFF] = "off",
	[WEFT_IDE_CONTAINMENT] = "containment",
	[WEFT_IDE_SKID] = "skid",
	NULL,
};
const char *const weft_ide_poison_words[] = { "open", "protected", NULL };

static struct weft_ide_stream *
stream_carve(struct weft_carver *c)
{
	struct weft_ide_stream *s = weft_carve(c, sizeof(*s));
	struct ide_gcm *gcm = weft_carve(c, ide_gcm_size());
	struct ide_gcm *next_gcm = weft_carve(c, ide_gcm_size());

	if (s != NULL) {
		s->gcm = gcm;
		s->next_key.gcm = next_gcm;
	}
	return s;
}

size_t
weft_ide_stream_size(void)
{
	struct weft_carver c = { 0 };

	stream_carve(&c);
	return c.len;
}

static void
stream_expand_key(const struct weft_ide_stream *s, const struct weft_ide_lib *lib,
	const uint8_t *key, struct ide_gcm *gcm, struct ide_pass_key *pass_key)
{
	ide_gcm_init(gcm, lib, key);
	if (s->kernel != NULL)
		s->kernel->key(
			pass_key, ide_gcm_schedule(gcm), weft_ide_epoch_flits(s->mode), s->pcrc);
}

struct weft_ide_stream *
weft_ide_stream_setup(void *mem, struct weft_ide_lib *lib, const struct weft_ide_config *cfg,
	const uint8_t *key, uint64_t counter)
{
	struct weft_carver c = { .block = mem };
	struct weft_ide_stream *s;

	if ((cfg->mode != WEFT_IDE_CONTAINMENT && cfg->mode != WEFT_IDE_SKID) ||
		(cfg->format != WEFT_IDE_STANDARD && cfg->format != WEFT_IDE_LOPT) ||
		(uintptr_t)mem % WEFT_CACHE_LINE != 0)
		return NULL;
	memset(mem, 0, weft_ide_stream_size());
	s = stream_carve(&c);
	s->counter = counter;
	s->mode = cfg->mode;
	s->pcrc = cfg->pcrc;
	s->is_lopt = cfg->format == WEFT_IDE_LOPT;
	s->has_stop = cfg->stop;
	s->late.is_on = cfg->poison;
	s->idles.truncation = cfg->truncation_delay;
	s->idles.refresh = cfg->refresh_idles;
	s->kernel = s->is_lopt ? NULL : ide_lib_pass(lib); /* kernels know one place of each slot */
	stream_expand_key(s, lib, key, s->gcm, &s->pass_key);
	return s;
}

struct weft_ide_stream *
weft_ide_stream_init(void *mem, struct weft_ide_lib *lib, enum weft_ide_mode mode,
	const uint8_t *key, uint64_t counter, bool pcrc)
{
	const struct weft_ide_config cfg = { .mode = mode, .pcrc = pcrc };

	return weft_ide_stream_setup(mem, lib, &cfg, key, counter);
}

void
weft_ide_stream_next_key(struct weft_ide_stream *s, struct weft_ide_lib *lib, const uint8_t *key)
{
	stream_expand_key(s, lib, key, s->next_key.gcm, &s->next_key.pass_key);
	s->next_key.is_ready = true;
}

void
ide_take_next_key(struct weft_ide_stream *s)
{
	struct ide_gcm *old = s->gcm;

	s->gcm = s->next_key.gcm;
	s->next_key.gcm = old;
	explicit_bzero(old, ide_gcm_size());
	memcpy(&s->pass_key, &s->next_key.pass_key, sizeof(s->pass_key));
	explicit_bzero(&s->next_key.pass_key, sizeof(s->next_key.pass_key));
	s->counter = 1;
	s->next_key.is_ready = false;
	s->is_stopped = false;
	s->counts.starts++;
}

bool
weft_ide_has_next_key(const struct weft_ide_stream *s)
{
	return s->next_key.is_ready;
}

uint64_t
weft_ide_counter(const struct weft_ide_stream *s)
{
	return s->counter;
}

bool
weft_ide_is_stopped(const struct weft_ide_stream *s)
{
	return s->is_stopped;
}

const struct weft_ide_counts *
weft_ide_counts(const struct weft_ide_stream *s)
{
	return &s->counts;
}

void
weft_ide_stream_wipe(struct weft_ide_stream *s)
{
	explicit_bzero(s, weft_ide_stream_size());
}
