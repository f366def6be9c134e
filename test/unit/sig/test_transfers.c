/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Signed transfers between a host and two GFDs over a channel that gives answers in any order, and
 * if told to loses some. What lies in a GFD, and what is reported, is compared with the definition
 * of signatures (sig_model.h).
 */

#include "../sig/sig_model.h"

#include <errno.h>
#include <string.h>

#include "weft_gfd.h"
#include "weft_xfer.h"

#define MEM (256u << 10)
#define BASE (UINT64_C(1) << 40)
#define SEGMENT (UINT64_C(1) << 36)
#define PID 0x200
#define ROOM (128u << 10)
#define FLYING 512
#define TIMEOUT 1000

static struct {
	struct weft_rand rand;
	uint64_t now;
	struct weft_requester *host;
	struct weft_gfd gfd[2];
	uint8_t mem[2][MEM];
	uint64_t poison[2][MEM / 4096];
	unsigned int n_flying;
	struct weft_msg flying[FLYING]; /* requests; they are executed and answered in one go */
	unsigned int lose; /* in 1000 */
	uint64_t reads, writes, partial;
} lab;

static uint8_t host_bytes[ROOM], want_bytes[ROOM], old_bytes[MEM];

static void
lab_new(struct weft_rand *r)
{
	const struct weft_requester_cfg cfg = { .timeout_ns = TIMEOUT, .tags = 128, .id = 0x101 };
	const size_t size = weft_requester_size(&cfg);

	memset(&lab, 0, sizeof(lab));
	lab.rand = *r;
	lab.host = weft_requester_init(aligned_alloc(64, size), &cfg);
	assert_non_null(lab.host);
	for (unsigned int g = 0; g < 2; g++) {
		const uint16_t pid = (uint16_t)(PID + g);

		weft_rand_fill(r, lab.mem[g], MEM);
		assert_int_equal(weft_gfd_init(&lab.gfd[g], pid, BASE + g * SEGMENT, lab.mem[g],
					 MEM, lab.poison[g]),
			0);
		weft_requester_grant(lab.host, pid, 50, 40);
	}
}

static void
lab_end(void)
{
	free(lab.host);
}

static void
lost(void *arg, const struct weft_completion *c)
{
	weft_xfer_complete(arg, c, lab.now);
}

/* One request, whichever, meets its GFD. */
static void
answer(struct weft_xfer_run *run)
{
	const unsigned int i = (unsigned int)weft_rand_below(&lab.rand, lab.n_flying);
	const struct weft_msg m = lab.flying[i];
	struct weft_completion c;
	struct weft_msg reply;

	lab.flying[i] = lab.flying[--lab.n_flying];
	assert_int_equal(weft_gfd_request(&lab.gfd[m.dpid - PID], &m, &reply), WEFT_OK);
	if (weft_rand_below(&lab.rand, 1000) < lab.lose)
		return;
	assert_int_equal(weft_mem_response(lab.host, &reply, lab.now, &c), WEFT_OK);
	weft_xfer_complete(run, &c, lab.now);
	/* The same answer once more is none. */
	assert_int_equal(weft_mem_response(lab.host, &reply, lab.now, &c), WEFT_DROP_NO_TAG);
}

static void
play(struct weft_xfer *x, unsigned int n, uint32_t window)
{
	void *mem = aligned_alloc(64, weft_xfer_run_size(window));
	struct weft_xfer_run *run = weft_xfer_run_init(mem, lab.host, window, x, n);
	struct weft_msg m;

	assert_non_null(run);
	for (uint64_t steps = 0;; steps++) {
		const int rc = weft_rand_below(&lab.rand, 3) == 0
		                       ? -EAGAIN
		                       : weft_xfer_next(run, ++lab.now, &m);

		assert_true(steps < 1000000);
		if (rc == -ESHUTDOWN)
			break;
		if (rc == 0) {
			assert_true(lab.n_flying < FLYING && lab.n_flying < window);
			lab.flying[lab.n_flying++] = m;
			lab.reads += m.kind == WEFT_MSG_M2S_REQ;
			lab.writes += m.kind == WEFT_MSG_M2S_RWD;
			lab.partial += m.op == WEFT_M2S_RWD_MEMWRPTL && m.trp;
		} else if (lab.n_flying != 0) {
			answer(run);
		} else {
			lab.now += TIMEOUT;
			weft_requester_expire(lab.host, lab.now, lost, run, 1000);
		}
	}
	assert_int_equal(lab.n_flying, 0);
	assert_int_equal(weft_requester_outstanding(lab.host), 0);
	free(mem);
}

