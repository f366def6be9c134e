/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* How weftctl doctor looks at memory, CPUs, rights, what programs need, clocks and files. */

#include "doctor.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "weft_base.h"
#include "weft_cpuset.h"
#include "weft_secret.h"

#define DOCTOR_PAGE_KB 2048 /* of the hugepages that are asked for */
#define DOCTOR_NEW_KEY                                                                             \
	"copy it from a server that has it, or for the first: (umask 077; openssl rand -hex 32 "   \
	"> %.300s)"
#define DOCTOR_LOCKED (64u << 20) /* bytes of rings and keys */

static enum doctor_answer
doctor_cannot(struct doctor_look *l, int rc)
{
	snprintf(l->found, sizeof(l->found), "%s", strerror(-rc));
	return DOCTOR_CANNOT_LOOK;
}

/* --- memory --- */

struct doctor_pages {
	const struct doctor *d;
	const char *folder;
	uint64_t free_kb;
};

static void
doctor_count_pages(void *arg, const char *name)
{
	struct doctor_pages *p = arg;
	unsigned int kb;

	if (sscanf(name, "hugepages-%ukB", &kb) == 1)
		p->free_kb += kb * (uint64_t)doctor_number(
					   p->d, 0, "%s/%s/free_hugepages", p->folder, name);
}

/* Buffers come on top where they find no hugepages; they are small beside what people share. */
enum doctor_answer
doctor_look_memory(struct doctor_look *l)
{
	char text[64];
	const int rc = doctor_find_line(l->d, "proc/meminfo", "MemAvailable", text, sizeof(text));
	uint64_t mb;

	if (rc != 0)
		return doctor_cannot(l, rc);
	mb = strtoull(text, NULL, 10) / 1024;
	snprintf(l->found, sizeof(l->found), "%" PRIu64 " MB available", mb);
	snprintf(l->want, sizeof(l->want), "%" PRIu64, (l->d->memory + (1u << 20) - 1) >> 20);
	return mb >= l->d->memory >> 20 ? DOCTOR_AS_WANTED : DOCTOR_OTHERWISE;
}

enum doctor_answer
doctor_look_hugepages(struct doctor_look *l)
{
	static const char folder[] = "sys/kernel/mm/hugepages";
	struct doctor_pages p = { .d = l->d, .folder = folder };
	uint64_t mb;

	doctor_each_name(l->d, folder, doctor_count_pages, &p);
	mb = p.free_kb / 1024;
	snprintf(l->found, sizeof(l->found), "%" PRIu64 " MB free", mb);
	snprintf(l->want, sizeof(l->want), "%u", l->d->pool_mb);
	if (mb >= l->d->pool_mb)
		return DOCTOR_AS_WANTED;
	snprintf(l->arg, sizeof(l->arg), "%" PRIu64,
		(l->d->pool_mb - mb) * 1024 / DOCTOR_PAGE_KB +
			(uint64_t)doctor_number(
				l->d, 0, "%s/hugepages-%ukB/nr_hugepages", folder, DOCTOR_PAGE_KB));
	return DOCTOR_OTHERWISE;
}

enum doctor_answer
doctor_look_node_pages(struct doctor_look *l)
{
	const int64_t node =
		doctor_number(l->d, -1, "sys/bus/pci/devices/%s/numa_node", l->s->name);
	char folder[96];
	struct doctor_pages p = { .d = l->d, .folder = folder };

	if (node < 0 || !doctor_is_there(l->d, "sys/devices/system/node/node1"))
		return DOCTOR_NOT_HERE;
	snprintf(folder, sizeof(folder), "sys/devices/system/node/node%d/hugepages", (int)node);
	doctor_each_name(l->d, folder, doctor_count_pages, &p);
	snprintf(l->found, sizeof(l->found), "%.256s: %" PRIu64 " MB free on node %d", l->s->name,
		p.free_kb / 1024, (int)node);
	snprintf(l->want, sizeof(l->want), "%d", (int)node);
	snprintf(l->arg, sizeof(l->arg), "%u", l->d->pool_mb * 1024 / DOCTOR_PAGE_KB);
	return p.free_kb != 0 ? DOCTOR_AS_WANTED : DOCTOR_OTHERWISE;
}

