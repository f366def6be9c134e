/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * weftctl cci: one request to a component of a daemon on this machine, by its CCI socket, and its
 * response in the words of the layouts (doc/cci.md).
 */

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include <jansson.h>

#include "cli.h"
#include "ctl.h"
#include "weft_attach_rundir.h"
#include "weft_base.h"
#include "weft_cci.h"
#include "weft_cci_component.h"
#include "weft_cci_payload.h"
#include "weft_cci_text.h"
#include "weft_socket.h"
#include "words.h"

#define CCI_TIMEOUT_MS 5000
#define CCI_HOST_HEAD 8 /* net, EID, type, tag; PID of the host, reserved */
#define CCI_HEAD 4
#define CCI_ROOM (CCI_HOST_HEAD + WEFT_CCI_HDR + WEFT_CCI_MAX_PAYLOAD)
#define CCI_NO_PID 0xFFF
#define CCI_FIELDS 1024 /* room for the fields of a command, and for what is wrong with one */

/* Who weftctl is to components that it claims, always the same. */
static const uint8_t cci_uuid[16] = "weftctl";

/* A component, and what it said last. */
struct cci_peer {
	const struct ctl *c;
	int fd;
	char path[WEFT_SOCKET_PATH_MAX];
	uint16_t rc;
	uint8_t rsp[CCI_ROOM];
	const uint8_t *payload;
	size_t len;
	uint16_t host; /* PID as which it asks; 0: a manager */
};

/* It is there, and does not do its work. */
static void
cci_is_silent(const struct cci_peer *p)
{
	ctl_fail(p->c,
		"cci: the daemon that serves %s did not answer in %u s: is it stopped, or has it "
		"hung? fuser names it",
		p->path, CCI_TIMEOUT_MS / 1000);
}

/* The other end was closed, which a daemon does to whom it does not take for anybody. */
static void
cci_is_closed(const struct cci_peer *p)
{
	if (p->host != 0)
		ctl_fail(p->c,
			"cci --host: expected a PID of a host or device, got 0x%x: the daemon of "
			"%s knows none with it",
			p->host, p->c->operand[0]);
	ctl_fail(p->c, "cci: the daemon closed %s: it ended, or its log says why", p->path);
}

static void
cci_connect(struct cci_peer *p, const char *node)
{
	char folder[WEFT_SOCKET_PATH_MAX];
	int rc = weft_attach_rundir(folder, sizeof(folder), false);

	if (rc == 0 &&
		snprintf(p->path, sizeof(p->path), "%s/" WEFT_ATTACH_CCI "%s" WEFT_ATTACH_SUFFIX,
			folder, node) >= (int)sizeof(p->path))
		rc = -ENAMETOOLONG;
	p->fd = rc == 0 ? weft_socket_connect(p->path, CCI_TIMEOUT_MS) : rc;
	if (p->fd == -EAGAIN)
		cci_is_silent(p);
	if (p->fd < 0)
		ctl_fail(p->c,
			"cci %s: %s: expected the name of a switch or GFD that a daemon of this "
			"user runs",
			node, strerror(-p->fd));
}

/* Send a request and wait for its response. */
static void
cci_ask(struct cci_peer *p, uint16_t opcode, const uint8_t *payload, size_t len)
{
	const size_t head = p->host != 0 ? CCI_HOST_HEAD : CCI_HEAD;
	const struct weft_cci_hdr h = { .tag = 1, .opcode = opcode, .len = (uint32_t)len };
	uint8_t msg[CCI_ROOM] = { 1, head == CCI_HOST_HEAD ? 9 : 8, 8, 8 };
	struct weft_cci_hdr got;
	ssize_t n;

	weft_put_le16(msg + CCI_HEAD, p->host);
	weft_cci_put_hdr(msg + head, &h);
	if (len != 0)
		memcpy(msg + head + WEFT_CCI_HDR, payload, len);
	if (send(p->fd, msg, head + WEFT_CCI_HDR + len, MSG_NOSIGNAL) < 0)
		ctl_fail(p->c, "cci: %s: %s", p->path, strerror(errno));
	do /* a notice that comes between is not the answer */
		n = recv(p->fd, p->rsp, sizeof(p->rsp), 0);
	while (n > 0 && (size_t)n > head &&
		weft_cci_get_hdr(&got, p->rsp + head, (size_t)n - head) == 0 && !got.is_response);
	if (n < 0 && errno == EAGAIN)
		cci_is_silent(p);
	if (n < 0)
		ctl_fail(p->c, "cci: %s: %s", p->path, strerror(errno));
	if (n == 0)
		cci_is_closed(p);
	if ((size_t)n <= head || weft_cci_get_hdr(&got, p->rsp + head, (size_t)n - head) != 0)
		ctl_fail(p->c, "cci: expected a response, got %zd bytes of something else", n);
	p->rc = got.rc;
	p->payload = p->rsp + head + WEFT_CCI_HDR;
	p->len = got.len;
}

