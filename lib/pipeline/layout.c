/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Reads layouts: which stages, in which order, and where a ring stands between them. */

#include "weft_pipe.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define LAYOUT_FILE_MAX 4096

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
layout_add(
	struct weft_layout *l, const char *word, size_t len, size_t at, char *err, size_t err_len)
{
	char name[32], list[256];
	const struct weft_stage *s, *before;
	const char *former;

	if (len == 0)
		return weft_errorf(err, err_len, -EINVAL,
			"layout, character %zu: expected a stage name, got nothing", at + 1);
	snprintf(name, sizeof(name), "%.*s", (int)(len < sizeof(name) ? len : sizeof(name) - 1),
		word);
	s = len < sizeof(name) ? weft_stage_find(name) : NULL;
	former = layout_former(name);
	if (s == NULL && former != NULL)
		return weft_errorf(err, err_len, -EINVAL,
			"layout, character %zu: there is no stage %s any more: use %s", at + 1,
			name, former);
	if (s == NULL) {
		layout_list_stages(list, sizeof(list));
		return weft_errorf(err, err_len, -EINVAL,
			"layout, character %zu: no stage is called \"%s\"; expected one of %s",
			at + 1, name, list);
	}
	if (l->n_stages == WEFT_PIPE_STAGES_MAX)
		return weft_errorf(err, err_len, -EINVAL,
			"layout, character %zu: more than %d stages", at + 1, WEFT_PIPE_STAGES_MAX);
	for (unsigned int i = 0; i < l->n_stages; i++)
		if (l->stage[i] == s)
			return weft_errorf(err, err_len, -EINVAL,
				"layout, character %zu: stage \"%s\" stands twice", at + 1, name);
	before = l->n_stages == 0 ? NULL : l->stage[l->n_stages - 1];
	if (before != NULL && weft_stage_sends(before->order) != weft_stage_sends(s->order))
		return weft_errorf(err, err_len, -EINVAL,
			"layout, character %zu: stage \"%s\" is for what is %s, \"%s\" is not",
			at + 1, name, weft_stage_sends(s->order) ? "sent" : "received",
			before->name);
	if (before != NULL && before->order == s->order)
		return weft_errorf(err, err_len, -EINVAL,
			"layout, character %zu: stage \"%s\" is in the place of \"%s\": expected "
			"one "
			"of them",
			at + 1, name, before->name);
	if (before != NULL && before->order >= s->order)
		return weft_errorf(err, err_len, -EINVAL,
			"layout, character %zu: stage \"%s\" cannot come after \"%s\"", at + 1,
			name, before->name);
	l->stage[l->n_stages++] = s;
	return 0;
}

/* N* before a segment; @p at moves behind it. */
static int
layout_read_ways(const char *text, size_t *at, struct weft_layout *l, char *err, size_t err_len)
{
	const unsigned int segment = l->n_segments - 1u;
	const size_t digits = strspn(text + *at, "0123456789");
	unsigned long ways = 1;

	if (digits != 0 && text[*at + digits] == '*') {
		ways = strtoul(text + *at, NULL, 10);
		if (ways == 0 || ways > WEFT_PIPE_SEGMENTS_MAX - 1)
			return weft_errorf(err, err_len, -EINVAL,
				"layout, character %zu: expected 1 to %d ways, got %.*s", *at + 1,
				WEFT_PIPE_SEGMENTS_MAX - 1, (int)digits, text + *at);
		if (ways != 1 && segment == 0)
			return weft_errorf(err, err_len, -EINVAL,
				"layout, character %zu: expected a segment before %lu ways, which "
				"deals frames to them, such as deframe|%lu*...",
				*at + 1, ways, ways);
		*at += digits + 1;
	}
	l->ways[segment] = (uint8_t)ways;
	return 0;
}

