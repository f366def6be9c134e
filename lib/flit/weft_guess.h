/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What a flit may be about, by a look at each slot alone. Data may look like a header, so this is
 * good for prefetching and for nothing else: weft_unpack_flit() says what is there.
 */
#ifndef WEFT_GUESS_H
#define WEFT_GUESS_H

#include "weft_base.h"
#include "weft_flit.h"

WEFT_BEGIN_DECLS

#define WEFT_GUESS_REQUESTS WEFT_FLIT_SLOTS /**< most of a flit */

/**
 * Addresses of what looks like M2S Req or RwD, of any form.
 *
 * @param flit  256 bytes
 * @param addr  receives Addr[51:6] << 6 of each, in order of their slots; what is behind is garbage
 * @return how many
 */
unsigned int weft_guess_requests(const uint8_t *flit, uint64_t addr[WEFT_GUESS_REQUESTS]);

WEFT_END_DECLS

#endif /* WEFT_GUESS_H */