enum { NO_SIG, CRC32C, CRC64, DIF, DIX, DIF_TAG, FORMS };

static struct side
side_of(unsigned int form, uint32_t block)
{
	struct side s = { .present = form != NO_SIG, .is_dif = form >= DIF, .block = block };

	if (form == NO_SIG)
		return (struct side){ 0 };
	s.crc = form == CRC64 ? WEFT_SIG_CRC64_XP10 : WEFT_SIG_CRC32C;
	s.seed = form == CRC64 ? UINT64_MAX : UINT32_MAX;
	s.dif = (struct weft_sig_t10dif){ .bg_type =
						  form == DIX ? WEFT_SIG_BG_CSUM : WEFT_SIG_BG_CRC,
		.bg = form == DIX ? 0 : 0xFFFF,
		.app_tag = 0xABCD,
		.ref_tag = 0xFFFFFFFD, /* wraps */
		.flags = WEFT_SIG_REF_REMAP };
	if (form == DIF_TAG)
		s.dif.app_tag = 0x1234;
	return s;
}

struct plan {
	struct side mem, wire;
	uint64_t block0, data_len, offset;
	uint32_t window;
};

/* The configurations that a fabric is for first, then any pair. */
static struct plan
plan_draw(struct weft_rand *r, unsigned int i)
{
	static const struct {
		uint8_t mem, wire;
		uint16_t mem_block, wire_block;
	} named[] = { { NO_SIG, CRC32C, 512, 512 }, { DIF, DIF, 512, 512 }, { DIX, DIF, 512, 512 },
		{ DIF, CRC64, 512, 4096 }, { NO_SIG, DIF, 512, 4096 }, { NO_SIG, NO_SIG, 512, 512 },
		{ DIF, NO_SIG, 4096, 512 }, { CRC32C, DIF_TAG, 4096, 512 } };
	static const uint16_t blocks[] = { 512, 520, 4096, 4160 };
	struct plan p = { .window = 1u << weft_rand_below(r, 8) };
	uint32_t m, w, step;

	if (i < WEFT_ARRAY_SIZE(named)) {
		p.mem = side_of(named[i].mem, named[i].mem_block);
		p.wire = side_of(named[i].wire, named[i].wire_block);
	} else {
		m = blocks[weft_rand_below(r, 4)];
		w = weft_rand_below(r, 2) == 0 ? m : m % 520 == 0 ? 4160 : 512;
		p.mem = side_of((unsigned int)weft_rand_below(r, FORMS), m);
		p.wire = side_of((unsigned int)weft_rand_below(r, FORMS), w);
	}
	m = p.mem.present ? p.mem.block : 1;
	w = p.wire.present ? p.wire.block : 1;
	step = m % w == 0 ? m : w % m == 0 ? w : m * w;
	p.data_len = step == 1 ? 1 + weft_rand_below(r, 5000)
	                       : step * (1 + weft_rand_below(r, step > 4096 ? 4 : 9));
	if (p.data_len > ROOM / 2)
		p.data_len = step;
	if (p.mem.present || p.wire.present)
		p.block0 = weft_rand_below(r, 3) *
		           step; /* of one byte or more: whole blocks of both */
	p.offset = weft_rand_below(r, 40000);
	return p;
}

static struct weft_xfer_cfg
cfg_of(const struct plan *p, enum weft_xfer_kind kind, struct given *gm, struct given *gw)
{
	return (struct weft_xfer_cfg){ .kind = kind,
		.sig = { .mem = side_give(&p->mem, gm),
			.wire = side_give(&p->wire, gw),
			.check_mask = 0xFF },
		.block0 = p->block0,
		.data_len = p->data_len,
		.from = { BASE + p->offset, PID },
		.to = { BASE + p->offset, PID },
		.mem = host_bytes };
}

/* Data in memory as it should be for a good transfer. @return bytes */
static size_t
mem_draw(struct weft_rand *r, const struct plan *p, uint8_t *to)
{
	const struct model_in m = { .out = p->mem, .block0 = p->block0 };
	static uint8_t data[ROOM];
	struct model_out o = { .bytes = to };

	weft_rand_fill(r, data, p->data_len);
	model_run(&m, data, p->data_len, &o);
	return o.len;
}

