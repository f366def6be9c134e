/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * A client and its agent at their limits: what they cannot be, more questions than can be asked at
 * once, answers that come late or to nobody, packets in another's name.
 */

#include "weft_test.h"

#include "weft_atc_prefetcher.h"
#include "weft_ats_agent.h"
#include "weft_xlate.h"
#include "weft_ats_pri.h"
#include "weft_ats_wire.h"

#define VA UINT64_C(0x40000)
#define PA UINT64_C(0x10000000000)
#define PAGE UINT64_C(4096)
#define PAGES 64 /* that are there; as many behind them are given on demand */
#define TAGS 128
#define BOTH (WEFT_XLATE_READS | WEFT_XLATE_WRITES)
#define ID 7
#define OTHER 8
#define GFD 0x200

static struct weft_xlate *client;
static struct weft_ats_agent *agent;

static void *
room(size_t size)
{
	void *mem = NULL;

	assert_int_not_equal(size, 0);
	assert_int_equal(posix_memalign(&mem, 64, size), 0);
	return mem;
}

static const struct weft_xlate_cfg client_cfg = { .answer_ns = 1000,
	.life_ns = 100000,
	.entries = 64,
	.tags = TAGS,
	.id = ID,
	.prefetch_degree = 1 };

static const struct weft_ats_agent_map maps[] = {
	{ VA, PA, PAGES *PAGE, 0, 0, 12, WEFT_ATS_R | WEFT_ATS_W, false },
	{ VA + PAGES * PAGE, PA + PAGES *PAGE, PAGES *PAGE, 0, 0, 12, WEFT_ATS_R, true },
	{ VA, PA + 4 * PAGES *PAGE, PAGES *PAGE, 0, 1, 12, WEFT_ATS_R | WEFT_ATS_W, true },
};
static const struct weft_ats_agent_client clients[] = { { ID, 0 }, { OTHER, 0 } };
static const struct weft_ats_agent_cfg agent_cfg = { .timeout_ns = 1000,
	.map = maps,
	.client = clients,
	.n_maps = WEFT_ARRAY_SIZE(maps),
	.n_clients = WEFT_ARRAY_SIZE(clients),
	.id = 0x100,
	.max_concurrent = 1 };

static int
begin(void **state)
{
	(void)state;
	client = weft_xlate_init(room(weft_xlate_size(&client_cfg)), &client_cfg);
	agent = weft_ats_agent_init(room(weft_ats_agent_size(&agent_cfg)), &agent_cfg);
	weft_xlate_enable(client);
	weft_ats_agent_up(agent, 0);
	weft_ats_agent_up(agent, 1);
	return client == NULL || agent == NULL;
}

static int
end(void **state)
{
	(void)state;
	free(client);
	free(agent);
	return 0;
}

WEFT_TEST_EACH(begin, end)

/* All that the two have to say to each other now; how many packets. */
static unsigned int
talk(uint64_t now_ns)
{
	uint8_t buf[WEFT_ATS_PACKET_MAX];
	unsigned int n = 0;
	uint16_t to;
	size_t len;

	while ((len = weft_xlate_send_request(client, buf, sizeof(buf), now_ns)) != 0) {
		assert_int_equal(weft_ats_agent_receive(agent, ID, buf, len), WEFT_OK);
		n++;
	}
	while ((len = weft_xlate_send_posted(client, buf, sizeof(buf))) != 0) {
		assert_int_equal(weft_ats_agent_receive(agent, ID, buf, len), WEFT_OK);
		n++;
	}
	weft_ats_agent_time(agent, now_ns);
	while ((len = weft_ats_agent_send_answer(agent, buf, sizeof(buf), &to)) != 0)
		assert_int_equal(weft_xlate_receive(client, buf, len, now_ns), WEFT_OK);
	while ((len = weft_ats_agent_send_posted(agent, 0, buf, sizeof(buf), now_ns)) != 0)
		assert_int_equal(weft_xlate_receive(client, buf, len, now_ns), WEFT_OK);
	weft_xlate_time(client, now_ns);
	return n;
}

static int
submit(uint16_t tag, bool is_write, uint64_t va, uint64_t now_ns)
{
	const struct weft_msg m = {
		.kind = is_write ? WEFT_MSG_M2S_RWD : WEFT_MSG_M2S_REQ, .tag = tag, .addr = va
	};

	return weft_xlate_submit(client, &m, now_ns);
}

