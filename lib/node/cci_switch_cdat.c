/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * A switch's CDAT (fabric.md 4.6, 0702h; 5.1): latency and bandwidth from one port to another, once
 * with any egress port, or with that which the routing tables have for a PID. What was not measured
 * is left out.
 */

#include "cci_switch_priv.h"

#include "weft_cci_cdat.h"

#define CDAT_WAY_LEN (WEFT_CCI_SSLBIS_LEN + WEFT_CCI_SSLBIS_PORT_LEN)
#define CDAT_SIZE_MAX (WEFT_CCI_CDAT_HEADER_LEN + 2 * CDAT_WAY_LEN)

/* From any port to @p port. */
static uint8_t *
switch_cdat_way(uint8_t *at, uint8_t kind, uint64_t value, uint16_t port)
{
	const struct weft_cci_sslbis s = {
		.type = WEFT_CCI_SSLBIS, .length = CDAT_WAY_LEN, .kind = kind, .unit = value
	};
	const struct weft_cci_sslbis_port way = { .x = WEFT_CCI_CDAT_ANY, .y = port, .value = 1 };

	if (value == 0)
		return at;
	weft_cci_put_sslbis(at, 0, &s);
	weft_cci_put_sslbis_port(at + WEFT_CCI_SSLBIS_LEN, 0, &way);
	return at + CDAT_WAY_LEN;
}

/* @return its length */
static size_t
switch_cdat(const struct weft_cci_switch *s, uint16_t port, uint8_t cdat[CDAT_SIZE_MAX])
{
	uint8_t *at = cdat + WEFT_CCI_CDAT_HEADER_LEN;

	at = switch_cdat_way(at, WEFT_CCI_HMAT_LATENCY, s->latency_ns * 1000, port);
	at = switch_cdat_way(at, WEFT_CCI_HMAT_BANDWIDTH, s->bandwidth_mbps, port);
	weft_cci_cdat_finish(cdat, (uint32_t)(at - cdat), 0);
	return (size_t)(at - cdat);
}

uint16_t
cci_switch_read_cdat(void *arg, const struct weft_cci_caller *who, const uint8_t *req, size_t len,
	uint8_t *rsp, size_t *rsp_len)
{
	const struct weft_cci_switch *s = arg;
	uint8_t cdat[CDAT_SIZE_MAX];
	struct weft_cci_read_cdat_req in;
	const uint16_t rc = cci_switch_rc(weft_cci_get_read_cdat_req(&in, req, len));
	int port = WEFT_CCI_CDAT_ANY;

	(void)who;
	if (rc != WEFT_CCI_SUCCESS)
		return rc;
	in.pid &= WEFT_CCI_NO_PID;
	if (in.pid != WEFT_CCI_NO_PID)
		port = weft_tables_route(s->world->now(s->world_arg), 0)->first[in.pid];
	if (port < 0)
		return WEFT_CCI_INVALID_INPUT;
	return cci_row_send_cdat(&in, cdat, switch_cdat(s, (uint16_t)port, cdat), rsp, rsp_len);
}
