/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

#include "llr_priv.h"

const struct llr_ops llr_cxl_ops = { .state_size = 64, .numbers = 1023 };
