/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * A frame of a trace in words: what the dissector of Wireshark shows of it (usertools/weft.lua),
 * flit by flit, and the stages of ours that it passed.
 */

#include "traces.h"

#include <inttypes.h>
#include <stdio.h>

#include "weft_control.h"

static const char *const trace_flit_words[] = { "nop", "io", "cachemem", "almp" };
static const char *const trace_replay_words[] = { "number", "ack", "nak_standard",
	"nak_selective" };

static const char *const trace_control_words[WEFT_CONTROL_TYPES] = {
	[WEFT_CONTROL_HELLO] = "HELLO",
	[WEFT_CONTROL_WELCOME] = "WELCOME",
	[WEFT_CONTROL_REFUSE] = "REFUSE",
	[WEFT_CONTROL_GOODBYE] = "GOODBYE",
	[WEFT_CONTROL_READY] = "READY",
	[WEFT_CONTROL_KEEPALIVE] = "KEEPALIVE",
	[WEFT_CONTROL_RESET] = "RESET",
	[WEFT_CONTROL_LOSS] = "LOSS",
	[WEFT_CONTROL_CHALLENGE] = "CHALLENGE",
	[WEFT_CONTROL_GONE] = "GONE",
	[WEFT_CONTROL_ANNOUNCE] = "ANNOUNCE",
	[WEFT_CONTROL_MANAGEMENT] = "MANAGEMENT",
};

static bool
trace_has_tag(const struct weft_msg *m)
{
	return m->kind != WEFT_MSG_LLCTRL;
}

static bool
trace_has_address(const struct weft_msg *m)
{
	switch (m->kind) {
	case WEFT_MSG_M2S_REQ:
	case WEFT_MSG_M2S_RWD:
	case WEFT_MSG_S2M_BISNP:
	case WEFT_MSG_D2H_REQ:
	case WEFT_MSG_H2D_REQ: return true;
	default: return false;
	}
}

struct trace_messages {
	json_t *list;
	enum weft_form form;
	bool is_sealed;
};

static void
trace_add_message(void *arg, const struct weft_msg *m)
{
	const struct trace_messages *to = arg;
	const char *op = weft_msg_op_name((enum weft_msg_kind)m->kind, m->op);
	char text[32];
	json_t *o;

	snprintf(text, sizeof(text), "0x%x", m->op);
	o = json_pack("{s:s, s:s}", "kind", weft_msg_kind_name((enum weft_msg_kind)m->kind), "op",
		op == NULL ? text : op);
	if (trace_has_tag(m))
		json_object_set_new(o, "tag", json_integer(m->tag));
	if (trace_has_address(m)) {
		snprintf(text, sizeof(text), "0x%" PRIx64, m->addr);
		json_object_set_new(o, "addr", json_string(text));
	}
	if (to->form == WEFT_FORM_PBR && m->spid != 0)
		json_object_set_new(o, "spid", json_integer(m->spid));
	if (to->form == WEFT_FORM_PBR && m->kind != WEFT_MSG_LLCTRL)
		json_object_set_new(o, "dpid", json_integer(m->dpid));
	if (to->form == WEFT_FORM_HBR && trace_has_address(m))
		json_object_set_new(o, "ld_id", json_integer(m->ld_id));
	if (m->poison)
		json_object_set_new(o, "poison", json_true());
	json_array_append_new(to->list, o);
}

/* With IDE on all slots of protocol flits are ciphertext; control flits are not. */
static json_t *
trace_messages_json(const uint8_t *flit, unsigned int *data, enum weft_form form, bool is_sealed)
{
	const int llctrl = weft_llctrl_get(flit + WEFT_FLIT_H_OFF);
	struct trace_messages to = { .list = json_array(), .form = form };

	if (!is_sealed)
		weft_flit_walk(flit, form, data, trace_add_message, &to);
	else if (flit[0] >> 6 == WEFT_FLIT_CACHEMEM && !weft_flit_is_empty(flit) && llctrl >= 0)
		trace_add_message(
			&to, &(struct weft_msg){ .kind = WEFT_MSG_LLCTRL, .op = (uint8_t)llctrl });
	return to.list;
}

