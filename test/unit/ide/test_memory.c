/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Memory for keys, judged by the kernel: locked, left out of dumps, gone in children; a process
 * that nobody may dump; random bytes that fail closed.
 */

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "weft_test.h"

#include "weft_secret.h"

/* AddressSanitizer makes mlock() do nothing. */
#if defined(__SANITIZE_ADDRESS__)
#define LOCKS false
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define LOCKS false
#endif
#endif
#ifndef LOCKS
#define LOCKS true
#endif

/* The VmFlags of the mapping that @p mem is in, as /proc/self/smaps has them. */
static void
flags_of(const void *mem, char *flags, size_t len)
{
	FILE *f = fopen("/proc/self/smaps", "r");
	bool here = false;
	char line[512];

	assert_non_null(f);
	flags[0] = '\0';
	while (fgets(line, sizeof(line), f) != NULL) {
		unsigned long from, to;

		if (sscanf(line, "%lx-%lx ", &from, &to) == 2)
			here = (uintptr_t)mem >= from && (uintptr_t)mem < to;
		else if (here && strncmp(line, "VmFlags:", 8) == 0)
			snprintf(flags, len, "%s", line);
	}
	fclose(f);
}

WEFT_TEST(secrets_are_locked_and_not_dumped)
{
	static const size_t lens[] = { 1, 32, 4096, 4097, 100000 };
	char flags[512];

	for (size_t i = 0; i < WEFT_ARRAY_SIZE(lens); i++) {
		uint8_t *mem = weft_secret_alloc(lens[i]);

		assert_non_null(mem);
		for (size_t k = 0; k < lens[i]; k++)
			assert_int_equal(mem[k], 0);
		flags_of(mem + lens[i] - 1, flags, sizeof(flags));
		if ((LOCKS && strstr(flags, " lo") == NULL) || strstr(flags, " dd") == NULL ||
			strstr(flags, " wf") == NULL)
			fail_msg("the kernel says %s", flags);
		memset(mem, 0xA5, lens[i]);
		weft_secret_free(mem, lens[i]);
	}
	weft_secret_free(NULL, 10);
	assert_null(weft_secret_alloc(0));
	assert_null(weft_secret_alloc(SIZE_MAX));
}

static int
status_of(void (*child)(void))
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		child();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static uint8_t *secret;

static void
child_sees_zeros(void)
{
	for (unsigned int i = 0; i < 64; i++)
		if (secret[i] != 0)
			_exit(1);
}

WEFT_TEST(a_forked_child_has_no_secret)
{
	secret = weft_secret_alloc(64);
	assert_non_null(secret);
	memset(secret, 0x5A, 64);
	assert_int_equal(status_of(child_sees_zeros), 0);
	assert_int_equal(secret[63], 0x5A);
	weft_secret_free(secret, 64);
}

static void
child_aborts(void)
{
	const struct rlimit core = { RLIM_INFINITY, RLIM_INFINITY };

	/* As far as limits go a core would be written. */
	setrlimit(RLIMIT_CORE, &core);
	if (weft_secret_process() != 0 || prctl(PR_GET_DUMPABLE) != 0)
		_exit(2);
	setrlimit(RLIMIT_CORE, &core);
	abort();
}

/* The flag of the status says whether the kernel dumped core. */
WEFT_TEST(a_process_with_secrets_is_not_dumped)
{
	int status;

	status = status_of(child_aborts);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGABRT);
	assert_false(WCOREDUMP(status));
}

#define MARK "a line that every core of this test holds"

static uint8_t *ordinary;
static volatile unsigned int step = 5;

