/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * A client: its thread, from the first fill to the last read. Whenever an operation ends, another
 * begins; or, with --rate, when it is due, whatever has become of those before: then how long it
 * lasted counts from when it was due, so that a fabric that stood still is not made to look good by
 * what was not asked of it meanwhile. Hot: client_measure() and what it calls.
 */

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli.h"
#include "load.h"
#include "reach.h"
#include "weft_base.h"

#define LOOK_NS (200 * INT64_C(1000000)) /* between looks for a signal */
#define AWAKE_NS INT64_C(100000) /* a sleep may last so much longer than it should */
#define BULK_LINES 1024 /* of a fill, and of a last read */
#define ENDS 128 /* operations taken at a time */

bool
load_is_over(const struct load *l)
{
	return cli_is_stopped() || __atomic_load_n(&l->has_failed, __ATOMIC_RELAXED) != 0;
}

void
client_fail(struct load_client *c, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (c->error[0] == '\0')
		vsnprintf(c->error, sizeof(c->error), fmt, ap);
	va_end(ap);
	__atomic_store_n(&c->load->has_failed, 1, __ATOMIC_RELAXED);
}

static void
client_fail_at(struct load_client *c, bool is_write, uint64_t off, int rc)
{
	const bool moves = c->load->opt.kind == LOAD_MOVE;

	if (moves && (rc == -ENXIO || rc == -EINVAL))
		client_fail(c,
			"move %s at 0x%" PRIx64 ": %s: see translations and their move_to in the "
			"topology",
			c->load->opt.region, off,
			rc == -ENXIO ? "no page that can move has a place there (ENXIO)"
				     : "the page is not all in the region (EINVAL)");
	else
		client_fail(c, "%s %s at 0x%" PRIx64 ": %s",
			moves      ? "move"
			: is_write ? "write"
				   : "read",
			c->load->opt.region, off, reach_words(rc));
}

static void
client_fail_call(struct load_client *c)
{
	client_fail(c, "%s: %s", c->load->opt.region, weft_error(c->w));
}

/* --- the first fill and the last read --- */

static uint64_t
client_lines(const struct load_client *c)
{
	return c->blocks * (c->load->opt.bytes / CHECK_LINE);
}

/* Lines of a piece of both: whole units. */
static uint64_t
client_bulk_lines(const struct load_client *c)
{
	const uint64_t unit = check_unit(c->check);

	return unit > BULK_LINES ? unit : BULK_LINES / unit * unit;
}

/* What is not known to be there is written again: it is the same. */
static void
client_fill(struct load_client *c, uint8_t *bulk)
{
	const uint64_t lines = client_lines(c), most = client_bulk_lines(c);
	uint64_t at = 0;

	while (at < lines && !load_is_over(c->load)) {
		const uint64_t n = lines - at < most ? lines - at : most;
		int rc;

		check_fill(c->check, at, n, bulk);
		rc = weft_write(c->r, c->base + at * CHECK_LINE, bulk, n * CHECK_LINE);
		if (rc == -ETIMEDOUT)
			continue;
		if (rc == -ESHUTDOWN)
			client_fail_call(c);
		else if (rc != 0)
			client_fail_at(c, true, weft_last_bad(c->w), rc);
		at += n;
	}
}

/* Some lines of the last read. @return how many are done with */
static uint64_t
client_sweep_piece(struct load_client *c, uint64_t at, uint64_t n, uint8_t *bulk)
{
	const uint64_t off = c->base + at * CHECK_LINE, unit = check_unit(c->check);
	const int rc = weft_read(c->r, off, bulk, n * CHECK_LINE);

	if (rc == 0) {
		check_lines(c->check, at, n, bulk);
		return n;
	}
	if (rc == -ETIMEDOUT) {
		c->bad.lost++;
		return 0;
	}
	if (rc == -EIO && n > unit) {
		uint64_t done = 0;

		while (done < n && !load_is_over(c->load))
			done += client_sweep_piece(c, at + done, unit, bulk);
		return done;
	}
	if (rc == -EIO) {
		c->bad.failed_at = c->bad.failed++ == 0 ? off : c->bad.failed_at;
		return unit;
	}
	if (rc == -ESHUTDOWN)
		client_fail_call(c);
	else
		client_fail_at(c, false, weft_last_bad(c->w), rc);
	return 0;
}

