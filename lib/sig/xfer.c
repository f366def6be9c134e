/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Signed transfers: weft_xfer.h. Hot: next and complete run per line; the engine runs over whole
 * windows where it can, since it likes its blocks in one piece. A copy is buffered whole between
 * its two halves: data that was found wrong must not get a good signature on its way out.
 */

#include "weft_xfer.h"

#include <errno.h>

#include "weft_carve.h"
#include "weft_sig_text.h"

#define LINE 64
#define HPA_END (UINT64_C(1) << 52)

/* Data received for a line of the window. */
enum { LINE_NONE, LINE_GOOD, LINE_POISONED, LINE_LOST };

/*
 * The half of a transfer that is on its way. Lines are counted from the one that has its first
 * byte. Reading: head <= next <= head + window; those between are on their way or wait in the
 * stage, line k in slot k % window. Writing: the stage holds the lines from `head` to `staged`,
 * from its beginning on, and those before `next` have left.
 */
struct half {
	struct weft_xfer_place place;
	uint64_t lines;
	uint64_t next;
	uint64_t head;
	uint64_t staged;
	uint32_t open; /* requests */
	uint32_t lead; /* bytes of the first line before the first byte */
	uint64_t moved; /* bytes of mem that are done */
};

struct weft_xfer_run {
	struct weft_requester *host;
	struct weft_xfer *x;
	unsigned int n;
	unsigned int at; /* the transfer that runs, or comes next; n: all have ended */
	uint32_t window;
	struct half half;
	uint8_t *came; /* [window], reading */
	uint8_t *stage; /* [window][LINE] */
	struct weft_sig_stream stream;
};

int
weft_xfer_lens(const struct weft_xfer_cfg *cfg, uint64_t *mem_len, uint64_t *wire_len)
{
	if (weft_sig_domain_len(cfg->sig.mem, cfg->data_len, mem_len) != 0)
		return -EINVAL;
	return weft_sig_domain_len(cfg->sig.wire, cfg->data_len, wire_len);
}

/* Number of the block that the engine takes first: block0 counts those of a copy's first half. */
static uint64_t
xfer_first_block(const struct weft_xfer *x, enum weft_sig_dir dir)
{
	const struct weft_sig_spec *mem = &x->key.now.spec[WEFT_SIG_MEM];
	const struct weft_sig_spec *wire = &x->key.now.spec[WEFT_SIG_WIRE];

	if (x->kind != WEFT_XFER_COPY || dir == WEFT_SIG_RX || mem->sig_len == 0 ||
		wire->sig_len == 0)
		return x->block0;
	return x->block0 * wire->block / mem->block;
}

static int
xfer_set_key(struct weft_sig_key *key, const struct weft_xfer_cfg *cfg)
{
	weft_sig_key_init(key, WEFT_SIG_KEY_BLOCK_SIGNATURE, cfg->kernel);
	if (cfg->sig.mem == NULL && cfg->sig.wire == NULL)
		return cfg->sig.flags == 0 ? 0 : -EINVAL;
	weft_sig_key_configure(key, 0, 0);
	weft_sig_key_set_sig(key, &cfg->sig);
	return weft_sig_key_complete(key);
}

static bool
xfer_place_is_good(const struct weft_xfer_place *p, uint64_t len)
{
	return p->dpid < WEFT_REQUESTER_PEERS - 1 && p->hpa < HPA_END && len <= HPA_END - p->hpa;
}

int
weft_xfer_init(struct weft_xfer *x, const struct weft_xfer_cfg *cfg)
{
	const enum weft_sig_dir dir = cfg->kind == WEFT_XFER_WRITE ? WEFT_SIG_TX : WEFT_SIG_RX;
	struct weft_sig_stream probe;

	memset(x, 0, sizeof(*x));
	x->kind = (uint8_t)cfg->kind;
	x->block0 = cfg->block0;
	x->from = cfg->from;
	x->to = cfg->to;
	x->mem = cfg->mem;
	x->want = cfg->want;
	x->data_len = cfg->data_len;
	x->differs_at = UINT64_MAX;
	/* The key first: it tells whether the domains can be used at all. */
	if (xfer_set_key(&x->key, cfg) != 0)
		return -EINVAL;
	if (cfg->data_len == 0 || weft_xfer_lens(cfg, &x->mem_len, &x->wire_len) != 0)
		return -EINVAL;
	if (cfg->kind != WEFT_XFER_WRITE && !xfer_place_is_good(&x->from, x->wire_len))
		return -EINVAL;
	if (cfg->kind != WEFT_XFER_READ && !xfer_place_is_good(&x->to, x->wire_len))
		return -EINVAL;
	return weft_sig_begin(&probe, &x->key, dir, x->block0, 0);
}

