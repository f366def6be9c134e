/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * weft-fuse: the memory of a fabric as files, for programs that know nothing of Weft. A client of
 * libweft, of a host of a daemon on this machine. doc/weft-fuse.md is its manual.
 *
 * Exit status: 0; 1 if there is no daemon, or no mount; 2 for bad arguments.
 */

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"
#include "fabric.h"
#include "mount.h"
#include "nodes.h"
#include "reach.h"
#include "serve.h"
#include "side.h"

struct main_options {
	const char *node;
	const char *socket;
	const char *side;
	uint32_t n_threads;
	bool is_direct;
	bool is_foreground;
};

#define CLI_INTO struct main_options
static const struct cli_option options[] = {
	REACH_OPTIONS,
	{ CLI_SECTION("Files") },
	{ "direct", NULL, NULL,
		"keep nothing in the page cache: every read and write goes to the fabric; no "
		"shared maps",
		CLI_FLAG(is_direct) },
	{ "side", "DIR", NULL,
		"ordinary files REGION-WORD beside the regions, such as a database's journal, are "
		"in this folder; without it there are none",
		CLI_TEXT(side) },
	{ CLI_SECTION("Process") },
	{ "foreground", NULL, NULL, "stay in the foreground, and say what happens",
		CLI_FLAG(is_foreground), .letter = 'f' },
	{ "threads", "N", "4", "threads that answer, each with an attachment, 1 to 64",
		CLI_NUMBER(n_threads, 1, SERVE_THREADS_MAX) },
};

static const struct cli_program program = {
	.name = "weft-fuse",
	.synopsis = "[--node NAME | --socket PATH] [options] DIR",
	.does = "Show the memory of a fabric as files: DIR/REGION, one a region, and "
		"DIR/regions.json.",
	.status = "no daemon serves the host, or DIR cannot be mounted",
	.examples = "  weft-fuse --node h0 /mnt/fabric\n"
		    "  dd if=image of=/mnt/fabric/g0 bs=1M\n"
		    "  fusermount3 -u /mnt/fabric\n",
	CLI_OPTIONS(options),
};

static struct main_options opt;
static const char *main_folder; /* as it was given */
static int main_parent = -1; /* pipe to the process that was started; -1: this one is */

/* An absolute path, as the process leaves its folder. */
static char *
main_absolute(const char *path)
{
	char here[PATH_MAX], *text;

	if (path[0] == '/')
		return strdup(path);
	if (getcwd(here, sizeof(here)) == NULL ||
		asprintf(&text, "%s/%s", strcmp(here, "/") == 0 ? "" : here, path) < 0)
		cli_fail("%s: this folder has no path: %s", path, strerror(errno));
	return text;
}

/* What weft_attach() is to be asked for; NULL: it looks. */
static char *
main_target(void)
{
	const char *env = getenv("WEFT_SOCKET");

	if (opt.socket != NULL)
		return main_absolute(opt.socket);
	if (opt.node != NULL)
		return strdup(opt.node);
	if (env == NULL || env[0] == '\0')
		return NULL;
	return strchr(env, '/') != NULL ? main_absolute(env) : strdup(env);
}

static void
main_judge(int argc, char **argv)
{
	if (optind + 1 != argc)
		cli_usage("expected DIR, got %d operands", argc - optind);
	main_folder = argv[optind];
	reach_judge(opt.node, opt.socket);
}

/* Go on in another process. This one ends when that one serves, or as it ends. */
static void
main_fork(void)
{
	int ends[2], status;
	char byte;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) != 0 || (pid = fork()) < 0)
		cli_fail("no process can be started: %s", strerror(errno));
	if (pid == 0) {
		close(ends[0]);
		main_parent = ends[1];
		return;
	}
	close(ends[1]);
	if (read(ends[0], &byte, 1) == 1)
		_exit(EXIT_SUCCESS);
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		cli_fail("%s: the process that was to serve it was killed", main_folder);
	_exit(WEXITSTATUS(status));
}

