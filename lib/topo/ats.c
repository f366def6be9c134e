/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Address translation: what the keys of agents and of hosts that translate say together, and what
 * an agent answers before it has changed anything.
 */

#include <errno.h>
#include <stdlib.h>

#include "weft_ide.h"

#include "topo_priv.h"

#define MAX_VA (UINT64_C(1) << 52)

const char *const topo_rights_words[] = { "none", "r", "w", "rw", NULL };

static bool
ats_meets(uint64_t a, uint64_t a_size, uint64_t b, uint64_t b_size)
{
	return a < b + b_size && b < a + a_size;
}

static const struct weft_topo_segment *
ats_segment(const struct weft_topo *t, uint64_t pa)
{
	const uint64_t base = weft_topo_fast_base(t);

	if (pa < base || (pa - base) >> t->map.segment_log2 >= t->map.n_segments)
		return NULL;
	return &t->map.segment[(pa - base) >> t->map.segment_log2];
}

/* A stretch of addresses of a segment that CXL.mem reaches: memory of GFDs. */
static bool
ats_has_memory(const struct weft_topo *t, uint64_t pa, uint64_t size)
{
	const struct weft_topo_segment *s = ats_segment(t, pa);

	return s != NULL && t->node[t->map.target[s->first_target].node].kind == WEFT_TOPO_GFD &&
	       pa - s->base <= s->size && size <= s->size - (pa - s->base);
}

static int
ats_check_place(
	struct topo_load *l, const struct topo_translation_src *src, unsigned int key, uint64_t pa)
{
	const struct weft_topo *t = &l->t;

	if (pa % src->page != 0)
		return topo_fail(l, -EINVAL, src->line_of[key],
			"not aligned, expected a multiple of the page of %llu bytes, got 0x%llx",
			(unsigned long long)src->page, (unsigned long long)pa);
	if (!ats_has_memory(t, pa, src->out.size))
		return topo_fail(l, -EINVAL, src->line_of[key],
			"not in one segment, expected memory for %llu bytes, got 0x%llx",
			(unsigned long long)src->out.size, (unsigned long long)pa);
	return 0;
}

/* Memory is moved, wiped and owned: no two translations share any. */
static bool
ats_shares_memory(const struct weft_topo_translation *a, const struct weft_topo_translation *b)
{
	return ats_meets(a->pa, a->size, b->pa, b->size) ||
	       (a->alt_pa != 0 && ats_meets(a->alt_pa, a->size, b->pa, b->size)) ||
	       (b->alt_pa != 0 && ats_meets(a->pa, a->size, b->alt_pa, b->size)) ||
	       (a->alt_pa != 0 && b->alt_pa != 0 &&
		       ats_meets(a->alt_pa, a->size, b->alt_pa, b->size));
}

static int
ats_check_others(struct topo_load *l, unsigned int i)
{
	const struct topo_translation_src *src = &l->of_node.translation[i];

	for (unsigned int j = 0; j < i; j++) {
		const struct topo_translation_src *o = &l->of_node.translation[j];

		if (o->out.host == src->out.host &&
			ats_meets(o->out.va, o->out.size, src->out.va, src->out.size))
			return topo_fail(l, -EINVAL, src->line_of[TRANSLATION_VA],
				"address translated twice, expected one translation of host %s, "
				"got that of line %u again",
				src->host, o->line_of[0]);
		if (ats_shares_memory(&src->out, &o->out))
			return topo_fail(l, -EINVAL, src->line_of[0],
				"memory of another translation, expected some of its own, got "
				"that of line %u",
				o->line_of[0]);
	}
	return 0;
}

static int
ats_check_translation(struct topo_load *l, unsigned int agent, unsigned int i)
{
	struct topo_translation_src *src = &l->of_node.translation[i];
	struct weft_topo_translation *x = &src->out;
	const int host = weft_topo_find(&l->t, src->host);
	int rc;

	if (host < 0 || !l->t.node[host].translates || l->t.node[host].ats.agent != agent)
		return topo_fail(l, -EINVAL, src->line_of[TRANSLATION_HOST],
			"no client, expected a host with ats: {agent: %s}, got \"%s\"",
			l->t.node[agent].name, src->host);
	x->host = (uint16_t)host;
	x->line = src->line_of[TRANSLATION_PA];
	x->page_log2 = (uint8_t)__builtin_ctzll(src->page);
	if (x->va % src->page != 0 || x->size % src->page != 0 || x->va + x->size > MAX_VA)
		return topo_fail(l, -EINVAL, src->line_of[0],
			"not whole pages, expected va and size as multiples of %llu below 2^52, "
			"got 0x%llx and %llu",
			(unsigned long long)src->page, (unsigned long long)x->va,
			(unsigned long long)x->size);
	rc = ats_check_place(l, src, TRANSLATION_PA, x->pa);
	if (rc == 0 && src->line_of[TRANSLATION_MOVE_TO] != 0)
		rc = ats_check_place(l, src, TRANSLATION_MOVE_TO, x->alt_pa);
	if (rc == 0 && x->alt_pa != 0 && ats_meets(x->pa, x->size, x->alt_pa, x->size))
		rc = topo_fail(l, -EINVAL, src->line_of[TRANSLATION_MOVE_TO],
			"moves onto itself, expected other memory than pa, got 0x%llx",
			(unsigned long long)x->alt_pa);
	return rc != 0 ? rc : ats_check_others(l, i);
}

