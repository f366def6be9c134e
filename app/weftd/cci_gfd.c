/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * GFDs here to their manager: the tables that commands change, as SIGHUP changes them, memory that
 * is wiped, and reports of accesses that failed (0107h), which come from the lcore that serves the
 * GFD and go out at a bounded rate.
 */

#include "cci.h"
#include "fabric.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "weft_gfd.h"

#define GFD_REPORT_EVERY_NS UINT64_C(100000000)
#define GFD_REPORTS_AT_ONCE 16 /* in that time; more are counted and dropped */
#define GFD_WIPED_NAP_NS 20000

static struct node *
cci_gfd_node(void *component)
{
	return ((struct cci_component *)component)->node;
}

static const struct weft_gfam *
cci_gfd_now(void *component)
{
	return cci_gfd_node(component)->rights.live;
}

static struct weft_gfam *
cci_gfd_begin(void *component)
{
	return fabric_copy_access(cci_gfd_node(component));
}

static void
cci_gfd_commit(void *component)
{
	fabric_publish_access(cci_gfd_node(component));
	weft_loop_quiesce();
}

/* Nobody can reach it. What was known to be bad there is known by the lcore that serves it. */
static void
cci_gfd_wipe(void *component, uint64_t dpa, uint64_t len)
{
	const struct timespec nap = { .tv_nsec = GFD_WIPED_NAP_NS };
	struct weft_node *n = cci_gfd_node(component)->node;

	memset(weft_node_gfd(n)->mem + dpa, 0, len);
	weft_node_heal(n, dpa, len);
	while (!weft_node_is_healed(n) && !daemon_is_stopped())
		nanosleep(&nap, NULL);
}

static bool
cci_gfd_is_up(void *component)
{
	return weft_port_is_up(cci_gfd_node(component)->port[0]);
}

static const struct weft_cci_gfd_world cci_gfd_world = {
	.now = cci_gfd_now,
	.begin = cci_gfd_begin,
	.commit = cci_gfd_commit,
	.wipe = cci_gfd_wipe,
	.is_up = cci_gfd_is_up,
};

/* An access failed, and a report is due. On the lcore that serves the GFD. */
static void
cci_gfd_report(void *arg, const struct weft_gfam_report *r)
{
	struct cci_reports *q = arg;
	const uint32_t put = __atomic_load_n(&q->put, __ATOMIC_RELAXED);

	if (put - __atomic_load_n(&q->taken, __ATOMIC_ACQUIRE) == CCI_REPORTS) {
		__atomic_store_n(&q->dropped, q->dropped + 1, __ATOMIC_RELAXED);
		return;
	}
	q->report[put % CCI_REPORTS] = *r;
	__atomic_store_n(&q->put, put + 1, __ATOMIC_RELEASE);
}

void
cci_gfd_send_reports(struct cci_component *c, uint64_t now_ns)
{
	struct cci_reports *q = c->reports;
	const uint16_t fm = weft_cci_component_owner(&c->component)->primary_pid;
	uint8_t msg[WEFT_CCI_GFD_REPORT_LEN];

	if (q == NULL)
		return;
	if (now_ns >= q->next_ns) {
		q->next_ns = now_ns + GFD_REPORT_EVERY_NS;
		q->n_sent = 0;
	}
	while (q->taken != __atomic_load_n(&q->put, __ATOMIC_ACQUIRE)) {
		const struct weft_gfam_report *r = &q->report[q->taken % CCI_REPORTS];

		if (fm != WEFT_CCI_NO_PID && q->n_sent < GFD_REPORTS_AT_ONCE) {
			weft_cci_gfd_report(r, c->node->topo->pid, msg);
			cci_notify(c, fm, msg, sizeof(msg));
			q->n_sent++;
			q->sent++;
		} else {
			q->kept_back++;
		}
		__atomic_store_n(&q->taken, q->taken + 1, __ATOMIC_RELEASE);
	}
}

int
cci_begin_gfd(struct cci_component *c, struct weft_cci_component_cfg *cfg)
{
	struct node *n = c->node;

	cfg->type = WEFT_CCI_TYPE_GFD;
	if (n->rights.lists == NULL)
		return 0; /* all of its memory is open to all, and there is nothing to command */
	c->reports = calloc(1, sizeof(*c->reports));
	if (c->reports == NULL)
		return -ENOMEM;
	n->rights.guard.report = cci_gfd_report;
	n->rights.guard.report_arg = c->reports;
	weft_cci_gfd_init(&c->gfd, &cci_gfd_world, c, n->rights.lists);
	cfg->command = weft_cci_gfd_commands;
	cfg->n_commands = weft_cci_gfd_n_commands;
	cfg->arg = &c->gfd;
	return 0;
}
