/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* A sender and a receiver of one connection, for tests of stages and pipelines. */
#ifndef PIPE_RIG_H
#define PIPE_RIG_H

#include <errno.h>

#include "eal_test.h"
#include "route_tables.h"
#include "weft_ide_pace.h"
#include "weft_pipe.h"

#define RIG_SPID 0x101
#define RIG_DPID 0x200
#define RIG_FRAMES 512
#define RIG_CONNS 8

static const uint8_t rig_key[WEFT_IDE_KEY_LEN] = { 3, 1, 4, 1, 5, 9, 2, 6 };

struct rig {
	struct rte_mempool *pool;
	struct weft_ide_lib *ide;
	struct weft_conns *tx_conns, *rx_conns;
	struct weft_conn_dir *tx_conn, *rx_conn;
	struct weft_env tx_env, rx_env;
	struct weft_tables *tables;
	struct weft_tables_slot slot;
	struct weft_pipe *tx, *rx;
	struct weft_ide_pace pace;
	enum weft_ide_mode mode;
	uint32_t features; /* what kernels may use: all that the CPU has and WEFT_CPU allows */
	unsigned int n;
	struct rte_mbuf *frame[RIG_FRAMES]; /* what a sink was given */
};

static struct rig rig;

static void
rig_sink(void *arg, struct rte_mbuf **pkt, uint16_t n)
{
	(void)arg;
	assert_true(rig.n + n <= RIG_FRAMES);
	memcpy(rig.frame + rig.n, pkt, n * sizeof(pkt[0]));
	rig.n += n;
}

static inline void
rig_free_frames(void)
{
	rte_pktmbuf_free_bulk(rig.frame, rig.n);
	rig.n = 0;
}

static inline struct weft_pipe *
rig_pipe(const char *name, const char *layout, const struct weft_env *env)
{
	const struct weft_pipe_cfg cfg = { .name = name,
		.layout = layout,
		.env = env,
		.sink = rig_sink,
		.socket = SOCKET_ID_ANY };
	char err[512] = "";
	struct weft_pipe *p = weft_pipe_create(&cfg, err, sizeof(err));

	if (p == NULL)
		fail_msg("%s", err);
	return p;
}

static struct weft_conn_dir *
rig_conn(struct weft_conns *t, enum weft_ide_mode ide, uint16_t spid)
{
	const struct weft_conn_key key = {
		.mode = WEFT_MODE_RXL, .spid = spid, .dpid = RIG_DPID, .session = 9
	};
	const struct weft_conn_cfg cfg = {
		.first = WEFT_ISN_FIRST, .ide = ide, .ide_key = rig_key, .pcrc = true
	};
	struct weft_conn_dir *c = weft_conns_add(t, &key, &cfg);

	assert_non_null(c);
	return c;
}

static inline struct weft_env
rig_env_of_codecs(void)
{
	return (struct weft_env){ .fec = weft_fec_kernel_find(NULL, rig.features),
		.crc = weft_crc_kernel_find(NULL, rig.features) };
}

/* Start over with this receive layout. */
static void
rig_start(enum weft_ide_mode ide, const char *rx_layout)
{
	rig.mode = ide;
	weft_ide_pace_init(&rig.pace, ide);
	rig.tx_conns = weft_conns_create("tx", RIG_CONNS, rig.ide, SOCKET_ID_ANY);
	rig.rx_conns = weft_conns_create("rx", RIG_CONNS, rig.ide, SOCKET_ID_ANY);
	rig.tx_conn = rig_conn(rig.tx_conns, ide, RIG_SPID);
	rig.rx_conn = rig_conn(rig.rx_conns, ide, RIG_SPID);
	rig.tables = route_tables_new(RIG_DPID, 1, 3, 0, 0);
	weft_tables_publish(&rig.slot, rig.tables);
	rig.tx_env = rig_env_of_codecs();
	rig.rx_env = rig.tx_env;
	rig.rx_env.only_mode = -1;
	rig.rx_env.pid = RIG_DPID;
	rig.rx_env.conns = rig.rx_conns;
	rig.rx_env.tables = &rig.slot;
	rig.tx = rig_pipe("tx", WEFT_LAYOUT_TX_IDE, &rig.tx_env);
	rig.rx = rig_pipe("rx", rx_layout, &rig.rx_env);
}

static void
rig_stop(void)
{
	rig_free_frames();
	weft_pipe_free(rig.rx);
	weft_pipe_free(rig.tx);
	weft_conns_free(rig.rx_conns);
	weft_conns_free(rig.tx_conns);
	free(rig.tables);
	test_pool_is_whole(rig.pool);
}

