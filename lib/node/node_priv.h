/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* What the files of nodes share. */
#ifndef NODE_PRIV_H
#define NODE_PRIV_H

#include <assert.h>
#include <string.h>

#include "weft_mem_requester.h"
#include "weft_node.h"
#include "weft_probe.h"
#include "weft_traffic.h"

#define NODE_EXPIRE_EVERY_NS UINT64_C(1000000)
#define NODE_EXPIRE_BATCH 64

/* --- memory --- */

static inline void *
node_alloc(const struct weft_node *n, size_t len)
{
	return len == 0 ? NULL : n->cfg.world->alloc(n->cfg.world_arg, len);
}

static inline void
node_free(const struct weft_node *n, void *mem)
{
	n->cfg.world->free(n->cfg.world_arg, mem);
}

/* --- what a world that watches is told; nothing here does more than that --- */

/* As weft_link_send(); @p late: the data turns out to be bad now, and that can be said. */
static inline int
node_send(struct weft_node_link *l, const struct weft_msg *m, bool late)
{
	const struct weft_node_cfg *c = &l->node->cfg;
	int rc = weft_link_send(l->end, m);

	if (rc != 0)
		return rc;
	if (late)
		rc = weft_link_poison(l->end);
	assert(rc == 0);
	if (c->watch != NULL)
		c->watch->sent(c->world_arg, l, m, late);
	return 0;
}

/* The oldest message of its kind, @p m, is consumed. */
static inline void
node_pop(struct weft_node_link *l, const struct weft_msg *m)
{
	const struct weft_node_cfg *c = &l->node->cfg;

	if (c->watch != NULL)
		c->watch->came(c->world_arg, l, m);
	weft_link_pop(l->end, (enum weft_msg_kind)m->kind);
}

static inline void
node_drop(struct weft_node *n, enum weft_verdict why)
{
	n->drops[why]++;
	weft_probe_drop(n->topo->name, weft_verdict_names[why], 1);
	if (n->cfg.watch != NULL)
		n->cfg.watch->dropped(n->cfg.world_arg, n, why);
}

/* --- tables in force --- */

static inline const struct weft_edge *
node_edge(const struct weft_node *n)
{
	return weft_tables_edge(weft_tables_now(n->cfg.tables), 0);
}

/* What the node's edge port decides about an address, of a request without a prefix. */
static inline void
node_decide(const struct weft_node *n, enum weft_edge_kind kind, uint64_t hpa,
	struct weft_edge_decision *d)
{
	weft_edge_request(node_edge(n), kind, hpa, WEFT_EDGE_ABSENT, d);
}

/* Whose end a message for @p dpid goes to, or NULL. */
static inline struct weft_node_link *
node_link_to(struct weft_node *n, uint16_t dpid)
{
	return weft_node_is_cxl(n) ? n->link : weft_node_link_find(n, dpid);
}

/* --- link.c --- */

/*
 * Make the ends: rxl, of every node that it is joined to; cxl, of every port. 0, or -errno with a
 * line.
 */
int node_links_init(struct weft_node *n, char *err, size_t err_len);

/* Whether the node's load is for the memory of another. */
bool node_loads(const struct weft_node *n, uint16_t other);

/* --- session.c --- */

/* Look at the session of a link, and at what waits in its end. */
void node_poll_link(struct weft_node_link *l);

/*
 * What becomes of what services have open with the session that they sent it by, and of what they
 * know of memory. Of kinds with a clock, and of switches in cxl mode.
 */
void node_follow(struct weft_node_link *l, bool ended, bool began);

/* Whether the end of its session is that of all that was sent by a link. */
static inline bool
node_link_is_whole(const struct weft_node_link *l)
{
	return !weft_node_is_cxl(l->node) || !l->is_switch;
}

/* --- host.c --- */

/* Requests that a host may have open at a time. */
uint32_t host_tags(const struct weft_node *n);

/* The host's requester of CXL.mem; NULL: it sends nothing by it. */
struct weft_requester *host_requester(const struct weft_node *n);

/*
 * cxl: let the requester begin what the link takes now; rxl: nothing, connections grant. To be
 * called before each request.
 */
void host_update_credits(struct weft_node *n);

/* Send a request to where its address leads; what the edge port stops is answered here. */
void host_forward(struct weft_node *n, struct weft_msg *m);

/* --- uio.c --- */

/* The node's requester of UIO; NULL: it sends nothing by it. */
struct weft_requester *uio_requester(const struct weft_node *n);

/* A flit is about to come: weft_uio_look_ahead(). */
void uio_look_ahead(const struct weft_node *n, const uint8_t *flit);

/* Whether a request for @p dpid would be taken now: by its link, or by the node's edge port. */
bool uio_may_send(struct weft_node *n, uint16_t dpid);

/* --- clients.c --- */

/*
 * A request by UIO of a program, and its tag. -EAGAIN: what is open, a share, or the way has to go
 * first; -ESHUTDOWN: none wants one.
 */
int clients_next_uio(struct weft_node *n, struct weft_io_tlp *t, uint16_t *tag);

/* Operations of programs that have begun and not ended. The node's thread. */
uint64_t clients_begun(const struct weft_node *n);

/* --- drain.c --- */

/* Count what is outstanding, of a node that holds its work. */
void node_drain_look(struct weft_node *n);

/* --- mem_load.c --- */

/* NULL: the node has no load by CXL.mem. */
struct weft_traffic *load_traffic(const struct weft_node *n);

