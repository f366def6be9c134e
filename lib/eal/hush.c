/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * EAL answers a wrong option with a hundred lines of help on standard output and says several times
 * on standard error that it fails. While it starts, both are kept away: what it wrote to standard
 * error comes after all if it started, and its first words become ours if it did not.
 */

#include "eal_priv.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

/* The handler of a crash needs it. One EAL a process, so one of these. */
static struct {
	int out, err; /* those of the process */
	int text; /* what comes to standard error meanwhile */
	struct sigaction before;
} hushed = { .out = -1, .err = -1, .text = -1 };

/* Pass the text on to what is standard error now. Only calls that a signal handler may make. */
static void
hush_tell(void)
{
	char buf[512];
	off_t at = 0;
	ssize_t n;

	while ((n = pread(hushed.text, buf, sizeof(buf), at)) > 0) {
		if (write(STDERR_FILENO, buf, (size_t)n) != n)
			return;
		at += n;
	}
}

static void
hush_on_abort(int sig)
{
	dup2(hushed.err, STDERR_FILENO);
	hush_tell();
	raise(sig); /* the action was reset */
}

static void
hush_close(void)
{
	const int fd[] = { hushed.out, hushed.err, hushed.text };

	for (size_t i = 0; i < WEFT_ARRAY_SIZE(fd); i++)
		if (fd[i] >= 0)
			close(fd[i]);
	hushed.out = hushed.err = hushed.text = -1;
}

bool
eal_hush_begin(void)
{
	const struct sigaction on_abort = { .sa_handler = hush_on_abort,
		.sa_flags = (int)SA_RESETHAND };
	const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
	bool is_hushed;

	fflush(stdout);
	fflush(stderr);
	hushed.out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	hushed.err = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	hushed.text = memfd_create("eal", MFD_CLOEXEC);
	is_hushed = nowhere >= 0 && hushed.out >= 0 && hushed.err >= 0 && hushed.text >= 0 &&
	            dup2(nowhere, STDOUT_FILENO) >= 0 && dup2(hushed.text, STDERR_FILENO) >= 0;
	if (nowhere >= 0)
		close(nowhere);
	if (is_hushed) {
		sigaction(SIGABRT, &on_abort, &hushed.before);
		return true;
	}
	/* Standard output may be away already. */
	if (hushed.out >= 0)
		dup2(hushed.out, STDOUT_FILENO);
	hush_close();
	return false;
}

/* First line of what was written, without the name of who said it. */
static void
hush_first_line(char *why, size_t len)
{
	const ssize_t n = pread(hushed.text, why, len - 1, 0);
	char *said;

	why[n > 0 ? n : 0] = '\0';
	why[strcspn(why, "\n")] = '\0';
	said = strstr(why, ": ");
	if (said != NULL)
		memmove(why, said + 2, strlen(said + 2) + 1);
}

void
eal_hush_end(bool is_good, char *why, size_t len)
{
	fflush(stdout);
	fflush(stderr);
	dup2(hushed.out, STDOUT_FILENO);
	dup2(hushed.err, STDERR_FILENO);
	sigaction(SIGABRT, &hushed.before, NULL);
	if (is_good)
		hush_tell();
	else
		hush_first_line(why, len);
	hush_close();
}