static void
wire_want(const struct plan *p, const uint8_t *mem, size_t len, struct model_out *o)
{
	const struct model_in m = { .in = p->mem,
		.out = p->wire,
		.check = 0xFF,
		.copy = model_copy_mask(&p->mem, &p->wire),
		.block0 = p->block0 };

	model_run(&m, mem, len, o);
}

WEFT_TEST(written_lies_there_and_reads_back)
{
	static uint8_t given_bytes[ROOM];
	struct weft_rand r;

	weft_test_seed(&r, "there and back");
	for (unsigned int i = 0; i < 400; i++) {
		const struct plan p = plan_draw(&r, i);
		struct model_out want = { .bytes = want_bytes };
		struct given gm, gw;
		struct weft_xfer_cfg cfg;
		struct weft_xfer x;
		size_t len;

		lab_new(&r);
		len = mem_draw(&r, &p, given_bytes);
		memcpy(host_bytes, given_bytes, len);
		wire_want(&p, given_bytes, len, &want);
		memcpy(old_bytes, lab.mem[0], MEM);
		memcpy(old_bytes + p.offset, want_bytes, want.len);
		cfg = cfg_of(&p, WEFT_XFER_WRITE, &gm, &gw);
		assert_int_equal(weft_xfer_init(&x, &cfg), 0);
		assert_string_equal(weft_xfer_outcome(&x), "unfinished");
		play(&x, 1, p.window);
		assert_string_equal(weft_xfer_outcome(&x), "ok");
		/* Signed, at its place, and not a byte beside it. */
		assert_memory_equal(lab.mem[0], old_bytes, MEM);
		assert_int_equal(lab.writes, (p.offset % 64 + want.len + 63) / 64);
		assert_true(lab.partial <= 2);

		memset(host_bytes, 0xA5, sizeof(host_bytes));
		cfg.kind = WEFT_XFER_READ;
		cfg.want = given_bytes;
		if (p.mem.present && p.wire.present)
			cfg.block0 = p.block0 * p.mem.block / p.wire.block;
		assert_int_equal(weft_xfer_init(&x, &cfg), 0);
		play(&x, 1, p.window);
		assert_string_equal(weft_xfer_outcome(&x), "ok");
		assert_memory_equal(host_bytes, given_bytes, len);
		assert_int_equal(host_bytes[len], 0xA5);
		assert_int_equal(lab.reads, lab.writes);
		assert_int_equal(x.key.counters.bytes,
			p.wire.present || p.mem.present ? p.data_len : want.len);
		lab_end();
	}
}

WEFT_TEST(each_wrong_byte_is_found_where_it_is)
{
	struct weft_rand r;

	weft_test_seed(&r, "wrong bytes");
	for (unsigned int i = 0; i < 400; i++) {
		struct plan p = plan_draw(&r, i);
		struct model_out want = { .bytes = want_bytes }, seen = { .bytes = host_bytes };
		struct model_in back;
		struct given gm, gw;
		struct weft_xfer_cfg cfg;
		struct weft_xfer x;
		size_t len;

		if (!p.wire.present)
			continue;
		lab_new(&r);
		if (p.mem.present)
			p.block0 = 0;
		len = mem_draw(&r, &p, host_bytes);
		wire_want(&p, host_bytes, len, &want);
		for (unsigned int k = 0; k < 1 + i % 3; k++)
			want_bytes[weft_rand_below(&r, want.len)] ^=
				(uint8_t)(1 + weft_rand_below(&r, 255));
		memcpy(lab.mem[0] + p.offset, want_bytes, want.len);
		back = (struct model_in){ .in = p.wire,
			.out = p.mem,
			.check = 0xFF,
			.copy = model_copy_mask(&p.wire, &p.mem),
			.block0 = p.block0 };
		model_run(&back, want_bytes, want.len, &seen);
		memcpy(old_bytes, host_bytes, seen.len);
		cfg = cfg_of(&p, WEFT_XFER_READ, &gm, &gw);
		assert_int_equal(weft_xfer_init(&x, &cfg), 0);
		play(&x, 1, p.window);
		assert_memory_equal(host_bytes, old_bytes, seen.len); /* and the data flows */
		assert_int_equal(x.error.type, seen.first.type);
		assert_int_equal(
			x.status, seen.n_errors != 0 ? WEFT_XFER_SIGNATURE_ERROR : WEFT_XFER_OK);
		if (seen.n_errors != 0) {
			assert_int_equal(x.error.block, seen.first.block);
			assert_int_equal(x.error.offset, seen.first.offset);
			assert_int_equal(x.error.computed, seen.first.computed);
			assert_int_equal(x.error.stored, seen.first.stored);
			assert_string_equal(
				weft_xfer_outcome(&x), weft_xfer_error_name(seen.first.type));
		}
		lab_end();
	}
}

