/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * One edge port and the routing tables of its switch, driven from outside: a line in, a line out.
 * Numbers are C numbers (decimal, 0x...); PIDs 0..0xFFF; [..]+ may be repeated. Blank lines and
 * lines that begin with # give no answer. All tables hold nothing until "new".
 *
 * new PID DEPTH_LOG2 IDT LDST_DEPTH_LOG2 LDST_IDT REROUTER GIM VP TABLES RGT Start over: an edge
 * port of this PID, FAST of 1 << DEPTH_LOG2 (0..12) entries, IDT of 1..4096, the same for LDST
 * (LDST_IDT 0: there is no LDST), REROUTER rows (0..64), GIM 0|1 (FAST entries may have bit 1), VP
 * the prefix bits the switch has ([0] egress request, [1] ingress request), TABLES DRTs (1..16),
 * each with an RGT of RGT rows (0, or a power of 2, <= 256). After an error of "new" alone, only
 * another "new" makes sense.
 *
 * Set-up answers "ok", or "error invalid" (a value), "error refused" (GMV, VTV, LAV), or "error
 * unsupported"; after an error nothing has changed, not even the rows before the bad one.
 *
 *   fast-config CODE BASE LIMIT    5804h; CODE 0..7: 64 GB << CODE. ldst-config: 570Dh
 *   fast START [FLAGS INTLV GRAN DPID_IX]+    5806h, from segment START on. ldst: 570Fh
 *   idt START [PID]+               5808h. ldst-idt: 5711h
 *   gmv PID 0|1    vtv PID 0|1     5902h
 *   lav PID 0|1                    5716h
 *   vp-vcs BITS    vp-host BITS    5904h, 5804h byte 2; both 0 at first
 *   rerouter START [PID SEGVALID SEGMENT BUS DEVFN]+    5713h; PID 0xFFF empties a row
 *   hdm INDEX BASE LENGTH PID      one of 10 HDM decoders, LENGTH 0: off
 *   pcie PID                       where .io goes that nothing else took; 0xFFF: nowhere
 *   drt TABLE START [TYPE VALUE]+  5709h
 *   rgt TABLE START [P0 .. P7 BYTE8 BYTE9]+    570Bh
 *   spread 0|1                     whether classes that may be spread are (at first 0)
 *   ready PORT 0|1                 whether a message can be queued there now (at first 1)
 *   load PORT N                    what is queued there (at first 0)
 *   pbr-link 0|1    link 0|1       of this port: leads to a GFD (at first 0); is up (at first 1)
 *
 * Where the text of the specification leaves room:
 *   - CODE above 7, BASE or LIMIT not a multiple of the segment, LIMIT <= BASE with neither 0, a
 *     range above depth x segment: invalid. A changed BASE or CODE clears all segment entries, not
 *     the IDT; a changed LIMIT alone clears nothing.
 *   - Row START + i of fast/ldst is entry ((BASE >> Y) + START + i) mod depth; START + count above
 *     the depth: invalid.
 *   - Every row, valid or not: reserved FLAGS bits, INTLV above 8, GRAN above 6, DPID_IX above
 *     0xFFF, IX + ways above the IDT's depth (INTLV > 0): invalid; then GIM without the ability:
 *     unsupported. Only for rows with V = 1: PID, or each of the N IDT entries, must be in GMV
 *     (GIM = 0), VTV (GIM = 1), LAV (ldst): refused. All rows are checked for invalid first.
 *   - idt: PID above 0xFFF or START + count above the depth: invalid; PID in neither GMV nor VTV
 *     (ldst-idt: not in LAV): refused. IDT entries hold 0xFFF at first, which is in no vector:
 *     gmv/vtv/lav 0xFFF is invalid.
 *   - vp bits above 3, or (vp-vcs) that the switch does not have: invalid. In effect: VP & vp-vcs &
 *     vp-host.
 *   - rerouter: a PID not in LAV: refused (0xFFF is fine). A row with SEGVALID = 0 does not compare
 *     the segment; with 1 the completion must carry that very segment. Lowest matching row wins.
 *   - hdm: BASE or LENGTH not a multiple of 256 MB, BASE + LENGTH above 2^64, overlap with another
 *     decoder, PID 0xFFF or above, INDEX above 9: invalid. No interleave.
 *   - drt: DPID 0xFFF and above, TYPE 3 and above, VALUE above 255, an RGT row that is not there:
 *     invalid. Ports are 0..255.
 *   - rgt: reserved bits (7:6 of both bytes), highest primary above highest valid, mode 3..5:
 *     invalid; mode 2, 6, 7: unsupported. Rows behind the last: invalid.
 *
 * Decisions:
 *
 * mem HPA | uio HPA [PREFIX] | io HPA [PREFIX] a request from the device, by the order of 1.12;
 * PREFIX: it has VendPrefixL0 with this PID. "to DPID SPID PIF DECODER" with DECODER one of prefix
 * fast ldst ldst-segment (entry bit 1) hdm pcie; or "no REASON" with REASON one of no-decode
 * nothing took it not-allowed  the decoder's DPID is not in GMV / VTV / LAV now gim-uio-only mem
 * that hit a FAST segment with GIM = 1 prefix       io with a prefix; uio with one that is not
 * enabled, or not in VTV A decoder that hit decides: nothing falls through to the next because of a
 * vector. io without prefix knows no FAST, LDST and HDM: pcie or no-decode. pcie has PIF = 0. cpl
 * SEGVALID SEGMENT BUS DEVFN LOCAL [PREFIX] a UIO completion from the device with this requester
 * id; LOCAL 1: it matches a request that came down the ordinary way. With PREFIX: enabled means the
 * egress-request bit (the request went out with it). Without: re-router row ("to .. rerouter", PIF
 * 0), its PID not in LAV any more: "no not-allowed"; no row: LOCAL ? "to 0xfff SPID 0 upstream" :
 * "no unexpected". PREFIX not enabled or not in VTV: "no unexpected". egress mem|uio|io|cpl SPID
 * PIF    towards the device: "pass", "prefix PID", "ur" or "drop". link 0: drop. pbr-link 1: pass.
 * slot-in xHEX    a G-slot of HBR form with one message, from the device: "on xHEX" with the slot
 * of PBR form that goes on, "answer xHEX" with that of HBR form that goes back, or "drop" slot-out
 * xHEX   one of PBR form towards the device: "on xHEX" of HBR form, or "drop" tlp-in DOWN xHEX
 * [PREFIX]    a CXL.io packet from the device (DOWN 1: from a host): "to DPID SPID PIF DECODER HIE
 * DSAR", or "no REASON" tlp-out SPID PIF xHEX        one towards the device: "pass", "prefix PID",
 * "ur" or "drop" route TABLE DPID CLASS RANDOM "port N", "none" (invalid row, no such row), "local"
 * (DPID 0xFFF) or "stall". CLASS is one of d2h-req d2h-rsp d2h-dh h2d-req h2d-rsp h2d-dh req-hdm-d
 * req-hdm-h req-hdm-db rwd birsp ndr drs bisnp io io-vh uio-p2p. RANDOM, 64 bits: primary group if
 * (RANDOM & 7) < 7 - mix; candidate number (RANDOM >> 32) * candidates >> 32 in mode 0. Mode 1: the
 * least loaded candidate, the first of equals. A static class, and any with spread 0: the first
 * port, ready or not. A direct port row is taken ready or not. way HPA INTLV GRAN    the way, or
 * "error invalid"
 *
 * In binary, for many at a time; N up to 1048576:
 *
 * mem-run N      followed by N 8-byte little-endian HPAs: "dpids N" and N 2-byte DPIDs, 0xFFFF:
 * none port-run TABLE N    the same HPAs: "ports N" and N 2-byte ports, 0xFFFF: none drt-run TABLE
 * N     followed by N 2-byte DPIDs: "ports N" and N 2-byte ports, 0xFFFF: none Ports are those of a
 * static class: the first one of an RGT row.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "weft_base.h"
