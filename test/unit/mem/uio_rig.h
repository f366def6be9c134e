/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Packets of UIO for tests. */
#ifndef UIO_RIG_H
#define UIO_RIG_H

#include "weft_test.h"

#include "weft_uio.h"

/** Fill a packet's header by hand; the rest of @p t is 0. */
static inline void
uio_rig_bytes(struct weft_io_tlp *t, const char *hex)
{
	memset(t, 0, sizeof(*t));
	t->len = (uint16_t)weft_test_unhex(hex, t->tlp, sizeof(t->tlp));
}

/** Memory for an object, all of its bytes set. */
static inline void *
uio_rig_mem(size_t len)
{
	void *mem = aligned_alloc(64, (len + 63) & ~(size_t)63);

	assert_non_null(mem);
	assert_true(len != 0);
	memset(mem, 0xA5, len);
	return mem;
}

#endif /* UIO_RIG_H */
