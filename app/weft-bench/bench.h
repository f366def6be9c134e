/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Inside weft-bench: a benchmark is a row with a set-up that checks the answer, an untimed part
 * that puts the data back, and a timed part.
 */
#ifndef BENCH_H
#define BENCH_H

#include <rte_mempool.h>

#include "weft_atc.h"
#include "weft_crc.h"
#include "weft_data_crc.h"
#include "weft_fec.h"
#include "weft_req_scan.h"
#include "weft_ide.h"
#include "weft_sig_sum.h"

enum bench_layout { BENCH_RTC, BENCH_RING, BENCH_LAYOUTS };

/* What one run is made with. */
struct bench_params {
	/* Never NULL: a pipeline needs all, whichever of them --kernel names. */
	const struct weft_fec_kernel *fec;
	const struct weft_crc_kernel *crc;
	const struct weft_atc_kernel *atc;
	const struct weft_req_scan_kernel *req_scan;
	const struct weft_crc64_kernel *crc64;
	const struct weft_sig_kernel *sig;
	struct weft_ide_lib *ide;
	struct rte_mempool *pool;
	unsigned int frame_flits;
	enum bench_layout layout;
	unsigned int worker; /* lcore for the second half of a ring layout */
	bool share_cpu; /* both lcores on one CPU: yield when there is nothing to do */
};

/* Which table of kernels a stage's --kernel chooses from. */
enum bench_family {
	BENCH_FEC,
	BENCH_CRC,
	BENCH_CODEC,
	BENCH_IDE, /* runs of flits: a kernel of ours in one pass, or the library flit by flit */
	BENCH_GCM, /* the library by itself */
	BENCH_ATC,
	BENCH_CRC64,
	BENCH_ISAL,
	BENCH_SIG,
	BENCH_PLAIN
};

struct bench;

/* What the rows of a file do with their data. */
struct bench_ops {
	/** Make the data and run once. NULL: it could not, and has said why. */
	void *(*setup)(const struct bench *b, const struct bench_params *p);
	/** Put back what a run uses up; not timed. May be NULL. */
	void (*prepare)(void *ctx);
	/** Timed. @return flits worked on */
	uint64_t (*run)(void *ctx);
	/** Check the last run: before anything is timed, and again behind the last. */
	bool (*is_right)(void *ctx);
	void (*free)(void *ctx);
};

struct bench {
	const char *name;
	const char *help;
	enum bench_family family;
	uint8_t layouts; /* 1 << enum bench_layout */
	uint8_t kind; /* the file's own: which of its benchmarks */
	const struct bench_ops *ops;
};

extern const struct bench bench_codec[], bench_data[], bench_ide[], bench_route[], bench_pipe[],
	bench_sig[];
extern const unsigned int bench_n_codec, bench_n_data, bench_n_ide, bench_n_route, bench_n_pipe,
	bench_n_sig;
/* The layout of a benchmark of a pipeline, on one lcore; NULL: it is none. */
const char *bench_pipe_layout(const struct bench *b);
/* The stage whose work a benchmark of a link times; NULL: it is none. */
const char *bench_link_layout(const struct bench *b);

extern const struct bench bench_invalidate[];
extern const unsigned int bench_n_invalidate;
extern const struct bench bench_gfam[];
extern const unsigned int bench_n_gfam;
extern const struct bench bench_pbr[];
extern const unsigned int bench_n_pbr;
extern const struct bench bench_checker[];
extern const unsigned int bench_n_checker;
extern const struct bench bench_link[];
extern const unsigned int bench_n_link;
extern const struct bench bench_fabric[];
extern const unsigned int bench_n_fabric;

/* data.c: flits to work on */

#define BENCH_FLITS 64 /* of a kernel benchmark: 16 KiB */

/** 64-byte aligned memory, zeroed; ends the program if there is none. */
void *bench_alloc(size_t len);

/** @p n flits of random bytes with a cachemem header; the same every time. */
void bench_fill(uint8_t *flits, unsigned int n);

/**
 * The CRC of a flit with the pseudo-header, by the definition: nothing of it comes from a kernel.
 */
uint64_t bench_crc_ref(
	const uint8_t *flit, uint16_t spid, uint16_t dpid, uint8_t vc, unsigned int number);

#endif /* BENCH_H */
