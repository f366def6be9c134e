/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Clients of a host, in the toy world: what they read is what was written, whatever the lengths and
 * places, by either mode; each operation ends once, with the error that is its own; and none of
 * them notices another that leaves, breaks the rules, or asks for too much.
 */

#include "weft_test.h"

#include "toy.h"
#include "weft_attach_server.h"
#include "weft_clients.h"
#include "weft_gfd.h"

#define ENTRIES 64
#define DATA_LEN (1u << 20)
#define SLOT_LEN (DATA_LEN / ENTRIES) /* each operation of a test has its part of the data area */
#define TAGS 64
#define STEPS 20000
#define MEMORY (UINT64_C(1) << 20)

#define NODES_YAML NODES_OF(", cxl_io: 64")
#define NODES_OF(more)                                                                             \
	"defaults: {mtu: 1042" more "}\n"                                                          \
	"nodes:\n"                                                                                 \
	"  - {name: h0, kind: host, pid: 0x101}\n"                                                 \
	"  - {name: s0, kind: switch, pid: 0x010}\n"                                               \
	"  - {name: g0, kind: gfd, pid: 0x200, memory: 1M}\n"                                      \
	"  - {name: g1, kind: gfd, pid: 0x201, memory: 1M}\n"                                      \
	"links:\n"                                                                                 \
	"  - {a: h0, b: s0}\n"                                                                     \
	"  - {a: s0, b: g0}\n"                                                                     \
	"  - {a: s0, b: g1}\n"

static const char rxl[] = "fabric: toy\n" NODES_YAML;
static const char cxl[] = "fabric: toy\nmode: cxl\n" NODES_YAML;
static const char without_uio[] = "fabric: toy\n" NODES_OF("");
static const char loaded[] =
	"fabric: toy\n" NODES_YAML
	"workloads: [{on: h0, kind: mem, seed: 1, requests: 3000, lines: 8}]\n";

static const char loaded_cxl[] =
	"fabric: toy\nmode: cxl\n" NODES_YAML
	"workloads: [{on: h0, kind: mem, seed: 1, requests: 3000, lines: 8}]\n";

/* The operations of both ways to memory. */
static const struct way {
	bool is_uio;
	enum weft_attach_op read, write;
} ways[] = { { false, WEFT_ATTACH_OP_READ, WEFT_ATTACH_OP_WRITE },
	{ true, WEFT_ATTACH_OP_UIO_READ, WEFT_ATTACH_OP_UIO_WRITE } };

/* A program: its side of the rings, one operation after another. */
struct program {
	struct toy *w;
	struct weft_node *host;
	struct weft_node_client *client;
	struct weft_node_region region;
	int handle;
	struct weft_attach_head *head;
	struct weft_attach_sqe *sqe;
	struct weft_attach_cqe *cqe;
	uint8_t *data;
	size_t block_len;
	unsigned int wakes;
	uint32_t tail, taken; /* positions of submission and completion */
	struct weft_attach_cqe end[ENTRIES]; /* by the operation's user word */
	bool is_open[ENTRIES];
	bool is_fence[ENTRIES];
	uint32_t order[ENTRIES]; /* in which they were submitted */
};

static void
program_wake(void *arg)
{
	((struct program *)arg)->wakes++;
}

static void
program_attach_with(struct program *p, struct toy *w, uint32_t share)
{
	struct weft_node_client_cfg cfg = { .entries = ENTRIES,
		.data_len = DATA_LEN,
		.share = share,
		.wake = program_wake,
		.wake_arg = p };
	struct weft_attach_layout l;

	memset(p, 0, sizeof(*p));
	p->w = w;
	p->host = toy_node(w, "h0");
	assert_int_equal(weft_attach_layout(ENTRIES, DATA_LEN, &l), 0);
	p->block_len = l.len;
	cfg.block = aligned_alloc(WEFT_ATTACH_PAGE, l.len);
	assert_non_null(cfg.block);
	memset(cfg.block, 0, l.len);
	assert_int_equal(weft_node_client_add(p->host, &cfg, &p->client), 0);
	p->head = cfg.block;
	p->sqe = (void *)((uint8_t *)cfg.block + l.sq_off);
	p->cqe = (void *)((uint8_t *)cfg.block + l.cq_off);
	p->data = (uint8_t *)cfg.block + l.data_off;
}

static void
program_attach(struct program *p, struct toy *w)
{
	program_attach_with(p, w, 0);
}

/* Let it use a piece of a segment. */
static void
program_open(struct program *p, unsigned int segment, uint64_t offset, uint64_t size)
{
	const struct weft_topo *t = p->w->topo;
	const struct weft_topo_segment *s = &t->map.segment[segment];
	const uint16_t pid = t->node[t->map.target[s->first_target].node].pid;

	p->region = (struct weft_node_region){
		.base = s->base + offset,
		.size = size,
		.rights = WEFT_ATTACH_READ | WEFT_ATTACH_WRITE,
	};
	p->region.target[pid / 64] |= WEFT_BIT64(pid % 64);
	p->handle = weft_node_client_open(p->client, &p->region);
	assert_true(p->handle >= 0);
}

static void
program_submit(
	struct program *p, unsigned int user, enum weft_attach_op op, uint64_t offset, uint32_t len)
{
	struct weft_attach_sqe *e = &p->sqe[p->tail % ENTRIES];

	assert_false(p->is_open[user]);
	p->is_open[user] = true;
	p->is_fence[user] = op == WEFT_ATTACH_OP_FENCE;
	p->order[user] = p->tail;
	memset(e, 0, sizeof(*e));
	e->op = (uint8_t)op;
	e->user = user;
	if (op != WEFT_ATTACH_OP_FENCE) {
		e->handle = (uint32_t)p->handle;
		e->offset = offset;
		e->len = len;
		e->data = (uint64_t)user * SLOT_LEN;
	}
	__atomic_store_n(&p->head->sq_tail, ++p->tail, __ATOMIC_RELEASE);
}

