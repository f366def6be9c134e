/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * A GFD with a guard: two hosts at addresses of their own, one block each and one read-only for
 * both. Whatever is refused must leave the memory as it was and say nothing of it.
 */

#include "weft_test.h"

#include "weft_gfam_access.h"
#include "weft_gfd.h"

#define PID 0x20
#define A 5
#define B 6
#define STRANGER 7
#define BLOCK 4096u
#define LEN (3 * BLOCK) /* of the fourth block, in the tables, there is no memory */
#define DPA_RO (UINT64_C(256) << 20)
#define HPA_A (UINT64_C(1) << 50)
#define HPA_B (UINT64_C(2) << 50)

static uint8_t mem[LEN], was[LEN];
static uint64_t poison[4];
static struct weft_gfd gfd;
static struct weft_gfam_log flog;
static struct weft_gfam *t;
static struct weft_gfam_ref ref;
static const struct weft_gfam_checker guard = { .tables = &ref, .log = &flog };

static void
tables(uint32_t knobs, uint8_t flags)
{
	const struct weft_gfam_cfg cfg = { .rows = 2,
		.groups = 8,
		.dmps = 1,
		.blocks = 65536,
		.knobs = knobs,
		.media = { { BLOCK, flags } } };
	const struct weft_gfam_decoder d = {
		.valid = true, .hpa_base = HPA_A, .dpa_len = 4 * BLOCK
	};
	struct weft_gfam_decoder e = d;

	e.hpa_base = HPA_B;
	t = weft_gfam_init(aligned_alloc(64, weft_gfam_size(&cfg)), &cfg);
	assert_int_equal(weft_gfam_set_dmp(t, 0, 0, DPA_RO, BLOCK), 0);
	assert_int_equal(weft_gfam_set_gdt(t, A, A, 0, &d, 1), 0);
	assert_int_equal(weft_gfam_set_gdt(t, B, B, 0, &e, 1), 0);
	assert_int_equal(weft_gfam_set_blocks(t, 0, BLOCK, 1), 0);
	assert_int_equal(weft_gfam_set_blocks(t, BLOCK, BLOCK, 2), 0);
	assert_int_equal(weft_gfam_set_blocks(t, 3 * BLOCK, BLOCK, 1), 0);
	assert_int_equal(weft_gfam_set_sat(t, A, 1 << 1), 0);
	assert_int_equal(weft_gfam_set_sat(t, B, 1 << 2), 0);
	weft_gfam_publish(&ref, t);
}

static int
setup(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(mem); i++)
		mem[i] = was[i] = (uint8_t)(i * 7 + i / 64);
	assert_int_equal(weft_gfd_init(&gfd, PID, HPA_A, mem, LEN, poison), 0);
	weft_gfam_log_init(&flog);
	weft_gfam_publish(&ref, NULL);
	weft_gfd_set_guard(&gfd, &guard);
	t = NULL;
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	free(t);
	return 0;
}

WEFT_TEST_EACH(setup, teardown)

static struct weft_msg
ask(uint8_t kind, uint8_t op, uint16_t spid, uint64_t hpa)
{
	struct weft_msg m = { .kind = kind, .op = op, .addr = hpa }, reply;

	m.spid = spid;
	m.dpid = PID;
	m.trp = 1;
	m.byte_enables = 1;
	memset(m.data, 0xC3, sizeof(m.data));
	memset(&reply, 0xEE, sizeof(reply));
	assert_int_equal(weft_gfd_request(&gfd, &m, &reply), WEFT_OK);
	assert_int_equal(reply.dpid, spid);
	return reply;
}

/* A read answered with @p op and ones. */
static void
blind(uint16_t spid, uint64_t hpa, uint8_t op, bool poisoned)
{
	const struct weft_msg m = ask(WEFT_MSG_M2S_REQ, WEFT_M2S_REQ_MEMRD, spid, hpa);

	assert_int_equal(m.kind, WEFT_MSG_S2M_DRS);
	assert_int_equal(m.op, op);
	assert_int_equal(m.poison, poisoned);
	for (unsigned int i = 0; i < sizeof(m.data); i++)
		assert_int_equal(m.data[i], 0xFF);
}

/* Both kinds of write are completed and do nothing. */
static void
futile(uint16_t spid, uint64_t hpa)
{
	static const uint8_t ops[] = { WEFT_M2S_RWD_MEMWR, WEFT_M2S_RWD_MEMWRPTL };

	for (size_t i = 0; i < sizeof(ops); i++) {
		const struct weft_msg m = ask(WEFT_MSG_M2S_RWD, ops[i], spid, hpa);

		assert_int_equal(m.kind, WEFT_MSG_S2M_NDR);
		assert_int_equal(m.op, WEFT_S2M_NDR_CMP);
	}
	assert_memory_equal(mem, was, sizeof(mem));
}

static void
seen(uint16_t spid, uint64_t hpa, uint64_t dpa)
{
	const struct weft_msg m = ask(WEFT_MSG_M2S_REQ, WEFT_M2S_REQ_MEMRDDATA, spid, hpa);

	assert_int_equal(m.op, WEFT_S2M_DRS_MEMDATA);
	assert_int_equal(m.poison, 0);
	assert_memory_equal(m.data, was + dpa, sizeof(m.data));
}