/* --- CPUs --- */

static bool
doctor_has_all(const cpu_set_t *of, const cpu_set_t *wanted)
{
	cpu_set_t both;

	CPU_AND(&both, of, wanted);
	return CPU_EQUAL(&both, wanted);
}

/* "2 3" for a loop of a shell. */
static void
doctor_list_cpus(const cpu_set_t *set, char *to, size_t len)
{
	size_t used = 0;

	to[0] = '\0';
	for (size_t i = 0; i < CPU_SETSIZE && used + 6 < len; i++)
		if (CPU_ISSET(i, set))
			used += (size_t)snprintf(
				to + used, len - used, "%s%zu", used == 0 ? "" : " ", i);
}

enum doctor_answer
doctor_look_online(struct doctor_look *l)
{
	const struct doctor *d = l->d;

	weft_cpuset_format(&d->wanted, l->want, sizeof(l->want));
	weft_cpuset_format(&d->online, l->arg, sizeof(l->arg));
	snprintf(l->found, sizeof(l->found), "%.400s", l->arg);
	if (CPU_COUNT(&d->online) == 0)
		return doctor_cannot(l, -ENOENT);
	return doctor_has_all(&d->online, &d->wanted) ? DOCTOR_AS_WANTED : DOCTOR_OTHERWISE;
}

enum doctor_answer
doctor_look_governor(struct doctor_look *l)
{
	char word[64];
	cpu_set_t bad;
	bool any = false;

	CPU_ZERO(&bad);
	for (size_t i = 0; i < CPU_SETSIZE; i++) {
		if (!CPU_ISSET(i, &l->d->wanted) ||
			doctor_read(l->d, word, sizeof(word),
				"sys/devices/system/cpu/cpu%zu/cpufreq/scaling_governor", i) != 0)
			continue;
		any = true;
		if (strcmp(word, "performance") != 0) {
			CPU_SET(i, &bad);
			snprintf(l->found, sizeof(l->found), "CPU %zu: %s", i, word);
		}
	}
	doctor_list_cpus(&bad, l->arg, sizeof(l->arg));
	if (CPU_COUNT(&bad) != 0)
		return DOCTOR_OTHERWISE;
	snprintf(l->found, sizeof(l->found), "%s",
		any ? "performance" : "the frequency is not ours to set");
	return DOCTOR_AS_WANTED;
}

/* A list of the kernel's that is to have all wanted CPUs in it; "(null)" is the empty one. */
static enum doctor_answer
doctor_look_list(struct doctor_look *l, const char *file)
{
	char list[DOCTOR_TEXT] = "";
	cpu_set_t set;

	CPU_ZERO(&set);
	if (CPU_COUNT(&l->d->wanted) == 0)
		return DOCTOR_NOT_HERE;
	if (doctor_read(l->d, list, sizeof(list), "sys/devices/system/cpu/%s", file) == -EACCES)
		return doctor_cannot(l, -EACCES);
	if (!weft_cpuset_parse(list, &set))
		CPU_ZERO(&set);
	weft_cpuset_format(&l->d->wanted, l->want, sizeof(l->want));
	weft_cpuset_format(&set, list, sizeof(list));
	snprintf(l->found, sizeof(l->found), "%s", list[0] != '\0' ? list : "none");
	return doctor_has_all(&set, &l->d->wanted) ? DOCTOR_AS_WANTED : DOCTOR_OTHERWISE;
}

enum doctor_answer
doctor_look_isolated(struct doctor_look *l)
{
	return doctor_look_list(l, "isolated");
}

enum doctor_answer
doctor_look_nohz(struct doctor_look *l)
{
	return doctor_look_list(l, "nohz_full");
}

