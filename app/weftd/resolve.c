/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What would happen to an address, for people and as JSON: --resolve, which starts nothing, and the
 * same of a fabric that runs.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "resolve.h"
#include "cli.h"
#include "json.h"
#include "options.h"
#include "weft_resolve.h"
#include "words.h"

static const char proposal[] =
	"the path is the file's proposal: a fabric manager writes the tables of switches";

/* One question and its answer. */
struct answer {
	const struct weft_topo *t;
	unsigned int from;
	uint64_t hpa;
	bool uio;
	struct weft_resolve_xlat x;
	struct weft_resolve r;
	struct weft_resolve_hop *hop;
};

static bool
resolve_parse_address(const char *text, uint64_t *hpa)
{
	return words_number(text, 0, weft_mask64(52), hpa);
}

/* Form of the link by which a hop leaves. */
static uint8_t
resolve_form(const struct answer *a, const struct weft_resolve_hop *h)
{
	return a->t->port[a->t->node[h->node].first_port + h->out].form;
}

static bool
resolve_is_proposal(const struct answer *a)
{
	return a->r.n_hops != 0 && a->t->access.management == WEFT_TOPO_MANAGED_BY_FM;
}

static void
resolve_print_path(const struct answer *a)
{
	fputs("  path     ", stdout);
	for (unsigned int i = 0; i < a->r.n_hops; i++) {
		const struct weft_resolve_hop *h = &a->hop[i];

		if (h->in >= 0)
			printf("%d:", h->in);
		fputs(a->t->node[h->node].name, stdout);
		if (h->out >= 0)
			printf(":%d > ", h->out);
	}
	putchar('\n');
	if (a->t->mode != WEFT_MODE_CXL)
		return;
	fputs("  links   ", stdout);
	for (unsigned int i = 0; i + 1 < a->r.n_hops; i++)
		printf(" %s", weft_form_words[resolve_form(a, &a->hop[i])]);
	putchar('\n');
}

/* Whether the segment is memory of a device, which LDST decodes and not FAST. */
static bool
resolve_is_direct(const struct answer *a)
{
	return a->r.target != WEFT_RESOLVE_NONE && a->t->node[a->r.target].kind == WEFT_TOPO_DEVICE;
}

/* The permissions of a translation are told: the rest of the answer is of the address behind it. */
static void
resolve_print_translation(const struct answer *a)
{
	const struct weft_topo_translation *x = a->x.rule;

	if (a->x.agent == WEFT_RESOLVE_NONE)
		return;
	printf("  agent    %s: ", a->t->node[a->x.agent].name);
	if (x == NULL)
		printf("no translation\n");
	else
		printf("virtual 0x%llx is 0x%llx, page of %llu bytes, rights %s%s%s\n",
			(unsigned long long)a->x.va, (unsigned long long)a->x.pa,
			1ull << x->page_log2, weft_topo_rights_word(x->rights),
			x->alt_pa != 0 ? ", may have moved" : "",
			x->on_demand ? ", there once it was asked for" : "");
}

/* Whether it may read (or write) by its translation, if it has one. */
static const char *
resolve_answer_to(const struct answer *a, bool write)
{
	const unsigned int need = write ? WEFT_TOPO_W : WEFT_TOPO_R;
	const enum weft_resolve_rule rule = a->r.is_unanswered ? WEFT_RESOLVE_ANSWER
	                                    : a->x.rule != NULL && (a->x.rule->rights & need) == 0
	                                            ? WEFT_RESOLVE_NO_TRANSLATION
	                                            : (enum weft_resolve_rule)a->r.rule;

	return weft_resolve_answer(rule, a->uio, write);
}

