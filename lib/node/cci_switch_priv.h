/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Inside a switch's responder: rows about tables, and how rows end. */
#ifndef CCI_SWITCH_PRIV_H
#define CCI_SWITCH_PRIV_H

#include "cci_row.h"
#include "weft_cci_switch.h"

/** The return code for what a codec or a setter of tables says. */
uint16_t cci_switch_rc(int rc);

/* cci_switch_tables.c, all of them weft_cci_command_fn */
uint16_t cci_switch_identify_pbr(void *arg, const struct weft_cci_caller *who, const uint8_t *req,
	size_t len, uint8_t *rsp, size_t *rsp_len);
uint16_t cci_switch_tables(void *arg, const struct weft_cci_caller *who, const uint8_t *req,
	size_t len, uint8_t *rsp, size_t *rsp_len);
uint16_t cci_switch_get_drt(void *arg, const struct weft_cci_caller *who, const uint8_t *req,
	size_t len, uint8_t *rsp, size_t *rsp_len);
uint16_t cci_switch_set_drt(void *arg, const struct weft_cci_caller *who, const uint8_t *req,
	size_t len, uint8_t *rsp, size_t *rsp_len);
uint16_t cci_switch_get_rgt(void *arg, const struct weft_cci_caller *who, const uint8_t *req,
	size_t len, uint8_t *rsp, size_t *rsp_len);
uint16_t cci_switch_set_rgt(void *arg, const struct weft_cci_caller *who, const uint8_t *req,
	size_t len, uint8_t *rsp, size_t *rsp_len);

/* cci_switch_cdat.c, likewise */
uint16_t cci_switch_read_cdat(void *arg, const struct weft_cci_caller *who, const uint8_t *req,
	size_t len, uint8_t *rsp, size_t *rsp_len);

#endif /* CCI_SWITCH_PRIV_H */
