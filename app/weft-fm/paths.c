/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Paths to components: the sockets that their daemons serve, cci-NODE.sock in the run folder
 * (doc/cci.md); where there is none, through the fabric (inband.c).
 * A message is net, endpoint, type and tag, a byte each, and the CCI message.
 */

#include <errno.h>
#include <stdlib.h>

#include "cli.h"
#include "manager.h"
#include "weft_cci_mctp.h"

#define PATHS_FRAME 4 /* bytes before a message */
#define PATHS_NET 1
#define PATHS_EID 8 /* the FM interface of the component */
#define PATHS_TAG_OWNER 8 /* set in requests; the tag itself is of the CCI message */

struct paths {
	const struct intent *in;
	struct inband *inband; /* NULL: sockets alone */
	uint32_t n;
	struct peer one[];
};

struct paths *
paths_new(const struct intent *in, const char *folder, int via)
{
	struct paths *p = calloc(1, sizeof(*p) + in->n_paths * sizeof(p->one[0]));

	if (p == NULL)
		cli_fail("out of memory");
	p->in = in;
	p->n = in->n_paths;
	if (via >= 0)
		p->inband = inband_new(in, folder, (unsigned int)via);
	for (uint32_t i = 0; i < p->n; i++)
		peer_init(&p->one[i], folder, intent_name(in, i), ".sock");
	return p;
}

void
paths_free(struct paths *p)
{
	for (uint32_t i = 0; p != NULL && i < p->n; i++)
		peer_close(&p->one[i]);
	if (p != NULL)
		inband_free(p->inband);
	free(p);
}

const char *
paths_unserved(const struct paths *p, uint32_t path)
{
	return p == NULL || path >= p->n || p->one[path].fd >= 0 || p->inband != NULL
	               ? NULL
	               : p->one[path].path;
}

int
paths_send(struct paths *p, const struct weft_fm *fm, uint32_t path, const uint8_t *msg, size_t len)
{
	struct peer *o = &p->one[path];
	uint8_t packet[PATHS_FRAME + WEFT_CCI_HDR + WEFT_CCI_MAX_PAYLOAD];
	struct weft_cci_hdr h;

	if (o->fd < 0 && p->inband != NULL)
		return inband_send(p->inband, fm, path, msg, len);
	if (o->fd < 0 || weft_cci_get_hdr(&h, msg, len) != 0)
		return -ENOTCONN;
	packet[0] = PATHS_NET;
	packet[1] = PATHS_EID;
	packet[2] = weft_cci_mctp_type(h.opcode);
	packet[3] = PATHS_TAG_OWNER;
	memcpy(packet + PATHS_FRAME, msg, len);
	return peer_send(o, packet, PATHS_FRAME + len);
}

void
paths_connect(struct paths *p, struct weft_fm *fm, uint64_t now_ns)
{
	/* A host is claimed by who has the fabric, not by who happens to be in its run folder. */
	const bool takes_hosts = p->inband == NULL || inband_is_let_in(p->inband, fm);

	for (uint32_t i = 0; i < p->n; i++)
		if ((takes_hosts || p->in->topo->node[p->in->node_of[i]].kind != WEFT_TOPO_HOST) &&
			peer_connect(&p->one[i]))
			weft_fm_reset_path(fm, i, now_ns);
	if (p->inband == NULL || !inband_connect(p->inband))
		return;
	for (uint32_t i = 0; i < p->n; i++)
		if (p->one[i].fd < 0)
			weft_fm_reset_path(fm, i, now_ns);
}

unsigned int
paths_fds(const struct paths *p, struct pollfd *fd)
{
	unsigned int n = 0;

	for (uint32_t i = 0; i < p->n; i++)
		n += peer_fds(&p->one[i], fd + n);
	if (p->inband != NULL)
		n += inband_fds(p->inband, fd + n);
	return n;
}

/* All that has come by one socket, as long as it does not keep the others waiting. */
static void
paths_receive_one(struct peer *o, uint32_t path, struct weft_fm *fm, uint64_t now_ns)
{
	uint8_t packet[PATHS_FRAME + WEFT_CCI_HDR + WEFT_CCI_MAX_PAYLOAD + 1];
	size_t n;

	for (unsigned int k = 0; k < 16 && (n = peer_receive(o, packet, sizeof(packet))) != 0; k++)
		if (n >= PATHS_FRAME)
			weft_fm_answer(fm, path, packet + PATHS_FRAME, n - PATHS_FRAME, now_ns);
}

void
paths_receive(struct paths *p, struct weft_fm *fm, uint64_t now_ns)
{
	for (uint32_t i = 0; i < p->n; i++)
		paths_receive_one(&p->one[i], i, fm, now_ns);
	if (p->inband != NULL)
		inband_receive(p->inband, fm, now_ns);
}
