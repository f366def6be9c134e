/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * MCTP packets and their serial form: the vectors of fabric.md part (c); messages of all lengths
 * come back; what is lost, doubled, foreign or damaged never makes a message that was not sent.
 */

#include "weft_test.h"

#include "weft_cci_mctp.h"

#define MTU_MAX 1200
#define PACKET_MAX (WEFT_CCI_MCTP_HDR + MTU_MAX)

static const uint8_t identify[] = { 8, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0 };
static const struct weft_cci_mctp_hdr from_fm = { .dest = 9, .src = 8, .is_owner = true };

static void
fill(struct weft_rand *r, uint8_t *b, size_t len)
{
	weft_rand_fill(r, b, len);
	b[0] &= 0x7F; /* no integrity check */
}

WEFT_TEST(vector_identify_packet)
{
	static const uint8_t want[] = { 0x01, 0x09, 0x08, 0xc8, 0x08, 0x00, 0x00, 0x00, 0x01, 0x00,
		0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00 };
	uint8_t b[PACKET_MAX];

	assert_int_equal(
		weft_cci_mctp_put_packet(b, sizeof(b), &from_fm, identify, sizeof(identify), 64, 0),
		sizeof(want));
	assert_memory_equal(b, want, sizeof(want));
	assert_int_equal(weft_cci_mctp_type(WEFT_CCI_IDENTIFY), WEFT_CCI_MCTP_CCI);
}

WEFT_TEST(vector_identify_serial)
{
	static const uint8_t want[] = { 0x7e, 0x01, 0x11, 0x01, 0x09, 0x08, 0xc8, 0x08, 0x00, 0x00,
		0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xce, 0x02, 0x7e };
	uint8_t b[PACKET_MAX], frame[WEFT_CCI_SERIAL_FRAME_MAX];
	const int n =
		weft_cci_mctp_put_packet(b, sizeof(b), &from_fm, identify, sizeof(identify), 64, 0);

	assert_int_equal(weft_cci_serial_put(frame, sizeof(frame), b, (size_t)n), sizeof(want));
	assert_memory_equal(frame, want, sizeof(want));
}

WEFT_TEST(vector_set_drt_serial)
{
	static const uint8_t msg[] = { 7, 0, 3, 0, 9, 0x57, 8, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0x7E,
		0, 1, 0x7D };
	static const uint8_t want[] = { 0x7e, 0x01, 0x19, 0x01, 0x09, 0x08, 0xc9, 0x07, 0x00, 0x03,
		0x00, 0x09, 0x57, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00,
		0x7d, 0x5e, 0x00, 0x01, 0x7d, 0x5d, 0xa0, 0x04, 0x7e };
	struct weft_cci_mctp_hdr h = from_fm;
	uint8_t b[PACKET_MAX], frame[WEFT_CCI_SERIAL_FRAME_MAX];
	struct weft_cci_serial_rx rx = { 0 };
	int n;

	h.tag = 1;
	assert_int_equal(weft_cci_mctp_type(WEFT_CCI_SET_DRT), WEFT_CCI_MCTP_FM_API);
	n = weft_cci_mctp_put_packet(b, sizeof(b), &h, msg, sizeof(msg), 64, 0);
	assert_int_equal(n, 0x19);
	assert_int_equal(weft_cci_serial_put(frame, sizeof(frame), b, (size_t)n), sizeof(want));
	assert_memory_equal(frame, want, sizeof(want));
	for (unsigned int i = 0; i < sizeof(want); i++)
		assert_int_equal(weft_cci_serial_rx(&rx, want[i]), i + 1 == sizeof(want) ? n : 0);
	assert_memory_equal(rx.packet, b, (size_t)n);
}

WEFT_TEST(vector_check_sequence)
{
	assert_int_equal(weft_cci_serial_fcs(0xFFFF, (const uint8_t *)"123456789", 9), 0x6F91);
}

WEFT_TEST(vector_largest_payload_is_17_packets)
{
	assert_int_equal(weft_cci_mctp_packets(WEFT_CCI_MCTP_MESSAGE_MAX, 64), 17);
	assert_int_equal(
		weft_cci_mctp_packets(WEFT_CCI_MCTP_MESSAGE_MAX, WEFT_CCI_MCTP_MTU_FABRIC), 1);
}

