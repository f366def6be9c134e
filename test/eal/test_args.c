/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Which memory, and which arguments EAL gets: pure, so DPDK is not started. */

#include "eal_test.h"

#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "eal_priv.h"

static const struct {
	const char *what;
	uint64_t huge_free_mb, avail_mb;
	unsigned int need_mb;
	int rc;
	enum eal_mem mem;
	const char *line; /* begins so */
} memory_rows[] = {
	{ "none", 0, 4096, 256, 0, EAL_MEM_PLAIN,
		"memory: no free hugepages, using 256 MB of ordinary pages (--no-huge)" },
	{ "one short", 255, 4096, 256, 0, EAL_MEM_PLAIN,
		"memory: only 255 MB of hugepages free, using 256 MB of ordinary pages" },
	{ "just enough", 256, 4096, 256, 0, EAL_MEM_HUGE,
		"memory: using 256 MB of 256 MB free hugepages (--in-memory)" },
	{ "hugepages are not in MemAvailable", 1024, 10, 256, 0, EAL_MEM_HUGE,
		"memory: using 256" },
	{ "just enough ordinary", 0, 256, 256, 0, EAL_MEM_PLAIN, "memory: no free hugepages" },
	{ "neither", 100, 255, 256, -ENOMEM, EAL_MEM_PLAIN,
		"too little memory: 256 MB needed, 255 MB available (100 MB in free hugepages)" },
};

WEFT_TEST(memory_is_chosen_by_what_is_free)
{
	for (size_t i = 0; i < WEFT_ARRAY_SIZE(memory_rows); i++) {
		const struct eal_mem_facts facts = { memory_rows[i].huge_free_mb,
			memory_rows[i].avail_mb };
		enum eal_mem mem = EAL_MEM_PLAIN;
		char line[192];

		print_message("%s\n", memory_rows[i].what);
		assert_int_equal(
			eal_mem_choose(&facts, memory_rows[i].need_mb, &mem, line, sizeof(line)),
			memory_rows[i].rc);
		assert_int_equal(mem, memory_rows[i].mem);
		assert_memory_equal(line, memory_rows[i].line, strlen(memory_rows[i].line));
	}
}

WEFT_TEST(machine_tells_its_memory)
{
	struct eal_mem_facts facts;

	eal_mem_read(&facts);
	assert_true(facts.avail_mb > 0);
}

static bool
has_arg(const struct eal_args *args, const char *arg)
{
	for (int i = 0; i < args->argc; i++)
		if (strcmp(args->argv[i], arg) == 0)
			return true;
	return false;
}

static bool
has_option(const struct eal_args *args, int n_ours, const char *head)
{
	for (int i = 0; i < n_ours; i++)
		if (strncmp(args->argv[i], head, strlen(head)) == 0)
			return true;
	return false;
}

static void
args_free(struct eal_args *args, int n_users)
{
	for (int i = 0; i < args->argc - n_users; i++)
		free(args->argv[i]);
	free(args->argv);
}

static void
build(struct eal_args *args, struct weft_eal_cfg *cfg, char *const *argv, int argc,
	enum eal_mem mem)
{
	struct eal_user user;

	cfg->user_argc = argc;
	cfg->user_argv = argv;
	eal_user_read(&user, argc, argv);
	assert_int_equal(eal_args_build(args, cfg, &user, user.mem ? EAL_MEM_USER : mem, 256), 0);
}

WEFT_TEST(defaults_need_neither_hugepages_nor_pci)
{
	struct weft_eal_cfg cfg = { .program = "weftd" };
	struct eal_args args;

	build(&args, &cfg, NULL, 0, EAL_MEM_PLAIN);
	assert_string_equal(args.argv[0], "weftd");
	assert_true(has_arg(&args, "--no-huge"));
	assert_true(has_arg(&args, "--no-shconf"));
	assert_true(has_arg(&args, "-m256"));
	assert_true(has_arg(&args, "--no-pci"));
	assert_true(has_arg(&args, "--iova-mode=va"));
	assert_true(has_option(&args, args.argc, "--lcores=0@("));
	assert_true(has_option(&args, args.argc, "--file-prefix=weftd-"));
	/* 22.11 refuses the two together. */
	assert_false(has_arg(&args, "--in-memory"));
	args_free(&args, 0);
}

