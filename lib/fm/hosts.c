/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Hosts learn what memory they have (C100h, C101h, doc/cci.md). What goes is said before the GFD
 * closes it; what comes is announced before it is open, for hosts that hold answers against what
 * they know, and said to be there when it is.
 */

#include <errno.h>
#include <stdlib.h>

#include "fm_priv.h"

#define HOSTS_TOLD 0x01 /* flags of C100h */
#define HOSTS_ANNOUNCED 0x01 /* flags of C101h */
#define HOSTS_RUNS 0x01 /* status of 0002h */

static bool
hosts_is_same(const struct weft_cci_host_extent *a, const struct weft_cci_host_extent *b)
{
	return a->pid == b->pid && a->grp == b->grp && a->dpa == b->dpa && a->len == b->len;
}

static bool
hosts_has(const struct fm_memory *m, const struct weft_cci_host_extent *e)
{
	for (unsigned int i = 0; i < m->n; i++)
		if (hosts_is_same(&m->row[i], e))
			return true;
	return false;
}

/* Whether all of @p a is in @p b. */
static bool
hosts_is_within(const struct fm_memory *a, const struct fm_memory *b)
{
	for (unsigned int i = 0; i < a->n; i++)
		if (!hosts_has(b, &a->row[i]))
			return false;
	return true;
}

static void
hosts_add(struct fm_memory *m, const struct weft_cci_host_extent *e)
{
	if (m->n < WEFT_FM_HOST_EXTENTS)
		m->row[m->n++] = *e;
}

/* Nobody sends to a GFD that is drained. */
static enum weft_fm_way
hosts_way(const struct weft_fm *fm, uint16_t pid, const struct fm_component *gfd)
{
	const struct weft_fm_node *n = fm_intent_of(fm, gfd->path);

	return n != NULL && n->is_drained ? WEFT_FM_WAY_THERE
	                                  : fm_way(fm, pid, fm_known_pid(fm, gfd));
}

/*
 * Whether a host may begin, as it does with what it hears first: its load goes to every GFD. Those
 * that no way leads to are awaited for a while after the manager's start alone.
 */
static bool
hosts_may_begin(const struct weft_fm *fm, const struct fm_component *c)
{
	const bool is_late = fm->now_ns - fm->began_ns >= FM_FIRST_NS;

	for (uint16_t i = 0; i < fm->intent->n_nodes; i++) {
		const struct weft_fm_node *n = &fm->intent->node[i];
		enum weft_fm_way way;

		if (n->kind != WEFT_TOPO_GFD || n->path >= fm->cfg.n_paths)
			continue;
		way = hosts_way(fm, c->want_pid, &fm->component[n->path]);
		if (way == WEFT_FM_WAY_COMES || (way == WEFT_FM_WAY_NONE && !is_late))
			return false;
	}
	return true;
}

/* Memory of the intent, as a host is told of it. */
static struct weft_cci_host_extent
hosts_extent(const struct weft_fm *fm, const struct weft_fm_extent *x)
{
	return (struct weft_cci_host_extent){
		.pid = fm_known_pid(fm, &fm->component[x->path]),
		.grp = (uint8_t)x->group,
		.dpa = x->dpa,
		.len = x->len,
	};
}

/* Whether the GFD gives it to the host now. */
static bool
hosts_is_open(const struct weft_fm *fm, const struct weft_fm_extent *x, uint16_t pid)
{
	const struct fm_component *g = &fm->component[x->path];

	return fm_is_usable(g) && g->gfd != NULL && (g->gfd->sat[pid] >> x->group & 1) != 0 &&
	       fm_is_covered(g->gfd, x) && hosts_way(fm, pid, g) == WEFT_FM_WAY_THERE;
}

enum weft_fm_way
weft_fm_host_way(const struct weft_fm *fm, uint32_t path, const struct weft_fm_extent *x)
{
	const struct fm_component *c = path < fm->cfg.n_paths ? &fm->component[path] : NULL;
	struct weft_cci_host_extent e;
	enum weft_fm_way way;

	if (c == NULL || x->path >= fm->cfg.n_paths || !fm_is_usable(c) || c->host == NULL)
		return WEFT_FM_WAY_THERE;
	e = hosts_extent(fm, x);
	way = fm_way(fm, c->want_pid, e.pid);
	if (way == WEFT_FM_WAY_THERE && (!c->host->is_told || !hosts_has(&c->host->told, &e)))
		return WEFT_FM_WAY_COMES;
	return way;
}

/* Whether it is a host that this manager gives memory. */
static bool
hosts_is_to_hear(const struct weft_fm *fm, const struct fm_component *c)
{
	return fm_is_usable(c) && c->host != NULL && fm->intent->has_memory;
}

