/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Commands that every component has, the background operation, and requests of wrong lengths and
 * with bits that are reserved. Who may call what is test_component_access.c, events are
 * test_component_events.c.
 */

#include "cci_rig.h"

#include <errno.h>

#define ROW_WORK 0x5201 /* runs in the background */
#define ROW_MORE 0x5202 /* likewise; can be ended early */
#define ROW_LONG 0x5100 /* answers as much as it is asked for */
#define WEFT_BACKGROUND (WEFT_CCI_EFFECT_CONFIG | WEFT_CCI_EFFECT_BACKGROUND)

static unsigned int n_works;

static uint16_t
row_work(void *arg, const struct weft_cci_caller *who, const uint8_t *req, size_t len, uint8_t *rsp,
	size_t *rsp_len)
{
	(void)arg;
	(void)who;
	(void)req;
	(void)rsp;
	(void)rsp_len;
	if (len != 0)
		return WEFT_CCI_INVALID_PAYLOAD_LENGTH;
	n_works++;
	return WEFT_CCI_BACKGROUND_STARTED;
}

static uint16_t
row_long(void *arg, const struct weft_cci_caller *who, const uint8_t *req, size_t len, uint8_t *rsp,
	size_t *rsp_len)
{
	(void)arg;
	(void)who;
	if (len != 2)
		return WEFT_CCI_INVALID_PAYLOAD_LENGTH;
	*rsp_len = weft_get_le16(req);
	memset(rsp, 0xA5, *rsp_len);
	return WEFT_CCI_SUCCESS;
}

static const struct weft_cci_command rows[] = {
	{ ROW_MORE, WEFT_BACKGROUND | WEFT_CCI_EFFECT_ABORT, WEFT_CCI_WHO_FM, true, row_work },
	{ ROW_WORK, WEFT_BACKGROUND, WEFT_CCI_WHO_FM, true, row_work },
	{ ROW_LONG, 0, WEFT_CCI_WHO_BOTH, false, row_long },
};

static const struct weft_cci_component_cfg usual = {
	.type = WEFT_CCI_TYPE_SWITCH,
	.vid = 0x1111,
	.did = 0x2222,
	.svid = 0x3333,
	.ssid = 0x4444,
	.serial = UINT64_C(0x123456789ABCDEF0),
	.pid = WEFT_CCI_NO_PID,
	.command = rows,
	.n_commands = WEFT_ARRAY_SIZE(rows),
};

static int
owned(void **state)
{
	(void)state;
	n_works = 0;
	rig_now_ns = 1000;
	assert_int_equal(weft_cci_component_init(&rig, &usual), 0);
	assert_int_equal(rig_claim(rig_fm(RIG_FM), 0, RIG_FM, 1, RIG_PID), WEFT_CCI_SUCCESS);
	return 0;
}

WEFT_TEST_EACH(owned, NULL)

WEFT_TEST(identify_says_who_it_is)
{
	static const uint8_t want[18] = { 0x11, 0x11, 0x22, 0x22, 0x33, 0x33, 0x44, 0x44, 0xF0,
		0xDE, 0xBC, 0x9A, 0x78, 0x56, 0x34, 0x12, 10, 0 };

	assert_int_equal(rig_ask(WEFT_CCI_IDENTIFY, NULL, 0), WEFT_CCI_SUCCESS);
	assert_int_equal(rig_rsp_len, sizeof(want));
	assert_memory_equal(rig_rsp + WEFT_CCI_HDR, want, sizeof(want));
}

