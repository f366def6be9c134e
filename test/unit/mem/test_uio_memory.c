/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Memory that answers UIO, against an array of bytes and a table of who may what, byte by byte; and
 * the requester that puts the answers together again.
 */

#include "uio_rig.h"

#include "weft_gfam_access.h"
#include "weft_uio_memory.h"
#include "weft_uio_requester.h"

#define BASE (UINT64_C(1) << 40)
#define BYTES 65536u
#define BLOCK 4096u
#define HOSTS 3

/* Block k of the memory: in group k % 3, or, if k % 5 is 4, in none. RPID r may go to group r. */
struct rig {
	struct weft_gfam *tables;
	struct weft_gfam_ref ref;
	struct weft_gfam_log log;
	struct weft_gfam_checker guard;
	struct weft_uio_memory memory;
	uint64_t poison[BYTES / 64 / 64];
	uint8_t mem[BYTES];
	uint8_t want[BYTES];
};

static void
rig_make(struct rig *g, uint16_t split, bool by_prefix)
{
	const struct weft_gfam_cfg cfg = { .rows = HOSTS,
		.groups = 3,
		.dmps = 1,
		.blocks = (256u << 20) / BLOCK,
		.knobs = WEFT_GFAM_UIO,
		.media[0].block_sizes = BLOCK };
	const struct weft_gfam_decoder d = {
		.hpa_base = BASE, .dpa_len = BYTES + BLOCK, .valid = true
	};
	struct weft_uio_memory_cfg m = { .mem = g->mem,
		.len = BYTES,
		.poison = g->poison,
		.guard = &g->guard,
		.split = split,
		.by_prefix = by_prefix };

	memset(g, 0, sizeof(*g));
	g->tables = weft_gfam_init(uio_rig_mem(weft_gfam_size(&cfg)), &cfg);
	assert_int_equal(weft_gfam_set_dmp(g->tables, 0, 0, 256u << 20, BLOCK), 0);
	for (uint16_t h = 0; h < HOSTS; h++) {
		assert_int_equal(weft_gfam_set_gdt(g->tables, WEFT_GFAM_SELF, h, 0, &d, 1), 0);
		assert_int_equal(weft_gfam_set_sat(g->tables, h, 1u << h), 0);
	}
	for (unsigned int k = 0; k <= BYTES / BLOCK; k++)
		if (k % 5 != 4)
			assert_int_equal(weft_gfam_set_blocks(g->tables, (uint64_t)k * BLOCK, BLOCK,
						 (uint8_t)(k % 3)),
				0);
	weft_gfam_publish(&g->ref, g->tables);
	weft_gfam_log_init(&g->log);
	g->guard = (struct weft_gfam_checker){ .tables = &g->ref, .log = &g->log };
	assert_int_equal(weft_uio_memory_init(&g->memory, &m), 0);
}

/* How the answer must be, by the words of fabric.md 1.9: a request lies in one block. */
static uint8_t
expected(uint16_t rpid, uint64_t addr)
{
	const uint64_t block = (addr - BASE) / BLOCK;

	if (rpid >= HOSTS || addr < BASE || addr >= BASE + BYTES + BLOCK)
		return WEFT_UIO_UR;
	if (block % 5 == 4 || block % 3 != rpid)
		return WEFT_UIO_CA;
	return addr >= BASE + BYTES ? WEFT_UIO_UR : WEFT_UIO_SC;
}

static void
draw(struct weft_rand *r, struct weft_uio *u, uint8_t *data)
{
	*u = (struct weft_uio){
		.kind = (uint8_t)weft_rand_below(r, 2),
		.requester = (uint16_t)weft_rand_u64(r),
		.tag = (uint16_t)weft_rand_below(r, WEFT_UIO_TAGS),
		.len = (uint16_t)(4 * (1 + weft_rand_below(r, 64))),
		.data = data,
	};
	u->addr = BASE - BLOCK + BLOCK * weft_rand_below(r, BYTES / BLOCK + 3) +
	          4 * weft_rand_below(r, (BLOCK - u->len) / 4 + 1);
	for (unsigned int i = 0; i < u->len; i++)
		data[i] = (uint8_t)weft_rand_u64(r);
}

