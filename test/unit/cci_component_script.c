/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * A switch of 4 ports by text, for a model to judge (doc/cci.md, "Component by text"). A line is
 * a request:
 *
 *   fm PID HEX      from a manager whose PID is PID, 0xFFF: one that has none
 *   host PID HEX    from the mailbox of a host
 *   new             a new switch that nobody owns; answers "OK"
 *
 * PID is a C constant, HEX a whole message. The answer is the whole response in hex, or "none"
 * where there is none; "syntax" for a line that is not understood.
 */

#include "switch_rig.h"

#include <stdio.h>

#define PORTS 4
#define LINE_ROOM (2 * (WEFT_CCI_MESSAGE_MAX + 64) + 64)

static struct weft_cci_component component;
static struct switch_rig rig;

static bool
begin(void)
{
	struct weft_cci_component_cfg cfg;

	switch_rig_fini(&rig);
	if (!switch_rig_init(&rig, PORTS))
		return false;
	cfg = switch_rig_cfg(&rig);
	return weft_cci_component_init(&component, &cfg) == 0;
}

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
	uint8_t msg[WEFT_CCI_MESSAGE_MAX + 64], rsp[WEFT_CCI_MESSAGE_MAX];
	struct weft_cci_caller who = { .iface = WEFT_CCI_FM };
	size_t n;
	char word[8], *end;
	int at = 0, len;

	if (sscanf(line, "%7s %n", word, &at) != 1 || at == 0)
		return false;
	if (strcmp(word, "host") == 0)
		who.iface = WEFT_CCI_HOST;
	else if (strcmp(word, "fm") != 0)
		return false;
	who.pid = (uint16_t)strtoul(line + at, &end, 0);
	if (*end != ' ')
		return false;
	len = read_hex(end + 1, msg, sizeof(msg));
	if (len < 0)
		return false;
	n = weft_cci_component_run(&component, &who, msg, (size_t)len, rsp, sizeof(rsp), 0);
	for (size_t i = 0; i < n; i++)
		printf("%02x", rsp[i]);
	puts(n == 0 ? "none" : "");
	return true;
}

int
main(void)
{
	static char line[LINE_ROOM];

	if (!begin())
		return EXIT_FAILURE;
	while (fgets(line, sizeof(line), stdin) != NULL) {
		if (line[0] == '\n' || line[0] == '#')
			continue;
		if (strcmp(line, "new\n") == 0)
			puts(begin() ? "OK" : "failed");
		else if (!request(line))
			puts("syntax");
		fflush(stdout);
	}
	switch_rig_fini(&rig);
	return EXIT_SUCCESS;
}
