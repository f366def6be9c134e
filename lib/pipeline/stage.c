/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The stages that registered themselves, sorted by name: constructors run in no order of ours, and
 * what people see must not depend on the linker.
 */

#include "weft_stage.h"

#define STAGES_MAX 64

static const struct weft_stage *stages[STAGES_MAX];
static unsigned int n_stages;

void
weft_stage_register(const struct weft_stage *s)
{
	unsigned int i = n_stages;

	assert(n_stages < STAGES_MAX);
	assert(s->n_counters <= WEFT_STAGE_COUNTERS_MAX);
	assert(weft_stage_find(s->name) == NULL);
	for (; i > 0 && strcmp(stages[i - 1]->name, s->name) > 0; i--)
		stages[i] = stages[i - 1];
	stages[i] = s;
	n_stages++;
}

const struct weft_stage *
weft_stage_find(const char *name)
{
	for (unsigned int i = 0; i < n_stages; i++)
		if (strcmp(stages[i]->name, name) == 0)
			return stages[i];
	return NULL;
}

const struct weft_stage *
weft_stage_at(unsigned int i)
{
	return i < n_stages ? stages[i] : NULL;
}
