/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * A GFD by CCI: each command, from its manager and from hosts, and what each leaves of the tables.
 * Sequences of commands are judged by the model, through gfd_capacity_script.
 */

#include "weft_test.h"

#include "gfd_rig.h"

#define MB GFD_RIG_MB
#define GB GFD_RIG_GB
#define DATA (rsp + WEFT_CCI_HDR)

static struct gfd_rig rig;
static uint8_t rsp[WEFT_CCI_MESSAGE_MAX];
static size_t rsp_len; /* of the payload */

static const struct weft_cci_caller fm = { WEFT_CCI_FM, GFD_RIG_FM };
static const struct weft_cci_caller host = { WEFT_CCI_HOST, GFD_RIG_HOST };
static const struct weft_cci_caller stranger = { WEFT_CCI_HOST, 0x033 };

static int
setup(void **state)
{
	(void)state;
	return gfd_rig_init(&rig, false) ? 0 : -1;
}

static int
teardown(void **state)
{
	(void)state;
	gfd_rig_fini(&rig);
	return 0;
}

WEFT_TEST_EACH(setup, teardown)

/* A command that fails leaves the tables as they were. @return its code */
static uint16_t
send(struct weft_cci_caller who, uint16_t opcode, const void *payload, int len)
{
	struct weft_cci_hdr h = { .tag = 7, .opcode = opcode, .len = (uint32_t)len };
	const unsigned int commits = rig.n_commits;
	uint8_t *msg;
	size_t n;

	assert_true(len >= 0);
	msg = malloc(WEFT_CCI_HDR + (size_t)len);
	assert_non_null(msg);
	weft_cci_put_hdr(msg, &h);
	if (len != 0)
		memcpy(msg + WEFT_CCI_HDR, payload, (size_t)len);
	n = weft_cci_component_run(
		&rig.component, &who, msg, WEFT_CCI_HDR + (size_t)len, rsp, sizeof(rsp), 0);
	free(msg);
	assert_int_equal(weft_cci_get_hdr(&h, rsp, n), 0);
	rsp_len = n - WEFT_CCI_HDR;
	if (h.rc != WEFT_CCI_SUCCESS) {
		assert_int_equal(rsp_len, 0);
		assert_int_equal(rig.n_commits, commits);
	}
	return h.rc;
}

static uint16_t
add(uint16_t group, uint8_t policy, uint8_t region, uint64_t len, char tag, uint32_t max)
{
	const struct weft_cci_dc_add_req q = { .grp = group,
		.policy = policy,
		.region = region,
		.len = len,
		.tag = { (uint8_t)tag },
		.max_rsp = max };
	uint8_t b[WEFT_CCI_MAX_PAYLOAD];

	return send(fm, WEFT_CCI_DC_ADD, b, weft_cci_put_dc_add_req(b, sizeof(b), &q));
}

static uint16_t
release(uint16_t group, uint8_t flags, char tag, const struct weft_cci_extent *e, uint32_t n)
{
	struct weft_cci_dc_release_req q = {
		.grp = group, .flags = flags, .tag = { (uint8_t)tag }, .n = n, .max_rsp = 100
	};
	uint8_t b[WEFT_CCI_MAX_PAYLOAD];

	for (unsigned int i = 0; i < n; i++)
		weft_cci_put_extent(b + WEFT_CCI_DC_RELEASE_REQ_LIST, i, &e[i]);
	q.extent = b + WEFT_CCI_DC_RELEASE_REQ_LIST;
	return send(fm, WEFT_CCI_DC_RELEASE, b, weft_cci_put_dc_release_req(b, sizeof(b), &q));
}

static uint16_t
open_to(uint16_t rpid, uint32_t vec)
{
	const struct weft_cci_sat_row row = { .rpid = rpid, .vec = vec };
	uint8_t b[WEFT_CCI_SET_SAT_REQ_LEN + WEFT_CCI_SAT_ROW_LEN] = { 1 };

	weft_cci_put_sat_row(b + WEFT_CCI_SET_SAT_REQ_LIST, 0, &row);
	return send(fm, WEFT_CCI_SET_SAT, b, sizeof(b));
}

static uint16_t
read_extents(struct weft_cci_caller who, uint16_t group, uint32_t n, uint32_t start)
{
	const struct weft_cci_get_extents_req q = { .grp = group, .n = n, .start = start };
	uint8_t b[WEFT_CCI_GET_EXTENTS_REQ_LEN];

	return send(who, WEFT_CCI_GET_EXTENTS, b, weft_cci_put_get_extents_req(b, sizeof(b), &q));
}