static struct weft_xfer_run *
xfer_carve(struct weft_carver *c, uint32_t window)
{
	struct weft_xfer_run *r = weft_carve(c, sizeof(*r));
	uint8_t *came = weft_carve(c, window);
	uint8_t *stage = weft_carve(c, (size_t)window * LINE);

	if (r != NULL) {
		r->came = came;
		r->stage = stage;
	}
	return r;
}

size_t
weft_xfer_run_size(uint32_t window)
{
	struct weft_carver c = { 0 };

	if (window == 0 || window > WEFT_XFER_WINDOW_MAX || (window & (window - 1)) != 0)
		return 0;
	xfer_carve(&c, window);
	return c.len;
}

struct weft_xfer_run *
weft_xfer_run_init(void *mem, struct weft_requester *host, uint32_t window, struct weft_xfer *x,
	unsigned int n)
{
	struct weft_carver c = { .block = mem };
	struct weft_xfer_run *r;

	if (weft_xfer_run_size(window) == 0 || (uintptr_t)mem % WEFT_CACHE_LINE != 0)
		return NULL;
	memset(mem, 0, weft_xfer_run_size(window));
	r = xfer_carve(&c, window);
	r->host = host;
	r->x = x;
	r->n = n;
	r->window = window;
	return r;
}

static void
xfer_begin_half(struct weft_xfer_run *r, bool writes)
{
	struct weft_xfer *x = &r->x[r->at];
	const enum weft_sig_dir dir = writes ? WEFT_SIG_TX : WEFT_SIG_RX;
	struct half *h = &r->half;

	*h = (struct half){ .place = writes ? x->to : x->from };
	h->lead = h->place.hpa % LINE;
	h->place.hpa -= h->lead;
	h->lines = (h->lead + x->wire_len + LINE - 1) / LINE;
	x->writes = writes;
	/* Both blocks were found good by weft_xfer_init(). */
	weft_sig_begin(&r->stream, &x->key, dir, xfer_first_block(x, dir), 0);
}

static enum weft_xfer_status
xfer_judge(const struct weft_xfer *x)
{
	if (x->memory_lost)
		return WEFT_XFER_MEMORY_LOST;
	if (x->lost != 0)
		return WEFT_XFER_LOST;
	if (x->poisoned != 0)
		return WEFT_XFER_POISONED;
	if (x->error.type != WEFT_SIG_NO_ERROR)
		return WEFT_XFER_SIGNATURE_ERROR;
	return x->differs_at == UINT64_MAX ? WEFT_XFER_OK : WEFT_XFER_MISMATCH;
}

static void
xfer_end_half(struct weft_xfer_run *r, uint64_t now_ns)
{
	struct weft_xfer *x = &r->x[r->at];
	enum weft_xfer_status status;

	weft_sig_end(&r->stream);
	weft_sig_key_check(&x->key, &x->error);
	status = xfer_judge(x);
	if (status == WEFT_XFER_OK && x->kind == WEFT_XFER_COPY && !x->writes) {
		xfer_begin_half(r, true);
		return;
	}
	x->status = (uint8_t)status;
	x->ended_ns = now_ns;
	r->at++;
}

/* --- reading: lines to the engine --- */

static void
xfer_compare(struct weft_xfer *x, uint64_t at, uint64_t len)
{
	if (x->want == NULL || x->differs_at != UINT64_MAX ||
		memcmp(x->mem + at, x->want + at, len) == 0)
		return;
	while (x->mem[at] == x->want[at])
		at++;
	x->differs_at = at;
}

/* Lines from the head on that came alike, one after the other in the stage. */
static uint32_t
xfer_arrived_alike(const struct weft_xfer_run *r)
{
	const uint32_t slot = (uint32_t)r->half.head & (r->window - 1);
	uint32_t n = 1;

	while (slot + n < r->window && r->half.head + n < r->half.next &&
		r->came[slot + n] == r->came[slot])
		n++;
	return n;
}

static void
xfer_feed(struct weft_xfer_run *r, uint32_t n)
{
	static const uint32_t marks[] = {
		[LINE_POISONED] = WEFT_SIG_PIECE_POISONED, [LINE_LOST] = WEFT_SIG_PIECE_LOST
	};
	struct weft_xfer *x = &r->x[r->at];
	struct half *h = &r->half;
	const uint32_t slot = (uint32_t)h->head & (r->window - 1);
	const uint64_t end = h->lead + x->wire_len - h->head * LINE;
	const uint32_t skip = h->head == 0 ? h->lead : 0;
	const uint64_t last = end < (uint64_t)n * LINE ? end : (uint64_t)n * LINE;
	struct weft_sig_piece from = { r->stage + (size_t)slot * LINE + skip, last - skip,
		marks[r->came[slot]] };
	struct weft_sig_piece to = { x->mem + h->moved, x->mem_len - h->moved, 0 };
	struct weft_sig_list in = { .piece = &from, .n = 1 }, out = { .piece = &to, .n = 1 };

	weft_sig_push(&r->stream, &in, &out);
	xfer_compare(x, h->moved, out.done);
	h->moved += out.done;
	memset(r->came + slot, LINE_NONE, n);
	h->head += n;
}