/* A manager gives a component its PID as it claims it: weftctl knows none for it. */
static void
cci_needs_pid(const struct cci_peer *p)
{
	char uuid[2 * sizeof(cci_uuid) + 1];

	for (size_t i = 0; i < sizeof(cci_uuid); i++)
		snprintf(uuid + 2 * i, 3, "%02x", cci_uuid[i]);
	ctl_fail(p->c,
		"cci --claim: %s has no PID: give it one first, N here: cci %s claim_ownership "
		"'op=0 fm_pid=0x%x fm_uuid=%s new_pid=N'",
		p->c->operand[0], p->c->operand[0], (unsigned int)p->c->opt.cci_claim, uuid);
}

/* Own the component, if nobody else does. */
static void
cci_claim(struct cci_peer *p)
{
	struct weft_cci_identify_pbr_component_rsp now;
	struct weft_cci_claim_ownership_req in = { .fm_pid = (uint16_t)p->c->opt.cci_claim };
	uint8_t payload[WEFT_CCI_CLAIM_OWNERSHIP_REQ_LEN];
	int len;

	cci_ask(p, WEFT_CCI_IDENTIFY_PBR_COMPONENT, NULL, 0);
	if (p->rc != WEFT_CCI_SUCCESS ||
		weft_cci_get_identify_pbr_component_rsp(&now, p->payload, p->len) != 0)
		ctl_fail(p->c, "cci --claim: %s", weft_cci_rc_name(p->rc));
	if (now.pid == CCI_NO_PID)
		cci_needs_pid(p);
	if (now.prim_fm_pid != CCI_NO_PID && memcmp(now.prim_uuid, cci_uuid, sizeof(cci_uuid)) != 0)
		ctl_fail(p->c, "cci --claim: the manager of PID 0x%03x has it", now.prim_fm_pid);
	in.op = now.prim_fm_pid == CCI_NO_PID ? 0 : 2;
	in.new_pid = now.pid;
	memcpy(in.fm_uuid, cci_uuid, sizeof(cci_uuid));
	len = weft_cci_put_claim_ownership_req(payload, sizeof(payload), &in);
	cci_ask(p, WEFT_CCI_CLAIM_OWNERSHIP, payload, (size_t)len);
	if (p->rc != WEFT_CCI_SUCCESS)
		ctl_fail(p->c, "cci --claim: %s%s", weft_cci_rc_name(p->rc),
			p->rc == WEFT_CCI_UNSUPPORTED ? ": weftd --cci full lets managers write"
						      : "");
}

/* A number in hex, such as 5709 or 5709h, or the key of a command, such as set_drt. */
static uint16_t
cci_opcode(const char *text)
{
	unsigned long value;
	char *end;

	for (unsigned int i = 0; i < weft_cci_n_commands; i++)
		if (strcmp(weft_cci_commands[i].key, text) == 0)
			return weft_cci_commands[i].opcode;
	errno = 0;
	value = strtoul(text, &end, 16);
	if (!isxdigit((unsigned char)text[0]) || (*end != '\0' && strcasecmp(end, "h") != 0) ||
		value > UINT16_MAX)
		cli_usage("cci: expected an opcode in hex, such as 5708, or a name such as "
			  "get_drt; without one weftctl cci lists them, got \"%s\"",
			text);
	return (uint16_t)value;
}

