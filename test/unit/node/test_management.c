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
