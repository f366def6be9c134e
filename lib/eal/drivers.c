/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Which of DPDK's drivers EAL loads. By itself it opens every shared library of its folder, 128 of
 * them in Debian 12: half of the time that a start takes and two fifths of its pages. No argument
 * tells it not to. But it leaves the folder alone where it was linked statically, and asks dlopen()
 * for itself to find out. A program's dlopen() is found before the C library's, so that answer can
 * be "not there"; -d then names the drivers that ports are made of.
 */

#include "eal_priv.h"

#include <rte_version.h>

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define DRIVERS_EAL "librte_eal.so"

/* Of pools and ports. */
static const char *const drivers[] = {
	"mempool_ring",
	"net_memif",
	"net_af_packet",
	"net_af_xdp",
};

static bool is_hidden;

/* Where the file of the driver @name would be beside EAL's library @eal; false if it is not. */
static bool
drivers_find(const char *eal, const char *name, char *path, size_t len)
{
	const char *file = strrchr(eal, '/'), *version;
	int n;

	if (file == NULL || strncmp(file + 1, DRIVERS_EAL, strlen(DRIVERS_EAL)) != 0)
		return false;
	version = file + 1 + strlen(DRIVERS_EAL);
	n = snprintf(path, len, "%.*s/librte_%s.so%s", (int)(file - eal), eal, name, version);
	return n > 0 && (size_t)n < len && access(path, R_OK) == 0;
}

int
eal_drivers_choose(struct eal_args *args, const struct weft_eal_cfg *cfg)
{
	char path[PATH_MAX];
	Dl_info eal;

	/* Who brings arguments may count on all that EAL does, and other processes may attach. */
	if (cfg->any_driver || cfg->n_pci > 0 || cfg->user_argc > 0)
		return 0;
	/* Its library is where its texts are. */
	if (dladdr(rte_version(), &eal) == 0)
		return 0;
	for (size_t i = 0; i < WEFT_ARRAY_SIZE(drivers); i++)
		if (!drivers_find(eal.dli_fname, drivers[i], path, sizeof(path)))
			return 0;
	for (size_t i = 0; i < WEFT_ARRAY_SIZE(drivers); i++) {
		drivers_find(eal.dli_fname, drivers[i], path, sizeof(path));
		if (eal_args_add(args, "-d%s", path) != 0)
			return -ENOMEM;
	}
	args->names_drivers = true;
	return 0;
}

void
eal_drivers_hide(bool hide)
{
	__atomic_store_n(&is_hidden, hide, __ATOMIC_RELAXED);
}

typedef void *(*drivers_dlopen)(const char *file, int mode);

/* That of a sanitizer, which ours stands before. */
extern void *__interceptor_dlopen(const char *file, int mode) __attribute__((weak));

static drivers_dlopen
drivers_next(void)
{
	static drivers_dlopen next;
	drivers_dlopen found = __atomic_load_n(&next, __ATOMIC_RELAXED);

	if (found != NULL)
		return found;
	if (__interceptor_dlopen != NULL)
		found = __interceptor_dlopen;
	else
		*(void **)&found = dlsym(RTLD_NEXT, "dlopen");
	__atomic_store_n(&next, found, __ATOMIC_RELAXED);
	return found;
}

/* The last is a jump where code is optimised: the C library goes by who called. */
__attribute__((visibility("default"))) void *
dlopen(const char *file, int mode)
{
	const drivers_dlopen next = drivers_next();

	if (next == NULL || (__atomic_load_n(&is_hidden, __ATOMIC_RELAXED) && file != NULL &&
				    (mode & RTLD_NOLOAD) != 0 &&
				    strncmp(file, DRIVERS_EAL, strlen(DRIVERS_EAL)) == 0))
		return NULL;
	return next(file, mode);
}
