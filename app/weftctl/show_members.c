/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Members of states. */

#include "show.h"

double
show_number(const json_t *o, const char *key)
{
	return json_number_value(json_object_get(o, key));
}

const char *
show_text(const json_t *o, const char *key)
{
	const char *text = json_string_value(json_object_get(o, key));

	return text == NULL ? "" : text;
}
