/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * IDE_KM messages to a responder, by a script of them: what is read is the same after it was
 * written and read again; what is refused calls nothing; an answer is well-formed, of the kind that
 * belongs to its question and for the same port and direction; a stream starts only with a key that
 * was given for it, and stops only if it runs; a key programs a counter of 1 or more. Each message
 * is counted once.
 *
 *   byte 0  capabilities 6:4, bits 1:0: the last port
 *   then    messages: how (step()), then their fields or bytes
 */

#include "weft_fuzz.h"

#include "weft_ide_km.h"

struct script {
	struct fuzz_in in;
	struct weft_ide_km_responder r;
	bool fails; /* what is asked of the port */
	unsigned int calls, port;
	bool has_key[WEFT_IDE_KM_PORTS][2], runs[WEFT_IDE_KM_PORTS][2];
	uint8_t mode[WEFT_IDE_KM_PORTS][2];
};

/* --- the port --- */

static int
called(struct script *x, uint8_t port)
{
	x->calls++;
	x->port = port;
	FUZZ_CHECK(port <= x->r.self.max_port);
	return x->fails ? -EIO : 0;
}

static int
program(void *arg, uint8_t port, bool is_tx, const uint8_t *key, uint64_t counter)
{
	struct script *x = arg;
	const int rc = called(x, port);

	FUZZ_CHECK(key != NULL && counter >= 1);
	x->has_key[port][is_tx] |= rc == 0;
	return rc;
}

static int
go(void *arg, uint8_t port, bool is_tx, enum weft_ide_mode mode)
{
	struct script *x = arg;
	const int rc = called(x, port);

	FUZZ_CHECK(x->has_key[port][is_tx]);
	FUZZ_CHECK(mode == WEFT_IDE_SKID || mode == WEFT_IDE_CONTAINMENT);
	FUZZ_CHECK(!x->runs[port][is_tx] || mode == x->mode[port][is_tx]);
	if (rc == 0) {
		x->has_key[port][is_tx] = false;
		x->runs[port][is_tx] = true;
		x->mode[port][is_tx] = (uint8_t)mode;
	}
	return rc;
}

static int
stop(void *arg, uint8_t port, bool is_tx)
{
	struct script *x = arg;
	const int rc = called(x, port);

	FUZZ_CHECK(x->runs[port][is_tx] && (x->r.self.caps & WEFT_IDE_KM_CAP_STOP));
	if (rc == 0)
		x->runs[port][is_tx] = x->has_key[port][is_tx] = false;
	return rc;
}

static int
make_key(void *arg, uint8_t port, bool is_tx, uint8_t *key, uint64_t *counter)
{
	struct script *x = arg;

	(void)is_tx;
	FUZZ_CHECK(x->r.self.caps & WEFT_IDE_KM_CAP_KEYGEN);
	memset(key, 0x5A, WEFT_IDE_KEY_LEN);
	*counter = UINT64_C(0x123456789A);
	return called(x, port);
}

/* --- messages --- */

static bool
same(const struct weft_ide_km *a, const struct weft_ide_km *b)
{
	return a->object == b->object && a->port == b->port && a->dev_func == b->dev_func &&
	       a->bus == b->bus && a->segment == b->segment && a->max_port == b->max_port &&
	       a->caps == b->caps && memcmp(a->regs, b->regs, sizeof(a->regs)) == 0 &&
	       a->status == b->status && a->is_tx == b->is_tx && a->bit3 == b->bit3 &&
	       memcmp(a->key, b->key, sizeof(a->key)) == 0 &&
	       memcmp(a->iv, b->iv, sizeof(a->iv)) == 0;
}

/* Read it, and hold the verdict against the frame of the format. */
static int
check_read(const uint8_t *msg, size_t len, struct weft_ide_km *m)
{
	const int rc = weft_ide_km_get(msg, len, m);
	const bool is_km = len >= 9 && msg[0] == 3 && msg[1] == 0 && msg[2] == 2 &&
	                   msg[3] == 0x98 && msg[4] == 0x1E && msg[5] + 256u * msg[6] == len - 7 &&
	                   msg[7] == 0;
	uint8_t again[WEFT_IDE_KM_MAX];
	struct weft_ide_km read;
	size_t n;

	FUZZ_CHECK((rc == -EPROTO) == !is_km);
	FUZZ_CHECK(!is_km || (rc == -EBADRQC) == (msg[8] >= WEFT_IDE_KM_OBJECTS));
	FUZZ_CHECK(rc == 0 || rc == -EPROTO || rc == -EBADRQC || rc == -EMSGSIZE || rc == -EINVAL);
	if (rc != 0)
		return rc;
	n = weft_ide_km_put(again, m);
	FUZZ_CHECK(n == len && n <= WEFT_IDE_KM_MAX);
	FUZZ_CHECK(weft_ide_km_get(again, n, &read) == 0 && same(m, &read));
	/* No shorter message has all its fields. */
	for (size_t cut = 0; cut < len; cut++)
		FUZZ_CHECK(weft_ide_km_get(msg, cut, &read) != 0);
	return 0;
}