#include "weft_edge_link.h"
#include "weft_tables.h"

#define WORDS_MAX (4 + 5 * WEFT_PIDS)
#define LINE_MAX_LEN (1u << 19)
#define TABLES_MAX 16
#define RUN_MAX (1u << 20)
#define SEGMENT_LOG2_OF(code) (36 + (code))

static struct weft_edge edge;
static struct weft_route route[TABLES_MAX];
static struct weft_route_ports ports;
static unsigned int n_routes;

/* The line: its words as numbers, and the words that are none as text. */
static char line[LINE_MAX_LEN];
static char *text[WORDS_MAX];
static uint64_t num[WORDS_MAX];
static unsigned int n_words;

static union {
	struct weft_fast_entry entry[WEFT_PIDS];
	uint16_t pid[WEFT_PIDS];
	struct weft_reroute reroute[WEFT_PIDS];
	struct weft_rgt_entry rgt[WEFT_PIDS];
	uint8_t row[WEFT_PIDS][2];
} rows;

static void
split(void)
{
	char *save, *word = strtok_r(line, " \t\n", &save);

	for (n_words = 0; word != NULL && n_words < WORDS_MAX; n_words++) {
		text[n_words] = word;
		num[n_words] = strtoull(word, NULL, 0);
		word = strtok_r(NULL, " \t\n", &save);
	}
}

