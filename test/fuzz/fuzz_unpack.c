/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Slots and messages of cachemem flits. However broken a stream is, there are no more messages than
 * slots can hold, what waits for data is bounded, and every message that comes out, packed anew,
 * comes out again the same: those with data in order, and those without, which may overtake them.
 *
 *   byte 0  bit 0: form
 *   then    the bytes 0..241 of flits, one after another; they are made cachemem flits
 */

#include "weft_fuzz.h"

#include "weft_msg.h"

#define FLITS_MAX 24
#define MSGS_MAX (FLITS_MAX * WEFT_FLIT_SLOTS * WEFT_MSG_PER_SLOT)

struct heard {
	unsigned int n;
	struct weft_msg m[MSGS_MAX];
};

static struct heard first, second;

static void
hear(void *arg, const struct weft_msg *m)
{
	struct heard *h = arg;

	FUZZ_CHECK(m->kind < WEFT_MSG_KINDS);
	FUZZ_CHECK(weft_msg_kind_name((enum weft_msg_kind)m->kind)[0] != '\0');
	if (m->kind == WEFT_MSG_LLCTRL)
		return;
	FUZZ_CHECK(h->n < MSGS_MAX);
	h->m[h->n++] = *m;
}

/* Fields one by one: the struct has holes, and data only with kinds that have it. */
static bool
same(const struct weft_msg *a, const struct weft_msg *b)
{
	const bool head = a->kind == b->kind && a->op == b->op && a->snp_type == b->snp_type &&
	                  a->meta_field == b->meta_field && a->meta_value == b->meta_value &&
	                  a->tc == b->tc && a->dev_load == b->dev_load && a->poison == b->poison;
	const bool bits = a->trp == b->trp && a->bogus == b->bogus && a->nt == b->nt &&
	                  a->go_err == b->go_err && a->low_addr == b->low_addr &&
	                  a->rsp_pre == b->rsp_pre && a->rsp_data == b->rsp_data;
	const bool ids = a->ld_id == b->ld_id && a->cache_id == b->cache_id && a->spid == b->spid &&
	                 a->dpid == b->dpid && a->tag == b->tag && a->bi_id == b->bi_id &&
	                 a->ckid == b->ckid && a->addr == b->addr;

	return head && bits && ids && a->byte_enables == b->byte_enables && a->emd == b->emd &&
	       (!weft_msg_has_data(a) || memcmp(a->data, b->data, sizeof(a->data)) == 0);
}

/* The next message from *i on with data, or without; NULL: none. */
static const struct weft_msg *
next(const struct heard *h, unsigned int *i, bool with_data)
{
	while (*i < h->n && weft_msg_has_data(&h->m[*i]) != with_data)
		++*i;
	return *i < h->n ? &h->m[(*i)++] : NULL;
}

static void
check_same(bool with_data)
{
	unsigned int i = 0, k = 0;
	const struct weft_msg *a, *b;

	do {
		a = next(&first, &i, with_data);
		b = next(&second, &k, with_data);
		FUZZ_CHECK((a == NULL) == (b == NULL) && (a == NULL || same(a, b)));
	} while (a != NULL);
}

static void
check_again(enum weft_form form)
{
	uint8_t *flit = fuzz_alloc(WEFT_FLIT_LEN);
	struct weft_packer p;
	struct weft_unpacker u;
	unsigned int i = 0;
	bool waits = false;

	weft_pack_init(&p, form);
	weft_unpack_init(&u, form, NULL);
	second.n = 0;
	while (i < first.n || waits) {
		const unsigned int was = i;
		int rc = 0;

		weft_pack_begin(&p, flit, false);
		while (i < first.n && (rc = weft_pack_msg(&p, &first.m[i])) == 0)
			i++;
		FUZZ_CHECK(rc == 0 || rc == -ENOSPC);
		FUZZ_CHECK(i > was || waits);
		waits = weft_pack_end(&p);
		FUZZ_CHECK(weft_unpack_flit(&u, flit, hear, &second) == WEFT_OK);
	}
	check_same(true);
	check_same(false);
	free(flit);
}

static void
check_slot(const uint8_t *flit, enum weft_form form)
{
	struct weft_msg m[WEFT_MSG_PER_SLOT];
	uint8_t again[WEFT_FLIT_SLOT_LEN];
	unsigned int n = 0;

	for (unsigned int s = 0; s < WEFT_FLIT_SLOTS; s++) {
		const size_t len = s == 0 ? WEFT_FLIT_H_LEN : WEFT_FLIT_SLOT_LEN;
		uint8_t *slot = fuzz_copy(weft_flit_slot_const(flit, s), len);
		const enum weft_verdict v = weft_slot_decode(slot, s == 0, form, m, &n);

		FUZZ_CHECK(v == WEFT_OK || v == WEFT_DROP_SLOT_FORMAT);
		FUZZ_CHECK(v != WEFT_OK || n <= WEFT_MSG_PER_SLOT);
		/* Every field is in range: alone each message can be written. */
		for (unsigned int i = 0; v == WEFT_OK && i < n; i++)
			FUZZ_CHECK(weft_slot_encode(again, false, form, &m[i], 1) == 0);
		free(slot);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct fuzz_in in = { data, len };
	const enum weft_form form = fuzz_u8(&in) & 1 ? WEFT_FORM_PBR : WEFT_FORM_HBR;
	uint64_t seen[WEFT_MSG_KINDS] = { 0 }, sum = 0;
	struct weft_unpacker u;

	weft_unpack_init(&u, form, seen);
	first.n = 0;
	for (unsigned int i = 0; i < FLITS_MAX && in.n > 0; i++) {
		uint8_t *flit = fuzz_alloc(WEFT_FLIT_LEN);
		enum weft_verdict v;

		memset(flit, 0, WEFT_FLIT_LEN);
		fuzz_take(&in, flit, WEFT_FLIT_CRD_OFF + 2);
		flit[0] = (uint8_t)((flit[0] & 0x3F) | WEFT_FLIT_CACHEMEM << 6);
		v = weft_unpack_flit(&u, flit, hear, &first);
		FUZZ_CHECK(v == WEFT_OK || v == WEFT_DROP_SLOT_FORMAT);
		FUZZ_CHECK(u.n_pending <= WEFT_UNPACK_PENDING_MAX);
		FUZZ_CHECK(u.n_slots <= WEFT_PENDING_SLOTS_MAX);
		FUZZ_CHECK(v == WEFT_OK || (u.n_pending == 0 && u.n_slots == 0));
		check_slot(flit, form);
		free(flit);
	}
	for (unsigned int k = 0; k < WEFT_MSG_LLCTRL; k++)
		sum += seen[k];
	FUZZ_CHECK(first.n + u.n_pending <= sum);
	check_again(form);
	return 0;
}
