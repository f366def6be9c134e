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

#define MAIN_SQLITE "sqlite:"
#define MAIN_IN_MEMORY MAIN_SQLITE ":memory:" /* as SQLite calls it */
enum { MAIN_LEASE = 1, MAIN_TIMEOUT = 2 }; /* tags of options */

struct main_options {
	const char *topology;
	const char *store; /* NULL: in memory */
	const char *json;
	const char *via;
	bool once, has_store;
	double timeout_s;
	uint32_t poll_ms, drain_ms, lease_s;
};

/* Which of two stores was meant nobody knows; one in memory is that of a manager without any. */
static void
main_read_store(const char *option, char *text, void *to)
{
	struct main_options *o = to;

	if (o->has_store)
		cli_usage("%s: expected one store, got \"%s\" and \"%s\"", option,
			o->store != NULL ? o->store : MAIN_IN_MEMORY, text);
	o->has_store = true;
	o->store = strcmp(text, MAIN_IN_MEMORY) != 0 ? text : NULL;
}

#define CLI_INTO struct main_options
static const struct cli_option options[] = {
	{ CLI_SECTION("Fabric") },
	{ "topology", "FILE", NULL, "what the fabric is to be: a topology file",
		CLI_TEXT(topology) },
	{ "store", "URL", NULL,
		"sqlite:PATH or etcd:http[s]://HOST:PORT[,...][/PREFIX], where identity, wishes of "
		"operators "
		"and the log of changes are kept; without it they end with the program. With etcd, "
		"two managers take turns",
		CLI_OWN(main_read_store) },
	{ "via", "HOST", NULL,
		"reach components that have no socket in the run folder through the fabric, from "
		"the port of this host",
		CLI_TEXT(via) },
	{ "lease", "S", "5",
		"with etcd: the other manager takes over when the one that leads was silent so "
		"long, "
		"1 to 60",
		CLI_NUMBER(lease_s, 1, 60), .tags = MAIN_LEASE },
	{ CLI_SECTION("Run") },
	{ "once", NULL, NULL, "end when the fabric is as it is to be", CLI_FLAG(once) },
	{ "timeout", "S", "30", "with --once: give up after so long, 0.1 to 3600",
		CLI_REAL(timeout_s, 0.1, 3600, "seconds of 0.1 to 3600"), .tags = MAIN_TIMEOUT },
	{ "poll", "MS", "100", "look at each component so often, 10 to 60000",
		CLI_NUMBER(poll_ms, 10, 60000) },
	{ "drain", "MS", "100",
		"where routes change in a way that needs it: wait so long for messages of old "
		"routes, 1 to 60000",
		CLI_NUMBER(drain_ms, 1, 60000) },
	{ CLI_SECTION("Output") },
	{ "json", "FILE", NULL,
		"write the fabric as it was found, at the end; - is standard output, without "
		"events",
		CLI_OUTPUT(json) },
};

static const struct cli_program program = {
	.name = "weft-fm",
	.synopsis = "--topology FILE [options]",
	.does = "Manage a fabric: find its switches and GFDs, number and route them, give out "
		"memory, and keep it so.",
	.status = "something cannot be begun, or --once ran out of time",
	.examples = "  weft-fm --topology lab.yaml --store sqlite:lab.db\n"
		    "  weft-fm --topology lab.yaml --store etcd:http://127.0.0.1:2379/lab\n"
		    "  weft-fm --topology lab.yaml --store sqlite:lab.db --via h0\n"
		    "  weft-fm --topology lab.yaml --store etcd:http://s1:2379/lab --via h0\n"
		    "  weft-fm --topology lab.yaml --store sqlite:lab.db --once --json -\n",
	CLI_OPTIONS(options),
};

static uint64_t
main_now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * MAIN_SECOND + (uint64_t)t.tv_nsec;
}

static void
main_say(void *arg, const char *word, const char *text)
{
	const struct manager *m = arg;

	if (m->is_quiet)
		return;
	printf("%s fabric: %s\n", word, text);
	cli_flush();
}

