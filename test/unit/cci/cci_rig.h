/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * A component at the end of a line: requests by opcode and payload, and the return code. Its rows
 * are the test's, beside those that every component has.
 */
#ifndef CCI_RIG_H
#define CCI_RIG_H

#include "weft_test.h"

#include "weft_cci_component.h"

#define RIG_FM 0xF00
#define RIG_PID 0x123

static struct weft_cci_component rig;
static uint8_t rig_rsp[WEFT_CCI_MESSAGE_MAX];
static size_t rig_rsp_len; /* of the payload */
static struct weft_cci_hdr rig_hdr; /* of the last response */
static uint64_t rig_now_ns;

/** Send a whole request as @p who. @return its return code; the response is in rig_rsp. */
static uint16_t
rig_send(struct weft_cci_caller who, uint16_t opcode, const void *payload, size_t len)
{
	const struct weft_cci_hdr h = { .tag = 0x5A, .opcode = opcode, .len = (uint32_t)len };
	uint8_t *msg = malloc(WEFT_CCI_HDR + len); /* of its size: what reads behind it is found */
	size_t n;

	assert_non_null(msg);
	weft_cci_put_hdr(msg, &h);
	if (len != 0)
		memcpy(msg + WEFT_CCI_HDR, payload, len);
	n = weft_cci_component_run(
		&rig, &who, msg, WEFT_CCI_HDR + len, rig_rsp, sizeof(rig_rsp), rig_now_ns);
	free(msg);
	assert_in_range(n, WEFT_CCI_HDR, WEFT_CCI_MESSAGE_MAX);
	assert_int_equal(weft_cci_get_hdr(&rig_hdr, rig_rsp, n), 0);
	assert_true(rig_hdr.is_response);
	assert_int_equal(rig_hdr.tag, 0x5A);
	assert_int_equal(rig_hdr.opcode, opcode);
	assert_int_equal(rig_hdr.len, n - WEFT_CCI_HDR);
	rig_rsp_len = n - WEFT_CCI_HDR;
	if (rig_hdr.rc != WEFT_CCI_SUCCESS)
		assert_int_equal(rig_rsp_len, 0);
	return rig_hdr.rc;
}

static inline struct weft_cci_caller
rig_fm(uint16_t pid)
{
	return (struct weft_cci_caller){ WEFT_CCI_FM, pid };
}

static inline struct weft_cci_caller
rig_host(uint16_t pid)
{
	return (struct weft_cci_caller){ WEFT_CCI_HOST, pid };
}

/** Send as the primary manager. */
static inline uint16_t
rig_ask(uint16_t opcode, const void *payload, size_t len)
{
	return rig_send(rig_fm(RIG_FM), opcode, payload, len);
}

/** Claim Ownership: operation @p op for @p fm_pid, whose UUID is 16 times @p uuid. */
static inline uint16_t
rig_claim(struct weft_cci_caller who, uint8_t op, uint16_t fm_pid, uint8_t uuid, uint16_t new_pid)
{
	uint8_t req[21] = { op };

	weft_put_le16(req + 1, fm_pid);
	memset(req + 3, uuid, WEFT_CCI_UUID);
	weft_put_le16(req + 19, new_pid);
	return rig_send(who, WEFT_CCI_CLAIM_OWNERSHIP, req, sizeof(req));
}

#endif /* CCI_RIG_H */
