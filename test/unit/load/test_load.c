/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The load of a fabric: what it is read into, from one file and from several, that the fabric is
 * read without it, each mistake in one line that says where, and what may not change under it.
 */

#include "weft_test.h"

#include "weft_load.h"

#include <unistd.h>

#define ROOM 8192

/*
 * Hosts of each sort, a device, and memory that takes turns. The list is the last, from line 25 on.
 */
static const char lab[] =
	"fabric: lab\n"
	"segments:\n"
	"  - {target: g0, size: 8M}\n"
	"  - {gim: h3, size: 64K}\n"
	"  - {target: d1, size: 64K}\n"
	"groups: [{name: all, ranges: [{gfd: g0}]}]\n"
	"nodes:\n"
	"  - {name: h2, kind: host, pid: 0x103}\n"
	"  - {name: ta, kind: host, pid: 0x100, translations: [\n"
	"      {host: h0, va: 0x1000, pa: 0x10000100000, size: 64K, move_to: 0x10000200000},\n"
	"      {host: h1, va: 0x1000, pa: 0x10000300000, size: 1M, rights: r}]}\n"
	"  - {name: h0, kind: host, pid: 0x101, ats: {agent: ta}}\n"
	"  - {name: h1, kind: host, pid: 0x102, ats: {agent: ta}}\n"
	"  - {name: h3, kind: host, pid: 0x104, gim: 64K}\n"
	"  - {name: d0, kind: device, pid: 0x301}\n"
	"  - {name: d1, kind: device, pid: 0x302, memory: 64K}\n"
	"  - {name: s0, kind: switch, pid: 0x010}\n"
	"  - {name: g0, kind: gfd, pid: 0x200}\n"
	"links: [{a: h0, b: s0}, {a: h1, b: s0}, {a: h2, b: s0}, {a: h3, b: s0}, {a: ta, b: s0},\n"
	"  {a: d0, b: s0}, {a: d1, b: s0}, {a: s0, b: g0}]\n";

static const char items[] =
	"workloads:\n" /* 21 */
	"  - {on: h3, kind: uio, lines: 64, bytes: 128, rate: 7, prefix: true}\n"
	"  - {on: h0, kind: mem, lines: 512}\n"
	"  - {on: h2, kind: mem, requests: 0, outstanding: 4096, write_percent: 100, lines: 62,\n"
	"     seed: 18446744073709551615, timeout_ms: 60000, rate: 1000000000}\n" /* 25 */
	"  - {on: d0, kind: uio, lines: 128}\n"
	"  - on: h2\n"
	"    kind: transfer\n"
	"    transfers:\n" /* 29 */
	"      - {kind: write, gfd: g0, offset: 5M, bytes: 64K, mem: none,\n"
	"         wire: \"dif:4096,guard=crc,bg=ffff,app=7,ref=0,remap\", block0: 16}\n"
	"      - {name: move, kind: copy, gfd: g0, offset: 5M, to: g0, to_offset: 6M, bytes: 1,\n"
	"         expect: mismatch}\n"
	"      - {kind: read, gfd: g0, bytes: 512, mem: \"crc32c:512\", wire: \"crc32c:512\",\n"
	"         check_mask: 0xf0, copy_mask: 0x10, fill: 0xa5}\n"
	"  - {on: ta, kind: move, every_ms: 2}\n"; /* 36 */

struct opened {
	struct weft_topo *t;
	struct weft_load *l;
	struct weft_topo_error err;
	int rc;
};

static void
open_text(struct opened *o, const char *yaml, const char *const *more, unsigned int n_more)
{
	const struct weft_load_files files = {
		.topology = "lab", .yaml = yaml, .len = strlen(yaml), .more = more, .n_more = n_more
	};

	memset(o, 0, sizeof(*o));
	o->rc = weft_load_open(&o->t, &o->l, &files, &o->err);
	assert_true((o->rc == 0) == (o->l != NULL) && (o->rc == 0) == (o->t != NULL));
}

static void
open_good(struct opened *o, const char *yaml)
{
	open_text(o, yaml, NULL, 0);
	if (o->rc != 0)
		fail_msg("%s\n%s", o->err.text, yaml);
}

static void
close_load(struct opened *o)
{
	weft_load_free(o->l);
	weft_topo_free(o->t);
}

static const struct weft_load_node *
load_of(const struct opened *o, const char *name)
{
	return &o->l->node[weft_topo_find(o->t, name)];
}

