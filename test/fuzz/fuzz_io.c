/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * CXL.io flits. Every packet that comes out of a stream is well-formed, a stream that broke stays
 * so, and the packets packed anew come out again the same.
 *
 *   byte 0  bytes of TLP header given to weft_io_tlp_len()
 *   then    the bytes 2..237 of flits, one after another
 */

#include "weft_fuzz.h"

#include "weft_io.h"

#define FLITS_MAX 32
#define TLPS_MAX (FLITS_MAX * WEFT_IO_LEN / 16)

struct heard {
	unsigned int n;
	struct weft_io_tlp t[TLPS_MAX];
};

static struct heard first, second;

static void
hear(void *arg, const struct weft_io_tlp *t)
{
	struct heard *h = arg;

	FUZZ_CHECK(weft_io_is_valid(t));
	FUZZ_CHECK(weft_io_class(t) >= 0 && weft_io_class(t) < WEFT_IO_CLASSES);
	FUZZ_CHECK(weft_io_tlp_len(t->tlp, t->len) == t->len && h->n < TLPS_MAX);
	h->t[h->n++] = *t;
}

static bool
same(const struct weft_io_tlp *a, const struct weft_io_tlp *b)
{
	return a->spid == b->spid && a->dpid == b->dpid && a->hie == b->hie && a->pif == b->pif &&
	       a->dsar == b->dsar && a->has_prefix == b->has_prefix &&
	       (!a->has_prefix || a->prefix_pid == b->prefix_pid) && a->len == b->len &&
	       memcmp(a->tlp, b->tlp, a->len) == 0;
}

/* Pack what was heard, and hear that. */
static void
check_again(enum weft_form form)
{
	uint8_t *flit = fuzz_alloc(WEFT_FLIT_LEN);
	struct weft_io_packer p;
	struct weft_io_unpacker u;
	unsigned int i = 0;
	bool waits = false;

	weft_io_pack_init(&p, form);
	weft_io_unpack_init(&u, form);
	second.n = 0;
	while (i < first.n || waits) {
		int rc = 0;

		weft_io_pack_begin(&p, flit);
		while (i < first.n && (rc = weft_io_pack_tlp(&p, &first.t[i])) == 0)
			i++;
		FUZZ_CHECK(rc == 0 || rc == -ENOSPC);
		waits = weft_io_pack_end(&p);
		FUZZ_CHECK(weft_io_unpack_flit(&u, flit, hear, &second) == WEFT_OK);
	}
	FUZZ_CHECK(second.n == first.n);
	for (i = 0; i < first.n; i++)
		FUZZ_CHECK(same(&first.t[i], &second.t[i]));
	free(flit);
}

static void
check_len(const uint8_t *p, size_t n)
{
	uint8_t *head = fuzz_copy(p, n);
	const size_t len = weft_io_tlp_len(head, n);

	FUZZ_CHECK(len == 0 || (len >= 12 && len <= WEFT_IO_TLP_MAX));
	free(head);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct fuzz_in in = { data, len };
	const uint8_t lead = fuzz_u8(&in);
	const enum weft_form form = lead & 0x80 ? WEFT_FORM_HBR : WEFT_FORM_PBR;
	const size_t head = (lead & 0x7F) % 24u;
	struct weft_io_unpacker u;
	enum weft_verdict v = WEFT_OK;
	uint8_t total;

	check_len(in.p, head < in.n ? head : in.n);
	weft_io_unpack_init(&u, form);
	first.n = 0;
	for (unsigned int i = 0; i < FLITS_MAX && in.n > 0; i++) {
		uint8_t *flit = fuzz_alloc(WEFT_FLIT_LEN), *exact;
		enum weft_verdict now;
		int c;

		memset(flit, 0, WEFT_FLIT_LEN);
		fuzz_take(&in, flit + WEFT_IO_OFF, WEFT_IO_LEN + WEFT_IO_DLLP_LEN);
		exact = fuzz_copy(flit, WEFT_IO_OFF + WEFT_IO_LEN); /* no more is looked at */
		now = weft_io_unpack_flit(&u, exact, hear, &first);
		free(exact);
		FUZZ_CHECK(now == WEFT_OK || now == WEFT_DROP_IO_STREAM);
		FUZZ_CHECK(v == WEFT_OK || now == v);
		v = now;
		c = weft_io_update_get(flit + WEFT_IO_DLLP_OFF, &total);
		FUZZ_CHECK(c == -ENOENT || (c >= 0 && c < WEFT_IO_CLASSES));
		free(flit);
	}
	check_again(form);
	return 0;
}
