/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Jobs that make maps and end them. */

#include "map_priv.h"

#include <stdio.h>
#include <stdlib.h>

void
client_map_unref(struct mapper *k, struct map_region *r)
{
	struct map_region **at;

	if (--r->refs > 0)
		return;
	for (at = &k->regions; *at != r; at = &(*at)->next)
		;
	*at = r->next;
	weft_close(r->r);
	free(r);
}

/* Those that the caller did not close: the attachment closes them. */
void
client_map_regions_end(struct mapper *k)
{
	struct map_region *r;

	while ((r = k->regions) != NULL) {
		k->regions = r->next;
		free(r);
	}
}

/* The region of a caller, opened by the mapper's attachment. */
static int
map_open_region(struct mapper *k, struct map_job *j)
{
	struct weft_region *r = j->region;
	struct map_region *mine;
	int rc;

	if (r->mapped != NULL)
		return 0;
	mine = calloc(1, sizeof(*mine));
	if (mine == NULL)
		return weft_errorf(j->err, CLIENT_TEXT, -ENOMEM, "no memory to map");
	rc = weft_open(k->w, r->name, (int)(r->rights | (r->is_uio ? WEFT_UIO : 0)), &mine->r);
	if (rc != 0) {
		free(mine);
		return weft_errorf(j->err, CLIENT_TEXT, rc, "map: %s", weft_error(k->w));
	}
	if (mine->r->size != r->size || (mine->r->generation != r->generation &&
						mine->r->generation != 0 && r->generation != 0)) {
		weft_close(mine->r);
		free(mine);
		return weft_errorf(j->err, CLIENT_TEXT, -ESTALE,
			"map: \"%s\" is another than was opened: open it again", r->name);
	}
	mine->refs = 1;
	mine->next = k->regions;
	k->regions = mine;
	r->mapped = mine;
	return 0;
}

int
client_map_begin(struct mapper *k, struct map_job *j)
{
	struct map *m;
	int rc;

	if (k->is_over)
		return weft_errorf(j->err, CLIENT_TEXT, -ESHUTDOWN,
			"map: the daemon left, or detached this client: attach again");
	rc = map_open_region(k, j);
	if (rc != 0)
		return rc;
	m = calloc(1, sizeof(*m));
	if (m != NULL) {
		*m = (struct map){ .k = k, .region = j->region->mapped, .off = j->off };
		m->len = j->n;
		m->n_pages = (j->n + k->page - 1) / k->page;
		m->can_write = (j->what & (int)WEFT_WRITE) != 0;
		m->advice = WEFT_NORMAL;
		m->cell = calloc(m->n_pages, sizeof(*m->cell));
	}
	rc = m == NULL || m->cell == NULL ? -ENOMEM : client_map_place(k, m);
	if (rc != 0) {
		if (m != NULL)
			free(m->cell);
		free(m);
		return weft_errorf(j->err, CLIENT_TEXT, rc, "map of %llu bytes: %s",
			(unsigned long long)j->n, strerror(-rc));
	}
	m->region->refs++;
	j->p = m->at;
	return 0;
}

/* What is stored is written back, then it is no map any more: also where that failed. */
bool
client_map_unmap(struct mapper *k, struct map_job *j)
{
	struct map *m = j->m;

	if (!m->is_ending) {
		if (!client_map_job_back(k, j, false))
			return false;
		client_map_job_say(j, "writing back");
		m->is_ending = true;
	}
	if (m->n_busy > 0)
		return false;
	client_map_job_forget(k, j, true);
	client_map_forget_streams(k, m);
	client_map_displace(k, m);
	client_map_unref(k, m->region);
	free(m->cell);
	free(m);
	return true;
}

bool
client_map_unmap_begin(struct mapper *k, struct map_job *j)
{
	if (j->p != j->m->at) {
		j->status = weft_errorf(j->err, CLIENT_TEXT, -EINVAL,
			"map: %p is within a map that begins at %p", (void *)j->p,
			(void *)j->m->at);
		return false;
	}
	j->first = 0;
	j->end = j->m->n_pages;
	client_map_job_walk(k, j);
	return true;
}

/* All maps, one after the other. */
bool
client_map_end_all(struct mapper *k, struct map_job *j)
{
	for (;;) {
		if (j->m != NULL && !client_map_unmap(k, j))
			return false;
		if (k->space.n_maps == 0)
			return true;
		j->m = k->space.maps[0];
		j->p = j->m->at;
		client_map_unmap_begin(k, j);
	}
}
