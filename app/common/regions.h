/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* The regions that a program may reach: all rows at once, and how programs print them. */
#ifndef REGIONS_H
#define REGIONS_H

#include <jansson.h>

#include "weft.h"

/**
 * Rows of all regions.
 *
 * @param list  receives them on 0 or more, the caller's to free; may be NULL if there are none
 * @return how many, or an error of weft_regions(), or -ENOMEM
 */
int regions_list(struct weft *w, struct weft_region_info **list);

/** "r", "w" or "rw". */
const char *regions_rights(uint32_t rights);

/** 16 digits, as in the daemon's reports, in @p text; NULL: not known yet. */
const char *regions_generation(uint64_t generation, char *text, size_t room);

/** An object with the host's name and its regions: doc/weftctl.md says of what members. */
json_t *regions_json(const char *node, const struct weft_region_info *list, int n);

#endif /* REGIONS_H */
