/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * weft-sig: standard input through the two domains of a key to standard output. What does not match
 * is a line of JSON on standard error, and the data flows on; so is, at the end, how many blocks
 * were not looked at because of their tags. Input that is not whole blocks moves nothing
 * (signature.md section 6.2), so its length must be known first: a file has one, a pipe is read to
 * its end, as is a file of the system that does not say its length. doc/signature.md is its manual.
 *
 * Exit status: 0, mismatches or not; 1 if input is not whole blocks, cannot be read or is the
 * output file, or if output cannot be written; 2 for bad arguments.
 */

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "weft_sig_text.h"
#include "words.h"

#define CHUNK (1u << 18)
#define SPOOL "temporary file of the input (--stream needs none)"
/* Signatures of whole blocks, and the units that a chunk begins and ends in. */
#define OUT_ROOM (CHUNK + CHUNK / WEFT_SIG_BLOCK_MIN * WEFT_SIG_LEN_MAX + 2 * WEFT_SIG_OUT_MAX)

struct options {
	enum weft_sig_dir dir;
	struct weft_sig_text mem, wire;
	struct weft_sig_attr attr;
	uint64_t block0;
	bool stream;
};

static uint64_t
sig_parse_hex(const char *option, const char *text, uint64_t most)
{
	uint64_t v;

	if (weft_sig_text_hex(text, most, &v) != 0)
		cli_usage("%s: expected a hex number up to %" PRIx64 ", got \"%s\"", option, most,
			text);
	return v;
}

static const struct weft_sig_domain *
sig_parse_domain(const char *option, const char *text, struct weft_sig_text *s)
{
	const struct weft_sig_domain *d;
	char err[160];

	if (weft_sig_text_parse(s, text, &d, err, sizeof(err)) != 0)
		cli_usage("%s: %s", option, err);
	return d;
}

static void
sig_read_mem(const char *option, char *text, void *to)
{
	struct options *o = to;

	o->attr.mem = sig_parse_domain(option, text, &o->mem);
}

static void
sig_read_wire(const char *option, char *text, void *to)
{
	struct options *o = to;

	o->attr.wire = sig_parse_domain(option, text, &o->wire);
}

static void
sig_read_check_mask(const char *option, char *text, void *to)
{
	((struct options *)to)->attr.check_mask = (uint8_t)sig_parse_hex(option, text, UINT8_MAX);
}

static void
sig_read_copy_mask(const char *option, char *text, void *to)
{
	struct options *o = to;

	o->attr.copy_mask = (uint8_t)sig_parse_hex(option, text, UINT8_MAX);
	o->attr.flags = WEFT_SIG_COPY_MASK;
}

/* Decimal, or hex behind 0x. */
static void
sig_read_block0(const char *option, char *text, void *to)
{
	if (!words_number(text, 0, UINT64_MAX, &((struct options *)to)->block0))
		cli_usage("%s: expected a number, got \"%s\"", option, text);
}

static const char *const directions[] = { "tx", "rx", NULL };

enum { MEM = 1, WIRE = 2 }; /* options that must be there */

#define CLI_INTO struct options
static const struct cli_option options[] = {
	{ CLI_SECTION("Options") },
	{ "mem", "SPEC", NULL, "what stands in memory", CLI_OWN(sig_read_mem), .tags = MEM },
	{ "wire", "SPEC", NULL, "what crosses the wire", CLI_OWN(sig_read_wire), .tags = WIRE },
	{ "check-mask", "X", "ff", "bytes of input signatures that are compared",
		CLI_OWN(sig_read_check_mask) },
	{ "copy-mask", "X", NULL,
		"bytes of output signatures taken from the input's (those that the domains have "
		"in common)",
		CLI_OWN(sig_read_copy_mask) },
	{ "block0", "N", "0", "number of the first block", CLI_OWN(sig_read_block0) },
	{ "stream", NULL, NULL, "pass data on as it comes; judge its length at the end",
		CLI_FLAG(stream) },
};