/* A fence ends behind all that was submitted before it, and before all that was after it. */
static void
program_check_order(const struct program *p, uint64_t user)
{
	for (unsigned int i = 0; i < ENTRIES; i++) {
		if (!p->is_open[i] || i == user)
			continue;
		if (p->is_fence[user])
			assert_true(p->order[i] > p->order[user]);
		if (p->is_fence[i])
			assert_true(p->order[i] > p->order[user]);
	}
}

static unsigned int
program_collect(struct program *p)
{
	const uint32_t tail = __atomic_load_n(&p->head->cq_tail, __ATOMIC_ACQUIRE);
	unsigned int n = 0;

	for (; p->taken != tail; n++) {
		const struct weft_attach_cqe *e = &p->cqe[p->taken++ % ENTRIES];

		assert_true(e->user < ENTRIES && p->is_open[e->user]); /* each ends once */
		program_check_order(p, e->user);
		p->is_open[e->user] = false;
		p->end[e->user] = *e;
	}
	__atomic_store_n(&p->head->cq_head, p->taken, __ATOMIC_RELEASE);
	return n;
}

static void
program_wait(struct program *p)
{
	for (unsigned int i = 0; i < STEPS && p->taken != p->tail; i++) {
		toy_step(p->w);
		program_collect(p);
	}
	assert_int_equal(p->taken, p->tail);
}

static int
program_do(struct program *p, enum weft_attach_op op, uint64_t offset, uint32_t len)
{
	program_submit(p, 0, op, offset, len);
	program_wait(p);
	return p->end[0].status;
}

static void
program_detach(struct program *p)
{
	unsigned int i;

	weft_node_client_leave(p->client);
	for (i = 0; i < STEPS && !weft_node_client_is_gone(p->client); i++)
		toy_step(p->w);
	assert_true(weft_node_client_is_gone(p->client));
	weft_node_client_free(p->host, p->client);
	free(p->head);
}

static void
clients_init(struct toy *w, const char *yaml)
{
	toy_load(w, yaml);
	for (uint16_t i = 0; i < w->load->n_nodes; i++)
		w->load->node[i].client_tags = TAGS;
	toy_start(w);
}

/* --- what is read is what was written --- */

/* A batch: writes of disjoint pieces, perhaps a fence, and reads of the pieces after it. */
/* A piece of a stripe, by either way; by UIO of whole DWs. */
static const struct way *
batch_draw(const struct program *p, struct weft_rand *r, uint64_t stripe, uint64_t *offset,
	uint32_t *len)
{
	const struct way *way = &ways[weft_rand_below(r, WEFT_ARRAY_SIZE(ways))];
	const uint64_t most = stripe < SLOT_LEN ? stripe : SLOT_LEN;
	uint32_t behind;

	*len = 1 + (uint32_t)weft_rand_below(r, weft_rand_below(r, 2) != 0 ? 100 : most);
	*offset += weft_rand_below(r, stripe - *len + 1);
	behind = (uint32_t)(p->region.base + *offset) % 4;
	if (!way->is_uio || *len < 8)
		return &ways[0];
	*offset += (4 - behind) % 4;
	*len = (*len - (4 - behind) % 4) & ~3u;
	return way;
}

static void
batch_run(struct program *p, struct weft_rand *r, uint8_t *shadow)
{
	const unsigned int n = 1 + (unsigned int)weft_rand_below(r, ENTRIES / 2 - 1);
	const uint64_t stripe = p->region.size / n;
	uint64_t offset[ENTRIES];
	uint32_t len[ENTRIES];
	bool is_write[ENTRIES];

	for (unsigned int i = 0; i < n; i++) {
		const struct way *way;

		offset[i] = i * stripe;
		way = batch_draw(p, r, stripe, &offset[i], &len[i]);
		is_write[i] = weft_rand_below(r, 2) != 0;
		if (is_write[i]) {
			weft_rand_fill(r, p->data + (size_t)i * SLOT_LEN, len[i]);
			memcpy(shadow + offset[i], p->data + (size_t)i * SLOT_LEN, len[i]);
		} else {
			memset(p->data + (size_t)i * SLOT_LEN, 0xA5, SLOT_LEN);
		}
		program_submit(p, i, is_write[i] ? way->write : way->read, offset[i], len[i]);
		for (uint64_t steps = weft_rand_below(r, 3); steps > 0; steps--)
			toy_step(p->w);
	}
	program_submit(p, n, WEFT_ATTACH_OP_FENCE, 0, 0);
	/* Behind the fence: one that was written just before. */
	program_submit(p, n + 1, WEFT_ATTACH_OP_READ, offset[0], len[0]);
	program_wait(p);
	for (unsigned int i = 0; i < n; i++) {
		assert_int_equal(p->end[i].status, 0);
		if (!is_write[i])
			assert_memory_equal(
				p->data + (size_t)i * SLOT_LEN, shadow + offset[i], len[i]);
		/* Nothing beyond. */
		if (!is_write[i] && len[i] < SLOT_LEN)
			assert_int_equal(p->data[(size_t)i * SLOT_LEN + len[i]], 0xA5);
	}
	assert_int_equal(p->end[n].status, 0);
	assert_memory_equal(p->data + (size_t)(n + 1) * SLOT_LEN, shadow + offset[0], len[0]);
}

static void
check_data(const char *yaml, struct weft_rand *r)
{
	struct program p[3];
	uint8_t *shadow[3];
	struct toy w;

	clients_init(&w, yaml);
	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(p); i++) {
		/* Two share a GFD; nothing is aligned. */
		const uint64_t size = 100000 + weft_rand_below(r, 300000);

		program_attach(&p[i], &w);
		program_open(&p[i], i / 2, i % 2 * (MEMORY / 2) + weft_rand_below(r, 1000), size);
		shadow[i] = calloc(1, size);
		assert_non_null(shadow[i]);
	}
	for (unsigned int k = 0; k < 60; k++) {
		const uint64_t i = weft_rand_below(r, WEFT_ARRAY_SIZE(p));

		batch_run(&p[i], r, shadow[i]);
		/* Pauses in which it does nothing, and is looked at no more. */
		if (weft_rand_below(r, 8) == 0)
			toy_steps(&w, 200);
	}
	assert_int_equal(toy_count(p[0].host, NULL, "clients", "failed"), 0);
	assert_int_not_equal(toy_count(p[0].host, NULL, "clients", "uio_writes"), 0);
	assert_int_not_equal(toy_count(p[0].host, "uio", "requests", "reads"), 0);
	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(p); i++) {
		program_detach(&p[i]);
		free(shadow[i]);
	}
	assert_int_equal(toy_count(toy_node(&w, "h0"), NULL, "clients", "detached"), 3);
	toy_fini(&w);
}