/* What a host is to have, and what of it is open. */
static void
hosts_want(const struct weft_fm *fm, const struct fm_component *c, struct fm_memory *want,
	struct fm_memory *open)
{
	want->n = open->n = 0;
	for (uint32_t i = 0; i < fm->intent->n_rights; i++) {
		const struct weft_fm_right *r = &fm->intent->right[i];

		for (uint32_t k = 0; r->pid == c->want_pid && k < fm->intent->n_extents; k++) {
			const struct weft_fm_extent *x = &fm->intent->extent[k];
			const struct weft_cci_host_extent e = hosts_extent(fm, x);

			/* Of memory without a PID a host can make nothing. */
			if (x->path != r->path || (r->groups >> x->group & 1) == 0 ||
				e.pid == WEFT_FM_NO_PID)
				continue;
			hosts_add(want, &e);
			if (hosts_is_open(fm, x, r->pid))
				hosts_add(open, &e);
		}
	}
}

bool
fm_is_taking(const struct fm_component *c)
{
	return fm_is_usable(c) && c->host != NULL &&
	       (c->host->is_taking || (c->req.is_out && c->req.is_write));
}

unsigned int
fm_wait_for_hosts(struct weft_fm *fm)
{
	for (uint32_t i = 0; i < fm->cfg.n_paths; i++)
		fm->n_waiting += fm_is_taking(&fm->component[i]);
	return 0;
}

/* Groups of a GFD in a memory. */
static uint32_t
hosts_groups(const struct fm_memory *m, uint16_t gfd)
{
	uint32_t groups = 0;

	for (unsigned int k = 0; k < m->n; k++)
		if (m->row[k].pid == gfd && m->row[k].grp < FM_GROUPS)
			groups |= UINT32_C(1) << m->row[k].grp;
	return groups;
}

/* What it has as long as it was not asked, and once it goes by that. */
void
fm_keep_used(const struct weft_fm *fm, const struct fm_component *gfd, uint32_t row[WEFT_PIDS])
{
	const uint16_t pid = fm_known_pid(fm, gfd);

	for (uint32_t i = 0; i < fm->cfg.n_paths; i++) {
		const struct fm_component *c = &fm->component[i];
		const uint16_t p = c->want_pid & WEFT_FM_NO_PID;
		uint32_t groups;

		if (!fm_is_taking(c))
			continue;
		groups = hosts_groups(&c->host->told, pid);
		if (!c->host->is_asked_known)
			groups = UINT32_MAX;
		else if (!c->host->is_asked_announced)
			groups |= hosts_groups(&c->host->asked, pid);
		row[p] |= gfd->gfd->sat[p] & groups;
	}
}

/* One that is read may do what another manager asked, or we before an answer was lost. */
int
fm_put_background(struct weft_fm *fm, struct fm_component *c, uint8_t *b)
{
	(void)fm;
	(void)b;
	return !c->is_poll || c->host->is_taking ? 0 : -1;
}

int
fm_got_background(struct weft_fm *fm, struct fm_component *c, const uint8_t *b, size_t len)
{
	struct weft_cci_background_status_rsp rsp;

	if (weft_cci_get_background_status_rsp(&rsp, b, len) != 0)
		return -EBADMSG;
	c->is_running = (rsp.st & HOSTS_RUNS) != 0 && rsp.op == WEFT_CCI_SET_HOST_MEMORY;
	if (!c->is_poll || c->is_running)
		return FM_GOT_ALL;
	if (!c->host->is_asked_known || rsp.op != WEFT_CCI_SET_HOST_MEMORY) {
		fm_restart(fm, c, fm->now_ns); /* C100h says what it has */
		return FM_GOT_OTHER;
	}
	c->host->is_taking = false;
	if (rsp.rc != WEFT_CCI_SUCCESS) {
		fm_write_refused(fm, c, rsp.op, rsp.rc);
		return FM_GOT_OTHER;
	}
	c->hold_step_ns = 0;
	fm_apply(fm, c, WEFT_CCI_SET_HOST_MEMORY, NULL, 0);
	return FM_GOT_ALL;
}

/*
 * One that is read again, as after an answer that was lost, is there at once or left out: memory
 * does not go or come without its knowledge meanwhile.
 */
static bool
hosts_can_hear(struct weft_fm *fm, struct fm_component *c)
{
	if (c->state != WEFT_FM_READING)
		return fm_can_write(fm, c);
	fm->n_waiting++;
	return false;
}

