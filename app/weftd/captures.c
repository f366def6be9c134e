/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Captures of ports: those of --capture, and those that telemetry begins and ends while the daemon
 * runs. Of one that stops by itself an operator hears at once: a full disk is a failure of the run,
 * the limit is not.
 */

#include "captures.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_telemetry.h>

#include "cli.h"
#include "event.h"
#include "ports.h"
#include "weft_file.h"

#define CAPTURES_MAX 64 /* in a run */

struct capture {
	struct weft_port *port;
	const char *node;
	char *file;
	struct weft_capture_stats stats; /* the last, once it is over */
	bool is_over;
};

/* Telemetry comes on a thread of DPDK's. Everything here is under the lock. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct daemon *daemon_of; /* NULL: not yet, or no more */
static struct capture captures[CAPTURES_MAX];
static unsigned int n_captures;

/*
 * Index in the topology of the port that PORT=FILE names, if a node that runs here has it; else -1.
 */
static int
capture_port(const struct daemon *d, const char *text)
{
	const char *eq = strchr(text, '=');
	const struct node *n;
	uint16_t port;

	if (eq == NULL || eq[1] == '\0')
		return -1;
	n = ports_find(d, text, (size_t)(eq - text), &port);
	return n == NULL ? -1 : n->topo->first_port + port;
}

static void
capture_refusal(const struct daemon *d, const char *text, char *err, size_t err_len)
{
	snprintf(err, err_len,
		"--capture %s: expected PORT=FILE with a port of a node that runs here, such as "
		"%s",
		text, d->topo->n_ports == 0 ? "s0.0=f.pcapng" : "NODE.0=f.pcapng");
}

/* Who reads or writes a file that would be gone if a capture wrote it; NULL: nobody. */
static const char *
capture_file_of(const struct daemon *d, const char *file)
{
	if (d->cfg.topology != NULL && cli_is_one_file(file, d->cfg.topology))
		return "--topology";
	for (unsigned int i = 0; i < d->cfg.n_loads; i++)
		if (cli_is_one_file(file, d->cfg.load[i]))
			return "--load";
	if (d->cfg.json != NULL && cli_is_one_file(file, d->cfg.json))
		return "--json";
	if (d->topo->ide.key_file[0] != '\0' && cli_is_one_file(file, d->topo->ide.key_file))
		return "ide.key_file";
	for (uint16_t i = 0; i < d->load->n_transfers; i++)
		if (d->load->transfer[i].file[0] != '\0' &&
			cli_is_one_file(file, d->load->transfer[i].file))
			return "a transfer";
	for (unsigned int i = 0; i < n_captures; i++)
		if (!captures[i].is_over && cli_is_one_file(file, captures[i].file))
			return "another capture";
	return NULL;
}

static void
capture_check_file(const struct daemon *d, const char *capture)
{
	const char *file = strchr(capture, '=') + 1, *of = capture_file_of(d, file);

	if (of != NULL)
		cli_usage("--capture %s: expected a file of its own, got that of %s", capture, of);
	for (unsigned int i = 0; d->cfg.captures[i] != capture; i++)
		cli_two_files("--capture", strchr(d->cfg.captures[i], '=') + 1, "--capture", file);
}

bool
capture_is_output(const char *capture)
{
	const char *file = strchr(capture, '=');

	return file != NULL && strcmp(file + 1, "-") == 0;
}

void
captures_check(const struct daemon *d)
{
	char err[NODE_ERROR_MAX];

	for (unsigned int i = 0; i < d->cfg.n_captures; i++) {
		if (capture_port(d, d->cfg.captures[i]) < 0) {
			capture_refusal(d, d->cfg.captures[i], err, sizeof(err));
			cli_usage("%s", err);
		}
		capture_check_file(d, d->cfg.captures[i]);
	}
}

