/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Transfers of a host (lib/xfer): memory for them before the run, what became of them behind it.
 * doc/signature.md shows them at work.
 */

#include "daemon.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_malloc.h>

#include "weft_file.h"
#include "weft_rand.h"
#include "weft_sig_text.h"

static const struct weft_load_transfer *
transfer_topo(const struct node *n, unsigned int i)
{
	return &n->daemon->load->transfer[n->load->first_transfer + i];
}

static int
transfer_fail(
	const struct node *n, unsigned int i, char *err, size_t err_len, int rc, const char *what)
{
	snprintf(err, err_len, "host %s: transfer %s: %s", n->topo->name, transfer_topo(n, i)->name,
		what);
	return rc;
}

static int
transfer_read_file(const char *path, uint8_t *to, uint64_t len, char *err, size_t err_len)
{
	FILE *f = fopen(path, "rb");
	size_t n;
	int rc = 0;

	if (f == NULL) {
		rc = -errno;
		snprintf(err, err_len, "%.160s: %s", path, strerror(errno));
		return rc;
	}
	n = fread(to, 1, len, f);
	if (ferror(f)) {
		rc = -errno;
		snprintf(err, err_len, "%.160s: %s", path, strerror(-rc));
	} else if (n != len || fgetc(f) != EOF) {
		snprintf(err, err_len,
			"%.160s: expected %" PRIu64 " bytes, all blocks with their signatures, got "
			"%s%zu",
			path, len, n == len ? "more than " : "", n);
		rc = -EINVAL;
	}
	fclose(f);
	return rc;
}

/* Data as the topology describes it, with the signatures of the mem domain around it. */
static void
transfer_make_pattern(const struct weft_load_transfer *tr, const struct weft_xfer_cfg *cfg,
	uint8_t *to, uint64_t len, uint8_t *data)
{
	const struct weft_sig_attr attr = { .mem = cfg->sig.mem };
	struct weft_sig_piece from = { data, tr->bytes, 0 }, piece = { to, len, 0 };
	struct weft_sig_list in = { .piece = &from, .n = 1 }, out = { .piece = &piece, .n = 1 };
	uint64_t block0 = tr->block0;
	struct weft_sig_stream s;
	struct weft_sig_key key;
	struct weft_rand r;

	if (tr->data == WEFT_LOAD_FILL) {
		memset(data, tr->fill, tr->bytes);
	} else {
		weft_rand_seed(&r, tr->seed);
		weft_rand_fill(&r, data, tr->bytes);
	}
	/* A read's first block is one of the wire. */
	if (tr->kind == WEFT_LOAD_READ && cfg->sig.mem != NULL && cfg->sig.wire != NULL)
		block0 = block0 * cfg->sig.wire->block_size / cfg->sig.mem->block_size;
	weft_sig_key_init(&key, WEFT_SIG_KEY_BLOCK_SIGNATURE, cfg->kernel);
	if (attr.mem != NULL) {
		weft_sig_key_configure(&key, 0, 0);
		weft_sig_key_set_sig(&key, &attr);
		weft_sig_key_complete(&key);
	}
	weft_sig_begin(&s, &key, WEFT_SIG_RX, block0, 0);
	weft_sig_push(&s, &in, &out);
	weft_sig_end(&s);
}

/* The host's memory: what is to be written, or what is to be read and room for it. */
static int
transfer_memory(struct transfer *t, const struct weft_load_transfer *tr, struct weft_xfer_cfg *cfg,
	char *err, size_t err_len)
{
	const bool makes = tr->data == WEFT_LOAD_SEED || tr->data == WEFT_LOAD_FILL;
	uint64_t wire_len;
	uint8_t *data;

	weft_xfer_lens(cfg, &t->mem_len, &wire_len);
	t->mem = calloc(1, t->mem_len);
	t->want = makes && tr->kind == WEFT_LOAD_READ ? calloc(1, t->mem_len) : NULL;
	data = makes ? malloc(tr->bytes) : NULL;
	snprintf(err, err_len, "out of memory");
	if (t->mem == NULL || (makes && data == NULL) ||
		(makes && tr->kind == WEFT_LOAD_READ && t->want == NULL)) {
		free(data);
		return -ENOMEM;
	}
	cfg->mem = t->mem;
	cfg->want = t->want;
	if (makes)
		transfer_make_pattern(
			tr, cfg, t->want != NULL ? t->want : t->mem, t->mem_len, data);
	free(data);
	if (tr->kind == WEFT_LOAD_WRITE && tr->data == WEFT_LOAD_FILE)
		return transfer_read_file(tr->file, t->mem, t->mem_len, err, err_len);
	return 0;
}