/* What an event is about, where the library cannot know it. */
static void
main_explain(const struct manager *m, const struct weft_fm_event *e, char *text, size_t len)
{
	const char *at = e->kind == WEFT_FM_EVENT_LOST ? paths_unserved(m->paths, e->path) : NULL;
	unsigned int n;

	if (e->kind == WEFT_FM_EVENT_WRITE)
		snprintf(text, len, "%s: %.160s", weft_cci_opcode_name(e->opcode), e->text);
	else if (at != NULL)
		snprintf(text, len,
			"nobody serves %.110s: left out until its weftd does, with --cci full and "
			"this run folder",
			at);
	else if (e->kind == WEFT_FM_EVENT_FOREIGN)
		snprintf(text, len, "%.100s: give that one's --store, or start its weftd again",
			e->text);
	else if (e->kind == WEFT_FM_EVENT_CONVERGED && (n = report_count_foreign(m)) != 0)
		snprintf(text, len, "%.100s, without %u of %u components, which are foreign",
			e->text, n, m->intent.n_paths);
	else
		snprintf(text, len, "%s", e->text);
}

/*
 * One line an event. Commands go to the log of changes before they are sent; where that is not
 * taken, they are not sent: main_send() sees that this manager leads no more.
 */
static void
main_on_event(void *arg, const struct weft_fm_event *e)
{
	struct manager *m = arg;
	struct manager_event *keep;
	const char *node = intent_name(&m->intent, e->path);
	const struct store_change change = { "weft-fm", e->why, node, e->opcode, e->text };

	if (e->kind == WEFT_FM_EVENT_WRITE && store_audit(m->store, &change) != 0 &&
		!store_leads(m->store))
		return;
	keep = &m->event[m->n_events++ % MANAGER_EVENTS];
	*keep = (struct manager_event){ .at_ns = (int64_t)main_now_ns(CLOCK_REALTIME),
		.kind = e->kind };
	snprintf(keep->node, sizeof(keep->node), "%s", node);
	main_explain(m, e, keep->text, sizeof(keep->text));
	if (!m->is_quiet) {
		printf("%s %s: %s\n", weft_fm_event_word(e->kind), node, keep->text);
		cli_flush();
	}
}

/* The transport: only the manager that leads says anything to components. */
static int
main_send(void *arg, uint32_t path, const uint8_t *msg, size_t len)
{
	struct manager *m = arg;

	return store_leads(m->store) ? paths_send(m->paths, m->fm, path, msg, len) : -EPERM;
}

/* A manager at the port of a host has that host's PID. */
static void
main_find_via(struct manager *m, const struct main_options *o)
{
	m->via = -1;
	if (o->via == NULL)
		return;
	m->via = weft_topo_find(m->topo, o->via);
	if (m->via < 0 || !m->topo->node[m->via].is_manager)
		cli_usage(
			"--via %s: expected a host with manager: true in %s", o->via, o->topology);
}

/*
 * @m: NULL before there is a store. @is_first: a manager of a store of its own has its run folder
 * alone, or does not begin; later, the fabric is kept whether operators can say anything or not.
 */
static void
main_listen(const struct manager *m, const char *folder, bool is_first)
{
	static bool is_said;
	const bool is_shared = m != NULL && store_is_shared(m->store);
	const int rc = operate_is_open() ? 0 : operate_listen(folder, is_shared);
	const bool is_fatal = is_first && !(is_shared && rc == -EADDRINUSE);
	char text[160] = "another weft-fm serves it: expected one manager a run folder";

	if (rc == 0)
		is_said = false;
	if (rc == 0 || rc == -EAGAIN || (is_said && !is_fatal))
		return;
	if (rc != -EADDRINUSE)
		snprintf(text, sizeof(text), "%s", strerror(-rc));
	if (is_fatal)
		cli_fail("%s/" MANAGER_SOCKET ": %s", folder, text);
	cli_warn("%s/" MANAGER_SOCKET ": %s: operators cannot reach this one as long as that is so",
		folder, text);
	is_said = true;
}

/*
 * A manager that cannot serve its run folder makes no store. One that is there says better itself
 * who has it.
 */
static void
main_take_socket(const struct main_options *o, const char *folder)
{
	const char *path =
		o->store != NULL && strncmp(o->store, "sqlite:", 7) == 0 ? o->store + 7 : NULL;

	if ((o->store == NULL || path != NULL) && operate_listen(folder, false) != 0 &&
		(path == NULL || access(path, F_OK) != 0))
		main_listen(NULL, folder, true);
}

