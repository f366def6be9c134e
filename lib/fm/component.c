/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * One component: requests with their answers, time-outs and back-off, and reading it from Identify
 * to its tables by the rows of fm_steps (fabric.md sections 6.3, 6.4). A component that is known is
 * looked at again by those rows that say is_poll.
 */

#include <errno.h>
#include <stdlib.h>

#include "fm_priv.h"

static int
component_put_nothing(struct weft_fm *fm, struct fm_component *c, uint8_t *b)
{
	(void)fm;
	(void)c;
	(void)b;
	return 0;
}

static int
component_got_identify(struct weft_fm *fm, struct fm_component *c, const uint8_t *b, size_t len)
{
	struct weft_cci_identify_rsp rsp;
	int other;

	if (weft_cci_get_identify_rsp(&rsp, b, len) != 0)
		return -EBADMSG;
	switch (rsp.comp) {
	case FM_COMPONENT_SWITCH: c->kind = WEFT_TOPO_SWITCH; break;
	case FM_COMPONENT_GFD: c->kind = WEFT_TOPO_GFD; break;
	case FM_COMPONENT_HOST: c->kind = WEFT_TOPO_HOST; break;
	default: return -EBADMSG;
	}
	memcpy(c->id, b, sizeof(c->id));
	c->has_id = true;
	other = fm_find_id(fm, c->id, c->path);
	if (other < 0)
		return FM_GOT_ALL;
	fm_set_state(fm, &fm->component[other], WEFT_FM_DUPLICATE);
	fm_set_state(fm, c, WEFT_FM_DUPLICATE);
	return FM_GOT_OTHER;
}

static int
component_put_limit(struct weft_fm *fm, struct fm_component *c, uint8_t *b)
{
	const struct weft_cci_set_response_limit_req req = { .n = 10 };

	(void)fm;
	(void)c;
	return weft_cci_put_set_response_limit_req(b, WEFT_CCI_MAX_PAYLOAD, &req);
}

static int
component_got_limit(struct weft_fm *fm, struct fm_component *c, const uint8_t *b, size_t len)
{
	struct weft_cci_set_response_limit_rsp rsp;

	(void)fm;
	(void)c;
	return weft_cci_get_set_response_limit_rsp(&rsp, b, len) == 0 ? FM_GOT_ALL : -EBADMSG;
}

const struct fm_step fm_steps[] = {
	{ WEFT_CCI_IDENTIFY, FM_OF_ALL, false, component_put_nothing, component_got_identify },
	{ WEFT_CCI_IDENTIFY_PBR_COMPONENT, FM_OF_ALL, true, component_put_nothing, fm_got_owner },
	{ WEFT_CCI_CLAIM_OWNERSHIP, FM_OF_ALL, false, fm_put_claim, fm_got_claim },
	{ WEFT_CCI_SET_RESPONSE_LIMIT, FM_OF_ALL, false, component_put_limit, component_got_limit },
	{ WEFT_CCI_IDENTIFY_SWITCH, FM_OF_SWITCH, false, component_put_nothing, fm_got_switch },
	{ WEFT_CCI_IDENTIFY_PBR_SWITCH, FM_OF_SWITCH, false, component_put_nothing,
		fm_got_pbr_switch },
	{ WEFT_CCI_GET_PORT_STATE, FM_OF_SWITCH, true, fm_put_ports, fm_got_ports },
	{ WEFT_CCI_GET_LINK_PARTNER_INFO, FM_OF_SWITCH, true, fm_put_partners, fm_got_partners },
	{ WEFT_CCI_GET_PID_TARGETS, FM_OF_SWITCH, false, fm_put_targets, fm_got_targets },
	{ WEFT_CCI_GET_DRT, FM_OF_SWITCH, false, fm_put_drt, fm_got_drt },
	{ WEFT_CCI_GET_RGT, FM_OF_SWITCH, false, fm_put_groups, fm_got_groups },
	{ WEFT_CCI_IDENTIFY_GFD, FM_OF_GFD, false, component_put_nothing, fm_got_gfd },
	{ WEFT_CCI_GET_DC_REGIONS, FM_OF_GFD, false, fm_put_regions, fm_got_regions },
	{ WEFT_CCI_GET_EXTENTS, FM_OF_GFD, false, fm_put_extents, fm_got_extents },
	{ WEFT_CCI_GET_SAT, FM_OF_GFD, false, fm_put_sat, fm_got_sat },
	{ WEFT_CCI_BACKGROUND_STATUS, FM_OF_HOST, true, fm_put_background, fm_got_background },
	{ WEFT_CCI_GET_HOST_MEMORY, FM_OF_HOST, false, component_put_nothing, fm_got_host },
};
const unsigned int fm_n_steps = WEFT_ARRAY_SIZE(fm_steps);

