/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * lib/fabric by text, for a model to judge. One command a line on stdin, one line of answer each on
 * stdout, flushed after each. Numbers in are C constants (decimal,
 * or hex with 0x); numbers out are decimal, addresses hex with 0x. A line that is empty or begins
 * with # has no answer. A command that is not understood is answered "syntax", one that needs "new"
 * before it and had none, "none". I, GROUP, INTLV, GRAN, WAY and OPCODE are bytes, PIDs 16 bits.
 *
 * Setters answer OK, EINVAL, EPERM, EBUSY, ENOTSUP or ENOSPC; an error changed nothing. As a GFD
 * would answer: EINVAL, EPERM, EBUSY are Invalid Input, ENOTSUP Unsupported, ENOSPC Resources
 * Exhausted.
 *
 * new ROWS GROUPS BLOCKS KNOBS {MASK FLAGS}... new device; all tables empty, counts zero, no snoop
 * filter. ROWS: requesters that may have decoders at a time (1..4095). GROUPS 1..64. BLOCKS: MGT
 * entries of each DMP. KNOBS: 1 way bits are not compared, 2 decoders may overlap in HPA (data
 * path: several hits), 4 poison on deny, 8 poison on no decode, 16 UIO on. Then one pair for each
 * DMP (1..4): MASK bit n = blocks of 2^n bytes, n in 6..51; FLAGS of the media: 4 non-volatile, 8
 * sharable, 0x10 coherent, 0x20 DC, 0x40 read-only. dmp I BASE LEN BLOCK              4906h. LEN 0
 * takes it away. Base and length in steps of 256 MB and of the block; EINVAL on overlap; ENOSPC for
 * more blocks than BLOCKS; EBUSY if a block of it is in a group or a region stands in it. Values
 * are checked before EBUSY. region I BASE DECODE LEN BLOCK    4903h. I 0..7, DECODE 0 takes it
 * away. In one DMP with flag 0x20, BLOCK that of the DMP; EBUSY if a block of the old region is in
 * a group. blocks DPA LEN GROUP              blocks into group GROUP, or none for 255. In one DMP;
 * if that has flag 0x20, in the LEN of one region. sat RPID VEC                      64 bits; a bit
 * >= GROUPS is EINVAL. RPID 0..0xffe. sat32 RPID VEC                    490Dh: bit 31 is Notify.
 * Answers "OK 0" or "OK 1" (Notify). owner RPID PID                    PID may set the decoders of
 * RPID. At first RPID itself. gdt CALLER RPID START {V COH HPA DPA LEN INTLV GRAN WAY}... 4914h, up
 * to 16 decoders. CALLER 0xfff: the device itself. All or nothing. Of an entry with V = 0 nothing
 * else is looked at, and it reads back as zeros. Order of errors: EINVAL for RPID > 0xffe or no
 * entry; EPERM; ENOSPC if START + n > 8; then each entry in turn (EINVAL before ENOTSUP for COH on
 * media without flag 0x10); then overlaps with all eight, in DPA or (without knob 2) in HPA: ranges
 * BASE..BASE+(LEN << INTLV)-1, whatever the way, EINVAL; then ENOSPC if no row is left. EINVAL too
 * for WAY >= ways and for LEN 0. getgdt RPID I                     answers "V COH HPA DPA LEN INTLV
 * GRAN WAY" group DPA                         answers the group of the block, 255 for none r SPID
 * HPA        w SPID HPA      CXL.mem access ur SPID HPA LEN   uw SPID HPA LEN  UIO access, LEN
 * 1..4096 answer "RESULT TRIGGER ANSWER DPA DECODER DMP GROUP COHERENT": RESULT is allowed, no_row,
 * no_hit, wrong_way, several, ungrouped, denied, no_write, crosses, uio_off; TRIGGER 0, 2, 3 or -1
 * for none; ANSWER is serve, nxm, nxm_poison, ones, ones_poison, cmp, ur, ca. DPA and DECODER are 0
 * unless a decoder hit, DMP is 0 and GROUP 255 unless there is a group. wrong_way: no decoder hits,
 * but one would if way bits were not compared. crosses: UIO, some lines of 64 bytes hit and others
 * not, or hit another decoder; the whole is then crosses. Otherwise UIO answers for its first line
 * that is not allowed (DPA of the line's start, but for the first line of the byte), else for its
 * first byte. SPID may be anything; above 0xffe is no_row. run N     N (up to 1048576) CXL.mem
 * accesses in binary: behind the line N times 8 bytes HPA, 2 bytes SPID, 1 byte 0|1 write,
 * little-endian. Answers "decisions N", and behind it N times 8 bytes DPA and a byte each of RESULT
 * (its place in the list above), DECODER, DMP, GROUP, COHERENT, and three of zero rev RPID DPA
 * DPA to HPA: "0x..." or ENOENT note NOW SPID HPA r|w OPCODE      access as above at time NOW (ns),
 * counted; answers "quiet" or "report HEX SUPPRESSED": 40 bytes of 0107h from PID 0x123, and how
 * many were kept back counts SPID                       answers "F0 F1 F2 F3 RO": failures by
 * trigger, dropped writes to read-only memory filter SETS WAYS LOST_MAX         new snoop filter:
 * OK or EINVAL take DPA PID s|e                  answers "OK", EINVAL, EIO (off-line), or "snoop N"
 * and N times " PID DPA s|e" in no order: these must be dropped before "take" can succeed drop DPA
 * PID                      answers 1 if it was held, else 0 gone PID
 * answers the number of lines dropped holders DPA                       answers "N" and N times "
 * PID s|e" in no order path NOW DPA PID                  address for a snoop: "0x...", or "lost 0|1
 * OFFLINE": whether a report is due, whether the filter is off-line. The holder is then dropped.
 * copy                              go on with a copy of the tables; the old ones are wiped
 */

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "weft_base.h"
#include "weft_gfam.h"
#include "weft_gfam_filter.h"
#include "weft_gfam_log.h"

#define WORDS_MAX 160
#define GDT_MAX 16
#define GDT_WORDS 8
#define REPORT_PID 0x123

static struct weft_gfam_cfg cfg;
static struct weft_gfam *tables;
static struct weft_gfam_log failures;
static struct weft_gfam_filter filter;
static uint64_t *filter_mem;

struct words {
	const char *w[WORDS_MAX];
	unsigned int n;
};

static uint64_t
num(const struct words *c, unsigned int i)
{
	return strtoull(c->w[i], NULL, 0);
}

static uint16_t
pid(const struct words *c, unsigned int i)
{
	const uint64_t v = num(c, i);

	return v > UINT16_MAX ? UINT16_MAX : (uint16_t)v;
}

static unsigned int
small(const struct words *c, unsigned int i)
{
	const uint64_t v = num(c, i);

	return v > UINT8_MAX ? UINT8_MAX : (unsigned int)v;
}

static const char *
errno_text(int rc)
{
	switch (rc) {
	case 0: return "OK";
	case -EINVAL: return "EINVAL";
	case -EPERM: return "EPERM";
	case -EBUSY: return "EBUSY";
	case -ENOTSUP: return "ENOTSUP";
	case -ENOSPC: return "ENOSPC";
	case -ENOENT: return "ENOENT";
	case -EIO: return "EIO";
	default: return "?";
	}
}

static void
answer(int rc)
{
	puts(errno_text(rc));
}

static void *
block_alloc(size_t len)
{
	void *mem = aligned_alloc(WEFT_CACHE_LINE, len);

	if (mem == NULL)
		exit(1);
	return mem;
}

static void
do_new(const struct words *c)
{
	void *mem;
	size_t len;

	memset(&cfg, 0, sizeof(cfg));
	cfg.rows = pid(c, 1);
	cfg.groups = (uint8_t)small(c, 2);
	cfg.blocks = (uint32_t)num(c, 3);
	cfg.knobs = (uint32_t)num(c, 4);
	cfg.dmps = (uint8_t)((c->n - 5) / 2);
	for (unsigned int i = 0; i < cfg.dmps && i < WEFT_GFAM_DMPS; i++) {
		cfg.media[i].block_sizes = num(c, 5 + 2 * i);
		cfg.media[i].flags = (uint8_t)small(c, 6 + 2 * i);
	}
	free(tables);
	tables = NULL;
	free(filter_mem);
	filter_mem = NULL;
	len = weft_gfam_size(&cfg);
	if (len == 0) {
		answer(-EINVAL);
		return;
	}
	mem = block_alloc(len);
	tables = weft_gfam_init(mem, &cfg);
	weft_gfam_log_init(&failures);
	answer(0);
}

static void
do_copy(const struct words *c)
{
	const size_t len = weft_gfam_size(&cfg);
	struct weft_gfam *t = weft_gfam_copy(block_alloc(len), tables);

	(void)c;
	memset(tables, 0xA5, len);
	free(tables);
	tables = t;
	answer(0);
}

static void
do_dmp(const struct words *c)
{
	answer(weft_gfam_set_dmp(tables, small(c, 1), num(c, 2), num(c, 3), num(c, 4)));
}

static void
do_region(const struct words *c)
{
	answer(weft_gfam_set_region(
		tables, small(c, 1), num(c, 2), num(c, 3), num(c, 4), num(c, 5)));
}

static void
do_blocks(const struct words *c)
{
	answer(weft_gfam_set_blocks(tables, num(c, 1), num(c, 2), (uint8_t)small(c, 3)));
}

static void
do_sat(const struct words *c)
{
	answer(weft_gfam_set_sat(tables, pid(c, 1), num(c, 2)));
}

static void
do_sat32(const struct words *c)
{
	bool notify;
	int rc = weft_gfam_set_sat32(tables, pid(c, 1), (uint32_t)num(c, 2), &notify);

	if (rc != 0)
		answer(rc);
	else
		printf("OK %d\n", notify);
}

static void
do_owner(const struct words *c)
{
	answer(weft_gfam_set_owner(tables, pid(c, 1), pid(c, 2)));
}

static void
do_gdt(const struct words *c)
{
	struct weft_gfam_decoder d[GDT_MAX];
	unsigned int n = (c->n - 4) / GDT_WORDS;

	memset(d, 0, sizeof(d));
	for (unsigned int i = 0, w = 4; i < n && i < GDT_MAX; i++, w += GDT_WORDS) {
		d[i].valid = num(c, w) != 0;
		d[i].coherent = num(c, w + 1) != 0;
		d[i].hpa_base = num(c, w + 2);
		d[i].dpa_base = num(c, w + 3);
		d[i].dpa_len = num(c, w + 4);
		d[i].intlv = (uint8_t)small(c, w + 5);
		d[i].gran = (uint8_t)small(c, w + 6);
		d[i].way = (uint8_t)small(c, w + 7);
	}
	answer(weft_gfam_set_gdt(tables, pid(c, 1), pid(c, 2), small(c, 3), d, n));
}

static void
do_getgdt(const struct words *c)
{
	struct weft_gfam_decoder d;

	weft_gfam_get_gdt(tables, pid(c, 1), small(c, 2), &d);
	printf("%d %d 0x%llx 0x%llx 0x%llx %u %u %u\n", d.valid, d.coherent,
		(unsigned long long)d.hpa_base, (unsigned long long)d.dpa_base,
		(unsigned long long)d.dpa_len, d.intlv, d.gran, d.way);
}

static void
do_group(const struct words *c)
{
	printf("%u\n", weft_gfam_group(tables, num(c, 1)));
}

static void
print_decision(const struct weft_gfam_decision *d, enum weft_gfam_access a)
{
	printf("%s %d %s 0x%llx %u %u %u %d\n", weft_gfam_result_name(d->result),
		weft_gfam_trigger(d->result),
		weft_gfam_answer_name(weft_gfam_answer(d->result, a, cfg.knobs)),
		(unsigned long long)d->dpa, d->decoder, d->dmp, d->group, d->coherent);
}

/* r, w: by the run function, so that it is judged as well. */
static void
do_access(const struct words *c)
{
	const bool write = c->w[0][0] == 'w';
	const uint16_t spid = pid(c, 1);
	const uint64_t hpa = num(c, 2);
	struct weft_gfam_decision d;

	weft_gfam_decide_run(tables, &spid, &hpa, &write, &d, 1);
	print_decision(&d, write ? WEFT_GFAM_WRITE : WEFT_GFAM_READ);
}

#define RUN_MAX (1u << 20)
#define RUN_STEP 1000 /* no multiple of anything */
#define ACCESS_LEN 11
#define DECISION_LEN 16

static void
run_of(const uint8_t *in, uint8_t *out, unsigned int n)
{
	/* gcc with sanitizers does not see that as many are written as are read. */
	uint16_t spid[RUN_STEP] = { 0 };
	uint64_t hpa[RUN_STEP] = { 0 };
	bool write[RUN_STEP] = { false };
	struct weft_gfam_decision d[RUN_STEP];

	for (unsigned int i = 0; i < n; i++) {
		hpa[i] = weft_get_le64(in + (size_t)ACCESS_LEN * i);
		spid[i] = weft_get_le16(in + (size_t)ACCESS_LEN * i + 8);
		write[i] = in[(size_t)ACCESS_LEN * i + 10] != 0;
	}
	weft_gfam_decide_run(tables, spid, hpa, write, d, n);
	for (unsigned int i = 0; i < n; i++) {
		uint8_t *to = out + (size_t)DECISION_LEN * i;

		weft_put_le64(to, d[i].dpa);
		to[8] = d[i].result;
		to[9] = d[i].decoder;
		to[10] = d[i].dmp;
		to[11] = d[i].group;
		to[12] = d[i].coherent;
	}
}

static void
do_run(const struct words *c)
{
	const uint64_t n = num(c, 1);
	uint8_t *in, *out;

	if (n > RUN_MAX) {
		puts("EINVAL");
		return;
	}
	in = calloc(n + 1, ACCESS_LEN);
	out = calloc(n + 1, DECISION_LEN);
	if (in == NULL || out == NULL || fread(in, ACCESS_LEN, n, stdin) != n)
		exit(1);
	for (uint64_t i = 0; i < n; i += RUN_STEP)
		run_of(in + i * ACCESS_LEN, out + i * DECISION_LEN,
			(unsigned int)(n - i < RUN_STEP ? n - i : RUN_STEP));
	printf("decisions %llu\n", (unsigned long long)n);
	fwrite(out, DECISION_LEN, n, stdout);
	free(in);
	free(out);
}

static void
do_uio(const struct words *c)
{
	const bool write = c->w[0][1] == 'w';
	struct weft_gfam_decision d;

	weft_gfam_decide_uio(tables, pid(c, 1), num(c, 2), (uint32_t)num(c, 3), write, &d);
	print_decision(&d, write ? WEFT_GFAM_UIO_WRITE : WEFT_GFAM_UIO_READ);
}

static void
do_rev(const struct words *c)
{
	uint64_t hpa;
	int rc = weft_gfam_reverse(tables, pid(c, 1), num(c, 2), &hpa);

	if (rc != 0)
		answer(rc);
	else
		printf("0x%llx\n", (unsigned long long)hpa);
}

static void
do_note(const struct words *c)
{
	struct weft_gfam_decision d;
	struct weft_gfam_report r;
	uint8_t bytes[WEFT_GFAM_REPORT_LEN];

	weft_gfam_decide(tables, pid(c, 2), num(c, 3), c->w[4][0] == 'w', &d);
	if (!weft_gfam_log_note(
		    &failures, num(c, 1), pid(c, 2), num(c, 3), (uint8_t)small(c, 5), &d, &r)) {
		puts("quiet");
		return;
	}
	weft_gfam_report_pack(&r, REPORT_PID, bytes);
	printf("report ");
	for (unsigned int i = 0; i < sizeof(bytes); i++)
		printf("%02x", bytes[i]);
	printf(" %u\n", r.suppressed);
}

static void
do_counts(const struct words *c)
{
	const uint16_t id = pid(c, 1);
	const struct weft_gfam_counts *n = &failures.rpid[id < 0xFFF ? id : 0xFFF];

	for (unsigned int i = 0; i < WEFT_GFAM_TRIGGERS; i++)
		printf("%llu ", (unsigned long long)n->failed[i]);
	printf("%llu\n", (unsigned long long)n->read_only);
}

static void
do_filter(const struct words *c)
{
	const uint64_t sets = num(c, 1), ways = num(c, 2);
	int rc = -EINVAL;

	free(filter_mem);
	filter_mem = NULL;
	if (sets <= 1 << 20 && ways <= WEFT_GFAM_FILTER_WAYS_MAX) {
		filter_mem = calloc((size_t)(sets * ways) + 1, sizeof(*filter_mem));
		if (filter_mem == NULL)
			exit(1);
		rc = weft_gfam_filter_init(
			&filter, filter_mem, (uint32_t)sets, (uint8_t)ways, (uint32_t)num(c, 3));
	}
	if (rc != 0) {
		free(filter_mem);
		filter_mem = NULL;
	}
	answer(rc);
}

static void
do_take(const struct words *c)
{
	struct weft_gfam_snoop s[WEFT_GFAM_FILTER_WAYS_MAX];
	int n = weft_gfam_filter_take(&filter, num(c, 1), pid(c, 2), c->w[3][0] == 'e', s);

	if (n <= 0) {
		answer(n);
		return;
	}
	printf("snoop %d", n);
	for (int i = 0; i < n; i++)
		printf(" %u 0x%llx %c", s[i].pid, (unsigned long long)s[i].dpa,
			s[i].exclusive ? 'e' : 's');
	putchar('\n');
}

static void
do_drop(const struct words *c)
{
	printf("%d\n", weft_gfam_filter_drop(&filter, num(c, 1), pid(c, 2)));
}

static void
do_gone(const struct words *c)
{
	printf("%llu\n", (unsigned long long)weft_gfam_filter_gone(&filter, pid(c, 1)));
}

static void
do_holders(const struct words *c)
{
	struct weft_gfam_snoop s[WEFT_GFAM_FILTER_WAYS_MAX];
	unsigned int n = weft_gfam_filter_holders(&filter, num(c, 1), s);

	printf("%u", n);
	for (unsigned int i = 0; i < n; i++)
		printf(" %u %c", s[i].pid, s[i].exclusive ? 'e' : 's');
	putchar('\n');
}

static void
do_path(const struct words *c)
{
	struct weft_gfam_snoop s = { .dpa = num(c, 2), .pid = pid(c, 3) };
	struct weft_gfam_report r;
	bool due;

	if (weft_gfam_filter_path(&filter, tables, &failures, num(c, 1), &s, &r, &due) == 0)
		printf("0x%llx\n", (unsigned long long)s.hpa);
	else
		printf("lost %d %d\n", due, filter.offline);
}

enum needs { NOTHING, TABLES, FILTER };

static const struct command {
	const char *name;
	void (*run)(const struct words *c);
	unsigned int min, max; /* words behind the name */
	enum needs needs;
} commands[] = {
	{ "new", do_new, 6, 12, NOTHING },
	{ "copy", do_copy, 0, 0, TABLES },
	{ "dmp", do_dmp, 4, 4, TABLES },
	{ "region", do_region, 5, 5, TABLES },
	{ "blocks", do_blocks, 3, 3, TABLES },
	{ "sat", do_sat, 2, 2, TABLES },
	{ "sat32", do_sat32, 2, 2, TABLES },
	{ "owner", do_owner, 2, 2, TABLES },
	{ "gdt", do_gdt, 3, 3 + GDT_MAX *GDT_WORDS, TABLES },
	{ "getgdt", do_getgdt, 2, 2, TABLES },
	{ "group", do_group, 1, 1, TABLES },
	{ "r", do_access, 2, 2, TABLES },
	{ "w", do_access, 2, 2, TABLES },
	{ "run", do_run, 1, 1, TABLES },
	{ "ur", do_uio, 3, 3, TABLES },
	{ "uw", do_uio, 3, 3, TABLES },
	{ "rev", do_rev, 2, 2, TABLES },
	{ "note", do_note, 5, 5, TABLES },
	{ "counts", do_counts, 1, 1, TABLES },
	{ "filter", do_filter, 3, 3, TABLES },
	{ "take", do_take, 3, 3, FILTER },
	{ "drop", do_drop, 2, 2, FILTER },
	{ "gone", do_gone, 1, 1, FILTER },
	{ "holders", do_holders, 1, 1, FILTER },
	{ "path", do_path, 3, 3, FILTER },
};

static void
run(const struct words *c)
{
	for (size_t i = 0; i < WEFT_ARRAY_SIZE(commands); i++) {
		const struct command *k = &commands[i];

		if (strcmp(k->name, c->w[0]) != 0)
			continue;
		if (c->n - 1 < k->min || c->n - 1 > k->max)
			break;
		if ((k->needs >= TABLES && tables == NULL) ||
			(k->needs == FILTER && filter_mem == NULL))
			puts("none");
		else
			k->run(c);
		return;
	}
	puts("syntax");
}

int
main(void)
{
	char *line = NULL;
	size_t room = 0;

	while (getline(&line, &room, stdin) > 0) {
		struct words c = { .n = 0 };

		for (char *w = strtok(line, " \t\r\n"); w != NULL && c.n < WORDS_MAX;
			w = strtok(NULL, " \t\r\n"))
			c.w[c.n++] = w;
		if (c.n != 0 && c.w[0][0] != '#')
			run(&c);
		fflush(stdout);
	}
	free(line);
	free(tables);
	free(filter_mem);
	return 0;
}
