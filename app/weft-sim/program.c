/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What a program does: attach, submit operations of all kinds, take what is done, leave in order or
 * be killed, and come again; see program.h. Its memory is a page of the region "programs" of a
 * drawn file. The judge holds each completion to what the page may hold, each refusal to its
 * errno, and the block of one that has left to what was in it then.
 */

#include "program.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "client_priv.h"
#include "draw.h"
#include "update.h"
#include "weft_clients.h"
#include "weft_resolve.h"

#define HOSTS_MOST 4
#define AT_A_HOST DRAW_PROGRAMS
#define ENTRIES 16
#define DATA_LEN (UINT64_C(32) << 10)
#define OPS_MOST 200 /* of a program, in all its lives */
#define GAP_LEAST (20 * US) /* between two looks, at most: drawn for each */
#define IDLE_NS (1 * MS) /* where there is nothing to do for it */
#define ENDS 8
#define HANDLES 2 /* the second may only read */

enum { PROGRAM_AWAY, PROGRAM_WORKS, PROGRAM_LEAVES };

/* An operation that is open. */
struct program_op {
	bool is_open;
	uint8_t kind; /* enum weft_op_kind */
	bool is_uio;
	uint32_t at, n; /* in its page */
	uint64_t begun; /* the ledger's count then */
	uint64_t number; /* of all of the program's, in their order */
	int expected; /* an errno if it has to be refused */
	uint8_t data[PROGRAM_PAGE];
};

struct sim_program {
	struct sim_program *next; /* at its host */
	struct sim_node *node;
	struct weft_rand rand;
	uint64_t base; /* fabric address of its page */
	struct program_ledger ledger;
	uint8_t state;
	uint64_t gap_ns;
	uint32_t left; /* operations */
	uint64_t n_begun;
	uint64_t lost; /* times that memory was, when it opened it or the node met it since */
	uint64_t generation; /* of its memory, as the node knew it then; 0: it had not met it */
	unsigned int number; /* of its host's */
	uint8_t rights; /* enum weft_attach_rights, by the row of its user */
	bool is_stale;
	bool is_done;
	bool may_uio;
	void *block;
	size_t block_len;
	uint64_t hash; /* of the block, when the node had let go; 0: it was not told yet */
	struct weft *w; /* NULL: it is not attached */
	struct weft_node_client *client; /* NULL: the node has nothing of it */
	struct weft_node_region region[HANDLES]; /* the node's */
	struct weft_region open[2 * HANDLES]; /* the program's: each once more, by UIO */
	struct program_op op[ENTRIES];
};

/* --- which hosts have some --- */

static const struct weft_topo_region *
program_region(const struct weft_topo *t)
{
	for (unsigned int i = 0; i < t->attach.n_regions; i++)
		if (strcmp(t->attach.region[i].name, "programs") == 0)
			return &t->attach.region[i];
	return NULL;
}

/* A drawn fabric with memory for them, whose rights do not change. */
static bool
program_has_room(const struct sim *s)
{
	return !s->is_drawn && s->opt->topology == NULL && program_region(s->topo) != NULL &&
	       (s->faults.update == NULL || s->faults.update->other == NULL);
}

/* Frames that are played back excuse whatever memory holds: half of the seeds go without. */
void
programs_choose(struct sim *s)
{
	struct weft_rand r;

	weft_rand_seed(&r, s->seed ^ UINT64_C(0xC11E0));
	if (program_has_room(s) && weft_rand_below(&r, 2) == 0)
		s->sc.fault.weight[FAULT_REPLAY] = 0;
}

static bool
program_is_wanted(const struct sim *s)
{
	return program_has_room(s) && s->sc.fault.weight[FAULT_REPLAY] == 0;
}

static uint64_t
program_page(const struct weft_topo *t, unsigned int number)
{
	const struct weft_topo_region *r = program_region(t);

	return t->map.segment[r->segment].base + r->offset + (uint64_t)number * PROGRAM_PAGE;
}

