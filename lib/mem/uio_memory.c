/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Answers to UIO requests: see weft_uio_memory.h. */

#include "weft_uio_memory.h"

#include <errno.h>

#include "weft_gfam_access.h"
#include "weft_guess.h"

#define LINE 64
#define LOWER_MASK 0x7F

const struct weft_counter weft_uio_memory_counters[] = {
#define WEFT_COUNTER(id, name, unit, help) { name, unit, help },
#include "weft_uio_memory_counters.def"
#undef WEFT_COUNTER
};

int
weft_uio_memory_init(struct weft_uio_memory *m, const struct weft_uio_memory_cfg *cfg)
{
	if (cfg->split != 64 && cfg->split != 128 && cfg->split != 256)
		return -EINVAL;
	*m = (struct weft_uio_memory){ .cfg = *cfg, .skew = 0 - cfg->hpa_base };
	return 0;
}

/* A range that begins inside and ends outside crosses a limit. */
static enum weft_gfam_answer
memory_within(const struct weft_uio_memory *m, uint64_t at, uint16_t len)
{
	if (at >= m->cfg.len)
		return WEFT_GFAM_UR;
	return len <= m->cfg.len - at ? WEFT_GFAM_SERVE : WEFT_GFAM_CA;
}

/* How a request is answered; @p at receives where it leads. */
static enum weft_gfam_answer
memory_judge(struct weft_uio_memory *m, const struct weft_io_tlp *req, const struct weft_uio *u,
	uint64_t *at)
{
	const uint16_t rpid = m->cfg.by_prefix ? req->prefix_pid : req->spid;
	struct weft_gfam_decision d;
	enum weft_gfam_answer answer;

	if (m->cfg.by_prefix && !req->has_prefix) {
		m->count[WEFT_UIO_MEMORY_N_NOBODY]++;
		return WEFT_GFAM_UR;
	}
	*at = u->addr - m->cfg.hpa_base;
	if (m->cfg.guard == NULL)
		return memory_within(m, *at, u->len);
	answer = weft_gfam_access_check_uio(
		m->cfg.guard, rpid, u->addr, u->len, u->kind == WEFT_UIO_WRITE, &d);
	*at = d.dpa;
	/* A DMP is larger than memory need be. */
	return answer == WEFT_GFAM_SERVE ? memory_within(m, *at, u->len) : answer;
}

static bool
memory_is_poisoned(const struct weft_uio_memory *m, uint64_t at, uint16_t len)
{
	for (uint64_t l = at / LINE; m->cfg.poison != NULL && l <= (at + len - 1) / LINE; l++)
		if ((m->cfg.poison[l / 64] >> l % 64 & 1) != 0)
			return true;
	return false;
}

static void
memory_write_range(struct weft_uio_memory *m, uint64_t at, const struct weft_uio *u)
{
	memcpy(m->cfg.mem + at, u->data, u->len);
	for (uint64_t l = at / LINE; m->cfg.poison != NULL && l <= (at + u->len - 1) / LINE; l++) {
		const uint64_t bit = WEFT_BIT64(l % 64);

		if (u->poison)
			m->cfg.poison[l / 64] |= bit;
		else if (l * LINE >= at && l * LINE + LINE <= at + u->len)
			m->cfg.poison[l / 64] &= ~bit;
	}
}

/* PIF, and the prefix of the request, if there was one. */
static void
memory_address(struct weft_io_tlp *cpl, const struct weft_io_tlp *req)
{
	cpl->pif = true;
	cpl->has_prefix = req->has_prefix;
	cpl->prefix_pid = req->has_prefix ? req->prefix_pid : 0;
}