/* Number @p i of the line, clipped to what no field of the tables can hold. */
static unsigned int
arg(unsigned int i)
{
	return i >= n_words ? 0 : num[i] > INT32_MAX ? INT32_MAX : (unsigned int)num[i];
}

static uint16_t
arg16(unsigned int i)
{
	return (uint16_t)(arg(i) > UINT16_MAX ? UINT16_MAX : arg(i));
}

/*
 * Rows of @p width words that begin at word @p from; -1 if the last is cut, or there are too many.
 */
static int
count_rows(unsigned int from, unsigned int width)
{
	if (n_words < from || (n_words - from) % width != 0 || (n_words - from) / width > WEFT_PIDS)
		return -1;
	return (int)((n_words - from) / width);
}

static bool
bytes_fit(unsigned int from)
{
	for (unsigned int i = from; i < n_words; i++)
		if (num[i] > UINT8_MAX)
			return false;
	return true;
}

static int
set_new(void)
{
	const struct weft_edge_cfg cfg = { arg16(1), (uint8_t)arg(2), arg16(3), (uint8_t)arg(4),
		arg16(5), (uint8_t)arg(6), arg(7) != 0, (uint8_t)arg(8), false };

	if (arg(2) > UINT8_MAX || arg(4) > UINT8_MAX || arg(6) > UINT8_MAX || arg(8) > UINT8_MAX)
		return -EINVAL;
	if (arg(9) == 0 || arg(9) > TABLES_MAX || arg(10) > WEFT_RGT_ROWS)
		return -EINVAL;
	n_routes = arg(9);
	for (unsigned int i = 0; i < n_routes; i++)
		if (weft_route_init(&route[i], arg(10)) != 0)
			return -EINVAL;
	memset(&ports, 0, sizeof(ports));
	memset(ports.ready, 0xFF, sizeof(ports.ready));
	return weft_edge_init(&edge, &cfg);
}

static int
set_range(struct weft_seg *s)
{
	return weft_seg_set_range(s, SEGMENT_LOG2_OF(arg(1) > 99 ? 99 : arg(1)), num[2], num[3]);
}

