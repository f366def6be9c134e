/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Regions and clients of the topology: what has which name, where it is, and which row decides
 * about whom.
 */

#include "topo_test.h"

#define TOPO_CLIENTS WEFT_TEST_VECTORS "/topo/clients.yaml"

static const struct weft_topo_region *
region(const struct weft_topo *t, const char *name)
{
	const int i = weft_topo_find_region(t, name, strlen(name));

	if (i < 0)
		fail_msg("no region %s", name);
	return &t->attach.region[i];
}

static void
assert_region(const struct weft_topo *t, const char *name, unsigned int segment, uint64_t offset,
	uint64_t size)
{
	const struct weft_topo_region *r = region(t, name);

	assert_string_equal(r->name, name);
	assert_int_equal(r->segment, segment);
	assert_int_equal(r->offset, offset);
	assert_int_equal(r->size, size);
}

WEFT_TEST(regions_are_where_the_file_says)
{
	struct weft_topo *t = topo_test_load(TOPO_CLIENTS);

	assert_int_equal(t->attach.n_regions, 5 + 3);
	assert_region(t, "scratch", 0, 0x1000, 64 << 10);
	assert_region(t, "rest", 0, 512 << 10, 512 << 10);
	assert_region(t, "striped", 1, 4 << 10, 128 << 10);
	assert_region(t, "whole", 2, 0, 512 << 10);
	/* Half of g1 stands in the segment before. */
	assert_region(t, "tail", 2, 256 << 10, 4 << 10);
	assert_true(region(t, "tail")->is_given);
	/* Segments have names without being given one: that of memory of a host has none. */
	assert_region(t, "g0", 0, 0, 1 << 20);
	assert_region(t, "seg1", 1, 0, 1 << 20);
	assert_region(t, "seg2", 2, 0, 512 << 10);
	assert_false(region(t, "seg2")->is_given);
	assert_int_equal(weft_topo_find_region(t, "seg3", 4), -ENOENT);
	assert_int_equal(weft_topo_find_region(t, "g1", 2), -ENOENT);
	assert_int_equal(weft_topo_find_region(t, "", 0), -ENOENT);
	assert_int_equal(weft_topo_find_region(t, "g0:0+4K", 2), 5);
	assert_int_equal(weft_topo_find_region(t, "scratch", 6), -ENOENT);
	assert_int_equal(weft_topo_find_region(t, "scratchy", 8), -ENOENT);
	weft_topo_free(t);
}

WEFT_TEST(plain_files_name_their_gfds)
{
	struct weft_topo *t = topo_test_load(TOPO_FORMS);

	assert_int_equal(t->attach.n_regions, t->n_gfds);
	for (uint16_t g = 0; g < t->n_gfds; g++)
		assert_region(t, t->node[t->gfd[g]].name, g, 0, t->node[t->gfd[g]].memory);
	for (uint16_t h = 0; h < t->n_hosts; h++)
		assert_int_equal(t->node[t->host[h]].clients.n, 0);
	weft_topo_free(t);
}

/* Which row decides: its number at the host, or -1. */
static int
row_of(const struct weft_topo *t, const char *host, uint32_t uid, uint32_t gid,
	const uint32_t *group, unsigned int n_groups)
{
	const struct weft_topo_user who = { uid, gid, group, n_groups };
	const unsigned int node = (unsigned int)weft_topo_find(t, host);
	const struct weft_topo_client *c = weft_topo_client_of(t, node, &who);

	return c == NULL ? -1 : (int)(c - &t->attach.client[t->node[node].clients.first]);
}

