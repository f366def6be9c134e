/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The daemon's side of a client's block, by a script: the client submits and takes as it should, or
 * writes anything anywhere. The server changes nothing of the block but what is its own, and what
 * it takes is what stands there and is an operation. A breach is one, and the last that happens. As
 * long as the client keeps to the rules there is none, and each submission has its completion.
 *
 *   byte 0      entries and pages of data
 *   bytes 1..8  where the positions of the rings begin
 *   then        steps: what, and what it needs (run_step())
 */

#include "weft_fuzz.h"

#include "weft_attach_server.h"

#define ENTRIES_MAX 32

struct script {
	struct fuzz_in in;
	struct weft_attach_server server;
	struct weft_attach_layout layout;
	uint8_t *block, *want; /* the block, and what must be in it */
	uint32_t entries;
	uint64_t data_len;
	bool is_honest; /* all that rings are made of is as a client has them */
	uint8_t breach;
	uint32_t sq_at, cq_at; /* positions at the beginning; the counts are from there on */
	uint32_t submitted, taken, completed, told, seen;
	uint64_t open[ENTRIES_MAX]; /* user words */
	struct weft_attach_cqe done[ENTRIES_MAX]; /* at its number modulo entries */
};

/* --- the block --- */

/* The client writes. */
static void
block_write(struct script *x, uint64_t off, const void *data, size_t len)
{
	memcpy(x->block + off, data, len);
	memcpy(x->want + off, data, len);
}

static struct weft_attach_head *
head_of(uint8_t *block)
{
	return (struct weft_attach_head *)(void *)block;
}

static void
check_block(const struct script *x)
{
	FUZZ_CHECK(memcmp(x->block, x->want, x->layout.len) == 0);
}

/* What has to be true of a submission, from the text of weft_attach.h. */
static uint8_t
judge(const struct script *x, const uint8_t *e)
{
	static const uint8_t zeros[] = { 1, 2, 3, 28, 29, 30, 31 };
	const uint32_t len = weft_get_le32(e + 24);
	bool is_one = e[0] >= WEFT_ATTACH_OP_READ && e[0] <= WEFT_ATTACH_OP_MOVE;

	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(zeros); i++)
		is_one = is_one && e[zeros[i]] == 0;
	for (unsigned int i = 40; i < 64; i++)
		is_one = is_one && e[i] == 0;
	if (e[0] == WEFT_ATTACH_OP_FENCE)
		is_one = is_one && len == 0 && weft_get_le32(e + 4) == 0;
	else if (e[0] == WEFT_ATTACH_OP_MOVE)
		is_one = is_one && len == 0;
	else
		is_one = is_one && len != 0;
	if (!is_one)
		return WEFT_ATTACH_BAD_OP;
	if ((unsigned __int128)weft_get_le64(e + 16) + len > x->data_len &&
		e[0] != WEFT_ATTACH_OP_FENCE && e[0] != WEFT_ATTACH_OP_MOVE)
		return WEFT_ATTACH_BAD_DATA;
	return WEFT_ATTACH_KEEPS;
}

/* --- the client --- */

/* Some bytes of it are others: @p n_changed. */
static void
submit(struct script *x, unsigned int n_changed)
{
	const uint8_t how = fuzz_u8(&x->in);
	const uint32_t tail = head_of(x->want)->sq_tail;
	struct weft_attach_sqe e = {
		.op = (uint8_t)(1 + how % 6),
		.offset = how,
		.user = x->submitted,
	};

	if (x->is_honest && x->submitted - x->seen == x->entries)
		return;
	if (e.op == WEFT_ATTACH_OP_MOVE)
		e.handle = how;
	else if (e.op != WEFT_ATTACH_OP_FENCE) {
		e.handle = how;
		e.len = (how & 0x40) != 0 ? (uint32_t)x->data_len : 1u + how;
		e.data = (how & 0x80) != 0 ? x->data_len - e.len : 0;
	}
	if (n_changed != 0) {
		const uint8_t at = fuzz_u8(&x->in) & 63, v = fuzz_u8(&x->in);

		for (unsigned int i = at; i < at + n_changed && i < sizeof(e); i++)
			((uint8_t *)&e)[i] = v;
		x->is_honest = x->is_honest && judge(x, (uint8_t *)&e) == WEFT_ATTACH_KEEPS &&
		               e.user == x->submitted;
	}
	x->submitted++;
	block_write(x, x->layout.sq_off + (tail & (x->entries - 1)) * sizeof(e), &e, sizeof(e));
	block_write(x, offsetof(struct weft_attach_head, sq_tail), &(uint32_t){ tail + 1 },
		sizeof(tail));
}