static unsigned int
hosts_send(struct weft_fm *fm, struct fm_component *c, const struct fm_memory *m, bool is_announced)
{
	uint8_t list[WEFT_FM_HOST_EXTENTS * WEFT_CCI_HOST_EXTENT_LEN];
	const struct weft_cci_set_host_memory_req req = {
		.flags = is_announced ? HOSTS_ANNOUNCED : 0, .n = (uint16_t)m->n, .extent = list
	};

	if (!hosts_can_hear(fm, c))
		return 0;
	for (unsigned int i = 0; i < m->n; i++)
		weft_cci_put_host_extent(list, i, &m->row[i]);
	fm_event(fm, WEFT_FM_EVENT_WRITE, c, WEFT_CCI_SET_HOST_MEMORY, "host %s %u extents",
		is_announced ? "is to expect" : "has", m->n);
	c->host->asked = *m;
	c->host->is_asked_known = true;
	c->host->is_asked_announced = is_announced;
	fm_send(fm, c, WEFT_CCI_SET_HOST_MEMORY,
		weft_cci_put_set_host_memory_req(fm_payload(c), WEFT_CCI_MAX_PAYLOAD, &req), true);
	return 1;
}

/* What it was told and is to have still. */
static void
hosts_less(const struct fm_component *c, const struct fm_memory *want, struct fm_memory *less)
{
	less->n = 0;
	for (unsigned int i = 0; i < c->host->told.n; i++)
		if (hosts_has(want, &c->host->told.row[i]))
			hosts_add(less, &c->host->told.row[i]);
}

unsigned int
fm_tell_less(struct weft_fm *fm)
{
	unsigned int n = 0;

	for (uint32_t i = 0; i < fm->cfg.n_paths; i++) {
		struct fm_component *c = &fm->component[i];
		struct fm_memory want, open, less;

		if (!hosts_is_to_hear(fm, c))
			continue;
		if (c->state == WEFT_FM_READING && c->host->is_unsure) {
			fm->n_waiting++;
			continue;
		}
		if (fm_is_taking(c))
			continue;
		hosts_want(fm, c, &want, &open);
		hosts_less(c, &want, &less);
		if (less.n < c->host->told.n)
			n += hosts_send(fm, c, &less, false);
	}
	return n;
}

unsigned int
fm_announce(struct weft_fm *fm)
{
	unsigned int n = 0;

	for (uint32_t i = 0; i < fm->cfg.n_paths; i++) {
		struct fm_component *c = &fm->component[i];
		struct fm_memory want, open;

		/* One that was told nothing yet sends nothing. */
		if (!hosts_is_to_hear(fm, c) || !c->host->is_told)
			continue;
		hosts_want(fm, c, &want, &open);
		if (!hosts_is_within(&want, &c->host->told) &&
			!hosts_is_within(&want, &c->host->announced))
			n += hosts_send(fm, c, &want, true);
	}
	return n;
}

unsigned int
fm_tell_more(struct weft_fm *fm)
{
	unsigned int n = 0;

	for (uint32_t i = 0; i < fm->cfg.n_paths; i++) {
		struct fm_component *c = &fm->component[i];
		struct fm_memory want, open, more;

		if (!hosts_is_to_hear(fm, c))
			continue;
		hosts_want(fm, c, &want, &open);
		/* A GFD that is away may come back: what was told of it stays. */
		hosts_less(c, &want, &more);
		for (unsigned int k = 0; k < open.n; k++)
			if (!hosts_has(&more, &open.row[k]))
				hosts_add(&more, &open.row[k]);
		/* One that hears for the first time holds all answers against it from then on. */
		if (!c->host->is_told && (fm->is_unclosed || !hosts_may_begin(fm, c)))
			fm->n_held++;
		else if (!c->host->is_told || !hosts_is_within(&more, &c->host->told))
			n += hosts_send(fm, c, &more, false);
	}
	return n;
}

void
fm_apply_host(struct fm_component *c)
{
	if (c->host->is_asked_announced) {
		c->host->announced = c->host->asked;
		return;
	}
	c->host->told = c->host->asked;
	c->host->announced.n = 0;
	c->host->is_told = true;
}

int
fm_got_host(struct weft_fm *fm, struct fm_component *c, const uint8_t *b, size_t len)
{
	struct weft_cci_get_host_memory_rsp rsp;

	(void)fm;
	if (weft_cci_get_get_host_memory_rsp(&rsp, b, len) != 0 || rsp.n > WEFT_FM_HOST_EXTENTS)
		return -EBADMSG;
	fm_component_free(c);
	c->host = calloc(1, sizeof(*c->host));
	if (c->host == NULL)
		return -EBADMSG;
	c->host->is_told = (rsp.flags & HOSTS_TOLD) != 0;
	c->host->is_taking = c->is_running;
	for (unsigned int i = 0; i < rsp.n; i++) {
		struct weft_cci_host_extent e;

		weft_cci_get_host_extent(rsp.extent, i, &e);
		hosts_add(&c->host->told, &e);
	}
	return FM_GOT_ALL;
}