static void
resolve_print_text(const struct answer *a)
{
	const struct weft_topo *t = a->t;
	const struct weft_resolve *r = &a->r;

	printf("0x%llx from %s (PID 0x%03x) by %s\n", (unsigned long long)a->hpa,
		t->node[a->from].name, r->spid, a->uio ? "UIO" : "CXL.mem");
	resolve_print_translation(a);
	if (r->segment != WEFT_RESOLVE_NONE) {
		const struct weft_topo_segment *s = &t->map.segment[r->segment];

		printf("  decoder  %s segment %u from 0x%llx%s, %u way%s",
			resolve_is_direct(a) ? "LDST" : "FAST", r->segment,
			(unsigned long long)s->base, s->is_gim ? " (GIM)" : "", 1u << s->ways_log2,
			s->ways_log2 == 0 ? "" : "s");
		if (s->ways_log2 != 0)
			printf(" of %u bytes", 256u << s->gran);
		printf("\n  way      %u: %s (PID 0x%03x)\n", r->way, t->node[r->target].name,
			r->dpid);
	}
	if (r->n_hops != 0)
		resolve_print_path(a);
	if (resolve_is_proposal(a))
		printf("  manager  %s\n", proposal);
	if (r->decoder != WEFT_RESOLVE_NONE)
		printf("  memory   decoder %u of %s, DPA 0x%llx\n", r->decoder,
			t->node[r->target].name, (unsigned long long)r->dpa);
	if (r->group != WEFT_RESOLVE_NONE)
		printf("  group    %u: %s\n", r->group, t->access.group[r->group].name);
	if (r->window != WEFT_RESOLVE_NONE)
		printf("  window   %u of %s\n", r->window, t->node[r->target].name);
	printf("  %-8s %s: %s\n", weft_resolve_is_allowed(r->rule) ? "allowed" : "denied",
		weft_resolve_word(r->rule), weft_resolve_text(r->rule));
	printf("  answer   to a read: %s; to a write: %s\n", resolve_answer_to(a, false),
		resolve_answer_to(a, true));
}

static void
resolve_set_number(json_t *o, const char *key, uint16_t value)
{
	json_object_set_new(o, key, value == WEFT_RESOLVE_NONE ? json_null() : json_integer(value));
}

static void
resolve_set_address(json_t *o, const char *key, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%llx", (unsigned long long)value);
	json_object_set_new(o, key, json_string(text));
}

static json_t *
resolve_path_json(const struct answer *a)
{
	json_t *path = json_array();

	for (unsigned int i = 0; i < a->r.n_hops; i++) {
		json_t *o = json_object();

		json_object_set_new(o, "node", json_string(a->t->node[a->hop[i].node].name));
		resolve_set_number(o, "in", (uint16_t)a->hop[i].in);
		resolve_set_number(o, "out", (uint16_t)a->hop[i].out);
		json_object_set_new(o, "form",
			a->hop[i].out < 0
				? json_null()
				: json_string(weft_form_words[resolve_form(a, &a->hop[i])]));
		json_array_append_new(path, o);
	}
	return path;
}

static json_t *
resolve_translation_json(const struct answer *a)
{
	json_t *o;

	if (a->x.agent == WEFT_RESOLVE_NONE)
		return json_null();
	o = json_object();
	json_object_set_new(o, "agent", json_string(a->t->node[a->x.agent].name));
	if (a->x.rule != NULL) {
		resolve_set_address(o, "pa", a->x.pa);
		json_object_set_new(o, "page", json_integer((json_int_t)1 << a->x.rule->page_log2));
		json_object_set_new(
			o, "rights", json_string(weft_topo_rights_word(a->x.rule->rights)));
	}
	return o;
}

static json_t *
resolve_answer_json(const struct answer *a)
{
	const struct weft_resolve *r = &a->r;
	json_t *o = json_object();

	json_object_set_new(o, "fabric", json_string(a->t->fabric));
	json_object_set_new(o, "from", json_string(a->t->node[a->from].name));
	json_object_set_new(o, "kind", json_string(a->uio ? "uio" : "mem"));
	resolve_set_address(o, "hpa", a->hpa);
	json_object_set_new(o, "decoder",
		r->segment == WEFT_RESOLVE_NONE
			? json_null()
			: json_string(resolve_is_direct(a) ? "ldst" : "fast"));
	resolve_set_number(o, "segment", r->segment);
	resolve_set_number(o, "way", r->way);
	resolve_set_number(o, "spid", r->spid);
	resolve_set_number(o, "dpid", r->dpid);
	json_object_set_new(o, "target",
		r->target == WEFT_RESOLVE_NONE ? json_null()
					       : json_string(a->t->node[r->target].name));
	json_object_set_new(o, "path", resolve_path_json(a));
	json_object_set_new(
		o, "management", json_string(weft_topo_management_words[a->t->access.management]));
	resolve_set_number(o, "gfd_decoder", r->decoder);
	if (r->decoder == WEFT_RESOLVE_NONE)
		json_object_set_new(o, "dpa", json_null());
	else
		resolve_set_address(o, "dpa", r->dpa);
	json_object_set_new(o, "group",
		r->group == WEFT_RESOLVE_NONE ? json_null()
					      : json_string(a->t->access.group[r->group].name));
	resolve_set_number(o, "window", r->window);
	json_object_set_new(o, "allowed", json_boolean(weft_resolve_is_allowed(r->rule)));
	json_object_set_new(o, "rule", json_string(weft_resolve_word(r->rule)));
	json_object_set_new(o, "read_answer", json_string(resolve_answer_to(a, false)));
	json_object_set_new(o, "write_answer", json_string(resolve_answer_to(a, true)));
	json_object_set_new(o, "translation", resolve_translation_json(a));
	return o;
}

