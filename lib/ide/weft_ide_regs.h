/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The CXL IDE Capability and Control registers as far as this project has a say in them (CXL 3.1
 * sections 8.2.4.22.1 and 8.2.4.22.2 with the ECN on late poison), and whether two ends fit
 * together. Values are in host order; reading and writing the registers is up to the caller.
 */
#ifndef WEFT_IDE_REGS_H
#define WEFT_IDE_REGS_H

#include "weft_base.h"
#include "weft_ide.h"

WEFT_BEGIN_DECLS

/** CXL IDE Capability, read-only. */
enum weft_ide_cap {
	WEFT_IDE_CAP_IDE = 1 << 0,
	WEFT_IDE_CAP_SKID = 1 << 1,
	WEFT_IDE_CAP_CONTAINMENT = 1 << 2,
	WEFT_IDE_CAP_AES_GCM_256 = 1 << 17, /**< 256-bit key, 96-bit MAC */
	WEFT_IDE_CAP_STOP = 1 << 22,
	WEFT_IDE_CAP_LOPT = 1 << 23,
	WEFT_IDE_CAP_POISON = 1 << 24 /**< Protect LLCTRL Poison Message */
};

/** All that this library can do. */
#define WEFT_IDE_CAP_WEFT                                                                          \
	(WEFT_IDE_CAP_IDE | WEFT_IDE_CAP_SKID | WEFT_IDE_CAP_CONTAINMENT |                         \
		WEFT_IDE_CAP_AES_GCM_256 | WEFT_IDE_CAP_STOP | WEFT_IDE_CAP_LOPT |                 \
		WEFT_IDE_CAP_POISON)

/** CXL IDE Control. Bits 31:3 are reserved and preserved. */
enum weft_ide_ctl {
	WEFT_IDE_CTL_PCRC_DISABLE = 1 << 0,
	WEFT_IDE_CTL_STOP = 1 << 1,
	WEFT_IDE_CTL_POISON = 1 << 2,
	WEFT_IDE_CTL_ALL = 7
};

/** One end's registers. */
struct weft_ide_regs {
	uint32_t cap; /**< enum weft_ide_cap */
	uint32_t ctl; /**< enum weft_ide_ctl */
};

/**
 * Read, modify, write: the value to write to Control so that it asks for what @p cfg has, with
 * every reserved bit as it was in @p was.
 */
uint32_t weft_ide_ctl_modify(uint32_t was, const struct weft_ide_config *cfg);

/** What a Control value asks for: sets pcrc, stop and poison of @p cfg, and nothing else. */
void weft_ide_ctl_get(uint32_t ctl, struct weft_ide_config *cfg);

/** Why two ends do not fit together. */
struct weft_ide_misfit {
	/** the bit, such as "PCRC Disable (IDE Control bit 0)"; constant string */
	const char *what;
	const char *why; /**< such as "differs between the ends"; constant string */
};

/**
 * Whether two ends may run the mode and format of @p cfg on one link: capabilities that these need,
 * that each enabled Control bit needs at both ends, and equal Control bits. Reserved bits are not
 * looked at.
 *
 * @param m  receives the first bit that does not fit; may be NULL
 * @return 0; -EPROTO if a capability is missing or a Control bit differs
 */
int weft_ide_regs_check(const struct weft_ide_regs *here, const struct weft_ide_regs *there,
	const struct weft_ide_config *cfg, struct weft_ide_misfit *m);

WEFT_END_DECLS

#endif /* WEFT_IDE_REGS_H */
