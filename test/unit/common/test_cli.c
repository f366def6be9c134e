/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What all programs share: numbers and words of a command line, files for reports, and what a
 * topology says of retry. What ends a program ends a process of the test's.
 */

#include "weft_test.h"

#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"
#include "json.h"
#include "words.h"

static char folder[] = "/tmp/weft-cli-XXXXXX";

/* @p run ends its process with that status and one line on standard error that has that text. */
static void
dies(void (*run)(const char *arg), const char *arg, int status, const char *text)
{
	char said[2 * PATH_MAX] = "";
	int err[2], how;
	pid_t pid;
	ssize_t n = 0, more;

	assert_int_equal(pipe(err), 0);
	fflush(stdout);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		dup2(err[1], STDERR_FILENO);
		run(arg);
		exit(0);
	}
	close(err[1]);
	while ((more = read(err[0], said + n, sizeof(said) - 1 - (size_t)n)) > 0)
		n += more;
	close(err[0]);
	assert_int_equal(waitpid(pid, &how, 0), pid);
	assert_true(WIFEXITED(how));
	if (WEXITSTATUS(how) != status || strstr(said, text) == NULL ||
		strncmp(said, "test_common_cli: ", n > 0 ? 17 : 0) != 0 ||
		strchr(said, '\n') != (n > 0 ? said + n - 1 : NULL))
		fail_msg("%.80s: status %d, said: %.200s", arg, WEXITSTATUS(how), said);
}

static void
fail_with_word(const char *text)
{
	cli_fail("expected a word, got \"%s\"", text);
}

static void
lack_memory(const char *text)
{
	struct rlimit space;

	getrlimit(RLIMIT_AS, &space);
	space.rlim_cur = text[0] == '\0' ? RLIM_INFINITY : (rlim_t)1 << 45;
	if (setrlimit(RLIMIT_AS, &space) != 0)
		_exit(99);
	cli_no_memory("no memory for %s", "x\n");
}

WEFT_TEST(a_limit_of_address_space_is_named_where_memory_lacks)
{
	dies(lack_memory, "limited", 1,
		"test_common_cli: no memory for x\\x0a: address space is limited to "
		"34359738368 KiB (ulimit -v): raise the limit or remove it\n");
	dies(lack_memory, "", 1, "test_common_cli: no memory for x\\x0a\n");
}

WEFT_TEST(an_error_is_one_line_whatever_words_hold)
{
	char word[50000], room[16];

	dies(fail_with_word, "a b", 1, "test_common_cli: expected a word, got \"a b\"\n");
	dies(fail_with_word, "\r\x1b[2J\n\t\x7f", 1, "got \"\\x0d\\x1b[2J\\x0a\\x09\\x7f\"\n");
	/* UTF-8 stays, but for its controls; what is none is shown as bytes. */
	dies(fail_with_word, "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", 1,
		"\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\"");
	dies(fail_with_word, "\xc2\x9b", 1, "\"\\xc2\\x9b\"");
	dies(fail_with_word, "\xff\xe2\x82", 1, "\"\\xff\\xe2\\x82\"");
	dies(fail_with_word, "\xed\xa0\x80\xc0\x80", 1, "\\xed\\xa0\\x80\\xc0\\x80");
	memset(word, 'w', sizeof(word) - 1);
	word[sizeof(word) - 1] = '\0';
	dies(fail_with_word, word, 1, "www ... www");
	for (size_t i = 0; i + 1 < sizeof(word); i++)
		word[i] = "\xe2\x82\xac"[i % 3];
	dies(fail_with_word, word, 1, "\xe2\x82\xac ... \xe2\x82\xac");
	assert_string_equal(
		cli_printable(room, sizeof(room), "123456789012345"), "123456789012345");
	assert_string_equal(
		cli_printable(room, sizeof(room), "1234567890123456"), "123456789012...");
	assert_string_equal(
		cli_printable(room, sizeof(room), "12345678901\x1b\x1b"), "12345678901...");
	assert_string_equal(cli_printable(room, sizeof(room), ""), "");
}

static void
number(const char *text)
{
	cli_number("--n", text, 2, 0x10);
}

