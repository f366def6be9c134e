/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* What lines of a part must hold: see check.h. Hot: runs per operation of --verify. */

#include "check.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "sign.h"
#include "weft_line.h"
#include "weft_line_check.h"

#define NS_PER_MS 1000000

struct check_block {
	uint32_t no_write_before_ms; /* since the first loss */
	uint16_t readers;
	bool is_writing;
	/* with signatures: what it holds, and what the open write makes of it */
	uint8_t holds, next; /* CHECK_SIGNED, .. */
};

enum { CHECK_SIGNED, CHECK_INJECTED, CHECK_UNKNOWN };

struct check {
	struct weft_line_owner owner;
	uint64_t base, size, blocks;
	uint64_t lines; /* of a block */
	uint64_t lost_ns; /* the first loss; 0: none */
	struct check_counts count;
	struct check_block *block;
	struct weft_line_state *line; /* NULL with signatures */
	struct sign *sign; /* NULL: without */
	uint64_t inject, n_writes;
};

static struct {
	pthread_mutex_t lock;
	const char *region;
	unsigned int n;
	struct check_mismatch list[CHECK_SAID_MAX];
} check_all = { .lock = PTHREAD_MUTEX_INITIALIZER };

void
check_name(const char *region)
{
	check_all.region = region;
}

unsigned int
check_said(const struct check_mismatch **m)
{
	*m = check_all.list;
	return check_all.n;
}

struct check *
check_make(uint64_t seed, uint32_t writer, uint64_t base, uint64_t size, uint64_t blocks)
{
	struct check *k = calloc(1, sizeof(*k));

	if (k == NULL)
		return NULL;
	k->owner = (struct weft_line_owner){ .seed = seed, .writer = writer };
	k->base = base;
	k->size = size;
	k->blocks = blocks;
	k->lines = size / CHECK_LINE;
	k->block = calloc(blocks, sizeof(*k->block));
	k->line = calloc(blocks * k->lines, sizeof(*k->line));
	if (k->block != NULL && k->line != NULL)
		return k;
	check_free(k);
	return NULL;
}

struct check *
check_make_signed(struct sign *sign, uint64_t base, uint64_t size, uint64_t blocks, uint64_t inject)
{
	struct check *k = calloc(1, sizeof(*k));

	if (k == NULL) {
		sign_free(sign);
		return NULL;
	}
	k->base = base;
	k->size = size;
	k->blocks = blocks;
	k->lines = size / CHECK_LINE;
	k->sign = sign;
	k->inject = inject;
	k->block = calloc(blocks, sizeof(*k->block));
	if (k->block != NULL)
		return k;
	check_free(k);
	return NULL;
}

uint64_t
check_unit(const struct check *k)
{
	return k->sign != NULL ? k->lines : 1;
}

void
check_free(struct check *k)
{
	if (k == NULL)
		return;
	sign_free(k->sign);
	free(k->block);
	free(k->line);
	free(k);
}

const struct check_counts *
check_counts(const struct check *k)
{
	return &k->count;
}

static uint64_t
check_offset(const struct check *k, uint64_t line)
{
	return k->base + line * CHECK_LINE;
}

/* --- mismatches --- */

static void
check_bytes(char *text, const uint8_t *p, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		text += sprintf(text, "%s%02x", i == 0 ? "" : " ", p[i]);
}

static void
check_print(const struct check_mismatch *m)
{
	char expected[3 * CHECK_BYTES], got[3 * CHECK_BYTES];

	check_bytes(expected, m->expected, m->n_bytes);
	check_bytes(got, m->got, m->n_bytes);
	cli_warn("mismatch in %s at 0x%" PRIx64 ": expected %s, got %s: %s", check_all.region,
		m->offset, expected, got, m->why);
}

static void
check_why(struct check_mismatch *m, const struct check *k, const struct weft_line_state *s,
	enum weft_line_verdict v, uint64_t version, const uint8_t *data)
{
	struct weft_line_id id;

