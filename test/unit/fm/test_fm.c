/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The manager over fabrics in memory: it converges on what is desired, whatever messages are lost
 * and wherever it is killed, and the result is the true graph without what is foreign or reported
 * by one end only (fabric.md sections 6.3, 6.4 and (d) 6). That no write opens what the intent
 * forbids is asserted where writes arrive (fake.c).
 */

#include "fake.h"

#define MS UINT64_C(1000000)
#define SECOND UINT64_C(1000000000)
#define NODES 1200
#define EXTENTS 64
#define RIGHTS 4096

static const struct weft_fm_intent no_intent;

/* Events by kind; the last of each. */
struct log {
	unsigned int n[WEFT_FM_EVENT_CONVERGED + 1];
	struct weft_fm_event last[WEFT_FM_EVENT_CONVERGED + 1];
};

static struct log log_of;

static void
log_event(void *arg, const struct weft_fm_event *e)
{
	struct log *l = arg;

	l->n[e->kind]++;
	l->last[e->kind] = *e;
}

/* Managers of a store have these seats; a fabric of one has the first. */
static const uint8_t seat_uuid[2][16] = { { 1, 2, 3 }, { 9, 9, 9 } };
static uint16_t seat_pid[2] = { WEFT_FM_PID, WEFT_FM_PEER_PID };

static struct weft_fm *
manager_at(struct fake *f, unsigned int seat, bool has_peer)
{
	struct weft_fm_cfg cfg = {
		.pid = seat_pid[seat],
		.has_peer = has_peer,
		.peer_pid = seat_pid[1 - seat],
		.n_paths = f->n_components,
		.tries = 4,
		.timeout_ns = 20 * MS,
		.poll_ns = 100 * MS,
		.retry_ns = 500 * MS,
		.drain_ns = 10 * MS,
		.transport = { f, fake_send },
		.on_event = log_event,
		.event_arg = &log_of,
	};
	struct weft_fm *fm;

	memcpy(cfg.uuid, seat_uuid[seat], sizeof(cfg.uuid));
	memcpy(cfg.peer_uuid, seat_uuid[1 - seat], sizeof(cfg.peer_uuid));
	fm = weft_fm_new(&cfg, f->now_ns);
	f->manager++;
	assert_non_null(fm);
	if (f->intent == NULL)
		f->intent = &no_intent;
	else
		weft_fm_set_intent(fm, f->intent, "test");
	memset(&log_of, 0, sizeof(log_of));
	return fm;
}

static struct weft_fm *
manager(struct fake *f)
{
	return manager_at(f, 0, false);
}

static bool
is_usable(const struct fake_component *c)
{
	static const uint8_t mine[16] = { 1, 2, 3 };

	return !c->is_dead && !c->is_mad && memcmp(c->fm_uuid, mine, 16) == 0;
}

/* Whether a cable is part of the graph. */
static bool
is_linked(const struct fake *f, unsigned int a, unsigned int p)
{
	const struct fake_port *port = &f->component[a].port[p];
	const struct fake_component *far = &f->component[port->far_component];

	if (!port->is_up || !is_usable(&f->component[a]))
		return false;
	if (port->far == FAKE_HOST)
		return true;
	return port->far == FAKE_COMPONENT && port->far_component != a && !port->is_silent &&
	       is_usable(far) && (far->is_gfd || !far->port[port->far_port].is_silent);
}

/* Switches that a switch reaches by links of the graph. */
static void
flood(const struct fake *f, unsigned int at, bool *seen)
{
	seen[at] = true;
	for (unsigned int p = 0; p < f->component[at].n_ports; p++) {
		const struct fake_port *port = &f->component[at].port[p];

		if (is_linked(f, at, p) && port->far == FAKE_COMPONENT &&
			port->far_component < f->n_switches && !seen[port->far_component])
			flood(f, port->far_component, seen);
	}
}

/* Port of what stays on one path. */
static int
first_port(const struct fake_component *c, uint16_t dpid)
{
	const uint8_t *row = c->drt.entry[dpid];

	return row[0] == WEFT_DRT_RGT ? c->rgt[row[1]].port[0] : weft_drt_port(&c->drt, dpid);
}

/* Where a message for a PID ends that begins at a switch: -1 nowhere. */
static int
follow(const struct fake *f, unsigned int at, uint16_t dpid, unsigned int *port)
{
	for (unsigned int n = 0; n <= f->n_switches; n++) {
		const int out = first_port(&f->component[at], dpid);

		if (out < 0)
			return (int)at;
		*port = (unsigned int)out;
		if (!is_linked(f, at, *port) ||
			f->component[at].port[out].far_component >= f->n_switches ||
			f->component[at].port[out].far == FAKE_HOST)
			return (int)at;
		at = f->component[at].port[out].far_component;
	}
	return -1;
}

/* PID of what is behind a port of the graph that is an end, or none. */
static uint16_t
end_pid(const struct fake *f, unsigned int a, unsigned int p)
{
	const struct fake_port *port = &f->component[a].port[p];

	if (!is_linked(f, a, p))
		return WEFT_FM_NO_PID;
	if (port->far == FAKE_HOST)
		return port->pid;
	return f->component[port->far_component].is_gfd ? f->component[port->far_component].pid
	                                                : WEFT_FM_NO_PID;
}

/* The tables against the true graph: every end is reached from where it can be, by its own port. */
static void
check_routes(const struct fake *f)
{
	bool *seen = calloc(f->n_components, sizeof(*seen));
	bool used[WEFT_PIDS] = { false };
	unsigned int port = 0;

	assert_non_null(seen);
	for (unsigned int a = 0; a < f->n_components; a++) {
		const struct fake_component *c = &f->component[a];

		if (!is_usable(c))
			continue;
		assert_true(c->pid < WEFT_FM_NO_PID && !used[c->pid]);
		used[c->pid] = true;
		for (unsigned int p = 0; p < c->n_ports && a < f->n_switches; p++) {
			if (c->port[p].far != FAKE_HOST || !is_linked(f, a, p))
				continue;
			assert_true(c->port[p].pid < WEFT_FM_NO_PID && !used[c->port[p].pid]);
			used[c->port[p].pid] = true;
		}
	}
	for (unsigned int a = 0; a < f->n_switches; a++) {
		memset(seen, 0, f->n_components);
		if (!is_usable(&f->component[a]))
			continue;
		flood(f, a, seen);
		for (unsigned int b = 0; b < f->n_switches; b++) {
			for (unsigned int p = 0; p < f->component[b].n_ports; p++) {
				const uint16_t pid = end_pid(f, b, p);

				if (pid == WEFT_FM_NO_PID)
					continue;
				if (!seen[b]) {
					assert_int_equal(first_port(&f->component[a], pid), -1);
					continue;
				}
				assert_int_equal(follow(f, a, pid, &port), b);
				assert_int_equal(port, p);
			}
		}
		/* Nobody else has rows. */
		for (uint16_t d = 0; d < WEFT_FM_NO_PID; d++)
			assert_true(used[d] || first_port(&f->component[a], d) < 0);
	}
	free(seen);
}

