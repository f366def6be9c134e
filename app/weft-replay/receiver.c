/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * A replay makes a connection for every sender it meets, unpacks what comes out of the pipeline and
 * counts it by message. Every DPID is its own: it plays the receiver of all of them.
 */

#include "receiver.h"

#include "cli.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_errno.h>

/* The application's state of a connection. */
struct end {
	struct receiver *receiver;
	struct weft_unpacker unpack;
	struct weft_io_unpacker io;
	struct weft_isn out; /* numbers of re-protected flits, see receiver_end_write() */
};

static struct weft_conn_dir *
receiver_new_conn(void *arg, const struct weft_conn_key *key)
{
	struct receiver *r = arg;
	const bool is_cxl = key->mode == WEFT_MODE_CXL;
	const enum weft_form form = is_cxl ? (enum weft_form)key->vc : WEFT_FORM_PBR;
	struct weft_conn_cfg cfg = {
		.isn = r->cfg.isn,
		.order = r->cfg.order,
		.first = r->cfg.first,
		.ide = r->cfg.ide,
		.ide_key = r->cfg.keys == NULL ? NULL : weft_keys_find(r->cfg.keys, key, 0),
		.later_keys = r->cfg.keys,
		.pcrc = r->cfg.pcrc,
		.poison = r->cfg.poison,
		.stop = r->cfg.stop,
	};
	struct weft_conn_dir *c = weft_conns_add(r->conns, key, &cfg);
	struct end *e;

	if (c == NULL)
		return NULL;
	e = calloc(1, sizeof(*e));
	if (e == NULL) {
		weft_conns_remove(r->conns, c);
		return NULL;
	}
	weft_unpack_init(&e->unpack, form, r->messages);
	weft_io_unpack_init(&e->io, form);
	e->out = c->isn;
	e->receiver = r;
	c->user = e;
	c->unpack = &e->unpack;
	c->unpack_io = &e->io;
	r->n_conns++;
	return c;
}

/*
 * Write what is left of a frame. Corrected flits are whole again as they are. Decrypted ones have
 * the CRC of their ciphertext, so they are numbered and protected anew, as a sender without IDE
 * would have sent them.
 */
static void
receiver_end_write(struct receiver *r, struct rte_mbuf *m)
{
	struct weft_frame *f = weft_frame(m);
	uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *);
	size_t len = weft_wire_remove(frame, &f->hdr, f->discard);
	struct end *e = f->conn->user;

	if (len == 0)
		return;
	if (f->conn->stream != NULL) {
		weft_isn_protect(&e->out, r->env.crc, weft_frame_flits(m), f->hdr.n_flits);
		weft_fec_encode(r->env.fec, weft_frame_flits(m), f->hdr.n_flits);
	}
	if (r->cfg.out_link == TRACE_LINK_RAW_FLITS)
		trace_write(r->cfg.out, f->time_ns, frame + WEFT_WIRE_FLITS_OFF,
			(uint32_t)(len - WEFT_WIRE_FLITS_OFF));
	else
		trace_write(r->cfg.out, f->time_ns, frame, (uint32_t)len);
}

static void
receiver_count_packet(void *arg, const struct weft_io_tlp *t)
{
	const struct end *e = arg;

	e->receiver->packets_io[weft_io_class(t)]++;
}

static void
receiver_count_macs(struct receiver *r, struct rte_mbuf *m)
{
	const struct weft_frame *f = weft_frame(m);

	if (f->conn == NULL || f->conn->stream != NULL)
		return;
	for (unsigned int i = 0; i < f->hdr.n_flits; i++) {
		const uint8_t *flit = weft_frame_flits(m) + i * (size_t)WEFT_FLIT_LEN;
		const int what = weft_llctrl_get(flit + WEFT_FLIT_H_OFF);

		r->macs_unread += (f->discard & WEFT_BIT64(i)) == 0 &&
		                  flit[0] >> 6 == WEFT_FLIT_CACHEMEM &&
		                  (what == WEFT_LLCTRL_IDE_MAC || what == WEFT_LLCTRL_IDE_TMAC);
	}
}

static void
receiver_sink(void *arg, struct rte_mbuf **pkt, uint16_t n)
{
	struct receiver *r = arg;

	for (uint16_t i = 0; i < n; i++)
		receiver_count_macs(r, pkt[i]);
	for (uint16_t i = 0; i < n && r->cfg.out != NULL; i++)
		receiver_end_write(r, pkt[i]);
	rte_pktmbuf_free_bulk(pkt, n);
}

/* Stages work with what deframe writes about a frame: a trace has frames as they came. */
int
receiver_check_layout(const char *text, char *err, size_t err_len)
{
	struct weft_layout l;
	const int rc = weft_layout_parse(text, &l, err, err_len);

	if (rc == 0 && strcmp(l.stage[0]->name, "deframe") != 0)
		return weft_layout_error(text, err, err_len,
			"expected deframe as the first stage, got \"%s\"", l.stage[0]->name);
	return rc;
}

/* Every PID by port 0. */
static int
receiver_make_tables(struct receiver *r)
{
	static const struct weft_tables_cfg cfg = { .n_routes = 1 };
	uint8_t row[WEFT_PID_RESERVED][2];

	r->tables = aligned_alloc(WEFT_CACHE_LINE, weft_tables_size(&cfg));
	if (r->tables == NULL)
		return -ENOMEM;
	for (unsigned int pid = 0; pid < WEFT_PID_RESERVED; pid++) {
		row[pid][0] = WEFT_DRT_PORT;
		row[pid][1] = 0;
	}
	weft_tables_init(r->tables, &cfg);
	weft_route_set_drt(weft_tables_route_rw(r->tables, 0), 0, row, WEFT_PID_RESERVED);
	weft_tables_publish(&r->slot, r->tables);
	return 0;
}

