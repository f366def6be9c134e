/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Output files: made, emptied, refused; a FIFO is never waited for, a link not followed by root. */

#include "weft_test.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "weft_file.h"

static char folder[] = "/tmp/weft-file-XXXXXX";
static char path[64], other[64];

static void
write_there(const char *text)
{
	int fd = weft_file_create(path, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

WEFT_TEST(a_file_is_made_and_emptied)
{
	struct stat st;
	FILE *f;

	write_there("more than later");
	write_there("less");
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, 4);
	assert_int_equal(st.st_mode & 0777, 0600);
	f = weft_file_stream(path);
	assert_non_null(f);
	assert_int_equal(fcntl(fileno(f), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(weft_file_create("/nonesuch/f", 0600), -ENOENT);
	assert_string_equal(weft_file_error(-ENOENT), strerror(ENOENT));
	assert_null(weft_file_stream(folder));
	assert_int_equal(errno, EISDIR);
}

/* Limits of a file's size stand for a disk that is full. */
WEFT_TEST(what_is_not_written_to_its_end_is_removed)
{
	struct rlimit before, none;
	FILE *f;

	f = weft_file_stream(path);
	assert_non_null(f);
	assert_true(fputs("all of it", f) >= 0);
	assert_int_equal(weft_file_close(f, path, 0), 0);
	assert_int_equal(access(path, F_OK), 0);
	/* What was written before is said, and removed. */
	f = weft_file_stream(path);
	assert_non_null(f);
	assert_int_equal(weft_file_close(f, path, -EDOM), -EDOM);
	assert_int_equal(access(path, F_OK), -1);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	none = before;
	none.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
	f = weft_file_stream(path);
	assert_non_null(f);
	assert_true(fputs("nothing of it", f) >= 0);
	assert_int_equal(weft_file_close(f, path, 0), -EFBIG);
	assert_int_equal(access(path, F_OK), -1);
	/* Another file that has the name by now is not ours. */
	f = weft_file_stream(path);
	assert_non_null(f);
	assert_int_equal(rename(path, other), 0);
	close(weft_file_create(path, 0600));
	assert_true(fputs("nothing of it", f) >= 0);
	assert_int_equal(weft_file_close(f, path, 0), -EFBIG);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(unlink(other), 0);
}

WEFT_TEST(a_fifo_needs_its_reader_first)
{
	int reader, fd;

	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(weft_file_create(path, 0600), -ENXIO);
	assert_non_null(strstr(weft_file_error(-ENXIO), "start the reader first"));
	reader = open(path, O_RDONLY | O_NONBLOCK);
	assert_true(reader >= 0);
	fd = weft_file_create(path, 0600);
	assert_true(fd >= 0);
	assert_int_equal(fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
	close(fd);
	close(reader);
	assert_int_equal(unlink(path), 0);
}

WEFT_TEST(root_follows_no_link)
{
	assert_int_equal(symlink(other, path), 0);
	assert_int_equal(weft_file_is_link(path), geteuid() == 0);
	if (geteuid() == 0) {
		assert_int_equal(weft_file_create(path, 0600), -ELOOP);
		assert_int_equal(access(other, F_OK), -1);
		assert_non_null(strstr(weft_file_error(-ELOOP), "symbolic link"));
	} else {
		write_there("x");
		assert_int_equal(unlink(other), 0);
	}
	assert_int_equal(unlink(path), 0);
	/* A link of the system's. */
	assert_false(weft_file_is_link("/dev/stdout"));
	assert_false(weft_file_is_link("/proc/self/fd/1"));
	assert_false(weft_file_is_link("/nonesuch"));
}

WEFT_TEST(a_private_folder_is_ours_alone)
{
	assert_true(weft_file_is_private_dir(folder));
	assert_false(weft_file_is_private_dir("/nonesuch"));
	assert_false(weft_file_is_private_dir("/tmp"));
	write_there("x");
	assert_false(weft_file_is_private_dir(path));
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink(folder, path), 0);
	assert_false(weft_file_is_private_dir(path));
	assert_int_equal(unlink(path), 0);
	assert_int_equal(chmod(folder, 0750), 0);
	assert_false(weft_file_is_private_dir(folder));
	assert_int_equal(chmod(folder, 0700), 0);
}

WEFT_TEST(a_folder_may_be_passed_and_neither_listed_nor_written)
{
	static const mode_t good[] = { 0700, 0711, 0710, 0701 };
	static const mode_t bad[] = { 0755, 0715, 0751, 0713, 0731, 0777 };

	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(good); i++) {
		assert_int_equal(chmod(folder, good[i]), 0);
		assert_true(weft_file_is_passed_dir(folder));
		assert_int_equal(weft_file_is_private_dir(folder), good[i] == 0700);
	}
	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(bad); i++) {
		assert_int_equal(chmod(folder, bad[i]), 0);
		assert_false(weft_file_is_passed_dir(folder));
	}
	assert_int_equal(chmod(folder, 0700), 0);
	assert_false(weft_file_is_passed_dir("/nonesuch"));
	assert_int_equal(symlink(folder, path), 0);
	assert_false(weft_file_is_passed_dir(path));
	assert_int_equal(unlink(path), 0);
}

int
main(void)
{
	int failed;

	if (mkdtemp(folder) == NULL)
		return 1;
	snprintf(path, sizeof(path), "%s/f", folder);
	snprintf(other, sizeof(other), "%s/other", folder);
	failed = weft_test_run();
	rmdir(folder);
	return failed;
}
