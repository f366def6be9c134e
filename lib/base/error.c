/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* The line that tells why something failed. */

#include "weft_base.h"

#include <stdarg.h>
#include <stdio.h>

int
weft_errorf(char *err, size_t len, int rc, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(err, len, fmt, args);
	va_end(args);
	return rc;
}
