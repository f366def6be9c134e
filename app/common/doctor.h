/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * weftctl doctor, and weftd --check with --server: what of a machine would be in the way of the
 * nodes that it is to run. It reads files of /proc, /sys, /dev, /etc and /run, all below one
 * folder, so that a test can look at a machine that is none; it writes nothing and needs no
 * privilege. A rule is a row of the table in doctor_rules.c: what is looked at, how, what is
 * wanted, and the command that mends it. doc/weftctl.md is its manual.
 */
#ifndef DOCTOR_H
#define DOCTOR_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#define DOCTOR_TEXT 512
#define DOCTOR_SUBJECTS 512

struct weft_topo;
struct weft_topo_error;

/** What nodes need of their machine: bits of doctor.needs and doctor_rule.needs. */
enum {
	DOCTOR_NEEDS_PCI = 1 << 0, /* a NIC under DPDK */
	DOCTOR_NEEDS_NETIF = 1 << 1, /* an interface of the kernel */
	DOCTOR_NEEDS_XDP = 1 << 2, /* one over AF_XDP */
	DOCTOR_NEEDS_CPUS = 1 << 3, /* CPUs of their own */
	DOCTOR_NEEDS_PROGRAMS = 1 << 4, /* a host that programs attach to */
	DOCTOR_NEEDS_KEYS = 1 << 5,
	DOCTOR_NEEDS_OTHERS = 1 << 6, /* nodes of other machines */
	DOCTOR_NEEDS_LOOKED_UP = 1 << 7, /* what a topology says of nodes */
	DOCTOR_NEEDS_ANYHOW = 1 << 8,
};

/** What a rule is about: bits of doctor_rule.each. */
enum {
	DOCTOR_MACHINE = 1 << 0, /* once */
	DOCTOR_PCI = 1 << 1, /* each NIC that the nodes name by its PCI address */
	DOCTOR_NETIF = 1 << 2, /* each interface of the kernel that they name */
	DOCTOR_KEY = 1 << 3, /* each key file */
};

struct doctor_subject {
	unsigned int kind; /* one bit of the above */
	char name[DOCTOR_TEXT]; /* PCI address, interface, path; "" of the machine */
	char port[48]; /* of the topology, such as "s0.1"; "" without one */
	unsigned int mtu; /* wanted of an interface */
	bool must_xdp; /* the file asks for AF_XDP by name */
	cpu_set_t cpus; /* of its node; empty: any */
};

/** A machine and what is wanted of it. */
struct doctor {
	int root; /* descriptor of the folder that everything is below */
	bool is_copy; /* of a machine, in files: they stand for devices */
	char machine[65];
	char run_folder[128];
	unsigned int needs;
	unsigned int pool_mb; /* wanted in hugepages */
	uint64_t memory; /* bytes that nodes offer to the fabric */
	cpu_set_t online, wanted; /* wanted: CPUs that nodes are to have for themselves */
	unsigned int n_subjects;
	struct doctor_subject subject[DOCTOR_SUBJECTS];
	char nodes[DOCTOR_TEXT]; /* that it is to run, for people; "" without a topology */
};

enum doctor_level {
	DOCTOR_GOOD,
	DOCTOR_SLOWS, /* nodes run, but slower or with less than they could have */
	DOCTOR_STOPS, /* a node does not start, or reaches nobody */
	DOCTOR_UNKNOWN, /* could not be looked at */
};

/** "good", "slows", "stops", "unknown". */
extern const char *const doctor_level_words[];

enum doctor_answer {
	DOCTOR_AS_WANTED,
	DOCTOR_OTHERWISE,
	DOCTOR_CANNOT_LOOK,
	DOCTOR_NOT_HERE, /* the rule says nothing of this subject */
};

/** A look of one rule at one subject. */
struct doctor_look {
	const struct doctor *d;
	const struct doctor_subject *s;
	enum doctor_level level; /* of what is otherwise: the rule's, unless the look says more */
	char found[DOCTOR_TEXT]; /* receives what is there */
	char want[DOCTOR_TEXT]; /* receives what stands for {want} in the rule's texts */
	char arg[DOCTOR_TEXT]; /* the subject's name, or what else stands for {} */
};

struct doctor_rule {
	const char *group, *name;
	unsigned int needs; /* any of these bits: the rule holds */
	unsigned int each;
	enum doctor_level level;
	const char *wanted; /* {}: doctor_look.arg; {want}: doctor_look.want */
	const char *fix; /* likewise: the command that mends it */
	enum doctor_answer (*look)(struct doctor_look *l);
};

extern const struct doctor_rule doctor_rules[];
extern const unsigned int doctor_n_rules;

struct doctor_finding {
	const struct doctor_rule *rule;
	const struct doctor_subject *subject;
	enum doctor_level level;
	char found[DOCTOR_TEXT], wanted[DOCTOR_TEXT], fix[DOCTOR_TEXT];
};

/**
 * Look at the machine whose files are below a folder, "/" for this one.
 *
 * @param d  written whole; doctor_close() ends it
 * @return 0; -ENODEV: neither proc/sys nor sys/devices is below it; or -errno of opening the folder
 */
int doctor_open(struct doctor *d, const char *root);

void doctor_close(struct doctor *d);

