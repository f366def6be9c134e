/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The file of the pre-shared key. It is read and decoded in memory for keys: no buffer keeps a
 * copy.
 */

#include "psk_priv.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MAX 2048

struct weft_psk {
	uint8_t key[WEFT_PSK_LEN];
	char text[FILE_MAX]; /* wiped once it is decoded */
};

static int
psk_digit(char c)
{
	if (!isxdigit((unsigned char)c))
		return -1;
	return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
}

/* @return NULL, or what stands there in place of 64 hex digits, in which line; never a key */
static const char *
psk_scan(const char *text, size_t len, uint8_t key[WEFT_PSK_LEN], unsigned int *line)
{
	size_t digits = 0, end = 0;
	bool in_comment = false;

	*line = 1;
	for (size_t i = 0; i < len; i++) {
		const char c = text[i];
		const int digit = psk_digit(c);

		in_comment = c != '\n' && (in_comment || c == '#');
		*line += c == '\n';
		if (in_comment || c == '\n' || c == ' ' || c == '\t' || c == '\r')
			continue;
		if (digit < 0)
			return "a character that is none";
		if (digits == 2 * WEFT_PSK_LEN)
			return "more than that";
		if (digits != 0 && end != i)
			return "digits apart from those before";
		key[digits / 2] = (uint8_t)(key[digits / 2] << 4 | digit);
		digits++;
		end = i + 1;
	}
	return digits == 2 * WEFT_PSK_LEN ? NULL : digits == 0 ? "none" : "fewer, and the end";
}

/* As a generator of random bytes wrote them: no text, which a key of digits that was cut is. */
static bool
psk_is_raw(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!isprint((unsigned char)text[i]) && !isspace((unsigned char)text[i]))
			return len == WEFT_PSK_LEN;
	return false;
}

/* Anybody's first guess. */
static bool
psk_is_zero(const uint8_t key[WEFT_PSK_LEN])
{
	uint8_t any = 0;

	for (unsigned int i = 0; i < WEFT_PSK_LEN; i++)
		any |= key[i];
	return any == 0;
}

bool
psk_decode(const char *text, size_t len, uint8_t key[WEFT_PSK_LEN])
{
	unsigned int line;

	return psk_scan(text, len, key, &line) == NULL;
}

/* The file if it is one to be trusted, or -1 with a line. */
static int
psk_open_file(const char *path, char *err, size_t err_len)
{
	/* Without O_NONBLOCK a FIFO would hold us up. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) != 0) {
		const int e = errno;

		snprintf(err, err_len, "key file %s: %s", path,
			e == ELOOP ? "expected a plain file, got a symbolic link" : strerror(e));
		errno = e == ELOOP ? EACCES : e;
	} else if (!S_ISREG(st.st_mode)) {
		snprintf(err, err_len, "key file %s: expected a plain file", path);
		errno = EACCES;
	} else if ((st.st_uid != geteuid() && st.st_uid != 0) || (st.st_mode & 077) != 0) {
		snprintf(err, err_len,
			"key file %s: expected mode 0600 and yourself as owner, got mode %04o of "
			"user %u",
			path, (unsigned int)st.st_mode & 07777, (unsigned int)st.st_uid);
		errno = EACCES;
	} else {
		return fd;
	}
	if (fd >= 0) {
		const int e = errno;

		close(fd);
		errno = e;
	}
	return -1;
}

static ssize_t
psk_read_all(int fd, char *text)
{
	size_t have = 0;
	ssize_t n;

	while (have < FILE_MAX && (n = read(fd, text + have, FILE_MAX - have)) != 0) {
		if (n < 0)
			return -1;
		have += (size_t)n;
	}
	return (ssize_t)have;
}

/* Of an open file. NULL with errno, and why. */
static struct weft_psk *
psk_read_key(int fd, char *why, size_t why_len)
{
	struct weft_psk *psk = weft_secret_alloc(sizeof(*psk));
	const ssize_t len = psk == NULL ? -1 : psk_read_all(fd, psk->text);
	const char *got = NULL;
	const int e = errno;
	unsigned int line;

	if (psk == NULL)
		snprintf(why, why_len, "no memory could be locked for it: %s: " WEFT_SECRET_ADVICE,
			strerror(e));
	else if (len < 0)
		snprintf(why, why_len, "%s", strerror(e));
	else if (len == FILE_MAX)
		snprintf(why, why_len, "expected 64 hex digits, once, got %u bytes or more",
			FILE_MAX);
	else if (psk_is_raw(psk->text, (size_t)len))
		snprintf(why, why_len, "expected 64 hex digits, once, got %u raw bytes",
			WEFT_PSK_LEN);
	else if ((got = psk_scan(psk->text, (size_t)len, psk->key, &line)) != NULL)
		snprintf(
			why, why_len, "expected 64 hex digits, once, got %s in line %u", got, line);
	else if (psk_is_zero(psk->key))
		snprintf(why, why_len,
			"expected 64 random hex digits, got zeros alone, which anybody would try");
	else {
		explicit_bzero(psk->text, sizeof(psk->text));
		return psk;
	}
	weft_psk_free(psk);
	errno = len >= 0 ? EINVAL : e;
	return NULL;
}

struct weft_psk *
weft_psk_load(const char *path, char *err, size_t err_len)
{
	const int fd = psk_open_file(path, err, err_len);
	struct weft_psk *psk;
	char why[128];
	int e;

	if (fd < 0)
		return NULL;
	psk = psk_read_key(fd, why, sizeof(why));
	e = errno;
	close(fd);
	if (psk == NULL)
		snprintf(err, err_len, "key file %s: %s%s", path, why,
			e == EINVAL ? ": make it by openssl rand -hex 32" : "");
	errno = e;
	return psk;
}

int
weft_psk_judge(int fd, char *why, size_t why_len)
{
	struct weft_psk *psk = psk_read_key(fd, why, why_len);

	if (psk == NULL)
		return -errno;
	weft_psk_free(psk);
	return 0;
}

struct weft_psk *
weft_psk_of(const uint8_t key[WEFT_PSK_LEN])
{
	struct weft_psk *psk = weft_secret_alloc(sizeof(*psk));

	if (psk != NULL)
		memcpy(psk->key, key, WEFT_PSK_LEN);
	return psk;
}

void
weft_psk_free(struct weft_psk *psk)
{
	weft_secret_free(psk, sizeof(*psk));
}

const uint8_t *
weft_psk_bytes(const struct weft_psk *psk)
{
	return psk->key;
}
