/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Management messages in flits: all lengths over frames of all sizes, damage that FEC puts right
 * and damage that it does not, messages of several senders at once, and VDMs that are none.
 */

#include "weft_test.h"

#include <errno.h>

#include "weft_cci_vdm.h"
#include "weft_management.h"

#define FM 0x101
#define PORT 3

static struct weft_codec codec;
static struct weft_management_rx rx;
static const struct weft_cci_mctp_hdr request = { .is_owner = true, .tag = 5 };
static const struct weft_cci_mctp_rx *whole;
static unsigned int n_packets, n_whole;

static int
open_all(void **state)
{
	(void)state;
	codec = (struct weft_codec){ weft_fec_kernel_find("scalar", 0),
		weft_crc_kernel_find("scalar", 0) };
	memset(&rx, 0, sizeof(rx));
	n_packets = n_whole = 0;
	return 0;
}

static int
close_all(void **state)
{
	(void)state;
	return 0;
}

WEFT_TEST_AROUND(open_all, close_all)

static void
hear(void *arg, const struct weft_management_packet *p)
{
	const struct weft_cci_mctp_rx *m;

	(void)arg;
	assert_int_equal(p->spid, FM);
	assert_int_equal(p->dpid, 0xFFF);
	n_packets++;
	m = weft_management_take(&rx, PORT, p);
	if (m == NULL)
		return;
	n_whole++;
	whole = m;
}

/* Frames of at most @p room flits until all is sent. @return frames */
static unsigned int
send_all(const struct weft_management_packet *p, unsigned int n, unsigned int room)
{
	uint8_t flits[WEFT_MANAGEMENT_FLITS * WEFT_FLIT_LEN];
	unsigned int frames = 0;

	for (unsigned int i = 0, used; i < n; frames++) {
		const unsigned int took = weft_management_put(
			flits, room, p + i, n - i, &codec, WEFT_CRC_R0_FIRST, &used);

		assert_in_range(took, 1, n - i);
		assert_in_range(used, 1, room);
		assert_int_equal(
			weft_management_get(flits, used, &codec, WEFT_CRC_R0_FIRST, hear, NULL),
			WEFT_OK);
		i += took;
	}
	return frames;
}

WEFT_TEST(all_lengths_pass_frames_of_all_sizes)
{
	struct weft_management_packet p[WEFT_MANAGEMENT_PACKETS];
	uint8_t msg[WEFT_CCI_MCTP_MESSAGE_MAX];
	struct weft_rand r;

	weft_test_seed(&r, __func__);
	weft_rand_fill(&r, msg, sizeof(msg));
	msg[0] = WEFT_CCI_MCTP_CCI;
	for (unsigned int room = 1; room <= WEFT_MANAGEMENT_FLITS; room++)
		for (size_t len = 1; len <= sizeof(msg); len += len < 200 || len > 1000 ? 1 : 37) {
			const unsigned int n =
				weft_management_cut(p, FM, 0xFFF, &request, msg, len);
			const unsigned int before = n_packets;

			whole = NULL;
			send_all(p, n, room);
			assert_int_equal(n_packets - before, n);
			assert_non_null(whole);
			assert_int_equal(whole->len, len);
			assert_memory_equal(whole->message, msg, len);
			assert_int_equal(whole->hdr.tag, 5);
			assert_true(whole->hdr.is_owner);
		}
	/* What Ethernet carries in one frame: five flits, the first 256 bytes are the records'. */
	assert_int_equal(
		send_all(p, weft_management_cut(p, FM, 0xFFF, &request, msg, sizeof(msg)), 4), 2);
	assert_int_equal(
		send_all(p, weft_management_cut(p, FM, 0xFFF, &request, msg, sizeof(msg)), 5), 1);
}

static void
note_hops(void *arg, const struct weft_management_packet *p)
{
	*(unsigned int *)arg += p->hops;
}

WEFT_TEST(hops_are_counted_by_packet)
{
	static const uint8_t msg[2 * WEFT_MANAGEMENT_UNIT] = { WEFT_CCI_MCTP_CCI };
	uint8_t flits[2 * WEFT_FLIT_LEN];
	struct weft_management_packet p[WEFT_MANAGEMENT_PACKETS];
	unsigned int used, hops = 0;

	assert_int_equal(weft_management_cut(p, FM, 0x200, &request, msg, sizeof(msg)), 2);
	assert_int_equal(p[0].hops + p[1].hops, 0);
	p[0].hops = 1;
	p[1].hops = 63;
	assert_int_equal(weft_management_put(flits, 2, p, 2, &codec, WEFT_CRC_R0_FIRST, &used), 2);
	assert_int_equal(
		weft_management_get(flits, used, &codec, WEFT_CRC_R0_FIRST, note_hops, &hops),
		WEFT_OK);
	assert_int_equal(hops, 64);
}

