/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Lists of CPUs as the kernel writes them, and maps of lcores as EAL reads them. Any thread. */
#ifndef WEFT_CPUSET_H
#define WEFT_CPUSET_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** "0-3,8" for a set. Truncates rather than overruns. */
void weft_cpuset_format(const cpu_set_t *set, char *buf, size_t len);

/**
 * Read "0-3,8", with or without an end of line, into a set; the empty string is the empty set.
 *
 * @return whether it is such a list
 */
bool weft_cpuset_parse(const char *list, cpu_set_t *set);

/** Read such a list from a file of sysfs; the empty set if that fails. */
void weft_cpuset_read(const char *path, cpu_set_t *set);

/**
 * The CPUs that a map in EAL's syntax names, "2-3" or "0@0,(1-2)@(0,1)".
 *
 * @return whether it can be read
 */
bool weft_lcores_parse(const char *map, cpu_set_t *cpus);

/** The same, and that they are online. @return 0, or -EINVAL and a line */
int weft_lcores_check(const char *map, const cpu_set_t *online, char *err, size_t errlen);

#ifdef __cplusplus
}
#endif

#endif /* WEFT_CPUSET_H */
