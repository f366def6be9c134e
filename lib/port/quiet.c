/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The af_xdp driver brings libbpf and libxdp into the process, which write what they find
 * remarkable (a missing bpffs, for one) to standard error. Neither is linked here, so they are
 * asked by name, if they are loaded, to be silent; the driver reports its errors by itself.
 */

#include "port_priv.h"

#include <dlfcn.h>
#include <stdarg.h>

typedef int (*print_fn)(int level, const char *fmt, va_list ap);

static void
quiet_library(const char *library, const char *setter)
{
	print_fn (*set_print)(print_fn fn) = NULL;
	void *handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);

	if (handle == NULL)
		return;
	*(void **)&set_print = dlsym(handle, setter);
	if (set_print != NULL)
		set_print(NULL);
	dlclose(handle);
}

void
port_quiet_xdp(void)
{
	quiet_library("libbpf.so.1", "libbpf_set_print");
	quiet_library("libxdp.so.1", "libxdp_set_print");
}
