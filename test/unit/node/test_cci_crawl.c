/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Crawl-out: three switches in a row and a GFD behind the last, all with nothing but power-up
 * state, and a manager that reaches the first alone. What it sends goes from component to component
 * by ports, PIDs and tables only.
 */

#include "weft_test.h"

#include "weft_cci_switch.h"

#define SWITCHES 3
#define COMPONENTS (SWITCHES + 1)
#define PORTS 4 /* 0: host's; 1: to the one before; 2: to the next; 3: leads nowhere */
#define FM 0xF00
#define MAX_ROWS 32
#define LAYER (WEFT_CCI_HDR + WEFT_CCI_CRAWL_OUT_REQ_LEN)

struct place {
	struct weft_cci_component component;
	struct weft_cci_command row[MAX_ROWS];
	struct weft_cci_switch sw; /* but for the GFD */
	struct weft_tables *live, *spare;
	unsigned int index;
};

static struct place at[COMPONENTS];
static uint8_t rsp[WEFT_CCI_MESSAGE_MAX];
static const uint8_t *answer; /* payload of the innermost response */
static unsigned int n_hops, n_late; /* answers that are to come late */

static const struct weft_tables *
place_now(void *world)
{
	return ((struct place *)world)->live;
}

static struct weft_tables *
place_begin(void *world)
{
	struct place *p = world;

	weft_tables_copy(p->spare, p->live);
	return p->spare;
}

static void
place_commit(void *world)
{
	struct place *p = world;
	struct weft_tables *old = p->live;

	p->live = p->spare;
	p->spare = old;
}

static void
place_port(void *world, unsigned int port, struct weft_cci_switch_port *p)
{
	(void)world;
	*p = (struct weft_cci_switch_port){
		.state = port == 0   ? WEFT_CCI_PORT_USP
		         : port == 3 ? WEFT_CCI_PORT_DISABLED
		                     : WEFT_CCI_PORT_FABRIC,
		.is_pbr = port != 0,
		.is_up = true,
	};
}

static void
place_partner(void *world, unsigned int port, struct weft_cci_lpi_block *b)
{
	const unsigned int here = ((struct place *)world)->index;
	const unsigned int far = port == 1 ? here - 1 : here + 1;

	if ((port != 1 && port != 2) || far >= COMPONENTS)
		return;
	b->far_port = port == 1 ? 2 : 1;
	b->pid_type = (uint16_t)(at[far].component.owner.pid | (far == SWITCHES) << 12);
	memset(b->id, 0x10 + (int)far, sizeof(b->id));
}

/* A frame: it is for whoever it comes to, or for the one that has its PID, or goes on. */
static uint16_t
place_exchange(void *world, const struct weft_cci_crawl *to, const uint8_t *msg, size_t len,
	uint8_t *out, size_t *out_len)
{
	const struct weft_cci_caller who = { WEFT_CCI_FM, to->spid };
	unsigned int here = ((struct place *)world)->index;
	uint8_t whole[WEFT_CCI_MESSAGE_MAX];
	int port = to->port;

	assert_true(*out_len >= WEFT_CCI_HDR && *out_len <= sizeof(whole));
	if (n_late != 0) {
		n_late--;
		return WEFT_CCI_RETRY_REQUIRED;
	}
	do {
		here = port == 1 ? here - 1 : here + 1;
		if (here >= COMPONENTS)
			return WEFT_CCI_INTERNAL_ERROR; /* nobody answers */
		n_hops++;
		if (to->dpid == WEFT_CCI_NO_PID || to->dpid == at[here].component.owner.pid) {
			const size_t n = weft_cci_component_run(
				&at[here].component, &who, msg, len, whole, sizeof(whole), 0);

			memcpy(out, whole, n < *out_len ? n : *out_len);
			*out_len = n;
			return WEFT_CCI_SUCCESS;
		}
		port = here == SWITCHES ? -1 : weft_tables_route(at[here].live, 0)->first[to->dpid];
	} while (port >= 0);
	return WEFT_CCI_INTERNAL_ERROR;
}

static const struct weft_cci_switch_world place_world = {
	.now = place_now,
	.begin = place_begin,
	.commit = place_commit,
	.port = place_port,
	.partner = place_partner,
	.exchange = place_exchange,
};

static int
power_up(void **state)
{
	struct weft_tables_cfg tables = { .n_routes = 1, .n_rgt = 16 };
	const size_t size = weft_line_up(weft_tables_size(&tables));

	(void)state;
	n_hops = n_late = 0;
	for (unsigned int i = 0; i < COMPONENTS; i++) {
		struct place *p = &at[i];
		struct weft_cci_component_cfg cfg = {
			.type = i < SWITCHES ? WEFT_CCI_TYPE_SWITCH : WEFT_CCI_TYPE_GFD,
			.serial = 7 + i,
			.pid = WEFT_CCI_NO_PID,
			.command = p->row,
			.n_commands = i < SWITCHES ? weft_cci_switch_n_commands + 1 : 0,
			.arg = &p->sw,
		};

		p->index = i;
		p->live = aligned_alloc(WEFT_CACHE_LINE, size);
		p->spare = aligned_alloc(WEFT_CACHE_LINE, size);
		assert_true(p->live != NULL && p->spare != NULL);
		assert_int_equal(weft_tables_init(p->live, &tables), 0);
		assert_int_equal(weft_cci_switch_init(&p->sw, &place_world, p, PORTS), 0);
		assert_true(weft_cci_switch_n_commands < MAX_ROWS);
		memcpy(p->row, weft_cci_switch_commands,
			weft_cci_switch_n_commands * sizeof(p->row[0]));
		p->row[weft_cci_switch_n_commands] = weft_cci_switch_crawl_out;
		assert_int_equal(weft_cci_component_init(&p->component, &cfg), 0);
	}
	return 0;
}