static void
take_completion(struct script *x)
{
	const uint32_t head = head_of(x->want)->cq_head;

	if (head == head_of(x->want)->cq_tail)
		return;
	if (x->is_honest) {
		const uint64_t slot =
			x->layout.cq_off + (head & (x->entries - 1)) * sizeof(x->done[0]);

		FUZZ_CHECK(x->seen < x->told);
		FUZZ_CHECK(memcmp(x->block + slot, &x->done[x->seen % x->entries],
				   sizeof(x->done[0])) == 0);
		x->seen++;
	}
	block_write(x, offsetof(struct weft_attach_head, cq_head), &(uint32_t){ head + 1 },
		sizeof(head));
}

/* One word of the head: near a position of the server, or anything. */
static void
scribble_head(struct script *x, uint8_t how)
{
	static const uint16_t words[] = { offsetof(struct weft_attach_head, sq_tail),
		offsetof(struct weft_attach_head, cq_head),
		offsetof(struct weft_attach_head, cq_tail),
		offsetof(struct weft_attach_head, client_sleeps),
		offsetof(struct weft_attach_head, daemon_sleeps),
		offsetof(struct weft_attach_head, is_over),
		offsetof(struct weft_attach_head, entries),
		offsetof(struct weft_attach_head, data_off) };
	const unsigned int k = how % WEFT_ARRAY_SIZE(words);
	const uint32_t near = k == 0 ? x->sq_at + x->taken : x->cq_at + x->completed;
	uint64_t v = (how & 8) != 0 ? fuzz_u64(&x->in) : near + (uint64_t)(int8_t)fuzz_u8(&x->in);

	x->is_honest = x->is_honest && k > 2;
	block_write(x, words[k], &v, k == 7 ? 8 : 4);
}

static void
scribble(struct script *x, uint8_t n)
{
	const uint8_t page = fuzz_u8(&x->in);
	const uint64_t at = ((uint64_t)page << 8 | fuzz_u8(&x->in)) % x->layout.len;
	const uint64_t cq_end = x->layout.cq_off + x->entries * sizeof(struct weft_attach_cqe);
	const uint64_t sleeps = offsetof(struct weft_attach_head, client_sleeps);
	uint8_t bytes[32];
	uint64_t end;

	fuzz_take(&x->in, bytes, sizeof(bytes));
	end = at + n + 1 < x->layout.len ? at + n + 1 : x->layout.len;
	if ((end > offsetof(struct weft_attach_head, sq_tail) && at < sleeps) ||
		(end > x->layout.sq_off && at < cq_end))
		x->is_honest = false;
	block_write(x, at, bytes, end - at);
}

/* --- the server --- */

static void
check_refused(const struct script *x, const uint8_t *slot)
{
	const struct weft_attach_head *head = head_of(x->want);
	const uint32_t used = head->sq_tail - (x->sq_at + x->taken);
	const uint32_t untaken = x->cq_at + x->completed - head->cq_head;

	FUZZ_CHECK(!x->is_honest && used != 0);
	switch (x->server.breach) {
	case WEFT_ATTACH_BAD_TAIL: FUZZ_CHECK(used > x->entries); break;
	case WEFT_ATTACH_BAD_HEAD: FUZZ_CHECK(untaken > x->entries); break;
	case WEFT_ATTACH_BAD_OP:
	case WEFT_ATTACH_BAD_DATA: FUZZ_CHECK(judge(x, slot) == x->server.breach); break;
	default: FUZZ_CHECK(false);
	}
	FUZZ_CHECK(x->server.breach == WEFT_ATTACH_BAD_TAIL || used <= x->entries);
}

static void
next(struct script *x)
{
	const struct weft_attach_head *head = head_of(x->want);
	const uint32_t used = head->sq_tail - (x->sq_at + x->taken);
	const uint32_t untaken = x->cq_at + x->completed - head->cq_head;
	const uint8_t *slot =
		x->want + x->layout.sq_off + ((x->sq_at + x->taken) & (x->entries - 1)) * 64;
	struct weft_attach_sqe e;
	int rc;

	FUZZ_CHECK(weft_attach_server_has_more(&x->server) == (used != 0));
	rc = weft_attach_server_next(&x->server, &e);
	if (x->breach != WEFT_ATTACH_KEEPS) {
		FUZZ_CHECK(rc == -EPROTO && x->server.breach == x->breach);
	} else if (rc == 0) {
		FUZZ_CHECK(used != 0 && used <= x->entries);
		FUZZ_CHECK(memcmp(&e, slot, sizeof(e)) == 0);
		FUZZ_CHECK(judge(x, (const uint8_t *)&e) == WEFT_ATTACH_KEEPS);
		FUZZ_CHECK(!x->is_honest || e.user == x->taken);
		x->open[x->taken++ - x->completed] = e.user;
		FUZZ_CHECK(x->taken - x->completed <= x->entries);
	} else if (rc == -EAGAIN) {
		FUZZ_CHECK(used == 0 ||
			   (!x->is_honest && used <= x->entries && untaken <= x->entries &&
				   x->taken - x->completed + untaken >= x->entries));
	} else {
		FUZZ_CHECK(rc == -EPROTO);
		check_refused(x, slot);
		x->breach = x->server.breach;
	}
	FUZZ_CHECK(x->server.breach == x->breach);
	FUZZ_CHECK(x->server.n_open == x->taken - x->completed);
}

