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

/* Append key @p i, and keep in @p told what whoever reads the text has by then. */
static size_t
wire_put_key(char text[WEFT_TOPO_WIRE_ROOM], size_t used, unsigned int i, const char *value,
	struct weft_impair_cfg *told)
{
	const char *name = weft_impair_keys[i].name;
	int n = snprintf(text + used, WEFT_TOPO_WIRE_ROOM - used, "%s%s=%s", used > 0 ? "," : "",
		name, value);

	(void)weft_impair_parse(told, name, value, NULL, 0);
	return used + (size_t)n;
}

void
topo_wire_text(const struct weft_impair_cfg *cfg, char text[WEFT_TOPO_WIRE_ROOM])
{
	struct weft_impair_cfg usual, told;
	char value[32], usual_value[32], told_value[32];
	size_t used = 0;

	weft_impair_defaults(&usual);
	told = usual;
	text[0] = '\0';
	/* A number may switch on the probability before it, if that is 0: so a second look. */
	for (unsigned int i = 0; i < 2 * weft_impair_n_keys; i++) {
		const unsigned int key = i % weft_impair_n_keys;

		weft_impair_print(cfg, key, value, sizeof(value));
		weft_impair_print(&usual, key, usual_value, sizeof(usual_value));
		weft_impair_print(&told, key, told_value, sizeof(told_value));
		/* The first one always: no text would say that there is no wire. */
		if (i == 0 || strcmp(value, told_value) != 0 ||
			(i < weft_impair_n_keys && strcmp(value, usual_value) != 0))
			used = wire_put_key(text, used, key, value, &told);
	}
}