static bool
component_takes_step(const struct fm_component *c, const struct fm_step *s)
{
	static const uint8_t kind[] = { [FM_OF_SWITCH] = WEFT_TOPO_SWITCH,
		[FM_OF_GFD] = WEFT_TOPO_GFD,
		[FM_OF_HOST] = WEFT_TOPO_HOST };

	return (!c->is_poll || s->is_poll) && (s->of == FM_OF_ALL || kind[s->of] == c->kind);
}

/* Found state stays until it is read again; nothing is written to the component meanwhile. */
void
fm_restart(struct weft_fm *fm, struct fm_component *c, uint64_t at_ns)
{
	fm->look.has_news = true;
	c->req.is_out = c->req.is_held = false;
	if (c->host != NULL && c->host->is_taking)
		c->host->is_unsure = true;
	c->is_poll = false;
	c->step = 0;
	c->cursor = 0;
	c->look_ns = at_ns;
	if (c->state == WEFT_FM_READY)
		c->state = WEFT_FM_READING;
}

static const struct {
	enum weft_fm_event_kind kind;
	const char *text;
} component_events[] = {
	[WEFT_FM_READY] = { WEFT_FM_EVENT_FOUND, "known and ours" },
	[WEFT_FM_ABSENT] = { WEFT_FM_EVENT_LOST, "does not answer as it should: left out" },
	[WEFT_FM_FOREIGN] = { WEFT_FM_EVENT_FOREIGN, "belongs to another manager: left alone" },
	[WEFT_FM_DUPLICATE] = { WEFT_FM_EVENT_DUPLICATE,
		"its identity (serial number) is also another's: left alone; change one" },
	[WEFT_FM_QUARANTINED] = { WEFT_FM_EVENT_QUARANTINE,
		"its answers make no sense: left alone until its path is new" },
	[WEFT_FM_NO_PIDS] = { WEFT_FM_EVENT_PIDS, "no PID is left for it" },
};

void
fm_set_state(struct weft_fm *fm, struct fm_component *c, enum weft_fm_state state)
{
	const bool was = c->state == state;
	const bool was_usable = fm_is_usable(c);

	if (c->req.is_out && c->req.is_barrier)
		fm->n_writes_out--;
	fm_restart(fm, c, fm->now_ns + fm->cfg.retry_ns);
	c->state = (uint8_t)state;
	if (state == WEFT_FM_READY) {
		c->was_ready = true;
		c->n_nonsense = 0;
		c->look_ns = fm->now_ns + fm->cfg.poll_ns;
	} else {
		c->was_ready = false;
	}
	if (was_usable != fm_is_usable(c) || state == WEFT_FM_READY)
		fm->is_graph_old = true;
	if (!was && !(state == WEFT_FM_READY && was_usable))
		fm_event(
			fm, component_events[state].kind, c, 0, "%s", component_events[state].text);
}

static void
component_transmit(struct weft_fm *fm, struct fm_component *c)
{
	struct weft_cci_hdr h = { .tag = ++c->tag };
	struct weft_cci_hdr old;

	(void)weft_cci_get_hdr(&old, c->req.msg, c->req.len);
	h.opcode = old.opcode;
	h.len = old.len;
	weft_cci_put_hdr(c->req.msg, &h);
	c->req.tag = h.tag;
	c->req.is_held = false;
	c->req.at_ns = fm->now_ns + fm->cfg.timeout_ns;
	c->req.n_sent++;
	/* Nobody there is as good as no answer. */
	if (fm->cfg.transport.send(fm->cfg.transport.arg, c->path, c->req.msg, c->req.len) != 0)
		c->req.at_ns = fm->now_ns;
}

