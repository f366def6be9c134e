/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Random messages for the tests of slots, packing and what builds on them. The widths are a list of
 * their own, typed from the fields of wire-formats.md section 4.2 and not taken from the library.
 */
#ifndef WEFT_MSG_GEN_H
#define WEFT_MSG_GEN_H

#include "weft_msg.h"
#include "weft_test.h"

/** A field: where it is in struct weft_msg and its width in each form (0: not there). */
struct weft_gen_field {
	uint8_t off, size;
	uint8_t width[2]; /* by enum weft_form */
	uint8_t shift;
};

#define WEFT_GEN(name, hbr, pbr)                                                                   \
	{                                                                                          \
		offsetof(struct weft_msg, name), sizeof(((struct weft_msg *)0)->name),             \
			{ hbr, pbr }, 0                                                            \
	}
#define WEFT_GEN_ADDR                                                                              \
	{                                                                                          \
		offsetof(struct weft_msg, addr), sizeof(uint64_t), { 46, 46 }, 6                   \
	}
#define WEFT_GEN_FIELDS 13

static const struct weft_gen_field weft_gen_fields[WEFT_MSG_LLCTRL][WEFT_GEN_FIELDS] = {
	[WEFT_MSG_M2S_REQ] = { WEFT_GEN(op, 4, 4), WEFT_GEN(snp_type, 3, 3),
		WEFT_GEN(meta_field, 2, 2), WEFT_GEN(meta_value, 2, 2), WEFT_GEN(tag, 16, 16),
		WEFT_GEN_ADDR, WEFT_GEN(ld_id, 4, 0), WEFT_GEN(spid, 0, 12), WEFT_GEN(dpid, 0, 12),
		WEFT_GEN(ckid, 13, 13), WEFT_GEN(tc, 2, 2) },
	[WEFT_MSG_M2S_RWD] = { WEFT_GEN(op, 4, 4), WEFT_GEN(snp_type, 3, 3),
		WEFT_GEN(meta_field, 2, 2), WEFT_GEN(meta_value, 2, 2), WEFT_GEN(tag, 16, 16),
		WEFT_GEN_ADDR, WEFT_GEN(poison, 1, 1), WEFT_GEN(trp, 1, 1), WEFT_GEN(ld_id, 4, 0),
		WEFT_GEN(spid, 0, 12), WEFT_GEN(dpid, 0, 12), WEFT_GEN(ckid, 13, 13),
		WEFT_GEN(tc, 2, 2) },
	[WEFT_MSG_M2S_BIRSP] = { WEFT_GEN(op, 4, 4), WEFT_GEN(bi_id, 12, 0), WEFT_GEN(tag, 12, 12),
		WEFT_GEN(low_addr, 2, 2), WEFT_GEN(spid, 0, 12), WEFT_GEN(dpid, 0, 12) },
	[WEFT_MSG_S2M_BISNP] = { WEFT_GEN(op, 4, 4), WEFT_GEN(bi_id, 12, 0), WEFT_GEN(tag, 12, 12),
		WEFT_GEN_ADDR, WEFT_GEN(spid, 0, 12), WEFT_GEN(dpid, 0, 12) },
	[WEFT_MSG_S2M_NDR] = { WEFT_GEN(op, 3, 3), WEFT_GEN(meta_field, 2, 2),
		WEFT_GEN(meta_value, 2, 2), WEFT_GEN(tag, 16, 16), WEFT_GEN(dev_load, 2, 2),
		WEFT_GEN(ld_id, 4, 0), WEFT_GEN(dpid, 0, 12) },
	[WEFT_MSG_S2M_DRS] = { WEFT_GEN(op, 3, 3), WEFT_GEN(meta_field, 2, 2),
		WEFT_GEN(meta_value, 2, 2), WEFT_GEN(tag, 16, 16), WEFT_GEN(poison, 1, 1),
		WEFT_GEN(dev_load, 2, 2), WEFT_GEN(ld_id, 4, 0), WEFT_GEN(dpid, 0, 12),
		WEFT_GEN(trp, 1, 1) },
	[WEFT_MSG_D2H_REQ] = { WEFT_GEN(op, 5, 5), WEFT_GEN(tag, 12, 12), WEFT_GEN(nt, 1, 1),
		WEFT_GEN_ADDR, WEFT_GEN(cache_id, 4, 0), WEFT_GEN(spid, 0, 12),
		WEFT_GEN(dpid, 0, 12) },
	[WEFT_MSG_D2H_RSP] = { WEFT_GEN(op, 5, 5), WEFT_GEN(tag, 12, 12), WEFT_GEN(dpid, 0, 12) },
	[WEFT_MSG_D2H_DH] = { WEFT_GEN(tag, 12, 12), WEFT_GEN(bogus, 1, 1), WEFT_GEN(poison, 1, 1),
		WEFT_GEN(trp, 1, 1), WEFT_GEN(dpid, 0, 12) },
	[WEFT_MSG_H2D_REQ] = { WEFT_GEN(op, 3, 3), WEFT_GEN_ADDR, WEFT_GEN(tag, 12, 12),
		WEFT_GEN(cache_id, 4, 0), WEFT_GEN(spid, 0, 12), WEFT_GEN(dpid, 0, 12) },
	[WEFT_MSG_H2D_RSP] = { WEFT_GEN(op, 4, 4), WEFT_GEN(rsp_data, 12, 12),
		WEFT_GEN(rsp_pre, 2, 2), WEFT_GEN(tag, 12, 12), WEFT_GEN(cache_id, 4, 0),
		WEFT_GEN(dpid, 0, 12) },
	[WEFT_MSG_H2D_DH] = { WEFT_GEN(tag, 12, 12), WEFT_GEN(poison, 1, 1), WEFT_GEN(go_err, 1, 1),
		WEFT_GEN(cache_id, 4, 0), WEFT_GEN(dpid, 0, 12) },
};

