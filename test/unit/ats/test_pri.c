/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Page requests between both ends (ats.md section 5.4). */

#include "weft_test.h"

#include "weft_ats_pri.h"
#include "weft_ats_wire.h"

#define DEVICE 0x0208
#define ROOM 3

static struct weft_ats_pri pri;
static struct weft_ats_page queue[ROOM];
static struct weft_ats_pages pages;
static uint8_t buf[WEFT_ATS_HEADER_MAX], reply[WEFT_ATS_HEADER_MAX];

static int
start(void **state)
{
	(void)state;
	pages = (struct weft_ats_pages){ .page = queue, .room = ROOM, .id = 0x0100 };
	weft_ats_pri_init(&pri, DEVICE, 8);
	weft_ats_pri_reg_set(&pri, WEFT_ATS_PRI_REG_ALLOCATION, 100);
	assert_int_equal(weft_ats_pri_reg(&pri, WEFT_ATS_PRI_REG_ALLOCATION), 8);
	weft_ats_pri_reg_set(&pri, WEFT_ATS_PRI_REG_CTL, WEFT_ATS_PRI_E);
	return 0;
}

WEFT_TEST_EACH(start, NULL)

static int
ask(uint16_t group, uint8_t bits)
{
	const struct weft_ats_page page = { 0x7000, 5, 0, group, bits };

	return weft_ats_pri_ask(&pri, &page, buf);
}

/* Ask, and hand the request over. @return length of the answer that comes at once. */
static size_t
ask_host(uint16_t group, uint8_t bits)
{
	const int len = ask(group, bits);
	size_t out;

	assert_true(len > 0);
	assert_int_equal(weft_ats_pages_receive(&pages, buf, (size_t)len, reply, &out), WEFT_OK);
	return out;
}

static void
expect_answer(size_t len, uint16_t want_group, uint8_t want)
{
	uint16_t group;
	uint8_t code;

	assert_int_equal(weft_ats_pri_receive(&pri, reply, len, &group, &code), WEFT_OK);
	assert_int_equal(group, want_group);
	assert_int_equal(code, want);
}

WEFT_TEST(group_is_asked_for_and_answered)
{
	struct weft_ats_page page;
	uint16_t group;
	uint8_t code;
	size_t len;

	assert_int_equal(ask_host(0x1FF, WEFT_ATS_PAGE_R), 0);
	assert_true(weft_ats_pages_next(&pages, &page));
	len = weft_ats_pages_answer(&pages, &page, WEFT_ATS_PAGE_SUCCESS, reply);
	/* The last page of the group was not asked for yet. */
	assert_int_equal(weft_ats_pri_receive(&pri, reply, len, &group, &code), WEFT_DROP_NO_TAG);
	assert_true((weft_ats_pri_reg(&pri, WEFT_ATS_PRI_REG_CTL) & WEFT_ATS_PRI_UNEXPECTED) != 0);
	weft_ats_pri_reg_set(&pri, WEFT_ATS_PRI_REG_CTL, WEFT_ATS_PRI_E | WEFT_ATS_PRI_UNEXPECTED);
	assert_int_equal(weft_ats_pri_reg(&pri, WEFT_ATS_PRI_REG_CTL),
		WEFT_ATS_PRI_E | WEFT_ATS_PRI_PASID_REQUIRED);
	assert_int_equal(ask_host(0x1FF, WEFT_ATS_PAGE_W | WEFT_ATS_PAGE_LAST), 0);
	assert_int_equal(ask(0x1FF, WEFT_ATS_PAGE_R), -EBUSY);
	assert_true(weft_ats_pages_next(&pages, &page));
	assert_int_equal(page.addr, 0x7000);
	assert_int_equal(page.pasid, 5);
	assert_int_equal(page.requester, DEVICE);
	assert_false(weft_ats_pages_next(&pages, &page));
	len = weft_ats_pages_answer(&pages, &page, WEFT_ATS_PAGE_INVALID, reply);
	expect_answer(len, 0x1FF, WEFT_ATS_PAGE_INVALID);
	weft_ats_pri_reg_set(&pri, WEFT_ATS_PRI_REG_CTL, 0);
	assert_true((weft_ats_pri_reg(&pri, WEFT_ATS_PRI_REG_CTL) & WEFT_ATS_PRI_STOPPED) != 0);
}

WEFT_TEST(full_queue_answers_the_last_of_a_group)
{
	size_t len;

	for (uint16_t i = 0; i < ROOM; i++)
		assert_int_equal(ask_host(i, WEFT_ATS_PAGE_R), 0);
	assert_int_equal(ask_host(3, WEFT_ATS_PAGE_R), 0);
	len = ask_host(3, WEFT_ATS_PAGE_R | WEFT_ATS_PAGE_LAST);
	assert_int_not_equal(len, 0);
	expect_answer(len, 3, WEFT_ATS_PAGE_SUCCESS);
	assert_int_equal(pages.refused, 2);
	assert_int_equal(pages.n, ROOM);
}

WEFT_TEST(no_more_than_allowed_is_outstanding)
{
	for (unsigned int i = 0; i < 8; i++)
		assert_true(ask(1, WEFT_ATS_PAGE_R) > 0);
	assert_int_equal(ask(1, WEFT_ATS_PAGE_R), -EAGAIN);
	weft_ats_pri_reg_set(&pri, WEFT_ATS_PRI_REG_CTL, WEFT_ATS_PRI_RESET);
	assert_int_equal(ask(1, WEFT_ATS_PAGE_R), -EACCES);
	weft_ats_pri_reg_set(&pri, WEFT_ATS_PRI_REG_CTL, WEFT_ATS_PRI_E);
	assert_true(ask(1, WEFT_ATS_PAGE_R) > 0);
	assert_int_equal(ask(1, WEFT_ATS_PAGE_LAST), -EINVAL);
	assert_int_equal(ask(512, WEFT_ATS_PAGE_R), -EINVAL);
}

WEFT_TEST(failure_and_unknown_codes_disable)
{
	const struct weft_ats_page page = { 0, 5, DEVICE, 9, 0 };

	for (uint8_t code = 2; code < 16; code++) {
		start(state);
		assert_true(ask(9, WEFT_ATS_PAGE_R | WEFT_ATS_PAGE_LAST) > 0);
		expect_answer(weft_ats_pages_answer(&pages, &page, code, reply), 9,
			WEFT_ATS_PAGE_FAILURE);
		assert_int_equal(ask(9, WEFT_ATS_PAGE_R), -EACCES);
		assert_true(
			(weft_ats_pri_reg(&pri, WEFT_ATS_PRI_REG_CTL) & WEFT_ATS_PRI_FAILURE) != 0);
	}
}

WEFT_TEST(stop_marker_arrives_as_one)
{
	const int len = weft_ats_pri_stop(&pri, 5, buf);
	struct weft_ats_page page;
	size_t out;

	assert_int_equal(len, 20);
	assert_int_equal(weft_ats_pages_receive(&pages, buf, (size_t)len, reply, &out), WEFT_OK);
	assert_true(weft_ats_pages_next(&pages, &page) && weft_ats_page_is_stop(&page));
	assert_int_equal(weft_ats_pri_stop(&pri, -1, buf), -EINVAL);
	assert_int_equal(weft_ats_pri_stop(&pri, 1 << 20, buf), -EINVAL);
}