static void
check_links(const struct fake *f, const struct weft_fm *fm)
{
	for (unsigned int a = 0; a < f->n_switches; a++) {
		for (unsigned int p = 0; p < f->component[a].n_ports; p++) {
			struct weft_fm_port port;

			if (!is_usable(&f->component[a]))
				continue;
			assert_int_equal(weft_fm_port(fm, a, (uint8_t)p, &port), 0);
			assert_int_equal(port.is_linked, is_linked(f, a, p));
		}
	}
}

/* A drawn fabric: switches joined at random, ends, and what fabric.md section 6.4 lists. */
static void
draw(struct fake *f, struct weft_rand *rand, bool has_trouble)
{
	const unsigned int n = 1 + (unsigned int)weft_rand_below(rand, 7);
	const unsigned int n_gfds = (unsigned int)weft_rand_below(rand, 5);

	fake_init(f, n, n_gfds, weft_rand_u64(rand));
	for (unsigned int i = 1; i < n; i++)
		fake_join(f, i, (unsigned int)weft_rand_below(rand, i));
	for (uint64_t k = weft_rand_below(rand, 6); k != 0 && n > 1; k--) {
		const unsigned int a = (unsigned int)weft_rand_below(rand, n);
		const unsigned int b = (unsigned int)weft_rand_below(rand, n - 1);

		fake_join(f, a, b + (b >= a));
	}
	for (unsigned int g = n; g < n + n_gfds; g++)
		fake_join(f, (unsigned int)weft_rand_below(rand, n), g);
	for (uint64_t k = weft_rand_below(rand, 6); k != 0; k--)
		fake_host(f, (unsigned int)weft_rand_below(rand, n));
	for (unsigned int i = 0; has_trouble && i < f->n_components; i++) {
		struct fake_component *c = &f->component[i];
		const uint64_t what = weft_rand_below(rand, 16);

		if (what == 0) {
			c->fm_pid = 0x005;
			memset(c->fm_uuid, 0x77, 16);
		} else if (what == 1) {
			c->is_dead = true;
		} else if (what == 2) {
			c->is_mad = true;
		} else if (what == 3) {
			c->n_busy = 5;
		} else if (what == 4 && c->n_ports != 0) {
			c->port[weft_rand_below(rand, c->n_ports)].is_silent = true;
		} else if (what == 5) {
			c->pid = 0x020; /* of a manager that is gone */
		} else if (what == 6 && !c->is_gfd) {
			(void)weft_drt_set(&c->drt, 0x321, 3);
		}
	}
}

static void
draw_losses(struct fake *f, struct weft_rand *rand)
{
	f->lost = (unsigned int)weft_rand_below(rand, 60);
	f->repeated = (unsigned int)weft_rand_below(rand, 60);
	f->late = (unsigned int)weft_rand_below(rand, 30);
}

/* Cases of which each runs a manager for long: a fifth in builds after the first. */
static unsigned int
fm_cases(unsigned int n)
{
	return weft_test_is_again() ? n / 5 : n;
}

WEFT_TEST(drawn_fabrics_converge_to_the_true_graph)
{
	const unsigned int n = fm_cases(60);
	struct weft_rand rand;

	weft_test_seed(&rand, __func__);
	for (unsigned int k = 0; k < n; k++) {
		struct weft_fm *fm;
		struct fake f;

		draw(&f, &rand, true);
		draw_losses(&f, &rand);
		fm = manager(&f);
		assert_true(fake_run(&f, fm, 600 * SECOND));
		/* What was lost by chance comes back; then nothing is lost any more. */
		f.lost = f.late = 0;
		fake_pass(&f, fm, 20 * SECOND);
		assert_true(weft_fm_is_converged(fm));
		check_routes(&f);
		check_links(&f, fm);
		weft_fm_free(fm);
		fake_free(&f);
	}
}

WEFT_TEST(a_manager_killed_anywhere_is_followed_by_another)
{
	const unsigned int n_cases = fm_cases(30);
	struct weft_rand rand;

	weft_test_seed(&rand, __func__);
	for (unsigned int k = 0; k < n_cases; k++) {
		struct weft_fm *fm;
		struct fake f;

		draw(&f, &rand, false);
		fm = manager(&f);
		for (unsigned int n = 0; n < 60; n++) {
			if (fake_run_sends(&f, fm, 1 + weft_rand_below(&rand, 60)))
				break;
			weft_fm_free(fm);
			fm = manager(&f);
		}
		assert_true(fake_run(&f, fm, f.now_ns + 100 * SECOND));
		check_routes(&f);
		check_links(&f, fm);
		/* Who begins once more finds nothing to do. */
		weft_fm_free(fm);
		fm = manager(&f);
		assert_true(fake_run(&f, fm, f.now_ns + 100 * SECOND));
		assert_int_equal(log_of.n[WEFT_FM_EVENT_WRITE], 0);
		weft_fm_free(fm);
		fake_free(&f);
	}
}

/* Memory of groups of each GFD, and who may reach it: hosts of the first fabric below. */
struct memory {
	struct weft_fm_extent extent[EXTENTS];
	struct weft_fm_right right[RIGHTS];
	struct weft_fm_node node[64];
	struct weft_fm_intent intent;
};

/* Two switches, three GFDs, two hosts with PIDs of their own. */
static void
small(struct fake *f, struct memory *m)
{
	fake_init(f, 2, 3, 5);
	fake_join(f, 0, 1);
	for (unsigned int g = 2; g < 5; g++)
		fake_join(f, g % 2, g);
	fake_host(f, 0);
	fake_host(f, 1);
	memset(m, 0, sizeof(*m));
	for (unsigned int i = 0; i < 5; i++) {
		m->node[i] =
			(struct weft_fm_node){ .kind = i < 2 ? WEFT_TOPO_SWITCH : WEFT_TOPO_GFD,
				.pid = (uint16_t)(0x300 + i),
				.path = i };
		snprintf(m->node[i].name, sizeof(m->node[i].name), "n%u", i);
	}
	for (unsigned int h = 0; h < 2; h++)
		m->node[5 + h] = (struct weft_fm_node){ .name = { 'h', (char)('0' + h) },
			.kind = WEFT_TOPO_HOST,
			.pid = (uint16_t)(0x101 + h),
			.path = WEFT_FM_NO_PATH,
			.at_path = h,
			.at_port = (uint8_t)(f->component[h].n_ports - 1) };
	m->intent = (struct weft_fm_intent){ .is_closed = true,
		.has_memory = true,
		.n_nodes = 7,
		.node = m->node,
		.extent = m->extent,
		.right = m->right };
	f->intent = &m->intent;
}