/* Requests that leave now, with addresses of the fabric. */
static unsigned int
leave(uint64_t now_ns)
{
	struct weft_xlate_out out[WEFT_XLATE_BURST];
	unsigned int n = 0, got;

	while ((got = weft_xlate_next(client, BOTH, now_ns, out, WEFT_XLATE_BURST)) != 0)
		for (unsigned int i = 0; i < got; i++) {
			assert_false(out[i].is_refused);
			assert_true(out[i].msg.addr >= PA);
			weft_xlate_sent(client, out[i].msg.tag, GFD);
			n++;
		}
	return n;
}

static bool
answered(uint16_t tag, uint8_t kind)
{
	const struct weft_msg m = { .kind = kind, .tag = tag };

	return weft_xlate_response(client, &m);
}

static uint64_t
counted(enum weft_xlate_counter c)
{
	return weft_xlate_counts(client)[c];
}

/* --- what they cannot be --- */

WEFT_TEST(clients_out_of_range_are_refused)
{
	struct weft_xlate_cfg bad[11];
	uint8_t mem[64];

	for (size_t i = 0; i < WEFT_ARRAY_SIZE(bad); i++)
		bad[i] = client_cfg;
	bad[0].answer_ns = 0;
	bad[1].entries = 0;
	bad[2].entries = 4;
	bad[3].entries = 24;
	bad[4].entries = 1u << 21;
	bad[5].tags = 0;
	bad[6].tags = 48;
	bad[7].tags = 2 * WEFT_XLATE_TAGS_MAX;
	bad[8].prefetch_degree = 0;
	bad[9].prefetch_degree = WEFT_ATC_PREFETCH_MAX + 1;
	bad[10].stu = 19;
	for (size_t i = 0; i < WEFT_ARRAY_SIZE(bad); i++) {
		if (weft_xlate_size(&bad[i]) != 0)
			fail_msg("row %zu is taken", i);
		assert_null(weft_xlate_init(mem, &bad[i]));
	}
	assert_null(weft_xlate_init((uint8_t *)client + 8, &client_cfg));
}

WEFT_TEST(agents_out_of_range_are_refused)
{
	struct weft_ats_agent_map m[9];
	struct weft_ats_agent_cfg cfg[6];
	uint8_t mem[64];

	for (size_t i = 0; i < WEFT_ARRAY_SIZE(m); i++)
		m[i] = maps[0];
	m[0].client = 2; /* which there is not */
	m[1].page_log2 = 31;
	m[2].page_log2 = 11;
	m[3].size = 0;
	m[4].size = PAGE / 2;
	m[5].va = PAGE / 2;
	m[6].pa = PAGE / 2;
	m[7].alt_pa = PAGE / 2;
	m[8].size = PAGE << 32; /* more pages than can be told apart */
	for (size_t i = 0; i < WEFT_ARRAY_SIZE(m); i++) {
		struct weft_ats_agent_cfg c = agent_cfg;

		c.map = &m[i];
		c.n_maps = 1;
		if (weft_ats_agent_size(&c) != 0)
			fail_msg("map %zu is taken", i);
		assert_null(weft_ats_agent_init(mem, &c));
	}
	for (size_t i = 0; i < WEFT_ARRAY_SIZE(cfg); i++)
		cfg[i] = agent_cfg;
	cfg[0].n_clients = 0;
	cfg[1].n_maps = 0;
	cfg[2].max_concurrent = 0;
	cfg[3].max_concurrent = WEFT_ATS_AGENT_MIGRATIONS + 1;
	cfg[4].timeout_ns = 0;
	cfg[5].n_clients = 5000;
	for (size_t i = 0; i < WEFT_ARRAY_SIZE(cfg); i++)
		if (weft_ats_agent_size(&cfg[i]) != 0)
			fail_msg("agent %zu is taken", i);
	assert_null(weft_ats_agent_init((uint8_t *)agent + 8, &agent_cfg));
}

/*
 * A client that may only have large pages has no map of smaller ones, and two clients no one name.
 */
WEFT_TEST(agents_keep_to_what_clients_can)
{
	struct weft_ats_agent_client large[2] = { { ID, 1 }, { OTHER, 0 } };
	struct weft_ats_agent_cfg cfg = agent_cfg;
	void *mem;

	cfg.client = large;
	assert_int_equal(weft_ats_agent_size(&cfg), 0);
	large[0] = (struct weft_ats_agent_client){ OTHER, 0 };
	mem = room(weft_ats_agent_size(&cfg));
	assert_null(weft_ats_agent_init(mem, &cfg));
	free(mem);
}

