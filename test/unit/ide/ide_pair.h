/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* A sender and a receiver under one key, one pair at a time, and all that was sent between them. */
#ifndef WEFT_TEST_IDE_PAIR_H
#define WEFT_TEST_IDE_PAIR_H

#include "ide_rig.h"

#include "weft_cpu.h"

static struct weft_ide_lib *lib;
static struct weft_rand rnd;
static uint8_t key[WEFT_IDE_KEY_LEN];
static struct weft_ide_config cfg;
static struct weft_ide_stream *tx;
static struct rig_rx rx;
static uint8_t plain[RIG_FLITS_MAX][WEFT_FLIT_LEN]; /* all that was sent, in order */
static unsigned int n_plain;

/* Before the tests of a program. */
static inline int
open_lib(void **state)
{
	(void)state;
	weft_test_seed(&rnd, "pair");
	lib = weft_ide_lib_open(weft_cpu_detect());
	return lib == NULL ? -1 : 0;
}

/* After them. */
static inline int
close_lib(void **state)
{
	(void)state;
	free(tx);
	free(rx.s);
	weft_ide_lib_close(lib);
	return 0;
}

WEFT_TEST_AROUND(open_lib, close_lib)

/* A new pair with a new key. */
static inline void
start_with(struct weft_ide_config c)
{
	free(tx);
	free(rx.s);
	memset(&rx, 0, sizeof(rx));
	n_plain = 0;
	weft_rand_fill(&rnd, key, sizeof(key));
	cfg = c;
	tx = rig_setup(lib, &cfg, key, 1);
	rx.s = rig_setup(lib, &cfg, key, 1);
}

/* A protocol flit, with the MAC slot if one is due. */
static inline void
make_flit(uint8_t *flit)
{
	rig_protocol_flit(&rnd, flit);
	if (weft_ide_mac_due(tx) && !weft_ide_is_stopped(tx))
		rig_control_flit(&rnd, flit, WEFT_LLCTRL_IDE_MAC);
}

/* Make the next one and seal it into @p flit. */
static inline void
next_flit(uint8_t *flit)
{
	uint8_t *p = plain[n_plain++];

	make_flit(p);
	memcpy(flit, p, WEFT_FLIT_LEN);
	assert_int_equal(rig_seal(tx, flit), 0);
	if (rig_is_mac(p))
		memcpy(p + 4, flit + 4, WEFT_IDE_MAC_LEN);
}

static inline void
send_flits(unsigned int n)
{
	uint8_t flit[WEFT_FLIT_LEN];

	for (unsigned int i = 0; i < n; i++) {
		next_flit(flit);
		rig_receive(&rx, flit);
	}
}

/* Have another key ready at both ends. */
static inline void
give_next_key(void)
{
	weft_rand_fill(&rnd, key, sizeof(key));
	rig_next_key(tx, lib, key);
	rig_next_key(rx.s, lib, key);
	assert_true(weft_ide_has_next_key(tx));
}

#endif /* WEFT_TEST_IDE_PAIR_H */
