/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* ATC: its memory and its counters. */

#include "atc_priv.h"

#include "weft_telem.h"

static const struct weft_counter counters[WEFT_ATC_N_COUNTERS] = {
	[WEFT_ATC_N_HITS] = { "hits", "lookups", "Address translated from the cache" },
	[WEFT_ATC_N_MISSES] = { "misses", "lookups", "No entry for the address" },
	[WEFT_ATC_N_DENIALS] = { "denials", "lookups", "Entry found, access not permitted" },
	[WEFT_ATC_N_UNTRANSLATED] = { "untranslated", "lookups",
		"Entry found that says: use the address as it is" },
	[WEFT_ATC_N_INSTALLS] = { "installs", "entries", "Entries written" },
	[WEFT_ATC_N_EVICTIONS] = { "evictions", "entries", "Live entries that made room" },
	[WEFT_ATC_N_INVALIDATED] = { "invalidated", "entries", "Live entries dropped on request" },
};

unsigned int
weft_atc_class_log2(enum weft_atc_class c)
{
	return atc_class_log2[c];
}

const struct weft_counter *
weft_atc_counters(void)
{
	return counters;
}

const uint64_t *
weft_atc_counts(const struct weft_atc *c)
{
	return c->count;
}

static bool
cfg_ok(const struct weft_atc_cfg *cfg)
{
	if (cfg->contexts == 0)
		return false;
	for (unsigned int i = 0; i < WEFT_ATC_CLASSES; i++) {
		const uint32_t n = cfg->sets[i];

		if (n > 1u << 20 || (n & (n - 1)) != 0)
			return false;
	}
	return true;
}

static size_t
line_up(size_t n)
{
	return (n + WEFT_CACHE_LINE - 1) & ~(size_t)(WEFT_CACHE_LINE - 1);
}

/*
 * Lay the parts out from @p base on, each on a line of its own: the cache, the sets, the CLOCK
 * bytes, the contexts. @return bytes used; with @p c NULL nothing is written.
 */
static size_t
lay_out(uint8_t *base, const struct weft_atc_cfg *cfg, struct weft_atc *c)
{
	size_t at = line_up(sizeof(struct weft_atc));

	for (unsigned int i = 0; i < WEFT_ATC_CLASSES; i++) {
		const size_t sets = cfg->sets[i];

		if (c != NULL) {
			c->array[i].sets = cfg->sets[i];
			c->array[i].set = (struct atc_set *)(void *)(base + at);
			c->array[i].clock =
				(struct atc_clock *)(void *)(base + at +
							     sets * sizeof(struct atc_set));
		}
		at += line_up(sets * (sizeof(struct atc_set) + sizeof(struct atc_clock)));
	}
	if (c != NULL)
		c->ctx = (struct atc_ctx *)(void *)(base + at);
	return at + line_up(cfg->contexts * sizeof(struct atc_ctx));
}

size_t
weft_atc_size(const struct weft_atc_cfg *cfg)
{
	return cfg_ok(cfg) ? lay_out(NULL, cfg, NULL) : 0;
}

struct weft_atc *
weft_atc_init(void *mem, const struct weft_atc_cfg *cfg)
{
	struct weft_atc *c = mem;

	if (!cfg_ok(cfg) || (uintptr_t)mem % WEFT_CACHE_LINE != 0)
		return NULL;
	memset(mem, 0, weft_atc_size(cfg));
	lay_out(mem, cfg, c);
	c->contexts = cfg->contexts;
	c->kernel = cfg->kernel != NULL ? cfg->kernel : &weft_atc_kernels[weft_atc_n_kernels - 1];
	for (unsigned int i = 0; i < cfg->contexts; i++)
		atc_forget_last(&c->ctx[i]);
	return c;
}