WEFT_TEST(what_is_read_is_what_was_written)
{
	const unsigned int cases = weft_test_cases(8);
	struct weft_rand r;

	weft_test_seed(&r, "operations of clients");
	for (unsigned int k = 0; k < cases; k++)
		check_data(k % 2 == 0 ? rxl : cxl, &r);
}

/* All of it is done at once: client, load, and the end of the load. */
WEFT_TEST(load_and_clients_share_a_host)
{
	struct program p;
	struct toy w;

	clients_init(&w, loaded);
	program_attach(&p, &w);
	program_open(&p, 0, MEMORY / 2, MEMORY / 4);
	memset(p.data, 0x5A, 4096);
	assert_int_equal(program_do(&p, WEFT_ATTACH_OP_WRITE, 10, 4096), 0);
	toy_run(&w, p.host);
	assert_true(weft_node_is_good(p.host));
	memset(p.data, 0, 4096);
	assert_int_equal(program_do(&p, WEFT_ATTACH_OP_READ, 10, 4096), 0);
	assert_int_equal(p.data[4095], 0x5A);
	program_detach(&p);
	toy_fini(&w);
}

/* --- errors --- */

static void
check_errors(const struct way *way)
{
	struct program p;
	struct toy w;

	clients_init(&w, rxl);
	program_attach(&p, &w);
	program_open(&p, 0, 0, 1000);
	assert_int_equal(program_do(&p, way->read, 996, 4), 0);
	assert_int_equal(program_do(&p, way->read, 1000, 1), -EINVAL);
	assert_int_equal(program_do(&p, way->read, UINT64_MAX, 2), -EINVAL);
	assert_int_equal(program_do(&p, way->write, 0, 1001), -EINVAL);
	p.region.rights = WEFT_ATTACH_READ;
	assert_int_equal(program_do(&p, way->write, 0, 8), -EACCES);
	assert_int_equal(program_do(&p, way->read, 0, 8), 0);
	p.region.rights = WEFT_ATTACH_WRITE;
	assert_int_equal(program_do(&p, way->read, 0, 8), -EACCES);
	p.handle = 1;
	assert_int_equal(program_do(&p, way->write, 0, 8), -EBADF);
	p.handle = INT32_MAX;
	assert_int_equal(program_do(&p, way->write, 0, 8), -EBADF);
	p.handle = 0;
	assert_ptr_equal(weft_node_client_close(p.client, 0), &p.region);
	assert_false(weft_node_region_is_used(&p.region));
	assert_int_equal(program_do(&p, way->write, 0, 8), -EBADF);
	/* An address that leads nowhere. */
	program_open(&p, 1, MEMORY - 128, 256);
	assert_int_equal(program_do(&p, way->read, 0, 256), -ENXIO);
	assert_int_equal(p.end[0].bad, 128);
	assert_int_equal(p.end[0].bad_lines, 2);
	program_detach(&p);
	toy_fini(&w);
}

WEFT_TEST(each_error_is_its_own)
{
	for (unsigned int k = 0; k < WEFT_ARRAY_SIZE(ways); k++)
		check_errors(&ways[k]);
}

/* By UIO memory is of DWs, wherever the region begins; and a host may have none. */
WEFT_TEST(uio_is_of_whole_dws_and_where_there_is_some)
{
	struct program p;
	struct toy w;

	clients_init(&w, rxl);
	assert_true(weft_node_clients_have_uio(toy_node(&w, "h0")));
	program_attach(&p, &w);
	program_open(&p, 0, 2, 1000);
	assert_int_equal(program_do(&p, WEFT_ATTACH_OP_UIO_READ, 2, 8), 0);
	assert_int_equal(program_do(&p, WEFT_ATTACH_OP_UIO_READ, 4, 8), -EINVAL);
	assert_int_equal(program_do(&p, WEFT_ATTACH_OP_UIO_WRITE, 2, 7), -EINVAL);
	assert_int_equal(program_do(&p, WEFT_ATTACH_OP_READ, 4, 7), 0);
	program_detach(&p);
	toy_fini(&w);
	clients_init(&w, without_uio);
	assert_false(weft_node_clients_have_uio(toy_node(&w, "h0")));
	program_attach(&p, &w);
	program_open(&p, 0, 0, 1000);
	assert_int_equal(program_do(&p, WEFT_ATTACH_OP_UIO_WRITE, 0, 8), -EOPNOTSUPP);
	assert_int_equal(program_do(&p, WEFT_ATTACH_OP_WRITE, 0, 8), 0);
	program_detach(&p);
	toy_fini(&w);
}

/* Requests of all its lengths are few: 256 bytes each, from where those begin. */
WEFT_TEST(uio_has_requests_of_four_lines)
{
	struct program p;
	struct toy w;

	clients_init(&w, rxl);
	program_attach(&p, &w);
	program_open(&p, 0, 128, 4096);
	assert_int_equal(program_do(&p, WEFT_ATTACH_OP_UIO_WRITE, 0, 1024), 0);
	assert_int_equal(toy_count(p.host, "uio", "requests", "writes"), 5);
	assert_int_equal(toy_count(p.host, NULL, "clients", "lines_written"), 16);
	assert_int_equal(program_do(&p, WEFT_ATTACH_OP_UIO_READ, 60, 8), 0);
	assert_int_equal(toy_count(p.host, "uio", "requests", "reads"), 1);
	assert_int_equal(toy_count(p.host, NULL, "clients", "lines_read"), 2);
	program_detach(&p);
	toy_fini(&w);
}