static void
resolve_write_json(const struct answer *a, const char *file)
{
	json_t *o = resolve_answer_json(a);
	const int rc = json_write(file, o);

	json_decref(o);
	if (rc != 0)
		cli_fail("--json %s: %s", file, weft_file_error(rc));
}

/* Find what becomes of a->hpa. 0; -EINVAL: @p from is no host or device; -ENOMEM. */
static int
resolve_run(struct answer *a, const char *from)
{
	const int node = weft_topo_find(a->t, from);

	if (node < 0)
		return -EINVAL;
	a->from = (unsigned int)node;
	a->hop = calloc(a->t->n_nodes, sizeof(*a->hop));
	if (a->hop == NULL)
		return -ENOMEM;
	if (weft_resolve_from(a->t, a->from, a->hpa, a->uio, &a->x, &a->r, a->hop) == 0)
		return 0;
	free(a->hop);
	return -EINVAL;
}

#define RESOLVE_GOT 100 /* of a word that made no sense */

static const char *
resolve_got(char *to, size_t room, const char *text)
{
	size_t len;

	if (text == NULL)
		return "nothing";
	to[0] = '"';
	len = strlen(cli_printable(to + 1, room - 2, text));
	memcpy(to + 1 + len, "\"", 2);
	return to;
}

json_t *
resolve_json(const struct weft_topo *t, const char *from, const char *hpa, const char *kind,
	char *err, size_t err_len)
{
	struct answer a = { .t = t };
	char got[RESOLVE_GOT];
	json_t *o;

	a.uio = kind != NULL && strcmp(kind, "uio") == 0;
	if (kind != NULL && !a.uio && strcmp(kind, "mem") != 0)
		snprintf(err, err_len, "kind: expected mem or uio, got %s",
			resolve_got(got, sizeof(got), kind));
	else if (hpa == NULL || !resolve_parse_address(hpa, &a.hpa))
		snprintf(err, err_len,
			"hpa: expected an address below 2^52, such as 0x10000000000, got %s",
			resolve_got(got, sizeof(got), hpa));
	else if (from == NULL || resolve_run(&a, from) != 0)
		snprintf(err, err_len,
			"from: expected the name of a host or device of fabric %s, got %s",
			t->fabric, resolve_got(got, sizeof(got), from));
	else {
		o = resolve_answer_json(&a);
		json_object_set_new(o, "text", json_string(weft_resolve_text(a.r.rule)));
		if (resolve_is_proposal(&a))
			json_object_set_new(o, "note", json_string(proposal));
		free(a.hop);
		return o;
	}
	return NULL;
}

void
resolve_print(const struct run_options *run, const char *json)
{
	struct weft_topo_error e = { 0 };
	struct answer a = { .uio = run->uio };
	struct weft_topo *t;
	int rc;

	if (run->from == NULL || run->hpa == NULL)
		cli_usage("--resolve: expected --from NODE and --hpa ADDRESS with it");
	if (!resolve_parse_address(run->hpa, &a.hpa))
		cli_usage(
			"--hpa: expected an address below 2^52, such as 0x10000000000, got \"%s\"",
			run->hpa);
	if (weft_topo_load(&t, run->resolve, &e) != 0)
		cli_fail("%s", e.text);
	a.t = t;
	rc = resolve_run(&a, run->from);
	if (rc == -ENOMEM)
		cli_fail("out of memory");
	if (rc != 0)
		cli_fail("--from: expected the name of a host or device of fabric %s, got \"%s\"",
			t->fabric, run->from);
	if (json != NULL)
		resolve_write_json(&a, json);
	else
		resolve_print_text(&a);
	free(a.hop);
	weft_topo_free(t);
}