static void
client_sweep(struct load_client *c, uint8_t *bulk)
{
	const uint64_t lines = client_lines(c), most = client_bulk_lines(c);
	uint64_t at = 0;

	while (at < lines && !load_is_over(c->load)) {
		const uint64_t n = lines - at < most ? lines - at : most;

		at += client_sweep_piece(c, at, n, bulk);
	}
	c->is_swept = at == lines;
}

/* --- operations --- */

static bool
client_wants_write(struct load_client *c)
{
	switch (c->load->opt.op) {
	case LOAD_READ: return false;
	case LOAD_WRITE: return true;
	default: return weft_rand_below(&c->rand, 100) < c->load->opt.write_percent;
	}
}

/* When the next operation begins. False: none does yet. */
static bool
client_due(const struct load_client *c, uint64_t now_ns, uint64_t *at_ns)
{
	*at_ns = now_ns;
	if (c->period_ns != 0)
		*at_ns = c->start_ns + (uint64_t)((double)c->prepared * c->period_ns);
	return *at_ns <= now_ns && now_ns < c->stop_ns && (c->left > 0 || *at_ns < c->first_ns);
}

/* Whether none will begin any more. */
static bool
client_is_last(const struct load_client *c, uint64_t now_ns)
{
	uint64_t at_ns;

	client_due(c, now_ns, &at_ns);
	return now_ns >= c->stop_ns || (c->left == 0 && at_ns >= c->first_ns);
}

static void
client_prepare_slot(struct load_client *c, struct load_slot *s, uint32_t slot)
{
	const uint64_t size = c->load->opt.bytes;

	c->ready[c->n_ready++] = (struct weft_op){
		.kind = c->load->opt.kind == LOAD_MOVE ? WEFT_OP_MOVE
		        : s->is_write                  ? WEFT_OP_WRITE
		                                       : WEFT_OP_READ,
		.region = c->r,
		.off = c->base + s->block * size,
		.buf = c->data + slot * size,
		.n = size,
		.user = slot,
	};
}

static void
client_prepare(struct load_client *c, uint64_t now_ns)
{
	const uint64_t size = c->load->opt.bytes;
	uint64_t at_ns;

	while (c->n_free > 0 && client_due(c, now_ns, &at_ns)) {
		const uint32_t slot = c->free[c->n_free - 1];
		struct load_slot *s = &c->slot[slot];

		s->begun_ns = at_ns;
		s->is_write = client_wants_write(c);
		s->block = weft_choice_next(&c->choice, &c->rand);
		if (c->check != NULL) {
			if (!check_choose(c->check, now_ns, &s->block, &s->is_write))
				return;
			check_begin(c->check, s->block, s->is_write, c->data + slot * size);
		}
		c->n_free--;
		c->prepared++;
		c->left -= at_ns >= c->first_ns;
		client_prepare_slot(c, s, slot);
	}
}

static void
client_submit(struct load_client *c)
{
	const int n = c->n_ready == 0 ? 0 : weft_submit(c->w, c->ready, (int)c->n_ready);

	if (n < 0) {
		client_fail_call(c);
		return;
	}
	c->n_open += (uint32_t)n;
	c->n_ready -= (uint32_t)n;
	if (c->n_ready != 0 && n != 0)
		memmove(c->ready, c->ready + n, c->n_ready * sizeof(c->ready[0]));
}

__attribute__((cold)) static void
client_end_badly(struct load_client *c, const struct load_slot *s, const struct weft_done *d)
{
	if (d->status == -ETIMEDOUT)
		c->bad.lost++;
	else if (d->status == -EIO)
		c->bad.failed_at = c->bad.failed++ == 0 ? d->bad : c->bad.failed_at;
	else
		client_fail_at(c, s->is_write, d->bad, d->status);
}

static void
client_end(struct load_client *c, const struct weft_done *d, uint64_t now_ns)
{
	const uint32_t slot = (uint32_t)d->user;
	const struct load_slot *s = &c->slot[slot];
	struct load_count *count = s->is_write ? &c->write : &c->read;

	if (c->check != NULL && s->is_write)
		check_end_write(c->check, s->block, d->status, now_ns);
	else if (c->check != NULL)
		check_end_read(c->check, s->block, d->status, c->data + slot * c->load->opt.bytes);
	c->free[c->n_free++] = slot;
	if (d->status != 0) {
		client_end_badly(c, s, d);
	} else if (s->begun_ns >= c->first_ns) {
		count->ops++;
		weft_latency_add(&count->latency, now_ns - s->begun_ns);
	}
}

