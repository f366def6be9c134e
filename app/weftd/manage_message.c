/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Messages of managers that came by links: requests to the component here, and answers to those
 * that a switch sent on for a manager (5701h). Such a request waits here until its answer has come,
 * so its manager need not ask again and again. The number of a crawl is its tag of MCTP.
 */

#include "manage.h"

#define MESSAGE_WAIT_NS UINT64_C(300000000) /* then the manager is asked to try again */
#define MESSAGE_REPEAT_NS UINT64_C(250000000) /* the same request goes out again */
#define MESSAGE_KEEP_NS UINT64_C(2000000000) /* then nobody asks for the answer any more */
#define MESSAGE_DEFERRED 32

static_assert(MANAGE_CRAWLS == 8, "one for each tag of MCTP");

static struct {
	bool has_answer; /* something came that one of these may wait for */
	struct message_deferred {
		bool is_used;
		struct cci_way way;
		uint64_t until_ns;
		size_t len;
		uint8_t msg[WEFT_CCI_MESSAGE_MAX], rsp[WEFT_CCI_HDR];
	} deferred[MESSAGE_DEFERRED];
} message;

/* Whose answer it would be, by its tag; NULL: nobody's. */
static struct manage_crawl *
message_crawl(struct manage *m, const struct weft_management_packet *p, uint8_t tag)
{
	struct manage_crawl *k = &m->crawl[tag];

	if (!k->is_used || k->has_answer)
		return NULL;
	if (k->to.dpid == WEFT_CCI_NO_PID)
		return p->dpid == WEFT_CCI_NO_PID ? k : NULL;
	return p->spid == k->to.dpid && (p->dpid == k->to.spid || k->to.spid == WEFT_CCI_NO_PID)
	               ? k
	               : NULL;
}

bool
manage_is_awaited(struct manage *m, const struct weft_management_packet *p)
{
	struct weft_cci_mctp_hdr h;

	return weft_cci_mctp_get_hdr(&h, p->mctp, p->len) == 0 && !h.is_owner &&
	       p->dpid != WEFT_CCI_NO_PID && message_crawl(m, p, h.tag) != NULL;
}

static void
message_answer_came(struct manage *m, uint16_t port, const struct weft_management_packet *p,
	const struct weft_cci_mctp_rx *rx, uint64_t now_ns)
{
	struct manage_crawl *k = message_crawl(m, p, rx->hdr.tag);
	const size_t len = rx->len - 1;

	/* Of CCI too: a late one may find the next request in the place of its own. */
	if (k == NULL || (k->to.dpid == WEFT_CCI_NO_PID && k->to.port != port) ||
		len < WEFT_CCI_HDR || rx->message[1 + 1] != k->msg[1] ||
		memcmp(rx->message + 1 + 3, k->msg + 3, 2) != 0) {
		manage_count(WEFT_MANAGEMENT_N_UNWANTED);
		return;
	}
	memcpy(k->rsp, rx->message + 1, len);
	k->rsp_len = len;
	k->has_answer = true;
	k->at_ns = now_ns;
	message.has_answer = true;
	manage_count(WEFT_MANAGEMENT_N_ANSWERS);
}

/* A host takes few commands by its link, and says so of the others. False: it was one. */
static bool
message_is_taken(const struct cci_way *w, const uint8_t *msg, size_t len)
{
	struct weft_cci_hdr h;
	uint8_t rsp[WEFT_CCI_HDR];

	if (w->to->host == NULL || len < WEFT_CCI_HDR ||
		weft_cci_host_takes_by_link(weft_get_le16(msg + 3)))
		return true;
	if (weft_cci_get_hdr(&h, msg, len) == 0 && !h.is_response) {
		h.is_response = true;
		h.rc = WEFT_CCI_UNSUPPORTED;
		h.len = 0;
		weft_cci_put_hdr(rsp, &h);
		manage_answer(w, rsp, sizeof(rsp));
	}
	manage_count(WEFT_MANAGEMENT_N_REFUSED);
	return false;
}

void
manage_message(struct manage *m, uint16_t port, const struct weft_management_packet *p,
	const struct weft_cci_mctp_rx *rx, uint64_t now_ns)
{
	struct cci_way w = { .to = m->component,
		.who = { .iface = WEFT_CCI_FM },
		.conn = -1,
		.port = port,
		.dpid = p->dpid == WEFT_CCI_NO_PID ? WEFT_CCI_NO_PID : p->spid,
		.tag = rx->hdr.tag,
		.type = rx->message[0] };

	if (!weft_cci_mctp_is_cci(w.type)) {
		manage_count(WEFT_MANAGEMENT_N_UNWANTED);
		return;
	}
	if (!rx->hdr.is_owner) {
		message_answer_came(m, port, p, rx, now_ns);
		return;
	}
	if (!message_is_taken(&w, rx->message + 1, rx->len - 1))
		return;
	w.who.pid = weft_cci_component_manager(
		&m->component->component, p->spid, rx->message + 1, rx->len - 1);
	manage_count(cci_take(&w, rx->message + 1, rx->len - 1) ? WEFT_MANAGEMENT_N_REQUESTS
								: WEFT_MANAGEMENT_N_UNWANTED);
}

/* MGMT-4: where nobody is named, and where no row leads, back by the port that it came by. */
static uint16_t
message_port(const struct node *n, uint16_t dpid, uint16_t port)
{
	const int by_table = n->topo->kind == WEFT_TOPO_SWITCH && dpid != WEFT_CCI_NO_PID
	                             ? weft_node_port(n->node, dpid)
	                             : -1;

	return by_table < 0 || by_table >= n->n_ports ? port : (uint16_t)by_table;
}