WEFT_TEST(damage_is_put_right_or_refused)
{
	const uint8_t msg[40] = { WEFT_CCI_MCTP_CCI };
	struct weft_management_packet p;
	uint8_t good[WEFT_FLIT_LEN], flit[WEFT_FLIT_LEN];
	unsigned int used;

	weft_management_cut(&p, FM, 0xFFF, &request, msg, sizeof(msg));
	weft_management_put(good, 1, &p, 1, &codec, WEFT_CRC_R0_FIRST, &used);
	for (unsigned int at = 0; at < WEFT_FLIT_LEN; at++) {
		memcpy(flit, good, sizeof(flit));
		flit[at] ^= 0x5A;
		n_whole = 0;
		assert_int_equal(
			weft_management_get(flit, 1, &codec, WEFT_CRC_R0_FIRST, hear, NULL),
			WEFT_OK);
		assert_int_equal(n_whole, 1);
		/* Two in a group of the code: beyond it, or put right wrongly. */
		memcpy(flit, good, sizeof(flit));
		flit[at] ^= 0x5A;
		flit[(at + 30) % 240] ^= 0x11;
		n_whole = 0;
		assert_int_not_equal(
			weft_management_get(flit, 1, &codec, WEFT_CRC_R0_FIRST, hear, NULL),
			WEFT_OK);
		assert_int_equal(n_whole, 0);
	}
	/* The other order of the CRC is another link's. */
	memcpy(flit, good, sizeof(flit));
	assert_int_equal(
		weft_management_get(flit, 1, &codec, WEFT_CRC_R7_FIRST, hear, NULL), WEFT_DROP_CRC);
}

WEFT_TEST(senders_do_not_disturb_each_other)
{
	struct weft_management_packet p[WEFT_MANAGEMENT_OPEN][WEFT_MANAGEMENT_PACKETS];
	uint8_t msg[500] = { WEFT_CCI_MCTP_CCI };
	unsigned int n = 0, got = 0;

	for (unsigned int s = 0; s < WEFT_MANAGEMENT_OPEN; s++) {
		msg[1] = (uint8_t)s;
		n = weft_management_cut(p[s], (uint16_t)(0x200 + s), 1, &request, msg, sizeof(msg));
	}
	for (unsigned int i = 0; i < n; i++)
		for (unsigned int s = 0; s < WEFT_MANAGEMENT_OPEN; s++) {
			const struct weft_cci_mctp_rx *m =
				weft_management_take(&rx, PORT, &p[s][i]);

			assert_int_equal(m != NULL, i + 1 == n);
			if (m != NULL)
				assert_int_equal(m->message[1], s);
			got += m != NULL;
		}
	assert_int_equal(got, WEFT_MANAGEMENT_OPEN);
	/* One more than there is room for takes the place of the oldest. */
	assert_null(weft_management_take(&rx, PORT + 1, &p[0][1]));
	assert_null(weft_management_take(&rx, PORT + 1, &p[0][0]));
	assert_null(weft_management_take(&rx, PORT + 1, &p[0][1]));
	assert_non_null(weft_management_take(&rx, PORT + 1, &p[0][2]));
}

/* Two hosts of managers may ask each other, and answer, at once. */
WEFT_TEST(request_and_answer_of_one_sender_are_two_messages)
{
	static const struct weft_cci_mctp_hdr answer = { .tag = 5 };
	struct weft_management_packet p[2][WEFT_MANAGEMENT_PACKETS];
	const uint8_t msg[200] = { WEFT_CCI_MCTP_CCI };

	weft_management_cut(p[0], 0x102, FM, &request, msg, sizeof(msg));
	weft_management_cut(p[1], 0x102, FM, &answer, msg, sizeof(msg));
	assert_null(weft_management_take(&rx, PORT, &p[0][0]));
	assert_null(weft_management_take(&rx, PORT, &p[1][0]));
	assert_non_null(weft_management_take(&rx, PORT, &p[0][1]));
	assert_non_null(weft_management_take(&rx, PORT, &p[1][1]));
}

/* MGMT-3 and MGMT-5, all of them: who is there, what it says, and to whom. */
enum { HOST = 0x101, FM2 = 0x102, OTHER = 0x103, GFD = 0x200, NONE = 0xFFF };