static struct weft_cci_get_extents_rsp
extents(void)
{
	struct weft_cci_get_extents_rsp r;

	assert_int_equal(weft_cci_get_get_extents_rsp(&r, DATA, rsp_len), 0);
	return r;
}

WEFT_TEST(gfd_says_what_it_is)
{
	struct weft_cci_identify_gfd_rsp r;

	assert_int_equal(send(host, WEFT_CCI_IDENTIFY_GFD, NULL, 0), WEFT_CCI_SUCCESS);
	assert_int_equal(weft_cci_get_identify_gfd_rsp(&r, DATA, rsp_len), 0);
	assert_int_equal(r.ndmp, 2);
	assert_int_equal(r.nregion, 8);
	assert_int_equal(r.ngrp, 31);
	assert_int_equal(r.add_pol, 0xF);
	assert_int_equal(r.rel_pol, 3);
	assert_int_equal(r.total, 16);
	assert_int_equal(r.volatile_, 16);
	assert_int_equal(r.persistent, 0);
	assert_int_equal(r.dmp_blk[0], MB | 64 * MB | GB / 4);
	assert_int_equal(r.dmp_blk[2], 0);
	assert_int_equal(r.region_blk[7], MB | 64 * MB | GB / 4);
	assert_int_equal(send(fm, WEFT_CCI_GET_GFD_STATUS, NULL, 0), WEFT_CCI_SUCCESS);
	assert_int_equal(DATA[1], 5);
	assert_int_equal(send(fm, WEFT_CCI_GET_GFD_STATUS, "", 1), WEFT_CCI_INVALID_PAYLOAD_LENGTH);
}

/* Hosts set decoders and read what is theirs; all else is the manager's (fabric.md 4.3). */
WEFT_TEST(hosts_may_not_manage)
{
	uint8_t zeros[40] = { 0 };

	for (uint16_t op = 0x4900; op <= 0x4914; op++) {
		const bool both = op == 0x4900 || op == 0x4901 || op == 0x4902 || op == 0x4904 ||
		                  op == 0x490E || op == 0x4910 || op == 0x4911;
		const bool is_gdt = op == 0x4913 || op == 0x4914;

		assert_int_equal(
			send(host, op, zeros, 3) == WEFT_CCI_UNSUPPORTED, !both && !is_gdt);
		assert_int_equal(send(fm, op, zeros, 3) == WEFT_CCI_UNSUPPORTED, is_gdt);
	}
}

WEFT_TEST(capacity_comes_is_listed_and_goes_wiped)
{
	const struct weft_cci_extent part = { .dpa = 2 * MB, .len = MB };
	struct weft_cci_get_extents_rsp r;
	struct weft_cci_extent e;

	assert_int_equal(add(3, 0, 0, 4 * MB, 't', 10), WEFT_CCI_SUCCESS);
	r = extents();
	assert_int_equal(r.grp, 3);
	assert_int_equal(r.start, 0);
	assert_int_equal(r.n, 1);
	assert_int_equal(r.total, 1);
	assert_int_equal(r.gen, 1);
	weft_cci_get_extent(r.extent, 0, &e);
	assert_int_equal(e.dpa, 0);
	assert_int_equal(e.len, 4 * MB);
	assert_int_equal(e.tag[0], 't');
	assert_int_equal(e.seq, 1);
	assert_int_equal(weft_gfam_group(rig.live, 4 * MB - 1), 3);
	assert_int_equal(weft_gfam_group(rig.live, 4 * MB), WEFT_GFAM_NO_GROUP);
	assert_int_equal(add(3, 0, 0, MB, 0, 0), WEFT_CCI_SUCCESS);
	r = extents();
	assert_int_equal(r.n, 0); /* as many as were wanted */
	assert_int_equal(r.total, 1);
	assert_int_equal(read_extents(fm, 3, 100, 1), WEFT_CCI_SUCCESS);
	r = extents();
	assert_int_equal(r.n, 1);
	assert_int_equal(r.start, 1);
	assert_int_equal(r.total, 2);
	assert_int_equal(r.gen, 2);
	assert_int_equal(read_extents(fm, 3, 1, 3), WEFT_CCI_INVALID_INPUT);
	assert_int_equal(read_extents(fm, 31, 1, 0), WEFT_CCI_INVALID_INPUT);
	assert_int_equal(release(3, 1, 0, &part, 1), WEFT_CCI_INVALID_EXTENT_LIST);
	assert_int_equal(release(3, 2, 't', NULL, 0), WEFT_CCI_INVALID_INPUT);
	assert_int_equal(rig.n_wipes, 0);
	assert_int_equal(release(3, 0x20, 't', NULL, 0), WEFT_CCI_SUCCESS);
	r = extents();
	assert_int_equal(r.n, 1);
	assert_int_equal(r.gen, 3);
	assert_int_equal(rig.n_wipes, 1);
	assert_int_equal(rig.wipe[0].dpa, 0);
	assert_int_equal(rig.wipe[0].len, 4 * MB);
	assert_int_equal(weft_gfam_group(rig.live, 0), WEFT_GFAM_NO_GROUP);
}