void
fm_send(struct weft_fm *fm, struct fm_component *c, uint16_t opcode, int len, bool is_write)
{
	const struct weft_cci_hdr h = { .opcode = opcode, .len = (uint32_t)len };

	weft_cci_put_hdr(c->req.msg, &h);
	c->req.len = WEFT_CCI_HDR + (size_t)len;
	if (is_write && fm->is_plan) {
		fm_apply(fm, c, opcode, fm_payload(c), (size_t)len);
		return;
	}
	c->req.is_out = true;
	c->req.is_write = is_write;
	c->req.is_barrier = is_write;
	c->req.n_sent = 0;
	c->req.backoff_ns = FM_BACKOFF_NS;
	fm->n_writes_out += is_write;
	component_transmit(fm, c);
}

/* A request came to its end. */
static void
component_end_request(struct weft_fm *fm, struct fm_component *c)
{
	c->req.is_out = c->req.is_held = false;
	fm->look.has_news |= c->req.is_write;
	if (c->req.is_barrier)
		fm->n_writes_out--;
}

static void
component_timeout(struct weft_fm *fm, struct fm_component *c)
{
	/* It may have been done, and then be wrong a second time: look first. */
	if (c->req.is_write) {
		if (c->host != NULL)
			c->host->is_unsure = true;
		component_end_request(fm, c);
		fm_restart(fm, c, fm->now_ns);
		return;
	}
	if (c->req.n_sent < fm->cfg.tries) {
		component_transmit(fm, c);
		return;
	}
	component_end_request(fm, c);
	fm_set_state(fm, c, WEFT_FM_ABSENT);
}

/*
 * The same again, later and later; a component that is never ready is not there. A host may be long
 * about it: routes are mended meanwhile.
 */
static void
component_back_off(struct weft_fm *fm, struct fm_component *c)
{
	const bool is_host_write = c->host != NULL && c->req.is_write;
	const uint64_t max_ns = is_host_write ? FM_BACKOFF_HOST_NS : FM_BACKOFF_MAX_NS;

	if (is_host_write && c->req.is_barrier) {
		c->req.is_barrier = false;
		fm->n_writes_out--;
		fm->look.has_news = true;
	}
	c->req.is_held = true;
	c->req.at_ns = fm->now_ns + c->req.backoff_ns;
	if (c->req.backoff_ns >= FM_BACKOFF_MAX_NS && c->state == WEFT_FM_READING)
		fm_set_state(fm, c, WEFT_FM_ABSENT);
	c->req.backoff_ns *= 2;
	if (c->req.backoff_ns > max_ns)
		c->req.backoff_ns = max_ns;
}

/* An answer that is none. */
static void
component_nonsense(struct weft_fm *fm, struct fm_component *c)
{
	component_end_request(fm, c);
	if (++c->n_nonsense >= FM_NONSENSE)
		fm_set_state(fm, c, WEFT_FM_QUARANTINED);
	else
		fm_restart(fm, c, fm->now_ns + FM_BACKOFF_NS);
}

static uint64_t
component_poll_ns(const struct weft_fm *fm, const struct fm_component *c)
{
	const bool is_taking = c->host != NULL && c->host->is_taking;

	return is_taking && FM_BACKGROUND_NS < fm->cfg.poll_ns ? FM_BACKGROUND_NS : fm->cfg.poll_ns;
}

/* The next step has something to ask for, or all are done. */
static void
component_read_on(struct weft_fm *fm, struct fm_component *c)
{
	while (c->step < fm_n_steps) {
		const struct fm_step *s = &fm_steps[c->step];
		int len = component_takes_step(c, s) ? s->put(fm, c, fm_payload(c)) : -1;

		if (len >= 0) {
			fm_send(fm, c, s->opcode, len, false);
			return;
		}
		c->step++;
		c->cursor = 0;
	}
	if (c->is_poll) {
		c->is_poll = false;
		fm->look.has_news |= c->is_awaited;
		c->is_awaited = false;
		c->look_ns = fm->now_ns + component_poll_ns(fm, c);
	} else {
		fm_set_state(fm, c, WEFT_FM_READY);
	}
	c->step = 0;
}