static void
draw_memory(struct memory *m, struct weft_rand *rand)
{
	m->intent.n_extents = m->intent.n_rights = 0;
	for (unsigned int g = 2; g < 5; g++) {
		uint64_t dpa = FAKE_BLOCK * weft_rand_below(rand, 4);

		for (uint64_t k = weft_rand_below(rand, 8); k != 0; k--) {
			struct weft_fm_extent *e = &m->extent[m->intent.n_extents++];

			*e = (struct weft_fm_extent){ .path = g,
				.group = (uint16_t)weft_rand_below(rand, 3),
				.dpa = dpa,
				.len = FAKE_BLOCK * (1 + weft_rand_below(rand, 4)) };
			e->tag[0] = (uint8_t)weft_rand_below(rand, 2);
			dpa += e->len + FAKE_BLOCK * weft_rand_below(rand, 2);
		}
		for (uint16_t h = 0x101; h <= 0x102; h++)
			m->right[m->intent.n_rights++] =
				(struct weft_fm_right){ g, h, (uint32_t)weft_rand_below(rand, 8) };
	}
}

static void
check_memory(const struct fake *f, const struct memory *m)
{
	for (unsigned int g = 2; g < 5; g++) {
		const struct fake_component *c = &f->component[g];
		uint64_t have = 0, want = 0;

		for (unsigned int i = 0; i < c->n_extents; i++)
			have += c->extent[i].len;
		for (unsigned int i = 0; i < m->intent.n_extents; i++)
			want += m->extent[i].path == g ? m->extent[i].len : 0;
		assert_int_equal(have, want);
		for (unsigned int p = 0; p < WEFT_PIDS; p++) {
			uint32_t groups = 0;

			for (unsigned int i = 0; i < m->intent.n_rights; i++)
				if (m->right[i].path == g && m->right[i].pid == p)
					groups |= m->right[i].groups;
			assert_int_equal(c->sat[p], groups);
		}
	}
}

WEFT_TEST(memory_and_rights_follow_what_is_desired)
{
	const unsigned int n = fm_cases(60);
	static struct memory m;
	struct weft_rand rand;
	struct weft_fm *fm;
	struct fake f;

	weft_test_seed(&rand, __func__);
	small(&f, &m);
	draw_memory(&m, &rand);
	fm = manager(&f);
	for (unsigned int k = 0; k < n; k++) {
		draw_losses(&f, &rand);
		/* Killed or not, in the middle of the last change. */
		if (k % 3 == 2) {
			(void)fake_run_sends(&f, fm, weft_rand_below(&rand, 30));
			weft_fm_free(fm);
			fm = manager(&f);
		}
		assert_true(fake_run(&f, fm, f.now_ns + 600 * SECOND));
		f.lost = f.late = 0;
		fake_pass(&f, fm, 10 * SECOND);
		assert_true(weft_fm_is_converged(fm));
		check_memory(&f, &m);
		check_routes(&f);
		draw_memory(&m, &rand);
		weft_fm_set_intent(fm, &m.intent, "drawn");
	}
	weft_fm_free(fm);
	fake_free(&f);
}

/* A switch, a GFD and a host with the daemon that is told of its memory. */
static void
told_host(struct fake *f, struct memory *m)
{
	fake_init(f, 1, 2, 6);
	f->component[2].is_gfd = false;
	f->component[2].is_host = true;
	fake_join(f, 0, 1);
	memset(m, 0, sizeof(*m));
	m->node[0] = (struct weft_fm_node){ .name = "s", .kind = WEFT_TOPO_SWITCH, .pid = 0x10 };
	m->node[1] = (struct weft_fm_node){
		.name = "g", .kind = WEFT_TOPO_GFD, .pid = 0x200, .path = 1
	};
	m->node[2] = (struct weft_fm_node){ .name = "h",
		.kind = WEFT_TOPO_HOST,
		.pid = 0x101,
		.path = WEFT_FM_NO_PATH,
		.has_agent = true,
		.agent_path = 2,
		.at_port = (uint8_t)fake_host(f, 0) };
	m->extent[0] = (struct weft_fm_extent){ .path = 1, .group = 1, .len = FAKE_BLOCK };
	m->right[0] = (struct weft_fm_right){ 1, 0x101, 2 };
	m->intent = (struct weft_fm_intent){ .is_closed = true,
		.has_memory = true,
		.n_nodes = 3,
		.node = m->node,
		.extent = m->extent,
		.right = m->right };
	f->intent = &m->intent;
}

WEFT_TEST(memory_does_not_go_without_the_host_that_is_read_again)
{
	static struct memory m;
	struct weft_fm *fm;
	struct fake f;

	told_host(&f, &m);
	fm = manager(&f);
	assert_true(fake_run(&f, fm, 10 * SECOND));
	m.intent.n_extents = m.intent.n_rights = 1;
	weft_fm_set_intent(fm, &m.intent, "create");
	assert_true(fake_run(&f, fm, f.now_ns + SECOND));
	assert_int_equal(f.component[2].n_told, 1);
	assert_int_equal(f.component[1].sat[0x101], 2);
	m.intent.n_extents = m.intent.n_rights = 0;
	weft_fm_reset_path(fm, 2, f.now_ns);
	weft_fm_set_intent(fm, &m.intent, "release");
	while (!weft_fm_is_converged(fm)) {
		fake_pass(&f, fm, MS / 20);
		assert_true(f.component[2].n_told == 0 || f.component[1].sat[0x101] != 0);
	}
	assert_int_equal(f.component[1].sat[0x101], 0);
	/* Nor for ever with one that does not answer. */
	m.intent.n_extents = m.intent.n_rights = 1;
	weft_fm_set_intent(fm, &m.intent, "create");
	assert_true(fake_run(&f, fm, f.now_ns + SECOND));
	m.intent.n_extents = m.intent.n_rights = 0;
	f.component[2].is_dead = true;
	weft_fm_reset_path(fm, 2, f.now_ns);
	weft_fm_set_intent(fm, &m.intent, "release");
	fake_pass(&f, fm, SECOND);
	assert_int_equal(f.component[1].sat[0x101], 0);
	weft_fm_free(fm);
	fake_free(&f);
}

