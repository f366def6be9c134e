/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Files that verbs read and write. An output file is written beside the one that is named and takes
 * its place when it is whole: whoever looks finds what was there before, or all of it. What cannot
 * be read is wrong input (exit status 2), what cannot be written is the verb's failure.
 */
#ifndef FILE_H
#define FILE_H

#include <limits.h>
#include <stdio.h>

#include "ctl.h"

struct file_in {
	const struct ctl *c;
	const char *name;
	uint64_t size; /* bytes to its end; UINT64_MAX: not known */
	int fd;
	bool has_ended; /* of a terminal what comes behind its end would be read again */
};

struct file_out {
	const struct ctl *c;
	const char *name;
	FILE *f;
};

/** Open for reading; "-" or NULL is standard input. */
void file_open(struct file_in *f, const struct ctl *c, const char *path);

/** Read @p n bytes, or as many as there are up to the end. @return how many */
size_t file_read(struct file_in *f, uint8_t *p, size_t n);

/**
 * cli_usage() if the file ended before its size, after @p done bytes: it was cut meanwhile, or its
 * size says something else. @p became is what was done with those.
 */
void file_judge_end(const struct file_in *f, uint64_t done, const char *became);

/** Make an output file; "-" is standard output. One at a time. */
void file_create(struct file_out *f, const struct ctl *c, const char *path);

void file_write(struct file_out *f, const uint8_t *p, size_t n);

/** All was written: the file takes its name. Until then exit() takes it away. */
void file_commit(struct file_out *f);

#endif /* FILE_H */
