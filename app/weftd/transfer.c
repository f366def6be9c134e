/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Transfers of a host: files that they read and write, and what became of them. */

#include "transfer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "cli.h"
#include "weft_file.h"
#include "weft_xfer.h"

int
transfer_read_file(void *node, const char *path, void *to, size_t len, char *err, size_t err_len)
{
	FILE *f = fopen(path, "rb");
	size_t n;
	int rc = 0;

	(void)node;
	if (f == NULL) {
		rc = -errno;
		return weft_errorf(err, err_len, rc, "%.160s: %s", path, strerror(errno));
	}
	n = fread(to, 1, len, f);
	if (ferror(f)) {
		rc = -errno;
		snprintf(err, err_len, "%.160s: %s", path, strerror(-rc));
	} else if (n != len || fgetc(f) != EOF) {
		snprintf(err, err_len,
			"%.160s: expected %zu bytes, all blocks with their signatures, got "
			"%s%zu",
			path, len, n == len ? "more than " : "", n);
		rc = -EINVAL;
	}
	fclose(f);
	return rc;
}

int
transfers_save(const struct node *n, char *err, size_t err_len)
{
	for (unsigned int i = 0; i < n->load->n_transfers; i++) {
		const struct weft_node_transfer *t = &weft_node_transfers(n->node)[i];
		const struct weft_load_transfer *tr = t->load;
		char why[256];
		FILE *f;
		int rc;

		if (tr->kind != WEFT_LOAD_READ || tr->data != WEFT_LOAD_FILE ||
			t->xfer->status <= WEFT_XFER_RUNNING)
			continue;
		f = weft_file_stream(tr->file);
		rc = f == NULL || fwrite(t->mem, 1, t->mem_len, f) != t->mem_len ? -errno : 0;
		if (f != NULL && fclose(f) != 0 && rc == 0)
			rc = -errno;
		snprintf(why, sizeof(why), "%.160s: %s", tr->file, weft_file_error(rc));
		if (rc != 0)
			return weft_errorf(err, err_len, rc, "host %s: transfer %s: %s",
				n->topo->name, tr->name, why);
	}
	return 0;
}

/* --- what became of them --- */

static bool
transfer_is_over(const struct weft_xfer *x)
{
	return x->status > WEFT_XFER_RUNNING;
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
transfer_json(const struct weft_node_transfer *t)
{
	const struct weft_load_transfer *tr = t->load;
	const struct weft_xfer *x = t->xfer;
	const struct weft_sig_counters *c = &x->key.counters;
	json_t *o = json_object();

	json_object_set_new(o, "name", json_string(tr->name));
	json_object_set_new(o, "kind", json_string(transfer_kind_word(tr)));
	transfer_put(o, "bytes", x->data_len);
	transfer_put(o, "blocks", transfer_blocks(x));
	json_object_set_new(o, "status", json_string(weft_xfer_status_name(x->status)));
	json_object_set_new(o, "expect", json_string(weft_load_outcomes[tr->expect]));
	json_object_set_new(o, "as_expected", json_boolean(weft_node_transfer_is_good(t)));
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
		json_array_append_new(list, transfer_json(&weft_node_transfers(n->node)[i]));
	return list;
}

static void
transfer_text(const struct node *n, const struct weft_node_transfer *t)
{
	const struct weft_load_transfer *tr = t->load;
	const struct weft_topo_node *node = n->daemon->topo->node;
	const struct weft_xfer *x = t->xfer;
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
	if (transfer_is_over(x) && !weft_node_transfer_is_good(t))
		printf(", expected %s", weft_load_outcomes[tr->expect]);
	else if (transfer_is_over(x) && x->status != WEFT_XFER_OK)
		printf(", as expected");
	putchar('\n');
}

void
transfers_text(const struct node *n)
{
	for (unsigned int i = 0; i < n->load->n_transfers; i++)
		transfer_text(n, &weft_node_transfers(n->node)[i]);
}

void
transfers_say_faults(const struct node *n)
{
	for (unsigned int i = 0; i < n->load->n_transfers; i++) {
		const struct weft_node_transfer *t = &weft_node_transfers(n->node)[i];

		if (transfer_is_over(t->xfer) && !weft_node_transfer_is_good(t))
			cli_warn("host %s: transfer %s: expected %s, got %s", n->topo->name,
				t->load->name, weft_load_outcomes[t->load->expect],
				weft_xfer_outcome(t->xfer));
	}
}