static int
power_down(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < COMPONENTS; i++) {
		free(at[i].live);
		free(at[i].spare);
	}
	return 0;
}

WEFT_TEST_EACH(power_up, power_down)

/* A layer: a port, or a PID. */
struct layer {
	uint8_t ttype;
	uint16_t target;
};

/* A message to the first switch that has others inside of it: the code of the innermost answer. */
static uint16_t
ask(const struct layer *layer, unsigned int n, uint16_t opcode, const void *payload, size_t len)
{
	const struct weft_cci_caller who = { WEFT_CCI_FM, FM };
	uint8_t msg[WEFT_CCI_MESSAGE_MAX];
	size_t total = n * LAYER + WEFT_CCI_HDR + len, pos = 0, left;
	struct weft_cci_hdr h = { .opcode = WEFT_CCI_CRAWL_OUT };

	assert_true(total <= sizeof(msg));
	for (unsigned int i = 0; i < n; i++, pos += LAYER) {
		const struct weft_cci_crawl_out_req req = { .target = layer[i].target,
			.ttype = layer[i].ttype,
			.size = (uint16_t)(total - pos - LAYER),
			.msg = msg + pos + LAYER };

		h.len = (uint32_t)(total - pos - WEFT_CCI_HDR);
		weft_cci_put_hdr(msg + pos, &h);
		weft_put_le16(msg + pos + WEFT_CCI_HDR, req.target);
		msg[pos + WEFT_CCI_HDR + 2] = req.ttype;
		msg[pos + WEFT_CCI_HDR + 3] = 0;
		weft_put_le16(msg + pos + WEFT_CCI_HDR + 4, req.size);
	}
	h.opcode = opcode;
	h.len = (uint32_t)len;
	weft_cci_put_hdr(msg + pos, &h);
	if (len != 0)
		memcpy(msg + pos + WEFT_CCI_HDR, payload, len);
	left = weft_cci_component_run(&at[0].component, &who, msg, total, rsp, sizeof(rsp), 0);
	answer = rsp;
	for (unsigned int i = 0;; i++) {
		struct weft_cci_crawl_out_rsp in;

		assert_int_equal(weft_cci_get_hdr(&h, answer, left), 0);
		assert_true(h.is_response && h.len == left - WEFT_CCI_HDR);
		answer += WEFT_CCI_HDR;
		if (h.rc != WEFT_CCI_SUCCESS || i == n)
			return h.rc;
		assert_int_equal(h.opcode, WEFT_CCI_CRAWL_OUT);
		assert_int_equal(weft_cci_get_crawl_out_rsp(&in, answer, h.len), 0);
		answer = in.msg;
		left = in.len;
	}
}

static uint16_t
claim(const struct layer *layer, unsigned int n, uint16_t pid)
{
	uint8_t req[21] = { 0 };

	weft_put_le16(req + 1, FM);
	memset(req + 3, 0xFA, WEFT_CCI_UUID);
	weft_put_le16(req + 19, pid);
	return ask(layer, n, WEFT_CCI_CLAIM_OWNERSHIP, req, sizeof(req));
}

static uint16_t
set_row(const struct layer *layer, unsigned int n, uint16_t dpid, uint8_t port)
{
	uint8_t req[8] = { 0, 0, 1, 0, 0, 0, WEFT_DRT_PORT, port };

	weft_put_le16(req + 4, dpid);
	return ask(layer, n, WEFT_CCI_SET_DRT, req, sizeof(req));
}