static int
set_entries(struct weft_seg *s)
{
	const int n = count_rows(2, 4);

	if (n < 0)
		return -EINVAL;
	for (unsigned int i = 0; i < (unsigned int)n; i++) {
		const unsigned int w = 2 + 4 * i;

		if (arg(w) > UINT8_MAX || arg(w + 1) > UINT8_MAX || arg(w + 2) > UINT8_MAX)
			return -EINVAL;
		rows.entry[i] = (struct weft_fast_entry){ .flags = (uint8_t)arg(w),
			.intlv = (uint8_t)arg(w + 1),
			.gran = (uint8_t)arg(w + 2),
			.dpid = arg16(w + 3) };
	}
	return weft_seg_set_entries(s, arg(1), rows.entry, (unsigned int)n);
}

static int
set_idt(struct weft_seg *s)
{
	const int n = count_rows(2, 1);

	if (n < 0)
		return -EINVAL;
	for (unsigned int i = 0; i < (unsigned int)n; i++)
		rows.pid[i] = arg16(2 + i);
	return weft_seg_set_idt(s, arg(1), rows.pid, (unsigned int)n);
}

static int
set_rerouter(void)
{
	const int n = count_rows(2, 5);

	if (n < 0)
		return -EINVAL;
	for (unsigned int i = 0; i < (unsigned int)n; i++) {
		const unsigned int w = 2 + 5 * i;

		if (arg(w + 2) > UINT8_MAX || arg(w + 3) > UINT8_MAX || arg(w + 4) > UINT8_MAX)
			return -EINVAL;
		rows.reroute[i] = (struct weft_reroute){ arg16(w), arg(w + 1) != 0,
			(uint8_t)arg(w + 2), (uint8_t)arg(w + 3), (uint8_t)arg(w + 4) };
	}
	return weft_edge_set_rerouter(&edge, arg(1), rows.reroute, (unsigned int)n);
}

static int
set_drt(void)
{
	const int n = count_rows(3, 2);

	if (n < 0 || arg(1) >= n_routes || !bytes_fit(3))
		return -EINVAL;
	for (unsigned int i = 0; i < 2 * (unsigned int)n; i++)
		rows.row[i / 2][i % 2] = (uint8_t)arg(3 + i);
	return weft_route_set_drt(&route[arg(1)], arg(2), rows.row, (unsigned int)n);
}

static int
set_rgt(void)
{
	const int n = count_rows(3, 10);

	if (n < 0 || arg(1) >= n_routes || !bytes_fit(3))
		return -EINVAL;
	for (unsigned int i = 0; i < (unsigned int)n; i++) {
		struct weft_rgt_entry *e = &rows.rgt[i];
		const unsigned int w = 3 + 10 * i;

		memset(e, 0, sizeof(*e));
		for (unsigned int p = 0; p < WEFT_RGT_PORTS; p++)
			e->port[p] = (uint8_t)arg(w + p);
		e->counts = (uint8_t)arg(w + 8);
		e->mode = (uint8_t)arg(w + 9);
	}
	return weft_route_set_rgt(&route[arg(1)], arg(2), rows.rgt, (unsigned int)n);
}

static int
set_state(const char *what)
{
	const unsigned int port = arg(1) & (WEFT_SWITCH_PORTS - 1);

	if (strcmp(what, "spread") == 0)
		for (unsigned int i = 0; i < n_routes; i++)
			route[i].spread = arg(1) != 0;
	else if (strcmp(what, "ready") == 0)
		ports.ready[port / 64] = (ports.ready[port / 64] & ~WEFT_BIT64(port % 64)) |
		                         (uint64_t)(arg(2) != 0) << port % 64;
	else if (strcmp(what, "load") == 0)
		ports.load[port] = arg(2);
	else if (strcmp(what, "pbr-link") == 0)
		edge.cfg.pbr_link = arg(1) != 0;
	else if (strcmp(what, "link") == 0)
		edge.link_up = arg(1) != 0;
	else
		return -ENOENT;
	return 0;
}

