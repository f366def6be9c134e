/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* JSON reports of all programs. */
#ifndef JSON_H
#define JSON_H

#include <jansson.h>
#include <stdbool.h>

#include "weft_file.h"

/**
 * End the program with one line if json_write() could not begin now: once options are read, before
 * anything is begun. Writes nothing. @p path may be NULL.
 */
void json_check(const char *path);

/** The same of the file of another @p option. */
void json_check_option(const char *option, const char *path);

/** Whether JSON goes to standard output, and no text then. @p path may be NULL. */
bool json_is_output(const char *path);

/**
 * Write @p o, indented, to the file @p path, or to standard output for "-". 0, or
 * -errno, for which weft_file_error() has words.
 */
int json_write(const char *path, const json_t *o);

#endif /* JSON_H */
