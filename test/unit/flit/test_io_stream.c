/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * CXL.io packets into flits and out again: what goes in comes out, whatever its length and wherever
 * it is cut; nothing is read or written outside the flit, whatever the flit holds; a stream that is
 * malformed stays so. The formats themselves are compared with a model: test/model/run_fabric.py.
 */

#include "weft_test.h"

#include "weft_io.h"

#define QUEUE 4096

static const uint8_t types[] = { WEFT_IO_MRD, WEFT_IO_MWR, WEFT_IO_CPL, WEFT_IO_CPLD,
	WEFT_IO_MSG_ROOT, WEFT_IO_MSG_ID, WEFT_IO_MSG_LOCAL, WEFT_IO_MSG_ROOT | WEFT_IO_MSG_DATA,
	WEFT_IO_MSG_ID | WEFT_IO_MSG_DATA, WEFT_IO_MSG_LOCAL | WEFT_IO_MSG_DATA, WEFT_IO_UIO_MRD,
	WEFT_IO_UIO_MWR, WEFT_IO_UIO_CPL, WEFT_IO_UIO_CPLD };

static void
fill(struct weft_rand *r, uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		p[i] = (uint8_t)weft_rand_u64(r);
}

static struct weft_io_tlp
packet(struct weft_rand *r, uint8_t type, unsigned int dws)
{
	struct weft_io_tlp t;
	const unsigned int at = dws < 60 && weft_rand_below(r, 4) == 0 ? 4 : 0;

	memset(&t, 0, sizeof(t));
	t.spid = (uint16_t)weft_rand_below(r, 0x1000);
	t.dpid = (uint16_t)weft_rand_below(r, 0x1000);
	t.hie = weft_rand_below(r, 2) != 0;
	t.pif = weft_rand_below(r, 2) != 0;
	t.dsar = weft_rand_below(r, 2) != 0;
	t.has_prefix = weft_rand_below(r, 2) != 0;
	t.prefix_pid = t.has_prefix ? (uint16_t)weft_rand_below(r, 0x1000) : 0;
	if (at != 0)
		t.tlp[0] = WEFT_IO_PASID_PREFIX;
	t.tlp[at] = type;
	weft_put_be16(t.tlp + at + 2, (uint16_t)dws);
	t.len = (uint16_t)weft_io_tlp_len(t.tlp, at + 4);
	assert_true(t.len != 0);
	fill(r, t.tlp + at + 4, t.len - at - 4u);
	return t;
}

static struct weft_io_tlp queue[QUEUE];
static unsigned int head, tail;

static void
came(void *arg, const struct weft_io_tlp *t)
{
	const struct weft_io_tlp *want = &queue[head % QUEUE];

	(void)arg;
	assert_true(head != tail);
	head++;
	assert_int_equal(t->spid, want->spid);
	assert_int_equal(t->dpid, want->dpid);
	assert_true(t->hie == want->hie && t->pif == want->pif && t->dsar == want->dsar);
	assert_true(t->has_prefix == want->has_prefix && t->prefix_pid == want->prefix_pid);
	assert_int_equal(t->len, want->len);
	assert_memory_equal(t->tlp, want->tlp, t->len);
	assert_int_equal(weft_io_class(t), weft_io_class(want));
}

struct line {
	struct weft_io_packer pack;
	struct weft_io_unpacker unpack;
	uint8_t flit[WEFT_FLIT_LEN];
};

static void
move(struct line *l)
{
	weft_io_pack_end(&l->pack);
	assert_int_equal(weft_flit_hdr_get(l->flit).type, WEFT_FLIT_IO);
	for (unsigned int i = WEFT_IO_DLLP_OFF; i < WEFT_FLIT_LEN; i++)
		assert_int_equal(l->flit[i], 0);
	assert_int_equal(weft_io_unpack_flit(&l->unpack, l->flit, came, NULL), WEFT_OK);
	weft_io_pack_begin(&l->pack, l->flit);
}

/* HBR form has no PTH: what it says is 0 at the other end. */
static struct weft_io_tlp
sent(const struct weft_io_packer *p, const struct weft_io_tlp *t)
{
	struct weft_io_tlp s = *t;

	if (p->form == WEFT_FORM_HBR) {
		s.spid = s.dpid = 0;
		s.hie = s.pif = s.dsar = false;
	}
	return s;
}