WEFT_TEST(numbers_are_numbers_and_nothing_else)
{
	static const char *const bad[] = { "", "x", "-1", "+2", " 2", "2 ", "2x", "0x", "0xg", "1",
		"17", "0x11", "0X1", "99999999999999999999", "0x-2" };

	assert_int_equal(cli_number("--n", "2", 2, 16), 2);
	assert_int_equal(cli_number("--n", "010", 2, 16), 10); /* not octal */
	assert_int_equal(cli_number("--n", "0x10", 2, 16), 16);
	assert_int_equal(cli_number("--n", "0X0a", 2, 16), 10);
	assert_int_equal(cli_number("--n", "18446744073709551615", 0, UINT64_MAX), UINT64_MAX);
	for (size_t i = 0; i < WEFT_ARRAY_SIZE(bad); i++)
		dies(number, bad[i], 2, "--n: expected a number of 2 to 16, got \"");
}

WEFT_TEST(bytes_have_units_of_1024_and_may_be_hex)
{
	static const struct {
		const char *text;
		uint64_t v;
	} good[] = { { "0", 0 }, { "4096", 4096 }, { "0x1000", 4096 }, { "64K", 65536 },
		{ "0x10K", 16384 }, { "3M", 3 << 20 }, { "2G", UINT64_C(2) << 30 },
		{ "1T", UINT64_C(1) << 40 }, { "16777215T", UINT64_C(16777215) << 40 },
		{ "18446744073709551615", UINT64_MAX } };
	static const char *const bad[] = { "", "K", "0x", "0xK", "-1", " 1", "1 K", "1k", "1KK",
		"1P", "16777216T", "18446744073709551616", "18014398509481984K", "1.5M", "4096B" };
	uint64_t v;

	for (size_t i = 0; i < WEFT_ARRAY_SIZE(good); i++)
		if (!words_bytes(good[i].text, &v) || v != good[i].v)
			fail_msg("%s is not taken for %llu", good[i].text,
				(unsigned long long)good[i].v);
	for (size_t i = 0; i < WEFT_ARRAY_SIZE(bad); i++)
		if (words_bytes(bad[i], &v))
			fail_msg("\"%s\" is taken", bad[i]);
}

static const char *const words[] = { "cxl", "rxl", NULL };
static const char *many[100];

static void
word(const char *text)
{
	cli_word("--mode", text, words);
}

static void
one_of_many(const char *text)
{
	for (size_t i = 0; i < WEFT_ARRAY_SIZE(many) - 1; i++)
		many[i] = "a-word-of-some-length";
	cli_word("--many", text, many);
}

WEFT_TEST(words_are_listed_as_far_as_a_line_goes)
{
	assert_int_equal(cli_word("--mode", "rxl", words), 1);
	dies(word, "pcie", 2, "--mode: expected one of cxl, rxl, got \"pcie\"");
	dies(word, "", 2, "got \"\"");
	dies(one_of_many, "x", 2, "--many: expected one of a-word-of-some-length, a-word");
}

static void
kernels(const char *text)
{
	setenv("WEFT_CPU", text, 1);
	cli_cpu_features();
}

WEFT_TEST(arguments_of_dpdk_stand_behind_two_dashes)
{
	char *argv[] = { (char *)(uintptr_t) "p", (char *)(uintptr_t) "--x",
		(char *)(uintptr_t) "--", (char *)(uintptr_t) "-l0", NULL };
	char *const *eal_argv = argv;
	int eal_argc = 7;

	assert_int_equal(cli_split_eal(2, argv, &eal_argc, &eal_argv), 2);
	assert_int_equal(eal_argc, 0);
	assert_null(eal_argv);
	assert_int_equal(cli_split_eal(4, argv, &eal_argc, &eal_argv), 2);
	assert_int_equal(eal_argc, 1);
	assert_string_equal(eal_argv[0], "-l0");
	dies(kernels, "scalar", 0, "");
	dies(kernels, "scalar,abacus", 2,
		"WEFT_CPU=scalar,abacus: expected a comma-separated list");
}

static void
two_files(const char *second)
{
	cli_two_files("--out", "new", "--json", second);
}

