/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The dmadev driver dma_weft against a daemon over flat memory (fake_daemon.h): random jobs against
 * a copy of all memory, and what becomes of those that cannot be done.
 */

#include "eal_test.h"

#include <rte_bus_vdev.h>
#include <rte_dmadev.h>
#include <rte_log.h>

#include "fake_daemon.h"
#include "rte_pmd_dma_weft.h"

#define MEM (512u << 10) /* bytes of the process that jobs use */
#define DESC 256
#define WAIT_S 20

static struct fake fake;
static int16_t dev;
static uint64_t base;
static uint8_t *mem;

/* --- the device --- */

static int
setup(void **state)
{
	(void)state;
	fake_folder_begin();
	mem = calloc(1, MEM);
	assert_non_null(mem);
	fake = (struct fake){ .idle_max = 1000 };
	fake_begin(&fake, fake_socket, 1);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	if (fake.memory != NULL)
		fake_end(&fake);
	free(mem);
	return rmdir(fake_folder); /* nothing is left in it */
}

WEFT_TEST_EACH(setup, teardown)

static void
start_device(void)
{
	const struct rte_dma_conf conf = { .nb_vchans = 1 };
	const struct rte_dma_vchan_conf vchan = { .direction = RTE_DMA_DIR_MEM_TO_MEM,
		.nb_desc = DESC };

	assert_int_equal(rte_dma_configure(dev, &conf), 0);
	assert_int_equal(rte_dma_vchan_setup(dev, 0, &vchan), 0);
	assert_int_equal(rte_dma_start(dev), 0);
}

/* Make dma_weft0; NULL: without a region. */
static void
open_device(const char *region)
{
	char args[256] = "";
	uint64_t len;

	if (region != NULL)
		snprintf(args, sizeof(args), "node=%s,region=%s", fake_socket, region);
	assert_int_equal(rte_vdev_init("dma_weft0", args), 0);
	dev = (int16_t)rte_dma_get_dev_id_by_name("dma_weft0");
	assert_true(dev >= 0);
	if (region != NULL)
		assert_int_equal(rte_pmd_dma_weft_base(dev, 0, &base, &len), 0);
	start_device();
}

static void
close_device(void)
{
	assert_int_equal(rte_vdev_uninit("dma_weft0"), 0);
	assert_true(rte_dma_get_dev_id_by_name("dma_weft0") < 0);
}

static uint64_t
va(const void *p)
{
	return (uintptr_t)p;
}

static int
copy(uint64_t src, uint64_t dst, uint32_t len, uint64_t flags)
{
	return rte_dma_copy(dev, 0, src, dst, len, flags);
}

/* Statuses of the next @n jobs, which come within the time. */
static void
take(enum rte_dma_status_code *status, uint16_t n)
{
	const time_t end = time(NULL) + WAIT_S;
	uint16_t got = 0, last;

	while (got < n) {
		got = (uint16_t)(got + rte_dma_completed_status(
					       dev, 0, (uint16_t)(n - got), &last, status + got));
		assert_true(time(NULL) < end);
	}
}

/* What becomes of a copy. */
static enum rte_dma_status_code
outcome(uint64_t src, uint64_t dst, uint32_t len)
{
	enum rte_dma_status_code status;

	assert_true(copy(src, dst, len, RTE_DMA_OP_FLAG_SUBMIT) >= 0);
	take(&status, 1);
	return status;
}

static enum rte_dma_vchan_status
vchan_status(void)
{
	enum rte_dma_vchan_status status;

	assert_int_equal(rte_dma_vchan_status(dev, 0, &status), 0);
	return status;
}

/* --- random jobs --- */

struct span {
	bool is_region;
	uint32_t at, len;
};

/* What memory should be: the device changes one copy of it, each job the other. */
struct world {
	struct weft_rand rand;
	uint8_t *model[2]; /* of the process; of the region */
	struct span src[DESC], dst[DESC]; /* since the last fence */
	uint32_t n;
};

static struct span
draw(struct weft_rand *r, uint32_t len)
{
	struct span s = { .is_region = weft_rand_below(r, 2) == 0, .len = len };

	s.at = (uint32_t)weft_rand_below(r, (s.is_region ? FAKE_SIZE : MEM) - len + 1);
	return s;
}

