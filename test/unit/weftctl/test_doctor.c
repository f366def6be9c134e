/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Rules of weftctl doctor, over a tree of files that stands for a machine: a healthy one, the same
 * with each fault, and files that hold anything.
 */

#include "weft_test.h"

#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include "doctor.h"
#include "weft_topo.h"

#define KEY "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define ZEROS "0000000000000000000000000000000000000000000000000000000000000000"

static const char lab[] =
	"fabric: lab\n"
	"ide: {mode: skid, key_file: /etc/weft/lab.key}\n"
	"nodes:\n"
	"  - {name: h0, kind: host, server: lab1, pid: 0x101, lcores: \"2-3\"}\n"
	"  - {name: s0, kind: switch, server: lab1, pid: 0x010}\n"
	"  - {name: g0, kind: gfd, server: lab2, pid: 0x200, memory: 4K}\n"
	"  - {name: g1, kind: gfd, server: lab1, pid: 0x201, memory: 2G}\n"
	"links:\n"
	"  - {a: s0, b: g1}\n"
	"  - {a: h0, b: s0, a_port: {pci: \"0000:3b:00.0\"}, b_port: {pci: \"0000:5e:00.0\"}}\n"
	"  - {a: s0, b: g0, a_port: {netif: ens2f1, driver: af_xdp, mtu: 3000},\n"
	"     b_port: {netif: ens2f0, mtu: 3000}}\n";

struct file {
	const char *path;
	/* A line; "> X": a link to X; "/": a folder; "mode 0600": of what is there; NULL: gone. */
	const char *holds;
};

#define PCI "sys/bus/pci/devices/"
#define CPU "sys/devices/system/cpu/"
#define NODE "sys/devices/system/node/"
#define NET "sys/class/net/ens2f1/"
#define CLOCK "sys/devices/system/clocksource/clocksource0/current_clocksource"