static int
set_edge(const char *what)
{
	const struct weft_hdm hdm = { num[2], num[3], arg16(4) };

	if (strcmp(what, "gmv") == 0)
		return weft_edge_allow(&edge, WEFT_GMV, arg16(1), arg(2) != 0);
	if (strcmp(what, "vtv") == 0)
		return weft_edge_allow(&edge, WEFT_VTV, arg16(1), arg(2) != 0);
	if (strcmp(what, "lav") == 0)
		return weft_edge_allow(&edge, WEFT_LAV, arg16(1), arg(2) != 0);
	if (strcmp(what, "vp-vcs") == 0)
		return weft_edge_set_vp_vcs(&edge, arg(1));
	if (strcmp(what, "vp-host") == 0)
		return weft_edge_set_vp_host(&edge, arg(1));
	if (strcmp(what, "hdm") == 0)
		return weft_edge_set_hdm(&edge, arg(1), &hdm);
	if (strcmp(what, "pcie") == 0)
		return weft_edge_set_pcie(&edge, arg16(1));
	if (strcmp(what, "rerouter") == 0)
		return set_rerouter();
	return set_state(what);
}

/* @return 0 or an error; -ENOENT: the line is no set-up */
static int
set(const char *what)
{
	if (strcmp(what, "new") == 0)
		return set_new();
	if (strcmp(what, "fast-config") == 0)
		return set_range(&edge.fast);
	if (strcmp(what, "ldst-config") == 0)
		return set_range(&edge.ldst);
	if (strcmp(what, "fast") == 0)
		return set_entries(&edge.fast);
	if (strcmp(what, "ldst") == 0)
		return set_entries(&edge.ldst);
	if (strcmp(what, "idt") == 0)
		return set_idt(&edge.fast);
	if (strcmp(what, "ldst-idt") == 0)
		return set_idt(&edge.ldst);
	if (strcmp(what, "drt") == 0)
		return set_drt();
	if (strcmp(what, "rgt") == 0)
		return set_rgt();
	return set_edge(what);
}

static int
prefix_at(unsigned int i)
{
	return i < n_words ? (int)arg(i) : WEFT_EDGE_ABSENT;
}

static void
print_decision(const struct weft_edge_decision *d)
{
	if (d->reason != WEFT_EDGE_OK)
		printf("no %s\n", weft_edge_reason_word((enum weft_edge_reason)d->reason));
	else
		printf("to 0x%x 0x%x %u %s%s\n", d->dpid, d->spid, d->pif,
			weft_edge_decoder_word((enum weft_edge_decoder)d->decoder),
			d->segment ? "-segment" : "");
}

static int
kind_of(const char *word)
{
	static const char *const kinds[] = {
		[WEFT_EDGE_MEM] = "mem",
		[WEFT_EDGE_UIO] = "uio",
		[WEFT_EDGE_IO] = "io",
		[WEFT_EDGE_CPL] = "cpl",
	};

	for (unsigned int k = 0; k < WEFT_ARRAY_SIZE(kinds); k++)
		if (strcmp(word, kinds[k]) == 0)
			return (int)k;
	return -1;
}

static void
ask_request(enum weft_edge_kind kind)
{
	struct weft_edge_decision d;

	if (kind == WEFT_EDGE_CPL)
		weft_edge_completion(&edge, (uint16_t)((arg(3) & 0xFF) << 8 | (arg(4) & 0xFF)),
			arg(1) != 0 ? (int)(arg(2) & 0xFF) : WEFT_EDGE_ABSENT, arg(5) != 0,
			prefix_at(6), &d);
	else
		weft_edge_request(&edge, kind, num[1], prefix_at(2), &d);
	print_decision(&d);
}

static void
ask_egress(void)
{
	const int kind = n_words > 3 ? kind_of(text[1]) : -1;

	if (kind < 0) {
		printf("error invalid\n");
		return;
	}
	switch (weft_edge_egress(&edge, (enum weft_edge_kind)kind, arg(3) != 0)) {
	case WEFT_EGRESS_PASS: printf("pass\n"); break;
	case WEFT_EGRESS_PREFIX: printf("prefix 0x%x\n", arg16(2)); break;
	case WEFT_EGRESS_UR: printf("ur\n"); break;
	case WEFT_EGRESS_DROP: printf("drop\n"); break;
	}
}

