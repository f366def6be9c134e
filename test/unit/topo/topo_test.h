/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Sample topologies of the tests, read from the tree. */
#ifndef TOPO_TEST_H
#define TOPO_TEST_H

#include "weft_test.h"
#include "weft_topo.h"

#define TOPO_FORMS WEFT_TEST_VECTORS "/topo/forms.yaml"
#define TOPO_DIAMOND WEFT_TEST_VECTORS "/topo/diamond.yaml"
#define TOPO_POOL WEFT_TEST_VECTORS "/topo/pool.yaml"
#define TOPO_EXAMPLE WEFT_TEST_VECTORS "/../../doc/example-lab.yaml"

/** Load a file that is good; the error is printed if it is not. */
static inline struct weft_topo *
topo_test_load(const char *path)
{
	struct weft_topo_error err;
	struct weft_topo *t;

	if (weft_topo_load(&t, path, &err) != 0)
		fail_msg("%s", err.text);
	return t;
}

#endif /* TOPO_TEST_H */
