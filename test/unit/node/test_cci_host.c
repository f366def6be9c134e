/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* A host says again what it took, and what it could not take changes nothing. */

#include <errno.h>

#include "weft_cci_host.h"
#include "weft_test.h"

#define OWNER 0x001

static struct {
	int rc;
	unsigned int calls, n;
	bool is_announced;
	struct weft_cci_host_extent last;
} taken;

static int
take(void *world, const struct weft_cci_host_extent *e, unsigned int n, bool is_announced)
{
	(void)world;
	taken.calls++;
	taken.n = n;
	taken.is_announced = is_announced;
	if (n != 0)
		taken.last = e[n - 1];
	return taken.rc;
}

static const struct weft_cci_host_world world = { .take = take };
static struct weft_cci_host host;
static struct weft_cci_component component;
static uint8_t answer[WEFT_CCI_MESSAGE_MAX];

static uint16_t
ask(uint16_t opcode, const uint8_t *payload, size_t len)
{
	const struct weft_cci_caller who = { WEFT_CCI_FM, OWNER };
	const struct weft_cci_hdr h = { .opcode = opcode, .len = (uint32_t)len };
	uint8_t msg[WEFT_CCI_MESSAGE_MAX];

	weft_cci_put_hdr(msg, &h);
	if (len != 0)
		memcpy(msg + WEFT_CCI_HDR, payload, len);
	assert_in_range(weft_cci_component_run(&component, &who, msg, WEFT_CCI_HDR + len, answer,
				sizeof(answer), 0),
		WEFT_CCI_HDR, sizeof(answer));
	return weft_get_le16(answer + 8);
}

static uint16_t
tell(unsigned int n, bool is_announced)
{
	uint8_t payload[WEFT_CCI_MAX_PAYLOAD], list[WEFT_CCI_MAX_PAYLOAD];
	const struct weft_cci_set_host_memory_req req = {
		.flags = is_announced, .n = (uint16_t)n, .extent = list
	};

	for (unsigned int i = 0; i < n && i < WEFT_CCI_HOST_EXTENTS; i++) {
		const struct weft_cci_host_extent e = {
			.pid = 0x200, .grp = (uint8_t)i, .dpa = 4096 * i, .len = 4096
		};

		weft_cci_put_host_extent(list, i, &e);
	}
	return ask(WEFT_CCI_SET_HOST_MEMORY, payload,
		(size_t)weft_cci_put_set_host_memory_req(payload, sizeof(payload), &req));
}

/* Flags and number of what it says that it has. */
static void
check_has(uint8_t flags, unsigned int n)
{
	struct weft_cci_get_host_memory_rsp rsp;

	assert_int_equal(ask(WEFT_CCI_GET_HOST_MEMORY, NULL, 0), WEFT_CCI_SUCCESS);
	assert_int_equal(weft_cci_get_get_host_memory_rsp(
				 &rsp, answer + WEFT_CCI_HDR, weft_get_le32(answer + 5) & 0x1FFFFF),
		0);
	assert_int_equal(rsp.flags, flags);
	assert_int_equal(rsp.n, n);
}

static void
begin(void)
{
	const struct weft_cci_component_cfg cfg = { .type = WEFT_CCI_TYPE_HOST,
		.pid = 0x101,
		.command = weft_cci_host_commands,
		.n_commands = weft_cci_host_n_commands,
		.arg = &host };
	uint8_t claim[21] = { 0, OWNER };

	memset(&taken, 0, sizeof(taken));
	weft_put_le16(claim + 19, 0x101);
	weft_cci_host_init(&host, &world, NULL);
	assert_int_equal(weft_cci_component_init(&component, &cfg), 0);
	assert_int_equal(ask(WEFT_CCI_CLAIM_OWNERSHIP, claim, sizeof(claim)), WEFT_CCI_SUCCESS);
}

