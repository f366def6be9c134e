/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Where programs attach: a socket for each host of this process, NODE.sock in the run folder, and
 * the thread that answers there. Who may come in the topology says. A host whose name another
 * daemon of this user serves goes without; that stops nothing else.
 */

#include "attach.h"
#include "attach_priv.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rte_config.h>
#include <rte_lcore.h>

#include "cli.h"
#include "event.h"
#include "weft_attach_rundir.h"
#include "weft_file.h"
#include "weft_socket.h"

#define TEND_MS 20
#define EVENTS 64
#define USER_CLIENTS (WEFT_NODE_CLIENTS / 4) /* of a host, of a user whom the topology lets in */
#define FILES_A_CLIENT 3 /* socket, eventfd, and one in passing */

/* A connection, or a listening socket: then there is no client, and its node is served by it. */
struct attach_peer {
	struct node *node;
	struct attach_client *client; /* NULL: none yet */
	int fd; /* -1: it has ended, the client has not */
	struct attach_who who;
	bool is_listening;
	char *path; /* these two: of a listening socket */
	struct attach_door door;
	struct attach_peer *next;
};

/* All of it is the thread's, or of who holds the lock. */
static struct attach {
	struct daemon *daemon; /* NULL: nobody can attach */
	const struct weft_topo *next; /* about to be in force; NULL: nothing changes */
	pthread_mutex_t lock;
	pthread_t thread;
	bool has_thread;
	bool is_stopped; /* any thread */
	int epoll;
	int spare; /* a descriptor to refuse somebody with when there are no more */
	struct attach_peer *peers;
	int bell[RTE_MAX_LCORE]; /* eventfd, by lcore; 0: none of its hosts takes clients */
} attach = { .lock = PTHREAD_MUTEX_INITIALIZER, .epoll = -1, .spare = -1 };

static int
attach_watch(struct attach_peer *p)
{
	struct epoll_event e = { .events = EPOLLIN, .data.ptr = p };

	return epoll_ctl(attach.epoll, EPOLL_CTL_ADD, p->fd, &e) == 0 ? 0 : -errno;
}

static void
attach_hang_up(struct attach_peer *p)
{
	if (p->fd < 0)
		return;
	close(p->fd);
	p->fd = -1;
	if (p->client != NULL)
		attach_client_leave(p->client);
}

/* --- messages --- */

/* False: the other end does not take it. */
static bool
attach_send(int fd, const struct attach_reply *r)
{
	struct iovec part = { .iov_base = (void *)(uintptr_t)&r->answer,
		.iov_len = sizeof(r->answer) };
	alignas(struct cmsghdr) char room[CMSG_SPACE(sizeof(r->fd))] = { 0 };
	struct msghdr m = { .msg_iov = &part, .msg_iovlen = 1 };

	if (r->n_fds != 0) {
		struct cmsghdr *c;

		m.msg_control = room;
		m.msg_controllen = CMSG_SPACE(r->n_fds * sizeof(int));
		c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(r->n_fds * sizeof(int));
		memcpy(CMSG_DATA(c), r->fd, r->n_fds * sizeof(int));
	}
	return sendmsg(fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)sizeof(r->answer);
}

static void
attach_receive(struct attach_peer *p)
{
	struct weft_attach_request rq = { 0 };
	/* Of a longer one the length is told. */
	const ssize_t n = recv(p->fd, &rq, sizeof(rq), MSG_DONTWAIT | MSG_TRUNC);
	struct attach_reply reply;

	if (n <= 0) {
		if (n == 0 || (errno != EAGAIN && errno != EINTR))
			attach_hang_up(p);
		return;
	}
	attach_client_answer(p->node, &p->who, &p->client, &rq, (size_t)n, &reply);
	if (!attach_send(p->fd, &reply))
		attach_hang_up(p);
	for (unsigned int i = 0; i < reply.n_fds; i++)
		if (reply.fd[i] >= 0)
			close(reply.fd[i]);
}

/* --- coming and going --- */

/* What he sent and nobody read would take the place of the answer. */
static void
attach_drain(int fd)
{
	char word;

	shutdown(fd, SHUT_RD);
	while (recv(fd, &word, sizeof(word), MSG_DONTWAIT) > 0)
		;
}