static size_t
cci_hex(const char *text, uint8_t *to)
{
	size_t n = 0;

	for (; text[0] != '\0'; text += 2, n++) {
		unsigned int byte;

		if (n == WEFT_CCI_MAX_PAYLOAD || !isxdigit((unsigned char)text[0]) ||
			!isxdigit((unsigned char)text[1]) || sscanf(text, "%2x", &byte) != 1)
			cli_usage("cci: expected a payload of at most %u bytes, two hex digits "
				  "each, or fields of a command that is known, got \"%s\"",
				WEFT_CCI_MAX_PAYLOAD, text);
		to[n] = (uint8_t)byte;
	}
	return n;
}

/*
 * What people write and the layouts do not: blanks around elements of a list, tabs and ends of
 * lines between fields, capitals. No name has one, and a digit is the same in both.
 */
static void
cci_tidy(char *text)
{
	char *to = text;

	for (const char *at = text; *at != '\0'; at++) {
		const char *next = at + strspn(at, " \t\r\n");

		if (next != at && *next != '\0') {
			if (strchr(",]:", *next) == NULL &&
				(to == text || strchr(",[:", to[-1]) == NULL))
				*to++ = ' ';
			at = next;
		}
		*to++ = isspace((unsigned char)*at) ? ' ' : (char)tolower((unsigned char)*at);
	}
	*to = '\0';
}

/* Fields of the request by their names. */
static size_t
cci_fields(const struct weft_cci_command_layout *command, const char *text, uint8_t *to)
{
	const struct weft_cci_field *missing;
	char fields[CCI_FIELDS], why[CCI_FIELDS];
	int n = -EINVAL;

	weft_cci_print_fields(fields, sizeof(fields), command->req);
	if (command->req != NULL)
		n = weft_cci_parse_payload(to, WEFT_CCI_MAX_PAYLOAD, command->req, text);
	if (n < 0) {
		weft_cci_explain_payload(why, sizeof(why), command->req, text);
		cli_usage("cci %04x %s: %s%s%s", command->opcode, command->key, why,
			fields[0] != '\0' ? "; its fields: " : "", fields);
	}
	missing = weft_cci_missing_field(command->req, text);
	if (missing != NULL)
		cli_usage(
			"cci %04x %s: expected %s=, %s, beside \"%s\": left out it would be 0; its "
			"fields: %s",
			command->opcode, command->key, missing->name, missing->must, text, fields);
	return (size_t)n;
}

/* Hex digits, or fields by their names. */
static size_t
cci_payload(uint16_t opcode, const char *text, uint8_t *to)
{
	const struct weft_cci_command_layout *command = weft_cci_find_command(opcode);
	char fields[CCI_FIELDS], *tidy;
	size_t n;

	if (text == NULL && command != NULL && command->req != NULL && command->req->min > 0) {
		weft_cci_print_fields(fields, sizeof(fields), command->req);
		cli_usage("cci %04x %s: expected its fields, got none: '%s' (those with * must be "
			  "named, others are 0 if they are not), or '' for a request without any",
			opcode, command->key, fields);
	}
	if (text == NULL)
		return 0;
	if (command == NULL || text[strspn(text, "0123456789abcdefABCDEF")] == '\0')
		return cci_hex(text, to);
	tidy = strdup(text);
	if (tidy == NULL)
		cli_fail("out of memory");
	cci_tidy(tidy);
	n = cci_fields(command, tidy, to);
	free(tidy);
	return n;
}

static void
cci_print(const struct cci_peer *p, const char *node, uint16_t opcode)
{
	const struct weft_cci_command_layout *command = weft_cci_find_command(opcode);
	char text[WEFT_CCI_TEXT_MAX] = "", hex[2 * WEFT_CCI_MAX_PAYLOAD + 1] = "";
	const bool is_known =
		command != NULL && p->rc == WEFT_CCI_SUCCESS &&
		weft_cci_print_payload(text, sizeof(text), command->rsp, p->payload, p->len) == 0;

	for (size_t i = 0; i < p->len; i++)
		snprintf(hex + 2 * i, 3, "%02x", p->payload[i]);
	if (p->c->opt.is_json) {
		ctl_print_json(
			p->c, json_pack("{s:s, s:i, s:s, s:i, s:s, s:s, s:o}", "node", node,
				      "opcode", (int)opcode, "name", weft_cci_opcode_name(opcode),
				      "rc", (int)p->rc, "code", weft_cci_rc_name(p->rc), "payload",
				      hex, "fields", is_known ? json_string(text) : json_null()));
		return;
	}
	printf("%s: %04Xh %s: %s\n", node, opcode, weft_cci_opcode_name(opcode),
		weft_cci_rc_name(p->rc));
	if (p->len != 0)
		printf("%s\n", is_known ? text : hex);
}