WEFT_TEST(errors_have_their_codes)
{
	assert_int_equal(add(31, 0, 0, MB, 0, 0), WEFT_CCI_INVALID_INPUT);
	assert_int_equal(add(0, 0, 3, MB, 0, 0), WEFT_CCI_INVALID_INPUT);
	assert_int_equal(add(0, 4, 0, MB, 0, 0), WEFT_CCI_INVALID_INPUT);
	assert_int_equal(add(0, 0, 0, MB / 2, 0, 0), WEFT_CCI_INVALID_INPUT);
	assert_int_equal(add(0, 2, 0, MB, 0, 0), WEFT_CCI_INVALID_EXTENT_LIST);
	assert_int_equal(add(0, 3, 2, 0, 'x', 0), WEFT_CCI_INVALID_INPUT);
	assert_int_equal(add(0, 1, 0, 65 * MB, 0, 0), WEFT_CCI_RESOURCES_EXHAUSTED);
	assert_int_equal(send(fm, WEFT_CCI_DC_ADD, rsp, 35), WEFT_CCI_INVALID_PAYLOAD_LENGTH);
	assert_int_equal(
		send(fm, WEFT_CCI_SET_DC_REGION, rsp, 41), WEFT_CCI_INVALID_PAYLOAD_LENGTH);
	rig.no_memory = true;
	assert_int_equal(add(0, 0, 0, MB, 0, 0), WEFT_CCI_INTERNAL_ERROR);
	assert_int_equal(release(0, 0, 't', NULL, 0), WEFT_CCI_INTERNAL_ERROR);
	assert_int_equal(open_to(1, 1), WEFT_CCI_INTERNAL_ERROR);
	rig.no_memory = false;
	assert_int_equal(add(0, 0, 0, MB, 0, 0), WEFT_CCI_SUCCESS);
}

WEFT_TEST(groups_are_opened_and_requesters_told)
{
	struct weft_cci_sat_row row = { .rpid = GFD_RIG_HOST, .vec = 8 };
	uint8_t b[WEFT_CCI_SET_SAT_REQ_LEN + 2 * WEFT_CCI_SAT_ROW_LEN] = { 2 };
	const uint8_t q[] = { 0, 0, 2, 0, GFD_RIG_HOST, 0 }; /* two rows */

	assert_int_equal(read_extents(host, 3, 1, 0), WEFT_CCI_INVALID_INPUT);
	weft_cci_put_sat_row(b + WEFT_CCI_SET_SAT_REQ_LIST, 0, &row);
	row.rpid = 0xFFF;
	weft_cci_put_sat_row(b + WEFT_CCI_SET_SAT_REQ_LIST, 1, &row);
	/* All or nothing. */
	assert_int_equal(send(fm, WEFT_CCI_SET_SAT, b, sizeof(b)), WEFT_CCI_INVALID_INPUT);
	assert_int_equal(weft_gfam_sat(rig.live, GFD_RIG_HOST), 0);
	row.rpid = GFD_RIG_ACCELERATOR;
	row.vec = UINT32_C(1) << 31 | 2;
	weft_cci_put_sat_row(b + WEFT_CCI_SET_SAT_REQ_LIST, 1, &row);
	assert_int_equal(send(fm, WEFT_CCI_SET_SAT, b, sizeof(b)), WEFT_CCI_SUCCESS);
	assert_int_equal(weft_gfam_sat(rig.live, GFD_RIG_HOST), 8);
	assert_int_equal(rig.n_notified, 1);
	assert_int_equal(rig.notified, GFD_RIG_ACCELERATOR);
	assert_int_equal(send(fm, WEFT_CCI_GET_SAT, q, sizeof(q)), WEFT_CCI_SUCCESS);
	assert_int_equal(rsp_len, WEFT_CCI_GET_SAT_RSP_LEN + 8);
	assert_int_equal(weft_get_le32(DATA + 6), 8);
	assert_int_equal(weft_get_le32(DATA + 10), 2);
	assert_int_equal(read_extents(host, 3, 1, 0), WEFT_CCI_SUCCESS);
	assert_int_equal(read_extents(host, 1, 1, 0), WEFT_CCI_INVALID_INPUT);
	assert_int_equal(read_extents(stranger, 3, 1, 0), WEFT_CCI_INVALID_INPUT);
	assert_int_equal(open_to(GFD_RIG_HOST, 0), WEFT_CCI_SUCCESS);
	assert_int_equal(read_extents(host, 3, 1, 0), WEFT_CCI_INVALID_INPUT);
}