/* The lab and its list with @was as @is, which stands in them once. */
static const char *
with(char text[ROOM], const char *was, const char *is)
{
	char whole[ROOM];
	const char *at;

	snprintf(whole, sizeof(whole), "%s%s", lab, items);
	at = strstr(whole, was);
	if (at == NULL || strstr(at + 1, was) != NULL)
		fail_msg("\"%s\" does not stand in the lab once", was);
	snprintf(text, ROOM, "%.*s%s%s", (int)(at - whole), whole, is, at + strlen(was));
	return text;
}

WEFT_TEST(requests_have_defaults_and_lines_of_their_own)
{
	struct opened o;
	char text[ROOM];
	const struct weft_load_mem *a, *b;
	const struct weft_load_uio *u, *v;

	open_good(&o, with(text, "lab", "lab"));
	a = &load_of(&o, "h0")->mem;
	b = &load_of(&o, "h2")->mem;
	u = &load_of(&o, "h3")->uio;
	v = &load_of(&o, "d0")->uio;
	assert_true(load_of(&o, "h0")->has_mem && load_of(&o, "h2")->has_mem);
	assert_true(!load_of(&o, "h1")->has_mem && !load_of(&o, "h2")->has_uio);
	assert_true(load_of(&o, "h3")->has_uio && load_of(&o, "d0")->has_uio && o.l->has_uio);
	assert_int_equal(a->requests, 100000);
	assert_int_equal(a->outstanding, 64);
	assert_int_equal(a->write_percent, 50);
	assert_int_equal(a->lines, 512);
	assert_int_equal(a->seed, 1);
	assert_int_equal(a->timeout_ms, WEFT_LOAD_TIMEOUT_MS);
	assert_int_equal(a->rate, 0);
	assert_int_equal(b->requests, 0);
	assert_int_equal(b->outstanding, 4096);
	assert_int_equal(b->write_percent, 100);
	assert_true(b->seed == UINT64_MAX);
	assert_int_equal(b->timeout_ms, 60000);
	assert_int_equal(b->rate, 1000000000);
	/* Not among those of hosts that translate; by UIO in whole units, nodes in file order. */
	assert_int_equal(b->first_line, 0);
	assert_int_equal(u->first_line, 64);
	assert_int_equal(v->first_line, 128);
	assert_int_equal(u->bytes, 128);
	assert_int_equal(v->bytes, 256);
	assert_int_equal(u->prefix, 1);
	assert_int_equal(load_of(&o, "ta")->move.period_ms, 2);
	assert_int_equal(load_of(&o, "ta")->move.max_concurrent, 4);
	assert_int_equal(load_of(&o, "h1")->move.fence_ms, 25000);
	assert_int_equal(o.t->cxl_io.packets, WEFT_TOPO_CXL_IO_USUAL);
	close_load(&o);
}

WEFT_TEST(transfers_are_loaded_in_order)
{
	const struct weft_load_transfer *tr;
	struct opened o;
	char text[ROOM];

	open_good(&o, with(text, "lab", "lab"));
	assert_int_equal(o.l->n_transfers, 3);
	assert_int_equal(load_of(&o, "h2")->n_transfers, 3);
	assert_int_equal(load_of(&o, "h3")->n_transfers, 0);
	tr = &o.l->transfer[load_of(&o, "h2")->first_transfer];
	assert_string_equal(tr[0].name, "0");
	assert_int_equal(tr[0].kind, WEFT_LOAD_WRITE);
	assert_int_equal(tr[0].gfd, weft_topo_find(o.t, "g0"));
	assert_int_equal(tr[0].offset, 5u << 20);
	assert_int_equal(tr[0].bytes, 65536);
	assert_int_equal(tr[0].block0, 16);
	assert_int_equal(tr[0].check_mask, 0xFF);
	assert_false(tr[0].has_copy_mask);
	assert_int_equal(tr[0].data, WEFT_LOAD_SEED);
	assert_string_equal(tr[0].mem, "none");
	assert_string_equal(tr[0].wire, "dif:4096,guard=crc,bg=ffff,app=7,ref=0,remap");
	assert_string_equal(weft_load_outcomes[tr[0].expect], "ok");
	assert_string_equal(tr[1].name, "move");
	assert_int_equal(tr[1].kind, WEFT_LOAD_COPY);
	assert_int_equal(tr[1].to, weft_topo_find(o.t, "g0"));
	assert_int_equal(tr[1].to_offset, 6u << 20);
	assert_int_equal(tr[1].data, WEFT_LOAD_ANY_DATA);
	assert_string_equal(weft_load_outcomes[tr[1].expect], "mismatch");
	assert_int_equal(tr[2].kind, WEFT_LOAD_READ);
	assert_int_equal(tr[2].check_mask, 0xF0);
	assert_true(tr[2].has_copy_mask);
	assert_int_equal(tr[2].copy_mask, 0x10);
	assert_int_equal(tr[2].data, WEFT_LOAD_FILL);
	assert_int_equal(tr[2].fill, 0xA5);
	close_load(&o);
}

