/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* The IDE registers: one row a bit, so that an error can name it. */

#include "weft_ide_regs.h"

#include <errno.h>

/* A capability, by name. */
struct cap_row {
	uint32_t bit;
	const char *name;
};

static const struct cap_row cap_ide = { WEFT_IDE_CAP_IDE,
	"CXL IDE Capable (IDE Capability bit 0)" };
static const struct cap_row cap_skid = { WEFT_IDE_CAP_SKID, "Skid mode (IDE Capability bit 1)" };
static const struct cap_row cap_containment = { WEFT_IDE_CAP_CONTAINMENT,
	"Containment mode (IDE Capability bit 2)" };
static const struct cap_row cap_aes = { WEFT_IDE_CAP_AES_GCM_256,
	"AES-GCM 256 (IDE Capability bit 17)" };
static const struct cap_row cap_lopt = { WEFT_IDE_CAP_LOPT,
	"LOpt IDE Capable (IDE Capability bit 23)" };

/* A Control bit, and the capability that both ends need to set it. */
static const struct {
	uint32_t bit;
	const char *name;
	struct cap_row needs;
} ctl_rows[] = {
	{ WEFT_IDE_CTL_PCRC_DISABLE, "PCRC Disable (IDE Control bit 0)", { 0, NULL } },
	{ WEFT_IDE_CTL_STOP, "IDE.Stop Enable (IDE Control bit 1)",
		{ WEFT_IDE_CAP_STOP, "IDE.Stop Capable (IDE Capability bit 22)" } },
	{ WEFT_IDE_CTL_POISON, "IDE Protect LLCTRL Poison Message Enable (IDE Control bit 2)",
		{ WEFT_IDE_CAP_POISON,
			"IDE Protect LLCTRL Poison Message Capable (IDE Capability bit 24)" } },
};

uint32_t
weft_ide_ctl_modify(uint32_t was, const struct weft_ide_config *cfg)
{
	return (was & ~(uint32_t)WEFT_IDE_CTL_ALL) | (cfg->pcrc ? 0U : WEFT_IDE_CTL_PCRC_DISABLE) |
	       (cfg->stop ? WEFT_IDE_CTL_STOP : 0U) | (cfg->poison ? WEFT_IDE_CTL_POISON : 0U);
}

void
weft_ide_ctl_get(uint32_t ctl, struct weft_ide_config *cfg)
{
	cfg->pcrc = (ctl & WEFT_IDE_CTL_PCRC_DISABLE) == 0;
	cfg->stop = (ctl & WEFT_IDE_CTL_STOP) != 0;
	cfg->poison = (ctl & WEFT_IDE_CTL_POISON) != 0;
}

static int
regs_misfit(struct weft_ide_misfit *m, const char *what, const char *why)
{
	if (m != NULL)
		*m = (struct weft_ide_misfit){ what, why };
	return -EPROTO;
}

/* Both ends must have a capability. */
static int
regs_check_cap(const struct weft_ide_regs *here, const struct weft_ide_regs *there,
	const struct cap_row *row, struct weft_ide_misfit *m)
{
	if ((here->cap & row->bit) != row->bit)
		return regs_misfit(m, row->name, "is missing at this end");
	if ((there->cap & row->bit) != row->bit)
		return regs_misfit(m, row->name, "is missing at the other end");
	return 0;
}

int
weft_ide_regs_check(const struct weft_ide_regs *here, const struct weft_ide_regs *there,
	const struct weft_ide_config *cfg, struct weft_ide_misfit *m)
{
	const struct cap_row *needed[] = { &cap_ide, &cap_aes,
		cfg->mode == WEFT_IDE_SKID ? &cap_skid : &cap_containment,
		cfg->format == WEFT_IDE_LOPT ? &cap_lopt : &cap_ide };

	for (size_t i = 0; i < WEFT_ARRAY_SIZE(needed); i++)
		if (regs_check_cap(here, there, needed[i], m) != 0)
			return -EPROTO;
	for (size_t i = 0; i < WEFT_ARRAY_SIZE(ctl_rows); i++) {
		if (((here->ctl ^ there->ctl) & ctl_rows[i].bit) != 0)
			return regs_misfit(m, ctl_rows[i].name, "differs between the ends");
		if ((here->ctl & ctl_rows[i].bit) != 0 &&
			regs_check_cap(here, there, &ctl_rows[i].needs, m) != 0)
			return -EPROTO;
	}
	return 0;
}