static void
complete(struct script *x, uint8_t which)
{
	const uint32_t n = x->taken - x->completed;
	const uint64_t slot = (x->cq_at + x->completed) & (x->entries - 1);
	struct weft_attach_cqe c = { .bad = x->completed, .status = -(int32_t)which };

	if (n == 0)
		return;
	c.user = x->open[which % n];
	x->open[which % n] = x->open[n - 1];
	weft_attach_server_complete(&x->server, &c);
	memcpy(x->want + x->layout.cq_off + slot * sizeof(c), &c, sizeof(c));
	x->done[x->completed++ % x->entries] = c;
}

static void
tell(struct script *x)
{
	struct weft_attach_head *head = head_of(x->want);
	const bool is_new = x->told != x->completed;
	const bool wakes = is_new && head->client_sleeps != 0;

	FUZZ_CHECK(weft_attach_server_tell(&x->server) == wakes);
	if (is_new)
		head->cq_tail = x->cq_at + x->completed;
	if (wakes)
		head->client_sleeps = 0;
	x->told = x->completed;
}

/* --- the script --- */

static void
run_step(struct script *x)
{
	const uint8_t what = fuzz_u8(&x->in), n = what >> 3;

	switch (what & 7) {
	case 0:
		for (unsigned int i = 0; i <= n; i++)
			submit(x, 0);
		break;
	case 1: submit(x, n + 1u); break;
	case 2: scribble_head(x, n); break;
	case 3: scribble(x, n); break;
	case 4:
		for (unsigned int i = 0; i <= n; i++)
			next(x);
		break;
	case 5:
		for (unsigned int i = 0; i <= n; i++)
			complete(x, n);
		break;
	case 6: tell(x); break;
	default:
		for (unsigned int i = 0; i <= n; i++)
			take_completion(x);
		break;
	}
	check_block(x);
}

/* All that was taken ends, whatever the client did. */
static void
run_end(struct script *x)
{
	while (x->taken != x->completed)
		complete(x, 0);
	tell(x);
	check_block(x);
	while (x->is_honest && x->seen != x->taken)
		take_completion(x);
	/* There is nothing more to tell, but who sleeps is to see the end. */
	FUZZ_CHECK(weft_attach_server_end(&x->server) == (head_of(x->want)->client_sleeps != 0));
	head_of(x->want)->client_sleeps = 0;
	head_of(x->want)->is_over = 1;
	check_block(x);
	FUZZ_CHECK(x->server.n_open == 0 && x->server.breach == x->breach);
	FUZZ_CHECK(x->server.entries == x->entries && x->server.data_len == x->data_len);
	FUZZ_CHECK(weft_attach_breach_name((enum weft_attach_breach)x->breach)[0] != '\0');
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct script x = { .in = { data, len }, .is_honest = true };
	const uint8_t sizes = fuzz_u8(&x.in);
	const uint64_t starts = fuzz_u64(&x.in);
	struct weft_attach_head *head;

	x.entries = (sizes & 1) != 0 ? 32 : 16;
	x.data_len = ((sizes >> 1 & 1) + UINT64_C(1)) * WEFT_ATTACH_PAGE;
	FUZZ_CHECK(weft_attach_layout(x.entries, x.data_len, &x.layout) == 0);
	x.block = aligned_alloc(WEFT_ATTACH_PAGE, x.layout.len);
	FUZZ_CHECK(x.block != NULL);
	memset(x.block, 0, x.layout.len);
	FUZZ_CHECK(weft_attach_server_init(&x.server, x.block, x.entries, x.data_len) == 0);
	x.sq_at = (uint32_t)starts;
	x.cq_at = (uint32_t)(starts >> 32);
	head = head_of(x.block);
	x.server.sq_head = head->sq_tail = x.sq_at;
	x.server.cq_tail = x.server.cq_told = x.server.cq_head = x.cq_at;
	head->cq_tail = head->cq_head = x.cq_at;
	x.want = aligned_alloc(WEFT_ATTACH_PAGE, x.layout.len);
	FUZZ_CHECK(x.want != NULL);
	memcpy(x.want, x.block, x.layout.len);
	while (x.in.n != 0)
		run_step(&x);
	run_end(&x);
	free(x.block);
	free(x.want);
	return 0;
}