/* The fabric's part is what it is without the list, and needs none. */
WEFT_TEST(fabric_is_read_without_its_load)
{
	struct weft_topo_error err;
	struct weft_topo *t;
	struct opened o;
	char text[ROOM];

	with(text, "kind: mem, lines: 512", "kind: nonsense, lines: []");
	if (weft_topo_parse(&t, "lab", text, strlen(text), &err) != 0)
		fail_msg("%s", err.text);
	assert_false(t->cxl_io.is_given);
	weft_topo_free(t);
	open_good(&o, lab);
	assert_false(o.l->has_uio);
	assert_int_equal(o.l->n_transfers, 0);
	assert_int_equal(o.l->n_nodes, o.t->n_nodes);
	close_load(&o);
	open_good(&o, weft_topo_demo_yaml);
	assert_true(
		load_of(&o, "h0")->has_mem && load_of(&o, "h1")->has_mem && o.t->map.is_default);
	assert_int_equal(load_of(&o, "h1")->mem.first_line, 4096);
	close_load(&o);
}

static void
put_file(char path[32], const char *text)
{
	int fd;

	strcpy(path, "/tmp/weft-load-XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

/* Files of load add to the topology's own list; an error names the file and its line. */
WEFT_TEST(files_of_load_add_up)
{
	static const char *const bad[][2] = {
		{ "workloads:\n  - {on: h1, kind: mem}\n  - {on: h9, kind: mem}\n",
			":3: workloads[1].on: unknown node, expected a name under nodes, got "
			"\"h9\"" },
		{ "workloads: [{on: h2, kind: mem}]\n",
			":1: workloads[0].on: second mem of h2, expected one, got another after "
			"line 24 of lab" },
		{ "nodes: []\n", ":1: unknown key, expected workloads, got \"nodes\"" },
		{ "- x\n", ":1: wrong type, expected a mapping, got a list" },
		{ "workloads: []\n", ":1: workloads: empty list" },
		{ "", ":1: empty file" },
	};
	char path[2][32], text[ROOM], want[256];
	const char *more[2] = { path[0], path[1] };
	struct opened o;

	with(text, "lab", "lab");
	put_file(path[0], "workloads: [{on: h1, kind: mem, lines: 8}]\n");
	put_file(path[1], "workloads:\n  - {on: d1, kind: uio, lines: 4}\n");
	open_text(&o, text, more, 2);
	if (o.rc != 0)
		fail_msg("%s", o.err.text);
	assert_true(load_of(&o, "h1")->has_mem && load_of(&o, "d1")->has_uio);
	assert_int_equal(load_of(&o, "d1")->uio.first_line, 256);
	close_load(&o);
	unlink(path[1]);
	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(bad); i++) {
		put_file(path[1], bad[i][0]);
		open_text(&o, text, &more[1], 1);
		snprintf(want, sizeof(want), "%s%s", path[1], bad[i][1]);
		if (o.rc != -EINVAL || strncmp(o.err.text, want, strlen(want)) != 0)
			fail_msg("expected \"%s\", got %d, \"%s\"", want, o.rc, o.err.text);
		unlink(path[1]);
	}
	open_text(&o, text, &more[1], 1);
	assert_int_equal(o.rc, -ENOENT);
	unlink(path[0]);
}

#define MEM2 "kind: mem, requests: 0, outstanding: 4096, write_percent: 100, lines: 62"
#define READ "kind: read, gfd: g0, bytes: 512, mem: \"crc32c:512\", wire: \"crc32c:512\""
#define WRITE "kind: write, gfd: g0, offset: 5M, bytes: 64K, mem: none"
#define COPY "gfd: g0, offset: 5M, to: g0, to_offset: 6M, bytes: 1"
#define DIF "\"dif:4096,guard=crc,bg=ffff,app=7,ref=0,remap\""

/* What of the lab becomes what; line and part of the error, or NULL where it is let pass. */
static const struct {
	const char *was, *is;
	unsigned int line;
	const char *text;
} rows[] = {
	/* items */
	{ "  - {on: h0, kind: mem, lines: 512}", "  - {kind: mem}", 23,
		"workloads[1]: key missing, expected on, got none" },
	{ "on: h0, kind: mem, lines: 512", "on: h0", 23,
		"workloads[1]: key missing, expected kind, got none" },
	{ "on: h0, kind: mem, lines: 512", "on: h0, kind: me", 23,
		"workloads[1].kind: bad word, expected mem|uio|transfer|move, got \"me\"" },
	{ "on: h0, kind: mem, lines: 512", "on: h0, kind: mem, line: 1", 23,
		"workloads[1]: unknown key, expected "
		"on|kind|requests|outstanding|write_percent|lines|seed|timeout_ms|rate, got" },
	{ "on: h0, kind: mem, lines: 512", "on: h0, kind: mem, bytes: 64", 23,
		"workloads[1]: unknown key, expected on|kind|" },
	{ "  - {on: h0, kind: mem, lines: 512}", "  - mem", 23,
		"workloads[1]: wrong type, expected a mapping, got \"mem\"" },
	{ "on: h0, kind", "on: h9, kind", 23, "workloads[1].on: unknown node, expected a name" },
	{ "on: h0, kind", "on: h2, kind", 24,
		"workloads[2].on: second mem of h2, expected one, got another after line 23" },
	{ "on: h0, kind", "on: d1, kind", 23,
		"workloads[1].on: mem of another kind of node, expected a host, got device d1" },
	{ "on: d0, kind: uio", "on: g0, kind: uio", 26,
		"workloads[3].on: uio of another kind of node, expected a host or device, got gfd "
		"g0" },
	{ "  - on: h2", "  - on: d1", 27,
		"workloads[4].on: transfer of another kind of node, expected a host, got" },
	{ "on: ta, kind: move", "on: h2, kind: move", 36,
		"workloads[5].on: move of another kind of node, expected a host with translations, "
		"got host h2" },

	/* requests of CXL.mem */
	{ MEM2, "kind: mem, outstanding: 0", 24,
		"workloads[2].outstanding: bad number, expected 1..4096" },
	{ MEM2, "kind: mem, outstanding: 4097", 24, "expected 1..4096, got \"4097\"" },
	{ MEM2, "kind: mem, write_percent: 101", 24,
		"workloads[2].write_percent: bad number, expected 0..100" },
	{ MEM2, "kind: mem, lines: 0", 24, "workloads[2].lines: bad number, expected 1.." },
	{ "timeout_ms: 60000", "timeout_ms: 0", 25,
		"workloads[2].timeout_ms: bad number, expected 1..60000" },
	{ "rate: 1000000000", "rate: 1000000001", 25,
		"workloads[2].rate: bad number, expected 0..1000000000" },
	{ "seed: 18446744073709551615", "seed: -1", 25, "workloads[2].seed: bad number" },
	{ MEM2, "kind: mem, lines: 833", 26,
		"workloads[3]: more lines than segments[1] holds, expected at most 1024 for all "
		"load, got 1028" },
	{ MEM2, "kind: mem, lines: 832", 0, NULL },
	{ MEM2, "kind: mem, lines: 1025", 24,
		"workloads[2]: more lines than segments[1] holds, expected at most 1024 for all "
		"load, got 1025" },

	/* of hosts that translate, and agents */
	{ "kind: mem, lines: 512", "kind: mem, lines: 512, outstanding: 512", 23,
		"workloads[1]: too many at once, expected at most 256 of a host that translates" },
	{ "kind: mem, lines: 512", "kind: mem, lines: 1025", 23,
		"workloads[1]: more lines than a translation holds, expected at most 1024, got "
		"1025" },
	{ "{host: h0, va: 0x1000", "{host: h1, va: 0x900000", 23,
		"workloads[1]: mem without a destination, expected a translation of host h0 at ta, "
		"got none" },
	{ "on: d0, kind: uio", "on: h0, kind: uio", 26,
		"workloads[3]: uio of a host that translates, expected mem only" },
	{ "  - on: h2", "  - on: h1", 27,
		"workloads[4]: transfer of a host that translates, expected mem only" },
	{ "on: d0, kind: uio", "on: ta, kind: uio", 26,
		"workloads[3]: an agent that has requests of its own, expected a host without "
		"translations, got ta" },
	{ "pa: 0x10000100000", "pa: 0x10000000000", 10,
		"translation pa of host h0: over the lines of load, expected 16384 bytes or more "
		"into the segment, got 0x10000000000" },
	{ "pa: 0x10000100000", "pa: 0x10000004000", 0, NULL },
	{ "move_to: 0x10000200000", "move_to: 0x10000003000", 10,
		"translation move_to of host h0: over the lines of load" },
	{ "to_offset: 6M", "to_offset: 1M", 10,
		"translation pa of host h0: where a transfer writes, expected memory of its own, "
		"got 0x10000100000" },
	{ "to_offset: 6M", "to_offset: 1048575", 0, NULL },
	{ "to_offset: 6M", "to_offset: 1114111", 10, "pa of host h0: where a transfer writes" },
	{ "to_offset: 6M", "to_offset: 1114112", 0, NULL },
	{ "offset: 5M, to: g0", "offset: 1M, to: g0", 0, NULL },
	{ "to_offset: 6M", "to_offset: 2M", 10,
		"translation move_to of host h0: where a transfer writes" },
	{ "to_offset: 6M", "to_offset: 4M", 0, NULL },
	{ "to_offset: 6M", "to_offset: 4194303", 11, "pa of host h1: where a transfer writes" },

	/* requests by UIO */
	{ "lines: 64, bytes: 128", "lines: 66, bytes: 128", 22,
		"workloads[0].lines: bad number, expected 4..16777216, a multiple of 4, got "
		"\"66\"" },
	{ "bytes: 128", "bytes: 100", 22,
		"workloads[0].bytes: bad number, expected 64..256, a multiple of 64, got \"100\"" },
	{ "rate: 7", "rate: 1000000001", 22, "workloads[0].rate: bad number" },
	{ "fabric: lab", "fabric: lab\ndefaults: {cxl_io: 0}", 13, "nodes[2].ats: ats without" },

	/* transfers */
	{ WRITE, WRITE ", offsett: 0", 30,
		"workloads[4].transfers[0]: unknown key, expected "
		"name|kind|gfd|offset|to|to_offset|bytes|mem|wire|" },
	{ WRITE, "kind: write, bytes: 64K", 30,
		"workloads[4].transfers[0]: key missing, expected gfd" },
	{ WRITE, "kind: write, gfd: g0", 30, "transfers[0]: key missing, expected bytes" },
	{ WRITE, "kind: mov, gfd: g0, bytes: 4K", 30,
		"transfers[0].kind: bad word, expected write|read|copy, got \"mov\"" },
	{ WRITE, "kind: write, gfd: s0, bytes: 4K", 30,
		"transfers[0]: no such gfd, expected the name of one, got \"s0\"" },
	{ WRITE, "kind: write, gfd: g9, bytes: 4K", 30, "transfers[0]: no such gfd" },
	{ WRITE, "kind: write, gfd: g0, bytes: 0", 30,
		"transfers[0].bytes: bad size, expected 1..1073741824 bytes" },
	{ READ, "kind: read, gfd: g0, bytes: 512, wire: \"crc32c:500\"", 34,
		"transfers[2]: expected a block of 512, 520, 4048, 4096 or 4160 bytes, got "
		"\"500\"" },
	{ READ, "kind: read, gfd: g0, bytes: 512, mem: \"dif:512,guard=crc,bg=0\"", 34,
		"transfers[2]: dif needs guard=, bg=, app= and ref=" },
	{ READ, "kind: read, gfd: g0, bytes: 513, mem: \"crc32c:512\", wire: \"crc32c:512\"", 34,
		"transfers[2]: not whole blocks, expected a multiple of the blocks of mem and "
		"wire, got 513" },
	{ READ, "kind: read, gfd: g0, bytes: 16M, mem: \"crc32c:512\", wire: \"crc32c:512\"", 34,
		"transfers[2]: beyond the memory of gfd g0, expected 16777216 bytes at most, got "
		"16908288 with the signatures, at 0" },
	{ READ, "kind: read, gfd: g0, bytes: 512, wire: \"crc32c:512\"", 35,
		"transfers[2]: copy_mask without a signature that can be copied" },
	{ "mem: none,\n         wire: " DIF ", block0: 16",
		"mem: \"crc32:512\",\n         wire: \"crc64:4096\", block0: 3", 31,
		"transfers[0]: a block inside one of the output, expected one that begins it, got "
		"3" },
	{ WRITE, "kind: write, gfd: g0, offset: 16383, bytes: 64K", 30,
		"transfers[0]: writes over the lines of traffic, expected an offset of 16384 or "
		"more, got 16383" },
	{ WRITE, "kind: write, gfd: g0, offset: 16384, bytes: 64K", 0, NULL },
	{ COPY, "gfd: g0, to: g0, to_offset: 64, bytes: 1", 32,
		"transfers[1]: writes over the lines of traffic" },
	{ COPY, "gfd: g0, bytes: 1", 32, "transfers[1]: key missing, expected to, got none" },
	{ COPY, COPY ", seed: 1", 32,
		"transfers[1].seed: key of another kind, expected it in a write or read only, got "
		"it in a copy" },
	{ READ, READ ", to: g0", 34,
		"transfers[2].to: key of another kind, expected it in a copy only, got it in a "
		"read" },
	{ "fill: 0xa5", "fill: 1, seed: 1", 35,
		"transfers[2]: data twice, expected one of seed, fill, file, got more" },
	{ "expect: mismatch", "expect: bad", 33,
		"transfers[1].expect: bad word, expected "
		"ok|bad_guard|bad_apptag|bad_reftag|poisoned|lost|mismatch" },
};

WEFT_TEST(every_mistake_names_its_line)
{
	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(rows); i++) {
		char text[ROOM], start[32];
		struct opened o;

		open_text(&o, with(text, rows[i].was, rows[i].is), NULL, 0);
		snprintf(start, sizeof(start), "lab:%u: ", rows[i].line);
		if (rows[i].text == NULL ? o.rc != 0
					 : o.rc != -EINVAL || o.err.line != rows[i].line ||
						   strncmp(o.err.text, start, strlen(start)) != 0 ||
						   strstr(o.err.text, rows[i].text) == NULL)
			fail_msg("%s: expected \"%s...%s\", got %d, \"%s\"", rows[i].is, start,
				rows[i].text == NULL ? "" : rows[i].text, o.rc, o.err.text);
		close_load(&o);
	}
}