/* --- more than can be asked at once --- */

WEFT_TEST(questions_wait_for_their_turn)
{
	unsigned int sent = 0;

	for (uint16_t i = 0; i < PAGES; i++)
		assert_int_equal(submit(i, i % 2 != 0, VA + i * PAGE, 0), 0);
	/* Each has a page of its own, and there are half as many questions. */
	assert_int_equal(leave(0), 0);
	assert_int_equal(weft_xlate_waiting(client), PAGES);
	assert_int_equal(counted(WEFT_XLATE_N_MISSED), PAGES / 2);
	for (uint64_t now_ns = 1; sent < PAGES && now_ns < 10; now_ns++) {
		talk(now_ns);
		sent += leave(now_ns);
	}
	assert_int_equal(sent, PAGES);
	assert_int_equal(counted(WEFT_XLATE_N_TRANSLATED), PAGES);
	assert_int_equal(weft_xlate_waiting(client), 0);
	for (uint16_t i = 0; i < PAGES; i++)
		assert_true(answered(i, i % 2 != 0 ? WEFT_MSG_S2M_NDR : WEFT_MSG_S2M_DRS));
}

WEFT_TEST(pages_are_asked_for_in_turn_too)
{
	unsigned int sent = 0;

	for (uint16_t i = 0; i < PAGES; i++)
		assert_int_equal(submit(i, false, VA + (PAGES + i) * PAGE, 0), 0);
	for (uint64_t now_ns = 1; sent < PAGES && now_ns < 100; now_ns++) {
		sent += leave(now_ns);
		talk(now_ns);
	}
	assert_int_equal(sent, PAGES);
	assert_int_equal(counted(WEFT_XLATE_N_PAGES), PAGES);
	assert_int_equal(weft_ats_agent_counts(agent)[WEFT_ATS_AGENT_N_PAGES], PAGES);
}

/* Writes whose answers never came are remembered until a new session says that they cannot. */
WEFT_TEST(writes_of_unknown_fate_are_bounded)
{
	const unsigned int most = 4096;
	unsigned int sent = 0;

	assert_int_equal(submit(0, true, VA, 0), 0);
	assert_int_equal(leave(0), 0);
	talk(0);
	sent += leave(0);
	assert_int_equal(sent, 1);
	/* Each is given up by its host, and its tag used anew. */
	for (unsigned int i = 1; i < most; i++) {
		assert_int_equal(submit(0, true, VA, 0), 0);
		sent += leave(0);
	}
	assert_int_equal(sent, most);
	assert_int_equal(submit(0, true, VA, 0), 0);
	assert_int_equal(leave(0), 0);
	assert_int_equal(weft_xlate_waiting(client), 1);
	assert_int_equal(submit(0, true, VA, 0), -EBUSY);
	weft_xlate_time(client, 1);
	assert_int_equal(leave(1), 0);
	/* Another session with somebody else says nothing of these. */
	weft_xlate_ended(client, GFD + 1);
	weft_xlate_began(client, GFD + 1);
	weft_xlate_time(client, 2);
	assert_int_equal(leave(2), 0);
	weft_xlate_ended(client, GFD);
	weft_xlate_began(client, GFD);
	/* The cache was emptied: it is asked for again. */
	for (uint64_t now_ns = 3; now_ns < 6; now_ns++) {
		weft_xlate_time(client, now_ns);
		sent += leave(now_ns);
		talk(now_ns);
	}
	sent += leave(6);
	assert_int_equal(sent, most + 1);
	assert_int_equal(counted(WEFT_XLATE_N_RESETS), 2);
}

/* --- late, or nobody's --- */

WEFT_TEST(an_old_request_is_not_sent)
{
	assert_int_equal(submit(1, false, VA, 0), 0);
	assert_int_equal(submit(1, false, VA, 0), -EBUSY); /* it is in the list */
	assert_int_equal(leave(0), 0);
	assert_int_equal(submit(1, false, VA, 0), -EBUSY); /* it waits for its translation */
	talk(client_cfg.life_ns);
	assert_int_equal(leave(client_cfg.life_ns), 0);
	assert_int_equal(counted(WEFT_XLATE_N_EXPIRED), 1);
	assert_int_equal(submit(1, false, VA, client_cfg.life_ns), 0);
	assert_int_equal(leave(client_cfg.life_ns), 1);
}

