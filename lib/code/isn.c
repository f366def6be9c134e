/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The implicit sequence number (encapsulation.md section 3). The CRC is linear, so number and ids
 * cost one XOR each on top of the plain remainder, and what differs between two flits' numbers
 * stands in the syndrome as if it had been sent. Hot path.
 */

#include "weft_isn.h"

#include <errno.h>

#include "crc_priv.h"

#define ISN_PSEUDO_LEN 5
#define ISN_NUMBER_MASK (WEFT_ISN_NUMBERS - 1)
#define ISN_ID_MAX 0xFFF
#define ISN_VC_MAX 7

const char *const weft_isn_words[] = {
	[WEFT_ISN_PSEUDO] = "pseudo",
	[WEFT_ISN_XOR] = "xor",
	[WEFT_ISN_NONE] = "none",
	NULL,
};

uint64_t
weft_isn_number(unsigned int number)
{
	assert(number < WEFT_ISN_NUMBERS);
	return weft_isn_pseudo_table[number];
}

uint64_t
weft_isn_xor_number(unsigned int number)
{
	assert(number < WEFT_ISN_NUMBERS);
	return weft_isn_xor_table[number];
}

/* ISN-3 */
uint64_t
weft_isn_address(uint16_t spid, uint16_t dpid, uint8_t vc)
{
	uint8_t message[ISN_PSEUDO_LEN + WEFT_CRC_COVERED] = {
		[0] = (uint8_t)(spid >> 4),
		[1] = (uint8_t)(spid << 4 | dpid >> 8),
		[2] = (uint8_t)dpid,
		[3] = (uint8_t)(vc << 2),
	};

	assert(spid <= ISN_ID_MAX && dpid <= ISN_ID_MAX && vc <= ISN_VC_MAX);
	return weft_crc_update(0, message, sizeof(message));
}

/* ISN-5 */
int
weft_isn_decode(uint64_t syndrome)
{
	const uint64_t window = syndrome >> weft_isn_window_low & ISN_NUMBER_MASK;
	const uint16_t number = weft_isn_window_table[window];

	return weft_isn_pseudo_table[number] == syndrome ? number : -1;
}

int
weft_isn_init(struct weft_isn *s, enum weft_isn_form form, enum weft_crc_order order, uint16_t spid,
	uint16_t dpid, uint8_t vc, uint16_t first)
{
	if ((unsigned int)form > WEFT_ISN_NONE || (unsigned int)order > WEFT_CRC_R7_FIRST)
		return -EINVAL;
	if (spid > ISN_ID_MAX || dpid > ISN_ID_MAX || vc > ISN_VC_MAX || first >= WEFT_ISN_NUMBERS)
		return -EINVAL;
	*s = (struct weft_isn){
		.address = form == WEFT_ISN_PSEUDO ? weft_isn_address(spid, dpid, vc) : 0,
		.next = first,
		.form = (uint8_t)form,
		.order = (uint8_t)order,
	};
	return 0;
}

/* All zero: a CRC without a number. */
static const uint64_t isn_no_number[ISN_RUN_MAX];

/* CRC contributions of the numbers from @first on: an array of ISN_RUN_MAX. */
static const uint64_t *
isn_numbers_from(const struct weft_isn *s, unsigned int first)
{
	switch (s->form) {
	case WEFT_ISN_PSEUDO: return weft_isn_pseudo_table + first;
	case WEFT_ISN_XOR: return weft_isn_xor_table + first;
	default: return isn_no_number;
	}
}

static const uint64_t *
isn_numbers(const struct weft_isn *s)
{
	return isn_numbers_from(s, s->next);
}

static uint16_t
isn_after(unsigned int number)
{
	return (uint16_t)((number + 1) & ISN_NUMBER_MASK);
}

/* ISN-1 */
void
weft_isn_take(struct weft_isn *s, uint64_t *implicit, unsigned int n)
{
	const uint64_t *number = isn_numbers(s);

	assert(n <= ISN_RUN_MAX);
	for (unsigned int i = 0; i < n; i++)
		implicit[i] = s->address ^ number[i];
	s->next = (uint16_t)((s->next + n) & ISN_NUMBER_MASK);
}

/* ISN-2 */
void
weft_isn_given(const struct weft_isn *s, uint16_t first, unsigned int n, unsigned int nops,
	uint64_t invert_crc, uint64_t *implicit)
{
	const uint64_t *number = isn_numbers_from(s, first);
	const unsigned int numbered = n - nops;

	assert(n <= ISN_RUN_MAX && nops <= n && first < WEFT_ISN_NUMBERS);
	for (unsigned int i = 0; i < n; i++) {
		implicit[i] = s->address ^ number[i < numbered ? i : numbered];
		if ((invert_crc & WEFT_BIT64(i)) != 0)
			implicit[i] = ~implicit[i];
	}
}