/* Loss and poison have names of their own, whatever became of the bytes. */
WEFT_TEST(lost_and_poisoned_are_no_bad_guard)
{
	struct weft_rand r;
	unsigned int n_lost = 0, n_poisoned = 0;

	weft_test_seed(&r, "lost and poisoned");
	for (unsigned int i = 0; i < 300; i++) {
		const struct plan p = plan_draw(&r, i);
		struct given gm, gw;
		struct weft_xfer_cfg cfg = cfg_of(&p, WEFT_XFER_WRITE, &gm, &gw);
		struct weft_xfer x;
		bool poisons = i % 2 != 0;

		lab_new(&r);
		mem_draw(&r, &p, host_bytes);
		assert_int_equal(weft_xfer_init(&x, &cfg), 0);
		play(&x, 1, p.window);
		assert_string_equal(weft_xfer_outcome(&x), "ok");
		cfg.kind = WEFT_XFER_READ;
		if (p.mem.present && p.wire.present)
			cfg.block0 = p.block0 * p.mem.block / p.wire.block;
		assert_int_equal(weft_xfer_init(&x, &cfg), 0);
		if (poisons)
			lab.poison[0][p.offset / 4096] |= WEFT_BIT64(p.offset / 64 % 64);
		else
			lab.lose = 60;
		play(&x, 1, p.window);
		for (unsigned int e = WEFT_SIG_BAD_GUARD; e <= WEFT_SIG_BAD_APPTAG; e++)
			assert_int_equal(x.key.counters.errors[e], 0);
		assert_int_equal(x.status, poisons       ? WEFT_XFER_POISONED
					   : x.lost != 0 ? WEFT_XFER_LOST
							 : WEFT_XFER_OK);
		if (x.status != WEFT_XFER_OK)
			assert_int_equal(x.error.type, poisons ? WEFT_SIG_POISONED : WEFT_SIG_LOST);
		n_lost += x.lost != 0;
		n_poisoned += x.poisoned != 0;
		lab_end();
	}
	assert_true(n_lost > 50 && n_poisoned == 150);
}

WEFT_TEST(a_lost_write_is_reported)
{
	struct weft_rand r;
	const struct plan p = { .wire = side_of(CRC32C, 512), .data_len = 51200, .window = 64 };
	struct given gm, gw;
	const struct weft_xfer_cfg cfg = cfg_of(&p, WEFT_XFER_WRITE, &gm, &gw);
	struct weft_xfer x;

	weft_test_seed(&r, "lost writes");
	lab_new(&r);
	lab.lose = 100;
	assert_int_equal(weft_xfer_init(&x, &cfg), 0);
	play(&x, 1, p.window);
	assert_true(x.lost > 0);
	assert_string_equal(weft_xfer_outcome(&x), "lost");
	lab_end();
}

WEFT_TEST(what_does_not_exist_is_lost)
{
	struct weft_rand r;
	const struct plan p = {
		.wire = side_of(CRC32C, 512), .data_len = 1024, .offset = MEM - 516, .window = 8
	};
	struct given gm, gw;
	const struct weft_xfer_cfg cfg = cfg_of(&p, WEFT_XFER_READ, &gm, &gw);
	struct weft_xfer x;

	weft_test_seed(&r, "beyond the memory");
	lab_new(&r);
	assert_int_equal(weft_xfer_init(&x, &cfg), 0);
	play(&x, 1, p.window);
	assert_string_equal(weft_xfer_outcome(&x), "lost");
	assert_int_equal(x.lost, 9); /* 8 lines and the begin of one more */
	lab_end();
}

