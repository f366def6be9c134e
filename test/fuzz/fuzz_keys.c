/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Files of keys as text. The pre-shared key: taken is what is one word of 64 hex digits once
 * comments are gone, and the key is those digits. Keys of traces: what is taken is found again by
 * its stream, in the order of the lines, and as often; what is refused has one line that says
 * where, without any digit of a key in it.
 *
 *   byte 0  bit 0: which of the two
 *   then    the file
 */

#include "weft_fuzz.h"

#include <ctype.h>
#include <sys/mman.h>
#include <unistd.h>

#include "psk_priv.h"
#include "weft_keys.h"

/* The text without comments. */
static void
cut_comments(char *text)
{
	char *out = text;
	bool is_comment = false;

	for (const char *c = text; *c != '\0'; c++) {
		is_comment = *c != '\n' && (is_comment || *c == '#');
		if (!is_comment)
			*out++ = *c;
	}
	*out = '\0';
}

static bool
hex_word(const char *word, uint8_t *key)
{
	unsigned int v;

	if (word == NULL || strlen(word) != 64 || strspn(word, "0123456789abcdefABCDEF") != 64)
		return false;
	for (unsigned int i = 0; i < 32; i++) {
		const char two[3] = { word[2 * i], word[2 * i + 1], '\0' };

		if (sscanf(two, "%2x", &v) != 1)
			return false;
		key[i] = (uint8_t)v;
	}
	return true;
}

static void
check_psk(const uint8_t *bytes, size_t len)
{
	uint8_t got[WEFT_PSK_LEN] = { 0 }, want[WEFT_PSK_LEN] = { 0 };
	char *exact = (char *)fuzz_copy(bytes, len), *text = fuzz_text(bytes, len), *save, *word;
	const bool is_taken = psk_decode(exact, len, got);
	bool is_one = strlen(text) == len;

	cut_comments(text);
	word = strtok_r(text, " \t\r\n", &save);
	is_one = is_one && hex_word(word, want) && strtok_r(NULL, " \t\r\n", &save) == NULL;
	/* A zero byte in a comment is nobody's business. */
	FUZZ_CHECK(is_taken == is_one || memchr(bytes, 0, len) != NULL);
	FUZZ_CHECK(!is_taken || !is_one || memcmp(got, want, sizeof(got)) == 0);
	free(exact);
	free(text);
}

/* --- keys of traces --- */

#define LINES_MAX 64

struct row {
	struct weft_conn_key conn;
	uint8_t key[WEFT_IDE_KEY_LEN];
};

static bool
hex_field(const char *word, uint64_t most, uint64_t *v)
{
	char *end;

	if (word == NULL || word[0] == '\0' || word[strspn(word, "0123456789abcdefABCDEF")] != '\0')
		return false;
	errno = 0;
	*v = strtoull(word, &end, 16);
	return errno == 0 && *v <= most;
}

static bool
mac_field(const char *word, uint8_t *mac)
{
	if (word == NULL || strlen(word) != 17)
		return false;
	for (unsigned int i = 0; i < 6; i++) {
		const char two[3] = { word[3 * i], word[3 * i + 1], '\0' };
		uint64_t v;

		if (!isxdigit((unsigned char)two[0]) || !isxdigit((unsigned char)two[1]) ||
			(i < 5 && word[3 * i + 2] != ':') || !hex_field(two, 0xFF, &v))
			return false;
		mac[i] = (uint8_t)v;
	}
	return true;
}

/* One line. @return 1: a key; 0: nothing; -1: not a line of such a file */
static int
read_line(char *line, struct row *r)
{
	char *save, *word = strtok_r(line, " \t\r\n", &save);
	uint64_t spid = 0, dpid = 0, vc = 0, session = 0;

	memset(r, 0, sizeof(*r));
	if (word == NULL)
		return 0;
	if (strcmp(word, "rxl") == 0) {
		if (!hex_field(strtok_r(NULL, " \t\r\n", &save), 0xFFF, &spid) ||
			!hex_field(strtok_r(NULL, " \t\r\n", &save), 0xFFF, &dpid) ||
			!hex_field(strtok_r(NULL, " \t\r\n", &save), 7, &vc) ||
			!hex_field(strtok_r(NULL, " \t\r\n", &save), UINT32_MAX, &session))
			return -1;
		r->conn = (struct weft_conn_key){ .mode = WEFT_MODE_RXL,
			.vc = (uint8_t)vc,
			.spid = (uint16_t)spid,
			.dpid = (uint16_t)dpid,
			.session = (uint32_t)session };
	} else if (strcmp(word, "cxl") == 0) {
		r->conn.mode = WEFT_MODE_CXL;
		r->conn.spid = r->conn.dpid = WEFT_PID_NONE;
		if (!mac_field(strtok_r(NULL, " \t\r\n", &save), r->conn.mac))
			return -1;
	} else {
		return -1;
	}
	return hex_word(strtok_r(NULL, " \t\r\n", &save), r->key) &&
	                       strtok_r(NULL, " \t\r\n", &save) == NULL
	               ? 1
	               : -1;
}

/* @return how many keys, or -1 */
static int
read_file(const char *text, struct row *row, int most)
{
	int n = 0;

	while (*text != '\0') {
		const size_t len = strcspn(text, "\n");
		char *line = fuzz_text((const uint8_t *)text, len);
		int is_key;

		cut_comments(line);
		is_key = n == most || len > 250 ? -2 : read_line(line, &row[n]);
		free(line);
		if (is_key < 0)
			return is_key;
		for (int i = 0; is_key == 1 && i < n; i++)
			if (memcmp(&row[i], &row[n], sizeof(row[i])) == 0)
				return -1;
		n += is_key;
		text += len + (text[len] != '\0');
	}
	return n;
}

static void
check_keys(const uint8_t *bytes, size_t len)
{
	char path[64], err[256] = "", *text = fuzz_text(bytes, len);
	struct row row[LINES_MAX];
	const int fd = memfd_create("keys", MFD_CLOEXEC);
	const int n = read_file(text, row, LINES_MAX);
	struct weft_keys *k;

	FUZZ_CHECK(fd >= 0 && write(fd, bytes, len) == (ssize_t)len);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	k = weft_keys_load(path, err, sizeof(err));
	/* Lines of all lengths, and zeros in them, are not for the simple reader above. */
	if (n != -2 && strlen(text) == len)
		FUZZ_CHECK((k != NULL) == (n >= 0));
	FUZZ_CHECK((k != NULL) == (err[0] == '\0') && strchr(err, '\n') == NULL);
	for (int i = 0; k != NULL && n >= 0 && strlen(text) == len && i < n; i++) {
		unsigned int before = 0;
		const uint8_t *key;

		for (int j = 0; j < i; j++)
			before += memcmp(&row[j].conn, &row[i].conn, sizeof(row[i].conn)) == 0;
		key = weft_keys_find(k, &row[i].conn, before);
		FUZZ_CHECK(key != NULL && memcmp(key, row[i].key, sizeof(row[i].key)) == 0);
	}
	weft_keys_free(k);
	close(fd);
	free(text);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct fuzz_in in = { data, len };

	if (fuzz_u8(&in) & 1)
		check_keys(in.p, in.n);
	else
		check_psk(in.p, in.n);
	return 0;
}