static const struct file healthy[] = {
	{ "proc/sys/kernel/hostname", "lab1" },
	{ "proc/meminfo", "MemTotal: 9000000 kB\nMemAvailable:    4194304 kB" },
	{ "proc/self/status", "Name:\tx\nCapEff:\t000000ffffffffff" },
	{ "proc/self/limits", "Max locked memory         unlimited            unlimited  bytes" },
	{ "proc/cpuinfo", "vendor_id\t: GenuineIntel\nflags\t\t: fpu constant_tsc" },
	{ "proc/net/route", "Iface\tDestination\neno1\t00000000\t010200C0" },
	{ "proc/net/protocols", "protocol  size\nXDP       1088      0" },
	{ "proc/modules", "vfio_pci 1 0 - Live 0x0" },
	{ "proc/sys/vm/unprivileged_userfaultfd", "1" },
	{ "sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", "512" },
	{ "sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "512" },
	{ "sys/kernel/iommu_groups/12", "/" },
	{ "sys/bus/pci/drivers/vfio-pci", "/" },
	{ CPU "online", "0-7" },
	{ CPU "isolated", "2-3" },
	{ CPU "nohz_full", "2-3" },
	{ CPU "cpu2/cpufreq/scaling_governor", "performance" },
	{ CPU "cpu3/cpufreq/scaling_governor", "performance" },
	{ NODE "node0/cpulist", "0-3" },
	{ NODE "node1/cpulist", "4-7" },
	{ NODE "node0/hugepages/hugepages-2048kB/free_hugepages", "512" },
	{ NODE "node1/hugepages/hugepages-2048kB/free_hugepages", "0" },
	{ CLOCK, "tsc" },
	{ PCI "0000:3b:00.0/numa_node", "0" },
	{ PCI "0000:3b:00.0/driver", "> ../../../bus/pci/drivers/vfio-pci" },
	{ PCI "0000:3b:00.0/iommu_group", "> ../../../kernel/iommu_groups/12" },
	{ PCI "0000:5e:00.0/numa_node", "-1" },
	{ PCI "0000:5e:00.0/driver", "> ../../../bus/pci/drivers/mlx5_core" },
	{ PCI "0000:5e:00.0/net/ens1", "/" },
	{ NET "flags", "0x1003" },
	{ NET "carrier", "1" },
	{ NET "mtu", "3498" },
	{ NET "device/numa_node", "0" },
	{ "dev/fuse", "" },
	{ "dev/vfio/12", "" },
	{ "run/systemd/timesync/synchronized", "" },
	{ "run/user/7/weft", "/" },
	{ "run/user/7/weft", "mode 0700" },
	{ "etc/weft/lab.key", KEY },
	{ "etc/weft/lab.key", "mode 0600" },
};

/* Each alone makes one rule find something, and no other. */
static const struct fault {
	const char *rule;
	struct file file;
	enum doctor_level level;
	const char *found, *fix; /* parts of them */
} faults[] = {
	{ "memory", { "proc/meminfo", "MemAvailable: 2097151 kB" }, DOCTOR_STOPS,
		"2047 MB available", "less memory in the topology" },
	{ "hugepages", { "sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", "12" },
		DOCTOR_STOPS, "24 MB", "vm.nr_hugepages=820 " },
	{ "hugepages-node", { NODE "node0/hugepages/hugepages-2048kB/free_hugepages", "0" },
		DOCTOR_SLOWS, "0000:3b:00.0: 0 MB free on node 0", "echo 320 | sudo tee /sys/dev" },
	{ "online", { CPU "online", "0-2" }, DOCTOR_STOPS, "0-2", "among 0-2 in" },
	{ "online", { CPU "online", NULL }, DOCTOR_UNKNOWN, "No such file", "" },
	{ "governor", { CPU "cpu3/cpufreq/scaling_governor", "powersave" }, DOCTOR_SLOWS,
		"CPU 3: powersave", "for c in 3; do echo performance" },
	{ "isolated", { CPU "isolated", "" }, DOCTOR_SLOWS, "none", "&isolcpus=2-3 /" },
	{ "isolated", { CPU "isolated", "3" }, DOCTOR_SLOWS, "3", "&isolcpus=2-3 /" },
	{ "nohz", { CPU "nohz_full", "(null)" }, DOCTOR_SLOWS, "none", "nohz_full=2-3 rcu" },
	{ "nohz", { CPU "nohz_full", NULL }, DOCTOR_SLOWS, "none", "nohz_full=2-3 rcu" },
	{ "numa", { NODE "node0/cpulist", "0-2" }, DOCTOR_SLOWS, "of its node are 2-3",
		"among 0-2 for" },
	{ "pci", { "0000:3b:00.0", NULL }, DOCTOR_STOPS, "h0.0 on 0000:3b:00.0: no such",
		"correct 0000:3b:00.0" },
	{ "uplink", { "proc/net/route", "Iface\tDestination\nens1\t00000000\t010200C0" },
		DOCTOR_STOPS, "s0.1 on 0000:5e:00.0: ens1 has", "another NIC than 0000:5e" },
	{ "iommu", { "sys/kernel/iommu_groups/12", NULL }, DOCTOR_STOPS, "0 groups",
		"&intel_iommu=on iommu=pt /" },
	{ "vfio", { "sys/bus/pci/drivers/vfio-pci", NULL }, DOCTOR_STOPS, "not loaded",
		"modprobe vfio-pci" },
	{ "driver", { PCI "0000:3b:00.0/driver", "> ../../../bus/pci/drivers/ixgbe" }, DOCTOR_STOPS,
		"ixgbe", "driverctl set-override 0000:3b:00.0 vfio-pci" },
	{ "driver", { PCI "0000:3b:00.0/driver", NULL }, DOCTOR_STOPS, "no driver", "driverctl" },
	{ "vfio-file", { "dev/vfio/12", "> nowhere" }, DOCTOR_STOPS, "not for this user",
		"/dev/vfio/12" },
	{ "interface", { "ens2f1", NULL }, DOCTOR_STOPS, "s0.2 on ens2f1: no such",
		"correct ens2f1" },
	{ "up", { NET "flags", "0x1002" }, DOCTOR_STOPS, "down", "ip link set ens2f1 up" },
	{ "carrier", { NET "carrier", "0" }, DOCTOR_STOPS, "no carrier", "link show ens2f1" },
	{ "mtu", { NET "mtu", "2999" }, DOCTOR_STOPS, "2999", "set ens2f1 mtu 3000" },
	{ "af_xdp-mtu", { NET "mtu", "3499" }, DOCTOR_STOPS, "3499", "set ens2f1 mtu 3498" },
	{ "master", { NET "master", "> ../br0" }, DOCTOR_STOPS, "br0", "ens2f1 nomaster" },
	{ "firewall", { "proc/modules", "ebtable_filter 1 0 - Live 0x0" }, DOCTOR_SLOWS,
		"ebtables is loaded", "ebtables -L" },
	{ "af_xdp", { "proc/net/protocols", "protocol  size" }, DOCTOR_STOPS, "has none",
		"linux-image-amd64" },
	{ "raw-sockets", { "proc/self/status", "CapEff:\t000000ffffffdfff" }, DOCTOR_STOPS,
		"not for this user", "setcap cap_net_raw" },
	{ "bpf", { "proc/self/status", "CapEff:\t0000000000006000" }, DOCTOR_SLOWS,
		"not for this user", "setcap cap_net_raw" },
	{ "userfaultfd", { "proc/sys/vm/unprivileged_userfaultfd", "0" }, DOCTOR_SLOWS,
		"loads and stores only", "vm.unprivileged_userfaultfd=1" },
	{ "userfaultfd", { "proc/sys/vm/unprivileged_userfaultfd", NULL }, DOCTOR_SLOWS,
		"not in this kernel", "linux-image-amd64" },
	{ "fuse", { "dev/fuse", NULL }, DOCTOR_SLOWS, "not there", "apt-get install -y fuse3" },
	{ "clocksource", { CLOCK, "hpet" }, DOCTOR_SLOWS, "hpet", "echo tsc | sudo tee" },
	{ "clocksource", { CLOCK, "> current_clocksource" }, DOCTOR_UNKNOWN, "symbolic", "" },
	{ "tsc", { "proc/cpuinfo", "flags\t\t: fpu" }, DOCTOR_SLOWS, "does not say", "cpuinfo" },
	{ "synchronised", { "run/systemd/timesync/synchronized", NULL }, DOCTOR_SLOWS, "no sign",
		"timedatectl" },
	{ "key", { "etc/weft/lab.key", "mode 0640" }, DOCTOR_STOPS, "mode 0640",
		"chmod 0600 /etc/weft/lab.key" },
	{ "key", { "etc/weft/lab.key", NULL }, DOCTOR_STOPS, "not there", "openssl rand" },
	{ "key", { "etc/weft/lab.key", "> other.key" }, DOCTOR_STOPS, "a symbolic link",
		"let key_file name the file that /etc/weft/lab.key leads to" },
	{ "key", { "etc/weft/lab.key", KEY "\n" KEY }, DOCTOR_STOPS,
		"expected 64 hex digits, once, got more than that in line 2", "openssl rand" },
	{ "key", { "etc/weft/lab.key", "0x" KEY }, DOCTOR_STOPS,
		"got a character that is none in line 1", "openssl rand" },
	{ "key", { "etc/weft/lab.key", "00" }, DOCTOR_STOPS,
		"expected 64 hex digits, once, got fewer", "openssl rand" },
	{ "key", { "etc/weft/lab.key", "#\x80 raw bytes of the generator \x01\xFF" }, DOCTOR_STOPS,
		"got 32 raw bytes", "openssl rand" },
	{ "key", { "etc/weft/lab.key", ZEROS }, DOCTOR_STOPS, "got zeros alone", "openssl rand" },
	{ "run-folder", { "run/user/7/weft", "mode 0777" }, DOCTOR_STOPS, "mode 0777",
		"chmod 0711 /run/user/7/weft" },
	{ "run-folder", { "run/user/7/weft", "> elsewhere" }, DOCTOR_STOPS, "weft: mode",
		"sudo mv /run/user/7/weft " },
};

static char root[] = "/tmp/weft-doctor-XXXXXX";
static int root_fd;

static int
remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st;
	(void)kind;
	(void)at;
	return remove(path);
}