/* Bytes of a word "x0123"; their number. */
static unsigned int
hex_at(unsigned int i, uint8_t *out, size_t room)
{
	unsigned int n = 0, byte;

	while (i < n_words && n < room && sscanf(text[i] + 1 + 2 * (size_t)n, "%2x", &byte) == 1)
		out[n++] = (uint8_t)byte;
	return n;
}

static void
print_slot(const char *word, enum weft_form form, const struct weft_msg *m)
{
	uint8_t slot[WEFT_FLIT_SLOT_LEN];

	if (weft_slot_encode(slot, false, form, m, 1) != 0) {
		printf("error encode\n");
		return;
	}
	printf("%s x", word);
	for (unsigned int i = 0; i < sizeof(slot); i++)
		printf("%02x", slot[i]);
	putchar('\n');
}

static void
ask_slot(bool in)
{
	uint8_t slot[WEFT_FLIT_SLOT_LEN];
	struct weft_msg m[WEFT_MSG_PER_SLOT];
	enum weft_edge_reason why;
	unsigned int n;

	memset(m, 0, sizeof(m));
	if (hex_at(1, slot, sizeof(slot)) != sizeof(slot) ||
		weft_slot_decode(slot, false, in ? WEFT_FORM_HBR : WEFT_FORM_PBR, m, &n) !=
			WEFT_OK ||
		n != 1) {
		printf("error invalid\n");
		return;
	}
	if (!in) {
		if (weft_edge_msg_out(m))
			print_slot("on", WEFT_FORM_HBR, m);
		else
			printf("drop\n");
		return;
	}
	why = weft_edge_msg_in(&edge, m);
	if (why == WEFT_EDGE_OK)
		print_slot("on", WEFT_FORM_PBR, m);
	else if (why == WEFT_EDGE_UNEXPECTED)
		printf("drop\n");
	else
		print_slot("answer", WEFT_FORM_HBR, m);
}

static void
ask_tlp_in(void)
{
	struct weft_edge_decision d;
	struct weft_io_tlp t = { .len = 0 }, was;

	t.len = (uint16_t)hex_at(2, t.tlp, sizeof(t.tlp));
	if (n_words > 3) {
		t.has_prefix = true;
		t.prefix_pid = arg16(3);
	}
	was = t;
	weft_edge_tlp_in(&edge, arg(1) != 0, &t, &d);
	if (d.reason != WEFT_EDGE_OK)
		printf("no %s%s\n", weft_edge_reason_word((enum weft_edge_reason)d.reason),
			memcmp(&was, &t, sizeof(t)) == 0 ? "" : " changed");
	else
		printf("to 0x%x 0x%x %d %s%s %d %d%s\n", t.dpid, t.spid, t.pif,
			weft_edge_decoder_word((enum weft_edge_decoder)d.decoder),
			d.segment != 0 ? "-segment" : "", t.hie, t.dsar,
			t.has_prefix || t.prefix_pid != 0 ? " prefixed" : "");
}

static void
ask_tlp_out(void)
{
	struct weft_io_tlp t = { .spid = arg16(1), .pif = arg(2) != 0, .dpid = 1, .hie = true };

	t.len = (uint16_t)hex_at(3, t.tlp, sizeof(t.tlp));
	switch (weft_edge_tlp_out(&edge, &t)) {
	case WEFT_EGRESS_PASS: printf("pass"); break;
	case WEFT_EGRESS_PREFIX: printf("prefix 0x%x", t.prefix_pid); break;
	case WEFT_EGRESS_UR: printf("ur\n"); return;
	case WEFT_EGRESS_DROP: printf("drop\n"); return;
	}
	printf("%s\n", (t.spid | t.dpid) != 0 || t.pif || t.hie || t.dsar ? " named" : "");
}

