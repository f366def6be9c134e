/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What the files of lib/eal share: the choice of memory, the building of EAL's arguments and the
 * ends of the loops' machinery that weft_eal_start() and weft_eal_stop() hold. Choices are pure
 * functions of facts, so that tests can hand in machines that are not there.
 */
#ifndef WEFT_EAL_PRIV_H
#define WEFT_EAL_PRIV_H

#include <sched.h>

#include "weft_cpuset.h"
#include "weft_eal.h"
#include "weft_loop.h"

struct eal_mem_facts {
	uint64_t huge_free_mb; /* free hugepages of all sizes */
	uint64_t avail_mb; /* MemAvailable */
};

/* Limits of the process. */
struct eal_limits {
	uint64_t files; /* open at a time */
	uint64_t files_most; /* that it may allow itself */
	uint64_t space_mb; /* address space; UINT64_MAX: no limit */
	uint64_t used_mb; /* of it */
};

void eal_limits_read(struct eal_limits *limits);

/*
 * Will EAL, memory of @memory_mb and @files files of others fit? 0, -EMFILE or -ENOMEM with a line.
 * @files_wanted: what eal_limits_raise_files() is to allow; 0: nothing to do. Pure.
 */
int eal_limits_check(const struct eal_limits *limits, unsigned int files, unsigned int memory_mb,
	uint64_t *files_wanted, char *err, size_t errlen);
void eal_limits_raise_files(uint64_t files);

enum eal_mem { EAL_MEM_HUGE, EAL_MEM_PLAIN, EAL_MEM_USER };

void eal_mem_read(struct eal_mem_facts *facts);

/*
 * Choose pages for @need_mb; the line says what and why, or (with -ENOMEM) what is missing.
 */
int eal_mem_choose(const struct eal_mem_facts *facts, unsigned int need_mb, enum eal_mem *mem,
	char *line, size_t len);

/*
 * Let what EAL holds of ordinary pages be backed by large ones, where the kernel does that for
 * private memory. Right after rte_eal_init(), while nobody else writes to that memory and no
 * device has it: from then on a file descriptor of it (rte_memseg_get_fd()) is of other pages.
 */
void eal_pages_enlarge(void);

/*
 * Set RUNTIME_DIRECTORY where EAL's own choice of a place for the telemetry socket would fail. The
 * folders are /var/run, /run/user and /tmp, but for tests. True if it is now a folder in @tmp_dir
 * that nobody else will clear away.
 */
bool eal_choose_rundir(const char *root_dir, const char *users_dir, const char *tmp_dir);

/*
 * Stand before DPDK's telemetry socket in @runtime_dir, so that connections that say nothing keep
 * nobody out. 0, or -errno: then DPDK's own serves as it does.
 */
int eal_telemetry_open(const char *runtime_dir);

/* After how long a connection is closed that never asked, and one that did. For tests. */
void eal_telemetry_set_patience(unsigned int silent_ms, unsigned int idle_ms);

/*
 * Remove what processes of ours that were killed left beside @own, this process's run-time folder.
 * How many folders went.
 */
unsigned int eal_remove_dead_rundirs(const char *own);

/*
 * Let secondary processes capture, if EAL runs so that they can attach, and remove its files
 * when the process exits. Close when no port is polled any more.
 */
void eal_share_open(void);
void eal_share_close(void);

/* What the user's own arguments settle, so that ours keep out of the way. */
struct eal_user {
	bool mem; /* kind of memory */
	bool plain; /* ordinary pages, which no other process can share */
	unsigned int size_mb; /* -m, or 0 */
	const char *bad_size; /* what -m has in place of a number of 1 or more, or NULL */
	bool lcores;
	bool pci;
	bool prefix; /* run-time folder */
	bool shares; /* memory, with other processes */
	bool is_guest; /* in that of another, or would be where there is one */
	bool iova;
	bool words; /* what EAL says is wanted */
};

void eal_user_read(struct eal_user *user, int argc, char *const *argv);

/* An argument vector under construction; strings of ours are heap copies. */
struct eal_args {
	char **argv;
	int argc;
	int room;
	bool names_drivers; /* those of DPDK's folder are not wanted */
};

/*
 * Build EAL's vector: ours first, the user's after, so that theirs win. 0, -ENOMEM, or why the
 * kernel does not say which CPUs we have.
 */
int eal_args_build(struct eal_args *args, const struct weft_eal_cfg *cfg,
	const struct eal_user *user, enum eal_mem mem, unsigned int memory_mb);

/* Append one, if there was room for it; 0 or -ENOMEM. */
__attribute__((format(printf, 2, 3))) int eal_args_add(struct eal_args *args, const char *fmt, ...);

/*
 * Where nothing in @cfg may want others: name the drivers alone that our own ports and pools are
 * made of. Last of what is added to @args; 0 or -ENOMEM.
 */
int eal_drivers_choose(struct eal_args *args, const struct weft_eal_cfg *cfg);

/* Whether rte_eal_init() leaves DPDK's folder of drivers alone; false behind it. */
void eal_drivers_hide(bool hide);

/* Keep from now on what EAL writes, all but its crash. False: it could not be kept. */
bool eal_hush_begin(void);

/*
 * End that. What came to standard error comes there now if EAL @is_good; its first line, if there
 * is one, goes to @why if not.
 */
void eal_hush_end(bool is_good, char *why, size_t len);

/* Loops: quiescent state and monitor. */
int eal_loops_init(void);
void eal_loops_fini(void);

/* Time a thread has been runnable but waiting, from its open schedstat; UINT64_MAX: not known. */
uint64_t eal_run_delay_ns(int schedstat_fd);

/* Is the only CPU of @set among those taken from the scheduler (isolcpus=)? */
bool eal_cpu_isolated(const cpu_set_t *set);

#endif /* WEFT_EAL_PRIV_H */
