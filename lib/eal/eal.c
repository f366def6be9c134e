/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Start and stop of DPDK: facts, choice, arguments, rte_eal_init(), and nothing left behind. */

#include "eal_priv.h"

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_log.h>

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "weft_socket.h"

/* One EAL a process: its state is the process's, so this file's is too. */
static atomic_bool was_started;
static bool is_running;
static char memory_line[192];
static char runtime_dir[256];
static bool has_made_rundir; /* two levels up from runtime_dir */
static struct eal_args args; /* strings EAL may keep pointers to */

const char *
weft_eal_memory_line(void)
{
	return memory_line;
}

/*
 * Every process has a folder of its own below EAL's run-time folder, which EAL never removes. One
 * the user named may be another process's too and stays.
 */
static void
eal_remove_runtime_dir(void)
{
	if (runtime_dir[0] == '\0')
		return;
	rmdir(runtime_dir);
	/* Folders that other processes of the user still need are not empty and stay. */
	for (int i = 0; has_made_rundir && i < 2; i++) {
		*strrchr(runtime_dir, '/') = '\0';
		rmdir(runtime_dir);
	}
}

static int
eal_check_limits(
	unsigned int memory_mb, unsigned int files, char *err, size_t errlen, bool *is_limited)
{
	struct eal_limits limits;
	uint64_t files_wanted;
	int rc;

	eal_limits_read(&limits);
	*is_limited = limits.space_mb != UINT64_MAX;
	rc = eal_limits_check(&limits, files, memory_mb, &files_wanted, err, errlen);
	if (rc == 0)
		eal_limits_raise_files(files_wanted);
	return rc;
}

static int
eal_choose_memory(const struct eal_user *user, unsigned int memory_mb, unsigned int files,
	enum eal_mem *mem, char *err, size_t errlen)
{
	bool is_limited;
	struct eal_mem_facts facts;
	char line[sizeof(memory_line)];
	int rc;

	if (user->mem) {
		*mem = EAL_MEM_USER;
		snprintf(memory_line, sizeof(memory_line), "memory: as the EAL arguments say");
		return 0;
	}
	rc = eal_check_limits(memory_mb, files, err, errlen, &is_limited);
	if (rc != 0)
		return rc;
	eal_mem_read(&facts);
	/* For hugepages EAL reserves address space by the terabyte. */
	if (is_limited)
		facts.huge_free_mb = 0;
	rc = eal_mem_choose(&facts, memory_mb, mem, line, sizeof(line));
	if (rc == 0)
		snprintf(memory_line, sizeof(memory_line), "%s", line);
	else
		snprintf(err, errlen, "%s", line);
	return rc;
}

/* The line of an EAL that did not start; @why is empty if it said why by itself, or not at all. */
static void
eal_say_why(const char *lcores, const char *why, int rc, char *err, size_t errlen)
{
	struct eal_limits limits;
	char more[384] = "";

	eal_limits_read(&limits);
	if (rc == -ENOMEM && limits.space_mb != UINT64_MAX)
		snprintf(more, sizeof(more),
			" (address space is limited to %" PRIu64 " MB: ulimit -v)",
			limits.space_mb);
	else if (strlen(runtime_dir) + sizeof("/dpdk_telemetry.v2") > WEFT_SOCKET_PATH_MAX)
		snprintf(more, sizeof(more),
			" (run folder %s: set RUNTIME_DIRECTORY to a shorter one)", runtime_dir);
	if (why[0] != '\0')
		snprintf(err, errlen, "DPDK did not start: %s%s", why, more);
	else
		snprintf(err, errlen,
			"DPDK did not start: %s (lcores %s; its own message is above)%s",
			rte_strerror(-rc), lcores != NULL ? lcores : "chosen automatically", more);
}