static uint32_t
draw_len(struct weft_rand *r)
{
	static const uint32_t most[] = { 3, 70, 200, 5000, 5000, 20000, 120000 };

	return (uint32_t)weft_rand_below(r, most[weft_rand_below(r, WEFT_ARRAY_SIZE(most))]);
}

static bool
is_apart(const struct span *a, const struct span *b)
{
	return a->is_region != b->is_region || a->at + a->len <= b->at || b->at + b->len <= a->at;
}

static uint64_t
address(const struct span *s)
{
	return s->is_region ? base + s->at : va(mem) + s->at;
}

static uint8_t *
modelled(const struct world *w, const struct span *s)
{
	return w->model[s->is_region] + s->at;
}

/* Whether jobs may pass each other that are open together. */
static bool
needs_fence(const struct world *w, const struct span *src, const struct span *dst)
{
	uint32_t i;

	for (i = 0; i < w->n; i++)
		if (!is_apart(dst, &w->src[i]) || !is_apart(dst, &w->dst[i]) ||
			(src != NULL && !is_apart(src, &w->dst[i])))
			return true;
	return false;
}

/* Enqueue one, and do it to the model. */
static int
random_job(struct world *w)
{
	const uint32_t len = draw_len(&w->rand);
	const bool is_fill = weft_rand_below(&w->rand, 5) == 0;
	const uint64_t pattern = weft_rand_u64(&w->rand);
	struct span src, dst;
	uint64_t flags = 0;
	uint32_t i;

	do {
		src = draw(&w->rand, len);
		dst = draw(&w->rand, len);
	} while (!is_apart(&src, &dst));
	if (needs_fence(w, is_fill ? NULL : &src, &dst) || weft_rand_below(&w->rand, 16) == 0) {
		flags |= RTE_DMA_OP_FLAG_FENCE;
		w->n = 0;
	}
	if (weft_rand_below(&w->rand, 4) == 0)
		flags |= RTE_DMA_OP_FLAG_SUBMIT;
	w->dst[w->n] = w->src[w->n] = dst;
	if (!is_fill)
		w->src[w->n] = src;
	w->n++;
	if (!is_fill) {
		memcpy(modelled(w, &dst), modelled(w, &src), len);
		return copy(address(&src), address(&dst), len, flags);
	}
	for (i = 0; i < len; i++)
		modelled(w, &dst)[i] = ((const uint8_t *)&pattern)[i % 8];
	return rte_dma_fill(dev, 0, pattern, address(&dst), len, flags);
}

/* Take some that are done, by either call. */
static uint16_t
random_report(struct world *w, uint16_t expected)
{
	enum rte_dma_status_code status[32];
	const uint16_t most = (uint16_t)(1 + weft_rand_below(&w->rand, 32));
	uint16_t got, last = 7, i;
	bool has_error;

	if (weft_rand_below(&w->rand, 2) == 0) {
		got = rte_dma_completed(dev, 0, most, &last, &has_error);
		assert_false(has_error);
	} else {
		got = rte_dma_completed_status(dev, 0, most, &last, status);
		for (i = 0; i < got; i++)
			assert_int_equal(status[i], RTE_DMA_STATUS_SUCCESSFUL);
	}
	assert_true(got <= most);
	assert_int_equal(last, (uint16_t)(expected + got - 1));
	return got;
}

static void
random_jobs(struct world *w, unsigned int jobs)
{
	const time_t end = time(NULL) + 60;
	unsigned int begun = 0, told = 0;

	while (told < jobs) {
		while (begun < jobs && begun - told < DESC && weft_rand_below(&w->rand, 12) != 0) {
			if (begun == told)
				w->n = 0;
			assert_int_equal(random_job(w), (uint16_t)begun++);
		}
		assert_int_equal(rte_dma_burst_capacity(dev, 0), DESC - (begun - told));
		if (begun == jobs || weft_rand_below(&w->rand, 4) == 0)
			assert_int_equal(rte_dma_submit(dev, 0), 0);
		told += random_report(w, (uint16_t)told);
		assert_true(time(NULL) < end);
	}
	assert_int_equal(vchan_status(), RTE_DMA_VCHAN_IDLE);
}

