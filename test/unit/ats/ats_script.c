/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The packet formats of ATS, driven by a script on standard input, for a model to compare with. One
 * request a line, one line of answer each. Numbers are hexadecimal without a prefix, packets are
 * strings of hex digits.
 *
 *   dec RCB HEX            packet to fields; RCB is 40 or 80. Answer: KIND NAME=VALUE...
 *                          or: bad VERDICT
 *   enc KIND NAME=VALUE... fields to packet; fields not named are 0. Answer: HEX, or "none" if a
 *                          field is out of range
 *   xlats RCB HEX          translations of a completion with data. Answer:
 *                          only|first|second PA,LOG2,BITS...     or: bad VERDICT
 *   answer N FIRST PART HEADER-HEX PA,LOG2,BITS...
 *                          packet PART (0 only, 1 first, 2 second) of an answer of N translations,
 *                          FIRST of them in the first packet; HEADER-HEX is any completion whose
 *                          IDs, tag and TC are taken. Answer: HEX, or "none"
 *   put BASE LOG2          range to word (bits 63:0 with S). Answer: WORD
 *   get WORD               word to range. Answer: BASE LOG2, or "none"
 *
 * KIND: read write request cpl cpld invalidate invalidated page page_group. NAME: addr data itags
 * pasid length byte_count requester target group tc attr at tag enables status lower_addr itag log2
 * count page_bits code poisoned no_write global has_pasid exec priv (struct weft_ats_packet;
 * booleans are 0 or 1, data is a string of bytes). dec prints those that are not 0.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "weft_ats_wire.h"
#include "weft_base.h"

#define LINE 20000
#define BYTES_MAX (WEFT_ATS_HEADER_MAX + WEFT_ATS_DWS_MAX * 4)

static const char *const kind_names[WEFT_ATS_KINDS] = { "read", "write", "request", "cpl", "cpld",
	"invalidate", "invalidated", "page", "page_group" };

static const struct field {
	const char *name;
	size_t off, size;
} fields[] = {
#define FIELD(name)                                                                                \
	{                                                                                          \
#name, offsetof(struct weft_ats_packet, name),                                     \
			sizeof(((struct weft_ats_packet *)0)->name)                                \
	}
	FIELD(addr), FIELD(itags), FIELD(pasid), FIELD(length), FIELD(byte_count), FIELD(requester),
	FIELD(target), FIELD(group), FIELD(tc), FIELD(attr), FIELD(at), FIELD(tag), FIELD(enables),
	FIELD(status), FIELD(lower_addr), FIELD(itag), FIELD(log2), FIELD(count), FIELD(page_bits),
	FIELD(code), FIELD(poisoned), FIELD(no_write), FIELD(global), FIELD(has_pasid), FIELD(exec),
	FIELD(priv)
};

static void
give_up(const char *why, const char *what)
{
	fprintf(stderr, "ats_script: %s: %s\n", why, what);
	exit(2);
}

static char *
word(void)
{
	char *w = strtok(NULL, " \n");

	if (w == NULL)
		give_up("a word is missing", "line");
	return w;
}

static uint64_t
number(const char *s)
{
	char *end;
	const uint64_t v = strtoull(s, &end, 16);

	if (end == s)
		give_up("not a number", s);
	return v;
}

static size_t
unhex(const char *hex, uint8_t *out)
{
	unsigned int byte;
	size_t n = 0;

	for (; n < BYTES_MAX && sscanf(hex + 2 * n, "%2x", &byte) == 1; n++)
		out[n] = (uint8_t)byte;
	return n;
}

static void
print_hex(const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		printf("%02x", p[i]);
}

static uint64_t
field_get(const struct weft_ats_packet *p, const struct field *f)
{
	uint64_t v = 0;

	/* Little-endian machines only, as everything that runs this. */
	memcpy(&v, (const uint8_t *)p + f->off, f->size);
	return v;
}

static void
field_set(struct weft_ats_packet *p, char *assignment)
{
	static uint8_t data[BYTES_MAX];
	char *value = strchr(assignment, '=');
	uint64_t v;

	if (value == NULL)
		give_up("not NAME=VALUE", assignment);
	*value++ = '\0';
	if (strcmp(assignment, "data") == 0) {
		memset(data, 0, sizeof(data));
		unhex(value, data);
		p->data = data;
		return;
	}
	v = number(value);
	for (const struct field *f = fields; f < fields + WEFT_ARRAY_SIZE(fields); f++) {
		if (strcmp(f->name, assignment) != 0)
			continue;
		if (f->size < 8 && v >> 8 * f->size != 0)
			give_up("too large", assignment);
		memcpy((uint8_t *)p + f->off, &v, f->size);
		return;
	}
	give_up("no such field", assignment);
}