int
receiver_init(struct receiver *r, const struct receiver_cfg *cfg, weft_source_fn source,
	void *source_arg, char *err, size_t err_len)
{
	struct weft_pipe_cfg pipe = {
		.name = "replay",
		.layout = cfg->layout,
		.env = &r->env,
		.source = source,
		.source_arg = source_arg,
		.sink = receiver_sink,
		.sink_arg = r,
		.socket = SOCKET_ID_ANY,
	};

	memset(r, 0, sizeof(*r));
	r->cfg = *cfg;
	if (cfg->ide != WEFT_IDE_OFF) {
		r->ide = weft_ide_lib_open(cfg->features);
		if (r->ide == NULL)
			return weft_errorf(
				err, err_len, -EINVAL, "intel-ipsec-mb does not run on this CPU");
	}
	r->conns = weft_conns_create("replay", WEFT_CONNS_MAX, r->ide, SOCKET_ID_ANY);
	if (r->conns == NULL)
		return weft_errorf(
			err, err_len, -EINVAL, "connection table: %s", rte_strerror(rte_errno));
	if (receiver_make_tables(r) != 0)
		return weft_errorf(err, err_len, -EINVAL, "out of memory");
	r->env = (struct weft_env){
		.only_mode = cfg->mode,
		.pid = WEFT_PID_ANY,
		.conns = r->conns,
		.new_conn = receiver_new_conn,
		.new_conn_arg = r,
		.fec = weft_fec_kernel_find(NULL, cfg->features),
		.crc = weft_crc_kernel_find(NULL, cfg->features),
		.tables = &r->slot,
		.deliver.packet = receiver_count_packet,
	};
	cli_report_kernels();
	r->pipe = weft_pipe_create(&pipe, err, err_len);
	return r->pipe == NULL ? -EINVAL : 0;
}

void
receiver_restart(struct receiver *r)
{
	unsigned int pos = 0;
	struct weft_conn_dir *c;

	while ((c = weft_conns_next(r->conns, &pos)) != NULL) {
		free(c->user);
		weft_conns_remove(r->conns, c);
	}
}

void
receiver_fini(struct receiver *r)
{
	weft_pipe_free(r->pipe);
	if (r->conns != NULL)
		receiver_restart(r);
	weft_conns_free(r->conns);
	free(r->tables);
	if (r->ide != NULL)
		weft_ide_lib_close(r->ide);
}

/* Put a header in front of raw flits; their addresses come from the command line. */
static void
receiver_raw_header(const struct receiver_cfg *cfg, uint8_t *frame, uint32_t flits)
{
	bool is_cxl = cfg->mode == WEFT_MODE_CXL;
	struct weft_wire_hdr h = {
		.kind = WEFT_WIRE_FLITS,
		.mode = is_cxl ? WEFT_MODE_CXL : WEFT_MODE_RXL,
		.form = is_cxl ? (uint8_t)cfg->cxl_form : 0,
		.n_flits = (uint8_t)flits,
		.spid = is_cxl ? WEFT_PID_NONE : cfg->spid,
		.dpid = is_cxl ? WEFT_PID_NONE : cfg->dpid,
	};

	memset(frame, 0, WEFT_ETH_LEN);
	weft_wire_build(frame, &h);
}

enum weft_verdict
receiver_check_packet(const struct trace_packet *p)
{
	struct weft_wire_hdr h;

	if (!p->is_whole)
		return WEFT_DROP_CAPLEN;
	if (p->link != TRACE_LINK_ETHERNET && p->link != TRACE_LINK_RAW_FLITS)
		return WEFT_DROP_LINK_TYPE;
	if (p->link == TRACE_LINK_RAW_FLITS) {
		uint32_t flits = p->len / WEFT_FLIT_LEN;

		return p->len % WEFT_FLIT_LEN != 0 || flits < 1 || flits > WEFT_WIRE_FLITS_MAX
		               ? WEFT_DROP_RAW_LENGTH
		               : WEFT_OK;
	}
	if (p->len > WEFT_WIRE_FRAME_LEN(WEFT_WIRE_FLITS_MAX)) {
		enum weft_verdict v = weft_wire_parse(p->data, p->len, &h);

		/* Longer than any frame, so the header cannot be right about its length. */
		return v == WEFT_OK ? WEFT_DROP_LENGTH : v;
	}
	return WEFT_OK;
}

uint32_t
receiver_head(const struct trace_packet *p)
{
	return p->link == TRACE_LINK_RAW_FLITS ? WEFT_WIRE_FLITS_OFF : 0;
}

void
receiver_put(const struct receiver_cfg *cfg, const struct trace_packet *p, uint8_t *frame)
{
	const uint32_t head = receiver_head(p);

	if (head != 0)
		receiver_raw_header(cfg, frame, p->len / WEFT_FLIT_LEN);
	memcpy(frame + head, p->data, p->len);
}

struct rte_mbuf *
receiver_frame(struct receiver *r, const struct trace_packet *p)
{
	enum weft_verdict v = receiver_check_packet(p);
	const uint32_t head = receiver_head(p);
	struct rte_mbuf *m = NULL;

	r->packets++;
	r->has_raw |= head != 0;
	if (v == WEFT_OK) {
		m = rte_pktmbuf_alloc(r->cfg.pool);
		if (m == NULL)
			v = WEFT_DROP_NO_MBUF;
	}
	if (v != WEFT_OK) {
		r->skipped[v]++;
		return NULL;
	}
	receiver_put(&r->cfg, p, (uint8_t *)rte_pktmbuf_append(m, (uint16_t)(head + p->len)));
	weft_frame(m)->time_ns = p->time_ns;
	weft_frame(m)->in_port = 0;
	return m;
}
