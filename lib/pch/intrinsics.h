/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Precompiled for libraries and programs with DPDK (-Db_pch=false: not): three quarters of what
 * DPDK's headers make a compiler read are these. Nothing else may stand here, or a file could do
 * without an #include that it needs.
 */

#if defined(__x86_64__)
#include <x86intrin.h>
#endif