/* Whether a host may reach the pages of its programs, by their number. */
static bool
program_may_reach(const struct sim *s, uint16_t host, unsigned int first, bool by_uio)
{
	const uint64_t base = program_page(s->topo, first);
	struct weft_resolve_hop *hop = calloc(s->topo->n_nodes, sizeof(*hop));
	bool may = true;

	if (hop == NULL)
		cli_fail("out of memory");
	for (unsigned int i = 0; i < AT_A_HOST * PROGRAM_LINES; i++) {
		const uint64_t line = base + i * (uint64_t)PROGRAM_LINE;
		struct weft_resolve r;

		may = may && weft_resolve(s->topo, host, line, by_uio, &r, hop) == 0 &&
		      r.rule == WEFT_RESOLVE_ALLOWED && !r.is_unanswered;
	}
	free(hop);
	return may;
}

void
programs_draw(struct sim *s)
{
	struct weft_rand r;

	if (!program_is_wanted(s))
		return;
	weft_rand_seed(&r, s->seed ^ UINT64_C(0xC11E));
	for (uint16_t h = 0; h < s->topo->n_hosts && h < HOSTS_MOST; h++) {
		const uint16_t host = s->topo->host[h];
		const uint16_t tags = (uint16_t)(4 + weft_rand_below(&r, 60));

		if (weft_rand_below(&r, 4) != 0 && s->topo->node[host].n_translations == 0 &&
			program_may_reach(s, host, AT_A_HOST * h, false))
			s->load->node[host].client_tags = tags;
	}
}

static void
program_make(struct sim_node *n, unsigned int first, unsigned int i, uint64_t seed)
{
	struct sim *s = n->sim;
	struct sim_program *p = arena_alloc(&s->memory.arena, sizeof(*p));
	struct weft_attach_layout l;
	const int rc = weft_attach_layout(ENTRIES, DATA_LEN, &l);
	uint8_t *room;

	if (rc != 0)
		cli_fail("the block of a program: %s", strerror(-rc));
	room = arena_alloc(&s->memory.arena, l.len + WEFT_ATTACH_PAGE);
	p->block = room + (WEFT_ATTACH_PAGE - (uintptr_t)room % WEFT_ATTACH_PAGE);
	p->block_len = l.len;
	p->node = n;
	p->base = program_page(s->topo, first + i);
	p->number = i;
	p->may_uio =
		weft_node_clients_have_uio(&n->node) && program_may_reach(s, n->index, first, true);
	weft_rand_seed(&p->rand, seed);
	p->left = 1 + (uint32_t)weft_rand_below(&p->rand, OPS_MOST);
	p->gap_ns = GAP_LEAST << weft_rand_below(&p->rand, 7);
	program_ledger_init(&p->ledger, s->sc.mode == WEFT_MODE_CXL || s->sc.load.timeout_ms != 0);
	p->next = n->host.programs;
	n->host.programs = p;
	s->progress.n_programs++;
	heap_push(&s->heap, weft_rand_below(&p->rand, MS), EV_PROGRAM, p);
}

void
programs_make(struct sim *s)
{
	struct weft_rand r;

	if (!program_is_wanted(s))
		return;
	weft_rand_seed(&r, s->seed ^ UINT64_C(0xC11E57));
	for (uint16_t h = 0; h < s->topo->n_hosts && h < HOSTS_MOST; h++) {
		struct sim_node *n = &s->node[s->topo->host[h]];
		const uint64_t want = 1 + weft_rand_below(&r, AT_A_HOST);

		for (unsigned int i = 0; i < want; i++) {
			const uint64_t seed = weft_rand_u64(&r);

			if (weft_node_takes_clients(n->node.topo, n->node.load))
				program_make(n, AT_A_HOST * h, i, seed);
		}
	}
}

