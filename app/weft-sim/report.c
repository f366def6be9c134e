/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Totals. JSON holds nothing of real time: two runs of the same seeds give the same object. */

#include "report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "json.h"
#include "weft_telem.h"

void
report_add(struct report *r, const struct sim *s)
{
	/* Nothing but counts stands there. */
	weft_counters_add((uint64_t *)&r->total, (const uint64_t *)&s->total,
		sizeof(s->total) / sizeof(uint64_t));
	r->seeds++;
	r->steps += s->step;
	r->digest = (r->digest ^ s->digest) * UINT64_C(0x9E3779B97F4A7C15);
}

struct failure *
report_failure(struct report *r, const struct sim *s)
{
	struct failure *f;

	cli_warn("seed %" PRIu64 " (%s), step %" PRIu64 ", %.6f ms: %s", s->seed, s->sc.fabric,
		s->first.step, (double)s->first.time_ns / 1e6, s->first.what);
	if (r->n_failures == REPORT_FAILURES)
		return NULL;
	f = &r->failure[r->n_failures++];
	f->seed = s->seed;
	f->first = s->first;
	memcpy(f->fabric, s->sc.fabric, sizeof(f->fabric));
	return f;
}

static void
report_text_rows(
	const char *what, const struct weft_counter *row, const uint64_t *value, unsigned int n)
{
	printf("%s:", what);
	for (unsigned int i = 0; i < n; i++)
		if (value[i] != 0)
			printf(" %s %" PRIu64, row[i].name, value[i]);
	putchar('\n');
}

static void
report_text_words(const char *what, const char *const *word, const uint64_t *value, unsigned int n)
{
	printf("%s:", what);
	for (unsigned int i = 0; i < n; i++)
		if (value[i] != 0)
			printf(" %s %" PRIu64, word[i], value[i]);
	putchar('\n');
}

void
report_text(const struct report *r)
{
	const struct sim_totals *t = &r->total;

	printf("%" PRIu64 " seeds, %" PRIu64 " steps, %" PRIu64 " flit-hops in %" PRIu64
	       " frame-hops, %.1f s of CPU: %.2f M flit-hops/s\n",
		r->seeds, r->steps, t->hops, t->frames, r->seconds,
		r->seconds > 0 ? (double)t->hops / r->seconds / 1e6 : 0);
	printf("requests %" PRIu64 ", completed %" PRIu64 ", lost with their session %" PRIu64
	       ", sessions %" PRIu64 ", lines forgotten %" PRIu64 "\n",
		t->requests, t->completed, t->lost, t->sessions, t->forgotten);
	report_text_words("faults", fault_word, t->fault, FAULT_KINDS);
	report_text_words("judged", domain_word, t->domain, DOMAINS);
	report_text_rows("wires", weft_impair_counters, t->impair, WEFT_IMPAIR_N_COUNTERS);
	report_text_words("dropped", loss_word, t->loss, LOSS_KINDS);
	printf("switches told of %" PRIu64 " flits dropped, %" PRIu64 " heard of\n", t->losses_told,
		t->losses_heard);
	if (r->has_capture)
		printf("captured %" PRIu64 " frames of flits, %" PRIu64 " flits, %" PRIu64
		       " frames of link control, %" PRIu64 " refused\n",
			r->capture.frames, r->capture.flits, r->capture.control,
			r->capture.refused);
	printf("poisoned late %" PRIu64 ", messages with poison that came %" PRIu64 "\n",
		t->poisoned, t->poison_came);
	printf("rights changed %" PRIu64 " times, goodbyes known at once %" PRIu64
	       ", files that do not fit refused %" PRIu64 "\n",
		t->rights_changed, t->farewells, t->refusals);
	printf("parts healed before the rest %" PRIu64 "\n", t->cores);
	report_text_words("managers", manager_count_word, t->manager, MANAGER_COUNTS);
	report_text_words("ide", ide_word, t->ide, IDE_COUNTS);
	report_text_words("played back", replay_word, t->replay, REPLAY_COUNTS);
	report_text_rows("retry", weft_llr_counters, t->llr, WEFT_LLR_N_COUNTERS);
	printf("digest %016" PRIx64 "\n", r->digest);
	printf("violations %" PRIu64 "\n", t->violations);
}

static void
report_set(json_t *o, const char *key, uint64_t value)
{
	json_object_set_new(o, key, json_integer((json_int_t)value));
}

static json_t *
report_json_words(const char *const *word, const uint64_t *value, unsigned int n)
{
	json_t *o = json_object();

	for (unsigned int i = 0; i < n; i++)
		report_set(o, word[i], value[i]);
	return o;
}

