/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The load of a fabric: what its hosts and devices send, what they expect of it, and the pages that
 * agents move. It stands in a list "workloads" of the topology file or of files of its own, and is
 * no part of the fabric, which weft_topo.h reads without it. doc/topology.md lists the keys.
 *
 * Words of load:
 *
 *   1. A workload is an entry of that list: a node and a kind (mem, uio, transfer, move). A node
 *      has at most one of each kind, and each needs something of the topology, which is checked.
 *   2. mem and uio are sources: random reads and writes of lines that no other source writes, then
 *      a sweep that reads back what was written (weft_traffic.h).
 *   3. A transfer moves data with signatures between a host and a GFD, or from GFD to GFD, and has
 *      an outcome that is expected of it. Those of a host run one after the other.
 *   4. move has an agent migrate pages, at a period and so many at a time.
 *   5. Load does not change while the fabric runs; groups and rights that it needs may.
 *
 * Thread rule for the whole file: as for a topology.
 */
#ifndef WEFT_LOAD_H
#define WEFT_LOAD_H

#include "weft_base.h"
#include "weft_topo.h"

WEFT_BEGIN_DECLS

#define WEFT_LOAD_TRANSFERS 1024 /**< of all hosts */
#define WEFT_LOAD_DOMAIN_ROOM 128
/** Default of every `timeout_ms`: the end of a session, after 10 s of silence, comes first. */
#define WEFT_LOAD_TIMEOUT_MS 15000

/** Requests of CXL.mem. Each line is 64 bytes and belongs to one host. */
struct weft_load_mem {
	uint64_t requests; /**< reads and writes in all; 0 = until stopped */
	uint64_t seed;
	uint64_t first_line; /**< first line of every GFD that is this host's own */
	uint64_t lines; /**< lines from there on, in every GFD */
	uint32_t outstanding; /**< most requests in flight, 1..4096 */
	uint32_t rate; /**< most requests begun a second; 0 = no limit */
	uint32_t timeout_ms; /**< a request without an answer is lost after this */
	uint8_t write_percent; /**< 0..100 */
};

/** Requests by UIO. Their lines come after those of all CXL.mem. */
struct weft_load_uio {
	uint64_t requests; /**< reads and writes in all; 0 = until stopped */
	uint64_t seed;
	uint64_t first_line; /**< of every segment that is this node's own; multiple of 4 */
	uint64_t lines; /**< lines from there on, in every segment; multiple of 4 */
	uint32_t outstanding; /**< most requests in flight, 1..1024 */
	uint32_t rate; /**< most requests begun a second; 0 = no limit */
	uint32_t timeout_ms; /**< a request without an answer is lost after this */
	uint16_t bytes; /**< most of a request: 64, 128, 192 or 256 */
	uint8_t write_percent; /**< 0..100 */
	uint8_t prefix; /**< 1: GIM by VendPrefixL0 (flow 2), 0: by FAST (flow 1) */
};

/** What a transfer does; the order of enum weft_xfer_kind (weft_xfer.h). */
enum weft_load_transfer_kind { WEFT_LOAD_WRITE, WEFT_LOAD_READ, WEFT_LOAD_COPY };

/** Where the data of a transfer comes from, or what a read compares with. */
enum weft_load_data {
	WEFT_LOAD_ANY_DATA, /**< read: compares with nothing; copy */
	WEFT_LOAD_SEED, /**< random bytes of a seed */
	WEFT_LOAD_FILL, /**< one byte over and over */
	WEFT_LOAD_FILE /**< write: from it; read: to it. In the mem domain */
};

