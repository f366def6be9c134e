/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The manager that is built in (fabric.md section 6.1): it has the tables of switches and GFDs say
 * what the topology does, by the commands that a manager outside sends. It gives them to the rows
 * of the responders in process (weft_cci_switch.h, weft_cci_gfd.h); nothing else writes those
 * tables. What is so already is not sent again.
 *
 * It owns no component in the sense of section 4.4, and read-only mode does not concern it.
 */
#ifndef WEFT_MANAGER_H
#define WEFT_MANAGER_H

#include "weft_base.h"
#include "weft_cci_gfd.h"
#include "weft_cci_switch.h"
#include "weft_node.h"

WEFT_BEGIN_DECLS

/**
 * Have the DRT of a node, and the RGT of a switch, lead where @p t says (570Bh, 5709h).
 *
 * @param tables  not yet in force: what was written before an error stays
 * @param err     receives a line that names node, command and return code
 * @return 0, -EPROTO if a command was refused, or -EINVAL if there is no such node
 */
int weft_manager_set_routes(struct weft_tables *tables, const struct weft_node_cfg *c,
	const struct weft_topo *t, char *err, size_t err_len);

/**
 * Have each port of a switch that leads to a host, device or GFD have the PID of that (5704h).
 *
 * @return 0, or -EPROTO as above
 */
int weft_manager_set_pids(struct weft_cci_switch *s, const struct weft_node_cfg *c,
	const struct weft_topo *t, char *err, size_t err_len);

/**
 * Have a GFD's DMP and region have all its memory, groups their ranges of it, and a SAT row open to
 * each host and device what its access says (4906h, 4903h, 4907h, 490Dh). Groups from
 * WEFT_TOPO_FM_GROUPS on, which no command can name, are set beside them.
 *
 * @param g   new: of no memory yet
 * @param dc  empty lists that hold the ranges; they are not to be used after an error
 * @return 0, or -EPROTO or -errno with a line, as above
 */
int weft_manager_set_memory(struct weft_gfam *g, struct weft_gfam_dc *dc,
	const struct weft_node_cfg *c, const struct weft_topo *t, char *err, size_t err_len);

WEFT_END_DECLS

#endif /* WEFT_MANAGER_H */
