/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Which lcore runs what. The first of a node's lcores polls the node: its own work, and every
 * segment of its pipelines that works on ends, but for those that may have halves of links. The
 * other segments are dealt to its other lcores, in the order of the layouts, those of receiving
 * first, beginning again when there are more segments than lcores. Ways are dealt to the others and
 * then to the first, so that it has its share where each lcore has one. A node of one lcore has all
 * there. Where no segment works on ends, in a switch of rxl mode, the last one is the node's: it
 * sends.
 */

#include "segments.h"
#include "attach.h"
#include "backlog.h"
#include "duplicate.h"
#include "inject.h"
#include "notes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_telemetry.h>

#include "cli.h"

#define SEGMENTS_MAX (2 * WEFT_PIPE_SEGMENTS_MAX)
#define WORDS_MAX 128 /* with their 0: all stages of a layout */

/* Where cycles are counted. */
struct meter {
	const struct weft_loop *loop; /* NULL: not yet */
	unsigned int poll; /* of the loop's */
};

struct segment {
	struct node *node;
	unsigned int index; /* in its pipeline */
	unsigned int lcore;
	bool is_tx;
	bool is_own; /* part of the node's poll */
	bool sends; /* it ends at the ports */
	struct meter meter; /* unless it is the node's own */
};

struct segments {
	unsigned int n;
	struct meter node;
	struct segment seg[SEGMENTS_MAX];
};

/*
 * Whether receiving halves of retry layers may run apart: not where both judge numbers by where the
 * handshake stands.
 */
static bool
segments_can_halve(const struct daemon *d)
{
	return !daemon_is_cxl(d);
}

/* What a node has: layouts as parsed; @p tx NULL: none. */
static void
segments_deal(struct segments *s, const struct weft_layout *rx, const struct weft_layout *tx,
	const unsigned int *lcore, unsigned int n_lcores, bool halves)
{
	unsigned int dealt = 0;

	*s = (struct segments){ .n = rx->n_segments + (tx == NULL ? 0u : tx->n_segments) };
	for (unsigned int i = 0; i < s->n; i++) {
		struct segment *g = &s->seg[i];
		const struct weft_layout *l = i < rx->n_segments ? rx : tx;

		g->is_tx = l != rx;
		g->index = g->is_tx ? i - rx->n_segments : i;
		g->sends = i + 1 == s->n;
		g->is_own = n_lcores == 1 || (tx == NULL && g->sends) ||
		            (weft_layout_at_ends(l, g->index) &&
				    !weft_layout_may_part(l, g->index, halves));
		if (g->is_own)
			g->lcore = lcore[0];
		else if (l->ways[g->index] == 1)
			g->lcore = lcore[1 + dealt++ % (n_lcores - 1)];
		else
			g->lcore = lcore[(l->way[g->index] + 1u) % n_lcores];
		g->is_own = g->lcore == lcore[0];
	}
}

/* The lcores that a node names, or the main one. @return how many */
static unsigned int
segments_lcores(const struct weft_topo_node *n, unsigned int main_lcore, unsigned int *lcore)
{
	for (unsigned int i = 0; i < n->n_lcores; i++)
		lcore[i] = n->lcore[i];
	if (n->n_lcores == 0)
		lcore[0] = main_lcore;
	return n->n_lcores == 0 ? 1 : n->n_lcores;
}

bool
segments_apart(const struct node *n, enum weft_stage_ends half)
{
	struct weft_layout l;
	char err[256];
	bool is_apart = false;

	if (n->topo->n_lcores <= 1 ||
		weft_layout_parse(n->daemon->cfg.rx_layout, &l, err, sizeof(err)) != 0)
		return false;
	for (unsigned int i = 0; i < l.n_segments; i++)
		is_apart |= weft_layout_has(&l, i, half) &&
		            weft_layout_may_part(&l, i, segments_can_halve(n->daemon));
	return is_apart;
}

static const struct weft_layout *
segment_layout(const struct segment *g)
{
	return weft_pipe_layout(g->is_tx ? g->node->tx : g->node->rx);
}

/* Before lcores run, and when they do not run any more. */
static void
segments_all_own(struct node *n)
{
	n->own.rx = (uint8_t)((1u << weft_pipe_segments(n->rx)) - 1);
	n->own.tx = (uint8_t)(n->tx == NULL ? 0 : (1u << weft_pipe_segments(n->tx)) - 1);
	n->own.sends = true;
}

static_assert(WEFT_PIPE_SEGMENTS_MAX <= 8, "a bit each");