WEFT_TEST(regions_and_dmps_are_read_and_placed)
{
	struct weft_cci_set_dc_region_req q = {
		.id = 5, .blk = MB, .san = 1, .base = 3 * GB / 2, .decode_len = 1, .len = 2 * MB
	};
	const struct weft_cci_region moved = {
		.base = 8 * GB, .decode_len = 4, .len = GB, .blk = 64 * MB, .san = 1
	};
	struct weft_cci_get_dc_regions_rsp r;
	struct weft_cci_region e;
	uint8_t b[WEFT_CCI_SET_DMPS_REQ_LEN + WEFT_CCI_REGION_LEN] = { 0, 0, 1, 0 };
	const uint8_t all[] = { 0, 0, 8, 0 };
	uint8_t req[WEFT_CCI_SET_DC_REGION_REQ_LEN];

	assert_int_equal(send(fm, WEFT_CCI_SET_DC_REGION, req,
				 weft_cci_put_set_dc_region_req(req, sizeof(req), &q)),
		WEFT_CCI_SUCCESS);
	assert_int_equal(send(host, WEFT_CCI_GET_DC_REGIONS, all, 4), WEFT_CCI_SUCCESS);
	assert_int_equal(weft_cci_get_get_dc_regions_rsp(&r, DATA, rsp_len), 0);
	assert_int_equal(r.n, 8);
	assert_int_equal(r.ext_total, GFD_RIG_EXTENTS);
	assert_int_equal(r.tag_avail, GFD_RIG_TAGS);
	weft_cci_get_region(r.region, 5, &e);
	assert_int_equal(e.base, q.base);
	assert_int_equal(e.decode_len, q.decode_len);
	assert_int_equal(e.len, q.len);
	assert_int_equal(e.blk, MB);
	assert_int_equal(e.san, 1);
	assert_int_equal(e.flags, WEFT_GFAM_DC | WEFT_GFAM_SHARABLE);
	q.id = 8;
	weft_cci_put_set_dc_region_req(req, sizeof(req), &q);
	assert_int_equal(send(fm, WEFT_CCI_SET_DC_REGION, req, 40), WEFT_CCI_INVALID_INPUT);
	/* A DMP stays while regions stand in it. */
	weft_cci_put_region(b + WEFT_CCI_SET_DMPS_REQ_LIST, 0, &moved);
	assert_int_equal(send(fm, WEFT_CCI_SET_DMPS, b, sizeof(b)), WEFT_CCI_INVALID_INPUT);
	for (q.id = 0; q.id < 6; q.id++) {
		q.decode_len = 0;
		weft_cci_put_set_dc_region_req(req, sizeof(req), &q);
		assert_int_equal(send(fm, WEFT_CCI_SET_DC_REGION, req, 40), WEFT_CCI_SUCCESS);
	}
	assert_int_equal(send(fm, WEFT_CCI_SET_DMPS, b, sizeof(b)), WEFT_CCI_SUCCESS);
	assert_int_equal(send(fm, WEFT_CCI_GET_DMPS, all, 4), WEFT_CCI_SUCCESS);
	assert_int_equal(rsp_len, 4 + 2 * WEFT_CCI_REGION_LEN);
	weft_cci_get_region(DATA + 4, 0, &e);
	assert_int_equal(e.base, 8 * GB);
	assert_int_equal(e.decode_len, 4);
	assert_int_equal(e.blk, 64 * MB);
	b[3] = 2; /* beyond the last */
	assert_int_equal(send(fm, WEFT_CCI_SET_DMPS, b, sizeof(b)), WEFT_CCI_INVALID_INPUT);
}

