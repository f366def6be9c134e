/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Fields of UIO packets: see weft_uio.h. */

#include "weft_uio.h"

#include <errno.h>

#define DW 4
#define REQUEST_LEN 16
#define CPL_LEN 12
#define TAG_9 0x80 /* byte 1 */
#define TAG_8 0x08
#define TD 0x8000u /* bytes 2 and 3 */
#define EP 0x4000u
#define AT_SHIFT 10
#define AT_MASK 3u
#define AT_TRANSLATED 2u
#define LENGTH_MASK 0x3FFu
#define LOWER_MASK 0x7Fu
#define STATUS_SHIFT 13 /* bytes 6 and 7 of a completion */
#define COUNT_MASK 0xFFFu

/* All bytes of all DWs; of a single DW there is no last one. */
static uint8_t
uio_enables(uint16_t len)
{
	return len == DW ? 0x0F : 0xFF;
}

static bool
uio_has_data(uint8_t kind)
{
	return kind == WEFT_UIO_WRITE || kind == WEFT_UIO_CPLD;
}

static bool
uio_is_range(uint64_t addr, uint16_t len)
{
	return len != 0 && len <= WEFT_UIO_BYTES_MAX && len % DW == 0 && addr % DW == 0 &&
	       addr % WEFT_UIO_PAGE + len <= WEFT_UIO_PAGE;
}

static bool
uio_is_good_status(uint8_t status)
{
	return status == WEFT_UIO_SC || status == WEFT_UIO_UR || status == WEFT_UIO_CA;
}

static bool
uio_is_good(const struct weft_uio *u)
{
	if (u->tag >= WEFT_UIO_TAGS)
		return false;
	switch (u->kind) {
	case WEFT_UIO_READ:
	case WEFT_UIO_WRITE: return uio_is_range(u->addr, u->len);
	case WEFT_UIO_CPL:
		return uio_is_good_status(u->status) && u->left <= WEFT_UIO_BYTES_MAX &&
		       u->lower == 0;
	case WEFT_UIO_CPLD:
		return u->status == WEFT_UIO_SC && u->len != 0 && u->len % DW == 0 &&
		       u->len <= u->left && u->left <= WEFT_UIO_BYTES_MAX && u->lower % DW == 0 &&
		       u->lower <= LOWER_MASK;
	default: return false;
	}
}

int
weft_uio_encode(struct weft_io_tlp *t, const struct weft_uio *u)
{
	static const uint8_t types[] = { [WEFT_UIO_READ] = WEFT_IO_UIO_MRD,
		[WEFT_UIO_WRITE] = WEFT_IO_UIO_MWR,
		[WEFT_UIO_CPL] = WEFT_IO_UIO_CPL,
		[WEFT_UIO_CPLD] = WEFT_IO_UIO_CPLD };
	const bool request = u->kind <= WEFT_UIO_WRITE;
	uint8_t *h = t->tlp;

	if (!uio_is_good(u))
		return -EINVAL;
	memset(t, 0, offsetof(struct weft_io_tlp, tlp) + REQUEST_LEN);
	t->len = request ? REQUEST_LEN : CPL_LEN;
	h[0] = types[u->kind];
	h[1] = (uint8_t)((u->tag >> 9 & 1 ? TAG_9 : 0) | (u->tag >> 8 & 1 ? TAG_8 : 0));
	weft_put_be16(
		h + 2, (uint16_t)((uio_has_data(u->kind) && u->poison ? EP : 0) | u->len / DW));
	if (request) {
		weft_put_be16(h + 4, u->requester);
		h[6] = (uint8_t)u->tag;
		h[7] = uio_enables(u->len);
		weft_put_be64(h + 8, u->addr);
	} else {
		weft_put_be16(h + 4, u->completer);
		weft_put_be16(h + 6, (uint16_t)(u->status << STATUS_SHIFT | u->left));
		weft_put_be16(h + 8, u->requester);
		h[10] = (uint8_t)u->tag;
		h[11] = u->lower;
	}
	if (uio_has_data(u->kind)) {
		memcpy(h + t->len, u->data, u->len);
		t->len = (uint16_t)(t->len + u->len);
	}
	return 0;
}