int
segments_init(struct node *n)
{
	unsigned int lcore[WEFT_TOPO_NODE_LCORES];
	const unsigned int n_lcores = segments_lcores(n->topo, n->lcore, lcore);
	struct segments *s = malloc(sizeof(*s));
	bool is_elsewhere = false;

	if (s == NULL)
		return -ENOMEM;
	n->segments = s;
	segments_deal(s, weft_pipe_layout(n->rx), n->tx == NULL ? NULL : weft_pipe_layout(n->tx),
		lcore, n_lcores, segments_can_halve(n->daemon));
	for (unsigned int i = 0; i < s->n; i++) {
		struct segment *g = &s->seg[i];

		g->node = n;
		is_elsewhere |= !g->is_own && !g->is_tx;
		if (g->is_tx && weft_layout_at_ends(segment_layout(g), g->index))
			n->tx_link = (uint8_t)g->index;
	}
	segments_all_own(n);
	return is_elsewhere ? notes_init(n) : 0;
}

void
segments_fini(struct node *n)
{
	notes_fini(n);
	free(n->segments);
}

/* --- while lcores run --- */

static unsigned int
segment_poll(void *arg)
{
	struct segment *g = arg;
	struct node *n = g->node;
	unsigned int worked = 0;

	if (__atomic_load_n(&n->own.paused_until_ns, __ATOMIC_RELAXED) != 0 && node_is_paused(n))
		return 0;
	for (uint16_t p = 0; g->sends && p < n->n_ports; p++)
		worked += backlog_flush(&n->out[p]);
	return worked + weft_pipe_poll(g->is_tx ? n->tx : n->rx, g->index);
}

/* What an lcore does for a node. @return polls added */
static unsigned int
segments_polls_of(struct node *n, unsigned int lcore, struct weft_poll *polls, unsigned int first)
{
	struct segments *s = n->segments;
	unsigned int k = 0;

	if (n->lcore == lcore) {
		s->node.poll = first;
		polls[k++] = (struct weft_poll){ node_poll, n };
	}
	if (n->lcore == lcore && n->duplicates != NULL)
		polls[k++] = (struct weft_poll){ duplicates_poll, n };
	for (unsigned int i = 0; i < s->n; i++) {
		struct segment *g = &s->seg[i];

		if (g->is_own || g->lcore != lcore)
			continue;
		g->meter.poll = first + k;
		polls[k++] = (struct weft_poll){ segment_poll, g };
	}
	return k;
}

/* The loop of an lcore is there: what it counts for whom. */
static void
segments_meter(struct daemon *d, unsigned int lcore, const struct weft_loop *loop)
{
	for (uint16_t i = 0; i < d->n_nodes; i++) {
		struct segments *s = d->node[i].segments;

		if (d->node[i].lcore == lcore)
			s->node.loop = loop;
		for (unsigned int k = 0; k < s->n; k++)
			if (!s->seg[k].is_own && s->seg[k].lcore == lcore)
				s->seg[k].meter.loop = loop;
	}
}

static void
segments_say_idle(void *arg, const char *line)
{
	const struct daemon *d = arg;

	if (!d->cfg.no_text)
		puts(line);
}

static void
segments_make_loop(struct daemon *d, unsigned int lcore, struct weft_poll *polls)
{
	struct weft_loop_cfg cfg = {
		.lcore = lcore,
		.idle = d->cfg.idle,
		.polls = polls,
		.on_idle = segments_say_idle,
		.on_idle_arg = d,
	};

	attach_bell(&cfg);
	for (uint16_t i = 0; i < d->n_nodes; i++)
		cfg.n_polls +=
			segments_polls_of(&d->node[i], lcore, polls + cfg.n_polls, cfg.n_polls);
	if (cfg.n_polls == 0)
		return;
	d->loop[d->n_loops] = weft_loop_create(&cfg);
	if (d->loop[d->n_loops] == NULL)
		cli_fail("lcore %u: %s", lcore, rte_strerror(rte_errno));
	segments_meter(d, lcore, d->loop[d->n_loops]);
	if (lcore == rte_get_main_lcore())
		d->main_loop = d->loop[d->n_loops];
	d->n_loops++;
}

/* From here on a node's poll does its part alone. */
static void
segments_part(struct node *n)
{
	for (unsigned int i = 0; i < n->segments->n; i++) {
		const struct segment *g = &n->segments->seg[i];
		const uint8_t others = (uint8_t) ~(1u << g->index);

		if (g->is_own)
			continue;
		if (g->is_tx)
			n->own.tx &= others;
		else
			n->own.rx &= others;
		n->own.sends = n->own.sends && !g->sends;
	}
}

/* Lcores that the topology names and nobody has work for. */
static void
segments_say_unused(const struct daemon *d)
{
	for (uint16_t i = 0; i < d->n_nodes && !d->cfg.no_text; i++) {
		const struct node *n = &d->node[i];

		for (unsigned int c = 1; c < n->topo->n_lcores; c++) {
			bool is_used = false;

			for (unsigned int k = 0; k < n->segments->n; k++)
				is_used |= n->segments->seg[k].lcore == n->topo->lcore[c];
			if (!is_used)
				printf("node %s: lcore %u has no segment to run: the layouts have "
				       "no more that may run apart\n",
					n->topo->name, n->topo->lcore[c]);
		}
	}
}