static int
capture_begin(struct daemon *d, const char *text, char *err, size_t err_len)
{
	const int port = capture_port(d, text);
	struct capture *c = &captures[n_captures];
	struct weft_capture_cfg cfg = { .lossless = true, .limit_bytes = d->cfg.capture_limit };
	const char *of;
	int rc;

	if (n_captures == CAPTURES_MAX)
		return weft_errorf(
			err, err_len, -ENOSPC, "more than %u captures in a run", CAPTURES_MAX);
	if (port < 0) {
		capture_refusal(d, text, err, err_len);
		return -EINVAL;
	}
	of = capture_file_of(d, strchr(text, '=') + 1);
	if (of != NULL)
		return weft_errorf(err, err_len, -EEXIST,
			"capture %s: expected a file of its own, got that of %s", text, of);
	c->port = d->port[port];
	c->node = d->topo->node[d->topo->port[port].node].name;
	c->file = strdup(strchr(text, '=') + 1);
	if (c->file == NULL)
		return weft_errorf(err, err_len, -ENOMEM, "out of memory");
	cfg.path = c->file;
	rc = weft_capture_open(c->port, &cfg, err, err_len);
	if (rc != 0) {
		free(c->file);
		return rc;
	}
	c->is_over = false;
	n_captures++;
	return 0;
}

/* Why it stopped by itself, or NULL. */
static const char *
capture_fault(const struct weft_capture_stats *s)
{
	if (s->error != 0)
		return s->error == ETIMEDOUT ? "nobody reads it" : weft_file_error(-s->error);
	return s->is_full ? "the limit of its size is reached" : NULL;
}

static void
capture_end(struct daemon *d, struct capture *c)
{
	weft_capture_close(c->port, &c->stats);
	c->is_over = true;
	if (c->stats.error != 0)
		d->exit_status = EXIT_FAILURE;
}

static void
capture_say(const struct capture *c, char *text, size_t len)
{
	snprintf(text, len,
		"capture of port %s to %s stopped: %s; %" PRIu64 " frame%s in it, %" PRIu64
		" came too late",
		weft_port_name(c->port), c->file, capture_fault(&c->stats), c->stats.written,
		c->stats.written == 1 ? " is" : "s are",
		c->stats.frames + c->stats.dropped - c->stats.written);
}

void
captures_maintain(struct daemon *d)
{
	struct weft_capture_stats stats;
	char text[512];

	pthread_mutex_lock(&lock);
	for (unsigned int i = 0; i < n_captures; i++) {
		struct capture *c = &captures[i];

		if (c->is_over || weft_capture_stats(c->port, &stats) != 0 ||
			capture_fault(&stats) == NULL)
			continue;
		capture_end(d, c);
		capture_say(c, text, sizeof(text));
		event_put(EVENT_CAPTURE_STOPPED, c->node, weft_port_name(c->port), 1, "%s", text);
	}
	pthread_mutex_unlock(&lock);
}

/* --- telemetry and operators --- */

static struct capture *
capture_of(const char *port)
{
	for (unsigned int i = 0; port != NULL && i < n_captures; i++)
		if (!captures[i].is_over && strcmp(weft_port_name(captures[i].port), port) == 0)
			return &captures[i];
	return NULL;
}

static void
capture_telemetry_state(struct rte_tel_data *data, const struct capture *c)
{
	struct weft_capture_stats s = c->stats;

	if (!c->is_over)
		weft_capture_stats(c->port, &s);
	rte_tel_data_add_dict_string(data, "port", weft_port_name(c->port));
	rte_tel_data_add_dict_string(data, "file", c->file);
	rte_tel_data_add_dict_u64(data, "written", s.written);
	rte_tel_data_add_dict_u64(data, "bytes", s.bytes);
}

