/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * weft-fm: the fabric manager. It reaches switches and GFDs by the sockets that their daemons
 * serve, claims them, and sends commands until the fabric is as the topology file and operators
 * want it; then it watches, and mends what changes. doc/fm.md is its manual.
 *
 * Exit status: 0; 1 if something cannot be begun, or if --once did not get there in time; 2 for bad
 * arguments.
 */

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "json.h"
#include "manager.h"
#include "weft_attach_rundir.h"
#include "weft_cci.h"

#define MAIN_SECOND UINT64_C(1000000000)
#define MAIN_MS UINT64_C(1000000)
#define MAIN_CONNECT_NS (200 * MAIN_MS)

struct main_options {
	const char *topology;
	const char *store;
	const char *json;
	bool once;
	double timeout_s;
	uint32_t poll_ms, drain_ms;
};

#define CLI_INTO struct main_options
static const struct cli_option options[] = {
	{ CLI_SECTION("Fabric") },
	{ "topology", "FILE", NULL, "what the fabric is to be: a topology file",
		CLI_TEXT(topology) },
	{ "store", "URL", NULL,
		"sqlite:PATH, where identity, wishes of operators and the log of changes are kept; "
		"without it they end with the program",
		CLI_TEXT(store) },
	{ CLI_SECTION("Run") },
	{ "once", NULL, NULL, "end when the fabric is as it is to be", CLI_FLAG(once) },
	{ "timeout", "S", "30", "with --once: give up after so long, 0.1 to 3600",
		CLI_REAL(timeout_s, 0.1, 3600, "seconds of 0.1 to 3600") },
	{ "poll", "MS", "100", "look at each component so often, 10 to 60000",
		CLI_NUMBER(poll_ms, 10, 60000) },
	{ "drain", "MS", "100",
		"where routes change in a way that needs it: wait so long for messages of old "
		"routes, 1 to 60000",
		CLI_NUMBER(drain_ms, 1, 60000) },
	{ CLI_SECTION("Output") },
	{ "json", "FILE", NULL,
		"write the fabric as it was found, at the end; - is standard output",
		CLI_TEXT(json) },
};

static const struct cli_program program = {
	.name = "weft-fm",
	.synopsis = "--topology FILE [options]",
	.does = "Manage a fabric: find its switches and GFDs, number and route them, give out "
		"memory, and keep it so.",
	.status = "something cannot be begun, or --once ran out of time",
	.examples = "  weft-fm --topology lab.yaml --store sqlite:lab.db\n"
		    "  weft-fm --topology lab.yaml --once --json -\n",
	CLI_OPTIONS(options),
};

static uint64_t
main_now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * MAIN_SECOND + (uint64_t)t.tv_nsec;
}

/* One line an event; commands go to the log of changes, too, before they are sent. */
static void
main_on_event(void *arg, const struct weft_fm_event *e)
{
	struct manager *m = arg;
	struct manager_event *keep = &m->event[m->n_events++ % MANAGER_EVENTS];
	const char *node = intent_name(&m->intent, e->path);

	*keep = (struct manager_event){ .at_ns = (int64_t)main_now_ns(CLOCK_REALTIME),
		.kind = e->kind };
	snprintf(keep->node, sizeof(keep->node), "%s", node);
	if (e->kind == WEFT_FM_EVENT_WRITE)
		snprintf(keep->text, sizeof(keep->text), "%s: %.160s",
			weft_cci_opcode_name(e->opcode), e->text);
	else
		memcpy(keep->text, e->text, sizeof(keep->text));
	if (e->kind == WEFT_FM_EVENT_WRITE)
		store_audit(m->store, "weft-fm", e->why, node, e->opcode, e->text);
	if (!m->is_quiet) {
		printf("%s %s: %s\n", weft_fm_event_word(e->kind), node, keep->text);
		fflush(stdout);
	}
}

static void
main_begin(struct manager *m, const struct main_options *o, const char *folder)
{
	struct weft_fm_cfg cfg = {
		.pid = WEFT_FM_PID,
		.tries = 3,
		.timeout_ns = 500 * MAIN_MS,
		.poll_ns = o->poll_ms * MAIN_MS,
		.retry_ns = 500 * MAIN_MS,
		.drain_ns = o->drain_ms * MAIN_MS,
		.on_event = main_on_event,
		.event_arg = m,
	};
	struct weft_topo_error err;

	if (weft_topo_load(&m->topo, o->topology, &err) != 0)
		cli_fail("%s", err.text);
	intent_init(&m->intent, m->topo);
	m->is_quiet = json_is_output(o->json);
	m->store = store_open(o->store);
	for (unsigned int i = 0; i < m->topo->n_nodes; i++)
		m->intent.node[i].is_drained = store_is_drained(m->store, m->topo->node[i].name);
	store_get_memories(m->store, m->topo, &m->memories);
	intent_set_memory(&m->intent, &m->memories);
	store_uuid(m->store, cfg.uuid);
	m->paths = paths_new(&m->intent, folder);
	cfg.n_paths = m->intent.n_paths;
	cfg.transport = (struct weft_fm_transport){ m->paths, paths_send };
	m->fm = weft_fm_new(&cfg, main_now_ns(CLOCK_MONOTONIC));
	if (m->fm == NULL)
		cli_fail("out of memory");
	weft_fm_set_intent(m->fm, &m->intent.want, "the topology file");
	operate_init(m, folder);
}

