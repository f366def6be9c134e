/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The table of connections: an rte_hash from key to connection, lock-free for readers, over an
 * array that never moves. A connection is complete before its key can be found. IDE streams are
 * made and wiped here, so that key material has one home.
 */

#include "weft_keys.h"
#include "weft_pbr.h"

#include <rte_errno.h>
#include <rte_hash.h>
#include <rte_jhash.h>
#include <rte_malloc.h>
#include <rte_mbuf.h>

struct weft_conns {
	struct rte_hash *hash;
	struct weft_ide_lib *ide;
	unsigned int max;
	unsigned int count;
	int socket;
	bool *in_use;
	struct weft_conn_dir *conn; /* max of them; index = place in the array */

	uint8_t n_ways;
	uint8_t next_way; /* of the next new sender */
	uint16_t own;
	bool is_dealt[WEFT_PIDS];
	uint8_t way_of[WEFT_PIDS];

	struct { /* each of one lcore */
		unsigned int at __attribute__((aligned(WEFT_CACHE_LINE)));
		unsigned int n_stuck; /* link_rx's */
	} turn[WEFT_CONNS_WAYS][WEFT_TURNS];

	/* Bells: a bit a connection, and a bit a word of these in which one may be set. */
	uint64_t rung_words __attribute__((aligned(WEFT_CACHE_LINE)));
	uint64_t rung[WEFT_CONNS_MAX / 64];
};

static_assert(WEFT_CONNS_MAX / 64 <= 64, "a bit a word");

struct weft_conns *
weft_conns_create(const char *name, unsigned int max, struct weft_ide_lib *ide, int socket)
{
	static unsigned int made; /* names of DPDK objects are short: a number tells ours apart */
	char hash_name[RTE_HASH_NAMESIZE];
	struct rte_hash_parameters params = {
		.name = hash_name,
		.entries = max < 8 ? 8 : max, /* the least rte_hash takes */
		.key_len = sizeof(struct weft_conn_key),
		.hash_func = rte_jhash,
		.socket_id = socket == SOCKET_ID_ANY ? 0 : socket,
		.extra_flag = RTE_HASH_EXTRA_FLAGS_RW_CONCURRENCY_LF,
	};
	struct weft_conns *t;

	if (max == 0 || max > WEFT_CONNS_MAX) {
		rte_errno = EINVAL;
		return NULL;
	}
	snprintf(hash_name, sizeof(hash_name), "wc%u_%.20s",
		__atomic_add_fetch(&made, 1, __ATOMIC_RELAXED), name);
	t = rte_zmalloc_socket("weft_conns", sizeof(*t), WEFT_CACHE_LINE, socket);
	if (t == NULL) {
		rte_errno = ENOMEM;
		return NULL;
	}
	t->ide = ide;
	t->socket = socket;
	t->max = max;
	t->n_ways = 1;
	t->own = WEFT_PID_NONE;
	t->conn = rte_zmalloc_socket("weft_conn", max * sizeof(*t->conn), WEFT_CACHE_LINE, socket);
	t->in_use = rte_zmalloc_socket("weft_conn_used", max * sizeof(*t->in_use), 0, socket);
	if (t->conn == NULL || t->in_use == NULL) {
		rte_errno = ENOMEM;
		goto free_table;
	}
	t->hash = rte_hash_create(&params);
	if (t->hash == NULL)
		goto free_table;
	return t;

free_table:
	rte_free(t->in_use);
	rte_free(t->conn);
	rte_free(t);
	return NULL;
}

void
weft_conns_free(struct weft_conns *t)
{
	unsigned int pos = 0;
	struct weft_conn_dir *c;

	if (t == NULL)
		return;
	while ((c = weft_conns_next(t, &pos)) != NULL)
		weft_conns_remove(t, c);
	rte_hash_free(t->hash);
	rte_free(t->in_use);
	rte_free(t->conn);
	rte_free(t);
}

