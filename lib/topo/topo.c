/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Loading from a file or from memory, and the errors of loading. Nothing leaves this file half
 * done: a topology is handed out after the last check, or not at all (reliability.md S16).
 */

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "weft_wire.h"

#include "topo_priv.h"

#define DEFAULT_MTU 9000
#define DEFAULT_MEMORY (UINT64_C(16) << 20)

/* Whatever the file or its name holds, the text stays one line that is safe on a terminal. */
void
topo_error_text(
	struct weft_topo_error *e, const char *prefix, const char *where, const char *message)
{
	if (e == NULL)
		return;
	snprintf(e->text, sizeof(e->text), "%.200s: %s%s%s", prefix, where,
		where[0] == '\0' ? "" : ": ", message);
	for (char *c = e->text; *c != '\0'; c++) {
		if (*c < 0x20 || *c > 0x7e)
			*c = '?';
	}
}

int
topo_fail(struct topo_load *l, int err, unsigned int line, const char *fmt, ...)
{
	char prefix[224];
	char message[400];
	va_list args;

	va_start(args, fmt);
	vsnprintf(message, sizeof(message), fmt, args);
	va_end(args);
	if (line == 0)
		snprintf(prefix, sizeof(prefix), "%.200s", l->file);
	else
		snprintf(prefix, sizeof(prefix), "%.200s:%u", l->file, line);
	if (l->err != NULL)
		l->err->line = line;
	topo_error_text(l->err, prefix, l->where[0] == '.' ? l->where + 1 : l->where, message);
	return err;
}

void
topo_where(struct topo_load *l, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(l->where, sizeof(l->where), fmt, args);
	va_end(args);
}

static void
load_release(struct topo_load *l)
{
	topo_tree_free(&l->tree);
	free(l->node);
	free(l->link);
	free(l->segment);
	free(l->group);
	free(l->range);
	free(l->t.node);
	free(l->t.link);
	free(l->t.port);
	free(l->t.host);
	free(l->t.gfd);
	free(l->t.route);
	free(l->t.segment);
	free(l->t.target);
	free(l->t.group);
	free(l->t.range);
}

/* Move the nodes out of their sources and list the hosts and the GFDs. */
static int
load_nodes(struct topo_load *l)
{
	struct weft_topo *t = &l->t;

	t->node = calloc(t->n_nodes, sizeof(*t->node));
	t->host = calloc(t->n_nodes, sizeof(*t->host));
	t->gfd = calloc(t->n_nodes, sizeof(*t->gfd));
	if (t->node == NULL || t->host == NULL || t->gfd == NULL)
		return -ENOMEM;
	for (uint16_t i = 0; i < t->n_nodes; i++) {
		struct weft_topo_node *node = &t->node[i];

		*node = l->node[i].out;
		if (node->kind == WEFT_TOPO_HOST) {
			node->order = t->n_hosts;
			t->host[t->n_hosts++] = i;
		} else if (node->kind == WEFT_TOPO_GFD) {
			node->order = t->n_gfds;
			t->gfd[t->n_gfds++] = i;
			if (l->node[i].at[NODE_MEMORY] == 0)
				node->memory = DEFAULT_MEMORY;
		} else {
			node->order = t->n_switches++;
		}
	}
	return 0;
}

static int
load_steps(struct topo_load *l, const char *yaml, size_t len)
{
	int rc;

	if (len > WEFT_TOPO_BYTES)
		return topo_fail(l, -EFBIG, 0, "file too large, expected at most %u bytes, got %zu",
			WEFT_TOPO_BYTES, len);
	rc = topo_tree_build(l, yaml, len);
	if (rc == 0)
		rc = topo_decode(l);
	if (rc == 0)
		rc = load_nodes(l);
	if (rc == 0)
		rc = topo_check_nodes(l);
	if (rc == 0)
		rc = topo_space(l);
	if (rc == 0)
		rc = topo_join(l);
	if (rc == 0)
		rc = topo_check_links(l);
	if (rc == 0)
		rc = topo_check_paths(l);
	if (rc == 0)
		rc = topo_route(l);
	return rc;
}

int
weft_topo_parse(struct weft_topo **out, const char *name, const char *yaml, size_t len,
	struct weft_topo_error *err)
{
	struct topo_load l = {
		.file = name,
		.err = err,
		.mtu = DEFAULT_MTU,
		.segment_size = UINT64_C(1) << WEFT_TOPO_SEGMENT_LOG2,
		.t.mode = WEFT_MODE_RXL,
		.t.retry.selective = -1,
		.t.ide_opts = { .pcrc = 1, .rekey_ms = 120000, .rekey_flits = UINT64_C(1) << 32 },
	};
	int rc = load_steps(&l, yaml, len);

	*out = NULL;
	if (rc == 0) {
		*out = malloc(sizeof(**out));
		if (*out == NULL)
			rc = -ENOMEM;
	}
	if (rc == 0) {
		**out = l.t;
		l.t = (struct weft_topo){ 0 };
	}
	if (rc == -ENOMEM)
		topo_fail(&l, rc, 0, "out of memory");
	load_release(&l);
	return rc;
}

/* Read to the end of the file, but at most one byte more than is allowed. */
static int
read_file(int fd, char *buf, size_t room, size_t *len)
{
	ssize_t got;

	for (*len = 0; *len < room; *len += (size_t)got) {
		got = read(fd, buf + *len, room - *len);
		if (got < 0 && errno == EINTR)
			got = 0;
		else if (got < 0)
			return -errno;
		else if (got == 0)
			break;
	}
	return 0;
}

int
weft_topo_load(struct weft_topo **out, const char *path, struct weft_topo_error *err)
{
	struct topo_load l = { .file = path, .err = err };
	size_t room = WEFT_TOPO_BYTES + 1;
	size_t len = 0;
	char *buf;
	int fd;
	int rc;

	*out = NULL;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		rc = -errno;
		return topo_fail(&l, rc, 0, "cannot open: %s", strerror(-rc));
	}
	buf = malloc(room);
	if (buf == NULL) {
		rc = topo_fail(&l, -ENOMEM, 0, "out of memory");
		goto close_file;
	}
	rc = read_file(fd, buf, room, &len);
	if (rc < 0)
		topo_fail(&l, rc, 0, "cannot read: %s", strerror(-rc));
	else
		rc = weft_topo_parse(out, path, buf, len, err);
	free(buf);
close_file:
	close(fd);
	return rc;
}

void
weft_topo_free(struct weft_topo *t)
{
	if (t == NULL)
		return;
	free(t->node);
	free(t->link);
	free(t->port);
	free(t->host);
	free(t->gfd);
	free(t->route);
	free(t->segment);
	free(t->target);
	free(t->group);
	free(t->range);
	free(t);
}