WEFT_TEST(random_jobs_do_what_they_say)
{
	const unsigned int jobs = weft_test_cases(8000);
	struct rte_dma_stats stats;
	struct world w = { .n = 0 };

	weft_test_seed(&w.rand, "random jobs");
	open_device("g0");
	w.model[0] = malloc(MEM);
	w.model[1] = malloc(FAKE_SIZE);
	assert_true(w.model[0] != NULL && w.model[1] != NULL);
	weft_rand_fill(&w.rand, mem, MEM);
	weft_rand_fill(&w.rand, fake.memory, FAKE_SIZE);
	memcpy(w.model[0], mem, MEM);
	memcpy(w.model[1], fake.memory, FAKE_SIZE);
	random_jobs(&w, jobs);
	assert_memory_equal(mem, w.model[0], MEM);
	assert_memory_equal(fake.memory, w.model[1], FAKE_SIZE);
	assert_int_equal(rte_dma_stats_get(dev, 0, &stats), 0);
	assert_int_equal(stats.submitted, jobs);
	assert_int_equal(stats.completed, jobs);
	assert_int_equal(stats.errors, 0);
	close_device();
	fake_end(&fake);
	assert_int_equal(fake.n_clashes, 0);
	free(w.model[0]);
	free(w.model[1]);
}

WEFT_TEST(lines_of_long_jobs_stay_whole)
{
	uint8_t *const buf = malloc(FAKE_SIZE);
	uint32_t i;

	assert_non_null(buf);
	for (i = 0; i < FAKE_SIZE; i++)
		fake.memory[i] = buf[i] = (uint8_t)(i * 2654435761u >> 24);
	open_device("g0");
	/* More than there is room for at once, of each kind. */
	assert_int_equal(outcome(base, base + FAKE_SIZE / 2, FAKE_SIZE / 2), 0);
	memcpy(buf + FAKE_SIZE / 2, buf, FAKE_SIZE / 2);
	assert_memory_equal(fake.memory, buf, FAKE_SIZE);
	memset(buf, 0, FAKE_SIZE);
	assert_int_equal(outcome(base, va(buf), FAKE_SIZE), 0);
	assert_memory_equal(fake.memory, buf, FAKE_SIZE);
	buf[64] ^= 1;
	assert_int_equal(outcome(va(buf), base, FAKE_SIZE), 0);
	assert_memory_equal(fake.memory, buf, FAKE_SIZE);
	/* Only its two ends lie within lines. */
	assert_int_equal(outcome(va(buf), base + 5, FAKE_SIZE - 10), 0);
	assert_int_equal(outcome(base + 5, va(buf), FAKE_SIZE - 10), 0);
	close_device();
	fake_end(&fake);
	assert_int_equal(fake.n_cuts, 0);
	free(buf);
}

WEFT_TEST(indices_wrap)
{
	enum rte_dma_status_code status;
	uint32_t i;

	open_device("g0");
	for (i = 0; i < 70000; i++) {
		if (i % 1000 == 0)
			assert_int_equal(
				copy(base, va(mem), 8, RTE_DMA_OP_FLAG_SUBMIT), (uint16_t)i);
		else
			assert_int_equal(copy(va(mem), va(mem) + 64, 8, RTE_DMA_OP_FLAG_SUBMIT),
				(uint16_t)i);
		take(&status, 1);
		assert_int_equal(status, RTE_DMA_STATUS_SUCCESSFUL);
	}
	close_device();
}

/* --- order --- */

WEFT_TEST(jobs_are_told_of_in_their_order)
{
	enum rte_dma_status_code status[3];
	uint16_t last = 9;
	bool has_error;

	open_device("g0");
	fake.is_held = true;
	memset(fake.memory, 0x77, 64);
	mem[128] = 5;
	assert_int_equal(copy(base, va(mem), 64, 0), 0);
	assert_int_equal(copy(va(mem) + 128, va(mem) + 192, 1, 0), 1);
	assert_int_equal(copy(va(mem), va(mem) + 256, 64, RTE_DMA_OP_FLAG_FENCE), 2);
	/* Nothing begins before the doorbell. */
	assert_int_equal(rte_dma_completed(dev, 0, 3, &last, &has_error), 0);
	assert_int_equal(last, UINT16_MAX);
	assert_int_equal(mem[192], 0);
	assert_int_equal(vchan_status(), RTE_DMA_VCHAN_IDLE);
	assert_int_equal(rte_dma_submit(dev, 0), 0);
	/* The second is done, the third waits for the first. */
	assert_int_equal(mem[192], 5);
	assert_int_equal(rte_dma_completed(dev, 0, 3, &last, &has_error), 0);
	assert_int_equal(vchan_status(), RTE_DMA_VCHAN_ACTIVE);
	assert_int_equal(mem[256], 0);
	fake.is_held = false;
	take(status, 3);
	assert_int_equal(mem[256], 0x77);
	assert_int_equal(vchan_status(), RTE_DMA_VCHAN_IDLE);
	close_device();
}