static void
run_dec(void)
{
	static uint8_t bytes[BYTES_MAX];
	const unsigned int rcb = (unsigned int)number(word());
	const size_t n = unhex(word(), bytes);
	struct weft_ats_packet p;
	const enum weft_verdict v = weft_ats_decode(bytes, n, rcb, &p);

	if (v != WEFT_OK) {
		printf("bad %s", weft_verdict_name(v));
		return;
	}
	printf("%s", kind_names[p.kind]);
	for (const struct field *f = fields; f < fields + WEFT_ARRAY_SIZE(fields); f++)
		if (field_get(&p, f) != 0)
			printf(" %s=%llx", f->name, (unsigned long long)field_get(&p, f));
	if (p.data != NULL) {
		printf(" data=");
		print_hex(p.data, (size_t)p.length * 4);
	}
}

static void
run_enc(void)
{
	static const uint8_t nothing[WEFT_ATS_DWS_MAX * 4];
	static uint8_t bytes[BYTES_MAX];
	struct weft_ats_packet p = { .kind = WEFT_ATS_KINDS, .data = nothing };
	const char *kind = word();
	char *w;
	size_t n;

	for (unsigned int k = 0; k < WEFT_ATS_KINDS; k++)
		if (strcmp(kind, kind_names[k]) == 0)
			p.kind = (uint8_t)k;
	while ((w = strtok(NULL, " \n")) != NULL)
		field_set(&p, w);
	n = weft_ats_encode(&p, bytes, sizeof(bytes));
	if (n == 0)
		printf("none");
	print_hex(bytes, n);
}

static void
run_xlats(void)
{
	static const char *const part_names[] = { "only", "first", "second" };
	static uint8_t bytes[BYTES_MAX];
	const unsigned int rcb = (unsigned int)number(word());
	const size_t len = unhex(word(), bytes);
	struct weft_ats_xlat x[WEFT_ATS_XLATS];
	enum weft_ats_part part = WEFT_ATS_ONLY;
	struct weft_ats_packet p;
	unsigned int n = 0;
	enum weft_verdict v = weft_ats_decode(bytes, len, rcb, &p);

	if (v == WEFT_OK && p.kind != WEFT_ATS_CPLD)
		v = WEFT_DROP_ATS_TYPE;
	if (v == WEFT_OK)
		v = weft_ats_xlats_get(&p, rcb, &part, x, &n);
	if (v != WEFT_OK) {
		printf("bad %s", weft_verdict_name(v));
		return;
	}
	printf("%s", part_names[part]);
	for (unsigned int i = 0; i < n; i++)
		printf(" %llx,%x,%x", (unsigned long long)x[i].pa, x[i].log2, x[i].bits);
}

static void
run_answer(void)
{
	const unsigned int n = (unsigned int)number(word());
	const unsigned int first = (unsigned int)number(word());
	const unsigned int part = (unsigned int)number(word());
	struct weft_ats_xlat x[WEFT_ATS_XLATS] = { 0 };
	uint8_t data[WEFT_ATS_XLATS * WEFT_ATS_XLAT_LEN];
	static uint8_t bytes[BYTES_MAX];
	struct weft_ats_packet p;
	size_t len = unhex(word(), bytes);

	if (weft_ats_decode(bytes, len, 128, &p) != WEFT_OK || part > WEFT_ATS_SECOND)
		give_up("not a completion", "answer");
	for (unsigned int i = 0; i < n && i < WEFT_ATS_XLATS; i++) {
		unsigned int log2, bits;
		unsigned long long pa;

		if (sscanf(word(), "%llx,%x,%x", &pa, &log2, &bits) != 3)
			give_up("not PA,LOG2,BITS", "answer");
		x[i].pa = pa;
		x[i].log2 = (uint8_t)log2;
		x[i].bits = (uint16_t)bits;
	}
	len = 0;
	if (weft_ats_xlats_put(&p, x, n, first, (enum weft_ats_part)part, data) == 0)
		len = weft_ats_encode(&p, bytes, sizeof(bytes));
	if (len == 0)
		printf("none");
	print_hex(bytes, len);
}

static void
run_put(void)
{
	const uint64_t base = number(word());
	const unsigned int log2 = (unsigned int)number(word());

	if (log2 < WEFT_ATS_PAGE_LOG2 || log2 > 64 || (base & weft_mask64(log2)) != 0)
		give_up("no such range", "put");
	printf("%llx", (unsigned long long)weft_ats_range_put(base, log2));
}

static void
run_get(void)
{
	uint64_t base = 0;
	const int log2 = weft_ats_range_get(number(word()), &base);

	if (log2 < 0)
		printf("none");
	else
		printf("%llx %x", (unsigned long long)base, (unsigned int)log2);
}

static const struct {
	const char *name;
	void (*run)(void);
} commands[] = { { "dec", run_dec }, { "enc", run_enc }, { "xlats", run_xlats },
	{ "answer", run_answer }, { "put", run_put }, { "get", run_get } };

static void
run_line(char *line)
{
	const char *name = strtok(line, " \n");

	if (name == NULL)
		give_up("empty line", "");
	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(commands); i++) {
		if (strcmp(name, commands[i].name) != 0)
			continue;
		commands[i].run();
		printf("\n");
		fflush(stdout);
		return;
	}
	give_up("no such command", name);
}

int
main(void)
{
	static char line[LINE];

	while (fgets(line, sizeof(line), stdin) != NULL)
		run_line(line);
	return 0;
}