WEFT_TEST(a_refusal_of_what_cannot_be_says_what_may_differ)
{
	static struct memory m;
	struct weft_fm *fm;
	struct fake f;

	told_host(&f, &m);
	f.component[0].is_other_file = true;
	fm = manager(&f);
	fake_pass(&f, fm, SECOND);
	assert_true(log_of.n[WEFT_FM_EVENT_REFUSED] > 0);
	assert_non_null(strstr(log_of.last[WEFT_FM_EVENT_REFUSED].text,
		"Invalid Input: does it go by this manager's topology file?"));
	weft_fm_free(fm);
	fake_free(&f);
}

/* That nothing is left to do is not that: a link may be down, and nothing be done about it. */
WEFT_TEST(memory_is_there_for_a_host_that_was_told_and_has_a_way)
{
	static struct memory m;
	struct weft_fm *fm;
	struct fake f;

	told_host(&f, &m);
	m.intent.n_extents = m.intent.n_rights = 1;
	fm = manager(&f);
	assert_int_equal(weft_fm_host_way(fm, 2, &m.extent[0]), WEFT_FM_WAY_THERE);
	assert_true(fake_run(&f, fm, 10 * SECOND));
	assert_int_equal(weft_fm_host_way(fm, 2, &m.extent[0]), WEFT_FM_WAY_THERE);
	m.extent[1] = m.extent[0];
	m.extent[1].dpa = FAKE_BLOCK;
	m.intent.n_extents = 2;
	weft_fm_set_intent(fm, &m.intent, "grow");
	assert_int_equal(weft_fm_host_way(fm, 2, &m.extent[0]), WEFT_FM_WAY_THERE);
	assert_int_equal(weft_fm_host_way(fm, 2, &m.extent[1]), WEFT_FM_WAY_COMES);
	assert_true(fake_run(&f, fm, f.now_ns + SECOND));
	assert_int_equal(weft_fm_host_way(fm, 2, &m.extent[1]), WEFT_FM_WAY_THERE);
	fake_set_up(&f, 0, 0, false);
	fake_pass(&f, fm, SECOND);
	assert_true(weft_fm_is_converged(fm));
	assert_int_equal(weft_fm_host_way(fm, 2, &m.extent[0]), WEFT_FM_WAY_NONE);
	/* A host that does not answer cannot be told; one that began again was not. */
	f.component[2].is_dead = true;
	fake_pass(&f, fm, 5 * SECOND);
	assert_int_equal(weft_fm_host_way(fm, 2, &m.extent[0]), WEFT_FM_WAY_THERE);
	assert_int_equal(weft_fm_host_way(fm, 99, &m.extent[0]), WEFT_FM_WAY_THERE);
	weft_fm_free(fm);
	fake_free(&f);
}

/* A manager that begins does not know its PID yet: the intent does. */
WEFT_TEST(a_host_keeps_what_it_was_told_of_a_gfd_that_is_away)
{
	struct weft_cci_host_extent e;
	static struct memory m;
	struct weft_fm *fm;
	struct fake f;

	told_host(&f, &m);
	m.intent.n_extents = m.intent.n_rights = 1;
	fm = manager(&f);
	assert_true(fake_run(&f, fm, 10 * SECOND));
	assert_int_equal(f.component[2].n_told, 1);
	weft_fm_free(fm);
	f.component[1].is_dead = true;
	fm = manager(&f);
	fake_pass(&f, fm, 5 * SECOND);
	assert_int_equal(f.component[2].n_told, 1);
	weft_cci_get_host_extent(f.component[2].told, 0, &e);
	assert_int_equal(e.pid, 0x200);
	weft_fm_free(fm);
	fake_free(&f);
}

WEFT_TEST(a_host_is_not_told_of_new_memory_of_a_gfd_that_is_away)
{
	static struct memory m;
	struct weft_fm *fm;
	struct fake f;

	told_host(&f, &m);
	fm = manager(&f);
	assert_true(fake_run(&f, fm, 10 * SECOND));
	assert_true(f.component[2].is_told);
	f.component[1].is_dead = true;
	fake_set_up(&f, 0, 0, false);
	fake_pass(&f, fm, 5 * SECOND);
	m.intent.n_extents = m.intent.n_rights = 1;
	weft_fm_set_intent(fm, &m.intent, "create");
	fake_pass(&f, fm, 15 * SECOND);
	assert_int_equal(f.component[2].n_told, 0);
	f.component[1].is_dead = false;
	fake_set_up(&f, 0, 0, true);
	fake_pass(&f, fm, 30 * SECOND);
	assert_int_equal(f.component[2].n_told, 1);
	weft_fm_free(fm);
	fake_free(&f);
}

WEFT_TEST(memory_does_not_go_while_nobody_knows_what_a_host_was_told)
{
	static struct memory m;
	struct weft_fm_component c = { 0 };
	struct weft_fm *fm;
	struct fake f;

	told_host(&f, &m);
	fm = manager(&f);
	assert_true(fake_run(&f, fm, 10 * SECOND));
	m.intent.n_extents = m.intent.n_rights = 1;
	weft_fm_set_intent(fm, &m.intent, "create");
	while (f.component[1].sat[0x101] == 0)
		fake_pass(&f, fm, MS / 20);
	/* What it is told comes, and its answer when the manager reads it again. */
	f.late = 1000;
	while (f.component[2].n_told == 0)
		fake_pass(&f, fm, MS / 20);
	f.late = 0;
	while (c.state != WEFT_FM_READING || !c.has_id) {
		fake_pass(&f, fm, MS / 20);
		assert_int_equal(weft_fm_component(fm, 2, &c), 0);
	}
	m.intent.n_extents = m.intent.n_rights = 0;
	weft_fm_set_intent(fm, &m.intent, "release");
	while (!weft_fm_is_converged(fm)) {
		fake_pass(&f, fm, MS / 20);
		assert_true(f.component[2].n_told == 0 || f.component[1].sat[0x101] != 0);
	}
	assert_int_equal(f.component[1].sat[0x101], 0);
	weft_fm_free(fm);
	fake_free(&f);
}