static const struct cli_program program = {
	.name = "weft-sig",
	.synopsis = "tx|rx --mem SPEC --wire SPEC [options] <in >out",
	.does = "Check, strip, copy and make block signatures. tx reads what lies in memory and "
		"writes what crosses the wire; rx the other way round.",
	.details = "  SPEC: none\n"
		   "        crc32:BLOCK[,seed=X]  crc32c:BLOCK[,seed=X]  crc64:BLOCK[,seed=X]\n"
		   "        dif:BLOCK,guard=crc|csum,bg=X,app=X,ref=X[,remap][,app-escape]"
		   "[,app-ref-escape]\n"
		   "  BLOCK: 512, 520, 4048, 4096 or 4160; X: hex; a seed is 0 or all ones (all "
		   "ones)\n",
	.status = "input is not whole blocks, cannot be read or is the output file, or output "
		  "cannot be written",
	.examples = "  weft-sig tx --mem none --wire crc32c:4096 <data >signed\n"
		    "  weft-sig rx --mem none --wire crc32c:4096 <signed >data\n",
	CLI_OPTIONS(options),
	.operands = directions,
};

static void
sig_parse_options(struct options *o, int argc, char **argv)
{
	const uint64_t given = cli_parse(&program, o, argc, argv);
	const bool has_mem = cli_given(&program, given, MEM);
	const bool has_wire = cli_given(&program, given, WIRE);

	if (argc - optind != 1)
		cli_usage("expected one of tx, rx%s%s", optind < argc ? ", got also " : "",
			optind < argc ? argv[optind + 1] : "");
	if (strcmp(argv[optind], "tx") != 0 && strcmp(argv[optind], "rx") != 0)
		cli_usage("expected tx or rx, got \"%s\"", argv[optind]);
	o->dir = argv[optind][0] == 't' ? WEFT_SIG_TX : WEFT_SIG_RX;
	if (!has_mem || !has_wire)
		cli_usage("expected --mem and --wire, got no %s", has_mem ? "--wire"
								  : has_wire
									  ? "--mem"
									  : "--mem and no --wire");
}

static void
sig_open_key(struct weft_sig_key *key, const struct options *o)
{
	const bool signs = o->attr.mem != NULL || o->attr.wire != NULL;

	weft_sig_key_init(
		key, WEFT_SIG_KEY_BLOCK_SIGNATURE, weft_sig_kernel_find(NULL, cli_cpu_features()));
	weft_sig_key_configure(key, 0, 0);
	if (signs)
		weft_sig_key_set_sig(key, &o->attr);
	/* Each domain alone was found good by its parser. */
	if ((!signs && o->attr.flags != 0) || weft_sig_key_complete(key) != 0)
		cli_usage("--copy-mask: both domains must have the same type and block");
}

static void
sig_open_stream(struct weft_sig_stream *s, struct weft_sig_key *key, const struct options *o)
{
	if (weft_sig_begin(s, key, o->dir, o->block0, 0) != 0)
		cli_usage("--block0: block %" PRIu64 " of input does not begin a block of output",
			o->block0);
}

static void
sig_report_error(const struct weft_sig_error *e)
{
	static const char *const names[] = { [WEFT_SIG_BAD_GUARD] = "bad_guard",
		[WEFT_SIG_BAD_APPTAG] = "bad_apptag",
		[WEFT_SIG_BAD_REFTAG] = "bad_reftag" };

	fprintf(stderr,
		"{\"error\": \"%s\", \"block\": %" PRIu64 ", \"offset\": %" PRIu64
		", \"computed\": %" PRIu64 ", \"stored\": %" PRIu64 "}\n",
		names[e->type], e->block, e->offset, e->computed, e->stored);
}

static void
sig_write_all(int fd, const char *what, const uint8_t *p, size_t len)
{
	while (len > 0) {
		const ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			cli_fail("%s: %s", what, strerror(errno));
		p += n;
		len -= (size_t)n;
	}
}

static size_t
sig_read_input(uint8_t *p, size_t room)
{
	ssize_t n;

	do
		n = read(STDIN_FILENO, p, room);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		cli_fail("standard input: %s", strerror(errno));
	return (size_t)n;
}

/* Put a file that has an end in the place of standard input. */
static void
sig_spool_input(uint8_t *buf, size_t room)
{
	FILE *f = tmpfile();
	size_t len;

	if (f == NULL)
		cli_fail(SPOOL ": %s", strerror(errno));
	while ((len = sig_read_input(buf, room)) > 0)
		sig_write_all(fileno(f), SPOOL, buf, len);
	if (lseek(fileno(f), 0, SEEK_SET) != 0 || dup2(fileno(f), STDIN_FILENO) < 0)
		cli_fail(SPOOL ": %s", strerror(errno));
	fclose(f);
}

