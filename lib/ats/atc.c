/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* ATC: its memory and its counters. */

#include "atc_priv.h"

#include "weft_carve.h"

const struct weft_counter weft_atc_counters[] = {
#define WEFT_COUNTER(id, name, unit, help) { name, unit, help },
#include "weft_atc_counters.def"
#undef WEFT_COUNTER
};

const char *const weft_atc_class_words[] = {
	[WEFT_ATC_4K] = "4K",
	[WEFT_ATC_64K] = "64K",
	[WEFT_ATC_2M] = "2M",
	[WEFT_ATC_1G] = "1G",
	NULL,
};

unsigned int
weft_atc_class_log2(enum weft_atc_class c)
{
	return atc_class_log2[c];
}

const uint64_t *
weft_atc_counts(const struct weft_atc *c)
{
	return c->count;
}

static bool
atc_cfg_is_good(const struct weft_atc_cfg *cfg)
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

static struct weft_atc *
atc_carve(struct weft_carver *carver, const struct weft_atc_cfg *cfg)
{
	struct weft_atc *c = weft_carve(carver, sizeof(*c));
	struct atc_ctx *ctx;

	for (unsigned int i = 0; i < WEFT_ATC_CLASSES; i++) {
		const uint32_t sets = cfg->sets[i];
		struct atc_set *set = weft_carve(carver, sets * sizeof(*set));
		struct atc_clock *clock = weft_carve(carver, sets * sizeof(*clock));

		if (c != NULL) {
			c->array[i].sets = sets;
			c->array[i].set = set;
			c->array[i].clock = clock;
		}
	}
	ctx = weft_carve(carver, cfg->contexts * sizeof(*ctx));
	if (c != NULL)
		c->ctx = ctx;
	return c;
}

size_t
weft_atc_size(const struct weft_atc_cfg *cfg)
{
	struct weft_carver carver = { 0 };

	if (!atc_cfg_is_good(cfg))
		return 0;
	atc_carve(&carver, cfg);
	return carver.len;
}

struct weft_atc *
weft_atc_init(void *mem, const struct weft_atc_cfg *cfg)
{
	struct weft_carver carver = { .block = mem };
	struct weft_atc *c;

	if (!atc_cfg_is_good(cfg) || (uintptr_t)mem % WEFT_CACHE_LINE != 0)
		return NULL;
	memset(mem, 0, weft_atc_size(cfg));
	c = atc_carve(&carver, cfg);
	c->contexts = cfg->contexts;
	c->kernel = cfg->kernel != NULL ? cfg->kernel : &weft_atc_kernels[weft_atc_n_kernels - 1];
	for (unsigned int i = 0; i < cfg->contexts; i++)
		atc_forget_last(&c->ctx[i]);
	return c;
}
