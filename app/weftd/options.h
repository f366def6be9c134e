/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* The command line. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "daemon.h"

struct run_options {
	const char *server;
	bool check;
	const char *resolve; /* file */
	const char *from;
	const char *hpa;
	bool uio;
};

/** Read the command line; ends the program where it is wrong or asks for no run. */
void options_parse(struct daemon_cfg *c, struct run_options *run, int argc, char **argv);

#endif /* OPTIONS_H */