WEFT_TEST(the_first_row_about_somebody_decides)
{
	const uint32_t lab[] = { 7, 100 }, other[] = { 7, 8 };
	struct weft_topo *t = topo_test_load(TOPO_CLIENTS);

	assert_int_equal(row_of(t, "h0", 1000, 1000, NULL, 0), 0);
	assert_int_equal(row_of(t, "h0", 1000, 100, lab, 2), 0);
	assert_int_equal(row_of(t, "h0", 0, 0, NULL, 0), 1);
	assert_int_equal(row_of(t, "h0", 1001, 100, NULL, 0), 5); /* first group, or another */
	assert_int_equal(row_of(t, "h0", 1001, 1001, lab, 2), 5);
	assert_int_equal(row_of(t, "h0", 1001, 1001, lab, 1), -1);
	assert_int_equal(row_of(t, "h0", 1001, 1001, other, 2), -1);
	assert_int_equal(row_of(t, "h0", 100, 5, NULL, 0), -1); /* a group is no user */
	assert_int_equal(row_of(t, "h0", 5, 1000, NULL, 0), -1);
	/* Names that nobody has looked up are nobody's, not even of who has no number. */
	assert_int_equal(row_of(t, "h0", WEFT_TOPO_NO_ID, WEFT_TOPO_NO_ID, NULL, 0), -1);
	assert_int_equal(row_of(t, "h1", 1000, 1000, NULL, 0), -1);
	weft_topo_client_is(t, t->node[0].clients.first + 2, 1001);
	weft_topo_client_is(t, t->node[0].clients.first + 3, 7);
	weft_topo_client_is(t, t->node[1].clients.first, 1000);
	assert_int_equal(row_of(t, "h0", 1001, 100, lab, 2), 2);
	assert_int_equal(row_of(t, "h0", 1002, 100, lab, 2), 3);
	assert_int_equal(row_of(t, "h1", 1000, 1000, NULL, 0), 0);
	assert_int_equal(row_of(t, "s0", 0, 0, NULL, 0), -1);
	weft_topo_free(t);
}

/* Names of regions that a row opens, in the order of regions. */
static void
assert_opens(const struct weft_topo *t, unsigned int row, const char *names)
{
	char got[256] = "";

	for (unsigned int i = 0; i < t->attach.n_regions; i++)
		if (weft_topo_client_may_open(t, &t->attach.client[row], i)) {
			strcat(got, got[0] == '\0' ? "" : " ");
			strcat(got, t->attach.region[i].name);
		}
	assert_string_equal(got, names);
}

WEFT_TEST(rows_say_what_and_how_much)
{
	struct weft_topo *t = topo_test_load(TOPO_CLIENTS);
	const struct weft_topo_client *c = t->attach.client;
	static const char all[] = "scratch rest striped whole tail g0 seg1 seg2";

	assert_int_equal(t->attach.n_clients, 7);
	assert_int_equal(t->node[0].clients.n, 6);
	assert_int_equal(t->node[1].clients.n, 1);
	assert_opens(t, 0, "scratch g0");
	assert_int_equal(c[0].rights, WEFT_TOPO_CLIENT_READ);
	assert_int_equal(c[0].share, 2);
	assert_int_equal(c[0].line, 23);
	assert_opens(t, 1, all);
	assert_int_equal(c[1].rights, WEFT_TOPO_CLIENT_READ | WEFT_TOPO_CLIENT_WRITE);
	assert_int_equal(c[1].share, 100);
	assert_int_equal(c[1].id, 0);
	assert_false(c[1].is_group);
	assert_string_equal(c[2].name, "LAB\\domain users");
	assert_int_equal(c[2].id, WEFT_TOPO_NO_ID);
	assert_int_equal(c[2].rights, 0);
	assert_int_equal(c[2].share, 1);
	assert_string_equal(c[3].name, "lab.users");
	assert_true(c[3].is_group);
	assert_int_equal(c[3].rights, WEFT_TOPO_CLIENT_WRITE);
	assert_opens(t, 3, "striped whole seg1 seg2");
	assert_opens(t, 4, "");
	assert_int_equal(c[4].id, UINT32_MAX - 1);
	assert_opens(t, 5, all);
	assert_string_equal(c[6].name, "alice");
	assert_true(weft_topo_client_may_open(t, NULL, 0)); /* everything */
	weft_topo_free(t);
}
