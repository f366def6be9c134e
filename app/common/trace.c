/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Traces by libpcap, which reads both byte orders, both resolutions and pcapng. */

#include "trace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <pcap/pcap.h>

struct trace {
	pcap_t *pcap;
	char *path;
	long long size; /* -1: unknown */
};

struct trace_writer {
	pcap_t *dead;
	pcap_dumper_t *dump;
};

#define NS_PER_S UINT64_C(1000000000)

static int
trace_start(struct trace *t, char *err, size_t err_len)
{
	char why[PCAP_ERRBUF_SIZE];
	struct stat st;
	int link;

	t->pcap = pcap_open_offline_with_tstamp_precision(t->path, PCAP_TSTAMP_PRECISION_NANO, why);
	if (t->pcap == NULL) {
		/* libpcap names the file in some of its errors, not in others. */
		if (strncmp(why, t->path, strlen(t->path)) == 0)
			snprintf(err, err_len, "%s", why);
		else
			snprintf(err, err_len, "%s: %s", t->path, why);
		return -EINVAL;
	}
	link = pcap_datalink(t->pcap);
	if (link != TRACE_LINK_ETHERNET && link != TRACE_LINK_RAW_FLITS) {
		snprintf(err, err_len,
			"%s: expected link type 1 (Ethernet) or 147 (raw flits), got %d", t->path,
			link);
		pcap_close(t->pcap);
		t->pcap = NULL;
		return -EINVAL;
	}
	t->size = fstat(fileno(pcap_file(t->pcap)), &st) == 0 && S_ISREG(st.st_mode) ? st.st_size
	                                                                             : -1;
	return 0;
}

struct trace *
trace_open(const char *path, char *err, size_t err_len)
{
	struct trace *t = calloc(1, sizeof(*t));

	if (t == NULL || (t->path = strdup(path)) == NULL) {
		snprintf(err, err_len, "%s: out of memory", path);
		free(t);
		return NULL;
	}
	if (trace_start(t, err, err_len) != 0) {
		trace_close(t);
		return NULL;
	}
	return t;
}

void
trace_close(struct trace *t)
{
	if (t->pcap != NULL)
		pcap_close(t->pcap);
	free(t->path);
	free(t);
}

bool
trace_is_file(const struct trace *t, const char *path)
{
	struct stat in, other;

	return t->size >= 0 && fstat(fileno(pcap_file(t->pcap)), &in) == 0 &&
	       stat(path, &other) == 0 && in.st_dev == other.st_dev && in.st_ino == other.st_ino;
}

int
trace_link(const struct trace *t)
{
	return pcap_datalink(t->pcap);
}

enum trace_read
trace_next(struct trace *t, struct trace_packet *p)
{
	struct pcap_pkthdr *h;
	const u_char *data;
	int rc = pcap_next_ex(t->pcap, &h, &data);

	if (rc == PCAP_ERROR_BREAK)
		return TRACE_END;
	if (rc != 1)
		return TRACE_TRUNCATED;
	p->time_ns = (uint64_t)h->ts.tv_sec * NS_PER_S + (uint64_t)h->ts.tv_usec;
	p->data = data;
	p->len = h->caplen;
	p->is_whole = h->caplen == h->len;
	return TRACE_PACKET;
}

int
trace_rewind(struct trace *t, char *err, size_t err_len)
{
	if (t->size < 0) {
		snprintf(err, err_len, "%s: not a regular file, cannot be read twice", t->path);
		return -ESPIPE;
	}
	pcap_close(t->pcap);
	return trace_start(t, err, err_len);
}

int
trace_percent(const struct trace *t)
{
	long at = ftell(pcap_file(t->pcap));

	if (t->size <= 0 || at < 0)
		return -1;
	return (int)(at * 100LL / t->size);
}

struct trace_writer *
trace_create(const char *path, int link, char *err, size_t err_len)
{
	struct trace_writer *w = calloc(1, sizeof(*w));

	if (w != NULL)
		w->dead = pcap_open_dead_with_tstamp_precision(
			link, 65535, PCAP_TSTAMP_PRECISION_NANO);
	if (w == NULL || w->dead == NULL) {
		snprintf(err, err_len, "%s: out of memory", path);
		free(w);
		return NULL;
	}
	w->dump = pcap_dump_open(w->dead, path);
	if (w->dump == NULL) {
		snprintf(err, err_len, "%s", pcap_geterr(w->dead));
		pcap_close(w->dead);
		free(w);
		return NULL;
	}
	return w;
}

void
trace_write(struct trace_writer *w, uint64_t time_ns, const uint8_t *data, uint32_t len)
{
	/* With nanosecond precision tv_usec holds nanoseconds. */
	struct pcap_pkthdr h = {
		.ts = { .tv_sec = (time_t)(time_ns / NS_PER_S),
			.tv_usec = (suseconds_t)(time_ns % NS_PER_S) },
		.caplen = len,
		.len = len,
	};

	pcap_dump((u_char *)w->dump, &h, data);
}

int
trace_finish(struct trace_writer *w)
{
	int rc = pcap_dump_flush(w->dump) == 0 && !ferror(pcap_dump_file(w->dump)) ? 0 : -EIO;

	pcap_dump_close(w->dump);
	pcap_close(w->dead);
	free(w);
	return rc;
}