WEFT_TEST(hugepages_are_taken_in_memory)
{
	static const char *const pci[] = { "0000:3b:00.0" };
	struct weft_eal_cfg cfg = { .pci = pci, .n_pci = 1, .lcores = "2-3" };
	struct eal_args args;

	build(&args, &cfg, NULL, 0, EAL_MEM_HUGE);
	assert_true(has_arg(&args, "--in-memory"));
	assert_true(has_arg(&args, "--lcores=2-3"));
	assert_false(has_arg(&args, "--no-huge"));
	assert_false(has_arg(&args, "--no-pci"));
	assert_false(has_option(&args, args.argc, "--iova-mode"));
	args_free(&args, 0);
}

WEFT_TEST(pci_devices_are_probed_by_name_only)
{
	static const char *const pci[] = { "0000:3b:00.0", "0000:3b:00.1" };
	struct weft_eal_cfg cfg = { .pci = pci, .n_pci = 2 };
	char *argv[] = { TEST_ARG("-b0000:00:05.0") };
	struct eal_args args;

	build(&args, &cfg, NULL, 0, EAL_MEM_PLAIN);
	assert_true(has_arg(&args, "-a0000:3b:00.0"));
	assert_true(has_arg(&args, "-a0000:3b:00.1"));
	assert_false(has_arg(&args, "--no-pci"));
	args_free(&args, 0);
	/* EAL takes one kind of list only. */
	build(&args, &cfg, argv, 1, EAL_MEM_PLAIN);
	assert_false(has_option(&args, args.argc - 1, "-a"));
	assert_false(has_arg(&args, "--no-pci"));
	args_free(&args, 1);
}

WEFT_TEST(who_shares_memory_keeps_off_the_lcores_of_secondary_processes)
{
	char type[] = "--proc-type=primary";
	char *argv[] = { type };
	struct weft_eal_cfg cfg = { 0 };
	struct eal_args args;
	char want[32];

	build(&args, &cfg, argv, 1, EAL_MEM_HUGE);
	snprintf(want, sizeof(want), "--lcores=%d@(", RTE_MAX_LCORE - 1);
	assert_true(has_option(&args, args.argc, want));
	args_free(&args, 1);
}

WEFT_TEST(several_lcores_are_spread_over_the_cpus)
{
	struct weft_eal_cfg cfg = { .n_lcores = 3 };
	struct eal_args args;
	cpu_set_t cpus;
	char want[64];
	int first, second;

	assert_int_equal(sched_getaffinity(0, sizeof(cpus), &cpus), 0);
	for (first = 0; !CPU_ISSET((size_t)first, &cpus); first++)
		;
	for (second = first + 1; second < CPU_SETSIZE && !CPU_ISSET((size_t)second, &cpus);
		second++)
		;
	if (second == CPU_SETSIZE)
		second = first;
	build(&args, &cfg, NULL, 0, EAL_MEM_PLAIN);
	snprintf(want, sizeof(want), "--lcores=0@%d,1@%d,2@", first, second);
	assert_true(has_option(&args, args.argc, want));
	args_free(&args, 0);
}