WEFT_TEST(one_file_is_one_however_it_is_spelt)
{
	static const char *const one[] = { "new", "./new", "sub/../new", ".//new", "link/../new" };
	static const char *const others[] = { NULL, "-", "News", "sub/new", "none/../new",
		"link/new" };
	const char *const text = "--out and --json: expected two files, got \"new\" and \"";
	char here[512];

	assert_non_null(getcwd(here, sizeof(here)));
	assert_int_equal(chdir(folder), 0);
	assert_int_equal(mkdir("sub", 0755), 0);
	assert_int_equal(symlink("sub", "link"), 0);
	for (unsigned int is_there = 0; is_there < 2; is_there++) {
		if (is_there != 0)
			fclose(fopen("new", "w"));
		for (size_t i = 0; i < WEFT_ARRAY_SIZE(one); i++)
			dies(two_files, one[i], 2, text);
		for (size_t i = 0; i < WEFT_ARRAY_SIZE(others); i++)
			dies(two_files, others[i], 0, "");
	}
	assert_int_equal(unlink("new"), 0);
	assert_int_equal(unlink("link"), 0);
	assert_int_equal(rmdir("sub"), 0);
	assert_int_equal(chdir(here), 0);
}

/* --- tables of options --- */

struct wanted {
	uint8_t small, small_guard;
	uint16_t middle, middle_guard;
	uint32_t index, index_guard;
	uint64_t large, size;
	double real;
	bool flag, flag_guard;
	const char *text, *maybe, *own;
};

static void
read_own(const char *option, char *text, void *to)
{
	if (strcmp(text, "bad") == 0)
		cli_usage("%s: never that", option);
	((struct wanted *)to)->own = option[2] == 'o' ? "read" : NULL;
}

enum { FIRST = 1, SECOND = 2 };

#define CLI_INTO struct wanted
static const struct cli_option options[] = {
	{ CLI_SECTION("First section") },
	{ "small", "N", "3", "a byte", CLI_NUMBER(small, 1, 255), .tags = FIRST },
	{ "middle", "N", NULL, "two bytes", CLI_NUMBER(middle, 0, UINT16_MAX),
		.tags = FIRST | SECOND },
	{ "large", "N", "0x10", "eight", CLI_NUMBER(large, 0, UINT64_MAX) },
	{ "mode", NULL, "rxl", "a word", CLI_WORD(index, words), .letter = 'm' },
	{ CLI_SECTION("Second section") },
	{ "real", "R", "0.5", "a share", CLI_REAL(real, 0, 1, "0 to 1, if you please") },
	{ "size", "SIZE", NULL, "bytes", CLI_SIZE(size, 10, "ten bytes or more") },
	{ "flag", "[FILE]", NULL, "yes", CLI_FLAG(flag), .letter = 'f', .tags = SECOND },
	{ "text", "FILE", "preset", "some text", CLI_TEXT(text) },
	{ "maybe", "[FILE]", NULL, "a value, or none", CLI_OUTPUT(maybe) },
	{ "own-with-a-long-name", "VALUE,...", NULL,
		"read by the program; what is said of it goes on for more than a line, and is "
		"broken where there is a blank, never within aWordThatGoesOnForSomeTime",
		CLI_OWN(read_own) },
	{ "elsewhere", "X", NULL, "main() has it", .kind = CLI_KIND_ELSEWHERE },
};

static const struct cli_program program = {
	.name = "prog",
	.synopsis = "[options]",
	.does = "Do nothing.",
	.details = "  line 1\n  line 2\n",
	.status = "it did something",
	.examples = "  prog --small 7\n",
	CLI_OPTIONS(options),
};

/* @p line is parted at blanks. */
static uint64_t
parse(struct wanted *w, const char *line)
{
	static char text[512];
	char *argv[24] = { (char *)(uintptr_t) "test_common_cli" };
	int argc = 1;

	snprintf(text, sizeof(text), "%s", line);
	for (char *word = strtok(text, " "); word != NULL; word = strtok(NULL, " "))
		argv[argc++] = word;
	*w = (struct wanted){ .small_guard = 0xAA,
		.middle_guard = 0xAAAA,
		.index_guard = 0xAAAAAAAA,
		.flag_guard = true };
	optind = 0; /* from the beginning */
	return cli_parse(&program, w, argc, argv);
}