static inline uint64_t
weft_gen_get(const struct weft_msg *m, const struct weft_gen_field *f)
{
	const uint8_t *p = (const uint8_t *)m + f->off;
	uint16_t v16;
	uint64_t v64;

	if (f->size == 1)
		return *p;
	memcpy(&v16, p, sizeof(v16));
	if (f->size == 2)
		return v16;
	memcpy(&v64, p, sizeof(v64));
	return v64;
}

static inline void
weft_gen_set(struct weft_msg *m, const struct weft_gen_field *f, uint64_t v)
{
	uint8_t *p = (uint8_t *)m + f->off;
	const uint16_t v16 = (uint16_t)v;

	if (f->size == 1)
		*p = (uint8_t)v;
	else if (f->size == 2)
		memcpy(p, &v16, sizeof(v16));
	else
		memcpy(p, &v, sizeof(v));
}

/** A message of @p kind with every header field drawn; data and trailer fields are 0. */
static inline struct weft_msg
weft_gen_header(struct weft_rand *r, unsigned int kind, enum weft_form form)
{
	struct weft_msg m = { .kind = (uint8_t)kind };

	for (const struct weft_gen_field *f = weft_gen_fields[kind];
		f < weft_gen_fields[kind] + WEFT_GEN_FIELDS; f++)
		if (f->width[form] != 0)
			weft_gen_set(&m, f,
				(weft_rand_u64(r) & weft_mask64(f->width[form])) << f->shift);
	return m;
}

/** What the H-slot cuts off a PBR request to memory has to be 0 (section 4.1). */
static inline void
weft_gen_fit_h(struct weft_msg *m, enum weft_form form)
{
	if (form != WEFT_FORM_PBR || (m->kind != WEFT_MSG_M2S_REQ && m->kind != WEFT_MSG_M2S_RWD))
		return;
	/* The H-slot ends at slot bit 111; CKID begins at 102 and at 104. */
	m->ckid &= m->kind == WEFT_MSG_M2S_REQ ? 0x3FF : 0xFF;
	m->tc = 0;
}

/** Draw data, and the trailer if the header announces one (section 4.4). */
static inline void
weft_gen_data(struct weft_rand *r, struct weft_msg *m)
{
	const bool partial = m->op == WEFT_M2S_RWD_MEMWRPTL || m->op == 0xA;

	if (m->kind != WEFT_MSG_M2S_RWD && m->kind != WEFT_MSG_S2M_DRS &&
		m->kind != WEFT_MSG_D2H_DH && m->kind != WEFT_MSG_H2D_DH)
		return;
	weft_rand_fill(r, m->data, sizeof(m->data));
	if (!m->trp)
		return;
	if (m->kind == WEFT_MSG_D2H_DH || (m->kind == WEFT_MSG_M2S_RWD && partial))
		m->byte_enables = weft_rand_u64(r);
	if (m->kind != WEFT_MSG_D2H_DH)
		m->emd = (uint32_t)weft_rand_u64(r);
}

/** Compare header fields, those that the kind lacks included. */
static inline void
weft_assert_same_header(const struct weft_msg *a, const struct weft_msg *b)
{
	assert_int_equal(a->kind, b->kind);
	assert_int_equal(a->op, b->op);
	assert_int_equal(a->snp_type, b->snp_type);
	assert_int_equal(a->meta_field, b->meta_field);
	assert_int_equal(a->meta_value, b->meta_value);
	assert_int_equal(a->tc, b->tc);
	assert_int_equal(a->dev_load, b->dev_load);
	assert_int_equal(a->poison, b->poison);
	assert_int_equal(a->trp, b->trp);
	assert_int_equal(a->bogus, b->bogus);
	assert_int_equal(a->nt, b->nt);
	assert_int_equal(a->go_err, b->go_err);
	assert_int_equal(a->low_addr, b->low_addr);
	assert_int_equal(a->rsp_pre, b->rsp_pre);
	assert_int_equal(a->ld_id, b->ld_id);
	assert_int_equal(a->cache_id, b->cache_id);
	assert_int_equal(a->spid, b->spid);
	assert_int_equal(a->dpid, b->dpid);
	assert_int_equal(a->tag, b->tag);
	assert_int_equal(a->bi_id, b->bi_id);
	assert_int_equal(a->ckid, b->ckid);
	assert_int_equal(a->rsp_data, b->rsp_data);
	assert_int_equal(a->addr, b->addr);
}

/** Compare whole messages: header, trailer, and data where the kind has it. */
static inline void
weft_assert_same_msg(const struct weft_msg *a, const struct weft_msg *b)
{
	weft_assert_same_header(a, b);
	assert_int_equal(a->byte_enables, b->byte_enables);
	assert_int_equal(a->emd, b->emd);
	if (weft_msg_has_data(a))
		assert_memory_equal(a->data, b->data, sizeof(a->data));
}

#endif /* WEFT_MSG_GEN_H */
