/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * weftd: runs the nodes of a topology that are this machine's (or those named). The main lcore and
 * its workers poll; a control thread watches signals, time and links. doc/weftd.md is its manual.
 */

#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <rte_errno.h>
#include <rte_lcore.h>

#include "attach.h"
#include "captures.h"
#include "cci.h"
#include "check.h"
#include "check_machine.h"
#include "cli.h"
#include "conn.h"
#include "daemon.h"
#include "drain.h"
#include "duplicate.h"
#include "event.h"
#include "generation.h"
#include "http.h"
#include "ide.h"
#include "ingress.h"
#include "inject.h"
#include "json.h"
#include "launch.h"
#include "notes.h"
#include "operate.h"
#include "options.h"
#include "ports.h"
#include "report.h"
#include "resolve.h"
#include "segments.h"
#include "single.h"
#include "transfer.h"
#include "update.h"
#include "watch.h"

#define TEND_EVERY_MS 20
#define PART_NS UINT64_C(200000000) /* for the other ends to ask whether a goodbye is true */
#define PART_NAP_NS 50000
#define LARGE_OBJECT (32 << 10)

static volatile sig_atomic_t stop_signal;
static volatile sig_atomic_t update_asked;

static void
weftd_print_finding(void *arg, const struct weft_topo_error *e)
{
	(void)arg;
	cli_warn("%s", e->text);
}

static void
weftd_load_topology(struct daemon *d, const struct run_options *run)
{
	const struct weft_load_files files = daemon_files(d);
	struct weft_topo_error e = { 0 };
	char host[WEFT_TOPO_SERVER_ROOM] = "";
	uint16_t *index;
	int n;

	n = weft_load_open(&d->topo, &d->load, &files, &e);
	if (n != 0 && run->check && weft_load_check(&files, weftd_print_finding, NULL) != 0)
		exit(EXIT_FAILURE);
	if (n != 0)
		cli_fail("%s", e.text);
	if (run->server != NULL)
		snprintf(host, sizeof(host), "%s", run->server);
	else if (gethostname(host, sizeof(host) - 1) != 0)
		host[0] = '\0';
	if (run->server != NULL && d->cfg.nodes == NULL && d->topo->node[0].server[0] == '\0')
		cli_warn("--server: no effect on fabric %s, whose nodes name no server: all of "
			 "them are meant",
			d->topo->fabric);
	d->now = d->topo;
	index = calloc(d->topo->n_nodes, sizeof(*index));
	d->node = calloc(d->topo->n_nodes, sizeof(*d->node));
	if (index == NULL || d->node == NULL)
		cli_fail("out of memory");
	n = weft_topo_select(d->topo, host, d->cfg.nodes, index, &e);
	/* Whether a file is good can be asked on any machine. */
	if (n < 0 && run->check && run->server == NULL && d->cfg.nodes == NULL)
		n = 0;
	if (n < 0)
		cli_fail("%s", e.text);
	d->n_nodes = (uint16_t)n;
	for (uint16_t i = 0; i < d->n_nodes; i++) {
		d->node[i].daemon = d;
		d->node[i].index = index[i];
		d->node[i].topo = &d->topo->node[index[i]];
		d->node[i].load = &d->load->node[index[i]];
		d->node[i].n_ports = d->node[i].topo->n_ports;
	}
	free(index);
}

static void
weftd_on_signal(int sig)
{
	stop_signal = sig;
}

static void
weftd_on_update(int sig)
{
	(void)sig;
	update_asked = 1;
}

bool
daemon_is_stopped(void)
{
	return stop_signal != 0;
}

static double
weftd_elapsed_s(const struct timespec *since)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - since->tv_sec) + (double)(now.tv_nsec - since->tv_nsec) / 1e9;
}

/* For how long link @p of a node had no session: since the last one, or since the start. */
static double
weftd_without_s(const struct node *n, unsigned int p, double seconds)
{
	const uint64_t lived_ns = n->conn[p].watch.lived_ns;

	return lived_ns == 0 ? seconds : (double)(node_now_ns() - lived_ns) / 1e9;
}

