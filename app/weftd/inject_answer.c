/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* What operators ask to be injected: words, ranges, places. Nothing begins before all fits. */

#include "inject.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#include "operate.h"
#include "ports.h"
#include "weft_line.h"
#include "weft_words.h"
#include "words.h"

struct inject_call {
	struct daemon *d;
	const json_t *request;
	char *err;
	size_t err_len;
};

__attribute__((format(printf, 2, 3))) static bool
inject_refuse(const struct inject_call *c, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(c->err, c->err_len, fmt, ap);
	va_end(ap);
	return false;
}

static const char *
inject_text(const struct inject_call *c, const char *key)
{
	return json_string_value(json_object_get(c->request, key));
}

static bool
inject_refuse_key(const struct inject_call *c, const char *key, const char *expected)
{
	operate_refuse_key(c->request, key, expected, c->err, c->err_len);
	return false;
}

static bool
inject_read_kind(const struct inject_call *c, struct inject_cfg *cfg)
{
	const char *text = inject_text(c, "kind");
	const int kind = text == NULL ? -1 : weft_words_find(inject_words, text);

	if (kind < 0)
		return inject_refuse_key(c, "kind", "wire, poison or pause");
	cfg->kind = (enum inject_kind)kind;
	return true;
}

/* Keys of other kinds would be without effect. */
static bool
inject_judge_keys(const struct inject_call *c, const struct inject_cfg *cfg)
{
	static const struct {
		const char *key;
		unsigned int kinds; /* a bit each */
	} keys[] = {
		{ "port", 1 << INJECT_WIRE },
		{ "wire", 1 << INJECT_WIRE },
		{ "target", 1 << INJECT_POISON },
		{ "offset", 1 << INJECT_POISON },
		{ "size", 1 << INJECT_POISON },
		{ "share", 1 << INJECT_POISON },
		{ "node", 1 << INJECT_PAUSE },
		{ "seed", 1 << INJECT_WIRE | 1 << INJECT_POISON },
	};

	for (size_t i = 0; i < WEFT_ARRAY_SIZE(keys); i++)
		if ((keys[i].kinds >> cfg->kind & 1) == 0 &&
			json_object_get(c->request, keys[i].key) != NULL)
			return inject_refuse(c, "%s: no such key with kind %s", keys[i].key,
				inject_words[cfg->kind]);
	return true;
}

static bool
inject_read_seconds(const struct inject_call *c, struct inject_cfg *cfg)
{
	const json_t *v = json_object_get(c->request, "seconds");

	cfg->seconds = v == NULL ? INJECT_SECONDS : json_number_value(v);
	if ((v != NULL && !json_is_number(v)) || !(cfg->seconds >= INJECT_SECONDS_MIN) ||
		cfg->seconds > INJECT_SECONDS_MAX)
		return inject_refuse_key(c, "seconds", "a number of 0.01 to 86400");
	return true;
}

/* A number, or a text where it is beyond those of JSON; drawn where it is not said. */
static bool
inject_read_seed(const struct inject_call *c, struct inject_cfg *cfg)
{
	const json_t *v = json_object_get(c->request, "seed");

	if (v == NULL) {
		uint32_t drawn = 1;

		if (getrandom(&drawn, sizeof(drawn), 0) != sizeof(drawn))
			drawn = 1;
		cfg->seed = drawn;
		return true;
	}
	if (json_is_integer(v) && json_integer_value(v) >= 0) {
		cfg->seed = (uint64_t)json_integer_value(v);
		return true;
	}
	return (json_is_string(v) &&
		       words_number(json_string_value(v), 0, UINT64_MAX, &cfg->seed)) ||
	       inject_refuse_key(c, "seed", "a number of 0 to 2^64 - 1");
}

/* --- wire --- */

static bool
inject_is_clean(const struct weft_impair_cfg *w)
{
	return w->ber <= 0 && w->bits_p <= 0 && w->burst_p <= 0 && w->channel <= 0 &&
	       w->uncorrectable <= 0 && w->drop <= 0 && w->dup <= 0 && w->reorder <= 0 &&
	       w->replay <= 0 && w->delay_p <= 0;
}

