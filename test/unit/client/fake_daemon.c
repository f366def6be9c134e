/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* See fake_daemon.h. */

#include "fake_daemon.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define FAKE_MUST(x)                                                                               \
	do {                                                                                       \
		if (!(x)) {                                                                        \
			fprintf(stderr, "fake daemon: %s: %s\n", #x, strerror(errno));             \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

static bool
fake_chance(struct fake *f, uint64_t one_in)
{
	return weft_rand_below(&f->rand, one_in) == 0;
}

static void
fake_signal(int fd)
{
	const uint64_t one = 1;

	FAKE_MUST(write(fd, &one, sizeof(one)) == sizeof(one));
}

/* --- messages --- */

static int
fake_make_block(struct fake *f, struct fake_client *c, const struct weft_attach_answer *a)
{
	struct weft_attach_layout l;
	const int fd = memfd_create("fake", MFD_ALLOW_SEALING | MFD_CLOEXEC);
	void *block;

	FAKE_MUST(fd >= 0 && weft_attach_layout(a->entries, a->data_len, &l) == 0);
	FAKE_MUST(ftruncate(fd, (off_t)l.len) == 0);
	block = mmap(NULL, l.len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	FAKE_MUST(block != MAP_FAILED);
	FAKE_MUST(weft_attach_server_init(&c->s, block, a->entries, a->data_len) == 0);
	c->block_len = l.len;
	c->pending = calloc(a->entries, sizeof(*c->pending));
	FAKE_MUST(c->pending != NULL);
	if (f->fault == FAKE_NO_HEAD)
		c->s.head->magic = 0;
	if (f->fault == FAKE_SMALL_BLOCK)
		FAKE_MUST(ftruncate(fd, (off_t)l.len - 1) == 0);
	if (f->fault != FAKE_UNSEALED)
		FAKE_MUST(fcntl(fd, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) == 0);
	return fd;
}

/* How many descriptors go with the answer. */
static uint32_t
fake_hello(struct fake *f, struct fake_client *c, const struct weft_attach_request *q,
	struct weft_attach_answer *a, int *fds)
{
	a->entries = q->entries;
	a->data_len = q->data_len;
	a->features = f->has_uio ? WEFT_ATTACH_UIO : 0;
	snprintf(a->node, sizeof(a->node), "fake");
	c->to_client = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	fds[WEFT_ATTACH_FD_BLOCK] = fake_make_block(f, c, a);
	fds[WEFT_ATTACH_FD_TO_DAEMON] = f->wake;
	fds[WEFT_ATTACH_FD_TO_CLIENT] = c->to_client;
	switch ((enum fake_fault)f->fault) {
	case FAKE_ENTRIES: a->entries = 24; break;
	case FAKE_ODD_DATA: a->data_len++; break;
	case FAKE_TINY_DATA: a->data_len = (uint64_t)a->entries * 64; break;
	case FAKE_NO_FDS: return 0;
	case FAKE_TWO_FDS: return 2;
	case FAKE_SEVEN_FDS: return 7;
	default: break;
	}
	return WEFT_ATTACH_FDS;
}

static int
fake_open(struct fake_client *c, const struct weft_attach_request *q, struct weft_attach_answer *a)
{
	unsigned long long off = 0, size = FAKE_SIZE;
	unsigned int i;
	char name[2];

	if (sscanf(q->name, "%1[g]%u:%llu+%llu", name, &i, &off, &size) < 2 || i >= FAKE_REGIONS) {
		snprintf(a->text, sizeof(a->text), "no region \"%.60s\"", q->name);
		return -ENOENT;
	}
	if (off > FAKE_SIZE || size > FAKE_SIZE - off)
		return -ERANGE;
	if (c->n_handles == WEFT_ATTACH_REGIONS)
		return -EMFILE;
	if (i == FAKE_READ_ONLY && (q->rights & WEFT_ATTACH_WRITE) != 0)
		return -EACCES;
	c->part_off[c->n_handles] = (uint64_t)i * FAKE_SIZE + off;
	c->part_size[c->n_handles] = size;
	a->handle = c->n_handles++;
	a->row.size = size;
	a->row.rights = q->rights;
	snprintf(a->row.name, sizeof(a->row.name), "g%u", i);
	return 0;
}

static int
fake_list(const struct weft_attach_request *q, struct weft_attach_answer *a)
{
	a->n_regions = FAKE_REGIONS;
	if (q->index >= FAKE_REGIONS)
		return -ENOENT;
	a->row = (struct weft_attach_row){
		.size = FAKE_SIZE, .generation = q->index + 1, .granule = 256, .rights = 3
	};
	snprintf(a->row.name, sizeof(a->row.name), "g%u", q->index);
	snprintf(a->row.target, sizeof(a->row.target), "gfd%u", q->index);
	return 0;
}

static int
fake_info(const struct fake_client *c, const struct weft_attach_request *q,
	struct weft_attach_answer *a)
{
	if (q->handle >= c->n_handles)
		return -EINVAL;
	a->row.size = c->part_size[q->handle];
	a->row.rights = 1;
	return 0;
}

static void
fake_spoil(const struct fake *f, struct weft_attach_answer *a)
{
	switch ((enum fake_fault)f->fault) {
	case FAKE_REFUSES:
		a->status = -EAGAIN;
		memset(a->text, 'x', sizeof(a->text));
		memcpy(a->text, "full\nof clients", 15);
		break;
	case FAKE_MAGIC: a->magic ^= 1; break;
	case FAKE_VERSION: a->version++; break;
	case FAKE_CALL: a->call++; break;
	case FAKE_STATUS: a->status = 7; break;
	default: break;
	}
}

static void
fake_send(const struct fake *f, int sock, const struct weft_attach_answer *a, const int *fds,
	uint32_t n)
{
	uint8_t bytes[sizeof(*a) + 8] = { 0 };
	union {
		struct cmsghdr c;
		char room[CMSG_SPACE(7 * sizeof(int))];
	} control = { 0 };
	struct iovec v = { .iov_base = bytes, .iov_len = sizeof(*a) };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1 };

	memcpy(bytes, a, sizeof(*a));
	if (f->fault == FAKE_SHORT)
		v.iov_len--;
	if (f->fault == FAKE_LONG)
		v.iov_len++;
	if (f->fault == FAKE_EMPTY)
		v.iov_len = 4;
	if (n > 0) {
		m.msg_control = control.room;
		m.msg_controllen = CMSG_SPACE(n * sizeof(int));
		control.c = (struct cmsghdr){ .cmsg_len = CMSG_LEN(n * sizeof(int)),
			.cmsg_level = SOL_SOCKET,
			.cmsg_type = SCM_RIGHTS };
		memcpy(CMSG_DATA(&control.c), fds, n * sizeof(int));
	}
	/* A client that has gone meanwhile is noticed elsewhere. */
	(void)!sendmsg(sock, &m, MSG_NOSIGNAL);
}

static void
fake_drop(struct fake_client *c)
{
	close(c->socket);
	if (c->to_client >= 0)
		close(c->to_client);
	if (c->s.head != NULL)
		munmap(c->s.head, c->block_len);
	free(c->pending);
	*c = (struct fake_client){ .socket = -1, .to_client = -1 };
}

static void
fake_answer(struct fake *f, struct fake_client *c, const struct weft_attach_request *q)
{
	struct weft_attach_answer a = {
		.magic = WEFT_ATTACH_MAGIC, .version = WEFT_ATTACH_VERSION, .call = q->call
	};
	const int file = f->fault == FAKE_OTHER_FDS ? open("/dev/zero", O_RDWR | O_CLOEXEC) : -1;
	int fds[7] = { f->wake, f->wake, f->wake, f->wake, f->wake, f->wake, f->wake };
	uint32_t n = 0;

	switch (q->call) {
	case WEFT_ATTACH_HELLO: n = fake_hello(f, c, q, &a, fds); break;
	case WEFT_ATTACH_LIST: a.status = fake_list(q, &a); break;
	case WEFT_ATTACH_OPEN: a.status = fake_open(c, q, &a); break;
	case WEFT_ATTACH_INFO: a.status = fake_info(c, q, &a); break;
	default: break;
	}
	fake_spoil(f, &a);
	if (n > 0 && a.call == WEFT_ATTACH_HELLO) {
		const int block = fds[WEFT_ATTACH_FD_BLOCK];

		if (file >= 0)
			fds[WEFT_ATTACH_FD_TO_CLIENT] = file;
		fake_send(f, c->socket, &a, fds, a.status < 0 ? 0 : n);
		close(block);
	} else {
		fake_send(f, c->socket, &a, NULL, 0);
		if (q->call == WEFT_ATTACH_HELLO)
			close(fds[WEFT_ATTACH_FD_BLOCK]);
	}
	if (file >= 0)
		close(file);
}

/* --- rings --- */

static bool
fake_is_apart(const struct weft_attach_sqe *a, const struct weft_attach_sqe *b)
{
	return a->data + a->len <= b->data || b->data + b->len <= a->data;
}

/* Two operations that are open have no data in common, and what is small lies in the slots. */
static void
fake_look(struct fake *f, const struct fake_client *c, const struct weft_attach_sqe *e)
{
	const uint64_t slots = (uint64_t)c->s.entries * 64;
	uint32_t i;

	f->n_ops++;
	if (e->op == WEFT_ATTACH_OP_FENCE)
		return;
	f->n_uio[0] += e->op == WEFT_ATTACH_OP_UIO_READ;
	f->n_uio[1] += e->op == WEFT_ATTACH_OP_UIO_WRITE;
	f->n_cuts += e->offset % 64 != 0 && (e->offset + e->len) % 64 != 0;
	f->n_clashes += (e->len <= 64) != (e->data + e->len <= slots);
	f->n_clashes += e->handle >= c->n_handles || e->offset > c->part_size[e->handle] ||
	                e->len > c->part_size[e->handle] - e->offset;
	for (i = 0; i < c->n_pending; i++)
		f->n_clashes += !fake_is_apart(e, &c->pending[i]);
}

static void
fake_take(struct fake *f, struct fake_client *c)
{
	struct weft_attach_sqe e;
	int rc;

	while ((rc = weft_attach_server_next(&c->s, &e)) == 0) {
		fake_look(f, c, &e);
		c->pending[c->n_pending++] = e;
	}
	if (rc == -EPROTO)
		f->n_clashes++;
}

static bool
fake_is_read(const struct weft_attach_sqe *e)
{
	return e->op == WEFT_ATTACH_OP_READ || e->op == WEFT_ATTACH_OP_UIO_READ;
}

static struct weft_attach_cqe
fake_do(struct fake *f, struct fake_client *c, const struct weft_attach_sqe *e)
{
	struct weft_attach_cqe cqe = { .user = e->user };
	const uint64_t at = c->part_off[e->handle] + e->offset;
	uint64_t line;

	if (e->op == WEFT_ATTACH_OP_FENCE)
		return cqe;
	cqe.status = f->error != 0 || fake_is_read(e) ? f->error : f->write_error;
	if (cqe.status != 0) {
		cqe.bad = e->offset / 64 * 64;
		return cqe;
	}
	for (line = at / 64; line <= (at + e->len - 1) / 64; line++)
		if (at / FAKE_SIZE == FAKE_POISONED && fake_is_bad(line) && !f->is_mended) {
			if (cqe.status == 0)
				cqe.bad = line * 64 - c->part_off[e->handle];
			cqe.status = -EIO;
			cqe.bad_lines++;
		}
	if (cqe.status != 0)
		return cqe;
	if (fake_is_read(e))
		memcpy(c->s.data + e->data, f->memory + at, e->len);
	else
		memcpy(f->memory + at, c->s.data + e->data, e->len);
	return cqe;
}

/* Complete one of those that a fence does not hold back: any of them. */
static void
fake_complete(struct fake *f, struct fake_client *c)
{
	struct weft_attach_cqe cqe;
	uint32_t may, i;

	for (may = 0; may < c->n_pending; may++)
		if (c->pending[may].op == WEFT_ATTACH_OP_FENCE)
			break;
	i = may == 0 ? 0 : (uint32_t)weft_rand_below(&f->rand, may);
	cqe = fake_do(f, c, &c->pending[i]);
	memmove(&c->pending[i], &c->pending[i + 1], (c->n_pending - i - 1) * sizeof(*c->pending));
	c->n_pending--;
	if (f->fault == FAKE_CQ_USER)
		cqe.user = UINT64_MAX;
	if (f->fault == FAKE_CQ_STATUS)
		cqe.status = 1;
	weft_attach_server_complete(&c->s, &cqe);
	if (f->fault == FAKE_CQ_TWICE)
		weft_attach_server_complete(&c->s, &cqe);
	if (f->fault == FAKE_CQ_TAIL)
		c->s.cq_tail += 1u << 30;
	f->n_done++;
}

/* @return whether there was something to do */
static bool
fake_serve(struct fake *f, struct fake_client *c)
{
	uint64_t n;

	if (c->s.head == NULL)
		return false;
	fake_take(f, c);
	if (c->n_pending > 0 && !f->is_held && !fake_chance(f, 4))
		for (n = weft_rand_below(&f->rand, c->n_pending) + 1; n > 0; n--)
			fake_complete(f, c);
	/* What is not said in this round is in the next. */
	if (!fake_chance(f, 4) && weft_attach_server_tell(&c->s)) {
		fake_signal(c->to_client);
		f->n_signals++;
	}
	return c->n_pending > 0 || c->s.cq_told != c->s.cq_tail;
}

/* --- the thread --- */

static bool
fake_has_more(const struct fake *f)
{
	int i;

	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	for (i = 0; i < FAKE_CLIENTS; i++)
		if (f->client[i].s.head != NULL && weft_attach_server_has_more(&f->client[i].s))
			return true;
	return false;
}

static void
fake_set_sleeps(struct fake *f, uint32_t sleeps)
{
	int i;

	for (i = 0; i < FAKE_CLIENTS; i++)
		if (f->client[i].s.head != NULL)
			__atomic_store_n(
				&f->client[i].s.head->daemon_sleeps, sleeps, __ATOMIC_SEQ_CST);
}

static void
fake_accept(struct fake *f)
{
	const int fd = accept4(f->listener, NULL, NULL, SOCK_CLOEXEC);
	int i;

	FAKE_MUST(fd >= 0);
	for (i = 0; i < FAKE_CLIENTS && f->client[i].socket >= 0; i++)
		;
	FAKE_MUST(i < FAKE_CLIENTS);
	f->client[i].socket = fd;
}

static void
fake_hear(struct fake *f, struct fake_client *c)
{
	struct weft_attach_request q;
	const ssize_t got = recv(c->socket, &q, sizeof(q), MSG_DONTWAIT);

	if (got != sizeof(q) || f->fault == FAKE_CLOSES)
		fake_drop(c);
	else
		fake_answer(f, c, &q);
}

/* Look at all descriptors, and sleep there, if it may. */
static bool
fake_poll(struct fake *f, bool may_sleep)
{
	struct pollfd p[FAKE_CLIENTS + 2] = { { .fd = f->listener, .events = POLLIN },
		{ .fd = f->wake, .events = POLLIN } };
	bool is_busy = false;
	uint64_t n;
	int i;

	for (i = 0; i < FAKE_CLIENTS; i++)
		p[i + 2] = (struct pollfd){ .fd = f->client[i].socket, .events = POLLIN };
	if (may_sleep)
		fake_set_sleeps(f, 1);
	may_sleep = may_sleep && !fake_has_more(f) && !f->is_over;
	if (may_sleep)
		f->n_sleeps++;
	/* A signal of the test may come to this thread: then nothing is said of any. */
	FAKE_MUST(poll(p, FAKE_CLIENTS + 2, may_sleep ? -1 : 0) >= 0 || errno == EINTR);
	if (may_sleep)
		fake_set_sleeps(f, 0);
	if (p[1].revents != 0)
		FAKE_MUST(read(f->wake, &n, sizeof(n)) == sizeof(n));
	for (i = 0; i < FAKE_CLIENTS; i++)
		if (p[i + 2].revents != 0) {
			fake_hear(f, &f->client[i]);
			is_busy = true;
		}
	if (p[0].revents != 0) {
		fake_accept(f);
		is_busy = true;
	}
	return is_busy;
}

static void
fake_leave(struct fake *f)
{
	struct fake_client *c;
	int i;

	for (i = 0; i < FAKE_CLIENTS; i++) {
		c = &f->client[i];
		if (c->s.head != NULL && f->exit >= FAKE_LEAVES && weft_attach_server_end(&c->s))
			fake_signal(c->to_client);
		if (c->socket >= 0 && f->exit != FAKE_DETACHES)
			fake_drop(c);
	}
}

static void *
fake_run(void *arg)
{
	struct fake *f = arg;
	uint32_t idle = 0;
	bool is_busy;
	int i;

	while (!f->is_over) {
		is_busy = fake_poll(f, idle > f->idle_max);
		for (i = 0; i < FAKE_CLIENTS; i++)
			is_busy |= fake_serve(f, &f->client[i]);
		idle = is_busy ? 0 : idle + 1;
		if (f->leave_after != 0 && f->n_done >= f->leave_after) {
			fake_leave(f);
			f->leave_after = 0;
		}
		if (fake_chance(f, 8))
			sched_yield();
	}
	return NULL;
}

void
fake_begin(struct fake *f, const char *path, uint64_t seed)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int i;

	weft_rand_seed(&f->rand, seed);
	for (i = 0; i < FAKE_CLIENTS; i++)
		f->client[i] = (struct fake_client){ .socket = -1, .to_client = -1 };
	f->memory = calloc(FAKE_REGIONS, FAKE_SIZE);
	f->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	f->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	snprintf(f->path, sizeof(f->path), "%s", path);
	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", path);
	f->is_over = false;
	FAKE_MUST(f->memory != NULL && f->wake >= 0 && f->listener >= 0);
	FAKE_MUST(bind(f->listener, (struct sockaddr *)&addr, sizeof(addr)) == 0);
	FAKE_MUST(listen(f->listener, 64) == 0);
	FAKE_MUST(pthread_create(&f->thread, NULL, fake_run, f) == 0);
}

void
fake_end(struct fake *f)
{
	int i;

	f->is_over = true;
	fake_signal(f->wake);
	FAKE_MUST(pthread_join(f->thread, NULL) == 0);
	for (i = 0; i < FAKE_CLIENTS; i++)
		if (f->client[i].socket >= 0)
			fake_drop(&f->client[i]);
	close(f->listener);
	close(f->wake);
	free(f->memory);
	f->memory = NULL;
	unlink(f->path);
}

/* --- what tests of it have besides --- */

char fake_folder[64];
char fake_socket[96];

void
fake_folder_begin(void)
{
	snprintf(fake_folder, sizeof(fake_folder), "/tmp/weft-test-XXXXXX");
	assert_non_null(mkdtemp(fake_folder));
	snprintf(fake_socket, sizeof(fake_socket), "%s/h0.sock", fake_folder);
}

void
fake_folder_end(void)
{
	char cmd[80];

	snprintf(cmd, sizeof(cmd), "rm -r %s", fake_folder);
	assert_int_equal(system(cmd), 0);
}

int64_t
fake_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int
fake_mappings(void)
{
	FILE *f = fopen("/proc/self/maps", "re");
	int n = 0, c;

	assert_non_null(f);
	while ((c = fgetc(f)) != EOF)
		n += c == '\n';
	fclose(f);
	return n;
}

void
fake_is_line(const char *line)
{
	assert_true(strlen(line) > 10);
	assert_null(strpbrk(line, "\n\r"));
}