/** A transfer of a host with block signatures (weft_xfer.h). */
struct weft_load_transfer {
	char name[WEFT_TOPO_NAME_ROOM];
	uint8_t kind; /**< enum weft_load_transfer_kind */
	uint8_t data; /**< enum weft_load_data */
	uint8_t fill;
	uint8_t expect; /**< how it is to end: index into weft_load_outcomes */
	uint8_t check_mask;
	uint8_t copy_mask; /**< valid when has_copy_mask */
	bool has_copy_mask;
	uint16_t gfd; /**< node index: of a copy the source */
	uint16_t to; /**< node index: destination of a copy */
	uint64_t offset; /**< bytes in the memory of `gfd` */
	uint64_t to_offset;
	uint64_t bytes; /**< data without signatures: whole blocks, 1..1 GiB */
	uint64_t block0;
	uint64_t seed;
	char mem[WEFT_LOAD_DOMAIN_ROOM]; /**< domains as in weft_sig_text.h, known to be good */
	char wire[WEFT_LOAD_DOMAIN_ROOM];
	char file[WEFT_TOPO_PATH_ROOM];
};

/** Words for how a transfer ends, as weft_xfer_outcome() has them; NULL-ended, "ok" is 0. */
extern const char *const weft_load_outcomes[];

/** What an agent does to translations, and how long it waits. */
struct weft_load_move {
	uint32_t period_ms; /**< a page is moved so often; 0: never */
	uint32_t timeout_ms; /**< an invalidation unanswered for so long failed, at least 1 */
	uint32_t fence_ms; /**< what a host sent before its session ended has arrived by then */
	uint8_t max_concurrent; /**< pages that move at a time, 1..32 */
};

/** The load of a node. */
struct weft_load_node {
	bool has_mem; /**< host */
	bool has_uio; /**< host, device */
	struct weft_load_mem mem; /**< valid when has_mem, but for the defaults of its keys */
	struct weft_load_uio uio; /**< likewise */
	/** agent; without a workload the defaults, by which none moves */
	struct weft_load_move move;
	uint16_t first_transfer; /**< host: transfer[first_transfer] and those after it, in order */
	uint16_t n_transfers;
	/** host: requests that its clients may have open together; the caller's to set, 0: none */
	uint16_t client_tags;
};

/** The load of a whole fabric. */
struct weft_load {
	struct weft_load_node *node; /**< by the topology's node index */
	struct weft_load_transfer *transfer; /**< NULL without any */
	uint16_t n_nodes;
	uint16_t n_transfers;
	bool has_uio; /**< of any node */
};

/** What a fabric and its load are read from. */
struct weft_load_files {
	const char *topology; /**< file; its own list is load too */
	const char *yaml; /**< NULL, or what stands for that file: @p len bytes */
	size_t len;
	const char *const *more; /**< files of load alone */
	unsigned int n_more;
	/** Asked while a pipe says nothing: true ends the reading by -EINTR. NULL: waits. */
	bool (*is_stopped)(void);
};

/**
 * Load a fabric and what is sent in it. Load by UIO switches on what it needs of the fabric: CXL.io
 * packets, and no default map.
 *
 * @param t     receives the topology, the caller's to free; NULL on error
 * @param load  receives its load, likewise
 * @param err   filled on error; may be NULL
 * @return as weft_topo_load()
 */
int weft_load_open(struct weft_topo **t, struct weft_load **load,
	const struct weft_load_files *files, struct weft_topo_error *err);

/**
 * Say what is wrong with a fabric and its load, as weft_topo_check_text(); the load's if it is
 * good.
 */
unsigned int weft_load_check(
	const struct weft_load_files *files, weft_topo_finding_fn fn, void *arg);

/** A fabric, its load, and for errors the name of the file that they are from. */
struct weft_load_version {
	const struct weft_topo *topo;
	const struct weft_load *load;
	const char *file;
};

/**
 * Whether a fabric under load that began as @p now may go on as @p next: what
 * weft_topo_check_change() lets pass, with the same load, and segments that it does not use.
 *
 * @param err  filled on -EINVAL, with line 0; may be NULL
 * @return 0, or -EINVAL
 */
int weft_load_check_change(const struct weft_load_version *now,
	const struct weft_load_version *next, struct weft_topo_error *err);

/**
 * The JSON Schema (draft 7) of topology files, and of files of load as its definition
 * `file_of_load`.
 *
 * @return its text, the caller's to free; NULL: out of memory
 */
char *weft_load_schema(void);

/** Free a load. NULL is allowed. */
void weft_load_free(struct weft_load *load);

WEFT_END_DECLS

#endif /* WEFT_LOAD_H */