WEFT_TEST(limit_of_responses_is_kept_and_no_more_than_1024)
{
	const uint8_t limit[] = { 8, 9, 10, 11, 255 };
	const uint16_t most[] = { 256, 512, 1024, 1024, 1024 };
	uint8_t req[2], small = 7;

	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(limit); i++) {
		assert_int_equal(rig_ask(WEFT_CCI_SET_RESPONSE_LIMIT, &limit[i], 1), 0);
		assert_int_equal(1u << rig_rsp[WEFT_CCI_HDR], most[i]);
		assert_int_equal(rig_ask(WEFT_CCI_GET_RESPONSE_LIMIT, NULL, 0), 0);
		assert_int_equal(1u << rig_rsp[WEFT_CCI_HDR], most[i]);
		weft_put_le16(req, most[i]);
		assert_int_equal(rig_ask(ROW_LONG, req, 2), WEFT_CCI_SUCCESS);
		assert_int_equal(rig_rsp_len, most[i]);
		if (most[i] == WEFT_CCI_MAX_PAYLOAD)
			continue;
		weft_put_le16(req, (uint16_t)(most[i] + 1));
		assert_int_equal(rig_ask(ROW_LONG, req, 2), WEFT_CCI_INVALID_INPUT);
	}
	assert_int_equal(rig_ask(WEFT_CCI_SET_RESPONSE_LIMIT, &small, 1), WEFT_CCI_INVALID_INPUT);
	assert_int_equal(rig.limit_log2, 10);
}

static void
check_status(uint8_t st, uint16_t opcode, uint16_t rc)
{
	const uint8_t *p = rig_rsp + WEFT_CCI_HDR;

	assert_int_equal(rig_ask(WEFT_CCI_BACKGROUND_STATUS, NULL, 0), WEFT_CCI_SUCCESS);
	assert_int_equal(rig_rsp_len, 8);
	assert_int_equal(p[0], st);
	assert_int_equal(weft_get_le16(p + 2), opcode);
	assert_int_equal(weft_get_le16(p + 4), rc);
}

WEFT_TEST(background_operation_is_seen_until_it_ends)
{
	check_status(0, 0, 0);
	assert_int_equal(rig_ask(ROW_WORK, NULL, 0), WEFT_CCI_BACKGROUND_STARTED);
	assert_true(rig_hdr.is_background);
	check_status(1, ROW_WORK, 0);
	weft_cci_component_progress(&rig, 40);
	check_status(1 | 40 << 1, ROW_WORK, 0);
	assert_true(rig_hdr.is_background);
	weft_cci_component_progress(&rig, 100); /* it is not over before it is over */
	check_status(1 | 99 << 1, ROW_WORK, 0);
	weft_cci_component_done(&rig, WEFT_CCI_INTERNAL_ERROR);
	check_status((uint8_t)(100 << 1), ROW_WORK, WEFT_CCI_INTERNAL_ERROR);
	assert_false(rig_hdr.is_background);
	weft_cci_component_done(&rig, WEFT_CCI_SUCCESS); /* nothing runs */
	check_status((uint8_t)(100 << 1), ROW_WORK, WEFT_CCI_INTERNAL_ERROR);
}

WEFT_TEST(second_background_operation_is_busy_and_others_go_on)
{
	assert_int_equal(rig_ask(ROW_WORK, NULL, 0), WEFT_CCI_BACKGROUND_STARTED);
	assert_int_equal(rig_ask(ROW_WORK, NULL, 0), WEFT_CCI_BUSY);
	assert_int_equal(rig_ask(ROW_MORE, NULL, 0), WEFT_CCI_BUSY);
	assert_int_equal(n_works, 1);
	assert_int_equal(rig_ask(WEFT_CCI_IDENTIFY, NULL, 0), WEFT_CCI_SUCCESS);
	assert_true(rig_hdr.is_background);
	weft_cci_component_done(&rig, WEFT_CCI_SUCCESS);
	assert_int_equal(rig_ask(ROW_MORE, NULL, 0), WEFT_CCI_BACKGROUND_STARTED);
	assert_int_equal(n_works, 2);
}

WEFT_TEST(background_operation_is_its_interface_s)
{
	assert_int_equal(rig_ask(ROW_WORK, NULL, 0), WEFT_CCI_BACKGROUND_STARTED);
	assert_int_equal(rig_send(rig_host(5), WEFT_CCI_BACKGROUND_STATUS, NULL, 0), 0);
	assert_false(rig_hdr.is_background);
	assert_int_equal(rig_rsp[WEFT_CCI_HDR], 0);
}