static int
conn_start_stream(struct weft_conns *t, struct weft_conn_dir *c, const struct weft_conn_cfg *cfg)
{
	const struct weft_ide_config ide = {
		.mode = cfg->ide, .pcrc = cfg->pcrc, .poison = cfg->poison, .stop = cfg->stop
	};
	void *mem;

	c->ide = (uint8_t)cfg->ide;
	if (cfg->ide == WEFT_IDE_OFF || cfg->ide_key == NULL)
		return 0;
	if (t->ide == NULL)
		return -EINVAL;
	mem = rte_zmalloc_socket("weft_ide", weft_ide_stream_size(), WEFT_CACHE_LINE, t->socket);
	if (mem == NULL)
		return -ENOMEM;
	c->stream = weft_ide_stream_setup(mem, t->ide, &ide, cfg->ide_key, 1);
	if (c->stream == NULL) {
		rte_free(mem);
		return -EINVAL;
	}
	c->counts = weft_ide_counts(c->stream);
	c->n_keys = 1;
	c->later_keys = cfg->later_keys;
	weft_conns_next_key(t, c);
	return 0;
}

static int
conn_start(struct weft_conns *t, struct weft_conn_dir *c, const struct weft_conn_cfg *cfg)
{
	int rc;

	/* cxl numbers live in `fsn`; its CRC has neither ids nor number. */
	if (c->key.mode == WEFT_MODE_CXL) {
		rc = weft_isn_init(&c->isn, WEFT_ISN_NONE, cfg->order, 0, 0, 0, 0);
		if (rc == 0)
			rc = weft_fsn_init(&c->fsn, cfg->first);
	} else {
		rc = weft_isn_init(&c->isn, cfg->isn, cfg->order, c->key.spid, c->key.dpid,
			c->key.vc, cfg->first);
	}
	return rc != 0 ? rc : conn_start_stream(t, c, cfg);
}

static void
conn_stop(struct weft_conn_dir *c)
{
	if (c->stream != NULL && c->end == NULL) {
		weft_ide_stream_wipe(c->stream);
		rte_free(c->stream);
		c->stream = NULL;
	}
	rte_pktmbuf_free_bulk(c->held, c->n_held);
	c->n_held = 0;
}

/* A byte that frames are dealt by meanwhile, if a sender comes while they flow. */
static void
conn_deal(struct weft_conns *t, struct weft_conn_dir *c)
{
	const uint16_t spid = c->key.spid % WEFT_PIDS;

	if (c->key.mode == WEFT_MODE_CXL)
		return;
	if (c->key.spid == t->own) {
		c->way = WEFT_CONNS_NO_WAY;
		return;
	}
	if (!t->is_dealt[spid]) {
		t->is_dealt[spid] = true;
		__atomic_store_n(&t->way_of[spid], t->next_way, __ATOMIC_RELAXED);
		t->next_way = (uint8_t)((t->next_way + 1u) % t->n_ways);
	}
	c->way = t->way_of[spid];
}

void
weft_conns_deal(struct weft_conns *t, unsigned int ways, uint16_t own)
{
	unsigned int pos = 0;
	struct weft_conn_dir *c;

	assert(ways != 0 && ways <= WEFT_CONNS_WAYS);
	t->n_ways = (uint8_t)ways;
	t->next_way = 0;
	t->own = own;
	memset(t->is_dealt, 0, sizeof(t->is_dealt));
	memset(t->way_of, 0, sizeof(t->way_of));
	while ((c = weft_conns_next(t, &pos)) != NULL)
		conn_deal(t, c);
}

const uint8_t *
weft_conns_ways(const struct weft_conns *t)
{
	return t->way_of;
}

struct weft_conn_dir *
weft_conns_add(
	struct weft_conns *t, const struct weft_conn_key *key, const struct weft_conn_cfg *cfg)
{
	struct weft_conn_dir *c;
	unsigned int i = 0;
	int rc;

	if (weft_conns_find(t, key) != NULL) {
		rte_errno = EEXIST;
		return NULL;
	}
	while (i < t->max && t->in_use[i])
		i++;
	if (i == t->max) {
		rte_errno = ENOSPC;
		return NULL;
	}
	c = &t->conn[i];
	memset(c, 0, sizeof(*c));
	c->key = *key;
	c->index = (uint16_t)i;
	conn_deal(t, c);
	rc = conn_start(t, c, cfg);
	if (rc == 0)
		rc = rte_hash_add_key_data(t->hash, key, c);
	if (rc < 0) {
		conn_stop(c);
		rte_errno = -rc;
		return NULL;
	}
	t->in_use[i] = true;
	t->count++;
	return c;
}