static void
xfer_read_complete(struct weft_xfer_run *r, uint64_t line, const struct weft_completion *c)
{
	const uint32_t slot = (uint32_t)line & (r->window - 1);
	struct weft_xfer *x = &r->x[r->at];
	struct half *h = &r->half;

	if (c->status == WEFT_REQUEST_DONE || c->status == WEFT_REQUEST_POISON)
		memcpy(r->stage + (size_t)slot * LINE, c->data, LINE);
	if (c->status == WEFT_REQUEST_DONE) {
		r->came[slot] = LINE_GOOD;
	} else if (c->status == WEFT_REQUEST_POISON) {
		r->came[slot] = LINE_POISONED;
		x->poisoned++;
	} else {
		r->came[slot] = LINE_LOST;
		x->lost++;
	}
	while (h->head < h->next && r->came[h->head & (r->window - 1)] != LINE_NONE)
		xfer_feed(r, xfer_arrived_alike(r));
}

static int
xfer_next_read(struct weft_xfer_run *r, uint64_t now_ns, struct weft_msg *msg)
{
	struct half *h = &r->half;
	int rc;

	if (h->next == h->lines || h->next - h->head == r->window)
		return -EAGAIN;
	rc = weft_mem_read(r->host, h->place.dpid, h->place.hpa + h->next * LINE,
		WEFT_XFER_COOKIE | h->next, now_ns, msg);
	h->next += rc == 0;
	return rc;
}

/* --- writing: lines from the engine --- */

static void
xfer_fill(struct weft_xfer_run *r)
{
	struct weft_xfer *x = &r->x[r->at];
	struct half *h = &r->half;
	const uint64_t end = h->lead + x->wire_len - h->staged * LINE;
	const uint64_t room = (uint64_t)r->window * LINE, last = end < room ? end : room;
	const uint32_t skip = h->staged == 0 ? h->lead : 0;
	struct weft_sig_piece from = { x->mem + h->moved, x->mem_len - h->moved, 0 };
	struct weft_sig_piece to = { r->stage + skip, last - skip, 0 };
	struct weft_sig_list in = { .piece = &from, .n = 1 }, out = { .piece = &to, .n = 1 };

	weft_sig_push(&r->stream, &in, &out);
	assert(out.done == last - skip); /* the lengths were made to fit */
	h->moved += in.done;
	h->head = h->staged;
	h->staged += (last + LINE - 1) / LINE;
}

static int
xfer_next_write(struct weft_xfer_run *r, uint64_t now_ns, struct weft_msg *msg)
{
	const struct weft_xfer *x = &r->x[r->at];
	struct half *h = &r->half;
	const uint8_t *data;
	uint64_t hpa, end, enables = UINT64_MAX;
	int rc;

	if (h->next == h->lines || h->open == r->window)
		return -EAGAIN;
	if (h->next == h->staged)
		xfer_fill(r);
	data = r->stage + (h->next - h->head) * LINE;
	hpa = h->place.hpa + h->next * LINE;
	end = h->lead + x->wire_len - h->next * LINE;
	if (h->next == 0)
		enables <<= h->lead;
	if (end < LINE)
		enables &= weft_mask64((unsigned int)end);
	rc = enables == UINT64_MAX ? weft_mem_write(r->host, h->place.dpid, hpa, data,
					     WEFT_XFER_COOKIE | h->next, now_ns, msg)
	                           : weft_mem_write_partial(r->host, h->place.dpid, hpa, data,
					     enables, WEFT_XFER_COOKIE | h->next, now_ns, msg);
	h->next += rc == 0;
	return rc;
}

/* --- both --- */

/* Pass over those whose data is gone before they have begun. */
static void
xfer_skip_lost(struct weft_xfer_run *r, uint64_t now_ns)
{
	for (; r->at < r->n; r->at++) {
		struct weft_xfer *x = &r->x[r->at];

		if (x->status != WEFT_XFER_WAITING || !x->memory_lost)
			return;
		x->status = WEFT_XFER_MEMORY_LOST;
		x->begun_ns = x->ended_ns = now_ns;
	}
}

