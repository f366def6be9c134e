/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Headers of CCI messages (fabric.md 4.1); names of commands and of return codes. */

#include "weft_cci.h"

#include <errno.h>

#include "cci_priv.h"
#include "weft_cci_layout.h"

#define CCI_CATEGORY 0x0F
#define CCI_BACKGROUND 0x80

void
weft_cci_put_hdr(uint8_t b[WEFT_CCI_HDR], const struct weft_cci_hdr *h)
{
	b[0] = h->is_response;
	b[1] = h->tag;
	b[2] = 0;
	weft_put_le16(b + 3, h->opcode);
	weft_put_le16(b + 5, (uint16_t)h->len);
	b[7] = (uint8_t)((h->len & CCI_LEN_MAX) >> 16 | (h->is_background ? CCI_BACKGROUND : 0));
	weft_put_le16(b + 8, h->rc);
	weft_put_le16(b + 10, h->ext);
}

int
weft_cci_get_hdr(struct weft_cci_hdr *h, const uint8_t *b, size_t len)
{
	if (len < WEFT_CCI_HDR)
		return -EMSGSIZE;
	if ((b[0] & CCI_CATEGORY) > 1)
		return -EINVAL;
	*h = (struct weft_cci_hdr){ .is_response = (b[0] & CCI_CATEGORY) == 1,
		.is_background = (b[7] & CCI_BACKGROUND) != 0,
		.tag = b[1],
		.opcode = weft_get_le16(b + 3),
		.len = (weft_get_le16(b + 5) | (uint32_t)b[7] << 16) & CCI_LEN_MAX,
		.rc = weft_get_le16(b + 8),
		.ext = weft_get_le16(b + 10) };
	return h->len == len - WEFT_CCI_HDR ? 0 : -EBADMSG;
}

const char *
weft_cci_rc_name(uint16_t rc)
{
	static const char *const names[] = {
#define X(name, text) [WEFT_CCI_##name] = text,
#include "rc.def"
#undef X
	};

	return rc < WEFT_ARRAY_SIZE(names) ? names[rc] : "unknown return code";
}

const struct weft_cci_command_layout *
weft_cci_find_command(uint16_t opcode)
{
	unsigned int low = 0, high = weft_cci_n_commands;

	while (low < high) {
		const unsigned int mid = (low + high) / 2;

		if (weft_cci_commands[mid].opcode == opcode)
			return &weft_cci_commands[mid];
		if (weft_cci_commands[mid].opcode < opcode)
			low = mid + 1;
		else
			high = mid;
	}
	return NULL;
}

const char *
weft_cci_opcode_name(uint16_t opcode)
{
	const struct weft_cci_command_layout *c = weft_cci_find_command(opcode);

	return c != NULL ? c->name : "unknown command";
}