/* Where the user speaks, the default that would contradict is left out, however it is spelt. */
static const struct {
	const char *argv[2];
	int argc;
	const char *absent; /* no argument of ours begins so */
} user_rows[] = {
	{ { "--in-memory" }, 1, "--no-huge" },
	{ { "--no-huge" }, 1, "-m" },
	{ { "--no-huge", "--file-prefix=x" }, 2, "--no-shconf" },
	{ { "--socket-mem=64" }, 1, "-m" },
	{ { "--socket-mem", "64" }, 2, "--no-shconf" },
	{ { "--proc-type=secondary" }, 1, "--file-prefix" },
	{ { "-l", "0" }, 2, "--lcores" },
	{ { "-l0" }, 1, "--lcores" },
	{ { "--lcores=1@0" }, 1, "--lcores" },
	{ { "-a0000:00:01.0" }, 1, "--no-pci" },
	{ { "--allow", "0000:00:01.0" }, 2, "--no-pci" },
	{ { "--file-prefix=x" }, 1, "--file-prefix" },
	{ { "--iova-mode", "pa" }, 2, "--iova-mode" },
};

WEFT_TEST(user_arguments_come_last_and_silence_ours)
{
	for (size_t i = 0; i < WEFT_ARRAY_SIZE(user_rows); i++) {
		char *argv[2] = { TEST_ARG(user_rows[i].argv[0]), TEST_ARG(user_rows[i].argv[1]) };
		struct weft_eal_cfg cfg = { .program = NULL };
		struct eal_args args;
		int n = user_rows[i].argc;

		print_message("%s\n", argv[0]);
		build(&args, &cfg, argv, n, EAL_MEM_PLAIN);
		for (int a = 0; a < n; a++)
			assert_ptr_equal(args.argv[args.argc - n + a], argv[a]);
		assert_false(has_option(&args, args.argc - n, user_rows[i].absent));
		args_free(&args, n);
	}
}

WEFT_TEST(ordinary_pages_have_no_files_whoever_chose_them)
{
	char *argv[] = { TEST_ARG("--no-huge") };
	struct weft_eal_cfg cfg = { .program = "weftd" };
	struct eal_args args;

	build(&args, &cfg, argv, 1, EAL_MEM_HUGE);
	assert_true(has_arg(&args, "--no-shconf"));
	args_free(&args, 1);
}

WEFT_TEST(user_size_is_read_in_both_spellings)
{
	char *apart[] = { TEST_ARG("-m"), TEST_ARG("512") };
	char *joined[] = { TEST_ARG("-m512") };
	char *other[] = { TEST_ARG("--vdev"), TEST_ARG("net_null0") };
	struct eal_user user;

	eal_user_read(&user, 2, apart);
	assert_int_equal(user.size_mb, 512);
	assert_false(user.mem);
	eal_user_read(&user, 1, joined);
	assert_int_equal(user.size_mb, 512);
	eal_user_read(&user, 2, other);
	assert_int_equal(user.size_mb, 0);
	assert_null(user.bad_size);
}

WEFT_TEST(sizes_that_are_no_numbers_are_kept_apart)
{
	static const char *const bad[] = { "abc", "64x", "0", "", "-1", "+1", " 1", "1.5",
		"2147483648", "18446744073709551617" };
	char *most[] = { TEST_ARG("-m"), TEST_ARG("2147483647") };
	struct eal_user user;

	for (size_t i = 0; i < WEFT_ARRAY_SIZE(bad); i++) {
		/* A good one behind it mends nothing. */
		char *argv[] = { TEST_ARG("-m"), TEST_ARG(bad[i]), TEST_ARG("-m1") };

		print_message("\"%s\"\n", bad[i]);
		eal_user_read(&user, 3, argv);
		assert_ptr_equal(user.bad_size, argv[1]);
	}
	eal_user_read(&user, 2, most);
	assert_int_equal(user.size_mb, INT_MAX);
	assert_null(user.bad_size);
	/* EAL says itself that the value is missing. */
	eal_user_read(&user, 1, most);
	assert_null(user.bad_size);
}