static void
main_begin(struct manager *m, const struct main_options *o, const char *folder)
{
	struct store_cfg cfg = {
		.url = o->store, .lease_s = o->lease_s, .say = main_say, .say_arg = m
	};
	struct weft_topo_error err;

	if (weft_topo_load(&m->topo, o->topology, &err) != 0)
		cli_fail("%s", err.text);
	main_find_via(m, o);
	cfg.at = o->via;
	cfg.pid = m->via >= 0 ? m->topo->node[m->via].pid : 0;
	intent_init(&m->intent, m->topo);
	m->is_quiet = json_is_output(o->json);
	main_take_socket(o, folder);
	m->store = store_open(&cfg);
}

/* With what the store says; the fabric is looked at from the beginning. */
static void
main_lead(struct manager *m, const struct main_options *o, const char *folder)
{
	struct weft_fm_cfg cfg = {
		.tries = 3,
		.timeout_ns = 500 * MAIN_MS,
		.poll_ns = o->poll_ms * MAIN_MS,
		.retry_ns = 500 * MAIN_MS,
		.drain_ns = o->drain_ms * MAIN_MS,
		.n_paths = m->intent.n_paths,
		.transport = { m, main_send },
		.on_event = main_on_event,
		.event_arg = m,
	};
	struct store_identity id;

	if (store_identity(m->store, &id) != 0 ||
		store_get_drained(m->store, m->topo, m->intent.node) != 0 ||
		store_get_memories(m->store, m->topo, &m->memories) != 0)
		return;
	memcpy(cfg.uuid, id.uuid, sizeof(cfg.uuid));
	memcpy(cfg.peer_uuid, id.peer_uuid, sizeof(cfg.peer_uuid));
	cfg.pid = m->via >= 0 ? m->topo->node[m->via].pid : id.pid;
	cfg.has_peer = id.has_peer;
	cfg.peer_pid = id.peer_pid;
	intent_set_memory(&m->intent, &m->memories);
	m->paths = paths_new(&m->intent, folder, m->via);
	m->fm = weft_fm_new(&cfg, main_now_ns(CLOCK_MONOTONIC));
	if (m->fm == NULL)
		cli_fail("out of memory");
	weft_fm_set_intent(m->fm, &m->intent.want, "the topology file");
	main_listen(m, folder, true);
}

/* Nothing is sent any more; what is out finds nobody. */
static void
main_stop_leading(struct manager *m)
{
	operate_fini();
	weft_fm_free(m->fm);
	paths_free(m->paths);
	m->fm = NULL;
	m->paths = NULL;
}

/* All components are there and as they are to be. */
static bool
main_is_done(const struct manager *m)
{
	for (uint32_t i = 0; m->fm != NULL && i < m->intent.n_paths; i++)
		if (!report_is_ready(m, i))
			return false;
	return m->fm != NULL && weft_fm_is_converged(m->fm);
}

/* What is due of the store, of components and of operators. @return when it is again */
static uint64_t
main_turn(struct manager *m, const struct main_options *o, const char *folder, uint64_t *connect_ns)
{
	const uint64_t store_ns = store_turn(m->store), now_ns = main_now_ns(CLOCK_MONOTONIC);
	const uint64_t turn_ns = store_ns == UINT64_MAX ? UINT64_MAX : now_ns + store_ns;
	uint64_t next_ns;

	if (m->fm != NULL && !store_leads(m->store))
		main_stop_leading(m);
	if (m->fm == NULL && store_leads(m->store))
		main_lead(m, o, folder);
	if (m->fm == NULL)
		return turn_ns;
	if (now_ns >= *connect_ns) {
		paths_connect(m->paths, m->fm, now_ns);
		*connect_ns = now_ns + MAIN_CONNECT_NS;
		if (!operate_is_open())
			main_listen(m, folder, false);
	}
	paths_receive(m->paths, m->fm, now_ns);
	operate_turn(m, now_ns);
	next_ns = weft_fm_poll(m->fm, now_ns);
	next_ns = next_ns < *connect_ns ? next_ns : *connect_ns;
	return next_ns < turn_ns ? next_ns : turn_ns;
}

/* With --once it would be waited for in silence, and a JSON on standard output leaves no lines. */
static void
main_say_foreign(const struct manager *m, const struct main_options *o)
{
	static bool is_said;
	unsigned int n;

	if (is_said || !o->once || m->fm == NULL || !weft_fm_is_converged(m->fm))
		return;
	n = report_count_foreign(m);
	if (n == 0)
		return;
	is_said = true;
	cli_warn("%u of %u components belong to another manager%s: give that one's --store, or "
		 "start their weftd again",
		n, m->intent.n_paths,
		o->store == NULL ? ", as each weft-fm without --store is to the next" : "");
}