/*
 * Whether nobody wants the mount any more: a signal came while the daemon did not answer, or who
 * started it has gone, whose end of the pipe is closed then.
 */
static bool
main_is_unwanted(void)
{
	struct pollfd parent = { .fd = main_parent };
	sigset_t came;

	if (sigpending(&came) == 0 &&
		(sigismember(&came, SIGINT) == 1 || sigismember(&came, SIGTERM) == 1 ||
			sigismember(&came, SIGHUP) == 1))
		return true;
	return poll(&parent, 1, 0) == 1 && (parent.revents & POLLERR) != 0;
}

static void
main_ready(void)
{
	int null;

	if (main_parent < 0) {
		printf("%s: memory of host %s, %u threads\n", main_folder, fabric_node(),
			opt.n_threads);
		fflush(stdout);
		return;
	}
	null = open("/dev/null", O_RDWR);
	setsid();
	if (chdir("/") != 0 || null < 0)
		cli_warn("%s: the folder and terminal that it was started in stay in use",
			main_folder);
	for (int fd = STDIN_FILENO; null >= 0 && fd <= STDERR_FILENO; fd++)
		dup2(null, fd);
	if (null > STDERR_FILENO)
		close(null);
	/* Whoever started it may have gone. */
	if (write(main_parent, "", 1) == 1)
		close(main_parent);
}

static void
main_take_side(const char *folder)
{
	char *real = opt.side == NULL ? NULL : realpath(opt.side, NULL);
	const bool is_same = real != NULL && strcmp(real, folder) == 0;
	const int rc = opt.side == NULL ? 0 : side_begin(opt.side);

	free(real);
	if (is_same)
		cli_fail("--side %s: expected another folder than the one that is mounted on",
			opt.side);
	if (rc == -EBUSY)
		cli_fail("--side %s: another weft-fuse has it: expected a folder of its own",
			opt.side);
	if (rc != 0)
		cli_fail("--side %s: %s: expected a folder to write to", opt.side, strerror(-rc));
}

/* The terminal has gone. */
static void
main_hang_up(int sig)
{
	(void)sig;
	raise(SIGTERM);
}

static void
main_serve(void)
{
	const struct serve_options so = { .n_threads = opt.n_threads, .is_direct = opt.is_direct };
	static char *target, *folder; /* static: cli_fail() ends from below */
	struct fuse_session *se;
	int rc;

	target = main_target();
	folder = mount_prepare(main_folder);
	rc = fabric_begin(target);
	if (rc == 0)
		rc = serve_prepare(&so);
	if (rc != 0)
		cli_fail("%s", rc == -ENOMEM ? strerror(ENOMEM) : weft_error(NULL));
	main_take_side(folder);
	nodes_begin(opt.side != NULL);
	serve_look();
	if (main_is_unwanted())
		cli_fail("%s: stopped before it was mounted", main_folder);
	se = mount_begin(folder, fabric_node());
	serve_run(se, main_ready);
	mount_end(se);
	serve_end();
	side_end();
	nodes_end();
	fabric_end();
	free(folder);
	free(target);
}

int
main(int argc, char **argv)
{
	sigset_t stop;

	signal(SIGPIPE, SIG_IGN);
	cli_parse(&program, &opt, argc, argv);
	main_judge(argc, argv);
	if (!opt.is_foreground)
		main_fork();
	/* Signals come where serve_run() sleeps, and to no other thread. */
	sigemptyset(&stop);
	sigaddset(&stop, SIGINT);
	sigaddset(&stop, SIGTERM);
	sigaddset(&stop, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &stop, NULL);
	cli_catch_stop();
	/* nohup(1) has it ignored. */
	if (signal(SIGHUP, main_hang_up) == SIG_IGN)
		signal(SIGHUP, SIG_IGN);
	main_serve();
	cli_exit(EXIT_SUCCESS);
}