static struct weft_xfer_place
transfer_place(const struct weft_topo *topo, uint16_t node, uint64_t offset)
{
	return (struct weft_xfer_place){ .hpa = weft_topo_hpa(topo, topo->node[node].order) +
		                                offset,
		.dpid = topo->node[node].pid };
}

static int
transfer_init(struct node *n, unsigned int i, char *err, size_t err_len)
{
	const struct weft_topo *topo = n->daemon->topo;
	const struct weft_load_transfer *tr = transfer_topo(n, i);
	struct transfer *t = &n->transfer[i];
	struct weft_sig_text mem, wire;
	struct weft_xfer_cfg cfg = { .kind = (enum weft_xfer_kind)tr->kind,
		.sig = { .flags = tr->has_copy_mask ? WEFT_SIG_COPY_MASK : 0,
			.check_mask = tr->check_mask,
			.copy_mask = tr->copy_mask },
		.block0 = tr->block0,
		.data_len = tr->bytes,
		.from = transfer_place(topo, tr->gfd, tr->offset),
		.to = tr->kind == WEFT_LOAD_COPY ? transfer_place(topo, tr->to, tr->to_offset)
		                                 : transfer_place(topo, tr->gfd, tr->offset),
		.kernel = n->daemon->sig };
	char what[NODE_ERROR_MAX / 2];
	int rc = weft_sig_text_parse(&mem, tr->mem, &cfg.sig.mem, what, sizeof(what));

	if (rc == 0)
		rc = weft_sig_text_parse(&wire, tr->wire, &cfg.sig.wire, what, sizeof(what));
	if (rc == 0)
		rc = transfer_memory(t, tr, &cfg, what, sizeof(what));
	if (rc != 0)
		return transfer_fail(n, i, err, err_len, rc, what);
	rc = weft_xfer_init(&n->xfer[i], &cfg);
	return rc == 0 ? 0
	               : transfer_fail(
				 n, i, err, err_len, rc, "not a transfer"); /* topo checked it */
}

int
transfers_init(struct node *n, char *err, size_t err_len)
{
	const unsigned int count = n->load->n_transfers;
	const size_t size = weft_xfer_run_size(TRANSFER_WINDOW);
	void *mem;
	int rc = 0;

	if (count == 0)
		return 0;
	snprintf(err, err_len, "host %s: out of memory", n->topo->name);
	n->transfer = calloc(count, sizeof(*n->transfer));
	n->xfer = calloc(count, sizeof(*n->xfer));
	mem = rte_zmalloc("weft_xfer", size, WEFT_CACHE_LINE);
	n->xfers = mem == NULL ? NULL
	                       : weft_xfer_run_init(mem, n->host, TRANSFER_WINDOW, n->xfer, count);
	if (n->transfer == NULL || n->xfer == NULL || n->xfers == NULL)
		return -ENOMEM;
	for (unsigned int i = 0; rc == 0 && i < count; i++)
		rc = transfer_init(n, i, err, err_len);
	return rc;
}

void
transfers_fini(struct node *n)
{
	for (unsigned int i = 0; n->transfer != NULL && i < n->load->n_transfers; i++) {
		free(n->transfer[i].mem);
		free(n->transfer[i].want);
	}
	free(n->transfer);
	free(n->xfer);
	rte_free(n->xfers);
}

