/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Writes the topology of a regular fabric as YAML. PIDs are given in the order of the nodes. Leaves
 * are hosts and GFDs in turn, a host first.
 */

#include "fabric.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "weft_base.h"
#include "weft_wire.h"

#define NUMBERS_MAX 3

/* Nodes and links are written to two texts, for the file wants all nodes first. */
struct fabric {
	FILE *nodes;
	FILE *links;
	unsigned int n_nodes; /* PIDs given */
	unsigned int n_leaves;
	unsigned int number[NUMBERS_MAX];
};

/* A new node; its number is its name and its PID. Those that are too many are only counted. */
static unsigned int
fabric_add(struct fabric *f, const char *kind)
{
	if (f->n_nodes >= WEFT_TOPO_NODES)
		return f->n_nodes++;
	fprintf(f->nodes, "  - {name: n%u, kind: %s, pid: %u%s}\n", f->n_nodes, kind, f->n_nodes,
		strcmp(kind, "gfd") == 0 ? ", memory: 4M" : "");
	return f->n_nodes++;
}

/* A switch that says where it is, so that routes go by dimension. */
static void
fabric_add_at(struct fabric *f, unsigned int x, unsigned int y)
{
	if (f->n_nodes < WEFT_TOPO_NODES)
		fprintf(f->nodes, "  - {name: n%u, kind: switch, pid: %u, at: [%u, %u]}\n",
			f->n_nodes, f->n_nodes, x, y);
	f->n_nodes++;
}

static void
fabric_join(struct fabric *f, unsigned int a, unsigned int b)
{
	if (a < WEFT_TOPO_NODES && b < WEFT_TOPO_NODES)
		fprintf(f->links, "  - {a: n%u, b: n%u, driver: ring}\n", a, b);
}

static void
fabric_leaf(struct fabric *f, unsigned int parent)
{
	fabric_join(f, parent, fabric_add(f, f->n_leaves++ % 2 == 0 ? "host" : "gfd"));
}

static void
fabric_make_pair(struct fabric *f)
{
	const unsigned int host = fabric_add(f, "host");

	fabric_join(f, host, fabric_add(f, "gfd"));
}

static void
fabric_make_star(struct fabric *f)
{
	const unsigned int hub = fabric_add(f, "switch");

	for (unsigned int i = 0; i < f->number[0]; i++)
		fabric_join(f, hub, fabric_add(f, "host"));
	for (unsigned int i = 0; i < f->number[1]; i++)
		fabric_join(f, hub, fabric_add(f, "gfd"));
}

static void
fabric_make_chain(struct fabric *f)
{
	unsigned int last = fabric_add(f, "host");

	for (unsigned int i = 0; i < f->number[0]; i++) {
		const unsigned int next = fabric_add(f, "switch");

		fabric_join(f, last, next);
		last = next;
	}
	fabric_join(f, last, fabric_add(f, "gfd"));
}

static void
fabric_make_tree(struct fabric *f)
{
	const unsigned int levels = f->number[0], fanout = f->number[1];
	const unsigned int most = f->number[2] == 0 ? WEFT_TOPO_NODES : f->number[2];
	unsigned int first = 0, n = 1; /* switches of the level above */

	fabric_add(f, "switch");
	for (unsigned int level = 1; level < levels; level++) {
		const unsigned int begin = f->n_nodes;

		for (unsigned int i = 0; i < n * fanout && f->n_nodes <= WEFT_TOPO_NODES; i++)
			fabric_join(f, first + i / fanout, fabric_add(f, "switch"));
		first = begin;
		n = f->n_nodes - begin;
	}
	/* Round by round, so that every switch has its share. */
	for (unsigned int i = 0; i < n * fanout && f->n_leaves < most; i++)
		fabric_leaf(f, first + i % n);
}

static void
fabric_make_mesh(struct fabric *f)
{
	const unsigned int width = f->number[0], height = f->number[1];

	for (unsigned int i = 0; i < width * height; i++) {
		fabric_add_at(f, i % width, i / width);
		if (i % width != 0)
			fabric_join(f, i - 1, i);
		if (i >= width)
			fabric_join(f, i - width, i);
	}
	for (unsigned int i = 0; i < 2 * width * height; i++)
		fabric_leaf(f, i / 2);
}

/* K pods of K/2 edge and K/2 upper switches, K/2 squared cores. */
static void
fabric_make_fat(struct fabric *f)
{
	const unsigned int half = f->number[0] / 2, pods = 2 * half;
	const unsigned int edge = 0, upper = pods * half, core = 2 * pods * half;

	for (unsigned int i = 0; i < 2 * pods * half + half * half; i++)
		fabric_add(f, "switch");
	for (unsigned int p = 0; p < pods; p++)
		for (unsigned int i = 0; i < half; i++)
			for (unsigned int j = 0; j < half; j++) {
				fabric_join(f, edge + p * half + i, upper + p * half + j);
				fabric_join(f, upper + p * half + i, core + i * half + j);
			}
	for (unsigned int i = 0; i < pods * half * half; i++)
		fabric_leaf(f, edge + i / half);
}

