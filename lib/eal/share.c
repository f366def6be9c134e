/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Secondary processes of DPDK: dumpcap, proc-info. They can attach only where the user's arguments
 * say so, to hugepages with a name; what is chosen by default has none. Who attaches reads and
 * writes all of this memory, so its files are the user's alone (EAL makes them 0600), and weftd
 * keeps its keys elsewhere (weft_secret.h).
 */

#include "eal_priv.h"

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_memory.h>
#include <rte_pdump.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* One EAL a process. */
static char share_line[512];
static bool has_pdump;

const char *
weft_eal_share_line(void)
{
	return share_line;
}

/* Memory taken with --in-memory has no files, and with --no-shconf nobody serves a socket. */
static bool
share_is_possible(const char *run_dir)
{
	char path[512];

	if (rte_eal_process_type() != RTE_PROC_PRIMARY || rte_eal_has_hugepages() == 0)
		return false;
	snprintf(path, sizeof(path), "%s/mp_socket", run_dir);
	return access(path, F_OK) == 0;
}

/* Remove the name of the file that this segment is mapped from, if it still is that file's. */
static int
share_unlink(const struct rte_memseg_list *list, const struct rte_memseg *seg, void *arg)
{
	const int fd = rte_memseg_get_fd_thread_unsafe(seg);
	char link[64], path[512];
	struct stat own, named;
	ssize_t n;

	(void)list;
	(void)arg;
	if (fd < 0 || fstat(fd, &own) != 0)
		return 0;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	if (n <= 0)
		return 0;
	path[n] = '\0';
	if (stat(path, &named) == 0 && named.st_dev == own.st_dev && named.st_ino == own.st_ino)
		unlink(path);
	return 0;
}

/*
 * The map of the memory: a secondary process that found it without its primary would take all the
 * pages once more. The configuration goes last, as its lock keeps the next primary away until then.
 */
static void
share_remove_map(const char *run_dir)
{
	DIR *dir = opendir(run_dir);
	const struct dirent *e;

	if (dir == NULL)
		return;
	while ((e = readdir(dir)) != NULL)
		if (strncmp(e->d_name, "fbarray_", 8) == 0 ||
			strncmp(e->d_name, "mp_socket", 9) == 0 ||
			strcmp(e->d_name, "hugepage_info") == 0)
			unlinkat(dirfd(dir), e->d_name, 0);
	unlinkat(dirfd(dir), "config", 0);
	closedir(dir);
}

/*
 * EAL leaves all files where they are: the pages would stay in use, with frames in them, until the
 * next start with this prefix.
 */
static void
share_remove_files(void)
{
	rte_memseg_walk(share_unlink, NULL);
	share_remove_map(rte_eal_get_runtime_dir());
}

void
eal_share_open(void)
{
	const char *run_dir = rte_eal_get_runtime_dir();
	const char *slash = strrchr(run_dir, '/');
	const char *prefix = slash != NULL ? slash + 1 : run_dir;

	if (!share_is_possible(run_dir))
		return;
	atexit(share_remove_files);
	has_pdump = rte_pdump_init() == 0;
	if (has_pdump)
		snprintf(share_line, sizeof(share_line),
			"secondary processes: can attach with --file-prefix=%s (run folder %s)",
			prefix, run_dir);
	else
		snprintf(share_line, sizeof(share_line),
			"secondary processes: can attach with --file-prefix=%s (run folder %s), "
			"but not capture: %s",
			prefix, run_dir, rte_strerror(rte_errno));
}

void
eal_share_close(void)
{
	if (has_pdump)
		rte_pdump_uninit();
	has_pdump = false;
}
