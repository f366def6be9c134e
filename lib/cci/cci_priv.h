/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* What the codecs of payloads share: lengths and lists. */
#ifndef CCI_PRIV_H
#define CCI_PRIV_H

#include "weft_base.h"

/* A message's length has 21 bits. */
#define CCI_LEN_MAX ((1u << 21) - 1)

/* These bytes are so many elements of this size. */
static inline bool
cci_is_list(size_t len, uint64_t n, size_t size)
{
	return len % size == 0 && len / size == n;
}

/* The fixed bytes and so many elements of this size find room, and a message may be that long. */
static inline bool
cci_fits(size_t room, size_t fixed, uint64_t n, size_t size)
{
	if (room > CCI_LEN_MAX)
		room = CCI_LEN_MAX;
	return room >= fixed && n <= (room - fixed) / size;
}

/* Elements, which may be in their place already. */
static inline void
cci_put_list(uint8_t *b, const uint8_t *list, size_t len)
{
	if (len != 0)
		memmove(b, list, len);
}

#endif /* CCI_PRIV_H */