#define SMALL(keys, kind)                                                                          \
	"fabric: x\n" keys "nodes:\n  - {name: h, kind: host, pid: 1}\n"                           \
	"  - {name: s, kind: switch, pid: 2}\n  - {name: d, kind: " kind ", pid: 3, memory: 8K}\n" \
	"links: [{a: h, b: s}, {a: d, b: s}]\n"

/* Whole files, and what is said of them. */
static const char *const files[][2] = {
	{ SMALL("", "gfd") "workloads: [{on: h, kind: mem, lines: 128}]\n", NULL },
	{ SMALL("", "gfd") "workloads: [{on: h, kind: mem, lines: 129}]\n",
		"lab:7: workloads[0]: more lines than gfd d holds, expected at most 128 for all "
		"load, got 129" },
	{ SMALL("", "device") "workloads: [{on: h, kind: mem, lines: 1}]\n",
		"lab:7: workloads[0]: mem without a destination, expected a gfd, got none" },
	{ SMALL("", "device") "workloads: [{on: h, kind: uio, lines: 4}]\n",
		"lab:7: workloads[0]: uio without a destination, expected a segment or a gfd" },
	{ SMALL("ide: {mode: skid, key_file: k}\n", "gfd") "workloads: [{on: h, kind: uio, "
							   "lines: 4}]\n",
		"lab:8: workloads[0]: uio beside ide, expected one of them" },
	{ SMALL("defaults: {cxl_io: 0}\n", "gfd") "workloads: [{on: h, kind: uio, lines: 4}]\n",
		"lab:8: workloads[0]: uio without CXL.io packets, expected no defaults.cxl_io" },
	{ SMALL("", "gfd") "workloads: {}\n",
		"lab:7: workloads: wrong type, expected a list of 1..65536, got a mapping" },
	{ "fabric: x\nsegments: [{target: d}]\nnodes:\n  - {name: d, kind: device, pid: 3, "
	  "memory: 8K}\n  - {name: e, kind: device, pid: 4}\n  - {name: s, kind: switch, pid: 1}\n"
	  "  - {name: t, kind: switch, pid: 2}\nlinks: [{a: d, b: s}, {a: e, b: t}]\n"
	  "workloads: [{on: e, kind: uio, lines: 4}]\n",
		"lab:9: workloads[0]: device e cannot reach device d, expected a path of "
		"switches, got none" },
};