WEFT_TEST(options_are_read_after_their_presets)
{
	struct wanted w;
	uint64_t given = parse(&w, "");

	assert_int_equal(given, 0);
	assert_true(w.small == 3 && w.middle == 0 && w.large == 16 && w.index == 1);
	assert_true(w.real > 0.4 && w.real < 0.6 && w.size == 0 && !w.flag);
	assert_string_equal(w.text, "preset");
	assert_null(w.maybe);
	given = parse(&w, "--small 255 --mid=65535 -f --large 0xffffffffffffffff -mcxl --real 1e-1 "
			  "--size 2K --text=- --own-with a --maybe operand");
	assert_true(w.small == 255 && w.middle == 65535 && w.large == UINT64_MAX && w.index == 0);
	assert_true(w.real > 0.09 && w.real < 0.11 && w.size == 2048 && w.flag);
	assert_true(w.small_guard == 0xAA && w.middle_guard == 0xAAAA &&
		    w.index_guard == 0xAAAAAAAA && w.flag_guard);
	assert_string_equal(w.text, "-");
	assert_string_equal(w.own, "read");
	assert_string_equal(w.maybe, "operand");
	assert_true(cli_given(&program, given, FIRST) && cli_given(&program, given, SECOND));
	given = parse(&w, "--maybe --flag");
	assert_string_equal(w.maybe, "-");
	assert_true(!cli_given(&program, given, FIRST) && cli_given(&program, given, SECOND));
	parse(&w, "--maybe -");
	assert_string_equal(w.maybe, "-");
	parse(&w, "--maybe=x operand");
	assert_string_equal(w.maybe, "x");
}

static void
parse_and_warn(const char *line)
{
	struct wanted w;

	cli_no_effect(&program, parse(&w, line), SECOND, "here");
}

WEFT_TEST(bad_options_end_the_program)
{
	static const struct {
		const char *line, *says;
	} rows[] = {
		{ "--small 256", "--small: expected a number of 1 to 255, got \"256\"" },
		{ "--small=", "--small: expected a number" },
		{ "--maybe= --mode x",
			"--maybe: expected a file, or - for standard output, got nothing" },
		{ "--mode x", "--mode: expected one of cxl, rxl, got \"x\"" },
		{ "-mx", "--mode: expected one of cxl, rxl, got \"x\"" },
		{ "--real 2", "--real: expected 0 to 1, if you please, got \"2\"" },
		{ "--size 9", "--size: expected ten bytes or more, got \"9\"" },
		{ "--own-with-a-long-name bad", "--own-with-a-long-name: never that" },
		{ "--help=x", "--help: expected one of table, got \"x\"" },
		{ "--elsewhere 1", "unrecognized option '--elsewhere'" },
		{ "--frob", "unrecognized option '--frob'" },
		{ "--small", "option '--small' requires an argument" },
		{ "--flag=x", "option '--flag' doesn't allow an argument" },
		{ "--m 1",
			"option '--m' is ambiguous; possibilities: '--middle' '--mode' '--maybe'" },
	};

	for (size_t i = 0; i < WEFT_ARRAY_SIZE(rows); i++)
		dies(parse_and_warn, rows[i].line, 2, rows[i].says);
}

WEFT_TEST(options_without_effect_are_told_of_in_one_line)
{
	dies(parse_and_warn, "--small 1", 0, "");
	dies(parse_and_warn, "--flag --small 1 --mid 2", 0, "--middle, --flag: no effect here");
}

/* What @p print says of the program. */
static void
said(void (*print)(const struct cli_program *p), char *text, size_t room)
{
	FILE *f = tmpfile();
	const int out = dup(STDOUT_FILENO);

	assert_non_null(f);
	fflush(stdout);
	dup2(fileno(f), STDOUT_FILENO);
	print(&program);
	fflush(stdout);
	dup2(out, STDOUT_FILENO);
	close(out);
	rewind(f);
	text[fread(text, 1, room - 1, f)] = '\0';
	fclose(f);
}

