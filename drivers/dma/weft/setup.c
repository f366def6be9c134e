/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Devargs, the window, and the attachment to a host of the fabric. The window is address space
 * without memory: no object of the process can lie there, and whoever touches it in place of
 * handing it to the device gets a fault.
 */

#include "dma_priv.h"

#include "weft_base.h"

#include <rte_common.h>
#include <rte_string_fns.h>

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define SETUP_ARGS_MAX 1024

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

static uint64_t
setup_page(void)
{
	return (uint64_t)sysconf(_SC_PAGESIZE);
}

static int
setup_parse_base(struct dma_args *a, const char *value, char *err, size_t len)
{
	/* 010000 is meant to be that many, or hexadecimal. */
	const bool is_octal = value[0] == '0' && value[1] >= '0' && value[1] <= '9';
	char *end;

	errno = 0;
	a->base = strtoull(value, &end, 0);
	if (value[0] >= '0' && value[0] <= '9' && !is_octal && *end == '\0' && errno == 0 &&
		a->base != 0 && a->base % setup_page() == 0)
		return 0;
	return weft_errorf(err, len, -EINVAL,
		"base: expected an address, a multiple of 0x%llx above 0, decimal or hexadecimal "
		"behind 0x; got \"%s\"",
		(unsigned long long)setup_page(), value);
}

static int
setup_parse_item(struct dma_args *a, const char *key, const char *value, char *err, size_t len)
{
	char *text;

	if ((strcmp(key, "base") == 0 && a->base != 0) ||
		(strcmp(key, "node") == 0 && a->node[0] != '\0') ||
		(strcmp(key, "region") == 0 && a->region[0] != '\0'))
		return weft_errorf(
			err, len, -EINVAL, "expected each key once; got \"%s=\" again", key);
	if (strcmp(key, "base") == 0)
		return setup_parse_base(a, value, err, len);
	if (strcmp(key, "node") != 0 && strcmp(key, "region") != 0)
		return weft_errorf(
			err, len, -EINVAL, "expected node=, region= or base=; got \"%s=\"", key);
	text = key[0] == 'n' ? a->node : a->region;
	if (value[0] != '\0' && rte_strscpy(text, value, DMA_ARG_MAX) >= 0)
		return 0;
	return weft_errorf(err, len, -EINVAL,
		"%s: expected a name of 1 to %u characters; got \"%s\"", key, DMA_ARG_MAX - 1,
		value);
}

int
dma_parse(struct dma_args *a, const char *text, char *err, size_t len)
{
	char copy[SETUP_ARGS_MAX], *save, *item, *value;

	if (rte_strscpy(copy, text, sizeof(copy)) < 0)
		return weft_errorf(err, len, -EINVAL, "more than %zu characters", sizeof(copy) - 1);
	for (item = strtok_r(copy, ",", &save); item != NULL; item = strtok_r(NULL, ",", &save)) {
		value = strchr(item, '=');
		if (value == NULL)
			return weft_errorf(
				err, len, -EINVAL, "expected key=value; got \"%s\"", item);
		*value++ = '\0';
		if (setup_parse_item(a, item, value, err, len) != 0)
			return -EINVAL;
	}
	if (a->region[0] == '\0' && (a->node[0] != '\0' || a->base != 0))
		return weft_errorf(err, len, -EINVAL,
			"%s= without region=, the name of a region (weftctl mem list)",
			a->node[0] != '\0' ? "node" : "base");
	return 0;
}

/* Attach and open the region for all that it is open for. @size receives its bytes. */
static int
setup_open(const struct dma_args *a, struct weft **w, struct weft_region **r, uint64_t *size,
	char *err, size_t len)
{
	const struct weft_attach_opts opts = {
		.size = sizeof(opts), .entries = DMA_PIECES, .spin_ns = -1
	};
	struct weft_region_info info;
	int rc;

	rc = weft_attach(a->node[0] != '\0' ? a->node : NULL, &opts, w);
	if (rc != 0)
		return weft_errorf(err, len, rc, "%s", weft_error(NULL));
	rc = weft_open(*w, a->region, WEFT_READ | WEFT_WRITE, r);
	if (rc == -EACCES)
		rc = weft_open(*w, a->region, WEFT_READ, r);
	if (rc == 0)
		rc = weft_info(*r, &info);
	if (rc != 0) {
		weft_errorf(err, len, rc, "%s", weft_error(*w));
		weft_detach(*w);
		return rc;
	}
	*size = info.size;
	return 0;
}

static int
setup_reserve(struct dma_weft *d, char *err, size_t len)
{
	const uint64_t room = RTE_ALIGN_CEIL(d->window.size, setup_page()) + DMA_GUARD;
	void *want = (void *)(uintptr_t)d->args.base;
	void *got = mmap(want, room, PROT_NONE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
			(want != NULL ? MAP_FIXED_NOREPLACE : 0),
		-1, 0);

	/* Kernels that do not know the flag take the address for a hint. */
	if (got != MAP_FAILED && want != NULL && got != want) {
		munmap(got, room);
		got = MAP_FAILED;
		errno = EEXIST;
	}
	if (got == MAP_FAILED)
		return weft_errorf(err, len, -errno, "no window of 0x%llx bytes%s: %s: %s",
			(unsigned long long)room, want != NULL ? " at base=" : "", strerror(errno),
			want != NULL ? "choose another base=, or none"
				     : "open a part of the region");
	d->window.base = (uintptr_t)got;
	d->window.reserved = room;
	return 0;
}

int
dma_window_open(struct dma_weft *d, char *err, size_t len)
{
	struct weft_region *r;
	struct weft *w;
	int rc;

	if (d->args.region[0] == '\0')
		return 0;
	rc = setup_open(&d->args, &w, &r, &d->window.size, err, len);
	if (rc != 0)
		return rc;
	weft_detach(w);
	return setup_reserve(d, err, len);
}

void
dma_window_close(struct dma_weft *d)
{
	if (d->window.reserved != 0)
		munmap((void *)(uintptr_t)d->window.base, d->window.reserved);
	d->window = (struct dma_window){ 0 };
}

int
dma_attach(struct dma_weft *d, char *err, size_t len)
{
	struct dma_chan *c = &d->chan;
	uint64_t size;
	int rc;

	if (d->args.region[0] == '\0')
		return 0;
	rc = setup_open(&d->args, &c->w, &c->r, &size, err, len);
	if (rc != 0) {
		c->w = NULL;
		return rc;
	}
	if (size == d->window.size)
		return 0;
	weft_detach(c->w);
	c->w = NULL;
	return weft_errorf(err, len, -ESTALE,
		"region \"%s\" has 0x%llx bytes, and had 0x%llx when the device was made: make it "
		"again",
		d->args.region, (unsigned long long)size, (unsigned long long)d->window.size);
}
