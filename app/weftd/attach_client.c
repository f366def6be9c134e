/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * A client of a host as control sees it: its block, its regions, and what it asks over its socket
 * (weft_attach.h). One thread at a time; what the host's lcore has of it is in lib/node.
 */

#include "attach_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "weft_attach_server.h"

#define USUAL_ENTRIES 256
#define USUAL_DATA_LEN (UINT64_C(1) << 20)

struct attach_client {
	struct node *node;
	const struct attach_who *who;
	struct weft_node_client *client;
	struct weft_attach_head *block;
	size_t block_len;
	int to_client; /* eventfd */
	struct attach_region *region[WEFT_ATTACH_REGIONS];
	struct attach_region *closed; /* operations on them may be open */
};

/* The host's lcore: the client sleeps. */
static void
client_wake(void *arg)
{
	const uint64_t one = 1;
	const ssize_t n = write(((struct attach_client *)arg)->to_client, &one, sizeof(one));

	(void)n; /* full: it is readable */
}

/* A block that its client can neither grow nor shrink: what is mapped stays there. */
static int
client_make_block(struct attach_client *c, uint32_t entries, uint64_t data_len, int *fd)
{
	struct weft_attach_layout l;
	void *block;
	int rc = 0;

	if (weft_attach_layout(entries, data_len, &l) != 0)
		return -EINVAL;
	*fd = memfd_create("weft-client", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (*fd < 0)
		return -errno;
	if (ftruncate(*fd, (off_t)l.len) != 0 ||
		fcntl(*fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
		rc = -errno;
	block = rc != 0 ? MAP_FAILED
	                : mmap(NULL, l.len, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
	if (block == MAP_FAILED) {
		rc = rc != 0 ? rc : -errno;
		close(*fd);
		return rc;
	}
	c->block = block;
	c->block_len = l.len;
	return 0;
}

static void
client_destroy(struct attach_client *c)
{
	struct attach_region *r;

	for (unsigned int i = 0; i < WEFT_ATTACH_REGIONS; i++)
		free(c->region[i]);
	while ((r = c->closed) != NULL) {
		c->closed = r->next;
		free(r);
	}
	if (c->block != NULL)
		munmap(c->block, c->block_len);
	if (c->to_client >= 0)
		close(c->to_client);
	free(c);
}

static uint32_t
client_share(const struct attach_view *v)
{
	return v->row == NULL ? 1 : v->row->share;
}

static int
client_make(struct node *n, const struct attach_who *who, const struct attach_view *v,
	const struct weft_attach_request *rq, struct attach_client **out,
	struct attach_reply *reply)
{
	struct attach_client *c = calloc(1, sizeof(*c));
	struct weft_attach_answer *a = &reply->answer;
	struct weft_node_client_cfg cfg = {
		.share = client_share(v), .wake = client_wake, .wake_arg = c
	};
	int to_daemon = -1, block = -1, rc;

	if (c == NULL)
		return -ENOMEM;
	a->entries = cfg.entries = rq->entries == 0 ? USUAL_ENTRIES : rq->entries;
	a->data_len = cfg.data_len = rq->data_len == 0 ? USUAL_DATA_LEN : rq->data_len;
	c->node = n;
	c->who = who;
	c->to_client = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	to_daemon = fcntl(attach_bell_of(n), F_DUPFD_CLOEXEC, 0);
	rc = c->to_client < 0 || to_daemon < 0 ? -errno : 0;
	if (rc == 0)
		rc = client_make_block(c, a->entries, a->data_len, &block);
	cfg.block = c->block;
	if (rc == 0)
		rc = weft_node_client_add(n->node, &cfg, &c->client);
	if (rc == 0) {
		reply->fd[WEFT_ATTACH_FD_BLOCK] = block;
		reply->fd[WEFT_ATTACH_FD_TO_DAEMON] = to_daemon;
		reply->fd[WEFT_ATTACH_FD_TO_CLIENT] = fcntl(c->to_client, F_DUPFD_CLOEXEC, 0);
		reply->n_fds = WEFT_ATTACH_FDS;
		a->features = (weft_node_clients_have_uio(n->node) ? WEFT_ATTACH_UIO : 0) |
		              (weft_node_clients_can_move(n->node) ? WEFT_ATTACH_MOVE : 0);
		*out = c;
		return 0;
	}
	if (block >= 0)
		close(block);
	if (to_daemon >= 0)
		close(to_daemon);
	client_destroy(c);
	return rc;
}

static int
client_hello(struct node *n, const struct attach_who *who, const struct attach_view *v,
	struct attach_client **c, const struct weft_attach_request *rq, struct attach_reply *reply)
{
	struct weft_attach_answer *a = &reply->answer;
	int rc;

	if (*c != NULL)
		return weft_errorf(a->text, sizeof(a->text), -EALREADY,
			"host %s: this client is attached already", n->topo->name);
	rc = client_make(n, who, v, rq, c, reply);
	snprintf(a->node, sizeof(a->node), "%.63s", n->topo->name);
	if (rc == -EINVAL)
		return weft_errorf(a->text, sizeof(a->text), rc,
			"host %s: expected 16 to 4096 entries, a power of two, and up to 64 MiB of "
			"data, got %u and %llu bytes",
			n->topo->name, a->entries, (unsigned long long)a->data_len);
	if (rc == -EAGAIN)
		return weft_errorf(a->text, sizeof(a->text), rc,
			"host %s: %u clients are attached, the most there can be: end one first",
			n->topo->name, WEFT_NODE_CLIENTS);
	if (rc != 0)
		return weft_errorf(a->text, sizeof(a->text), rc,
			"host %s: no room for a client: %s", n->topo->name, strerror(-rc));
	return 0;
}

/* Free what was closed and is not used any more. The host has turned since. */
static void
client_sweep(struct attach_client *c)
{
	struct attach_region **at = &c->closed;

	while (*at != NULL) {
		struct attach_region *r = *at;

		if (weft_node_region_is_used(&r->node)) {
			at = &r->next;
			continue;
		}
		*at = r->next;
		free(r);
	}
}

/*
 * What of a region is allowed by a view of a topology that is about to be in force, or is; NULL:
 * nothing. False: operations that may not go on have not ended. Where its name is now that of other
 * memory the client is to open it anew.
 */
static bool
client_change_region(struct attach_region *r, const struct attach_view *v, bool is_before)
{
	uint32_t rights = 0;

	if (v != NULL && attach_regions_rights(v, r, &rights) == -ESTALE) {
		weft_node_region_end(&r->node);
		return !weft_node_region_is_used(&r->node);
	}
	if (is_before)
		rights &= r->node.rights;
	__atomic_store_n(&r->node.rights, rights, __ATOMIC_RELAXED);
	return (weft_node_region_uses(&r->node) & ~rights) == 0;
}

/* Nobody is to begin anything with it that is about to be forbidden. */
static void
client_open_by_next(const struct attach_client *c, struct attach_region *r)
{
	const struct weft_topo *next = attach_next();
	struct attach_view v;

	if (next != NULL)
		client_change_region(
			r, attach_users_view(c->node, next, c->who, &v) ? &v : NULL, true);
}

static int
client_open(struct attach_client *c, const struct attach_view *v,
	const struct weft_attach_request *rq, struct weft_attach_answer *a)
{
	struct attach_region *r = calloc(1, sizeof(*r));
	int rc;

	if (r == NULL)
		return weft_errorf(a->text, sizeof(a->text), -ENOMEM, "out of memory");
	rc = attach_regions_open(v, rq->name, rq->rights, r, a->text, sizeof(a->text));
	if (rc == 0) {
		a->odd = (uint32_t)(r->node.base % 4);
		client_open_by_next(c, r);
		rc = weft_node_client_open(c->client, &r->node);
		if (rc < 0)
			snprintf(a->text, sizeof(a->text),
				"region %.40s: %u regions are open, the most there can be: close "
				"one first",
				rq->name, WEFT_ATTACH_REGIONS);
	}
	if (rc < 0) {
		free(r);
		return rc;
	}
	c->region[rc] = r;
	a->handle = (uint32_t)rc;
	r->row.generation = attach_regions_generation(c->node, &r->node, r->begin);
	a->row = r->row;
	return 0;
}

static int
client_close(struct attach_client *c, uint32_t handle)
{
	struct attach_region *r = handle < WEFT_ATTACH_REGIONS ? c->region[handle] : NULL;

	if (r == NULL)
		return -EBADF;
	weft_node_client_close(c->client, handle);
	c->region[handle] = NULL;
	r->next = c->closed;
	c->closed = r;
	weft_loop_quiesce();
	client_sweep(c);
	return 0;
}

static int
client_info(const struct attach_client *c, uint32_t handle, struct weft_attach_answer *a)
{
	const struct attach_region *r = handle < WEFT_ATTACH_REGIONS ? c->region[handle] : NULL;

	if (r == NULL)
		return -EBADF;
	a->row = r->row;
	a->row.rights = __atomic_load_n(&r->node.rights, __ATOMIC_RELAXED);
	a->row.generation = attach_regions_generation(c->node, &r->node, r->begin);
	return 0;
}

static int
client_list(const struct attach_view *v, uint32_t index, struct weft_attach_answer *a)
{
	a->n_regions = attach_regions_count(v);
	return attach_regions_at(v, index, &a->row) || index == 0 ? 0 : -ENOENT;
}

/* By the topology in force: he may have come in by another. */
static int
client_look(struct node *n, const struct attach_who *who, uint16_t call, struct attach_view *v,
	struct weft_attach_answer *a)
{
	if (attach_users_view(n, daemon_now(n->daemon), who, v) || call == WEFT_ATTACH_INFO ||
		call == WEFT_ATTACH_CLOSE)
		return 0;
	return weft_errorf(a->text, sizeof(a->text), -EACCES,
		"host %s: user %u is none of its clients any more: its daemon read the topology "
		"again",
		n->topo->name, who->user.uid);
}

static int
client_call(struct node *n, const struct attach_who *who, struct attach_client **c,
	const struct weft_attach_request *rq, struct attach_reply *reply)
{
	struct weft_attach_answer *a = &reply->answer;
	struct attach_view v;
	int rc;

	if (rq->version != WEFT_ATTACH_VERSION)
		return weft_errorf(a->text, sizeof(a->text), -EPROTONOSUPPORT,
			"host %s: this daemon speaks version %u of attachment, the program %u: use "
			"the libweft that belongs to weftd %s",
			n->topo->name, WEFT_ATTACH_VERSION, rq->version, WEFT_VERSION);
	if (rq->call != WEFT_ATTACH_HELLO && *c == NULL)
		return weft_errorf(
			a->text, sizeof(a->text), -EPROTO, "expected HELLO as the first message");
	rc = client_look(n, who, rq->call, &v, a);
	if (rc != 0)
		return rc;
	switch (rq->call) {
	case WEFT_ATTACH_HELLO: return client_hello(n, who, &v, c, rq, reply);
	case WEFT_ATTACH_LIST: return client_list(&v, rq->index, a);
	case WEFT_ATTACH_OPEN: return client_open(*c, &v, rq, a);
	case WEFT_ATTACH_INFO: return client_info(*c, rq->handle, a);
	case WEFT_ATTACH_CLOSE: return client_close(*c, rq->handle);
	default:
		return weft_errorf(a->text, sizeof(a->text), -EPROTO,
			"expected a call from 1 to %u, got %u", WEFT_ATTACH_CALLS - 1, rq->call);
	}
}

void
attach_client_answer(struct node *n, const struct attach_who *who, struct attach_client **c,
	const struct weft_attach_request *rq, size_t len, struct attach_reply *reply)
{
	struct weft_attach_answer *a = &reply->answer;

	memset(reply, 0, sizeof(*reply));
	a->magic = WEFT_ATTACH_MAGIC;
	a->version = WEFT_ATTACH_VERSION;
	if (len != sizeof(*rq) || rq->magic != WEFT_ATTACH_MAGIC ||
		memchr(rq->name, '\0', sizeof(rq->name)) == NULL) {
		a->status = weft_errorf(a->text, sizeof(a->text), -EPROTO,
			"expected a message of %zu bytes as libweft sends it, got %zu", sizeof(*rq),
			len);
		return;
	}
	a->call = rq->call;
	a->status = client_call(n, who, c, rq, reply);
	if (a->status != 0 && a->text[0] == '\0')
		snprintf(a->text, sizeof(a->text), "host %s: %s", n->topo->name,
			strerror(-a->status));
}

void
attach_client_leave(struct attach_client *c)
{
	weft_node_client_leave(c->client);
}

bool
attach_client_free(struct attach_client *c, bool is_over)
{
	if (!is_over && !weft_node_client_is_gone(c->client))
		return false;
	weft_node_client_free(c->node->node, c->client);
	client_destroy(c);
	return true;
}

const char *
attach_client_breach(const struct attach_client *c)
{
	const unsigned int b = weft_node_client_breach(c->client);

	return b == WEFT_ATTACH_KEEPS ? NULL : weft_attach_breach_name(b);
}

void
attach_client_end(const struct attach_client *c)
{
	__atomic_store_n(&c->block->is_over, 1, __ATOMIC_SEQ_CST);
	client_wake((void *)(uintptr_t)c);
}

bool
attach_client_change(struct attach_client *c, const struct weft_topo *next, bool is_before)
{
	struct attach_view v;
	const bool may_come = attach_users_view(c->node, next, c->who, &v);
	bool has_ended = true;

	for (unsigned int i = 0; i < WEFT_ATTACH_REGIONS; i++)
		if (c->region[i] != NULL)
			has_ended = client_change_region(
					    c->region[i], may_come ? &v : NULL, is_before) &&
			            has_ended;
	if (!is_before && may_come)
		weft_node_client_set_share(c->client, client_share(&v));
	return has_ended;
}

json_t *
attach_client_json(const struct attach_client *c)
{
	json_t *regions = json_array();

	for (unsigned int i = 0; i < WEFT_ATTACH_REGIONS; i++) {
		const struct attach_region *r = c->region[i];

		if (r == NULL)
			continue;
		json_array_append_new(regions,
			json_pack("{s:s, s:I, s:I, s:b, s:b, s:b, s:I, s:I}", "name", r->row.name,
				"offset", (json_int_t)r->offset, "size", (json_int_t)r->node.size,
				"read", (r->node.rights & WEFT_ATTACH_READ) != 0, "write",
				(r->node.rights & WEFT_ATTACH_WRITE) != 0, "stale",
				r->node.is_stale, "reads_open",
				(json_int_t)__atomic_load_n(&r->node.n_ops[0], __ATOMIC_RELAXED),
				"writes_open",
				(json_int_t)__atomic_load_n(&r->node.n_ops[1], __ATOMIC_RELAXED)));
	}
	return json_pack("{s:I, s:I, s:b, s:o}", "pid", (json_int_t)c->who->pid, "uid",
		(json_int_t)c->who->user.uid, "attached", c->client != NULL, "regions", regions);
}