WEFT_TEST(cpu_lists_survive_a_round_trip)
{
	static const char *const good[] = { "", "0", "1-3", "0,2", "0-1,4-7,1023" };
	static const char *const bad[] = { "x", "1-", "3-1", "1024", "1;2", "-", "-0", "+1", " 1",
		"1-+2", "1,", ",1", "1,,2", "18446744073709551617" };
	cpu_set_t set;
	char text[64], small[6];

	for (size_t i = 0; i < WEFT_ARRAY_SIZE(good); i++) {
		assert_true(weft_cpuset_parse(good[i], &set));
		weft_cpuset_format(&set, text, sizeof(text));
		assert_string_equal(text, good[i]);
	}
	for (size_t i = 0; i < WEFT_ARRAY_SIZE(bad); i++)
		assert_false(weft_cpuset_parse(bad[i], &set));
	assert_true(weft_cpuset_parse("0-1\n", &set));
	assert_int_equal(CPU_COUNT(&set), 2);
	/* Cut short, never overrun. */
	assert_true(weft_cpuset_parse("100-200,300-400", &set));
	weft_cpuset_format(&set, small, sizeof(small));
	assert_true(strlen(small) < sizeof(small));
}

WEFT_TEST(lcore_maps_are_checked)
{
	static const char *const good[] = { "0", "2-3", "1,3,5-7", "0@0,1@0", "(0-2)@1", "0@(0,1)",
		"(0,2)@(1-3),4" };
	static const char *const bad[] = { "", "x", "0,", ",0", "0-", "-1", "0-2@0", "0@0-2", "0@",
		"(0", "0)", "0 1", "0@1@2", "0--1", "-0", "(-0)", "(0,)", "(0,)@1", "0@(1,)",
		"()" };

	char err[256];
	cpu_set_t cpus;

	for (size_t i = 0; i < WEFT_ARRAY_SIZE(good); i++)
		if (!weft_lcores_parse(good[i], &cpus))
			fail_msg("%s is refused", good[i]);
	for (size_t i = 0; i < WEFT_ARRAY_SIZE(bad); i++)
		if (weft_lcores_parse(bad[i], &cpus))
			fail_msg("%s is taken", bad[i]);
	/* Of "lcores@cpus" the second counts, and a lone lcore is its own CPU. */
	assert_true(weft_lcores_parse("(5,6)@(0,1),7", &cpus));
	assert_int_equal(CPU_COUNT(&cpus), 3);
	assert_true(CPU_ISSET(0, &cpus) && CPU_ISSET(1, &cpus) && CPU_ISSET(7, &cpus));

	assert_true(weft_cpuset_parse("0-1", &cpus));
	assert_int_equal(weft_lcores_check("2@1,3@0", &cpus, err, sizeof(err)), 0);
	assert_int_equal(weft_lcores_check("1-3", &cpus, err, sizeof(err)), -EINVAL);
	assert_string_equal(err, "lcores \"1-3\": there is no CPU 2 here, only 0-1");
	assert_int_equal(weft_lcores_check("1;3", &cpus, err, sizeof(err)), -EINVAL);
	assert_string_equal(
		err, "lcores \"1;3\" cannot be read: expected such as 2-3 or 0@0,(1-2)@1");
}

/* As that user: what RUNTIME_DIRECTORY becomes, or "". */
static void
rundir_is(const char *root_dir, const char *users_dir, const char *tmp_dir, uid_t uid,
	const char *want)
{
	const char *got;

	unsetenv("RUNTIME_DIRECTORY");
	assert_int_equal(seteuid(uid), 0);
	eal_choose_rundir(root_dir, users_dir, tmp_dir);
	assert_int_equal(seteuid(0), 0);
	got = getenv("RUNTIME_DIRECTORY");
	assert_string_equal(got != NULL ? got : "", want);
}