WEFT_TEST(late_answers_are_nobodys)
{
	assert_int_equal(submit(1, true, VA, 0), 0);
	assert_int_equal(submit(2, false, VA, 0), 0);
	assert_int_equal(leave(0), 0);
	talk(0);
	assert_int_equal(leave(0), 2);
	/* Both given up; the tags are other requests' now, by another name. */
	assert_int_equal(submit(1 + TAGS, true, VA, 0), 0);
	assert_int_equal(submit(2 + TAGS, false, VA, 0), 0);
	assert_int_equal(leave(0), 2);
	weft_xlate_sent(client, 1, GFD + 1); /* of one that is not open */
	assert_true(answered(1, WEFT_MSG_S2M_NDR));
	assert_true(answered(2, WEFT_MSG_S2M_DRS));
	assert_true(answered(77, WEFT_MSG_S2M_NDR));
	assert_true(answered(78, WEFT_MSG_S2M_DRS));
	/* Those are open all the same, and end once. */
	assert_int_equal(submit(1 + TAGS, true, VA, 0), 0);
	assert_int_equal(leave(0), 1);
	assert_true(answered(1 + TAGS, WEFT_MSG_S2M_NDR));
	assert_true(answered(2 + TAGS, WEFT_MSG_S2M_DRS));
}

/* A page that nobody answers for is asked for again, and is not held against who waits. */
WEFT_TEST(a_page_that_is_not_answered_is_asked_for_again)
{
	uint8_t buf[WEFT_ATS_PACKET_MAX];
	uint64_t now_ns = 1;

	assert_int_equal(submit(1, false, VA + PAGES * PAGE, 0), 0);
	assert_int_equal(leave(0), 0);
	talk(0); /* there is no such page yet */
	assert_int_equal(leave(0), 0);
	/* The Page Request is lost. */
	assert_int_not_equal(weft_xlate_send_posted(client, buf, sizeof(buf)), 0);
	assert_int_equal(weft_xlate_send_posted(client, buf, sizeof(buf)), 0);
	assert_int_equal(weft_xlate_waiting(client), 1);
	for (; now_ns < 20 * client_cfg.answer_ns && leave(now_ns) == 0; now_ns += 100)
		talk(now_ns);
	assert_true(now_ns >= 4 * client_cfg.answer_ns && now_ns < 20 * client_cfg.answer_ns);
	assert_int_equal(counted(WEFT_XLATE_N_PAGES), 2);
	assert_int_equal(counted(WEFT_XLATE_N_NO_PAGE), 0);
}

WEFT_TEST(a_session_that_ends_takes_its_questions_along)
{
	uint8_t buf[WEFT_ATS_PACKET_MAX];

	assert_int_equal(submit(1, false, VA + PAGES * PAGE, 0), 0);
	assert_int_equal(leave(0), 0);
	talk(0);
	assert_int_equal(leave(0), 0);
	assert_int_not_equal(weft_xlate_send_posted(client, buf, sizeof(buf)), 0);
	weft_xlate_reset(client, 1);
	assert_int_equal(weft_xlate_waiting(client), 0);
	/* It looks again, and nothing can be asked now. */
	assert_int_equal(leave(1), 0);
	assert_int_equal(weft_xlate_waiting(client), 1);
	assert_int_equal(weft_xlate_send_request(client, buf, sizeof(buf), 1), 0);
	weft_xlate_ended(client, GFD); /* changes nothing without a session */
	assert_int_equal(counted(WEFT_XLATE_N_RESETS), 1);
	weft_xlate_enable(client);
	for (uint64_t now_ns = 2; now_ns < 8; now_ns++) {
		weft_xlate_time(client, now_ns);
		if (leave(now_ns) == 1)
			return;
		talk(now_ns);
	}
	fail_msg("the request is stuck");
}

/* --- packets that are not what they seem --- */

static size_t
page_request(uint8_t *buf, uint16_t from, uint64_t va, uint16_t group, uint8_t bits, int32_t pasid)
{
	const struct weft_ats_packet p = { .kind = WEFT_ATS_PAGE,
		.addr = va,
		.requester = from,
		.group = group,
		.page_bits = bits,
		.has_pasid = pasid >= 0,
		.pasid = pasid < 0 ? 0 : (uint32_t)pasid };

	return weft_ats_encode(&p, buf, WEFT_ATS_PACKET_MAX);
}

static uint64_t
denied(void)
{
	return weft_ats_agent_counts(agent)[WEFT_ATS_AGENT_N_PAGES_DENIED];
}