static const int answer_to[WEFT_IDE_KM_OBJECTS] = {
	[WEFT_IDE_KM_QUERY] = WEFT_IDE_KM_QUERY_RESP,
	[WEFT_IDE_KM_QUERY_RESP] = -1,
	[WEFT_IDE_KM_KEY_PROG] = WEFT_IDE_KM_KP_ACK,
	[WEFT_IDE_KM_KP_ACK] = -1,
	[WEFT_IDE_KM_K_SET_GO] = WEFT_IDE_KM_GOSTOP_ACK,
	[WEFT_IDE_KM_K_SET_STOP] = WEFT_IDE_KM_GOSTOP_ACK,
	[WEFT_IDE_KM_GOSTOP_ACK] = -1,
	[WEFT_IDE_KM_GETKEY] = WEFT_IDE_KM_GETKEY_ACK,
	[WEFT_IDE_KM_GETKEY_ACK] = -1,
};

static void
check_answer(
	const struct script *x, const struct weft_ide_km *m, int rc, const uint8_t *out, size_t n)
{
	const bool is_key = m->object == WEFT_IDE_KM_KEY_PROG && rc != -EPROTO && rc != -EBADRQC;
	uint8_t *exact = fuzz_copy(out, n);
	struct weft_ide_km a;

	FUZZ_CHECK(rc == 0 || x->calls == 0);
	FUZZ_CHECK(x->calls <= 1 && (x->calls == 0 || x->port == m->port));
	FUZZ_CHECK(!is_key || n != 0);
	FUZZ_CHECK(rc == 0 || is_key || n == 0);
	if (n != 0) {
		FUZZ_CHECK(n <= WEFT_IDE_KM_MAX && check_read(exact, n, &a) == 0);
		FUZZ_CHECK(a.object == answer_to[m->object] && a.port == m->port);
		FUZZ_CHECK(a.is_tx == m->is_tx);
		/* Good is what was done. */
		if (a.object == WEFT_IDE_KM_KP_ACK)
			FUZZ_CHECK((a.status == WEFT_IDE_KM_OK) == (x->calls == 1 && !x->fails));
		else
			FUZZ_CHECK(m->object == WEFT_IDE_KM_QUERY || (x->calls == 1 && !x->fails));
		FUZZ_CHECK(m->object != WEFT_IDE_KM_QUERY || a.max_port == x->r.self.max_port);
	}
	free(exact);
}

/* A message by its fields, with one byte changed perhaps; or bytes. */
static size_t
message(struct script *x, uint8_t how, uint8_t *msg)
{
	struct weft_ide_km m = { .object = fuzz_u8(&x->in) % WEFT_IDE_KM_OBJECTS };
	size_t n;

	if (how & 4) {
		n = m.object * 8u;
		fuzz_take(&x->in, msg, n);
		return n;
	}
	m.port = fuzz_u8(&x->in) & 7;
	m.is_tx = (how & 8) != 0;
	m.bit3 = (how & 16) != 0;
	m.iv[0] = UINT32_C(0x80000000);
	m.iv[1] = how >> 6;
	m.iv[2] = how >> 5 & 1;
	n = weft_ide_km_put(msg, &m);
	if (how & 2) {
		const size_t at = fuzz_u8(&x->in) % n;

		msg[at] = fuzz_u8(&x->in);
	}
	return n;
}

static void
step(struct script *x)
{
	const uint8_t how = fuzz_u8(&x->in);
	uint8_t room[8 * WEFT_IDE_KM_OBJECTS + WEFT_IDE_KM_MAX], out[WEFT_IDE_KM_MAX];
	const size_t len = message(x, how, room);
	uint8_t *msg = fuzz_copy(room, len);
	struct weft_ide_km m;
	uint64_t before = 0, after = 0;
	int rc = check_read(msg, len, &m);
	size_t n;

	for (unsigned int i = 0; i < WEFT_IDE_KM_N_COUNTERS; i++)
		before += x->r.count[i];
	x->calls = 0;
	x->fails = (how & 1) != 0;
	n = weft_ide_km_respond(&x->r, msg, len, out);
	check_answer(x, &m, rc, out, n);
	for (unsigned int i = 0; i < WEFT_IDE_KM_N_COUNTERS; i++)
		after += x->r.count[i];
	FUZZ_CHECK(after == before + 1);
	free(msg);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct script x = { .in = { data, len } };
	const struct weft_ide_km_ops ops = { program, go, stop, make_key, &x };
	const uint8_t how = fuzz_u8(&x.in);
	const struct weft_ide_km self = { .max_port = how & 3,
		.caps = (uint8_t)(WEFT_IDE_KM_CAP_VERSION | (how & 0x70)) };

	FUZZ_CHECK(weft_ide_km_init(&x.r, &self, &ops) == 0);
	while (x.in.n > 0)
		step(&x);
	return 0;
}
