/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Reads the key file, line by line, into locked memory. Control side, but for weft_keys_find(),
 * which a stream asks once a key change.
 */

#include "weft_keys.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "weft_secret.h"

struct key_row {
	struct weft_conn_key conn;
	uint8_t key[WEFT_IDE_KEY_LEN];
};

struct weft_keys {
	unsigned int n;
	bool is_exposed;
	struct key_row row[WEFT_KEYS_MAX];
};

static bool
keys_hex_number(const char *word, unsigned long most, unsigned long *v)
{
	char *end;

	if (word == NULL || !isxdigit((unsigned char)word[0]))
		return false;
	errno = 0;
	*v = strtoul(word, &end, 16);
	/* strtoul takes "0x": our numbers have none. */
	return errno == 0 && *end == '\0' && *v <= most && strpbrk(word, "xX") == NULL;
}

static int
keys_hex_digit(char c)
{
	if (!isxdigit((unsigned char)c))
		return -1;
	return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
}

static bool
keys_hex_key(const char *word, uint8_t *key)
{
	if (word == NULL || strlen(word) != 2 * WEFT_IDE_KEY_LEN)
		return false;
	for (unsigned int i = 0; i < WEFT_IDE_KEY_LEN; i++) {
		int hi = keys_hex_digit(word[2 * i]), lo = keys_hex_digit(word[2 * i + 1]);

		if (hi < 0 || lo < 0)
			return false;
		key[i] = (uint8_t)(hi << 4 | lo);
	}
	return true;
}

static bool
keys_mac_address(const char *word, uint8_t *mac)
{
	if (word == NULL || strlen(word) != 17)
		return false;
	for (unsigned int i = 0; i < 6; i++) {
		const char *two = word + (size_t)3 * i;
		const int hi = keys_hex_digit(two[0]), lo = keys_hex_digit(two[1]);

		if (hi < 0 || lo < 0 || (i < 5 && two[2] != ':'))
			return false;
		mac[i] = (uint8_t)(hi << 4 | lo);
	}
	return true;
}

#define MORE(save) strtok_r(NULL, " \t\r\n", save)

/* What is wrong with the fields behind the first word, or NULL. */
static const char *
key_rxl(char **save, struct key_row *r)
{
	unsigned long spid, dpid, vc, session;

	if (!keys_hex_number(MORE(save), 0xFFF, &spid))
		return "expected a SPID of 0 to fff";
	if (!keys_hex_number(MORE(save), 0xFFF, &dpid))
		return "expected a DPID of 0 to fff";
	if (!keys_hex_number(MORE(save), 7, &vc))
		return "expected a VC of 0 to 7";
	if (!keys_hex_number(MORE(save), UINT32_MAX, &session))
		return "expected a session of 0 to ffffffff";
	r->conn.mode = WEFT_MODE_RXL;
	r->conn.spid = (uint16_t)spid;
	r->conn.dpid = (uint16_t)dpid;
	r->conn.vc = (uint8_t)vc;
	r->conn.session = (uint32_t)session;
	return NULL;
}

static const char *
key_cxl(char **save, struct key_row *r)
{
	if (!keys_mac_address(MORE(save), r->conn.mac))
		return "expected a source MAC address such as 02:00:00:00:00:01";
	r->conn.mode = WEFT_MODE_CXL;
	r->conn.spid = WEFT_PID_NONE;
	r->conn.dpid = WEFT_PID_NONE;
	return NULL;
}

/* A key taken twice starts its counter twice: two texts under one IV. */
static bool
keys_is_repeated(const struct weft_keys *k, const struct key_row *r)
{
	for (unsigned int i = 0; i < k->n; i++)
		if (memcmp(&k->row[i].conn, &r->conn, sizeof(r->conn)) == 0 &&
			memcmp(k->row[i].key, r->key, sizeof(r->key)) == 0)
			return true;
	return false;
}