WEFT_TEST(telemetry_finds_a_folder_of_the_users_own)
{
	const uid_t me = 54321, other = 54322;
	char top[] = "/tmp/weft-rundir-XXXXXX", users[64], users_me[96], dpdk[64], mine[64],
	     roots[64];

	if (geteuid() != 0)
		skip();
	unsetenv("XDG_RUNTIME_DIR");
	assert_non_null(mkdtemp(top));
	snprintf(users, sizeof(users), "%s/users", top);
	snprintf(users_me, sizeof(users_me), "%s/%u", users, me);
	snprintf(dpdk, sizeof(dpdk), "%s/dpdk", top);
	snprintf(mine, sizeof(mine), "%s/weft-%u", top, me);
	snprintf(roots, sizeof(roots), "%s/weft-0", top);
	assert_int_equal(chmod(top, 01777), 0);

	/* DPDK's fall-back is free, or ours: leave it to DPDK. */
	rundir_is(top, users, top, me, "");
	assert_int_equal(mkdir(dpdk, 0700), 0);
	assert_int_equal(chown(dpdk, me, me), 0);
	rundir_is(top, users, top, me, "");
	/* It is another's: a folder of our own, unless that is another's as well. */
	assert_int_equal(chown(dpdk, other, other), 0);
	rundir_is(top, users, top, me, mine);
	rundir_is(top, users, top, me, mine);
	assert_int_equal(chown(mine, other, other), 0);
	rundir_is(top, users, top, me, "");
	assert_int_equal(rmdir(mine), 0);
	assert_int_equal(symlink("/", mine), 0);
	rundir_is(top, users, top, me, "");
	/* Root writes where EAL does; the root of a user namespace may not. */
	rundir_is(top, users, top, 0, "");
	rundir_is(users, users, top, 0, roots);
	assert_int_equal(rmdir(roots), 0);
	/* What the user says himself counts, of root his own word only. */
	setenv("XDG_RUNTIME_DIR", users, 1);
	rundir_is(top, users, top, me, "");
	rundir_is(users, users, top, 0, roots);
	assert_int_equal(rmdir(roots), 0);
	unsetenv("XDG_RUNTIME_DIR");
	/* A login session's folder comes first. */
	assert_int_equal(mkdir(users, 0755), 0);
	assert_int_equal(mkdir(users_me, 0700), 0);
	assert_int_equal(chown(users_me, me, me), 0);
	rundir_is(top, users, top, me, users_me);

	assert_int_equal(
		unlink(mine) | rmdir(dpdk) | rmdir(users_me) | rmdir(users) | rmdir(top), 0);
}

WEFT_TEST(limits_are_told_with_what_is_needed)
{
	struct eal_limits l = {
		.files = 1024, .files_most = 4096, .space_mb = UINT64_MAX, .used_mb = 40
	};
	uint64_t wanted = 1;
	char err[256] = "";

	assert_int_equal(eal_limits_check(&l, 100, 300, &wanted, err, sizeof(err)), 0);
	assert_int_equal(wanted, 0);
	/* What the process may allow itself, it does. */
	assert_int_equal(eal_limits_check(&l, 2000, 300, &wanted, err, sizeof(err)), 0);
	assert_int_equal(wanted, 2048);
	l.files = l.files_most = 8;
	assert_int_equal(eal_limits_check(&l, 2, 300, &wanted, err, sizeof(err)), -EMFILE);
	assert_string_equal(err,
		"too few open files allowed: 50 needed, 8 allowed: raise the limit "
		"(ulimit -n 50)");
	l.files = l.files_most = 50;
	l.space_mb = 403;
	assert_int_equal(eal_limits_check(&l, 2, 300, &wanted, err, sizeof(err)), -ENOMEM);
	assert_string_equal(err,
		"too little address space: it is limited to 403 MB (ulimit -v): raise the limit or "
		"remove it, or use fewer or smaller packet buffers");
	l.space_mb = 404;
	assert_int_equal(eal_limits_check(&l, 2, 300, &wanted, err, sizeof(err)), 0);
	eal_limits_read(&l);
	assert_true(l.files <= l.files_most && l.used_mb > 0);
	eal_limits_raise_files(0);
	eal_limits_raise_files(l.files);
}
