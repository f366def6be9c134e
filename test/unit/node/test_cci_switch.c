/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * A switch's responder over tables of its own: what it says of ports, PIDs and tables, what Set DRT
 * and Set RGT put in force, and that no request of wrong length, index or reserved bits changes
 * anything or is answered by a code that the text does not list.
 */

#include "../cci/cci_rig.h"
#include "switch_rig.h"
#include "weft_cci_cdat.h"

#define PORTS 4

static struct switch_rig sw;

static int
owned_switch(void **state)
{
	struct weft_cci_component_cfg cfg;

	(void)state;
	assert_true(switch_rig_init(&sw, PORTS));
	cfg = switch_rig_cfg(&sw);
	assert_int_equal(weft_cci_component_init(&rig, &cfg), 0);
	assert_int_equal(rig_claim(rig_fm(RIG_FM), 0, RIG_FM, 1, RIG_PID), WEFT_CCI_SUCCESS);
	return 0;
}

static int
gone(void **state)
{
	(void)state;
	switch_rig_fini(&sw);
	return 0;
}

WEFT_TEST_EACH(owned_switch, gone)

static const uint8_t *const payload = rig_rsp + WEFT_CCI_HDR;

/* Get DRT or RGT: {table, r, n, start}. */
static uint16_t
get_table(uint16_t opcode, uint8_t table, uint16_t n, uint16_t start)
{
	uint8_t req[6] = { table };

	weft_put_le16(req + 2, n);
	weft_put_le16(req + 4, start);
	return rig_ask(opcode, req, sizeof(req));
}

/* Set DRT or RGT of @p n rows of @p each bytes. */
static uint16_t
set_table(uint16_t opcode, uint8_t table, uint16_t n, uint16_t start, const void *row, size_t each)
{
	uint8_t req[WEFT_CCI_MAX_PAYLOAD] = { table };

	weft_put_le16(req + 2, n);
	weft_put_le16(req + 4, start);
	memcpy(req + 6, row, n * each);
	return rig_ask(opcode, req, 6 + n * each);
}

static int
port_of(unsigned int in_port, uint16_t dpid)
{
	return weft_tables_route_of(sw.live, (uint8_t)in_port)->first[dpid];
}

WEFT_TEST(every_mandatory_row_but_crawl_out_is_there)
{
	for (unsigned int opcode = 0x5100; opcode < 0x5800; opcode++)
		if (weft_cci_access(WEFT_CCI_TYPE_SWITCH, WEFT_CCI_FM, (uint16_t)opcode) ==
			WEFT_CCI_MANDATORY)
			assert_int_equal(rig_ask((uint16_t)opcode, NULL, 0),
				opcode == 0x5701   ? WEFT_CCI_UNSUPPORTED
				: opcode == 0x5100 ? WEFT_CCI_SUCCESS
				: opcode == 0x5700 ? WEFT_CCI_SUCCESS
						   : WEFT_CCI_INVALID_PAYLOAD_LENGTH);
}

WEFT_TEST(switch_and_ports_are_described)
{
	const uint8_t ports[] = { 3, 3, 0, 2 };

	assert_int_equal(rig_ask(0x5100, NULL, 0), WEFT_CCI_SUCCESS);
	assert_int_equal(rig_rsp_len, 73);
	assert_int_equal(payload[2], PORTS);
	assert_int_equal(payload[3], 0);
	assert_int_equal(payload[4], 0xF);
	assert_int_equal(rig_ask(0x5101, ports, 4), WEFT_CCI_SUCCESS);
	assert_int_equal(rig_rsp_len, 4 + 3 * 16);
	assert_int_equal(payload[0], 3);
	assert_int_equal(payload[4], 3);
	assert_int_equal(payload[5], WEFT_CCI_PORT_FABRIC);
	assert_int_equal(payload[6], 5);
	assert_int_equal(payload[8], 6);
	assert_int_equal(payload[20], 0);
	assert_int_equal(payload[21], WEFT_CCI_PORT_USP);
	assert_int_equal(payload[22], 3);
	assert_int_equal(payload[36], 2);
}