static json_t *
trace_flits_json(const struct weft_trace_frame *f, const struct weft_wire_hdr *h, bool is_sealed)
{
	const enum weft_form form =
		h->mode == WEFT_MODE_RXL ? WEFT_FORM_PBR : (enum weft_form)h->form;
	unsigned int data = f->data_slots == WEFT_TRACE_UNKNOWN ? 0 : f->data_slots;
	json_t *list = json_array();

	for (unsigned int i = 0; i < h->n_flits; i++) {
		const uint8_t *flit = f->bytes + WEFT_WIRE_FLITS_OFF + i * (size_t)WEFT_FLIT_LEN;
		const struct weft_flit_hdr head = weft_flit_hdr_get(flit);
		json_t *o = json_pack("{s:s, s:s, s:i, s:i, s:b, s:b}", "type",
			trace_flit_words[head.type], "replay", trace_replay_words[head.replay_cmd],
			"number", head.seq, "credits", weft_flit_crd(flit), "empty",
			weft_flit_is_empty(flit), "discarded", (f->discard & WEFT_BIT64(i)) != 0);

		json_object_set_new(
			o, "corrected", json_boolean((f->corrected & WEFT_BIT64(i)) != 0));
		json_object_set_new(o, "sealed",
			json_boolean(is_sealed && weft_flit_is_protocol(flit) &&
				     !weft_flit_is_empty(flit)));
		json_object_set_new(
			o, "messages", trace_messages_json(flit, &data, form, is_sealed));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *
trace_control_json(const struct weft_trace_frame *f)
{
	struct weft_control c;

	if (weft_control_parse(f->bytes + WEFT_WIRE_FLITS_OFF, f->len - WEFT_WIRE_FLITS_OFF, &c) !=
		WEFT_OK)
		return json_pack("{s:n}", "message");
	return json_pack("{s:s}", "message", trace_control_words[c.type]);
}

static json_t *
trace_stages_json(const struct weft_trace_frame *f)
{
	json_t *list = json_array();

	for (unsigned int i = 0; i < f->n_steps; i++)
		json_array_append_new(
			list, json_pack("{s:s, s:I, s:i, s:I}", "stage", f->step[i].stage->name,
				      "cycles", (json_int_t)f->step[i].cycles, "frames",
				      f->step[i].frames, "flits", (json_int_t)f->step[i].flits));
	return list;
}

json_t *
trace_frame_json(const struct weft_trace_frame *f, bool is_sealed)
{
	const bool is_dropped = f->end == WEFT_TRACE_DROPPED && f->verdict != WEFT_OK;
	struct weft_wire_hdr h;
	enum weft_verdict v = weft_wire_parse(f->bytes, f->len, &h);
	json_t *o = json_pack("{s:s, s:I, s:s, s:s?, s:o}", "direction", f->is_out ? "out" : "in",
		"bytes", (json_int_t)f->len, "end", weft_trace_end_words[f->end], "reason",
		is_dropped ? weft_verdict_name((enum weft_verdict)f->verdict) : NULL, "stages",
		trace_stages_json(f));

	if (v != WEFT_OK) {
		json_object_set_new(o, "kind", json_null());
		json_object_set_new(o, "refused", json_string(weft_verdict_name(v)));
		return o;
	}
	json_object_set_new(
		o, "kind", json_string(h.kind == WEFT_WIRE_CONTROL ? "control" : "flits"));
	json_object_set_new(o, "mode", json_string(weft_mode_words[h.mode]));
	json_object_set_new(o, "spid", json_integer(h.spid));
	json_object_set_new(o, "dpid", json_integer(h.dpid));
	json_object_set_new(o, "vc", json_integer(h.vc));
	json_object_set_new(o, "session", json_integer(h.session));
	if (h.kind == WEFT_WIRE_CONTROL) {
		json_object_set_new(o, "control", trace_control_json(f));
		return o;
	}
	/* Flits before it may have left data to come: of one on its way through nobody knows. */
	json_object_set_new(o, "messages_known", json_boolean(f->data_slots != WEFT_TRACE_UNKNOWN));
	json_object_set_new(o, "flits", trace_flits_json(f, &h, is_sealed));
	return o;
}