struct weft_xlate_out;

/* --- ats.c: the way out of a host that translates --- */

/* Whether requests of the host go through ats_submit() and ats_next(). */
bool ats_translates(const struct weft_node *n);

/* A request with a virtual address. */
void ats_submit(struct weft_node *n, const struct weft_msg *m);

/*
 * The next requests that leave, up to @p most: each is refused, sent, or may not be sent after all.
 */
unsigned int ats_next(struct weft_node *n, struct weft_xlate_out *out, unsigned int most);

/* Whether a request of ats_next() may be sent now. If not it is kept. */
bool ats_may_send(struct weft_node *n, const struct weft_msg *m);

/* Whether the node is an agent. */
bool ats_is_agent(const struct weft_node *n);

struct weft_node_region;

/*
 * Have an agent move the page that has a place at an address of a region, all of which lies within
 * it; node_clients completes it, by @p cookie. 0; -ENXIO: no page that could move has; -EINVAL: not
 * all within; -EAGAIN: later.
 */
int ats_move(struct weft_node *n, const struct weft_node_region *r, uint64_t hpa, uint64_t cookie);

/* It was sent to m->dpid. */
void ats_sent(struct weft_node *n, const struct weft_msg *m);

/* Whether the requester may have an answer. */
bool ats_response(struct weft_node *n, const struct weft_msg *m);

/* --- edge.c: edge ports of a switch in cxl mode, whose links are of HBR form --- */

/* What becomes of something at an edge port: it goes on, it ended there, or it has to wait. */
enum edge_way { EDGE_ON, EDGE_DONE, EDGE_WAITS };

/* Once the links are there: those of HBR form get a port. 0, or -ENOMEM. */
int edges_init(struct weft_node *n);

/* A message that came by a link of HBR form. @p on receives what goes on. */
enum edge_way edge_message_in(
	struct weft_node_link *in, const struct weft_msg *m, struct weft_msg *on);

/* The same of a packet, which is sent on. False: it has to wait. */
bool edge_packet_in(struct weft_node_link *in, const struct weft_io_tlp *t);

/* A packet that leaves by such a link: @p t becomes what is sent. */
enum edge_way edge_packet_out(struct weft_node_link *out, struct weft_io_tlp *t);

/* A request or answer that an edge port let pass, or an answer that it did not, into its counts. */
void edge_count_request(
	uint64_t *count, const struct weft_topo *t, const struct weft_edge_decision *d);
void edge_count_answer(uint64_t *count, const struct weft_edge_decision *d);

/* cxl_switch.c: send a packet of PBR form by the port of its DPID. False: it has to wait. */
bool cxl_switch_send_packet(struct weft_node *n, const struct weft_io_tlp *t);

/* --- kinds.c: services of a node --- */

/* Give a packet to the service that takes those of the node. */
bool node_packet(void *link, const struct weft_io_tlp *t);
unsigned int node_poll_services(struct weft_node *n, bool may_ask);
void node_poison_services(struct weft_node *n);

extern const struct weft_node_kind node_host, node_gfd, node_device, node_cxl_switch,
	node_rxl_switch;

/* Rows of weft_node.service. */
enum node_service {
#define WEFT_SERVICE(id) NODE_SERVICE_##id,
#include "services.def"
#undef WEFT_SERVICE
	NODE_SERVICES
};

#define WEFT_SERVICE(id) extern const struct weft_node_service node_##id;
#include "services.def"
#undef WEFT_SERVICE

/* What a service keeps at a node; NULL: the node has not got it. */
#define NODE_SERVICE_OF(n, id) ((n)->service[NODE_SERVICE_##id])

/* --- source.c: sources of traffic --- */

/* Lines of a source of traffic in each segment. */
struct source_lines {
	uint64_t first, n;
	uint8_t unit; /* lines of a unit */
	/* who answers by a topology, and how; NULL: all are open */
	enum weft_expect (*expect)(
		const struct weft_node *n, const struct weft_topo *t, uint64_t hpa, uint16_t *dpid);
};

/* What a service has of its source. */
struct node_source {
	struct weft_traffic *traffic; /* NULL: it has none */
	struct source_lines lines;
	/* set by the control thread; NULL again once it is taken */
	const struct weft_traffic_change *change;
	bool is_changing; /* it waits for open requests, or for a manager */
	bool may_begin; /* set by the control thread, where a manager says what there is to use */
};

/*
 * Make a source of what is set in @p cfg: seed, requests, outstanding, rate, writer, request_lines
 * and write_percent. Its lines are @p s->lines in all segments, or in the translations that the
 * host goes by. False: no memory, of which it needs @p size.
 */
bool source_make(struct weft_node *n, struct weft_traffic_cfg *cfg, struct node_source *s,
	struct weft_requester *r, size_t *size);

/*
 * A change of rights: requests that are open end first, then it is known which answers are right.
 * False: none may begin now.
 */
bool source_may_begin(struct node_source *s);

/* Of the services with a source; NULL: the node has not got it. */
struct node_source *load_source(const struct weft_node *n);
struct node_source *uio_source(const struct weft_node *n);

/* When requests are lost, by the load of their kind if the node has it. */
uint64_t node_timeout_ns(const struct weft_node *n, bool loads, uint32_t load_ms);

/* Tags of a requester for so many requests at a time. */
uint32_t source_tags(uint32_t outstanding);

#endif /* NODE_PRIV_H */