static void
check_read(const struct rig *g, const struct weft_uio *u, const struct weft_io_tlp *cpl,
	unsigned int n, unsigned int split)
{
	unsigned int done = 0;

	for (unsigned int i = 0; i < n; i++) {
		struct weft_uio c;

		assert_int_equal(weft_uio_decode(&cpl[i], &c), 0);
		assert_int_equal(c.kind, WEFT_UIO_CPLD);
		assert_int_equal(c.left, u->len - done);
		assert_int_equal(c.lower, (u->addr + done) % 128);
		assert_memory_equal(c.data, g->want + (u->addr - BASE) + done, c.len);
		done += c.len;
		assert_true(done == u->len || (u->addr + done) % split == 0);
	}
	assert_int_equal(done, u->len);
	assert_int_equal(n, (u->addr % split + u->len + split - 1) / split);
}

WEFT_TEST(every_byte_is_served_by_right)
{
	static const uint16_t splits[] = { 64, 128, 256 };
	static struct rig g;
	struct weft_rand r;

	weft_test_seed(&r, __func__);
	for (unsigned int s = 0; s < 6; s++) {
		const bool by_prefix = s >= 3;
		uint64_t ends[8] = { 0 };

		rig_make(&g, splits[s % 3], by_prefix);
		for (unsigned int i = 0; i < 30000; i++) {
			const uint16_t rpid = (uint16_t)weft_rand_below(&r, HOSTS + 1);
			struct weft_io_tlp req, cpl[WEFT_UIO_CPLS_MAX];
			uint8_t data[WEFT_UIO_BYTES_MAX];
			struct weft_uio u, c;
			unsigned int n;
			uint8_t want;

			draw(&r, &u, data);
			weft_uio_encode(&req, &u);
			req.spid = by_prefix ? 0xABC : rpid;
			req.has_prefix = by_prefix;
			req.prefix_pid = by_prefix ? rpid : 0;
			want = expected(rpid, u.addr);
			assert_int_equal(weft_uio_serve(&g.memory, &req, cpl, &n), WEFT_OK);
			assert_in_range(n, 1, WEFT_UIO_CPLS_MAX);
			assert_int_equal(weft_uio_decode(&cpl[0], &c), 0);
			assert_int_equal(c.status, want);
			assert_int_equal(c.tag, u.tag);
			assert_int_equal(c.requester, u.requester);
			for (unsigned int k = 0; k < n; k++) {
				assert_true(cpl[k].pif);
				assert_int_equal(cpl[k].has_prefix, by_prefix);
				assert_int_equal(cpl[k].prefix_pid, by_prefix ? rpid : 0);
			}
			ends[want]++;
			if (want == WEFT_UIO_SC && u.kind == WEFT_UIO_READ)
				check_read(&g, &u, cpl, n, splits[s % 3]);
			else
				assert_int_equal(n, 1);
			if (want == WEFT_UIO_SC && u.kind == WEFT_UIO_WRITE)
				memcpy(g.want + (u.addr - BASE), data, u.len);
		}
		assert_memory_equal(g.mem, g.want, BYTES);
		assert_int_equal(g.memory.count[WEFT_UIO_MEMORY_N_CA], ends[WEFT_UIO_CA]);
		assert_int_equal(g.memory.count[WEFT_UIO_MEMORY_N_UR], ends[WEFT_UIO_UR]);
		assert_int_equal(g.log.failed[WEFT_GFAM_T_GROUP] + g.log.failed[WEFT_GFAM_T_SAT],
			ends[WEFT_UIO_CA]);
		free(g.tables);
	}
}