WEFT_TEST(without_tables_nobody_reaches_anything)
{
	for (unsigned int spid = 0; spid < 4096; spid++) {
		blind((uint16_t)spid, HPA_A, WEFT_S2M_DRS_MEMDATA_NXM, false);
		futile((uint16_t)spid, HPA_A);
	}
	assert_int_equal(gfd.count[WEFT_GFD_N_NXM_READS], 4096);
	assert_int_equal(gfd.count[WEFT_GFD_N_NXM_WRITES], 2 * 4096);
	assert_int_equal(flog.failed[WEFT_GFAM_T_DECODE], 3 * 4096);
}

WEFT_TEST(each_host_has_its_block_at_its_address)
{
	tables(0, 0);
	seen(A, HPA_A + 128, 128);
	seen(B, HPA_B + BLOCK + 64, BLOCK + 64);
	blind(A, HPA_A + BLOCK, WEFT_S2M_DRS_MEMDATA, false);
	blind(B, HPA_B, WEFT_S2M_DRS_MEMDATA, false);
	blind(A, HPA_A + 2 * BLOCK, WEFT_S2M_DRS_MEMDATA, false); /* no group */
	blind(A, HPA_B, WEFT_S2M_DRS_MEMDATA_NXM, false);
	blind(A, HPA_A + 4 * BLOCK, WEFT_S2M_DRS_MEMDATA_NXM, false);
	blind(A, HPA_A + 3 * BLOCK, WEFT_S2M_DRS_MEMDATA_NXM, false); /* no memory there */
	blind(STRANGER, HPA_A, WEFT_S2M_DRS_MEMDATA_NXM, false);
	futile(A, HPA_A + BLOCK);
	futile(B, HPA_B);
	futile(A, HPA_A + 2 * BLOCK);
	futile(A, HPA_A + 3 * BLOCK);
	futile(STRANGER, HPA_A);
	assert_int_equal(gfd.count[WEFT_GFD_N_DENIED_READS], 3);
	assert_int_equal(gfd.count[WEFT_GFD_N_DENIED_WRITES], 6);
	assert_int_equal(gfd.count[WEFT_GFD_N_NXM_READS], 4);
	assert_int_equal(gfd.count[WEFT_GFD_N_NXM_WRITES], 4);
	assert_int_equal(flog.rpid[A].failed[WEFT_GFAM_T_SAT], 3);
	assert_int_equal(flog.rpid[A].failed[WEFT_GFAM_T_GROUP], 3);
	assert_int_equal(flog.rpid[STRANGER].failed[WEFT_GFAM_T_DECODE], 3);
	/* What is allowed is done. */
	ask(WEFT_MSG_M2S_RWD, WEFT_M2S_RWD_MEMWR, B, HPA_B + BLOCK);
	memset(was + BLOCK, 0xC3, 64);
	assert_memory_equal(mem, was, sizeof(mem));
	seen(B, HPA_B + BLOCK, BLOCK);
}

WEFT_TEST(knobs_poison_what_is_not_there)
{
	tables(WEFT_GFAM_POISON_ON_DENY, 0);
	blind(A, HPA_A + BLOCK, WEFT_S2M_DRS_MEMDATA, true);
	blind(A, HPA_B, WEFT_S2M_DRS_MEMDATA_NXM, false);
	free(t);
	tables(WEFT_GFAM_POISON_ON_NO_DECODE, 0);
	blind(A, HPA_A + BLOCK, WEFT_S2M_DRS_MEMDATA, false);
	blind(A, HPA_B, WEFT_S2M_DRS_MEMDATA_NXM, true);
	seen(A, HPA_A, 0);
}

WEFT_TEST(read_only_memory_is_read)
{
	tables(0, WEFT_GFAM_READ_ONLY);
	seen(A, HPA_A, 0);
	futile(A, HPA_A);
	assert_int_equal(gfd.count[WEFT_GFD_N_READ_ONLY_WRITES], 2);
	assert_int_equal(flog.rpid[A].read_only, 2);
	assert_int_equal(flog.failed[0] + flog.failed[2] + flog.failed[3], 0);
}

WEFT_TEST(right_taken_away_counts_from_the_next_request)
{
	void *mem2;
	struct weft_gfam *u;

	tables(0, 0);
	mem2 = aligned_alloc(64, 4 << 20);
	u = weft_gfam_copy(mem2, t);
	seen(A, HPA_A, 0);
	assert_int_equal(weft_gfam_set_sat(u, A, 0), 0);
	seen(A, HPA_A, 0);
	weft_gfam_publish(&ref, u);
	blind(A, HPA_A, WEFT_S2M_DRS_MEMDATA, false);
	weft_gfam_publish(&ref, t);
	seen(A, HPA_A, 0);
	weft_gfd_set_guard(&gfd, NULL);
	seen(STRANGER, HPA_A, 0);
	free(mem2);
}

WEFT_TEST(invalidate_of_what_is_closed_is_counted)
{
	struct weft_msg m;

	tables(0, 0);
	m = ask(WEFT_MSG_M2S_REQ, WEFT_M2S_REQ_MEMINV, A, HPA_A + BLOCK);
	assert_int_equal(m.kind, WEFT_MSG_S2M_NDR);
	assert_int_equal(m.op, WEFT_S2M_NDR_CMP);
	assert_int_equal(flog.rpid[A].failed[WEFT_GFAM_T_SAT], 1);
	assert_memory_equal(mem, was, sizeof(mem));
}