/* By UIO that of the request, of up to four lines. */
WEFT_TEST(poison_is_told_with_its_place)
{
	static const char *const yaml[] = { rxl, cxl };

	for (unsigned int k = 0; k < 2 * WEFT_ARRAY_SIZE(yaml); k++) {
		const struct way *way = &ways[k / 2];
		struct program p;
		struct toy w;

		clients_init(&w, yaml[k % 2]);
		program_attach(&p, &w);
		program_open(&p, 0, 32, 4096);
		toy_steps(&w, 100);
		weft_gfd_poison_all(weft_node_gfd(toy_node(&w, "g0")));
		/* Lines that are written whole are healed, those at the edges are not. */
		assert_int_equal(program_do(&p, way->write, 32, 640), 0);
		assert_int_equal(program_do(&p, way->read, 32, 640), 0);
		assert_int_equal(program_do(&p, way->read, 32, 700), -EIO);
		assert_int_equal(p.end[0].bad, way->is_uio ? 480 : 672);
		assert_int_equal(p.end[0].bad_lines, way->is_uio ? 4 : 1);
		assert_int_equal(program_do(&p, way->read, 0, 300), -EIO);
		assert_int_equal(p.end[0].bad, 0);
		program_detach(&p);
		toy_fini(&w);
	}
}

/* What is open is lost with the session, and then it is other memory. */
static void
check_new_memory(const struct way *way)
{
	struct program p, other;
	struct toy w;
	uint16_t g;

	clients_init(&w, rxl);
	program_attach(&p, &w);
	program_attach(&other, &w);
	program_open(&p, 0, 0, MEMORY);
	program_open(&other, 1, 0, MEMORY);
	assert_int_equal(weft_node_region_generation(p.host, &p.region), 0);
	assert_int_equal(program_do(&p, way->write, 0, 4096), 0);
	assert_int_not_equal(weft_node_region_generation(p.host, &p.region), 0);
	g = (uint16_t)weft_topo_find(w.topo, "g0");
	toy_end(&w.at[g]);
	toy_begin(&w, g);
	/* The host does not know yet. */
	program_submit(&p, 0, way->read, 0, SLOT_LEN);
	program_submit(&other, 0, way->read, 0, SLOT_LEN);
	program_wait(&p);
	program_wait(&other);
	assert_true(p.end[0].status == -ETIMEDOUT || p.end[0].status == -ESTALE);
	assert_int_equal(other.end[0].status, 0);
	toy_steps(&w, 2000);
	assert_int_equal(program_do(&p, way->read, 0, 64), -ESTALE);
	assert_int_equal(program_do(&p, way->write, 0, 64), -ESTALE);
	/* Opened anew it is what is there. */
	weft_node_client_close(p.client, 0);
	program_open(&p, 0, 0, MEMORY);
	memset(p.data, 1, 64);
	assert_int_equal(program_do(&p, way->read, 0, 64), 0);
	assert_int_equal(p.data[0], 0);
	program_detach(&p);
	program_detach(&other);
	toy_fini(&w);
}

WEFT_TEST(memory_that_is_new_is_stale)
{
	for (unsigned int k = 0; k < WEFT_ARRAY_SIZE(ways); k++)
		check_new_memory(&ways[k]);
}

/* Nobody waits for ever for a GFD that is not there; others do not wait at all. */
static void
check_no_way(const struct way *way)
{
	struct program p, other;
	struct toy w;
	uint64_t began_ns;

	clients_init(&w, rxl);
	w.away = toy_node(&w, "g0");
	program_attach(&p, &w);
	program_attach(&other, &w);
	program_open(&p, 0, 0, MEMORY);
	program_open(&other, 1, 0, MEMORY);
	program_submit(&p, 0, way->read, 0, 64);
	program_submit(&p, 1, WEFT_ATTACH_OP_FENCE, 0, 0);
	program_submit(&p, 2, way->write, 0, 64);
	began_ns = w.now_ns;
	assert_int_equal(program_do(&other, way->write, 0, 4096), 0);
	while (p.taken != p.tail && w.now_ns - began_ns < UINT64_C(40000000000)) {
		toy_step(&w);
		program_collect(&p);
	}
	assert_int_equal(p.taken, 3);
	assert_int_equal(p.end[0].status, -ETIMEDOUT);
	assert_int_equal(p.end[1].status, 0);
	assert_int_equal(p.end[2].status, -ETIMEDOUT);
	assert_true(w.now_ns - began_ns < UINT64_C(17000000000));
	assert_int_equal(program_do(&other, way->read, 0, 4096), 0);
	w.away = NULL;
	toy_steps(&w, 100000);
	assert_int_equal(program_do(&p, way->read, 0, 64), 0);
	program_detach(&p);
	program_detach(&other);
	toy_fini(&w);
}

WEFT_TEST(a_way_that_is_not_there_times_out)
{
	for (unsigned int k = 0; k < WEFT_ARRAY_SIZE(ways); k++)
		check_no_way(&ways[k]);
}

/* --- a host that drains --- */

static uint64_t
wait_drained(struct toy *w, const struct weft_node *n)
{
	for (unsigned int i = 0; i < STEPS && weft_node_drain_left(n) != 0; i++)
		toy_step(w);
	return weft_node_drain_left(n);
}

