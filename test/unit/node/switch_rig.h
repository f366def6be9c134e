/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * A switch without a fabric: two copies of its tables, ports that are said to be up. Port 0 is a
 * host's, port 1 a GFD's, the others lead to switches.
 */
#ifndef SWITCH_RIG_H
#define SWITCH_RIG_H

#include <stdlib.h>

#include "weft_cci_switch.h"

#define SWITCH_RIG_DRTS 2 /* the second for ports from 2 on */
#define SWITCH_RIG_RGT_ROWS 16

struct switch_rig {
	struct weft_cci_switch responder;
	struct weft_tables *live, *spare;
	unsigned int commits;
	unsigned int controls; /* of ports; and the last, and what it is answered by */
	unsigned int port;
	enum weft_cci_port_op op;
	uint16_t control_rc;
};

static inline const struct weft_tables *
switch_rig_now(void *world)
{
	return ((struct switch_rig *)world)->live;
}

static inline struct weft_tables *
switch_rig_begin(void *world)
{
	struct switch_rig *r = world;

	weft_tables_copy(r->spare, r->live);
	return r->spare;
}

static inline void
switch_rig_commit(void *world)
{
	struct switch_rig *r = world;
	struct weft_tables *old = r->live;

	r->live = r->spare;
	r->spare = old;
	r->commits++;
}

static inline void
switch_rig_port(void *world, unsigned int port, struct weft_cci_switch_port *p)
{
	(void)world;
	*p = (struct weft_cci_switch_port){
		.state = port == 0   ? WEFT_CCI_PORT_USP
		         : port == 1 ? WEFT_CCI_PORT_DSP
		                     : WEFT_CCI_PORT_FABRIC,
		.type = port == 0 ? WEFT_CCI_PORT_NOTHING : WEFT_CCI_PORT_PBR,
		.is_pbr = port != 0,
		.is_up = true,
	};
}

/* Who is behind port p says that it is called 16 times 10h + p, and came in by its port p. */
static inline void
switch_rig_partner(void *world, unsigned int port, struct weft_cci_lpi_block *b)
{
	(void)world;
	if (port == 0)
		return;
	b->far_port = (uint8_t)port;
	b->pid_type = (uint16_t)(0x200 + port);
	if (port == 1)
		b->pid_type |= 1 << 12;
	memset(b->id, 0x10 + (int)port, sizeof(b->id));
}

static inline uint16_t
switch_rig_control(void *world, unsigned int port, enum weft_cci_port_op op)
{
	struct switch_rig *r = world;

	r->controls++;
	r->port = port;
	r->op = op;
	return r->control_rc;
}

static const struct weft_cci_switch_world switch_rig_world = {
	.now = switch_rig_now,
	.begin = switch_rig_begin,
	.commit = switch_rig_commit,
	.port = switch_rig_port,
	.partner = switch_rig_partner,
	.control = switch_rig_control,
};

/** Make a switch of @p n_ports. False: no memory. */
static inline bool
switch_rig_init(struct switch_rig *r, unsigned int n_ports)
{
	struct weft_tables_cfg cfg = { .n_routes = SWITCH_RIG_DRTS, .n_rgt = SWITCH_RIG_RGT_ROWS };
	const size_t size = weft_tables_size(&cfg);

	for (unsigned int p = 2; p < n_ports; p++)
		cfg.route_of_port[p] = 1;
	r->commits = r->controls = 0;
	r->control_rc = WEFT_CCI_SUCCESS;
	r->live = aligned_alloc(WEFT_CACHE_LINE, weft_line_up(size));
	r->spare = aligned_alloc(WEFT_CACHE_LINE, weft_line_up(size));
	return r->live != NULL && r->spare != NULL && weft_tables_init(r->live, &cfg) == 0 &&
	       weft_cci_switch_init(&r->responder, &switch_rig_world, r, n_ports) == 0;
}

static inline void
switch_rig_fini(struct switch_rig *r)
{
	free(r->live);
	free(r->spare);
}

/** The component that a switch rig is. */
static inline struct weft_cci_component_cfg
switch_rig_cfg(struct switch_rig *r)
{
	return (struct weft_cci_component_cfg){
		.type = WEFT_CCI_TYPE_SWITCH,
		.serial = 1,
		.pid = WEFT_CCI_NO_PID,
		.command = weft_cci_switch_commands,
		.n_commands = weft_cci_switch_n_commands,
		.arg = &r->responder,
	};
}

#endif /* SWITCH_RIG_H */