/* The last segment is read: make its other ways. */
static int
layout_end_segment(struct weft_layout *l, char *err, size_t err_len)
{
	const unsigned int s = l->n_segments - 1u, ways = l->ways[s], first = l->first[s];
	const unsigned int n = l->n_stages - first;

	for (unsigned int i = first; ways != 1 && i < l->n_stages; i++)
		if (!l->stage[i]->has_ways)
			return weft_errorf(err, err_len, -EINVAL,
				"layout: stage \"%s\" has one way: of segments with %u* expected "
				"fec_check, crc_first, link_rx and ide_open alone",
				l->stage[i]->name, ways);
	if (s + ways > WEFT_PIPE_SEGMENTS_MAX || first + ways * n > WEFT_PIPE_STAGES_MAX)
		return weft_errorf(err, err_len, -EINVAL,
			"layout: more than %d segments, or %d stages, those of each way counted",
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
layout_begin_segment(struct weft_layout *l, size_t at, char *err, size_t err_len)
{
	int rc = layout_end_segment(l, err, err_len);

	if (rc == 0 && l->n_segments == WEFT_PIPE_SEGMENTS_MAX)
		rc = weft_errorf(err, err_len, -EINVAL,
			"layout, character %zu: more than %d segments", at + 1,
			WEFT_PIPE_SEGMENTS_MAX);
	l->n_segments++;
	return rc;
}

/* A connection has one way: all that works on it has that many. */
static int
layout_check_ways(const struct weft_layout *l, char *err, size_t err_len)
{
	unsigned int ways = 1;

	for (unsigned int s = 0; s < l->n_segments; s++) {
		if (l->ways[s] != 1 && ways != 1 && l->ways[s] != ways)
			return weft_errorf(err, err_len, -EINVAL,
				"layout: expected one number of ways, got %u* and %u*", ways,
				l->ways[s]);
		ways = l->ways[s] != 1 ? l->ways[s] : ways;
	}
	for (unsigned int s = 0; s < l->n_segments; s++)
		for (unsigned int i = l->first[s]; i < l->first[s + 1]; i++)
			if (l->ways[s] != ways && l->stage[i]->has_ways &&
				l->stage[i]->ends != WEFT_ENDS_NONE)
				return weft_errorf(err, err_len, -EINVAL,
					"layout: stage \"%s\" works on connections, which have %u "
					"ways: expected it in a segment with %u*",
					l->stage[i]->name, ways, ways);
	return 0;
}

static int
layout_parse_text(const char *text, struct weft_layout *l, char *err, size_t err_len)
{
	bool begins = true;
	size_t at = 0;

	l->n_segments = 1;
	for (;;) {
		size_t len, end;
		int rc = 0;

		at += strspn(text + at, " \t\r\n");
		if (begins)
			rc = layout_read_ways(text, &at, l, err, err_len);
		if (rc != 0)
			return rc;
		at += strspn(text + at, " \t\r\n");
		len = strcspn(text + at, ",| \t\r\n");
		rc = layout_add(l, text + at, len, at, err, err_len);
		if (rc != 0)
			return rc;
		end = at + len;
		end += strspn(text + end, " \t\r\n");
		if (text[end] == '\0')
			break;
		if (text[end] != ',' && text[end] != '|')
			return weft_errorf(err, err_len, -EINVAL,
				"layout, character %zu: expected \",\" or \"|\" between stages, "
				"got \"%c\"",
				end + 1, text[end]);
		begins = text[end] == '|';
		if (begins)
			rc = layout_begin_segment(l, end, err, err_len);
		if (rc != 0)
			return rc;
		at = end + 1;
	}
	if (layout_end_segment(l, err, err_len) != 0)
		return -EINVAL;
	return layout_check_ways(l, err, err_len);
}

/* Comments become spaces, so that positions in errors stay true. */
static void
layout_blank_comments(char *text)
{
	for (char *p = text; (p = strchr(p, '#')) != NULL;)
		while (*p != '\0' && *p != '\n')
			*p++ = ' ';
}

static int
layout_read_file(const char *path, char *text, char *err, size_t err_len)
{
	FILE *f = fopen(path, "r");
	size_t n;
	int rc;

	if (f == NULL)
		return weft_errorf(
			err, err_len, -errno, "layout file %s: %s", path, strerror(errno));
	n = fread(text, 1, LAYOUT_FILE_MAX, f);
	rc = ferror(f) ? -errno : 0;
	fclose(f);
	if (rc != 0)
		return weft_errorf(err, err_len, rc, "layout file %s: %s", path, strerror(-rc));
	if (n == LAYOUT_FILE_MAX || memchr(text, '\0', n) != NULL)
		return weft_errorf(err, err_len, -EINVAL,
			"layout file %s: expected text of less than %d bytes, got %s", path,
			LAYOUT_FILE_MAX, n == LAYOUT_FILE_MAX ? "more" : "a byte 0");
	text[n] = '\0';
	layout_blank_comments(text);
	return 0;
}

int
weft_layout_parse(const char *text, struct weft_layout *l, char *err, size_t err_len)
{
	char file_text[LAYOUT_FILE_MAX];
	struct weft_layout parsed = { 0 };
	int rc;

	if (text[0] == '@') {
		rc = layout_read_file(text + 1, file_text, err, err_len);
		if (rc != 0)
			return rc;
		text = file_text;
	}
	rc = layout_parse_text(text, &parsed, err, err_len);
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