WEFT_TEST(a_full_ring_takes_no_more)
{
	enum rte_dma_status_code status[DESC];
	int i;

	open_device("g0");
	fake.is_held = true;
	assert_int_equal(rte_dma_burst_capacity(dev, 0), DESC);
	for (i = 0; i < DESC; i++)
		assert_int_equal(copy(base, va(mem), 8, RTE_DMA_OP_FLAG_SUBMIT), i);
	assert_int_equal(rte_dma_burst_capacity(dev, 0), 0);
	assert_int_equal(copy(base, va(mem), 8, 0), -ENOSPC);
	assert_int_equal(rte_dma_fill(dev, 0, 1, base, 8, 0), -ENOSPC);
	fake.is_held = false;
	take(status, 1);
	assert_int_equal(copy(base, va(mem), 8, RTE_DMA_OP_FLAG_SUBMIT), DESC);
	take(status, DESC);
	close_device();
}

/* --- what cannot be done --- */

WEFT_TEST(addresses_that_lead_nowhere)
{
	enum rte_dma_status_code status;
	struct rte_dma_stats stats;

	open_device("g0");
	assert_int_equal(outcome(0, va(mem), 8), RTE_DMA_STATUS_INVALID_SRC_ADDR);
	assert_int_equal(outcome(va(mem), 0, 8), RTE_DMA_STATUS_INVALID_DST_ADDR);
	assert_int_equal(outcome(0, 0, 8), RTE_DMA_STATUS_INVALID_SRC_ADDR);
	assert_int_equal(outcome(UINT64_MAX - 3, va(mem), 8), RTE_DMA_STATUS_INVALID_SRC_ADDR);
	assert_int_equal(outcome(base - 1, va(mem), 2), RTE_DMA_STATUS_INVALID_SRC_ADDR);
	assert_int_equal(outcome(va(mem), base - 1, 2), RTE_DMA_STATUS_INVALID_DST_ADDR);
	assert_int_equal(
		outcome(va(mem), base + FAKE_SIZE - 8, 9), RTE_DMA_STATUS_INVALID_DST_ADDR);
	assert_int_equal(
		outcome(base + FAKE_SIZE - 8, va(mem), 9), RTE_DMA_STATUS_INVALID_SRC_ADDR);
	assert_int_equal(outcome(va(mem), base + FAKE_SIZE, 1), RTE_DMA_STATUS_INVALID_DST_ADDR);
	assert_int_equal(
		outcome(base + FAKE_SIZE + 60000, va(mem), 1), RTE_DMA_STATUS_INVALID_SRC_ADDR);
	assert_int_equal(outcome(va(mem), base + FAKE_SIZE - 8, 8), RTE_DMA_STATUS_SUCCESSFUL);
	assert_int_equal(outcome(va(mem), base + FAKE_SIZE, 0), RTE_DMA_STATUS_SUCCESSFUL);
	assert_true(rte_dma_fill(dev, 0, 1, base + FAKE_SIZE - 1, 2, RTE_DMA_OP_FLAG_SUBMIT) >= 0);
	take(&status, 1);
	assert_int_equal(status, RTE_DMA_STATUS_INVALID_DST_ADDR);
	assert_int_equal(rte_dma_stats_get(dev, 0, &stats), 0);
	assert_int_equal(stats.errors, 11);
	assert_int_equal(stats.completed, 13);
	/* Who goes there without the device gets a fault. */
	assert_int_equal(write(STDOUT_FILENO, (const void *)(uintptr_t)base, 1), -1);
	assert_int_equal(errno, EFAULT);
	close_device();
}