/* Sixteen pages; two change places in the GFD; then they move to another one. */
WEFT_TEST(a_swapped_page_does_not_move)
{
	static const uint8_t swapped[2] = { 3, 9 };
	const uint64_t unit = 4104;
	struct plan p = { .wire = side_of(DIF, 4096), .data_len = 16 * 4096, .window = 64 };
	struct weft_xfer x[6];
	struct weft_rand r;

	weft_test_seed(&r, "swapped pages");
	p.wire.dif.ref_tag = 0;
	for (unsigned int swap = 0; swap < 2; swap++) {
		struct plan raw = { .data_len = unit, .window = 64 };
		struct given g[2];
		struct weft_xfer_cfg cfg;
		unsigned int n = 0;

		lab_new(&r);
		weft_rand_fill(&r, host_bytes, p.data_len);
		memcpy(old_bytes, lab.mem[1], MEM);
		cfg = cfg_of(&p, WEFT_XFER_WRITE, &g[0], &g[1]);
		assert_int_equal(weft_xfer_init(&x[n++], &cfg), 0);
		for (unsigned int k = 0; swap != 0 && k < 3; k++) {
			const uint64_t spare = 200000;
			const uint64_t from[] = { swapped[0] * unit, swapped[1] * unit, spare };
			const uint64_t to[] = { spare, swapped[0] * unit, swapped[1] * unit };
			static uint8_t page[4104];

			cfg = cfg_of(&raw, WEFT_XFER_COPY, &g[0], &g[1]);
			cfg.from.hpa = BASE + from[k];
			cfg.to.hpa = BASE + to[k];
			cfg.mem = page;
			assert_int_equal(weft_xfer_init(&x[n++], &cfg), 0);
		}
		cfg = cfg_of(&p, WEFT_XFER_COPY, &g[0], &g[1]);
		cfg.to = (struct weft_xfer_place){ BASE + SEGMENT + 77, PID + 1 };
		assert_int_equal(weft_xfer_init(&x[n++], &cfg), 0);
		play(x, n, p.window);
		for (unsigned int k = 0; k < n - 1; k++)
			assert_string_equal(weft_xfer_outcome(&x[k]), "ok");
		if (swap == 0) {
			assert_string_equal(weft_xfer_outcome(&x[n - 1]), "ok");
			memcpy(old_bytes + 77, lab.mem[0], 16 * unit);
		} else {
			assert_string_equal(weft_xfer_outcome(&x[n - 1]), "bad_reftag");
			assert_int_equal(x[n - 1].error.block, swapped[0]);
			assert_int_equal(x[n - 1].error.offset, swapped[0] * unit);
			assert_int_equal(x[n - 1].error.computed, swapped[0]);
			assert_int_equal(x[n - 1].error.stored, swapped[1]);
			assert_int_equal(x[n - 1].key.counters.errors[WEFT_SIG_BAD_REFTAG], 2);
		}
		/* All of them or nothing. */
		assert_memory_equal(lab.mem[1], old_bytes, MEM);
		lab_end();
	}
}

/* Taken apart and put together again, every unit has the number it had. */
WEFT_TEST(a_copy_is_what_was_copied)
{
	struct weft_rand r;

	weft_test_seed(&r, "copies");
	for (unsigned int i = 0; i < 300; i++) {
		struct plan p = plan_draw(&r, i);
		struct model_out want = { .bytes = want_bytes };
		const uint64_t to = weft_rand_below(&r, 40000);
		struct given gm, gw;
		struct weft_xfer_cfg cfg;
		struct weft_xfer x;
		size_t len;

		lab_new(&r);
		len = mem_draw(&r, &p, host_bytes);
		wire_want(&p, host_bytes, len, &want);
		memcpy(lab.mem[0] + p.offset, want_bytes, want.len);
		memcpy(old_bytes, lab.mem[1], MEM);
		memcpy(old_bytes + to, want_bytes, want.len);
		cfg = cfg_of(&p, WEFT_XFER_COPY, &gm, &gw);
		cfg.to = (struct weft_xfer_place){ BASE + SEGMENT + to, PID + 1 };
		if (p.mem.present && p.wire.present)
			cfg.block0 = p.block0 * p.mem.block / p.wire.block;
		assert_int_equal(weft_xfer_init(&x, &cfg), 0);
		play(&x, 1, p.window);
		assert_string_equal(weft_xfer_outcome(&x), "ok");
		assert_memory_equal(lab.mem[1], old_bytes, MEM);
		lab_end();
	}
}