static int
ats_check_agent(struct topo_load *l, unsigned int i)
{
	const struct topo_node_src *src = &l->node[i];
	const struct weft_topo_node *n = &l->t.node[i];

	topo_where(l, "nodes[%u]", i);
	if (n->n_translations == 0)
		return 0;
	if (n->translates)
		return topo_fail(l, -EINVAL, src->line_of[NODE_TRANSLATIONS],
			"an agent that translates, expected translations without ats, got both");
	if (topo_answers_gim(&l->t, i))
		return topo_fail(l, -EINVAL, src->line_of[NODE_TRANSLATIONS],
			"gim of an agent, expected translations without, got both");
	for (unsigned int k = 0; k < n->n_translations; k++) {
		int rc;

		topo_where(l, "nodes[%u].translations[%u]", i, k);
		rc = ats_check_translation(l, i, n->first_translation + k);
		if (rc != 0)
			return rc;
	}
	return 0;
}

static int
ats_check_client(struct topo_load *l, unsigned int i)
{
	const struct topo_node_src *src = &l->node[i];
	struct weft_topo_node *n = &l->t.node[i];
	const int agent = weft_topo_find(&l->t, src->agent);

	if (!n->translates)
		return 0;
	topo_where(l, "nodes[%u].ats", i);
	if (l->t.ide.mode != WEFT_IDE_OFF)
		return topo_fail(l, -EINVAL, src->line_of[NODE_ATS],
			"ats with ide, expected ide off as IDE does not cover CXL.io, got it on");
	if (agent < 0 || l->t.node[agent].n_translations == 0)
		return topo_fail(l, -EINVAL, src->ats_at[ATS_AGENT],
			"no agent, expected the name of a host with translations, got \"%s\"",
			src->agent);
	if (l->defaults_at[DEFAULTS_CXL_IO] != 0 && l->t.cxl_io.packets == 0)
		return topo_fail(l, -EINVAL, src->line_of[NODE_ATS],
			"ats without CXL.io packets, expected no defaults.cxl_io or one above 0, "
			"got 0");
	n->ats.agent = (uint16_t)agent;
	if (topo_answers_gim(&l->t, i))
		return topo_fail(l, -EINVAL, src->line_of[NODE_ATS],
			"gim of a host that translates, expected traffic only, got some");
	return 0;
}

int
topo_check_ats(struct topo_load *l)
{
	struct weft_topo *t = &l->t;
	int rc = 0;

	for (unsigned int h = 0; h < t->n_hosts && rc == 0; h++)
		rc = ats_check_client(l, t->host[h]);
	for (unsigned int h = 0; h < t->n_hosts && rc == 0 && l->n_findings == 0; h++)
		rc = ats_check_agent(l, t->host[h]);
	if (rc != 0 || l->n[SECTION_TRANSLATION] == 0)
		return rc;
	t->translations.entry = calloc(l->n[SECTION_TRANSLATION], sizeof(*t->translations.entry));
	if (t->translations.entry == NULL)
		return -ENOMEM;
	for (unsigned int i = 0; i < l->n[SECTION_TRANSLATION]; i++)
		t->translations.entry[i] = l->of_node.translation[i].out;
	t->translations.n = (uint16_t)l->n[SECTION_TRANSLATION];
	t->map.is_default = false;
	if (t->cxl_io.packets == 0)
		t->cxl_io.packets = WEFT_TOPO_CXL_IO_USUAL;
	return 0;
}

const struct weft_topo_translation *
weft_topo_translate(const struct weft_topo *t, unsigned int host, uint64_t va, uint64_t *pa)
{
	for (unsigned int i = 0; i < t->translations.n; i++) {
		const struct weft_topo_translation *x = &t->translations.entry[i];

		if (x->host != host || va < x->va || va - x->va >= x->size)
			continue;
		*pa = x->pa + (va - x->va);
		return x;
	}
	return NULL;
}

const char *
weft_topo_rights_word(unsigned int rights)
{
	return rights < WEFT_ARRAY_SIZE(topo_rights_words) - 1 ? topo_rights_words[rights]
	                                                       : "unknown";
}
