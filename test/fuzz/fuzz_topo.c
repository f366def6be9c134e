/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Topology files with their load. What is refused says where and why in one printable line, and
 * that is a finding too; what is taken has none, may follow itself, and each of its nodes is found
 * by its name.
 */

#include "weft_fuzz.h"

#include "weft_load.h"
#include "weft_topo.h"

static void
check_error(const struct weft_topo_error *e, unsigned int lines)
{
	FUZZ_CHECK(memchr(e->text, '\0', sizeof(e->text)) != NULL && e->text[0] != '\0');
	FUZZ_CHECK(e->line <= lines);
	for (const char *c = e->text; *c != '\0'; c++)
		FUZZ_CHECK((unsigned char)*c >= ' ' && *c != 0x7F);
}

struct findings {
	unsigned int lines, n;
	struct weft_topo_error first;
};

static void
take_finding(void *arg, const struct weft_topo_error *e)
{
	struct findings *f = arg;

	check_error(e, f->lines);
	if (f->n++ == 0)
		f->first = *e;
}

static void
check_row(const struct weft_topo *t, unsigned int host, const struct weft_topo_client *c)
{
	const struct weft_topo_user who = { .uid = c->is_group ? 0 : c->id, .gid = c->id };

	FUZZ_CHECK(c->share >= 1 && c->share <= WEFT_TOPO_SHARE_MAX);
	FUZZ_CHECK((c->id == WEFT_TOPO_NO_ID) == (c->name[0] != '\0'));
	FUZZ_CHECK(c->name[0] != '\0' || weft_topo_client_of(t, host, &who) != NULL);
	for (unsigned int r = 0; r < c->n_regions; r++)
		FUZZ_CHECK(t->attach.list[c->first_region + r] < t->attach.n_regions);
}

/* Regions are in memory of GFDs, and those of the file have one name each; rows name regions. */
static void
check_programs(const struct weft_topo *t)
{
	const struct weft_topo_user nobody = { .uid = WEFT_TOPO_NO_ID, .gid = WEFT_TOPO_NO_ID };

	for (unsigned int i = 0; i < t->attach.n_regions; i++) {
		const struct weft_topo_region *r = &t->attach.region[i];
		const int found = weft_topo_find_region(t, r->name, strlen(r->name));

		FUZZ_CHECK(r->segment < t->map.n_segments && !t->map.segment[r->segment].is_gim);
		FUZZ_CHECK(r->size > 0 && r->size <= t->map.segment[r->segment].size);
		FUZZ_CHECK(r->offset <= t->map.segment[r->segment].size - r->size);
		FUZZ_CHECK(found == (int)i || (found >= 0 && !r->is_given));
	}
	for (unsigned int i = 0; i < t->n_nodes; i++) {
		const struct weft_topo_clients *rows = &t->node[i].clients;

		FUZZ_CHECK(rows->n == 0 || t->node[i].kind == WEFT_TOPO_HOST);
		FUZZ_CHECK(weft_topo_client_of(t, i, &nobody) == NULL);
		for (unsigned int k = 0; k < rows->n; k++)
			check_row(t, i, &t->attach.client[rows->first + k]);
	}
}

static void
check_taken(const struct weft_topo *t)
{
	struct weft_topo_error e;

	FUZZ_CHECK(t->n_nodes >= 1 && t->n_nodes <= WEFT_TOPO_NODES);
	FUZZ_CHECK(t->n_ports == 2 * t->n_links && t->routing != WEFT_TOPO_ROUTING_AUTO);
	for (unsigned int i = 0; i < t->n_nodes; i++)
		FUZZ_CHECK(weft_topo_find(t, t->node[i].name) == (int)i);
	for (unsigned int i = 0; i < t->n_ports; i++) {
		const struct weft_topo_port *p = &t->port[i];

		FUZZ_CHECK(t->neighbour[i] < t->n_nodes && p->node < t->n_nodes);
		FUZZ_CHECK(p->peer < t->n_ports && t->port[p->peer].peer == i);
		FUZZ_CHECK(weft_topo_port_flits(t, i) >= 1);
	}
	for (unsigned int h = 0; h < t->n_hosts; h++)
		for (unsigned int g = 0; g < t->n_gfds; g++) {
			const unsigned int n = weft_topo_path_flits(t, t->host[h], t->gfd[g]);

			FUZZ_CHECK(n >= 1 && n <= 64);
		}
	for (unsigned int i = 0; i < t->n_list; i++)
		FUZZ_CHECK(t->list[i] < t->n_nodes);
	check_programs(t);
	FUZZ_CHECK(weft_topo_check_change(t, t, "fuzz", &e) == 0);
	FUZZ_CHECK(weft_topo_check_mixed_routes(t, t, "fuzz", &e) == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char *yaml = (char *)fuzz_copy(data, len);
	struct findings found = { .lines = 2 };
	unsigned int n;
	struct weft_topo_error e = { 0 };
	const struct weft_load_files files = { .topology = "fuzz", .yaml = yaml, .len = len };
	struct weft_load *load = NULL;
	struct weft_topo *t = NULL;
	int rc;

	/* YAML has more line breaks than these two; any of them is a byte or more. */
	for (size_t i = 0; i < len; i++)
		found.lines += yaml[i] == '\n' || yaml[i] == '\r' || (uint8_t)yaml[i] >= 0x80;
	rc = weft_load_open(&t, &load, &files, &e);
	n = weft_load_check(&files, take_finding, &found);
	FUZZ_CHECK(n == found.n && (rc == 0) == (n == 0) && (rc == 0) == (t != NULL));
	FUZZ_CHECK((rc == 0) == (load != NULL));
	if (rc != 0) {
		FUZZ_CHECK((rc == -EINVAL || rc == -EFBIG) && e.line >= 1);
		FUZZ_CHECK(strcmp(e.text, found.first.text) == 0);
		check_error(&e, found.lines);
	} else {
		check_taken(t);
		FUZZ_CHECK(load->n_nodes == t->n_nodes);
	}
	weft_load_free(load);
	weft_topo_free(t);
	free(yaml);
	return 0;
}