/*
 * Why the run cannot succeed, or NULL: a refusal, or a connection that does not come up, or not
 * again: who is at its other end may restart. A run without an end goes on, for others and for the
 * time when files fit.
 */
static const char *
weftd_what_fails(struct daemon *d, double seconds, char *line, size_t len)
{
	for (uint16_t i = 0; i < d->n_nodes; i++) {
		struct node *n = &d->node[i];
		const char *refused = __atomic_load_n(&n->node->refused.text, __ATOMIC_ACQUIRE);

		if (refused != NULL && d->cfg.until_done) {
			snprintf(line, len, "%s %s: %s", weft_topo_kind_words[n->topo->kind],
				n->topo->name, refused);
			return line;
		}
		if (!d->cfg.until_done || seconds < d->cfg.wait_s ||
			(n->topo->kind != WEFT_TOPO_HOST && !n->load->has_uio))
			continue;
		for (uint16_t p = 0; p < n->node->n_links; p++) {
			const double without_s = weftd_without_s(n, p, seconds);

			if (__atomic_load_n(&n->node->link[p].state, __ATOMIC_RELAXED) ==
					WEFT_NODE_UP ||
				!n->node->link[p].is_needed || without_s < d->cfg.wait_s)
				continue;
			snprintf(line, len, "%s %s: no answer from %s (PID 0x%03x) in %.0f s",
				weft_topo_kind_words[n->topo->kind], n->topo->name,
				d->topo->node[n->node->link[p].topo_node].name,
				n->node->link[p].pid, without_s);
			return line;
		}
	}
	return NULL;
}

static bool
weftd_sends(const struct weft_load_node *l)
{
	return l->has_mem || l->has_uio || l->n_transfers != 0;
}

/* Who sends has also met all that it needs, though it may have done without. */
static bool
weftd_all_done(const struct daemon *d)
{
	for (uint16_t i = 0; i < d->n_nodes; i++)
		if (!weft_node_is_done(d->node[i].node) ||
			(weftd_sends(d->node[i].load) && !weft_node_has_met(d->node[i].node)))
			return false;
	return true;
}

static void
weftd_once_a_second(struct daemon *d)
{
	ports_maintain(d);
	captures_maintain(d);
	single_log_events(d);
	links_watch(d);
}

/* What others did wrong since the last call, a line each. */
static void
weftd_tell_of_others(struct daemon *d)
{
	ide_log_events(d);
	ingress_log_events(d);
	misfit_log_events(d);
	duplicates_log_events(d);
	forged_log_events(d);
	conns_log_events(d);
}

/* Until something ends the run. Never on the data path. */
static void *
weftd_control(void *arg)
{
	struct daemon *d = arg;
	struct timespec start;
	char line[256];
	unsigned int naps = 0;

	clock_gettime(CLOCK_MONOTONIC, &start);
	while (stop_signal == 0) {
		double seconds = weftd_elapsed_s(&start);

		if (d->cfg.seconds > 0 && seconds >= d->cfg.seconds)
			break;
		if (d->cfg.until_done && weftd_all_done(d))
			break;
		/* Who read its lines has gone: the end of a pipe ends the run. */
		if (ferror(stdout)) {
			d->exit_status = EXIT_FAILURE;
			break;
		}
		if (weftd_what_fails(d, seconds, line, sizeof(line)) != NULL) {
			cli_warn("%s", line);
			d->exit_status = EXIT_FAILURE;
			break;
		}
		conns_turn(d);
		sessions_watch(d);
		requests_watch(d);
		rates_maintain(d);
		weftd_tell_of_others(d);
		if (update_asked != 0) {
			update_asked = 0;
			update_ask_reload();
		}
		operate_maintain(d, seconds);
		update_maintain(d);
		http_maintain(seconds);
		ats_log_events(d);
		drains_log_events(d);
		injects_maintain(seconds);
		generation_log_events(d);
		events_maintain();
		if (++naps % (1000 / TEND_EVERY_MS) == 0)
			weftd_once_a_second(d);
		cci_serve(d, TEND_EVERY_MS);
	}
	update_stop(d);
	for (unsigned int i = 0; i < d->n_loops; i++)
		weft_loop_stop(d->loop[i]);
	return NULL;
}

