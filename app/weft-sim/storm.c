/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Somebody on a link who has no keys: noise, and NOPs of any number with single-flit Naks for any,
 * one frame after another at the link's rate, in the name of the frame that went by last. He sends
 * nothing that acknowledges or is in turn: that may cost a session, which test/unit/link judges. In
 * cxl mode any number and any Nak does one or the other, so there he sends noise alone. None of
 * this may: all that was sent still arrives, in order, once.
 */

#include "sim.h"

#include "weft_codec.h"
#include "weft_isn.h"

/* A flit whose CRC and FEC are those of @p syndrome: of a number if it is intact. */
static void
storm_flit(struct sim *s, struct sim_frame *f)
{
	uint8_t *flit = f->data + WEFT_WIRE_FLITS_OFF;
	struct weft_flit_hdr h = { .type = WEFT_FLIT_IDLE_NOP };
	uint64_t syndrome = weft_rand_u64(&s->faults.rand);

	memset(flit, 0, WEFT_FLIT_LEN);
	if ((syndrome & 1) == 0 && s->sc.mode == WEFT_MODE_CXL)
		syndrome ^= 1;
	if ((syndrome & 1) == 0) {
		h.replay_cmd = WEFT_REPLAY_NAK_SELECTIVE;
		h.seq = (uint16_t)weft_rand_below(&s->faults.rand, WEFT_ISN_NUMBERS);
		syndrome = weft_isn_address(f->hdr.spid, f->hdr.dpid, f->hdr.vc) ^
		           weft_isn_number((unsigned int)weft_rand_below(
				   &s->faults.rand, WEFT_ISN_NUMBERS));
	}
	weft_flit_hdr_put(flit, &h);
	weft_codec_protect(
		&s->opt->codec, &flit, 1, (enum weft_crc_order)s->sc.crc_order, &syndrome);
}

void
storm_break(struct sim *s, uint32_t link_dir, const struct sim_frame *like)
{
	struct sim_link_dir *w = &s->link_dir[link_dir];

	for (uint64_t at_ns = s->now_ns + s->sc.latency_ns; w->storm != 0; w->storm--) {
		struct sim_frame *f = frame_copy(s, like);

		at_ns += s->sc.flit_ns;
		f->is_again = true;
		f->is_replayed = false;
		f->forged = 0;
		f->link_dir = link_dir;
		f->flap = w->flaps;
		f->hdr.n_flits = 1;
		f->len = WEFT_WIRE_FRAME_LEN(1);
		weft_wire_build(f->data, &f->hdr);
		storm_flit(s, f);
		heap_push(&s->heap, at_ns, EV_ARRIVE, f);
	}
}