enum doctor_answer
doctor_look_numa(struct doctor_look *l)
{
	const struct doctor_subject *s = l->s;
	const char *folder = s->kind == DOCTOR_PCI ? "sys/bus/pci/devices" : "sys/class/net";
	const char *device = s->kind == DOCTOR_PCI ? "" : "/device";
	const int64_t node = doctor_number(l->d, -1, "%s/%s%s/numa_node", folder, s->name, device);
	char list[DOCTOR_TEXT];
	cpu_set_t here;

	if (node < 0 || CPU_COUNT(&s->cpus) == 0 ||
		doctor_read(l->d, list, sizeof(list), "sys/devices/system/node/node%d/cpulist",
			(int)node) != 0 ||
		!weft_cpuset_parse(list, &here))
		return DOCTOR_NOT_HERE;
	snprintf(l->arg, sizeof(l->arg), "%s", list);
	snprintf(l->want, sizeof(l->want), "%d", (int)node);
	weft_cpuset_format(&s->cpus, list, sizeof(list));
	snprintf(l->found, sizeof(l->found), "%.100s is on node %d, lcores of its node are %.300s",
		s->name, (int)node, list);
	return doctor_has_all(&here, &s->cpus) ? DOCTOR_AS_WANTED : DOCTOR_OTHERWISE;
}

/* --- rights --- */

bool
doctor_has_unit(const struct doctor *d)
{
	return doctor_is_there(d, "usr/lib/systemd/system/weftd@.service") ||
	       doctor_is_there(d, "lib/systemd/system/weftd@.service") ||
	       doctor_is_there(d, "usr/local/lib/systemd/system/weftd@.service") ||
	       doctor_is_there(d, "etc/systemd/system/weftd@.service");
}

static int
doctor_caps(const struct doctor *d, uint64_t *caps)
{
	char text[64];
	const int rc = doctor_find_line(d, "proc/self/status", "CapEff", text, sizeof(text));

	*caps = rc == 0 ? strtoull(text, NULL, 16) : 0;
	return rc;
}

/* The unit gives its daemon these rights, whoever asks here. */
static enum doctor_answer
doctor_look_caps(struct doctor_look *l, uint64_t wanted)
{
	uint64_t caps;
	const int rc = doctor_caps(l->d, &caps);

	if (rc == 0 && (caps & wanted) == wanted) {
		snprintf(l->found, sizeof(l->found), "this user has it");
		return DOCTOR_AS_WANTED;
	}
	if (doctor_has_unit(l->d)) {
		snprintf(l->found, sizeof(l->found), "weftd@.service has it, this user has not");
		return DOCTOR_AS_WANTED;
	}
	if (rc != 0)
		return doctor_cannot(l, rc);
	snprintf(l->found, sizeof(l->found), "not for this user");
	return DOCTOR_OTHERWISE;
}

enum doctor_answer
doctor_look_raw(struct doctor_look *l)
{
	return doctor_look_caps(l, WEFT_BIT64(CAP_NET_RAW));
}

enum doctor_answer
doctor_look_bpf(struct doctor_look *l)
{
	uint64_t caps;

	if (doctor_caps(l->d, &caps) == 0 && (caps & WEFT_BIT64(CAP_SYS_ADMIN)) != 0)
		return doctor_look_caps(l, WEFT_BIT64(CAP_NET_ADMIN));
	return doctor_look_caps(l, WEFT_BIT64(CAP_BPF) | WEFT_BIT64(CAP_NET_ADMIN));
}

enum doctor_answer
doctor_look_memlock(struct doctor_look *l)
{
	char text[128];
	const int rc =
		doctor_find_line(l->d, "proc/self/limits", "Max locked memory", text, sizeof(text));

	snprintf(l->want, sizeof(l->want), "%u", DOCTOR_LOCKED);
	if (doctor_look_caps(l, WEFT_BIT64(CAP_IPC_LOCK)) == DOCTOR_AS_WANTED)
		return DOCTOR_AS_WANTED;
	if (rc != 0)
		return doctor_cannot(l, rc);
	text[strcspn(text, " ")] = '\0';
	snprintf(l->found, sizeof(l->found), "%s", text);
	return strcmp(text, "unlimited") == 0 || strtoull(text, NULL, 10) >= DOCTOR_LOCKED
	               ? DOCTOR_AS_WANTED
	               : DOCTOR_OTHERWISE;
}

/* --- programs --- */

