/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* CDAT (fabric.md 5.1): length, checksum, the way from structure to structure. */

#include "weft_cci_cdat.h"

#include <errno.h>

#include "weft_cci_payload.h"

#define CDAT_CHECKSUM 5 /* its place in the header */
#define CDAT_STRUCT 4 /* type, reserved, length */

static uint8_t
cdat_sum(const uint8_t *b, size_t len)
{
	uint8_t sum = 0;

	for (size_t i = 0; i < len; i++)
		sum = (uint8_t)(sum + b[i]);
	return sum;
}

void
weft_cci_cdat_finish(uint8_t *b, uint32_t len, uint32_t sequence)
{
	const struct weft_cci_cdat_header h = {
		.length = len, .revision = WEFT_CCI_CDAT_REVISION, .sequence = sequence
	};

	weft_cci_put_cdat_header(b, 0, &h);
	b[CDAT_CHECKSUM] = (uint8_t)-cdat_sum(b, len);
}

/* A structure of a known type has its length; of others nothing is known. */
static bool
cdat_is_length(uint8_t type, size_t len)
{
	static const uint8_t lengths[] = { WEFT_CCI_DSMAS_LEN, WEFT_CCI_DSLBIS_LEN,
		WEFT_CCI_DSMSCIS_LEN, WEFT_CCI_DSIS_LEN, WEFT_CCI_DSEMTS_LEN };

	if (type < WEFT_ARRAY_SIZE(lengths))
		return len == lengths[type];
	if (type == WEFT_CCI_SSLBIS)
		return len >= WEFT_CCI_SSLBIS_LEN &&
		       (len - WEFT_CCI_SSLBIS_LEN) % WEFT_CCI_SSLBIS_PORT_LEN == 0;
	return true;
}

int
weft_cci_cdat_check(const uint8_t *b, size_t len)
{
	struct weft_cci_cdat_header h;

	if (len < WEFT_CCI_CDAT_HEADER_LEN)
		return -EMSGSIZE;
	weft_cci_get_cdat_header(b, 0, &h);
	if (h.length != len)
		return -EMSGSIZE;
	if (cdat_sum(b, len) != 0)
		return -EBADMSG;
	for (size_t at = WEFT_CCI_CDAT_HEADER_LEN, n; at < len; at += n) {
		if (len - at < CDAT_STRUCT)
			return -EINVAL;
		n = weft_get_le16(b + at + 2);
		if (n < CDAT_STRUCT || n > len - at || !cdat_is_length(b[at], n))
			return -EINVAL;
	}
	return 0;
}

const uint8_t *
weft_cci_cdat_next(const uint8_t *b, size_t len, const uint8_t *prev)
{
	const uint8_t *next =
		prev == NULL ? b + WEFT_CCI_CDAT_HEADER_LEN : prev + weft_get_le16(prev + 2);

	return next < b + len ? next : NULL;
}
