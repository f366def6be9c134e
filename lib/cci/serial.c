/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* MCTP packets on a serial line (fabric.md 4.2). */

#include <errno.h>

#include "weft_cci_mctp.h"

#define SERIAL_FLAG 0x7E
#define SERIAL_ESCAPE 0x7D
#define SERIAL_REVISION 0x01

enum serial_state {
	SERIAL_SKIP, /* until a flag */
	SERIAL_REV, /* a flag was there; another one changes nothing */
	SERIAL_LEN,
	SERIAL_DATA,
	SERIAL_FCS_HIGH,
	SERIAL_FCS_LOW,
	SERIAL_END,
};

uint16_t
weft_cci_serial_fcs(uint16_t fcs, const uint8_t *b, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		fcs ^= b[i];
		for (unsigned int k = 0; k < 8; k++)
			fcs = (uint16_t)(fcs >> 1 ^ (fcs & 1 ? 0x8408 : 0));
	}
	return fcs;
}

static uint16_t
serial_fcs_of(const uint8_t *packet, uint8_t len)
{
	const uint8_t front[2] = { SERIAL_REVISION, len };

	return weft_cci_serial_fcs(weft_cci_serial_fcs(0xFFFF, front, sizeof(front)), packet, len);
}

int
weft_cci_serial_put(uint8_t *b, size_t room, const uint8_t *packet, size_t len)
{
	size_t n = 3, escapes = 0;

	if (len == 0 || len > WEFT_CCI_SERIAL_PACKET_MAX)
		return -EMSGSIZE;
	for (size_t i = 0; i < len; i++)
		escapes += packet[i] == SERIAL_FLAG || packet[i] == SERIAL_ESCAPE;
	if (room < len + escapes + 6)
		return -ENOBUFS;
	b[0] = SERIAL_FLAG;
	b[1] = SERIAL_REVISION;
	b[2] = (uint8_t)len;
	for (size_t i = 0; i < len; i++) {
		if (packet[i] == SERIAL_FLAG || packet[i] == SERIAL_ESCAPE) {
			b[n++] = SERIAL_ESCAPE;
			b[n++] = packet[i] ^ 0x20;
		} else {
			b[n++] = packet[i];
		}
	}
	weft_put_be16(b + n, serial_fcs_of(packet, (uint8_t)len));
	b[n + 2] = SERIAL_FLAG;
	return (int)(n + 3);
}

/* The frame is none; the byte that says so may begin the next. */
static int
serial_refuse(struct weft_cci_serial_rx *rx, uint8_t byte)
{
	rx->state = byte == SERIAL_FLAG ? SERIAL_REV : SERIAL_SKIP;
	return -EBADMSG;
}

static int
serial_data(struct weft_cci_serial_rx *rx, uint8_t byte)
{
	if (byte == SERIAL_FLAG)
		return serial_refuse(rx, byte);
	if (!rx->is_escaped && byte == SERIAL_ESCAPE) {
		rx->is_escaped = true;
		return 0;
	}
	if (rx->is_escaped) {
		byte ^= 0x20;
		if (byte != SERIAL_FLAG && byte != SERIAL_ESCAPE)
			return serial_refuse(rx, byte ^ 0x20);
	}
	rx->is_escaped = false;
	rx->packet[rx->len++] = byte;
	if (rx->len == rx->want)
		rx->state = SERIAL_FCS_HIGH;
	return 0;
}

int
weft_cci_serial_rx(struct weft_cci_serial_rx *rx, uint8_t byte)
{
	switch (rx->state) {
	case SERIAL_SKIP: rx->state = byte == SERIAL_FLAG ? SERIAL_REV : SERIAL_SKIP; return 0;
	case SERIAL_REV:
		if (byte == SERIAL_FLAG)
			return 0;
		if (byte != SERIAL_REVISION)
			return serial_refuse(rx, byte);
		rx->state = SERIAL_LEN;
		return 0;
	case SERIAL_LEN:
		if (byte == 0 || byte > WEFT_CCI_SERIAL_PACKET_MAX)
			return serial_refuse(rx, byte);
		rx->want = byte;
		rx->len = 0;
		rx->is_escaped = false;
		rx->state = SERIAL_DATA;
		return 0;
	case SERIAL_DATA: return serial_data(rx, byte);
	case SERIAL_FCS_HIGH:
		rx->fcs = (uint16_t)(byte << 8);
		rx->state = SERIAL_FCS_LOW;
		return 0;
	case SERIAL_FCS_LOW:
		rx->fcs |= byte;
		rx->state = SERIAL_END;
		return 0;
	default:
		if (byte != SERIAL_FLAG || rx->fcs != serial_fcs_of(rx->packet, rx->want))
			return serial_refuse(rx, byte);
		rx->state = SERIAL_REV;
		return rx->want;
	}
}
