/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Clients of a host, see weft_clients.h: which of them is looked at, whose turn it is, and what
 * control and the node tell each other. A client with nothing to do costs a look now and then: the
 * node looks at a few of those at each poll, in turn. Hot.
 */

#include "clients_priv.h"

#include <errno.h>

#include "weft_telem.h"

#define WORDS (WEFT_NODE_CLIENTS / 64)
#define LOOKS_A_POLL 4 /* at clients that do nothing */
#define QUIET_POLLS 64 /* after which a client does nothing */

/* A bit a client, and a bit for each word of them that is not 0. Only the node takes bits away. */
struct clients_set {
	uint64_t word[WORDS];
	uint64_t words;
};

/* Whose turn it is to send a request. */
struct clients_round {
	uint32_t left; /* until it is another one's turn */
	uint16_t turn; /* who had the last */
};

struct clients {
	struct weft_node_client *client[WEFT_NODE_CLIENTS]; /* control; NULL: none */
	struct clients_set present; /* control adds */
	struct clients_set active; /* there is something to do for it; the node's */
	uint32_t n_active;
	uint32_t weights; /* of those that are active, together */
	struct clients_round mem, uio;
	uint16_t looked; /* who was looked at last */
	uint64_t looked_ns;
	uint64_t expire_due_ns;
	uint64_t timeout_ns;
	uint64_t count[WEFT_CLIENTS_N_COUNTERS];
};

const struct weft_counter weft_clients_counters[] = {
#define WEFT_COUNTER(id, name, unit, help) { name, unit, help },
#include "weft_clients_counters.def"
#undef WEFT_COUNTER
};

static bool
clients_has(const struct clients_set *set, uint16_t slot)
{
	return (__atomic_load_n(&set->word[slot / 64], __ATOMIC_ACQUIRE) >> slot % 64 & 1) != 0;
}

static void
clients_add(struct clients_set *set, uint16_t slot)
{
	__atomic_fetch_or(&set->word[slot / 64], WEFT_BIT64(slot % 64), __ATOMIC_SEQ_CST);
	__atomic_fetch_or(&set->words, WEFT_BIT64(slot / 64), __ATOMIC_SEQ_CST);
}

static void
clients_take(struct clients_set *set, uint16_t slot)
{
	uint64_t *word = &set->word[slot / 64];

	if (__atomic_and_fetch(word, ~WEFT_BIT64(slot % 64), __ATOMIC_SEQ_CST) != 0)
		return;
	__atomic_fetch_and(&set->words, ~WEFT_BIT64(slot / 64), __ATOMIC_SEQ_CST);
	/* Control may have added one meanwhile. */
	if (__atomic_load_n(word, __ATOMIC_SEQ_CST) != 0)
		__atomic_fetch_or(&set->words, WEFT_BIT64(slot / 64), __ATOMIC_SEQ_CST);
}

/* The next of a set behind @p slot, and then from the first on; -1: it is empty. */
static int
clients_next_of(const struct clients_set *set, uint16_t slot)
{
	const unsigned int from = (slot + 1u) % WEFT_NODE_CLIENTS;
	const uint64_t words = __atomic_load_n(&set->words, __ATOMIC_ACQUIRE);
	unsigned int w = from / 64;
	uint64_t bits;

	if (words == 0)
		return -1;
	bits = __atomic_load_n(&set->word[w], __ATOMIC_ACQUIRE) & ~weft_mask64(from % 64);
	if (bits == 0) {
		const uint64_t behind = words & ~weft_mask64(w + 1);

		w = (unsigned int)__builtin_ctzll(behind != 0 ? behind : words);
		bits = __atomic_load_n(&set->word[w], __ATOMIC_ACQUIRE);
	}
	return (int)(w * 64 + (unsigned int)__builtin_ctzll(bits));
}

/* --- the node --- */

