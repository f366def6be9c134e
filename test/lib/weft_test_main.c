/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* The main() of the test programs that have none of their own. */
#include "weft_test.h"

int
main(void)
{
	return weft_test_run();
}