int
transfers_save(const struct node *n, char *err, size_t err_len)
{
	for (unsigned int i = 0; i < n->load->n_transfers; i++) {
		const struct weft_load_transfer *tr = transfer_topo(n, i);
		const struct transfer *t = &n->transfer[i];
		char why[256];
		FILE *f;
		int rc;

		if (tr->kind != WEFT_LOAD_READ || tr->data != WEFT_LOAD_FILE ||
			n->xfer[i].status <= WEFT_XFER_RUNNING)
			continue;
		f = weft_file_stream(tr->file);
		rc = f == NULL || fwrite(t->mem, 1, t->mem_len, f) != t->mem_len ? -errno : 0;
		if (f != NULL && fclose(f) != 0 && rc == 0)
			rc = -errno;
		snprintf(why, sizeof(why), "%.160s: %s", tr->file, weft_file_error(rc));
		if (rc != 0)
			return transfer_fail(n, i, err, err_len, rc, why);
	}
	return 0;
}

/* --- what became of them --- */

static const char *
transfer_expected(const struct node *n, unsigned int i)
{
	return weft_load_outcomes[transfer_topo(n, i)->expect];
}

static bool
transfer_is_over(const struct weft_xfer *x)
{
	return x->status > WEFT_XFER_RUNNING;
}

static bool
transfer_is_as_expected(const struct node *n, unsigned int i)
{
	return strcmp(weft_xfer_outcome(&n->xfer[i]), transfer_expected(n, i)) == 0;
}

bool
transfers_are_good(const struct node *n)
{
	for (unsigned int i = 0; i < n->load->n_transfers; i++)
		if (transfer_is_over(&n->xfer[i]) && !transfer_is_as_expected(n, i))
			return false;
	return true;
}

static double
transfer_bytes_a_second(const struct weft_xfer *x)
{
	const uint64_t ns = transfer_is_over(x) ? x->ended_ns - x->begun_ns : 0;

	return ns == 0 ? 0 : (double)x->data_len * 1e9 / (double)ns;
}

static const char *
transfer_kind_word(const struct weft_load_transfer *tr)
{
	static const char *const words[] = { "write", "read", "copy" };

	return words[tr->kind];
}

/* Blocks of the domain whose signatures cross the fabric, else of memory; 0 without any. */
static uint64_t
transfer_blocks(const struct weft_xfer *x)
{
	const struct weft_sig_spec *mem = &x->key.now.spec[WEFT_SIG_MEM];
	const struct weft_sig_spec *wire = &x->key.now.spec[WEFT_SIG_WIRE];

	if (wire->sig_len != 0)
		return x->data_len / wire->block;
	return mem->sig_len != 0 ? x->data_len / mem->block : 0;
}

static void
transfer_put(json_t *o, const char *key, uint64_t v)
{
	json_object_set_new(o, key, json_integer((json_int_t)v));
}

/* A CRC64 is a text: numbers of JSON end at 2^63 here, and at 2^53 for some readers. */
static void
transfer_put_value(json_t *o, const char *key, uint64_t v, bool is_text)
{
	char text[24];

	if (!is_text) {
		transfer_put(o, key, v);
		return;
	}
	snprintf(text, sizeof(text), "%" PRIu64, v);
	json_object_set_new(o, key, json_string(text));
}

static json_t *
transfer_error_json(const struct weft_xfer *x)
{
	const struct weft_sig_error *e = &x->error;
	const struct weft_sig_spec *d = &x->key.now.spec[e->domain];
	const bool is_text = d->sig_len == 8 && !d->is_dif;
	json_t *o = json_object();

	json_object_set_new(o, "error", json_string(weft_xfer_error_name(e->type)));
	json_object_set_new(o, "domain", json_string(e->domain == WEFT_SIG_WIRE ? "wire" : "mem"));
	transfer_put(o, "block", e->block);
	transfer_put(o, "offset", e->offset);
	transfer_put_value(o, "computed", e->computed, is_text);
	transfer_put_value(o, "stored", e->stored, is_text);
	return o;
}