int
weft_xfer_next(struct weft_xfer_run *r, uint64_t now_ns, struct weft_msg *msg)
{
	struct weft_xfer *x;
	int rc;

	xfer_skip_lost(r, now_ns);
	if (r->at == r->n)
		return -ESHUTDOWN;
	x = &r->x[r->at];
	if (x->status == WEFT_XFER_WAITING) {
		xfer_begin_half(r, x->kind == WEFT_XFER_WRITE);
		x->begun_ns = now_ns;
		x->status = WEFT_XFER_RUNNING;
	}
	rc = x->writes ? xfer_next_write(r, now_ns, msg) : xfer_next_read(r, now_ns, msg);
	r->half.open += rc == 0;
	return rc;
}

void
weft_xfer_complete(struct weft_xfer_run *r, const struct weft_completion *c, uint64_t now_ns)
{
	const uint64_t line = c->cookie & ~WEFT_XFER_COOKIE;
	struct weft_xfer *x = &r->x[r->at];
	struct half *h = &r->half;

	assert(h->open != 0 && line < h->next);
	h->open--;
	if (x->writes)
		x->lost += c->status == WEFT_REQUEST_LOST;
	else
		xfer_read_complete(r, line, c);
	if (h->next == h->lines && h->open == 0)
		xfer_end_half(r, now_ns);
}

static bool
xfer_is_of(const struct weft_xfer_place *p, uint16_t dpid, bool uses)
{
	return uses && p->dpid == dpid;
}

/* True if a transfer before number @p i, and not begun to write, is to write all that it reads. */
static bool
xfer_is_written_first(const struct weft_xfer_run *r, unsigned int i)
{
	const struct weft_xfer_place *from = &r->x[i].from;

	for (unsigned int k = r->at; k < i; k++) {
		const struct weft_xfer *w = &r->x[k];
		const bool is_whole =
			w->status == WEFT_XFER_WAITING || (w->kind == WEFT_XFER_COPY && !w->writes);

		if (w->kind != WEFT_XFER_READ && is_whole && !w->memory_lost &&
			w->to.dpid == from->dpid && w->to.hpa <= from->hpa &&
			from->hpa - w->to.hpa + r->x[i].wire_len <= w->wire_len)
			return true;
	}
	return false;
}

unsigned int
weft_xfer_replaced(struct weft_xfer_run *r, uint16_t dpid)
{
	unsigned int n = 0;

	for (unsigned int i = r->at; i < r->n; i++) {
		struct weft_xfer *x = &r->x[i];
		const bool runs = x->status == WEFT_XFER_RUNNING;
		const bool reads =
			xfer_is_of(&x->from, dpid, x->kind != WEFT_XFER_WRITE && !x->writes);

		if (x->memory_lost || (!(runs && xfer_is_of(&x->to, dpid, x->writes)) &&
					      !(reads && (runs || !xfer_is_written_first(r, i)))))
			continue;
		x->memory_lost = true;
		n++;
	}
	return n;
}

const char *
weft_xfer_status_name(unsigned int status)
{
	static const char *const names[WEFT_XFER_STATUSES] = {
		[WEFT_XFER_WAITING] = "waiting",
		[WEFT_XFER_RUNNING] = "running",
		[WEFT_XFER_MEMORY_LOST] = "memory_lost",
		[WEFT_XFER_LOST] = "lost",
		[WEFT_XFER_POISONED] = "poisoned",
		[WEFT_XFER_SIGNATURE_ERROR] = "signature_error",
		[WEFT_XFER_MISMATCH] = "mismatch",
		[WEFT_XFER_OK] = "ok",
	};

	return status < WEFT_XFER_STATUSES ? names[status] : "unknown";
}

const char *
weft_xfer_error_name(unsigned int type)
{
	static const char *const names[WEFT_SIG_ERROR_TYPES] = {
		[WEFT_SIG_NO_ERROR] = "ok",
		[WEFT_SIG_BAD_GUARD] = "bad_guard",
		[WEFT_SIG_BAD_REFTAG] = "bad_reftag",
		[WEFT_SIG_BAD_APPTAG] = "bad_apptag",
		[WEFT_SIG_POISONED] = "poisoned",
		[WEFT_SIG_LOST] = "lost",
	};

	return type < WEFT_SIG_ERROR_TYPES ? names[type] : "unknown";
}

const char *
weft_xfer_outcome(const struct weft_xfer *x)
{
	if (x->status == WEFT_XFER_WAITING || x->status == WEFT_XFER_RUNNING)
		return "unfinished";
	return x->status == WEFT_XFER_SIGNATURE_ERROR ? weft_xfer_error_name(x->error.type)
	                                              : weft_xfer_status_name(x->status);
}
