/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The retry layer of rxl mode, driven by a script on standard input, for test/model/run_retry.py.
 * One event a line, one line of answer each:
 *
 *   cfg GAP SELECTIVE WINDOW     first line: gap decoding, selective (0, 1), window; no answer
 *   send K                       commit K flits; their payload is a counter from 1
 *   rx FLIT...                   a frame; FLIT: KIND,NUMBER,ID,COMMAND,ACK; KIND p (payload ID), n
 *                                (NOP) or x (corrupt)
 *   time NS                      time passes
 *
 * Answer: class of each flit (o taken, D duplicate, B bad, N NOP, R refused), payloads handed on,
 * numbers known lost so far, flits not acknowledged, and what was sent then, until there was
 * nothing to send: NUMBER,ID,COMMAND,ACK each, ID 0 for a NOP.
 *
 *   c CLASSES d ID... l LOST u UNACKED t SENT...
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "weft_base.h"
#include "weft_flit.h"
#include "weft_isn.h"
#include "weft_llr.h"

#define FRAME 64
#define SENDS_MAX 10000

static struct weft_llr *llr;
static uint64_t now_ns, committed;

static void
give_up(const char *why, const char *what)
{
	fprintf(stderr, "llr_script: %s: %s\n", why, what);
	exit(2);
}

static void
configure(const char *line)
{
	unsigned int gap, selective, window;
	struct weft_llr_cfg c;
	void *mem;

	if (sscanf(line, "cfg %u %u %u", &gap, &selective, &window) != 3)
		give_up("not a cfg line", line);
	weft_llr_defaults(&c, WEFT_MODE_RXL);
	c.gap_decoding = gap != 0;
	c.selective = selective != 0;
	c.window = (uint16_t)window;
	c.rx_flits = selective != 0 ? WEFT_LLR_WINDOW_MAX : 0;
	c.timeout_max_ns = UINT64_C(1000000000000); /* no gap is given up: the model has no time */
	mem = weft_llr_size(&c) == 0 ? NULL : aligned_alloc(64, weft_llr_size(&c));
	llr = mem == NULL ? NULL : weft_llr_init(mem, &c, now_ns);
	if (llr == NULL)
		give_up("cannot be made", line);
}

static void
commit(unsigned long k)
{
	const struct weft_flit_hdr h = { .type = WEFT_FLIT_CACHEMEM };

	for (; k != 0; k--) {
		uint8_t *slot = weft_llr_reserve(llr);

		if (slot == NULL)
			give_up("no room", "send");
		memset(slot, 0, WEFT_FLIT_LEN);
		weft_flit_hdr_put(slot, &h);
		weft_put_be64(slot + 16, ++committed);
		weft_llr_commit(llr);
	}
}

/* One flit of the script. */
static uint64_t
make_flit(const char *text, uint8_t *flit)
{
	struct weft_flit_hdr h = { .type = WEFT_FLIT_CACHEMEM };
	unsigned int number, id, command, ack;
	char kind;

	if (sscanf(text, "%c,%u,%u,%u,%u", &kind, &number, &id, &command, &ack) != 5)
		give_up("not a flit", text);
	if (kind == 'n')
		h.type = WEFT_FLIT_IDLE_NOP;
	h.replay_cmd = command & 3;
	h.seq = ack & 1023;
	memset(flit, 0, WEFT_FLIT_LEN);
	weft_flit_hdr_put(flit, &h);
	weft_put_be64(flit + 16, id);
	return kind == 'x' ? UINT64_C(0x0123456789abcdef) : weft_isn_number(number);
}

static char
class_of(const struct weft_llr_rx_result *in, unsigned int i)
{
	const uint64_t bit = WEFT_BIT64(i);

	if (((in->deliver | in->held) & bit) != 0)
		return 'o';
	if ((in->duplicate & bit) != 0)
		return 'D';
	if ((in->bad & bit) != 0)
		return 'B';
	if ((in->nop & bit) != 0)
		return 'N';
	return (in->refused & bit) != 0 ? 'R' : '?';
}

static void
receive(char *rest)
{
	static uint8_t flits[FRAME * WEFT_FLIT_LEN];
	uint64_t syndrome[FRAME];
	struct weft_llr_rx_result in;
	const uint8_t *held;
	unsigned int n = 0;

	for (char *t = strtok(rest, " \n"); t != NULL && n < FRAME; t = strtok(NULL, " \n"), n++)
		syndrome[n] = make_flit(t, flits + n * WEFT_FLIT_LEN);
	weft_llr_rx(llr, flits, syndrome, n, 0, now_ns, &in);
	for (unsigned int i = 0; i < n; i++)
		putchar(class_of(&in, i));
	printf(" d");
	for (unsigned int i = 0; i < n; i++)
		if ((in.deliver & WEFT_BIT64(i)) != 0)
			printf(" %llu",
				(unsigned long long)weft_get_be64(flits + i * WEFT_FLIT_LEN + 16));
	while ((held = weft_llr_rx_next(llr)) != NULL)
		printf(" %llu", (unsigned long long)weft_get_be64(held + 16));
}

static void
send_all(void)
{
	static uint8_t flits[FRAME * WEFT_FLIT_LEN];
	struct weft_llr_tx_info out;
	unsigned int sends = 0;

	while (weft_llr_tx(llr, flits, FRAME, now_ns, &out) != 0) {
		const unsigned int numbered = out.n - out.nops;

		if (++sends == SENDS_MAX)
			give_up("does not stop sending", "fill");
		for (unsigned int i = 0; i < out.n; i++) {
			const uint8_t *flit = flits + i * WEFT_FLIT_LEN;
			const struct weft_flit_hdr h = weft_flit_hdr_get(flit);
			const bool is_nop = i >= numbered;

			printf(" %u,%llu,%u,%u", (out.first + (is_nop ? numbered : i)) % 1024,
				(unsigned long long)(is_nop ? 0 : weft_get_be64(flit + 16)),
				h.replay_cmd, h.seq);
		}
	}
}

int
main(void)
{
	static char line[1 << 16];

	/* Whoever writes the script may wait for each answer. */
	setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
	if (fgets(line, sizeof(line), stdin) == NULL)
		give_up("empty", "script");
	configure(line);
	while (fgets(line, sizeof(line), stdin) != NULL) {
		printf("c ");
		if (strncmp(line, "rx ", 3) == 0) {
			receive(line + 3);
		} else {
			printf("- d");
			if (strncmp(line, "send ", 5) == 0)
				commit(strtoul(line + 5, NULL, 10));
			else if (strncmp(line, "time ", 5) == 0)
				now_ns += strtoull(line + 5, NULL, 10);
			else
				give_up("not an event", line);
		}
		printf(" l %llu u %u t", (unsigned long long)weft_llr_count(llr, WEFT_LLR_N_LOST),
			weft_llr_unacked(llr));
		send_all();
		putchar('\n');
	}
	free(llr);
	return 0;
}