WEFT_TEST(abort_is_asked_for_only_where_that_is_offered)
{
	assert_int_equal(rig_ask(WEFT_CCI_ABORT_BACKGROUND, NULL, 0), WEFT_CCI_SUCCESS);
	assert_int_equal(rig_ask(ROW_WORK, NULL, 0), WEFT_CCI_BACKGROUND_STARTED);
	assert_int_equal(rig_ask(WEFT_CCI_ABORT_BACKGROUND, NULL, 0), WEFT_CCI_ABORT_UNSUPPORTED);
	assert_false(weft_cci_component_abort_wanted(&rig));
	weft_cci_component_done(&rig, WEFT_CCI_SUCCESS);
	assert_int_equal(rig_ask(ROW_MORE, NULL, 0), WEFT_CCI_BACKGROUND_STARTED);
	assert_int_equal(rig_ask(WEFT_CCI_ABORT_BACKGROUND, NULL, 0), WEFT_CCI_SUCCESS);
	assert_true(weft_cci_component_abort_wanted(&rig));
	weft_cci_component_done(&rig, WEFT_CCI_SUCCESS);
	assert_false(weft_cci_component_abort_wanted(&rig));
}

WEFT_TEST(clock_runs_from_when_it_is_set)
{
	uint8_t req[8];

	assert_int_equal(rig_ask(WEFT_CCI_GET_TIMESTAMP, NULL, 0), WEFT_CCI_SUCCESS);
	assert_int_equal(weft_get_le64(rig_rsp + WEFT_CCI_HDR), 0);
	weft_put_le64(req, UINT64_C(1) << 60);
	assert_int_equal(rig_ask(WEFT_CCI_SET_TIMESTAMP, req, 8), WEFT_CCI_SUCCESS);
	rig_now_ns += 12345;
	assert_int_equal(rig_ask(WEFT_CCI_GET_TIMESTAMP, NULL, 0), WEFT_CCI_SUCCESS);
	assert_int_equal(weft_get_le64(rig_rsp + WEFT_CCI_HDR), (UINT64_C(1) << 60) + 12345);
}

/* 0401h of @p len bytes from @p off on of the log that begins with @p uuid0. */
static uint16_t
get_log(uint8_t uuid0, uint32_t off, uint32_t len)
{
	uint8_t req[24] = { uuid0, 0xa9, 0xc0, 0xb5, 0xbf, 0x41, 0x4b, 0x78, 0x8f, 0x79, 0x96, 0xb1,
		0x62, 0x3b, 0x3f, 0x17 };

	weft_put_le32(req + 16, off);
	weft_put_le32(req + 20, len);
	return rig_ask(WEFT_CCI_GET_LOG, req, sizeof(req));
}

WEFT_TEST(log_is_read_within_its_ends)
{
	uint8_t whole[512];
	uint32_t size;

	assert_int_equal(rig_ask(WEFT_CCI_GET_SUPPORTED_LOGS, NULL, 0), WEFT_CCI_SUCCESS);
	assert_int_equal(rig_rsp_len, 28);
	assert_int_equal(weft_get_le16(rig_rsp + WEFT_CCI_HDR), 1);
	size = weft_get_le32(rig_rsp + WEFT_CCI_HDR + 24);
	assert_int_equal(get_log(0x0d, 0, size), WEFT_CCI_SUCCESS);
	assert_int_equal(rig_rsp_len, size);
	memcpy(whole, rig_rsp + WEFT_CCI_HDR, size);
	for (uint32_t at = 4; at < size; at += 4) /* by opcode, each once */
		assert_true(weft_get_le16(whole + at) > weft_get_le16(whole + at - 4));
	assert_int_equal(get_log(0x0d, 3, size - 3), WEFT_CCI_SUCCESS);
	assert_memory_equal(rig_rsp + WEFT_CCI_HDR, whole + 3, size - 3);
	assert_int_equal(get_log(0x0d, size, 0), WEFT_CCI_SUCCESS);
	assert_int_equal(get_log(0x0d, 0, size + 1), WEFT_CCI_INVALID_INPUT);
	assert_int_equal(get_log(0x0d, size + 1, 0), WEFT_CCI_INVALID_INPUT);
	assert_int_equal(get_log(0x0d, 1, UINT32_MAX), WEFT_CCI_INVALID_INPUT);
	assert_int_equal(get_log(0x0d, UINT32_MAX, 1), WEFT_CCI_INVALID_INPUT);
	assert_int_equal(get_log(0x0e, 0, size), WEFT_CCI_INVALID_LOG);
}

