/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* The bad wire of a link: keys and ranges are those of lib/impair. */

#include <errno.h>
#include <stdio.h>

#include "topo_priv.h"

static int
wire_read_pair(struct topo_load *l, const struct topo_value *v, struct weft_impair_cfg *cfg,
	uint64_t *seen)
{
	char err[256];

	if (v->kind != TOPO_SCALAR)
		return topo_bad(l, v, "wrong type", "a value of \"%s\"", v->key);
	if (weft_impair_parse(cfg, v->key, v->text, err, sizeof(err)) != 0)
		return topo_fail(l, -EINVAL, v->key_line, "%s", err);
	for (unsigned int i = 0; i < weft_impair_n_keys; i++) {
		if (strcmp(weft_impair_keys[i].name, v->key) != 0)
			continue;
		if (*seen & WEFT_BIT64(i))
			return topo_fail(l, -EINVAL, v->key_line,
				"duplicate key, expected \"%s\" once, got it again", v->key);
		*seen |= WEFT_BIT64(i);
	}
	return 0;
}

int
topo_read_wire(
	struct topo_load *l, const struct topo_value *v, const struct topo_key *k, void *base)
{
	struct weft_impair_cfg *cfg = (void *)((char *)base + k->offset);
	uint64_t seen = 0;
	char err[128];

	if (v->kind != TOPO_MAP)
		return topo_bad(l, v, "wrong type", "a mapping");
	weft_impair_defaults(cfg);
	for (unsigned int i = v->first; i != 0; i = l->tree.value[i].next) {
		int rc = wire_read_pair(l, &l->tree.value[i], cfg, &seen);

		if (rc < 0)
			return rc;
	}
	if (weft_impair_check(cfg, err, sizeof(err)) != 0)
		return topo_fail(l, -EINVAL, v->line, "%s", err);
	return 0;
}

void
topo_wire_text(const struct weft_impair_cfg *cfg, char text[WEFT_TOPO_WIRE_ROOM])
{
	static_assert(WEFT_TOPO_WIRE_ROOM >= WEFT_IMPAIR_TEXT_MAX, "room for every key");
	weft_impair_write(cfg, text, WEFT_TOPO_WIRE_ROOM);
}
