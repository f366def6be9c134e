/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Reads layouts: which stages, in which order, and where a ring stands between them. */

#include "weft_pipe.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define LAYOUT_FILE_MAX 4096
#define LAYOUT_WHOLE SIZE_MAX /* a place: what is wrong is not at one */

struct layout_reader {
	const char *text;
	const char *path; /* of the file that the text was in, or NULL */
	char *err;
	size_t err_len;
};

/* At @at of the text, said as a person counts. */
static int layout_error(const struct layout_reader *r, size_t at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static int layout_error_args(const struct layout_reader *r, size_t at, const char *fmt,
	va_list args) __attribute__((format(printf, 3, 0)));

static int
layout_error_args(const struct layout_reader *r, size_t at, const char *fmt, va_list args)
{
	const bool is_file = r->path != NULL;
	char place[64] = "", what[400];
	size_t line = 1, begin = 0;

	for (size_t i = 0; is_file && at != LAYOUT_WHOLE && i < at; i++)
		if (r->text[i] == '\n') {
			line++;
			begin = i + 1;
		}
	if (at != LAYOUT_WHOLE && is_file)
		snprintf(place, sizeof(place), ", line %zu, character %zu", line, at - begin + 1);
	else if (at != LAYOUT_WHOLE)
		snprintf(place, sizeof(place), ", character %zu", at + 1);
	vsnprintf(what, sizeof(what), fmt, args);
	return weft_errorf(r->err, r->err_len, -EINVAL, "layout%s%s%s: %s", is_file ? " file " : "",
		is_file ? r->path : "", place, what);
}

static int
layout_error(const struct layout_reader *r, size_t at, const char *fmt, ...)
{
	va_list args;
	int rc;

	va_start(args, fmt);
	rc = layout_error_args(r, at, fmt, args);
	va_end(args);
	return rc;
}

static struct layout_reader
layout_reader(const char *text, char *err, size_t err_len)
{
	return (struct layout_reader){ .text = text,
		.path = text[0] == '@' ? text + 1 : NULL,
		.err = err,
		.err_len = err_len };
}

int
weft_layout_error(const char *text, char *err, size_t err_len, const char *fmt, ...)
{
	const struct layout_reader r = layout_reader(text, err, err_len);
	va_list args;
	int rc;

	va_start(args, fmt);
	rc = layout_error_args(&r, LAYOUT_WHOLE, fmt, args);
	va_end(args);
	return rc;
}

/* What a person has to choose from. */
static void
layout_list_stages(char *buf, size_t len)
{
	size_t used = 0;
	const struct weft_stage *s;

	buf[0] = '\0';
	for (unsigned int i = 0; (s = weft_stage_at(i)) != NULL && used < len; i++)
		used += (size_t)snprintf(
			buf + used, len - used, "%s%s", i == 0 ? "" : ", ", s->name);
}

/* What took the place of a stage that layouts of earlier releases name, or NULL. */
static const char *
layout_former(const char *name)
{
	static const char *const words[][2] = { { "crc_check", "link_rx" },
		{ "retry", "link_rx" } };

	for (size_t i = 0; i < WEFT_ARRAY_SIZE(words); i++)
		if (strcmp(words[i][0], name) == 0)
			return words[i][1];
	return NULL;
}

static int
layout_add(const struct layout_reader *r, struct weft_layout *l, size_t len, size_t at)
{
	const char *const word = r->text + at;
	char name[32], list[256];
	const struct weft_stage *s, *before;
	const char *former;

	if (len == 0)
		return layout_error(r, at, "expected a stage name, got nothing");
	snprintf(name, sizeof(name), "%.*s", (int)(len < sizeof(name) ? len : sizeof(name) - 1),
		word);
	s = len < sizeof(name) ? weft_stage_find(name) : NULL;
	former = layout_former(name);
	if (s == NULL && former != NULL)
		return layout_error(r, at, "there is no stage %s any more: use %s", name, former);
	if (s == NULL && strchr(name, '*') != NULL)
		return layout_error(r, at,
			"expected N* at the beginning of a segment, behind |, got \"%s\"", name);
	if (s == NULL) {
		layout_list_stages(list, sizeof(list));
		return layout_error(
			r, at, "no stage is called \"%s\"; expected one of %s", name, list);
	}
	if (l->n_stages == WEFT_PIPE_STAGES_MAX)
		return layout_error(r, at, "more than %d stages", WEFT_PIPE_STAGES_MAX);
	for (unsigned int i = 0; i < l->n_stages; i++)
		if (l->stage[i] == s)
			return layout_error(r, at, "stage \"%s\" stands twice", name);
	before = l->n_stages == 0 ? NULL : l->stage[l->n_stages - 1];
	if (before != NULL && weft_stage_sends(before->order) != weft_stage_sends(s->order))
		return layout_error(r, at, "stage \"%s\" is for what is %s, \"%s\" is not", name,
			weft_stage_sends(s->order) ? "sent" : "received", before->name);
	if (before != NULL && before->order == s->order)
		return layout_error(r, at,
			"stage \"%s\" is in the place of \"%s\": expected one of them", name,
			before->name);
	if (before != NULL && before->order >= s->order)
		return layout_error(
			r, at, "stage \"%s\" cannot come after \"%s\"", name, before->name);
	l->stage[l->n_stages++] = s;
	return 0;
}

/* N* before a segment; @p at moves behind it. */
static int
layout_read_ways(const struct layout_reader *r, size_t *at, struct weft_layout *l)
{
	const unsigned int segment = l->n_segments - 1u;
	const char *const word = r->text + *at;
	const size_t len = strcspn(word, "*,|\n");
	unsigned long ways = 1;

	if (word[len] == '*') {
		ways = strtoul(word, NULL, 10);
		if (word[0] == '0' || len == 0 || strspn(word, "0123456789") != len ||
			ways > WEFT_PIPE_SEGMENTS_MAX - 1)
			return layout_error(r, *at,
				"expected 1 to %d ways, a plain number right before *, got "
				"\"%.*s\"",
				WEFT_PIPE_SEGMENTS_MAX - 1, (int)(len < 32 ? len : 32), word);
		if (ways != 1 && segment == 0)
			return layout_error(r, *at,
				"expected a segment before %lu ways, which deals frames to them, "
				"such as deframe|%lu*...",
				ways, ways);
		*at += len + 1;
	}
	l->ways[segment] = (uint8_t)ways;
	return 0;
}

/* The last segment is read: make its other ways. */
static int
layout_end_segment(const struct layout_reader *r, struct weft_layout *l)
{
	const unsigned int s = l->n_segments - 1u, ways = l->ways[s], first = l->first[s];
	const unsigned int n = l->n_stages - first;

	for (unsigned int i = first; ways != 1 && i < l->n_stages; i++)
		if (!l->stage[i]->has_ways)
			return layout_error(r, LAYOUT_WHOLE,
				"stage \"%s\" has one way: of segments with %u* expected "
				"fec_check, crc_first, link_rx and ide_open alone",
				l->stage[i]->name, ways);
	if (s + ways > WEFT_PIPE_SEGMENTS_MAX || first + ways * n > WEFT_PIPE_STAGES_MAX)
		return layout_error(r, LAYOUT_WHOLE,
			"more than %d segments, or %d stages, those of each way counted",
			WEFT_PIPE_SEGMENTS_MAX, WEFT_PIPE_STAGES_MAX);
	for (unsigned int w = 1; w < ways; w++) {
		l->first[s + w] = l->n_stages;
		l->way[s + w] = (uint8_t)w;
		l->ways[s + w] = (uint8_t)ways;
		memcpy(&l->stage[l->n_stages], &l->stage[first], n * sizeof(l->stage[0]));
		l->n_stages = (uint8_t)(l->n_stages + n);
		l->n_segments++;
	}
	l->first[l->n_segments] = l->n_stages;
	return 0;
}

/* A | was read. */
static int
layout_begin_segment(const struct layout_reader *r, struct weft_layout *l, size_t at)
{
	int rc = layout_end_segment(r, l);

	if (rc == 0 && l->n_segments == WEFT_PIPE_SEGMENTS_MAX)
		rc = layout_error(r, at, "more than %d segments", WEFT_PIPE_SEGMENTS_MAX);
	l->n_segments++;
	return rc;
}

/* A connection has one way: all that works on it has that many. */
static int
layout_check_ways(const struct layout_reader *r, const struct weft_layout *l)
{
	unsigned int ways = 1;

	for (unsigned int s = 0; s < l->n_segments; s++) {
		if (l->ways[s] != 1 && ways != 1 && l->ways[s] != ways)
			return layout_error(r, LAYOUT_WHOLE,
				"expected one number of ways, got %u* and %u*", ways, l->ways[s]);
		ways = l->ways[s] != 1 ? l->ways[s] : ways;
	}
	for (unsigned int s = 0; s < l->n_segments; s++)
		for (unsigned int i = l->first[s]; i < l->first[s + 1]; i++)
			if (l->ways[s] != ways && l->stage[i]->has_ways &&
				l->stage[i]->ends != WEFT_ENDS_NONE)
				return layout_error(r, LAYOUT_WHOLE,
					"stage \"%s\" works on connections, which have %u "
					"ways: expected it in a segment with %u*",
					l->stage[i]->name, ways, ways);
	return 0;
}

static int
layout_parse_text(const struct layout_reader *r, struct weft_layout *l)
{
	const char *const text = r->text;
	bool begins = true;
	size_t at = 0;

	l->n_segments = 1;
	for (;;) {
		size_t len, end;
		int rc = 0;

		at += strspn(text + at, " \t\r\n");
		if (begins)
			rc = layout_read_ways(r, &at, l);
		if (rc != 0)
			return rc;
		at += strspn(text + at, " \t\r\n");
		len = strcspn(text + at, ",| \t\r\n");
		rc = layout_add(r, l, len, at);
		if (rc != 0)
			return rc;
		end = at + len;
		end += strspn(text + end, " \t\r\n");
		if (text[end] == '\0')
			break;
		if (text[end] != ',' && text[end] != '|')
			return layout_error(r, end,
				"expected \",\" or \"|\" between stages, got \"%c\"", text[end]);
		begins = text[end] == '|';
		if (begins)
			rc = layout_begin_segment(r, l, end);
		if (rc != 0)
			return rc;
		at = end + 1;
	}
	if (layout_end_segment(r, l) != 0)
		return -EINVAL;
	return layout_check_ways(r, l);
}

/* Comments become spaces, so that positions in errors stay true. */
static void
layout_blank_comments(char *text)
{
	for (char *p = text; (p = strchr(p, '#')) != NULL;)
		while (*p != '\0' && *p != '\n')
			*p++ = ' ';
}

/* Anything but a file could wait for its writer for ever, and is not there to be read again. */
static int
layout_open(const char *path)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	int rc;

	if (fd < 0)
		return -errno;
	rc = fstat(fd, &st) != 0   ? -errno
	     : S_ISDIR(st.st_mode) ? -EISDIR
	     : S_ISREG(st.st_mode) ? 0
	                           : -ENOTSUP;
	if (rc != 0)
		close(fd);
	return rc != 0 ? rc : fd;
}