/* A GFD whose memory is not ours to manage still is an end of the fabric. */
static void
component_has_no_memory(struct weft_fm *fm, struct fm_component *c)
{
	if (c->gfd != NULL)
		c->gfd->is_fixed = true;
	c->step = (uint8_t)fm_n_steps;
	component_read_on(fm, c);
}

/* Two that go by two files want other PIDs and capacity of each other. */
static void
component_tell_refused(struct weft_fm *fm, const struct fm_component *c, uint16_t opcode,
	uint16_t rc, bool is_write)
{
	const bool may_differ = is_write && rc == WEFT_CCI_INVALID_INPUT;

	fm_event(fm, WEFT_FM_EVENT_REFUSED, c, opcode, "refused %s (%04Xh): %s%s",
		weft_cci_opcode_name(opcode), opcode, weft_cci_rc_name(rc),
		may_differ ? ": does it go by this manager's topology file?" : "");
}

/* What was refused is looked at first, and comes again later and later. */
static void
component_hold(struct weft_fm *fm, struct fm_component *c)
{
	c->hold_step_ns = c->hold_step_ns == 0 ? FM_BACKOFF_NS : 2 * c->hold_step_ns;
	if (c->hold_step_ns > FM_BACKOFF_MAX_NS)
		c->hold_step_ns = FM_BACKOFF_MAX_NS;
	c->hold_ns = fm->now_ns + c->hold_step_ns;
	fm_restart(fm, c, fm->now_ns);
}

static void
component_refused(struct weft_fm *fm, struct fm_component *c, uint16_t opcode, uint16_t rc)
{
	const bool is_write = c->req.is_write;

	component_end_request(fm, c);
	if (!is_write && opcode == WEFT_CCI_GET_RGT) {
		c->step++; /* the rows before it are all there are */
		c->cursor = 0;
		component_read_on(fm, c);
		return;
	}
	/* One that is left out refuses again and again. */
	if (c->state != WEFT_FM_ABSENT)
		component_tell_refused(fm, c, opcode, rc, is_write);
	if (!is_write && fm_steps[c->step].of == FM_OF_GFD && rc == WEFT_CCI_UNSUPPORTED) {
		component_has_no_memory(fm, c);
		return;
	}
	if (!is_write)
		fm_set_state(fm, c, WEFT_FM_ABSENT);
	else
		component_hold(fm, c);
}

void
fm_write_refused(struct weft_fm *fm, struct fm_component *c, uint16_t opcode, uint16_t rc)
{
	component_tell_refused(fm, c, opcode, rc, true);
	component_hold(fm, c);
}

static void
component_got_read(struct weft_fm *fm, struct fm_component *c, const uint8_t *b, size_t len)
{
	int rc;

	c->req.is_out = false;
	rc = fm_steps[c->step].got(fm, c, b, len);
	if (rc < 0) {
		component_nonsense(fm, c);
	} else if (rc != FM_GOT_OTHER) {
		if (rc == FM_GOT_ALL) {
			c->step++;
			c->cursor = 0;
		}
		component_read_on(fm, c);
	}
}

/* A host does what it was asked: its next looks say when it is done. */
static void
component_began(struct weft_fm *fm, struct fm_component *c)
{
	component_end_request(fm, c);
	c->host->is_taking = true;
	c->look_ns = fm->now_ns + component_poll_ns(fm, c);
}

static void
component_answer(struct weft_fm *fm, struct fm_component *c, const struct weft_cci_hdr *h,
	const uint8_t *b, size_t len)
{
	struct weft_cci_hdr out;

	(void)weft_cci_get_hdr(&out, c->req.msg, c->req.len);
	if (!c->req.is_out || c->req.is_held || h->tag != c->req.tag || h->opcode != out.opcode)
		return; /* late, or a second time */
	if (h->rc == WEFT_CCI_RETRY_REQUIRED || h->rc == WEFT_CCI_BUSY) {
		component_back_off(fm, c);
	} else if (h->rc == WEFT_CCI_BACKGROUND_STARTED && c->req.is_write && c->host != NULL) {
		component_began(fm, c);
	} else if (h->rc == WEFT_CCI_INTERNAL_ERROR) {
		component_nonsense(fm, c);
	} else if (h->rc != WEFT_CCI_SUCCESS) {
		component_refused(fm, c, out.opcode, h->rc);
	} else if (!c->req.is_write) {
		component_got_read(fm, c, b, len);
	} else {
		component_end_request(fm, c);
		c->hold_step_ns = 0;
		fm_apply(fm, c, out.opcode, fm_payload(c), c->req.len - WEFT_CCI_HDR);
	}
}

