/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * IDE against the vectors of wire-formats.md part (c), and against the streams in ide.txt, made by
 * the Python model.
 */

#include "ide_rig.h"

#include "gcm_priv.h"
#include "ide_priv.h"
#include "weft_cpu.h"
#include "weft_data_crc.h"

static struct weft_ide_lib *lib;

static int
open_lib(void **state)
{
	(void)state;
	lib = weft_ide_lib_open(weft_cpu_detect());
	return lib == NULL ? -1 : 0;
}

static int
close_lib(void **state)
{
	(void)state;
	weft_ide_lib_close(lib);
	return 0;
}

WEFT_TEST_AROUND(open_lib, close_lib)

static void
expect_hex(const uint8_t *got, const char *hex)
{
	uint8_t want[64];
	const size_t n = weft_test_unhex(hex, want, sizeof(want));

	assert_memory_equal(got, want, n);
}

static void
document_flits(uint8_t flit[2][WEFT_FLIT_LEN])
{
	for (unsigned int i = 0; i < WEFT_FLIT_LEN; i++) {
		flit[0][i] = (uint8_t)(7 * i + 3);
		flit[1][i] = (uint8_t)(5 * i + 1);
	}
	flit[0][0] = 0xA0;
	flit[0][1] = 0x01;
	flit[0][2] = (uint8_t)((flit[0][2] & 0xF0) | 4);
	flit[0][240] = 0x94;
	flit[0][241] = 0x52;
	/* The vector leaves flit 1's header and subtype open; none of them is protected. */
	flit[1][0] = 0xA0;
	flit[1][2] = 0x28;
	flit[1][3] = 0x03;
	flit[1][240] = 0x14;
	flit[1][241] = 0x00;
}

static void
document_epoch(bool pcrc, struct weft_ide_stream **s, uint8_t sealed[2][WEFT_FLIT_LEN])
{
	uint8_t key[WEFT_IDE_KEY_LEN];

	for (unsigned int i = 0; i < sizeof(key); i++)
		key[i] = (uint8_t)i;
	*s = rig_stream(lib, WEFT_IDE_CONTAINMENT, key, 1, pcrc);
	document_flits(sealed);
	ide_epoch_seal(*s, sealed[0]);
	ide_epoch_seal(*s, sealed[1]);
}

WEFT_TEST(document_vector_holds)
{
	uint8_t plain[2][WEFT_FLIT_LEN], sealed[2][WEFT_FLIT_LEN], mac[WEFT_IDE_MAC_LEN];
	struct weft_ide_stream *s;

	document_flits(plain);
	document_epoch(true, &s, sealed);
	assert_true(ide_epoch_is_full(s));
	assert_int_equal(s->p_len, 464);
	expect_hex(s->aad, "4429050014000000");
	assert_int_equal(weft_crc32c(0, s->p, s->p_len), 0x8b49a273);

	/* Ciphertext 5f ad 52 b6 49 ...: the first 20 bits are pad and stay off the wire. */
	assert_memory_equal(sealed[0], plain[0], 2);
	assert_int_equal(sealed[0][2], 0x50 | 4);
	expect_hex(sealed[0] + 3, "b649873546c9d2d13d15b917a3");
	assert_memory_equal(sealed[0] + 240, plain[0] + 240, 16);
	assert_memory_equal(sealed[1], plain[1], 16);
	assert_memory_equal(sealed[1] + 240, plain[1] + 240, 16);

	ide_epoch_end(s, mac);
	expect_hex(mac, "c17af520c20f0f98fe50b4c5");
	expect_hex(s->p, "5fad52b649873546c9d2d13d15b917a3");
	expect_hex(s->p + 464, "78916784");
	free(s);
}

WEFT_TEST(document_tag_without_pcrc_holds)
{
	const uint8_t iv[IDE_IV_LEN] = { 0x80, [11] = 1 };
	uint8_t sealed[2][WEFT_FLIT_LEN], tag[IDE_TAG_LEN];
	struct weft_ide_stream *s;

	document_epoch(false, &s, sealed);
	ide_gcm_tag(s->gcm, iv, s->aad, 8, s->p, s->p_len, tag);
	expect_hex(tag, "0b13e9baf1cb91f42acd2405ccbc8ea8");
	free(s);
}

