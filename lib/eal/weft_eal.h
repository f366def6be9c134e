/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Starting DPDK without asking the user anything: hugepages when enough are free, ordinary pages
 * otherwise, no PCI scan unless wanted, no noise on the terminal, and the user's own EAL arguments
 * untouched and stronger than ours. Packet buffers are laid out so that every flit of a received
 * frame lies on a cache line (encapsulation.md section 2). doc/runtime.md tells the whole story.
 */
#ifndef WEFT_EAL_H
#define WEFT_EAL_H

#include <rte_mempool.h>

#include "weft_base.h"

WEFT_BEGIN_DECLS

#define WEFT_EAL_MEMORY_MB 256 /**< memory reserved when weft_eal_cfg.memory_mb is 0 */

/** How to start. All zero is a good start: 256 MB, one lcore, no PCI. */
struct weft_eal_cfg {
	const char *program; /**< argv[0], head of log lines and of the file prefix; NULL: "weft" */
	unsigned int memory_mb; /**< memory for buffers and tables, MB; 0: WEFT_EAL_MEMORY_MB */
	unsigned int n_files; /**< files and sockets the program opens itself, ports included */
	/** EAL's --lcores syntax, such as "2-3" or "0@0,1@0". NULL: see n_lcores. */
	const char *lcores;
	/**
	 * Used when lcores is NULL. 0 or 1: one lcore that may run on every CPU of the process;
	 * more: lcores 0..n-1, each pinned, going round the process's CPUs.
	 */
	unsigned int n_lcores;
	/** PCI devices that ports name, by address: EAL probes these and no other. */
	const char *const *pci;
	unsigned int n_pci; /**< 0: PCI is not scanned */
	/**
	 * A device may hand the memory to another process by its file descriptor, as virtio-user
	 * does, and memif with zero-copy: ordinary pages stay as EAL has them. So they do with
	 * devices of PCI or arguments of the user; else they may become large ones.
	 */
	bool lends_memory;
	/**
	 * A device may need any driver of DPDK, as one that the user gives the arguments of: EAL
	 * loads all of its folder, which takes some 0.1 s. So it does for devices of PCI and with
	 * arguments of the user; else it loads those of our ports alone.
	 */
	bool any_driver;
	/**
	 * The user's EAL arguments (those after "--"), in order; where they speak, ours are silent.
	 */
	int user_argc;
	/** user_argc strings, not written to, kept by EAL: must outlive it; may be NULL */
	char *const *user_argv;
};

/**
 * Start DPDK. Once a process; the calling thread becomes the main lcore.
 *
 * @param cfg  not NULL; only read during the call, user_argv excepted
 * @param err  receives one line on failure; may be NULL when @p errlen is 0
 * @return 0, or
 *         -EALREADY  was started before, successfully or not (EAL cannot be started twice)
 *         -ENOMEM    too little free memory, or address space by the process's limit; the line
 *                    says what there is and what to do
 *         -EMFILE    too few open files by the process's limit; likewise. Up to the hard limit it
 *                    is raised
 *         -EINVAL    lcores cannot be read, EAL refused an argument, or the user's hold a word that
 *                    is no option nor a value of one, or a -m that is no number of 1 or more
 *         another negative errno EAL failed with
 */
int weft_eal_start(const struct weft_eal_cfg *cfg, char *err, size_t errlen);

/**
 * What memory was chosen and why, in one line for people, such as
 * "memory: no free hugepages, using 256 MB of ordinary pages (--no-huge)".
 * Empty before weft_eal_start(). The string lives as long as the process.
 */
const char *weft_eal_memory_line(void);

/**
 * How secondary processes of DPDK attach, in one line for people, such as
 * "secondary processes: can attach with --file-prefix=lab (run folder /var/run/dpdk/lab)". Empty
 * before weft_eal_start(), and where they cannot: they need hugepages and a primary process that
 * the user's EAL arguments name. The string lives as long as the process.
 */
const char *weft_eal_share_line(void);

/**
 * Stop the idle monitor. From the main lcore, last: EAL's memory, sockets and folders go with the
 * process, which is about to end.
 */
void weft_eal_stop(void);

/** Purpose of a pool of packet buffers. */
struct weft_pool_cfg {
	const char *name; /**< unique in the process, at most 25 characters */
	unsigned int n_mbufs; /**< buffers, at least 1; 2^q - 1 uses memory best */
	unsigned int max_flits; /**< largest frame to hold, 1..64 flits */
	/**
	 * Private area of each buffer for the pipeline's metadata, bytes: 32 modulo 64, so that the
	 * flits, 128 + 32 bytes further on, start on a cache line.
	 */
	unsigned int priv_size;
	unsigned int cache; /**< buffers kept per lcore, 0..512 */
	int socket; /**< NUMA node, or -1 for any */
	const char *ops; /**< mempool driver; NULL: "ring_mp_mc" */
};

/**
 * Create a pool whose buffers hold a frame of cfg->max_flits in one segment, with the room that
 * af_packet and AF_XDP want beyond it.
 *
 * @return the pool (rte_mempool_free() gives it back), or NULL with one line in @p err and
 *         rte_errno EINVAL (cfg out of range, or no such mempool driver), EEXIST (name taken) or
 *         ENOMEM
 */
struct rte_mempool *weft_pool_create(const struct weft_pool_cfg *cfg, char *err, size_t errlen);

/** Bytes of data room (headroom included) that weft_pool_create() gives a pool of @p max_flits. */
uint16_t weft_pool_room(unsigned int max_flits);

/** Memory in MB that a pool takes, rounded up; what weft_eal_cfg.memory_mb has to provide for. */
unsigned int weft_pool_mb(const struct weft_pool_cfg *cfg);

WEFT_END_DECLS

#endif /* WEFT_EAL_H */
