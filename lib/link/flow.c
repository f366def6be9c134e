/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Credits of one end: what may be sent, what is owed. */

#include "weft_flow.h"

#include "weft_base.h"

#define FIELD_MOST 16 /* credits that one CRD field carries */

void
weft_flow_init(struct weft_flow *f, const uint32_t room[WEFT_CREDIT_SETS][WEFT_CREDIT_CLASSES])
{
	memset(f, 0, sizeof(*f));
	for (unsigned int s = 0; s < WEFT_CREDIT_SETS; s++)
		for (unsigned int c = 0; c < WEFT_CREDIT_CLASSES; c++) {
			assert(room[s][c] <= WEFT_FLOW_ROOM_MAX);
			f->room[s][c] = room[s][c];
			f->owed[s][c] = room[s][c];
		}
}

bool
weft_flow_take(struct weft_flow *f, enum weft_credit_set s, enum weft_credit_class c)
{
	if (f->may_send[s][c] == 0)
		return false;
	f->may_send[s][c]--;
	return true;
}

bool
weft_flow_came(struct weft_flow *f, enum weft_credit_set s, enum weft_credit_class c)
{
	if (f->open[s][c] == 0)
		return false;
	f->open[s][c]--;
	return true;
}

void
weft_flow_consumed(struct weft_flow *f, enum weft_credit_set s, enum weft_credit_class c)
{
	assert(f->owed[s][c] + f->open[s][c] < f->room[s][c]);
	f->owed[s][c]++;
}

/* RETRY-12 */
uint16_t
weft_flow_crd(struct weft_flow *f)
{
	for (unsigned int i = 0; i < WEFT_CREDIT_SETS; i++) {
		unsigned int s = (f->turn + i) % WEFT_CREDIT_SETS;
		uint32_t left[WEFT_CREDIT_CLASSES];
		uint16_t crd;

		memcpy(left, f->owed[s], sizeof(left));
		crd = weft_credit_encode((enum weft_credit_set)s, left);
		if (crd == 0)
			continue;
		for (unsigned int c = 0; c < WEFT_CREDIT_CLASSES; c++) {
			f->open[s][c] += f->owed[s][c] - left[c];
			f->owed[s][c] = left[c];
		}
		f->turn = (uint8_t)((s + 1) % WEFT_CREDIT_SETS);
		return crd;
	}
	return 0;
}

bool
weft_flow_owes(const struct weft_flow *f)
{
	for (unsigned int s = 0; s < WEFT_CREDIT_SETS; s++)
		for (unsigned int c = 0; c < WEFT_CREDIT_CLASSES; c++)
			if (f->owed[s][c] != 0)
				return true;
	return false;
}

bool
weft_flow_is_urgent(const struct weft_flow *f)
{
	for (unsigned int s = 0; s < WEFT_CREDIT_SETS; s++)
		for (unsigned int c = 0; c < WEFT_CREDIT_CLASSES; c++)
			if (f->owed[s][c] >= FIELD_MOST ||
				(f->owed[s][c] != 0 && f->owed[s][c] >= f->room[s][c] / 2))
				return true;
	return false;
}

bool
weft_flow_crd_came(struct weft_flow *f, uint16_t crd)
{
	uint32_t got[WEFT_CREDIT_SETS][WEFT_CREDIT_CLASSES] = { 0 };
	bool good;

	if (crd == 0)
		return true;
	good = weft_credit_decode(crd, got);
	for (unsigned int s = 0; s < WEFT_CREDIT_SETS; s++)
		for (unsigned int c = 0; c < WEFT_CREDIT_CLASSES; c++) {
			if (f->may_send[s][c] + got[s][c] > WEFT_FLOW_ROOM_MAX)
				good = false;
			else
				f->may_send[s][c] += got[s][c];
		}
	return good;
}