/* What began ends, what did not waits as long as it has to, and then all goes on. */
static void
check_drain(const char *yaml, const struct way *way, uint64_t wait_ns)
{
	struct program p;
	struct toy w;
	uint64_t begun, since_ns;

	clients_init(&w, yaml);
	program_attach(&p, &w);
	program_open(&p, 0, MEMORY / 2, MEMORY / 4);
	for (uint16_t i = 0; i < w.topo->n_nodes; i++)
		assert_int_equal(weft_node_works(&w.topo->node[i], &w.load->node[i]), i == 0);
	toy_steps(&w, 100);
	/* More requests than may be open at a time, and an operation behind it. */
	program_submit(&p, 0, way->write, 0, SLOT_LEN);
	program_submit(&p, 1, way->read, 0, 64);
	while (toy_count(p.host, NULL, "clients", "lines_written") == 0)
		toy_step(&w);
	weft_node_drain(p.host, true);
	assert_true(weft_node_is_draining(p.host));
	assert_int_equal(weft_node_drain_left(p.host), UINT64_MAX);
	assert_int_equal(wait_drained(&w, p.host), 0);
	program_collect(&p);
	assert_false(p.is_open[0]);
	assert_int_equal(p.end[0].status, 0);
	assert_true(p.is_open[1]);
	begun = toy_count(p.host, NULL, "traffic", "reads");
	for (since_ns = w.now_ns; w.now_ns - since_ns < wait_ns;)
		toy_step(&w);
	program_collect(&p);
	assert_true(p.is_open[1]);
	assert_int_equal(toy_count(p.host, NULL, "traffic", "reads"), begun);
	assert_int_equal(weft_node_drain_left(p.host), 0);
	weft_node_drain(p.host, false);
	program_wait(&p);
	assert_int_equal(p.end[1].status, 0);
	toy_run(&w, p.host);
	assert_true(toy_count(p.host, NULL, "traffic", "reads") > begun);
	assert_true(weft_node_is_good(p.host));
	program_detach(&p);
	toy_fini(&w);
}

WEFT_TEST(a_host_that_drains_lets_what_began_end)
{
	const uint64_t longer_than_a_timeout_ns = UINT64_C(16000000000);

	check_drain(loaded, &ways[0], longer_than_a_timeout_ns);
	check_drain(loaded, &ways[1], 1000000);
	check_drain(loaded_cxl, &ways[0], 1000000);
}

/* What one GFD does not answer leaves places for requests to others, at once and for good. */
static void
check_silence(const struct way *way)
{
	struct program p[2], other;
	struct toy w;
	uint64_t began_ns;

	clients_init(&w, rxl);
	program_attach(&other, &w);
	program_open(&other, 1, 0, MEMORY);
	for (unsigned int k = 0; k < 2; k++) {
		program_attach(&p[k], &w);
		program_open(&p[k], 0, 0, MEMORY);
		assert_int_equal(program_do(&p[k], way->read, 0, 64), 0);
	}
	assert_int_equal(program_do(&other, way->read, 0, 64), 0);
	toy_steps(&w, 200); /* until all are quiet */
	w.away = toy_node(&w, "g0");
	program_submit(&p[0], 0, way->read, 0, SLOT_LEN);
	toy_steps(&w, 5);
	program_submit(&p[1], 0, way->write, 0, SLOT_LEN);
	for (began_ns = w.now_ns; w.now_ns - began_ns < UINT64_C(20000000000);) {
		const uint64_t at_ns = w.now_ns;

		assert_int_equal(program_do(&other, way->read, 0, 4096), 0);
		assert_true(w.now_ns - at_ns < UINT64_C(50000000));
		for (unsigned int k = 0; k < 2; k++)
			if (program_collect(&p[k]) != 0)
				program_submit(&p[k], 0, way->read, 0, SLOT_LEN);
		toy_steps(&w, 1000);
	}
	w.away = NULL;
	toy_steps(&w, 100000);
	for (unsigned int k = 0; k < 2; k++) {
		program_wait(&p[k]);
		program_detach(&p[k]);
	}
	program_detach(&other);
	toy_fini(&w);
}

WEFT_TEST(a_gfd_that_is_silent_stops_its_own_clients_only)
{
	for (unsigned int k = 0; k < WEFT_ARRAY_SIZE(ways); k++)
		check_silence(&ways[k]);
}

/* --- pages that move --- */

/* 16 pages of h1 at 256K of g0, which have their other places at 512K of g1. */
#define AGENT_YAML(load)                                                                           \
	"fabric: toy\n"                                                                            \
	"nodes:\n"                                                                                 \
	"  - {name: h0, kind: host, pid: 0x101, translations: [{host: h1, va: 1M, "                \
	"pa: 0x10000040000, size: 64K, move_to: 0x11000080000}]}\n"                                \
	"  - {name: h1, kind: host, pid: 0x102, ats: {agent: h0}}\n"                               \
	"  - {name: s0, kind: switch, pid: 0x010}\n"                                               \
	"  - {name: g0, kind: gfd, pid: 0x200, memory: 1M}\n"                                      \
	"  - {name: g1, kind: gfd, pid: 0x201, memory: 1M}\n"                                      \
	"links: [{a: h0, b: s0}, {a: h1, b: s0}, {a: s0, b: g0}, {a: s0, b: g1}]\n"                \
	"workloads: [{on: h0, kind: move, timeout_ms: 500}" load "]\n"
#define MOVES_FIRST (UINT64_C(256) << 10)
#define MOVES_SECOND (UINT64_C(512) << 10)
#define MOVES_PAGE 4096
#define MOVES_PAGES 16

static const uint8_t *
memory_of(struct toy *w, const char *name, uint64_t offset)
{
	return weft_node_gfd(toy_node(w, name))->mem + offset;
}

