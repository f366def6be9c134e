/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Lists of regions, for people and for programs. */

#include "regions.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define GENERATION_TEXT 17 /* bytes, with its end */

int
regions_list(struct weft *w, struct weft_region_info **list)
{
	int n, room = 0;

	*list = NULL;
	/* There may be more the second time. */
	while ((n = weft_regions(w, *list, room)) > room) {
		free(*list);
		room = n;
		*list = calloc((size_t)room, sizeof(**list));
		if (*list == NULL)
			return -ENOMEM;
	}
	if (n < 0) {
		free(*list);
		*list = NULL;
	}
	return n;
}

const char *
regions_rights(uint32_t rights)
{
	static const char *const words[] = { "", "r", "w", "rw" };

	return words[rights & (WEFT_READ | WEFT_WRITE)];
}

const char *
regions_generation(uint64_t generation, char *text, size_t room)
{
	snprintf(text, room, "%016" PRIx64, generation);
	return generation != 0 ? text : NULL;
}

json_t *
regions_json(const char *node, const struct weft_region_info *list, int n)
{
	json_t *regions = json_array();
	char generation[GENERATION_TEXT];

	for (int i = 0; i < n; i++)
		json_array_append_new(
			regions, json_pack("{s:s, s:s, s:I, s:I, s:s, s:s?}", "name", list[i].name,
					 "target", list[i].target, "size", (json_int_t)list[i].size,
					 "granule", (json_int_t)list[i].granule, "rights",
					 regions_rights(list[i].rights), "generation",
					 regions_generation(list[i].generation, generation,
						 sizeof(generation))));
	return json_pack("{s:s, s:o}", "node", node, "regions", regions);
}
