/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Who may call what (fabric.md section 4.3) as one table of data, with what the section leaves to
 * us: which generic commands a switch's mailbox has, and that a GFD takes nothing from hosts that
 * gives or takes capacity or rights. What is not in the table is prohibited.
 */

#include "component_priv.h"

/* In who: mandatory 'M', optional 'O', prohibited '-', by component and interface. */
struct access_row {
	uint16_t first, last;
	char who[5]; /* switch: manager, host; GFD: manager, host */
};

static const struct access_row access_rows[] = {
	{ 0x0001, 0x0002, "MOMM" },
	{ 0x0003, 0x0004, "M-M-" },
	{ 0x0005, 0x0005, "OOO-" },
	{ 0x0100, 0x0101, "OOM-" },
	{ 0x0102, 0x0103, "-O--" },
	{ 0x0104, 0x0106, "O-M-" },
	{ 0x0107, 0x0108, "--MO" },
	{ 0x0109, 0x010A, "-M--" },
	{ 0x0200, 0x03FF, "O-O-" },
	{ 0x0400, 0x0401, "OOMM" },
	{ 0x0402, 0x0405, "O-O-" },
	{ 0x0500, 0x06FF, "O-O-" },
	{ 0x0700, 0x0701, "M-M-" },
	{ 0x0702, 0x0702, "MMMM" },
	{ 0x4000, 0x4000, "--MM" },
	{ 0x4200, 0x4202, "--MO" },
	{ 0x4300, 0x4305, "--OO" },
	{ 0x4400, 0x4402, "--OO" },
	{ 0x4900, 0x4902, "--MM" },
	{ 0x4903, 0x4903, "--O-" },
	{ 0x4904, 0x4904, "--MM" },
	{ 0x4905, 0x4905, "--M-" },
	{ 0x4906, 0x4906, "--O-" },
	{ 0x4907, 0x4908, "--M-" },
	{ 0x4909, 0x490B, "--O-" },
	{ 0x490C, 0x490D, "--M-" },
	{ 0x490E, 0x490E, "--MO" },
	{ 0x490F, 0x490F, "--M-" },
	{ 0x4910, 0x4911, "--MO" },
	{ 0x4912, 0x4912, "--M-" },
	{ 0x4913, 0x4914, "---M" },
	{ 0x5100, 0x5101, "MM--" },
	{ 0x5102, 0x5103, "O---" },
	{ 0x5104, 0x5104, "OO--" },
	{ 0x5105, 0x5105, "-O--" },
	{ 0x5106, 0x5107, "O---" },
	{ 0x5200, 0x53FF, "O---" },
	{ 0x5700, 0x5709, "M---" },
	{ 0x570A, 0x570B, "O---" },
	{ 0x570C, 0x5714, "-O--" },
	{ 0x5715, 0x5716, "O---" },
	{ 0x5800, 0x580B, "-M--" },
	{ 0x5900, 0x5902, "M---" },
	{ 0x5903, 0x5904, "O---" },
	{ 0xC100, 0xC101, "O---" },
};

/* Sets that programs which know no sets of fabrics reach as a vendor's. */
static const struct {
	uint8_t alias, set;
} access_aliases[] = {
	{ 0xC7, 0x07 },
	{ 0xC9, 0x49 },
	{ 0xD7, 0x57 },
	{ 0xD8, 0x58 },
	{ 0xD9, 0x59 },
};

enum weft_cci_access
weft_cci_access(uint8_t type, enum weft_cci_iface iface, uint16_t opcode)
{
	const unsigned int column =
		(type == WEFT_CCI_TYPE_GFD ? WEFT_CCI_IFACES : 0u) + (unsigned int)iface;

	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(access_rows); i++) {
		const struct access_row *r = &access_rows[i];

		if (opcode < r->first || opcode > r->last)
			continue;
		return r->who[column] == 'M'   ? WEFT_CCI_MANDATORY
		       : r->who[column] == 'O' ? WEFT_CCI_OPTIONAL
		                               : WEFT_CCI_PROHIBITED;
	}
	return WEFT_CCI_PROHIBITED;
}

uint16_t
weft_cci_unalias(uint16_t opcode)
{
	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(access_aliases); i++)
		if (opcode >> 8 == access_aliases[i].alias)
			return (uint16_t)(access_aliases[i].set << 8 | (opcode & 0xFF));
	return opcode;
}

uint16_t
component_alias_of(uint16_t opcode)
{
	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(access_aliases); i++)
		if (opcode >> 8 == access_aliases[i].set)
			return (uint16_t)(access_aliases[i].alias << 8 | (opcode & 0xFF));
	return opcode;
}