WEFT_TEST(a_host_that_begins_hears_nothing_while_memory_is_open_that_it_has_not)
{
	static struct memory m;
	struct weft_fm *fm;
	struct fake f;

	told_host(&f, &m);
	fm = manager(&f);
	assert_true(fake_run(&f, fm, 10 * SECOND));
	m.intent.n_extents = m.intent.n_rights = 1;
	weft_fm_set_intent(fm, &m.intent, "create");
	assert_true(fake_run(&f, fm, f.now_ns + SECOND));
	/* It begins again, and the GFD is read again, which takes longer. */
	fake_reboot(&f, 2);
	m.intent.n_extents = m.intent.n_rights = 0;
	weft_fm_reset_path(fm, 1, f.now_ns);
	weft_fm_reset_path(fm, 2, f.now_ns);
	weft_fm_set_intent(fm, &m.intent, "release");
	while (!weft_fm_is_converged(fm)) {
		fake_pass(&f, fm, MS / 20);
		assert_true(!f.component[2].is_told || f.component[1].sat[0x101] == 0);
	}
	assert_true(f.component[2].is_told);
	weft_fm_free(fm);
	fake_free(&f);
}

/* By the PID that messages come from, which a seat has as long as its manager is at one host. */
static void
draw_seat(struct fake *f, unsigned int seat, bool is_by_link, struct weft_rand *rand)
{
	if (!is_by_link)
		return;
	seat_pid[seat] = (uint16_t)(0x400 + weft_rand_below(rand, 4));
	if (seat_pid[seat] == seat_pid[1 - seat])
		seat_pid[1 - seat] = (uint16_t)(0x410 + weft_rand_below(rand, 4));
	f->spid = seat_pid[seat];
}

static void
check_owners(const struct fake *f, unsigned int seat, bool is_by_link)
{
	for (unsigned int i = 0; i < f->n_components; i++) {
		const struct fake_component *c = &f->component[i];

		assert_memory_equal(c->fm_uuid, seat_uuid[seat], 16);
		assert_int_equal(c->fm_pid, seat_pid[seat]);
		assert_memory_equal(c->sec_uuid, seat_uuid[1 - seat], 16);
		if (!is_by_link)
			assert_int_equal(c->sec_pid, seat_pid[1 - seat]);
	}
}

/* Two ways from a host to a GFD; the host's daemon is told of its memory. */
static void
told_host_of_two_ways(struct fake *f, struct memory *m)
{
	fake_init(f, 4, 2, 3);
	fake_join(f, 0, 1);
	fake_join(f, 0, 2);
	fake_join(f, 1, 3);
	fake_join(f, 2, 3);
	fake_join(f, 3, 4);
	f->component[5].is_gfd = false;
	f->component[5].is_host = true;
	memset(m, 0, sizeof(*m));
	for (unsigned int i = 0; i < 5; i++)
		m->node[i] = (struct weft_fm_node){ .name = { (char)('a' + i) },
			.kind = i < 4 ? WEFT_TOPO_SWITCH : WEFT_TOPO_GFD,
			.pid = (uint16_t)(i < 4 ? 0x10 + i : 0x200),
			.path = i };
	m->node[5] = (struct weft_fm_node){ .name = "h",
		.kind = WEFT_TOPO_HOST,
		.pid = 0x101,
		.path = WEFT_FM_NO_PATH,
		.has_agent = true,
		.agent_path = 5,
		.at_port = (uint8_t)fake_host(f, 0) };
	m->extent[0] = (struct weft_fm_extent){ .path = 4, .group = 1, .len = FAKE_BLOCK };
	m->right[0] = (struct weft_fm_right){ 4, 0x101, 2 };
	m->intent = (struct weft_fm_intent){ .is_closed = true,
		.has_memory = true,
		.n_nodes = 6,
		.n_extents = 1,
		.n_rights = 1,
		.node = m->node,
		.extent = m->extent,
		.right = m->right };
	f->intent = &m->intent;
}

/* Memory waits for the host that uses it; routes, and other rights, do not. */
WEFT_TEST(a_host_that_is_slow_to_give_up_memory_keeps_nobody_from_repair)
{
	static struct memory m;
	struct weft_fm *fm;
	struct fake f;
	unsigned int port;
	uint64_t begin, n_looks;

	told_host_of_two_ways(&f, &m);
	fm = manager(&f);
	assert_true(fake_run(&f, fm, 10 * SECOND));
	assert_int_equal(f.component[5].n_told, 1);
	f.component[4].sat[0x150] = 1; /* of nobody's wish, and never said to anybody */
	weft_fm_reset_path(fm, 4, f.now_ns);
	f.component[5].slow_ns = 8 * SECOND;
	m.intent.n_extents = m.intent.n_rights = 0;
	weft_fm_set_intent(fm, &m.intent, "release");
	fake_pass(&f, fm, 50 * MS);
	fake_set_up(&f, 0, weft_fm_route(fm, 0, 0x200) == 0 ? 0 : 1, false);
	begin = f.now_ns;
	assert_int_not_equal(follow(&f, 0, 0x200, &port), 3);
	fake_pass(&f, fm, 900 * MS);
	assert_int_equal(follow(&f, 0, 0x200, &port), 3);
	assert_int_equal(follow(&f, 3, 0x101, &port), 0);
	assert_int_equal(f.component[4].sat[0x150], 0);
	assert_int_equal(f.component[5].n_told, 1);
	assert_false(weft_fm_is_converged(fm));
	/* That it is not done yet is no reason to look at everything. */
	n_looks = weft_fm_n_looks(fm);
	fake_pass(&f, fm, SECOND);
	assert_in_range(weft_fm_n_looks(fm) - n_looks, 0, 2);
	/* A manager that knows nothing of it waits as well. */
	weft_fm_free(fm);
	fm = manager(&f);
	f.component[5].slow_ns = 0;
	while (!weft_fm_is_converged(fm)) {
		fake_pass(&f, fm, 10 * MS);
		assert_true(f.component[5].n_told == 0 ||
			    (f.component[4].sat[0x101] == 2 && f.component[4].n_extents == 1));
	}
	assert_in_range(f.now_ns - begin, 7 * SECOND, 9 * SECOND);
	assert_int_equal(f.component[4].n_extents, 0);
	/* What comes is not there before it has heard, either. */
	f.component[5].slow_ns = SECOND;
	m.intent.n_extents = m.intent.n_rights = 1;
	weft_fm_set_intent(fm, &m.intent, "create");
	fake_pass(&f, fm, 900 * MS);
	assert_int_equal(f.component[4].n_extents, 0);
	assert_true(fake_run(&f, fm, f.now_ns + 3 * SECOND));
	assert_int_equal(f.component[5].n_told, 1);
	weft_fm_free(fm);
	fake_free(&f);
}