static int
uio_kind_of(uint8_t byte0)
{
	switch (byte0) {
	case WEFT_IO_UIO_MRD: return WEFT_UIO_READ;
	case WEFT_IO_UIO_MWR: return WEFT_UIO_WRITE;
	case WEFT_IO_UIO_CPL: return WEFT_UIO_CPL;
	case WEFT_IO_UIO_CPLD: return WEFT_UIO_CPLD;
	default: return -ENOENT;
	}
}

static bool
uio_decode_request(const uint8_t *h, unsigned int flags, struct weft_uio *u)
{
	const unsigned int at = flags >> AT_SHIFT & AT_MASK;

	u->len = (uint16_t)((flags & LENGTH_MASK) * DW);
	u->requester = weft_get_be16(h + 4);
	u->tag = (uint16_t)(u->tag | h[6]);
	u->addr = weft_get_be64(h + 8) & ~(uint64_t)(DW - 1);
	u->data = u->kind == WEFT_UIO_WRITE ? h + REQUEST_LEN : NULL;
	return (at == 0 || at == AT_TRANSLATED) && h[7] == uio_enables(u->len);
}

static void
uio_decode_completion(const uint8_t *h, unsigned int flags, struct weft_uio *u)
{
	const unsigned int status = weft_get_be16(h + 6);

	u->completer = weft_get_be16(h + 4);
	u->status = (uint8_t)(status >> STATUS_SHIFT);
	u->left = status & COUNT_MASK;
	u->requester = weft_get_be16(h + 8);
	u->tag = (uint16_t)(u->tag | h[10]);
	if (u->kind == WEFT_UIO_CPLD) {
		u->lower = h[11] & LOWER_MASK;
		u->len = (uint16_t)((flags & LENGTH_MASK) * DW);
		u->data = h + CPL_LEN;
	}
}

int
weft_uio_decode(const struct weft_io_tlp *t, struct weft_uio *u)
{
	const uint8_t *h = t->tlp;
	const int kind = t->len == 0 ? -ENOENT : uio_kind_of(h[0]);
	unsigned int flags;

	if (kind < 0)
		return kind;
	/* From here on the header is whole, and the data is as long as it says. */
	if (t->len > WEFT_IO_TLP_MAX || weft_io_tlp_len(h, t->len) != t->len)
		return -EINVAL;
	flags = weft_get_be16(h + 2);
	*u = (struct weft_uio){ .kind = (uint8_t)kind };
	u->poison = uio_has_data(u->kind) && (flags & EP) != 0;
	u->tag = (uint16_t)((h[1] & TAG_9 ? 1u << 9 : 0) | (h[1] & TAG_8 ? 1u << 8 : 0));
	if ((flags & TD) != 0)
		return -EINVAL;
	if (kind > WEFT_UIO_WRITE)
		uio_decode_completion(h, flags, u);
	else if (!uio_decode_request(h, flags, u))
		return -EINVAL;
	return uio_is_good(u) ? 0 : -EINVAL;
}

int
weft_uio_refuse(const struct weft_io_tlp *req, enum weft_uio_cpl status, uint16_t completer,
	struct weft_io_tlp *cpl)
{
	struct weft_uio u;

	if (weft_uio_decode(req, &u) != 0 || u.kind > WEFT_UIO_WRITE)
		return -EINVAL;
	return weft_uio_encode(cpl, &(struct weft_uio){
					    .kind = WEFT_UIO_CPL,
					    .status = (uint8_t)status,
					    .requester = u.requester,
					    .tag = u.tag,
					    .completer = completer,
					    .left = u.kind == WEFT_UIO_READ ? u.len : 0,
				    });
}