static uint16_t
set_decoder(struct weft_cci_caller who, uint16_t rpid, uint8_t start, uint8_t idx, uint64_t len)
{
	const struct weft_cci_gdt e = {
		.idx = idx, .v = 1, .hpa_base = 64 * GB, .dpa_base = 0, .dpa_len = len
	};
	struct weft_cci_set_gdt_req q = { .rpid = rpid, .n = 1, .start = start };
	uint8_t b[WEFT_CCI_SET_GDT_REQ_LEN + WEFT_CCI_GDT_LEN];

	weft_cci_put_gdt(b + WEFT_CCI_SET_GDT_REQ_LIST, 0, &e);
	q.gdt = b + WEFT_CCI_SET_GDT_REQ_LIST;
	return send(who, WEFT_CCI_SET_GDT, b, weft_cci_put_set_gdt_req(b, sizeof(b), &q));
}

WEFT_TEST(hosts_set_their_decoders_and_no_others)
{
	const uint8_t q[] = { GFD_RIG_ACCELERATOR, 0, 0, 0, 8, 1 };
	struct weft_cci_gdt e;

	assert_int_equal(set_decoder(host, GFD_RIG_ACCELERATOR, 1, 1, MB), WEFT_CCI_SUCCESS);
	assert_int_equal(
		set_decoder(stranger, GFD_RIG_ACCELERATOR, 2, 2, MB), WEFT_CCI_INVALID_INPUT);
	assert_int_equal(set_decoder(stranger, 0xFFF, 2, 2, MB), WEFT_CCI_INVALID_INPUT);
	assert_int_equal(set_decoder((struct weft_cci_caller){ WEFT_CCI_HOST, 0xFFF }, GFD_RIG_HOST,
				 0, 0, MB),
		WEFT_CCI_INVALID_INPUT);
	assert_int_equal(set_decoder(host, GFD_RIG_HOST, 1, 0, MB), WEFT_CCI_INVALID_INPUT);
	assert_int_equal(set_decoder(host, GFD_RIG_HOST, 8, 8, MB), WEFT_CCI_RESOURCES_EXHAUSTED);
	assert_int_equal(set_decoder(host, GFD_RIG_HOST, 0, 0, MB / 2), WEFT_CCI_INVALID_INPUT);
	assert_int_equal(send(host, WEFT_CCI_GET_GDT, q, sizeof(q)), WEFT_CCI_SUCCESS);
	assert_int_equal(rsp_len, WEFT_CCI_GET_GDT_RSP_LEN + 7 * WEFT_CCI_GDT_LEN);
	assert_int_equal(DATA[6], 8);
	weft_cci_get_gdt(DATA + WEFT_CCI_GET_GDT_RSP_LIST, 0, &e);
	assert_int_equal(e.idx, 1);
	assert_int_equal(e.v, 1);
	assert_int_equal(e.hpa_base, 64 * GB);
	assert_int_equal(e.dpa_len, MB);
	assert_int_equal(send(stranger, WEFT_CCI_GET_GDT, q, sizeof(q)), WEFT_CCI_INVALID_INPUT);
}

WEFT_TEST(quality_of_service_is_stored_and_echoed)
{
	const uint8_t qos[] = { 1, 2, 3, 4, 5, 6, 7 };
	const uint8_t set[] = { 3, 0, 0xFD, 0x0F, 10, 20, 30 };
	const uint8_t get[] = { 2, 0, 0xFE, 0x0F };

	assert_int_equal(send(fm, WEFT_CCI_SET_GFD_QOS_CONTROL, qos, 7), WEFT_CCI_SUCCESS);
	assert_memory_equal(DATA, qos, 7);
	assert_int_equal(send(host, WEFT_CCI_GET_GFD_QOS_CONTROL, NULL, 0), WEFT_CCI_SUCCESS);
	assert_memory_equal(DATA, qos, 7);
	assert_int_equal(send(fm, WEFT_CCI_SET_GFD_BW_LIMIT, set, 7), WEFT_CCI_SUCCESS);
	assert_memory_equal(DATA, set, 7);
	assert_int_equal(send(host, WEFT_CCI_GET_GFD_BW_LIMIT, get, 4), WEFT_CCI_SUCCESS);
	assert_int_equal(rsp_len, 6);
	assert_int_equal(DATA[4], 20);
	assert_int_equal(DATA[5], 30);
	assert_int_equal(send(fm, WEFT_CCI_SET_GFD_BW_LIMIT, "\x02\0\xFF\x0F\x01\x02", 6),
		WEFT_CCI_INVALID_INPUT);
	assert_int_equal(send(fm, WEFT_CCI_GET_GFD_QOS_STATUS, NULL, 0), WEFT_CCI_SUCCESS);
	assert_int_equal(DATA[0], 0);
}