WEFT_TEST(whole_files_are_judged)
{
	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(files); i++) {
		struct opened o;

		open_text(&o, files[i][0], NULL, 0);
		if (files[i][1] == NULL ? o.rc != 0
					: o.rc != -EINVAL || strncmp(o.err.text, files[i][1],
								     strlen(files[i][1])) != 0)
			fail_msg("expected \"%s\", got %d, \"%s\"",
				files[i][1] == NULL ? "" : files[i][1], o.rc, o.err.text);
		close_load(&o);
	}
}

/* One too many who ask by UIO for one device's re-router, then one of them not in its LAV. */
WEFT_TEST(a_rerouter_has_so_many_rows)
{
	char *yaml = malloc(64 * 1024);

	for (unsigned int n_nodes = 64; n_nodes <= 66; n_nodes++) {
		struct opened o;
		int n;

		n = sprintf(yaml,
			"fabric: x\nsegments: [{target: d}]\nnodes:\n"
			"  - {name: s, kind: switch, pid: 1}\n"
			"  - {name: d, kind: device, pid: 2, memory: 1M%s}\n",
			n_nodes == 66 ? ", lav: [e0, e1]" : "");
		for (unsigned int i = 0; i < n_nodes; i++)
			n += sprintf(yaml + n, "  - {name: e%u, kind: device, pid: %u%s}\n", i,
				100 + i, n_nodes == 66 ? ", lav: []" : "");
		n += sprintf(yaml + n, "links:\n  - {a: d, b: s}\n");
		for (unsigned int i = 0; i < n_nodes; i++)
			n += sprintf(yaml + n, "  - {a: e%u, b: s}\n", i);
		n += sprintf(yaml + n, "workloads:\n");
		for (unsigned int i = 0; i < n_nodes; i++)
			n += sprintf(yaml + n, "  - {on: e%u, kind: uio, lines: 64}\n", i);
		open_text(&o, yaml, NULL, 0);
		assert_int_equal(o.rc, n_nodes == 65 ? -EINVAL : 0);
		if (o.rc != 0)
			assert_string_equal(o.err.text,
				"lab:203: workloads[64]: more requesters than the re-router of a "
				"port has rows, expected at most 64 with uio in the lav of d, got "
				"65");
		close_load(&o);
	}
	free(yaml);
}