WEFT_TEST(host_has_what_it_was_told_last)
{
	begin();
	check_has(0, 0);
	assert_int_equal(tell(3, true), WEFT_CCI_SUCCESS);
	assert_true(taken.is_announced);
	check_has(0, 0);
	assert_int_equal(tell(WEFT_CCI_HOST_EXTENTS, false), WEFT_CCI_SUCCESS);
	assert_int_equal(taken.n, WEFT_CCI_HOST_EXTENTS);
	assert_int_equal(taken.last.grp, WEFT_CCI_HOST_EXTENTS - 1);
	check_has(1, WEFT_CCI_HOST_EXTENTS);
	assert_int_equal(tell(0, false), WEFT_CCI_SUCCESS);
	check_has(1, 0);
}

WEFT_TEST(what_a_host_could_not_take_changes_nothing)
{
	begin();
	assert_int_equal(tell(2, false), WEFT_CCI_SUCCESS);
	taken.rc = -EINVAL;
	assert_int_equal(tell(1, false), WEFT_CCI_INVALID_INPUT);
	taken.rc = -EAGAIN;
	assert_int_equal(tell(1, false), WEFT_CCI_RETRY_REQUIRED);
	assert_int_equal(ask(WEFT_CCI_SET_HOST_MEMORY, answer, 1), WEFT_CCI_INVALID_PAYLOAD_LENGTH);
	assert_int_equal(ask(WEFT_CCI_GET_HOST_MEMORY, answer, 1), WEFT_CCI_INVALID_PAYLOAD_LENGTH);
	assert_int_equal(taken.calls, 3);
	check_has(1, 2);
}

/* Of all commands those two, and what a manager asks before it sends them. */
WEFT_TEST(few_commands_come_by_a_link)
{
	unsigned int n = 0;

	for (unsigned int opcode = 0; opcode <= UINT16_MAX; opcode++)
		n += weft_cci_host_takes_by_link((uint16_t)opcode);
	assert_int_equal(n, 7 + 2); /* aliases of 0700h and 0701h */
	assert_true(weft_cci_host_takes_by_link(0x0001));
	assert_true(weft_cci_host_takes_by_link(0x0002));
	assert_true(weft_cci_host_takes_by_link(0x0004));
	assert_true(weft_cci_host_takes_by_link(0x0700));
	assert_true(weft_cci_host_takes_by_link(0x0701));
	assert_true(weft_cci_host_takes_by_link(0xC100));
	assert_true(weft_cci_host_takes_by_link(0xC101));
}

/* As 0002h says: running, and how the last one ended. */
static void
check_background(bool is_running, uint16_t rc)
{
	struct weft_cci_background_status_rsp rsp;

	assert_int_equal(ask(WEFT_CCI_BACKGROUND_STATUS, NULL, 0), WEFT_CCI_SUCCESS);
	assert_int_equal(weft_cci_get_background_status_rsp(&rsp, answer + WEFT_CCI_HDR, 8), 0);
	assert_int_equal(rsp.st & 1, is_running);
	assert_int_equal(rsp.op, WEFT_CCI_SET_HOST_MEMORY);
	assert_int_equal(rsp.rc, rc);
}

WEFT_TEST(a_host_that_is_slow_has_the_old_memory_until_it_is_done)
{
	begin();
	assert_int_equal(tell(2, false), WEFT_CCI_SUCCESS);
	taken.rc = -EINPROGRESS;
	assert_int_equal(tell(1, false), WEFT_CCI_BACKGROUND_STARTED);
	check_background(true, 0);
	check_has(1, 2);
	assert_int_equal(tell(0, false), WEFT_CCI_BUSY);
	weft_cci_component_done(&component, weft_cci_host_taken(&host, 0));
	check_background(false, WEFT_CCI_SUCCESS);
	check_has(1, 1);
	assert_int_equal(tell(3, true), WEFT_CCI_BACKGROUND_STARTED);
	weft_cci_component_done(&component, weft_cci_host_taken(&host, 0));
	check_has(1, 1);
	assert_int_equal(tell(3, false), WEFT_CCI_BACKGROUND_STARTED);
	weft_cci_component_done(&component, weft_cci_host_taken(&host, -ESHUTDOWN));
	check_background(false, WEFT_CCI_RETRY_REQUIRED);
	check_has(1, 1);
}
