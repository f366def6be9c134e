/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Loading from a file or from memory, and the errors of loading. Nothing leaves this file half
 * done: a topology is handed out after the last check, or not at all (reliability.md S16).
 */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "topo_priv.h"

#define READ_POLL_MS 100 /* between looks whether it is to stop */

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
	l->n_fails++;
	if (l->on_error == NULL)
		return err;
	/* Report one error per line; later ones are usually consequences. */
	if (l->n_findings == 0 || line != l->last_line) {
		l->n_findings++;
		l->on_error(l->arg, l->err);
	}
	l->last_line = line;
	return err == -EINVAL && l->goes_on ? 0 : err;
}

void
topo_where(struct topo_load *l, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(l->where, sizeof(l->where), fmt, args);
	va_end(args);
}

/* What a topology points to. */
static void
topo_release_load(struct weft_topo *t)
{
	free(t->node);
	free(t->link);
	free(t->port);
	free(t->host);
	free(t->gfd);
	free(t->route);
	free(t->neighbour);
	free(t->map.segment);
	free(t->map.target);
	free(t->access.group);
	free(t->access.range);
	free(t->binding);
	free(t->access.window);
	free(t->list);
	free(t->translations.entry);
	free(t->attach.region);
	free(t->attach.client);
	free(t->attach.list);
}

static void
topo_release(struct topo_load *l)
{
	topo_tree_free(&l->tree);
	free(l->node);
	free(l->link);
	free(l->segment);
	free(l->group);
	free(l->range);
	free(l->binding);
	free(l->region);
	free(l->of_node.window);
	free(l->of_node.translation);
	free(l->of_node.client);
	topo_release_load(&l->t);
}

/* What stands in the file so often. */
static void
topo_take_counts(const struct topo_load *l, struct weft_topo *t)
{
	t->n_nodes = (uint16_t)l->n[SECTION_NODE];
	t->n_links = (uint16_t)l->n[SECTION_LINK];
	t->access.n_groups = (uint16_t)l->n[SECTION_GROUP];
	t->access.n_ranges = (uint16_t)l->n[SECTION_RANGE];
	t->n_bindings = (uint16_t)l->n[SECTION_BINDING];
	t->access.n_windows = l->n[SECTION_WINDOW];
	t->cxl_io.is_given = l->defaults_at[DEFAULTS_CXL_IO] != 0;
}

/* A node and its slices of the lists that nodes have. */
static void
topo_take_node(const struct topo_node_src *src, struct weft_topo_node *node)
{
	*node = src->out;
	node->first_window = src->windows.first;
	node->n_windows = (uint16_t)src->windows.n;
	node->first_translation = (uint16_t)src->translations.first;
	node->n_translations = (uint16_t)src->translations.n;
	node->clients.first = src->clients.first;
	node->clients.n = (uint16_t)src->clients.n;
	node->translates = src->line_of[NODE_ATS] != 0;
}

/* Move the nodes out of their sources and list the hosts and the GFDs. */
static int
topo_load_nodes(struct topo_load *l)
{
	struct weft_topo *t = &l->t;
	uint16_t others[2] = { 0 };

	topo_take_counts(l, t);
	t->node = calloc(t->n_nodes, sizeof(*t->node));
	t->host = calloc(t->n_nodes, sizeof(*t->host));
	t->gfd = calloc(t->n_nodes, sizeof(*t->gfd));
	if (t->node == NULL || t->host == NULL || t->gfd == NULL)
		return -ENOMEM;
	for (uint16_t i = 0; i < t->n_nodes; i++) {
		struct weft_topo_node *node = &t->node[i];

		topo_take_node(&l->node[i], node);
		if (node->kind == WEFT_TOPO_HOST) {
			node->order = t->n_hosts;
			t->host[t->n_hosts++] = i;
		} else if (node->kind == WEFT_TOPO_GFD) {
			node->order = t->n_gfds;
			t->gfd[t->n_gfds++] = i;
			if (l->node[i].line_of[NODE_MEMORY] == 0)
				node->memory = DEFAULT_MEMORY;
		} else if (node->kind == WEFT_TOPO_SWITCH) {
			node->order = t->n_switches++;
		} else {
			node->order = others[node->kind - WEFT_TOPO_DEVICE]++;
		}
	}
	return 0;
}

