/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* The options --atc-* of weft-bench. */

#include <stdio.h>
#include <string.h>

#include "atc_load.h"
#include "atc_sim.h"
#include "cli.h"
#include "weft_atc_prefetcher.h"

#define ENTRIES_MAX (1u << 23)
#define ACCESSES_MAX UINT64_C(1000000000)

void
atc_sim_defaults(struct atc_sim_cfg *cfg)
{
	*cfg = (struct atc_sim_cfg){
		.pages = 1 << WEFT_ATC_4K,
		.entries = { 64, 256, 1024, 4096, 16384, 65536 },
		.n_entries = 6,
		.prefetch = { 1 },
		.n_prefetch = 1,
		.accesses = 4000000,
	};
}

void
atc_sim_workload(struct atc_sim_cfg *cfg, char *text)
{
	const char *words[33] = { NULL };

	for (unsigned int i = 0; i < atc_n_workloads; i++)
		words[i] = atc_workloads[i].name;
	words[atc_n_workloads] = "all";
	for (char *word = strtok(text, ","); word != NULL; word = strtok(NULL, ",")) {
		const unsigned int i = cli_word("--atc-workload", word, words);

		cfg->workloads |= i < atc_n_workloads ? 1u << i : (1u << atc_n_workloads) - 1;
	}
	if (cfg->workloads == 0)
		cli_usage("--atc-workload: expected a name, got nothing");
}

static unsigned int
read_list(const char *option, char *text, unsigned int *list, unsigned int most)
{
	unsigned int n = 0;

	for (char *word = strtok(text, ","); word != NULL; word = strtok(NULL, ",")) {
		if (n == ATC_SIM_LIST_MAX)
			cli_usage("%s: more than %d numbers", option, ATC_SIM_LIST_MAX);
		list[n++] = (unsigned int)cli_number(option, word, 1, most);
	}
	if (n == 0)
		cli_usage("%s: expected numbers, got nothing", option);
	return n;
}

void
atc_sim_entries(struct atc_sim_cfg *cfg, char *text)
{
	cfg->n_entries = read_list("--atc-entries", text, cfg->entries, ENTRIES_MAX);
	for (unsigned int i = 0; i < cfg->n_entries; i++) {
		const unsigned int n = cfg->entries[i];

		if (n < WEFT_ATC_WAYS || (n & (n - 1)) != 0)
			cli_usage("--atc-entries: expected powers of two from %d on, got %u",
				WEFT_ATC_WAYS, n);
	}
}

void
atc_sim_page(struct atc_sim_cfg *cfg, char *text)
{
	cfg->pages = 0;
	for (char *word = strtok(text, ","); word != NULL; word = strtok(NULL, ","))
		cfg->pages |= (uint8_t)(1u << cli_word("--atc-page", word, weft_atc_class_words));
	if (cfg->pages == 0)
		cli_usage("--atc-page: expected a page size, got nothing");
}

void
atc_sim_prefetch(struct atc_sim_cfg *cfg, char *text)
{
	cfg->n_prefetch = read_list("--atc-prefetch", text, cfg->prefetch, WEFT_ATC_PREFETCH_MAX);
}

void
atc_sim_accesses(struct atc_sim_cfg *cfg, char *text)
{
	cfg->accesses = cli_number("--atc-accesses", text, 1000, ACCESSES_MAX);
}
