/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * A trace in memory. A file may be larger than that: it is refused before the machine has none
 * left for others.
 */

#include "frames.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sysinfo.h>

#include "weft_base.h"
#include "weft_wire.h"

#define FRAMES_MIN 1024u
#define BYTES_MIN ((size_t)1 << 20)

/* Half of the machine's memory: buffers of packets and other programs want some as well. */
static size_t
frames_most_bytes(void)
{
	struct sysinfo s;

	return sysinfo(&s) != 0 ? SIZE_MAX : (size_t)s.totalram * s.mem_unit / 2;
}

/* Have room for one frame more, of @len bytes. */
static int
frames_grow(struct frames *f, size_t len)
{
	void *more;

	if (f->n == f->room) {
		const size_t room = f->room == 0 ? FRAMES_MIN : 2 * f->room;

		more = reallocarray(f->frame, room, sizeof(*f->frame));
		if (more == NULL)
			return -ENOMEM;
		f->frame = more;
		f->room = room;
	}
	if (len > f->bytes_room - f->used) {
		const size_t room = f->bytes_room == 0 ? BYTES_MIN : 2 * f->bytes_room;

		more = realloc(f->bytes, room);
		if (more == NULL)
			return -ENOMEM;
		f->bytes = more;
		f->bytes_room = room;
	}
	return 0;
}

static uint8_t
frames_flits(const uint8_t *frame, size_t len)
{
	struct weft_wire_hdr h;

	return weft_wire_parse(frame, len, &h) == WEFT_OK ? h.n_flits : 0;
}

static int
frames_add(struct frames *f, const struct receiver_cfg *cfg, const struct trace_packet *p,
	uint64_t packet, uint64_t first_ns)
{
	const size_t len = receiver_head(p) + p->len;
	enum weft_verdict v = receiver_check_packet(p);
	struct frame *one;
	uint64_t at_ns;

	if (v == WEFT_OK && len < WEFT_ETH_LEN)
		v = WEFT_DROP_RUNT;
	if (v != WEFT_OK) {
		f->skipped[v]++;
		return 0;
	}
	if (frames_grow(f, len) != 0)
		return -ENOMEM;
	at_ns = p->has_time && p->time_ns > first_ns ? p->time_ns - first_ns : 0;
	one = &f->frame[f->n];
	*one = (struct frame){
		.at_ns = f->n != 0 && f->frame[f->n - 1].at_ns > at_ns ? f->frame[f->n - 1].at_ns
		                                                       : at_ns,
		.off = f->used,
		.packet = (uint32_t)packet,
		.len = (uint16_t)len,
		.direction = p->direction,
	};
	receiver_put(cfg, p, f->bytes + f->used);
	one->n_flits = frames_flits(f->bytes + f->used, len);
	f->has_raw |= receiver_head(p) != 0;
	f->longest = len > f->longest ? (uint16_t)len : f->longest;
	f->used += len;
	f->n++;
	return 0;
}

int
frames_load(struct frames *f, const char *path, struct trace *t, const struct receiver_cfg *cfg,
	char *err, size_t err_len)
{
	const size_t most = frames_most_bytes();
	enum trace_read got;
	struct trace_packet p;
	uint64_t packet = 0, first_ns = UINT64_MAX;

	memset(f, 0, sizeof(*f));
	while ((got = trace_next(t, &p)) == TRACE_PACKET) {
		if (first_ns == UINT64_MAX && p.has_time)
			first_ns = p.time_ns;
		if (++packet > UINT32_MAX || f->used > most ||
			frames_add(f, cfg, &p, packet, first_ns) != 0)
			return weft_errorf(err, err_len, -ENOMEM,
				"%s: packet %llu: out of memory: a trace is read whole before it "
				"is sent, at most half of this machine's memory",
				path, (unsigned long long)packet);
	}
	f->is_truncated = got == TRACE_TRUNCATED;
	if (got == TRACE_BROKEN)
		return weft_errorf(err, err_len, -EINVAL, "%s", trace_why(t));
	return 0;
}

void
frames_free(struct frames *f)
{
	free(f->frame);
	free(f->bytes);
}

unsigned int
frames_max_flits(const struct frames *f)
{
	if (f->longest <= WEFT_WIRE_FRAME_LEN(1))
		return 1;
	return (unsigned int)((f->longest - WEFT_WIRE_FLITS_OFF + WEFT_WIRE_FLIT_LEN - 1) /
			      WEFT_WIRE_FLIT_LEN);
}