WEFT_TEST(each_error_has_a_status)
{
	static const struct {
		int error;
		enum rte_dma_status_code read, write;
	} row[] = {
		{ -EIO, RTE_DMA_STATUS_DATA_POISION, RTE_DMA_STATUS_DATA_POISION },
		{ -ENXIO, RTE_DMA_STATUS_INVALID_SRC_ADDR, RTE_DMA_STATUS_INVALID_DST_ADDR },
		{ -EACCES, RTE_DMA_STATUS_BUS_READ_ERROR, RTE_DMA_STATUS_BUS_WRITE_ERROR },
		{ -ETIMEDOUT, RTE_DMA_STATUS_BUS_ERROR, RTE_DMA_STATUS_BUS_ERROR },
		{ -ESTALE, RTE_DMA_STATUS_PAGE_FAULT, RTE_DMA_STATUS_PAGE_FAULT },
		{ -EPERM, RTE_DMA_STATUS_ERROR_UNKNOWN, RTE_DMA_STATUS_ERROR_UNKNOWN },
	};
	size_t i;

	open_device("g0");
	memset(mem, 0x33, 4096);
	for (i = 0; i < WEFT_ARRAY_SIZE(row); i++) {
		fake.error = row[i].error;
		assert_int_equal(outcome(base, va(mem), 100), row[i].read);
		assert_int_equal(outcome(va(mem), base, 100), row[i].write);
		/* Of many pieces; from the region to the region it is the read that fails. */
		assert_int_equal(outcome(base, va(mem), MEM), row[i].read);
		assert_int_equal(outcome(base, base + MEM, MEM), row[i].read);
		fake.error = 0;
		assert_int_equal(mem[0], 0x33);
		assert_int_equal(
			outcome(base + 4096, va(mem) + 4096, 100), RTE_DMA_STATUS_SUCCESSFUL);
	}
	close_device();
}

WEFT_TEST(poison_and_rights_of_a_region)
{
	uint32_t first = 0;
	char name[8];

	while (!fake_is_bad(FAKE_POISONED * FAKE_SIZE / 64 + first))
		first++;
	snprintf(name, sizeof(name), "g%u", FAKE_POISONED);
	open_device(name);
	assert_int_equal(outcome(base, va(mem), first * 64), RTE_DMA_STATUS_SUCCESSFUL);
	assert_int_equal(outcome(base, va(mem), first * 64 + 1), RTE_DMA_STATUS_DATA_POISION);
	close_device();

	snprintf(name, sizeof(name), "g%u", FAKE_READ_ONLY);
	open_device(name);
	fake.memory[FAKE_READ_ONLY * FAKE_SIZE] = 0x21;
	assert_int_equal(outcome(base, va(mem), 1), RTE_DMA_STATUS_SUCCESSFUL);
	assert_int_equal(mem[0], 0x21);
	assert_int_equal(outcome(va(mem) + 1, base, 1), RTE_DMA_STATUS_BUS_WRITE_ERROR);
	assert_int_equal(outcome(base, base + 4096, 1), RTE_DMA_STATUS_BUS_WRITE_ERROR);
	assert_int_equal(fake.memory[FAKE_READ_ONLY * FAKE_SIZE], 0x21);
	close_device();
}

WEFT_TEST(what_is_fenced_behind_a_failure_is_not_done)
{
	enum rte_dma_status_code status[4];
	uint16_t last;
	bool has_error;

	open_device(NULL);
	mem[0] = 1;
	copy(va(mem), va(mem) + 8, 1, 0);
	copy(0, va(mem) + 16, 1, 0);
	copy(va(mem), va(mem) + 24, 1, RTE_DMA_OP_FLAG_FENCE);
	copy(va(mem), va(mem) + 32, 1, RTE_DMA_OP_FLAG_SUBMIT);
	assert_int_equal(rte_dma_completed(dev, 0, 4, &last, &has_error), 1);
	assert_true(has_error);
	assert_int_equal(last, 0);
	assert_int_equal(rte_dma_completed(dev, 0, 4, &last, &has_error), 0);
	assert_true(has_error);
	assert_int_equal(last, 0);
	take(status, 3);
	assert_int_equal(status[0], RTE_DMA_STATUS_INVALID_SRC_ADDR);
	assert_int_equal(status[1], RTE_DMA_STATUS_NOT_ATTEMPTED);
	assert_int_equal(status[2], RTE_DMA_STATUS_SUCCESSFUL);
	assert_true(mem[8] == 1 && mem[24] == 0 && mem[32] == 1);
	/* Once that is known, fences are as before. */
	copy(va(mem), va(mem) + 24, 1, RTE_DMA_OP_FLAG_FENCE | RTE_DMA_OP_FLAG_SUBMIT);
	take(status, 1);
	assert_int_equal(status[0], RTE_DMA_STATUS_SUCCESSFUL);
	assert_int_equal(mem[24], 1);
	close_device();
}