/* A length that is not the request's: nothing is done, whatever the rest says. */
WEFT_TEST(requests_of_wrong_length_change_nothing)
{
	static const struct {
		uint16_t opcode;
		size_t len;
	} fixed[] = {
		{ WEFT_CCI_IDENTIFY, 0 },
		{ WEFT_CCI_BACKGROUND_STATUS, 0 },
		{ WEFT_CCI_GET_RESPONSE_LIMIT, 0 },
		{ WEFT_CCI_SET_RESPONSE_LIMIT, 1 },
		{ WEFT_CCI_ABORT_BACKGROUND, 0 },
		{ WEFT_CCI_GET_EVENT_RECORDS, 1 },
		{ WEFT_CCI_GET_MCTP_EVENT_POLICY, 0 },
		{ WEFT_CCI_SET_MCTP_EVENT_POLICY, 2 },
		{ WEFT_CCI_GET_TIMESTAMP, 0 },
		{ WEFT_CCI_SET_TIMESTAMP, 8 },
		{ WEFT_CCI_GET_SUPPORTED_LOGS, 0 },
		{ WEFT_CCI_GET_LOG, 24 },
		{ WEFT_CCI_IDENTIFY_PBR_COMPONENT, 0 },
		{ WEFT_CCI_CLAIM_OWNERSHIP, 21 },
	};
	static struct weft_cci_component before;
	uint8_t req[WEFT_CCI_MAX_PAYLOAD + 1];

	memset(req, 9, sizeof(req));
	before = rig;
	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(fixed); i++)
		for (size_t len = 0; len <= sizeof(req); len++) {
			if (len == fixed[i].len)
				continue;
			assert_int_equal(rig_ask(fixed[i].opcode, req, len),
				WEFT_CCI_INVALID_PAYLOAD_LENGTH);
			assert_memory_equal(&rig, &before, sizeof(rig));
		}
}

WEFT_TEST(header_that_lies_about_its_length_is_refused)
{
	uint8_t msg[WEFT_CCI_HDR + 8] = { 0 };
	struct weft_cci_hdr h = { .opcode = WEFT_CCI_IDENTIFY, .len = 8 };
	const struct weft_cci_caller who = rig_fm(RIG_FM);

	weft_cci_put_hdr(msg, &h);
	assert_int_equal(
		weft_cci_component_run(&rig, &who, msg, WEFT_CCI_HDR, rig_rsp, sizeof(rig_rsp), 0),
		WEFT_CCI_HDR);
	assert_int_equal(weft_get_le16(rig_rsp + 8), WEFT_CCI_INVALID_PAYLOAD_LENGTH);
	h.len = 0;
	weft_cci_put_hdr(msg, &h);
	assert_int_equal(
		weft_cci_component_run(&rig, &who, msg, sizeof(msg), rig_rsp, sizeof(rig_rsp), 0),
		WEFT_CCI_HDR);
	assert_int_equal(weft_get_le16(rig_rsp + 8), WEFT_CCI_INVALID_PAYLOAD_LENGTH);
}