WEFT_TEST(wrong_data_with_right_signatures_is_a_mismatch)
{
	struct weft_rand r;
	const struct plan p = { .wire = side_of(CRC64, 4096), .data_len = 8192, .window = 8 };
	struct given gm, gw;
	struct weft_xfer_cfg cfg = cfg_of(&p, WEFT_XFER_WRITE, &gm, &gw);
	struct weft_xfer x;

	weft_test_seed(&r, "mismatch");
	lab_new(&r);
	weft_rand_fill(&r, host_bytes, p.data_len);
	memcpy(want_bytes, host_bytes, p.data_len);
	want_bytes[300] ^= 1;
	want_bytes[5000] ^= 1; /* the first counts */
	assert_int_equal(weft_xfer_init(&x, &cfg), 0);
	play(&x, 1, p.window);
	cfg.kind = WEFT_XFER_READ;
	cfg.want = want_bytes;
	assert_int_equal(weft_xfer_init(&x, &cfg), 0);
	play(&x, 1, p.window);
	assert_string_equal(weft_xfer_outcome(&x), "mismatch");
	assert_int_equal(x.differs_at, 300);
	lab_end();
}

WEFT_TEST(bad_arguments_are_refused)
{
	const struct plan p = {
		.mem = side_of(DIF, 512), .wire = side_of(CRC64, 4096), .data_len = 8192
	};
	struct given gm, gw;
	const struct weft_xfer_cfg good = cfg_of(&p, WEFT_XFER_WRITE, &gm, &gw);
	struct weft_sig_domain bad = *good.sig.mem;
	struct weft_xfer_cfg cfg = good;
	struct weft_xfer x;

	assert_int_equal(weft_xfer_init(&x, &cfg), 0);
	cfg.data_len = 8192 + 512;
	assert_int_equal(weft_xfer_init(&x, &cfg), -EINVAL);
	cfg.data_len = 0;
	assert_int_equal(weft_xfer_init(&x, &cfg), -EINVAL);
	cfg = good;
	cfg.block0 = 4; /* half of a block of 4096 */
	assert_int_equal(weft_xfer_init(&x, &cfg), -EINVAL);
	cfg.kind = WEFT_XFER_READ;
	assert_int_equal(weft_xfer_init(&x, &cfg), 0);
	cfg = good;
	cfg.sig.flags = WEFT_SIG_COPY_MASK;
	assert_int_equal(weft_xfer_init(&x, &cfg), -EINVAL);
	cfg.sig.mem = cfg.sig.wire = NULL;
	assert_int_equal(weft_xfer_init(&x, &cfg), -EINVAL);
	cfg = good;
	cfg.sig.mem = &bad;
	bad.block_size = 0;
	assert_int_equal(weft_xfer_init(&x, &cfg), -EINVAL);
	bad.block_size = 512;
	assert_int_equal(weft_xfer_init(&x, &cfg), 0);
	bad.sig_type = WEFT_SIG_CRC;
	bad.sig.crc = NULL;
	assert_int_equal(weft_xfer_init(&x, &cfg), -EINVAL);
	cfg = good;
	/* With signatures 2^64 and a little. */
	cfg.data_len = (UINT64_MAX / (4096 + 8) + 1) * 4096;
	assert_int_equal(weft_xfer_init(&x, &cfg), -EINVAL);
	cfg = good;
	cfg.to.hpa = (UINT64_C(1) << 52) - 64;
	assert_int_equal(weft_xfer_init(&x, &cfg), -EINVAL);
	cfg = good;
	cfg.to.dpid = 0xFFF;
	assert_int_equal(weft_xfer_init(&x, &cfg), -EINVAL);
	assert_int_equal(weft_xfer_run_size(0), 0);
	assert_int_equal(weft_xfer_run_size(3), 0);
	assert_int_equal(weft_xfer_run_size(2 * WEFT_XFER_WINDOW_MAX), 0);
	assert_string_equal(weft_xfer_status_name(99), "unknown");
	assert_string_equal(weft_xfer_error_name(99), "unknown");
}

enum { WRITE_A, READ_A, READ_B, COPY_B, READ_C, PLAIN };