static bool
inject_read_wire(const struct inject_call *c, struct inject_cfg *cfg)
{
	const char *port = inject_text(c, "port"), *wire = inject_text(c, "wire");
	char err[256];

	cfg->node = port == NULL ? NULL : ports_find(c->d, port, strlen(port), &cfg->port);
	if (cfg->node == NULL)
		return inject_refuse_key(
			c, "port", "a port of a node that runs here, such as \"s0.0\"");
	if (wire == NULL)
		return inject_refuse_key(c, "wire", "\"key=value,...\", such as \"drop=0.01\"");
	weft_impair_defaults(&cfg->wire);
	if (weft_impair_parse_list(&cfg->wire, wire, err, sizeof(err)) != 0 ||
		weft_impair_check(&cfg->wire, err, sizeof(err)) != 0)
		return inject_refuse(c, "wire: %s", err);
	if (strncmp(wire, "seed=", 5) == 0 || strstr(wire, ",seed=") != NULL) {
		if (json_object_get(c->request, "seed") != NULL)
			return inject_refuse(c, "seed: expected it once, got it in wire too");
		cfg->seed = cfg->wire.seed;
	}
	cfg->wire.seed = cfg->seed;
	if (inject_is_clean(&cfg->wire))
		return inject_refuse(c,
			"wire: expected a probability above 0, such as drop=0.01, got \"%.100s\"",
			wire);
	return true;
}

/* --- poison --- */

/* Of a region of programs that lies in one piece: its GFD, and where it begins there. */
static bool
inject_find_region(const struct inject_call *c, const char *name, struct inject_cfg *cfg,
	uint64_t *first, uint64_t *size)
{
	const struct weft_topo *t = daemon_now(c->d);

	for (uint16_t i = 0; i < t->attach.n_regions; i++) {
		const struct weft_topo_region *r = &t->attach.region[i];
		const struct weft_topo_segment *s = &t->map.segment[r->segment];
		const struct weft_topo_target *target = &t->map.target[s->first_target];

		if (strcmp(r->name, name) != 0)
			continue;
		if (s->ways_log2 != 0)
			return inject_refuse(c,
				"target: expected memory of one GFD, got region %s, in which "
				"several take turns: name one of them",
				name);
		cfg->node = node_find(c->d, t->node[target->node].name);
		*first = target->dpa + r->offset;
		*size = r->size;
		return cfg->node != NULL ||
		       inject_refuse(c, "target: expected a GFD that runs here, got %s of %s",
			       t->node[target->node].name, name);
	}
	return inject_refuse_key(c, "target", "a GFD that runs here, or a region");
}

static bool
inject_find_memory(
	const struct inject_call *c, struct inject_cfg *cfg, uint64_t *first, uint64_t *size)
{
	const char *target = inject_text(c, "target");

	cfg->node = node_find(c->d, target);
	if (target == NULL)
		return inject_refuse_key(c, "target", "a GFD that runs here, or a region");
	if (cfg->node == NULL)
		return inject_find_region(c, target, cfg, first, size);
	if (cfg->node->topo->kind != WEFT_TOPO_GFD)
		return inject_refuse(c, "target: expected a GFD, got %s, a %s", target,
			weft_topo_kind_words[cfg->node->topo->kind]);
	*first = 0;
	*size = cfg->node->topo->memory;
	return true;
}

/* Bytes; with @p absent where it is not there. */
static bool
inject_read_bytes(const struct inject_call *c, const char *key, uint64_t absent, uint64_t *v)
{
	const json_t *o = json_object_get(c->request, key);

	*v = o == NULL ? absent : (uint64_t)json_integer_value(o);
	return o == NULL || (json_is_integer(o) && json_integer_value(o) >= 0) ||
	       inject_refuse_key(c, key, "bytes, 0 or more");
}