/* --- coming and going --- */

static uint64_t
program_memory_lost(const struct sim *s)
{
	uint64_t n = 0;

	for (uint16_t i = 0; i < s->topo->n_nodes; i++)
		n += s->node[i].gfd.n_lost;
	return n;
}

static void
program_note_lost(struct sim_program *p)
{
	const uint64_t lost = program_memory_lost(p->node->sim);

	if (p->lost != lost)
		program_ledger_lost(&p->ledger);
	p->lost = lost;
}

/* What is lost before the node first meets the memory is not told of: nobody there knew it. */
static void
program_meet(struct sim_program *p)
{
	if (p->client == NULL || p->generation != 0)
		return;
	program_note_lost(p);
	p->generation = weft_node_region_generation(&p->node->node, &p->region[0]);
}

static void
program_open(struct sim_program *p)
{
	const struct weft_topo *t = p->node->sim->topo;
	const struct weft_topo_segment *s = &t->map.segment[program_region(t)->segment];

	for (int i = 0; i < HANDLES; i++) {
		struct weft_node_region *r = &p->region[i];

		*r = (struct weft_node_region){ .base = p->base,
			.size = PROGRAM_PAGE,
			.rights = i == 0 ? p->rights : WEFT_ATTACH_READ };
		for (unsigned int way = 0; way < 1u << s->ways_log2; way++) {
			const uint16_t pid = t->node[t->map.target[s->first_target + way].node].pid;

			r->target[pid / 64] |= WEFT_BIT64(pid % 64);
		}
		/* The library would refuse what the node has to. */
		p->open[i] = (struct weft_region){ .w = p->w,
			.size = 2 * PROGRAM_PAGE,
			.handle = (uint32_t)weft_node_client_open(p->client, r),
			.rights = WEFT_READ | WEFT_WRITE };
		p->open[HANDLES + i] = p->open[i];
		p->open[HANDLES + i].is_uio = true;
	}
	p->is_stale = false;
	program_note_lost(p);
	p->generation = weft_node_region_generation(&p->node->node, &p->region[0]);
}

static void
program_wake(void *arg)
{
	(void)arg; /* it looks when it likes */
}

static uint64_t
program_hash(const struct sim_program *p)
{
	const uint8_t *at = p->block;
	uint64_t h = 1;

	for (size_t i = 0; i < p->block_len; i += sizeof(h))
		h = (h ^ weft_get_le64(at + i)) * UINT64_C(0x9E3779B97F4A7C15) + (h >> 29);
	return h | 1;
}

static void
program_end(struct sim_program *p)
{
	p->is_done = true;
	p->node->sim->progress.n_programs--;
	progress(p->node->sim);
}

/* By the row that decides about its user, if the host has rows. @return whether it may come in */
static bool
program_take_row(struct sim_program *p, struct weft_node_client_cfg *cfg)
{
	const struct weft_topo *t = p->node->sim->topo;
	const uint32_t other = DRAW_GID + 1 + p->number;
	const struct weft_topo_user who = {
		.uid = DRAW_UID + p->number, .gid = DRAW_GID, .group = &other, .n_groups = 1
	};
	const struct weft_topo_client *row = weft_topo_client_of(t, p->node->index, &who);
	const unsigned int region = (unsigned int)(program_region(t) - t->attach.region);

	p->rights = WEFT_ATTACH_READ | WEFT_ATTACH_WRITE;
	if (t->node[p->node->index].clients.n == 0)
		return true;
	if (row == NULL || row->rights == 0 || !weft_topo_client_may_open(t, row, region))
		return false;
	if ((row->rights & WEFT_TOPO_CLIENT_WRITE) == 0)
		p->rights = WEFT_ATTACH_READ;
	cfg->share = row->share;
	return true;
}