enum doctor_answer
doctor_look_userfaultfd(struct doctor_look *l)
{
	const int64_t v = doctor_number(l->d, -1, "proc/sys/vm/unprivileged_userfaultfd");
	const bool has_file = doctor_has_device(l->d, "dev/userfaultfd", true);

	if (v > 0 || has_file) {
		snprintf(l->found, sizeof(l->found), "%s", v > 0 ? "yes" : "by /dev/userfaultfd");
		return DOCTOR_AS_WANTED;
	}
	snprintf(l->found, sizeof(l->found), "%s",
		v == 0 ? "for a program's own loads and stores only" : "not in this kernel");
	snprintf(l->want, sizeof(l->want), "%s",
		v == 0 ? "echo vm.unprivileged_userfaultfd=1 | sudo tee "
			 "/etc/sysctl.d/60-weft-programs.conf && sudo sysctl --system"
		       : "sudo apt-get install -y linux-image-amd64 && sudo reboot");
	return DOCTOR_OTHERWISE;
}

enum doctor_answer
doctor_look_fuse(struct doctor_look *l)
{
	const bool is_good = doctor_has_device(l->d, "dev/fuse", false);

	snprintf(l->found, sizeof(l->found), "%s",
		is_good                             ? "there"
		: doctor_is_there(l->d, "dev/fuse") ? "no device"
						    : "not there");
	return is_good ? DOCTOR_AS_WANTED : DOCTOR_OTHERWISE;
}

/* --- time --- */

enum doctor_answer
doctor_look_clock(struct doctor_look *l)
{
	static const char folder[] = "sys/devices/system/clocksource/clocksource0";
	static const char *const good[] = { "tsc", "kvm-clock", "hyperv_clocksource_tsc_page",
		"arch_sys_counter" };
	char now[64];
	const int rc = doctor_read(l->d, now, sizeof(now), "%s/current_clocksource", folder);

	if (rc != 0)
		return doctor_cannot(l, rc);
	snprintf(l->found, sizeof(l->found), "%s", now);
	snprintf(l->arg, sizeof(l->arg), "tsc");
	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(good); i++)
		if (strcmp(now, good[i]) == 0)
			return DOCTOR_AS_WANTED;
	return DOCTOR_OTHERWISE;
}

enum doctor_answer
doctor_look_tsc(struct doctor_look *l)
{
	char flags[8192];
	const int rc = doctor_find_line(l->d, "proc/cpuinfo", "flags", flags, sizeof(flags));

	/* Other processors have no line of flags, and a counter that is no question. */
	if (rc == -ENOENT)
		return DOCTOR_NOT_HERE;
	if (rc != 0)
		return doctor_cannot(l, rc);
	if (strstr(flags, "constant_tsc") != NULL) {
		snprintf(l->found, sizeof(l->found), "constant_tsc");
		return DOCTOR_AS_WANTED;
	}
	snprintf(l->found, sizeof(l->found), "the CPU does not say so");
	return DOCTOR_OTHERWISE;
}

enum doctor_answer
doctor_look_synchronised(struct doctor_look *l)
{
	static const char *const by[][2] = {
		{ "run/systemd/timesync/synchronized", "systemd-timesyncd" },
		{ "run/chrony", "chrony" },
		{ "run/ntpd.pid", "ntpd" },
		{ "run/ntpsec", "ntpsec" },
		{ "run/ptp4l", "ptp4l" },
	};

	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(by); i++) {
		if (doctor_is_there(l->d, "%s", by[i][0])) {
			snprintf(l->found, sizeof(l->found), "by %s", by[i][1]);
			return DOCTOR_AS_WANTED;
		}
	}
	snprintf(l->found, sizeof(l->found), "no sign of it");
	return DOCTOR_OTHERWISE;
}

/* --- files --- */

