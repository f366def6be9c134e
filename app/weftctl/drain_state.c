/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* A node is drained when nothing of it, nor of any that uses it, is outstanding. */

#include "drain_state.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

const json_t *
drain_find(const json_t *states, const char *name)
{
	const json_t *state, *node;
	size_t i, k;

	json_array_foreach(states, i, state)
		json_array_foreach(json_object_get(state, "nodes"), k, node)
	{
		const char *is = json_string_value(json_object_get(node, "name"));

		if (is != NULL && name != NULL && strcmp(is, name) == 0)
			return node;
	}
	return NULL;
}

static bool
drain_is_asked(const json_t *node)
{
	return json_is_object(json_object_get(node, "drain"));
}

/* Not yet looked at is not at rest. */
static bool
drain_is_at_rest(const json_t *node)
{
	const json_t *left = json_object_get(json_object_get(node, "drain"), "left");

	return json_is_integer(left) && json_integer_value(left) == 0;
}

enum drain_state
drain_state_of(const json_t *states, const json_t *node, char *who, size_t who_len)
{
	const json_t *first = json_object_get(json_object_get(node, "drain"), "first"), *name;
	bool is_done = drain_is_at_rest(node), waits = false;
	size_t i, used = 0;

	if (!drain_is_asked(node))
		return DRAIN_NOT;
	json_array_foreach(first, i, name)
	{
		const json_t *other = drain_find(states, json_string_value(name));

		is_done = is_done && drain_is_at_rest(other);
		if (drain_is_asked(other))
			continue;
		waits = true;
		if (who != NULL && used < who_len)
			used += (size_t)snprintf(who + used, who_len - used, "%s%s",
				used == 0 ? "" : ", ", json_string_value(name));
	}
	if (waits)
		return DRAIN_WAITS;
	return is_done ? DRAIN_DONE : DRAIN_GOES_ON;
}

const char *
drain_word(enum drain_state state)
{
	return state == DRAIN_NOT ? "runs" : state == DRAIN_DONE ? "drained" : "draining";
}