/* All components are there and as they are to be. */
static bool
main_is_done(const struct manager *m)
{
	for (uint32_t i = 0; i < m->intent.n_paths; i++) {
		struct weft_fm_component c;

		if (weft_fm_component(m->fm, i, &c) != 0 || c.state != WEFT_FM_READY)
			return false;
	}
	return weft_fm_is_converged(m->fm);
}

/* Until a signal, or with --once until all is done. Whether it was. */
static bool
main_loop(struct manager *m, const struct main_options *o, int signals)
{
	struct pollfd *fd = calloc(m->intent.n_paths + OPERATE_FDS + 1u, sizeof(*fd));
	const uint64_t begin_ns = main_now_ns(CLOCK_MONOTONIC);
	uint64_t connect_ns = 0;

	if (fd == NULL)
		cli_fail("out of memory");
	for (;;) {
		uint64_t now_ns = main_now_ns(CLOCK_MONOTONIC), next_ns;
		unsigned int n = 0;

		if (now_ns >= connect_ns) {
			paths_connect(m->paths, m->fm, now_ns);
			connect_ns = now_ns + MAIN_CONNECT_NS;
		}
		paths_receive(m->paths, m->fm, now_ns);
		operate_turn(m, now_ns);
		next_ns = weft_fm_poll(m->fm, now_ns);
		if (o->once && main_is_done(m))
			break;
		if (o->once && now_ns - begin_ns > (uint64_t)(o->timeout_s * 1e9))
			break;
		next_ns = next_ns < connect_ns ? next_ns : connect_ns;
		fd[n++] = (struct pollfd){ .fd = signals, .events = POLLIN };
		n += paths_fds(m->paths, fd + n);
		n += operate_fds(fd + n);
		if (poll(fd, n, next_ns <= now_ns ? 0 : (int)((next_ns - now_ns) / MAIN_MS) + 1) <
				0 &&
			errno != EINTR)
			cli_fail("poll: %s", strerror(errno));
		if ((fd[0].revents & POLLIN) != 0)
			break;
	}
	free(fd);
	return main_is_done(m);
}

static int
main_signals(void)
{
	sigset_t stop;
	int fd;

	sigemptyset(&stop);
	sigaddset(&stop, SIGTERM);
	sigaddset(&stop, SIGINT);
	sigaddset(&stop, SIGHUP);
	if (sigprocmask(SIG_BLOCK, &stop, NULL) != 0)
		cli_fail("signals: %s", strerror(errno));
	fd = signalfd(-1, &stop, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		cli_fail("signals: %s", strerror(errno));
	return fd;
}

static void
main_report(const struct manager *m, const char *path)
{
	json_t *o = report_fabric(m);
	int rc;

	json_object_set_new(o, "switches", report_switches(m));
	json_object_set_new(o, "gfds", report_gfds(m));
	json_object_set_new(o, "ports", report_ports(m));
	json_object_set_new(o, "pids", report_pids(m));
	json_object_set_new(o, "routes", report_routes(m));
	json_object_set_new(o, "extents", report_extents(m));
	json_object_set_new(o, "memory", report_memory(m));
	rc = json_write(path, o);
	json_decref(o);
	if (rc != 0)
		cli_fail("--json %s: %s", path, weft_file_error(rc));
}

int
main(int argc, char **argv)
{
	static struct manager m;
	struct main_options o = { 0 };
	char folder[WEFT_TOPO_PATH_ROOM];
	int signals, rc;
	bool is_done;

	cli_parse(&program, &o, argc, argv);
	cli_options_only(argc, argv);
	if (o.topology == NULL)
		cli_usage("expected --topology FILE");
	json_check(o.json);
	rc = weft_attach_rundir(folder, sizeof(folder), true);
	if (rc != 0)
		cli_fail("run folder %s: %s", folder, strerror(-rc));
	signals = main_signals();
	main_begin(&m, &o, folder);
	is_done = main_loop(&m, &o, signals);
	operate_fini();
	if (o.json != NULL)
		main_report(&m, o.json);
	if (o.once && !is_done)
		cli_warn("the fabric is not as it is to be after %g s: lines above say what is "
			 "missing",
			o.timeout_s);
	weft_fm_free(m.fm);
	paths_free(m.paths);
	store_close(m.store);
	intent_free(&m.intent);
	weft_topo_free(m.topo);
	close(signals);
	return o.once && !is_done ? EXIT_FAILURE : EXIT_SUCCESS;
}