struct findings {
	unsigned int n;
	char text[8][512];
};

static void
keep(void *arg, const struct weft_topo_error *e)
{
	struct findings *f = arg;

	assert_true(f->n < WEFT_ARRAY_SIZE(f->text));
	strcpy(f->text[f->n++], e->text);
}

WEFT_TEST(a_check_finds_more_than_the_first)
{
	static const char yaml[] = SMALL("", "gfd") "workloads:\n"
						    "  - {on: h, kind: mem, lines: 0}\n"
						    "  - {on: h, kind: mem, seed: x}\n"
						    "  - {on: h, kind: uio, bytes: 1}\n";
	struct weft_load_files f = { .topology = "lab", .yaml = yaml, .len = strlen(yaml) };
	struct findings found = { 0 };

	assert_int_equal(weft_load_check(&f, keep, &found), 3);
	assert_memory_equal(found.text[0], "lab:8: workloads[0].lines: bad number", 37);
	assert_memory_equal(found.text[2], "lab:10: workloads[2].bytes: bad number", 38);
	f.yaml = SMALL("", "gfd") "workloads: [{on: h, kind: mem, lines: 64}]\n";
	f.len = strlen(f.yaml);
	assert_int_equal(weft_load_check(&f, keep, &found), 0);
}

/* What holds no list at all is said once, and nothing more is looked for in it. */
WEFT_TEST(a_check_finds_files_without_load)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{ "", ":1: empty file, expected workloads, got nothing" },
		{ "# nothing\n", ":1: empty file, expected workloads, got nothing" },
		{ "workloads: [\n", ":2: not YAML, expected workloads, got: " },
		{ "@\n", ":1: not YAML, expected workloads, got: " },
	};
	static const char yaml[] = SMALL("", "gfd");

	for (size_t i = 0; i < WEFT_ARRAY_SIZE(cases); i++) {
		char path[] = "/tmp/weft-test-load-XXXXXX";
		const char *more[] = { path };
		struct weft_load_files f = { .topology = "lab",
			.yaml = yaml,
			.len = strlen(yaml),
			.more = more,
			.n_more = 1 };
		struct findings found = { 0 };
		const int fd = mkstemp(path);

		assert_true(fd >= 0);
		assert_int_equal(
			write(fd, cases[i].text, strlen(cases[i].text)), strlen(cases[i].text));
		close(fd);
		assert_int_equal(weft_load_check(&f, keep, &found), 1);
		unlink(path);
		assert_memory_equal(found.text[0], path, strlen(path));
		assert_memory_equal(
			found.text[0] + strlen(path), cases[i].says, strlen(cases[i].says));
	}
}