static void
main_say_missing(const struct manager *m, const struct main_options *o)
{
	char text[512] = "", when[48];

	if (m->fm != NULL)
		report_missing(m, text, sizeof(text));
	if (m->was_stopped)
		snprintf(when, sizeof(when), ": a signal ended it");
	else
		snprintf(when, sizeof(when), " after %g s", o->timeout_s);
	cli_warn("the fabric is not as it is to be%s: %s", when,
		m->fm == NULL     ? "another manager leads, or the store is away"
		: text[0] == '\0' ? "commands are under way, or are refused"
				  : text);
}

/* Until a signal, or with --once until all is done. Whether it was. */
static bool
main_loop(struct manager *m, const struct main_options *o, const char *folder, int signals)
{
	struct pollfd *fd = calloc(m->intent.n_paths + OPERATE_FDS + 2u, sizeof(*fd));
	const uint64_t begin_ns = main_now_ns(CLOCK_MONOTONIC);
	uint64_t connect_ns = 0;

	if (fd == NULL)
		cli_fail("out of memory");
	for (;;) {
		const uint64_t next_ns = main_turn(m, o, folder, &connect_ns);
		const uint64_t now_ns = main_now_ns(CLOCK_MONOTONIC);
		unsigned int n = 0;

		main_say_foreign(m, o);
		if (o->once &&
			(main_is_done(m) || now_ns - begin_ns > (uint64_t)(o->timeout_s * 1e9)))
			break;
		fd[n++] = (struct pollfd){ .fd = signals, .events = POLLIN };
		if (m->fm != NULL)
			n += paths_fds(m->paths, fd + n);
		n += operate_fds(fd + n);
		if (poll(fd, n, next_ns <= now_ns ? 0 : (int)((next_ns - now_ns) / MAIN_MS) + 1) <
				0 &&
			errno != EINTR)
			cli_fail("poll: %s", strerror(errno));
		m->was_stopped = (fd[0].revents & POLLIN) != 0;
		if (m->was_stopped)
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

	/* A reader of events that goes, or a limit of file size, is no end of the manager. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
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
	json_t *o;
	int rc;

	if (m->fm == NULL)
		cli_fail(
			"--json %s: another manager leads, or the store is away: nothing was found",
			path);
	o = report_fabric(m);
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

static void
main_parse(struct main_options *o, int argc, char **argv)
{
	const uint64_t given = cli_parse(&program, o, argc, argv);

	cli_options_only(argc, argv);
	if (o->topology == NULL)
		cli_usage("expected --topology FILE");
	cli_two_files("--topology", o->topology, "--json", o->json);
	if (o->store != NULL && strncmp(o->store, MAIN_SQLITE, strlen(MAIN_SQLITE)) == 0)
		cli_two_files("--store", o->store + strlen(MAIN_SQLITE), "--json", o->json);
	if (cli_given(&program, given, MAIN_LEASE) &&
		(o->store == NULL || strncmp(o->store, "etcd:", 5) != 0))
		cli_usage("--lease: expected a store of etcd beside it, got %s",
			o->store == NULL ? "none" : o->store);
	if (!o->once)
		cli_no_effect(&program, given, MAIN_TIMEOUT, "without --once");
}

int
main(int argc, char **argv)
{
	static struct manager m;
	struct main_options o = { 0 };
	char folder[WEFT_TOPO_PATH_ROOM];
	int signals, rc;
	bool is_done;

	main_parse(&o, argc, argv);
	json_check(o.json);
	rc = weft_attach_rundir(folder, sizeof(folder), true);
	if (rc != 0)
		cli_fail("run folder %s: %s", folder, weft_attach_rundir_error(rc));
	signals = main_signals();
	operate_init();
	atexit(operate_unlisten);
	main_begin(&m, &o, folder);
	is_done = main_loop(&m, &o, folder, signals);
	if (o.json != NULL)
		main_report(&m, o.json);
	if (o.once && !is_done)
		main_say_missing(&m, &o);
	main_stop_leading(&m);
	store_close(m.store);
	intent_free(&m.intent);
	weft_topo_free(m.topo);
	close(signals);
	/* Whoever reads the events of one that stays may go. */
	if (!o.once)
		return EXIT_SUCCESS;
	cli_exit(is_done ? EXIT_SUCCESS : EXIT_FAILURE);
}