/* What comes and goes at a node whose ends are closed. */
static void
weftd_poll_parting(struct node *n)
{
	if (n->conns == NULL) {
		node_poll(n);
		return;
	}
	weft_node_time(n->node, node_now_ns());
	node_poll_rx(n);
	conns_flush(n);
	node_flush(n);
}

static bool
weftd_is_parting(const struct daemon *d)
{
	for (uint16_t i = 0; i < d->n_nodes; i++)
		if (conns_are_parting(&d->node[i]))
			return true;
	return false;
}

/* Tell the other ends, so that they need not find out; without keys they ask whether it is true. */
static void
weftd_say_goodbye(struct daemon *d)
{
	const struct timespec nap = { .tv_nsec = PART_NAP_NS };
	const uint64_t until_ns = node_now_ns() + PART_NS;

	for (uint16_t i = 0; i < d->n_nodes; i++) {
		struct node *n = &d->node[i];

		n->env.ends.are_parting = true; /* no lcore runs any more */
		weft_node_close(n->node);
		weft_node_time(n->node, node_now_ns());
		conns_flush(n);
	}
	while (weftd_is_parting(d) && node_now_ns() < until_ns) {
		for (uint16_t i = 0; i < d->n_nodes; i++)
			weftd_poll_parting(&d->node[i]);
		nanosleep(&nap, NULL);
	}
}

static double
weftd_run(struct daemon *d)
{
	struct timespec start;
	pthread_t thread;
	double seconds;
	int rc;

	clock_gettime(CLOCK_MONOTONIC, &start);
	for (unsigned int i = 0; i < d->n_loops; i++) {
		rc = d->loop[i] == d->main_loop ? 0 : weft_loop_launch(d->loop[i]);
		if (rc != 0)
			cli_fail("an lcore could not be started: %s", strerror(-rc));
	}
	attach_start();
	/* Not on a CPU of an lcore, where it would take a turn each time that somebody looks. */
	rc = rte_ctrl_thread_create(&thread, "weft-control", NULL, weftd_control, d);
	if (rc != 0)
		cli_no_memory("the control thread could not be started: %s", strerror(abs(rc)));
	if (d->main_loop != NULL)
		weft_loop_run(d->main_loop);
	pthread_join(thread, NULL);
	for (unsigned int i = 0; i < d->n_loops; i++)
		if (d->loop[i] != d->main_loop)
			weft_loop_join(d->loop[i]);
	seconds = weftd_elapsed_s(&start);
	operate_fini(d);
	http_fini();
	cci_fini();
	attach_end();
	injects_end(seconds);
	segments_ended(d);
	conns_turn_all(d);
	weftd_tell_of_others(d); /* what came since the control thread looked last */
	weftd_say_goodbye(d);
	return seconds;
}