static struct weft_management_packet
packet(uint16_t spid, uint16_t dpid, bool is_request)
{
	const struct weft_cci_mctp_hdr h = { .is_owner = is_request, .tag = 1 };
	const uint8_t msg[2] = { WEFT_CCI_MCTP_CCI };
	struct weft_management_packet p;

	weft_management_cut(&p, spid, dpid, &h, msg, sizeof(msg));
	return p;
}

WEFT_TEST(hosts_send_what_they_may)
{
	static const uint16_t ids[] = { HOST, FM2, OTHER, GFD, 0x010, NONE };
	struct weft_management_managers m = { { 0 } };

	weft_management_add_manager(&m, HOST);
	weft_management_add_manager(&m, FM2);
	weft_management_add_manager(&m, NONE);
	for (unsigned int s = 0; s < WEFT_ARRAY_SIZE(ids); s++)
		for (unsigned int d = 0; d < WEFT_ARRAY_SIZE(ids); d++)
			for (int is_request = 0; is_request < 2; is_request++) {
				const struct weft_management_packet p =
					packet(ids[s], ids[d], is_request != 0);
				const bool is_to_manager = ids[d] == HOST || ids[d] == FM2;
				const bool is_of_manager = ids[s] == HOST || ids[s] == FM2;

				assert_int_equal(weft_management_is_request(&p), is_request);
				assert_false(weft_management_may_enter(
					&m, WEFT_MANAGEMENT_FROM_NOBODY, ids[s], &p));
				assert_true(weft_management_may_enter(
					&m, WEFT_MANAGEMENT_FROM_SWITCH, 0x011, &p));
				assert_int_equal(weft_management_may_enter(
							 &m, WEFT_MANAGEMENT_FROM_GFD, GFD, &p),
					ids[s] == GFD || ids[s] == NONE);
				assert_int_equal(weft_management_may_enter(&m,
							 WEFT_MANAGEMENT_FROM_MANAGER, HOST, &p),
					ids[s] == HOST);
				assert_int_equal(weft_management_may_enter(
							 &m, WEFT_MANAGEMENT_FROM_HOST, OTHER, &p),
					ids[s] == OTHER && !is_request && is_to_manager);
				assert_false(weft_management_may_leave(
					&m, WEFT_MANAGEMENT_FROM_NOBODY, &p));
				assert_true(weft_management_may_leave(
					&m, WEFT_MANAGEMENT_FROM_MANAGER, &p));
				assert_int_equal(weft_management_may_leave(
							 &m, WEFT_MANAGEMENT_FROM_HOST, &p),
					is_request && is_of_manager);
				assert_int_equal(weft_management_is_asked(&m, HOST, &p),
					is_request && ids[s] == FM2 && ids[d] == HOST);
				assert_int_equal(weft_management_is_asked(&m, OTHER, &p),
					is_request && is_of_manager && ids[d] == OTHER);
			}
}

/* One whose header is none is no request, and no answer either. */
WEFT_TEST(packet_of_another_version_is_no_answer)
{
	struct weft_management_managers m = { { 0 } };
	struct weft_management_packet p = packet(OTHER, HOST, false);

	weft_management_add_manager(&m, HOST);
	assert_true(weft_management_may_enter(&m, WEFT_MANAGEMENT_FROM_HOST, OTHER, &p));
	p.mctp[0] = 2;
	assert_false(weft_management_is_request(&p));
	assert_false(weft_management_may_enter(&m, WEFT_MANAGEMENT_FROM_HOST, OTHER, &p));
}

/* Offsets of DSP0238 and fabric.md 4.2, by hand. */
WEFT_TEST(headers_are_as_they_are_written)
{
	static const uint8_t want[] = { 0x74, 0, 0, 3, 0, 0, 0x30, 0x7F, 0, 0, 0x1A, 0xB4 };
	uint8_t b[WEFT_CCI_VDM_HDR + 12] = { 0 };

	weft_cci_vdm_put_mctp(b, 9);
	assert_memory_equal(b, want, sizeof(want));
	assert_int_equal(weft_cci_vdm_get_mctp(b, sizeof(b)), 9);
	assert_int_equal(weft_cci_vdm_get_mctp(b, sizeof(b) - 1), -EMSGSIZE);
	assert_int_equal(weft_cci_vdm_get_mctp(b, WEFT_CCI_VDM_HDR - 1), -EMSGSIZE);
	for (unsigned int i = 0; i < sizeof(want); i++) {
		const bool is_read = i == 0 || i == 6 || i == 7 || i >= 10;

		if (i == 2 || i == 3)
			continue;
		b[i] ^= 1;
		assert_int_equal(weft_cci_vdm_get_mctp(b, sizeof(b)), is_read ? -ENOENT : 9);
		b[i] ^= 1;
	}
}
