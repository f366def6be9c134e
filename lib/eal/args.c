/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * EAL's argument vector. Some options of EAL contradict each other instead of the later one
 * winning, so the user's are read first and a default they speak about is left out.
 */

#include "eal_priv.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum topic {
	TOPIC_MEM,
	TOPIC_PLAIN,
	TOPIC_PROCESS,
	TOPIC_SIZE,
	TOPIC_LCORES,
	TOPIC_PCI,
	TOPIC_PREFIX,
	TOPIC_IOVA,
	TOPIC_WORDS
};

static const struct {
	const char *option; /* as typed: a short one may have its value attached */
	enum topic topic;
} topics[] = {
	{ "--in-memory", TOPIC_MEM },
	{ "--no-huge", TOPIC_PLAIN },
	{ "--huge-dir", TOPIC_MEM },
	{ "--huge-unlink", TOPIC_MEM },
	{ "--socket-mem", TOPIC_MEM },
	{ "--socket-limit", TOPIC_MEM },
	{ "--legacy-mem", TOPIC_MEM },
	{ "--proc-type", TOPIC_PROCESS },
	{ "-m", TOPIC_SIZE },
	{ "-l", TOPIC_LCORES },
	{ "-c", TOPIC_LCORES },
	{ "-s", TOPIC_LCORES },
	{ "-S", TOPIC_LCORES },
	{ "--lcores", TOPIC_LCORES },
	{ "-a", TOPIC_PCI },
	{ "-b", TOPIC_PCI },
	{ "--allow", TOPIC_PCI },
	{ "--block", TOPIC_PCI },
	{ "--no-pci", TOPIC_PCI },
	{ "--file-prefix", TOPIC_PREFIX },
	{ "--iova-mode", TOPIC_IOVA },
	{ "-h", TOPIC_WORDS },
	{ "--help", TOPIC_WORDS },
	{ "-v", TOPIC_WORDS },
	{ "--version", TOPIC_WORDS },
	{ "--log-level", TOPIC_WORDS },
};

/* Is @arg this option? Then *@value is what is attached to it, or NULL. */
static bool
arg_is(const char *arg, const char *option, const char **value)
{
	size_t len = strlen(option);
	bool is_long = option[1] == '-';

	*value = NULL;
	if (strncmp(arg, option, len) != 0)
		return false;
	if (arg[len] == '\0')
		return true;
	if (is_long && arg[len] != '=')
		return false;
	*value = arg + len + (is_long ? 1 : 0);
	return true;
}

/* EAL reads "64x" as 64, and takes its own default for what is none. 0: none of 1 or more. */
static unsigned int
args_size_mb(const char *text)
{
	uint64_t mb = 0;

	for (; text != NULL && *text >= '0' && *text <= '9' && mb <= INT_MAX; text++)
		mb = 10 * mb + (uint64_t)(*text - '0');
	return text != NULL && *text == '\0' && mb <= INT_MAX ? (unsigned int)mb : 0;
}

static void
args_user_note(struct eal_user *user, enum topic topic, const char *value)
{
	switch (topic) {
	case TOPIC_MEM: user->mem = true; break;
	case TOPIC_PLAIN:
		user->mem = true;
		user->plain = true;
		break;
	case TOPIC_PROCESS:
		/* A secondary process shares the memory of the primary it finds by prefix. */
		user->mem = true;
		user->prefix = true;
		user->shares = true;
		user->is_guest = value == NULL || strcmp(value, "primary") != 0;
		break;
	case TOPIC_SIZE:
		user->size_mb = args_size_mb(value);
		if (user->size_mb == 0)
			user->bad_size = value;
		break;
	case TOPIC_LCORES: user->lcores = true; break;
	case TOPIC_PCI: user->pci = true; break;
	case TOPIC_PREFIX: user->prefix = true; break;
	case TOPIC_WORDS: user->words = true; break;
	case TOPIC_IOVA: user->iova = true; break;
	}
}

void
eal_user_read(struct eal_user *user, int argc, char *const *argv)
{
	memset(user, 0, sizeof(*user));
	for (int i = 0; i < argc; i++) {
		for (size_t t = 0; t < WEFT_ARRAY_SIZE(topics); t++) {
			const char *value;

			if (!arg_is(argv[i], topics[t].option, &value))
				continue;
			if (value == NULL && i + 1 < argc)
				value = argv[i + 1];
			args_user_note(user, topics[t].topic, value);
			break;
		}
	}
}