/* End here if what is left of input is not whole units and blocks. */
static void
sig_judge_length(const struct weft_sig_key *key, const struct options *o)
{
	const off_t at = lseek(STDIN_FILENO, 0, SEEK_CUR);
	struct stat st;
	uint64_t len, out_len;

	if (at < 0 || fstat(STDIN_FILENO, &st) != 0)
		cli_fail("standard input: %s", strerror(errno));
	len = st.st_size > at ? (uint64_t)(st.st_size - at) : 0;
	if (weft_sig_output_len(key, o->dir, len, &out_len) != 0)
		cli_fail("%" PRIu64 " bytes of input are not whole blocks; nothing was written",
			len);
}

/* Files in /proc say that they have 0 bytes, whatever can be read. */
static bool
sig_input_has_length(void)
{
	struct stat st;

	if (fstat(STDIN_FILENO, &st) != 0)
		cli_fail("standard input: %s", strerror(errno));
	return S_ISREG(st.st_mode) && st.st_size != 0;
}

/* Output behind input in the same file would be read again, without end. */
static void
sig_judge_output(void)
{
	struct stat in, out;

	if (fstat(STDIN_FILENO, &in) == 0 && fstat(STDOUT_FILENO, &out) == 0 &&
		S_ISREG(in.st_mode) && in.st_dev == out.st_dev && in.st_ino == out.st_ino)
		cli_fail("input file is output file: name another for the output");
}

/* At most one unit ends in @p len bytes: each gets its report. */
static void
sig_push_piece(struct weft_sig_stream *s, uint8_t *p, size_t len, struct weft_sig_list *out)
{
	struct weft_sig_piece from = { p, len, 0 };
	struct weft_sig_list in = { .piece = &from, .n = 1 };
	struct weft_sig_error e;

	weft_sig_push(s, &in, out);
	weft_sig_key_check(s->key, &e);
	if (e.type != WEFT_SIG_NO_ERROR)
		sig_report_error(&e);
}

/* What was read at once, and its output written at once. */
static void
sig_push_chunk(struct weft_sig_stream *s, uint8_t *p, size_t len)
{
	static uint8_t room[OUT_ROOM];
	struct weft_sig_piece to = { room, sizeof(room), 0 };
	struct weft_sig_list out = { .piece = &to, .n = 1 };

	for (size_t at = 0; at < len;) {
		const size_t unit = s->unit != 0 ? s->unit - weft_sig_partial(s) : len;
		const size_t n = unit < len - at ? unit : len - at;

		sig_push_piece(s, p + at, n, &out);
		at += n;
	}
	sig_write_all(STDOUT_FILENO, "standard output", room, out.done);
}

static void
sig_end_stream(struct weft_sig_stream *s)
{
	const size_t partial = weft_sig_partial(s);

	if (weft_sig_end(s) == 0)
		return;
	if (partial != 0)
		cli_fail("input ended inside block %" PRIu64 ": %zu of %" PRIu32 " bytes",
			s->in_block, partial, s->unit);
	cli_fail("input ended inside block %" PRIu64 " of output", s->out_block);
}

/*
 * Blocks that nobody has checked, and how many of them have a signature now that does not say so.
 */
static void
sig_report_escapes(const struct weft_sig_counters *c)
{
	if (c->escaped != 0)
		fprintf(stderr,
			"{\"escaped\": %" PRIu64 ", \"escaped_unprotected\": %" PRIu64 "}\n",
			c->escaped, c->escaped_unprotected);
}

int
main(int argc, char **argv)
{
	static struct weft_sig_stream s;
	static uint8_t in[CHUNK];
	struct weft_sig_key key;
	struct options o = { 0 };
	size_t len;

	signal(SIGXFSZ, SIG_IGN); /* an error of a write, as a full disk is */
	sig_parse_options(&o, argc, argv);
	sig_open_key(&key, &o);
	sig_open_stream(&s, &key, &o);
	sig_judge_output();
	if (!o.stream && s.unit != 0) {
		if (!sig_input_has_length())
			sig_spool_input(in, sizeof(in));
		sig_judge_length(&key, &o);
	}
	while ((len = sig_read_input(in, sizeof(in))) > 0)
		sig_push_chunk(&s, in, len);
	sig_report_escapes(&s.counters);
	sig_end_stream(&s);
	return EXIT_SUCCESS;
}