/* The daemon leaves with jobs of all kinds open; @return how many failed. */
static unsigned int
leave(enum fake_exit how, uint32_t after)
{
	enum rte_dma_status_code status[DESC];
	unsigned int failed = 0, i;

	fake.exit = how;
	fake.leave_after = after;
	for (i = 0; i < DESC; i += 2) {
		const uint64_t off = i * 64;

		if (i % 3 == 0)
			copy(base + off, va(mem) + off, 5000, 0);
		else if (i % 3 == 1)
			copy(va(mem) + off, base + off, 100, 0);
		else
			copy(base + off, base + FAKE_SIZE / 2 + off, 40000, 0);
		copy(va(mem) + MEM - 64, va(mem) + MEM - 128, 8, 0);
	}
	assert_int_equal(rte_dma_submit(dev, 0), 0);
	take(status, DESC);
	for (i = 0; i < DESC; i++) {
		assert_true(status[i] == RTE_DMA_STATUS_SUCCESSFUL ||
			    (i % 2 == 0 && status[i] == RTE_DMA_STATUS_DEV_LINK_ERROR));
		failed += status[i] != RTE_DMA_STATUS_SUCCESSFUL;
	}
	return failed;
}

WEFT_TEST(a_daemon_that_leaves)
{
	enum fake_exit how;

	open_device("g0");
	for (how = FAKE_KILLED; how < FAKE_EXITS; how++) {
		assert_true(leave(how, 20) > 0);
		assert_int_equal(vchan_status(), RTE_DMA_VCHAN_HALTED_ERROR);
		assert_int_equal(outcome(base, va(mem), 8), RTE_DMA_STATUS_DEV_LINK_ERROR);
		assert_int_equal(outcome(va(mem), va(mem) + 8, 8), RTE_DMA_STATUS_SUCCESSFUL);
		assert_int_equal(rte_dma_stop(dev), 0);
		fake_end(&fake);
		assert_true(rte_dma_start(dev) < 0);
		fake = (struct fake){ .idle_max = 1000 };
		fake_begin(&fake, fake_socket, 2);
		assert_int_equal(rte_dma_start(dev), 0);
		assert_int_equal(vchan_status(), RTE_DMA_VCHAN_IDLE);
		assert_int_equal(outcome(base, va(mem), 8), RTE_DMA_STATUS_SUCCESSFUL);
	}
	close_device();
}

WEFT_TEST(a_stopped_device_forgets)
{
	enum rte_dma_status_code status;
	uint16_t last;
	unsigned int i;

	open_device("g0");
	memset(fake.memory, 0x44, 4096);
	fake.is_held = true;
	for (i = 0; i < 100; i++)
		assert_int_equal(copy(base, va(mem), 4096, RTE_DMA_OP_FLAG_SUBMIT), (int)i);
	copy(0, va(mem), 1, 0);
	assert_int_equal(rte_dma_stop(dev), 0);
	fake.is_held = false;
	assert_int_equal(rte_dma_start(dev), 0);
	assert_int_equal(rte_dma_completed(dev, 0, 9, &last, NULL), 0);
	assert_int_equal(last, UINT16_MAX);
	assert_int_equal(rte_dma_burst_capacity(dev, 0), DESC);
	assert_int_equal(copy(base + 4096, va(mem) + 4096, 1,
				 RTE_DMA_OP_FLAG_FENCE | RTE_DMA_OP_FLAG_SUBMIT),
		0);
	take(&status, 1);
	assert_int_equal(status, RTE_DMA_STATUS_SUCCESSFUL);
	assert_int_equal(mem[0], 0);
	/* Each start attaches, and each stop detaches. */
	for (i = 0; i < 2 * FAKE_CLIENTS; i++) {
		assert_int_equal(rte_dma_stop(dev), 0);
		assert_int_equal(rte_dma_start(dev), 0);
	}
	close_device();
}

/* --- devargs --- */

