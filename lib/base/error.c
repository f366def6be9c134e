/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* The line that tells why something failed, which stays one. */

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
	/* Names come from anywhere. */
	for (size_t i = 0; i < len && err[i] != '\0'; i++)
		if ((unsigned char)err[i] < ' ' || err[i] == 0x7f)
			err[i] = '?';
	return rc;
}