static void
clients_activate(struct clients *s, struct weft_node_client *c, uint64_t now_ns)
{
	clients_add(&s->active, c->slot);
	s->n_active++;
	c->weight = __atomic_load_n(&c->share, __ATOMIC_RELAXED);
	c->of_weights = 0;
	s->weights += c->weight;
	c->quiet = 0;
	c->moved_ns = now_ns;
}

static void
clients_rest(struct clients *s, const struct weft_node_client *c)
{
	clients_take(&s->active, c->slot);
	s->n_active--;
	s->weights -= c->weight;
}

/* Look at some that do nothing. */
static void
clients_look(struct weft_node *n, struct clients *s)
{
	uint16_t first = 0;

	s->looked_ns = n->now_ns;
	for (unsigned int i = 0; i < LOOKS_A_POLL; i++) {
		const int slot = clients_next_of(&s->present, s->looked);
		struct weft_node_client *c;

		/* Nobody, or all of them were looked at. */
		if (slot < 0 || (i != 0 && (uint16_t)slot == first))
			return;
		if (i == 0)
			first = (uint16_t)slot;
		s->looked = (uint16_t)slot;
		c = s->client[slot];
		if (!clients_has(&s->active, (uint16_t)slot) &&
			(weft_attach_server_has_more(&c->ring) || client_is_leaving(c)))
			clients_activate(s, c, n->now_ns);
	}
}

/* Of all tags its part by weight, but one at least. Divided where the weights have changed only. */
static uint32_t
clients_share(const struct weft_node *n, const struct clients *s, struct weft_node_client *c)
{
	if (c->of_weights != s->weights) {
		const uint32_t tags = n->load->client_tags * c->weight / s->weights;

		c->tags = tags == 0 ? 1 : tags;
		c->of_weights = s->weights;
	}
	return c->tags;
}

/* Whose turn it is: so many requests are his as he has weight. */
static struct weft_node_client *
clients_turn(const struct clients *s, struct clients_round *r)
{
	if (r->left == 0 || !clients_has(&s->active, r->turn)) {
		r->turn = (uint16_t)clients_next_of(&s->active, r->turn);
		r->left = s->client[r->turn]->weight;
	}
	return s->client[r->turn];
}

/* Clients in turn, requests by their weight. */
static int
clients_ask(
	struct weft_node *n, struct clients *s, struct clients_round *r, struct client_request *out)
{
	bool is_over = true;

	if (s->looked_ns != n->now_ns)
		clients_look(n, s);
	if (s->n_active == 0)
		return -ESHUTDOWN;
	for (uint32_t i = 0; i < s->n_active; i++) {
		struct weft_node_client *c = clients_turn(s, r);
		const enum client_way way =
			client_next(n, c, clients_share(n, s, c), s->count, out);

		if (way == CLIENT_BEGAN) {
			r->left--;
			return 0;
		}
		if (way == CLIENT_NO_TAG)
			return -EAGAIN;
		r->left = 0;
		is_over = is_over && way == CLIENT_NOTHING;
	}
	return is_over ? -ESHUTDOWN : -EAGAIN;
}

static int
clients_next(struct weft_node *n, void *state, struct weft_msg *m)
{
	struct clients *s = state;

	return clients_ask(n, s, &s->mem, &(struct client_request){ .msg = m });
}

int
clients_next_uio(struct weft_node *n, struct weft_io_tlp *t, uint16_t *tag)
{
	struct clients *s = NODE_SERVICE_OF(n, clients);
	struct client_request r = { .tlp = t };
	const int rc = s == NULL ? -ESHUTDOWN : clients_ask(n, s, &s->uio, &r);

	*tag = r.tag;
	return rc;
}

static bool
clients_complete(struct weft_node *n, void *state, const struct weft_completion *comp)
{
	struct clients *s = state;

	if (!client_is_cookie(comp->cookie))
		return false;
	client_request_ended(n, s->client[client_slot_of(comp->cookie)], comp, s->count);
	return true;
}

