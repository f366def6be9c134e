/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* How rows of responders end, of switches and GFDs alike. */
#ifndef CCI_ROW_H
#define CCI_ROW_H

#include "weft_base.h"
#include "weft_cci.h"
#include "weft_cci_payload.h"

/* End a row with what the codec of its response said. */
static inline uint16_t
cci_row_sent(int rc, size_t *rsp_len)
{
	if (rc < 0)
		return WEFT_CCI_INVALID_INPUT; /* more was asked for than fits */
	*rsp_len = (size_t)rc;
	return WEFT_CCI_SUCCESS;
}

/* Entries of a list that has @p n from here on: those wanted that fit @p room bytes. */
static inline unsigned int
cci_row_fit(size_t n, size_t wanted, size_t room, size_t head, size_t each)
{
	const size_t fit = room < head ? 0 : (room - head) / each;

	n = n < wanted ? n : wanted;
	return (unsigned int)(n < fit ? n : fit);
}

/* End Read CDAT (0702h) with the part of @p cdat, of @p len bytes, that was asked for. */
static inline uint16_t
cci_row_send_cdat(const struct weft_cci_read_cdat_req *in, const uint8_t *cdat, size_t len,
	uint8_t *rsp, size_t *rsp_len)
{
	struct weft_cci_read_cdat_rsp out = { .total = len };

	if (in->start > len)
		return WEFT_CCI_INVALID_INPUT;
	out.n = cci_row_fit(len - in->start, in->n, *rsp_len, WEFT_CCI_READ_CDAT_RSP_LEN, 1);
	out.data = cdat + in->start;
	return cci_row_sent(weft_cci_put_read_cdat_rsp(rsp, *rsp_len, &out), rsp_len);
}

#endif /* CCI_ROW_H */