WEFT_TEST(types_of_commands)
{
	for (unsigned int op = 0; op <= UINT16_MAX; op++)
		assert_int_equal(weft_cci_mctp_type((uint16_t)op),
			op >> 8 >= 0x51 && op >> 8 <= 0x59 ? 7 : 8);
	for (unsigned int type = 0; type <= UINT8_MAX; type++)
		assert_int_equal(weft_cci_mctp_is_cci((uint8_t)type), type == 7 || type == 8);
}

WEFT_TEST(answers_go_back)
{
	const struct weft_cci_mctp_hdr h = { 9, 8, true, true, 3, true, 5 };
	const struct weft_cci_mctp_hdr a = weft_cci_mctp_answer(&h);

	assert_int_equal(a.dest, 8);
	assert_int_equal(a.src, 9);
	assert_int_equal(a.tag, 5);
	assert_false(a.is_owner);
}

WEFT_TEST(messages_of_all_lengths_come_back)
{
	static uint8_t msg[WEFT_CCI_MCTP_MESSAGE_MAX], b[PACKET_MAX];
	static struct weft_cci_mctp_rx rx;
	static const size_t mtus[] = { 1, 2, 63, 64, 65, 1036, 1037, 1152 };
	struct weft_rand r;

	weft_test_seed(&r, "all_lengths");
	fill(&r, msg, sizeof(msg));
	for (unsigned int m = 0; m < WEFT_ARRAY_SIZE(mtus); m++)
		for (size_t len = 1; len <= sizeof(msg); len += len < 200 || len > 1000 ? 1 : 37) {
			const unsigned int n = weft_cci_mctp_packets(len, mtus[m]);

			for (unsigned int i = 0; i < n; i++) {
				const int part = weft_cci_mctp_put_packet(
					b, PACKET_MAX, &from_fm, msg, len, mtus[m], i);

				assert_in_range(part, WEFT_CCI_MCTP_HDR + 1, PACKET_MAX);
				assert_int_equal(weft_cci_mctp_put_packet(b, (size_t)part - 1,
							 &from_fm, msg, len, mtus[m], i),
					-ENOBUFS);
				assert_int_equal(
					weft_cci_mctp_rx(&rx, b, (size_t)part), i + 1 == n);
			}
			assert_int_equal(rx.len, len);
			assert_memory_equal(rx.message, msg, len);
			assert_int_equal(weft_cci_mctp_put_packet(
						 b, PACKET_MAX, &from_fm, msg, len, mtus[m], n),
				-ERANGE);
		}
}

WEFT_TEST(too_long_a_message_is_refused)
{
	static uint8_t msg[WEFT_CCI_MCTP_MESSAGE_MAX + 1], b[PACKET_MAX];
	static struct weft_cci_mctp_rx rx;
	const unsigned int n = weft_cci_mctp_packets(sizeof(msg), 64);

	for (unsigned int i = 0; i < n; i++) {
		const int part =
			weft_cci_mctp_put_packet(b, sizeof(b), &from_fm, msg, sizeof(msg), 64, i);

		assert_int_equal(
			weft_cci_mctp_rx(&rx, b, (size_t)part), i + 1 == n ? -EMSGSIZE : 0);
	}
	assert_false(rx.is_open);
}