/* As fabric.md 6.3 has it: claim by the port, give it a way from everywhere, and it a way back. */
WEFT_TEST(a_row_of_switches_is_found_through_its_first_port)
{
	static const uint8_t port_2[] = { 1, 2 };
	unsigned int found = 1;

	assert_int_equal(claim(NULL, 0, 0x10), WEFT_CCI_SUCCESS);
	for (uint16_t i = 1; i < COMPONENTS; i++) {
		/* One layer to the component before, by its PID, and from there by its port. */
		const struct layer way[2] = { { 1, (uint16_t)(0x10 + i - 1) }, { 0, 2 } };
		const struct layer *by = i == 1 ? &way[1] : way;
		const unsigned int layers = i == 1 ? 1 : 2;
		const struct layer to = { 1, (uint16_t)(0x10 + i) };

		assert_int_equal(
			ask(way, i == 1 ? 0 : 1, WEFT_CCI_GET_LINK_PARTNER_INFO, port_2, 2),
			WEFT_CCI_SUCCESS);
		assert_int_equal(answer[4 + 4], 0x10 + i);
		/* It is nobody's: little may be asked. */
		assert_int_equal(ask(by, layers, WEFT_CCI_IDENTIFY, NULL, 0), WEFT_CCI_SUCCESS);
		assert_int_equal(weft_get_le64(answer + 8), 7 + i);
		assert_int_equal(
			ask(by, layers, WEFT_CCI_BACKGROUND_STATUS, NULL, 0), WEFT_CCI_UNSUPPORTED);
		assert_int_equal(claim(by, layers, to.target), WEFT_CCI_SUCCESS);
		assert_int_equal(ask(&to, 1, WEFT_CCI_IDENTIFY, NULL, 0), WEFT_CCI_INVALID_INPUT);
		for (uint16_t k = 0; k < i; k++) {
			const struct layer one = { 1, (uint16_t)(0x10 + k) };

			assert_int_equal(
				set_row(&one, k == 0 ? 0 : 1, to.target, 2), WEFT_CCI_SUCCESS);
		}
		if (i < SWITCHES)
			assert_int_equal(set_row(by, layers, FM, 1), WEFT_CCI_SUCCESS);
		/* Now one layer is enough, by its PID, however far it is. */
		n_hops = 0;
		assert_int_equal(ask(&to, 1, WEFT_CCI_IDENTIFY, NULL, 0), WEFT_CCI_SUCCESS);
		assert_int_equal(weft_get_le64(answer + 8), 7 + i);
		assert_int_equal(n_hops, i);
		found++;
	}
	assert_int_equal(found, COMPONENTS);
}

WEFT_TEST(what_cannot_go_is_refused)
{
	static const struct layer bad[] = { { 0, 0 }, { 0, 3 }, { 0, 4 }, { 0, 0xFF }, { 1, 0x10 },
		{ 1, 0xFFF }, { 1, 0x300 }, { 2, 2 }, { 0xF, 2 } };
	static const struct layer deep[] = { { 0, 2 }, { 0, 2 }, { 0, 2 } };

	assert_int_equal(ask(deep, 1, WEFT_CCI_IDENTIFY, NULL, 0), WEFT_CCI_UNSUPPORTED);
	assert_int_equal(claim(NULL, 0, 0x10), WEFT_CCI_SUCCESS);
	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(bad); i++)
		assert_int_equal(
			ask(&bad[i], 1, WEFT_CCI_IDENTIFY, NULL, 0), WEFT_CCI_INVALID_INPUT);
	assert_int_equal(n_hops, 0);
	assert_int_equal(ask(deep, 3, WEFT_CCI_IDENTIFY, NULL, 0), WEFT_CCI_UNSUPPORTED);
	assert_int_equal(n_hops, 0);
	/* Two go out; the second has no right there. */
	assert_int_equal(ask(deep, 2, WEFT_CCI_IDENTIFY, NULL, 0), WEFT_CCI_UNSUPPORTED);
	assert_int_equal(n_hops, 1);
}

/* No whole request inside, by any length; and what comes late is asked for again. */
WEFT_TEST(pieces_go_nowhere_and_late_answers_are_waited_for)
{
	static const struct layer next = { 0, 2 };
	const struct weft_cci_caller who = { WEFT_CCI_FM, FM };
	uint8_t msg[2 * LAYER];
	struct weft_cci_hdr h = { .opcode = WEFT_CCI_CRAWL_OUT };

	assert_int_equal(claim(NULL, 0, 0x10), WEFT_CCI_SUCCESS);
	for (size_t len = 0; len <= sizeof(msg) - LAYER; len++)
		for (unsigned int is_response = 0; is_response < 2; is_response++) {
			memset(msg, 0, sizeof(msg));
			msg[WEFT_CCI_HDR] = 2;
			weft_put_le16(msg + WEFT_CCI_HDR + 4, (uint16_t)len);
			msg[LAYER] = (uint8_t)is_response;
			msg[LAYER + 3] = 1; /* Identify, without a payload */
			h.len = (uint32_t)(WEFT_CCI_CRAWL_OUT_REQ_LEN + len);
			h.is_response = false;
			weft_cci_put_hdr(msg, &h);
			assert_int_not_equal(weft_cci_component_run(&at[0].component, &who, msg,
						     LAYER + len, rsp, sizeof(rsp), 0),
				0);
			assert_int_equal(weft_get_le16(rsp + 8),
				len == WEFT_CCI_HDR && is_response == 0 ? WEFT_CCI_SUCCESS
									: WEFT_CCI_INVALID_INPUT);
		}
	assert_int_equal(n_hops, 1);
	n_late = 2;
	assert_int_equal(ask(&next, 1, WEFT_CCI_IDENTIFY, NULL, 0), WEFT_CCI_RETRY_REQUIRED);
	assert_int_equal(ask(&next, 1, WEFT_CCI_IDENTIFY, NULL, 0), WEFT_CCI_RETRY_REQUIRED);
	assert_int_equal(ask(&next, 1, WEFT_CCI_IDENTIFY, NULL, 0), WEFT_CCI_SUCCESS);
}