static void
weftd_finish(struct daemon *d, double seconds)
{
	captures_close(d);
	if (!d->cfg.no_text)
		report_text(d, seconds);
	if (d->cfg.json != NULL) {
		int e = report_json(d, seconds, d->cfg.json);

		if (e != 0) {
			cli_warn("--json %s: %s", d->cfg.json, weft_file_error(e));
			d->exit_status = EXIT_FAILURE;
		}
	}
	for (uint16_t i = 0; i < d->n_nodes; i++) {
		char err[NODE_ERROR_MAX];

		if (weft_node_transfers(d->node[i].node) == NULL ||
			transfers_save(&d->node[i], err, sizeof(err)) == 0)
			continue;
		cli_warn("%s", err);
		d->exit_status = EXIT_FAILURE;
	}
	if (!report_is_good(d)) {
		d->exit_status = EXIT_FAILURE;
		if (d->cfg.no_text)
			report_faults(d);
	}
	report_telemetry_end();
	for (unsigned int i = 0; i < d->n_loops; i++)
		weft_loop_free(d->loop[i]);
	free(d->rates);
	ports_close(d); /* frames that nobody took come back before their nodes go */
	for (uint16_t i = 0; i < d->n_nodes; i++)
		node_fini(&d->node[i]);
	ide_close(d);
	single_fini(d);
	free(d->loop);
	free(d->node);
	if (d->now != d->topo)
		weft_topo_free(d->now);
	weft_topo_free(d->topo);
	weft_load_free(d->load);
	weft_eal_stop();
}

static void
weftd_options(struct daemon *d, struct run_options *opts, int argc, char **argv)
{
	argc = cli_split_eal(argc, argv, &d->cfg.eal_argc, &d->cfg.eal_argv);
	options_parse(&d->cfg, opts, argc, argv);
	cli_two_files("--topology", d->cfg.topology, "--json", d->cfg.json);
	cli_two_files("--resolve", opts->resolve, "--json", d->cfg.json);
	for (unsigned int i = 0; i < d->cfg.n_loads; i++)
		cli_two_files("--load", d->cfg.load[i], "--json", d->cfg.json);
	json_check(d->cfg.json);
	d->cfg.output_is_taken = json_is_output(d->cfg.json);
	for (unsigned int i = 0; i < d->cfg.n_captures; i++)
		d->cfg.output_is_taken |= capture_is_output(d->cfg.captures[i]);
	d->cfg.no_text = d->cfg.quiet || d->cfg.output_is_taken;
}

static void
weftd_find_kernels(struct daemon *d)
{
	d->features = cli_cpu_features();
	d->fec = weft_fec_kernel_find(NULL, d->features);
	d->crc = weft_crc_kernel_find(NULL, d->features);
	d->sig = weft_sig_kernel_find(NULL, d->features);
	d->atc = weft_atc_kernel_find(NULL, d->features);
	d->req_scan = weft_req_scan_kernel_find(NULL, d->features);
}

/* What can be checked, but not be run. */
static void
weftd_check_runs(const struct daemon *d)
{
	if (!weft_node_runs_transfers(d->topo, d->load))
		cli_fail("fabric %s: weftd does not run transfers where segments are not each the "
			 "whole memory of a gfd, in their order, yet",
			d->topo->fabric);
	if (!weft_node_runs(d->topo))
		cli_fail("fabric %s: weftd checks and resolves HBR switches and bindings, "
			 "but does not run fabrics with them yet",
			d->topo->fabric);
	for (uint16_t i = 0; i < d->topo->n_nodes; i++)
		if (d->topo->access.management == WEFT_TOPO_MANAGED_BY_FM &&
			(d->load->node[i].n_transfers != 0 || d->topo->translations.n != 0))
			cli_fail("fabric %s: management: fm: expected no transfers or "
				 "translations: what they expect of memory does not follow a "
				 "manager yet",
				d->topo->fabric);
	if (daemon_is_cxl(d))
		links_warn(d);
	if (d->topo->ide.key_file[0] != '\0')
		cli_two_files("ide.key_file", d->topo->ide.key_file, "--json", d->cfg.json);
	captures_check(d);
}

/* What there is before DPDK, and needs none of it. */
static void
weftd_prepare(struct daemon *d)
{
	char err[NODE_ERROR_MAX];

	if (events_init(d->cfg.quiet     ? EVENT_ERROR
			: d->cfg.verbose ? EVENT_DETAIL
					 : EVENT_INFO) != 0)
		cli_fail("out of memory");
	if (ide_open(d, err, sizeof(err)) != 0)
		cli_fail("%s", err);
	if (generation_run(d) != 0)
		cli_fail("the system gives no random bits (getrandom)");
	if (single_init(d, err, sizeof(err)) != 0)
		cli_fail("%s", err);
	report_telemetry_soon();
}

