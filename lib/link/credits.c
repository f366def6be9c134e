/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Credits of one end: what may be sent, what is to be returned. */

#include "weft_credits.h"

#include "weft_base.h"

#define FIELD_MOST 16 /* credits that one CRD field carries */

void
weft_credits_init(
	struct weft_credits *f, const uint32_t room[WEFT_CREDIT_SETS][WEFT_CREDIT_CLASSES])
{
	memset(f, 0, sizeof(*f));
	f->is_granting = true;
	for (unsigned int s = 0; s < WEFT_CREDIT_SETS; s++)
		for (unsigned int c = 0; c < WEFT_CREDIT_CLASSES; c++) {
			assert(room[s][c] <= WEFT_CREDITS_ROOM_MAX);
			f->room[s][c] = room[s][c];
			f->pending[s][c] = room[s][c];
		}
}

/* RETRY-12 */
uint16_t
weft_credits_crd(struct weft_credits *f)
{
	for (unsigned int i = 0; i < WEFT_CREDIT_SETS; i++) {
		unsigned int s = (f->turn + i) % WEFT_CREDIT_SETS;
		uint32_t left[WEFT_CREDIT_CLASSES];
		uint16_t crd;

		static_assert(WEFT_CREDIT_CLASSES == 3, "all are looked at");
		memcpy(left, f->pending[s], sizeof(left));
		if ((left[0] | left[1] | left[2]) == 0)
			continue;
		crd = weft_credit_encode((enum weft_credit_set)s, left);
		if (crd == 0)
			continue;
		for (unsigned int c = 0; c < WEFT_CREDIT_CLASSES; c++) {
			f->outstanding[s][c] += f->pending[s][c] - left[c];
			f->pending[s][c] = left[c];
		}
		f->turn = (uint8_t)((s + 1) % WEFT_CREDIT_SETS);
		f->is_granting = f->is_granting && weft_credits_pending(f);
		return crd;
	}
	return 0;
}

bool
weft_credits_pending(const struct weft_credits *f)
{
	for (unsigned int s = 0; s < WEFT_CREDIT_SETS; s++)
		for (unsigned int c = 0; c < WEFT_CREDIT_CLASSES; c++)
			if (f->pending[s][c] != 0)
				return true;
	return false;
}

bool
weft_credits_is_urgent(const struct weft_credits *f)
{
	for (unsigned int s = 0; s < WEFT_CREDIT_SETS; s++)
		for (unsigned int c = 0; c < WEFT_CREDIT_CLASSES; c++)
			if (f->pending[s][c] >= FIELD_MOST ||
				(f->pending[s][c] != 0 && f->pending[s][c] >= f->room[s][c] / 2))
				return true;
	return f->is_granting && weft_credits_pending(f);
}

bool
weft_credits_crd_arrived(struct weft_credits *f, uint16_t crd)
{
	uint32_t got[WEFT_CREDIT_SETS][WEFT_CREDIT_CLASSES] = { 0 };
	bool good;

	if (crd == 0)
		return true;
	good = weft_credit_decode(crd, got);
	for (unsigned int s = 0; s < WEFT_CREDIT_SETS; s++)
		for (unsigned int c = 0; c < WEFT_CREDIT_CLASSES; c++) {
			if (f->may_send[s][c] + got[s][c] > WEFT_CREDITS_ROOM_MAX)
				good = false;
			else
				f->may_send[s][c] += got[s][c];
		}
	return good;
}