static void
report_json_rows(json_t *o, const char *prefix, const struct weft_counter *row,
	const uint64_t *value, unsigned int n)
{
	char key[64];

	for (unsigned int i = 0; i < n; i++) {
		snprintf(key, sizeof(key), "%s%s", prefix, row[i].name);
		report_set(o, key, value[i]);
	}
}

static json_t *
report_json_failures(const struct report *r)
{
	json_t *a = json_array();

	for (unsigned int i = 0; i < r->n_failures; i++) {
		const struct failure *f = &r->failure[i];
		json_t *o = json_object();

		report_set(o, "seed", f->seed);
		report_set(o, "step", f->first.step);
		report_set(o, "time_ns", f->first.time_ns);
		json_object_set_new(o, "fabric", json_string(f->fabric));
		json_object_set_new(o, "what", json_string(f->first.what));
		if (f->pcap[0] != '\0')
			json_object_set_new(o, "pcap", json_string(f->pcap));
		json_array_append_new(a, o);
	}
	return a;
}

static json_t *
report_json_messages(const uint64_t *value)
{
	json_t *o = json_object();

	for (unsigned int i = 0; i < WEFT_MSG_KINDS; i++)
		if (value[i] != 0)
			report_set(o, weft_msg_kind_name((enum weft_msg_kind)i), value[i]);
	return o;
}

static json_t *
report_json_capture(const struct report *r)
{
	const struct capture_counts *c = &r->capture;
	json_t *o = json_object();

	json_object_set_new(o, "mode", json_string(weft_mode_words[r->captured.mode]));
	json_object_set_new(o, "isn", json_string(weft_isn_words[r->captured.isn]));
	json_object_set_new(o, "gap_decoding", json_boolean(r->captured.gap_decoding));
	json_object_set_new(o, "crc_order", json_string(weft_crc_order_words[r->crc_order]));
	report_set(o, "frames", c->frames);
	report_set(o, "flits", c->flits);
	report_set(o, "control", c->control);
	report_set(o, "refused", c->refused);
	return o;
}

int
report_json(const struct report *r, const char *path)
{
	const struct sim_totals *t = &r->total;
	json_t *o = json_object(), *faults, *retry = json_object();
	char digest[24];
	int rc;

	snprintf(digest, sizeof(digest), "%016" PRIx64, r->digest);
	faults = report_json_words(fault_word, t->fault, FAULT_KINDS);
	report_json_rows(faults, "wire_", weft_impair_counters, t->impair, WEFT_IMPAIR_N_COUNTERS);
	report_json_rows(retry, "", weft_llr_counters, t->llr, WEFT_LLR_N_COUNTERS);
	report_set(o, "seeds", r->seeds);
	report_set(o, "steps", r->steps);
	report_set(o, "hops", t->hops);
	report_set(o, "frames", t->frames);
	report_set(o, "requests", t->requests);
	report_set(o, "completed", t->completed);
	report_set(o, "lost", t->lost);
	report_set(o, "forgotten", t->forgotten);
	report_set(o, "sessions", t->sessions);
	json_object_set_new(o, "faults", faults);
	json_object_set_new(o, "domains", report_json_words(domain_word, t->domain, DOMAINS));
	json_object_set_new(o, "dropped", report_json_words(loss_word, t->loss, LOSS_KINDS));
	report_set(o, "losses_told", t->losses_told);
	report_set(o, "losses_heard", t->losses_heard);
	json_object_set_new(o, "retry", retry);
	json_object_set_new(o, "fec",
		json_pack("{s:I, s:I}", "corrected", (json_int_t)t->fec_corrected, "uncorrectable",
			(json_int_t)t->fec_uncorrectable));
	json_object_set_new(
		o, "managers", report_json_words(manager_count_word, t->manager, MANAGER_COUNTS));
	report_set(o, "rights_changed", t->rights_changed);
	report_set(o, "farewells", t->farewells);
	report_set(o, "refusals", t->refusals);
	report_set(o, "cores", t->cores);
	report_set(o, "poisoned_late", t->poisoned);
	report_set(o, "poison_came", t->poison_came);
	json_object_set_new(o, "ide", report_json_words(ide_word, t->ide, IDE_COUNTS));
	json_object_set_new(
		o, "played_back", report_json_words(replay_word, t->replay, REPLAY_COUNTS));
	json_object_set_new(o, "messages", report_json_messages(t->messages));
	if (r->has_capture)
		json_object_set_new(o, "capture", report_json_capture(r));
	report_set(o, "violations", t->violations);
	json_object_set_new(o, "failures", report_json_failures(r));
	json_object_set_new(o, "digest", json_string(digest));
	rc = json_write(path, o);
	json_decref(o);
	return rc;
}