/* Nothing of it is open: control may have it back. */
static void
clients_let_go(struct clients *s, struct weft_node_client *c)
{
	clients_rest(s, c);
	clients_take(&s->present, c->slot);
	s->count[WEFT_CLIENTS_N_DETACHED]++;
	__atomic_store_n(&c->is_gone, true, __ATOMIC_RELEASE);
}

static void
clients_note_breach(struct clients *s, struct weft_node_client *c)
{
	if (c->ring.breach == c->breach)
		return;
	s->count[WEFT_CLIENTS_N_BREACHES]++;
	__atomic_store_n(&c->breach, c->ring.breach, __ATOMIC_RELEASE);
}

/* Control may have given it another weight. */
static void
clients_weigh(struct clients *s, struct weft_node_client *c)
{
	const uint32_t share = __atomic_load_n(&c->share, __ATOMIC_RELAXED);

	s->weights += share - c->weight;
	c->weight = share;
	c->of_weights = 0;
}

/* What control and the client are told, and whether there will be something to do. */
static unsigned int
clients_tend(struct weft_node *n, struct clients *s, struct weft_node_client *c, bool is_due)
{
	const bool is_leaving = client_is_leaving(c);

	clients_weigh(s, c);
	/* What the node does not let begin does not grow old. */
	if (n->drain.holds && c->n_ops == 0)
		c->moved_ns = n->now_ns;
	if (is_due && c->open == 0 && n->now_ns - c->moved_ns >= s->timeout_ns)
		client_time_out(n, c, s->count);
	clients_note_breach(s, c);
	if (weft_attach_server_tell(&c->ring)) {
		s->count[WEFT_CLIENTS_N_WAKES]++;
		c->cfg.wake(c->cfg.wake_arg);
	}
	/* What has begun is answered, even if nobody will look; what has not is forgotten. */
	if (is_leaving && c->open == 0) {
		clients_let_go(s, c);
		return 1;
	}
	if (c->n_ops != 0 || weft_attach_server_has_more(&c->ring))
		c->quiet = 0;
	else if (c->quiet++ == QUIET_POLLS)
		clients_rest(s, c);
	return c->n_ops != 0;
}

uint64_t
clients_begun(const struct weft_node *n)
{
	const struct clients *s = NODE_SERVICE_OF(n, clients);
	uint64_t ops = 0;

	for (unsigned int w = 0; s != NULL && w < WORDS; w++)
		for (uint64_t bits = s->active.word[w]; bits != 0; bits &= bits - 1)
			ops += s->client[w * 64 + (unsigned int)__builtin_ctzll(bits)]->n_ops;
	return ops;
}

static unsigned int
clients_poll(struct weft_node *n, void *state, bool may_ask)
{
	const bool is_due = n->now_ns >= ((struct clients *)state)->expire_due_ns;
	struct clients *s = state;
	unsigned int worked = 0;

	(void)may_ask;
	if (s->looked_ns != n->now_ns)
		clients_look(n, s);
	if (is_due)
		s->expire_due_ns = n->now_ns + NODE_EXPIRE_EVERY_NS;
	for (uint64_t words = s->active.words; words != 0; words &= words - 1) {
		const unsigned int w = (unsigned int)__builtin_ctzll(words);

		for (uint64_t bits = s->active.word[w]; bits != 0; bits &= bits - 1)
			worked += clients_tend(n, s,
				s->client[w * 64 + (unsigned int)__builtin_ctzll(bits)], is_due);
	}
	return worked;
}

/* What is open has ended as lost before. */
static void
clients_forget(struct weft_node *n, void *state, uint16_t dpid, enum weft_line_loss how,
	struct weft_node_memory *m)
{
	struct clients *s = state;

	(void)n;
	(void)how;
	(void)m;
	for (unsigned int w = 0; w < WORDS; w++)
		for (uint64_t bits = __atomic_load_n(&s->present.word[w], __ATOMIC_ACQUIRE);
			bits != 0; bits &= bits - 1)
			client_forget(
				s->client[w * 64 + (unsigned int)__builtin_ctzll(bits)], dpid);
}

