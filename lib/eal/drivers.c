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
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define DRIVERS_EAL "librte_eal.so"

/* Of pools and ports; without the first there is no pool. */
static const char *const drivers[] = {
	"mempool_ring",
	"net_memif",
	"net_af_packet",
	"net_af_xdp",
};

/* Only while EAL starts, in the one thread there is. */
static bool is_hidden;

/* Where there is a file of the driver @name beside EAL's library @eal: its path, else false. */
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
	int rc = 0;

	/* Who brings arguments may count on all that EAL does, and other processes may attach. */
	if (cfg->any_driver || cfg->n_pci > 0 || cfg->user_argc > 0)
		return 0;
	/* Its library is where its texts are. */
	if (dladdr(rte_version(), &eal) == 0 ||
		!drivers_find(eal.dli_fname, drivers[0], path, sizeof(path)))
		return 0;
	for (size_t i = 0; i < WEFT_ARRAY_SIZE(drivers) && rc == 0; i++)
		if (drivers_find(eal.dli_fname, drivers[i], path, sizeof(path)))
			rc = eal_args_add(args, "-d%s", path);
	is_hidden = rc == 0;
	return rc;
}

void
eal_drivers_loaded(void)
{
	is_hidden = false;
}

__attribute__((visibility("default"))) void *
dlopen(const char *file, int mode)
{
	static void *(*next)(const char *file, int mode);

	if (is_hidden && (mode & RTLD_NOLOAD) != 0 && file != NULL &&
		strncmp(file, DRIVERS_EAL, strlen(DRIVERS_EAL)) == 0)
		return NULL;
	if (next == NULL)
		*(void **)&next = dlsym(RTLD_NEXT, "dlopen");
	return next(file, mode);
}