static int
capture_telemetry_begin(const char *cmd, const char *params, struct rte_tel_data *data)
{
	char err[NODE_ERROR_MAX] = "the daemon is not ready, or ends";

	(void)cmd;
	rte_tel_data_start_dict(data);
	pthread_mutex_lock(&lock);
	if (daemon_of != NULL &&
		capture_begin(daemon_of, params == NULL ? "" : params, err, sizeof(err)) == 0)
		capture_telemetry_state(data, &captures[n_captures - 1]);
	else
		rte_tel_data_add_dict_string(data, "error", err);
	pthread_mutex_unlock(&lock);
	return 0;
}

static int
capture_telemetry_end(const char *cmd, const char *params, struct rte_tel_data *data)
{
	struct capture *c;

	(void)cmd;
	rte_tel_data_start_dict(data);
	pthread_mutex_lock(&lock);
	c = daemon_of == NULL ? NULL : capture_of(params);
	if (c != NULL) {
		capture_end(daemon_of, c);
		capture_telemetry_state(data, c);
	} else {
		rte_tel_data_add_dict_string(data, "error", "no such port is being captured");
	}
	pthread_mutex_unlock(&lock);
	return 0;
}

int
captures_start(
	struct daemon *d, const char *port_file, uint64_t limit_bytes, char *err, size_t err_len)
{
	const uint64_t usual = d->cfg.capture_limit;
	int rc;

	pthread_mutex_lock(&lock);
	if (limit_bytes != 0)
		d->cfg.capture_limit = limit_bytes;
	rc = capture_begin(d, port_file, err, err_len);
	d->cfg.capture_limit = usual;
	pthread_mutex_unlock(&lock);
	return rc;
}

int
captures_stop(struct daemon *d, const char *port, struct weft_capture_stats *stats)
{
	struct capture *c;

	pthread_mutex_lock(&lock);
	c = capture_of(port);
	if (c != NULL) {
		capture_end(d, c);
		*stats = c->stats;
	}
	pthread_mutex_unlock(&lock);
	return c == NULL ? -ENOENT : 0;
}

int
captures_open(struct daemon *d, char *err, size_t err_len)
{
	int rc = 0;

	pthread_mutex_lock(&lock);
	for (unsigned int i = 0; rc == 0 && i < d->cfg.n_captures; i++)
		rc = capture_begin(d, d->cfg.captures[i], err, err_len);
	daemon_of = d;
	pthread_mutex_unlock(&lock);
	rte_telemetry_register_cmd("/weft/capture", capture_telemetry_begin,
		"Capture a port to a pcapng file. Parameter: PORT=FILE.");
	rte_telemetry_register_cmd("/weft/capture_stop", capture_telemetry_end,
		"End the capture of a port. Parameter: its name.");
	return rc;
}

void
captures_close(struct daemon *d)
{
	char text[512];

	pthread_mutex_lock(&lock);
	daemon_of = NULL;
	for (unsigned int i = 0; i < n_captures; i++) {
		struct capture *c = &captures[i];

		if (c->is_over)
			continue;
		capture_end(d, c);
		if (capture_fault(&c->stats) == NULL)
			continue;
		capture_say(c, text, sizeof(text));
		cli_warn("%s", text);
	}
	pthread_mutex_unlock(&lock);
}

json_t *
captures_json(void)
{
	json_t *list = json_array();

	pthread_mutex_lock(&lock);
	for (unsigned int i = 0; i < n_captures; i++) {
		const struct capture *c = &captures[i];
		struct weft_capture_stats now = c->stats, *s = &now;

		if (!c->is_over)
			weft_capture_stats(c->port, s);
		json_array_append_new(list,
			json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:b, s:s?}", "port",
				weft_port_name(c->port), "file", c->file, "frames",
				(json_int_t)s->frames, "written", (json_int_t)s->written, "dropped",
				(json_int_t)s->dropped, "bytes", (json_int_t)s->bytes, "full",
				s->is_full, "error", s->error == 0 ? NULL : capture_fault(s)));
	}
	pthread_mutex_unlock(&lock);
	return list;
}
