/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* The files of the machine that weftctl doctor looks at, and what the nodes of a topology need. */

#include "doctor.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "weft_attach_rundir.h"
#include "weft_cpuset.h"
#include "weft_ide.h"
#include "weft_topo.h"

#define DOCTOR_PATH 512
#define DOCTOR_FILE 65536 /* most that is read of one */
#define DOCTOR_POOL_MB 512 /* of a daemon */
#define DOCTOR_PORT_MB 64 /* of each port with a device */
#define DOCTOR_MTU 9000 /* 35 flits, where no topology says what is wanted */
#define DOCTOR_KEPT_CPUS 2 /* left to the system where no topology names lcores */

#define DOCTOR_FORMAT_PATH(path, fmt)                                                              \
	do {                                                                                       \
		va_list ap;                                                                        \
		va_start(ap, fmt);                                                                 \
		vsnprintf(path, sizeof(path), fmt, ap);                                            \
		va_end(ap);                                                                        \
	} while (0)

/* The beginning of a file as a string. Bytes read, or -errno. */
static ssize_t
doctor_slurp(const struct doctor *d, const char *path, char *buf, size_t len)
{
	const int fd = openat(d->root, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	size_t used = 0;
	ssize_t n = 0;

	if (fd < 0)
		return -errno;
	while (used + 1 < len && (n = read(fd, buf + used, len - 1 - used)) > 0)
		used += (size_t)n;
	if (n < 0)
		n = -errno;
	close(fd);
	buf[used] = '\0';
	return n < 0 ? n : (ssize_t)used;
}

int
doctor_read(const struct doctor *d, char *line, size_t len, const char *fmt, ...)
{
	char path[DOCTOR_PATH];
	ssize_t n;

	DOCTOR_FORMAT_PATH(path, fmt);
	n = doctor_slurp(d, path, line, len);
	if (n < 0)
		return (int)n;
	line[strcspn(line, "\n")] = '\0';
	return 0;
}

int64_t
doctor_number(const struct doctor *d, int64_t otherwise, const char *fmt, ...)
{
	char path[DOCTOR_PATH], line[64], *end;
	long long v;

	DOCTOR_FORMAT_PATH(path, fmt);
	if (doctor_slurp(d, path, line, sizeof(line)) < 0)
		return otherwise;
	v = strtoll(line, &end, 0);
	return end == line ? otherwise : v;
}

int
doctor_link(const struct doctor *d, char *name, size_t len, const char *fmt, ...)
{
	char path[DOCTOR_PATH], to[DOCTOR_PATH];
	const char *slash;
	ssize_t n;

	DOCTOR_FORMAT_PATH(path, fmt);
	n = readlinkat(d->root, path, to, sizeof(to) - 1);
	if (n < 0)
		return -errno;
	to[n] = '\0';
	slash = strrchr(to, '/');
	snprintf(name, len, "%s", slash != NULL ? slash + 1 : to);
	return 0;
}

int
doctor_stat(const struct doctor *d, struct stat *st, const char *fmt, ...)
{
	char path[DOCTOR_PATH];

	DOCTOR_FORMAT_PATH(path, fmt);
	return fstatat(d->root, path, st, AT_SYMLINK_NOFOLLOW) == 0 ? 0 : -errno;
}

bool
doctor_is_there(const struct doctor *d, const char *fmt, ...)
{
	char path[DOCTOR_PATH];
	struct stat st;

	DOCTOR_FORMAT_PATH(path, fmt);
	return fstatat(d->root, path, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

bool
doctor_has_device(const struct doctor *d, const char *path, bool may_use)
{
	struct stat st;

	return fstatat(d->root, path, &st, 0) == 0 &&
	       (S_ISCHR(st.st_mode) || (d->is_copy && S_ISREG(st.st_mode))) &&
	       (!may_use || faccessat(d->root, path, R_OK | W_OK, AT_EACCESS) == 0);
}

int
doctor_find_line(const struct doctor *d, const char *path, const char *word, char *rest, size_t len)
{
	char *text = malloc(DOCTOR_FILE);
	const size_t word_len = strlen(word);
	ssize_t n;
	int rc = -ENOENT;

	if (text == NULL)
		return -ENOMEM;
	n = doctor_slurp(d, path, text, DOCTOR_FILE);
	if (n < 0)
		rc = (int)n;
	for (char *line = text; n > 0 && line != NULL; line = strchr(line, '\n')) {
		const char *at;

		line += *line == '\n';
		at = line + word_len;
		if (strncmp(line, word, word_len) != 0 || strchr(" \t:", *at) == NULL ||
			*at == '\0')
			continue;
		at += strspn(at, " \t:");
		snprintf(rest, len, "%.*s", (int)strcspn(at, "\n"), at);
		rc = 0;
		break;
	}
	free(text);
	return rc;
}

unsigned int
doctor_each_name(const struct doctor *d, const char *path, void (*fn)(void *arg, const char *name),
	void *arg)
{
	const int fd = openat(d->root, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *e;
	unsigned int n = 0;

	if (dir == NULL) {
		if (fd >= 0)
			close(fd);
		return 0;
	}
	while ((e = readdir(dir)) != NULL) {
		if (e->d_name[0] == '.')
			continue;
		n++;
		if (fn != NULL)
			fn(arg, e->d_name);
	}
	closedir(dir);
	return n;
}

int
doctor_open(struct doctor *d, const char *root)
{
	char list[256];

	memset(d, 0, sizeof(*d));
	d->root = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (d->root < 0)
		return -errno;
	d->is_copy = strcmp(root, "/") != 0;
	if (!doctor_is_there(d, "proc/sys") && !doctor_is_there(d, "sys/devices")) {
		doctor_close(d);
		return -ENODEV;
	}
	if (doctor_read(d, d->machine, sizeof(d->machine), "proc/sys/kernel/hostname") != 0)
		snprintf(d->machine, sizeof(d->machine), "unknown");
	doctor_make_plain(d->machine);
	if (doctor_read(d, list, sizeof(list), "sys/devices/system/cpu/online") != 0 ||
		!weft_cpuset_parse(list, &d->online))
		CPU_ZERO(&d->online);
	weft_attach_rundir(d->run_folder, sizeof(d->run_folder), false);
	d->subject[d->n_subjects++].kind = DOCTOR_MACHINE;
	return 0;
}

void
doctor_close(struct doctor *d)
{
	close(d->root);
}

/* Of one name once, with the most that is asked of it; NULL: no room. */
static struct doctor_subject *
doctor_add(struct doctor *d, unsigned int kind, const char *name)
{
	struct doctor_subject *s;

	for (unsigned int i = 0; i < d->n_subjects; i++)
		if (d->subject[i].kind == kind && strcmp(d->subject[i].name, name) == 0)
			return &d->subject[i];
	if (d->n_subjects == DOCTOR_SUBJECTS)
		return NULL;
	s = &d->subject[d->n_subjects++];
	s->kind = kind;
	snprintf(s->name, sizeof(s->name), "%s", name);
	return s;
}

/* NICs that DPDK has already. */
static void
doctor_add_pci(void *arg, const char *name)
{
	struct doctor *d = arg;
	char driver[64];

	if (doctor_link(d, driver, sizeof(driver), "sys/bus/pci/devices/%s/driver", name) == 0 &&
		(strcmp(driver, "vfio-pci") == 0 || strcmp(driver, "uio_pci_generic") == 0))
		doctor_add(d, DOCTOR_PCI, name);
}

/* Interfaces of hardware that are up and do not carry the default route. */
static void
doctor_add_netif(void *arg, const char *name)
{
	struct doctor *d = arg;
	struct doctor_subject *s;
	char route[256];

	snprintf(route, sizeof(route), "%s\t00000000", name);
	if (!doctor_is_there(d, "sys/class/net/%s/device", name) ||
		(doctor_number(d, 0, "sys/class/net/%s/flags", name) & IFF_UP) == 0 ||
		doctor_find_line(d, "proc/net/route", route, route, sizeof(route)) == 0)
		return;
	s = doctor_add(d, DOCTOR_NETIF, name);
	if (s != NULL)
		s->mtu = DOCTOR_MTU;
}

static void
doctor_add_key(void *arg, const char *name)
{
	const char *dot = strrchr(name, '.');
	char path[sizeof("/etc/weft/") + NAME_MAX];

	snprintf(path, sizeof(path), "/etc/weft/%s", name);
	if (dot != NULL && strcmp(dot, ".key") == 0)
		doctor_add(arg, DOCTOR_KEY, path);
}

void
doctor_want_all(struct doctor *d)
{
	int kept = DOCTOR_KEPT_CPUS;

	d->needs = DOCTOR_NEEDS_PCI | DOCTOR_NEEDS_NETIF | DOCTOR_NEEDS_XDP | DOCTOR_NEEDS_CPUS |
	           DOCTOR_NEEDS_PROGRAMS | DOCTOR_NEEDS_KEYS | DOCTOR_NEEDS_OTHERS |
	           DOCTOR_NEEDS_ANYHOW;
	d->pool_mb = DOCTOR_POOL_MB + DOCTOR_PORT_MB;
	d->wanted = d->online;
	for (size_t i = 0; i < CPU_SETSIZE && kept > 0; i++) {
		kept -= CPU_ISSET(i, &d->wanted);
		CPU_CLR(i, &d->wanted);
	}
	doctor_each_name(d, "sys/bus/pci/devices", doctor_add_pci, d);
	doctor_each_name(d, "sys/class/net", doctor_add_netif, d);
	doctor_each_name(d, "etc/weft", doctor_add_key, d);
}

static void
doctor_want_cpus(struct doctor *d, const struct weft_topo_node *n, cpu_set_t *cpus)
{
	CPU_ZERO(cpus);
	for (unsigned int i = 0; i < n->n_lcores; i++)
		CPU_SET(n->lcore[i], cpus);
	CPU_OR(&d->wanted, &d->wanted, cpus);
	if (n->n_lcores != 0)
		d->needs |= DOCTOR_NEEDS_CPUS;
}

static int
doctor_want_port(struct doctor *d, const struct weft_topo *t, unsigned int port)
{
	const struct weft_topo_port *p = &t->port[port];
	const struct weft_topo_node *n = &t->node[p->node];
	const bool is_pci = p->device_kind == WEFT_TOPO_PCI;
	struct doctor_subject *s;

	if (!is_pci && p->device_kind != WEFT_TOPO_NETIF)
		return 0;
	d->needs |= is_pci ? DOCTOR_NEEDS_PCI : DOCTOR_NEEDS_NETIF;
	s = doctor_add(d, is_pci ? DOCTOR_PCI : DOCTOR_NETIF, p->device);
	if (s == NULL)
		return -ENOSPC;
	snprintf(s->port, sizeof(s->port), "%s.%u", n->name, port - n->first_port);
	s->mtu = p->mtu > s->mtu ? p->mtu : s->mtu;
	s->must_xdp = p->driver == WEFT_TOPO_AF_XDP;
	doctor_want_cpus(d, n, &s->cpus);
	if (s->must_xdp)
		d->needs |= DOCTOR_NEEDS_XDP;
	if (is_pci)
		d->pool_mb += DOCTOR_PORT_MB;
	return 0;
}

static int
doctor_want_node(struct doctor *d, const struct weft_topo *t, unsigned int node)
{
	const struct weft_topo_node *n = &t->node[node];
	const size_t used = strlen(d->nodes);
	cpu_set_t cpus;
	int rc = 0;

	snprintf(d->nodes + used, sizeof(d->nodes) - used, "%s%s", used == 0 ? "" : ", ", n->name);
	doctor_want_cpus(d, n, &cpus);
	d->memory += n->memory + n->gim;
	if (n->kind == WEFT_TOPO_HOST)
		d->needs |= DOCTOR_NEEDS_PROGRAMS;
	for (unsigned int i = 0; i < n->n_ports && rc == 0; i++)
		rc = doctor_want_port(d, t, n->first_port + i);
	return rc;
}

/* A file that is named without a folder is in the folder that weftd is started in, as we are. */
static int
doctor_want_key(struct doctor *d, const char *file)
{
	char path[DOCTOR_TEXT] = "";
	const bool is_whole = file[0] == '/';

	if (!is_whole && getcwd(path, sizeof(path) / 2) == NULL)
		return -errno;
	snprintf(path + strlen(path), sizeof(path) - strlen(path), "%s%s", is_whole ? "" : "/",
		file);
	d->needs |= DOCTOR_NEEDS_KEYS;
	return doctor_add(d, DOCTOR_KEY, path) != NULL ? 0 : -ENOSPC;
}

int
doctor_want(
	struct doctor *d, const struct weft_topo *t, const char *node, struct weft_topo_error *err)
{
	uint16_t *list = calloc(t->n_nodes, sizeof(*list));
	int n, rc = 0;

	if (list == NULL)
		return -ENOMEM;
	n = weft_topo_select(t, d->machine, node, list, err);
	d->needs = DOCTOR_NEEDS_ANYHOW | DOCTOR_NEEDS_LOOKED_UP |
	           (n < t->n_nodes ? DOCTOR_NEEDS_OTHERS : 0);
	d->pool_mb = DOCTOR_POOL_MB;
	for (int i = 0; i < n && rc == 0; i++)
		rc = doctor_want_node(d, t, list[i]);
	if (n > 0 && rc == 0 && t->ide.mode != WEFT_IDE_OFF)
		rc = doctor_want_key(d, t->ide.key_file);
	free(list);
	return n < 0 ? n : rc;
}