/*
 * Of 4 KiB each: to A of the first GFD, back, from B of it, from there to C of the second, from C.
 */
static void
plain_transfers(struct weft_xfer *x)
{
	static const struct weft_xfer_place a = { BASE, PID }, b = { BASE + 8192, PID },
					    c = { BASE + SEGMENT, PID + 1 };
	const struct {
		enum weft_xfer_kind kind;
		struct weft_xfer_place from, to;
	} given[PLAIN] = {
		[WRITE_A] = { WEFT_XFER_WRITE, { 0 }, a },
		[READ_A] = { WEFT_XFER_READ, a, { 0 } },
		[READ_B] = { WEFT_XFER_READ, b, { 0 } },
		[COPY_B] = { WEFT_XFER_COPY, b, c },
		[READ_C] = { WEFT_XFER_READ, c, { 0 } },
	};

	for (unsigned int i = 0; i < PLAIN; i++) {
		const struct weft_xfer_cfg cfg = { .kind = given[i].kind,
			.data_len = 4096,
			.from = given[i].from,
			.to = given[i].to,
			.mem = host_bytes + i * (size_t)4096 };

		assert_int_equal(weft_xfer_init(&x[i], &cfg), 0);
	}
}

/* A step of a run without faults. False: it has ended. */
static bool
plain_step(struct weft_xfer_run *run)
{
	struct weft_msg m;
	const int rc = weft_xfer_next(run, ++lab.now, &m);

	if (rc == 0)
		lab.flying[lab.n_flying++] = m;
	else if (rc == -EAGAIN)
		answer(run);
	return rc != -ESHUTDOWN;
}

/*
 * A GFD's memory goes while transfer @at runs, its first lines done, or (PLAIN) before any. Whoever
 * has data there, or was to read what nobody writes before, ends so; the others are as ever.
 */
WEFT_TEST(transfers_end_with_the_memory_that_had_their_data)
{
	static const struct {
		unsigned int at, gfd, lost; /* a bit for each that ends so */
	} cases[] = {
		{ PLAIN, 0, 1 << READ_B | 1 << COPY_B },
		{ WRITE_A, 0, 1 << WRITE_A | 1 << READ_A | 1 << READ_B | 1 << COPY_B },
		{ READ_A, 0, 1 << READ_A | 1 << READ_B | 1 << COPY_B },
		{ READ_B, 0, 1 << READ_B | 1 << COPY_B }, { COPY_B, 0, 1 << COPY_B },
		{ READ_C, 0, 0 }, { PLAIN, 1, 0 },
		{ COPY_B, 1, 0 }, /* it has not written yet, but will */
		{ READ_C, 1, 1 << READ_C }, { WRITE_A, 2, 0 }, /* nobody's */
	};
	struct weft_rand r;

	weft_test_seed(&r, __func__);
	for (unsigned int k = 0; k < WEFT_ARRAY_SIZE(cases); k++) {
		struct weft_xfer x[PLAIN];
		struct weft_xfer_run *run;
		void *mem = aligned_alloc(64, weft_xfer_run_size(8));

		lab_new(&r);
		plain_transfers(x);
		run = weft_xfer_run_init(mem, lab.host, 8, x, PLAIN);
		while (cases[k].at != PLAIN && x[cases[k].at].status == WEFT_XFER_WAITING)
			assert_true(plain_step(run));
		for (unsigned int i = 0; cases[k].at != PLAIN && i < 20; i++)
			assert_true(plain_step(run));
		assert_int_equal(weft_xfer_replaced(run, (uint16_t)(PID + cases[k].gfd)),
			__builtin_popcount(cases[k].lost));
		assert_int_equal(weft_xfer_replaced(run, (uint16_t)(PID + cases[k].gfd)), 0);
		while (plain_step(run))
			;
		for (unsigned int i = 0; i < PLAIN; i++)
			assert_int_equal(x[i].status, (cases[k].lost & 1u << i) != 0
							      ? WEFT_XFER_MEMORY_LOST
							      : WEFT_XFER_OK);
		assert_string_equal(weft_xfer_status_name(WEFT_XFER_MEMORY_LOST), "memory_lost");
		assert_int_equal(weft_requester_outstanding(lab.host), 0);
		free(mem);
		lab_end();
	}
}