void
segments_make_loops(struct daemon *d)
{
	struct weft_poll *polls = calloc(d->n_nodes * (2u + SEGMENTS_MAX) + 1u, sizeof(*polls));

	d->loop = calloc(RTE_MAX_LCORE, sizeof(d->loop[0]));
	if (d->loop == NULL || polls == NULL)
		cli_fail("out of memory");
	for (uint16_t i = 0; i < d->n_nodes; i++)
		segments_part(&d->node[i]);
	for (unsigned int lcore = 0; lcore < RTE_MAX_LCORE; lcore++)
		segments_make_loop(d, lcore, polls);
	free(polls);
	segments_say_unused(d);
}

void
segments_ended(struct daemon *d)
{
	for (uint16_t i = 0; i < d->n_nodes; i++)
		segments_all_own(&d->node[i]);
}

/* --- what is said of it --- */

/* The segment that the node's own work is counted with: that of pack, or what sends. */
static bool
segment_is_home(const struct segment *g)
{
	return g->is_own && (g->is_tx ? g->index == 0 : g->sends);
}

static uint64_t
segment_stage_cycles(const struct segment *g)
{
	const struct weft_layout *l = segment_layout(g);
	uint64_t cycles = 0;

	for (unsigned int i = l->first[g->index]; i < l->first[g->index + 1]; i++)
		cycles += weft_pipe_stats(g->is_tx ? g->node->tx : g->node->rx, i)->cycles;
	return cycles;
}

/* Of segments that the node polls the stages are known; what else it did is the home's. */
static void
segment_cycles(const struct segment *g, uint64_t *busy, uint64_t *idle)
{
	const struct segments *s = g->node->segments;
	const struct meter *m = g->is_own ? &s->node : &g->meter;
	uint64_t others = 0;

	*busy = *idle = 0;
	if (m->loop != NULL)
		weft_loop_poll_cycles(m->loop, m->poll, busy, idle);
	if (!g->is_own)
		return;
	for (unsigned int i = 0; i < s->n; i++)
		if (s->seg[i].is_own && &s->seg[i] != g)
			others += segment_stage_cycles(&s->seg[i]);
	if (!segment_is_home(g))
		*busy = segment_stage_cycles(g);
	else
		*busy = *busy > others ? *busy - others : 0;
}

static double
segment_cycles_per_flit(const struct weft_pipe *pipe, unsigned int stage)
{
	const uint64_t flits = weft_pipe_flits(pipe, stage);

	return flits == 0 ? 0 : (double)weft_pipe_stats(pipe, stage)->cycles / (double)flits;
}

static json_t *
segment_json(const struct segment *g)
{
	const struct weft_layout *l = segment_layout(g);
	const struct weft_pipe *pipe = g->is_tx ? g->node->tx : g->node->rx;
	json_t *stages = json_object();
	char words[WORDS_MAX];
	uint64_t busy, idle;

	for (unsigned int i = l->first[g->index]; i < l->first[g->index + 1]; i++)
		json_object_set_new(
			stages, l->stage[i]->name, json_real(segment_cycles_per_flit(pipe, i)));
	segment_cycles(g, &busy, &idle);
	return json_pack("{s:i, s:s, s:I, s:I, s:o}", "lcore", (int)g->lcore, "segment",
		weft_layout_words(l, g->index, words, sizeof(words)), "busy_cycles",
		(json_int_t)busy, "idle_cycles", (json_int_t)idle, "stages", stages);
}

unsigned int
segments_rx_lcore(const struct node *n, uint16_t pid)
{
	const struct segments *s = n->segments;
	/* 0 where there are none, as in cxl mode. */
	const uint8_t way = __atomic_load_n(&weft_conns_ways(n->conns)[pid], __ATOMIC_RELAXED);

	for (unsigned int i = 0; i < s->n; i++) {
		const struct segment *g = &s->seg[i];
		const struct weft_layout *l = segment_layout(g);

		if (!g->is_tx && weft_layout_has(l, g->index, WEFT_ENDS_LLR_RX) &&
			(l->ways[g->index] == 1 || l->way[g->index] == way))
			return g->lcore;
	}
	return n->lcore;
}

json_t *
segments_json(const struct node *n)
{
	json_t *list = json_array();

	for (unsigned int i = 0; i < n->segments->n; i++)
		json_array_append_new(list, segment_json(&n->segments->seg[i]));
	return list;
}

