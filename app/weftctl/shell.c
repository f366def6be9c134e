/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The loop of commands. On a terminal editline reads them; what fails shows its status in the next
 * prompt. From a pipe or a file the first that fails ends all with its status, as who wrote them
 * counts on those before.
 */

#include "shell.h"

#include <errno.h>
#include <fcntl.h>
#include <histedit.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"
#include "ctl.h"
#include "shell_edit.h"

struct shell {
	Tokenizer *words;
	FILE *in; /* commands; NULL: a terminal, by `edit` */
	struct edit *edit;
	unsigned int line; /* number, of `in` */
	int status; /* of the last command */
	bool is_over;
};

static volatile sig_atomic_t shell_was_interrupted;

static void
shell_on_interrupt(int sig)
{
	(void)sig;
	shell_was_interrupted = 1;
}

/* Standard input has the commands: one that reads it would eat them. */
static void
shell_take_input_away(const struct shell *s)
{
	const int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);

	/* At its end a program sets the file back to where it read to: not this one's. */
	close(fileno(s->in));
	dup2(nothing, STDIN_FILENO);
	close(nothing);
}

static void
shell_help(int n, char **words)
{
	if (n > 0 && !ctl_help(n, words))
		cli_usage(
			"help: expected the first words of a command, got \"%s\"; help lists them",
			words[0]);
	if (n == 0)
		printf("%s\n  help WORD [WORD]: a command's options; exit, quit, or the end of "
		       "input: "
		       "leave\n",
			ctl_program.details);
	cli_exit(EXIT_SUCCESS);
}

/* In the process of the command. */
static void __attribute__((noreturn)) shell_child(const struct shell *s, int n, const char **words)
{
	static char name[48] = "weftctl";
	char **argv = calloc((size_t)n + 2, sizeof(*argv));

	signal(SIGINT, SIG_DFL);
	signal(SIGQUIT, SIG_DFL);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (s->in != NULL) {
		snprintf(name, sizeof(name), "weftctl: line %u", s->line);
		shell_take_input_away(s);
	}
	/* What begins each line of an error. */
	program_invocation_short_name = name;
	if (argv == NULL)
		cli_fail("out of memory");
	argv[0] = name;
	memcpy(argv + 1, words, (size_t)n * sizeof(*argv));
	if (strcmp(argv[1], SHELL_HELP) == 0 || strcmp(argv[1], "?") == 0)
		shell_help(n - 1, argv + 2);
	ctl_command(n + 1, argv);
}

static int
shell_wait(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return EXIT_FAILURE;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* What is not of a command: with the number of the line, where it has one. */
static void
shell_refuse(const struct shell *s, const char *where, const char *expected, const char *got)
{
	char line[32] = "";

	if (s->in != NULL)
		snprintf(line, sizeof(line), "line %u: ", s->line);
	cli_warn("%s%s%s%s, got \"%.*s\"", line, where, where[0] == '\0' ? "" : ": ", expected,
		(int)strcspn(got, "\r\n"), got);
}

static int
shell_command(struct shell *s, int n, const char **words)
{
	pid_t pid;

	if (strcmp(words[0], SHELL_EXIT) == 0 || strcmp(words[0], SHELL_QUIT) == 0) {
		if (n > 1) {
			shell_refuse(s, words[0], "expected nothing behind it", words[1]);
			return CLI_USAGE;
		}
		s->is_over = true;
		return EXIT_SUCCESS;
	}
	fflush(NULL);
	pid = fork();
	if (pid == 0)
		shell_child(s, n, words);
	if (pid < 0) {
		cli_warn("a process for the command: %s", strerror(errno));
		return EXIT_FAILURE;
	}
	return shell_wait(pid);
}

/* Answers of tok_str() for a line that is not over. */
enum { SHELL_IN_SINGLE = 1, SHELL_IN_DOUBLE = 2 };

/* From the quote on that does not end, or the \ that is the last of the line. */
static const char *
shell_open_quote(const char *line)
{
	const char *open = NULL;

	for (; *line != '\0' && *line != '\n'; line++) {
		if (*line == '\\' && (open == NULL || *open == '"')) {
			if (line[1] == '\0' || line[1] == '\n')
				return open != NULL ? open : line;
			line++;
		} else if (open != NULL && *line == *open) {
			open = NULL;
		} else if (open == NULL && (*line == '"' || *line == '\'')) {
			open = line;
		}
	}
	return open != NULL ? open : "";
}

/* One line: empty, a remark, or a command. */
static int
shell_line(struct shell *s, const char *line)
{
	const char **words;
	int n, rc;

	line += strspn(line, " \t\r\n");
	if (line[0] == '#' || line[0] == '\0')
		return s->in != NULL ? EXIT_SUCCESS : s->status;
	tok_reset(s->words);
	rc = tok_str(s->words, line, &n, &words);
	if (rc == 0)
		return n == 0 ? EXIT_SUCCESS : shell_command(s, n, words);
	shell_refuse(s, "",
		rc == SHELL_IN_SINGLE   ? "expected the quote ' to end in its line"
		: rc == SHELL_IN_DOUBLE ? "expected the quote \" to end in its line"
					: "expected no \\ at the end of the line",
		shell_open_quote(line));
	return CLI_USAGE;
}

static void
shell_read_lines(struct shell *s)
{
	char *line = NULL;
	size_t room = 0;
	ssize_t len;

	errno = 0;
	while (!s->is_over && s->status == 0 && (len = getline(&line, &room, s->in)) >= 0) {
		s->line++;
		if (strlen(line) != (size_t)len) {
			cli_warn("line %u: expected text, got a byte of 0", s->line);
			s->status = CLI_USAGE;
		} else {
			s->status = shell_line(s, line);
		}
		errno = 0;
	}
	if (ferror(s->in)) {
		cli_warn("standard input: %s", strerror(errno));
		s->status = CLI_USAGE;
	}
	free(line);
}

static void
shell_read_terminal(struct shell *s)
{
	struct sigaction interrupt = { .sa_handler = shell_on_interrupt, .sa_flags = SA_RESTART };
	const char *line;

	/* They are the command's, not ours. */
	sigaction(SIGINT, &interrupt, NULL);
	signal(SIGQUIT, SIG_IGN);
	puts("weftctl: Tab completes, help lists commands, exit or Ctrl-D leaves");
	while (!s->is_over && (line = edit_line(s->edit, s->status)) != NULL) {
		shell_was_interrupted = 0;
		s->status = shell_line(s, line);
		edit_keep(s->edit, line);
		/* The terminal has shown ^C. */
		if (shell_was_interrupted != 0)
			putchar('\n');
	}
	if (!s->is_over)
		putchar('\n');
}

int
shell_run(void)
{
	struct shell s = { .words = tok_init(NULL) };
	const bool is_terminal = isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1;

	setlocale(LC_CTYPE, "");
	s.edit = is_terminal ? edit_open() : NULL;
	if (s.edit == NULL) {
		const int fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);

		s.in = fd < 0 ? NULL : fdopen(fd, "r");
		if (s.in == NULL)
			cli_usage("standard input: %s", strerror(errno));
	}
	if (s.words == NULL)
		cli_fail("out of memory");
	if (s.in != NULL)
		shell_read_lines(&s);
	else
		shell_read_terminal(&s);
	if (s.in != NULL)
		fclose(s.in);
	edit_close(s.edit);
	tok_end(s.words);
	return is_terminal ? EXIT_SUCCESS : s.status;
}
