/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * IDE_KM: every object against bytes written by hand from the table of wire-formats.md section 5.5,
 * every truncation and every wrong byte of the form, and the responder's life of a stream.
 */

#include "weft_test.h"

#include "weft_guard.h"
#include "weft_ide_km.h"

#define HEAD "03 00 02 98 1e "
#define KEY "101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f"
#define IV "00000080 04030201 0d0c0b0a" /* DWORDs [95:64], [63:32], [31:0], each little-endian */
#define REGS "a0a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3b4b5b6b7b8b9babbbcbdbebf"

static const struct {
	const char *bytes; /* blanks are for the reader */
	struct weft_ide_km m; /* without key, IV and registers */
} vectors[] = {
	{ HEAD "0400 00  00 00 05", { .object = WEFT_IDE_KM_QUERY, .port = 5 } },
	{ HEAD "2900 00  01 00 05 31 42 53 0f 71" REGS, { .object = WEFT_IDE_KM_QUERY_RESP,
								.port = 5,
								.dev_func = 0x31,
								.bus = 0x42,
								.segment = 0x53,
								.max_port = 0x0F,
								.caps = 0x71 } },
	{ HEAD "3400 00  02 0000 00 00 82 03" KEY IV,
		{ .object = WEFT_IDE_KM_KEY_PROG, .port = 3, .is_tx = true } },
	{ HEAD "3400 00  02 0000 00 00 88 03" KEY IV,
		{ .object = WEFT_IDE_KM_KEY_PROG, .port = 3, .bit3 = true } },
	{ HEAD "0800 00  03 0000 00 04 8a 02", { .object = WEFT_IDE_KM_KP_ACK,
						       .port = 2,
						       .status = 4,
						       .is_tx = true,
						       .bit3 = true } },
	{ HEAD "0800 00  04 0000 00 00 88 01",
		{ .object = WEFT_IDE_KM_K_SET_GO, .port = 1, .bit3 = true } },
	{ HEAD "0800 00  05 0000 00 00 82 01",
		{ .object = WEFT_IDE_KM_K_SET_STOP, .port = 1, .is_tx = true } },
	{ HEAD "0800 00  06 0000 00 00 80 00", { .object = WEFT_IDE_KM_GOSTOP_ACK } },
	{ HEAD "0800 00  07 0000 00 00 82 00", { .object = WEFT_IDE_KM_GETKEY, .is_tx = true } },
	{ HEAD "3400 00  08 0000 00 00 82 00" KEY IV,
		{ .object = WEFT_IDE_KM_GETKEY_ACK, .is_tx = true } },
};

static struct weft_guard guard;

static int
open_guard(void **state)
{
	(void)state;
	weft_guard_open(&guard, 4096);
	return 0;
}

static int
close_guard(void **state)
{
	(void)state;
	weft_guard_close(&guard);
	return 0;
}

WEFT_TEST_AROUND(open_guard, close_guard)

static size_t
bytes_of(const char *text, uint8_t *out)
{
	char packed[256];
	size_t n = 0;

	for (; *text != '\0'; text++)
		if (*text != ' ')
			packed[n++] = *text;
	packed[n] = '\0';
	return weft_test_unhex(packed, out, n / 2);
}

static struct weft_ide_km
object_of(size_t i)
{
	struct weft_ide_km m = vectors[i].m;

	if (m.object == WEFT_IDE_KM_KEY_PROG || m.object == WEFT_IDE_KM_GETKEY_ACK) {
		for (unsigned int k = 0; k < WEFT_IDE_KEY_LEN; k++)
			m.key[k] = (uint8_t)(0x10 + k);
		m.iv[0] = 0x80000000;
		m.iv[1] = 0x01020304;
		m.iv[2] = 0x0A0B0C0D;
	}
	for (unsigned int k = 0; k < WEFT_IDE_KM_REGS_LEN && m.object == WEFT_IDE_KM_QUERY_RESP;
		k++)
		m.regs[k] = (uint8_t)(0xA0 + k);
	return m;
}

/* From the last bytes before an unmapped page. */
static int
get(const uint8_t *in, size_t len, struct weft_ide_km *m)
{
	uint8_t *at = weft_guard_last(&guard, len);

	memcpy(at, in, len);
	return weft_ide_km_get(at, len, m);
}