WEFT_TEST(link_partners_are_who_the_world_says)
{
	const uint8_t ports[] = { 3, 0, 1, 2 };

	assert_int_equal(rig_ask(0x5702, ports, 4), WEFT_CCI_SUCCESS);
	assert_int_equal(rig_rsp_len, 4 + 3 * 54);
	assert_int_equal(payload[4], 0);
	assert_int_equal(weft_get_le16(payload + 6), WEFT_CCI_NO_PID);
	assert_int_equal(payload[58], 1);
	assert_int_equal(payload[59], 1);
	assert_int_equal(weft_get_le16(payload + 60), 0x1201);
	assert_int_equal(payload[62], 0x11);
	assert_int_equal(weft_get_le16(payload + 114), 0x202);
}

static uint16_t
control_port(uint8_t port, uint8_t op)
{
	const uint8_t req[2] = { port, op };

	return rig_ask(0x5102, req, sizeof(req));
}

WEFT_TEST(ports_are_controlled_by_the_world)
{
	static const uint8_t req[2] = { 2, WEFT_CCI_PORT_RESET };

	for (uint8_t op = WEFT_CCI_PORT_ASSERT; op <= WEFT_CCI_PORT_RESET; op++) {
		assert_int_equal(control_port(2, op), WEFT_CCI_SUCCESS);
		assert_int_equal(sw.controls, op + 1);
		assert_int_equal(sw.port, 2);
		assert_int_equal(sw.op, op);
	}
	assert_int_equal(control_port(PORTS, WEFT_CCI_PORT_RESET), WEFT_CCI_INVALID_INPUT);
	assert_int_equal(control_port(2, WEFT_CCI_PORT_RESET + 1), WEFT_CCI_INVALID_INPUT);
	assert_int_equal(rig_send(rig_host(0x011), 0x5102, req, 2), WEFT_CCI_UNSUPPORTED);
	assert_int_equal(rig_send(rig_fm(RIG_FM + 1), 0x5102, req, 2), WEFT_CCI_UNSUPPORTED);
	assert_int_equal(sw.controls, 3);
	sw.control_rc = WEFT_CCI_RETRY_REQUIRED;
	assert_int_equal(control_port(2, WEFT_CCI_PORT_RESET), WEFT_CCI_RETRY_REQUIRED);
}

WEFT_TEST(ports_are_not_controlled_where_it_cannot_be)
{
	static struct weft_cci_switch_world plain;
	const uint8_t req[2] = { 2, WEFT_CCI_PORT_RESET };

	plain = switch_rig_world;
	plain.control = NULL;
	sw.responder.world = &plain;
	assert_int_equal(control_port(2, WEFT_CCI_PORT_RESET), WEFT_CCI_UNSUPPORTED);
	rig.cfg.read_only = true;
	sw.responder.world = &switch_rig_world;
	assert_int_equal(rig_ask(0x5102, req, 2), WEFT_CCI_UNSUPPORTED);
	assert_int_equal(sw.controls, 0);
}

/* {pid, r, start, n}. */
static uint16_t
read_cdat(struct weft_cci_caller who, uint16_t pid, uint64_t start, uint64_t n)
{
	uint8_t req[20] = { 0 };

	weft_put_le16(req, pid);
	weft_put_le64(req + 4, start);
	weft_put_le64(req + 12, n);
	return rig_send(who, 0x0702, req, sizeof(req));
}