WEFT_TEST(pcrc_is_crc32c)
{
	uint8_t check[] = "123456789";

	assert_int_equal(weft_crc32c(0, check, 9), 0xE3069283);
	assert_int_equal(weft_crc32c(0, check, 0), 0);
}

/* --- ide.txt --- */

struct vector_run {
	struct weft_ide_stream *tx;
	struct rig_rx rx;
	uint8_t plain[RIG_FLITS_MAX][WEFT_FLIT_LEN];
	unsigned int flits, macs;
	uint8_t mac[WEFT_IDE_MAC_LEN]; /* of the last full epoch */
};

static void
begin_run(struct vector_run *v, const char *mode, const char *pcrc, const char *key_hex)
{
	uint8_t key[WEFT_IDE_KEY_LEN];
	const enum weft_ide_mode m =
		strcmp(mode, "skid") == 0 ? WEFT_IDE_SKID : WEFT_IDE_CONTAINMENT;

	memset(v, 0, sizeof(*v));
	assert_int_equal(weft_test_unhex(key_hex, key, sizeof(key)), sizeof(key));
	v->tx = rig_stream(lib, m, key, 1, strcmp(pcrc, "on") == 0);
	v->rx.s = rig_stream(lib, m, key, 1, strcmp(pcrc, "on") == 0);
}

static void
run_flit(struct vector_run *v, unsigned int epoch, const char *plain_hex, const char *wire_hex)
{
	uint8_t *plain = v->plain[v->flits++];
	uint8_t wire[WEFT_FLIT_LEN] = { 0 }, sealed[WEFT_FLIT_LEN];
	enum ide_kind kind;

	assert_int_equal(weft_test_unhex(plain_hex, plain, 242), 242);
	assert_int_equal(weft_test_unhex(wire_hex, wire, 242), 242);
	kind = ide_kind(plain);
	if (kind == IDE_KIND_TMAC)
		ide_epoch_end(v->tx, v->mac);
	if (kind == IDE_KIND_TMAC || kind == IDE_KIND_MAC) {
		assert_memory_equal(wire + IDE_MAC_OFF, v->mac, WEFT_IDE_MAC_LEN);
		v->macs++;
	}
	memcpy(sealed, plain, WEFT_FLIT_LEN);
	if (epoch != 0) {
		assert_int_equal(v->tx->counter, epoch);
		ide_epoch_seal(v->tx, sealed);
		if (ide_epoch_is_full(v->tx))
			ide_epoch_end(v->tx, v->mac);
	}
	assert_memory_equal(sealed, wire, WEFT_FLIT_LEN);
	weft_ide_monitor_flit(rig_monitor(v->tx), wire);
	rig_receive(&v->rx, wire);
}

static void
end_run(struct vector_run *v)
{
	if (v->tx == NULL)
		return;
	assert_true(v->flits > 0 && v->macs > 0);
	assert_int_equal(v->rx.failures, 0);
	assert_int_equal(v->rx.epochs_good, v->macs);
	assert_int_equal(v->rx.n_out + v->rx.queued, v->flits);
	assert_memory_equal(v->rx.out, v->plain, v->rx.n_out * (size_t)WEFT_FLIT_LEN);
	free(v->tx);
	free(v->rx.s);
}

WEFT_TEST(model_streams_seal_and_open)
{
	static struct vector_run v;
	char word[3][512], *line = NULL;
	size_t room = 0;
	unsigned int epoch, streams = 0;
	FILE *f = fopen(WEFT_TEST_VECTORS "/ide.txt", "r");

	assert_non_null(f);
	while (getline(&line, &room, f) > 0) {
		if (sscanf(line, "stream %511s %511s %511s", word[0], word[1], word[2]) == 3) {
			end_run(&v);
			begin_run(&v, word[0], word[1], word[2]);
			streams++;
		} else if (sscanf(line, "flit %u %511s %511s", &epoch, word[0], word[1]) == 3) {
			run_flit(&v, epoch, word[0], word[1]);
		} else {
			assert_int_equal(line[0], '#');
		}
	}
	end_run(&v);
	assert_true(streams >= 4);
	free(line);
	fclose(f);
}