static unsigned int
memory_read_range(struct weft_uio_memory *m, const struct weft_io_tlp *req,
	const struct weft_uio *u, uint64_t at, struct weft_io_tlp *cpl)
{
	const bool poison = memory_is_poisoned(m, at, u->len);
	unsigned int n = 0;

	m->count[WEFT_UIO_MEMORY_N_POISON_READS] += poison;
	for (uint16_t done = 0; done < u->len; n++) {
		const uint64_t addr = u->addr + done;
		const uint64_t to_limit = m->cfg.split - addr % m->cfg.split;
		const uint16_t left = (uint16_t)(u->len - done);
		const struct weft_uio c = {
			.kind = WEFT_UIO_CPLD,
			.poison = poison,
			.requester = u->requester,
			.tag = u->tag,
			.completer = m->cfg.completer,
			.left = left,
			.len = left < to_limit ? left : (uint16_t)to_limit,
			.lower = (uint8_t)(addr & LOWER_MASK),
			.data = m->cfg.mem + at + done,
		};

		weft_uio_encode(&cpl[n], &c);
		memory_address(&cpl[n], req);
		done = (uint16_t)(done + c.len);
	}
	return n;
}

static unsigned int
memory_answer_without_data(struct weft_uio_memory *m, const struct weft_io_tlp *req, uint8_t status,
	struct weft_io_tlp *cpl)
{
	weft_uio_refuse(req, (enum weft_uio_cpl)status, m->cfg.completer, cpl);
	memory_address(cpl, req);
	return 1;
}

static unsigned int
memory_execute(struct weft_uio_memory *m, const struct weft_io_tlp *req, const struct weft_uio *u,
	struct weft_io_tlp *cpl)
{
	uint64_t at = 0;
	const enum weft_gfam_answer answer = memory_judge(m, req, u, &at);

	m->count[u->kind == WEFT_UIO_READ ? WEFT_UIO_MEMORY_N_READS : WEFT_UIO_MEMORY_N_WRITES]++;
	switch (answer) {
	case WEFT_GFAM_SERVE:
		m->skew = at - u->addr;
		if (u->kind == WEFT_UIO_READ)
			return memory_read_range(m, req, u, at, cpl);
		memory_write_range(m, at, u);
		return memory_answer_without_data(m, req, WEFT_UIO_SC, cpl);
	case WEFT_GFAM_CMP:
		m->count[WEFT_UIO_MEMORY_N_READ_ONLY]++;
		return memory_answer_without_data(m, req, WEFT_UIO_SC, cpl);
	case WEFT_GFAM_CA:
		m->count[WEFT_UIO_MEMORY_N_CA]++;
		return memory_answer_without_data(m, req, WEFT_UIO_CA, cpl);
	default:
		m->count[WEFT_UIO_MEMORY_N_UR]++;
		return memory_answer_without_data(m, req, WEFT_UIO_UR, cpl);
	}
}

enum weft_verdict
weft_uio_serve(struct weft_uio_memory *m, const struct weft_io_tlp *req, struct weft_io_tlp *cpl,
	unsigned int *n)
{
	struct weft_uio u;
	const int rc = weft_uio_decode(req, &u);

	*n = 0;
	if (rc != 0 || u.kind > WEFT_UIO_WRITE) {
		m->count[WEFT_UIO_MEMORY_N_MALFORMED]++;
		return rc == -EINVAL ? WEFT_DROP_BAD_OPCODE : WEFT_DROP_WRONG_CLASS;
	}
	*n = memory_execute(m, req, &u, cpl);
	m->count[WEFT_UIO_MEMORY_N_COMPLETIONS] += *n;
	return WEFT_OK;
}

void
weft_uio_look_ahead(const struct weft_uio_memory *m, const uint8_t *flit)
{
	struct weft_guess_uio read[WEFT_GUESS_UIO] __attribute__((uninitialized));
	const unsigned int n = weft_guess_uio_reads(flit, read);

	for (unsigned int i = 0; i < n; i++) {
		const uint64_t at = read[i].addr + m->skew;

		if (at >= m->cfg.len || read[i].len > m->cfg.len - at ||
			read[i].len > WEFT_UIO_BYTES_MAX)
			continue;
		if (m->cfg.poison != NULL)
			__builtin_prefetch(&m->cfg.poison[at / LINE / 64]);
		for (uint64_t l = at / LINE; l * LINE < at + read[i].len; l++)
			__builtin_prefetch(m->cfg.mem + l * LINE);
	}
}