/* How long there is nothing to do but to wait for operations to end; 0: look. */
static int64_t
client_patience(const struct load_client *c, uint64_t now_ns)
{
	uint64_t at_ns;

	if (c->period_ns == 0 || c->n_free == 0 || client_is_last(c, now_ns))
		return LOOK_NS;
	client_due(c, now_ns, &at_ns);
	if (at_ns > c->stop_ns)
		at_ns = c->stop_ns;
	if (at_ns <= now_ns + AWAKE_NS)
		return 0;
	at_ns -= now_ns + AWAKE_NS;
	return at_ns < LOOK_NS ? (int64_t)at_ns : LOOK_NS;
}

/* Nothing is open, and nothing is due. */
static void
client_sleep(int64_t ns)
{
	const struct timespec t = { .tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000 };

	if (ns > 0)
		nanosleep(&t, NULL);
}

/* @return the time behind it */
static uint64_t
client_wait(struct load_client *c, uint64_t now_ns)
{
	struct weft_done done[ENDS];
	const int64_t patience = client_patience(c, now_ns);
	int n;

	if (c->n_open == 0)
		client_sleep(patience);
	n = weft_wait(c->w, done, ENDS, patience);
	now_ns = reach_now_ns();
	if (n < 0)
		client_fail_call(c);
	for (int i = 0; i < n; i++)
		client_end(c, &done[i], now_ns);
	if (n > 0) {
		c->n_open -= (uint32_t)n;
		c->end_ns = now_ns;
	}
	return now_ns;
}

static void
client_start(struct load_client *c)
{
	const struct load_options *o = &c->load->opt;
	const uint64_t now = reach_now_ns();

	/* Those of one client lie between those of another. */
	c->period_ns = o->rate == 0 ? 0 : 1e9 * (double)o->clients / (double)o->rate;
	c->start_ns = now + (uint64_t)(c->period_ns * c->number / o->clients);
	c->first_ns = now + (uint64_t)(o->warmup * 1e9);
	c->stop_ns = o->seconds == 0 ? UINT64_MAX : c->first_ns + (uint64_t)(o->seconds * 1e9);
	c->end_ns = c->first_ns;
	c->left =
		o->ops == 0 ? UINT64_MAX : o->ops / o->clients + (c->number < o->ops % o->clients);
}

/* Operations of the schedule that are due before @p ns, from the first on. */
static uint64_t
client_schedule(const struct load_client *c, uint64_t ns)
{
	if (ns <= c->start_ns)
		return 0;
	return (uint64_t)ceil((double)(ns - c->start_ns) / c->period_ns);
}

/* None begins any more since @p end_ns. */
static void
client_close(struct load_client *c, uint64_t end_ns)
{
	uint64_t due, warm;

	/* After an error nothing was done from the last end on. */
	if (!load_is_over(c->load) && c->end_ns < end_ns)
		c->end_ns = end_ns;
	if (c->period_ns == 0 || c->left == 0)
		return;
	due = client_schedule(c, end_ns);
	if (due <= c->prepared)
		return;
	/* Those of the warm-up are none of --ops. */
	warm = client_schedule(c, c->first_ns < end_ns ? c->first_ns : end_ns);
	warm = warm > c->prepared ? warm - c->prepared : 0;
	c->bad.not_begun = due - c->prepared;
	if (c->bad.not_begun - warm > c->left)
		c->bad.not_begun = warm + c->left;
}

static void
client_measure(struct load_client *c)
{
	uint64_t now;

	client_start(c);
	for (now = reach_now_ns(); !load_is_over(c->load); now = client_wait(c, now)) {
		client_prepare(c, now);
		client_submit(c);
		if (c->n_open == 0 && c->n_ready == 0 && client_is_last(c, now))
			break;
	}
	client_close(c, now < c->stop_ns ? now : c->stop_ns);
}

void *
client_main(void *arg)
{
	struct load_client *c = arg;
	uint8_t *bulk = c->check == NULL ? NULL : malloc(client_bulk_lines(c) * CHECK_LINE);

	if (c->check != NULL && bulk == NULL)
		client_fail(c, "no memory for client %" PRIu32, c->number);
	if (c->check != NULL && bulk != NULL)
		client_fill(c, bulk);
	pthread_barrier_wait(&c->load->barrier);
	client_measure(c);
	pthread_barrier_wait(&c->load->barrier);
	if (c->check != NULL && bulk != NULL)
		client_sweep(c, bulk);
	free(bulk);
	return NULL;
}
