/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Fabrics that are drawn with their load: the reader takes each, it has what it says that it has,
 * and everything that can be drawn is drawn often.
 */

#include "weft_test.h"

#include "draw.h"
#include "weft_load.h"
#include "weft_topo_graph.h"
#include "weft_wire.h"

#define FABRICS 2000 /* half of them in builds after the first: their shares are asserted */
#define OFTEN 20 /* of a hundred; what needs two of them: half as many */

static bool
has(uint32_t domains, enum draw_domain domain)
{
	return (domains >> domain & 1) != 0;
}

static void
drawn_say(void *text, const struct weft_topo_error *err)
{
	fail_msg("%s\n%s", err->text, (const char *)text);
}

static void
drawn_open(const char *text, size_t len, struct weft_topo **t, struct weft_load **load)
{
	const struct weft_load_files files = { .topology = "drawn", .yaml = text, .len = len };
	struct weft_topo_error err;

	weft_load_check(&files, drawn_say, (void *)(uintptr_t)text);
	if (weft_load_open(t, load, &files, &err) != 0)
		fail_msg("%s\n%s", err.text, text);
}

static bool
drawn_any_node(const struct weft_topo *t, bool (*is)(const struct weft_topo_node *n))
{
	for (unsigned int i = 0; i < t->n_nodes; i++)
		if (is(&t->node[i]))
			return true;
	return false;
}

static bool
is_late(const struct weft_topo_node *n)
{
	return n->late_poison > 0;
}

static bool
is_device(const struct weft_topo_node *n)
{
	return n->kind == WEFT_TOPO_DEVICE;
}

static bool
is_client(const struct weft_topo_node *n)
{
	return n->translates;
}

static bool
has_gim(const struct weft_topo_node *n)
{
	return n->gim != 0 && n->n_windows != 0;
}

/* What the reader found, as the drawing says it. */
static uint32_t
drawn_found(const struct weft_topo *t, const struct weft_load *load)
{
	uint32_t found = 0;
	bool is_moving = false, takes_turns = false, is_equal = false;
	uint8_t equal[WEFT_RGT_PORTS];

	for (unsigned int i = 0; i < t->n_nodes; i++)
		is_moving |= load->node[i].move.period_ms != 0;
	for (unsigned int i = 0; i < t->map.n_segments; i++)
		takes_turns |= t->map.segment[i].ways_log2 != 0;
	for (unsigned int i = 0; i < t->n_nodes; i++)
		for (unsigned int k = 0; k < t->node[i].n_ports; k++)
			is_equal |= weft_topo_equal_ports(t, i, k, equal) > 1;
	found |= (uint32_t)is_equal << DRAW_EQUAL;
	found |= (uint32_t)drawn_any_node(t, is_client) << DRAW_ATS;
	found |= (uint32_t)is_moving << DRAW_MOVE;
	found |= (uint32_t)(load->n_transfers != 0) << DRAW_TRANSFER;
	found |= (uint32_t)takes_turns << DRAW_INTERLEAVE;
	found |= (uint32_t)load->has_uio << DRAW_UIO;
	found |= (uint32_t)drawn_any_node(t, has_gim) << DRAW_GIM;
	found |= (uint32_t)drawn_any_node(t, is_device) << DRAW_DEVICE;
	/* Without groups of its own a fabric has one of that name. */
	found |= (uint32_t)(strcmp(t->access.group[0].name, "all") != 0) << DRAW_RIGHTS;
	found |= (uint32_t)drawn_any_node(t, is_late) << DRAW_LATE_POISON;
	found |= (uint32_t)(t->ide.mode != 0) << DRAW_IDE;
	return found;
}

static unsigned int
drawn_fabrics(void)
{
	return weft_test_is_again() ? FABRICS / 2 : FABRICS;
}

/* The least that each of them could be, if nothing else is. */
static unsigned int
drawn_least(enum draw_domain domain)
{
	const unsigned int often = drawn_fabrics() * OFTEN / 100;

	return domain == DRAW_ATS || domain == DRAW_TRANSFER || domain == DRAW_UIO ||
	                       domain == DRAW_RIGHTS
	               ? often
	               : often / 2;
}