/* A page goes to its other place with all that it holds, and back; the one it left is wiped. */
WEFT_TEST(a_page_moves_when_a_program_asks)
{
	uint8_t wiped[MOVES_PAGE];
	struct program p;
	struct toy w;

	memset(wiped, 0xDB, sizeof(wiped));
	clients_init(&w, AGENT_YAML(", {on: h1, kind: mem, seed: 1, requests: 20, lines: 64}"));
	assert_true(weft_node_clients_can_move(toy_node(&w, "h0")));
	assert_false(weft_node_clients_can_move(toy_node(&w, "h1")));
	toy_run(&w, toy_node(&w, "h1"));
	program_attach(&p, &w);
	program_open(&p, 0, 0, MEMORY);
	memset(p.data, 0x3C, MOVES_PAGE);
	assert_int_equal(
		program_do(&p, WEFT_ATTACH_OP_WRITE, MOVES_FIRST + MOVES_PAGE, MOVES_PAGE), 0);
	assert_int_equal(program_do(&p, WEFT_ATTACH_OP_MOVE, MOVES_FIRST + MOVES_PAGE + 5, 0), 0);
	assert_memory_equal(memory_of(&w, "g1", MOVES_SECOND + MOVES_PAGE), p.data, MOVES_PAGE);
	assert_memory_equal(memory_of(&w, "g0", MOVES_FIRST + MOVES_PAGE), wiped, MOVES_PAGE);
	/* By either of its places. */
	assert_int_equal(program_do(&p, WEFT_ATTACH_OP_MOVE, MOVES_FIRST + MOVES_PAGE, 0), 0);
	assert_memory_equal(memory_of(&w, "g0", MOVES_FIRST + MOVES_PAGE), p.data, MOVES_PAGE);
	assert_memory_equal(memory_of(&w, "g1", MOVES_SECOND + MOVES_PAGE), wiped, MOVES_PAGE);
	assert_int_equal(toy_count(p.host, "ats", "agent", "moved"), 2);
	assert_int_equal(toy_count(p.host, NULL, "clients", "moves"), 2);
	/* A fence waits for those under way; several of one page go one after the other. */
	for (unsigned int i = 0; i < 6; i++)
		program_submit(&p, i, WEFT_ATTACH_OP_MOVE, MOVES_FIRST + i / 2 * MOVES_PAGE, 0);
	program_submit(&p, 6, WEFT_ATTACH_OP_FENCE, 0, 0);
	program_wait(&p);
	for (unsigned int i = 0; i < 7; i++)
		assert_int_equal(p.end[i].status, 0);
	assert_int_equal(toy_count(p.host, "ats", "agent", "moved"), 8);
	program_detach(&p);
	toy_fini(&w);
}

WEFT_TEST(moves_that_can_not_be_are_refused)
{
	struct program p;
	struct toy w;

	clients_init(&w, AGENT_YAML(", {on: h1, kind: mem, seed: 1, requests: 20, lines: 64}"));
	toy_run(&w, toy_node(&w, "h1"));
	program_attach(&p, &w);
	program_open(&p, 0, 0, MOVES_FIRST + MOVES_PAGE + 100);
	assert_int_equal(program_do(&p, WEFT_ATTACH_OP_MOVE, MOVES_FIRST - 1, 0), -ENXIO);
	assert_int_equal(program_do(&p, WEFT_ATTACH_OP_MOVE, MOVES_FIRST + MOVES_PAGE, 0), -EINVAL);
	assert_int_equal(program_do(&p, WEFT_ATTACH_OP_MOVE, p.region.size, 0), -EINVAL);
	p.region.rights = WEFT_ATTACH_READ;
	assert_int_equal(program_do(&p, WEFT_ATTACH_OP_MOVE, MOVES_FIRST, 0), -EACCES);
	assert_int_equal(toy_count(p.host, "ats", "agent", "asked"), 0);
	p.region.rights |= WEFT_ATTACH_WRITE;
	assert_int_equal(program_do(&p, WEFT_ATTACH_OP_MOVE, MOVES_FIRST, 0), 0);
	program_detach(&p);
	toy_fini(&w);
	clients_init(&w, rxl);
	program_attach(&p, &w);
	program_open(&p, 0, 0, MEMORY);
	assert_int_equal(program_do(&p, WEFT_ATTACH_OP_MOVE, 0, 0), -EOPNOTSUPP);
	program_detach(&p);
	toy_fini(&w);
}

/* More than the agent takes at a time, each page back and forth; some programs go meanwhile. */
WEFT_TEST(many_moves_go_on_beside_load_and_programs_that_leave)
{
	struct program p, leaves;
	struct toy w;

	clients_init(
		&w, AGENT_YAML(", {on: h1, kind: mem, seed: 1, requests: 30000, lines: 1024}"));
	program_attach(&p, &w);
	program_open(&p, 0, 0, MEMORY);
	program_attach(&leaves, &w);
	program_open(&leaves, 1, 0, MEMORY);
	toy_steps(&w, 200);
	for (unsigned int i = 0; i < ENTRIES; i++) {
		program_submit(
			&p, i, WEFT_ATTACH_OP_MOVE, MOVES_FIRST + i % MOVES_PAGES * MOVES_PAGE, 0);
		program_submit(&leaves, i, WEFT_ATTACH_OP_MOVE,
			MOVES_SECOND + i % MOVES_PAGES * MOVES_PAGE, 0);
	}
	toy_steps(&w, 50);
	program_detach(&leaves);
	for (unsigned int i = 0; i < 100 * STEPS && p.taken != p.tail; i++) {
		toy_step(&w);
		program_collect(&p);
	}
	for (unsigned int i = 0; i < ENTRIES; i++)
		assert_int_equal(p.end[i].status, 0);
	toy_run(&w, toy_node(&w, "h1"));
	assert_true(weft_node_is_good(toy_node(&w, "h1")));
	program_detach(&p);
	toy_fini(&w);
}

/* Without its client a page does not move; who asked is told in time. */
WEFT_TEST(a_move_that_does_not_come_about_times_out)
{
	struct program p;
	struct toy w;
	uint64_t began_ns;

	clients_init(&w, AGENT_YAML(", {on: h1, kind: mem, seed: 1, requests: 20, lines: 64}"));
	w.away = toy_node(&w, "h1");
	program_attach(&p, &w);
	program_open(&p, 0, 0, MEMORY);
	program_submit(&p, 0, WEFT_ATTACH_OP_MOVE, MOVES_FIRST, 0);
	began_ns = w.now_ns;
	while (program_collect(&p) == 0 && w.now_ns - began_ns < UINT64_C(2000000000))
		toy_step(&w);
	assert_int_equal(p.end[0].status, -ETIMEDOUT);
	assert_true(w.now_ns - began_ns >= UINT64_C(500000000));
	assert_int_equal(toy_count(p.host, "ats", "agent", "moves"), 0);
	program_detach(&p);
	toy_fini(&w);
}

/* --- others do not notice --- */