/* Say why somebody may not come in, and close. */
static void __attribute__((format(printf, 3, 4)))
attach_refuse(int fd, int status, const char *fmt, ...)
{
	struct attach_reply r = { .answer = { .magic = WEFT_ATTACH_MAGIC,
					  .version = WEFT_ATTACH_VERSION,
					  .call = WEFT_ATTACH_HELLO,
					  .status = status } };
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(r.answer.text, sizeof(r.answer.text), fmt, ap);
	va_end(ap);
	attach_drain(fd);
	attach_send(fd, &r);
	close(fd);
}

/* There are no more descriptors: the next caller is told so by the one that was kept for it. */
static void
attach_refuse_next(const struct attach_peer *p)
{
	struct rlimit limit = { 0 };
	int fd;

	close(attach.spare);
	fd = accept4(p->fd, NULL, NULL, SOCK_CLOEXEC);
	getrlimit(RLIMIT_NOFILE, &limit);
	if (fd >= 0)
		attach_refuse(fd, -EMFILE,
			"host %s: its daemon has all of the %llu files open that it may: raise its "
			"limit (ulimit -n)",
			p->node->topo->name, (unsigned long long)limit.rlim_cur);
	attach.spare = epoll_create1(EPOLL_CLOEXEC);
}

/* Whether a user has as many connections as he may, so that others have their places. */
static bool
attach_is_crowd(const struct node *n, uint32_t uid)
{
	unsigned int count = 0;

	if (uid == 0 || uid == geteuid())
		return false;
	for (const struct attach_peer *p = attach.peers; p != NULL; p = p->next)
		count += !p->is_listening && p->fd >= 0 && p->node == n && p->who.user.uid == uid;
	return count >= USER_CLIENTS;
}

/* Whether somebody may come in; otherwise he was told why not. */
static bool
attach_admit(const struct node *n, int fd, struct attach_who *who)
{
	const int rc = attach_users_know(fd, who);
	struct attach_view v;

	if (rc != 0) {
		attach_refuse(fd, rc, "host %s: who this is cannot be known: %s", n->topo->name,
			strerror(-rc));
		return false;
	}
	if (attach_users_view(n, daemon_now(n->daemon), who, &v)) {
		if (!attach_is_crowd(n, who->user.uid))
			return true;
		attach_users_forget(who);
		attach_refuse(fd, -EAGAIN,
			"host %s: user %u has %d programs attached, the most that a user of its "
			"clients may: end one first",
			n->topo->name, who->user.uid, USER_CLIENTS);
		return false;
	}
	attach_users_forget(who);
	attach_refuse(fd, -EACCES,
		"host %s: user %u may not come in: expected user %u, whose daemon it is, or one of "
		"its clients in the topology",
		n->topo->name, who->user.uid, geteuid());
	return false;
}

static void
attach_accept(const struct attach_peer *door)
{
	struct attach_who who;
	struct attach_peer *p;
	const int fd = accept4(door->fd, NULL, NULL, SOCK_CLOEXEC);

	if (fd < 0) {
		if (errno == EMFILE || errno == ENFILE)
			attach_refuse_next(door);
		return;
	}
	if (!attach_admit(door->node, fd, &who))
		return;
	p = calloc(1, sizeof(*p));
	if (p == NULL) {
		attach_users_forget(&who);
		close(fd);
		return;
	}
	*p = (struct attach_peer){ .node = door->node, .fd = fd, .who = who, .next = attach.peers };
	attach.peers = p;
	if (attach_watch(p) != 0)
		attach_hang_up(p);
}

static void
attach_free(struct attach_peer *p)
{
	if (p->is_listening && p->path != NULL)
		unlink(p->path);
	if (p->fd >= 0)
		close(p->fd);
	attach_users_forget(&p->who);
	free(p->path);
	free(p);
}