WEFT_TEST(what_does_not_follow_is_refused)
{
	static const uint8_t first[] = { 1, 9, 8, 0x88, 8, 2, 3, 4 };
	static const uint8_t next[] = { 1, 9, 8, 0x58, 5, 6, 7, 8 };
	static const uint8_t skipped[] = { 1, 9, 8, 0x68, 5, 6, 7, 8 };
	static const uint8_t longer[] = { 1, 9, 8, 0x58, 5, 6, 7, 8, 9 };
	static const uint8_t shorter[] = { 1, 9, 8, 0x18, 5, 6, 7 };
	static const uint8_t foreign[] = { 1, 9, 7, 0x58, 5, 6, 7, 8 };
	static const uint8_t checked[] = { 1, 9, 8, 0xC8, 0x88, 2, 3, 4 };
	static const uint8_t version[] = { 2, 9, 8, 0xC8, 8, 2, 3, 4 };
	static struct weft_cci_mctp_rx rx;

#define TAKE(packet) weft_cci_mctp_rx(&rx, packet, sizeof(packet))
	assert_int_equal(TAKE(next), -EPROTO);
	assert_int_equal(TAKE(first), 0);
	assert_int_equal(TAKE(skipped), -EPROTO);
	assert_int_equal(TAKE(next), -EPROTO);
	assert_int_equal(TAKE(first), 0);
	assert_int_equal(TAKE(longer), -EMSGSIZE);
	assert_int_equal(TAKE(next), -EPROTO);
	assert_int_equal(TAKE(first), 0);
	assert_int_equal(TAKE(shorter), -EMSGSIZE);
	assert_int_equal(TAKE(first), 0);
	assert_int_equal(TAKE(foreign), -EPROTO);
	assert_int_equal(TAKE(next), 1); /* the foreign one has ended nothing */
	assert_int_equal(rx.len, 8);
	assert_int_equal(TAKE(next), -EPROTO); /* twice */
	assert_int_equal(TAKE(first), 0);
	assert_int_equal(TAKE(first), 0); /* the sender has begun again */
	assert_int_equal(TAKE(next), 1);
	assert_int_equal(TAKE(checked), -EINVAL);
	assert_int_equal(TAKE(version), -EINVAL);
	assert_int_equal(weft_cci_mctp_rx(&rx, first, 3), -EMSGSIZE);
	assert_int_equal(weft_cci_mctp_rx(&rx, first, 4), -EMSGSIZE);
	assert_false(rx.is_open);
#undef TAKE
}

WEFT_TEST(serial_packets_come_back_among_noise)
{
	uint8_t packet[WEFT_CCI_SERIAL_PACKET_MAX], frame[WEFT_CCI_SERIAL_FRAME_MAX];
	struct weft_cci_serial_rx rx = { 0 };
	struct weft_rand r;

	weft_test_seed(&r, "serial");
	for (unsigned int turn = 0; turn < 3000; turn++) {
		const size_t len = 1 + weft_rand_below(&r, sizeof(packet));
		int n, got = 0;

		for (size_t i = 0; i < len; i++)
			packet[i] = weft_rand_below(&r, 3) == 0
			                    ? 0x7D + (uint8_t)weft_rand_below(&r, 2)
			                    : (uint8_t)weft_rand_u64(&r);
		n = weft_cci_serial_put(frame, sizeof(frame), packet, len);
		assert_in_range(n, len + 6, 2 * len + 6);
		assert_int_equal(weft_cci_serial_put(frame, (size_t)n - 1, packet, len), -ENOBUFS);
		for (uint64_t noise = weft_rand_below(&r, 4); noise > 0; noise--)
			assert_true(weft_cci_serial_rx(&rx, 0x55) <= 0);
		for (int i = 0; i < n; i++) {
			got = weft_cci_serial_rx(&rx, frame[i]);
			assert_int_equal(got, i + 1 < n ? 0 : (int)len);
		}
		assert_memory_equal(rx.packet, packet, len);
	}
	assert_int_equal(weft_cci_serial_put(frame, sizeof(frame), packet, 0), -EMSGSIZE);
	assert_int_equal(
		weft_cci_serial_put(frame, sizeof(frame), packet, sizeof(packet) + 1), -EMSGSIZE);
}

/* Every bit of a frame inverted, one at a time: no packet, and the next frame is taken. */
WEFT_TEST(damaged_frames_are_refused_and_the_next_one_taken)
{
	uint8_t packet[40], frame[WEFT_CCI_SERIAL_FRAME_MAX];
	struct weft_cci_serial_rx rx = { 0 };
	struct weft_rand r;
	int n, got;

	weft_test_seed(&r, "damaged");
	weft_rand_fill(&r, packet, sizeof(packet));
	packet[7] = 0x7E;
	n = weft_cci_serial_put(frame, sizeof(frame), packet, sizeof(packet));
	for (int bit = 0; bit < 8 * n; bit++) {
		frame[bit / 8] ^= (uint8_t)(1 << bit % 8);
		for (int i = 0; i < n; i++)
			assert_true(weft_cci_serial_rx(&rx, frame[i]) <= 0);
		frame[bit / 8] ^= (uint8_t)(1 << bit % 8);
		/* A frame whose length grew eats of the next ones. */
		got = 0;
		for (unsigned int turn = 0; turn < 3 && got <= 0; turn++)
			for (int i = 0; i < n && got <= 0; i++)
				got = weft_cci_serial_rx(&rx, frame[i]);
		assert_int_equal(got, sizeof(packet));
		assert_memory_equal(rx.packet, packet, sizeof(packet));
	}
}