WEFT_TEST(objects_are_the_bytes_of_the_table)
{
	for (size_t i = 0; i < WEFT_ARRAY_SIZE(vectors); i++) {
		const struct weft_ide_km want = object_of(i);
		uint8_t bytes[WEFT_IDE_KM_MAX], out[WEFT_IDE_KM_MAX];
		const size_t len = bytes_of(vectors[i].bytes, bytes);
		struct weft_ide_km m;

		assert_int_equal(weft_ide_km_put(out, &want), len);
		assert_memory_equal(out, bytes, len);
		assert_int_equal(get(bytes, len, &m), 0);
		assert_int_equal(m.object, want.object);
		assert_int_equal(m.port, want.port);
		assert_int_equal(m.dev_func, want.dev_func);
		assert_int_equal(m.bus, want.bus);
		assert_int_equal(m.segment, want.segment);
		assert_int_equal(m.max_port, want.max_port);
		assert_int_equal(m.caps, want.caps);
		assert_int_equal(m.status, want.status);
		assert_int_equal(m.is_tx, want.is_tx);
		assert_int_equal(m.bit3, want.bit3);
		assert_memory_equal(m.regs, want.regs, sizeof(m.regs));
		assert_memory_equal(m.key, want.key, sizeof(m.key));
		assert_memory_equal(m.iv, want.iv, sizeof(m.iv));
	}
	assert_int_equal(weft_ide_km_put((uint8_t[WEFT_IDE_KM_MAX]){ 0 },
				 &(struct weft_ide_km){ .object = WEFT_IDE_KM_OBJECTS }),
		0);
}

/* --- responder --- */

struct log {
	unsigned int programs, goes, stops, made;
	uint8_t port;
	bool is_tx;
	enum weft_ide_mode mode;
	uint64_t counter;
	uint8_t key[WEFT_IDE_KEY_LEN];
	int fails; /* what the next call returns */
};

static int
log_program(void *arg, uint8_t port, bool is_tx, const uint8_t *key, uint64_t counter)
{
	struct log *l = arg;

	l->programs++;
	l->port = port;
	l->is_tx = is_tx;
	l->counter = counter;
	memcpy(l->key, key, WEFT_IDE_KEY_LEN);
	return l->fails;
}

static int
log_go(void *arg, uint8_t port, bool is_tx, enum weft_ide_mode mode)
{
	struct log *l = arg;

	l->goes++;
	l->port = port;
	l->is_tx = is_tx;
	l->mode = mode;
	return l->fails;
}

static int
log_stop(void *arg, uint8_t port, bool is_tx)
{
	struct log *l = arg;

	l->stops++;
	l->port = port;
	l->is_tx = is_tx;
	return l->fails;
}

static int
log_make(void *arg, uint8_t port, bool is_tx, uint8_t *key, uint64_t *counter)
{
	struct log *l = arg;

	l->made++;
	l->port = port;
	l->is_tx = is_tx;
	memset(key, 0x77, WEFT_IDE_KEY_LEN);
	*counter = 9;
	return l->fails;
}

static void
responder(struct weft_ide_km_responder *r, struct log *l, unsigned int caps)
{
	const struct weft_ide_km self = {
		.dev_func = 8, .bus = 1, .max_port = 3, .caps = (uint8_t)(caps | 1), .regs = { 7 }
	};
	const struct weft_ide_km_ops ops = { .program = log_program,
		.go = log_go,
		.stop = log_stop,
		.make_key = log_make,
		.arg = l };

	memset(l, 0, sizeof(*l));
	assert_int_equal(weft_ide_km_init(r, &self, &ops), 0);
}

/* Send an object; false: no answer. */
static bool
ask(struct weft_ide_km_responder *r, const struct weft_ide_km *m, struct weft_ide_km *answer)
{
	uint8_t in[WEFT_IDE_KM_MAX], out[WEFT_IDE_KM_MAX];
	size_t len = weft_ide_km_put(in, m);

	len = weft_ide_km_respond(r, in, len, out);
	if (len == 0)
		return false;
	assert_int_equal(get(out, len, answer), 0);
	return true;
}

static struct weft_ide_km
plain(enum weft_ide_km_object object, uint8_t port, bool is_tx, bool bit3)
{
	return (struct weft_ide_km){
		.object = (uint8_t)object, .port = port, .is_tx = is_tx, .bit3 = bit3
	};
}