WEFT_TEST(cdat_says_what_was_measured)
{
	static const uint8_t row[2] = { WEFT_DRT_PORT, 3 };
	const struct weft_cci_caller host = rig_host(0x011);
	const uint8_t *cdat = payload + 16, *at;
	struct weft_cci_sslbis_port way;
	struct weft_cci_sslbis s;

	assert_int_equal(read_cdat(host, WEFT_CCI_NO_PID, 0, 1024), WEFT_CCI_SUCCESS);
	assert_int_equal(weft_get_le64(payload), WEFT_CCI_CDAT_HEADER_LEN);
	assert_int_equal(weft_cci_cdat_check(cdat, WEFT_CCI_CDAT_HEADER_LEN), 0);
	sw.responder.latency_ns = 250;
	sw.responder.bandwidth_mbps = 30000;
	assert_int_equal(set_table(0x5709, 0, 1, 0x200, row, 2), WEFT_CCI_SUCCESS);
	assert_int_equal(read_cdat(host, 0x200, 0, 1024), WEFT_CCI_SUCCESS);
	assert_int_equal(weft_get_le64(payload + 8), weft_get_le64(payload));
	assert_int_equal(weft_cci_cdat_check(cdat, weft_get_le64(payload)), 0);
	at = weft_cci_cdat_next(cdat, weft_get_le64(payload), NULL);
	assert_non_null(at);
	weft_cci_get_sslbis(at, 0, &s);
	weft_cci_get_sslbis_port(at + WEFT_CCI_SSLBIS_LEN, 0, &way);
	assert_int_equal(s.kind, WEFT_CCI_HMAT_LATENCY);
	assert_int_equal(s.unit * way.value, 250000);
	assert_int_equal(way.x, WEFT_CCI_CDAT_ANY);
	assert_int_equal(way.y, 3);
	at = weft_cci_cdat_next(cdat, weft_get_le64(payload), at);
	assert_non_null(at);
	weft_cci_get_sslbis(at, 0, &s);
	assert_int_equal(s.kind, WEFT_CCI_HMAT_BANDWIDTH);
	assert_int_equal(s.unit, 30000);
	assert_int_equal(read_cdat(rig_fm(RIG_FM), WEFT_CCI_NO_PID, 60, 9), WEFT_CCI_SUCCESS);
	assert_int_equal(weft_get_le64(payload + 8), 4); /* to the end of it */
	assert_int_equal(read_cdat(host, 0x201, 0, 1024), WEFT_CCI_INVALID_INPUT);
	assert_int_equal(read_cdat(host, 0x200, 65, 1), WEFT_CCI_INVALID_INPUT);
}

/* {pid, target, instance} as 5704h takes it. */
static uint16_t
assign(uint8_t op, unsigned int n, const uint16_t (*row)[3])
{
	uint8_t req[4 + 5 * 8] = { op };

	weft_put_le16(req + 2, (uint16_t)n);
	for (unsigned int i = 0; i < n; i++) {
		weft_put_le16(req + 4 + (size_t)5 * i, row[i][0]);
		weft_put_le16(req + 6 + (size_t)5 * i, row[i][1]);
		req[8 + 5 * i] = (uint8_t)row[i][2];
	}
	return rig_ask(0x5704, req, 4 + (size_t)5 * n);
}

static uint16_t
pid_of(uint16_t target)
{
	uint8_t req[4] = { 0 };

	weft_put_le16(req, target);
	req[2] = 1;
	assert_int_equal(rig_ask(0x5703, req, 4), WEFT_CCI_SUCCESS);
	assert_int_equal(rig_rsp_len, 12);
	assert_int_equal(weft_get_le16(payload), PORTS);
	assert_int_equal(weft_get_le16(payload + 4), target);
	return weft_get_le16(payload + 10);
}