static void
clients_say(const struct weft_node *n, bool sleeps)
{
	const struct clients *s = NODE_SERVICE_OF(n, clients);

	for (unsigned int w = 0; s != NULL && w < WORDS; w++)
		for (uint64_t bits = __atomic_load_n(&s->present.word[w], __ATOMIC_ACQUIRE);
			bits != 0; bits &= bits - 1)
			weft_attach_server_sleep(
				&s->client[w * 64 + (unsigned int)__builtin_ctzll(bits)]->ring,
				sleeps);
}

bool
weft_node_clients_may_sleep(const struct weft_node *n)
{
	const struct clients *s = NODE_SERVICE_OF(n, clients);

	clients_say(n, true);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	for (unsigned int w = 0; s != NULL && w < WORDS; w++)
		for (uint64_t bits = __atomic_load_n(&s->present.word[w], __ATOMIC_ACQUIRE);
			bits != 0; bits &= bits - 1)
			if (weft_attach_server_has_more(
				    &s->client[w * 64 + (unsigned int)__builtin_ctzll(bits)]->ring))
				return false;
	return true;
}

void
weft_node_clients_awake(const struct weft_node *n)
{
	clients_say(n, false);
}

bool
weft_node_takes_clients(const struct weft_topo_node *t, const struct weft_load_node *l)
{
	return t->kind == WEFT_TOPO_HOST && l->client_tags != 0 && !t->translates;
}

static uint32_t
clients_tags(const struct weft_node *n)
{
	const uint32_t tags = n->load->client_tags;

	/* Beside their shares what stays free when one target holds all that it may. */
	return weft_node_takes_clients(n->topo, n->load) ? tags + tags / CLIENTS_HELD_PER_FREE + 1
	                                                 : 0;
}

static int
clients_init(struct weft_node *n, void **state, char *err, size_t err_len)
{
	struct clients *s;

	if (!weft_node_takes_clients(n->topo, n->load))
		return 0;
	*state = s = node_alloc(n, sizeof(*s));
	if (s == NULL)
		return weft_errorf(err, err_len, -ENOMEM, "host %s: out of memory", n->topo->name);
	s->timeout_ns = WEFT_LOAD_TIMEOUT_MS * UINT64_C(1000000);
	return 0;
}

static void
clients_fini(struct weft_node *n, void *state)
{
	node_free(n, state);
}

static unsigned int
clients_counters(const struct weft_node *n, const void *state, struct weft_node_set *set)
{
	const struct clients *s = state;

	(void)n;
	*set = (struct weft_node_set){ NULL, "clients", "clients", weft_clients_counters, s->count,
		WEFT_CLIENTS_N_COUNTERS };
	return 1;
}

const struct weft_node_service node_clients = {
	.name = "clients",
	.init = clients_init,
	.fini = clients_fini,
	.tags = clients_tags,
	.next = clients_next,
	.complete = clients_complete,
	.forget = clients_forget,
	.poll = clients_poll,
	.counters = clients_counters,
};

/* --- control --- */

static struct weft_node_client *
client_make(struct weft_node *n, const struct weft_node_client_cfg *cfg)
{
	struct weft_node_client *c = node_alloc(n, sizeof(*c) + cfg->entries * sizeof(c->op[0]));

	if (c == NULL)
		return NULL;
	c->cfg = *cfg;
	c->share = cfg->share == 0 ? 1 : cfg->share;
	c->current = CLIENT_NONE;
	for (uint32_t i = 0; i < cfg->entries; i++)
		c->op[i].next = (uint16_t)(i + 1 < cfg->entries ? i + 1 : CLIENT_NONE);
	return c;
}