/* --- changes --- */

#define RUNNING                                                                                    \
	"fabric: run\nrouting: updown\nsegments:\n"                                                \
	"  - {interleave: {ways: 2, targets: [g0, g1]}, size: 1M}\n  - {target: g0, size: 1M}\n"   \
	"groups: [{name: low, ranges: [{gfd: g0}, {gfd: g1}]}]\nnodes:\n"                          \
	"  - {name: h0, kind: host, pid: 1, access: [low]}\n  - {name: h1, kind: host, pid: 2}\n"  \
	"  - {name: s0, kind: switch, pid: 3}\n  - {name: g0, kind: gfd, pid: 6}\n"                \
	"  - {name: g1, kind: gfd, pid: 7}\n"                                                      \
	"links: [{a: h0, b: s0}, {a: h1, b: s0}, {a: g0, b: s0}, {a: g1, b: s0}]\n"                \
	"workloads:\n  - {on: h0, kind: mem, lines: 64}\n"                                         \
	"  - on: h1\n    kind: transfer\n"                                                         \
	"    transfers: [{kind: write, gfd: g1, offset: 8M, bytes: 4K, seed: 3}]\n"

WEFT_TEST(load_and_its_segments_stay)
{
	static const char *const change[][3] = {
		{ "updown", "shortest", NULL },
		{ "access: [low]", "access: []", NULL },
		{ "groups: [{", "  - {target: g1, size: 4K}\ngroups: [{", NULL },
		{ "  - {on: h0, kind: mem, lines: 64}\n", "  - {kind: mem, lines: 64, on: h0}\n",
			NULL },
		{ "lines: 64", "lines: 65", "run: load of h0: mem.lines cannot change" },
		{ "lines: 64", "lines: 64, seed: 2", "load of h0: mem.seed cannot" },
		{ "lines: 64", "lines: 64, requests: 7", "load of h0: mem.requests cannot" },
		{ "lines: 64", "lines: 64, rate: 7", "load of h0: mem.rate cannot" },
		{ "  - {on: h0, kind: mem, lines: 64}\n", "", "load of h0: mem cannot" },
		{ "lines: 64}\n", "lines: 64}\n  - {on: h0, kind: uio}\n",
			"load by uio cannot come or go while the fabric runs" },
		{ "seed: 3", "seed: 4", "load of h1: transfers[0] cannot" },
		{ "seed: 3}]", "seed: 3}, {kind: read, gfd: g0, bytes: 1}]",
			"load of h1: transfers cannot" },
		{ "pid: 3", "pid: 9", "node s0: pid cannot" },
		{ "size: 1M}\n  - {target", "size: 512K}\n  - {target",
			"segments[0] cannot change while host h0 uses it" },
		{ "[g0, g1]", "[g1, g0]", "segments[0] cannot" },
		{ "ways: 2, ", "ways: 2, granularity: 512, ", "segments[0] cannot" },
		{ "  - {target: g0, size: 1M}\n", "", "segments[1] cannot" },
		{ "groups: [{", "segment_size: 128G\ngroups: [{", "segments[0] cannot" },
	};
	struct weft_load_version now = { .file = "run" }, next = now;
	struct opened a;

	open_good(&a, RUNNING);
	now.topo = a.t;
	now.load = a.l;
	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(change); i++) {
		const char *at = strstr(RUNNING, change[i][0]);
		struct weft_topo_error err = { .line = 7 };
		struct opened b;
		char text[ROOM];
		int rc;

		assert_non_null(at);
		snprintf(text, sizeof(text), "%.*s%s%s", (int)(at - RUNNING), RUNNING, change[i][1],
			at + strlen(change[i][0]));
		open_good(&b, text);
		next.topo = b.t;
		next.load = b.l;
		rc = weft_load_check_change(&now, &next, &err);
		if (change[i][2] == NULL ? rc != 0
					 : rc != -EINVAL || strstr(err.text, change[i][2]) == NULL)
			fail_msg("%s: expected \"%s\", got %d, \"%s\"", change[i][1],
				change[i][2] == NULL ? "" : change[i][2], rc, err.text);
		close_load(&b);
	}
	close_load(&a);
}
