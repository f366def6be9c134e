/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Credit return, the CRD bytes of a flit (wire-formats.md section 4.5), and the account a sender
 * keeps of it. Each of the three fields returns 1, 4, 8, 12 or 16 credits of one class.
 */
#ifndef WEFT_CREDIT_H
#define WEFT_CREDIT_H

#include "weft_base.h"

WEFT_BEGIN_DECLS

/** Classes of one direction: request-like, data, response-like; each has its CRD field. */
enum weft_credit_class { WEFT_CREDIT_REQ, WEFT_CREDIT_DATA, WEFT_CREDIT_RSP, WEFT_CREDIT_CLASSES };

/** Which protocol and direction's messages the credits are for. */
enum weft_credit_set {
	WEFT_CREDIT_CACHE_DN, /**< H2D Req, H2D Data, H2D Rsp */
	WEFT_CREDIT_CACHE_UP, /**< D2H Req, D2H Data, D2H Rsp */
	WEFT_CREDIT_MEM_DN, /**< M2S Req, M2S RwD, M2S BIRsp */
	WEFT_CREDIT_MEM_UP, /**< S2M BISnp, S2M DRS, S2M NDR */
	WEFT_CREDIT_SETS
};

/**
 * CRD value that returns as much of @p owed as one flit can, taken off @p owed.
 *
 * @param owed  credits to return per class; reduced by what the result carries
 */
uint16_t weft_credit_encode(enum weft_credit_set set, uint32_t owed[WEFT_CREDIT_CLASSES]);

/**
 * Credits that a CRD value returns, added to @p got[set][class].
 *
 * @return false if a field holds a reserved code (that field returns nothing)
 */
bool weft_credit_decode(uint16_t crd, uint32_t got[WEFT_CREDIT_SETS][WEFT_CREDIT_CLASSES]);

WEFT_END_DECLS

#endif /* WEFT_CREDIT_H */