static json_t *
transfer_json(const struct node *n, unsigned int i)
{
	const struct weft_load_transfer *tr = transfer_topo(n, i);
	const struct weft_xfer *x = &n->xfer[i];
	const struct weft_sig_counters *c = &x->key.counters;
	json_t *o = json_object();

	json_object_set_new(o, "name", json_string(tr->name));
	json_object_set_new(o, "kind", json_string(transfer_kind_word(tr)));
	transfer_put(o, "bytes", x->data_len);
	transfer_put(o, "blocks", transfer_blocks(x));
	json_object_set_new(o, "status", json_string(weft_xfer_status_name(x->status)));
	json_object_set_new(o, "expect", json_string(transfer_expected(n, i)));
	json_object_set_new(o, "as_expected", json_boolean(transfer_is_as_expected(n, i)));
	if (x->error.type != WEFT_SIG_NO_ERROR)
		json_object_set_new(o, "error", transfer_error_json(x));
	if (x->status == WEFT_XFER_MISMATCH)
		transfer_put(o, "differs_at", x->differs_at);
	transfer_put(o, "lost_lines", x->lost);
	transfer_put(o, "poisoned_lines", x->poisoned);
	transfer_put(o, "checked", c->checked);
	transfer_put(o, "generated", c->generated);
	transfer_put(o, "copied", c->copied);
	transfer_put(o, "escaped", c->escaped);
	transfer_put(o, "escaped_unprotected", c->escaped_unprotected);
	transfer_put(o, "bad_blocks",
		c->errors[WEFT_SIG_BAD_GUARD] + c->errors[WEFT_SIG_BAD_APPTAG] +
			c->errors[WEFT_SIG_BAD_REFTAG]);
	transfer_put(o, "ns", transfer_is_over(x) ? x->ended_ns - x->begun_ns : 0);
	transfer_put(o, "bytes_per_s", (uint64_t)transfer_bytes_a_second(x));
	return o;
}

json_t *
transfers_json(const struct node *n)
{
	json_t *list = json_array();

	for (unsigned int i = 0; i < n->load->n_transfers; i++)
		json_array_append_new(list, transfer_json(n, i));
	return list;
}

static void
transfer_text(const struct node *n, unsigned int i)
{
	const struct weft_load_transfer *tr = transfer_topo(n, i);
	const struct weft_topo_node *node = n->daemon->topo->node;
	const struct weft_xfer *x = &n->xfer[i];
	const struct weft_sig_error *e = &x->error;

	printf("transfer %s %s: %s %s", n->topo->name, tr->name, transfer_kind_word(tr),
		node[tr->gfd].name);
	if (tr->kind == WEFT_LOAD_COPY)
		printf(" to %s", node[tr->to].name);
	printf(", %" PRIu64 " bytes, %" PRIu64 " blocks, %.0f MB/s: %s", x->data_len,
		transfer_blocks(x), transfer_bytes_a_second(x) / 1e6, weft_xfer_outcome(x));
	if (x->status == WEFT_XFER_SIGNATURE_ERROR)
		printf(" in block %" PRIu64 " at %" PRIu64 ", computed %#" PRIx64
		       ", stored %#" PRIx64,
			e->block, e->offset, e->computed, e->stored);
	if (x->key.counters.escaped != 0)
		printf(", %" PRIu64 " blocks not checked because of their tags",
			x->key.counters.escaped);
	if (x->status == WEFT_XFER_MISMATCH)
		printf(" at %" PRIu64, x->differs_at);
	if (x->status == WEFT_XFER_MEMORY_LOST)
		printf(": a gfd of it restarted with empty memory");
	if (transfer_is_over(x) && !transfer_is_as_expected(n, i))
		printf(", expected %s", transfer_expected(n, i));
	else if (transfer_is_over(x) && x->status != WEFT_XFER_OK)
		printf(", as expected");
	putchar('\n');
}

void
transfers_text(const struct node *n)
{
	for (unsigned int i = 0; i < n->load->n_transfers; i++)
		transfer_text(n, i);
}