static int
layout_read_file(const char *path, char *text, char *err, size_t err_len)
{
	const int fd = layout_open(path);
	ssize_t n = 0;
	size_t len = 0;

	if (fd == -ENOTSUP)
		return weft_errorf(err, err_len, -EINVAL,
			"layout file %s: expected a file, got a pipe, socket or device", path);
	if (fd < 0)
		return weft_errorf(err, err_len, fd, "layout file %s: %s", path, strerror(-fd));
	while (len < LAYOUT_FILE_MAX && (n = read(fd, text + len, LAYOUT_FILE_MAX - len)) > 0)
		len += (size_t)n;
	n = n < 0 ? -errno : 0;
	close(fd);
	if (n != 0)
		return weft_errorf(
			err, err_len, (int)n, "layout file %s: %s", path, strerror((int)-n));
	if (len == LAYOUT_FILE_MAX || memchr(text, '\0', len) != NULL)
		return weft_errorf(err, err_len, -EINVAL,
			"layout file %s: expected text of less than %d bytes, got %s", path,
			LAYOUT_FILE_MAX, len == LAYOUT_FILE_MAX ? "more" : "a byte 0");
	text[len] = '\0';
	layout_blank_comments(text);
	return 0;
}

int
weft_layout_parse(const char *text, struct weft_layout *l, char *err, size_t err_len)
{
	char file_text[LAYOUT_FILE_MAX];
	struct layout_reader r = layout_reader(text, err, err_len);
	struct weft_layout parsed = { 0 };
	int rc = 0;

	if (r.path != NULL) {
		r.text = file_text;
		rc = layout_read_file(r.path, file_text, err, err_len);
	}
	if (rc == 0)
		rc = layout_parse_text(&r, &parsed);
	if (rc == 0)
		*l = parsed;
	return rc;
}