static void
child_dumps_core(void)
{
	const struct rlimit core = { RLIM_INFINITY, RLIM_INFINITY };

	setrlimit(RLIMIT_CORE, &core);
	/* Of this process's own: nothing it inherited. */
	secret = weft_secret_alloc(64);
	ordinary = malloc(256);
	if (secret == NULL || ordinary == NULL)
		_exit(3);
	/* Byte by byte, so that no constant and no vector register of the core has it. */
	for (unsigned int i = 0; i < 64; i++)
		((volatile uint8_t *)secret)[i] = (uint8_t)(0xC3 ^ step * i);
	memset(ordinary, 0, 256);
	memcpy(ordinary + 100, MARK, sizeof(MARK));
	memset(ordinary + 100, 'A', 1);
	/* The compiler may not leave out what nobody but the core sees. */
	__asm__ volatile("" : : "r"(secret), "r"(ordinary) : "memory");
	abort();
}

/*
 * The same process without the flag: where a core is written, it holds everything but the secret.
 */
WEFT_TEST(a_core_holds_no_secret)
{
	char dir[] = "/tmp/weft-test-core-XXXXXX", here[512], cmd[600];
	uint8_t want[64], mark[sizeof(MARK)] = MARK;
	size_t len = 0;
	char *core;
	FILE *f;

	assert_non_null(getcwd(here, sizeof(here)));
	assert_non_null(mkdtemp(dir));
	assert_int_equal(chdir(dir), 0);
	status_of(child_dumps_core);
	snprintf(cmd, sizeof(cmd), "cat %s/core* 2>/dev/null", dir);
	f = popen(cmd, "r");
	core = malloc(64u << 20);
	assert_true(f != NULL && core != NULL);
	if (core == NULL)
		return; /* for the compiler */
	len = fread(core, 1, 64u << 20, f);
	pclose(f);
	snprintf(cmd, sizeof(cmd), "rm -rf %s", dir);
	assert_int_equal(chdir(here), 0);
	assert_int_equal(system(cmd), 0);
	for (unsigned int i = 0; i < 64; i++)
		want[i] = (uint8_t)(0xC3 ^ step * i);
	mark[0] = 'A';
	if (len == 0) {
		print_message(
			"no core is written into the working directory here: not looked at\n");
	} else {
		assert_non_null(memmem(core, len, mark, sizeof(mark)));
		assert_null(memmem(core, len, want, 16));
	}
	free(core);
}

static void
child_without_lockable_memory(void)
{
	const struct rlimit none = { 0, 0 };

	/* Root is not bound by the limit. */
	if (setrlimit(RLIMIT_MEMLOCK, &none) != 0 || (geteuid() == 0 && seteuid(65534) != 0))
		_exit(3);
	if (weft_secret_alloc(32) != NULL)
		_exit(1);
}

WEFT_TEST(memory_that_cannot_be_locked_is_not_given)
{
	if (!LOCKS) {
		print_message("mlock does nothing under AddressSanitizer\n");
		return;
	}
	assert_int_equal(status_of(child_without_lockable_memory), 0);
}

/* getrandom() is refused from here on. */
static void
child_without_random_bytes(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getrandom, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog filter = { WEFT_ARRAY_SIZE(code), code };
	uint8_t out[40];

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
		_exit(77);
	memset(out, 7, sizeof(out));
	if (weft_secret_random(NULL, out, sizeof(out)))
		_exit(1);
	for (unsigned int i = 0; i < sizeof(out); i++)
		if (out[i] != 0)
			_exit(2);
}

WEFT_TEST(random_bytes_fail_closed)
{
	uint8_t a[600] = { 0 }, b[600] = { 0 };
	unsigned int same = 0;
	int status;

	assert_true(weft_secret_random(NULL, a, sizeof(a)));
	assert_true(weft_secret_random(NULL, b, sizeof(b)));
	for (unsigned int i = 0; i < sizeof(a); i++)
		same += a[i] == b[i];
	assert_in_range(same, 0, 40);
	status = status_of(child_without_random_bytes);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
		print_message("no seccomp here: failing of getrandom was not tried\n");
		return;
	}
	assert_int_equal(status, 0);
}