void
manage_answer(const struct cci_way *w, const uint8_t *rsp, size_t len)
{
	const struct weft_cci_mctp_hdr h = { .tag = w->tag };
	struct node *n = w->to->node;

	manage_send(n->own.manage, message_port(n, w->dpid, w->port),
		weft_cci_component_owner(&w->to->component)->pid, w->dpid, &h, w->type, rsp, len);
}

void
manage_notify(const struct cci_component *c, uint16_t fm_pid, const uint8_t *msg, size_t len)
{
	const struct weft_cci_mctp_hdr h = { .is_owner = true };
	struct node *n = c->node;

	manage_send(n->own.manage, message_port(n, fm_pid, 0),
		weft_cci_component_owner(&c->component)->pid, fm_pid, &h, WEFT_CCI_MCTP_CCI, msg,
		len);
}

/* --- sent on for a manager --- */

static bool
message_send_crawl(struct manage *m, struct manage_crawl *k, uint64_t now_ns)
{
	const struct weft_cci_mctp_hdr h = { .is_owner = true, .tag = (uint8_t)(k - m->crawl) };

	k->at_ns = now_ns;
	manage_count(WEFT_MANAGEMENT_N_CRAWLED);
	return manage_send(m, k->to.port, k->to.spid, k->to.dpid, &h,
		weft_cci_mctp_type(weft_get_le16(k->msg + 3)), k->msg, k->len);
}

/* The one of this request, or a free one; NULL: none is. */
static struct manage_crawl *
message_find_crawl(struct manage *m, const struct weft_cci_crawl *to, const uint8_t *msg,
	size_t len, uint64_t now_ns)
{
	struct manage_crawl *free_one = NULL;

	for (unsigned int i = 0; i < MANAGE_CRAWLS; i++) {
		struct manage_crawl *k = &m->crawl[i];

		if (k->is_used && now_ns - k->at_ns > MESSAGE_KEEP_NS) {
			if (!k->has_answer)
				manage_count(WEFT_MANAGEMENT_N_UNANSWERED);
			k->is_used = false;
		}
		if (!k->is_used)
			free_one = k;
		else if (k->to.port == to->port && k->to.dpid == to->dpid &&
			 k->to.spid == to->spid && k->len == len && memcmp(k->msg, msg, len) == 0)
			return k;
	}
	return free_one;
}

uint16_t
manage_exchange(void *component, const struct weft_cci_crawl *to, const uint8_t *msg, size_t len,
	uint8_t *rsp, size_t *rsp_len)
{
	const struct node *n = ((struct cci_component *)component)->node;
	const uint64_t now_ns = node_now_ns();
	struct manage_crawl *k = message_find_crawl(n->own.manage, to, msg, len, now_ns);

	if (n->own.manage->port[to->port].from != WEFT_MANAGEMENT_FROM_SWITCH &&
		n->own.manage->port[to->port].from != WEFT_MANAGEMENT_FROM_GFD)
		return WEFT_CCI_INVALID_INPUT;
	if (k == NULL || len > sizeof(k->msg))
		return WEFT_CCI_BUSY;
	if (!k->is_used) {
		*k = (struct manage_crawl){ .is_used = true, .to = *to, .len = len };
		memcpy(k->msg, msg, len);
		message_send_crawl(n->own.manage, k, now_ns);
		return WEFT_CCI_RETRY_REQUIRED;
	}
	if (!k->has_answer) {
		if (now_ns - k->at_ns > MESSAGE_REPEAT_NS)
			message_send_crawl(n->own.manage, k, now_ns);
		return WEFT_CCI_RETRY_REQUIRED;
	}
	k->is_used = false;
	if (k->rsp_len > *rsp_len)
		return WEFT_CCI_INVALID_INPUT; /* more was asked for than fits in an answer */
	memcpy(rsp, k->rsp, k->rsp_len);
	*rsp_len = k->rsp_len;
	return WEFT_CCI_SUCCESS;
}

bool
manage_defer(const struct cci_way *w, const uint8_t *msg, size_t len, const uint8_t *rsp)
{
	struct message_deferred *x = NULL;

	for (unsigned int i = 0; x == NULL && i < MESSAGE_DEFERRED; i++)
		if (!message.deferred[i].is_used)
			x = &message.deferred[i];
	if (x == NULL || len > sizeof(x->msg))
		return false;
	*x = (struct message_deferred){
		.is_used = true, .way = *w, .until_ns = node_now_ns() + MESSAGE_WAIT_NS, .len = len
	};
	memcpy(x->msg, msg, len);
	memcpy(x->rsp, rsp, sizeof(x->rsp));
	return true;
}

void
manage_run_deferred(uint64_t now_ns)
{
	const bool has_answer = message.has_answer;
	uint8_t rsp[WEFT_CCI_MESSAGE_MAX];

	message.has_answer = false;
	for (unsigned int i = 0; i < MESSAGE_DEFERRED; i++) {
		struct message_deferred *x = &message.deferred[i];
		size_t n = sizeof(x->rsp);

		if (!x->is_used || (!has_answer && now_ns < x->until_ns))
			continue;
		if (has_answer) {
			n = cci_run(&x->way, x->msg, x->len, rsp, sizeof(rsp));
			if (n == 0)
				continue;
		} else {
			memcpy(rsp, x->rsp, sizeof(x->rsp));
		}
		if (weft_get_le16(rsp + 8) == WEFT_CCI_RETRY_REQUIRED && now_ns < x->until_ns)
			continue;
		x->is_used = false;
		cci_reply(&x->way, rsp, n);
	}
}