/* Detach who broke the rules; forget those of whom nothing is left. */
static void
attach_tend(void)
{
	struct attach_peer **at = &attach.peers;

	while (*at != NULL) {
		struct attach_peer *p = *at;
		const char *breach =
			p->fd < 0 || p->client == NULL ? NULL : attach_client_breach(p->client);

		if (breach != NULL) {
			event_put(EVENT_CLIENT_DETACHED, p->node->topo->name, NULL, 1,
				"process %d is detached: it %s", (int)p->who.pid, breach);
			attach_client_end(p->client);
			attach_hang_up(p);
		}
		if (p->fd >= 0 || (p->client != NULL && !attach_client_free(p->client, false))) {
			at = &p->next;
			continue;
		}
		*at = p->next;
		attach_free(p);
	}
}

static void *
attach_thread(void *arg)
{
	struct epoll_event e[EVENTS];

	(void)arg;
	while (!__atomic_load_n(&attach.is_stopped, __ATOMIC_RELAXED)) {
		const int n = epoll_wait(attach.epoll, e, EVENTS, TEND_MS);

		pthread_mutex_lock(&attach.lock);
		for (int i = 0; i < n; i++) {
			struct attach_peer *p = e[i].data.ptr;

			if (p->is_listening)
				attach_accept(p);
			else
				attach_receive(p);
		}
		attach_tend();
		pthread_mutex_unlock(&attach.lock);
	}
	return NULL;
}

/* --- begin and end --- */

/* Let those connect who may come in. */
static void
attach_open_door(struct attach_peer *p, const struct weft_topo *t)
{
	const struct attach_door door = attach_door_of(p->node, t);

	if (door.mode == p->door.mode && door.gid == p->door.gid)
		return;
	if (attach_door_set(p->node, p->path, &door) == 0)
		p->door = door;
	else
		p->door = (struct attach_door){ .mode = 0600 };
}

/* A host that takes clients, and can't for want of a socket, says so. */
static int
attach_listen(struct node *n, const char *folder)
{
	struct attach_peer *p = calloc(1, sizeof(*p));
	char path[WEFT_SOCKET_PATH_MAX];
	int fd;

	if (p == NULL)
		return -ENOMEM;
	if (snprintf(path, sizeof(path), "%s/%s.sock", folder, n->topo->name) >= (int)sizeof(path))
		fd = -ENAMETOOLONG;
	else
		fd = weft_socket_listen(path);
	if (fd < 0) {
		if (!n->daemon->cfg.no_text)
			printf("host %s: no program can attach: %s/%s.sock: %s\n", n->topo->name,
				folder, n->topo->name,
				fd == -EADDRINUSE ? "another daemon serves this name"
						  : strerror(-fd));
		free(p);
		return 0;
	}
	*p = (struct attach_peer){ .node = n,
		.fd = fd,
		.is_listening = true,
		.path = strdup(path),
		.door = { .mode = 0600, .gid = getegid() },
		.next = attach.peers };
	attach.peers = p;
	if (!n->daemon->cfg.no_text)
		printf("host %s: programs attach at %s\n", n->topo->name, path);
	if (p->path == NULL)
		return -ENOMEM;
	attach_open_door(p, daemon_now(n->daemon));
	return attach_watch(p);
}

/* A lcore is about to nap, or has. */
static bool
attach_nap(void *arg, bool begins)
{
	const struct daemon *d = attach.daemon;
	const unsigned int lcore = (unsigned int)(uintptr_t)arg;
	bool may = true;

	for (uint16_t i = 0; i < d->n_nodes; i++) {
		if (d->node[i].lcore != lcore)
			continue;
		if (!begins)
			weft_node_clients_awake(d->node[i].node);
		else if (!weft_node_clients_may_sleep(d->node[i].node))
			may = false;
	}
	return may;
}

void
attach_bell(struct weft_loop_cfg *loop)
{
	if (attach.bell[loop->lcore] == 0)
		return;
	loop->on_nap = attach_nap;
	loop->on_nap_arg = (void *)(uintptr_t)loop->lcore;
	loop->wake_fd = attach.bell[loop->lcore];
}

/* One for all hosts of a lcore: whoever rings, it looks at all. */
static int
attach_make_bell(unsigned int lcore)
{
	if (attach.bell[lcore] == 0)
		attach.bell[lcore] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return attach.bell[lcore] < 0 ? -errno : 0;
}

int
attach_bell_of(const struct node *n)
{
	return attach.bell[n->lcore];
}