WEFT_TEST(a_stream_lives_by_its_messages)
{
	struct weft_ide_km_responder r;
	struct weft_ide_km m, a;
	struct log l;

	responder(&r, &l, WEFT_IDE_KM_CAP_STOP | WEFT_IDE_KM_CAP_KEYGEN | WEFT_IDE_KM_CAP_IV);
	m = plain(WEFT_IDE_KM_QUERY, 2, false, false);
	assert_true(ask(&r, &m, &a));
	assert_int_equal(a.object, WEFT_IDE_KM_QUERY_RESP);
	assert_int_equal(a.port, 2);
	assert_int_equal(a.max_port, 3);
	assert_int_equal(a.dev_func, 8);
	assert_int_equal(a.regs[0], 7);
	/* No go without a key, no stop of what does not run. */
	m = plain(WEFT_IDE_KM_K_SET_GO, 2, true, true);
	assert_false(ask(&r, &m, &a));
	m = plain(WEFT_IDE_KM_K_SET_STOP, 2, true, false);
	assert_false(ask(&r, &m, &a));
	assert_int_equal(l.goes + l.stops, 0);
	assert_int_equal(r.count[WEFT_IDE_KM_N_REFUSED], 2);
	m = object_of(2);
	m.port = 2;
	assert_true(ask(&r, &m, &a));
	assert_int_equal(a.object, WEFT_IDE_KM_KP_ACK);
	assert_int_equal(a.status, WEFT_IDE_KM_OK);
	assert_true(l.is_tx && l.counter == UINT64_C(0x010203040A0B0C0D));
	assert_memory_equal(l.key, m.key, WEFT_IDE_KEY_LEN);
	/* The key is of one direction of one port. */
	m = plain(WEFT_IDE_KM_K_SET_GO, 2, false, true);
	assert_false(ask(&r, &m, &a));
	m = plain(WEFT_IDE_KM_K_SET_GO, 1, true, true);
	assert_false(ask(&r, &m, &a));
	m = plain(WEFT_IDE_KM_K_SET_GO, 2, true, true);
	assert_true(ask(&r, &m, &a));
	assert_int_equal(a.object, WEFT_IDE_KM_GOSTOP_ACK);
	assert_int_equal(l.mode, WEFT_IDE_CONTAINMENT);
	assert_int_equal(l.goes, 1);
	/* A key starts once. */
	assert_false(ask(&r, &m, &a));
	/* Its next key, with the default IV; the mode stays. */
	m = object_of(3);
	m.port = 2;
	m.is_tx = true;
	assert_true(ask(&r, &m, &a));
	assert_int_equal(l.counter, 1);
	m = plain(WEFT_IDE_KM_K_SET_GO, 2, true, false);
	assert_false(ask(&r, &m, &a));
	m.bit3 = true;
	assert_true(ask(&r, &m, &a));
	assert_int_equal(l.goes, 2);
	m = plain(WEFT_IDE_KM_K_SET_STOP, 2, true, false);
	assert_true(ask(&r, &m, &a));
	assert_int_equal(a.object, WEFT_IDE_KM_GOSTOP_ACK);
	assert_int_equal(l.stops, 1);
	assert_false(ask(&r, &m, &a));
	m = plain(WEFT_IDE_KM_GETKEY, 3, true, false);
	assert_true(ask(&r, &m, &a));
	assert_int_equal(a.object, WEFT_IDE_KM_GETKEY_ACK);
	assert_int_equal(a.key[31], 0x77);
	assert_true(a.iv[0] == 0x80000000 && a.iv[1] == 0 && a.iv[2] == 9);
	assert_int_equal(r.count[WEFT_IDE_KM_N_MALFORMED], 0);
}

