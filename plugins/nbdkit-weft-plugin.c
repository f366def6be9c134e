/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * A region of fabric memory as a network block device: a plugin of nbdkit, and a client of libweft.
 *
 *   nbdkit build/plugins/nbdkit-weft-plugin.so node=h0 region=g0
 *
 * Each connection attaches for itself. NBD has few error numbers, so those of the fabric become the
 * nearest, and the line that nbdkit prints says what it was. doc/attach.md is the guide.
 */

#define NBDKIT_API_VERSION 2
#include <nbdkit-plugin.h>

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "weft.h"

#define THREAD_MODEL NBDKIT_THREAD_MODEL_PARALLEL
#define PREFERRED 4096 /* bytes; what is less costs as much: lines of an operation go together */

static const char *plugin_node, *plugin_socket, *plugin_region; /* parameters; NULL: not given */

/* Of the socket, where a path says it: in the background nbdkit is in another folder. */
static char *plugin_path;

/* A connection. */
struct plugin {
	pthread_mutex_t lock; /* of w: requests come from several threads */
	struct weft *w;
	struct weft_region *r;
	struct weft_region_info info;
	bool is_writable;
};

static int
plugin_config(const char *key, const char *value)
{
	const char **to = strcmp(key, "node") == 0     ? &plugin_node
	                  : strcmp(key, "socket") == 0 ? &plugin_socket
	                  : strcmp(key, "region") == 0 ? &plugin_region
	                                               : NULL;

	if (to == NULL)
		nbdkit_error("unknown parameter \"%s\": expected node=, socket= or region=", key);
	else if (*to != NULL)
		nbdkit_error("%s=: expected once, got \"%s\" and \"%s\"", key, *to, value);
	else
		*to = value;
	return to != NULL && *to == value ? 0 : -1;
}

/* @return the path that is given, or NULL: a name is, or nothing */
static const char *
plugin_given_path(void)
{
	const char *env = getenv("WEFT_SOCKET");

	if (plugin_socket != NULL || plugin_node != NULL)
		return plugin_socket;
	return env != NULL && strchr(env, '/') != NULL ? env : NULL;
}

static int
plugin_config_complete(void)
{
	const char *path = plugin_given_path();

	if (plugin_region == NULL)
		nbdkit_error("expected region=NAME: `weftctl mem list` shows which there are");
	else if (plugin_node != NULL && plugin_socket != NULL)
		nbdkit_error("expected node= or socket=, got both");
	else if (plugin_node != NULL && strchr(plugin_node, '/') != NULL)
		nbdkit_error(
			"node=: expected a name, got \"%s\"; socket= takes paths", plugin_node);
	else if (path == NULL)
		return 0;
	else
		return (plugin_path = nbdkit_absolute_path(path)) != NULL ? 0 : -1;
	return -1;
}

/* The nearest number that NBD has: nbdkit makes EINVAL of others. */
static int
plugin_errno(int rc)
{
	switch (rc) {
	case -EACCES: return EPERM;
	case -ENOMEM:
	case -EINVAL: return -rc;
	default: return EIO;
	}
}

/* @return -1, which is what nbdkit takes for a failure */
static int
plugin_fail(const struct weft *w, int rc)
{
	nbdkit_error("%s", weft_error(w));
	nbdkit_set_error(plugin_errno(rc));
	return -1;
}

/* Attach and open, for writing too where the fabric lets this host. */
static int
plugin_attach(struct plugin *p, bool is_readonly)
{
	int rc = weft_attach(plugin_path != NULL ? plugin_path : plugin_node, NULL, &p->w);

	if (rc != 0)
		return plugin_fail(NULL, rc);
	p->is_writable = !is_readonly;
	rc = is_readonly ? -EACCES : weft_open(p->w, plugin_region, WEFT_READ | WEFT_WRITE, &p->r);
	if (rc == -EACCES) {
		p->is_writable = false;
		rc = weft_open(p->w, plugin_region, WEFT_READ, &p->r);
	}
	if (rc == 0)
		rc = weft_info(p->r, &p->info);
	if (rc == 0)
		return 0;
	plugin_fail(p->w, rc);
	weft_detach(p->w);
	return -1;
}