/* A path as a shell takes it for one word. */
static const char *
doctor_quote(const char *path, char *word, size_t len)
{
	size_t n = 0;

	if (path[strspn(path,
		    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-")] == '\0')
		return path;
	word[n++] = '\'';
	for (; *path != '\0' && n + 6 < len; path++)
		if (*path == '\'')
			n += (size_t)snprintf(word + n, len - n, "'\\''");
		else
			word[n++] = *path;
	word[n++] = '\'';
	word[n] = '\0';
	return word;
}

/* What it holds, as weftd reads it. */
static enum doctor_answer
doctor_judge_key(struct doctor_look *l, const struct stat *st, const char *word)
{
	const char *path = l->s->name;
	const int fd = openat(l->d->root, path + 1, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	char why[128];
	int rc = fd < 0 ? -errno : weft_psk_judge(fd, why, sizeof(why));

	if (fd >= 0)
		close(fd);
	/* Root's, for a weftd of root: whoever else looks need not read it. */
	if (rc == 0 || (rc == -EACCES && st->st_size >= 2 * WEFT_PSK_LEN))
		return DOCTOR_AS_WANTED;
	if (rc == -EACCES)
		snprintf(why, sizeof(why), "too short for %u hex digits", 2 * WEFT_PSK_LEN);
	else if (rc != -EINVAL)
		return doctor_cannot(l, rc);
	snprintf(l->found, sizeof(l->found), "%.370s: %s", path, why);
	snprintf(l->want, sizeof(l->want), DOCTOR_NEW_KEY, word);
	return DOCTOR_OTHERWISE;
}

enum doctor_answer
doctor_look_key(struct doctor_look *l)
{
	const char *path = l->s->name;
	struct stat st;
	char quoted[400];
	const char *word = doctor_quote(path, quoted, sizeof(quoted));
	const int rc = doctor_stat(l->d, &st, "%s", path + 1);

	if (rc == -EACCES)
		return doctor_cannot(l, rc);
	/* What is written through a link takes the place of a key that may be a good one. */
	if (rc == 0 && S_ISLNK(st.st_mode)) {
		snprintf(l->found, sizeof(l->found), "%.400s: a symbolic link", path);
		snprintf(l->want, sizeof(l->want),
			"let key_file name the file that %.300s leads to: weftd follows no link",
			word);
		return DOCTOR_OTHERWISE;
	}
	if (rc != 0 || !S_ISREG(st.st_mode)) {
		snprintf(l->found, sizeof(l->found), "%.400s: %s", path,
			rc != 0 ? "not there" : "no plain file");
		snprintf(l->want, sizeof(l->want), DOCTOR_NEW_KEY, word);
		return DOCTOR_OTHERWISE;
	}
	snprintf(l->found, sizeof(l->found), "%.400s: mode %04o", path,
		(unsigned int)st.st_mode & 07777);
	snprintf(l->want, sizeof(l->want), "sudo chmod 0600 %.400s", word);
	if ((st.st_mode & 077) != 0)
		return DOCTOR_OTHERWISE;
	/* Of a copy of a machine the owner is who copied. */
	if (!l->d->is_copy && st.st_uid != geteuid() && st.st_uid != 0) {
		snprintf(l->found, sizeof(l->found), "%.400s: of user %u, not of %u", path,
			(unsigned int)st.st_uid, (unsigned int)geteuid());
		snprintf(l->want, sizeof(l->want), "sudo chown %u %.400s", (unsigned int)geteuid(),
			word);
		return DOCTOR_OTHERWISE;
	}
	return doctor_judge_key(l, &st, word);
}

/* As weft_attach_rundir() judges it. */
enum doctor_answer
doctor_look_run_folder(struct doctor_look *l)
{
	const char *path = l->d->run_folder;
	struct stat st;
	const int rc = doctor_stat(l->d, &st, "%s", path + 1);

	if (rc == -EACCES)
		return doctor_cannot(l, rc);
	if (rc != 0) {
		snprintf(l->found, sizeof(l->found), "%s: none yet", path);
		return DOCTOR_AS_WANTED;
	}
	snprintf(l->found, sizeof(l->found), "%s: mode %04o, user %u", path,
		(unsigned int)st.st_mode & 07777, (unsigned int)st.st_uid);
	if (S_ISDIR(st.st_mode) && st.st_uid == geteuid() && (st.st_mode & 022) == 0)
		return DOCTOR_AS_WANTED;
	if (S_ISDIR(st.st_mode) && st.st_uid == geteuid())
		snprintf(l->want, sizeof(l->want), "chmod 0711 %s", path);
	else
		snprintf(l->want, sizeof(l->want),
			"sudo mv %s %s.old, if no daemon of its owner runs", path, path);
	return DOCTOR_OTHERWISE;
}
