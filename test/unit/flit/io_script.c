/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * CXL.io packets and flits, driven by a script on standard input, for a model to compare with. One
 * request a line, one line of answer each. Numbers are hexadecimal without a prefix, bytes are
 * strings of hex digits.
 *
 * head HEX               length and class by the first bytes of a TLP. Answer: LEN CLASS, or none
 * update CLASS TOTAL     Answer: the DLLP credit HEX             a DLLP. Answer: CLASS TOTAL, or
 * none form hbr|pbr           new streams are of it; at first pbr. Answer: ok begin
 * begin a flit. Answer: ok put PACKET             Answer: ok, full, or bad end
 * Answer: bytes 2..237, and whether a packet goes on new                    a new stream to unpack.
 * Answer: ok take HEX               bytes 2..237 of its next flit. Answer: PACKET... and ok or bad
 * at the end
 *
 * PACKET: SPID,DPID,BITS,PREFIX,HEX; BITS: 4 Hie, 2 DSAR, 1 PIF; PREFIX: PID or -
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "weft_base.h"
#include "weft_io.h"

#define LINE 4096

static void
give_up(const char *why, const char *what)
{
	fprintf(stderr, "io_script: %s: %s\n", why, what);
	exit(2);
}

static size_t
unhex(const char *text, uint8_t *out, size_t room)
{
	const size_t n = strlen(text) / 2;
	unsigned int byte;

	if (strlen(text) % 2 != 0 || n > room)
		give_up("bad bytes", text);
	for (size_t i = 0; i < n; i++) {
		if (sscanf(text + 2 * i, "%2x", &byte) != 1)
			give_up("bad bytes", text);
		out[i] = (uint8_t)byte;
	}
	return n;
}

static void
print_hex(const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		printf("%02x", p[i]);
}

static void
say_packet(void *arg, const struct weft_io_tlp *t)
{
	(void)arg;
	printf("%x,%x,%x,", t->spid, t->dpid,
		(t->hie ? 4u : 0) | (t->dsar ? 2u : 0) | (t->pif ? 1u : 0));
	if (t->has_prefix)
		printf("%x,", t->prefix_pid);
	else
		printf("-,");
	print_hex(t->tlp, t->len);
	putchar(' ');
}

static void
read_packet(char *text, struct weft_io_tlp *t)
{
	unsigned int spid, dpid, bits;
	int at;

	memset(t, 0, sizeof(*t));
	if (sscanf(text, "%x,%x,%x,%n", &spid, &dpid, &bits, &at) != 3)
		give_up("bad packet", text);
	t->spid = (uint16_t)spid;
	t->dpid = (uint16_t)dpid;
	t->hie = (bits & 4) != 0;
	t->dsar = (bits & 2) != 0;
	t->pif = (bits & 1) != 0;
	text += at;
	t->has_prefix = text[0] != '-';
	if (t->has_prefix)
		t->prefix_pid = (uint16_t)strtoul(text, NULL, 16);
	text = strchr(text, ',');
	if (text == NULL)
		give_up("bad packet", "no bytes");
	t->len = (uint16_t)unhex(text + 1, t->tlp, sizeof(t->tlp));
}

static void
head(const char *hex)
{
	struct weft_io_tlp t = { .len = 0 };
	size_t len;

	t.len = (uint16_t)unhex(hex, t.tlp, sizeof(t.tlp));
	len = weft_io_tlp_len(t.tlp, t.len);
	if (len == 0)
		printf("none\n");
	else
		printf("%zx %x\n", len, (unsigned int)weft_io_class(&t));
}

int
main(void)
{
	static char line[LINE], word[LINE];
	static uint8_t flit[WEFT_FLIT_LEN];
	struct weft_io_packer pack;
	struct weft_io_unpacker unpack;
	struct weft_io_tlp t;
	uint8_t dllp[WEFT_IO_DLLP_LEN], total;
	enum weft_form form = WEFT_FORM_PBR;
	unsigned int a, b;
	int rc;

	weft_io_pack_init(&pack, WEFT_FORM_PBR);
	weft_io_unpack_init(&unpack, WEFT_FORM_PBR);
	while (fgets(line, sizeof(line), stdin) != NULL) {
		if (sscanf(line, "head %s", word) == 1) {
			head(word);
		} else if (sscanf(line, "update %x %x", &a, &b) == 2) {
			weft_io_update_put(dllp, (enum weft_io_class)a, (uint8_t)b);
			print_hex(dllp, sizeof(dllp));
			putchar('\n');
		} else if (sscanf(line, "credit %s", word) == 1) {
			unhex(word, dllp, sizeof(dllp));
			rc = weft_io_update_get(dllp, &total);
			if (rc < 0)
				printf("none\n");
			else
				printf("%x %x\n", (unsigned int)rc, total);
		} else if (sscanf(line, "form %s", word) == 1) {
			form = strcmp(word, "pbr") == 0 ? WEFT_FORM_PBR : WEFT_FORM_HBR;
			weft_io_pack_init(&pack, form);
			printf("ok\n");
		} else if (strcmp(line, "begin\n") == 0) {
			weft_io_pack_begin(&pack, flit);
			printf("ok\n");
		} else if (sscanf(line, "put %s", word) == 1) {
			read_packet(word, &t);
			rc = weft_io_pack_tlp(&pack, &t);
			printf("%s\n", rc == 0 ? "ok" : rc == -ENOSPC ? "full" : "bad");
		} else if (strcmp(line, "end\n") == 0) {
			const bool waits = weft_io_pack_end(&pack);

			print_hex(flit + WEFT_IO_OFF, WEFT_IO_LEN);
			printf(" %d\n", waits);
		} else if (strcmp(line, "new\n") == 0) {
			weft_io_unpack_init(&unpack, form);
			printf("ok\n");
		} else if (sscanf(line, "take %s", word) == 1) {
			unhex(word, flit + WEFT_IO_OFF, WEFT_IO_LEN);
			printf("%s\n",
				weft_io_unpack_flit(&unpack, flit, say_packet, NULL) == WEFT_OK
					? "ok"
					: "bad");
		} else {
			give_up("bad line", line);
		}
	}
	return 0;
}