/* If @rc is bad: what was opened leaves no socket behind, and captures that began are whole. */
static void
weftd_must(struct daemon *d, int rc, const char *why)
{
	if (rc == 0)
		return;
	captures_close(d);
	ports_close(d);
	if (rc == -ENOMEM || rc == -EAGAIN)
		cli_no_memory("%s", why);
	cli_fail("%s", why);
}

static void
weftd_open(struct daemon *d)
{
	char err[NODE_ERROR_MAX];

	weftd_must(d, ports_open(d, err, sizeof(err)), err);
	for (uint16_t i = 0; i < d->n_nodes; i++)
		weftd_must(d, node_init(&d->node[i], err, sizeof(err)), err);
	weftd_must(d, captures_open(d, err, sizeof(err)), err);
	weftd_must(d, duplicates_start(d, err, sizeof(err)), err);
	weftd_must(d, rates_init(d), "out of memory");
	weftd_must(d, attach_init(d, err, sizeof(err)), err);
	segments_make_loops(d);
	report_telemetry(d);
	operate_init(d);
	weftd_must(d, http_init(d, err, sizeof(err)), err);
	weftd_must(d, cci_init(d, err, sizeof(err)), err);
}

static void __attribute__((noreturn))
weftd_end_check(const struct daemon *d, const struct run_options *opts)
{
	const bool names_servers = d->topo->node[0].server[0] != '\0';
	int status = d->cfg.quiet ? EXIT_SUCCESS : check_print(d);

	if (opts->server != NULL && d->cfg.nodes == NULL && names_servers &&
		check_machine(d, opts->server) != 0)
		status = EXIT_FAILURE;
	cli_exit(status);
}

int
main(int argc, char **argv)
{
	static struct daemon d;
	struct run_options opts = { 0 };
	struct sigaction sa = { .sa_handler = weftd_on_signal };
	struct sigaction hup = { .sa_handler = weftd_on_update, .sa_flags = SA_RESTART };
	struct weft_topo_error e = { 0 };
	double seconds;

	/* Lines of a daemon are read as they come, by people and by scripts. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	/* Of large objects that are never quite used only the pages that are used take memory. */
	mallopt(M_MMAP_THRESHOLD, LARGE_OBJECT);
	weftd_options(&d, &opts, argc, argv);
	weftd_find_kernels(&d);
	if (opts.resolve != NULL) {
		resolve_print(&opts, d.cfg.json);
		cli_exit(EXIT_SUCCESS);
	}
	cli_report_kernels();
	/*
	 * From before the file is read: what comes while DPDK starts is done then, and ends
	 * nothing.
	 */
	sigaction(SIGHUP, &hup, NULL);
	weftd_load_topology(&d, &opts);
	layouts_check(&d);
	http_check(d.cfg.http);
	ports_check(&d, !opts.check || d.cfg.nodes != NULL || opts.server != NULL);
	if (attach_resolve(&d, d.topo, &e) != 0)
		cli_fail("%s", e.text);
	if (opts.check)
		weftd_end_check(&d, &opts);
	if (d.topo->access.management == WEFT_TOPO_MANAGED_BY_FM &&
		weft_topo_set_memory(d.topo, NULL, 0) != 0)
		cli_fail("out of memory");
	weftd_check_runs(&d);
	attach_prepare(&d);
	weftd_prepare(&d);
	launch_dpdk(&d);
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	weftd_open(&d);
	if (!d.cfg.no_text)
		printf("weftd: %u node%s of fabric %s run%s\n", d.n_nodes,
			d.n_nodes == 1 ? "" : "s", d.topo->fabric, d.n_nodes == 1 ? "s" : "");
	seconds = weftd_run(&d);
	events_fini();
	weftd_finish(&d, seconds);
	cli_exit(d.exit_status);
}