static bool
inject_read_share(const struct inject_call *c, struct inject_cfg *cfg)
{
	const json_t *v = json_object_get(c->request, "share");

	cfg->share = json_number_value(v);
	if (!json_is_number(v) || !(cfg->share > 0) || cfg->share > 1)
		return inject_refuse_key(c, "share", "a probability above 0 and up to 1");
	if (json_object_get(c->request, "offset") != NULL ||
		json_object_get(c->request, "size") != NULL)
		return inject_refuse(c, "share: expected a share or lines, got both");
	return true;
}

static bool
inject_read_poison(const struct inject_call *c, struct inject_cfg *cfg)
{
	const bool has_offset = json_object_get(c->request, "offset") != NULL;
	uint64_t first = 0, room = 0, offset, size;

	if (!inject_find_memory(c, cfg, &first, &room))
		return false;
	if (json_object_get(c->request, "share") != NULL)
		return inject_read_share(c, cfg);
	if (json_object_get(c->request, "seed") != NULL)
		return inject_refuse(c, "seed: expected it with share: lines are not drawn");
	if (!has_offset && first == 0 && room == cfg->node->topo->memory)
		return inject_refuse(
			c, "offset: expected an offset, or a share of all reads, got nothing");
	if (!inject_read_bytes(c, "offset", 0, &offset) ||
		!inject_read_bytes(c, "size",
			has_offset ? WEFT_LINE_LEN - (first + offset) % WEFT_LINE_LEN : room,
			&size))
		return false;
	if (size == 0 || offset >= room || size > room - offset)
		return inject_refuse(c,
			"offset, size: expected bytes within the %" PRIu64 " of %s, got %" PRIu64
			" from 0x%" PRIx64 " on",
			room, inject_text(c, "target"), size, offset);
	cfg->offset = (first + offset) & ~(uint64_t)(WEFT_LINE_LEN - 1);
	cfg->lines = (first + offset + size - cfg->offset + WEFT_LINE_LEN - 1) / WEFT_LINE_LEN;
	return true;
}

/* --- pause --- */

static bool
inject_read_pause(const struct inject_call *c, struct inject_cfg *cfg)
{
	cfg->node = node_find(c->d, inject_text(c, "node"));
	return cfg->node != NULL || inject_refuse_key(c, "node", "a node that runs here");
}

static bool
inject_read(const struct inject_call *c, struct inject_cfg *cfg)
{
	if (!inject_read_kind(c, cfg) || !inject_judge_keys(c, cfg) ||
		!inject_read_seconds(c, cfg) || !inject_read_seed(c, cfg))
		return false;
	switch (cfg->kind) {
	case INJECT_WIRE: return inject_read_wire(c, cfg);
	case INJECT_POISON: return inject_read_poison(c, cfg);
	default: return inject_read_pause(c, cfg);
	}
}

json_t *
inject_answer(struct daemon *d, const json_t *request, double now, char *err, size_t err_len)
{
	const struct inject_call c = { d, request, err, err_len };
	struct inject_cfg cfg = { .kind = INJECT_WIRE };
	unsigned int number;
	json_t *list, *one;

	if (!inject_read(&c, &cfg) || inject_begin(&cfg, now, &number, err, err_len) != 0)
		return NULL;
	list = injects_list_json(number, now);
	one = json_incref(json_array_get(list, 0));
	json_decref(list);
	return one;
}

json_t *
inject_stop_answer(const json_t *request, double now, char *err, size_t err_len)
{
	const json_t *v = json_object_get(request, "injection");
	const struct inject_call c = { NULL, request, err, err_len };
	const json_int_t number = json_integer_value(v);
	unsigned int n;

	if (v != NULL && (!json_is_integer(v) || number < 1 || number > UINT32_MAX)) {
		inject_refuse_key(&c, "injection", "the number of one at work");
		return NULL;
	}
	n = inject_stop((unsigned int)number, now);
	if (v != NULL && n == 0) {
		inject_refuse_key(&c, "injection", "the number of one at work");
		return NULL;
	}
	return json_pack("{s:i}", "stopped", (int)n);
}