static const struct shape {
	const char *word;
	unsigned int least; /* numbers it needs */
	unsigned int most;
	unsigned int max; /* of each number */
	unsigned int multiple; /* of which the first is one */
	void (*make)(struct fabric *f);
} shapes[] = {
	{ "pair", 0, 0, 0, 1, fabric_make_pair },
	{ "star", 2, 2, 254, 1, fabric_make_star },
	{ "chain", 1, 1, 4000, 1, fabric_make_chain },
	{ "tree", 2, 3, 4095, 1, fabric_make_tree },
	{ "mesh", 2, 2, 1000, 1, fabric_make_mesh },
	{ "fat", 1, 1, 22, 2, fabric_make_fat },
};

/* Numbers behind the colon. @return how many, or -1 */
static int
fabric_read_numbers(const char *text, struct fabric *f, unsigned int max)
{
	int n = 0;

	while (*text != '\0') {
		char *end;
		unsigned long v;

		if (n == NUMBERS_MAX || *text < '0' || *text > '9')
			return -1;
		v = strtoul(text, &end, 10);
		if (v == 0 || v > max || (*end != ',' && *end != '\0'))
			return -1;
		f->number[n++] = (unsigned int)v;
		text = *end == ',' ? end + 1 : end;
	}
	return n;
}

static const struct shape *
fabric_find_shape(const char *spec)
{
	const size_t len = strcspn(spec, ":");

	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(shapes); i++)
		if (strlen(shapes[i].word) == len && strncmp(shapes[i].word, spec, len) == 0)
			return &shapes[i];
	return NULL;
}

static bool
fabric_read_shape(const struct shape *s, const char *spec, struct fabric *f)
{
	const size_t len = strcspn(spec, ":");
	const int n = fabric_read_numbers(spec[len] == ':' ? spec + len + 1 : "", f, s->max);

	return n >= (int)s->least && n <= (int)s->most && f->number[0] % s->multiple == 0;
}

static void
fabric_say_shapes(const struct shape *s, const char *spec, char *err, size_t err_len)
{
	char bound[64] = "";

	if (s != NULL && s->max != 0)
		snprintf(bound, sizeof(bound), "; numbers of %s are 1 to %u", s->word, s->max);
	snprintf(err, err_len,
		"expected pair, star:H,G, chain:N, tree:L,F[,N], mesh:W,H or fat:K with an even K, "
		"got \"%s\"%s",
		spec, bound);
}

struct weft_topo *
fabric_make(const char *spec, unsigned int mode, unsigned int mtu, char *err, size_t err_len)
{
	struct fabric f = { 0 };
	const struct shape *s = fabric_find_shape(spec);
	struct weft_topo_error why;
	struct weft_topo *t = NULL;
	char *nodes = NULL, *links = NULL;
	size_t n_len, l_len;

	if (s == NULL || !fabric_read_shape(s, spec, &f)) {
		fabric_say_shapes(s, spec, err, err_len);
		return NULL;
	}
	f.nodes = open_memstream(&nodes, &n_len);
	f.links = open_memstream(&links, &l_len);
	if (f.nodes == NULL || f.links == NULL) {
		snprintf(err, err_len, "out of memory");
		goto close;
	}
	fprintf(f.nodes, "fabric: sim\nmode: %s\ndefaults: {mtu: %u}\nnodes:\n",
		weft_mode_words[mode], mtu);
	s->make(&f);
	fflush(f.links);
	fprintf(f.nodes, "links:\n%s", links);
	fflush(f.nodes);
	if (f.n_nodes > WEFT_TOPO_NODES)
		snprintf(err, err_len, "%s: expected at most %u nodes, got %u%s", spec,
			WEFT_TOPO_NODES, f.n_nodes,
			s->make == fabric_make_mesh ? ": three for each of W x H" : "");
	else if (weft_topo_parse(&t, spec, nodes, n_len, &why) != 0)
		snprintf(err, err_len, "%s", why.text);
	if (t != NULL && (t->n_hosts == 0 || t->n_gfds == 0)) {
		snprintf(err, err_len, "%s: expected a host and a GFD at least, got one of them",
			spec);
		weft_topo_free(t);
		t = NULL;
	}
close:
	if (f.nodes != NULL)
		fclose(f.nodes);
	if (f.links != NULL)
		fclose(f.links);
	free(nodes);
	free(links);
	return t;
}