/* A frame of random flits, off the wire; with IDE, MACs where they are due. */
static inline struct rte_mbuf *
rig_frame(struct weft_rand *r, unsigned int flits)
{
	static const uint8_t no_mac[WEFT_LLCTRL_PAYLOAD_LEN];
	struct rte_mbuf *m = rte_pktmbuf_alloc(rig.pool);
	struct weft_frame *f = weft_frame(m);
	unsigned int before = rig.n;

	assert_non_null(m);
	rte_pktmbuf_append(m, (uint16_t)WEFT_WIRE_FRAME_LEN(flits));
	memset(f, 0, sizeof(*f));
	f->conn = rig.tx_conn;
	f->hdr = (struct weft_wire_hdr){ .mode = WEFT_MODE_RXL,
		.n_flits = (uint8_t)flits,
		.spid = rig.tx_conn->key.spid,
		.dpid = RIG_DPID,
		.session = 9 };
	weft_rand_fill(r, weft_frame_flits(m), flits * (size_t)WEFT_FLIT_LEN);
	for (unsigned int i = 0; i < flits; i++) {
		uint8_t *flit = weft_frame_flits(m) + i * (size_t)WEFT_FLIT_LEN;
		const struct weft_flit_hdr h = { .type = WEFT_FLIT_CACHEMEM };

		weft_flit_hdr_put(flit, &h);
		flit[WEFT_FLIT_H_OFF] = 0; /* a protocol header without a message */
		flit[WEFT_FLIT_CRD_OFF] &= 0xFE; /* not Empty */
		if (rig.pace.mac_due)
			weft_llctrl_put(flit, WEFT_LLCTRL_IDE_MAC, no_mac);
		weft_ide_pace_flit(&rig.pace);
	}
	assert_int_equal(weft_pipe_push(rig.tx, &m, 1), 1);
	assert_int_equal(rig.n, before + 1);
	return rig.frame[--rig.n];
}

static void
rig_receive(struct rte_mbuf *m)
{
	assert_int_equal(weft_pipe_push(rig.rx, &m, 1), 1);
}

/* Move everything through the rings of a split layout. */
static inline void
rig_settle(void)
{
	unsigned int worked;

	do {
		worked = 0;
		for (unsigned int s = 0; s < weft_pipe_segments(rig.rx); s++)
			worked += weft_pipe_poll(rig.rx, s);
	} while (worked != 0);
}

/* @p d with a frame behind it: masks and bytes. */
static inline uint64_t
rig_digest(uint64_t d, struct rte_mbuf *m)
{
	const struct weft_frame *f = weft_frame(m);
	const uint8_t *p = weft_frame_flits(m);

	d = d * 1000003 + f->discard + f->seq_gap * 7 + (uint64_t)f->out_port;
	for (unsigned int k = 0; k < f->hdr.n_flits * (unsigned int)WEFT_FLIT_LEN; k++)
		d = d * 31 + p[k];
	return d;
}

/* A layout, and what of it is wrong, or NULL. */
struct rig_layout {
	const char *text;
	const char *says;
	unsigned int stages, segments;
};

static inline void
rig_check_layouts(const struct rig_layout *row, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct weft_layout l = { 0 };
		char err[512] = "";
		int rc = weft_layout_parse(row[i].text, &l, err, sizeof(err));

		assert_int_equal(rc, row[i].says == NULL     ? 0
				     : row[i].text[0] == '@' ? -ENOENT
							     : -EINVAL);
		assert_int_equal(l.n_stages, row[i].stages);
		assert_int_equal(l.n_segments, row[i].segments);
		assert_int_equal(l.first[l.n_segments], l.n_stages);
		if (row[i].says != NULL && strstr(err, row[i].says) == NULL)
			fail_msg("\"%s\" says \"%s\"", row[i].text, err);
	}
}

static inline uint64_t
rig_count(const char *stage, const char *counter)
{
	return weft_pipe_count(rig.rx, stage, counter);
}

static void
rig_open(void)
{
	test_eal_start(NULL);
	rig.pool = test_pool("rig", 2047, 64);
	assert_int_equal(weft_cpu_parse(getenv("WEFT_CPU"), &rig.features, NULL), 0);
	rig.features &= weft_cpu_detect();
	rig.ide = weft_ide_lib_open(rig.features);
}

#endif /* PIPE_RIG_H */