/* @left: a word that is no option nor a value of one, which EAL passes over; NULL: none. */
static int
eal_init(const char *lcores, const struct eal_user *user, const char **left, char *err,
	size_t errlen)
{
	char why[256] = "";
	bool is_hushed;
	/*
	 * EAL sorts and overwrites entries of its vector: it gets a copy, so that ours stays whole.
	 */
	size_t size = ((size_t)args.argc + 1) * sizeof(*args.argv);
	char **argv = malloc(size);
	int rc;

	if (argv == NULL)
		return weft_errorf(err, errlen, -ENOMEM,
			"DPDK did not start: out of memory for its arguments");
	memcpy(argv, args.argv, size);
	/* Registered before EAL's own handler, so run after it, when the sockets are gone. */
	if (!user->prefix)
		atexit(eal_remove_runtime_dir);
	/*
	 * EAL's own stream also goes to syslog. DPDK's telemetry thread logs while the process
	 * exits, and exit() flushes all streams: the two wait for each other's locks, for good.
	 */
	rte_openlog_stream(stderr);
	is_hushed = !user->words && eal_hush_begin();
	eal_drivers_hide(args.names_drivers);
	rc = rte_eal_init(args.argc, argv);
	eal_drivers_hide(false);
	if (is_hushed)
		eal_hush_end(rc >= 0, why, sizeof(why));
	/* It moves them behind those that it takes, of which it says how many they are. */
	*left = rc >= 0 && rc + 1 < args.argc ? argv[rc + 1] : NULL;
	free(argv);
	snprintf(runtime_dir, sizeof(runtime_dir), "%s", rte_eal_get_runtime_dir());
	if (rc >= 0) {
		/* Another process's folder, if the user named one, is not ours to change. */
		if (!user->prefix) {
			eal_remove_dead_rundirs(runtime_dir);
			/* Without it telemetry is DPDK's, or off as the user wished. */
			eal_telemetry_open(runtime_dir);
		}
		return 0;
	}
	rc = rte_errno > 0 ? -rte_errno : -EINVAL;
	eal_say_why(lcores, why, rc, err, errlen);
	return rc;
}

int
weft_eal_start(const struct weft_eal_cfg *cfg, char *err, size_t errlen)
{
	struct eal_user user;
	enum eal_mem mem;
	unsigned int memory_mb;
	const char *left;
	cpu_set_t online;
	int rc;

	if (atomic_exchange(&was_started, true))
		return weft_errorf(
			err, errlen, -EALREADY, "DPDK was started before in this process");
	if (cfg->lcores != NULL) {
		weft_cpuset_read("/sys/devices/system/cpu/online", &online);
		rc = weft_lcores_check(cfg->lcores, &online, err, errlen);
		if (rc != 0)
			return rc;
	}
	has_made_rundir = eal_choose_rundir("/var/run", "/run/user", "/tmp");
	eal_user_read(&user, cfg->user_argc, cfg->user_argv);
	if (user.is_guest)
		return weft_errorf(err, errlen, -EINVAL,
			"--proc-type: expected primary: only DPDK's own tools attach to others");
	if (user.bad_size != NULL)
		return weft_errorf(err, errlen, -EINVAL,
			"-m of the EAL arguments: expected a number of MB, 1 to %d, got \"%s\"",
			INT_MAX, user.bad_size);
	memory_mb = user.size_mb != 0     ? user.size_mb
	            : cfg->memory_mb != 0 ? cfg->memory_mb
	                                  : WEFT_EAL_MEMORY_MB;
	rc = eal_choose_memory(&user, memory_mb, cfg->n_files, &mem, err, errlen);
	if (rc != 0)
		return rc;
	rc = eal_args_build(&args, cfg, &user, mem, memory_mb);
	if (rc == 0)
		rc = eal_drivers_choose(&args, cfg);
	if (rc != 0)
		return weft_errorf(err, errlen, rc,
			"DPDK did not start: its arguments cannot be made: %s", strerror(-rc));
	rc = eal_init(cfg->lcores, &user, &left, err, errlen);
	if (rc != 0)
		return rc;
	if (mem == EAL_MEM_PLAIN && !cfg->lends_memory && cfg->n_pci == 0 && cfg->user_argc == 0)
		eal_pages_enlarge();
	rc = eal_loops_init();
	if (rc != 0) {
		snprintf(err, errlen, "DPDK did not start: no memory for quiescent states");
		rte_eal_cleanup();
		return rc;
	}
	eal_share_open();
	is_running = true;
	if (left == NULL)
		return 0;
	weft_eal_stop();
	return weft_errorf(err, errlen, -EINVAL,
		"EAL arguments: expected options and their values, got \"%s\"", left);
}

void
weft_eal_stop(void)
{
	if (!is_running)
		return;
	is_running = false;
	eal_loops_fini();
	eal_share_close();
	/*
	 * Not rte_eal_cleanup(): it unmaps memory in which EAL's interrupt thread, which nobody
	 * stops, still looks up handles of closed ports. About one memif process in ten died of it.
	 * The memory ends with the process; sockets and folders have their exit handlers.
	 */
}