WEFT_TEST(each_is_taken_and_is_what_it_says)
{
	const unsigned int fabrics = drawn_fabrics();
	unsigned int drawn[DRAW_DOMAINS] = { 0 }, cxl = 0;
	struct weft_rand r;

	weft_test_seed(&r, "draw");
	for (unsigned int i = 0; i < fabrics; i++) {
		const uint64_t seed = weft_rand_u64(&r);
		struct weft_load *load;
		struct weft_topo *t;
		uint32_t domains;
		size_t len;
		char *text = draw_fabric(seed, -1, &domains, &len);

		assert_non_null(text);
		assert_int_equal(len, strlen(text));
		drawn_open(text, len, &t, &load);
		if (drawn_found(t, load) != domains || t->n_nodes > DRAW_NODES)
			fail_msg("seed %llu: found 0x%x, drawn 0x%x\n%s", (unsigned long long)seed,
				drawn_found(t, load), domains, text);
		for (unsigned int d = 0; d < DRAW_DOMAINS; d++)
			drawn[d] += has(domains, d);
		cxl += t->mode == WEFT_MODE_CXL;
		weft_load_free(load);
		weft_topo_free(t);
		free(text);
	}
	for (unsigned int d = 0; d < DRAW_DOMAINS; d++)
		if (drawn[d] < drawn_least(d))
			fail_msg("%s in %u of %u", draw_words[d], drawn[d], fabrics);
	assert_in_range(cxl, fabrics * 2 / 5, fabrics * 3 / 5);
}

static bool
drawn_same_rights(const struct weft_topo *a, const struct weft_topo *b)
{
	for (unsigned int i = 0; i < a->n_nodes; i++)
		if (a->node[i].access != b->node[i].access)
			return false;
	return a->access.n_ranges == b->access.n_ranges &&
	       memcmp(a->access.range, b->access.range,
		       a->access.n_ranges * sizeof(*a->access.range)) == 0;
}

WEFT_TEST(what_rights_change_into_is_the_same_fabric)
{
	const unsigned int fabrics = drawn_fabrics();
	unsigned int changes = 0, same = 0;
	struct weft_rand r;

	weft_test_seed(&r, "change");
	for (unsigned int i = 0; i < fabrics; i++) {
		const uint64_t seed = weft_rand_u64(&r);
		struct weft_load_version v[2] = { { .file = "now" }, { .file = "next" } };
		struct weft_load *load[2];
		struct weft_topo *t[2];
		struct weft_topo_error err;
		uint32_t domains;
		size_t len[2];
		char *text[2] = { draw_fabric(seed, -1, &domains, &len[0]), NULL };

		for (unsigned int k = 0; k < 2 && draw_may_change(domains); k++) {
			if (k == 1)
				text[k] = draw_change(seed, -1, &len[k]);
			drawn_open(text[k], len[k], &t[k], &load[k]);
			v[k].topo = t[k];
			v[k].load = load[k];
		}
		if (text[1] != NULL) {
			if (weft_load_check_change(&v[0], &v[1], &err) != 0)
				fail_msg("seed %llu: %s\n%s%s", (unsigned long long)seed, err.text,
					text[0], text[1]);
			changes++;
			same += drawn_same_rights(t[0], t[1]);
			for (unsigned int k = 0; k < 2; k++) {
				weft_load_free(load[k]);
				weft_topo_free(t[k]);
			}
		}
		free(text[0]);
		free(text[1]);
	}
	assert_in_range(changes, fabrics / 10, fabrics);
	assert_in_range(same, 0, changes / 4);
}

WEFT_TEST(a_seed_is_a_file)
{
	char *a = draw_fabric(7, -1, NULL, NULL), *b = draw_fabric(7, -1, NULL, NULL);
	char *other = draw_fabric(8, -1, NULL, NULL);

	assert_string_equal(a, b);
	assert_string_not_equal(a, other);
	free(a);
	free(b);
	free(other);
}

WEFT_TEST(the_mode_may_be_said)
{
	for (int mode = WEFT_MODE_CXL; mode <= WEFT_MODE_RXL; mode++)
		for (unsigned int seed = 0; seed < 8; seed++) {
			struct weft_load *load;
			struct weft_topo *t;
			size_t len;
			char *text = draw_fabric(seed, mode, NULL, &len);

			drawn_open(text, len, &t, &load);
			assert_int_equal(t->mode, mode);
			weft_load_free(load);
			weft_topo_free(t);
			free(text);
		}
}