/** Without a topology: whatever a server of a lab may be used for. */
void doctor_want_all(struct doctor *d);

/**
 * What the nodes of this machine need.
 *
 * @param node  those, separated by commas; NULL: those whose server it is
 * @param err   filled on error
 * @return 0; -ENOENT as weft_topo_select(); -ENOSPC: more ports than DOCTOR_SUBJECTS
 */
int doctor_want(
	struct doctor *d, const struct weft_topo *t, const char *node, struct weft_topo_error *err);

/** Called for each finding, in the order of the table. It lives as long as the call. */
typedef void (*doctor_finding_fn)(void *arg, const struct doctor_finding *f);

/** What files hold goes to terminals: bytes that one takes for commands become question marks. */
void doctor_make_plain(char *text);

/** Apply every rule that the needs call for. */
void doctor_run(const struct doctor *d, doctor_finding_fn fn, void *arg);

/** What was found; of what is in the way also what is expected and the command. Returns @p text. */
const char *doctor_finding_text(const struct doctor_finding *f, char *text, size_t len);

/** The last line: how many findings there were, @p n by level. */
void doctor_print_summary(const struct doctor *d, const unsigned int *n);

/** Apply one rule to one subject. False: it says nothing of it. */
bool doctor_judge(const struct doctor *d, const struct doctor_rule *r,
	const struct doctor_subject *s, struct doctor_finding *f);

/**
 * First line of a file without its end.
 *
 * @param fmt  its path from the root, without the first slash
 * @return 0 or -errno
 */
int doctor_read(const struct doctor *d, char *line, size_t len, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/** A number that a file begins with, decimal or 0x hex; @p otherwise if it cannot be read. */
int64_t doctor_number(const struct doctor *d, int64_t otherwise, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/** Last part of where a link leads. 0 or -errno. */
int doctor_link(const struct doctor *d, char *name, size_t len, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/** stat(2) without following a link at the end. 0 or -errno. */
int doctor_stat(const struct doctor *d, struct stat *st, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/** Whether that is a device, which this user may read and write if @p may_use. */
bool doctor_has_device(const struct doctor *d, const char *path, bool may_use);

bool doctor_is_there(const struct doctor *d, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/**
 * The line of a file that begins with @p word, and blanks or a colon.
 *
 * @param rest  receives what is after them
 * @return 0; -ENOENT: no such line; or -errno
 */
int doctor_find_line(
	const struct doctor *d, const char *path, const char *word, char *rest, size_t len);

/** Whether weftd@.service is installed, by a package or by an administrator. */
bool doctor_has_unit(const struct doctor *d);

/**
 * Call @p fn for each name in a folder, sorted by the kernel's order. A folder that is not there
 * has none.
 *
 * @return how many
 */
unsigned int doctor_each_name(const struct doctor *d, const char *path,
	void (*fn)(void *arg, const char *name), void *arg);

/* Looks of rules. */
enum doctor_answer doctor_look_memory(struct doctor_look *l);
enum doctor_answer doctor_look_hugepages(struct doctor_look *l);
enum doctor_answer doctor_look_node_pages(struct doctor_look *l);
enum doctor_answer doctor_look_online(struct doctor_look *l);
enum doctor_answer doctor_look_governor(struct doctor_look *l);
enum doctor_answer doctor_look_isolated(struct doctor_look *l);
enum doctor_answer doctor_look_nohz(struct doctor_look *l);
enum doctor_answer doctor_look_numa(struct doctor_look *l);
enum doctor_answer doctor_look_pci_there(struct doctor_look *l);
enum doctor_answer doctor_look_pci_idle(struct doctor_look *l);
enum doctor_answer doctor_look_iommu(struct doctor_look *l);
enum doctor_answer doctor_look_vfio(struct doctor_look *l);
enum doctor_answer doctor_look_driver(struct doctor_look *l);
enum doctor_answer doctor_look_vfio_file(struct doctor_look *l);
enum doctor_answer doctor_look_netif_there(struct doctor_look *l);
enum doctor_answer doctor_look_up(struct doctor_look *l);
enum doctor_answer doctor_look_carrier(struct doctor_look *l);
enum doctor_answer doctor_look_mtu(struct doctor_look *l);
enum doctor_answer doctor_look_master(struct doctor_look *l);
enum doctor_answer doctor_look_firewall(struct doctor_look *l);
enum doctor_answer doctor_look_xdp(struct doctor_look *l);
enum doctor_answer doctor_look_xdp_mtu(struct doctor_look *l);
enum doctor_answer doctor_look_raw(struct doctor_look *l);
enum doctor_answer doctor_look_bpf(struct doctor_look *l);
enum doctor_answer doctor_look_memlock(struct doctor_look *l);
enum doctor_answer doctor_look_userfaultfd(struct doctor_look *l);
enum doctor_answer doctor_look_fuse(struct doctor_look *l);
enum doctor_answer doctor_look_clock(struct doctor_look *l);
enum doctor_answer doctor_look_tsc(struct doctor_look *l);
enum doctor_answer doctor_look_synchronised(struct doctor_look *l);
enum doctor_answer doctor_look_key(struct doctor_look *l);
enum doctor_answer doctor_look_run_folder(struct doctor_look *l);

#endif /* DOCTOR_H */