/* An access that a GFD refused: an event a second, and how many there were besides. */
static void
component_report(struct weft_fm *fm, struct fm_component *c, const uint8_t *b, size_t len)
{
	struct weft_cci_enhanced_event_req r;

	if (weft_cci_get_enhanced_event_req(&r, b, len) != 0 || r.type != FM_REPORT_ACCESS)
		return;
	if (fm->now_ns < c->report_ns) {
		c->n_reports++;
		return;
	}
	fm_event(fm, WEFT_FM_EVENT_ACCESS, c, WEFT_CCI_ENHANCED_EVENT,
		"PID 0x%03x was refused at 0x%llx: %s (%u reports more since the last line)",
		r.rpid, (unsigned long long)r.hpa,
		(r.trig & FM_REPORT_DECODE) != 0  ? "no decoder has it"
		: (r.trig & FM_REPORT_GROUP) != 0 ? "the memory is in no group"
		: (r.trig & FM_REPORT_SAT) != 0   ? "the group is closed to it"
						  : "a snoop has no way",
		c->n_reports);
	c->n_reports = 0;
	c->report_ns = fm->now_ns + FM_REPORT_NS;
}

void
weft_fm_answer(struct weft_fm *fm, uint32_t path, const uint8_t *msg, size_t len, uint64_t now_ns)
{
	struct fm_component *c;
	struct weft_cci_hdr h;

	fm->now_ns = now_ns;
	if (path >= fm->cfg.n_paths)
		return;
	c = &fm->component[path];
	if (c->state == WEFT_FM_QUARANTINED)
		return;
	if (weft_cci_get_hdr(&h, msg, len) != 0) {
		if (c->req.is_out)
			component_nonsense(fm, c);
	} else if (h.is_response) {
		component_answer(fm, c, &h, msg + WEFT_CCI_HDR, h.len);
	} else if (h.opcode == WEFT_CCI_EVENT_NOTIFICATION) {
		c->is_dirty = true;
	} else if (h.opcode == WEFT_CCI_ENHANCED_EVENT) {
		component_report(fm, c, msg + WEFT_CCI_HDR, h.len);
	}
}

/* Time-outs, and the next look. */
void
fm_component_poll(struct weft_fm *fm, struct fm_component *c)
{
	if (c->req.is_out) {
		if (fm->now_ns < c->req.at_ns)
			return;
		if (c->req.is_held)
			component_transmit(fm, c);
		else
			component_timeout(fm, c);
		return;
	}
	if (c->state == WEFT_FM_QUARANTINED ||
		(fm->now_ns < c->look_ns && !(c->is_dirty && c->state == WEFT_FM_READY)))
		return;
	if (c->state == WEFT_FM_READY) {
		c->is_poll = true;
		c->is_dirty = false;
	}
	component_read_on(fm, c);
}

uint64_t
fm_component_next_ns(const struct fm_component *c)
{
	if (c->req.is_out)
		return c->req.at_ns;
	if (c->state == WEFT_FM_QUARANTINED)
		return UINT64_MAX;
	return c->is_dirty && c->state == WEFT_FM_READY ? 0 : c->look_ns;
}

void
fm_component_free(struct fm_component *c)
{
	if (c->sw != NULL) {
		free(c->sw->drt);
		free(c->sw->rgt);
		free(c->sw->target);
	}
	if (c->gfd != NULL) {
		free(c->gfd->extent);
		free(c->gfd->sat);
	}
	free(c->sw);
	free(c->gfd);
	free(c->host);
	c->sw = NULL;
	c->gfd = NULL;
	c->host = NULL;
}
