/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Who touches which address: sequential, random, skewed, and what devices do. */

#include "atc_load.h"

#include <math.h>

#define ACCESS 256
#define PAGE 4096
#define PAGE_ACCESSES (PAGE / ACCESS)
#define GIB (UINT64_C(1) << 30)

#define ZIPF_PAGES (1u << 20)
#define ZIPF_SKEW 0.99

/* 16 sequential streams, 16 GiB apart, in turn. */
static void
load_next_streams(struct atc_load *l, struct atc_access *a)
{
	const unsigned int s = (unsigned int)(l->i % 16);

	a->stream = (uint16_t)s;
	a->va = s * 16 * GIB + l->at[s];
	l->at[s] += ACCESS;
}

static void
load_next_uniform(struct atc_load *l, struct atc_access *a)
{
	a->va = weft_rand_below(&l->r, 4 * GIB / ACCESS) * ACCESS;
}

/*
 * A page by Zipf's law: Gray et al., "Quickly generating billion-record synthetic databases", 1994.
 * Ranks are scattered, or the most wanted pages would share a large page.
 */
static uint64_t
load_zipf_page(struct atc_load *l)
{
	const double n = ZIPF_PAGES;
	const double u = weft_rand_unit(&l->r);
	const double eta =
		(1 - pow(2 / n, 1 - ZIPF_SKEW)) / (1 - (1 + pow(0.5, ZIPF_SKEW)) / l->zeta);
	uint64_t rank;

	if (u * l->zeta < 1)
		rank = 0;
	else if (u * l->zeta < 1 + pow(0.5, ZIPF_SKEW))
		rank = 1;
	else
		rank = (uint64_t)(n * pow(eta * u - eta + 1, 1 / (1 - ZIPF_SKEW)));
	return rank * UINT64_C(0x9E3779B1) % ZIPF_PAGES * PAGE;
}

static void
load_next_zipf(struct atc_load *l, struct atc_access *a)
{
	a->va = load_zipf_page(l) + weft_rand_below(&l->r, PAGE_ACCESSES) * ACCESS;
}

/*
 * 8 queues in turn, a command each: its entry of 64 B is read from the submission ring, a random
 * page of 8 GiB is moved, and an entry of 16 B is written to the completion ring.
 */
static void
load_next_nvme(struct atc_load *l, struct atc_access *a)
{
	const uint64_t command = l->i / (PAGE_ACCESSES + 2);
	const unsigned int step = (unsigned int)(l->i % (PAGE_ACCESSES + 2));
	const uint64_t queue = command % 8;
	const uint64_t turn = command / 8;

	a->stream = (uint16_t)queue;
	if (step == 0) {
		l->base = weft_rand_below(&l->r, 8 * GIB / PAGE) * PAGE;
		a->va = 16 * GIB + queue * 2 * PAGE + turn * 64 % PAGE;
	} else if (step <= PAGE_ACCESSES) {
		a->va = l->base + (step - 1) * ACCESS;
	} else {
		a->va = 16 * GIB + (queue * 2 + 1) * PAGE + turn * 16 % PAGE;
	}
}

/*
 * 1024 tenants in turn, a packet of 1500 B each: a descriptor of 16 B from the tenant's ring, then
 * a buffer of its own page from 1024 of them, one behind the other.
 */
static void
load_next_nic(struct atc_load *l, struct atc_access *a)
{
	const unsigned int step = (unsigned int)(l->i % 7);
	const uint64_t packet = l->i / 7;
	const uint64_t turn = packet / ATC_LOAD_CONTEXTS;

	a->ctx = (uint16_t)(packet % ATC_LOAD_CONTEXTS);
	a->stream = a->ctx;
	a->va = step == 0 ? GIB + turn * 16 % PAGE : turn % 1024 * PAGE + (step - 1) * ACCESS;
}

/* Values of 1 KiB in pages by Zipf's law, and after every 64 of them a scan of 16 pages. */
static void
load_next_kv(struct atc_load *l, struct atc_access *a)
{
	const unsigned int step = (unsigned int)(l->i % 512);

	if (step == 256)
		l->base = weft_rand_below(&l->r, ZIPF_PAGES - 16) * PAGE;
	else if (step < 256 && step % 4 == 0)
		l->base = load_zipf_page(l) + weft_rand_below(&l->r, 4) * 1024;
	a->va = l->base + (step < 256 ? step % 4 : step - 256) * ACCESS;
}

const struct atc_workload atc_workloads[] = {
	{ "streams", "16 sequential streams in turn", load_next_streams },
	{ "uniform", "random in 4 GiB", load_next_uniform },
	{ "zipf", "skew 0.99 over 2^20 pages of 4 KiB", load_next_zipf },
	{ "nvme", "8 queues, random pages of 8 GiB, two rings each", load_next_nvme },
	{ "nic", "1024 tenants in turn, a packet and its descriptor each", load_next_nic },
	{ "kv", "values of 1 KiB by skew, and scans of 16 pages", load_next_kv },
};
const unsigned int atc_n_workloads = sizeof(atc_workloads) / sizeof(atc_workloads[0]);

void
atc_load_init(struct atc_load *l)
{
	*l = (struct atc_load){ 0 };
	for (unsigned int i = 1; i <= ZIPF_PAGES; i++)
		l->zeta += pow(i, -ZIPF_SKEW);
	weft_rand_seed(&l->r, 1);
}
