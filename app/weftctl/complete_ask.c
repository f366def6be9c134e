/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What daemons have, for completion. In a process of its own: what asks them ends its process where
 * it fails, and one that stands still must not hold a person's key.
 */

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ctl.h"
#include "daemons.h"
#include "regions.h"
#include "shell.h"

#define ASK_TIME_S 1
#define ASK_MOST (1u << 20) /* bytes of names */

static void
ask_print_ports(const json_t *nodes)
{
	const json_t *node, *port;
	size_t i, k;

	json_array_foreach(nodes, i, node) json_array_foreach(json_object_get(node, "ports"), k,
		port) printf("%s.%zu\n", json_string_value(json_object_get(node, "name")), k);
}

static void
ask_print_names(const json_t *nodes)
{
	const json_t *node;
	size_t i;

	json_array_foreach(nodes, i, node)
		printf("%s\n", json_string_value(json_object_get(node, "name")));
}

static void
ask_print_states(struct ctl *c, enum complete_kind kind)
{
	struct daemons d;
	const json_t *state;
	json_t *states;
	size_t i;

	daemons_open(c, &d);
	states = daemons_states_within(c, &d, ASK_TIME_S * 500);
	json_array_foreach(states, i, state)
	{
		if (kind == COMPLETE_DAEMONS)
			printf("%lld\n",
				(long long)json_integer_value(json_object_get(state, "pid")));
		else if (kind == COMPLETE_PORTS)
			ask_print_ports(json_object_get(state, "nodes"));
		else
			ask_print_names(
				json_object_get(json_object_get(state, "topology"), "nodes"));
	}
	json_decref(states);
	daemons_close(&d);
}

static void
ask_print_regions(struct ctl *c)
{
	struct weft_region_info *list = NULL;
	int n;

	ctl_attach(c, NULL);
	n = regions_list(c->w, &list);
	for (int i = 0; i < n; i++)
		printf("%s\n", list[i].name);
	free(list);
	weft_detach(c->w);
}

static void __attribute__((noreturn))
ask_child(int out, enum complete_kind kind, const char *node, const char *socket)
{
	static struct ctl c = { .verb = "complete", .failure = EXIT_FAILURE };
	const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

	signal(SIGALRM, SIG_DFL);
	alarm(ASK_TIME_S);
	dup2(nothing, STDIN_FILENO);
	dup2(nothing, STDERR_FILENO);
	dup2(out, STDOUT_FILENO);
	close(nothing);
	close(out);
	c.opt.node = node;
	c.opt.socket = socket;
	if (kind == COMPLETE_REGIONS)
		ask_print_regions(&c);
	else
		ask_print_states(&c, kind);
	fflush(stdout);
	_exit(EXIT_SUCCESS);
}

static void
ask_take(struct complete *c, FILE *in)
{
	char *line = NULL;
	size_t room = 0, all = 0;
	ssize_t n;

	while ((n = getline(&line, &room, in)) > 0 && (all += (size_t)n) < ASK_MOST) {
		line[strcspn(line, "\n")] = '\0';
		complete_add(c, line);
	}
	free(line);
}

void
complete_ask(struct complete *c, enum complete_kind kind, const char *node, const char *socket)
{
	int ends[2];
	FILE *in;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return;
	fflush(NULL);
	pid = fork();
	if (pid == 0)
		ask_child(ends[1], kind, node, socket);
	close(ends[1]);
	in = pid < 0 ? NULL : fdopen(ends[0], "r");
	if (in != NULL) {
		ask_take(c, in);
		fclose(in);
	} else {
		close(ends[0]);
	}
	while (pid > 0 && waitpid(pid, NULL, 0) < 0)
		continue;
}