static const struct {
	int (*run)(struct topo_load *l);
	bool goes_on; /* after a finding, to find more */
} steps[] = {
	{ topo_decode, true },
	{ topo_load_nodes, false },
	{ topo_check_nodes, true },
	{ topo_space, true },
	{ topo_regions, true },
	{ topo_clients, true },
	{ topo_uio, true },
	{ topo_check_ats, true },
	{ topo_join, true },
	{ topo_check_attached, true },
	{ topo_check_links, true },
	{ topo_check_paths, true },
	{ topo_route, false },
};

static int
topo_load_steps(struct topo_load *l, const char *yaml, size_t len)
{
	int rc;

	if (len > WEFT_TOPO_BYTES)
		return topo_fail(l, -EFBIG, 0, "file too large, expected at most %u bytes, got %zu",
			WEFT_TOPO_BYTES, len);
	rc = topo_tree_build(l, yaml, len);
	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(steps) && rc == 0 && l->n_findings == 0; i++) {
		l->goes_on = steps[i].goes_on;
		rc = steps[i].run(l);
	}
	l->goes_on = false;
	return rc;
}

static void
topo_begin_load(struct topo_load *l, const char *name, struct weft_topo_error *err)
{
	*l = (struct topo_load){
		.file = name,
		.err = err,
		.t.retry.selective = -1,
	};
}

int
weft_topo_parse(struct weft_topo **out, const char *name, const char *yaml, size_t len,
	struct weft_topo_error *err)
{
	struct topo_load l;
	int rc;

	topo_begin_load(&l, name, err);
	rc = topo_load_steps(&l, yaml, len);
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
	topo_release(&l);
	return rc;
}

unsigned int
weft_topo_check_text(
	const char *name, const char *yaml, size_t len, weft_topo_finding_fn fn, void *arg)
{
	struct weft_topo_error e;
	struct topo_load l;

	topo_begin_load(&l, name, &e);
	l.on_error = fn;
	l.arg = arg;
	if (topo_load_steps(&l, yaml, len) == -ENOMEM)
		topo_fail(&l, -ENOMEM, 0, "out of memory");
	topo_release(&l);
	return l.n_findings;
}

/* Read to the end of the file, but at most one byte more than is allowed. */
/*
 * Wait for bytes or the end of a pipe. Of one that nobody has opened for writing yet, poll() says
 * neither, so a reader waits for its first writer, but not for ever: it may have been stopped.
 */
static int
topo_wait_fd(const struct topo_load *l, int fd)
{
	struct pollfd in = { .fd = fd, .events = POLLIN };

	while (poll(&in, 1, READ_POLL_MS) <= 0)
		if (l->is_stopped != NULL && l->is_stopped())
			return -EINTR;
	return 0;
}

static int
topo_read_fd(const struct topo_load *l, int fd, char *buf, size_t room, size_t *len)
{
	ssize_t got;
	int rc;

	for (*len = 0; *len < room; *len += (size_t)got) {
		rc = topo_wait_fd(l, fd);
		if (rc != 0)
			return rc;
		got = read(fd, buf + *len, room - *len);
		if (got < 0 && (errno == EINTR || errno == EAGAIN))
			got = 0;
		else if (got < 0)
			return -errno;
		else if (got == 0)
			break;
	}
	return 0;
}

int
topo_read_file(struct topo_load *l, char **buf, size_t *len)
{
	const size_t room = WEFT_TOPO_BYTES + 1;
	int fd = open(l->file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	int rc = fd < 0 ? -errno : 0;

	*buf = NULL;
	if (fd < 0)
		return topo_fail(l, rc, 0, "cannot open: %s", strerror(-rc));
	*buf = malloc(room);
	if (*buf == NULL) {
		rc = topo_fail(l, -ENOMEM, 0, "out of memory");
	} else {
		rc = topo_read_fd(l, fd, *buf, room, len);
		if (rc == -EINTR)
			topo_fail(l, rc, 0, "expected a file, got a pipe that nobody writes");
		else if (rc < 0)
			topo_fail(l, rc, 0, "cannot read: %s", strerror(-rc));
	}
	close(fd);
	return rc;
}

int
weft_topo_load(struct weft_topo **out, const char *path, struct weft_topo_error *err)
{
	struct topo_load l = { .file = path, .err = err };
	size_t len = 0;
	char *buf;
	int rc = topo_read_file(&l, &buf, &len);

	*out = NULL;
	if (rc == 0)
		rc = weft_topo_parse(out, path, buf, len, err);
	free(buf);
	return rc;
}

void
weft_topo_free(struct weft_topo *t)
{
	if (t == NULL)
		return;
	topo_release_load(t);
	free(t);
}
