/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * FEC and CRC of a flit in one go (wire-formats.md sections 2.1 and 2.2): both kernels take the
 * same eight flits one after the other, so that memory is read once and the CPU works on one while
 * the other waits. Flits come as a list of pointers: those of several small frames fill a group.
 *
 * Words of codes:
 *
 *   1. The CRC covers header, slots and CRD (242 bytes), the FEC these and the CRC (250 bytes). A
 *      sender makes the CRC first, a receiver checks the FEC first.
 *   2. Hops correct by FEC and pass the CRC on as it is: only the end of the retry domain judges
 *      it (weft_fec.h, weft_crc.h).
 *   3. A flit that is no codeword is corrected or uncorrectable. A corrected one may be
 *      miscorrected: the CRC tells.
 *   4. A syndrome is what the CRC of the bytes and the CRC field differ by: 0 for an intact flit.
 *   5. In rxl mode the ids of the connection and the number of the flit enter the CRC and are not
 *      sent, so that the syndrome tells how many flits are missing (weft_isn.h).
 *   6. Data CRCs (weft_data_crc.h) and CRC-64 have no part in flits: they check headers of frames,
 *      link control, plaintext of epochs (PCRC) and blocks with signatures.
 */
#ifndef WEFT_CODEC_H
#define WEFT_CODEC_H

#include "weft_base.h"
#include "weft_crc.h"
#include "weft_fec.h"

WEFT_BEGIN_DECLS

#define WEFT_CODEC_MAX 64 /**< flits of one call */

/** The kernels to work with; a function needs those that it has work for. */
struct weft_codec {
	const struct weft_fec_kernel *fec;
	const struct weft_crc_kernel *crc;
};

/**
 * Receiver: check @p n (0..WEFT_CODEC_MAX) flits. Nothing is corrected or written to them.
 *
 * @param flit      pointers to 256 bytes each
 * @param order     of the CRC field, the same for all
 * @param syndrome  receives a word a flit: the remainder of its bytes 0..241 XORed with its CRC
 *                  field, for weft_isn_judge()
 * @return bit i set: flit i is not a FEC codeword
 */
uint64_t weft_codec_check(const struct weft_codec *c, const uint8_t *const *flit, unsigned int n,
	enum weft_crc_order order, uint64_t *syndrome);

/** The syndromes alone, of 0..WEFT_CODEC_MAX flits. */
void weft_codec_syndromes(const struct weft_codec *c, const uint8_t *const *flit, unsigned int n,
	enum weft_crc_order order, uint64_t *syndrome);

/** Bit i set: flit i of 0..WEFT_CODEC_MAX is not a FEC codeword. */
uint64_t weft_codec_fec_check(
	const struct weft_codec *c, const uint8_t *const *flit, unsigned int n);

/** Syndrome of one flit, for one that has been corrected. */
uint64_t weft_codec_syndrome(
	const struct weft_codec *c, const uint8_t *flit, enum weft_crc_order order);

/**
 * Sender: write CRC and FEC bytes, 242..255, of @p n (0..WEFT_CODEC_MAX) flits.
 *
 * @param implicit  what is XORed into each remainder (weft_isn_take())
 */
void weft_codec_protect(const struct weft_codec *c, uint8_t *const *flit, unsigned int n,
	enum weft_crc_order order, const uint64_t *implicit);

/** The CRC bytes alone, 242..249. */
void weft_codec_crc_protect(const struct weft_codec *c, uint8_t *const *flit, unsigned int n,
	enum weft_crc_order order, const uint64_t *implicit);

/** The FEC bytes alone, 250..255. */
void weft_codec_fec_encode(const struct weft_codec *c, uint8_t *const *flit, unsigned int n);

WEFT_END_DECLS

#endif /* WEFT_CODEC_H */
