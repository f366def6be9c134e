/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The few pcapng blocks a capture consists of. DPDK's own pcapng library wants an ethdev port
 * number with every packet, which a ring does not have.
 */
#ifndef WEFT_PCAPNG_PRIV_H
#define WEFT_PCAPNG_PRIV_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum pcapng_direction { PCAPNG_IN = 1, PCAPNG_OUT = 2 }; /* epb_flags, bits 1:0 */

/* Section header and one interface: Ethernet, nanoseconds. False if a write failed (errno). */
bool pcapng_begin(FILE *f, const char *interface, uint32_t snaplen);

/* One frame: @len captured bytes of @wire_len. */
bool pcapng_packet(FILE *f, uint64_t time_ns, enum pcapng_direction direction, const void *bytes,
	uint32_t len, uint32_t wire_len);

/* Bytes that pcapng_begin(), a frame of @len captured bytes, and pcapng_end() take. */
uint64_t pcapng_begin_len(const char *interface);
uint64_t pcapng_packet_len(uint32_t len);
uint64_t pcapng_end_len(void);

/* Interface statistics: what was seen and what of it is not in the file. */
bool pcapng_end(FILE *f, uint64_t time_ns, uint64_t seen, uint64_t dropped);

#endif /* WEFT_PCAPNG_PRIV_H */
