/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Component Command Interface: the messages by which a fabric manager and hosts command switches
 * and GFDs (fabric.md 4.1). A message is a header of 12 bytes and a payload; what payloads hold
 * is in weft_cci_payload.h. Pure functions, any thread.
 *
 *   0 category [3:0]  1 tag  2 r  3 opcode (2)  5 length, 21 bits  7 [7] background running
 *   8 return code (2)  A vendor's extended status (2)
 */
#ifndef WEFT_CCI_H
#define WEFT_CCI_H

#include "weft_base.h"

#include "weft_cci_opcodes.h"

WEFT_BEGIN_DECLS

#define WEFT_CCI_HDR 12 /**< bytes of a header */
#define WEFT_CCI_MAX_PAYLOAD 1024 /**< bytes behind it: 2^10, the most of 0003h and 0004h */

/** Header of a message; what a request does not have is 0. */
struct weft_cci_hdr {
	bool is_response;
	bool is_background; /**< of a response: a background operation runs on this interface */
	uint8_t tag; /**< chosen by the requester, the same in the response */
	uint16_t opcode; /**< enum weft_cci_opcode, or one that we do not know */
	uint32_t len; /**< bytes of payload, less than 2^21 */
	uint16_t rc; /**< enum weft_cci_rc, of a response */
	uint16_t ext; /**< requests may hold anything here (4.8) */
};

/** Return codes. */
enum weft_cci_rc {
#define X(name, text) WEFT_CCI_##name,
#include "rc.def"
#undef X
	WEFT_CCI_RC_END
};

/** Write the header @p h, of whose length the low 21 bits count. */
void weft_cci_put_hdr(uint8_t b[WEFT_CCI_HDR], const struct weft_cci_hdr *h);

/**
 * Read the header of a message of @p len bytes in all.
 * @return 0; -EMSGSIZE: it is no whole header; -EINVAL: neither request nor response; -EBADMSG: the
 * payload is not as long as the header says, and @p h is filled all the same, for a response with
 * Invalid Payload Length. After another error @p h is as it was
 */
int weft_cci_get_hdr(struct weft_cci_hdr *h, const uint8_t *b, size_t len);

/** Text of a return code, "unknown return code" of one that there is not. */
const char *weft_cci_rc_name(uint16_t rc);

/** Name of a command as in the specification, "unknown command" if its opcode is none of ours. */
const char *weft_cci_opcode_name(uint16_t opcode);

WEFT_END_DECLS

#endif /* WEFT_CCI_H */
