/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What a host answers a manager that gives out memory, by two commands of ours (C100h, C101h;
 * doc/cci.md): what it has, and what it is to expect. It gives no right, as GFDs have these. What
 * memory means to the host is for its world to say.
 *
 * Pure; one thread at a time.
 */
#ifndef WEFT_CCI_HOST_H
#define WEFT_CCI_HOST_H

#include "weft_base.h"
#include "weft_cci_component.h"
#include "weft_cci_payload.h"

WEFT_BEGIN_DECLS

#define WEFT_CCI_HOST_EXTENTS 51 /**< of one host: what a message holds */

/** What a host does with what it is told. */
struct weft_cci_host_world {
	/**
	 * This is all that the host has from now on, or, announced, is to expect. Once it returns,
	 * nothing that the host has begun goes by what it knew before.
	 *
	 * @param e  @p n of them, 0..WEFT_CCI_HOST_EXTENTS; not to be kept
	 * @return 0; -EINPROGRESS: not yet, and weft_cci_host_taken() is called when it is so;
	 *         -EINVAL: no such memory; any other: the manager is to ask again
	 */
	int (*take)(void *world, const struct weft_cci_host_extent *e, unsigned int n,
		bool is_announced);
};

/** The responder of one host; behind the pointers is the caller's. */
struct weft_cci_host {
	const struct weft_cci_host_world *world;
	void *world_arg;
	bool is_told; /* it was told anything */
	unsigned int n;
	struct weft_cci_host_extent extent[WEFT_CCI_HOST_EXTENTS]; /* that it has */
	struct weft_cci_host_next {
		bool is_announced;
		unsigned int n;
		struct weft_cci_host_extent extent[WEFT_CCI_HOST_EXTENTS];
	} next; /* that it is taking */
};

/** Start a responder: the host was told nothing. */
void weft_cci_host_init(
	struct weft_cci_host *h, const struct weft_cci_host_world *world, void *world_arg);

/**
 * What take() said -EINPROGRESS of is over.
 *
 * @param rc  as take() returns; not -EINPROGRESS
 * @return the code for weft_cci_component_done()
 */
uint16_t weft_cci_host_taken(struct weft_cci_host *h, int rc);

/** Rows for weft_cci_component_cfg.command; their argument is a struct weft_cci_host. */
extern const struct weft_cci_command weft_cci_host_commands[];
extern const unsigned int weft_cci_host_n_commands;

/** Whether a host takes @p opcode by its link: C100h and C101h, and what comes before them. */
bool weft_cci_host_takes_by_link(uint16_t opcode);

WEFT_END_DECLS

#endif /* WEFT_CCI_HOST_H */