WEFT_TEST(targets_get_pids_all_or_none)
{
	static const uint16_t good[][3] = { { 0x011, 0, 0 }, { 0x021, 2, 0 } };
	static const uint16_t bad[][2][3] = { { { 0x012, 1, 0 }, { 0x012, 3, 0 } },
		{ { 0x012, 1, 0 }, { 0x013, 4, 0 } }, { { 0x012, 1, 0 }, { 0x013, 3, 1 } },
		{ { 0x012, 1, 0 }, { 0xFFF, 3, 0 } }, { { 0x012, 1, 0 }, { 0x011, 3, 0 } } };
	const uint8_t whole[4] = { 1, 0, 0xFF, 0xFF }, past[4] = { 4, 0, 1, 0 };

	assert_int_equal(pid_of(0), WEFT_CCI_NO_PID);
	assert_int_equal(assign(0, 2, good), WEFT_CCI_SUCCESS);
	assert_int_equal(pid_of(0), 0x011);
	assert_int_equal(pid_of(2), 0x021);
	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(bad); i++) {
		assert_int_equal(assign(0, 2, bad[i]), WEFT_CCI_INVALID_INPUT);
		assert_int_equal(pid_of(1), WEFT_CCI_NO_PID);
		assert_int_equal(pid_of(3), WEFT_CCI_NO_PID);
	}
	assert_int_equal(rig_ask(0x5703, whole, 4), WEFT_CCI_SUCCESS);
	assert_int_equal(weft_get_le16(payload + 2), 3);
	assert_int_equal(payload[6], 2); /* the GFD's port */
	assert_int_equal(payload[14], 0); /* a fabric port */
	assert_int_equal(rig_ask(0x5703, past, 4), WEFT_CCI_INVALID_INPUT);
	assert_int_equal(assign(2, 1, good), WEFT_CCI_INVALID_INPUT);
	assert_int_equal(assign(1, 2, bad[4]), WEFT_CCI_INVALID_INPUT);
	assert_int_equal(assign(1, 2, good), WEFT_CCI_SUCCESS);
	assert_int_equal(pid_of(0), WEFT_CCI_NO_PID);
	assert_int_equal(pid_of(2), WEFT_CCI_NO_PID);
}

WEFT_TEST(tables_are_described_until_there_are_no_more)
{
	const uint8_t all[4] = { 0, 0, 0xFF, 0xFF }, last[4] = { 4, 0, 9, 0 },
		      past[4] = { 5, 0, 1, 0 };

	assert_int_equal(rig_ask(0x5700, NULL, 0), WEFT_CCI_SUCCESS);
	assert_int_equal(payload[8], SWITCH_RIG_DRTS);
	assert_int_equal(payload[9], SWITCH_RIG_DRTS);
	assert_int_equal(payload[11], 3);
	assert_int_equal(rig_ask(0x5707, all, 4), WEFT_CCI_SUCCESS);
	assert_int_equal(weft_get_le16(payload + 2), 4);
	assert_int_equal(payload[4], 0);
	assert_int_equal(payload[7], 3); /* ports 0 and 1 */
	assert_int_equal(payload[4 + 39 + 3], 0xC);
	assert_int_equal(payload[4 + 3 * 39], 1);
	assert_int_equal(weft_get_le16(payload + 4 + 3 * 39 + 1), 1);
	assert_int_equal(rig_ask(0x5707, last, 4), WEFT_CCI_SUCCESS);
	assert_int_equal(weft_get_le16(payload + 2), 0);
	assert_int_equal(rig_ask(0x5707, past, 4), WEFT_CCI_INVALID_INPUT);
}