/* It makes no device, and says so in one line that has @text. */
static void
is_refused(const char *name, const char *args, const char *text)
{
	const uint16_t before = rte_dma_count_avail();
	char *said = NULL, *line;
	size_t len;
	FILE *f = open_memstream(&said, &len);

	assert_non_null(f);
	assert_int_equal(rte_openlog_stream(f), 0);
	assert_true(rte_vdev_init(name, args) < 0);
	assert_int_equal(rte_openlog_stream(NULL), 0);
	fclose(f);
	line = strstr(said, "dma_weft: ");
	if (line == NULL || strstr(line, text) == NULL)
		fail_msg("%s: said %s", args, said);
	assert_null(strstr(line + 1, "\ndma_weft: "));
	assert_int_equal(rte_dma_count_avail(), before);
	free(said);
}

WEFT_TEST(bad_devargs_make_no_device)
{
	char args[400], long_name[300];

	memset(long_name, 'x', sizeof(long_name));
	long_name[sizeof(long_name) - 1] = '\0';
	is_refused("dma_weft1", "colour=red", "expected node=, region= or base=; got \"colour=\"");
	is_refused("dma_weft1", "region", "expected key=value; got \"region\"");
	is_refused("dma_weft1", "region=", "region: expected a name of 1 to 255 characters");
	is_refused("dma_weft1", "node=h0", "node= without region=");
	is_refused("dma_weft1", "base=0x1000", "base= without region=");
	is_refused("dma_weft1", "region=g0,base=4097", "base: expected an address, a multiple of");
	is_refused("dma_weft1", "region=g0,base=0", "base: expected an address");
	is_refused("dma_weft1", "region=g0,base=-4096", "base: expected an address");
	is_refused("dma_weft1", "region=g0,base=0x1000x", "base: expected an address");
	is_refused("dma_weft1", "region=g0,base=0100000", "hexadecimal behind 0x; got \"0100000\"");
	is_refused("dma_weft1", "region=g0,node=h0,region=g1",
		"expected each key once; got \"region=\" again");
	is_refused("dma_weft1", "node=h0,region=g0,node=h0",
		"expected each key once; got \"node=\" again");
	is_refused("dma_weft1", "base=0x1000,region=g0,base=0x2000",
		"expected each key once; got \"base=\" again");
	snprintf(args, sizeof(args), "region=%s", long_name);
	is_refused("dma_weft1", args, "region: expected a name");
	snprintf(args, sizeof(args), "node=%s/h9.sock,region=g0", fake_folder);
	is_refused("dma_weft1", args, "h9.sock");
	snprintf(args, sizeof(args), "node=%s,region=g77", fake_socket);
	is_refused("dma_weft1", args, "no region \"g77\"");
}

WEFT_TEST(a_window_lies_where_it_is_wanted)
{
	const uint64_t want = UINT64_C(0x200000000000);
	uint64_t at, len;
	char args[200];
	int16_t id;

	open_device(NULL);
	assert_int_equal(rte_pmd_dma_weft_base(dev, 0, &at, &len), -ENOENT);
	snprintf(
		args, sizeof(args), "node=%s,region=g0:4096+1000,base=0x200000000000", fake_socket);
	assert_int_equal(rte_vdev_init("dma_weft1", args), 0);
	id = (int16_t)rte_dma_get_dev_id_by_name("dma_weft1");
	assert_int_equal(rte_pmd_dma_weft_base(id, 0, &at, &len), 0);
	assert_true(at == want && len == 1000);
	assert_int_equal(rte_pmd_dma_weft_base(id, 1, &at, &len), -EINVAL);
	assert_int_equal(rte_pmd_dma_weft_base((int16_t)(id + 1), 0, &at, &len), -ENODEV);
	assert_int_equal(rte_pmd_dma_weft_base(-1, 0, &at, &len), -ENODEV);
	is_refused("dma_weft2", args, "no window of 0x11000 bytes at base=");
	/* A device whose channel is not set up does not start. */
	assert_int_equal(rte_dma_configure(id, &(struct rte_dma_conf){ .nb_vchans = 1 }), 0);
	assert_int_equal(rte_dma_start(id), -EINVAL);
	assert_int_equal(rte_vdev_uninit("dma_weft1"), 0);
	assert_int_equal(rte_pmd_dma_weft_base(id, 0, &at, &len), -ENODEV);
	/* The window is free again. */
	assert_int_equal(rte_vdev_init("dma_weft2", args), 0);
	assert_int_equal(rte_vdev_uninit("dma_weft2"), 0);
	close_device();
}

int
main(void)
{
	int failed;

	test_eal_start(NULL);
	failed = weft_test_run();
	weft_eal_stop();
	return failed;
}