int
eal_args_add(struct eal_args *args, const char *fmt, ...)
{
	char *s;
	va_list ap;
	int rc;

	assert(args->argc + 1 < args->room);
	va_start(ap, fmt);
	rc = vasprintf(&s, fmt, ap);
	va_end(ap);
	if (rc < 0)
		return -ENOMEM;
	args->argv[args->argc++] = s;
	return 0;
}

/* lcores 0..n-1, each on a CPU of its own as long as there are enough. */
static int
args_add_spread(struct eal_args *args, const cpu_set_t *cpus, unsigned int n)
{
	char map[4096];
	size_t used = 0;
	size_t cpu = CPU_SETSIZE - 1;

	for (unsigned int lcore = 0; lcore < n && used < sizeof(map) - 16; lcore++) {
		do
			cpu = (cpu + 1) % CPU_SETSIZE;
		while (!CPU_ISSET(cpu, cpus));
		used += (size_t)snprintf(map + used, sizeof(map) - used, "%s%u@%zu",
			lcore == 0 ? "" : ",", lcore, cpu);
	}
	return eal_args_add(args, "--lcores=%s", map);
}

/*
 * The lcore that may run on all CPUs. Its cache of a pool is also that of a secondary process's
 * lcore of the same number, and these begin at 0.
 */
static int
args_add_any(struct eal_args *args, const cpu_set_t *cpus, bool shares)
{
	char list[4096];

	weft_cpuset_format(cpus, list, sizeof(list));
	return eal_args_add(args, "--lcores=%d@(%s)", shares ? RTE_MAX_LCORE - 1 : 0, list);
}

static int
args_add_lcores(struct eal_args *args, const struct weft_eal_cfg *cfg, bool shares)
{
	cpu_set_t cpus;

	if (cfg->lcores != NULL)
		return eal_args_add(args, "--lcores=%s", cfg->lcores);
	if (sched_getaffinity(0, sizeof(cpus), &cpus) != 0)
		return -errno;
	if (cfg->n_lcores > 1)
		return args_add_spread(args, &cpus, cfg->n_lcores);
	return args_add_any(args, &cpus, shares);
}

static int
args_add_memory(struct eal_args *args, const struct eal_user *user, enum eal_mem mem,
	unsigned int memory_mb)
{
	int rc = 0;

	if (mem == EAL_MEM_HUGE)
		rc |= eal_args_add(args, "--in-memory");
	else if (mem == EAL_MEM_PLAIN)
		rc |= eal_args_add(args, "--no-huge");
	/* Files that say how to share memory are for nobody, and would stay in the run folder. */
	if (mem == EAL_MEM_PLAIN || (user->plain && !user->prefix))
		rc |= eal_args_add(args, "--no-shconf");
	if (mem != EAL_MEM_USER)
		rc |= eal_args_add(args, "-m%u", memory_mb);
	return rc;
}

int
eal_args_build(struct eal_args *args, const struct weft_eal_cfg *cfg, const struct eal_user *user,
	enum eal_mem mem, unsigned int memory_mb)
{
	const char *program = cfg->program != NULL ? cfg->program : "weft";
	int rc = 0, lcores_rc = 0;

	args->argc = 0;
	args->room = cfg->user_argc + 24 + (int)cfg->n_pci;
	args->argv = calloc((size_t)args->room, sizeof(*args->argv));
	if (args->argv == NULL)
		return -ENOMEM;
	rc |= eal_args_add(args, "%s", program);
	/* Errors only: the rest is noise to someone who did not ask for DPDK. */
	rc |= eal_args_add(args, "--log-level=error");
	rc |= args_add_memory(args, user, mem, memory_mb);
	if (!user->lcores)
		lcores_rc = args_add_lcores(args, cfg, user->shares);
	/* A probe of all would take devices from the kernel that are none of ours. */
	for (unsigned int i = 0; i < cfg->n_pci && !user->pci; i++)
		rc |= eal_args_add(args, "-a%s", cfg->pci[i]);
	if (cfg->n_pci == 0 && !user->pci)
		rc |= eal_args_add(args, "--no-pci");
	if (!user->prefix)
		rc |= eal_args_add(args, "--file-prefix=%s-%d", program, getpid());
	/* Physical addresses need root and hugepages; ordinary pages have neither. */
	if (!user->iova && mem == EAL_MEM_PLAIN)
		rc |= eal_args_add(args, "--iova-mode=va");
	for (int i = 0; i < cfg->user_argc; i++)
		args->argv[args->argc++] = cfg->user_argv[i];
	return rc == 0 ? lcores_rc : -ENOMEM;
}