	if (v == WEFT_LINE_STALE && version == 0)
		snprintf(m->why, sizeof(m->why), "zeros, where write %" PRIu64 " was acknowledged",
			s->last - s->version_slack);
	else if (v == WEFT_LINE_STALE)
		snprintf(m->why, sizeof(m->why),
			"write %" PRIu64 " of the line, after write %" PRIu64 " was acknowledged",
			version, s->last - s->version_slack);
	else if (v == WEFT_LINE_MISPLACED && weft_line_read(data, k->owner.seed, &id))
		snprintf(m->why, sizeof(m->why), "the line of 0x%" PRIx64 ", by client %u", id.hpa,
			id.writer);
	else
		snprintf(m->why, sizeof(m->why), "nothing that this run wrote");
}

/* A line that is wrong is found so by every read. */
static bool
check_is_new(uint64_t offset)
{
	for (unsigned int i = 0; i < check_all.n; i++)
		if (check_all.list[i].offset == offset)
			return false;
	return true;
}

__attribute__((cold)) static void
check_say(struct check *k, uint64_t line, enum weft_line_verdict v, uint64_t version,
	const uint8_t *data)
{
	const struct weft_line_state *s = &k->line[line];
	const struct weft_line_id id = { check_offset(k, line), s->last, k->owner.writer };
	uint8_t expected[CHECK_LINE];
	struct check_mismatch m = { 0 };
	unsigned int at = 0;

	weft_line_fill(expected, k->owner.seed, &id);
	while (at < CHECK_LINE - 1 && expected[at] == data[at])
		at++;
	m.offset = id.hpa + at;
	m.n_bytes = (uint8_t)(CHECK_LINE - at < CHECK_BYTES ? CHECK_LINE - at : CHECK_BYTES);
	memcpy(m.expected, expected + at, m.n_bytes);
	memcpy(m.got, data + at, m.n_bytes);
	check_why(&m, k, s, v, version, data);
	pthread_mutex_lock(&check_all.lock);
	if (check_all.n < CHECK_SAID_MAX && check_is_new(m.offset)) {
		check_all.list[check_all.n++] = m;
		check_print(&m);
	}
	pthread_mutex_unlock(&check_all.lock);
}

/* --- blocks with signatures --- */

static void
check_put_signed(struct check *k, uint64_t block, uint8_t *data)
{
	struct check_block *b = &k->block[block];

	sign_put(k->sign, block, data);
	b->next = CHECK_SIGNED;
	if (k->inject == 0 || ++k->n_writes % k->inject != 0)
		return;
	data[k->n_writes / k->inject % k->size / 2] ^= 1;
	b->next = CHECK_INJECTED;
	k->count.injected++;
}

__attribute__((cold)) static void
check_say_signed(struct check *k, uint64_t block, const struct weft_sig_error *e)
{
	const bool is_lost = e->type == WEFT_SIG_NO_ERROR;
	struct check_mismatch m = { .n_bytes = is_lost ? 0 : CHECK_BYTES };

	k->count.mismatches++;
	m.offset = k->base + block * k->size + e->offset;
	weft_put_be64(m.expected, e->computed); /* as people write it */
	weft_put_be64(m.got, e->stored);
	snprintf(m.why, sizeof(m.why), "%s",
		is_lost ? "an error was put there, and its signature is right"
			: sign_word(e->type));
	pthread_mutex_lock(&check_all.lock);
	if (check_all.n < CHECK_SAID_MAX && check_is_new(m.offset)) {
		check_all.list[check_all.n++] = m;
		if (is_lost)
			cli_warn("signature in %s at 0x%" PRIx64 ": %s", check_all.region, m.offset,
				m.why);
		else
			cli_warn("bad signature in %s at 0x%" PRIx64 ": expected 0x%" PRIx64
				 ", got 0x%" PRIx64 ": %s",
				check_all.region, m.offset, e->computed, e->stored, m.why);
	}
	pthread_mutex_unlock(&check_all.lock);
}

