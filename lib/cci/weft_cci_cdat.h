/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * CDAT: what a component says of its memory and of the way through it, read by 0702h (fabric.md
 * 5.1). A header, then structures, each of a type and length; the bytes of all add up to 0. The
 * structures are entries of weft_cci_payload.h (dsmas, dslbis, dsmscis, dsis, dsemts, sslbis).
 * Pure, any thread.
 */
#ifndef WEFT_CCI_CDAT_H
#define WEFT_CCI_CDAT_H

#include "weft_base.h"

WEFT_BEGIN_DECLS

#define WEFT_CCI_CDAT_REVISION 1

enum weft_cci_cdat_type {
	WEFT_CCI_DSMAS, /**< memory range */
	WEFT_CCI_DSLBIS, /**< latency and bandwidth of a device */
	WEFT_CCI_DSMSCIS, /**< memory-side cache */
	WEFT_CCI_DSIS, /**< initiator */
	WEFT_CCI_DSEMTS, /**< EFI memory type */
	WEFT_CCI_SSLBIS, /**< latency and bandwidth of a switch; sslbis_port rows follow it */
};

/** What a value of DSLBIS and SSLBIS is: in ps and MB/s, times the base unit. */
enum weft_cci_hmat {
	WEFT_CCI_HMAT_LATENCY,
	WEFT_CCI_HMAT_READ_LATENCY,
	WEFT_CCI_HMAT_WRITE_LATENCY,
	WEFT_CCI_HMAT_BANDWIDTH,
	WEFT_CCI_HMAT_READ_BANDWIDTH,
	WEFT_CCI_HMAT_WRITE_BANDWIDTH,
};

#define WEFT_CCI_CDAT_USP 0x100 /**< a port of SSLBIS: the upstream one */
#define WEFT_CCI_CDAT_ANY 0xFFFF /**< any */

/**
 * Write the header of a table of @p len bytes in all, whose structures are there behind it. @p
 * len is at least WEFT_CCI_CDAT_HEADER_LEN. The structures must be right: weft_cci_cdat_check()
 * tells.
 */
void weft_cci_cdat_finish(uint8_t *b, uint32_t len, uint32_t sequence);

/**
 * Check a whole table.
 * @return 0; -EMSGSIZE: the header is not whole, or says another length; -EBADMSG: checksum;
 * -EINVAL: a structure reaches past the end, or a known one has another length than its type
 */
int weft_cci_cdat_check(const uint8_t *b, size_t len);

/**
 * The structure that follows @p prev, the first one for NULL, in a table that was checked. Its
 * first byte is the type. @return NULL: there is none
 */
const uint8_t *weft_cci_cdat_next(const uint8_t *b, size_t len, const uint8_t *prev);

WEFT_END_DECLS

#endif /* WEFT_CCI_CDAT_H */