WEFT_TEST(what_is_not_possible_is_refused)
{
	struct weft_ide_km_responder r;
	struct weft_ide_km m, a;
	struct log l;

	responder(&r, &l, 0);
	m = object_of(2); /* an IV of its own */
	assert_true(ask(&r, &m, &a));
	assert_int_equal(a.status, WEFT_IDE_KM_BAD_VALUE);
	m.bit3 = true;
	m.port = 4;
	assert_true(ask(&r, &m, &a));
	assert_int_equal(a.status, WEFT_IDE_KM_BAD_PORT);
	assert_int_equal(l.programs, 0);
	m.port = 3;
	l.fails = -EIO;
	assert_true(ask(&r, &m, &a));
	assert_int_equal(a.status, WEFT_IDE_KM_FAILED);
	m = plain(WEFT_IDE_KM_K_SET_GO, 3, true, true);
	assert_false(ask(&r, &m, &a)); /* no key was taken */
	m = plain(WEFT_IDE_KM_GETKEY, 3, true, false);
	assert_false(ask(&r, &m, &a));
	assert_int_equal(l.made, 0);
	m = plain(WEFT_IDE_KM_QUERY, 4, false, false);
	assert_false(ask(&r, &m, &a));
	/* Answers are no questions. */
	for (unsigned int i = 0; i < WEFT_IDE_KM_OBJECTS; i++)
		if (i == WEFT_IDE_KM_QUERY_RESP || i == WEFT_IDE_KM_KP_ACK ||
			i == WEFT_IDE_KM_GOSTOP_ACK || i == WEFT_IDE_KM_GETKEY_ACK) {
			m = plain((enum weft_ide_km_object)i, 1, false, false);
			assert_false(ask(&r, &m, &a));
		}
	/* An IV whose fixed part is another, or a counter of 0. */
	responder(&r, &l, WEFT_IDE_KM_CAP_IV);
	m = object_of(2);
	m.iv[0] = 0x80000001;
	assert_true(ask(&r, &m, &a));
	assert_int_equal(a.status, WEFT_IDE_KM_BAD_VALUE);
	m.iv[0] = 0x80000000;
	m.iv[1] = m.iv[2] = 0;
	assert_true(ask(&r, &m, &a));
	assert_int_equal(a.status, WEFT_IDE_KM_BAD_VALUE);
	assert_int_equal(l.programs, 0);
	assert_int_equal(
		weft_ide_km_init(&r, &(struct weft_ide_km){ .max_port = 16, .caps = 1 }, &r.ops),
		-EINVAL);
	assert_int_equal(weft_ide_km_init(&r, &(struct weft_ide_km){ .caps = 2 }, &r.ops), -EINVAL);
}

/* --- what it is for --- */

struct port {
	void *mem;
	struct weft_ide_lib *lib;
	struct weft_ide_stream *stream;
	uint8_t key[WEFT_IDE_KEY_LEN];
	uint64_t counter;
};

static int
port_program(void *arg, uint8_t port, bool is_tx, const uint8_t *key, uint64_t counter)
{
	struct port *p = arg;

	(void)port;
	(void)is_tx;
	if (p->stream != NULL)
		weft_ide_stream_next_key(p->stream, p->lib, key);
	memcpy(p->key, key, WEFT_IDE_KEY_LEN);
	p->counter = counter;
	return 0;
}

static int
port_go(void *arg, uint8_t port, bool is_tx, enum weft_ide_mode mode)
{
	struct port *p = arg;

	(void)port;
	(void)is_tx;
	if (p->stream == NULL)
		p->stream = weft_ide_stream_init(p->mem, p->lib, mode, p->key, p->counter, true);
	return p->stream == NULL ? -EIO : 0;
}

/* A flit, and what ends its epoch, from the one to the other. */
static void
pass_flit(struct port *tx, struct port *rx)
{
	const uint8_t clear[256] = { 0x80, [100] = 42 };
	uint8_t flit[256];
	struct weft_ide_event e;

	memcpy(flit, clear, sizeof(flit));
	assert_int_equal(weft_ide_seal(tx->stream, flit), 0);
	assert_memory_not_equal(flit + 16, clear + 16, 224);
	weft_ide_open(rx->stream, flit, &e);
	assert_memory_equal(flit + 16, clear + 16, 224);
	assert_int_equal(weft_ide_close(tx->stream, flit), WEFT_IDE_CLOSE_TMAC);
	weft_ide_open(rx->stream, flit, &e);
	assert_true(e.epoch_good);
	assert_int_equal(e.release, 2);
}