static void
send(struct line *l, const struct weft_io_tlp *t)
{
	while (weft_io_pack_tlp(&l->pack, t) == -ENOSPC)
		move(l);
	queue[tail++ % QUEUE] = sent(&l->pack, t);
	while (weft_io_pack_waits(&l->pack))
		move(l);
}

static void
line_init(struct line *l, enum weft_form form)
{
	head = tail = 0;
	weft_io_pack_init(&l->pack, form);
	weft_io_unpack_init(&l->unpack, form);
	weft_io_pack_begin(&l->pack, l->flit);
}

WEFT_TEST(every_length_and_cut)
{
	struct weft_rand r;
	struct line l;

	weft_test_seed(&r, "cuts");
	line_init(&l, WEFT_FORM_PBR);
	for (unsigned int k = 0; k < WEFT_ARRAY_SIZE(types); k++)
		for (unsigned int dws = 1; dws <= 64; dws++) {
			const struct weft_io_tlp t = packet(&r, types[k], dws);

			send(&l, &t);
		}
	/* A packet behind so many DWs of the flit. */
	for (unsigned int k = 0; k < WEFT_ARRAY_SIZE(types); k++)
		for (unsigned int before = 5; before < WEFT_IO_LEN / 4; before++) {
			struct weft_io_tlp t = packet(&r, WEFT_IO_MWR, 1);

			move(&l);
			t.has_prefix = false;
			t.tlp[0] = WEFT_IO_MWR;
			weft_put_be16(t.tlp + 2, (uint16_t)(before - 5 == 0 ? 1 : before - 5));
			t.len = (uint16_t)weft_io_tlp_len(t.tlp, 4);
			t.prefix_pid = 0;
			send(&l, &t);
			t = packet(&r, types[k], 64);
			send(&l, &t);
		}
	move(&l);
	move(&l);
	assert_int_equal(head, tail);
}

WEFT_TEST(random_streams)
{
	struct weft_rand r;
	struct line l;

	weft_test_seed(&r, "streams");
	for (unsigned int i = 0; i < 100000; i++) {
		const struct weft_io_tlp t =
			packet(&r, types[weft_rand_below(&r, WEFT_ARRAY_SIZE(types))],
				1 + (unsigned int)weft_rand_below(&r, 64));

		if (i % 10000 == 0) {
			if (i != 0)
				move(&l);
			assert_int_equal(head, tail);
			line_init(&l, i % 20000 == 0 ? WEFT_FORM_PBR : WEFT_FORM_HBR);
		}
		send(&l, &t);
		if (weft_rand_below(&r, 8) == 0)
			move(&l);
	}
	move(&l);
	assert_int_equal(head, tail);
}

WEFT_TEST(vectors)
{
	struct weft_io_tlp t = {
		.spid = 0xA01, .dpid = 0xB01, .dsar = true, .hie = true, .len = 0
	};
	struct weft_io_tlp back = { .len = 0 };
	uint8_t dw[4], total;

	/* fabric.md section 2.3 */
	weft_io_pth_put(dw, &t);
	assert_int_equal(weft_get_be32(dw), 0xc6a01b01);
	assert_true(weft_io_pth_get(dw, &back));
	assert_memory_equal(&back, &t, sizeof(t));
	t = (struct weft_io_tlp){ .spid = 0x011, .dpid = 0x201, .pif = true };
	weft_io_pth_put(dw, &t);
	assert_int_equal(weft_get_be32(dw), 0xc1011201);
	dw[0] = 0xF9; /* reserved bits are ignored */
	assert_true(weft_io_pth_get(dw, &back));
	assert_true(back.pif && !back.hie && !back.dsar);
	dw[0] = 0x41;
	assert_false(weft_io_pth_get(dw, &back));
	weft_io_prefix_put(dw, 0x123);
	assert_int_equal(weft_get_be32(dw), 0x8e123000);
	assert_int_equal(weft_io_prefix_get(dw), 0x123);
	weft_io_update_put(dw, WEFT_IO_COMPLETION, 0xFF);
	assert_int_equal(weft_get_be32(dw), 0xa03fc000);
	assert_int_equal(weft_io_update_get(dw, &total), WEFT_IO_COMPLETION);
	assert_int_equal(total, 0xFF);
	weft_io_dllp_nop(dw);
	assert_int_equal(weft_io_update_get(dw, &total), -ENOENT);
}
