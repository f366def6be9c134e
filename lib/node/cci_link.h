/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* What components say of a link that has no lanes: what a PBR link would have (5101h, 4901h). */
#ifndef CCI_LINK_H
#define CCI_LINK_H

#define CCI_LINK_MODE_PBR 5
#define CCI_LINK_WIDTH 16
#define CCI_LINK_SPEED 6 /* 64 GT/s, which PBR flits need */
#define CCI_LINK_SPEEDS (1u << (CCI_LINK_SPEED - 1))
#define CCI_LINK_LTSSM_L0 4

#endif /* CCI_LINK_H */