static void
program_attach(struct sim_program *p)
{
	struct weft_node_client_cfg cfg = { .block = p->block,
		.entries = ENTRIES,
		.data_len = DATA_LEN,
		.share = 1 + (uint32_t)weft_rand_below(&p->rand, 5),
		.wake = program_wake };
	int rc;

	if (!program_take_row(p, &cfg)) {
		program_end(p);
		return;
	}
	if (p->hash != 0 && program_hash(p) != p->hash)
		violation(p->node->sim, "host %u writes into the block of a program that has left",
			p->node->pid);
	p->hash = 0;
	memset(p->block, 0, p->block_len);
	rc = weft_node_client_add(&p->node->node, &cfg, &p->client);
	if (rc == 0)
		rc = client_make(&p->w, p->block, ENTRIES, DATA_LEN);
	if (rc != 0)
		cli_fail("seed %llu: a program attaches: %s",
			(unsigned long long)p->node->sim->seed, strerror(-rc));
	program_open(p);
	p->state = PROGRAM_WORKS;
}

/* Of what is open nothing will be told. */
static void
program_forget(struct sim_program *p)
{
	for (unsigned int i = 0; i < ENTRIES; i++) {
		struct program_op *op = &p->op[i];

		if (op->is_open && op->kind == WEFT_OP_WRITE && op->expected == 0)
			program_write_ends(&p->ledger, op->at, op->n, false);
		op->is_open = false;
	}
	p->ledger.oldest = UINT64_MAX;
}

/* Killed or not: it has no rings any more. */
static void
program_leave(struct sim_program *p)
{
	weft_node_client_leave(p->client);
	p->state = PROGRAM_LEAVES;
	weft_detach(p->w);
	p->w = NULL;
}

static void
program_left(struct sim_program *p)
{
	weft_node_client_free(&p->node->node, p->client);
	p->client = NULL;
	p->state = PROGRAM_AWAY;
	/* It was lost only now: what had begun was still to be done. */
	program_forget(p);
	p->hash = program_hash(p);
	if (p->left != 0)
		return;
	program_end(p);
}

void
programs_gone(struct sim_node *n)
{
	for (struct sim_program *p = n->host.programs; p != NULL; p = p->next) {
		if (p->client == NULL)
			continue;
		weft_detach(p->w);
		p->w = NULL;
		program_left(p);
	}
}

void
programs_free(struct sim *s)
{
	for (uint16_t i = 0; s->node != NULL && i < s->topo->n_nodes; i++)
		for (struct sim_program *p = s->node[i].host.programs; p != NULL; p = p->next)
			weft_detach(p->w);
}

/* --- what is done --- */

static void
program_note_oldest(struct sim_program *p)
{
	p->ledger.oldest = UINT64_MAX;
	for (unsigned int i = 0; i < ENTRIES; i++)
		if (p->op[i].is_open && p->op[i].kind == WEFT_OP_READ &&
			p->op[i].begun < p->ledger.oldest)
			p->ledger.oldest = p->op[i].begun;
}

/* All before it have ended, and what is behind it begins now. */
static void
program_fence_ends(struct sim_program *p, const struct program_op *fence)
{
	for (unsigned int i = 0; i < ENTRIES; i++) {
		struct program_op *op = &p->op[i];

		if (!op->is_open)
			continue;
		if (op->number < fence->number)
			violation(p->node->sim,
				"a fence of host %u ends before what was submitted before it",
				p->node->pid);
		op->begun = p->ledger.count;
	}
}

/* Nobody is between it and a fence that is open. */
static bool
program_is_fenced(const struct sim_program *p, const struct program_op *op)
{
	for (unsigned int i = 0; i < ENTRIES; i++)
		if (p->op[i].is_open && p->op[i].kind == WEFT_OP_FENCE &&
			p->op[i].number < op->number)
			return true;
	return false;
}