WEFT_TEST(cdat_has_a_range_for_each_dmp)
{
	struct weft_cci_read_cdat_req q = { .n = 1000 };
	struct weft_cci_read_cdat_rsp r;
	uint8_t b[WEFT_CCI_READ_CDAT_REQ_LEN], sum = 0, whole[16 + 48];

	weft_cci_put_read_cdat_req(b, sizeof(b), &q);
	assert_int_equal(send(host, WEFT_CCI_READ_CDAT, b, sizeof(b)), WEFT_CCI_SUCCESS);
	assert_int_equal(weft_cci_get_read_cdat_rsp(&r, DATA, rsp_len), 0);
	assert_int_equal(r.total, 16 + 2 * 24);
	assert_int_equal(r.n, r.total);
	assert_int_equal(weft_get_le32(r.data), r.total);
	for (unsigned int i = 0; i < r.total; i++)
		sum = (uint8_t)(sum + r.data[i]);
	assert_int_equal(sum, 0);
	assert_int_equal(r.data[16 + 24 + 4], 1); /* handle: the DMP */
	assert_int_equal(
		r.data[16 + 24 + 5], WEFT_GFAM_DC | WEFT_GFAM_SHARABLE | WEFT_GFAM_READ_ONLY);
	assert_int_equal(weft_get_le64(r.data + 16 + 24 + 8), 2 * GB);
	memcpy(whole, r.data, sizeof(whole));
	q.start = 20;
	q.n = 7;
	weft_cci_put_read_cdat_req(b, sizeof(b), &q);
	assert_int_equal(send(fm, WEFT_CCI_READ_CDAT, b, sizeof(b)), WEFT_CCI_SUCCESS);
	assert_int_equal(weft_cci_get_read_cdat_rsp(&r, DATA, rsp_len), 0);
	assert_int_equal(r.n, 7);
	assert_memory_equal(r.data, whole + 20, 7);
	q.start = 65;
	weft_cci_put_read_cdat_req(b, sizeof(b), &q);
	assert_int_equal(send(fm, WEFT_CCI_READ_CDAT, b, sizeof(b)), WEFT_CCI_INVALID_INPUT);
	/* Where it was measured, what memory costs: four structures each. */
	rig.gfd.latency_ns = 500;
	rig.gfd.bandwidth_mbps = 20000;
	q.start = 0;
	q.n = 1000;
	weft_cci_put_read_cdat_req(b, sizeof(b), &q);
	assert_int_equal(send(fm, WEFT_CCI_READ_CDAT, b, sizeof(b)), WEFT_CCI_SUCCESS);
	assert_int_equal(weft_cci_get_read_cdat_rsp(&r, DATA, rsp_len), 0);
	assert_int_equal(r.total, 16 + 2 * 5 * 24);
	assert_int_equal(r.data[16 + 24], 1);
	assert_int_equal(r.data[16 + 24 + 6], 1); /* read latency, ps */
	assert_int_equal(weft_get_le64(r.data + 16 + 24 + 8), 500000);
}

WEFT_TEST(access_error_is_a_request_to_the_manager)
{
	const struct weft_gfam_report r = { .time_ns = 9,
		.dpa = 0x1000,
		.hpa = 0x2000,
		.rpid = 0x11,
		.flags = 0x0E,
		.trigger = 3 };
	struct weft_cci_enhanced_event_req q;
	struct weft_cci_hdr h;
	uint8_t msg[WEFT_CCI_GFD_REPORT_LEN];

	weft_cci_gfd_report(&r, GFD_RIG_PID, msg);
	assert_int_equal(weft_cci_get_hdr(&h, msg, sizeof(msg)), 0);
	assert_false(h.is_response);
	assert_int_equal(h.opcode, 0x0107);
	assert_int_equal(
		weft_cci_get_enhanced_event_req(&q, msg + WEFT_CCI_HDR, sizeof(msg) - WEFT_CCI_HDR),
		0);
	assert_int_equal(q.pid, GFD_RIG_PID);
	assert_int_equal(q.type, 2);
	assert_int_equal(q.trig, 1 << 3);
	assert_int_equal(q.rpid, 0x11);
	assert_int_equal(q.dpa, 0x1000);
	assert_int_equal(q.ts, 9);
}
