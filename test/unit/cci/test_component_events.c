/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Events of a component: records in order, logs that are full, clearing by handle, and when the
 * manager is told.
 */

#include "cci_rig.h"

#include <errno.h>

#define FIT ((WEFT_CCI_MAX_PAYLOAD - 32) / WEFT_CCI_RECORD) /* records of a response */

static uint16_t told[64]; /* what each notification said */
static unsigned int n_told;

static void
take_notice(void *arg, uint16_t fm_pid, const uint8_t *msg, size_t len)
{
	struct weft_cci_hdr h;

	(void)arg;
	assert_int_equal(fm_pid, RIG_FM);
	assert_int_equal(len, WEFT_CCI_HDR + 2);
	assert_int_equal(weft_cci_get_hdr(&h, msg, len), 0);
	assert_false(h.is_response);
	assert_int_equal(h.opcode, WEFT_CCI_EVENT_NOTIFICATION);
	assert_int_equal(h.len, 2);
	assert_true(n_told < WEFT_ARRAY_SIZE(told));
	told[n_told++] = weft_get_le16(msg + WEFT_CCI_HDR);
}

static const struct weft_cci_component_cfg usual = {
	.type = WEFT_CCI_TYPE_SWITCH,
	.pid = WEFT_CCI_NO_PID,
	.notify = take_notice,
};

static int
owned(void **state)
{
	(void)state;
	n_told = 0;
	rig_now_ns = 0;
	assert_int_equal(weft_cci_component_init(&rig, &usual), 0);
	assert_int_equal(rig_claim(rig_fm(RIG_FM), 0, RIG_FM, 1, RIG_PID), WEFT_CCI_SUCCESS);
	return 0;
}

WEFT_TEST_EACH(owned, NULL)

static int
put(enum weft_cci_log_id log, uint8_t mark)
{
	uint8_t record[WEFT_CCI_RECORD];

	memset(record, mark, sizeof(record));
	return weft_cci_component_event(&rig, log, record, rig_now_ns);
}

/* Read a log: @return records; with flags and count of what was lost. */
static unsigned int
get(uint8_t log, uint8_t *flags, uint16_t *n_lost)
{
	assert_int_equal(rig_ask(WEFT_CCI_GET_EVENT_RECORDS, &log, 1), WEFT_CCI_SUCCESS);
	*flags = rig_rsp[WEFT_CCI_HDR];
	*n_lost = weft_get_le16(rig_rsp + WEFT_CCI_HDR + 2);
	assert_int_equal(rig_rsp_len, 32 + 128u * weft_get_le16(rig_rsp + WEFT_CCI_HDR + 20));
	return weft_get_le16(rig_rsp + WEFT_CCI_HDR + 20);
}

static const uint8_t *
record_at(unsigned int i)
{
	return rig_rsp + WEFT_CCI_HDR + 32 + (size_t)i * WEFT_CCI_RECORD;
}

static uint16_t
clear(uint8_t log, uint8_t flags, const uint16_t *handle, uint8_t n)
{
	uint8_t req[6 + 2 * 255] = { log, flags, n };

	for (unsigned int i = 0; i < n; i++)
		weft_put_le16(req + 6 + (size_t)2 * i, handle[i]);
	return rig_ask(WEFT_CCI_CLEAR_EVENT_RECORDS, req, 6 + (size_t)2 * n);
}

static uint16_t
set_policy(uint16_t policy)
{
	uint8_t req[2];

	weft_put_le16(req, policy);
	assert_int_equal(rig_ask(WEFT_CCI_SET_MCTP_EVENT_POLICY, req, 2), WEFT_CCI_SUCCESS);
	assert_int_equal(rig_rsp_len, 2);
	return weft_get_le16(rig_rsp + WEFT_CCI_HDR);
}

WEFT_TEST(records_come_back_in_order_with_handle_and_time)
{
	uint8_t stamp[8], flags;
	uint16_t lost;

	weft_put_le64(stamp, 5000);
	assert_int_equal(rig_ask(WEFT_CCI_SET_TIMESTAMP, stamp, 8), WEFT_CCI_SUCCESS);
	for (unsigned int i = 0; i < 3; i++) {
		rig_now_ns = 10 * i;
		assert_int_equal(put(WEFT_CCI_LOG_WARNING, (uint8_t)(0x40 + i)), 0);
	}
	assert_int_equal(get(0, &flags, &lost), 0);
	assert_int_equal(get(1, &flags, &lost), 3);
	assert_int_equal(flags | lost, 0);
	for (unsigned int i = 0; i < 3; i++) {
		const uint8_t *p = record_at(i);

		for (unsigned int b = 0; b < WEFT_CCI_RECORD; b++)
			if (b != 0x10 && (b < 0x14 || b > 0x15) && (b < 0x18 || b > 0x1F))
				assert_int_equal(p[b], 0x40 + i);
		assert_int_equal(p[0x10], 128);
		assert_int_equal(weft_get_le16(p + 0x14), i + 1);
		assert_int_equal(weft_get_le64(p + 0x18), 5000 + 10 * i);
	}
	for (uint8_t log = WEFT_CCI_LOGS; log != 0; log++)
		assert_int_equal(
			rig_ask(WEFT_CCI_GET_EVENT_RECORDS, &log, 1), WEFT_CCI_INVALID_INPUT);
	assert_int_equal(put(WEFT_CCI_LOGS, 0), -EINVAL);
}

