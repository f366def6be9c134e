/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Inside lib/load. A load is read by the readers of lib/topo (topo_priv.h) and the rows of keys.def
 * here, file by file, and then checked with the fabric that it is for.
 */
#ifndef LOAD_PRIV_H
#define LOAD_PRIV_H

#include "topo_priv.h"

#include "weft_load.h"

#define LOAD_KINDS 4
#define LINE 64

enum load_kind { LOAD_IS_MEM, LOAD_IS_UIO, LOAD_IS_TRANSFER, LOAD_IS_MOVE };

/* As in topo_priv.h. */
enum {
#define SECTION(s, type) s##_SELF = 0,
#define KEY(s, id, ...) s##_##id,
#define END(s) s##_KEYS,
#include "keys.def"
#undef SECTION
#undef KEY
#undef END
};

enum load_section_id {
#define SECTION(s, type) SECTION_##s,
#define KEY(s, id, ...)
#define END(s)
#include "keys.def"
#undef SECTION
#undef KEY
#undef END
	LOAD_SECTIONS
};
extern const struct topo_section load_section[LOAD_SECTIONS];

/* Item of a list "workloads". */
struct load_src {
	char on[WEFT_TOPO_NAME_ROOM];
	uint8_t kind; /* enum load_kind */
	uint16_t node; /* found by its name */
	struct weft_load_node out; /* the part of its kind */
	struct topo_items transfers;
	const char *file; /* that it stands in, as [index] */
	unsigned int index;
	unsigned int line_of[LOAD_UIO_KEYS]; /* the longest */
};

struct load_transfer_src {
	struct weft_load_transfer out;
	char gfd[WEFT_TOPO_NAME_ROOM];
	char to[WEFT_TOPO_NAME_ROOM];
	uint64_t wire_len; /* bytes in the GFDs, signatures included; 0 before it is checked */
	unsigned int line_of[LOAD_TRANSFER_KEYS];
};

/* One load while it is read. */
struct load_read {
	struct topo_load l; /* what reads; the fabric's part of it is unused */
	struct weft_topo *t;
	const char *topology; /* the name of its file */
	struct weft_load *out; /* given away at the end */
	struct load_src *item;
	struct load_transfer_src *transfer;
	unsigned int n[LOAD_SECTIONS]; /* items of these, by section */
	struct topo_items all; /* of the file that was read last */
	struct load_src **of_node; /* LOAD_KINDS for each node: the item of each kind, or NULL */
	unsigned int line_of[LOAD_FILE_KEYS];
};

/* load.c: say that the next error is of @src, behind its place on the path. */
void load_where(struct load_read *r, const struct load_src *src, const char *more);
/* load.c: the load of a kind of a node, or NULL. */
struct load_src *load_of(const struct load_read *r, unsigned int node, enum load_kind kind);

/*
 * load_check.c: give each node its lines, and check what the items say with each other and the
 * fabric.
 */
int load_check_lines(struct load_read *r);
int load_check_fabric(struct load_read *r);
/* load_check.c: bytes at the beginning of each segment that lines take, of CXL.mem and of UIO. */
uint64_t load_bytes(const struct load_read *r);
/* load_transfer.c: resolve the names of transfers, check them with those who make them. */
int load_check_transfers(struct load_read *r);

extern const char *const load_kind_words[];

#endif /* LOAD_PRIV_H */