/* Answers to Page Requests that wait for a client. */
static unsigned int
replies(unsigned int to)
{
	uint8_t buf[WEFT_ATS_PACKET_MAX];
	unsigned int n = 0;

	while (weft_ats_agent_send_posted(agent, to, buf, sizeof(buf), 0) != 0)
		n++;
	return n;
}

static void
ask_page(uint16_t from, uint64_t va, uint16_t group, uint8_t bits, int32_t pasid)
{
	uint8_t buf[WEFT_ATS_PACKET_MAX];
	const size_t len = page_request(buf, from, va, group, bits, pasid);

	assert_int_not_equal(len, 0);
	assert_int_equal(weft_ats_agent_receive(agent, from, buf, len), WEFT_OK);
}

WEFT_TEST(an_agent_believes_the_fabric_who_asks)
{
	uint8_t buf[WEFT_ATS_PACKET_MAX];
	size_t len = page_request(buf, ID, VA, 0, WEFT_ATS_PAGE_R | WEFT_ATS_PAGE_LAST, -1);

	assert_int_equal(weft_ats_agent_receive(agent, OTHER, buf, len), WEFT_DROP_ATS_PEER);
	memset(buf, 0xFF, sizeof(buf));
	assert_int_not_equal(weft_ats_agent_receive(agent, ID, buf, sizeof(buf)), WEFT_OK);
	assert_int_not_equal(weft_xlate_receive(client, buf, sizeof(buf), 0), WEFT_OK);
	weft_ats_agent_time(agent, 1);
	assert_int_equal(replies(0) + replies(1), 0);
}

WEFT_TEST(pages_are_given_to_whom_they_belong)
{
	const uint8_t read = WEFT_ATS_PAGE_R | WEFT_ATS_PAGE_LAST;
	const uint8_t write = WEFT_ATS_PAGE_W | WEFT_ATS_PAGE_LAST;

	ask_page(ID, VA + PAGES * PAGE, 1, write, -1); /* it may only be read */
	ask_page(ID, VA + PAGES * PAGE, 2, read, 5); /* no address space of a process */
	ask_page(ID, VA + 4 * PAGES * PAGE, 3, read, -1); /* nothing is there */
	ask_page(OTHER, VA + PAGES * PAGE, 4, read, -1); /* the other client's */
	weft_ats_agent_time(agent, 1);
	assert_int_equal(denied(), 4);
	assert_int_equal(replies(0), 3);
	assert_int_equal(replies(1), 1);
	assert_int_equal(weft_ats_agent_counts(agent)[WEFT_ATS_AGENT_N_PAGES], 0);
	/* A group has one answer, at its end; a page that is there is given without further ado. */
	ask_page(ID, VA + PAGES * PAGE, 5, WEFT_ATS_PAGE_R, -1);
	ask_page(ID, VA + PAGES * PAGE, 5, read, -1);
	ask_page(ID, 0, 6, WEFT_ATS_PAGE_LAST, 9); /* a Stop Marker has none */
	weft_ats_agent_time(agent, 2);
	assert_int_equal(denied(), 4);
	assert_int_equal(weft_ats_agent_counts(agent)[WEFT_ATS_AGENT_N_PAGES], 1);
	assert_int_equal(replies(0), 1);
}

/* Answers that nobody takes hold up further ones, and are lost with their client's session. */
WEFT_TEST(answers_wait_for_their_client)
{
	uint8_t buf[WEFT_ATS_PACKET_MAX];

	for (uint16_t i = 0; i < 100; i++)
		ask_page(i % 2 == 0 ? ID : OTHER, VA, i, WEFT_ATS_PAGE_R | WEFT_ATS_PAGE_LAST, -1);
	weft_ats_agent_time(agent, 1);
	assert_int_equal(weft_ats_agent_send_posted(agent, 0, buf, 8, 1), 0);
	assert_int_equal(weft_ats_agent_send_posted(agent, 2, buf, sizeof(buf), 1), 0);
	weft_ats_agent_down(agent, 2, 1);
	weft_ats_agent_up(agent, 2);
	/* Of 64 that wait a half is the other client's. */
	weft_ats_agent_down(agent, 1, 1);
	assert_int_equal(weft_ats_agent_send_posted(agent, 1, buf, sizeof(buf), 1), 0);
	assert_int_equal(replies(0), 32);
	weft_ats_agent_time(agent, 2);
	weft_ats_agent_up(agent, 1);
	assert_int_equal(replies(0), 18);
	assert_int_equal(replies(1), 18);
}