/* Four switches in a ring, each with a host; all ways lead clockwise, as no engine has it. */
static void
ring_of_circles(struct fake *f, struct memory *m)
{
	unsigned int onwards[4];

	fake_init(f, 4, 0, 3);
	memset(m, 0, sizeof(*m));
	for (unsigned int i = 0; i < 4; i++)
		onwards[i] = fake_join(f, i, (i + 1) % 4);
	for (unsigned int i = 0; i < 4; i++) {
		m->node[i] = (struct weft_fm_node){ .name = { (char)('a' + i) },
			.kind = WEFT_TOPO_SWITCH,
			.pid = (uint16_t)(0x10 + i),
			.path = i };
		m->node[4 + i] = (struct weft_fm_node){ .name = { (char)('k' + i) },
			.kind = WEFT_TOPO_HOST,
			.pid = (uint16_t)(0x101 + i),
			.path = WEFT_FM_NO_PATH,
			.at_path = i,
			.at_port = (uint8_t)fake_host(f, i) };
		for (unsigned int d = 0; d < 4; d++)
			(void)weft_drt_set(&f->component[i].drt, (uint16_t)(0x101 + d),
				(int)(d == i ? m->node[4 + i].at_port : onwards[i]));
	}
	m->intent = (struct weft_fm_intent){ .is_closed = true, .n_nodes = 8, .node = m->node };
	f->intent = &m->intent;
}

/* Whether a row of a table went since it was like @before, or came. */
static bool
has_changed(const struct weft_drt *before, const struct weft_drt *now, bool is_gone)
{
	/* Mostly nothing has: a sanitizer takes minutes to compare row by row each time. */
	if (memcmp(before->entry, now->entry, sizeof(now->entry)) == 0)
		return false;
	for (unsigned int p = 0; p < WEFT_PIDS; p++)
		if (memcmp(before->entry[p], now->entry[p], 2) != 0 &&
			(now->entry[p][0] == WEFT_DRT_INVALID) == is_gone)
			return true;
	return false;
}

/* What the last row that goes let through is gone before others come. */
WEFT_TEST(rows_come_no_sooner_than_the_slowest_switch_is_drained)
{
	static struct weft_drt before[4];
	static struct memory m;
	unsigned int n_slow = 0;

	for (unsigned int slow = 0; slow < 4; slow++) {
		uint64_t began_ns, gone_ns = 0;
		bool has_come = false;
		struct weft_fm *fm;
		struct fake f;

		ring_of_circles(&f, &m);
		fm = manager(&f);
		while (log_of.n[WEFT_FM_EVENT_DRAIN] == 0 ||
			log_of.last[WEFT_FM_EVENT_WRITE].opcode != WEFT_CCI_SET_DRT)
			fake_pass(&f, fm, MS / 20);
		began_ns = f.now_ns;
		f.component[slow].n_busy = 5;
		while (!has_come) {
			for (unsigned int i = 0; i < 4; i++)
				before[i] = f.component[i].drt;
			fake_pass(&f, fm, MS / 20);
			for (unsigned int i = 0; i < 4; i++) {
				has_come |= has_changed(&before[i], &f.component[i].drt, false);
				if (has_changed(&before[i], &f.component[i].drt, true))
					gone_ns = f.now_ns;
			}
		}
		assert_in_range(f.now_ns - gone_ns, 10 * MS, 20 * MS);
		n_slow += gone_ns - began_ns >= 100 * MS;
		assert_true(fake_run(&f, fm, f.now_ns + 10 * SECOND));
		check_routes(&f);
		weft_fm_free(fm);
		fake_free(&f);
	}
	assert_true(n_slow != 0);
}

/* It begins its load with what it hears first. */
WEFT_TEST(a_host_hears_nothing_before_there_are_routes)
{
	static struct memory m;
	unsigned int port;
	struct weft_fm *fm;
	struct fake f;

	/* The switch above the GFD comes later than both ends. */
	told_host_of_two_ways(&f, &m);
	f.component[3].is_dead = true;
	fm = manager(&f);
	fake_pass(&f, fm, 3 * SECOND);
	assert_false(f.component[5].is_told);
	f.component[3].is_dead = false;
	while (!f.component[5].is_told)
		fake_pass(&f, fm, MS / 20);
	assert_int_equal(follow(&f, 0, 0x200, &port), 3);
	assert_int_equal(follow(&f, 3, 0x101, &port), 0);
	assert_int_equal(f.component[5].n_told, 1);
	weft_fm_free(fm);
	fake_free(&f);
	/* One that never comes keeps nobody from the rest. */
	told_host_of_two_ways(&f, &m);
	f.component[4].is_dead = true;
	fm = manager(&f);
	fake_pass(&f, fm, 9 * SECOND);
	assert_false(f.component[5].is_told);
	fake_pass(&f, fm, 2 * SECOND);
	assert_true(f.component[5].is_told && weft_fm_is_converged(fm));
	weft_fm_free(fm);
	fake_free(&f);
}

/*
 * Two that take turns: whoever comes goes on with what the other began, and becomes primary by
 * promotion, or from the beginning where the other did not come to register it (fabric.md 4.4).
 */
static void
take_turns(bool is_by_link)
{
	static struct memory m;
	struct weft_rand rand;
	unsigned int seat = 0, n_taken = 0;
	struct weft_fm *fm;
	struct fake f;

	weft_test_seed(&rand, __func__);
	small(&f, &m);
	draw_memory(&m, &rand);
	draw_seat(&f, seat, is_by_link, &rand);
	fm = manager_at(&f, seat, true);
	for (unsigned int k = 0; k < 60; k++) {
		draw_losses(&f, &rand);
		(void)fake_run_sends(&f, fm, weft_rand_below(&rand, 60));
		weft_fm_free(fm);
		seat = (unsigned int)weft_rand_below(&rand, 2);
		draw_seat(&f, seat, is_by_link, &rand);
		fm = manager_at(&f, seat, true);
		if (k % 3 != 2)
			continue;
		assert_true(fake_run(&f, fm, f.now_ns + 600 * SECOND));
		f.lost = f.late = 0;
		fake_pass(&f, fm, 10 * SECOND);
		assert_true(weft_fm_is_converged(fm));
		check_memory(&f, &m);
		check_owners(&f, seat, is_by_link);
		n_taken += seat;
		draw_memory(&m, &rand);
		weft_fm_set_intent(fm, &m.intent, "drawn");
	}
	assert_int_not_equal(n_taken, 0);
	weft_fm_free(fm);
	/* A component that a third manager is registered with as secondary is left alone. */
	f.component[1].sec_pid = 0x005;
	memset(f.component[1].sec_uuid, 0x77, 16);
	fm = manager_at(&f, 1 - seat, true);
	(void)fake_run(&f, fm, f.now_ns + SECOND);
	assert_int_equal(log_of.n[WEFT_FM_EVENT_FOREIGN], 1);
	assert_int_equal(log_of.last[WEFT_FM_EVENT_FOREIGN].path, 1);
	weft_fm_free(fm);
	fake_free(&f);
}