/* A client may leave, or be broken, with anything open. */
WEFT_TEST(a_client_that_goes_is_forgotten)
{
	struct program good, bad;
	struct weft_rand r;
	uint8_t *shadow = calloc(1, 200000);
	struct toy w;

	assert_non_null(shadow);
	weft_test_seed(&r, "clients that go");
	clients_init(&w, rxl);
	program_attach(&good, &w);
	program_open(&good, 0, 77, 200000);
	toy_steps(&w, 100); /* all sessions are up */
	for (unsigned int k = 0; k < 40; k++) {
		const unsigned int n = (unsigned int)weft_rand_below(&r, ENTRIES);

		program_attach(&bad, &w);
		program_open(&bad, 1, 0, MEMORY);
		for (unsigned int i = 0; i < n; i++)
			program_submit(&bad, i,
				i % 7 == 6 ? WEFT_ATTACH_OP_FENCE : WEFT_ATTACH_OP_READ + (i & 1),
				i * 64, i % 7 == 6 ? 0 : 1 + (uint32_t)weft_rand_below(&r, 4000));
		/* What has begun is on its way, or lost and sent again. */
		w.is_cut = true;
		toy_steps(&w, 1 + (unsigned int)weft_rand_below(&r, 20));
		weft_node_client_leave(bad.client);
		toy_steps(&w, 10);
		assert_int_equal(weft_node_client_is_gone(bad.client), n == 0);
		w.is_cut = false;
		batch_run(&good, &r, shadow);
		program_detach(&bad);
		batch_run(&good, &r, shadow);
	}
	program_detach(&good);
	free(shadow);
	toy_fini(&w);
}

WEFT_TEST(a_client_that_breaks_the_rules_is_known)
{
	struct program good, bad;
	struct weft_rand r;
	uint8_t *shadow = calloc(1, 200000);
	struct toy w;

	assert_non_null(shadow);
	weft_test_seed(&r, "clients that break the rules");
	clients_init(&w, rxl);
	program_attach(&good, &w);
	program_open(&good, 0, 77, 200000);
	for (unsigned int k = 0; k < 20; k++) {
		program_attach(&bad, &w);
		program_open(&bad, 1, 0, MEMORY);
		program_submit(&bad, 0, WEFT_ATTACH_OP_READ, 0, 4000);
		toy_steps(&w, (unsigned int)weft_rand_below(&r, 20));
		bad.head->sq_tail += ENTRIES * 2;
		batch_run(&good, &r, shadow);
		assert_int_equal(weft_node_client_breach(bad.client), WEFT_ATTACH_BAD_TAIL);
		program_detach(&bad);
	}
	assert_int_equal(toy_count(good.host, NULL, "clients", "breaches"), 20);
	program_detach(&good);
	free(shadow);
	toy_fini(&w);
}

/* One page at a time is not held up by another that has all of its ring full. */
WEFT_TEST(each_client_has_its_share)
{
	struct program greedy, modest;
	unsigned int steps;
	uint64_t lines;
	struct toy w;

	clients_init(&w, rxl);
	program_attach(&greedy, &w);
	program_attach(&modest, &w);
	program_open(&greedy, 0, 0, MEMORY);
	program_open(&modest, 0, 0, MEMORY);
	assert_int_equal(program_do(&modest, WEFT_ATTACH_OP_READ, 0, 64), 0);
	toy_steps(&w, 3);
	w.is_cut = true;
	lines = toy_count(greedy.host, NULL, "clients", "lines_read");
	for (unsigned int i = 0; i < ENTRIES; i++)
		program_submit(&greedy, i, WEFT_ATTACH_OP_READ, 0, SLOT_LEN);
	toy_steps(&w, 5);
	/* The other one did something a moment ago. */
	lines = toy_count(greedy.host, NULL, "clients", "lines_read") - lines;
	assert_int_equal(lines, TAGS / 2);
	w.is_cut = false;
	program_submit(&modest, 0, WEFT_ATTACH_OP_READ, 0, 4096);
	for (steps = 0; program_collect(&modest) == 0; steps++)
		toy_step(&w);
	program_collect(&greedy);
	/* The other one is not nearly done. */
	assert_true(greedy.taken < ENTRIES / 4);
	assert_true(steps < 100);
	program_wait(&greedy);
	program_detach(&greedy);
	program_detach(&modest);
	toy_fini(&w);
}

/*
 * Lines that one has on their way when nothing arrives, beside the first @n of which each did
 * something a moment ago.
 */
static uint64_t
lines_beside(struct toy *w, struct program *one, struct program *others, unsigned int n)
{
	uint64_t lines;

	for (unsigned int k = 0; k < n; k++)
		assert_int_equal(program_do(&others[k], WEFT_ATTACH_OP_READ, 0, 64), 0);
	lines = toy_count(one->host, NULL, "clients", "lines_read");
	w->is_cut = true;
	program_submit(one, 1, WEFT_ATTACH_OP_READ, 0, SLOT_LEN);
	toy_steps(w, 5);
	lines = toy_count(one->host, NULL, "clients", "lines_read") - lines;
	w->is_cut = false;
	program_wait(one);
	toy_steps(w, 200); /* until all are quiet */
	return lines;
}

WEFT_TEST(tags_are_given_by_weight)
{
	static const uint32_t share[] = { 1, 2, 5, WEFT_NODE_SHARE_MAX };
	struct program p[WEFT_ARRAY_SIZE(share)];
	struct toy w;

	clients_init(&w, rxl);
	for (unsigned int k = 0; k < WEFT_ARRAY_SIZE(p); k++) {
		program_attach_with(&p[k], &w, share[k]);
		program_open(&p[k], 0, 0, MEMORY);
		assert_int_equal(program_do(&p[k], WEFT_ATTACH_OP_READ, 0, 64), 0);
	}
	toy_steps(&w, 200);
	/* 64 tags by 1, 2, 5 and 100 of 108, but one at least; who does nothing has no weight. */
	assert_int_equal(lines_beside(&w, &p[0], p, 4), 1);
	assert_int_equal(lines_beside(&w, &p[2], p, 4), 5 * TAGS / 108);
	assert_int_equal(lines_beside(&w, &p[3], p, 4), 100 * TAGS / 108);
	assert_int_equal(lines_beside(&w, &p[2], p, 3), 5 * TAGS / 8);
	assert_int_equal(lines_beside(&w, &p[0], p, 0), TAGS);
	/* Control gives it another one, while it does something and while it does not. */
	weft_node_client_set_share(p[3].client, 8);
	assert_int_equal(lines_beside(&w, &p[3], p, 4), TAGS / 2);
	assert_int_equal(program_do(&p[3], WEFT_ATTACH_OP_READ, 0, 64), 0);
	weft_node_client_set_share(p[3].client, 2);
	toy_step(&w);
	assert_int_equal(lines_beside(&w, &p[2], p, 3), 5 * TAGS / 10);
	/* One that leaves takes its weight along. */
	assert_int_equal(program_do(&p[3], WEFT_ATTACH_OP_READ, 0, 64), 0);
	program_detach(&p[3]);
	assert_int_equal(lines_beside(&w, &p[2], p, 3), 5 * TAGS / 8);
	for (unsigned int k = 0; k < 3; k++)
		program_detach(&p[k]);
	toy_fini(&w);
}

