/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* A block of tables as memory: its size, its first state, a copy. */

#include "gfam_priv.h"

#define BLOCK_SIZES (weft_mask64(52) & ~weft_mask64(6)) /* 4900h: bits 6..51 */
#define BLOCKS_MAX (UINT32_C(1) << 24)

static bool
gfam_cfg_is_good(const struct weft_gfam_cfg *c)
{
	if (c->rows == 0 || c->rows > GFAM_PID_NONE || c->groups == 0 ||
		c->groups > WEFT_GFAM_GROUPS)
		return false;
	if (c->dmps == 0 || c->dmps > WEFT_GFAM_DMPS || c->blocks == 0 || c->blocks > BLOCKS_MAX)
		return false;
	for (unsigned int i = 0; i < c->dmps; i++) {
		if ((c->media[i].block_sizes & ~BLOCK_SIZES) != 0)
			return false;
	}
	return true;
}

static uint32_t
gfam_round_line(size_t n)
{
	return (uint32_t)weft_line_up(n);
}

static uint32_t
gfam_home_len(const struct weft_gfam_cfg *c)
{
	bool is_sharable = false;

	for (unsigned int i = 0; i < c->dmps; i++)
		is_sharable = is_sharable || (c->media[i].flags & WEFT_GFAM_SHARABLE) != 0;
	return is_sharable ? gfam_round_line((size_t)c->dmps * c->blocks * sizeof(uint32_t)) : 0;
}

static void
gfam_lay_out(struct weft_gfam *t, const struct weft_gfam_cfg *c)
{
	t->row_off = gfam_round_line(sizeof(*t));
	t->free_off = gfam_round_line(
		t->row_off + (size_t)c->rows * WEFT_GFAM_DECODERS * sizeof(struct gfam_decoder));
	t->mgt_off = gfam_round_line(t->free_off + (size_t)c->rows * sizeof(uint16_t));
	t->size = gfam_round_line(t->mgt_off + (size_t)c->dmps * c->blocks);
	t->home_off = gfam_home_len(c) != 0 ? t->size : 0;
	t->size += gfam_home_len(c);
}

/* Members only: what lies between them is not the same twice, and tables are compared by bytes. */
static void
gfam_copy_cfg(struct weft_gfam_cfg *to, const struct weft_gfam_cfg *from)
{
	to->rows = from->rows;
	to->groups = from->groups;
	to->dmps = from->dmps;
	to->blocks = from->blocks;
	to->knobs = from->knobs;
	for (unsigned int i = 0; i < WEFT_GFAM_DMPS; i++) {
		to->media[i].block_sizes = from->media[i].block_sizes;
		to->media[i].flags = from->media[i].flags;
	}
}

size_t
weft_gfam_size(const struct weft_gfam_cfg *cfg)
{
	const size_t decoders = (size_t)cfg->rows * WEFT_GFAM_DECODERS;

	if (!gfam_cfg_is_good(cfg))
		return 0;
	return (size_t)gfam_round_line(sizeof(struct weft_gfam)) +
	       gfam_round_line(decoders * sizeof(struct gfam_decoder)) +
	       gfam_round_line((size_t)cfg->rows * sizeof(uint16_t)) +
	       gfam_round_line((size_t)cfg->dmps * cfg->blocks) + gfam_home_len(cfg);
}

struct weft_gfam *
weft_gfam_init(void *mem, const struct weft_gfam_cfg *cfg)
{
	struct weft_gfam *t = mem;
	uint16_t *free_row;

	if (!gfam_cfg_is_good(cfg))
		return NULL;
	memset(t, 0, weft_gfam_size(cfg));
	gfam_copy_cfg(&t->cfg, cfg);
	gfam_lay_out(t, cfg);
	for (unsigned int i = 0; i < WEFT_GFAM_RPIDS; i++) {
		t->rpid[i].row = GFAM_NO_ROW;
		t->rpid[i].owner = (uint16_t)i;
	}
	free_row = (uint16_t *)((uint8_t *)t + t->free_off);
	for (unsigned int i = 0; i < cfg->rows; i++)
		free_row[i] = (uint16_t)(cfg->rows - 1u - i);
	t->n_free = cfg->rows;
	for (unsigned int i = 0; i < cfg->dmps; i++) {
		t->dmp[i].mgt = i * cfg->blocks;
		t->dmp[i].flags = cfg->media[i].flags;
	}
	memset((uint8_t *)t + t->mgt_off, WEFT_GFAM_NO_GROUP, (size_t)cfg->dmps * cfg->blocks);
	memset((uint8_t *)t + t->home_off, 0xFF, t->home_off != 0 ? gfam_home_len(cfg) : 0);
	return t;
}

struct weft_gfam *
weft_gfam_copy(void *mem, const struct weft_gfam *from)
{
	memcpy(mem, from, from->size);
	return mem;
}

bool
weft_gfam_differs(const struct weft_gfam *a, const struct weft_gfam *b)
{
	return a->size != b->size || memcmp(a, b, a->size) != 0;
}

const struct weft_gfam_cfg *
weft_gfam_cfg(const struct weft_gfam *t)
{
	return &t->cfg;
}

uint32_t
weft_gfam_knobs(const struct weft_gfam *t)
{
	return t != NULL ? t->cfg.knobs : 0;
}

bool
weft_gfam_host_may(uint16_t opcode)
{
	switch (opcode) {
	case 0x4903: /* regions */
	case 0x490F: /* QoS control */
	case 0x4912: return false; /* bandwidth limits */
	default: break;
	}
	/* 4905h to 490Dh: DMPs, capacity, tags, SAT. */
	return opcode >= 0x4900 && opcode <= 0x4914 && (opcode < 0x4905 || opcode > 0x490D);
}
