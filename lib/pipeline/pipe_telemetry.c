/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * DPDK telemetry of pipelines: /weft/pipelines lists their names, /weft/stages,NAME gives what each
 * stage counted, its own rows and its drops by reason. The values are read while lcores write them:
 * each is whole, the set is not a snapshot.
 */

#include <errno.h>
#include <pthread.h>
#include <stdio.h>

#include <rte_telemetry.h>

#include "pipe_priv.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct weft_pipe *pipes;

static struct weft_pipe *
pipe_find(const char *name)
{
	struct weft_pipe *p = pipes;

	while (p != NULL && strcmp(p->name, name) != 0)
		p = p->next;
	return p;
}

int
pipe_telemetry_add(struct weft_pipe *p)
{
	int rc = 0;

	pthread_mutex_lock(&lock);
	if (pipe_find(p->name) != NULL) {
		rc = -EEXIST;
	} else {
		p->next = pipes;
		pipes = p;
	}
	pthread_mutex_unlock(&lock);
	return rc;
}

void
pipe_telemetry_remove(struct weft_pipe *p)
{
	pthread_mutex_lock(&lock);
	for (struct weft_pipe **at = &pipes; *at != NULL; at = &(*at)->next) {
		if (*at == p) {
			*at = p->next;
			break;
		}
	}
	pthread_mutex_unlock(&lock);
}

static int
pipe_handle_pipelines(const char *cmd, const char *params, struct rte_tel_data *d)
{
	(void)cmd;
	(void)params;
	rte_tel_data_start_array(d, RTE_TEL_STRING_VAL);
	pthread_mutex_lock(&lock);
	for (const struct weft_pipe *p = pipes; p != NULL; p = p->next)
		rte_tel_data_add_array_string(d, p->name);
	pthread_mutex_unlock(&lock);
	return 0;
}

static void
pipe_stage_fill(
	struct rte_tel_data *d, const struct weft_stage *s, const struct weft_stage_stats *st)
{
	char name[64];

	rte_tel_data_start_dict(d);
	rte_tel_data_add_dict_u64(d, "bursts", st->bursts);
	rte_tel_data_add_dict_u64(d, "frames", st->frames);
	rte_tel_data_add_dict_u64(d, "flits", st->flits);
	rte_tel_data_add_dict_u64(d, "cycles", st->cycles);
	for (unsigned int i = 0; i < s->n_counters; i++)
		rte_tel_data_add_dict_u64(d, s->counters[i].name, st->counts[i]);
	for (unsigned int v = 0; v < WEFT_VERDICT_COUNT; v++) {
		if (st->drops[v] == 0)
			continue;
		snprintf(name, sizeof(name), "drop_%s", weft_verdict_name((enum weft_verdict)v));
		rte_tel_data_add_dict_u64(d, name, st->drops[v]);
	}
}

static int
pipe_handle_stages(const char *cmd, const char *params, struct rte_tel_data *d)
{
	const struct weft_pipe *p;
	int rc = -ENOENT;

	(void)cmd;
	if (params == NULL)
		return -EINVAL;
	pthread_mutex_lock(&lock);
	p = pipe_find(params);
	if (p != NULL) {
		rte_tel_data_start_dict(d);
		for (unsigned int i = 0; i < p->layout.n_stages; i++) {
			struct weft_stage_stats sum;
			struct rte_tel_data *one;

			if (!weft_pipe_sum(p, i, &sum))
				continue;
			one = rte_tel_data_alloc();
			if (one == NULL)
				break;
			pipe_stage_fill(one, p->layout.stage[i], &sum);
			rte_tel_data_add_dict_container(d, p->layout.stage[i]->name, one, 0);
		}
		rc = 0;
	}
	pthread_mutex_unlock(&lock);
	return rc;
}

static void __attribute__((constructor)) pipe_telemetry_init(void)
{
	rte_telemetry_register_cmd("/weft/pipelines", pipe_handle_pipelines,
		"Names of the pipelines. Takes no parameters");
	rte_telemetry_register_cmd("/weft/stages", pipe_handle_stages,
		"What each stage of a pipeline counted. Parameter: pipeline name");
}