WEFT_TEST(full_log_keeps_the_oldest_and_counts_the_rest)
{
	uint8_t flags;
	uint16_t lost;

	for (unsigned int i = 0; i < WEFT_CCI_LOG_RECORDS; i++)
		assert_int_equal(put(WEFT_CCI_LOG_FATAL, (uint8_t)i), 0);
	assert_int_equal(get(3, &flags, &lost), FIT);
	assert_int_equal(flags, 2);
	for (unsigned int i = 0; i < 70000; i++)
		assert_int_equal(put(WEFT_CCI_LOG_FATAL, 0xEE), -ENOSPC);
	assert_int_equal(get(3, &flags, &lost), FIT);
	assert_int_equal(flags, 3);
	assert_int_equal(lost, UINT16_MAX);
	assert_int_equal(record_at(0)[0], 0);
	assert_int_equal(clear(3, 1, NULL, 0), WEFT_CCI_SUCCESS);
	assert_int_equal(get(3, &flags, &lost), 0);
	assert_int_equal(flags | lost, 0);
}

/* Read and clear, as a manager does, while the ring wraps; nothing is missed or seen twice. */
WEFT_TEST(log_is_drained_around_its_end)
{
	uint16_t handle[FIT], lost, expect = 1;
	uint8_t flags;
	unsigned int n;

	for (unsigned int round = 0; round < 100; round++) {
		for (unsigned int i = 0; i < 9; i++)
			assert_int_equal(put(WEFT_CCI_LOG_INFO, 1), 0);
		do {
			n = get(0, &flags, &lost);
			for (unsigned int i = 0; i < n; i++) {
				handle[i] = weft_get_le16(record_at(i) + 0x14);
				assert_int_equal(handle[i], expect++);
			}
			assert_int_equal(clear(0, 0, handle, (uint8_t)n), WEFT_CCI_SUCCESS);
		} while ((flags & 2) != 0);
	}
	assert_int_equal(expect, 901);
}

WEFT_TEST(handle_zero_is_never_given)
{
	uint16_t handle, lost;
	uint8_t flags;

	for (unsigned int i = 1; i < 0x10002; i++) {
		assert_int_equal(put(WEFT_CCI_LOG_INFO, 1), 0);
		assert_int_equal(get(0, &flags, &lost), 1);
		handle = weft_get_le16(record_at(0) + 0x14);
		assert_int_not_equal(handle, 0);
		assert_int_equal(clear(0, 0, &handle, 1), WEFT_CCI_SUCCESS);
	}
}

WEFT_TEST(no_record_is_cleared_before_an_older_one)
{
	const uint16_t later[] = { 2 }, wrong[] = { 1, 3 }, some[] = { 1, 2 };
	const uint16_t many[] = { 1, 2, 3, 4 };
	uint8_t flags, bad[] = { 0, 0, 2, 0, 0, 0, 1, 0, 2, 0, 0 };
	uint16_t lost;

	for (unsigned int i = 0; i < 3; i++)
		put(WEFT_CCI_LOG_INFO, 1);
	assert_int_equal(clear(0, 0, later, 1), WEFT_CCI_INVALID_HANDLE);
	assert_int_equal(clear(0, 0, wrong, 2), WEFT_CCI_INVALID_HANDLE);
	assert_int_equal(clear(0, 0, many, 4), WEFT_CCI_INVALID_HANDLE);
	assert_int_equal(clear(0, 0, NULL, 0), WEFT_CCI_INVALID_INPUT);
	assert_int_equal(clear(5, 0, some, 2), WEFT_CCI_INVALID_INPUT);
	for (size_t len = 0; len <= sizeof(bad); len++)
		if (len != 10)
			assert_int_equal(rig_ask(WEFT_CCI_CLEAR_EVENT_RECORDS, bad, len),
				WEFT_CCI_INVALID_PAYLOAD_LENGTH);
	assert_int_equal(get(0, &flags, &lost), 3);
	assert_int_equal(clear(0, 0, some, 2), WEFT_CCI_SUCCESS);
	assert_int_equal(get(0, &flags, &lost), 1);
	assert_int_equal(weft_get_le16(record_at(0) + 0x14), 3);
}

WEFT_TEST(manager_is_told_once_until_it_has_emptied_the_log)
{
	put(WEFT_CCI_LOG_INFO, 1);
	assert_int_equal(n_told, 0); /* it wants nothing yet */
	assert_int_equal(set_policy(0xFFFF), 0x801F);
	assert_int_equal(n_told, 1); /* of what waited */
	assert_int_equal(told[0], 1);
	put(WEFT_CCI_LOG_INFO, 1);
	assert_int_equal(n_told, 1);
	put(WEFT_CCI_LOG_FAILURE, 1);
	assert_int_equal(n_told, 2);
	assert_int_equal(told[1], 1 << WEFT_CCI_LOG_FAILURE);
	assert_int_equal(clear(0, 1, NULL, 0), WEFT_CCI_SUCCESS);
	put(WEFT_CCI_LOG_INFO, 1);
	assert_int_equal(n_told, 3);
	assert_int_equal(set_policy(1 << WEFT_CCI_LOG_INFO), 1);
	put(WEFT_CCI_LOG_WARNING, 1); /* not wanted */
	assert_int_equal(n_told, 3);
	assert_int_equal(rig_ask(WEFT_CCI_GET_MCTP_EVENT_POLICY, NULL, 0), WEFT_CCI_SUCCESS);
	assert_int_equal(weft_get_le16(rig_rsp + WEFT_CCI_HDR), 1);
}

WEFT_TEST(smaller_limit_gets_fewer_records)
{
	uint8_t limit = 8, flags;
	uint16_t lost;

	for (unsigned int i = 0; i < 3; i++)
		put(WEFT_CCI_LOG_INFO, 1);
	assert_int_equal(rig_ask(WEFT_CCI_SET_RESPONSE_LIMIT, &limit, 1), WEFT_CCI_SUCCESS);
	assert_int_equal(get(0, &flags, &lost), 1);
	assert_int_equal(flags, 2);
}