WEFT_TEST(help_is_made_from_the_table)
{
	static const char *const lines[] = {
		"usage: prog [options]\n\nDo nothing.\n\n  line 1\n  line 2\n\nFirst section:\n",
		"\n  --small N                 a byte (3)\n",
		"\n  -m, --mode cxl|rxl        a word (rxl)\n\nSecond section:\n",
		"\n  -f, --flag [FILE]         yes\n",
		"name VALUE,...\n                            read by the program; ",
		"\n  --elsewhere X             main() has it\n",
		"\n\nExamples:\n  prog --small 7\n\nExit status: 0; 1 if it did something; 2 for",
	};
	char text[4096];

	said(cli_help, text, sizeof(text));
	for (size_t i = 0; i < WEFT_ARRAY_SIZE(lines); i++)
		if (strstr(text, lines[i]) == NULL)
			fail_msg("--help has not \"%s\" but:\n%s", lines[i], text);
	for (const char *l = text; *l != '\0'; l += strcspn(l, "\n") + 1)
		assert_true(strcspn(l, "\n") <= 100);
	said(cli_help_table, text, sizeof(text));
	assert_non_null(
		strstr(text, "\noption\tmode\t-m, --mode cxl|rxl\ta word (rxl)\tcxl rxl\n"));
	assert_non_null(strstr(text, "\nsection\tSecond section\n"));
}

/* --- reports --- */

static void
check(const char *path)
{
	json_check(path);
}

static void
root_again(void)
{
	if (setresuid(0, 0, 0) != 0)
		_exit(9);
}

/* Whoever looks at the process when it ends may need root's rights. */
static void
check_as_a_user(const char *path)
{
	if (atexit(root_again) != 0 || setresuid(65534, 65534, 0) != 0)
		_exit(9);
	json_check(path);
}

WEFT_TEST(a_report_that_cannot_be_written_is_refused_at_the_start)
{
	char here[512], path[96], long_path[PATH_MAX + 64];

	assert_non_null(getcwd(here, sizeof(here)));
	assert_int_equal(chdir(folder), 0);
	dies(check, NULL, 0, "");
	dies(check, "-", 0, "");
	dies(check, "new.json", 0, "");
	dies(check, "/dev/null", 0, "");
	assert_int_equal(access("new.json", F_OK), -1); /* asking makes nothing */
	dies(check, folder, 1, ": Is a directory");
	dies(check, "/nonesuch/r.json", 1, "--json /nonesuch/r.json: No such file");
	dies(check, "/dev/null/r.json", 1, ": Not a directory");
	memset(long_path, 'x', sizeof(long_path));
	memcpy(long_path, "./", 2);
	long_path[sizeof(long_path) - 1] = '\0';
	dies(check, long_path, 1, ": File name too long");
	snprintf(path, sizeof(path), "%s/closed", folder);
	assert_int_equal(mkdir(path, 0755), 0);
	snprintf(path, sizeof(path), "%s/closed/r.json", folder);
	/* A file there is, and may not be written; and there is none, and none may be made. */
	if (geteuid() == 0) {
		assert_int_equal(chmod(folder, 0755), 0);
		dies(check_as_a_user, path, 1, ": Permission denied");
		fclose(fopen(path, "w"));
		dies(check_as_a_user, path, 1, ": Permission denied");
		assert_int_equal(unlink(path), 0);
	}
	snprintf(path, sizeof(path), "%s/closed", folder);
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(chdir(here), 0);
}

WEFT_TEST(a_report_is_whole_or_the_reason_is_told)
{
	json_t *o = json_pack("{s:i}", "n", 1), *large = json_array();
	char path[64], text[32] = "";
	FILE *f;

	snprintf(path, sizeof(path), "%s/r.json", folder);
	assert_int_equal(json_write(path, o), 0);
	f = fopen(path, "r");
	assert_non_null(f);
	assert_int_equal(fread(text, 1, sizeof(text) - 1, f), 13);
	assert_string_equal(text, "{\n  \"n\": 1\n}\n");
	fclose(f);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(json_write("/nonesuch/r.json", o), -ENOENT);
	if (access("/dev/full", W_OK) == 0) {
		/* Seen when it is closed, or while it is written. */
		assert_int_equal(json_write("/dev/full", o), -ENOSPC);
		for (int i = 0; i < 10000; i++)
			json_array_append_new(large, json_integer(i));
		assert_int_equal(json_write("/dev/full", large), -ENOSPC);
	}
	json_decref(o);
	json_decref(large);
}

int
main(void)
{
	int failed;

	if (mkdtemp(folder) == NULL)
		return 1;
	failed = weft_test_run();
	rmdir(folder);
	return failed;
}
