/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Two ends of a session for tests, with times in units that read well: HELLO every 100. */
#ifndef SESSION_RIG_H
#define SESSION_RIG_H

#include "weft_test.h"

#include "weft_session.h"

enum {
	HELLO = 100,
	KEEPALIVE = 25,
	SILENCE = 100,
	DEAD = 1000,
	ASKS = 0, /* the two ends, by number */
	ANSWERS = 1,
	ENDS = 2,
};

static inline struct weft_session_cfg
session_cfg(unsigned int end)
{
	return (struct weft_session_cfg){
		.asks = end == ASKS,
		.hello_ns = HELLO,
		.keepalive_ns = KEEPALIVE,
		.silence_ns = SILENCE,
		.dead_ns = DEAD,
		.pad_flits = 8,
		.params = { .version = WEFT_WIRE_VERSION,
			.mode = WEFT_MODE_RXL,
			.max_flits = 8,
			.port = (uint16_t)(40 + end),
			.credits = 7,
			.node = { 'e', 'n', 'd', (uint8_t)('0' + end) } },
	};
}

#endif /* SESSION_RIG_H */