WEFT_TEST(drt_that_is_written_routes_and_reads_back)
{
	uint8_t row[509][2];

	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(row); i++) {
		row[i][0] = i % 7 == 0 ? WEFT_DRT_INVALID : WEFT_DRT_PORT;
		row[i][1] = i % 7 == 0 ? 0 : (uint8_t)(i % PORTS);
	}
	assert_int_equal(set_table(0x5709, 1, 509, 100, row, 2), WEFT_CCI_SUCCESS);
	assert_int_equal(sw.commits, 1);
	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(row); i++) {
		assert_int_equal(
			port_of(2, (uint16_t)(100 + i)), i % 7 == 0 ? -1 : (int)(i % PORTS));
		assert_int_equal(port_of(0, (uint16_t)(100 + i)), -1);
	}
	assert_int_equal(get_table(0x5708, 1, 508, 100), WEFT_CCI_SUCCESS);
	assert_int_equal(rig_rsp_len, 8 + 508 * 2);
	assert_int_equal(payload[6], 1); /* its RGT */
	assert_memory_equal(payload + 8, row, 508 * 2);
	assert_int_equal(get_table(0x5708, 1, 509, 100), WEFT_CCI_INVALID_INPUT);
	assert_int_equal(get_table(0x5708, 1, 1, 4095), WEFT_CCI_SUCCESS);
	assert_int_equal(get_table(0x5708, 1, 1, 4096), WEFT_CCI_INVALID_INPUT);
	assert_int_equal(get_table(0x5708, 1, 2, 4095), WEFT_CCI_INVALID_INPUT);
	assert_int_equal(get_table(0x5708, 2, 1, 0), WEFT_CCI_INVALID_INPUT);
}

WEFT_TEST(drt_rows_that_lead_nowhere_are_refused_as_a_whole)
{
	static const uint8_t bad[][2] = { { 1, PORTS }, { 1, 255 }, { 2, SWITCH_RIG_RGT_ROWS },
		{ 3, 0 } };
	static const uint8_t one[2] = { 0xFD, 2 }; /* bits above the type are reserved */

	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(bad); i++) {
		const uint8_t row[2][2] = { { 1, 1 }, { bad[i][0], bad[i][1] } };

		assert_int_equal(set_table(0x5709, 0, 2, 7, row, 2), WEFT_CCI_INVALID_INPUT);
	}
	assert_int_equal(set_table(0x5709, 0, 1, 0xFFF, one, 2), WEFT_CCI_INVALID_INPUT);
	assert_int_equal(set_table(0x5709, 0, 1, 0xFFFF, one, 2), WEFT_CCI_INVALID_INPUT);
	assert_int_equal(set_table(0x5709, 2, 1, 7, one, 2), WEFT_CCI_INVALID_INPUT);
	assert_int_equal(sw.commits, 0);
	assert_int_equal(set_table(0x5709, 0, 1, 7, one, 2), WEFT_CCI_SUCCESS);
	assert_int_equal(port_of(0, 7), 2);
	assert_int_equal(get_table(0x5708, 0, 1, 7), WEFT_CCI_SUCCESS);
	assert_int_equal(payload[8], 1);
}

WEFT_TEST(rgt_row_is_a_group_of_ports)
{
	static const uint8_t row[12] = { 2, 3, 1, 0, 0, 0, 0, 0, 2 | 2 << 3, 0, 0, 0 };
	static const uint8_t drt[2] = { WEFT_DRT_RGT, 5 };
	uint8_t bad[12];

	assert_int_equal(set_table(0x570B, 0, 1, 5, row, 12), WEFT_CCI_SUCCESS);
	assert_int_equal(set_table(0x5709, 0, 1, 0x20, drt, 2), WEFT_CCI_SUCCESS);
	assert_int_equal(port_of(1, 0x20), 2); /* the first, for what stays on one path */
	assert_int_equal(get_table(0x570A, 0, 1, 5), WEFT_CCI_SUCCESS);
	assert_memory_equal(payload + 6, row, 12);
	memcpy(bad, row, 12);
	bad[9] = 2;
	assert_int_equal(set_table(0x570B, 0, 1, 5, bad, 12), WEFT_CCI_UNSUPPORTED);
	bad[9] = 3;
	assert_int_equal(set_table(0x570B, 0, 1, 5, bad, 12), WEFT_CCI_INVALID_INPUT);
	memcpy(bad, row, 12);
	bad[2] = PORTS;
	assert_int_equal(set_table(0x570B, 0, 1, 5, bad, 12), WEFT_CCI_INVALID_INPUT);
	bad[2] = 1;
	bad[3] = PORTS; /* behind the last valid one */
	assert_int_equal(set_table(0x570B, 0, 1, 5, bad, 12), WEFT_CCI_SUCCESS);
	assert_int_equal(set_table(0x570B, 2, 1, 5, row, 12), WEFT_CCI_INVALID_INPUT);
	assert_int_equal(set_table(0x570B, 0, 1, 16, row, 12), WEFT_CCI_INVALID_INPUT);
	assert_int_equal(get_table(0x570A, 0, 2, 15), WEFT_CCI_INVALID_INPUT);
	assert_int_equal(get_table(0x570A, 0, 16, 0), WEFT_CCI_SUCCESS);
}