/* One line without its comment. NULL, or what is wrong. */
static const char *
keys_line(struct weft_keys *k, char *line)
{
	struct key_row *r = &k->row[k->n];
	const char *wrong;
	char *save, *word = strtok_r(line, " \t\r\n", &save);

	if (word == NULL)
		return NULL;
	if (k->n == WEFT_KEYS_MAX)
		return "more keys than a file may hold (16384)";
	/* Row by row: the limit has to be as high as these keys need, not as a full table does. */
	if (mlock(r, sizeof(*r)) != 0)
		return "no memory could be locked for this key: " WEFT_SECRET_ADVICE;
	memset(r, 0, sizeof(*r));
	if (strcmp(word, "rxl") == 0)
		wrong = key_rxl(&save, r);
	else if (strcmp(word, "cxl") == 0)
		wrong = key_cxl(&save, r);
	else
		return "expected a line that begins with rxl or cxl";
	if (wrong != NULL)
		return wrong;
	if (!keys_hex_key(MORE(&save), r->key))
		return "expected a key of 64 hex digits";
	if (MORE(&save) != NULL)
		return "expected nothing behind the key";
	if (keys_is_repeated(k, r))
		return "this stream had this key before";
	k->n++;
	return NULL;
}

static FILE *
keys_open(const char *path, struct stat *st, char *err, size_t err_len)
{
	FILE *f = fopen(path, "re");

	if (f == NULL || fstat(fileno(f), st) != 0) {
		int saved = errno;

		snprintf(err, err_len, "key file %s: %s", path, strerror(saved));
		if (f != NULL)
			fclose(f);
		errno = saved;
		return NULL;
	}
	return f;
}

/* The lines of a file. NULL, or what is wrong with the last one read. */
static const char *
keys_read(struct weft_keys *k, FILE *f, unsigned int *line_no)
{
	const char *wrong = NULL;
	char line[256];
	int e;

	while (wrong == NULL && fgets(line, sizeof(line), f) != NULL) {
		(*line_no)++;
		if (strchr(line, '\n') == NULL && !feof(f))
			wrong = "line too long";
		line[strcspn(line, "#")] = '\0';
		if (wrong == NULL)
			wrong = keys_line(k, line);
	}
	e = errno;
	explicit_bzero(line, sizeof(line));
	return wrong == NULL && ferror(f) ? strerror(e) : wrong;
}

static struct weft_keys *
keys_alloc(void)
{
	struct weft_keys *k =
		mmap(NULL, sizeof(*k), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (k == MAP_FAILED)
		return NULL;
	madvise(k, sizeof(*k), MADV_DONTDUMP);
	return k;
}

struct weft_keys *
weft_keys_load(const char *path, char *err, size_t err_len)
{
	struct stat st;
	FILE *f = keys_open(path, &st, err, err_len);
	struct weft_keys *k;
	const char *wrong;
	unsigned int line_no = 0;

	if (f == NULL)
		return NULL;
	k = keys_alloc();
	if (k == NULL) {
		snprintf(err, err_len, "key file %s: out of memory", path);
		fclose(f);
		errno = ENOMEM;
		return NULL;
	}
	/* No buffer of stdio's, which would keep keys behind our back. */
	setvbuf(f, NULL, _IONBF, 0);
	k->is_exposed = (st.st_mode & 077) != 0;
	wrong = keys_read(k, f, &line_no);
	fclose(f);
	if (wrong == NULL)
		return k;
	snprintf(err, err_len, "%s:%u: %s", path, line_no, wrong);
	weft_keys_free(k);
	errno = EINVAL;
	return NULL;
}

void
weft_keys_free(struct weft_keys *k)
{
	if (k == NULL)
		return;
	explicit_bzero(k, sizeof(*k));
	munmap(k, sizeof(*k));
}

const uint8_t *
weft_keys_find(const struct weft_keys *k, const struct weft_conn_key *conn, unsigned int i)
{
	struct weft_conn_key name = *conn;

	if (name.mode == WEFT_MODE_CXL)
		name.vc = 0; /* a line says nothing of the form */
	for (unsigned int row = 0; row < k->n; row++)
		if (memcmp(&k->row[row].conn, &name, sizeof(name)) == 0 && i-- == 0)
			return k->row[row].key;
	return NULL;
}

bool
weft_keys_is_exposed(const struct weft_keys *k)
{
	return k->is_exposed;
}