WEFT_TEST(who_is_not_named_is_refused)
{
	static struct rig g;
	const struct weft_uio u = { .kind = WEFT_UIO_READ, .len = 64, .addr = BASE };
	struct weft_io_tlp req, cpl[WEFT_UIO_CPLS_MAX];
	struct weft_uio c;
	unsigned int n;

	rig_make(&g, 256, true);
	weft_uio_encode(&req, &u);
	assert_int_equal(weft_uio_serve(&g.memory, &req, cpl, &n), WEFT_OK);
	assert_int_equal(weft_uio_decode(&cpl[0], &c), 0);
	assert_int_equal(c.status, WEFT_UIO_UR);
	assert_int_equal(g.memory.count[WEFT_UIO_MEMORY_N_NOBODY], 1);
	/* An answer is no question. */
	assert_int_equal(weft_uio_serve(&g.memory, &cpl[0], cpl + 1, &n), WEFT_DROP_WRONG_CLASS);
	assert_int_equal(n, 0);
	req.tlp[7] = 0x0F;
	assert_int_equal(weft_uio_serve(&g.memory, &req, cpl, &n), WEFT_DROP_BAD_OPCODE);
	free(g.tables);
}

/* By two decoders that meet, by a way that is another's, and over the end: Completer Abort. */
WEFT_TEST(what_crosses_a_limit_is_aborted)
{
	static struct rig g;
	const struct weft_gfam_decoder d[2] = {
		{ .hpa_base = BASE, .dpa_len = BLOCK, .valid = true, .intlv = 1 },
		{ .hpa_base = BASE + 2 * BLOCK, .dpa_base = 0, .dpa_len = BLOCK, .valid = false },
	};
	static const struct {
		uint16_t off, len;
		uint8_t want;
	} rows[] = { { 0, 256, WEFT_UIO_SC }, { 192, 64, WEFT_UIO_SC }, { 192, 128, WEFT_UIO_CA },
		{ 256, 256, WEFT_UIO_UR }, { 448, 128, WEFT_UIO_CA }, { 512, 4, WEFT_UIO_SC } };

	rig_make(&g, 256, false);
	assert_int_equal(weft_gfam_set_gdt(g.tables, WEFT_GFAM_SELF, 0, 0, d, 2), 0);
	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(rows); i++) {
		const struct weft_uio u = {
			.kind = WEFT_UIO_READ, .len = rows[i].len, .addr = BASE + rows[i].off
		};
		struct weft_io_tlp req, cpl[WEFT_UIO_CPLS_MAX];
		struct weft_uio c;
		unsigned int n;

		weft_uio_encode(&req, &u);
		assert_int_equal(weft_uio_serve(&g.memory, &req, cpl, &n), WEFT_OK);
		assert_int_equal(weft_uio_decode(&cpl[0], &c), 0);
		assert_int_equal(c.status, rows[i].want);
	}
	free(g.tables);
}

WEFT_TEST(poison_stays_until_a_whole_line_is_written)
{
	static uint8_t mem[256], data[256];
	uint64_t poison[1] = { 0 };
	const struct weft_uio_memory_cfg cfg = {
		.mem = mem, .len = 256, .hpa_base = 4096, .poison = poison, .split = 64
	};
	struct weft_uio_memory m;
	struct weft_uio u = { .kind = WEFT_UIO_WRITE, .len = 8, .addr = 4096 + 60, .data = data };
	struct weft_io_tlp req, cpl[WEFT_UIO_CPLS_MAX];
	struct weft_uio c;
	unsigned int n;

	assert_int_equal(weft_uio_memory_init(&m, &cfg), 0);
	u.poison = true;
	weft_uio_encode(&req, &u);
	weft_uio_serve(&m, &req, cpl, &n);
	assert_int_equal(poison[0], 3);
	u.poison = false;
	u.len = 128;
	weft_uio_encode(&req, &u);
	weft_uio_serve(&m, &req, cpl, &n);
	assert_int_equal(poison[0], 1);
	u = (struct weft_uio){ .kind = WEFT_UIO_READ, .len = 64, .addr = 4096 + 60 };
	weft_uio_encode(&req, &u);
	weft_uio_serve(&m, &req, cpl, &n);
	assert_int_equal(n, 2);
	for (unsigned int i = 0; i < n; i++) {
		assert_int_equal(weft_uio_decode(&cpl[i], &c), 0);
		assert_true(c.poison);
	}
	u.addr = 4096 + 224;
	weft_uio_encode(&req, &u);
	weft_uio_serve(&m, &req, cpl, &n);
	assert_int_equal(weft_uio_decode(&cpl[0], &c), 0);
	assert_int_equal(c.status, WEFT_UIO_CA);
}