/* A good request of each row, and its indices: where they are, how many bytes, the first too high.
 */
static const struct {
	uint16_t opcode;
	uint8_t req[32];
	uint8_t len;
	bool is_list; /* its length is by a count */
	struct {
		uint8_t at, len;
		uint16_t end;
	} index[3];
	uint8_t ignored[2]; /* bytes that are reserved; 0: none */
} good[] = {
	{ 0x5100, { 0 }, 0, false, { { 0 } }, { 0 } },
	{ 0x5101, { 1, 3 }, 2, true, { { 1, 1, PORTS } }, { 0 } },
	{ 0x5102, { 3, 2 }, 2, false, { { 0, 1, PORTS }, { 1, 1, 3 } }, { 0 } },
	{ 0x0702, { 0xFF, 0xF, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0, 1 }, 20, false, { { 4, 1, 17 } },
		{ 2, 3 } },
	{ 0x5700, { 0 }, 0, false, { { 0 } }, { 0 } },
	{ 0x5702, { 1, 3 }, 2, true, { { 1, 1, PORTS } }, { 0 } },
	{ 0x5703, { 1, 0, 2, 0 }, 4, false, { { 0, 2, PORTS } }, { 0 } },
	{ 0x5704, { 0, 0, 1, 0, 0x11, 0, 3, 0, 0 }, 9, true, { { 6, 2, PORTS }, { 8, 1, 1 } },
		{ 1, 0 } },
	{ 0x5707, { 0, 0, 1, 0 }, 4, false, { { 0, 2, 5 } }, { 0 } },
	{ 0x5708, { 1, 0, 2, 0, 9, 0 }, 6, false, { { 0, 1, 2 }, { 4, 2, 4095 } }, { 1, 0 } },
	{ 0x5709, { 1, 0, 1, 0, 9, 0, 1, 3 }, 8, true,
		{ { 0, 1, 2 }, { 4, 2, 4095 }, { 7, 1, PORTS } }, { 1, 0 } },
	{ 0x570A, { 1, 0, 2, 0, 9, 0 }, 6, false, { { 0, 1, 2 }, { 4, 2, 15 } }, { 1, 0 } },
	{ 0x570B, { 1, 0, 1, 0, 9, 0, 3, 2, 0, 0, 0, 0, 0, 0, 1 | 1 << 3, 1, 0, 0 }, 18, true,
		{ { 0, 1, 2 }, { 4, 2, 16 }, { 7, 1, PORTS } }, { 1, 16 } },
};

/* What a switch is: all that a request could change. */
static struct {
	struct weft_cci_component component;
	struct weft_cci_switch responder;
	struct weft_tables *tables;
} before;

static void
remember(void)
{
	before.component = rig;
	before.responder = sw.responder;
	before.tables = malloc(sw.live->size);
	assert_non_null(before.tables);
	memcpy(before.tables, sw.live, sw.live->size);
}

static void
check_unchanged(void)
{
	assert_memory_equal(&rig, &before.component, sizeof(rig));
	assert_memory_equal(&sw.responder, &before.responder, sizeof(sw.responder));
	assert_memory_equal(sw.live, before.tables, sw.live->size);
}

