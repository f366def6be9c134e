/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Fabric Crawl Out (fabric.md 4.6, 5701h; 6.3): a manager's message goes on by a port of this
 * switch, to a neighbour that may have neither PID nor tables, or by the DRT to a component that
 * has both; what it answers comes back inside of ours.
 */

#include "cci_switch_priv.h"

#include <errno.h>

#define CRAWL_TO_PORT 0
#define CRAWL_TO_PID 1
#define CRAWL_LAYERS 2 /* messages in messages that are taken, this one among them */

/* A whole request, and how many more are inside of it. */
static uint16_t
crawl_check_message(const uint8_t *msg, size_t len)
{
	struct weft_cci_crawl_out_req in = { .msg = msg, .size = (uint16_t)len };

	for (unsigned int layer = 1;; layer++) {
		struct weft_cci_hdr h;

		if (weft_cci_get_hdr(&h, in.msg, in.size) != 0 || h.is_response ||
			h.len != (uint32_t)in.size - WEFT_CCI_HDR)
			return layer == 1 ? WEFT_CCI_INVALID_INPUT : WEFT_CCI_SUCCESS;
		if (h.opcode != WEFT_CCI_CRAWL_OUT)
			return WEFT_CCI_SUCCESS;
		if (layer == CRAWL_LAYERS)
			return WEFT_CCI_UNSUPPORTED;
		if (weft_cci_get_crawl_out_req(&in, in.msg + WEFT_CCI_HDR, h.len) != 0)
			return WEFT_CCI_SUCCESS; /* whose it is says what is wrong with it */
	}
}

/* The port that a message leaves by, and the DPID that it has there. */
static uint16_t
crawl_find_way(const struct weft_cci_switch *s, const struct weft_cci_crawl_out_req *in,
	struct weft_cci_crawl *to)
{
	struct weft_cci_switch_port p = { 0 };
	int port = in->target & 0xFF;

	to->dpid = WEFT_CCI_NO_PID;
	if ((in->ttype & 0xF) == CRAWL_TO_PID) {
		to->dpid = in->target & WEFT_CCI_NO_PID;
		if (to->dpid == WEFT_CCI_NO_PID)
			return WEFT_CCI_INVALID_INPUT;
		port = weft_tables_route(s->world->now(s->world_arg), 0)->first[to->dpid];
	} else if ((in->ttype & 0xF) != CRAWL_TO_PORT) {
		return WEFT_CCI_INVALID_INPUT;
	}
	if (port < 0 || port >= s->n_ports)
		return WEFT_CCI_INVALID_INPUT;
	s->world->port(s->world_arg, (unsigned int)port, &p);
	/* Beyond a port of another form nobody takes such messages. */
	if (p.state == WEFT_CCI_PORT_DISABLED || p.state == WEFT_CCI_PORT_USP || !p.is_pbr)
		return WEFT_CCI_INVALID_INPUT;
	to->port = (uint8_t)port;
	return WEFT_CCI_SUCCESS;
}

static uint16_t
crawl_out(void *arg, const struct weft_cci_caller *who, const uint8_t *req, size_t len,
	uint8_t *rsp, size_t *rsp_len)
{
	const struct weft_cci_switch *s = arg;
	struct weft_cci_crawl to = { .spid = who->pid };
	struct weft_cci_crawl_out_rsp out = { .msg = rsp + WEFT_CCI_CRAWL_OUT_RSP_LIST };
	struct weft_cci_crawl_out_req in;
	size_t n = *rsp_len - WEFT_CCI_CRAWL_OUT_RSP_LIST;
	uint16_t rc = cci_switch_rc(weft_cci_get_crawl_out_req(&in, req, len));

	if (rc == WEFT_CCI_SUCCESS)
		rc = crawl_check_message(in.msg, in.size);
	if (rc == WEFT_CCI_SUCCESS)
		rc = crawl_find_way(s, &in, &to);
	if (rc != WEFT_CCI_SUCCESS)
		return rc;
	rc = s->world->exchange(
		s->world_arg, &to, in.msg, in.size, rsp + WEFT_CCI_CRAWL_OUT_RSP_LIST, &n);
	if (rc != WEFT_CCI_SUCCESS)
		return rc;
	if (n < WEFT_CCI_HDR || n > *rsp_len - WEFT_CCI_CRAWL_OUT_RSP_LIST)
		return WEFT_CCI_INTERNAL_ERROR;
	out.len = (uint16_t)n;
	return cci_row_sent(weft_cci_put_crawl_out_rsp(rsp, *rsp_len, &out), rsp_len);
}

const struct weft_cci_command weft_cci_switch_crawl_out = { WEFT_CCI_CRAWL_OUT,
	WEFT_CCI_EFFECT_CONFIG, WEFT_CCI_WHO_FM, true, crawl_out };