static bool
cci_is_served(uint8_t type, uint16_t opcode)
{
	return weft_cci_access(type, WEFT_CCI_FM, opcode) != WEFT_CCI_PROHIBITED ||
	       weft_cci_access(type, WEFT_CCI_HOST, opcode) != WEFT_CCI_PROHIBITED;
}

/* Commands of this kind of component, all for another. */
static void
cci_list(const struct ctl *c, int type)
{
	json_t *list = c->opt.is_json ? json_array() : NULL;
	char fields[CCI_FIELDS];

	if (list == NULL)
		printf("%-5s%-26s%s\n", "", "COMMAND",
			"FIELDS (* must be named, others are 0 if they are not)");
	for (unsigned int i = 0; i < weft_cci_n_commands; i++) {
		const struct weft_cci_command_layout *command = &weft_cci_commands[i];

		if ((type == WEFT_CCI_TYPE_SWITCH || type == WEFT_CCI_TYPE_GFD) &&
			!cci_is_served((uint8_t)type, command->opcode))
			continue;
		weft_cci_print_fields(fields, sizeof(fields), command->req);
		if (list != NULL)
			json_array_append_new(
				list, json_pack("{s:i, s:s, s:s, s:s}", "opcode",
					      (int)command->opcode, "key", command->key, "name",
					      command->name, "fields", fields));
		else
			printf("%04X %-*s%s\n", command->opcode, fields[0] != '\0' ? 26 : 0,
				command->key, fields);
	}
	if (list != NULL)
		ctl_print_json(c, list);
}

static int
cci_show_commands(struct ctl *c)
{
	struct weft_cci_identify_rsp id;
	struct cci_peer p = { .c = c };
	int type = -1;

	if (c->opt.cci_claim != 0 || c->opt.host != NULL)
		cli_usage("cci: expected an opcode beside --%s; without options the commands are "
			  "listed",
			c->opt.host != NULL ? "host" : "claim");
	if (c->operand[0] != NULL) {
		cci_connect(&p, c->operand[0]);
		cci_ask(&p, WEFT_CCI_IDENTIFY, NULL, 0);
		if (p.rc == WEFT_CCI_SUCCESS &&
			weft_cci_get_identify_rsp(&id, p.payload, p.len) == 0)
			type = id.comp;
		close(p.fd);
	}
	cci_list(c, type);
	return EXIT_SUCCESS;
}

int
cci_run(struct ctl *c)
{
	struct cci_peer p = { .c = c };
	uint8_t payload[WEFT_CCI_MAX_PAYLOAD];
	uint64_t host = 0;
	uint16_t opcode;
	size_t len;

	if (c->operand[0] == NULL || c->operand[1] == NULL)
		return cci_show_commands(c);
	opcode = cci_opcode(c->operand[1]);
	len = cci_payload(opcode, c->operand[2], payload);
	if (c->opt.host != NULL && !words_number(c->opt.host, 1, 0xFFE, &host))
		cli_usage("--host: expected a PID of 1 to 0xffe, got \"%s\"", c->opt.host);
	p.host = (uint16_t)host;
	if (c->opt.cci_claim != 0 && p.host != 0)
		cli_usage("--claim and --host: expected one of them");
	cci_connect(&p, c->operand[0]);
	if (c->opt.cci_claim != 0)
		cci_claim(&p);
	cci_ask(&p, opcode, payload, len);
	close(p.fd);
	cci_print(&p, c->operand[0], opcode);
	if (p.rc == WEFT_CCI_UNSUPPORTED && c->opt.cci_claim == 0 && p.host == 0)
		cli_warn("cci: a manager may be asked for: --claim PID makes weftctl that of %s",
			c->operand[0]);
	return p.rc == WEFT_CCI_SUCCESS || p.rc == WEFT_CCI_BACKGROUND_STARTED ? EXIT_SUCCESS
	                                                                       : c->failure;
}