/* What is wrong with the parameters shows at the start, not at the first connection. */
static int
plugin_get_ready(void)
{
	struct plugin p = { .w = NULL };

	if (plugin_attach(&p, false) != 0)
		return -1;
	weft_detach(p.w);
	return 0;
}

static void *
plugin_open(int readonly)
{
	struct plugin *p = calloc(1, sizeof(*p));

	if (p == NULL) {
		nbdkit_error("no memory for a connection");
		return NULL;
	}
	if (plugin_attach(p, readonly != 0) != 0) {
		free(p);
		return NULL;
	}
	pthread_mutex_init(&p->lock, NULL);
	return p;
}

static void
plugin_close(void *handle)
{
	struct plugin *p = handle;

	weft_detach(p->w);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

static void
plugin_unload(void)
{
	free(plugin_path);
}

static int64_t
plugin_get_size(void *handle)
{
	return (int64_t)((struct plugin *)handle)->info.size;
}

static const char *
plugin_export_description(void *handle)
{
	const struct plugin *p = handle;

	return nbdkit_strdup_intern(p->info.target);
}

/* Any number of bytes at any offset: what is no whole line is written as a part of one. */
static int
plugin_block_size(void *handle, uint32_t *minimum, uint32_t *preferred, uint32_t *maximum)
{
	(void)handle;
	*minimum = 1;
	*preferred = PREFERRED;
	*maximum = UINT32_MAX;
	return 0;
}

static int
plugin_can_write(void *handle)
{
	return ((const struct plugin *)handle)->is_writable;
}

/* A write that has ended was acknowledged by the device: any connection reads it. */
static int
plugin_can_multi_conn(void *handle)
{
	(void)handle;
	return 1;
}

static int
plugin_can_fua(void *handle)
{
	(void)handle;
	return NBDKIT_FUA_NATIVE;
}

static struct plugin *
plugin_begin(void *handle)
{
	struct plugin *p = handle;

	pthread_mutex_lock(&p->lock);
	return p;
}

static int
plugin_end(struct plugin *p, int rc)
{
	if (rc != 0)
		rc = plugin_fail(p->w, rc);
	pthread_mutex_unlock(&p->lock);
	return rc;
}

static int
plugin_pread(void *handle, void *buf, uint32_t count, uint64_t offset, uint32_t flags)
{
	struct plugin *p = plugin_begin(handle);

	(void)flags;
	return plugin_end(p, weft_read(p->r, offset, buf, count));
}

static int
plugin_pwrite(void *handle, const void *buf, uint32_t count, uint64_t offset, uint32_t flags)
{
	struct plugin *p = plugin_begin(handle);

	(void)flags; /* FUA: it is there when it returns */
	return plugin_end(p, weft_write(p->r, offset, buf, count));
}

static int
plugin_flush(void *handle, uint32_t flags)
{
	struct plugin *p = plugin_begin(handle);

	(void)flags;
	return plugin_end(p, weft_fence(p->r));
}

/* Neither .zero nor .trim: nbdkit writes zeros by .pwrite, and memory has nothing to give back. */
static struct nbdkit_plugin plugin = {
	.name = "weft",
	.version = WEFT_VERSION,
	.longname = "memory of a CXL fabric in software",
	.description = "A region of a Weft fabric, through a host of a daemon on this machine.",
	.config = plugin_config,
	.config_complete = plugin_config_complete,
	.config_help = "region=NAME    (required) a region, or NAME:OFFSET+SIZE, a part of it.\n"
		       "node=NAME      The host; default: $WEFT_SOCKET, or the only one there is.\n"
		       "socket=PATH    The host's socket, in place of its name.",
	.get_ready = plugin_get_ready,
	.unload = plugin_unload,
	.open = plugin_open,
	.close = plugin_close,
	.get_size = plugin_get_size,
	.export_description = plugin_export_description,
	.block_size = plugin_block_size,
	.can_write = plugin_can_write,
	.can_multi_conn = plugin_can_multi_conn,
	.can_fua = plugin_can_fua,
	.pread = plugin_pread,
	.pwrite = plugin_pwrite,
	.flush = plugin_flush,
};

/* What nbdkit calls first; its header defines it without having declared it. */
struct nbdkit_plugin *plugin_init(void);
NBDKIT_REGISTER_PLUGIN(plugin)