static bool
program_may_fail(const struct sim_program *p, const struct program_op *op, int status)
{
	const struct sim *s = p->node->sim;

	switch (status) {
	case -EIO: return op->kind == WEFT_OP_READ;
	case -ETIMEDOUT:
	case -ESTALE: return !s->opt->calm || s->opt->has_impair;
	default: return false;
	}
}

static void
program_judge(struct sim_program *p, const struct program_op *op, int status)
{
	struct sim *s = p->node->sim;
	int line = -1;

	if (op->kind != WEFT_OP_FENCE && program_is_fenced(p, op))
		violation(s, "an operation of host %u ends before the fence that it is behind",
			p->node->pid);
	if (op->expected != 0) {
		if (status != op->expected && status != -ESTALE)
			violation(s, "host %u: a program expects %s and gets %s", p->node->pid,
				strerror(-op->expected), strerror(-status));
		return;
	}
	if (status != 0 && !program_may_fail(p, op, status))
		violation(s, "host %u: an operation of a program fails: %s", p->node->pid,
			strerror(-status));
	if (op->kind == WEFT_OP_FENCE)
		program_fence_ends(p, op);
	else if (op->kind == WEFT_OP_WRITE)
		program_write_ends(&p->ledger, op->at, op->n, status == 0);
	else if (status == 0)
		line = program_read_ends(&p->ledger, op->at, op->n, op->data, op->begun);
	if (line >= 0)
		violation(s, "a program of host %u read line %d: not what was written",
			p->node->pid, line);
	s->total.domain[op->is_uio ? DOMAIN_CLIENTS_UIO : DOMAIN_CLIENTS]++;
}

static int
program_collect(struct sim_program *p)
{
	struct weft_done done[ENDS];
	const int n = weft_wait(p->w, done, ENDS, 0);

	if (n < 0)
		violation(p->node->sim, "the rings of a program of host %u break: %s", p->node->pid,
			strerror(-n));
	for (int i = 0; i < n; i++) {
		struct program_op *op = &p->op[done[i].user];

		if (!op->is_open)
			violation(p->node->sim, "an operation of host %u ends twice", p->node->pid);
		op->is_open = false;
		program_note_oldest(p);
		program_judge(p, op, done[i].status);
		p->is_stale |= done[i].status == -ESTALE;
		progress(p->node->sim);
	}
	return n;
}

/* --- what is submitted --- */

static struct program_op *
program_free_op(struct sim_program *p)
{
	for (unsigned int i = 0; i < ENTRIES; i++)
		if (!p->op[i].is_open)
			return &p->op[i];
	return NULL;
}

static void
program_draw_place(struct sim_program *p, struct program_op *op)
{
	static const uint32_t most[] = { PROGRAM_LINE, 4 * PROGRAM_LINE, PROGRAM_PAGE };

	op->n = 1 + (uint32_t)weft_rand_below(&p->rand, most[weft_rand_below(&p->rand, 3)]);
	op->at = (uint32_t)weft_rand_below(&p->rand, PROGRAM_PAGE - op->n + 1);
	if (weft_rand_below(&p->rand, 2) == 0 && op->n >= PROGRAM_LINE) {
		op->n -= op->n % PROGRAM_LINE;
		op->at -= op->at % PROGRAM_LINE;
	}
}

/* By UIO half of them, where the host has it: of whole DWs. */
static void
program_draw_uio(struct sim_program *p, struct program_op *op)
{
	op->is_uio = p->may_uio && weft_rand_below(&p->rand, 2) == 0;
	if (!op->is_uio)
		return;
	op->at &= ~3u;
	op->n = op->n < 4 ? 4 : op->n & ~3u;
}