WEFT_TEST(the_second_of_two_managers_takes_over_what_is_half_done)
{
	take_turns(false);
}

/* Through the fabric, from hosts that change. */
WEFT_TEST(the_second_at_another_host_takes_over_what_is_half_done)
{
	const uint16_t pid[2] = { seat_pid[0], seat_pid[1] };

	take_turns(true);
	memcpy(seat_pid, pid, sizeof(pid));
}

/* The first has registered it by the PID that it had before. */
WEFT_TEST(a_second_manager_that_has_moved_is_not_refused)
{
	const uint16_t pid[2] = { seat_pid[0], seat_pid[1] };
	static struct memory m;
	struct weft_fm *fm;
	struct fake f;

	small(&f, &m);
	f.spid = seat_pid[0] = 0x401;
	fm = manager_at(&f, 0, true);
	assert_true(fake_run(&f, fm, f.now_ns + 10 * SECOND));
	weft_fm_free(fm);
	f.spid = seat_pid[1] = 0x403;
	fm = manager_at(&f, 1, true);
	assert_true(fake_run(&f, fm, f.now_ns + 10 * SECOND));
	assert_int_equal(log_of.n[WEFT_FM_EVENT_REFUSED], 0);
	check_owners(&f, 1, true);
	weft_fm_free(fm);
	fake_free(&f);
	memcpy(seat_pid, pid, sizeof(pid));
}

WEFT_TEST(pids_are_those_of_the_intent)
{
	static struct memory m;
	struct weft_fm *fm;
	struct fake f;

	small(&f, &m);
	f.component[0].port[2].pid = 0x102; /* of somebody else, from before */
	fm = manager(&f);
	assert_true(fake_run(&f, fm, 10 * SECOND));
	for (unsigned int i = 0; i < 5; i++)
		assert_int_equal(f.component[i].pid, 0x300 + i);
	for (unsigned int h = 0; h < 2; h++)
		assert_int_equal(f.component[h].port[m.node[5 + h].at_port].pid, 0x101 + h);
	/* The port above a GFD has that of the GFD. */
	for (unsigned int g = 2; g < 5; g++)
		assert_int_equal(
			f.component[g % 2].port[f.component[g].port[0].far_port].pid, 0x300 + g);
	/* And new ones. */
	m.node[1].pid = 0x055;
	m.node[5].pid = 0x102;
	m.node[6].pid = 0x101;
	weft_fm_set_intent(fm, &m.intent, "other numbers");
	assert_true(fake_run(&f, fm, f.now_ns + 10 * SECOND));
	assert_int_equal(f.component[1].pid, 0x055);
	assert_int_equal(f.component[0].port[m.node[5].at_port].pid, 0x102);
	check_routes(&f);
	weft_fm_free(fm);
	fake_free(&f);
}

WEFT_TEST(a_gfd_without_commands_for_memory_is_routed)
{
	static struct memory m;
	struct weft_fm_component c;
	struct weft_rand rand;
	struct weft_fm *fm;
	struct fake f;

	weft_test_seed(&rand, __func__);
	small(&f, &m);
	f.component[3].is_fixed = true;
	draw_memory(&m, &rand);
	fm = manager(&f);
	assert_true(fake_run(&f, fm, 10 * SECOND));
	assert_int_equal(weft_fm_component(fm, 3, &c), 0);
	assert_int_equal(c.state, WEFT_FM_READY);
	assert_int_equal(log_of.n[WEFT_FM_EVENT_REFUSED], 1);
	assert_int_equal(f.component[3].n_extents, 0);
	assert_int_equal(f.component[3].pid, 0x303);
	check_routes(&f);
	check_links(&f, fm);
	weft_fm_free(fm);
	fake_free(&f);
}

WEFT_TEST(a_plan_is_what_will_be_sent)
{
	static struct memory m;
	struct log plan = { 0 };
	struct weft_rand rand;
	struct weft_fm *fm;
	struct fake f;
	unsigned int n;

	weft_test_seed(&rand, __func__);
	small(&f, &m);
	draw_memory(&m, &rand);
	fm = manager(&f);
	assert_int_equal(weft_fm_plan(fm, &m.intent, log_event, &plan), -EAGAIN);
	assert_true(fake_run(&f, fm, 10 * SECOND));
	for (unsigned int k = 0; k < 20; k++) {
		draw_memory(&m, &rand);
		memset(&plan, 0, sizeof(plan));
		assert_int_equal(weft_fm_plan(fm, &m.intent, log_event, &plan), 0);
		n = log_of.n[WEFT_FM_EVENT_WRITE];
		weft_fm_set_intent(fm, &m.intent, "as planned");
		assert_true(fake_run(&f, fm, f.now_ns + 10 * SECOND));
		assert_int_equal(log_of.n[WEFT_FM_EVENT_WRITE] - n, plan.n[WEFT_FM_EVENT_WRITE]);
		check_memory(&f, &m);
	}
	weft_fm_free(fm);
	fake_free(&f);
}

WEFT_TEST(a_switch_that_dies_is_routed_around)
{
	unsigned int before[4];
	struct weft_fm *fm;
	struct fake f;
	uint64_t at;

	/* Two ways from a host to a GFD. */
	fake_init(&f, 4, 1, 3);
	fake_join(&f, 0, 1);
	fake_join(&f, 0, 2);
	fake_join(&f, 1, 3);
	fake_join(&f, 2, 3);
	fake_join(&f, 3, 4);
	fake_host(&f, 0);
	fm = manager(&f);
	assert_true(fake_run(&f, fm, 10 * SECOND));
	check_routes(&f);
	for (unsigned int i = 0; i < 4; i++)
		before[i] = f.component[i].n_drt_writes;
	f.component[1].is_dead = true;
	fake_set_up(&f, 1, 0, false);
	fake_set_up(&f, 1, 1, false);
	at = f.now_ns;
	while (f.component[0].n_drt_writes == before[0] && f.now_ns < at + SECOND)
		fake_pass(&f, fm, 10 * MS);
	assert_true(fake_run(&f, fm, at + SECOND));
	check_routes(&f);
	/* It is back, with nothing. */
	f.component[1].is_dead = false;
	fake_reboot(&f, 1);
	fake_set_up(&f, 1, 0, true);
	fake_set_up(&f, 1, 1, true);
	fake_pass(&f, fm, 3 * SECOND);
	assert_true(weft_fm_is_converged(fm));
	assert_true(is_usable(&f.component[1]));
	check_routes(&f);
	check_links(&f, fm);
	weft_fm_free(fm);
	fake_free(&f);
}

