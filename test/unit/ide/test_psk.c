/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* The key file: which ones are taken, and that every other is refused in one line without a key. */

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "weft_test.h"

#include "weft_secret.h"

#define DIGITS "00112233445566778899aabbccddeeffFFEEDDCCBBAA99887766554433221100"

static char dir[] = "/tmp/weft-test-psk-XXXXXX";
static char path[64];

static int
make_dir(void **state)
{
	(void)state;
	if (mkdtemp(dir) == NULL)
		return -1;
	snprintf(path, sizeof(path), "%s/key", dir);
	return 0;
}

static int
remove_dir(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(dir);
}

WEFT_TEST_AROUND(make_dir, remove_dir)

static void
put_bytes(const void *bytes, size_t len, mode_t mode)
{
	int fd;

	unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, len), (ssize_t)len);
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
}

static void
put(const char *text, mode_t mode)
{
	put_bytes(text, strlen(text), mode);
}

static void
refused(const char *name, int want, const char *text)
{
	char err[256] = "";

	errno = 0;
	assert_null(weft_psk_load(name, err, sizeof(err)));
	assert_int_equal(errno, want);
	if (strstr(err, text) == NULL || strchr(err, '\n') != NULL || strstr(err, name) == NULL)
		fail_msg("said: %s", err);
	assert_null(strstr(err, "001122"));
}

static struct weft_psk *
taken(void)
{
	char err[256] = "";
	struct weft_psk *psk = weft_psk_load(path, err, sizeof(err));

	if (psk == NULL)
		fail_msg("%s", err);
	return psk;
}

WEFT_TEST(a_good_file_is_taken)
{
	static const char *const good[] = { DIGITS, DIGITS "\n",
		"# key of lab 1\n\n " DIGITS "\r\n", DIGITS " # made today\n# f00d\n" };

	for (size_t i = 0; i < WEFT_ARRAY_SIZE(good); i++) {
		struct weft_psk *psk;

		put(good[i], i % 2 == 0 ? 0600 : 0400);
		psk = taken();
		for (unsigned int k = 0; k < WEFT_PSK_LEN; k++)
			assert_int_equal(
				weft_psk_bytes(psk)[k], k < 16 ? 0x11 * k : 0xFF - 0x11 * (k - 16));
		weft_psk_free(psk);
	}
	weft_psk_free(NULL);
}

WEFT_TEST(wrong_content_is_refused)
{
	char cut[sizeof(DIGITS)];

	for (size_t len = 0; len < 64; len++) {
		memcpy(cut, DIGITS, len);
		cut[len] = '\0';
		put(cut, 0600);
		refused(path, EINVAL, "expected 64 hex digits");
	}
	put(DIGITS "0", 0600);
	refused(path, EINVAL, "expected 64 hex digits, once, got more than that in line 1");
	put(DIGITS "\n" DIGITS, 0600);
	refused(path, EINVAL, "expected 64 hex digits, once, got more than that in line 2");
	put("# " DIGITS, 0600);
	refused(path, EINVAL, "expected 64 hex digits, once, got none in line 1");
	put("0x" DIGITS, 0600);
	refused(path, EINVAL,
		"expected 64 hex digits, once, got a character that is none in line 1");
	put("00112233445566778899aabbccddeeff FFEEDDCCBBAA99887766554433221100", 0600);
	refused(path, EINVAL,
		"expected 64 hex digits, once, got digits apart from those before in line 1");
	put("", 0600);
	assert_int_equal(truncate(path, 1 << 20), 0);
	refused(path, EINVAL, "expected 64 hex digits, once, got 2048 bytes or more");
}

WEFT_TEST(raw_bytes_and_zeros_are_named_as_such)
{
	static const uint8_t raw[WEFT_PSK_LEN + 1] = "#\x80 raw bytes of the generator \x01\xFF";
	char zeros[2 * WEFT_PSK_LEN + 1];

	put_bytes(raw, WEFT_PSK_LEN, 0600);
	refused(path, EINVAL,
		"expected 64 hex digits, once, got 32 raw bytes: make it by openssl rand -hex 32");
	/* Of other lengths they are nobody's key. */
	put_bytes(raw + 1, WEFT_PSK_LEN - 1, 0600);
	refused(path, EINVAL, "got a character that is none in line 1");
	memset(zeros, '0', sizeof(zeros) - 1);
	zeros[sizeof(zeros) - 1] = '\0';
	put(zeros, 0600);
	refused(path, EINVAL, "expected 64 random hex digits, got zeros alone");
	zeros[sizeof(zeros) - 2] = '1';
	put(zeros, 0600);
	weft_psk_free(taken());
}

WEFT_TEST(bytes_make_the_same_key)
{
	char err[256];
	struct weft_psk *of_file, *of_bytes;

	put(DIGITS, 0600);
	of_file = weft_psk_load(path, err, sizeof(err));
	assert_non_null(of_file);
	of_bytes = weft_psk_of(weft_psk_bytes(of_file));
	assert_non_null(of_bytes);
	assert_memory_equal(weft_psk_bytes(of_bytes), weft_psk_bytes(of_file), WEFT_PSK_LEN);
	weft_psk_free(of_file);
	weft_psk_free(of_bytes);
}

WEFT_TEST(files_that_others_may_touch_are_refused)
{
	static const mode_t bad[] = { 0644, 0640, 0604, 0660, 0602, 0610, 0601, 0777 };

	for (size_t i = 0; i < WEFT_ARRAY_SIZE(bad); i++) {
		char mode[16];

		put(DIGITS, bad[i]);
		snprintf(mode, sizeof(mode), "got mode %04o", (unsigned int)bad[i]);
		refused(path, EACCES, mode);
	}
	put(DIGITS, 0600);
	if (chown(path, 12345, (gid_t)-1) == 0)
		refused(path, EACCES, "of user 12345");
	else
		print_message("not root: a file of another user was not tried\n");
}

WEFT_TEST(other_kinds_of_file_are_refused)
{
	char other[80];

	snprintf(other, sizeof(other), "%s/other", dir);
	put(DIGITS, 0600);
	assert_int_equal(symlink(path, other), 0);
	refused(other, EACCES, "got a symbolic link");
	unlink(other);
	assert_int_equal(mkfifo(other, 0600), 0);
	refused(other, EACCES, "expected a plain file");
	unlink(other);
	refused(other, ENOENT, "No such file");
	refused(dir, EACCES, "expected a plain file");
}