/* @return the handle that it goes by */
static unsigned int
program_draw_op(struct sim_program *p, struct program_op *op)
{
	const uint64_t what = weft_rand_below(&p->rand, 100);
	unsigned int handle = weft_rand_below(&p->rand, 8) == 0;

	program_draw_place(p, op);
	program_draw_uio(p, op);
	op->expected = 0;
	op->kind = what < 45 ? WEFT_OP_WRITE : what < 92 ? WEFT_OP_READ : WEFT_OP_FENCE;
	if (what >= 97 && what < 100) {
		op->kind = WEFT_OP_READ;
		op->at = PROGRAM_PAGE - op->n + (op->is_uio ? 4 : 1);
		op->expected = -EINVAL;
	} else if (op->kind == WEFT_OP_WRITE &&
		   (p->region[handle].rights & WEFT_ATTACH_WRITE) == 0) {
		op->expected = -EACCES;
	} else if (op->kind == WEFT_OP_WRITE && !program_may_write(&p->ledger, op->at, op->n)) {
		op->kind = WEFT_OP_READ;
	}
	return handle;
}

static bool
program_submit(struct sim_program *p)
{
	struct program_op *op = program_free_op(p);
	struct weft_op submission;
	unsigned int handle;

	if (op == NULL || p->left == 0)
		return false;
	handle = program_draw_op(p, op);
	if (op->kind == WEFT_OP_WRITE)
		weft_rand_fill(&p->rand, op->data, op->n);
	submission = (struct weft_op){ .kind = op->kind,
		.region = &p->open[op->is_uio ? HANDLES + handle : handle],
		.off = op->at,
		.buf = op->data,
		.n = op->n,
		.user = (uint64_t)(op - p->op) };
	if (weft_submit(p->w, &submission, 1) != 1)
		return false; /* no room for its data */
	op->is_open = true;
	op->begun = p->ledger.count;
	op->number = p->n_begun++;
	p->left--;
	if (op->kind == WEFT_OP_WRITE && op->expected == 0)
		program_write_begins(&p->ledger, op->at, op->n, op->data);
	program_note_oldest(p);
	return true;
}

/* What was open by it has ended: it is opened anew, with whatever memory is there. */
static void
program_open_anew(struct sim_program *p)
{
	if (p->w->n_open != 0 || weft_node_region_is_used(&p->region[0]) ||
		weft_node_region_is_used(&p->region[1]))
		return;
	for (uint32_t i = 0; i < HANDLES; i++)
		weft_node_client_close(p->client, p->open[i].handle);
	p->lost = UINT64_MAX;
	program_open(p);
}

/* @return whether there was something to do */
static bool
program_work(struct sim_program *p)
{
	bool worked = program_collect(p) != 0;
	const uint64_t most = weft_rand_below(&p->rand, 6);

	if (p->is_stale) {
		program_open_anew(p);
		return worked;
	}
	/* Killed with whatever is open, or left in order. */
	if ((p->left == 0 && p->w->n_open == 0) || weft_rand_below(&p->rand, 200) == 0) {
		program_leave(p);
		return true;
	}
	if (weft_rand_below(&p->rand, 50) == 0)
		weft_node_client_set_share(
			p->client, 1 + (uint32_t)weft_rand_below(&p->rand, WEFT_NODE_SHARE_MAX));
	for (uint64_t i = 0; i < most && program_submit(p); i++)
		worked = true;
	return worked;
}

void
program_step(struct sim_program *p)
{
	struct sim_node *n = p->node;
	const bool is_there = n->resume_ns == 0 && n->life.state == LIFE_RUNS;
	bool worked = true;

	if (p->is_done)
		return;
	program_meet(p);
	if (p->state == PROGRAM_AWAY && is_there)
		program_attach(p);
	else if (p->state == PROGRAM_LEAVES && weft_node_client_is_gone(p->client))
		program_left(p);
	else
		worked = p->state == PROGRAM_WORKS && program_work(p);
	if (is_there)
		node_turn(n);
	heap_push(&n->sim->heap,
		n->sim->now_ns + 1 +
			weft_rand_below(&p->rand, worked ? p->gap_ns : p->gap_ns + IDLE_NS),
		EV_PROGRAM, p);
}
