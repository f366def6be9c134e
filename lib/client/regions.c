/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* The regions of an attachment: what there is, and what is open. */

#include "client_priv.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

static_assert(WEFT_NAME_LEN == WEFT_ATTACH_NAME && (int)WEFT_READ == (int)WEFT_ATTACH_READ &&
		      (int)WEFT_WRITE == (int)WEFT_ATTACH_WRITE,
	"rows are handed on as they are");

static void
region_describe(struct weft_region_info *i, const struct weft_attach_row *row)
{
	*i = (struct weft_region_info){
		.size = row->size,
		.generation = row->generation,
		.granule = row->granule,
		.rights = row->rights & (WEFT_READ | WEFT_WRITE),
	};
	memcpy(i->name, row->name, sizeof(i->name));
	memcpy(i->target, row->target, sizeof(i->target));
}

int
weft_regions(struct weft *w, struct weft_region_info *list, int n)
{
	struct weft_attach_request q = { .call = WEFT_ATTACH_LIST };
	struct weft_attach_answer a;
	uint32_t i = 0;
	int rc;

	/* The first is asked for also where only their number is wanted. */
	do {
		q.index = i;
		rc = client_ask(w, &q, &a);
		/* There are none, or fewer than before. */
		if (rc == -ENOENT)
			return (int)i;
		if (rc != 0)
			return rc;
		if (a.n_regions > INT_MAX)
			return weft_errorf(client_error(w), CLIENT_TEXT, -EPROTO,
				"%s: the daemon says that there are %u regions: restart it",
				w->path, a.n_regions);
		if (i < a.n_regions && (int)i < n)
			region_describe(&list[i], &a.row);
		i++;
	} while (i < a.n_regions && (int)i < n);
	return (int)a.n_regions;
}

/* Where the daemon does not answer, it is closed with the attachment. */
static void
region_let_go(struct weft *w, uint32_t handle)
{
	struct weft_attach_request q = { .call = WEFT_ATTACH_CLOSE, .handle = handle };
	struct weft_attach_answer a;

	client_ask(w, &q, &a);
}

/* Any offset that UIO takes would be none of the memory: better now than as SIGBUS of a map. */
static int
region_refuse_odd(struct weft *w, const char *name, const struct weft_attach_answer *a)
{
	region_let_go(w, a->handle);
	return weft_errorf(client_error(w), CLIENT_TEXT, -EINVAL,
		"opening \"%.128s\": it begins %u bytes behind a multiple of %u of the memory, "
		"where "
		"UIO goes by whole DWs: expected another offset, or no WEFT_UIO",
		name, a->odd, CLIENT_UIO_ALIGN);
}

int
weft_open(struct weft *w, const char *name, int flags, struct weft_region **out)
{
	const uint32_t rights = (uint32_t)flags & (WEFT_READ | WEFT_WRITE);
	struct weft_attach_request q = { .call = WEFT_ATTACH_OPEN, .rights = rights };
	struct weft_attach_answer a;
	struct weft_region *r;
	int rc;

	*out = NULL;
	if (rights == 0 || ((uint32_t)flags & ~(rights | WEFT_UIO)) != 0)
		return weft_errorf(client_error(w), CLIENT_TEXT, -EINVAL,
			"opening \"%.128s\": flags are 0x%x: expected WEFT_READ, WEFT_WRITE or "
			"both, and perhaps WEFT_UIO",
			name, (unsigned int)flags);
	if (((uint32_t)flags & WEFT_UIO) != 0 && (w->features & WEFT_ATTACH_UIO) == 0)
		return weft_errorf(client_error(w), CLIENT_TEXT, -EOPNOTSUPP,
			"opening \"%.128s\": host %s has no UIO: its topology wants defaults: "
			"{cxl_io: 64}",
			name, w->node);
	if (strlen(name) >= sizeof(q.name))
		return weft_errorf(client_error(w), CLIENT_TEXT, -ENOENT,
			"no region \"%.128s...\": a name is of %zu bytes at most", name,
			sizeof(q.name) - 1);
	r = calloc(1, sizeof(*r));
	if (r == NULL)
		return weft_errorf(
			client_error(w), CLIENT_TEXT, -ENOMEM, "no memory to open \"%s\"", name);
	memcpy(q.name, name, strlen(name) + 1);
	memcpy(r->name, q.name, sizeof(r->name));
	rc = client_ask(w, &q, &a);
	if (rc == 0 && (a.row.rights & q.rights) != q.rights)
		rc = weft_errorf(client_error(w), CLIENT_TEXT, -EACCES,
			"\"%s\" was opened with rights 0x%x, wanted were 0x%x: see weft_regions()",
			name, a.row.rights, q.rights);
	if (rc == 0 && ((uint32_t)flags & WEFT_UIO) != 0 && a.odd != 0)
		rc = region_refuse_odd(w, name, &a);
	if (rc != 0) {
		free(r);
		return rc;
	}
	r->w = w;
	r->size = a.row.size;
	r->generation = a.row.generation;
	r->handle = a.handle;
	r->rights = q.rights;
	r->is_uio = ((uint32_t)flags & WEFT_UIO) != 0;
	r->next = w->regions;
	w->regions = r;
	*out = r;
	return 0;
}

void
weft_close(struct weft_region *r)
{
	struct weft_region **at;

	if (r == NULL)
		return;
	client_map_forget(r->w->mapper, r->mapped);
	for (at = &r->w->regions; *at != r; at = &(*at)->next)
		;
	*at = r->next;
	region_let_go(r->w, r->handle);
	free(r);
}

int
weft_info(const struct weft_region *r, struct weft_region_info *i)
{
	struct weft_attach_request q = { .call = WEFT_ATTACH_INFO, .handle = r->handle };
	struct weft_attach_answer a;
	const int rc = client_ask(r->w, &q, &a);

	if (rc == 0)
		region_describe(i, &a.row);
	return rc;
}