WEFT_TEST(each_trouble_has_its_line)
{
	struct weft_fm_component c;
	struct weft_fm *fm;
	struct fake f;

	fake_init(&f, 7, 0, 3);
	for (unsigned int i = 1; i < 7; i++)
		fake_join(&f, 0, i);
	f.component[1].fm_pid = 5;
	memset(f.component[1].fm_uuid, 9, 16);
	f.component[2].is_mad = true;
	f.component[3].serial = f.component[4].serial;
	f.component[5].port[0].is_silent = true;
	f.component[6].is_dead = true;
	/* A cable from a switch to itself. */
	fake_join(&f, 0, 0);
	fm = manager(&f);
	assert_true(fake_run(&f, fm, 10 * SECOND));
	assert_int_equal(log_of.n[WEFT_FM_EVENT_FOREIGN], 1);
	assert_int_equal(log_of.last[WEFT_FM_EVENT_FOREIGN].path, 1);
	assert_int_equal(log_of.n[WEFT_FM_EVENT_QUARANTINE], 1);
	assert_int_equal(log_of.last[WEFT_FM_EVENT_QUARANTINE].path, 2);
	assert_int_equal(log_of.n[WEFT_FM_EVENT_DUPLICATE], 2);
	assert_int_equal(log_of.n[WEFT_FM_EVENT_LOST], 1);
	assert_int_equal(log_of.last[WEFT_FM_EVENT_LOST].path, 6);
	assert_true(log_of.n[WEFT_FM_EVENT_LINK] >= 3);
	check_links(&f, fm);
	assert_int_equal(weft_fm_component(fm, 2, &c), 0);
	assert_int_equal(c.state, WEFT_FM_QUARANTINED);
	assert_int_equal(weft_fm_component(fm, 7, &c), -EINVAL);
	/* Mended, all of them. */
	f.component[1].fm_pid = WEFT_FM_NO_PID;
	memset(f.component[1].fm_uuid, 0, 16);
	f.component[2].is_mad = false;
	weft_fm_reset_path(fm, 2, f.now_ns);
	f.component[3].serial = 77;
	f.component[5].port[0].is_silent = f.component[6].is_dead = false;
	fake_pass(&f, fm, 10 * SECOND);
	assert_true(weft_fm_is_converged(fm));
	for (unsigned int i = 0; i < 7; i++)
		assert_true(is_usable(&f.component[i]));
	check_routes(&f);
	check_links(&f, fm);
	weft_fm_free(fm);
	fake_free(&f);
}

/* Three links between two switches are a group of those that are up, by the one of the row. */
WEFT_TEST(equal_links_are_groups)
{
	struct weft_fm *fm;
	struct fake f;

	fake_init(&f, 2, 2, 5);
	for (unsigned int i = 0; i < 3; i++)
		fake_join(&f, 0, 1);
	fake_join(&f, 1, 2);
	fake_join(&f, 1, 3);
	fake_host(&f, 0);
	fm = manager(&f);
	for (unsigned int n_up = 3; n_up != 0; n_up--) {
		const struct fake_component *c = &f.component[0];
		unsigned int used = 0;

		assert_true(fake_run(&f, fm, 100 * SECOND));
		fake_pass(&f, fm, SECOND);
		assert_true(weft_fm_is_converged(fm));
		check_routes(&f);
		for (unsigned int g = 2; g < 4; g++) {
			const uint8_t *row = c->drt.entry[f.component[g].pid];

			assert_int_equal(row[0], n_up > 1 ? WEFT_DRT_RGT : WEFT_DRT_PORT);
			assert_in_range(row[1], 3 - n_up, 2);
			used |= 1u << row[1];
			assert_int_equal(weft_fm_route(fm, 0, f.component[g].pid), row[1]);
			if (n_up == 1)
				continue;
			assert_int_equal(c->rgt[row[1]].counts, (n_up - 1) * 9);
			for (unsigned int k = 0; k < n_up; k++)
				assert_int_equal(c->rgt[row[1]].port[k],
					3 - n_up + (row[1] - (3 - n_up) + k) % n_up);
		}
		assert_int_equal(__builtin_popcount(used), n_up == 1 ? 1 : 2);
		fake_set_up(&f, 0, 3 - n_up, false);
		fake_pass(&f, fm, SECOND);
	}
	weft_fm_free(fm);
	fake_free(&f);
}

WEFT_TEST(a_large_fabric_is_found_in_seconds_and_changed_in_few_commands)
{
	const unsigned int n = 64, n_gfds = weft_test_is_again() ? 64 : 256, n_hosts = n_gfds;
	struct weft_fm *fm;
	struct fake f;
	unsigned int n_changed = 0;
	unsigned int before[64];
	clock_t begin = clock();
	double seconds;

	fake_init(&f, n, n_gfds, 11);
	/* Two layers: 48 switches with ends, each to four of 16. */
	for (unsigned int i = 0; i < 48; i++)
		for (unsigned int k = 0; k < 4; k++)
			fake_join(&f, 16 + i, (i + 4 * k) % 16);
	for (unsigned int g = 0; g < n_gfds; g++)
		fake_join(&f, 16 + g % 48, n + g);
	for (unsigned int h = 0; h < n_hosts; h++)
		fake_host(&f, 16 + h % 48);
	fm = manager(&f);
	assert_true(fake_run(&f, fm, 100 * SECOND));
	seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
	print_message("%llu messages, %.2f s of CPU\n", (unsigned long long)f.n_sent, seconds);
	assert_true(seconds < 10);
	check_routes(&f);
	for (unsigned int i = 0; i < n; i++)
		before[i] = f.component[i].n_drt_writes;
	fake_set_up(&f, 16, 0, false);
	fake_pass(&f, fm, SECOND);
	assert_true(weft_fm_is_converged(fm));
	check_routes(&f);
	check_links(&f, fm);
	for (unsigned int i = 0; i < n; i++)
		n_changed += f.component[i].n_drt_writes != before[i];
	print_message("one link less: %u of %u switches were sent tables\n", n_changed, n);
	assert_true(n_changed >= 1 && n_changed < n);
	weft_fm_free(fm);
	fake_free(&f);
}
