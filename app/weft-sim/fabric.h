/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Fabrics of a regular shape, written as a topology file would be and read by the same loader. */
#ifndef FABRIC_H
#define FABRIC_H

#include <stddef.h>

#include "weft_topo.h"

/**
 * Make a fabric from a word and numbers:
 *
 *   pair             a host and a GFD on one link
 *   star:H,G         H hosts and G GFDs on one switch
 *   chain:N          a host, N switches in a row, a GFD
 *   tree:L,F[,N]     L levels of switches, F below each; hosts and GFDs in turn below the last
 *                    level, N in all (as many as fit)
 *   mesh:W,H         W x H switches, each with a host and a GFD
 *   fat:K            a fat tree of K-port switches (K even), hosts and GFDs in turn
 *
 * @param mode  enum weft_mode
 * @param mtu   of every link
 * @param err   receives a line on failure
 * @return the topology, the caller's to free; NULL for a bad word, or a fabric too large
 */
struct weft_topo *fabric_make(
	const char *spec, unsigned int mode, unsigned int mtu, char *err, size_t err_len);

#endif /* FABRIC_H */
