/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * --verify: what every line of a client's part must hold. A line is as the daemon's own traffic
 * writes it (weft_line_check.h): address, writer and how often it was written, and all bytes follow
 * from these. Of a block one write is open at most and no read beside it, so what a line holds is
 * known; where a write was lost it is the old or the new one, and for CHECK_QUARANTINE_NS the block
 * is read only, as that write may still arrive. One thread, but for check_say().
 */
#ifndef CHECK_H
#define CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sign;

#define CHECK_LINE 64
/* cxl mode: messages wait in switches while a link is down. */
#define CHECK_QUARANTINE_NS UINT64_C(60000000000)
#define CHECK_SAID_MAX 8 /* mismatches that are told one by one, of all clients */
#define CHECK_BYTES 8 /* of each */

/** A mismatch: the first bytes that are wrong, in a line. */
struct check_mismatch {
	uint64_t offset; /* in the region */
	uint8_t expected[CHECK_BYTES], got[CHECK_BYTES]; /* n_bytes each */
	uint8_t n_bytes;
	char why[96];
};

struct check_counts {
	uint64_t verified; /* lines read that held what they must */
	uint64_t mismatches; /* and that did not */
	uint64_t injected; /* --inject: errors written, */
	uint64_t found; /* and reads that found one */
};

struct check;

/**
 * @param writer  a number of its own for each client
 * @param base    of its part, in the region; a multiple of CHECK_LINE, as @p size is
 * @param size    bytes of a block
 * @return NULL: no memory
 */
struct check *check_make(
	uint64_t seed, uint32_t writer, uint64_t base, uint64_t size, uint64_t blocks);

/**
 * The same for blocks with signatures: what a block holds they say.
 *
 * @param sign    the check's from now on, also on NULL
 * @param inject  every so manieth write gets a wrong bit; 0: none
 */
struct check *check_make_signed(
	struct sign *sign, uint64_t base, uint64_t size, uint64_t blocks, uint64_t inject);

/** Lines that are filled or judged together: those of a block with signatures, else 1. */
uint64_t check_unit(const struct check *k);

void check_free(struct check *k);

/**
 * Choose a block that may be read or written now: @p block, or the next one that may.
 *
 * @param is_write  in and out: a block that may only be read yet is read
 * @return false: none may
 */
bool check_choose(struct check *k, uint64_t now_ns, uint64_t *block, bool *is_write);

/** A read of a block begins; or a write, whose data is put into @p data. */
void check_begin(struct check *k, uint64_t block, bool is_write, uint8_t *data);

/** A write ended; @p rc 0: it was done, else it is not known. */
void check_end_write(struct check *k, uint64_t block, int rc, uint64_t now_ns);

/** A read ended; @p rc 0: @p data came. */
void check_end_read(struct check *k, uint64_t block, int rc, const uint8_t *data);

/**
 * Fill lines, counted from the first of the part, that were never written, or put the same into
 * @p data once more.
 */
void check_fill(struct check *k, uint64_t line, uint64_t n, uint8_t *data);

/** Judge lines that were read while nothing else is open. */
void check_lines(struct check *k, uint64_t line, uint64_t n, const uint8_t *data);

const struct check_counts *check_counts(const struct check *k);

/** Mismatches that were told, of all: up to CHECK_SAID_MAX. Nobody checks meanwhile. */
unsigned int check_said(const struct check_mismatch **m);

/** Name of the region, for what is told. Before the first check. */
void check_name(const char *region);

#endif /* CHECK_H */