int
segments_tell(const struct node *n, struct rte_tel_data *data)
{
	rte_tel_data_start_dict(data);
	for (unsigned int i = 0; i < n->segments->n; i++) {
		const struct segment *g = &n->segments->seg[i];
		struct rte_tel_data *one = rte_tel_data_alloc();
		char words[WORDS_MAX], name[16];
		uint64_t busy, idle;

		if (one == NULL)
			return -ENOMEM;
		segment_cycles(g, &busy, &idle);
		rte_tel_data_start_dict(one);
		rte_tel_data_add_dict_u64(one, "lcore", g->lcore);
		rte_tel_data_add_dict_string(one, "segment",
			weft_layout_words(segment_layout(g), g->index, words, sizeof(words)));
		rte_tel_data_add_dict_u64(one, "busy_cycles", busy);
		rte_tel_data_add_dict_u64(one, "idle_cycles", idle);
		snprintf(name, sizeof(name), "%s_%u", g->is_tx ? "tx" : "rx", g->index);
		rte_tel_data_add_dict_container(data, name, one, 0);
	}
	return 0;
}

/* Layouts as layouts_check() has seen them. */
static bool
segments_parse(
	const struct daemon *d, unsigned int node, struct weft_layout *rx, struct weft_layout *tx)
{
	const bool is_switch = !daemon_is_cxl(d) && d->topo->node[node].kind == WEFT_TOPO_SWITCH;
	char err[256];
	int rc = weft_layout_parse(
		is_switch ? d->cfg.switch_layout : d->cfg.rx_layout, rx, err, sizeof(err));

	if (rc == 0 && !is_switch)
		rc = weft_layout_parse(d->cfg.tx_layout, tx, err, sizeof(err));
	assert(rc == 0);
	return !is_switch;
}

void
segments_print(const struct daemon *d, unsigned int node)
{
	const struct weft_topo_node *n = &d->topo->node[node];
	unsigned int lcore[WEFT_TOPO_NODE_LCORES], n_lcores;
	struct weft_layout rx, tx;
	const bool has_tx = segments_parse(d, node, &rx, &tx);
	struct segments s;

	if (n->n_lcores == 0)
		return;
	n_lcores = segments_lcores(n, 0, lcore);
	segments_deal(&s, &rx, has_tx ? &tx : NULL, lcore, n_lcores, segments_can_halve(d));
	for (unsigned int c = 0; c < n_lcores; c++) {
		const char *before = c == 0 ? " the node" : "";

		printf("           lcore %u:%s", lcore[c], before);
		for (unsigned int i = 0; i < s.n; i++) {
			const struct segment *g = &s.seg[i];
			char words[WORDS_MAX];

			if (g->lcore != lcore[c])
				continue;
			printf("%s %s", *before == '\0' ? "" : " |",
				weft_layout_words(
					g->is_tx ? &tx : &rx, g->index, words, sizeof(words)));
			before = " ";
		}
		puts(*before == '\0' ? " nothing: no segment is left for it" : "");
	}
}

/* Of stages that work on connections these may leave the node's lcore. */
static const char *
segments_say_what_parts(const struct daemon *d, bool is_tx)
{
	if (is_tx)
		return "of what sends, all that works on connections runs there";
	if (!segments_can_halve(d))
		return "in cxl mode, of what works on connections only ide_open may run elsewhere, "
		       "in a segment without others";
	return "of what works on connections only link_rx, crc_first with it, and ide_open may run "
	       "elsewhere, in segments without others";
}

/* A ring between two segments that both have to run on the node's lcore parts nothing. */
static void
segments_check_node(const struct daemon *d, unsigned int node)
{
	const struct weft_topo_node *n = &d->topo->node[node];
	unsigned int lcore[WEFT_TOPO_NODE_LCORES];
	char words[2][WORDS_MAX];
	struct weft_layout rx, tx;
	struct segments s;

	if (n->n_lcores <= 1 || !segments_parse(d, node, &rx, &tx))
		return;
	segments_deal(&s, &rx, &tx, lcore, segments_lcores(n, 0, lcore), segments_can_halve(d));
	for (unsigned int i = 1; i < s.n; i++) {
		const struct segment *g = &s.seg[i], *before = g - 1;
		const struct weft_layout *l = g->is_tx ? &tx : &rx;

		if (!g->is_own || !before->is_own || g->index == 0 || l->ways[g->index] != 1 ||
			l->ways[before->index] != 1)
			continue;
		cli_usage("%s: node %s: \"%s\" and \"%s\" would both run on lcore %u: %s; expected "
			  "\",\" between them",
			g->is_tx ? "--tx-layout" : "--rx-layout", n->name,
			weft_layout_words(l, before->index, words[0], WORDS_MAX),
			weft_layout_words(l, g->index, words[1], WORDS_MAX), lcore[0],
			segments_say_what_parts(d, g->is_tx));
	}
}

void
segments_check(const struct daemon *d)
{
	for (uint16_t i = 0; i < d->n_nodes; i++)
		segments_check_node(d, d->node[i].index);
}