WEFT_TEST(what_is_no_request_has_no_answer)
{
	uint8_t msg[WEFT_CCI_HDR] = { 0 };
	const struct weft_cci_hdr h = { .is_response = true, .opcode = WEFT_CCI_IDENTIFY };
	const struct weft_cci_caller who = rig_fm(RIG_FM);

	weft_cci_put_hdr(msg, &h);
	assert_int_equal(
		weft_cci_component_run(&rig, &who, msg, sizeof(msg), rig_rsp, sizeof(rig_rsp), 0),
		0);
	msg[0] = 0;
	for (size_t len = 0; len < WEFT_CCI_HDR; len++)
		assert_int_equal(
			weft_cci_component_run(&rig, &who, msg, len, rig_rsp, sizeof(rig_rsp), 0),
			0);
	assert_int_equal(weft_cci_component_run(&rig, &who, msg, sizeof(msg), rig_rsp,
				 WEFT_CCI_MESSAGE_MAX - 1, 0),
		0);
}

/* The upper half of the category, byte 2, bits of byte 7, return code and extended status. */
WEFT_TEST(reserved_bits_of_a_header_are_ignored)
{
	const struct weft_cci_hdr h = { .tag = 7, .opcode = WEFT_CCI_IDENTIFY };
	const struct weft_cci_caller who = rig_fm(RIG_FM);
	uint8_t plain[WEFT_CCI_MESSAGE_MAX], msg[WEFT_CCI_HDR];
	size_t want;

	weft_cci_put_hdr(msg, &h);
	want = weft_cci_component_run(&rig, &who, msg, sizeof(msg), plain, sizeof(plain), 0);
	assert_int_equal(weft_get_le16(plain + 8), WEFT_CCI_SUCCESS);
	for (unsigned int bit = 0; bit < 8 * WEFT_CCI_HDR; bit++) {
		const unsigned int byte = bit / 8;
		const bool reserved = (byte == 0 && bit % 8 >= 4) || byte == 2 ||
		                      (byte == 7 && bit % 8 >= 5) || byte >= 8;

		if (!reserved)
			continue;
		msg[byte] ^= (uint8_t)(1u << bit % 8);
		assert_int_equal(weft_cci_component_run(
					 &rig, &who, msg, sizeof(msg), rig_rsp, sizeof(rig_rsp), 0),
			want);
		assert_memory_equal(rig_rsp, plain, want);
		msg[byte] ^= (uint8_t)(1u << bit % 8);
	}
}

WEFT_TEST(tables_of_rows_that_cannot_be_are_refused)
{
	struct weft_cci_command bad[WEFT_CCI_COMMANDS_MAX + 1];
	struct weft_cci_component_cfg cfg = usual;

	cfg.command = bad;
	cfg.n_commands = 2;
	bad[0] = rows[0];
	bad[1] = rows[0];
	assert_int_equal(weft_cci_component_init(&rig, &cfg), -EINVAL);
	bad[1].opcode = WEFT_CCI_IDENTIFY;
	assert_int_equal(weft_cci_component_init(&rig, &cfg), -EINVAL);
	bad[1] = rows[1];
	bad[1].run = NULL;
	assert_int_equal(weft_cci_component_init(&rig, &cfg), -EINVAL);
	bad[1] = rows[1];
	bad[1].who = 4;
	assert_int_equal(weft_cci_component_init(&rig, &cfg), -EINVAL);
	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(bad); i++) {
		bad[i] = rows[0];
		bad[i].opcode = (uint16_t)(0x5200 + i);
	}
	cfg.n_commands = WEFT_ARRAY_SIZE(bad);
	assert_int_equal(weft_cci_component_init(&rig, &cfg), -E2BIG);
	cfg = usual;
	cfg.type = 3;
	assert_int_equal(weft_cci_component_init(&rig, &cfg), -EINVAL);
	cfg = usual;
	cfg.pid = 0x1000;
	assert_int_equal(weft_cci_component_init(&rig, &cfg), -EINVAL);
}