void
weft_isn_protect(
	struct weft_isn *s, const struct weft_crc_kernel *kernel, uint8_t *flits, unsigned int n)
{
	uint64_t crc[ISN_RUN_MAX], implicit[ISN_RUN_MAX];

	weft_crc_run(kernel, flits, n, crc);
	weft_isn_take(s, implicit, n);
	for (unsigned int i = 0; i < n; i++)
		weft_crc_store(flits + (size_t)i * CRC_FLIT_LEN, crc[i] ^ implicit[i],
			(enum weft_crc_order)s->order);
}

/*
 * A flit of which only the remainder is known that its number, or damage, leaves
 * (ISN-6, and ISN-7 as a passive reader has it).
 */
static void
isn_classify(struct weft_isn *s, uint64_t left, bool nop, uint64_t bit, struct weft_isn_result *r)
{
	const int delta = left == 0 ? 0 : s->form == WEFT_ISN_PSEUDO ? weft_isn_decode(left) : -1;
	unsigned int number, ahead, back;

	if (delta < 0) {
		/* Counted as one number used: most bad flits are the very flit that was due. */
		r->bad |= bit;
		s->next = isn_after(s->next);
		s->guessed = (uint16_t)(s->guessed + (s->guessed < WEFT_ISN_WINDOW));
		return;
	}
	number = s->next ^ (unsigned int)delta;
	ahead = (number - s->next) & ISN_NUMBER_MASK;
	back = (s->next - number) & ISN_NUMBER_MASK;
	if (back != 0 && back <= s->guessed) {
		s->next = (uint16_t)number;
		ahead = 0;
	}
	if (nop) {
		r->nop |= bit;
		s->guessed = 0;
		return;
	}
	if (ahead > WEFT_ISN_WINDOW) {
		r->duplicate |= bit;
		return;
	}
	s->guessed = 0;
	if (ahead == 0)
		r->in_turn |= bit;
	else
		r->after_gap |= bit;
	r->lost += ahead;
	s->next = isn_after(number);
}

bool
weft_isn_all_in_turn(const struct weft_isn *s, const uint64_t *syndrome, unsigned int n)
{
	const uint64_t *number = isn_numbers(s);
	uint64_t wrong = 0;

	assert(n <= ISN_RUN_MAX);
	for (unsigned int i = 0; i < n; i++)
		wrong |= syndrome[i] ^ s->address ^ number[i];
	return wrong == 0;
}

bool
weft_isn_is_intact(const struct weft_isn *s, uint64_t syndrome, unsigned int ahead)
{
	const uint64_t left = syndrome ^ s->address ^ isn_numbers(s)[ahead];

	assert(ahead < ISN_RUN_MAX);
	return left == 0 || (s->form == WEFT_ISN_PSEUDO && weft_isn_decode(left) >= 0);
}

void
weft_isn_judge(struct weft_isn *s, const uint64_t *syndrome, unsigned int n, uint64_t skip,
	uint64_t nops, struct weft_isn_result *r)
{
	*r = (struct weft_isn_result){ 0 };
	if ((skip | nops) == 0 && weft_isn_all_in_turn(s, syndrome, n)) {
		s->next = (uint16_t)((s->next + n) & ISN_NUMBER_MASK);
		s->guessed = 0;
		r->in_turn = weft_mask64(n);
		return;
	}
	for (unsigned int i = 0; i < n; i++) {
		const uint64_t bit = WEFT_BIT64(i);

		if ((skip & bit) == 0)
			isn_classify(s, syndrome[i] ^ s->address ^ isn_numbers(s)[0],
				(nops & bit) != 0, bit, r);
	}
}

void
weft_isn_check(struct weft_isn *s, const struct weft_crc_kernel *kernel, const uint8_t *flits,
	unsigned int n, uint64_t skip, struct weft_isn_result *r)
{
	uint64_t syndrome[ISN_RUN_MAX];

	assert(n <= ISN_RUN_MAX);
	weft_crc_run(kernel, flits, n, syndrome);
	for (unsigned int i = 0; i < n; i++)
		syndrome[i] ^= weft_crc_load(
			flits + (size_t)i * CRC_FLIT_LEN, (enum weft_crc_order)s->order);
	weft_isn_judge(s, syndrome, n, skip, 0, r);
}
