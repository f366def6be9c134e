/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The GFD of doc/gfam.md by text, for a model to judge. A line is a whole request, and the answer
 * to it the whole response in hex:
 *
 *   fm HEX          from the manager that owns the GFD
 *   host PID HEX    from a host, through the proxy
 *   new             the device as at first, "new plain" with DMP 1 for DC alone; answers "ok"
 *
 * A line that is empty or begins with # has no answer; "none" answers what is no request, "syntax"
 * a line that is not understood. PID is a C constant.
 */

#include "gfd_rig.h"

#include <stdio.h>

#define MESSAGE_ROOM (WEFT_CCI_MESSAGE_MAX + 64) /* longer than any that is right */
#define LINE_ROOM (2 * MESSAGE_ROOM + 64)

static struct gfd_rig rig;

static int
digit(char c)
{
	return c >= '0' && c <= '9'   ? c - '0'
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
	       : c >= 'A' && c <= 'F' ? c - 'A' + 10
	                              : -1;
}

/* @return bytes, or -1 */
static int
read_hex(const char *text, uint8_t *to, size_t room)
{
	size_t n = 0;

	for (; text[0] != '\0' && text[0] != '\n'; text += 2, n++) {
		if (n == room || digit(text[0]) < 0 || digit(text[1]) < 0)
			return -1;
		to[n] = (uint8_t)(digit(text[0]) << 4 | digit(text[1]));
	}
	return (int)n;
}

static bool
request(const char *line)
{
	uint8_t msg[MESSAGE_ROOM], rsp[WEFT_CCI_MESSAGE_MAX];
	struct weft_cci_caller who = { WEFT_CCI_FM, GFD_RIG_FM };
	char *hex;
	size_t n;
	int len;

	if (strncmp(line, "fm ", 3) == 0) {
		hex = (char *)line + 3;
	} else if (strncmp(line, "host ", 5) == 0) {
		who.iface = WEFT_CCI_HOST;
		who.pid = (uint16_t)strtoul(line + 5, &hex, 0);
		if (*hex++ != ' ')
			return false;
	} else {
		return false;
	}
	len = read_hex(hex, msg, sizeof(msg));
	if (len < 0)
		return false;
	n = weft_cci_component_run(&rig.component, &who, msg, (size_t)len, rsp, sizeof(rsp), 0);
	for (size_t i = 0; i < n; i++)
		printf("%02x", rsp[i]);
	puts(n == 0 ? "none" : "");
	return true;
}

static bool
again(bool plain)
{
	gfd_rig_fini(&rig);
	return gfd_rig_init(&rig, plain);
}

int
main(void)
{
	static char line[LINE_ROOM];

	if (!gfd_rig_init(&rig, false))
		return EXIT_FAILURE;
	while (fgets(line, sizeof(line), stdin) != NULL) {
		if (line[0] == '\n' || line[0] == '#')
			continue;
		if (strcmp(line, "new\n") == 0 || strcmp(line, "new plain\n") == 0)
			puts(again(line[3] == ' ') ? "ok" : "failed");
		else if (!request(line))
			puts("syntax");
		fflush(stdout);
	}
	gfd_rig_fini(&rig);
	return EXIT_SUCCESS;
}