static void
ask_route(void)
{
	unsigned int c = 0;
	int port;

	while (c < WEFT_CLASSES && n_words > 3 && strcmp(text[3], weft_route_classes[c].word) != 0)
		c++;
	if (n_words < 5 || c == WEFT_CLASSES || arg(1) >= n_routes) {
		printf("error invalid\n");
		return;
	}
	port = weft_route_port(&route[arg(1)], &ports, arg16(2), (enum weft_route_class)c, num[4]);
	if (port >= 0)
		printf("port %d\n", port);
	else
		printf("%s\n", port == WEFT_ROUTE_NONE    ? "none"
			       : port == WEFT_ROUTE_STALL ? "stall"
							  : "local");
}

static void
ask_way(void)
{
	if (n_words != 4 || arg(2) > WEFT_INTLV_MAX || arg(3) > WEFT_GRAN_MAX)
		printf("error invalid\n");
	else
		printf("%u\n", weft_target_index(num[1], arg(2), arg(3)));
}

/* A binary run: input and output arrays, read and written raw. */
static void
ask_run(const char *what)
{
	static uint64_t hpa[RUN_MAX];
	static uint16_t dpid[RUN_MAX];
	static int16_t out[RUN_MAX];
	const bool by_mem = strcmp(what, "mem-run") == 0;
	const bool by_drt = strcmp(what, "drt-run") == 0;
	const unsigned int n = arg(by_mem ? 1 : 2);

	if (n > RUN_MAX || (!by_mem && arg(1) >= n_routes)) {
		printf("error invalid\n");
		return;
	}
	if (fread(by_drt ? (void *)dpid : (void *)hpa, by_drt ? sizeof(*dpid) : sizeof(*hpa), n,
		    stdin) != n)
		exit(1);
	if (by_drt)
		weft_route_run(&route[arg(1)], dpid, out, n);
	else if (by_mem)
		weft_edge_mem_run(&edge, hpa, out, n);
	else
		weft_hpa_port_run(&edge, &route[arg(1)], hpa, out, n);
	printf("%s %u\n", by_mem ? "dpids" : "ports", n);
	fwrite(out, sizeof(*out), n, stdout);
}

static void
ask(const char *what)
{
	const int kind = kind_of(what);

	if (kind >= 0)
		ask_request((enum weft_edge_kind)kind);
	else if (strcmp(what, "egress") == 0)
		ask_egress();
	else if (strcmp(what, "slot-in") == 0 || strcmp(what, "slot-out") == 0)
		ask_slot(strcmp(what, "slot-in") == 0);
	else if (strcmp(what, "tlp-in") == 0)
		ask_tlp_in();
	else if (strcmp(what, "tlp-out") == 0)
		ask_tlp_out();
	else if (strcmp(what, "route") == 0)
		ask_route();
	else if (strcmp(what, "way") == 0)
		ask_way();
	else if (strcmp(what, "mem-run") == 0 || strcmp(what, "port-run") == 0 ||
		 strcmp(what, "drt-run") == 0)
		ask_run(what);
	else
		printf("error invalid\n");
}

int
main(void)
{
	static const struct weft_edge_cfg none = { .fast_idt = 1 };

	weft_edge_init(&edge, &none);
	while (fgets(line, sizeof(line), stdin) != NULL) {
		int rc;

		memset(num, 0, 16 * sizeof(num[0]));
		split();
		if (n_words == 0 || text[0][0] == '#')
			continue;
		rc = set(text[0]);
		if (rc == -ENOENT)
			ask(text[0]);
		else
			printf("%s\n", rc == 0          ? "ok"
				       : rc == -EPERM   ? "error refused"
				       : rc == -ENOTSUP ? "error unsupported"
							: "error invalid");
		fflush(stdout);
	}
	return 0;
}