/* A key manager starts two ports by messages alone, and changes the key in flight. */
WEFT_TEST(a_key_manager_programs_two_ports)
{
	struct weft_ide_lib *lib = weft_ide_lib_open(0);
	const struct weft_ide_km self = { .caps = 1 };
	struct weft_ide_km_responder r[2];
	struct port p[2];
	struct weft_ide_event e;
	uint8_t start[256];

	assert_non_null(lib);
	for (unsigned int i = 0; i < 2; i++) {
		const struct weft_ide_km_ops ops = {
			.program = port_program, .go = port_go, .arg = &p[i]
		};

		p[i] = (struct port){ .lib = lib,
			.mem = aligned_alloc(64, weft_ide_stream_size()) };
		assert_non_null(p[i].mem);
		assert_int_equal(weft_ide_km_init(&r[i], &self, &ops), 0);
	}
	for (unsigned int round = 0; round < 3; round++) {
		for (unsigned int i = 0; i < 2; i++) {
			struct weft_ide_km m = plain(WEFT_IDE_KM_KEY_PROG, 0, i == 0, true), a;

			memset(m.key, (int)(0x30 + round), sizeof(m.key));
			assert_true(ask(&r[i], &m, &a));
			assert_int_equal(a.status, WEFT_IDE_KM_OK);
			m = plain(WEFT_IDE_KM_K_SET_GO, 0, i == 0, true);
			assert_true(ask(&r[i], &m, &a));
		}
		if (round != 0) {
			assert_int_equal(weft_ide_start(p[0].stream, start), 0);
			weft_ide_open(p[1].stream, start, &e);
			assert_true(weft_ide_counts(p[1].stream)->starts == round);
		}
		pass_flit(&p[0], &p[1]);
	}
	for (unsigned int i = 0; i < 2; i++) {
		weft_ide_stream_wipe(p[i].stream);
		free(p[i].mem);
	}
	weft_ide_lib_close(lib);
}

/* Every length, and every value of every byte that has a form, of every object. */
WEFT_TEST(malformed_objects_are_refused_and_counted)
{
	struct weft_ide_km_responder r;
	uint64_t malformed = 0;
	struct log l;

	responder(&r, &l, WEFT_IDE_KM_CAP_STOP | WEFT_IDE_KM_CAP_KEYGEN);
	for (size_t i = 0; i < WEFT_ARRAY_SIZE(vectors); i++) {
		uint8_t good[WEFT_IDE_KM_MAX + 8] = { 0 }, in[sizeof(good)], out[WEFT_IDE_KM_MAX];
		const size_t len = bytes_of(vectors[i].bytes, good);
		struct weft_ide_km m;

		for (size_t cut = 0; cut < len + 8; cut++) {
			if (cut == len)
				continue;
			assert_int_equal(get(good, cut, &m), -EPROTO);
			assert_int_equal(weft_ide_km_respond(&r, good, cut, out), 0);
			assert_int_equal(r.count[WEFT_IDE_KM_N_MALFORMED], ++malformed);
			/* With a payload length that agrees. */
			memcpy(in, good, sizeof(in));
			if (cut < 9)
				continue;
			in[5] = (uint8_t)(cut - 7);
			assert_int_equal(get(in, cut, &m), -EMSGSIZE);
			assert_int_equal(weft_ide_km_respond(&r, in, cut, out) != 0,
				vectors[i].m.object == WEFT_IDE_KM_KEY_PROG);
			assert_int_equal(r.count[WEFT_IDE_KM_N_MALFORMED], ++malformed);
			if (vectors[i].m.object == WEFT_IDE_KM_KEY_PROG)
				assert_int_equal(out[12], WEFT_IDE_KM_BAD_LENGTH);
		}
		for (unsigned int v = 0; v < 256; v++)
			for (size_t at = 0; at < 8; at++) {
				memcpy(in, good, sizeof(in));
				in[at] = (uint8_t)v;
				assert_int_equal(get(in, len, &m), v == good[at] ? 0 : -EPROTO);
			}
		for (unsigned int v = WEFT_IDE_KM_OBJECTS; v < 256; v++) {
			memcpy(in, good, sizeof(in));
			in[8] = (uint8_t)v;
			assert_int_equal(get(in, len, &m), -EBADRQC);
			assert_int_equal(weft_ide_km_respond(&r, in, len, out), 0);
			assert_int_equal(r.count[WEFT_IDE_KM_N_MALFORMED], ++malformed);
		}
		if (vectors[i].m.object < WEFT_IDE_KM_KEY_PROG)
			continue;
		for (unsigned int v = 1; v < 256; v++) {
			memcpy(in, good, sizeof(in));
			in[11] = (uint8_t)v; /* stream */
			assert_int_equal(get(in, len, &m), -EINVAL);
			in[11] = 0;
			in[13] = (uint8_t)v; /* sub-stream */
			assert_int_equal(get(in, len, &m), (v & 0xF5) == 0x80 ? 0 : -EINVAL);
		}
	}
	assert_int_equal(l.programs + l.goes + l.stops + l.made, 0);
}
