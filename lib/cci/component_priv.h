/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Inside a component: the commands that each has, a file a set, and what they share. */
#ifndef COMPONENT_PRIV_H
#define COMPONENT_PRIV_H

#include "weft_cci_component.h"

/** Commands of every component: identity and logs, events, ownership. */
struct component_set {
	const struct weft_cci_command *command;
	unsigned int n;
};
extern const struct component_set component_generic, component_events, component_ownership;

/** Whether @p who may call what @p row serves. */
bool component_permits(const struct weft_cci_component *c, const struct weft_cci_caller *who,
	const struct weft_cci_command *row);

/** Whether @p who is the primary manager. */
bool component_is_primary(const struct weft_cci_component *c, const struct weft_cci_caller *who);

/** Tell the primary manager of @p what, bits as in the policy, as far as it wants to know. */
void component_notify(struct weft_cci_component *c, uint16_t what);

/** The component's clock (0300h): 0 until it was set. */
uint64_t component_clock(const struct weft_cci_component *c, uint64_t now_ns);

/** The alias of an opcode; @p opcode itself if it has none. */
uint16_t component_alias_of(uint16_t opcode);

#endif /* COMPONENT_PRIV_H */