WEFT_TEST(requests_cut_or_longer_change_nothing)
{
	uint8_t req[WEFT_CCI_MAX_PAYLOAD + 1];

	remember();
	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(good); i++)
		for (size_t len = 0; len <= sizeof(req); len++) {
			uint16_t rc;

			if (len == good[i].len)
				continue;
			memset(req, 0, sizeof(req));
			memcpy(req, good[i].req, len < good[i].len ? len : good[i].len);
			rc = rig_ask(good[i].opcode, req, len);
			if (good[i].is_list && len <= WEFT_CCI_MAX_PAYLOAD)
				assert_in_set(rc,
					((const LargestIntegralType[]){ WEFT_CCI_INVALID_INPUT,
						WEFT_CCI_INVALID_PAYLOAD_LENGTH }),
					2);
			else
				assert_int_equal(rc, WEFT_CCI_INVALID_PAYLOAD_LENGTH);
			check_unchanged();
		}
	free(before.tables);
}

WEFT_TEST(indices_out_of_range_change_nothing)
{
	remember();
	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(good); i++)
		for (unsigned int k = 0; k < 3 && good[i].index[k].len != 0; k++) {
			const unsigned int at = good[i].index[k].at;
			const unsigned int top = good[i].index[k].len == 1 ? 0xFF : 0xFFFF;
			uint8_t req[32];

			memcpy(req, good[i].req, sizeof(req));
			for (unsigned int v = good[i].index[k].end; v <= top; v++) {
				req[at] = (uint8_t)v;
				if (top > 0xFF)
					req[at + 1] = (uint8_t)(v >> 8);
				assert_int_equal(rig_ask(good[i].opcode, req, good[i].len),
					WEFT_CCI_INVALID_INPUT);
			}
			check_unchanged();
		}
	free(before.tables);
}

WEFT_TEST(reserved_bytes_are_ignored)
{
	uint8_t plain[WEFT_CCI_MESSAGE_MAX];

	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(good); i++)
		for (unsigned int k = 0; k < 2 && good[i].ignored[k] != 0; k++)
			for (unsigned int bit = 0; bit < 8; bit++) {
				uint8_t req[32];
				size_t len;

				assert_int_equal(rig_ask(good[i].opcode, good[i].req, good[i].len),
					WEFT_CCI_SUCCESS);
				len = WEFT_CCI_HDR + rig_rsp_len;
				memcpy(plain, rig_rsp, len);
				remember();
				memcpy(req, good[i].req, sizeof(req));
				req[good[i].ignored[k]] ^= (uint8_t)(1u << bit);
				assert_int_equal(rig_ask(good[i].opcode, req, good[i].len),
					WEFT_CCI_SUCCESS);
				assert_memory_equal(rig_rsp, plain, len);
				check_unchanged();
				free(before.tables);
			}
}

/* Whatever comes: a listed code, and nothing has changed unless that is Success. */
WEFT_TEST(drawn_requests_are_answered_by_listed_codes)
{
	static const LargestIntegralType listed[] = { 0, 2, 3, 4, 5, 6, 0x16 };
	struct weft_rand r;

	weft_test_seed(&r, "drawn requests");
	for (unsigned int i = 0; i < weft_test_cases(20000); i++) {
		const unsigned int g = (unsigned int)weft_rand_below(&r, WEFT_ARRAY_SIZE(good));
		uint8_t req[64] = { 0 };
		size_t len = good[g].len;

		memcpy(req, good[g].req, sizeof(good[g].req));
		for (unsigned int k = (unsigned int)weft_rand_below(&r, 4); k != 0 && len != 0; k--)
			req[weft_rand_below(&r, len)] = (uint8_t)weft_rand_u64(&r);
		if (weft_rand_below(&r, 8) == 0)
			len = (size_t)weft_rand_below(&r, sizeof(req) + 1);
		remember();
		assert_in_set(rig_ask(good[g].opcode, req, len), listed, WEFT_ARRAY_SIZE(listed));
		if (rig_hdr.rc != WEFT_CCI_SUCCESS)
			check_unchanged();
		free(before.tables);
	}
}