static void
remove_all(const char *path)
{
	char whole[512];

	snprintf(whole, sizeof(whole), "%s/%s", root, path);
	nftw(whole, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void
make_folders(const char *path)
{
	char part[512];

	for (const char *slash = strchr(path, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
		snprintf(part, sizeof(part), "%.*s", (int)(slash - path), path);
		mkdirat(root_fd, part, 0755);
	}
}

static void
write_bytes(const char *path, const void *bytes, size_t n)
{
	const int fd = openat(root_fd, path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, n), (ssize_t)n);
	close(fd);
}

static void
put(const struct file *f)
{
	make_folders(f->path);
	if (f->holds != NULL && strncmp(f->holds, "mode ", 5) == 0) {
		assert_int_equal(
			fchmodat(root_fd, f->path, (mode_t)strtoul(f->holds + 5, NULL, 8), 0), 0);
		return;
	}
	remove_all(f->path);
	if (f->holds == NULL)
		return;
	if (f->holds[0] == '/')
		assert_int_equal(mkdirat(root_fd, f->path, 0755), 0);
	else if (f->holds[0] == '>')
		assert_int_equal(symlinkat(f->holds + 2, root_fd, f->path), 0);
	else
		write_bytes(f->path, f->holds, strlen(f->holds));
	if (strstr(f->path, ".key") != NULL && f->holds[0] != '>')
		assert_int_equal(fchmodat(root_fd, f->path, 0600, 0), 0);
}

static int
make_healthy(void **state)
{
	(void)state;
	remove_all(".");
	mkdir(root, 0755);
	root_fd = open(root, O_RDONLY | O_DIRECTORY);
	if (root_fd < 0)
		return -1;
	for (size_t i = 0; i < WEFT_ARRAY_SIZE(healthy); i++)
		put(&healthy[i]);
	return 0;
}

static int
make_root(void **state)
{
	(void)state;
	setenv("XDG_RUNTIME_DIR", "/run/user/7", 1);
	return mkdtemp(root) == NULL ? -1 : 0;
}

static int
close_root(void **state)
{
	(void)state;
	close(root_fd);
	return 0;
}

static int
remove_root(void **state)
{
	(void)state;
	remove_all(".");
	return 0;
}

WEFT_TEST_AROUND(make_root, remove_root)
WEFT_TEST_EACH(make_healthy, close_root)

/* What was found, by rule. */
struct seen {
	unsigned int n[64], n_bad, n_text;
	struct doctor_finding bad; /* the last that is not good */
};

static void
see(void *arg, const struct doctor_finding *f)
{
	struct seen *s = arg;

	s->n[f->rule - doctor_rules]++;
	s->n_text += (unsigned int)(strlen(f->found) + strlen(f->wanted) + strlen(f->fix));
	if (f->level == DOCTOR_GOOD)
		return;
	s->n_bad++;
	s->bad = *f;
}

static void
look(const char *yaml, const char *node, struct seen *s)
{
	static struct doctor d;
	struct weft_topo *t = NULL;
	struct weft_topo_error e;

	memset(s, 0, sizeof(*s));
	assert_int_equal(doctor_open(&d, root), 0);
	if (yaml != NULL) {
		if (weft_topo_parse(&t, "lab.yaml", yaml, strlen(yaml), &e) != 0)
			fail_msg("%s", e.text);
		assert_int_equal(doctor_want(&d, t, node, &e), 0);
		weft_topo_free(t);
	} else {
		doctor_want_all(&d);
	}
	doctor_run(&d, see, s);
	doctor_close(&d);
}

static unsigned int
rule_of(const char *name)
{
	for (unsigned int i = 0; i < doctor_n_rules; i++)
		if (strcmp(doctor_rules[i].name, name) == 0)
			return i;
	fail_msg("no rule %s", name);
	return 0;
}

WEFT_TEST(a_healthy_machine_has_nothing_in_the_way_and_every_rule_looks)
{
	struct seen s;

	assert_true(doctor_n_rules <= WEFT_ARRAY_SIZE(s.n));
	look(lab, NULL, &s);
	if (s.n_bad != 0)
		fail_msg("%s: %s", s.bad.rule->name, s.bad.found);
	for (unsigned int i = 0; i < doctor_n_rules; i++)
		if (s.n[i] == 0)
			fail_msg("%s did not look", doctor_rules[i].name);
}

/* A folder of a device is named by its own name alone in the table. */
static struct file
place_of(const struct fault *f)
{
	static char path[128];

	if (strchr(f->file.path, '/') != NULL)
		return f->file;
	snprintf(path, sizeof(path), "%s%s", strcmp(f->rule, "pci") == 0 ? PCI : "sys/class/net/",
		f->file.path);
	return (struct file){ path, f->file.holds };
}

WEFT_TEST(each_fault_is_found_by_its_rule_alone_with_what_mends_it)
{
	bool has_fault[64] = { false };
	struct seen s;

	for (size_t i = 0; i < WEFT_ARRAY_SIZE(faults); i++) {
		const struct fault *f = &faults[i];
		const struct file at = place_of(f);

		close_root(NULL);
		assert_int_equal(make_healthy(NULL), 0);
		put(&at);
		look(lab, NULL, &s);
		has_fault[rule_of(f->rule)] = true;
		if (s.n_bad != 1 || strcmp(s.bad.rule->name, f->rule) != 0)
			fail_msg("%s, %s: %u findings, %s: %s", f->rule, f->file.path, s.n_bad,
				s.n_bad != 0 ? s.bad.rule->name : "", s.bad.found);
		if (s.bad.level != f->level || strstr(s.bad.found, f->found) == NULL ||
			strstr(s.bad.fix, f->fix) == NULL)
			fail_msg("%s: %s, %s: %s", f->rule, doctor_level_words[s.bad.level],
				s.bad.found, s.bad.fix);
		assert_int_equal(s.bad.fix[0] == '\0', f->level == DOCTOR_UNKNOWN);
	}
	has_fault[rule_of("memlock")] = true; /* takes two files: below */
	for (unsigned int i = 0; i < doctor_n_rules; i++)
		if (!has_fault[i])
			fail_msg("no fault of %s is tried", doctor_rules[i].name);
}

WEFT_TEST(rights_may_be_of_the_user_or_of_the_unit)
{
	struct seen s;

	put(&(struct file){ "proc/self/status", "CapEff:\t0000008000003000" });
	look(lab, NULL, &s);
	assert_int_equal(s.n_bad, 0);
	put(&(struct file){ "proc/self/limits", "Max locked memory  8388608  8388608  bytes" });
	look(lab, NULL, &s);
	assert_int_equal(s.n_bad, 1);
	assert_string_equal(s.bad.rule->name, "memlock");
	assert_int_equal(s.bad.level, DOCTOR_STOPS);
	assert_non_null(strstr(s.bad.fix, "memlock unlimited"));
	put(&(struct file){ "proc/self/status", "CapEff:\t0000000000000000" });
	look(lab, NULL, &s);
	assert_int_equal(s.n_bad, 3);
	put(&(struct file){ "usr/lib/systemd/system/weftd@.service", "[Unit]" });
	look(lab, NULL, &s);
	assert_int_equal(s.n_bad, 0);
}

WEFT_TEST(a_machine_whose_nodes_need_nothing_is_asked_for_nothing)
{
	static const char rings[] =
		"fabric: rings\n"
		"nodes:\n"
		"  - {name: s0, kind: switch, server: lab1, pid: 0x010}\n"
		"  - {name: s1, kind: switch, server: lab1, pid: 0x011}\n"
		"  - {name: h0, kind: host, server: lab1, pid: 0x101}\n"
		"  - {name: g0, kind: gfd, server: lab1, pid: 0x200, memory: 4K}\n"
		"links:\n"
		"  - {a: s0, b: s1}\n"
		"  - {a: h0, b: s0}\n"
		"  - {a: s1, b: g0}\n";
	struct seen s;

	put(&(struct file){ "sys/kernel", NULL });
	put(&(struct file){ "sys/bus", NULL });
	put(&(struct file){ "sys/class", NULL });
	put(&(struct file){ "dev", NULL });
	put(&(struct file){ "proc/self/status", "CapEff:\t0000000000000000" });
	look(rings, "s0,s1,g0", &s);
	assert_int_equal(s.n_bad, 0);
	assert_int_equal(s.n[rule_of("hugepages")] + s.n[rule_of("raw-sockets")], 0);
	assert_int_equal(s.n[rule_of("fuse")], 0);
	/* Programs attach to a host. */
	look(rings, NULL, &s);
	assert_int_equal(s.n_bad, 1);
	assert_string_equal(s.bad.rule->name, "fuse");
}

WEFT_TEST(without_a_topology_what_some_nodes_need_stops_none)
{
	struct seen s;

	put(&(struct file){ CPU "isolated", "2-7" });
	put(&(struct file){ CPU "nohz_full", "2-7" });
	put(&(struct file){ NET "mtu", "9000" });
	look(NULL, NULL, &s);
	if (s.n_bad != 0)
		fail_msg("%s: %s", s.bad.rule->name, s.bad.found);
	put(&(struct file){ NET "mtu", "1500" });
	look(NULL, NULL, &s);
	assert_int_equal(s.n_bad, 1);
	assert_string_equal(s.bad.rule->name, "mtu");
	assert_int_equal(s.bad.level, DOCTOR_SLOWS);
	/* One that carries the default route, or is down, is nobody's concern. */
	put(&(struct file){ "proc/net/route", "Iface\tDestination\nens2f1\t00000000\t0" });
	look(NULL, NULL, &s);
	assert_int_equal(s.n_bad, 0);
	put(&(struct file){ "etc/weft/lab.key", "mode 0644" });
	look(NULL, NULL, &s);
	assert_int_equal(s.n_bad, 1);
	assert_int_equal(s.bad.level, DOCTOR_STOPS);
	/* What is pasted is one command, whatever a file is called. */
	put(&(struct file){ "etc/weft/lab.key", "mode 0600" });
	put(&(struct file){ "etc/weft/it's; touch x.key", KEY });
	put(&(struct file){ "etc/weft/it's; touch x.key", "mode 0644" });
	look(NULL, NULL, &s);
	assert_int_equal(s.n_bad, 1);
	assert_string_equal(s.bad.fix, "sudo chmod 0600 '/etc/weft/it'\\''s; touch x.key'");
}

WEFT_TEST(a_folder_that_is_no_machine_is_refused)
{
	static struct doctor d;

	assert_int_equal(doctor_open(&d, "/tmp/weft-doctor-none"), -ENOENT);
	put(&(struct file){ "proc", NULL });
	put(&(struct file){ "sys", NULL });
	assert_int_equal(doctor_open(&d, root), -ENODEV);
	/* One of the two is enough. */
	put(&(struct file){ "proc/sys", "/" });
	assert_int_equal(doctor_open(&d, root), 0);
	doctor_close(&d);
}

WEFT_TEST(a_server_without_nodes_is_an_error)
{
	static struct doctor d;
	struct weft_topo *t = NULL;
	struct weft_topo_error e;

	put(&(struct file){ "proc/sys/kernel/hostname", "lab9" });
	assert_int_equal(doctor_open(&d, root), 0);
	assert_int_equal(weft_topo_parse(&t, "lab.yaml", lab, strlen(lab), &e), 0);
	assert_int_equal(doctor_want(&d, t, NULL, &e), -ENOENT);
	assert_non_null(strstr(e.text, "lab9"));
	assert_int_equal(doctor_want(&d, t, "h9", &e), -ENOENT);
	weft_topo_free(t);
	doctor_close(&d);
}

/* Files of a machine are believed by nobody: whatever they hold, lines are printable and end. */
WEFT_TEST(files_may_hold_anything)
{
	struct weft_rand r;
	struct seen s;

	weft_test_seed(&r, "files_may_hold_anything");
	for (unsigned int i = 0; i < 100; i++) {
		const struct file *f = &healthy[weft_rand_below(&r, WEFT_ARRAY_SIZE(healthy))];
		uint8_t bytes[600];
		const size_t n = weft_rand_below(&r, sizeof(bytes) + 1);

		if (strchr("/>m", f->holds[0]) != NULL)
			continue;
		weft_rand_fill(&r, bytes, n);
		write_bytes(f->path, bytes, n);
		look(lab, "h0,s0", &s);
		assert_true(s.n_text > 0);
		for (const char *c = s.bad.found; *c != '\0'; c++)
			assert_true((unsigned char)*c >= ' ' && *c != 0x7F);
	}
}