bool
weft_layout_at_ends(const struct weft_layout *l, unsigned int segment)
{
	for (unsigned int i = l->first[segment]; i < l->first[segment + 1]; i++)
		if (l->stage[i]->ends != WEFT_ENDS_NONE)
			return true;
	return false;
}

bool
weft_layout_may_part(const struct weft_layout *l, unsigned int segment, bool halves)
{
	/* Ways share no connection: what holds for one holds for all of them. */
	const unsigned int way_0 = segment - l->way[segment];
	const unsigned int first = l->first[way_0], end = l->first[way_0 + l->ways[segment]];
	unsigned int ends = 0, llr_rx = 0, llr_rx_here = 0;

	for (unsigned int i = 0; i < l->n_stages; i++) {
		const enum weft_stage_ends e = l->stage[i]->ends;
		const bool is_here = i >= first && i < end;

		if (is_here && (e == WEFT_ENDS_NODE || (e == WEFT_ENDS_LLR_RX && !halves)))
			return false;
		ends += is_here && e != WEFT_ENDS_NONE;
		llr_rx += e == WEFT_ENDS_LLR_RX;
		llr_rx_here += is_here && e == WEFT_ENDS_LLR_RX;
	}
	return ends != 0 && (llr_rx_here == 0 || llr_rx_here == llr_rx);
}

bool
weft_layout_has(const struct weft_layout *l, unsigned int segment, enum weft_stage_ends ends)
{
	for (unsigned int i = l->first[segment]; i < l->first[segment + 1]; i++)
		if (l->stage[i]->ends == ends)
			return true;
	return false;
}

const char *
weft_layout_words(const struct weft_layout *l, unsigned int segment, char *text, size_t len)
{
	size_t used = 0;

	text[0] = '\0';
	for (unsigned int i = l->first[segment]; i < l->first[segment + 1] && used < len; i++)
		used += (size_t)snprintf(text + used, len - used, "%s%s",
			i == l->first[segment] ? "" : ",", l->stage[i]->name);
	return text;
}
