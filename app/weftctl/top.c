/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* weftctl top: a page of a terminal that goes with the fabric, until somebody presses q. */

#include <curses.h>
#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "ctl.h"
#include "daemons.h"
#include "top.h"

#define TOP_PERIOD_S 1.0
#define TOP_BARS_AT 74 /* column; what is left of it are numbers */
#define TOP_BARS_MAX 256
#define TOP_DROPS 5 /* reasons at most */
#define TOP_LEAST_LINES 8
#define TOP_PATIENCE_MS 1000 /* with daemons that answered before */

struct top_page {
	const struct ctl *c;
	struct top_model model;
	double period_s;
	unsigned int first; /* of the nodes, at the top */
	bool is_paused, is_utf8, by_load;
};

static void
top_leave(void)
{
	if (!isendwin())
		endwin();
}

/* Text of exactly @p width columns; less than 0 is not known. */
static void
top_put(double value, int digits, int width)
{
	char text[32];

	if (value < 0)
		snprintf(text, sizeof(text), "-");
	else
		snprintf(text, sizeof(text), "%.*f", digits, value);
	if ((int)strlen(text) >= width)
		snprintf(text, sizeof(text), "%.1e", value);
	printw("%*.*s", width, width, text);
}

static void
top_draw_bars(const struct top_page *p, const struct top_node *n, int y)
{
	static const char *const utf8[] = { " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	static const char *const ascii[] = { " ", ".", ".", ":", "-", "=", "+", "*", "#" };
	const int cols = COLS - TOP_BARS_AT < TOP_BARS_MAX ? COLS - TOP_BARS_AT : TOP_BARS_MAX;
	unsigned char bar[TOP_BARS_MAX];

	if (cols <= 0)
		return;
	top_bars(n, bar, (unsigned int)cols);
	move(y, TOP_BARS_AT);
	for (int i = 0; i < cols; i++)
		addstr(p->is_utf8 ? utf8[bar[i]] : ascii[bar[i]]);
}

static void
top_draw_node(const struct top_page *p, const struct top_node *n, int y)
{
	char links[16];

	snprintf(links, sizeof(links), "%u/%u", n->up, n->all);
	if (n->up != n->all || n->is_silent)
		attron(A_BOLD);
	mvprintw(y, 0, "%-9.9s %-6.6s %7.7s", n->name, n->kind, n->is_silent ? "-" : links);
	if (n->is_silent) {
		printw("  weftd %u does not answer", n->daemon);
		attroff(A_BOLD);
		return;
	}
	top_put(n->in, 2, 8);
	top_put(n->out, 2, 8);
	top_put(n->resent_per_s, 0, 9);
	top_put(n->drops_per_s, 0, 8);
	top_put(n->p50_us, 1, 8);
	top_put(n->p99_us, 1, 8);
	attroff(A_BOLD);
	top_draw_bars(p, n, y);
}

static void
top_draw_drops(const struct top_model *m, int y, int lines)
{
	attron(A_REVERSE);
	mvprintw(y, 0, "%-*.*s", COLS, COLS, "     DROPPED     PER S REASON");
	attroff(A_REVERSE);
	for (int i = 0; i < lines && i < (int)m->n_drops; i++) {
		move(y + 1 + i, 0);
		top_put(m->drop[i].total, 0, 12);
		top_put(m->drop[i].per_s, 0, 10);
		printw(" %.*s", COLS - 24, m->drop[i].reason);
	}
	if (m->n_drops == 0)
		mvprintw(y + 1, 0, "%12s", "nothing");
}

/* Lines for nodes. */
static int
top_lines(const struct top_page *p)
{
	int drops = (int)p->model.n_drops;

	drops = drops < 1 ? 1 : drops > TOP_DROPS ? TOP_DROPS : drops;
	return LINES - 4 - drops;
}

static void
top_draw(struct top_page *p)
{
	struct top_model *m = &p->model;
	const int lines = top_lines(p);
	char now[16];
	const time_t t = time(NULL);

	strftime(now, sizeof(now), "%H:%M:%S", localtime(&t));
	erase();
	if (LINES < TOP_LEAST_LINES || COLS < TOP_BARS_AT) {
		mvprintw(0, 0, "weftctl top: expected %d columns and %d lines, got %d and %d",
			TOP_BARS_AT, TOP_LEAST_LINES, COLS, LINES);
		refresh();
		return;
	}
	if (p->first + (unsigned int)lines > m->n_nodes)
		p->first = m->n_nodes > (unsigned int)lines ? m->n_nodes - (unsigned int)lines : 0;
	mvprintw(0, 0, "fabric %s: %u node%s of %u daemon%s, ", m->fabric, m->n_nodes,
		m->n_nodes == 1 ? "" : "s", m->n_daemons, m->n_daemons == 1 ? "" : "s");
	if (m->n_silent != 0)
		printw("%u silent, ", m->n_silent);
	printw("each %g s%s", p->period_s, p->is_paused ? ", PAUSED" : "");
	mvprintw(0, COLS - (int)strlen(now), "%s", now);
	attron(A_REVERSE);
	mvprintw(1, 0, "%-*.*s", COLS, COLS,
		"NODE      KIND        UP MFLIT/S     OUT RESENT/S DROPS/S  P50 US  P99 US  LOAD");
	attroff(A_REVERSE);
	for (int i = 0; i < lines && p->first + (unsigned int)i < m->n_nodes; i++)
		top_draw_node(p, &m->node[p->first + (unsigned int)i], 2 + i);
	top_draw_drops(m, 2 + lines, LINES - 4 - lines);
	mvprintw(LINES - 1, 0, "q quit   p pause   s sort by %s   arrows, PgUp, PgDn, Home: nodes",
		p->by_load ? "order" : "load");
	refresh();
}

static void
top_refresh(struct top_page *p, struct daemons *d)
{
	json_t *states = daemons_states_within(p->c, d, TOP_PATIENCE_MS);

	if (top_update(&p->model, states, p->c->opt.node) != 0)
		ctl_fail(p->c, "out of memory");
	json_decref(states);
	if (p->model.n_nodes == 0 && p->model.n_silent != 0)
		ctl_fail(p->c,
			"%u of %u daemons do not answer, and no other has what is to be shown",
			p->model.n_silent, p->model.n_daemons);
	if (p->model.n_nodes == 0)
		ctl_fail(p->c, "--node %s: no daemon of this user runs such a node",
			p->c->opt.node == NULL ? "" : p->c->opt.node);
	top_sort(&p->model, p->by_load);
}

/* False: the user has seen enough. */
static bool
top_key(struct top_page *p, int key)
{
	const int lines = top_lines(p); /* of a terminal that is too low for them less than 1 */
	const unsigned int page = lines < 1 ? 1 : (unsigned int)lines;

	switch (key) {
	case 'q':
	case 'Q': return false;
	case 'p': p->is_paused = !p->is_paused; break;
	case 's':
		p->by_load = !p->by_load;
		top_sort(&p->model, p->by_load);
		break;
	case KEY_DOWN: p->first++; break; /* top_draw() bounds it */
	case KEY_NPAGE: p->first += page; break;
	case KEY_UP: p->first -= p->first > 0; break;
	case KEY_PPAGE: p->first -= p->first < page ? p->first : page; break;
	case KEY_HOME: p->first = 0; break;
	default: break;
	}
	return true;
}

static double
top_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void
top_begin(struct top_page *p)
{
	const char *term = getenv("TERM") == NULL ? "" : getenv("TERM");
	enum top_terminal kind;

	setlocale(LC_CTYPE, "");
	p->is_utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		ctl_fail(p->c,
			"expected a terminal; weftctl show nodes --watch 1 prints tables anywhere");
	kind = top_judge_terminal();
	if (kind == TOP_TERMINAL_DUMB)
		ctl_fail(p->c,
			"TERM: expected a terminal whose cursor can be moved, got \"%s\"; "
			"weftctl show nodes --watch 1 prints tables anywhere",
			term);
	if (kind == TOP_TERMINAL_UNKNOWN || newterm(NULL, stdout, stdin) == NULL)
		ctl_fail(p->c, "TERM: expected a terminal that curses knows, got \"%s\"", term);
	atexit(top_leave);
	noecho();
	cbreak();
	keypad(stdscr, true);
	curs_set(0);
}

int
top_run(struct ctl *c)
{
	struct top_page p = { .c = c,
		.period_s = c->opt.watch_s > 0 ? c->opt.watch_s : TOP_PERIOD_S };
	struct daemons d;
	double due = 0;

	daemons_open(c, &d);
	top_refresh(&p, &d); /* what is wrong with the command line is said on a page as it was */
	top_begin(&p);
	c->leave = top_leave;
	cli_catch_stop();
	do {
		const double left = due - top_now();

		if (left <= 0) {
			if (!p.is_paused)
				top_refresh(&p, &d);
			due = top_now() + p.period_s;
		}
		top_draw(&p);
		timeout(left <= 0 ? (int)(p.period_s * 1000) : (int)(left * 1000) + 1);
	} while (top_key(&p, getch()) && !cli_is_stopped());
	top_leave();
	top_free(&p.model);
	daemons_close(&d);
	return 0;
}