/* Where tags are not what there is too little of, requests go out by weight as well. */
WEFT_TEST(requests_begin_by_weight)
{
	struct program light, heavy;
	struct toy w;

	toy_load(&w, rxl);
	for (uint16_t i = 0; i < w.load->n_nodes; i++)
		w.load->node[i].client_tags = 4096;
	toy_start(&w);
	program_attach_with(&light, &w, 1);
	program_attach_with(&heavy, &w, 4);
	program_open(&light, 0, 0, MEMORY);
	program_open(&heavy, 1, 0, MEMORY);
	for (unsigned int i = 0; i < ENTRIES; i++) {
		program_submit(&light, i, WEFT_ATTACH_OP_READ, 0, SLOT_LEN);
		program_submit(&heavy, i, WEFT_ATTACH_OP_READ, 0, SLOT_LEN);
	}
	for (unsigned int i = 0; i < STEPS && heavy.taken < ENTRIES - 8; i++) {
		toy_step(&w);
		program_collect(&light);
		program_collect(&heavy);
	}
	assert_true(heavy.taken >= ENTRIES - 8);
	assert_in_range(light.taken, heavy.taken / 6, heavy.taken / 3);
	program_wait(&light);
	program_wait(&heavy);
	program_detach(&light);
	program_detach(&heavy);
	toy_fini(&w);
}

/* What control asks before it takes rights away. */
WEFT_TEST(uses_of_a_region_are_told_apart)
{
	struct program p;
	struct toy w;

	clients_init(&w, rxl);
	program_attach(&p, &w);
	program_open(&p, 0, 0, MEMORY);
	assert_int_equal(program_do(&p, WEFT_ATTACH_OP_READ, 0, 64), 0);
	assert_int_equal(weft_node_region_uses(&p.region), 0);
	w.is_cut = true;
	program_submit(&p, 1, WEFT_ATTACH_OP_WRITE, 0, 64);
	toy_steps(&w, 3);
	assert_int_equal(weft_node_region_uses(&p.region), WEFT_ATTACH_WRITE);
	program_submit(&p, 2, WEFT_ATTACH_OP_READ, 0, 64);
	toy_steps(&w, 3);
	assert_int_equal(weft_node_region_uses(&p.region), WEFT_ATTACH_READ | WEFT_ATTACH_WRITE);
	/* What has begun ends; what is submitted after that is refused. */
	weft_node_region_end(&p.region);
	program_submit(&p, 3, WEFT_ATTACH_OP_READ, 0, 64);
	toy_steps(&w, 3);
	assert_int_equal(program_collect(&p), 1);
	assert_int_equal(p.end[3].status, -ESTALE);
	assert_true(weft_node_region_is_used(&p.region));
	w.is_cut = false;
	program_wait(&p);
	assert_int_equal(p.end[1].status, 0);
	assert_int_equal(p.end[2].status, 0);
	assert_false(weft_node_region_is_used(&p.region));
	program_detach(&p);
	toy_fini(&w);
}

/* Who says that it sleeps is woken, once, and nobody else is. */
WEFT_TEST(a_client_that_sleeps_is_woken)
{
	struct program p;
	struct toy w;

	clients_init(&w, rxl);
	program_attach(&p, &w);
	program_open(&p, 0, 0, MEMORY);
	assert_int_equal(program_do(&p, WEFT_ATTACH_OP_READ, 0, 64), 0);
	assert_int_equal(p.wakes, 0);
	p.head->client_sleeps = 1;
	assert_int_equal(program_do(&p, WEFT_ATTACH_OP_READ, 0, 64), 0);
	assert_int_equal(p.wakes, 1);
	assert_int_equal(program_do(&p, WEFT_ATTACH_OP_READ, 0, 64), 0);
	assert_int_equal(p.wakes, 1);
	program_detach(&p);
	toy_fini(&w);
}

WEFT_TEST(there_is_a_limit_of_clients)
{
	static struct program p[WEFT_NODE_CLIENTS];
	struct weft_node_client_cfg cfg = { .entries = ENTRIES, .data_len = DATA_LEN };
	struct weft_node_client *more;
	struct toy w;

	clients_init(&w, rxl);
	cfg.entries = 0;
	assert_int_equal(weft_node_client_add(toy_node(&w, "h0"), &cfg, &more), -EINVAL);
	cfg.entries = ENTRIES;
	for (unsigned int i = 0; i < WEFT_NODE_CLIENTS; i++)
		program_attach(&p[i], &w);
	assert_int_equal(weft_node_client_add(toy_node(&w, "h0"), &cfg, &more), -EAGAIN);
	program_open(&p[WEFT_NODE_CLIENTS - 1], 0, 0, MEMORY);
	assert_int_equal(program_do(&p[WEFT_NODE_CLIENTS - 1], WEFT_ATTACH_OP_READ, 0, 64), 0);
	for (unsigned int i = 0; i < WEFT_NODE_CLIENTS; i++)
		program_detach(&p[i]);
	program_attach(&p[0], &w);
	program_detach(&p[0]);
	toy_fini(&w);
}