static void
check_signed(struct check *k, uint64_t block, const uint8_t *data)
{
	const uint8_t holds = k->block[block].holds;
	struct weft_sig_error e;
	const bool is_good = sign_check(k->sign, block, data, &e);

	if (holds == CHECK_UNKNOWN)
		return;
	if (is_good != (holds == CHECK_SIGNED))
		check_say_signed(k, block, &e);
	else if (is_good)
		k->count.verified += sign_blocks(k->sign);
	else
		k->count.found++;
}

void
check_lines(struct check *k, uint64_t line, uint64_t n, const uint8_t *data)
{
	for (uint64_t i = line; k->sign != NULL && i < line + n; i += k->lines)
		check_signed(k, i / k->lines, data + (i - line) * CHECK_LINE);
	if (k->sign != NULL)
		return;
	for (uint64_t i = line; i < line + n; i++, data += CHECK_LINE) {
		uint64_t version;
		const enum weft_line_verdict v =
			weft_line_check(&k->owner, &k->line[i], check_offset(k, i), data, &version);

		if (v == WEFT_LINE_GOOD) {
			weft_line_state_seen(&k->line[i], k->owner.run, version);
			k->count.verified++;
		} else {
			k->count.mismatches++;
			check_say(k, i, v, version, data);
		}
	}
}

/* --- what is open --- */

static bool
check_may_write(const struct check *k, const struct check_block *b, uint64_t now_ns)
{
	return b->no_write_before_ms == 0 ||
	       (now_ns - k->lost_ns) / NS_PER_MS >= b->no_write_before_ms;
}

bool
check_choose(struct check *k, uint64_t now_ns, uint64_t *block, bool *is_write)
{
	for (uint64_t i = 0; i < k->blocks; i++) {
		const struct check_block *b = &k->block[*block];
		const bool writes = *is_write && check_may_write(k, b, now_ns);

		if (!b->is_writing && (!writes || b->readers == 0)) {
			*is_write = writes;
			return true;
		}
		*block = *block + 1 == k->blocks ? 0 : *block + 1;
	}
	return false;
}

void
check_begin(struct check *k, uint64_t block, bool is_write, uint8_t *data)
{
	struct check_block *b = &k->block[block];

	if (!is_write) {
		b->readers++;
		return;
	}
	b->is_writing = true;
	if (k->sign != NULL) {
		check_put_signed(k, block, data);
		return;
	}
	for (uint64_t i = block * k->lines; i < (block + 1) * k->lines; i++, data += CHECK_LINE) {
		weft_line_check_next(&k->owner, &k->line[i], check_offset(k, i), data);
		weft_line_state_begin(&k->line[i], k->owner.run);
	}
}

void
check_end_write(struct check *k, uint64_t block, int rc, uint64_t now_ns)
{
	struct check_block *b = &k->block[block];

	b->is_writing = false;
	b->holds = rc == 0 ? b->next : CHECK_UNKNOWN;
	for (uint64_t i = block * k->lines; k->sign == NULL && i < (block + 1) * k->lines; i++) {
		if (rc == 0)
			weft_line_state_settle(&k->line[i]);
		else
			weft_line_state_doubt(&k->line[i]);
	}
	if (rc == 0)
		return;
	if (k->lost_ns == 0)
		k->lost_ns = now_ns;
	b->no_write_before_ms = (uint32_t)((now_ns - k->lost_ns + CHECK_QUARANTINE_NS) / NS_PER_MS);
}

void
check_end_read(struct check *k, uint64_t block, int rc, const uint8_t *data)
{
	k->block[block].readers--;
	if (rc == 0)
		check_lines(k, block * k->lines, k->lines, data);
}

void
check_fill(struct check *k, uint64_t line, uint64_t n, uint8_t *data)
{
	for (uint64_t i = line; k->sign != NULL && i < line + n; i += k->lines)
		sign_put(k->sign, i / k->lines, data + (i - line) * CHECK_LINE);
	for (uint64_t i = line; k->sign == NULL && i < line + n; i++, data += CHECK_LINE) {
		weft_line_state_init(&k->line[i], k->owner.run);
		weft_line_check_next(&k->owner, &k->line[i], check_offset(k, i), data);
		weft_line_state_begin(&k->line[i], k->owner.run);
		weft_line_state_settle(&k->line[i]);
	}
}