void
weft_conns_remove(struct weft_conns *t, struct weft_conn_dir *c)
{
	/* Lock-free readers: the hash keeps the key's place until told that nobody looks at it. */
	int32_t pos = rte_hash_del_key(t->hash, &c->key);

	if (pos >= 0)
		rte_hash_free_key_with_position(t->hash, pos);
	conn_stop(c);
	weft_conns_stuck(t, c, false);
	t->in_use[c->index] = false;
	t->count--;
}

struct weft_conn_dir *
weft_conns_find(const struct weft_conns *t, const struct weft_conn_key *key)
{
	void *c;

	return rte_hash_lookup_data(t->hash, key, &c) >= 0 ? c : NULL;
}

enum weft_verdict
weft_conns_why_not(const struct weft_conns *t, const struct weft_conn_key *key)
{
	unsigned int pos = 0;
	const struct weft_conn_dir *c;

	while ((c = weft_conns_next(t, &pos)) != NULL) {
		struct weft_conn_key same = c->key;

		same.session = key->session;
		if (memcmp(&same, key, sizeof(same)) == 0)
			return WEFT_DROP_SESSION;
	}
	return WEFT_DROP_NO_CONN;
}

void
weft_conns_next_key(struct weft_conns *t, struct weft_conn_dir *c)
{
	const uint8_t *key =
		c->later_keys == NULL ? NULL : weft_keys_find(c->later_keys, &c->key, c->n_keys);

	if (key == NULL)
		return;
	weft_ide_stream_next_key(c->stream, t->ide, key);
	c->n_keys++;
}

void
weft_conns_stuck(struct weft_conns *t, struct weft_conn_dir *c, bool is_stuck)
{
	if (c->is_stuck == is_stuck)
		return;
	c->is_stuck = is_stuck;
	t->turn[c->way][WEFT_TURN_LINK_RX].n_stuck += is_stuck ? 1 : -1u;
}

struct weft_conn_dir *
weft_conns_turn(struct weft_conns *t, enum weft_conns_turn whose, unsigned int way)
{
	unsigned int *turn = &t->turn[way][whose].at;
	struct weft_conn_dir *c;

	/* The rest of this round, then all of the next. */
	for (unsigned int rounds = 0; rounds < 2; rounds++, *turn = 0)
		while ((c = weft_conns_next(t, turn)) != NULL)
			if (c->way == way)
				return c;
	return NULL;
}

/* Never in vain: what was written before is seen by whoever takes the bit. */
void
weft_conns_ring(struct weft_conns *t, const struct weft_conn_dir *c)
{
	const unsigned int word = c->index / 64;

	if (__atomic_fetch_or(&t->rung[word], WEFT_BIT64(c->index % 64), __ATOMIC_ACQ_REL) == 0)
		__atomic_fetch_or(&t->rung_words, WEFT_BIT64(word), __ATOMIC_RELEASE);
}

unsigned int
weft_conns_answer(struct weft_conns *t, void (*fn)(void *arg, struct weft_conn_dir *c), void *arg)
{
	unsigned int n = 0;

	if (__atomic_load_n(&t->rung_words, __ATOMIC_RELAXED) == 0)
		return 0;
	for (uint64_t words = __atomic_exchange_n(&t->rung_words, 0, __ATOMIC_ACQUIRE); words != 0;
		words &= words - 1) {
		const unsigned int word = (unsigned int)__builtin_ctzll(words);
		uint64_t rung = __atomic_exchange_n(&t->rung[word], 0, __ATOMIC_ACQ_REL);

		for (; rung != 0; rung &= rung - 1, n++)
			fn(arg, &t->conn[64 * word + (unsigned int)__builtin_ctzll(rung)]);
	}
	return n;
}

unsigned int
weft_conns_n_stuck(const struct weft_conns *t, unsigned int way)
{
	return t->turn[way][WEFT_TURN_LINK_RX].n_stuck;
}

struct weft_conn_dir *
weft_conns_next(const struct weft_conns *t, unsigned int *pos)
{
	while (*pos < t->max) {
		unsigned int i = (*pos)++;

		if (t->in_use[i])
			return &t->conn[i];
	}
	return NULL;
}
