/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Findings of the doctor as lines. */

#include "doctor.h"

#include <stdio.h>

const char *
doctor_finding_text(const struct doctor_finding *f, char *text, size_t len)
{
	const bool is_wrong = f->level == DOCTOR_SLOWS || f->level == DOCTOR_STOPS;

	snprintf(text, len, "%s%s%s%s%s", f->found, is_wrong ? "; expected " : "",
		is_wrong ? f->wanted : "", is_wrong ? ": " : "", is_wrong ? f->fix : "");
	return text;
}

void
doctor_print_summary(const struct doctor *d, const unsigned int *n)
{
	printf("%s%s%s: %u in the way (%u stop a node, %u slow it), %u good, %u unknown\n",
		d->machine, d->nodes[0] != '\0' ? ", for " : "", d->nodes,
		n[DOCTOR_STOPS] + n[DOCTOR_SLOWS], n[DOCTOR_STOPS], n[DOCTOR_SLOWS], n[DOCTOR_GOOD],
		n[DOCTOR_UNKNOWN]);
}