void
attach_prepare(struct daemon *d)
{
	for (uint16_t i = 0; i < d->load->n_nodes; i++)
		if (d->topo->node[i].kind == WEFT_TOPO_HOST)
			d->load->node[i].client_tags = ATTACH_TAGS;
}

/* A start that fails ends by exit(), and leaves no socket behind. */
static void
attach_exit(void)
{
	while (attach.peers != NULL) {
		struct attach_peer *p = attach.peers;

		attach.peers = p->next;
		attach_free(p);
	}
}

static void
attach_raise_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return;
	limit.rlim_cur += FILES_A_CLIENT * WEFT_NODE_CLIENTS;
	if (limit.rlim_cur > limit.rlim_max)
		limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static void
attach_say_none(const struct daemon *d, const char *folder, int rc)
{
	if (!d->cfg.no_text)
		printf("hosts: no program can attach: run folder %s: %s\n", folder,
			weft_attach_rundir_error(rc));
}

int
attach_init(struct daemon *d, char *err, size_t err_len)
{
	char folder[WEFT_SOCKET_PATH_MAX];
	int rc = weft_attach_rundir(folder, sizeof(folder), true);

	/* Operators are told by operate_init(), and the fabric works without programs. */
	if (rc != 0) {
		attach_say_none(d, folder, rc);
		return 0;
	}
	attach.daemon = d;
	attach.epoll = epoll_create1(EPOLL_CLOEXEC);
	attach.spare = epoll_create1(EPOLL_CLOEXEC);
	if (attach.epoll < 0 || attach.spare < 0)
		return weft_errorf(err, err_len, -errno, "epoll: %s", strerror(errno));
	atexit(attach_exit);
	attach_raise_limit();
	for (uint16_t i = 0; i < d->n_nodes && rc == 0; i++) {
		if (!weft_node_takes_clients(d->node[i].topo, d->node[i].load))
			continue;
		rc = attach_make_bell(d->node[i].lcore);
		if (rc == 0)
			rc = attach_listen(&d->node[i], folder);
	}
	if (rc != 0)
		return weft_errorf(err, err_len, rc, "sockets of hosts: %s", strerror(-rc));
	return 0;
}

void
attach_start(void)
{
	int rc;

	if (attach.peers == NULL)
		return;
	rc = rte_ctrl_thread_create(&attach.thread, "weft-attach", NULL, attach_thread, NULL);
	if (rc != 0)
		cli_no_memory(
			"the thread for programs could not be started: %s", strerror(abs(rc)));
	attach.has_thread = true;
}

const struct weft_topo *
attach_next(void)
{
	return attach.next;
}

bool
attach_change(const struct weft_topo *next, bool is_before)
{
	bool has_ended = true;

	pthread_mutex_lock(&attach.lock);
	attach.next = is_before ? next : NULL;
	for (struct attach_peer *p = attach.peers; p != NULL; p = p->next) {
		if (p->client != NULL)
			has_ended = attach_client_change(p->client, next, is_before) && has_ended;
		if (p->is_listening && !is_before)
			attach_open_door(p, next);
	}
	pthread_mutex_unlock(&attach.lock);
	return has_ended;
}

json_t *
attach_json(const struct node *n)
{
	json_t *list = json_array();

	pthread_mutex_lock(&attach.lock);
	for (const struct attach_peer *p = attach.peers; p != NULL; p = p->next)
		if (p->node == n && p->client != NULL)
			json_array_append_new(list, attach_client_json(p->client));
	pthread_mutex_unlock(&attach.lock);
	return list;
}

void
attach_end(void)
{
	__atomic_store_n(&attach.is_stopped, true, __ATOMIC_RELAXED);
	if (attach.has_thread)
		pthread_join(attach.thread, NULL);
	for (const struct attach_peer *p = attach.peers; p != NULL; p = p->next)
		if (p->client != NULL)
			attach_client_end(p->client);
	for (struct attach_peer *p = attach.peers; p != NULL; p = p->next)
		if (p->client != NULL)
			attach_client_free(p->client, true);
	attach_exit();
	close(attach.epoll);
	close(attach.spare);
	for (unsigned int i = 0; i < RTE_MAX_LCORE; i++)
		if (attach.bell[i] > 0)
			close(attach.bell[i]);
}