int
weft_node_client_add(
	struct weft_node *n, const struct weft_node_client_cfg *cfg, struct weft_node_client **out)
{
	struct clients *s = NODE_SERVICE_OF(n, clients);
	struct weft_attach_layout l;
	struct weft_node_client *c;
	uint16_t slot = 0;

	if (weft_attach_layout(cfg->entries, cfg->data_len, &l) != 0)
		return -EINVAL;
	while (slot < WEFT_NODE_CLIENTS && s->client[slot] != NULL)
		slot++;
	if (slot == WEFT_NODE_CLIENTS)
		return -EAGAIN;
	c = client_make(n, cfg);
	if (c == NULL)
		return -ENOMEM;
	c->slot = slot;
	weft_attach_server_init(&c->ring, cfg->block, cfg->entries, cfg->data_len);
	s->client[slot] = *out = c;
	s->count[WEFT_CLIENTS_N_ATTACHED]++; /* all others are the node's */
	clients_add(&s->present, slot);
	return 0;
}

void
weft_node_client_leave(struct weft_node_client *c)
{
	__atomic_store_n(&c->is_leaving, true, __ATOMIC_RELEASE);
}

bool
weft_node_client_is_gone(const struct weft_node_client *c)
{
	return __atomic_load_n(&c->is_gone, __ATOMIC_ACQUIRE);
}

void
weft_node_client_free(struct weft_node *n, struct weft_node_client *c)
{
	struct clients *s = NODE_SERVICE_OF(n, clients);

	s->client[c->slot] = NULL;
	clients_take(&s->present, c->slot);
	node_free(n, c);
}

void
weft_node_client_set_share(struct weft_node_client *c, uint32_t share)
{
	__atomic_store_n(&c->share, share, __ATOMIC_RELAXED);
}

unsigned int
weft_node_client_breach(const struct weft_node_client *c)
{
	return __atomic_load_n(&c->breach, __ATOMIC_ACQUIRE);
}

int
weft_node_client_open(struct weft_node_client *c, struct weft_node_region *r)
{
	for (int i = 0; i < WEFT_ATTACH_REGIONS; i++) {
		if (c->region[i] != NULL)
			continue;
		__atomic_store_n(&c->region[i], r, __ATOMIC_RELEASE);
		return i;
	}
	return -EMFILE;
}

struct weft_node_region *
weft_node_client_region(const struct weft_node_client *c, uint32_t handle)
{
	return handle < WEFT_ATTACH_REGIONS ? c->region[handle] : NULL;
}

struct weft_node_region *
weft_node_client_close(struct weft_node_client *c, uint32_t handle)
{
	struct weft_node_region *r = weft_node_client_region(c, handle);

	if (r != NULL)
		__atomic_store_n(&c->region[handle], NULL, __ATOMIC_RELAXED);
	return r;
}

uint32_t
weft_node_region_uses(const struct weft_node_region *r)
{
	return (__atomic_load_n(&r->n_ops[0], __ATOMIC_ACQUIRE) != 0 ? WEFT_ATTACH_READ : 0) |
	       (__atomic_load_n(&r->n_ops[1], __ATOMIC_ACQUIRE) != 0 ? WEFT_ATTACH_WRITE : 0);
}

void
weft_node_region_end(struct weft_node_region *r)
{
	__atomic_store_n(&r->is_stale, true, __ATOMIC_RELAXED);
}

uint64_t
weft_node_region_generation(const struct weft_node *n, const struct weft_node_region *r)
{
	uint64_t sum = 0;

	for (uint16_t i = 0; i < n->n_links; i++) {
		const struct weft_node_link *l = &n->link[i];
		const uint64_t g = __atomic_load_n(&l->memory.generation, __ATOMIC_RELAXED);

		if ((r->target[l->pid / 64] >> l->pid % 64 & 1) == 0)
			continue;
		if (g == 0)
			return 0;
		sum = sum * UINT64_C(0x9E3779B97F4A7C15) + g;
	}
	return sum;
}
