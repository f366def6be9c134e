/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* CXL.io packets of an end. Nothing passes a posted packet that came before it. */

#include "link_io_priv.h"

#include "weft_base.h"
#include "weft_carve.h"

static const enum weft_link_counter came_rows[WEFT_IO_CLASSES] = {
	[WEFT_IO_POSTED] = WEFT_LINK_N_IO_POSTED,
	[WEFT_IO_REQUEST] = WEFT_LINK_N_IO_REQUESTS,
	[WEFT_IO_COMPLETION] = WEFT_LINK_N_IO_COMPLETIONS,
};

struct link_io *
link_io_carve(struct weft_carver *carver, const struct weft_link_cfg *cfg)
{
	struct link_io *io = weft_carve(carver, sizeof(*io));

	if (io != NULL)
		*io = (struct link_io){ .fn = cfg->io, .arg = cfg->io_arg };
	for (unsigned int c = 0; c < WEFT_IO_CLASSES; c++) {
		const uint16_t room = cfg->io_room[c];
		struct weft_io_tlp *tlp = weft_carve(carver, room * sizeof(*tlp));
		uint32_t *behind = weft_carve(carver, room * sizeof(*behind));

		if (io != NULL)
			io->rx_queue[c] = (struct link_io_queue){
				.tlp = tlp, .behind = behind, .room = room
			};
	}
	return io;
}

void
link_io_begin(struct link_io *io, enum weft_form form)
{
	weft_io_pack_init(&io->pack, form);
	weft_io_unpack_init(&io->unpack, form);
	io->open = io->peer_granted = io->credits_pending = io->is_broken = false;
	io->ahead = 0;
	io->turn = 0;
	io->posted_came = io->posted_gone = 0;
	for (unsigned int c = 0; c < WEFT_IO_CLASSES; c++) {
		io->allowed[c] = io->sent[c] = io->advertised[c] = io->received[c] = 0;
		io->granted[c] = (uint8_t)io->rx_queue[c].room;
		io->rx_queue[c].head = io->rx_queue[c].n = 0;
	}
}

/* --- sending --- */

bool
link_io_has_credit(const struct link_io *io, enum weft_io_class c)
{
	return io->allowed[c] != io->sent[c];
}

static uint8_t
link_io_pending_now(const struct link_io *io, unsigned int c)
{
	return (uint8_t)(io->granted[c] - io->advertised[c]);
}

bool
link_io_pending(const struct link_io *io)
{
	return (link_io_pending_now(io, WEFT_IO_POSTED) | link_io_pending_now(io, WEFT_IO_REQUEST) |
		       link_io_pending_now(io, WEFT_IO_COMPLETION)) != 0;
}

bool
link_io_is_urgent(const struct link_io *io)
{
	for (unsigned int c = 0; c < WEFT_IO_CLASSES; c++)
		if (link_io_pending_now(io, c) != 0 &&
			link_io_pending_now(io, c) >= io->rx_queue[c].room / 2)
			return true;
	return false;
}

/* Classes take turns; a count says all that it said before, so nothing is lost by waiting. */
static void
link_io_put_dllp(struct link_io *io, uint8_t *dllp)
{
	for (unsigned int i = 0; i < WEFT_IO_CLASSES; i++) {
		const unsigned int c = (io->turn + i) % WEFT_IO_CLASSES;

		if (link_io_pending_now(io, c) == 0)
			continue;
		weft_io_update_put(dllp, (enum weft_io_class)c, io->granted[c]);
		io->advertised[c] = io->granted[c];
		io->turn = (uint8_t)((c + 1) % WEFT_IO_CLASSES);
		return;
	}
	weft_io_dllp_nop(dllp);
}

void
link_io_open(struct link_io *io)
{
	if (io->open)
		return;
	weft_io_pack_begin(&io->pack, io->flit);
	io->open = true;
}

void
link_io_put(struct link_io *io, uint8_t *slot)
{
	const bool runs_over = weft_io_pack_end(&io->pack);

	link_io_put_dllp(io, io->flit + WEFT_IO_DLLP_OFF);
	memcpy(slot, io->flit, WEFT_FLIT_LEN);
	io->open = false;
	io->credits_pending = false;
	if (runs_over)
		link_io_open(io);
}

/* --- receiving --- */

static void
link_io_note_consumed(struct link_io *io, enum weft_io_class c)
{
	io->posted_gone += c == WEFT_IO_POSTED;
	io->granted[c]++;
}

static bool
link_io_posted_first(const struct link_io *io, enum weft_io_class c, uint32_t behind)
{
	return c != WEFT_IO_POSTED && (int32_t)(io->posted_gone - behind) < 0;
}

static void
link_io_packet(void *arg, const struct weft_io_tlp *t)
{
	struct link_io *io = arg;
	const enum weft_io_class c = (enum weft_io_class)weft_io_class(t); /* it was unpacked */
	struct link_io_queue *b = &io->rx_queue[c];
	const uint32_t behind = io->posted_came;
	unsigned int at;

	if (io->received[c] == io->advertised[c]) {
		io->count[WEFT_LINK_N_IO_NO_CREDIT]++;
		return;
	}
	io->received[c]++;
	io->count[came_rows[c]]++;
	io->posted_came += c == WEFT_IO_POSTED;
	if (b->n == 0 && !link_io_posted_first(io, c, behind) && io->fn != NULL &&
		io->fn(io->arg, t)) {
		link_io_note_consumed(io, c);
		return;
	}
	at = (uint16_t)(b->head + b->n++) % b->room;
	weft_io_copy(&b->tlp[at], t);
	b->behind[at] = behind;
}

static void
link_io_credits_arrived(struct link_io *io, const uint8_t *flit)
{
	uint8_t total;
	int c;

	/* Other DLLPs are not supported. */
	if (weft_flit_hdr_get(flit).dllp_type)
		return;
	c = weft_io_update_get(flit + WEFT_IO_DLLP_OFF, &total);
	if (c < 0)
		return;
	/* More than any receiver grants, or less than it has granted. */
	if ((uint8_t)(total - io->sent[c]) > WEFT_LINK_IO_ROOM_MAX) {
		io->count[WEFT_LINK_N_BAD_CRD]++;
		return;
	}
	io->allowed[c] = total;
	io->peer_granted = true;
}

void
link_io_flit(struct link_io *io, const uint8_t *flit)
{
	if (io->is_broken)
		return;
	link_io_credits_arrived(io, flit);
	if (weft_io_unpack_flit(&io->unpack, flit, link_io_packet, io) == WEFT_OK)
		return;
	io->is_broken = true;
	io->count[WEFT_LINK_N_IO_MALFORMED]++;
}

void
link_io_lost(struct link_io *io)
{
	io->count[WEFT_LINK_N_IO_MALFORMED] += !io->is_broken;
	io->is_broken = true;
}

const struct weft_io_tlp *
link_io_peek(const struct link_io *io, enum weft_io_class c)
{
	const struct link_io_queue *b = &io->rx_queue[c];

	return b->n == 0 || link_io_posted_first(io, c, b->behind[b->head]) ? NULL
	                                                                    : &b->tlp[b->head];
}

void
link_io_pop(struct link_io *io, enum weft_io_class c)
{
	struct link_io_queue *b = &io->rx_queue[c];

	assert(b->n != 0);
	b->head = (uint16_t)((b->head + 1) % b->room);
	b->n--;
	link_io_note_consumed(io, c);
}
